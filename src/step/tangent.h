// A step along a direction: from the change of the state before to that of the state after (forward mode).
//
// With rho(z; s) = 0 of a (sub-)step (adjoint.h), s what it starts from and what acts on it, and x_g what is
// given of its end, driven nodes and roots,
//     H dz = -(d rho/ds) ds - H dx_g,   dx = B dz + dx_g,   dv = c dx - dp,
// with the symmetric H that the adjoint has: for every w, <dx, w> here is <ds, s_bar> there. Links that hang
// from a driven root which turns by r also turn what acts on them: H dx_g gains -r x rho at their nodes.
//
// With contacts the system is that of contact_tangent.h. Stages are (sub-)steps that start from the step's
// start and from the stages before them (rate.h).
#ifndef CT_STEP_TANGENT_H
#define CT_STEP_TANGENT_H

#include "step/adjoint.h"

// What a direction is, beside the state's change.
typedef struct ct_tangent_dot {
    const double* control;            // control size; NULL: nothing
    const double* gravity;            // 3; NULL: nothing
    const struct ct_elastic* solids;  // tets with the change of the Lame parameters; NULL: nothing
    const double* stiffness;          // 2 nvert: of nodes in contact (contact/softness.h); NULL: nothing
    const double* friction;           // coefficients, by rule; NULL: nothing
} ct_tangent_dot;

typedef struct ct_tangent ct_tangent;  // scratch
ct_status ct_tangent_create(ct_tangent** out, const ct_model* model);
void ct_tangent_free(ct_tangent* tangent);

// dot: of the state `before` on entry, of the state `after` on return. record: what the step between them
// did.
ct_status ct_tangent_step(const ct_model* model, ct_work* work, ct_tangent* tangent, const ct_state* before,
                          const ct_state* after, const ct_record* record, const double* control,
                          const ct_tangent_dot* along, ct_adjoint_state* dot, ct_backward_report* report);

#endif
