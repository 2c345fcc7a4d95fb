// Light: two lamps, a sky, a soft shadow and the darkness under things.
//
// The key lamp's shadow comes from a depth map seen from the lamp; its edge widens with the distance between
// what casts and what receives. The ground also loses the sky that the bodies above it hide: form factor of
// the surface seen from below, dA h^2 / (pi (h^2 + r^2)^2) for a patch dA at height h and distance r.
#ifndef CT_OUT_LIGHT_H
#define CT_OUT_LIGHT_H

#include "base/memory.h"
#include "out/camera.h"
#include "out/skin.h"

#define CT_GROUND_CELLS 160  // of the map of hidden sky, per side
#define CT_SHADOW_BLOCKS 64  // of the map of least depths, per side
#define CT_LIGHT_TAPS 48     // points at which a shadow is probed

typedef struct ct_depth_map {           // an orthographic view of the surface
    double right[3], up[3], toward[3];  // `toward` points to the viewer
    double low[2], cell;                // corner in (right, up) coordinates, size of a sample, m
    int size;                           // samples per side
    const float* depth;                 // -(p . toward), infinite where nothing is seen
    // CT_SHADOW_BLOCKS^2: least depth anywhere that a probe from the block may reach; NULL: not made
    float* near;
} ct_depth_map;

typedef struct ct_light {
    double key[3], fill[3];  // directions to the lamps
    double sky[3];           // up
    double size;             // m, of the scene
    ct_depth_map shadow;
    float disc[CT_LIGHT_TAPS][2];  // points of the unit disc
    int up_axis;
    double ground;                                                     // height
    double ground_right[3], ground_up[3], ground_low[2], ground_cell;  // frame of the map of hidden sky
    float* hidden;  // CT_GROUND_CELLS^2   share of the sky that is hidden
} ct_light;

// Memory from the arena, which is marked failed when short.
void ct_light_create(ct_light* light, ct_arena* arena, const ct_skin* skin, const ct_camera* camera,
                     int up_axis, double ground, double size);
// Share of the key lamp that reaches a point, 0..1.
double ct_light_key(const ct_light* light, const double point[3]);
// Share of the sky that is hidden from a point of the ground.
double ct_light_hidden(const ct_light* light, const double point[3]);
// Linear-light colour of a surface of this albedo, seen along `view` (unit, from the eye).
void ct_light_shade(const ct_light* light, const double point[3], const double normal[3],
                    const double view[3], const double albedo[3], double gloss, double rgb[3]);

#endif
