// A problem: the loss of a scene's rollout as a function of one vector, L(y), and its exact gradient.
#ifndef CT_OPTIM_PROBLEM_H
#define CT_OPTIM_PROBLEM_H

#include "optim/objective.h"
#include "step/params.h"

struct ct_problem {
    ct_model* model;  // own copy: parameters change its values
    ct_params* params;
    ct_objective* objective;
    ct_tape* tape;
    ct_work* work;
    ct_state* initial;  // of the scene, or of the last y where parameters set it
    int nstep;          // steps of a rollout
    bool fresh;         // the model was built with the values of y (optim/fresh.h)
    ct_term term;       // the user's own term, NULL: none
    void* term_user;
    // CPU seconds of the calling thread in the last evaluation
    double forward_seconds, backward_seconds;
};

// Puts the model and the initial state where y says; *controls: of all steps, NULL: the scene's.
ct_status ct_problem_apply(ct_problem* problem, const double* y, const double** controls, ct_error* error);
// Why the step did not work, into the error; returns the status.
ct_status ct_problem_explain_step(ct_status status, int step, const ct_step_report* report, ct_error* error);

#endif
