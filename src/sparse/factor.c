// Numeric factorisation and solve; see factor.h for the contract and factor_layout.h for the formulas.
//
// Update: S A S is factored in double by CHOLMOD, each supernode [L11; L21] is turned into W in place (triangular inverse
// and solve) and rounded into its panel; CHOLMOD's values are then freed.
// Solve: the parts' forward sweeps, the top both ways, the parts' backward sweeps. What parts add to the top is
// collected in their own borders and summed in the order of the parts.
#include "sparse/factor.h"

#include <cblas.h>
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "sparse/factor_cholmod.h"
#include "sparse/factor_layout.h"

// LAPACK, part of OpenBLAS: inverse of a triangular matrix in place.
extern void dtrtri_(const char* triangle, const char* diagonal, const int* n, double* A, const int* stride, int* info);

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
    *out = factor;
    return CT_OK;
}

void ct_factor_free(ct_factor* factor) {
    if (!factor) return;
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
                    *value++ = matrix->value[9 * (size_t)e + (size_t)(3 * a + b)] * scale[j] * scale[matrix->row[e]];
        }
}

// S A S = L L^T in double; NULL: see the status.
static cholmod_factor* factorise(const ct_symbolic* symbolic, const ct_block_matrix* matrix, const double* scale,
                                 cholmod_common* common, ct_status* status) {
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

static bool pivots_are_positive(const cholmod_factor* L) {
    const int *super = L->super, *pi = L->pi, *px = L->px;
    for (size_t s = 0; s < L->nsuper; s++) {
        size_t stride = (size_t)(pi[s + 1] - pi[s]);
        const double* values = (const double*)L->x + px[s];
        for (size_t j = 0; j < (size_t)(super[s + 1] - super[s]); j++)
            if (!(values[j * stride + j] > 0) || !isfinite(values[j * stride + j])) return false;
    }
    return true;
}

// Turns a supernode [L11; L21] into [inv(Lu11); -Lu21 inv(Lu11)] in place and writes D^-2, 4 floats a node.
static void invert_supernode(double* L, int columns, int rows, float* pivot) {
    int below = rows - columns, info;
    size_t stride = (size_t)rows;
    if (below)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, below, columns, -1.0, L, rows, L + columns, rows);
    for (int j = 0; j < columns; j++) {
        double d = L[(size_t)j * stride + (size_t)j];
        pivot[4 * (j / 3) + j % 3] = (float)(1 / (d * d));
    }
    dtrtri_("L", "N", &columns, L, &rows, &info);
    // inv(Lu11) = D inv(L11); the diagonal of inv(L11) is 1/D
    for (int i = 0; i < columns; i++) {
        double d = 1 / L[(size_t)i * stride + (size_t)i];
        for (int j = 0; j < i; j++) L[(size_t)j * stride + (size_t)i] *= d;
        L[(size_t)i * stride + (size_t)i] = 1;
        for (int j = i + 1; j < columns; j++) L[(size_t)j * stride + (size_t)i] = 0;
    }
}

static void repack(ct_factor* factor, cholmod_factor* L, const double* scale) {
    const ct_symbolic* symbolic = factor->symbolic;
    const ct_factor_kernels* kernels = ct_factor_kernels_for(factor->isa, factor->precision);
    const int *super = L->super, *pi = L->pi, *px = L->px;
    for (int p = 0; p < symbolic->npart; p++) {
        const ct_part* part = &symbolic->part[p];
        for (int i = part->first_panel; i < part->first_panel + part->npanel; i++) {
            const ct_panel* panel = &symbolic->panel[i];
            int s = symbolic->supernode[i], rows = pi[s + 1] - pi[s];
            double* values = (double*)L->x + px[s];
            invert_supernode(values, super[s + 1] - super[s], rows, factor->pivot + 4 * (size_t)(part->first_node + panel->first));
            kernels->pack(panel, values, (size_t)rows, factor->tile);
        }
    }
    for (int k = 0; k < symbolic->n; k++) factor->scale[k] = scale[symbolic->order[symbolic->node[k]]];
    factor->ready = true;
}

ct_status ct_factor_update(ct_factor* factor, const ct_block_matrix* matrix) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (matrix->n != symbolic->n) return CT_BAD_ARGUMENT;
    if (symbolic->n == 0) return CT_OK;
    double* scale = ct_alloc((size_t)symbolic->n, sizeof(double));
    if (!scale) return CT_OUT_OF_MEMORY;
    ct_status status = CT_SINGULAR;
    if (choose_scale(matrix, scale)) {
        ct_blas_serial();
        cholmod_common common;
        ct_cholmod_start(&common);
        cholmod_factor* L = factorise(symbolic, matrix, scale, &common, &status);
        if (L && !pivots_are_positive(L)) status = CT_SINGULAR;
        if (!status) repack(factor, L, scale);
        cholmod_free_factor(&L, &common);
        cholmod_finish(&common);
    }
    ct_free(scale);
    return status;
}

struct ct_factor_work {
    ct_arena arena;
    float* vector;  // 4 nvector: the parts' vectors
    float* rows;    // npart * row_stride: scratch of each part's sweep
    size_t row_stride;
};

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
    ct_arena_free(&work->arena);
    ct_free(work);
}

typedef struct solve_job {
    const ct_factor* factor;
    const ct_factor_kernels* kernels;
    ct_factor_work* work;
    const double* b;
    double* x;
    double unit;  // power of two near the largest entry of b: single precision then neither over- nor underflows
} solve_job;

static ct_sweep part_sweep(const solve_job* job, int p) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part* part = &symbolic->part[p];
    return (ct_sweep){
        .panel = symbolic->panel + part->first_panel,
        .npanel = part->npanel,
        .index = symbolic->index,
        .tile = job->factor->tile,
        .pivot = job->factor->pivot + 4 * (size_t)part->first_node,
        .vector = job->work->vector + 4 * part->vector,
        .rows = job->work->rows + (size_t)p * job->work->row_stride,
    };
}

// vector <- S b / unit, border <- 0
static void load_part(const solve_job* job, int p) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part* part = &symbolic->part[p];
    float* vector = job->work->vector + 4 * part->vector;
    const int* node = symbolic->node + part->first_node;
    const double* scale = job->factor->scale + part->first_node;
    const double inverse = 1 / job->unit;  // exact
    for (int k = 0; k < part->nnode; k++) {
        const double* b = job->b + 3 * (size_t)node[k];
        double s = scale[k] * inverse;
        for (int a = 0; a < 3; a++) vector[4 * (size_t)k + (size_t)a] = (float)(b[a] * s);
        vector[4 * (size_t)k + 3] = 0;
    }
    memset(vector + 4 * (size_t)part->nnode, 0, 4 * (size_t)part->nborder * sizeof(float));
}

// x <- unit S vector
static void store_part(const solve_job* job, int p) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part* part = &symbolic->part[p];
    const float* vector = job->work->vector + 4 * part->vector;
    const int* node = symbolic->node + part->first_node;
    const double* scale = job->factor->scale + part->first_node;
    for (int k = 0; k < part->nnode; k++) {
        double* x = job->x + 3 * (size_t)node[k];
        double s = scale[k] * job->unit;
        for (int a = 0; a < 3; a++) x[a] = s * (double)vector[4 * (size_t)k + (size_t)a];
    }
}

static void forward_part(int p, void* user) {
    const solve_job* job = user;
    load_part(job, p);
    ct_sweep sweep = part_sweep(job, p);
    job->kernels->forward(&sweep);
}

static void backward_part(int p, void* user) {
    const solve_job* job = user;
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part *part = &symbolic->part[p], *top = &symbolic->part[symbolic->npart - 1];
    float* border = job->work->vector + 4 * (part->vector + (size_t)part->nnode);
    const float* source = job->work->vector + 4 * top->vector;
    const int* position = symbolic->border + part->border;
    for (int i = 0; i < part->nborder; i++) memcpy(border + 4 * i, source + 4 * (size_t)position[i], 4 * sizeof(float));
    ct_sweep sweep = part_sweep(job, p);
    job->kernels->backward(&sweep);
    store_part(job, p);
}

// The top: collects the borders in the order of the parts, then sweeps both ways.
static void solve_top(const solve_job* job) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    int top = symbolic->npart - 1;
    load_part(job, top);
    float* target = job->work->vector + 4 * symbolic->part[top].vector;
    for (int p = 0; p < top; p++) {
        const ct_part* part = &symbolic->part[p];
        const float* border = job->work->vector + 4 * (part->vector + (size_t)part->nnode);
        const int* position = symbolic->border + part->border;
        for (int i = 0; i < part->nborder; i++)
            for (int a = 0; a < 4; a++) target[4 * (size_t)position[i] + (size_t)a] += border[4 * i + a];
    }
    ct_sweep sweep = part_sweep(job, top);
    job->kernels->forward(&sweep);
    job->kernels->backward(&sweep);
    store_part(job, top);
}

static double choose_unit(const double* b, size_t count) {
    double lane[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++) lane[k] = fabs(b[i + k]) > lane[k] ? fabs(b[i + k]) : lane[k];
    for (; i < count; i++) lane[0] = fmax(lane[0], fabs(b[i]));
    double largest = fmax(fmax(lane[0], lane[1]), fmax(lane[2], lane[3]));
    if (!(largest > 0) || !isfinite(largest)) return 1;
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

void ct_factor_solve(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, const double* b, double* x) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (symbolic->n == 0) return;
    solve_job job = {
        .factor = factor,
        .kernels = ct_factor_kernels_for(factor->isa, factor->precision),
        .work = work,
        .b = b,
        .x = x,
        .unit = choose_unit(b, 3 * (size_t)symbolic->n),
    };
    ct_threads_run(threads, symbolic->npart - 1, forward_part, &job);
    solve_top(&job);
    ct_threads_run(threads, symbolic->npart - 1, backward_part, &job);
}
