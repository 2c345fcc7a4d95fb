// What a step refuses to begin with, and the sentence that says why.
//
// Each returns true, with report->message set, when the step must not be taken: a state or a work of another
// model, bodies that overlap where a motion begins, a control that is not finite, a chamber that is to have
// no volume, a cable that is to push.
#ifndef CT_STEP_REFUSE_H
#define CT_STEP_REFUSE_H

#include "step/state.h"
#include "step/work.h"

bool ct_refuse_state(const ct_model* model, const ct_work* work, const ct_state* state,
                     ct_step_report* report);
// A node is not at a number, or so far or so fast that rounding is all that is left of a step.
bool ct_refuse_far(const ct_model* model, const ct_state* state, ct_step_report* report);
// At the beginning of a motion, which is a state without history; later, steps let nothing overlap.
bool ct_refuse_overlap(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report);
// Tets that are inside out where a motion is to begin.
bool ct_refuse_inverted(const ct_model* model, const ct_state* state, ct_step_report* report);
// `control`: control size numbers, NULL: none.
bool ct_refuse_control(const ct_model* model, const double* control, ct_step_report* report);
// Names the first of the actuators' numbers that ct_actuate stopped at.
bool ct_refuse_actuation(const ct_model* model, const double* value, ct_step_report* report);

#endif
