// A scene while it is being authored: bodies resolved to world positions and per-tet materials, node sets
// resolved to sorted scene node indices. Scene nodes and tets are the bodies' own, body after body.
#ifndef CT_SCENE_SCENE_H
#define CT_SCENE_SCENE_H

#include "base/memory.h"
#include "cuttle.h"
#include "scene/fail.h"
#include "scene/motion.h"
#include "scene/policy.h"
#include "shape/cell.h"
#include "shape/key_map.h"

typedef struct ct_scene_body {
    char* name;
    ct_mesh* mesh;              // owned; positions already transformed to the world
    int first_node, first_tet;  // scene index of local node 0 and tet 0
    int first_tri;              // of triangle 0 among those of all sheets
    ct_material* tet_material;  // ntet, of a sheet ntri; resolved: body, then tag, then per-element values
    double* velocity;           // 3 nvert, m/s, initial
    double color[3];
    // rad/s, kept so that `velocity` follows the centre of mass when densities change
    double angular_velocity[3];
    char* group;               // of contact pairs, NULL: none
    double contact_thickness;  // m; NAN: chosen when the scene is compiled
} ct_scene_body;

typedef struct ct_scene_force {
    int* node;
    int nnode;
    ct_force_def def;
} ct_scene_force;

typedef struct ct_scene_link {
    char* name;
    int parent;          // -1: the world
    ct_joint_def joint;  // axis normalised
    int* node;           // sorted scene nodes
    int nnode;
    double mass, center[3], inertia[6];
    bool driven;             // a root whose frame follows `motion`
    ct_scene_driver motion;  // without nodes; keys in the scene's arena
} ct_scene_link;

typedef struct ct_scene_obstacle {
    char* name;
    char* group;  // NULL: none
    ct_obstacle_kind kind;
    double point[3], normal[3];  // PLANE, in the world; normal of length 1
    double radius;               // m, SPHERE and CAPSULE
    int nvert, ntri;             // of the others in the world: 1 node, 2 nodes, a surface
    double* x;                   // 3 nvert
    int* tri;                    // 3 ntri
    double thickness;            // m; NAN: chosen when the scene is compiled
    double color[3];
    bool hidden;
    ct_scene_driver motion;                                     // without nodes; nkey 0: it stands still
    double center[3], half[3], scale, rotate[4], translate[3];  // BOX, as it was given
} ct_scene_obstacle;

typedef struct ct_scene_contact_pair {  // names are resolved when the scene is complete
    char *a, *b;
    bool collide;
    double friction;  // NAN: not set
} ct_scene_contact_pair;

// An eyelet of a cable: on a link, on nodes, or in the world.
typedef struct ct_scene_eyelet {
    int link;                      // -1: on none
    int count;                     // nodes, up to 10; 0: on none
    int node[CT_CELL_NODES];       // scene nodes
    double weight[CT_CELL_NODES];  // of the nodes
    double point[3];               // m, at rest
} ct_scene_eyelet;

typedef struct ct_scene_actuator {
    char* name;
    ct_actuator_kind kind;
    ct_control_kind control;  // kind of the control that adds to its numbers
    int size;                 // numbers
    double rest;              // of every number, where it acts on nothing: 1 of cells
    double least;             // that a number may have during a step
    const char* range;        // what it must be, in words; static
    double lower, upper;      // of its numbers, where a parameter of its control states no bounds
    int nelement;             // tets, triangles of a cavity, eyelets
    int* tet;                 // nelement scene tets; muscles and chambers
    int* number;              // nelement, from 0 on: which of the numbers acts on it; muscles and chambers
    double* direction;        // 3 nelement, rest, unit; muscles
    double* weight;           // nelement; muscles
    int* tri;                 // 3 nelement scene nodes, normals out of the enclosed volume; cavities
    // nelement, of a cable; whether it is held to a length; its length at rest, m
    ct_scene_eyelet* eyelet;
    bool held;
    double rest_length;
    double stiffness;  // Pa; of cables N/m; 0 of cavities
    double start;      // of every number
    double time;       // s, activation_time
    // as it was given: body of all but cables; points, radius and segments of a muscle; tag of a chamber or a
    // cavity; nodes and cells of a chamber; seed of a cavity
    int body;
    double* point;  // 3 npoint
    int npoint;
    double radius;
    int segments;
    int tag;
    int* tags;  // ntag, of a chamber over several, sorted
    int ntag;
    int* node;
    int nnode;
    ct_cells cells;
    double seed[3];
} ct_scene_actuator;

// Whether the actuator is of the kind and has a stiffness; a cable under a tension has none.
static inline bool ct_scene_is_stiff(const ct_scene_actuator* actuator, ct_actuator_kind kind) {
    return actuator->kind == kind && actuator->stiffness > 0;
}

enum { CT_WATER_DRAG = 4, CT_WATER_THRUST = 3 };  // control points

typedef struct ct_scene_water {
    bool enabled;
    bool all;            // every body of the scene
    ct_water_def def;    // bodies not used
    unsigned char* wet;  // nbody bodies of the scene when the water was set, 1: in the water
    int nbody;
} ct_scene_water;

typedef struct ct_scene_control {
    char* name;
    ct_control_kind kind;
    int size;   // numbers
    int* node;  // FORCE: sorted scene nodes
    int nnode;
    int nhold;     // FORCE, of a model: nodes that it has room for
    int drive;     // DRIVE, MOVE of nodes: which, otherwise -1
    int link;      // TORQUE, TARGET, DRIVE or MOVE of a root: which, otherwise -1
    int actuator;  // of actuators: which
    // nvalue times, s, and rows of numbers: what it does where no one else says; nvalue 0: zero
    double *time, *value;
    int nvalue;
    bool repeat;
} ct_scene_control;

typedef struct ct_scene_parameter {
    char* name;
    ct_quantity quantity;
    ct_parameter_per per;
    int body;      // -1: all
    int control;   // CONTROL: which, otherwise -1
    int link;      // joints and links: which, -1: all
    int actuator;  // stiffness of muscles and chambers: which, -1: all
    int hold;
    ct_transform transform;                     // never AUTO
    double lower, upper, scale, offset, start;  // as in ct_parameter_def
    double* starts;                             // nstart, in the scene's arena, or NULL
    int nstart;
    ct_curve shape;
    int knots;
    ct_wave_number wave[4];  // amplitude, frequency, phase, center
} ct_scene_parameter;

typedef struct ct_scene_objective {
    char* name;
    ct_objective_kind kind;
    int* node;  // nnode scene nodes, in the order of `shape`
    int nnode;
    bool uniform, relative, distance;
    ct_keyframe* path;  // npath, increasing time, without rotations
    int npath;
    double* shape;  // 3 nnode, or NULL
    double start, stop;
    int control;  // EFFORT, SMOOTHNESS: which, -1: all
    int link;     // JOINT: which, otherwise -1
    double weight;
    double axis[3];  // unit, zeros: all components
    bool linear;
} ct_scene_objective;

typedef struct ct_scene_mass {  // of nodes, in the scene's arena
    int* node;
    int nnode;
    double mass;  // kg, of each
} ct_scene_mass;

struct ct_scene {
    char* name;
    char* file;  // absolute path, "" when built through the API
    ct_settings settings;
    ct_view view;
    ct_scene_body* body;
    int nbody;
    ct_key_map names, groups;  // hashes of those of bodies and obstacles; of names, the body or -1
    ct_scene_mass* mass;
    int nmass;
    ct_scene_driver* drive;
    int ndrive;
    ct_scene_force* force;
    int nforce;
    ct_arena arena;  // owns what the entries below point to
    ct_scene_obstacle* obstacle;
    int nobstacle;
    ct_scene_contact_pair* pair;
    int npair;
    ct_scene_link* link;
    int nlink;
    ct_scene_actuator* actuator;
    int nactuator;
    ct_scene_control* control;
    int ncontrol;
    ct_scene_parameter* parameter;
    int nparameter;
    ct_scene_objective* objective;
    int nobjective;
    ct_optimize_def optimize;
    ct_scene_water water;
    ct_policy policy;  // arrays in `arena`
};

// Where the numbers of a scene's control begin within a step's control vector.
int ct_scene_control_first(const ct_scene* scene, int control);
// Whether a parameter of this quantity means something for the link.
bool ct_scene_link_takes(const ct_scene_link* link, ct_quantity quantity, ct_parameter_per per);
// The control of that name, -1: none.
int ct_scene_find_control(const ct_scene* scene, const char* name);
// The same, where none of that name is an error.
ct_status ct_scene_name_control(const ct_scene* scene, const char* name, int* control, ct_error* error);
// A sorted copy of a node set without duplicates; every index is checked, an empty set fails. *out is freed
// by ct_free.
ct_status ct_scene_sorted_nodes(const ct_scene* scene, const int* nodes, int count, int** out, int* nout,
                                ct_error* error);

// What can only be judged when the scene is complete: there is a body, the solver suits the energies.
ct_status ct_scene_check(const ct_scene* scene, ct_error* error);
ct_status ct_scene_check_links(const ct_scene* scene, ct_error* error);  // its part about joints
// and about the names in contact pairs
ct_status ct_scene_check_pairs(const ct_scene* scene, ct_error* error);
// Whether a name of a pair means the collider: a body, or nbody + an obstacle.
bool ct_scene_pair_means(const ct_scene* scene, const char* name, int collider);
// A name and group (NULL: none) for a new body or obstacle: neither is taken by something else.
// Remembers the names of a body (its index) or obstacle (-1) that is about to be added. false: out of memory.
bool ct_scene_keep_names(ct_scene* scene, const char* name, const char* group, int body);
ct_status ct_scene_check_names(const ct_scene* scene, const char* name, const char* group, ct_error* error);
// Nodes of a model of the scene: of the bodies, four for each link with a mass of its own, of the obstacles.
int ct_scene_model_node_count(const ct_scene* scene);
// Triangles of a body that is a sheet, 0 for one with tets; and elements, tets or these.
static inline int ct_scene_sheet_size(const ct_scene_body* body) {
    return body->mesh->ntet ? 0 : body->mesh->ntri;
}
static inline int ct_scene_body_elements(const ct_scene_body* body) {
    return body->mesh->ntet ? body->mesh->ntet : body->mesh->ntri;
}
// The body of a scene node.
int ct_scene_node_body(const ct_scene* scene, int node);
// Corners of the box around a body's nodes at rest, -1: around all; without bodies, around the anchors and
// centres of the links.
void ct_scene_bounds(const ct_scene* scene, int body, double lower[3], double upper[3]);
// Sets velocity + angular_velocity x (X - centre of mass of the nodes) on sorted scene nodes.
ct_status ct_scene_apply_velocity(ct_scene* scene, const int* node, int nnode, const double velocity[3],
                                  const double angular_velocity[3]);
void ct_scene_free_body(ct_scene_body* body);

#endif
