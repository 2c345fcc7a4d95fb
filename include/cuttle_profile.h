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
    int links, joints;        // joints: their rates
    double jacobian_seconds;  // B over the links' nodes, top-down
    double matrix_seconds;    // the joints' matrix of the preconditioner
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

#ifdef __cplusplus
}
#endif
#endif
