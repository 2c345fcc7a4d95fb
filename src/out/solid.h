// Solids of revolution for pictures: bones, obstacles, arrows.
#ifndef CT_OUT_SOLID_H
#define CT_OUT_SOLID_H

#include "base/memory.h"
#include "out/skin.h"

typedef enum ct_solid_shape {
    CT_SOLID_SHAFT,     // knobs at both ends, a tapered shaft between them
    CT_SOLID_BALL,      // about a
    CT_SOLID_CYLINDER,  // with round edges
    CT_SOLID_CAPSULE,   // with exact half spheres; a = b: a sphere
    CT_SOLID_ARROW      // from a to its tip b; radius: of its shaft
} ct_solid_shape;

typedef struct ct_solid {
    double a[3], b[3];  // ends of the axis
    double radius;
    int material;  // in place of a body in ct_skin
    ct_solid_shape shape;
} ct_solid;

// Appends them to the skin, whose arrays are made anew, with this many rings along the axis (at most 65;
// arrows have their own) and sides around it (at most 96).
void ct_solid_append(ct_skin* skin, ct_arena* arena, const ct_solid* solids, int count, int rings, int sides);
typedef struct ct_skin_room {  // where more goes in the skin's arrays
    double* x;
    int *tri, *body;
    float* normal;  // 9 a triangle
    int vertex;     // number of the first new vertex
} ct_skin_room;
// Makes the skin's arrays anew with room for more vertices and triangles; false: out of memory.
bool ct_skin_grow(ct_skin* skin, ct_arena* arena, size_t vertices, size_t triangles, ct_skin_room* room);

#endif
