// Gradients: a rollout and its exact adjoint
#ifndef CUTTLE_GRADIENT_H
#define CUTTLE_GRADIENT_H

#include "cuttle/quantity.h"
#include "cuttle/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// max_bytes 0: keep every state; otherwise keep as many as fit and replay the others (at least 3 states are
// kept). Notes on the contacts and sub-steps of the kept steps come on top; ct_tape_bytes counts them.
CT_API ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes);
CT_API void ct_tape_free(ct_tape* tape);
CT_API size_t ct_tape_bytes(const ct_tape* tape);
CT_API int ct_tape_steps(const ct_tape* tape);  // of the last rollout

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
    // steps with a contact on the edge between two sets: the gradient is one-sided there
    int edges;
    // of all sub-steps, contacts and their sets: rollouts that differ in it lie on different branches of the
    // loss
    uint64_t signature;
    int64_t solves;
    double max_residual;  // worst residual / reference
    double seconds;
    ct_step_report last;  // of the last step, with a message when it failed
} ct_rollout_report;
// Runs nstep steps from `initial` with controls (nstep x control size, NULL: the scene's values).
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
CT_API ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                             ct_seed seed, void* user, ct_values* gradient, ct_backward_report* report);

#ifdef __cplusplus
}
#endif
#endif
