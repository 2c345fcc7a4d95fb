// L-BFGS: losses with and without a known floor, few squares in many parameters, bounds, round-off.
#include "build.h"
#include "optim/search.h"

enum { MOST = 200 };

// L = floor + sum_k weight_k (a_k . y - b_k)^2, three rows of very different weight; or Rosenbrock's
// function.
typedef struct loss {
    int n;
    double row[3][MOST], right[3], weight[3];
    double floor, scale;
    bool valley;
    // 0: none; else so many rows of cosines that 0 <= y <= 1 cannot satisfy
    int rows;
} loss;

// sum_k 0.9^2k (mean_i cos((k + 1) 3.1 (i + 1/2) / n + 0.3 k) y_i - ((k mod 3) - 1) / 2)^2
static double cosines(const loss* f, const double* y, double* gradient) {
    double sum = 0;
    for (int k = 0; k < f->rows; k++) {
        double row[MOST], d = -0.5 * (k % 3 - 1);
        for (int i = 0; i < f->n; i++) {
            row[i] = pow(0.9, k) * cos((k + 1) * 3.1 * (i + 0.5) / f->n + 0.3 * k) / f->n;
            d += row[i] * y[i];
        }
        sum += d * d;
        for (int i = 0; i < f->n; i++) gradient[i] += 2 * d * row[i];
    }
    return sum;
}

static ct_status evaluate(int count, const double* y, double* gradient, ct_evaluation* result, void* user,
                          ct_error* error) {
    const loss* f = user;
    double* value = &result->loss;
    (void)error;
    assert_int_equal(count, 1);
    *value = f->floor;
    if (f->rows) {
        *value += cosines(f, y, gradient);
        return CT_OK;
    }
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
    must(ct_function_optimize(&function, &def, y, NULL, NULL, &report, &error), &error);
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
        print_message("floor %g: loss %.3e above after %d evaluations: %s\n", f.floor, r.best - f.floor,
                      r.iterations, r.reason);
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

// At a minimum between bounds the gradient vanishes, on a lower one it is not negative, on an upper one not
// positive.
static void start_on_a_bound_finds_which_bounds_act(void** state) {
    (void)state;
    loss f = {.n = MOST, .rows = 60};
    result r = minimise(&f, 0, 0, 1, 200);
    double g[MOST] = {0}, most = 0, first[MOST] = {0}, start[MOST] = {0}, worst = 0;
    int inside = 0;
    cosines(&f, start, first);
    cosines(&f, r.y, g);
    for (int i = 0; i < MOST; i++) {
        most = fmax(most, fabs(first[i]));
        worst = fmax(worst, r.y[i] <= 0 ? -g[i] : r.y[i] >= 1 ? g[i] : fabs(g[i]));
        inside += r.y[i] > 0 && r.y[i] < 1;
    }
    print_message("%d of %d inside, gradient %.1e of %.1e after %d evaluations\n", inside, MOST, worst, most,
                  r.iterations);
    assert_true(worst < 1e-7 * most);
    assert_in_range(inside, 1, MOST / 4);
}

static void a_flat_loss_is_said_to_be_flat(void** state) {
    (void)state;
    loss f = three_squares();
    memset(f.weight, 0, sizeof f.weight);
    f.floor = 3;
    result r = minimise(&f, 0.1, -INFINITY, INFINITY, 50);
    assert_int_equal(r.iterations, 1);
    assert_non_null(strstr(r.reason, "depends on the parameters"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_squares_in_200_parameters_take_few_evaluations),
        cmocka_unit_test(loss_above_a_floor_it_does_not_know_is_minimised),
        cmocka_unit_test(bounds_that_all_act_leave_the_corner),
        cmocka_unit_test(start_on_a_bound_finds_which_bounds_act),
        cmocka_unit_test(a_flat_loss_is_said_to_be_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
