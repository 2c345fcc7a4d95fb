// Tets under activation; see actuated.h.
#include "force/actuated.h"

#include <string.h>

static ct_status number_nodes(ct_actuated* all, const int* tet) {
    const int n = 4 * all->ntet;
    int count = 0;
    for (int i = 0; i < n; i++) count = tet[i] >= count ? tet[i] + 1 : count;
    int* number = ct_alloc((size_t)count, sizeof(int));
    if (!number) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < n; i++)
        if (all->index[i / 4] < 0) number[tet[i]] = 1;
    for (int v = 0; v < count; v++) all->nreal += number[v];
    all->node = ct_arena_alloc(&all->arena, (size_t)all->nreal, sizeof(int));
    if (all->node) {
        for (int v = 0, next = 0; v < count; v++)
            if (number[v]) number[v] = next, all->node[next++] = v;
        for (int i = 0; i < n; i++) {
            const int point = all->index[i / 4], origin = all->nreal;
            all->local[i] = point < 0 ? number[tet[i]] : i % 4 ? origin + 3 * point + i % 4 : origin;
        }
    }
    all->nnode = all->nreal + (all->npoint ? 1 + 3 * all->npoint : 0);
    ct_free(number);
    return all->node ? CT_OK : CT_OUT_OF_MEMORY;
}

static void list_points(ct_actuated* all, const ct_actuated_def* def) {
    for (int q = 0; q < CT_CELL_POINTS; q++) ct_cell_slopes(q, all->slope[q]);
    for (int e = 0; e < def->ntet; e++) {
        const int i = all->npoint;
        all->index[e] = -1;
        if (!def->point || def->point[e] < 0) continue;
        all->index[e] = all->npoint++;
        all->place[i] = (unsigned char)def->point[e];
        memcpy(all->cell + CT_CELL_NODES * (size_t)i, def->tet + 4 * (size_t)e, 4 * sizeof(int));
        memcpy(all->cell + CT_CELL_NODES * (size_t)i + 4, def->mid + 6 * (size_t)e, 6 * sizeof(int));
    }
}

ct_status ct_actuated_create(ct_actuated* all, const ct_actuated_def* def) {
    const size_t n = (size_t)def->ntet;
    *all = (ct_actuated){.ntet = def->ntet, .nnumber = def->nnumber, .nowner = def->nowner};
    all->local = ct_arena_alloc(&all->arena, 4 * n, sizeof(int));
    all->number = ct_arena_copy(&all->arena, def->number, n, sizeof(int));
    all->owner = ct_arena_copy(&all->arena, def->owner, n, sizeof(int));
    all->weight = ct_arena_alloc(&all->arena, n, sizeof(double));
    all->stiffness = ct_arena_copy(&all->arena, def->stiffness, (size_t)def->nowner, sizeof(double));
    const size_t npoint = def->point ? n : 0;
    all->index = ct_arena_alloc(&all->arena, n, sizeof(int));
    all->cell = ct_arena_alloc(&all->arena, CT_CELL_NODES * npoint, sizeof(int));
    all->place = ct_arena_alloc(&all->arena, npoint, 1);
    if (all->arena.failed) return CT_OUT_OF_MEMORY;
    list_points(all, def);
    return number_nodes(all, def->tet);
}

ct_status ct_actuated_work_create(ct_actuated_work* work, const ct_actuated* all) {
    work->x = ct_arena_alloc(&work->arena, 4 * (size_t)all->nnode, sizeof(double));
    work->f = ct_arena_alloc(&work->arena, 4 * (size_t)all->nnode, sizeof(double));
    work->number_bar = ct_arena_alloc(&work->arena, (size_t)all->nnumber, sizeof(double));
    work->stiffness_bar = ct_arena_alloc(&work->arena, (size_t)all->nowner, sizeof(double));
    return work->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

ct_mat3 ct_actuated_edges(const ct_actuated_def* def, int e, double* six) {
    const int* node = def->tet + 4 * e;
    if (def->point && def->point[e] >= 0) {
        const ct_mat3 E = ct_cell_edges(def->point[e], node, def->mid + 6 * (size_t)e, def->rest);
        *six = ct_mat3_determinant(E) / CT_CELL_POINTS;
        return E;
    }
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * node[k + 1]), p);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]);
    *six = ct_mat3_determinant(Dm);
    return Dm;
}

int ct_actuated_nodes(const ct_actuated* all, int e, int node[CT_CELL_NODES], double T[CT_CELL_NODES][4]) {
    const int i = all->index[e], count = i < 0 ? 4 : CT_CELL_NODES;
    for (int a = 0; a < count; a++) {
        node[a] = i < 0 ? all->node[all->local[4 * e + a]] : all->cell[CT_CELL_NODES * (size_t)i + (size_t)a];
        for (int k = 0; k < 4; k++)
            T[a][k] = i < 0 ? a == k : k == 0 ? 0 : all->slope[all->place[i]][a][k - 1];
    }
    return count;
}

void ct_actuated_gather(const ct_actuated* all, const double* x, double* at) {
    for (int n = 0; n < all->nreal; n++, at += 4) {
        const double* from = x + 3 * (size_t)all->node[n];
        at[0] = from[0], at[1] = from[1], at[2] = from[2], at[3] = 0;
    }
    if (!all->npoint) return;
    memset(at, 0, 4 * (size_t)(all->nnode - all->nreal) * sizeof(double));
    at += 4;  // the origin
    for (int i = 0; i < all->npoint; i++, at += 12)
        for (int a = 0; a < CT_CELL_NODES; a++) {
            const double *slope = all->slope[all->place[i]][a],
                         *from = x + 3 * (size_t)all->cell[CT_CELL_NODES * (size_t)i + (size_t)a];
            for (int k = 0; k < 12; k++)
                if (k % 4 < 3) at[k] += slope[k / 4] * from[k % 4];
        }
}

void ct_actuated_scatter(const ct_actuated* all, const double* at, double* f) {
    for (int n = 0; n < all->nreal; n++, at += 4) {
        double* to = f + 3 * (size_t)all->node[n];
        to[0] += at[0], to[1] += at[1], to[2] += at[2];
    }
    at += 4;  // the origin feels nothing
    for (int i = 0; i < all->npoint; i++, at += 12)
        for (int a = 0; a < CT_CELL_NODES; a++) {
            const double* slope = all->slope[all->place[i]][a];
            double* to = f + 3 * (size_t)all->cell[CT_CELL_NODES * (size_t)i + (size_t)a];
            for (int j = 0; j < 3; j++)
                to[j] += slope[0] * at[j] + slope[1] * at[4 + j] + slope[2] * at[8 + j];
        }
}

void ct_actuated_load(const ct_actuated* all, ct_actuated_work* work, const double* x) {
    ct_actuated_gather(all, x, work->x);
    memset(work->f, 0, 4 * (size_t)all->nnode * sizeof(double));
}

void ct_actuated_clear(const ct_actuated* all, ct_actuated_work* work) {
    memset(work->number_bar, 0, (size_t)all->nnumber * sizeof(double));
    memset(work->stiffness_bar, 0, (size_t)all->nowner * sizeof(double));
}

void ct_actuated_deliver(const ct_actuated* all, const ct_actuated_work* work, double* actuation_bar,
                         double* stiffness_sum) {
    for (int i = 0; i < all->nnumber; i++) actuation_bar[i] -= work->number_bar[i];
    for (int k = 0; stiffness_sum && k < all->nowner; k++) stiffness_sum[k] -= work->stiffness_bar[k];
}
