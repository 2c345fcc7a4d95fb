// A (sub-)step with contact: the unknowns z and the contact forces F with
//     r(z) - B^T J^T F = 0   and   R(z, F) = 0  (contact/touch.h),
// with frames that are held, by two kinds of iterations:
//
// 1. A model step: the body is replaced by its preconditioner, corrected by how its forces have changed in
// the iterations so
//    far (secant.h), B^-1. The contacts then see only their compliance J B^-1 J^T, on which the friction
//    problem is solved to the end: it finds who touches, sticks and slips. Two solves.
// 2. A Newton step with those sets: GMRES on the exact linearisation, preconditioned by
//    [P -J^T; D J  E], whose inverse needs two solves with P and one with the small matrix D W + E. Where
//    many nodes of sheets touch obstacles, their rows are part of a factor that is made within the step
//    (brace.h), and Newton steps come first.
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
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

static const double cone = 1e-5;    // of the limit of friction: forces that are nearer count as slipping
static const double usual = 1e-5;   // accuracy of the friction problem, while the solve makes progress
static const double violent = 0.5;  // of a body's size: longer ways to an impact are taken in parts
static const double deep = 0.3;     // of the way from thickness to core: how far gaps may be below zero

enum {
    GMRES_RESTART = 40,
    SEARCH_LIMIT = 12,
    NEWTON_LIMIT = 60,
    STALL_LIMIT = 20,
    TROUBLE_LIMIT = 4,   // iterations that do not pay, until the factor is made anew
    KRYLOV_LIMIT = 100,  // iterations of GMRES in a Newton step: beyond, it is a poor one
    EARLY_LOOKS = 5,
    KEPT_LIMIT = 3
};
// With touches in the factor: iterations of GMRES, and sets that change, from which it is made anew; slow
// steps before those with the friction problem; looks while it is young; iterations of GMRES in a step
enum { BRACE_ITERATIONS = 12, BRACE_CHANGES = 20, BRACE_PATIENCE = 4, BRACE_LOOKS = 1, BRACE_CYCLE = 40 };

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

// What contacts add where Phi is known: work->rho and r hold its gradient.
static point complete(const ct_model* model, ct_work* work, const ct_config* config, double phi, double* r) {
    point here = {.phi = phi};
    ct_contact_place(work->contact, config->x);
    here.size = subtract_forces(model, work, config, r);
    here.forces = ct_vecn_norm4(r, (size_t)model->nunknown);
    here.contacts = ct_contact_natural(work->contact);
    here.depth = ct_contact_depth(work->contact);
    here.total = hypot(here.forces, here.contacts);
    return here;
}

static point evaluate(const ct_model* model, ct_work* work, const ct_config* config, double* r,
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

// ---- the solve so far ----------------------------------------------------------------------

typedef struct course {
    point here;
    bool newton;      // the next step is one of Newton's
    bool keep;        // model steps try the sets as they are first
    int patience;     // slow model steps before one of Newton's
    int slow;         // slow ones so far
    int looks;        // for pairs that meet, while it is young
    double taken;     // how far the last step was taken
    double accuracy;  // of the friction problem
    double mark;      // half of it must be reached within STALL_LIMIT iterations
    int iteration, marked;
    bool braced;    // touches of single nodes are in the factor
    bool strained;  // which is due to be made anew
    int changed;    // sets, since it was made
    int trouble;    // iterations that have not paid, since the factor was made
    int renewals;   // of the factor for them
    int since;      // iteration in which pairs have joined last
    bool told;      // a friction problem has told the sets, and was followed all the way
} course;

// ---- directions ----------------------------------------------------------------------------

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

// How well friction problems are solved, relative to the forces. Where W is not stored, iterations of the
// problem cost as much as those around it: they go hand in hand.
typedef struct accuracy {
    double stored, products;
} accuracy;

// The forces of the listed touches for which the law holds on W, corrected.
static ct_status solve_problem(const ct_model* model, ct_work* work, accuracy wanted, int count,
                               system_vectors* v) {
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
    memcpy(v->rows, v->force, 3 * (size_t)count * sizeof(double));
    const double tolerance = system->matrix.W ? wanted.stored : wanted.products;
    return ct_friction_solve(&def, system->friction, tolerance, v->force, v->set, &inner);
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

// The friction problem on the touches that carry force or would be penetrated without any. taken: how far the
// last step was taken.
static ct_status model_step(const ct_model* model, ct_work* work, accuracy wanted, bool keep, double taken,
                            ct_step_report* report) {
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
static ct_status brace(newton_context* c, course* course) {
    ct_contact_work* contact = c->work->contact;
    ct_contact_system* system = c->work->contact_system;
    ct_status status = CT_OK;
    if (!c->work->preconditioner.brace_in_force || course->strained || course->changed > BRACE_CHANGES) {
        status = ct_brace_factor(c->model, c->work, system->brace, c->report);
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
    c->dense = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0 && ct_brace_node(c->model, touch) < 0) touch->slot = c->dense++;
    }
    int last = c->dense;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0 && ct_brace_node(c->model, touch) >= 0) touch->slot = last++;
    }
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

static ct_status newton_step(const ct_model* model, ct_work* work, double target, course* course,
                             ct_step_report* report) {
    const point* here = &course->here;
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

// ---- search --------------------------------------------------------------------------------

static void set_forces(ct_contact_work* contact, double t) {
    for (size_t i = 0; i < contact->count; i++)
        for (int a = 0; a < 3; a++)
            contact->touch[i].is.force[a] = contact->touch[i].base[a] + t * contact->touch[i].delta[a];
}

// Moves along work->d and the touches' deltas; returns how far. 0: nothing better was found.
static double search(const ct_model* model, ct_work* work, bool newton, point* here, ct_step_report* report) {
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
            return t;
        }
        report->line_searches++;
    }
    set_forces(contact, 0);
    *here = evaluate(model, work, &work->at, work->r, report);
    return 0;
}

// ---- the solve for known pairs -------------------------------------------------------------

static double target_of(const ct_model* model, const ct_work* work, const point* here) {
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
static void choose(course* c, bool modelled, double before, double target) {
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
static ct_status look(const ct_model* model, ct_work* work, double end, course* c, bool* added, bool* stuck,
                      ct_step_report* report) {
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
static accuracy accuracy_of(const course* c, double target) {
    const double before = c->here.total, size = hypot(c->here.size, before),
                 left = c->accuracy / usual * fmax(0.3 * target, 1e-2 * before);
    return (accuracy){.stored = fmin(c->accuracy, 0.1 * target / before), .products = left / size};
}

// Where iterations do not pay, makes the factor anew at the iterate, and goes on with model steps: bodies
// that are crushed are much stiffer than the factor's.
static bool renew(const ct_model* model, ct_work* work, course* c, ct_step_report* report) {
    if (c->trouble < TROUBLE_LIMIT || c->braced || model->tree.nlink) return false;
    // a matrix that is not positive definite leaves the old factor in force
    ct_precondition_renew(model, &work->preconditioner, &work->at, work->step.rate.c, &report->refactors);
    ct_families_begin(&model->families, &work->families, &work->step);
    c->trouble = work->preconditioner.debt = 0;
    c->renewals++;
    c->newton = false;
    c->slow = 0;
    return true;
}

static ct_status iterate(const ct_model* model, ct_work* work, double target, course* c,
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
    ct_status status = modelled ? model_step(model, work, accuracy_of(c, target), c->keep, c->taken, report)
                                : newton_step(model, work, target, c, report);
    if (status != CT_OK) return status;
    report->iterations++;
    c->iteration++;
    c->taken = search(model, work, !modelled, &c->here, report);
    if (c->taken == 0) secant->moving = false;
    c->told = modelled && c->taken == 1;
    if (!modelled) ct_phi_foresee(model, work, &work->at, c->taken, work->d);
    choose(c, modelled, before, target);
    if (c->taken < 0.3 || c->here.total > 0.5 * before) c->trouble++;
    return CT_OK;
}

static bool may_halve(const ct_model* model, const ct_contact_work* contact) {
    return contact->h > 1.5 * ldexp(model->settings.time_step, -model->settings.max_substep_depth);
}

// Solves that get through gain a digit in five iterations, after the first few. Two halves take less than one
// that does not.
static bool is_hopeless(const course* c, double target) {
    return c->renewals >= 2 && c->here.total > target * pow(10, 8 - 0.2 * (c->iteration - c->since));
}

// Until the residual is small and no pair meets on the way.
static ct_status solve_touches(const ct_model* model, ct_work* work, double end, ct_step_report* report) {
    double phi = ct_solve_begin(model, work, report).phi;
    course c = {.here = complete(model, work, &work->at, phi, work->r),
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
