// How far a node gives way within a step when it is pushed: a smooth function of mesh and materials.
//
// The true answer is a third of the trace of the node's block of (c^2 M + K)^-1, c the integrator's rate (1/h
// or 1.5/h). Its estimate (m/N) for a node of mass m within a whole of mass M that is free to move:
//     gamma(c) = 2/3 / (c^2 m + k_along) + 1/3 / (c^2 m + k_across) + s / (c^2 M),
// the node against its surroundings, two directions along a sheet and one across (solids: k_along =
// k_across), and the whole, translation and rotation: s = 5/2 (a ball: 8/3, a cube 2 at its faces, 4 at its
// corners). Nodes on links move with them alone: M is then what is rigid with the link. Driven nodes do not
// give way. Masses and stiffnesses come from the model; see model/soft_nodes.h.
#ifndef CT_CONTACT_SOFTNESS_H
#define CT_CONTACT_SOFTNESS_H

#include "quantity/sums.h"

typedef struct ct_softness {
    double* mass;        // nvert, kg, of free nodes; 0: of others
    double* stiffness;   // 2 nvert, N/m, of free nodes: along, across
    int* whole;          // nvert: what each node moves with, -1: nothing that is free to move
    double* whole_mass;  // nwhole, kg
    int nwhole;
} ct_softness;

// gamma of node v at rate c (1/s), m/N; 0: driven.
double ct_softness_node(const ct_softness* softness, int v, double c);
// Its reverse: adds gamma_bar times the derivatives by masses and stiffnesses to the sums.
void ct_softness_node_vjp(const ct_softness* softness, int v, double c, double gamma_bar,
                          const ct_sums* sums);
// Along a direction: what gamma changes by with the node's stiffnesses (2).
double ct_softness_node_jvp(const ct_softness* softness, int v, double c, const double stiffness_dot[2]);

#endif
