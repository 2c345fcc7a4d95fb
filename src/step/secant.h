// How the forces of a body have changed along the last steps of a solve, as a correction of its
// preconditioner P: compact L-BFGS (Byrd, Nocedal and Schnabel 1994),
//     B^-1 = P^-1 + [S Z] M [S Z]^T,   S: steps,   Y: changes of the residual without contact forces,   Z =
//     P^-1 Y.
// P must stay the same meanwhile. Z costs no solve: an iteration solves for the residual r and for the change
// of the contact forces J^T dF anyway, and Y = r_new - r_old + t J^T dF.
#ifndef CT_STEP_SECANT_H
#define CT_STEP_SECANT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

enum { CT_SECANT_PAIRS = 6, CT_SECANT_RANK = 2 * CT_SECANT_PAIRS };

typedef struct ct_secant {
    size_t n;     // unknowns
    int count;    // pairs
    bool moving;  // a step has begun: the last of the vectors below belong to it
    double *s[CT_SECANT_PAIRS], *y[CT_SECANT_PAIRS], *z[CT_SECANT_PAIRS];
    double *r, *Pr;  // residual where the step begins, and P^-1 of it
    double *f, *Pf;  // change of the contact forces in the step, and P^-1 of it
    double* d;       // the step
    double* M;       // rank squared, row-major
} ct_secant;

void ct_secant_create(ct_secant* secant, ct_arena* arena, size_t n);
void ct_secant_reset(ct_secant* secant);
static inline int ct_secant_rank(const ct_secant* secant) { return 2 * secant->count; }
// Column k of [S Z].
static inline const double* ct_secant_column(const ct_secant* secant, int k) {
    return k < secant->count ? secant->s[k] : secant->z[k - secant->count];
}
// The residual is r, with Pr = P^-1 r; the step that had begun, if any, was taken by t and gives a pair.
void ct_secant_arrive(ct_secant* secant, const double* r, const double* Pr, double t);
// A step d begins, which changes the contact forces by f, with Pf = P^-1 f; NULL: by nothing.
void ct_secant_leave(ct_secant* secant, const double* d, const double* f, const double* Pf);
// out += [S Z] M [S Z]^T v.
void ct_secant_correct(const ct_secant* secant, const double* v, double* out);

#endif
