// The surface to be drawn: corner normals with creases, a body for each triangle, a value for each node.
//
// Normals are averaged over the triangles around a node, weighted by angle, except across edges that are
// sharper than 40 degrees at rest: a cube keeps its edges while it wobbles, a ball is smooth.
#ifndef CT_OUT_SKIN_H
#define CT_OUT_SKIN_H

#include "base/memory.h"
#include "out/trajectory.h"

typedef struct ct_skin {
    int ntri, nvert;
    int nflesh;              // the first of the triangles are flesh, the others bones
    const int* tri;          // 3 ntri, borrowed
    const double* x;         // 3 nvert, borrowed
    float* normal;           // 9 ntri      unit normals at the three corners
    int* body;               // ntri        bones: see bone.h
    const double* value;     // nvert       NULL when coloured by body
} ct_skin;

// Body and normals of the surface at the positions `x`; memory from the arena, which is marked failed when short.
void ct_skin_create(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* x);

// Node values of a colour field ("displacement" and "velocity": length; tet fields: mean over the tets at the
// node) into values[nvert]; NAN at nodes of no tet.
ct_status ct_skin_values(ct_trajectory* file, int frame, const char* name, double* values, ct_error* error);

#endif
