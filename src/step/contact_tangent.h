// Contacts along a direction: the forward counterpart of contact_adjoint.h. What a (sub-)step begins with
// changes the frames, slips, compliances and anchors, and by these
//     [H      -J^T ] [dz]   [B^T (-d rho + sum dw_i F)]
//     [D J    dR/dF] [dF] = [-dR                      ],   z and F held on the right.
#ifndef CT_STEP_CONTACT_TANGENT_H
#define CT_STEP_CONTACT_TANGENT_H

#include "step/contact_linear.h"

// What a (sub-)step begins with changes by.
typedef struct ct_contact_dot {
    const double *x, *v;      // 3 nvert: where its motion is counted from
    const double* end;        // 3 nvert: driven nodes and links of driven roots at its end
    const double* anchor;     // 3 an anchor that it begins with
    const double* growth;     // ncollider: of theta_0
    const double* friction;   // coefficients, by rule; NULL: nothing
    const double* stiffness;  // 2 nvert, N/m: of the nodes' softness; NULL: nothing
} ct_contact_dot;

// Adds the forces' part of the right-hand side to out (3 nvert), and sets that of the rows in system->b.
void ct_contact_tangent_right(const ct_model* model, ct_work* work, const double* x,
                              const ct_contact_dot* dot, const ct_contact_linear* system, double* out);
// What the anchors after it change by, 3 each: from the solution of the system.
void ct_contact_tangent_anchors(const ct_work* work, const ct_contact_linear* system, ct_anchors after,
                                double* anchor_dot);

#endif
