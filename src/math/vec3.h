// Vectors of three doubles as values.
#ifndef CT_MATH_VEC3_H
#define CT_MATH_VEC3_H

#include <math.h>

typedef struct ct_vec3 {
    double x, y, z;
} ct_vec3;

static inline ct_vec3 ct_vec3_make(double x, double y, double z) { return (ct_vec3){x, y, z}; }
static inline ct_vec3 ct_vec3_load(const double* p) { return (ct_vec3){p[0], p[1], p[2]}; }
static inline void ct_vec3_store(double* p, ct_vec3 a) {
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}
static inline ct_vec3 ct_vec3_add(ct_vec3 a, ct_vec3 b) { return (ct_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline ct_vec3 ct_vec3_sub(ct_vec3 a, ct_vec3 b) { return (ct_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline ct_vec3 ct_vec3_scale(double s, ct_vec3 a) { return (ct_vec3){s * a.x, s * a.y, s * a.z}; }
// a + s b
static inline ct_vec3 ct_vec3_axpy(ct_vec3 a, double s, ct_vec3 b) {
    return (ct_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double ct_vec3_dot(ct_vec3 a, ct_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline ct_vec3 ct_vec3_cross(ct_vec3 a, ct_vec3 b) {
    return (ct_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double ct_vec3_norm(ct_vec3 a) { return sqrt(ct_vec3_dot(a, a)); }
// a / |a|; the zero vector stays zero.
static inline ct_vec3 ct_vec3_normalise(ct_vec3 a) {
    const double norm = ct_vec3_norm(a);
    return norm > 0 ? ct_vec3_scale(1 / norm, a) : a;
}
// A unit vector orthogonal to the unit vector a.
static inline ct_vec3 ct_vec3_orthogonal(ct_vec3 a) {
    const double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    const ct_vec3 axis = x <= y && x <= z ? ct_vec3_make(1, 0, 0)
                         : y <= z         ? ct_vec3_make(0, 1, 0)
                                          : ct_vec3_make(0, 0, 1);
    return ct_vec3_normalise(ct_vec3_cross(a, axis));
}

#endif
