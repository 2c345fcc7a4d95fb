// The adjoint of contacts; see contact_adjoint.h.
#include "step/contact_adjoint.h"

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

ct_status ct_contact_adjoint_begin(const ct_model* model, ct_work* work, const ct_config* config,
                                   const ct_touch_record* touch, size_t count,
                                   const ct_contact_start* start) {
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

// ---- the system ----------------------------------------------------------------------------

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

static void product(const double* in, double* out, void* user) {
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
static void precondition(const double* in, double* out, void* user) {
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

ct_status ct_contact_adjoint_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                   const double* right, ct_anchors after, const double* after_bar,
                                   ct_adjoint_past* past, double* lam_z, ct_backward_report* report) {
    const ct_contact_work* contact = work->contact;
    ct_contact_system* system = work->contact_system;
    size_t n = (size_t)model->nunknown, m = contact->count, rows = n + 3 * m;
    size_t total = 3 * rows + n + 18 * m + 3 * m + m;
    if (!ct_reserve((void**)&system->vector, &system->capacity, total, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    ct_status status = ct_krylov_reserve(system->krylov, (int)rows, GMRES_RESTART);
    if (status != CT_OK) return status;
    double *b = system->vector, *x = b + rows, *left = x + rows, *D = left + rows + n, *E = D + 9 * m;
    context c = {.model = model,
                 .work = work,
                 .config = config,
                 .report = report,
                 .rows = E + 9 * m,
                 .right = left + rows,
                 .slots = (int)m,
                 .dense = work->preconditioner.brace_in_force ? ct_brace_order(model, work->contact) : (int)m,
                 .D = D,
                 .E = E,
                 .nodes = work->contact_system->nodes,
                 .unknowns = work->contact_system->unknowns};
    int* which = (int*)(c.rows + 3 * m);
    for (size_t i = 0; i < m; i++) {
        const ct_touch* touch = &contact->touch[i];
        which[touch->slot] = (int)i;
        if (touch->slot >= c.dense) {
            ct_brace_rows(touch, E + 9 * touch->slot, D + 9 * touch->slot);
            continue;
        }
        memcpy(D + 9 * touch->slot, touch->D, sizeof touch->D);
        memcpy(E + 9 * touch->slot, touch->dF, sizeof touch->dF);
    }
    c.which = which;
    memset(b, 0, rows * sizeof(double));
    memcpy(b, right, n * sizeof(double));
    for (size_t i = 0; i < m; i++) {
        int at = ct_anchor_find(after, &contact->touch[i].is.pair);
        if (at >= 0)
            memcpy(b + n + 3 * (size_t)contact->touch[i].slot, after_bar + 3 * at, 3 * sizeof(double));
    }
    double size = ct_vecn_norm(b, rows);
    const uint64_t key = key_of(contact);
    if (!ct_adjoint_past_start(past, rows, key, b, x)) return CT_OUT_OF_MEMORY;
    if (!past->friction) status = ct_friction_work_create(&past->friction);
    if (status != CT_OK) return status;
    c.friction = past->friction;
    c.keep = past->friction_key == key;
    if (size > 0) {
        ct_krylov_def def = {.n = (int)rows,
                             .apply = product,
                             .precondition = precondition,
                             .user = &c,
                             .tolerance = model->settings.tolerance * size,
                             .max_iterations = c.keep ? KEPT_LIMIT : SOLVE_LIMIT};
        ct_krylov_report inner;
        ct_gmres(&def, system->krylov, b, x, &inner);
        if (c.keep && c.status == CT_OK && inner.end == CT_KRYLOV_LIMIT) {
            c.keep = c.ready = false;
            def.max_iterations = SOLVE_LIMIT;
            ct_gmres(&def, system->krylov, b, x, &inner);
        }
        if (c.ready) past->friction_key = c.kept && inner.iterations > KEPT_GOOD ? 0 : key;
        if (c.status != CT_OK) return c.status;
        report->max_residual = fmax(report->max_residual, inner.residual / size);
        if (!(inner.residual <= fmax(def.tolerance, 1e-9 * size))) return CT_NOT_CONVERGED;
        // what x solves exactly
        ct_gmres_residual(system->krylov, left);
        for (size_t i = 0; i < rows; i++) b[i] -= left[i];
        ct_adjoint_past_keep(past, b, x);
    }
    memcpy(lam_z, x, n * sizeof(double));
    for (size_t i = 0; i < m; i++)
        memcpy(work->contact->touch[i].delta, x + n + 3 * (size_t)contact->touch[i].slot, 3 * sizeof(double));
    return CT_OK;
}

// ---- what follows --------------------------------------------------------------------------

// Of one touch: what it begins with.
static void reverse_touch(const ct_model* model, ct_work* work, const ct_touch* touch, const double* lam,
                          const double* x, const ct_contact_bar* bar) {
    ct_contact_work* contact = work->contact;
    const ct_pair* pair = &touch->is.pair;
    int count = touch->at.count;
    ct_touch_bar own = ct_touch_vjp(touch, touch->delta);
    double n_bar[3] = {0}, w_bar[4] = {0}, by_weight[4], by_node[4], friction_bar = own.friction;
    bool held = !touch->round;
    ct_contact_compliance_slope(&model->collision, contact, touch, by_weight, by_node);
    int past = touch->is.cut ? -1 : ct_anchor_find(contact->past, pair);
    if (past >= 0)
        ct_anchor_project_vjp(pair->friction, touch->held.n, contact->past.item[past].force, own.anchor,
                              n_bar, bar->anchor + 3 * past, &friction_bar);
    double* friction = bar->sums->of[CT_QUANTITY_FRICTION];
    if (friction)
        friction[model->collision.friction[ct_collision_rule(&model->collision, pair->a, pair->b)]] +=
            friction_bar;
    const ct_collider* collider = model->collision.collider;
    double* growth = &bar->growth[pair->a * model->collision.ncollider + pair->b];
    double whole = contact->growth_slope * (collider[pair->a].thickness + collider[pair->b].thickness);
    *growth -= whole * own.gap;
    // gap = n . sum w_i x_i - ..., u = sum w_i (x_i - x_i^n) - spin n
    bool plane = pair->type == CT_CONTACT_TYPE_PLANE;
    for (int k = 0; k < count; k++) {
        const double *start = contact->x_start + 3 * pair->node[k], *end = x + 3 * pair->node[k],
                     *node = lam + 3 * pair->node[k];
        w_bar[k] += own.eps * by_weight[k];
        ct_softness_node_vjp(&model->collision.softness, pair->node[k], contact->rate, own.eps * by_node[k],
                             bar->sums);
        for (int a = 0; a < 3; a++) {
            if (held)
                w_bar[k] += own.gap * touch->at.n[a] * end[a] + own.u[a] * (end[a] - start[a]) +
                            node[a] * touch->is.force[a];
            own.n[a] += own.gap * touch->at.w[k] * end[a];
            bar->x[3 * pair->node[k] + a] -= touch->at.w[k] * own.u[a];
        }
    }
    if (plane) return;
    for (int a = 0; touch->motion && a < 3; a++)
        for (int b = 0; b < 3; b++)
            own.n[b] -= own.u[a] * touch->motion->radius * ((a == b) - touch->motion->turn[3 * a + b]);
    for (int a = 0; held && a < 3; a++) n_bar[a] += own.n[a];
    *growth += whole * ct_held_vjp(pair, contact->x_start, contact->x_hat, touch->is.kind, touch->is.time,
                                   n_bar, w_bar, bar->x, contact->shift);
}

// x_hat = x_n + h v_n; driven nodes: where they go.
static void reverse_ahead(const ct_model* model, const ct_contact_work* contact, const ct_contact_bar* bar) {
    for (int v = 0; v < model->nvert; v++) {
        bool driven = model->collision.node_rigid[v] == CT_RIGID_DRIVEN;
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            if (driven) bar->end[i] += contact->shift[i];
            else bar->x[i] += contact->shift[i], bar->v[i] += contact->h * contact->shift[i];
        }
    }
}

void ct_contact_adjoint_start(const ct_model* model, ct_work* work, const double* lam, const double* x,
                              const ct_contact_bar* bar) {
    ct_contact_work* contact = work->contact;
    memset(contact->shift, 0, 3 * (size_t)model->nvert * sizeof(double));
    memset(bar->anchor, 0, 3 * (size_t)contact->past.count * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) reverse_touch(model, work, &contact->touch[i], lam, x, bar);
    reverse_ahead(model, contact, bar);
}

void ct_contact_adjoint_nodes(const ct_work* work, const double* lam, double* out) {
    const ct_contact_work* contact = work->contact;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        ct_touch_transposed(touch, lam, touch->delta, out, NULL);
    }
}
