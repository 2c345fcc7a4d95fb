// What a step that does not converge is advised, where solvers say the same.
#ifndef CT_STEP_ADVICE_H
#define CT_STEP_ADVICE_H

#include "step/work.h"

// Names two colliders that overlap where the step begins, into report->message; false: none do.
bool ct_advice_overlap(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report);

// Names two eyelets of a cable that have all but met where the step begins, likewise.
bool ct_advice_eyelets(const ct_model* model, const ct_state* state, ct_step_report* report);

// Names tets that are crushed or inside out where the solver has come to, and the remedy, likewise.
bool ct_advice_crushed(const ct_model* model, const ct_work* work, ct_step_report* report);

#endif
