// The default solver, as a row of the solver table: Newton's method on the incremental potential, with exact
// contact where the scene has any.
#ifndef CT_STEP_NEWTON_H
#define CT_STEP_NEWTON_H

#include "model/solver.h"

extern const ct_solver_row ct_newton_row;

#endif
