// The preconditioner of a step: warp(x) A^-1 warp(x)^T with warp = R(x) R(x_reference)^T, and a small dense
// factor for the joints; see precondition.c for the formulas. A is the rest factor, one refreshed at
// x_reference, or, in short sub-steps where inertia weighs more, one of their own.
#ifndef CT_STEP_PRECONDITION_H
#define CT_STEP_PRECONDITION_H

#include "model/model.h"
#include "skeleton/config.h"
#include "step/state.h"

typedef struct ct_preconditioner {
    ct_arena arena;
    ct_families_work* families;  // of the same simulation, not owned
    ct_threads* threads;         // likewise; NULL: one thread
    ct_factor_work* solve;

    bool held;  // joints are no unknowns: their rows are zero

    // the factor in force
    const ct_factor* factor;
    const ct_coupling* coupling;
    bool reference_in_force;  // it was made at x_reference
    // others than the model's
    ct_factor* refreshed;       // at x_reference, NULL until the first refresh
    uint64_t refreshed_stamp;   // stamp of the reference that `refreshed` holds, 0: none in force
    bool renewed;               // it was made within this step, where the state must follow:
    double* x_renewed;          // 3 nvert
    double* q_renewed;          // ncoordinate
    double* actuation_renewed;  // numbers of the actuators
    bool warped;                // since the factor was chosen
    bool may_renew;             // the factor in force is for whole steps, not for short sub-steps
    bool accounts;              // the solver keeps the debt itself, and makes the factor anew where it is due
    int debt;                   // solves beyond what a good factor needs, since the factor in force was made
    ct_factor* substep;         // at rest for substep_level, NULL until needed
    int substep_level;          // 0: none
    ct_factor* braced;          // with stiffness added at nodes, NULL until needed
    bool brace_in_force;
    uint64_t brace_stamp;                    // of what it was made of
    const ct_factor* unbraced;               // what was in force before
    int refreshed_version, substep_version;  // of the model's values that they were made for
    ct_coupling refreshed_coupling, substep_coupling, braced_coupling;
    ct_block_matrix matrix;  // values for refactoring

    // the warp
    double* rotation;            // 9 nvert, scene order
    double* rotation_reference;  // 9 nvert, at x_reference
    double* rotation_braced;     // 9 nvert, where the braced factor was made
    double* warp;                // 9 nfree, factor order
    double* frame_reference;     // 12 nlink, at x_reference
    double* joint_factor;        // ndof x ndof, Cholesky factor of the links' part

    // scratch
    double* joint_trial;              // ndof x ndof
    double* composite;                // 6 nlink (ndof + 6)
    unsigned char* carries;           // nlink
    double *spread, *wrench, *twist;  // 6 nlink
    double* moments;                  // 12 nlink
    double* unit;                     // ndof
    ct_config place;
} ct_preconditioner;

// `families` and `threads` stay where they are as long as it lives. Freed by ct_precondition_free, whether or
// not this fails.
ct_status ct_precondition_create(ct_preconditioner* p, const ct_model* model, ct_families_work* families,
                                 ct_threads* threads);
void ct_precondition_free(ct_preconditioner* p);

// Puts the factor in force for a (sub-)step of the state at this depth of halving, refactoring when it is not
// at hand: the state's reference configuration, or, from depth 2 on, the rest shape with the inertia of the
// short step.
ct_status ct_precondition_choose(const ct_model* model, ct_preconditioner* p, const ct_state* state,
                                 int depth, int* refactors);
// Makes the factor anew at `at` and `actuation`, within a (sub-)step of rate c (1/s), and puts it in force;
// the families must begin the step again. The state follows, unless the rate is another than that of whole
// steps: then the factor serves this (sub-)step only. CT_SINGULAR leaves the old one in force.
ct_status ct_precondition_renew(const ct_model* model, ct_preconditioner* p, const ct_config* at,
                                const double* actuation, double c, int* refactors);
// Without links: makes a factor at `at` with the stiffness K (9 nfree, N/m, rows of the matrix) added to the
// blocks of the nodes, for the rate c, and puts it in force until it is released, or another one is chosen.
// The families must begin the step again, and the warp is to be set.
ct_status ct_precondition_brace(const ct_model* model, ct_preconditioner* p, const ct_config* at, double c,
                                const double* K, int* refactors);
void ct_precondition_release(ct_preconditioner* p);
// Of a reference configuration, and of the actuation there; never 0.
uint64_t ct_precondition_stamp(const double* x, size_t n);
uint64_t ct_precondition_reference_stamp(const ct_model* model, const double* x, const double* actuation);
// Sets the warp to R(x) R(x_reference)^T (the rest shape when no reference is in force), for nodes and links.
// rho: force imbalance at `config`, 3 nvert.
void ct_precondition_warp(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                          const double* rho);
// y = P^-1 b, P the warped system in force; b and y must not alias.
void ct_precondition_apply(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                           const double* b, double* y);
// The links' part of the warped system in joint rates, without springs: lower triangle, column-major, in
// p->joint_factor.
void ct_precondition_joint_matrix(const ct_model* model, ct_preconditioner* p, const ct_config* config);
// Link twists, in the axes of the factor, that a unit of each joint unknown gives: 6 nlink numbers a column.
void ct_precondition_joint_columns(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                                   double* columns);
// y = L^-1 y with the joints' factor L L^T; n: joint rates.
void ct_precondition_joint_half(const ct_preconditioner* p, int n, double* y);

#endif
