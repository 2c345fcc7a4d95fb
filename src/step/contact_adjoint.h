// The adjoint of contacts: of the system of contact_solve.c on its active sets,
//     [H      -J^T ]^T [lam_z]   [B^T g]
//     [D J    dR/dF]   [lam_F] = [F_bar],
// by GMRES with the transpose of the forward preconditioner. F_bar comes from the step after, whose anchors
// the forces are. With L = -lam^T (rho - J^T F) - lam_F^T R, the frames, slips, compliances and anchors have
//     n_bar, w_bar, u_bar, eps_bar, m_bar = dL/d(.),
// which go to x_n and v_n by x_f = x_n + t h v_n (contact/held.h), to the materials by the nodes'
// compliance, and to the forces of the step before.
#ifndef CT_STEP_CONTACT_ADJOINT_H
#define CT_STEP_CONTACT_ADJOINT_H

#include "step/contact_linear.h"

// Solves the system; the potential is linearised and the warp set at config. lam_F stays in the touches.
// after, after_bar: the anchors that the (sub-)step leaves, and their adjoints (3 each). past: of the steps
// after it.
ct_status ct_contact_adjoint_solve(const ct_model* model, ct_work* work, const ct_config* config,
                                   const double* right, ct_anchors after, const double* after_bar,
                                   ct_adjoint_past* past, double* lam_z, ct_backward_report* report);
// Adds the contacts' part of (d/dx)^T (lam, lam_F) at all nodes (3 nvert).
void ct_contact_adjoint_nodes(const ct_work* work, const double* lam, double* out);
// Where the adjoints of what a (sub-)step begins with go.
typedef struct ct_contact_bar {
    double *x, *v;   // 3 nvert, added to
    double* end;     // 3 nvert: of driven nodes at its end, added to
    double* anchor;  // 3 an anchor that it begins with, overwritten
    double* growth;  // ncollider: of theta_0, added to
    ct_sums* sums;   // of the quantities
} ct_contact_bar;
// lam: 3 nvert.
void ct_contact_adjoint_start(const ct_model* model, ct_work* work, const double* lam, const double* x,
                              const ct_contact_bar* bar);

#endif
