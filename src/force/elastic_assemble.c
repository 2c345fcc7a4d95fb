// Assembled Hessians of the tets: sum of G^T (d(V P)/dF) G over elements, G the gradients of the shape
// functions. How they are made positive semi-definite: elastic_element.h.
#include "force/elastic_data.h"

enum { PAIR_COUNT = CT_CELL_NODES * (CT_CELL_NODES + 1) / 2 };  // of nodes of an element, at most

// Gradients of the shape functions of a lane, and its nodes. Linear: rows of Dm^-1, and minus their sum for
// node 0. Returns how many.
static int shape_gradients(const ct_elastic* elastic, int b, int lane, double gradient[CT_CELL_NODES][3],
                           int node[CT_CELL_NODES]) {
    const ct_elastic_block* block = elastic->block + b;
    if (b >= elastic->second) {
        const int c = (b - elastic->second) / CT_CELL_POINTS;
        double slope[CT_CELL_NODES][3];
        ct_cell_slopes((b - elastic->second) % CT_CELL_POINTS, slope);
        for (int a = 0; a < CT_CELL_NODES; a++) {
            node[a] = elastic->cell[c].node[a][lane];
            for (int j = 0; j < 3; j++)
                gradient[a][j] = slope[a][0] * block->inverse[j][lane] +
                                 slope[a][1] * block->inverse[3 + j][lane] +
                                 slope[a][2] * block->inverse[6 + j][lane];
        }
        return CT_CELL_NODES;
    }
    for (int a = 0; a < 4; a++) node[a] = block->node[a][lane];
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) gradient[k + 1][j] = block->inverse[3 * k + j][lane];
        gradient[0][j] = -(gradient[1][j] + gradient[2][j] + gradient[3][j]);
    }
    return 4;
}

typedef struct block_hessian {
    _Alignas(64) double linear[CT_LINEAR_LONGEST * CT_BLOCK];
    _Alignas(64) double value[81 * CT_BLOCK];    // all
    _Alignas(64) double elastic[81 * CT_BLOCK];  // without damping, when projected
    _Alignas(64) double bases[CT_LINEAR_PROJECTIVE * CT_BLOCK];
    _Alignas(64) double gradient[3 * CT_CELL_NODES * CT_BLOCK];
    _Alignas(64) double nodes[9 * PAIR_COUNT * CT_BLOCK];  // G^T H G
} block_hessian;

// The elastic part of h->value made semi-definite.
static void project_elastic(const ct_elastic* elastic, const ct_elastic_pass* pass, int energy, int b,
                            block_hessian* h) {
    const ct_elastic_kernels* kernels = elastic->kernels;
    ct_elastic_pass undamped = *pass;
    undamped.rate = NULL;
    if (pass->rate) kernels->hessian[energy](&undamped, b, h->linear, h->elastic);
    const double* part = pass->rate ? h->elastic : h->value;
    if (kernels->is_positive(part)) return;
    // U and V, as the projective energy's linearisation begins
    kernels->linearise[b >= elastic->second][CT_ENERGY_PROJECTIVE](&undamped, b, 1, h->bases);
    if (!pass->rate) {
        kernels->project(h->bases, h->value);
        return;
    }
    for (int i = 0; i < 81 * CT_BLOCK; i++) h->value[i] -= h->elastic[i];
    kernels->project(h->bases, h->elastic);
    for (int i = 0; i < 81 * CT_BLOCK; i++) h->value[i] += h->elastic[i];
}

static void block_compute(const ct_elastic* elastic, const ct_elastic_pass* pass, int energy, int b,
                          bool project, double scale, block_hessian* h) {
    const ct_elastic_kernels* kernels = elastic->kernels;
    kernels->linearise[b >= elastic->second][energy](pass, b, 1, h->linear);
    if (project && pass->rate)
        kernels->positive_stress(h->linear + (ct_elastic_linear_size(energy) + 9) * CT_BLOCK);
    kernels->hessian[energy](pass, b, h->linear, h->value);
    if (project) project_elastic(elastic, pass, energy, b, h);
    for (int i = 0; scale != 0 && i < 81 * CT_BLOCK; i++)
        h->value[i] *= 1 + scale * elastic->beta[b * CT_BLOCK + i % CT_BLOCK];
}

static void add_block(const ct_elastic* elastic, int b, block_hessian* h, const int* unknown,
                      ct_block_matrix* matrix) {
    int node[CT_BLOCK][CT_CELL_NODES], count = 0;
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        double gradient[CT_CELL_NODES][3];
        count = shape_gradients(elastic, b, lane, gradient, node[lane]);
        for (int i = 0; i < 3 * count; i++) h->gradient[i * CT_BLOCK + lane] = gradient[i / 3][i % 3];
    }
    elastic->kernels->nodes(h->value, h->gradient, count, h->nodes);
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        if (elastic->lane_tet[b * CT_BLOCK + lane] < 0) continue;
        const double* from = h->nodes + lane;
        for (int j = 0; j < count; j++)
            for (int i = j; i < count; i++, from += 9 * CT_BLOCK) {
                double value[9];
                for (int k = 0; k < 9; k++) value[k] = from[k * CT_BLOCK];
                ct_block_matrix_add(matrix, unknown[node[lane][i]], unknown[node[lane][j]], value);
            }
    }
}

void ct_elastic_assemble(const ct_elastic* elastic, ct_elastic_work* work, const double* x, bool project,
                         const int* unknown, ct_block_matrix* matrix) {
    // at rest every energy is Hooke's law and damping is beta c times the same matrix
    const bool damped = elastic->damped && work->c > 0;
    const double scale = damped && !x ? work->c : 0;
    const ct_elastic_pass pass = {.block = elastic->block,
                                  .cell = elastic->cell,
                                  .second = elastic->second,
                                  .x = x ? x : elastic->rest,
                                  .beta = elastic->beta,
                                  .rate = damped && x ? work->rate : NULL,
                                  .c = work->c};
    block_hessian h;
    for (int k = 0; k < elastic->nchunk; k++) {
        const ct_elastic_chunk* chunk = elastic->chunk + k;
        for (int b = chunk->first; b < chunk->first + chunk->count; b++) {
            block_compute(elastic, &pass, chunk->energy, b, project && x, scale, &h);
            add_block(elastic, b, &h, unknown, matrix);
        }
    }
}

void ct_elastic_assemble_laplacian(const ct_elastic* elastic, const int* unknown, ct_block_matrix* matrix) {
    for (int k = 0; k < elastic->nchunk; k++) {
        const ct_elastic_chunk* chunk = elastic->chunk + k;
        if (chunk->energy != CT_ENERGY_PROJECTIVE) continue;
        for (int lane = chunk->first * CT_BLOCK; lane < (chunk->first + chunk->count) * CT_BLOCK; lane++) {
            if (elastic->lane_tet[lane] < 0) continue;
            const ct_elastic_block* block = elastic->block + lane / CT_BLOCK;
            const int l = lane % CT_BLOCK;
            const double weight = 2 * block->mu[l] + 3 * block->lambda[l];
            double g[CT_CELL_NODES][3];
            int node[CT_CELL_NODES];
            const int count = shape_gradients(elastic, lane / CT_BLOCK, l, g, node);
            for (int a = 0; a < count; a++)
                for (int b = 0; b <= a; b++) {
                    const double w = weight * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
                    const double value[9] = {w, 0, 0, 0, w, 0, 0, 0, w};
                    ct_block_matrix_add(matrix, unknown[node[a]], unknown[node[b]], value);
                }
        }
    }
}
