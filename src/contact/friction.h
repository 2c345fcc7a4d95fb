// Contact and Coulomb friction on a compliance matrix: the inner problem of a step with contacts.
//
// Find forces F_c (N, world axes) such that, with
//     u = b + (W + U M U^T) (F - F_base) + eps F
// (m: gap along the normal n_c, slip across it), P = I - n n^T,
//     open : F = 0                                     n.u >= 0
//     stick: u = 0                                     |P F| <= mu n.F
//     slip : n.u = 0,  P F = -mu (n.F) P u / |P u|     n.F >= 0
// exactly: the force is not tilted by dilatancy. W is symmetric positive semi-definite and may be singular;
// eps keeps the forces unique.
#ifndef CT_CONTACT_FRICTION_H
#define CT_CONTACT_FRICTION_H

#include "contact/friction_inverse.h"
#include "contact/friction_matrix.h"

typedef struct ct_friction_def {
    int count;                    // contacts
    const ct_friction_matrix* W;  // without eps, of `count` contacts
    int rank;                     // columns of U, at most 32; 0: none
    const double* U;              // 3 count x rank, row-major
    const double* M;              // rank x rank, symmetric
    const double* b;              // m, 3 count: n g + P u of the motion with the forces F_base
    const double* base;           // N, 3 count: F_base; NULL: zeros
    const double* normal;         // 3 count, unit vectors
    const double* mu;             // count, coefficients of friction, at least 0
    // m/N, count: compliance of each contact, positive where W alone leaves forces open
    const double* eps;
    const ct_friction_inverse* inverse;  // of W, to the precision of a preconditioner; NULL: not known
} ct_friction_def;

typedef struct ct_friction_report {
    bool converged;
    double residual;  // |F - projection(F - r u)| / |F|, r = 1/W_cc, forces in the norm |F_c|/sqrt(r_c)
    // m, largest |F - projection(F - r u)|/r: how far gaps and slips are from the conditions
    double violation;
    int newton, sweeps;   // Newton steps, sweeps of Gauss-Seidel
    int linear, factors;  // iterations of GMRES, factorisations
    int stick, slip;      // contacts
} ct_friction_report;

typedef struct ct_friction_work ct_friction_work;  // grows to a high-water mark
ct_status ct_friction_work_create(ct_friction_work** out);
void ct_friction_work_free(ct_friction_work* work);

// F: start (zeros: cold) and result, 3 count. set: ct_contact_set of the result, count. CT_OK also when the
// tolerance on report->residual was not reached (report->converged says so; F is then the best that was
// found), otherwise CT_OUT_OF_MEMORY. The result depends on the arguments alone, not on what the work was
// used for before, but for problems on the same matrix by its stamp: these share a factor.
ct_status ct_friction_solve(const ct_friction_def* def, ct_friction_work* work, double tolerance, double* F,
                            unsigned char* set, ct_friction_report* report);

// Row blocks of fixed sets, D_c (W F)_c + E_c F_c = a_c. D, E: 9 count, row-major; W is borrowed as long as
// the factor is used. Contacts with D = 0 (open), and directions across which D has no range (the
// direction of slip), are eliminated first; the rest is factored in single precision, or in double where that
// is not good enough. Where W is not stored, a sparse approximation is factored instead. CT_SINGULAR,
// CT_OUT_OF_MEMORY.
ct_status ct_friction_factor(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                             const double* E);
// Other D and E, and another W of as many contacts, for the factor that is there: it still preconditions them
// where W is stored and the contacts' D have the ranks they had. *fits false: they have not.
ct_status ct_friction_follow(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                             const double* E, bool* fits);
// The same by the inverse of W alone; *fits false: the sets are such that W is needed.
ct_status ct_friction_invert(ct_friction_work* work, const ct_friction_inverse* inverse, const double* D,
                             const double* E, bool* fits);
// F = (D W + E)^-1 a and F = (D W + E)^-T a, linear in a, to the precision of a preconditioner: errors of 1 %
// or less where W is stored, otherwise such that GMRES gains about a digit in four iterations. a and F may
// not alias.
void ct_friction_apply(ct_friction_work* work, const double* a, double* F);
void ct_friction_apply_transposed(ct_friction_work* work, const double* a, double* F);

#endif
