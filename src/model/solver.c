// Looking up a solver; see solver.h.
#include "model/solver.h"

const ct_solver_row* ct_solver_find(const ct_settings* settings) {
    for (const ct_solver_row* const* row = ct_solver_table; *row; row++)
        if ((*row)->serves(settings)) return *row;
    return NULL;
}
