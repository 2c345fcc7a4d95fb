// A hierarchy of axis-aligned boxes: built once, refitted when its primitives have moved, asked for pairs
// that overlap.
//
// Boxes are floats, rounded outward: a pair whose exact boxes overlap is never left out. Pairs come in an
// order that depends on the rest positions alone.
#ifndef CT_SHAPE_BVH_H
#define CT_SHAPE_BVH_H

#include <stdbool.h>

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_box {
    float lo[3], hi[3];
} ct_box;

typedef struct ct_bvh_node {
    ct_box box;
    int right;         // the left child is the next node; 0: a leaf
    int first, count;  // primitives, in tree order
} ct_bvh_node;

typedef struct ct_bvh {
    int count, nnode;
    int* item;          // count, primitives in tree order
    ct_box* box;        // count, of each
    ct_bvh_node* node;  // nnode, parents before children
} ct_bvh;

// A tree over the primitives `item` (count of them, any numbers), split at the medians of center[3 item].
// Memory from the arena.
ct_status ct_bvh_create(ct_bvh* bvh, ct_arena* arena, int count, const int* item, const double* center);
// Takes the boxes as they are now: box[item].
void ct_bvh_refit(ct_bvh* bvh, const ct_box* box);

// Called with two primitives whose boxes overlap; false ends the search.
typedef bool (*ct_bvh_visit)(int i, int j, void* user);
// Every i of `a` with every j of `b`; false: a visit ended it.
bool ct_bvh_pairs(const ct_bvh* a, const ct_bvh* b, ct_bvh_visit visit, void* user);
// Every pair of different primitives of one tree, once.
bool ct_bvh_self_pairs(const ct_bvh* bvh, ct_bvh_visit visit, void* user);
// Of these, the pairs below one node that no node below it holds both of.
bool ct_bvh_node_pairs(const ct_bvh* bvh, int node, ct_bvh_visit visit, void* user);

static inline bool ct_box_overlap(const ct_box* a, const ct_box* b) {
    return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) & (b->lo[1] <= a->hi[1]) &
           (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}
static inline ct_box ct_box_join(ct_box a, const ct_box* b) {
    for (int k = 0; k < 3; k++) {
        a.lo[k] = a.lo[k] < b->lo[k] ? a.lo[k] : b->lo[k];
        a.hi[k] = a.hi[k] > b->hi[k] ? a.hi[k] : b->hi[k];
    }
    return a;
}
// The box of two points, widened by `pad` and rounded outward.
ct_box ct_box_around(const double* p, const double* q, double pad);

#endif
