// Pairs of primitives that may touch, and lists of them: sorted by (type, plane, nodes), without repetitions.
#ifndef CT_CONTACT_PAIR_H
#define CT_CONTACT_PAIR_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_pair {
    ct_contact_type type;
    // as in ct_contact; unused: -1. In canonical order (edges ascending, the edge with the lower node first,
    // faces as in the collision's list, the lower node of point-point first)
    int node[4];
    int plane;  // PLANE: which of the collision's, otherwise -1
    int a, b;   // colliders
    // EDGE_EDGE: bit 0: the first edge does not stand out of its surface, bit 1: the second does not
    unsigned char flat;
    // +-1, VERTEX_FACE and EDGE_EDGE: of the unsigned normal (b-a)x(c-a), (b-a)x(d-c), so that it points from
    // the second primitive to the first on the side where they are apart; others: 1
    double sign;
    // POINT_EDGE and POINT_POINT: direction from the second to the first where they were typed
    double side[3];
    double time;       // in [0,1], of the motion from x, where they were typed; PLANE: 0
    double thickness;  // m, distance at which they touch: radii and thicknesses of both
    double core;       // m, distance that must never be reached: radii and half the thicknesses
    double friction;   // coefficient
} ct_pair;

typedef struct ct_pairs {  // grows to a high-water mark; freed by ct_pairs_free
    ct_pair* item;
    size_t count, capacity;
} ct_pairs;

void ct_pairs_free(ct_pairs* pairs);
bool ct_pairs_add(ct_pairs* pairs, const ct_pair* pair);  // false: out of memory
int ct_pair_compare(const ct_pair* a, const ct_pair* b);  // by type, plane, nodes
// Sorts and drops what is there twice; scratch is for the sorting.
ct_status ct_pairs_sort(ct_pairs* pairs, ct_pairs* scratch);

#endif
