// Cables (tendons): polylines through eyelets without friction, which pull and never push.
//
// An eyelet sits at p = o + sum_j w_j x_j: a point of a tet by its barycentric weights, a node, a point of a
// link (an affine combination of four of its nodes), or, without nodes, a point o of the world. With d_i =
// p_{i+1} - p_i and u_i = d_i/|d_i| on the pieces, l = sum |d_i| is the length, and the energy is
//     under a tension T (N)                            E = T l,              t = T
//     held to a length a (m) by a stiffness k (N/m)    E = k g(l - a),       t = k g'(l - a)
//     g'(s) = 0 for s <= 0 (slack),  s^2/(2 w) for s < w,  s - w/2 beyond
// where the spring takes hold over the width w, so that its force is continuously differentiable. In both
// cases
//     grad E = t dl,   dl/dp_i = u_{i-1} - u_i,   hess E = t d2l + k g'' dl dl^T,   d2l on a piece: (I - u
//     u^T)/|d| d grad/dT = dl,   d grad/da = -k g'' dl,   d grad/dk = g' dl.
// Forces on the eyelets cancel in sum and in moment. The Hessian couples all nodes of a cable and is of low
// rank: products are exact, the factored matrix does without it.
#ifndef CT_FORCE_CABLE_H
#define CT_FORCE_CABLE_H

#include "base/memory.h"
#include "cuttle.h"
#include "shape/cell.h"

typedef struct ct_cable_eyelet {
    double offset[3];  // o, m
    int count;         // nodes, up to 10
    int node[CT_CELL_NODES];
    double weight[CT_CELL_NODES];  // w
} ct_cable_eyelet;

typedef struct ct_cable_lines {
    int ncable, nowner;             // nowner: actuators
    const int* start;               // ncable + 1: first eyelet of each
    const ct_cable_eyelet* eyelet;  // start[ncable]
    const int* number;              // ncable: where its tension or length is within the actuation
    const int* owner;               // ncable: index of its stiffness
    const bool* held;               // ncable: to a length, otherwise under a tension
    const double* width;            // ncable, m: w
    const double* stiffness;        // nowner, N/m
} ct_cable_lines;

typedef struct ct_cable ct_cable;  // compiled, immutable but for set_stiffness

ct_status ct_cable_create(ct_cable** out, const ct_cable_lines* def);
void ct_cable_free(ct_cable* cable);
void ct_cable_set_stiffness(ct_cable* cable, const double* stiffness);  // nowner

// Place of an eyelet at x.
void ct_cable_place(const ct_cable_eyelet* eyelet, const double* x, double point[3]);
// Length (m) of cable k at x, its tension (N) there, and its eyelets (3 each); each may be NULL.
void ct_cable_measure(const ct_cable* cable, int k, const double* actuation, const double* x, double* length,
                      double* tension, double* points);
// The shortest piece of cable k at x, as a share of its length; *piece: the eyelet that it begins at. The
// energy has a kink where two eyelets meet.
double ct_cable_shortest(const ct_cable* cable, int k, const double* x, int* piece);
// Returns E(x) and adds its gradient to f (NULL: not wanted).
double ct_cable_gradient(const ct_cable* cable, const double* actuation, const double* x, double* f);
// Adds H(x) dx to out.
void ct_cable_product(const ct_cable* cable, const double* actuation, const double* x, const double* dx,
                      double* out);
// Adds -lam . d grad/d. to the adjoints of the actuation and of the stiffness (NULL: not wanted).
void ct_cable_vjp(const ct_cable* cable, const double* actuation, const double* x, const double* lam,
                  double* actuation_bar, double* stiffness_bar);

#endif
