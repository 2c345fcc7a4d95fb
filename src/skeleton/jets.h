// Links in motion: their frames with first and second derivatives in time, and what these depend on.
//
// A link maps rest points by x = R X + t. With the joint's own motion A = (Q, tau), tau = anchor + d - Q
// anchor, on the frame of its parent p, derivatives marked by ' follow from the product T = T_p A:
//     R' = R_p' Q + R_p Q',   R'' = R_p'' Q + 2 R_p' Q' + R_p Q'',     the same for t = R_p tau + t_p,
//     Q' = [W] Q,   Q'' = ([W'] + [W]^2) Q,
// where W and d' follow from the joint's rates w: one term W_i w_i per rate, and W' from w' and from what a
// rate turns the axes after it by. Points of the link have velocity R' X + t' and acceleration R'' X + t'',
// which is B w' + B' w.
//
// Rates w and w' are along the parents' axes, as tangents are. Reverse: from weights of node velocities and
// accelerations, gathered per link as R_bar = sum weight X^T and t_bar = sum weight, up the tree. Frames of
// roots stand still.
#ifndef CT_SKELETON_JETS_H
#define CT_SKELETON_JETS_H

#include "base/memory.h"
#include "skeleton/tree.h"

// [0]: the frame, [1], [2]: its derivatives; or adjoints, or changes of these.
typedef struct ct_jet {
    ct_mat3 R[3];
    ct_vec3 t[3];
} ct_jet;

// The joint's own part.
typedef struct ct_jet_joint {
    ct_jet own;        // Q and tau
    ct_vec3 W, dW;     // along the parent's axes
    ct_vec3 turn[2];   // W_i and
    ct_vec3 slide[2];  // d' per unit of a rate, of joints whose rates are numbers
} ct_jet_joint;

// The links of a tree in motion.
typedef struct ct_jets {
    ct_jet *link, *bar;   // nlink
    ct_jet_joint* joint;  // nlink
    double *w, *dw;       // ndof, as placed
} ct_jets;

// The arena fails where there is no memory.
void ct_jets_create(ct_jets* jets, ct_arena* arena, const ct_tree* tree);
// Links at coordinates q with rates w and their derivatives dw (ndof).
void ct_jets_place(const ct_tree* tree, const double* q, const double* w, const double* dw, ct_jets* jets);
// Velocities and accelerations of the nodes that joints move, rotors too; others stay (3 nvert).
void ct_jets_nodes(const ct_tree* tree, const ct_jets* jets, double* v, double* a);

// Adjoints, or changes, of coordinates (tangents) and rates, ndof each.
typedef struct ct_jets_bar {
    double *q, *w, *dw;
} ct_jets_bar;
// Gathers the weights of velocities and accelerations of the nodes (3 nvert; NULL: none) in jets->bar.
void ct_jets_gather(const ct_tree* tree, const double* v_bar, const double* a_bar, ct_jets* jets);
// From jets->bar, which it uses up, to `bar`, overwritten; without rotors.
void ct_jets_reverse(const ct_tree* tree, ct_jets* jets, ct_jets_bar bar);
// Both, with rotors.
void ct_jets_nodes_vjp(const ct_tree* tree, ct_jets* jets, const double* v_bar, const double* a_bar,
                       ct_jets_bar bar);
// Forward: changes of velocities and accelerations of the nodes that joints move; uses jets->bar.
void ct_jets_nodes_jvp(const ct_tree* tree, ct_jets* jets, ct_jets_bar dot, double* v_dot, double* a_dot);

#endif
