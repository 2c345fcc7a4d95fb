// Pneumatic chambers. A chamber is made of cells: tetrahedra that want a volume of their own, whatever their
// shape.
//
// Per tet e, with F its deformation gradient, V the rest volume, k the chamber's stiffness (Pa) and a > 0 the
// activation of the group that the tet belongs to,
//     E_e = k/2 V |F - R|^2,   R the matrix nearest to F with det R = a.
// With F = U diag(s) V^T, R = U diag(D) V^T and D_i (D_i - s_i) = c, prod D_i = a. The unknown is u = D_2, of
// the smallest s, in (0, a^(1/3)]; the others follow from q_i = 2 D_i - s_i = sqrt(s_i^2 - s_2^2 + (2u -
// s_2)^2), where the product of the D_i crosses a. (elastic_nearest.h is the same for a = 1.) R is where the
// distance is least, so that
//     dE/dF = k V (F - R),   d2E/dF2 : dF = k V (dF - dR),   d2E/dF da = -k V dR/da.
// In the singular basis dR is a symmetric 3x3 block on the diagonal, (D_i - D_j)/(s_i - s_j) on symmetric and
// (D_i + D_j)/(s_i + s_j) on skew pairs; dD_i/da = (1/q_i) / (a sum_j 1/(q_j D_j)).
// Where det F is more than six times a, two matrices may be equally near, and the force has a jump.
//
// Cells go by eight through vectors (chamber_kernel.c), scaled so that a = 1; what a gradient finds at x is
// kept for a linearisation at the same x.
#ifndef CT_FORCE_CHAMBER_H
#define CT_FORCE_CHAMBER_H

#include "force/actuated.h"
#include "sparse/block_matrix.h"

typedef struct ct_chamber ct_chamber;            // compiled, immutable but for set_stiffness
typedef struct ct_chamber_work ct_chamber_work;  // scratch and the linearisation point

ct_status ct_chamber_create(ct_chamber** out, const ct_actuated_def* def);
void ct_chamber_free(ct_chamber* chamber);
void ct_chamber_set_stiffness(ct_chamber* chamber, const double* stiffness);  // one per chamber
ct_status ct_chamber_work_create(ct_chamber_work** out, const ct_chamber* chamber);
void ct_chamber_work_free(ct_chamber_work* work);

// activation: one per group, above 0. Returns E(x) and adds its gradient to f (NULL: not wanted).
double ct_chamber_gradient(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                           const double* x, double* f);
// Remembers the linearisation at x; the product adds H dx to out.
void ct_chamber_linearise(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                          const double* x);
void ct_chamber_product(const ct_chamber* chamber, ct_chamber_work* work, const double* dx, double* out);
// Adds the Hessian at x (NULL: at rest with activation 1; project: each element's made positive
// semi-definite) into `matrix`; unknown[v] is the block row of node v or -1.
void ct_chamber_assemble(const ct_chamber* chamber, const double* activation, const double* x, bool project,
                         const int* unknown, ct_block_matrix* matrix);
// Adds lam . d grad/da to activation_bar (groups), lam . d grad/dk to stiffness_bar (chambers); NULL: not
// wanted.
void ct_chamber_vjp(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                    const double* x, const double* lam, double* activation_bar, double* stiffness_bar);

#endif
