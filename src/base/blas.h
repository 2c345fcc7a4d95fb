// OpenBLAS: one thread, and the right kernels for the CPU.
#ifndef CT_BASE_BLAS_H
#define CT_BASE_BLAS_H

#include "cuttle.h"  // makes ct_blas_coretype public

// OpenBLAS' own threads would compete with ours and make sums depend on their number: switches them off, for the process.
void ct_blas_serial(void);
// Name of the kernels OpenBLAS has chosen ("Zen", "SkylakeX", ...).
const char* ct_blas_core(void);

#endif
