// Observations: numbers that are seen of a state, with their derivatives
//
// What policies see, and what learners do: they are evaluated on any state of a model, and their derivatives
// lead back to the state's vector (ct_model_state_first), from where ct_step_vjp goes on.
//
//     ct_observe_def sees[2] = {ct_observe_def_default(), ct_observe_def_default()};
//     sees[0].nodes = tip, sees[0].count = ntip;                       // where the tip is
//     sees[1].kind = CT_OBSERVE_RATE, sees[1].link = "elbow";
//     ct_observation* observation = NULL;
//     if (ct_observation_create(&observation, model, sees, 2, &error)) ...
//     double* o = malloc(ct_observation_size(observation) * sizeof *o);
//     if (ct_observation_state(observation, state, o)) ...
#ifndef CUTTLE_OBSERVE_H
#define CUTTLE_OBSERVE_H

#include "cuttle/state.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_observe_kind {
    CT_OBSERVE_POSITION,  // 3 numbers: mean position of a node set less that at rest
    CT_OBSERVE_VELOCITY,  // 3 numbers: its mean velocity
    // a number per rate of a link's joint: its coordinates; a ball's rotation vector; a free joint's
    // translation and rotation vector. Of policies: joints with one coordinate
    CT_OBSERVE_JOINT,
    CT_OBSERVE_PHASE,  // 2 numbers: sin and cos of 2 pi frequency t
    // those below are not for policies

    // likewise, of their rates, along the parent's axes: means over the last step; in a state that no step
    // has led to, those that it begins with, which its vector does not have
    CT_OBSERVE_RATE,
    CT_OBSERVE_POSITIONS,   // 3 numbers per node: positions, m
    CT_OBSERVE_VELOCITIES,  // 3 numbers per node: velocities, m/s
    CT_OBSERVE_POSE,  // 12 numbers: rotation (row-major) and translation of a link, as ct_state_link_pose
    // 3 numbers: sum of the contact forces on a body from all others, N, of the last (sub-)step
    CT_OBSERVE_CONTACT,
    CT_OBSERVE_VOLUME,    // 1 number: volume of a cavity, m^3
    CT_OBSERVE_ACTUATION  // numbers of an actuator, as ct_state_actuation
} ct_observe_kind;
// Its word in scene files and messages, "position", ...; NULL: not one of them.
CT_API const char* ct_observe_kind_name(ct_observe_kind kind);
typedef struct ct_observe_def {
    ct_observe_kind kind;
    const int* nodes;  // POSITION, VELOCITY, POSITIONS, VELOCITIES: sorted where they are many
    int count;
    int relative;          // POSITION, VELOCITY: a body whose mean over all nodes is subtracted, -1: none
    const char* link;      // JOINT, RATE, POSE
    const char* actuator;  // VOLUME, ACTUATION
    int body;              // CONTACT
    double frequency;      // PHASE, Hz
    double scale;          // what is seen is multiplied by this
} ct_observe_def;
CT_API ct_observe_def ct_observe_def_default(void);  // a position, in the world, as it is

typedef struct ct_observation ct_observation;  // a list of them, compiled; immutable
// Numbers of the first, of the second, ... Free it before the model. CT_BAD_SCENE names the field that makes
// no sense, as "observe[1].link".
CT_API ct_status ct_observation_create(ct_observation** out, const ct_model* model,
                                       const ct_observe_def* observe, int count, ct_error* error);
CT_API void ct_observation_free(ct_observation* observation);       // NULL: does nothing
CT_API int ct_observation_size(const ct_observation* observation);  // numbers in all
// Where the numbers of one of them begin; count: the size.
CT_API int ct_observation_first(const ct_observation* observation, int index);
// Writes what is seen of a state. CT_BAD_ARGUMENT for one of another model.
CT_API ct_status ct_observation_state(const ct_observation* observation, const ct_state* state,
                                      double* values);
// The same of many states: count x size numbers.
CT_API ct_status ct_observation_many(const ct_observation* observation, int count,
                                     const ct_state* const* states, double* values);
// The reverse: from the derivatives by what is seen to those by the state's vector, overwritten.
CT_API ct_status ct_observation_vjp(const ct_observation* observation, const ct_state* state,
                                    const double* values_bar, double* state_bar);

#ifdef __cplusplus
}
#endif
#endif
