// Which primitives may meet: lists that hold for as long as the nodes stay near where they were.
//
// A list of two colliders, or of one with itself, holds every vertex and face, two edges, edge and face
// without common nodes that may come as near as is asked for while each node stays within a box of its own,
// its *room*. Rooms of different colliders are seen from the world. Those of a collider against itself are
// seen from a frame that goes and turns with it: neighbours on a surface are always near one another, but
// their distances change little while a body flies, turns and bends.
//
// Where a body goes or deforms far within a step, no list would hold for the next search: its lists are those
// of one motion, seen from a frame that goes with the two colliders: what falls side by side does not meet.
//
// With each pair goes a direction that kept it apart where the list was made, and by how much. Where nodes
// have not moved as far since, or where the direction still keeps it apart, at both ends of a way, nothing
// more is looked at.
//
// Whatever the lists hold, a search finds the same: they may hold too much, and bounds leave room for
// everything by which the tests of a pair may answer early (round-off, a capped number of steps: with this
// much room a test advances by at least one of CT_CANDIDATE_STEPS).
#ifndef CT_CONTACT_DETECT_LISTS_H
#define CT_CONTACT_DETECT_LISTS_H

#include "contact/detect_data.h"

#define CT_CANDIDATE_STEPS 32

ct_status ct_lists_build(ct_detect* detect, const ct_collision* collision);
void ct_lists_free(ct_detect* detect);
// Rooms from now on: boxes around motions, widened by `reach`, in which pairs are listed that may come as
// near as their thickness + margin.
void ct_lists_set(ct_detect* detect, double margin, double reach);
// Makes lists where those there are do not hold for a motion from x to end; fresh: or where they hold much
// more than is needed.
ct_status ct_lists_cover(ct_detect* detect, const ct_collision* collision, const double* x, const double* end,
                         double margin, bool fresh);

// Lists edges and faces that may meet at x, after the lists have been made to hold there: they are asked for
// once per step. Lists of a motion's own, until they have held for a second one.
ct_status ct_lists_cross(ct_detect* detect, const ct_collision* collision, const double* x);

// The frame in which the directions of a list are given.
static inline ct_mat3 ct_candidates_turn(const ct_detect* detect, const ct_candidates* list) {
    return list->a == list->b ? detect->rooms[1].frame[list->a].R : ct_mat3_identity();
}

// What pairs of a list must have been apart by to stay apart on the last way that was asked for.
typedef struct ct_drift {
    ct_vec3 start, end;  // m: how far the first collider has gone from the second since the list was made
    double far;          // m
} ct_drift;

// So that they stay apart by more than `need`.
ct_drift ct_candidates_drift(const ct_detect* detect, const ct_candidates* list, double need);

// first: the first primitive is of the first collider.
static inline bool ct_candidate_is_far(const ct_candidate* c, const ct_drift* drift, bool first) {
    const ct_vec3 n = {c->n[0], c->n[1], c->n[2]};
    const double start = ct_vec3_dot(n, drift->start), end = ct_vec3_dot(n, drift->end);
    const double apart = first ? (start < end ? start : end) : (start < end ? -end : -start);
    return c->gap + apart > drift->far;
}

// By how much n keeps the first nodes from the others at x.
static inline double ct_candidate_separation(ct_vec3 n, const double* x, const int* node, int first,
                                             int count) {
    const ct_vec3 origin = ct_vec3_load(x + 3 * (size_t)node[0]);
    double low = 0, high = -INFINITY;
    for (int k = 1; k < count; k++) {
        const double at = ct_vec3_dot(n, ct_vec3_sub(ct_vec3_load(x + 3 * (size_t)node[k]), origin));
        if (k < first) low = at < low ? at : low;
        else high = at > high ? at : high;
    }
    return low - high;
}

// On the way from x to end two listed primitives, the first `first` of `count` nodes and the others, stay
// apart by more than `need`: what the direction separates at either end, it separates on the way.
static inline bool ct_candidate_is_apart(const ct_candidate* c, ct_mat3 turn, const double* x,
                                         const double* end, const int* node, int first, int count,
                                         double need) {
    const ct_vec3 n = ct_mat3_apply(turn, ct_vec3_make(c->n[0], c->n[1], c->n[2]));
    const double enough = 1.001 * need + 1e-12 * ct_vec3_norm(ct_vec3_load(x + 3 * (size_t)node[0]));
    double room = ct_candidate_separation(n, x, node, first, count) - enough;
    if (x == end || !(room > 0)) return room > 0;
    room = fmin(room, ct_candidate_separation(n, end, node, first, count) - enough);
    if (!(room > 0)) return false;
    ct_vec3 way[6];
    double most = 0;
    for (int k = 0; k < count; k++)
        way[k] = ct_vec3_sub(ct_vec3_load(end + 3 * (size_t)node[k]), ct_vec3_load(x + 3 * (size_t)node[k]));
    for (int i = 0; i < first; i++)
        for (int j = first; j < count; j++) {
            const ct_vec3 u = ct_vec3_sub(way[i], way[j]);
            most = fmax(most, ct_vec3_dot(u, u));
        }
    return most < CT_CANDIDATE_STEPS * CT_CANDIDATE_STEPS * room * room;
}

#endif
