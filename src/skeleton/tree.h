// Articulated skeletons, compiled: links in an order in which parents come first.
//
// At rest every link's transform is the identity. Link k maps its rest points by x = R_k X + t_k, with
//     T_k = T_parent(k) A_k(q),   A_k: the motion of its joint (joint_type.h),
// all in rest coordinates (reduced coordinates: joints never drift, links never stretch).
// Joint rates are counted by `dof`, coordinates by `coordinate`. A root's frame may follow a motion: its pose
// is not an unknown, but it is part of the coordinates.
#ifndef CT_SKELETON_TREE_H
#define CT_SKELETON_TREE_H

#include "skeleton/joint.h"

typedef struct ct_tree {
    int nvert;  // nodes of the model
    int nlink, ndof, ncoordinate;
    int nroot;  // frames of roots that follow a motion
    // where their poses begin, behind the joints': position of the motion's centre, quaternion
    int root_coordinate;
    char** name;                 // nlink
    int* parent;                 // nlink, below the link's own index; -1: the world
    ct_joint_def* joint;         // nlink, axes normalised
    const ct_joint_type** type;  // nlink, of the joint
    int* dof;                    // nlink + 1, first rate of the link's joint
    int* coordinate;             // nlink + 1, first coordinate
    int* dof_link;               // ndof
    double* scale;               // ndof, m: what one unit of the rate moves; unknowns are scale times rate
    const double* rest;          // 3 nvert, m; of the model
    double* point;               // 3 nlink, a point of the link (centre of its nodes), rest
    int* start;                  // nlink + 1, into node
    int* node;                   // nodes on links, link after link
    int* node_link;              // nvert, -1: not on a link
    // Behind them in `node`, a node for each rate that a rotor turns with; along x it is as far from where it
    // rests as the coordinate says, and the armature is its mass.
    int nrotor;
    int* rotor_dof;    // nrotor, the rate
    double origin[3];  // of the twists, m
    // nlink, which driven frame the link's joint sits on, -1: its parent or the world
    int* root;
    double* root_center;    // 3 nroot, m, of the motion
    int* own;               // nlink, first of the four nodes of its own mass, -1: none
    double* mass;           // nlink, kg, its own
    double* factored_mass;  // nlink, when the system was factored
} ct_tree;

// Nodes that joints move: on links, and rotors.
static inline int ct_tree_node_count(const ct_tree* tree) {
    return tree->nlink ? tree->start[tree->nlink] + tree->nrotor : 0;
}
static inline int ct_tree_rotor_node(const ct_tree* tree, int r) {
    return tree->node[tree->start[tree->nlink] + r];
}
static inline double ct_tree_armature(const ct_tree* tree, int r) {
    return tree->joint[tree->dof_link[tree->rotor_dof[r]]].armature;
}

#endif
