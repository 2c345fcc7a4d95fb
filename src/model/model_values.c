// What follows from a model's values: Lame parameters, lumped masses, and the factored system.
//
// Lame parameters of tets:  mu = E / (2 (1 + nu)),  lambda = E nu / ((1 + nu) (1 - 2 nu))
// The masses of tets, and their mass dampings, are shared among their nodes (ct_cell_share).
//
// The numeric factor is a preconditioner. It is stale when the stiffness or density of the whole has moved by
// about a factor of 3 (root mean square of the logarithms over the elements).
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "model/actuators.h"
#include "model/model.h"

static const double stale = 1.1;  // log 3

// ---- mass ----------------------------------------------------------------------------------

void ct_model_lump(ct_model* model) {
    const double* volume = ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS]);
    memcpy(model->mass, model->own_mass, (size_t)model->nvert * sizeof(double));
    memset(model->drag, 0, (size_t)model->nvert * sizeof(double));
    model->total_mass = model->system.energy_roundoff = 0;
    for (int v = 0; v < model->nvert; v++) model->total_mass += model->own_mass[v];
    for (int t = 0; t < model->ntet; t++) {
        int node[CT_CELL_NODES], count = ct_model_tet_nodes(model, t, node);
        double mu, lambda;
        ct_material_lame(&model->material[t], &mu, &lambda);
        model->total_mass += 4 * (0.25 * volume[t] * model->material[t].density);
        model->system.energy_roundoff += 10 * 2.2e-16 * volume[t] * mu;
        for (int a = 0; a < count; a++) {
            const double part = ct_cell_share(count > 4, a) * volume[t] * model->material[t].density;
            model->mass[node[a]] += part;
            model->drag[node[a]] += part * model->material[t].damping_mass;
        }
    }
    ct_model_lump_sheets(model);
    model->inertia.damped = false;
    memcpy(model->inertia_mass, model->mass, (size_t)model->nvert * sizeof(double));
    for (int r = 0; r < model->tree.nrotor; r++)
        model->inertia_mass[ct_tree_rotor_node(&model->tree, r)] = ct_tree_armature(&model->tree, r);
    for (int v = 0; v < model->nvert; v++) {
        bool moves = model->row[v] >= 0 || model->tree.node_link[v] >= 0;
        model->free_mass[v] = moves ? model->inertia_mass[v] : 0;
        model->free_drag[v] = moves ? model->drag[v] : 0;
        model->inertia.damped = model->inertia.damped || model->free_drag[v] > 0;
    }
    for (int i = 0; i < 3 * model->nvert; i++)
        if (model->mass[i / 3] > 0)
            model->geometry.extent = fmax(model->geometry.extent, fabs(model->geometry.rest[i]));
}

// ---- elements ------------------------------------------------------------------------------

ct_status ct_model_set_elements(ct_model* model) {
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

// E and nu from mu and lambda.
static void lame_vjp(const ct_material* m, int t, const ct_sums* sums) {
    double *young = sums->of[CT_QUANTITY_YOUNG], *poisson = sums->of[CT_QUANTITY_POISSON];
    if (!young && !poisson) return;
    double mu = sums->of[CT_SUM_MU][t], lambda = sums->of[CT_SUM_LAMBDA][t];
    double E = m->young, nu = m->poisson, s = 1 + nu, q = 1 - 2 * nu;
    double third = m->energy == CT_ENERGY_PROJECTIVE && m->paper_weights ? 1.0 / 3 : 1;
    if (young) young[t] = mu / (2 * s) + third * lambda * nu / (s * q);
    if (poisson)
        poisson[t] = -mu * E / (2 * s * s) + third * lambda * E * (1 + 2 * nu * nu) / (s * s * q * q);
}

// Density and mass damping from the masses and drags of the nodes.
static void lump_vjp(const ct_model* model, int t, double volume, const ct_sums* sums) {
    const ct_material* m = &model->material[t];
    const double *mass_bar = sums->of[CT_SUM_MASS], *drag_bar = sums->of[CT_SUM_DRAG];
    double mass = 0, drag = 0;
    int node[CT_CELL_NODES], count = ct_model_tet_nodes(model, t, node);
    for (int a = 0; a < count; a++) {
        const double share = ct_cell_share(count > 4, a);
        if (mass_bar) mass += share * volume * mass_bar[node[a]];
        if (drag_bar) drag += share * volume * drag_bar[node[a]];
    }
    if (sums->of[CT_QUANTITY_DENSITY]) sums->of[CT_QUANTITY_DENSITY][t] = mass + m->damping_mass * drag;
    if (sums->of[CT_QUANTITY_DAMPING_MASS]) sums->of[CT_QUANTITY_DAMPING_MASS][t] = m->density * drag;
}

void ct_model_materials_vjp(const ct_model* model, const ct_sums* sums) {
    const double* volume = ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS]);
    double* damping = sums->of[CT_QUANTITY_DAMPING_STIFFNESS];
    for (int t = 0; t < model->ntet; t++) {
        lame_vjp(&model->material[t], t, sums);
        lump_vjp(model, t, volume[t], sums);
        if (damping) damping[t] = sums->of[CT_SUM_BETA][t];
    }
}

// ---- the factored system -------------------------------------------------------------------

void ct_model_assemble(const ct_model* model, ct_families_work* work, double c, const double* x,
                       const double* actuation, ct_block_matrix* matrix) {
    ct_block_matrix_clear(matrix);
    ct_families_assemble(&model->families, work, c, x, actuation, model->row, matrix);
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
        sum += pow(model->system.coupling.S[(size_t)(6 * model->tree.nlink + 1) * (size_t)k], 2);
    for (int j = 0; j < model->nfree; j++) {
        const double* diagonal = model->system.matrix.value + 9 * (size_t)model->system.matrix.start[j];
        for (int a = 0; a < 3; a++) sum += diagonal[4 * a] * diagonal[4 * a];
    }
    model->system.roundoff = 4 * 2.2e-16 * sqrt(sum) * model->geometry.extent;
    // without free nodes there is only the links' matrix, which is made for each twist of each link
    model->system.refactor_cost = 12 * model->tree.nlink;
    if (!model->system.factor) return;
    // a factorisation runs at about 10 GF/s and inverts and rounds its values, which takes longer in the wide
    // supernodes of solids; its elements take about 0.4 us (tets, eight at a time) and 1 us (triangles) each,
    // most of it where they are made positive definite; a solve streams the factor twice at about 20 GB/s,
    // and comes with passes over the elements
    double tets = model->ntet, triangles = model->ntri, bytes = (double)ct_factor_bytes(model->system.factor);
    double repack_seconds = (model->ntri ? 2.5 : 4) * bytes / 1e9;
    double factor_seconds =
        ct_factor_flops(model->system.factor) / 10e9 + repack_seconds + 0.4e-6 * tets + 1e-6 * triangles;
    double solve_seconds = 2 * bytes / 20e9 + 40e-9 * (tets + triangles) + 1e-6;
    model->system.refactor_cost = (int)fmin(1e6, fmax(20, factor_seconds / solve_seconds));
}

// The families' work is as large as the elements: it is not kept while the factor is made.
static ct_status assemble_rest(ct_model* model, double c) {
    ct_families_work work;
    ct_status status = ct_families_work_create(&work, &model->families);
    if (status == CT_OK) ct_model_assemble(model, &work, c, NULL, NULL, &model->system.matrix);
    ct_families_work_free(&work);
    return status;
}

static ct_status factor_rest(ct_model* model) {
    ct_threads* threads = NULL;  // without them it takes longer
    if (ct_factor_flops(model->system.factor) > 1e8) ct_threads_create(&threads, model->settings.threads);
    ct_status status = ct_factor_update(model->system.factor, NULL, threads, &model->system.matrix);
    ct_threads_free(threads);
    return status;
}

static ct_status couple_rest(ct_model* model, double c) {
    if (!model->tree.nlink) return CT_OK;
    ct_families_work work;
    ct_status status = ct_families_work_create(&work, &model->families);
    if (status == CT_OK)
        status = ct_coupling_update(&model->system.coupling, model, &work, c, NULL, NULL,
                                    &model->system.matrix, model->system.factor);
    ct_families_work_free(&work);
    return status;
}

ct_status ct_model_factor(ct_model* model) {
    ct_blas_begin();
    ct_status status = CT_OK;
    double c = ct_model_rate(&model->settings);
    if (model->nfree) status = assemble_rest(model, c);
    if (status == CT_OK && model->nfree) status = factor_rest(model);
    if (status == CT_OK) status = couple_rest(model, c);
    if (status == CT_OK) {
        model->system.factor_version = model->version;
        for (int t = 0; t < model->nelement; t++) material_logs(model, t, model->system.factored[t]);
        for (int k = 0; k < model->actuators.count; k++)
            model->actuators.factored[k] = model->actuators.stiffness[k];
        if (model->tree.nlink)
            memcpy(model->tree.factored_mass, model->tree.mass, (size_t)model->tree.nlink * sizeof(double));
        estimate_costs(model);
    }
    if (status == CT_OK && model->solver->model_factor)
        status = model->solver->model_factor(model->solver_part, model);
    ct_blas_end();
    return status;
}

bool ct_model_factor_is_stale(const ct_model* model) {
    double sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < model->tree.nlink; k++)
        if (model->tree.own[k] >= 0 && fabs(log(model->tree.mass[k] / model->tree.factored_mass[k])) > stale)
            return true;
    for (int t = 0; t < model->nelement; t++) {
        float logs[4];
        material_logs(model, t, logs);
        for (int k = 0; k < 4; k++) sum[k] += pow(logs[k] - model->system.factored[t][k], 2);
    }
    for (int k = 0; k < 4; k++)
        if (sqrt(sum[k] / model->nelement) > stale) return true;
    return ct_actuators_stale(model);
}

void ct_model_factor_always(ct_model* model, bool always) { model->system.always_factor = always; }
