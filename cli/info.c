// cuttle info: what is in a scene, a robot, a mesh or a trajectory.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "info.h"

#define PAIRED 12  // pairs of colliders whose distances are printed one by one

static const char examples[] = "  cuttle info scenes/jelly.json\n"
                               "  cuttle info jelly.h5\n"
                               "  cuttle info beam.msh --json";

static json_t* range(const double r[2]) { return json_pack("[f,f]", r[0], r[1]); }

static bool has_extension(const char* path, const char* const* extensions) {
    const char* dot = strrchr(path, '.');
    for (; dot && *extensions; extensions++) {
        if (strcasecmp(dot, *extensions) == 0) return true;
    }
    return false;
}

// ---- Scenes ----

// thickness: NAN without contact
static json_t* body_object(const char* name, const ct_body_info* b, double thickness) {
    json_t* object = json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:i}", "name", name, "nodes",
                               b->nvert, "tets", b->ntet, "sheet_triangles", b->ntri, "lower",
                               info_vector(b->lower), "upper", info_vector(b->upper), "volume", b->volume,
                               "min_quality", b->min_quality, "slivers", b->sliver_count);
    json_t* material =
        json_pack("{s:s, s:o, s:o, s:o}", "energy", ct_energy_name(b->material.energy), "young",
                  range(b->young), "poisson", range(b->poisson), "density", range(b->density));
    json_object_set_new(object, "material", material);
    if (b->ntet) json_object_set_new(object, "order", json_integer(b->order));
    if (!isnan(thickness)) json_object_set_new(object, "contact_thickness", json_real(thickness));
    return object;
}

static void print_range(const char* name, const double r[2], const char* unit) {
    printf("%s %g", name, r[0]);
    if (r[1] > r[0]) printf("..%g", r[1]);
    printf("%s", unit);
}

static void print_body(const char* name, const ct_body_info* b, double thickness) {
    printf("  %s: %d nodes, ", name, b->nvert);
    if (b->ntri) printf("%d triangles", b->ntri);
    else info_print_tets(b->ntet, b->order == 2 ? b->ntet : 0);
    printf(", %.3g x %.3g x %.3g m\n    %s, ", b->upper[0] - b->lower[0], b->upper[1] - b->lower[1],
           b->upper[2] - b->lower[2], ct_energy_name(b->material.energy));
    print_range("young", b->young, " Pa, ");
    print_range("poisson", b->poisson, ", ");
    print_range("density", b->density, " kg/m^3\n");
    if (b->ntri) printf("    thickness %g m, bending %g", b->material.thickness, b->material.bending);
    else printf("    worst quality %.2f", b->min_quality);
    if (b->sliver_count) printf(", %d slivers", b->sliver_count);
    if (!isnan(thickness)) printf(", contact thickness %.4g m", thickness);
    printf("\n");
}

static json_t* scene_object(const ct_scene* scene, const ct_model* model) {
    ct_model_info info = ct_model_summary(model);
    ct_settings set = ct_model_settings(model);
    json_t* object = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:f}", "kind", "scene", "name",
                               ct_scene_name(scene), "nodes", info.nvert, "tets", info.ntet,
                               "surface_triangles", info.nsurface, "free_nodes", info.nfree, "driven_nodes",
                               info.ndriven, "mass", info.mass, "volume", info.volume);
    json_t* settings = json_pack("{s:f, s:f, s:o, s:s, s:s, s:f, s:i}", "time_step", set.time_step,
                                 "duration", set.duration, "gravity", info_vector(set.gravity), "integrator",
                                 ct_integrator_name(set.integrator), "solver", ct_solver_name(set.solver),
                                 "tolerance", set.tolerance, "output_every", set.output_every);
    json_t* system = json_pack("{s:s, s:s, s:f, s:f}", "ordering", info.ordering, "kernel", info.kernel,
                               "factor_mb", info.factor_bytes / 1e6, "setup_seconds", info.setup_seconds);
    json_object_set_new(object, "second_order_tets",
                        json_integer(info_count_second(ct_model_tet_middles(model), info.ntet)));
    json_object_set_new(object, "settings", settings);
    json_object_set_new(object, "system", system);
    return object;
}

static void print_scene(const ct_scene* scene, const ct_model* model) {
    ct_model_info info = ct_model_summary(model);
    ct_settings set = ct_model_settings(model);
    printf("scene %s\n  %d nodes (%d free, %d driven), ", ct_scene_name(scene), info.nvert, info.nfree,
           info.ndriven);
    info_print_tets(info.ntet, info_count_second(ct_model_tet_middles(model), info.ntet));
    printf(", ");
    if (info.ntri) printf("%d triangles of sheets, ", info.ntri);
    printf("%.4g kg, %.4g m^3\n", info.mass, info.volume);
    printf("  %g s in steps of %g s, %s, %s solver, tolerance %g\n", set.duration, set.time_step,
           set.integrator == CT_INTEGRATOR_EULER ? "implicit Euler" : ct_integrator_name(set.integrator),
           ct_solver_name(set.solver), set.tolerance);
    printf("  gravity %g %g %g m/s^2\n", set.gravity[0], set.gravity[1], set.gravity[2]);
    printf("  factor %.1f MB (%s), set up in %.2f s, %s kernels\n", info.factor_bytes / 1e6, info.ordering,
           info.setup_seconds, info.kernel);
}

// ---- Contact ----

static const char* collider_name(const ct_scene* scene, int collider) {
    int nbody = ct_scene_body_count(scene);
    return collider < nbody ? ct_scene_body_name(scene, collider)
                            : ct_scene_obstacle_name(scene, collider - nbody);
}

static int collider_count(const ct_scene* scene) {
    return ct_scene_body_count(scene) + ct_scene_obstacle_count(scene);
}

// The distances that pairs keep, one entry each; between: as in the scene's pairs.
static json_t* distance_objects(const ct_scene* scene, const ct_model* model) {
    json_t* array = json_array();
    for (int a = 0; a < collider_count(scene); a++)
        for (int b = a; b < collider_count(scene); b++) {
            double distance = ct_model_contact_distance(model, a, b);
            if (isnan(distance)) continue;
            json_array_append_new(array, json_pack("{s:[s,s], s:f}", "between", collider_name(scene, a),
                                                   collider_name(scene, b), "distance", distance));
        }
    return array;
}

static void print_distances(const ct_scene* scene, const ct_model* model) {
    int count = 0;
    double least = INFINITY, most = 0;
    for (int a = 0; a < collider_count(scene); a++)
        for (int b = a; b < collider_count(scene); b++) {
            double distance = ct_model_contact_distance(model, a, b);
            if (isnan(distance)) continue;
            count++;
            least = fmin(least, distance);
            most = fmax(most, distance);
        }
    for (int a = 0; count <= PAIRED && a < collider_count(scene); a++)
        for (int b = a; b < collider_count(scene); b++) {
            double distance = ct_model_contact_distance(model, a, b);
            if (isnan(distance)) continue;
            printf("    %s and %s keep %.4g m\n", collider_name(scene, a),
                   a == b ? "itself" : collider_name(scene, b), distance);
        }
    if (count > PAIRED)
        printf("    %d pairs keep distances of %.4g to %.4g m (--json lists all)\n", count, least, most);
}

static json_t* contact_object(const ct_scene* scene, const ct_model* model, const ct_contact_settings* set) {
    json_t* object = json_pack("{s:s, s:f, s:i}", "method", ct_contact_method_name(set->method), "friction",
                               set->friction, "max_passes", set->max_passes);
    json_t* pairs = json_array();
    if (set->method == CT_CONTACT_METHOD_SPLIT)
        json_object_set_new(object, "split", json_string(ct_split_name(set->split)));
    for (int i = 0; i < ct_scene_pair_count(scene); i++) {
        ct_pair_def pair = ct_scene_pair(scene, i);
        json_t* entry = json_pack("{s:[s,s], s:b}", "between", pair.a, pair.b, "collide", pair.collide);
        if (!isnan(pair.friction)) json_object_set_new(entry, "friction", json_real(pair.friction));
        json_array_append_new(pairs, entry);
    }
    json_object_set_new(object, "pairs", pairs);
    json_object_set_new(object, "distances", distance_objects(scene, model));
    return object;
}

static json_t* obstacle_objects(const ct_scene* scene, const ct_model* model) {
    json_t* array = json_array();
    int nbody = ct_scene_body_count(scene);
    for (int i = 0; i < ct_scene_obstacle_count(scene); i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:b, s:f}", "name", ct_scene_obstacle_name(scene, i),
                                        "kind", ct_obstacle_kind_name(ct_scene_obstacle_kind(scene, i)),
                                        "moves", ct_scene_obstacle_moves(scene, i), "thickness",
                                        ct_model_contact_thickness(model, nbody + i)));
    return array;
}

static void print_contact(const ct_scene* scene, const ct_model* model, const ct_contact_settings* set) {
    int nobstacle = ct_scene_obstacle_count(scene), nbody = ct_scene_body_count(scene);
    for (int i = 0; i < nobstacle; i++) {
        if (i < LISTED || i == nobstacle - 1)
            printf("  obstacle %s: %s%s, contact thickness %.4g m\n", ct_scene_obstacle_name(scene, i),
                   ct_obstacle_kind_name(ct_scene_obstacle_kind(scene, i)),
                   ct_scene_obstacle_moves(scene, i) ? ", moves" : "",
                   ct_model_contact_thickness(model, nbody + i));
        else if (i == LISTED) printf("  ... (--json lists all)\n");
    }
    if (set->method == CT_CONTACT_METHOD_NONE && !nobstacle) return;
    printf("  contact %s", ct_contact_method_name(set->method));
    if (set->method == CT_CONTACT_METHOD_SPLIT) printf(" (%s)", ct_split_name(set->split));
    printf(", friction %g\n", set->friction);
    for (int i = 0; i < ct_scene_pair_count(scene); i++) {
        ct_pair_def pair = ct_scene_pair(scene, i);
        printf("    %s and %s: %s", pair.a, pair.b, pair.collide ? "collide" : "do not collide");
        if (!isnan(pair.friction)) printf(", friction %g", pair.friction);
        printf("\n");
    }
    print_distances(scene, model);
    for (int i = 0; i < nbody; i++)
        if (ct_model_is_driven(model, i))
            printf("    every node of %s is pinned or driven: it passes through obstacles\n",
                   ct_scene_body_name(scene, i));
}

// Whether the motion can begin: a line where it cannot, or an entry of the object.
static int show_start(const ct_model* model, json_t* object, bool json) {
    ct_error error = {.element = -1};
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_status status = ct_state_create(&state, model, &error);
    if (status == CT_OK) status = ct_work_create(&work, model, 1, &error);
    int code = CLI_OK;
    if (status != CT_OK) code = cli_report_error(&error, json);
    else if (ct_state_check_start(model, work, state, &error)) code = CLI_FAILED;
    if (status == CT_OK && object)
        json_object_set_new(object, "overlap", code == CLI_OK ? json_null() : json_string(error.message));
    else if (status == CT_OK && code != CLI_OK) printf("  the motion cannot begin: %s\n", error.message);
    ct_work_free(work);
    ct_state_free(state);
    return code;
}

// As at the start: lines, or an entry of the object.
static int show_actuators(const ct_model* model, json_t* object, bool json) {
    ct_state* state = NULL;
    if (!ct_model_actuator_count(model)) return CLI_OK;
    ct_error error;
    if (ct_state_create(&state, model, &error)) return cli_report_error(&error, json);
    if (object) json_object_set_new(object, "actuators", cli_actuator_objects(model, state));
    else cli_print_actuators(model, state);
    ct_state_free(state);
    return CLI_OK;
}

// The scene of a file, or a scene with nothing in it but the robot of a file.
static ct_status load_scene(ct_scene** out, const char* path, bool robot, ct_error* error) {
    if (!robot) return ct_scene_load(out, path, error);
    ct_status status = ct_scene_create(out, error);
    if (!status) status = ct_scene_import_skeleton(*out, path, NULL, NULL, 1, error);
    if (status) ct_scene_free(*out);
    return status;
}

static int show_scene(const char* path, bool robot, bool json) {
    ct_error error = {.element = -1};
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    json_t* object = NULL;
    int code = CLI_OK;
    if (load_scene(&scene, path, robot, &error)) return cli_report_input_error(&error, json);
    if (ct_model_create(&model, scene, &error)) code = cli_report_error(&error, json);
    if (code == CLI_OK && json) object = scene_object(scene, model);
    else if (code == CLI_OK) print_scene(scene, model);
    json_t* bodies = json_array();
    ct_contact_settings contact = ct_scene_settings(scene).contact;
    bool touch = contact.method != CT_CONTACT_METHOD_NONE;
    for (int i = 0; code == CLI_OK && i < ct_scene_body_count(scene); i++) {
        ct_body_info info;
        double thickness = touch ? ct_model_contact_thickness(model, i) : NAN;
        ct_status status = ct_scene_body_info(scene, i, &info);
        if (status != CT_OK) code = cli_report_status(status, ct_scene_body_name(scene, i), json);
        else if (json)
            json_array_append_new(bodies, body_object(ct_scene_body_name(scene, i), &info, thickness));
        else print_body(ct_scene_body_name(scene, i), &info, thickness);
    }
    json_t* links = code == CLI_OK ? info_model_links(model, json) : json_array();
    if (code == CLI_OK && !json) print_contact(scene, model, &contact);
    if (code == CLI_OK) code = show_actuators(model, object, json);
    if (object) json_object_set_new(object, "contact", contact_object(scene, model, &contact));
    if (object) json_object_set_new(object, "obstacles", obstacle_objects(scene, model));
    if (object) json_object_set(object, "bodies", bodies);
    if (object) json_object_set(object, "links", links);
    json_decref(bodies);
    json_decref(links);
    int start = code == CLI_OK && touch ? show_start(model, object, json) : code;
    if (code == CLI_OK && object) cli_print_json(object);
    else json_decref(object);
    ct_model_free(model);
    ct_scene_free(scene);
    return start;
}

// ---- Meshes ----

static void print_mesh(const char* path, const ct_mesh* mesh, const ct_mesh_report* r) {
    printf("mesh %s\n  %d nodes, ", path, mesh->nvert);
    info_print_tets(mesh->ntet, mesh->mid ? mesh->ntet : 0);
    printf(", %d triangles\n", mesh->ntri);
    printf("  from %g %g %g to %g %g %g m\n", r->lower[0], r->lower[1], r->lower[2], r->upper[0], r->upper[1],
           r->upper[2]);
    printf("  %d component%s, %s surface of %.4g m^2", r->component_count, r->component_count == 1 ? "" : "s",
           r->closed_surface ? "closed" : "open", r->area);
    if (mesh->ntet) printf(", volume %.4g m^3", r->volume);
    printf("\n");
    if (mesh->ntet) {
        printf("  dihedral angles %.1f..%.1f degrees, worst quality %.3f (tet %d), %d slivers\n",
               r->min_dihedral, r->max_dihedral, r->min_quality, r->worst_tet, r->sliver_count);
    }
    for (int i = 0; i < mesh->ntag; i++) printf("  tag %d %s\n", mesh->tag[i].id, mesh->tag[i].name);
}

static json_t* mesh_object(const ct_mesh* mesh, const ct_mesh_report* r) {
    json_t* object =
        json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:i, s:b}", "kind", "mesh", "nodes", mesh->nvert,
                  "tets", mesh->ntet, "triangles", mesh->ntri, "lower", info_vector(r->lower), "upper",
                  info_vector(r->upper), "volume", r->volume, "area", r->area, "components",
                  r->component_count, "closed_surface", r->closed_surface);
    json_t* quality = json_pack("{s:f, s:i, s:i, s:f, s:f}", "min_quality", r->min_quality, "worst_tet",
                                r->worst_tet, "slivers", r->sliver_count, "min_dihedral", r->min_dihedral,
                                "max_dihedral", r->max_dihedral);
    json_t* tags = json_array();
    for (int i = 0; i < mesh->ntag; i++) {
        json_array_append_new(tags,
                              json_pack("{s:i, s:s}", "id", mesh->tag[i].id, "name", mesh->tag[i].name));
    }
    if (mesh->ntet) json_object_set_new(object, "order", json_integer(mesh->mid ? 2 : 1));
    json_object_set_new(object, "quality", quality);
    json_object_set_new(object, "tags", tags);
    return object;
}

static int show_mesh(const char* path, bool json) {
    ct_error error = {.element = -1};
    ct_mesh_report report = {0};
    ct_mesh* mesh = NULL;
    if (ct_mesh_load(&mesh, path, CT_MESH_AUTO, &error)) return cli_report_input_error(&error, json);
    int code = CLI_OK;
    if (ct_mesh_check(mesh, &report, &error)) code = cli_report_error(&error, json);
    else if (json) cli_print_json(mesh_object(mesh, &report));
    else print_mesh(path, mesh, &report);
    ct_mesh_free(mesh);
    return code;
}

int cuttle_info(int argc, char** argv) {
    static const char* const scene_endings[] = {".json", NULL};
    static const char* const robot_endings[] = {".xml", ".urdf", ".mjcf", NULL};
    static const char* const trajectory_endings[] = {".h5", ".hdf5", ".hdf", ".vtkhdf", NULL};
    bool json = false;
    const cli_option options[] = {{"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"}, {0}};
    const cli_usage usage = {
        "info",
        "FILE",
        "Describes a scene (.json), a robot (.xml, .urdf), a trajectory (.h5) or a mesh file.",
        NULL,
        examples,
        options};
    const char* path;
    int count, code;
    if (!cli_parse(&usage, argc, argv, &path, 1, 1, &count, &code)) return code;
    if (has_extension(path, scene_endings)) return show_scene(path, false, json);
    if (has_extension(path, robot_endings)) return show_scene(path, true, json);
    if (has_extension(path, trajectory_endings)) return info_trajectory(path, json);
    return show_mesh(path, json);
}
