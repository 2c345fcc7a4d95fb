// Dense kernels of fronts, compiled once per instruction set (CT_ISA, CT_LANES); see fronts.h. Matrices are
// column-major.
//
// All of them work on tiles of two vectors of rows by six columns, two nodes, whose sums
//     C -= sum_p A[p] B[p]^T,   A: rows of column p,   B: six numbers,
// stay in registers. Vectors of rows begin at the first row; rows behind the last whole vector, and columns
// behind the last whole six, are copied and padded with zeros. A tile reaches above the diagonal where it
// begins within it: what it leaves there is never read.
#include <math.h>
#include <string.h>

#include "sparse/fronts.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)
#define INLINE static inline __attribute__((always_inline))

enum { ROWS = CT_LANES, SIX = 6, CHUNKS = CT_LANES == 4 ? 1 : 2 };  // as the registers hold

typedef double vector __attribute__((vector_size(8 * ROWS)));
typedef double vector_unaligned __attribute__((vector_size(8 * ROWS), aligned(8)));

INLINE vector load(const double* from) { return *(const vector_unaligned*)from; }
INLINE void store(double* to, vector value) { *(vector_unaligned*)to = value; }

// B: six numbers of each column.
typedef struct side {
    const double* B;
    size_t stride;
} side;

// sum = A B^T over p in [0, count), `chunks` vectors of rows.
INLINE void multiply(int chunks, int count, const double* A, size_t a, side b, vector sum[CHUNKS][SIX]) {
#pragma GCC unroll 2
    for (int k = 0; k < chunks; k++)
#pragma GCC unroll 6
        for (int c = 0; c < SIX; c++) sum[k][c] = (vector){0};
    for (int p = 0; p < count; p++, A += a, b.B += b.stride)
#pragma GCC unroll 2
        for (int k = 0; k < chunks; k++) {
            const vector x = load(A + k * ROWS);
#pragma GCC unroll 6
            for (int c = 0; c < SIX; c++) sum[k][c] += x * b.B[c];
        }
}

// Rows [first, first + count) of some columns, up to six: where they are, or a copy with zeros behind them.
INLINE side side_of(const double* L, size_t stride, int first, int count, int columns, double* copy) {
    if (count >= SIX) return (side){L + first, stride};
    for (int p = 0; p < columns; p++)
        for (int c = 0; c < SIX; c++)
            copy[SIX * p + c] = c < count ? L[(size_t)p * stride + (size_t)(first + c)] : 0;
    return (side){copy, SIX};
}

// Rows [first, first + count) of all columns, padded to a vector.
static void copy_rows(const double* L, size_t stride, int first, int count, int columns, double* to) {
    for (int p = 0; p < columns; p++, to += ROWS)
        for (int i = 0; i < ROWS; i++) to[i] = i < count ? L[(size_t)p * stride + (size_t)(first + i)] : 0;
}

// ---- elimination ---------------------------------------------------------------------------

// The six columns at hand, or fewer: their rows in each column before them, the factor of their diagonal
// block, and the inverses of its diagonal.
typedef struct six {
    int first, count;
    side before;
    double L[SIX][SIX], inverse[SIX];
} six;

// Rows of the six columns, in place: less what the columns before take away, times L^-T.
INLINE void eliminate_rows(const six* s, int chunks, double* A, size_t a) {
    vector x[CHUNKS][SIX];
    multiply(chunks, s->first, A, a, s->before, x);
    double* at = A + (size_t)s->first * a;
#pragma GCC unroll 2
    for (int k = 0; k < chunks; k++)
#pragma GCC unroll 6
        for (int c = 0; c < SIX; c++) {
            vector value = (c < s->count ? load(at + (size_t)c * a + k * ROWS) : (vector){0}) - x[k][c];
#pragma GCC unroll 6
            for (int d = 0; d < c; d++) value -= x[k][d] * s->L[d][c];
            x[k][c] = value * s->inverse[c];
            if (c < s->count) store(at + (size_t)c * a + k * ROWS, x[k][c]);
        }
}

// The factor of the diagonal block, from A and the columns before; false: not positive definite.
static bool factor_six(six* s, const double* A, size_t stride) {
    for (int c = 0; c < SIX; c++) {
        s->inverse[c] = 0;
        for (int r = c; r < SIX; r++) s->L[c][r] = 0;
        for (int r = c; r < s->count; r++) s->L[c][r] = A[(size_t)c * stride + (size_t)r];
    }
    const double* B = s->before.B;
    for (int p = 0; p < s->first; p++, B += s->before.stride)
        for (int c = 0; c < s->count; c++)
            for (int r = c; r < SIX; r++) s->L[c][r] -= B[c] * B[r];
    for (int c = 0; c < s->count; c++) {
        for (int d = 0; d < c; d++)
            for (int r = c; r < SIX; r++) s->L[c][r] -= s->L[d][c] * s->L[d][r];
        const double pivot = s->L[c][c];
        if (!(pivot > 0) || !isfinite(pivot)) return false;
        s->inverse[c] = 1 / sqrt(pivot);
        for (int r = c; r < SIX; r++) s->L[c][r] *= s->inverse[c];
    }
    return true;
}

static bool eliminate(double* L, int columns, int rows) {
    double tail[CT_FRONTS_NARROW * ROWS], before[CT_FRONTS_NARROW * SIX];
    const size_t stride = (size_t)rows;
    const int whole = rows / ROWS * ROWS, rest = rows - whole;
    copy_rows(L, stride, whole, rest, columns, tail);
    six s;
    for (s.first = 0; s.first < columns; s.first += SIX) {
        s.count = columns - s.first < SIX ? columns - s.first : SIX;
        s.before = side_of(L, stride, s.first, s.count, s.first, before);
        double* own = L + (size_t)s.first * stride;
        if (!factor_six(&s, own + s.first, stride)) return false;
        int i = s.first / ROWS * ROWS;
        for (; i + CHUNKS * ROWS <= whole; i += CHUNKS * ROWS) eliminate_rows(&s, CHUNKS, L + i, stride);
        for (; i < whole; i += ROWS) eliminate_rows(&s, 1, L + i, stride);
        if (rest) eliminate_rows(&s, 1, tail, ROWS);
        for (int c = 0; c < s.count; c++) {
            for (int r = 0; r < rest; r++)
                own[(size_t)c * stride + (size_t)(whole + r)] = tail[ROWS * (s.first + c) + r];
            memset(own + (size_t)c * stride, 0, (size_t)(s.first + c) * sizeof(double));
        }
    }
    return true;
}

// ---- what is left --------------------------------------------------------------------------

// Rows of `count` columns of U.
INLINE void leave_rows(int chunks, int columns, const double* A, size_t a, side b, int count, double* U,
                       size_t stride) {
    vector sum[CHUNKS][SIX];
    multiply(chunks, columns, A, a, b, sum);
#pragma GCC unroll 2
    for (int k = 0; k < chunks; k++)
#pragma GCC unroll 6
        for (int c = 0; c < SIX; c++) {
            double* to = U + (size_t)c * stride + k * ROWS;
            if (c < count) store(to, load(to) - sum[k][c]);
        }
}

static void leave(const double* L, int columns, int stride, int rows, int count, double* U) {
    double tail[CT_FRONTS_NARROW * ROWS], few[CT_FRONTS_NARROW * SIX];
    const size_t a = (size_t)stride, u = (size_t)rows;
    const int whole = rows / ROWS * ROWS, rest = rows - whole;
    copy_rows(L, a, whole, rest, columns, tail);
    for (int j = 0; j < count; j += SIX) {
        const int six = count - j < SIX ? count - j : SIX;
        double* to = U + (size_t)j * u;
        const side b = side_of(L, a, j, six, columns, few);
        int i = j / ROWS * ROWS;
        for (; i + CHUNKS * ROWS <= whole; i += CHUNKS * ROWS)
            leave_rows(CHUNKS, columns, L + i, a, b, six, to + i, u);
        for (; i < whole; i += ROWS) leave_rows(1, columns, L + i, a, b, six, to + i, u);
        if (!rest) continue;
        double last[SIX * ROWS] = {0};
        leave_rows(1, columns, tail, ROWS, b, SIX, last, ROWS);
        for (int c = 0; c < six; c++)
            for (int r = 0; r < rest; r++) to[(size_t)c * u + (size_t)(whole + r)] += last[ROWS * c + r];
    }
}

// ---- inverse -------------------------------------------------------------------------------

// `chunks` vectors of row r of inv(L11) from column c on, of the rows before it: X[r] = (e_r - sum_p L[r,p]
// X[p])/L[r,r]. L: row r; rows of X have `width` numbers.
INLINE void invert_vectors(int chunks, const double* L, size_t stride, int r, int c, double* X,
                           size_t width) {
    vector sum[4] = {{0}, {0}, {0}, {0}};
    for (int p = c; p < r; p++)
#pragma GCC unroll 4
        for (int k = 0; k < chunks; k++)
            sum[k] += load(X + (size_t)p * width + c + k * ROWS) * L[(size_t)p * stride];
#pragma GCC unroll 4
    for (int k = 0; k < chunks; k++)
        store(X + (size_t)r * width + c + k * ROWS, sum[k] * -(1 / L[(size_t)r * stride]));
}

static void invert_row(const double* L, size_t stride, int r, double* X, size_t width) {
    int c = 0;
    for (; c + 3 * ROWS <= r; c += 4 * ROWS) invert_vectors(4, L + r, stride, r, c, X, width);
    for (; c <= r; c += ROWS) invert_vectors(1, L + r, stride, r, c, X, width);
    X[(size_t)r * (width + 1)] = 1 / L[(size_t)r * (stride + 1)];
}

// Rows of -L21 inv(L11), of a copy of L21.
INLINE void invert_rows(int chunks, int columns, int count, const double* A, const double* X, size_t width,
                        double* L, size_t stride) {
    for (int j = 0; j < columns; j += SIX) {
        vector sum[CHUNKS][SIX];
        multiply(chunks, columns - j, A + (size_t)(j * chunks * ROWS), (size_t)(chunks * ROWS),
                 (side){X + (size_t)j * (width + 1), width}, sum);
#pragma GCC unroll 2
        for (int k = 0; k < chunks; k++)
#pragma GCC unroll 6
            for (int c = 0; c < SIX; c++) {
                double* to = L + (size_t)(j + c) * stride + k * ROWS;
                const vector value = -sum[k][c];
                if (j + c >= columns) continue;
                if (count == chunks * ROWS) store(to, value);
                else memcpy(to, &value, (size_t)count * sizeof(double));
            }
    }
}

// [inv(L11); -L21 inv(L11)] in place.
static void invert(double* L, int columns, int rows, double* X) {
    double copy[CT_FRONTS_NARROW * CHUNKS * ROWS];
    const size_t stride = (size_t)rows, width = (size_t)CT_FRONTS_WIDTH(columns);
    memset(X, 0, width * (size_t)columns * sizeof(double));
    for (int r = 0; r < columns; r++) invert_row(L, stride, r, X, width);
    for (int c = 0; c < columns; c++)
        for (int r = c; r < columns; r++)
            L[(size_t)c * stride + (size_t)r] = X[(size_t)r * width + (size_t)c];
    int i = columns;
    for (; i + CHUNKS * ROWS <= rows; i += CHUNKS * ROWS) {
        for (int p = 0; p < columns; p++)
            memcpy(copy + p * CHUNKS * ROWS, L + (size_t)p * stride + i, CHUNKS * ROWS * sizeof(double));
        invert_rows(CHUNKS, columns, CHUNKS * ROWS, copy, X, width, L + i, stride);
    }
    for (; i < rows; i += ROWS) {
        const int count = rows - i < ROWS ? rows - i : ROWS;
        copy_rows(L, stride, i, count, columns, copy);
        invert_rows(1, columns, count, copy, X, width, L + i, stride);
    }
}

// ---- assembly ------------------------------------------------------------------------------

static void add(int unknowns, int skip, const ct_front_run* run, int count, const double* restrict from,
                double* restrict to) {
    for (int k = 0; k < count; k++, skip = 0) {
        const int size = unknowns * (run[k].nodes - skip);
        const double* source = from + unknowns * (run[k].from + skip);
        double* target = to + unknowns * (run[k].to + skip);
        for (int i = 0; i < size; i++) target[i] += source[i];
    }
}

const ct_fronts_kernels WITH_ISA(ct_fronts_kernels, CT_ISA) = {eliminate, leave, invert, add};
