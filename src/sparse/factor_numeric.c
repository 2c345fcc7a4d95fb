// Numeric factorisation; see factor.h for the contract and factor_layout.h for the formulas.
//
// Update: S A S is factored in double by fronts (fronts.h); each block of columns [L11; L21] that they finish
// is turned into W in place (triangular inverse and solve) and rounded into its panel.
#include "sparse/factor.h"

#include <cblas.h>
#include <math.h>

#include "base/blas.h"
#include "sparse/factor_layout.h"
#include "sparse/fronts.h"

// LAPACK, part of OpenBLAS: inverse of a triangular matrix in place.
extern void dtrtri_(const char* triangle, const char* diagonal, const int* n, double* A, const int* stride,
                    int* info);

extern const ct_factor_kernels ct_factor_kernels_portable[2];
#ifdef CT_HAVE_X86_KERNELS
extern const ct_factor_kernels ct_factor_kernels_avx2[2];
extern const ct_factor_kernels ct_factor_kernels_avx512[2];
#endif

const ct_factor_kernels* ct_factor_kernels_for(ct_isa isa, ct_precision precision) {
    switch (isa) {
#ifdef CT_HAVE_X86_KERNELS
    case CT_ISA_AVX512: return &ct_factor_kernels_avx512[precision];
    case CT_ISA_AVX2: return &ct_factor_kernels_avx2[precision];
#endif
    default: return &ct_factor_kernels_portable[precision];
    }
}

static size_t value_bytes(const ct_factor_values* values) {
    return values->precision == CT_PRECISION_HALF ? sizeof(uint16_t) : sizeof(float);
}

bool ct_factor_values_create(ct_factor_values* out, const ct_symbolic* symbolic, ct_precision precision) {
    *out = (ct_factor_values){.precision = precision};
    out->tile = ct_arena_alloc(&out->arena, symbolic->nvalue, value_bytes(out));
    out->pivot = ct_arena_alloc(&out->arena, (size_t)symbolic->n, 4 * sizeof(float));
    out->scale = ct_arena_alloc(&out->arena, (size_t)symbolic->n, sizeof(double));
    if (out->arena.failed) {
        ct_arena_free(&out->arena);
        return false;
    }
    // streamed from end to end by every solve: spares the walks through the page table
    ct_memory_large_pages(out->tile, symbolic->nvalue * value_bytes(out));
    return true;
}

ct_status ct_factor_create(ct_factor** out, const ct_symbolic* symbolic, ct_precision precision) {
    *out = NULL;
    ct_factor* factor = ct_alloc(1, sizeof *factor);
    if (!factor) return CT_OUT_OF_MEMORY;
    factor->symbolic = symbolic;
    factor->isa = ct_cpu_isa();
    if (!ct_factor_values_create(&factor->values, symbolic, precision)) {
        ct_factor_free(factor);
        return CT_OUT_OF_MEMORY;
    }
    *out = factor;
    return CT_OK;
}

void ct_factor_free(ct_factor* factor) {
    if (!factor) return;
    ct_arena_free(&factor->values.arena);
    ct_free(factor);
}

size_t ct_factor_bytes(const ct_factor* factor) {
    const ct_symbolic* symbolic = factor->symbolic;
    return symbolic->nvalue * value_bytes(&factor->values) + symbolic->nindex * sizeof(int) +
           (size_t)symbolic->npanel * sizeof(ct_panel) + (size_t)symbolic->n * 4 * sizeof(float);
}

double ct_factor_flops(const ct_factor* factor) { return factor->symbolic->plan.flops; }

// ---- panels --------------------------------------------------------------------------------

// A block of columns on its way into its panel.
typedef struct storing {
    const ct_symbolic* symbolic;
    const ct_factor_kernels* kernels;
    const ct_fronts_kernels* dense;
    ct_factor_values* values;
} storing;

typedef struct block {
    const storing* to;
    const ct_panel* panel;
    double* L;
    int columns, rows;
} block;

// -L21 inv(L11), some rows.
static void solve_rows(int begin, int end, void* user) {
    const block* b = user;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, end - begin, b->columns,
                -1.0, b->L, b->rows, b->L + b->columns + begin, b->rows);
}

// [L11; L21] becomes [inv(L11); -L21 inv(L11)].
static void invert(const block* b, ct_threads* threads) {
    if (b->columns <= CT_FRONTS_NARROW) {
        double scratch[CT_FRONTS_NARROW * CT_FRONTS_WIDTH(CT_FRONTS_NARROW)];
        b->to->dense->invert(b->L, b->columns, b->rows, scratch);
        return;
    }
    const int below = b->rows - b->columns;
    int info;
    ct_fronts_share(threads, below, (double)below * b->columns * b->columns, solve_rows, (void*)b);
    dtrtri_("L", "N", &b->columns, b->L, &b->rows, &info);
}

enum { PACKED_NODES = 16 };

static void pack_piece(int piece, void* user) {
    const block* b = user;
    b->to->kernels->pack(b->panel, b->L, (size_t)b->rows, piece * PACKED_NODES, (piece + 1) * PACKED_NODES,
                         b->to->values->tile);
}

// Turns [L11; L21] into [inv(Lu11); -Lu21 inv(Lu11)] and writes it with D^-2, 4 floats a node.
static void store(int number, double* L, int columns, int rows, ct_threads* threads, void* user) {
    const storing* to = user;
    const ct_panel* panel = &to->symbolic->panel[to->symbolic->place[number]];
    float* pivot = to->values->pivot + 4 * (size_t)panel->slot;
    double d[3 * CT_PANEL_NODES];
    const size_t stride = (size_t)rows;
    for (int j = 0; j < columns; j++) {
        d[j] = L[(size_t)j * stride + (size_t)j];
        pivot[4 * (j / 3) + j % 3] = (float)(1 / (d[j] * d[j]));
    }
    block b = {.to = to, .panel = panel, .L = L, .columns = columns, .rows = rows};
    invert(&b, threads);
    // inv(Lu11) = D inv(L11)
    for (int j = 0; j < columns; j++) {
        double* column = L + (size_t)j * stride;
        for (int i = 0; i < j; i++) column[i] = 0;
        column[j] = 1;
        for (int i = j + 1; i < columns; i++) column[i] *= d[i];
    }
    const bool large = (double)rows * columns > 1e5;
    ct_threads_run(large ? threads : NULL, (panel->width + PACKED_NODES - 1) / PACKED_NODES, pack_piece, &b);
}

// ---- update --------------------------------------------------------------------------------

// Power of two near 1/sqrt(largest diagonal entry) for each block row; false: not positive.
static bool choose_scale(const ct_block_matrix* matrix, double* scale) {
    for (int j = 0; j < matrix->n; j++) {
        const double* D = matrix->value + 9 * (size_t)matrix->start[j];
        double largest = fmax(D[0], fmax(D[4], D[8]));
        if (!(D[0] > 0 && D[4] > 0 && D[8] > 0 && isfinite(largest))) return false;
        int exponent;
        frexp(largest, &exponent);
        scale[j] = ldexp(1.0, -(exponent / 2));
    }
    return true;
}

// Scratch for an update: fronts, and values to write where the factor's own must stay. again: more updates
// may follow; memory that is not yet needed for them is not touched.
static bool reserve(ct_factor_work* work, const ct_factor* factor, ct_threads* threads, bool again) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (!work->room) {
        if (!ct_blas_has_room(ct_threads_count(threads))) return false;
        const size_t count = 9 * symbolic->plan.room;
        work->unit = ct_arena_alloc(&work->update_arena, (size_t)symbolic->n, sizeof(double));
        double* room = ct_arena_alloc(&work->update_arena, count, sizeof(double));
        if (work->update_arena.failed) {
            ct_arena_free(&work->update_arena);
            return false;
        }
        ct_memory_large_pages(room, count * sizeof(double));
        work->room = room;
    }
    if (!again || (work->spare.tile && work->spare.precision == factor->values.precision)) return true;
    ct_arena_free(&work->spare.arena);
    return ct_factor_values_create(&work->spare, symbolic, factor->values.precision);
}

static ct_status factorise(ct_factor* factor, ct_factor_work* work, ct_threads* threads,
                           const ct_block_matrix* matrix) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (!choose_scale(matrix, work->unit)) return CT_SINGULAR;
    storing to = {.symbolic = symbolic,
                  .kernels = ct_factor_kernels_for(factor->isa, factor->values.precision),
                  .dense = ct_fronts_kernels_for(factor->isa),
                  .values = factor->ready ? &work->spare : &factor->values};
    const ct_fronts_def def = {.plan = &symbolic->plan,
                               .matrix = matrix,
                               .unknowns = 3,
                               .scale = work->unit,
                               .isa = factor->isa,
                               .room = work->room,
                               .threads = threads,
                               .store = store,
                               .user = &to};
    ct_status status = ct_fronts_factor(&def);
    if (status != CT_OK) return status;
    for (int k = 0; k < symbolic->n; k++)
        to.values->scale[k] = work->unit[symbolic->order[symbolic->node[k]]];
    if (factor->ready) {
        const ct_factor_values old = factor->values;
        factor->values = work->spare;
        work->spare = old;
    }
    factor->ready = true;
    return CT_OK;
}

ct_status ct_factor_update(ct_factor* factor, ct_factor_work* work, ct_threads* threads,
                           const ct_block_matrix* matrix) {
    if (matrix->n != factor->symbolic->n) return CT_BAD_ARGUMENT;
    if (matrix->n == 0) return CT_OK;
    ct_factor_work* own = NULL;
    if (!work) {
        ct_status status = ct_factor_work_create(&own, factor->symbolic);
        if (status != CT_OK) return status;
        work = own;
    }
    const bool there = reserve(work, factor, threads, factor->ready || !own);
    ct_status status = there ? factorise(factor, work, threads, matrix) : CT_OUT_OF_MEMORY;
    ct_factor_work_free(own);
    return status;
}

float ct_factor_stream(const ct_factor* factor, const float* from, size_t count) {
    return ct_factor_kernels_for(factor->isa, factor->values.precision)->stream(from, count);
}
