// Numeric Cholesky factorisation by fronts (Duff and Reid 1983), as fronts_plan.h lays it out.
//
// The front of a supernode is the sum of its columns of A and of what its children leave:
//     [A11 . ; A21 U],   L11 L11^T = A11,   L21 = A21 L11^-T,   and U - L21 L21^T is left for its parent.
// Own columns are eliminated block after block; a finished block [L11; L21] goes to the caller, who keeps
// what it wants of it in whatever form. So no more of the factor is there in double precision than one front.
//
// Sums run in an order that the plan fixes: the bits do not depend on the number of threads.
#ifndef CT_SPARSE_FRONTS_H
#define CT_SPARSE_FRONTS_H

#include "base/cpu.h"
#include "base/threads.h"
#include "sparse/fronts_plan.h"

// Of blocks with up to CT_FRONTS_NARROW columns; wider ones go to BLAS. Matrices are column-major.
enum { CT_FRONTS_NARROW = 120, CT_FRONTS_SHORT = 480 };
// Of rows of whole vectors, and five numbers more.
#define CT_FRONTS_WIDTH(columns) (((columns) + 13) / 8 * 8)
typedef struct ct_fronts_kernels {
    // [L11; L21] from [A11; A21] in place, zeros above the diagonal; false: not positive definite.
    bool (*eliminate)(double* L, int columns, int rows);
    // Lower trapezoid U (rows by count, stride rows) -= X Y^T, X the rows of L from the given one on, Y the
    // first `count` of them.
    void (*leave)(const double* L, int columns, int stride, int rows, int count, double* U);
    // [inv(L11); -L21 inv(L11)] in place; scratch: CT_FRONTS_WIDTH(columns) numbers a column.
    void (*invert)(double* L, int columns, int rows, double* scratch);
    // Of one column, what `count` runs of nodes of a child hold, the first one without `skip` nodes, is added
    // to the parent's; from, to: where node 0 of either would be.
    void (*add)(int unknowns, int skip, const ct_front_run* run, int count, const double* from, double* to);
} ct_fronts_kernels;

const ct_fronts_kernels* ct_fronts_kernels_for(ct_isa isa);

typedef struct ct_fronts_def {
    const ct_front_plan* plan;
    const ct_block_matrix* matrix;
    int unknowns;         // per node: 3, or 1: entry (0,0) of every block
    const double* scale;  // n, by the matrix's rows: S A S is factored; NULL: A
    ct_isa isa;
    double* room;  // unknowns^2 plan->room doubles
    ct_threads* threads;
    // Takes own block number `panel` of the plan, which it may change: `rows` by `columns`, zeros above the
    // diagonal not guaranteed. threads: to share its work among; NULL: this is one of several at a time.
    void (*store)(int panel, double* L, int columns, int rows, ct_threads* threads, void* user);
    void* user;
} ct_fronts_def;

// CT_SINGULAR: not positive definite; some blocks were stored. Allocates nothing.
ct_status ct_fronts_factor(const ct_fronts_def* def);

// What stores share: rows in pieces that are the same for every number of threads.
enum { CT_FRONTS_ROWS = 512 };
typedef void (*ct_fronts_rows)(int begin, int end, void* user);  // rows [begin, end)
void ct_fronts_share(ct_threads* threads, int rows, double flops, ct_fronts_rows task, void* user);

#endif
