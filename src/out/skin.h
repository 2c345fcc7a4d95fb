// The surface to be drawn: corner normals with creases, a body for each triangle, a value for each node.
//
// Normals are averaged over the triangles around a node, weighted by angle, except across edges that are
// sharper than 40 degrees at rest: a cube keeps its edges while it wobbles, a ball is smooth.
#ifndef CT_OUT_SKIN_H
#define CT_OUT_SKIN_H

#include "base/memory.h"
#include "out/trajectory.h"

// In ct_skin.body in place of a body (or nbody + obstacle): parts of bones, cables, arrows of contacts,
// planes. A cell of the plane of obstacle k is CT_SKIN_PLANE - 2 k, darker cells one less.
enum {
    CT_BONE_SHAFT = -1,
    CT_BONE_JOINT = -2,
    CT_BONE_RAIL = -3,
    CT_BONE_CABLE = -4,
    CT_ARROW_STICK = -5,
    CT_ARROW_SLIP = -6,
    CT_SKIN_PLANE = -16
};

typedef struct ct_skin {
    int ntri, nvert;
    // triangles: first flesh and obstacles (nflesh), then bones (up to nbone), then arrows
    int nflesh, nbone;
    int* tri;             // 3 ntri
    const double* x;      // 3 nvert, borrowed
    float* normal;        // 9 ntri      unit normals at the three corners
    int* body;            // ntri        body, nbody + obstacle, or of the enum above
    const double* value;  // nvert       NULL when coloured by body
    const bool* far;      // nobstacle   too large for the picture to show whole
    int nbody;
} ct_skin;

// Does the triangle throw a shadow, and is it part of what the picture is about?
static inline bool ct_skin_casts(const ct_skin* skin, int t) { return skin->body[t] >= CT_BONE_CABLE; }
static inline bool ct_skin_framed(const ct_skin* skin, int t) {
    return ct_skin_casts(skin, t) &&
           !(skin->far && skin->body[t] >= skin->nbody && skin->far[skin->body[t] - skin->nbody]);
}

// Owner and normals of the surface at the positions `x`, hidden obstacles left out; memory from the arena,
// which is marked failed when short.
void ct_skin_create(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* x);

// Leaves the obstacles alone.
void ct_skin_strip(ct_skin* skin);

// Node values of a colour field ("displacement", "velocity" and "contact": length; fields of elements: mean
// over those at the node) into values[nvert]; NAN at nodes of no element.
ct_status ct_skin_values(ct_trajectory* file, int frame, const char* name, double* values, ct_error* error);
// The same from the field's own numbers: three per node, or one per element.
ct_status ct_skin_node_values(const ct_trajectory* file, const double* field, bool per_element,
                              double* values);

#endif
