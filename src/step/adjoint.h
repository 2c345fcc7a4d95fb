// The adjoint of one step: from dL/d(state after) to dL/d(state before), and to the parameters.
//
// A (sub-)step solves, for the free nodes,
//     rho = M (c^2 x - c p - q) - f + D (c x - p) + grad E(x) + grad Psi(x; x_n, x_{n-1}) = 0,
//     p = a x_n + b x_{n-1},  q = a v_n + b v_{n-1},  v = c x - p,  driven nodes given.
// With H = d rho / dx, symmetric, and lam zero on driven nodes,
//     H lam = x_bar + c v_bar                          (free rows)
//     p_bar = (c M + D) lam - v_bar,   q_bar = M lam,   f_bar = lam
//     x_n_bar = a p_bar - (d grad Psi/dx_n)^T lam,   x_{n-1}_bar = b p_bar - (d grad Psi/dx_{n-1})^T lam
//     v_n_bar = a q_bar,                             v_{n-1}_bar = b q_bar
//     m_bar = -lam . (c^2 x - c p - q),   D_bar = -lam . (c x - p),   mu_bar = -lam . d(grad E)/dmu, ...
//     actuators: a_bar = -lam . d(grad E)/da, then through the law of model/actuator.h to a_n and the control
//     joints: z unknowns, lam = B lam_z, H gains the curvature of the skeleton and the joints' own stiffness;
//     q_n_bar = a d lam_z (dampers d), torque_bar = lam_z, target_bar = k lam_z; balls: skeleton/joint_ball.h
//     driven roots, a translation of the centre p and a rotation about it, with y = x_bar + c v_bar - H lam
//     on the links' nodes: p_bar = sum y,  r_bar = sum (x - p) x y - lam x rho       (the second term: the
//     links' curvature) driven: x_D_bar = (x_bar + c v_bar - H lam)_D, shared between the step's start and
//     end as the motion is. mounts: s = s_n + u, Q = exp(w) Q_n:  u_bar = s_bar, w_bar = J(w)^T r_bar,
//     s_n_bar = s_bar, r_n_bar = exp(w)^T r_bar
#ifndef CT_STEP_ADJOINT_H
#define CT_STEP_ADJOINT_H

#include "quantity/sums.h"
#include "step/adjoint_state.h"
#include "step/work.h"

typedef struct ct_adjoint ct_adjoint;  // scratch
ct_status ct_adjoint_create(ct_adjoint** out, const ct_model* model);
void ct_adjoint_free(ct_adjoint* adjoint);

// bar: of the state `after` on entry, of the state `before` on return. record: what the step between them
// did. sums: of the quantities, added. control_bar: of this step (control size), added; may be NULL.
ct_status ct_adjoint_step(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const ct_state* before,
                          const ct_state* after, const ct_record* record, const double* control,
                          ct_adjoint_state* bar, ct_sums* sums, double* control_bar,
                          ct_backward_report* report);

#endif
