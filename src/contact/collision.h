// What can touch what: the surfaces of bodies and obstacles as nodes, edges and triangles, and which pairs of
// them collide.
//
// Colliders are the bodies, then the obstacles. Spheres are single nodes, capsules single edges, boxes and
// meshes triangles, all driven nodes of the model with a radius around them; planes stand apart. Two
// primitives touch when their distance is the sum of their colliders' radius and thickness.
#ifndef CT_CONTACT_COLLISION_H
#define CT_CONTACT_COLLISION_H

#include "base/memory.h"
#include "contact/softness.h"
#include "scene/scene.h"

typedef struct ct_collider {
    const char* name;
    double thickness;               // m, half the distance kept between surfaces
    double radius;                  // m, of spheres and capsules
    const ct_scene_driver* motion;  // of obstacles with nodes that move, otherwise NULL
    ct_obstacle_kind kind;          // of obstacles
    int first_node, nnode;          // of obstacles, in the scene's order of nodes
    double color[3];                // for pictures
    bool hidden;                    // not in pictures
    bool sheet;                     // a body without inside
    bool driven;                    // all of it moves as prescribed
} ct_collider;

typedef struct ct_plane {
    int collider;
    double point[3], normal[3];  // where the motion starts from; normal of length 1
    ct_scene_driver motion;      // without nodes; nkey 0: stands still
} ct_plane;

// What a node or primitive hangs on: a link (its index, 0 and above), or
#define CT_RIGID_NONE (-1)    // something that deforms
#define CT_RIGID_DRIVEN (-2)  // prescribed motions alone

// Arrays belong to whoever compiles them.
typedef struct ct_collision {
    int nvert;               // nodes of the whole scene
    const double* rest;      // 3 nvert, m
    const int* node_rigid;   // nvert: what each node hangs on
    const int* link_parent;  // of links, -1: none
    int ncollider;
    ct_collider* collider;
    int nnode, nedge, ntri, nplane;
    int* node;                                 // nnode: nodes on surfaces, ascending
    int* edge;                                 // 2 nedge
    int* tri;                                  // 3 ntri
    int *node_owner, *edge_owner, *tri_owner;  // collider of each
    ct_plane* plane;
    // Colliders of one kind are treated alike by all rules; ct_collision_rule says where that of two is.
    int nkind, *kind;           // kind: ncollider
    unsigned char* collide;     // nkind x nkind, symmetric
    int* friction;              // nkind x nkind: index into the coefficients
    const double* coefficient;  // of friction
    ct_softness softness;       // how far nodes give way
} ct_collision;

static inline size_t ct_collision_rule(const ct_collision* c, int a, int b) {
    return (size_t)c->kind[a] * (size_t)c->nkind + (size_t)c->kind[b];
}

// Their colliders collide, and one of them is not driven.
static inline bool ct_collision_may_touch(const ct_collision* collision, int a, int b) {
    return collision->collide[ct_collision_rule(collision, a, b)] &&
           !(collision->collider[a].driven && collision->collider[b].driven);
}

// Pose of a plane at `time`: a point and the normal.
void ct_plane_pose(const ct_plane* plane, double time, double point[3], double normal[3]);

#endif
