// Many states at the same time, and work that is cancelled.
#include "build.h"

enum { COUNT = 5, STEPS = 3 };

typedef struct fixture {
    sim sim;
    size_t control, size;
    double* controls;  // COUNT x STEPS x control
} fixture;

static ct_scene* load(const char* name) {
    char path[512];
    ct_error error;
    ct_scene* scene = NULL;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, name);
    must(ct_scene_load(&scene, path, &error), &error);
    return scene;
}

static fixture begin(void) {
    fixture f = {.sim = start(load("finger"), 1)};
    f.control = (size_t)ct_model_control_size(f.sim.model);
    f.size = ct_model_state_first(f.sim.model, CT_STATE_PARTS);
    f.controls = calloc(COUNT * STEPS * f.control, sizeof(double));
    for (size_t i = 0; i < COUNT * STEPS * f.control; i++) f.controls[i] = 0.2 + 0.2 * sin((double)i);
    return f;
}

static void end(fixture* f) {
    free(f->controls);
    stop(&f->sim);
}

static void copies(const fixture* f, ct_state* states[COUNT]) {
    for (int i = 0; i < COUNT; i++) {
        must(ct_state_create(&states[i], f->sim.model, NULL), NULL);
        must(ct_state_copy(states[i], f->sim.state), NULL);
    }
}

static void assert_same(const ct_state* a, const ct_state* b) {
    assert_memory_equal(ct_state_bytes(a), ct_state_bytes(b), ct_state_size(a));
}

static void many_steps_have_the_bits_of_single_ones(void** unused) {
    fixture f = begin();
    ct_state *single[COUNT], *many[COUNT];
    ct_status statuses[COUNT];
    ct_step_report reports[COUNT];
    copies(&f, single);
    for (int i = 0; i < COUNT; i++)
        must(ct_step(f.sim.model, f.sim.work, single[i], f.controls + (size_t)i * f.control, NULL), NULL);
    for (int threads = 1; threads <= 3; threads++) {
        ct_pool* pool = NULL;
        must(ct_pool_create(&pool, f.sim.model, threads, NULL), NULL);
        assert_int_equal(ct_pool_threads(pool), threads);
        copies(&f, many);
        must(ct_step_many(pool, COUNT, many, f.controls, statuses, reports), NULL);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(statuses[i], CT_OK);
            assert_true(reports[i].converged);
            assert_same(single[i], many[i]);
            ct_state_free(many[i]);
        }
        ct_pool_free(pool);
    }
    for (int i = 0; i < COUNT; i++) ct_state_free(single[i]);
    end(&f);
}

static void one_that_fails_keeps_no_other(void** unused) {
    fixture f = begin();
    ct_state* many[COUNT];
    ct_status statuses[COUNT];
    ct_step_report reports[COUNT];
    ct_pool* pool = NULL;
    must(ct_pool_create(&pool, f.sim.model, 2, NULL), NULL);
    copies(&f, many);
    f.controls[2 * f.control] = NAN;
    must(ct_step_many(pool, COUNT, many, f.controls, statuses, reports), NULL);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(statuses[i], i == 2 ? CT_BAD_ARGUMENT : CT_OK);
        assert_int_equal(ct_state_step_index(many[i]), i == 2 ? 0 : 1);
        assert_int_equal(reports[i].message[0] != 0, i == 2);
        ct_state_free(many[i]);
    }
    ct_pool_free(pool);
    end(&f);
}

static bool seed_last(int step, const ct_state* state, double* bar, void* user) {
    const double* x = ct_state_positions(state);
    if (step == STEPS) bar[1] += *(const double*)user + x[1], bar[30] += 1;
    return step == STEPS;
}

static void many_gradients_have_the_bits_of_single_ones(void** unused) {
    fixture f = begin();
    size_t row = STEPS * f.control;
    double weight[COUNT],
        *single = calloc(COUNT * row, sizeof(double)), *many = calloc(COUNT * row, sizeof(double)),
        *initial = calloc(COUNT * f.size, sizeof(double)), *initials = calloc(COUNT * f.size, sizeof(double));
    ct_tape* tapes[COUNT];
    const ct_state* from[COUNT];
    void* users[COUNT];
    ct_values gradients[COUNT] = {{{0}}};
    ct_status statuses[COUNT];
    ct_pool* pool = NULL;
    must(ct_pool_create(&pool, f.sim.model, 2, NULL), NULL);
    for (int i = 0; i < COUNT; i++) {
        weight[i] = 1 + i, users[i] = &weight[i], from[i] = f.sim.state;
        must(ct_tape_create(&tapes[i], f.sim.model, STEPS, 0, NULL), NULL);
        const double* controls = f.controls + (size_t)i * row;
        must(ct_rollout(f.sim.model, f.sim.work, tapes[i], from[i], STEPS, controls, NULL, NULL, NULL), NULL);
        gradients[i].of[CT_QUANTITY_CONTROL] = single + (size_t)i * row;
        must(ct_backward_states(f.sim.model, f.sim.work, tapes[i], controls, seed_last, users[i],
                                initial + (size_t)i * f.size, &gradients[i], NULL),
             NULL);
        gradients[i].of[CT_QUANTITY_CONTROL] = many + (size_t)i * row;
    }
    must(ct_rollout_many(pool, COUNT, tapes, from, STEPS, f.controls, NULL, NULL, statuses, NULL), NULL);
    must(ct_backward_many(pool, COUNT, tapes, f.controls, seed_last, users, initials, gradients, statuses,
                          NULL),
         NULL);
    assert_memory_equal(single, many, COUNT * row * sizeof(double));
    assert_memory_equal(initial, initials, COUNT * f.size * sizeof(double));
    assert_true(single[0] != single[row]);
    for (int i = 0; i < COUNT; i++) ct_tape_free(tapes[i]);
    free(single), free(many), free(initial), free(initials);
    ct_pool_free(pool);
    end(&f);
}

static bool count_down(void* user) { return (*(int*)user)-- <= 0; }

static void cancelled_work_ends_at_once_and_changes_nothing(void** unused) {
    fixture f = begin();
    ct_state* before = NULL;
    ct_tape* tape = NULL;
    ct_rollout_report report;
    int left = 0;
    must(ct_state_create(&before, f.sim.model, NULL), NULL);
    must(ct_tape_create(&tape, f.sim.model, STEPS, 0, NULL), NULL);
    ct_work_set_cancel(f.sim.work, count_down, &left);
    assert_int_equal(ct_step(f.sim.model, f.sim.work, f.sim.state, NULL, &report.last), CT_CANCELLED);
    assert_same(before, f.sim.state);
    assert_string_equal(report.last.message, ct_status_text(CT_CANCELLED));
    left = 2;
    assert_int_equal(
        ct_rollout(f.sim.model, f.sim.work, tape, f.sim.state, STEPS, f.controls, NULL, NULL, &report),
        CT_CANCELLED);
    assert_int_equal(report.steps, 3);  // the third was begun
    left = 1000;
    must(ct_rollout(f.sim.model, f.sim.work, tape, f.sim.state, STEPS, f.controls, NULL, NULL, NULL), NULL);
    left = 1;
    double weight = 1, *bar = calloc(f.size, sizeof(double));
    assert_int_equal(
        ct_backward_states(f.sim.model, f.sim.work, tape, f.controls, seed_last, &weight, bar, NULL, NULL),
        CT_CANCELLED);
    ct_work_set_cancel(f.sim.work, NULL, NULL);
    must(ct_backward_states(f.sim.model, f.sim.work, tape, f.controls, seed_last, &weight, bar, NULL, NULL),
         NULL);
    free(bar);
    ct_tape_free(tape);
    ct_state_free(before);
    end(&f);
}

// ---- problems ------------------------------------------------------------------------------

typedef struct motion {
    double last[3];
    int states;
} motion;

static void keep(int step, const ct_state* state, void* user) {
    motion* m = user;
    assert_int_equal(m->states++, step);
    memcpy(m->last, ct_state_positions(state) + 3 * 7, sizeof m->last);
}

static void problem_shows_its_motion_and_can_be_cancelled(void** unused) {
    ct_scene* scene = load("finger");
    ct_settings settings = ct_scene_settings(scene);
    ct_error error;
    ct_problem* problem = NULL;
    settings.duration = STEPS * settings.time_step;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double *y = calloc((size_t)ct_problem_size(problem), sizeof(double)), loss;
    ct_problem_start(problem, y);
    for (int i = 0; i < ct_problem_size(problem); i++) y[i] += 0.1;
    const ct_model* model = ct_problem_model(problem);
    double* controls = calloc(STEPS * (size_t)ct_model_control_size(model), sizeof(double));
    motion m = {0};
    must(ct_problem_rollout(problem, y, keep, &m, controls, NULL, &error), &error);
    assert_int_equal(m.states, STEPS + 1);
    // the same steps, one by one
    sim own = start(scene, 1);
    for (int i = 0; i < STEPS; i++)
        must(ct_step(own.model, own.work, own.state, controls + i * ct_model_control_size(model), NULL),
             NULL);
    assert_memory_equal(m.last, ct_state_positions(own.state) + 3 * 7, sizeof m.last);

    // the last state has the whole loss, and its derivative
    double single, *bar = calloc(ct_model_state_first(model, CT_STATE_PARTS), sizeof(double)),
                   *slopes = calloc((size_t)ct_problem_size(problem), sizeof(double));
    must(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), &error);
    must(ct_problem_state(problem, STEPS, own.state, &single, bar), NULL);
    assert_true(fabs(single - loss) <= 1e-12 * fabs(loss));
    const size_t n = 3 * (size_t)ct_model_summary(model).nvert;
    double *x = malloc(n * sizeof(double)), slope = 0, sides[2];
    for (int side = 0; side < 2; side++) {
        memcpy(x, ct_state_positions(own.state), n * sizeof(double));
        for (size_t i = 0; i < n; i++) x[i] += (side ? -1e-5 : 1e-5) * cos((double)i);
        must(ct_state_set(own.state, x, ct_state_velocities(own.state)), NULL);
        must(ct_problem_state(problem, STEPS, own.state, &sides[side], NULL), NULL);
        for (size_t i = 0; i < n; i++) x[i] -= (side ? -1e-5 : 1e-5) * cos((double)i);
        must(ct_state_set(own.state, x, ct_state_velocities(own.state)), NULL);
    }
    for (size_t i = 0; i < n; i++) slope += bar[i] * cos((double)i);
    assert_true(fabs((sides[0] - sides[1]) / 2e-5 - slope) <= 1e-6 * fabs(slope));
    // dvalue/dy
    double *low = calloc((size_t)ct_problem_size(problem), sizeof(double)),
           *high = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_slopes(problem, y, slopes);
    y[0] -= 1e-5, ct_problem_values(problem, y, low);
    y[0] += 2e-5, ct_problem_values(problem, y, high);
    y[0] -= 1e-5;
    assert_true(fabs((high[0] - low[0]) / 2e-5 - slopes[0]) <= 1e-6 * fabs(slopes[0]));
    free(bar), free(slopes), free(x), free(low), free(high);

    int left = 2;
    ct_problem_set_cancel(problem, count_down, &left);
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_CANCELLED);
    assert_true(isnan(loss));
    left = 2 * STEPS + 2;
    ct_optimize_def def = ct_optimize_def_default();
    assert_int_equal(ct_problem_optimize(problem, &def, y, NULL, NULL, NULL, &error), CT_CANCELLED);
    ct_problem_set_cancel(problem, NULL, NULL);
    must(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), &error);
    free(y);
    free(controls);
    ct_problem_free(problem);
    stop(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_steps_have_the_bits_of_single_ones),
        cmocka_unit_test(one_that_fails_keeps_no_other),
        cmocka_unit_test(many_gradients_have_the_bits_of_single_ones),
        cmocka_unit_test(cancelled_work_ends_at_once_and_changes_nothing),
        cmocka_unit_test(problem_shows_its_motion_and_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
