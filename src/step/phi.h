// Phi, the incremental potential whose stationary point is the end of a (sub-)step, as a function of the
// unknowns:
//
//     Phi(z) = sum of the families' potentials at x(z) + potentials of the joints at z
//     rho = grad in node space (N),   r = B^T rho + joints' forces,   H = B^T (hess) B + curvature of the
//     skeleton and of the joints
//
// The families are those of force/families.h; this file is where they meet the coordinates.
#ifndef CT_STEP_PHI_H
#define CT_STEP_PHI_H

#include "step/work.h"

// Where a (sub-)step starts.
typedef struct ct_phi_start {
    ct_rate rate;
    int npast;            // 1: x_previous and v_previous take part; 2: x_second and v_second too
    bool rated;           // derivatives by damping are wanted
    const double *x, *v;  // 3 nvert
    const double *x_previous, *v_previous;    // of the step before, or of the first stage
    const double *x_second, *v_second;        // of the second stage
    const double *q, *q_previous, *q_second;  // ncoordinate
    const double *x_look, *v_look;            // as in ct_family_step
    const ct_link_motion* links;              // likewise
} ct_phi_start;

// Begins a (sub-)step under work->force, work->actuation and the torques and targets of the joints; what
// `start` points to outlives it.
void ct_phi_begin(const ct_model* model, ct_work* work, const ct_phi_start* start);
// Sets rho = grad of the families' potentials at x (3 nvert), returns their sum.
double ct_phi_gradient(const ct_model* model, ct_work* work, const double* x, double* rho);
// Phi at a configuration, with work->rho its gradient in node space and r that in unknowns.
double ct_phi_evaluate(const ct_model* model, ct_work* work, const ct_config* config, double* r,
                       ct_step_report* report);
// Linearises at `config`, where rho is the force imbalance; then out = H in, in unknowns, and out = hess dx,
// in node space, overwritten.
void ct_phi_linearise(const ct_model* model, ct_work* work, const ct_config* config, const double* rho);
// For Newton's method in place of the exact Hessian: after a start, linearisations of this (sub-)step take
// the stress that the last one foresees where the families have such; after a move along d (unknowns),
// foresees the stress there.
void ct_phi_foresee_start(const ct_model* model, ct_work* work);
void ct_phi_foresee(const ct_model* model, ct_work* work, const ct_config* config, double length,
                    const double* d);
void ct_phi_hessian(const ct_model* model, ct_work* work, const ct_config* config, const double* in,
                    double* out);
void ct_phi_product(const ct_model* model, ct_work* work, const ct_config* config, const double* dx,
                    double* out);
// Reverse of r at the end of the step: lam_z (unknowns) and lam = B lam_z (3 nvert) into bar, whose v_n holds
// the adjoint of the velocity at the end on entry; see ct_inertia_vjp.
void ct_phi_vjp(const ct_model* model, ct_work* work, const ct_config* config, const double* lam_z,
                const double* lam, const ct_family_bar* bar);

#endif
