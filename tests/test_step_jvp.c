// A step along a direction is the transpose of its reverse: <w, J d> = <J^T w, d> for each part of a state,
// for controls and for quantities; and it agrees with central differences of steps.
#include "build.h"
#include "slope.h"
#include "step/state.h"

typedef struct example {
    const char* name;
    ct_integrator integrator;
    int warm;        // steps before the one that is looked at
    double control;  // size of the controls; those of mounts: 2 mm, rad
    double reach;    // largest step of the differences
    bool open;       // without contact
    bool policy;     // with a policy that sees positions, velocities and the time
    int iterations;  // per step before it is halved; 0: the scene's
} example;

typedef struct fixture {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    size_t size, ncontrol, nyoung;
    double *control, *weight;
} fixture;

static double random_number(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / (double)((int64_t)1 << 52) - 1;
}

static double* numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static void add_policy(ct_scene* scene) {
    const int nodes[] = {0, 5, 9};
    ct_error error;
    ct_observe_def sees[3];
    for (int i = 0; i < 3; i++) {
        sees[i] = ct_observe_def_default();
        sees[i].nodes = nodes, sees[i].count = 3;
    }
    sees[1].kind = CT_OBSERVE_VELOCITY, sees[2].kind = CT_OBSERVE_PHASE, sees[2].frequency = 2;
    ct_policy_def policy = ct_policy_def_default();
    policy.observe = sees, policy.nobserve = 3;
    must(ct_scene_set_policy(scene, &policy, &error), &error);
}

// A driven root with links beneath it and a ball joint, and a mount, beside the scenes of the repository.
static const char cart[] =
    "{\"time_step\": 0.02, \"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": "
    "[4, 1, 1]}, "
    "\"material\": {\"young\": 1e5, \"damping\": {\"stiffness\": 0.01, \"mass\": 1}}}],"
    "\"drives\": [{\"select\": {\"box\": [[-1, -1, -1], [1e-6, 1, 1]]}, \"motion\": {\"keys\": [{\"time\": "
    "0}], \"center\": [0, 0.05, 0.05]}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"base\", \"joint\": {\"type\": \"fixed\"}, \"mass\": 1, "
    "\"center\": [0, 1, 0], \"inertia\": [0.01, 0.01, 0.01]},"
    "{\"name\": \"arm\", \"parent\": \"base\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0.1, 1, 0], "
    "\"axis\": [0, 1, 1], \"damping\": 0.1}, \"mass\": 0.5, \"center\": [0.3, 1, 0], \"inertia\": [0.01, "
    "0.01, 0.01]},"
    "{\"name\": \"hand\", \"parent\": \"arm\", \"joint\": {\"type\": \"ball\", \"anchor\": [0.5, 1, 0], "
    "\"damping\": 0.1, \"stiffness\": 1}, \"mass\": 0.5, \"center\": [0.6, 1, 0], \"inertia\": [0.01, 0.01, "
    "0.01]}]}],"
    "\"controls\": [{\"name\": \"drone\", \"move\": 0}, {\"name\": \"cart\", \"move\": \"base\"}]}";

static fixture begin(const example* e) {
    fixture f = {0};
    char path[512];
    ct_error error;
    ct_step_report report;
    uint64_t seed = 5;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, e->name);
    if (strcmp(e->name, "cart") == 0)
        must(ct_scene_parse(&f.scene, cart, strlen(cart), NULL, &error), &error);
    else must(ct_scene_load(&f.scene, path, &error), &error);
    ct_settings settings = ct_scene_settings(f.scene);
    settings.tolerance = 1e-13;
    settings.integrator = e->integrator;
    if (e->iterations) settings.max_iterations = e->iterations, settings.max_substep_depth = 8;
    if (e->open) settings.contact.method = CT_CONTACT_METHOD_NONE;
    must(ct_scene_set_settings(f.scene, &settings, &error), &error);
    if (e->policy) add_policy(f.scene);
    must(ct_model_create(&f.model, f.scene, &error), &error);
    must(ct_state_create(&f.state, f.model, NULL), NULL);
    must(ct_work_create(&f.work, f.model, 1, NULL), NULL);
    f.size = ct_model_state_first(f.model, CT_STATE_PARTS);
    f.ncontrol = (size_t)ct_model_control_size(f.model);
    f.nyoung = ct_model_quantity_size(f.model, CT_QUANTITY_YOUNG);
    f.control = numbers(f.ncontrol);
    f.weight = numbers(f.size);
    for (int k = 0; k < ct_model_control_count(f.model); k++) {
        ct_control_info info = ct_model_control_info(f.model, k);
        for (int i = 0; i < info.count; i++)
            f.control[info.first + i] =
                (info.kind == CT_CONTROL_MOVE ? 2e-3 : e->control) * (0.9 + 0.1 * random_number(&seed));
    }
    for (size_t i = 0; i < f.size; i++) f.weight[i] = random_number(&seed);
    for (int i = 0; i < e->warm; i++)
        if (ct_step(f.model, f.work, f.state, f.control, &report))
            fail_msg("%s: %s", e->name, report.message);
    return f;
}

static void end(fixture* f) {
    free(f->control), free(f->weight);
    ct_state_free(f->state);
    ct_work_free(f->work);
    ct_model_free(f->model);
    ct_scene_free(f->scene);
}

// Sizes of directions, by part: such that each moves the end by about as much.
static const double lengths[CT_STATE_PARTS] = {1e-5, 1e-2, 1e-5, 1e-2, 1e-3, 1e-3, 1e-2, 1e-3, 1e-2, 1e-3};

static double product(const double* a, const double* b, size_t n, double* size) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i], *size += fabs(a[i] * b[i]);
    return sum;
}

// <w, J d> where d changes the state by `dot`, which is overwritten, and quantities by `dots`.
static double forward(const fixture* f, double* dot, const ct_values* dots, double* size) {
    must(ct_step_jvp(f->model, f->work, f->state, f->control, 1, dot, dots, NULL, NULL), NULL);
    return product(f->weight, dot, f->size, size);
}

static void agree(const example* e, const char* what, double there, double back, double size) {
    double error = size > 0 ? fabs(there - back) / size : fabs(there - back);
    print_message("%s: %s %.3e, off by %.1e\n", e->name, what, there, error);
    if (!(error <= 1e-12)) fail_msg("%s: %s: %.16e there, %.16e back", e->name, what, there, back);
}

static void check_transpose(const example* e) {
    fixture f = begin(e);
    double *bar = numbers(f.size), *dot = numbers(f.size), *control_bar = numbers(f.ncontrol),
           *change = numbers(f.ncontrol), *young_bar = numbers(f.nyoung), *young = numbers(f.nyoung),
           *poisson_bar = numbers(f.nyoung), gravity_bar[3], gravity[3] = {0.3, -0.2, 0.5};
    const bool water = ct_model_quantity_size(f.model, CT_QUANTITY_WATER_DENSITY) > 0,
               sheets = ct_model_summary(f.model).ntri > 0;
    ct_values gradient = {0};
    uint64_t seed = 23;
    gradient.of[CT_QUANTITY_CONTROL] = control_bar;
    gradient.of[CT_QUANTITY_YOUNG] = young_bar;
    gradient.of[CT_QUANTITY_POISSON] = poisson_bar;
    gradient.of[CT_QUANTITY_GRAVITY] = gravity_bar;
    memcpy(bar, f.weight, f.size * sizeof(double));
    must(ct_step_vjp(f.model, f.work, f.state, f.control, bar, &gradient, NULL), NULL);
    for (int part = 0; part < CT_STATE_PARTS; part++) {
        size_t first = ct_model_state_first(f.model, (ct_state_part)part),
               last = ct_model_state_first(f.model, (ct_state_part)(part + 1));
        double size = 0;
        memset(dot, 0, f.size * sizeof(double));
        for (size_t i = first; i < last; i++) dot[i] = lengths[part] * random_number(&seed);
        double back = product(bar, dot, f.size, &size), there = forward(&f, dot, NULL, &size);
        if (last > first) agree(e, ct_state_part_name((ct_state_part)part), there, back, size);
    }
    double size = 0, back = 0;
    for (size_t i = 0; i < f.ncontrol; i++) change[i] = 1e-3 * random_number(&seed);
    memset(dot, 0, f.size * sizeof(double));
    back = product(control_bar, change, f.ncontrol, &size);
    ct_values dots = {0};
    dots.of[CT_QUANTITY_CONTROL] = change;
    agree(e, "control", forward(&f, dot, &dots, &size), back, size);
    dots = (ct_values){0};
    dots.of[CT_QUANTITY_GRAVITY] = gravity;
    memset(dot, 0, f.size * sizeof(double));
    size = 0, back = product(gravity_bar, gravity, 3, &size);
    if (!water) agree(e, "gravity", forward(&f, dot, &dots, &size), back, size);
    dots = (ct_values){0};
    dots.of[CT_QUANTITY_YOUNG] = young;
    ct_model_get(f.model, CT_QUANTITY_YOUNG, young);
    for (size_t i = 0; i < f.nyoung; i++) young[i] *= random_number(&seed);
    memset(dot, 0, f.size * sizeof(double));
    size = 0, back = product(young_bar, young, f.nyoung, &size);
    if (!sheets) agree(e, "young", forward(&f, dot, &dots, &size), back, size);
    dots = (ct_values){0};
    dots.of[CT_QUANTITY_POISSON] = young;
    for (size_t i = 0; i < f.nyoung; i++) young[i] = random_number(&seed);
    memset(dot, 0, f.size * sizeof(double));
    size = 0, back = product(poisson_bar, young, f.nyoung, &size);
    if (!sheets) agree(e, "poisson", forward(&f, dot, &dots, &size), back, size);
    free(bar), free(dot), free(control_bar), free(change), free(young_bar), free(young), free(poisson_bar);
    end(&f);
}

// ---- against differences -------------------------------------------------------------------

typedef struct line {
    fixture* f;
    ct_state* state;
    double *start, *direction, *change, *control, *vector;
    double size;
} line;

static double loss_along(void* user, double t) {
    line* l = user;
    const fixture* f = l->f;
    ct_step_report report;
    for (size_t i = 0; i < f->size; i++) l->vector[i] = l->start[i] + t * l->direction[i];
    for (size_t i = 0; i < f->ncontrol; i++) l->control[i] = f->control[i] + t * l->change[i];
    must(ct_state_copy(l->state, f->state), NULL);
    must(ct_state_set_vector(f->model, l->state, l->vector), NULL);
    if (ct_step(f->model, f->work, l->state, l->control, &report)) fail_msg("%s", report.message);
    must(ct_state_get_vector(f->model, l->state, l->vector), NULL);
    l->size = 0;
    return product(f->weight, l->vector, f->size, &l->size);
}

static void check_differences(const example* e) {
    fixture f = begin(e);
    line l = {
        &f, NULL, numbers(f.size), numbers(f.size), numbers(f.ncontrol), numbers(f.ncontrol), numbers(f.size),
        0};
    double* dot = numbers(f.size);
    uint64_t seed = 7;
    must(ct_state_create(&l.state, f.model, NULL), NULL);
    must(ct_state_get_vector(f.model, f.state, l.start), NULL);
    for (int part = 0; part < CT_STATE_PARTS; part++)
        for (size_t i = ct_model_state_first(f.model, (ct_state_part)part);
             i < ct_model_state_first(f.model, (ct_state_part)(part + 1)); i++)
            dot[i] = l.direction[i] = lengths[part] * random_number(&seed);
    for (size_t i = 0; i < f.ncontrol; i++) l.change[i] = 1e-3 * random_number(&seed);
    ct_values dots = {0};
    dots.of[CT_QUANTITY_CONTROL] = l.change;
    double unused = 0, exact = forward(&f, dot, &dots, &unused);
    loss_along(&l, 0);
    assert_slope(loss_along, &l, exact, e->reach, 100 * l.size);
    free(l.start), free(l.direction), free(l.change), free(l.control), free(l.vector), free(dot);
    ct_state_free(l.state);
    end(&f);
}

static const example octopus = {"octopus", CT_INTEGRATOR_EULER, 2, 0.3, 1, false, false, 0},
                     fish = {"fish", CT_INTEGRATOR_EULER, 2, 0.02, 0.1, false, true, 0},
                     arm = {"arm", CT_INTEGRATOR_BDF2, 2, 0.05, 1, false, false, 0},
                     drone = {"drone", CT_INTEGRATOR_BDF2, 2, 0, 1, false, false, 0},
                     finger = {"finger", CT_INTEGRATOR_BDF2, 2, 0.3, 1, false, false, 0},
                     tendon = {"tendon", CT_INTEGRATOR_EULER, 2, -1e-3, 1, false, false, 0},
                     balloon = {"balloon", CT_INTEGRATOR_EULER, 2, 20, 1, false, false, 0},
                     cloth = {"cloth", CT_INTEGRATOR_BDF2, 2, 0, 1, false, false, 0},
                     hand = {"hand", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, true, false, 0},
                     humanoid = {"humanoid", CT_INTEGRATOR_EULER, 2, 0.05, 0.1, true, false, 0},
                     gripper = {"gripper", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, true, false, 0},
                     carts = {"cart", CT_INTEGRATOR_BDF2, 2, 0.01, 0.1, false, true, 0},
                     halved_cart = {"cart", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, false, false, 6},
                     halved = {"finger", CT_INTEGRATOR_BDF2, 2, 0.3, 1, false, false, 24},
                     identify = {"identify", CT_INTEGRATOR_EULER, 2, 0, 1, false, false, 0};

static void transpose_of_the_reverse_octopus(void** s) { check_transpose(&octopus); }
static void transpose_of_the_reverse_fish(void** s) { check_transpose(&fish); }
static void transpose_of_the_reverse_arm(void** s) { check_transpose(&arm); }
static void transpose_of_the_reverse_drone(void** s) { check_transpose(&drone); }
static void transpose_of_the_reverse_finger(void** s) { check_transpose(&finger); }
static void transpose_of_the_reverse_tendon(void** s) { check_transpose(&tendon); }
static void transpose_of_the_reverse_balloon(void** s) { check_transpose(&balloon); }
static void transpose_of_the_reverse_cloth(void** s) { check_transpose(&cloth); }
static void transpose_of_the_reverse_hand(void** s) { check_transpose(&hand); }
static void transpose_of_the_reverse_humanoid(void** s) { check_transpose(&humanoid); }
static void transpose_of_the_reverse_gripper(void** s) { check_transpose(&gripper); }
static void transpose_of_the_reverse_cart(void** s) { check_transpose(&carts); }
static void transpose_of_the_reverse_halved_cart(void** s) { check_transpose(&halved_cart); }
static void transpose_of_the_reverse_halved(void** s) { check_transpose(&halved); }
static void transpose_of_the_reverse_identify(void** s) { check_transpose(&identify); }

static void differences_octopus(void** s) { check_differences(&octopus); }
static void differences_arm(void** s) { check_differences(&arm); }
static void differences_finger(void** s) { check_differences(&finger); }
static void differences_cloth(void** s) { check_differences(&cloth); }
static void differences_drone(void** s) { check_differences(&drone); }
static void differences_fish(void** s) { check_differences(&fish); }
static void differences_cart(void** s) { check_differences(&carts); }
static void differences_hand(void** s) { check_differences(&hand); }

// ---- many, and what is refused -------------------------------------------------------------

static void many_directions_have_the_numbers_of_single_ones(void** s) {
    fixture f = begin(&finger);
    ct_state *after = NULL, *stepped = NULL;
    double *two = numbers(2 * f.size), *one = numbers(f.size), change[2][3] = {{1, 0, 0}, {0, 0.5, 2}};
    ct_values dots[2] = {{{0}}, {{0}}};
    must(ct_state_create(&after, f.model, NULL), NULL);
    must(ct_state_create(&stepped, f.model, NULL), NULL);
    for (int i = 0; i < 2; i++) dots[i].of[CT_QUANTITY_CONTROL] = change[i];
    must(ct_step_jvp(f.model, f.work, f.state, f.control, 2, two, dots, after, NULL), NULL);
    for (int i = 0; i < 2; i++) {
        memset(one, 0, f.size * sizeof(double));
        must(ct_step_jvp(f.model, f.work, f.state, f.control, 1, one, &dots[i], NULL, NULL), NULL);
        assert_memory_equal(one, two + (size_t)i * f.size, f.size * sizeof(double));
    }
    must(ct_state_copy(stepped, f.state), NULL);
    must(ct_step(f.model, f.work, stepped, f.control, NULL), NULL);
    assert_memory_equal(ct_state_bytes(after), ct_state_bytes(stepped), ct_state_size(after));
    free(two), free(one);
    ct_state_free(after), ct_state_free(stepped);
    end(&f);
}

static void what_is_not_there_is_refused(void** s) {
    const example stages = {"finger", CT_INTEGRATOR_SDIRK2, 1, 0.3, 1, false, false, 0},
                  touching = {"incline", CT_INTEGRATOR_EULER, 30, 0, 1, false, false, 0};
    for (int i = 0; i < 2; i++) {
        fixture f = begin(i ? &touching : &stages);
        double* dot = numbers(f.size);
        assert_int_equal(ct_step_jvp(f.model, f.work, f.state, f.control, 1, dot, NULL, NULL, NULL),
                         CT_UNSUPPORTED);
        free(dot);
        end(&f);
    }
    fixture f = begin(&finger);
    double *dot = numbers(f.size), *density = numbers(f.nyoung);
    ct_values dots = {0};
    dots.of[CT_QUANTITY_DENSITY] = density;
    assert_int_equal(ct_step_jvp(f.model, f.work, f.state, f.control, 1, dot, &dots, NULL, NULL),
                     CT_UNSUPPORTED);
    free(dot), free(density);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_of_the_reverse_octopus),
        cmocka_unit_test(transpose_of_the_reverse_fish),
        cmocka_unit_test(transpose_of_the_reverse_arm),
        cmocka_unit_test(transpose_of_the_reverse_drone),
        cmocka_unit_test(transpose_of_the_reverse_finger),
        cmocka_unit_test(transpose_of_the_reverse_tendon),
        cmocka_unit_test(transpose_of_the_reverse_balloon),
        cmocka_unit_test(transpose_of_the_reverse_cloth),
        cmocka_unit_test(transpose_of_the_reverse_hand),
        cmocka_unit_test(transpose_of_the_reverse_humanoid),
        cmocka_unit_test(transpose_of_the_reverse_gripper),
        cmocka_unit_test(transpose_of_the_reverse_cart),
        cmocka_unit_test(transpose_of_the_reverse_halved_cart),
        cmocka_unit_test(transpose_of_the_reverse_halved),
        cmocka_unit_test(transpose_of_the_reverse_identify),
        cmocka_unit_test(differences_octopus),
        cmocka_unit_test(differences_arm),
        cmocka_unit_test(differences_finger),
        cmocka_unit_test(differences_cloth),
        cmocka_unit_test(differences_drone),
        cmocka_unit_test(differences_fish),
        cmocka_unit_test(differences_cart),
        cmocka_unit_test(differences_hand),
        cmocka_unit_test(many_directions_have_the_numbers_of_single_ones),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
