// What the symbolic and the numeric factorisation share of CHOLMOD: quiet settings, status, the 3 n pattern.
#ifndef CT_SPARSE_FACTOR_CHOLMOD_H
#define CT_SPARSE_FACTOR_CHOLMOD_H

#include <cholmod.h>

#include "sparse/block_matrix.h"

// Every caller owns its cholmod_common: start it here, end with cholmod_finish.
void ct_cholmod_start(cholmod_common* common);
ct_status ct_cholmod_status(const cholmod_common* common);
// Lower triangle over the 3 n unknowns. Column 3 j + b holds rows a = b..2 of the diagonal block, then all
// rows of each block below. NULL: see ct_cholmod_status.
cholmod_sparse* ct_cholmod_pattern(const ct_block_matrix* matrix, int xtype, cholmod_common* common);

#endif
