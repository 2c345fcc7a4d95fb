// Solving one step: a stationary point of the incremental potential Phi.
#ifndef CT_STEP_SOLVE_H
#define CT_STEP_SOLVE_H

#include "step/work.h"

typedef struct ct_solve_point {
    double phi;   // J
    double norm;  // |r|, N
} ct_solve_point;
// Evaluates at work->at, the predictor, into work->r, and sets the step's reference and target from it.
ct_solve_point ct_solve_begin(const ct_model* model, ct_work* work, ct_step_report* report);
// Sheets: Newton's method with foreseen stress, and with a factor that is made anew within the step. Begins
// both where there are sheets.
void ct_solve_account_begin(const ct_model* model, ct_work* work);
// What a linear solve tells about the factor: with a good one it takes two iterations, and finds no negative
// curvature.
void ct_solve_account(ct_work* work, const ct_krylov_report* inner);
// Makes the factor anew at work->at, not yet warped, where the iterations beyond those of a good one have
// added up; false: it stays.
bool ct_solve_renew(const ct_model* model, ct_work* work, ct_step_report* report);
ct_status ct_solve_finish(const ct_work* work, const ct_solve_point* here, bool converged,
                          ct_step_report* report);

// Starts from work->at (the predictor) and leaves the solution there; CT_NOT_CONVERGED with report->residual
// when the residual does not get below the target.
ct_status ct_solve_newton(const ct_model* model, ct_work* work, ct_step_report* report);

#endif
