// The law of one contact and its linearisation; see touch.h.
#include "contact/touch.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"

void ct_touch_measure(ct_touch* touch, double compliance) {
    if (touch->measured || !(compliance > 0)) return;
    touch->measured = true;
    touch->scale = 1 / compliance;
}

// ---- place ---------------------------------------------------------------------------------

void ct_touch_motion(const ct_touch* touch, const double* dx, double out[3]) {
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < touch->at.count; k++)
        for (int a = 0; a < 3; a++) out[a] += touch->at.w[k] * dx[3 * touch->is.pair.node[k] + a];
}

static void place_round(ct_touch* touch, const double* x_start, const double* x) {
    ct_contact_geometry* geometry = &touch->round->geometry;
    ct_contact_geometry_at(&touch->is.pair, touch->motion, x_start, x, true, geometry);
    copy3(touch->at.n, geometry->n);
    memcpy(touch->at.w, geometry->w, sizeof touch->at.w);
    touch->gap = geometry->gap;
    copy3(touch->u, geometry->u);
}

void ct_touch_place(ct_touch* touch, const double* x_start, const double* x) {
    if (touch->round) {
        place_round(touch, x_start, x);
        return;
    }
    const ct_obstacle_motion* motion = touch->motion;
    const double* n = touch->at.n;
    double place[3], start[3];
    ct_touch_motion(touch, x, place);
    ct_touch_motion(touch, x_start, start);
    touch->gap = dot3(n, place) - touch->is.pair.thickness;
    if (touch->is.pair.type == CT_CONTACT_TYPE_PLANE) {
        double arm[3];
        touch->gap -= dot3(n, motion->point);
        subtract3(place, motion->origin_end, arm);
        for (int a = 0; a < 3; a++)
            touch->u[a] = motion->origin_start[a] + dot3(motion->turn + 3 * a, arm) - start[a];
        return;
    }
    subtract3(place, start, touch->u);
    for (int a = 0; motion && a < 3; a++)
        touch->u[a] -= motion->radius * (n[a] - dot3(motion->turn + 3 * a, n));
}

// ---- the law -------------------------------------------------------------------------------

typedef struct law {
    double normal;      // n.a
    double tangent[3];  // P a
    double size;        // |P a|
    double s[3];
} law;

void ct_touch_offset(const ct_touch* touch, double out[3]) {
    const double *n = touch->at.n, *m = touch->is.anchor;
    double q[3];
    for (int i = 0; i < 3; i++) q[i] = touch->u[i] - touch->is.eps * m[i];
    double along = touch->gap - dot3(n, q);
    for (int i = 0; i < 3; i++) out[i] = n[i] * along + q[i];
}

static law evaluate(const ct_touch* touch) {
    const double *n = touch->at.n, *F = touch->is.force;
    law out;
    double a[3];
    ct_touch_offset(touch, out.s);
    for (int i = 0; i < 3; i++) {
        out.s[i] += touch->is.eps * F[i];
        a[i] = F[i] - touch->scale * out.s[i];
    }
    out.normal = dot3(n, a);
    for (int i = 0; i < 3; i++) out.tangent[i] = a[i] - out.normal * n[i];
    out.size = sqrt(dot3(out.tangent, out.tangent));
    return out;
}

static ct_contact_set set_of(const ct_touch* touch, const law* law) {
    return law->normal <= 0                                     ? CT_CONTACT_SET_OPEN
           : law->size <= touch->is.pair.friction * law->normal ? CT_CONTACT_SET_STICK
                                                                : CT_CONTACT_SET_SLIP;
}

ct_contact_set ct_touch_set(const ct_touch* touch) {
    law at = evaluate(touch);
    return set_of(touch, &at);
}

static void residual_of(const ct_touch* touch, const law* at, ct_contact_set set, double R[3]) {
    const double *n = touch->at.n, *F = touch->is.force;
    double FN = dot3(n, F), mu = touch->is.pair.friction, along = dot3(n, at->s);
    for (int i = 0; i < 3; i++) {
        if (set == CT_CONTACT_SET_OPEN) R[i] = F[i];
        else if (set == CT_CONTACT_SET_STICK) R[i] = touch->scale * at->s[i];
        else
            R[i] = touch->scale * n[i] * along + F[i] - FN * n[i] -
                   (at->size > 0 ? mu * FN * at->tangent[i] / at->size : 0);
    }
}

void ct_touch_residual(const ct_touch* touch, double R[3]) {
    law at = evaluate(touch);
    residual_of(touch, &at, touch->is.set, R);
}

void ct_touch_natural(const ct_touch* touch, double R[3]) {
    law at = evaluate(touch);
    residual_of(touch, &at, set_of(touch, &at), R);
}

double ct_touch_margin(const ct_touch* touch) {
    law at = evaluate(touch);
    double cone = at.normal > 0 ? fabs(at.size - touch->is.pair.friction * at.normal) : INFINITY;
    return fmin(fabs(at.normal), cone);
}

// ---- linearisation -------------------------------------------------------------------------

// A change of everything that R depends on.
typedef struct change {
    double n[3], u[3], gap, F[3], eps, anchor[3], friction;
} change;

// out = P dv + dP v, with dP v = -(dn (n.v) + n (dn.v)).
static void across(const double n[3], const double dn[3], const double v[3], const double dv[3],
                   double out[3]) {
    double along = dot3(n, v), turn = dot3(n, dv) + dot3(dn, v);
    for (int a = 0; a < 3; a++) out[a] = dv[a] - dn[a] * along - n[a] * turn;
}

// The change of R with the present set.
static void differentiate(const ct_touch* touch, const law* at, const change* d, double out[3]) {
    const double *n = touch->at.n, *F = touch->is.force;
    double r = touch->scale, eps = touch->is.eps, mu = touch->is.pair.friction;
    double FN = dot3(n, F), dFN = dot3(d->n, F) + dot3(n, d->F), normal = dot3(n, at->s);
    double dnormal = d->gap + d->eps * FN + eps * dFN, q[3], dq[3], slip[3];
    for (int a = 0; a < 3; a++) {
        double stretch = F[a] - touch->is.anchor[a];
        q[a] = touch->u[a] + eps * stretch;
        dq[a] = d->u[a] + d->eps * stretch + eps * (d->F[a] - d->anchor[a]);
    }
    for (int a = 0; a < 3; a++) out[a] = r * (n[a] * dnormal + d->n[a] * normal);
    if (touch->is.set == CT_CONTACT_SET_STICK) {
        across(n, d->n, q, dq, slip);
        for (int a = 0; a < 3; a++) out[a] += r * slip[a];
        return;
    }
    double v[3], dv[3], dt[3], dFT[3], tau[3];
    for (int a = 0; a < 3; a++)
        v[a] = F[a] - r * q[a], dv[a] = d->F[a] - r * dq[a], tau[a] = at->tangent[a] / at->size;
    across(n, d->n, v, dv, dt);
    across(n, d->n, F, d->F, dFT);
    double radial = dot3(tau, dt), push = d->friction * FN + mu * dFN;
    for (int a = 0; a < 3; a++)
        out[a] += dFT[a] - push * tau[a] - mu * FN * (dt[a] - radial * tau[a]) / at->size;
}

// The rows of a frame that moves.
static void linearise_round(ct_touch* touch, const law* at) {
    const ct_contact_geometry* g = &touch->round->geometry;
    for (int c = 0; c < 3 * g->count; c++) {
        change by_x = {.gap = g->w[c / 3] * g->n[c % 3]};
        double out[3];
        for (int a = 0; a < 3; a++) by_x.n[a] = g->dn[a][c], by_x.u[a] = g->du[a][c];
        differentiate(touch, at, &by_x, out);
        for (int a = 0; a < 3; a++) touch->round->dx[a][c] = out[a];
    }
}

void ct_touch_linearise(ct_touch* touch) {
    law at = evaluate(touch);
    if (touch->round) linearise_round(touch, &at);
    const double* n = touch->at.n;
    bool turns = touch->is.pair.type == CT_CONTACT_TYPE_PLANE;
    for (int j = 0; j < 3; j++) {
        change by_F = {.F = {j == 0, j == 1, j == 2}}, by_x = {.u = {j == 0, j == 1, j == 2}, .gap = n[j]};
        double out[3];
        differentiate(touch, &at, &by_F, out);
        for (int i = 0; i < 3; i++) touch->dF[i][j] = out[i];
        differentiate(touch, &at, &by_x, out);
        for (int i = 0; i < 3; i++) touch->D[i][j] = touch->dx[i][j] = out[i];
        if (!turns) continue;
        for (int a = 0; a < 3; a++) by_x.u[a] = touch->motion->turn[3 * a + j];
        differentiate(touch, &at, &by_x, out);
        for (int i = 0; i < 3; i++) touch->dx[i][j] = out[i];
    }
}

static void product_round(const ct_touch* touch, const double* dx, const double* dF, double* out_nodes,
                          double* row) {
    const ct_touch_round* round = touch->round;
    int count = touch->at.count;
    double dw[4] = {0};
    for (int a = 0; a < 3; a++) row[a] = dot3(touch->dF[a], dF);
    for (int c = 0; c < 3 * count; c++) {
        double moved = dx[3 * touch->is.pair.node[c / 3] + c % 3];
        for (int a = 0; a < 3; a++) row[a] += round->dx[a][c] * moved;
        for (int k = 0; k < count; k++) dw[k] += round->geometry.dw[k][c] * moved;
    }
    for (int k = 0; k < count; k++)
        for (int a = 0; a < 3; a++)
            out_nodes[3 * touch->is.pair.node[k] + a] -= touch->at.w[k] * dF[a] + dw[k] * touch->is.force[a];
}

static void transposed_round(const ct_touch* touch, const double* lam, const double* lam_F,
                             double* out_nodes) {
    const ct_touch_round* round = touch->round;
    int count = touch->at.count;
    double pull[4];  // lam_k . F
    for (int k = 0; k < count; k++) pull[k] = dot3(lam + 3 * touch->is.pair.node[k], touch->is.force);
    for (int c = 0; c < 3 * count; c++) {
        double sum = round->dx[0][c] * lam_F[0] + round->dx[1][c] * lam_F[1] + round->dx[2][c] * lam_F[2];
        for (int k = 0; k < count; k++) sum -= round->geometry.dw[k][c] * pull[k];
        out_nodes[3 * touch->is.pair.node[c / 3] + c % 3] += sum;
    }
}

void ct_touch_product(const ct_touch* touch, const double* dx, const double* dF, double* out_nodes,
                      double* row) {
    double moved[3];
    if (touch->round) {
        product_round(touch, dx, dF, out_nodes, row);
        return;
    }
    ct_touch_motion(touch, dx, moved);
    for (int a = 0; a < 3; a++) row[a] = dot3(touch->dF[a], dF) + dot3(touch->dx[a], moved);
    for (int k = 0; k < touch->at.count; k++)
        for (int a = 0; a < 3; a++) out_nodes[3 * touch->is.pair.node[k] + a] -= touch->at.w[k] * dF[a];
}

void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F) {
    double moved[3];
    if (out_F) ct_touch_motion(touch, lam, moved);
    for (int a = 0; a < 3; a++) {
        double pull = touch->dx[0][a] * lam_F[0] + touch->dx[1][a] * lam_F[1] + touch->dx[2][a] * lam_F[2];
        if (out_F)
            out_F[a] = touch->dF[0][a] * lam_F[0] + touch->dF[1][a] * lam_F[1] + touch->dF[2][a] * lam_F[2] -
                       moved[a];
        for (int k = 0; !touch->round && k < touch->at.count; k++)
            out_nodes[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * pull;
    }
    if (touch->round) transposed_round(touch, lam, lam_F, out_nodes);
}

ct_touch_bar ct_touch_vjp(const ct_touch* touch, const double lam_F[3]) {
    law at = evaluate(touch);
    ct_touch_bar bar;
    double out[3];
    for (int j = 0; j < 3; j++) {
        const double unit[3] = {j == 0, j == 1, j == 2};
        change by_n = {.n = {unit[0], unit[1], unit[2]}}, by_u = {.u = {unit[0], unit[1], unit[2]}},
               by_anchor = {.anchor = {unit[0], unit[1], unit[2]}};
        differentiate(touch, &at, &by_n, out);
        bar.n[j] = -dot3(lam_F, out);
        differentiate(touch, &at, &by_u, out);
        bar.u[j] = -dot3(lam_F, out);
        differentiate(touch, &at, &by_anchor, out);
        bar.anchor[j] = -dot3(lam_F, out);
    }
    differentiate(touch, &at, &(change){.gap = 1}, out);
    bar.gap = -dot3(lam_F, out);
    differentiate(touch, &at, &(change){.eps = 1}, out);
    bar.eps = -dot3(lam_F, out);
    differentiate(touch, &at, &(change){.friction = 1}, out);
    bar.friction = -dot3(lam_F, out);
    return bar;
}

void ct_touch_jvp(const ct_touch* touch, const ct_touch_dot* dot, double out[3]) {
    law at = evaluate(touch);
    change d = {.gap = dot->gap, .eps = dot->eps, .friction = dot->friction};
    copy3(d.n, dot->n);
    copy3(d.u, dot->u);
    copy3(d.anchor, dot->anchor);
    differentiate(touch, &at, &d, out);
    for (int a = 0; a < 3; a++) out[a] = -out[a];
}
