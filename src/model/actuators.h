// Compiling the actuators of a scene, and changing their values.
#ifndef CT_MODEL_ACTUATORS_H
#define CT_MODEL_ACTUATORS_H

#include "model/model.h"

// Copies the scene's actuators and makes their energies in the model's potential; after its nodes, tets and
// controls.
ct_status ct_actuators_create(ct_model* model, const ct_scene* scene, ct_error* error);
// Hands the stiffnesses to the energies.
void ct_actuators_set_stiffness(ct_model* model);
// Some stiffness has moved by more than about 3x since the system was factored.
bool ct_actuators_stale(const ct_model* model);

#endif
