// Supernodes of the Cholesky factor of a graph: runs of columns with the same rows below them.
//
// In a given order the elimination tree has parent(j) = the first row below the diagonal of column j of L
// (Liu 1990); columns are counted without forming L (Gilbert, Ng and Peyton 1994). Column j joins the next
// one where that is its parent and has one row less. Supernodes that are thin, or would gain few zeros, are
// then merged with their parents: a thin panel costs as much as the zeros that widen it. Last, supernodes are
// put in postorder, of several children first the one that needs the most room beyond what it leaves (Liu
// 1986).
#ifndef CT_SPARSE_SUPERNODES_H
#define CT_SPARSE_SUPERNODES_H

#include "sparse/graph.h"

typedef struct ct_supernodes {
    int n, count;
    int* order;     // n: node of the graph at each position
    int* first;     // count + 1: own positions first[s] ... first[s + 1]
    int* parent;    // count; -1: a root. A parent comes after its children
    size_t* start;  // count + 1
    int* row;       // positions below supernode s, ascending: row[start[s] ... start[s + 1])
} ct_supernodes;

// For columns eliminated in the given order, which is refined; arrays live in the arena.
ct_status ct_supernodes_create(ct_supernodes* out, ct_arena* arena, const ct_graph* graph, const int* order);
// Entries of the factor in that order, zeros of merged supernodes included.
ct_status ct_supernodes_size(const ct_graph* graph, const int* order, double* size);

#endif
