// The compliance of contacts as the friction problem sees it: W, m/N, three rows for each contact.
//
// Few contacts: the matrix itself. Each a node of its own: the constant blocks between nodes, and how nodes
// have turned (friction_nodes.h). Many: W = J K J^T is never stored. Contact c moves by J = sum_k w_ck x_k
// over at most four nodes, K is how far nodes move by forces on nodes: products with W are somebody's who
// knows K, and beside them stands what a preconditioner has to know about the nodes.
#ifndef CT_CONTACT_FRICTION_MATRIX_H
#define CT_CONTACT_FRICTION_MATRIX_H

#include <stddef.h>
#include <stdint.h>

// W_ij = R_i K_ij R_j^T.
typedef struct ct_friction_nodes {
    const float* K;   // 3 count squared, symmetric, both triangles
    const double* R;  // 9 count, row-major
    float* scratch;   // 6 count
} ct_friction_nodes;

typedef struct ct_friction_matrix {
    int count;       // contacts
    uint64_t stamp;  // matrices of the same stamp are the same; 0: no other is
    // the matrix, 3 count x 3 count, symmetric positive semi-definite, both triangles; NULL: not stored
    const double* W;
    int stride;  // of W's rows, at least 3 count
    // in place of it, for linear systems alone; NULL: no
    const ct_friction_nodes* nodes;

    // where there is neither
    void (*product)(const double* F, double* u, void* user);  // u = W F, 3 count each; they never alias
    void* user;
    const double* own;     // count, m/N: about trace(W_cc)/3
    const int* node;       // 4 count: the contacts' nodes, places among nnode; -1: none that gives way
    const double* weight;  // 4 count
    int nnode;
    const int* body;      // nnode: nodes of different bodies do not move one another
    const double* rest;   // 3 nnode, m: where nodes are at rest
    const double* reach;  // nnode, m: how far from a pushed node others move half as far
    const double* soft;   // nnode, m/N: about trace(K_ii)/3, positive
} ct_friction_matrix;

// How far a contact yields to a force of its own, m/N, on average over the directions: trace(W_cc)/3.
static inline double ct_friction_matrix_own(const ct_friction_matrix* matrix, int contact) {
    if (!matrix->W) return matrix->own[contact];
    const size_t step = (size_t)matrix->stride + 1;
    const double* own = matrix->W + 3 * (size_t)contact * step;
    return (own[0] + own[step] + own[2 * step]) / 3;
}
// W_cc, 9 numbers; about own times the identity where it is not stored.
void ct_friction_matrix_block(const ct_friction_matrix* matrix, int contact, double block[9]);
// u += W F; scratch: 3 count.
void ct_friction_matrix_add(const ct_friction_matrix* matrix, const double* F, double* scratch, double* u);

#endif
