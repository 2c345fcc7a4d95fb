// The friction problem of a model step where the sets of the last forces hold: one linear system.
//
// With u = b + (W + U M U^T) dF and the sets fixed, the law is linear in dF but for the directions of slip:
// A dF + D U M U^T dF = a with the blocks A = D W + E of ct_friction_factor, factored once as long as the
// sets hold; the secant's addition follows by Woodbury's formula. Sets that do not hold are brought up to
// date, a few times at most. What is left of the directions is small, and the next model step's.
#ifndef CT_STEP_CONTACT_KEPT_H
#define CT_STEP_CONTACT_KEPT_H

#include "step/contact_system.h"

typedef struct ct_contact_kept {
    int count;                          // touches, none of them open at first
    const int* which;                   // count
    unsigned char* set;                 // count, ct_contact_set: tried, and found
    const double *b, *normal, *mu, *r;  // as in ct_friction_def; r: N/m, 1 over the touch's own compliance
    double* F;                          // N, 3 count: start and, where the sets hold, result
    double *D, *E, *a;                  // scratch: 9, 9 and 3 count
} ct_contact_kept;

// U and the secant's matrix are those of the work. *holds: F fulfils the law with these sets.
ct_status ct_contact_kept_solve(const ct_model* model, ct_work* work, const ct_contact_kept* kept,
                                bool* holds);
// The nodes turn, or the friction problem's memory serves something else: the factor is not to be used again.
void ct_contact_kept_forget(ct_contact_system* system);

#endif
