// The factor as a preconditioner: accuracy, symmetry, updates, determinism.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/cpu.h"
#include "beam_matrix.h"
#include "cuttle.h"
#include "math/vecn.h"
#include "repeat.h"
#include "sparse/factor.h"
#include "sparse/half.h"
#include "unit.h"

static double random_unit(unsigned* seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

// Random couplings on the given pairs, diagonally dominant: symmetric positive definite.
static void random_matrix(ct_block_matrix* A, ct_arena* arena, int n, int npair, const int* pairs,
                          unsigned seed) {
    assert_int_equal(ct_block_matrix_create(A, arena, n, npair, 2, pairs), CT_OK);
    for (int p = 0; p < npair; p++) {
        double block[9], size = 0;
        for (int k = 0; k < 9; k++) size += fabs(block[k] = random_unit(&seed));
        ct_block_matrix_add(A, pairs[2 * p], pairs[2 * p + 1], block);
        const double diagonal[9] = {size, 0, 0, 0, size, 0, 0, 0, size};
        ct_block_matrix_add(A, pairs[2 * p], pairs[2 * p], diagonal);
        ct_block_matrix_add(A, pairs[2 * p + 1], pairs[2 * p + 1], diagonal);
    }
    const double shift[9] = {1, 0.1, 0, 0.1, 2, 0.2, 0, 0.2, 1.5};
    for (int i = 0; i < n; i++) ct_block_matrix_add(A, i, i, shift);
}

typedef struct fixture {
    ct_symbolic* symbolic;
    ct_factor* factor;
    ct_factor_work* work;
} fixture;

static fixture make(const ct_block_matrix* A, ct_ordering ordering, ct_precision precision) {
    fixture f;
    assert_int_equal(ct_symbolic_create(&f.symbolic, A, ordering), CT_OK);
    assert_int_equal(ct_factor_create(&f.factor, f.symbolic, precision), CT_OK);
    assert_int_equal(ct_factor_work_create(&f.work, f.symbolic), CT_OK);
    assert_int_equal(ct_factor_update(f.factor, f.work, NULL, A), CT_OK);
    return f;
}

static void drop(fixture* f) {
    ct_factor_work_free(f->work);
    ct_factor_free(f->factor);
    ct_symbolic_free(f->symbolic);
}

// x = P^-1 b in the caller's order.
static void solve(const fixture* f, int n, const double* b, double* x) {
    const int* order = ct_symbolic_order(f->symbolic);
    double* y = malloc(3 * (size_t)n * sizeof(double));
    for (int k = 0; k < n; k++) memcpy(y + 3 * k, b + 3 * order[k], 3 * sizeof(double));
    ct_factor_solve(f->factor, f->work, NULL, y, y);
    for (int k = 0; k < n; k++) memcpy(x + 3 * order[k], y + 3 * k, 3 * sizeof(double));
    free(y);
}

// |P^-1 b - A^-1 b| / |A^-1 b| for a random b; A^-1 b by iterative refinement in double. 1 when that does not
// converge.
static double solve_error(const fixture* f, const ct_block_matrix* A) {
    int count = 3 * A->n;
    unsigned seed = 5;
    double *b = calloc((size_t)count, sizeof(double)), *r = calloc((size_t)count, sizeof(double));
    double *first = calloc((size_t)count, sizeof(double)), *x = calloc((size_t)count, sizeof(double));
    for (int i = 0; i < count; i++) b[i] = random_unit(&seed);
    solve(f, A->n, b, first);
    memcpy(x, first, (size_t)count * sizeof(double));
    double residual = 0;
    for (int k = 0; k < 8; k++) {
        ct_block_matrix_multiply(A, x, r);
        for (int i = 0; i < count; i++) r[i] = b[i] - r[i];
        residual = ct_vecn_norm(r, (size_t)count) / ct_vecn_norm(b, (size_t)count);
        solve(f, A->n, r, r);
        for (int i = 0; i < count; i++) x[i] += r[i];
    }
    for (int i = 0; i < count; i++) first[i] -= x[i];
    double error = residual < 1e-10 ? ct_vecn_norm(first, (size_t)count) / ct_vecn_norm(x, (size_t)count) : 1;
    free(b), free(r), free(first), free(x);
    return error;
}

static void check_both_precisions(const ct_block_matrix* A, ct_ordering ordering) {
    for (int half = 0; half < 2; half++) {
        fixture f = make(A, ordering, half ? CT_PRECISION_HALF : CT_PRECISION_SINGLE);
        assert_true(solve_error(&f, A) < (half ? 2e-3 : 2e-6));
        drop(&f);
    }
}

// x = A^-1 b by dense Cholesky.
static void dense_solve(const ct_block_matrix* A, const double* b, double* x) {
    int count = 3 * A->n;
    double* L = calloc((size_t)count * (size_t)count, sizeof(double));
    for (int j = 0; j < A->n; j++)
        for (int e = A->start[j]; e < A->start[j + 1]; e++)
            for (int k = 0; k < 9; k++)
                L[(3 * A->row[e] + k / 3) * count + 3 * j + k % 3] = A->value[9 * e + k];
    for (int j = 0; j < count; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < count; i++) L[i * count + j] -= L[i * count + k] * L[j * count + k];
        double pivot = sqrt(L[j * count + j]);
        for (int i = j; i < count; i++) L[i * count + j] /= pivot;
    }
    memcpy(x, b, (size_t)count * sizeof(double));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i * count + k] * x[k];
        x[i] /= L[i * count + i];
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int k = i + 1; k < count; k++) x[i] -= L[k * count + i] * x[k];
        x[i] /= L[i * count + i];
    }
    free(L);
}

static void solve_agrees_with_dense_cholesky(void** state) {
    for (int n = 1; n <= 40; n += 3) {
        ct_arena arena = {0};
        ct_block_matrix A;
        int pairs[240];
        unsigned seed = (unsigned)n;
        for (int p = 0; p < 120; p++) do {
                pairs[2 * p] = (int)((random_unit(&seed) + 0.5) * n);
                pairs[2 * p + 1] = (int)((random_unit(&seed) + 0.5) * n);
            } while (n > 1 && pairs[2 * p] == pairs[2 * p + 1]);
        random_matrix(&A, &arena, n, n == 1 ? 0 : 3 * n, pairs, seed);
        double b[120], x[120], y[120];
        for (int i = 0; i < 3 * n; i++) b[i] = random_unit(&seed);
        dense_solve(&A, b, x);
        for (ct_ordering ordering = CT_ORDER_AMD; ordering <= CT_ORDER_METIS; ordering++)
            for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++) {
                fixture f = make(&A, ordering, precision);
                solve(&f, n, b, y);
                for (int i = 0; i < 3 * n; i++) y[i] -= x[i];
                assert_true(ct_vecn_norm(y, 3 * (size_t)n) <
                            (precision == CT_PRECISION_SINGLE ? 1e-6 : 1e-3) *
                                ct_vecn_norm(x, 3 * (size_t)n));
                drop(&f);
            }
        ct_arena_free(&arena);
    }
}

static void empty_matrix_is_solved(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 0, 0, 4, NULL), CT_OK);
    fixture f = make(&A, CT_ORDER_AUTO, CT_PRECISION_SINGLE);
    ct_factor_solve(f.factor, f.work, NULL, NULL, NULL);
    assert_int_equal(ct_factor_columns(f.factor, f.work, NULL, 0, NULL, 0, NULL, NULL), CT_OK);
    assert_int_equal(ct_factor_solve_many(f.factor, f.work, NULL, 5, NULL, NULL), CT_OK);
    drop(&f);
    ct_arena_free(&arena);
}

static void disconnected_graphs_chains_and_arrows_are_solved(void** state) {
    enum { N = 4000 };
    static int pairs[2 * N];
    struct {
        int n, npair;
    } sizes[3] = {{N, N / 2}, {N, N - 1}, {300, 299}};
    for (int shape = 0; shape < 3; shape++) {
        for (int p = 0; p < sizes[shape].npair; p++) {
            // pairs alone; a chain; all joined to node 0
            pairs[2 * p] = shape == 0 ? 2 * p : shape == 1 ? p : 0;
            pairs[2 * p + 1] = shape == 0 ? 2 * p + 1 : p + 1;
        }
        ct_arena arena = {0};
        ct_block_matrix A;
        random_matrix(&A, &arena, sizes[shape].n, sizes[shape].npair, pairs, 3);
        check_both_precisions(&A, CT_ORDER_AMD);
        check_both_precisions(&A, CT_ORDER_METIS);
        ct_arena_free(&arena);
    }
}

static void chain_without_reordering_gain_is_deep_and_solved(void** state) {
    // a matrix with a band of 6 nodes: the elimination tree is a path of many supernodes
    enum { N = 3000, BAND = 6 };
    static int pairs[2 * N * BAND];
    int count = 0;
    for (int i = 0; i < N; i++)
        for (int k = 1; k <= BAND && i + k < N; k++, count++)
            pairs[2 * count] = i, pairs[2 * count + 1] = i + k;
    ct_arena arena = {0};
    ct_block_matrix A;
    random_matrix(&A, &arena, N, count, pairs, 11);
    check_both_precisions(&A, CT_ORDER_AMD);
    ct_arena_free(&arena);
}

static void badly_scaled_matrix_fits_half_precision(void** state) {
    // congruence by scales from 1e-12 to 1e12; the error is measured in the scaled variables
    enum { N = 50 };
    int pairs[2 * (N - 1)];
    for (int i = 0; i + 1 < N; i++) pairs[2 * i] = i, pairs[2 * i + 1] = i + 1;
    ct_arena arena = {0};
    ct_block_matrix A;
    random_matrix(&A, &arena, N, N - 1, pairs, 7);
    double scale[N], x[3 * N], b[3 * N];
    for (int i = 0; i < N; i++) scale[i] = pow(10, 12 * sin(i));
    for (int j = 0; j < N; j++)
        for (int e = A.start[j]; e < A.start[j + 1]; e++)
            for (int k = 0; k < 9; k++) A.value[9 * e + k] *= scale[j] * scale[A.row[e]];
    for (int i = 0; i < 3 * N; i++) x[i] = cos(i) / scale[i / 3];
    ct_block_matrix_multiply(&A, x, b);
    fixture f = make(&A, CT_ORDER_AMD, CT_PRECISION_HALF);
    solve(&f, N, b, b);
    for (int i = 0; i < 3 * N; i++) assert_float_equal(b[i] * scale[i / 3], cos(i), 5e-3);
    drop(&f);
    ct_arena_free(&arena);
}

static void right_hand_side_may_have_any_magnitude(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    const int pair[2] = {0, 1};
    random_matrix(&A, &arena, 2, 1, pair, 1);
    fixture f = make(&A, CT_ORDER_AMD, CT_PRECISION_SINGLE);
    double b[6], x[6], y[6];
    for (int i = 0; i < 6; i++) b[i] = cos(i);
    solve(&f, 2, b, x);
    const double magnitude[4] = {0x1p-500, 0x1p-150, 0x1p200, 0x1p900};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 6; i++) y[i] = b[i] * magnitude[k];
        solve(&f, 2, y, y);
        for (int i = 0; i < 6; i++) assert_true(y[i] == x[i] * magnitude[k]);
    }
    memset(b, 0, sizeof b);
    solve(&f, 2, b, x);
    for (int i = 0; i < 6; i++) assert_true(x[i] == 0);
    drop(&f);
    ct_arena_free(&arena);
}

static void beam_is_solved_to_single_and_half_accuracy(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(24, 6);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    for (ct_ordering ordering = CT_ORDER_AMD; ordering <= CT_ORDER_METIS; ordering++) {
        fixture f = make(&A, ordering, CT_PRECISION_SINGLE);
        assert_true(solve_error(&f, &A) < 1e-5);
        drop(&f);
        f = make(&A, ordering, CT_PRECISION_HALF);
        assert_true(solve_error(&f, &A) < 1e-3);
        drop(&f);
    }
    ct_arena_free(&arena);
}

// Separators of 81 nodes join to supernodes of several panels, at any of which children may join them.
static void supernodes_of_several_panels_are_solved(void** state) {
    for (int length = 60; length <= REPEAT(80, 60); length += 20) {
        ct_arena arena = {0};
        ct_block_matrix A;
        beam_def def = beam_def_default(length, 8);
        assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
        fixture f = make(&A, CT_ORDER_METIS, CT_PRECISION_SINGLE);
        assert_true(solve_error(&f, &A) < 1e-5);
        drop(&f);
        ct_arena_free(&arena);
    }
}

static void inverse_is_symmetric_and_positive(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(20, 4);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    size_t count = 3 * (size_t)A.n;
    double *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
    double *Px = malloc(count * sizeof *x), *Py = malloc(count * sizeof *y);
    unsigned seed = 9;
    for (size_t i = 0; i < count; i++) x[i] = random_unit(&seed), y[i] = random_unit(&seed);
    for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++) {
        fixture f = make(&A, CT_ORDER_AMD, precision);
        ct_factor_solve(f.factor, f.work, NULL, x, Px);
        ct_factor_solve(f.factor, f.work, NULL, y, Py);
        double xPy = 0, yPx = 0, xPx = 0;
        for (size_t i = 0; i < count; i++) xPy += x[i] * Py[i], yPx += y[i] * Px[i], xPx += x[i] * Px[i];
        assert_true(xPx > 0);
        // to single rounding for half too: both sweeps use the same rounded numbers
        assert_true(fabs(xPy - yPx) < 3e-7 * ct_vecn_norm(x, count) * ct_vecn_norm(Py, count));
        drop(&f);
    }
    free(x), free(y), free(Px), free(Py);
    ct_arena_free(&arena);
}

static void order_is_a_permutation(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(10, 4);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    ct_symbolic* symbolic;
    assert_int_equal(ct_symbolic_create(&symbolic, &A, CT_ORDER_AUTO), CT_OK);
    char* seen = calloc((size_t)A.n, 1);
    for (int k = 0; k < A.n; k++) {
        int node = ct_symbolic_order(symbolic)[k];
        assert_in_range(node, 0, A.n - 1);
        assert_false(seen[node]);
        seen[node] = 1;
    }
    free(seen);
    ct_symbolic_free(symbolic);
    ct_arena_free(&arena);
}

static void automatic_ordering_takes_the_smaller_factor(void** state) {
    for (int length = 4; length <= 28; length += 8) {
        ct_arena arena = {0};
        ct_block_matrix A;
        beam_def def = beam_def_default(length, 5);
        assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
        size_t bytes[3];
        const char* name[3];
        for (ct_ordering ordering = CT_ORDER_AUTO; ordering <= CT_ORDER_METIS; ordering++) {
            fixture f = make(&A, ordering, CT_PRECISION_SINGLE);
            bytes[ordering] = ct_factor_bytes(f.factor);
            name[ordering] = ct_symbolic_ordering(f.symbolic);  // static text
            drop(&f);
        }
        assert_string_equal(name[CT_ORDER_AMD], "amd");
        assert_string_equal(name[CT_ORDER_METIS], "metis");
        bool metis = !strcmp(name[CT_ORDER_AUTO], "metis");
        assert_int_equal(bytes[CT_ORDER_AUTO], bytes[metis ? CT_ORDER_METIS : CT_ORDER_AMD]);
        assert_true((double)bytes[CT_ORDER_AUTO] <
                    1.02 * (double)bytes[metis ? CT_ORDER_AMD : CT_ORDER_METIS]);
        ct_arena_free(&arena);
    }
}

static void update_takes_new_values(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(12, 3);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    fixture f = make(&A, CT_ORDER_AMD, CT_PRECISION_SINGLE);
    double before = solve_error(&f, &A);
    for (int i = 0; i < 9 * A.start[A.n]; i++) A.value[i] *= 3;
    assert_true(solve_error(&f, &A) > 0.5);  // the old values
    assert_int_equal(ct_factor_update(f.factor, f.work, NULL, &A), CT_OK);
    assert_true(solve_error(&f, &A) < 2 * before);
    assert_true(ct_factor_bytes(f.factor) > 4 * 9 * (size_t)A.start[A.n] / 2);
    assert_true(ct_factor_flops(f.factor) > 0);
    drop(&f);
    ct_arena_free(&arena);
}

static void indefinite_matrix_is_refused_and_the_old_factor_kept(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(12, 3);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    fixture f = make(&A, CT_ORDER_AMD, CT_PRECISION_HALF);
    size_t size = 3 * (size_t)A.n * sizeof(double);
    double *b = malloc(size), *x = malloc(size), *y = malloc(size);
    for (int i = 0; i < 3 * A.n; i++) b[i] = cos(i);
    ct_factor_solve(f.factor, f.work, NULL, b, x);
    double* diagonal = A.value + 9 * (size_t)A.start[A.n / 2];
    // negative, indefinite, not finite
    const double bad[4] = {-diagonal[0], diagonal[0] * 1e-3, NAN, INFINITY};
    double good = diagonal[0];
    for (int k = 0; k < 4; k++) {
        diagonal[0] = bad[k];
        assert_int_equal(ct_factor_update(f.factor, f.work, NULL, &A), CT_SINGULAR);
        ct_factor_solve(f.factor, f.work, NULL, b, y);
        assert_memory_equal(x, y, size);
    }
    diagonal[0] = good;
    A.value[9 * A.start[3] + 10] = NAN;
    assert_int_equal(ct_factor_update(f.factor, f.work, NULL, &A), CT_SINGULAR);
    free(b), free(x), free(y);
    drop(&f);
    ct_arena_free(&arena);
}

static void check_thread_counts(const ct_block_matrix* A) {
    size_t size = 3 * (size_t)A->n * sizeof(double);
    double *b = malloc(size), *x = malloc(size), *y = malloc(size);
    for (int i = 0; i < 3 * A->n; i++) b[i] = cos(i);
    for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++) {
        fixture f = make(A, CT_ORDER_METIS, precision);
        ct_factor_solve(f.factor, f.work, NULL, b, x);
        for (int count = 1; count <= 4; count++) {
            ct_threads* threads;
            assert_int_equal(ct_threads_create(&threads, count), CT_OK);
            for (int repeat = 0; repeat < 8; repeat++) {
                memset(y, 0, size);
                ct_factor_solve(f.factor, f.work, threads, b, y);
                assert_memory_equal(x, y, size);
            }
            ct_threads_free(threads);
        }
        drop(&f);
    }
    free(b), free(x), free(y);
}

static void solve_is_bit_identical_for_every_thread_count(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(30, 6);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    check_thread_counts(&A);
    ct_arena_free(&arena);
}

static void panels_shared_among_threads_give_the_same_bits(void** state) {
    // all nodes coupled: one panel of 600 columns
    enum { N = 200 };
    static int pairs[N * N];
    int count = 0;
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++, count++) pairs[2 * count] = i, pairs[2 * count + 1] = j;
    ct_arena arena = {0};
    ct_block_matrix A;
    random_matrix(&A, &arena, N, count, pairs, 2);
    check_both_precisions(&A, CT_ORDER_AMD);
    check_thread_counts(&A);
    ct_arena_free(&arena);
}

// Every right-hand side of a group against a solve of its own; alone, among others and in place with the same
// bits.
static void check_many(const ct_block_matrix* A, ct_precision precision, int count) {
    fixture f = make(A, CT_ORDER_METIS, precision);
    size_t n = 3 * (size_t)A->n, size = n * sizeof(double);
    double *b = malloc((size_t)count * size), *x = malloc((size_t)count * size),
           *y = malloc((size_t)count * size);
    for (size_t i = 0; i < n * (size_t)count; i++)
        b[i] = cos((double)i) * ldexp(1, 200 * (int)(i / n % 3) - 200);
    memset(b + n * (size_t)(count / 2), 0, size);
    assert_int_equal(ct_factor_solve_many(f.factor, f.work, NULL, count, b, x), CT_OK);
    for (int k = 0; k < count; k++) {
        const double *many = x + n * (size_t)k, *right = b + n * (size_t)k;
        ct_factor_solve(f.factor, f.work, NULL, right, y);
        double length = ct_vecn_norm(y, n);
        for (size_t i = 0; i < n; i++) y[i] -= many[i];
        assert_true(ct_vecn_norm(y, n) <= 3e-6 * length);
        assert_int_equal(ct_factor_solve_many(f.factor, f.work, NULL, 1, right, y), CT_OK);
        assert_memory_equal(y, many, size);
    }
    for (int nthread = 1; nthread <= 4; nthread++) {
        ct_threads* threads;
        assert_int_equal(ct_threads_create(&threads, nthread), CT_OK);
        memcpy(y, b, (size_t)count * size);
        assert_int_equal(ct_factor_solve_many(f.factor, f.work, threads, count, y, y), CT_OK);
        assert_memory_equal(x, y, (size_t)count * size);
        ct_threads_free(threads);
    }
    free(b), free(x), free(y);
    drop(&f);
}

static void many_right_hand_sides_are_solved_as_single_ones(void** state) {
    const int counts[6] = {1, 8, 9, 24, 30, 61};
    for (int shape = 0; shape < 3; shape++) {
        ct_arena arena = {0};
        ct_block_matrix A;
        const int pairs[6] = {0, 1, 1, 2, 3, 4};  // a forest
        beam_def def = beam_def_default(20, 5);
        if (shape == 0) assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
        else random_matrix(&A, &arena, shape == 1 ? 1 : 6, shape == 1 ? 0 : 3, pairs, 4);
        for (int k = 0; k < 6; k++) {
            check_many(&A, CT_PRECISION_SINGLE, counts[k]);
            check_many(&A, CT_PRECISION_HALF, counts[k]);
        }
        ct_arena_free(&arena);
    }
}

// Blocks of the inverse against solves for unit vectors, relative to the largest entry of each column.
static void check_columns(const fixture* f, int n, ct_threads* threads, int ncolumn, const int* column,
                          int nrow, const int* row, double tolerance) {
    float* out = malloc((9 * (size_t)ncolumn * (size_t)nrow + 1) * sizeof *out);
    double* x = malloc(3 * (size_t)n * sizeof *x);
    out[9 * ncolumn * nrow] = 7;
    assert_int_equal(ct_factor_columns(f->factor, f->work, threads, ncolumn, column, nrow, row, out), CT_OK);
    assert_true(out[9 * ncolumn * nrow] == 7);
    for (int j = 0; j < ncolumn; j++)
        for (int b = 0; b < 3; b++) {
            for (int k = 0; k < 3 * n; k++) x[k] = 0;
            x[3 * column[j] + b] = 1;
            ct_factor_solve(f->factor, f->work, NULL, x, x);
            double largest = 0;
            for (int k = 0; k < 3 * n; k++) largest = fmax(largest, fabs(x[k]));
            for (int i = 0; i < nrow; i++)
                for (int a = 0; a < 3; a++)
                    assert_float_equal(out[9 * (j * nrow + i) + 3 * a + b], x[3 * row[i] + a],
                                       tolerance * largest);
        }
    free(out), free(x);
}

// `count` different nodes out of n in scattered order.
static void choose_nodes(int n, int count, unsigned seed, int* node) {
    int* all = malloc((size_t)n * sizeof *all);
    for (int k = 0; k < n; k++) all[k] = k;
    for (int k = 0; k < count; k++) {
        int other = k + (int)((random_unit(&seed) + 0.5) * (n - k));
        int kept = all[other];
        all[other] = all[k];
        node[k] = all[k] = kept;
    }
    free(all);
}

// Few and many columns and rows, the same on both sides, repeated, none.
static void check_column_lists(const ct_block_matrix* A, ct_ordering ordering, double tolerance) {
    enum { MOST = 60 };
    int column[MOST], row[MOST], n = A->n;
    for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++) {
        fixture f = make(A, ordering, precision);
        const int sizes[8][2] = {{1, 1}, {5, MOST}, {MOST, 5}, {8, 8}, {9, 17}, {MOST, MOST}, {0, 3}, {3, 0}};
        for (int k = 0; k < 8; k++) {
            int ncolumn = sizes[k][0] < n ? sizes[k][0] : n, nrow = sizes[k][1] < n ? sizes[k][1] : n;
            choose_nodes(n, ncolumn, 3, column);
            choose_nodes(n, nrow, 4, row);
            check_columns(&f, n, NULL, ncolumn, column, nrow, row, tolerance);
            check_columns(&f, n, NULL, ncolumn, column, ncolumn, column, tolerance);
        }
        for (int k = 0; k < MOST; k++) column[k] = k % 2 ? n - 1 : 0, row[k] = k % n;
        check_columns(&f, n, NULL, MOST, column, 20, column, tolerance);
        check_columns(&f, n, NULL, 7, column, MOST, row, tolerance);
        drop(&f);
    }
}

static void columns_are_solves_for_unit_vectors(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(24, 6);  // large enough to be cut into parts
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    check_column_lists(&A, CT_ORDER_AMD, 1e-5);
    check_column_lists(&A, CT_ORDER_METIS, 1e-5);
    ct_arena_free(&arena);
}

static void columns_of_small_and_degenerate_patterns_are_right(void** state) {
    enum { N = 400 };
    static int pairs[N * N];
    // one node; two; pairs alone; a chain; an arrow; one dense supernode
    const int sizes[6] = {1, 2, N, N, 120, 40};
    for (int shape = 0; shape < 6; shape++) {
        int n = sizes[shape], npair = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                bool next = j == i + 1;
                bool joined = shape == 1 || shape == 5 || (shape == 2 && i % 2 == 0 && next) ||
                              (shape == 3 && next) || (shape == 4 && i == 0);
                if (joined) pairs[2 * npair] = i, pairs[2 * npair + 1] = j, npair++;
            }
        ct_arena arena = {0};
        ct_block_matrix A;
        random_matrix(&A, &arena, n, npair, pairs, 5);
        check_column_lists(&A, CT_ORDER_AMD, 1e-6);
        ct_arena_free(&arena);
    }
}

static void columns_are_symmetric_and_bit_identical_for_every_thread_count(void** state) {
    enum { COUNT = 100 };
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(30, 6);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    int node[COUNT];
    choose_nodes(A.n, COUNT, 8, node);
    static float known[9 * COUNT * COUNT], out[9 * COUNT * COUNT];
    fixture f = make(&A, CT_ORDER_METIS, CT_PRECISION_HALF);
    for (int few = 0; few < 2; few++) {
        int ncolumn = few ? 7 : COUNT;
        size_t size = 9 * (size_t)ncolumn * COUNT * sizeof(float);
        assert_int_equal(ct_factor_columns(f.factor, f.work, NULL, ncolumn, node, COUNT, node, known), CT_OK);
        for (int i = 0; i < ncolumn; i++)
            for (int j = 0; j < ncolumn; j++)
                for (int k = 0; k < 9; k++)
                    assert_true(few || known[9 * (j * COUNT + i) + k] ==
                                           known[9 * (i * COUNT + j) + k % 3 * 3 + k / 3]);
        for (int count = 1; count <= 4; count++) {
            ct_threads* threads;
            assert_int_equal(ct_threads_create(&threads, count), CT_OK);
            for (int repeat = 0; repeat < 4; repeat++) {
                memset(out, 0, size);
                assert_int_equal(
                    ct_factor_columns(f.factor, f.work, threads, ncolumn, node, COUNT, node, out), CT_OK);
                assert_memory_equal(known, out, size);
            }
            ct_threads_free(threads);
        }
    }
    drop(&f);
    ct_arena_free(&arena);
}

static void columns_of_a_badly_scaled_matrix_are_right(void** state) {
    // congruence by powers of two: the inverse is scaled exactly
    enum { N = 20 };
    int pairs[2 * (N - 1)], node[N];
    for (int i = 0; i + 1 < N; i++) pairs[2 * i] = i, pairs[2 * i + 1] = i + 1;
    ct_arena arena = {0};
    ct_block_matrix A;
    random_matrix(&A, &arena, N, N - 1, pairs, 7);
    fixture plain = make(&A, CT_ORDER_AMD, CT_PRECISION_SINGLE);
    double scale[N];
    for (int i = 0; i < N; i++) scale[i] = ldexp(1, 20 * (i % 3 - 1)), node[i] = i;
    for (int j = 0; j < N; j++)
        for (int e = A.start[j]; e < A.start[j + 1]; e++)
            for (int k = 0; k < 9; k++) A.value[9 * e + k] *= scale[j] * scale[A.row[e]];
    fixture scaled = make(&A, CT_ORDER_AMD, CT_PRECISION_SINGLE);
    static float x[9 * N * N], y[9 * N * N];
    assert_int_equal(ct_factor_columns(plain.factor, plain.work, NULL, N, node, N, node, x), CT_OK);
    assert_int_equal(ct_factor_columns(scaled.factor, scaled.work, NULL, N, node, N, node, y), CT_OK);
    const int* order = ct_symbolic_order(plain.symbolic);
    for (int i = 0; i < 9 * N * N; i++) {
        double both = scale[order[i / 9 % N]] * scale[order[i / 9 / N]];
        assert_true((float)(y[i] * both) == x[i]);
    }
    drop(&plain);
    drop(&scaled);
    ct_arena_free(&arena);
}

static void instruction_sets_agree(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(20, 5);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    int count = 3 * A.n;
    double *b = malloc((size_t)count * sizeof *b), *x = malloc((size_t)count * sizeof *x),
           *y = malloc((size_t)count * sizeof *y);
    for (int i = 0; i < count; i++) b[i] = cos(i);
    ct_isa best = ct_cpu_isa();
    for (ct_precision precision = CT_PRECISION_SINGLE; precision <= CT_PRECISION_HALF; precision++)
        for (int isa = (int)best; isa >= 0; isa--) {
            setenv("CUTTLE_ISA", ct_isa_name((ct_isa)isa), 1);
            fixture f = make(&A, CT_ORDER_AMD, precision);
            ct_factor_solve(f.factor, f.work, NULL, b, isa == (int)best ? x : y);
            for (int i = 0; i < count && isa != (int)best; i++) y[i] -= x[i];
            // to single rounding, in half too: the stored numbers are the same
            if (isa != (int)best)
                assert_true(ct_vecn_norm(y, (size_t)count) < 3e-6 * ct_vecn_norm(x, (size_t)count));
            const int node[9] = {0, 5, 17, 40, 200, 300, 301, 302, A.n - 1};
            check_columns(&f, A.n, NULL, 9, node, 9, node, 1e-5);
            check_columns(&f, A.n, NULL, 2, node, 9, node, 1e-5);
            check_columns(&f, A.n, NULL, 5, node, 9, node, 1e-5);
            drop(&f);
        }
    unsetenv("CUTTLE_ISA");
    free(b), free(x), free(y);
    ct_arena_free(&arena);
}

// The tests are compiled without F16C: this is the portable conversion.
static void half_precision_round_trips_and_rounds_to_even(void** state) {
    uint16_t in[8], out[8];
    for (unsigned base = 0; base < 0x7c00; base += 8) {
        for (unsigned i = 0; i < 8; i++) in[i] = (uint16_t)((base + i) | (i % 2 ? 0x8000 : 0));
        ct_float8 value = ct_half_load(in);
        for (unsigned i = 0; i < 8; i++) {
            unsigned exponent = (base + i) >> 10, fraction = (base + i) & 1023;
            double known = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
            assert_true(value[i] == (float)(i % 2 ? -known : known));
        }
        ct_half_store(out, value);
        assert_memory_equal(in, out, sizeof in);
        // halfway to the next number: to the even one; a little more: up
        for (unsigned i = 0; i < 8; i++) in[i] = (uint16_t)(base + i);
        value = ct_half_load(in);
        for (unsigned i = 0; i < 8; i++) in[i]++;
        ct_float8 next = ct_half_load(in);
        if (base + 8 == 0x7c00) next[7] = 65536;  // what would follow the largest number
        ct_half_store(out, (value + next) / 2);
        for (unsigned i = 0; i < 8; i++) assert_int_equal(out[i], base + i + (base + i) % 2);
        ct_half_store(out, value * 0.499f + next * 0.501f);
        for (unsigned i = 0; i < 8; i++) assert_int_equal(out[i], base + i + 1);
    }
}

static void blas_core_type_is_named_or_right(void** state) {
    assert_non_null(ct_blas_core());
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    assert_null(ct_blas_coretype());
    unsetenv("OPENBLAS_CORETYPE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solve_agrees_with_dense_cholesky),
        cmocka_unit_test(empty_matrix_is_solved),
        cmocka_unit_test(disconnected_graphs_chains_and_arrows_are_solved),
        cmocka_unit_test(chain_without_reordering_gain_is_deep_and_solved),
        cmocka_unit_test(badly_scaled_matrix_fits_half_precision),
        cmocka_unit_test(right_hand_side_may_have_any_magnitude),
        cmocka_unit_test(beam_is_solved_to_single_and_half_accuracy),
        cmocka_unit_test(supernodes_of_several_panels_are_solved),
        cmocka_unit_test(inverse_is_symmetric_and_positive),
        cmocka_unit_test(order_is_a_permutation),
        cmocka_unit_test(automatic_ordering_takes_the_smaller_factor),
        cmocka_unit_test(update_takes_new_values),
        cmocka_unit_test(indefinite_matrix_is_refused_and_the_old_factor_kept),
        cmocka_unit_test(solve_is_bit_identical_for_every_thread_count),
        cmocka_unit_test(panels_shared_among_threads_give_the_same_bits),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(many_right_hand_sides_are_solved_as_single_ones),
        cmocka_unit_test(columns_are_solves_for_unit_vectors),
        cmocka_unit_test(columns_of_small_and_degenerate_patterns_are_right),
        cmocka_unit_test(columns_are_symmetric_and_bit_identical_for_every_thread_count),
        cmocka_unit_test(columns_of_a_badly_scaled_matrix_are_right),
        cmocka_unit_test(half_precision_round_trips_and_rounds_to_even),
        cmocka_unit_test(blas_core_type_is_named_or_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
