// The sweeps over one panel for a group of right-hand sides (factor_many.h), compiled once per instruction
// set.
//
// Lanes are right-hand sides: a value of the factor is spread over a vector and multiplied with a row of the
// group. Half precision is widened eight rows at a time. Sums are kept in registers: 4 rows by 3 vectors or
// the like.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sparse/factor_many.h"
#include "sparse/half.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define INLINE static inline __attribute__((always_inline))

INLINE ct_float8 load8(const float* source) {
    ct_float8 value;
    memcpy(&value, source, sizeof value);
    return value;
}

INLINE void store8(float* target, ct_float8 value) { memcpy(target, &value, sizeof value); }

INLINE size_t value_size(bool half) { return half ? sizeof(uint16_t) : sizeof(float); }

// `columns` groups of eight rows as floats: in place, or widened into the buffer.
INLINE const float* widen(const char* tile, int columns, float* buffer, bool half) {
    if (!half) return (const float*)tile;
    for (int c = 0; c < columns; c++) store8(buffer + 8 * c, ct_half_load((const uint16_t*)tile + 8 * c));
    return buffer;
}

// t[row..rows) (+)= chunk * b; the first chunk sets t.
INLINE void forward_chunk(const char* tile, int row, int rows, int columns, const float* b, float* t,
                          bool first, bool half, int V) {
    enum { MOST = 8 };
    const int lanes = 8 * V, block = V == 1 ? 8 : 4;
    float buffer[3 * CT_CHUNK_NODES * CT_TILE_ROWS];
    for (; row < rows; row += CT_TILE_ROWS) {
        const float* w = widen(tile, columns, buffer, half);
        for (int r = 0; r < CT_TILE_ROWS; r += block) {
            float* target = t + (size_t)(row + r) * (size_t)lanes;
            ct_float8 sum[MOST][CT_MANY_VECTORS];
#pragma GCC unroll 8
            for (int i = 0; i < block; i++)
#pragma GCC unroll 3
                for (int v = 0; v < V; v++)
                    sum[i][v] = first ? (ct_float8){0} : load8(target + i * lanes + 8 * v);
            for (int c = 0; c < columns; c++) {
                ct_float8 right[CT_MANY_VECTORS];
#pragma GCC unroll 3
                for (int v = 0; v < V; v++) right[v] = load8(b + c * lanes + 8 * v);
#pragma GCC unroll 8
                for (int i = 0; i < block; i++)
#pragma GCC unroll 3
                    for (int v = 0; v < V; v++) sum[i][v] += w[8 * c + r + i] * right[v];
            }
#pragma GCC unroll 8
            for (int i = 0; i < block; i++)
#pragma GCC unroll 3
                for (int v = 0; v < V; v++) store8(target + i * lanes + 8 * v, sum[i][v]);
        }
        tile += (size_t)columns * CT_TILE_ROWS * value_size(half);
    }
}

// t = W b1 with b1 = 0 before node `begin`
INLINE void multiply(const ct_many_sweep* sweep, const ct_panel* panel, int begin, bool half, int V) {
    const char* tile = (const char*)sweep->tile + panel->tile * value_size(half);
    const size_t lanes = 8 * (size_t)V;
    const float* own = sweep->vector + 3 * (size_t)panel->slot * lanes;
    bool first = true;
    for (int node = 0, take; node < panel->width; node += take) {
        take = ct_chunk_nodes(panel->width - node);
        int row = ct_chunk_row(3 * node);
        if (node + take > begin) {
            const float* b = own + 3 * (size_t)node * lanes;
            if (first) memset(sweep->rows, 0, (size_t)row * lanes * sizeof(float));
            if (first) forward_chunk(tile, row, panel->rows, 3 * take, b, sweep->rows, true, half, V);
            else forward_chunk(tile, row, panel->rows, 3 * take, b, sweep->rows, false, half, V);
            first = false;
        }
        tile += 3 * (size_t)take * (size_t)(panel->rows - row) * value_size(half);
    }
}

INLINE void forward(const ct_many_sweep* sweep, const ct_panel* panel, int begin, float* kept, bool half,
                    int V) {
    multiply(sweep, panel, begin, half, V);
    const size_t lanes = 8 * (size_t)V;
    const float *t = sweep->rows, *pivot = sweep->pivot + 4 * (size_t)panel->slot;
    float* own = kept ? kept : sweep->vector + 3 * (size_t)panel->slot * lanes;
    for (int i = 0; i < 3 * panel->width; i++, t += lanes, own += lanes) {
        float factor = pivot[4 * (i / 3) + i % 3];
        if (kept) factor = sqrtf(factor);
#pragma GCC unroll 3
        for (int v = 0; v < V; v++) store8(own + 8 * v, load8(t + 8 * v) * factor);
    }
    const int* below = sweep->below + panel->index;
    for (int i = 0; i < panel->border; i++, t += 3 * lanes) {
        float* target = sweep->vector + 3 * (size_t)below[i] * lanes;
#pragma GCC unroll 9
        for (int v = 0; v < 3 * V; v++) store8(target + 8 * v, load8(target + 8 * v) + load8(t + 8 * v));
    }
}

// x <- columns of a chunk, transposed, times y[row..rows); `step` bytes from one group of rows to the next
INLINE void backward_columns(const char* tile, size_t step, int row, int rows, const float* y, float* x,
                             int columns, bool half, int V) {
    const int lanes = 8 * V;
    float buffer[3 * CT_CHUNK_NODES * CT_TILE_ROWS];
    ct_float8 sum[3 * CT_CHUNK_NODES][CT_MANY_VECTORS];
#pragma GCC unroll 12
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 3
        for (int v = 0; v < V; v++) sum[c][v] = (ct_float8){0};
    for (; row < rows; row += CT_TILE_ROWS, tile += step) {
        const float* w = widen(tile, columns, buffer, half);
        for (int r = 0; r < CT_TILE_ROWS; r++) {
            ct_float8 right[CT_MANY_VECTORS];
#pragma GCC unroll 3
            for (int v = 0; v < V; v++) right[v] = load8(y + (row + r) * lanes + 8 * v);
#pragma GCC unroll 12
            for (int c = 0; c < columns; c++)
#pragma GCC unroll 3
                for (int v = 0; v < V; v++) sum[c][v] += w[8 * c + r] * right[v];
        }
    }
#pragma GCC unroll 12
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 3
        for (int v = 0; v < V; v++) store8(x + c * lanes + 8 * v, sum[c][v]);
}

// y = (own, border) from row `start` on, zeros in the padding
INLINE void gather(const ct_many_sweep* sweep, const ct_panel* panel, bool empty, int start, int V) {
    const size_t lanes = 8 * (size_t)V, row = lanes * sizeof(float);
    float* y = sweep->rows;
    size_t width = 3 * (size_t)panel->width;
    if (empty) memset(y + (size_t)start * lanes, 0, (width - (size_t)start) * row);
    else memcpy(y, sweep->vector + 3 * (size_t)panel->slot * lanes, width * row);
    const int* below = sweep->below + panel->index;
    y += width * lanes;
    for (int i = 0; i < panel->border; i++, y += 3 * lanes) {
        const float* source = sweep->vector + 3 * (size_t)below[i] * lanes;
#pragma GCC unroll 9
        for (int v = 0; v < 3 * V; v++) store8(y + 8 * v, load8(source + 8 * v));
    }
    memset(y, 0, (size_t)(panel->rows - 3 * (panel->width + panel->border)) * row);
}

INLINE void backward(const ct_many_sweep* sweep, const ct_panel* panel, bool empty, bool half, int V) {
    const size_t lanes = 8 * (size_t)V;
    const char* tile = (const char*)sweep->tile + panel->tile * value_size(half);
    float* own = sweep->vector + 3 * (size_t)panel->slot * lanes;
    int start = empty ? ct_chunk_row(3 * panel->width) : 0;
    gather(sweep, panel, empty, start, V);
    for (int node = 0, take; node < panel->width; node += take) {
        take = ct_chunk_nodes(panel->width - node);
        int first = ct_chunk_row(3 * node), row = first > start ? first : start;
        size_t row_bytes = 3 * (size_t)take * value_size(half), step = CT_TILE_ROWS * row_bytes;
        const char* from = tile + (size_t)(row - first) * row_bytes;
        float* x = own + 3 * (size_t)node * lanes;
        // as many columns at a time as there are registers for
        for (int k = 0; k < take;) {
            const char* column = from + 3 * (size_t)k * CT_TILE_ROWS * value_size(half);
            float* target = x + 3 * (size_t)k * lanes;
            int left = take - k;
            if (V == 1 && left >= 4) {
                backward_columns(column, step, row, panel->rows, sweep->rows, target, 12, half, V);
                k += 4;
            } else if (V < 3 && left >= 2) {
                backward_columns(column, step, row, panel->rows, sweep->rows, target, 6, half, V);
                k += 2;
            } else {
                backward_columns(column, step, row, panel->rows, sweep->rows, target, 3, half, V);
                k++;
            }
        }
        tile += (size_t)(panel->rows - first) * row_bytes;
    }
}

// Rows in pieces that stay in the nearest cache while the left lanes pass by four at a time.
static void gram(int count, const float* left, const float* right, float* sum) {
    enum { PIECE = 96, BLOCK = 4 };
    for (int begin = 0; begin < count; begin += PIECE) {
        int rows = count - begin < PIECE ? count - begin : PIECE;
        for (int i = 0; i < CT_MANY_LANES; i += BLOCK) {
            const float *l = left + (size_t)begin * CT_MANY_LANES + i,
                        *r = right + (size_t)begin * CT_MANY_LANES;
            float* target = sum + CT_MANY_LANES * i;
            ct_float8 total[BLOCK][CT_MANY_VECTORS];
#pragma GCC unroll 4
            for (int k = 0; k < BLOCK; k++)
#pragma GCC unroll 3
                for (int v = 0; v < CT_MANY_VECTORS; v++)
                    total[k][v] = load8(target + CT_MANY_LANES * k + 8 * v);
            for (int row = 0; row < rows; row++, l += CT_MANY_LANES, r += CT_MANY_LANES) {
                ct_float8 vector[CT_MANY_VECTORS];
#pragma GCC unroll 3
                for (int v = 0; v < CT_MANY_VECTORS; v++) vector[v] = load8(r + 8 * v);
#pragma GCC unroll 4
                for (int k = 0; k < BLOCK; k++)
#pragma GCC unroll 3
                    for (int v = 0; v < CT_MANY_VECTORS; v++) total[k][v] += l[k] * vector[v];
            }
#pragma GCC unroll 4
            for (int k = 0; k < BLOCK; k++)
#pragma GCC unroll 3
                for (int v = 0; v < CT_MANY_VECTORS; v++)
                    store8(target + CT_MANY_LANES * k + 8 * v, total[k][v]);
        }
    }
}

// Entry points for each precision and number of vectors.
#define DEFINE_KERNELS(name, half, V)                                                                        \
    static void forward_##name##V(const ct_many_sweep* sweep, const ct_panel* panel, int begin,              \
                                  float* kept) {                                                             \
        forward(sweep, panel, begin, kept, half, V);                                                         \
    }                                                                                                        \
    static void backward_##name##V(const ct_many_sweep* sweep, const ct_panel* panel, bool empty) {          \
        backward(sweep, panel, empty, half, V);                                                              \
    }

DEFINE_KERNELS(single, false, 1)
DEFINE_KERNELS(single, false, 2)
DEFINE_KERNELS(single, false, 3)
DEFINE_KERNELS(half, true, 1)
DEFINE_KERNELS(half, true, 2)
DEFINE_KERNELS(half, true, 3)

extern const ct_many_set JOIN(ct_many_set, CT_ISA);
const ct_many_set JOIN(ct_many_set, CT_ISA) = {
    .kernels = {[CT_PRECISION_SINGLE] = {{forward_single1, backward_single1},
                                         {forward_single2, backward_single2},
                                         {forward_single3, backward_single3}},
                [CT_PRECISION_HALF] = {{forward_half1, backward_half1},
                                       {forward_half2, backward_half2},
                                       {forward_half3, backward_half3}}},
    .gram = gram,
};
