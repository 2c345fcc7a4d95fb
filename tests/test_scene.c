// Authoring a scene through the API: transforms, materials, velocities, motions, settings.
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scene/scene.h"
#include "unit.h"

static ct_scene* box_scene(void) {
    ct_scene* scene;
    ct_mesh* mesh;
    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    assert_int_equal(ct_mesh_box(&mesh, (double[]){2, 1, 1}, (int[]){2, 1, 1}, NULL), CT_OK);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    ct_error error;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_OK);
    ct_mesh_free(mesh);
    return scene;
}

static void assert_close(const double* actual, const double* expected, double tolerance) {
    for (int i = 0; i < 3; i++)
        if (!(fabs(actual[i] - expected[i]) <= tolerance))
            fail_msg("component %d is %.17g, expected %.17g", i, actual[i], expected[i]);
}

// -------------------------------------------------------------------------------------------------
// Bodies

static void body_is_scaled_then_rotated_then_translated(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_body_def def = ct_body_def_default();
    ct_mesh* mesh;
    ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){1, 1, 1}, NULL);
    def.mesh = mesh;
    def.scale = 2;
    def.rotate[0] = def.rotate[3] = sqrt(0.5);  // 90 degrees about z: (x, y) -> (-y, x)
    def.translate[0] = 10;
    int body;
    ct_error error;
    assert_int_equal(ct_scene_add_body(scene, &def, &body, &error), CT_OK);
    assert_int_equal(body, 1);
    for (int v = 0; v < mesh->nvert; v++) {
        const double* x = mesh->x + 3 * v;
        double expected[3] = {10 - 2 * x[1], 2 * x[0], 2 * x[2]};
        assert_close(scene->body[1].mesh->x + 3 * v, expected, 1e-14);
    }
    assert_int_equal(scene->body[1].first_node, scene->body[0].mesh->nvert);
    assert_int_equal(scene->body[1].first_tet, scene->body[0].mesh->ntet);
    assert_string_equal(ct_scene_body_name(scene, 1), "body1");
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void bad_body_leaves_the_scene_unchanged(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_mesh* mesh;
    ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){1, 1, 1}, NULL);
    ct_body_def def = ct_body_def_default();
    ct_error error;
    int nodes = ct_scene_node_count(scene);
    def.mesh = mesh;
    def.name = "body0";
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "name");
    def.name = "other";
    def.material.poisson = 0.5;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.message,
                        "material.poisson is 0.5: it must be at least 0 and below 0.5; use 0.49 for "
                        "nearly incompressible material");
    def.material = ct_material_default();
    def.translate[1] = NAN;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "translate");
    assert_int_equal(ct_scene_node_count(scene), nodes);
    assert_int_equal(ct_scene_body_count(scene), 1);
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void inverted_tet_is_reported_with_its_body(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_mesh* mesh;
    ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){1, 1, 1}, NULL);
    int swap = mesh->tet[8];
    mesh->tet[8] = mesh->tet[9];
    mesh->tet[9] = swap;
    ct_body_def def = ct_body_def_default();
    ct_error error;
    def.mesh = mesh;
    def.name = "crooked";
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_MESH);
    assert_int_equal(error.element, 2);
    assert_non_null(strstr(error.message, "body \"crooked\""));
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void tags_then_values_override_the_body_material(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_scene_body* body = &scene->body[0];
    int ntet = body->mesh->ntet;
    ct_error error;
    body->mesh->tet_tag[1] = 7;
    ct_material hard = ct_material_default();
    hard.young = 5e9;
    hard.energy = CT_ENERGY_STVK;
    assert_int_equal(ct_scene_set_tag_material(scene, 0, 7, &hard, &error), CT_OK);
    assert_true(body->tet_material[1].young == 5e9 && body->tet_material[1].energy == CT_ENERGY_STVK);
    assert_true(body->tet_material[0].young == 1e6);
    assert_int_equal(ct_scene_set_tag_material(scene, 0, 8, &hard, &error), CT_BAD_SCENE);
    double values[64];
    for (int e = 0; e < ntet; e++) values[e] = 0.1 + 0.01 * e;
    assert_int_equal(ct_scene_set_tet_values(scene, 0, CT_QUANTITY_POISSON, values, ntet, &error), CT_OK);
    assert_true(body->tet_material[1].poisson == values[1] && body->tet_material[1].young == 5e9);
    assert_int_equal(ct_scene_set_tet_values(scene, 0, CT_QUANTITY_POISSON, values, ntet - 1, &error),
                     CT_BAD_SCENE);
    values[3] = -1;
    assert_int_equal(ct_scene_set_tet_values(scene, 0, CT_QUANTITY_YOUNG, values, ntet, &error),
                     CT_BAD_SCENE);
    assert_int_equal(error.element, 3);
    assert_string_equal(error.path, "young[3]");
    assert_true(body->tet_material[0].young == 1e6);
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------
// Velocities

// Linear momentum, angular momentum about the centre of mass and the centre itself, from lumped masses.
static void momentum(const ct_scene_body* body, double linear[3], double center[3]) {
    double total = 0;
    memset(linear, 0, 3 * sizeof *linear);
    memset(center, 0, 3 * sizeof *center);
    for (int e = 0; e < body->mesh->ntet; e++) {
        const int* t = body->mesh->tet + 4 * e;
        const double *a = body->mesh->x + 3 * t[0], *b = body->mesh->x + 3 * t[1],
                     *c = body->mesh->x + 3 * t[2], *d = body->mesh->x + 3 * t[3];
        double u[3], v[3], w[3];
        for (int i = 0; i < 3; i++) u[i] = b[i] - a[i], v[i] = c[i] - a[i], w[i] = d[i] - a[i];
        double volume = (u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
                         u[2] * (v[0] * w[1] - v[1] * w[0])) /
                        6;
        double mass = volume * body->tet_material[e].density / 4;
        for (int k = 0; k < 4; k++) {
            total += mass;
            for (int i = 0; i < 3; i++) {
                linear[i] += mass * body->velocity[3 * t[k] + i];
                center[i] += mass * body->mesh->x[3 * t[k] + i];
            }
        }
    }
    for (int i = 0; i < 3; i++) linear[i] /= total, center[i] /= total;
}

static void spinning_body_moves_with_its_velocity_after_densities_change(void** state) {
    (void)state;
    ct_scene* scene;
    ct_scene_create(&scene, NULL);
    ct_mesh* mesh;
    ct_mesh_box(&mesh, (double[]){2, 1, 1}, (int[]){2, 1, 1}, NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    memcpy(def.velocity, (double[]){1, 2, 3}, sizeof def.velocity);
    memcpy(def.angular_velocity, (double[]){0, 0, 5}, sizeof def.angular_velocity);
    ct_error error;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_OK);
    ct_scene_body* body = &scene->body[0];
    double linear[3], center[3];
    momentum(body, linear, center);
    assert_close(center, (double[]){1, 0.5, 0.5}, 1e-14);
    assert_close(linear, (double[]){1, 2, 3}, 1e-13);
    double values[64];
    for (int e = 0; e < mesh->ntet; e++) values[e] = e < mesh->ntet / 2 ? 1000 : 4000;
    assert_int_equal(ct_scene_set_tet_values(scene, 0, CT_QUANTITY_DENSITY, values, mesh->ntet, &error),
                     CT_OK);
    momentum(body, linear, center);
    assert_close(center, (double[]){1.3, 0.5, 0.5}, 1e-13);
    assert_close(linear, (double[]){1, 2, 3}, 1e-13);
    for (int v = 0; v < mesh->nvert; v++) {
        const double* x = body->mesh->x + 3 * v;
        double expected[3] = {1 - 5 * (x[1] - center[1]), 2 + 5 * (x[0] - center[0]), 3};
        assert_close(body->velocity + 3 * v, expected, 1e-12);
    }
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void set_velocity_touches_only_its_nodes(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_error error;
    assert_int_equal(ct_scene_set_velocity(scene, (int[]){3, 1, 3}, 3, (double[]){0, 4, 0}, NULL, &error),
                     CT_OK);
    const double* v = scene->body[0].velocity;
    for (int node = 0; node < scene->body[0].mesh->nvert; node++)
        assert_true(v[3 * node + 1] == (node == 1 || node == 3 ? 4 : 0));
    assert_int_equal(ct_scene_set_velocity(scene, (int[]){999}, 1, NULL, NULL, &error), CT_BAD_SCENE);
    assert_int_equal(error.element, 999);
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------
// Drives and forces

static void drive_sorts_and_refuses_a_node_twice(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_error error;
    assert_int_equal(ct_scene_drive(scene, (int[]){5, 2, 5}, 3, NULL, &error), CT_OK);
    assert_int_equal(scene->drive[0].nnode, 2);
    assert_int_equal(scene->drive[0].node[0], 2);
    assert_int_equal(ct_scene_drive(scene, (int[]){1, 5}, 2, NULL, &error), CT_BAD_SCENE);
    assert_int_equal(error.element, 5);
    assert_non_null(strstr(error.message, "already driven by drive 0"));
    assert_int_equal(scene->ndrive, 1);
    assert_int_equal(ct_scene_drive(scene, NULL, 0, NULL, &error), CT_BAD_SCENE);
    ct_scene_free(scene);
}

static void motion_keys_must_be_in_order(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_error error;
    ct_keyframe key[2] = {{.time = 1}, {.time = 1}};
    ct_motion motion = {.key = key, .nkey = 2};
    assert_int_equal(ct_scene_drive(scene, (int[]){0}, 1, &motion, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "motion.keys[1]");
    motion.nkey = 1;
    motion.repeat = true;
    assert_int_equal(ct_scene_drive(scene, (int[]){0}, 1, &motion, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "motion.repeat");
    ct_scene_free(scene);
}

static void repeated_motion_must_close(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_error error;
    ct_keyframe key[2] = {{.time = 0}, {.time = 1, .rotate = {0, 0, 4 * M_PI}}};
    ct_motion motion = {.key = key, .nkey = 2, .repeat = true};
    assert_int_equal(ct_scene_drive(scene, (int[]){0}, 1, &motion, &error), CT_OK);
    key[1].rotate[2] = 3 * M_PI;
    assert_int_equal(ct_scene_drive(scene, (int[]){1}, 1, &motion, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "they would jump"));
    ct_scene_free(scene);
}

static void force_needs_a_time_to_act(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_error error;
    ct_force_def def = ct_force_def_default();
    assert_int_equal(ct_scene_add_force(scene, (int[]){0, 1}, 2, &def, &error), CT_OK);
    def.start = 2;
    def.stop = 2;
    assert_int_equal(ct_scene_add_force(scene, (int[]){0}, 1, &def, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "stop");
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------
// Motion

static void position(const ct_scene_driver* drive, double time, double x[3]) {
    ct_scene_drive_position(drive, time, (double[]){2, 0, 0}, x);
}

static void linear_motion_is_held_outside_its_keys(void** state) {
    (void)state;
    ct_keyframe key[] = {{.time = 1, .translate = {0, 1, 0}}, {.time = 3, .translate = {0, 2, 4}}};
    ct_scene_driver drive = {.key = key, .nkey = 2};
    double x[3];
    position(&drive, -5, x);
    assert_close(x, (double[]){2, 1, 0}, 0);
    position(&drive, 1.5, x);
    assert_close(x, (double[]){2, 1.25, 1}, 1e-15);
    position(&drive, 9, x);
    assert_close(x, (double[]){2, 2, 4}, 0);
}

static void rotation_turns_about_the_centre(void** state) {
    (void)state;
    ct_keyframe key[] = {{.time = 0}, {.time = 1, .rotate = {0, 0, M_PI}}};
    ct_scene_driver drive = {.key = key, .nkey = 2, .center = {1, 0, 0}};
    double x[3];
    position(&drive, 0.5, x);
    assert_close(x, (double[]){1, 1, 0}, 1e-15);
    position(&drive, 1, x);
    assert_close(x, (double[]){0, 0, 0}, 1e-15);
    // A small angle goes through the series, against the exact value.
    key[1].rotate[2] = 1e-5;
    position(&drive, 1, x);
    assert_close(x, (double[]){1 + cos(1e-5), sin(1e-5), 0}, 1e-16);
}

static void pinned_node_stays_to_the_last_bit(void** state) {
    (void)state;
    ct_scene_driver drive = {.center = {0.1, 0.7, 1e5}};
    double rest[3] = {0.3, -0.7, 1.1}, x[3];
    ct_scene_drive_position(&drive, 3, rest, x);
    assert_memory_equal(x, rest, sizeof x);
}

// The jump of the velocity over a key by one-sided differences vanishes with the step: C1.
static void assert_smooth_at(const ct_scene_driver* drive, double time) {
    double jump[2];
    for (int k = 0; k < 2; k++) {
        double step = k ? 1e-5 : 1e-4, before[3], at[3], after[3];
        position(drive, time - step, before);
        position(drive, time, at);
        position(drive, time + step, after);
        jump[k] = fabs((after[1] - at[1]) - (at[1] - before[1])) / step;
    }
    assert_true(jump[0] < 1e-2 && jump[1] < 0.11 * jump[0] + 1e-9);
}

static void smooth_motion_is_c1_and_hits_its_keys(void** state) {
    (void)state;
    ct_keyframe key[] = {{.time = 0},
                         {.time = 1, .translate = {0, 1, 0}},
                         {.time = 1.5, .translate = {0, -1, 0}},
                         {.time = 3, .translate = {0, 0, 0}}};
    ct_scene_driver drive = {.key = key, .nkey = 4, .smooth = true};
    double x[3];
    for (int k = 0; k < 4; k++) {
        position(&drive, key[k].time, x);
        assert_true(fabs(x[1] - key[k].translate[1]) < 1e-15);
        assert_smooth_at(&drive, key[k].time);
    }
    drive.repeat = true;
    for (int k = 0; k < 4; k++) assert_smooth_at(&drive, key[k].time + 6);
}

static void smooth_motion_reproduces_a_parabola_between_inner_keys(void** state) {
    (void)state;
    ct_keyframe key[4];
    const double time[4] = {0, 1, 2.5, 3};
    memset(key, 0, sizeof key);
    for (int k = 0; k < 4; k++) key[k].time = time[k], key[k].translate[1] = time[k] * time[k];
    ct_scene_driver drive = {.key = key, .nkey = 4, .smooth = true};
    for (double t = 1; t <= 2.5; t += 0.125) {
        double x[3];
        position(&drive, t, x);
        assert_true(fabs(x[1] - t * t) < 1e-14);
    }
}

static void repeated_turn_goes_on_without_a_jump(void** state) {
    (void)state;
    ct_keyframe key[] = {{.time = 0}, {.time = 2, .rotate = {0, 0, 2 * M_PI}}};
    ct_scene_driver drive = {.key = key, .nkey = 2, .smooth = true, .repeat = true};
    for (double time = -3; time < 7; time += 0.25) {
        double x[3];
        position(&drive, time, x);
        assert_close(x, (double[]){2 * cos(M_PI * time), 2 * sin(M_PI * time), 0}, 1e-13);
    }
}

// -------------------------------------------------------------------------------------------------
// Settings

static void assert_refused(void (*spoil)(ct_settings*), const char* path) {
    ct_scene* scene = box_scene();
    ct_settings settings = ct_settings_default(), kept;
    ct_error error;
    spoil(&settings);
    assert_int_equal(ct_scene_set_settings(scene, &settings, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, path);
    kept = ct_scene_settings(scene);
    assert_true(kept.time_step == 0.01 && kept.tolerance == 1e-6);
    ct_scene_free(scene);
}

static void no_step(ct_settings* s) { s->time_step = 0; }
static void short_duration(ct_settings* s) { s->duration = 0.001; }
static void endless(ct_settings* s) { s->duration = 1e300; }
static void loose(ct_settings* s) { s->tolerance = 1; }
static void nan_gravity(ct_settings* s) { s->gravity[2] = NAN; }
static void no_iterations(ct_settings* s) { s->max_iterations = 0; }
static void no_output(ct_settings* s) { s->output_every = 0; }
static void bad_axis(ct_settings* s) { s->up = 3; }
static void bad_threads(ct_settings* s) { s->threads = -1; }
static void deep(ct_settings* s) { s->max_substep_depth = 21; }
static void infinite_ground(ct_settings* s) { s->ground = INFINITY; }

static void settings_out_of_range_are_refused_by_name(void** state) {
    (void)state;
    assert_refused(no_step, "time_step");
    assert_refused(short_duration, "duration");
    assert_refused(endless, "duration");
    assert_refused(loose, "solver.tolerance");
    assert_refused(nan_gravity, "gravity");
    assert_refused(no_iterations, "solver.max_iterations");
    assert_refused(no_output, "output.every");
    assert_refused(bad_axis, "up");
    assert_refused(bad_threads, "solver.threads");
    assert_refused(deep, "solver.max_substep_depth");
    assert_refused(infinite_ground, "ground");
}

static void projective_solver_wants_projective_energy(void** state) {
    (void)state;
    ct_scene* scene = box_scene();
    ct_settings settings = ct_settings_default();
    ct_error error;
    settings.solver = CT_SOLVER_PROJECTIVE;
    assert_int_equal(ct_scene_set_settings(scene, &settings, &error), CT_OK);
    assert_int_equal(ct_scene_check(scene, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "body \"body0\""));
    for (int e = 0; e < scene->body[0].mesh->ntet; e++)
        scene->body[0].tet_material[e].energy = CT_ENERGY_PROJECTIVE;
    assert_int_equal(ct_scene_check(scene, &error), CT_OK);
    ct_scene_free(scene);
}

static void empty_scene_is_refused(void** state) {
    (void)state;
    ct_scene* scene;
    ct_error error = {0};
    ct_scene_create(&scene, NULL);
    assert_int_equal(ct_scene_check(scene, &error), CT_BAD_SCENE);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_is_scaled_then_rotated_then_translated),
        cmocka_unit_test(bad_body_leaves_the_scene_unchanged),
        cmocka_unit_test(inverted_tet_is_reported_with_its_body),
        cmocka_unit_test(tags_then_values_override_the_body_material),
        cmocka_unit_test(spinning_body_moves_with_its_velocity_after_densities_change),
        cmocka_unit_test(set_velocity_touches_only_its_nodes),
        cmocka_unit_test(drive_sorts_and_refuses_a_node_twice),
        cmocka_unit_test(motion_keys_must_be_in_order),
        cmocka_unit_test(repeated_motion_must_close),
        cmocka_unit_test(force_needs_a_time_to_act),
        cmocka_unit_test(linear_motion_is_held_outside_its_keys),
        cmocka_unit_test(rotation_turns_about_the_centre),
        cmocka_unit_test(pinned_node_stays_to_the_last_bit),
        cmocka_unit_test(smooth_motion_is_c1_and_hits_its_keys),
        cmocka_unit_test(smooth_motion_reproduces_a_parabola_between_inner_keys),
        cmocka_unit_test(repeated_turn_goes_on_without_a_jump),
        cmocka_unit_test(settings_out_of_range_are_refused_by_name),
        cmocka_unit_test(projective_solver_wants_projective_energy),
        cmocka_unit_test(empty_scene_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
