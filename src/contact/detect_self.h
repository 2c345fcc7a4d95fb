// Self-contact: which primitives of one collider may meet, at little cost where nothing does.
//
// Neighbours on a surface are always near one another, and boxes tell them from what touches only primitive
// by primitive. So distances are kept: in a reference configuration X every pair of primitives without common
// nodes (vertex and face, edge and edge, edge and face) nearer than D is listed; all others are apart by
// more. Let the nodes of a part of the surface be at
//     x = R0 (X - C) + c0 + d0   and   end = R1 (X - C) + c1 + d1,   |d0|, |d1| <= delta,
// with rotations R0 and R1 that differ by the angle theta. On the straight way between, the linear part has
// no singular value below cos(theta/2), and two convex primitives of this part whose distance was above D
// stay apart by more than
//     D cos(theta/2) - 2 delta.
// Where this is more than what is looked for, only the listed pairs need a look. Parts are the nodes of the
// face tree, from the whole collider down to some tens of faces: a body that moves as a whole needs one test,
// one that bends one for each piece that bends little. What no list covers is searched in the tree.
//
// The bound leaves room for everything by which the tests of a pair may answer early (round-off, a capped
// number of steps), so that a search finds the same with whatever reference: when it is renewed is a matter
// of time alone.
#ifndef CT_CONTACT_DETECT_SELF_H
#define CT_CONTACT_DETECT_SELF_H

#include "contact/detect_data.h"

// What to do with two primitives whose boxes overlap; NULL: such pairs are not asked for. false ends the
// search.
typedef struct ct_self_visit {
    ct_bvh_visit vertex_face, edges, edge_face;
    void* user;
} ct_self_visit;

// Sets up the parts of every collider that may touch itself.
ct_status ct_self_build(ct_detect* detect, const ct_collision* collision);
void ct_self_free(ct_detect* detect);

// Decides for a motion which parts are covered by their lists: all other pairs stay farther apart than
// `need`. true: the whole does, and ct_self_pairs looks at no tree.
bool ct_self_cover(ct_detect* detect, int collider, const double* x, const double* end, double need);
// Renews the reference, at x, when little is covered and it is worth its time, and decides again.
// Overwrites the boxes.
ct_status ct_self_renew(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                        const double* end, double need);
// All pairs that may come as near as what was asked for; boxes of nodes are widened by pad. Trees, if needed,
// are up to date.
bool ct_self_pairs(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                   const double* end, double pad, const ct_self_visit* visit);

#endif
