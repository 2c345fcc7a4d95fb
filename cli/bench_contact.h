// What the measurements of contact share: steps with contact, side by side with the same steps without it.
#ifndef CUTTLE_BENCH_CONTACT_H
#define CUTTLE_BENCH_CONTACT_H

#include "bench.h"

// Sums over the steps in which something touched.
typedef struct bench_cost {
    ct_status status;
    char message[256];             // where status is not CT_OK
    int failed_step;               // counted from 0
    int steps, touching;           // steps taken; those with contact, over which the sums go
    int contacts;                  // most in a step
    int substeps;                  // beyond one per step
    int most_substeps;             // in a step
    int passes;                    // most in a step
    int free_failed;               // free steps that did not converge; they count nowhere
    int crossed;                   // steps that end with an edge through a triangle
    double nearest;                // least distance over thickness, of all steps
    double penetration;            // m
    double seconds, free_seconds;  // CPU
    double solves, free_solves, iterations;
    double most_solves;        // in a step
    double worst;              // ratio of a step to its free step
    int worst_step;            // from 0
    double forward, backward;  // CPU seconds of a rollout over the same steps and of its gradient; 0: none
    double backward_solves;    // per step
    ct_status gradient;        // of the backward pass
    double peak_bytes;
} bench_cost;

typedef struct bench_cost_def {
    int steps;       // 0: the scene's duration
    int passes;      // over the same steps; the fastest counts
    bool gradient;   // measure the backward pass too
    bool verbose;    // print every step
    bool check;      // look for crossings after every step
    double seconds;  // CPU, end after the step that exceeds it; 0: never
} bench_cost_def;

// Steps through the scene. What fails is in the result.
void bench_cost_measure(const ct_scene* scene, const bench_cost_def* def, bench_cost* cost, ct_error* error);

typedef struct bench_contact_def {
    const char* directory;  // of the scene files
    const char* only;       // name of one scene; NULL: all
    int steps;              // 0: as many as each needs
    double seconds;         // CPU, per scene or drop; the rest of its steps is left out
    int count;              // of drops
    int seed;               // of the first drop
    bool alone;             // that drop alone, step by step
} bench_contact_def;
ct_status bench_contact_scenes(const bench_contact_def* def, ct_error* error);
ct_status bench_contact_drops(const bench_contact_def* def, ct_error* error);

#endif
