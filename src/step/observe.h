// Observations of a state, of policies and of learners, and their reverse; cuttle/observe.h has their law.
//
// Poses of a link, x = R X + t: under the twist (omega, v) about the tree's origin o, dR = [omega] R and
// dt = omega x (t - o) + v, so that the adjoints R_bar, t_bar make the wrench
//     force t_bar,   moment axial(R_bar R^T) + (t - o) x t_bar,    axial(M)_1 = M_32 - M_23, ...
// Rates are means over a step of length h: (q - q_before) / h, of a rotation d/h with exp(d) Q_before = Q. By
// tangents of both, d_bar becomes J^-T d_bar and -J^-1 d_bar (math/rotation.h).
#ifndef CT_STEP_OBSERVE_H
#define CT_STEP_OBSERVE_H

#include "skeleton/config.h"
#include "step/adjoint_state.h"
#include "step/work.h"

// Where links are and what their poses are pulled by; NULL where no pose and no rate of a spatial joint is
// observed.
typedef struct ct_observe_links {
    ct_config config;  // placed
    double* wrench;    // 6 nlink, (moment, force) about the tree's origin; zeros at first
    double* rate;      // ndof, of a state without history, along the parents' axes
} ct_observe_links;

// Made for a state; on failure the arena has failed.
ct_status ct_observe_links_create(ct_observe_links* links, ct_arena* arena, const ct_model* model,
                                  const ct_state* state);
int ct_observe_count(const ct_model* model, const ct_observe* observe);  // its numbers
void ct_observe_value(const ct_model* model, const ct_state* state, const ct_observe* observe,
                      const ct_observe_links* links, double* out);
// Adds to `bar`; poses add to links->wrench, which ct_observe_pull_links then brings there.
void ct_observe_vjp(const ct_model* model, const ct_state* state, const ct_observe* observe,
                    const ct_observe_links* links, const double* out_bar, ct_adjoint_state* bar);
// r: scratch of 2 ndof. wrench is used up.
void ct_observe_pull_links(const ct_model* model, ct_observe_links* links, double* r, ct_adjoint_state* bar);

#endif
