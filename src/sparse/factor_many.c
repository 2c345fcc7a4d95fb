// Several right-hand sides at once; see factor.h and factor_many.h.
//
// A group of up to 16 right-hand sides sweeps over all panels on one thread; groups run side by side.
#include "sparse/factor_many.h"

// Right-hand sides in a group at most: with more their vector no longer stays in the cache.
enum { MOST_SIDES = 16 };

extern const ct_many_set ct_many_set_portable;
#ifdef CT_HAVE_X86_KERNELS
extern const ct_many_set ct_many_set_avx2;
extern const ct_many_set ct_many_set_avx512;
#endif

const ct_many_set* ct_many_set_for(ct_isa isa) {
    switch (isa) {
#ifdef CT_HAVE_X86_KERNELS
    case CT_ISA_AVX512: return &ct_many_set_avx512;
    case CT_ISA_AVX2: return &ct_many_set_avx2;
#endif
    default: return &ct_many_set_portable;
    }
}

float* ct_many_rows_of(const ct_factor* factor, const ct_factor_many* many, int task) {
    return many->rows + (size_t)task * (size_t)factor->symbolic->max_rows * CT_MANY_LANES;
}

ct_many_sweep ct_many_sweep_of(const ct_factor* factor, const ct_factor_many* many, int worker) {
    const ct_symbolic* symbolic = factor->symbolic;
    return (ct_many_sweep){
        .below = symbolic->below,
        .tile = factor->values.tile,
        .pivot = factor->values.pivot,
        .vector = many->vector + (size_t)worker * 3 * (size_t)symbolic->n * CT_MANY_LANES,
        .rows = ct_many_rows_of(factor, many, worker),
    };
}

typedef struct many_job {
    const ct_factor* factor;
    const ct_factor_many* many;
    int nworker, count, share;  // share: right-hand sides in a group
    const double* b;
    double* x;
} many_job;

// vector <- S b / unit, lane by lane
static void load_lanes(const many_job* job, int first, int count, int lanes, double* unit, float* vector) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    size_t n = (size_t)symbolic->n;
    for (int l = 0; l < lanes; l++)
        unit[l] = l < count ? ct_factor_unit(job->b + 3 * n * (size_t)(first + l), 3 * n) : 1;
    for (size_t k = 0; k < n; k++) {
        const double* b = job->b + 3 * n * (size_t)first + 3 * (size_t)symbolic->node[k];
        float* target = vector + 3 * k * (size_t)lanes;
        for (int l = 0; l < count; l++) {
            double s = job->factor->values.scale[k] / unit[l];
            for (int a = 0; a < 3; a++) target[a * lanes + l] = (float)(b[3 * n * (size_t)l + (size_t)a] * s);
        }
        for (int l = count; l < lanes; l++)
            for (int a = 0; a < 3; a++) target[a * lanes + l] = 0;
    }
}

// x <- unit S vector
static void store_lanes(const many_job* job, int first, int count, int lanes, const double* unit,
                        const float* vector) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    size_t n = (size_t)symbolic->n;
    for (size_t k = 0; k < n; k++) {
        double* x = job->x + 3 * n * (size_t)first + 3 * (size_t)symbolic->node[k];
        const float* source = vector + 3 * k * (size_t)lanes;
        for (int l = 0; l < count; l++) {
            double s = job->factor->values.scale[k] * unit[l];
            for (int a = 0; a < 3; a++) x[3 * n * (size_t)l + (size_t)a] = s * (double)source[a * lanes + l];
        }
    }
}

static void solve_group(const many_job* job, const ct_many_sweep* sweep, int first, int count) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    int vectors = (count + 7) / 8;
    const ct_many_kernels* kernels =
        &ct_many_set_for(job->factor->isa)->kernels[job->factor->values.precision][vectors - 1];
    double unit[MOST_SIDES];
    load_lanes(job, first, count, 8 * vectors, unit, sweep->vector);
    for (int i = 0; i < symbolic->npanel; i++) kernels->forward(sweep, &symbolic->panel[i], 0, NULL);
    for (int i = symbolic->npanel - 1; i >= 0; i--) kernels->backward(sweep, &symbolic->panel[i], false);
    store_lanes(job, first, count, 8 * vectors, unit, sweep->vector);
}

static void solve_worker(int worker, void* user) {
    const many_job* job = user;
    ct_many_sweep sweep = ct_many_sweep_of(job->factor, job->many, worker);
    for (int first = worker * job->share; first < job->count; first += job->nworker * job->share) {
        int left = job->count - first;
        solve_group(job, &sweep, first, left < job->share ? left : job->share);
    }
}

ct_status ct_factor_solve_many(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, int count,
                               const double* b, double* x) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (symbolic->n == 0 || count <= 0) return CT_OK;
    // full groups, but work for every thread
    int nworker = ct_threads_count(threads), share = (count + nworker - 1) / nworker;
    share = share > MOST_SIDES ? MOST_SIDES : (share + 7) / 8 * 8;
    int ngroup = (count + share - 1) / share;
    if (nworker > ngroup) nworker = ngroup;
    ct_factor_many* many = ct_factor_many_reserve(work, symbolic, nworker);
    if (!many) return CT_OUT_OF_MEMORY;
    many_job job = {
        .factor = factor, .many = many, .nworker = nworker, .count = count, .share = share, .b = b, .x = x};
    ct_threads_run(threads, nworker, solve_worker, &job);
    return CT_OK;
}
