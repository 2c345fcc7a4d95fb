// A clamped beam's linear elastic stiffness plus mass/h^2: the matrix the factor is made for.
//
// Box of cells[0] x cells[1] x cells[2] cubes of edge `edge`, 6 tets each (Kuhn), clamped at x = 0. With rest
// gradients g_a of the tet's shape functions and volume V,
//     K_ab = V (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a.g_b) I),  plus  rho V / (4 h^2) I on the diagonal.
#ifndef CT_TESTS_BEAM_MATRIX_H
#define CT_TESTS_BEAM_MATRIX_H

#include "sparse/block_matrix.h"

typedef struct beam_def {
    int cells[3];
    double edge, young, poisson, density, h;
} beam_def;

static inline beam_def beam_def_default(int length, int width) {
    return (beam_def){{length, width, width}, 1.0 / length, 1e6, 0.45, 1000, 0.01};
}

static inline int beam_tet_count(const beam_def* def) {
    return 6 * def->cells[0] * def->cells[1] * def->cells[2];
}

// Corner offsets of the six tets of a cube: paths from (0,0,0) to (1,1,1), one axis at a time.
static inline void beam_tet_corners(int t, int corner[4][3]) {
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (int a = 0; a < 3; a++) corner[0][a] = 0;
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) corner[k + 1][a] = corner[k][a] + (axes[t][k] == a);
}

// Gradients of the four shape functions: along the path, g_k = e_(axis k-1) - e_(axis k), over the edge.
static inline void beam_tet_gradients(int corner[4][3], double edge, double g[4][3]) {
    for (int k = 0; k < 4; k++)
        for (int a = 0; a < 3; a++) {
            int entered = k > 0 ? corner[k][a] - corner[k - 1][a] : 0,
                left = k < 3 ? corner[k + 1][a] - corner[k][a] : 0;
            g[k][a] = (entered - left) / edge;
        }
}

static inline int beam_node(const beam_def* def, int i, int j, int k) {
    return i == 0 ? -1 : ((i - 1) * (def->cells[1] + 1) + j) * (def->cells[2] + 1) + k;
}

static inline void beam_add_tet(const beam_def* def, const int node[4], double g[4][3],
                                ct_block_matrix* matrix) {
    double mu = def->young / (2 * (1 + def->poisson));
    double lambda = def->young * def->poisson / ((1 + def->poisson) * (1 - 2 * def->poisson));
    double volume = def->edge * def->edge * def->edge / 6;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            if (node[a] < node[b]) continue;
            double block[9], dot = 0;
            for (int p = 0; p < 3; p++) dot += g[a][p] * g[b][p];
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    block[3 * p + q] = volume * (lambda * g[a][p] * g[b][q] + mu * g[b][p] * g[a][q] +
                                                 (p == q ? mu * dot : 0));
            for (int p = 0; p < 3 && a == b; p++)
                block[4 * p] += def->density * volume / (4 * def->h * def->h);
            ct_block_matrix_add(matrix, node[a], node[b], block);
        }
}

static inline ct_status beam_matrix(ct_block_matrix* out, ct_arena* arena, const beam_def* def) {
    const int *m = def->cells, n = m[0] * (m[1] + 1) * (m[2] + 1), ntet = beam_tet_count(def);
    int* nodes = ct_arena_alloc(arena, 4 * (size_t)ntet, sizeof(int));
    if (!nodes) return CT_OUT_OF_MEMORY;
    int corner[4][3];
    for (int e = 0; e < ntet; e++) {
        int cell = e / 6, i = cell / (m[1] * m[2]), j = cell / m[2] % m[1], k = cell % m[2];
        beam_tet_corners(e % 6, corner);
        for (int a = 0; a < 4; a++)
            nodes[4 * e + a] = beam_node(def, i + corner[a][0], j + corner[a][1], k + corner[a][2]);
    }
    ct_status status = ct_block_matrix_create(out, arena, n, ntet, 4, nodes);
    for (int e = 0; e < ntet && !status; e++) {
        double g[4][3];
        beam_tet_corners(e % 6, corner);
        beam_tet_gradients(corner, def->edge, g);
        beam_add_tet(def, nodes + 4 * e, g, out);
    }
    return status;
}

#endif
