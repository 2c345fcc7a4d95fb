// A policy at the start of a step: u += scale (W2 tanh(W1 o + b1) + b2), o the observations of the state.
//
// Positions and velocities are plain means over node sets, less those of a body where the observation is
// relative, positions less their value at rest; joints their coordinate; phases sin and cos of 2 pi frequency
// t. Each times its scale.
#ifndef CT_STEP_POLICY_H
#define CT_STEP_POLICY_H

#include "step/work.h"

// `control` (NULL: zeros) with what the policy adds, in work->control; without a policy `control` itself.
const double* ct_policy_control(const ct_model* model, ct_work* work, const ct_state* state,
                                const double* control);
// Reverse: control_bar (control size) into x_bar, v_bar (3 nvert), q_bar (joint rates) and weight_bar (NULL:
// not wanted), added.
void ct_policy_vjp(const ct_model* model, ct_work* work, const ct_state* state, const double* control_bar,
                   double* x_bar, double* v_bar, double* q_bar, double* weight_bar);

#endif
