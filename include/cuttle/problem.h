// Problems: minimise the scene's objective over its parameters
//
// A problem is a scene as a function of one vector y, in which each parameter is a slice, scaled so that
// steps of about 1 make sense.
//
//     ct_problem* problem = NULL;
//     if (ct_problem_create(&problem, scene, 0, &error)) ...
//     double* y = malloc(ct_problem_size(problem) * sizeof *y);
//     ct_problem_start(problem, y);
//     ct_optimize_def def = ct_scene_optimize_def(scene);
//     if (ct_problem_optimize(problem, &def, y, NULL, NULL, NULL, &error)) ...
//     if (ct_problem_record(problem, scene, "best.h5", y, &error)) ...
#ifndef CUTTLE_PROBLEM_H
#define CUTTLE_PROBLEM_H

#include "cuttle/gradient.h"
#include "cuttle/parameter.h"

#ifdef __cplusplus
extern "C" {
#endif

// A term of the user's own: adds to *loss and, where x_bar is not NULL, to the seeds x_bar and v_bar (3 nvert
// each) and q_bar (joint rates, as in ct_seed). Called for every state on the way forward (x_bar NULL) and
// again backward.
typedef void (*ct_term)(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                        double* q_bar, void* user);
typedef struct ct_problem_report {
    ct_rollout_report forward;
    ct_backward_report backward;
    bool refactored;  // the parameters have moved so far that the system was factored again
    size_t tape_bytes;
    // the first term of the objective as a root mean square without its weight: a distance in metres, say
    double measure;
} ct_problem_report;
// Has a model, a work and a tape of its own; the rollout takes round(duration / time_step) steps. max_bytes:
// of the tape, 0: no limit. Fails as ct_model_create does, and with CT_BAD_SCENE when the scene has no
// parameters.
CT_API ct_status ct_problem_create(ct_problem** out, const ct_scene* scene, size_t max_bytes,
                                   ct_error* error);
CT_API void ct_problem_free(ct_problem* problem);  // NULL: does nothing
// Borrowed; it has the values of the last evaluation.
CT_API const ct_model* ct_problem_model(const ct_problem* problem);
CT_API int ct_problem_steps(const ct_problem* problem);                  // of a rollout
CT_API int ct_problem_size(const ct_problem* problem);                   // numbers of y
CT_API int ct_problem_slice_count(const ct_problem* problem);            // a parameter has one slice or more
CT_API ct_slice ct_problem_slice(const ct_problem* problem, int index);  // no such slice: name "", zeros
// Writes the scene's own values as a point y.
CT_API void ct_problem_start(const ct_problem* problem, double* y);
// Writes the bounds of y; -inf, inf where there are none.
CT_API void ct_problem_bounds(const ct_problem* problem, double* lower, double* upper);
// Writes what y means: a physical value for each of its numbers.
CT_API void ct_problem_values(const ct_problem* problem, const double* y, double* values);
CT_API int ct_problem_term_count(const ct_problem* problem);  // terms of the objective, as the scene has them
// The name of a term, borrowed; no such term: NULL.
CT_API const char* ct_problem_term_name(const ct_problem* problem, int index);
// What a term has added to the loss in the last evaluation, its weight included; no such term: NAN.
CT_API double ct_problem_term_loss(const ct_problem* problem, int index);
// Adds the user's term to the objective, in place of an earlier one; term NULL: none.
CT_API void ct_problem_set_term(ct_problem* problem, ct_term term, void* user);
// Writes dvalue/dy for each number of y: a derivative by a physical value is that by y divided by it.
CT_API void ct_problem_slopes(const ct_problem* problem, const double* y, double* slopes);
// What the objective counts of a single state after `step` steps (ct_problem_steps: as if it were the last),
// without terms of controls and of the user. state_bar: its derivative by the state's vector
// (ct_model_state_first), overwritten; NULL: not wanted. CT_BAD_ARGUMENT for a state of another scene.
CT_API ct_status ct_problem_state(const ct_problem* problem, int step, const ct_state* state, double* loss,
                                  double* state_bar);
// The same of one term (ct_problem_term_name). CT_BAD_ARGUMENT also for one that does not exist.
CT_API ct_status ct_problem_state_term(const ct_problem* problem, int index, int step, const ct_state* state,
                                       double* loss, double* state_bar);
// Whom evaluations ask; cancel NULL: nobody. They then end with CT_CANCELLED, and so does a search.
CT_API void ct_problem_set_cancel(ct_problem* problem, ct_cancel cancel, void* user);
// Runs the motion at y and shows every state, the initial one included. The problem's model has the values of
// y afterwards. controls: of every step (steps x ct_model_control_size numbers), NULL: not wanted. Fails as
// ct_problem_evaluate does.
CT_API ct_status ct_problem_rollout(ct_problem* problem, const double* y, ct_visit visit, void* user,
                                    double* controls, ct_rollout_report* report, ct_error* error);
// Loss at y and, unless NULL, its gradient (ct_problem_size numbers). report NULL: not wanted. CT_BAD_SCENE
// when there is nothing to minimise, CT_BAD_ARGUMENT when y is not finite or a step refuses it,
// CT_NOT_CONVERGED when a step fails or parameters put bodies into one another; *loss is then NAN, and error
// says which step and why.
CT_API ct_status ct_problem_evaluate(ct_problem* problem, const double* y, double* loss, double* gradient,
                                     ct_problem_report* report, ct_error* error);
// Runs the motion at y into a trajectory file. The scene is the one that the problem was made from; NULL: the
// file says nothing of it. Fails as the steps of ct_problem_evaluate and as ct_trajectory_create do.
CT_API ct_status ct_problem_record(ct_problem* problem, const ct_scene* scene, const char* path,
                                   const double* y, ct_error* error);

typedef struct ct_check_def {
    int slices;        // how many, spread over all of them; 0: all
    int components;    // per slice: the largest derivative, the others spread and random; 0: all
    double step;       // largest relative step of the differences
    int levels;        // step sizes, each a quarter of the one before; 2 to 12
    double tolerance;  // on the relative error
    uint64_t seed;
    // the scene that the problem was made from: every loss of a difference is that of a model which is built
    // from it with the values of the sample, as if they had been written into the scene. So what models keep
    // when their values change cannot hide a wrong derivative. It is changed on the way and changed back.
    // NULL: the problem's model takes the values
    ct_scene* scene;
} ct_check_def;
// all slices, 4 components each, steps from 1e-3 in 5 levels, tolerance 1e-6
CT_API ct_check_def ct_check_def_default(void);
typedef struct ct_contact_switch {  // a contact that does something else in another rollout
    int step;                       // the step that begins after this many
    ct_contact_type type;
    int node[4];
    int a, b;  // colliders, as in ct_contact
    // the same: its tiny compliance differs, which contacts have that share nodes with others
    ct_contact_set from, to;
} ct_contact_switch;
enum { CT_SWITCHES = 4 };
typedef struct ct_check_slice {
    char name[64];
    // max |g - difference| / max |g| over the components, at the best step size; inf: no rollout converged
    double relative_error;
    // of log error over log step where truncation dominates (2 is right, 0 wrong); NAN: at round-off from the
    // start
    double slope;
    int worst;  // component within the slice
    double worst_gradient, worst_difference;
    // contacts that switch between y and the samples of these differences, summed over steps and samples:
    // such differences are not derivatives
    int switches;
    ct_contact_switch switched[CT_SWITCHES];  // the first of them
    // worst residual / reference of the steps at y and in the samples of these differences: what the solver
    // reached
    double residual;
    // first step that is halved in some of these samples and not in the others; -1: none
    int halved;
    bool passed;
    bool skipped;  // not among the slices that were looked at
    // derivatives and differences are below the round-off of the loss at every step size: nothing was
    // compared
    bool unresolved;
} ct_check_slice;
// Compares the gradient with central differences. Where none of the step sizes pass, those are preferred at
// which no contact switches. slices: ct_problem_slice_count of them. The differences show the solver's
// tolerance: make the problem from a scene with a tight one (1e-12, where its contacts let the solver reach
// that).
CT_API ct_status ct_problem_check(ct_problem* problem, const double* y, const ct_check_def* def,
                                  ct_check_slice* slices, ct_error* error);

typedef struct ct_progress {
    int iteration;                              // evaluations so far
    double loss, best, gradient_norm, seconds;  // gradient_norm is NAN where the method asks for none
    double measure;                             // as in ct_problem_report, of this evaluation
    double forward_seconds, backward_seconds;   // of this evaluation
    bool failed;      // this evaluation did not converge; loss, measure and gradient_norm are NAN
    const double* y;  // of this evaluation
    const double* best_y;
} ct_progress;
typedef bool (*ct_on_progress)(const ct_progress* progress, void* user);  // false: stop
typedef struct ct_optimize_report {
    int iterations;        // evaluations
    int failures;          // of these, how many did not converge; they counted as a large loss
    double loss, seconds;  // the best
    const char* reason;    // why it stopped, static
} ct_optimize_report;
typedef struct ct_evaluation {  // of a point
    ct_status status;           // CT_NOT_CONVERGED: loss and measure are NAN
    double loss, measure;
    double forward_seconds, backward_seconds;
} ct_evaluation;
// Evaluates y[0], ..., y[count - 1], and their gradients (zeros before) unless NULL. How a point went is
// its result's status, and the sentence of the first that failed may be left in error; anything but CT_OK
// returned ends the search.
typedef ct_status (*ct_evaluate)(int count, const double* y, double* gradients, ct_evaluation* results,
                                 void* user, ct_error* error);
typedef struct ct_function {  // anything that can be minimised: several scenes at once, say
    int size;
    const double *lower, *upper;  // size; -inf, inf, or NULL: none
    ct_evaluate evaluate;
    void* user;
    int most;  // points that it is asked for at a time; 0: as many as a method has
} ct_function;
// Starts from y (moved into the bounds) and leaves the best there. Fails with CT_NOT_CONVERGED only if the
// start does. progress, report and error may be NULL; stopping early is CT_OK. Which points are looked at
// depends on def and their losses (and gradients) alone.
CT_API ct_status ct_function_optimize(const ct_function* function, const ct_optimize_def* def, double* y,
                                      ct_on_progress progress, void* user, ct_optimize_report* report,
                                      ct_error* error);
// The same for a problem, one point at a time.
CT_API ct_status ct_problem_optimize(ct_problem* problem, const ct_optimize_def* def, double* y,
                                     ct_on_progress progress, void* user, ct_optimize_report* report,
                                     ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
