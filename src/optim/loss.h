// The objective of a scene: a sum of terms over the states and controls of a rollout, and its derivatives.
#ifndef CT_OPTIM_LOSS_H
#define CT_OPTIM_LOSS_H

#include "model/model.h"

typedef struct ct_loss ct_loss;

// For rollouts of nstep steps: times are resolved to states 0..nstep, rest values of relative targets are
// computed.
ct_status ct_loss_create(ct_loss** out, const ct_scene* scene, const ct_model* model, int nstep,
                         ct_error* error);
void ct_loss_free(ct_loss* loss);
int ct_loss_term_count(const ct_loss* loss);

// Terms of the state after `step` steps (0: the initial state).
double ct_loss_state(const ct_loss* loss, int step, const ct_state* state);
// The first term's share of its mean square without weight, of this state and of the controls: sums to mean
// |d|^2 over its window.
double ct_loss_first_state(const ct_loss* loss, int step, const ct_state* state);
double ct_loss_first_controls(const ct_loss* loss, const double* controls);
// Adds the derivatives of the terms of a state to x_bar, v_bar (3 nvert) and q_bar (joint rates, along the
// parents' axes; NULL: no term looks at joints).
void ct_loss_state_vjp(const ct_loss* loss, int step, const ct_state* state, double* x_bar, double* v_bar,
                       double* q_bar);
// Terms of the controls (nstep x control size), and their derivatives, added to controls_bar.
double ct_loss_controls(const ct_loss* loss, const double* controls);
void ct_loss_controls_vjp(const ct_loss* loss, const double* controls, double* controls_bar);

#endif
