// OpenBLAS' run-time settings; see blas.h.
#include "base/blas.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/cpu.h"
#include "cuttle.h"

void ct_blas_serial(void) {
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
}

const char* ct_blas_core(void) { return openblas_get_corename(); }

static bool is_one_of(const char* name, const char* const* list) {
    for (; *list; list++)
        if (!strcasecmp(name, *list)) return true;
    return false;
}

// OpenBLAS chooses its kernels while it is loaded, and an old one takes a slow generic set on a CPU that it does not know.
const char* ct_blas_coretype(void) {
    static const char* const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char* const fused[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "Excavator", NULL};
    if (getenv("OPENBLAS_CORETYPE")) return NULL;
    const char* core = ct_blas_core();
    switch (ct_cpu_isa()) {
        case CT_ISA_AVX512: return is_one_of(core, wide) ? NULL : "SkylakeX";
        case CT_ISA_AVX2: return is_one_of(core, fused) ? NULL : "Haswell";
        default: return NULL;
    }
}
