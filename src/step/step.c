// One time step, as a list: external forces, predictor, solve, new velocity; halved when it does not
// converge.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/status.h"
#include "contact/growth.h"
#include "math/vecn.h"
#include "model/control_values.h"
#include "step/actuate.h"
#include "step/coords.h"
#include "step/external.h"
#include "step/inverted.h"
#include "step/link_stages.h"
#include "step/phi.h"
#include "step/policy.h"
#include "step/predict.h"
#include "step/refuse.h"

enum { GOOD_SOLVES = 8 };   // solves per step of a factor that fits; more speak for a refresh
enum { LINK_ROUNDS = 60 };  // solves of a stage with links

// ---- factor refresh ------------------------------------------------------------------------

// When the surplus of solves has cost as much as a factorisation, refactor at the present configuration.
// The decision depends on the state alone: a replay takes it at the same step.
static void refresh(const ct_model* model, const ct_work* work, ct_state* state) {
    ct_state_header* header = state->header;
    if (!model->solver->refreshes || header->slow_solves < model->system.refactor_cost) return;
    memcpy(state->x_reference, state->x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(state->q_reference, state->q, (size_t)model->tree.ncoordinate * sizeof(double));
    for (int i = 0; i < model->actuators.size; i++) state->actuation_reference[i] = work->actuation[i];
    header->reference =
        ct_precondition_reference_stamp(model, state->x_reference, state->actuation_reference);
    header->slow_solves = 0;
}

// The solver has made the factor anew within the (sub-)step: the state follows.
static void follow(const ct_model* model, const ct_work* work, ct_state* state) {
    const ct_preconditioner* p = &work->preconditioner;
    if (p->accounts) state->header->slow_solves = p->debt;
    if (!p->renewed) return;
    memcpy(state->x_reference, p->x_renewed, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(state->q_reference, p->q_renewed, (size_t)model->tree.ncoordinate * sizeof(double));
    for (int i = 0; i < model->actuators.size; i++) state->actuation_reference[i] = p->actuation_renewed[i];
    state->header->reference = p->refreshed_stamp;
}

// A refreshed matrix that is not positive definite leaves the rest factor in force.
static ct_status choose_factor(const ct_model* model, ct_work* work, ct_state* state, int depth,
                               ct_step_report* report) {
    if (model->nunknown == 0) return CT_OK;
    ct_status status = ct_precondition_choose(model, &work->preconditioner, state, depth, &report->refactors);
    if (status != CT_SINGULAR) return status;
    state->header->reference = 0;
    return ct_precondition_choose(model, &work->preconditioner, state, 0, &report->refactors);
}

// ---- one (sub-)step ------------------------------------------------------------------------

// The array in the copy of the state that was kept at the start of the step.
static const double* backup_array(const ct_state* state, const ct_work* work, const double* array) {
    return (const double*)(work->backup +
                           ((const unsigned char*)array - (const unsigned char*)state->header));
}

static ct_anchors backup_anchors(const ct_state* state, const ct_work* work) {
    return (ct_anchors){(const ct_anchor*)backup_array(state, work, (const double*)state->anchor),
                        (int)((const ct_state_header*)work->backup)->nanchor};
}

static void accept_contacts(const ct_model* model, const ct_work* work, ct_state* state,
                            ct_step_report* report) {
    const ct_contact_work* contact = work->contact;
    if (!contact) return;
    memcpy(state->contact_force, contact->nodal, 3 * (size_t)model->nvert * sizeof(double));
    state->header->nanchor =
        contact->count ? ct_anchor_write(&contact->touch->is, sizeof *contact->touch, contact->count,
                                         state->anchor, (int)state->header->anchor_room)
                       : 0;
    int over = report->contacts - (int)state->header->anchor_room;
    if (over > report->forgotten) report->forgotten = over;
}

// Velocities at the end of the (sub-)step or stage.
static void velocity(const ct_model* model, const ct_work* work, double* v) {
    ct_inertia_velocity(&model->inertia, work->families.of[CT_FAMILY_INERTIA], &work->step, work->at.x, v);
    if (work->step.links) ct_link_stages_velocity(work->links, v);
}

// The end of the (sub-)step becomes the state.
static void accept(const ct_model* model, const ct_work* work, ct_state* state, ct_step_report* report) {
    velocity(model, work, state->v);
    memcpy(state->x, work->at.x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(state->q, work->at.q, (size_t)model->tree.ncoordinate * sizeof(double));
    accept_contacts(model, work, state, report);
}

// Adds the work of an attempt to the report, and its residual if it is the worst of those that count.
static void count(ct_step_report* report, const ct_step_report* attempt, bool counts) {
    report->iterations += attempt->iterations;
    report->solves += attempt->solves;
    report->refactors += attempt->refactors;
    report->gradients += attempt->gradients;
    report->hessian_products += attempt->hessian_products;
    report->line_searches += attempt->line_searches;
    if (attempt->passes > report->passes) report->passes = attempt->passes;
    report->contacts = attempt->contacts;
    report->sticking = attempt->sticking;
    report->slipping = attempt->slipping;
    report->penetration = fmax(report->penetration, attempt->penetration);
    if (counts) report->smooth = attempt->smooth && (report->substeps == 0 || report->smooth);
    report->contact = attempt->contact;
    report->ncontact = attempt->ncontact;
    if (counts && attempt->residual * report->reference >= report->residual * attempt->reference) {
        report->residual = attempt->residual;
        report->reference = attempt->reference;
    }
}

// Adds another solve of the same stage, which is the one that counts.
static void add_round(ct_step_report* attempt, const ct_step_report* again) {
    const ct_step_report first = *attempt;
    *attempt = *again;
    attempt->iterations += first.iterations;
    attempt->solves += first.solves;
    attempt->refactors += first.refactors;
    attempt->gradients += first.gradients;
    attempt->hessian_products += first.hessian_products;
    attempt->line_searches += first.line_searches;
    attempt->passes = again->passes > first.passes ? again->passes : first.passes;
    attempt->penetration = fmax(again->penetration, first.penetration);
}

// Driven nodes move evenly from where the step began to where it ends.
static void drive(const ct_model* model, const ct_work* work, const double* x_start, double fraction,
                  double* x) {
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; k < model->inputs.drive[i].nnode; k++)
            for (int j = 3 * model->inputs.drive[i].node[k], end = j + 3; j < end; j++)
                x[j] =
                    fraction == 1 ? work->x_end[j] : (1 - fraction) * x_start[j] + fraction * work->x_end[j];
}

// Driven nodes at a stage: those that follow their motion alone are where it has them; its straight pieces
// would cost the third order. The midpoint rule, whose end is the mirror image of its start, takes the
// middle.
static void drive_stage(const ct_model* model, const ct_work* work, const double* x_start, double time,
                        ct_integrator rule, double fraction, double* x) {
    drive(model, work, x_start, fraction, x);
    for (int i = 0; rule != CT_INTEGRATOR_MIDPOINT && i < model->inputs.ndrive; i++) {
        const ct_scene_driver* driver = &model->inputs.drive[i];
        if (ct_external_is_steered(model, i)) continue;
        for (int k = 0; k < driver->nnode; k++) {
            size_t at = 3 * (size_t)driver->node[k];
            ct_scene_drive_position(driver, time, model->geometry.rest + at, x + at);
        }
    }
}

static ct_status note_touches(ct_work* work, ct_substep* entry) {
    ct_record* record = work->record;
    size_t count = work->contact ? work->contact->count : 0;
    entry->first_touch = record->ntouch;
    entry->ntouch = 0;
    for (size_t i = 0; i < count; i++) entry->ntouch += work->contact->touch[i].is.set != CT_CONTACT_SET_OPEN;
    if (!ct_reserve((void**)&record->touch, &record->touch_capacity, record->ntouch + entry->ntouch,
                    sizeof *record->touch))
        return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (work->contact->touch[i].is.set != CT_CONTACT_SET_OPEN)
            record->touch[record->ntouch++] = work->contact->touch[i].is;
    return CT_OK;
}

// Notes a sub-step or a stage; x, v, q: where it began, or where the stage before it ended.
static ct_status note_substep(const ct_model* model, ct_work* work, const double* x, const double* v,
                              const double* q, const ct_substep* substep) {
    ct_record* record = work->record;
    size_t n = 3 * (size_t)model->nvert, ncoordinate = (size_t)model->tree.ncoordinate, index = record->count;
    if (!ct_reserve((void**)&record->step, &record->capacity, index + 1, sizeof *record->step))
        return CT_OUT_OF_MEMORY;
    if (!ct_reserve((void**)&record->start, &record->start_capacity, index * (2 * n + ncoordinate),
                    sizeof(double)))
        return CT_OUT_OF_MEMORY;
    record->step[index] = *substep;
    ct_status status = note_touches(work, &record->step[index]);
    if (status != CT_OK) return status;
    if (index > 0) {  // the first began where the step did
        ct_record_start start = ct_record_start_of(record, model, index);
        memcpy(start.x, x, n * sizeof(double));
        memcpy(start.v, v, n * sizeof(double));
        memcpy(start.q, q, ncoordinate * sizeof(double));
    }
    record->count++;
    return CT_OK;
}

// From the fraction `start` of the step over `length` of it, by one solve.
static ct_status advance_once(const ct_model* model, ct_work* work, ct_state* state, double start,
                              double length, int depth, bool may_split, ct_step_report* report) {
    if (ct_work_cancelled(work)) return CT_CANCELLED;
    double h = length * model->settings.time_step;
    bool whole = depth == 0,
         second_order = whole && model->settings.integrator == CT_INTEGRATOR_BDF2 && state->header->history;
    ct_rate rate = second_order ? ct_rate_bdf2(h) : ct_rate_euler(h);
    ct_status status = choose_factor(model, work, state, depth, report);
    if (status != CT_OK) return status;
    ct_phi_start from = {.rate = rate,
                         .npast = second_order,
                         .x = state->x,
                         .v = state->v,
                         .x_previous = state->x_previous,
                         .v_previous = state->v_previous,
                         .q = state->q,
                         .q_previous = state->q_previous};
    work->x_from = state->x, work->v_from = state->v;
    ct_phi_begin(model, work, &from);
    ct_predict_step(model, work, state, backup_array(state, work, state->q), h, whole, start + length);
    drive(model, work, backup_array(state, work, state->x), start + length, work->at.x);

    ct_step_report attempt = {.smooth = true};
    double time = state->header->time + start * model->settings.time_step;
    work->lbfgs.count = 0;
    if (model->nunknown) status = model->solver->solve(model, work, state, time, h, &attempt);
    follow(model, work, state);
    count(report, &attempt, status == CT_OK || !may_split);
    if (status != CT_OK) return status;
    ct_substep substep = {.rate = rate, .depth = depth, .fraction = start + length, .history = second_order};
    if (work->record) status = note_substep(model, work, state->x, state->v, state->q, &substep);
    accept(model, work, state, report);
    report->substeps++;
    report->integrator = second_order ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
    return status;
}

// What does not converge becomes two of half the length, by Euler's rule; whole false: it is known not to.
static ct_status advance(const ct_model* model, ct_work* work, ct_state* state, double start, double length,
                         int depth, bool whole, ct_step_report* report) {
    bool may_split = model->solver->halves && depth < model->settings.max_substep_depth;
    ct_status status = CT_NOT_CONVERGED;
    if (whole) status = advance_once(model, work, state, start, length, depth, may_split, report);
    if (status != CT_NOT_CONVERGED || !may_split) return status;
    status = advance(model, work, state, start, length / 2, depth + 1, true, report);
    if (status == CT_OK)
        status = advance(model, work, state, start + length / 2, length / 2, depth + 1, true, report);
    return status;
}

// ---- stages --------------------------------------------------------------------------------

// The stage's end: velocity and acceleration there; for the last stage the state's.
static void accept_stage(const ct_model* model, ct_work* work, ct_state* state, int i, bool last,
                         ct_step_report* report) {
    if (last) {
        accept(model, work, state, report);
        return;
    }
    ct_stages_work* s = &work->stages;
    double* v = s->v[i];
    accept_contacts(model, work, state, report);
    velocity(model, work, v);
    memcpy(s->x[i], work->at.x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(s->q[i], work->at.q, (size_t)model->tree.ncoordinate * sizeof(double));
    for (int k = 0; k < 3 * model->nvert; k++) s->acceleration[k] = work->step.rate.c * (v[k] - s->from_v[k]);
}

// Its force of the step before was all that friction can do: it slid.
static bool slid(const ct_touch* touch) {
    const double *n = touch->at.n, *F = touch->is.anchor;
    double along = n[0] * F[0] + n[1] * F[1] + n[2] * F[2], across = 0;
    for (int a = 0; a < 3; a++) across += (F[a] - along * n[a]) * (F[a] - along * n[a]);
    return sqrt(across) > (1 - 1e-6) * touch->is.pair.friction * along;
}

// A pair touches that did not in the step before, or one that slid has come to rest: stages after this one
// would weigh its blow again, and throw back what it has stopped. `touching`: the former alone.
static bool closes(const ct_work* work, ct_anchors before, bool touching) {
    const ct_contact_work* contact = work->contact;
    for (size_t i = 0; contact && i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        if (touch->is.set == CT_CONTACT_SET_OPEN) continue;
        if (ct_anchor_find(before, &touch->is.pair) < 0) return true;
        if (!touching && touch->is.set == CT_CONTACT_SET_STICK && slid(touch)) return true;
    }
    return false;
}

// The residual with the links' motion at the solution is small enough: it was `residual` with the one solved
// for.
static bool fits(double residual, double change, double target, int round) {
    return residual + change <= target || change <= (round > 30 ? 1 : 1e-3) * target;
}

// With links: again with their motion at the solution, until that is the one solved for. Where it comes
// nearer so slowly, or not at all, the step is too long for them.
static ct_status solve_stage(const ct_model* model, ct_work* work, const ct_state* state, double time,
                             double length, ct_step_report* attempt) {
    ct_status status = model->solver->solve(model, work, state, time, length, attempt);
    double change = 0, last = INFINITY, bound = 0;
    for (int round = 1; status == CT_OK && work->links; round++) {
        change = ct_link_stages_renew(model, work, &work->at);
        if (fits(attempt->residual, change, work->target, round)) break;
        bound = round == 1 ? change : 0.8 * bound;
        if (round == LINK_ROUNDS || !(change < 2 * last) || (round > 8 && change > bound))
            status = CT_NOT_CONVERGED;
        if (status != CT_OK) break;
        last = change;
        ct_step_report again = {.smooth = true};
        work->least = work->reference;
        status = model->solver->solve(model, work, state, time, length, &again);
        add_round(attempt, &again);
    }
    work->least = 0;
    attempt->residual += change;
    return status;
}

// *closed: a contact has closed, and the step is to be taken by Euler's rule.
static ct_status advance_stage(const ct_model* model, ct_work* work, ct_state* state, ct_integrator rule,
                               int i, bool* closed, ct_step_report* report) {
    if (ct_work_cancelled(work)) return CT_CANCELLED;
    const double h = model->settings.time_step, end = ct_rate_stage_end(rule, i);
    const bool last = i == ct_rate_stages(rule) - 1;
    ct_stages_work* s = &work->stages;
    ct_phi_start from = {.rate = ct_rate_stage(rule, i, h),
                         .npast = i,
                         .x = state->x,
                         .v = state->v,
                         .x_previous = i ? s->x[0] : state->x_previous,
                         .v_previous = i ? s->v[0] : state->v_previous,
                         .x_second = s->x[1],
                         .v_second = s->v[1],
                         .q = state->q,
                         .q_previous = i ? s->q[0] : state->q_previous,
                         .q_second = s->q[1]};
    ct_predict_stage(model, work, state, rule, i);
    work->x_from = s->from_x, work->v_from = s->from_v;
    memcpy(work->at.x, s->look_x, 3 * (size_t)model->nvert * sizeof(double));
    if (work->links) from.links = ct_predict_links(model, work, state, i);
    ct_actuate_at(model, state->actuation, work->given, end, work->actuation);
    ct_phi_begin(model, work, &from);
    drive_stage(model, work, state->x, state->header->time + end * h, rule, end, work->at.x);

    ct_step_report attempt = {.smooth = true};
    double length = 1 / from.rate.c, time = state->header->time + end * h - length;
    ct_status status = CT_OK;
    if (model->nunknown) status = solve_stage(model, work, state, time, length, &attempt);
    follow(model, work, state);
    bool smooth = report->smooth || i == 0;
    const bool may_split = model->solver->halves && model->settings.max_substep_depth > 0;
    count(report, &attempt, status == CT_OK || !may_split);
    report->smooth = report->smooth && smooth;
    if (status != CT_OK) return status;
    *closed = closes(work, backup_anchors(state, work), false);
    if (*closed) return CT_OK;
    ct_substep substep = {.rate = from.rate, .fraction = end, .rule = rule, .stage = i};
    if (work->record)
        status = note_substep(model, work, i ? s->x[i - 1] : NULL, i ? s->v[i - 1] : NULL,
                              i ? s->q[i - 1] : NULL, &substep);
    accept_stage(model, work, state, i, last, report);
    return status;
}

// The midpoint rule: the stage was Euler's over half the step, to y; x = 2 y - x_n, v = 2 v_y - v_n.
static void reflect(const ct_model* model, const ct_work* work, ct_state* state) {
    const double *x = backup_array(state, work, state->x), *v = backup_array(state, work, state->v);
    for (int k = 0; k < model->nvert; k++)
        for (int i = 3 * k; model->row[k] >= 0 && i < 3 * k + 3; i++) {
            state->x[i] = 2 * state->x[i] - x[i];
            state->v[i] = 2 * state->v[i] - v[i];
        }
    drive(model, work, x, 1, state->x);
}

// Contacts as they were before the step, and nothing noted of it.
static void forget_stages(const ct_model* model, ct_work* work, ct_state* state) {
    const ct_anchors before = backup_anchors(state, work);
    const size_t n = 3 * (size_t)model->nvert;
    if (work->record) work->record->count = work->record->ntouch = 0;
    if (!work->contact) return;
    memcpy(state->contact_force, backup_array(state, work, state->contact_force), n * sizeof(double));
    if (before.count) memcpy(state->anchor, before.item, (size_t)before.count * sizeof *before.item);
    state->header->nanchor = before.count;
}

// A whole step by an integrator with stages.
static ct_status advance_stages(const ct_model* model, ct_work* work, ct_state* state, ct_integrator rule,
                                bool* closed, ct_step_report* report) {
    ct_status status = choose_factor(model, work, state, 0, report);
    work->lbfgs.count = 0;
    if (work->links) ct_link_stages_begin(model, work->links, rule, state->q, state->v);
    for (int i = 0; status == CT_OK && !*closed && i < ct_rate_stages(rule); i++)
        status = advance_stage(model, work, state, rule, i, closed, report);
    ct_actuate_at(model, backup_array(state, work, state->actuation), work->given, 1, work->actuation);
    if (status != CT_OK || *closed) {
        forget_stages(model, work, state);
        return status;
    }
    if (rule == CT_INTEGRATOR_MIDPOINT) reflect(model, work, state);
    report->substeps++;
    report->integrator = rule;
    return CT_OK;
}

static ct_status advance_all(const ct_model* model, ct_work* work, ct_state* state, ct_step_report* report) {
    ct_integrator rule = model->settings.integrator;
    if (!ct_rate_stages(rule)) return advance(model, work, state, 0, 1, 0, true, report);
    // weights below zero would let contacts pull
    if (rule == CT_INTEGRATOR_SDIRK3 && state->header->nanchor) rule = CT_INTEGRATOR_SDIRK2;
    bool closed = state->header->closed;
    ct_status status = closed ? CT_OK : advance_stages(model, work, state, rule, &closed, report);
    if (status != CT_NOT_CONVERGED && !closed) return status;
    status = advance(model, work, state, 0, 1, 0, closed, report);
    if (status == CT_OK) state->header->closed = closes(work, backup_anchors(state, work), true);
    return status;
}

// ---- report --------------------------------------------------------------------------------

static void advise(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    if (isfinite(report->residual)) model->solver->advise(model, work, state, report);
    else
        snprintf(report->message, sizeof report->message,
                 "the state is not finite: check forces and initial velocities");
}

static bool is_truncated(const ct_model* model, const ct_step_report* report) {
    return model->solver->is_truncated && model->solver->is_truncated(model, report);
}

// Says why a step failed and what to change.
static void explain(const ct_model* model, ct_work* work, const ct_state* state, ct_status status,
                    ct_step_report* report) {
    if (status == CT_NOT_CONVERGED) advise(model, work, state, report);
    else snprintf(report->message, sizeof report->message, "%s", ct_status_text(status));
}

// How near colliders are where a motion begins.
static bool measure_growth(const ct_model* model, ct_work* work, ct_state* state) {
    if (!work->contact || state->header->grown) return true;
    state->header->grown = 1;
    state->header->growth_start = state->header->time;
    return ct_growth_measure(&model->collision, work->contact->detect, &work->contact->near, state->x,
                             state->header->time, state->growth) == CT_OK;
}

// ---- public --------------------------------------------------------------------------------

// The state that was kept at the start of the step.
static const ct_state_header* backup_header(const ct_work* work) {
    return (const ct_state_header*)work->backup;
}

static void finish(const ct_model* model, const ct_work* work, ct_state* state,
                   const ct_step_report* report) {
    ct_state_header* header = state->header;
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    memcpy(state->x_previous, backup_array(state, work, state->x), bytes);
    memcpy(state->q_previous, backup_array(state, work, state->q),
           (size_t)model->tree.ncoordinate * sizeof(double));
    memcpy(state->v_before, backup_array(state, work, state->v_previous), bytes);
    memcpy(state->v_previous, backup_array(state, work, state->v), bytes);
    for (int i = 0; i < model->actuators.size; i++) state->actuation[i] = work->actuation[i];
    for (int i = 0; i < 7 * model->inputs.nmount; i++) state->mount[i] = work->mount[i];
    header->history = backup_header(work)->history ? 2 : 1;
    header->step = backup_header(work)->step + 1;
    header->settled = CT_SETTLED_NOT;
    header->followed = 0;
    header->time = backup_header(work)->time + model->settings.time_step;
    // with contacts every iteration makes two solves
    int surplus = (report->contacts ? report->solves / 2 : report->solves) - GOOD_SOLVES * report->substeps;
    if (surplus > 0 && !work->preconditioner.accounts) header->slow_solves += surplus;
}

// Completes the control by the scene's values and the policy, and moves the actuators. True, with the reason
// in the report, when the step cannot be taken; nothing in the state has changed by then.
static bool refuses(const ct_model* model, ct_work* work, const ct_state* state, const double** control,
                    ct_step_report* report) {
    if (ct_refuse_state(model, work, state, report) || ct_refuse_control(model, *control, report) ||
        ct_refuse_overlap(model, work, state, report))
        return true;
    *control = ct_control_or_values(model, state->header->time, *control, work->control);
    *control = ct_policy_control(model, work, state, *control);
    if (ct_refuse_control(model, *control, report)) return true;
    return ct_actuate(model, state->actuation, *control, work->actuation) != CT_OK &&
           ct_refuse_actuation(model, work->actuation, report);
}

ct_status ct_step(const ct_model* model, ct_work* work, ct_state* state, const double* control,
                  ct_step_report* report) {
    CT_NEED(NULL, model, work, state);
    ct_step_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    double started = ct_clock();
    // of a search's points this is one that fails, not the end
    if (ct_state_fits(state, model) && ct_refuse_far(model, state, report)) return CT_NOT_CONVERGED;
    if (refuses(model, work, state, &control, report)) return CT_BAD_ARGUMENT;
    memcpy(work->backup, state->header, state->size);

    refresh(model, work, state);
    if (!measure_growth(model, work, state)) return CT_OUT_OF_MEMORY;
    ct_blas_begin();
    double time = state->header->time;
    ct_external_joints(model, control, work->families.of[CT_FAMILY_JOINTS]);
    ct_external_forces(model, time, control, work->force);
    if (work->load) ct_vecn_axpy(work->force, 1, work->load, 3 * (size_t)model->nvert);
    ct_mounts_move(model, state->mount, control, work->mount);
    ct_external_drive(model, time + model->settings.time_step, control, work->mount, work->x_end);
    ct_external_roots(model, time + model->settings.time_step, control, work->mount, work->root_end);
    work->given = control;
    if (work->record) work->record->count = work->record->ntouch = 0;
    ct_status status = advance_all(model, work, state, report);
    report->converged = status == CT_OK && !is_truncated(model, report);
    if (status == CT_OK) finish(model, work, state, report);
    else memcpy(state->header, work->backup, state->size), explain(model, work, state, status, report);
    if (report != &local) report->inverted = ct_inverted_count(model, state->x);
    ct_blas_end();
    report->seconds = ct_clock() - started;
    return status;
}
