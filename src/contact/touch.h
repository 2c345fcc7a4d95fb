// One contact and its law.
//
// A touch is a pair of primitives with a frame that is held over the step (contact/held.h) and an unknown
// force F (N, world axes, on the pair's first side; node i gets w_i F). With the normal n, P = I - n n^T, gap
// g, slip u over the step, the compliance eps (m/N) and the anchor m, the pair's force of the step before,
// let
//     s = n (g + eps n.F) + P (u + eps (F - m)),   a = F - r s.
// Signorini's and Coulomb's laws are then the zeros of the map of Alart and Curnier (1991),
//     open   n.a <= 0:                            R = F
//     stick  |P a| <= mu n.a:                     R = r s
//     slip   otherwise, tau = P a / |P a|:        R = n (n.(r s)) + P F - mu (n.F) tau
// r > 0 (N/m) only scales. All rows are forces. The anchor makes a contact at rest stay where it is: when the
// force does not change from step to step, nothing slips.
// Against spheres and capsules the frame is not held: force and weights follow the surface within the step.
#ifndef CT_CONTACT_TOUCH_H
#define CT_CONTACT_TOUCH_H

#include "contact/held.h"

// A contact as a step leaves it, for whoever takes the step again or its adjoint.
typedef struct ct_touch_record {
    ct_pair pair;
    ct_held_kind kind;  // of its frame
    double time;        // of its frame
    ct_contact_set set;
    double force[3];   // N
    double anchor[3];  // N
    double eps;        // m/N
    double stiffer;    // what the compliance of its nodes' share was divided by, where the force is large
    int cut;           // how many touches of the same pair came before it
} ct_touch_record;

// What the rows of a touch with a moving frame need.
typedef struct ct_touch_round {
    ct_contact_geometry geometry;
    double dx[3][12];  // dR/dx of its nodes
} ct_touch_round;

typedef struct ct_touch {
    ct_touch_record is;
    double scale;            // r, N/m
    bool measured;           // r comes from the compliance W, not from an estimate
    ct_held_frame held, at;  // the frame that is held, and that in force
    // against a round obstacle: the frame moves with x, and with it the rows; otherwise NULL
    ct_touch_round* round;
    const ct_obstacle_motion*
        motion;   // of planes, and of spheres and capsules that spin; NULL: nodes carry all
    double gap;   // m, g
    double u[3];  // m, slip, not projected
    // dR/dF; dR = D w_i dx_i; the same where the obstacle turns
    double dF[3][3], D[3][3], dx[3][3];
    int slot;                  // place among the touches that are not open, -1: open
    double base[3], delta[3];  // N: where a search starts, and along what
} ct_touch;

// The touch's own compliance, m/N: sets r.
void ct_touch_measure(ct_touch* touch, double compliance);
// Gap and slip at x, and the frame if it moves; x_start: 3 nvert, at the start of the step.
void ct_touch_place(ct_touch* touch, const double* x_start, const double* x);
// n g + P (u - eps m): s without the force.
void ct_touch_offset(const ct_touch* touch, double out[3]);
// J dx = sum w_i dx_i.
void ct_touch_motion(const ct_touch* touch, const double* dx, double out[3]);
// The set that a says.
ct_contact_set ct_touch_set(const ct_touch* touch);
// Alart and Curnier's residual with the present set; natural: with the set that a says.
void ct_touch_residual(const ct_touch* touch, double R[3]);
void ct_touch_natural(const ct_touch* touch, double R[3]);
// How far the touch is from changing its set, N.
double ct_touch_margin(const ct_touch* touch);
// Rows for its set, which is not open.
void ct_touch_linearise(ct_touch* touch);
// Rows times (dx, dF): out_nodes (3 nvert) -= w_i dF, row (3) = dR. dF: 3.
void ct_touch_product(const ct_touch* touch, const double* dx, const double* dF, double* out_nodes,
                      double* row);
// The transposed rows: out_nodes (3 nvert) += (dR/dx)^T lam_F - (d(w_i F)/dx)^T lam, out_F (3, NULL: not
// wanted) = (dR/dF)^T lam_F
// - J lam.
void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F);

// -lam_F . dR/d(.) of a touch that is not open.
typedef struct ct_touch_bar {
    double n[3], u[3], gap, eps, anchor[3], friction;
} ct_touch_bar;
ct_touch_bar ct_touch_vjp(const ct_touch* touch, const double lam_F[3]);
// Along a direction: out = -dR for these changes.
typedef struct ct_touch_bar ct_touch_dot;
void ct_touch_jvp(const ct_touch* touch, const ct_touch_dot* dot, double out[3]);

#endif
