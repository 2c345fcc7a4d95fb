// What the methods of contact share around their solves: pairs that come near become touches, those that were
// missed on the way are added and those that have left their primitives go, until a solve needs no other
// pairs; then the contacts are reported.
#ifndef CT_CONTACT_CONTACT_PAIRS_H
#define CT_CONTACT_CONTACT_PAIRS_H

#include "contact/contact.h"

// Touches for what comes near on the way from x to `toward`. `end`: time at the end of the (sub-)step; force
// (3 nvert, may be NULL): nodal contact forces to begin with.
ct_status ct_contact_add_near(const ct_collision* collision, ct_contact_work* contact, const double* x,
                              const double* toward, double end, const double* force);
// After a solve that ended at x: sets by the forces; pairs that met on the way from x_start and were not
// known become touches, touches that carry force where their primitives are not go. *again: there were some
// of either.
ct_status ct_contact_look_again(const ct_collision* collision, ct_contact_work* contact,
                                const double* x_start, const double* x, double end, bool* again);
// The contacts at x into a report, in contact->list.
ct_status ct_contact_report(ct_contact_work* contact, const double* x, ct_step_report* report);

#endif
