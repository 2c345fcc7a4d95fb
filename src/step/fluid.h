// Water on the surfaces of bodies: drag, thrust and buoyancy of one step.
//
// A face has the area A, the outward normal n and the relative velocity e = current - u, u the mean velocity
// of its corners. With
//     m = sqrt(|e|^2 + slow^2),   sin phi = -e.n / m,   s = sin^2 phi
// the law of cuttle.h, Ct(phi) = sin phi Q(s), is a matrix times e, because -|e|^2 sin phi n = |e| n (n.e):
//     F = K e,   K = D I + T n n^T,   D = g w Cd(s),   T = g w Q(s),   g = 1/2 density A m
// (w = 1/2 + (15 sin phi - 10 sin^3 phi + 3 sin^5 phi)/16 for one-sided faces, so that w(phi) + w(-phi) = 1:
// a thin plate of tets feels what a sheet feels.) K is taken at the start of the step, e at its end:
//     F = K(x_n, v_n) (current - u),   u = c mean(x) - mean(p),   v = c x - p as in inertia.h.
// This is minus the gradient of the quadratic potential 1/(2c) sum e^T K e, with the constant Hessian c K / 9
// between the corners.
//
// - Stable: Cd and Q are Bezier curves with control points that are not negative, so K is positive
// semi-definite at any step size.
// - In still water the power of the force at the end velocity is -u^T K u <= 0: energy is only lost.
// - Consistent: K(x_n, v_n) differs from K at the end by O(h). Where the motion is steady the law holds
// exactly; on a straight path
//   |e_n| e_{n+1} is symmetric in time, of second order, and coasting (dU/dt = -k U^2) is met exactly.
// - At rest in still water e = 0 and the force is zero. m is smooth at e = 0, where the square law has a kink
// in K.
//
// Buoyancy is that of displaced volume, node by node: -density V_i gravity, with V_i the rest volume lumped
// as mass is. A body as dense as water then feels no force at any node; pressure on the faces would give the
// same total force and moment, but would squeeze it as well. Submerged bodies: a constant external force.
// With a surface at `level` the wet fraction H(depth) of each node multiplies it, at the end of the step:
// convex potential, along `up` and with gravity's component there; K is multiplied by H at the face's centre
// at the start. H is the quintic step over `layer`.
#ifndef CT_STEP_FLUID_H
#define CT_STEP_FLUID_H

#include "quantity/sums.h"
#include "step/work.h"

// Takes K of every face at the start of a step, in work->fluid.
void ct_fluid_begin(const ct_model* model, ct_work* work, const double* x_n, const double* v_n);
// Adds minus the force at x to rho (3 nvert), returns the potential. work->rate and work->history are those
// of the step.
double ct_fluid_gradient(const ct_model* model, const ct_work* work, const double* x, double* rho);
// Adds the Hessian at x times dx.
void ct_fluid_product(const ct_model* model, const ct_work* work, const double* x, const double* dx,
                      double* out);
// Reverse of the gradient: adds -(d rho/d .)^T lam, lam the step's adjoint and x its end, for the state at
// the start and, where the step is of second order, the position before it (x_nm1_bar), and for the
// water's quantities and gravity.
void ct_fluid_vjp(const ct_model* model, const ct_work* work, const double* x_n, const double* v_n,
                  const double* x, const double* lam, double* x_n_bar, double* v_n_bar, double* x_nm1_bar,
                  const ct_sums* sums);

// Adds the buoyancy of submerged bodies to external forces (3 nvert); nothing where the water has a surface.
void ct_fluid_buoyancy(const ct_model* model, double* force);
// Its magnitude: root of the sum of squares over nodes, N.
double ct_fluid_displaced_weight(const ct_model* model);
// Reverse: force_bar into the sums of the water's density and of gravity.
void ct_fluid_buoyancy_vjp(const ct_model* model, const double* force_bar, const ct_sums* sums);

#endif
