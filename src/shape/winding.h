// Inside or outside, and how far: signed distance to a triangle surface.
//
// The generalised winding number of a point q is the sum over triangles of their signed solid angle seen
// from q over 4 pi: 1 inside and 0 outside a closed surface with outward normals, and close to that when the
// surface has small holes (Jacobson et al. 2013). Far clusters of triangles are replaced by their dipole
// N . (p - q) / (4 pi |p - q|^3), N the sum of area normals, p their area-weighted centroid (Barill et al.
// 2018).
#ifndef CT_SHAPE_WINDING_H
#define CT_SHAPE_WINDING_H

#include "cuttle.h"

// Solid angle of a triangle seen from the origin over 4 pi (van Oosterom and Strackee 1983).
double ct_winding_solid_angle(const double a[3], const double b[3], const double c[3]);

typedef struct ct_winding ct_winding;

// Copies the triangles. At least one triangle; indices must be in range.
ct_status ct_winding_create(ct_winding** out, const double* x, const int* tri, int ntri);
void ct_winding_free(ct_winding* winding);
double ct_winding_number(const ct_winding* winding, const double point[3]);
double ct_winding_unsigned_distance(const ct_winding* winding, const double point[3]);
// Negative where the winding number exceeds 1/2.
double ct_winding_distance(const ct_winding* winding, const double point[3]);
void ct_winding_bounds(const ct_winding* winding, double lower[3], double upper[3]);

#endif
