// Polar decomposition F = R S and eigenvectors of S for a block of tets, without a singular value decomposition.
//
// With t = |F|^2, the trace l = tr S = s0 + s1 + s2 is the largest root of
//     (l^2 - t)^2 - 4 |cof F|^2 - 8 l det F = 0,
// found by Newton's method from sqrt(3 t), which lies above it: monotone, quadratic. Then
//     R = [(l^2 + t) F + 2 l cof F - 2 F F^T F] / (2 gap),  gap = (s0+s1)(s0+s2)(s1+s2) = (l^3 - t l - 2 det F)/2.
// Inverted F get the rotation of the signed decomposition (s2 < 0). Where the gap nearly closes (two singular
// values with opposite sign, collapsed tets), lane by lane the scalar decomposition takes over.
#ifndef CT_STEP_ELASTIC_POLAR_H
#define CT_STEP_ELASTIC_POLAR_H

#include "math/svd3.h"
#include "step/elastic_kernel.h"
#include "step/elastic_vector.h"

#define NVECTOR (CT_BLOCK / CT_LANES)  // vectors in a block

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

// R from the root l; cofactors again, because keeping them would only move the work to loads and stores.
CT_INLINE void polar_rotation(const vmat3* F, vd t, vd l, vpolar* polar) {
    const vmat3 A = *F, cofactor = vmat3_cofactor(A);
    const vmat3 cube = vmat3_multiply_sym(A, vmat3_gram(A));
    const vd determinant = A.a00 * cofactor.a00 + A.a01 * cofactor.a01 + A.a02 * cofactor.a02;
    const vd twice_gap = l * (l * l - t) - 2 * determinant;
    const vd inverse = 1 / twice_gap;
    const vmat3 sum = vmat3_axpy(vmat3_scale((l * l + t) * inverse, A), 2 * l * inverse, cofactor);
    polar->R = vmat3_axpy(sum, -2 * inverse, cube);
    polar->trace = l;
    polar->gap = 0.5 * twice_gap;
}

// The largest root of every lane of a block; `open` marks the lanes that converged.
CT_INLINE void polar_root(const vd* t, const vd* cofactor4, const vd* determinant8, vd* l, vl* open) {
    for (int v = 0; v < NVECTOR; v++) l[v] = vsqrt(3 * t[v]);
    int again = 1;
    for (int iteration = 0; again && iteration < 16; iteration++) {
        again = 0;
        for (int v = 0; v < NVECTOR; v++) {
            const vd e = l[v] * l[v] - t[v];
            const vd step = (e * e - cofactor4[v] - determinant8[v] * l[v]) / (4 * l[v] * e - determinant8[v]);
            l[v] -= step;
            // the error after a step is at most about 300 step^2 where the gap is open
            const vl wide = vabs(step) > 1e-9 * l[v];
            open[v] = ~wide;
            again |= vany(wide);
        }
    }
}

// Polar decomposition of the NVECTOR vectors of a block, Newton iterations interleaved.
CT_INLINE void polar_block(const vmat3* F, vpolar* polar) {
    vd t[NVECTOR], cofactor4[NVECTOR], determinant8[NVECTOR], l[NVECTOR];
    vl open[NVECTOR];
    for (int v = 0; v < NVECTOR; v++) {
        const vmat3 A = F[v], cofactor = vmat3_cofactor(A);
        t[v] = vmat3_dot(A, A);
        cofactor4[v] = 4 * vmat3_dot(cofactor, cofactor);
        determinant8[v] = 8 * (A.a00 * cofactor.a00 + A.a01 * cofactor.a01 + A.a02 * cofactor.a02);
    }
    polar_root(t, cofactor4, determinant8, l, open);
    for (int v = 0; v < NVECTOR; v++) {
        polar_rotation(&F[v], t[v], l[v], &polar[v]);
        polar[v].narrow = ~(open[v] & (polar[v].gap > 1e-3 * l[v] * t[v]));
        if (__builtin_expect(vany(polar[v].narrow), 0)) polar_narrow(&F[v], &polar[v]);
    }
}

// One Jacobi rotation of the symmetric matrix in the plane (p, q), r the third axis; V gets it from the right.
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

// Exchanges eigenvalue and eigenvector of p and q where p < q is wanted the other way round.
CT_INLINE void eigen_exchange(vl mask, vd* p, vd* q, vd* vp, vd* vq) {
    const vd a = *p, b = *q;
    *p = vselect(mask, b, a);
    *q = vselect(mask, a, b);
    for (int k = 0; k < 3; k++) {
        const vd x = vp[k], y = vq[k];
        vp[k] = vselect(mask, y, x);
        vq[k] = vselect(mask, x, y);
    }
}

// S = V diag(s) V^T by cyclic Jacobi; s[2] is the smallest, the other two in any order; V may be a reflection.
CT_INLINE void eigen_sym(vsym3 S, vd* s, vmat3* V) {
    vd v0[3] = {vset(1), vset(0), vset(0)}, v1[3] = {vset(0), vset(1), vset(0)}, v2[3] = {vset(0), vset(0), vset(1)};
    for (int sweep = 0; sweep < 10; sweep++) {
        const vd off = vabs(S.xy) + vabs(S.xz) + vabs(S.yz);
        if (!vany(off > 1e-17 * (vabs(S.xx) + vabs(S.yy) + vabs(S.zz)))) break;
        jacobi_rotate(&S.xx, &S.yy, &S.xy, &S.xz, &S.yz, v0, v1);
        jacobi_rotate(&S.xx, &S.zz, &S.xz, &S.xy, &S.yz, v0, v2);
        jacobi_rotate(&S.yy, &S.zz, &S.yz, &S.xy, &S.xz, v1, v2);
    }
    eigen_exchange(S.xx < S.zz, &S.xx, &S.zz, v0, v2);
    eigen_exchange(S.yy < S.zz, &S.yy, &S.zz, v1, v2);
    s[0] = S.xx, s[1] = S.yy, s[2] = S.zz;
    *V = (vmat3){v0[0], v1[0], v2[0], v0[1], v1[1], v2[1], v0[2], v1[2], v2[2]};
}

#endif
