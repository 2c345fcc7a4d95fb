// The contacts of one (sub-)step: which touches there are, their frames, forces, sets, residual and
// linearisation. The law of each is in touch.h.
#ifndef CT_CONTACT_CONTACT_H
#define CT_CONTACT_CONTACT_H

#include "contact/anchor.h"
#include "contact/collision.h"
#include "contact/detect.h"
#include "contact/touch.h"

enum { CT_CONTACT_CUTS = 4 };  // frames that a pair may have

// Scratch of one simulation; a step finds in it what it put there itself, and nothing else.
typedef struct ct_contact_work {
    ct_arena arena;
    int nvert;
    ct_detect* detect;
    ct_pairs near, hits;
    ct_touch* touch;
    ct_touch_round* round;  // capacity: of the touches whose frame moves
    size_t round_capacity;
    size_t count, capacity;
    int* table;  // touches by pair, open addressing: index + 1 of the last one
    size_t table_size, table_capacity;
    double* extent;   // ncollider, m: diagonal of the box around its nodes at rest
    double violence;  // longest way that a pair meets on, in terms of the smaller extent; less for planes
    bool meets;       // pairs meet on a long way to where the velocities lead
    int revision;     // one more whenever touches come
    ct_obstacle_motion* motion;  // ncollider, over the (sub-)step
    unsigned char* moves;        // ncollider: the motion matters
    // m: pairs nearer than this are looked at from the start
    double margin;
    double room;            // m, the least of two colliders' distances to their core
    double h;               // s, of the (sub-)step
    double rate;            // 1/s, c of the (sub-)step
    bool shortened;         // it is part of a step
    const double* x_start;  // 3 nvert, at the start of the (sub-)step
    double* x_hat;          // 3 nvert: where the velocities lead
    ct_anchors past;        // of the step before
    double* growth;         // ncollider: theta at the end of the (sub-)step (growth.h)
    double growth_slope;    // of theta by theta_0
    double* nodal;          // 3 nvert, N: sum of w_i F
    double* shift;          // 3 nvert: motion of the nodes, scratch
    int* uses;              // nvert: touches at the node, scratch
    ct_contact* list;       // for the report
    size_t list_capacity;
} ct_contact_work;

ct_status ct_contact_work_create(ct_contact_work** out, const ct_collision* collision);
void ct_contact_work_free(ct_contact_work* contact);

// What a (sub-)step begins with.
typedef struct ct_contact_start {
    const double *x, *v;  // 3 nvert
    const double* x_end;  // 3 nvert: driven nodes at its end
    double time, h;       // s
    double rate;          // 1/s, c of the (sub-)step
    bool shortened;       // it is part of a step
    ct_anchors past;      // forces of the step before
    // theta_0 (ncollider; growth.h), and how long ago, when the (sub-)step ends, s
    const double* growth;
    double elapsed;
} ct_contact_start;

// No touches; the motions of the obstacles; where the velocities lead.
void ct_contact_begin(const ct_collision* collision, ct_contact_work* contact, const ct_contact_start* start);
// Adds touches, with frames at `time`, for pairs that are not there yet.
ct_status ct_contact_add(const ct_collision* collision, ct_contact_work* contact, const ct_pairs* pairs,
                         double time);
// Adds a touch for a pair that was found late, or one more for a pair that is there, with a frame that no
// touch of it has yet. *added false: there is none left.
ct_status ct_contact_cut(const ct_collision* collision, ct_contact_work* contact, const ct_pair* pair,
                         const double* x, bool* added);
// How many touches a pair has.
int ct_contact_frames(const ct_contact_work* contact, const ct_pair* pair);
// Touches as a step left them, none open.
ct_status ct_contact_restore(const ct_collision* collision, ct_contact_work* contact,
                             const ct_touch_record* record, size_t count);
// Gap and slip of every touch at x.
void ct_contact_place(ct_contact_work* contact, const double* x);
// nodal = sum of w_i F.
void ct_contact_forces(ct_contact_work* contact);
// Sets by the signs of a.
void ct_contact_classify(ct_contact_work* contact);
double ct_contact_natural(const ct_contact_work* contact);  // norm of the natural residuals of all touches, N
// The deepest that any touch is below its thickness, in terms of the distance between thickness and core; 0:
// none.
double ct_contact_depth(const ct_contact_work* contact);
// Rows of every touch that is not open, for its set. Returns the number of slots.
int ct_contact_linearise(ct_contact_work* contact);
// Rows times (dx, dF): out_nodes (3 nvert) -= d(sum w_i F), out_rows = dR. dF and out_rows: 3 a slot.
void ct_contact_product(const ct_contact_work* contact, const double* dx, const double* dF, double* out_nodes,
                        double* out_rows);
// The transposed of this: out_nodes (3 nvert) += (dR/dx)^T lam_F, out_F = (dR/dF)^T lam_F - J lam.
void ct_contact_product_transposed(const ct_contact_work* contact, const double* lam, const double* lam_F,
                                   double* out_nodes, double* out_F);

// Makes touches stiffer that their forces have pressed deeper than `depth` (as above); false: there are none.
bool ct_contact_stiffen(ct_contact_work* contact, double depth);

// eps of a touch is a share of the compliance of its nodes, m/N: d eps / d w_k, and d eps / d compliance of
// node k (4 each).
void ct_contact_compliance_slope(const ct_collision* collision, const ct_contact_work* contact,
                                 const ct_touch* touch, double by_weight[4], double by_node[4]);

#endif
