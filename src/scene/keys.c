// The words of scene files; see keys.h.
#include "scene/keys.h"

#include <stddef.h>

#include "cuttle.h"
#include "skeleton/joint.h"
#include "text/words.h"

#define OBJECT(id, text, ...) [CT_OBJECT_##id] = {text, (const char* const[]){__VA_ARGS__, NULL}},
const ct_scene_words ct_scene_keys[] = {CT_SCENE_OBJECTS(OBJECT)};

#define QUANTITY(id, word, ...) word,
#define WORDS(...)                                                                                           \
    (const char* const[]) { __VA_ARGS__, NULL }
const ct_scene_words ct_scene_choices[] = {
    [CT_CHOICE_ENERGY] = {"material.energy", ct_energy_words},
    [CT_CHOICE_INTEGRATOR] = {"scene.integrator", ct_integrator_words},
    [CT_CHOICE_SOLVER] = {"solver.type", ct_solver_words},
    [CT_CHOICE_UP] = {"scene.up", WORDS("x", "y", "z")},
    [CT_CHOICE_START] = {"scene.start", WORDS("follow", "relax")},
    [CT_CHOICE_PARAMETER] = {"parameter.type", (const char* const[]){CT_QUANTITY_LIST(QUANTITY) NULL}},
    [CT_CHOICE_PER] = {"parameter.per", ct_parameter_per_words},
    [CT_CHOICE_TRANSFORM] = {"parameter.transform", ct_transform_words},
    [CT_CHOICE_OBJECTIVE] = {"objective.type", ct_objective_kind_words},
    [CT_CHOICE_NORM] = {"objective.norm", WORDS("squared", "distance", "linear")},
    [CT_CHOICE_SHAPE] = {"parameter.shape", ct_curve_words},
    [CT_CHOICE_METHOD] = {"optimizer.method", ct_method_words},
    [CT_CHOICE_JOINT] = {"joint.type", ct_joint_words},
    [CT_CHOICE_CELLS] = {"chamber.cells", ct_cells_words},
    [CT_CHOICE_CONTACT] = {"contact.method", ct_contact_method_words},
    [CT_CHOICE_SPLIT] = {"contact.split", ct_split_words},
};
