// Krylov solvers on known systems, and with the factor as preconditioner.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam_matrix.h"
#include "sparse/factor.h"
#include "sparse/krylov.h"
#include "unit.h"

enum { N = 60 };

typedef struct dense {
    double A[N][N];
    double M[N][N];
} dense;

static void dense_product(const double* x, double* y, void* user) {
    const dense* s = user;
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) y[i] += s->A[i][j] * x[j];
    }
}

static void dense_precondition(const double* x, double* y, void* user) {
    const dense* s = user;
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) y[i] += s->M[i][j] * x[j];
    }
}

static double residual(dense* s, const double* b, const double* x) {
    double Ax[N], sum = 0;
    dense_product(x, Ax, s);
    for (int i = 0; i < N; i++) sum += (b[i] - Ax[i]) * (b[i] - Ax[i]);
    return sqrt(sum);
}

// Second differences, optionally with convection (nonsymmetric) and a shift.
static void laplacian(dense* s, double convection, double shift) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < N; i++) {
        s->A[i][i] = 2 + shift;
        s->M[i][i] = 1 / (2 + shift);
        if (i > 0) s->A[i][i - 1] = -1 - convection;
        if (i + 1 < N) s->A[i][i + 1] = -1 + convection;
    }
}

static ct_krylov_report run(bool gmres, int restart, dense* s, bool preconditioned, double relative,
                            double tolerance, int limit, const double* b, double* x) {
    ct_krylov_work* work;
    assert_int_equal(ct_krylov_work_create(&work, N, restart), CT_OK);
    ct_krylov_def def = {.n = N,
                         .apply = dense_product,
                         .precondition = preconditioned ? dense_precondition : NULL,
                         .user = s,
                         .tolerance = tolerance,
                         .relative = relative,
                         .max_iterations = limit};
    ct_krylov_report report;
    if (gmres) ct_gmres(&def, work, b, x, &report);
    else ct_pcg(&def, work, b, x, &report);
    ct_krylov_work_free(work);
    return report;
}

static void pcg_solves_in_at_most_n_iterations(void** state) {
    static dense s;
    laplacian(&s, 0, 0);
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = cos(i);
    ct_krylov_report report = run(false, 0, &s, true, 1e-12, 0, 2 * N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_in_range(report.iterations, 1, N + 5);
    assert_true(residual(&s, b, x) < 1e-11 * report.initial);
    assert_true(report.residual <= 1e-12 * report.initial);
}

static void pcg_counts_distinct_eigenvalues(void** state) {
    // identity plus a rank-two matrix has three eigenvalues: three iterations
    static dense s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) s.A[i][j] = (i == j) + (i % 2 == j % 2 ? 0.1 : 0) + 0.05;
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = sin(3 * i) + 0.2 * i;
    ct_krylov_report report = run(false, 0, &s, false, 1e-10, 0, N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_int_equal(report.iterations, 3);
}

static void pcg_stops_at_the_absolute_tolerance_and_the_limit(void** state) {
    static dense s;
    laplacian(&s, 0, 0);
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = 1;
    ct_krylov_report report = run(false, 0, &s, false, 0, 1e3, N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_int_equal(report.iterations, 0);
    report = run(false, 0, &s, false, 1e-12, 0, 5, b, x);
    assert_int_equal(report.end, CT_KRYLOV_LIMIT);
    assert_int_equal(report.iterations, 5);
    assert_float_equal(report.residual, residual(&s, b, x), 1e-12);
    // a start at the iterate costs one product for its residual
    double reached = report.residual;
    report = run(false, 0, &s, false, 1e-12, 0, 1, b, x);
    assert_int_equal(report.iterations, 1);
    assert_float_equal(report.initial, reached, 1e-12);
    memset(b, 0, sizeof b);
    memset(x, 0, sizeof x);
    report = run(false, 0, &s, false, 1e-12, 0, 5, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_float_equal(x[0], 0, 0);
}

static void pcg_truncates_at_negative_curvature_with_a_descent_direction(void** state) {
    static dense s;
    laplacian(&s, 0, -0.05);  // the smoothest modes are negative: 2 - 2 cos(pi k/(N+1)) < 0.05 for k = 1..4
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = cos(5 * i);
    ct_krylov_report report = run(false, 0, &s, false, 1e-14, 0, 10 * N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_NEGATIVE);
    assert_true(report.iterations > 1);
    double descent = 0;
    for (int i = 0; i < N; i++) descent += b[i] * x[i];
    assert_true(descent > 0);
}

static void pcg_returns_the_preconditioned_step_at_immediate_negative_curvature(void** state) {
    static dense s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < N; i++) s.A[i][i] = -1, s.M[i][i] = 3;
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = 1 + i;
    ct_krylov_report report = run(false, 0, &s, true, 1e-6, 0, N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_NEGATIVE);
    assert_int_equal(report.iterations, 1);
    for (int i = 0; i < N; i++) assert_float_equal(x[i], 3 * b[i], 0);
}

static void pcg_reports_a_bad_preconditioner_and_nan(void** state) {
    static dense s;
    laplacian(&s, 0, 1);
    for (int i = 0; i < N; i++) s.M[i][i] = -1;
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = 1;
    assert_int_equal(run(false, 0, &s, true, 1e-6, 0, N, b, x).end, CT_KRYLOV_BREAKDOWN);
    s.A[3][3] = NAN;
    assert_int_equal(run(false, 0, &s, false, 1e-6, 0, N, b, x).end, CT_KRYLOV_BREAKDOWN);
    for (int i = 0; i < N; i++) assert_true(isfinite(x[i]));
}

static void gmres_solves_nonsymmetric_systems(void** state) {
    static dense s;
    laplacian(&s, 0.7, 0.1);
    double b[N], x[N] = {0};
    for (int i = 0; i < N; i++) b[i] = cos(i);
    for (int restart = 10; restart <= N; restart += 25) {
        memset(x, 0, sizeof x);
        ct_krylov_report report = run(true, restart, &s, true, 1e-11, 0, 2000, b, x);
        assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
        assert_true(residual(&s, b, x) <= 1.01e-11 * report.initial);
    }
}

static void gmres_needs_no_more_than_n_iterations_without_restart(void** state) {
    static dense s;
    laplacian(&s, 3, 0);
    double b[N], x[N], start = 0.3;
    for (int i = 0; i < N; i++) b[i] = 1, x[i] = start * i;  // not from zero
    ct_krylov_report report = run(true, N, &s, false, 1e-10, 0, N + 2, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_true(residual(&s, b, x) <= 1.01e-10 * report.initial);
}

static void gmres_ends_at_an_invariant_space(void** state) {
    // A cyclic shift: b = e0 reaches the solution only in the last iteration; A = 2 I reaches it in one.
    static dense s;
    double b[N] = {1}, x[N] = {0};
    memset(&s, 0, sizeof s);
    for (int i = 0; i < N; i++) s.A[i][i] = 2;
    ct_krylov_report report = run(true, N, &s, false, 1e-12, 0, 3 * N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_float_equal(x[0], 0.5, 1e-15);
    memset(&s, 0, sizeof s);
    memset(x, 0, sizeof x);
    for (int i = 0; i < N; i++) s.A[i][(i + 1) % N] = 1;
    report = run(true, N, &s, false, 1e-12, 0, 3 * N, b, x);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_float_equal(x[1], 1, 1e-12);
}

static void gmres_reports_a_singular_system(void** state) {
    static dense s;
    memset(&s, 0, sizeof s);
    for (int i = 1; i < N; i++) s.A[i][i] = 1;
    double b[N] = {1}, x[N] = {0};
    assert_int_equal(run(true, 20, &s, false, 1e-8, 0, 500, b, x).end, CT_KRYLOV_BREAKDOWN);
}

// The laplacian's leading n x n block.
typedef struct leading {
    dense* s;
    int n;
} leading;

static void leading_product(const double* x, double* y, void* user) {
    const leading* block = user;
    for (int i = 0; i < block->n; i++) {
        y[i] = 0;
        for (int j = 0; j < block->n; j++) y[i] += block->s->A[i][j] * x[j];
    }
}

static void solve_leading(ct_krylov_work* work, bool gmres, int n, dense* s, double* x) {
    leading block = {s, n};
    ct_krylov_def def = {
        .n = n, .apply = leading_product, .user = &block, .relative = 1e-11, .max_iterations = 500};
    double b[N];
    for (int i = 0; i < N; i++) b[i] = cos(i), x[i] = 0;
    ct_krylov_report report;
    (gmres ? ct_gmres : ct_pcg)(&def, work, b, x, &report);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
}

static void one_work_serves_systems_of_changing_size(void** state) {
    static dense s;
    laplacian(&s, 0, 0.1);
    const int sizes[6] = {N, 7, 1, 31, 0, N};
    for (int gmres = 0; gmres < 2; gmres++) {
        ct_krylov_work* work;
        assert_int_equal(ct_krylov_work_create(&work, N, 20), CT_OK);
        for (int k = 0; k < 6; k++) {
            ct_krylov_work* fresh;
            double x[N], y[N];
            assert_int_equal(ct_krylov_work_create(&fresh, sizes[k], 20), CT_OK);
            solve_leading(work, gmres, sizes[k], &s, x);
            solve_leading(fresh, gmres, sizes[k], &s, y);
            // no trace of the sizes before; nothing beyond n is written
            assert_memory_equal(x, y, sizeof x);
            ct_krylov_work_free(fresh);
        }
        ct_krylov_work_free(work);
    }
}

static void reserve_grows_and_never_shrinks(void** state) {
    static dense s;
    laplacian(&s, 0.3, 0.1);
    ct_krylov_work *work, *fresh;
    double x[N], y[N];
    assert_int_equal(ct_krylov_work_create(&work, 0, 0), CT_OK);
    assert_int_equal(ct_krylov_reserve(work, -1, 3), CT_BAD_ARGUMENT);
    assert_int_equal(ct_krylov_reserve(work, 3, -1), CT_BAD_ARGUMENT);
    assert_int_equal(ct_krylov_reserve(work, 20, 5), CT_OK);
    solve_leading(work, true, 20, &s, x);
    assert_int_equal(ct_krylov_reserve(work, N, 0), CT_OK);
    assert_int_equal(ct_krylov_reserve(work, 3, 25), CT_OK);
    assert_int_equal(ct_krylov_reserve(work, 1, 1), CT_OK);
    assert_int_equal(ct_krylov_work_create(&fresh, N, 25), CT_OK);
    solve_leading(work, true, N, &s, x);
    solve_leading(fresh, true, N, &s, y);
    assert_memory_equal(x, y, sizeof x);
    ct_krylov_work_free(work);
    ct_krylov_work_free(fresh);
}

static void a_cycle_does_not_depend_on_the_room_for_longer_ones(void** state) {
    static dense s;
    laplacian(&s, 0.3, 0.1);
    ct_krylov_work *roomy, *fitting;
    double x[N] = {0}, y[N] = {0}, b[N];
    for (int i = 0; i < N; i++) b[i] = cos(i);
    assert_int_equal(ct_krylov_work_create(&roomy, N, 25), CT_OK);
    assert_int_equal(ct_krylov_work_create(&fitting, N, 5), CT_OK);
    leading block = {&s, N};
    ct_krylov_def def = {.n = N,
                         .apply = leading_product,
                         .user = &block,
                         .relative = 1e-11,
                         .max_iterations = 500,
                         .cycle = 5};
    ct_krylov_report report, expected;
    ct_gmres(&def, roomy, b, x, &report);
    ct_gmres(&def, fitting, b, y, &expected);
    assert_int_equal(report.iterations, expected.iterations);
    assert_true(report.iterations > 25);
    assert_memory_equal(x, y, sizeof x);
    ct_krylov_work_free(roomy);
    ct_krylov_work_free(fitting);
}

// A preconditioner that rounds, and counts how often it is asked.
typedef struct rounding {
    dense* s;
    int asked;
} rounding;

static void rounding_product(const double* x, double* y, void* user) {
    dense_product(x, y, ((rounding*)user)->s);
}

static void rounding_precondition(const double* x, double* y, void* user) {
    rounding* r = user;
    dense_precondition(x, y, r->s);
    for (int i = 0; i < N; i++) y[i] = ldexp(rint(ldexp(y[i], 10)), -10);
    r->asked++;
}

static void short_cycles_precondition_once_per_column_and_tell_the_true_residual(void** state) {
    static dense s;
    laplacian(&s, 0.3, 3);
    rounding r = {.s = &s};
    ct_krylov_work* work;
    double b[N], x[N] = {0}, left[N], Ax[N];
    for (int i = 0; i < N; i++) b[i] = cos(i);
    assert_int_equal(ct_krylov_work_create(&work, N, 30), CT_OK);
    ct_krylov_def def = {.n = N,
                         .apply = rounding_product,
                         .precondition = rounding_precondition,
                         .user = &r,
                         .relative = 1e-3,
                         .max_iterations = 100};
    ct_krylov_report report;
    ct_gmres(&def, work, b, x, &report);
    assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
    assert_in_range(report.iterations, 3, 12);
    assert_int_equal(r.asked, report.iterations);
    assert_float_equal(report.residual, residual(&s, b, x), 1e-12);
    ct_gmres_residual(work, left);
    dense_product(x, Ax, &s);
    for (int i = 0; i < N; i++) assert_float_equal(left[i], b[i] - Ax[i], 1e-12);
    ct_krylov_work_free(work);
}

static void gmres_leaves_a_start_that_is_worse_than_none(void** state) {
    static dense s;
    laplacian(&s, 0.3, 1);
    double b[N], x[N], y[N] = {0};
    for (int i = 0; i < N; i++) b[i] = cos(i), x[i] = 100 * sin(3 * i);
    ct_krylov_report bad = run(true, 30, &s, true, 1e-8, 0, 200, b, x),
                     none = run(true, 30, &s, true, 1e-8, 0, 200, b, y);
    assert_int_equal(bad.end, CT_KRYLOV_CONVERGED);
    assert_int_equal(bad.iterations, none.iterations + 1);
    assert_memory_equal(x, y, sizeof x);
}

typedef struct beam {
    ct_block_matrix A;  // in factor order
    ct_factor* factor;
    ct_factor_work* work;
} beam;

static void beam_product(const double* x, double* y, void* user) {
    ct_block_matrix_multiply(&((beam*)user)->A, x, y);
}

static void beam_precondition(const double* x, double* y, void* user) {
    beam* s = user;
    ct_factor_solve(s->factor, s->work, NULL, x, y);
}

// The beam's matrix with rows in factor order.
static void permute(ct_block_matrix* out, ct_arena* arena, const ct_block_matrix* A, const int* order) {
    int* position = ct_arena_alloc(arena, (size_t)A->n, sizeof(int));
    int* pairs = ct_arena_alloc(arena, 2 * (size_t)A->start[A->n], sizeof(int));
    for (int k = 0; k < A->n; k++) position[order[k]] = k;
    for (int j = 0; j < A->n; j++)
        for (int e = A->start[j]; e < A->start[j + 1]; e++)
            pairs[2 * e] = position[A->row[e]], pairs[2 * e + 1] = position[j];
    assert_int_equal(ct_block_matrix_create(out, arena, A->n, A->start[A->n], 2, pairs), CT_OK);
    for (int e = 0; e < A->start[A->n]; e++)
        ct_block_matrix_add(out, pairs[2 * e], pairs[2 * e + 1], A->value + 9 * e);
}

static void pcg_with_the_factor_needs_a_handful_of_iterations(void** state) {
    for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++) {
        ct_arena arena = {0};
        ct_block_matrix A;
        beam s;
        ct_symbolic* symbolic;
        beam_def def = beam_def_default(24, 5);
        assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
        assert_int_equal(ct_symbolic_create(&symbolic, &A, CT_ORDER_AMD), CT_OK);
        assert_int_equal(ct_factor_create(&s.factor, symbolic, precision), CT_OK);
        assert_int_equal(ct_factor_work_create(&s.work, symbolic), CT_OK);
        assert_int_equal(ct_factor_update(s.factor, NULL, NULL, &A), CT_OK);
        permute(&s.A, &arena, &A, ct_symbolic_order(symbolic));
        size_t n = 3 * (size_t)A.n;
        double *b = malloc(n * sizeof *b), *x = calloc(n, sizeof *x);
        ct_krylov_work* work;
        assert_int_equal(ct_krylov_work_create(&work, (int)n, 0), CT_OK);
        for (size_t i = 0; i < n; i++) b[i] = i % 3 == 2 ? -1 : 0.1 * cos((double)i);
        ct_krylov_def tight = {.n = (int)n,
                               .apply = beam_product,
                               .precondition = beam_precondition,
                               .user = &s,
                               .relative = 1e-12,
                               .max_iterations = 50};
        ct_krylov_report report;
        ct_pcg(&tight, work, b, x, &report);
        assert_int_equal(report.end, CT_KRYLOV_CONVERGED);
        assert_in_range(report.iterations, 1, precision == CT_PRECISION_SINGLE ? 4 : 8);
        free(b), free(x);
        ct_krylov_work_free(work);
        ct_factor_work_free(s.work);
        ct_factor_free(s.factor);
        ct_symbolic_free(symbolic);
        ct_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcg_solves_in_at_most_n_iterations),
        cmocka_unit_test(pcg_counts_distinct_eigenvalues),
        cmocka_unit_test(pcg_stops_at_the_absolute_tolerance_and_the_limit),
        cmocka_unit_test(pcg_truncates_at_negative_curvature_with_a_descent_direction),
        cmocka_unit_test(pcg_returns_the_preconditioned_step_at_immediate_negative_curvature),
        cmocka_unit_test(pcg_reports_a_bad_preconditioner_and_nan),
        cmocka_unit_test(gmres_solves_nonsymmetric_systems),
        cmocka_unit_test(gmres_needs_no_more_than_n_iterations_without_restart),
        cmocka_unit_test(gmres_ends_at_an_invariant_space),
        cmocka_unit_test(gmres_reports_a_singular_system),
        cmocka_unit_test(short_cycles_precondition_once_per_column_and_tell_the_true_residual),
        cmocka_unit_test(gmres_leaves_a_start_that_is_worse_than_none),
        cmocka_unit_test(one_work_serves_systems_of_changing_size),
        cmocka_unit_test(reserve_grows_and_never_shrinks),
        cmocka_unit_test(a_cycle_does_not_depend_on_the_room_for_longer_ones),
        cmocka_unit_test(pcg_with_the_factor_needs_a_handful_of_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
