// The numbers of a scene's quantities, where the scene keeps them.
#ifndef CT_SCENE_VALUES_H
#define CT_SCENE_VALUES_H

#include "scene/scene.h"

// Exchanges the scene's numbers of every quantity that a model has (CT_ROLE_VALUE, CT_ROLE_SYSTEM) with those
// of the arrays that are not NULL, sized and ordered as for a model of the scene; entries that are not used
// stay. A second call undoes it. The inertia of a link goes with its mass.
void ct_scene_swap_values(ct_scene* scene, const ct_values* values);

#endif
