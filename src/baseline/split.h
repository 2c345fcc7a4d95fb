// A (sub-)step with contact by splitting, for comparison: the paper's iteration, its forerunner and their
// repairs. With contact.truncate a pass ends after that many iterations, whatever the residual.
#ifndef CT_BASELINE_SPLIT_H
#define CT_BASELINE_SPLIT_H

#include "model/solver.h"

extern const ct_solver_row ct_split_row;

#endif
