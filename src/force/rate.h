// Integrators: how the velocity at the end of a (sub-)step or of a stage follows from positions.
//
// Every rule reads v = c x - p with a history p = a x_n + b x_{n-1} + e x_{n-2}, and the same for the
// momentum.
//     Euler   c = a = 1/h
//     BDF2    c = 3/(2h), a = 2/h, b = -1/(2h), x_{n-1} one step before
//     SDIRK   stage i of a stiffly accurate Runge-Kutta method with g on the diagonal is
//                 X_i = Y_i + g h V_i,   Y_i = x_n + h sum_{j<i} a_ij V_j = x_n + sum_{j<i} k_ij (X_j - Y_j),
//             k_ij = a_ij/g: c = 1/(g h), and p = c Y_i is a sum over x_n and the stages X_1, X_2 before,
//             which stand in the places of x_{n-1} and x_{n-2}. The last stage is the new state. SDIRK2: g =
//             1 - 1/sqrt 2, a_21 = 1 - g. SDIRK3: three stages (Alexander 1977).
//     midpoint  one stage, Euler over h/2 to y; then x = 2 y - x_n, v = 2 v_y - v_n.
#ifndef CT_FORCE_RATE_H
#define CT_FORCE_RATE_H

#include "cuttle.h"

enum { CT_STAGES = 3 };  // at most, of an integrator

// Velocity of the integrator: v = c x - (a x_n + b x_{n-1} + e x_{n-2}). All zero: statics, nothing moves and
// inertia is but the external force.
typedef struct ct_rate {
    double c, a, b, e;  // 1/s
} ct_rate;

ct_rate ct_rate_euler(double h);
ct_rate ct_rate_bdf2(double h);

int ct_rate_stages(ct_integrator integrator);  // of a step of it; 0: it has none
// Of stage i, from 0, of a step of length h.
ct_rate ct_rate_stage(ct_integrator integrator, int i, double h);
// When it is, as a fraction of the step.
double ct_rate_stage_end(ct_integrator integrator, int i);
// c of whole steps of length h.
double ct_rate_whole(ct_integrator integrator, double h);

#endif
