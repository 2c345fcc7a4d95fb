// Held frames; see held.h.
#include "contact/held.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"
#include "shape/ccd.h"

// of the way from core to thickness: where a pair that meets on the way has its frame
static const double near_core = 0.2;
enum { POLISH = 20 };

static int count_nodes(const ct_pair* pair) {
    int count = 0;
    while (count < 4 && pair->node[count] >= 0) count++;
    return count;
}

// The pair alone, its nodes numbered from 0, at a time of the motion.
typedef struct alone {
    ct_pair pair;
    int count;
    double start[12], way[12], at[12];
} alone;

static alone take_alone(const ct_pair* pair, const double* x_start, const double* x_hat) {
    alone out = {.pair = *pair, .count = count_nodes(pair)};
    for (int k = 0; k < out.count; k++) {
        out.pair.node[k] = k;
        for (int a = 0; a < 3; a++) {
            out.start[3 * k + a] = x_start[3 * pair->node[k] + a];
            out.way[3 * k + a] = x_hat[3 * pair->node[k] + a] - x_start[3 * pair->node[k] + a];
        }
    }
    return out;
}

static void place_alone(alone* one, double time, bool derivatives, ct_contact_geometry* out) {
    for (int i = 0; i < 3 * one->count; i++) one->at[i] = one->start[i] + time * one->way[i];
    ct_contact_geometry_at(&one->pair, NULL, one->at, one->at, derivatives, out);
}

// d distance/dt.
static double approach(const alone* one, const ct_contact_geometry* at) {
    double rate = 0;
    for (int i = 0; i < 3 * one->count; i++) rate += at->w[i / 3] * at->n[i % 3] * one->way[i];
    return rate;
}

// Newton's method from a time just before, to round-off: a smooth function of the motion.
static bool polish(alone* one, double distance, double* time) {
    double t = *time, last = INFINITY;
    for (int i = 0; i < POLISH; i++) {
        ct_contact_geometry at;
        place_alone(one, t, false, &at);
        double rate = approach(one, &at), step = (distance - at.gap - one->pair.thickness) / rate;
        if (!(rate < 0) || !isfinite(step)) return false;
        if (fabs(step) >= last && last < 1e-9) break;
        last = fabs(step);
        t += step;
        if (!(t >= 0 && t <= 1)) return false;
    }
    *time = t;
    return last < 1e-9;
}

bool ct_held_impact(const ct_pair* pair, const double* x_start, const double* x_hat, double* time) {
    if (pair->type == CT_CONTACT_TYPE_PLANE) return false;
    alone one = take_alone(pair, x_start, x_hat);
    ct_vec3 x[4], end[4];
    for (int k = 0; k < 4; k++) {
        int j = k < one.count ? k : one.count - 1;  // an edge, a point: a face without area
        x[k] = ct_vec3_load(one.start + 3 * j);
        end[k] = ct_vec3_add(x[k], ct_vec3_load(one.way + 3 * j));
    }
    double room = pair->thickness - pair->core, distance = pair->core + near_core * room;
    ct_ccd_kind kind = pair->type == CT_CONTACT_TYPE_EDGE_EDGE ? CT_CCD_EDGE_EDGE : CT_CCD_VERTEX_FACE;
    if (!ct_ccd(kind, x, end, pair->core, 2 * near_core * room, time)) return false;
    return polish(&one, distance, time);
}

// How far the feet lie outside.
static double overshoot(const ct_pair* pair, const double w[4]) {
    switch (pair->type) {
    case CT_CONTACT_TYPE_VERTEX_FACE: return fmax(w[1], fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_EDGE_EDGE: return fmax(fmax(-w[0], -w[1]), fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_POINT_EDGE: return fmax(w[1], w[2]);
    default: return 0;
    }
}

double ct_held_hold(const ct_pair* pair, const ct_obstacle_motion* motion, const double* x_start,
                    const double* x_hat, double time, ct_held_frame* out) {
    memset(out, 0, sizeof *out);
    if (pair->type == CT_CONTACT_TYPE_PLANE) {
        out->count = 1;
        out->w[0] = 1;
        copy3(out->n, motion->normal);
        return -1;
    }
    alone one = take_alone(pair, x_start, x_hat);
    ct_contact_geometry at;
    place_alone(&one, time, false, &at);
    out->count = one.count;
    copy3(out->n, at.n);
    memcpy(out->w, at.w, sizeof out->w);
    return overshoot(pair, out->w);
}

double ct_held_vjp(const ct_pair* pair, const double* x_start, const double* x_hat, ct_held_kind kind,
                   double time, const double n_bar[3], const double w_bar[4], double* start_bar,
                   double* hat_bar) {
    alone one = take_alone(pair, x_start, x_hat);
    ct_contact_geometry at;
    place_alone(&one, time, true, &at);
    double bar[12], time_bar = 0;
    for (int c = 0; c < 3 * one.count; c++) {
        bar[c] = n_bar[0] * at.dn[0][c] + n_bar[1] * at.dn[1][c] + n_bar[2] * at.dn[2][c];
        for (int k = 0; k < one.count; k++) bar[c] += w_bar[k] * at.dw[k][c];
        time_bar += bar[c] * one.way[c];
    }
    // the distance at the time of impact stays the same
    double rate = kind == CT_HELD_IMPACT ? approach(&one, &at) : 0;
    for (int c = 0; c < 3 * one.count; c++) {
        if (rate != 0) bar[c] -= time_bar * at.w[c / 3] * at.n[c % 3] / rate;
        int i = 3 * pair->node[c / 3] + c % 3;
        start_bar[i] += (1 - time) * bar[c];
        hat_bar[i] += time * bar[c];
    }
    // the core is half of it away, and the thickness all of it
    return rate != 0 ? time_bar * (0.5 + 0.5 * near_core) / rate : 0;
}

void ct_held_jvp(const ct_pair* pair, const double* x_start, const double* x_hat, ct_held_kind kind,
                 double time, const double* start_dot, const double* hat_dot, double kept_dot, double dn[3],
                 double dw[4]) {
    alone one = take_alone(pair, x_start, x_hat);
    ct_contact_geometry at;
    place_alone(&one, time, true, &at);
    double dx[12], nearer = kept_dot * (0.5 + 0.5 * near_core);
    for (int c = 0; c < 3 * one.count; c++) {
        const int i = 3 * pair->node[c / 3] + c % 3;
        dx[c] = (1 - time) * start_dot[i] + time * hat_dot[i];
        nearer -= at.w[c / 3] * at.n[c % 3] * dx[c];
    }
    const double rate = kind == CT_HELD_IMPACT ? approach(&one, &at) : 0;
    for (int c = 0; rate != 0 && c < 3 * one.count; c++) dx[c] += nearer / rate * one.way[c];
    for (int a = 0; a < 3; a++) dn[a] = 0;
    for (int k = 0; k < 4; k++) dw[k] = 0;
    for (int c = 0; c < 3 * one.count; c++) {
        for (int a = 0; a < 3; a++) dn[a] += at.dn[a][c] * dx[c];
        for (int k = 0; k < one.count; k++) dw[k] += at.dw[k][c] * dx[c];
    }
}
