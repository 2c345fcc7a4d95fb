// Vectors of n doubles. The order of a sum is part of its result: the plain functions add from first to last,
// those that end in 4 keep four partial sums, always the same four, and are faster.
#ifndef CT_MATH_VECN_H
#define CT_MATH_VECN_H

#include <math.h>
#include <stddef.h>

static inline double ct_vecn_dot(const double* a, const double* b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
static inline double ct_vecn_norm(const double* a, size_t n) { return sqrt(ct_vecn_dot(a, a, n)); }

static inline double ct_vecn_dot4(const double* a, const double* b, size_t n) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
static inline double ct_vecn_norm4(const double* a, size_t n) { return sqrt(ct_vecn_dot4(a, a, n)); }

// y += s x
static inline void ct_vecn_axpy(double* y, double s, const double* x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += s * x[i];
}
// max |a_i|
static inline double ct_vecn_largest(const double* a, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

#endif
