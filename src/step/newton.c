// The default solver's row; see newton.h.
#include "step/newton.h"

#include <stdio.h>

#include "step/advice.h"
#include "step/contact_solve.h"
#include "step/solve.h"

static bool serves(const ct_settings* settings) { return settings->solver == CT_SOLVER_NEWTON; }

static ct_status solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                       ct_step_report* report) {
    return work->contact ? ct_contact_solve(model, work, state, time, h, report)
                         : ct_solve_newton(model, work, report);
}

static void advise(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    const ct_settings* settings = &model->settings;
    if (ct_advice_overlap(model, work, state, report) || ct_advice_eyelets(model, state, report)) return;
    if (ct_advice_crushed(model, work, report)) return;
    snprintf(report->message, sizeof report->message,
             "reduce time_step (now %g s), raise solver.max_iterations (%d) or solver.max_substep_depth "
             "(%d), or soften the load",
             settings->time_step, settings->max_iterations, settings->max_substep_depth);
}

const ct_solver_row ct_newton_row = {
    .name = "newton", .serves = serves, .refreshes = true, .halves = true, .solve = solve, .advise = advise};
