// Quantities: everything of a model that can be read, set, varied by a parameter and differentiated.
//
// One row of the table below is one quantity. From it follow its name, its size, the words of scene files,
// what values it may take, how parameters treat it, and where its derivative goes.
#ifndef CUTTLE_QUANTITY_H
#define CUTTLE_QUANTITY_H

#include "cuttle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a quantity belongs to, and so how many numbers there are of it: width times the count of these.
typedef enum ct_quantity_of {
    CT_OF_ELEMENTS,  // tets, then the triangles of sheets
    CT_OF_SHEETS,    // the same list; the entries of tets are not used
    CT_OF_NODES,
    CT_OF_LINKS,     // entries of links that have no such thing are not used
    CT_OF_RATES,     // joint rates, as ct_state_joint_rates counts them
    CT_OF_FRICTION,  // the scene's coefficient, then those of the pairs that set one
    CT_OF_MUSCLES,   // actuators; the entries of other kinds are not used
    CT_OF_CHAMBERS,  // likewise
    CT_OF_CABLES,    // likewise
    CT_OF_SCENE,     // one
    CT_OF_WATER,     // one; none in a scene without water
    CT_OF_POLICY,    // weights of the policy
    CT_OF_CONTROLS   // numbers of a step's control vector; of a rollout: one step after the other
} ct_quantity_of;
// Its word, "elements", ...; NULL: not one of them.
CT_API const char* ct_quantity_of_name(ct_quantity_of of);

// What it means to set a quantity.
typedef enum ct_quantity_role {
    CT_ROLE_VALUE,   // of the model; the factored system does not depend on it
    CT_ROLE_SYSTEM,  // of the model; its system is factored again when it has moved far
    CT_ROLE_STATE,   // of the initial state: set there (ct_state_set, ct_state_set_joints)
    CT_ROLE_CONTROL  // of every step: given to ct_step and ct_rollout
} ct_quantity_role;
// Its word, "value", ...; NULL: not one of them.
CT_API const char* ct_quantity_role_name(ct_quantity_role role);

// How a parameter maps a number y of the search vector to a value.
typedef enum ct_transform {
    CT_TRANSFORM_AUTO,    // the quantity's own, see the table
    CT_TRANSFORM_NONE,    // value = y
    CT_TRANSFORM_AFFINE,  // value = offset + scale y
    CT_TRANSFORM_LOG,     // value = scale exp(y)
    CT_TRANSFORM_SIGMOID  // value = lower + (upper - lower) / (1 + exp(-y))
} ct_transform;
// Its word in scene files and messages, "auto", ...; NULL: not one of them.
CT_API const char* ct_transform_name(ct_transform transform);

// X(id, word, of, width, role, transform, lower, upper, most, shrink, doc)
//   of, role, transform  ct_quantity_of, ct_quantity_role, ct_transform (of parameters that leave it open)
//   width                numbers for each of what it belongs to
//   lower, upper         values lie in [lower, upper), or above lower where shrink is not 0
//   most                 upper bound of a parameter that states none
//   floor                of a positive quantity: a parameter that states no lower bound stops at this share
//   of
//                        its starting value; 0: it stops at lower
//   doc                  what it is, with its unit
#define CT_QUANTITY_LIST(X)                                                                                  \
    X(YOUNG, "young", ELEMENTS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000, "Young's modulus, Pa")          \
    X(POISSON, "poisson", ELEMENTS, 1, SYSTEM, SIGMOID, 0, 0.5, 0.49, 0, "Poisson's ratio")                  \
    X(DENSITY, "density", ELEMENTS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000, "density, kg/m^3")          \
    X(DAMPING_MASS, "damping_mass", ELEMENTS, 1, SYSTEM, AFFINE, 0, INFINITY, INFINITY, 0,                   \
      "damping proportional to mass, 1/s")                                                                   \
    X(DAMPING_STIFFNESS, "damping_stiffness", ELEMENTS, 1, SYSTEM, AFFINE, 0, INFINITY, INFINITY, 0,         \
      "damping proportional to stiffness, s")                                                                \
    X(GRAVITY, "gravity", SCENE, 3, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0, "gravity, m/s^2")       \
    X(POSITION, "position", NODES, 3, STATE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,                       \
      "initial positions, m")                                                                                \
    X(VELOCITY, "velocity", NODES, 3, STATE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,                       \
      "initial velocities, m/s")                                                                             \
    X(CONTROL, "control", CONTROLS, 1, CONTROL, AFFINE, -INFINITY, INFINITY, INFINITY, 0,                    \
      "controls, in their own units")                                                                        \
    X(JOINT_STIFFNESS, "joint_stiffness", LINKS, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                 \
      "springs of joints, N m/rad or N/m")                                                                   \
    X(JOINT_DAMPING, "joint_damping", LINKS, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                     \
      "dampers of joints, N m s/rad or N s/m")                                                               \
    X(JOINT_REST, "joint_rest", LINKS, 1, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,                   \
      "coordinates at which the springs of joints are at rest, rad or m")                                    \
    X(SERVO_STIFFNESS, "servo_stiffness", LINKS, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                 \
      "stiffness of servos, N m/rad or N/m")                                                                 \
    X(SERVO_DAMPING, "servo_damping", LINKS, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                     \
      "damping of servos, N m s/rad or N s/m")                                                               \
    X(LIMIT_STIFFNESS, "limit_stiffness", LINKS, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                 \
      "stiffness of the limits of joints, N m/rad^2 or N/m^2")                                               \
    X(LINK_MASS, "link_mass", LINKS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                            \
      "links' own masses, centre and shape kept (the inertia grows with the mass), kg")                      \
    X(ARMATURE, "armature", LINKS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                              \
      "inertia of the rotors of joints, kg m^2 or kg")                                                       \
    X(JOINT_POSITION, "joint_position", RATES, 1, STATE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,           \
      "initial coordinates of joints, rad or m; balls and free joints: a further small motion along their "  \
      "parent's axes, from 0")                                                                               \
    X(JOINT_VELOCITY, "joint_velocity", RATES, 1, STATE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,           \
      "initial rates of joints, rad/s or m/s, along the same axes")                                          \
    X(FRICTION, "friction", FRICTION, 1, VALUE, AFFINE, 0, INFINITY, INFINITY, 0, "friction coefficients")   \
    X(BENDING, "bending", SHEETS, 1, SYSTEM, AFFINE, 0, INFINITY, INFINITY, 0,                               \
      "factor of a sheet's bending stiffness")                                                               \
    X(BENDING_WARP, "bending_warp", SHEETS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                     \
      "further factor of a sheet's bending stiffness along its direction")                                   \
    X(BENDING_WEFT, "bending_weft", SHEETS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                     \
      "further factor of a sheet's bending stiffness across its direction")                                  \
    X(BENDING_SHEAR, "bending_shear", SHEETS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                   \
      "further factor of a sheet's stiffness against twist")                                                 \
    X(CURVATURE_WARP, "curvature_warp", SHEETS, 1, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,          \
      "natural curvature of a sheet along its direction, 1/m")                                               \
    X(CURVATURE_WEFT, "curvature_weft", SHEETS, 1, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,          \
      "natural curvature of a sheet across its direction, 1/m")                                              \
    X(CURVATURE_TWIST, "curvature_twist", SHEETS, 1, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,        \
      "natural twist of a sheet, 1/m")                                                                       \
    X(THICKNESS, "thickness", SHEETS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,                           \
      "thickness of a sheet, m")                                                                             \
    X(WATER_DENSITY, "water_density", WATER, 1, VALUE, LOG, 0, INFINITY, INFINITY, 1000,                     \
      "density of the water, kg/m^3")                                                                        \
    X(WATER_DRAG, "water_drag", WATER, 4, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                           \
      "control points of the drag coefficient")                                                              \
    X(WATER_THRUST, "water_thrust", WATER, 3, VALUE, AFFINE, 0, INFINITY, INFINITY, 0,                       \
      "control points of the thrust coefficient")                                                            \
    X(WATER_CURRENT, "water_current", WATER, 3, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0,             \
      "velocity of the water, m/s")                                                                          \
    X(MUSCLE_STIFFNESS, "muscle_stiffness", MUSCLES, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,            \
      "stiffness of muscles, Pa")                                                                            \
    X(CHAMBER_STIFFNESS, "chamber_stiffness", CHAMBERS, 1, SYSTEM, LOG, 0, INFINITY, INFINITY, 1000,         \
      "stiffness of chambers, Pa")                                                                           \
    X(CABLE_STIFFNESS, "cable_stiffness", CABLES, 1, VALUE, LOG, 0, INFINITY, INFINITY, 1e-3,                \
      "stiffness of cables that are held to a length, N/m")                                                  \
    X(POLICY, "policy", POLICY, 1, VALUE, AFFINE, -INFINITY, INFINITY, INFINITY, 0, "weights of the policy")

typedef enum ct_quantity {
#define CT_QUANTITY_ENUM(id, ...) CT_QUANTITY_##id,
    CT_QUANTITY_LIST(CT_QUANTITY_ENUM)
#undef CT_QUANTITY_ENUM
        CT_QUANTITY_COUNT
} ct_quantity;

// Arrays of the quantities' numbers, each of its full size; NULL: not there, unchanged or not wanted.
typedef struct ct_values {
    double* of[CT_QUANTITY_COUNT];
} ct_values;

// A row of the table.
typedef struct ct_quantity_info {
    const char* name;  // as in scene files, such as "young"
    ct_quantity_of of;
    int width;
    ct_quantity_role role;
    ct_transform transform;
    double lower, upper, most, shrink;
    const char* doc;
} ct_quantity_info;

// The quantity's name, such as "young"; static. NULL where `quantity` is none of the table.
CT_API const char* ct_quantity_name(ct_quantity quantity);
// The quantity of that name, CT_QUANTITY_COUNT where there is none or name is NULL.
CT_API ct_quantity ct_quantity_find(const char* name);
// The quantity's row; static. NULL where `quantity` is none of the table.
CT_API const ct_quantity_info* ct_quantity_row(ct_quantity quantity);

// How many numbers of the quantity the model has; 0 where it has no such thing, or `quantity` is none of the
// table. Controls: of one step.
CT_API size_t ct_model_quantity_size(const ct_model* model, ct_quantity quantity);
// The model's present numbers into values (ct_model_quantity_size of them). Entries that are not used are 0.
// Initial states: as ct_state_create begins; positions of nodes on links are those at rest, their place
// follows from joint_position. Controls: the scene's values at time 0.
CT_API void ct_model_get(const ct_model* model, ct_quantity quantity, double* values);
// Sets all numbers of one quantity; entries that are not used are not looked at. Fails, and changes nothing,
// when a number is out of bounds, or when the quantity belongs to the initial state or to the controls: the
// error says where those are set. Works, states and tapes of the model stay valid; a tape must be filled
// again before ct_backward.
CT_API ct_status ct_model_set(ct_model* model, ct_quantity quantity, const double* values, ct_error* error);
// Sets all quantities whose array is not NULL at once, in the same way. The system is factored again only
// when it has moved by more than about 3x; *refactored (may be NULL) says whether it was.
CT_API ct_status ct_model_set_values(ct_model* model, const ct_values* values, bool* refactored,
                                     ct_error* error);
// Whether every change of values factors the system anew. Results then depend on the values alone, to the
// last bit, not on those that were set before.
CT_API void ct_model_factor_always(ct_model* model, bool always);

#ifdef __cplusplus
}
#endif
#endif
