// Types of joints: how many coordinates and rates each has.
#ifndef CT_SKELETON_JOINT_H
#define CT_SKELETON_JOINT_H

#include "cuttle.h"

int ct_joint_dof_count(ct_joint_kind kind);
int ct_joint_coordinate_count(ct_joint_kind kind);

#endif
