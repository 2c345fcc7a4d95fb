// Closed triangle surfaces: whether they are, and what they enclose.
#ifndef CT_SHAPE_CLOSED_SURFACE_H
#define CT_SHAPE_CLOSED_SURFACE_H

#include "cuttle.h"

// Every edge must be used once in each direction; CT_BAD_MESH otherwise.
ct_status ct_surface_check_closed(const int* tri, int ntri);
// m^3, of the inside of a closed surface, normals outward.
double ct_surface_volume(const int* tri, int ntri, const double* x);
// Reverse: adds to x_bar.
void ct_surface_volume_vjp(const int* tri, int ntri, const double* x, double volume_bar, double* x_bar);

#endif
