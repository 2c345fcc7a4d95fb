// The adjoint of contacts; see contact_adjoint.h.
#include "step/contact_adjoint.h"

#include <string.h>

#include "contact/contact.h"
#include "contact/growth_share.h"

ct_status ct_contact_adjoint_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                   const double* right, ct_anchors after, const double* after_bar,
                                   ct_adjoint_past* past, double* lam_z, ct_backward_report* report) {
    ct_contact_work* contact = work->contact;
    ct_contact_linear system;
    ct_status status = ct_contact_linear_layout(model, work, &system);
    if (status != CT_OK) return status;
    memcpy(system.b, right, system.n * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        int at = ct_anchor_find(after, &touch->is.pair);
        if (at >= 0)
            memcpy(system.b + system.n + 3 * (size_t)touch->slot, after_bar + 3 * at, 3 * sizeof(double));
    }
    status = ct_contact_linear_solve(model, work, config, &system, true, past, report);
    if (status != CT_OK) return status;
    memcpy(lam_z, system.y, system.n * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        memcpy(touch->delta, system.y + system.n + 3 * (size_t)touch->slot, 3 * sizeof(double));
    }
    return CT_OK;
}

// ---- what follows --------------------------------------------------------------------------

static void add_growth(const ct_contact_work* contact, const ct_pair* pair, double share_bar, double* bar) {
    double slope[2];
    ct_growth_between(contact->growth, pair->a, pair->b, slope);
    bar[pair->a] += slope[0] * share_bar;
    bar[pair->b] += slope[1] * share_bar;
}

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
    double whole = contact->growth_slope * (collider[pair->a].thickness + collider[pair->b].thickness);
    add_growth(contact, pair, -whole * own.gap, bar->growth);
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
    add_growth(contact, pair,
               whole * ct_held_vjp(pair, contact->x_start, contact->x_hat, touch->is.kind, touch->is.time,
                                   n_bar, w_bar, bar->x, contact->shift),
               bar->growth);
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
