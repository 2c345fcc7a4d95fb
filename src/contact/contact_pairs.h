// Which pairs a (sub-)step knows: those that are near where it begins or where the velocities lead, from the
// start; and those that are found to meet on the way to where a solve has come. A step ends where no pair,
// known or not, meets on the way: nothing has then passed through anything.
#ifndef CT_CONTACT_CONTACT_PAIRS_H
#define CT_CONTACT_CONTACT_PAIRS_H

#include "contact/contact.h"

// Touches for what is near from the start. `end`: time at the end of the (sub-)step.
ct_status ct_contact_find(const ct_collision* collision, ct_contact_work* contact, double end);
// The certificate for a solve that has come to x: every pair stays farther apart than its core on the
// straight way there, and ends above seven tenths of the room between thickness and core. *added: pairs that
// do not have become touches, or have got one more frame; *stuck: some have all the frames that they may
// have.
ct_status ct_contact_certify(const ct_collision* collision, ct_contact_work* contact, const double* x,
                             double end, bool* added, bool* stuck);
// The contacts at x into a report, in contact->list.
ct_status ct_contact_report(ct_contact_work* contact, const double* x, ct_step_report* report);

#endif
