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
#ifndef CT_FORCE_WATER_H
#define CT_FORCE_WATER_H

#include "force/family.h"
#include "scene/scene.h"

typedef struct ct_water {
    bool enabled;
    double density;     // kg/m^3
    double current[3];  // m/s
    double drag[CT_WATER_DRAG], thrust[CT_WATER_THRUST];
    bool buoyancy;
    double level, layer;  // m; level NAN: everything is submerged
    double slow;          // m/s
    int up;               // axis of the level
    int nface;
    int* face;                 // 3 nface, outward
    unsigned char* two_sided;  // nface, of a sheet
    int nvert;
    double* volume;         // nvert, m^3, displaced at rest; of sheets for the present thickness
    unsigned char* wet;     // nbody, 1: in the water
    const double* gravity;  // 3, m/s^2, of the model's settings, borrowed
} ct_water;

// What the scene says about water, for nvert nodes of its model; arrays in the arena.
ct_status ct_water_create(ct_water* water, ct_arena* arena, const ct_scene* scene, int nvert,
                          const double* gravity);
// Where it keeps the numbers of one of its quantities.
double* ct_water_number(ct_water* water, ct_quantity quantity);

// Resistance of a wet face, D I + T n n^T, at the start of a step.
typedef struct ct_water_face {
    double normal[3];
    double drag, thrust;  // D, T, kg/s
    double history[3];    // m/s, mean of p over its corners
} ct_water_face;

typedef struct ct_water_work {
    ct_water_face* face;  // nface
} ct_water_work;

ct_status ct_water_work_create(ct_water_work** out, const ct_water* water);
void ct_water_work_free(ct_water_work* work);
// Takes K of every face at the start of a step.
void ct_water_begin(const ct_water* water, ct_water_work* work, const ct_family_step* step);
// Adds minus the force at x to f (3 nvert), returns the potential.
double ct_water_gradient(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                         const double* x, double* f);
// Adds the Hessian at x times dx.
void ct_water_product(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                      const double* x, const double* dx, double* out);
// Reverse of the gradient: adds -(d f/d .)^T lam, lam the step's adjoint and x its end, for the state at the
// start and, where the step is of second order, the position before it, and for the water's quantities.
void ct_water_vjp(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                  const double* x, const double* lam, const ct_family_bar* bar);

// Buoyancy of submerged bodies, a constant external force; nothing where the water has a surface. water NULL:
// none. Adds it to force (3 nvert).
void ct_water_buoyancy(const ct_water* water, double* force);
// Its magnitude: root of the sum of squares over nodes, N.
double ct_water_displaced_weight(const ct_water* water);
// Reverse: force_bar into the sums of the water's density and of gravity.
void ct_water_buoyancy_vjp(const ct_water* water, const double* force_bar, const ct_sums* sums);

#endif
