// Scratch of updates and solves; see factor.h, factor_layout.h and factor_many.h.
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

static void free_many(ct_factor_many* many) {
    if (!many) return;
    for (int k = 0; k < 2; k++) {
        ct_free(many->list[k].slot);
        ct_free(many->list[k].place);
        ct_free(many->list[k].group);
        ct_free(many->list[k].visit);
    }
    ct_free(many->mark);
    ct_free(many->tally);
    ct_arena_free(&many->arena);
    ct_arena_free(&many->kept_arena);
    ct_free(many);
}

void ct_factor_work_free(ct_factor_work* work) {
    if (!work) return;
    free_many(work->many);
    ct_arena_free(&work->spare.arena);
    ct_arena_free(&work->update_arena);
    ct_arena_free(&work->arena);
    ct_free(work);
}

ct_factor_many* ct_factor_many_reserve(ct_factor_work* work, const ct_symbolic* symbolic, int nworker) {
    if (!work->many) work->many = ct_alloc(1, sizeof *work->many);
    ct_factor_many* many = work->many;
    if (!many || nworker <= many->nworker) return many;
    size_t count = (size_t)nworker, row = CT_MANY_LANES * sizeof(float);
    ct_arena arena = {0};
    float* vector = ct_arena_alloc(&arena, count * 3 * (size_t)symbolic->n, row);
    float* rows = ct_arena_alloc(&arena, count * (size_t)symbolic->npart * (size_t)symbolic->max_rows, row);
    int* begin = ct_arena_alloc(&arena, count * (size_t)symbolic->npanel, sizeof(int));
    if (arena.failed) {
        ct_arena_free(&arena);
        return NULL;
    }
    ct_arena_free(&many->arena);
    many->arena = arena;
    many->vector = vector;
    many->rows = rows;
    many->begin = begin;
    many->nworker = nworker;
    return many;
}
