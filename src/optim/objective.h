// The objective of a scene: a sum of terms over the states and controls of a rollout, and its derivatives.
#ifndef CT_OPTIM_OBJECTIVE_H
#define CT_OPTIM_OBJECTIVE_H

#include "model/model.h"

typedef struct ct_objective ct_objective;

// For rollouts of nstep steps: times are resolved to states 0..nstep, rest values of relative targets are
// computed.
ct_status ct_objective_create(ct_objective** out, const ct_scene* scene, const ct_model* model, int nstep,
                              ct_error* error);
void ct_objective_free(ct_objective* objective);
int ct_objective_term_count(const ct_objective* objective);
const char* ct_objective_term_name(const ct_objective* objective, int index);
// Before the states of a motion; then what a term has added to the loss.
void ct_objective_begin(ct_objective* objective);
double ct_objective_term(const ct_objective* objective, int index);

// Terms of the state after `step` steps (0: the initial state): one of them; all, kept for ct_objective_term.
double ct_objective_term_state(const ct_objective* objective, int index, int step, const ct_state* state);
double ct_objective_state(ct_objective* objective, int step, const ct_state* state);
// The first term's share of its mean square without weight, of this state and of the controls: sums to mean
// |d|^2 over its window.
double ct_objective_first_state(const ct_objective* objective, int step, const ct_state* state);
double ct_objective_first_controls(const ct_objective* objective, const double* controls);
// Adds the derivatives of the terms of a state to x_bar, v_bar (3 nvert) and q_bar (joint rates, along the
// parents' axes; NULL: no term looks at joints).
void ct_objective_term_state_vjp(const ct_objective* objective, int index, int step, const ct_state* state,
                                 double* x_bar, double* v_bar, double* q_bar);
void ct_objective_state_vjp(const ct_objective* objective, int step, const ct_state* state, double* x_bar,
                            double* v_bar, double* q_bar);
// Terms of the controls (nstep x control size), and their derivatives, added to controls_bar.
double ct_objective_controls(const ct_objective* objective, const double* controls);
void ct_objective_controls_vjp(const ct_objective* objective, const double* controls, double* controls_bar);

#endif
