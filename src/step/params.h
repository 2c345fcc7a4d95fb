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

// For rollouts of nstep steps. The model must be of the scene.
ct_status ct_params_create(ct_params** out, const ct_scene* scene, const ct_model* model, int nstep,
                           ct_error* error);
void ct_params_free(ct_params* params);
int ct_params_size(const ct_params* params);
int ct_params_slice_count(const ct_params* params);
void ct_params_slice(const ct_params* params, int index, ct_slice* slice);
void ct_params_start(const ct_params* params, double* y);
void ct_params_bounds(const ct_params* params, double* lower, double* upper);       // of y
void ct_params_slopes(const ct_params* params, const double* y, double* slopes);    // dvalue/dy
void ct_params_physical(const ct_params* params, const double* y, double* values);  // T(y)

// The quantities for y, NULL where no parameter sets one; numbers that no parameter touches keep the scene's
// value. Owned by the params; controls are those of all steps, one after the other.
const ct_values* ct_params_apply(ct_params* params, const double* y);
// Arrays for the derivatives that y needs, NULL for the others; owned by the params, to be filled by
// ct_backward.
ct_values* ct_params_gradient(ct_params* params);
// y_bar = (d quantities / dy)^T gradient, overwritten.
void ct_params_vjp(const ct_params* params, const double* y, const ct_values* gradient, double* y_bar);

#endif
