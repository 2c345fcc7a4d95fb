// L-BFGS: losses with and without a known floor, few squares in many parameters, bounds, round-off.
#include "build.h"
#include "optim/optimize.h"

enum { MOST = 200 };

// L = floor + sum_k weight_k (a_k . y - b_k)^2, three rows of very different weight; or Rosenbrock's function.
typedef struct loss {
    int n;
    double row[3][MOST], right[3], weight[3];
    double floor, scale;
    bool valley;
} loss;

static ct_status evaluate(int count, const double* y, double* gradient, ct_batch_result* result, void* user, ct_error* error) {
    const loss* f = user;
    double* value = &result->loss;
    (void)error;
    assert_int_equal(count, 1);
    *value = f->floor;
    if (f->valley) {
        double a = 1 - y[0], b = y[1] - y[0] * y[0];
        *value += f->scale * (a * a + 100 * b * b);
        gradient[0] = f->scale * (-2 * a - 400 * y[0] * b);
        gradient[1] = f->scale * 200 * b;
        return CT_OK;
    }
    for (int k = 0; k < 3; k++) {
        double d = -f->right[k];
        for (int i = 0; i < f->n; i++) d += f->row[k][i] * y[i];
        *value += f->weight[k] * d * d;
        for (int i = 0; i < f->n; i++) gradient[i] += 2 * f->weight[k] * d * f->row[k][i];
    }
    return CT_OK;
}

typedef struct result {
    double best, y[MOST];
    int iterations;
    const char* reason;
} result;

static result minimise(loss* f, double start, double lower, double upper, int iterations) {
    static double low[MOST], high[MOST], y[MOST];
    result r;
    for (int i = 0; i < f->n; i++) low[i] = lower, high[i] = upper, y[i] = start;
    ct_error error = {0};
    ct_function function = {.size = f->n, .lower = low, .upper = high, .evaluate = evaluate, .user = f};
    ct_optimize_def def = ct_optimize_def_default();
    ct_optimize_report report;
    def.iterations = iterations;
    def.tolerance = 0;
    must(ct_search_minimise(&function, &def, y, NULL, NULL, &report, &error), &error);
    memcpy(r.y, y, sizeof y);
    r.best = report.loss;
    r.iterations = report.iterations;
    r.reason = report.reason;
    return r;
}

static loss three_squares(void) {
    loss f = {.n = MOST, .right = {1, -0.5, 0.25}, .weight = {1, 1e-2, 1e-4}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MOST; i++) f.row[k][i] = sin(1.0 + 7 * k + (k + 1) * 0.37 * i);
    return f;
}

static void three_squares_in_200_parameters_take_few_evaluations(void** state) {
    (void)state;
    loss f = three_squares();
    result r = minimise(&f, 0.1, -INFINITY, INFINITY, 12);
    print_message("loss %.1e after %d evaluations\n", r.best, r.iterations);
    assert_true(r.best < 1e-14);
}

static void loss_above_a_floor_it_does_not_know_is_minimised(void** state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        loss f = {.n = 2, .valley = true, .scale = 1, .floor = (double[]){5, -5, 1e4}[k]};
        result r = minimise(&f, -1.2, -INFINITY, INFINITY, 90);
        print_message("floor %g: loss %.3e above after %d evaluations: %s\n", f.floor, r.best - f.floor, r.iterations, r.reason);
        assert_true(r.best - f.floor <= 1e-11 * fabs(f.floor) + 1e-12);
    }
}

static void bounds_that_all_act_leave_the_corner(void** state) {
    (void)state;
    loss f = three_squares();
    for (int i = 0; i < MOST; i++) f.row[0][i] = 1, f.row[1][i] = f.row[2][i] = 0;
    f.right[0] = 1000;  // out of reach: every y goes to its upper bound
    result r = minimise(&f, 0.1, -1, 1, 50);
    for (int i = 0; i < MOST; i++) assert_true(r.y[i] == 1);
    assert_string_equal(r.reason, "a minimum is found");
}

static void flat_loss_is_a_minimum(void** state) {
    (void)state;
    loss f = three_squares();
    memset(f.weight, 0, sizeof f.weight);
    f.floor = 3;
    result r = minimise(&f, 0.1, -INFINITY, INFINITY, 50);
    assert_int_equal(r.iterations, 1);
    assert_string_equal(r.reason, "a minimum is found");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_squares_in_200_parameters_take_few_evaluations),
        cmocka_unit_test(loss_above_a_floor_it_does_not_know_is_minimised),
        cmocka_unit_test(bounds_that_all_act_leave_the_corner),
        cmocka_unit_test(flat_loss_is_a_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
