// The solve; see factor.h for the contract and factor_layout.h for the formulas.
//
// The parts' forward sweeps run side by side, then the top both ways, then the parts' backward sweeps. What
// parts add to the top is collected in their own borders and summed in the order of the parts. Large panels
// of the top are shared among the threads by rows (forward) and by columns (backward), whose sums are
// independent. So the bits never depend on the number of threads.
#include <math.h>
#include <string.h>

#include "sparse/factor_layout.h"
#include "sparse/factor_many.h"

// Panels of the top with fewer values than this are not worth waking the threads for.
enum { SHARED_VALUES = 150000 };

typedef struct solve_job {
    const ct_factor* factor;
    const ct_factor_kernels* kernels;
    ct_factor_work* work;
    const double* b;
    double* x;
    // power of two near the largest entry of b: single precision then neither over- nor underflows
    double unit;
} solve_job;

static ct_sweep part_sweep(const solve_job* job, int p) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part* part = &symbolic->part[p];
    return (ct_sweep){
        .panel = symbolic->panel + part->first_panel,
        .npanel = part->npanel,
        .index = symbolic->index,
        .tile = job->factor->values.tile,
        .pivot = job->factor->values.pivot + 4 * (size_t)part->first_node,
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
    const double* scale = job->factor->values.scale + part->first_node;
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
    const double* scale = job->factor->values.scale + part->first_node;
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

// From the last part to the first: each sweep begins with what the other has just left in the cache.
static void backward_part(int i, void* user) {
    const solve_job* job = user;
    const ct_symbolic* symbolic = job->factor->symbolic;
    const int p = symbolic->npart - 2 - i;
    const ct_part *part = &symbolic->part[p], *top = &symbolic->part[symbolic->npart - 1];
    float* border = job->work->vector + 4 * (part->vector + (size_t)part->nnode);
    const float* source = job->work->vector + 4 * top->vector;
    const int* position = symbolic->border + part->border;
    for (int i = 0; i < part->nborder; i++)
        memcpy(border + 4 * i, source + 4 * (size_t)position[i], 4 * sizeof(float));
    ct_sweep sweep = part_sweep(job, p);
    job->kernels->backward(&sweep);
    store_part(job, p);
}

// One large panel, cut into as many pieces as there are threads.
typedef struct shared_panel {
    const ct_factor_kernels* kernels;
    const ct_sweep* sweep;
    const ct_panel* panel;
    int count;  // pieces
} shared_panel;

static void share_rows(int piece, void* user) {
    const shared_panel* shared = user;
    long tiles = shared->panel->rows / CT_TILE_ROWS;
    int begin = (int)(tiles * piece / shared->count), end = (int)(tiles * (piece + 1) / shared->count);
    shared->kernels->forward_rows(shared->sweep, shared->panel, begin * CT_TILE_ROWS, end * CT_TILE_ROWS);
}

static void share_columns(int piece, void* user) {
    const shared_panel* shared = user;
    long width = shared->panel->width;
    int begin = (int)(width * piece / shared->count), end = (int)(width * (piece + 1) / shared->count);
    shared->kernels->backward_columns(shared->sweep, shared->panel, begin, end);
}

static bool worth_sharing(const ct_panel* panel) {
    return (long)panel->width * 3 * (panel->rows - 3 * panel->width / 2) >= SHARED_VALUES;
}

// Both sweeps over the panels of the top with the threads on the large ones.
static void sweep_shared(const solve_job* job, const ct_sweep* top, ct_threads* threads) {
    const ct_factor_kernels* kernels = job->kernels;
    shared_panel shared = {.kernels = kernels, .sweep = top, .count = ct_threads_count(threads)};
    for (int i = 0; i < top->npanel; i++) {
        shared.panel = &top->panel[i];
        if (worth_sharing(shared.panel)) ct_threads_run(threads, shared.count, share_rows, &shared);
        else kernels->forward_rows(top, shared.panel, 0, shared.panel->rows);
        kernels->forward_scatter(top, shared.panel);
    }
    for (int i = top->npanel - 1; i >= 0; i--) {
        shared.panel = &top->panel[i];
        kernels->backward_gather(top, shared.panel);
        if (worth_sharing(shared.panel)) ct_threads_run(threads, shared.count, share_columns, &shared);
        else kernels->backward_columns(top, shared.panel, 0, shared.panel->width);
    }
}

// The top: collects the borders in the order of the parts, then sweeps both ways.
static void solve_top(const solve_job* job, ct_threads* threads) {
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
    if (ct_threads_count(threads) > 1) {
        sweep_shared(job, &sweep, threads);
    } else {
        job->kernels->forward(&sweep);
        job->kernels->backward(&sweep);
    }
    store_part(job, top);
}

double ct_factor_unit(const double* b, size_t count) {
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

void ct_factor_solve(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, const double* b,
                     double* x) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (symbolic->n == 0) return;
    solve_job job = {
        .factor = factor,
        .kernels = ct_factor_kernels_for(factor->isa, factor->values.precision),
        .work = work,
        .b = b,
        .x = x,
        .unit = ct_factor_unit(b, 3 * (size_t)symbolic->n),
    };
    ct_threads_run(threads, symbolic->npart - 1, forward_part, &job);
    solve_top(&job, threads);
    ct_threads_run(threads, symbolic->npart - 1, backward_part, &job);
}
