// Between node space and the unknowns: x = phi(z), B = dphi/dz, and the warped preconditioner.
//
// Unknowns are the free nodes in factor order, then the joint rates; their increments live at a
// configuration.
#ifndef CT_STEP_COORDS_H
#define CT_STEP_COORDS_H

#include "step/work.h"

// r = B^T rho at `config`.
void ct_coords_pull(const ct_model* model, ct_work* work, const ct_config* config, const double* rho,
                    double* r);
// dx = B dz; driven nodes get zero.
void ct_coords_push(const ct_model* model, ct_work* work, const ct_config* config, const double* dz,
                    double* dx);
// to = phi(z + length dz), with from = phi(z); driven nodes stay.
void ct_coords_move(const ct_model* model, const ct_config* from, double length, const double* dz,
                    ct_config* to);

// Sets the warp to R(x) R(x_reference)^T (the rest shape when no reference is in force), for nodes and links.
void ct_coords_warp(const ct_model* model, ct_work* work, const ct_config* config);
// The links' part of the warped system in joint rates, without springs: lower triangle, column-major, in
// work->joint_factor.
void ct_coords_joint_matrix(const ct_model* model, ct_work* work, const ct_config* config);
// y = P^-1 b, P the warped system in force; b and y must not alias.
void ct_coords_precondition(const ct_model* model, ct_work* work, const ct_config* config, const double* b,
                            double* y);
// Link twists, in the axes of the factor, that a unit of each joint unknown gives: 6 nlink numbers a column.
void ct_coords_joint_columns(const ct_model* model, ct_work* work, const ct_config* config, double* columns);
// y = L^-1 y with the joints' factor L L^T; n: joint rates.
void ct_coords_joint_half(const ct_work* work, int n, double* y);
// Puts the factor in force for a (sub-)step of the state at this depth of halving, refactoring when the work
// does not hold it: the state's reference configuration, or, from depth 2 on, the rest shape with the inertia
// of the short step.
ct_status ct_coords_choose(const ct_model* model, ct_work* work, const ct_state* state, int depth,
                           int* refactors);

#endif
