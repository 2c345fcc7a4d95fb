// Derivatives of the elastic and viscous gradient by its parameters and by the start of the step.
//
// The gradient is linear in mu, lambda and beta and quadratic in the start positions, so that central
// differences carry no truncation error: they must agree to round-off at every step size.
#include "elastic_bodies.h"
#include "math/vecn.h"

typedef struct step_start {  // rate = c G - (a G(x_n) + b G(x_nm1))
    double c, a, b;
    double *x_n, *x_nm1;
} step_start;

static step_start make_start(const body* b, double c, double a, double second) {
    step_start s = {.c = c, .a = a, .b = second, .x_n = node_array(b), .x_nm1 = node_array(b)};
    for (int i = 0; i < 3 * b->nvert; i++)
        s.x_n[i] = b->x[i] + 0.02 * random_unit(), s.x_nm1[i] = b->x[i] + 0.04 * random_unit();
    return s;
}

static void start_free(step_start* s) { free(s->x_n), free(s->x_nm1); }

static void begin(const body* b, const step_start* s, ct_threads* threads) {
    ct_elastic_begin_step(b->elastic, b->work, threads, s->c, s->a, s->x_n, s->b,
                          s->b != 0 ? s->x_nm1 : NULL);
}

static double* random_nodes(const body* b) {
    double* d = node_array(b);
    for (int i = 0; i < 3 * b->nvert; i++) d[i] = random_unit();
    return d;
}

// lam . grad(E + Psi) of a step begun anew
static double projected_gradient(const body* b, const step_start* s, const double* lam) {
    double* f = node_array(b);
    begin(b, s, NULL);
    ct_elastic_gradient(b->elastic, b->work, NULL, b->x, f);
    const double value = ct_vecn_dot(lam, f, (size_t)(3 * b->nvert));
    free(f);
    return value;
}

static void check_parameter(body* b, const step_start* s, const double* lam, double* parameter, int e,
                            double derivative, double scale) {
    const double keep = parameter[e];
    for (int k = 0; k < 3; k++) {
        double value[2];
        for (int side = 0; side < 2; side++) {
            parameter[e] = keep + (side ? -1 : 1) * scale / (1 << 2 * k);
            ct_elastic_set_parameters(b->elastic, b->mu, b->lambda, b->beta);
            value[side] = projected_gradient(b, s, lam);
        }
        parameter[e] = keep;
        const double difference = (value[0] - value[1]) / (2 * scale / (1 << 2 * k));
        const double noise = 1e-13 * (1 + fabs(value[0])) * (1 << 2 * k) / scale;
        if (!(fabs(difference - derivative) < noise + 1e-12 * fabs(derivative)))
            fail_msg("tet %d: %.15g, difference %.15g", e, derivative, difference);
    }
    ct_elastic_set_parameters(b->elastic, b->mu, b->lambda, b->beta);
}

static void check_parameters(double beta, const step_start* given) {
    random_state = 11;
    body b = make_mixed_box((int[]){3, 2, 1});
    for (int e = 0; e < b.ntet; e++) b.beta[e] = beta * (1 + e % 3);
    body_compile(&b);
    step_start s = make_start(&b, given->c, given->a, given->b);
    double *lam = random_nodes(&b), *d[3];
    for (int k = 0; k < 3; k++) d[k] = calloc((size_t)b.ntet, sizeof(double));
    ct_elastic_begin_rate(b.elastic, b.work, NULL, s.c, s.a, s.x_n, s.b, s.b != 0 ? s.x_nm1 : NULL);
    ct_elastic_parameter_vjp(b.elastic, b.work, NULL, b.x, lam, d[0], d[1], d[2]);
    double largest = 0;
    for (int e = 0; e < b.ntet; e++) {
        check_parameter(&b, &s, lam, b.mu, e, d[0][e], 0.5);
        check_parameter(&b, &s, lam, b.lambda, e, d[1][e], 0.5);
        // beta = 0 cannot be crossed: one-sided, which a linear function does not mind
        const double keep = b.beta[e], step = 0.002;
        const double low = projected_gradient(&b, &s, lam);
        b.beta[e] = keep + step;
        ct_elastic_set_parameters(b.elastic, NULL, NULL, b.beta);
        const double high = projected_gradient(&b, &s, lam);
        b.beta[e] = keep;
        ct_elastic_set_parameters(b.elastic, NULL, NULL, b.beta);
        if (!(fabs((high - low) / step - d[2][e]) < 1e-12 * (1 + fabs(low)) / step))
            fail_msg("beta of tet %d: %.15g, difference %.15g", e, d[2][e], (high - low) / step);
        largest = fmax(largest, fabs(d[2][e]));
    }
    assert_true(largest > 0.1);
    for (int k = 0; k < 3; k++) free(d[k]);
    free(lam);
    start_free(&s);
    body_free(&b);
}

static void parameter_derivatives_match_differences(void** state) {
    check_parameters(0, &(step_start){.c = 100, .a = 100});
}
static void parameter_derivatives_match_differences_with_damping(void** state) {
    check_parameters(0.004, &(step_start){.c = 100, .a = 100});
    check_parameters(0.004, &(step_start){.c = 150, .a = 200, .b = -50});
}

static void parameter_derivatives_ignore_damping_that_is_off(void** state) {
    body b = make_mixed_box((int[]){2, 2, 1});
    body_compile(&b);
    double *lam = random_nodes(&b), *with = calloc((size_t)b.ntet, sizeof(double)),
           *without = calloc((size_t)b.ntet, sizeof(double)),
           *d_beta = calloc((size_t)b.ntet, sizeof(double));
    ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, b.rest, 0, NULL);
    ct_elastic_begin_step(b.elastic, b.work, NULL, 0, 0, b.rest, 0, NULL);
    ct_elastic_parameter_vjp(b.elastic, b.work, NULL, b.x, lam, with, NULL, d_beta);
    assert_true(ct_elastic_has_damping(b.elastic));
    for (int e = 0; e < b.ntet; e++) b.beta[e] = 0;
    ct_elastic_set_parameters(b.elastic, NULL, NULL, b.beta);
    ct_elastic_parameter_vjp(b.elastic, b.work, NULL, b.x, lam, without, NULL, NULL);
    assert_false(ct_elastic_has_damping(b.elastic));
    assert_memory_equal(with, without, (size_t)b.ntet * sizeof(double));
    for (int e = 0; e < b.ntet; e++) assert_true(d_beta[e] == 0);
    free(lam), free(with), free(without), free(d_beta);
    body_free(&b);
}

// -lam . d grad Psi / d(start) along `d`, by differences, against the derivative at three step sizes.
static void check_history_direction(const body* b, const step_start* s, const double* lam, double* at,
                                    const double* bar) {
    const int n = 3 * b->nvert;
    double *d = random_nodes(b), *keep = node_array(b);
    memcpy(keep, at, (size_t)n * sizeof(double));
    const double derivative = ct_vecn_dot(bar, d, (size_t)n);
    for (int k = 0; k < 3; k++) {
        const double h = 0.01 / (1 << 2 * k);
        for (int i = 0; i < n; i++) at[i] = keep[i] + h * d[i];
        const double above = projected_gradient(b, s, lam);
        for (int i = 0; i < n; i++) at[i] = keep[i] - h * d[i];
        const double below = projected_gradient(b, s, lam);
        const double difference = -(above - below) / (2 * h);
        if (!(fabs(difference - derivative) < 1e-13 * (1 + fabs(above)) / h))
            fail_msg("derivative %.15g, difference %.15g", derivative, difference);
    }
    memcpy(at, keep, (size_t)n * sizeof(double));
    assert_true(fabs(derivative) > 1e-3);
    free(d), free(keep);
}

static void history_derivatives_match_differences(void** state) {
    for (int second = 0; second < 2; second++) {
        random_state = 5;
        body b = make_mixed_box((int[]){3, 2, 1});
        for (int e = 0; e < b.ntet; e++) b.beta[e] = 0.004 * (e % 3);
        body_compile(&b);
        step_start s = second ? make_start(&b, 150, 200, -50) : make_start(&b, 100, 100, 0);
        double *lam = random_nodes(&b), *first_bar = node_array(&b), *second_bar = node_array(&b);
        begin(&b, &s, NULL);
        ct_elastic_history_vjp(b.elastic, b.work, NULL, b.x, lam, s.a, s.x_n, first_bar, s.b,
                               second ? s.x_nm1 : NULL, second_bar);
        check_history_direction(&b, &s, lam, s.x_n, first_bar);
        if (second) check_history_direction(&b, &s, lam, s.x_nm1, second_bar);
        for (int i = 0; i < 3 * b.nvert && !second; i++) assert_true(second_bar[i] == 0);
        free(lam), free(first_bar), free(second_bar);
        start_free(&s);
        body_free(&b);
    }
}

static void history_derivatives_add_and_vanish_without_damping(void** state) {
    body b = make_mixed_box((int[]){3, 2, 1});
    body_compile(&b);
    step_start s = make_start(&b, 100, 100, 0);
    double *lam = random_nodes(&b), *once = node_array(&b), *twice = node_array(&b), *copy = node_array(&b);
    const int n = 3 * b.nvert;
    begin(&b, &s, NULL);
    ct_elastic_history_vjp(b.elastic, b.work, NULL, b.x, lam, s.a, s.x_n, once, 0, NULL, NULL);
    memcpy(twice, once, (size_t)n * sizeof(double));
    ct_elastic_history_vjp(b.elastic, b.work, NULL, b.x, lam, s.a, s.x_n, twice, 0, NULL, NULL);
    for (int i = 0; i < n; i++) assert_true(twice[i] == 2 * once[i]);
    // nothing damped, and damping off
    memcpy(copy, once, (size_t)n * sizeof(double));
    ct_elastic_begin_step(b.elastic, b.work, NULL, 0, 0, s.x_n, 0, NULL);
    ct_elastic_history_vjp(b.elastic, b.work, NULL, b.x, lam, s.a, s.x_n, copy, 0, NULL, NULL);
    for (int e = 0; e < b.ntet; e++) b.beta[e] = 0;
    ct_elastic_set_parameters(b.elastic, NULL, NULL, b.beta);
    begin(&b, &s, NULL);
    ct_elastic_history_vjp(b.elastic, b.work, NULL, b.x, lam, s.a, s.x_n, copy, 0, NULL, NULL);
    assert_memory_equal(copy, once, (size_t)n * sizeof(double));
    free(lam), free(once), free(twice), free(copy);
    start_free(&s);
    body_free(&b);
}

static void results_are_the_same_bits_for_every_thread_count(void** state) {
    body b = make_mixed_box((int[]){9, 8, 7});
    body_compile(&b);
    const size_t nodes = (size_t)b.nvert * 3 * sizeof(double), tets = (size_t)b.ntet * sizeof(double);
    step_start s = make_start(&b, 150, 200, -50);
    double *lam = random_nodes(&b), *bar[3][2], *d[3][3];
    for (int k = 0; k < 3; k++) {
        ct_threads* threads;
        assert_int_equal(ct_threads_create(&threads, k + 1), CT_OK);
        for (int i = 0; i < 2; i++) bar[k][i] = node_array(&b);
        for (int i = 0; i < 3; i++) d[k][i] = calloc((size_t)b.ntet, sizeof(double));
        begin(&b, &s, threads);
        ct_elastic_parameter_vjp(b.elastic, b.work, threads, b.x, lam, d[k][0], d[k][1], d[k][2]);
        memcpy(bar[k][0], lam, nodes);
        ct_elastic_history_vjp(b.elastic, b.work, threads, b.x, lam, s.a, s.x_n, bar[k][0], s.b, s.x_nm1,
                               bar[k][1]);
        ct_threads_free(threads);
    }
    for (int k = 1; k < 3; k++) {
        for (int i = 0; i < 2; i++) assert_memory_equal(bar[0][i], bar[k][i], nodes);
        for (int i = 0; i < 3; i++) assert_memory_equal(d[0][i], d[k][i], tets);
    }
    for (int k = 0; k < 3; k++) free(bar[k][0]), free(bar[k][1]), free(d[k][0]), free(d[k][1]), free(d[k][2]);
    free(lam);
    start_free(&s);
    body_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_derivatives_match_differences),
        cmocka_unit_test(parameter_derivatives_match_differences_with_damping),
        cmocka_unit_test(parameter_derivatives_ignore_damping_that_is_off),
        cmocka_unit_test(history_derivatives_match_differences),
        cmocka_unit_test(history_derivatives_add_and_vanish_without_damping),
        cmocka_unit_test(results_are_the_same_bits_for_every_thread_count),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    raised = true;
    return failed + cmocka_run_group_tests_name("second order", tests, NULL, NULL);
}
