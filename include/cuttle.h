// Cuttle: differentiable simulation of soft multi-body systems. The whole public API.
//
// A scene says what is simulated. Compiled, it is a model; a model, a state and a work make a step; the steps
// of a rollout on a tape have a gradient; a problem is all of this as a function of one vector. The chapters
// below are in the order in which one meets them; each can be read by itself.
//
// Units are SI, angles radians unless said otherwise, frames right-handed. Arrays of nodes hold 3 doubles per
// node (x y z), tets 4 node indices with positive volume ((x1-x0) x (x2-x0)) . (x3-x0) > 0. Quaternions are
// w x y z, matrices row-major. All that can be counted is counted from 0.
//
// Ownership. What comes through a first `**out` belongs to the caller, who frees it with the matching `_free`
// (files: `_close`); a plain array that belongs to the caller is freed by ct_free. Returned plain pointers
// are borrowed: they live as long as what they came from. Shapes alone are returned and owned. Inputs are
// copied unless said otherwise.
//
// Failure. What may fail returns ct_status and writes its result through a pointer; on failure `*out` is
// NULL, nothing leaks, and a scene or a state that was to be changed is as before. A last `ct_error*` says
// what happened, where, and what to change. All of them may return CT_OUT_OF_MEMORY. The library never prints
// or exits, and writes no file that was not asked for.
//
// NULL. A pointer may be NULL where its comment says what that means, and nowhere else. Three kinds may be
// NULL everywhere: a `ct_error*`, a report, and what a `_free` or `_close` is given. Functions that return a
// status answer NULL for an object that they need with CT_BAD_ARGUMENT.
//
// Settings are plain structs: begin with `ct_<noun>_def_default()` and change what differs.
//
// Getters (ct_<noun>_<what>) return what they are asked for: a number, a borrowed pointer, or a struct by
// value. They cannot fail: an index out of range gives 0, "" or an empty struct; a name that is not found
// gives -1.
//
// Arguments come in one order: `**out`, the object that the function is named after, other handles as scene,
// model, work, tape, state (functions of a state begin with its model); then a path, other inputs, results, a
// callback with its `user`, a report, an error.
//
// Enums: every value begins with a prefix that no other enum shares. ct_<enum>_name is the word for a value
// in files and messages.
//
// Threads: one object is used by one thread at a time, except that a model, and a scene that is not being
// changed, may be read by any number of threads. Results do not depend on the number of threads, to the last
// bit.
#ifndef CUTTLE_H
#define CUTTLE_H

// clang-format off
#include "cuttle/base.h"        // version, status and errors, handles

// what is simulated
#include "cuttle/mesh.h"        // nodes, tets and triangles, from files or from numbers
#include "cuttle/shape.h"       // shapes and their meshing
#include "cuttle/scene.h"       // bodies, materials, selections, motions, forces, settings
#include "cuttle/skeleton.h"    // links and joints
#include "cuttle/contact.h"     // obstacles, and who touches whom
#include "cuttle/water.h"       // drag, thrust, buoyancy
#include "cuttle/actuator.h"    // muscles, chambers, cavities, cables
#include "cuttle/control.h"     // numbers that are chosen at every step

// its motion
#include "cuttle/model.h"       // a scene, compiled and factored
#include "cuttle/state.h"       // all that determines the future
#include "cuttle/observe.h"     // what is seen of a state
#include "cuttle/policy.h"      // controls as a function of the state
#include "cuttle/step.h"        // the state one time step later

// its gradient
#include "cuttle/quantity.h"    // what can be read, set, varied and differentiated
#include "cuttle/gradient.h"    // a rollout and its exact adjoint
#include "cuttle/pool.h"        // many states at the same time

// what is wanted of it
#include "cuttle/parameter.h"   // parameters, objectives, methods, in the scene
#include "cuttle/problem.h"     // a scene as a function of one vector; its search
#include "cuttle/batch.h"       // many evaluations at the same time

// files and pictures
#include "cuttle/trajectory.h"  // motions as files
#include "cuttle/picture.h"     // pictures and movies
#include "cuttle/plot.h"        // lines over axes
#include "cuttle/page.h"        // pages for a browser
// clang-format on

#endif
