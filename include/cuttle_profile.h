// Measurements for `cuttle bench`. Not installed: only cli/bench* includes it.
#ifndef CUTTLE_PROFILE_H
#define CUTTLE_PROFILE_H

#include "cuttle/step.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_profile {
    double gradient_ns_per_tet;  // element pass: energy and gradient
    double product_ns_per_tet;   // element pass: Hessian-vector product
    double solve_seconds;        // one application of the factor
    double solve_bytes;          // bytes of factor read in one application
    // measured read bandwidth of this machine on a buffer of that size, bytes/s
    double bandwidth;
} ct_profile;
// Times the parts of a step at the given state, with the work's threads.
CT_API ct_status ct_profile_run(const ct_model* model, ct_work* work, const ct_state* state,
                                ct_profile* profile);
typedef struct ct_skeleton_profile {
    int links, joints;         // joints: their rates
    double jacobian_seconds;   // B over the links' nodes, top-down
    double bottom_up_seconds;  // the same, bottom-up
    double matrix_seconds;     // the joints' matrix of the preconditioner
} ct_skeleton_profile;
CT_API ct_status ct_profile_skeleton(const ct_model* model, ct_work* work, const ct_state* state,
                                     ct_skeleton_profile* profile);

typedef struct ct_adjoint_profile {
    int iterations;            // conjugate gradients on the warped factor, as in ct_backward
    double seconds, residual;  // residual: relative
    bool converged;
    int fixed_iterations;  // the fixed point of DiffPD on the constant matrix of projective dynamics
    double fixed_seconds, fixed_residual;
    bool fixed_converged;  // false: `limit` reached, or it diverges (fixed_residual above 1)
} ct_adjoint_profile;
// Solves the adjoint system of the step from `before` to `after` both ways, to the same relative residual.
// x_bar: 3 nvert, dL/dx of the state after. The model's solver must be projective and its integrator Euler.
CT_API ct_status ct_profile_adjoint(const ct_model* model, ct_work* work, const ct_state* before,
                                    const ct_state* after, const double* x_bar, double tolerance, int limit,
                                    ct_adjoint_profile* profile);

// What a step would cost without contact: the step from `before` under `control`, with the same predictor and
// the same residual to reach, but contact switched off and its forces applied as fixed loads. after, taken:
// the state and the report of the step with contact (its last sub-step's forces count). `state`, another one
// of the model, ends where that step does. One work serves both kinds of steps.
CT_API ct_status ct_profile_free_step(const ct_model* model, ct_work* work, const ct_state* before,
                                      const ct_state* after, const double* control,
                                      const ct_step_report* taken, ct_state* state, ct_step_report* report);
typedef struct ct_crossings {
    int count;       // edges that pass through triangles
    int where[5];    // of the first: nodes of the edge, then of the triangle
    double nearest;  // least distance of two surfaces less their radii, over their thicknesses; at most 1
} ct_crossings;
// Tests every edge of the surfaces that may touch against every triangle, by exact signs and without anything
// that contact is solved with.
CT_API ct_status ct_profile_crossings(const ct_model* model, const ct_state* state, ct_crossings* found);
// Velocity Verlet on the same element kernels, free nodes under constant forces: the longest stable time step
// (s), and `steps` steps of length h from x and v (3 nvert and one double behind the end, changed in place).
// CT_UNSUPPORTED with links, contact or sheets.
CT_API double ct_profile_verlet_limit(const ct_model* model, ct_work* work);
CT_API ct_status ct_profile_verlet(const ct_model* model, ct_work* work, double h, int steps, double* x,
                                   double* v);
// CPU seconds that the calling thread has used so far.
CT_API double ct_profile_cpu(void);

#ifdef __cplusplus
}
#endif
#endif
