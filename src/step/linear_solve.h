// The linear system of a step at its solution, H y = right, with H = d rho/dz, symmetric: for its
// derivatives, by the factor of the steps.
#ifndef CT_STEP_LINEAR_SOLVE_H
#define CT_STEP_LINEAR_SOLVE_H

#include "step/work.h"

// After ct_phi_linearise at `config`. right, y: nunknown. gmres: made when the first Hessian turns out
// indefinite; the caller's to free. CT_NOT_CONVERGED, CT_OUT_OF_MEMORY.
ct_status ct_linear_solve(const ct_model* model, ct_work* work, const ct_config* config,
                          ct_krylov_work** gmres, const double* right, double* y, ct_backward_report* report);

// The same of a stage with links, (H + C) y = right with C of link_stages.h, or transposed; after
// ct_link_stages_at.
ct_status ct_linear_solve_links(const ct_model* model, ct_work* work, const ct_config* config,
                                ct_krylov_work** gmres, bool transposed, const double* right, double* y,
                                ct_backward_report* report);

#endif
