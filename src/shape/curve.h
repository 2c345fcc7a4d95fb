// Tets of second order that follow a curved surface.
#ifndef CT_SHAPE_CURVE_H
#define CT_SHAPE_CURVE_H

#include "cuttle.h"

// Moves the nodes in the middle of the surface's edges of a mesh of second order to the surface of the shape
// that it fills.
ct_status ct_mesh_curve(ct_mesh* mesh, const ct_shape* shape);

#endif
