// What a scene's parameters start from; see params_scene.h.
#include "step/params_scene.h"

#include <string.h>

#include "model/control_values.h"

static double material_value(const ct_material* material, ct_parameter_kind kind) {
    switch (kind) {
    case CT_PARAMETER_YOUNG: return material->young;
    case CT_PARAMETER_POISSON: return material->poisson;
    case CT_PARAMETER_DENSITY: return material->density;
    case CT_PARAMETER_DAMPING_MASS: return material->damping_mass;
    case CT_PARAMETER_BENDING: return material->bending;
    case CT_PARAMETER_THICKNESS: return material->thickness;
    default: return material->damping_stiffness;
    }
}

int ct_params_first_element(const ct_scene_body* body, const ct_model* model) {
    return ct_scene_sheet_size(body) ? model->ntet + body->first_tri : body->first_tet;
}

static void fill_materials(const ct_scene* scene, const ct_model* model, ct_parameter_kind kind,
                           double* base) {
    for (int b = 0; b < scene->nbody; b++) {
        const ct_scene_body* body = &scene->body[b];
        double* own = base + ct_params_first_element(body, model);
        for (int e = 0; e < ct_scene_body_elements(body); e++)
            own[e] = material_value(&body->tet_material[e], kind);
    }
}

// Initial positions: at rest, driven nodes where their motion begins.
static void fill_positions(const ct_model* model, double* base) {
    memcpy(base, model->rest, 3 * (size_t)model->nvert * sizeof *base);
    for (int d = 0; d < model->ndrive; d++)
        for (int i = 0; i < model->drive[d].nnode; i++) {
            size_t node = (size_t)model->drive[d].node[i];
            ct_scene_drive_position(&model->drive[d], 0, model->rest + 3 * node, base + 3 * node);
        }
}

static double link_value(const ct_tree* tree, int k, ct_parameter_kind kind) {
    const ct_joint_def* joint = &tree->joint[k];
    switch (kind) {
    case CT_PARAMETER_JOINT_STIFFNESS: return joint->stiffness;
    case CT_PARAMETER_JOINT_DAMPING: return joint->damping;
    case CT_PARAMETER_JOINT_REST: return joint->rest;
    case CT_PARAMETER_SERVO_STIFFNESS: return joint->servo_stiffness;
    case CT_PARAMETER_SERVO_DAMPING: return joint->servo_damping;
    case CT_PARAMETER_LIMIT_STIFFNESS: return joint->limit_stiffness;
    default: return tree->mass[k];
    }
}

// Initial coordinates and rates are counted by joint rate, the rest by link. Positions of balls and free
// joints are increments.
static void fill_links(const ct_tree* tree, ct_parameter_kind kind, double* base) {
    for (int k = 0; k < tree->nlink; k++) {
        const ct_joint_def* joint = &tree->joint[k];
        bool position = kind == CT_PARAMETER_JOINT_POSITION;
        if (!ct_parameter_is_of_rates(kind)) base[k] = link_value(tree, k, kind);
        else if (!position || !tree->type[k]->spatial)
            memcpy(base + tree->dof[k], position ? ct_joint_position(joint) : ct_joint_velocity(joint),
                   (size_t)tree->type[k]->ndof * sizeof *base);
    }
}

// Numbers of the water, and how many.
static const double* water_values(const ct_water* water, ct_parameter_kind kind, int* count) {
    *count = kind == CT_PARAMETER_WATER_DENSITY ? 1 : kind == CT_PARAMETER_WATER_DRAG ? CT_WATER_DRAG : 3;
    if (kind == CT_PARAMETER_WATER_DENSITY) return &water->density;
    return kind == CT_PARAMETER_WATER_DRAG     ? water->drag
           : kind == CT_PARAMETER_WATER_THRUST ? water->thrust
                                               : water->current;
}

// The scene's values at the start of every step.
static void fill_controls(const ct_model* model, size_t count, double* base) {
    for (size_t step = 0, size = (size_t)model->control_size; size && step < count / size; step++)
        ct_model_control_values(model, (double)step * model->settings.time_step, base + step * size);
}

void ct_params_scene_values(const ct_scene* scene, const ct_model* model, ct_parameter_kind kind,
                            size_t count, double* values) {
    int unused;
    if (ct_parameter_is_of_elements(kind)) fill_materials(scene, model, kind, values);
    else if (ct_parameter_is_of_links(kind)) fill_links(&model->tree, kind, values);
    else if (kind == CT_PARAMETER_FRICTION) memcpy(values, model->friction, count * sizeof *values);
    else if (ct_parameter_is_of_water(kind))
        memcpy(values, water_values(&model->water, kind, &unused), count * sizeof *values);
    else if (ct_parameter_is_of_actuators(kind))
        memcpy(values, model->actuators.stiffness, count * sizeof *values);
    else if (kind == CT_PARAMETER_POLICY) memcpy(values, model->policy.weight, count * sizeof *values);
    else if (kind == CT_PARAMETER_GRAVITY) memcpy(values, scene->settings.gravity, 3 * sizeof *values);
    else if (kind == CT_PARAMETER_CONTROL) fill_controls(model, count, values);
    else if (kind == CT_PARAMETER_POSITION) fill_positions(model, values);
    else if (kind == CT_PARAMETER_VELOCITY) memcpy(values, model->velocity, count * sizeof *values);
}

size_t ct_params_scene_count(const ct_model* model, int nstep, ct_parameter_kind kind) {
    if (ct_parameter_is_of_elements(kind)) return (size_t)model->nelement;
    if (kind == CT_PARAMETER_GRAVITY) return 3;
    int count;
    if (kind == CT_PARAMETER_FRICTION) return (size_t)model->nfriction;
    if (kind == CT_PARAMETER_POLICY) return (size_t)ct_model_policy_size(model);
    if (ct_parameter_is_of_actuators(kind)) return (size_t)model->actuators.count;
    if (ct_parameter_is_of_water(kind)) return (water_values(&model->water, kind, &count), (size_t)count);
    if (ct_parameter_is_of_links(kind))
        return (size_t)(ct_parameter_is_of_rates(kind) ? model->tree.ndof : model->tree.nlink);
    if (kind == CT_PARAMETER_CONTROL) return (size_t)nstep * (size_t)model->control_size;
    return 3 * (size_t)model->nvert;
}
