// Elastic and viscous forces of thin sheets: triangle membranes and the hinges between them.
//
// Membrane: with F = [x1-x0, x2-x0] Dm^-1 the 3x2 deformation gradient, A the rest area and the Lame
// parameters of plane stress times the thickness (N/m),
//     E(x) = sum_e A_e W(F_e; mu_e, lambda_e),
// W the sheet's form of the four energies of ct_energy; see sheet_energy.h. A strip that is pulled has
// Young's modulus E and contracts by nu.
//
// Bending: at every inner edge the angle theta between the normals of its two triangles,
//     E(x) = sum_h k_h (theta_h - theta_rest)^2,   k_h = w_h (D_1 + D_2)/2,   w_h = |e|^2 / (2 (A_1 + A_2)),
// with D the bending rigidity of each triangle's material (N m). For cylindrical bending this is the plate's
// D/2 kappa^2 per area on equilateral triangles in every direction, and along the axes of grids of right
// triangles. What a mesh does beside that is its own: equilateral triangles behave as with a Poisson's ratio
// of -1/3; a grid with alternating diagonals has 5/6 of the stiffness along its axes where it is free to
// relax and 4/3 at 45 degrees; one whose diagonals all run one way couples bending to twist.
//
// Kelvin-Voigt damping as for tets (force/elastic.h), in the 2x2 Green strain, and for hinges in the rate of
// the angle:
//     Psi(x) = sum_h kb_h / c (c theta - g)^2,   kb_h = w_h (D_1 beta_1 + D_2 beta_2)/2,   g = a theta_n + b
//     theta_{n-1}.
//
// An angle is known but for whole turns. At the start of a step it lies in [-pi, pi]; within the step, and in
// its history, it is the one nearest to that: a hinge that folds through half a turn feels no jump. Sums are
// taken in a fixed order, on one thread.
#ifndef CT_FORCE_SHEET_H
#define CT_FORCE_SHEET_H

#include "base/memory.h"
#include "sparse/block_matrix.h"

typedef struct ct_sheet_def {
    int nvert, ntri;
    int first;                    // number of triangle 0 among the elements of the model, behind the tets
    const double* rest;           // 3 nvert
    const int* tri;               // 3 ntri
    const unsigned char* energy;  // ntri, ct_energy
    const double *mu, *lambda;    // ntri, N/m
    const double* rigidity;       // ntri, N m
    const double* beta;           // ntri, s, stiffness damping; NULL: none
    // nvert: a hinge with all nodes on one link (>= 0) is rigid and left out; NULL: no links
    const int* link;
} ct_sheet_def;

typedef struct ct_sheet ct_sheet;
typedef struct ct_sheet_work ct_sheet_work;

ct_status ct_sheet_create(ct_sheet** out, const ct_sheet_def* def);
void ct_sheet_free(ct_sheet* sheet);
void ct_sheet_set_parameters(ct_sheet* sheet, const double* mu, const double* lambda, const double* rigidity,
                             const double* beta);
const double* ct_sheet_area(const ct_sheet* sheet);  // ntri, m^2, rest
// 4 nodes each: the edge, then the opposite corners
const int* ct_sheet_hinges(const ct_sheet* sheet, int* count);
double ct_sheet_hinge_angle(const ct_sheet* sheet, int hinge, const double* x);

ct_status ct_sheet_work_create(ct_sheet_work** out, const ct_sheet* sheet);
void ct_sheet_work_free(ct_sheet_work* work);

// As in force/elastic.h, but what there overwrites node vectors here adds to them. Positions and directions
// have one readable double behind the end.
void ct_sheet_begin_step(const ct_sheet* sheet, ct_sheet_work* work, double c, double a, const double* x_n,
                         double b, const double* x_nm1);
void ct_sheet_begin_rate(const ct_sheet* sheet, ct_sheet_work* work, double c, double a, const double* x_n,
                         double b, const double* x_nm1);
void ct_sheet_add_past(const ct_sheet* sheet, ct_sheet_work* work, double e, const double* x_past);
double ct_sheet_gradient(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, double* f);
// foreseen: with the stress foreseen in the geometric stiffness, see sheet_foresee.c; otherwise exact.
void ct_sheet_linearise(const ct_sheet* sheet, ct_sheet_work* work, const double* x, bool foreseen);
// Foresees the stress at x_n, then that of the last linearisation after the motion length dx.
void ct_sheet_foresee_start(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n);
void ct_sheet_foresee(const ct_sheet* sheet, ct_sheet_work* work, double length, const double* dx);
void ct_sheet_product(const ct_sheet* sheet, const ct_sheet_work* work, const double* dx, double* out);
// project: the membrane's Hessian clipped to its positive part, the hinge's without the curvature of the
// angle.
void ct_sheet_assemble(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, bool project,
                       const int* unknown, ct_block_matrix* matrix);
// Sets the rotation of the nodes that have triangles, the others stay.
void ct_sheet_rotations(const ct_sheet* sheet, ct_sheet_work* work, const double* x, double* rotation);
double ct_sheet_energy(const ct_sheet* sheet, const double* x);
bool ct_sheet_has_damping(const ct_sheet* sheet);
// Per triangle, each nullable and overwritten.
void ct_sheet_parameter_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                            const double* lam, double* d_mu, double* d_lambda, double* d_beta,
                            double* d_rigidity);
void ct_sheet_history_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                          const double* lam, double a, const double* x_n, double* x_n_bar, double b,
                          const double* x_nm1, double* x_nm1_bar);

#endif
