// How the numbers of many frames are made small.
//
// Positions: with q = round((x - low) / step), step = (high - low) / levels for each axis (65535, and 4095
// for the ends of muscles, which lie inside of the flesh), the residual of node i in frame k is, modulo 2^16,
//     r = q[k] - 2 q[k-1] + q[k-2]   (k >= 2),   q[1] - q[0],   and in the first frame q[i] - q[i-1].
// Residuals become unsigned by zigzag, r -> 2 r or -2 r - 1. Low bytes and high bytes go into arrays of their
// own, in a frame first those of x, then of y, then of z.
//
// Colours: q = round(127 ((value - low) / (high - low))^(1/power)); residual q[k] - q[k-1] modulo 2^8, in the
// first frame q[i] - q[i-1]. The activation of muscles likewise, from 0 to 1 and with power 1.
#ifndef CT_OUT_PAGE_CODE_H
#define CT_OUT_PAGE_CODE_H

#include "out/page_bytes.h"

typedef struct ct_page_range {
    double low, high;
} ct_page_range;

enum { CT_PAGE_LEVELS = 127, CT_PAGE_POINT_LEVELS = 65535, CT_PAGE_END_LEVELS = 4095 };

// Widens the ranges of the three axes, or of one number, to what `count` nodes have; node NULL: all.
void ct_page_range_points(ct_page_range range[3], const double* x, const int* node, size_t count);
void ct_page_range_values(ct_page_range* range, const double* values, const int* node, size_t count);

typedef struct ct_page_coder {
    size_t count;  // numbers per frame: 3 nodes, or nodes
    int levels;
    int frame;         // that comes next
    uint16_t* before;  // 2 count: of the last frame, and of the one before it
} ct_page_coder;

// Memory from the arena.
void ct_page_coder_create(ct_page_coder* coder, ct_arena* arena, size_t count, int levels);
// Adds a frame: places x[node[i]], or values[node[i]]; node NULL: all, one after the other.
void ct_page_code_points(ct_page_coder* coder, ct_page_bytes* low, ct_page_bytes* high,
                         const ct_page_range range[3], const double* x, const int* node);
void ct_page_code_values(ct_page_coder* coder, ct_page_bytes* out, const ct_page_range* range, int power,
                         const double* values, const int* node);

#endif
