// What the linear systems of contact need beside the touches: the compliance of the preconditioner in force,
// the friction problem, and vectors that grow to a high-water mark.
#ifndef CT_STEP_CONTACT_SYSTEM_H
#define CT_STEP_CONTACT_SYSTEM_H

#include "contact/compliance.h"
#include "contact/friction.h"
#include "step/secant.h"
#include "step/work.h"

// How a touch slips: along P (F - r u).
typedef struct ct_contact_slip {
    double tau[3];  // its direction
    double rho;     // the limit of friction over its length: below 1 where it slips
} ct_contact_slip;

typedef struct ct_contact_system {
    ct_compliance* compliance;
    ct_friction_matrix matrix;  // of the touches asked for last
    ct_friction_matrix linear;  // of those of the linear system
    double* W;
    size_t W_size;
    bool hard;              // this (sub-)step has had a problem that products with W did not solve
    uint64_t stamp;         // of W: it has been made that often
    const ct_model* model;  // of the products
    ct_work* work;
    const ct_config* config;
    int* which;  // of the products: touches
    size_t which_size;
    ct_friction_work* friction;
    ct_krylov_work* krylov;
    ct_arena arena;
    ct_secant secant;
    double* U;  // three rows a touch, a column for each of the secant's
    size_t U_capacity;
    // contact_kept.h: the touches and sets that the friction problem's linear system is factored for
    int kept;  // how many, 0: it is not
    int* kept_which;
    unsigned char* kept_set;
    double* columns;                    // solutions
    ct_contact_slip *slip, *kept_slip;  // a touch: now, and in the factor
    size_t kept_which_size, kept_set_size, columns_size, slip_size, kept_slip_size;
    double* spread;             // 6 nlink ndof: link twists of each joint rate
    double *unknowns, *answer;  // nunknown: right-hand sides, and what the preconditioner makes of them
    double* nodes;              // 3 nvert
    double* brace;              // 9 nfree, with sheets: stiffness of touches in the factor
    double* vector;             // unknowns, then three rows a touch that is not open; matrices of the touches
    size_t capacity;
    size_t layout;  // touches that the vector is laid out for
    int revision;   // of the touches that it is about
    int measured;   // touches of the W that the vector holds, listed there; 0: none
    bool factored;  // the last Newton step's factor is of these touches, with the sets listed there
} ct_contact_system;

ct_status ct_contact_system_create(ct_contact_system** out, const ct_model* model);
void ct_contact_system_free(ct_contact_system* system);
// A new (sub-)step, forwards or backwards: forgets what is kept for the matrices of the last one.
void ct_contact_system_begin(ct_contact_system* system);
// W of the listed touches, at a configuration that the warp of the work belongs to: stored for few touches,
// as products with the preconditioner for many. Valid until the next call, and for many as long as the work,
// the configuration and the touches stay where they are.
ct_status ct_contact_system_compliance(const ct_model* model, ct_work* work, const ct_config* config,
                                       int count, const int* which, const ct_friction_matrix** W);
// Where products with the last W have not solved a problem: it is stored from now on, in this (sub-)step.
// False: it has been, or is too large.
bool ct_contact_system_harden(ct_contact_system* system);
// Blocks of the listed touches where every one is a free node, for linear systems with fixed sets
// (ct_friction_factor); otherwise (*W)->nodes is NULL.
ct_status ct_contact_system_nodes(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                  const int* which, const ct_friction_matrix** W);
// The same, or W where they are not.
ct_status ct_contact_system_linear(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                   const int* which, const ct_friction_matrix** W);
// Its inverse where that is cheap; see ct_compliance_invert.
ct_status ct_contact_system_invert(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                   const int* which, ct_friction_inverse* inverse);

#endif
