// Continuous collision by conservative advancement. See ccd.h.
//
// Let n be the unit vector between the closest points at time t. The primitives are convex, so for every
// later time
//     distance(t + s) >= min_ij [ n.(a_i - b_j) + s n.(va_i - vb_j) ],
// an equality at s = 0. The pair cannot be nearer than d before the first s at which one of these lines falls
// to d: advance to there and look again. When no line does so before the end, they stay apart. The bound
// takes n as it is, so an inexact n costs steps, not truth. With L the largest relative displacement a step
// is at least (distance - d)/L; the number of steps is capped, and what is left open then counts as a hit.
#include "shape/ccd.h"

#include <float.h>

#include "shape/closest.h"

#define MAX_STEPS 256

// Largest |coordinate|: what round-off scales with.
static double largest(const ct_vec3 x[4], const ct_vec3 end[4]) {
    double size = 0;
    for (int i = 0; i < 4; i++) {
        const double all[6] = {fabs(x[i].x),   fabs(x[i].y),   fabs(x[i].z),
                               fabs(end[i].x), fabs(end[i].y), fabs(end[i].z)};
        for (int k = 0; k < 6; k++) size = all[k] > size ? all[k] : size;
    }
    return size;
}

// How far the time may go before a line falls to d; *apart: the smallest of them now.
static double advance(int first, const ct_vec3 at[4], const ct_vec3 velocity[4], ct_vec3 n, double d,
                      double* apart) {
    double step = INFINITY;
    *apart = INFINITY;
    for (int i = 0; i < first; i++)
        for (int j = first; j < 4; j++) {
            const double now = ct_vec3_dot(n, ct_vec3_sub(at[i], at[j]));
            const double rate = ct_vec3_dot(n, ct_vec3_sub(velocity[i], velocity[j]));
            if (!(now >= *apart)) *apart = now;
            if (rate < 0 && (now - d) < step * -rate) step = (now - d) / -rate;
        }
    return step;
}

bool ct_ccd(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double d, double tolerance,
            double* time) {
    const int first = kind == CT_CCD_VERTEX_FACE ? 1 : 2;
    const double enough = tolerance + 64 * DBL_EPSILON * largest(x, end);
    ct_vec3 velocity[4], at[4];
    for (int i = 0; i < 4; i++) velocity[i] = ct_vec3_sub(end[i], x[i]);
    double t = 0;
    for (int count = 0; count < MAX_STEPS; count++) {
        ct_ccd_at(x, end, t, at);
        const ct_closest closest = first == 1 ? ct_closest_point_triangle(at) : ct_closest_edges(at);
        *time = t;
        if (!(closest.distance > d + enough)) return true;
        double apart;
        // the lines fall to d + enough/2: the other half covers the rounding of the positions
        const double step = advance(first, at, velocity, ct_vec3_scale(1 / closest.distance, closest.apart),
                                    d + enough / 2, &apart);
        if (!(apart > d + enough / 2)) return true;
        t += step;
        if (t > 1) return false;
    }
    return true;
}

// By how much the direction u keeps the first primitive from the second, times |u|.
static double separation(int first, const ct_vec3 x[4], ct_vec3 u) {
    const double p = ct_vec3_dot(u, x[0]), q = ct_vec3_dot(u, x[1]), r = ct_vec3_dot(u, x[2]),
                 s = ct_vec3_dot(u, x[3]);
    const double far = r > s ? r : s;
    return first == 1 ? p - (q > far ? q : far) : (p < q ? p : q) - far;
}

// u, between the centres, is a good guess of a direction that separates them; what it separates at the start
// and at the end, it separates on the way.
bool ct_ccd_apart(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double d) {
    const int first = kind == CT_CCD_VERTEX_FACE ? 1 : 2;
    ct_vec3 at[4], to[4];
    for (int i = 0; i < 4; i++) {  // from a node near by, so that little is lost to round-off
        at[i] = ct_vec3_sub(x[i], x[3]);
        to[i] = ct_vec3_sub(end[i], x[3]);
    }
    const ct_vec3 u =
        first == 1 ? ct_vec3_sub(ct_vec3_scale(3, at[0]), ct_vec3_add(at[1], ct_vec3_add(at[2], at[3])))
                   : ct_vec3_sub(ct_vec3_add(at[0], at[1]), ct_vec3_add(at[2], at[3]));
    const double start = separation(first, at, u), last = separation(first, to, u),
                 least = start < last ? start : last;
    const double enough = d + 64 * DBL_EPSILON * largest(x, end);
    return least > 0 && least * least > enough * enough * ct_vec3_dot(u, u);
}
