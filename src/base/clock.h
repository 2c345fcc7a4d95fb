// Time for reports: of the wall clock, and of the processor.
#ifndef CT_BASE_CLOCK_H
#define CT_BASE_CLOCK_H

#include <time.h>

// Seconds since some fixed moment; only differences mean something.
static inline double ct_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// CPU seconds that the calling thread has used: what else runs on the machine does not count.
static inline double ct_clock_thread(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
