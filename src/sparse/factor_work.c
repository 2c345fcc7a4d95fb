// Scratch of updates and solves; see factor.h and factor_layout.h.
#include "base/memory.h"
#include "sparse/factor_layout.h"
#include "sparse/factor_many.h"

ct_status ct_factor_work_create(ct_factor_work** out, const ct_symbolic* symbolic) {
    *out = NULL;
    ct_factor_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->row_stride = (size_t)symbolic->max_rows + 4 * CT_TILE_ROWS;
    work->row_stride = (work->row_stride + 15) / 16 * 16;
    work->vector = ct_arena_alloc(&work->arena, symbolic->nvector, 4 * sizeof(float));
    work->rows = ct_arena_alloc(&work->arena, (size_t)symbolic->npart * work->row_stride, sizeof(float));
    if (work->arena.failed) {
        ct_factor_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_factor_work_free(ct_factor_work* work) {
    if (!work) return;
    ct_factor_many_free(work->many);
    ct_arena_free(&work->spare.arena);
    ct_arena_free(&work->update_arena);
    ct_arena_free(&work->arena);
    ct_free(work);
}
