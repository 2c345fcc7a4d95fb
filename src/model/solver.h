// Solvers, one row each: which settings it serves, what it keeps with a model and with a simulation's
// scratch, and how it takes a (sub-)step. Models and steps know rows only; a solver is added by a row in the
// table.
#ifndef CT_MODEL_SOLVER_H
#define CT_MODEL_SOLVER_H

#include "cuttle.h"

typedef struct ct_solver_row {
    const char* name;
    bool (*serves)(const ct_settings* settings);

    bool refreshes;  // the factor is made again where the bodies have deformed much
    bool halves;     // a (sub-)step that does not converge is taken in two halves
    bool exact;  // its matrix is part of the iteration, not a preconditioner: made again with every change

    // Its part of a model, NULL: none. After the unknowns are numbered; then filled after every
    // factorisation.
    ct_status (*model_create)(void** part, const ct_model* model);
    ct_status (*model_factor)(void* part, const ct_model* model);
    void (*model_free)(void* part);
    // Its part of the scratch, NULL: none.
    ct_status (*work_create)(void** part, const ct_model* model);
    void (*work_free)(void* part);

    // From work->at, the predictor, to the end of the (sub-)step there, which begins at `state` and `time`
    // and lasts h. CT_NOT_CONVERGED with report->residual where the residual does not get below the target.
    ct_status (*solve)(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                       ct_step_report* report);
    // The step ended, as the settings ask for, before it had converged; NULL: never.
    bool (*is_truncated)(const ct_model* model, const ct_step_report* report);
    // Steps can be differentiated; NULL: always.
    bool (*has_gradients)(const ct_settings* settings);
    // What to change when the step from `state` does not converge, into report->message.
    void (*advise)(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report);
} ct_solver_row;

// All rows, ended by NULL. Defined where the last of them is (baseline/solver_table.c).
extern const ct_solver_row* const ct_solver_table[];

// The row that serves the settings; NULL: none does.
const ct_solver_row* ct_solver_find(const ct_settings* settings);

#endif
