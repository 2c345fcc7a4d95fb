// Contacts of one (sub-)step: forces, sets, residual and linearisation.
//
// A touch is a pair of primitives with an unknown force F (N, world axes, on the pair's first side; node i
// gets w_i F). With the normal n, P = I - n n^T, gap g, slip u over the step, and a = F - r (n g + P u + eps
// F), Signorini's and Coulomb's laws are the zeros of the map of Alart and Curnier (1991),
//     open   n.a <= 0:                            R = F
//     stick  |P a| <= mu n.a:                     R = r (n g + P u + eps F)
//     slip   otherwise, tau = P a / |P a|:        R = r n (g + eps n.F) + P F - mu (n.F) tau
// A touch whose feet have left its primitives is open. r > 0 (N/m) only scales; eps (m/N) is a tiny
// compliance where several contacts share nodes, and 0 elsewhere. All rows are forces.
#ifndef CT_STEP_CONTACT_H
#define CT_STEP_CONTACT_H

#include "contact/contact_geometry.h"
#include "step/touch.h"
#include "step/work.h"

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

typedef struct ct_compliance ct_compliance;  // step/compliance.h
typedef struct ct_friction_work ct_friction_work;

struct ct_contact_work {
    ct_arena arena;
    ct_detect* detect;
    ct_pairs near, hits, known;
    ct_touch* touch;
    size_t count, capacity;
    ct_obstacle_motion* motion;  // ncollider, over the (sub-)step
    unsigned char* moves;        // ncollider: the motion matters
    // m: pairs that come nearer than this on the way are looked at from the start
    double margin;
    double shorter;         // (h / time step)^2 of a sub-step
    const double* x_start;  // 3 nvert, at the start of the (sub-)step
    double* nodal;          // 3 nvert, N: sum of w_i F
    double* shift;          // 3 nvert: motion of the nodes, scratch
    int* uses;              // nvert: touches at the node, scratch
    double* force;          // 3 nvert, N: of the step that was accepted last
    ct_contact* list;       // for the report
    size_t list_capacity;
    int measured;  // touches of the W that the vectors hold, listed there; 0: none
    // the last Newton step's factor is of these touches, with the sets listed there
    bool factored;
    // the linear systems: unknowns, then three rows a touch that is not open
    ct_compliance* compliance;
    ct_friction_work* friction;
    ct_krylov_work* krylov;
    double* vector;  // scratch for the systems
    size_t vector_capacity;
    size_t vector_layout;  // touches that it is laid out for
};

ct_status ct_contact_work_create(ct_contact_work** out, const ct_model* model);
void ct_contact_work_free(ct_contact_work* contact);

// Motions of the obstacles from `time` over `h`; then x_start are the positions at the start.
void ct_contact_begin(const ct_model* model, ct_contact_work* contact, const double* x_start, double time,
                      double h);
// Adds touches for pairs that are not there yet; force_start (3 nvert, may be NULL): nodal contact forces to
// begin with.
ct_status ct_contact_add(const ct_model* model, ct_contact_work* contact, const ct_pairs* pairs,
                         const double* force_start);
// The touch's own compliance, m/N: sets r.
void ct_touch_measure(ct_touch* touch, double compliance);
// Geometry of every touch at x.
void ct_contact_place(const ct_model* model, ct_contact_work* contact, const double* x, bool derivatives);
// nodal = sum of w_i F.
void ct_contact_forces(const ct_model* model, ct_contact_work* contact);
// How far the feet lie outside of the primitives, in their parameters; negative: inside.
double ct_touch_overshoot(const ct_touch* touch);
bool ct_touch_away(const ct_touch* touch);  // so far that it counts as open
// Sets by the signs of a; returns how many changed.
int ct_contact_classify(ct_contact_work* contact);
// Alart and Curnier's residual of a touch with its present set; natural: with the set that a says.
void ct_contact_residual(const ct_touch* touch, double R[3]);
double ct_contact_natural(const ct_contact_work* contact);  // norm over all touches, N
// The deepest that any touch is below its thickness, in terms of the distance between thickness and core; 0:
// none.
double ct_contact_depth(const ct_contact_work* contact);
// How far the touch is from changing its set, N.
double ct_touch_margin(const ct_touch* touch);
// Rows of every touch that is not open, for its set; needs derivatives of the geometry. Returns the number of
// slots.
int ct_contact_linearise(ct_contact_work* contact);
// Rows times (dx, dF): out_nodes (3 nvert) -= d(nodal), out_rows (3 slots) = dR. dF: 3 slots.
void ct_contact_product(const ct_contact_work* contact, const double* dx, const double* dF, double* out_nodes,
                        double* out_rows);
// Touches as a step left them, none open.
ct_status ct_contact_restore(const ct_model* model, ct_contact_work* contact, const ct_touch_record* record,
                             size_t count);
// dR/dmu of a slipping touch.
void ct_contact_friction_slope(const ct_touch* touch, double slope[3]);
// The transposed rows of one touch: out_nodes (3 nvert) += (dR/dx)^T lam_F - (d nodal/dx)^T lam, out_F (3,
// NULL: not wanted) = (dR/dF)^T lam_F - J lam.
void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F);
// The same of all.
void ct_contact_product_transposed(const ct_contact_work* contact, const double* lam, const double* lam_F,
                                   double* out_nodes, double* out_F);

#endif
