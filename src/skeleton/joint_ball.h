// Joints that turn freely, alone or with a translation.
//
// The forces of a ball, Q in its parent's axes, are functions of the rotation vectors theta_0 = log Q and
// theta = log(Q Q_n^T) since the start of the (sub-)step, rate = c theta - b log(Q_{n-1} Q_n^T):
//     potential  k/2 |theta_0|^2 + k_l/3 over^3 + k_s/2 |psi|^2 + (d + d_s)/(2c) |rate|^2 - torque . theta
//     residual   k theta_0 + k_l over^2 n + k_s psi + J^-T(theta) ((d + d_s) rate - torque) (math/rotation.h)
// with psi = log(Q exp(-target)), over = |theta_0| - upper where that is positive, n = theta_0/|theta_0|.
#ifndef CT_SKELETON_JOINT_BALL_H
#define CT_SKELETON_JOINT_BALL_H

#include "skeleton/joint_type.h"

extern const ct_joint_type ct_joint_ball, ct_joint_free;

#endif
