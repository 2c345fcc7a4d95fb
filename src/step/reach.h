// A recorded sub-step or stage with its ends, as the adjoint and the tangent of a step see it.
#ifndef CT_STEP_REACH_H
#define CT_STEP_REACH_H

#include "step/work.h"

typedef struct ct_reach {
    const ct_substep* substep;
    const ct_touch_record* touch;  // its contacts
    const double *x_start, *v_start, *q_start;
    int npast;  // of the history that takes part, as in ct_family_step
    const double *x_previous, *v_previous, *q_previous, *x_second, *v_second, *q_second;
    const double *x_from, *v_from;  // where its motion is counted from
    double time, length;            // s: when it begins, how long it is
    const double *x, *q;            // at its end
    ct_anchors before, after;       // forces of contacts at its ends
} ct_reach;

// Scratch that reaches point into.
typedef struct ct_reach_work {
    ct_anchor *before, *after;  // of a sub-step's ends, where these are not the step's
    double *from_x, *from_v;    // 3 nvert: where a stage's motion is counted from
} ct_reach_work;

// The arena fails where there is no memory.
void ct_reach_work_create(ct_reach_work* work, ct_arena* arena, const ct_model* model);
// Sub-step k of the recorded ones between the states.
ct_reach ct_reach_substep(const ct_model* model, ct_reach_work* work, const ct_record* record, size_t k,
                          const ct_state* before, const ct_state* after);
// Stage i of the recorded ones.
ct_reach ct_reach_stage(const ct_model* model, ct_reach_work* work, const ct_record* record, int i,
                        const ct_state* before, const ct_state* after);
// At the solution: begins Phi, then the configuration, the force imbalance there (for the skeleton's
// curvature), the contacts, the Hessian, the warp. rated: as in ct_family_step. Links of a stage: after
// ct_link_stages_begin.
ct_status ct_reach_linearise(const ct_model* model, ct_work* work, const ct_reach* over,
                             const ct_state* after, bool rated, ct_config* config);

#endif
