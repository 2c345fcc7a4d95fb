// Orders of graphs; see ordering.h.
#include "sparse/ordering.h"

#include <amd.h>
#include <metis.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/supernodes.h"

// CT_ORDER_AUTO takes AMD up to FEW_NODES, where METIS gains nothing; METIS above MANY_NODES, where it always
// wins; between them the better of the two.
enum { FEW_NODES = 200, MANY_NODES = 40000 };

// ---- one graph that hangs together ---------------------------------------------------------

static ct_status order_by_amd(const ct_graph* graph, int* order) {
    int code = amd_order(graph->n, graph->start, graph->row, order, NULL, NULL);
    if (code == AMD_OUT_OF_MEMORY) return CT_OUT_OF_MEMORY;
    return code == AMD_OK || code == AMD_OK_BUT_JUMBLED ? CT_OK : CT_BAD_ARGUMENT;
}

// METIS seeds and draws from the C library's one random sequence: taking turns keeps the order reproducible,
// and the sequence that the caller may be drawing from is put back.
static int dissect(ct_graph graph, int* order, int* position) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static char sequence[128];
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    pthread_mutex_lock(&turn);
    char* callers = initstate(1, sequence, sizeof sequence);
    int code = METIS_NodeND(&graph.n, graph.start, graph.row, NULL, options, order, position);
    setstate(callers);
    pthread_mutex_unlock(&turn);
    return code;
}

static ct_status order_by_metis(const ct_graph* graph, int* order) {
    // METIS is at a loss with graphs that are nearly complete, where no order is better than another
    if ((double)graph->start[graph->n] > 0.5 * graph->n * (double)graph->n) return order_by_amd(graph, order);
    int* position = ct_alloc((size_t)graph->n, sizeof(int));
    if (!position) return CT_OUT_OF_MEMORY;
    int code = dissect(*graph, order, position);
    ct_free(position);
    if (code == METIS_ERROR_MEMORY) return CT_OUT_OF_MEMORY;
    return code == METIS_OK ? CT_OK : CT_BAD_ARGUMENT;
}

// Both orders; the one with the smaller factor.
static ct_status order_by_better(const ct_graph* graph, int* order, bool* metis) {
    const size_t n = (size_t)graph->n;
    int* other = ct_alloc(n, sizeof(int));
    if (!other) return CT_OUT_OF_MEMORY;
    double by_amd = 0, by_metis = 0;
    ct_status status = order_by_amd(graph, order);
    if (status == CT_OK) status = ct_supernodes_size(graph, order, &by_amd);
    if (status == CT_OK) status = order_by_metis(graph, other);
    if (status == CT_OK) status = ct_supernodes_size(graph, other, &by_metis);
    *metis = by_metis < by_amd;
    if (status == CT_OK && *metis) memcpy(order, other, n * sizeof(int));
    ct_free(other);
    return status;
}

static ct_status order_whole(const ct_graph* graph, ct_ordering ordering, int* order, bool* metis) {
    *metis = ordering == CT_ORDER_METIS || (ordering == CT_ORDER_AUTO && graph->n > MANY_NODES);
    if (*metis) return order_by_metis(graph, order);
    if (ordering == CT_ORDER_AMD || graph->n <= FEW_NODES) return order_by_amd(graph, order);
    return order_by_better(graph, order, metis);
}

// ---- graphs that fall apart ----------------------------------------------------------------

// Components: nodes ascending in each; equal ones are found through a table of their hashes.
typedef struct components {
    const ct_graph* graph;
    int count;
    int* first;  // count + 1
    int* node;   // n, component after component
    int* local;  // n: place of a node in its component
    int* table;  // size, a power of two: component + 1, 0: free
    int size;
    int *start, *row;  // of the component at hand
    int* order;
} components;

static bool allocate(components* c, ct_arena* arena, const ct_graph* graph) {
    const size_t n = (size_t)graph->n;
    c->graph = graph;
    c->first = ct_arena_alloc(arena, n + 1, sizeof(int));
    c->node = ct_arena_alloc(arena, n, sizeof(int));
    c->local = ct_arena_alloc(arena, n, sizeof(int));
    return !arena->failed;
}

static int compare(const void* a, const void* b) {
    const int left = *(const int*)a, right = *(const int*)b;
    return left < right ? -1 : left > right;
}

// Breadth first from each node that is not yet reached.
static void find_components(components* c) {
    const ct_graph* g = c->graph;
    int end = 0;
    for (int k = 0; k < g->n; k++) c->local[k] = -1;
    for (int k = 0; k < g->n; k++) {
        if (c->local[k] >= 0) continue;
        const int begin = end;
        c->first[c->count++] = begin;
        c->node[end++] = k;
        c->local[k] = 0;
        for (int i = begin; i < end; i++)
            for (int e = g->start[c->node[i]]; e < g->start[c->node[i] + 1]; e++)
                if (c->local[g->row[e]] < 0) c->local[g->row[e]] = 0, c->node[end++] = g->row[e];
        qsort(c->node + begin, (size_t)(end - begin), sizeof(int), compare);
        for (int i = begin; i < end; i++) c->local[c->node[i]] = i - begin;
    }
    c->first[c->count] = end;
}

static uint64_t hash_of(const components* c, int which) {
    const ct_graph* g = c->graph;
    uint64_t hash = 14695981039346656037u;
    for (int i = c->first[which]; i < c->first[which + 1]; i++) {
        const int k = c->node[i];
        hash = (hash ^ (uint64_t)(g->start[k + 1] - g->start[k])) * 1099511628211u;
        for (int e = g->start[k]; e < g->start[k + 1]; e++)
            hash = (hash ^ (uint64_t)c->local[g->row[e]]) * 1099511628211u;
    }
    return hash ^ hash >> 32;
}

static bool are_equal(const components* c, int a, int b) {
    const ct_graph* g = c->graph;
    if (c->first[a + 1] - c->first[a] != c->first[b + 1] - c->first[b]) return false;
    for (int i = 0; i < c->first[a + 1] - c->first[a]; i++) {
        const int k = c->node[c->first[a] + i], l = c->node[c->first[b] + i],
                  degree = g->start[k + 1] - g->start[k];
        if (g->start[l + 1] - g->start[l] != degree) return false;
        for (int e = 0; e < degree; e++)
            if (c->local[g->row[g->start[k] + e]] != c->local[g->row[g->start[l] + e]]) return false;
    }
    return true;
}

// An earlier component with the same pattern, or itself.
static int find_equal(components* c, int which) {
    const uint64_t mask = (uint64_t)c->size - 1;
    for (uint64_t at = hash_of(c, which) & mask;; at = (at + 1) & mask) {
        if (!c->table[at]) return c->table[at] = which + 1, which;
        if (are_equal(c, c->table[at] - 1, which)) return c->table[at] - 1;
    }
}

static ct_status order_component(components* c, int which, ct_ordering ordering, int* order, bool* metis) {
    const ct_graph* g = c->graph;
    const int first = c->first[which], n = c->first[which + 1] - first, equal = find_equal(c, which);
    if (equal != which) {
        const int shift = c->first[equal];
        for (int i = 0; i < n; i++) order[first + i] = c->node[first + c->local[order[shift + i]]];
        return CT_OK;
    }
    c->start[0] = 0;
    for (int i = 0, end = 0; i < n; i++) {
        const int k = c->node[first + i];
        for (int e = g->start[k]; e < g->start[k + 1]; e++) c->row[end++] = c->local[g->row[e]];
        c->start[i + 1] = end;
    }
    const ct_graph part = {.n = n, .start = c->start, .row = c->row};
    ct_status status = order_whole(&part, ordering, c->order, metis);
    for (int i = 0; status == CT_OK && i < n; i++) order[first + i] = c->node[first + c->order[i]];
    return status;
}

static ct_status order_components(components* c, ct_arena* arena, ct_ordering ordering, int* order,
                                  bool* metis) {
    for (c->size = 2; c->size < 2 * c->count;) c->size *= 2;
    c->table = ct_arena_alloc(arena, (size_t)c->size, sizeof(int));
    c->start = ct_arena_alloc(arena, (size_t)c->graph->n + 1, sizeof(int));
    c->row = ct_arena_alloc(arena, (size_t)c->graph->start[c->graph->n], sizeof(int));
    c->order = ct_arena_alloc(arena, (size_t)c->graph->n, sizeof(int));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    int largest = 0;
    for (int i = 0; i < c->count; i++) {
        bool how = *metis;
        ct_status status = order_component(c, i, ordering, order, &how);
        if (status != CT_OK) return status;
        if (c->first[i + 1] - c->first[i] > largest) largest = c->first[i + 1] - c->first[i], *metis = how;
    }
    return CT_OK;
}

ct_status ct_graph_order(const ct_graph* graph, ct_ordering ordering, int* order, bool* metis) {
    ct_arena arena = {0};
    components c = {0};
    ct_status status = CT_OUT_OF_MEMORY;
    *metis = ordering == CT_ORDER_METIS;
    if (allocate(&c, &arena, graph)) {
        find_components(&c);
        status = c.count == 1 ? order_whole(graph, ordering, order, metis)
                              : order_components(&c, &arena, ordering, order, metis);
    }
    ct_arena_free(&arena);
    return status;
}
