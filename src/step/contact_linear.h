// The linear system of a (sub-)step with contacts at its solution, on its active sets (contact_solve.c),
//     A = [H    -J^T ]
//         [D J  dR/dF],
// for its derivatives: A y = b along a direction, A^T y = b for the adjoint. By GMRES with the
// preconditioner of the Newton steps or its transposed.
#ifndef CT_STEP_CONTACT_LINEAR_H
#define CT_STEP_CONTACT_LINEAR_H

#include "step/adjoint_past.h"
#include "step/work.h"

// Puts the recorded touches of a (sub-)step into work->contact, linearised at config, and takes their forces
// off work->rho. The potential is to be linearised afterwards.
ct_status ct_contact_linear_begin(const ct_model* model, ct_work* work, const ct_config* config,
                                  const ct_touch_record* touch, size_t count, const ct_contact_start* start);

typedef struct ct_contact_linear {
    size_t n;                             // unknowns; rows of the touches follow, three a slot
    double *b, *y;                        // right-hand side and solution: n + 3 slots
    double *left, *right, *D, *E, *rows;  // scratch
    int *which, slots, dense;             // touch of a slot; touches; those that are not braced
} ct_contact_linear;

// Numbers the slots and makes room; b is zero. Lives in work->contact_system until it is used otherwise.
ct_status ct_contact_linear_layout(const ct_model* model, ct_work* work, ct_contact_linear* system);
// Solves; the potential is linearised at config. past: of systems before, where the solution and the
// preconditioner start from.
ct_status ct_contact_linear_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                  const ct_contact_linear* system, bool transposed, ct_adjoint_past* past,
                                  ct_backward_report* report);

#endif
