// Starts of adjoint systems; see adjoint_past.h.
#include "step/adjoint_past.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"

static const double least = 1e-7;  // of a right-hand side, beside those after it: what is left is round-off

void ct_adjoint_past_free(ct_adjoint_past* past) {
    ct_friction_work_free(past->friction);
    ct_free(past->memory);
}

enum { RIGHT, SOLUTION, STRAIGHT, KINDS };  // right-hand side, solution, right-hand side made orthonormal

// Of the system `ago` steps ago.
static double* vector(const ct_adjoint_past* past, int ago, int kind) {
    const int place = (past->last + CT_ADJOINT_PAST - ago) % CT_ADJOINT_PAST;
    return past->memory + (size_t)(KINDS * place + kind) * past->rows;
}

// B = Q R for the right-hand sides, the youngest first; returns how many columns there are.
static int straighten(const ct_adjoint_past* past, double R[CT_ADJOINT_PAST][CT_ADJOINT_PAST]) {
    const size_t n = past->rows;
    for (int i = 0; i < past->count; i++) {
        double* q = vector(past, i, STRAIGHT);
        memcpy(q, vector(past, i, RIGHT), n * sizeof(double));
        const double size = ct_vecn_blas_norm(q, n);
        for (int k = 0; k < i; k++) {
            R[k][i] = ct_vecn_blas_dot(vector(past, k, STRAIGHT), q, n);
            ct_vecn_axpy(q, -R[k][i], vector(past, k, STRAIGHT), n);
        }
        R[i][i] = ct_vecn_blas_norm(q, n);
        if (!(R[i][i] > least * size)) return i;
        for (size_t j = 0; j < n; j++) q[j] /= R[i][i];
    }
    return past->count;
}

bool ct_adjoint_past_start(ct_adjoint_past* past, size_t rows, uint64_t key, const double* b, double* x) {
    memset(x, 0, rows * sizeof(double));
    if (past->rows != rows || past->key != key) past->count = 0;
    past->rows = rows;
    past->key = key;
    if (!ct_reserve((void**)&past->memory, &past->capacity, KINDS * CT_ADJOINT_PAST * rows, sizeof(double)))
        return false;
    double R[CT_ADJOINT_PAST][CT_ADJOINT_PAST], y[CT_ADJOINT_PAST];
    const int count = straighten(past, R);
    for (int i = count - 1; i >= 0; i--) {
        y[i] = ct_vecn_blas_dot(vector(past, i, STRAIGHT), b, rows);
        for (int k = i + 1; k < count; k++) y[i] -= R[i][k] * y[k];
        y[i] /= R[i][i];
    }
    for (int i = 0; i < count; i++) ct_vecn_axpy(x, y[i], vector(past, i, SOLUTION), rows);
    return true;
}

void ct_adjoint_past_keep(ct_adjoint_past* past, const double* b, const double* x) {
    past->last = (past->last + 1) % CT_ADJOINT_PAST;
    if (past->count < CT_ADJOINT_PAST) past->count++;
    memcpy(vector(past, 0, RIGHT), b, past->rows * sizeof(double));
    memcpy(vector(past, 0, SOLUTION), x, past->rows * sizeof(double));
}
