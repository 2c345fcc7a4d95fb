// A search for the minimum of L(y) under bounds: what every method shares.
//
// Methods ask for L and its gradient through ct_search_evaluate, which counts, keeps the best, tells the caller, decides
// when to stop, and turns an evaluation that did not converge into a large loss that leads back to the best y.
#ifndef CT_OPTIM_OPTIMIZE_H
#define CT_OPTIM_OPTIMIZE_H

#include "cuttle.h"

typedef ct_status (*ct_function)(const double* y, double* loss, double* gradient, void* user, ct_error* error);

typedef struct ct_search {
    // what is minimised, and how
    ct_function function;
    void* function_user;
    ct_optimize_def def;
    int size;
    const double *lower, *upper;  // size; -inf, inf: none
    ct_on_progress progress;      // NULL: nobody listens
    void* progress_user;
    // state of the search
    double* y;                    // size, the start
    double* best_y;               // size
    double best, worst;           // losses so far; worst: the largest that converged
    double begun;                 // s
    int iteration, failures;      // evaluations, and those that did not converge
    bool stop;                    // set: the method must return
    const char* reason;           // why it stopped, static
    ct_status status;             // of an evaluation that ended the search
    ct_error* error;
} ct_search;

// Runs def.method from search->y, which is moved into the bounds; the best is in best_y and best. Arrays belong to the
// caller. The status is that of the search: stopping early is CT_OK.
ct_status ct_search_run(ct_search* search);
// Loss at y; gradient (size) is always filled. After a return with search->stop the values must not be used.
double ct_search_evaluate(ct_search* search, const double* y, double* gradient);

// Methods. They return when search->stop is set or, with search->reason set, when they see no further progress.
ct_status ct_search_lbfgs(ct_search* search);
ct_status ct_search_adam(ct_search* search);
ct_status ct_search_nlopt(ct_search* search);

#endif
