// Vectors and points of three doubles held as arrays; vec3.h has them as values.
#ifndef CT_MATH_POINT3_H
#define CT_MATH_POINT3_H

#include <math.h>
#include <stdbool.h>

static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double length3(const double a[3]) { return sqrt(dot3(a, a)); }

static inline void subtract3(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

// out = a + t b
static inline void add_scaled3(const double a[3], double t, const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] + t * b[i];
}

static inline void copy3(double out[3], const double a[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i];
}

static inline void cross3(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double distance3(const double a[3], const double b[3]) {
    double difference[3];
    subtract3(a, b, difference);
    return length3(difference);
}

// The same by hypot: neither overflows nor underflows, and has other last bits.
static inline double distance3_hypot(const double a[3], const double b[3]) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

// The length, or 1 where it is that to round-off: dividing by it twice is the same as once, to the last bit.
static inline double length3_unit(const double a[3]) {
    double length = length3(a);
    return fabs(length - 1) <= 1e-15 ? 1 : length;
}

static inline bool is_finite3(const double a[3]) {
    return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

// Six times the signed volume of the tet a b c d.
static inline double tet_volume6(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double ab[3], ac[3], ad[3], normal[3];
    subtract3(b, a, ab);
    subtract3(c, a, ac);
    subtract3(d, a, ad);
    cross3(ab, ac, normal);
    return dot3(normal, ad);
}

#endif
