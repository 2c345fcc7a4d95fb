// Parameters of a scene as one vector y for an optimiser: named slices with transforms, bounds and scales.
//
// value = T(y) component by component (ct_transform); a value may stand for many quantities at once (a body's
// Young's modulus for all of its tets). Forward: y -> per-tet values, gravity, initial state, controls.
// Reverse: their adjoints
// -> dL/dy, the transpose of the same map.
#ifndef CT_STEP_PARAMS_H
#define CT_STEP_PARAMS_H

#include "model/model.h"

typedef struct ct_params ct_params;

// Quantities that parameters set; NULL where no parameter does. Owned by the params.
typedef struct ct_param_values {
    double *young, *poisson, *density, *damping_mass, *damping_stiffness;  // nelement
    double* gravity;                                                       // 3
    double* position;                                                      // 3 nvert, initial
    double* velocity;                                                      // 3 nvert, initial
    double* controls;                                                      // nstep x control size
    // nlink
    double *joint_stiffness, *joint_damping, *joint_rest, *servo_stiffness, *servo_damping, *limit_stiffness,
        *link_mass;
    double *joint_position, *joint_velocity;                            // joint rates, initial
    double* friction;                                                   // nfriction
    double *bending, *thickness;                                        // nelement
    double *water_density, *water_drag, *water_thrust, *water_current;  // 1, 4, 3, 3
    double *muscle_stiffness, *chamber_stiffness;                       // per actuator
    double* policy;                                                     // weights
} ct_param_values;

// For rollouts of nstep steps. The model must be of the scene.
ct_status ct_params_create(ct_params** out, const ct_scene* scene, const ct_model* model, int nstep,
                           ct_error* error);
void ct_params_free(ct_params* params);
int ct_params_size(const ct_params* params);
int ct_params_slice_count(const ct_params* params);
void ct_params_slice(const ct_params* params, int index, ct_slice* slice);
void ct_params_start(const ct_params* params, double* y);
void ct_params_bounds(const ct_params* params, double* lower, double* upper);       // of y
void ct_params_physical(const ct_params* params, const double* y, double* values);  // T(y)

// Sets the quantities for y; what no parameter touches keeps the scene's value.
const ct_param_values* ct_params_apply(ct_params* params, const double* y);
// Arrays for the derivatives that y needs, NULL for the others; owned by the params, to be filled by
// ct_backward.
ct_gradient* ct_params_gradient(ct_params* params);
// y_bar = (d quantities / dy)^T gradient, overwritten.
void ct_params_vjp(const ct_params* params, const double* y, const ct_gradient* gradient, double* y_bar);

#endif
