// Controls: numbers that may be chosen at every step
//
// A scene names its controls. In a step they stand one after the other, in the order in which they were
// added: a step's control vector has ct_model_control_size numbers.
//
//     if (ct_scene_add_joint_control(scene, "elbow", CT_CONTROL_TORQUE, link, &error)) ...
//     ...                                                              // a model, a work and a state later
//     double control[1] = {0.2};                                       // N m
//     if (ct_step(model, work, state, control, &report)) ...
//
// The functions that add a control take a name that no other has, shorter than 64 bytes.
#ifndef CUTTLE_CONTROL_H
#define CUTTLE_CONTROL_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_control_kind {
    CT_CONTROL_FORCE,  // 3 numbers: total force on a node set, N, spread by mass
    // 1 number: torque or force of a joint with one coordinate, N m or N; a universal joint: 2, N m, about
    // its axes; a ball: 3, N m, along its parent's axes
    CT_CONTROL_TORQUE,
    // 1 number: target of its servo, rad or m; a universal joint: 2 angles; a ball: 3, a rotation vector
    CT_CONTROL_TARGET,
    // 6 numbers: translation (m) and rotation vector (rad, about the motion's centre) on top of a drive's or
    // a root's motion
    CT_CONTROL_DRIVE,
    // a number for each segment of a muscle or group of a chamber: on top of its starting activation
    CT_CONTROL_ACTIVATION,
    CT_CONTROL_PRESSURE,  // 1 number: Pa, on top of a cavity's starting pressure
    // 6 numbers: how far a mount, a drive or a root, moves and turns in this step: added to its pose, which
    // the state keeps
    CT_CONTROL_MOVE,
    CT_CONTROL_TENSION,  // 1 number: N, on top of a cable's starting tension
    CT_CONTROL_LENGTH    // 1 number: m, on top of a cable's starting length: below 0 winds it in
} ct_control_kind;
// Its word in scene files and messages, "force", ...; NULL: not one of them.
CT_API const char* ct_control_kind_name(ct_control_kind kind);
typedef struct ct_control_info {
    char name[64];
    ct_control_kind kind;
    int first, count;  // its numbers within a step's control vector
} ct_control_info;
// Pushes nodes: CT_CONTROL_FORCE.
CT_API ct_status ct_scene_add_force_control(ct_scene* scene, const char* name, const int* nodes, int count,
                                            ct_error* error);
// Moves what is driven: CT_CONTROL_DRIVE. `drive`: index of the drive, in order of ct_scene_drive calls.
CT_API ct_status ct_scene_add_drive_control(ct_scene* scene, const char* name, int drive, ct_error* error);
// kind: CT_CONTROL_TORQUE or, where the joint has a servo, CT_CONTROL_TARGET.
CT_API ct_status ct_scene_add_joint_control(ct_scene* scene, const char* name, ct_control_kind kind, int link,
                                            ct_error* error);
// Moves the frame that a root's joint sits on, on top of its motion (without one: about the joint's anchor).
CT_API ct_status ct_scene_add_root_control(ct_scene* scene, const char* name, int link, ct_error* error);
// A mount: CT_CONTROL_MOVE of the drive (or, where that is -1, of the root `link`). Its pose on top of the
// motion, a translation s and a rotation Q about the motion's centre (without a motion: the joint's anchor),
// starts as none; a step with the numbers (u, w) makes them s + u and exp(w) Q, in the world's axes. A drive
// or a root takes one control.
CT_API ct_status ct_scene_add_move_control(ct_scene* scene, const char* name, int drive, int link,
                                           ct_error* error);
// Of a muscle or a chamber: CT_CONTROL_ACTIVATION; of a cavity: CT_CONTROL_PRESSURE; of a
// cable: CT_CONTROL_TENSION or CT_CONTROL_LENGTH, as it is held. A volume ratio at or below 0, a tension or a
// length below 0 is refused by the step.
CT_API ct_status ct_scene_add_actuator_control(ct_scene* scene, const char* name, int actuator,
                                               ct_error* error);
// What the control does where no one else says: `count` rows of its numbers at increasing times (s), linear
// between them, held before and after, or repeated (the last row then equals the first). time NULL: one row,
// constant. Without this it is zero. CT_BAD_SCENE when there is no control of that name.
CT_API ct_status ct_scene_set_control_values(ct_scene* scene, const char* name, const double* time,
                                             const double* values, int count, bool repeat, ct_error* error);
// The scene's values at a time: writes ct_model_control_size numbers.
CT_API void ct_model_control_values(const ct_model* model, double time, double* control);
CT_API int ct_model_control_size(const ct_model* model);   // numbers per step
CT_API int ct_model_control_count(const ct_model* model);  // named controls
// A force control takes hold of other nodes of the model, 1 up to as many as it was made with: a hand that
// pulls here and there. The model is changed; its states and works stay valid, derivatives are those of the
// nodes that are held when they are asked for. CT_BAD_ARGUMENT when `control` is no force control, and for
// nodes that do not exist or have no mass; nothing has changed then.
CT_API ct_status ct_model_hold(ct_model* model, int control, const int* nodes, int count, ct_error* error);
// A control by its place among them; no such one: name "", zeros.
CT_API ct_control_info ct_model_control_info(const ct_model* model, int index);

#ifdef __cplusplus
}
#endif
#endif
