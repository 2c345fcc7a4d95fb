// Decompositions of 3x3 matrices, scalar and robust; the vector kernels fall back to these.
//
//   symmetric:  A = V diag(w) V^T            w ascending, V a rotation
//   svd:        F = U diag(s) V^T            U, V rotations, s0 >= s1 >= |s2|, sign(s2) = sign(det F)
//   polar:      F = R S, R = U V^T           the rotation nearest to F, S = V diag(s) V^T
//
// Both use Jacobi rotations: two-sided for the symmetric problem, one-sided (on the columns of F) for the
// singular values, so that small ones keep their relative accuracy. NaN in gives NaN out, never a hang.
#ifndef CT_MATH_SVD3_H
#define CT_MATH_SVD3_H

#include "math/mat3.h"

typedef struct ct_svd3 {
    ct_mat3 U, V;
    double s[3];
} ct_svd3;

// Cosine and sine of the rotation that makes [a c; c b] diagonal.
static inline void ct_jacobi_rotation(double a, double b, double c, double* cosine, double* sine) {
    const double half = (b - a) / 2;
    const double t = c / (half + (half >= 0 ? 1 : -1) * sqrt(half * half + c * c));
    *cosine = 1 / sqrt(1 + t * t);
    *sine = t * *cosine;
}

// Columns p and q of m become (cos p - sin q, sin p + cos q).
static inline void ct_mat3_rotate_columns(ct_mat3* m, int p, int q, double cosine, double sine) {
    for (int i = 0; i < 3; i++) {
        const double x = m->a[i][p], y = m->a[i][q];
        m->a[i][p] = cosine * x - sine * y;
        m->a[i][q] = sine * x + cosine * y;
    }
}

static inline void ct_symmetric3(ct_mat3 A, double w[3], ct_mat3* V) {
    *V = ct_mat3_identity();
    for (int sweep = 0; sweep < 16; sweep++) {
        int rotated = 0;
        for (int k = 0; k < 3; k++) {
            const int p = k == 2, q = k == 0 ? 1 : 2;
            const double c = A.a[p][q];
            if (!(fabs(c) > 1e-17 * (fabs(A.a[p][p]) + fabs(A.a[q][q])))) continue;
            double cosine, sine;
            ct_jacobi_rotation(A.a[p][p], A.a[q][q], c, &cosine, &sine);
            ct_mat3_rotate_columns(&A, p, q, cosine, sine);
            A = ct_mat3_transpose(A);
            ct_mat3_rotate_columns(&A, p, q, cosine, sine);
            ct_mat3_rotate_columns(V, p, q, cosine, sine);
            rotated = 1;
        }
        if (!rotated) break;
    }
    // sort ascending; exchanging two columns by a quarter turn keeps V a rotation
    for (int i = 0; i < 3; i++) w[i] = A.a[i][i];
    for (int k = 0; k < 3; k++) {
        const int p = k == 1, q = p + 1;  // (0,1), (1,2), (0,1)
        if (w[p] <= w[q]) continue;
        const double swap = w[p];
        w[p] = w[q];
        w[q] = swap;
        ct_mat3_rotate_columns(V, p, q, 0, 1);
    }
}

// Rotates the columns of B = F V until they are orthogonal, then sorts them by descending length.
static inline void ct_svd3_orthogonalise(ct_mat3* B, ct_mat3* V) {
    for (int sweep = 0; sweep < 20; sweep++) {
        int rotated = 0;
        for (int k = 0; k < 3; k++) {
            const int p = k == 2, q = k == 0 ? 1 : 2;
            const ct_vec3 x = ct_mat3_column(*B, p), y = ct_mat3_column(*B, q);
            const double a = ct_vec3_dot(x, x), b = ct_vec3_dot(y, y), c = ct_vec3_dot(x, y);
            if (!(fabs(c) > 1e-16 * sqrt(a * b))) continue;
            double cosine, sine;
            ct_jacobi_rotation(a, b, c, &cosine, &sine);
            ct_mat3_rotate_columns(B, p, q, cosine, sine);
            ct_mat3_rotate_columns(V, p, q, cosine, sine);
            rotated = 1;
        }
        if (!rotated) break;
    }
    for (int k = 0; k < 3; k++) {
        const int p = k == 1, q = p + 1;
        const ct_vec3 x = ct_mat3_column(*B, p), y = ct_mat3_column(*B, q);
        if (ct_vec3_dot(x, x) >= ct_vec3_dot(y, y)) continue;
        ct_mat3_rotate_columns(B, p, q, 0, 1);
        ct_mat3_rotate_columns(V, p, q, 0, 1);
    }
}

static inline ct_svd3 ct_svd3_compute(ct_mat3 F) {
    ct_svd3 result = {.V = ct_mat3_identity()};
    ct_mat3 B = F;
    ct_svd3_orthogonalise(&B, &result.V);
    // left vectors from the columns; directions that a collapsed F leaves open are completed to a rotation
    const ct_vec3 b0 = ct_mat3_column(B, 0), b1 = ct_mat3_column(B, 1), b2 = ct_mat3_column(B, 2);
    const double n0 = ct_vec3_norm(b0);
    const ct_vec3 u0 = n0 == 0 ? ct_mat3_column(result.V, 0) : ct_vec3_scale(1 / n0, b0);
    const ct_vec3 c1 = ct_vec3_axpy(b1, -ct_vec3_dot(u0, b1), u0);
    const double n1 = ct_vec3_norm(c1);
    ct_vec3 u1 = ct_vec3_scale(1 / n1, c1);
    if (n1 <= 1e-150 || n1 <= 1e-16 * n0) {
        const ct_vec3 v1 = ct_mat3_column(result.V, 1);
        const ct_vec3 guess = ct_vec3_axpy(v1, -ct_vec3_dot(u0, v1), u0);
        u1 = ct_vec3_norm(guess) > 0.1 ? ct_vec3_normalise(guess) : ct_vec3_orthogonal(u0);
    }
    const ct_vec3 u2 = ct_vec3_cross(u0, u1);
    result.U = ct_mat3_columns(u0, u1, u2);
    result.s[0] = n0;
    result.s[1] = ct_vec3_dot(u1, b1);
    result.s[2] = ct_vec3_dot(u2, b2);
    return result;
}

static inline ct_mat3 ct_polar3(ct_mat3 F) {
    const ct_svd3 svd = ct_svd3_compute(F);
    return ct_mat3_multiply(svd.U, ct_mat3_transpose(svd.V));
}

#endif
