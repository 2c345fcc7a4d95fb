// Statics: where a state rests, and the reverse of that.
//
// Without inertia the unknowns z, free nodes and joints, are at a stationary point of
//     Phi(z) = E(x(z)) - f . x(z) + potentials of the joints,     r = B^T (grad E - f) + joints' forces = 0
// with f, actuation and torques those of the state's time. It is found by the solver of a step (solve.h),
// whose factor is made anew where it has come to; where that fails, by steps from rest with inertia that
// leave their velocities behind (proximal points, h growing), which is also how contacts settle. By the
// implicit function theorem, with H = dr/dz there,
//     H lam_z = B^T x_bar + z_bar,   lam = B lam_z,   f_bar = lam,   mu_bar = -lam . d(grad E)/dmu, ...
#ifndef CT_STEP_SETTLE_H
#define CT_STEP_SETTLE_H

#include "step/adjoint.h"

// Why a gradient through the settling of this state cannot be had; NULL: it can.
const char* ct_settle_refuses_gradient(const ct_model* model, const ct_state* state);
// Reverse of ct_settle: bar of the settled state on entry, of the state before on return. sums and
// control_bar (NULL: not wanted) are added to. CT_NOT_CONVERGED when the adjoint system is not solved.
ct_status ct_settle_vjp(const ct_model* model, ct_work* work, const ct_state* state, const double* control,
                        ct_adjoint_state* bar, ct_sums* sums, double* control_bar,
                        ct_backward_report* report);

#endif
