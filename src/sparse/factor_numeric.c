// Numeric factorisation; see factor.h for the contract and factor_layout.h for the formulas.
//
// Update: S A S is factored in double by CHOLMOD, or by fronts (factor_fronts.h) where that is asked for,
// each supernode [L11; L21] is turned into W in place (triangular inverse and solve) and rounded into its
// panel; CHOLMOD's values are then freed.
#include "sparse/factor.h"

#include <cblas.h>
#include <math.h>

#include "base/blas.h"
#include "sparse/factor_cholmod.h"
#include "sparse/factor_fronts.h"
#include "sparse/factor_layout.h"

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

static size_t value_bytes(const ct_factor* factor) {
    return factor->precision == CT_PRECISION_HALF ? sizeof(uint16_t) : sizeof(float);
}

ct_status ct_factor_create(ct_factor** out, const ct_symbolic* symbolic, ct_precision precision) {
    *out = NULL;
    ct_factor* factor = ct_alloc(1, sizeof *factor);
    if (!factor) return CT_OUT_OF_MEMORY;
    factor->symbolic = symbolic;
    factor->precision = precision;
    factor->isa = ct_cpu_isa();
    factor->tile = ct_arena_alloc(&factor->arena, symbolic->nvalue, value_bytes(factor));
    factor->pivot = ct_arena_alloc(&factor->arena, (size_t)symbolic->n, 4 * sizeof(float));
    factor->scale = ct_arena_alloc(&factor->arena, (size_t)symbolic->n, sizeof(double));
    if (factor->arena.failed) {
        ct_factor_free(factor);
        return CT_OUT_OF_MEMORY;
    }
    // streamed from end to end by every solve: spares the walks through the page table
    ct_memory_large_pages(factor->tile, symbolic->nvalue * value_bytes(factor));
    *out = factor;
    return CT_OK;
}

void ct_factor_free(ct_factor* factor) {
    if (!factor) return;
    ct_fronts_free(factor->fronts);
    ct_arena_free(&factor->arena);
    ct_free(factor);
}

size_t ct_factor_bytes(const ct_factor* factor) {
    const ct_symbolic* symbolic = factor->symbolic;
    return symbolic->nvalue * value_bytes(factor) + symbolic->nindex * sizeof(int) +
           (size_t)symbolic->npanel * sizeof(ct_panel) + (size_t)symbolic->n * 4 * sizeof(float);
}

double ct_factor_flops(const ct_factor* factor) { return factor->symbolic->flops; }

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

// The values of S A S in the order of ct_cholmod_pattern.
static void fill_values(const ct_block_matrix* matrix, const double* scale, double* value) {
    for (int j = 0; j < matrix->n; j++)
        for (int b = 0; b < 3; b++) {
            const double* D = matrix->value + 9 * (size_t)matrix->start[j];
            for (int a = b; a < 3; a++) *value++ = D[3 * a + b] * scale[j] * scale[j];
            for (int e = matrix->start[j] + 1; e < matrix->start[j + 1]; e++)
                for (int a = 0; a < 3; a++)
                    *value++ =
                        matrix->value[9 * (size_t)e + (size_t)(3 * a + b)] * scale[j] * scale[matrix->row[e]];
        }
}

// S A S = L L^T in double; NULL: see the status.
static cholmod_factor* factorise(const ct_symbolic* symbolic, const ct_block_matrix* matrix,
                                 const double* scale, cholmod_common* common, ct_status* status) {
    cholmod_factor* L = cholmod_copy_factor(symbolic->analysis, common);
    cholmod_sparse* A = L ? ct_cholmod_pattern(matrix, CHOLMOD_REAL, common) : NULL;
    if (A) {
        fill_values(matrix, scale, A->x);
        cholmod_factorize(A, L, common);
    }
    cholmod_free_sparse(&A, common);
    *status = ct_cholmod_status(common);
    if (!*status && L->minor < L->n) *status = CT_SINGULAR;
    if (*status) cholmod_free_factor(&L, common);
    return L;
}

// x: columns of the supernodes, column-major, one after the other.
static bool pivots_are_positive(const ct_symbolic* symbolic, const double* x) {
    const cholmod_factor* L = symbolic->analysis;
    const int *super = L->super, *pi = L->pi, *px = L->px;
    for (size_t s = 0; s < L->nsuper; s++) {
        size_t stride = (size_t)(pi[s + 1] - pi[s]);
        const double* values = x + px[s];
        for (size_t j = 0; j < (size_t)(super[s + 1] - super[s]); j++)
            if (!(values[j * stride + j] > 0) || !isfinite(values[j * stride + j])) return false;
    }
    return true;
}

// Turns a supernode [L11; L21] into [inv(Lu11); -Lu21 inv(Lu11)] in place and writes D^-2, 4 floats a node.
// d: 2 columns.
static void invert_supernode(const ct_fronts* fronts, double* L, int columns, int rows, double* d,
                             float* pivot) {
    int below = rows - columns, info;
    size_t stride = (size_t)rows;
    for (int j = 0; j < columns; j++) {
        d[j] = L[(size_t)j * stride + (size_t)j];
        pivot[4 * (j / 3) + j % 3] = (float)(1 / (d[j] * d[j]));
    }
    if (fronts && columns <= CT_FRONTS_NARROW) {
        fronts->kernels->invert(L, columns, rows, d + columns);
    } else {
        if (below)
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, below, columns,
                        -1.0, L, rows, L + columns, rows);
        dtrtri_("L", "N", &columns, L, &rows, &info);
    }
    // inv(Lu11) = D inv(L11)
    for (int j = 0; j < columns; j++) {
        double* column = L + (size_t)j * stride;
        for (int i = 0; i < j; i++) column[i] = 0;
        column[j] = 1;
        for (int i = j + 1; i < columns; i++) column[i] *= d[i];
    }
}

static void repack(ct_factor* factor, double* x, const double* scale, double* d) {
    const ct_symbolic* symbolic = factor->symbolic;
    const cholmod_factor* L = symbolic->analysis;
    const ct_factor_kernels* kernels = ct_factor_kernels_for(factor->isa, factor->precision);
    const int *super = L->super, *pi = L->pi, *px = L->px;
    for (int p = 0; p < symbolic->npart; p++) {
        const ct_part* part = &symbolic->part[p];
        for (int i = part->first_panel; i < part->first_panel + part->npanel; i++) {
            const ct_panel* panel = &symbolic->panel[i];
            int s = symbolic->supernode[i], rows = pi[s + 1] - pi[s];
            double* values = x + px[s];
            float* pivot = factor->pivot + 4 * (size_t)(part->first_node + panel->first);
            invert_supernode(factor->fronts, values, super[s + 1] - super[s], rows, d, pivot);
            kernels->pack(panel, values, (size_t)rows, factor->tile);
        }
    }
    for (int k = 0; k < symbolic->n; k++) factor->scale[k] = scale[symbolic->order[symbolic->node[k]]];
    factor->ready = true;
}

// scale: 7 n, the first n filled.
static ct_status update_by_cholmod(ct_factor* factor, const ct_block_matrix* matrix, double* scale) {
    const ct_symbolic* symbolic = factor->symbolic;
    ct_status status;
    cholmod_common common;
    ct_cholmod_start(&common);
    cholmod_factor* L = factorise(symbolic, matrix, scale, &common, &status);
    if (L && !pivots_are_positive(symbolic, L->x)) status = CT_SINGULAR;
    if (!status) repack(factor, L->x, scale, scale + symbolic->n);
    cholmod_free_factor(&L, &common);
    cholmod_finish(&common);
    return status;
}

static ct_status update_by_fronts(ct_factor* factor, const ct_block_matrix* matrix, double* scale) {
    const ct_symbolic* symbolic = factor->symbolic;
    ct_status status = ct_fronts_factor(factor->fronts, matrix, scale);
    if (status == CT_OK && !pivots_are_positive(symbolic, factor->fronts->value)) status = CT_SINGULAR;
    if (status == CT_OK) repack(factor, factor->fronts->value, scale, scale + symbolic->n);
    return status;
}

ct_status ct_factor_update(ct_factor* factor, const ct_block_matrix* matrix) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (matrix->n != symbolic->n) return CT_BAD_ARGUMENT;
    if (symbolic->n == 0) return CT_OK;
    double* scale = ct_alloc(7 * (size_t)symbolic->n, sizeof(double));
    if (!scale) return CT_OUT_OF_MEMORY;
    ct_status status = CT_SINGULAR;
    if (choose_scale(matrix, scale)) {
        ct_blas_begin();
        status = factor->fronts ? update_by_fronts(factor, matrix, scale)
                                : update_by_cholmod(factor, matrix, scale);
        ct_blas_end();
    }
    ct_free(scale);
    return status;
}

ct_status ct_factor_prefer_fronts(ct_factor* factor, const ct_block_matrix* matrix) {
    if (factor->fronts || factor->symbolic->n == 0) return CT_OK;
    return ct_fronts_create(&factor->fronts, factor->symbolic, matrix);
}

float ct_factor_stream(const ct_factor* factor, const float* from, size_t count) {
    return ct_factor_kernels_for(factor->isa, factor->precision)->stream(from, count);
}
