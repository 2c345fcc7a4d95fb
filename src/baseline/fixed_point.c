// The adjoint system of one step, H lam = g, solved twice for comparison: as ct_backward does, and by the
// fixed point of DiffPD (Du et al. 2021) with the constant matrix A = c^2 M + c D + L of projective dynamics,
//   lam <- lam + A^-1 (g - H lam),
// each to the same relative residual. H is the exact Hessian at the end of the step.
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "baseline/projective.h"
#include "cuttle_profile.h"
#include "math/vecn.h"
#include "step/coords.h"
#include "step/phi.h"

#define DIVERGED 1e3  // residual over the first at which the fixed point is given up

typedef struct system_context {
    const ct_model* model;
    ct_work* work;
    const ct_config* config;
    const ct_projective_model* projective;
    ct_scalar_work* solve;
    double* rows;  // 3 nfree, as in the matrix
} system_context;

// CPU time where one thread works, so that what else runs on the machine does not count.
static double now(const ct_work* work) {
    return ct_threads_count(work->threads) > 1 ? ct_clock() : ct_clock_thread();
}

static void hessian(const double* in, double* out, void* user) {
    system_context* c = user;
    ct_phi_hessian(c->model, c->work, c->config, in, out);
}

static void precondition(const double* in, double* out, void* user) {
    system_context* c = user;
    ct_precondition_apply(c->model, &c->work->preconditioner, c->config, in, out);
}

static void run_krylov(system_context* c, const double* right, double* lam, double tolerance, int limit,
                       ct_adjoint_profile* profile) {
    size_t n = (size_t)c->model->nunknown;
    double size = ct_vecn_norm(right, n), started = now(c->work);
    memset(lam, 0, n * sizeof(double));
    ct_precondition_warp(c->model, &c->work->preconditioner, c->config, c->work->rho);
    ct_krylov_def def = {.n = (int)n,
                         .apply = hessian,
                         .precondition = precondition,
                         .user = c,
                         .tolerance = tolerance * size,
                         .max_iterations = limit};
    ct_krylov_report report;
    ct_pcg(&def, c->work->krylov, right, lam, &report);
    profile->seconds = now(c->work) - started;
    profile->iterations = report.iterations;
    profile->residual = report.residual / size;
    profile->converged = report.end == CT_KRYLOV_CONVERGED;
}

// lam += A^-1 r; the scalar factor has the free nodes in the order of their rows.
static void correct(const system_context* c, const double* r, double* lam) {
    double* rows = c->rows;
    for (int k = 0; k < c->model->nfree; k++)
        memcpy(rows + 3 * (size_t)c->model->row[c->model->node[k]], r + 3 * (size_t)k, 3 * sizeof(double));
    ct_scalar_factor_solve(c->projective->factor, c->solve, rows, rows);
    for (int k = 0; k < c->model->nfree; k++)
        for (int a = 0; a < 3; a++) lam[3 * k + a] += rows[3 * (size_t)c->model->row[c->model->node[k]] + a];
}

static void run_fixed_point(system_context* c, const double* right, double* lam, double* r, double tolerance,
                            int limit, ct_adjoint_profile* profile) {
    size_t n = (size_t)c->model->nunknown;
    double size = ct_vecn_norm(right, n), residual = size, started = now(c->work);
    int count = 0;
    memset(lam, 0, n * sizeof(double));
    memcpy(r, right, n * sizeof(double));
    while (residual > tolerance * size && residual < DIVERGED * size && count < limit) {
        correct(c, r, lam);
        hessian(lam, r, c);
        for (size_t i = 0; i < n; i++) r[i] = right[i] - r[i];
        residual = ct_vecn_norm(r, n);
        count++;
    }
    profile->fixed_seconds = now(c->work) - started;
    profile->fixed_iterations = count;
    profile->fixed_residual = residual / size;
    profile->fixed_converged = residual <= tolerance * size;
}

ct_status ct_profile_adjoint(const ct_model* model, ct_work* work, const ct_state* before,
                             const ct_state* after, const double* x_bar, double tolerance, int limit,
                             ct_adjoint_profile* profile) {
    memset(profile, 0, sizeof *profile);
    const ct_projective_model* projective =
        model->solver->model_factor == ct_projective_model_factor ? model->solver_part : NULL;
    if (!projective || model->nfree == 0 || model->settings.integrator != CT_INTEGRATOR_EULER ||
        !(tolerance > 0))
        return CT_BAD_ARGUMENT;
    if (model->tree.nlink) return CT_UNSUPPORTED;
    size_t n = (size_t)model->nunknown;
    ct_arena arena = {0};
    double *right = ct_arena_alloc(&arena, n, sizeof(double)),
           *lam = ct_arena_alloc(&arena, n, sizeof(double));
    double *r = ct_arena_alloc(&arena, n, sizeof(double)), *rows = ct_arena_alloc(&arena, n, sizeof(double));
    ct_scalar_work* solve = NULL;
    int unused = 0;
    ct_status status = arena.failed ? CT_OUT_OF_MEMORY : ct_scalar_work_create(&solve, projective->factor);
    if (status == CT_OK) status = ct_precondition_choose(model, &work->preconditioner, after, 0, &unused);
    if (status == CT_OK) {
        ct_config config = {.x = after->x};
        system_context context = {model, work, &config, projective, solve, rows};
        const ct_phi_start start = {.rate = ct_rate_euler(model->settings.time_step),
                                    .x = before->x,
                                    .v = before->v,
                                    .x_previous = before->x_previous,
                                    .v_previous = before->v_previous,
                                    .q = before->q,
                                    .q_previous = before->q_previous};
        ct_phi_begin(model, work, &start);
        ct_phi_linearise(model, work, &config, work->rho);
        ct_coords_pull(model, work, &config, x_bar, right);
        if (ct_vecn_norm(right, n) > 0) {
            run_krylov(&context, right, lam, tolerance, limit, profile);
            run_fixed_point(&context, right, lam, r, tolerance, limit, profile);
        } else {
            status = CT_BAD_ARGUMENT;
        }
    }
    ct_scalar_work_free(solve);
    ct_arena_free(&arena);
    return status;
}
