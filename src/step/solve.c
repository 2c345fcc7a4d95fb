// The solver of a step. Phi(z) is minimised to |r| <= target, r = dPhi/dz, by
//
// 1. L-BFGS on the warped factor: each iteration one gradient and one solve. The warped rest Hessian is so
//    close to the true one at moderate strain that a handful of iterations suffice.
// 2. Newton-PCG when that is slow: exact Hessian products, the same preconditioner, inexact to the forcing
//    term eta, truncated at negative curvature. It continues from wherever L-BFGS got. With sheets the stress
//    in its geometric stiffness is the one that the last linearisation foresees (force/sheet_pass.c), and
//    the factor is made anew at the iterate when the iterations beyond those of a good factor have added up,
//    when one solve takes many, or after negative curvature: sheets buckle and fold within a step.
//
// Both search along d with Armijo's condition on Phi. Close to the solution Phi no longer resolves the
// decrease; there the approximate Wolfe condition of Hager and Zhang, on slopes, takes over.
#include "step/solve.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"
#include "step/coords.h"
#include "step/phi.h"

enum { FAST_ITERATIONS = 16, FAST_MINIMUM = 4, SEARCH_LIMIT = 20 };
// iterations of conjugate gradients with a good factor, and with one that is to be made anew at once; surplus
// of iterations that pays for a new factor
enum { GOOD_ITERATIONS = 2, POOR_ITERATIONS = 8, DEBT_LIMIT = 16 };

static void swap(double** a, double** b) {
    double* t = *a;
    *a = *b;
    *b = t;
}

static void precondition(const ct_model* model, ct_work* work, const double* b, double* y,
                         ct_step_report* report) {
    ct_precondition_apply(model, &work->preconditioner, &work->at, b, y);
    report->solves++;
}

// ---- line search ---------------------------------------------------------------------------

// Accepts a trial point of step length t along d, slope = r . d < 0 at t = 0.
static bool acceptable(const ct_solve_point* here, const ct_solve_point* trial, double t, double slope,
                       double trial_slope, double resolution) {
    if (!isfinite(trial->phi) || !isfinite(trial->norm)) return false;
    if (trial->phi <= here->phi + 1e-4 * t * slope) return true;
    return trial->phi <= here->phi + resolution && fabs(trial_slope) <= 0.9 * fabs(slope);
}

// Moves work->x along work->d; r_trial then holds the new residual (not yet swapped in). Returns the length,
// 0: failed. It fails at once where Phi could not tell a shorter step from none.
static double search(const ct_model* model, ct_work* work, double slope, const ct_solve_point* here,
                     ct_solve_point* trial, ct_step_report* report) {
    size_t n = (size_t)model->nunknown;
    double t = 1, resolution = work->resolution + 1e-12 * fabs(here->phi);
    for (int i = 0; i < SEARCH_LIMIT; i++) {
        ct_coords_move(model, &work->at, t, work->d, &work->trial);
        trial->phi = ct_phi_evaluate(model, work, &work->trial, work->r_trial, report);
        trial->norm = ct_vecn_blas_norm(work->r_trial, n);
        double trial_slope = ct_vecn_blas_dot(work->r_trial, work->d, n);
        if (acceptable(here, trial, t, slope, trial_slope, resolution)) {
            ct_config taken = work->trial;
            work->trial = work->at;
            work->at = taken;
            return t;
        }
        report->line_searches++;
        if (t * fabs(slope) < 1e-3 * resolution) return 0;
        // minimiser of the parabola through phi(0), slope and phi(t), kept within [t/10, t/2]
        double parabola = -slope * t * t / (2 * (trial->phi - here->phi - slope * t));
        t = isfinite(parabola) ? fmin(0.5 * t, fmax(0.1 * t, parabola)) : 0.1 * t;
    }
    return 0;
}

// ---- L-BFGS on the warped factor -----------------------------------------------------------

// d = -H r, H the inverse Hessian estimate from the pairs on top of the preconditioner (two-loop recursion).
static void lbfgs_direction(const ct_model* model, ct_work* work, ct_step_report* report) {
    const size_t n = (size_t)model->nunknown;
    const int count = work->lbfgs.count;
    double weight[CT_HISTORY];
    double* q = work->scratch;
    memcpy(q, work->r, n * sizeof(double));
    for (int i = 0; i < count; i++) {
        weight[i] = work->lbfgs.rho[i] * ct_vecn_blas_dot(work->lbfgs.s[i], q, n);
        ct_vecn_axpy(q, -weight[i], work->lbfgs.y[i], n);
    }
    precondition(model, work, q, work->d, report);
    for (int i = count - 1; i >= 0; i--) {
        double correction = work->lbfgs.rho[i] * ct_vecn_blas_dot(work->lbfgs.y[i], work->d, n);
        ct_vecn_axpy(work->d, weight[i] - correction, work->lbfgs.s[i], n);
    }
    for (size_t i = 0; i < n; i++) work->d[i] = -work->d[i];
}

// Puts the pair (t d, r_trial - r) first; forgets all when its curvature is not positive.
static void lbfgs_remember(const ct_model* model, ct_work* work, double t) {
    size_t n = (size_t)model->nunknown;
    double *s = work->lbfgs.s[CT_HISTORY - 1], *y = work->lbfgs.y[CT_HISTORY - 1];
    for (size_t i = 0; i < n; i++) {
        s[i] = t * work->d[i];
        y[i] = work->r_trial[i] - work->r[i];
    }
    double curvature = ct_vecn_blas_dot(s, y, n);
    if (!(curvature > 0)) {
        work->lbfgs.count = 0;
        return;
    }
    for (int i = CT_HISTORY - 1; i > 0; i--) {
        work->lbfgs.s[i] = work->lbfgs.s[i - 1];
        work->lbfgs.y[i] = work->lbfgs.y[i - 1];
        work->lbfgs.rho[i] = work->lbfgs.rho[i - 1];
    }
    work->lbfgs.s[0] = s;
    work->lbfgs.y[0] = y;
    work->lbfgs.rho[0] = 1 / curvature;
    if (work->lbfgs.count < CT_HISTORY) work->lbfgs.count++;
}

// Iterates while it pays; leaves the point reached in `here`. True when converged.
static bool fast_path(const ct_model* model, ct_work* work, ct_solve_point* here, ct_step_report* report) {
    size_t n = (size_t)model->nunknown;
    double start = here->norm;
    int limit = report->solves + FAST_ITERATIONS < model->settings.max_iterations
                    ? FAST_ITERATIONS
                    : model->settings.max_iterations - report->solves;
    for (int i = 0; i < limit && here->norm > work->target; i++) {
        // at the mean rate so far, will it arrive in time?
        if (i >= FAST_MINIMUM) {
            double rate = log(here->norm / start) / i;
            if (!(i + log(work->target / here->norm) / rate < FAST_ITERATIONS) || rate >= 0) return false;
        }
        lbfgs_direction(model, work, report);
        double slope = ct_vecn_blas_dot(work->r, work->d, n);
        if (!(slope < 0)) return false;
        ct_solve_point trial;
        double t = search(model, work, slope, here, &trial, report);
        if (t == 0) return false;
        lbfgs_remember(model, work, t);
        swap(&work->r, &work->r_trial);
        *here = trial;
        report->iterations++;
        if (t < 0.2) return false;
    }
    return here->norm <= work->target;
}

// ---- Newton-PCG ----------------------------------------------------------------------------

typedef struct newton_context {
    const ct_model* model;
    ct_work* work;
    ct_step_report* report;
} newton_context;

static void hessian_product(const double* in, double* out, void* user) {
    newton_context* context = user;
    ct_phi_hessian(context->model, context->work, &context->work->at, in, out);
    context->report->hessian_products++;
}

static void apply_preconditioner(const double* in, double* out, void* user) {
    newton_context* context = user;
    precondition(context->model, context->work, in, out, context->report);
}

void ct_solve_account_begin(const ct_model* model, ct_work* work) {
    ct_phi_foresee_start(model, work);
    work->preconditioner.accounts = work->step.foreseen;
}

bool ct_solve_renew(const ct_model* model, ct_work* work, ct_step_report* report) {
    ct_preconditioner* p = &work->preconditioner;
    if (!p->accounts || !p->may_renew || p->debt < DEBT_LIMIT) return false;
    // a matrix that is not positive definite leaves the old factor in force
    ct_precondition_renew(model, p, &work->at, work->actuation, ct_model_rate(&model->settings),
                          &report->refactors);
    p->debt = 0;
    ct_families_begin(&model->families, &work->families, &work->step);
    return true;
}

void ct_solve_account(ct_work* work, const ct_krylov_report* inner) {
    ct_preconditioner* p = &work->preconditioner;
    if (!p->accounts) return;
    if (inner->end == CT_KRYLOV_NEGATIVE || inner->iterations >= POOR_ITERATIONS) p->debt = DEBT_LIMIT;
    else if (inner->iterations > GOOD_ITERATIONS) p->debt += inner->iterations - GOOD_ITERATIONS;
}

// d with H d = -r to |H d + r| <= eta |r|. Where the stress is foreseen a step is worth solving well for.
static void newton_direction(const ct_model* model, ct_work* work, const ct_solve_point* here,
                             ct_step_report* report) {
    size_t n = (size_t)model->nunknown;
    newton_context context = {model, work, report};
    double eta = fmin(work->step.foreseen ? 0.03 : 0.1, sqrt(here->norm / work->reference));
    double tolerance = fmax(eta * here->norm, 0.3 * work->target);
    for (size_t i = 0; i < n; i++) work->scratch[i] = -work->r[i];
    ct_krylov_def def = {.n = (int)n,
                         .apply = hessian_product,
                         .precondition = apply_preconditioner,
                         .user = &context,
                         .tolerance = tolerance,
                         .max_iterations = model->settings.max_iterations - report->solves};
    ct_krylov_report inner;
    memset(work->d, 0, n * sizeof(double));
    ct_pcg(&def, work->krylov, work->scratch, work->d, &inner);
    ct_solve_account(work, &inner);
}

static bool newton_path(const ct_model* model, ct_work* work, ct_solve_point* here, ct_step_report* report) {
    size_t n = (size_t)model->nunknown;
    while (here->norm > work->target && report->solves < model->settings.max_iterations) {
        ct_solve_renew(model, work, report);
        ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
        ct_phi_linearise(model, work, &work->at, work->rho);
        newton_direction(model, work, here, report);
        double slope = ct_vecn_blas_dot(work->r, work->d, n);
        if (!(slope < 0)) return false;
        ct_solve_point trial;
        double length = search(model, work, slope, here, &trial, report);
        if (length == 0) return false;
        ct_phi_foresee(model, work, &work->at, length, work->d);
        swap(&work->r, &work->r_trial);
        *here = trial;
        report->iterations++;
    }
    return here->norm <= work->target;
}

// ---- entry points --------------------------------------------------------------------------

// Round-off of the joints' rows: forces times arms, which cancel in them, with link frames that are products
// along the tree.
static double joint_roundoff(const ct_model* model, const ct_work* work) {
    const ct_tree* tree = &model->tree;
    double force = 0, rows = 0;
    for (int i = 0; i < tree->start[tree->nlink]; i++) {
        const double* f = work->force + 3 * (size_t)tree->node[i];
        force += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }
    for (int j = 0; j < tree->ndof; j++) rows += 1 / (tree->scale[j] * tree->scale[j]);
    return 4 * 2.2e-16 * tree->nlink * force * model->geometry.extent * sqrt(rows);
}

// How much farther than the rest shape the nodes are from the origin: positions, and with them forces, are
// rounded the more.
static double distance(const ct_model* model, const ct_work* work) {
    double farthest = model->geometry.extent;
    for (int v = 0; v < model->nvert; v++) {
        const double *x = work->at.x + 3 * (size_t)v, weight = model->mass[v] > 0;
        for (int a = 0; a < 3; a++)
            if (weight * fabs(x[a]) > farthest) farthest = fabs(x[a]);
    }
    return model->geometry.extent > 0 ? farthest / model->geometry.extent : 1;
}

// Residual at the predictor sets the reference: |r| + |B^T f|, independent of the origin, but not below
// round-off. Weight and buoyancy cancel in f, and count.
ct_solve_point ct_solve_begin(const ct_model* model, ct_work* work, ct_step_report* report) {
    size_t n = (size_t)model->nunknown;
    ct_solve_point here;
    here.phi = ct_phi_evaluate(model, work, &work->at, work->r, report);
    here.norm = ct_vecn_blas_norm(work->r, n);
    const double away = distance(model, work);
    double roundoff = model->system.roundoff * away + (model->tree.nlink ? joint_roundoff(model, work) : 0);
    ct_coords_pull(model, work, &work->at, work->force, work->scratch);
    double force =
        ct_vecn_blas_norm(work->scratch, n) + ct_water_displaced_weight(model->families.of[CT_FAMILY_WATER]);
    work->reference =
        fmax(work->load ? work->load_scale : here.norm + force, roundoff / model->settings.tolerance);
    work->reference = fmax(work->reference, work->least);
    work->target = model->settings.tolerance * work->reference;
    // positions are rounded to eps |x|, against forces of the size of the reference and those of inertia
    double farthest = model->geometry.extent * away,
           inertia = ct_inertia_pull(&model->inertia, work->families.of[CT_FAMILY_INERTIA], &work->step,
                                     work->at.x);
    work->resolution = model->system.energy_roundoff +
                       4.4e-16 * fmax(farthest, model->geometry.extent) * (work->reference + inertia);
    return here;
}

ct_status ct_solve_finish(const ct_work* work, const ct_solve_point* here, bool converged,
                          ct_step_report* report) {
    report->residual = here->norm;
    report->reference = work->reference;
    return converged ? CT_OK : CT_NOT_CONVERGED;
}

// Sheets: Newton's method with foreseen stress, and with a factor that is made anew within the step.
ct_status ct_solve_newton(const ct_model* model, ct_work* work, ct_step_report* report) {
    ct_solve_point here = ct_solve_begin(model, work, report);
    if (!isfinite(here.phi) || !isfinite(here.norm)) return CT_NOT_CONVERGED;
    // stages begin where nodes have hardly turned since the first one, and so do more rounds of one with
    // links
    const bool near = work->preconditioner.warped && (model->tree.nlink == 0 || work->least > 0);
    if (here.norm > work->target && !near)
        ct_precondition_warp(model, &work->preconditioner, &work->at, work->rho);
    ct_solve_account_begin(model, work);
    bool converged = fast_path(model, work, &here, report) || newton_path(model, work, &here, report);
    return ct_solve_finish(work, &here, converged, report);
}
