// Run-time choice of the instruction set.
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

static ct_isa detect(void) {
#ifdef CT_HAVE_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return CT_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return CT_ISA_AVX2;
#endif
    return CT_ISA_PORTABLE;
}

ct_isa ct_cpu_isa(void) {
    ct_isa best = detect();
    const char* wish = getenv("CUTTLE_ISA");
    for (int isa = 0; wish && isa <= (int)best; isa++)
        if (!strcmp(wish, ct_isa_name((ct_isa)isa))) return (ct_isa)isa;
    return best;
}

const char* ct_isa_name(ct_isa isa) {
    static const char* const names[] = {"portable", "avx2", "avx512"};
    return names[isa];
}
