// Run-time settings of OpenBLAS and of the OpenMP inside CHOLMOD; see blas.h.
#include "base/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/cpu.h"
#include "cuttle.h"

void ct_blas_serial(void) {
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
    // CHOLMOD opens OpenMP regions inside its loops whatever the settings; without levels they run on the
    // caller. The library comes with CHOLMOD, or not at all, so it is looked up rather than linked.
    void (*set_levels)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_max_active_levels");
    if (set_levels) set_levels(0);
}

const char* ct_blas_core(void) { return openblas_get_corename(); }

static bool is_one_of(const char* name, const char* const* list) {
    for (; *list; list++)
        if (!strcasecmp(name, *list)) return true;
    return false;
}

// OpenBLAS chooses its kernels while it is loaded, and an old one takes a slow generic set on a CPU that it
// does not know.
const char* ct_blas_coretype(void) {
    static const char* const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char* const fused[] = {"Haswell",        "Zen",       "SkylakeX", "Cooperlake",
                                        "SapphireRapids", "Excavator", NULL};
    if (getenv("OPENBLAS_CORETYPE")) return NULL;
    const char* core = ct_blas_core();
    switch (ct_cpu_isa()) {
    case CT_ISA_AVX512: return is_one_of(core, wide) ? NULL : "SkylakeX";
    case CT_ISA_AVX2: return is_one_of(core, fused) ? NULL : "Haswell";
    default: return NULL;
    }
}
