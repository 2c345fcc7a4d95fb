// Derivatives judged by the error of central differences: it falls with the square of the step size until
// round-off.
#ifndef CT_TESTS_SLOPE_H
#define CT_TESTS_SLOPE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "unit.h"

typedef double (*slope_function)(void* user, double t);

// f along a line, its derivative `exact` at t = 0; steps from `h` down. `size`: magnitude of the values that
// f sums.
static inline void assert_slope(slope_function f, void* user, double exact, double h, double size) {
    double before = NAN, best = INFINITY;
    for (int level = 0; level < 8; level++, h /= 2) {
        double floor = 64 * DBL_EPSILON * size / h;
        double error = fabs((f(user, h) - f(user, -h)) / (2 * h) - exact);
        best = fmin(best, error - floor);
        if (error > floor && before > 4 * floor) {
            double order = log2(before / error);
            if (!(order > 1.8))
                fail_msg("order %g at step %g: error %g after %g, derivative %g", order, h, error, before,
                         exact);
        }
        before = error;
    }
    if (!(best <= 1e-4 * fabs(exact))) fail_msg("error %g of the derivative %g", best, exact);
}

#endif
