// Reasons to refuse a step; see refuse.h.
#include "step/refuse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"
#include "step/advice.h"
#include "step/inverted.h"

__attribute__((format(printf, 2, 3))) static bool refuse(ct_step_report* report, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->message, sizeof report->message, format, arguments);
    va_end(arguments);
    return true;
}

bool ct_refuse_state(const ct_model* model, const ct_work* work, const ct_state* state,
                     ct_step_report* report) {
    if (work->model != model)
        return refuse(report, "the work belongs to another model: make one for this model by ct_work_create");
    if (ct_state_fits(state, model)) return false;
    return refuse(
        report,
        "the state belongs to another model, with %lld nodes and %lld joint coordinates in place of "
        "%d and %d, or other actuators or mounts: make one for this model by ct_state_create",
        (long long)state->header->nvert, (long long)state->header->ncoordinate, model->nvert,
        model->tree.ncoordinate);
}

static const double farthest = 1e12, fastest = 1e12;  // m, m/s

// The name of whom a node belongs to, "" for those of links and obstacles.
static const char* owner(const ct_model* model, int node) {
    const ct_geometry* g = &model->geometry;
    for (int c = 0; c < 4 * model->ntet; c++)
        if (g->tet[c] == node) return g->body_name[g->tet_body[c / 4]];
    for (int c = 0; c < 3 * model->ntri; c++)
        if (g->tri[c] == node) return g->body_name[g->tri_body[c / 3]];
    return "";
}

bool ct_refuse_far(const ct_model* model, const ct_state* state, ct_step_report* report) {
    for (int i = 0; i < 3 * model->nvert; i++) {
        if (fabs(state->x[i]) <= farthest && fabs(state->v[i]) <= fastest) continue;  // false for NAN
        const int node = i / 3;
        const char* name = owner(model, node);
        return refuse(report,
                      "node %d%s%.40s%s is at %g m with %g m/s along %c: nothing may be farther than %g m or "
                      "faster than %g m/s; correct places, velocities and joints",
                      node, *name ? " of \"" : "", name, *name ? "\"" : "", state->x[i], state->v[i],
                      "xyz"[i % 3], farthest, fastest);
    }
    return false;
}

bool ct_refuse_inverted(const ct_model* model, const ct_state* state, ct_step_report* report) {
    char names[120];
    int count = ct_inverted_name(model, state->x, 0, names, sizeof names);
    if (!count) return false;
    return refuse(
        report,
        "the motion would begin with %d tet%s inside out (%s): begin with joints nearer to the poses "
        "that the mesh was made for, and with nodes that do not pass through one another",
        count, count == 1 ? "" : "s", names);
}

bool ct_refuse_overlap(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    return state->header->history == 0 && ct_advice_overlap(model, work, state, report);
}

ct_status ct_state_check_start(const ct_model* model, ct_work* work, const ct_state* state, ct_error* error) {
    CT_NEED(error, model, work, state);
    ct_step_report report;
    ct_error_clear(error);
    if (ct_refuse_state(model, work, state, &report))
        return ct_fail(error, CT_BAD_ARGUMENT, "%s", report.message);
    if (ct_refuse_far(model, state, &report) || ct_advice_overlap(model, work, state, &report) ||
        ct_refuse_inverted(model, state, &report))
        return ct_fail(error, CT_BAD_SCENE, "%s", report.message);
    return CT_OK;
}

bool ct_refuse_control(const ct_model* model, const double* control, ct_step_report* report) {
    for (int k = 0; control && k < model->inputs.ncontrol; k++)
        for (int i = 0; i < model->inputs.control[k].size; i++) {
            double value = control[model->inputs.control_first[k] + i];
            if (isfinite(value)) continue;
            return refuse(report, "number %d of the control \"%.64s\" is %g: controls must be finite", i,
                          model->inputs.control[k].name, value);
        }
    return false;
}

bool ct_refuse_actuation(const ct_model* model, const double* value, ct_step_report* report) {
    const ct_actuators* all = &model->actuators;
    for (int k = 0; k < all->count; k++)
        for (int i = 0; i < all->list[k].size; i++) {
            double wanted = value[all->first[k] + i];
            if (isfinite(wanted) && wanted >= all->list[k].least) continue;
            return refuse(report, "number %d of the actuator \"%.64s\" would become %g: it must be %s", i,
                          all->list[k].name, wanted, all->list[k].range);
        }
    return false;
}
