// Newton's method for friction problems.
#ifndef CT_CONTACT_FRICTION_NEWTON_H
#define CT_CONTACT_FRICTION_NEWTON_H

#include "contact/friction_problem.h"

// At most `limit` steps, from F and to the best that was found; *now: of F. work->u follows.
ct_status ct_friction_newton(ct_friction_problem* def, ct_friction_work* work, double tolerance, int limit,
                             double* F, ct_friction_merit* now, ct_friction_report* report);

#endif
