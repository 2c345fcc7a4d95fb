// OpenBLAS: one thread while we compute, room for its buffers, and the right kernels for the CPU.
#ifndef CT_BASE_BLAS_H
#define CT_BASE_BLAS_H

#include <stdbool.h>

#include "cuttle.h"  // makes ct_blas_coretype public

// From begin to end BLAS runs on the threads that call it: threads of its own would compete with ours and
// make sums depend on their number. With the last end what the process had set comes back, for the other
// libraries that share it. The two nest, and may be open in several threads at once.
void ct_blas_begin(void);
void ct_blas_end(void);
// Whether there is address space for the buffers of `callers` threads. Where there is none OpenBLAS asks for
// it again and again, for ever: to be asked before its first call.
bool ct_blas_has_room(int callers);
enum { CT_BLAS_BUFFER_MEGABYTES = 128 };  // of one thread
// Name of the kernels OpenBLAS has chosen ("Zen", "SkylakeX", ...).
const char* ct_blas_core(void);

#endif
