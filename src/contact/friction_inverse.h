// The linear system of a friction problem with fixed sets, D_c u_c + E_c F_c = a_c with u = W F, where the
// inverse of W is at hand.
//
// W = R L L^T R^T with a block-diagonal rotation R. In terms of u the system is (D + E W^-1) u = a. Sticking
// contacts K have E = 0: they are solved one by one, u_K = D_K^-1 a_K. The others, S, are left: with H = L^-1
// R^T restricted to their columns,
//     B u_S = a_S - E_S H_S^T h,   h = L^-1 R^T u_K,   B = D_S + E_S H_S^T H_S,   F = R L^-T (h + H_S u_S).
// The transposed system D^T F + W^-1 E^T F = W^-1 a has, with h = L^-1 R^T a,
//     B^T F_S = H_S^T h,   t = R L^-T (h - H_S E_S^T F_S),   F_K = D_K^-T t_K.
// All in single precision: a preconditioner.
#ifndef CT_CONTACT_FRICTION_INVERSE_H
#define CT_CONTACT_FRICTION_INVERSE_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_friction_inverse {
    int count;        // contacts
    const float* L;   // 3 count squared, column-major, lower triangle; NULL: there is none
    const double* R;  // 9 count, row-major; NULL: the identity
} ct_friction_inverse;

typedef struct ct_friction_complement {
    ct_arena arena;
    int capacity;  // contacts
    ct_friction_inverse inverse;
    int nother;        // contacts of S
    int* other;        // nother: which
    double *D, *E;     // 9 count: inverses of D_K, zero for S; 9 nother: E_S
    double* scale;     // 3 nother: of the rows of B
    float *x, *y, *g;  // 3 count each
    int* pivot;        // 3 nother
    float *H, *B;      // 3 count x 3 nother; 3 nother squared, column-major
    size_t H_size, B_size;
} ct_friction_complement;

void ct_friction_complement_free(ct_friction_complement* s);
// *fits: the sets are such that this is the cheap way. CT_OUT_OF_MEMORY.
ct_status ct_friction_complement_build(ct_friction_complement* s, const ct_friction_inverse* inverse,
                                       const double* D, const double* E, bool* fits);
void ct_friction_complement_solve(ct_friction_complement* s, const double* a, double* F);
void ct_friction_complement_solve_transposed(ct_friction_complement* s, const double* a, double* F);

#endif
