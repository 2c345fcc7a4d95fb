// Methods of NLopt, which is used by this file alone and loaded when it is (nlopt_library.h).
//
// MMA (Svanberg 2002) and SLSQP (Kraft 1988) go by gradients. Their first step is the gradient itself. The
// loss is handed over times a factor s that makes this step sensible in any unit: s g changes no parameter by
// more than FIRST_STEP, and is the whole way where L is a square, L = k d^2 / 2, g = k d:
//   s = min(FIRST_STEP / |g|_inf, 2 L / |g|^2).
//
// BOBYQA (Powell 2009) and the simplex of Nelder and Mead (1965) go by losses alone, handed over as multiples
// of the first one. Their first steps are the spread, or a quarter of the way between two bounds. They begin
// by varying one parameter after the other, n evaluations at least, and take 6 n^2 and n^2 numbers. So the
// parameters are shuffled, and only as many of them are searched as there are evaluations left: within these
// the methods would not come to the others anyway. More than SEARCHED_MOST are never searched at a time; a
// restart takes others.
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "optim/nlopt_library.h"
#include "optim/search.h"

enum { SLSQP_MOST = 2000, SEARCHED_MOST = 2000 };  // both keep dense matrices
#define FIRST_STEP 0.3

typedef struct bridge {
    ct_search* search;
    ct_nlopt nlopt;
    ct_nlopt_optimizer optimizer;
    bool with_gradient;
    double* gradient;                  // size, where NLopt asks for none
    double scale;                      // of the loss; 0: not yet known
    int count;                         // parameters that are searched
    int* chosen;                       // count: which, in this order; NULL: all
    double* full;                      // size: where NLopt looks, with those that stay
    double *x, *lower, *upper, *step;  // count each
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
        b->nlopt.force_stop(b->optimizer);
        return HUGE_VAL;
    }
    if (b->scale == 0) b->scale = first_scale(loss, gradient, (int)n);
    for (unsigned i = 0; i < n; i++) gradient[i] *= b->scale;
    return b->scale * loss;
}

static double look(bridge* b, const double* x) {
    for (int i = 0; i < b->count; i++) b->full[b->chosen[i]] = fmin(fmax(x[i], b->lower[i]), b->upper[i]);
    double loss = ct_search_evaluate(b->search, b->full, NULL);
    if (b->scale == 0) b->scale = loss != 0 && isfinite(1 / loss) ? 1 / fabs(loss) : 1;
    return b->scale * loss;
}

static double objective_alone(unsigned n, const double* x, double* gradient, void* user) {
    (void)n, (void)gradient;
    bridge* b = user;
    double loss = look(b, x);
    if (b->search->stop) b->nlopt.force_stop(b->optimizer);
    return b->search->stop ? HUGE_VAL : loss;
}

// ---- setting up ----------------------------------------------------------------------------

static const char* algorithm_of(ct_method method) {
    switch (method) {
    case CT_METHOD_MMA: return "LD_MMA";
    case CT_METHOD_SLSQP: return "LD_SLSQP";
    case CT_METHOD_BOBYQA: return "LN_BOBYQA";
    default: return "LN_NELDERMEAD";
    }
}

static const char* reason_of(int result) {
    switch (result) {
    case CT_NLOPT_FTOL_REACHED: return "the loss changes by less than the tolerance";
    case CT_NLOPT_XTOL_REACHED: return "the parameters no longer change";
    case CT_NLOPT_ROUNDOFF_LIMITED: return "round-off allows no further progress";
    case CT_NLOPT_FAILURE: return "the method finds no further progress";
    default: return "a minimum is found";
    }
}

static bool set_up(const bridge* b) {
    const ct_search* search = b->search;
    const ct_nlopt* nlopt = &b->nlopt;
    ct_nlopt_optimizer o = b->optimizer;
    return nlopt->set_min_objective(o, b->with_gradient ? objective : objective_alone, (void*)b) > 0 &&
           nlopt->set_lower_bounds(o, b->lower) > 0 && nlopt->set_upper_bounds(o, b->upper) > 0 &&
           nlopt->set_ftol_rel(o, search->def.tolerance) > 0 &&
           nlopt->set_maxeval(o, search->def.iterations - search->iteration + 1) > 0 &&
           (b->with_gradient || nlopt->set_initial_step(o, b->step) > 0);
}

static ct_status minimise(bridge* b) {
    ct_search* search = b->search;
    double least;
    int algorithm = b->nlopt.algorithm_from_string(algorithm_of(search->def.method));
    b->optimizer = b->nlopt.create(algorithm, (unsigned)b->count);
    if (!b->optimizer || !set_up(b)) return ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    int result = b->nlopt.optimize(b->optimizer, b->x, &least);
    if (result == CT_NLOPT_OUT_OF_MEMORY) return ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    if (result == CT_NLOPT_INVALID_ARGS && search->iteration == 0)
        return ct_fail(search->error, CT_BAD_ARGUMENT, "the bounds of a parameter contradict each other");
    if (!search->stop) search->reason = reason_of(result);
    return CT_OK;
}

static ct_status search_with_gradient(bridge* b) {
    ct_search* search = b->search;
    if (search->def.method == CT_METHOD_SLSQP && search->size > SLSQP_MOST)
        return ct_fail(search->error, CT_BAD_ARGUMENT,
                       "slsqp is meant for at most %d parameters, there are %d; use lbfgs or mma", SLSQP_MOST,
                       search->size);
    b->with_gradient = true;
    b->count = search->size;
    b->x = search->y;
    b->lower = (double*)search->lower;
    b->upper = (double*)search->upper;
    b->gradient = ct_alloc((size_t)search->size, sizeof(double));
    ct_status status = b->gradient ? minimise(b) : ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory");
    ct_free(b->gradient);
    return status;
}

// ---- without gradients ---------------------------------------------------------------------

// Those that have room between their bounds, in random order (Fisher and Yates).
static void choose(bridge* b) {
    ct_search* search = b->search;
    int free = 0, left = search->def.iterations - search->iteration,
        most = left < SEARCHED_MOST ? left : SEARCHED_MOST;
    for (int i = 0; i < search->size; i++)
        if (search->lower[i] < search->upper[i]) b->chosen[free++] = i;
    for (int i = 0; i + 1 < free; i++) {
        int k = i + ct_rng_index(&search->random, free - i), chosen = b->chosen[k];
        b->chosen[k] = b->chosen[i];
        b->chosen[i] = chosen;
    }
    b->count = free < most ? free : most;
    for (int i = 0; i < b->count; i++) {
        int k = b->chosen[i];
        b->x[i] = search->y[k];
        b->lower[i] = search->lower[k];
        b->upper[i] = search->upper[k];
        b->step[i] = fmin(search->def.spread, 0.25 * (b->upper[i] - b->lower[i]));
    }
}

// BOBYQA moves a start that is nearer to a bound than its first step.
static bool is_start_moved(const bridge* b) {
    for (int i = 0; i < b->count; i++) {
        double below = b->x[i] - b->lower[i], above = b->upper[i] - b->x[i];
        if ((below > 0 && below < b->step[i]) || (above > 0 && above < b->step[i])) return true;
    }
    return false;
}

static ct_status search_alone(bridge* b) {
    ct_search* search = b->search;
    ct_arena arena = {0};
    size_t n = (size_t)search->size;
    b->chosen = ct_arena_alloc(&arena, n, sizeof(int));
    b->full = ct_arena_copy(&arena, search->y, n, sizeof(double));
    double** vectors[] = {&b->x, &b->lower, &b->upper, &b->step};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        *vectors[k] = ct_arena_alloc(&arena, n, sizeof(double));
    ct_status status = arena.failed ? ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    if (status == CT_OK) {
        choose(b);
        if (b->count == 0 || (search->def.method == CT_METHOD_BOBYQA && is_start_moved(b))) look(b, b->x);
        if (!search->stop && b->count == 0) search->reason = "the bounds leave nothing to search";
        else if (!search->stop) status = minimise(b);
    }
    ct_arena_free(&arena);
    return status;
}

ct_status ct_search_nlopt(ct_search* search) {
    bridge b = {.search = search};
    bool alone = search->def.method == CT_METHOD_BOBYQA || search->def.method == CT_METHOD_NELDER_MEAD;
    ct_status status = ct_nlopt_open(&b.nlopt, NULL, ct_method_name(search->def.method), search->error);
    if (status != CT_OK) return status;
    status = alone ? search_alone(&b) : search_with_gradient(&b);
    b.nlopt.destroy(b.optimizer);
    ct_nlopt_close(&b.nlopt);
    return status;
}
