// The share of their distance that two colliders keep while it grows in; see growth.h.
#ifndef CT_CONTACT_GROWTH_SHARE_H
#define CT_CONTACT_GROWTH_SHARE_H

#include <math.h>
#include <stddef.h>

#define CT_GROWTH_POWER 16  // p

// theta_ab, and its derivatives by theta_a and theta_b (both are half where a is b); slope NULL: not wanted.
static inline double ct_growth_between(const double* theta, int a, int b, double slope[2]) {
    const double p = theta[a], q = theta[b];
    const double mean =
        p == q ? p : pow(0.5 * (pow(p, CT_GROWTH_POWER) + pow(q, CT_GROWTH_POWER)), 1.0 / CT_GROWTH_POWER);
    if (slope) {
        slope[0] = p == q ? 0.5 : 0.5 * pow(p / mean, CT_GROWTH_POWER - 1);
        slope[1] = p == q ? 0.5 : 0.5 * pow(q / mean, CT_GROWTH_POWER - 1);
    }
    return mean;
}

#endif
