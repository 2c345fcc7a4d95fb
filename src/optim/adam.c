// Adam (Kingma and Ba 2015) with bounds by projection:
//
//   m = b1 m + (1 - b1) g,  s = b2 s + (1 - b2) g^2,  y <- clamp(y - rate m' / (sqrt(s') + eps)),  m' = m /
//   (1 - b1^t), s' likewise
//
// The step does not depend on the loss's scale: eps is relative to the first gradient. An evaluation that
// fails goes back to the best y with half the rate and empty moments, and on from there with the gradient
// that it had. With a tolerance, the rate is halved
// whenever the best loss has not gained that much in PATIENCE steps; the search ends when it has become
// LEAST_RATE of the first.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "optim/search.h"

enum { PATIENCE = 20 };
#define LEAST_RATE 1e-3

typedef struct adam {
    double *y, *gradient, *mean, *square;  // size
    double* best_gradient;                 // size, at search->best_y
    double rate, epsilon;
    int time;  // steps since the moments were empty
} adam;

static void restart(const ct_search* search, adam* a) {
    size_t bytes = (size_t)search->size * sizeof(double);
    memcpy(a->y, search->best_y, bytes);
    memcpy(a->gradient, a->best_gradient, bytes);
    memset(a->mean, 0, bytes);
    memset(a->square, 0, bytes);
    a->rate *= 0.5;
    a->time = 0;
}

static void update(const ct_search* search, adam* a) {
    const double b1 = 0.9, b2 = 0.999;
    a->time++;
    double c1 = 1 - pow(b1, a->time), c2 = 1 - pow(b2, a->time);
    for (int i = 0; i < search->size; i++) {
        double g = a->gradient[i];
        a->mean[i] = b1 * a->mean[i] + (1 - b1) * g;
        a->square[i] = b2 * a->square[i] + (1 - b2) * g * g;
        double y = a->y[i] - a->rate * (a->mean[i] / c1) / (sqrt(a->square[i] / c2) + a->epsilon);
        a->y[i] = fmin(fmax(y, search->lower[i]), search->upper[i]);
    }
}

static double largest(const double* a, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

static void descend(ct_search* search, adam* a) {
    double mark = INFINITY;  // the best loss when patience began
    int marked = search->iteration, failures = search->failures;
    const size_t bytes = (size_t)search->size * sizeof(double);
    while (!search->stop) {
        ct_search_evaluate(search, a->y, a->gradient);
        if (search->stop) break;
        if (search->failures > failures) {
            failures = search->failures;
            restart(search, a);
            if (a->rate < LEAST_RATE * search->def.rate) {
                search->reason = "evaluations fail however near the best point they are";
                return;
            }
            update(search, a);
            continue;
        }
        if (!memcmp(a->y, search->best_y, bytes)) memcpy(a->best_gradient, a->gradient, bytes);
        if (a->epsilon == 0) a->epsilon = fmax(1e-10 * largest(a->gradient, search->size), DBL_MIN);
        if (!(mark - search->best <= search->def.tolerance * fabs(search->best)))
            mark = search->best, marked = search->iteration;
        if (search->iteration - marked >= PATIENCE && search->def.tolerance > 0)
            a->rate *= 0.5, marked = search->iteration;
        if (a->rate < LEAST_RATE * search->def.rate) {
            search->reason = "the loss changes by less than the tolerance";
            return;
        }
        update(search, a);
    }
}

ct_status ct_search_adam(ct_search* search) {
    size_t n = (size_t)search->size;
    ct_arena arena = {0};
    adam a = {.y = ct_arena_copy(&arena, search->y, n, sizeof(double)),
              .gradient = ct_arena_alloc(&arena, n, sizeof(double)),
              .mean = ct_arena_alloc(&arena, n, sizeof(double)),
              .square = ct_arena_alloc(&arena, n, sizeof(double)),
              .best_gradient = ct_arena_alloc(&arena, n, sizeof(double)),
              .rate = search->def.rate};
    ct_status status = arena.failed ? ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    if (status == CT_OK) descend(search, &a);
    ct_arena_free(&arena);
    return status;
}
