// Policies: controls as a function of the state, by a small neural network
//
//     ct_observe_def sees = ct_observe_def_default();
//     sees.kind = CT_OBSERVE_PHASE, sees.frequency = 2;
//     ct_policy_def policy = ct_policy_def_default();
//     policy.observe = &sees, policy.nobserve = 1;
//     if (ct_scene_set_policy(scene, &policy, &error)) ...
#ifndef CUTTLE_POLICY_H
#define CUTTLE_POLICY_H

#include "cuttle/observe.h"

#ifdef __cplusplus
extern "C" {
#endif

// At every step, on top of the controls that are given or the scene's values: u += scale (W2 tanh(W1 o + b1)
// + b2), o the observations of the state at the start of the step. The weights are, in this order, W1 (hidden
// x numbers of o), b1, W2 (numbers of u x hidden), b2.
typedef struct ct_policy_def {
    const ct_observe_def* observe;
    int nobserve;
    int hidden;
    const char* const* controls;  // that it sets; NULL: all
    int ncontrol;
    double scale;
    const double* weights;  // nweight; NULL: random, small
    int nweight;
    uint64_t seed;
} ct_policy_def;
CT_API ct_policy_def ct_policy_def_default(void);  // 16 hidden numbers, scale 1
// For the bodies, links and controls that are in the scene by now; def NULL: no policy.
CT_API ct_status ct_scene_set_policy(ct_scene* scene, const ct_policy_def* def, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
