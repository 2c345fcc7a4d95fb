// OpenBLAS: one thread, and the right kernels for the CPU.
#ifndef CT_BASE_BLAS_H
#define CT_BASE_BLAS_H

#include "cuttle.h"  // makes ct_blas_coretype public

// OpenBLAS' and CHOLMOD's own threads would compete with ours and make sums depend on their number (measured:
// CHOLMOD's halve the speed of a factorisation of 10k tets). Switches them off, for the process and the
// calling thread respectively.
void ct_blas_serial(void);
// Name of the kernels OpenBLAS has chosen ("Zen", "SkylakeX", ...).
const char* ct_blas_core(void);

#endif
