// Cutting the lattice at the surface: cut points, warping, stencils (Labelle and Shewchuk 2007, section 3).
#ifndef CT_SHAPE_CUT_H
#define CT_SHAPE_CUT_H

#include "shape/lattice.h"
#include "shape/tet_list.h"

// Fills `list` with the tets of the lattice's part inside the shape. The lattice's vertices are moved
// (warped).
ct_status ct_cut_lattice(ct_tet_list* list, ct_lattice* lattice, const ct_shape* shape);

#endif
