// What the joints themselves contribute to a step: springs, limits, dampers, servos and torques, by the laws
// of their types (joint_type.h).
#ifndef CT_SKELETON_JOINTS_H
#define CT_SKELETON_JOINTS_H

#include "quantity/sums.h"
#include "skeleton/config.h"

// What their forces depend on beside the configuration.
typedef struct ct_joint_work {
    double c, a, b;          // of the integrator's rate
    double* history;         // ndof, what the laws remember of the start
    const double* start;     // coordinates q_n
    const double* previous;  // coordinates q_{n-1}
    double* torque;          // ndof, N m or N; set before a step
    double* target;          // ndof, of the servos, along the parents' axes; set before a step
    bool given;              // the rate at `start` is given: what it depends on is not theirs to reverse
} ct_joint_work;

// Where the adjoint of the joints goes. Tangents (ndof) are in the parents' axes.
typedef struct ct_joint_bar {
    double *start, *previous;  // overwritten
    double *torque, *target;   // ndof, overwritten
    const ct_sums* sums;       // of their quantities, added
} ct_joint_bar;

// Memory; without torques, servos at their own targets.
ct_status ct_joints_create(ct_joint_work* work, ct_arena* arena, const ct_tree* tree);
// Torques to zero, servos to their own targets.
void ct_joints_release(const ct_tree* tree, ct_joint_work* work);
// q_new = q moved on by `fraction` of its change from `previous`, rotations along their geodesics; driven
// roots are not touched.
void ct_joints_continue(const ct_tree* tree, const double* q, const double* previous, double fraction,
                        double* q_new);
// q += length times the rates, where coordinates are numbers.
void ct_joints_advance(const ct_tree* tree, const double* rate, double length, double* q);
// Begins a (sub-)step at q with the rate c q - a q_n - b q_{n-1}; start and previous outlive it.
void ct_joints_begin(const ct_tree* tree, ct_joint_work* work, double c, double a, double b,
                     const double* start, const double* previous);
// Begins at q, where the rates are `rate` (ndof, along the parents' axes); q outlives it.
void ct_joints_begin_at(const ct_tree* tree, ct_joint_work* work, double c, const double* q,
                        const double* rate);
// Adds to r (unknowns), returns the potential.
double ct_joints_gradient(const ct_tree* tree, const ct_config* config, const ct_joint_work* work, double* r);
// Adds their Hessian in the exponential chart to G (ndof x ndof). exact: as it is, otherwise a part that is
// never indefinite.
void ct_joints_hessian(const ct_tree* tree, const ct_config* config, const ct_joint_work* work, bool exact,
                       double* G);
// Reverse: lam_z, the adjoint of the residual (unknowns), to what the joints' forces depend on.
void ct_joints_vjp(const ct_tree* tree, const ct_config* config, const ct_joint_work* work,
                   const double* lam_z, ct_joint_bar* bar);

#endif
