// OpenBLAS: one thread, and the right kernels for the CPU.
#ifndef CT_BASE_BLAS_H
#define CT_BASE_BLAS_H

#include "cuttle.h"  // makes ct_blas_coretype public

// OpenBLAS' own threads would compete with ours and make sums depend on their number: switches them off, for the process.
void ct_blas_serial(void);
// Name of the kernels OpenBLAS has chosen ("Zen", "SkylakeX", ...).
const char* ct_blas_core(void);
// OpenBLAS chooses its kernels while it is loaded; an old one takes a slow generic set on a CPU that it does not know.
// Returns the value OPENBLAS_CORETYPE should have had, to be set before the process starts again; NULL: all is well, or the user
// has set it.
const char* ct_blas_coretype(void);

#endif
