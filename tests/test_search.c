// Methods without gradients, and what all methods share: known minima, bounds, failures, budgets, seeds,
// noise, restarts.
#include "build.h"
#include "optim/nlopt_library.h"
#include "optim/search.h"

enum { MOST = 1000 };

typedef enum shape { SPHERE, ELLIPSOID, VALLEY, SLOPES, WELLS } shape;

typedef struct function {
    shape shape;
    int n;
    double wall;                 // fails where y0 is above; 0: nowhere
    int fail_every;              // every such call fails but the first; 0: none
    int calls, failed, largest;  // largest: number of points in a set
    double lower, upper;         // where lower < upper: asserted for every point
    uint64_t hash;               // of all points in order
    bool touched[MOST];          // components that were ever not `start`
    double start;
    double first[MOST];  // the first point
} function;

// sum_i 10^(6 i / (n - 1)) r_i^2, r the mirror image of y
static double ellipsoid(const double* y, int n) {
    double sum = 0, along = 0;
    for (int i = 0; i < n; i++) along += y[i] / sqrt(n);
    for (int i = 0; i < n; i++) {
        double r = y[i] - 2 * along / sqrt(n);
        sum += pow(10, 6.0 * i / (n - 1)) * r * r;
    }
    return sum;
}

static double value(shape shape, const double* y, int n) {
    double sum = 0;
    if (shape == ELLIPSOID) return ellipsoid(y, n);
    for (int i = 0; i < n; i++) {
        double d = y[i] - 0.3, w = y[i] * y[i] - 1;
        if (shape == SPHERE) sum += d * d;
        if (shape == SLOPES) sum += i % 2 ? d * d : 1 - y[i];  // minimum 0 where all even y are 1
        // the well near -1.05 is the deeper one, about 0
        if (shape == WELLS) sum += w * w + 0.4 * (y[i] + 1.0487);
        if (shape == VALLEY && i + 1 < n)
            sum += (1 - y[i]) * (1 - y[i]) + 100 * pow(y[i + 1] - y[i] * y[i], 2);
    }
    return sum;
}

static void note(function* f, const double* y) {
    if (f->calls++ == 0) memcpy(f->first, y, (size_t)f->n * sizeof *y);
    for (int i = 0; i < f->n; i++) {
        uint64_t bits;
        memcpy(&bits, y + i, sizeof bits);
        f->hash = (f->hash ^ bits) * 0x100000001b3u + (f->hash >> 29);
        if (y[i] != f->start) f->touched[i] = true;
        if (f->lower < f->upper) assert_true(y[i] >= f->lower && y[i] <= f->upper);
    }
}

static ct_status evaluate(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                          ct_error* error) {
    function* f = user;
    if (count > f->largest) f->largest = count;
    for (int k = 0; k < count; k++, y += f->n) {
        note(f, y);
        bool fails = (f->wall != 0 && y[0] > f->wall) || (f->fail_every && f->calls % f->fail_every == 0);
        f->failed += fails;
        results[k].status = fails ? CT_NOT_CONVERGED : CT_OK;
        results[k].measure = 2 * f->calls;
        if (!fails) results[k].loss = value(f->shape, y, f->n);
        if (!gradients) continue;
        assert_int_equal(f->shape, WELLS);
        for (int i = 0; i < f->n; i++) gradients[k * f->n + i] = 4 * y[i] * (y[i] * y[i] - 1) + 0.4;
    }
    return CT_OK;
}

typedef struct outcome {
    ct_status status;
    ct_optimize_report report;
    double y[MOST];
} outcome;

static outcome minimise_sets(function* f, const ct_optimize_def* def, int most, ct_on_progress progress,
                             void* user) {
    static outcome o;
    static double lower[MOST], upper[MOST];
    bool bounded = f->lower < f->upper;
    for (int i = 0; i < f->n; i++) {
        o.y[i] = f->start;
        lower[i] = bounded ? f->lower : -INFINITY;
        upper[i] = bounded ? f->upper : INFINITY;
    }
    ct_function function = {
        .size = f->n, .lower = lower, .upper = upper, .evaluate = evaluate, .user = f, .most = most};
    ct_error error;
    o.status = ct_function_optimize(&function, def, o.y, progress, user, &o.report, &error);
    return o;
}

static outcome minimise(function* f, const ct_optimize_def* def) {
    return minimise_sets(f, def, 0, NULL, NULL);
}

static ct_optimize_def settings(int method, int iterations) {
    ct_optimize_def def = ct_optimize_def_default();
    def.method = (ct_method)method;
    def.iterations = iterations;
    def.tolerance = 0;
    return def;
}

enum { FIRST = CT_METHOD_CMAES, LAST = CT_METHOD_NELDER_MEAD };

// ---- known minima --------------------------------------------------------------------------

static void every_method_finds_known_minima(void** state) {
    (void)state;
    const struct {
        shape shape;
        int n, iterations[4];
        double loss[4];
    } cases[] = {
        {SPHERE, 1, {200, 1000, 20, 60}, {1e-10, 1e-5, 1e-10, 1e-10}},
        {SPHERE, 10, {2500, 10000, 60, 3000}, {1e-10, 1e-2, 1e-10, 1e-10}},
        {VALLEY, 2, {1500, 10000, 500, 500}, {1e-10, 1e-2, 1e-10, 1e-10}},
    };
    for (int c = 0; c < 3; c++)
        for (int method = FIRST; method <= LAST; method++) {
            int k = method - FIRST;
            function f = {.shape = cases[c].shape, .n = cases[c].n, .start = -1};
            ct_optimize_def def = settings(method, cases[c].iterations[k]);
            outcome o = minimise(&f, &def);
            print_message("shape %d, method %d: %.1e after %d\n", c, method, o.report.loss,
                          o.report.iterations);
            assert_int_equal(o.status, CT_OK);
            assert_true(o.report.loss <= cases[c].loss[k]);
            assert_true(fabs(value(f.shape, o.y, f.n) - o.report.loss) == 0);
        }
}

// Condition 1e6 and not along the axes: about 6,000 evaluations in the tutorial's experiments.
static void cmaes_learns_an_ill_conditioned_ellipsoid(void** state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        function f = {.shape = ELLIPSOID, .n = 10, .start = 1};
        ct_optimize_def def = settings(CT_METHOD_CMAES, 8000);
        def.target = 1e-10;
        def.seed = seed;
        outcome o = minimise(&f, &def);
        print_message("seed %d: %.1e after %d\n", (int)seed, o.report.loss, o.report.iterations);
        assert_true(o.report.loss <= 1e-10);
    }
}

static void cmaes_keeps_a_diagonal_for_many_parameters(void** state) {
    (void)state;
    function f = {.shape = SPHERE, .n = 601, .start = 0, .lower = 0, .upper = 1};
    ct_optimize_def def = settings(CT_METHOD_CMAES, 12000);
    outcome o = minimise(&f, &def);
    print_message("%.2e of %.2e\n", o.report.loss, 0.09 * f.n);
    assert_true(o.report.loss < 0.1 * 0.09 * f.n);
}

// ---- bounds --------------------------------------------------------------------------------

static void bounds_hold_and_minima_on_them_are_found(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++)
        for (int s = 0; s < 3; s++) {
            function f = {.shape = SLOPES, .n = 6, .start = (double[]){0, 0.9, 1}[s], .lower = 0, .upper = 1};
            ct_optimize_def def = settings(method, 8000);
            outcome o = minimise(&f, &def);
            double least = method == CT_METHOD_EVOLUTION     ? 1e-4
                           : method == CT_METHOD_NELDER_MEAD ? 1e-3
                                                             : 1e-10;
            print_message("method %d from %g: %.1e after %d: %s\n", method, f.start, o.report.loss,
                          o.report.iterations, o.report.reason);
            assert_int_equal(o.status, CT_OK);
            assert_true(o.report.loss <= least);
        }
}

static void functions_without_bounds_have_none(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        double y[3] = {5, 5, 5};
        function f = {.shape = SPHERE, .n = 3};
        ct_function g = {.size = 3, .evaluate = evaluate, .user = &f};
        ct_optimize_def def = settings(method, 3000);
        ct_optimize_report report;
        assert_int_equal(ct_function_optimize(&g, &def, y, NULL, NULL, &report, NULL), CT_OK);
        assert_true(report.loss < 1e-2);
    }
}

static void functions_that_are_none_are_refused(void** state) {
    (void)state;
    double lower[2] = {0, 1}, upper[2] = {1, 0}, y[2] = {0, 0};
    function f = {.shape = SPHERE, .n = 2};
    ct_optimize_def def = settings(FIRST, 10);
    ct_error error;
    ct_function crossed = {.size = 2, .lower = lower, .upper = upper, .evaluate = evaluate, .user = &f};
    assert_int_equal(ct_function_optimize(&crossed, &def, y, NULL, NULL, NULL, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "number 1 are 1 and 0"));
    ct_function empty = {.size = 0, .evaluate = evaluate, .user = &f}, silent = {.size = 2};
    assert_int_equal(ct_function_optimize(&empty, &def, y, NULL, NULL, NULL, &error), CT_BAD_ARGUMENT);
    assert_int_equal(ct_function_optimize(&silent, &def, y, NULL, NULL, NULL, &error), CT_BAD_ARGUMENT);
    assert_int_equal(f.calls, 0);
}

static void bounds_that_meet_leave_a_parameter_where_it_is(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        double lower[3] = {-2, 0.7, -2}, upper[3] = {2, 0.7, 2}, y[3] = {0, 0, 0};
        function f = {.shape = SPHERE, .n = 3};
        ct_function g = {.size = 3, .lower = lower, .upper = upper, .evaluate = evaluate, .user = &f};
        ct_optimize_def def = settings(method, 3000);
        ct_optimize_report report;
        assert_int_equal(ct_function_optimize(&g, &def, y, NULL, NULL, &report, NULL), CT_OK);
        assert_true(y[1] == 0.7 && fabs(y[0] - 0.3) < 1e-2 && fabs(y[2] - 0.3) < 1e-2);

        memcpy(upper, lower, sizeof upper);  // nothing is free at all
        assert_int_equal(ct_function_optimize(&g, &def, y, NULL, NULL, &report, NULL), CT_OK);
        assert_true(y[0] == -2 && y[1] == 0.7 && y[2] == -2);
    }
}

// ---- seeds, budgets, stopping --------------------------------------------------------------

static void seed_determines_the_sequence_bit_for_bit(void** state) {
    (void)state;
    for (int method = CT_METHOD_LBFGS; method <= LAST; method++) {
        uint64_t hash[4];
        for (int run = 0; run < 4; run++) {
            function f = {.shape = WELLS, .n = 5, .start = 0.2};
            ct_optimize_def def = settings(method, 150);
            def.restarts = 2;
            def.noise = 0.1;
            def.seed = run == 3 ? 8 : 7;
            minimise_sets(&f, &def, (int[]){0, 0, 1, 0}[run], NULL, NULL);
            hash[run] = f.hash;
        }
        assert_true(hash[0] == hash[1]);
        assert_true(hash[0] == hash[2]);  // one point after the other or whole generations
        assert_true(hash[0] != hash[3]);
    }
}

static void budget_is_never_exceeded(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++)
        for (int iterations = 1; iterations < 60; iterations++) {
            function f = {.shape = VALLEY, .n = 7, .start = -1};
            ct_optimize_def def = settings(method, iterations);
            outcome o = minimise(&f, &def);
            assert_int_equal(f.calls, iterations);
            assert_int_equal(o.report.iterations, iterations);
            assert_non_null(strstr(o.report.reason, "iterations"));
        }
}

typedef struct listener {
    int calls, stop_after;
    double best;
} listener;

static bool listen(const ct_progress* progress, void* user) {
    listener* l = user;
    assert_int_equal(progress->iteration, ++l->calls);
    assert_true(isnan(progress->gradient_norm));
    assert_true(progress->failed ? isnan(progress->loss) && isnan(progress->measure) : progress->measure > 0);
    assert_true(progress->best <= l->best);
    l->best = progress->best;
    return l->calls != l->stop_after;
}

static void search_stops_within_a_generation(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = SPHERE, .n = 4, .start = -1};
        ct_optimize_def def = settings(method, 1000);
        listener l = {.best = INFINITY, .stop_after = 33};
        outcome o = minimise_sets(&f, &def, 1, listen, &l);
        assert_int_equal(f.calls, 33);
        assert_non_null(strstr(o.report.reason, "caller"));

        l = (listener){.best = INFINITY};
        def.target = 1;
        o = minimise_sets(&f, &def, 0, listen, &l);
        assert_true(o.report.loss <= 1);
        assert_int_equal(o.report.iterations, l.calls);
        assert_non_null(strstr(o.report.reason, "target"));
    }
}

static void tolerance_ends_a_search(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = WELLS, .n = 2, .start = -1};
        ct_optimize_def def = settings(method, 20000);
        def.tolerance = 1e-3;
        outcome o = minimise(&f, &def);
        print_message("method %d: %d evaluations\n", method, o.report.iterations);
        assert_true(o.report.iterations < 5000);
    }
}

static void generations_are_asked_for_as_sets(void** state) {
    (void)state;
    for (int method = CT_METHOD_CMAES; method <= CT_METHOD_EVOLUTION; method++)
        for (int most = 0; most < 4; most++) {
            function f = {.shape = SPHERE, .n = 4};
            ct_optimize_def def = settings(method, 100);
            def.population = 12;
            minimise_sets(&f, &def, most, NULL, NULL);
            assert_int_equal(f.largest, most ? most : method == CT_METHOD_CMAES ? 13 : 12);
        }
}

static void many_parameters_and_few_evaluations_are_quick(void** state) {
    (void)state;
    for (int method = CT_METHOD_BOBYQA; method <= CT_METHOD_NELDER_MEAD; method++) {
        function f = {.shape = SPHERE, .n = MOST};
        ct_optimize_def def = settings(method, 40);
        outcome o = minimise(&f, &def);
        int touched = 0;
        for (int i = 0; i < f.n; i++) touched += f.touched[i];
        assert_int_equal(f.calls, 40);
        assert_in_range(touched, 20, 40);
        assert_true(o.report.loss < 0.09 * MOST - 1e-6);
    }
}

// ---- failures ------------------------------------------------------------------------------

static void failed_evaluations_are_survived(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = SPHERE, .n = 3, .start = -1, .wall = 0.35};
        ct_optimize_def def = settings(method, 2000);
        def.spread = 1;
        listener l = {.best = INFINITY};
        outcome o = minimise_sets(&f, &def, 0, listen, &l);
        print_message("method %d: %d of %d failed, loss %.1e\n", method, f.failed, f.calls, o.report.loss);
        assert_int_equal(o.status, CT_OK);
        assert_true(f.failed > 0);
        assert_int_equal(o.report.failures, f.failed);
        assert_true(o.report.loss < 1e-2);
    }
}

static void evaluations_that_nearly_all_fail_leave_the_best(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = SPHERE, .n = 3, .start = -1, .wall = -0.999999};
        ct_optimize_def def = settings(method, 400);
        outcome o = minimise(&f, &def);
        assert_int_equal(o.status, CT_OK);
        assert_true(o.y[0] <= -0.999999 && o.report.loss <= value(SPHERE, f.first, 3));

        f = (function){.shape = SPHERE, .n = 3, .start = -1, .fail_every = 2};
        def.iterations = 2000;
        o = minimise(&f, &def);
        print_message("method %d: %.1e where half fail\n", method, o.report.loss);
        assert_int_equal(o.status, CT_OK);
        assert_true(o.report.loss < value(SPHERE, f.first, 3));
        if (method <= CT_METHOD_EVOLUTION) assert_true(o.report.loss < 0.01 * value(SPHERE, f.first, 3));
    }
}

static void failure_of_the_start_is_an_error(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = SPHERE, .n = 3, .wall = -5};
        ct_optimize_def def = settings(method, 100);
        outcome o = minimise_sets(&f, &def, 1, NULL, NULL);
        assert_int_equal(o.status, CT_NOT_CONVERGED);
        assert_int_equal(f.calls, 1);
    }
}

// ---- noise and restarts --------------------------------------------------------------------

static void noise_changes_the_start_by_its_deviation(void** state) {
    (void)state;
    for (int method = FIRST; method <= LAST; method++) {
        function f = {.shape = SPHERE, .n = MOST, .start = 0.5};
        ct_optimize_def def = settings(method, 1);
        minimise(&f, &def);
        for (int i = 0; i < f.n; i++) assert_true(f.first[i] == 0.5);

        def.noise = 0.1;
        f.calls = 0;
        minimise(&f, &def);
        double mean = 0, square = 0;
        for (int i = 0; i < f.n; i++) {
            mean += (f.first[i] - 0.5) / f.n;
            square += pow(f.first[i] - 0.5, 2) / f.n;
        }
        assert_true(fabs(mean) < 4 * 0.1 / sqrt(f.n));
        assert_true(fabs(sqrt(square) - 0.1) < 4 * 0.1 / sqrt(2 * f.n));

        f.calls = 0, f.lower = 0.45, f.upper = 0.55;  // asserted by the function
        minimise(&f, &def);
    }
}

// From 1 all methods end in the well near 0.95, 0.78 above the other. BOBYQA and the simplex search the same
// parameters again.
static void restarts_leave_a_local_minimum(void** state) {
    (void)state;
    const int methods[] = {CT_METHOD_LBFGS, CT_METHOD_MMA,    CT_METHOD_SLSQP,
                           CT_METHOD_CMAES, CT_METHOD_BOBYQA, CT_METHOD_NELDER_MEAD};
    for (int k = 0; k < 6; k++) {
        function f = {.shape = WELLS, .n = 1, .start = 1};
        ct_optimize_def def = settings(methods[k], 3000);
        def.tolerance = 1e-6;
        def.spread = methods[k] == CT_METHOD_CMAES ? 0.05 : 1;
        outcome alone = minimise(&f, &def);
        def.restarts = 40;
        def.spread = 1;
        outcome o = minimise(&f, &def);
        print_message("method %d: %.3f, with restarts %.3f after %d\n", methods[k], alone.report.loss,
                      o.report.loss, o.report.iterations);
        assert_true(alone.y[0] > 0.9 && alone.report.loss > 0.7);
        assert_true(o.y[0] < -1 && o.report.loss < 0.05);
        assert_true(o.report.iterations <= 3000);
    }
}

static void bad_settings_are_refused(void** state) {
    (void)state;
    ct_optimize_def good = settings(CT_METHOD_CMAES, 10), bad[] = {good, good, good, good, good, good, good};
    bad[0].restarts = -1;
    bad[1].noise = -1;
    bad[2].noise = NAN;
    bad[3].spread = 0;
    bad[4].population = 3;
    bad[5].population = -1;
    bad[6].method = (ct_method)8;
    for (int k = 0; k < 7; k++) {
        function f = {.shape = SPHERE, .n = 2};
        assert_int_equal(minimise(&f, &bad[k]).status, CT_BAD_ARGUMENT);
        assert_int_equal(f.calls, 0);
    }
}

static ct_status constant(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                          ct_error* error) {
    for (int k = 0; k < count; k++) results[k] = (ct_evaluation){.status = CT_OK, .loss = 5};
    return CT_OK;
}

static void a_loss_without_gradient_is_no_minimum(void** state) {
    for (int method = CT_METHOD_LBFGS; method <= CT_METHOD_SLSQP; method++) {
        double y[2] = {0.2, 0.4};
        ct_optimize_report report;
        ct_error error = {0};
        const ct_function f = {.size = 2, .evaluate = constant};
        ct_optimize_def def = ct_optimize_def_default();
        def.method = (ct_method)method;
        must(ct_function_optimize(&f, &def, y, NULL, NULL, &report, &error), &error);
        if (!strstr(report.reason, "depends on the parameters"))
            fail_msg("%s: %s", ct_method_name(def.method), report.reason);
        assert_int_equal(report.iterations, 1);
    }
}

// ---- NLopt ---------------------------------------------------------------------------------

static void method_without_its_library_is_refused_by_name(void** state) {
    ct_nlopt nlopt;
    ct_error error = {0};
    assert_int_equal(ct_nlopt_open(&nlopt, "libnlopt-absent.so", "bobyqa", &error), CT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "bobyqa needs the library NLopt"));
    assert_null(nlopt.handle);
    assert_int_equal(ct_nlopt_open(&nlopt, "libm.so.6", "mma", &error), CT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "too old"));
    assert_null(nlopt.handle);
    assert_int_equal(ct_nlopt_open(&nlopt, "libm.so.6", "mma", NULL), CT_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_without_gradient_is_no_minimum),
        cmocka_unit_test(every_method_finds_known_minima),
        cmocka_unit_test(cmaes_learns_an_ill_conditioned_ellipsoid),
        cmocka_unit_test(cmaes_keeps_a_diagonal_for_many_parameters),
        cmocka_unit_test(bounds_hold_and_minima_on_them_are_found),
        cmocka_unit_test(functions_without_bounds_have_none),
        cmocka_unit_test(functions_that_are_none_are_refused),
        cmocka_unit_test(bounds_that_meet_leave_a_parameter_where_it_is),
        cmocka_unit_test(seed_determines_the_sequence_bit_for_bit),
        cmocka_unit_test(budget_is_never_exceeded),
        cmocka_unit_test(search_stops_within_a_generation),
        cmocka_unit_test(tolerance_ends_a_search),
        cmocka_unit_test(generations_are_asked_for_as_sets),
        cmocka_unit_test(many_parameters_and_few_evaluations_are_quick),
        cmocka_unit_test(failed_evaluations_are_survived),
        cmocka_unit_test(evaluations_that_nearly_all_fail_leave_the_best),
        cmocka_unit_test(failure_of_the_start_is_an_error),
        cmocka_unit_test(noise_changes_the_start_by_its_deviation),
        cmocka_unit_test(restarts_leave_a_local_minimum),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(method_without_its_library_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
