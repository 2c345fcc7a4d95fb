// Blocks of the inverse; see factor.h for the contract.
#include "base/memory.h"
#include "sparse/factor_layout.h"

ct_status ct_factor_columns(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, int ncolumn, const int* column,
                            int nrow, const int* row, float* out) {
    size_t n = 3 * (size_t)factor->symbolic->n;
    double* x = ct_alloc(n, sizeof(double));
    if (!x) return CT_OUT_OF_MEMORY;
    for (int j = 0; j < ncolumn; j++)
        for (int b = 0; b < 3; b++) {
            for (size_t k = 0; k < n; k++) x[k] = 0;
            x[3 * column[j] + b] = 1;
            ct_factor_solve(factor, work, threads, x, x);
            for (int i = 0; i < nrow; i++)
                for (int a = 0; a < 3; a++) {
                    size_t block = (size_t)j * (size_t)nrow + (size_t)i;
                    out[9 * block + (size_t)(3 * a + b)] = (float)x[3 * row[i] + a];
                }
        }
    ct_free(x);
    return CT_OK;
}
