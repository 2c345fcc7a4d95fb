// Polar decomposition F = R S and eigenvectors of S for a block of tets, without a singular value
// decomposition.
//
// With t = |F|^2, the trace l = tr S = s0 + s1 + s2 is the largest root of
//     (l^2 - t)^2 - 4 |cof F|^2 - 8 l det F = 0,
// found by Halley's method from sqrt(3 t), which lies above it: monotone (all four roots are real), cubic.
// Then
//     R = [(l^2 + t) F + 2 l cof F - 2 F F^T F] / (2 gap),  gap = (s0+s1)(s0+s2)(s1+s2) = (l^3 - t l - 2 det
//     F)/2.
// Inverted F get the rotation of the signed decomposition (s2 < 0). Where the gap nearly closes (two singular
// values with opposite sign, collapsed tets), lane by lane the scalar decomposition takes over.
#ifndef CT_FORCE_ELASTIC_POLAR_H
#define CT_FORCE_ELASTIC_POLAR_H

#include "force/elastic_table.h"
#include "force/elastic_vector.h"
#include "math/svd3.h"

#define NVECTOR (CT_BLOCK / CT_LANES)  // vectors in a block
#define GROUP 2                        // blocks that are decomposed together
#define NGROUP (GROUP * NVECTOR)

// On the way to the decomposition.
typedef struct vroot {
    vmat3 cofactor;
    vsym3 C;          // F^T F
    vd l, t;          // tr S, |F|^2
    vd determinant8;  // 8 det F
    vl wide;          // lanes whose trace did not converge
} vroot;

typedef struct vpolar {
    vmat3 R;
    vd trace;   // tr S
    vd gap;     // (s0+s1)(s0+s2)(s1+s2)
    vl narrow;  // lanes that the scalar decomposition computed
} vpolar;

CT_INLINE ct_mat3 vmat3_get(const vmat3* A, int lane) {
    double value[9][CT_LANES];
    memcpy(value, A, sizeof value);
    ct_mat3 m;
    for (int k = 0; k < 9; k++) m.a[k / 3][k % 3] = value[k][lane];
    return m;
}

CT_INLINE void vmat3_set(vmat3* A, int lane, ct_mat3 m) {
    double value[9][CT_LANES];
    memcpy(value, A, sizeof value);
    for (int k = 0; k < 9; k++) value[k][lane] = m.a[k / 3][k % 3];
    memcpy(A, value, sizeof value);
}

// Redoes the narrow lanes by the scalar decomposition.
static __attribute__((noinline, cold)) void polar_narrow(const vmat3* F, vpolar* polar) {
    for (int lane = 0; lane < CT_LANES; lane++) {
        if (!polar->narrow[lane]) continue;
        const ct_svd3 svd = ct_svd3_compute(vmat3_get(F, lane));
        vmat3_set(&polar->R, lane, ct_mat3_multiply(svd.U, ct_mat3_transpose(svd.V)));
        polar->trace[lane] = svd.s[0] + svd.s[1] + svd.s[2];
        polar->gap[lane] = (svd.s[0] + svd.s[1]) * (svd.s[0] + svd.s[2]) * (svd.s[1] + svd.s[2]);
    }
}

// One step of Halley's method for (l^2 - t)^2 - cofactor4 - determinant8 l = 0.
CT_INLINE vd root_step(vd l, vd t, vd cofactor4, vd determinant8) {
    const vd e = l * l - t;
    const vd f = e * e - cofactor4 - determinant8 * l;
    const vd slope = 4 * l * e - determinant8, half_curvature = 6 * l * l - 2 * t;
    return f * slope / (slope * slope - f * half_curvature);
}

// The traces of a group. The steps of its vectors are interleaved: one alone would wait for its divisions.
CT_INLINE void polar_roots(const vmat3* F, vroot* root) {
    vd cofactor4[NGROUP];
    vl any = {0};
    for (int v = 0; v < NGROUP; v++) {
        const vmat3 A = F[v], cofactor = vmat3_cofactor(A);
        const vsym3 C = vmat3_gram(A);
        root[v].cofactor = cofactor;
        root[v].C = C;
        root[v].t = C.xx + C.yy + C.zz;
        root[v].l = vsqrt(3 * root[v].t);
        root[v].determinant8 = 8 * (A.a00 * cofactor.a00 + A.a01 * cofactor.a01 + A.a02 * cofactor.a02);
        cofactor4[v] = 4 * vmat3_dot(cofactor, cofactor);
    }
    // small strain needs two steps, moderate three; the error after one is at most 1e5 step^3 where the gap
    // is open
    for (int iteration = 0; (iteration < 2 || vany(any)) && iteration < 16; iteration++) {
        any = (vl){0};
#pragma GCC unroll 8
        for (int v = 0; v < NGROUP; v++) {
            const vd step = root_step(root[v].l, root[v].t, cofactor4[v], root[v].determinant8);
            root[v].l -= step;
            any |= root[v].wide = vabs(step) > 2e-7 * root[v].l;
        }
    }
}

// The decomposition from its trace.
CT_INLINE vpolar polar_of(const vmat3* F, const vroot* root) {
    vpolar polar;
    const vd l = root->l, t = root->t;
    const vd twice_gap = l * (l * l - t) - 0.25 * root->determinant8;
    const vd inverse = 1 / twice_gap;
    // F ((l^2 + t) I - 2 F^T F) / (2 gap)
    const vd diagonal = (l * l + t) * inverse, factor = -2 * inverse;
    const vsym3 C = root->C;
    const vsym3 M = {diagonal + factor * C.xx,
                     diagonal + factor * C.yy,
                     diagonal + factor * C.zz,
                     factor * C.xy,
                     factor * C.xz,
                     factor * C.yz};
    polar.R = vmat3_axpy(vmat3_multiply_sym(*F, M), 2 * l * inverse, root->cofactor);
    polar.trace = l;
    polar.gap = 0.5 * twice_gap;
    polar.narrow = root->wide | ~(polar.gap > 1e-3 * l * t);
    if (__builtin_expect(vany(polar.narrow), 0)) {
        vpolar redone = polar;  // a copy, so that the common path stays in registers
        polar_narrow(F, &redone);
        polar = redone;
    }
    return polar;
}

// One Jacobi rotation in the plane (p, q) of symmetric matrices, r the third axis; V gets it from the right.
CT_INLINE void jacobi_rotate(vd* pp, vd* qq, vd* pq, vd* pr, vd* qr, vd* vp, vd* vq) {
    const vd half = 0.5 * (*qq - *pp), c = *pq;
    const vd denominator = half + vcopysign(vsqrt(half * half + c * c), half);
    const vd t = vselect(denominator == 0, vset(0), c / denominator);
    const vd cosine = 1 / vsqrt(1 + t * t), sine = t * cosine;
    *pp -= t * c;
    *qq += t * c;
    *pq = vset(0);
    const vd x = *pr, y = *qr;
    *pr = cosine * x - sine * y;
    *qr = sine * x + cosine * y;
    for (int k = 0; k < 3; k++) {
        const vd a = vp[k], b = vq[k];
        vp[k] = cosine * a - sine * b;
        vq[k] = sine * a + cosine * b;
    }
}

// Exchanges eigenvalues and eigenvectors where the first is the smaller.
CT_INLINE void eigen_exchange(vd* p, vd* q, vd* vp, vd* vq) {
    const vl mask = *p < *q;
    const vd a = *p, b = *q;
    *p = vselect(mask, b, a);
    *q = vselect(mask, a, b);
    for (int k = 0; k < 3; k++) {
        const vd x = vp[k], y = vq[k];
        vp[k] = vselect(mask, y, x);
        vq[k] = vselect(mask, x, y);
    }
}

typedef struct veigen {
    vsym3 S;     // becomes diagonal: the eigenvalues, S.zz the smallest, the other two in any order
    vd V[3][3];  // V[j] is the eigenvector of the j-th; may be a reflection
} veigen;

// Eigenvectors of a group by cyclic Jacobi, interleaved for the same reason as the roots.
CT_INLINE void eigen_group(veigen* e) {
    for (int v = 0; v < NGROUP; v++)
        for (int k = 0; k < 9; k++) e[v].V[k / 3][k % 3] = vset(k % 4 == 0);
    for (int sweep = 0; sweep < 10; sweep++) {
        vl any = {0};
        for (int v = 0; v < NGROUP; v++) {
            const vsym3* S = &e[v].S;
            any |=
                vabs(S->xy) + vabs(S->xz) + vabs(S->yz) > 1e-17 * (vabs(S->xx) + vabs(S->yy) + vabs(S->zz));
        }
        if (!vany(any)) break;
        for (int v = 0; v < NGROUP; v++)
            jacobi_rotate(&e[v].S.xx, &e[v].S.yy, &e[v].S.xy, &e[v].S.xz, &e[v].S.yz, e[v].V[0], e[v].V[1]);
        for (int v = 0; v < NGROUP; v++)
            jacobi_rotate(&e[v].S.xx, &e[v].S.zz, &e[v].S.xz, &e[v].S.xy, &e[v].S.yz, e[v].V[0], e[v].V[2]);
        for (int v = 0; v < NGROUP; v++)
            jacobi_rotate(&e[v].S.yy, &e[v].S.zz, &e[v].S.yz, &e[v].S.xy, &e[v].S.xz, e[v].V[1], e[v].V[2]);
    }
    for (int v = 0; v < NGROUP; v++) {
        eigen_exchange(&e[v].S.xx, &e[v].S.zz, e[v].V[0], e[v].V[2]);
        eigen_exchange(&e[v].S.yy, &e[v].S.zz, e[v].V[1], e[v].V[2]);
    }
}

#endif
