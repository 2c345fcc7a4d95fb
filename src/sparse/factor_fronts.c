// Numeric factorisation by fronts; see factor_fronts.h.
#include "sparse/factor_fronts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "sparse/factor_cholmod.h"

// LAPACK: Cholesky factorisation, column-major.
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

extern const ct_fronts_kernels ct_fronts_kernels_portable;
#ifdef CT_HAVE_X86_KERNELS
extern const ct_fronts_kernels ct_fronts_kernels_avx2, ct_fronts_kernels_avx512;
#endif

static const ct_fronts_kernels* kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_fronts_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_fronts_kernels_avx2;
#endif
    return &ct_fronts_kernels_portable;
}

// ---- structure -----------------------------------------------------------------------------

// The supernode of each factor position.
static void find_owners(const cholmod_factor* L, int* owner) {
    const int* super = L->super;
    for (int s = 0; s < (int)L->nsuper; s++)
        for (int p = super[s] / 3; p < super[s + 1] / 3; p++) owner[p] = s;
}

// Place of node p in the front of supernode s, whose rows ascend.
static int place_in(const cholmod_factor* L, int s, int p) {
    const int *pi = L->pi, *rows = (const int*)L->s + pi[s];
    int low = 0, high = (pi[s + 1] - pi[s]) / 3 - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rows[3 * middle] < 3 * p) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Sizes, parents' places, and the order on the stack; false: a parent would not find its children on top.
static bool fill_tree(ct_fronts* f, const cholmod_factor* L, const int* owner, size_t* deepest) {
    const int *super = L->super, *pi = L->pi;
    size_t depth = 0;
    int top = 0;
    for (int s = 0; s < f->count; s++) {
        const int* rows = (const int*)L->s + pi[s];
        const int width = f->width[s], border = f->border[s];
        for (int i = 0; i < f->children[s]; i++) {
            if (top == 0) return false;
            const int child = f->waiting[--top], below = f->border[child];
            const int* first = (const int*)L->s + pi[child] + (super[child + 1] - super[child]);
            if (owner[first[0] / 3] != s) return false;
            for (int k = 0; k < below; k++)
                f->place[f->relative[child] + (size_t)k] = place_in(L, s, first[3 * k] / 3);
            depth -= 9 * (size_t)below * (size_t)below;
        }
        f->values[s + 1] = f->values[s] + 9 * (size_t)(width + border) * (size_t)width;
        if (!border) continue;
        // its own part is made above those of its children
        size_t above = 0;
        for (int i = 0; i < f->children[s]; i++) {
            const int child = f->waiting[top + i];
            above += 9 * (size_t)f->border[child] * (size_t)f->border[child];
        }
        const size_t own = 9 * (size_t)border * (size_t)border;
        if (depth + above + own > *deepest) *deepest = depth + above + own;
        depth += own;
        f->waiting[top++] = s;
        const int parent = owner[rows[3 * width] / 3];
        f->children[parent]++;
        if (parent <= s) return false;
    }
    return top == 0;
}

// Where every block of the matrix goes.
static void fill_targets(ct_fronts* f, const ct_symbolic* symbolic, const cholmod_factor* L,
                         const ct_block_matrix* matrix, const int* owner, int* position) {
    const int* super = L->super;
    for (int p = 0; p < symbolic->n; p++) position[symbolic->order[p]] = p;
    for (int j = 0; j < matrix->n; j++)
        for (int e = matrix->start[j]; e < matrix->start[j + 1]; e++) {
            const int a = position[matrix->row[e]], b = position[j], column = a < b ? a : b,
                      s = owner[column];
            const int rows = 3 * (f->width[s] + f->border[s]);
            f->target[e] = f->values[s] + 3 * (size_t)(column - super[s] / 3) * (size_t)rows +
                           3 * (size_t)place_in(L, s, a < b ? b : a);
            f->stride[e] = rows;
            f->flip[e] = a < b;
        }
}

static ct_status fill(ct_fronts* f, const ct_symbolic* symbolic, const ct_block_matrix* matrix) {
    const cholmod_factor* L = symbolic->analysis;
    const int *super = L->super, *pi = L->pi;
    ct_arena* arena = &f->arena;
    const size_t count = (size_t)f->count, blocks = (size_t)matrix->start[matrix->n];
    size_t below = 0, deepest = 0;
    for (int s = 0; s < f->count; s++) {
        f->width[s] = (super[s + 1] - super[s]) / 3;
        f->border[s] = (pi[s + 1] - pi[s]) / 3 - f->width[s];
        f->relative[s] = below;
        below += (size_t)f->border[s];
    }
    f->relative[count] = below;
    f->place = ct_arena_alloc(arena, below, sizeof(int));
    f->target = ct_arena_alloc(arena, blocks, sizeof(size_t));
    f->stride = ct_arena_alloc(arena, blocks, sizeof(int));
    f->flip = ct_arena_alloc(arena, blocks, 1);
    int* scratch = ct_alloc(2 * (size_t)symbolic->n + 1, sizeof(int));
    ct_status status = scratch && !arena->failed ? CT_OK : CT_OUT_OF_MEMORY;
    if (status == CT_OK) {
        find_owners(L, scratch);
        if (!fill_tree(f, L, scratch, &deepest)) status = CT_UNSUPPORTED;
        else fill_targets(f, symbolic, L, matrix, scratch, scratch + symbolic->n);
    }
    ct_free(scratch);
    if (status != CT_OK) return status;
    f->value = ct_arena_alloc(arena, f->values[count], sizeof(double));
    f->stack = ct_arena_alloc(arena, deepest, sizeof(double));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

ct_status ct_fronts_create(ct_fronts** out, const ct_symbolic* symbolic, const ct_block_matrix* matrix) {
    *out = NULL;
    ct_fronts* f = ct_alloc(1, sizeof *f);
    if (!f) return CT_OUT_OF_MEMORY;
    const size_t count = ((const cholmod_factor*)symbolic->analysis)->nsuper;
    ct_arena* arena = &f->arena;
    f->count = (int)count;
    f->kernels = kernels_of(ct_cpu_isa());
    int** ints[] = {&f->width, &f->border, &f->children, &f->waiting};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        *ints[i] = ct_arena_alloc(arena, count, sizeof(int));
    size_t** sizes[] = {&f->values, &f->relative, &f->left};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        *sizes[i] = ct_arena_alloc(arena, count + 1, sizeof(size_t));
    ct_status status = arena->failed ? CT_OUT_OF_MEMORY : fill(f, symbolic, matrix);
    if (status != CT_OK) {
        ct_fronts_free(f);
        return status;
    }
    *out = f;
    return CT_OK;
}

void ct_fronts_free(ct_fronts* fronts) {
    if (!fronts) return;
    ct_arena_free(&fronts->arena);
    ct_free(fronts);
}

// ---- numbers -------------------------------------------------------------------------------

// The lower triangle of S A S into the supernodes' columns.
static void scatter(ct_fronts* f, const ct_block_matrix* matrix, const double* scale) {
    memset(f->value, 0, f->values[f->count] * sizeof(double));
    for (int j = 0; j < matrix->n; j++)
        for (int e = matrix->start[j]; e < matrix->start[j + 1]; e++) {
            const double *B = matrix->value + 9 * (size_t)e, s = scale[j] * scale[matrix->row[e]];
            double* to = f->value + f->target[e];
            const size_t stride = (size_t)f->stride[e], row = f->flip[e] ? 1 : 3, column = f->flip[e] ? 3 : 1;
            for (size_t b = 0; b < 3; b++)
                for (size_t a = 0; a < 3; a++) to[b * stride + a] = s * B[row * a + column * b];
        }
}

// Adds one column of what a child leaves, rows from its own node `first` on, to a column of the front.
static void add_column(const int* place, int first, int below, int shift, const double* from, double* to) {
    for (int i = first; i < below; i++) {
        double* at = to + 3 * (place[i] - shift);
        at[0] += from[3 * i], at[1] += from[3 * i + 1], at[2] += from[3 * i + 2];
    }
}

// Places below `width` are in the supernode's own columns, the others in U.
static void add_child(const ct_fronts* f, int child, const double* part, int s, double* U) {
    const int below = f->border[child], width = f->width[s], *place = f->place + f->relative[child];
    const size_t rows = 3 * (size_t)(width + f->border[s]), border = 3 * (size_t)f->border[s];
    for (int j = 0; j < below; j++)
        for (size_t b = 0; b < 3; b++) {
            const double* from = part + (3 * (size_t)j + b) * 3 * (size_t)below;
            const size_t column = 3 * (size_t)place[j] + b;
            if (place[j] < width)
                add_column(place, j, below, 0, from, f->value + f->values[s] + column * rows);
            else add_column(place, j, below, width, from, U + (column - 3 * (size_t)width) * border);
        }
}

// L11, L21, and U - L21 L21^T; false: not positive definite.
static bool eliminate(const ct_fronts* f, int s, double* U) {
    const int columns = 3 * f->width[s], border = 3 * f->border[s], rows = columns + border;
    double* L = f->value + f->values[s];
    if (columns <= CT_FRONTS_NARROW) {
        if (!f->kernels->eliminate(L, columns, rows)) return false;
        f->kernels->leave(L, columns, rows, U);
        return true;
    }
    int info;
    dpotrf_("L", &columns, L, &rows, &info);
    if (info) return false;
    if (!border) return true;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, border, columns, 1.0, L,
                rows, L + columns, rows);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, border, columns, -1.0, L + columns, rows, 1.0, U,
                border);
    return true;
}

ct_status ct_fronts_factor(ct_fronts* f, const ct_block_matrix* matrix, const double* scale) {
    size_t end = 0;  // of the stack
    int top = 0;
    scatter(f, matrix, scale);
    for (int s = 0; s < f->count; s++) {
        const size_t own = 9 * (size_t)f->border[s] * (size_t)f->border[s];
        double* U = f->stack + end;
        memset(U, 0, own * sizeof(double));
        for (int i = 0; i < f->children[s]; i++) {
            const int child = f->waiting[--top];
            end = f->left[child];
            add_child(f, child, f->stack + end, s, U);
        }
        if (!eliminate(f, s, U)) return CT_SINGULAR;
        if (!own) continue;
        // down to where the children's parts began
        memmove(f->stack + end, U, own * sizeof(double));
        f->left[s] = end;
        end += own;
        f->waiting[top++] = s;
    }
    return CT_OK;
}
