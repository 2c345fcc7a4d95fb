// Sparse Cholesky of one scalar per node with three right-hand sides (x, y, z) in double precision: the
// constant global matrix of projective dynamics. The same analysis and fronts as those of the preconditioner
// (factor.h); the solve is a plain pair of sweeps over the supernodes.
#ifndef CT_SPARSE_SCALAR_FACTOR_H
#define CT_SPARSE_SCALAR_FACTOR_H

#include "sparse/block_matrix.h"

typedef struct ct_scalar_factor ct_scalar_factor;

// Takes entry (0,0) of every block of `matrix`. CT_SINGULAR when not positive definite.
ct_status ct_scalar_factor_create(ct_scalar_factor** out, const ct_block_matrix* matrix);
void ct_scalar_factor_free(ct_scalar_factor* factor);

typedef struct ct_scalar_work ct_scalar_work;
ct_status ct_scalar_work_create(ct_scalar_work** out, const ct_scalar_factor* factor);
void ct_scalar_work_free(ct_scalar_work* work);
// x = A^-1 b for the three coordinates, b and x 3 n in the matrix's node order; may alias.
void ct_scalar_factor_solve(const ct_scalar_factor* factor, ct_scalar_work* work, const double* b, double* x);

#endif
