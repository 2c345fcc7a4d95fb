// Stages of links: an integrator with stages acts on joint coordinates and their rates, not on the chords of
// nodes, which would cost its order.
//
// In the chart theta about the coordinates where the step starts (skeleton/chart.h), stage i of rate.h reads
//     u_i = c theta_i - (b theta_1 + e theta_2),   alpha_i = c u_i - (a u_n + b u_1 + e u_2),
// with u_n from the nodes' velocities (skeleton/rates.h). The links' nodes then have velocities V and
// accelerations A (skeleton/jets.h), and the stage solves
//     B^T [M A - f + D V + grad E + ...] + joint forces = 0.
// This is not the gradient of a potential. But with inertia and rates linearised as ct_link_motion says,
// about the last iterate, it is one that differs by terms which shrink with g h times the rates: solve,
// linearise about the solution, solve again, until that changes the residual no more than its tolerance.
//
// At a solution the derivative of the residual is H + C, with H the Hessian of the potential and
//     C = B^T [M (dA/dz - c^2 B) + D (dV/dz - c B)] + that of dampers and torques of balls.
// Velocities at a stage's end are V, along the links' motion.
#ifndef CT_STEP_LINK_STAGES_H
#define CT_STEP_LINK_STAGES_H

#include "skeleton/chart.h"
#include "skeleton/rates.h"
#include "step/work.h"

// Adjoints of what a stage's motion depends on, ndof each, tangents but for `rate`.
typedef struct ct_link_bar {
    double *now, *start, *stage[CT_STAGES - 1];  // coordinates at its end, at the step's start, at the stages
    double* rate;                                // u_n
} ct_link_bar;

// The arena fails where there is no memory.
ct_link_stages* ct_link_stages_create(ct_arena* arena, const ct_model* model);
// Begins a step at coordinates q with velocities v, which outlive it.
void ct_link_stages_begin(const ct_model* model, ct_link_stages* links, ct_integrator rule, const double* q,
                          const double* v);
// Begins stage i, from 0, after stages with these coordinates.
void ct_link_stages_next(const ct_model* model, ct_link_stages* links, int i, const double* first,
                         const double* second);
// q: where the stage is expected to end; previous: coordinates one step before, NULL: none.
void ct_link_stages_foresee(const ct_model* model, ct_link_stages* links, const double* previous, double* q);
// The motion at a configuration, as families see it.
const ct_link_motion* ct_link_stages_at(const ct_model* model, ct_link_stages* links,
                                        const ct_config* config);
// Linearises the (sub-)step under way about `config` anew; returns what that changes the residual by.
double ct_link_stages_renew(const ct_model* model, ct_work* work, const ct_config* config);
// Velocities at the end of the stage; other nodes stay.
void ct_link_stages_velocity(const ct_link_stages* links, double* v);

// After ct_link_stages_at. Adjoints from v_bar, that of the velocities (3 nvert; NULL: none), and from minus
// the stage's lam and lam_z (NULL: none).
ct_link_bar ct_link_stages_vjp(const ct_model* model, ct_work* work, const ct_config* config,
                               const double* v_bar, const double* lam, const double* lam_z);
// out += C^T lam_z (unknowns), lam = B lam_z.
void ct_link_stages_transposed(const ct_model* model, ct_work* work, const ct_config* config,
                               const double* lam, const double* lam_z, double* out);
// Reverse of u_n, after ct_link_stages_begin: adds.
void ct_link_stages_start_vjp(const ct_model* model, ct_link_stages* links, const double* rate_bar,
                              double* q_bar, double* v_bar, double* mass_bar);

// Forward, after ct_link_stages_at: what the residual's joint rows (ndof, overwritten) and the velocities of
// the links' nodes (3 nvert) change by where the motion's parts change by `dot`; NULL: not at all.
typedef struct ct_link_dot {
    const double *now, *start, *stage[CT_STAGES - 1], *rate;
} ct_link_dot;
void ct_link_stages_jvp(const ct_model* model, ct_work* work, const ct_config* config, const ct_link_dot* dot,
                        double* r, double* v);
// out += C dz (unknowns), dx = B dz.
void ct_link_stages_product(const ct_model* model, ct_work* work, const ct_config* config, const double* dx,
                            const double* dz, double* out);
// Solves with H, each with C applied to the last one's solution on the right side: they end where that side
// changes no more, or where round-off keeps it from changing less. CT_NOT_CONVERGED: it does not come to
// that.
typedef struct ct_link_rounds {
    double size;  // of the right side, at first
    double last;  // its last change
    int count;
} ct_link_rounds;
ct_status ct_link_rounds_next(ct_link_rounds* rounds, double tolerance, double change, bool* done);
// u_n's change, from those of coordinates and velocities at the step's start.
void ct_link_stages_start_jvp(const ct_model* model, ct_link_stages* links, const double* q_dot,
                              const double* v_dot, double* rate_dot);

#endif
