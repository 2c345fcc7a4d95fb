// Dense kernels of small fronts, compiled once per instruction set (CT_ISA): all of them add multiples of
// some columns to one, over rows that lie together. See fronts.h; matrices are column-major.
#include <math.h>
#include <string.h>

#include "sparse/fronts.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)

// x -= a y0 + b y1 + c y2
static inline void subtract3(int n, double* restrict x, double a, const double* restrict y0, double b,
                             const double* restrict y1, double c, const double* restrict y2) {
    for (int i = 0; i < n; i++) x[i] -= a * y0[i] + b * y1[i] + c * y2[i];
}

static inline void subtract6(int n, double* restrict x, const double a[6], const double* restrict y,
                             size_t stride) {
    const double* restrict y1 = y + stride;
    const double* restrict y2 = y1 + stride;
    const double* restrict y3 = y2 + stride;
    const double* restrict y4 = y3 + stride;
    const double* restrict y5 = y4 + stride;
    for (int i = 0; i < n; i++)
        x[i] -= (a[0] * y[i] + a[1] * y1[i] + a[2] * y2[i]) + (a[3] * y3[i] + a[4] * y4[i] + a[5] * y5[i]);
}

// Column after column: what those before it take away, then its pivot.
static bool eliminate(double* L, int columns, int rows) {
    const size_t stride = (size_t)rows;
    for (int j = 0; j < columns; j++) {
        double* x = L + (size_t)j * stride;
        int p = 0;
        for (; p + 3 <= j; p += 3) {
            const double* y = L + (size_t)p * stride;
            subtract3(rows - j, x + j, y[j], y + j, y[stride + (size_t)j], y + stride + j,
                      y[2 * stride + (size_t)j], y + 2 * stride + j);
        }
        for (; p < j; p++) {
            const double *y = L + (size_t)p * stride, a = y[j];
            for (int i = j; i < rows; i++) x[i] -= a * y[i];
        }
        if (!(x[j] > 0) || !isfinite(x[j])) return false;
        const double inverse = 1 / sqrt(x[j]);
        memset(x, 0, (size_t)j * sizeof(double));
        for (int i = j; i < rows; i++) x[i] *= inverse;
    }
    return true;
}

static void leave(const double* L, int columns, int stride, int rows, int count, double* U) {
    const size_t step = (size_t)stride;
    for (int j = 0; j < count; j++) {
        double* x = U + (size_t)j * (size_t)rows + j;
        const double* y = L + j;
        int p = 0;
        for (; p + 6 <= columns; p += 6, y += 6 * step) {
            double a[6];
            for (size_t k = 0; k < 6; k++) a[k] = y[k * step];
            subtract6(rows - j, x, a, y, step);
        }
        for (; p + 3 <= columns; p += 3, y += 3 * step)
            subtract3(rows - j, x, y[0], y, y[step], y + step, y[2 * step], y + 2 * step);
        for (; p < columns; p++, y += step) {
            const double a = y[0];
            for (int i = 0; i < rows - j; i++) x[i] -= a * y[i];
        }
    }
}

// X = [inv(L11); -L21 inv(L11)] in place, from X L11 = [I; -L21], the last column first.
static void invert(double* L, int columns, int rows, double* multiple) {
    const size_t stride = (size_t)rows;
    for (int j = columns - 1; j >= 0; j--) {
        double* x = L + (size_t)j * stride;
        const double inverse = 1 / x[j];
        const int first = (j / 3 + 1) * 3;  // of the whole nodes behind it
        for (int p = j + 1; p < columns; p++) multiple[p] = -x[p], x[p] = 0;
        for (int p = j + 1; p < first && p < columns; p++) {
            const double *y = L + (size_t)p * stride, a = multiple[p];
            for (int i = p; i < rows; i++) x[i] -= a * y[i];
        }
        int p = first;
        for (; p + 3 <= columns; p += 3) {
            const double* y = L + (size_t)p * stride + p;
            subtract3(rows - p, x + p, multiple[p], y, multiple[p + 1], y + stride, multiple[p + 2],
                      y + 2 * stride);
        }
        for (; p < columns; p++) {
            const double *y = L + (size_t)p * stride, a = multiple[p];
            for (int i = p; i < rows; i++) x[i] -= a * y[i];
        }
        x[j] = inverse;
        for (int i = j + 1; i < rows; i++) x[i] *= -inverse;
    }
}

static void add(size_t count, const double* restrict from, double* restrict to) {
    for (size_t i = 0; i < count; i++) to[i] += from[i];
}

const ct_fronts_kernels WITH_ISA(ct_fronts_kernels, CT_ISA) = {eliminate, leave, invert, add};
