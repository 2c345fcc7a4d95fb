// A small fixed pool of worker threads: spin briefly, then sleep.
//
// Step loops run hundreds of short parallel regions a second, often on shared cores, where OpenMP's
// barriers collapse (they spin too long or sleep too early) and ThreadSanitizer cannot see them.
// A task's result may depend on its index, never on the thread that runs it or on the number of
// threads: that is what makes results bit-identical across thread counts.
#ifndef CT_BASE_THREADS_H
#define CT_BASE_THREADS_H

#include "cuttle.h"

typedef struct ct_threads ct_threads;
typedef void (*ct_task)(int index, void* user);

// `count` threads in all, the caller included; 0: as many as there are cores. count 1 starts no thread.
ct_status ct_threads_create(ct_threads** out, int count);
void ct_threads_free(ct_threads* threads);
int ct_threads_count(const ct_threads* threads);  // NULL: 1
// Runs task(0..ntask-1, user) and returns when all are done. threads NULL or count 1: in order, on the
// caller.
void ct_threads_run(ct_threads* threads, int ntask, ct_task task, void* user);

#endif
