// What the fibre kernels read and write, and the table through which muscle.c calls them.
#ifndef CT_FORCE_MUSCLE_KERNEL_H
#define CT_FORCE_MUSCLE_KERNEL_H

#include "base/cpu.h"

enum { CT_FIBRE_BLOCK = 8, CT_FIBRE_LINEAR = 5 };
#define CT_FIBRE_SHORTEST 1e-12  // of l, where it divides

// Eight fibres, one a lane. Lanes behind the last fibre have slope and weight 0.
typedef struct ct_fibre_block {
    _Alignas(64) double slope[CT_FIBRE_BLOCK][4];  // c, 1/m
    double weight[CT_FIBRE_BLOCK];                 // V w, m^3
    double stiff[CT_FIBRE_BLOCK];                  // k V w, J
    int node[CT_FIBRE_BLOCK][4];                   // local
    int segment[CT_FIBRE_BLOCK];
} ct_fibre_block;

typedef struct ct_muscle_pass {
    const ct_fibre_block* block;
    int nblock;
    const double* x;           // positions or directions, 4 doubles a local node
    double* f;                 // forces are added to it, like x; NULL: not wanted
    const double* activation;  // per segment
} ct_muscle_pass;

typedef struct ct_muscle_kernels {
    // Energy; adds the gradient.
    double (*gradient)(const ct_muscle_pass* pass);
    // linear[(CT_FIBRE_LINEAR block + component) CT_FIBRE_BLOCK + lane]: u (3), across, along of
    // d2E/dy2 = across I + (along - across) u u^T
    void (*linearise)(const ct_muscle_pass* pass, double* linear);
    void (*product)(const ct_muscle_pass* pass, const double* linear);
    // u . dy(lam) V w and l - (1 - a), CT_FIBRE_BLOCK per block each; lam: like x.
    void (*parameter)(const ct_muscle_pass* pass, const double* lam, double* pull, double* excess);
    // Takes what the gradient changes by along `dot`, of the activations, from the forces.
    void (*spread)(const ct_muscle_pass* pass, const double* dot);
} ct_muscle_kernels;

#endif
