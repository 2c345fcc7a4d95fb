// Maps between nodes and unknowns, and the warped factor; see coords.h.
#include "step/coords.h"

#include <string.h>

#include "step/inertia.h"

void ct_coords_pull(const ct_model* model, const double* rho, double* r) {
    for (int k = 0; k < model->nfree; k++) {
        const double* from = rho + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) r[3 * k + a] = from[a];
    }
}

void ct_coords_push(const ct_model* model, const double* dz, double* dx) {
    memset(dx, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int k = 0; k < model->nfree; k++) {
        double* to = dx + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) to[a] = dz[3 * k + a];
    }
}

void ct_coords_move(const ct_model* model, const double* x, double length, const double* dz, double* x_new) {
    memcpy(x_new, x, 3 * (size_t)model->nvert * sizeof(double));
    for (int k = 0; k < model->nfree; k++) {
        double* to = x_new + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) to[a] += length * dz[3 * k + a];
    }
}

// out = A B^T, row-major 3x3.
static void multiply_transposed(const double* A, const double* B, double* out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

void ct_coords_warp(const ct_model* model, ct_work* work, const double* x) {
    ct_elastic_rotations(model->elastic, work->elastic, work->threads, x, work->rotation);
    for (int k = 0; k < model->nfree; k++) {
        const double* R = work->rotation + 9 * (size_t)model->node[k];
        double* warp = work->warp + 9 * (size_t)k;
        if (work->factor == work->refreshed) multiply_transposed(R, work->rotation_reference + 9 * (size_t)model->node[k], warp);
        else memcpy(warp, R, 9 * sizeof(double));
    }
}

void ct_coords_precondition(const ct_model* model, ct_work* work, const double* b, double* y) {
    for (int k = 0; k < model->nfree; k++) {
        const double *R = work->warp + 9 * (size_t)k, *in = b + 3 * (size_t)k;
        double* out = y + 3 * (size_t)k;
        for (int a = 0; a < 3; a++) out[a] = R[a] * in[0] + R[3 + a] * in[1] + R[6 + a] * in[2];
    }
    ct_factor_solve(work->factor, work->solve, work->threads, y, y);
    for (int k = 0; k < model->nfree; k++) {
        const double* R = work->warp + 9 * (size_t)k;
        double* out = y + 3 * (size_t)k;
        double t0 = out[0], t1 = out[1], t2 = out[2];
        for (int a = 0; a < 3; a++) out[a] = R[3 * a] * t0 + R[3 * a + 1] * t1 + R[3 * a + 2] * t2;
    }
}

void ct_coords_hessian(const ct_model* model, ct_work* work, const double* in, double* out) {
    ct_coords_push(model, in, work->node_scratch);
    ct_elastic_product(model->elastic, work->elastic, work->threads, work->node_scratch, work->node_product);
    ct_inertia_product(model, work, work->node_scratch, work->node_product);
    ct_coords_pull(model, work->node_product, out);
}

// Memory for another factor, made when the first one is due.
static ct_status prepare(const ct_model* model, ct_work* work, ct_factor** factor) {
    if (!work->matrix.value) {
        double* value = ct_arena_alloc(&work->arena, 9 * (size_t)model->matrix.start[model->nfree], sizeof(double));
        if (!value) return CT_OUT_OF_MEMORY;
        work->matrix = model->matrix;
        work->matrix.value = value;
    }
    return *factor ? CT_OK : ct_factor_create(factor, model->symbolic, model->precision);
}

static ct_status factor_at(const ct_model* model, ct_work* work, ct_factor** factor, double c, const double* x) {
    ct_status status = prepare(model, work, factor);
    if (status != CT_OK) return status;
    ct_model_assemble(model, work->elastic, c, x, &work->matrix);
    return ct_factor_update(*factor, &work->matrix);
}

static ct_status choose_reference(const ct_model* model, ct_work* work, const ct_state* state, int* refactors) {
    uint64_t stamp = state->header->reference;
    work->factor = model->factor;
    if (!stamp) return CT_OK;
    if (work->refreshed_stamp != stamp || work->refreshed_version != model->version) {
        work->refreshed_stamp = 0;
        ct_status status = factor_at(model, work, &work->refreshed, ct_model_rate(&model->settings), state->x_reference);
        if (status != CT_OK) return status;
        ct_elastic_rotations(model->elastic, work->elastic, work->threads, state->x_reference, work->rotation_reference);
        work->refreshed_stamp = stamp;
        work->refreshed_version = model->version;
        (*refactors)++;
    }
    work->factor = work->refreshed;
    return CT_OK;
}

// Halving the step twice makes inertia 16 times stiffer: one factor for every two levels keeps the mismatch below 4.
ct_status ct_coords_choose(const ct_model* model, ct_work* work, const ct_state* state, int depth, int* refactors) {
    int level = depth / 2;
    if (level == 0) return choose_reference(model, work, state, refactors);
    if (work->substep_level != level || work->substep_version != model->version) {
        work->substep_level = 0;
        double c = ct_model_rate(&model->settings) * (double)(1 << 2 * level);
        ct_status status = factor_at(model, work, &work->substep, c, NULL);
        if (status != CT_OK) return status;
        work->substep_level = level;
        work->substep_version = model->version;
        (*refactors)++;
    }
    work->factor = work->substep;
    return CT_OK;
}
