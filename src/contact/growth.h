// How the distance that colliders keep grows in, where they begin nearer than it.
//
// Two colliders keep the distance theta_ab (t_a + t_b), t their thicknesses, beyond their radii,
//     theta_ab = ((theta_a^p + theta_b^p)/2)^(1/p), p = 16.
// Where pairs i of a collider are nearer than that when a motion begins, by distances d_i, its
//     theta_0 = (1 + sum (theta_i^-p - 1))^(-1/p),   theta_i = max(d_i / (t_a + t_b), LEAST),
//     theta(t) = 1 - (1 - theta_0) (1 - t/T)^3 until T, then 1:
// a smooth minimum, so that they are parted smoothly, not thrown apart: theta_ab, a smooth maximum, is at
// most what each of their pairs begins with, and hardly less than 1 where one of the two begins apart from
// all. One number per collider: there may be many thousands. theta_0 belongs to the state; it is a function
// of the positions at the beginning.
#ifndef CT_CONTACT_GROWTH_H
#define CT_CONTACT_GROWTH_H

#include "contact/detect.h"
#include "contact/growth_share.h"

// theta_0 of every collider at x, planes posed at `time`. pairs: scratch.
ct_status ct_growth_measure(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs,
                            const double* x, double time, double* theta);
// theta after a time, s, and its derivative by theta_0.
double ct_growth_at(double theta_start, double elapsed);
double ct_growth_slope(double elapsed);
// Reverse of ct_growth_measure, which gave theta: adds to x_bar (3 nvert).
ct_status ct_growth_vjp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* theta_bar, double* x_bar);
// Along a direction: theta_dot (ncollider).
ct_status ct_growth_jvp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* x_dot, double* theta_dot);

#endif
