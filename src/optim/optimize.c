// The search for the best parameters: checks, start, method and restarts; search.h has what the methods
// share.
//
// The start is y + noise N(0, 1), a restart best + spread N(0, 1), component by component, and clipped to the
// bounds.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "optim/problem.h"
#include "optim/search.h"

enum { POPULATION_MOST = 1000000 };

// ---- the search ----------------------------------------------------------------------------

static ct_status check_def(const ct_optimize_def* def, ct_error* error) {
    if (def->iterations < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "iterations must be at least 1, it is %d", def->iterations);
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
            "population must be from 4 to %d, or 0 to choose it from the number of parameters; it is %d",
            POPULATION_MOST, def->population);
    if ((unsigned)def->method > CT_METHOD_NELDER_MEAD)
        return ct_fail(error, CT_BAD_ARGUMENT, "there is no method %d", (int)def->method);
    return CT_OK;
}

static ct_status check_function(const ct_search* search, ct_error* error) {
    if (!search->function->evaluate)
        return ct_fail(error, CT_BAD_ARGUMENT, "the function has no callback that evaluates it");
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
    CT_NEED(error, def);
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
    CT_NEED(error, problem, def);
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
