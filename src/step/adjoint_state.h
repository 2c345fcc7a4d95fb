// The adjoint of a state: what the loss, so far, changes by with each of its parts.
#ifndef CT_STEP_ADJOINT_STATE_H
#define CT_STEP_ADJOINT_STATE_H

// 3 nvert each.
typedef struct ct_adjoint_state {
    double *x, *v, *x_previous, *v_previous;
    double *q, *q_previous;        // ndof: of joint coordinates, as tangent vectors along the parents' axes
    double *root, *root_previous;  // 6 nroot: of the poses of driven roots
    double* actuation;             // of the numbers of actuators
    // 6 nmount: of the poses of mounts, by translations and by rotations Q <- exp(r) Q
    double* mount;
    double* anchor;  // 3 an anchor: of the forces of contacts
    double* growth;  // ncollider: of theta_0
} ct_adjoint_state;

#endif
