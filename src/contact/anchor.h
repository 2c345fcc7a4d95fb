// Anchors: the forces that pairs carried in the step before, which their friction starts from (touch.h).
//
// A list of them belongs to the state. It is sorted by pair, as pairs are (pair.h); the touches of one pair
// are summed. An anchor is projected to the cone of the pair's new frame: the normal part becomes n max(0,
// n.m), the part across is cut to mu times that.
#ifndef CT_CONTACT_ANCHOR_H
#define CT_CONTACT_ANCHOR_H

#include "contact/touch.h"

typedef struct ct_anchor {
    int type, plane, node[4];  // of the pair
    double force[3];           // N
} ct_anchor;

typedef struct ct_anchors {
    const ct_anchor* item;
    int count;
} ct_anchors;

// Which anchor a pair has; -1: none.
int ct_anchor_find(ct_anchors list, const ct_pair* pair);
// Writes the anchors of the touches that are not open to out, at most `room`: any more are lost. Returns
// their number. touch: the first of `count` records, `stride` bytes apart.
int ct_anchor_write(const ct_touch_record* touch, size_t stride, size_t count, ct_anchor* out, int room);
void ct_anchor_project(double friction, const double n[3], const double force[3], double out[3]);
// Adds the adjoint of a projection to those of n, the force and the coefficient.
void ct_anchor_project_vjp(double friction, const double n[3], const double force[3], const double out_bar[3],
                           double n_bar[3], double force_bar[3], double* friction_bar);
// Along a direction.
void ct_anchor_project_jvp(double friction, const double n[3], const double force[3], const double n_dot[3],
                           const double force_dot[3], double friction_dot, double out_dot[3]);

#endif
