// Every creation function says why it made nothing: for an argument that it cannot use, and when memory runs
// out at whichever allocation. The linker sends the library's allocations here (--wrap).
#include <math.h>

#include "build.h"

static long calls, failing = -1;  // allocations so far; the one that fails, with all after it

void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_realloc(void*, size_t);
int __real_posix_memalign(void**, size_t, size_t);

static bool must_fail(void) {
    const long call = calls++;
    return failing >= 0 && call >= failing;
}

void* __wrap_malloc(size_t size) { return must_fail() ? NULL : __real_malloc(size); }
void* __wrap_calloc(size_t count, size_t size) { return must_fail() ? NULL : __real_calloc(count, size); }
void* __wrap_realloc(void* block, size_t size) { return must_fail() ? NULL : __real_realloc(block, size); }
int __wrap_posix_memalign(void** block, size_t alignment, size_t size) {
    return must_fail() ? 12 : __real_posix_memalign(block, alignment, size);
}

// ---- the functions: with arguments that are good or bad; frees what it made -----------------

static ct_model* model;
static ct_mesh* mesh;
static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, none[4] = {1, 0, 0, 0},
                    radii[3] = {0.1, 0.2, 0.1}, points[9] = {0, 0, 0, 1, 0, 0, 2, 1, 0};

static ct_status keep(ct_shape* shape, const ct_error* error) {
    const ct_status status = shape ? CT_OK : error->code;
    ct_shape_free(shape);
    return status;
}

static ct_shape* ball(ct_error* error) { return ct_shape_sphere(zero, 1, error); }

static ct_status make_scene(bool good, ct_error* error) {
    ct_scene* out = NULL;
    ct_status status = ct_scene_create(good ? &out : NULL, error);
    ct_scene_free(out);
    return status;
}
static ct_status make_state(bool good, ct_error* error) {
    ct_state* out = NULL;
    ct_status status = ct_state_create(&out, good ? model : NULL, error);
    ct_state_free(out);
    return status;
}
static ct_status make_work(bool good, ct_error* error) {
    ct_work* out = NULL;
    ct_status status = ct_work_create(&out, good ? model : NULL, 1, error);
    ct_work_free(out);
    return status;
}
static ct_status make_tape(bool good, ct_error* error) {
    ct_tape* out = NULL;
    ct_status status = ct_tape_create(&out, model, good ? 3 : 0, 0, error);
    ct_tape_free(out);
    return status;
}
static ct_status make_pool(bool good, ct_error* error) {
    ct_pool* out = NULL;
    ct_status status = ct_pool_create(&out, good ? model : NULL, 1, error);
    ct_pool_free(out);
    return status;
}
static ct_status take(ct_mesh* out, ct_status status) {
    ct_mesh_free(out);
    return status;
}
static ct_status make_mesh(bool good, ct_error* error) {
    const int tet[4] = {0, 1, 2, good ? 3 : 4};
    const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_create(&out, 4, x, 1, tet, 0, NULL, error);
    return take(out, status);
}
static ct_status make_copy(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_copy(&out, good ? mesh : NULL, error);
    return take(out, status);
}
static ct_status make_box(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_box(&out, good ? one : zero, (int[]){2, 1, 1}, error);
    return take(out, status);
}
static ct_status make_sheet(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_sheet(&out, one, (int[]){2, good ? 1 : 0}, error);
    return take(out, status);
}
static ct_status make_ball(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_sphere(&out, good ? 1 : -1, 1, error);
    return take(out, status);
}
static ct_status make_bar(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_cylinder(&out, 1, 2, good ? 1 : NAN, error);
    return take(out, status);
}
static ct_status make_ring(bool good, ct_error* error) {
    ct_mesh* out = NULL;
    ct_status status = ct_mesh_torus(&out, 1, good ? 0.4 : 1.5, 0.4, error);
    return take(out, status);
}
static ct_status make_surface(bool good, ct_error* error) {
    int *tri = NULL, ntri = 0;
    ct_status status = ct_mesh_surface(good ? mesh : NULL, &tri, &ntri, error);
    ct_free(tri);
    return status;
}
static ct_status shape_sphere(bool good, ct_error* error) {
    return keep(ct_shape_sphere(zero, good ? 1 : 0, error), error);
}
static ct_status shape_ellipsoid(bool good, ct_error* error) {
    return keep(ct_shape_ellipsoid(zero, good ? radii : zero, error), error);
}
static ct_status shape_box(bool good, ct_error* error) {
    return keep(ct_shape_box(zero, one, good ? 0.1 : NAN, error), error);
}
static ct_status shape_capsule(bool good, ct_error* error) {
    return keep(ct_shape_capsule(zero, one, 0.1, good ? 0 : -0.1, error), error);
}
static ct_status shape_cylinder(bool good, ct_error* error) {
    return keep(ct_shape_cylinder(zero, good ? one : NULL, 0.1, error), error);
}
static ct_status shape_torus(bool good, ct_error* error) {
    return keep(ct_shape_torus(zero, one, 1, good ? 0.1 : INFINITY, error), error);
}
static ct_status shape_sweep(bool good, ct_error* error) {
    return keep(ct_shape_sweep(points, radii, good ? 3 : 0, error), error);
}
static ct_status shape_union(bool good, ct_error* error) {
    return keep(ct_shape_union(ball(error), good ? ball(error) : NULL, 0, error), error);
}
static ct_status shape_intersection(bool good, ct_error* error) {
    return keep(ct_shape_intersection(ball(error), ball(error), good ? 0 : NAN, error), error);
}
static ct_status shape_difference(bool good, ct_error* error) {
    return keep(ct_shape_difference(good ? ball(error) : NULL, ball(error), 0, error), error);
}
static ct_status shape_transform(bool good, ct_error* error) {
    return keep(ct_shape_transform(ball(error), one, none, good ? 2 : 0, error), error);
}

static const struct {
    const char* name;
    ct_status (*make)(bool good, ct_error* error);
    const char* says;  // for the bad argument
} functions[] = {
    {"ct_scene_create", make_scene, "none of these may be NULL: out"},
    {"ct_state_create", make_state, "none of these may be NULL: out, model"},
    {"ct_work_create", make_work, "none of these may be NULL: out, model"},
    {"ct_tape_create", make_tape, "max_steps is 0"},
    {"ct_pool_create", make_pool, "none of these may be NULL: out, model"},
    {"ct_mesh_create", make_mesh, "tet 0 has the node 4: nodes are numbered from 0 to 3"},
    {"ct_mesh_copy", make_copy, "none of these may be NULL: out, mesh"},
    {"ct_mesh_box", make_box, "the box has the size 0 along axis 0"},
    {"ct_mesh_sheet", make_sheet, "a sheet cannot have 2 x 0 cells"},
    {"ct_mesh_sphere", make_ball, "radius is -1"},
    {"ct_mesh_cylinder", make_bar, "size is nan"},
    {"ct_mesh_torus", make_ring, "minor is 1.5: it must be below major, which is 1"},
    {"ct_mesh_surface", make_surface, "none of these may be NULL: mesh, tri, ntri"},
    {"ct_shape_sphere", shape_sphere, "a size of 0"},
    {"ct_shape_ellipsoid", shape_ellipsoid, "a size of 0"},
    {"ct_shape_box", shape_box, "a coordinate of nan"},
    {"ct_shape_capsule", shape_capsule, "a size of -0.1"},
    {"ct_shape_cylinder", shape_cylinder, "is NULL"},
    {"ct_shape_torus", shape_torus, "a coordinate of inf"},
    {"ct_shape_sweep", shape_sweep, "along 0 points"},
    {"ct_shape_union", shape_union, "is NULL"},
    {"ct_shape_intersection", shape_intersection, "a coordinate of nan"},
    {"ct_shape_difference", shape_difference, "is NULL"},
    {"ct_shape_transform", shape_transform, "a size of 0"},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

// What was in the error before shows nowhere; shapes keep the first failure, so theirs begins empty.
static ct_error used(int f) {
    ct_error error = {0};
    if (strncmp(functions[f].name, "ct_shape", 8) == 0) return error;
    memset(&error, 'x', sizeof error);
    error.message[sizeof error.message - 1] = error.file[sizeof error.file - 1] = 0;
    error.path[sizeof error.path - 1] = 0;
    return error;
}

static void assert_says(int f, const ct_error* error, ct_status status, const char* words) {
    if (error->code != status || !strstr(error->message, words) || !strchr(error->message, ':') ||
        error->file[0] || error->path[0])
        fail_msg("%s: code %d for %d, file \"%s\", message \"%s\"", functions[f].name, error->code, status,
                 error->file, error->message);
}

static void bad_arguments_are_named(void** state) {
    for (int f = 0; f < FUNCTIONS; f++) {
        ct_error error = used(f);
        assert_int_equal(functions[f].make(false, &error), CT_BAD_ARGUMENT);
        assert_says(f, &error, CT_BAD_ARGUMENT, functions[f].says);
        if (strncmp(functions[f].name, "ct_shape", 8) == 0) continue;  // their status is in the error
        assert_int_equal(functions[f].make(false, NULL), CT_BAD_ARGUMENT);
    }
}

static void running_out_of_memory_is_told(void** state) {
    for (int f = 0; f < FUNCTIONS; f++) {
        ct_status status = CT_OUT_OF_MEMORY;
        for (long k = 0; status != CT_OK; k += 1 + k / 20) {
            ct_error error = used(f);
            calls = 0, failing = k;
            status = functions[f].make(true, &error);
            failing = -1;
            if (status == CT_OK) assert_int_equal(error.code, CT_OK);
            else {
                assert_int_equal(status, CT_OUT_OF_MEMORY);
                assert_says(f, &error, CT_OUT_OF_MEMORY, "out of memory");
            }
            if (k == 0 && status == CT_OK) fail_msg("%s allocates nothing", functions[f].name);
        }
    }
}

static void the_first_failure_of_a_tree_of_shapes_stays(void** state) {
    ct_error error = {0};
    ct_shape* shape =
        ct_shape_union(ct_shape_sphere(zero, -3, &error), ct_shape_sphere(zero, 1, &error), 0, &error);
    assert_null(ct_shape_transform(shape, zero, none, -5, &error));
    assert_int_equal(error.code, CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "-3"));
}

static int set_up(void** state) {
    ct_error error;
    ct_scene* scene = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/incline.json", CT_SOURCE_DIR);
    must(ct_scene_load(&scene, path, &error), &error);
    must(ct_model_create(&model, scene, &error), &error);
    must(ct_mesh_box(&mesh, one, (int[]){1, 1, 1}, &error), &error);
    ct_scene_free(scene);
    return 0;
}

static int tear_down(void** state) {
    ct_model_free(model);
    ct_mesh_free(mesh);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(running_out_of_memory_is_told),
        cmocka_unit_test(the_first_failure_of_a_tree_of_shapes_stays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
