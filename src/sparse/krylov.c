// Preconditioned conjugate gradients (Hestenes and Stiefel 1952) and restarted GMRES (Saad and Schultz 1986)
// with right preconditioning, modified Gram-Schmidt and Givens rotations; see krylov.h.
#include "sparse/krylov.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "math/vecn.h"

enum { KEPT = 12 };  // columns of a cycle that M V is kept of: short cycles need M once a column

// of |b|: where less is asked for, the residual that the recursion tells may not be the true one
static const double trusted = 1e-10;

struct ct_krylov_work {
    ct_arena arena;
    size_t capacity;  // unknowns of the largest system
    size_t n;         // unknowns of the system being solved
    int restart;
    double *r, *z, *p, *Ap;  // n each; GMRES uses z and Ap
    double* V;               // (restart + 1) n: GMRES' basis
    double* Z;               // KEPT n: M V
    double* R;               // restart (restart + 1): triangle by columns
    double *cosine, *sine;   // restart + 1: rotations
    double* g;               // restart + 1: rotated right-hand side
    int told;                // columns of the cycle that tells the residual; 0: it is g[0] V[0]
};

// The arrays in a new arena; false: out of memory.
static bool allocate(ct_krylov_work* work, size_t n, int restart) {
    ct_arena* arena = &work->arena;
    size_t m = (size_t)restart;
    work->capacity = n;
    work->restart = restart;
    work->r = ct_arena_alloc(arena, n, sizeof(double));
    work->z = ct_arena_alloc(arena, n, sizeof(double));
    work->p = ct_arena_alloc(arena, n, sizeof(double));
    work->Ap = ct_arena_alloc(arena, n, sizeof(double));
    if (restart) {
        work->V = ct_arena_alloc(arena, m + 1, n * sizeof(double));
        work->Z = ct_arena_alloc(arena, m < KEPT ? m : KEPT, n * sizeof(double));
        work->R = ct_arena_alloc(arena, m * (m + 1), sizeof(double));
        work->cosine = ct_arena_alloc(arena, m + 1, sizeof(double));
        work->sine = ct_arena_alloc(arena, m + 1, sizeof(double));
        work->g = ct_arena_alloc(arena, m + 1, sizeof(double));
    }
    return !arena->failed;
}

ct_status ct_krylov_reserve(ct_krylov_work* work, int n, int restart) {
    if (n < 0 || restart < 0) return CT_BAD_ARGUMENT;
    size_t capacity = (size_t)n > work->capacity ? (size_t)n : work->capacity;
    if (restart < work->restart) restart = work->restart;
    if (capacity == work->capacity && restart == work->restart) return CT_OK;
    ct_krylov_work grown = {0};
    bool done = allocate(&grown, capacity, restart);
    ct_arena_free(done ? &work->arena : &grown.arena);
    if (done) *work = grown;
    return done ? CT_OK : CT_OUT_OF_MEMORY;
}

ct_status ct_krylov_work_create(ct_krylov_work** out, int n, int restart) {
    *out = NULL;
    if (n < 0 || restart < 0) return CT_BAD_ARGUMENT;
    ct_krylov_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    if (!allocate(work, (size_t)n, restart)) {
        ct_krylov_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_krylov_work_free(ct_krylov_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}

static void precondition(const ct_krylov_def* def, const double* in, double* out) {
    if (def->precondition) def->precondition(in, out, def->user);
    else memcpy(out, in, (size_t)def->n * sizeof(double));
}

// r = b - A x; the product is spared when x = 0.
static void residual(const ct_krylov_def* def, const double* b, const double* x, double* r, int* products) {
    size_t n = (size_t)def->n, i = 0;
    while (i < n && x[i] == 0) i++;
    if (i == n) {
        memcpy(r, b, n * sizeof(double));
        return;
    }
    def->apply(x, r, def->user);
    ++*products;
    for (i = 0; i < n; i++) r[i] = b[i] - r[i];
}

// One step of conjugate gradients; rz is r.M r of the step before, 0 at the first. LIMIT: go on.
static ct_krylov_end pcg_step(const ct_krylov_def* def, ct_krylov_work* work, double* rz, double* x) {
    size_t n = (size_t)def->n;
    double *r = work->r, *z = work->z, *p = work->p, *Ap = work->Ap;
    bool first = *rz == 0;

    // p = M r + beta p
    precondition(def, r, z);
    double rz_new = ct_vecn_blas_dot(r, z, n);
    if (!(rz_new > 0) || !isfinite(rz_new)) return CT_KRYLOV_BREAKDOWN;
    double beta = first ? 0 : rz_new / *rz;
    *rz = rz_new;
    if (first) memcpy(p, z, n * sizeof(double));
    else
        for (size_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];

    // minimise along p
    def->apply(p, Ap, def->user);
    double curvature = ct_vecn_blas_dot(p, Ap, n);
    if (!isfinite(curvature)) return CT_KRYLOV_BREAKDOWN;
    if (curvature <= 0) {
        if (first) ct_vecn_axpy(x, 1, p, n);
        return CT_KRYLOV_NEGATIVE;
    }
    double alpha = rz_new / curvature;
    ct_vecn_axpy(x, alpha, p, n);
    ct_vecn_axpy(r, -alpha, Ap, n);
    return CT_KRYLOV_LIMIT;
}

void ct_pcg(const ct_krylov_def* def, ct_krylov_work* work, const double* b, double* x,
            ct_krylov_report* report) {
    assert(def->n >= 0 && (size_t)def->n <= work->capacity);
    work->n = (size_t)def->n;
    *report = (ct_krylov_report){.end = CT_KRYLOV_LIMIT};
    residual(def, b, x, work->r, &report->iterations);
    report->initial = report->residual = ct_vecn_blas_norm(work->r, work->n);
    const double target = fmax(def->relative * report->initial, def->tolerance);
    double rz = 0;
    while (report->end == CT_KRYLOV_LIMIT && report->residual > target &&
           report->iterations < def->max_iterations) {
        report->end = pcg_step(def, work, &rz, x);
        report->iterations++;
        report->residual = ct_vecn_blas_norm(work->r, work->n);
    }
    if (report->residual <= target) report->end = CT_KRYLOV_CONVERGED;
    if (!isfinite(report->residual)) report->end = CT_KRYLOV_BREAKDOWN;
}

// V[j+1] = A M V[j] orthogonalised against V[0..j]; column j of the Hessenberg matrix goes to R. Returns its
// last entry.
static double gmres_expand(const ct_krylov_def* def, ct_krylov_work* s, int j) {
    size_t n = s->n;
    double *column = s->R + (size_t)j * (size_t)(s->restart + 1), *z = j < KEPT ? s->Z + (size_t)j * n : s->z;
    precondition(def, s->V + (size_t)j * n, z);
    def->apply(z, s->Ap, def->user);
    for (int i = 0; i <= j; i++) {
        column[i] = ct_vecn_blas_dot(s->V + (size_t)i * n, s->Ap, n);
        ct_vecn_axpy(s->Ap, -column[i], s->V + (size_t)i * n, n);
    }
    double length = ct_vecn_blas_norm(s->Ap, n);
    double* next = s->V + (size_t)(j + 1) * n;
    for (size_t i = 0; i < n; i++) next[i] = length > 0 ? s->Ap[i] / length : 0;
    return length;
}

// Rotates the new column into the triangle; returns the residual norm, or a negative number when the column
// is useless.
static double gmres_rotate(ct_krylov_work* s, int j, double below) {
    double* column = s->R + (size_t)j * (size_t)(s->restart + 1);
    for (int i = 0; i < j; i++) {
        double upper = column[i], lower = column[i + 1];
        column[i] = s->cosine[i] * upper + s->sine[i] * lower;
        column[i + 1] = -s->sine[i] * upper + s->cosine[i] * lower;
    }
    double length = hypot(column[j], below);
    if (!(length > 0) || !isfinite(length)) return -1;
    s->cosine[j] = column[j] / length;
    s->sine[j] = below / length;
    column[j] = length;
    s->g[j + 1] = -s->sine[j] * s->g[j];
    s->g[j] *= s->cosine[j];
    return fabs(s->g[j + 1]);
}

// x += M V y with R y = g
static void gmres_correct(const ct_krylov_def* def, ct_krylov_work* s, int count, double* x) {
    for (int i = count - 1; i >= 0; i--) {
        for (int k = i + 1; k < count; k++)
            s->g[i] -= s->R[(size_t)k * (size_t)(s->restart + 1) + (size_t)i] * s->g[k];
        s->g[i] /= s->R[(size_t)i * (size_t)(s->restart + 1) + (size_t)i];
    }
    for (int i = 0; i < count && i < KEPT; i++) ct_vecn_axpy(x, s->g[i], s->Z + (size_t)i * s->n, s->n);
    if (count <= KEPT) return;
    memset(s->Ap, 0, s->n * sizeof(double));
    for (int i = KEPT; i < count; i++) ct_vecn_axpy(s->Ap, s->g[i], s->V + (size_t)i * s->n, s->n);
    precondition(def, s->Ap, s->z);
    ct_vecn_axpy(x, 1, s->z, s->n);
}

// V[0] = r/|r|, r = b - A x; returns |r|.
static double gmres_start(const ct_krylov_def* def, ct_krylov_work* s, const double* b, const double* x,
                          int* products) {
    residual(def, b, x, s->V, products);
    double length = ct_vecn_blas_norm(s->V, s->n);
    for (size_t i = 0; i < s->n && length > 0; i++) s->V[i] /= length;
    s->g[0] = length;
    s->told = 0;
    return length;
}

void ct_gmres_residual(const ct_krylov_work* s, double* r) {
    // what is left of the rotated right-hand side, rotated back
    memset(r, 0, s->n * sizeof(double));
    double lower = s->g[s->told];
    for (int i = s->told; i >= 0; i--) {
        const double along = i > 0 ? s->cosine[i - 1] * lower : lower;
        ct_vecn_axpy(r, along, s->V + (size_t)i * s->n, s->n);
        if (i > 0) lower *= -s->sine[i - 1];
    }
}

void ct_gmres(const ct_krylov_def* def, ct_krylov_work* work, const double* b, double* x,
              ct_krylov_report* report) {
    assert(def->n >= 0 && (size_t)def->n <= work->capacity && work->restart > 0);
    work->n = (size_t)def->n;
    *report = (ct_krylov_report){.end = CT_KRYLOV_LIMIT};
    const double size = ct_vecn_blas_norm(b, work->n);
    report->initial = gmres_start(def, work, b, x, &report->iterations);
    // a start that is worse than none
    if (!(report->initial <= size)) {
        memset(x, 0, work->n * sizeof(double));
        report->initial = gmres_start(def, work, b, x, &report->iterations);
    }
    report->residual = report->initial;
    const double target = fmax(def->relative * report->initial, def->tolerance);
    const bool trust = target >= trusted * size;
    const int cycle = def->cycle > 0 && def->cycle < work->restart ? def->cycle : work->restart;
    bool broken = false;
    while (report->residual > target && report->iterations < def->max_iterations && !broken) {
        // one cycle: the space grows until it is full, the residual is small or the iterations are spent
        int count = 0;
        double estimate = report->residual;
        while (count < cycle && report->iterations < def->max_iterations && estimate > target) {
            double below = gmres_expand(def, work, count);
            report->iterations++;
            estimate = gmres_rotate(work, count, below);
            broken = estimate < 0;
            if (broken) break;
            count++;
        }
        if (count) gmres_correct(def, work, count, x);
        if (trust && count <= KEPT && estimate >= 0 && estimate <= target) {
            work->told = count;
            report->residual = estimate;
            break;
        }
        report->residual = gmres_start(def, work, b, x, &report->iterations);
    }
    if (report->residual <= target) report->end = CT_KRYLOV_CONVERGED;
    else if (broken || !isfinite(report->residual)) report->end = CT_KRYLOV_BREAKDOWN;
}
