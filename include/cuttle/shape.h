// Shapes (signed distance, negative inside) and their meshing by isosurface stuffing
//
// A shape is a tree of primitives. Building one needs no test after each call: a function that is given NULL
// returns NULL, and frees its other operand.
//
//     ct_error error = {0};
//     ct_shape* ball = ct_shape_sphere((double[]){0, 0, 0}, 0.1, &error);
//     ct_shape* hole = ct_shape_cylinder((double[]){0, 0, -1}, (double[]){0, 0, 1}, 0.03, &error);
//     ct_shape* bead = ct_shape_difference(ball, hole, 0, &error);             // owns both
//     ct_fill_def fill = ct_fill_def_default();
//     fill.size = 0.02;
//     if (!bead || ct_shape_fill(&mesh, bead, &fill, NULL, &error)) ...
//     ct_shape_free(bead);
#ifndef CUTTLE_SHAPE_H
#define CUTTLE_SHAPE_H

#include "cuttle/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_shape ct_shape;  // a tree; combining takes ownership of the operands

// Primitives, in metres. The result is the caller's; NULL, with an error: CT_BAD_ARGUMENT unless sizes are
// above 0 and all numbers finite, CT_OUT_OF_MEMORY. Unlike other functions these leave an error that is set
// as it is, so that it tells the first failure of a tree: begin with an empty one.

// A ball.
CT_API ct_shape* ct_shape_sphere(const double center[3], double radius, ct_error* error);
// An ellipsoid along the axes.
CT_API ct_shape* ct_shape_ellipsoid(const double center[3], const double radii[3], ct_error* error);
// A box along the axes, its edges and corners rounded by the radius `rounding`, at most the smallest of
// `half`.
CT_API ct_shape* ct_shape_box(const double center[3], const double half[3], double rounding, ct_error* error);
// The hull of a ball at a and one at b. One of the radii may be 0.
CT_API ct_shape* ct_shape_capsule(const double a[3], const double b[3], double radius_a, double radius_b,
                                  ct_error* error);
// From a to b, with flat ends.
CT_API ct_shape* ct_shape_cylinder(const double a[3], const double b[3], double radius, ct_error* error);
// A ring around `axis`, of any length: `major` to the middle of its tube, which has the radius `minor`.
CT_API ct_shape* ct_shape_torus(const double center[3], const double axis[3], double major, double minor,
                                ct_error* error);
// Swept ball along a smooth (Catmull-Rom) curve through npoint points with a radius at each, which may be 0.
CT_API ct_shape* ct_shape_sweep(const double* points, const double* radii, int npoint, ct_error* error);
// Inside of a closed triangle surface, by generalised winding number: of the mesh's triangles or, where it
// has none, of the boundary of its tets. The mesh is copied. CT_BAD_MESH when there is no triangle or no
// inside.
CT_API ct_status ct_shape_surface(ct_shape** out, const ct_mesh* surface, ct_error* error);
// What is in a or in b. smooth: blending length in m, 0 or less for sharp. The
// result owns both; NULL, with both freed, when one of them is NULL or out of memory. A shape may be given
// away several times, also as both: it lives as long as one that owns it.
CT_API ct_shape* ct_shape_union(ct_shape* a, ct_shape* b, double smooth, ct_error* error);
// The same: what is in both.
CT_API ct_shape* ct_shape_intersection(ct_shape* a, ct_shape* b, double smooth, ct_error* error);
// The same: what is in a and not in b.
CT_API ct_shape* ct_shape_difference(ct_shape* a, ct_shape* b, double smooth, ct_error* error);
// Scaled (scale > 0), then rotated (unit quaternion w x y z), then translated. The result owns `shape`; NULL,
// with it freed, when it is NULL or out of memory.
CT_API ct_shape* ct_shape_transform(ct_shape* shape, const double translate[3], const double rotate[4],
                                    double scale, ct_error* error);
// Tets whose centroid is deepest in this part get the tag. name NULL: none. shape NULL: does nothing.
CT_API void ct_shape_set_tag(ct_shape* shape, int tag, const char* name);
// Wanted edge length near this part's surface, m, rounded down to the fill's size times a power of 2; 0 or
// less inherits. shape NULL: does nothing.
CT_API void ct_shape_set_size(ct_shape* shape, double size);
// Signed distance of a point, m, negative inside; of combined shapes its magnitude may be less.
CT_API double ct_shape_distance(const ct_shape* shape, const double point[3]);
CT_API void ct_shape_bounds(const ct_shape* shape, double lower[3],
                            double upper[3]);  // a box that holds the shape
// A shape file (.json, docs/scene.schema.json) or the inside of a closed surface (.stl, .obj, any mesh file).
// Fails as ct_mesh_load and ct_shape_surface do.
CT_API ct_status ct_shape_load(ct_shape** out, const char* path, ct_error* error);
// With all that it owns. NULL, or a shape that another one owns: does nothing.
CT_API void ct_shape_free(ct_shape* shape);

// Tets of good shape (dihedral angles between 10 and 165 degrees when the surface has one size) that follow
// the surface; sharp edges are chamfered by up to `size`. Features thinner than about `size` are lost in part
// or in whole, and may leave several components: every part needs a size below its thickness.
typedef struct ct_fill_def {
    double size;      // edge length at the surface, m
    double interior;  // edge length deep inside; 0: the same as size; otherwise graded by powers of 2
    double lower[3], upper[3];  // bounds to mesh; lower == upper: from the shape
    int order;  // 2: nodes on the tets' edges, those of the surface's edges on the shape's surface; else
                // linear
} ct_fill_def;
CT_API ct_fill_def ct_fill_def_default(void);  // size 0.1 m, the same inside, bounds from the shape
// Meshes the inside. report NULL: not wanted. CT_BAD_ARGUMENT for sizes or bounds that make no sense,
// CT_BAD_MESH when nothing is left of the shape at this size.
CT_API ct_status ct_shape_fill(ct_mesh** out, const ct_shape* shape, const ct_fill_def* def,
                               ct_mesh_report* report, ct_error* error);

// A ball about the origin, filled; size: edge length, m. CT_BAD_ARGUMENT unless all numbers are above 0.
CT_API ct_status ct_mesh_sphere(ct_mesh** out, double radius, double size, ct_error* error);
// The same for a cylinder along z.
CT_API ct_status ct_mesh_cylinder(ct_mesh** out, double radius, double length, double size, ct_error* error);
// The same for a torus around z; minor must be below major.
CT_API ct_status ct_mesh_torus(ct_mesh** out, double major, double minor, double size, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
