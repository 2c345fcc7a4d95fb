// Trajectories of a simulation: what is stored is what was computed, and a resumed run is the uninterrupted
// one.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuttle.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_model.h5"

typedef struct world {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
} world;

static world make_world_in(double length, bool compress) {
    world w = {0};
    ct_error error;
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){length, 0.1, 0.1}, (int[3]){4, 2, 2}, NULL), CT_OK);
    assert_int_equal(ct_scene_create(&w.scene, NULL), CT_OK);
    ct_body_def body = ct_body_def_default();
    body.name = "beam";
    body.mesh = mesh;
    body.color[0] = 0.25;
    int index;
    assert_int_equal(ct_scene_add_body(w.scene, &body, &index, &error), CT_OK);
    ct_selector left = {.kind = CT_SELECT_BOX, .body = -1, .a = {-0.01, -1, -1}, .b = {0.01, 1, 1}};
    int *nodes = NULL, count = 0;
    assert_int_equal(ct_scene_select(w.scene, &left, &nodes, &count, &error), CT_OK);
    assert_int_equal(ct_scene_drive(w.scene, nodes, count, &(ct_motion){0}, &error), CT_OK);
    ct_free(nodes);
    ct_settings settings = ct_scene_settings(w.scene);
    settings.time_step = 0.01;
    settings.integrator = CT_INTEGRATOR_BDF2;
    settings.output_compress = compress;
    assert_int_equal(ct_scene_set_settings(w.scene, &settings, &error), CT_OK);
    ct_scene_set_name(w.scene, "beam test");
    assert_int_equal(ct_model_create(&w.model, w.scene, &error), CT_OK);
    assert_int_equal(ct_state_create(&w.state, w.model, NULL), CT_OK);
    assert_int_equal(ct_work_create(&w.work, w.model, 1, NULL), CT_OK);
    ct_mesh_free(mesh);
    return w;
}

static world make_world(double length) { return make_world_in(length, false); }

static void free_world(world* w) {
    ct_work_free(w->work);
    ct_state_free(w->state);
    ct_model_free(w->model);
    ct_scene_free(w->scene);
}

static void run(world* w, ct_trajectory* file, int steps) {
    ct_error error;
    for (int k = 0; k < steps; k++) {
        ct_step_report report;
        assert_int_equal(ct_step(w->model, w->work, w->state, NULL, &report), CT_OK);
        assert_int_equal(ct_trajectory_append(file, w->model, w->state, &report, &error), CT_OK);
    }
}

static void trajectory_stores_what_was_computed(void** unused) {
    world w = make_world(0.4);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create(&file, w.scene, w.model, FILE_NAME, &error), CT_OK);
    assert_int_equal(ct_trajectory_append(file, w.model, w.state, NULL, &error), CT_OK);
    run(&w, file, 3);
    assert_int_equal(ct_trajectory_close(file, &error), CT_OK);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_string_equal(info.scene_name, "beam test");
    assert_true(info.nframe == 4 && info.nbody == 1 && info.time_step == 0.01);
    assert_true(ct_trajectory_body_color(file)[0] == 0.25);
    ct_frame frame;
    assert_int_equal(ct_trajectory_read(file, 3, &frame, &error), CT_OK);
    assert_int_equal(frame.step, 3);
    assert_true(frame.time == ct_state_time(w.state));
    assert_memory_equal(frame.x, ct_state_positions(w.state), (size_t)info.nvert * 24);
    assert_memory_equal(frame.v, ct_state_velocities(w.state), (size_t)info.nvert * 24);
    const double* stress;
    int count;
    bool per_tet;
    double* want = malloc((size_t)info.ntet * sizeof *want);
    assert_int_equal(ct_state_tet_field(w.model, w.state, CT_FIELD_VON_MISES, want), CT_OK);
    assert_int_equal(ct_trajectory_read_field(file, 3, "stress", &stress, &count, &per_tet, &error), CT_OK);
    for (int k = 0; k < count; k++) assert_true(stress[k] == (float)want[k]);
    free(want);
    ct_trajectory_close(file, NULL);
    free_world(&w);
}

static void resume_from(bool compress) {
    world whole = make_world(0.4), first = make_world_in(0.4, compress), second = make_world(0.4);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create(&file, first.scene, first.model, FILE_NAME, &error), CT_OK);
    run(&first, file, 5);
    ct_trajectory_close(file, NULL);
    assert_int_equal(ct_trajectory_resume(&file, second.model, second.state, FILE_NAME, &error), CT_OK);
    assert_int_equal(ct_state_step_index(second.state), 5);
    run(&second, file, 5);
    assert_true(ct_trajectory_summary(file).compressed == compress);
    ct_trajectory_close(file, NULL);
    for (int k = 0; k < 10; k++)
        assert_int_equal(ct_step(whole.model, whole.work, whole.state, NULL, &(ct_step_report){0}), CT_OK);
    assert_int_equal(ct_state_size(whole.state), ct_state_size(second.state));
    assert_memory_equal(ct_state_bytes(whole.state), ct_state_bytes(second.state),
                        ct_state_size(whole.state));
    free_world(&whole);
    free_world(&first);
    free_world(&second);
}

static void trajectory_resumed_run_equals_the_uninterrupted_one(void** unused) {
    resume_from(false);
    resume_from(true);
}

static void trajectory_does_not_resume_another_scene(void** unused) {
    world a = make_world(0.4), b = make_world(0.5);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create(&file, a.scene, a.model, FILE_NAME, &error), CT_OK);
    run(&a, file, 1);
    ct_trajectory_close(file, NULL);
    assert_int_equal(ct_trajectory_resume(&file, b.model, b.state, FILE_NAME, &error), CT_BAD_ARGUMENT);
    assert_null(file);
    free_world(&a);
    free_world(&b);
    unlink(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectory_stores_what_was_computed),
        cmocka_unit_test(trajectory_resumed_run_equals_the_uninterrupted_one),
        cmocka_unit_test(trajectory_does_not_resume_another_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
