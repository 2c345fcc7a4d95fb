// A (sub-)step with contact: the unknowns z and the contact forces F with
//     r(z) - B^T J^T F = 0   and   R(z, F) = 0  (contact/touch.h),
// with frames that are held, by model steps and Newton steps (contact_steps.h).
//
// Model steps as long as they pay, then Newton steps. Where the forces of the last step tell the sets, model
// steps try these first: the friction problem is then a linear system (contact_kept.h). Steps are taken whole
// when they lower the residual or a merit function (potential, friction work and penetration), otherwise
// halved.
//
// While the solve is young, and at its end, the way from the start of the step is searched for pairs that
// meet; they join, or get one more frame (contact/contact_pairs.h).
#include "step/contact_solve.h"

#include <math.h>
#include <string.h>

#include "contact/contact_pairs.h"
#include "math/vecn.h"
#include "step/brace.h"
#include "step/contact_kept.h"
#include "step/contact_steps.h"
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

static const double cone = 1e-5;    // of the limit of friction: forces that are nearer count as slipping
static const double usual = 1e-5;   // accuracy of the friction problem, while the solve makes progress
static const double violent = 0.3;  // of a body's size: longer ways to an impact are taken in parts
static const double tiny = 0.1;  // of a model step: where no more of it can be taken, the factor does not fit
static const double deep = 0.3;  // of the way from thickness to core: how far gaps may be below zero

enum {
    SEARCH_LIMIT = 12,
    NEWTON_LIMIT = 60,
    STALL_LIMIT = 20,
    FREE_LIMIT = 2,     // iterations that do not pay, until bodies that nothing touches are solved for alone
    TROUBLE_LIMIT = 4,  // iterations that do not pay, until the factor is made anew
    EARLY_LOOKS = 5,
    KEPT_LIMIT = 3
};
// With touches in the factor: slow steps before those with the friction problem; looks while it is young
enum { BRACE_PATIENCE = 4, BRACE_LOOKS = 1 };

// ---- evaluation ----------------------------------------------------------------------------

// Subtracts the contact forces from work->rho and r; touches are placed at the configuration.
static double subtract_forces(const ct_model* model, ct_work* work, const ct_config* config, double* r) {
    ct_contact_work* contact = work->contact;
    size_t n = (size_t)model->nunknown;
    ct_contact_forces(contact);
    for (int i = 0; i < 3 * model->nvert; i++) work->rho[i] -= contact->nodal[i];
    ct_coords_pull(model, work, config, contact->nodal, work->contact_system->answer);
    for (size_t i = 0; i < n; i++) r[i] -= work->contact_system->answer[i];
    return ct_vecn_blas_norm(work->contact_system->answer, n);
}

// What contacts add where Phi is known: work->rho and r hold its gradient.
static ct_contact_point complete(const ct_model* model, ct_work* work, const ct_config* config, double phi,
                                 double* r) {
    ct_contact_point here = {.phi = phi};
    ct_contact_place(work->contact, config->x);
    here.size = subtract_forces(model, work, config, r);
    here.forces = ct_vecn_blas_norm(r, (size_t)model->nunknown);
    here.contacts = ct_contact_natural(work->contact);
    here.depth = ct_contact_depth(work->contact);
    here.total = hypot(here.forces, here.contacts);
    return here;
}

static ct_contact_point evaluate(const ct_model* model, ct_work* work, const ct_config* config, double* r,
                                 ct_step_report* report) {
    double phi = ct_phi_evaluate(model, work, config, r, report);
    return complete(model, work, config, phi, r);
}

// Friction's work and penetration, weighted by the normal forces that the step is heading for.
static double merit(const ct_contact_work* contact, double phi) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        const double *n = touch->at.n, *u = touch->u;
        double force = 0, along = 0, slip = 0;
        for (int a = 0; a < 3; a++) force += n[a] * (touch->base[a] + touch->delta[a]), along += n[a] * u[a];
        if (!(force > 0)) continue;
        for (int a = 0; a < 3; a++) slip += (u[a] - along * n[a]) * (u[a] - along * n[a]);
        phi += force * (touch->is.pair.friction * sqrt(slip) + 1.5 * fmax(0, -touch->gap));
    }
    return phi;
}

// ---- search --------------------------------------------------------------------------------

static void set_forces(ct_contact_work* contact, double t) {
    for (size_t i = 0; i < contact->count; i++)
        for (int a = 0; a < 3; a++)
            contact->touch[i].is.force[a] = contact->touch[i].base[a] + t * contact->touch[i].delta[a];
}

// Moves along work->d and the touches' deltas; returns how far. 0: nothing better was found.
static double search(const ct_model* model, ct_work* work, bool newton, ct_contact_point* here,
                     ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    for (size_t i = 0; i < contact->count; i++)
        memcpy(contact->touch[i].base, contact->touch[i].is.force, sizeof contact->touch[i].base);
    double before = merit(contact, here->phi), t = 1;
    for (int i = 0; i < (newton ? 4 : SEARCH_LIMIT); i++, t *= 0.5) {
        set_forces(contact, t);
        ct_coords_move(model, &work->at, t, work->d, &work->trial);
        ct_contact_point trial = evaluate(model, work, &work->trial, work->r_trial, report);
        bool finite = isfinite(trial.phi) && isfinite(trial.total);
        if (finite && (trial.total <= (1 - 0.1 * t) * here->total ||
                       ((!newton || trial.total < 10 * here->total) &&
                        merit(contact, trial.phi) < before - 1e-10 * fabs(before)))) {
            ct_config taken = work->trial;
            work->trial = work->at;
            work->at = taken;
            double* r = work->r;
            work->r = work->r_trial;
            work->r_trial = r;
            *here = trial;
            return t;
        }
        report->line_searches++;
    }
    set_forces(contact, 0);
    *here = evaluate(model, work, &work->at, work->r, report);
    return 0;
}

// ---- the solve for known pairs -------------------------------------------------------------

static double target_of(const ct_model* model, const ct_work* work, const ct_contact_point* here) {
    return model->settings.tolerance * (work->reference + here->size);
}

// Sets by the forces of the last step, where these say it all: nodes on planes, each pressed against its
// plane or off it. The next step is then likely to have the same sets. Nodes that arrive are taken to stick.
static bool keep_sets(ct_contact_work* contact) {
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        const double *F = touch->is.force, *n = touch->at.n;
        if (touch->is.pair.type != CT_CONTACT_TYPE_PLANE || touch->is.eps != 0) return false;
        double force = n[0] * F[0] + n[1] * F[1] + n[2] * F[2],
               square = F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
        if (!(force > 0) && square > 0) return false;
        double across = sqrt(fmax(square - force * force, 0));
        touch->is.set = square == 0 && touch->gap > 0                            ? CT_CONTACT_SET_OPEN
                        : across <= (1 - cone) * touch->is.pair.friction * force ? CT_CONTACT_SET_STICK
                                                                                 : CT_CONTACT_SET_SLIP;
    }
    return true;
}

// What comes next, after a step that began with the residual `before`.
static void choose(ct_contact_course* c, bool modelled, double before, double target) {
    bool moved = c->taken > 0;
    if (c->braced && moved) {
        c->slow = c->here.total < 0.5 * before ? 0 : c->slow + 1;
        c->newton = c->slow < BRACE_PATIENCE;
        if (c->here.total <= 0.5 * c->mark) c->mark = c->here.total, c->marked = c->iteration;
        return;
    }
    if (modelled) c->slow = moved && c->here.total < 0.6 * before ? 0 : c->slow + 1;
    if (modelled && moved && c->slow < c->patience) c->newton = false;
    else if (modelled) c->newton = true, c->patience = 1, c->slow = 0;
    else c->newton = moved && c->here.total < 0.5 * before;
    if (c->keep && moved && c->iteration >= KEPT_LIMIT && c->here.total > 10 * target) c->newton = true;
    if (modelled && c->here.total > 0.5 * before) c->accuracy = fmax(1e-12, 0.01 * c->accuracy);
    if (c->here.total <= 0.5 * c->mark) c->mark = c->here.total, c->marked = c->iteration;
}

// Pairs that meet on the way to where the solve is; they change the residual.
static ct_status look(const ct_model* model, ct_work* work, double end, ct_contact_course* c, bool* added,
                      bool* stuck, ct_step_report* report) {
    ct_status status = ct_contact_certify(&model->collision, work->contact, work->at.x, end, added, stuck);
    if (status != CT_OK || !*added) return status;
    c->here = evaluate(model, work, &work->at, work->r, report);
    c->newton = c->braced;
    c->told = false;
    work->contact_system->factored = false;
    c->mark = fmax(c->mark, c->here.total);
    c->marked = c->since = c->iteration;
    return CT_OK;
}

// A model step gains two or three digits. What is left of the friction problem is part of the residual.
static ct_contact_accuracy accuracy_of(const ct_contact_course* c, double target) {
    const double before = c->here.total, size = hypot(c->here.size, before),
                 left = c->accuracy / usual * fmax(0.3 * target, 1e-2 * before);
    return (ct_contact_accuracy){.stored = fmax(1e-2 * target, 1e-4 * before) / size,
                                 .products = left / size};
}

// Where iterations do not pay, or hardly any of a model step can be taken, makes the factor anew at the
// iterate, and goes on with model steps: bodies that are crushed are much stiffer than the factor's.
static bool renew(const ct_model* model, ct_work* work, ct_contact_course* c, ct_step_report* report) {
    if (c->trouble < TROUBLE_LIMIT || c->braced || model->tree.nlink) return false;
    // a matrix that is not positive definite leaves the old factor in force
    ct_precondition_renew(model, &work->preconditioner, &work->at, work->actuation, work->step.rate.c,
                          &report->refactors);
    ct_families_begin(&model->families, &work->families, &work->step);
    c->trouble = work->preconditioner.debt = 0;
    c->renewals++;
    c->newton = false;
    c->slow = 0;
    return true;
}

static ct_status iterate(const ct_model* model, ct_work* work, double target, ct_contact_course* c,
                         ct_step_report* report) {
    bool renewed = renew(model, work, c, report);
    double before = c->here.total;
    bool modelled = !c->newton;
    ct_secant* secant = &work->contact_system->secant;
    bool unbraced = modelled && c->braced;
    if (unbraced) c->braced = false, ct_precondition_release(&work->preconditioner);
    if (!c->braced && (renewed || ct_solve_renew(model, work, report) || unbraced || !modelled)) {
        // the nodes have turned: another P
        ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
        work->contact_system->measured = 0;
        ct_contact_kept_forget(work->contact_system);
        ct_secant_reset(secant);
    }
    ct_status status =
        modelled ? ct_contact_steps_model(model, work, accuracy_of(c, target), c->keep, c->taken, report)
                 : ct_contact_steps_newton(model, work, target, c, report);
    if (status != CT_OK) return status;
    report->iterations++;
    c->iteration++;
    c->taken = search(model, work, !modelled, &c->here, report);
    if (c->taken == 0) secant->moving = false;
    c->told = modelled && c->taken == 1;
    if (!modelled) ct_phi_foresee(model, work, &work->at, c->taken, work->d);
    choose(c, modelled, before, target);
    if (c->taken < 0.3 || c->here.total > 0.5 * before) c->trouble++;
    if (modelled && !renewed && !c->keep && c->taken > 0 && c->taken < tiny && before > 0.1 * work->reference)
        c->trouble = TROUBLE_LIMIT;
    return CT_OK;
}

static bool may_halve(const ct_model* model, const ct_contact_work* contact) {
    return contact->h > 1.5 * ldexp(model->settings.time_step, -model->settings.max_substep_depth);
}

// Solves that get through gain a digit in five iterations, after the first few. Two halves take less than one
// that does not.
static bool is_hopeless(const ct_contact_course* c, double target) {
    return c->renewals >= 2 && c->here.total > target * pow(10, 8 - 0.2 * (c->iteration - c->since));
}

// Where nothing touches as yet and iterations do not pay, the bodies alone are what is hard: they are solved
// for as without touches, once, and the solve goes on from there.
static bool is_free(const ct_contact_course* c) {
    return !c->freed && !c->braced && c->trouble >= FREE_LIMIT && c->here.size == 0 && c->here.contacts == 0;
}

static ct_status solve_bodies(const ct_model* model, ct_work* work, ct_contact_course* c,
                              ct_step_report* report) {
    const double reference = work->reference;
    ct_status status = ct_solve_newton(model, work, report);
    work->reference = reference;
    if (status != CT_OK && status != CT_NOT_CONVERGED) return status;
    c->here = evaluate(model, work, &work->at, work->r, report);
    c->freed = true;
    c->newton = c->told = false;
    c->mark = fmax(c->mark, c->here.total);
    c->marked = c->iteration;
    work->contact_system->measured = 0;
    ct_contact_kept_forget(work->contact_system);
    ct_secant_reset(&work->contact_system->secant);
    ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
    return CT_OK;
}

// Until the residual is small and no pair meets on the way.
static ct_status solve_touches(const ct_model* model, ct_work* work, double end, ct_step_report* report) {
    double phi = ct_solve_begin(model, work, report).phi;
    ct_contact_course c = {.here = complete(model, work, &work->at, phi, work->r),
                           .patience = 2,
                           .looks = EARLY_LOOKS,
                           .accuracy = usual};
    c.keep = keep_sets(work->contact);
    ct_contact_kept_forget(work->contact_system);
    c.braced = ct_brace_serves(model, work->contact);
    if (c.braced) c.newton = true, c.looks = BRACE_LOOKS;
    c.mark = c.here.total;
    ct_solve_account_begin(model, work);
    work->contact_system->factored = false;
    work->contact_system->measured = 0;
    ct_secant_reset(&work->contact_system->secant);
    ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
    bool added = false, stuck = false, done = false;
    ct_status status = CT_OK;
    while (status == CT_OK && !done && c.iteration < NEWTON_LIMIT && c.iteration - c.marked < STALL_LIMIT) {
        double target = target_of(model, work, &c.here);
        if (!isfinite(c.here.total)) break;
        if (c.here.total <= target && c.here.depth > deep) {
            if (!ct_contact_stiffen(work->contact, 0.5 * deep)) break;
            c.here = evaluate(model, work, &work->at, work->r, report);
            continue;
        }
        if (c.here.total <= target) {
            status = look(model, work, end, &c, &added, &stuck, report);
            done = !added;
            if (added && report->passes++ >= model->settings.contact.max_passes) break;
            continue;
        }
        if (report->solves >= model->settings.max_iterations) break;
        if (is_hopeless(&c, target) && may_halve(model, work->contact)) break;
        if (is_free(&c)) {
            status = solve_bodies(model, work, &c, report);
            continue;
        }
        bool modelled = !c.newton;
        status = iterate(model, work, target, &c, report);
        if (status != CT_OK || (!modelled && !c.braced) || c.taken == 0 || c.here.total <= target ||
            c.looks-- <= 0)
            continue;
        status = look(model, work, end, &c, &added, &stuck, report);
    }
    report->residual = c.here.total;
    report->reference = work->reference + c.here.size;
    if (status != CT_OK) return status;
    return done && !stuck ? CT_OK : CT_NOT_CONVERGED;
}

// ---- entry point ---------------------------------------------------------------------------

// Stick and closed gaps to the last digit: moves the free nodes of touches that share none by their residual.
static void polish(const ct_model* model, ct_work* work) {
    ct_contact_work* contact = work->contact;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->is.set == CT_CONTACT_SET_OPEN || touch->is.eps != 0 ||
            touch->is.pair.type != CT_CONTACT_TYPE_PLANE)
            continue;
        int v = touch->is.pair.node[0];
        if (model->row[v] < 0) continue;
        double along = 0;
        for (int a = 0; a < 3; a++) along += touch->at.n[a] * touch->u[a];
        for (int a = 0; a < 3; a++) {
            double slip = touch->is.set == CT_CONTACT_SET_STICK ? touch->u[a] - along * touch->at.n[a] : 0;
            work->at.x[3 * v + a] -= touch->at.n[a] * touch->gap + slip;
        }
    }
}

// Without touches, as long as nothing meets on the way.
static ct_status solve_free(const ct_model* model, ct_work* work, double end, ct_step_report* report) {
    bool added, stuck;
    ct_status status = ct_solve_newton(model, work, report);
    if (status == CT_OK)
        status = ct_contact_certify(&model->collision, work->contact, work->at.x, end, &added, &stuck);
    return status == CT_OK && stuck ? CT_NOT_CONVERGED : status;
}

// Where the velocities lead through things, the solve starts from where the step does: the body is not yet
// crushed there.
static void start_back(const ct_model* model, ct_work* work) {
    if (model->tree.nlink) return;
    for (int v = 0; v < model->nvert; v++)
        if (model->row[v] >= 0) memcpy(work->at.x + 3 * v, work->x_from + 3 * v, 3 * sizeof(double));
}

void ct_contact_solve_begin(const ct_model* model, ct_work* work, const ct_state* state, double time,
                            double h) {
    ct_contact_start start = {.x = work->x_from,
                              .v = work->v_from,
                              .x_end = work->at.x,
                              .time = time,
                              .h = h,
                              .rate = work->step.rate.c,
                              .shortened = h < 0.75 * model->settings.time_step,
                              .past = ct_state_anchors(state),
                              .growth = state->growth,
                              .elapsed = time + h - state->header->growth_start};
    ct_contact_begin(&model->collision, work->contact, &start);
}

// Bodies that run into one another by a good part of their size within a (sub-)step are solved for in shorter
// ones: where the velocities lead, they have passed through one another, and what is near there tells little.
static bool is_violent(const ct_model* model, const ct_contact_work* contact) {
    return contact->violence > violent && may_halve(model, contact);
}

ct_status ct_contact_solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                           ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    double end = time + h;
    ct_contact_solve_begin(model, work, state, time, h);
    ct_contact_system_begin(work->contact_system);
    ct_status status = ct_contact_find(&model->collision, contact, end);
    report->passes = 1;
    if (status == CT_OK && is_violent(model, contact)) return CT_NOT_CONVERGED;
    if (status == CT_OK && !contact->count) status = solve_free(model, work, end, report);
    if (status == CT_OK && contact->count) {
        if (contact->meets) start_back(model, work);
        status = solve_touches(model, work, end, report);
    }
    if (status != CT_OK) return status;
    int crossings = ct_detect_intersections(&model->collision, contact->detect, work->at.x, NULL);
    if (crossings) return crossings < 0 ? CT_OUT_OF_MEMORY : CT_NOT_CONVERGED;
    ct_contact_classify(contact);
    polish(model, work);
    ct_contact_forces(contact);
    return ct_contact_report(contact, work->at.x, report);
}
