// What acts on a step from outside: gravity, the scene's forces, prescribed motion, and the controls of both.
//
//     f_i = m_i g + sum of forces,   driven nodes: x = c + exp(w) (d(t) - c) + s
// d(t) the drive's own motion, also that of the frame of a driven root, (s, w) the translation and rotation
// vector of its control. A mount has a pose (s, Q) in the place of (s, exp(w)), which its control moves in
// every step: s = s_n + u, Q = exp(w) Q_n. A total force F on a set is spread by mass: f_i = F m_i / sum m.
#ifndef CT_STEP_EXTERNAL_H
#define CT_STEP_EXTERNAL_H

#include "model/model.h"
#include "skeleton/joints.h"

// External forces at `time` (3 nvert, N, overwritten). control: ct_model_control_size numbers, or NULL for
// zeros.
void ct_external_forces(const ct_model* model, double time, const double* control, double* force);
// Reverse: force_bar (3 nvert) into mass_bar (nvert), gravity_bar (3) and control_bar (control size), added;
// each may be NULL.
void ct_external_forces_vjp(const ct_model* model, double time, const double* control,
                            const double* force_bar, double* mass_bar, double* gravity_bar,
                            double* control_bar);

// Along a change of the controls (control size): force_dot, 3 nvert, overwritten.
void ct_external_forces_jvp(const ct_model* model, const double* control_dot, double* force_dot);

// The poses of the mounts (7 nmount: s, Q) after a step, from those before it.
void ct_mounts_move(const ct_model* model, const double* before, const double* control, double* mount);
// Reverse: mount_bar (6 nmount: by s, and by rotations Q <- exp(r) Q) from that of the poses after to that of
// those before; control_bar added.
void ct_mounts_move_vjp(const ct_model* model, const double* control, double* mount_bar, double* control_bar);
// Along a change: mount_dot (6 nmount) from that of the poses before to that of those after.
void ct_mounts_move_jvp(const ct_model* model, const double* control, const double* control_dot,
                        double* mount_dot);

// Puts the driven nodes of x where they are at `time`, mounts in their poses.
void ct_external_drive(const ct_model* model, double time, const double* control, const double* mount,
                       double* x);
// A control moves the nodes of this drive; otherwise they follow their motion alone.
bool ct_external_is_steered(const ct_model* model, int drive);
// Reverse: x_bar of the driven nodes into control_bar and mount_bar, added.
void ct_external_drive_vjp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* x_bar, double* control_bar, double* mount_bar);

// Along a change: x_dot, 3 nvert, zero where nodes are not driven.
void ct_external_drive_jvp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* control_dot, const double* mount_dot, double* x_dot);

// Poses of the driven roots at `time` (7 nroot): position of the motion's centre, quaternion.
void ct_external_roots(const ct_model* model, double time, const double* control, const double* mount,
                       double* pose);
// Reverse: pose_bar (6 nroot: by translations of the centre and by rotations about it, world axes) into
// control_bar and mount_bar, added.
void ct_external_roots_vjp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* pose_bar, double* control_bar, double* mount_bar);
// Along a change: pose_dot, 6 nroot, overwritten.
void ct_external_roots_jvp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* control_dot, const double* mount_dot, double* pose_dot);
// The poses at a fraction of the way: centres on straight lines, rotations exp(fraction log(R_end R_start^T))
// R_start.
void ct_external_roots_between(const ct_model* model, const double* start, const double* end, double fraction,
                               double* pose);
// Reverse: pose_bar into start_bar and end_bar, added.
void ct_external_roots_between_vjp(const ct_model* model, const double* start, const double* end,
                                   double fraction, const double* pose_bar, double* start_bar,
                                   double* end_bar);

// Along a change: pose_dot, 6 nroot, overwritten.
void ct_external_roots_between_jvp(const ct_model* model, const double* start, const double* end,
                                   double fraction, const double* start_dot, const double* end_dot,
                                   double* pose_dot);

// Torques and servo targets of the joints during a step: the sum of the controls' torques, the last of their
// targets, or the servo's own.
void ct_external_joints(const ct_model* model, const double* control, ct_joint_work* joints);
// Reverse: torque_bar and target_bar (ndof) into control_bar, added.
void ct_external_joints_vjp(const ct_model* model, const double* torque_bar, const double* target_bar,
                            double* control_bar);
// Along a change: torque_dot and target_dot (ndof), overwritten.
void ct_external_joints_jvp(const ct_model* model, const double* control_dot, double* torque_dot,
                            double* target_dot);

#endif
