// The forces of a model: the table of families, and sums over those that a model has.
//
// Sums are taken in the order of the table. A family that a model does not have is NULL and costs nothing.
#ifndef CT_FORCE_FAMILIES_H
#define CT_FORCE_FAMILIES_H

#include "force/family.h"

// The first must be there, perhaps of no element: it overwrites what the others add to.
typedef enum ct_family_kind {
    CT_FAMILY_SOLIDS,    // ct_elastic: tets
    CT_FAMILY_SHEETS,    // ct_sheet
    CT_FAMILY_MUSCLES,   // ct_muscle
    CT_FAMILY_CHAMBERS,  // ct_chamber
    CT_FAMILY_CAVITIES,  // ct_cavity
    CT_FAMILY_CABLES,    // ct_cable
    CT_FAMILY_INERTIA,   // ct_inertia, with mass damping and external forces
    CT_FAMILY_WATER,     // ct_water
    CT_FAMILY_JOINTS,    // ct_tree, its work a ct_joint_work: springs, limits, dampers, servos
    CT_FAMILY_COUNT
} ct_family_kind;

// Compiled families of a model.
typedef struct ct_families {
    void* of[CT_FAMILY_COUNT];  // NULL: none
    const double* rest;         // 3 nvert, m
    const double* actuation;    // numbers of actuators at rest
} ct_families;

// Their scratch.
typedef struct ct_families_work {
    void* of[CT_FAMILY_COUNT];
} ct_families_work;

void ct_families_free(ct_families* families);
void ct_families_set_stiffness(ct_families* families, const double* stiffness);  // of every actuator
ct_status ct_families_work_create(ct_families_work* work, const ct_families* families);
void ct_families_work_free(ct_families_work* work);

// The operations of ct_family, summed; node vectors are overwritten.
void ct_families_begin(const ct_families* families, ct_families_work* work, const ct_family_step* step);
double ct_families_gradient(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                            const double* x, double* f);
void ct_families_linearise(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                           const double* x);
void ct_families_product(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                         const double* x, const double* dx, double* out);
// True: there is a family that foresees.
bool ct_families_foresee(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                         double length, const double* dx);
void ct_families_rotations(const ct_families* families, ct_families_work* work, ct_threads* threads,
                           const double* x, double* rotation);
double ct_families_energy(const ct_families* families, const double* x);
// Reverse of the gradient: lam into bar. Inertia comes first: it overwrites the parts of the state, which the
// others add to; bar->v_n holds the adjoint of the velocity at the end of the step on entry.
void ct_families_vjp(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                     const double* x, const double* lam, const ct_family_bar* bar);
// Likewise of the families that act on joints; added; nothing where a model has no links.
double ct_families_joint_gradient(const ct_families* families, const ct_families_work* work,
                                  const ct_config* at, double* r);
void ct_families_joint_hessian(const ct_families* families, const ct_families_work* work, const ct_config* at,
                               bool exact, double* G);
void ct_families_joint_vjp(const ct_families* families, const ct_families_work* work, const ct_config* at,
                           const double* lam_z, const ct_family_bar* bar);
// Along a direction: -(d f/d .) dot, out overwritten; of the joints, added.
void ct_families_jvp(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                     const double* x, const ct_family_dot* dot, double* out);
void ct_families_joint_jvp(const ct_families* families, ct_families_work* work, const ct_config* at,
                           const ct_family_dot* dot, double* out);
// Adds the Hessian of a step with v = c x - ... at x and the numbers of actuators (NULL: rest) to the matrix:
// elements away from rest are made positive semi-definite, damping enters as without strain rate.
void ct_families_assemble(const ct_families* families, ct_families_work* work, double c, const double* x,
                          const double* actuation, const int* unknown, ct_block_matrix* matrix);
// Adds the constant matrix of projective dynamics, without inertia.
void ct_families_laplacian(const ct_families* families, const int* unknown, ct_block_matrix* matrix);

#endif
