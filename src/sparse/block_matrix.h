// Symmetric sparse matrix of 3x3 blocks: the lower triangle, block columns with sorted block rows.
//
// Made from the pattern of elements (each couples all of its nodes) over `n` unknown nodes; nodes that are
// not unknowns are given as -1 and drop out. Values are added element by element in a fixed order.
#ifndef CT_SPARSE_BLOCK_MATRIX_H
#define CT_SPARSE_BLOCK_MATRIX_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_block_matrix {
    int n;          // block rows
    int* start;     // n + 1    first entry of each block column
    int* row;       // start[n] block row >= column; the diagonal block comes first
    double* value;  // 9 start[n]  block (i,j), row-major: value[9 e + 3 a + b] = A[3 i + a, 3 j + b]
} ct_block_matrix;

// Pattern of nelement elements with `width` nodes each (ids 0..n-1, or -1). Arrays live in the arena; value
// is zero.
ct_status ct_block_matrix_create(ct_block_matrix* out, ct_arena* arena, int n, int nelement, int width,
                                 const int* nodes);
void ct_block_matrix_clear(ct_block_matrix* matrix);
// Adds block (row-major 3x3) to A[i,j]; also serves i < j (adds the transpose to A[j,i]). -1 is ignored.
void ct_block_matrix_add(ct_block_matrix* matrix, int i, int j, const double block[9]);
// y = A x, both 3 n.
void ct_block_matrix_multiply(const ct_block_matrix* matrix, const double* x, double* y);

#endif
