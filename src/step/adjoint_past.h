// Where the adjoint of a step with contacts starts: from those of the steps after it.
//
// Systems of neighbouring steps hardly differ, and A_i x_i = b_i of the last few are solved. With the y that
// makes b - sum y_i b_i smallest, x = sum y_i x_i is then nearly a solution for b. It extrapolates without
// being told the order.
#ifndef CT_STEP_ADJOINT_PAST_H
#define CT_STEP_ADJOINT_PAST_H

#include <stdint.h>

#include "base/memory.h"
#include "contact/friction.h"
#include "cuttle.h"

enum { CT_ADJOINT_PAST = 8 };  // systems

typedef struct ct_adjoint_past {
    double* memory;  // b and x of the systems, and a vector each to work with
    size_t capacity;
    size_t rows;
    uint64_t key;     // of what the rows stand for
    int count, last;  // systems; the last one
    // the preconditioner of the last one that needed any; NULL until then
    ct_friction_work* friction;
    uint64_t friction_key;  // of its rows; 0: it does not serve another one
} ct_adjoint_past;

void ct_adjoint_past_free(ct_adjoint_past* past);
// x for b; zeros where the rows stand for something else than those of the systems before. False: out of
// memory.
bool ct_adjoint_past_start(ct_adjoint_past* past, size_t rows, uint64_t key, const double* b, double* x);
// A solution, for the rows that it started with.
void ct_adjoint_past_keep(ct_adjoint_past* past, const double* b, const double* x);

#endif
