// Where a motion begins: flesh follows its bones (model/follower.h), and bones the velocities of their flesh.
//
// With p and u the places and velocities that bodies are given, q and r those of the joints,
//     links:  x = phi(q),   v = B (r + s),   s = argmin over s of sum_i m_i |B s - u|_i^2  over the flesh on
//     links flesh:  x = p + sum_k w_k (T_k(q) X - X),   v = u + sum_k w_k d/dt T_k(q) X  as the joints turn
//     with r
// so that velocities of bodies and of joints add up, and a body's rigid velocity carries a free skeleton
// along. With e = u - B s on that flesh and N = B^T M B the normal equations, the reverse of s is, N lam =
// s_bar,
//     u_bar = M B lam,   m_bar_i = e_i . (B lam)_i,   q_bar . dq = (dB lam) . M e - (dB s) . M B lam.
//
// A state that has begun in this way says so (header->followed), and keeps u in v_before until its first
// step.
#ifndef CT_STEP_START_H
#define CT_STEP_START_H

#include "model/model.h"
#include "step/state.h"

// Moves the flesh of a state whose links are at q and whose other nodes are at p.
ct_status ct_start_place(const ct_model* model, ct_state* state);
// Velocities of all nodes from u in state->v_before and the joints' own rates in state->rate, to which s is
// added.
ct_status ct_start_move(const ct_model* model, ct_state* state);
// The joints' own rates r of a state that has begun: along the world's axes, ndof.
ct_status ct_start_own_rates(const ct_model* model, const ct_state* state, double* rate);

// Adjoints of what a start is made of; NULL: not wanted. All but `mass` are overwritten.
typedef struct ct_start_bar {
    double *position, *velocity;  // ndof: of the joints, along their parents' axes
    double* u;                    // 3 nvert
    double* mass;                 // nvert, added to
} ct_start_bar;
// From those of the nodes; x_bar NULL: of velocities alone.
ct_status ct_start_vjp(const ct_model* model, const ct_state* state, const double* x_bar, const double* v_bar,
                       const ct_start_bar* bar);

#endif
