// Contact with Coulomb friction on a compliance matrix; see friction.h.
//
// Newton's method (friction_newton.h) first. Where that does not help, and at a cold start, sweeps of
// Gauss-Seidel take over (friction_sweep.h), or, where W is not stored, softer problems.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "contact/friction_newton.h"
#include "contact/friction_sweep.h"

#define FAR 0.5     // residual of a start that is far off
#define LOST 0.05   // residual from which Newton's method does not find the sets by itself
#define ROUGH 1e-2  // residual of a problem that is softer than the one to be solved

enum {
    NEWTON_FIRST = 12,  // steps of the first round
    NEWTON_LATER = 6,   // of each further one
    NEWTON_MANY = 24,   // of each, where W is not stored
    HALVINGS = 1,       // of a step
    HALVINGS_FAR = 4,   // where W is not stored and the start is far off
    ROUND_LIMIT = 4     // of sweeps, then Newton's method
};

// Sweeps of a round; of the first when the start is far off.
static const int sweeps[ROUND_LIMIT] = {3, 40, 120, 600};

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

// Where W is not stored there are no sweeps. Softer contacts are easier to sort out: the problem is solved
// roughly with additional compliance, of less and less of the contacts' own. F: start and result.
static ct_status soften(const ct_friction_problem* def, ct_friction_work* work, double* F,
                        ct_friction_merit* now, ct_friction_report* report) {
    ct_friction_problem softer = *def;
    softer.eps = work->eps;
    ct_status status = CT_OK;
    for (double part = 0.3; part > 1e-3 && !status; part *= 0.2) {
        for (int c = 0; c < def->count; c++)
            work->eps[c] = def->eps[c] + part * ct_friction_matrix_own(def->matrix, c);
        ct_friction_prepare(&softer, work);
        ct_friction_motion(&softer, work, F, work->u);
        *now = ct_friction_measure(&softer, work, F, work->u, NULL);
        status = ct_friction_newton(&softer, work, ROUGH, NEWTON_FIRST, F, now, report);
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
    for (int round = 0; round < ROUND_LIMIT && ct_friction_residual(best) > tolerance; round++) {
        const bool stored = def->matrix->W;
        work->halvings = !stored && (round > 0 || ct_friction_residual(now) > FAR) ? HALVINGS_FAR : HALVINGS;
        const int limit = !stored ? NEWTON_MANY : round ? NEWTON_LATER : NEWTON_FIRST;
        if (stored && (round > 0 || ct_friction_residual(now) > 0.1))
            status = ct_friction_sweep(def, work, sweeps[round], F, &now, report);
        if (!status && !stored && round > 0 && ct_friction_residual(now) > LOST)
            status = soften(def, work, F, &now, report);
        if (!status) status = ct_friction_newton(def, work, tolerance, limit, F, &now, report);
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
