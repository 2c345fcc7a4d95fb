// Steps: the state one time step later
//
//     ct_work* work = NULL;
//     ct_step_report report;
//     if (ct_work_create(&work, model, 0, &error)) ...
//     while (ct_state_time(state) < 1)
//         if (ct_step(model, work, state, NULL, &report)) return fprintf(stderr, "%s\n", report.message), 1;
#ifndef CUTTLE_STEP_H
#define CUTTLE_STEP_H

#include "cuttle/contact.h"
#include "cuttle/state.h"

#ifdef __cplusplus
extern "C" {
#endif

// Scratch for the steps of one simulation at a time, with threads of its own; threads 0: as many as the
// scene's settings say. It remembers nothing that a result depends on.
CT_API ct_status ct_work_create(ct_work** out, const ct_model* model, int threads, ct_error* error);
CT_API void ct_work_free(ct_work* work);  // NULL: does nothing
// Whom steps, rollouts and their reverses ask with this work; cancel NULL: nobody. A step that is cancelled
// leaves the state as it was.
CT_API void ct_work_set_cancel(ct_work* work, ct_cancel cancel, void* user);

typedef struct ct_step_report {
    bool converged;
    int substeps;  // 1: the step was taken whole
    // the rule it was taken by: Euler's in place of one with stages where a contact closed or it was halved,
    // SDIRK2 in place of SDIRK3 with contacts
    ct_integrator integrator;
    int iterations;                    // outer iterations (L-BFGS, Newton or local/global)
    int solves;                        // applications of the factor
    int gradients;                     // element passes for the gradient
    int hessian_products;              // element passes for Hessian-vector products
    int line_searches;                 // step-length reductions
    int refactors;                     // numeric factorisations
    int inverted;                      // tets with det F <= 0 at the end
    double residual;                   // |r|, N
    double reference;                  // what it is measured against, N
    int contacts, sticking, slipping;  // contacts that carry force, of the last sub-step: all, by kind
    int forgotten;                     // contacts whose friction starts anew: the state has no room for them
    int passes;                        // of detection and solve, most of any sub-step
    double penetration;                // m, deepest negative gap at the end, 0: none
    bool smooth;                // no contact is on the edge between two sets: the gradient is two-sided
    const ct_contact* contact;  // of the last sub-step, borrowed from the work until its next step
    int ncontact;
    double seconds;
    char message[320];  // when it failed: why, and what to change; otherwise ""
} ct_step_report;

// Whether a motion may begin at the state. CT_BAD_SCENE when tets are inside out, which the message names;
// and when bodies and obstacles that touch one another overlap: when surfaces pass through one another, one
// lies inside the other, or a node below a plane. The message says which, where, how deep, and how far to
// move what. Surfaces nearer than the distance they keep are no overlap. Without contact
// (CT_CONTACT_METHOD_NONE) everything may begin.
CT_API ct_status ct_state_check_start(const ct_model* model, ct_work* work, const ct_state* state,
                                      ct_error* error);

// Advances the state by one time step under `control` (ct_model_control_size numbers, NULL: the scene's
// values). report NULL: not wanted. A step that does not converge is halved, again and again up to the
// settings' max_substep_depth; then it is CT_NOT_CONVERGED, as it is where a node has got beyond 1e12 m or
// m/s. CT_BAD_ARGUMENT, before anything is computed, for
// a state or a work of another model, for a control that is not finite and for one that leaves a cell no
// volume, and, in a state without history, for bodies and obstacles that overlap (ct_state_check_start). On
// failure report->message says why and what to change, and the state is unchanged.
CT_API ct_status ct_step(const ct_model* model, ct_work* work, ct_state* state, const double* control,
                         ct_step_report* report);

typedef struct ct_settle_report {
    bool converged;
    int iterations, solves, refactors;  // as in ct_step_report
    int contacts;                       // that carry force where it rests
    int inverted;                       // tets with det F <= 0 there
    double residual;                    // N, of the forces without inertia
    double reference;                   // what it is measured against, N
    double seconds;
    char message[320];  // when it failed: why, and what to change; otherwise ""
} ct_settle_report;

// Moves the state to where it rests under gravity, the forces and controls of its time (`control`: as in
// ct_step; policies do not act), with actuators where their controls want them; driven nodes and mounts stay.
// Equilibrium: |grad E - f| to the settings' tolerance, no inertia. Velocities stay as they are, those of
// nodes on links as their joints turn there; the history is forgotten. A rollout from a settled state is
// differentiated through the settling (ct_backward; the controls of its first step are then those that it has
// settled under), except where it rests on contacts. CT_NOT_CONVERGED where no equilibrium is found, because
// nothing holds a body, say; CT_BAD_ARGUMENT as ct_step. On failure report->message says why, and the state
// is unchanged. report NULL: not wanted.
CT_API ct_status ct_settle(const ct_model* model, ct_work* work, ct_state* state, const double* control,
                           ct_settle_report* report);

// Relaxes the flesh of a state that begins: nodes go to where the elements' forces alone are in balance, to
// the settings' tolerance, while joints and driven nodes are held and nothing else acts. Velocities stay as
// they are. A rollout from there is differentiated through it (ct_backward). Fails as ct_settle does.
CT_API ct_status ct_relax(const ct_model* model, ct_work* work, ct_state* state, ct_settle_report* report);

#ifdef __cplusplus
}
#endif
#endif
