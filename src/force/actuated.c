// Tets under activation; see actuated.h.
#include "force/actuated.h"

#include <string.h>

static ct_status number_nodes(ct_actuated* all, const int* tet) {
    const int n = 4 * all->ntet;
    int count = 0;
    for (int i = 0; i < n; i++) count = tet[i] >= count ? tet[i] + 1 : count;
    int* number = ct_alloc((size_t)count, sizeof(int));
    if (!number) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < n; i++) number[tet[i]] = 1;
    for (int v = 0; v < count; v++) all->nnode += number[v];
    all->node = ct_arena_alloc(&all->arena, (size_t)all->nnode, sizeof(int));
    if (all->node) {
        for (int v = 0, next = 0; v < count; v++)
            if (number[v]) number[v] = next, all->node[next++] = v;
        for (int i = 0; i < n; i++) all->local[i] = number[tet[i]];
    }
    ct_free(number);
    return all->node ? CT_OK : CT_OUT_OF_MEMORY;
}

ct_status ct_actuated_create(ct_actuated* all, const ct_actuated_def* def) {
    const size_t n = (size_t)def->ntet;
    *all = (ct_actuated){.ntet = def->ntet, .nnumber = def->nnumber, .nowner = def->nowner};
    all->local = ct_arena_alloc(&all->arena, 4 * n, sizeof(int));
    all->number = ct_arena_copy(&all->arena, def->number, n, sizeof(int));
    all->owner = ct_arena_copy(&all->arena, def->owner, n, sizeof(int));
    all->weight = ct_arena_alloc(&all->arena, n, sizeof(double));
    all->stiffness = ct_arena_copy(&all->arena, def->stiffness, (size_t)def->nowner, sizeof(double));
    return all->arena.failed ? CT_OUT_OF_MEMORY : number_nodes(all, def->tet);
}

ct_status ct_actuated_work_create(ct_actuated_work* work, const ct_actuated* all) {
    work->x = ct_arena_alloc(&work->arena, 4 * (size_t)all->nnode, sizeof(double));
    work->f = ct_arena_alloc(&work->arena, 4 * (size_t)all->nnode, sizeof(double));
    work->number_bar = ct_arena_alloc(&work->arena, (size_t)all->nnumber, sizeof(double));
    work->stiffness_bar = ct_arena_alloc(&work->arena, (size_t)all->nowner, sizeof(double));
    return work->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

ct_mat3 ct_actuated_edges(const ct_actuated_def* def, int e) {
    const int* node = def->tet + 4 * e;
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * node[k + 1]), p);
    return ct_mat3_columns(edge[0], edge[1], edge[2]);
}

void ct_actuated_gather(const ct_actuated* all, const double* x, double* at) {
    for (int n = 0; n < all->nnode; n++, at += 4) {
        const double* from = x + 3 * (size_t)all->node[n];
        at[0] = from[0], at[1] = from[1], at[2] = from[2], at[3] = 0;
    }
}

void ct_actuated_scatter(const ct_actuated* all, const double* at, double* f) {
    for (int n = 0; n < all->nnode; n++, at += 4) {
        double* to = f + 3 * (size_t)all->node[n];
        to[0] += at[0], to[1] += at[1], to[2] += at[2];
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
