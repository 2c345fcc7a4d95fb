// Batches in one process: results that depend on the point alone, several callers, searches, errors.
#include "batch_scenes.h"

// ---- the point alone -----------------------------------------------------------------------

// B on workers that have done nothing before, after points far away, and among several workers; and without its gradient.
static void check_scene(ct_scene* scene, double near, double far) {
    ct_batch *fresh = open_batch(scene, 1, NULL), *used = open_batch(scene, 1, NULL), *several = open_batch(scene, 3, NULL);
    size_t n = (size_t)ct_problem_size(ct_batch_problem(fresh));
    double *B = points_of(fresh, 1, near, 1), *others = points_of(fresh, 2, far, 2), *all = calloc(6 * n, sizeof(double));
    outcome expected = evaluate_all(fresh, 1, B), before = evaluate_all(used, 2, others), after = evaluate_all(used, 1, B);
    assert_same(&expected, &after);
    for (int k = 0; k < 6; k++) memcpy(all + (size_t)k * n, k % 2 ? B : others + (size_t)(k / 2 % 2) * n, n * sizeof(double));
    outcome mixed = evaluate_all(several, 6, all);
    for (int k = 0; k < 6; k++) {
        if (k % 2) assert_same_point(&expected, 0, &mixed, k);
        else assert_same_point(&before, k / 2 % 2, &mixed, k);
    }
    assert_true(before.result[0].loss != expected.result[0].loss);
    assert_true(expected.result[0].forward_seconds > 0 && expected.result[0].backward_seconds > 0);

    ct_batch_result alone;
    ct_error error = {0};
    must(ct_batch_evaluate(used, 1, B, NULL, &alone, &error), &error);
    assert_memory_equal(&alone.loss, &expected.result[0].loss, sizeof(double));
    assert_true(alone.backward_seconds == 0);

    outcome* outcomes[] = {&expected, &before, &after, &mixed};
    for (int i = 0; i < 4; i++) free_outcome(outcomes[i]);
    free(B), free(others), free(all);
    ct_batch_free(fresh), ct_batch_free(used), ct_batch_free(several);
    ct_scene_free(scene);
}

static void stiffness_leaves_no_trace(void** state) { check_scene(shortened("suspension_bridge", 0.1, NULL), 0.3, 3); }

static void contact_leaves_no_trace(void** state) {
    check_scene(shortened("incline", 0.1, "[{\"type\": \"friction\", \"lower\": 0, \"upper\": 1}, {\"type\": \"young\", \"per\": \"element\"},"
                                          " {\"type\": \"density\"}]"), 0.3, 2);
}

static void flight_leaves_no_trace(void** state) { check_scene(shortened("throw", 0.4, NULL), 0.1, 1); }
static void muscles_and_water_leave_no_trace(void** state) { check_scene(shortened("starfish", 0.2, NULL), 0.3, 1); }
static void skeletons_leave_no_trace(void** state) { check_scene(shortened("arm", 0.1, NULL), 0.1, 2); }

// A rollout that ends early leaves none either; its point counts as not converged, and the others go on.
static void failures_leave_no_trace(void** state) {
    ct_scene* scene = shortened("throw", 0.2, NULL);
    ct_batch *fresh = open_batch(scene, 1, NULL), *used = open_batch(scene, 1, NULL);
    int n = ct_problem_size(ct_batch_problem(fresh));
    double* y = points_of(fresh, 3, 0.1, 3);
    outcome expected = evaluate_all(fresh, 3, y);
    y[n] = 1e200;
    double* gradients = calloc(3 * (size_t)n, sizeof(double));
    gradients[n] = 1;
    ct_batch_result results[3];
    ct_error error = {0};
    assert_int_equal(ct_batch_evaluate(used, 3, y, gradients, results, &error), CT_OK);
    assert_int_equal(results[1].status, CT_NOT_CONVERGED);
    assert_true(isnan(results[1].loss) && isnan(results[1].measure));
    assert_true(gradients[n] == 0);
    assert_int_equal(error.code, CT_NOT_CONVERGED);
    assert_non_null(strstr(error.message, "step"));
    for (int k = 0; k < 3; k += 2) {
        assert_memory_equal(&results[k].loss, &expected.result[k].loss, sizeof(double));
        assert_memory_equal(gradients + k * n, expected.gradient + k * n, (size_t)n * sizeof(double));
    }
    free_outcome(&expected);
    free(y), free(gradients);
    ct_batch_free(fresh), ct_batch_free(used);
    ct_scene_free(scene);
}

static void results_are_those_of_the_problem(void** state) {
    ct_scene* scene = shortened("suspension_bridge", 0.1, NULL);
    ct_batch* batch = open_batch(scene, 2, NULL);
    assert_int_equal(ct_batch_workers(batch), 2);
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    size_t n = (size_t)ct_problem_size(problem);
    assert_int_equal(ct_problem_size(ct_batch_problem(batch)), n);
    double *y = points_of(batch, 4, 0.5, 4), *gradient = calloc(n, sizeof(double)), loss;
    outcome o = evaluate_all(batch, 4, y);
    for (size_t k = 0; k < 4; k++) {
        ct_problem_report report;
        must(ct_problem_evaluate(problem, y + k * n, &loss, gradient, &report, &error), &error);
        assert_true(fabs(loss - o.result[k].loss) < 1e-6 * loss);
        assert_true(fabs(report.measure - o.result[k].measure) < 1e-6 * report.measure);
        double difference = 0, size = 0;
        for (size_t i = 0; i < n; i++) difference += pow(gradient[i] - o.gradient[k * n + i], 2), size += gradient[i] * gradient[i];
        assert_true(sqrt(difference / size) < 1e-5);
    }
    free_outcome(&o);
    free(y), free(gradient);
    ct_problem_free(problem);
    ct_batch_free(batch);
    ct_scene_free(scene);
}

// ---- several callers -----------------------------------------------------------------------

enum { CALLERS = 4, POINTS = 6 };

typedef struct caller {
    pthread_t thread;
    ct_batch* batch;
    const double* y;
    outcome outcome;
} caller;

static void* call(void* user) {
    caller* c = user;
    c->outcome = (outcome){.count = POINTS, .n = (size_t)ct_problem_size(ct_batch_problem(c->batch))};
    c->outcome.gradient = calloc(POINTS * c->outcome.n, sizeof(double));
    c->outcome.result = calloc(POINTS, sizeof(ct_batch_result));
    for (int k = 0; k < POINTS; k += 2)
        ct_batch_evaluate(c->batch, 2, c->y + (size_t)k * c->outcome.n, c->outcome.gradient + (size_t)k * c->outcome.n, c->outcome.result + k, NULL);
    return NULL;
}

static void several_threads_may_ask_at_the_same_time(void** state) {
    ct_scene* scene = shortened("suspension_bridge", 0.06, NULL);
    ct_batch* batch = open_batch(scene, 2, NULL);
    caller callers[CALLERS];
    outcome expected[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.batch = batch, .y = points_of(batch, POINTS, 1, 10 + i)};
        expected[i] = evaluate_all(batch, POINTS, callers[i].y);
    }
    for (int i = 0; i < CALLERS; i++) assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_same(&expected[i], &callers[i].outcome);
        free_outcome(&expected[i]);
        free_outcome(&callers[i].outcome);
        free((double*)callers[i].y);
    }
    ct_batch_free(batch);
    ct_scene_free(scene);
}

// One worker notes the order of its points, which it knows by the velocity that they begin with; it waits at the first one until both
// callers stand in the queue.
typedef struct diary {
    ct_batch* batch;
    int count;
    double order[32];
} diary;

static void note_order(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar, void* user) {
    diary* d = user;
    double id = round(100 * ct_state_velocities(state)[0]);
    if (step || x_bar) return;
    for (bool both = false; !both;) {
        pthread_mutex_lock(&d->batch->lock);
        if (!d->count || d->order[d->count - 1] != id) d->order[d->count++] = id;
        both = d->count > 1 || (d->batch->first && d->batch->first->following);
        pthread_mutex_unlock(&d->batch->lock);
        sched_yield();
    }
}

typedef struct line {  // points with velocities first, first + 1, ... in cm/s
    pthread_t thread;
    ct_batch* batch;
    int first, count;
} line;

static void* stand_in_line(void* user) {
    line* l = user;
    int n = ct_problem_size(ct_batch_problem(l->batch));
    double* y = points_of(l->batch, l->count, 0, 1);
    ct_batch_result results[8];
    for (int k = 0; k < l->count; k++) y[k * n] = 0.01 * (l->first + k);
    ct_batch_evaluate(l->batch, l->count, y, NULL, results, NULL);
    free(y);
    return NULL;
}

static void callers_are_served_in_turn(void** state) {
    ct_scene* scene = shortened("throw", 0.02, "[{\"type\": \"velocity\"}]");
    ct_batch* batch = open_batch(scene, 1, NULL);
    diary d = {.batch = batch};
    ct_problem_set_term(batch->local[0].problem, note_order, &d);
    line many = {.batch = batch, .first = 1, .count = 6}, few = {.batch = batch, .first = 101, .count = 3};
    pthread_create(&many.thread, NULL, stand_in_line, &many);
    for (bool begun = false; !begun; sched_yield()) {
        pthread_mutex_lock(&batch->lock);
        begun = d.count > 0;
        pthread_mutex_unlock(&batch->lock);
    }
    pthread_create(&few.thread, NULL, stand_in_line, &few);
    pthread_join(many.thread, NULL);
    pthread_join(few.thread, NULL);
    const double expected[] = {1, 2, 101, 3, 102, 4, 103, 5, 6};
    assert_int_equal(d.count, 9);
    for (int i = 0; i < 9; i++) assert_int_equal((int)d.order[i], (int)expected[i]);
    ct_batch_free(batch);
    ct_scene_free(scene);
}

// ---- searches ------------------------------------------------------------------------------

typedef struct search {
    pthread_t thread;
    ct_batch* batch;
    ct_optimize_def def;
    double* y;
    ct_optimize_report report;
    ct_status status;
} search;

static void* look(void* user) {
    search* s = user;
    s->y = points_of(s->batch, 1, 0, 1);
    s->status = ct_batch_optimize(s->batch, &s->def, s->y, NULL, NULL, &s->report, NULL);
    return NULL;
}

// A search alone on one worker, and beside another one on three.
static void searches_do_not_depend_on_the_workers_nor_on_one_another(void** state) {
    ct_scene* scene = shortened("suspension_bridge", 0.1, NULL);
    ct_batch *one = open_batch(scene, 1, NULL), *three = open_batch(scene, 3, NULL);
    size_t bytes = (size_t)ct_problem_size(ct_batch_problem(one)) * sizeof(double);
    const ct_method methods[2] = {CT_METHOD_LBFGS, CT_METHOD_ADAM};
    search alone[2], beside[2];
    for (int i = 0; i < 2; i++) {
        ct_optimize_def def = ct_optimize_def_default();
        def.method = methods[i];
        def.iterations = 8;
        alone[i] = (search){.batch = one, .def = def};
        beside[i] = (search){.batch = three, .def = def};
        look(&alone[i]);
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&beside[i].thread, NULL, look, &beside[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(beside[i].thread, NULL);
        assert_int_equal(alone[i].status, CT_OK);
        assert_int_equal(beside[i].status, CT_OK);
        assert_int_equal(alone[i].report.iterations, beside[i].report.iterations);
        assert_memory_equal(&alone[i].report.loss, &beside[i].report.loss, sizeof(double));
        assert_memory_equal(alone[i].y, beside[i].y, bytes);
        free(alone[i].y), free(beside[i].y);
    }
    ct_batch_free(one), ct_batch_free(three);
    ct_scene_free(scene);
}

// ---- errors --------------------------------------------------------------------------------

static void bad_arguments_are_refused(void** state) {
    ct_scene* scene = shortened("throw", 0.02, NULL);
    ct_batch* batch = NULL;
    ct_error error = {0};
    assert_int_equal(ct_batch_create(&batch, scene, -1, NULL, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "workers"));
    assert_null(batch);
    assert_int_equal(ct_batch_create(&batch, scene, 1000000, NULL, NULL), CT_BAD_ARGUMENT);
    batch = open_batch(scene, 2, NULL);
    ct_batch_result results[2];
    double* y = points_of(batch, 2, 0, 1);
    assert_int_equal(ct_batch_evaluate(batch, -1, y, NULL, results, &error), CT_BAD_ARGUMENT);
    assert_int_equal(ct_batch_evaluate(batch, 0, y, NULL, results, &error), CT_OK);
    y[ct_problem_size(ct_batch_problem(batch))] = NAN;
    assert_int_equal(ct_batch_evaluate(batch, 2, y, NULL, results, &error), CT_BAD_ARGUMENT);
    assert_int_equal(results[0].status, CT_OK);
    assert_int_equal(results[1].status, CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "not finite"));
    assert_int_equal(ct_batch_serve(batch, &error), CT_BAD_ARGUMENT);
    free(y);
    ct_batch_free(batch);
    ct_batch_free(NULL);
    ct_scene_free(scene);
}

static void scenes_without_parameters_are_refused(void** state) {
    ct_scene* scene = shortened("throw", 0.02, "[]");
    ct_batch* batch = NULL;
    ct_error error = {0};
    assert_int_equal(ct_batch_create(&batch, scene, 2, NULL, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "parameters"));
    assert_null(batch);
    ct_scene_free(scene);
}

static void no_number_of_workers_means_every_core(void** state) {
    ct_scene* scene = shortened("throw", 0.02, NULL);
    ct_batch* batch = open_batch(scene, 0, NULL);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(ct_batch_workers(batch), CPU_COUNT(&set));
    ct_batch_free(batch);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiffness_leaves_no_trace),
        cmocka_unit_test(contact_leaves_no_trace),
        cmocka_unit_test(flight_leaves_no_trace),
        cmocka_unit_test(muscles_and_water_leave_no_trace),
        cmocka_unit_test(skeletons_leave_no_trace),
        cmocka_unit_test(failures_leave_no_trace),
        cmocka_unit_test(results_are_those_of_the_problem),
        cmocka_unit_test(several_threads_may_ask_at_the_same_time),
        cmocka_unit_test(callers_are_served_in_turn),
        cmocka_unit_test(searches_do_not_depend_on_the_workers_nor_on_one_another),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(scenes_without_parameters_are_refused),
        cmocka_unit_test(no_number_of_workers_means_every_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
