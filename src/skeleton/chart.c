// The chart of joint coordinates; see chart.h.
#include "skeleton/chart.h"

#include <string.h>

#include "math/rotation.h"

// Rates of joint k that are numbers to add: all, or the translations of a spatial one, whose rotation
// follows.
static int plain_count(const ct_joint_type* type) { return type->spatial ? type->ntranslation : type->ndof; }

// ---- coordinates ---------------------------------------------------------------------------

void ct_chart_at(const ct_tree* tree, const double* q_n, const double* q, double* theta) {
    for (int k = 0; k < tree->nlink; k++) {
        const int at = tree->coordinate[k], j = tree->dof[k], plain = plain_count(tree->type[k]);
        for (int i = 0; i < plain; i++) theta[j + i] = q[at + i] - q_n[at + i];
        if (tree->type[k]->spatial)
            ct_vec3_store(theta + j + plain,
                          ct_rotation_between(ct_quat_load(q_n + at + plain), ct_quat_load(q + at + plain)));
    }
}

void ct_chart_move(const ct_tree* tree, const double* q_n, const double* theta, double* q) {
    const ct_mat3 parents = ct_mat3_identity();
    for (int k = 0; k < tree->nlink; k++)
        ct_joint_move(tree->type[k], &parents, theta + tree->dof[k], q_n + tree->coordinate[k],
                      q + tree->coordinate[k]);
}

// dtheta = J^-1 dq - J^-T dq_n
void ct_chart_at_vjp(const ct_tree* tree, const double* theta, const double* theta_bar, double* q_bar,
                     double* q_n_bar) {
    for (int k = 0; k < tree->nlink; k++) {
        const int j = tree->dof[k], plain = plain_count(tree->type[k]), turn = j + plain;
        for (int i = j; i < turn; i++) {
            q_bar[i] += theta_bar[i];
            q_n_bar[i] -= theta_bar[i];
        }
        if (!tree->type[k]->spatial) continue;
        const ct_mat3 J = ct_rotation_jacobian_inverse(ct_vec3_load(theta + turn));
        const ct_vec3 bar = ct_vec3_load(theta_bar + turn), now = ct_mat3_apply(ct_mat3_transpose(J), bar),
                      start = ct_mat3_apply(J, bar);
        ct_vec3_store(q_bar + turn, ct_vec3_add(ct_vec3_load(q_bar + turn), now));
        ct_vec3_store(q_n_bar + turn, ct_vec3_sub(ct_vec3_load(q_n_bar + turn), start));
    }
}

void ct_chart_at_jvp(const ct_tree* tree, const double* theta, const double* q_dot, const double* q_n_dot,
                     double* theta_dot) {
    for (int k = 0; k < tree->nlink; k++) {
        const int j = tree->dof[k], plain = plain_count(tree->type[k]), turn = j + plain;
        for (int i = j; i < turn; i++) theta_dot[i] = q_dot[i] - (q_n_dot ? q_n_dot[i] : 0);
        if (!tree->type[k]->spatial) continue;
        const ct_mat3 J = ct_rotation_jacobian_inverse(ct_vec3_load(theta + turn));
        ct_vec3 dot = ct_mat3_apply(J, ct_vec3_load(q_dot + turn));
        if (q_n_dot)
            dot = ct_vec3_sub(dot, ct_mat3_apply(ct_mat3_transpose(J), ct_vec3_load(q_n_dot + turn)));
        ct_vec3_store(theta_dot + turn, dot);
    }
}

// ---- rates of a rotation -------------------------------------------------------------------

// J = I + b [theta] + k [theta]^2, b = (1 - cos a)/a^2 and k = (a - sin a)/a^3 with their derivatives by s =
// a^2: sums of (-s)^n/(2n + 2)! and (-s)^n/(2n + 3)!, which converge fast up to a turn.
typedef struct coefficients {
    double b, b1, b2, k, k1, k2;
} coefficients;

static coefficients coefficients_at(double s) {
    enum { TERMS = 20 };
    coefficients c = {0};
    double factor[TERMS];  // (-1)^n/(2n + 2)!
    factor[0] = 0.5;
    for (int n = 1; n < TERMS; n++) factor[n] = -factor[n - 1] / ((2 * n + 1) * (2 * n + 2));
    for (int n = TERMS - 1; n >= 0; n--) {
        const double b = factor[n], k = factor[n] / (2 * n + 3);
        c.b2 = c.b2 * s + c.b1, c.b1 = c.b1 * s + c.b, c.b = c.b * s + b;
        c.k2 = c.k2 * s + c.k1, c.k1 = c.k1 * s + c.k, c.k = c.k * s + k;
    }
    c.b2 *= 2, c.k2 *= 2;
    return c;
}

// A rotation that moves, with the products that its rates consist of.
typedef struct turning {
    ct_vec3 theta, u, alpha;
    coefficients c;
    ct_vec3 X, Y;    // theta x u, theta x (theta x u)
    ct_vec3 Xa, Ya;  // the same of alpha
    ct_vec3 Z;       // u x (theta x u)
    double p;        // theta . u
} turning;

static turning turning_at(ct_vec3 theta, ct_vec3 u, ct_vec3 alpha) {
    turning t = {.theta = theta, .u = u, .alpha = alpha, .c = coefficients_at(ct_vec3_dot(theta, theta))};
    t.X = ct_vec3_cross(theta, u);
    t.Y = ct_vec3_cross(theta, t.X);
    t.Xa = ct_vec3_cross(theta, alpha);
    t.Ya = ct_vec3_cross(theta, t.Xa);
    t.Z = ct_vec3_cross(u, t.X);
    t.p = ct_vec3_dot(theta, u);
    return t;
}

static ct_vec3 sum2(double s, ct_vec3 a, double t, ct_vec3 b) {
    return ct_vec3_axpy(ct_vec3_scale(s, a), t, b);
}

// w = u + b X + k Y,   w' = alpha + b Xa + k Ya + 2 p (b' X + k' Y) + k Z
static void rates_of(const turning* t, ct_vec3* w, ct_vec3* dw) {
    const coefficients* c = &t->c;
    *w = ct_vec3_add(t->u, sum2(c->b, t->X, c->k, t->Y));
    *dw = ct_vec3_add(t->alpha, sum2(c->b, t->Xa, c->k, t->Ya));
    *dw = ct_vec3_add(*dw, sum2(2 * t->p * c->b1, t->X, 2 * t->p * c->k1, t->Y));
    *dw = ct_vec3_axpy(*dw, c->k, t->Z);
}

// The same along a change of theta, u and alpha.
static void rates_along(const turning* t, ct_vec3 theta, ct_vec3 u, ct_vec3 alpha, ct_vec3* w, ct_vec3* dw) {
    const coefficients* c = &t->c;
    const double s = 2 * ct_vec3_dot(t->theta, theta);
    const double p = ct_vec3_dot(theta, t->u) + ct_vec3_dot(t->theta, u);
    const ct_vec3 X = ct_vec3_add(ct_vec3_cross(theta, t->u), ct_vec3_cross(t->theta, u)),
                  Y = ct_vec3_add(ct_vec3_cross(theta, t->X), ct_vec3_cross(t->theta, X)),
                  Xa = ct_vec3_add(ct_vec3_cross(theta, t->alpha), ct_vec3_cross(t->theta, alpha)),
                  Ya = ct_vec3_add(ct_vec3_cross(theta, t->Xa), ct_vec3_cross(t->theta, Xa)),
                  Z = ct_vec3_add(ct_vec3_cross(u, t->X), ct_vec3_cross(t->u, X));
    *w = ct_vec3_add(u, ct_vec3_add(sum2(c->b, X, c->k, Y), sum2(c->b1 * s, t->X, c->k1 * s, t->Y)));
    *dw = ct_vec3_add(alpha, ct_vec3_add(sum2(c->b, Xa, c->k, Ya), sum2(c->b1 * s, t->Xa, c->k1 * s, t->Ya)));
    *dw = ct_vec3_add(*dw, sum2(2 * p * c->b1, t->X, 2 * p * c->k1, t->Y));
    *dw = ct_vec3_add(*dw, sum2(2 * t->p * c->b1, X, 2 * t->p * c->k1, Y));
    *dw = ct_vec3_add(*dw, sum2(2 * t->p * c->b2 * s, t->X, 2 * t->p * c->k2 * s, t->Y));
    *dw = ct_vec3_add(*dw, sum2(c->k1 * s, t->Z, c->k, Z));
}

// ---- rates of the joints -------------------------------------------------------------------

static turning turning_of(ct_chart_motion at, int j) {
    return turning_at(ct_vec3_load(at.theta + j), ct_vec3_load(at.u + j), ct_vec3_load(at.alpha + j));
}

void ct_chart_rates(const ct_tree* tree, ct_chart_motion at, double* w, double* dw) {
    memcpy(w, at.u, (size_t)tree->ndof * sizeof(double));
    memcpy(dw, at.alpha, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        if (!tree->type[k]->spatial) continue;
        const int j = tree->dof[k + 1] - 3;
        const turning t = turning_of(at, j);
        ct_vec3 rate, change;
        rates_of(&t, &rate, &change);
        ct_vec3_store(w + j, rate);
        ct_vec3_store(dw + j, change);
    }
}

void ct_chart_rates_vjp(const ct_tree* tree, ct_chart_motion at, const double* w_bar, const double* dw_bar,
                        ct_chart_motion bar) {
    const size_t bytes = (size_t)tree->ndof * sizeof(double);
    memset(bar.theta, 0, bytes);
    memcpy(bar.u, w_bar, bytes);
    memcpy(bar.alpha, dw_bar, bytes);
    for (int k = 0; k < tree->nlink; k++) {
        if (!tree->type[k]->spatial) continue;
        const int j = tree->dof[k + 1] - 3;
        const turning t = turning_of(at, j);
        const ct_vec3 first = ct_vec3_load(w_bar + j), second = ct_vec3_load(dw_bar + j), none = {0, 0, 0};
        double* const part[] = {bar.theta + j, bar.u + j, bar.alpha + j};
        for (int i = 0; i < 9; i++) {
            const ct_vec3 unit = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
            ct_vec3 w, dw;
            rates_along(&t, i < 3 ? unit : none, i / 3 == 1 ? unit : none, i > 5 ? unit : none, &w, &dw);
            part[i / 3][i % 3] = ct_vec3_dot(first, w) + ct_vec3_dot(second, dw);
        }
    }
}

void ct_chart_rates_jvp(const ct_tree* tree, ct_chart_motion at, ct_chart_motion dot, double* w_dot,
                        double* dw_dot) {
    memcpy(w_dot, dot.u, (size_t)tree->ndof * sizeof(double));
    memcpy(dw_dot, dot.alpha, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        if (!tree->type[k]->spatial) continue;
        const int j = tree->dof[k + 1] - 3;
        const turning t = turning_of(at, j);
        ct_vec3 w, dw;
        rates_along(&t, ct_vec3_load(dot.theta + j), ct_vec3_load(dot.u + j), ct_vec3_load(dot.alpha + j), &w,
                    &dw);
        ct_vec3_store(w_dot + j, w);
        ct_vec3_store(dw_dot + j, dw);
    }
}
