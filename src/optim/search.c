// Evaluations of a search: they are counted, the best is kept, the caller is told, and the search ends where
// it must; see search.h.
//
// An evaluation that does not converge counts as the parabola through the best point along the way to y,
//   L(y) = best + (bad - best) |y - y_best|^2 / d^2,  d = |y - y_best|,  bad = worst + 10 (1 + |worst|),
// so that a line search steps back from it; for methods that only compare losses it is worse than all others.
#include "optim/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/vecn.h"

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
    const double norm = gradient ? ct_vecn_norm(gradient, (size_t)search->size) : NAN;
    tell(search, y, result, norm);
    if (norm == 0 && search->iteration == 1)
        halt(search, "the gradient is exactly zero: nothing here depends on the parameters");
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
