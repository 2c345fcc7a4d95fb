// Tets under activation: what muscles and chambers have in common.
//
// Each tet e has the number a of an actuator (an activation, a volume ratio) and the stiffness k of its
// owner, in
//     E_e = k w_e W(F_e, a),   w_e a volume.
// The nodes that such tets touch are numbered among themselves: kernels see their positions and forces as
// four doubles a node (the fourth is 0), which vectors load and store whole. A point of a tet of second order
// (shape/cell.h) is to them a tet of four nodes of its own: one at the origin, which stays there, and the
// three ends of its edges E, which follow the ten nodes. Sums over tets are taken in a fixed order on one
// thread: actuated tets are few.
#ifndef CT_FORCE_ACTUATED_H
#define CT_FORCE_ACTUATED_H

#include "base/memory.h"
#include "cuttle.h"
#include "shape/cell.h"

typedef struct ct_actuated_def {
    int ntet;                 // a tet may occur for several actuators
    int nnumber, nowner;      // numbers of actuators; actuators
    const double* rest;       // rest positions of all nodes
    const int* tet;           // 4 ntet nodes
    const int* mid;           // 6 ntet more of tets of second order; NULL: none are
    const int* point;         // ntet, which point of the tet it is, -1: a linear tet; NULL: all are
    const int* number;        // ntet, index of its activation
    const int* owner;         // ntet, index of its stiffness
    const double* stiffness;  // nowner, Pa
} ct_actuated_def;

typedef struct ct_actuated {
    ct_arena arena;
    int ntet, nnumber, nowner;
    int nnode;             // that kernels see
    int nreal, *node;      // nodes of linear tets, ascending: their number among all
    int* local;            // 4 ntet, numbers among those that kernels see
    int npoint, *cell;     // points, and the ten nodes of each
    unsigned char* place;  // npoint, which point of the tet it is
    int* index;            // ntet, which of the points, -1: a linear tet
    double slope[CT_CELL_POINTS][CT_CELL_NODES][3];  // ct_cell_slopes
    int *number, *owner;                             // ntet
    double* weight;                                  // ntet, m^3: w
    double* stiffness;                               // nowner, Pa
} ct_actuated;

typedef struct ct_actuated_work {
    ct_arena arena;
    double *x, *f;                       // 4 nnode: what kernels read and add to
    double *number_bar, *stiffness_bar;  // nnumber, nowner
} ct_actuated_work;

// Numbers the nodes and copies the rest; weights are left to the caller.
ct_status ct_actuated_create(ct_actuated* all, const ct_actuated_def* def);
ct_status ct_actuated_work_create(ct_actuated_work* work, const ct_actuated* all);
// Edges of tet e at rest, from its first node, as columns, and six times its volume.
ct_mat3 ct_actuated_edges(const ct_actuated_def* def, int e, double* six);
// The nodes of tet e among all, and how those that kernels see follow them: y_k = sum_a T[a][k] x_a. Returns
// how many.
int ct_actuated_nodes(const ct_actuated* all, int e, int node[CT_CELL_NODES], double T[CT_CELL_NODES][4]);

// x: 3 doubles for each of all nodes; at: 4 nnode.
void ct_actuated_gather(const ct_actuated* all, const double* x, double* at);
void ct_actuated_scatter(const ct_actuated* all, const double* at, double* f);
// Fills work->x with x and work->f with zeros.
void ct_actuated_load(const ct_actuated* all, ct_actuated_work* work, const double* x);

// Adjoints that have been summed over the tets in number_bar and stiffness_bar are taken from where they
// belong (NULL: not wanted).
void ct_actuated_clear(const ct_actuated* all, ct_actuated_work* work);
void ct_actuated_deliver(const ct_actuated* all, const ct_actuated_work* work, double* actuation_bar,
                         double* stiffness_sum);

#endif
