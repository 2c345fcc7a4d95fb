// Wall-clock time for reports.
#ifndef CT_BASE_CLOCK_H
#define CT_BASE_CLOCK_H

#include <time.h>

// Seconds since some fixed moment; only differences mean something.
static inline double ct_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
