// Nodes of actuated tets; see local_nodes.h.
#include "force/local_nodes.h"

ct_status ct_local_nodes_create(ct_local_nodes* out, ct_arena* arena, const int* tet, int ntet, int* local) {
    *out = (ct_local_nodes){0};
    int all = 0;
    for (int i = 0; i < 4 * ntet; i++) all = tet[i] >= all ? tet[i] + 1 : all;
    int* number = ct_alloc((size_t)all, sizeof(int));
    if (!number) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < 4 * ntet; i++) number[tet[i]] = 1;
    for (int v = 0; v < all; v++) out->count += number[v];
    out->node = ct_arena_alloc(arena, (size_t)out->count, sizeof(int));
    if (out->node) {
        for (int v = 0, n = 0; v < all; v++)
            if (number[v]) number[v] = n, out->node[n++] = v;
        for (int i = 0; i < 4 * ntet; i++) local[i] = number[tet[i]];
    }
    ct_free(number);
    return out->node ? CT_OK : CT_OUT_OF_MEMORY;
}

void ct_local_nodes_gather(const ct_local_nodes* nodes, const double* x, double* at) {
    for (int n = 0; n < nodes->count; n++, at += 4) {
        const double* from = x + 3 * (size_t)nodes->node[n];
        at[0] = from[0], at[1] = from[1], at[2] = from[2], at[3] = 0;
    }
}

void ct_local_nodes_add(const ct_local_nodes* nodes, const double* at, double* f) {
    for (int n = 0; n < nodes->count; n++, at += 4) {
        double* to = f + 3 * (size_t)nodes->node[n];
        to[0] += at[0], to[1] += at[1], to[2] += at[2];
    }
}
