// 3x3 matrices of doubles as values: a[row][column].
#ifndef CT_MATH_MAT3_H
#define CT_MATH_MAT3_H

#include "math/vec3.h"

typedef struct ct_mat3 {
    double a[3][3];
} ct_mat3;

static inline ct_mat3 ct_mat3_identity(void) { return (ct_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline ct_mat3 ct_mat3_diagonal(double x, double y, double z) {
    return (ct_mat3){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}};
}
// Nine doubles, row-major.
static inline ct_mat3 ct_mat3_load(const double* p) {
    return (ct_mat3){{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}}};
}
static inline void ct_mat3_store(double* p, ct_mat3 m) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) p[3 * i + j] = m.a[i][j];
}
static inline ct_mat3 ct_mat3_columns(ct_vec3 u, ct_vec3 v, ct_vec3 w) {
    return (ct_mat3){{{u.x, v.x, w.x}, {u.y, v.y, w.y}, {u.z, v.z, w.z}}};
}
static inline ct_vec3 ct_mat3_column(ct_mat3 m, int j) { return (ct_vec3){m.a[0][j], m.a[1][j], m.a[2][j]}; }
static inline ct_vec3 ct_mat3_row(ct_mat3 m, int i) { return (ct_vec3){m.a[i][0], m.a[i][1], m.a[i][2]}; }

static inline ct_mat3 ct_mat3_transpose(ct_mat3 m) {
    return ct_mat3_columns(ct_mat3_row(m, 0), ct_mat3_row(m, 1), ct_mat3_row(m, 2));
}
// A + s B
static inline ct_mat3 ct_mat3_axpy(ct_mat3 A, double s, ct_mat3 B) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.a[i][j] += s * B.a[i][j];
    return A;
}
static inline ct_mat3 ct_mat3_scale(double s, ct_mat3 A) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.a[i][j] *= s;
    return A;
}
static inline ct_mat3 ct_mat3_multiply(ct_mat3 A, ct_mat3 B) {
    ct_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.a[i][j] = A.a[i][0] * B.a[0][j] + A.a[i][1] * B.a[1][j] + A.a[i][2] * B.a[2][j];
    return C;
}
static inline ct_vec3 ct_mat3_apply(ct_mat3 A, ct_vec3 v) {
    return (ct_vec3){ct_vec3_dot(ct_mat3_row(A, 0), v), ct_vec3_dot(ct_mat3_row(A, 1), v),
                     ct_vec3_dot(ct_mat3_row(A, 2), v)};
}
static inline double ct_mat3_trace(ct_mat3 A) { return A.a[0][0] + A.a[1][1] + A.a[2][2]; }
// A : B
static inline double ct_mat3_dot(ct_mat3 A, ct_mat3 B) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += ct_vec3_dot(ct_mat3_row(A, i), ct_mat3_row(B, i));
    return sum;
}
// Cofactors: rows are the cross products of the other two rows; cof A = det A * A^-T.
static inline ct_mat3 ct_mat3_cofactor(ct_mat3 A) {
    const ct_vec3 a = ct_mat3_row(A, 0), b = ct_mat3_row(A, 1), c = ct_mat3_row(A, 2);
    return ct_mat3_transpose(ct_mat3_columns(ct_vec3_cross(b, c), ct_vec3_cross(c, a), ct_vec3_cross(a, b)));
}
static inline double ct_mat3_determinant(ct_mat3 A) {
    return ct_vec3_dot(ct_mat3_row(A, 0), ct_vec3_cross(ct_mat3_row(A, 1), ct_mat3_row(A, 2)));
}
// A^-1; the caller knows that A is regular.
static inline ct_mat3 ct_mat3_inverse(ct_mat3 A) {
    return ct_mat3_scale(1 / ct_mat3_determinant(A), ct_mat3_transpose(ct_mat3_cofactor(A)));
}
// [v]x: [v]x w = v x w
static inline ct_mat3 ct_mat3_cross(ct_vec3 v) {
    return (ct_mat3){{{0, -v.z, v.y}, {v.z, 0, -v.x}, {-v.y, v.x, 0}}};
}

#endif
