// The sweep over boxes; see broad.h.
#include "contact/broad.h"

#include <math.h>
#include <string.h>

// ---- sorting, in place ---------------------------------------------------------------------

static void sift(uint64_t* key, size_t i, size_t count) {
    const uint64_t moved = key[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && key[child + 1] > key[child]) child++;
        if (moved >= key[child]) break;
        key[i] = key[child];
    }
    key[i] = moved;
}

static void sort(uint64_t* key, size_t count) {
    for (size_t i = count / 2; i-- > 0;) sift(key, i, count);
    for (size_t end = count; end > 1;) {
        const uint64_t last = key[--end];
        key[end] = key[0];
        key[0] = last;
        sift(key, 0, end);
    }
}

// ---- pairs ---------------------------------------------------------------------------------

void ct_broad_clear(ct_broad* broad) { broad->count = 0; }

ct_status ct_broad_note(ct_broad* broad, int a, int b) {
    if (!ct_reserve((void**)&broad->pair, &broad->capacity, broad->count + 1, sizeof *broad->pair))
        return CT_OUT_OF_MEMORY;
    const uint64_t first = (uint32_t)(a < b ? a : b), second = (uint32_t)(a < b ? b : a);
    broad->pair[broad->count++] = first << 32 | (a == b ? UINT32_MAX : second);
    return CT_OK;
}

void ct_broad_sort(ct_broad* broad) { sort(broad->pair, broad->count); }

void ct_broad_free(ct_broad* broad) {
    ct_free(broad->pair);
    ct_free(broad->order);
    *broad = (ct_broad){0};
}

// ---- the sweep -----------------------------------------------------------------------------

// The axis along which the boxes spread over most of their own widths.
static int choose_axis(const ct_box* box, const bool* in, int count) {
    double best = -1;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY, width = 0;
        for (int c = 0; c < count; c++) {
            if (!in[c]) continue;
            low = fmin(low, box[c].lo[k]);
            high = fmax(high, box[c].hi[k]);
            width += (double)box[c].hi[k] - (double)box[c].lo[k];
        }
        const double spread = width > 0 ? (high - low) / width : 0;
        if (spread > best) best = spread, axis = k;
    }
    return axis;
}

// Ascending as the numbers are.
static uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static bool any(const bool* moved, int count) {
    for (int c = 0; c < count; c++)
        if (moved[c]) return true;
    return false;
}

ct_status ct_broad_sweep(ct_broad* broad, const ct_collision* collision, const ct_box* box, const bool* in,
                         const bool* moved) {
    const int n = collision->ncollider;
    size_t count = 0;
    if (!any(moved, n)) return CT_OK;
    if (!ct_reserve((void**)&broad->order, &broad->order_capacity, (size_t)n, sizeof *broad->order))
        return CT_OUT_OF_MEMORY;
    const int axis = choose_axis(box, in, n);
    for (int c = 0; c < n; c++)
        if (in[c]) broad->order[count++] = (uint64_t)bits_of(box[c].lo[axis]) << 32 | (uint32_t)c;
    sort(broad->order, count);
    for (size_t i = 0; i < count; i++) {
        const int a = (int)(uint32_t)broad->order[i];
        for (size_t j = i + 1; j < count; j++) {
            const int b = (int)(uint32_t)broad->order[j];
            if (box[b].lo[axis] > box[a].hi[axis]) break;
            if (!(moved[a] || moved[b]) || !ct_box_overlap(box + a, box + b) ||
                !ct_collision_may_touch(collision, a, b))
                continue;
            if (ct_broad_note(broad, a, b)) return CT_OUT_OF_MEMORY;
        }
    }
    return CT_OK;
}
