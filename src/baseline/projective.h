// Projective dynamics, the paper's solver, for comparison: a row of the solver table and its parts, which the
// splitting iteration of contact shares.
#ifndef CT_BASELINE_PROJECTIVE_H
#define CT_BASELINE_PROJECTIVE_H

#include "baseline/scalar_coupling.h"
#include "step/work.h"

typedef struct ct_projective_model {
    ct_arena arena;
    ct_scalar_factor* factor;     // c^2 M + c D + L of the free nodes, one scalar per node; NULL without any
    ct_scalar_coupling coupling;  // of links and free nodes
} ct_projective_model;
ct_status ct_projective_model_create(void** part, const ct_model* model);
ct_status ct_projective_model_factor(void* part, const ct_model* model);
void ct_projective_model_free(void* part);

typedef struct ct_projective_work {
    ct_scalar_work* solve;
    // the blocks of B (12 nlink ndof), their products with the constant matrix and one vector more, scratch
    double *blocks, *block_product, *assembly;
    double* joint_factor;    // ndof x ndof, of the Schur complement on the joints
    double *right, *answer;  // 3 nfree, rows as in the matrix: k_d, H_d^-1 k_d
    double* motion;          // nunknown: a step with its turns projected
} ct_projective_work;
// Arrays from the arena; `solve` is freed by ct_scalar_work_free, whether or not this fails.
ct_status ct_projective_work_init(ct_projective_work* own, ct_arena* arena, const ct_model* model);

// out = length d with the turns of joints projected: by atan of their size in place of their size.
void ct_projective_turns(const ct_model* model, double length, const double* d, double* out);
// work->d = H^-1 k for the imbalance in work->rho and work->r. False: the joints' matrix is not positive
// definite.
bool ct_projective_global(const ct_model* model, ct_work* work, ct_projective_work* own,
                          ct_step_report* report);
// A (sub-)step without contact; see ct_solver_row.
ct_status ct_projective_solve(const ct_model* model, ct_work* work, ct_projective_work* own,
                              ct_step_report* report);

extern const ct_solver_row ct_projective_row;

#endif
