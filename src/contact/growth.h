// How the distance that colliders keep grows in, where they begin nearer than it.
//
// Two colliders keep the distance theta (t_a + t_b), t their thicknesses, beyond their radii. Where pairs of
// theirs are nearer than t_a + t_b when a motion begins, by distances d_i,
//     theta_i = max(d_i / (t_a + t_b), LEAST),   theta_0 = (1 + sum (theta_i^-p - 1))^(-1/p),
//     theta(t) = 1 - (1 - theta_0) (1 - t/T)^3 until T, then 1:
// a smooth minimum, so that they are parted smoothly, not thrown apart. theta_0 belongs to the state; it is a
// function of the positions at the beginning.
#ifndef CT_CONTACT_GROWTH_H
#define CT_CONTACT_GROWTH_H

#include "contact/detect.h"

// theta_0 of every two colliders (ncollider squared, symmetric) at x, planes posed at `time`. pairs: scratch.
ct_status ct_growth_measure(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs,
                            const double* x, double time, double* theta);
// theta after a time, s, and its derivative by theta_0.
double ct_growth_at(double theta_start, double elapsed);
double ct_growth_slope(double elapsed);
// Reverse of ct_growth_measure, which gave theta: adds to x_bar (3 nvert).
ct_status ct_growth_vjp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* theta_bar, double* x_bar);
// Along a direction: theta_dot (ncollider squared, symmetric).
ct_status ct_growth_jvp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* x_dot, double* theta_dot);

#endif
