// Fill-reducing orders of the graph of nodes: approximate minimum degree (AMD) or nested dissection (METIS).
//
// Parts of the graph that do not touch are ordered one after the other, and those with the same pattern once:
// a scene of many equal bodies pays for one.
#ifndef CT_SPARSE_ORDERING_H
#define CT_SPARSE_ORDERING_H

#include "sparse/graph.h"

// AUTO: the smaller factor
typedef enum ct_ordering { CT_ORDER_AUTO, CT_ORDER_AMD, CT_ORDER_METIS } ct_ordering;

// order[k] = node at position k. metis: how the largest part that hangs together was ordered.
ct_status ct_graph_order(const ct_graph* graph, ct_ordering ordering, int* order, bool* metis);

#endif
