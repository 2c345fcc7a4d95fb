// What a scene says that its controls do: values along time, linear between keys, held outside of them or
// repeated.
#ifndef CT_MODEL_CONTROL_VALUES_H
#define CT_MODEL_CONTROL_VALUES_H

#include "model/model.h"

// Whether some control has values of its own; without, they are zeros.
bool ct_control_has_values(const ct_model* model);
// `control` itself, or, where it is NULL, the scene's values at `time` in `buffer` (control size); NULL
// stands for zeros.
const double* ct_control_or_values(const ct_model* model, double time, const double* control, double* buffer);

#endif
