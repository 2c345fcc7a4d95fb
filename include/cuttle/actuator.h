// Actuators: muscles, pneumatic chambers, cavities under pressure, cables
//
//     ct_muscle_def muscle = ct_muscle_def_default();
//     muscle.body = body;
//     muscle.points = (double[]){0, 0, 0.1, 1, 0, 0.1}, muscle.npoint = 2;
//     muscle.radius = 0.05;
//     if (ct_scene_add_muscle(scene, &muscle, &actuator, &error)) ...
//     if (ct_scene_add_actuator_control(scene, "pull", actuator, &error)) ...
#ifndef CUTTLE_ACTUATOR_H
#define CUTTLE_ACTUATOR_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Each has numbers of its own (a muscle: one per segment; a chamber: one per group; a cavity and a cable:
// one) with a starting value, to which a control adds. They keep their value during a step.
typedef enum ct_actuator_kind {
    CT_ACTUATOR_MUSCLE,
    CT_ACTUATOR_CHAMBER,
    CT_ACTUATOR_CAVITY,
    CT_ACTUATOR_CABLE
} ct_actuator_kind;
// Its word in scene files and messages, "muscle", ...; NULL: not one of them.
CT_API const char* ct_actuator_kind_name(ct_actuator_kind kind);

// Fibres along a polyline: per tet with volume V and fibre direction m, k/2 V w (|F m| - (1 - a))^2 with the
// activation a of its segment. The weight w is 1 up to half of the radius and falls smoothly to 0 at the
// radius. Fibres push when they are shorter than 1 - a. Meant for a from 0 (passive) to 1.
typedef struct ct_muscle_def {
    const char* name;  // NULL: "actuator<k>"; actuators share one space of names
    int body;
    const double* points;  // 3 npoint, m, in the world at rest
    int npoint;            // 2 or more
    double radius;         // m
    // of equal length, each with its own activation; 0: one for each piece of the polyline
    int segments;
    double stiffness;        // k, Pa
    double activation;       // at the start
    double activation_time;  // s: da/dt = (wanted - a) / activation_time; 0: at once
} ct_muscle_def;
CT_API ct_muscle_def ct_muscle_def_default(void);  // 1e6 Pa, without activation, at once

typedef enum ct_cells { CT_CELLS_ONE, CT_CELLS_PER_TAG, CT_CELLS_PER_TET } ct_cells;
// Its word in scene files and messages, "one", ...; NULL: not one of them.
CT_API const char* ct_cells_name(ct_cells cells);
// Cells: per tet k/2 V |F - R|^2, R the matrix nearest to F with det R = a: the volume ratio that the cell
// wants, above 0.
typedef struct ct_chamber_def {
    const char* name;  // as for muscles
    int body;
    int tag;                 // tets with this tag; -1: any
    const int* nodes;        // and with all four nodes in this set of scene nodes
    int count;               // 0: any
    ct_cells cells;          // which tets share an activation; per tag: groups in ascending order of tags
    double stiffness;        // k, Pa
    double activation;       // a at the start
    double activation_time;  // s, as for muscles
    const int* tags;         // tets with one of these tags, where there are some: `tag` is not read
    int ntag;
} ct_chamber_def;
CT_API ct_chamber_def ct_chamber_def_default(void);  // all tets of body 0 in one group, 1e6 Pa, a = 1

// A closed surface with a pressure inside, energy -p V: a hollow in a body of tets, or a sheet that is
// closed.
typedef struct ct_cavity_def {
    const char* name;  // as for muscles
    int body;
    int tag;          // of the triangles around it; -1: the component of the surface around `seed`
    double seed[3];   // a point in the hollow, m, in the world at rest
    double pressure;  // Pa above that outside, at the start
} ct_cavity_def;
CT_API ct_cavity_def ct_cavity_def_default(void);  // no pressure

// Where an eyelet sits: fixed in the world, in the flesh of a body (a point of a tet; of what is driven, it
// is driven too), on a node of the scene, or on a link.
typedef enum ct_eyelet_seat {
    CT_EYELET_WORLD,
    CT_EYELET_BODY,
    CT_EYELET_NODE,
    CT_EYELET_LINK
} ct_eyelet_seat;
// Its word, "world", ...; NULL: not one of them.
CT_API const char* ct_eyelet_seat_name(ct_eyelet_seat seat);
typedef struct ct_eyelet_def {
    ct_eyelet_seat seat;
    int index;        // of the body, node or link
    double point[3];  // m, in the world at rest; of a node it is not read
} ct_eyelet_def;
// What holds a cable: a tension T (N), with the energy T l of its length l; or a length a (m) to which it is
// wound, with the one-sided spring k/2 max(0, l - a)^2, which takes hold over a thousandth of the length at
// rest.
typedef enum ct_cable_hold { CT_CABLE_TENSION, CT_CABLE_LENGTH } ct_cable_hold;
// Its word, "tension" or "length"; NULL: not one of them.
CT_API const char* ct_cable_hold_name(ct_cable_hold hold);
// A cable (tendon) through eyelets without friction. It pulls with the same tension all along, never pushes,
// and may be slack. Momentum is conserved but for eyelets in the world.
typedef struct ct_cable_def {
    const char* name;              // as of muscles
    const ct_eyelet_def* eyelets;  // in order along the cable
    int count;                     // 2 or more
    ct_cable_hold hold;
    double tension;          // N, at the start, 0 or more
    double length;           // m, at the start, 0 or more; NAN: as long as the cable is at rest
    double stiffness;        // k, N/m, above 0; of cables that are held to a length
    double activation_time;  // s, as of muscles
} ct_cable_def;
CT_API ct_cable_def ct_cable_def_default(void);  // no tension; where it is held to its length, with 1e4 N/m

// Adds an actuator to a body that is in the scene. CT_BAD_SCENE names the field that makes no sense, also
// when the muscle meets no tet.
CT_API ct_status ct_scene_add_muscle(ct_scene* scene, const ct_muscle_def* def, int* actuator,
                                     ct_error* error);
// The same for a chamber.
CT_API ct_status ct_scene_add_chamber(ct_scene* scene, const ct_chamber_def* def, int* actuator,
                                      ct_error* error);
// The same for a cavity. CT_BAD_SCENE also when its surface is not closed.
CT_API ct_status ct_scene_add_cavity(ct_scene* scene, const ct_cavity_def* def, int* actuator,
                                     ct_error* error);
// The same for a cable. CT_BAD_SCENE also when an eyelet in flesh is not inside of its body.
CT_API ct_status ct_scene_add_cable(ct_scene* scene, const ct_cable_def* def, int* actuator, ct_error* error);
CT_API int ct_scene_actuator_count(const ct_scene* scene);                   // of all kinds
CT_API int ct_scene_find_actuator(const ct_scene* scene, const char* name);  // -1: none

typedef struct ct_actuator_info {
    const char* name;  // borrowed
    ct_actuator_kind kind;
    int first, count;   // its numbers within ct_state_actuation
    int element_count;  // tets, triangles around a cavity, or eyelets
    double stiffness;   // Pa; of cables N/m; 0 of cavities
} ct_actuator_info;
CT_API int ct_model_actuator_count(const ct_model* model);  // in the order of the scene
// An actuator as the model has it now; no such one: name "", zeros.
CT_API ct_actuator_info ct_model_actuator_info(const ct_model* model, int actuator);

#ifdef __cplusplus
}
#endif
#endif
