// What can touch what: the surfaces of bodies and obstacles as nodes, edges and triangles, with their rules.
//
// Colliders are the bodies, then the obstacles. Spheres are single nodes, capsules single edges, boxes and
// meshes triangles, all driven nodes of the model with a radius around them; planes stand apart. Two
// primitives touch when their distance is the sum of their colliders' radius and thickness.
#ifndef CT_MODEL_COLLISION_H
#define CT_MODEL_COLLISION_H

#include "base/memory.h"
#include "scene/scene.h"

typedef struct ct_collider {
    const char* name;
    double thickness;       // m, half the distance kept between surfaces
    double radius;          // m, of spheres and capsules
    int drive;              // obstacles with nodes that move: which of the model's drives, otherwise -1
    ct_obstacle_kind kind;  // of obstacles
    int first_node, nnode;  // of obstacles, in the model
    double color[3];        // for pictures
    bool hidden;            // not in pictures
} ct_collider;

typedef struct ct_plane {
    int collider;
    double point[3], normal[3];  // where the motion starts from; normal of length 1
    ct_scene_driver motion;      // without nodes; nkey 0: stands still
} ct_plane;

typedef struct ct_collision {
    int ncollider;
    ct_collider* collider;
    int nnode, nedge, ntri, nplane;
    int* node;                                 // nnode: model nodes on surfaces, ascending
    int* edge;                                 // 2 nedge
    int* tri;                                  // 3 ntri
    int *node_owner, *edge_owner, *tri_owner;  // collider of each
    ct_plane* plane;
    unsigned char* collide;  // ncollider x ncollider, symmetric
    int* friction;           // ncollider x ncollider: index into the model's coefficients
    // nvert, m/N: how far a node gives way within a step, by itself and with its body, when compiled: never
    // changed
    double* compliance;
} ct_collision;

struct ct_model;
// Nodes, surfaces and drives of the obstacles, behind what the model already has; after the links' own masses
// have their nodes.
ct_status ct_collision_place(struct ct_model* model, const ct_scene* scene);
// Compiles the colliders of a scene into model->collision, and the coefficients of friction; after the
// surfaces are complete.
ct_status ct_collision_create(struct ct_model* model, const ct_scene* scene);
// Estimates the compliances from the factored system; after it is built.
ct_status ct_collision_measure(struct ct_model* model);
// Pose of a plane at `time`: a point and the normal.
void ct_plane_pose(const ct_plane* plane, double time, double point[3], double normal[3]);

#endif
