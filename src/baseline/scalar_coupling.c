// Links in the projective solver's matrix K = c^2 M + c D + L, one scalar per node, with d the free nodes and
// r those on links.
//
// The nodes of link u move affinely in their rest positions, dx = G_u (X, 1), so that K couples them through
// four numbers a link: with V (link nodes x 4 nlink) the rest positions of each link's nodes and ones,
//     Y = K_dr V,   W = K_d^-1 Y,   S = V^T K_r V - Y^T W.
// These are constant. The paper's partition follows by products with the blocks G of the present pose:
//     H_c^T = Y G,   H_d^-1 H_c^T = W G,   H_r - H_c H_d^-1 H_c^T = G^T S G   (for each of the three
//     coordinates).
#include "baseline/scalar_coupling.h"

#include <string.h>

typedef struct scratch {
    ct_arena arena;
    int* row;              // nvert: free nodes as in the model, then link nodes, -1: driven
    ct_block_matrix full;  // its (0,0) entries are K
    double *in, *out;      // 3 (nfree + link nodes)
    ct_scalar_work* solve;
} scratch;

ct_status ct_scalar_coupling_create(ct_scalar_coupling* coupling, ct_arena* arena, const ct_model* model) {
    size_t m = 4 * (size_t)model->tree.nlink;
    coupling->W = ct_arena_alloc(arena, (size_t)model->nfree * m, sizeof(double));
    coupling->S = ct_arena_alloc(arena, m * m, sizeof(double));
    coupling->coupled = ct_arena_alloc(arena, m * m / 16, 1);
    coupling->diagonal = ct_arena_alloc(arena, m ? (size_t)model->tree.start[m / 4] : 0, sizeof(double));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static ct_status prepare(scratch* s, const ct_model* model, const ct_scalar_factor* factor) {
    const ct_tree* tree = &model->tree;
    int total = model->nfree;
    s->row = ct_arena_copy(&s->arena, model->row, (size_t)model->nvert, sizeof(int));
    if (!s->row) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < tree->start[tree->nlink]; i++) s->row[tree->node[i]] = total++;
    int count, width, *nodes = ct_model_couplings(model, s->row, &count, &width);
    if (!nodes) return CT_OUT_OF_MEMORY;
    ct_status status = ct_block_matrix_create(&s->full, &s->arena, total, count, width, nodes);
    ct_free(nodes);
    s->in = ct_arena_alloc(&s->arena, 3 * (size_t)total, sizeof(double));
    s->out = ct_arena_alloc(&s->arena, 3 * (size_t)total, sizeof(double));
    if (status == CT_OK && s->arena.failed) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK && model->nfree) status = ct_scalar_work_create(&s->solve, factor);
    return status;
}

static void assemble(const ct_model* model, double c, ct_scalar_coupling* coupling, scratch* s) {
    const ct_tree* tree = &model->tree;
    ct_families_laplacian(&model->families, s->row, &s->full);
    for (int i = 0; i < tree->start[tree->nlink]; i++)
        coupling->diagonal[i] = s->full.value[9 * (size_t)s->full.start[s->row[tree->node[i]]]];
    ct_inertia_assemble(&model->inertia, c, s->row, &s->full);
}

// Affine motion `a` of link u: the rest coordinate, or one.
static double affine(const ct_model* model, int node, int a) {
    return a < 3 ? model->geometry.rest[3 * (size_t)node + (size_t)a] : 1;
}

// Up to three columns of W and S at once, as the three coordinates of one motion of link u.
static void columns(ct_scalar_coupling* coupling, const ct_model* model, const ct_scalar_factor* factor,
                    scratch* s, int u, int first, int count) {
    const ct_tree* tree = &model->tree;
    size_t m = 4 * (size_t)tree->nlink, nfree = (size_t)model->nfree;
    memset(s->in, 0, 3 * (size_t)s->full.n * sizeof(double));
    for (int i = tree->start[u]; i < tree->start[u + 1]; i++)
        for (int a = 0; a < count; a++)
            s->in[3 * s->row[tree->node[i]] + a] = affine(model, tree->node[i], first + a);
    ct_block_matrix_multiply(&s->full, s->in, s->out);
    if (nfree) ct_scalar_factor_solve(factor, s->solve, s->out, s->in);
    for (size_t k = 0; k < nfree; k++)
        for (int a = 0; a < 3; a++) {
            if (a < count) coupling->W[k * m + (size_t)(4 * u + first + a)] = s->in[3 * k + (size_t)a];
            s->in[3 * k + (size_t)a] *= -1;
        }
    // K (V - W): what is left on the links
    ct_block_matrix_multiply(&s->full, s->in, s->out);
    for (int l = 0; l < tree->nlink; l++)
        for (int i = tree->start[l]; i < tree->start[l + 1]; i++)
            for (int b = 0; b < 4; b++)
                for (int a = 0; a < count; a++)
                    coupling->S[(size_t)(4 * l + b) * m + (size_t)(4 * u + first + a)] +=
                        affine(model, tree->node[i], b) * s->out[3 * s->row[tree->node[i]] + a];
}

static void mark_coupled(ct_scalar_coupling* coupling, int nlink) {
    size_t m = 4 * (size_t)nlink;
    memset(coupling->coupled, 0, (size_t)nlink * (size_t)nlink);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            if (coupling->S[i * m + j] != 0) coupling->coupled[i / 4 * (size_t)nlink + j / 4] = 1;
}

ct_status ct_scalar_coupling_update(ct_scalar_coupling* coupling, const ct_model* model,
                                    const ct_scalar_factor* factor, double c) {
    size_t m = 4 * (size_t)model->tree.nlink;
    if (!m) return CT_OK;
    scratch s = {0};
    ct_status status = prepare(&s, model, factor);
    if (status == CT_OK) {
        assemble(model, c, coupling, &s);
        memset(coupling->S, 0, m * m * sizeof(double));
        for (int u = 0; u < model->tree.nlink; u++) {
            columns(coupling, model, factor, &s, u, 0, 3);
            columns(coupling, model, factor, &s, u, 3, 1);
        }
        mark_coupled(coupling, model->tree.nlink);
    }
    ct_scalar_work_free(s.solve);
    ct_arena_free(&s.arena);
    return status;
}
