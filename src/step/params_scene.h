// The numbers of a scene that parameters can set: how many of each kind there are, and what they are.
#ifndef CT_STEP_PARAMS_SCENE_H
#define CT_STEP_PARAMS_SCENE_H

#include "model/model.h"

static inline bool ct_parameter_is_nodal(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_POSITION || kind == CT_PARAMETER_VELOCITY;
}
static inline bool ct_parameter_is_of_links(ct_parameter_kind kind) {
    return kind >= CT_PARAMETER_JOINT_STIFFNESS && kind <= CT_PARAMETER_JOINT_VELOCITY;
}
static inline bool ct_parameter_is_of_rates(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_JOINT_POSITION || kind == CT_PARAMETER_JOINT_VELOCITY;
}
static inline bool ct_parameter_is_of_sheets(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_BENDING || kind == CT_PARAMETER_THICKNESS;
}
static inline bool ct_parameter_is_of_elements(ct_parameter_kind kind) {
    return kind <= CT_PARAMETER_DAMPING_STIFFNESS || ct_parameter_is_of_sheets(kind);
}
static inline bool ct_parameter_is_of_water(ct_parameter_kind kind) {
    return kind >= CT_PARAMETER_WATER_DENSITY && kind <= CT_PARAMETER_WATER_CURRENT;
}
static inline bool ct_parameter_is_of_actuators(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_MUSCLE_STIFFNESS || kind == CT_PARAMETER_CHAMBER_STIFFNESS;
}

// Elements are the tets, then the triangles of sheets: the first one of a body.
int ct_params_first_element(const ct_scene_body* body, const ct_model* model);
// How many numbers of the kind a model has in a rollout of nstep steps.
size_t ct_params_scene_count(const ct_model* model, int nstep, ct_parameter_kind kind);
// The scene's numbers (count of them), where they are not zero.
void ct_params_scene_values(const ct_scene* scene, const ct_model* model, ct_parameter_kind kind,
                            size_t count, double* values);

#endif
