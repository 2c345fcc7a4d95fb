// Every allocation fails once: creation then reports it, returns nothing and leaks nothing. A warm step
// allocates nothing.
//
// The linker sends the library's malloc, calloc, realloc and free here (--wrap); Jansson and SuiteSparse are
// given the same functions through their own hooks. Live blocks are kept by address, so that a block that
// came from elsewhere (libc itself) and is freed by the library does not count.
#include <jansson.h>
#include <stdint.h>
#include <suitesparse/SuiteSparse_config.h>

#include "build.h"
#include "optim/objective.h"
#include "optim/search.h"
#include "step/params.h"

// ---- The allocator ----

enum { TABLE = 1 << 20 };
static void* table[TABLE];  // live blocks, open addressing
static long live, calls;    // blocks alive, allocations since `arm`
static long failing = -1;   // index of the allocation that fails, -1: none
static bool failing_after;  // and all later ones too

void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_realloc(void*, size_t);
void __real_free(void*);
int __real_posix_memalign(void**, size_t, size_t);

static size_t slot_of(const void* block) {
    size_t slot = ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 44;
    while (table[slot] && table[slot] != block) slot = (slot + 1) % TABLE;
    return slot;
}

static void* note_block(void* block) {
    if (!block) return NULL;
    table[slot_of(block)] = block;
    live++;
    return block;
}

// Takes a block out and closes the gap, so that later probes still find what was stored behind it.
static void forget_block(void* block) {
    size_t hole = slot_of(block);
    if (!block || !table[hole]) return;
    table[hole] = NULL;
    live--;
    for (size_t next = (hole + 1) % TABLE; table[next]; next = (next + 1) % TABLE) {
        void* moved = table[next];
        table[next] = NULL;
        table[slot_of(moved)] = moved;
    }
}

static bool must_fail(void) {
    long call = calls++;
    return failing >= 0 && (call == failing || (failing_after && call > failing));
}

void* __wrap_malloc(size_t size) { return must_fail() ? NULL : note_block(__real_malloc(size)); }
void* __wrap_calloc(size_t count, size_t size) {
    return must_fail() ? NULL : note_block(__real_calloc(count, size));
}

void* __wrap_realloc(void* block, size_t size) {
    if (must_fail()) return NULL;
    forget_block(block);
    return note_block(__real_realloc(block, size));
}

void __wrap_free(void* block) {
    forget_block(block);
    __real_free(block);
}

int __wrap_posix_memalign(void** block, size_t alignment, size_t size) {
    if (must_fail()) return 12;
    int status = __real_posix_memalign(block, alignment, size);
    if (status == 0) note_block(*block);
    return status;
}

static void arm(long index, bool and_after) {
    calls = 0;
    failing = index;
    failing_after = and_after;
}

static int hook_libraries(void** unused) {
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    SuiteSparse_config.malloc_func = __wrap_malloc;
    SuiteSparse_config.calloc_func = __wrap_calloc;
    SuiteSparse_config.realloc_func = __wrap_realloc;
    SuiteSparse_config.free_func = __wrap_free;
    return 0;
}

// ---- Walking the failures ----

// What creation may report; Jansson takes some failures of its own for syntax errors, and the scene loader
// cannot know.
typedef enum blame { MEMORY_ONLY, MEMORY_OR_FILE } blame;
typedef ct_status (*creator)(void** out);
typedef void (*destroyer)(void* object);

// Fails allocation k (alone, or with all that follow) for k = 0, 1, ... until creation no longer gets that
// far.
static void walk(creator create, destroyer destroy, blame allowed, bool and_after) {
    long failures = 0;
    for (long k = 0;; k += 1 + k / 400) {
        long before = live;
        void* object = (void*)1;
        arm(k, and_after);
        ct_status status = create(&object);
        bool reached = calls > k;
        arm(-1, false);
        if (status == CT_OK) {
            assert_non_null(object);
            destroy(object);
        } else {
            bool honest = status == CT_OUT_OF_MEMORY || (allowed == MEMORY_OR_FILE && status == CT_BAD_FILE);
            if (!honest) fail_msg("allocation %ld: %s", k, ct_status_text(status));
            assert_null(object);
            failures++;
        }
        if (live != before) fail_msg("allocation %ld: %ld blocks leaked", k, live - before);
        if (!reached) break;
    }
    assert_true(failures > 0);
}

static void walk_both(creator create, destroyer destroy) {
    walk(create, destroy, MEMORY_ONLY, false);
    walk(create, destroy, MEMORY_ONLY, true);
}

// ---- What is created ----

static const char scene_text[] =
    "{\"name\": \"box\", \"time_step\": 0.01, \"duration\": 0.1,\n"
    " \"bodies\": [{\"name\": \"beam\", \"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [3, 1, 1]},\n"
    "               \"material\": {\"young\": 1e5, \"poisson\": 0.4, \"density\": 1000}}],\n"
    " \"contact\": {\"method\": \"none\", \"pairs\": [{\"between\": [\"beam\", \"things\"], \"friction\": "
    "0.1}]},\n"
    " \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}, \"motion\": {\"keys\": [{\"time\": 0, "
    "\"translate\": [0, -1, 0]}]}},\n"
    "  {\"group\": \"things\", \"capsule\": {\"ends\": [[0, -2, 0], [1, -2, 0]], \"radius\": 0.1}},\n"
    "  {\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}, \"translate\": [0, -3, 0]}],\n"
    " \"pins\": [{\"select\": {\"box\": [[-1, -1, -1], [0.001, 1, 1]]}}],\n"
    " \"controls\": [{\"name\": \"push\", \"force\": {\"select\": {\"list\": [7]}}}, {\"name\": \"mount\", "
    "\"drive\": 0}],\n"
    " \"parameters\": [{\"type\": \"young\"}, {\"type\": \"control\", \"control\": \"push\"}],\n"
    " \"objective\": [{\"type\": \"point\", \"path\": [{\"time\": 0, \"target\": [1, 0, 0]}]}, {\"type\": "
    "\"effort\"},\n"
    "                 {\"type\": \"shape\", \"select\": {\"list\": [7]}, \"shape\": [[1, 0, 0]]}]}\n";

// Bones in flesh: a driven root, a ball, a hinge with everything that a joint can have.
static const char bones_text[] =
    "{\"time_step\": 0.01, \"duration\": 0.01, \"solver\": {\"threads\": 1, \"tolerance\": 1e-3},\n"
    " \"bodies\": [{\"name\": \"arm\", \"box\": {\"size\": [0.6, 0.2, 0.2], \"cells\": [3, 1, 1]}}],\n"
    " \"skeletons\": [{\"links\": [\n"
    "  {\"name\": \"base\", \"joint\": {\"type\": \"fixed\"}, \"nodes\": {\"box\": [[-1, -1, -1], [0.01, 1, "
    "1]]},\n"
    "   \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 1, \"translate\": [0, 0.1, 0]}]}},\n"
    "  {\"name\": \"upper\", \"parent\": \"base\", \"joint\": {\"type\": \"ball\", \"stiffness\": 1, "
    "\"damping\": 0.1},\n"
    "   \"mass\": 1, \"center\": [0.2, 0.1, 0.1], \"inertia\": [0.01, 0.01, 0.01]},\n"
    "  {\"name\": \"fore\", \"parent\": \"upper\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0.4, "
    "0.1, 0.1], \"stiffness\": 1,\n"
    "   \"damping\": 0.1, \"servo\": {\"stiffness\": 1}, \"limits\": [-1, 1], \"limit_stiffness\": 3},\n"
    "   \"nodes\": {\"box\": [[0.59, -1, -1], [1, 1, 1]]}}]}],\n"
    " \"controls\": [{\"name\": \"mount\", \"drive\": \"base\"}, {\"name\": \"ball\", \"torque\": "
    "\"upper\"}, {\"name\": \"aim\", \"target\": \"fore\"}],\n"
    " \"parameters\": [{\"type\": \"joint_stiffness\"}, {\"type\": \"joint_damping\"}, {\"type\": "
    "\"joint_rest\"}, {\"type\": \"servo_stiffness\"},\n"
    "  {\"type\": \"limit_stiffness\"}, {\"type\": \"link_mass\"}, {\"type\": \"joint_position\"}, "
    "{\"type\": \"joint_velocity\"},\n"
    "  {\"type\": \"control\", \"control\": \"mount\"}, {\"type\": \"control\", \"control\": \"ball\"}],\n"
    " \"objective\": [{\"type\": \"joint\", \"link\": \"fore\", \"target\": 1}, {\"name\": \"b\", \"type\": "
    "\"joint\", \"link\": \"upper\", \"target\": [0, 0, 1]}]}\n";

static const char mesh_text[] =
    "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n"
    "Tetrahedra\n2\n1 2 3 4 7\n2 5 3 4 8\nEnd\n";

static ct_scene* fixture_scene;
static ct_model* fixture_model;

static ct_status parse_scene(void** out) {
    return ct_scene_parse((ct_scene**)out, scene_text, sizeof scene_text - 1, NULL, NULL);
}

// A beam with a muscle and cells, and a hollow ball under pressure.
static const char actuators_text[] =
    "{\"time_step\": 0.01, \"duration\": 0.01, \"solver\": {\"threads\": 1, \"tolerance\": 1e-3},\n"
    " \"bodies\": [{\"name\": \"beam\", \"box\": {\"size\": [0.6, 0.2, 0.2], \"cells\": [3, 1, 1]}},\n"
    "  {\"name\": \"ball\", \"shape\": {\"difference\": [{\"sphere\": {\"center\": [2, 0, 0], \"radius\": "
    "0.2}}, {\"sphere\": {\"center\": [2, 0, 0], \"radius\": 0.1}}]},\n"
    "   \"size\": 0.1}],\n"
    " \"muscles\": [{\"name\": \"flexor\", \"body\": \"beam\", \"points\": [[0, 0.1, 0.1], [0.6, 0.1, 0.1]], "
    "\"radius\": 0.2, \"activation_time\": 0.1}],\n"
    " \"chambers\": [{\"name\": \"bellows\", \"body\": \"beam\", \"cells\": \"tet\", \"select\": {\"box\": "
    "[[0.1, -1, -1], [1, 1, 1]]}}],\n"
    " \"cavities\": [{\"name\": \"hollow\", \"body\": \"ball\", \"seed\": [2, 0, 0], \"pressure\": 1000}],\n"
    " \"controls\": [{\"name\": \"bend\", \"actuator\": \"flexor\"}, {\"name\": \"press\", \"actuator\": "
    "\"hollow\"}],\n"
    " \"parameters\": [{\"type\": \"control\", \"control\": \"bend\"}, {\"type\": \"control\", \"control\": "
    "\"press\"}, {\"type\": \"muscle_stiffness\"},\n"
    "  {\"type\": \"chamber_stiffness\"}],\n"
    " \"objective\": [{\"type\": \"point\", \"target\": [0, 1, 0]}]}";

static ct_status parse_actuators(void** out) {
    return ct_scene_parse((ct_scene**)out, actuators_text, sizeof actuators_text - 1, NULL, NULL);
}

// Water, controls along time and a policy.
static const char swimmer_text[] =
    "{\"duration\":0.03,\"bodies\":[{\"name\":\"fin\",\"box\":{\"size\":[0.2,0.1,0.1],\"cells\":[2,1,1]}}],"
    "\"water\":{\"bodies\":[\"fin\"],\"level\":0.05},"
    "\"controls\":[{\"name\":\"push\",\"force\":{\"select\":{\"all\":true}},\"values\":\"push.csv\"},"
    "{\"name\":\"pull\",\"force\":{\"select\":{\"all\":true}},\"values\":[{\"time\":0,\"value\":[0,0,0]},{"
    "\"time\":1,\"value\":[1,0,0]}]}],"
    "\"policy\":{\"observe\":[{\"position\":{\"all\":true},\"relative\":\"fin\"},{\"phase\":1}],\"hidden\":2,"
    "\"controls\":[\"push\"],"
    "\"weights\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},"
    "\"parameters\":[{\"type\":\"water_drag\"},{\"type\":\"policy\"},{\"type\":\"control\",\"control\":"
    "\"push\",\"shape\":\"spline\",\"knots\":2},"
    "{\"type\":\"control\",\"control\":\"pull\",\"shape\":\"sinusoid\",\"amplitude\":1,\"frequency\":1}],"
    "\"objective\":[{\"type\":\"point\",\"target\":[0,0,0]}]}";

static ct_status parse_swimmer(void** out) {
    return ct_scene_parse((ct_scene**)out, swimmer_text, sizeof swimmer_text - 1, CT_SOURCE_DIR "/tests/data",
                          NULL);
}

static ct_status parse_bones(void** out) {
    return ct_scene_parse((ct_scene**)out, bones_text, sizeof bones_text - 1, NULL, NULL);
}

// A robot file becomes links and controls of a scene.
static ct_status import_robot(void** out, const char* path) {
    ct_status status = ct_scene_create((ct_scene**)out, NULL);
    if (status == CT_OK) status = ct_scene_import_skeleton(*out, path, NULL, NULL, 1, NULL);
    if (status != CT_OK) ct_scene_free(*out), *out = NULL;
    return status;
}

static ct_status import_mjcf(void** out) {
    return import_robot(out, CT_SOURCE_DIR "/tests/data/double_pendulum.xml");
}
static ct_status import_urdf(void** out) {
    return import_robot(out, CT_SOURCE_DIR "/tests/data/double_pendulum.urdf");
}

static ct_status add_goals(ct_scene* scene, const int* nodes, int count) {
    static const ct_keyframe target = {.translate = {1, 2, 3}};
    static const double shape[3] = {1, 0, 0};
    ct_status status = ct_scene_add_force_control(scene, "push", nodes, count, NULL);
    if (status == CT_OK) status = ct_scene_add_drive_control(scene, "mount", 0, NULL);
    for (int kind = 0; kind <= CT_QUANTITY_CONTROL && status == CT_OK; kind++) {
        ct_parameter_def parameter = ct_parameter_def_default();
        parameter.quantity = kind;
        parameter.per = kind < CT_QUANTITY_GRAVITY ? CT_PER_TAG : CT_PER_ELEMENT;
        parameter.control = "push";
        status = ct_scene_add_parameter(scene, &parameter, NULL);
    }
    for (int kind = 0; kind <= CT_OBJECTIVE_SMOOTHNESS && status == CT_OK; kind++) {
        ct_objective_def objective = ct_objective_def_default();
        objective.kind = kind;
        objective.path = &target;
        objective.npath = 1;
        objective.shape = shape;
        objective.nodes = nodes;
        objective.count = kind == CT_OBJECTIVE_POINT ? 0 : 1;
        status = ct_scene_add_objective(scene, &objective, NULL);
    }
    return status;
}

static ct_status fill_scene(ct_scene* scene, ct_solver solver) {
    ct_mesh* mesh;
    int *nodes = NULL, count = 0;
    ct_status status = ct_mesh_box(&mesh, (double[]){1, 0.2, 0.2}, (int[]){3, 1, 1}, NULL);
    if (status != CT_OK) return status;
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    if (solver == CT_SOLVER_PROJECTIVE) body.material.energy = CT_ENERGY_PROJECTIVE;
    ct_settings settings = ct_settings_default();
    settings.solver = solver;
    settings.max_iterations = 5000;
    ct_selector end = {.kind = CT_SELECT_BOX, .body = 0, .a = {-1, -1, -1}, .b = {1e-6, 1, 1}};
    ct_keyframe key[2] = {{.time = 0}, {.time = 1, .translate = {0, 0.1, 0}}};
    ct_motion motion = {.key = key, .nkey = 2};
    ct_force_def force = ct_force_def_default();
    ct_material soft = ct_material_default();
    double young[18];
    for (int i = 0; i < 18; i++) young[i] = 1e5;
    status = ct_scene_set_name(scene, "by hand");
    if (status == CT_OK) status = ct_scene_set_settings(scene, &settings, NULL);
    if (status == CT_OK) status = ct_scene_add_body(scene, &body, NULL, NULL);
    if (status == CT_OK) status = ct_scene_select(scene, &end, &nodes, &count, NULL);
    if (status == CT_OK) status = ct_scene_drive(scene, nodes, count, &motion, NULL);
    if (status == CT_OK) status = ct_scene_add_force(scene, nodes, count, &force, NULL);
    if (status == CT_OK && solver == CT_SOLVER_NEWTON)
        status = ct_scene_set_tag_material(scene, 0, 0, &soft, NULL);
    if (status == CT_OK) status = ct_scene_set_tet_values(scene, 0, CT_QUANTITY_YOUNG, young, 18, NULL);
    if (status == CT_OK) status = add_goals(scene, nodes, count);
    ct_free(nodes);
    ct_mesh_free(mesh);
    return status;
}

static ct_status build_scene_with(ct_scene** out, ct_solver solver) {
    ct_status status = ct_scene_create(out, NULL);
    if (status != CT_OK) return status;
    status = fill_scene(*out, solver);
    if (status != CT_OK) ct_scene_free(*out), *out = NULL;
    return status;
}

static ct_status build_scene(void** out) { return build_scene_with((ct_scene**)out, CT_SOLVER_NEWTON); }
static ct_status create_model(void** out) { return ct_model_create((ct_model**)out, fixture_scene, NULL); }
static ct_status create_state(void** out) { return ct_state_create((ct_state**)out, fixture_model, NULL); }
// Written, continued and read again: the library's own memory. HDF5 has an allocator of its own, without a
// hook.
static ct_status write_and_open(void** out) {
    static const char path[] = CT_BINARY_DIR "/test_allocation.h5";
    ct_trajectory* file = NULL;
    ct_state* state = NULL;
    ct_frame frame;
    *out = NULL;
    ct_status status = ct_state_create(&state, fixture_model, NULL);
    if (!status) status = ct_trajectory_create(&file, fixture_scene, fixture_model, path, NULL);
    if (!status) status = ct_trajectory_append(file, fixture_model, state, NULL, NULL);
    const ct_status closed = ct_trajectory_close(file, NULL);
    file = NULL;
    if (!status) status = closed;
    if (!status) status = ct_trajectory_resume(&file, fixture_model, state, path, NULL);
    if (!status) status = ct_trajectory_close(file, NULL);
    ct_state_free(state);
    file = NULL;
    if (!status) status = ct_trajectory_open(&file, path, NULL);
    if (!status) status = ct_trajectory_read(file, 0, &frame, NULL);
    if (status) ct_trajectory_close(file, NULL);
    else *out = file;
    return status;
}
static void close_file(void* file) { ct_trajectory_close(file, NULL); }

static ct_status create_params(void** out) {
    return ct_params_create((ct_params**)out, fixture_scene, fixture_model, 10, NULL);
}
static ct_status create_loss(void** out) {
    return ct_objective_create((ct_objective**)out, fixture_scene, fixture_model, 10, NULL);
}

// A problem in all of its uses: evaluated, searched with two methods, drawn, checked.
static ct_status use_problem(ct_problem* problem, double* y, double* gradient) {
    ct_check_slice slices[CT_QUANTITY_JOINT_VELOCITY + 2];
    ct_check_def check = {.components = 1, .step = 1e-3, .levels = 2};
    ct_optimize_def search = ct_optimize_def_default();
    const double line[2] = {1, 2};
    ct_plot_series series = {.x = line, .y = line, .count = 2};
    ct_plot_def plot = ct_plot_def_default();
    plot.width = 160, plot.height = 120;
    double loss;
    search.iterations = 1;  // where a first step of L-BFGS leads, rollouts are slow
    ct_problem_start(problem, y);
    ct_status status = ct_problem_evaluate(problem, y, &loss, gradient, NULL, NULL);
    if (status == CT_OK) status = ct_problem_optimize(problem, &search, y, NULL, NULL, NULL, NULL);
    search.method = CT_METHOD_ADAM;
    search.iterations = 2;
    if (status == CT_OK) status = ct_problem_optimize(problem, &search, y, NULL, NULL, NULL, NULL);
    if (status == CT_OK) status = ct_plot_save(CT_BINARY_DIR "/test_allocation.png", &plot, &series, 1, NULL);
    // last: failures in what comes before need not wait for its many rollouts
    if (status == CT_OK) status = ct_problem_check(problem, y, &check, slices, NULL);
    return status;
}

static ct_status create_problem(void** out) {
    static double y[256], gradient[256];
    ct_problem** problem = (ct_problem**)out;
    ct_status status = ct_problem_create(problem, fixture_scene, 1, NULL);
    if (status != CT_OK) return status;
    assert_in_range(ct_problem_size(*problem), 1, 256);
    status = use_problem(*problem, y, gradient);
    if (status != CT_OK) ct_problem_free(*problem), *problem = NULL;
    return status;
}

// One worker: its thread allocates while this one waits.
static ct_status create_batch(void** out) {
    static double y[256], gradient[256];
    ct_batch** batch = (ct_batch**)out;
    ct_evaluation result;
    ct_status status = ct_batch_create(batch, fixture_scene, 1, NULL, NULL);
    if (status != CT_OK) return status;
    ct_problem_start(ct_batch_problem(*batch), y);
    status = ct_batch_evaluate(*batch, 1, y, gradient, &result, NULL);
    if (status != CT_OK) ct_batch_free(*batch), *batch = NULL;
    return status;
}

// A search on a bowl with two flat directions, long enough to begin anew.
static ct_status bowl(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                      ct_error* error) {
    for (int k = 0; k < count; k++, y += 4) {
        results[k] = (ct_evaluation){.loss = y[0] * y[0] + y[1] * y[1]};
        if (gradients) gradients[4 * k] = 2 * y[0], gradients[4 * k + 1] = 2 * y[1];
    }
    return CT_OK;
}

static ct_method fixture_method;

static ct_status run_search(void** out) {
    static double y[4];
    const double lower[4] = {-1, -1, -1, -1}, upper[4] = {2, 2, INFINITY, 2};
    const ct_function function = {.size = 4, .lower = lower, .upper = upper, .evaluate = bowl};
    ct_optimize_def def = ct_optimize_def_default();
    def.method = fixture_method;
    def.iterations = 60;
    def.restarts = 2;
    def.noise = 0.1;
    def.tolerance = 0.3;
    for (int i = 0; i < 4; i++) y[i] = 1;
    ct_status status = ct_function_optimize(&function, &def, y, NULL, NULL, NULL, NULL);
    *out = status == CT_OK ? y : NULL;
    return status;
}

static ct_status create_work(void** out) { return ct_work_create((ct_work**)out, fixture_model, 1, NULL); }
static ct_status create_shared_work(void** out) {
    return ct_work_create((ct_work**)out, fixture_model, 3, NULL);
}

static ct_status read_mesh(void** out) {
    return ct_mesh_read((ct_mesh**)out, mesh_text, sizeof mesh_text - 1, NULL, 0, CT_MESH_MEDIT, NULL);
}

static ct_status copy_mesh(void** out) {
    ct_mesh* box;
    *out = NULL;
    ct_status status = ct_mesh_box(&box, (double[]){1, 1, 1}, (int[]){1, 2, 1}, NULL);
    if (status != CT_OK) return status;
    status = ct_mesh_copy((ct_mesh**)out, box, NULL);
    ct_mesh_free(box);
    return status;
}

static ct_status surface_of_mesh(void** out) {
    ct_mesh* box;
    int count;
    *out = NULL;
    ct_status status = ct_mesh_box(&box, (double[]){1, 1, 1}, (int[]){1, 2, 1}, NULL);
    if (status != CT_OK) return status;
    status = ct_mesh_surface(box, (int**)out, &count, NULL);
    ct_mesh_free(box);
    return status;
}

static ct_status check_mesh(void** out) {
    ct_mesh_report report;
    ct_status status = copy_mesh(out);
    if (status == CT_OK) status = ct_mesh_check(*out, &report, NULL);
    if (status != CT_OK) ct_mesh_free(*out), *out = NULL;
    return status;
}

static ct_status fill_shape(void** out) {
    ct_fill_def def = ct_fill_def_default();
    def.size = 0.5;
    *out = NULL;
    ct_shape* ball = ct_shape_sphere((double[]){0, 0, 0}, 0.5, NULL);
    ct_shape* bone = ct_shape_capsule((double[]){0, 0, 0}, (double[]){1, 0, 0}, 0.4, 0.3, NULL);
    ct_shape* both = ct_shape_union(ball, bone, 0.05, NULL);
    if (!both) return CT_OUT_OF_MEMORY;
    ct_status status = ct_shape_fill((ct_mesh**)out, both, &def, NULL, NULL);
    ct_shape_free(both);
    return status;
}

static ct_status surface_shape(void** out) {
    const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int tri[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    ct_mesh* mesh;
    *out = NULL;
    ct_status status = ct_mesh_create(&mesh, 4, x, 0, NULL, 4, tri, NULL);
    if (status != CT_OK) return status;
    status = ct_shape_surface((ct_shape**)out, mesh, NULL);
    ct_mesh_free(mesh);
    return status;
}

static void free_scene(void* object) { ct_scene_free(object); }
static void free_model(void* object) { ct_model_free(object); }
static void free_state(void* object) { ct_state_free(object); }
static void free_params(void* object) { ct_params_free(object); }
static void free_loss(void* object) { ct_objective_free(object); }
static void free_problem(void* object) { ct_problem_free(object); }
static void free_batch(void* object) { ct_batch_free(object); }
static void free_work(void* object) { ct_work_free(object); }
static void free_nothing(void* object) { assert_non_null(object); }
static void free_mesh(void* object) { ct_mesh_free(object); }
static void free_shape(void* object) { ct_shape_free(object); }

// ---- Tests ----

static int make_fixture(void** unused) {
    return build_scene_with(&fixture_scene, CT_SOLVER_NEWTON) ||
           ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int make_short_fixture(void** unused) {
    ct_settings settings;
    if (make_fixture(NULL)) return 1;
    settings = ct_scene_settings(fixture_scene);
    settings.duration = 5 * settings.time_step;
    settings.threads = 1;
    return ct_scene_set_settings(fixture_scene, &settings, NULL);
}

static int make_bones_fixture(void** unused) {
    return parse_bones((void**)&fixture_scene) || ct_model_create(&fixture_model, fixture_scene, NULL);
}

// Bones by an integrator with stages.
static int make_staged_fixture(void** unused) {
    static const char text[] =
        "{\"integrator\":\"sdirk3\",\"time_step\":0.01,\"duration\":0.02,\"solver\":{\"threads\":1},"
        "\"skeletons\":[{\"links\":[{\"name\":\"upper\",\"joint\":{\"type\":\"ball\",\"velocity\":[1,2,3],"
        "\"damping\":0.1},\"mass\":1,\"center\":[0.2,0,0],\"inertia\":[0.01,0.01,0.01]},{\"name\":\"fore\","
        "\"parent\":\"upper\",\"joint\":{\"type\":\"revolute\",\"anchor\":[0.4,0,0],\"axis\":[0,0,1],"
        "\"armature\":0.1},\"mass\":1,\"center\":[0.6,0,0],\"inertia\":[0.01,0.01,0.01]}]}],"
        "\"parameters\":[{\"type\":\"joint_velocity\"},{\"type\":\"link_mass\"}],"
        "\"objective\":[{\"type\":\"joint\",\"link\":\"fore\",\"target\":1}]}";
    return ct_scene_parse(&fixture_scene, text, sizeof text - 1, NULL, NULL) ||
           ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int make_actuators_fixture(void** unused) {
    return parse_actuators((void**)&fixture_scene) || ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int make_sheet_fixture(void** unused) {
    static const char text[] =
        "{\"bodies\":[{\"sheet\":{\"size\":[1,0.5],\"cells\":[4,2]},\"material\":{\"damping\":{\"stiffness\":"
        "0.001}}}],"
        "\"pins\":[{\"select\":{\"nearest\":[0,0,0]}}],\"duration\":0.05,\"solver\":{\"threads\":1},"
        "\"parameters\":[{\"type\":\"bending\"},{\"type\":\"thickness\",\"per\":\"element\"}],"
        "\"objective\":[{\"type\":\"point\",\"target\":[0,0,0]}]}";
    return ct_scene_parse(&fixture_scene, text, sizeof text - 1, NULL, NULL) ||
           ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int make_swimmer_fixture(void** unused) {
    return parse_swimmer((void**)&fixture_scene) || ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int make_projective_fixture(void** unused) {
    return build_scene_with(&fixture_scene, CT_SOLVER_PROJECTIVE) ||
           ct_model_create(&fixture_model, fixture_scene, NULL);
}

static int free_fixture(void** unused) {
    ct_model_free(fixture_model);
    ct_scene_free(fixture_scene);
    fixture_model = NULL;
    fixture_scene = NULL;
    return 0;
}

static void mesh_reading_survives_out_of_memory(void** unused) { walk_both(read_mesh, free_mesh); }
static void mesh_copies_survive_out_of_memory(void** unused) { walk_both(copy_mesh, free_mesh); }
static void mesh_surface_survives_out_of_memory(void** unused) { walk_both(surface_of_mesh, ct_free); }
static void mesh_check_survives_out_of_memory(void** unused) { walk_both(check_mesh, free_mesh); }
static void shape_fill_survives_out_of_memory(void** unused) { walk_both(fill_shape, free_mesh); }
static void surface_shape_survives_out_of_memory(void** unused) { walk_both(surface_shape, free_shape); }
static ct_status write_scene(void** out) { return ct_scene_write(fixture_scene, (char**)out, NULL, NULL); }

static void scene_writing_survives_out_of_memory(void** state) {
    (void)state;
    walk(write_scene, ct_free, MEMORY_OR_FILE, true);
}

static void scene_parsing_survives_out_of_memory(void** unused) {
    walk(parse_scene, free_scene, MEMORY_OR_FILE, false);
    walk(parse_scene, free_scene, MEMORY_OR_FILE, true);
    // after a single failure Jansson goes on with half a key
    walk(parse_bones, free_scene, MEMORY_OR_FILE, true);
}
static void actuators_survive_out_of_memory(void** unused) {
    walk(parse_actuators, free_scene, MEMORY_OR_FILE, true);
}
static void swimmer_survives_out_of_memory(void** unused) {
    walk(parse_swimmer, free_scene, MEMORY_OR_FILE, true);
}
static void robot_import_survives_out_of_memory(void** unused) {
    walk_both(import_mjcf, free_scene);
    walk_both(import_urdf, free_scene);
}
static void scene_building_survives_out_of_memory(void** unused) { walk_both(build_scene, free_scene); }
static void model_creation_survives_out_of_memory(void** unused) { walk_both(create_model, free_model); }
static void state_creation_survives_out_of_memory(void** unused) { walk_both(create_state, free_state); }
static void trajectories_survive_out_of_memory(void** unused) { walk_both(write_and_open, close_file); }
static void params_creation_survives_out_of_memory(void** unused) { walk_both(create_params, free_params); }
static void loss_creation_survives_out_of_memory(void** unused) { walk_both(create_loss, free_loss); }
static void problems_survive_out_of_memory(void** unused) { walk_both(create_problem, free_problem); }
static void batches_survive_out_of_memory(void** unused) { walk_both(create_batch, free_batch); }
static void small_problems_survive_out_of_memory(void** unused) {
    walk(create_problem, free_problem, MEMORY_ONLY, false);
}
static void searches_survive_out_of_memory(void** unused) {
    for (fixture_method = CT_METHOD_LBFGS; fixture_method <= CT_METHOD_NELDER_MEAD; fixture_method++)
        walk_both(run_search, free_nothing);
}
static void work_creation_survives_out_of_memory(void** unused) { walk_both(create_work, free_work); }
static void threaded_work_creation_survives_out_of_memory(void** unused) {
    walk_both(create_shared_work, free_work);
}

static void count_step_allocations(int threads) {
    ct_state* state;
    ct_work* work;
    ct_step_report report;
    must(ct_state_create(&state, fixture_model, NULL), NULL);
    must(ct_work_create(&work, fixture_model, threads, NULL), NULL);
    for (int i = 0; i < 3; i++) must(ct_step(fixture_model, work, state, NULL, &report), NULL);
    arm(-1, false);
    for (int i = 0; i < 20; i++) must(ct_step(fixture_model, work, state, NULL, &report), NULL);
    assert_int_equal(calls, 0);
    ct_work_free(work);
    ct_state_free(state);
}

static void warm_step_allocates_nothing(void** unused) {
    count_step_allocations(1);
    count_step_allocations(2);
}

// Forward mode too, through contacts and stages: the work keeps what it needs.
static void warm_jvp_allocates_nothing(void** unused) {
    const ct_integrator rules[] = {CT_INTEGRATOR_EULER, CT_INTEGRATOR_SDIRK2, CT_INTEGRATOR_SDIRK2};
    for (int k = 0; k < 3; k++) {
        ct_scene* scene = NULL;
        ct_model* model = NULL;
        ct_state* state = NULL;
        ct_work* work = NULL;
        ct_error error;
        ct_step_report report;
        const char* path = k == 2 ? CT_SOURCE_DIR "/scenes/arm.json" : CT_SOURCE_DIR "/scenes/incline.json";
        must(ct_scene_load(&scene, path, &error), &error);
        ct_settings settings = ct_scene_settings(scene);
        settings.integrator = rules[k];
        must(ct_scene_set_settings(scene, &settings, &error), &error);
        must(ct_model_create(&model, scene, &error), &error);
        must(ct_state_create(&state, model, &error), &error);
        must(ct_work_create(&work, model, 1, &error), &error);
        for (int i = 0; i < 20; i++) must(ct_step(model, work, state, NULL, &report), NULL);
        assert_true(k == 2 || report.contacts > 0);
        const size_t size = ct_model_state_first(model, CT_STATE_PARTS);
        double *dot = calloc(2 * size, sizeof *dot),
               *young = calloc(ct_model_quantity_size(model, CT_QUANTITY_YOUNG), sizeof *young);
        ct_values dots[2] = {{{0}}, {{0}}};
        young[0] = 1;
        dots[1].of[CT_QUANTITY_YOUNG] = young;
        for (size_t i = 0; i < size; i++) dot[i] = 1e-3 * sin((double)i);
        for (int i = 0; i < 2; i++)
            must(ct_step_jvp(model, work, state, NULL, 2, dot, dots, state, NULL), NULL);
        arm(-1, false);
        for (int i = 0; i < 5; i++)
            must(ct_step_jvp(model, work, state, NULL, 2, dot, dots, state, NULL), NULL);
        assert_int_equal(calls, 0);
        free(dot), free(young);
        ct_work_free(work);
        ct_state_free(state);
        ct_model_free(model);
        ct_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_jvp_allocates_nothing),
        cmocka_unit_test(mesh_reading_survives_out_of_memory),
        cmocka_unit_test(mesh_copies_survive_out_of_memory),
        cmocka_unit_test(mesh_surface_survives_out_of_memory),
        cmocka_unit_test(mesh_check_survives_out_of_memory),
        cmocka_unit_test(shape_fill_survives_out_of_memory),
        cmocka_unit_test(surface_shape_survives_out_of_memory),
        cmocka_unit_test(scene_parsing_survives_out_of_memory),
        cmocka_unit_test(actuators_survive_out_of_memory),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_actuators_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(state_creation_survives_out_of_memory, make_actuators_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_actuators_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(small_problems_survive_out_of_memory, make_actuators_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_actuators_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_staged_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_staged_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(small_problems_survive_out_of_memory, make_staged_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_staged_fixture, free_fixture),
        cmocka_unit_test(swimmer_survives_out_of_memory),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_swimmer_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_swimmer_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(small_problems_survive_out_of_memory, make_swimmer_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_swimmer_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(scene_writing_survives_out_of_memory, make_swimmer_fixture,
                                        free_fixture),
        cmocka_unit_test(searches_survive_out_of_memory),
        cmocka_unit_test(robot_import_survives_out_of_memory),
        cmocka_unit_test(scene_building_survives_out_of_memory),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_projective_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(state_creation_survives_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_bones_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(state_creation_survives_out_of_memory, make_bones_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(small_problems_survive_out_of_memory, make_bones_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_bones_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(trajectories_survive_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(trajectories_survive_out_of_memory, make_bones_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(params_creation_survives_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(loss_creation_survives_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(problems_survive_out_of_memory, make_short_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(batches_survive_out_of_memory, make_short_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_projective_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(threaded_work_creation_survives_out_of_memory, make_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_projective_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(model_creation_survives_out_of_memory, make_sheet_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(work_creation_survives_out_of_memory, make_sheet_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(problems_survive_out_of_memory, make_sheet_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(warm_step_allocates_nothing, make_sheet_fixture, free_fixture),
    };
    return cmocka_run_group_tests(tests, hook_libraries, NULL);
}
