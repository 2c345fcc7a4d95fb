// Gradients: a rollout and its exact adjoint
#ifndef CUTTLE_GRADIENT_H
#define CUTTLE_GRADIENT_H

#include "cuttle/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// max_bytes 0: keep every state; otherwise keep as many as fit and replay the others (at least 3 states are
// kept). Notes on the contacts and sub-steps of the kept steps come on top; ct_tape_bytes counts them.
CT_API ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes);
CT_API void ct_tape_free(ct_tape* tape);
CT_API size_t ct_tape_bytes(const ct_tape* tape);
CT_API int ct_tape_steps(const ct_tape* tape);  // of the last rollout

// Called with every state of a rollout, step 0 (the initial state) included.
typedef void (*ct_visit)(int step, const ct_state* state, void* user);
// Adds dL/dx and dL/dv of the state after `step` steps to x_bar and v_bar (3 nvert each), and dL/dq of the
// joint coordinates to q_bar (joint rates; balls and free joints: along their parent's axes). step 0: the
// initial state.
typedef void (*ct_seed)(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                        void* user);

typedef struct ct_rollout_report {
    int steps;       // taken
    int substepped;  // steps that had to be halved
    int substeps;    // solved in all
    // steps with a contact on the edge between two sets: the gradient is one-sided there
    int edges;
    // of all sub-steps, contacts and their sets: rollouts that differ in it lie on different branches of the
    // loss
    uint64_t signature;
    int64_t solves;
    double max_residual;  // worst residual / reference
    double seconds;
    ct_step_report last;  // of the last step, with a message when it failed
} ct_rollout_report;
// Runs nstep steps from `initial` with controls (nstep x control size, NULL: the scene's values).
CT_API ct_status ct_rollout(const ct_model* model, ct_work* work, ct_tape* tape, const ct_state* initial,
                            int nstep, const double* controls, ct_visit visit, void* user,
                            ct_rollout_report* report);

typedef struct ct_gradient {    // where the derivatives go, overwritten; NULL: not wanted
    double* position;           // 3 nvert, initial positions
    double* velocity;           // 3 nvert, initial velocities
    double* young;              // elements: tets, then the triangles of sheets
    double* poisson;            // elements
    double* density;            // elements
    double* damping_mass;       // elements
    double* damping_stiffness;  // elements
    double* gravity;            // 3
    double* controls;           // nstep x control size
    // joint rates: initial coordinates (balls and free joints: of a further small motion along their parent's
    // axes)
    double* joint_position;
    double* joint_velocity;                                // joint rates: initial rates, along the same axes
    double *joint_stiffness, *joint_damping, *joint_rest;  // nlink
    double *servo_stiffness, *servo_damping, *limit_stiffness;  // nlink
    double* link_mass;  // nlink: own masses, centre and shape kept (the inertia grows with the mass)
    double* friction;   // ct_model_friction_count: of the scene, then of the pairs that set one
    double *bending, *thickness;                        // per element, of sheets
    double* water_density;                              // 1
    double *water_drag, *water_thrust, *water_current;  // 4, 3, 3
    double *muscle_stiffness, *chamber_stiffness;       // per actuator; 0 of those of another kind
    double* policy;                                     // ct_model_policy_size
} ct_gradient;
typedef struct ct_backward_report {
    int64_t solves;          // applications of the factor
    int replayed;            // steps computed again
    double max_residual;     // worst relative residual of the adjoint systems
    double seconds;          // all
    double adjoint_seconds;  // without replays
} ct_backward_report;
CT_API ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                             ct_seed seed, void* user, ct_gradient* gradient, ct_backward_report* report);

// Per-tet values, gravity, joints, links' masses: the single mutation of a model. NULL keeps. Refactors only
// when the matrix has moved by more than about 3x.
typedef struct ct_material_values {
    const double* young;
    const double* poisson;
    const double* density;
    const double* damping_mass;
    const double* damping_stiffness;
    const double* gravity;  // 3
    // nlink; entries of joints that have no such thing are not used
    const double *joint_stiffness, *joint_damping, *joint_rest;
    const double *servo_stiffness, *servo_damping, *limit_stiffness;  // nlink
    const double* link_mass;                                          // nlink, kg; links without mass stay so
    const double* friction;                                           // ct_model_friction_count
    const double *bending, *thickness;  // per element; entries of tets are not used
    // 1, 4, 3, 3; not used without water
    const double *water_density, *water_drag, *water_thrust, *water_current;
    // per actuator, Pa; entries of those of another kind are not used
    const double *muscle_stiffness, *chamber_stiffness;
    const double* policy;  // ct_model_policy_size
} ct_material_values;
CT_API int ct_model_friction_count(const ct_model* model);
CT_API const double* ct_model_friction(const ct_model* model);
CT_API ct_status ct_model_set_values(ct_model* model, const ct_material_values* values, bool* refactored,
                                     ct_error* error);
// elements: tets, then the triangles of sheets
CT_API void ct_model_get_values(const ct_model* model, ct_material_field field, double* values);

#ifdef __cplusplus
}
#endif
#endif
