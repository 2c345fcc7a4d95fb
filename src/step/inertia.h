// Inertia and mass damping of one step, with the external forces that enter it.
//
// With the integrator's velocity v = c x - p, p = a x_n + b x_{n-1} (Euler: c = a = 1/h, b = 0; BDF2:
// c = 3/(2h), a = 2/h, b = -1/(2h)) and the same rule for the momentum,
//     c^2 M (x - s) + D (c x - p),   s = (p + (a v_n + b v_{n-1})/c)/c + M^-1 f / c^2
// is the force of inertia, external forces f and mass damping D; its potential
//     c^2/2 |x - s|_M^2 + 1/(2c) |c x - p|_D^2.
#ifndef CT_STEP_INERTIA_H
#define CT_STEP_INERTIA_H

#include "step/work.h"

ct_rate ct_rate_euler(double h);
ct_rate ct_rate_bdf2(double h);

// Fills work->rate, history and inertial for a step from `state` under work->force.
void ct_inertia_begin(const ct_model* model, ct_work* work, const ct_state* state, ct_rate rate);
// Adds the force at free nodes to rho (3 nvert), returns the potential.
double ct_inertia_gradient(const ct_model* model, const ct_work* work, const double* x, double* rho);
// Adds its Hessian times dx at free nodes.
void ct_inertia_product(const ct_model* model, const ct_work* work, const double* dx, double* out);

#endif
