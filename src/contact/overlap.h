// Whether bodies and obstacles overlap: what no motion may begin with.
//
// Surfaces may begin nearer than the distance they keep, down to touching one another. They overlap when an
// edge of one passes through a triangle of the other, when a part of one lies wholly inside the other (tets,
// boxes and closed meshes with outward normals have an inside, sheets have none), when something is nearer to
// the axis of a sphere or capsule than its radius, or below a plane. Round-off and a thousandth of the
// thickness are let pass.
//
// The depth is the shortest translation that ends the overlap among those along the world's axes, along the
// normal where it was found, and along the line of centres; each is found by bisection, on the surfaces
// themselves.
#ifndef CT_CONTACT_OVERLAP_H
#define CT_CONTACT_OVERLAP_H

#include "contact/broad.h"
#include "contact/detect.h"

typedef struct ct_overlap {
    // colliders, a one that is not driven; the same: its surface passes through itself, and what is said of
    // depth is 0
    int a, b;
    int pairs;            // of colliders that overlap, this one included; 0: there was no memory to look
    int nnode, node[5];   // where: a node, or an edge and a triangle; none: nearest to a round obstacle
    double position[3];   // m
    double depth;         // m
    double direction[3];  // of the translation of a, of length 1
    double distance;      // m, of the translation that leaves a at the distance to be kept, rounded up
} ct_overlap;

typedef struct ct_overlap_work {
    int* part;             // nvert: the lowest node that edges connect it with, -1: not on a surface
    unsigned char* state;  // nvert, of parts, scratch
    double* moved;         // 3 nvert, scratch
    ct_box* box;           // ncollider: of their triangles, where they have boxes
    bool *boxed, *any;     // ncollider: they have; true
} ct_overlap_work;

ct_status ct_overlap_work_create(ct_overlap_work* work, ct_arena* arena, const ct_collision* collision);
// The first pair of colliders that overlap at x, planes posed at `time`; false: none do.
bool ct_overlap_find(const ct_collision* collision, ct_detect* detect, const ct_overlap_work* work,
                     const double* x, double time, ct_overlap* out);
// A sentence that says which, where, how deep and what to do.
void ct_overlap_explain(const ct_collision* collision, const ct_overlap* overlap, char* text, size_t size);

#endif
