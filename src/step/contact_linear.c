// Linear systems of steps with contacts; see contact_linear.h.
#include "step/contact_linear.h"

#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "math/vecn.h"
#include "step/brace.h"
#include "step/contact_system.h"
#include "step/coords.h"
#include "step/phi.h"

enum { GMRES_RESTART = 80, SOLVE_LIMIT = 2000 };
// iterations with the factor of another step: as many as speak for it, the most
enum { KEPT_GOOD = 5, KEPT_LIMIT = 12 };

ct_status ct_contact_linear_begin(const ct_model* model, ct_work* work, const ct_config* config,
                                  const ct_touch_record* touch, size_t count, const ct_contact_start* start) {
    ct_contact_work* contact = work->contact;
    ct_contact_begin(&model->collision, contact, start);
    ct_contact_system_begin(work->contact_system);
    ct_status status = ct_contact_restore(&model->collision, contact, touch, count);
    if (status != CT_OK) return status;
    ct_contact_place(contact, config->x);
    ct_contact_linearise(contact);
    ct_contact_forces(contact);
    for (int i = 0; i < 3 * model->nvert; i++) work->rho[i] -= contact->nodal[i];
    if (!ct_brace_serves(model, contact)) return CT_OK;
    int unused = 0;
    status = ct_brace_factor(model, work, config, work->contact_system->brace, &unused);
    return status == CT_SINGULAR ? CT_OK : status;  // which leaves the old factor in force
}

// ---- products and preconditioners -----------------------------------------------------------

typedef struct context {
    const ct_model* model;
    ct_work* work;
    const ct_config* config;
    ct_backward_report* report;
    double *nodes, *rows, *unknowns, *right;  // scratch: 3 nvert, 3 slots, nunknown
    int slots, dense;     // touches; those of them that are seen by their compliance, the others are braced
    const double *D, *E;  // 9 a slot; of braced touches K and A of brace.h
    const int* which;     // touch of a slot
    bool ready;           // for preconditioning, or not to be
    ct_friction_work* friction;
    bool keep, kept;  // try the factor that is there; it serves
    ct_status status;
} context;

static void product_transposed(const double* in, double* out, void* user) {
    context* c = user;
    size_t n = (size_t)c->model->nunknown;
    ct_phi_hessian(c->model, c->work, c->config, in, out);
    ct_coords_push(c->model, c->work, c->config, in, c->work->contact->shift);
    memset(c->nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    ct_contact_product_transposed(c->work->contact, c->work->contact->shift, in + n, c->nodes, out + n);
    ct_coords_pull(c->model, c->work, c->config, c->nodes, c->unknowns);
    for (size_t i = 0; i < n; i++) out[i] += c->unknowns[i];
}

static void solve_factor(context* c, const double* b, double* y) {
    ct_precondition_apply(c->model, &c->work->preconditioner, c->config, b, y);
    c->report->solves++;
}

// The warp of P, and a factor of D W + E. Starts that are good enough never need them.
static ct_status prepare(context* c) {
    const bool braced = c->dense < c->slots;
    const ct_friction_matrix* W;
    ct_friction_inverse inverse;
    bool inverted = false;
    c->kept = false;
    if (!braced) ct_precondition_warp(c->model, &c->work->preconditioner, c->config, c->work->rho);
    if (!c->dense) return CT_OK;
    ct_status status = ct_contact_system_invert(c->model, c->work, c->config, c->dense, c->which, &inverse);
    if (status == CT_OK) status = ct_friction_invert(c->friction, &inverse, c->D, c->E, &inverted);
    if (status != CT_OK || inverted) return status;
    status = ct_contact_system_linear(c->model, c->work, c->config, c->dense, c->which, &W);
    if (status == CT_OK && c->keep) status = ct_friction_follow(c->friction, W, c->D, c->E, &c->kept);
    if (status != CT_OK || c->kept) return status;
    return ct_friction_factor(c->friction, W, c->D, c->E);
}

// out -= J^T M^T in over the slots [first, end), in unknowns; M: 9 a slot.
static void pull_rows(context* c, const double* M, int first, int end, const double* in, double* out) {
    memset(c->nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    for (int i = first; i < end; i++) {
        const ct_touch* touch = &c->work->contact->touch[c->which[i]];
        const double *m = M + 9 * (size_t)i, *row = in + 3 * (size_t)i;
        for (int a = 0; a < 3; a++) {
            double force = m[a] * row[0] + m[3 + a] * row[1] + m[6 + a] * row[2];
            for (int k = 0; k < touch->at.count; k++)
                c->nodes[3 * touch->is.pair.node[k] + a] -= touch->at.w[k] * force;
        }
    }
    ct_coords_pull(c->model, c->work, c->config, c->nodes, c->unknowns);
    for (int i = 0; i < c->model->nunknown; i++) out[i] += c->unknowns[i];
}

// rows = in + J y over the slots [first, end); shift holds y at the nodes.
static void push_rows(context* c, int first, int end, const double* in) {
    for (int i = first; i < end; i++) {
        double motion[3];
        ct_touch_motion(&c->work->contact->touch[c->which[i]], c->work->contact->shift, motion);
        for (int a = 0; a < 3; a++) c->rows[3 * i + a] = in[3 * i + a] + motion[a];
    }
}

// y = P^-1 a, (D W + E)^T mu = b + J y, then y -= P^-1 J^T D^T mu. Braced touches, with K = E^-1 D in P and A
// = E^-1: y = P^-1 (a - J^T K^T b) to begin with, mu = A^T (b + J y) at the end.
static void precondition_transposed(const double* in, double* out, void* user) {
    context* c = user;
    ct_contact_system* system = c->work->contact_system;
    const size_t n = (size_t)c->model->nunknown;
    const bool braced = c->dense < c->slots;
    if (!c->ready) c->status = prepare(c), c->ready = true;
    if (c->status != CT_OK) {
        memset(out, 0, (n + 3 * (size_t)c->slots) * sizeof(double));
        return;
    }
    memcpy(system->answer, in, n * sizeof(double));
    if (braced) pull_rows(c, c->D, c->dense, c->slots, in + n, system->answer);
    solve_factor(c, system->answer, out);
    if (c->dense) {
        ct_coords_push(c->model, c->work, c->config, out, c->work->contact->shift);
        push_rows(c, 0, c->dense, in + n);
        ct_friction_apply_transposed(c->friction, c->rows, out + n);
        double* right = c->right;
        memset(right, 0, n * sizeof(double));
        pull_rows(c, c->D, 0, c->dense, out + n, right);
        solve_factor(c, right, system->answer);
        for (size_t i = 0; i < n; i++) out[i] += system->answer[i];
    }
    if (!braced) return;
    ct_coords_push(c->model, c->work, c->config, out, c->work->contact->shift);
    push_rows(c, c->dense, c->slots, in + n);
    for (int i = c->dense; i < c->slots; i++)
        for (int a = 0; a < 3; a++) {
            const double *A = c->E + 9 * (size_t)i, *row = c->rows + 3 * i;
            out[n + 3 * (size_t)i + (size_t)a] = A[a] * row[0] + A[3 + a] * row[1] + A[6 + a] * row[2];
        }
}

// ---- along a direction ---------------------------------------------------------------------

static void product(const double* in, double* out, void* user) {
    context* c = user;
    const size_t n = (size_t)c->model->nunknown;
    ct_phi_hessian(c->model, c->work, c->config, in, out);
    ct_coords_push(c->model, c->work, c->config, in, c->work->contact->shift);
    memset(c->nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    ct_contact_product(c->work->contact, c->work->contact->shift, in + n, c->nodes, out + n);
    ct_coords_pull(c->model, c->work, c->config, c->nodes, c->unknowns);
    for (size_t i = 0; i < n; i++) out[i] += c->unknowns[i];
}

static void times(const double* M, const double* v, double out[3]) {
    for (int a = 0; a < 3; a++)
        out[a] = M ? M[3 * a] * v[0] + M[3 * a + 1] * v[1] + M[3 * a + 2] * v[2] : v[a];
}

// out += J^T M in over the slots [first, end), in unknowns; M: 9 a slot, NULL: 1.
static void push_forces(context* c, const double* M, int first, int end, const double* in, double* out) {
    memset(c->nodes, 0, 3 * (size_t)c->model->nvert * sizeof(double));
    for (int i = first; i < end; i++) {
        const ct_touch* touch = &c->work->contact->touch[c->which[i]];
        double force[3];
        times(M ? M + 9 * (size_t)i : NULL, in + 3 * (size_t)i, force);
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++) c->nodes[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * force[a];
    }
    ct_coords_pull(c->model, c->work, c->config, c->nodes, c->unknowns);
    for (int i = 0; i < c->model->nunknown; i++) out[i] += c->unknowns[i];
}

// D J y of a slot; of a braced one K J y. contact->shift holds y at the nodes.
static void move_row(const context* c, int slot, double out[3]) {
    double motion[3];
    ct_touch_motion(&c->work->contact->touch[c->which[slot]], c->work->contact->shift, motion);
    times(c->D + 9 * (size_t)slot, motion, out);
}

// y = P^-1 a, (D W + E) F = b - D J y, then y += P^-1 J^T F. Braced touches: y = P^-1 (a + J^T A b) to begin
// with, F = A b - K J y at the end.
static void precondition(const double* in, double* out, void* user) {
    context* c = user;
    ct_contact_system* system = c->work->contact_system;
    const size_t n = (size_t)c->model->nunknown;
    const bool braced = c->dense < c->slots;
    double moved[3], force[3];
    if (!c->ready) c->status = prepare(c), c->ready = true;
    if (c->status != CT_OK) {
        memset(out, 0, (n + 3 * (size_t)c->slots) * sizeof(double));
        return;
    }
    memcpy(system->answer, in, n * sizeof(double));
    if (braced) push_forces(c, c->E, c->dense, c->slots, in + n, system->answer);
    solve_factor(c, system->answer, out);
    if (c->dense) {
        ct_coords_push(c->model, c->work, c->config, out, c->work->contact->shift);
        for (int i = 0; i < c->dense; i++) {
            move_row(c, i, moved);
            for (int a = 0; a < 3; a++) c->rows[3 * i + a] = in[n + 3 * (size_t)i + (size_t)a] - moved[a];
        }
        ct_friction_apply(c->friction, c->rows, out + n);
        memset(c->right, 0, n * sizeof(double));
        push_forces(c, NULL, 0, c->dense, out + n, c->right);
        solve_factor(c, c->right, system->answer);
        for (size_t i = 0; i < n; i++) out[i] += system->answer[i];
    }
    if (!braced) return;
    ct_coords_push(c->model, c->work, c->config, out, c->work->contact->shift);
    for (int i = c->dense; i < c->slots; i++) {
        move_row(c, i, moved);
        times(c->E + 9 * (size_t)i, in + n + 3 * (size_t)i, force);
        for (int a = 0; a < 3; a++) out[n + 3 * (size_t)i + (size_t)a] = force[a] - moved[a];
    }
}

// ---- the system -----------------------------------------------------------------------------

// A number for the pairs that touch, in their order.
static uint64_t key_of(const ct_contact_work* contact) {
    uint64_t key = 14695981039346656037u;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_pair* pair = &contact->touch[i].is.pair;
        const int parts[] = {(int)pair->type, pair->plane,   pair->node[0],
                             pair->node[1],   pair->node[2], pair->node[3]};
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
            key = (key ^ (uint32_t)parts[k]) * 1099511628211u;
    }
    return key;
}

ct_status ct_contact_linear_layout(const ct_model* model, ct_work* work, ct_contact_linear* to) {
    ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    const size_t n = (size_t)model->nunknown, m = contact->count, rows = n + 3 * m;
    const size_t total = 3 * rows + n + 18 * m + 3 * m + m;
    if (!ct_reserve((void**)&system->vector, &system->capacity, total, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    double* at = system->vector;
    *to = (ct_contact_linear){.n = n, .slots = (int)m, .b = at, .y = at + rows, .left = at + 2 * rows};
    to->dense = work->preconditioner.brace_in_force ? ct_brace_order(model, contact) : (int)m;
    to->right = to->left + rows;
    to->D = to->right + n;
    to->E = to->D + 9 * m;
    to->rows = to->E + 9 * m;
    to->which = (int*)(to->rows + 3 * m);
    for (size_t i = 0; i < m; i++) {
        const ct_touch* touch = &contact->touch[i];
        double *D = to->D + 9 * touch->slot, *E = to->E + 9 * touch->slot;
        to->which[touch->slot] = (int)i;
        if (touch->slot >= to->dense) {
            ct_brace_rows(touch, E, D);
            continue;
        }
        memcpy(D, touch->D, sizeof touch->D);
        memcpy(E, touch->dF, sizeof touch->dF);
    }
    memset(to->b, 0, rows * sizeof(double));
    return CT_OK;
}

ct_status ct_contact_linear_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                  const ct_contact_linear* of, bool transposed, ct_adjoint_past* past,
                                  ct_backward_report* report) {
    ct_contact_system* system = work->contact_system;
    const size_t rows = of->n + 3 * (size_t)of->slots;
    const double size = ct_vecn_norm(of->b, rows);
    const uint64_t key = key_of(work->contact);
    ct_status status = ct_krylov_reserve(system->krylov, (int)rows, GMRES_RESTART);
    if (status != CT_OK) return status;
    if (!ct_adjoint_past_start(past, rows, key, of->b, of->y)) return CT_OUT_OF_MEMORY;
    if (!past->friction) status = ct_friction_work_create(&past->friction);
    if (status != CT_OK || !(size > 0)) return status;
    context c = {.model = model,
                 .work = work,
                 .config = config,
                 .report = report,
                 .rows = of->rows,
                 .right = of->right,
                 .slots = of->slots,
                 .dense = of->dense,
                 .D = of->D,
                 .E = of->E,
                 .which = of->which,
                 .friction = past->friction,
                 .keep = past->friction_key == key,
                 .nodes = system->nodes,
                 .unknowns = system->unknowns};
    ct_krylov_def def = {.n = (int)rows,
                         .apply = transposed ? product_transposed : product,
                         .precondition = transposed ? precondition_transposed : precondition,
                         .user = &c,
                         .tolerance = model->settings.tolerance * size,
                         .max_iterations = c.keep ? KEPT_LIMIT : SOLVE_LIMIT};
    ct_krylov_report inner;
    ct_gmres(&def, system->krylov, of->b, of->y, &inner);
    if (c.keep && c.status == CT_OK && inner.end == CT_KRYLOV_LIMIT) {
        c.keep = c.ready = false;
        def.max_iterations = SOLVE_LIMIT;
        ct_gmres(&def, system->krylov, of->b, of->y, &inner);
    }
    if (c.ready) past->friction_key = c.kept && inner.iterations > KEPT_GOOD ? 0 : key;
    if (c.status != CT_OK) return c.status;
    report->max_residual = fmax(report->max_residual, inner.residual / size);
    if (!(inner.residual <= fmax(def.tolerance, 1e-9 * size))) return CT_NOT_CONVERGED;
    // what y solves exactly
    ct_gmres_residual(system->krylov, of->left);
    for (size_t i = 0; i < rows; i++) of->b[i] -= of->left[i];
    ct_adjoint_past_keep(past, of->b, of->y);
    return CT_OK;
}
