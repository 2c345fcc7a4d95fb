// The angle of a hinge, its gradient and the exact change of the gradient.
//
// Nodes: the edge from 0 to 1, corner 2 on its left side, corner 3 on the other. With e = x1 - x0, a = x2 -
// x0, b = x3 - x0,
//     m = e x a,  n = b x e,   theta = atan2(-(m x n) . e/|e|, m . n),   0 when flat, above 0 in a valley,
//     g2 = |e| m/|m|^2,  g3 = |e| n/|n|^2,  s = a . e/|e|^2,  t = b . e/|e|^2,
//     g0 = -(1-s) g2 - (1-t) g3,   g1 = -s g2 - t g3         (the hinge feels no translation and no
//     rotation).
#ifndef CT_FORCE_SHEET_HINGE_H
#define CT_FORCE_SHEET_HINGE_H

#include "math/vec3.h"

typedef struct ct_hinge_point {
    ct_vec3 e, a, b, m, n;
    ct_vec3 gradient[4];
    double s, t;
    double length, mm, nn;  // |e|, 1/|m|^2, 1/|n|^2
    double ee;              // 1/|e|^2
} ct_hinge_point;

static inline double ct_hinge_angle(const ct_vec3 x[4]) {
    const ct_vec3 e = ct_vec3_sub(x[1], x[0]);
    const ct_vec3 m = ct_vec3_cross(e, ct_vec3_sub(x[2], x[0])),
                  n = ct_vec3_cross(ct_vec3_sub(x[3], x[0]), e);
    return atan2(-ct_vec3_dot(ct_vec3_cross(m, n), e), ct_vec3_norm(e) * ct_vec3_dot(m, n));
}

// Returns theta.
static inline double ct_hinge_point_of(const ct_vec3 x[4], ct_hinge_point* p) {
    p->e = ct_vec3_sub(x[1], x[0]), p->a = ct_vec3_sub(x[2], x[0]), p->b = ct_vec3_sub(x[3], x[0]);
    p->m = ct_vec3_cross(p->e, p->a), p->n = ct_vec3_cross(p->b, p->e);
    const double square = ct_vec3_dot(p->e, p->e);
    p->length = sqrt(square);
    p->ee = 1 / square;
    p->mm = 1 / ct_vec3_dot(p->m, p->m);
    p->nn = 1 / ct_vec3_dot(p->n, p->n);
    p->s = ct_vec3_dot(p->a, p->e) * p->ee;
    p->t = ct_vec3_dot(p->b, p->e) * p->ee;
    const ct_vec3 g2 = ct_vec3_scale(p->length * p->mm, p->m), g3 = ct_vec3_scale(p->length * p->nn, p->n);
    p->gradient[0] = ct_vec3_axpy(ct_vec3_scale(p->s - 1, g2), p->t - 1, g3);
    p->gradient[1] = ct_vec3_axpy(ct_vec3_scale(-p->s, g2), -p->t, g3);
    p->gradient[2] = g2;
    p->gradient[3] = g3;
    return atan2(-ct_vec3_dot(ct_vec3_cross(p->m, p->n), p->e), p->length * ct_vec3_dot(p->m, p->n));
}

static inline double ct_hinge_dot(const ct_vec3 g[4], const ct_vec3 d[4]) {
    return (ct_vec3_dot(g[0], d[0]) + ct_vec3_dot(g[1], d[1])) +
           (ct_vec3_dot(g[2], d[2]) + ct_vec3_dot(g[3], d[3]));
}

// d gradient along d.
static inline void ct_hinge_curve(const ct_hinge_point* p, const ct_vec3 d[4], ct_vec3 out[4]) {
    const ct_vec3 de = ct_vec3_sub(d[1], d[0]), da = ct_vec3_sub(d[2], d[0]), db = ct_vec3_sub(d[3], d[0]);
    const ct_vec3 dm = ct_vec3_add(ct_vec3_cross(de, p->a), ct_vec3_cross(p->e, da));
    const ct_vec3 dn = ct_vec3_add(ct_vec3_cross(db, p->e), ct_vec3_cross(p->b, de));
    const double stretch = ct_vec3_dot(p->e, de) * p->ee;  // d|e| / |e|
    const double ds = (ct_vec3_dot(da, p->e) + ct_vec3_dot(p->a, de)) * p->ee - 2 * p->s * stretch;
    const double dt = (ct_vec3_dot(db, p->e) + ct_vec3_dot(p->b, de)) * p->ee - 2 * p->t * stretch;
    const ct_vec3 *g2 = &p->gradient[2], *g3 = &p->gradient[3];
    const double shrink2 = stretch - 2 * p->mm * ct_vec3_dot(p->m, dm),
                 shrink3 = stretch - 2 * p->nn * ct_vec3_dot(p->n, dn);
    const ct_vec3 h2 = ct_vec3_axpy(ct_vec3_scale(p->length * p->mm, dm), shrink2, *g2);
    const ct_vec3 h3 = ct_vec3_axpy(ct_vec3_scale(p->length * p->nn, dn), shrink3, *g3);
    out[0] =
        ct_vec3_axpy(ct_vec3_axpy(ct_vec3_axpy(ct_vec3_scale(p->s - 1, h2), p->t - 1, h3), ds, *g2), dt, *g3);
    out[1] =
        ct_vec3_axpy(ct_vec3_axpy(ct_vec3_axpy(ct_vec3_scale(-p->s, h2), -p->t, h3), -ds, *g2), -dt, *g3);
    out[2] = h2;
    out[3] = h3;
}

#endif
