// Symmetric block matrices from element patterns; see block_matrix.h.
//
// The pattern of column j is the union over the elements of node j of their nodes i >= j. The elements of
// each node are listed first (counting sort), then every column is collected with a marker and sorted.
#include "sparse/block_matrix.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct incidence {
    int* start;    // n + 1
    int* element;  // elements of each node, ascending
    int* mark;     // n: last column that listed the node
} incidence;

static ct_status check_nodes(int n, int nelement, int width, const int* nodes) {
    if (n < 0 || nelement < 0 || width < 0) return CT_BAD_ARGUMENT;
    if (width && nelement > INT_MAX / width) return CT_BAD_ARGUMENT;
    for (size_t i = 0; i < (size_t)nelement * (size_t)width; i++)
        if (nodes[i] < -1 || nodes[i] >= n) return CT_BAD_ARGUMENT;
    return CT_OK;
}

static bool list_elements(incidence* list, ct_arena* scratch, int n, int nelement, int width,
                          const int* nodes) {
    size_t total = (size_t)nelement * (size_t)width;
    list->start = ct_arena_alloc(scratch, (size_t)n + 2, sizeof(int));
    list->element = ct_arena_alloc(scratch, total, sizeof(int));
    list->mark = ct_arena_alloc(scratch, (size_t)n, sizeof(int));
    if (scratch->failed) return false;
    // start[v + 1] runs from the beginning to the end of v's list while it is filled
    for (size_t i = 0; i < total; i++)
        if (nodes[i] >= 0) list->start[nodes[i] + 2]++;
    for (int v = 0; v < n; v++) list->start[v + 2] += list->start[v + 1];
    for (size_t i = 0; i < total; i++)
        if (nodes[i] >= 0) list->element[list->start[nodes[i] + 1]++] = (int)(i / (size_t)width);
    for (int v = 0; v < n; v++) list->mark[v] = -1;
    return true;
}

// Number of block rows of column j; writes them (unsorted, the diagonal first) when row is not NULL.
static int collect_column(const incidence* list, int width, const int* nodes, int j, int* row) {
    int count = 1;
    if (row) row[0] = j;
    list->mark[j] = j;
    for (int e = list->start[j]; e < list->start[j + 1]; e++) {
        const int* element = nodes + (size_t)list->element[e] * (size_t)width;
        for (int a = 0; a < width; a++) {
            int i = element[a];
            if (i <= j || list->mark[i] == j) continue;
            list->mark[i] = j;
            if (row) row[count] = i;
            count++;
        }
    }
    return count;
}

static int compare_int(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static ct_status fill_pattern(ct_block_matrix* out, ct_arena* arena, const incidence* list, int n, int width,
                              const int* nodes) {
    out->n = n;
    out->start = ct_arena_alloc(arena, (size_t)n + 1, sizeof(int));
    if (!out->start) return CT_OUT_OF_MEMORY;
    for (int j = 0; j < n; j++) {
        int count = collect_column(list, width, nodes, j, NULL);
        if (out->start[j] > INT_MAX - count) return CT_BAD_ARGUMENT;
        out->start[j + 1] = out->start[j] + count;
    }
    out->row = ct_arena_alloc(arena, (size_t)out->start[n], sizeof(int));
    out->value = ct_arena_alloc(arena, (size_t)out->start[n], 9 * sizeof(double));
    if (!out->row || !out->value) return CT_OUT_OF_MEMORY;
    for (int j = 0; j < n; j++) list->mark[j] = -1;
    for (int j = 0; j < n; j++) {
        int count = collect_column(list, width, nodes, j, out->row + out->start[j]);
        qsort(out->row + out->start[j], (size_t)count, sizeof(int), compare_int);
    }
    return CT_OK;
}

ct_status ct_block_matrix_create(ct_block_matrix* out, ct_arena* arena, int n, int nelement, int width,
                                 const int* nodes) {
    *out = (ct_block_matrix){0};
    ct_status status = check_nodes(n, nelement, width, nodes);
    if (status) return status;
    ct_arena scratch = {0};
    incidence list;
    if (list_elements(&list, &scratch, n, nelement, width, nodes))
        status = fill_pattern(out, arena, &list, n, width, nodes);
    else status = CT_OUT_OF_MEMORY;
    ct_arena_free(&scratch);
    if (status) *out = (ct_block_matrix){0};
    return status;
}

void ct_block_matrix_clear(ct_block_matrix* matrix) {
    memset(matrix->value, 0, (size_t)matrix->start[matrix->n] * 9 * sizeof(double));
}

static double* find_block(const ct_block_matrix* matrix, int i, int j) {
    int low = matrix->start[j], high = matrix->start[j + 1] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (matrix->row[middle] < i) low = middle + 1;
        else high = middle;
    }
    return matrix->row[low] == i ? matrix->value + 9 * (size_t)low : NULL;
}

void ct_block_matrix_add(ct_block_matrix* matrix, int i, int j, const double block[9]) {
    if (i < 0 || j < 0) return;
    double* target = i >= j ? find_block(matrix, i, j) : find_block(matrix, j, i);
    assert(target && "no element couples these nodes");
    if (i >= j) {
        for (int k = 0; k < 9; k++) target[k] += block[k];
    } else {
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) target[3 * a + b] += block[3 * b + a];
    }
}

// y += B x
static void add_product(const double* B, const double* x, double* y) {
    for (int a = 0; a < 3; a++) y[a] += B[3 * a] * x[0] + B[3 * a + 1] * x[1] + B[3 * a + 2] * x[2];
}

// y += B^T x
static void add_transposed_product(const double* B, const double* x, double* y) {
    for (int a = 0; a < 3; a++) y[a] += B[a] * x[0] + B[3 + a] * x[1] + B[6 + a] * x[2];
}

void ct_block_matrix_multiply(const ct_block_matrix* matrix, const double* x, double* y) {
    memset(y, 0, 3 * (size_t)matrix->n * sizeof(double));
    for (int j = 0; j < matrix->n; j++) {
        int e = matrix->start[j];
        add_product(matrix->value + 9 * (size_t)e, x + 3 * (size_t)j, y + 3 * (size_t)j);
        for (e++; e < matrix->start[j + 1]; e++) {
            size_t i = (size_t)matrix->row[e];
            const double* B = matrix->value + 9 * (size_t)e;
            add_product(B, x + 3 * (size_t)j, y + 3 * i);
            add_transposed_product(B, x + 3 * i, y + 3 * (size_t)j);
        }
    }
}
