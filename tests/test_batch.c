// Batches in one process: several callers, searches, errors.
#include "batch_scenes.h"

// ---- several callers -----------------------------------------------------------------------

enum { CALLERS = 4, POINTS = 4 };

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
    c->outcome.result = calloc(POINTS, sizeof(ct_evaluation));
    for (int k = 0; k < POINTS; k += 2)
        ct_batch_evaluate(c->batch, 2, c->y + (size_t)k * c->outcome.n,
                          c->outcome.gradient + (size_t)k * c->outcome.n, c->outcome.result + k, NULL);
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
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
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

// One worker notes the order of its points, which it knows by the velocity that they begin with; it waits at
// the first one until both callers stand in the queue.
typedef struct diary {
    ct_batch* batch;
    int count;
    double order[32];
} diary;

static void note_order(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                       double* q_bar, void* user) {
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
    ct_evaluation results[8];
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
    ct_scene* scene = shortened("suspension_bridge", 0.06, NULL);
    ct_batch *one = open_batch(scene, 1, NULL), *three = open_batch(scene, 3, NULL);
    size_t bytes = (size_t)ct_problem_size(ct_batch_problem(one)) * sizeof(double);
    const ct_method methods[2] = {CT_METHOD_LBFGS, CT_METHOD_CMAES};
    search alone[2], beside[2];
    for (int i = 0; i < 2; i++) {
        ct_optimize_def def = ct_optimize_def_default();
        def.method = methods[i];
        def.iterations = i ? 18 : 5;
        def.population = 6;
        alone[i] = (search){.batch = one, .def = def};
        beside[i] = (search){.batch = three, .def = def};
        look(&alone[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&beside[i].thread, NULL, look, &beside[i]), 0);
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
    ct_evaluation results[2];
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
        cmocka_unit_test(several_threads_may_ask_at_the_same_time),
        cmocka_unit_test(callers_are_served_in_turn),
        cmocka_unit_test(searches_do_not_depend_on_the_workers_nor_on_one_another),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(scenes_without_parameters_are_refused),
        cmocka_unit_test(no_number_of_workers_means_every_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
