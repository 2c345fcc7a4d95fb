// Common advice; see advice.h.
#include "step/advice.h"

#include <stdio.h>

#include "force/cable.h"
#include "step/inverted.h"

bool ct_advice_overlap(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    ct_overlap overlap;
    if (!work->contact || !ct_overlap_find(&model->collision, work->contact->detect, &work->overlap, state->x,
                                           state->header->time, &overlap))
        return false;
    ct_overlap_explain(&model->collision, &overlap, report->message, sizeof report->message);
    return true;
}

bool ct_advice_eyelets(const ct_model* model, const ct_state* state, ct_step_report* report) {
    const ct_cable* cable = model->families.of[CT_FAMILY_CABLES];
    const double close = 0.01;  // of the cable's length
    for (int i = 0, k = 0; cable && i < model->actuators.count; i++) {
        int piece;
        if (model->actuators.list[i].kind != CT_ACTUATOR_CABLE) continue;
        if (ct_cable_shortest(cable, k++, state->x, &piece) > close) continue;
        snprintf(
            report->message, sizeof report->message,
            "eyelets %d and %d of the cable \"%.40s\" meet, where its pull has no direction: end the motion "
            "before, or keep them apart",
            piece, piece + 1, model->actuators.list[i].name);
        return true;
    }
    return false;
}

bool ct_advice_crushed(const ct_model* model, const ct_work* work, ct_step_report* report) {
    char names[120];
    const double flat = 0.1;  // of the volume at rest
    int count = ct_inverted_name(model, work->at.x, flat, names, sizeof names);
    if (!count) return false;
    bool weak = false;
    for (int t = 0; t < model->ntet; t++) weak |= model->material[t].energy != CT_ENERGY_NEOHOOKEAN;
    snprintf(report->message, sizeof report->message,
             "%d tet%s crushed below a tenth of %s volume or inside out (%s): %ssoften the load, reduce "
             "time_step (now %g s) or refine the mesh there",
             count, count == 1 ? " is" : "s are", count == 1 ? "its" : "their", names,
             weak ? "choose the energy \"neohookean\", " : "", model->settings.time_step);
    return true;
}
