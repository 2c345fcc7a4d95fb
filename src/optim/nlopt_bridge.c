// Gradient methods of NLopt: MMA (Svanberg 2002), SLSQP (Kraft 1988).
//
// The methods' first step is the gradient itself. The loss is handed over times a factor s that makes this step sensible in any
// unit: s g changes no parameter by more than FIRST_STEP, and is the whole way where L is a square, L = k d^2 / 2, g = k d:
//   s = min(FIRST_STEP / |g|_inf, 2 L / |g|^2).
// NLopt is used by this file alone.
#include <math.h>
#include <nlopt.h>

#include "base/memory.h"
#include "base/status.h"
#include "optim/optimize.h"

enum { SLSQP_MOST = 2000 };  // it keeps a dense matrix
#define FIRST_STEP 0.3

typedef struct bridge {
    ct_search* search;
    nlopt_opt optimizer;
    double* gradient;    // size, where NLopt asks for none
    double scale;        // of the loss; 0: not yet known
} bridge;

static double first_scale(double loss, const double* gradient, int n) {
    double most = 0, square = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(gradient[i]));
    for (int i = 0; i < n && most > 0; i++) square += gradient[i] / most * (gradient[i] / most);
    double scale = FIRST_STEP / most;
    if (loss > 0) scale = fmin(scale, 2 * (loss / most / most) / square);
    return scale > 0 && isfinite(scale) ? scale : 1;
}

static double objective(unsigned n, const double* y, double* gradient, void* user) {
    bridge* b = user;
    if (!gradient) gradient = b->gradient;
    double loss = ct_search_evaluate(b->search, y, gradient);
    if (b->search->stop) {
        nlopt_force_stop(b->optimizer);
        return HUGE_VAL;
    }
    if (b->scale == 0) b->scale = first_scale(loss, gradient, (int)n);
    for (unsigned i = 0; i < n; i++) gradient[i] *= b->scale;
    return b->scale * loss;
}

static nlopt_algorithm algorithm_of(ct_method method) {
    return method == CT_METHOD_MMA ? NLOPT_LD_MMA : NLOPT_LD_SLSQP;
}

static const char* reason_of(nlopt_result result) {
    switch (result) {
        case NLOPT_FTOL_REACHED: return "the loss changes by less than the tolerance";
        case NLOPT_XTOL_REACHED: return "the parameters no longer change";
        case NLOPT_ROUNDOFF_LIMITED: return "round-off allows no further progress";
        case NLOPT_FAILURE: return "the method finds no further progress";
        default: return "a minimum is found";
    }
}

static bool set_up(bridge* b) {
    const ct_search* search = b->search;
    nlopt_opt o = b->optimizer;
    return nlopt_set_min_objective(o, objective, b) > 0 && nlopt_set_lower_bounds(o, search->lower) > 0 &&
           nlopt_set_upper_bounds(o, search->upper) > 0 && nlopt_set_ftol_rel(o, search->def.tolerance) > 0 &&
           nlopt_set_maxeval(o, search->def.iterations - search->iteration + 1) > 0;
}

static ct_status minimise(bridge* b) {
    ct_search* search = b->search;
    double least;
    if (!set_up(b)) return ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    nlopt_result result = nlopt_optimize(b->optimizer, search->y, &least);
    if (result == NLOPT_OUT_OF_MEMORY) return ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    if (result == NLOPT_INVALID_ARGS && search->iteration == 0)
        return ct_fail(search->error, CT_BAD_ARGUMENT, "the bounds of a parameter exclude each other");
    if (!search->stop) search->reason = reason_of(result);
    return CT_OK;
}

ct_status ct_search_nlopt(ct_search* search) {
    if (search->def.method == CT_METHOD_SLSQP && search->size > SLSQP_MOST)
        return ct_fail(search->error, CT_BAD_ARGUMENT, "slsqp is meant for at most %d parameters, there are %d; use lbfgs or mma",
                       SLSQP_MOST, search->size);
    bridge b = {.search = search,
                .optimizer = nlopt_create(algorithm_of(search->def.method), (unsigned)search->size),
                .gradient = ct_alloc((size_t)search->size, sizeof(double))};
    ct_status status = b.optimizer && b.gradient ? minimise(&b) : ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    nlopt_destroy(b.optimizer);
    ct_free(b.gradient);
    return status;
}
