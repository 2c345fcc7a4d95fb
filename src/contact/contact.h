// The contacts of one (sub-)step: which touches there are, their places, forces, sets, residual and
// linearisation. The law of each is in touch.h.
#ifndef CT_CONTACT_CONTACT_H
#define CT_CONTACT_CONTACT_H

#include "contact/collision.h"
#include "contact/detect.h"
#include "contact/touch.h"

// eps, in terms of the softness of its nodes, where touches share nodes
extern const double ct_contact_eps_share;

// Scratch of one simulation; a step finds in it what it put there itself, and nothing else.
typedef struct ct_contact_work {
    ct_arena arena;
    int nvert;
    ct_detect* detect;
    ct_pairs near, hits, known;
    ct_touch* touch;
    size_t count, capacity;
    int revision;                // one more whenever touches come or go
    ct_obstacle_motion* motion;  // ncollider, over the (sub-)step
    unsigned char* moves;        // ncollider: the motion matters
    // m: pairs that come nearer than this on the way are looked at from the start
    double margin;
    double rate;            // c, 1/s, of the (sub-)step
    const double* x_start;  // 3 nvert, at the start of the (sub-)step
    double* nodal;          // 3 nvert, N: sum of w_i F
    double* shift;          // 3 nvert: motion of the nodes, scratch
    int* uses;              // nvert: touches at the node, scratch
    ct_contact* list;       // for the report
    size_t list_capacity;
} ct_contact_work;

ct_status ct_contact_work_create(ct_contact_work** out, const ct_collision* collision);
void ct_contact_work_free(ct_contact_work* contact);

// Motions of the obstacles from `time` over `h`; then x_start are the positions at the start. rate: c of a
// whole step, 1/s.
void ct_contact_begin(const ct_collision* collision, ct_contact_work* contact, const double* x_start,
                      double time, double h, double rate);
// Adds touches for pairs that are not there yet; force_start (3 nvert, may be NULL): nodal contact forces to
// begin with.
ct_status ct_contact_add(const ct_collision* collision, ct_contact_work* contact, const ct_pairs* pairs,
                         const double* force_start);
// Touches as a step left them, none open.
ct_status ct_contact_restore(const ct_collision* collision, ct_contact_work* contact,
                             const ct_touch_record* record, size_t count);
// Geometry of every touch at x.
void ct_contact_place(ct_contact_work* contact, const double* x, bool derivatives);
// nodal = sum of w_i F.
void ct_contact_forces(ct_contact_work* contact);
// Sets by the signs of a; returns how many changed.
int ct_contact_classify(ct_contact_work* contact);
double ct_contact_natural(const ct_contact_work* contact);  // norm of the natural residuals of all touches, N
// The deepest that any touch is below its thickness, in terms of the distance between thickness and core; 0:
// none.
double ct_contact_depth(const ct_contact_work* contact);
// Rows of every touch that is not open, for its set; needs derivatives of the geometry. Returns the number of
// slots.
int ct_contact_linearise(ct_contact_work* contact);
// Rows times (dx, dF): out_nodes (3 nvert) -= d(nodal), out_rows (3 slots) = dR. dF: 3 slots.
void ct_contact_product(const ct_contact_work* contact, const double* dx, const double* dF, double* out_nodes,
                        double* out_rows);
// The transposed rows of all touches; see ct_touch_transposed.
void ct_contact_product_transposed(const ct_contact_work* contact, const double* lam, const double* lam_F,
                                   double* out_nodes, double* out_F);

#endif
