// The words of the public enums; see words.h.
#include "text/words.h"

#include <stddef.h>
#include <string.h>

static const char* name_of(const char* const* words, size_t count, size_t value) {
    return value < count ? words[value] : NULL;
}

static bool find(const char* const* words, const char* name, int* value) {
    for (int i = 0; name && words[i]; i++)
        if (!strcmp(words[i], name)) return *value = i, true;
    return false;
}

// A table and the function that reads it.
#define NAMES(kind, ...)                                                                                     \
    const char* const kind##_words[] = {__VA_ARGS__, NULL};                                                  \
    const char* kind##_name(kind value) {                                                                    \
        return name_of(kind##_words, sizeof kind##_words / sizeof kind##_words[0] - 1, (size_t)value);       \
    }

// The way back, for words that users type.
#define FIND(kind)                                                                                           \
    bool kind##_find(const char* name, kind* value) {                                                        \
        int found = 0;                                                                                       \
        if (!find(kind##_words, name, &found)) return false;                                                 \
        *value = (kind)found;                                                                                \
        return true;                                                                                         \
    }

// ---- scene.h -------------------------------------------------------------------------------

NAMES(ct_energy, [CT_ENERGY_COROTATED] = "corotated", [CT_ENERGY_PROJECTIVE] = "projective",
      [CT_ENERGY_NEOHOOKEAN] = "neohookean", [CT_ENERGY_STVK] = "stvk")
NAMES(ct_integrator, [CT_INTEGRATOR_EULER] = "euler", [CT_INTEGRATOR_BDF2] = "bdf2",
      [CT_INTEGRATOR_SDIRK2] = "sdirk2", [CT_INTEGRATOR_SDIRK3] = "sdirk3",
      [CT_INTEGRATOR_MIDPOINT] = "midpoint")
NAMES(ct_solver, [CT_SOLVER_NEWTON] = "newton", [CT_SOLVER_PROJECTIVE] = "projective")
NAMES(ct_contact_method, [CT_CONTACT_METHOD_NONE] = "none", [CT_CONTACT_METHOD_NEWTON] = "newton",
      [CT_CONTACT_METHOD_SPLIT] = "split")
NAMES(ct_split, [CT_SPLIT_MASS] = "mass", [CT_SPLIT_DIAGONAL] = "diagonal", [CT_SPLIT_TWICE] = "twice",
      [CT_SPLIT_WHOLE] = "whole", [CT_SPLIT_NODES] = "nodes")
NAMES(ct_select_kind, [CT_SELECT_ALL] = "all", [CT_SELECT_BOX] = "box", [CT_SELECT_SPHERE] = "sphere",
      [CT_SELECT_PLANE] = "plane", [CT_SELECT_CAPSULE] = "capsule", [CT_SELECT_TAG] = "tag",
      [CT_SELECT_NEAREST] = "nearest", [CT_SELECT_LIST] = "list", [CT_SELECT_SURFACE] = "surface",
      [CT_SELECT_AND] = "and", [CT_SELECT_OR] = "or", [CT_SELECT_NOT] = "not")
NAMES(ct_force_kind, [CT_FORCE_TOTAL] = "total", [CT_FORCE_PER_NODE] = "per_node",
      [CT_FORCE_ACCELERATION] = "acceleration")

// ---- contact.h -----------------------------------------------------------------------------

NAMES(ct_obstacle_kind, [CT_OBSTACLE_PLANE] = "plane", [CT_OBSTACLE_SPHERE] = "sphere",
      [CT_OBSTACLE_CAPSULE] = "capsule", [CT_OBSTACLE_BOX] = "box", [CT_OBSTACLE_MESH] = "mesh")
NAMES(ct_contact_type, [CT_CONTACT_TYPE_PLANE] = "plane", [CT_CONTACT_TYPE_VERTEX_FACE] = "vertex_face",
      [CT_CONTACT_TYPE_EDGE_EDGE] = "edge_edge", [CT_CONTACT_TYPE_POINT_EDGE] = "point_edge",
      [CT_CONTACT_TYPE_POINT_POINT] = "point_point")
NAMES(ct_contact_set, [CT_CONTACT_SET_OPEN] = "open", [CT_CONTACT_SET_STICK] = "stick",
      [CT_CONTACT_SET_SLIP] = "slip")

// ---- control.h, actuator.h, policy.h -------------------------------------------------------

NAMES(ct_control_kind, [CT_CONTROL_FORCE] = "force", [CT_CONTROL_TORQUE] = "torque",
      [CT_CONTROL_TARGET] = "target", [CT_CONTROL_DRIVE] = "drive", [CT_CONTROL_ACTIVATION] = "activation",
      [CT_CONTROL_PRESSURE] = "pressure", [CT_CONTROL_MOVE] = "move", [CT_CONTROL_TENSION] = "tension",
      [CT_CONTROL_LENGTH] = "length")
NAMES(ct_actuator_kind, [CT_ACTUATOR_MUSCLE] = "muscle", [CT_ACTUATOR_CHAMBER] = "chamber",
      [CT_ACTUATOR_CAVITY] = "cavity", [CT_ACTUATOR_CABLE] = "cable")
NAMES(ct_eyelet_seat, [CT_EYELET_WORLD] = "world", [CT_EYELET_BODY] = "body", [CT_EYELET_NODE] = "node",
      [CT_EYELET_LINK] = "link")
NAMES(ct_cable_hold, [CT_CABLE_TENSION] = "tension", [CT_CABLE_LENGTH] = "length")
NAMES(ct_cells, [CT_CELLS_ONE] = "one", [CT_CELLS_PER_TAG] = "tag", [CT_CELLS_PER_TET] = "tet")
NAMES(
    ct_observe_kind, [CT_OBSERVE_POSITION] = "position", [CT_OBSERVE_VELOCITY] = "velocity",
    [CT_OBSERVE_JOINT] = "joint", [CT_OBSERVE_PHASE] = "phase", [CT_OBSERVE_RATE] = "rate",
    [CT_OBSERVE_POSITIONS] = "positions", [CT_OBSERVE_VELOCITIES] = "velocities", [CT_OBSERVE_POSE] = "pose",
    [CT_OBSERVE_CONTACT] = "contact", [CT_OBSERVE_VOLUME] = "volume", [CT_OBSERVE_ACTUATION] = "actuation")

// ---- quantity.h, parameter.h ---------------------------------------------------------------------------

NAMES(ct_parameter_per, [CT_PER_ELEMENT] = "element", [CT_PER_TAG] = "tag", [CT_PER_BODY] = "body",
      [CT_PER_SCENE] = "scene")
NAMES(ct_quantity_of, [CT_OF_ELEMENTS] = "elements", [CT_OF_SHEETS] = "sheets", [CT_OF_NODES] = "nodes",
      [CT_OF_LINKS] = "links", [CT_OF_RATES] = "rates", [CT_OF_FRICTION] = "friction",
      [CT_OF_MUSCLES] = "muscles", [CT_OF_CHAMBERS] = "chambers", [CT_OF_CABLES] = "cables",
      [CT_OF_SCENE] = "scene", [CT_OF_WATER] = "water", [CT_OF_POLICY] = "policy",
      [CT_OF_CONTROLS] = "controls")
NAMES(ct_quantity_role, [CT_ROLE_VALUE] = "value", [CT_ROLE_SYSTEM] = "system", [CT_ROLE_STATE] = "state",
      [CT_ROLE_CONTROL] = "control")
NAMES(ct_transform, [CT_TRANSFORM_AUTO] = "auto", [CT_TRANSFORM_NONE] = "none",
      [CT_TRANSFORM_AFFINE] = "affine", [CT_TRANSFORM_LOG] = "log", [CT_TRANSFORM_SIGMOID] = "sigmoid")
NAMES(ct_curve, [CT_CURVE_STEPS] = "steps", [CT_CURVE_SPLINE] = "spline", [CT_CURVE_SINUSOID] = "sinusoid")
NAMES(ct_objective_kind, [CT_OBJECTIVE_POINT] = "point", [CT_OBJECTIVE_VELOCITY] = "velocity",
      [CT_OBJECTIVE_SHAPE] = "shape", [CT_OBJECTIVE_EFFORT] = "effort",
      [CT_OBJECTIVE_SMOOTHNESS] = "smoothness", [CT_OBJECTIVE_JOINT] = "joint")
NAMES(ct_method, [CT_METHOD_LBFGS] = "lbfgs", [CT_METHOD_ADAM] = "adam", [CT_METHOD_MMA] = "mma",
      [CT_METHOD_SLSQP] = "slsqp", [CT_METHOD_CMAES] = "cmaes", [CT_METHOD_EVOLUTION] = "evolution",
      [CT_METHOD_BOBYQA] = "bobyqa", [CT_METHOD_NELDER_MEAD] = "nelder_mead")
FIND(ct_method)

// ---- mesh.h, state.h, trajectory.h, picture.h ----------------------------------------------

NAMES(ct_mesh_format, [CT_MESH_AUTO] = "auto", [CT_MESH_GMSH] = "gmsh", [CT_MESH_VTK] = "vtk",
      [CT_MESH_VTU] = "vtu", [CT_MESH_TETGEN] = "tetgen", [CT_MESH_MEDIT] = "medit", [CT_MESH_OBJ] = "obj",
      [CT_MESH_STL] = "stl")
FIND(ct_mesh_format)
NAMES(ct_tet_field, [CT_FIELD_ENERGY_DENSITY] = "energy", [CT_FIELD_VON_MISES] = "stress",
      [CT_FIELD_VOLUME_RATIO] = "volume", [CT_FIELD_ACTIVATION] = "activation")
NAMES(ct_export_format, [CT_EXPORT_VTU] = "vtu", [CT_EXPORT_OBJ] = "obj", [CT_EXPORT_USDA] = "usda",
      [CT_EXPORT_GLB] = "glb")
FIND(ct_export_format)
NAMES(ct_bones, [CT_BONES_THROUGH] = "through", [CT_BONES_ONLY] = "only", [CT_BONES_OFF] = "off")
FIND(ct_bones)
