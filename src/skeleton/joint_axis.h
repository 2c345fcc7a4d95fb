// Joints that turn about axes or slide along them, one coordinate per rate.
//
// The force against each coordinate q is
//     k (q - rest) + k_s (q - target) + (d + d_s) (c q - history) + k_l over |over| - torque,
//     history = a q_n + b q_{n-1},   over: how far q is beyond its limits.
// The coordinates of a universal joint have stiffnesses and dampings in common, limits and targets of their
// own; its springs are slack at rest.
#ifndef CT_SKELETON_JOINT_AXIS_H
#define CT_SKELETON_JOINT_AXIS_H

#include "skeleton/joint_type.h"

extern const ct_joint_type ct_joint_revolute, ct_joint_prismatic, ct_joint_helical, ct_joint_universal;

#endif
