// Obstacles and contacts, to be drawn: spheres and capsules as solids, planes as checkered discs, contact
// forces as arrows.
#ifndef CT_OUT_OBSTACLE_H
#define CT_OUT_OBSTACLE_H

#include "base/memory.h"
#include "out/skin.h"

// The height of the first plane in sight that lies across the up axis, facing up; false: there is none.
bool ct_obstacle_ground(const ct_trajectory* file, const double* poses, double* height);
// The least height of the discs (of radius `reach`, about the scene's `center`) of slopes, planes that face
// up but are not level; INFINITY: there is none.
double ct_obstacle_slope_foot(const ct_trajectory* file, const double* poses, const double center[3],
                              double reach);
// Where the disc of a plane has its middle: the point of it nearest to `center`.
void ct_obstacle_middle(const double* pose, const double center[3], double middle[3]);

typedef struct ct_obstacle_look {
    double center[3];   // of the scene
    double reach;       // m, radius of the discs
    const double* eye;  // planes are seen from their free side alone; NULL: from everywhere
    // height of the ground that is drawn anyway: no plane there, and no wall below it; -INFINITY: none
    double ground;
} ct_obstacle_look;
// The owner of a triangle of the skin: body, nbody + obstacle (a plane's cells included), or negative.
int ct_obstacle_owner(const ct_skin* skin, int t);
// Appends the obstacles that are no triangles of the surface; poses: 6 nobstacle.
void ct_obstacle_dress(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* poses,
                       const ct_obstacle_look* look);
// Appends an arrow for each contact that carries force: `scale` m a newton, none longer than `longest`. size:
// of the scene, m.
void ct_obstacle_arrows(ct_skin* skin, ct_arena* arena, const ct_contact* list, int count, double scale,
                        double longest, double size);

#endif
