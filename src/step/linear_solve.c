// The linear system of a step; see linear_solve.h.
#include "step/linear_solve.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"
#include "step/link_stages.h"
#include "step/phi.h"

enum { GMRES_RESTART = 60, SOLVE_LIMIT = 2000 };

typedef struct linear_context {
    const ct_model* model;
    ct_work* work;
    const ct_config* config;
    ct_backward_report* report;
} linear_context;

static void hessian_product(const double* in, double* out, void* user) {
    linear_context* context = user;
    ct_phi_hessian(context->model, context->work, context->config, in, out);
}

static void precondition(const double* in, double* out, void* user) {
    linear_context* context = user;
    ct_precondition_apply(context->model, &context->work->preconditioner, context->config, in, out);
    context->report->solves++;
}

// With links; phi.dx is then B in.
static void links_product(const double* in, double* out, void* user) {
    linear_context* context = user;
    ct_phi_hessian(context->model, context->work, context->config, in, out);
    ct_link_stages_product(context->model, context->work, context->config, context->work->phi.dx, in, out);
}

static void links_transposed(const double* in, double* out, void* user) {
    linear_context* context = user;
    ct_phi_hessian(context->model, context->work, context->config, in, out);
    ct_link_stages_transposed(context->model, context->work, context->config, context->work->phi.dx, in, out);
}

static ct_status reserve(const ct_model* model, ct_krylov_work** gmres) {
    return *gmres ? CT_OK : ct_krylov_work_create(gmres, model->nunknown, GMRES_RESTART);
}

ct_status ct_linear_solve_links(const ct_model* model, ct_work* work, const ct_config* config,
                                ct_krylov_work** gmres, bool transposed, const double* right, double* y,
                                ct_backward_report* report) {
    size_t n = (size_t)model->nunknown;
    double size = ct_vecn_norm(right, n);
    memset(y, 0, n * sizeof(double));
    if (size == 0) return CT_OK;
    ct_status status = reserve(model, gmres);
    if (status != CT_OK) return status;
    linear_context context = {model, work, config, report};
    ct_krylov_def def = {.n = (int)n,
                         .apply = transposed ? links_transposed : links_product,
                         .precondition = precondition,
                         .user = &context,
                         .tolerance = model->settings.tolerance * size,
                         .max_iterations = SOLVE_LIMIT};
    ct_krylov_report inner;
    ct_gmres(&def, *gmres, right, y, &inner);
    report->max_residual = fmax(report->max_residual, inner.residual / size);
    return inner.residual <= fmax(def.tolerance, 1e-9 * size) ? CT_OK : CT_NOT_CONVERGED;
}

// Conjugate gradients; GMRES where the Hessian is not positive definite.
ct_status ct_linear_solve(const ct_model* model, ct_work* work, const ct_config* config,
                          ct_krylov_work** gmres, const double* right, double* y,
                          ct_backward_report* report) {
    size_t n = (size_t)model->nunknown;
    double size = ct_vecn_norm(right, n);
    memset(y, 0, n * sizeof(double));
    if (size == 0) return CT_OK;
    linear_context context = {model, work, config, report};
    ct_krylov_def def = {.n = (int)n,
                         .apply = hessian_product,
                         .precondition = precondition,
                         .user = &context,
                         .tolerance = model->settings.tolerance * size,
                         .max_iterations = SOLVE_LIMIT};
    ct_krylov_report inner;
    ct_pcg(&def, work->krylov, right, y, &inner);
    if (inner.end == CT_KRYLOV_NEGATIVE || inner.end == CT_KRYLOV_BREAKDOWN) {
        ct_status status = reserve(model, gmres);
        if (status != CT_OK) return status;
        ct_gmres(&def, *gmres, right, y, &inner);
    }
    report->max_residual = fmax(report->max_residual, inner.residual / size);
    // conjugate gradients may end at the round-off of their recursion; what counts is that the residual is
    // small
    return inner.residual <= fmax(def.tolerance, 1e-9 * size) ? CT_OK : CT_NOT_CONVERGED;
}
