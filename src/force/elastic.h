// Elastic and viscous forces of tetrahedra: energy, gradient, exact Hessian-vector product, assembled
// Hessian, vertex rotations, parameter derivatives.
//
// Per tet, with F = Ds Dm^-1 the deformation gradient and V the rest volume,
//     E(x) = sum_e V_e W(F_e; mu_e, lambda_e),
// W one of the four energies of ct_energy. All four are linear in (mu, lambda), so that dE/dmu = E(mu=1,
// lambda=0) and so on; the stable neo-Hookean is rewritten so that it holds there too and W(I) = 0.
//
// Kelvin-Voigt damping is a dissipation potential in the Green strain rate, frame-indifferent by
// construction:
//     Psi(x) = sum_e V_e beta_e / (2 c) (2 mu |c G - g|^2 + lambda tr(c G - g)^2),  G = (F^T F - I)/2,
// where c G - g is the strain rate of the integrator (Euler: c = 1/h, g = G_n/h; BDF2: c = 3/(2h),
// g = (4 G_n - G_{n-1})/(2h)), so that at rest its gradient is beta K v. It is added wherever the energy is.
//
// Tets of second order have ten nodes and four points of quadrature (shape/cell.h): each point is a tet of
// its own to the energies, with a quarter of the volume.
//
// Tets are kept in blocks of CT_BLOCK lanes (AoSoA), sorted by energy and then along the mesh; node arrays
// are in scene order, 3 doubles a node, with at least one readable double behind the end (arena arrays have
// it). Sums over the tets of a node and over all tets are taken in a fixed order: bit-identical for every
// thread count.
#ifndef CT_FORCE_ELASTIC_H
#define CT_FORCE_ELASTIC_H

#include "base/memory.h"
#include "base/threads.h"
#include "sparse/block_matrix.h"

#define CT_BLOCK 8  // tets in a block

typedef struct ct_elastic_def {
    int nvert, ntet;
    const double* rest;  // 3 nvert
    const int* tet;      // 4 ntet
    // 6 ntet mid-edge nodes (01 12 02 03 13 23); tets with -1 there are linear; NULL: all of them
    const int* mid;
    const unsigned char* energy;  // ntet, ct_energy
    const double* mu;             // ntet, Pa (Lame)
    const double* lambda;         // ntet, Pa (Lame; already divided by 3 for paper_weights)
    const double* beta;           // ntet, s, stiffness damping; NULL: none
} ct_elastic_def;

typedef struct ct_elastic ct_elastic;  // compiled, immutable but for set_parameters
// scratch: linearisation point, element forces, partial sums
typedef struct ct_elastic_work ct_elastic_work;

ct_status ct_elastic_create(ct_elastic** out, const ct_elastic_def* def);
void ct_elastic_free(ct_elastic* elastic);
// New per-tet Lame parameters and damping (in scene tet order), NULL keeps. Linearise and begin the step anew
// afterwards.
void ct_elastic_set_parameters(ct_elastic* elastic, const double* mu, const double* lambda,
                               const double* beta);
// The same tets with other Lame parameters (ntet each), for the derivative of the gradient along a change of
// these: forces are linear in them. It borrows from `elastic` and shares its work; to be set before use.
ct_status ct_elastic_create_along(ct_elastic** out, const ct_elastic* elastic);
void ct_elastic_set_along(ct_elastic* along, const ct_elastic* elastic, const double* mu,
                          const double* lambda);
const double* ct_elastic_volume(const ct_elastic* elastic);  // ntet rest volumes, scene order
const char* ct_elastic_kernel(const ct_elastic* elastic);    // "avx2", ...

ct_status ct_elastic_work_create(ct_elastic_work** out, const ct_elastic* elastic);
void ct_elastic_work_free(ct_elastic_work* work);

// Sets the rate of the damping for the coming step: rate = c G - (a G(x_n) + b G(x_nm1)); x_nm1 may be NULL
// (b = 0). Must be called before gradient/linearise when any beta > 0; c = 0 switches damping off.
void ct_elastic_begin_step(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double c,
                           double a, const double* x_n, double b, const double* x_nm1);

// The same, also where nothing is damped yet: for derivatives by beta at beta = 0.
void ct_elastic_begin_rate(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double c,
                           double a, const double* x_n, double b, const double* x_nm1);

// Returns E(x) + Psi(x) and sets f = grad (3 nvert, overwritten).
double ct_elastic_gradient(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                           const double* x, double* f);
// Remembers the linearisation at x (what the products need), then out = H dx (overwritten).
void ct_elastic_linearise(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                          const double* x);
void ct_elastic_product(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                        const double* dx, double* out);
// Adds the Hessian at x (project: each element's made positive semi-definite) into `matrix`; unknown[v] is
// the block row of node v or -1. x == NULL: at rest.
void ct_elastic_assemble(const ct_elastic* elastic, ct_elastic_work* work, const double* x, bool project,
                         const int* unknown, ct_block_matrix* matrix);
// Rotation of each node: polar factor of the volume-weighted mean of its tets' F. 9 nvert, row-major.
void ct_elastic_rotations(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                          const double* x, double* rotation);
// E(x) alone, without damping; allocates nothing.
double ct_elastic_energy(const ct_elastic* elastic, const double* x);
// Per tet, scene order (each array nullable): energy density (J/m^3), Cauchy von Mises (Pa), det F.
void ct_elastic_fields(const ct_elastic* elastic, const double* x, double* density, double* von_mises,
                       double* volume_ratio);

// Derivatives of the gradient for the adjoint, with the rate of the step begun last.
bool ct_elastic_has_damping(const ct_elastic* elastic);  // some beta > 0
// Per tet, scene order (each array nullable, overwritten): d_mu[e] = lam . d grad(E + Psi)/dmu_e, and so on.
// d_beta needs ct_elastic_begin_rate where nothing is damped; it is zero when c = 0.
void ct_elastic_parameter_vjp(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                              const double* x, const double* lam, double* d_mu, double* d_lambda,
                              double* d_beta);
// Adds e G(x_past) to the history that ct_elastic_begin_step has set, where there is one.
void ct_elastic_add_past(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double e,
                         const double* x_past);
// Adds -(d^2 Psi/dx dx_n)^T lam to x_n_bar and -(d^2 Psi/dx dx_nm1)^T lam to x_nm1_bar (skipped when x_nm1 is
// NULL), with the arguments of the step's begin: Psi depends on the start of the step through g = a G(x_n) +
// b G(x_nm1).
void ct_elastic_history_vjp(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                            const double* x, const double* lam, double a, const double* x_n, double* x_n_bar,
                            double b, const double* x_nm1, double* x_nm1_bar);

// Projective dynamics (Bouaziz et al. 2014) for projective tets: scalar weights 2 mu (rotation) and 3 lambda
// (volume): E = sum V (w_r/2 |F - R|^2 + w_v/2 |F - D|^2). Lower triangle of L = sum V (w_r + w_v) G^T G as
// scalars: value (i,j) is added to block (i,j) as value * I.
void ct_elastic_assemble_laplacian(const ct_elastic* elastic, const int* unknown, ct_block_matrix* matrix);

#endif
