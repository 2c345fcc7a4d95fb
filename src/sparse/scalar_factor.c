// Scalar Cholesky with three right-hand sides; see scalar_factor.h.
//     A = P' L L' P,  X = A \ B,  B and X n x 3
#include "sparse/scalar_factor.h"

#include <cholmod.h>

struct ct_scalar_factor {
    cholmod_common common;
    cholmod_factor* factor;
    int n;
};

struct ct_scalar_work {
    cholmod_common common;   // of its own, so that several works may solve at once
    cholmod_dense *b, *x, *y, *e;
};

// The lower triangle of the (0,0) entries; CHOLMOD's rows are sorted as ours are.
static cholmod_sparse* scalar_matrix(const ct_block_matrix* matrix, cholmod_common* common) {
    int n = matrix->n, entries = matrix->start[n];
    cholmod_sparse* sparse = cholmod_allocate_sparse((size_t)n, (size_t)n, (size_t)entries, 1, 1, -1, CHOLMOD_REAL, common);
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
    cholmod_start(&work->common);
    work->common.print = 0;
    size_t n = (size_t)factor->n;
    work->b = cholmod_allocate_dense(n, 3, n, CHOLMOD_REAL, &work->common);
    double* zero = ct_alloc(3 * n + 1, sizeof *zero);
    // One solve now, so that CHOLMOD's own workspace exists before the first step.
    ct_status status = work->b && zero ? ct_scalar_factor_solve(factor, work, zero, zero) : CT_OUT_OF_MEMORY;
    ct_free(zero);
    if (status == CT_OK) {
        *out = work;
        return CT_OK;
    }
    ct_scalar_work_free(work);
    return status;
}

void ct_scalar_work_free(ct_scalar_work* work) {
    if (!work) return;
    cholmod_free_dense(&work->b, &work->common);
    cholmod_free_dense(&work->x, &work->common);
    cholmod_free_dense(&work->y, &work->common);
    cholmod_free_dense(&work->e, &work->common);
    cholmod_finish(&work->common);
    ct_free(work);
}

ct_status ct_scalar_factor_solve(const ct_scalar_factor* factor, ct_scalar_work* work, const double* b, double* x) {
    size_t n = (size_t)factor->n;
    double* column = work->b->x;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < 3; a++) column[a * n + i] = b[3 * i + a];
    if (!cholmod_solve2(CHOLMOD_A, factor->factor, work->b, NULL, &work->x, NULL, &work->y, &work->e, &work->common))
        return CT_OUT_OF_MEMORY;
    const double* solution = work->x->x;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < 3; a++) x[3 * i + a] = solution[a * n + i];
    return CT_OK;
}
