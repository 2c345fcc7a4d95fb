// Compiling the links of a scene: its skeletons, and the motions that their roots follow.
#ifndef CT_MODEL_LINKS_H
#define CT_MODEL_LINKS_H

#include "scene/scene.h"
#include "skeleton/tree.h"

// For a model with nvert nodes at `rest`, which the tree keeps; virtual nodes of the links' own masses, then
// of rotors, begin at `first_virtual`. motion: tree->nroot, in the arena.
ct_status ct_links_compile(ct_tree* tree, ct_arena* arena, const ct_scene* scene, int nvert,
                           int first_virtual, const double* rest, ct_scene_driver** motion);

// Integrators with stages carry joint rates from step to step, and need inertia for each. mass: nvert.
ct_status ct_links_check_inertia(const ct_tree* tree, const double* mass, ct_integrator integrator,
                                 ct_error* error);

#endif
