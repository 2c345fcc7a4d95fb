// What the kernels of sheets read and write, and the table through which sheet_pass.c calls them.
#ifndef CT_FORCE_SHEET_KERNEL_H
#define CT_FORCE_SHEET_KERNEL_H

#include "base/cpu.h"

enum { CT_SHEET_BLOCK = 8, CT_MEMBRANE_LINEAR = 18, CT_BEND_LINEAR = 23 };

// Eight triangles of one energy, one a lane. Lanes behind the last repeat it with mu, lambda and area 0.
typedef struct ct_membrane_block {
    _Alignas(64) double inverse[4][CT_SHEET_BLOCK];  // Dm^-1, row-major, 1/m
    double frame[9][CT_SHEET_BLOCK];  // two axes in the plane and the normal as columns, at rest
    double area[CT_SHEET_BLOCK];      // m^2
    double mu[CT_SHEET_BLOCK];        // N m: times the area
    double lambda[CT_SHEET_BLOCK];
    double beta[CT_SHEET_BLOCK];  // s
    int node[3][CT_SHEET_BLOCK];
    int energy;
} ct_membrane_block;

// Eight hinges; lanes behind the last repeat it with stiffness and damper 0. A hinge with neither is not
// looked at.
typedef struct ct_bend_block {
    _Alignas(64) double rest[CT_SHEET_BLOCK];  // rad
    double stiffness[CT_SHEET_BLOCK];          // k, N m
    double damper[CT_SHEET_BLOCK];             // kb, N m s
    int node[4][CT_SHEET_BLOCK];
} ct_bend_block;

typedef struct ct_sheet_pass {
    const ct_membrane_block* membrane;
    int nmembrane;
    const ct_bend_block* bend;
    int nbend;
    const double* x;            // positions or directions, 3 doubles a node and one more behind the last
    double* node;               // 4 doubles a node, or 12 for rotations: sums, added to
    double c;                   // 1/s
    const double* rate;         // 3 CT_SHEET_BLOCK per block: g of the membranes, xx yy xy; NULL: no damping
    const double* angle_rate;   // CT_SHEET_BLOCK per block: g of the hinges, likewise
    const double* angle_start;  // CT_SHEET_BLOCK per block: angles where the step began
    const double* foreseen;  // 3 CT_SHEET_BLOCK per block: stress that linearisations take; NULL: that at x
} ct_sheet_pass;

typedef struct ct_sheet_kernels {
    // Energies; the gradients are added to the nodes.
    double (*membrane_gradient)(const ct_sheet_pass* pass);
    double (*bend_gradient)(const ct_sheet_pass* pass);
    // Linearisations, linear[(SIZE block + component) CT_SHEET_BLOCK + lane], and products with them, added
    // to the nodes. Membrane: columns of F (6), normal (3), 1/J, W_I, W_J, W_II, W_IJ, W_JJ, stress of the
    // geometric stiffness beside the elastic one (3). Hinges: e, a, b, m, n (15), s, t, |e|, 1/|m|^2,
    // 1/|n|^2, 1/|e|^2, dE/dtheta, d2E/dtheta2; see sheet_hinge.h.
    void (*membrane_linearise)(const ct_sheet_pass* pass, double* linear);
    void (*bend_linearise)(const ct_sheet_pass* pass, double* linear);
    void (*membrane_product)(const ct_sheet_pass* pass, const double* linear);
    void (*bend_product)(const ct_sheet_pass* pass, const double* linear);
    // Sums of the triangles' rotations times their areas: three rows of 4 doubles a node.
    void (*rotations)(const ct_sheet_pass* pass);
} ct_sheet_kernels;

const ct_sheet_kernels* ct_sheet_kernels_of(ct_isa isa);

#endif
