// Finding contacts: pairs of primitives that are near, pairs that meet along the way, and a certificate that
// none intersect.
//
// A pair is a vertex and a face or two edges, of colliders that may touch, without common nodes, not rigid to
// one another (all on one link, on a link and its parent, or all driven). It is typed by the closest
// features: face interior, edge, or vertex; edges whose directions have |sin| below 0.02 are never edge-edge
// (their ends against the other edge cover them), nor is an end of an edge that comes upon an edge of its own
// triangle: a triangle that collapses is no contact. Planes meet vertices. Lists are sorted by (type, plane,
// nodes) and hold no pair twice. They depend on the collision and the arguments alone: not on threads, nor on
// what a ct_detect was used for before.
#ifndef CT_CONTACT_DETECT_H
#define CT_CONTACT_DETECT_H

#include "contact/collision.h"
#include "contact/pair.h"

typedef struct ct_detect ct_detect;  // trees and scratch
ct_status ct_detect_create(ct_detect** out, const ct_collision* collision);
void ct_detect_free(ct_detect* detect);
// From now on two colliders keep a share of their distance that theirs say (ncollider, growth.h; borrowed);
// NULL: all of it.
void ct_detect_set_growth(ct_detect* detect, const double* share);

// Looks up, once for many searches, which primitives may meet while the nodes are no farther than `reach`,
// and a quarter of their way, from the straight way from x to end, with a margin up to this one. Searches
// elsewhere look again by themselves.
ct_status ct_detect_gather(const ct_collision* collision, ct_detect* detect, const double* x,
                           const double* end, double margin, double reach);
// Pairs whose gap (distance - thickness) is below `margin` at x, typed and signed there. What an edge or
// vertex that does not stand out of the surface around it (an edge in a flat face) would touch is left to the
// faces beside it, that of a face which hardly dips into a sphere or capsule to its corners, and of pairs
// that say the same one is kept: see detect_features.h. Whatever is closest on a surface, and within the
// margin, has a pair not farther in the same direction. Planes at `time`. Overwrites `out`.
ct_status ct_detect_near(const ct_collision* collision, ct_detect* detect, const double* x, double time,
                         double margin, ct_pairs* out);
// Pairs that, along straight lines from x to `end`, come closer than `core`, or end with a gap below -2
// tolerance (thickness - core): typed by the closest features just before they do, signed on the side of x.
// All of them, whether they stand out or not: nothing passes that is not here. Overwrites `out`.
ct_status ct_detect_hits(const ct_collision* collision, ct_detect* detect, const double* x, const double* end,
                         double time, double tolerance, ct_pairs* out);
// The pair of that type, not of a plane, and of those nodes, signed on the side where they are apart at x.
// Overwrites `out`.
void ct_detect_pair(const ct_collision* collision, ct_detect* detect, const double* x, ct_contact_type type,
                    const int node[4], ct_pair* out);
// Edges that pass through triangles at x, -1: out of memory; where: of the first, its nodes (edge, then
// face), may be NULL.
int ct_detect_intersections(const ct_collision* collision, ct_detect* detect, const double* x, int where[5]);

#endif
