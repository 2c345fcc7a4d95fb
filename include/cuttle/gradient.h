// Gradients: a rollout and its exact adjoint
//
// A rollout keeps its states on a tape; going back over them gives the derivatives of any function of these
// states, by the quantities that are wanted, at about the cost of the rollout.
//
//     ct_tape* tape = NULL;
//     if (ct_tape_create(&tape, model, 100, 0, &error)) ...
//     if (ct_rollout(model, work, tape, state, 100, NULL, NULL, NULL, &forward)) ...
//     ct_values gradient = {0};
//     gradient.of[CT_QUANTITY_YOUNG] = young;                          // a number per element
//     if (ct_backward(model, work, tape, NULL, seed, target, &gradient, NULL)) ...
//
// with the loss |x - target|^2 / 2 of the last state:
//
//     static void seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
//                      void* user) {
//         const double *x = ct_state_positions(state), *target = user;
//         for (int i = 0; step == 100 && i < 3 * nvert; i++) x_bar[i] += x[i] - target[i];
//     }
#ifndef CUTTLE_GRADIENT_H
#define CUTTLE_GRADIENT_H

#include "cuttle/quantity.h"
#include "cuttle/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// A tape for rollouts of up to max_steps steps. max_bytes 0: keep every state; otherwise keep as many as fit
// and replay the others (at least 3 states are kept, or all). Notes on the contacts and sub-steps of the kept
// steps come on top; ct_tape_bytes counts them. CT_BAD_ARGUMENT when max_steps is below 1.
CT_API ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes,
                                ct_error* error);
CT_API void ct_tape_free(ct_tape* tape);           // NULL: does nothing
CT_API size_t ct_tape_bytes(const ct_tape* tape);  // that it holds now
CT_API int ct_tape_steps(const ct_tape* tape);     // of the last rollout, 0 when that failed

// Called with every state of a rollout, step 0 (the initial state) included.
typedef void (*ct_visit)(int step, const ct_state* state, void* user);
// Adds dL/dx and dL/dv of the state after `step` steps to x_bar and v_bar (3 nvert each), and dL/dq of the
// joint coordinates to q_bar (joint rates; balls and free joints: along their parent's axes). step 0: the
// initial state.
typedef void (*ct_seed)(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                        void* user);

typedef struct ct_rollout_report {
    int steps;       // taken
    int substepped;  // steps that had to be halved
    int substeps;    // solved in all
    int lowered;  // steps taken by a rule of lower order than the integrator's: contacts closed, halved steps
    // steps with a contact on the edge between two sets: the gradient is one-sided there
    int edges;
    // of all sub-steps, contacts and their sets: rollouts that differ in it lie on different branches of the
    // loss
    uint64_t signature;
    int inverted;  // most tets that ended a step inverted
    int64_t solves;
    double max_residual;  // worst residual / reference
    double seconds;
    ct_step_report last;  // of the last step, with a message when it failed
} ct_rollout_report;
// Runs nstep steps from `initial`, which stays as it is, with controls (nstep x control size, NULL: the
// scene's values). visit NULL: nobody looks. Fails as ct_step does, and with CT_BAD_ARGUMENT when the steps
// do not fit the tape; report->last.message says why.
CT_API ct_status ct_rollout(const ct_model* model, ct_work* work, ct_tape* tape, const ct_state* initial,
                            int nstep, const double* controls, ct_visit visit, void* user,
                            ct_rollout_report* report);

typedef struct ct_backward_report {
    int64_t solves;          // applications of the factor
    int replayed;            // steps computed again
    double max_residual;     // worst relative residual of the adjoint systems
    double seconds;          // all
    double adjoint_seconds;  // without replays
} ct_backward_report;
// Derivatives of the loss that `seed` describes, of the last rollout on the tape, by what `gradient` has
// places for; these are overwritten. controls: those of the rollout; the model's values, too, must be those
// of the rollout. It may be called again, with another seed, say: where the tape keeps all states that costs
// the same again, otherwise one replay of the rollout more. CT_BAD_ARGUMENT when the tape has no rollout,
// CT_UNSUPPORTED when its steps were truncated (ct_contact_settings), CT_NOT_CONVERGED when an adjoint system
// is not solved.
CT_API ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                             ct_seed seed, void* user, ct_values* gradient, ct_backward_report* report);

// Adds dL/d(state) of the state after `step` steps to state_bar, as long as a state's vector
// (ct_model_state_first). Returns whether it did.
typedef bool (*ct_state_seed)(int step, const ct_state* state, double* state_bar, void* user);
// As ct_backward, for losses that depend on all that states carry. initial_bar: of the initial state, also
// such a vector, overwritten; NULL: not wanted. Where that state was settled or relaxed initial_bar is of
// where it came to rest, and `gradient` goes through the rest. gradient NULL: nothing else is wanted.
CT_API ct_status ct_backward_states(const ct_model* model, ct_work* work, ct_tape* tape,
                                    const double* controls, ct_state_seed seed, void* user,
                                    double* initial_bar, ct_values* gradient, ct_backward_report* report);
// The reverse of ct_step from `before` under `control`, which it takes once more: from state_bar, of the
// state after it (a vector of that length), to that of the state before it, in the same place, and to what
// `gradient` has places for (may be NULL), overwritten. The product of these over the steps of a rollout is
// what ct_backward gives. Fails as ct_step and ct_backward do, with state_bar unchanged.
CT_API ct_status ct_step_vjp(const ct_model* model, ct_work* work, const ct_state* before,
                             const double* control, double* state_bar, ct_values* gradient,
                             ct_backward_report* report);
// ct_step from `before` under `control` along `count` directions (forward mode): from state_dots, count
// vectors of what the state before changes by, to those of the state after, in the same place. dots: what
// quantities change by along each of them, CT_QUANTITY_CONTROL (of this step), YOUNG and POISSON of solids,
// GRAVITY outside of water, FRICTION; NULL: nothing. after: takes the state after the step; NULL: not wanted.
// It is the transpose of ct_step_vjp, by the same linear systems, one per direction, contacts and stages
// included. Fails as these do, CT_UNSUPPORTED for other quantities. The work keeps what it needs from the
// first call on.
CT_API ct_status ct_step_jvp(const ct_model* model, ct_work* work, const ct_state* before,
                             const double* control, int count, double* state_dots, const ct_values* dots,
                             ct_state* after, ct_backward_report* report);

#ifdef __cplusplus
}
#endif
#endif
