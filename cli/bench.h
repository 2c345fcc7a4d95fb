// What the benchmarks share: the swinging beam, and measurements in a process of their own.
#ifndef CUTTLE_BENCH_H
#define CUTTLE_BENCH_H

#include "cli.h"
#include "cuttle_profile.h"

int cuttle_bench_memory(int argc, char** argv);
int cuttle_bench_gradient(int argc, char** argv);
int cuttle_bench_skeleton(int argc, char** argv);
int cuttle_bench_contact(int argc, char** argv);
int cuttle_bench_accuracy(int argc, char** argv);
int cuttle_bench_energy(int argc, char** argv);
int cuttle_bench_baseline(int argc, char** argv);

// Seconds of `threads` threads that work together: CPU time of this one where it is alone, so that what else
// runs on the machine does not count, and wall-clock time otherwise.
static inline double bench_clock(int threads) { return threads == 1 ? ct_profile_cpu() : cli_seconds(); }

// Fills the scene with a beam of about `tets` tets, clamped at one end, under gravity.
ct_status bench_beam(ct_scene* scene, int tets, ct_energy energy, ct_solver solver, int threads,
                     ct_error* error);

// Runs `run` in a child that writes its `size` bytes of result, and waits for it; *peak_bytes: its peak
// memory. False: it could not be run to its end.
bool bench_apart(void (*run)(const void* what, void* result), const void* what, void* result, size_t size,
                 double* peak_bytes);

#endif
