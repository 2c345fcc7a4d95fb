// The internal forces of a model: the sum of its families of elements, in one object with the operations of
// one family.
//
//     E(x) + Psi(x) = sum over families of their energies and dissipation potentials
//
// Elements are numbered family after family: tets, then the triangles of sheets. A family that a model does
// not have is NULL and costs nothing. The conventions of force/elastic.h hold for all: fixed order of sums,
// node arrays with one readable double behind the end.
#ifndef CT_FORCE_POTENTIAL_H
#define CT_FORCE_POTENTIAL_H

#include "force/actuation.h"
#include "force/elastic.h"
#include "force/sheet.h"

typedef struct ct_potential {
    ct_elastic* elastic;  // tets; always there, perhaps of no tet
    int ntet;
    ct_sheet* sheet;         // thin sheets
    ct_actuation actuation;  // muscles, cells, cavities
} ct_potential;

typedef struct ct_potential_work {
    ct_elastic_work* elastic;
    ct_sheet_work* sheet;
    ct_actuation_work actuation;  // its `value`: the numbers of the step under way
} ct_potential_work;

void ct_potential_free(ct_potential* potential);  // its families
ct_status ct_potential_work_create(ct_potential_work* work, const ct_potential* potential);
void ct_potential_work_free(ct_potential_work* work);

// Sets the rate of the damping for the coming step; see ct_elastic_begin_step.
void ct_potential_begin_step(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             double c, double a, const double* x_n, double b, const double* x_nm1);
// The same, also where nothing is damped yet: for derivatives by beta at beta = 0.
void ct_potential_begin_rate(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             double c, double a, const double* x_n, double b, const double* x_nm1);
// Returns E(x) + Psi(x) and sets f = grad (3 nvert, overwritten).
double ct_potential_gradient(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             const double* x, double* f);
// Remembers the linearisation at x; then out = H dx (overwritten).
void ct_potential_linearise(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                            const double* x);
void ct_potential_product(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                          const double* dx, double* out);
// Adds the Hessian at x (NULL: rest; project: elements made positive semi-definite) into `matrix`, unknown[v]
// the row of node v or -1.
void ct_potential_assemble(const ct_potential* potential, ct_potential_work* work, const double* x,
                           bool project, const int* unknown, ct_block_matrix* matrix);
// Rotation of each node, 9 nvert, row-major.
void ct_potential_rotations(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                            const double* x, double* rotation);
// E(x) alone, without damping; allocates nothing.
double ct_potential_energy(const ct_potential* potential, const double* x);
bool ct_potential_has_damping(const ct_potential* potential);
// Per element (each array nullable, overwritten): d_mu[e] = lam . d grad(E + Psi)/dmu_e, and so on. mu and
// lambda of triangles are in N/m, and d_rigidity is one for each triangle.
void ct_potential_parameter_vjp(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                                const double* x, const double* lam, double* d_mu, double* d_lambda,
                                double* d_beta, double* d_rigidity);
// Adds -(d^2 Psi/dx dx_n)^T lam to x_n_bar and -(d^2 Psi/dx dx_nm1)^T lam to x_nm1_bar (skipped when x_nm1 is
// NULL).
void ct_potential_history_vjp(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                              const double* x, const double* lam, double a, const double* x_n,
                              double* x_n_bar, double b, const double* x_nm1, double* x_nm1_bar);

#endif
