// Closest points of a point and a triangle, and of two segments.
//
// Both pairs have four nodes: (p; a,b,c) or (a,b; c,d). The closest features are told by which nodes carry
// weight: all four for a face's interior or two edges' interiors, three for a point and an edge, two for two
// points.
#ifndef CT_SHAPE_CLOSEST_H
#define CT_SHAPE_CLOSEST_H

#include <stdbool.h>

#include "math/vec3.h"

typedef struct ct_closest {
    unsigned mask;    // bit i: node i has weight
    double w[4];      // of the nodes, summing to 1 over each of the two primitives
    ct_vec3 apart;    // from the point on the second primitive to that on the first
    double distance;  // |apart|
    double sine;      // edges: |sin| of the angle between them; 0 when one has no length
} ct_closest;

#define CT_CLOSEST_ALL 15u  // mask of vertex-face and edge-edge proper

// x: p, a, b, c. A triangle without area is the union of its edges.
ct_closest ct_closest_point_triangle(const ct_vec3 x[4]);
// x: a, b; c, d. Edges of no length are points. For parallel edges an end is among the features.
ct_closest ct_closest_edges(const ct_vec3 x[4]);
// Parameter in [0,1] of the point of a + t (b - a) that is closest to p, and the squared distance.
double ct_closest_on_segment(ct_vec3 p, ct_vec3 a, ct_vec3 b, double* squared);

#endif
