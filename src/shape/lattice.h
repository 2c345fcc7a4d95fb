// The tetrahedral lattice of an octree: body-centred cubic where leaves are equal, graded elsewhere
// (Labelle and Shewchuk 2007).
//
// Vertices are corners and centres of leaves. Tets:
// - across a face between equal leaves: both centres and one edge of the face, in two halves when a smaller
//   leaf has put a corner on the middle of that edge;
// - across a face between a leaf and one twice as large: the smaller face is cut along the diagonal that ends
// in
//   the larger face's centre; each half makes one tet with either centre.
// Kept are the tets that have at least one vertex inside the shape.
#ifndef CT_SHAPE_LATTICE_H
#define CT_SHAPE_LATTICE_H

#include "shape/key_map.h"
#include "shape/octree.h"

typedef struct ct_lattice {
    int nvert, ntet;
    int* place;        // 3 nvert   in halves of the finest leaf: exact
    double* x;         // 3 nvert   m
    double* distance;  // nvert     signed distance of the shape, m
    int* tet;          // 4 ntet    positive volume
    size_t place_capacity, x_capacity, distance_capacity, tet_capacity;
    ct_key_map map;  // place -> vertex
    double unit;     // m per unit of `place`
} ct_lattice;

ct_status ct_lattice_create(ct_lattice* lattice, const ct_octree* octree, const ct_shape* shape);
void ct_lattice_clear(ct_lattice* lattice);

#endif
