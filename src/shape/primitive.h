// Exact signed distances of simple solids, negative inside. All are 1-Lipschitz.
#ifndef CT_SHAPE_PRIMITIVE_H
#define CT_SHAPE_PRIMITIVE_H

// Ellipsoid about the origin, axes along the coordinates; radii > 0.
double ct_primitive_ellipsoid(const double radii[3], const double point[3]);
// Box [-half, half] whose edges are rounded by balls of radius `rounding` (0 <= rounding <= min half).
double ct_primitive_box(const double half[3], double rounding, const double point[3]);
// Convex hull of two balls (a, radius_a) and (b, radius_b).
double ct_primitive_round_cone(const double a[3], const double b[3], double radius_a, double radius_b,
                               const double point[3]);
// Cylinder with flat ends at a and b.
double ct_primitive_cylinder(const double a[3], const double b[3], double radius, const double point[3]);
// Torus about the origin, `axis` a unit vector.
double ct_primitive_torus(const double axis[3], double major, double minor, const double point[3]);

#endif
