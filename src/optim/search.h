// A search for the minimum of L(y) under bounds: what every method shares.
//
// Methods ask for L, and for its gradient if they want it, through ct_search_evaluate or, for many points,
// ct_search_evaluate_many, which count, keep the best, tell the caller, decide when to stop, and turn an
// evaluation that did not converge into a large loss. Who evaluates is behind ct_function: one problem, or
// the workers of a batch.
#ifndef CT_OPTIM_SEARCH_H
#define CT_OPTIM_SEARCH_H

#include "cuttle.h"
#include "math/rng.h"

typedef struct ct_search {
    // what is minimised, and how
    const ct_function* function;
    ct_optimize_def def;
    int size;
    const double *lower, *upper;  // size
    ct_on_progress progress;      // NULL: nobody listens
    void* progress_user;
    // state of the search
    double* y;           // size, the start
    double* best_y;      // size
    double best, worst;  // losses so far; worst: the largest that converged
    double begun;        // s
    ct_rng random;
    int round;                // restarts so far
    int iteration, failures;  // evaluations, and those that did not converge
    bool stop;                // set: the method must return
    const char* reason;       // why it stopped, static
    ct_status status;         // of an evaluation that ended the search
    ct_error* error;
    ct_evaluation* results;  // of the points asked for last
    size_t result_capacity;
} ct_search;

// Loss at y, and its gradient (size) unless NULL; both lead away from y where the evaluation did not
// converge. After a return with search->stop the values must not be used.
double ct_search_evaluate(ct_search* search, const double* y, double* gradient);
// Losses at count points, in order; inf where an evaluation did not converge. The same holds after
// search->stop.
void ct_search_evaluate_many(ct_search* search, int count, const double* y, double* losses);

// Methods. They begin at search->y, and return when search->stop is set or, with search->reason set, when
// they see no further progress.
ct_status ct_search_lbfgs(ct_search* search);
ct_status ct_search_adam(ct_search* search);
ct_status ct_search_cmaes(ct_search* search);
ct_status ct_search_evolution(ct_search* search);
ct_status ct_search_nlopt(ct_search* search);

#endif
