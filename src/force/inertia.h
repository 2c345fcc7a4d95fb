// Inertia and mass damping of one step, with the external forces that enter it.
//
// With the integrator's velocity v = c x - p, p = a x_n + b x_{n-1} + e x_{n-2} (rate.h) and the same rule
// for the momentum, q = a v_n + b v_{n-1} + e v_{n-2},
//     c^2 M (x - s) + D (c x - p),   s = (p + q/c)/c + M^-1 f / c^2
// is the force of inertia, external forces f and mass damping D; its potential
//     c^2/2 |x - s|_M^2 + 1/(2c) |c x - p|_D^2.
// Nodes with a velocity v* and an acceleration a* of their own about x* (ct_link_motion):
//     p = c x* - v*,   s = x* - a*/c^2 + M^-1 f / c^2;
// what these depend on is theirs to reverse.
// Reverse, with lam the step's adjoint and v_bar that of the new velocity:
//     p_bar = (c M + D) lam - v_bar,   q_bar = M lam,   m_bar = -lam . (c^2 x - c p - q),   D_bar = -lam . v.
#ifndef CT_FORCE_INERTIA_H
#define CT_FORCE_INERTIA_H

#include "force/family.h"

// Masses of a model, borrowed from it.
typedef struct ct_inertia {
    int nvert;
    const double *mass, *drag;            // nvert, kg, kg/s; mass 0: obstacles
    const double *free_mass, *free_drag;  // nvert, likewise, 0 where the node is driven
    bool damped;                          // some drag of a free node is not zero
} ct_inertia;

// Where the nodes come from, 3 nvert each.
typedef struct ct_inertia_work {
    ct_arena arena;
    double* history;   // p, m/s
    double* inertial;  // s: where the nodes would go without internal forces, m
} ct_inertia_work;

ct_status ct_inertia_work_create(ct_inertia_work** out, const ct_inertia* inertia);
void ct_inertia_work_free(ct_inertia_work* work);
// Fills the history for a step.
void ct_inertia_begin(const ct_inertia* inertia, ct_inertia_work* work, const ct_family_step* step);
// Sum of the sizes of the forces of inertia at x, N: positions are rounded against them.
double ct_inertia_pull(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                       const double* x);
// Velocities at the end x of the step, v = c x - p, driven nodes included.
void ct_inertia_velocity(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                         const double* x, double* v);
// Reverse of the gradient and of the velocity, first of all families: on entry bar->v_n holds v_bar, that of
// the velocity at the end; the state's parts are overwritten, the sums added to.
void ct_inertia_vjp(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                    const double* x, const double* lam, const ct_family_bar* bar);
// Adds c^2 M + c D to the diagonal; unknown[v]: block row of node v, or -1.
void ct_inertia_assemble(const ct_inertia* inertia, double c, const int* unknown, ct_block_matrix* matrix);

#endif
