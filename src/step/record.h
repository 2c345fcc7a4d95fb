// What a step notes for its adjoint: its accepted sub-steps, where each began, and its contacts.
#ifndef CT_STEP_RECORD_H
#define CT_STEP_RECORD_H

#include "contact/touch.h"
#include "model/model.h"

// The accepted sub-steps of one step, for its adjoint: where each began, and its contacts.
typedef struct ct_substep {
    ct_rate rate;
    int depth;                   // of halving
    double fraction;             // of the whole step's motion that the driven nodes have made at its end
    bool history;                // BDF2: x_previous and v_previous of the state took part
    ct_integrator rule;          // with stages: a record of one whole step has all of them, in order
    int stage;                   // which, from 0
    size_t first_touch, ntouch;  // its contacts, in the record's list
} ct_substep;

// Buffers that grow to a high-water mark.
typedef struct ct_record {
    ct_substep* step;
    size_t count, capacity;
    // where the sub-steps after the first began, or the stages before the last ended: x and v (3 nvert each),
    // joint coordinates
    double* start;
    size_t start_capacity;
    ct_touch_record* touch;  // contacts that carry force, of all sub-steps
    size_t ntouch, touch_capacity;
} ct_record;
void ct_record_free(ct_record* record);  // its buffers
size_t ct_record_bytes(const ct_record* record);
// Where sub-step `index` > 0 began.
typedef struct ct_record_start {
    double *x, *v, *q;
} ct_record_start;
ct_record_start ct_record_start_of(const ct_record* record, const ct_model* model, size_t index);

#endif
