// Which colliders may be near one another: a sweep over their boxes along the axis that parts most of them.
#ifndef CT_CONTACT_BROAD_H
#define CT_CONTACT_BROAD_H

#include "contact/collision.h"
#include "shape/bvh.h"

typedef struct ct_broad {  // zero-initialised: empty
    uint64_t* pair;        // count, ascending; see ct_broad_first
    size_t count, capacity;
    uint64_t* order;  // noted
    size_t order_capacity;
} ct_broad;

// Forgets all pairs.
void ct_broad_clear(ct_broad* broad);
// Notes a pair; a == b is the collider with itself. CT_OUT_OF_MEMORY.
ct_status ct_broad_note(ct_broad* broad, int a, int b);
// Notes the pairs of those that take part (in) that may touch and whose boxes overlap, where one of the two
// has moved.
ct_status ct_broad_sweep(ct_broad* broad, const ct_collision* collision, const ct_box* box, const bool* in,
                         const bool* moved);
// By the first collider, then by the second, each with itself last.
void ct_broad_sort(ct_broad* broad);
void ct_broad_free(ct_broad* broad);

static inline int ct_broad_first(uint64_t pair) { return (int)(pair >> 32); }
static inline int ct_broad_second(uint64_t pair) {
    return (uint32_t)pair == UINT32_MAX ? ct_broad_first(pair) : (int)(uint32_t)pair;
}

#endif
