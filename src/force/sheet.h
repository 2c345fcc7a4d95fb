// Elastic and viscous forces of thin sheets: triangle membranes and the hinges between them.
//
// Membrane: with F = [x1-x0, x2-x0] Dm^-1 the 3x2 deformation gradient, A the rest area and the Lame
// parameters of plane stress times the thickness (N/m),
//     E(x) = sum_e A_e W(F_e; mu_e, lambda_e),
// W the sheet's form of the four energies of ct_energy; see sheet_energy.h. A strip that is pulled has
// Young's modulus E and contracts by nu.
//
// Bending: with theta the angles of the hinges (the inner edges), theta_0 those at rest and kappa_0 the
// natural curvature of a triangle,
//     E(x) = sum_e A_e/2 kappa^T D_e kappa,   kappa = K_e (theta - theta_0) - kappa_0,   kappa = (k_xx, k_yy,
//     2 k_xy),
// D the plate's rigidity (N m), and K_e such that every surface of constant curvature has its own on any
// mesh: see sheet_curvature.h. Without natural curvature E is 1/2 (theta - theta_0)^T M (theta - theta_0), M
// sparse and never negative. It converges to Kirchhoff's plates and shells with the square of the mesh size.
//
// Kelvin-Voigt damping as for tets (force/elastic.h), in the 2x2 Green strain, and in the rate of curvature:
//     Psi(x) = sum_e beta_e A_e/(2 c) r^T D_e r,   r = K_e (c theta - g),   g = a theta_n + b theta_{n-1}.
//
// An angle is known but for whole turns. At the start of a step it lies in [-pi, pi]; within the step, and in
// its history, it is the one nearest to that: a hinge that folds through half a turn feels no jump. Sums are
// taken in a fixed order, on one thread.
#ifndef CT_FORCE_SHEET_H
#define CT_FORCE_SHEET_H

#include "base/memory.h"
#include "sparse/block_matrix.h"

// Per triangle; NULL: left as they are, at first 0 (bending: 1).
typedef struct ct_sheet_parameters {
    const double *mu, *lambda;  // ntri, N/m
    const double* rigidity;     // 4 ntri: D_11 D_22 D_12 D_33 along the triangle's axes, N m
    const double* bending;      // ntri, factor of the rigidity
    const double* natural;      // 3 ntri: kappa_0, 1/m
    const double* beta;         // ntri, s, stiffness damping
} ct_sheet_parameters;

typedef struct ct_sheet_def {
    int nvert, ntri;
    int first;                    // number of triangle 0 among the elements of the model, behind the tets
    const double* rest;           // 3 nvert
    const int* tri;               // 3 ntri
    const unsigned char* energy;  // ntri, ct_energy
    // 3 ntri: the first axis is this direction, seen in the triangle's plane; NULL, 0 or across it: its first
    // edge
    const double* grain;
    ct_sheet_parameters parameters;
    // nvert: a triangle with all nodes on one link (>= 0), or all driven, does not bend; NULL: none
    const int* link;
    const unsigned char* driven;
    const unsigned char*
        clamped;  // nvert: an edge of one triangle between two of these keeps its slope; NULL: none
} ct_sheet_def;

// Derivatives, per triangle as above, overwritten; each may be NULL. rigidity: by that times the factor.
typedef struct ct_sheet_bar {
    double *mu, *lambda, *rigidity, *natural, *beta;
} ct_sheet_bar;

typedef struct ct_sheet ct_sheet;
typedef struct ct_sheet_work ct_sheet_work;

ct_status ct_sheet_create(ct_sheet** out, const ct_sheet_def* def);
void ct_sheet_free(ct_sheet* sheet);
void ct_sheet_set_parameters(ct_sheet* sheet, const ct_sheet_parameters* parameters);
const double* ct_sheet_area(const ct_sheet* sheet);  // ntri, m^2, rest
// 4 nodes each: the edge, then the opposite corners
const int* ct_sheet_hinges(const ct_sheet* sheet, int* count);
double ct_sheet_hinge_angle(const ct_sheet* sheet, int hinge, const double* x);
// kappa + kappa_0 of triangle e at x, angles in [-pi, pi]; free slopes are left out.
void ct_sheet_curvature_at(const ct_sheet* sheet, int e, const double* x, double kappa[3]);

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
// foreseen: with the stress foreseen in the geometric stiffness, see sheet_pass.c; otherwise exact.
void ct_sheet_linearise(const ct_sheet* sheet, ct_sheet_work* work, const double* x, bool foreseen);
// Foresees the stress at x_n, then that of the last linearisation after the motion length dx.
void ct_sheet_foresee_start(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n);
void ct_sheet_foresee(const ct_sheet* sheet, ct_sheet_work* work, double length, const double* dx);
void ct_sheet_product(const ct_sheet* sheet, const ct_sheet_work* work, const double* dx, double* out);
// For preconditioners; bending is approximated, see sheet_assemble.c. project: the membrane's Hessian clipped
// to its positive part.
void ct_sheet_assemble(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, bool project,
                       const int* unknown, ct_block_matrix* matrix);
// Adds the constant matrix of projective dynamics, see sheet_laplacian.c; for sheets of projective energy.
void ct_sheet_laplacian(const ct_sheet* sheet, const int* unknown, ct_block_matrix* matrix);
// Sets the rotation of the nodes that have triangles, the others stay.
void ct_sheet_rotations(const ct_sheet* sheet, ct_sheet_work* work, const double* x, double* rotation);
double ct_sheet_energy(const ct_sheet* sheet, const double* x);
bool ct_sheet_has_damping(const ct_sheet* sheet);
void ct_sheet_parameter_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                            const double* lam, const ct_sheet_bar* bar);
void ct_sheet_history_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                          const double* lam, double a, const double* x_n, double* x_n_bar, double b,
                          const double* x_nm1, double* x_nm1_bar);

#endif
