// Parameters: named slices of one vector y; objectives: sums of terms
//
// What is searched for and what is wanted belong to the scene, as files have it; problem.h puts them to work.
//
//     ct_parameter_def young = ct_parameter_def_default();             // Young's modulus of every body
//     if (ct_scene_add_parameter(scene, &young, &error)) ...
//     ct_keyframe there = {.translate = {1, 0, 0}};
//     ct_objective_def reach = ct_objective_def_default();             // a point, in the last state
//     reach.nodes = tip, reach.count = ntip;
//     reach.path = &there, reach.npath = 1;
//     if (ct_scene_add_objective(scene, &reach, &error)) ...
#ifndef CUTTLE_PARAMETER_H
#define CUTTLE_PARAMETER_H

#include "cuttle/quantity.h"
#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Element: tet or triangle of a sheet, node, or (always unless SCENE) for controls a group of `hold` steps,
// for joints and links a link, for muscles and chambers one of them.
typedef enum ct_parameter_per { CT_PER_ELEMENT, CT_PER_TAG, CT_PER_BODY, CT_PER_SCENE } ct_parameter_per;
// Its word in scene files and messages, "element", ...; NULL: not one of them.
CT_API const char* ct_parameter_per_name(ct_parameter_per per);
typedef enum ct_curve {
    CT_CURVE_STEPS,  // a value for every `hold` steps
    // a cubic B-spline over the rollout with `knots` control points, of which the first and last are its ends
    CT_CURVE_SPLINE,
    // center + amplitude sin(2 pi frequency t + phase); a slice each, such as "<name>.phase"
    CT_CURVE_SINUSOID
} ct_curve;
// Its word in scene files and messages, "steps", ...; NULL: not one of them.
CT_API const char* ct_curve_name(ct_curve curve);
typedef struct ct_wave_number {
    double start, lower, upper;
    bool fixed;  // not a parameter
} ct_wave_number;
typedef struct ct_parameter_def {
    const char* name;  // NULL: the kind's name, such as "young"; for controls the control's
    ct_quantity quantity;
    ct_parameter_per per;
    int body;              // restrict to this body, -1: all
    const char* control;   // CT_QUANTITY_CONTROL: which
    const char* link;      // joints and links: restrict to this one, NULL: all that have such a quantity
    const char* actuator;  // stiffness of actuators: restrict to this one, NULL: all of them
    int hold;              // CT_QUANTITY_CONTROL: steps for which a value is held (1: every step its own)
    ct_transform transform;
    // bounds of the value; -inf, inf: those of its row in CT_QUANTITY_LIST (a share of the starting value
    // where the row has a floor)
    double lower, upper;
    double scale, offset;  // of the transform; scale 0: chosen from the starting value
    // starting value of every number; NAN: the scene's (its mean where one value stands for many)
    double start;
    // or one for each of its numbers, nstart of them, in the order of its slice; NULL: none
    const double* starts;
    int nstart;
    ct_curve shape;  // CT_QUANTITY_CONTROL: how it goes along time
    int knots;       // SPLINE; at most the steps of the rollout
    // SINUSOID, frequency in Hz, phase in rad; in place of transform, bounds and start
    ct_wave_number amplitude, frequency, phase, center;
} ct_parameter_def;
CT_API ct_parameter_def ct_parameter_def_default(void);  // young, per body, all bodies
// Adds a parameter of what is in the scene by now. CT_BAD_SCENE names the field that makes no sense, also
// when the scene has nothing of the kind, or another parameter varies the same.
CT_API ct_status ct_scene_add_parameter(ct_scene* scene, const ct_parameter_def* def, ct_error* error);

typedef enum ct_objective_kind {
    CT_OBJECTIVE_POINT,       // mean position of the nodes to a target
    CT_OBJECTIVE_VELOCITY,    // mean velocity of the nodes to a target
    CT_OBJECTIVE_SHAPE,       // every node of the set to its own target position, mean square
    CT_OBJECTIVE_EFFORT,      // mean square of a control
    CT_OBJECTIVE_SMOOTHNESS,  // mean square of a control's change from step to step
    // coordinate of a joint to a target, rad or m: path, first number; a ball: its rotation vector
    CT_OBJECTIVE_JOINT
} ct_objective_kind;
// Its word in scene files and messages, "point", ...; NULL: not one of them.
CT_API const char* ct_objective_kind_name(ct_objective_kind kind);
// A term of the loss: weight times the mean over a time window of |d|^2.
typedef struct ct_objective_def {
    const char* name;  // NULL: the kind's name, such as "point"
    ct_objective_kind kind;
    const int* nodes;  // scene nodes; count 0: all
    int count;
    bool uniform;             // plain means over nodes; otherwise weighted by the mass at the start
    const ct_keyframe* path;  // target along time (translate only), npath >= 1; one key: a fixed target
    int npath;
    // targets count from the rest value of the same mean (SHAPE: from each node's rest position)
    bool relative;
    const double* shape;  // SHAPE: 3 count target positions
    // s: states with times in [start, stop]; start = stop: the nearest; both NAN: the last. EFFORT,
    // SMOOTHNESS: steps that begin in [start, stop); both NAN: all
    double start, stop;
    const char* control;  // EFFORT, SMOOTHNESS; NULL: all
    const char* link;     // JOINT: which
    double weight;
    bool distance;  // |d| in place of |d|^2; for SHAPE, EFFORT and SMOOTHNESS the root mean square
    // POINT, VELOCITY, JOINT: only the part of d along this direction counts; zeros: all of d
    double axis[3];
    bool linear;  // with an axis: d along it in place of its square, to be made small, or large by a weight <
                  // 0
} ct_objective_def;
CT_API ct_objective_def ct_objective_def_default(void);  // POINT, weight 1, last state
// Adds a term to the loss. CT_BAD_SCENE names the field that makes no sense.
CT_API ct_status ct_scene_add_objective(ct_scene* scene, const ct_objective_def* def, ct_error* error);

typedef enum ct_method {
    CT_METHOD_LBFGS,
    CT_METHOD_ADAM,
    CT_METHOD_MMA,
    CT_METHOD_SLSQP,       // with gradients
    CT_METHOD_CMAES,       // covariance matrix adaptation; its diagonal alone for many parameters
    CT_METHOD_EVOLUTION,   // tournaments, crossover, Gaussian mutation, elitism
    CT_METHOD_BOBYQA,      // quadratic models in a trust region
    CT_METHOD_NELDER_MEAD  // a simplex
} ct_method;
// Its word in scene files and messages, "lbfgs", ...; NULL: not one of them.
CT_API const char* ct_method_name(ct_method method);
// The method of that name; false: there is none.
CT_API bool ct_method_find(const char* name, ct_method* method);
typedef struct ct_optimize_def {
    ct_method method;
    int iterations;    // evaluations at most
    double target;     // stop when the loss is at most this
    double rate;       // Adam: step in y
    double tolerance;  // relative change of the loss at which it stops, 0: never
    // how often a method that sees no further progress begins anew from a start around the best
    int restarts;
    uint64_t seed;   // of everything random
    double noise;    // standard deviation of a random change of the start, in y; 0: none
    double spread;   // first steps of the methods without gradients, in y
    int population;  // CMAES, EVOLUTION: samples a generation; 0: from the number of parameters
} ct_optimize_def;
CT_API ct_optimize_def ct_optimize_def_default(void);  // L-BFGS, 100 evaluations, tolerance 1e-8
CT_API ct_optimize_def ct_scene_optimize_def(const ct_scene* scene);  // the file's, or what was set
// How the scene's problem is searched where the caller asks the scene. CT_BAD_SCENE names the field that
// makes no sense.
CT_API ct_status ct_scene_set_optimize_def(ct_scene* scene, const ct_optimize_def* def, ct_error* error);

typedef struct ct_slice {
    char name[64];
    ct_quantity quantity;
    int first, count;  // within the vector
} ct_slice;

#ifdef __cplusplus
}
#endif
#endif
