// A step with contact, taken again without it: the unknowns z with
//     r(z) - B^T f = 0,   f = J^T F,
// where F are the contact forces that the step with contact found, held as loads. It ends at the same place,
// so that the difference in cost is what contact costs.
#include <time.h>

#include "cuttle_profile.h"
#include "step/work.h"

ct_status ct_profile_free_step(const ct_model* model, ct_work* work, const ct_state* before,
                               const ct_state* after, const double* control, const ct_step_report* taken,
                               ct_state* state, ct_step_report* report) {
    ct_status status = ct_state_copy(state, before);
    if (status != CT_OK) return status;
    ct_contact_work* contact = work->contact;
    work->contact = NULL;
    work->load = after->contact_force;
    work->load_scale = taken->reference;
    status = ct_step(model, work, state, control, report);
    work->contact = contact;
    work->load = NULL;
    return status;
}

double ct_profile_cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
