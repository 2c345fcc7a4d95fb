// Solving a (sub-)step with contact.
#ifndef CT_STEP_CONTACT_SOLVE_H
#define CT_STEP_CONTACT_SOLVE_H

#include "step/work.h"

// From work->at, the predictor, to the solution there; the touches of work->contact then hold the contacts
// and contact->nodal their forces. The (sub-)step begins at `state` and `time` and lasts h. CT_NOT_CONVERGED:
// halve the step.
ct_status ct_contact_solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                           ct_step_report* report);

// The contacts of a (sub-)step from `state` at `time` over h: none yet; driven nodes of work->at.x are at its
// end.
void ct_contact_solve_begin(const ct_model* model, ct_work* work, const ct_state* state, double time,
                            double h);

#endif
