// Exact signs: on which side of a plane a point lies, and whether an edge passes through a triangle.
#ifndef CT_SHAPE_ORIENT_H
#define CT_SHAPE_ORIENT_H

#include <stdbool.h>

#include "math/vec3.h"

// Sign of (b-a)x(c-a).(p-a), without round-off: 1 in front of the triangle, -1 behind, 0 on its plane.
// Coordinates must be finite, and their products neither overflow nor underflow (1e-70 to 1e70, or zero).
int ct_orient(ct_vec3 a, ct_vec3 b, ct_vec3 c, ct_vec3 p);
// The ends lie strictly on different sides of the plane, and the point between belongs to the triangle, its
// border included. An end that touches does not pass through; nothing passes through a triangle without area.
bool ct_edge_crosses_triangle(ct_vec3 p, ct_vec3 q, ct_vec3 a, ct_vec3 b, ct_vec3 c);

#endif
