// Contacts along a direction; see contact_tangent.h.
#include "step/contact_tangent.h"

#include <string.h>

#include "contact/contact.h"
#include "contact/growth_share.h"
#include "math/point3.h"
#include "step/contact_system.h"

// x_hat = x_n + h v_n; driven nodes: where they go.
static void change_ahead(const ct_model* model, const ct_contact_work* contact, const ct_contact_dot* dot) {
    for (int v = 0; v < model->nvert; v++) {
        const bool driven = model->collision.node_rigid[v] == CT_RIGID_DRIVEN;
        for (int i = 3 * v; i < 3 * v + 3; i++)
            contact->shift[i] = driven ? dot->end[i] : dot->x[i] + contact->h * dot->v[i];
    }
}

// Of eps, by the weights and by the nodes' stiffness.
static double change_compliance(const ct_model* model, const ct_contact_work* contact, const ct_touch* touch,
                                const double dw[4], const double* stiffness) {
    double by_weight[4], by_node[4], sum = 0;
    ct_contact_compliance_slope(&model->collision, contact, touch, by_weight, by_node);
    for (int k = 0; k < touch->at.count; k++) {
        const int node = touch->is.pair.node[k];
        sum += by_weight[k] * dw[k];
        if (stiffness)
            sum += by_node[k] * ct_softness_node_jvp(&model->collision.softness, node, contact->rate,
                                                     stiffness + 2 * (size_t)node);
    }
    return sum;
}

// Gap, slip and normal of a held frame (dn, dw), and the forces w_i F.
static void change_frame(const ct_contact_work* contact, const ct_touch* touch, const double* x,
                         const double dn[3], const double dw[4], ct_touch_dot* d, double* out) {
    copy3(d->n, dn);
    for (int k = 0; k < touch->at.count; k++) {
        const size_t at = 3 * (size_t)touch->is.pair.node[k];
        d->gap += dw[k] * dot3(touch->at.n, x + at) + touch->at.w[k] * dot3(dn, x + at);
        for (int a = 0; a < 3; a++) {
            d->u[a] += dw[k] * (x[at + (size_t)a] - contact->x_start[at + (size_t)a]);
            out[at + (size_t)a] += dw[k] * touch->is.force[a];
        }
    }
    for (int a = 0; touch->motion && a < 3; a++)
        d->u[a] -= touch->motion->radius * (dn[a] - dot3(touch->motion->turn + 3 * a, dn));
}

static void change_touch(const ct_model* model, ct_work* work, const ct_touch* touch, const double* x,
                         const ct_contact_dot* dot, double row[3], double* out) {
    const ct_collision* collision = &model->collision;
    const ct_contact_work* contact = work->contact;
    const ct_collider* collider = collision->collider;
    const ct_pair* pair = &touch->is.pair;
    const bool plane = pair->type == CT_CONTACT_TYPE_PLANE;
    const double whole = contact->growth_slope * (collider[pair->a].thickness + collider[pair->b].thickness);
    double slope[2];
    ct_growth_between(contact->growth, pair->a, pair->b, slope);
    const double growth = whole * (slope[0] * dot->growth[pair->a] + slope[1] * dot->growth[pair->b]);
    double dn[3] = {0}, dw[4] = {0};
    ct_touch_dot d = {.gap = -growth};
    if (!plane)
        ct_held_jvp(pair, contact->x_start, contact->x_hat, touch->is.kind, touch->is.time, dot->x,
                    contact->shift, growth, dn, dw);
    d.eps = change_compliance(model, contact, touch, dw, dot->stiffness);
    if (dot->friction)
        d.friction = dot->friction[collision->friction[ct_collision_rule(collision, pair->a, pair->b)]];
    const int past = touch->is.cut ? -1 : ct_anchor_find(contact->past, pair);
    if (past >= 0)
        ct_anchor_project_jvp(pair->friction, touch->held.n, contact->past.item[past].force, dn,
                              dot->anchor + 3 * past, d.friction, d.anchor);
    if (!plane && !touch->round) change_frame(contact, touch, x, dn, dw, &d, out);
    for (int k = 0; k < touch->at.count; k++)
        for (int a = 0; a < 3; a++) d.u[a] -= touch->at.w[k] * dot->x[3 * pair->node[k] + a];
    ct_touch_jvp(touch, &d, row);
}

void ct_contact_tangent_right(const ct_model* model, ct_work* work, const double* x,
                              const ct_contact_dot* dot, const ct_contact_linear* system, double* out) {
    const ct_contact_work* contact = work->contact;
    static const double still[3];
    double* pushed = work->contact_system->nodes;  // -sum dw_i F
    memset(pushed, 0, 3 * (size_t)model->nvert * sizeof(double));
    change_ahead(model, contact, dot);
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        double *b = system->b + system->n + 3 * (size_t)touch->slot, row[3], given[3];
        change_touch(model, work, touch, x, dot, row, out);
        // what is given of the end moves gap and slip, and round frames with their forces
        ct_touch_product(touch, dot->end, still, pushed, given);
        for (int a = 0; a < 3; a++) b[a] = row[a] - given[a];
    }
    for (int i = 0; i < 3 * model->nvert; i++) out[i] -= pushed[i];
}

void ct_contact_tangent_anchors(const ct_work* work, const ct_contact_linear* system, ct_anchors after,
                                double* anchor_dot) {
    const ct_contact_work* contact = work->contact;
    memset(anchor_dot, 0, 3 * (size_t)after.count * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        const double* force = system->y + system->n + 3 * (size_t)touch->slot;
        const int at = ct_anchor_find(after, &touch->is.pair);
        for (int a = 0; at >= 0 && a < 3; a++) anchor_dot[3 * at + a] += force[a];
    }
}
