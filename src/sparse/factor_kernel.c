// The sweeps over the panels of one part (layout: factor_layout.h), compiled once per instruction set.
//
// Forward, panels ascending, per panel with own values b1:  t = W b1;  own <- D^-2 t1;  border += t2.
// Backward, panels descending:                              own <- W^T (own, border).
// The backward sweep is the exact transpose of the forward one with the same rounded numbers. Values are
// single or half, arithmetic single. A chunk keeps its columns' factors (forward) or sums (backward) in
// registers while the rows stream by in groups of eight.
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "sparse/factor_layout.h"
#include "sparse/half.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define INLINE static inline __attribute__((always_inline))

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));

INLINE float4 load4(const float* source) {
    float4 value;
    memcpy(&value, source, sizeof value);
    return value;
}

INLINE void store4(float* target, float4 value) { memcpy(target, &value, sizeof value); }

INLINE ct_float8 load8(const float* source) {
    ct_float8 value;
    memcpy(&value, source, sizeof value);
    return value;
}

INLINE void store8(float* target, ct_float8 value) { memcpy(target, &value, sizeof value); }

// Eight values of the stream.
INLINE ct_float8 load_tile(const char* tile, bool half) {
    return half ? ct_half_load((const uint16_t*)tile) : load8((const float*)tile);
}

INLINE size_t value_size(bool half) { return half ? sizeof(uint16_t) : sizeof(float); }

// t[row..rows) (+)= chunk * b, b: 4 floats a node; the first chunk of a panel sets t.
INLINE void forward_chunk(const char* tile, int row, int rows, const float* b, float* t, int nodes,
                          bool first, bool half) {
    const size_t step = CT_TILE_ROWS * value_size(half);
    ct_float8 factor[3 * CT_CHUNK_NODES];
#pragma GCC unroll 12
    for (int c = 0; c < 3 * nodes; c++) factor[c] = (ct_float8){0} + b[4 * (c / 3) + c % 3];
    for (; row < rows; row += CT_TILE_ROWS) {
        // two chains of sums halve the latency
        ct_float8 even = first ? (ct_float8){0} : load8(t + row), odd = {0};
#pragma GCC unroll 12
        for (int c = 0; c < 3 * nodes; c++) {
            ct_float8 value = load_tile(tile + (size_t)c * step, half);
            if (c % 2) odd += value * factor[c];
            else even += value * factor[c];
        }
        store8(t + row, even + odd);
        tile += 3 * (size_t)nodes * step;
    }
}

// Lanes (x0 y0 x1 y1) + (x2 y2 x3 y3) of each half.
INLINE ct_float8 fold(ct_float8 x, ct_float8 y) {
    return __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13) +
           __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
}

// Sums over the lanes of three columns, and a zero.
INLINE float4 sum_lanes(ct_float8 x, ct_float8 y, ct_float8 z) {
    ct_float8 xy = fold(x, y), z0 = fold(z, (ct_float8){0});
    ct_float8 low = __builtin_shufflevector(xy, z0, 0, 1, 8, 9, 4, 5, 12, 13);
    ct_float8 sum = low + __builtin_shufflevector(xy, z0, 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(sum, sum, 0, 1, 2, 3) + __builtin_shufflevector(sum, sum, 4, 5, 6, 7);
}

// x <- chunk^T y[row..rows), x: 4 floats a node.
INLINE void backward_chunk(const char* tile, int row, int rows, const float* y, float* x, int nodes,
                           bool half) {
    const size_t step = CT_TILE_ROWS * value_size(half);
    ct_float8 sum[3 * CT_CHUNK_NODES];
#pragma GCC unroll 12
    for (int c = 0; c < 3 * nodes; c++) sum[c] = (ct_float8){0};
    for (; row < rows; row += CT_TILE_ROWS) {
        ct_float8 right = load8(y + row);
#pragma GCC unroll 12
        for (int c = 0; c < 3 * nodes; c++) sum[c] += load_tile(tile + (size_t)c * step, half) * right;
        tile += 3 * (size_t)nodes * step;
    }
#pragma GCC unroll 4
    for (int k = 0; k < nodes; k++) store4(x + 4 * k, sum_lanes(sum[3 * k], sum[3 * k + 1], sum[3 * k + 2]));
}

// t[begin..end) = W b1 for those rows (multiples of eight). Rows are independent: any split gives the same
// bits.
INLINE void forward_rows(const ct_sweep* sweep, const ct_panel* panel, int begin, int end, bool half) {
    const char* tile = (const char*)sweep->tile + panel->tile * value_size(half);
    const float* own = sweep->vector + 4 * (size_t)panel->first;
    float* t = sweep->rows;
    for (int node = 0, take; node < panel->width; node += take) {
        const float* b = own + 4 * node;
        int first = ct_chunk_row(3 * node), row = first > begin ? first : begin;
        take = ct_chunk_nodes(panel->width - node);
        size_t row_bytes = 3 * (size_t)take * value_size(half);
        if (row < end) {
            const char* from = tile + (size_t)(row - first) * row_bytes;
            if (node == 0) {
                switch (take) {
                case 1: forward_chunk(from, row, end, b, t, 1, true, half); break;
                case 2: forward_chunk(from, row, end, b, t, 2, true, half); break;
                case 3: forward_chunk(from, row, end, b, t, 3, true, half); break;
                default: forward_chunk(from, row, end, b, t, 4, true, half); break;
                }
            } else {
                switch (take) {
                case 2: forward_chunk(from, row, end, b, t, 2, false, half); break;
                case 3: forward_chunk(from, row, end, b, t, 3, false, half); break;
                default: forward_chunk(from, row, end, b, t, 4, false, half); break;
                }
            }
        }
        tile += (size_t)(panel->rows - first) * row_bytes;
    }
}

// own <- D^-2 t1, border += t2
INLINE void forward_scatter(const ct_sweep* sweep, const ct_panel* panel) {
    float* own = sweep->vector + 4 * (size_t)panel->first;
    const float* t = sweep->rows;
    const float* pivot = sweep->pivot + 4 * (size_t)panel->first;
    for (int i = 0; i < panel->width; i++) store4(own + 4 * i, load4(t + 3 * i) * load4(pivot + 4 * i));
    const int* index = sweep->index + panel->index;
    const int4 mask = {-1, -1, -1, 0};
    t += 3 * panel->width;
    for (int i = 0; i < panel->border; i++) {
        float* target = sweep->vector + 4 * (size_t)index[i];
        store4(target, load4(target) + (float4)((int4)load4(t + 3 * i) & mask));
    }
}

// y = (own, border), three floats a node; the fourth, a zero, is overwritten by the next node
INLINE void backward_gather(const ct_sweep* sweep, const ct_panel* panel) {
    const float* own = sweep->vector + 4 * (size_t)panel->first;
    float* y = sweep->rows;
    const int* index = sweep->index + panel->index;
    for (int i = 0; i < panel->width; i++) store4(y + 3 * i, load4(own + 4 * i));
    y += 3 * panel->width;
    for (int i = 0; i < panel->border; i++) store4(y + 3 * i, load4(sweep->vector + 4 * (size_t)index[i]));
    store8(y + 3 * panel->border, (ct_float8){0});
}

// own <- W^T y for the chunks that begin at nodes [begin, end). Columns are independent: any split gives the
// same bits.
INLINE void backward_columns(const ct_sweep* sweep, const ct_panel* panel, int begin, int end, bool half) {
    const char* tile = (const char*)sweep->tile + panel->tile * value_size(half);
    float* own = sweep->vector + 4 * (size_t)panel->first;
    const float* y = sweep->rows;
    for (int node = 0, take; node < end; node += take) {
        float* x = own + 4 * node;
        int row = ct_chunk_row(3 * node), rows = panel->rows;
        take = ct_chunk_nodes(panel->width - node);
        if (node >= begin) {
            switch (take) {
            case 1: backward_chunk(tile, row, rows, y, x, 1, half); break;
            case 2: backward_chunk(tile, row, rows, y, x, 2, half); break;
            case 3: backward_chunk(tile, row, rows, y, x, 3, half); break;
            default: backward_chunk(tile, row, rows, y, x, 4, half); break;
            }
        }
        tile += 3 * (size_t)take * (size_t)(rows - row) * value_size(half);
    }
}

INLINE void forward(const ct_sweep* sweep, bool half) {
    for (int i = 0; i < sweep->npanel; i++) {
        forward_rows(sweep, &sweep->panel[i], 0, sweep->panel[i].rows, half);
        forward_scatter(sweep, &sweep->panel[i]);
    }
}

INLINE void backward(const ct_sweep* sweep, bool half) {
    for (int i = sweep->npanel - 1; i >= 0; i--) {
        backward_gather(sweep, &sweep->panel[i]);
        backward_columns(sweep, &sweep->panel[i], 0, sweep->panel[i].width, half);
    }
}

// Eight rows of one column as floats; zeros below the panel, and nothing beyond the range of half.
INLINE ct_float8 read_rows(const double* column, int row, int height, bool half) {
    typedef double double8 __attribute__((vector_size(8 * CT_TILE_ROWS)));
    typedef int64_t mask8 __attribute__((vector_size(8 * CT_TILE_ROWS)));
    double8 entry = {0};
    if (row + CT_TILE_ROWS <= height) memcpy(&entry, column + row, sizeof entry);
    else
        for (int i = 0; row + i < height; i++) entry[i] = column[row + i];
    const double8 limit = (double8){0} + (half ? 65504 : FLT_MAX);
    const mask8 above = entry > limit, below = entry < -limit;
    entry = (double8)(((mask8)limit & above) | ((mask8)-limit & below) | ((mask8)entry & ~(above | below)));
    return __builtin_convertvector(entry, ct_float8);
}

INLINE void pack_panel(const ct_panel* panel, const double* W, size_t stride, int begin, int end, void* tile,
                       bool half) {
    char* target = (char*)tile + panel->tile * value_size(half);
    int height = 3 * (panel->width + panel->border);
    for (int node = 0, take; node < panel->width; node += take) {
        take = ct_chunk_nodes(panel->width - node);
        if (node < begin || node >= end) {
            target += 3 * (size_t)take * (size_t)(panel->rows - ct_chunk_row(3 * node)) * value_size(half);
            continue;
        }
        for (int row = ct_chunk_row(3 * node); row < panel->rows; row += CT_TILE_ROWS)
            for (int c = 3 * node; c < 3 * (node + take); c++) {
                ct_float8 value = read_rows(W + (size_t)c * stride, row, height, half);
                if (half) ct_half_store((uint16_t*)target, value);
                else store8((float*)target, value);
                target += CT_TILE_ROWS * value_size(half);
            }
    }
}

// One set of entry points for each precision.
#define DEFINE_KERNELS(name, half)                                                                           \
    static void forward_##name(const ct_sweep* sweep) { forward(sweep, half); }                              \
    static void backward_##name(const ct_sweep* sweep) { backward(sweep, half); }                            \
    static void forward_rows_##name(const ct_sweep* sweep, const ct_panel* panel, int begin, int end) {      \
        forward_rows(sweep, panel, begin, end, half);                                                        \
    }                                                                                                        \
    static void backward_columns_##name(const ct_sweep* sweep, const ct_panel* panel, int begin, int end) {  \
        backward_columns(sweep, panel, begin, end, half);                                                    \
    }                                                                                                        \
    static void pack_##name(const ct_panel* panel, const double* W, size_t stride, int begin, int end,       \
                            void* tile) {                                                                    \
        pack_panel(panel, W, stride, begin, end, tile, half);                                                \
    }

DEFINE_KERNELS(single, false)
DEFINE_KERNELS(half, true)

static void scatter(const ct_sweep* sweep, const ct_panel* panel) { forward_scatter(sweep, panel); }
static void gather(const ct_sweep* sweep, const ct_panel* panel) { backward_gather(sweep, panel); }

// Eight independent sums, so that the loads are the limit.
static float stream(const float* from, size_t count) {
    typedef float lanes __attribute__((vector_size(8 * CT_LANES)));
    enum { WIDTH = 2 * CT_LANES, SUMS = 8 };
    lanes sum[SUMS] = {{0}};
    for (size_t i = 0; i < count; i += WIDTH * SUMS)
        for (int k = 0; k < SUMS; k++) sum[k] += *(const lanes*)(from + i + (size_t)(k * WIDTH));
    float total = 0;
    for (int k = 0; k < SUMS; k++)
        for (int l = 0; l < WIDTH; l++) total += sum[k][l];
    return total;
}

extern const ct_factor_kernels JOIN(ct_factor_kernels, CT_ISA)[2];
const ct_factor_kernels JOIN(ct_factor_kernels, CT_ISA)[2] = {
    [CT_PRECISION_SINGLE] = {forward_single, backward_single, forward_rows_single, scatter, gather,
                             backward_columns_single, pack_single, stream},
    [CT_PRECISION_HALF] = {forward_half, backward_half, forward_rows_half, scatter, gather,
                           backward_columns_half, pack_half, stream},
};
