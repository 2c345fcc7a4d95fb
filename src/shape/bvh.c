// A hierarchy of axis-aligned boxes. See bvh.h.
//
// Every split halves the primitives along the longest side of their centres' box, so that the depth is at
// most log2(count) and the walks below need a stack of fixed size. Children come after their parents: a refit
// is one sweep from the last node to the first.
#include "shape/bvh.h"

#include <math.h>
#include <string.h>

#define LEAF 4  // primitives in a leaf, at most
// pairs of nodes that wait: at most one for each of the 31 levels of either tree, and one more
#define STACK 128

// The order of two primitives along an axis, the number deciding between equal ones.
static inline bool precedes(const double* center, int axis, int i, int j) {
    const double a = center[3 * (size_t)i + (size_t)axis], b = center[3 * (size_t)j + (size_t)axis];
    return a < b || (a == b && i < j);
}

static inline void exchange(int* item, int i, int j) {
    const int keep = item[i];
    item[i] = item[j];
    item[j] = keep;
}

// Moves the `middle` smallest of item[0..count-1] to the front (Hoare's selection, pivot: the median of
// three).
static void select_smallest(int* item, int count, int middle, const double* center, int axis) {
    int low = 0, high = count - 1;
    while (low < high) {
        const int mid = low + (high - low) / 2;
        if (precedes(center, axis, item[mid], item[low])) exchange(item, mid, low);
        if (precedes(center, axis, item[high], item[low])) exchange(item, high, low);
        if (precedes(center, axis, item[high], item[mid])) exchange(item, high, mid);
        const int pivot = item[mid];
        int i = low, j = high;
        while (i <= j) {
            while (precedes(center, axis, item[i], pivot)) i++;
            while (precedes(center, axis, pivot, item[j])) j--;
            if (i <= j) exchange(item, i++, j--);
        }
        if (middle <= j) high = j;
        else if (middle >= i) low = i;
        else return;
    }
}

static int longest_side(const int* item, int count, const double* center) {
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const double at = center[3 * (size_t)item[i] + (size_t)k];
            lo[k] = fmin(lo[k], at);
            hi[k] = fmax(hi[k], at);
        }
    const double x = hi[0] - lo[0], y = hi[1] - lo[1], z = hi[2] - lo[2];
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

static void split(ct_bvh* bvh, int first, int count, const double* center) {
    ct_bvh_node* node = bvh->node + bvh->nnode++;
    *node = (ct_bvh_node){.first = first, .count = count};
    if (count <= LEAF) return;
    int* item = bvh->item + first;
    const int half = count / 2;
    select_smallest(item, count, half, center, longest_side(item, count, center));
    split(bvh, first, half, center);
    node->right = bvh->nnode;
    split(bvh, first + half, count - half, center);
}

ct_status ct_bvh_create(ct_bvh* bvh, ct_arena* arena, int count, const int* item, const double* center) {
    *bvh = (ct_bvh){.count = count};
    bvh->item = ct_arena_copy(arena, item, (size_t)count, sizeof(int));
    bvh->box = ct_arena_alloc(arena, (size_t)count, sizeof(ct_box));
    bvh->node = ct_arena_alloc(arena, (size_t)count + 1, sizeof(ct_bvh_node));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    if (count > 0) split(bvh, 0, count, center);
    return CT_OK;
}

void ct_bvh_refit(ct_bvh* bvh, const ct_box* box) {
    for (int i = 0; i < bvh->count; i++) bvh->box[i] = box[bvh->item[i]];
    for (int n = bvh->nnode - 1; n >= 0; n--) {
        ct_bvh_node* node = bvh->node + n;
        if (node->right) {
            node->box = ct_box_join(bvh->node[n + 1].box, &bvh->node[node->right].box);
            continue;
        }
        node->box = bvh->box[node->first];
        for (int i = 1; i < node->count; i++) node->box = ct_box_join(node->box, bvh->box + node->first + i);
    }
}

static bool leaf_pairs(const ct_bvh* a, const ct_bvh_node* m, const ct_bvh* b, const ct_bvh_node* n,
                       ct_bvh_visit visit, void* user) {
    for (int i = m->first; i < m->first + m->count; i++) {
        if (!ct_box_overlap(a->box + i, &n->box)) continue;
        for (int j = n->first; j < n->first + n->count; j++)
            if (ct_box_overlap(a->box + i, b->box + j) && !visit(a->item[i], b->item[j], user)) return false;
    }
    return true;
}

static bool leaf_self_pairs(const ct_bvh* bvh, const ct_bvh_node* n, ct_bvh_visit visit, void* user) {
    for (int i = n->first; i < n->first + n->count; i++)
        for (int j = i + 1; j < n->first + n->count; j++)
            if (ct_box_overlap(bvh->box + i, bvh->box + j) && !visit(bvh->item[i], bvh->item[j], user))
                return false;
    return true;
}

// Walks the two subtrees below nodes i and j; the one with more primitives is opened first.
static bool walk(const ct_bvh* a, int i, const ct_bvh* b, int j, ct_bvh_visit visit, void* user) {
    int stack[STACK][2], depth = 0;
    stack[depth][0] = i;
    stack[depth++][1] = j;
    while (depth > 0) {
        i = stack[--depth][0];
        j = stack[depth][1];
        const ct_bvh_node *m = a->node + i, *n = b->node + j;
        if (!ct_box_overlap(&m->box, &n->box)) continue;
        if (!m->right && !n->right) {
            if (!leaf_pairs(a, m, b, n, visit, user)) return false;
            continue;
        }
        const bool first = m->right && (!n->right || m->count >= n->count);
        stack[depth][0] = first ? m->right : i;
        stack[depth++][1] = first ? j : n->right;
        stack[depth][0] = first ? i + 1 : i;
        stack[depth++][1] = first ? j : j + 1;
    }
    return true;
}

bool ct_bvh_pairs(const ct_bvh* a, const ct_bvh* b, ct_bvh_visit visit, void* user) {
    return a->count == 0 || b->count == 0 || walk(a, 0, b, 0, visit, user);
}

bool ct_bvh_self_pairs(const ct_bvh* bvh, ct_bvh_visit visit, void* user) {
    for (int n = 0; n < bvh->nnode; n++)
        if (!ct_bvh_node_pairs(bvh, n, visit, user)) return false;
    return true;
}

bool ct_bvh_node_pairs(const ct_bvh* bvh, int node, ct_bvh_visit visit, void* user) {
    const ct_bvh_node* n = bvh->node + node;
    return n->right ? walk(bvh, node + 1, bvh, n->right, visit, user) : leaf_self_pairs(bvh, n, visit, user);
}

ct_box ct_box_around(const double* p, const double* q, double pad) {
    ct_box box;
    for (int k = 0; k < 3; k++) {
        const double lo = (p[k] < q[k] ? p[k] : q[k]) - pad, hi = (p[k] > q[k] ? p[k] : q[k]) + pad;
        // a float is within 2^-24 of the double, relatively; twice that, and the smallest float for zero
        box.lo[k] = (float)(lo - (fabs(lo) * 0x1p-23 + 0x1p-126));
        box.hi[k] = (float)(hi + (fabs(hi) * 0x1p-23 + 0x1p-126));
    }
    return box;
}
