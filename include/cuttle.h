// Cuttle: differentiable simulation of soft multi-body systems. The whole public API.
//
// Units are SI, frames right-handed. Node arrays hold 3 doubles a node (x y z), tets 4 node
// indices with positive volume ((x1-x0) x (x2-x0)) . (x3-x0) > 0.
//
// Ownership: a result returned through a first `**out` belongs to the caller, who frees it with the
// matching `_free`. Returned plain pointers are borrowed and live as long as what they came from.
// Every `_free` accepts NULL. Inputs are copied unless said otherwise.
// Failure: fallible functions return ct_status; on failure *out is NULL and nothing leaks. A nullable
// last `ct_error*` says what happened, where, and what to change. The library never prints or exits.
// Getters (ct_<noun>_<what>) return what they are asked for: a number, a borrowed pointer, or a struct by
// value. They cannot fail: an index out of range gives 0, "" or an empty struct. What may fail returns
// ct_status and writes its result through a pointer. Arguments: `**out` first, then the object that the
// function is about, with handles in the order scene, model, work, tape, state; then a path, other inputs,
// results, a callback with its `user`, a report, an error. Enums: every value begins with a prefix that no
// other enum shares. Threads: different works/states may be used at the same time on one model; one object at
// a time.
#ifndef CUTTLE_H
#define CUTTLE_H

#include "cuttle/actuator.h"
#include "cuttle/base.h"
#include "cuttle/batch.h"
#include "cuttle/contact.h"
#include "cuttle/control.h"
#include "cuttle/gradient.h"
#include "cuttle/mesh.h"
#include "cuttle/model.h"
#include "cuttle/parameter.h"
#include "cuttle/picture.h"
#include "cuttle/plot.h"
#include "cuttle/policy.h"
#include "cuttle/problem.h"
#include "cuttle/quantity.h"
#include "cuttle/scene.h"
#include "cuttle/shape.h"
#include "cuttle/skeleton.h"
#include "cuttle/state.h"
#include "cuttle/step.h"
#include "cuttle/trajectory.h"
#include "cuttle/water.h"

#endif
