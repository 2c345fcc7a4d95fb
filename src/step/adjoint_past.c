// Starts of adjoint systems; see adjoint_past.h.
#include "step/adjoint_past.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"

static const double least = 1e-7;  // of a right-hand side, beside those after it: what is left is round-off

void ct_adjoint_past_free(ct_adjoint_past* past) { ct_free(past->memory); }

// Right-hand side (0) or solution (1) of the system `ago` steps ago, and what is made of it.
static double* vector(const ct_adjoint_past* past, int ago, int kind, bool made) {
    const int place = (past->last + CT_ADJOINT_PAST - ago) % CT_ADJOINT_PAST;
    return past->memory + (size_t)(4 * place + 2 * made + kind) * past->rows;
}

// Orthonormal right-hand sides, the youngest first; returns how many.
static int straighten(const ct_adjoint_past* past) {
    const size_t n = past->rows;
    for (int i = 0; i < past->count; i++) {
        double *q = vector(past, i, 0, true), *x = vector(past, i, 1, true);
        memcpy(q, vector(past, i, 0, false), n * sizeof(double));
        memcpy(x, vector(past, i, 1, false), n * sizeof(double));
        const double size = ct_vecn_norm4(q, n);
        for (int k = 0; k < i; k++) {
            const double *other = vector(past, k, 0, true), along = ct_vecn_dot4(other, q, n);
            ct_vecn_axpy(q, -along, other, n);
            ct_vecn_axpy(x, -along, vector(past, k, 1, true), n);
        }
        const double left = ct_vecn_norm4(q, n);
        if (!(left > least * size)) return i;
        for (size_t j = 0; j < n; j++) q[j] /= left, x[j] /= left;
    }
    return past->count;
}

bool ct_adjoint_past_start(ct_adjoint_past* past, size_t rows, uint64_t key, const double* b, double* x) {
    memset(x, 0, rows * sizeof(double));
    if (past->rows != rows || past->key != key) past->count = 0;
    past->rows = rows;
    past->key = key;
    if (!ct_reserve((void**)&past->memory, &past->capacity, 4 * CT_ADJOINT_PAST * rows, sizeof(double)))
        return false;
    const int count = straighten(past);
    for (int i = 0; i < count; i++)
        ct_vecn_axpy(x, ct_vecn_dot4(vector(past, i, 0, true), b, rows), vector(past, i, 1, true), rows);
    return true;
}

void ct_adjoint_past_keep(ct_adjoint_past* past, const double* b, const double* x) {
    past->last = (past->last + 1) % CT_ADJOINT_PAST;
    if (past->count < CT_ADJOINT_PAST) past->count++;
    memcpy(vector(past, 0, 0, false), b, past->rows * sizeof(double));
    memcpy(vector(past, 0, 1, false), x, past->rows * sizeof(double));
}
