// Sweeps of Gauss-Seidel over the contacts of a friction problem whose W is stored: each contact is solved
// exactly against the others' forces.
#ifndef CT_CONTACT_FRICTION_SWEEP_H
#define CT_CONTACT_FRICTION_SWEEP_H

#include "contact/friction_problem.h"

// `count` sweeps; F, work->u and *now follow.
ct_status ct_friction_sweep(ct_friction_problem* def, ct_friction_work* work, int count, double* F,
                            ct_friction_merit* now, ct_friction_report* report);

#endif
