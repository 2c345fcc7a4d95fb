// The search for the best parameters: dispatch, bookkeeping and stopping; see optimize.h.
//
// An evaluation that does not converge counts as the parabola through the best point along the way to y,
//   L(y) = best + (bad - best) |y - y_best|^2 / d^2,  d = |y - y_best|,  bad = worst + 10 (1 + |worst|),
// so that a line search steps back from it.
#include "optim/optimize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "optim/problem.h"

static double norm(const double* a, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

// ---- one evaluation ------------------------------------------------------------------------

static void halt(ct_search* search, const char* reason) {
    if (!search->stop) search->reason = reason;
    search->stop = true;
}

static double lead_back(const ct_search* search, const double* y, double* gradient) {
    double bad = search->worst + 10 * (1 + fabs(search->worst)), square = 0;
    for (int i = 0; i < search->size; i++) {
        gradient[i] = y[i] - search->best_y[i];
        square += gradient[i] * gradient[i];
    }
    for (int i = 0; i < search->size; i++) gradient[i] *= 2 * (bad - search->best) / fmax(square, DBL_MIN);
    return bad;
}

static void tell(ct_search* search, const double* y, double loss, double gradient_norm, bool failed) {
    ct_progress progress = {.iteration = search->iteration,
                            .loss = loss,
                            .best = search->best,
                            .gradient_norm = gradient_norm,
                            .seconds = ct_clock() - search->begun,
                            .failed = failed,
                            .y = y,
                            .best_y = search->best_y};
    if (search->progress && !search->progress(&progress, search->progress_user)) halt(search, "stopped by the caller");
    if (search->best <= search->def.target) halt(search, "the target is reached");
    if (search->iteration >= search->def.iterations) halt(search, "the iterations are used up");
}

static double count_failure(ct_search* search, const double* y, double* gradient, ct_status status) {
    search->failures++;
    // Without a first value there is nothing to go back to.
    if (status != CT_NOT_CONVERGED || search->failures == search->iteration) {
        search->status = status;
        halt(search, ct_status_text(status));
        return INFINITY;
    }
    double loss = lead_back(search, y, gradient);
    tell(search, y, NAN, NAN, true);
    return loss;
}

double ct_search_evaluate(ct_search* search, const double* y, double* gradient) {
    double loss;
    size_t bytes = (size_t)search->size * sizeof(double);
    memset(gradient, 0, bytes);
    if (search->stop) return INFINITY;
    search->iteration++;
    ct_status status = search->function(y, &loss, gradient, search->function_user, search->error);
    if (status != CT_OK) return count_failure(search, y, gradient, status);
    if (loss < search->best) {
        search->best = loss;
        memcpy(search->best_y, y, bytes);
    }
    search->worst = fmax(search->worst, loss);
    tell(search, y, loss, norm(gradient, search->size), false);
    return loss;
}

// ---- the search ----------------------------------------------------------------------------

static ct_status check_def(const ct_optimize_def* def, ct_error* error) {
    if (def->iterations < 1) return ct_fail(error, CT_BAD_ARGUMENT, "iterations must be 1 at least, it is %d", def->iterations);
    if (!(def->rate > 0 && isfinite(def->rate))) return ct_fail(error, CT_BAD_ARGUMENT, "rate must be above 0, it is %g", def->rate);
    if (!(def->tolerance >= 0)) return ct_fail(error, CT_BAD_ARGUMENT, "tolerance must not be negative, it is %g", def->tolerance);
    if (isnan(def->target)) return ct_fail(error, CT_BAD_ARGUMENT, "target must be a number");
    if ((unsigned)def->method > CT_METHOD_SLSQP) return ct_fail(error, CT_BAD_ARGUMENT, "there is no method %d", (int)def->method);
    return CT_OK;
}

ct_status ct_search_run(ct_search* search) {
    ct_status status = check_def(&search->def, search->error);
    if (status != CT_OK) return status;
    for (int i = 0; i < search->size; i++) {
        search->y[i] = fmin(fmax(search->y[i], search->lower[i]), search->upper[i]);
        search->best_y[i] = search->y[i];
    }
    search->best = INFINITY;
    search->worst = -INFINITY;
    search->begun = ct_clock();
    switch (search->def.method) {
        case CT_METHOD_LBFGS: status = ct_search_lbfgs(search); break;
        case CT_METHOD_ADAM: status = ct_search_adam(search); break;
        default: status = ct_search_nlopt(search);
    }
    if (search->status != CT_OK) return search->status;
    if (status == CT_OK) ct_error_clear(search->error);  // of evaluations that the search got over
    return status;
}

static ct_status evaluate_problem(const double* y, double* loss, double* gradient, void* user, ct_error* error) {
    return ct_problem_evaluate(user, y, loss, gradient, NULL, error);
}

ct_status ct_problem_optimize(ct_problem* problem, const ct_optimize_def* def, double* y, ct_on_progress progress, void* user,
                              ct_optimize_report* report, ct_error* error) {
    ct_error own;
    size_t n = (size_t)ct_problem_size(problem);
    ct_arena arena = {0};
    double *lower = ct_arena_alloc(&arena, n, sizeof(double)), *upper = ct_arena_alloc(&arena, n, sizeof(double));
    ct_search search = {.function = evaluate_problem,
                        .function_user = problem,
                        .def = *def,
                        .size = (int)n,
                        .lower = lower,
                        .upper = upper,
                        .progress = progress,
                        .progress_user = user,
                        .y = ct_arena_copy(&arena, y, n, sizeof(double)),
                        .best_y = ct_arena_alloc(&arena, n, sizeof(double)),
                        .error = error ? error : &own};
    ct_status status = CT_OUT_OF_MEMORY;
    ct_error_clear(search.error);
    if (arena.failed) {
        ct_fail(error, status, "out of memory");
    } else {
        ct_problem_bounds(problem, lower, upper);
        status = ct_search_run(&search);
        memcpy(y, search.best_y, n * sizeof(double));
    }
    if (report) {
        *report = (ct_optimize_report){.iterations = search.iteration, .failures = search.failures, .loss = search.best,
                                       .seconds = ct_clock() - search.begun, .reason = search.reason};
    }
    ct_arena_free(&arena);
    return status;
}
