// Vectors of n doubles. The order of a sum is part of its result: the plain functions add from first to last;
// BLAS is faster, adds in an order of its own, and is to be called between ct_blas_begin and ct_blas_end
// only.
#ifndef CT_MATH_VECN_H
#define CT_MATH_VECN_H

#include <cblas.h>
#include <math.h>
#include <stddef.h>

static inline double ct_vecn_dot(const double* a, const double* b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
static inline double ct_vecn_norm(const double* a, size_t n) { return sqrt(ct_vecn_dot(a, a, n)); }

static inline double ct_vecn_blas_dot(const double* a, const double* b, size_t n) {
    return cblas_ddot((int)n, a, 1, b, 1);
}
static inline double ct_vecn_blas_norm(const double* a, size_t n) { return sqrt(ct_vecn_blas_dot(a, a, n)); }

// y += s x
static inline void ct_vecn_axpy(double* y, double s, const double* x, size_t n) {
    cblas_daxpy((int)n, s, x, 1, y, 1);
}
// max |a_i|
static inline double ct_vecn_largest(const double* a, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

#endif
