// Which compiled instruction set the kernels should use on this machine.
#ifndef CT_BASE_CPU_H
#define CT_BASE_CPU_H

typedef enum ct_isa { CT_ISA_PORTABLE, CT_ISA_AVX2, CT_ISA_AVX512 } ct_isa;

// The best one that both the build and the CPU support. CUTTLE_ISA=portable|avx2|avx512 lowers it.
ct_isa ct_cpu_isa(void);
const char* ct_isa_name(ct_isa isa);

#endif
