// Newton's method for friction problems; see friction_newton.h.
//
// A step solves, with y, r and Phi of friction_problem.h,
//     open  (y_N <= 0):            dF = -F
//     stick (|y_T| < mu y_N):      (W dF) = -u
//     slip  (else), t = y_T/|y_T|, s = n x t, rho = mu y_N/|y_T|:
//         n.(W dF) = -n.u,   (t - mu n).dF = (mu n - t).F,   rho s.(W dF) + (1 - rho)/r_T s.dF = -s.F/r_T
// along dF; where |Phi| does not fall, without what no contact can bear, then half of it. Problems of many
// contacts, whose W is not stored, are solved by GMRES on the same rows.
#include "contact/friction_newton.h"

#include <math.h>
#include <string.h>

#define EDGE 1e-3  // of the limit of friction: forces that are nearer count as slipping
#define COLD 0.9   // residual from which the forces tell nothing
#define NEAR 5e-3  // residual from which the sets by the motion are better than those by the forces

enum {
    PATIENCE = 7,       // steps within which the best |Phi| is to be halved
    KEPT_LIMIT = 60,    // iterations of GMRES with the factor of an earlier step, where W is not stored
    LINEAR_LIMIT = 120  // with one of its own
};

// D, E, a of the Newton step at F, u.
static void linearise(const ct_friction_problem* def, ct_friction_work* work, const double* F,
                      const double* u) {
    memset(work->D, 0, 9 * (size_t)def->count * sizeof(double));
    memset(work->E, 0, 9 * (size_t)def->count * sizeof(double));
    for (int c = 0; c < def->count; c++) {
        const ct_friction_local* l = &work->contact[c];
        const double mu = def->mu[c];
        double *D = work->D + 9 * c, *E = work->E + 9 * c, *a = work->a + 3 * c;
        const ct_friction_state s = ct_friction_evaluate(l, mu, F + 3 * c, u + 3 * c);
        if (s.set == CT_CONTACT_SET_OPEN) {
            for (int i = 0; i < 3; i++) {
                E[4 * i] = 1;
                a[i] = -F[3 * c + i];
            }
        } else if (s.set == CT_CONTACT_SET_STICK) {
            for (int i = 0; i < 3; i++) {
                D[4 * i] = 1;
                a[i] = -u[3 * c + i];
            }
        } else {
            const ct_vec3 t = s.length > 0 ? ct_vec3_scale(1 / s.length, s.y_T) : l->t1,
                          side = ct_vec3_cross(l->n, t);
            const double rho = s.length > 0 ? mu * s.y_N / s.length : 0;
            const ct_vec3 force = ct_vec3_load(F + 3 * c), slip = ct_vec3_load(u + 3 * c);
            ct_friction_add_outer(D, 1, l->n, l->n);
            ct_friction_add_outer(D, rho, side, side);
            ct_friction_add_outer(E, 1, t, ct_vec3_axpy(t, -mu, l->n));
            ct_friction_add_outer(E, (1 - rho) / l->r_T, side, side);
            ct_vec3 right = ct_vec3_scale(-ct_vec3_dot(l->n, slip), l->n);
            right = ct_vec3_axpy(right, mu * ct_vec3_dot(l->n, force) - ct_vec3_dot(t, force), t);
            ct_vec3_store(a, ct_vec3_axpy(right, -ct_vec3_dot(side, force) / l->r_T, side));
        }
        for (int i = 0; i < 9; i++) E[i] += def->eps[c] * D[i];
    }
}

// dF with a factor in single precision, that of an earlier step where it still serves. CT_NOT_CONVERGED: it
// does not reach `relative`.
static ct_status solve_single(ct_friction_problem* def, ct_friction_work* work, double relative, double* dF,
                              ct_friction_report* report) {
    ct_friction_system* s = &work->newton;
    const bool stored = s->matrix->W;
    for (int attempt = 0; attempt < 2; attempt++) {
        bool kept = false;
        ct_krylov_report gmres = {.end = CT_KRYLOV_LIMIT};
        ct_status status =
            attempt ? ct_friction_system_factor(s, false, NULL) : ct_friction_system_reuse(s, &kept);
        report->factors += attempt;
        if (status) return status;
        if (!attempt && !kept) continue;
        const int limit = stored ? (kept ? 8 : 16) : kept ? KEPT_LIMIT : LINEAR_LIMIT;
        ct_friction_system_iterate(s, work->a, relative, limit, dF, &gmres);
        report->linear += gmres.iterations;
        if (gmres.end == CT_KRYLOV_CONVERGED) return CT_OK;
    }
    return stored ? CT_NOT_CONVERGED : CT_OK;
}

// dF by the inverse of W. CT_NOT_CONVERGED: it does not fit the sets, or does not reach `relative`.
static ct_status solve_inverse(const ct_friction_problem* def, ct_friction_work* work, double relative,
                               double* dF, ct_friction_report* report) {
    bool fits = false;
    ct_krylov_report gmres = {.end = CT_KRYLOV_LIMIT};
    const ct_status status =
        ct_friction_complement_build(&work->complement, def->inverse, work->D, work->E, &fits);
    if (status || !fits) return status ? status : CT_NOT_CONVERGED;
    work->newton.complement = &work->complement;
    ct_friction_system_iterate(&work->newton, work->a, relative, 8, dF, &gmres);
    work->newton.complement = NULL;
    report->linear += gmres.iterations;
    return gmres.end == CT_KRYLOV_CONVERGED ? CT_OK : CT_NOT_CONVERGED;
}

// dF of the Newton step, by the cheapest of the ways that have not failed before.
static ct_status direction(ct_friction_problem* def, ct_friction_work* work, double relative, bool* exact,
                           double* dF, ct_friction_report* report) {
    ct_friction_system* s = &work->newton;
    if (def->inverse && def->inverse->L && s->n >= 100) {
        const ct_status status = solve_inverse(def, work, relative, dF, report);
        if (status != CT_NOT_CONVERGED) return status;
    }
    if (!s->matrix->W || (!*exact && s->n >= 100)) {
        const ct_status status = solve_single(def, work, relative, dF, report);
        if (status != CT_NOT_CONVERGED) return status;
        *exact = true;
    }
    report->factors++;
    const ct_status status = ct_friction_system_factor(s, true, NULL);
    if (!status) ct_friction_system_solve(s, work->a, dF);
    return status;
}

static bool all_finite(int n, const double* x) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static void attempt(ct_friction_work* work, int n, double alpha, const double* F) {
    for (int i = 0; i < n; i++) {
        work->F_try[i] = F[i] + alpha * work->dF[i];
        work->u_try[i] = work->u[i] + alpha * work->Wd[i];
    }
}

// The same with the sets that the forces tell: a common motion of all contacts, as a change of load gives at
// the start of a step, says nothing about the sets.
static void linearise_kept(const ct_friction_problem* def, ct_friction_work* work, const double* F,
                           const double* u) {
    for (int c = 0; c < def->count; c++) {
        const ct_friction_local* l = &work->contact[c];
        double *D = work->D + 9 * c, *E = work->E + 9 * c, *a = work->a + 3 * c;
        const ct_vec3 force = ct_vec3_load(F + 3 * c), slip = ct_vec3_load(u + 3 * c);
        const double f_N = ct_vec3_dot(l->n, force);
        const ct_vec3 f_T = ct_vec3_axpy(force, -f_N, l->n);
        const double length = ct_vec3_norm(f_T);
        memset(D, 0, 9 * sizeof(double));
        memset(E, 0, 9 * sizeof(double));
        ct_vec3_store(a, ct_vec3_scale(-1, f_N > 0 ? slip : force));
        for (int i = 0; i < 3; i++) (f_N > 0 ? D : E)[4 * i] = 1;
        if (f_N > 0 && length >= (1 - EDGE) * def->mu[c] * f_N) {
            const ct_vec3 t = length > 0 ? ct_vec3_scale(1 / length, f_T) : l->t1;
            ct_friction_add_outer(D, -1, t, t);
            ct_friction_add_outer(E, 1, t, ct_vec3_axpy(t, -def->mu[c], l->n));
            const ct_vec3 right = ct_vec3_scale(-1, ct_vec3_axpy(slip, -ct_vec3_dot(t, slip), t));
            ct_vec3_store(a, ct_vec3_axpy(right, def->mu[c] * f_N - length, t));
        }
        for (int i = 0; i < 9; i++) E[i] += def->eps[c] * D[i];
    }
}

// Takes what was attempted when it lowers |Phi|^2 by that share.
static bool improve(const ct_friction_problem* def, ct_friction_work* work, double share, double* F,
                    ct_friction_merit* now) {
    const size_t bytes = 3 * (size_t)def->count * sizeof(double);
    const ct_friction_merit next = ct_friction_measure(def, work, work->F_try, work->u_try, NULL);
    if (!(next.square <= (1 - share) * now->square)) return false;
    memcpy(F, work->F_try, bytes);
    memcpy(work->u, work->u_try, bytes);
    *now = next;
    return true;
}

// The forces that were attempted, without what pulls and what is beyond the limit of friction.
static void attempt_admissible(const ct_friction_problem* def, ct_friction_work* work, const double* F) {
    for (int c = 0; c < def->count; c++) {
        const ct_vec3 n = work->contact[c].n, force = ct_vec3_load(work->F_try + 3 * c);
        const double f_N = fmax(ct_vec3_dot(n, force), 0);
        const ct_vec3 f_T = ct_vec3_axpy(force, -ct_vec3_dot(n, force), n);
        const double length = ct_vec3_norm(f_T), limit = def->mu[c] * f_N;
        ct_vec3_store(work->F_try + 3 * c,
                      ct_vec3_axpy(ct_vec3_scale(f_N, n), length > limit ? limit / length : 1, f_T));
    }
    // from where the step began: a is not needed any more
    for (int i = 0; i < 3 * def->count; i++) {
        work->a[i] = work->F_try[i] - F[i];
        work->u_try[i] = work->u[i] + def->eps[i / 3] * work->a[i];
    }
    ct_friction_system_product(&work->newton, work->a, work->u_try);
}

// One Newton step with its line search. *moved: |Phi| fell. *possible: there is a step; when |Phi| did not
// fall, F_try and u_try are at its end.
static ct_status newton_step(ct_friction_problem* def, ct_friction_work* work, double tolerance, bool* exact,
                             double* F, ct_friction_merit* now, bool* moved, bool* possible,
                             ct_friction_report* report) {
    const int n = 3 * def->count;
    *moved = *possible = false;
    const double residual = ct_friction_residual(*now);
    const bool keep = report->newton++ == 0 && !def->matrix->W && residual < COLD && residual > NEAR;
    (keep ? linearise_kept : linearise)(def, work, F, work->u);
    ct_status status = ct_friction_system_reduce(&work->newton, work->D, work->E);
    // as precise as the next residual can be: Newton's method squares it, and the tolerance is enough
    const double relative = fmax(0.3 * tolerance / residual, fmin(fmax(0.1 * residual, 1e-5), 1e-2));
    if (!status) status = direction(def, work, relative, exact, work->dF, report);
    if (status == CT_SINGULAR || (!status && !all_finite(n, work->dF))) return CT_OK;
    if (status) return status;

    *possible = true;
    for (int i = 0; i < n; i++) work->Wd[i] = def->eps[i / 3] * work->dF[i];
    ct_friction_system_product(&work->newton, work->dF, work->Wd);
    double alpha = 1;
    for (int k = 0; k <= work->halvings; k++, alpha /= 2) {
        attempt(work, n, alpha, F);
        *moved = improve(def, work, 1e-3 * alpha, F, now);
        if (!*moved && k == 0 && def->matrix->W) {
            attempt_admissible(def, work, F);
            *moved = improve(def, work, 1e-3, F, now);
        }
        if (*moved) return CT_OK;
    }
    attempt(work, n, def->matrix->W ? 0.5 : 1, F);
    return CT_OK;
}

static void hold(ct_friction_work* work, int count, const double* F, ct_friction_merit now) {
    memcpy(work->F_held, F, 3 * (size_t)count * sizeof(double));
    memcpy(work->u_held, work->u, 3 * (size_t)count * sizeof(double));
    work->held = now;
}

static ct_friction_merit release(ct_friction_work* work, int count, double* F) {
    memcpy(F, work->F_held, 3 * (size_t)count * sizeof(double));
    memcpy(work->u, work->u_held, 3 * (size_t)count * sizeof(double));
    return work->held;
}

// Newton's method, from F and to the best that was found. A step that does not lower |Phi| is taken
// nevertheless, half of it, as long as the best is halved every few steps: where contacts are nearly
// redundant, the sets sort themselves out while the forces are wild. Where some of them go round in a circle,
// sweeps or softer contacts get further.
ct_status ct_friction_newton(ct_friction_problem* def, ct_friction_work* work, double tolerance, int limit,
                             double* F, ct_friction_merit* now, ct_friction_report* report) {
    const size_t bytes = 3 * (size_t)def->count * sizeof(double);
    bool exact = false;
    double mark = now->square;  // of the best, when it was last halved
    hold(work, def->count, F, *now);
    for (int k = 0, marked = 0; k < limit && ct_friction_residual(*now) > tolerance; k++) {
        bool moved, possible;
        ct_status status = newton_step(def, work, tolerance, &exact, F, now, &moved, &possible, report);
        if (status) return status;
        if (!moved && possible) {
            memcpy(F, work->F_try, bytes);
            memcpy(work->u, work->u_try, bytes);
            *now = ct_friction_measure(def, work, F, work->u, NULL);
        }
        if (now->square < work->held.square) hold(work, def->count, F, *now);
        else if (!possible || !isfinite(now->square)) break;
        if (work->held.square < 0.25 * mark) mark = work->held.square, marked = k + 1;
        if (k + 1 - marked >= PATIENCE) break;
    }
    *now = release(work, def->count, F);
    return CT_OK;
}
