// Numeric factorisation by fronts; see fronts.h.
#include "sparse/fronts.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/blas.h"
#include "base/cancel.h"

// LAPACK: Cholesky factorisation, column-major.
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

extern const ct_fronts_kernels ct_fronts_kernels_portable;
#ifdef CT_HAVE_X86_KERNELS
extern const ct_fronts_kernels ct_fronts_kernels_avx2, ct_fronts_kernels_avx512;
#endif

const ct_fronts_kernels* ct_fronts_kernels_for(ct_isa isa) {
    switch (isa) {
#ifdef CT_HAVE_X86_KERNELS
    case CT_ISA_AVX512: return &ct_fronts_kernels_avx512;
    case CT_ISA_AVX2: return &ct_fronts_kernels_avx2;
#endif
    default: return &ct_fronts_kernels_portable;
    }
}

// Work with fewer flops than this is not worth waking the threads for.
static const double SHARED_FLOPS = 1e6;
// The first piece of a block holds its diagonal.
_Static_assert(3 * CT_PANEL_NODES <= CT_FRONTS_ROWS, "blocks of columns are narrower than pieces of rows");

typedef struct factoring {
    const ct_fronts_def* def;
    const ct_fronts_kernels* kernels;
    int first;  // task of the batch at hand
    atomic_bool failed, cancelled;
} factoring;

static double* room_at(const factoring* f, size_t entry) {
    return f->def->room + entry * (size_t)(f->def->unknowns * f->def->unknowns);
}

// ---- sharing -------------------------------------------------------------------------------

typedef struct shared_rows {
    int rows;
    ct_fronts_rows task;
    void* user;
} shared_rows;

static void share_piece(int piece, void* user) {
    const shared_rows* shared = user;
    const int begin = piece * CT_FRONTS_ROWS, end = begin + CT_FRONTS_ROWS;
    ct_blas_begin();
    shared->task(begin, end < shared->rows ? end : shared->rows, shared->user);
    ct_blas_end();
}

void ct_fronts_share(ct_threads* threads, int rows, double flops, ct_fronts_rows task, void* user) {
    shared_rows shared = {.rows = rows, .task = task, .user = user};
    ct_threads_run(flops < SHARED_FLOPS ? NULL : threads, (rows + CT_FRONTS_ROWS - 1) / CT_FRONTS_ROWS,
                   share_piece, &shared);
}

// ---- assembly ------------------------------------------------------------------------------

// Columns of A, scaled, at the front's own nodes.
static void load_blocks(const factoring* f, const ct_front* front, double* to) {
    const ct_fronts_def* def = f->def;
    const ct_front_plan* plan = def->plan;
    const int all = front->width + front->border;
    for (int b = 0; b < front->nown; b++) {
        const ct_front_block* block = &plan->block[front->block + b];
        const size_t stride = 3 * (size_t)(all - block->first);
        for (int k = 0; k < block->nodes; k++) {
            const int position = front->first + block->first + k;
            double* column = to + 9 * block->offset + 3 * (size_t)k * stride;
            for (size_t i = plan->entry[position]; i < plan->entry[position + 1]; i++) {
                const unsigned e = plan->source[i].block;
                const size_t row = plan->source[i].flip ? 1 : 3, other = plan->source[i].flip ? 3 : 1;
                const double* B = def->matrix->value + 9 * (size_t)e;
                const double s =
                    def->scale ? def->scale[plan->source[i].column] * def->scale[def->matrix->row[e]] : 1;
                double* at = column + 3 * (size_t)(plan->source[i].row - block->first);
                for (size_t q = 0; q < 3; q++)
                    for (size_t p = 0; p < 3; p++) at[q * stride + p] = s * B[row * p + other * q];
            }
        }
    }
}

static void load_scalars(const factoring* f, const ct_front* front, double* to) {
    const ct_front_plan* plan = f->def->plan;
    const int all = front->width + front->border;
    for (int b = 0; b < front->nown; b++) {
        const ct_front_block* block = &plan->block[front->block + b];
        for (int k = 0; k < block->nodes; k++) {
            const int position = front->first + block->first + k;
            double* column = to + block->offset + (size_t)k * (size_t)(all - block->first);
            for (size_t i = plan->entry[position]; i < plan->entry[position + 1]; i++)
                column[plan->source[i].row - block->first] =
                    f->def->matrix->value[9 * (size_t)plan->source[i].block];
        }
    }
}

// What a child leaves goes to its parent's front, block of columns by block of columns.
typedef struct adding {
    const factoring* f;
    const ct_front *child, *front;
    const double* from;
    double* to;
} adding;

// One node's columns: `own` of the child, rows from there on, in run number r.
static void add_columns(const adding* a, const ct_front_block* from, int own, int r,
                        const ct_front_block* block) {
    const ct_front_plan* plan = a->f->def->plan;
    const ct_front_run* run = plan->run + a->child->run;
    const size_t d = (size_t)a->f->def->unknowns,
                 height = d * (size_t)(a->child->border + a->child->width - from->first),
                 stride = d * (size_t)(a->front->width + a->front->border - block->first);
    const int place = run[r].to + own - run[r].from, begin = from->first - a->child->width;
    for (size_t q = 0; q < d; q++) {
        const double* source = a->from + d * d * from->offset + (d * (size_t)(own - begin) + q) * height;
        double* target = a->to + d * d * block->offset + (d * (size_t)(place - block->first) + q) * stride;
        a->f->kernels->add((int)d, own - run[r].from, run + r, a->child->nrun - r, source - d * (size_t)begin,
                           target - d * (size_t)block->first);
    }
}

static void add_block(int task, void* user) {
    const adding* a = user;
    const ct_front_plan* plan = a->f->def->plan;
    const ct_front_block* from = &plan->block[a->child->block + a->child->nown + task];
    const ct_front_run* run = plan->run + a->child->run;
    const ct_front_block* block = plan->block + a->front->block;
    const int begin = from->first - a->child->width;
    for (int own = begin, r = 0; own < begin + from->nodes; own++) {
        while (own >= run[r].from + run[r].nodes) r++;
        const int place = run[r].to + own - run[r].from;
        while (place >= block->first + block->nodes) block++;
        add_columns(a, from, own, r, block);
    }
}

// Nodes of the columns of a block, from each one on.
static void clear_block(const factoring* f, const ct_front* front, const ct_front_block* block, double* to) {
    const size_t d = (size_t)f->def->unknowns,
                 rows = d * (size_t)(front->width + front->border - block->first);
    double* column = to + d * d * block->offset;
    for (size_t j = 0; j < d * (size_t)block->nodes; j++, column += rows)
        memset(column + j / d * d, 0, (rows - j / d * d) * sizeof(double));
}

static void assemble(const factoring* f, const ct_front* front, double* to, ct_threads* threads) {
    const ct_front_plan* plan = f->def->plan;
    const size_t d = (size_t)f->def->unknowns;
    for (int b = 0; b < front->nblock; b++) clear_block(f, front, &plan->block[front->block + b], to);
    if (d == 3) load_blocks(f, front, to);
    else load_scalars(f, front, to);
    for (int k = 0; k < front->nchild; k++) {
        const ct_front* child = &plan->front[plan->child[front->child + k]];
        if (!child->border) continue;
        // where the child's front would begin
        const size_t lead = plan->block[child->block + child->nown].offset;
        adding a = {.f = f, .child = child, .front = front, .to = to};
        a.from = room_at(f, child->left) - d * d * lead;
        ct_threads_run(child->border > 256 ? threads : NULL, child->nblock - child->nown, add_block, &a);
    }
}

// ---- elimination ---------------------------------------------------------------------------

// A front in the making; L: the block of columns at hand.
typedef struct eliminating {
    const factoring* f;
    const ct_front* front;
    double* base;
    int which;  // own block at hand
    double* L;
    int columns, stride;
} eliminating;

static void solve_rows(int begin, int end, void* user) {
    const eliminating* e = user;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, end - begin, e->columns, 1.0,
                e->L, e->stride, e->L + e->columns + begin, e->stride);
}

// [L11; L21] of the block at hand; false: not positive definite.
static bool eliminate_block(const eliminating* e, ct_threads* threads) {
    if (e->columns <= CT_FRONTS_NARROW) return e->f->kernels->eliminate(e->L, e->columns, e->stride);
    int info;
    dpotrf_("L", &e->columns, e->L, &e->stride, &info);
    for (int j = 0; j < e->columns && !info; j++) {
        const double pivot = e->L[(size_t)j * (size_t)(e->stride + 1)];
        if (!(pivot > 0) || !isfinite(pivot)) info = 1;
    }
    if (info) return false;
    const int rows = e->stride - e->columns;
    ct_fronts_share(threads, rows, (double)rows * e->columns * e->columns, solve_rows, (void*)e);
    return true;
}

// Takes L21 L21^T away from rows [begin, end) of block b of the front, counted from its diagonal.
static void update_rows(const eliminating* e, int b, int begin, int end) {
    const ct_front_block* block = &e->f->def->plan->block[e->front->block + b];
    const ct_front_block* own = &e->f->def->plan->block[e->front->block + e->which];
    const int d = e->f->def->unknowns, count = d * block->nodes,
              rows = d * (e->front->width + e->front->border - block->first);
    const double* X = e->L + d * (block->first - own->first);
    double* U = e->base + (size_t)(d * d) * block->offset;
    if (begin == 0) {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, count, e->columns, -1.0, X, e->stride, 1.0, U,
                    rows);
        begin = count;
    }
    if (begin < end)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, end - begin, count, e->columns, -1.0, X + begin,
                    e->stride, X, e->stride, 1.0, U + begin, rows);
}

static int update_pieces(const eliminating* e, int b) {
    const ct_front_block* block = &e->f->def->plan->block[e->front->block + b];
    const int rows = e->f->def->unknowns * (e->front->width + e->front->border - block->first);
    return (rows + CT_FRONTS_ROWS - 1) / CT_FRONTS_ROWS;
}

static void update_piece(int piece, void* user) {
    const eliminating* e = user;
    int b = e->which + 1;
    while (piece >= update_pieces(e, b)) piece -= update_pieces(e, b++);
    const ct_front_block* block = &e->f->def->plan->block[e->front->block + b];
    const int rows = e->f->def->unknowns * (e->front->width + e->front->border - block->first),
              begin = piece * CT_FRONTS_ROWS, end = begin + CT_FRONTS_ROWS;
    ct_blas_begin();
    update_rows(e, b, begin, end < rows ? end : rows);
    ct_blas_end();
}

// The same of all rows, where there are few.
static void leave_block(const eliminating* e, int b) {
    const ct_front_block* block = &e->f->def->plan->block[e->front->block + b];
    const ct_front_block* own = &e->f->def->plan->block[e->front->block + e->which];
    const int d = e->f->def->unknowns;
    e->f->kernels->leave(e->L + d * (block->first - own->first), e->columns, e->stride,
                         d * (e->front->width + e->front->border - block->first), d * block->nodes,
                         e->base + (size_t)(d * d) * block->offset);
}

// What the block at hand takes away from those after it.
static void update_rest(const eliminating* e, ct_threads* threads) {
    const int rest = e->stride - e->columns, next = e->which + 1;
    if (next == e->front->nblock) return;
    if (e->columns <= CT_FRONTS_NARROW && rest <= CT_FRONTS_SHORT) {
        for (int b = next; b < e->front->nblock; b++) leave_block(e, b);
        return;
    }
    int pieces = 0;
    for (int b = next; b < e->front->nblock; b++) pieces += update_pieces(e, b);
    const double flops = (double)rest * rest * e->columns;
    ct_threads_run(flops < SHARED_FLOPS ? NULL : threads, pieces, update_piece, (void*)e);
}

// What is left goes to its place, which is not above: column after column, the nodes from its own on.
static void move_left(const factoring* f, const ct_front* front) {
    if (front->left == front->at + f->def->plan->block[front->block + front->nown].offset) return;
    const size_t d = (size_t)f->def->unknowns;
    const ct_front_block* block = &f->def->plan->block[front->block + front->nown];
    const double* from = room_at(f, front->at) + d * d * block->offset;
    double* to = room_at(f, front->left);
    for (int b = front->nown; b < front->nblock; b++, block++) {
        const size_t rows = d * (size_t)(front->width + front->border - block->first);
        for (size_t j = 0; j < d * (size_t)block->nodes; j++, from += rows, to += rows)
            memmove(to + j / d * d, from + j / d * d, (rows - j / d * d) * sizeof(double));
    }
}

static bool has_failed(factoring* f) { return atomic_load_explicit(&f->failed, memory_order_relaxed); }
static bool was_cancelled(factoring* f) { return atomic_load_explicit(&f->cancelled, memory_order_relaxed); }
static bool has_ended(factoring* f) { return has_failed(f) || was_cancelled(f); }

static void make_front(factoring* f, int which, ct_threads* threads) {
    const ct_fronts_def* def = f->def;
    const ct_front_plan* plan = def->plan;
    const ct_front* front = &plan->front[which];
    const int all = front->width + front->border;
    const size_t d = (size_t)def->unknowns;
    eliminating e = {.f = f, .front = front, .base = room_at(f, front->at)};
    assemble(f, front, e.base, threads);
    for (int b = 0; b < front->nown; b++) {
        const ct_front_block* block = &plan->block[front->block + b];
        e.which = b;
        e.L = e.base + d * d * block->offset;
        e.columns = (int)d * block->nodes;
        e.stride = (int)d * (all - block->first);
        if (ct_cancelled()) atomic_store_explicit(&f->cancelled, true, memory_order_relaxed);
        if (has_ended(f)) return;
        if (!eliminate_block(&e, threads)) {
            atomic_store_explicit(&f->failed, true, memory_order_relaxed);
            return;
        }
        update_rest(&e, threads);
        def->store(front->panel + b, e.L, e.columns, e.stride, threads, def->user);
    }
    if (!front->border) return;
    move_left(f, front);
}

static void run_task(int index, void* user) {
    factoring* f = user;
    const ct_front_task* task = &f->def->plan->task[f->first + index];
    ct_blas_begin();
    for (int i = task->first; i < task->end && !has_ended(f); i++) make_front(f, i, NULL);
    ct_blas_end();
}

ct_status ct_fronts_factor(const ct_fronts_def* def) {
    factoring f = {.def = def, .kernels = ct_fronts_kernels_for(def->isa)};
    ct_blas_begin();
    for (int i = 0; i < def->plan->nstep && !has_ended(&f); i++) {
        const ct_front_step* step = &def->plan->step[i];
        f.first = step->task;
        if (step->ntask) ct_threads_run(def->threads, step->ntask, run_task, &f);
        else make_front(&f, step->front, def->threads);
    }
    ct_blas_end();
    return was_cancelled(&f) ? CT_CANCELLED : has_failed(&f) ? CT_SINGULAR : CT_OK;
}
