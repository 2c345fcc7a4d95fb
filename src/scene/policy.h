// A policy: controls as a function of the state; see cuttle.h for the law and step/policy.h for its
// evaluation.
#ifndef CT_SCENE_POLICY_H
#define CT_SCENE_POLICY_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_observe {  // one observation
    ct_observe_kind kind;
    double scale, frequency;
    int *node, nnode;    // of node sets
    int *other, nother;  // nodes whose mean is subtracted, none: 0
    double rest[3];      // POSITION: its value at rest
    int link;            // JOINT, RATE, POSE
    int actuator;        // VOLUME, ACTUATION
    int first, last;     // CONTACT: nodes of the body
} ct_observe;

typedef struct ct_policy {  // of a scene or a model
    bool enabled;
    ct_observe* observe;
    int nobserve;
    int nin, hidden, nout;  // numbers that go in, hidden ones, controls' numbers that come out
    int* out;               // nout, of a step's control vector
    double scale;
    double* weight;  // nweight: W1 (hidden x nin), b1 (hidden), W2 (nout x hidden), b2 (nout)
    int nweight;
} ct_policy;

// Numbers of an observation.
static inline int ct_observe_size(ct_observe_kind kind) {
    return kind == CT_OBSERVE_JOINT ? 1 : kind == CT_OBSERVE_PHASE ? 2 : 3;
}
// A copy in the arena.
ct_status ct_policy_copy(ct_policy* out, ct_arena* arena, const ct_policy* policy);

#endif
