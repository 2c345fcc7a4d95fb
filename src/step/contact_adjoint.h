// The adjoint of contacts: of the system of contact_solve.c on its active sets,
//     [H - d(J^T F)/dx   -J^T ]^T [lam_z]   [B^T g]
//     [ dR/dz            dR/dF]   [lam_F] = [  0  ],
// by GMRES with the transpose of the forward preconditioner. Then
//     x_n_bar -= (dR/dx_n)^T lam_F,   mu_bar = (n.F) tau . lam_F on slipping contacts,
//     driven nodes: x_D_bar -= (dR/dx_D)^T lam_F - (d(J^T F)/dx_D)^T lam.
#ifndef CT_STEP_CONTACT_ADJOINT_H
#define CT_STEP_CONTACT_ADJOINT_H

#include "step/work.h"

// Puts the recorded touches of a (sub-)step that began at x_start, `time`, and lasted h into work->contact,
// linearised at config, and takes their forces off work->rho.
ct_status ct_contact_adjoint_begin(const ct_model* model, ct_work* work, const ct_config* config,
                                   const ct_touch_record* touch, size_t count, const double* x_start,
                                   double time, double h);
// Solves the system; the potential is linearised and the warp set at config. lam_F stays in the touches.
ct_status ct_contact_adjoint_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                   const double* right, double* lam_z, ct_backward_report* report);
// Adds the contacts' part of (d/dx)^T (lam, lam_F) at all nodes (3 nvert).
void ct_contact_adjoint_nodes(const ct_work* work, const double* lam, double* out);
// Subtracts (dR/dx_n)^T lam_F from start_bar (3 nvert); adds to the sums of friction and softness.
void ct_contact_adjoint_start(const ct_model* model, const ct_work* work, double* start_bar,
                              const ct_sums* sums);

#endif
