// The tree of a shape: primitives at the leaves, combinations and rigid transforms above them.
//
// Every node's distance is negative inside, never larger in magnitude than the true distance to the shape's
// surface and 1-Lipschitz (blending takes convex combinations of gradients), which is what the mesher's
// octree relies on to skip empty space.
#ifndef CT_SHAPE_SHAPE_H
#define CT_SHAPE_SHAPE_H

#include "cuttle.h"
#include "shape/winding.h"

typedef enum ct_shape_kind {
    CT_SHAPE_SPHERE,
    CT_SHAPE_ELLIPSOID,
    CT_SHAPE_BOX,
    CT_SHAPE_CAPSULE,
    CT_SHAPE_CYLINDER,
    CT_SHAPE_TORUS,
    CT_SHAPE_SWEEP,
    CT_SHAPE_SURFACE,
    CT_SHAPE_UNION,
    CT_SHAPE_INTERSECTION,
    CT_SHAPE_DIFFERENCE,
    CT_SHAPE_TRANSFORM
} ct_shape_kind;

struct ct_shape {
    ct_shape_kind kind;
    double a[3];         // centre, first end, or translation
    double b[3];         // radii, half widths, second end, or axis
    double radius[2];    // of the ends; rounding; major and minor; radius[0] is the transform's scale
    double rotation[9];  // TRANSFORM, row major, from the child's frame to ours
    double smooth;       // blending length of a combination, m
    double* ball;        // SWEEP: nball times x y z r, consecutive ones joined by round cones
    int nball;
    ct_winding* winding;        // SURFACE
    ct_shape* child[2];         // second NULL for a transform
    int owners;                 // how often it is a child: 0 while it is the caller's
    double lower[3], upper[3];  // box that holds the shape
    int tag;                    // 0: the parent's
    char name[60];
    double size;  // 0: the parent's
};

// For constructors, whose errors keep the first failure. Memory has run out; an argument is bad (returns
// false); false and an error unless `count` numbers are finite; unless they are above 0, or `zero` and not
// below.
void ct_shape_fail_memory(ct_error* error);
bool ct_shape_refuse(ct_error* error, const char* format, ...) __attribute__((format(printf, 2, 3)));
bool ct_shape_check_points(const double* point, int count, ct_error* error);
bool ct_shape_check_sizes(const double* size, int count, bool zero, ct_error* error);

// Tag of the leaf in which the point is deepest; 0 when no leaf or combination above it is tagged.
int ct_shape_tag_at(const ct_shape* shape, const double point[3]);
// Smallest size wanted by a leaf whose surface is within `reach` of the point, else by the nearest leaf.
double ct_shape_size_at(const ct_shape* shape, const double point[3], double reach, double size);
// Smallest size set anywhere in the tree, at most `size`.
double ct_shape_smallest_size(const ct_shape* shape, double size);
bool ct_shape_has_sizes(const ct_shape* shape);
// Distinct tags of the tree in the order of their ids: writes up to `capacity` and returns their
// number; without `tag`, a capacity that is enough.
int ct_shape_tags(const ct_shape* shape, ct_tag* tag, int capacity);
// Moves x to the surface, down the distance; scale: size of what is looked at, m. False: not reached within a
// few steps.
bool ct_shape_project(const ct_shape* shape, double scale, double x[3]);

#endif
