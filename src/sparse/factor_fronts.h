// Numeric Cholesky factorisation by fronts (Duff and Reid 1983), for factors that are made anew often.
//
// Supernodes ascend towards the root. The front of one holds its columns and the rows below,
//     [A11 . ; A21 U],   U = sum of what its children leave for these rows,
// to which its columns of A and its children's parts are added. Then L11 L11^T = A11, L21 = A21 L11^-T, and
// it leaves U - L21 L21^T for its parent. What is left for a parent lies on a stack: children come before
// their parent, the last one on top.
#ifndef CT_SPARSE_FACTOR_FRONTS_H
#define CT_SPARSE_FACTOR_FRONTS_H

#include "sparse/factor_layout.h"

// Of fronts with up to CT_FRONTS_NARROW columns; wider ones go to BLAS.
enum { CT_FRONTS_NARROW = 48 };
typedef struct ct_fronts_kernels {
    // [L11; L21] from [A11; A21] in place, zeros above the diagonal; false: not positive definite.
    bool (*eliminate)(double* L, int columns, int rows);
    void (*leave)(const double* L, int columns, int rows, double* U);  // U -= L21 L21^T, lower triangle
    // [inv(L11); -L21 inv(L11)] in place; multiple: scratch, `columns` numbers.
    void (*invert)(double* L, int columns, int rows, double* multiple);
} ct_fronts_kernels;

typedef struct ct_fronts {
    ct_arena arena;
    const ct_fronts_kernels* kernels;
    int count;         // supernodes
    int* width;        // count: own nodes
    int* border;       // count: nodes below
    int* children;     // count
    size_t* values;    // count + 1: where its columns begin among `value`
    size_t* relative;  // count + 1: where its rows below begin in `place`
    int* place;        // of each node below: its place in the parent's front
    // per block of the matrix: where it begins among `value`, and the row stride there; flip: transposed
    size_t* target;
    int* stride;
    unsigned char* flip;
    double* value;  // columns of the supernodes, column-major, 3 (width + border) rows
    double* stack;
    size_t* left;  // count: where what a supernode leaves begins on the stack
    int* waiting;  // count: supernodes on the stack
} ct_fronts;

// For matrices with the pattern of `matrix`. CT_UNSUPPORTED: the supernodes are not in such an order.
ct_status ct_fronts_create(ct_fronts** out, const ct_symbolic* symbolic, const ct_block_matrix* matrix);
void ct_fronts_free(ct_fronts* fronts);
// Factors S A S, S the scale of each block row, into fronts->value. Allocates nothing.
ct_status ct_fronts_factor(ct_fronts* fronts, const ct_block_matrix* matrix, const double* scale);

#endif
