// CMA-ES: covariance matrix adaptation (Hansen, "The CMA evolution strategy: a tutorial", 2016; positive
// weights alone).
//
// A generation are p samples x_k = m + sigma y_k, y_k ~ N(0, C), C = B D^2 B^T. With the best first and w_k
// the weights of the better half,
//   m <- m + sigma y_w,                                    y_w = sum_k w_k y_k
//   s <- (1 - c_s) s + sqrt(c_s (2 - c_s) u) C^-1/2 y_w,   u = 1 / sum_k w_k^2
//   c <- (1 - c_c) c + h sqrt(c_c (2 - c_c) u) y_w,        h = 0 where |s| is large, else 1
//   C <- (1 - c_1' - c_m) C + c_1 c c^T + c_m sum_k w_k y_k y_k^T
//   sigma <- sigma exp(c_s / d_s (|s| / E|N(0, I)| - 1))
// C is decomposed only when it has changed noticeably. It takes n^2 numbers and n^3 operations, so above
// FULL_MOST parameters only its diagonal is kept, and learnt (n + 2) / 3 times as fast (Ros and Hansen 2008).
//
// Bounds: a sample is looked at where it is clipped to, and moves the distribution as if it had not been. The
// mean may leave the bounds by REACH standard deviations: then samples of a parameter that wants to stay on
// its bound rarely come off it, and yet those that do can call it back. The paths s and c see how far the
// mean has gone, not how far it wanted to.
//
// First, sigma = spread, C = I except for bounds that are closer than that. The start is looked at together
// with the first generation. Evaluations that fail come last; where all do, the mean goes to the best and
// sigma is halved. Each restart doubles the samples (Auger and Hansen 2005).
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/vecn.h"
#include "optim/search.h"

enum { FULL_MOST = 600, SAMPLES_MOST = 1000000 };
#define REACH 4.0
#define LARGEST_CONDITION 1e14  // of C
#define SMALLEST_STEP 1e-13     // of the standard deviations, relative to the spread

extern void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
                    double* work, const int* lwork, int* iwork, const int* liwork, int* info);

typedef struct ranked {
    double loss;
    int index;
} ranked;

typedef struct cmaes {
    ct_search* search;
    int n, samples, parents;
    bool full;
    double* weight;  // parents
    double mass;     // u
    double c_s, d_s, c_c, c_1, c_m, expected;
    double sigma;
    double *mean, *moved, *s, *c, *t;  // n; moved: y_w, t: scratch
    double* D;                         // n: square roots of C's eigenvalues, or of its diagonal
    // n x n, column by column, lower triangle of C; NULL: the diagonal alone, which is D^2
    double *C, *B;
    double *y, *x;  // samples x n each; x: one row more, the start before them
    double* z;      // samples x n, scratch of the whole C
    double* loss;   // samples + 1
    ranked* order;  // samples
    double* work;   // of the decomposition
    int* iwork;
    int work_size, iwork_size;
    int generation, decomposed;  // since the beginning, and when C was decomposed
    double* recent;              // best of each of the last `window` generations
    int window;
} cmaes;

// ---- preparation ---------------------------------------------------------------------------

static void choose_weights(cmaes* e) {
    double sum = 0, squares = 0;
    for (int k = 0; k < e->parents; k++) sum += e->weight[k] = log(0.5 * (e->samples + 1)) - log(k + 1);
    for (int k = 0; k < e->parents; k++) {
        e->weight[k] /= sum;
        squares += e->weight[k] * e->weight[k];
    }
    e->mass = 1 / squares;
}

static void choose_rates(cmaes* e) {
    double n = e->n, u = e->mass;
    e->c_s = (u + 2) / (n + u + 5);
    e->d_s = 1 + 2 * fmax(0, sqrt((u - 1) / (n + 1)) - 1) + e->c_s;
    e->c_c = (4 + u / n) / (n + 4 + 2 * u / n);
    double faster = e->full ? 1 : (n + 2) / 3;
    e->c_1 = fmin(1, faster * 2 / ((n + 1.3) * (n + 1.3) + u));
    e->c_m = fmin(1 - e->c_1, faster * 2 * (u - 2 + 1 / u) / ((n + 2) * (n + 2) + u));
    e->expected = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static void set_start(cmaes* e) {
    const ct_search* search = e->search;
    e->sigma = search->def.spread;
    memcpy(e->mean, search->y, (size_t)e->n * sizeof(double));
    for (int i = 0; i < e->n; i++) {
        double room = search->upper[i] - search->lower[i];
        e->D[i] = room > 0 ? fmin(1, 0.25 * room / e->sigma) : 1;
        if (!e->full) continue;
        size_t diagonal = (size_t)i * (size_t)e->n + (size_t)i;
        e->C[diagonal] = e->D[i] * e->D[i];
        e->B[diagonal] = 1;
    }
}

static void size_decomposition(cmaes* e) {
    double size;
    int isize, query = -1, info;
    dsyevd_("V", "L", &e->n, NULL, &e->n, NULL, &size, &query, &isize, &query, &info);
    e->work_size = (int)size;
    e->iwork_size = isize;
}

static bool allocate(cmaes* e, ct_arena* arena) {
    size_t n = (size_t)e->n, samples = (size_t)e->samples;
    double** vectors[] = {&e->mean, &e->moved, &e->s, &e->c, &e->t, &e->D};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        *vectors[k] = ct_arena_alloc(arena, n, sizeof(double));
    e->weight = ct_arena_alloc(arena, (size_t)e->parents, sizeof(double));
    e->y = ct_arena_alloc(arena, samples * n, sizeof(double));
    e->x = ct_arena_alloc(arena, (samples + 1) * n, sizeof(double));
    e->loss = ct_arena_alloc(arena, samples + 1, sizeof(double));
    e->order = ct_arena_alloc(arena, samples, sizeof(ranked));
    e->recent = ct_arena_alloc(arena, (size_t)e->window, sizeof(double));
    if (!e->full) return !arena->failed;
    size_decomposition(e);
    e->z = ct_arena_alloc(arena, samples * n, sizeof(double));
    e->C = ct_arena_alloc(arena, n * n, sizeof(double));
    e->B = ct_arena_alloc(arena, n * n, sizeof(double));
    e->work = ct_arena_alloc(arena, (size_t)e->work_size, sizeof(double));
    e->iwork = ct_arena_alloc(arena, (size_t)e->iwork_size, sizeof(int));
    return !arena->failed;
}

// ---- one generation ------------------------------------------------------------------------

// y_k = B D z_k, x_k = clamp(m + sigma y_k)
static void sample(cmaes* e) {
    int n = e->n;
    const ct_search* search = e->search;
    double* scaled = e->full ? e->z : e->y;
    for (int k = 0; k < e->samples; k++)
        for (int i = 0; i < n; i++)
            scaled[(size_t)k * (size_t)n + (size_t)i] = e->D[i] * ct_rng_normal(&e->search->random);
    if (e->full)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, e->samples, n, 1, e->B, n, e->z, n, 0, e->y,
                    n);
    for (int k = 0; k < e->samples; k++) {
        const double* y = e->y + (size_t)k * (size_t)n;
        double* x = e->x + (size_t)(k + 1) * (size_t)n;
        for (int i = 0; i < n; i++)
            x[i] = fmin(fmax(e->mean[i] + e->sigma * y[i], search->lower[i]), search->upper[i]);
    }
}

static int compare(const void* a, const void* b) {
    const ranked *p = a, *q = b;
    if (p->loss != q->loss) return p->loss < q->loss ? -1 : 1;
    return p->index - q->index;
}

// Samples from best to worst. Returns how many converged.
static int rank(cmaes* e) {
    int converged = 0;
    for (int k = 0; k < e->samples; k++) {
        e->order[k] = (ranked){e->loss[k + 1], k};
        converged += e->loss[k + 1] < INFINITY;
    }
    qsort(e->order, (size_t)e->samples, sizeof *e->order, compare);
    return converged;
}

static const double* ranked_y(const cmaes* e, int k) {
    return e->y + (size_t)e->order[k].index * (size_t)e->n;
}

static double deviation(const cmaes* e, int i) {
    return e->full ? sqrt(e->C[(size_t)i * (size_t)e->n + (size_t)i]) : e->D[i];
}

// m <- m + sigma y_w, at most REACH deviations out of the bounds; moved: what it comes to in units of sigma
static void move_mean(cmaes* e, int parents, double total) {
    const ct_search* search = e->search;
    memset(e->moved, 0, (size_t)e->n * sizeof(double));
    for (int k = 0; k < parents; k++) {
        const double* y = ranked_y(e, k);
        for (int i = 0; i < e->n; i++) e->moved[i] += e->weight[k] / total * y[i];
    }
    for (int i = 0; i < e->n; i++) {
        double out = REACH * e->sigma * deviation(e, i), before = e->mean[i];
        e->mean[i] =
            fmin(fmax(before + e->sigma * e->moved[i], search->lower[i] - out), search->upper[i] + out);
        e->moved[i] = (e->mean[i] - before) / e->sigma;
    }
}

// t = C^-1/2 moved = B D^-1 B^T moved
static void whiten(cmaes* e) {
    int n = e->n;
    if (!e->full) {
        for (int i = 0; i < n; i++) e->t[i] = e->moved[i] / e->D[i];
        return;
    }
    cblas_dgemv(CblasColMajor, CblasTrans, n, n, 1, e->B, n, e->moved, 1, 0, e->z, 1);
    for (int i = 0; i < n; i++) e->z[i] /= e->D[i];
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, n, 1, e->B, n, e->z, 1, 0, e->t, 1);
}

// Returns h.
static double lengthen_paths(cmaes* e) {
    double a = sqrt(e->c_s * (2 - e->c_s) * e->mass), b = sqrt(e->c_c * (2 - e->c_c) * e->mass);
    whiten(e);
    for (int i = 0; i < e->n; i++) e->s[i] = (1 - e->c_s) * e->s[i] + a * e->t[i];
    double length = ct_vecn_norm(e->s, (size_t)e->n),
           filled = sqrt(1 - pow(1 - e->c_s, 2 * (e->generation + 1)));
    double h = length / filled < (1.4 + 2.0 / (e->n + 1)) * e->expected;
    for (int i = 0; i < e->n; i++) e->c[i] = (1 - e->c_c) * e->c[i] + h * b * e->moved[i];
    e->sigma *= exp(fmin(1, e->c_s / e->d_s * (length / e->expected - 1)));
    return h;
}

static void adapt_diagonal(cmaes* e, int parents, double total, double keep) {
    for (int i = 0; i < e->n; i++) {
        double variance = keep * e->D[i] * e->D[i] + e->c_1 * e->c[i] * e->c[i];
        for (int k = 0; k < parents; k++) {
            double y = ranked_y(e, k)[i];
            variance += e->c_m * e->weight[k] / total * y * y;
        }
        e->D[i] = sqrt(variance);
    }
}

static void adapt(cmaes* e, int parents, double total, double h) {
    int n = e->n;
    double keep = 1 - e->c_1 * (1 - (1 - h) * e->c_c * (2 - e->c_c)) - e->c_m;
    if (!e->full) {
        adapt_diagonal(e, parents, total, keep);
        return;
    }
    for (int k = 0; k < parents; k++)
        for (int i = 0; i < n; i++)
            e->z[(size_t)k * (size_t)n + (size_t)i] = sqrt(e->weight[k] / total) * ranked_y(e, k)[i];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, parents, e->c_m, e->z, n, keep, e->C, n);
    cblas_dsyr(CblasColMajor, CblasLower, n, e->c_1, e->c, 1, e->C, n);
}

// C = B D^2 B^T if it has changed enough since; false: it has become singular.
static bool decompose(cmaes* e) {
    int n = e->n, info;
    if (e->full && (e->generation - e->decomposed) * (e->c_1 + e->c_m) * n * 10 >= 1) {
        e->decomposed = e->generation;
        memcpy(e->B, e->C, (size_t)n * (size_t)n * sizeof(double));
        dsyevd_("V", "L", &n, e->B, &n, e->D, e->work, &e->work_size, e->iwork, &e->iwork_size, &info);
        if (info != 0) return false;
        for (int i = 0; i < n; i++) e->D[i] = sqrt(fmax(e->D[i], 0));
    }
    double least = INFINITY, most = 0;
    for (int i = 0; i < n; i++) {
        least = fmin(least, e->D[i]);
        most = fmax(most, e->D[i]);
    }
    return isfinite(most) && most * most < LARGEST_CONDITION * least * least;
}

// ---- the search ----------------------------------------------------------------------------

static void update(cmaes* e, int converged) {
    int parents = converged < e->parents ? converged : e->parents;
    double total = 0;
    if (parents == 0) {
        memcpy(e->mean, e->search->best_y, (size_t)e->n * sizeof(double));
        e->sigma *= 0.5;
        return;
    }
    for (int k = 0; k < parents; k++) total += e->weight[k];
    move_mean(e, parents, total);
    adapt(e, parents, total, lengthen_paths(e));
}

// The best of the last generations differ by less than the tolerance.
static bool is_settled(cmaes* e) {
    double least = INFINITY, most = -INFINITY, tolerance = e->search->def.tolerance;
    e->recent[e->generation % e->window] = e->order[0].loss;
    if (tolerance == 0 || e->generation + 1 < e->window) return false;
    for (int k = 0; k < e->window; k++) {
        least = fmin(least, e->recent[k]);
        most = fmax(most, e->recent[k]);
    }
    return most - least <= tolerance * fabs(least);
}

static bool has_collapsed(const cmaes* e) {
    double most = 0;
    for (int i = 0; i < e->n; i++) most = fmax(most, e->D[i]);
    return !(e->sigma * most > SMALLEST_STEP * e->search->def.spread);
}

static void evolve(cmaes* e) {
    ct_search* search = e->search;
    memcpy(e->x, search->y, (size_t)e->n * sizeof(double));
    for (; !search->stop && !search->reason; e->generation++) {
        int skip = e->generation > 0;  // the start is looked at once
        sample(e);
        ct_search_evaluate_many(search, e->samples + 1 - skip, e->x + (skip ? e->n : 0), e->loss + skip);
        if (search->stop) return;
        update(e, rank(e));
        if (is_settled(e)) search->reason = "the loss changes by less than the tolerance";
        else if (!decompose(e) || has_collapsed(e)) search->reason = "round-off allows no further progress";
    }
}

// Samples of a generation, twice as many with every restart.
static int count_samples(const ct_search* search) {
    double count = search->def.population > 0 ? search->def.population : 4 + floor(3 * log(search->size));
    return (int)fmin(fmin(ldexp(count, search->round), fmax(count, search->def.iterations)), SAMPLES_MOST);
}

ct_status ct_search_cmaes(ct_search* search) {
    int samples = count_samples(search);
    ct_arena arena = {0};
    cmaes e = {.search = search,
               .n = search->size,
               .samples = samples,
               .parents = samples / 2,
               .full = search->size <= FULL_MOST,
               .window = 10 + (int)fmin(search->def.iterations, ceil(30.0 * search->size / samples))};
    ct_status status =
        allocate(&e, &arena) ? CT_OK : ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    if (status == CT_OK) {
        ct_blas_begin();
        choose_weights(&e);
        choose_rates(&e);
        set_start(&e);
        evolve(&e);
        ct_blas_end();
    }
    ct_arena_free(&arena);
    return status;
}
