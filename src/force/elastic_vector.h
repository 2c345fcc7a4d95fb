// Vectors of CT_LANES doubles, one tet a lane, and 3x3 matrices of them, for the element kernels.
//
// Written with the compiler's vector extensions: the same source serves every instruction set. What the
// extensions lack (square root, any, log) and the transpositions between node and lane layout are here.
#ifndef CT_FORCE_ELASTIC_VECTOR_H
#define CT_FORCE_ELASTIC_VECTOR_H

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define CT_INLINE static inline __attribute__((always_inline))

typedef double vd __attribute__((vector_size(CT_LANES * 8)));     // one double a lane
typedef long long vl __attribute__((vector_size(CT_LANES * 8)));  // masks: 0 or -1 a lane
typedef double v4 __attribute__((vector_size(32)));               // one node: x y z and a fourth
typedef double v4_unaligned __attribute__((vector_size(32), aligned(8)));

typedef struct vvec3 {
    vd x, y, z;
} vvec3;
typedef struct vmat3 {
    vd a00, a01, a02, a10, a11, a12, a20, a21, a22;
} vmat3;
typedef struct vsym3 {
    vd xx, yy, zz, xy, xz, yz;
} vsym3;

CT_INLINE vd vset(double a) { return a - (vd){0}; }
CT_INLINE vd vload(const double* p) { return *(const vd*)p; }
CT_INLINE void vstore(double* p, vd a) { *(vd*)p = a; }
CT_INLINE vd vselect(vl mask, vd a, vd b) { return (vd)(((vl)a & mask) | ((vl)b & ~mask)); }
CT_INLINE vd vmax(vd a, vd b) { return vselect(a > b, a, b); }
CT_INLINE vd vmin(vd a, vd b) { return vselect(a < b, a, b); }
CT_INLINE vd vabs(vd a) { return (vd)((vl)a & 0x7fffffffffffffffLL); }
CT_INLINE vd vcopysign(vd a, vd sign) {
    return (vd)(((vl)a & 0x7fffffffffffffffLL) | ((vl)sign & ~0x7fffffffffffffffLL));
}

#if CT_LANES == 8 && defined(__AVX512DQ__)
CT_INLINE int vany(vl mask) { return _mm512_movepi64_mask((__m512i)mask) != 0; }
CT_INLINE vd vsqrt(vd a) { return (vd)_mm512_sqrt_pd((__m512d)a); }
#elif CT_LANES == 4 && defined(__AVX2__)
CT_INLINE int vany(vl mask) { return _mm256_movemask_pd((__m256d)mask) != 0; }
CT_INLINE vd vsqrt(vd a) { return (vd)_mm256_sqrt_pd((__m256d)a); }
#else
CT_INLINE int vany(vl mask) {
    long long any = 0;
    for (int i = 0; i < CT_LANES; i++) any |= mask[i];
    return any != 0;
}
CT_INLINE vd vsqrt(vd a) {
    for (int i = 0; i < CT_LANES; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
}
#endif

// Sum over the lanes, in a fixed order.
CT_INLINE double vsum(vd a) {
    double sum = 0;
    for (int i = 0; i < CT_LANES; i++) sum += a[i];
    return sum;
}

// Natural logarithm of positive, normal numbers, to about one unit in the last place: z = 2^k m, m in
// [sqrt(1/2), sqrt(2)), log m = 2 atanh((m-1)/(m+1)).
CT_INLINE vd vlog(vd z) {
    const vl bits = (vl)z + (0x3ff0000000000000LL - 0x3fe6a09e667f3bcdLL);
    const vl exponent = (bits >> 52) - 1023;
    const vd m = (vd)((bits & 0x000fffffffffffffLL) + 0x3fe6a09e667f3bcdLL);
    const vd s = (m - 1) / (m + 1), q = s * s;
    vd sum = vset(1.0 / 23);
    for (int k = 21; k >= 3; k -= 2) sum = sum * q + 1.0 / k;
    // small integers to doubles through the mantissa of 1.5 * 2^52
    const vd k = (vd)(exponent + 0x4338000000000000LL) - 0x1.8p52;
    return k * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * q * sum);
}

// ---- between nodes (four doubles a node) and lanes

#if CT_LANES == 2
CT_INLINE vvec3 vtranspose_in(const v4* node) {
    return (vvec3){{node[0][0], node[1][0]}, {node[0][1], node[1][1]}, {node[0][2], node[1][2]}};
}
CT_INLINE void vtranspose_out(vvec3 a, v4* node) {
    node[0] = (v4){a.x[0], a.y[0], a.z[0], 0};
    node[1] = (v4){a.x[1], a.y[1], a.z[1], 0};
}
#else
CT_INLINE void vtranspose_in4(const v4* node, v4* x, v4* y, v4* z) {
    const v4 ac = __builtin_shufflevector(node[0], node[1], 0, 4, 2, 6),
             bd = __builtin_shufflevector(node[0], node[1], 1, 5, 3, 7);
    const v4 eg = __builtin_shufflevector(node[2], node[3], 0, 4, 2, 6),
             fh = __builtin_shufflevector(node[2], node[3], 1, 5, 3, 7);
    *x = __builtin_shufflevector(ac, eg, 0, 1, 4, 5);
    *y = __builtin_shufflevector(bd, fh, 0, 1, 4, 5);
    *z = __builtin_shufflevector(ac, eg, 2, 3, 6, 7);
}
CT_INLINE void vtranspose_out4(v4 x, v4 y, v4 z, v4* node) {
    const v4 zero = {0};
    const v4 even = __builtin_shufflevector(x, y, 0, 4, 2, 6),
             odd = __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const v4 even_z = __builtin_shufflevector(z, zero, 0, 4, 2, 6),
             odd_z = __builtin_shufflevector(z, zero, 1, 5, 3, 7);
    node[0] = __builtin_shufflevector(even, even_z, 0, 1, 4, 5);
    node[1] = __builtin_shufflevector(odd, odd_z, 0, 1, 4, 5);
    node[2] = __builtin_shufflevector(even, even_z, 2, 3, 6, 7);
    node[3] = __builtin_shufflevector(odd, odd_z, 2, 3, 6, 7);
}
#if CT_LANES == 4
CT_INLINE vvec3 vtranspose_in(const v4* node) {
    vvec3 a;
    vtranspose_in4(node, &a.x, &a.y, &a.z);
    return a;
}
CT_INLINE void vtranspose_out(vvec3 a, v4* node) { vtranspose_out4(a.x, a.y, a.z, node); }
#else
CT_INLINE vd vjoin(v4 low, v4 high) { return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7); }
CT_INLINE v4 vlow(vd a) { return __builtin_shufflevector(a, a, 0, 1, 2, 3); }
CT_INLINE v4 vhigh(vd a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7); }
CT_INLINE vvec3 vtranspose_in(const v4* node) {
    v4 x[2], y[2], z[2];
    vtranspose_in4(node, &x[0], &y[0], &z[0]);
    vtranspose_in4(node + 4, &x[1], &y[1], &z[1]);
    return (vvec3){vjoin(x[0], x[1]), vjoin(y[0], y[1]), vjoin(z[0], z[1])};
}
CT_INLINE void vtranspose_out(vvec3 a, v4* node) {
    vtranspose_out4(vlow(a.x), vlow(a.y), vlow(a.z), node);
    vtranspose_out4(vhigh(a.x), vhigh(a.y), vhigh(a.z), node + 4);
}
#endif
#endif

// ---- 3x3 matrices

// s A
CT_INLINE vmat3 vmat3_scale(vd s, vmat3 A) {
    return (vmat3){s * A.a00, s * A.a01, s * A.a02, s * A.a10, s * A.a11,
                   s * A.a12, s * A.a20, s * A.a21, s * A.a22};
}
// A + s B
CT_INLINE vmat3 vmat3_axpy(vmat3 A, vd s, vmat3 B) {
    return (vmat3){A.a00 + s * B.a00, A.a01 + s * B.a01, A.a02 + s * B.a02,
                   A.a10 + s * B.a10, A.a11 + s * B.a11, A.a12 + s * B.a12,
                   A.a20 + s * B.a20, A.a21 + s * B.a21, A.a22 + s * B.a22};
}
CT_INLINE vmat3 vmat3_sub(vmat3 A, vmat3 B) {
    return (vmat3){A.a00 - B.a00, A.a01 - B.a01, A.a02 - B.a02, A.a10 - B.a10, A.a11 - B.a11,
                   A.a12 - B.a12, A.a20 - B.a20, A.a21 - B.a21, A.a22 - B.a22};
}
// A : B
CT_INLINE vd vmat3_dot(vmat3 A, vmat3 B) {
    return ((A.a00 * B.a00 + A.a01 * B.a01) + (A.a02 * B.a02 + A.a10 * B.a10)) +
           ((A.a11 * B.a11 + A.a12 * B.a12) + (A.a20 * B.a20 + A.a21 * B.a21)) + A.a22 * B.a22;
}
// A B
CT_INLINE vmat3 vmat3_multiply(vmat3 A, vmat3 B) {
    return (vmat3){
        A.a00 * B.a00 + A.a01 * B.a10 + A.a02 * B.a20, A.a00 * B.a01 + A.a01 * B.a11 + A.a02 * B.a21,
        A.a00 * B.a02 + A.a01 * B.a12 + A.a02 * B.a22, A.a10 * B.a00 + A.a11 * B.a10 + A.a12 * B.a20,
        A.a10 * B.a01 + A.a11 * B.a11 + A.a12 * B.a21, A.a10 * B.a02 + A.a11 * B.a12 + A.a12 * B.a22,
        A.a20 * B.a00 + A.a21 * B.a10 + A.a22 * B.a20, A.a20 * B.a01 + A.a21 * B.a11 + A.a22 * B.a21,
        A.a20 * B.a02 + A.a21 * B.a12 + A.a22 * B.a22};
}
CT_INLINE vmat3 vmat3_transpose(vmat3 A) {
    return (vmat3){A.a00, A.a10, A.a20, A.a01, A.a11, A.a21, A.a02, A.a12, A.a22};
}
// A S
CT_INLINE vmat3 vmat3_multiply_sym(vmat3 A, vsym3 S) {
    return (vmat3){A.a00 * S.xx + A.a01 * S.xy + A.a02 * S.xz, A.a00 * S.xy + A.a01 * S.yy + A.a02 * S.yz,
                   A.a00 * S.xz + A.a01 * S.yz + A.a02 * S.zz, A.a10 * S.xx + A.a11 * S.xy + A.a12 * S.xz,
                   A.a10 * S.xy + A.a11 * S.yy + A.a12 * S.yz, A.a10 * S.xz + A.a11 * S.yz + A.a12 * S.zz,
                   A.a20 * S.xx + A.a21 * S.xy + A.a22 * S.xz, A.a20 * S.xy + A.a21 * S.yy + A.a22 * S.yz,
                   A.a20 * S.xz + A.a21 * S.yz + A.a22 * S.zz};
}
// Symmetric part of A^T B.
CT_INLINE vsym3 vmat3_sym_product(vmat3 A, vmat3 B) {
    return (vsym3){
        A.a00 * B.a00 + A.a10 * B.a10 + A.a20 * B.a20,
        A.a01 * B.a01 + A.a11 * B.a11 + A.a21 * B.a21,
        A.a02 * B.a02 + A.a12 * B.a12 + A.a22 * B.a22,
        0.5 * (A.a00 * B.a01 + A.a10 * B.a11 + A.a20 * B.a21 + A.a01 * B.a00 + A.a11 * B.a10 + A.a21 * B.a20),
        0.5 * (A.a00 * B.a02 + A.a10 * B.a12 + A.a20 * B.a22 + A.a02 * B.a00 + A.a12 * B.a10 + A.a22 * B.a20),
        0.5 *
            (A.a01 * B.a02 + A.a11 * B.a12 + A.a21 * B.a22 + A.a02 * B.a01 + A.a12 * B.a11 + A.a22 * B.a21)};
}
// A^T A
CT_INLINE vsym3 vmat3_gram(vmat3 A) {
    return (vsym3){
        A.a00 * A.a00 + A.a10 * A.a10 + A.a20 * A.a20, A.a01 * A.a01 + A.a11 * A.a11 + A.a21 * A.a21,
        A.a02 * A.a02 + A.a12 * A.a12 + A.a22 * A.a22, A.a00 * A.a01 + A.a10 * A.a11 + A.a20 * A.a21,
        A.a00 * A.a02 + A.a10 * A.a12 + A.a20 * A.a22, A.a01 * A.a02 + A.a11 * A.a12 + A.a21 * A.a22};
}
CT_INLINE vmat3 vmat3_cofactor(vmat3 A) {
    return (vmat3){
        A.a11 * A.a22 - A.a12 * A.a21, A.a12 * A.a20 - A.a10 * A.a22, A.a10 * A.a21 - A.a11 * A.a20,
        A.a21 * A.a02 - A.a22 * A.a01, A.a22 * A.a00 - A.a20 * A.a02, A.a20 * A.a01 - A.a21 * A.a00,
        A.a01 * A.a12 - A.a02 * A.a11, A.a02 * A.a10 - A.a00 * A.a12, A.a00 * A.a11 - A.a01 * A.a10};
}
// Derivative of cof A in the direction B.
CT_INLINE vmat3 vmat3_cofactor_derivative(vmat3 A, vmat3 B) {
    return (vmat3){A.a11 * B.a22 + B.a11 * A.a22 - A.a12 * B.a21 - B.a12 * A.a21,
                   A.a12 * B.a20 + B.a12 * A.a20 - A.a10 * B.a22 - B.a10 * A.a22,
                   A.a10 * B.a21 + B.a10 * A.a21 - A.a11 * B.a20 - B.a11 * A.a20,
                   A.a21 * B.a02 + B.a21 * A.a02 - A.a22 * B.a01 - B.a22 * A.a01,
                   A.a22 * B.a00 + B.a22 * A.a00 - A.a20 * B.a02 - B.a20 * A.a02,
                   A.a20 * B.a01 + B.a20 * A.a01 - A.a21 * B.a00 - B.a21 * A.a00,
                   A.a01 * B.a12 + B.a01 * A.a12 - A.a02 * B.a11 - B.a02 * A.a11,
                   A.a02 * B.a10 + B.a02 * A.a10 - A.a00 * B.a12 - B.a00 * A.a12,
                   A.a00 * B.a11 + B.a00 * A.a11 - A.a01 * B.a10 - B.a01 * A.a10};
}
CT_INLINE vsym3 vsym3_axpy(vsym3 A, vd s, vsym3 B) {
    return (vsym3){A.xx + s * B.xx, A.yy + s * B.yy, A.zz + s * B.zz,
                   A.xy + s * B.xy, A.xz + s * B.xz, A.yz + s * B.yz};
}
// A : B of two symmetric matrices
CT_INLINE vd vsym3_dot(vsym3 A, vsym3 B) {
    return A.xx * B.xx + A.yy * B.yy + A.zz * B.zz + 2 * (A.xy * B.xy + A.xz * B.xz + A.yz * B.yz);
}

// ---- components stored one after the other, `stride` doubles apart

CT_INLINE vmat3 vmat3_load(const double* p, int stride) {
    return (vmat3){vload(p),
                   vload(p + stride),
                   vload(p + 2 * stride),
                   vload(p + 3 * stride),
                   vload(p + 4 * stride),
                   vload(p + 5 * stride),
                   vload(p + 6 * stride),
                   vload(p + 7 * stride),
                   vload(p + 8 * stride)};
}
CT_INLINE void vmat3_store(double* p, int stride, vmat3 A) {
    vstore(p, A.a00), vstore(p + stride, A.a01), vstore(p + 2 * stride, A.a02);
    vstore(p + 3 * stride, A.a10), vstore(p + 4 * stride, A.a11), vstore(p + 5 * stride, A.a12);
    vstore(p + 6 * stride, A.a20), vstore(p + 7 * stride, A.a21), vstore(p + 8 * stride, A.a22);
}
CT_INLINE vsym3 vsym3_load(const double* p, int stride) {
    return (vsym3){vload(p),
                   vload(p + stride),
                   vload(p + 2 * stride),
                   vload(p + 3 * stride),
                   vload(p + 4 * stride),
                   vload(p + 5 * stride)};
}
CT_INLINE void vsym3_store(double* p, int stride, vsym3 A) {
    vstore(p, A.xx), vstore(p + stride, A.yy), vstore(p + 2 * stride, A.zz);
    vstore(p + 3 * stride, A.xy), vstore(p + 4 * stride, A.xz), vstore(p + 5 * stride, A.yz);
}

// ---- tets, from nodes to lanes and back; inverse: Dm^-1

// [e1 e2 e3] Dm^-1, the edges from node 0 node by node.
CT_INLINE vmat3 vtet_deformation(v4 edge[3][CT_LANES], const double* inverse, int stride) {
    const vvec3 a = vtranspose_in(edge[0]), b = vtranspose_in(edge[1]), c = vtranspose_in(edge[2]);
    return vmat3_multiply((vmat3){a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}, vmat3_load(inverse, stride));
}
// Columns of P Dm^-T, node by node: the forces on nodes 1 to 3; node 0 has minus their sum.
CT_INLINE void vtet_forces(vmat3 P, const double* inverse, int stride, v4 force[3][CT_LANES]) {
    const vmat3 H = vmat3_multiply(P, vmat3_transpose(vmat3_load(inverse, stride)));
    vtranspose_out((vvec3){H.a00, H.a10, H.a20}, force[0]);
    vtranspose_out((vvec3){H.a01, H.a11, H.a21}, force[1]);
    vtranspose_out((vvec3){H.a02, H.a12, H.a22}, force[2]);
}

#endif
