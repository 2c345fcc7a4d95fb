// The state: one block of memory with everything that determines the future, so that a checkpoint is a memcpy.
//
// Beyond positions and velocities: the previous ones (BDF2, predictor), and the configuration at which the
// factor was last refreshed, because the solver's path, and so the last bits of the result, depend on it.
#ifndef CT_STEP_STATE_H
#define CT_STEP_STATE_H

#include "cuttle.h"

typedef struct ct_state_header {
    int64_t step;         // steps taken
    double time;          // s
    int64_t nvert;
    int64_t history;      // 1: x_previous and v_previous are those of the step before
    int64_t slow_solves;  // solves beyond what a good factor needs, since the last refresh
    uint64_t reference;   // stamp of x_reference; 0: the rest factor is in use
} ct_state_header;

struct ct_state {
    size_t size;              // bytes of the block
    ct_state_header* header;  // start of the block
    double* x;                // 3 nvert, m; node arrays are padded to a multiple of 8 doubles plus 8
    double* v;                // 3 nvert, m/s
    double* x_previous;       // 3 nvert
    double* v_previous;       // 3 nvert
    double* x_reference;      // 3 nvert
};

#endif
