// Rooms: where each node may be for as long as a list of what may meet holds (detect_lists.h).
//
// A node's room is what is within its reach of a straight way. Seen from the world it lies on the node's own
// way, at any share of that or, where the body is swift, at a share that all such bodies have in common; seen
// from a frame that goes and turns with the body, at the share that the body as a whole has gone.
#ifndef CT_CONTACT_DETECT_ROOMS_H
#define CT_CONTACT_DETECT_ROOMS_H

#include "contact/detect_data.h"

#define CT_ROOMS_REACH 0.15  // of the mean edge: how far nodes may be from a way in their own frame

enum { CT_ROOMS_WORLD, CT_ROOMS_OWN };  // of ct_detect's rooms

// The lists hold for the motion; last: the share of their ways that swift colliders end at.
bool ct_rooms_hold(ct_detect* detect, int collider, bool own, const double* x, const double* end,
                   double last);
// Swift colliders are at the ends of their ways (1), or all of them at the start (0).
double ct_rooms_share(const ct_detect* detect, const ct_collision* collision, const double* x);
// The rooms are much larger than those for this motion would be.
bool ct_rooms_wide(const ct_detect* detect, int collider, bool own, const double* x, const double* end);
// Rooms around a motion.
void ct_rooms_make(ct_detect* detect, int collider, bool own, const double* x, const double* end);

#endif
