// Materials of a model: what follows from them (Lame parameters, lumped mass, the factored system), and their
// change.
//
// Changing values is the single mutation of a model. The symbolic factor stays; the numeric factor is a
// preconditioner and stays too, until the stiffness or density of the whole has moved by about a factor of 3
// (root mean square of the logarithms over the tets). The last bits of a step depend on it, and so on values
// of the past, unless always_factor is set.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "model/actuators.h"
#include "model/model.h"

static const double stale = 1.1;  // log 3

// ---- mass ----------------------------------------------------------------------------------

// Lumped: a quarter of each tet's mass to each of its nodes.
void ct_model_lump(ct_model* model) {
    const double* volume = ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS]);
    memcpy(model->mass, model->own_mass, (size_t)model->nvert * sizeof(double));
    memset(model->drag, 0, (size_t)model->nvert * sizeof(double));
    model->total_mass = model->energy_roundoff = 0;
    for (int v = 0; v < model->nvert; v++) model->total_mass += model->own_mass[v];
    for (int t = 0; t < model->ntet; t++) {
        double mu, lambda, quarter = 0.25 * volume[t] * model->material[t].density;
        ct_material_lame(&model->material[t], &mu, &lambda);
        model->total_mass += 4 * quarter;
        model->energy_roundoff += 10 * 2.2e-16 * volume[t] * mu;
        for (int a = 0; a < 4; a++) {
            model->mass[model->tet[4 * t + a]] += quarter;
            model->drag[model->tet[4 * t + a]] += quarter * model->material[t].damping_mass;
        }
    }
    ct_model_lump_sheets(model);
    model->inertia.damped = false;
    for (int v = 0; v < model->nvert; v++) {
        bool moves = model->row[v] >= 0 || model->tree.node_link[v] >= 0;
        model->free_mass[v] = moves ? model->mass[v] : 0;
        model->free_drag[v] = moves ? model->drag[v] : 0;
        model->inertia.damped = model->inertia.damped || model->free_drag[v] > 0;
    }
    for (int i = 0; i < 3 * model->nvert; i++)
        if (model->mass[i / 3] > 0) model->extent = fmax(model->extent, fabs(model->rest[i]));
}

// ---- the factored system -------------------------------------------------------------------

void ct_model_assemble(const ct_model* model, ct_families_work* work, double c, const double* x,
                       ct_block_matrix* matrix) {
    ct_block_matrix_clear(matrix);
    ct_families_assemble(&model->families, work, c, x, model->row, matrix);
}

static void material_logs(const ct_model* model, int element, float logs[4]) {
    const ct_material* material = &model->material[element];
    double mu, lambda, rigidity = 1, density = material->density;
    if (element < model->ntet) {
        ct_material_lame(material, &mu, &lambda);
    } else {
        ct_material_membrane(material, &mu, &lambda, &rigidity);
        density *= material->thickness;
    }
    logs[0] = (float)log(mu);
    logs[1] = (float)log(mu + lambda);
    logs[2] = (float)log(density);
    logs[3] = (float)log(fmax(rigidity, 1e-30));
}

// Round-off of the residual: eps times what cancels in it, stiffness times position, from all tets around a
// node.
static void estimate_costs(ct_model* model) {
    double sum = 0;
    for (int k = 0; k < 6 * model->tree.nlink; k++)
        sum += pow(model->coupling.S[(size_t)(6 * model->tree.nlink + 1) * (size_t)k], 2);
    for (int j = 0; j < model->nfree; j++) {
        const double* diagonal = model->matrix.value + 9 * (size_t)model->matrix.start[j];
        for (int a = 0; a < 3; a++) sum += diagonal[4 * a] * diagonal[4 * a];
    }
    model->roundoff = 4 * 2.2e-16 * sqrt(sum) * model->extent;
    if (!model->factor) return;
    // a factorisation runs at about 10 GF/s, its elements take about 10 us each to be made positive definite;
    // a solve streams the factor twice at about 20 GB/s, and comes with passes over the elements
    double elements = model->ntet + 2.0 * model->ntri, bytes = (double)ct_factor_bytes(model->factor);
    double factor_seconds = ct_factor_flops(model->factor) / 10e9 + 4 * bytes / 1e9 + 10e-6 * elements;
    double solve_seconds = 2 * bytes / 20e9 + 40e-9 * elements + 1e-6;
    model->refactor_cost = (int)fmin(1e6, fmax(20, factor_seconds / solve_seconds));
}

ct_status ct_model_factor(ct_model* model) {
    ct_families_work work;
    ct_status status = ct_families_work_create(&work, &model->families);
    double c = ct_model_rate(&model->settings);
    if (status == CT_OK && model->nfree) {
        ct_model_assemble(model, &work, c, NULL, &model->matrix);
        status = ct_factor_update(model->factor, &model->matrix);
    }
    if (status == CT_OK)
        status = ct_coupling_update(&model->coupling, model, &work, c, NULL, &model->matrix, model->factor);
    ct_families_work_free(&work);
    if (status == CT_OK) {
        model->factor_version = model->version;
        for (int t = 0; t < model->nelement; t++) material_logs(model, t, model->factored[t]);
        for (int k = 0; k < model->actuators.count; k++)
            model->actuators.factored[k] = model->actuators.stiffness[k];
        if (model->tree.nlink)
            memcpy(model->tree.factored_mass, model->tree.mass, (size_t)model->tree.nlink * sizeof(double));
        estimate_costs(model);
    }
    if (status == CT_OK && model->solver->model_factor)
        status = model->solver->model_factor(model->solver_part, model);
    return status;
}

// ---- change --------------------------------------------------------------------------------

static bool factor_is_stale(const ct_model* model) {
    double sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < model->tree.nlink; k++)
        if (model->tree.own[k] >= 0 && fabs(log(model->tree.mass[k] / model->tree.factored_mass[k])) > stale)
            return true;
    for (int t = 0; t < model->nelement; t++) {
        float logs[4];
        material_logs(model, t, logs);
        for (int k = 0; k < 4; k++) sum[k] += pow(logs[k] - model->factored[t][k], 2);
    }
    for (int k = 0; k < 4; k++)
        if (sqrt(sum[k] / model->nelement) > stale) return true;
    return false;
}

static bool factor_depends_on(const ct_material_values* values) {
    return values->young || values->poisson || values->density || values->damping_mass ||
           values->damping_stiffness || values->bending || values->thickness || values->link_mass ||
           values->muscle_stiffness || values->chamber_stiffness;
}

static ct_status check_value(const ct_model* model, const char* name, double value, double lower,
                             double upper, int element, ct_error* error) {
    if (isfinite(value) && value >= lower && value < upper) return CT_OK;
    if (error) error->element = element;
    bool tet = element < model->ntet;
    return ct_fail(error, CT_BAD_ARGUMENT, "%s of %s %d is %g: it must be at least %g and below %g", name,
                   tet ? "tet" : "triangle", tet ? element : element - model->ntet, value, lower, upper);
}

static ct_status check_values(const ct_model* model, const ct_material_values* values, ct_error* error) {
    const struct {
        const char* name;
        const double* value;
        double lower, upper;
        bool sheets;  // of these alone
    } list[] = {
        {"young", values->young, 1e-300, INFINITY, false},
        {"poisson", values->poisson, 0, 0.5, false},
        {"density", values->density, 1e-300, INFINITY, false},
        {"damping.mass", values->damping_mass, 0, INFINITY, false},
        {"damping.stiffness", values->damping_stiffness, 0, INFINITY, false},
        {"bending", values->bending, 0, INFINITY, true},
        {"thickness", values->thickness, 1e-300, INFINITY, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (int t = list[i].sheets ? model->ntet : 0; list[i].value && t < model->nelement; t++) {
            ct_status status =
                check_value(model, list[i].name, list[i].value[t], list[i].lower, list[i].upper, t, error);
            if (status != CT_OK) return status;
        }
    if (values->gravity &&
        !(isfinite(values->gravity[0]) && isfinite(values->gravity[1]) && isfinite(values->gravity[2])))
        return ct_fail(error, CT_BAD_ARGUMENT, "gravity is not finite");
    for (int i = 0; values->friction && i < model->nfriction; i++)
        if (!(values->friction[i] >= 0 && isfinite(values->friction[i])))
            return ct_fail(error, CT_BAD_ARGUMENT, "friction %d is %g: it must be finite and at least 0", i,
                           values->friction[i]);
    return CT_OK;
}

// ---- joints and links ----------------------------------------------------------------------

typedef struct link_values {
    const char* name;
    const double* value;  // nlink, or NULL
    size_t field;         // of ct_joint_def
} link_values;

enum { LINK_VALUES = 6 };

static void list_link_values(const ct_material_values* values, link_values list[LINK_VALUES]) {
    const link_values all[LINK_VALUES] = {
        {"joint.stiffness", values->joint_stiffness, offsetof(ct_joint_def, stiffness)},
        {"joint.damping", values->joint_damping, offsetof(ct_joint_def, damping)},
        {"joint.rest", values->joint_rest, offsetof(ct_joint_def, rest)},
        {"joint.servo.stiffness", values->servo_stiffness, offsetof(ct_joint_def, servo_stiffness)},
        {"joint.servo.damping", values->servo_damping, offsetof(ct_joint_def, servo_damping)},
        {"joint.limit_stiffness", values->limit_stiffness, offsetof(ct_joint_def, limit_stiffness)},
    };
    memcpy(list, all, sizeof all);
}

static bool joint_takes(const ct_joint_def* joint, size_t field) {
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    return field == offsetof(ct_joint_def, rest) ? type->has_rest : type->law != NULL;
}

static ct_status check_links(const ct_model* model, const ct_material_values* values, ct_error* error) {
    link_values list[LINK_VALUES];
    list_link_values(values, list);
    for (int k = 0; k < model->tree.nlink; k++) {
        for (int i = 0; i < LINK_VALUES; i++) {
            bool signed_value = list[i].field == offsetof(ct_joint_def, rest);
            if (!list[i].value || !joint_takes(&model->tree.joint[k], list[i].field)) continue;
            if (!isfinite(list[i].value[k]) || (list[i].value[k] < 0 && !signed_value))
                return ct_fail(error, CT_BAD_ARGUMENT, "%s of link \"%s\" is %g: it must be finite%s",
                               list[i].name, model->tree.name[k], list[i].value[k],
                               signed_value ? "" : " and not negative");
        }
        if (values->link_mass && model->tree.own[k] >= 0 &&
            !(values->link_mass[k] > 0 && isfinite(values->link_mass[k])))
            return ct_fail(error, CT_BAD_ARGUMENT, "the mass of link \"%s\" is %g: it must be above 0",
                           model->tree.name[k], values->link_mass[k]);
    }
    return CT_OK;
}

static void set_links(ct_model* model, const ct_material_values* values) {
    link_values list[LINK_VALUES];
    list_link_values(values, list);
    for (int k = 0; k < model->tree.nlink; k++) {
        ct_joint_def* joint = &model->tree.joint[k];
        for (int i = 0; i < LINK_VALUES; i++)
            if (list[i].value && joint_takes(joint, list[i].field))
                *(double*)((char*)joint + list[i].field) = list[i].value[k];
        if (!values->link_mass || model->tree.own[k] < 0) continue;
        model->tree.mass[k] = values->link_mass[k];
        for (int i = 0; i < 6; i++) model->own_mass[model->tree.own[k] + i] = values->link_mass[k] / 6;
    }
}

static ct_status set_elements(ct_model* model) {
    ct_arena scratch = {0};
    size_t ntet = (size_t)model->ntet;
    double* mu = ct_arena_alloc(&scratch, ntet, sizeof(double));
    double* lambda = ct_arena_alloc(&scratch, ntet, sizeof(double));
    double* beta = ct_arena_alloc(&scratch, ntet, sizeof(double));
    if (scratch.failed) {
        ct_arena_free(&scratch);
        return CT_OUT_OF_MEMORY;
    }
    for (size_t t = 0; t < ntet; t++) {
        ct_material_lame(&model->material[t], &mu[t], &lambda[t]);
        if (ct_model_is_rigid(model, (int)t)) mu[t] = lambda[t] = 0;
        beta[t] = model->material[t].damping_stiffness;
    }
    ct_elastic_set_parameters(model->families.of[CT_FAMILY_SOLIDS], mu, lambda, beta);
    ct_arena_free(&scratch);
    return ct_model_set_sheets(model);
}

ct_status ct_model_set_values(ct_model* model, const ct_material_values* values, bool* refactored,
                              ct_error* error) {
    ct_error_clear(error);
    if (refactored) *refactored = false;
    ct_status status = check_values(model, values, error);
    if (status == CT_OK) status = check_links(model, values, error);
    if (status == CT_OK) status = ct_water_check_values(values, error);
    for (int i = 0; status == CT_OK && values->policy && i < ct_model_policy_size(model); i++)
        if (!isfinite(values->policy[i]))
            status = ct_fail(error, CT_BAD_ARGUMENT, "weight %d of the policy is not finite", i);
    if (status == CT_OK) status = ct_actuators_check_values(model, values, error);
    if (status != CT_OK) return status;
    set_links(model, values);
    ct_water_set_values(&model->water, values);
    if (values->policy && model->policy.enabled)
        memcpy(model->policy.weight, values->policy, (size_t)model->policy.nweight * sizeof(double));
    ct_actuators_set_values(model, values);
    for (int t = 0; t < model->nelement; t++) {
        ct_material* material = &model->material[t];
        if (values->bending && t >= model->ntet) material->bending = values->bending[t];
        if (values->thickness && t >= model->ntet) material->thickness = values->thickness[t];
        if (values->young) material->young = values->young[t];
        if (values->poisson) material->poisson = values->poisson[t];
        if (values->density) material->density = values->density[t];
        if (values->damping_mass) material->damping_mass = values->damping_mass[t];
        if (values->damping_stiffness) material->damping_stiffness = values->damping_stiffness[t];
    }
    if (values->gravity) memcpy(model->settings.gravity, values->gravity, sizeof model->settings.gravity);
    if (values->friction) {
        memcpy(model->friction, values->friction, (size_t)model->nfriction * sizeof(double));
        model->settings.contact.friction = model->friction[0];
    }
    model->version++;
    ct_model_lump(model);
    status = set_elements(model);
    bool must = model->solver->exact || (model->always_factor && factor_depends_on(values)) ||
                factor_is_stale(model) || ct_actuators_stale(model);
    if (status == CT_OK && model->nunknown && must) {
        status = ct_model_factor(model);
        if (refactored) *refactored = true;
    }
    if (status != CT_OK)
        ct_fail(error, status, "%s while changing the values of the model", ct_status_text(status));
    return status;
}

void ct_model_get_values(const ct_model* model, ct_material_field field, double* values) {
    for (int t = 0; t < model->nelement; t++)
        values[t] = field == CT_YOUNG     ? model->material[t].young
                    : field == CT_POISSON ? model->material[t].poisson
                                          : model->material[t].density;
}
