// The angle at a clamped edge, between a triangle and a tangent plane that is held there.
//
// With A the outward unit vector in that plane across the edge, N its normal, m = (x1 - x0) x (x2 - x0) for
// the triangle's corners 0, 1 on the edge and 2,
//     theta = atan2(A . m, N . m),   d theta = v . dm,   v = (C A - S N)/(S^2 + C^2),   S = A . m,  C = N .
//     m:
// above 0 when the sheet bends towards N, as at a hinge.
#ifndef CT_FORCE_SHEET_CLAMP_H
#define CT_FORCE_SHEET_CLAMP_H

#include "math/vec3.h"

typedef struct ct_sheet_clamp {
    int node[3];
    ct_vec3 across, normal;  // A, N
} ct_sheet_clamp;

typedef struct ct_sheet_clamp_point {
    ct_vec3 e, a, v;  // x1 - x0, x2 - x0
    double S, C;
    ct_vec3 gradient[3];
    double pull;  // dE/dtheta
} ct_sheet_clamp_point;

// v . ((d1 - d0) x a + e x (d2 - d0)) as a function of d.
static inline void ct_clamp_pull_back(ct_vec3 v, ct_vec3 e, ct_vec3 a, ct_vec3 g[3]) {
    g[1] = ct_vec3_cross(a, v);
    g[2] = ct_vec3_cross(v, e);
    g[0] = ct_vec3_scale(-1, ct_vec3_add(g[1], g[2]));
}

// Returns theta.
static inline double ct_clamp_point_of(const ct_sheet_clamp* c, const ct_vec3 x[3], ct_sheet_clamp_point* p) {
    p->e = ct_vec3_sub(x[1], x[0]), p->a = ct_vec3_sub(x[2], x[0]);
    const ct_vec3 m = ct_vec3_cross(p->e, p->a);
    p->S = ct_vec3_dot(c->across, m), p->C = ct_vec3_dot(c->normal, m);
    p->v = ct_vec3_scale(1 / (p->S * p->S + p->C * p->C),
                         ct_vec3_axpy(ct_vec3_scale(p->C, c->across), -p->S, c->normal));
    ct_clamp_pull_back(p->v, p->e, p->a, p->gradient);
    return atan2(p->S, p->C);
}

// d gradient along d.
static inline void ct_clamp_curve(const ct_sheet_clamp* c, const ct_sheet_clamp_point* p, const ct_vec3 d[3],
                                  ct_vec3 out[3]) {
    const ct_vec3 de = ct_vec3_sub(d[1], d[0]), da = ct_vec3_sub(d[2], d[0]);
    const ct_vec3 dm = ct_vec3_add(ct_vec3_cross(de, p->a), ct_vec3_cross(p->e, da));
    const double dS = ct_vec3_dot(c->across, dm), dC = ct_vec3_dot(c->normal, dm),
                 square = p->S * p->S + p->C * p->C, shrink = -2 * (p->S * dS + p->C * dC) / square;
    const ct_vec3 dv = ct_vec3_axpy(
        ct_vec3_axpy(ct_vec3_scale(dC / square, c->across), -dS / square, c->normal), shrink, p->v);
    ct_vec3 turn[3];
    ct_clamp_pull_back(dv, p->e, p->a, out);
    ct_clamp_pull_back(p->v, de, da, turn);
    for (int i = 0; i < 3; i++) out[i] = ct_vec3_add(out[i], turn[i]);
}

#endif
