// Skeletons: rigid links in reduced coordinates, with or without flesh around them
//
// A link has a mass of its own, nodes of bodies that sit on it, or both, and one joint to its parent. All
// places are given at rest, in the world.
//
//     ct_link_def arm = ct_link_def_default();                         // a root on a revolute joint along z
//     arm.joint.anchor[1] = 1;
//     arm.mass = 0.5, arm.center[1] = 0.8;
//     arm.inertia[0] = arm.inertia[1] = arm.inertia[2] = 1e-3;
//     if (ct_scene_add_link(scene, &arm, &link, &error)) ...
#ifndef CUTTLE_SKELETON_H
#define CUTTLE_SKELETON_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_joint_kind {
    CT_JOINT_FIXED,      // to its parent, or to the world
    CT_JOINT_REVOLUTE,   // one angle about `axis` through `anchor`
    CT_JOINT_PRISMATIC,  // one displacement along `axis`
    CT_JOINT_BALL,       // any rotation about `anchor`
    CT_JOINT_FREE,       // any motion
    CT_JOINT_HELICAL,    // a screw: one angle about `axis`, and `lead` along it per turn
    // two angles through `anchor`: about `axis`, then about `axis2`, which the first turn carries
    CT_JOINT_UNIVERSAL
} ct_joint_kind;
// Its word in scene files and messages, "fixed", ...; NULL: not one of them.
CT_API const char* ct_joint_kind_name(ct_joint_kind kind);

typedef struct ct_joint_def {
    ct_joint_kind kind;
    double anchor[3], axis[3];  // rest, world
    double axis2[3];            // of joints with two axes: carried by the first turn, not parallel to `axis`
    double lead;                // m per turn, helical joints: positive as a right-handed screw
    double position, velocity;  // initial coordinate and rate (rad, rad/s; prismatic: m, m/s)
    // initial pose and rates; a universal joint: two angles (rad), two rates (rad/s). Along the parent's
    // axes, a ball: rotation vector (rad), angular velocity (rad/s); free: translation, rotation vector;
    // velocity of the anchor (m/s), angular velocity
    double pose[6], rate[6];
    // spring (N m/rad or N/m) about the coordinate `rest`; a ball's: k/2 |rotation vector|^2, below half a
    // turn; a universal joint's: k/2 (sum of the squares of its angles)
    double stiffness, rest;
    double damping;  // N m s/rad or N s/m
    // kg m^2 or kg: of a rotor that turns with the joint, geared so that its parent's motion does not turn
    // it; revolute, prismatic, helical and universal joints (there on both axes)
    double armature;
    // limits of the coordinate; -INFINITY, INFINITY: none; a ball: `upper` is its greatest angle from rest,
    // above 0
    double lower, upper;
    double lower2, upper2;  // likewise, of the second angle of a universal joint
    // N m/rad^2: beyond a limit the joint pushes back with this times the square of the excess
    double limit_stiffness;
    double servo_stiffness, servo_damping, target;  // PD servo towards `target`
    // a universal joint's: two angles; a ball's: rotation vector along the parent's axes, k/2 |rotation
    // vector from there|^2, below half a turn
    double pose_target[3];
} ct_joint_def;
CT_API ct_joint_def ct_joint_def_default(void);  // revolute along z through the origin, nothing holds it

typedef struct ct_link_def {
    const char* name;    // NULL: "link<k>"
    int parent;          // a link added before, -1: the world
    ct_joint_def joint;  // to the parent
    const int* nodes;    // scene nodes that sit on the link
    int count;
    double mass;        // kg, its own, beside that of its nodes' tets; 0: none
    double center[3];   // of that mass, rest, world
    double inertia[6];  // kg m^2 about the centre: xx yy zz xy xz yz
    // roots: the frame that the joint sits on follows it; NULL: the world stands still
    const ct_motion* motion;
} ct_link_def;
CT_API ct_link_def ct_link_def_default(void);  // a root on the default joint, without mass and nodes
// Adds a link. Its nodes may sit on no other link and may not be driven. That the tree as a whole can be
// simulated (every joint moves some mass, say) is checked by ct_model_create.
CT_API ct_status ct_scene_add_link(ct_scene* scene, const ct_link_def* def, int* link, ct_error* error);
CT_API int ct_scene_link_count(const ct_scene* scene);  // added so far
// Links, joints and motors of a robot file: MJCF (MuJoCo .xml) or URDF; what it has and Cuttle has not is
// refused by name. Lengths are multiplied by `scale` (masses by its cube, inertias by its fifth power), then
// rotated (NULL: not), then translated (NULL: not). Actuators of an MJCF file become controls of their
// names: a torque, a target, the tension of a tendon's cable. Limits become soft: a joint passes one by about
// 0.01 rad under the weight that it carries. CT_IO or CT_BAD_FILE when the file cannot be read; on failure
// the scene is as before.
CT_API ct_status ct_scene_import_skeleton(ct_scene* scene, const char* path, const double translate[3],
                                          const double rotate[4], double scale, ct_error* error);
CT_API int ct_scene_find_link(const ct_scene* scene, const char* name);  // -1: none

typedef struct ct_link_info {  // a link of a model or of a trajectory
    const char* name;          // borrowed
    int parent;                // -1: the world
    ct_joint_kind joint;
    double anchor[3], axis[3];    // of the joint; rest, world
    double axis2[3];              // its second axis; zero: none
    int naxis;                    // axes that the joint has: 0, 1 or 2
    int coordinate, ncoordinate;  // its first joint coordinate, and how many
    const int* nodes;             // nodes on the link, the six of its own mass included; borrowed
    int count;
} ct_link_info;
CT_API int ct_model_link_count(const ct_model* model);                    // in the order of the scene
CT_API ct_link_info ct_model_link_info(const ct_model* model, int link);  // no such link: name "", parent -1
// The link's joint as the model has it now: springs, limits, servo. No such link: the default joint.
CT_API ct_joint_def ct_model_joint(const ct_model* model, int link);

#ifdef __cplusplus
}
#endif
#endif
