// Where a (sub-)step or a stage is expected to end: the start of its solve, never a part of the result.
//
// A step goes to x + h v_next with v_next extrapolated from the last velocities, as far as they have been
// smooth: v, v + (v - v') or v + (v - v') + (v - 2 v' + v''). In a stage the acceleration goes on to change
// as it did over the last two steps.
#ifndef CT_STEP_PREDICT_H
#define CT_STEP_PREDICT_H

#include "step/work.h"

// Puts the prediction into work->at. q_start: coordinates where the whole step begins; end: where the
// (sub-)step ends, as a fraction of it.
void ct_predict_step(const ct_model* model, ct_work* work, const ct_state* state, const double* q_start,
                     double h, bool whole, double end);
// Stage i of `rule`: where it starts, Y of rate.h, and where it is expected to end, into work->stages.
void ct_predict_stage(const ct_model* model, ct_work* work, const ct_state* state, ct_integrator rule, int i);
// The links where they are expected to end, into work->at, and their motion there.
const ct_link_motion* ct_predict_links(const ct_model* model, ct_work* work, const ct_state* state, int i);

#endif
