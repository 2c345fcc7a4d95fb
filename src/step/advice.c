// Common advice; see advice.h.
#include "step/advice.h"

#include <stdio.h>

#include "contact/contact_pairs.h"

bool ct_advice_overlap(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    const ct_collider* collider = model->collision.collider;
    const double h = model->settings.time_step, rate = ct_model_rate(&model->settings);
    int a, b;
    if (!work->contact ||
        !ct_contact_overlap(&model->collision, work->contact, state->x, state->header->time, h, rate, &a, &b))
        return false;
    snprintf(report->message, sizeof report->message,
             "\"%.40s\" and \"%.40s\" overlap where the step begins: move them apart, or exclude the pair",
             collider[a].name, collider[b].name);
    return true;
}
