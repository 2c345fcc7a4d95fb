// Products with the compliance of contacts; see friction_matrix.h.
#include "contact/friction_matrix.h"

#include <cblas.h>
#include <stdbool.h>
#include <string.h>

void ct_friction_matrix_block(const ct_friction_matrix* matrix, int contact, double block[9]) {
    memset(block, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        if (!matrix->W) block[4 * i] = matrix->own[contact];
        else
            memcpy(block + 3 * i,
                   matrix->W + (3 * (size_t)contact + (size_t)i) * (size_t)matrix->stride + 3 * contact,
                   3 * sizeof(double));
    }
}

static bool is_zero(const double* F) { return F[0] == 0 && F[1] == 0 && F[2] == 0; }

// Over the contacts whose F is not zero.
static void add_dense(const ct_friction_matrix* matrix, const double* F, double* u) {
    const int count = matrix->count;
    for (int c = 0; c < count;) {
        if (is_zero(F + 3 * c)) {
            c++;
            continue;
        }
        int end = c + 1;
        while (end < count && !is_zero(F + 3 * end)) end++;
        cblas_dgemv(CblasColMajor, CblasNoTrans, 3 * count, 3 * (end - c), 1,
                    matrix->W + 3 * (size_t)c * (size_t)matrix->stride, matrix->stride, F + 3 * c, 1, 1, u,
                    1);
        c = end;
    }
}

void ct_friction_matrix_add(const ct_friction_matrix* matrix, const double* F, double* scratch, double* u) {
    if (matrix->W) {
        add_dense(matrix, F, u);
        return;
    }
    matrix->product(F, scratch, matrix->user);
    for (int i = 0; i < 3 * matrix->count; i++) u[i] += scratch[i];
}
