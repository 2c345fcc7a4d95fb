// Cholesky factorisation of a symmetric positive definite block matrix, made for being applied often.
//
// Symbolic (ordering, supernodes, layout) once; numeric, by fronts, as often as values change. What is kept
// is made for the solve: [inv(L11); -L21 inv(L11)] tiles in single or half precision, streamed in order,
// vectors and accumulators in single. It is a preconditioner: P^-1 is symmetric positive definite, and its
// values are rounded to 6e-8 (single) or 5e-4 (half) relative. The eigenvalues of P^-1 A are 1 to within
// about a fifth of that times the root of the condition of A (scaled): 2e-4 for a step of a stiff body, but
// 0.5 in half precision for a body almost without mass, where the condition is 1e7.
//
// Unknowns of the matrix are given in the caller's order; ct_symbolic_order tells where each one sits inside
// the factor. The solve works in factor order, so that the caller can fold the permutation into what it does
// anyway.
#ifndef CT_SPARSE_FACTOR_H
#define CT_SPARSE_FACTOR_H

#include "base/threads.h"
#include "sparse/block_matrix.h"
#include "sparse/ordering.h"

typedef enum ct_precision { CT_PRECISION_SINGLE, CT_PRECISION_HALF } ct_precision;

typedef struct ct_symbolic ct_symbolic;  // ordering, supernodes, tile layout: immutable, shared
typedef struct ct_factor ct_factor;      // numeric values for one symbolic

ct_status ct_symbolic_create(ct_symbolic** out, const ct_block_matrix* pattern, ct_ordering ordering);
void ct_symbolic_free(ct_symbolic* symbolic);
// n: order[k] = block row of the matrix at factor position k
const int* ct_symbolic_order(const ct_symbolic* symbolic);
const char* ct_symbolic_ordering(const ct_symbolic* symbolic);  // "amd" or "metis"

ct_status ct_factor_create(ct_factor** out, const ct_symbolic* symbolic, ct_precision precision);
void ct_factor_free(ct_factor* factor);
size_t ct_factor_bytes(const ct_factor* factor);  // bytes streamed by one sweep (a solve reads them twice)
double ct_factor_flops(const ct_factor* factor);  // flops of one numeric factorisation, L alone

// Scratch for updates and solves of one symbolic, one at a time.
typedef struct ct_factor_work ct_factor_work;
ct_status ct_factor_work_create(ct_factor_work** out, const ct_symbolic* symbolic);
void ct_factor_work_free(ct_factor_work* work);

// Factors the values of a matrix with the symbolic's pattern; CT_SINGULAR when not positive definite (the old
// values then stay in force). Same bits for every number of threads. Allocates scratch in the work when first
// called, nothing from then on. work NULL: allocates every time.
ct_status ct_factor_update(ct_factor* factor, ct_factor_work* work, ct_threads* threads,
                           const ct_block_matrix* matrix);

// x = P^-1 b, both 3 n doubles in factor order; may alias. Bit-identical for every thread count. Allocates
// nothing.
void ct_factor_solve(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, const double* b,
                     double* x);

// The same for `count` right-hand sides, one after the other in b and x (3 n doubles each; x may be b), in
// groups that read the factor once. Agrees with single solves to single precision; the bits of a solution
// depend neither on the number of threads nor on the other right-hand sides. Allocates when first called and
// for more threads than before; CT_OUT_OF_MEMORY then leaves x unwritten.
ct_status ct_factor_solve_many(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, int count,
                               const double* b, double* x);

// Blocks of P^-1: for each of the `ncolumn` nodes listed in `column` its three columns, restricted to the
// `nrow` nodes listed in `row`. Nodes are factor positions in any order, repeated ones allowed. out: 9 floats
// a block, row-major, blocks of a column together: P^-1(3 row[i] + a, 3 column[j] + b) = out[9 (j nrow + i) +
// 3 a + b]. Same bits for every thread count. CT_OUT_OF_MEMORY leaves out unwritten.
ct_status ct_factor_columns(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, int ncolumn,
                            const int* column, int nrow, const int* row, float* out);

// Reads `count` floats (a multiple of 256, 64-byte aligned) as fast as this machine can; returns their sum.
// For measurements.
float ct_factor_stream(const ct_factor* factor, const float* from, size_t count);

#endif
