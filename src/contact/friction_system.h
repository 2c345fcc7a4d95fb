// The linear system of a friction problem with fixed sets, D_c (W F)_c + E_c F_c = a_c, made as small as it
// can be.
//
// Where D_c has rank k < 3, rows U2 (3-k of them, U2^T D = 0) hold no W: U2^T E F_c = U2^T a_c. They fix F_c
// up to k numbers,
//     F_c = Y U2^T a_c + Z y_c,      U2^T E Y = I,   U2^T E Z = 0,
// and the other rows U1 give   M y = U1^T a - L^T W F0 - R U2^T a,   M = L^T W Z + K,   with
//     L = D^T U1,   K = U1^T E Z,   R = U1^T E Y,   F0 = Y U2^T a.
// Open contacts have k = 0, slipping ones 2, sticking ones 3. The transposed system (W D^T + E^T) F = a has
//     M^T y = Z^T a,   F = U1 y + U2 (Y^T a - Y^T W L y - R^T y).
// Rows of U1 are scaled so that the diagonal blocks of M are about 1.
#ifndef CT_CONTACT_FRICTION_SYSTEM_H
#define CT_CONTACT_FRICTION_SYSTEM_H

#include "base/memory.h"
#include "contact/friction_inverse.h"
#include "sparse/krylov.h"

enum { CT_FRICTION_RESTART = 60 };  // longest cycle of GMRES

typedef struct ct_friction_block {       // of one contact
    int rank;                            // k
    int offset;                          // of y_c
    double L[3][3], Z[3][3];             // [i < k]: vectors
    double K[3][3];                      // [i < k][j < k]
    double R[3][3];                      // U1^T E Y, [i < k][j < 3-k]
    double U1[3][3], U2[3][3], Y[3][3];  // U1 [i < k]; U2, Y [i < 3-k]: vectors
    double inverse[3][3];                // of the diagonal block of M
} ct_friction_block;

typedef enum ct_friction_level {
    CT_FRICTION_INVERSE,  // GMRES with the inverse of W
    CT_FRICTION_ITERATE,  // GMRES with the diagonal blocks
    CT_FRICTION_SINGLE,   // GMRES with a factor in single precision
    CT_FRICTION_DOUBLE    // a factor in double precision
} ct_friction_level;

typedef struct ct_friction_system {
    ct_arena arena;
    int capacity;  // contacts
    int count, n;  // contacts, rows of M
    const double* W;
    size_t stride;
    ct_friction_block* block;           // count
    int active;                         // contacts with k > 0
    int* contact;                       // active: which
    double *particular, *WF, *rhs, *y;  // 3 count each
    double* row;                        // 3 count
    float *small, *small_out;           // 3 count each
    int* pivot;                         // 3 count
    double *line, *probe, *sign;        // 3 count each: a row of M, M times signs, the signs
    // matrices, in row order (LAPACK sees the transposed): grown on demand
    float *single, *compact;
    double* full;
    size_t single_size, compact_size, full_size;
    int compact_count;  // active contacts that `compact` holds, -1: none
    int* compact_contact;
    bool use_compact;      // it belongs to these blocks and is precise enough
    bool factored_double;  // which factor is there
    ct_krylov_work* krylov;
    ct_friction_complement* complement;  // of the level INVERSE, borrowed
} ct_friction_system;

ct_status ct_friction_system_reserve(ct_friction_system* s, int count);
void ct_friction_system_free(ct_friction_system* s);
// y += W F over the contacts whose F is not zero.
void ct_friction_product(const double* W, size_t stride, int count, const double* F, double* y);
// Blocks of D and E; W is borrowed. CT_SINGULAR when they leave a force open.
ct_status ct_friction_system_reduce(ct_friction_system* s, const double* W, int stride, int count,
                                    const double* D, const double* E);
// W among the active contacts in single precision, kept as long as these stay the same; products that a
// preconditioner needs then use it.
ct_status ct_friction_system_compact(ct_friction_system* s);
// LU of M. CT_SINGULAR, CT_OUT_OF_MEMORY.
ct_status ct_friction_system_factor(ct_friction_system* s, bool in_double);
// Largest error of the solution with the single-precision factor when the answer is a vector of signs; once
// per factor.
double ct_friction_system_error(ct_friction_system* s);
// With the factor alone.
void ct_friction_system_solve(ct_friction_system* s, const double* a, double* F);
void ct_friction_system_solve_transposed(ct_friction_system* s, const double* a, double* F);
// GMRES to a relative residual; with the complement (INVERSE), the factor (SINGLE) or the diagonal blocks
// (ITERATE).
ct_status ct_friction_system_iterate(ct_friction_system* s, const double* a, ct_friction_level level,
                                     double relative, int limit, double* F, ct_krylov_report* report);

#endif
