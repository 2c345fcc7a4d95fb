// The nodes that actuated tets touch, numbered among themselves: kernels see their positions and forces as
// four doubles a node (the fourth is 0), which vectors load and store whole.
#ifndef CT_FORCE_LOCAL_NODES_H
#define CT_FORCE_LOCAL_NODES_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_local_nodes {
    int count;
    int* node;  // count, ascending: number of the node among all
} ct_local_nodes;

// Numbers the nodes of ntet tets; local: 4 ntet, their local numbers.
ct_status ct_local_nodes_create(ct_local_nodes* out, ct_arena* arena, const int* tet, int ntet, int* local);
// x: 3 doubles for each of all nodes; at: 4 count.
void ct_local_nodes_gather(const ct_local_nodes* nodes, const double* x, double* at);
void ct_local_nodes_add(const ct_local_nodes* nodes, const double* at, double* f);

#endif
