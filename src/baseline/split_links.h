// Links in the splitting iteration; see split.c. A = c^2 M + k D is diagonal, so that free nodes and links do
// not couple, and joints have a small dense matrix of their own,
//     H = B^T A B + joint springs,   H dz = -r_z + B^T J_c^T F,
// with B assembled top-down at the present pose. A contact that a link takes part in moves by
//     J_c B dz,   and its force moves the joints by   Y_c = H^-1 B^T J_c^T.
#ifndef CT_BASELINE_SPLIT_LINKS_H
#define CT_BASELINE_SPLIT_LINKS_H

#include "baseline/projective.h"

typedef struct ct_split_links {
    int* place;  // nvert: which of tree.node a node is, -1: on no link
    double* A;   // of tree.node, N/m
    double* B;   // three rows of ndof for each of tree.node
    double* H;   // ndof x ndof, its Cholesky factor
    double* dz;  // ndof
    double* assembly;
    double* column;  // of every touch: J_c B (3 ndof), Y_c^T (3 ndof)
    size_t capacity;
} ct_split_links;

ct_status ct_split_links_init(ct_split_links* links, ct_arena* arena, const ct_model* model);
void ct_split_links_free(ct_split_links* links);
// A for the rate c of a step and k of D.
void ct_split_links_weigh(ct_split_links* links, const ct_model* model, double c, double k);
// H and the columns at work->at, and dz under work->r and the contacts' forces (contact->nodal). CT_SINGULAR:
// H is not positive definite.
ct_status ct_split_links_begin(ct_split_links* links, const ct_model* model, const ct_work* work);
// Touch i: the trace of J_c B Y_c; adds J_c B dz to `moved`; dz += Y_c dF.
double ct_split_links_compliance(const ct_split_links* links, const ct_model* model, size_t i);
void ct_split_links_motion(const ct_split_links* links, const ct_model* model, size_t i, double moved[3]);
void ct_split_links_push(const ct_split_links* links, const ct_model* model, size_t i, const double dF[3]);

#endif
