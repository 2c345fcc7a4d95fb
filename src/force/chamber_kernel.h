// What the cell kernels read and write, and the table through which chamber.c calls them.
//
// They work on F/alpha, alpha = a^(1/3): R = alpha D with D the matrix nearest to F/alpha with det D = 1
// (elastic_nearest.h), and dR/dF = dD/d(F/alpha).
#ifndef CT_FORCE_CHAMBER_KERNEL_H
#define CT_FORCE_CHAMBER_KERNEL_H

#include "base/cpu.h"

// Cells of a block; blocks that are decomposed together; doubles per cell of a decomposition and of a
// linearisation.
enum { CT_CELL_BLOCK = 8, CT_CELL_GROUP = 2, CT_CELL_NEAREST = 31, CT_CELL_LINEAR = 30 };

// Eight cells, one a lane. Lanes behind the last cell repeat it with stiffness 0.
typedef struct ct_cell_block {
    double inverse[9][CT_CELL_BLOCK];  // Dm^-1, row-major, 1/m
    double stiff[CT_CELL_BLOCK];       // k V, J
    int node[4][CT_CELL_BLOCK];        // local
} ct_cell_block;

typedef struct ct_chamber_pass {
    const ct_cell_block* block;
    int nblock;           // a multiple of CT_CELL_GROUP
    const double* x;      // positions or directions, 4 doubles a local node
    const double* scale;  // CT_CELL_BLOCK per block: alpha
    double* f;            // forces are added to it, like x; NULL: not wanted
} ct_chamber_pass;

typedef struct ct_chamber_kernels {
    // nearest: CT_CELL_NEAREST CT_CELL_BLOCK per block, read by the functions below.
    void (*decompose)(const ct_chamber_pass* pass, double* nearest);
    // The same for one group, from F/alpha: F[(9 block + component) CT_CELL_BLOCK + lane].
    void (*decompose_group)(const double* F, double* nearest);
    // Energy; adds the gradient.
    double (*gradient)(const ct_chamber_pass* pass, const double* nearest);
    // linear[(CT_CELL_LINEAR block + component) CT_CELL_BLOCK + lane]: U (9), V (9), and in their basis
    // d2E/dF2 on the diagonal (xx yy zz xy xz yz), then, on the pairs (0,1), (0,2), (1,2) of other entries,
    // what an entry gets from itself (3) and from its mirror (3).
    void (*linearise)(const ct_chamber_pass* pass, const double* nearest, double* linear);
    void (*product)(const ct_chamber_pass* pass, const double* linear);
    // With dF of x: dR/da : dF and (F - R) : dF, CT_CELL_BLOCK per block each.
    void (*parameter)(const ct_chamber_pass* pass, const double* nearest, double* along, double* force);
    // Adds k V dR/da da to the forces, da CT_CELL_BLOCK per block.
    void (*spread)(const ct_chamber_pass* pass, const double* nearest, const double* da);
} ct_chamber_kernels;

#endif
