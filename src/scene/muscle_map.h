// Where a muscle runs: fibres along a polyline through a body at rest.
//
// A tet belongs to the muscle when its centroid is nearer to the polyline than the radius r. With d that
// distance and s the arc length of the nearest point,
//     weight w = 1 for d <= r/2, then 1 - 3 t^2 + 2 t^3 with t = 2 d/r - 1: once continuously differentiable,
//     0 at d = r; direction = tangent at s: that of the piece in its middle, the bisector at the points
//     between pieces, linear between; segment = the piece, or floor(n s / length) for n segments of equal
//     length.
#ifndef CT_SCENE_MUSCLE_MAP_H
#define CT_SCENE_MUSCLE_MAP_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_muscle_map {
    int ntet, nsegment;
    int* tet;           // ntet, ascending
    int* segment;       // ntet
    double* direction;  // 3 ntet, unit
    double* weight;     // ntet, above 0
} ct_muscle_map;

// points: 3 npoint, npoint >= 2, no two in a row alike. segments 0: one for each piece. Arrays live in the
// arena.
ct_status ct_muscle_map_create(ct_muscle_map* out, ct_arena* arena, const ct_mesh* mesh, const double* points,
                               int npoint, double radius, int segments);

#endif
