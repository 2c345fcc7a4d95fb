// A (sub-)step with contact by splitting, for comparison: the paper's iteration, its forerunner and their
// repairs.
#ifndef CT_STEP_SPLIT_H
#define CT_STEP_SPLIT_H

#include "step/work.h"

typedef struct ct_split_work ct_split_work;
ct_status ct_split_work_create(ct_split_work** out, const ct_model* model);
void ct_split_work_free(ct_split_work* split);

// As ct_contact_solve. CT_NOT_CONVERGED: the residual has grown beyond 1000 times the reference, or
// solver.max_iterations were not enough. With contact.truncate a pass ends after that many iterations with
// CT_OK, whatever the residual.
ct_status ct_split_solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                         ct_step_report* report);
// The step was ended by contact.truncate before it had converged.
bool ct_split_is_truncated(const ct_model* model, const ct_step_report* report);

#endif
