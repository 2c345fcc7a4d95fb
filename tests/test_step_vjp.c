// The derivative of a step by everything that the state carries: the product of one-step reverses is the
// gradient of the rollout, and each part of a state agrees with central differences.
#include "build.h"
#include "repeat.h"
#include "slope.h"
#include "step/state.h"

typedef struct example {
    const char* name;
    ct_integrator integrator;
    int warm, steps;  // before, and those that are looked at
    double control;   // size of the controls; those of mounts: 2 mm, rad
    double friction;  // 0: the scene's
    bool touches;     // there are contacts
    double reach;     // largest step of the differences: less where contacts come and go
} example;

static const example octopus = {"octopus", CT_INTEGRATOR_EULER, 2, 4, 0.3, 0, false, 1},
                     fish = {"fish", CT_INTEGRATOR_EULER, 2, 4, 0.02, 0, false, 0.1},
                     gripper = {"gripper", CT_INTEGRATOR_EULER, 3, 3, 1.2, 0, true, 5e-4},
                     arm = {"arm", CT_INTEGRATOR_BDF2, 2, 5, 0.05, 0, false, 1},
                     incline = {"incline", CT_INTEGRATOR_EULER, 30, 4, 0, 0, true, 1},
                     sticking = {"incline", CT_INTEGRATOR_EULER, 10, 4, 0, 0.6, true, 0.01},
                     drone = {"drone", CT_INTEGRATOR_BDF2, 2, 4, 0, 0, false, 1};

typedef struct fixture {
    sim sim;
    int steps;
    size_t size;       // of a state's vector
    size_t control;    // numbers per step
    size_t young;      // elements
    double* controls;  // steps x control
    double* weight;    // (steps + 1) x size: dL/d(vector) of every state, zeros where it does not count
} fixture;

static double random_number(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / (double)((int64_t)1 << 52) - 1;
}

static fixture begin(const example* e) {
    fixture f = {.steps = e->steps};
    char path[512];
    ct_error error;
    ct_step_report report;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, e->name);
    must(ct_scene_load(&f.sim.scene, path, &error), &error);
    ct_settings settings = ct_scene_settings(f.sim.scene);
    settings.tolerance = 1e-14;
    settings.integrator = e->integrator;
    must(ct_scene_set_settings(f.sim.scene, &settings, &error), &error);
    must(ct_model_create(&f.sim.model, f.sim.scene, &error), &error);
    if (e->friction > 0) must(ct_model_set(f.sim.model, CT_QUANTITY_FRICTION, &e->friction, &error), &error);
    must(ct_state_create(&f.sim.state, f.sim.model, NULL), NULL);
    must(ct_work_create(&f.sim.work, f.sim.model, 1, NULL), NULL);
    f.size = ct_model_state_first(f.sim.model, CT_STATE_PARTS);
    f.control = (size_t)ct_model_control_size(f.sim.model);
    f.young = ct_model_quantity_size(f.sim.model, CT_QUANTITY_YOUNG);
    f.controls = calloc((size_t)f.steps * f.control + 1, sizeof(double));
    f.weight = calloc((size_t)(f.steps + 1) * f.size, sizeof(double));
    uint64_t seed = 5;
    for (int step = 0; step < f.steps; step++)
        for (int k = 0; k < ct_model_control_count(f.sim.model); k++) {
            ct_control_info info = ct_model_control_info(f.sim.model, k);
            double* control = f.controls + (size_t)step * f.control + info.first;
            for (int i = 0; i < info.count; i++)
                control[i] =
                    (info.kind == CT_CONTROL_MOVE ? 2e-3 : e->control) * (0.9 + 0.1 * random_number(&seed));
        }
    for (int step = f.steps / 2; step <= f.steps; step++)
        for (size_t i = 0; i < f.size; i++) f.weight[(size_t)step * f.size + i] = random_number(&seed);
    for (int i = 0; i < e->warm; i++)
        if (ct_step(f.sim.model, f.sim.work, f.sim.state, f.control ? f.controls : NULL, &report) != CT_OK)
            fail_msg("%s: %s", e->name, report.message);
    return f;
}

static void end(fixture* f) {
    free(f->controls);
    free(f->weight);
    ct_state_free(f->sim.state);
    ct_work_free(f->sim.work);
    ct_model_free(f->sim.model);
    ct_scene_free(f->sim.scene);
}

// ---- the product of one-step reverses ------------------------------------------------------

static bool seed_states(int step, const ct_state* state, double* state_bar, void* user) {
    const fixture* f = user;
    for (size_t i = 0; i < f->size; i++) state_bar[i] += f->weight[(size_t)step * f->size + i];
    return true;
}

// Largest difference, by the largest number of the part.
static double far(const double* a, const double* b, size_t count) {
    double most = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return size > 0 ? most / size : most;
}

static void check_product(const example* e) {
    fixture f = begin(e);
    const ct_model* model = f.sim.model;
    size_t numbers = (size_t)f.steps * f.control;
    double *whole = calloc(f.size, sizeof(double)), *bar = calloc(f.size, sizeof(double)),
           *controls_bar = calloc(numbers + 1, sizeof(double)),
           *control_bar = calloc(numbers + 1, sizeof(double)), *young_bar = calloc(f.young, sizeof(double)),
           *young_sum = calloc(f.young, sizeof(double)), *young_part = calloc(f.young, sizeof(double));
    ct_tape* tape = NULL;
    ct_rollout_report report;
    must(ct_tape_create(&tape, model, f.steps, 0, NULL), NULL);
    if (ct_rollout(model, f.sim.work, tape, f.sim.state, f.steps, f.controls, NULL, NULL, &report))
        fail_msg("%s: %s", e->name, report.last.message);
    assert_true((report.last.contacts > 0) == e->touches);
    ct_values gradient = {0};
    gradient.of[CT_QUANTITY_CONTROL] = controls_bar;
    gradient.of[CT_QUANTITY_YOUNG] = young_bar;
    must(ct_backward_states(model, f.sim.work, tape, f.controls, seed_states, &f, whole, &gradient, NULL),
         NULL);

    ct_state** at = calloc((size_t)f.steps, sizeof *at);
    for (int i = 0; i < f.steps; i++) {
        must(ct_state_create(&at[i], model, NULL), NULL);
        must(ct_state_copy(at[i], f.sim.state), NULL);
        must(ct_step(model, f.sim.work, f.sim.state, f.controls + (size_t)i * f.control, NULL), NULL);
    }
    memcpy(bar, f.weight + (size_t)f.steps * f.size, f.size * sizeof(double));
    for (int i = f.steps - 1; i >= 0; i--) {
        gradient.of[CT_QUANTITY_CONTROL] = control_bar + (size_t)i * f.control;
        gradient.of[CT_QUANTITY_YOUNG] = young_part;
        must(ct_step_vjp(model, f.sim.work, at[i], f.controls + (size_t)i * f.control, bar, &gradient, NULL),
             NULL);
        for (size_t k = 0; k < f.size; k++) bar[k] += f.weight[(size_t)i * f.size + k];
        for (size_t k = 0; k < f.young; k++) young_sum[k] += young_part[k];
        ct_state_free(at[i]);
    }
    for (int part = 0; part < CT_STATE_PARTS; part++) {
        size_t first = ct_model_state_first(model, (ct_state_part)part),
               count = ct_model_state_first(model, (ct_state_part)(part + 1)) - first;
        double error = far(whole + first, bar + first, count);
        if (!(error <= 1e-12))
            fail_msg("%s: %s is off by %.1e", e->name, ct_state_part_name((ct_state_part)part), error);
    }
    double by_control = far(controls_bar, control_bar, numbers),
           by_young = far(young_bar, young_sum, f.young);
    print_message("%s: contacts %d, controls %.1e, young %.1e, position %.1e\n", e->name,
                  report.last.contacts, by_control, by_young,
                  far(whole, bar, ct_model_state_first(model, CT_STATE_VELOCITY)));
    if (!(by_control <= 1e-12 && by_young <= 1e-12)) fail_msg("%s: the quantities are off", e->name);
    free(at), free(whole), free(bar), free(controls_bar), free(control_bar);
    free(young_bar), free(young_sum), free(young_part);
    ct_tape_free(tape);
    end(&f);
}

static void product_of_steps_is_the_rollout_octopus(void** s) { check_product(&octopus); }
static void product_of_steps_is_the_rollout_fish(void** s) { check_product(&fish); }
static void product_of_steps_is_the_rollout_gripper(void** s) { check_product(&gripper); }
static void product_of_steps_is_the_rollout_arm(void** s) { check_product(&arm); }
static void product_of_steps_is_the_rollout_incline(void** s) { check_product(&incline); }
static void product_of_steps_is_the_rollout_sticking(void** s) { check_product(&sticking); }
static void product_of_steps_is_the_rollout_drone(void** s) { check_product(&drone); }

// ---- against differences -------------------------------------------------------------------

typedef struct line {
    fixture* f;
    ct_state* state;
    double *start, *direction, *vector;  // of the state before; that after
    double size;                         // sum of the sizes of the loss's terms
} line;

static double loss_along(void* user, double t) {
    line* l = user;
    const fixture* f = l->f;
    const double* weight = f->weight + (size_t)f->steps * f->size;
    ct_step_report report;
    for (size_t i = 0; i < f->size; i++) l->vector[i] = l->start[i] + t * l->direction[i];
    must(ct_state_copy(l->state, f->sim.state), NULL);
    must(ct_state_set_vector(f->sim.model, l->state, l->vector), NULL);
    if (ct_step(f->sim.model, f->sim.work, l->state, f->controls, &report)) fail_msg("%s", report.message);
    must(ct_state_get_vector(f->sim.model, l->state, l->vector), NULL);
    double loss = 0;
    l->size = 0;
    for (size_t i = 0; i < f->size; i++)
        loss += weight[i] * l->vector[i], l->size += fabs(weight[i] * l->vector[i]);
    return loss;
}

// lengths: of the directions, by part.
static void check_differences(const example* e, const double lengths[CT_STATE_PARTS]) {
    fixture f = begin(e);
    const ct_model* model = f.sim.model;
    line l = {.f = &f,
              .start = calloc(f.size, sizeof(double)),
              .direction = calloc(f.size, sizeof(double)),
              .vector = calloc(f.size, sizeof(double))};
    double* bar = calloc(f.size, sizeof(double));
    must(ct_state_create(&l.state, model, NULL), NULL);
    must(ct_state_get_vector(model, f.sim.state, l.start), NULL);
    double* weight = f.weight + (size_t)f.steps * f.size;
    memcpy(bar, weight, f.size * sizeof(double));
    must(ct_step_vjp(model, f.sim.work, f.sim.state, f.controls, bar, NULL, NULL), NULL);
    uint64_t seed = 23;
    for (int part = 0; part < CT_STATE_PARTS; part++) {
        size_t first = ct_model_state_first(model, (ct_state_part)part),
               last = ct_model_state_first(model, (ct_state_part)(part + 1));
        double exact = 0;
        memset(l.direction, 0, f.size * sizeof(double));
        for (size_t i = first; i < last; i++) {
            l.direction[i] = lengths[part] * random_number(&seed);
            exact += bar[i] * l.direction[i];
        }
        loss_along(&l, 0);
        print_message("%s: %s %.3e\n", e->name, ct_state_part_name((ct_state_part)part), exact);
        if (first == last) continue;
        // the solver's residual is as good as round-off of the loss
        if (exact != 0) assert_slope(loss_along, &l, exact, e->reach, 100 * l.size);
        else assert_true(fabs(loss_along(&l, e->reach) - loss_along(&l, -e->reach)) < 1e-12 * l.size);
    }
    free(l.start), free(l.direction), free(l.vector), free(bar);
    ct_state_free(l.state);
    end(&f);
}

static const double lengths[CT_STATE_PARTS] = {1e-5, 1e-2, 1e-5, 1e-2, 1e-3, 1e-3, 1e-2, 1e-3, 1e-2, 1e-3};
static void step_vjp_agrees_with_differences_octopus(void** s) { check_differences(&octopus, lengths); }
static void step_vjp_agrees_with_differences_fish(void** s) { check_differences(&fish, lengths); }
static void step_vjp_agrees_with_differences_gripper(void** s) { check_differences(&gripper, lengths); }
static void step_vjp_agrees_with_differences_arm(void** s) { check_differences(&arm, lengths); }
static void step_vjp_agrees_with_differences_incline(void** s) { check_differences(&incline, lengths); }
static void step_vjp_agrees_with_differences_sticking(void** s) { check_differences(&sticking, lengths); }
static void step_vjp_agrees_with_differences_drone(void** s) { check_differences(&drone, lengths); }

// ---- vectors -------------------------------------------------------------------------------

static void vector_of_a_state_restores_its_bits(void** unused) {
    fixture f = begin(&arm);
    double* vector = calloc(f.size, sizeof(double));
    void* bytes = malloc(ct_state_size(f.sim.state));
    memcpy(bytes, ct_state_bytes(f.sim.state), ct_state_size(f.sim.state));
    must(ct_state_get_vector(f.sim.model, f.sim.state, vector), NULL);
    must(ct_state_set_vector(f.sim.model, f.sim.state, vector), NULL);
    assert_memory_equal(bytes, ct_state_bytes(f.sim.state), ct_state_size(f.sim.state));
    vector[7] = NAN;
    assert_int_equal(ct_state_set_vector(f.sim.model, f.sim.state, vector), CT_BAD_ARGUMENT);
    assert_memory_equal(bytes, ct_state_bytes(f.sim.state), ct_state_size(f.sim.state));
    assert_null(ct_state_part_name(CT_STATE_PARTS));
    assert_string_equal(ct_state_part_name(CT_STATE_MOUNT), "mount");
    free(bytes);
    free(vector);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_of_a_state_restores_its_bits),
        cmocka_unit_test(product_of_steps_is_the_rollout_octopus),
        cmocka_unit_test(product_of_steps_is_the_rollout_fish),
        cmocka_unit_test(product_of_steps_is_the_rollout_gripper),
        cmocka_unit_test(product_of_steps_is_the_rollout_arm),
        cmocka_unit_test(product_of_steps_is_the_rollout_incline),
        cmocka_unit_test(product_of_steps_is_the_rollout_sticking),
        cmocka_unit_test(product_of_steps_is_the_rollout_drone),
        cmocka_unit_test(step_vjp_agrees_with_differences_octopus),
        cmocka_unit_test(step_vjp_agrees_with_differences_fish),
        cmocka_unit_test(step_vjp_agrees_with_differences_gripper),
        cmocka_unit_test(step_vjp_agrees_with_differences_arm),
        cmocka_unit_test(step_vjp_agrees_with_differences_incline),
        cmocka_unit_test(step_vjp_agrees_with_differences_sticking),
        cmocka_unit_test(step_vjp_agrees_with_differences_drone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
