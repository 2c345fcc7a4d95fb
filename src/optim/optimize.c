// The search for the best parameters: dispatch, bookkeeping and stopping; see optimize.h.
//
// An evaluation that does not converge counts as the parabola through the best point along the way to y,
//   L(y) = best + (bad - best) |y - y_best|^2 / d^2,  d = |y - y_best|,  bad = worst + 10 (1 + |worst|),
// so that a line search steps back from it; for methods that only compare losses it is worse than all others.
//
// The start is y + noise N(0, 1), a restart best + spread N(0, 1), component by component, and clipped to the
// bounds.
#include "optim/optimize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/vecn.h"
#include "optim/problem.h"

enum { POPULATION_MOST = 1000000 };

// ---- one evaluation ------------------------------------------------------------------------

static void halt(ct_search* search, const char* reason) {
    if (!search->stop) search->reason = reason;
    search->stop = true;
}

// Gradient NULL: none was asked for.
static double lead_back(const ct_search* search, const double* y, double* gradient) {
    double bad = search->worst + 10 * (1 + fabs(search->worst)), square = 0;
    if (!gradient) return bad;
    for (int i = 0; i < search->size; i++) {
        gradient[i] = y[i] - search->best_y[i];
        square += gradient[i] * gradient[i];
    }
    for (int i = 0; i < search->size; i++) gradient[i] *= 2 * (bad - search->best) / fmax(square, DBL_MIN);
    return bad;
}

static void tell(ct_search* search, const double* y, const ct_evaluation* result, double gradient_norm) {
    bool failed = result->status != CT_OK;
    ct_progress progress = {.iteration = search->iteration,
                            .loss = failed ? NAN : result->loss,
                            .best = search->best,
                            .gradient_norm = gradient_norm,
                            .seconds = ct_clock() - search->begun,
                            .measure = failed ? NAN : result->measure,
                            .forward_seconds = result->forward_seconds,
                            .backward_seconds = result->backward_seconds,
                            .failed = failed,
                            .y = y,
                            .best_y = search->best_y};
    if (search->progress && !search->progress(&progress, search->progress_user))
        halt(search, "stopped by the caller");
    if (search->best <= search->def.target) halt(search, "the target is reached");
    if (search->iteration >= search->def.iterations) halt(search, "the iterations are used up");
}

static void abandon(ct_search* search, ct_status status) {
    search->status = status;
    halt(search, ct_status_text(status));
}

// Counts a point that was evaluated; gradient NULL: none was asked for. False: it did not converge, or the
// search must end.
static bool count(ct_search* search, const double* y, const double* gradient, const ct_evaluation* result) {
    search->iteration++;
    if (result->status != CT_OK) {
        search->failures++;
        // Without a first value there is nothing to go back to.
        if (result->status != CT_NOT_CONVERGED || search->failures == search->iteration)
            abandon(search, result->status);
        else tell(search, y, result, NAN);
        return false;
    }
    if (result->loss < search->best) {
        search->best = result->loss;
        memcpy(search->best_y, y, (size_t)search->size * sizeof(double));
    }
    search->worst = fmax(search->worst, result->loss);
    tell(search, y, result, gradient ? ct_vecn_norm(gradient, (size_t)search->size) : NAN);
    return true;
}

double ct_search_evaluate(ct_search* search, const double* y, double* gradient) {
    const ct_function* f = search->function;
    ct_evaluation result = {.loss = NAN, .measure = NAN};
    if (gradient) memset(gradient, 0, (size_t)search->size * sizeof(double));
    if (search->stop) return INFINITY;
    ct_status status = f->evaluate(1, y, gradient, &result, f->user, search->error);
    if (status != CT_OK) {
        abandon(search, status);
        return INFINITY;
    }
    if (count(search, y, gradient, &result)) return result.loss;
    return search->status == CT_OK ? lead_back(search, y, gradient) : INFINITY;
}

// One set of points, all of them.
static void evaluate_set(ct_search* search, int number, const double* y, double* losses) {
    const ct_function* f = search->function;
    if (!ct_reserve((void**)&search->results, &search->result_capacity, (size_t)number,
                    sizeof *search->results)) {
        abandon(search, ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory"));
        return;
    }
    for (int i = 0; i < number; i++) search->results[i] = (ct_evaluation){.loss = NAN, .measure = NAN};
    ct_status status = f->evaluate(number, y, NULL, search->results, f->user, search->error);
    if (status != CT_OK) abandon(search, status);
    for (int i = 0; i < number && !search->stop; i++)
        losses[i] = count(search, y + (size_t)i * (size_t)search->size, NULL, &search->results[i])
                        ? search->results[i].loss
                        : INFINITY;
}

void ct_search_evaluate_many(ct_search* search, int number, const double* y, double* losses) {
    for (int i = 0; i < number; i++) losses[i] = INFINITY;
    for (int done = 0; done < number && !search->stop;) {
        int left = search->def.iterations - search->iteration, set = number - done;
        if (search->function->most > 0 && set > search->function->most) set = search->function->most;
        if (set > left) set = left;
        evaluate_set(search, set, y + (size_t)done * (size_t)search->size, losses + done);
        done += set;
    }
}

// ---- the search ----------------------------------------------------------------------------

static ct_status check_def(const ct_optimize_def* def, ct_error* error) {
    if (def->iterations < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "iterations must be 1 at least, it is %d", def->iterations);
    if (!(def->rate > 0 && isfinite(def->rate)))
        return ct_fail(error, CT_BAD_ARGUMENT, "rate must be above 0, it is %g", def->rate);
    if (!(def->tolerance >= 0))
        return ct_fail(error, CT_BAD_ARGUMENT, "tolerance must not be negative, it is %g", def->tolerance);
    if (isnan(def->target)) return ct_fail(error, CT_BAD_ARGUMENT, "target must be a number");
    if (def->restarts < 0)
        return ct_fail(error, CT_BAD_ARGUMENT, "restarts must not be negative, it is %d", def->restarts);
    if (!(def->noise >= 0 && isfinite(def->noise)))
        return ct_fail(error, CT_BAD_ARGUMENT, "noise must not be negative, it is %g", def->noise);
    if (!(def->spread > 0 && isfinite(def->spread)))
        return ct_fail(error, CT_BAD_ARGUMENT, "spread must be above 0, it is %g", def->spread);
    if (def->population != 0 && (def->population < 4 || def->population > POPULATION_MOST))
        return ct_fail(
            error, CT_BAD_ARGUMENT,
            "population must be from 4 to %d, or 0 for a choice by the number of parameters; it is %d",
            POPULATION_MOST, def->population);
    if ((unsigned)def->method > CT_METHOD_NELDER_MEAD)
        return ct_fail(error, CT_BAD_ARGUMENT, "there is no method %d", (int)def->method);
    return CT_OK;
}

static ct_status check_function(const ct_search* search, ct_error* error) {
    if (!search->function->evaluate)
        return ct_fail(error, CT_BAD_ARGUMENT, "the function has nothing that evaluates it");
    if (search->size < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "there is nothing to search: the function's size is %d",
                       search->size);
    for (int i = 0; i < search->size; i++)
        if (!(search->lower[i] <= search->upper[i]))
            return ct_fail(error, CT_BAD_ARGUMENT,
                           "bounds of number %d are %g and %g: the first must not be above the second", i,
                           search->lower[i], search->upper[i]);
    return CT_OK;
}

static const double* bounds_or(ct_arena* arena, const double* given, size_t n, double none) {
    double* own = given ? NULL : ct_arena_alloc(arena, n, sizeof *own);
    for (size_t i = 0; own && i < n; i++) own[i] = none;
    return given ? given : own;
}

// search->y = clamp(center + deviation N(0, 1))
static void start_around(ct_search* search, const double* center, double deviation) {
    for (int i = 0; i < search->size; i++) {
        double y = deviation > 0 ? center[i] + deviation * ct_rng_normal(&search->random) : center[i];
        search->y[i] = fmin(fmax(y, search->lower[i]), search->upper[i]);
    }
}

static ct_status run_method(ct_search* search) {
    switch (search->def.method) {
    case CT_METHOD_LBFGS: return ct_search_lbfgs(search);
    case CT_METHOD_ADAM: return ct_search_adam(search);
    case CT_METHOD_CMAES: return ct_search_cmaes(search);
    case CT_METHOD_EVOLUTION: return ct_search_evolution(search);
    default: return ct_search_nlopt(search);
    }
}

static ct_status run(ct_search* search) {
    ct_status status = CT_OK;
    start_around(search, search->y, search->def.noise);
    memcpy(search->best_y, search->y, (size_t)search->size * sizeof(double));
    for (; status == CT_OK && !search->stop && search->round <= search->def.restarts; search->round++) {
        if (search->round > 0) start_around(search, search->best_y, search->def.spread);
        search->reason = NULL;
        status = run_method(search);
    }
    if (search->status != CT_OK) return search->status;
    if (status == CT_OK) ct_error_clear(search->error);  // of evaluations that the search got over
    return status;
}

ct_status ct_function_optimize(const ct_function* function, const ct_optimize_def* def, double* y,
                               ct_on_progress progress, void* user, ct_optimize_report* report,
                               ct_error* error) {
    ct_error own;
    size_t n = function->size > 0 ? (size_t)function->size : 0;
    ct_arena arena = {0};
    ct_search search = {.function = function,
                        .def = *def,
                        .size = function->size,
                        .lower = bounds_or(&arena, function->lower, n, -INFINITY),
                        .upper = bounds_or(&arena, function->upper, n, INFINITY),
                        .progress = progress,
                        .progress_user = user,
                        .y = ct_arena_copy(&arena, y, n, sizeof(double)),
                        .best_y = ct_arena_copy(&arena, y, n, sizeof(double)),
                        .best = INFINITY,
                        .worst = -INFINITY,
                        .begun = ct_clock(),
                        .random = {def->seed},
                        .error = error ? error : &own};
    ct_error_clear(search.error);
    ct_status status =
        arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : check_def(def, search.error);
    if (status == CT_OK) status = check_function(&search, search.error);
    if (status == CT_OK) {
        status = run(&search);
        memcpy(y, search.best_y, n * sizeof(double));
    }
    if (report) {
        *report = (ct_optimize_report){.iterations = search.iteration,
                                       .failures = search.failures,
                                       .loss = search.best,
                                       .seconds = ct_clock() - search.begun,
                                       .reason = search.reason};
    }
    ct_free(search.results);
    ct_arena_free(&arena);
    return status;
}

// ---- of a problem --------------------------------------------------------------------------

static ct_status evaluate_problem(int number, const double* y, double* gradients, ct_evaluation* results,
                                  void* user, ct_error* error) {
    size_t n = (size_t)ct_problem_size(user);
    for (int i = 0; i < number; i++) {
        ct_problem_report report;
        double* gradient = gradients ? gradients + (size_t)i * n : NULL;
        results[i].status =
            ct_problem_evaluate(user, y + (size_t)i * n, &results[i].loss, gradient, &report, error);
        results[i].measure = report.measure;
        results[i].forward_seconds = report.forward.seconds;
        results[i].backward_seconds = report.backward.seconds;
    }
    return CT_OK;
}

ct_status ct_problem_optimize(ct_problem* problem, const ct_optimize_def* def, double* y,
                              ct_on_progress progress, void* user, ct_optimize_report* report,
                              ct_error* error) {
    size_t n = (size_t)ct_problem_size(problem);
    ct_arena arena = {0};
    double *lower = ct_arena_alloc(&arena, n, sizeof(double)),
           *upper = ct_arena_alloc(&arena, n, sizeof(double));
    ct_function function = {.size = (int)n,
                            .lower = lower,
                            .upper = upper,
                            .evaluate = evaluate_problem,
                            .user = problem,
                            .most = 1};
    ct_status status = CT_OUT_OF_MEMORY;
    if (arena.failed) {
        ct_fail(error, status, "out of memory");
        if (report) *report = (ct_optimize_report){.loss = INFINITY, .reason = ct_status_text(status)};
    } else {
        ct_problem_bounds(problem, lower, upper);
        status = ct_function_optimize(&function, def, y, progress, user, report, error);
    }
    ct_arena_free(&arena);
    return status;
}
