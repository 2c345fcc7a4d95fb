// Assembled Hessians of the tets: sum of G^T (d(V P)/dF) G over elements, G the gradients of the shape
// functions.
//
// Projection: an isotropic energy's dP/dF is block-diagonal in the singular basis of F = U diag(s) V^T, with
// a 3x3 block on the diagonal entries and, for each pair of axes, a symmetric and a skew mode (U (e_i e_j^T
// +- e_j e_i^T) V^T / sqrt 2). Each negative eigenvalue is raised to zero by a rank-one update along its
// mode. The damping's geometric part dF sigma becomes semi-definite with the positive part of sigma.
#include <math.h>
#include <string.h>

#include "force/elastic_data.h"
#include "math/svd3.h"
#include "math/vecn.h"

typedef double matrix9[9][9];

// The singular bases of a block of tets: U, then V, lanes together, as the projective energy's linearisation
// begins.
typedef struct block_bases {
    _Alignas(64) double value[CT_LINEAR_PROJECTIVE * CT_BLOCK];
    bool filled;
} block_bases;

// vector += scale u_i v_j^T, as nine numbers.
static void add_mode(const block_bases* bases, int lane, int i, int j, double scale, double vector[9]) {
    const double *U = bases->value + lane, *V = U + 9 * CT_BLOCK;
    for (int a = 0; a < 3; a++) {
        const double u = scale * U[(3 * a + i) * CT_BLOCK];
        for (int b = 0; b < 3; b++) vector[3 * a + b] += u * V[(3 * b + j) * CT_BLOCK];
    }
}

static void multiply9(matrix9 H, const double v[9], double out[9]) {
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int j = 0; j < 9; j++) out[i] += H[i][j] * v[j];
    }
}

// H += amount v v^T
static void raise_mode(matrix9 H, double amount, const double v[9]) {
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) H[i][j] += amount * v[i] * v[j];
}

static void project_pairs(matrix9 H, const block_bases* bases, int lane) {
    for (int pair = 0; pair < 3; pair++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int i = pair == 2, j = pair == 0 ? 1 : 2;
            double v[9] = {0}, Hv[9];
            add_mode(bases, lane, i, j, M_SQRT1_2, v);
            add_mode(bases, lane, j, i, sign * M_SQRT1_2, v);
            multiply9(H, v, Hv);
            const double value = ct_vecn_dot(v, Hv, 9);
            if (value < 0) raise_mode(H, -value, v);
        }
}

static void project_diagonal(matrix9 H, const block_bases* bases, int lane) {
    double axis[3][9] = {{0}};
    ct_mat3 A, V;
    for (int i = 0; i < 3; i++) add_mode(bases, lane, i, i, 1, axis[i]);
    for (int j = 0; j < 3; j++) {
        double Hv[9];
        multiply9(H, axis[j], Hv);
        for (int i = 0; i < 3; i++) A.a[i][j] = ct_vecn_dot(axis[i], Hv, 9);
    }
    double w[3];
    ct_symmetric3(A, w, &V);
    for (int k = 0; k < 3 && w[k] < 0; k++) {
        double v[9];
        for (int i = 0; i < 9; i++)
            v[i] = V.a[0][k] * axis[0][i] + V.a[1][k] * axis[1][i] + V.a[2][k] * axis[2][i];
        raise_mode(H, -w[k], v);
    }
}

// By elimination: much cheaper than modes, and most tets end here.
static bool is_positive(const double H[9][9]) {
    matrix9 L;
    memcpy(L, H, sizeof L);
    for (int k = 0; k < 9; k++) {
        if (!(L[k][k] > 1e-12 * H[k][k])) return false;
        const double inverse = 1 / L[k][k];
        for (int i = k + 1; i < 9; i++) {
            const double share = L[i][k] * inverse;
            for (int j = k + 1; j <= i; j++) L[i][j] -= share * L[j][k];
        }
    }
    return true;
}

static void project_elastic(const ct_elastic* elastic, const ct_elastic_pass* pass, int b, int lane,
                            block_bases* bases, matrix9 H) {
    if (is_positive((const double(*)[9])H)) return;
    if (!bases->filled) {
        ct_elastic_pass undamped = *pass;
        undamped.rate = NULL;
        elastic->kernels->linearise[b >= elastic->second][CT_ENERGY_PROJECTIVE](&undamped, b, 1,
                                                                                bases->value);
        bases->filled = true;
    }
    project_pairs(H, bases, lane);
    project_diagonal(H, bases, lane);
}

// Replaces the damping stresses of a block's linearisation by their positive parts.
static void project_damper(double* linear, int energy) {
    double(*sigma)[CT_BLOCK] =
        (double(*)[CT_BLOCK])(linear + (ct_elastic_linear_size(energy) + 9) * CT_BLOCK);
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        const double xy = sigma[3][lane], xz = sigma[4][lane], yz = sigma[5][lane];
        double w[3];
        ct_mat3 V;
        ct_symmetric3(
            (ct_mat3){{{sigma[0][lane], xy, xz}, {xy, sigma[1][lane], yz}, {xz, yz, sigma[2][lane]}}}, w, &V);
        for (int k = 0; k < 6; k++) {
            const int i = k < 3 ? k : k == 5, j = k < 3 ? k : k == 3 ? 1 : 2;
            sigma[k][lane] = 0;
            for (int m = 0; m < 3; m++) sigma[k][lane] += fmax(w[m], 0) * V.a[i][m] * V.a[j][m];
        }
    }
}

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

// Adds G^T H G of one lane.
static void add_element(const ct_elastic* elastic, int block, int lane, matrix9 H, const int* unknown,
                        ct_block_matrix* matrix) {
    double gradient[CT_CELL_NODES][3];
    int node[CT_CELL_NODES];
    const int count = shape_gradients(elastic, block, lane, gradient, node);
    for (int b = 0; b < count; b++) {
        double HG[9][3];
        for (int i = 0; i < 9; i++)
            for (int k = 0; k < 3; k++)
                HG[i][k] = H[i][3 * k] * gradient[b][0] + H[i][3 * k + 1] * gradient[b][1] +
                           H[i][3 * k + 2] * gradient[b][2];
        for (int a = b; a < count; a++) {
            double value[9];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    value[3 * i + k] = gradient[a][0] * HG[3 * i][k] + gradient[a][1] * HG[3 * i + 1][k] +
                                       gradient[a][2] * HG[3 * i + 2][k];
            ct_block_matrix_add(matrix, unknown[node[a]], unknown[node[b]], value);
        }
    }
}

typedef struct block_hessian {
    _Alignas(64) double linear[CT_LINEAR_LONGEST * CT_BLOCK];
    _Alignas(64) double value[81 * CT_BLOCK];    // all
    _Alignas(64) double elastic[81 * CT_BLOCK];  // without damping, when projected
    block_bases bases;
} block_hessian;

static void block_compute(const ct_elastic* elastic, const ct_elastic_pass* pass, int energy, int b,
                          bool project, block_hessian* h) {
    const ct_elastic_kernels* kernels = elastic->kernels;
    const bool second = b >= elastic->second;
    kernels->linearise[second][energy](pass, b, 1, h->linear);
    if (project && pass->rate) project_damper(h->linear, energy);
    kernels->hessian[energy](pass, b, h->linear, h->value);
    if (!project) return;
    ct_elastic_pass undamped = *pass;
    undamped.rate = NULL;
    kernels->hessian[energy](&undamped, b, h->linear, h->elastic);
    h->bases.filled = false;
}

static void add_block(const ct_elastic* elastic, const ct_elastic_pass* pass, int b, bool project,
                      double scale, block_hessian* h, const int* unknown, ct_block_matrix* matrix) {
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        if (elastic->lane_tet[b * CT_BLOCK + lane] < 0) continue;
        const double factor = 1 + scale * elastic->beta[b * CT_BLOCK + lane];
        matrix9 H;
        for (int i = 0; i < 81; i++)
            H[i / 9][i % 9] = factor * (project ? h->elastic : h->value)[i * CT_BLOCK + lane];
        if (project) {
            project_elastic(elastic, pass, b, lane, &h->bases, H);
            if (pass->rate)
                for (int i = 0; i < 81; i++)
                    H[i / 9][i % 9] += h->value[i * CT_BLOCK + lane] - h->elastic[i * CT_BLOCK + lane];
        }
        add_element(elastic, b, lane, H, unknown, matrix);
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
            block_compute(elastic, &pass, chunk->energy, b, project && x, &h);
            add_block(elastic, &pass, b, project && x, scale, &h, unknown, matrix);
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
