// Block matrices: pattern, assembly, product.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/block_matrix.h"
#include "unit.h"

static const int two_tets[8] = {0, 2, 1, 4, 4, 2, 3, -1};

static void pattern_is_the_union_of_elements(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 6, 2, 4, two_tets), CT_OK);
    const int start[7] = {0, 4, 7, 10, 12, 13, 14};
    const int row[14] = {0, 1, 2, 4, 1, 2, 4, 2, 3, 4, 3, 4, 4, 5};
    assert_memory_equal(A.start, start, sizeof start);
    assert_memory_equal(A.row, row, sizeof row);
    ct_arena_free(&arena);
}

static void product_equals_dense_product(void** state) {
    enum { N = 18 };
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 6, 2, 4, two_tets), CT_OK);
    double dense[N][N] = {{0}}, x[N], y[N];
    for (int e = 0; e < 2; e++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                int i = two_tets[4 * e + a], j = two_tets[4 * e + b];
                double block[9];
                // symmetric over the whole element: block(i,j) = block(j,i)^T
                for (int p = 0; p < 3; p++)
                    for (int q = 0; q < 3; q++) {
                        int row = 3 * a + p, column = 3 * b + q;
                        block[3 * p + q] = sin(7.0 * row * column + row + column + e);
                    }
                if (i >= j) ct_block_matrix_add(&A, i, j, block);  // each pair once
                for (int p = 0; p < 3 && i >= 0 && j >= 0; p++)
                    for (int q = 0; q < 3; q++) dense[3 * i + p][3 * j + q] += block[3 * p + q];
            }
    for (int i = 0; i < N; i++) x[i] = cos(i);
    ct_block_matrix_multiply(&A, x, y);
    for (int i = 0; i < N; i++) {
        double expected = 0;
        for (int j = 0; j < N; j++) expected += dense[i][j] * x[j];
        assert_float_equal(y[i], expected, 1e-13);
    }
    ct_arena_free(&arena);
}

static void upper_blocks_are_added_transposed(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 6, 2, 4, two_tets), CT_OK);
    const double block[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    ct_block_matrix_add(&A, 0, 4, block);
    double x[18] = {0}, y[18];
    x[12] = 1;  // node 4, x: column 0 of block (0,4)
    ct_block_matrix_multiply(&A, x, y);
    assert_float_equal(y[0], 1, 0);
    assert_float_equal(y[1], 4, 0);
    assert_float_equal(y[2], 7, 0);
    ct_block_matrix_clear(&A);
    ct_block_matrix_multiply(&A, x, y);
    for (int i = 0; i < 18; i++) assert_float_equal(y[i], 0, 0);
    ct_arena_free(&arena);
}

static void fixed_nodes_drop_out(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    const int nodes[4] = {-1, -1, 1, -1};
    assert_int_equal(ct_block_matrix_create(&A, &arena, 2, 1, 4, nodes), CT_OK);
    assert_int_equal(A.start[2], 2);
    const double block[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    ct_block_matrix_add(&A, -1, 1, block);
    ct_block_matrix_add(&A, 1, -1, block);
    for (int i = 0; i < 18; i++) assert_float_equal(A.value[i], 0, 0);
    ct_arena_free(&arena);
}

static void create_refuses_nodes_out_of_range(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    const int nodes[4] = {0, 1, 2, 3};
    assert_int_equal(ct_block_matrix_create(&A, &arena, 3, 1, 4, nodes), CT_BAD_ARGUMENT);
    ct_arena_free(&arena);
}

static void create_accepts_no_unknowns(void** state) {
    ct_arena arena = {0};
    ct_block_matrix A;
    const int nodes[4] = {-1, -1, -1, -1};
    assert_int_equal(ct_block_matrix_create(&A, &arena, 0, 1, 4, nodes), CT_OK);
    assert_int_equal(A.start[0], 0);
    ct_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_is_the_union_of_elements),  cmocka_unit_test(product_equals_dense_product),
        cmocka_unit_test(upper_blocks_are_added_transposed), cmocka_unit_test(fixed_nodes_drop_out),
        cmocka_unit_test(create_refuses_nodes_out_of_range), cmocka_unit_test(create_accepts_no_unknowns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
