// State: all that determines the future, one block of memory
//
// A copy of its bytes is a checkpoint: restored, it goes on to the same bits. A state belongs to one model,
// or to any other that was made from the same scene; functions that are given one of another size answer
// CT_BAD_ARGUMENT.
//
//     ct_state* state = NULL;
//     if (ct_state_create(&state, model, &error)) ...
//     const double* x = ct_state_positions(state);                     // borrowed; it follows the steps
#ifndef CUTTLE_STATE_H
#define CUTTLE_STATE_H

#include "cuttle/model.h"

#ifdef __cplusplus
extern "C" {
#endif

CT_API ct_status ct_state_create(ct_state** out, const ct_model* model,
                                 ct_error* error);                         // the scene's initial state
CT_API void ct_state_free(ct_state* state);                                // NULL: does nothing
CT_API ct_status ct_state_copy(ct_state* target, const ct_state* source);  // of the same model
CT_API size_t ct_state_size(const ct_state* state);                        // bytes of the block
CT_API const void* ct_state_bytes(const ct_state* state);  // restores exactly with ct_state_restore
// Takes the bytes of a state of the same model. CT_BAD_ARGUMENT, with the state unchanged, for others.
CT_API ct_status ct_state_restore(ct_state* state, const void* bytes, size_t size);
CT_API double ct_state_time(const ct_state* state);         // s
CT_API int64_t ct_state_step_index(const ct_state* state);  // steps taken
// Borrowed until the state is freed; they show what it is at the time.
CT_API const double* ct_state_positions(const ct_state* state);       // 3 nvert, m
CT_API const double* ct_state_velocities(const ct_state* state);      // 3 nvert, m/s
CT_API const double* ct_state_contact_forces(const ct_state* state);  // 3 nvert, N, of the last (sub-)step
// numbers of the actuators: activations, volume ratios, pressures (Pa)
CT_API const double* ct_state_actuation(const ct_state* state);
// 7 numbers per CT_CONTROL_MOVE, in order of the controls: translation (m), quaternion
CT_API const double* ct_state_mounts(const ct_state* state);
// of the joints, link after link: one number, a universal joint's two angles, a ball's quaternion, a free
// joint's translation and quaternion; then the frames of driven roots: position of the motion's centre,
// quaternion
CT_API const double* ct_state_coordinates(const ct_state* state);
// Where a link is: rotation (row-major) and translation with x = R X + t for its rest points X.
// CT_BAD_ARGUMENT for a link that does not exist.
CT_API ct_status ct_state_link_pose(const ct_model* model, const ct_state* state, int link,
                                    double rotation[9], double translation[3]);
// The same for all links: 12 numbers each, R then t.
CT_API ct_status ct_state_link_poses(const ct_model* model, const ct_state* state, double* poses);
// Puts joints at `position` with rates `velocity` (indexed by joint rate; NULL: the model's), and the links'
// nodes with them. The positions of balls and free joints are increments on top of the model's pose: Q =
// exp(position) exp(pose), translations add up; rates are along the parent's axes. The history is forgotten.
// CT_BAD_ARGUMENT, with the state unchanged, when a number is not finite.
CT_API ct_status ct_state_set_joints(const ct_model* model, ct_state* state, const double* position,
                                     const double* velocity);
// Begins a motion as a new state does: nodes at x with velocities v, joints at `position` with rates
// `velocity` as above (NULL: the model's). Flesh follows its bones: it is moved, on top of x and v, as links
// near by are, and velocities of bodies carry links along, on top of the joints' own. Actuators, mounts and
// the time are not touched, the history is forgotten. CT_BAD_ARGUMENT, with the state unchanged, when a
// number is not finite.
CT_API ct_status ct_state_begin(const ct_model* model, ct_state* state, const double* x, const double* v,
                                const double* position, const double* velocity);
// Sets both and forgets the history (previous position, velocity, predictor). Driven nodes keep their motion,
// mounts their pose; links follow their joints: call ct_state_set_joints after it. x, v: 3 nvert each;
// CT_BAD_ARGUMENT, with the state unchanged, when a number is not finite.
CT_API ct_status ct_state_set(ct_state* state, const double* x, const double* v);

// A state as one vector, for derivatives: everything that the next states depend on smoothly, part after
// part. Rotations are quaternions (w x y z); a derivative by one has no component along it.
#define CT_STATE_LIST(X)                                                                                     \
    X(POSITION, "position", "positions of the nodes, m")                                                     \
    X(VELOCITY, "velocity", "velocities of the nodes, m/s")                                                  \
    X(POSITION_BEFORE, "position_before", "positions one step before, m")                                    \
    X(VELOCITY_BEFORE, "velocity_before", "velocities one step before, m/s")                                 \
    X(COORDINATE, "coordinate", "of joints, then poses of driven roots, as ct_state_coordinates")            \
    X(COORDINATE_BEFORE, "coordinate_before", "the same, one step before")                                   \
    X(ACTUATION, "actuation", "numbers of the actuators")                                                    \
    X(MOUNT, "mount", "poses of mounts: translation, quaternion")                                            \
    X(ANCHOR, "anchor", "forces that contacts carried, which friction starts from, N; zeros where none")     \
    X(GROWTH, "growth", "for every collider, the share of its distances that it kept at the start")

typedef enum ct_state_part {
#define CT_STATE_ENUM(id, ...) CT_STATE_##id,
    CT_STATE_LIST(CT_STATE_ENUM)
#undef CT_STATE_ENUM
        CT_STATE_PARTS
} ct_state_part;
// Its name, "position", ...; static. NULL: not one of them.
CT_API const char* ct_state_part_name(ct_state_part part);
// How many numbers of the vector are before the part; CT_STATE_PARTS: the size of the vector.
CT_API size_t ct_model_state_first(const ct_model* model, ct_state_part part);
// Writes the state's vector. CT_BAD_ARGUMENT for a state of another model.
CT_API ct_status ct_state_get_vector(const ct_model* model, const ct_state* state, double* vector);
// Sets what the vector has; the rest (time, history, which contacts there are) stays. The state's own vector
// leaves every bit as it is, but a state that was settled counts as given from then on. Quaternions become
// unit ones. CT_BAD_ARGUMENT, with the state unchanged, when a number is not finite.
CT_API ct_status ct_state_set_vector(const ct_model* model, ct_state* state, const double* vector);

typedef enum ct_tet_field {
    CT_FIELD_ENERGY_DENSITY,
    CT_FIELD_VON_MISES,
    CT_FIELD_VOLUME_RATIO,
    CT_FIELD_ACTIVATION
} ct_tet_field;
// Its word in scene files and messages, "energy", ...; NULL: not one of them.
CT_API const char* ct_tet_field_name(ct_tet_field field);
// Writes ntet values: J/m^3, Pa (Cauchy), det F, w a of muscles (the largest) or a - 1 of chambers.
CT_API ct_status ct_state_tet_field(const ct_model* model, const ct_state* state, ct_tet_field field,
                                    double* values);

// Volume (m^3), that at rest, and pressure (Pa) of a cavity, during the last step; NULL: not wanted. Other
// actuators: CT_BAD_ARGUMENT.
CT_API ct_status ct_state_cavity(const ct_model* model, const ct_state* state, int actuator, double* volume,
                                 double* rest, double* pressure);
// Length (m), that at rest, and tension (N) of a cable, during the last step; NULL: not wanted. Other
// actuators: CT_BAD_ARGUMENT.
CT_API ct_status ct_state_cable(const ct_model* model, const ct_state* state, int actuator, double* length,
                                double* rest, double* tension);

// The whole motion in a few numbers.
typedef struct ct_measure {
    double mass, volume;                     // kg, m^3 (current, of the tets)
    double kinetic, elastic, gravitational;  // J
    double center[3];                        // m
    double momentum[3];                      // kg m/s
    double angular_momentum[3];              // kg m^2/s about the origin
} ct_measure;
// Sums over the nodes and elements. The state must be one of the model's.
CT_API ct_measure ct_state_measure(const ct_model* model, const ct_state* state);

#ifdef __cplusplus
}
#endif
#endif
