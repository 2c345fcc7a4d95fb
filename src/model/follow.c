// Weights by which flesh follows its bones; see follower.h.
#include "model/follow.h"

#include <math.h>
#include <string.h>

#include "sparse/scalar_factor.h"

static const double least = 1e-3;  // weights below are left out

typedef struct weighing {
    const ct_model* model;
    ct_arena arena;
    ct_block_matrix matrix;  // of the free nodes; entry (0, 0) of every block
    double* right;           // nfree x nlink
    int* joined;             // nfree: forest of the pieces that hang together
    bool* anchored;          // nfree, of a piece's root: it touches a link or a driven node
    double* weight;          // nfree x nlink
} weighing;

static int piece_of(int* joined, int i) {
    while (joined[i] != i) i = joined[i] = joined[joined[i]];
    return i;
}

static void add_entry(weighing* w, int i, int j, double value) {
    const double block[9] = {value};
    ct_block_matrix_add(&w->matrix, i, j, block);
}

// One end is free: the other holds it.
static void hold(weighing* w, int row, int node, double a) {
    const int link = w->model->tree.node_link[node];
    add_entry(w, row, row, a);
    w->anchored[piece_of(w->joined, row)] = true;
    if (link >= 0) w->right[(size_t)row * (size_t)w->model->tree.nlink + (size_t)link] += a;
}

static void join(weighing* w, int v, int u) {
    const ct_model* model = w->model;
    const double *x = model->geometry.rest + 3 * (size_t)v, *y = model->geometry.rest + 3 * (size_t)u;
    double square = 0;
    for (int a = 0; a < 3; a++) square += (x[a] - y[a]) * (x[a] - y[a]);
    const double a = 1 / square;
    const int i = model->row[v], j = model->row[u];
    if (i >= 0 && j < 0) hold(w, i, u, a);
    if (j >= 0 && i < 0) hold(w, j, v, a);
    if (i < 0 || j < 0) return;
    add_entry(w, i, i, a);
    add_entry(w, j, j, a);
    add_entry(w, i > j ? i : j, i > j ? j : i, -a);
    const int p = piece_of(w->joined, i), q = piece_of(w->joined, j);
    w->joined[q] = p;
    w->anchored[p] = w->anchored[p] || w->anchored[q];
}

static void join_elements(weighing* w) {
    const ct_model* model = w->model;
    for (int e = 0; e < model->nelement; e++) {
        int node[CT_CELL_NODES], count = 3;
        if (e < model->ntet) count = ct_model_tet_nodes(model, e, node);
        else memcpy(node, model->geometry.tri + 3 * (size_t)(e - model->ntet), 3 * sizeof(int));
        for (int a = 0; a < count; a++)
            for (int b = a + 1; b < count; b++) join(w, node[a], node[b]);
    }
    for (int i = 0; i < model->nfree; i++)
        if (!w->anchored[piece_of(w->joined, i)]) add_entry(w, i, i, 1);
}

static ct_status prepare(weighing* w) {
    const ct_model* model = w->model;
    const size_t n = (size_t)model->nfree, nlink = (size_t)model->tree.nlink;
    int count, width, *nodes = ct_model_couplings(model, model->row, &count, &width);
    if (!nodes) return CT_OUT_OF_MEMORY;
    ct_status status = ct_block_matrix_create(&w->matrix, &w->arena, model->nfree, count, width, nodes);
    ct_free(nodes);
    w->right = ct_arena_alloc(&w->arena, n * nlink, sizeof(double));
    w->weight = ct_arena_alloc(&w->arena, n * nlink, sizeof(double));
    w->joined = ct_arena_alloc(&w->arena, n, sizeof(int));
    w->anchored = ct_arena_alloc(&w->arena, n, sizeof(bool));
    if (w->arena.failed) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < model->nfree; i++) w->joined[i] = i;
    return status;
}

// Three links at a time.
static ct_status solve(weighing* w) {
    const size_t n = (size_t)w->model->nfree, nlink = (size_t)w->model->tree.nlink;
    ct_scalar_factor* factor = NULL;
    ct_scalar_work* work = NULL;
    double* b = ct_arena_alloc(&w->arena, 3 * n, sizeof(double));
    if (!b) return CT_OUT_OF_MEMORY;
    ct_status status = ct_scalar_factor_create(&factor, &w->matrix);
    if (status == CT_OK) status = ct_scalar_work_create(&work, factor);
    for (size_t k = 0; status == CT_OK && k < nlink; k += 3) {
        for (size_t i = 0; i < 3 * n; i++) b[i] = k + i % 3 < nlink ? w->right[i / 3 * nlink + k + i % 3] : 0;
        ct_scalar_factor_solve(factor, work, b, b);
        for (size_t i = 0; i < 3 * n; i++)
            if (k + i % 3 < nlink) w->weight[i / 3 * nlink + k + i % 3] = b[i];
    }
    ct_scalar_work_free(work);
    ct_scalar_factor_free(factor);
    return status;
}

// Leaves out the smallest and keeps the sum.
static void round_off(double* weight, int nlink) {
    double sum = 0, kept = 0;
    for (int k = 0; k < nlink; k++) {
        sum += weight[k];
        if (weight[k] < least) weight[k] = 0;
        kept += weight[k];
    }
    if (fabs(sum - 1) < 1e-9) sum = 1;
    for (int k = 0; kept > 0 && k < nlink; k++) weight[k] *= sum / kept;
}

// The pairs, link after link.
static ct_status list_pairs(ct_follow* skin, ct_arena* arena, const weighing* w) {
    const ct_model* model = w->model;
    const int nlink = model->tree.nlink;
    for (int i = 0; i < model->nfree; i++)
        for (int k = 0; k < nlink; k++) skin->count += w->weight[(size_t)i * (size_t)nlink + (size_t)k] > 0;
    const size_t n = (size_t)skin->count;
    double* rest = ct_arena_alloc(arena, 3 * n, sizeof(double));
    skin->owner = ct_arena_alloc(arena, n, sizeof(int));
    skin->weight = ct_arena_alloc(arena, n, sizeof(double));
    skin->tree = model->tree;
    skin->tree.nvert = skin->count;
    skin->tree.rest = rest;
    skin->tree.nrotor = 0;
    skin->tree.start = ct_arena_alloc(arena, (size_t)nlink + 1, sizeof(int));
    skin->tree.node = ct_arena_alloc(arena, n, sizeof(int));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int k = 0, at = 0; k < nlink; k++) {
        for (int v = 0; v < model->nvert; v++) {
            const int i = model->row[v];
            if (i < 0 || !(w->weight[(size_t)i * (size_t)nlink + (size_t)k] > 0)) continue;
            skin->owner[at] = v;
            skin->weight[at] = w->weight[(size_t)i * (size_t)nlink + (size_t)k];
            memcpy(rest + 3 * (size_t)at, model->geometry.rest + 3 * (size_t)v, 3 * sizeof(double));
            skin->tree.node[at] = at;
            at++;
        }
        skin->tree.start[k + 1] = at;
    }
    return CT_OK;
}

static bool has_flesh(const ct_model* model) {
    for (int e = 0; e < model->nelement; e++) {
        int node[CT_CELL_NODES], count = 3;
        if (e < model->ntet) count = ct_model_tet_nodes(model, e, node);
        else memcpy(node, model->geometry.tri + 3 * (size_t)(e - model->ntet), 3 * sizeof(int));
        for (int a = 0; a < count; a++)
            if (model->tree.node_link[node[a]] >= 0 && !ct_model_is_rigid(model, e)) return true;
    }
    return false;
}

ct_status ct_follow_create(ct_follow* skin, ct_arena* arena, const ct_model* model) {
    memset(skin, 0, sizeof *skin);
    if (!model->tree.nlink || !model->nfree || !has_flesh(model)) return CT_OK;
    weighing w = {.model = model};
    ct_status status = prepare(&w);
    if (status == CT_OK) join_elements(&w);
    if (status == CT_OK) status = solve(&w);
    for (int i = 0; status == CT_OK && i < model->nfree; i++)
        round_off(w.weight + (size_t)i * (size_t)model->tree.nlink, model->tree.nlink);
    if (status == CT_OK) status = list_pairs(skin, arena, &w);
    ct_arena_free(&w.arena);
    return status;
}
