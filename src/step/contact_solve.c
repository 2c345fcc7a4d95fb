// A (sub-)step with contact: the unknowns z and the contact forces F with
//     r(z) - B^T J^T F = 0   and   R(z, F) = 0  (contact/touch.h),
// by two kinds of iterations:
//
// 1. A model step: the system is replaced by its preconditioner P, for which the contacts see only their
// compliance W = J P^-1 J^T.
//    The friction problem on W is solved to the end: it finds who touches, sticks and slips.
// 2. A Newton step with those sets: GMRES on the exact linearisation, moving normals and weights included,
// preconditioned by
//    [P -J^T; D J  E], whose inverse needs two solves with P and one with the small matrix D W + E.
//
// A Newton step comes first where the forces of the last step tell the sets.
//
// Steps are taken whole when they lower the residual or a merit function (potential, friction work and
// penetration), otherwise halved. Around it: pairs are found on the way to the predictor, solved for, and
// looked for again on the way to the solution, until no pair meets that was not known; then no primitive has
// passed through another.
#include "step/contact_solve.h"

#include <math.h>
#include <string.h>

#include "contact/contact_pairs.h"
#include "math/vecn.h"
#include "step/contact_system.h"
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

static const double cone = 1e-5;  // of the limit of friction: forces that are nearer count as slipping
static const double deep = 0.01;  // of the way from thickness to core: how far gaps may be below zero

enum { GMRES_RESTART = 40, SEARCH_LIMIT = 12, NEWTON_LIMIT = 60, STALL_LIMIT = 20 };

// ---- evaluation ----------------------------------------------------------------------------

typedef struct point {
    double phi;       // J
    double forces;    // |r - B^T J^T F|, N
    double contacts;  // of the contact conditions, N
    double size;      // |B^T J^T F|, N
    double depth;     // of penetration into the thickness, relative
    double total;     // of both residuals
} point;

// Subtracts the contact forces from work->rho and r; touches are placed at the configuration.
static double subtract_forces(const ct_model* model, ct_work* work, const ct_config* config, double* r) {
    ct_contact_work* contact = work->contact;
    size_t n = (size_t)model->nunknown;
    ct_contact_forces(contact);
    for (int i = 0; i < 3 * model->nvert; i++) work->rho[i] -= contact->nodal[i];
    ct_coords_pull(model, work, config, contact->nodal, work->contact_system->answer);
    for (size_t i = 0; i < n; i++) r[i] -= work->contact_system->answer[i];
    return ct_vecn_norm4(work->contact_system->answer, n);
}

static point evaluate(const ct_model* model, ct_work* work, const ct_config* config, double* r,
                      ct_step_report* report) {
    point here;
    here.phi = ct_phi_evaluate(model, work, config, r, report);
    ct_contact_place(work->contact, config->x, false);
    here.size = subtract_forces(model, work, config, r);
    here.forces = ct_vecn_norm4(r, (size_t)model->nunknown);
    here.contacts = ct_contact_natural(work->contact);
    here.depth = ct_contact_depth(work->contact);
    here.total = hypot(here.forces, here.contacts);
    return here;
}

// Friction's work and penetration, weighted by the normal forces that the step is heading for.
static double merit(const ct_contact_work* contact, double phi) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        const double *n = touch->at.n, *u = touch->at.u;
        double force = 0, along = 0, slip = 0;
        for (int a = 0; a < 3; a++) force += n[a] * (touch->base[a] + touch->delta[a]), along += n[a] * u[a];
        if (!(force > 0)) continue;
        for (int a = 0; a < 3; a++) slip += (u[a] - along * n[a]) * (u[a] - along * n[a]);
        phi += force * (touch->is.pair.friction * sqrt(slip) + 1.5 * fmax(0, -touch->at.gap));
    }
    return phi;
}

// ---- directions ----------------------------------------------------------------------------

static void solve_factor(const ct_model* model, ct_work* work, const double* b, double* y,
                         ct_step_report* report) {
    ct_precondition_apply(model, &work->preconditioner, &work->at, b, y);
    report->solves++;
}

// Vectors of the linear systems, one after the other in the system's vector.
typedef struct system_vectors {
    double *right, *solution;                      // unknowns and rows
    double *D, *E;                                 // 9 a slot
    double *b, *normal, *mu, *eps, *force, *rows;  // 3 or 1 a slot
    int* which;
    unsigned char* set;
} system_vectors;

static bool reserve(const ct_model* model, ct_work* work, system_vectors* v) {
    ct_contact_system* system = work->contact_system;
    const ct_contact_work* contact = work->contact;
    size_t n = (size_t)model->nunknown, m = contact->count, rows = n + 3 * m;
    size_t total = 2 * rows + 18 * m + 3 * m + 3 * m + m + m + 3 * m + 3 * m + 2 * m + 64;
    if (!ct_reserve((void**)&system->vector, &system->capacity, total, sizeof(double))) return false;
    double* at = system->vector;
    if (system->revision != contact->revision) system->measured = 0;
    if (system->layout != m) system->measured = 0, system->factored = false;
    system->revision = contact->revision;
    system->layout = m;
    v->right = at, at += rows;
    v->solution = at, at += rows;
    v->D = at, at += 9 * m;
    v->E = at, at += 9 * m;
    v->b = at, at += 3 * m;
    v->normal = at, at += 3 * m;
    v->mu = at, at += m;
    v->eps = at, at += m;
    v->force = at, at += 3 * m;
    v->rows = at, at += 3 * m;
    v->which = (int*)at, at += (m + 1) / 2 + 1;
    v->set = (unsigned char*)at;
    return true;
}

// J dz of one touch for a motion of the nodes.
static void relative_motion(const ct_touch* touch, const double* dx, double out[3]) {
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < touch->at.count; k++)
        for (int a = 0; a < 3; a++) out[a] += touch->at.w[k] * dx[3 * touch->is.pair.node[k] + a];
}

// out += P^-1 B^T J^T f over the listed touches.
static void push_forces(const ct_model* model, ct_work* work, int count, const int* which, const double* f,
                        double* out, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    double* nodal = contact->shift;
    memset(nodal, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < count; i++) {
        const ct_touch* touch = &contact->touch[which[i]];
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                nodal[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * f[3 * i + a];
    }
    ct_coords_pull(model, work, &work->at, nodal, work->contact_system->unknowns);
    solve_factor(model, work, work->contact_system->unknowns, work->contact_system->answer, report);
    for (int i = 0; i < model->nunknown; i++) out[i] += work->contact_system->answer[i];
}

// Touches that are open, or (away only) have left their primitives, lose their forces, with their part of r.
static void release(const ct_model* model, ct_work* work, bool away_only) {
    ct_contact_work* contact = work->contact;
    bool released = false;
    memset(contact->nodal, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (away_only ? !ct_touch_away(touch) : touch->is.set != CT_CONTACT_SET_OPEN) continue;
        for (int a = 0; a < 3; a++) {
            if (touch->is.force[a] == 0) continue;
            released = true;
            for (int k = 0; k < touch->at.count; k++)
                contact->nodal[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * touch->is.force[a];
            touch->is.force[a] = 0;
        }
    }
    if (!released) return;
    for (int i = 0; i < 3 * model->nvert; i++) work->rho[i] += contact->nodal[i];
    ct_coords_pull(model, work, &work->at, contact->nodal, work->contact_system->answer);
    for (int i = 0; i < model->nunknown; i++) work->r[i] += work->contact_system->answer[i];
}

// Lists a touch in a friction problem; motion: J P^-1 r, which the unknowns are about to go back by.
static void list_touch(const ct_touch* touch, const double motion[3], int index, int slot,
                       system_vectors* v) {
    const double *n = touch->at.n, *u = touch->at.u;
    double along = 0;
    for (int a = 0; a < 3; a++) along += n[a] * u[a];
    for (int a = 0; a < 3; a++) {
        v->b[3 * slot + a] = n[a] * touch->at.gap + u[a] - along * n[a] - motion[a];
        v->normal[3 * slot + a] = n[a];
        v->force[3 * slot + a] = touch->is.force[a];
    }
    v->mu[slot] = touch->is.pair.friction;
    v->eps[slot] = touch->is.eps;
    v->set[slot] = (unsigned char)touch->is.set;
    v->which[slot] = index;
}

// The touches that carry force or would be penetrated without any, when the nodes go back by contact->shift.
static int list_problem(ct_contact_work* contact, system_vectors* v) {
    int count = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        double motion[3], ahead = touch->at.gap, force = 0;
        relative_motion(touch, contact->shift, motion);
        for (int a = 0; a < 3; a++) {
            ahead -= touch->at.n[a] * motion[a];
            force += fabs(touch->is.force[a]);
            touch->delta[a] = 0;
        }
        if (fmin(ahead, touch->at.gap) > 0.1 * touch->is.pair.thickness && force == 0) continue;
        if (!ct_touch_away(touch)) list_touch(touch, motion, (int)i, count++, v);
    }
    return count;
}

// W of the listed touches, and their r from it.
static ct_status measure_problem(const ct_model* model, ct_work* work, int count, system_vectors* v) {
    ct_contact_system* system = work->contact_system;
    const ct_friction_matrix* W;
    ct_status status = ct_contact_system_compliance(model, work, &work->at, count, v->which, &W);
    if (status != CT_OK) return status;
    system->measured = count;
    system->factored = false;
    for (int i = 0; i < count; i++) {
        ct_touch* touch = &work->contact->touch[v->which[i]];
        ct_touch_measure(touch, ct_friction_matrix_own(W, i));
        v->eps[i] = touch->is.eps;
    }
    return CT_OK;
}

// The forces of the listed touches for which the law holds on W.
static ct_status solve_problem(const ct_model* model, ct_work* work, double tolerance, int count,
                               system_vectors* v) {
    ct_friction_inverse inverse;
    ct_status status = ct_contact_system_invert(model, work, &work->at, count, v->which, &inverse);
    if (status != CT_OK) return status;
    ct_friction_def def = {.count = count,
                           .W = &work->contact_system->matrix,
                           .b = v->b,
                           .base = v->rows,
                           .normal = v->normal,
                           .mu = v->mu,
                           .eps = v->eps,
                           .inverse = &inverse};
    ct_friction_report inner;
    memcpy(v->rows, v->force, 3 * (size_t)count * sizeof(double));
    return ct_friction_solve(&def, work->contact_system->friction, tolerance, v->force, v->set, &inner);
}

// The friction problem on the touches that carry force or would be penetrated without any.
static ct_status model_step(const ct_model* model, ct_work* work, double tolerance, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    system_vectors v;
    if (!reserve(model, work, &v)) return CT_OUT_OF_MEMORY;
    release(model, work, true);
    // y = P^-1 r and where it would take the contacts
    solve_factor(model, work, work->r, work->d, report);
    ct_coords_push(model, work, &work->at, work->d, contact->shift);
    int count = list_problem(contact, &v);
    for (int i = 0; i < model->nunknown; i++) work->d[i] = -work->d[i];
    if (!count) return CT_OK;
    ct_status status = measure_problem(model, work, count, &v);
    if (status == CT_OK) status = solve_problem(model, work, tolerance, count, &v);
    if (status != CT_OK) return status;
    // the change of the forces, and what it moves
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            ct_touch* touch = &contact->touch[v.which[i]];
            touch->delta[a] = v.force[3 * i + a] - touch->is.force[a];
            v.rows[3 * i + a] = touch->delta[a];
        }
    push_forces(model, work, count, v.which, v.rows, work->d, report);
    return CT_OK;
}

typedef struct newton_context {
    const ct_model* model;
    ct_work* work;
    ct_step_report* report;
    system_vectors v;
    int slots;
} newton_context;

static void newton_product(const double* in, double* out, void* user) {
    newton_context* c = user;
    ct_contact_work* contact = c->work->contact;
    size_t n = (size_t)c->model->nunknown;
    ct_phi_hessian(c->model, c->work, &c->work->at, in, out);
    ct_coords_push(c->model, c->work, &c->work->at, in, contact->shift);
    double* nodes = c->work->contact_system->nodes;
    memset(nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    ct_contact_product(contact, contact->shift, in + n, nodes, out + n);
    ct_coords_pull(c->model, c->work, &c->work->at, nodes, c->work->contact_system->unknowns);
    for (size_t i = 0; i < n; i++) out[i] += c->work->contact_system->unknowns[i];
    c->report->hessian_products++;
}

static void newton_precondition(const double* in, double* out, void* user) {
    newton_context* c = user;
    ct_contact_work* contact = c->work->contact;
    ct_contact_system* system = c->work->contact_system;
    size_t n = (size_t)c->model->nunknown;
    solve_factor(c->model, c->work, in, out, c->report);
    if (!c->slots) return;
    ct_coords_push(c->model, c->work, &c->work->at, out, contact->shift);
    for (int i = 0; i < c->slots; i++) {
        const ct_touch* touch = &contact->touch[c->v.which[i]];
        double motion[3];
        relative_motion(touch, contact->shift, motion);
        for (int a = 0; a < 3; a++)
            c->v.rows[3 * i + a] =
                in[n + 3 * (size_t)i + (size_t)a] -
                (touch->D[a][0] * motion[0] + touch->D[a][1] * motion[1] + touch->D[a][2] * motion[2]);
    }
    ct_friction_apply(system->friction, c->v.rows, out + n);
    push_forces(c->model, c->work, c->slots, c->v.which, out + n, out, c->report);
}

// D W + E of the rows, by the kept inverse of W or by a factor. known: the vectors hold W of these touches.
static ct_status factor_rows(newton_context* c, bool known) {
    ct_contact_work* contact = c->work->contact;
    ct_contact_system* system = c->work->contact_system;
    ct_friction_inverse inverse;
    bool inverted = false, factored = known && system->factored;
    if (!known) system->measured = 0;
    ct_status status =
        ct_contact_system_invert(c->model, c->work, &c->work->at, c->slots, c->v.which, &inverse);
    if (status == CT_OK) status = ct_friction_invert(system->friction, &inverse, c->v.D, c->v.E, &inverted);
    if (status != CT_OK || inverted) return status;
    // with the same sets the factor of the Newton step before still serves
    for (int i = 0; i < c->slots; i++) {
        unsigned char set = (unsigned char)contact->touch[c->v.which[i]].is.set;
        factored = factored && c->v.set[i] == set;
        c->v.set[i] = set;
    }
    if (factored) return CT_OK;
    const ct_friction_matrix* W = &system->matrix;
    if (!known)
        status = ct_contact_system_compliance(c->model, c->work, &c->work->at, c->slots, c->v.which, &W);
    if (status == CT_OK) system->measured = c->slots;
    if (status == CT_OK) status = ct_friction_factor(system->friction, W, c->v.D, c->v.E);
    system->factored = status == CT_OK;
    return status;
}

// The right-hand side, D and E of the linearised touches. Returns whether the vectors hold W of the very
// touches, from the last model step: its nodes have hardly turned since.
static bool fill_rows(newton_context* c) {
    ct_contact_work* contact = c->work->contact;
    size_t n = (size_t)c->model->nunknown;
    bool known = c->work->contact_system->measured == c->slots;
    for (size_t i = 0; i < n; i++) c->v.right[i] = -c->work->r[i];
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        for (int a = 0; a < 3; a++) touch->delta[a] = 0;
        if (touch->slot < 0) continue;
        double R[3];
        ct_touch_residual(touch, R);
        known = known && c->v.which[touch->slot] == (int)i;
        c->v.which[touch->slot] = (int)i;
        for (int a = 0; a < 3; a++) c->v.right[n + 3 * (size_t)touch->slot + (size_t)a] = -R[a];
        memcpy(c->v.D + 9 * touch->slot, touch->D, sizeof touch->D);
        memcpy(c->v.E + 9 * touch->slot, touch->dF, sizeof touch->dF);
    }
    return known;
}

static ct_status newton_step(const ct_model* model, ct_work* work, const point* here, double target,
                             bool keep, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    size_t n = (size_t)model->nunknown;
    newton_context c = {.model = model, .work = work, .report = report};
    if (!reserve(model, work, &c.v)) return CT_OUT_OF_MEMORY;
    if (!keep) ct_contact_classify(contact);
    release(model, work, false);
    ct_contact_place(contact, work->at.x, true);
    c.slots = ct_contact_linearise(contact);
    ct_phi_linearise(model, work, &work->at, work->rho);
    int rows = (int)n + 3 * c.slots;
    ct_status status = ct_krylov_reserve(system->krylov, rows, GMRES_RESTART);
    if (status != CT_OK) return status;

    bool known = fill_rows(&c);
    if (c.slots) status = factor_rows(&c, known);
    if (status != CT_OK) return status;
    double eta = fmin(0.1, sqrt(here->total / work->reference));
    ct_krylov_def def = {.n = rows,
                         .apply = newton_product,
                         .precondition = newton_precondition,
                         .user = &c,
                         .tolerance = fmax(eta * here->total, 0.1 * target),
                         .max_iterations = model->settings.max_iterations - report->solves,
                         .cycle = GMRES_RESTART};  // the adjoint shares the work, with longer ones
    ct_krylov_report inner;
    memset(c.v.solution, 0, (size_t)rows * sizeof(double));
    ct_gmres(&def, system->krylov, c.v.right, c.v.solution, &inner);
    memcpy(work->d, c.v.solution, n * sizeof(double));
    for (int i = 0; i < c.slots; i++)
        for (int a = 0; a < 3; a++)
            contact->touch[c.v.which[i]].delta[a] = c.v.solution[n + 3 * (size_t)i + (size_t)a];
    return CT_OK;
}

// ---- search --------------------------------------------------------------------------------

static void set_forces(ct_contact_work* contact, double t) {
    for (size_t i = 0; i < contact->count; i++)
        for (int a = 0; a < 3; a++)
            contact->touch[i].is.force[a] = contact->touch[i].base[a] + t * contact->touch[i].delta[a];
}

// Moves along work->d and the touches' deltas; false: nothing better was found, and nothing moved.
static bool search(const ct_model* model, ct_work* work, bool newton, point* here, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    for (size_t i = 0; i < contact->count; i++)
        memcpy(contact->touch[i].base, contact->touch[i].is.force, sizeof contact->touch[i].base);
    double before = merit(contact, here->phi), t = 1;
    for (int i = 0; i < (newton ? 4 : SEARCH_LIMIT); i++, t *= 0.5) {
        set_forces(contact, t);
        ct_coords_move(model, &work->at, t, work->d, &work->trial);
        point trial = evaluate(model, work, &work->trial, work->r_trial, report);
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
            return true;
        }
        report->line_searches++;
    }
    set_forces(contact, 0);
    *here = evaluate(model, work, &work->at, work->r, report);
    return false;
}

// ---- the solve for known pairs -------------------------------------------------------------

static double target_of(const ct_model* model, const ct_work* work, const point* here) {
    return model->settings.tolerance * (work->reference + here->size);
}

static bool is_converged(const point* here, double target) {
    return here->total <= target && here->depth <= deep;
}

// Sets by the forces of the last step, where these say it all: nodes on planes, each pressed against its
// plane or off it. The next step is then likely to have the same sets, and needs no model step to find them.
static bool keep_sets(ct_contact_work* contact) {
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        const double *F = touch->is.force, *n = touch->at.n;
        if (touch->is.pair.type != CT_CONTACT_TYPE_PLANE || touch->is.eps != 0) return false;
        double force = n[0] * F[0] + n[1] * F[1] + n[2] * F[2],
               square = F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
        if (!(force > 0) && (square > 0 || touch->at.gap <= 0)) return false;
        double across = sqrt(fmax(square - force * force, 0));
        touch->is.set = square == 0                                             ? CT_CONTACT_SET_OPEN
                        : across < (1 - cone) * touch->is.pair.friction * force ? CT_CONTACT_SET_STICK
                                                                                : CT_CONTACT_SET_SLIP;
    }
    return true;
}

static ct_status solve_known(const ct_model* model, ct_work* work, bool first, ct_step_report* report) {
    point here = evaluate(model, work, &work->at, work->r, report);
    bool keep = first && keep_sets(work->contact), newton = keep;
    work->contact_system->factored = false;
    double accuracy = 1e-5;  // of the friction problem
    ct_status status = CT_OK;
    double mark = here.total;  // half of it must be reached within STALL_LIMIT iterations
    int iteration = 0, marked = 0;
    for (; iteration < NEWTON_LIMIT && iteration - marked < STALL_LIMIT && status == CT_OK; iteration++) {
        double target = target_of(model, work, &here);
        if (!isfinite(here.total)) break;
        if (is_converged(&here, target)) break;
        if (report->solves >= model->settings.max_iterations) break;
        if (iteration == 0 || !newton)
            ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
        double before = here.total;
        bool modelled = !newton;
        status = newton ? newton_step(model, work, &here, target, keep, report)
                        : model_step(model, work, fmin(accuracy, 0.1 * target / here.total), report);
        if (status != CT_OK) break;
        report->iterations++;
        keep = false;
        bool moved = search(model, work, newton, &here, report);
        if (newton && !moved) newton = false;
        else if (!newton && !moved) {
            newton = true;
            if (iteration > 30) break;
        } else newton = !newton || here.total < 0.5 * before;
        if (modelled && here.total > 0.5 * before) accuracy = fmax(1e-12, 0.01 * accuracy);
        if (here.total <= 0.5 * mark) mark = here.total, marked = iteration + 1;
    }
    double target = target_of(model, work, &here);
    report->residual = here.total;
    report->reference = work->reference + here.size;
    if (status != CT_OK) return status;
    return is_converged(&here, target) ? CT_OK : CT_NOT_CONVERGED;
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
        for (int a = 0; a < 3; a++) along += touch->at.n[a] * touch->at.u[a];
        for (int a = 0; a < 3; a++) {
            double slip = touch->is.set == CT_CONTACT_SET_STICK ? touch->at.u[a] - along * touch->at.n[a] : 0;
            work->at.x[3 * v + a] -= touch->at.n[a] * touch->at.gap + slip;
        }
    }
}

ct_status ct_contact_solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                           ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    double end = time + h;
    ct_contact_begin(&model->collision, contact, state->x, time, h, ct_model_rate(&model->settings));
    ct_status status =
        ct_contact_add_near(&model->collision, contact, state->x, work->at.x, end, state->contact_force);
    if (status == CT_OK && contact->count) ct_solve_begin(model, work, report);
    bool again = true;
    for (int pass = 1; again && status == CT_OK; pass++) {
        if (pass > model->settings.contact.max_passes) return CT_NOT_CONVERGED;
        status = contact->count ? solve_known(model, work, pass == 1, report)
                                : ct_solve_newton(model, work, report);
        report->passes = pass;
        if (status == CT_OK)
            status = ct_contact_look_again(&model->collision, contact, state->x, work->at.x, end, &again);
    }
    if (status != CT_OK) return status;
    if (ct_detect_intersections(&model->collision, contact->detect, work->at.x, NULL))
        return CT_NOT_CONVERGED;
    polish(model, work);
    ct_contact_forces(contact);
    return ct_contact_report(contact, work->at.x, report);
}
