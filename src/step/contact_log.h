// The contacts of a rollout, step after step: enough to compare two rollouts and to name where they part.
//
// A contact is known by its type, plane and nodes, and by which of the pair's frames it has. What it did is
// its set, and where its frame was taken and how stiff it was. Rollouts with the same contacts, which did the
// same in the same sub-steps, lie on one smooth branch of the loss.
#ifndef CT_STEP_CONTACT_LOG_H
#define CT_STEP_CONTACT_LOG_H

#include "step/work.h"

typedef struct ct_logged {
    int step, substep;
    int type, plane, node[4], a, b;  // as in ct_pair
    int cut;                         // as in ct_touch_record
    int set, frame;
} ct_logged;

typedef struct ct_contact_log {  // grows to a high-water mark
    ct_logged* item;             // sorted by step, sub-step, contact
    size_t count, capacity;
    int* substeps;  // of every step
    size_t steps, steps_capacity;
    uint64_t signature;  // of all that it holds or held
    bool keep;           // false: only the signature is kept
} ct_contact_log;

void ct_contact_log_clear(ct_contact_log* log);  // before a rollout
void ct_contact_log_free(ct_contact_log* log);
ct_status ct_contact_log_add(ct_contact_log* log, int step, const ct_record* record);
// What `other` does differently: contacts that part (the first `room` of them go to `list`), and the first
// step that is cut otherwise
// (-1: none), whose contacts are not compared. Returns the number of contacts.
int ct_contact_log_compare(const ct_contact_log* log, const ct_contact_log* other, ct_contact_switch* list,
                           int room, int* halved);

// The log of a tape: that of its last rollout.
ct_contact_log* ct_tape_log(ct_tape* tape);

#endif
