// Joint rates of links whose nodes have velocities v: those of the motion B u nearest to v,
//     u = (B^T M B)^-1 B^T M v,
// which is the same motion where v is one of the joints' (then M does not matter), and keeps the momentum of
// each joint where it is not. Rates are along the parents' axes. B^T M B by composite bodies: for joint rates
// i above j with twists s (config.h), s_i . (momentum of all that j carries, moving with s_j).
//
// Reverse, with y = (B^T M B)^-1 u_bar and e = v - B u:
//     v_bar = M B y,   m_bar = e . B y,   q_bar . dq = M e . (dB y) - M B y . (dB u).
#ifndef CT_SKELETON_RATES_H
#define CT_SKELETON_RATES_H

#include "skeleton/config.h"
#include "skeleton/jets.h"

typedef struct ct_rates {
    ct_config config;  // where the velocities are
    ct_jets jets;
    double *moments, *wrench;  // 10 nlink: m, sum m y, sum m y y^T of all that a link carries; 6 nlink
    double* factor;            // ndof x ndof, lower triangle: Cholesky's of B^T M B, per unit of unknowns
    double *r, *u, *y, *none;  // ndof
    double *Bu, *By, *scratch, *weight;  // 3 nvert
    double *q_bar, *w_bar, *dw_bar;      // ndof
} ct_rates;

// The arena fails where there is no memory.
void ct_rates_create(ct_rates* rates, ct_arena* arena, const ct_tree* tree);
// u (ndof) at coordinates q; mass: nvert, v: 3 nvert.
void ct_rates_project(const ct_tree* tree, ct_rates* rates, const double* mass, const double* q,
                      const double* v, double* u);
// After it: the link with the first joint that has a rate without inertia; -1: none. Such a rate is 0.
int ct_rates_massless(const ct_tree* tree, const ct_rates* rates);
// After it: adds to tangents of q (ndof), to v_bar and, where it is not NULL, mass_bar.
void ct_rates_project_vjp(const ct_tree* tree, ct_rates* rates, const double* mass, const double* v,
                          const double* u_bar, double* q_bar, double* v_bar, double* mass_bar);
// After it, forward: u_dot from changes of q (tangents) and v.
void ct_rates_project_jvp(const ct_tree* tree, ct_rates* rates, const double* mass, const double* v,
                          const double* q_dot, const double* v_dot, double* u_dot);

#endif
