// Scenes written back as files: what is read again is the same scene, to the last bit.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repeat.h"
#include "scene/keys.h"
#include "scene/scene.h"
#include "scene_text.h"
#include "unit.h"

static char* write_text(const ct_scene* scene) {
    char* text;
    size_t size;
    ct_error error;
    if (ct_scene_write(scene, &text, &size, &error)) fail_msg("%s: %s", ct_scene_name(scene), error.message);
    assert_int_equal(strlen(text), size);
    return text;
}

static ct_scene* reread(const ct_scene* scene) {
    char* text = write_text(scene);
    ct_scene* again = parse_in(text, "/nowhere");
    ct_free(text);
    return again;
}

static uint64_t hash(uint64_t sum, const void* bytes, size_t count) {
    for (size_t i = 0; i < count; i++) sum = (sum ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3u;
    return sum;
}

// Of everything a model has, and of the states of a short motion.
static uint64_t fingerprint(const ct_scene* scene, int steps) {
    ct_model* model;
    ct_work* work;
    ct_state* state;
    ct_error error;
    ct_step_report report;
    if (ct_model_create(&model, scene, &error)) fail_msg("%s: %s", ct_scene_name(scene), error.message);
    assert_int_equal(ct_work_create(&work, model, 1, NULL), CT_OK);
    assert_int_equal(ct_state_create(&state, model, NULL), CT_OK);
    ct_model_info info = ct_model_summary(model);
    uint64_t sum = hash(0xcbf29ce484222325u, ct_model_rest(model), 3 * sizeof(double) * (size_t)info.nvert);
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        size_t count = ct_model_quantity_size(model, (ct_quantity)q);
        double* values = calloc(count + 1, sizeof *values);
        ct_model_get(model, (ct_quantity)q, values);
        sum = hash(sum, values, count * sizeof *values);
        free(values);
    }
    sum = hash(sum, ct_state_bytes(state), ct_state_size(state));
    for (int i = 0; i < steps; i++) {
        if (ct_step(model, work, state, NULL, &report)) fail_msg("%s", report.message);
        sum = hash(sum, ct_state_bytes(state), ct_state_size(state));
    }
    ct_state_free(state);
    ct_work_free(work);
    ct_model_free(model);
    return sum;
}

static ct_scene* load(const char* path) {
    ct_scene* scene;
    ct_error error;
    if (ct_scene_load(&scene, path, &error)) fail_msg("%s: %s", error.path, error.message);
    return scene;
}

static void read_back_is_the_same_model(const char* path, int steps) {
    ct_scene* scene = load(path);
    assert_true(ct_scene_file(scene)[0] == '/');
    ct_scene* again = reread(scene);
    if (fingerprint(scene, steps) != fingerprint(again, steps)) fail_msg("%s is not the same model", path);
    ct_scene_free(scene);
    ct_scene_free(again);
}

static void every_scene_is_read_back_to_the_same_model(void** state) {
    (void)state;
    DIR* directory = opendir(CT_SOURCE_DIR "/scenes");
    int count = 0;
    for (struct dirent* entry; (entry = readdir(directory));) {
        char path[600];
        if (!strstr(entry->d_name, ".json")) continue;
        snprintf(path, sizeof path, CT_SOURCE_DIR "/scenes/%s", entry->d_name);
        // under a sanitizer, those that have something of their own
        if (REPEAT(true, strstr("arm.json gripper.json fish.json tendon.json", entry->d_name)))
            read_back_is_the_same_model(path, REPEAT(1, 0));
        count++;
    }
    closedir(directory);
    assert_true(count > 30);
}

#define EVERYTHING CT_SOURCE_DIR "/tests/data/everything.json"

static void everything_is_read_back_to_the_same_model(void** state) {
    (void)state;
    read_back_is_the_same_model(EVERYTHING, 3);
    ct_scene* scene = load(EVERYTHING);
    ct_scene* again = reread(scene);
    char *first = write_text(scene), *second = write_text(again);
    assert_string_equal(first, second);
    ct_free(first);
    ct_free(second);
    ct_scene_free(scene);
    ct_scene_free(again);
}

// Words that say how something is made, not what it is.
static bool is_recipe(const char* object, const char* word) {
    static const char* const words[] = {"scene.$schema",
                                        "scene.muscles",
                                        "scene.chambers",
                                        "scene.cavities",
                                        "scene.cables",
                                        "scene.settle",
                                        "scene.velocities",
                                        "contact.split",
                                        "contact.truncate",
                                        "body.order",
                                        "body.mass",
                                        "body.scale",
                                        "body.rotate",
                                        "body.translate",
                                        "node_mass.total",
                                        "velocity.select",
                                        "velocity.velocity",
                                        "velocity.angular_velocity",
                                        "skeleton.name",
                                        "skeleton.file",
                                        "skeleton.translate",
                                        "skeleton.rotate",
                                        "skeleton.scale",
                                        "link.mesh",
                                        "link.density",
                                        "turn.axis",
                                        "turn.degrees",
                                        "policy.seed",
                                        NULL};
    static const char* const objects[] = {"box_mesh",     "sheet_mesh",     "sphere_mesh", "cylinder_mesh",
                                          "torus_mesh",   "obstacle_mesh",  "selector",    "select_sphere",
                                          "select_plane", "select_capsule", NULL};
    char path[100];
    snprintf(path, sizeof path, "%s.%s", object, word);
    for (int i = 0; words[i]; i++)
        if (!strcmp(path, words[i])) return true;
    for (int i = 0; objects[i]; i++)
        if (!strcmp(object, objects[i])) return true;
    bool makes_mesh = strstr(" repair box sphere cylinder torus sheet shape size interior ", word);
    return (!strcmp(object, "body") && makes_mesh) || !strcmp(path, "obstacle.repair");
}

static void every_key_is_written(void** state) {
    (void)state;
    ct_scene* scene = load(EVERYTHING);
    char* text = write_text(scene);
    for (int i = 0; i < CT_OBJECT_COUNT; i++)
        for (const char* const* word = ct_scene_keys[i].words; *word; word++) {
            char key[80];
            snprintf(key, sizeof key, "\"%s\": ", *word);
            if (!is_recipe(ct_scene_keys[i].name, *word) && !strstr(text, key))
                fail_msg("%s.%s is not written", ct_scene_keys[i].name, *word);
        }
    ct_free(text);
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------
// Built by calls

static ct_scene* build(void) {
    ct_scene* scene;
    ct_error error;
    ct_mesh* mesh;
    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    assert_int_equal(ct_mesh_box(&mesh, (double[]){1, 0.3, 0.3}, (int[]){3, 1, 1}, NULL), CT_OK);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.angular_velocity[2] = 0.1;
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_OK);
    double young[18];
    for (int e = 0; e < 18; e++) young[e] = 1e5 * (1 + e / 7.0);
    assert_int_equal(ct_scene_set_tet_values(scene, 0, CT_QUANTITY_YOUNG, young, 18, &error), CT_OK);
    assert_int_equal(ct_scene_drive(scene, (int[]){0, 4}, 2, NULL, &error), CT_OK);
    ct_obstacle_def box = ct_obstacle_def_default();
    box.kind = CT_OBSTACLE_BOX;
    box.translate[1] = -1;
    const double turn[4] = {0.96 + 1e-7, 0.28, 0, 0};  // of length 1, nearly
    memcpy(box.rotate, turn, sizeof turn);
    assert_int_equal(ct_scene_add_obstacle(scene, &box, NULL, &error), CT_OK);
    ct_chamber_def chamber = ct_chamber_def_default();
    assert_int_equal(ct_scene_add_chamber(scene, &chamber, NULL, &error), CT_OK);
    ct_muscle_def muscle = ct_muscle_def_default();
    muscle.points = (double[]){0, 0.1, 0.1, 1, 0.1, 0.1}, muscle.npoint = 2, muscle.radius = 0.5;
    assert_int_equal(ct_scene_add_muscle(scene, &muscle, NULL, &error), CT_OK);
    ct_mesh_free(mesh);
    return scene;
}

static void scene_of_calls_is_read_back_to_the_same_model(void** state) {
    (void)state;
    ct_scene* scene = build();
    ct_scene* again = reread(scene);
    assert_true(fingerprint(scene, 2) == fingerprint(again, 2));
    assert_true(again->actuator[0].kind == CT_ACTUATOR_CHAMBER);  // the order is kept
    ct_scene_free(scene);
    ct_scene_free(again);
}

static void changes_after_loading_are_written(void** state) {
    (void)state;
    ct_scene* scene = load(CT_SOURCE_DIR "/scenes/beam.json");
    ct_settings settings = ct_scene_settings(scene);
    ct_error error;
    settings.time_step = 1 / 300.0;
    assert_int_equal(ct_scene_set_settings(scene, &settings, &error), CT_OK);
    assert_int_equal(ct_scene_set_mass(scene, 0, 1.7, &error), CT_OK);
    ct_scene* again = reread(scene);
    assert_true(ct_scene_settings(again).time_step == 1 / 300.0);
    assert_true(again->body[0].tet_material[0].density == scene->body[0].tet_material[0].density);
    assert_true(fingerprint(scene, 1) == fingerprint(again, 1));
    ct_scene_free(scene);
    ct_scene_free(again);
}

static void refused_with(const ct_scene* scene, const char* words) {
    char* text;
    ct_error error;
    assert_int_not_equal(ct_scene_write(scene, &text, NULL, &error), CT_OK);
    assert_null(text);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    assert_int_equal(ct_scene_write(scene, &text, NULL, NULL), error.code);
}

static void what_a_file_cannot_say_is_refused(void** state) {
    (void)state;
    ct_error error;
    ct_scene* scene = build();
    ct_force_def force = ct_force_def_default();
    force.start = -INFINITY;
    assert_int_equal(ct_scene_add_force(scene, (int[]){3}, 1, &force, &error), CT_OK);
    refused_with(scene, "\"start\" is -inf");
    ct_scene_free(scene);

    scene = build();  // targets in another order than that of the nodes
    ct_objective_def shape = ct_objective_def_default();
    shape.kind = CT_OBJECTIVE_SHAPE;
    shape.nodes = (int[]){5, 3}, shape.count = 2;
    shape.shape = (double[]){1, 2, 3, 4, 5, 6};
    assert_int_equal(ct_scene_add_objective(scene, &shape, &error), CT_OK);
    refused_with(scene, "differs at \"list\": [5, 3]");
    ct_scene_free(scene);

    scene = build();
    ct_optimize_def optimize = ct_optimize_def_default();
    optimize.seed = 1ull << 40;
    assert_int_equal(ct_scene_set_optimize_def(scene, &optimize, &error), CT_OK);
    refused_with(scene, "optimizer.seed");
    assert_int_equal(ct_scene_set_name(scene, ""), CT_OK);
    refused_with(scene, "name");
    ct_scene_free(scene);

    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    refused_with(scene, "bodies");
    ct_scene_free(scene);
}

static void file_appears_whole_or_not_at_all(void** state) {
    (void)state;
    char path[200];
    ct_error error;
    snprintf(path, sizeof path, "%s/save_%ld.json", CT_BINARY_DIR, (long)getpid());
    ct_scene* scene = build();
    assert_int_equal(ct_scene_save(scene, path, &error), CT_OK);
    ct_scene* again = load(path);
    char *a = write_text(scene), *b = write_text(again);
    assert_string_equal(a, b);
    ct_free(a);
    ct_free(b);
    ct_scene_free(again);
    assert_int_equal(ct_scene_set_name(scene, ""), CT_OK);
    assert_int_not_equal(ct_scene_save(scene, path, &error), CT_OK);
    again = load(path);  // as it was
    assert_string_equal(ct_scene_name(again), "scene");
    ct_scene_free(again);
    assert_int_equal(ct_scene_set_name(scene, "x"), CT_OK);
    assert_int_equal(ct_scene_save(scene, "/nowhere/at/all.json", &error), CT_IO);
    assert_int_equal(ct_scene_save(scene, CT_BINARY_DIR, &error), CT_IO);
    unlink(path);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_is_read_back_to_the_same_model),
        cmocka_unit_test(everything_is_read_back_to_the_same_model),
        cmocka_unit_test(every_key_is_written),
        cmocka_unit_test(scene_of_calls_is_read_back_to_the_same_model),
        cmocka_unit_test(changes_after_loading_are_written),
        cmocka_unit_test(what_a_file_cannot_say_is_refused),
        cmocka_unit_test(file_appears_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
