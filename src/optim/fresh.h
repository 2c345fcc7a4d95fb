// A problem on a model that was built from the scene with the values of y, in place of one whose values were
// changed: what the two do differently is a dependence that gradients cannot know.
#ifndef CT_OPTIM_FRESH_H
#define CT_OPTIM_FRESH_H

#include "optim/problem.h"

typedef struct ct_fresh {  // what the problem had before
    ct_model* model;
    ct_tape* tape;
    ct_work* work;
    ct_state* initial;
} ct_fresh;

// Builds the scene (that of the problem) with the values of y, and lets the problem work on it. The scene is
// as before when it returns. The objective stays, one function of the motion, and so do the thicknesses of
// contact, which no parameter varies: not that of a sheet either, from which one may have been chosen. Fails
// as ct_problem_create does, with the problem unchanged.
ct_status ct_fresh_begin(ct_fresh* kept, ct_problem* problem, ct_scene* scene, const double* y,
                         ct_error* error);
// Gives the problem back what it had.
void ct_fresh_end(ct_fresh* kept, ct_problem* problem);

#endif
