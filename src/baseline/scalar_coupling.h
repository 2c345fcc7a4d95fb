// Links in the projective solver's matrix K = c^2 M + c D + L, one scalar per node: as affine motions of
// their rest positions.
#ifndef CT_BASELINE_SCALAR_COUPLING_H
#define CT_BASELINE_SCALAR_COUPLING_H

#include "model/model.h"
#include "sparse/scalar_factor.h"

typedef struct ct_scalar_coupling {
    double* W;               // nfree x 4 nlink, rows as in the matrix
    double* S;               // 4 nlink x 4 nlink
    unsigned char* coupled;  // nlink x nlink: the 4x4 block of S is not zero
    double* diagonal;        // of L, at the nodes of links, in the tree's order
} ct_scalar_coupling;

ct_status ct_scalar_coupling_create(ct_scalar_coupling* coupling, ct_arena* arena, const ct_model* model);
// Fills it; factor: K of the free nodes.
ct_status ct_scalar_coupling_update(ct_scalar_coupling* coupling, const ct_model* model,
                                    const ct_scalar_factor* factor, double c);

#endif
