// cmocka with the headers that it wants before its own.
#ifndef CT_TESTS_UNIT_H
#define CT_TESTS_UNIT_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>

// cmocka compares as float, which hides errors below 1e-7.
#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) assert_double_within((a), (b), (epsilon), __FILE__, __LINE__)

static inline void assert_double_within(double a, double b, double epsilon, const char* file, int line) {
    if (fabs(a - b) <= epsilon) return;
    print_error("%.17g is not within %g of %.17g\n", a, epsilon, b);
    _fail(file, line);
}

#endif
