// A preconditioner for friction problems whose compliance W = J K J^T is not stored: about (Q^T W Q + E)^-1
// for rows Q (orthonormal vectors of each contact, at most three) and a small symmetric E for each contact.
//
// K^-1, the stiffness that nodes of a surface show, is local. It is replaced by the sparse matrix S whose row
// i is that of the inverse of k on the nearest nodes of the same body,
//     k_ij = sqrt(soft_i soft_j) / (1 + |x_i - x_j| / reach),   k_ii = soft_i,
// the same in all directions. Then, with C = Q^T J,
//     (C S^-1 C^T + E)^-1 = E^-1 - E^-1 C N^-1 C^T E^-1,   N = S + C^T E^-1 C,
// N sparse, symmetric positive definite, factored. It does not suffer from contacts that depend on one
// another: these make N stiffer, not singular.
#ifndef CT_CONTACT_FRICTION_NEAR_H
#define CT_CONTACT_FRICTION_NEAR_H

#include "contact/friction_matrix.h"
#include "cuttle.h"

typedef struct ct_friction_near ct_friction_near;
ct_status ct_friction_near_create(ct_friction_near** out);
void ct_friction_near_free(ct_friction_near* near);

// Rows of one contact.
typedef struct ct_friction_rows {
    int rank;        // 0 to 3
    int offset;      // of its rows among all
    double Q[3][3];  // [i < rank]
    double E[3][3];  // [i < rank][j < rank], symmetric positive definite, m/N
} ct_friction_rows;

// Takes the pattern and S of a matrix; nothing is done when it is the last one again.
ct_status ct_friction_near_follow(ct_friction_near* near, const ct_friction_matrix* matrix);
// N of the rows. CT_SINGULAR, CT_OUT_OF_MEMORY; allocates.
ct_status ct_friction_near_factor(ct_friction_near* near, const ct_friction_rows* rows);
// Adds to the factor what has changed since, contact by contact (Woodbury): N + sum J_c^T (B - B_before) J_c
// with B = Q E^-1 Q^T. *fits false: there is no factor for this matrix, or too much has changed.
ct_status ct_friction_near_update(ct_friction_near* near, const ct_friction_matrix* matrix,
                                  const ct_friction_rows* rows, bool* fits);
// y = about (Q^T W Q + E)^-1 a, for the rows of the last factor or update, or ones that hardly differ; all
// rows one after the other; they may not alias.
void ct_friction_near_solve(ct_friction_near* near, const ct_friction_rows* rows, const double* a, double* y);

#endif
