// Water around bodies: which triangles it touches, what it displaces, and the curves of its coefficients; see
// cuttle.h for the law.
#ifndef CT_MODEL_WATER_H
#define CT_MODEL_WATER_H

#include "scene/scene.h"

typedef struct ct_water {
    bool enabled;
    double density;     // kg/m^3
    double current[3];  // m/s
    double drag[CT_WATER_DRAG], thrust[CT_WATER_THRUST];
    bool buoyancy;
    double level, layer;  // m; level NAN: everything is submerged
    double slow;          // m/s
    int up;               // axis of the level
    int nface;
    int* face;                 // 3 nface, outward
    unsigned char* two_sided;  // nface, of a sheet
    double* volume;            // nvert, m^3, displaced at rest
} ct_water;

// What the scene says about water, for nvert nodes of its model; arrays in the arena.
ct_status ct_water_create(ct_water* water, ct_arena* arena, const ct_scene* scene, int nvert);
// Finite, and not negative where it must not be.
ct_status ct_water_check_values(const ct_material_values* values, ct_error* error);
void ct_water_set_values(ct_water* water, const ct_material_values* values);

#endif
