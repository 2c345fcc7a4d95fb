// Quantities of a model: how many numbers there are of each, where they are kept, and their change.
//
// Changing values is the single mutation of a model. What follows from them (Lame parameters, lumped masses)
// is computed anew; the symbolic factor stays, and so does the numeric one, a preconditioner, until the
// stiffness or density of the whole has moved by about a factor of 3. The last bits of a step depend on it,
// and so on values of the past, unless always_factor is set.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "model/actuators.h"
#include "model/control_values.h"
#include "model/model.h"
#include "model/soft_nodes.h"
#include "quantity/fields.h"
#include "skeleton/point_masses.h"

// ---- where they are kept -------------------------------------------------------------------

static size_t count_owners(const ct_model* model, ct_quantity_of of) {
    switch (of) {
    case CT_OF_ELEMENTS:
    case CT_OF_SHEETS: return (size_t)model->nelement;
    case CT_OF_NODES: return (size_t)model->nvert;
    case CT_OF_LINKS: return (size_t)model->tree.nlink;
    case CT_OF_RATES: return (size_t)model->tree.ndof;
    case CT_OF_FRICTION: return (size_t)model->nfriction;
    case CT_OF_MUSCLES:
    case CT_OF_CHAMBERS:
    case CT_OF_CABLES: return (size_t)model->actuators.count;
    case CT_OF_SCENE: return 1;
    case CT_OF_WATER: return model->water.enabled ? 1 : 0;
    case CT_OF_POLICY: return model->policy.enabled ? (size_t)model->policy.nweight : 0;
    case CT_OF_CONTROLS: return (size_t)model->inputs.control_size;
    }
    return 0;
}

size_t ct_model_quantity_size(const ct_model* model, ct_quantity quantity) {
    const ct_quantity_info* info = ct_quantity_row(quantity);
    return info ? (size_t)info->width * count_owners(model, info->of) : 0;
}

// Where a model keeps a number of a quantity that can be set; NULL: this owner has no such thing.
static double* find_number(ct_model* model, ct_quantity quantity, size_t i) {
    ct_actuator_kind kind;
    switch (ct_quantity_row(quantity)->of) {
    case CT_OF_SHEETS:
        if (i < (size_t)model->ntet) return NULL;
        return ct_fields_material(&model->material[i], quantity);
    case CT_OF_ELEMENTS: return ct_fields_material(&model->material[i], quantity);
    case CT_OF_LINKS:
        if (quantity == CT_QUANTITY_LINK_MASS) return model->tree.own[i] < 0 ? NULL : &model->tree.mass[i];
        if (!ct_joint_has(&model->tree.joint[i], quantity)) return NULL;
        return ct_fields_joint(&model->tree.joint[i], quantity);
    case CT_OF_MUSCLES:
    case CT_OF_CHAMBERS:
    case CT_OF_CABLES:
        if (!ct_fields_of_actuators(quantity, &kind) || !ct_scene_is_stiff(&model->actuators.list[i], kind))
            return NULL;
        return &model->actuators.stiffness[i];
    case CT_OF_WATER: return ct_water_number(&model->water, quantity) + i;
    case CT_OF_FRICTION: return &model->friction[i];
    case CT_OF_POLICY: return &model->policy.weight[i];
    case CT_OF_SCENE: return &model->settings.gravity[i];
    default: return NULL;
    }
}

// ---- reading -------------------------------------------------------------------------------

// Positions at rest, driven nodes where their motion begins.
static void get_positions(const ct_model* model, double* values) {
    memcpy(values, model->geometry.rest, 3 * (size_t)model->nvert * sizeof *values);
    for (int d = 0; d < model->inputs.ndrive; d++)
        for (int i = 0; i < model->inputs.drive[d].nnode; i++) {
            size_t node = (size_t)model->inputs.drive[d].node[i];
            ct_scene_drive_position(&model->inputs.drive[d], 0, model->geometry.rest + 3 * node,
                                    values + 3 * node);
        }
}

// Coordinates and rates of joints; coordinates of spatial joints are increments, from 0.
static void get_joints(const ct_tree* tree, ct_quantity quantity, double* values) {
    memset(values, 0, (size_t)tree->ndof * sizeof *values);
    for (int k = 0; k < tree->nlink; k++) {
        bool position = quantity == CT_QUANTITY_JOINT_POSITION;
        if (position && tree->type[k]->spatial) continue;
        const double* from =
            position ? ct_joint_position(&tree->joint[k]) : ct_joint_velocity(&tree->joint[k]);
        memcpy(values + tree->dof[k], from, (size_t)tree->type[k]->ndof * sizeof *values);
    }
}

void ct_model_get(const ct_model* model, ct_quantity quantity, double* values) {
    size_t count = ct_model_quantity_size(model, quantity);
    if (!count) return;
    ct_quantity_of of = ct_quantity_row(quantity)->of;
    if (of == CT_OF_CONTROLS) ct_model_control_values(model, 0, values);
    else if (of == CT_OF_RATES) get_joints(&model->tree, quantity, values);
    else if (quantity == CT_QUANTITY_POSITION) get_positions(model, values);
    else if (quantity == CT_QUANTITY_VELOCITY) memcpy(values, model->velocity, count * sizeof *values);
    else
        for (size_t i = 0; i < count; i++) {
            const double* number = find_number((ct_model*)model, quantity, i);  // only read
            values[i] = number ? *number : 0;
        }
}

// ---- checks --------------------------------------------------------------------------------

// "young of tet 3", "joint_rest of link \"arm\"", "gravity[1]"
static void name_number(const ct_model* model, ct_quantity quantity, size_t i, char* out, size_t size) {
    const ct_quantity_info* info = ct_quantity_row(quantity);
    size_t ntet = (size_t)model->ntet;
    ct_actuator_kind unused;
    if (ct_fields_of_elements(quantity))
        snprintf(out, size, "%s of %s %zu", info->name, i < ntet ? "tet" : "triangle",
                 i < ntet ? i : i - ntet);
    else if (info->of == CT_OF_LINKS)
        snprintf(out, size, "%s of link \"%s\"", info->name, model->tree.name[i]);
    else if (ct_fields_of_actuators(quantity, &unused))
        snprintf(out, size, "%s of \"%s\"", info->name, model->actuators.list[i].name);
    else if (ct_model_quantity_size(model, quantity) > 1) snprintf(out, size, "%s[%zu]", info->name, i);
    else snprintf(out, size, "%s", info->name);
}

static ct_status refuse_value(const ct_model* model, ct_quantity quantity, size_t i, double value,
                              ct_error* error) {
    const ct_quantity_info* info = ct_quantity_row(quantity);
    char name[128], bounds[96] = "finite";
    name_number(model, quantity, i, name, sizeof name);
    if (isfinite(info->upper))
        snprintf(bounds, sizeof bounds, "at least %g and below %g", info->lower, info->upper);
    else if (isfinite(info->lower))
        snprintf(bounds, sizeof bounds, "finite and %s %g", info->shrink > 0 ? "above" : "at least",
                 info->lower);
    if (error && ct_fields_of_elements(quantity)) error->element = (long)i;
    return ct_fail(error, CT_BAD_ARGUMENT, "%s is %g: it must be %s", name, value, bounds);
}

static bool is_allowed(const ct_quantity_info* info, double value) {
    bool above = info->shrink > 0 ? value > info->lower : value >= info->lower;
    return isfinite(value) && above && value < info->upper;
}

static ct_status check_quantity(ct_model* model, ct_quantity quantity, const double* values,
                                ct_error* error) {
    const ct_quantity_info* info = ct_quantity_row(quantity);
    if (info->role == CT_ROLE_STATE)
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "%s belongs to the initial state, not to the model: set it with ct_state_set or "
                       "ct_state_set_joints",
                       info->name);
    if (info->role == CT_ROLE_CONTROL)
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "%s belongs to every step, not to the model: give it to ct_step or ct_rollout",
                       info->name);
    for (size_t i = 0; i < ct_model_quantity_size(model, quantity); i++)
        if (find_number(model, quantity, i) && !is_allowed(info, values[i]))
            return refuse_value(model, quantity, i, values[i], error);
    return CT_OK;
}

// ---- change --------------------------------------------------------------------------------

static void set_quantity(ct_model* model, ct_quantity quantity, const double* values) {
    for (size_t i = 0; i < ct_model_quantity_size(model, quantity); i++) {
        double* number = find_number(model, quantity, i);
        if (number) *number = values[i];
    }
}

// A link's own mass is that of CT_MASS_POINTS nodes.
static void spread_link_masses(ct_model* model) {
    for (int k = 0; k < model->tree.nlink; k++)
        for (int i = 0; model->tree.own[k] >= 0 && i < CT_MASS_POINTS; i++)
            model->own_mass[model->tree.own[k] + i] = model->tree.mass[k] / CT_MASS_POINTS;
}

static void spread_link_masses_vjp(const ct_model* model, const double* node_bar, double* mass_bar) {
    for (int k = 0; k < model->tree.nlink; k++) {
        mass_bar[k] = 0;
        for (int i = 0; model->tree.own[k] >= 0 && i < CT_MASS_POINTS; i++)
            mass_bar[k] += node_bar[model->tree.own[k] + i] / CT_MASS_POINTS;
    }
}

static void add_armatures_vjp(const ct_model* model, const double* node_bar, double* armature_bar) {
    const ct_tree* tree = &model->tree;
    for (int r = 0; r < tree->nrotor; r++)
        armature_bar[tree->dof_link[tree->rotor_dof[r]]] += node_bar[ct_tree_rotor_node(tree, r)];
}

// What follows from the values.
static ct_status follow_values(ct_model* model) {
    model->settings.contact.friction = model->friction[0];
    model->version++;
    spread_link_masses(model);
    ct_actuators_set_stiffness(model);
    ct_model_lump(model);
    ct_soft_nodes_update(model);
    return ct_model_set_elements(model);
}

ct_status ct_model_set_values(ct_model* model, const ct_values* values, bool* refactored, ct_error* error) {
    CT_NEED(error, model);
    ct_error_clear(error);
    if (refactored) *refactored = false;
    ct_status status = CT_OK;
    bool system = false;
    for (int q = 0; q < CT_QUANTITY_COUNT && status == CT_OK; q++)
        if (values->of[q]) status = check_quantity(model, (ct_quantity)q, values->of[q], error);
    if (status != CT_OK) return status;
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        if (!values->of[q]) continue;
        set_quantity(model, (ct_quantity)q, values->of[q]);
        system = system || ct_quantity_row((ct_quantity)q)->role == CT_ROLE_SYSTEM;
    }
    status = follow_values(model);
    bool must =
        model->solver->exact || (model->system.always_factor && system) || ct_model_factor_is_stale(model);
    if (status == CT_OK && model->nunknown && must) {
        status = ct_model_factor(model);
        if (refactored) *refactored = true;
    }
    if (status != CT_OK)
        ct_fail(error, status, "%s while changing the values of the model", ct_status_text(status));
    return status;
}

ct_status ct_model_set(ct_model* model, ct_quantity quantity, const double* values, ct_error* error) {
    CT_NEED(error, model);
    ct_error_clear(error);
    if (!ct_quantity_row(quantity))
        return ct_fail(error, CT_BAD_ARGUMENT, "%d is not one of ct_quantity", (int)quantity);
    if (!values && ct_model_quantity_size(model, quantity))
        return ct_fail(error, CT_BAD_ARGUMENT, "there are no values for %s: give %zu numbers",
                       ct_quantity_name(quantity), ct_model_quantity_size(model, quantity));
    ct_values all = {0};
    all.of[quantity] = (double*)values;  // only read
    return ct_model_set_values(model, &all, NULL, error);
}

// ---- derivatives ---------------------------------------------------------------------------

static bool wants(const ct_values* gradient, ct_quantity quantity) { return gradient->of[quantity] != NULL; }

ct_status ct_model_begin_sums(const ct_model* model, ct_values* gradient, ct_arena* arena, ct_sums* sums) {
    size_t nelement = (size_t)model->nelement, nvert = (size_t)model->nvert, ntri = (size_t)model->ntri;
    bool lame = wants(gradient, CT_QUANTITY_YOUNG) || wants(gradient, CT_QUANTITY_POISSON) ||
                wants(gradient, CT_QUANTITY_THICKNESS);
    bool bends = false, curves = false;
    for (int q = CT_QUANTITY_BENDING; q <= CT_QUANTITY_BENDING_SHEAR; q++)
        bends = bends || wants(gradient, (ct_quantity)q);
    for (int q = CT_QUANTITY_CURVATURE_WARP; q <= CT_QUANTITY_CURVATURE_TWIST; q++)
        curves = curves || wants(gradient, (ct_quantity)q);
    bool weight = wants(gradient, CT_QUANTITY_DENSITY) || wants(gradient, CT_QUANTITY_THICKNESS);
    const size_t count[CT_SUM_COUNT] = {
        [CT_SUM_MU] = lame ? nelement : 0,
        [CT_SUM_LAMBDA] = lame ? nelement : 0,
        [CT_SUM_BETA] = wants(gradient, CT_QUANTITY_DAMPING_STIFFNESS) ? nelement : 0,
        [CT_SUM_RIGIDITY] = lame || bends ? 4 * ntri : 0,
        [CT_SUM_NATURAL] = curves ? 3 * ntri : 0,
        [CT_SUM_MASS] =
            weight || wants(gradient, CT_QUANTITY_LINK_MASS) || wants(gradient, CT_QUANTITY_ARMATURE) ? nvert
                                                                                                      : 0,
        [CT_SUM_NODE_STIFFNESS] = lame || bends ? 2 * nvert : 0,
        [CT_SUM_WHOLE_MASS] =
            weight || wants(gradient, CT_QUANTITY_LINK_MASS) ? (size_t)model->collision.softness.nwhole : 0,
        [CT_SUM_VOLUME] = wants(gradient, CT_QUANTITY_THICKNESS) && model->water.enabled ? nvert : 0,
        [CT_SUM_DRAG] = weight || wants(gradient, CT_QUANTITY_DAMPING_MASS) ? nvert : 0,
    };
    memset(sums, 0, sizeof *sums);
    for (int s = CT_QUANTITY_COUNT; s < CT_SUM_COUNT; s++)
        if (count[s]) sums->of[s] = ct_arena_alloc(arena, count[s], sizeof(double));
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        ct_quantity_role role = ct_quantity_row((ct_quantity)q)->role;
        if (!gradient->of[q] || role == CT_ROLE_STATE || role == CT_ROLE_CONTROL) continue;
        sums->of[q] = gradient->of[q];
        memset(sums->of[q], 0, ct_model_quantity_size(model, (ct_quantity)q) * sizeof(double));
    }
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

void ct_model_finish_sums(const ct_model* model, ct_sums* sums) {
    ct_soft_nodes_vjp(model, sums);
    ct_model_materials_vjp(model, sums);
    ct_model_sheets_vjp(model, sums);
    if (sums->of[CT_QUANTITY_LINK_MASS])
        spread_link_masses_vjp(model, sums->of[CT_SUM_MASS], sums->of[CT_QUANTITY_LINK_MASS]);
    if (sums->of[CT_QUANTITY_ARMATURE])
        add_armatures_vjp(model, sums->of[CT_SUM_MASS], sums->of[CT_QUANTITY_ARMATURE]);
}
