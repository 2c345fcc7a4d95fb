// Unit quaternions (w, x, y, z) as values: rotations.
#ifndef CT_MATH_QUAT_H
#define CT_MATH_QUAT_H

#include "math/mat3.h"

typedef struct ct_quat {
    double w, x, y, z;
} ct_quat;

static inline ct_quat ct_quat_identity(void) { return (ct_quat){1, 0, 0, 0}; }
static inline ct_quat ct_quat_load(const double* p) { return (ct_quat){p[0], p[1], p[2], p[3]}; }
// The zero quaternion becomes the identity.
static inline ct_quat ct_quat_normalise(ct_quat q) {
    const double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return norm > 0 ? (ct_quat){q.w / norm, q.x / norm, q.y / norm, q.z / norm} : ct_quat_identity();
}
static inline ct_quat ct_quat_conjugate(ct_quat q) { return (ct_quat){q.w, -q.x, -q.y, -q.z}; }
// The rotation q after the rotation p.
static inline ct_quat ct_quat_multiply(ct_quat q, ct_quat p) {
    return (ct_quat){
        q.w * p.w - q.x * p.x - q.y * p.y - q.z * p.z, q.w * p.x + q.x * p.w + q.y * p.z - q.z * p.y,
        q.w * p.y - q.x * p.z + q.y * p.w + q.z * p.x, q.w * p.z + q.x * p.y - q.y * p.x + q.z * p.w};
}
// exp of a rotation vector (axis times angle, rad).
static inline ct_quat ct_quat_from_vector(ct_vec3 v) {
    const double angle = ct_vec3_norm(v);
    // sin(angle/2)/angle, by its series where the quotient would be 0/0
    const double s = angle > 1e-4 ? sin(angle / 2) / angle : 0.5 - angle * angle / 48;
    return (ct_quat){cos(angle / 2), s * v.x, s * v.y, s * v.z};
}
static inline ct_mat3 ct_quat_matrix(ct_quat q) {
    return (ct_mat3){
        {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
         {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
         {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
static inline ct_vec3 ct_quat_rotate(ct_quat q, ct_vec3 v) {
    const ct_vec3 u = {q.x, q.y, q.z};
    const ct_vec3 t = ct_vec3_scale(2, ct_vec3_cross(u, v));
    return ct_vec3_add(ct_vec3_axpy(v, q.w, t), ct_vec3_cross(u, t));
}

#endif
