// Types of joints; see joint.h.
#include "skeleton/joint.h"

int ct_joint_dof_count(ct_joint_kind kind) {
    return kind == CT_JOINT_FIXED ? 0 : kind == CT_JOINT_BALL ? 3 : kind == CT_JOINT_FREE ? 6 : 1;
}

int ct_joint_coordinate_count(ct_joint_kind kind) {
    return kind == CT_JOINT_FIXED ? 0 : kind == CT_JOINT_BALL ? 4 : kind == CT_JOINT_FREE ? 7 : 1;
}
