// Scratch of one simulation. Nothing here determines a result: it may be thrown away between any two steps.
//
// Node vectors (3 nvert, scene order) are full-space; unknown vectors (3 nfree, factor order) are reduced.
#ifndef CT_STEP_WORK_H
#define CT_STEP_WORK_H

#include "contact/contact.h"
#include "contact/overlap.h"
#include "model/model.h"
#include "skeleton/joints.h"
#include "sparse/krylov.h"
#include "step/precondition.h"
#include "step/record.h"
#include "step/state.h"

enum { CT_HISTORY = 5 };  // pairs kept by L-BFGS

// Of solve.c: how the gradient has changed (y) along the last steps (s), the latest first. Stages of a step
// share them: their matrix is the same.
typedef struct ct_lbfgs {
    int count;                              // of pairs
    double *s[CT_HISTORY], *y[CT_HISTORY];  // nunknown
    double rho[CT_HISTORY];                 // 1 / (s . y)
} ct_lbfgs;

// Of phi.c, in products with the Hessian.
typedef struct ct_phi_scratch {
    double *dx, *product;  // 3 nvert
} ct_phi_scratch;

// Of step.c: the stages of a step so far, and where the one under way starts from. 3 nvert each but for q
// (ncoordinate); of models whose integrator has stages.
typedef struct ct_stages_work {
    double *x[CT_STAGES - 1], *v[CT_STAGES - 1], *q[CT_STAGES - 1];  // ends of the stages before the last
    double *from_x, *from_v;  // Y of rate.h, of positions and velocities
    double *look_x, *look_v;  // where the stage is expected to end
    double* acceleration;     // of the last stage
} ct_stages_work;

typedef struct ct_link_stages ct_link_stages;

struct ct_work {
    ct_arena arena;
    const ct_model* model;  // that it was made for
    ct_threads* threads;    // NULL: one thread
    ct_families_work families;
    ct_preconditioner preconditioner;
    ct_krylov_work* krylov;
    ct_contact_work* contact;                  // NULL: bodies pass through one another
    ct_overlap_work overlap;                   // with contact
    struct ct_contact_system* contact_system;  // with contact, step/contact_system.h
    ct_cancel cancel;                          // NULL: nobody is asked
    void* cancel_user;
    const ct_solver_row* solver;
    void* solver_part;             // what the solver keeps here
    struct ct_step_jvp_work* jvp;  // of ct_step_jvp, NULL until it is called

    // the step under way
    ct_family_step step;            // as the families see it
    const double *x_from, *v_from;  // 3 nvert, where its motion is counted from
    ct_stages_work stages;
    ct_link_stages* links;  // of step/link_stages.h, where an integrator has stages and the model links
    const double* given;    // control, completed
    double* control;        // control size, the scene's values where the caller gives none
    double* policy;         // observations and hidden numbers, and their adjoints
    double* force;          // 3 nvert, N, external, at the start of the step
    const double* load;     // 3 nvert, N, added to these in a step without contact; NULL: none
    double load_scale;      // N, with a load: what the residual is measured against
    double* x_end;          // 3 nvert, driven nodes at its end
    double* mount;          // 7 nmount, mounts at its end
    double* root_end;       // 7 nroot, driven roots at its end
    double* actuation;      // numbers of the actuators
    ct_record* record;      // where sub-steps are noted, NULL: nowhere
    double target;          // N, residual to reach
    double reference;       // N
    double least;           // N, that the reference has at least
    double resolution;      // J, differences of Phi below which are round-off

    // evaluation at x
    ct_config at, trial;  // the iterate and a trial point
    double* rho;          // 3 nvert, full-space force imbalance, N
    ct_phi_scratch phi;

    // skeletons
    double *wrench, *twist;  // 6 nlink
    double* moments;         // 12 nlink
    // ndof x ndof, at the linearisation point: of the skeleton and of the joints' potentials
    double* curvature;

    // unknown vectors
    double *r, *r_trial, *d, *scratch;
    ct_lbfgs lbfgs;

    // a copy of the state at the start of the step
    unsigned char* backup;
};

// Whether the work is to end.
static inline bool ct_work_cancelled(const ct_work* work) {
    return work->cancel && work->cancel(work->cancel_user);
}

#endif
