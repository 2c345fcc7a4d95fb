// Makes the boundary of a list of tets a 2-manifold by dropping tets.
//
// Where the shape is thinner than the lattice, parts of the mesh can meet in a single vertex or edge. Around
// every boundary vertex v the tets must hang together through faces at v, and the boundary triangles must
// form one closed fan. Otherwise the smaller group of tets (around v or around a non-manifold edge at v) is
// dropped.
#ifndef CT_SHAPE_PRUNE_H
#define CT_SHAPE_PRUNE_H

#include "cuttle.h"
#include "shape/tet_list.h"

// Drops tets until the boundary is a manifold, then vertices that no tet uses.
ct_status ct_prune(ct_tet_list* list);

#endif
