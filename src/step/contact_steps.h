// The two kinds of iterations of a (sub-)step with contact: a step on a model of the bodies, and a Newton
// step (contact_solve.h says when which is taken). Both leave the step in work->d and in the touches' deltas.
#ifndef CT_STEP_CONTACT_STEPS_H
#define CT_STEP_CONTACT_STEPS_H

#include "step/work.h"

typedef struct ct_contact_point {
    double phi;       // J
    double forces;    // |r - B^T J^T F|, N
    double contacts;  // of the contact conditions, N
    double size;      // |B^T J^T F|, N
    double depth;     // of penetration into the thickness, relative
    double total;     // of both residuals
} ct_contact_point;

// A solve so far.
typedef struct ct_contact_course {
    ct_contact_point here;
    bool newton;      // the next step is one of Newton's
    bool keep;        // model steps try the sets as they are first
    int patience;     // slow model steps before one of Newton's
    int slow;         // slow ones so far
    int looks;        // for pairs that meet, while it is young
    double taken;     // how far the last step was taken
    double accuracy;  // of the friction problem
    double mark;      // half of it must be reached within STALL_LIMIT iterations
    int iteration, marked;
    bool braced;    // touches of single nodes are in the factor
    bool strained;  // which is due to be made anew
    int changed;    // sets, since it was made
    int trouble;    // iterations that have not paid, since the factor was made
    int renewals;   // of the factor for them
    int since;      // iteration in which pairs have joined last
    bool freed;     // it has been solved without touches
    bool told;      // a friction problem has told the sets, and was followed all the way
} ct_contact_course;

// How well friction problems are solved, relative to the forces. Where W is not stored, iterations of the
// problem cost as much as those around it: they go hand in hand.
typedef struct ct_contact_accuracy {
    double stored, products;
} ct_contact_accuracy;

// The friction problem on the touches that carry force or would be penetrated without any. keep: with the
// sets as they are, if the law holds with them; taken: how far the last step was taken.
ct_status ct_contact_steps_model(const ct_model* model, ct_work* work, ct_contact_accuracy wanted, bool keep,
                                 double taken, ct_step_report* report);
// With the sets that the friction problem has told, or else those by the present forces and gaps.
ct_status ct_contact_steps_newton(const ct_model* model, ct_work* work, double target,
                                  ct_contact_course* course, ct_step_report* report);

#endif
