// Results of a batch depend on their points alone: nothing that a worker did before leaves a trace in them.
#include "batch_scenes.h"

// B on workers that have done nothing before, after points far away, and among several workers; and without
// its gradient.
static void check_scene(ct_scene* scene, double near, double far) {
    ct_batch *fresh = open_batch(scene, 1, NULL), *used = open_batch(scene, 1, NULL),
             *several = open_batch(scene, 2, NULL);
    size_t n = (size_t)ct_problem_size(ct_batch_problem(fresh));
    double *B = points_of(fresh, 1, near, 1), *others = points_of(fresh, 2, far, 2),
           *all = calloc(6 * n, sizeof(double));
    outcome expected = evaluate_all(fresh, 1, B), before = evaluate_all(used, 2, others),
            after = evaluate_all(used, 1, B);
    assert_same(&expected, &after);
    for (int k = 0; k < 6; k++)
        memcpy(all + (size_t)k * n, k % 2 ? B : others + (size_t)(k / 2 % 2) * n, n * sizeof(double));
    outcome mixed = evaluate_all(several, 6, all);
    for (int k = 0; k < 6; k++) {
        if (k % 2) assert_same_point(&expected, 0, &mixed, k);
        else assert_same_point(&before, k / 2 % 2, &mixed, k);
    }
    assert_true(before.result[0].loss != expected.result[0].loss);
    assert_true(expected.result[0].forward_seconds > 0 && expected.result[0].backward_seconds > 0);

    ct_evaluation alone;
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

static void stiffness_leaves_no_trace(void** state) {
    check_scene(shortened("suspension_bridge", 0.1, NULL), 0.3, 3);
}

static void contact_leaves_no_trace(void** state) {
    check_scene(shortened("incline", 0.1,
                          "[{\"type\": \"friction\", \"lower\": 0, \"upper\": 1}, {\"type\": \"young\", "
                          "\"per\": \"element\"},"
                          " {\"type\": \"density\"}]"),
                0.3, 2);
}

static void flight_leaves_no_trace(void** state) { check_scene(shortened("throw", 0.4, NULL), 0.1, 1); }

static void muscles_and_water_leave_no_trace(void** state) {
    check_scene(shortened("starfish", 0.1,
                          "[{\"type\": \"control\", \"control\": \"stroke1\", \"shape\": \"spline\", "
                          "\"knots\": 3, \"start\": 0.2}]"),
                0.3, 1);
}

static void skeletons_leave_no_trace(void** state) { check_scene(shortened("arm", 0.05, NULL), 0.1, 2); }

// A rollout that ends early leaves none either; its point counts as not converged, and the others go on.
static void failures_leave_no_trace(void** state) {
    ct_scene* scene = shortened("throw", 0.2, NULL);
    ct_batch *fresh = open_batch(scene, 1, NULL), *used = open_batch(scene, 1, NULL);
    int n = ct_problem_size(ct_batch_problem(fresh));
    double* y = points_of(fresh, 3, 0.1, 3);
    outcome expected = evaluate_all(fresh, 3, y);
    y[n] = 1e307;
    double* gradients = calloc(3 * (size_t)n, sizeof(double));
    gradients[n] = 1;
    ct_evaluation results[3];
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
        for (size_t i = 0; i < n; i++)
            difference += pow(gradient[i] - o.gradient[k * n + i], 2), size += gradient[i] * gradient[i];
        assert_true(sqrt(difference / size) < 1e-5);
    }
    free_outcome(&o);
    free(y), free(gradient);
    ct_problem_free(problem);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
