// The matrix D nearest to F with det D = 1, and its derivative, in the singular basis of F.
//
// With F = U diag(s) V^T, D = U diag(D_i) V^T and D_i (D_i - s_i) = k, prod D_i = 1. Let s2 be the smallest
// and u = D_2 the unknown: k = u (u - s2), D_i = (s_i + q_i)/2, q_i = sqrt(s_i^2 + 4 k) for i = 0, 1. The
// radicand s_i^2 - s2^2 + (2u - s2)^2 cannot be negative, and letting u run over (0, 1] covers both signs of
// k and, where the tet is much stretched, the branch with u < s2/2. The product is 0 at u = 0 and >= 1 at u =
// 1: Newton's method inside that bracket. With q_2 = 2u - s2 (signed), all derivatives are free of
// cancellation:
//   dD_i = D_i/q_i ds_i - (1/q_i) (sum_j ds_j/q_j) / sum_j 1/(q_j D_j),
//   (D_i - D_j)/(s_i - s_j) = (1 + (s_i + s_j)/(q_i + q_j))/2.
#ifndef CT_FORCE_ELASTIC_NEAREST_H
#define CT_FORCE_ELASTIC_NEAREST_H

#include "force/elastic_polar.h"

typedef struct vnearest {
    vpolar polar;
    vmat3 V;
    vd s[3];  // singular values, s[2] the smallest and signed
    vd D[3];
    vd q[3];  // 2 D - s
    vd k;     // D_i (D_i - s_i)
} vnearest;

// q and D of the two larger values for u = D[2].
CT_INLINE void nearest_values(vnearest* n, vd u) {
    n->D[2] = u;
    n->q[2] = 2 * u - n->s[2];
    n->k = u * (u - n->s[2]);
    for (int i = 0; i < 2; i++) {
        const vd radicand = (n->s[i] - n->s[2]) * (n->s[i] + n->s[2]) + n->q[2] * n->q[2];
        n->q[i] = vsqrt(vmax(radicand, vset(1e-24)));
        n->D[i] = 0.5 * (n->s[i] + n->q[i]);
    }
}

// One safeguarded Newton step for the product of the D_i; the mask of lanes that still moved.
CT_INLINE vl nearest_step(vnearest* n, vd* low, vd* high) {
    const vd u = n->D[2], product = n->D[0] * n->D[1], excess = u * product - 1;
    const vd slope = product + u * n->q[2] * (n->D[1] / n->q[0] + n->D[0] / n->q[1]);
    *low = vselect(excess < 0, u, *low);
    *high = vselect(excess > 0, u, *high);
    const vd newton = u - excess / slope;
    const vl inside = (newton >= *low) & (newton <= *high);
    const vd next = vselect(inside, newton, 0.5 * (*low + *high));
    nearest_values(n, next);
    return vabs(next - u) > 1e-8 * u;
}

// D of a group from its F and traces.
static __attribute__((noinline)) void nearest_group(const vmat3* F, const vroot* root, vnearest* n) {
    veigen eigen[NGROUP];
    vd low[NGROUP], high[NGROUP];
    for (int v = 0; v < NGROUP; v++) {
        n[v].polar = polar_of(&F[v], &root[v]);
        eigen[v].S = vmat3_sym_product(n[v].polar.R, F[v]);
    }
    eigen_group(eigen);
    for (int v = 0; v < NGROUP; v++) {
        const veigen* e = &eigen[v];
        n[v].V = (vmat3){e->V[0][0], e->V[1][0], e->V[2][0], e->V[0][1], e->V[1][1],
                         e->V[2][1], e->V[0][2], e->V[1][2], e->V[2][2]};
        n[v].s[0] = e->S.xx, n[v].s[1] = e->S.yy, n[v].s[2] = e->S.zz;
        // start: one linearised step onto det = 1 along the cofactors
        const vd c0 = n[v].s[1] * n[v].s[2], c1 = n[v].s[0] * n[v].s[2], c2 = n[v].s[0] * n[v].s[1];
        const vd guess =
            n[v].s[2] + c2 * (1 - c2 * n[v].s[2]) / vmax(c0 * c0 + c1 * c1 + c2 * c2, vset(1e-12));
        low[v] = vset(0), high[v] = vset(1);
        nearest_values(&n[v], vmin(vmax(guess, vset(0.01)), vset(1)));
    }
    vl moved = ~(vl){0};
    for (int iteration = 0; vany(moved) && iteration < 60; iteration++) {
        moved = (vl){0};
        for (int v = 0; v < NGROUP; v++) moved |= nearest_step(&n[v], &low[v], &high[v]);
    }
}

// F - D = -U diag(k/D) V^T = -R V diag(k/D) V^T
CT_INLINE vmat3 nearest_difference(const vnearest* n) {
    const vd a = -n->k / n->D[0], b = -n->k / n->D[1], c = -n->k / n->D[2];
    const vmat3 V = n->V;
    const vsym3 X = {a * V.a00 * V.a00 + b * V.a01 * V.a01 + c * V.a02 * V.a02,
                     a * V.a10 * V.a10 + b * V.a11 * V.a11 + c * V.a12 * V.a12,
                     a * V.a20 * V.a20 + b * V.a21 * V.a21 + c * V.a22 * V.a22,
                     a * V.a00 * V.a10 + b * V.a01 * V.a11 + c * V.a02 * V.a12,
                     a * V.a00 * V.a20 + b * V.a01 * V.a21 + c * V.a02 * V.a22,
                     a * V.a10 * V.a20 + b * V.a11 * V.a21 + c * V.a12 * V.a22};
    return vmat3_multiply_sym(n->polar.R, X);
}

// dD_i/ds_j, written so that q_2 = 0 (the turn of the branch) does no harm.
CT_INLINE vsym3 nearest_diagonal(const vnearest* n) {
    const vd r0 = 1 / vmax(n->q[0], vset(1e-6)), r1 = 1 / vmax(n->q[1], vset(1e-6));
    const vd sum = r0 / n->D[0] + r1 / n->D[1];
    const vd w = n->D[2] / vmax(1 + n->q[2] * n->D[2] * sum, vset(1e-6));
    return (vsym3){n->D[0] * r0 - n->q[2] * w * r0 * r0,
                   n->D[1] * r1 - n->q[2] * w * r1 * r1,
                   n->D[2] * w * sum,
                   -n->q[2] * w * r0 * r1,
                   -w * r0,
                   -w * r1};
}

// (D_i - D_j)/(s_i - s_j)
CT_INLINE vd nearest_shear(const vnearest* n, int i, int j) {
    return 0.5 + 0.5 * (n->s[i] + n->s[j]) / vmax(n->q[i] + n->q[j], vset(1e-6));
}

#endif
