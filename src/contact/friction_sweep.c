// Sweeps over contacts; see friction_sweep.h.
//
// In the frame of a contact, with the normal row eliminated (S = W_TT - w w^T/W_NN, c = q_T - w q_N/W_NN),
// slip against the force means u_T = -nu F_T: F_T(nu) = -(S + nu)^-1 c and |F_T| = mu F_N is one equation for
// nu > 0, positive at 0 where sticking fails and negative at infinity.
#include "contact/friction_sweep.h"

#include <cblas.h>
#include <float.h>
#include <math.h>

// |F_T| - mu F_N at nu, and its derivative.
static double excess(const ct_friction_local* l, double mu, double q_N, const double c[2], double nu,
                     double f[3], double* slope) {
    double value = 0, change = 0, bend = 0, g[2] = {0, 0}, dg[2] = {0, 0};
    const double* axes[2] = {l->e1, l->e2};
    for (int i = 0; i < 2; i++) {
        const double stiff = 1 / (l->s[i] + nu), x = -c[i] * stiff;
        value += x * x;
        bend -= x * x * stiff;
        for (int k = 0; k < 2; k++) {
            g[k] += x * axes[i][k];
            dg[k] -= x * stiff * axes[i][k];
        }
    }
    const double length = sqrt(value);
    change = length > 0 ? bend / length : 0;
    f[0] = -(q_N + l->w[0] * g[0] + l->w[1] * g[1]) / l->W_NN;
    f[1] = g[0];
    f[2] = g[1];
    *slope = change + mu * (l->w[0] * dg[0] + l->w[1] * dg[1]) / l->W_NN;
    return length - mu * f[0];
}

// The force on one contact whose motion without it is q, in its frame.
static void solve_local(const ct_friction_local* l, double mu, const double q[3], double f[3]) {
    f[0] = f[1] = f[2] = 0;
    if (!(q[0] < 0)) return;
    const double plain[2] = {q[1] - l->w[0] * q[0] / l->W_NN, q[2] - l->w[1] * q[0] / l->W_NN};
    const double c[2] = {plain[0] * l->e1[0] + plain[1] * l->e1[1],
                         plain[0] * l->e2[0] + plain[1] * l->e2[1]};
    double slope;
    if (excess(l, mu, q[0], c, 0, f, &slope) <= 0) return;  // sticks
    if (mu == 0) {
        f[0] = -q[0] / l->W_NN;
        f[1] = f[2] = 0;
        return;
    }
    double low = 0, high = l->s[0], value;
    for (int k = 0; k < 200 && excess(l, mu, q[0], c, high, f, &slope) > 0; k++) {
        low = high;
        high *= 4;
    }
    // Newton's method between the bounds
    double nu = (low + high) / 2;
    for (int k = 0; k < 60 && high - low > 4 * DBL_EPSILON * high; k++) {
        value = excess(l, mu, q[0], c, nu, f, &slope);
        if (fabs(value) <= 4 * DBL_EPSILON * mu * fabs(f[0])) break;
        if (value > 0) low = nu;
        else high = nu;
        const double next = nu - value / slope;
        nu = next > low && next < high ? next : (low + high) / 2;
    }
    excess(l, mu, q[0], c, nu, f, &slope);
    // on the cone to the last digit
    const double length = hypot(f[1], f[2]), limit = mu * fmax(f[0], 0);
    if (length > 0) {
        f[1] *= limit / length;
        f[2] *= limit / length;
    }
}

// One sweep over all contacts; u follows F.
static void sweep(const ct_friction_problem* def, ct_friction_work* work, double* F, double* u) {
    for (int c = 0; c < def->count; c++) {
        const ct_friction_local* l = &work->contact[c];
        const ct_vec3 force = ct_vec3_load(F + 3 * c);
        const ct_vec3 q = ct_vec3_sub(ct_vec3_load(u + 3 * c), ct_mat3_apply(ct_mat3_load(l->W), force));
        const double frame[3] = {ct_vec3_dot(l->n, q), ct_vec3_dot(l->t1, q), ct_vec3_dot(l->t2, q)};
        double f[3], d[3];
        solve_local(l, def->mu[c], frame, f);
        const ct_vec3 next = ct_vec3_axpy(ct_vec3_axpy(ct_vec3_scale(f[0], l->n), f[1], l->t1), f[2], l->t2);
        ct_vec3_store(d, ct_vec3_sub(next, force));
        if (d[0] == 0 && d[1] == 0 && d[2] == 0) continue;
        cblas_dgemv(CblasColMajor, CblasNoTrans, 3 * def->count, 3, 1,
                    def->matrix->W + 3 * (size_t)c * (size_t)def->matrix->stride, def->matrix->stride, d, 1,
                    1, u, 1);
        for (int i = 0; i < 3; i++) {
            u[3 * c + i] += def->eps[c] * d[i];
            F[3 * c + i] += d[i];
        }
        ct_vec3_store(F + 3 * c, next);
    }
}

ct_status ct_friction_sweep(ct_friction_problem* def, ct_friction_work* work, int count, double* F,
                            ct_friction_merit* now, ct_friction_report* report) {
    const ct_status status = ct_friction_join(def, work);
    if (status) return status;
    for (int k = 0; k < count; k++) sweep(def, work, F, work->u);
    report->sweeps += count;
    *now = ct_friction_measure(def, work, F, work->u, NULL);
    return CT_OK;
}
