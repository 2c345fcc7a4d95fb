// Rooms: where each node may be for as long as a list of what may meet holds (detect_lists.h).
//
// A node's room is what is within its reach of a straight way. Seen from the world it lies at any share of
// the node's own way; seen from a frame that goes and turns with the body, at the share that the body as a
// whole has gone. Where bodies go far within a step, what they meet throws them off: they have no rooms.
#ifndef CT_CONTACT_DETECT_ROOMS_H
#define CT_CONTACT_DETECT_ROOMS_H

#include "contact/detect_data.h"

#define CT_ROOMS_REACH 0.15  // of the mean edge: how far nodes may be from a way in their own frame

enum { CT_ROOMS_WORLD, CT_ROOMS_OWN };  // of ct_detect's rooms

// The lists hold for the motion.
bool ct_rooms_hold(ct_detect* detect, int collider, bool own, const double* x, const double* end);
// The motion is too long for rooms.
bool ct_rooms_swift(const ct_detect* detect, int collider, bool own, const double* x, const double* end);
// How far the collider goes.
ct_vec3 ct_rooms_shift(const ct_detect* detect, int collider, const double* x, const double* end);
// The rooms are much larger than those for this motion would be.
bool ct_rooms_wide(const ct_detect* detect, int collider, bool own, const double* x, const double* end);
// Rooms around a motion.
void ct_rooms_make(ct_detect* detect, int collider, bool own, const double* x, const double* end);

#endif
