// Iterations of a (sub-)step with contact, for
//     r(z) - B^T J^T F = 0   and   R(z, F) = 0  (contact/touch.h):
//
// 1. A model step: the body is replaced by its preconditioner, corrected by how its forces have changed in
// the iterations so
//    far (secant.h), B^-1. The contacts then see only their compliance J B^-1 J^T, on which the friction
//    problem is solved to the end: it finds who touches, sticks and slips. Two solves.
// 2. A Newton step with those sets: GMRES on the exact linearisation, preconditioned by
//    [P -J^T; D J  E], whose inverse needs two solves with P and one with the small matrix D W + E. Where
//    many nodes of sheets touch obstacles, their rows are part of a factor that is made within the step
//    (brace.h), and Newton steps come first.
#include "step/contact_steps.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"
#include "step/brace.h"
#include "step/contact_kept.h"
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

enum {
    GMRES_RESTART = 40,
    KRYLOV_LIMIT = 100
};  // iterations of GMRES in a Newton step: beyond, it is a poor one
// With touches in the factor: iterations of GMRES, and sets that change, from which it is made anew;
// iterations of GMRES in a step
enum { BRACE_ITERATIONS = 12, BRACE_CHANGES = 20, BRACE_CYCLE = 40 };

static void solve_factor(const ct_model* model, ct_work* work, const double* b, double* y,
                         ct_step_report* report) {
    ct_precondition_apply(model, &work->preconditioner, &work->at, b, y);
    report->solves++;
}

// Vectors of the linear systems, one after the other in the system's vector.
typedef struct system_vectors {
    double *right, *solution;                               // unknowns and rows
    double *D, *E;                                          // 9 a slot
    double *b, *normal, *mu, *eps, *radius, *force, *rows;  // 3 or 1 a slot
    int* which;
    unsigned char* set;
} system_vectors;

static bool reserve(const ct_model* model, ct_work* work, system_vectors* v) {
    ct_contact_system* system = work->contact_system;
    const ct_contact_work* contact = work->contact;
    size_t n = (size_t)model->nunknown, m = contact->count, rows = n + 3 * m;
    size_t total = 2 * rows + 18 * m + 3 * m + 3 * m + m + m + m + 3 * m + 3 * m + 2 * m + 64;
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
    v->radius = at, at += m;
    v->force = at, at += 3 * m;
    v->rows = at, at += 3 * m;
    v->which = (int*)at, at += (m + 1) / 2 + 1;
    v->set = (unsigned char*)at;
    return true;
}

// unknowns = B^T J^T f over the listed touches, answer = P^-1 of it.
static void push_forces(const ct_model* model, ct_work* work, int count, const int* which, const double* f,
                        ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    double* nodal = contact->shift;
    memset(nodal, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < count; i++) {
        const ct_touch* touch = &contact->touch[which[i]];
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                nodal[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * f[3 * i + a];
    }
    ct_coords_pull(model, work, &work->at, nodal, system->unknowns);
    solve_factor(model, work, system->unknowns, system->answer, report);
}

// Touches that are open lose their forces, with their part of r.
static void release(const ct_model* model, ct_work* work) {
    ct_contact_work* contact = work->contact;
    bool released = false;
    memset(contact->nodal, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->is.set != CT_CONTACT_SET_OPEN) continue;
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

// Lists a touch in a friction problem; motion: J B^-1 r, which the unknowns are about to go back by.
static void list_touch(const ct_touch* touch, const double motion[3], int index, int slot,
                       system_vectors* v) {
    double offset[3];
    ct_touch_offset(touch, offset);
    for (int a = 0; a < 3; a++) {
        v->b[3 * slot + a] = offset[a] - motion[a];
        v->normal[3 * slot + a] = touch->at.n[a];
        v->force[3 * slot + a] = touch->is.force[a];
    }
    v->mu[slot] = touch->is.pair.friction;
    v->eps[slot] = touch->is.eps;
    v->set[slot] = (unsigned char)touch->is.set;
    v->which[slot] = index;
}

// The touches that carry force or would be penetrated without any, when the nodes go back by contact->shift,
// and those that were listed before in this step. *same: they are the ones that W was measured for last.
static int list_problem(ct_contact_system* system, ct_contact_work* contact, system_vectors* v, bool* same) {
    int count = 0;
    *same = true;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        double motion[3], ahead = touch->gap, here = ahead, force = 0;
        ct_touch_motion(touch, contact->shift, motion);
        for (int a = 0; a < 3; a++) {
            ahead -= touch->at.n[a] * motion[a];
            force += fabs(touch->is.force[a]);
            touch->delta[a] = 0;
        }
        if (fmin(ahead, here) > 0.1 * touch->is.pair.thickness && force == 0 && !touch->measured) continue;
        *same = *same && count < system->measured && v->which[count] == (int)i;
        list_touch(touch, motion, (int)i, count++, v);
    }
    *same = *same && count == system->measured;
    return count;
}

// W of the listed touches, and their r from it.
static ct_status measure_problem(const ct_model* model, ct_work* work, int count, const system_vectors* v) {
    ct_contact_system* system = work->contact_system;
    const ct_friction_matrix* W;
    ct_status status = ct_contact_system_compliance(model, work, &work->at, count, v->which, &W);
    if (status != CT_OK) return status;
    system->measured = count;
    system->factored = false;
    for (int i = 0; i < count; i++)
        ct_touch_measure(&work->contact->touch[v->which[i]], ct_friction_matrix_own(W, i));
    return CT_OK;
}

// U = J [S Z] of the listed touches.
static bool project_secant(const ct_model* model, ct_work* work, int count, const system_vectors* v) {
    ct_contact_system* system = work->contact_system;
    ct_contact_work* contact = work->contact;
    int rank = ct_secant_rank(&system->secant);
    if (!ct_reserve((void**)&system->U, &system->U_capacity, 3 * (size_t)count * (size_t)rank,
                    sizeof(double)))
        return false;
    for (int k = 0; k < rank; k++) {
        ct_coords_push(model, work, &work->at, ct_secant_column(&system->secant, k), contact->shift);
        for (int i = 0; i < count; i++) {
            double motion[3];
            ct_touch_motion(&contact->touch[v->which[i]], contact->shift, motion);
            for (int a = 0; a < 3; a++) system->U[(size_t)(3 * i + a) * (size_t)rank + (size_t)k] = motion[a];
        }
    }
    return true;
}

// The forces of the listed touches for which the law holds on W, corrected. v->rows: those that v->b belongs
// to.
static ct_status solve_on(const ct_model* model, ct_work* work, ct_contact_accuracy wanted, int count,
                          system_vectors* v, bool* converged) {
    ct_contact_system* system = work->contact_system;
    ct_friction_inverse inverse;
    ct_status status = ct_contact_system_invert(model, work, &work->at, count, v->which, &inverse);
    if (status == CT_OK && !project_secant(model, work, count, v)) status = CT_OUT_OF_MEMORY;
    if (status != CT_OK) return status;
    ct_friction_def def = {.count = count,
                           .W = &system->matrix,
                           .rank = ct_secant_rank(&system->secant),
                           .U = system->U,
                           .M = system->secant.M,
                           .b = v->b,
                           .base = v->rows,
                           .normal = v->normal,
                           .mu = v->mu,
                           .eps = v->eps,
                           .inverse = &inverse};
    ct_friction_report inner;
    const double tolerance = system->matrix.W ? wanted.stored : wanted.products;
    status = ct_friction_solve(&def, system->friction, tolerance, v->force, v->set, &inner);
    *converged = inner.converged;
    return status;
}

static ct_status solve_problem(const ct_model* model, ct_work* work, ct_contact_accuracy wanted, int count,
                               system_vectors* v) {
    bool converged;
    memcpy(v->rows, v->force, 3 * (size_t)count * sizeof(double));
    ct_status status = solve_on(model, work, wanted, count, v, &converged);
    if (status != CT_OK || converged || !ct_contact_system_harden(work->contact_system)) return status;
    status = measure_problem(model, work, count, v);
    return status == CT_OK ? solve_on(model, work, wanted, count, v, &converged) : status;
}

// The same with the sets as they are, and with those that arrive taken to stick. *holds false: the law does
// not hold with them.
static ct_status keep_forces(const ct_model* model, ct_work* work, system_vectors* v, int* count,
                             bool* holds) {
    ct_contact_work* contact = work->contact;
    *count = 0;
    *holds = true;
    work->contact_system->measured = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        const double* n = touch->at.n;
        double motion[3];
        ct_touch_motion(touch, contact->shift, motion);
        for (int a = 0; a < 3; a++) touch->delta[a] = 0;
        if (touch->is.set == CT_CONTACT_SET_OPEN) {
            for (int a = 0; a < 3; a++) *holds = *holds && touch->is.force[a] == 0;
            if (touch->gap > n[0] * motion[0] + n[1] * motion[1] + n[2] * motion[2]) continue;
            touch->is.set = CT_CONTACT_SET_STICK;
        }
        v->radius[*count] = touch->scale;
        list_touch(touch, motion, (int)i, (*count)++, v);
    }
    if (!*holds || !*count) return CT_OK;
    if (!project_secant(model, work, *count, v)) return CT_OUT_OF_MEMORY;
    const ct_contact_kept kept = {.count = *count,
                                  .which = v->which,
                                  .set = v->set,
                                  .b = v->b,
                                  .normal = v->normal,
                                  .mu = v->mu,
                                  .r = v->radius,
                                  .F = v->force,
                                  .D = v->D,
                                  .E = v->E,
                                  .a = v->rows};
    return ct_contact_kept_solve(model, work, &kept, holds);
}

// The change of the forces of the listed touches, and what it moves: adds B^-1 J^T dF to work->d.
static void apply_forces(const ct_model* model, ct_work* work, int count, system_vectors* v,
                         ct_step_report* report) {
    ct_contact_system* system = work->contact_system;
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            ct_touch* touch = &work->contact->touch[v->which[i]];
            touch->delta[a] = v->force[3 * i + a] - touch->is.force[a];
            v->rows[3 * i + a] = touch->delta[a];
        }
    push_forces(model, work, count, v->which, v->rows, report);
    for (int i = 0; i < model->nunknown; i++) work->d[i] += system->answer[i];
    ct_secant_correct(&system->secant, system->unknowns, work->d);
    ct_secant_leave(&system->secant, work->d, system->unknowns, system->answer);
}

// The sets of the listed touches; the others are open.
static void note_sets(ct_contact_work* contact, int count, const system_vectors* v) {
    for (size_t i = 0; i < contact->count; i++) contact->touch[i].is.set = CT_CONTACT_SET_OPEN;
    for (int i = 0; i < count; i++) contact->touch[v->which[i]].is.set = (ct_contact_set)v->set[i];
}

ct_status ct_contact_steps_model(const ct_model* model, ct_work* work, ct_contact_accuracy wanted, bool keep,
                                 double taken, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    system_vectors v;
    if (!reserve(model, work, &v)) return CT_OUT_OF_MEMORY;
    // B^-1 r and where it would take the contacts
    solve_factor(model, work, work->r, work->d, report);
    ct_secant_arrive(&system->secant, work->r, work->d, taken);
    ct_secant_correct(&system->secant, work->r, work->d);
    ct_coords_push(model, work, &work->at, work->d, contact->shift);
    bool same = false, holds = false;
    int count;
    ct_status status = keep ? keep_forces(model, work, &v, &count, &holds) : CT_OK;
    if (status != CT_OK) return status;
    if (!holds) {
        ct_contact_kept_forget(system);
        count = list_problem(system, contact, &v, &same);
    }
    for (int i = 0; i < model->nunknown; i++) work->d[i] = -work->d[i];
    if (!count) {
        note_sets(contact, 0, &v);
        ct_secant_leave(&system->secant, work->d, NULL, NULL);
        return CT_OK;
    }
    if (!holds && !same) status = measure_problem(model, work, count, &v);
    if (!holds && status == CT_OK) status = solve_problem(model, work, wanted, count, &v);
    note_sets(contact, count, &v);
    if (status == CT_OK) apply_forces(model, work, count, &v, report);
    return status;
}

typedef struct newton_context {
    const ct_model* model;
    ct_work* work;
    ct_step_report* report;
    system_vectors v;
    int slots;  // touches that are not open
    int dense;  // those of them that are seen by their compliance; the others are in the factor (brace.h)
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

// Adds to `out` what the forces A b of braced touches push, in unknowns.
static void push_braced(newton_context* c, const double* rows, double* out) {
    ct_contact_system* system = c->work->contact_system;
    memset(system->nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    for (int i = c->dense; i < c->slots; i++) {
        const ct_touch* touch = &c->work->contact->touch[c->v.which[i]];
        const double *A = c->v.E + 9 * i, *b = rows + 3 * i;
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                system->nodes[3 * touch->is.pair.node[k] + a] +=
                    touch->at.w[k] * (A[3 * a] * b[0] + A[3 * a + 1] * b[1] + A[3 * a + 2] * b[2]);
    }
    ct_coords_pull(c->model, c->work, &c->work->at, system->nodes, out);
}

// Their forces where the unknowns have moved by x: A b - K J x.
static void braced_forces(newton_context* c, const double* x, const double* rows, double* out) {
    ct_contact_work* contact = c->work->contact;
    ct_coords_push(c->model, c->work, &c->work->at, x, contact->shift);
    for (int i = c->dense; i < c->slots; i++) {
        const double *A = c->v.E + 9 * i, *K = c->v.D + 9 * i, *b = rows + 3 * i;
        double motion[3];
        ct_touch_motion(&contact->touch[c->v.which[i]], contact->shift, motion);
        for (int a = 0; a < 3; a++)
            out[3 * i + a] = A[3 * a] * b[0] + A[3 * a + 1] * b[1] + A[3 * a + 2] * b[2] -
                             (K[3 * a] * motion[0] + K[3 * a + 1] * motion[1] + K[3 * a + 2] * motion[2]);
    }
}

static void newton_precondition(const double* in, double* out, void* user) {
    newton_context* c = user;
    ct_contact_work* contact = c->work->contact;
    ct_contact_system* system = c->work->contact_system;
    size_t n = (size_t)c->model->nunknown;
    const bool braced = c->dense < c->slots;
    if (braced) {
        push_braced(c, in + n, system->unknowns);
        for (size_t i = 0; i < n; i++) system->unknowns[i] += in[i];
    }
    solve_factor(c->model, c->work, braced ? system->unknowns : in, out, c->report);
    if (c->dense) {
        ct_coords_push(c->model, c->work, &c->work->at, out, contact->shift);
        for (int i = 0; i < c->dense; i++) {
            const ct_touch* touch = &contact->touch[c->v.which[i]];
            double motion[3];
            ct_touch_motion(touch, contact->shift, motion);
            for (int a = 0; a < 3; a++)
                c->v.rows[3 * i + a] =
                    in[n + 3 * (size_t)i + (size_t)a] -
                    (touch->D[a][0] * motion[0] + touch->D[a][1] * motion[1] + touch->D[a][2] * motion[2]);
        }
        ct_friction_apply(system->friction, c->v.rows, out + n);
        push_forces(c->model, c->work, c->dense, c->v.which, out + n, c->report);
        for (size_t i = 0; i < n; i++) out[i] += system->answer[i];
    }
    if (braced) braced_forces(c, out, in + n, out + n);
}

// D W + E of the rows, by the kept inverse of W or by a factor. known: the vectors hold W of these touches.
static ct_status factor_rows(newton_context* c, bool known) {
    ct_contact_work* contact = c->work->contact;
    ct_contact_system* system = c->work->contact_system;
    ct_friction_inverse inverse;
    bool inverted = false, factored = known && system->factored;
    if (!known) system->measured = 0;
    ct_status status =
        ct_contact_system_invert(c->model, c->work, &c->work->at, c->dense, c->v.which, &inverse);
    if (status == CT_OK) status = ct_friction_invert(system->friction, &inverse, c->v.D, c->v.E, &inverted);
    if (status != CT_OK || inverted) return status;
    // with the same sets the factor of the Newton step before still serves
    for (int i = 0; i < c->dense; i++) {
        unsigned char set = (unsigned char)contact->touch[c->v.which[i]].is.set;
        factored = factored && c->v.set[i] == set;
        c->v.set[i] = set;
    }
    if (factored) return CT_OK;
    const ct_friction_matrix* W = &system->matrix;
    if (!known) status = ct_contact_system_linear(c->model, c->work, &c->work->at, c->dense, c->v.which, &W);
    if (status == CT_OK && !W->nodes) system->measured = c->dense;
    if (status == CT_OK) status = ct_friction_factor(system->friction, W, c->v.D, c->v.E);
    system->factored = status == CT_OK;
    return status;
}

// The right-hand side, D and E of the linearised touches. Returns whether the vectors hold W of the very
// touches, from the last model step: its nodes have hardly turned since.
static bool fill_rows(newton_context* c) {
    ct_contact_work* contact = c->work->contact;
    size_t n = (size_t)c->model->nunknown;
    bool known = c->work->contact_system->measured == c->dense;
    for (size_t i = 0; i < n; i++) c->v.right[i] = -c->work->r[i];
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        for (int a = 0; a < 3; a++) touch->delta[a] = 0;
        if (touch->slot < 0) continue;
        double R[3];
        ct_touch_residual(touch, R);
        known = known && (touch->slot >= c->dense || c->v.which[touch->slot] == (int)i);
        c->v.which[touch->slot] = (int)i;
        for (int a = 0; a < 3; a++) c->v.right[n + 3 * (size_t)touch->slot + (size_t)a] = -R[a];
        double *D = c->v.D + 9 * touch->slot, *E = c->v.E + 9 * touch->slot;
        if (touch->slot >= c->dense) {
            ct_brace_rows(touch, E, D);
            continue;
        }
        memcpy(D, touch->D, sizeof touch->D);
        memcpy(E, touch->dF, sizeof touch->dF);
    }
    return known;
}

// Makes the braced factor anew where the one in force has aged, and puts the touches that it stands for last.
static ct_status brace(newton_context* c, ct_contact_course* course) {
    ct_contact_system* system = c->work->contact_system;
    ct_status status = CT_OK;
    if (!c->work->preconditioner.brace_in_force || course->strained || course->changed > BRACE_CHANGES) {
        status = ct_brace_factor(c->model, c->work, &c->work->at, system->brace, &c->report->refactors);
        system->measured = 0;
        course->strained = false;
        course->changed = 0;
    }
    if (status == CT_SINGULAR) {
        course->braced = false;
        ct_precondition_release(&c->work->preconditioner);
        ct_precondition_warp(c->model, &c->work->preconditioner, &c->work->at, c->work->rho);
        return CT_OK;
    }
    c->dense = ct_brace_order(c->model, c->work->contact);
    return status;
}

// Sets by the present forces and gaps; returns how many touches change theirs.
static int classify(ct_contact_work* contact) {
    int changed = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        const ct_contact_set set = ct_touch_set(touch);
        changed += touch->is.set != set;
        touch->is.set = set;
    }
    return changed;
}

ct_status ct_contact_steps_newton(const ct_model* model, ct_work* work, double target,
                                  ct_contact_course* course, ct_step_report* report) {
    const ct_contact_point* here = &course->here;
    ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    size_t n = (size_t)model->nunknown;
    newton_context c = {.model = model, .work = work, .report = report};
    if (!reserve(model, work, &c.v)) return CT_OUT_OF_MEMORY;
    ct_contact_kept_forget(system);
    if (!course->told) course->changed += classify(contact);
    release(model, work);
    ct_contact_place(contact, work->at.x);
    c.slots = c.dense = ct_contact_linearise(contact);
    ct_status status = course->braced ? brace(&c, course) : CT_OK;
    if (status != CT_OK) return status;
    ct_phi_linearise(model, work, &work->at, work->rho);
    int rows = (int)n + 3 * c.slots;
    status = ct_krylov_reserve(system->krylov, rows, GMRES_RESTART);
    if (status != CT_OK) return status;

    bool known = fill_rows(&c);
    if (c.dense) status = factor_rows(&c, known);
    if (status != CT_OK) return status;
    double eta = fmin(0.1, sqrt(here->total / work->reference));
    const int most = model->settings.max_iterations - report->solves;
    ct_krylov_def def = {.n = rows,
                         .apply = newton_product,
                         .precondition = newton_precondition,
                         .user = &c,
                         .tolerance = fmax(eta * here->total, 0.1 * target),
                         .max_iterations = most < KRYLOV_LIMIT ? most : KRYLOV_LIMIT,
                         .cycle = GMRES_RESTART};  // the adjoint shares the work, with longer ones
    if (course->braced && def.max_iterations > BRACE_CYCLE) def.max_iterations = BRACE_CYCLE;
    ct_krylov_report inner;
    memset(c.v.solution, 0, (size_t)rows * sizeof(double));
    ct_gmres(&def, system->krylov, c.v.right, c.v.solution, &inner);
    if (course->braced) course->strained = inner.iterations > BRACE_ITERATIONS;
    else ct_solve_account(work, &inner);
    memcpy(work->d, c.v.solution, n * sizeof(double));
    for (int i = 0; i < c.slots; i++)
        for (int a = 0; a < 3; a++)
            contact->touch[c.v.which[i]].delta[a] = c.v.solution[n + 3 * (size_t)i + (size_t)a];
    return CT_OK;
}
