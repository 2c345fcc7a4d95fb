// Compiling what can touch what: obstacles become nodes, surfaces and drives; bodies and obstacles colliders.
#ifndef CT_MODEL_COLLIDERS_H
#define CT_MODEL_COLLIDERS_H

#include "model/model.h"

// Nodes, surfaces and drives of the obstacles, behind what the model already has; after the links' own masses
// have their nodes.
ct_status ct_colliders_place(ct_model* model, const ct_scene* scene);
// Compiles the colliders of a scene into model->collision, and the coefficients of friction; after the
// surfaces are complete.
ct_status ct_colliders_create(ct_model* model, const ct_scene* scene);
// What the nodes hang on; after the unknowns are numbered.
ct_status ct_colliders_hang(ct_model* model);

#endif
