// Finding where a state rests; see settle.h.
#include "step/settle.h"

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
#include "step/advice.h"
#include "step/coords.h"
#include "step/external.h"
#include "step/inverted.h"
#include "step/phi.h"
#include "step/refuse.h"
#include "step/solve.h"
#include "step/start.h"

enum { ROUND_LIMIT = 40, CONTACT_LIMIT = 400, CONTACT_SOLVES = 20000 };
enum { GMRES_RESTART = 60, SOLVE_LIMIT = 4000 };
// of the rate of whole steps: inertia in the factor, so that bodies that nothing holds have one
static const double shift = 1e-3;

typedef struct settler {
    const ct_model* model;
    ct_work* work;
    ct_state* state;  // x, q: where the last round ended
    ct_arena arena;
    double *rest, *v_kept;  // 3 nvert: zeros; velocities of the state
    double* rate;           // ndof: of the joints, along the parents' axes
    double reference;       // N
    ct_settle_report* report;
} settler;

// ---- what acts -----------------------------------------------------------------------------

// Forces, torques and actuation of the state's time; actuators are where their controls want them.
static ct_status apply_loads(const ct_model* model, ct_work* work, const ct_state* state,
                             const double** control) {
    *control = ct_control_or_values(model, state->header->time, *control, work->control);
    const ct_actuators* all = &model->actuators;
    ct_status status = CT_OK;
    for (int i = 0; i < all->size; i++) {
        work->actuation[i] =
            all->start[i] + (*control && all->control[i] >= 0 ? (*control)[all->control[i]] : 0);
        if (!isfinite(work->actuation[i]) || !(work->actuation[i] >= all->least[i])) status = CT_BAD_ARGUMENT;
    }
    ct_external_joints(model, *control, work->families.of[CT_FAMILY_JOINTS]);
    ct_external_forces(model, state->header->time, *control, work->force);
    return status;
}

// ---- one round -----------------------------------------------------------------------------

static void place(settler* s) {
    const ct_model* model = s->model;
    ct_config* at = &s->work->at;
    memcpy(at->x, s->state->x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(at->q, s->state->q, (size_t)model->tree.ncoordinate * sizeof(double));
    if (model->tree.nlink) ct_config_place(&model->tree, at);
}

// Begins at the state, at rest, with the rate c (0: statics), and with a factor made there.
static ct_status begin_round(settler* s, ct_rate rate) {
    const ct_model* model = s->model;
    ct_work* work = s->work;
    ct_config* at = &work->at;
    place(s);
    ct_preconditioner* p = &work->preconditioner;
    int unused = 0;
    ct_status status = ct_precondition_choose(model, p, s->state, 0, &unused);
    double c = fmax(rate.c, shift * ct_model_rate(&model->settings));
    if (status == CT_OK)
        status = ct_precondition_renew(model, p, at, work->actuation, c, &s->report->refactors);
    p->may_renew = p->renewed = false;
    if (status != CT_OK && status != CT_SINGULAR) return status;  // the rest factor serves too
    const ct_phi_start start = {.rate = rate,
                                .x = s->state->x,
                                .v = s->rest,
                                .x_previous = s->state->x,
                                .v_previous = s->rest,
                                .q = s->state->q,
                                .q_previous = s->state->q};
    work->x_from = start.x, work->v_from = start.v;
    ct_phi_begin(model, work, &start);
    return CT_OK;
}

static void take(settler* s, const ct_step_report* round) {
    s->report->iterations += round->iterations;
    s->report->solves += round->solves;
}

static void keep(settler* s) {
    const ct_model* model = s->model;
    memcpy(s->state->x, s->work->at.x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(s->state->q, s->work->at.q, (size_t)model->tree.ncoordinate * sizeof(double));
}

// |r| of statics at the state; begins a static round there.
static ct_status measure(settler* s, double* residual) {
    ct_step_report round = {0};
    ct_status status = begin_round(s, (ct_rate){0});
    if (status != CT_OK) return status;
    ct_solve_point here = ct_solve_begin(s->model, s->work, &round);
    if (!(s->reference > 0)) s->reference = s->work->reference;
    *residual = s->report->residual = here.norm;
    s->report->reference = s->reference;
    return CT_OK;
}

// ---- without contact -----------------------------------------------------------------------

// Some proximal points: h doubles with every one that is found, and is quartered where none is.
static ct_status creep(settler* s, double* h) {
    ct_status status = CT_OK;
    for (int i = 0, found = 0; i < 8 && found < 4 && status == CT_OK; i++) {
        ct_step_report round = {0};
        status = begin_round(s, ct_rate_euler(*h));
        if (status != CT_OK) return status;
        ct_status solved = ct_solve_newton(s->model, s->work, &round);
        take(s, &round);
        if (solved == CT_OK) keep(s), *h *= 2, found++;
        else if (solved == CT_NOT_CONVERGED) *h /= 4;
        else status = solved;
    }
    return status;
}

static ct_status settle_free(settler* s) {
    double residual, h = s->model->settings.time_step;
    for (int i = 0; i < ROUND_LIMIT; i++) {
        ct_step_report round = {0};
        ct_status status = measure(s, &residual);
        if (status != CT_OK) return status;
        if (!isfinite(residual)) return CT_NOT_CONVERGED;
        if (residual <= s->model->settings.tolerance * s->reference) return CT_OK;
        status = ct_solve_newton(s->model, s->work, &round);
        take(s, &round);
        if (status != CT_OK && status != CT_NOT_CONVERGED) return status;
        if (status == CT_OK || round.residual < 0.3 * residual) keep(s);
        else if ((status = creep(s, &h)) != CT_OK) return status;
    }
    return CT_NOT_CONVERGED;
}

// ---- with contact --------------------------------------------------------------------------

// What of the residual of statics is left where a step with inertia from rest has ended: -M c^2 (x - x_n).
static double inertial_residual(settler* s, double c) {
    const ct_model* model = s->model;
    double* f = s->work->phi.dx;
    for (int i = 0; i < 3 * model->nvert; i++)
        f[i] = c * c * model->free_mass[i / 3] * (s->work->at.x[i] - s->state->x[i]);
    ct_coords_pull(model, s->work, &s->work->at, f, s->work->scratch);
    return ct_vecn_blas_norm(s->work->scratch, (size_t)model->nunknown);
}

static void keep_contacts(settler* s) {
    const ct_contact_work* contact = s->work->contact;
    ct_state* state = s->state;
    memcpy(state->contact_force, contact->nodal, 3 * (size_t)s->model->nvert * sizeof(double));
    state->header->nanchor =
        contact->count ? ct_anchor_write(&contact->touch->is, sizeof *contact->touch, contact->count,
                                         state->anchor, (int)state->header->anchor_room)
                       : 0;
}

// Steps from rest to rest, each under the contacts that it finds.
static ct_status settle_contacts(settler* s) {
    const ct_model* model = s->model;
    ct_work* work = s->work;
    double h = model->settings.time_step, longest = 32 * h, shortest = 1e-3 * h;
    for (int i = 0; i < CONTACT_LIMIT && s->report->solves < CONTACT_SOLVES; i++) {
        ct_step_report round = {.smooth = true};
        ct_status status = begin_round(s, ct_rate_euler(h));
        if (status == CT_OK)
            status = model->solver->solve(model, work, s->state, s->state->header->time, h, &round);
        take(s, &round);
        if (status != CT_OK && status != CT_NOT_CONVERGED) return status;
        if (status == CT_NOT_CONVERGED) {
            h /= 4;
            if (h < shortest) return status;
            continue;
        }
        s->reference = fmax(s->reference, round.reference);
        s->report->residual = inertial_residual(s, 1 / h);
        s->report->reference = s->reference;
        s->report->contacts = round.contacts;
        keep(s);
        keep_contacts(s);
        if (s->report->residual <= model->settings.tolerance * s->reference) return CT_OK;
        h = fmin(2 * h, longest);
    }
    return CT_NOT_CONVERGED;
}

// ---- public --------------------------------------------------------------------------------

static ct_status prepare(settler* s) {
    size_t n = 3 * (size_t)s->model->nvert;
    s->rest = ct_arena_alloc(&s->arena, n, sizeof(double));
    s->v_kept = ct_arena_alloc(&s->arena, n, sizeof(double));
    s->rate = ct_arena_alloc(&s->arena, (size_t)s->model->tree.ndof, sizeof(double));
    if (s->arena.failed) return CT_OUT_OF_MEMORY;
    memcpy(s->v_kept, s->state->v, n * sizeof(double));
    memset(s->state->v, 0, n * sizeof(double));
    place(s);
    memcpy(s->rate, s->state->rate, (size_t)s->model->tree.ndof * sizeof(double));
    if (s->state->header->followed) {
        ct_status status = ct_start_own_rates(s->model, s->state, s->rate);
        if (status != CT_OK) return status;
    }
    ct_config_to_parents(&s->model->tree, &s->work->at, s->rate, s->rate);
    if (!s->work->contact) return CT_OK;
    s->state->header->grown = 1;
    s->state->header->growth_start = s->state->header->time;
    return ct_growth_measure(&s->model->collision, s->work->contact->detect, &s->work->contact->near,
                             s->state->x, s->state->header->time, s->state->growth);
}

// Velocities of links as their joints turn; those of nodes as they were, or following their bones anew.
static ct_status move(settler* s) {
    const ct_tree* tree = &s->model->tree;
    ct_state* state = s->state;
    if (state->header->followed) return ct_start_move(s->model, state);
    for (int j = 0; j < tree->ndof; j++) s->rate[j] = state->rate[j] * tree->scale[j];
    for (int i = 0; i < ct_tree_node_count(tree); i++)
        memset(state->v + 3 * tree->node[i], 0, 3 * sizeof(double));
    if (tree->nlink) ct_config_push(tree, &s->work->at, s->rate, s->work->twist, state->v);
    return CT_OK;
}

static ct_status finish(settler* s) {
    const ct_model* model = s->model;
    const ct_tree* tree = &model->tree;
    ct_work* work = s->work;
    ct_state* state = s->state;
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    memcpy(state->v, s->v_kept, bytes);
    place(s);
    ct_config_to_world(tree, &work->at, s->rate, state->rate);
    ct_status status = move(s);
    memcpy(state->x_previous, state->x, bytes);
    memcpy(state->v_previous, state->v, bytes);
    memcpy(state->q_previous, state->q, (size_t)tree->ncoordinate * sizeof(double));
    for (int i = 0; i < model->actuators.size; i++) state->actuation[i] = work->actuation[i];
    state->header->history = 0;
    state->header->slow_solves = 0;
    state->header->reference = 0;
    state->header->settled = s->report->contacts ? CT_SETTLED_TOUCHING : CT_SETTLED_FREE;
    return status;
}

static void explain(const settler* s, ct_status status) {
    ct_settle_report* report = s->report;
    if (status != CT_NOT_CONVERGED) {
        snprintf(report->message, sizeof report->message, "%s", ct_status_text(status));
        return;
    }
    snprintf(report->message, sizeof report->message,
             "no equilibrium was found (residual %.1e of %.1e N after %d solves): see that pins, joints or "
             "contacts hold every body, and that the loads are not beyond what it can bear",
             report->residual, report->reference, report->solves);
}

static bool refuses(const ct_model* model, ct_work* work, const ct_state* state, const double* control,
                    ct_settle_report* report) {
    ct_step_report step;
    step.message[0] = 0;
    bool refused = ct_refuse_state(model, work, state, &step) || ct_refuse_control(model, control, &step) ||
                   ct_refuse_far(model, state, &step) || ct_refuse_overlap(model, work, state, &step);
    if (!refused && model->settings.solver != CT_SOLVER_NEWTON)
        refused = true,
        snprintf(step.message, sizeof step.message, "only the solver \"newton\" settles a scene: choose it");
    snprintf(report->message, sizeof report->message, "%s", step.message);
    return refused;
}

ct_status ct_settle(const ct_model* model, ct_work* work, ct_state* state, const double* control,
                    ct_settle_report* report) {
    CT_NEED(NULL, model, work, state);
    ct_settle_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    double started = ct_clock();
    if (refuses(model, work, state, control, report)) return CT_BAD_ARGUMENT;
    memcpy(work->backup, state->header, state->size);
    settler s = {.model = model, .work = work, .state = state, .report = report};
    ct_blas_begin();
    ct_status status = apply_loads(model, work, state, &control);
    if (status == CT_OK) status = prepare(&s);
    if (status == CT_OK && model->nunknown) status = work->contact ? settle_contacts(&s) : settle_free(&s);
    if (status == CT_OK) status = finish(&s);
    report->converged = status == CT_OK;
    if (status != CT_OK) {
        explain(&s, status);
        memcpy(state->header, work->backup, state->size);
    }
    report->inverted = ct_inverted_count(model, state->x);
    ct_blas_end();
    ct_arena_free(&s.arena);
    report->seconds = ct_clock() - started;
    return status;
}

// ---- flesh alone ---------------------------------------------------------------------------

// The elements alone act, with the actuation that the state has.
static void apply_none(const ct_model* model, ct_work* work, const ct_state* state) {
    memset(work->force, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < model->actuators.size; i++) work->actuation[i] = state->actuation[i];
    ct_external_joints(model, NULL, work->families.of[CT_FAMILY_JOINTS]);
}

ct_status ct_relax(const ct_model* model, ct_work* work, ct_state* state, ct_settle_report* report) {
    ct_settle_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    double started = ct_clock();
    ct_step_report step = {0};
    bool refused = ct_refuse_state(model, work, state, &step);
    if (!refused && model->settings.solver != CT_SOLVER_NEWTON)
        refused = true,
        snprintf(step.message, sizeof step.message, "only the solver \"newton\" relaxes a start: choose it");
    snprintf(report->message, sizeof report->message, "%s", step.message);
    if (refused) return CT_BAD_ARGUMENT;
    memcpy(work->backup, state->header, state->size);
    settler s = {.model = model, .work = work, .state = state, .report = report};
    const size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    ct_blas_begin();
    apply_none(model, work, state);
    ct_status status = prepare(&s);
    work->preconditioner.held = true;
    if (status == CT_OK && model->nfree) status = settle_free(&s);
    work->preconditioner.held = false;
    report->converged = status == CT_OK;
    if (status == CT_OK) {
        memcpy(state->v, s.v_kept, bytes);
        memcpy(state->x_previous, state->x, bytes);
        state->header->grown = 0;
        state->header->settled = CT_SETTLED_RELAXED;
    } else {
        explain(&s, status);
        memcpy(state->header, work->backup, state->size);
    }
    report->inverted = ct_inverted_count(model, state->x);
    ct_blas_end();
    ct_arena_free(&s.arena);
    report->seconds = ct_clock() - started;
    return status;
}

// ---- reverse -------------------------------------------------------------------------------

const char* ct_settle_refuses_gradient(const ct_model* model, const ct_state* state) {
    if (state->header->settled == CT_SETTLED_TOUCHING)
        return "the start has settled on contacts: only one that rests without them has a gradient";
    const ct_water* water = model->families.of[CT_FAMILY_WATER];
    for (int a = 0; water && a < 3; a++)
        if (water->current[a] != 0)
            return "the start has settled in a current of water: only in still water it has a gradient";
    return NULL;
}

typedef struct reverse_scratch {
    ct_arena arena;
    double *zero, *x, *v, *x_previous, *v_previous, *lam;            // 3 nvert
    double *q, *q_previous, *torque, *target, *position, *velocity;  // ndof
    double *right, *lam_z;                                           // nunknown
    double* actuation;
} reverse_scratch;

static ct_family_bar bars_of(const reverse_scratch* r, ct_sums* sums) {
    return (ct_family_bar){.x_n = r->x,
                           .v_n = r->v,
                           .x_nm1 = r->x_previous,
                           .v_nm1 = r->v_previous,
                           .q_n = r->q,
                           .q_nm1 = r->q_previous,
                           .torque = r->torque,
                           .target = r->target,
                           .actuation = r->actuation,
                           .sums = sums};
}

static ct_status make_scratch(reverse_scratch* r, const ct_model* model) {
    double** node[] = {&r->zero, &r->x, &r->v, &r->x_previous, &r->v_previous, &r->lam};
    double** joint[] = {&r->q, &r->q_previous, &r->torque, &r->target, &r->position, &r->velocity};
    double** unknown[] = {&r->right, &r->lam_z};
    for (size_t i = 0; i < sizeof node / sizeof *node; i++)
        *node[i] = ct_arena_alloc(&r->arena, 3 * (size_t)model->nvert, sizeof(double));
    for (size_t i = 0; i < sizeof joint / sizeof *joint; i++)
        *joint[i] = ct_arena_alloc(&r->arena, (size_t)model->tree.ndof, sizeof(double));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        *unknown[i] = ct_arena_alloc(&r->arena, (size_t)model->nunknown, sizeof(double));
    r->actuation = ct_arena_alloc(&r->arena, (size_t)model->actuators.size, sizeof(double));
    return r->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

typedef struct system_context {
    const ct_model* model;
    ct_work* work;
    ct_backward_report* report;
} system_context;

static void product(const double* in, double* out, void* user) {
    system_context* c = user;
    ct_phi_hessian(c->model, c->work, &c->work->at, in, out);
}

static void precondition(const double* in, double* out, void* user) {
    system_context* c = user;
    ct_precondition_apply(c->model, &c->work->preconditioner, &c->work->at, in, out);
    c->report->solves++;
}

// H lam_z = right.
static ct_status solve_system(const ct_model* model, ct_work* work, const double* right, double* lam_z,
                              ct_backward_report* report) {
    size_t n = (size_t)model->nunknown;
    double size = ct_vecn_norm(right, n);
    memset(lam_z, 0, n * sizeof(double));
    if (size == 0) return CT_OK;
    system_context context = {model, work, report};
    ct_krylov_def def = {.n = (int)n,
                         .apply = product,
                         .precondition = precondition,
                         .user = &context,
                         .tolerance = fmin(1e-9, model->settings.tolerance) * size,
                         .max_iterations = SOLVE_LIMIT};
    ct_krylov_report inner;
    ct_pcg(&def, work->krylov, right, lam_z, &inner);
    if (inner.end == CT_KRYLOV_NEGATIVE || inner.end == CT_KRYLOV_BREAKDOWN) {
        ct_krylov_work* gmres = NULL;
        ct_status status = ct_krylov_work_create(&gmres, (int)n, GMRES_RESTART);
        if (status != CT_OK) return status;
        ct_gmres(&def, gmres, right, lam_z, &inner);
        ct_krylov_work_free(gmres);
    }
    report->max_residual = fmax(report->max_residual, inner.residual / size);
    return inner.residual <= fmax(def.tolerance, 1e-9 * size) ? CT_OK : CT_NOT_CONVERGED;
}

// The velocities of links' nodes, B(q) rate, depend on where the joints are: adds that to bar->q.
static ct_status reverse_velocities(const ct_model* model, ct_work* work, const ct_state* state,
                                    reverse_scratch* r, ct_adjoint_state* bar) {
    const ct_tree* tree = &model->tree;
    ct_status status = CT_OK;
    if (!tree->nlink) return status;
    ct_config_scratch scratch = {work->wrench, work->moments, work->scratch, work->curvature};
    if (state->header->followed)
        status = ct_start_vjp(model, state, NULL, bar->v, &(ct_start_bar){.position = r->position});
    else ct_config_start_vjp(tree, &work->at, state->rate, r->zero, bar->v, &scratch, r->position, NULL);
    for (int j = 0; j < tree->ndof; j++) bar->q[j] += r->position[j];
    return status;
}

static ct_status reverse(const ct_model* model, settler* s, reverse_scratch* r, const double* control,
                         ct_adjoint_state* bar, ct_sums* sums, double* control_bar,
                         ct_backward_report* report) {
    ct_work* work = s->work;
    size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    ct_status status = begin_round(s, (ct_rate){0});
    if (status != CT_OK) return status;
    status = reverse_velocities(model, work, s->state, r, bar);
    if (status != CT_OK) return status;
    ct_phi_gradient(model, work, work->at.x, work->rho);
    ct_phi_linearise(model, work, &work->at, work->rho);
    ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);

    ct_coords_pull(model, work, &work->at, bar->x, r->right);
    ct_config_pull_tangents(&model->tree, &work->at, bar->q, r->right + 3 * (size_t)model->nfree);
    status = solve_system(model, work, r->right, r->lam_z, report);
    if (status != CT_OK) return status;
    ct_coords_push(model, work, &work->at, r->lam_z, r->lam);

    const ct_family_bar to = bars_of(r, sums);
    ct_phi_vjp(model, work, &work->at, r->lam_z, r->lam, &to);
    ct_external_forces_vjp(model, s->state->header->time, control, r->lam, sums->of[CT_SUM_MASS],
                           sums->of[CT_QUANTITY_GRAVITY], control_bar);
    ct_water_buoyancy_vjp(model->families.of[CT_FAMILY_WATER], r->lam, sums);
    if (control_bar) {
        ct_external_joints_vjp(model, to.torque, to.target, control_bar);
        for (int i = 0; i < model->actuators.size; i++)
            if (model->actuators.control[i] >= 0)
                control_bar[model->actuators.control[i]] += bar->actuation[i] + r->actuation[i];
    }
    // where it rests does not depend on where it began
    memset(bar->x, 0, n * sizeof(double));
    memset(bar->q, 0, ndof * sizeof(double));
    return CT_OK;
}

// Of flesh that has relaxed, with x_f(q): H_ff lam = x_bar_f, q_bar -= H_qf lam.
static ct_status reverse_relaxed(const ct_model* model, settler* s, reverse_scratch* r, ct_adjoint_state* bar,
                                 ct_sums* sums, ct_backward_report* report) {
    ct_work* work = s->work;
    const ct_tree* tree = &model->tree;
    const size_t first = 3 * (size_t)model->nfree, ndof = (size_t)tree->ndof;
    ct_status status = begin_round(s, (ct_rate){0});
    if (status != CT_OK) return status;
    ct_phi_gradient(model, work, work->at.x, work->rho);
    ct_phi_linearise(model, work, &work->at, work->rho);
    ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
    ct_coords_pull(model, work, &work->at, bar->x, r->right);
    memset(r->right + first, 0, ndof * sizeof(double));
    work->preconditioner.held = true;
    status = solve_system(model, work, r->right, r->lam_z, report);
    work->preconditioner.held = false;
    if (status != CT_OK) return status;
    ct_coords_push(model, work, &work->at, r->lam_z, r->lam);
    ct_phi_hessian(model, work, &work->at, r->lam_z, r->right);
    for (size_t j = 0; j < ndof; j++) r->position[j] = r->right[first + j] * tree->scale[j];
    ct_config_to_parents(tree, &work->at, r->position, r->position);
    for (size_t j = 0; j < ndof; j++) bar->q[j] -= r->position[j];
    const ct_family_bar to = bars_of(r, sums);
    ct_phi_vjp(model, work, &work->at, r->lam_z, r->lam, &to);
    for (int k = 0; k < model->nfree; k++) memset(bar->x + 3 * (size_t)model->node[k], 0, 3 * sizeof(double));
    return CT_OK;
}

ct_status ct_settle_vjp(const ct_model* model, ct_work* work, const ct_state* state, const double* control,
                        ct_adjoint_state* bar, ct_sums* sums, double* control_bar,
                        ct_backward_report* report) {
    if (ct_settle_refuses_gradient(model, state)) return CT_UNSUPPORTED;
    if (!model->nunknown) return CT_OK;
    reverse_scratch r = {0};
    ct_settle_report unused = {0};
    ct_status status = make_scratch(&r, model);
    settler s = {.model = model, .work = work, .state = (ct_state*)state, .rest = r.zero, .report = &unused};
    const bool relaxed = state->header->settled == CT_SETTLED_RELAXED;
    ct_blas_begin();
    if (status == CT_OK && relaxed) {
        apply_none(model, work, state);
        status = reverse_relaxed(model, &s, &r, bar, sums, report);
    } else if (status == CT_OK) status = apply_loads(model, work, state, &control);
    if (status == CT_OK && !relaxed) status = reverse(model, &s, &r, control, bar, sums, control_bar, report);
    ct_blas_end();
    ct_arena_free(&r.arena);
    return status;
}
