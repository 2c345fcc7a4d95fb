// One contact and its law.
//
// A touch is a pair of primitives with an unknown force F (N, world axes, on the pair's first side; node i
// gets w_i F). With the normal n, P = I - n n^T, gap g, slip u over the step, and a = F - r (n g + P u + eps
// F), Signorini's and Coulomb's laws are the zeros of the map of Alart and Curnier (1991),
//     open   n.a <= 0:                            R = F
//     stick  |P a| <= mu n.a:                     R = r (n g + P u + eps F)
//     slip   otherwise, tau = P a / |P a|:        R = r n (g + eps n.F) + P F - mu (n.F) tau
// A touch whose feet have left its primitives is open. r > 0 (N/m) only scales; eps (m/N) is a tiny
// compliance where several contacts share nodes, and 0 elsewhere. All rows are forces.
#ifndef CT_CONTACT_TOUCH_H
#define CT_CONTACT_TOUCH_H

#include "contact/contact_geometry.h"
#include "contact/pair.h"

// A contact as a step leaves it, for whoever takes the step again or its adjoint.
typedef struct ct_touch_record {
    ct_pair pair;
    ct_contact_set set;
    double force[3];  // N
    double eps;       // m/N
} ct_touch_record;

typedef struct ct_touch {
    ct_touch_record is;
    double scale;   // r, N/m
    bool measured;  // r comes from the compliance W, not from an estimate
    ct_contact_geometry at;
    // rows of the linearisation: dR/dx, dR/dF, dR/dx_start, and the part without moving geometry D (of the
    // slip) with R_F
    double dx[3][12], dx_start[3][12], dF[3][3], D[3][3];
    int slot;                  // place among the touches that are not open, -1: open
    double base[3], delta[3];  // N: where a search starts, and along what
} ct_touch;

// The touch's own compliance, m/N: sets r.
void ct_touch_measure(ct_touch* touch, double compliance);
// How far the feet lie outside of the primitives, in their parameters; negative: inside.
double ct_touch_overshoot(const ct_touch* touch);
bool ct_touch_away(const ct_touch* touch);  // so far that it counts as open
// The set that a says.
ct_contact_set ct_touch_set(const ct_touch* touch);
// Alart and Curnier's residual with the present set; natural: with the set that a says.
void ct_touch_residual(const ct_touch* touch, double R[3]);
void ct_touch_natural(const ct_touch* touch, double R[3]);
// How far the touch is from changing its set, N.
double ct_touch_margin(const ct_touch* touch);
// Rows for its set, which is not open; needs derivatives of the geometry.
void ct_touch_linearise(ct_touch* touch);
// Rows times (dx, dF): out_nodes (3 nvert) -= d(w_i F), row (3) = dR. dF: 3.
void ct_touch_product(const ct_touch* touch, const double* dx, const double* dF, double* out_nodes,
                      double* row);
// The transposed rows: out_nodes (3 nvert) += (dR/dx)^T lam_F - (d nodal/dx)^T lam, out_F (3, NULL: not
// wanted) = (dR/dF)^T lam_F - J lam.
void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F);
// dR/deps.
void ct_touch_eps_slope(const ct_touch* touch, double slope[3]);
// dR/dmu of a slipping touch.
void ct_touch_friction_slope(const ct_touch* touch, double slope[3]);

#endif
