// The factor's making: supernodes against elimination by hand, fronts against dense answers, on any number of
// threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam_matrix.h"
#include "sparse/factor_layout.h"
#include "sparse/scalar_factor.h"
#include "unit.h"

static double random_unit(unsigned* seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

// n nodes, about `degree` couplings each, diagonally dominant: symmetric positive definite.
static void random_matrix(ct_block_matrix* A, ct_arena* arena, int n, int degree, unsigned seed) {
    const int count = n * degree / 2;
    int* pairs = ct_arena_alloc(arena, 2 * (size_t)count + 2, sizeof(int));
    for (int p = 0; p < 2 * count; p++) pairs[p] = (int)((random_unit(&seed) + 0.5) * n);
    assert_int_equal(ct_block_matrix_create(A, arena, n, count, 2, pairs), CT_OK);
    double* size = ct_arena_alloc(arena, (size_t)n, sizeof(double));
    for (int j = 0; j < n; j++)
        for (int e = A->start[j] + 1; e < A->start[j + 1]; e++)
            for (int k = 0; k < 9; k++) {
                const double value = A->value[9 * e + k] = random_unit(&seed);
                size[j] += fabs(value), size[A->row[e]] += fabs(value);
            }
    for (int j = 0; j < n; j++)
        for (int a = 0; a < 3; a++)
            A->value[9 * A->start[j] + 4 * a] = 0.1 + size[j] + fabs(random_unit(&seed));
}

// ---- supernodes ----------------------------------------------------------------------------

// Fill of the graph when its nodes are eliminated in order: reach[i n + j], i > j.
static char* eliminate(const ct_graph* graph, const int* order) {
    const int n = graph->n;
    char* reach = calloc((size_t)n * (size_t)n + 1, 1);
    int* position = malloc((size_t)(n + 1) * sizeof(int));
    for (int k = 0; k < n; k++) position[order[k]] = k;
    for (int j = 0; j < n; j++)
        for (int e = graph->start[j]; e < graph->start[j + 1]; e++) {
            const int a = position[j], b = position[graph->row[e]];
            reach[(a > b ? a : b) * n + (a < b ? a : b)] = 1;
        }
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            for (int k = j + 1; k < i && reach[i * n + j]; k++)
                if (reach[k * n + j]) reach[i * n + k] = 1;
    free(position);
    return reach;
}

static void check_supernodes(const ct_block_matrix* A, ct_ordering ordering) {
    ct_arena arena = {0};
    ct_graph graph;
    ct_supernodes s;
    bool metis;
    const int n = A->n;
    int* order = ct_arena_alloc(&arena, (size_t)n, sizeof(int));
    assert_int_equal(ct_graph_create(&graph, &arena, A), CT_OK);
    assert_int_equal(ct_graph_order(&graph, ordering, order, &metis), CT_OK);
    assert_int_equal(ct_supernodes_create(&s, &arena, &graph, order), CT_OK);
    assert_int_equal(s.first[0], 0);
    assert_int_equal(s.first[s.count], n);
    char *reach = eliminate(&graph, s.order), *before = eliminate(&graph, order);
    size_t fill = 0, fill_before = 0;
    for (int i = 0; i < n * n; i++) fill += (size_t)reach[i], fill_before += (size_t)before[i];
    assert_int_equal(fill, fill_before);  // the refined order is as good as the given one
    double size = 0, known;
    for (int k = 0; k < s.count; k++) {
        const size_t below = s.start[k + 1] - s.start[k];
        const int* row = s.row + s.start[k];
        const int width = s.first[k + 1] - s.first[k], last = s.first[k + 1] - 1;
        assert_true(width > 0);
        size += width * (width + 1) / 2.0 + (double)width * (double)below;
        // the rows are those of the last column; earlier ones have no others
        for (size_t i = 0; i < below; i++) assert_true(row[i] > last && reach[row[i] * n + last]);
        for (size_t i = 1; i < below; i++) assert_true(row[i] > row[i - 1]);
        for (int j = s.first[k]; j <= last; j++)
            for (int i = last + 1, at = 0; i < n; i++) {
                while (at < (int)below && row[at] < i) at++;
                if (reach[i * n + j]) assert_true(at < (int)below && row[at] == i);
            }
        if (below)
            assert_true(s.parent[k] > k && row[0] >= s.first[s.parent[k]] &&
                        row[0] < s.first[s.parent[k] + 1]);
        else assert_int_equal(s.parent[k], -1);
    }
    assert_int_equal(ct_supernodes_size(&graph, order, &known), CT_OK);
    assert_true(size == known && size >= (double)fill + n);
    free(reach), free(before);
    ct_arena_free(&arena);
}

static void supernodes_hold_the_fill(void** state) {
    for (unsigned seed = 1; seed <= 12; seed++) {
        ct_arena arena = {0};
        ct_block_matrix A;
        random_matrix(&A, &arena, 3 + 13 * (int)seed, (int)(seed % 4) + 1, seed);
        for (ct_ordering ordering = CT_ORDER_AUTO; ordering <= CT_ORDER_METIS; ordering++)
            check_supernodes(&A, ordering);
        ct_arena_free(&arena);
    }
}

// Copies of one body side by side.
static void copies(ct_block_matrix* A, ct_arena* arena, int count, int length) {
    beam_def def = beam_def_default(length, 2);
    ct_block_matrix body;
    assert_int_equal(beam_matrix(&body, arena, &def), CT_OK);
    const int n = body.n, blocks = body.start[n];
    A->n = count * n;
    A->start = ct_arena_alloc(arena, (size_t)(count * n + 1), sizeof(int));
    A->row = ct_arena_alloc(arena, (size_t)(count * blocks), sizeof(int));
    A->value = ct_arena_alloc(arena, 9 * (size_t)(count * blocks), sizeof(double));
    for (int c = 0; c < count; c++) {
        for (int j = 0; j <= n; j++) A->start[c * n + j] = c * blocks + body.start[j];
        for (int e = 0; e < blocks; e++) A->row[c * blocks + e] = c * n + body.row[e];
        memcpy(A->value + 9 * (size_t)(c * blocks), body.value, 9 * (size_t)blocks * sizeof(double));
    }
}

static void equal_bodies_are_ordered_alike_and_apart(void** state) {
    enum { COUNT = 5 };
    ct_arena arena = {0};
    ct_block_matrix A;
    ct_graph graph;
    bool metis;
    copies(&A, &arena, COUNT, 20);
    const int n = A.n / COUNT;
    int* order = ct_arena_alloc(&arena, (size_t)A.n, sizeof(int));
    assert_int_equal(ct_graph_create(&graph, &arena, &A), CT_OK);
    assert_int_equal(ct_graph_order(&graph, CT_ORDER_AUTO, order, &metis), CT_OK);
    for (int k = 0; k < A.n; k++) assert_int_equal(order[k], order[k % n] + k / n * n);
    check_supernodes(&A, CT_ORDER_AUTO);
    ct_arena_free(&arena);
}

static void ordering_leaves_the_callers_random_sequence_alone(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    ct_graph graph;
    bool metis;
    beam_def def = beam_def_default(10, 5);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    int *order = ct_arena_alloc(&arena, (size_t)A.n, sizeof(int)),
        *again = ct_arena_alloc(&arena, (size_t)A.n, sizeof(int));
    assert_int_equal(ct_graph_create(&graph, &arena, &A), CT_OK);
    srand(7);
    const int first = rand(), second = rand();
    srand(7);
    assert_int_equal(rand(), first);
    assert_int_equal(ct_graph_order(&graph, CT_ORDER_METIS, order, &metis), CT_OK);
    assert_int_equal(rand(), second);
    assert_int_equal(ct_graph_order(&graph, CT_ORDER_METIS, again, &metis), CT_OK);
    assert_memory_equal(order, again, (size_t)A.n * sizeof(int));
    ct_arena_free(&arena);
}

// ---- numbers -------------------------------------------------------------------------------

// log det A and, in place of A, its Cholesky factor: dense, row-major.
static double dense_factor(double* L, int n) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++) L[i * n + j] -= L[i * n + k] * L[j * n + k];
        const double pivot = sqrt(L[j * n + j]);
        for (int i = j; i < n; i++) L[i * n + j] /= pivot;
        sum += 2 * log(pivot);
    }
    return sum;
}

// log det A from the pivots and scales that a factor keeps.
static double log_determinant(const ct_factor* factor) {
    double sum = 0;
    for (int k = 0; k < factor->symbolic->n; k++) {
        for (int a = 0; a < 3; a++) sum -= log((double)factor->values.pivot[4 * k + a]);
        sum -= 6 * log(factor->values.scale[k]);
    }
    return sum;
}

static void determinants_of_random_matrices_are_right(void** state) {
    for (unsigned seed = 1; seed <= 10; seed++) {
        ct_arena arena = {0};
        ct_block_matrix A;
        const int nodes = seed < 3 ? (int)seed : 12 * (int)seed, n = 3 * nodes;
        random_matrix(&A, &arena, nodes, (int)(seed % 5) + 1, seed);
        double* L = calloc((size_t)n * (size_t)n, sizeof(double));
        for (int j = 0; j < nodes; j++)
            for (int e = A.start[j]; e < A.start[j + 1]; e++)
                for (int k = 0; k < 9; k++)
                    L[(3 * A.row[e] + k / 3) * n + 3 * j + k % 3] = A.value[9 * e + k];
        const double known = dense_factor(L, n);
        free(L);
        ct_symbolic* symbolic;
        ct_factor* factor;
        assert_int_equal(ct_symbolic_create(&symbolic, &A, CT_ORDER_AUTO), CT_OK);
        assert_int_equal(ct_factor_create(&factor, symbolic, CT_PRECISION_SINGLE), CT_OK);
        assert_int_equal(ct_factor_update(factor, NULL, NULL, &A), CT_OK);
        assert_float_equal(log_determinant(factor), known, 1e-7 * n);  // pivots are kept in single precision
        // negative somewhere: refused
        A.value[9 * A.start[nodes / 2]] = -1;
        assert_int_equal(ct_factor_update(factor, NULL, NULL, &A), CT_SINGULAR);
        assert_float_equal(log_determinant(factor), known, 1e-7 * n);
        ct_factor_free(factor);
        ct_symbolic_free(symbolic);
        ct_arena_free(&arena);
    }
}

// The same bytes for every number of threads, written for the first time and again.
static void check_threads(const ct_block_matrix* A, ct_precision precision) {
    ct_symbolic* symbolic;
    ct_factor *plain, *factor;
    ct_factor_work* work;
    assert_int_equal(ct_symbolic_create(&symbolic, A, CT_ORDER_AUTO), CT_OK);
    assert_int_equal(ct_factor_create(&plain, symbolic, precision), CT_OK);
    assert_int_equal(ct_factor_update(plain, NULL, NULL, A), CT_OK);
    assert_true(symbolic->plan.step[0].ntask > 1);
    assert_int_equal(ct_factor_work_create(&work, symbolic), CT_OK);
    const size_t bytes = symbolic->nvalue * (precision == CT_PRECISION_HALF ? 2 : 4);
    for (int count = 1; count <= 4; count++) {
        ct_threads* threads;
        assert_int_equal(ct_threads_create(&threads, count), CT_OK);
        assert_int_equal(ct_factor_create(&factor, symbolic, precision), CT_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ct_factor_update(factor, work, threads, A), CT_OK);
            assert_memory_equal(factor->values.tile, plain->values.tile, bytes);
            assert_memory_equal(factor->values.pivot, plain->values.pivot, 4 * (size_t)A->n * sizeof(float));
        }
        ct_factor_free(factor);
        ct_threads_free(threads);
    }
    ct_factor_work_free(work);
    ct_factor_free(plain);
    ct_symbolic_free(symbolic);
}

static void factor_is_bit_identical_for_every_thread_count(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    beam_def def = beam_def_default(16, 6);
    assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
    check_threads(&A, CT_PRECISION_HALF);
    check_threads(&A, CT_PRECISION_SINGLE);
    copies(&A, &arena, 60, 20);
    check_threads(&A, CT_PRECISION_HALF);
    ct_arena_free(&arena);
}

static void scalar_factor_solves(void** state) {
    for (int shape = 0; shape < 4; shape++) {
        ct_arena arena = {0};
        ct_block_matrix A;
        beam_def def = beam_def_default(10, 5);
        if (shape == 0) assert_int_equal(beam_matrix(&A, &arena, &def), CT_OK);
        else random_matrix(&A, &arena, shape == 1 ? 1 : 150 * shape, 2 * shape, (unsigned)shape);
        // one scalar per node, as the matrix of a solve
        for (int e = 0; e < A.start[A.n]; e++)
            for (int k = 1; k < 9; k++) A.value[9 * e + k] = k % 4 ? 0 : A.value[9 * e];
        const size_t n = 3 * (size_t)A.n;
        double *x = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
        for (size_t i = 0; i < n; i++) x[i] = cos((double)i);
        ct_block_matrix_multiply(&A, x, b);
        ct_scalar_factor* factor;
        ct_scalar_work* work;
        assert_int_equal(ct_scalar_factor_create(&factor, &A), CT_OK);
        assert_int_equal(ct_scalar_work_create(&work, factor), CT_OK);
        ct_scalar_factor_solve(factor, work, b, b);
        for (size_t i = 0; i < n; i++) assert_float_equal(b[i], x[i], 1e-9);
        ct_scalar_work_free(work);
        ct_scalar_factor_free(factor);
        A.value[9 * A.start[A.n / 2]] *= -1;
        assert_int_equal(ct_scalar_factor_create(&factor, &A), CT_SINGULAR);
        assert_null(factor);
        free(x), free(b);
        ct_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supernodes_hold_the_fill),
        cmocka_unit_test(equal_bodies_are_ordered_alike_and_apart),
        cmocka_unit_test(ordering_leaves_the_callers_random_sequence_alone),
        cmocka_unit_test(determinants_of_random_matrices_are_right),
        cmocka_unit_test(factor_is_bit_identical_for_every_thread_count),
        cmocka_unit_test(scalar_factor_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
