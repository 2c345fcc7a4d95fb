// Water: drag, thrust and buoyancy on the surfaces of bodies
//
//     ct_water_def water = ct_water_def_default();
//     water.current[0] = -0.1;
//     if (ct_scene_set_water(scene, &water, &error)) ...
#ifndef CUTTLE_WATER_H
#define CUTTLE_WATER_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Per surface triangle with area A, outward normal n and relative velocity v = current - (mean velocity of
// its corners), whose angle of attack phi, sin phi = -v.n/|v|, is positive where the face meets the flow:
//     force = 1/2 density A w (|v| Cd(phi) v - |v|^2 Ct(phi) n)
// w goes smoothly from 0 on faces that turn away from the flow to 1 on those that meet it; sheets are both at
// once and have 1. With s = sin^2 phi, Cd is the cubic in s with the Bezier control points `drag`, Ct is sin
// phi times the quadratic in s with the control points `thrust`: drag[0] holds edge-on, drag[3] face-on,
// thrust[0] is the slope of Ct at 0, thrust[2] is Ct face-on. None of them may be negative; then still water
// never feeds energy into a body.
typedef struct ct_water_def {
    double density;     // kg/m^3
    double current[3];  // m/s
    double drag[4], thrust[3];
    bool buoyancy;  // bodies lose the weight of the water that their rest volume displaces
    double level;   // m, height of the surface along `up`; NAN: everything is submerged
    // m, depth over which a node or face at the surface becomes wet; NAN: the mean surface edge
    double layer;
    double slow;                // m/s: well below this speed drag is linear in the speed, above it quadratic
    const char* const* bodies;  // names of bodies, or of groups of them; NULL: all
    int nbody;
} ct_water_def;
// 1000 kg/m^3 at rest, Cd 0.1 edge-on to 1.9 face-on, buoyant, all submerged
CT_API ct_water_def ct_water_def_default(void);
// Puts bodies that are in the scene by now under water, in place of what was set before; def NULL: takes the
// water away. CT_BAD_SCENE names the field that makes no sense.
CT_API ct_status ct_scene_set_water(ct_scene* scene, const ct_water_def* def, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
