// Linear systems with fixed sets, D W F + E F = a; see friction.h.
#include <string.h>

#include "contact/friction_problem.h"

#define ERROR_SINGLE 1e-2  // of the factor in single precision, up to which it is a good preconditioner
#define SMALL 1e-2         // part of a row that a preconditioner may leave out

ct_status ct_friction_invert(ct_friction_work* work, const ct_friction_inverse* inverse, const double* D,
                             const double* E, bool* fits) {
    const ct_status status = ct_friction_complement_build(&work->fixed_complement, inverse, D, E, fits);
    work->inverted = *fits;
    return status;
}

// D without what hardly counts beside E: across the slip of a contact that slides far, the force does not
// depend on the motion. What is left has the range of D's largest column. w: the contact's own compliance.
static void drop_small(double w, const double* E, double* D) {
    const ct_mat3 A = ct_mat3_load(D), D_T = ct_mat3_transpose(A), E_T = ct_mat3_transpose(ct_mat3_load(E));
    ct_vec3 n = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        const ct_vec3 column = ct_mat3_column(A, j);
        if (ct_vec3_dot(column, column) > ct_vec3_dot(n, n)) n = column;
    }
    if (!(ct_vec3_dot(n, n) > 0)) return;
    n = ct_vec3_normalise(n);
    const ct_vec3 across[2] = {ct_vec3_orthogonal(n), ct_vec3_cross(n, ct_vec3_orthogonal(n))};
    for (int i = 0; i < 2; i++)
        if (ct_vec3_norm(ct_mat3_apply(D_T, across[i])) * w >
            SMALL * ct_vec3_norm(ct_mat3_apply(E_T, across[i])))
            return;
    const ct_vec3 row = ct_mat3_apply(D_T, n);
    memset(D, 0, 9 * sizeof(double));
    ct_friction_add_outer(D, 1, n, row);
}

static ct_status take_rows(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                           const double* E) {
    const int count = matrix->count;
    ct_friction_system_borrow(&work->fixed, matrix, NULL);
    memcpy(work->D, D, 9 * (size_t)count * sizeof(double));
    for (int c = 0; c < count; c++) drop_small(ct_friction_matrix_own(matrix, c), E + 9 * c, work->D + 9 * c);
    return ct_friction_system_reduce(&work->fixed, work->D, E);
}

ct_status ct_friction_follow(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                             const double* E, bool* fits) {
    ct_friction_system* s = &work->fixed;
    *fits = false;
    if (work->inverted || s->rank_count != matrix->count || !(matrix->W || matrix->nodes)) return CT_OK;
    const ct_status status = take_rows(work, matrix, D, E);
    return status ? status : ct_friction_system_follow(s, fits);
}

ct_status ct_friction_factor(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                             const double* E) {
    ct_friction_system* s = &work->fixed;
    work->inverted = false;
    ct_status status = ct_friction_work_reserve(work, matrix->count);
    if (!status) status = ct_friction_system_reserve(s, matrix->count);
    if (!status) status = take_rows(work, matrix, D, E);
    if (status) return status;
    const bool stored = matrix->W || matrix->nodes;
    double error = 0;
    status = ct_friction_system_factor(s, false, stored ? &error : NULL);
    if (!stored || status == CT_OUT_OF_MEMORY || (!status && error <= ERROR_SINGLE)) return status;
    return ct_friction_system_factor(s, true, NULL);
}

void ct_friction_apply(ct_friction_work* work, const double* a, double* F) {
    if (work->inverted) ct_friction_complement_solve(&work->fixed_complement, a, F);
    else ct_friction_system_solve(&work->fixed, a, F);
}

void ct_friction_apply_transposed(ct_friction_work* work, const double* a, double* F) {
    if (work->inverted) ct_friction_complement_solve_transposed(&work->fixed_complement, a, F);
    else ct_friction_system_solve_transposed(&work->fixed, a, F);
}
