// The solvers, in the order in which they are asked; see model/solver.h. What we compare with meets the
// default here and nowhere else.
#include "baseline/projective.h"
#include "baseline/split.h"
#include "step/newton.h"

const ct_solver_row* const ct_solver_table[] = {&ct_newton_row, &ct_projective_row, &ct_split_row, NULL};
