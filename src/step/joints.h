// What the joints themselves contribute to a step: springs, limits, dampers, servos and torques.
//
// One coordinate q, force against it:
//     k (q - rest) + k_s (q - target) + (d + d_s) (c q - history) + k_l over |over| - torque,   history = a
//     q_n + b q_{n-1}
// A ball, Q in its parent's axes, as a function of the rotation vectors theta_0 = log Q and theta = log(Q
// Q_n^T) since the start of the (sub-)step; rate = c theta - b log(Q_{n-1} Q_n^T):
//     potential  k/2 |theta_0|^2 + k_l/3 over^3 + k_s/2 |psi|^2 + (d + d_s)/(2c) |rate|^2 - torque . theta,
//     psi = log(Q exp(-target)) over = |theta_0| - upper where that is positive, n = theta_0/|theta_0|
//     residual   k theta_0 + k_l over^2 n + k_s psi + J^-T(theta) ((d + d_s) rate - torque) (math/rotation.h)
#ifndef CT_STEP_JOINTS_H
#define CT_STEP_JOINTS_H

#include "step/skeleton.h"

typedef struct ct_joint_step {
    double c, a, b;          // of the integrator's rate
    double* history;         // ndof: a q_n + b q_{n-1}; a ball's three: b log(Q_{n-1} Q_n^T)
    const double* start;     // coordinates q_n
    const double* previous;  // coordinates q_{n-1}
    const double* control;   // of the step, NULL: zeros
} ct_joint_step;

// Where the adjoint of the joints goes. Tangents (ndof) are in the parents' axes; parameters (nlink) may be
// NULL.
typedef struct ct_joint_bar {
    double *start, *previous;  // overwritten
    double* control;           // added; may be NULL
    double *stiffness, *damping, *rest, *servo_stiffness, *servo_damping, *limit_stiffness;  // added
} ct_joint_bar;

bool ct_joint_has_one_coordinate(const ct_joint_def* joint);
// q_new = q moved on by `fraction` of its change from `previous`, rotations along their geodesics; driven
// roots are not touched.
void ct_joints_continue(const ct_model* model, const double* q, const double* previous, double fraction,
                        double* q_new);
// Fills the history for a (sub-)step that starts at q; previous and control outlive the step.
void ct_joints_begin(const ct_model* model, ct_joint_step* step, const double* start, const double* previous,
                     const double* control);
// Adds to r (unknowns), returns the potential.
double ct_joints_gradient(const ct_model* model, const ct_config* config, const ct_joint_step* step,
                          double* r);
// Adds their Hessian in the exponential chart to G (ndof x ndof). exact: as it is, otherwise a part that is
// never indefinite.
void ct_joints_hessian(const ct_model* model, const ct_config* config, const ct_joint_step* step, bool exact,
                       double* G);
// Reverse: lam_z, the adjoint of the residual (unknowns), to what the joints' forces depend on.
void ct_joints_vjp(const ct_model* model, const ct_config* config, const ct_joint_step* step,
                   const double* lam_z, ct_joint_bar* bar);

#endif
