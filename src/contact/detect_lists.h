// Which primitives may meet: lists that hold for as long as the nodes stay near where they were.
//
// A list of two colliders, or of one with itself, holds every vertex and face, two edges, edge and face
// without common nodes that may come as near as is asked for while each node stays within a box of its own,
// its *room*. Rooms of different colliders are seen from the world. Those of a collider against itself are
// seen from a frame that goes and turns with it: neighbours on a surface are always near one another, but
// their distances change little while a body flies, turns and bends.
//
// With each pair goes how far apart it was where the list was made, at x = X. With d = x - X, two convex
// primitives are later apart by at least
//     apart - max_ij |d_i - d_j|,   i a node of the first, j of the second,
// and on a straight way by the least of this at its ends. Where that is enough, nothing more is looked at.
//
// Whatever the lists hold, a search finds the same: they may hold too much, and the bound leaves room for
// everything by which the tests of a pair may answer early (round-off, a capped number of steps).
#ifndef CT_CONTACT_DETECT_LISTS_H
#define CT_CONTACT_DETECT_LISTS_H

#include "contact/detect_data.h"

ct_status ct_lists_build(ct_detect* detect, const ct_collision* collision);
void ct_lists_free(ct_detect* detect);
// Rooms from now on: boxes around motions, widened by `reach`, in which pairs are listed that may come as
// near as their thickness + margin.
void ct_lists_set(ct_detect* detect, double margin, double reach);
// Makes lists where those there are do not hold for a motion from x to end; fresh: or where they hold much
// more than is needed.
ct_status ct_lists_cover(ct_detect* detect, const ct_collision* collision, const double* x, const double* end,
                         double margin, bool fresh);

// On the way from x to end two listed primitives, the first `first` of `count` nodes and the others, stay
// apart by more than `need`.
static inline bool ct_candidate_is_apart(const ct_candidate* c, const double* X, const double* x,
                                         const double* end, const int* node, int first, int count,
                                         double need) {
    const double room = c->apart - 1.001 * need;
    if (!(room > 0)) return false;
    double most = 0;
    for (int way = 0; way < (x == end ? 1 : 2); way++) {
        const double* at = way ? end : x;
        ct_vec3 d[5];
        for (int k = 0; k < count; k++)
            d[k] = ct_vec3_sub(ct_vec3_load(at + 3 * (size_t)node[k]), ct_vec3_load(X + 3 * (size_t)node[k]));
        for (int i = 0; i < first; i++)
            for (int j = first; j < count; j++) {
                const ct_vec3 u = ct_vec3_sub(d[i], d[j]);
                const double square = ct_vec3_dot(u, u);
                if (!(square <= most)) most = square;
            }
    }
    // a sixteenth: with it, no test of a pair needs more than a part of its steps
    return most * (1.0625 * 1.0625) < room * room;
}

#endif
