// The words of scene files; see keys.h.
#include "scene/keys.h"

#include <stddef.h>

#include "skeleton/joint.h"

#define OBJECT(id, text, ...) [CT_OBJECT_##id] = {text, (const char* const[]){__VA_ARGS__, NULL}},
const ct_scene_words ct_scene_keys[] = {CT_SCENE_OBJECTS(OBJECT)};

#define WORDS(...)                                                                                           \
    (const char* const[]) { __VA_ARGS__, NULL }
const ct_scene_words ct_scene_choices[] = {
    [CT_CHOICE_ENERGY] = {"material.energy", WORDS("corotated", "projective", "neohookean", "stvk")},
    [CT_CHOICE_INTEGRATOR] = {"scene.integrator", WORDS("euler", "bdf2")},
    [CT_CHOICE_SOLVER] = {"solver.type", WORDS("newton", "projective")},
    [CT_CHOICE_UP] = {"scene.up", WORDS("x", "y", "z")},
    [CT_CHOICE_PARAMETER] = {"parameter.type",
                             WORDS("young", "poisson", "density", "damping_mass", "damping_stiffness",
                                   "gravity", "position", "velocity", "control", "joint_stiffness",
                                   "joint_damping", "joint_rest", "servo_stiffness", "servo_damping",
                                   "limit_stiffness", "link_mass", "joint_position", "joint_velocity",
                                   "friction", "bending", "thickness", "water_density", "water_drag",
                                   "water_thrust", "water_current", "muscle_stiffness", "chamber_stiffness",
                                   "policy")},
    [CT_CHOICE_PER] = {"parameter.per", WORDS("element", "tag", "body", "scene")},
    [CT_CHOICE_TRANSFORM] = {"parameter.transform", WORDS("auto", "none", "affine", "log", "sigmoid")},
    [CT_CHOICE_OBJECTIVE] = {"objective.type",
                             WORDS("point", "velocity", "shape", "effort", "smoothness", "joint")},
    [CT_CHOICE_NORM] = {"objective.norm", WORDS("squared", "distance")},
    [CT_CHOICE_SHAPE] = {"parameter.shape", WORDS("steps", "spline", "sinusoid")},
    [CT_CHOICE_METHOD] = {"optimizer.method", WORDS("lbfgs", "adam", "mma", "slsqp", "cmaes", "evolution",
                                                    "bobyqa", "nelder_mead")},
    [CT_CHOICE_JOINT] = {"joint.type", ct_joint_words},
    [CT_CHOICE_CELLS] = {"chamber.cells", WORDS("one", "tag", "tet")},
    [CT_CHOICE_CONTACT] = {"contact.method", WORDS("none", "newton", "split")},
    [CT_CHOICE_SPLIT] = {"contact.split", WORDS("mass", "diagonal", "twice", "whole")},
};
