// Krylov solvers: conjugate gradients for symmetric systems, GMRES for the rest. Matrices are callbacks.
//
// All sums run in index order on the caller's thread, so results do not depend on threads. Solving allocates
// nothing.
#ifndef CT_SPARSE_KRYLOV_H
#define CT_SPARSE_KRYLOV_H

#include "cuttle.h"

// out = A in; they never alias.
typedef void (*ct_operator)(const double* in, double* out, void* user);

typedef struct ct_krylov_def {
    int n;                     // unknowns; at most what the work was made for
    ct_operator apply;         // A
    ct_operator precondition;  // M ~ A^-1; NULL: identity
    void* user;                // for both
    double tolerance;          // done when |r| <= max(tolerance, relative |r0|), r = b - A x
    double relative;
    int max_iterations;  // products with A at most
    int cycle;           // gmres: length of a cycle; 0, or above the work's: the work's
} ct_krylov_def;

typedef enum ct_krylov_end {
    CT_KRYLOV_CONVERGED,
    CT_KRYLOV_LIMIT,     // out of iterations
    CT_KRYLOV_NEGATIVE,  // pcg: a direction p with p.A p <= 0; x is the iterate before it
    // M is not positive definite, A M is singular, or a value is not finite; x is the last good iterate
    CT_KRYLOV_BREAKDOWN
} ct_krylov_end;

typedef struct ct_krylov_report {
    ct_krylov_end end;
    int iterations;            // products with A
    double initial, residual;  // |r0| and |r|
} ct_krylov_report;

typedef ct_krylov_def ct_pcg_def;
typedef ct_krylov_report ct_pcg_report;

typedef struct ct_krylov_work ct_krylov_work;
// For systems of up to n unknowns; restart: length of GMRES' cycles, 0 when only pcg will be used.
ct_status ct_krylov_work_create(ct_krylov_work** out, int n, int restart);
// Makes room for n unknowns and cycles of `restart`; what is there already is never given back, and kept when
// out of memory. A longer restart lengthens the cycles. Allocates nothing when there is room.
ct_status ct_krylov_reserve(ct_krylov_work* work, int n, int restart);
void ct_krylov_work_free(ct_krylov_work* work);

// Conjugate gradients from the given x; A symmetric, M symmetric positive definite. On negative curvature it
// stops and keeps the iterate (truncated Newton); at the first iteration it adds M r instead, a descent
// direction of x.A x/2 - b.x. b and x may not alias.
void ct_pcg(const ct_krylov_def* def, ct_krylov_work* work, const double* b, double* x,
            ct_krylov_report* report);

// Restarted GMRES from the given x, or from 0 where that is nearer, preconditioned on the right (A M u = b, x
// = M u), so that |r| is the true residual. It is recomputed at every restart, and at the end after long
// cycles and where it must be below 1e-10 |b|.
void ct_gmres(const ct_krylov_def* def, ct_krylov_work* work, const double* b, double* x,
              ct_krylov_report* report);
// r = b - A x of the last call of ct_gmres.
void ct_gmres_residual(const ct_krylov_work* work, double* r);

#endif
