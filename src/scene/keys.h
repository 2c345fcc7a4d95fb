// The words of scene files: the keys of every object and the names of every choice. The loader reads with
// these tables and the tests hold docs/scene.schema.json against them. An object's name is its name in the
// schema's $defs.
#ifndef CT_SCENE_KEYS_H
#define CT_SCENE_KEYS_H

#define CT_SCENE_OBJECTS(X)                                                                                  \
    X(SCENE, "scene", "$schema", "name", "gravity", "up", "time_step", "duration", "settle", "start",        \
      "integrator", "solver", "output", "view", "ground", "contact", "bodies", "obstacles", "skeletons",     \
      "drives", "pins", "forces", "velocities", "masses", "water", "muscles", "chambers", "cavities",        \
      "cables", "actuators", "controls", "policy", "parameters", "objective", "optimizer")                   \
    X(SOLVER, "solver", "type", "tolerance", "max_iterations", "max_substep_depth", "threads")               \
    X(OUTPUT, "output", "every", "compress")                                                                 \
    X(VIEW, "view", "eye", "target", "field_of_view")                                                        \
    X(BODY, "body", "name", "mesh", "repair", "box", "sphere", "cylinder", "torus", "sheet", "shape",        \
      "size", "interior", "scale", "rotate", "translate", "material", "tags", "values", "velocity",          \
      "angular_velocity", "color", "group", "contact_thickness", "order", "mass")                            \
    X(MESH, "mesh", "nodes", "tets", "middles", "triangles", "tet_tags", "triangle_tags", "tags")            \
    X(BOX_MESH, "box_mesh", "size", "cells")                                                                 \
    X(SHEET_MESH, "sheet_mesh", "size", "cells")                                                             \
    X(SPHERE_MESH, "sphere_mesh", "radius", "size")                                                          \
    X(CYLINDER_MESH, "cylinder_mesh", "radius", "length", "size")                                            \
    X(TORUS_MESH, "torus_mesh", "major", "minor", "size")                                                    \
    X(CONTACT, "contact", "method", "split", "friction", "max_passes", "truncate", "pairs")                  \
    X(PAIR, "pair", "between", "collide", "friction")                                                        \
    X(OBSTACLE, "obstacle", "name", "group", "plane", "sphere", "capsule", "box", "mesh", "repair", "scale", \
      "rotate", "translate", "motion", "thickness", "color", "hidden")                                       \
    X(OBSTACLE_PLANE, "obstacle_plane", "point", "normal")                                                   \
    X(OBSTACLE_SPHERE, "obstacle_sphere", "center", "radius")                                                \
    X(OBSTACLE_CAPSULE, "obstacle_capsule", "ends", "radius")                                                \
    X(OBSTACLE_BOX, "obstacle_box", "center", "half")                                                        \
    X(OBSTACLE_MESH, "obstacle_mesh", "mesh", "repair", "box", "sphere", "cylinder", "torus", "sheet",       \
      "shape", "size", "interior")                                                                           \
    X(MATERIAL, "material", "energy", "young", "poisson", "density", "damping", "paper_weights",             \
      "thickness", "bending", "curvature")                                                                   \
    X(BENDING, "bending", "factor", "warp", "weft", "shear", "direction")                                    \
    X(DAMPING, "damping", "mass", "stiffness")                                                               \
    X(VALUES, "values", "young", "poisson", "density", "damping_mass", "damping_stiffness", "bending",       \
      "bending_warp", "bending_weft", "bending_shear", "curvature_warp", "curvature_weft",                   \
      "curvature_twist", "thickness")                                                                        \
    X(DRIVE, "drive", "select", "motion", "clamp")                                                           \
    X(MOTION, "motion", "keys", "center", "smooth", "repeat")                                                \
    X(KEYFRAME, "keyframe", "time", "translate", "rotate")                                                   \
    X(TURN, "turn", "axis", "degrees")                                                                       \
    X(PIN, "pin", "select", "clamp")                                                                         \
    X(FORCE, "force", "select", "total", "per_node", "acceleration", "start", "stop")                        \
    X(VELOCITY, "velocity", "select", "velocity", "angular_velocity")                                        \
    X(NODE_MASS, "node_mass", "select", "total", "per_node")                                                 \
    X(SKELETON, "skeleton", "name", "links", "file", "translate", "rotate", "scale")                         \
    X(LINK, "link", "name", "parent", "joint", "nodes", "mass", "center", "inertia", "mesh", "density",      \
      "motion")                                                                                              \
    X(JOINT, "joint", "type", "anchor", "axis", "axis2", "lead", "position", "velocity", "stiffness",        \
      "rest", "damping", "armature", "limits", "limits2", "limit_stiffness", "servo")                        \
    X(SERVO, "servo", "stiffness", "damping", "target")                                                      \
    X(WATER, "water", "density", "current", "drag", "thrust", "buoyancy", "level", "layer", "slow",          \
      "bodies")                                                                                              \
    X(MUSCLE, "muscle", "name", "body", "points", "radius", "segments", "stiffness", "activation",           \
      "activation_time")                                                                                     \
    X(CHAMBER, "chamber", "name", "body", "tag", "select", "cells", "stiffness", "activation",               \
      "activation_time")                                                                                     \
    X(CAVITY, "cavity", "name", "body", "tag", "seed", "pressure")                                           \
    X(CABLE, "cable", "name", "eyelets", "tension", "length", "stiffness", "activation_time")                \
    X(ACTUATOR, "actuator", "muscle", "chamber", "cavity", "cable")                                          \
    X(EYELET, "eyelet", "body", "link", "node", "point")                                                     \
    X(CONTROL, "control", "name", "force", "drive", "move", "torque", "target", "actuator", "values",        \
      "repeat")                                                                                              \
    X(FORCE_CONTROL, "force_control", "select")                                                              \
    X(PARAMETER, "parameter", "name", "type", "per", "body", "control", "link", "actuator", "hold",          \
      "transform", "lower", "upper", "scale", "offset", "start", "shape", "knots", "amplitude", "frequency", \
      "phase", "center")                                                                                     \
    X(CONTROL_KEY, "control_key", "time", "value")                                                           \
    X(POLICY, "policy", "observe", "hidden", "controls", "scale", "weights", "seed")                         \
    X(OBSERVE, "observe", "position", "velocity", "joint", "phase", "relative", "scale")                     \
    X(WAVE, "wave", "start", "lower", "upper", "fixed")                                                      \
    X(OBJECTIVE, "objective", "name", "type", "select", "uniform", "link", "target", "path", "relative",     \
      "shape", "time", "from", "to", "control", "weight", "norm", "axis")                                    \
    X(PATH_KEY, "path_key", "time", "target")                                                                \
    X(OPTIMIZER, "optimizer", "method", "iterations", "target", "rate", "tolerance", "restarts", "seed",     \
      "noise", "spread", "population")                                                                       \
    X(SELECTOR, "selector", "body", "all", "box", "sphere", "plane", "capsule", "tag", "nearest", "count",   \
      "list", "surface", "and", "or", "not")                                                                 \
    X(SELECT_SPHERE, "select_sphere", "center", "radius")                                                    \
    X(SELECT_PLANE, "select_plane", "point", "normal")                                                       \
    X(SELECT_CAPSULE, "select_capsule", "a", "b", "radius")

typedef enum ct_scene_object {
#define CT_SCENE_OBJECT_ENUM(id, ...) CT_OBJECT_##id,
    CT_SCENE_OBJECTS(CT_SCENE_OBJECT_ENUM)
#undef CT_SCENE_OBJECT_ENUM
        CT_OBJECT_COUNT
} ct_scene_object;

typedef struct ct_scene_words {
    const char* name;          // in the schema's $defs, or the path of the choice: "material.energy"
    const char* const* words;  // NULL-terminated
} ct_scene_words;

// Keys of each object; the table has CT_OBJECT_COUNT entries.
extern const ct_scene_words ct_scene_keys[];

// Choices, in the order of their enums.
typedef enum ct_scene_choice {
    CT_CHOICE_ENERGY,
    CT_CHOICE_INTEGRATOR,
    CT_CHOICE_SOLVER,
    CT_CHOICE_UP,
    CT_CHOICE_START,
    CT_CHOICE_PARAMETER,
    CT_CHOICE_PER,
    CT_CHOICE_TRANSFORM,
    CT_CHOICE_OBJECTIVE,
    CT_CHOICE_NORM,
    CT_CHOICE_METHOD,
    CT_CHOICE_SHAPE,
    CT_CHOICE_JOINT,
    CT_CHOICE_CONTACT,
    CT_CHOICE_SPLIT,
    CT_CHOICE_CELLS,
    CT_CHOICE_COUNT
} ct_scene_choice;
extern const ct_scene_words ct_scene_choices[];

#endif
