// The law of one contact and its linearisation; see touch.h.
#include "contact/touch.h"

#include <math.h>

#include "math/point3.h"

// of the primitives' parameters: with its feet so far outside, a touch is open
static const double away = 0.25;

void ct_touch_measure(ct_touch* touch, double compliance) {
    if (touch->measured || !(compliance > 0)) return;
    touch->measured = true;
    touch->scale = 1 / compliance;
}

// ---- the law -------------------------------------------------------------------------------

double ct_touch_overshoot(const ct_touch* touch) {
    const double* w = touch->at.w;
    switch (touch->is.pair.type) {
    case CT_CONTACT_TYPE_VERTEX_FACE: return fmax(w[1], fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_EDGE_EDGE: return fmax(fmax(-w[0], -w[1]), fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_POINT_EDGE: return fmax(w[1], w[2]);
    default: return 0;
    }
}

bool ct_touch_away(const ct_touch* touch) { return ct_touch_overshoot(touch) > away; }

typedef struct law {
    double normal;      // n.a
    double tangent[3];  // P a
    double size;        // |P a|
    double s[3];        // n g + P u + eps F
} law;

static law evaluate(const ct_touch* touch) {
    const double *n = touch->at.n, *F = touch->is.force, *u = touch->at.u;
    law out;
    double un = dot3(n, u), a[3];
    for (int i = 0; i < 3; i++) {
        out.s[i] = n[i] * touch->at.gap + (u[i] - un * n[i]) + touch->is.eps * F[i];
        a[i] = F[i] - touch->scale * out.s[i];
    }
    out.normal = dot3(n, a);
    for (int i = 0; i < 3; i++) out.tangent[i] = a[i] - out.normal * n[i];
    out.size = sqrt(dot3(out.tangent, out.tangent));
    return out;
}

static ct_contact_set set_of(const ct_touch* touch, const law* law) {
    double mu = touch->is.pair.friction;
    return ct_touch_away(touch) || law->normal <= 0 ? CT_CONTACT_SET_OPEN
           : law->size <= mu * law->normal          ? CT_CONTACT_SET_STICK
                                                    : CT_CONTACT_SET_SLIP;
}

ct_contact_set ct_touch_set(const ct_touch* touch) {
    law at = evaluate(touch);
    return set_of(touch, &at);
}

static void residual_of(const ct_touch* touch, const law* at, ct_contact_set set, double R[3]) {
    const double *n = touch->at.n, *F = touch->is.force;
    double FN = dot3(n, F), mu = touch->is.pair.friction;
    for (int i = 0; i < 3; i++) {
        if (set == CT_CONTACT_SET_OPEN) R[i] = F[i];
        else if (set == CT_CONTACT_SET_STICK) R[i] = touch->scale * at->s[i];
        else
            R[i] = touch->scale * n[i] * (touch->at.gap + touch->is.eps * FN) + F[i] - FN * n[i] -
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
    if (ct_touch_away(touch)) return INFINITY;
    double cone = at.normal > 0 ? fabs(at.size - touch->is.pair.friction * at.normal) : INFINITY;
    return fmin(fabs(at.normal), cone);
}

// ---- linearisation -------------------------------------------------------------------------

// A column of dP v = -(dn (n.v) + n (dn.v)).
static void turn_projection(const double n[3], const double dn[3], const double v[3], double out[3]) {
    double along = dot3(n, v), turn = dot3(dn, v);
    for (int a = 0; a < 3; a++) out[a] = -(dn[a] * along + n[a] * turn);
}

// The column of a stick row for the changes dn, du, dg.
static void stick_column(const ct_touch* touch, const double dn[3], const double du[3], double dg,
                         double out[3]) {
    const double *n = touch->at.n, *u = touch->at.u;
    double turn[3], along = dot3(n, du);
    turn_projection(n, dn, u, turn);
    for (int a = 0; a < 3; a++)
        out[a] = touch->scale * (n[a] * dg + dn[a] * touch->at.gap + du[a] - along * n[a] + turn[a]);
}

// The same of a slip row. d(P a) = P dv + dP v with v = F - r (u + eps F), dv = -r du.
static void slip_column(const ct_touch* touch, const law* at, const double dn[3], const double du[3],
                        double dg, double out[3]) {
    const double *n = touch->at.n, *u = touch->at.u, *F = touch->is.force;
    double r = touch->scale, eps = touch->is.eps, mu = touch->is.pair.friction;
    double FN = dot3(n, F), dFN = dot3(dn, F), v[3], dv[3], turn[3], dP_F[3];
    for (int a = 0; a < 3; a++) v[a] = F[a] - r * (u[a] + eps * F[a]), dv[a] = -r * du[a];
    turn_projection(n, dn, v, turn);
    turn_projection(n, dn, F, dP_F);
    double along = dot3(n, dv), tau[3], dt[3];
    for (int a = 0; a < 3; a++) {
        tau[a] = at->tangent[a] / at->size;
        dt[a] = dv[a] - along * n[a] + turn[a];
    }
    double radial = dot3(tau, dt);
    for (int a = 0; a < 3; a++) {
        double dtau = (dt[a] - radial * tau[a]) / at->size;
        out[a] = r * (n[a] * (dg + eps * dFN) + dn[a] * (touch->at.gap + eps * FN)) + dP_F[a] -
                 mu * (dFN * tau[a] + FN * dtau);
    }
}

static void linearise_force(ct_touch* touch, const law* at) {
    const double* n = touch->at.n;
    double r = touch->scale, eps = touch->is.eps, mu = touch->is.pair.friction;
    double FN = dot3(n, touch->is.force);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double unit = i == j, P = unit - n[i] * n[j];
            if (touch->is.set == CT_CONTACT_SET_STICK) {
                touch->dF[i][j] = r * eps * unit;
                touch->D[i][j] = r * unit;
                continue;
            }
            double tau_i = at->tangent[i] / at->size, tau_j = at->tangent[j] / at->size;
            double turn = mu * FN / at->size * (P - tau_i * tau_j);
            touch->dF[i][j] = r * eps * n[i] * n[j] + P - mu * tau_i * n[j] - turn * (1 - r * eps);
            touch->D[i][j] = r * n[i] * n[j] + r * turn;
        }
}

void ct_touch_linearise(ct_touch* touch) {
    law at = evaluate(touch);
    const ct_contact_geometry* geometry = &touch->at;
    linearise_force(touch, &at);
    const double zero[3] = {0, 0, 0};
    for (int c = 0; c < 3 * geometry->count; c++) {
        double dn[3], du[3], start[3], out[3];
        for (int a = 0; a < 3; a++)
            dn[a] = geometry->dn[a][c], du[a] = geometry->du[a][c], start[a] = geometry->du_start[a][c];
        double dg = geometry->w[c / 3] * geometry->n[c % 3];
        if (touch->is.set == CT_CONTACT_SET_STICK) stick_column(touch, dn, du, dg, out);
        else slip_column(touch, &at, dn, du, dg, out);
        for (int a = 0; a < 3; a++) touch->dx[a][c] = out[a];
        if (touch->is.set == CT_CONTACT_SET_STICK) stick_column(touch, zero, start, 0, out);
        else slip_column(touch, &at, zero, start, 0, out);
        for (int a = 0; a < 3; a++) touch->dx_start[a][c] = out[a];
    }
}

void ct_touch_product(const ct_touch* touch, const double* dx, const double* dF, double* out_nodes,
                      double* row) {
    int count = touch->at.count;
    const double *f = dF, *F = touch->is.force;
    double local[12], dw[4] = {0};
    for (int k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) local[3 * k + a] = dx[3 * touch->is.pair.node[k] + a];
    for (int a = 0; a < 3; a++)
        row[a] = touch->dF[a][0] * f[0] + touch->dF[a][1] * f[1] + touch->dF[a][2] * f[2];
    for (int c = 0; c < 3 * count; c++) {
        for (int a = 0; a < 3; a++) row[a] += touch->dx[a][c] * local[c];
        for (int k = 0; k < count; k++) dw[k] += touch->at.dw[k][c] * local[c];
    }
    for (int k = 0; k < count; k++)
        for (int a = 0; a < 3; a++)
            out_nodes[3 * touch->is.pair.node[k] + a] -= touch->at.w[k] * f[a] + dw[k] * F[a];
}

void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F) {
    int count = touch->at.count;
    double pull[4];  // lam_k . F
    for (int a = 0; out_F && a < 3; a++)
        out_F[a] = touch->dF[0][a] * lam_F[0] + touch->dF[1][a] * lam_F[1] + touch->dF[2][a] * lam_F[2];
    for (int k = 0; k < count; k++) {
        const double* node = lam + 3 * touch->is.pair.node[k];
        pull[k] = dot3(node, touch->is.force);
        for (int a = 0; out_F && a < 3; a++) out_F[a] -= touch->at.w[k] * node[a];
    }
    for (int c = 0; c < 3 * count; c++) {
        double sum = touch->dx[0][c] * lam_F[0] + touch->dx[1][c] * lam_F[1] + touch->dx[2][c] * lam_F[2];
        for (int k = 0; k < count; k++) sum -= touch->at.dw[k][c] * pull[k];
        out_nodes[3 * touch->is.pair.node[c / 3] + c % 3] += sum;
    }
}

void ct_touch_friction_slope(const ct_touch* touch, double slope[3]) {
    law at = evaluate(touch);
    double FN = dot3(touch->at.n, touch->is.force);
    for (int a = 0; a < 3; a++) slope[a] = -FN * at.tangent[a] / at.size;
}

void ct_touch_eps_slope(const ct_touch* touch, double slope[3]) {
    const double *n = touch->at.n, *F = touch->is.force, r = touch->scale;
    law at = evaluate(touch);
    double FN = dot3(n, F), dt[3], radial = 0;
    for (int a = 0; a < 3; a++) {
        dt[a] = -r * (F[a] - FN * n[a]);
        radial += dt[a] * at.tangent[a] / at.size;
    }
    for (int a = 0; a < 3; a++)
        slope[a] = touch->is.set == CT_CONTACT_SET_STICK
                       ? r * F[a]
                       : r * n[a] * FN - touch->is.pair.friction * FN *
                                             (dt[a] - radial * at.tangent[a] / at.size) / at.size;
}
