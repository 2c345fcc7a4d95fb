// The compliance of contacts as the friction problem sees it: W, m/N, three rows for each contact.
#ifndef CT_CONTACT_FRICTION_MATRIX_H
#define CT_CONTACT_FRICTION_MATRIX_H

#include <stddef.h>

typedef struct ct_friction_matrix {
    int count;        // contacts
    const double* W;  // 3 count x 3 count, symmetric positive semi-definite, both triangles
    int stride;       // of W's rows, at least 3 count
} ct_friction_matrix;

// How far a contact yields to a force of its own, m/N, on average over the directions: trace(W_cc)/3.
static inline double ct_friction_matrix_own(const ct_friction_matrix* matrix, int contact) {
    const size_t step = (size_t)matrix->stride + 1;
    const double* own = matrix->W + 3 * (size_t)contact * step;
    return (own[0] + own[step] + own[2 * step]) / 3;
}

#endif
