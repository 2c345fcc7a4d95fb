// A graded octree around a shape.
//
// Leaves near the surface have the size wanted there, leaves deep inside the interior size, leaves far
// outside stay large. Neighbours (across faces, edges and corners) differ by at most a factor of two.
// Coordinates are integers in units of the finest leaf, from the root's lower corner.
#ifndef CT_SHAPE_OCTREE_H
#define CT_SHAPE_OCTREE_H

#include "cuttle.h"

#define CT_OCTREE_MAX_LEVEL 19

typedef struct ct_octree_def {
    const ct_shape* shape;
    double size;      // leaf size at the surface where a part wants nothing else, m
    double interior;  // largest leaf size inside, m
    double lower[3], upper[3];
    bool part_sizes;  // parts may want sizes of their own
    double finest;    // size * 2^-k, the smallest leaf size, m
    size_t max_cells;
} ct_octree_def;

typedef struct ct_octree_cell {
    int corner[3];    // lower corner
    int shift;        // width 2^shift
    int child;        // first of eight (x fastest), -1 for a leaf
    double distance;  // of the shape at the centre, m
} ct_octree_cell;

typedef struct ct_octree {
    ct_octree_cell* cell;  // cell 0 is the root
    size_t ncell, capacity;
    int root_shift;
    double origin[3], finest;
    bool too_many;  // max_cells was reached
} ct_octree;

// CT_BAD_ARGUMENT with `too_many` set: more than max_cells.
ct_status ct_octree_create(ct_octree* octree, const ct_octree_def* def);
void ct_octree_clear(ct_octree* octree);
// The cell of width 2^shift whose lower corner is at the place, or the larger leaf that holds it; -1 outside
// the root.
int ct_octree_find(const ct_octree* octree, int x, int y, int z, int shift);

#endif
