// Trajectories of tets of second order: VTK's quadratic tets beside linear ones and sheets, read back,
// resumed, exported and drawn.
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuttle.h"
#include "old_file.h"
#include "out/skin.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_second.h5"
#define DIRECTORY CT_BINARY_DIR "/test_trajectory_second"

typedef struct world {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
} world;

static void add_box(ct_scene* scene, const char* name, double z, int order) {
    ct_error error;
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){0.4, 0.1, 0.1}, (int[3]){3, 1, 1}, NULL), CT_OK);
    ct_body_def body = ct_body_def_default();
    body.name = name;
    body.mesh = mesh;
    body.order = order == 2 ? 2 : 0;
    body.translate[2] = z;
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_OK);
    ct_mesh_free(mesh);
}

static void add_sheet(ct_scene* scene) {
    ct_error error;
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_sheet(&mesh, (double[2]){0.2, 0.2}, (int[2]){1, 1}, NULL), CT_OK);
    ct_body_def body = ct_body_def_default();
    body.name = "sheet";
    body.mesh = mesh;
    body.translate[2] = 2;
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_OK);
    ct_mesh_free(mesh);
}

// Beams of these orders one above the other (0: none), held at x = 0.
static world make_world(int lower, int upper, bool sheet) {
    world w = {0};
    ct_error error;
    assert_int_equal(ct_scene_create(&w.scene, NULL), CT_OK);
    add_box(w.scene, "lower", 0, lower);
    if (upper) add_box(w.scene, "upper", 1, upper);
    if (sheet) add_sheet(w.scene);
    ct_selector left = {.kind = CT_SELECT_BOX, .body = -1, .a = {-0.01, -1, -1}, .b = {0.01, 1, 3}};
    int *nodes = NULL, count = 0;
    assert_int_equal(ct_scene_select(w.scene, &left, &nodes, &count, &error), CT_OK);
    assert_int_equal(ct_scene_drive(w.scene, nodes, count, &(ct_motion){0}, &error), CT_OK);
    ct_free(nodes);
    ct_settings settings = ct_scene_settings(w.scene);
    settings.time_step = 0.01;
    assert_int_equal(ct_scene_set_settings(w.scene, &settings, &error), CT_OK);
    assert_int_equal(ct_model_create(&w.model, w.scene, &error), CT_OK);
    assert_int_equal(ct_state_create(&w.state, w.model, NULL), CT_OK);
    assert_int_equal(ct_work_create(&w.work, w.model, 1, NULL), CT_OK);
    return w;
}

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

static ct_trajectory* write_and_open(world* w, int steps) {
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create(&file, w->scene, w->model, FILE_NAME, &error), CT_OK);
    run(w, file, steps);
    assert_int_equal(ct_trajectory_close(file, &error), CT_OK);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    return file;
}

// ---- the file ------------------------------------------------------------------------------

// An array of the grid as integers, freed by free.
static long long* grid_array(hid_t file, const char* name, int* count) {
    hid_t array = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(array);
    *count = (int)H5Sget_simple_extent_npoints(space);
    long long* values = calloc((size_t)*count, sizeof *values);
    assert_true(H5Dread(array, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(array);
    return values;
}

// Cell k of the grid has the type and these nodes.
static void check_cells(const ct_model* model, const long long* type, const long long* offset,
                        const long long* node, int ncell) {
    const ct_model_info info = ct_model_summary(model);
    for (int k = 0; k < ncell; k++) {
        const bool tet = k < info.ntet, second = tet && ct_model_tet_middles(model)[6 * k] >= 0;
        const int size = second ? 10 : tet ? 4 : 3;
        assert_int_equal(type[k], second ? 24 : tet ? 10 : 5);
        assert_int_equal(offset[k + 1] - offset[k], size);
        for (int i = 0; i < size; i++) {
            const int want = !tet    ? ct_model_tris(model)[3 * (k - info.ntet) + i]
                             : i < 4 ? ct_model_tets(model)[4 * k + i]
                                     : ct_model_tet_middles(model)[6 * k + i - 4];
            assert_int_equal(node[offset[k] + i], want);
        }
    }
}

static void the_grid_has_quadratic_linear_and_flat_cells(void** state) {
    world w = make_world(1, 2, true);
    ct_trajectory* file = write_and_open(&w, 2);
    const ct_trajectory_info info = ct_trajectory_summary(file);
    assert_memory_equal(ct_trajectory_middles(file), ct_model_tet_middles(w.model),
                        6 * (size_t)info.ntet * sizeof(int));
    assert_int_equal(ct_trajectory_middles(file)[0], -1);
    ct_trajectory_close(file, NULL);

    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    int ntype, noffset, nnode;
    long long *type = grid_array(raw, "VTKHDF/Types", &ntype),
              *offset = grid_array(raw, "VTKHDF/Offsets", &noffset),
              *node = grid_array(raw, "VTKHDF/Connectivity", &nnode);
    assert_int_equal(ntype, info.ntet + info.ntri);
    assert_int_equal(noffset, ntype + 1);
    assert_int_equal(offset[ntype], nnode);
    assert_int_equal(nnode, (4 + 10) * info.ntet / 2 + 3 * info.ntri);
    check_cells(w.model, type, offset, node, ntype);
    free(type), free(offset), free(node);
    H5Fclose(raw);
    free_world(&w);
}

static void linear_scenes_have_no_middles(void** state) {
    world w = make_world(0, 0, false);
    ct_trajectory* file = write_and_open(&w, 1);
    assert_null(ct_trajectory_middles(file));
    ct_trajectory_close(file, NULL);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(H5Lexists(raw, "Cuttle/TetMiddles", H5P_DEFAULT), 0);
    H5Fclose(raw);
    free_world(&w);
}

static void a_node_out_of_range_is_refused(void** state) {
    world w = make_world(2, 0, false);
    ct_trajectory_close(write_and_open(&w, 1), NULL);
    assert_true(old_file(FILE_NAME) > 20);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t array = H5Dopen2(raw, "Cuttle/TetMiddles", H5P_DEFAULT);
    const ct_model_info info = ct_model_summary(w.model);
    int* mid = calloc(6 * (size_t)info.ntet, sizeof(int));
    const int wrong[3] = {info.nvert, -1, -2};
    for (int i = 0; i < 3; i++) {
        ct_trajectory* file = NULL;
        ct_error error;
        memcpy(mid, ct_model_tet_middles(w.model), 6 * (size_t)info.ntet * sizeof(int));
        mid[9] = wrong[i];
        H5Dwrite(array, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, mid);
        H5Fflush(raw, H5F_SCOPE_GLOBAL);
        H5Dclose(array);
        H5Fclose(raw);
        assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_BAD_FILE);
        assert_non_null(strstr(error.message, "out of range"));
        raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
        array = H5Dopen2(raw, "Cuttle/TetMiddles", H5P_DEFAULT);
    }
    H5Dclose(array);
    H5Fclose(raw);
    free(mid);
    free_world(&w);
}

// ---- resumed -------------------------------------------------------------------------------

static void a_resumed_run_equals_the_uninterrupted_one(void** state) {
    world whole = make_world(2, 0, true), first = make_world(2, 0, true), second = make_world(2, 0, true);
    ct_trajectory* file = NULL;
    ct_error error;
    ct_trajectory_close(write_and_open(&first, 3), NULL);
    assert_int_equal(ct_trajectory_resume(&file, second.model, second.state, FILE_NAME, &error), CT_OK);
    run(&second, file, 3);
    ct_trajectory_close(file, NULL);
    for (int k = 0; k < 6; k++)
        assert_int_equal(ct_step(whole.model, whole.work, whole.state, NULL, &(ct_step_report){0}), CT_OK);
    assert_memory_equal(ct_state_bytes(whole.state), ct_state_bytes(second.state),
                        ct_state_size(whole.state));
    free_world(&whole);
    free_world(&first);
    free_world(&second);
}

static void files_of_another_order_are_not_resumed(void** state) {
    world a = make_world(2, 1, false), b = make_world(1, 2, false);
    ct_trajectory* file = NULL;
    ct_error error;
    ct_trajectory_close(write_and_open(&a, 1), NULL);
    assert_int_equal(ct_trajectory_resume(&file, b.model, b.state, FILE_NAME, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "another scene"));
    free_world(&a);
    free_world(&b);
}

// ---- exported and drawn --------------------------------------------------------------------

static void exported_frames_are_meshes_of_second_order(void** state) {
    world w = make_world(2, 0, false);
    ct_trajectory* file = write_and_open(&w, 2);
    const ct_trajectory_info info = ct_trajectory_summary(file);
    ct_error error;
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_VTU, 1, 1, 1, &error), CT_OK);
    assert_int_equal(ct_mesh_load(&mesh, DIRECTORY "/frame_000001.vtu", CT_MESH_AUTO, &error), CT_OK);
    assert_int_equal(mesh->nvert, info.nvert);
    assert_memory_equal(mesh->tet, ct_trajectory_tets(file), 4 * (size_t)info.ntet * sizeof(int));
    assert_memory_equal(mesh->mid, ct_trajectory_middles(file), 6 * (size_t)info.ntet * sizeof(int));
    assert_memory_equal(mesh->x, ct_state_positions(w.state), 3 * (size_t)info.nvert * sizeof(double));
    assert_int_equal(ct_mesh_check(mesh, NULL, &error), CT_OK);
    ct_mesh_free(mesh);
    ct_trajectory_close(file, NULL);
    free_world(&w);
}

// Colours of cells reach the nodes between corners too.
static void every_node_has_a_colour(void** state) {
    world w = make_world(2, 1, false);
    ct_trajectory* file = write_and_open(&w, 2);
    const ct_trajectory_info info = ct_trajectory_summary(file);
    double* values = calloc((size_t)info.nvert, sizeof(double));
    ct_error error;
    assert_int_equal(ct_skin_values(file, 1, "stress", values, &error), CT_OK);
    for (int i = 0; i < info.nvert; i++) assert_true(isfinite(values[i]) && values[i] >= 0);
    free(values);
    ct_trajectory_close(file, NULL);
    free_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_has_quadratic_linear_and_flat_cells),
        cmocka_unit_test(linear_scenes_have_no_middles),
        cmocka_unit_test(a_node_out_of_range_is_refused),
        cmocka_unit_test(a_resumed_run_equals_the_uninterrupted_one),
        cmocka_unit_test(files_of_another_order_are_not_resumed),
        cmocka_unit_test(exported_frames_are_meshes_of_second_order),
        cmocka_unit_test(every_node_has_a_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
