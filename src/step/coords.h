// Between node space and the unknowns: x = phi(z), B = dphi/dz, and the warped preconditioner.
//
// Today every unknown is a free node, so B selects and permutes; solvers must still go through these functions.
#ifndef CT_STEP_COORDS_H
#define CT_STEP_COORDS_H

#include "step/work.h"

// r = B^T rho.
void ct_coords_pull(const ct_model* model, const double* rho, double* r);
// dx = B dz; driven nodes get zero.
void ct_coords_push(const ct_model* model, const double* dz, double* dx);
// x_new = phi(z + length dz), with x = phi(z); driven nodes stay.
void ct_coords_move(const ct_model* model, const double* x, double length, const double* dz, double* x_new);

// Sets the warp to R(x) R(x_reference)^T (the rest shape when no reference is in force).
void ct_coords_warp(const ct_model* model, ct_work* work, const double* x);
// y = P^-1 b = warp A^-1 warp^T b; b and y must not alias.
void ct_coords_precondition(const ct_model* model, ct_work* work, const double* b, double* y);
// out = B^T H B in, H the Hessian of the step's potential at the point of the last ct_elastic_linearise.
void ct_coords_hessian(const ct_model* model, ct_work* work, const double* in, double* out);
// Puts the factor in force for a (sub-)step of the state at this depth of halving, refactoring when the work does not hold it:
// the state's reference configuration, or, from depth 2 on, the rest shape with the inertia of the short step.
ct_status ct_coords_choose(const ct_model* model, ct_work* work, const ct_state* state, int depth, int* refactors);

#endif
