// Obstacles and pairs: what is read, what is refused and how it says so, and what they become
// in a model.
#include <dirent.h>

#include "build.h"
#include "contact/contact_pairs.h"
#include "contact/detect.h"
#include "model/model.h"
#include "scene_text.h"
#include "step/external.h"
#include "step/params.h"
#include "step/state.h"

#define BOX "{\"name\":\"block\",\"box\":{\"size\":[2,1,1],\"cells\":[2,1,1]}}"
#define SCENE(rest) "{\"bodies\":[" BOX "]," rest "}"
#define OBSTACLE(text) SCENE("\"obstacles\":[" text "]")
#define CONTACT(text) SCENE("\"contact\":{" text "}")

static ct_scene* scene_with_box(void) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){2, 1, 1}, (int[]){2, 1, 1}, &material);
    return scene;
}

static ct_model* compile(const ct_scene* scene) {
    ct_model* model;
    ct_error error = {0};
    must(ct_model_create(&model, scene, &error), &error);
    return model;
}

// ---- the API -------------------------------------------------------------------------------

static void defaults_are_contact_off_with_friction_one_half(void** unused) {
    ct_settings s = ct_settings_default();
    assert_true(s.contact.method == CT_CONTACT_METHOD_NONE && s.contact.split == CT_SPLIT_DIAGONAL);
    assert_true(s.contact.friction == 0.5 && s.contact.max_passes == 8);
    ct_obstacle_def def = ct_obstacle_def_default();
    assert_true(def.kind == CT_OBSTACLE_PLANE && def.normal[1] == 1 && def.scale == 1 &&
                isnan(def.contact_thickness) && isnan(def.color[0]));
    ct_pair_def pair = ct_pair_def_default();
    assert_true(pair.collide && isnan(pair.friction));
    assert_true(isnan(ct_body_def_default().contact_thickness) && !ct_body_def_default().group);
}

static void contact_settings_are_checked(void** unused) {
    ct_scene* scene = scene_with_box();
    ct_error error;
    const struct {
        ct_contact_settings contact;
        const char* path;
    } bad[] = {{{(ct_contact_method)3, CT_SPLIT_MASS, 0.5, 8, 0}, "contact.method"},
               {{CT_CONTACT_METHOD_SPLIT, (ct_split)5, 0.5, 8, 0}, "contact.split"},
               {{CT_CONTACT_METHOD_NEWTON, CT_SPLIT_MASS, -0.1, 8, 0}, "contact.friction"},
               {{CT_CONTACT_METHOD_NEWTON, CT_SPLIT_MASS, NAN, 8, 0}, "contact.friction"},
               {{CT_CONTACT_METHOD_NEWTON, CT_SPLIT_MASS, 0.5, 0, 0}, "contact.max_passes"},
               {{CT_CONTACT_METHOD_SPLIT, CT_SPLIT_MASS, 0.5, 8, -1}, "contact.truncate"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ct_settings s = ct_settings_default();
        s.contact = bad[i].contact;
        assert_int_equal(ct_scene_set_settings(scene, &s, &error), CT_BAD_SCENE);
        assert_string_equal(error.path, bad[i].path);
    }
    ct_scene_free(scene);
}

static void obstacle_refused(const ct_scene* scene, const ct_obstacle_def* def, const char* path,
                             const char* words) {
    ct_error error;
    int before = ct_scene_obstacle_count(scene);
    assert_int_not_equal(ct_scene_add_obstacle((ct_scene*)scene, def, NULL, &error), CT_OK);
    if (strcmp(error.path, path))
        fail_msg("path \"%s\", expected \"%s\" (%s)", error.path, path, error.message);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    assert_int_equal(ct_scene_obstacle_count(scene), before);
    assert_int_equal(ct_scene_add_obstacle((ct_scene*)scene, def, NULL, NULL), error.code);
}

// Changes one field of a valid obstacle and expects a refusal there.
#define REFUSED(base, change, path, words)                                                                   \
    do {                                                                                                     \
        ct_obstacle_def def = base;                                                                          \
        change;                                                                                              \
        obstacle_refused(scene, &def, path, words);                                                          \
    } while (0)

static void shapes_of_obstacles_are_checked(void** unused) {
    ct_scene* scene = scene_with_box();
    ct_obstacle_def plane = ct_obstacle_def_default(), sphere = plane, capsule = plane, box = plane,
                    mesh = plane;
    sphere.kind = CT_OBSTACLE_SPHERE;
    capsule.kind = CT_OBSTACLE_CAPSULE;
    box.kind = CT_OBSTACLE_BOX;
    mesh.kind = CT_OBSTACLE_MESH;
    REFUSED(plane, def.kind = (ct_obstacle_kind)9, "kind", "ct_obstacle_kind");
    REFUSED(plane, def.normal[1] = 0, "normal", "has no direction");
    REFUSED(plane, def.normal[0] = INFINITY, "normal", "has no direction");
    REFUSED(plane, def.center[2] = NAN, "center", "finite");
    REFUSED(sphere, def.radius = 0, "radius", "is 0: it must be above 0");
    REFUSED(sphere, def.radius = NAN, "radius", "above 0");
    REFUSED(sphere, def.center[0] = NAN, "center", "finite");
    REFUSED(capsule, def.radius = -1, "radius", "is -1");
    REFUSED(capsule, def.ends[1][1] = 0, "ends", "use a sphere");
    REFUSED(capsule, def.ends[1][1] = NAN, "ends", "finite");
    REFUSED(box, def.half[2] = 0, "half", "has 0");
    REFUSED(box, def.center[2] = NAN, "center", "finite");
    REFUSED(mesh, def.mesh = NULL, "mesh", "is missing");
    ct_mesh *empty, *flat;
    must(ct_mesh_create(&empty, 3, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 0, NULL, 0, NULL, NULL), NULL);
    must(ct_mesh_create(&flat, 3, (double[]){0, 0, 0, 1, 0, 0, 2, 0, 0}, 0, NULL, 1, (int[]){0, 1, 2}, NULL),
         NULL);
    REFUSED(mesh, def.mesh = empty, "mesh", "neither triangles nor tets");
    REFUSED(mesh, def.mesh = flat, "mesh", "triangle");
    ct_mesh_free(empty);
    ct_mesh_free(flat);
    ct_scene_free(scene);
}

static void placement_of_obstacles_is_checked(void** unused) {
    ct_scene* scene = scene_with_box();
    ct_obstacle_def plane = ct_obstacle_def_default(), box = plane;
    box.kind = CT_OBSTACLE_BOX;
    REFUSED(plane, def.scale = 0, "scale", "is 0");
    REFUSED(plane, def.rotate[0] = 2, "rotate", "of length 2");
    REFUSED(plane, def.translate[0] = NAN, "translate", "finite");
    REFUSED(plane, def.color[1] = 1.5, "color", "from 0 to 1");
    REFUSED(plane, def.contact_thickness = -1, "contact_thickness", "at least 0");
    REFUSED(box, def.contact_thickness = 0, "contact_thickness", "above 0");
    REFUSED(box, (def.half[0] = 1e200, def.scale = 1e200), "scale", "not finite");
    const ct_motion backward = {.key = (ct_keyframe[]){{.time = 1}, {.time = 0}}, .nkey = 2};
    REFUSED(plane, def.motion = &backward, "motion.keys[1]", "in order of time");
    ct_scene_free(scene);
}

static void names_of_bodies_obstacles_and_groups_differ(void** unused) {
    ct_scene* scene = scene_with_box();  // body0
    ct_obstacle_def plane = ct_obstacle_def_default();
    int index;
    must(ct_scene_add_obstacle(scene, &plane, &index, NULL), NULL);
    assert_int_equal(index, 0);
    assert_int_equal(ct_scene_find_obstacle(scene, "obstacle0"), 0);
    assert_string_equal(ct_scene_obstacle_name(scene, 0), "obstacle0");
    assert_string_equal(ct_scene_obstacle_name(scene, 1), "");
    assert_int_equal(ct_scene_find_obstacle(scene, "body0"), -1);
    plane.name = "wall";
    plane.group = "walls";
    must(ct_scene_add_obstacle(scene, &plane, NULL, NULL), NULL);
    plane.group = NULL;
    REFUSED(plane, def.name = "", "name", "is empty");
    REFUSED(plane, def.name = "*", "name", "stands for any");
    REFUSED(plane, def.name = "body0", "name", "another body");
    REFUSED(plane, def.name = "wall", "name", "another obstacle");
    REFUSED(plane, def.name = "walls", "name", "the group of the obstacle \"wall\"");
    REFUSED(plane, (def.name = "x", def.group = "wall"), "group", "another obstacle");
    REFUSED(plane, (def.name = "x", def.group = "x"), "group", "the same as the name");
    REFUSED(plane, (def.name = "x", def.group = ""), "group", "is empty");
    // bodies see the same names
    ct_mesh* mesh;
    ct_error error;
    must(ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){1, 1, 1}, NULL), NULL);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.name = "walls";
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_BAD_SCENE);
    body.name = "wall";
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_BAD_SCENE);
    body.name = "b";
    body.group = "body0";
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "group");
    body.group = "walls";
    body.contact_thickness = 0;
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "contact_thickness");
    body.contact_thickness = 0.01;
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void pairs_are_resolved_when_the_scene_is_complete(void** unused) {
    ct_scene* scene = scene_with_box();
    ct_error error;
    ct_model* model;
    ct_pair_def pair = {.a = "body0", .b = "grond", .collide = true, .friction = NAN};
    must(ct_scene_add_pair(scene, &pair, &error), &error);
    assert_int_equal(ct_scene_pair_count(scene), 1);
    assert_string_equal(ct_scene_pair(scene, 0).b, "grond");
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "contact.pairs[0].between[1]");
    ct_obstacle_def ground = ct_obstacle_def_default();
    ground.name = "ground";
    must(ct_scene_add_obstacle(scene, &ground, NULL, &error), &error);
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    if (!strstr(error.message, "did you mean \"ground\"?")) fail_msg("%s", error.message);
    ground.name = "grond";
    must(ct_scene_add_obstacle(scene, &ground, NULL, &error), &error);
    ct_model_free(compile(scene));
    // refused at once
    pair.b = "";
    assert_int_equal(ct_scene_add_pair(scene, &pair, &error), CT_BAD_SCENE);
    pair.b = NULL;
    assert_int_equal(ct_scene_add_pair(scene, &pair, &error), CT_BAD_SCENE);
    pair.b = "ground";
    pair.friction = -1;
    assert_int_equal(ct_scene_add_pair(scene, &pair, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "friction");
    ct_scene_free(scene);
}

// ---- scene files ---------------------------------------------------------------------------

static void every_key_of_contact_and_obstacles_is_read(void** unused) {
    ct_scene* scene =
        parse("{\"contact\":{\"method\":\"split\",\"split\":\"twice\",\"friction\":0.3,\"max_passes\":5,"
              "\"truncate\":30,\"pairs\":["
              "{\"between\":[\"block\",\"things\"],\"friction\":0.1},{\"between\":[\"*\",\"floor\"],"
              "\"collide\":false}]},\"solver\":{\"type\":\"projective\"},"
              "\"bodies\":[{\"name\":\"block\",\"box\":{\"size\":[2,1,1],\"cells\":[2,1,1]},\"material\":{"
              "\"energy\":\"projective\"},\"group\":\"soft\",\"contact_thickness\":0.02}],"
              "\"obstacles\":["
              "{\"name\":\"floor\",\"plane\":{\"point\":[1,2,3],\"normal\":[0,0,2]},\"color\":\"#ff0000\","
              "\"hidden\":true},"
              "{\"group\":\"things\",\"sphere\":{\"center\":[1,0,0],\"radius\":2},\"scale\":2,\"translate\":["
              "0,1,0],\"thickness\":0.5},"
              "{\"capsule\":{\"ends\":[[0,0,0],[1,0,0]],\"radius\":0.5},\"rotate\":{\"axis\":[0,0,1],"
              "\"degrees\":90},"
              "\"motion\":{\"keys\":[{\"time\":0},{\"time\":1,\"translate\":[0,3,0]}],\"smooth\":true}},"
              "{\"box\":{\"center\":[9,0,0],\"half\":[1,2,3]}},"
              "{\"mesh\":{\"torus\":{\"major\":1,\"minor\":0.3,\"size\":0.2}}}]}");
    ct_settings s = ct_scene_settings(scene);
    assert_true(s.contact.method == CT_CONTACT_METHOD_SPLIT && s.contact.split == CT_SPLIT_TWICE &&
                s.contact.friction == 0.3 && s.contact.max_passes == 5);
    assert_int_equal(s.contact.truncate, 30);
    assert_string_equal(scene->body[0].group, "soft");
    assert_true(scene->body[0].contact_thickness == 0.02);
    assert_true(ct_scene_obstacle_count(scene) == 5 && scene->npair == 2);
    assert_true(scene->pair[0].friction == 0.1 && scene->pair[0].collide && isnan(scene->pair[1].friction) &&
                !scene->pair[1].collide);
    const ct_scene_obstacle* o = scene->obstacle;
    assert_true(o[0].kind == CT_OBSTACLE_PLANE && o[0].point[2] == 3 && o[0].normal[2] == 1 &&
                o[0].color[0] == 1 && o[0].color[1] == 0 && o[0].hidden);
    assert_true(o[1].radius == 4 && o[1].x[0] == 2 && o[1].x[1] == 1 && o[1].thickness == 0.5 &&
                !o[1].hidden && o[1].color[0] == 0.6);
    assert_string_equal(o[1].group, "things");
    assert_true(o[2].nvert == 2 && fabs(o[2].x[4] - 1) < 1e-15 && o[2].radius == 0.5 &&
                o[2].motion.nkey == 2 && o[2].motion.smooth);
    assert_true(ct_scene_obstacle_moves(scene, 2) && !ct_scene_obstacle_moves(scene, 1) &&
                ct_scene_obstacle_kind(scene, 2) == CT_OBSTACLE_CAPSULE);
    assert_true(o[3].nvert == 8 && o[3].ntri == 12 && o[4].ntri > 100 && o[4].kind == CT_OBSTACLE_MESH);
    ct_scene_free(scene);
}

static void contact_is_in_force_where_the_scene_speaks_of_it(void** unused) {
    static const struct {
        const char* text;
        ct_contact_method method;
    } cases[] = {{SCENE("\"name\":\"a\""), CT_CONTACT_METHOD_NONE},
                 {SCENE("\"obstacles\":[]"), CT_CONTACT_METHOD_NONE},
                 {CONTACT(""), CT_CONTACT_METHOD_NEWTON},
                 {OBSTACLE("{\"plane\":{\"normal\":[0,1,0]}}"), CT_CONTACT_METHOD_NEWTON},
                 {CONTACT("\"method\":\"none\""), CT_CONTACT_METHOD_NONE},
                 {SCENE("\"contact\":{\"method\":\"none\"},\"obstacles\":[{\"plane\":{\"normal\":[0,1,0]}}]"),
                  CT_CONTACT_METHOD_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_scene* scene = parse(cases[i].text);
        ct_settings s = ct_scene_settings(scene);
        assert_int_equal(s.contact.method, cases[i].method);
        ct_scene_free(scene);
    }
}

static void what_is_wrong_in_a_file_is_named(void** unused) {
    refused(CONTACT("\"metod\":1"), "contact.metod", 1, "did you mean \"method\"");
    refused(CONTACT("\"method\":\"newtn\""), "contact.method", 1, "newton");
    refused(CONTACT("\"split\":\"mass\""), "contact.split", 1, "no meaning for this method");
    refused(CONTACT("\"truncate\":30"), "contact.truncate", 1, "no meaning for this method");
    refused(CONTACT("\"method\":\"split\""), "contact.method", 1, "solver \"projective\"");
    refused(CONTACT("\"friction\":-1"), "contact.friction", 1, "at least 0");
    refused(CONTACT("\"max_passes\":0"), "contact.max_passes", 1, "1");
    refused(CONTACT("\"pairs\":[{}]"), "contact.pairs[0]", 1, "needs the key \"between\"");
    refused(CONTACT("\"pairs\":[{\"between\":[\"block\"]}]"), "contact.pairs[0].between", 1, "two names");
    refused(CONTACT("\"pairs\":[{\"between\":[\"block\",\"*\"],\"frictoin\":1}]"),
            "contact.pairs[0].frictoin", 1, "did you mean \"friction\"");
    refused(CONTACT("\"pairs\":[{\"between\":[\"block\",\"*\"],\"friction\":-1}]"),
            "contact.pairs[0].friction", 1, "at least 0");
    refused(CONTACT("\"pairs\":[{\"between\":[\"block\",\"*\"],\"friction\":1,\"collide\":false}]"),
            "contact.pairs[0].friction", 1, "does not collide");
    refused(CONTACT("\"pairs\":[\n{\"between\":[\"blok\",\"*\"]}]"), "contact.pairs[0].between[0]", 2,
            "did you mean \"block\"");
    refused(OBSTACLE("{}"), "obstacles[0]", 1, "has 0 shapes");
    refused(OBSTACLE("{\"plane\":{\"normal\":[0,1,0]},\"sphere\":{\"radius\":1}}"), "obstacles[0]", 1,
            "has 2 shapes");
    refused(OBSTACLE("{\"plain\":{}}"), "obstacles[0].plain", 1, "did you mean \"plane\"");
    refused(OBSTACLE("{\"plane\":{}}"), "obstacles[0].plane", 1, "needs the key \"normal\"");
    refused(OBSTACLE("{\"plane\":{\"normal\":[0,0,0]}}"), "obstacles[0].plane.normal", 1, "has no direction");
    refused(OBSTACLE("{\"plane\":{\"normal\":[0,1,0],\"offset\":1}}"), "obstacles[0].plane.offset", 1,
            "is not a known key");
    refused(OBSTACLE("{\"sphere\":{\"radius\":0}}"), "obstacles[0].sphere.radius", 1, "above 0");
    refused(OBSTACLE("{\"capsule\":{\"ends\":[[0,0,0]],\"radius\":1}}"), "obstacles[0].capsule.ends", 1,
            "two points");
    refused(OBSTACLE("{\"capsule\":{\"ends\":[[0,0,0],[0,0,0]],\"radius\":1}}"), "obstacles[0].capsule.ends",
            1, "use a sphere");
    refused(OBSTACLE("{\"box\":{\"half\":[1,1,0]}}"), "obstacles[0].box.half", 1, "has 0");
    refused(OBSTACLE("{\"box\":{\"half\":[1,1,1]},\"thickness\":0}"), "obstacles[0].thickness", 1, "above 0");
    refused(OBSTACLE("{\"box\":{\"half\":[1,1,1]},\"repair\":true}"), "obstacles[0]", 1,
            "without a \"mesh\"");
    refused(OBSTACLE("{\"mesh\":\"no_such.obj\"}"), "obstacles[0].mesh", 0, "cannot read");
    refused(OBSTACLE("{\"mesh\":{}}"), "obstacles[0].mesh", 1, "has 0 meshes");
    refused(OBSTACLE("{\"mesh\":{\"cone\":{}}}"), "obstacles[0].mesh.cone", 1, "is not a known key");
    refused(OBSTACLE("{\"mesh\":{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}},\"repair\":true}"),
            "obstacles[0]", 1, "put it inside");
    refused(OBSTACLE("{\"plane\":{\"normal\":[0,1,0]},\"name\":\"block\"}"), "obstacles[0].name", 1,
            "another body");
    refused(OBSTACLE("{\"plane\":{\"normal\":[0,1,0]},\"motion\":{\"keys\":[{\"time\":1},{\"time\":0}]}}"),
            "obstacles[0].motion.keys[1]", 1, "order of time");
}

// ---- what they become ----------------------------------------------------------------------

#define SHAPES                                                                                               \
    "{\"name\":\"floor\",\"plane\":{\"point\":[0,-1,0],\"normal\":[0,1,0]}},"                                \
    "{\"name\":\"ball\",\"sphere\":{\"center\":[5,0,0],\"radius\":1},\"motion\":{\"keys\":[{\"time\":0},{"   \
    "\"time\":1,\"translate\":[0,3,0]}]}},"                                                                  \
    "{\"name\":\"bar\",\"capsule\":{\"ends\":[[0,5,0],[1,5,0]],\"radius\":0.5}},"                            \
    "{\"name\":\"brick\",\"box\":{\"center\":[0,9,0],\"half\":[1,2,3]},\"motion\":{\"keys\":[{\"time\":0},{" \
    "\"time\":2,\"rotate\":{\"axis\":[0,0,1],\"degrees\":90}}]}},"                                           \
    "{\"name\":\"cube\",\"mesh\":{\"box\":{\"size\":[1,1,1],\"cells\":[3,3,3]}},\"translate\":[0,0,9]}"

static void obstacles_become_nodes_without_mass_behind_all_others(void** unused) {
    ct_scene* scene = parse("{\"bodies\":[" BOX "],\"skeletons\":[{\"links\":[{\"joint\":{\"type\":\"free\"},"
                            "\"mass\":3,\"center\":[9,9,9],\"inertia\":[1,1,1]}]}],"
                            "\"pins\":[{\"select\":{\"list\":[0]}}],\"obstacles\":[" SHAPES "]}");
    ct_model* model = compile(scene);
    ct_model_info info = ct_model_summary(model);
    // 12 of the block, 4 of the link, 1 sphere, 2 capsule, 8 box, 64 - 8 of the cube's surface
    assert_int_equal(info.nvert, 12 + 4 + 1 + 2 + 8 + 56);
    assert_int_equal(ct_scene_node_count(scene), 12);
    assert_true(info.nobstacle == 5 && info.nbody == 1 && info.nfree == 11 && info.ndriven == 1 + 67);
    assert_true(fabs(info.mass - (2000 + 3)) < 1e-9 && fabs(info.volume - 2) < 1e-12);
    for (int v = 0; v < info.nvert; v++)
        assert_true((model->mass[v] > 0) == (v < 16) && (v >= 16 ? model->row[v] < 0 : 1));
    assert_true(model->geometry.extent < 10.1);  // of what has mass
    const double ball[3] = {5, 0, 0}, bar[3] = {1, 5, 0};
    assert_memory_equal(model->geometry.rest + 3 * 16, ball, sizeof ball);
    assert_memory_equal(model->geometry.rest + 3 * 18, bar, sizeof bar);
    assert_int_equal(model->inputs.ndrive, 1 + 4);
    // surfaces: 20 triangles of the block, 12 of the box, 108 of the cube, closed and outward
    assert_int_equal(info.nsurface, 20 + 12 + 108);
    double volume[6] = {0};
    for (int t = 0; t < info.nsurface; t++) {
        const double *a = model->geometry.rest + 3 * model->geometry.surface[3 * t],
                     *b = model->geometry.rest + 3 * model->geometry.surface[3 * t + 1],
                     *c = model->geometry.rest + 3 * model->geometry.surface[3 * t + 2];
        volume[ct_model_surface_owner(model)[t]] +=
            (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
             a[2] * (b[0] * c[1] - b[1] * c[0])) /
            6;
    }
    const double expected[6] = {2, 0, 0, 0, 48, 1};
    for (int i = 0; i < 6; i++) assert_true(fabs(volume[i] - expected[i]) < 1e-12);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void primitives_belong_to_their_colliders(void** unused) {
    ct_scene* scene = parse(OBSTACLE(SHAPES));
    ct_model* model = compile(scene);
    const ct_collision* c = &model->collision;
    assert_true(c->ncollider == 6 && c->nplane == 1 && c->plane[0].collider == 1 && c->ntri == 140);
    static const char* const names[] = {"block", "floor", "ball", "bar", "brick", "cube"};
    static const int nodes[] = {12, 0, 1, 2, 8, 56}, tris[] = {20, 0, 0, 0, 12, 108},
                     edges[] = {30, 0, 0, 1, 18, 162}, drives[] = {-1, -1, 0, -1, 2, -1};
    static const double radius[] = {0, 0, 1, 0.5, 0, 0};
    int node_count[6] = {0}, edge_count[6] = {0}, tri_count[6] = {0};
    for (int i = 0; i < c->nnode; i++) node_count[c->node_owner[i]]++;
    for (int i = 1; i < c->nnode; i++) assert_true(c->node[i] > c->node[i - 1]);
    for (int i = 0; i < c->nedge; i++) edge_count[c->edge_owner[i]]++;
    for (int i = 0; i < c->ntri; i++) tri_count[c->tri_owner[i]]++;
    for (int i = 0; i < 6; i++) {
        assert_string_equal(c->collider[i].name, names[i]);
        assert_true(node_count[i] == nodes[i] && edge_count[i] == edges[i] && tri_count[i] == tris[i]);
        assert_true(c->collider[i].motion == (drives[i] < 0 ? NULL : &model->inputs.drive[drives[i]]) &&
                    c->collider[i].radius == radius[i]);
    }
    ct_model_free(model);
    ct_scene_free(scene);
}

static void thickness_is_a_hundredth_of_the_mean_edge_unless_given(void** unused) {
    ct_scene* scene = parse("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}},{\"box\":{\"size\":["
                            "1,1,1],\"cells\":[1,1,1]},\"contact_thickness\":0.25}],"
                            "\"obstacles\":[{\"plane\":{\"normal\":[0,1,0]}},{\"sphere\":{\"radius\":1}},{"
                            "\"box\":{\"half\":[0.5,0.5,0.5]},\"scale\":10},"
                            "{\"plane\":{\"normal\":[0,1,0]},\"thickness\":0.1},{\"mesh\":{\"box\":{\"size\":"
                            "[1,1,1],\"cells\":[1,1,1]}}}]}");
    ct_model* model = compile(scene);
    double mean = (12 + 6 * sqrt(2)) / 18;  // of a cube's 12 edges and 6 diagonals
    const double expected[7] = {1e-2 * mean, 0.25, 0, 0, 1e-2 * mean, 0.1, 1e-2 * mean};
    for (int i = 0; i < 7; i++)
        assert_true(fabs(model->collision.collider[i].thickness - expected[i]) < 1e-15);
    ct_model_free(model);
    ct_scene_free(scene);
}

// However large its triangles are; what it does not touch does not count.
static void surfaces_of_obstacles_are_as_thick_as_the_thinnest_they_touch(void** unused) {
    ct_scene* scene = parse(
        "{\"bodies\":[{\"name\":\"a\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},"
        "\"contact_thickness\":0.25},{\"name\":\"b\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},"
        "\"contact_thickness\":0.125}],\"obstacles\":[{\"name\":\"of both\",\"box\":{\"half\":[9,9,9]}},"
        "{\"name\":\"of a\",\"mesh\":{\"box\":{\"size\":[1,1,1],\"cells\":[2,2,2]}}},"
        "{\"name\":\"of none\",\"box\":{\"half\":[9,9,9]}},"
        "{\"name\":\"given\",\"box\":{\"half\":[9,9,9]},\"thickness\":0.5}],"
        "\"contact\":{\"pairs\":[{\"between\":[\"b\",\"of a\"],\"collide\":false},"
        "{\"between\":[\"*\",\"of none\"],\"collide\":false}]}}");
    ct_model* model = compile(scene);
    const double expected[6] = {0.25, 0.125, 0.125, 0.25, 0, 0.5};
    for (int i = 0; i < 6; i++) assert_true(ct_model_contact_thickness(model, i) == expected[i]);
    assert_true(isnan(ct_model_contact_thickness(model, 6)) && isnan(ct_model_contact_thickness(model, -1)));
    assert_true(ct_model_contact_distance(model, 0, 2) == 0.375 &&
                ct_model_contact_distance(model, 3, 0) == 0.5 &&
                ct_model_contact_distance(model, 1, 1) == 0.25);
    assert_true(
        isnan(ct_model_contact_distance(model, 1, 3)) && isnan(ct_model_contact_distance(model, 0, 4)) &&
        isnan(ct_model_contact_distance(model, 2, 5)) && isnan(ct_model_contact_distance(model, 0, 6)));
    ct_model_free(model);
    ct_scene_free(scene);
}

static void sheets_keep_half_their_thickness(void** unused) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    ct_body_def def = ct_body_def_default();
    ct_mesh* mesh;
    ct_error error;
    must(ct_mesh_sheet(&mesh, (double[]){1, 1}, (int[]){2, 2}, NULL), NULL);
    def.mesh = mesh;
    def.material.thickness = 0.004;
    must(ct_scene_add_body(scene, &def, NULL, &error), &error);
    ct_mesh_free(mesh);
    ct_model* model = compile(scene);
    const ct_collision* c = &model->collision;
    assert_true(c->nnode == 9 && c->nedge == 16 && c->ntri == 8 && c->tri_owner[7] == 0);
    assert_true(fabs(c->collider[0].thickness - 0.002) < 1e-18);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void pairs_are_applied_in_order(void** unused) {
    ct_scene* scene =
        parse("{\"bodies\":[{\"name\":\"a\",\"group\":\"g\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}},"
              "{\"name\":\"b\",\"group\":\"g\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}}],\"obstacles\":["
              "{\"name\":\"p\",\"plane\":{\"normal\":[0,1,0]}}],"
              "\"contact\":{\"friction\":0.7,\"pairs\":[{\"between\":[\"g\",\"p\"],\"friction\":0.1},{"
              "\"between\":[\"*\",\"a\"],\"collide\":false},"
              "{\"between\":[\"p\",\"a\"]},{\"between\":[\"b\",\"p\"],\"friction\":0.2}]}}");
    ct_model* model = compile(scene);
    const ct_collision* c = &model->collision;
    static const unsigned char collide[9] = {0, 0, 1, 0, 1, 1, 1, 1, 1};
    static const int friction[9] = {0, 0, 1, 0, 0, 2, 1, 2, 0};
    for (int i = 0; i < 9; i++) {
        const size_t rule = ct_collision_rule(c, i / 3, i % 3);
        assert_int_equal(c->collide[rule], collide[i]);
        assert_int_equal(c->friction[rule], friction[i]);
    }
    assert_int_equal(ct_model_quantity_size(model, CT_QUANTITY_FRICTION), 3);
    const double expected[3] = {0.7, 0.1, 0.2};
    assert_memory_equal(model->friction, expected, sizeof expected);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void everything_collides_without_pairs(void** unused) {
    ct_scene* scene = parse(OBSTACLE(SHAPES));
    ct_model* model = compile(scene);
    const ct_collision* c = &model->collision;
    assert_int_equal(c->nkind, 1);  // no rule tells them apart
    for (int i = 0; i < 36; i++) {
        const size_t rule = ct_collision_rule(c, i / 6, i % 6);
        assert_true(c->collide[rule] == 1 && c->friction[rule] == 0);
    }
    assert_true(model->nfriction == 1 && model->friction[0] == 0.5);
    ct_model_free(model);
    ct_scene_free(scene);
}

// ---- motion --------------------------------------------------------------------------------

static void obstacles_follow_their_motion(void** unused) {
    ct_scene* scene = parse(OBSTACLE(SHAPES));
    ct_model* model = compile(scene);
    const ct_collider* collider = model->collision.collider;
    double* x = calloc(3 * (size_t)model->nvert, sizeof *x);
    ct_external_drive(model, 0.5, NULL, NULL, x);
    const double* ball = x + 3 * collider[2].first_node;
    assert_true(ball[0] == 5 && fabs(ball[1] - 1.5) < 1e-15 && ball[2] == 0);
    ct_external_drive(model, 2, NULL, NULL, x);
    for (int k = 0; k < 8; k++) {  // a quarter turn about z through the origin
        const double *rest = model->geometry.rest + 3 * (collider[4].first_node + k),
                     *now = x + 3 * (collider[4].first_node + k);
        assert_true(fabs(now[0] + rest[1]) < 1e-12 && fabs(now[1] - rest[0]) < 1e-12 && now[2] == rest[2]);
    }
    const double* still = x + 3 * collider[3].first_node;
    assert_memory_equal(still, model->geometry.rest + 3 * collider[3].first_node, 6 * sizeof *still);
    free(x);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void planes_are_posed_by_their_motion(void** unused) {
    ct_scene* scene = parse(OBSTACLE("{\"plane\":{\"point\":[1,0,0],\"normal\":[0,3,0]},\"rotate\":{\"axis\":"
                                     "[0,0,1],\"degrees\":90},\"translate\":[0,0,5],"
                                     "\"motion\":{\"keys\":[{\"time\":0},{\"time\":1,\"translate\":[0,0,2],"
                                     "\"rotate\":{\"axis\":[0,0,1],\"degrees\":90}}]}},"
                                     "{\"plane\":{\"point\":[1,2,3],\"normal\":[1,0,0]}}"));
    ct_model* model = compile(scene);
    double point[3], normal[3];
    ct_plane_pose(&model->collision.plane[0], 0, point, normal);  // placed: point (0, 1, 5), normal -x
    assert_true(fabs(point[0]) < 1e-15 && fabs(point[1] - 1) < 1e-15 && point[2] == 5 &&
                fabs(normal[0] + 1) < 1e-15 && fabs(normal[1]) < 1e-15);
    ct_plane_pose(&model->collision.plane[0], 1, point, normal);  // and turned once more about the origin
    assert_true(fabs(point[0] + 1) < 1e-15 && fabs(point[1]) < 1e-15 && point[2] == 7 &&
                fabs(normal[0]) < 1e-15 && fabs(normal[1] + 1) < 1e-15);
    ct_plane_pose(&model->collision.plane[1], 3, point, normal);
    assert_true(point[0] == 1 && point[1] == 2 && point[2] == 3 && normal[0] == 1 && normal[1] == 0);
    ct_model_free(model);
    ct_scene_free(scene);
}

// ---- obstacles that nothing touches change nothing -----------------------------------------

static void seed_height(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                        void* user) {
    for (int v = 0; step == 5 && v < *(int*)user; v++) x_bar[3 * v + 1] = 1;
}

static void motion_and_gradient_are_those_without_obstacles(void** unused) {
    double x[2][36], density[2][12], gravity[2][3], friction[2] = {NAN, NAN};
    ct_measure measure[2];
    for (int k = 0; k < 2; k++) {
        ct_scene* scene =
            parse(k ? "{\"bodies\":[" BOX "],\"pins\":[{\"select\":{\"box\":[[0,0,0],[0,1,1]]}}],\"contact\":"
                      "{\"method\":\"none\"},\"obstacles\":[" SHAPES "]}"
                    : "{\"bodies\":[" BOX "],\"pins\":[{\"select\":{\"box\":[[0,0,0],[0,1,1]]}}]}");
        sim s = start(scene, 1);
        steps(&s, 5);
        for (int i = 0; i < 3 * node_count(&s); i++)
            assert_true(isfinite(ct_state_positions(s.state)[i]) &&
                        isfinite(ct_state_velocities(s.state)[i]));
        memcpy(x[k], ct_state_positions(s.state), sizeof x[k]);
        measure[k] = ct_state_measure(s.model, s.state);
        // the ball rises at 3 m/s
        if (k) assert_true(fabs(ct_state_velocities(s.state)[3 * 12 + 1] - 3) < 1e-12);
        ct_tape* tape;
        ct_state* initial;
        must(ct_state_create(&initial, s.model, NULL), NULL);
        must(ct_tape_create(&tape, s.model, 5, 0, NULL), NULL);
        must(ct_rollout(s.model, s.work, tape, initial, 5, NULL, NULL, NULL, NULL), NULL);
        int body_nodes = 12;
        ct_values gradient = {.of = {[CT_QUANTITY_DENSITY] = density[k],
                                     [CT_QUANTITY_GRAVITY] = gravity[k],
                                     [CT_QUANTITY_FRICTION] = &friction[k]}};
        must(ct_backward(s.model, s.work, tape, NULL, seed_height, &body_nodes, &gradient, NULL), NULL);
        ct_tape_free(tape);
        ct_state_free(initial);
        stop(&s);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(density[0], density[1], sizeof density[0]);
    assert_memory_equal(gravity[0], gravity[1], sizeof gravity[0]);
    assert_true(friction[0] == 0 && friction[1] == 0);
    assert_true(measure[0].mass == measure[1].mass && measure[0].kinetic == measure[1].kinetic &&
                measure[0].center[1] == measure[1].center[1]);
}

// ---- friction ------------------------------------------------------------------------------

#define PAIRS                                                                                                \
    "\"contact\":{\"friction\":0.7,\"pairs\":[{\"between\":[\"block\",\"block\"],\"friction\":0.1},{"        \
    "\"between\":[\"*\",\"*\"]},{\"between\":[\"block\",\"*\"],\"friction\":0.2}]}"

static void friction_is_a_value_of_the_model(void** unused) {
    ct_scene* scene = parse(SCENE(PAIRS));
    ct_model* model = compile(scene);
    ct_error error;
    double good[3] = {0, 1.5, 0.3}, negative[3] = {0.1, -1e-9, 0}, bad[3] = {0.1, 0.2, INFINITY};
    ct_values values = {.of = {[CT_QUANTITY_FRICTION] = good}};
    bool refactored;
    must(ct_model_set_values(model, &values, &refactored, &error), &error);
    assert_memory_equal(model->friction, good, sizeof good);
    assert_true(!refactored && ct_model_settings(model).contact.friction == 0);
    values.of[CT_QUANTITY_FRICTION] = negative;
    assert_int_equal(ct_model_set_values(model, &values, NULL, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "friction[1] is -1e-09: it must be finite and at least 0"));
    values.of[CT_QUANTITY_FRICTION] = bad;
    assert_int_equal(ct_model_set_values(model, &values, NULL, &error), CT_BAD_ARGUMENT);
    assert_memory_equal(model->friction, good, sizeof good);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void friction_parameter(const char* per, int count) {
    char text[1024];
    snprintf(text, sizeof text,
             SCENE(PAIRS ",\"parameters\":[{\"type\":\"friction\"%s},{\"type\":\"young\"}]"), per);
    ct_scene* scene = parse(text);
    ct_model* model = compile(scene);
    ct_params* params;
    ct_error error;
    must(ct_params_create(&params, scene, model, 3, &error), &error);
    assert_int_equal(ct_params_size(params), count + 1);
    double y[4], lower[4], upper[4], bar[4];
    ct_params_start(params, y);
    ct_params_bounds(params, lower, upper);
    assert_true(ct_params_apply(params, y)->of[CT_QUANTITY_FRICTION][0] == 0.7 &&
                ct_params_apply(params, y)->of[CT_QUANTITY_FRICTION][2] == 0.2);
    for (int k = 0; k < count; k++) {
        // y = value / scale, the scale that of the largest start
        assert_true(lower[k] == 0 && upper[k] == INFINITY);
        y[k] = (k + 1) / 0.7;
    }
    const double* value = ct_params_apply(params, y)->of[CT_QUANTITY_FRICTION];
    const double scene_only[3] = {1, 0.1, 0.2}, all[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++) assert_true(fabs(value[i] - (count == 1 ? scene_only : all)[i]) < 1e-15);
    ct_values* gradient = ct_params_gradient(params);
    for (int i = 0; i < 3; i++) gradient->of[CT_QUANTITY_FRICTION][i] = 10 + i;
    ct_params_vjp(params, y, gradient, bar);
    for (int k = 0; k < count; k++) assert_true(fabs(bar[k] - 0.7 * (10 + k)) < 1e-14);
    ct_params_free(params);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void friction_parameters_set_the_scene_or_all(void** unused) {
    friction_parameter("", 1);
    friction_parameter(",\"per\":\"scene\"", 1);
    friction_parameter(",\"per\":\"element\"", 3);
#define PARAMETER(text) SCENE(PAIRS ",\"parameters\":[" text "]")
    refused(PARAMETER("{\"type\":\"friction\",\"per\":\"tag\"}"), "parameters[0].per", 1,
            "no meaning for friction");
    refused(PARAMETER("{\"type\":\"friction\",\"body\":0}"), "parameters[0].body", 1, "no meaning");
    refused(PARAMETER("{\"type\":\"friction\",\"link\":\"a\"}"), "parameters[0].link", 1, "no meaning");
    refused(PARAMETER("{\"type\":\"friction\",\"lower\":-1}"), "parameters[0].lower", 1,
            "must not be negative");
    refused(PARAMETER("{\"type\":\"friction\"},{\"type\":\"friction\",\"name\":\"b\"}"), "parameters[1].type",
            1, "already sets the same numbers");
}

// ---- state ---------------------------------------------------------------------------------

static void contact_forces_are_part_of_the_state(void** unused) {
    sim s = start(scene_with_box(), 1);
    size_t count = 3 * (size_t)node_count(&s);
    const double* force = ct_state_contact_forces(s.state);
    const unsigned char *block = ct_state_bytes(s.state), *at = (const unsigned char*)force;
    for (size_t i = 0; i < count; i++) assert_true(force[i] == 0);
    assert_true(at >= block && at + count * sizeof *force <= block + ct_state_size(s.state));
    for (size_t i = 0; i < count; i++) s.state->contact_force[i] = 1 + (double)i;
    ct_state* copy;
    must(ct_state_create(&copy, s.model, NULL), NULL);
    must(ct_state_copy(copy, s.state), NULL);
    assert_memory_equal(ct_state_contact_forces(copy), force, count * sizeof *force);
    must(ct_state_set(copy, ct_state_positions(s.state), ct_state_velocities(s.state)), NULL);
    for (size_t i = 0; i < count; i++) assert_true(ct_state_contact_forces(copy)[i] == 0);
    ct_state_free(copy);
    stop(&s);
}

// ---- the scenes that come with the library -------------------------------------------------

// Nothing touches or intersects at the start. Returns whether the scene has contact.
static bool starts_apart(const char* name) {
    char path[512];
    ct_scene* scene;
    ct_error error = {0};
    snprintf(path, sizeof path, "%s/scenes/%s", CT_SOURCE_DIR, name);
    must(ct_scene_load(&scene, path, &error), &error);
    bool contact = scene->settings.contact.method != CT_CONTACT_METHOD_NONE;
    if (contact) {
        sim s = start(scene, 1);
        ct_detect* detect;
        ct_pairs pairs = {0};
        const double* x = ct_state_positions(s.state);
        must(ct_detect_create(&detect, &s.model->collision), NULL);
        must(ct_detect_near(&s.model->collision, detect, x, 0, 0, &pairs), NULL);
        if (pairs.count)
            fail_msg("%s: %zu contacts at the start, the first of colliders %d and %d", name, pairs.count,
                     pairs.item[0].a, pairs.item[0].b);
        assert_int_equal(ct_detect_intersections(&s.model->collision, detect, x, NULL), 0);
        ct_pairs_free(&pairs);
        ct_detect_free(detect);
        stop(&s);
    } else {
        ct_scene_free(scene);
    }
    return contact;
}

static void scenes_with_contact_start_apart(void** unused) {
    DIR* directory = opendir(CT_SOURCE_DIR "/scenes");
    assert_non_null(directory);
    int count = 0;
    for (struct dirent* entry; (entry = readdir(directory));) {
        const char* dot = strrchr(entry->d_name, '.');
        if (dot && !strcmp(dot, ".json")) count += starts_apart(entry->d_name);
    }
    closedir(directory);
    assert_true(count >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_contact_off_with_friction_one_half),
        cmocka_unit_test(contact_settings_are_checked),
        cmocka_unit_test(shapes_of_obstacles_are_checked),
        cmocka_unit_test(placement_of_obstacles_is_checked),
        cmocka_unit_test(names_of_bodies_obstacles_and_groups_differ),
        cmocka_unit_test(pairs_are_resolved_when_the_scene_is_complete),
        cmocka_unit_test(every_key_of_contact_and_obstacles_is_read),
        cmocka_unit_test(contact_is_in_force_where_the_scene_speaks_of_it),
        cmocka_unit_test(what_is_wrong_in_a_file_is_named),
        cmocka_unit_test(obstacles_become_nodes_without_mass_behind_all_others),
        cmocka_unit_test(primitives_belong_to_their_colliders),
        cmocka_unit_test(thickness_is_a_hundredth_of_the_mean_edge_unless_given),
        cmocka_unit_test(surfaces_of_obstacles_are_as_thick_as_the_thinnest_they_touch),
        cmocka_unit_test(sheets_keep_half_their_thickness),
        cmocka_unit_test(pairs_are_applied_in_order),
        cmocka_unit_test(everything_collides_without_pairs),
        cmocka_unit_test(obstacles_follow_their_motion),
        cmocka_unit_test(planes_are_posed_by_their_motion),
        cmocka_unit_test(motion_and_gradient_are_those_without_obstacles),
        cmocka_unit_test(friction_is_a_value_of_the_model),
        cmocka_unit_test(friction_parameters_set_the_scene_or_all),
        cmocka_unit_test(contact_forces_are_part_of_the_state),
        cmocka_unit_test(scenes_with_contact_start_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
