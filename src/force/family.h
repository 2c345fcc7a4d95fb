// Families of forces: every force of a model belongs to one, and every family is one row of functions.
//
// A step finds a stationary point of the sum of its families' potentials (step/phi.h). A row says how a
// family computes its share: value and gradient, linearisation and products, the matrix for the factored
// system, and the reverse of all this. Entries that are NULL have nothing to do. The order of the table is
// the order of the sums: the first family overwrites the node vectors that the others add to.
//
// Functions get the family as the model compiled it (`self`, immutable), its scratch (`work`), and the step
// under way. Node vectors have 3 numbers a node and one readable double behind the end.
#ifndef CT_FORCE_FAMILY_H
#define CT_FORCE_FAMILY_H

#include "base/memory.h"
#include "base/threads.h"
#include "force/rate.h"
#include "quantity/sums.h"
#include "skeleton/config.h"
#include "sparse/block_matrix.h"

// Nodes that joints move, in a stage of an integrator: about the point x their velocity and acceleration are
// v and a, those of the joints' motion, and from there on grow with c (x - .) and c^2 (x - .); likewise rates
// of the joints.
typedef struct ct_link_motion {
    int count;
    const int* node;          // count
    const double *x, *v, *a;  // 3 nvert, at these nodes
    const double *q, *rate;   // ncoordinate; ndof, along the parents' axes
} ct_link_motion;

// The (sub-)step or stage under way, as families see it. Everything is borrowed and outlives the step.
typedef struct ct_family_step {
    ct_threads* threads;  // NULL: one thread
    ct_rate rate;
    int npast;                // of x_nm1 and x_nm2, which take part (their weights are not 0): 0, 1 or 2
    bool rated;               // strain rates are wanted also where nothing is damped: for derivatives by beta
    bool foreseen;            // linearisations take the stress foreseen: for Newton's method, not exact
    const double *x_n, *v_n;  // 3 nvert, where it starts
    const double *x_nm1, *v_nm1;        // 3 nvert, one step before, or at the end of the first stage
    const double *x_nm2, *v_nm2;        // 3 nvert, at the end of the second
    const double *q_n, *q_nm1, *q_nm2;  // ncoordinate, likewise, of the joints
    // 3 nvert: where forces are looked at that are held over the step; NULL: x_n and v_n
    const double *x_look, *v_look;
    const ct_link_motion* links;  // NULL: nodes on links are treated like all others
    const double* force;          // 3 nvert, N, external
    const double* actuation;      // numbers of the actuators
} ct_family_step;

// Where the reverse of a (sub-)step goes: what the loss changes by with each of these.
typedef struct ct_family_bar {
    double *x_n, *v_n;                      // 3 nvert: of the step's start
    double *x_nm1, *v_nm1, *x_nm2, *v_nm2;  // 3 nvert: of the step or the stages before
    double *q_n, *q_nm1, *q_nm2;            // ndof, overwritten: of joint coordinates, as tangents
    double *x_look, *v_look;                // 3 nvert: where forces are looked at; NULL: x_n and v_n
    double *torque, *target;                // ndof, overwritten: of the joints' controls
    double* actuation;                      // of the numbers of the actuators
    const ct_sums* sums;                    // of the quantities
} ct_family_bar;

// What the start of a (sub-)step and what acts during it change by, for derivatives along a direction.
typedef struct ct_family_dot {
    const double *x_n, *v_n, *x_nm1, *v_nm1, *x_nm2, *v_nm2;  // 3 nvert
    const double *q_n, *q_nm1;                                // ndof: of joint coordinates, as tangents
    const double *torque, *target;                            // ndof: of the joints' controls
    const double* force;                                      // 3 nvert
    const double* actuation;                                  // of the numbers of the actuators
    const struct ct_elastic* solids;  // tets with the change of the Lame parameters; NULL: nothing
    double* scratch;                  // 3 nvert
} ct_family_dot;

typedef struct ct_family {
    const char* name;
    bool actuator;  // potentials of actuators are summed among themselves before they join the others
    void (*free)(void* self);  // NULL: the model's arena holds it
    ct_status (*create_work)(void** work, const void* self);
    void (*free_work)(void* work);
    void (*set_stiffness)(void* self, const double* stiffness);  // of every actuator, by its number
    // Start of a (sub-)step.
    void (*begin)(const void* self, void* work, const ct_family_step* step);
    // Returns the potential at x and adds its gradient to f.
    double (*gradient)(const void* self, void* work, const ct_family_step* step, const double* x, double* f);
    // Remembers the linearisation at x; then adds H dx to out, x the same.
    void (*linearise)(const void* self, void* work, const ct_family_step* step, const double* x);
    void (*product)(const void* self, void* work, const ct_family_step* step, const double* x,
                    const double* dx, double* out);
    // Foresees the stress after the motion length dx by the last linearisation; dx NULL: that at the step's
    // start. For families whose stress grows by mere rotation within a Newton step.
    void (*foresee)(const void* self, void* work, const ct_family_step* step, double length,
                    const double* dx);
    // Adds the Hessian at x (NULL: rest, actuators too; project: elements made positive semi-definite).
    // unknown[v]: block row of node v, or -1. The step starts at x: no rates.
    void (*assemble)(const void* self, void* work, const ct_family_step* step, const double* x, bool project,
                     const int* unknown, ct_block_matrix* matrix);
    // Adds the constant matrix L of projective dynamics, one scalar per pair of nodes: with the potential as
    // a squared distance from what the elements are projected to, grad E = L x - J p(x); or one that is at
    // least the Hessian near rest. For what has the projective energy.
    void (*laplacian)(const void* self, const int* unknown, ct_block_matrix* matrix);
    // Sets the rotation of its nodes, 9 a node, row-major; the first family sets all.
    void (*rotations)(const void* self, void* work, ct_threads* threads, const double* x, double* rotation);
    // Elastic energy at x, without damping.
    double (*energy)(const void* self, const double* x);
    // Reverse of the gradient: adds -(d f/d .)^T lam to the parts of bar, lam the step's adjoint and x its
    // end.
    void (*vjp)(const void* self, void* work, const ct_family_step* step, const double* x, const double* lam,
                const ct_family_bar* bar);

    // The same along a direction: adds -(d f/d .) dot to out.
    void (*jvp)(const void* self, void* work, const ct_family_step* step, const double* x,
                const ct_family_dot* dot, double* out);

    // Families that act on the joints, where node forces have become forces r on the unknowns (ndof): adds
    // its force, returns the potential; adds its Hessian to G (ndof x ndof; exact: as it is, otherwise a part
    // that is never indefinite); reverse, lam_z the step's adjoint in the joints' unknowns.
    double (*joint_gradient)(const void* self, const void* work, const ct_config* at, double* r);
    void (*joint_hessian)(const void* self, const void* work, const ct_config* at, bool exact, double* G);
    void (*joint_vjp)(const void* self, const void* work, const ct_config* at, const double* lam_z,
                      const ct_family_bar* bar);
    void (*joint_jvp)(const void* self, void* work, const ct_config* at, const ct_family_dot* dot,
                      double* out);
} ct_family;

// The rows, each in the file of its family; families.c lists them.
extern const ct_family ct_elastic_family, ct_sheet_family, ct_muscle_family, ct_chamber_family,
    ct_cavity_family, ct_cable_family, ct_inertia_family, ct_water_family, ct_joint_spring_family;

#endif
