// The linear system of a friction problem with fixed sets, D_c (W F)_c + E_c F_c = a_c, made as small as it
// can be.
//
// friction_block.h leaves M y = rhs with M = Q^T W Z + K, and the transposed system M^T y = Z^T a.
// Where W or its nodes' blocks are stored, M is factored. Otherwise the system is solved by GMRES,
// preconditioned as if Z were Q (friction_near.h).
#ifndef CT_CONTACT_FRICTION_SYSTEM_H
#define CT_CONTACT_FRICTION_SYSTEM_H

#include "base/memory.h"
#include "contact/friction_block.h"
#include "contact/friction_inverse.h"
#include "contact/friction_near.h"
#include "sparse/krylov.h"

enum { CT_FRICTION_RANK = 32 };  // of an addition, at most

// An addition to W, U M U^T.
typedef struct ct_friction_addition {
    int rank;
    const double *U, *M;  // 3 count x rank, row-major; rank x rank
} ct_friction_addition;

typedef struct ct_friction_system {
    ct_arena arena;
    int capacity;  // contacts
    int count, n;  // contacts, rows of M
    const ct_friction_matrix* matrix;
    ct_friction_addition addition;
    ct_friction_block* block;           // count
    ct_friction_rows* rows;             // count: rank, Q, and K for the preconditioner
    double *particular, *WF, *rhs, *y;  // 3 count each
    double *row, *scratch;              // 3 count each
    double *line, *probe;               // 3 count each: a row of M, M times signs
    float* small;                       // 3 count
    float* turned;                      // 9 count: vectors of contacts that are nodes, in their rest frames
    int* pivot;                         // 3 count
    // matrices, in row order (LAPACK sees the transposed): grown on demand
    float* single;
    double* full;
    size_t single_size, full_size;
    float* T;      // n x 3 count, of contacts that are nodes: Q^T W, columns in their rest frames
    double* ways;  // n x rank of the addition: Z^T U
    size_t T_size, ways_size;
    bool factored_double;  // which factor is there
    unsigned char* rank;   // count: ranks when it was made
    int rank_count;        // contacts of the factor, -1: none
    ct_friction_near* near;
    ct_krylov_work* krylov;
    ct_friction_complement* complement;  // in place of the factor; NULL: none. Borrowed
} ct_friction_system;

ct_status ct_friction_system_reserve(ct_friction_system* s, int count);
void ct_friction_system_free(ct_friction_system* s);
// The matrix and the addition of the systems to come; both are borrowed.
void ct_friction_system_borrow(ct_friction_system* s, const ct_friction_matrix* matrix,
                               const ct_friction_addition* addition);
// u += (W + U M U^T) F
void ct_friction_system_product(ct_friction_system* s, const double* F, double* u);
// Blocks of D and E. CT_SINGULAR when they leave a force open.
ct_status ct_friction_system_reduce(ct_friction_system* s, const double* D, const double* E);
// *fits: a factor is there that still serves, because it is of blocks of the same ranks, or because it was
// brought up to date (W not stored). CT_OUT_OF_MEMORY.
ct_status ct_friction_system_reuse(ct_friction_system* s, bool* fits);
// The same for a factor of another matrix, where W is stored: *fits by the ranks alone. CT_OUT_OF_MEMORY.
ct_status ct_friction_system_follow(ct_friction_system* s, bool* fits);
// Factor of M, or of the preconditioner where W is not stored (always in single precision). CT_SINGULAR,
// CT_OUT_OF_MEMORY. error, where W is stored and the factor in single precision: the largest of the solution
// when the answer is a vector of signs; NULL: not wanted.
ct_status ct_friction_system_factor(ct_friction_system* s, bool in_double, double* error);
// With the factor alone: a linear map of a.
void ct_friction_system_solve(ct_friction_system* s, const double* a, double* F);
void ct_friction_system_solve_transposed(ct_friction_system* s, const double* a, double* F);
// GMRES to a relative residual, preconditioned with the factor.
void ct_friction_system_iterate(ct_friction_system* s, const double* a, double relative, int limit, double* F,
                                ct_krylov_report* report);

#endif
