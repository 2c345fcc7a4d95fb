// The graph of a block matrix; see graph.h.
#include "sparse/graph.h"

#include <limits.h>

ct_status ct_graph_create(ct_graph* out, ct_arena* arena, const ct_block_matrix* matrix) {
    const int n = matrix->n;
    const size_t entries = 2 * (size_t)(matrix->start[n] - n);
    if (entries > INT_MAX) return CT_OUT_OF_MEMORY;
    *out = (ct_graph){.n = n};
    int* start = out->start = ct_arena_alloc(arena, (size_t)n + 2, sizeof(int));
    int* row = out->row = ct_arena_alloc(arena, entries, sizeof(int));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    start++;  // one ahead while the rows are placed
    for (int j = 0; j < n; j++)
        for (int e = matrix->start[j] + 1; e < matrix->start[j + 1]; e++)
            start[j + 1]++, start[matrix->row[e] + 1]++;
    for (int j = 0; j < n; j++) start[j + 1] += start[j];
    for (int j = 0; j < n; j++)
        for (int e = matrix->start[j] + 1; e < matrix->start[j + 1]; e++) {
            row[start[j]++] = matrix->row[e];
            row[start[matrix->row[e]]++] = j;
        }
    return CT_OK;
}
