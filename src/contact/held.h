// The frame of a contact: its normal n and the weights w of its nodes, held over a step.
//
// A frame is a function of where the step begins, x_n, and of where the velocities lead, x_hat = x_n + h v_n
// (driven nodes: where they go): the geometry of the pair (contact_geometry.h) at
//     x_f = x_n + t (x_hat - x_n),
// with t = 1 for pairs that are near there, t = 0 for pairs that are near at the start, and the time at which
// the pair comes as near as a given distance where it meets on the way. Held frames make the gap linear in
// the positions at the end of the step. The plane's frame is the plane at the end of the step.
#ifndef CT_CONTACT_HELD_H
#define CT_CONTACT_HELD_H

#include "contact/contact_geometry.h"

typedef enum ct_held_kind {
    CT_HELD_AT,      // at a fixed t
    CT_HELD_IMPACT,  // where the pair comes near on the way
    CT_HELD_NOT      // the frame moves with the solution; what else is held is at the start
} ct_held_kind;

typedef struct ct_held_frame {
    int count;  // nodes: 1 to 4
    double n[3];
    double w[4];  // they sum to 0, of planes to 1
} ct_held_frame;

// The time at which the pair, on its way from x_start to x_hat, first comes near; false: it does not.
bool ct_held_impact(const ct_pair* pair, const double* x_start, const double* x_hat, double* time);
// The frame at `time`. Returns how far the feet lie outside of the primitives, in their parameters; negative:
// inside.
double ct_held_hold(const ct_pair* pair, const ct_obstacle_motion* motion, const double* x_start,
                    const double* x_hat, double time, ct_held_frame* out);
// Adds the adjoint of a frame, not of a plane, to those of x_start and x_hat. Returns that of the distance to
// keep beyond the radii, `kept`: where a pair meets on the way depends on it.
double ct_held_vjp(const ct_pair* pair, const double* x_start, const double* x_hat, ct_held_kind kind,
                   double time, const double n_bar[3], const double w_bar[4], double* start_bar,
                   double* hat_bar);
// Along a direction: what the frame changes by.
void ct_held_jvp(const ct_pair* pair, const double* x_start, const double* x_hat, ct_held_kind kind,
                 double time, const double* start_dot, const double* hat_dot, double kept_dot, double dn[3],
                 double dw[4]);

#endif
