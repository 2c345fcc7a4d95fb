// Lists of pairs; see pair.h.
#include "contact/pair.h"

#include <string.h>

void ct_pairs_free(ct_pairs* pairs) {
    ct_free(pairs->item);
    *pairs = (ct_pairs){0};
}

static bool reserve(ct_pairs* pairs, size_t count) {
    return ct_reserve((void**)&pairs->item, &pairs->capacity, count, sizeof(ct_pair));
}

bool ct_pairs_add(ct_pairs* pairs, const ct_pair* pair) {
    if (pairs->count == pairs->capacity && !reserve(pairs, pairs->count + 1)) return false;
    pairs->item[pairs->count++] = *pair;
    return true;
}

int ct_pair_compare(const ct_pair* a, const ct_pair* b) {
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (a->plane != b->plane) return a->plane < b->plane ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (a->node[k] != b->node[k]) return a->node[k] < b->node[k] ? -1 : 1;
    return 0;
}

// Of two finds of one pair, which counts: the earlier, and for equal times whatever does not depend on the
// order of the search.
static bool counts(const ct_pair* a, const ct_pair* b) {
    if (a->time != b->time) return a->time < b->time;
    if (a->sign != b->sign) return a->sign > b->sign;
    for (int k = 0; k < 3; k++)
        if (a->side[k] != b->side[k]) return a->side[k] < b->side[k];
    return true;
}

// out = the union of two sorted runs.
static size_t merge(const ct_pair* a, size_t na, const ct_pair* b, size_t nb, ct_pair* out) {
    size_t i = 0, j = 0, count = 0;
    while (i < na && j < nb) {
        const int order = ct_pair_compare(a + i, b + j);
        j += order >= 0;
        out[count++] = order > 0 || (order == 0 && !counts(a + i, b + j - 1)) ? b[j - 1] : a[i];
        i += order <= 0;
    }
    memcpy(out + count, a + i, (na - i) * sizeof *a);
    count += na - i;
    memcpy(out + count, b + j, (nb - j) * sizeof *b);
    return count + (nb - j);
}

// Sorts `count` pairs into item itself; scratch has room for as many. Returns how many are left.
static size_t sort_run(ct_pair* item, size_t count, ct_pair* scratch) {
    if (count < 2) return count;
    const size_t half = count / 2;
    const size_t na = sort_run(item, half, scratch), nb = sort_run(item + half, count - half, scratch);
    const size_t left = merge(item, na, item + half, nb, scratch);
    memcpy(item, scratch, left * sizeof *item);
    return left;
}

ct_status ct_pairs_sort(ct_pairs* pairs, ct_pairs* scratch) {
    if (!reserve(scratch, pairs->count)) return CT_OUT_OF_MEMORY;
    if (pairs->count > 0) pairs->count = sort_run(pairs->item, pairs->count, scratch->item);
    return CT_OK;
}
