// The graph of a block matrix: which nodes share a block.
#ifndef CT_SPARSE_GRAPH_H
#define CT_SPARSE_GRAPH_H

#include "sparse/block_matrix.h"

// Neighbours of each node in ascending order, itself excluded: row[start[j] ... start[j + 1]).
typedef struct ct_graph {
    int n;
    int *start, *row;
} ct_graph;

// Both triangles of the matrix's pattern; arrays live in the arena.
ct_status ct_graph_create(ct_graph* out, ct_arena* arena, const ct_block_matrix* matrix);

#endif
