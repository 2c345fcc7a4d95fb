// Scalar Cholesky with three right-hand sides; see scalar_factor.h.
//     A = P' L L' P,  X = P' (L' \ (L \ (P B))),  B and X n x 3
#include "sparse/scalar_factor.h"

#include <cholmod.h>

struct ct_scalar_factor {
    cholmod_common common;
    cholmod_factor* factor;  // simplicial, packed columns, the diagonal first
    int n;
};

struct ct_scalar_work {
    double* y;  // 3 n
};

// The lower triangle of the (0,0) entries; CHOLMOD's rows are sorted as ours are.
static cholmod_sparse* scalar_matrix(const ct_block_matrix* matrix, cholmod_common* common) {
    int n = matrix->n, entries = matrix->start[n];
    cholmod_sparse* sparse =
        cholmod_allocate_sparse((size_t)n, (size_t)n, (size_t)entries, 1, 1, -1, CHOLMOD_REAL, common);
    if (!sparse) return NULL;
    int *start = sparse->p, *row = sparse->i;
    double* value = sparse->x;
    for (int j = 0; j <= n; j++) start[j] = matrix->start[j];
    for (int k = 0; k < entries; k++) {
        row[k] = matrix->row[k];
        value[k] = matrix->value[9 * (size_t)k];
    }
    return sparse;
}

ct_status ct_scalar_factor_create(ct_scalar_factor** out, const ct_block_matrix* matrix) {
    *out = NULL;
    ct_scalar_factor* factor = ct_alloc(1, sizeof *factor);
    if (!factor) return CT_OUT_OF_MEMORY;
    cholmod_common* common = &factor->common;
    cholmod_start(common);
    common->print = 0;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    common->final_ll = 1;
    factor->n = matrix->n;
    cholmod_sparse* sparse = scalar_matrix(matrix, common);
    if (sparse) factor->factor = cholmod_analyze(sparse, common);
    if (factor->factor) cholmod_factorize(sparse, factor->factor, common);
    int code = common->status;
    cholmod_free_sparse(&sparse, common);
    if (factor->factor && code == CHOLMOD_OK && factor->factor->minor == (size_t)matrix->n) {
        *out = factor;
        return CT_OK;
    }
    ct_status status = code == CHOLMOD_OUT_OF_MEMORY || !factor->factor ? CT_OUT_OF_MEMORY : CT_SINGULAR;
    ct_scalar_factor_free(factor);
    return status;
}

void ct_scalar_factor_free(ct_scalar_factor* factor) {
    if (!factor) return;
    cholmod_free_factor(&factor->factor, &factor->common);
    cholmod_finish(&factor->common);
    ct_free(factor);
}

ct_status ct_scalar_work_create(ct_scalar_work** out, const ct_scalar_factor* factor) {
    *out = NULL;
    ct_scalar_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->y = ct_alloc(3 * (size_t)factor->n, sizeof(double));
    if (!work->y) {
        ct_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_scalar_work_free(ct_scalar_work* work) {
    if (!work) return;
    ct_free(work->y);
    ct_free(work);
}

// y = L \ y
static void forward(const cholmod_factor* L, double* y) {
    const int *start = L->p, *count = L->nz, *row = L->i;
    const double* value = L->x;
    for (size_t j = 0; j < L->n; j++) {
        double* own = y + 3 * j;
        for (int a = 0; a < 3; a++) own[a] /= value[start[j]];
        for (int k = start[j] + 1; k < start[j] + count[j]; k++)
            for (int a = 0; a < 3; a++) y[3 * row[k] + a] -= value[k] * own[a];
    }
}

// y = L' \ y
static void backward(const cholmod_factor* L, double* y) {
    const int *start = L->p, *count = L->nz, *row = L->i;
    const double* value = L->x;
    for (size_t j = L->n; j-- > 0;) {
        double* own = y + 3 * j;
        for (int k = start[j] + 1; k < start[j] + count[j]; k++)
            for (int a = 0; a < 3; a++) own[a] -= value[k] * y[3 * row[k] + a];
        for (int a = 0; a < 3; a++) own[a] /= value[start[j]];
    }
}

void ct_scalar_factor_solve(const ct_scalar_factor* factor, ct_scalar_work* work, const double* b,
                            double* x) {
    const int* order = factor->factor->Perm;
    for (int k = 0; k < factor->n; k++)
        for (int a = 0; a < 3; a++) work->y[3 * k + a] = b[3 * order[k] + a];
    forward(factor->factor, work->y);
    backward(factor->factor, work->y);
    for (int k = 0; k < factor->n; k++)
        for (int a = 0; a < 3; a++) x[3 * order[k] + a] = work->y[3 * k + a];
}
