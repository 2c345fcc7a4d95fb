// The bodies of a scene: transform to the world, materials per tet or triangle, initial velocities.
//
//     x = scale R X + t,    v = v0 + w x (x - c),  c the centre of mass of the nodes concerned (lumped
//     masses)
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "quantity/fields.h"
#include "scene/scene.h"
#include "scene/usable.h"
#include "shape/cell.h"
#include "shape/mesh.h"

enum { MOST_NODES = 500000000 };

ct_material ct_material_default(void) {
    return (ct_material){.energy = CT_ENERGY_NEOHOOKEAN,
                         .young = 1e6,
                         .poisson = 0.4,
                         .density = 1000,
                         .thickness = 1e-3,
                         .bending = 1,
                         .bending_warp = 1,
                         .bending_weft = 1,
                         .bending_shear = 1,
                         .direction = {1, 0, 0}};
}

ct_body_def ct_body_def_default(void) {
    return (ct_body_def){.scale = 1,
                         .rotate = {1, 0, 0, 0},
                         .material = ct_material_default(),
                         .color = {NAN, NAN, NAN},
                         .contact_thickness = NAN};
}

void ct_scene_free_body(ct_scene_body* body) {
    ct_free(body->name);
    ct_free(body->group);
    ct_mesh_free(body->mesh);
    ct_free(body->tet_material);
    ct_free(body->velocity);
}

int ct_scene_body_count(const ct_scene* scene) { return scene->nbody; }

const char* ct_scene_body_name(const ct_scene* scene, int body) {
    return body >= 0 && body < scene->nbody ? scene->body[body].name : "";
}

void ct_scene_bounds(const ct_scene* scene, int body, double lower[3], double upper[3]) {
    for (int i = 0; i < 3; i++) {
        lower[i] = INFINITY;
        upper[i] = -INFINITY;
    }
    for (int k = 0; body < 0 && !scene->nbody && k < scene->nlink; k++)
        for (int i = 0; i < 3; i++) {
            const ct_scene_link* link = &scene->link[k];
            double anchor = link->joint.anchor[i], center = link->mass > 0 ? link->center[i] : anchor;
            lower[i] = fmin(lower[i], fmin(anchor, center));
            upper[i] = fmax(upper[i], fmax(anchor, center));
        }
    for (int b = 0; b < scene->nbody; b++) {
        if (body >= 0 && b != body) continue;
        const ct_mesh* mesh = scene->body[b].mesh;
        for (size_t k = 0; k < 3 * (size_t)mesh->nvert; k++) {
            lower[k % 3] = fmin(lower[k % 3], mesh->x[k]);
            upper[k % 3] = fmax(upper[k % 3], mesh->x[k]);
        }
    }
}

// -------------------------------------------------------------------------------------------------
// Mass and velocity

// Adds each element's mass to its nodes; mass is indexed by the body's nodes.
static void lump_mass(const ct_scene_body* body, double* mass) {
    const ct_mesh* mesh = body->mesh;
    for (int e = 0; e < ct_scene_sheet_size(body); e++) {
        const int* t = mesh->tri + 3 * (size_t)e;
        const ct_material* m = &body->tet_material[e];
        for (int k = 0; k < 3; k++) mass[t[k]] += m->density * m->thickness * ct_tri_area(mesh->x, t) / 3;
    }
    for (int e = 0; e < mesh->ntet; e++) {
        const int *t = mesh->tet + 4 * (size_t)e, *mid = mesh->mid ? mesh->mid + 6 * (size_t)e : NULL;
        double edge[3][3], least, whole = mid ? ct_cell_volume(t, mid, mesh->x, &least) : 0;
        for (int a = 0; mid && a < CT_CELL_NODES; a++)
            mass[a < 4 ? t[a] : mid[a - 4]] += ct_cell_share(true, a) * body->tet_material[e].density * whole;
        if (mid) continue;
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                edge[k][i] = mesh->x[3 * (size_t)t[k + 1] + i] - mesh->x[3 * (size_t)t[0] + i];
        double volume = (edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
                         edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
                         edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0])) /
                        6;
        for (int k = 0; k < 4; k++) mass[t[k]] += body->tet_material[e].density * volume / 4;
    }
}

ct_status ct_scene_set_mass(ct_scene* scene, int body, double mass, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (body < 0 || body >= scene->nbody)
        return ct_scene_fail(error, "body", "is %d: there are %d bodies", body, scene->nbody);
    if (!(mass > 0 && isfinite(mass)))
        return ct_scene_fail(error, "mass", "is %g kg: it must be above 0", mass);
    ct_scene_body* b = &scene->body[body];
    double* lumped = ct_alloc((size_t)b->mesh->nvert, sizeof *lumped);
    if (!lumped) return ct_scene_out_of_memory(error);
    lump_mass(b, lumped);
    double sum = 0;
    for (int v = 0; v < b->mesh->nvert; v++) sum += lumped[v];
    ct_free(lumped);
    for (int e = 0; e < ct_scene_body_elements(b); e++) b->tet_material[e].density *= mass / sum;
    return CT_OK;
}

// Centre of mass of a sorted set of scene nodes.
static ct_status mass_center(const ct_scene* scene, const int* node, int nnode, double center[3]) {
    double* mass = ct_alloc((size_t)ct_scene_node_count(scene), sizeof *mass);
    if (!mass) return CT_OUT_OF_MEMORY;
    for (int b = 0; b < scene->nbody; b++) lump_mass(&scene->body[b], mass + scene->body[b].first_node);
    double total = 0, sum[3] = {0};
    for (int k = 0, b = 0; k < nnode; k++) {
        while (b + 1 < scene->nbody && scene->body[b + 1].first_node <= node[k]) b++;
        const double* x = scene->body[b].mesh->x + 3 * (size_t)(node[k] - scene->body[b].first_node);
        total += mass[node[k]];
        for (int i = 0; i < 3; i++) sum[i] += mass[node[k]] * x[i];
    }
    for (int i = 0; i < 3; i++) center[i] = sum[i] / total;
    ct_free(mass);
    return CT_OK;
}

ct_status ct_scene_apply_velocity(ct_scene* scene, const int* node, int nnode, const double velocity[3],
                                  const double angular_velocity[3]) {
    double center[3], arm[3], spin[3];
    ct_status status = mass_center(scene, node, nnode, center);
    if (status) return status;
    for (int k = 0, b = 0; k < nnode; k++) {
        while (b + 1 < scene->nbody && scene->body[b + 1].first_node <= node[k]) b++;
        ct_scene_body* body = &scene->body[b];
        size_t local = 3 * (size_t)(node[k] - body->first_node);
        for (int i = 0; i < 3; i++) arm[i] = body->mesh->x[local + i] - center[i];
        cross3(angular_velocity, arm, spin);
        for (int i = 0; i < 3; i++) body->velocity[local + i] = velocity[i] + spin[i];
    }
    return CT_OK;
}

static void body_center(const ct_scene_body* body, double* mass, double center[3]) {
    double total = 0, sum[3] = {0};
    memset(mass, 0, (size_t)body->mesh->nvert * sizeof *mass);
    lump_mass(body, mass);
    for (int v = 0; v < body->mesh->nvert; v++) {
        total += mass[v];
        for (int i = 0; i < 3; i++) sum[i] += mass[v] * body->mesh->x[3 * (size_t)v + i];
    }
    for (int i = 0; i < 3; i++) center[i] = sum[i] / total;
}

static void set_initial_velocity(ct_scene_body* body, const double velocity[3], double* mass) {
    double center[3], arm[3], spin[3];
    body_center(body, mass, center);
    for (int v = 0; v < body->mesh->nvert; v++) {
        for (int i = 0; i < 3; i++) arm[i] = body->mesh->x[3 * (size_t)v + i] - center[i];
        cross3(body->angular_velocity, arm, spin);
        for (int i = 0; i < 3; i++) body->velocity[3 * (size_t)v + i] = velocity[i] + spin[i];
    }
}

// The body still turns about its centre of mass after that has moved away from `before`.
static void follow_center(ct_scene_body* body, double* mass, const double before[3]) {
    double after[3], shift[3], change[3];
    body_center(body, mass, after);
    for (int i = 0; i < 3; i++) shift[i] = before[i] - after[i];
    cross3(body->angular_velocity, shift, change);
    for (size_t k = 0; k < 3 * (size_t)body->mesh->nvert; k++) body->velocity[k] += change[k % 3];
}

// -------------------------------------------------------------------------------------------------
// Materials

// What is wrong with a value, NULL when nothing.
// What is wrong with a value of a material; NULL: nothing.
static const char* value_problem(ct_quantity quantity, double value) {
    const ct_quantity_info* info = ct_quantity_row(quantity);
    bool above = info->shrink > 0 ? value > info->lower : value >= info->lower;
    if (isfinite(value) && above && value < info->upper) return NULL;
    switch (quantity) {
    case CT_QUANTITY_YOUNG: return "it must be above 0 (Pa); rubber has about 1e6";
    case CT_QUANTITY_POISSON:
        return "it must be at least 0 and below 0.5; use 0.49 for nearly incompressible material";
    case CT_QUANTITY_DENSITY: return "it must be above 0 (kg/m^3); water has 1000";
    case CT_QUANTITY_THICKNESS: return "it must be above 0 (m); cloth has about 5e-4";
    case CT_QUANTITY_BENDING: return "it must be at least 0; 1 is that of a plate, 0 a membrane";
    case CT_QUANTITY_BENDING_WARP:
    case CT_QUANTITY_BENDING_WEFT:
    case CT_QUANTITY_BENDING_SHEAR: return "it must be above 0; 1 is that of an isotropic plate";
    case CT_QUANTITY_CURVATURE_WARP:
    case CT_QUANTITY_CURVATURE_WEFT:
    case CT_QUANTITY_CURVATURE_TWIST: return "it must be finite (1/m)";
    default: return "it must be at least 0";
    }
}

// The numbers of a material, in the words of scene files.
static const struct {
    ct_quantity quantity;
    const char* key;
} numbers[] = {{CT_QUANTITY_THICKNESS, "thickness"},
               {CT_QUANTITY_BENDING, "bending"},
               {CT_QUANTITY_BENDING_WARP, "bending.warp"},
               {CT_QUANTITY_BENDING_WEFT, "bending.weft"},
               {CT_QUANTITY_BENDING_SHEAR, "bending.shear"},
               {CT_QUANTITY_CURVATURE_WARP, "curvature[0]"},
               {CT_QUANTITY_CURVATURE_WEFT, "curvature[1]"},
               {CT_QUANTITY_CURVATURE_TWIST, "curvature[2]"},
               {CT_QUANTITY_YOUNG, "young"},
               {CT_QUANTITY_POISSON, "poisson"},
               {CT_QUANTITY_DENSITY, "density"},
               {CT_QUANTITY_DAMPING_MASS, "damping.mass"},
               {CT_QUANTITY_DAMPING_STIFFNESS, "damping.stiffness"}};

static ct_status check_material(const ct_material* m, const char* prefix, bool sheet, ct_error* error) {
    char field[64];
    ct_material copy = *m;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ct_quantity quantity = numbers[i].quantity;
        if (!sheet && ct_quantity_row(quantity)->of == CT_OF_SHEETS) continue;
        double value = *ct_fields_material(&copy, quantity);
        const char* problem = value_problem(quantity, value);
        snprintf(field, sizeof field, "%s%s", prefix, numbers[i].key);
        if (problem) return ct_scene_fail(error, field, "is %.10g: %s", value, problem);
    }
    const double* d = m->direction;
    snprintf(field, sizeof field, "%sbending.direction", prefix);
    if (sheet && !(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0 && isfinite(d[0] + d[1] + d[2])))
        return ct_scene_fail(error, field, "is no direction: give three finite numbers that are not all 0");
    snprintf(field, sizeof field, "%spaper_weights", prefix);
    if (sheet && m->paper_weights) return ct_scene_fail(error, field, "is true: sheets have no such weights");
    snprintf(field, sizeof field, "%senergy", prefix);
    if ((unsigned)m->energy >= CT_ENERGY_COUNT) return ct_scene_fail(error, field, "is not one of ct_energy");
    snprintf(field, sizeof field, "%spaper_weights", prefix);
    if (m->paper_weights && m->energy != CT_ENERGY_PROJECTIVE)
        return ct_scene_fail(error, field, "is true: it applies to the projective energy alone");
    return CT_OK;
}

static ct_status find_body(ct_scene* scene, int body, ct_scene_body** out, ct_error* error) {
    if (body < 0 || body >= scene->nbody)
        return ct_fail(error, CT_BAD_ARGUMENT, "body %d does not exist: the scene has %d", body,
                       scene->nbody);
    *out = &scene->body[body];
    return CT_OK;
}

ct_status ct_scene_set_tag_material(ct_scene* scene, int body, int tag, const ct_material* material,
                                    ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    ct_scene_body* target = NULL;
    ct_status status = find_body(scene, body, &target, error);
    if (!status) status = check_material(material, "", ct_scene_sheet_size(target) > 0, error);
    if (status) return status;
    double* mass = ct_alloc((size_t)target->mesh->nvert, sizeof *mass);
    if (!mass) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    double before[3];
    int count = 0;
    body_center(target, mass, before);
    bool sheet = ct_scene_sheet_size(target) > 0;
    const int* tags = sheet ? target->mesh->tri_tag : target->mesh->tet_tag;
    for (int e = 0; e < ct_scene_body_elements(target); e++) {
        if (tags[e] != tag) continue;
        target->tet_material[e] = *material;
        count++;
    }
    follow_center(target, mass, before);
    ct_free(mass);
    if (count) return CT_OK;
    return ct_fail(error, CT_BAD_SCENE, "no %s of body \"%s\" has the tag %d", sheet ? "triangle" : "tet",
                   target->name, tag);
}

ct_status ct_scene_set_tet_values(ct_scene* scene, int body, ct_quantity quantity, const double* values,
                                  int count, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    ct_scene_body* target = NULL;
    ct_status status = find_body(scene, body, &target, error);
    if (status) return status;
    const ct_quantity_info* info = ct_quantity_row(quantity);
    bool sheet = ct_scene_sheet_size(target) > 0;
    if (!info || !(info->of == CT_OF_ELEMENTS || (sheet && info->of == CT_OF_SHEETS)))
        return ct_fail(error, CT_BAD_ARGUMENT, "%s is not a quantity of the %s of body \"%s\"",
                       info ? info->name : "this", sheet ? "triangles" : "tets", target->name);
    if (count != ct_scene_body_elements(target))
        return ct_scene_fail(error, info->name, "has %d values: body \"%s\" has %d %s", count, target->name,
                             ct_scene_body_elements(target), sheet ? "triangles" : "tets");
    for (int e = 0; e < count; e++) {
        const char* problem = value_problem(quantity, values[e]);
        if (!problem) continue;
        char place[48];
        snprintf(place, sizeof place, "%s[%d]", info->name, e);
        if (error) error->element = e;
        return ct_scene_fail(error, place, "is %.10g: %s", values[e], problem);
    }
    double* mass = ct_alloc((size_t)target->mesh->nvert, sizeof *mass);
    if (!mass) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    double before[3];
    body_center(target, mass, before);
    for (int e = 0; e < count; e++) *ct_fields_material(&target->tet_material[e], quantity) = values[e];
    follow_center(target, mass, before);
    ct_free(mass);
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Adding a body

// The diagonal of the box around a mesh of tets; the root of the area of a sheet.
static double extent(const ct_mesh* mesh) {
    double sum = 0;
    for (int t = 0; mesh->ntet == 0 && t < mesh->ntri; t++)
        sum += ct_tri_area(mesh->x, mesh->tri + 3 * (size_t)t);
    for (int a = 0; mesh->ntet > 0 && a < 3; a++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int v = 0; v < mesh->nvert; v++) {
            lower = fmin(lower, mesh->x[3 * (size_t)v + (size_t)a]);
            upper = fmax(upper, mesh->x[3 * (size_t)v + (size_t)a]);
        }
        sum += (upper - lower) * (upper - lower);
    }
    return sqrt(sum);
}

// Thicker than wide, every part of a surface would touch every other.
static ct_status check_thickness(const ct_body_def* def, ct_error* error) {
    const bool own = !isnan(def->contact_thickness), sheet = def->mesh->ntet == 0;
    if (own && !(def->contact_thickness > 0 && isfinite(def->contact_thickness)))
        return ct_scene_fail(error, "contact_thickness", "is %g: it must be above 0 (m)",
                             def->contact_thickness);
    const double thickness = own     ? def->contact_thickness
                             : sheet ? def->material.thickness
                                     : 0,
                 size = def->scale * extent(def->mesh);
    if (thickness <= size) return CT_OK;
    if (sheet)
        return ct_scene_fail(error, own ? "contact_thickness" : "material.thickness",
                             "is %g m, and the sheet no larger than a square of %g m: make it thinner, or a "
                             "solid of tets",
                             thickness, size);
    return ct_scene_fail(error, "contact_thickness",
                         "is %g m, and the body only %g m from end to end: make it thinner", thickness, size);
}

static ct_status check_def(const ct_scene* scene, const ct_body_def* def, ct_error* error) {
    if (!def->mesh)
        return ct_scene_fail(error, "mesh",
                             "is missing: a body needs a mesh of tets or, for a sheet, of triangles");
    if (def->mesh->ntet < 1 && def->mesh->ntri < 1)
        return ct_scene_fail(error, "mesh",
                             "has neither tets nor triangles: a solid needs tets, a sheet triangles");
    char generated[32];
    snprintf(generated, sizeof generated, "body%d", scene->nbody);
    ct_status status = ct_scene_check_names(scene, def->name ? def->name : generated, def->group, error);
    if (status) return status;
    if (def->order != 0 && def->order != 2)
        return ct_scene_fail(error, "order", "is %d: it must be 2, or left out", def->order);
    if (def->order == 2 && !def->mesh->ntet)
        return ct_scene_fail(error, "order", "is 2, but the body has no tets: leave it out");
    if (!(def->scale > 0 && isfinite(def->scale)))
        return ct_scene_fail(error, "scale", "is %g: it must be above 0", def->scale);
    const double* q = def->rotate;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabs(norm - 1) < 1e-6))
        return ct_scene_fail(error, "rotate", "is a quaternion of length %g: it must be 1", norm);
    if (!is_usable3(def->translate))
        return ct_scene_fail(error, "translate", "must be three finite numbers within 1e12");
    if (!is_usable3(def->velocity))
        return ct_scene_fail(error, "velocity", "must be three finite numbers within 1e12");
    if (!is_usable3(def->angular_velocity))
        return ct_scene_fail(error, "angular_velocity", "must be three finite numbers within 1e12");
    for (int i = 0; i < 3; i++)
        if (!isnan(def->color[i]) && !(def->color[i] >= 0 && def->color[i] <= 1))
            return ct_scene_fail(error, "color", "has a component %g: they must be from 0 to 1",
                                 def->color[i]);
    if (def->mesh->nvert > MOST_NODES - ct_scene_node_count(scene))
        return ct_scene_fail(error, "mesh", "makes the scene larger than %d nodes", (int)MOST_NODES);
    status = check_material(&def->material, "material.", def->mesh->ntet == 0, error);
    return status ? status : check_thickness(def, error);
}

static void transform(const ct_body_def* def, ct_mesh* mesh) {
    const double* q = def->rotate;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double w = q[0] / norm, u[3] = {q[1] / norm, q[2] / norm, q[3] / norm};
    for (int v = 0; v < mesh->nvert; v++) {
        double *x = mesh->x + 3 * (size_t)v, r[3], a[3], b[3];
        for (int i = 0; i < 3; i++) r[i] = def->scale * x[i];
        cross3(u, r, a);
        cross3(u, a, b);
        for (int i = 0; i < 3; i++) x[i] = r[i] + 2 * (w * a[i] + b[i]) + def->translate[i];
    }
}

// Colours of bodies that were given none: distinct for neighbours in the list, also for colour-blind eyes.
static void choose_color(const double wish[3], int index, double color[3]) {
    static const double palette[6][3] = {{0.93, 0.57, 0.36}, {0.35, 0.65, 0.86}, {0.40, 0.74, 0.52},
                                         {0.90, 0.78, 0.38}, {0.70, 0.53, 0.80}, {0.86, 0.45, 0.55}};
    for (int i = 0; i < 3; i++) color[i] = isnan(wish[i]) ? palette[index % 6][i] : wish[i];
}

// Fills a body's arrays; on failure what was allocated is in *body.
static ct_status fill_body(const ct_scene* scene, const ct_body_def* def, ct_scene_body* body,
                           ct_error* error) {
    char generated[32];
    snprintf(generated, sizeof generated, "body%d", scene->nbody);
    body->name = ct_duplicate_text(def->name ? def->name : generated);
    body->group = def->group ? ct_duplicate_text(def->group) : NULL;
    body->contact_thickness = def->contact_thickness;
    ct_status status = ct_mesh_copy(&body->mesh, def->mesh, error);
    if (status) return status;
    if (!body->name || (def->group && !body->group)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (def->order == 2 && ct_mesh_raise(body->mesh) != CT_OK)
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    transform(def, body->mesh);
    for (int v = 0; v < body->mesh->nvert; v++)
        if (!is_usable3(body->mesh->x + 3 * (size_t)v))
            return ct_scene_fail(
                error, "mesh",
                "has positions that are not finite or beyond 1e12 m after scale, rotate and translate");
    if ((status = ct_mesh_check(body->mesh, NULL, error)) != CT_OK) return status;
    size_t count = (size_t)ct_scene_body_elements(body), nvert = (size_t)body->mesh->nvert;
    body->tet_material = ct_alloc(count, sizeof *body->tet_material);
    body->velocity = ct_alloc(3 * nvert, sizeof *body->velocity);
    double* mass = ct_alloc(nvert, sizeof *mass);
    if (body->tet_material && body->velocity && mass) {
        for (size_t e = 0; e < count; e++) body->tet_material[e] = def->material;
        memcpy(body->angular_velocity, def->angular_velocity, sizeof body->angular_velocity);
        set_initial_velocity(body, def->velocity, mass);
        choose_color(def->color, scene->nbody, body->color);
    } else {
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    }
    ct_free(mass);
    return status;
}

// Says which body a mesh error is about.
static void name_body(ct_error* error, const ct_body_def* def) {
    if (!error || !def->name || error->code != CT_BAD_MESH) return;
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    int used = snprintf(error->message, sizeof error->message, "body \"%.100s\": ", def->name);
    snprintf(error->message + used, sizeof error->message - (size_t)used, "%.*s",
             (int)(sizeof error->message) - used - 1, message);
}

ct_status ct_scene_add_body(ct_scene* scene, const ct_body_def* def, int* body, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_status status = check_def(scene, def, error);
    if (status) return status;
    ct_scene_body* grown = ct_resize(scene->body, (size_t)scene->nbody + 1, sizeof *grown);
    if (!grown) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    scene->body = grown;
    ct_scene_body* added = &grown[scene->nbody];
    *added = (ct_scene_body){.first_node = ct_scene_node_count(scene)};
    if (scene->nbody) {
        added->first_tet = added[-1].first_tet + added[-1].mesh->ntet;
        added->first_tri = added[-1].first_tri + ct_scene_sheet_size(&added[-1]);
    }
    status = fill_body(scene, def, added, error);
    if (!status && !ct_scene_keep_names(scene, added->name, added->group, scene->nbody))
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (status) {
        name_body(error, def);
        ct_scene_free_body(added);
        return status;
    }
    if (body) *body = scene->nbody;
    scene->nbody++;
    return CT_OK;
}
