// Contact: obstacles, and who touches whom
//
// Bodies and obstacles touch one another when settings.contact.method is not CT_CONTACT_METHOD_NONE.
// Colliders are counted bodies first, then obstacles.
//
//     ct_obstacle_def floor = ct_obstacle_def_default();               // the half-space below y = 0
//     if (ct_scene_add_obstacle(scene, &floor, NULL, &error)) ...
//     ct_pair_def ice = {.a = "puck", .b = "*", .collide = true, .friction = 0.01};
//     if (ct_scene_add_pair(scene, &ice, &error)) ...
#ifndef CUTTLE_CONTACT_H
#define CUTTLE_CONTACT_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_obstacle_kind {
    CT_OBSTACLE_PLANE,    // the half-space behind `center`, against `normal`
    CT_OBSTACLE_SPHERE,   // center, radius
    CT_OBSTACLE_CAPSULE,  // ends, radius
    CT_OBSTACLE_BOX,      // center, half
    CT_OBSTACLE_MESH      // triangles of `mesh`, or the boundary of its tets
} ct_obstacle_kind;
// Its word in scene files and messages, "plane", ...; NULL: not one of them.
CT_API const char* ct_obstacle_kind_name(ct_obstacle_kind kind);
typedef struct ct_obstacle_def {
    const char* name;   // NULL: "obstacle<k>"; bodies, obstacles and groups share one space of names
    const char* group;  // as in ct_body_def
    ct_obstacle_kind kind;
    double center[3], normal[3], half[3], ends[2][3], radius;  // m, in the obstacle's own frame
    const ct_mesh* mesh;                                       // MESH; copied
    double scale;                                              // applied first
    double rotate[4];                                          // then rotation, unit quaternion w x y z
    double translate[3];                                       // then translation, m
    const ct_motion* motion;                                   // prescribed; NULL: it stands still
    // as in ct_body_def; NAN: 0 for planes, spheres and capsules, else the smallest of the bodies that it
    // touches
    double contact_thickness;
    double color[3];  // NAN: grey
    bool hidden;      // not in pictures
} ct_obstacle_def;
CT_API ct_obstacle_def ct_obstacle_def_default(void);  // the half-space below y = 0, at rest
// Adds an obstacle. Also fails with CT_BAD_MESH when its mesh is not a surface.
CT_API ct_status ct_scene_add_obstacle(ct_scene* scene, const ct_obstacle_def* def, int* obstacle,
                                       ct_error* error);
CT_API int ct_scene_obstacle_count(const ct_scene* scene);                       // added so far
CT_API int ct_scene_find_obstacle(const ct_scene* scene, const char* name);      // -1: none
CT_API const char* ct_scene_obstacle_name(const ct_scene* scene, int obstacle);  // "": none
// No such obstacle: CT_OBSTACLE_PLANE.
CT_API ct_obstacle_kind ct_scene_obstacle_kind(const ct_scene* scene, int obstacle);
CT_API bool ct_scene_obstacle_moves(const ct_scene* scene, int obstacle);  // it has a motion

// Whether two colliders touch, and with what friction; a body with itself: its self-contact. Of several pairs
// that match, the last counts.
typedef struct ct_pair_def {
    const char *a, *b;  // names of bodies, obstacles or groups; "*": any
    bool collide;
    double friction;  // NAN: unchanged by this pair
} ct_pair_def;
CT_API ct_pair_def ct_pair_def_default(void);  // collide, friction unchanged
// Adds a pair after those that are there. Its names are looked up when the model is made: ct_model_create
// refuses one that means nothing.
CT_API ct_status ct_scene_add_pair(ct_scene* scene, const ct_pair_def* def, ct_error* error);
CT_API int ct_scene_pair_count(const ct_scene* scene);  // added so far
// The names are borrowed. No such pair: the default.
CT_API ct_pair_def ct_scene_pair(const ct_scene* scene, int index);

typedef enum ct_contact_type {
    CT_CONTACT_TYPE_PLANE,        // node 0 and an obstacle's plane
    CT_CONTACT_TYPE_VERTEX_FACE,  // node 0; face 1 2 3
    CT_CONTACT_TYPE_EDGE_EDGE,    // edge 0 1; edge 2 3
    CT_CONTACT_TYPE_POINT_EDGE,   // node 0; edge 1 2
    CT_CONTACT_TYPE_POINT_POINT   // node 0; node 1
} ct_contact_type;
// Its word in scene files and messages, "plane", ...; NULL: not one of them.
CT_API const char* ct_contact_type_name(ct_contact_type type);
// What a contact did in its step: carry no force, hold, or slide.
typedef enum ct_contact_set { CT_CONTACT_SET_OPEN, CT_CONTACT_SET_STICK, CT_CONTACT_SET_SLIP } ct_contact_set;
// Its word in scene files and messages, "open", ...; NULL: not one of them.
CT_API const char* ct_contact_set_name(ct_contact_set set);
typedef struct ct_contact {  // one contact of a step
    ct_contact_type type;
    ct_contact_set set;
    int node[4];         // -1 where the type has fewer
    int a, b;            // colliders: bodies, then obstacles; a is that of node 0
    double position[3];  // m, on a
    double normal[3];    // from b to a
    double gap;          // m, less the thicknesses
    double force[3];     // N, on a
    double friction;     // coefficient
} ct_contact;

#ifdef __cplusplus
}
#endif
#endif
