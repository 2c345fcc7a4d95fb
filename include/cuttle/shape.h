// Shapes (signed distance, negative inside) and their meshing by isosurface stuffing
#ifndef CUTTLE_SHAPE_H
#define CUTTLE_SHAPE_H

#include "cuttle/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_shape ct_shape;  // a tree; combining takes ownership of the operands

CT_API ct_shape* ct_shape_sphere(const double center[3], double radius);  // NULL: out of memory
CT_API ct_shape* ct_shape_ellipsoid(const double center[3], const double radii[3]);
CT_API ct_shape* ct_shape_box(const double center[3], const double half[3], double rounding);
CT_API ct_shape* ct_shape_capsule(const double a[3], const double b[3], double radius_a, double radius_b);
CT_API ct_shape* ct_shape_cylinder(const double a[3], const double b[3], double radius);
CT_API ct_shape* ct_shape_torus(const double center[3], const double axis[3], double major, double minor);
// Swept ball along a smooth (Catmull-Rom) curve through npoint points with a radius at each.
CT_API ct_shape* ct_shape_sweep(const double* points, const double* radii, int npoint);
// Inside of a closed triangle surface, by generalised winding number; the mesh is copied.
CT_API ct_status ct_shape_surface(ct_shape** out, const ct_mesh* surface, ct_error* error);
// smooth: blending length in m, 0 for sharp. Consumes both (frees them on failure too).
CT_API ct_shape* ct_shape_union(ct_shape* a, ct_shape* b, double smooth);
CT_API ct_shape* ct_shape_intersection(ct_shape* a, ct_shape* b, double smooth);
CT_API ct_shape* ct_shape_difference(ct_shape* a, ct_shape* b, double smooth);
// Scaled (scale > 0), then rotated (unit quaternion w x y z), then translated. Consumes `shape`.
CT_API ct_shape* ct_shape_transform(ct_shape* shape, const double translate[3], const double rotate[4],
                                    double scale);
// Tets whose centroid is deepest in this part get the tag.
CT_API void ct_shape_set_tag(ct_shape* shape, int tag, const char* name);
// Wanted edge length near this part's surface, m, rounded down to the fill's size times a power of 2; 0
// inherits.
CT_API void ct_shape_set_size(ct_shape* shape, double size);
CT_API double ct_shape_distance(const ct_shape* shape, const double point[3]);
CT_API void ct_shape_bounds(const ct_shape* shape, double lower[3], double upper[3]);  // a box that holds it
// A shape file (.json, docs/scene.schema.json) or the inside of a closed surface (.stl, .obj, any mesh file).
CT_API ct_status ct_shape_load(ct_shape** out, const char* path, ct_error* error);
CT_API void ct_shape_free(ct_shape* shape);

// Tets of good shape (dihedral angles between 10 and 165 degrees when the surface has one size) that follow
// the surface; sharp edges are chamfered by up to `size`. Features thinner than about `size` are lost in part
// or in whole, and may leave several components: every part needs a size below its thickness.
typedef struct ct_fill_def {
    double size;      // edge length at the surface, m
    double interior;  // edge length deep inside; 0: the same as size; otherwise graded by powers of 2
    double lower[3], upper[3];  // bounds to mesh; lower == upper: from the shape
} ct_fill_def;
CT_API ct_fill_def ct_fill_def_default(void);
CT_API ct_status ct_shape_fill(ct_mesh** out, const ct_shape* shape, const ct_fill_def* def,
                               ct_mesh_report* report, ct_error* error);

// Common shapes, filled, about the origin: a ball, a cylinder along z, a torus around z. size: edge length,
// m.
CT_API ct_status ct_mesh_sphere(ct_mesh** out, double radius, double size);
CT_API ct_status ct_mesh_cylinder(ct_mesh** out, double radius, double length, double size);
CT_API ct_status ct_mesh_torus(ct_mesh** out, double major, double minor, double size);

#ifdef __cplusplus
}
#endif
#endif
