// Continuous collision: the first time at which two moving primitives come as close as d.
//
// The four nodes move along straight lines from x to end while the time goes from 0 to 1. A true approach is
// never missed; an answer may come early, by what `tolerance` allows: a pair counts as having arrived when
// its distance is at most d + tolerance (round-off is added). So *time is the start of the motion or a time
// at which the pair is not yet nearer than d.
#ifndef CT_SHAPE_CCD_H
#define CT_SHAPE_CCD_H

#include <stdbool.h>

#include "math/vec3.h"

typedef enum ct_ccd_kind { CT_CCD_VERTEX_FACE, CT_CCD_EDGE_EDGE } ct_ccd_kind;

// x, end: (p; a,b,c) or (a,b; c,d). False: they stay apart by more than d.
bool ct_ccd(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double d, double tolerance,
            double* time);
// A cheap test: true when they certainly stay farther apart than d all the way.
bool ct_ccd_apart(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double d);

static inline void ct_ccd_at(const ct_vec3 x[4], const ct_vec3 end[4], double time, ct_vec3 out[4]) {
    for (int i = 0; i < 4; i++) out[i] = ct_vec3_axpy(x[i], time, ct_vec3_sub(end[i], x[i]));
}

#endif
