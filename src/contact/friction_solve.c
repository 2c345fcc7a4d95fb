// Contact with Coulomb friction on a compliance matrix; see friction.h.
//
// Newton's method (friction_newton.h) first, at a cold start after sweeps of Gauss-Seidel (friction_sweep.h).
// Where that does not help, more sweeps and softer problems take turns.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "contact/friction_newton.h"
#include "contact/friction_sweep.h"

#define FAR 0.5     // residual of a start that is far off
#define COLD 0.1    // residual of a start from which sweeps are cheaper, where W is stored
#define LOST 0.05   // residual from which Newton's method does not find the sets by itself, where it is not
#define ROUGH 1e-2  // residual of a problem that is softer than the one to be solved
#define FINE 1e-3   // where W is stored

enum {
    NEWTON_LIMIT = 24,  // steps of a round
    NEWTON_SOFT = 12,   // of a softer problem
    HALVINGS = 1,       // of a step
    HALVINGS_FAR = 4,   // where W is not stored and the start is far off
    ROUND_LIMIT = 6,
    ROUND_LIMIT_MANY = 4
};

// What a round begins with: sweeps, of the first one only when the start is far off, or softer problems, with
// this much additional compliance, of the contacts' own, down to the least.
typedef struct round_start {
    int sweeps;
    double soft, step, least;
} round_start;
static const round_start rounds[ROUND_LIMIT] = {{.sweeps = 3},
                                                {.sweeps = 40},
                                                {.soft = 0.05, .step = 0.1, .least = 1e-2},
                                                {.soft = 0.3, .step = 0.2, .least = 5e-4},
                                                {.sweeps = 120},
                                                {.sweeps = 600}};
// Where W is not stored there are no sweeps.
static const round_start rounds_many[ROUND_LIMIT_MANY] = {{0},
                                                          {.soft = 0.3, .step = 0.2, .least = 1e-3},
                                                          {.soft = 0.3, .step = 0.2, .least = 1e-3},
                                                          {.soft = 0.3, .step = 0.2, .least = 1e-3}};

static ct_status simplify(const ct_friction_def* def, ct_friction_work* work, ct_friction_problem* out) {
    assert(def->rank <= CT_FRICTION_RANK);
    *out = (ct_friction_problem){.count = def->count,
                                 .matrix = def->W,
                                 .b = def->b,
                                 .base = def->base,
                                 .normal = def->normal,
                                 .mu = def->mu,
                                 .eps = def->eps,
                                 .inverse = def->inverse};
    ct_status status = ct_friction_system_reserve(&work->newton, def->count);
    if (status) return status;
    if (def->rank) out->addition = (ct_friction_addition){.rank = def->rank, .U = def->U, .M = def->M};
    ct_friction_system_borrow(&work->newton, out->matrix, &out->addition);
    // the factor of W with another addition is a good preconditioner
    if (out->matrix->stamp == 0 || out->matrix->stamp != work->stamp) work->newton.rank_count = -1;
    work->stamp = out->matrix->stamp;
    return CT_OK;
}

// Softer contacts are easier to sort out: the problem is solved roughly with additional compliance, of less
// and less of the contacts' own. F: start and result.
static ct_status soften(ct_friction_problem* def, ct_friction_work* work, const round_start* start, double* F,
                        ct_friction_merit* now, ct_friction_report* report) {
    ct_status status = ct_friction_join(def, work);
    ct_friction_problem softer = *def;
    softer.eps = work->eps;
    for (double part = start->soft; part > start->least && !status; part *= start->step) {
        for (int c = 0; c < def->count; c++)
            work->eps[c] = def->eps[c] + part * ct_friction_matrix_own(def->matrix, c);
        ct_friction_prepare(&softer, work);
        ct_friction_motion(&softer, work, F, work->u);
        *now = ct_friction_measure(&softer, work, F, work->u, NULL);
        status =
            ct_friction_newton(&softer, work, def->matrix->W ? FINE : ROUGH, NEWTON_SOFT, F, now, report);
    }
    ct_friction_prepare(def, work);
    ct_friction_motion(def, work, F, work->u);
    *now = ct_friction_measure(def, work, F, work->u, NULL);
    return status;
}

ct_status ct_friction_solve(const ct_friction_def* given, ct_friction_work* work, double tolerance, double* F,
                            unsigned char* set, ct_friction_report* report) {
    const size_t bytes = 3 * (size_t)given->count * sizeof(double);
    ct_friction_problem simple, *const def = &simple;
    *report = (ct_friction_report){.converged = given->count == 0};
    if (given->count == 0) return CT_OK;
    ct_status status = ct_friction_work_reserve(work, given->count);
    if (!status) status = simplify(given, work, def);
    if (status) return status;
    ct_friction_prepare(def, work);
    ct_friction_motion(def, work, F, work->u);
    ct_friction_merit now = ct_friction_measure(def, work, F, work->u, NULL), best = now;
    memcpy(work->F_best, F, bytes);
    const bool stored = def->matrix->W;
    const int limit = stored ? ROUND_LIMIT : ROUND_LIMIT_MANY;
    for (int round = 0; round < limit && ct_friction_residual(best) > tolerance; round++) {
        const round_start* start = (stored ? rounds : rounds_many) + round;
        work->halvings = !stored && (round > 0 || ct_friction_residual(now) > FAR) ? HALVINGS_FAR : HALVINGS;
        if (start->sweeps && (round > 0 || ct_friction_residual(now) > COLD))
            status = ct_friction_sweep(def, work, start->sweeps, F, &now, report);
        if (start->soft > 0 && (stored || ct_friction_residual(now) > LOST))
            status = soften(def, work, start, F, &now, report);
        if (!status) status = ct_friction_newton(def, work, tolerance, NEWTON_LIMIT, F, &now, report);
        if (status) return status;
        ct_friction_motion(def, work, F, work->u);  // without the round-off of many steps
        now = ct_friction_measure(def, work, F, work->u, NULL);
        if (ct_friction_residual(now) < ct_friction_residual(best) || !isfinite(best.square)) {
            best = now;
            memcpy(work->F_best, F, bytes);
        }
    }
    if (memcmp(F, work->F_best, bytes)) {
        memcpy(F, work->F_best, bytes);
        ct_friction_motion(def, work, F, work->u);
    }
    now = ct_friction_measure(def, work, F, work->u, set);
    report->residual = ct_friction_residual(now);
    report->violation = now.violation;
    report->converged = report->residual <= tolerance;
    report->stick = now.stick;
    report->slip = now.slip;
    return CT_OK;
}
