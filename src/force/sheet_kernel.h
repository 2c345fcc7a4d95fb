// What the kernels of sheets read and write, and the tables through which sheet_pass.c and sheet_bend.c call
// them.
#ifndef CT_FORCE_SHEET_KERNEL_H
#define CT_FORCE_SHEET_KERNEL_H

#include "base/cpu.h"

enum { CT_SHEET_BLOCK = 8, CT_MEMBRANE_LINEAR = 18, CT_BEND_TURN = 8, CT_BEND_LINEAR = 22 };

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

// Eight hinges; lanes behind the last repeat it. One that no rigidity depends on is not looked at.
typedef struct ct_bend_block {
    _Alignas(64) double rest[CT_SHEET_BLOCK];  // rad
    double active[CT_SHEET_BLOCK];             // 1, or 0: not looked at, and behind the last
    int node[4][CT_SHEET_BLOCK];
} ct_bend_block;

// The curvatures of eight triangles: kappa = sum_j weight_j angle_j, `width` angles each, those that a lane
// lacks with weight 0. Lanes behind the last triangle have rigidity 0.
typedef struct ct_plate_block {
    _Alignas(64) double rigidity[6][CT_SHEET_BLOCK];  // 11 22 33 12 13 23, N m times the area
    double beta[CT_SHEET_BLOCK];                      // s
    double natural[3][CT_SHEET_BLOCK];                // 1/m, curvature of a triangle alone
    int width;
    const int* hinge;      // CT_SHEET_BLOCK width
    const double* weight;  // 3 CT_SHEET_BLOCK width, 1/m
} ct_plate_block;

typedef struct ct_sheet_pass {
    const ct_membrane_block* membrane;
    int nmembrane;
    const double* x;         // positions or directions, 3 doubles a node and one more behind the last
    double* node;            // 4 doubles a node, or 12 for rotations: sums, added to
    double c;                // 1/s
    const double* rate;      // 3 CT_SHEET_BLOCK per block: g of the membranes, xx yy xy; NULL: no damping
    const double* foreseen;  // 3 CT_SHEET_BLOCK per block: stress that linearisations take; NULL: that at x
} ct_sheet_pass;

typedef struct ct_membrane_kernels {
    // Energies; the gradients are added to the nodes.
    double (*gradient)(const ct_sheet_pass* pass);
    // Linearisations, linear[(SIZE block + component) CT_SHEET_BLOCK + lane], and products with them, added
    // to the nodes: columns of F (6), normal (3), 1/J, W_I, W_J, W_II, W_IJ, W_JJ, stress of the geometric
    // stiffness beside the elastic one (3).
    void (*linearise)(const ct_sheet_pass* pass, double* linear);
    void (*product)(const ct_sheet_pass* pass, const double* linear);
    // Three numbers a triangle, xx yy xy, 3 CT_SHEET_BLOCK per block: the strains at x times the factor,
    // added to sum; the elastic stress at x; and what a linearisation foresees after `length` of the
    // direction x.
    void (*strain)(const ct_sheet_pass* pass, double factor, double* sum);
    void (*stress)(const ct_sheet_pass* pass, double* stress);
    void (*foresee)(const ct_sheet_pass* pass, const double* linear, double length, double* stress);
    // Sums of the triangles' rotations times their areas: three rows of 4 doubles a node.
    void (*rotations)(const ct_sheet_pass* pass);
} ct_membrane_kernels;

// One number a hinge, CT_SHEET_BLOCK per block, in all arrays of angles.
typedef struct ct_bend_pass {
    const ct_bend_block* bend;
    int nbend;
    const ct_plate_block* plate;
    int nplate;
    const double* x;      // positions or directions, as above
    double* node;         // 4 doubles a node: sums, added to
    double c;             // 1/s
    const double* start;  // angles where the step began
    const double* rate;   // g of the damping; NULL: none
    double* bend_angle;   // theta - theta_rest, or its change
    double* bend_rate;    // c theta - g
    double* pull;         // dE/dtheta, or its change
} ct_bend_pass;

typedef struct ct_bend_kernels {
    // Angles at x, in [-pi, pi].
    void (*measure)(const ct_bend_pass* pass, double* angle);
    // Angles and their rates at x, and their gradients: turn[(CT_BEND_TURN block + component) CT_SHEET_BLOCK
    // + lane], g2 g3 s t of sheet_hinge.h.
    void (*angles)(const ct_bend_pass* pass, double* turn);
    // Adds to pull what the curvatures of the angles and their rates cause; returns the energy.
    double (*moments)(const ct_bend_pass* pass);
    // Adds the forces of pull to the nodes.
    void (*forces)(const ct_bend_pass* pass, const double* turn);
    // The linearisation at x with pull, in CT_BEND_LINEAR components: e, a, b, m, n (15), s, t, |e|, 1/|m|^2,
    // 1/|n|^2, 1/|e|^2, pull; see sheet_hinge.h.
    void (*linearise)(const ct_bend_pass* pass, double* linear);
    // Along the direction x: changes of the angles; what they add to pull, damping included; forces of the
    // change of pull and of the turning gradients, added to the nodes.
    void (*change)(const ct_bend_pass* pass, const double* linear);
    void (*moments_change)(const ct_bend_pass* pass);
    void (*product)(const ct_bend_pass* pass, const double* linear);
} ct_bend_kernels;

const ct_membrane_kernels* ct_membrane_kernels_of(ct_isa isa);
const ct_bend_kernels* ct_bend_kernels_of(ct_isa isa);

#endif
