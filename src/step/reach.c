// Recorded sub-steps and stages; see reach.h.
#include "step/reach.h"

#include <string.h>

#include "step/contact_linear.h"
#include "step/link_stages.h"
#include "step/phi.h"
#include "step/state.h"

void ct_reach_work_create(ct_reach_work* work, ct_arena* arena, const ct_model* model) {
    const size_t room = ct_state_anchor_room(model), nodes = 3 * (size_t)model->nvert + 1;
    const bool staged = ct_rate_stages(model->settings.integrator) > 0;
    work->before = ct_arena_alloc(arena, room, sizeof *work->before);
    work->after = ct_arena_alloc(arena, room, sizeof *work->after);
    work->from_x = staged ? ct_arena_alloc(arena, nodes, sizeof(double)) : NULL;
    work->from_v = staged ? ct_arena_alloc(arena, nodes, sizeof(double)) : NULL;
}

// Forces of the contacts that sub-step k left, into `out`.
static ct_anchors anchors_after(const ct_record* record, size_t k, const ct_state* state, ct_anchor* out) {
    const ct_substep* substep = &record->step[k];
    int count = ct_anchor_write(record->touch + substep->first_touch, sizeof *record->touch, substep->ntouch,
                                out, (int)state->header->anchor_room);
    return (ct_anchors){out, count};
}

ct_reach ct_reach_substep(const ct_model* model, ct_reach_work* work, const ct_record* record, size_t k,
                          const ct_state* before, const ct_state* after) {
    const ct_substep* substep = &record->step[k];
    ct_reach over = {.substep = substep,
                     .touch = record->touch + substep->first_touch,
                     .x_start = before->x,
                     .v_start = before->v,
                     .q_start = before->q,
                     .npast = substep->history,
                     .x_previous = before->x_previous,
                     .v_previous = before->v_previous,
                     .q_previous = before->q_previous,
                     .x = after->x,
                     .q = after->q,
                     .before = ct_state_anchors(before),
                     .after = ct_state_anchors(after)};
    if (k > 0) {
        over.before = anchors_after(record, k - 1, before, work->before);
        ct_record_start start = ct_record_start_of(record, model, k);
        over.x_start = start.x, over.v_start = start.v, over.q_start = start.q;
    }
    if (k + 1 < record->count) {
        over.after = anchors_after(record, k, before, work->after);
        ct_record_start next = ct_record_start_of(record, model, k + 1);
        over.x = next.x, over.q = next.q;
    }
    over.x_from = over.x_start, over.v_from = over.v_start;
    double part = 1.0 / (double)(1 << substep->depth), h = model->settings.time_step;
    over.time = before->header->time + (substep->fraction - part) * h;
    over.length = part * h;
    return over;
}

// Y of rate.h: where the motion of a stage is counted from.
static void place_from(const ct_model* model, ct_reach_work* work, const ct_reach* over) {
    const ct_rate rate = over->substep->rate;
    const double a = rate.a / rate.c, b = rate.b / rate.c, e = rate.e / rate.c;
    for (int k = 0; k < 3 * model->nvert; k++) {
        double Y = a * over->x_start[k], W = a * over->v_start[k];
        if (over->npast > 0) Y += b * over->x_previous[k], W += b * over->v_previous[k];
        if (over->npast > 1) Y += e * over->x_second[k], W += e * over->v_second[k];
        work->from_x[k] = Y;
        work->from_v[k] = W;
    }
}

ct_reach ct_reach_stage(const ct_model* model, ct_reach_work* work, const ct_record* record, int i,
                        const ct_state* before, const ct_state* after) {
    ct_reach over = ct_reach_substep(model, work, record, (size_t)i, before, after);
    const ct_substep* substep = over.substep;
    over.x_start = before->x, over.v_start = before->v, over.q_start = before->q;
    over.npast = i;
    if (i > 0) {
        ct_record_start first = ct_record_start_of(record, model, 1);
        over.x_previous = first.x, over.v_previous = first.v, over.q_previous = first.q;
    }
    if (i > 1) {
        ct_record_start second = ct_record_start_of(record, model, 2);
        over.x_second = second.x, over.v_second = second.v, over.q_second = second.q;
    }
    place_from(model, work, &over);
    over.x_from = work->from_x, over.v_from = work->from_v;
    over.length = 1 / substep->rate.c;
    over.time = before->header->time + substep->fraction * model->settings.time_step - over.length;
    return over;
}

ct_status ct_reach_linearise(const ct_model* model, ct_work* work, const ct_reach* over,
                             const ct_state* after, bool rated, ct_config* config) {
    const ct_substep* substep = over->substep;
    ct_phi_start start = {.rate = substep->rate,
                          .npast = over->npast,
                          .rated = rated,
                          .x = over->x_start,
                          .v = over->v_start,
                          .x_previous = over->x_previous,
                          .v_previous = over->v_previous,
                          .x_second = over->x_second,
                          .v_second = over->v_second,
                          .q = over->q_start,
                          .q_previous = over->q_previous,
                          .q_second = over->q_second};
    memcpy(config->x, over->x, 3 * (size_t)model->nvert * sizeof(double));
    if (model->tree.nlink) {
        memcpy(config->q, over->q, (size_t)model->tree.ncoordinate * sizeof(double));
        ct_config_place(&model->tree, config);
    }
    if (work->links && ct_rate_stages(substep->rule)) {
        ct_link_stages_next(model, work->links, substep->stage, over->q_previous, over->q_second);
        start.links = ct_link_stages_at(model, work->links, config);
    }
    ct_phi_begin(model, work, &start);
    if (model->tree.nlink) {
        ct_phi_gradient(model, work, over->x, work->rho);
    }
    if (work->contact) {
        ct_contact_start contact = {.x = over->x_from,
                                    .v = over->v_from,
                                    .x_end = config->x,
                                    .time = over->time,
                                    .h = over->length,
                                    .rate = substep->rate.c,
                                    .shortened = over->length < 0.75 * model->settings.time_step,
                                    .past = over->before,
                                    .growth = after->growth,
                                    .elapsed = over->time + over->length - after->header->growth_start};
        ct_status status =
            ct_contact_linear_begin(model, work, config, over->touch, substep->ntouch, &contact);
        if (status != CT_OK) return status;
    }
    ct_phi_linearise(model, work, config, work->rho);
    // contacts warp where they need it
    if (model->nunknown && !(work->contact && substep->ntouch))
        ct_precondition_warp(model, &work->preconditioner, config, work->rho);
    return CT_OK;
}
