// How the numbers of many frames are made small; see page_code.h.
#include "out/page_code.h"

#include <math.h>
#include <string.h>

static void widen(ct_page_range* range, double value) {
    if (!isfinite(value)) return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static size_t pick(const int* node, size_t i) { return node ? (size_t)node[i] : i; }

void ct_page_range_points(ct_page_range range[3], const double* x, const int* node, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) widen(&range[a], x[3 * pick(node, i) + (size_t)a]);
}

void ct_page_range_values(ct_page_range* range, const double* values, const int* node, size_t count) {
    for (size_t i = 0; i < count; i++) widen(range, values[pick(node, i)]);
}

void ct_page_coder_create(ct_page_coder* coder, ct_arena* arena, size_t count, int levels) {
    *coder = (ct_page_coder){.count = count, .levels = levels};
    coder->before = ct_arena_alloc(arena, 2 * count, sizeof *coder->before);
}

static double share(const ct_page_range* range, double value) {
    double width = range->high - range->low;
    return width > 0 && isfinite(value) ? fmin(1, fmax(0, (value - range->low) / width)) : 0;
}

void ct_page_code_points(ct_page_coder* coder, ct_page_bytes* low, ct_page_bytes* high,
                         const ct_page_range range[3], const double* x, const int* node) {
    const size_t count = coder->count, nnode = count / 3;
    uint16_t *last = coder->before, *older = last + count, neighbour = 0;
    uint8_t *first = ct_page_bytes_extend(low, count), *second = ct_page_bytes_extend(high, count);
    if (!first || !second) return;
    for (size_t k = 0; k < count; k++) {
        const size_t axis = k / nnode, i = k % nnode;
        const uint16_t q = (uint16_t)lrint(coder->levels * share(&range[axis], x[3 * pick(node, i) + axis]));
        uint16_t expected = neighbour;
        if (coder->frame == 1) expected = last[k];
        if (coder->frame > 1) expected = (uint16_t)(2 * last[k] - older[k]);
        const uint16_t r = (uint16_t)(q - expected), folded = (uint16_t)(r << 1 ^ (r & 0x8000 ? 0xffff : 0));
        first[k] = (uint8_t)folded;
        second[k] = (uint8_t)(folded >> 8);
        older[k] = last[k];
        last[k] = neighbour = q;
    }
    coder->frame++;
}

void ct_page_code_values(ct_page_coder* coder, ct_page_bytes* out, const ct_page_range* range, int power,
                         const double* values, const int* node) {
    uint8_t* place = ct_page_bytes_extend(out, coder->count);
    uint16_t neighbour = 0;
    if (!place) return;
    for (size_t i = 0; i < coder->count; i++) {
        const double s = share(range, values[pick(node, i)]);
        const uint16_t q = (uint16_t)lrint(coder->levels * (power == 2 ? sqrt(s) : s));
        place[i] = (uint8_t)(q - (coder->frame ? coder->before[i] : neighbour));
        coder->before[i] = neighbour = q;
    }
    coder->frame++;
}
