// Compiling a scene into a model: gather the bodies, lump the masses, number the unknowns, factor the system.
#include <string.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/status.h"
#include "model/actuators.h"
#include "model/colliders.h"
#include "model/follow.h"
#include "model/links.h"
#include "model/model.h"
#include "model/soft_nodes.h"
#include "skeleton/point_masses.h"

// ---- geometry and materials ----------------------------------------------------------------

static void count_scene(ct_model* model, const ct_scene* scene) {
    model->nbody = scene->nbody;
    model->nobstacle = scene->nobstacle;
    model->nvert = ct_scene_model_node_count(scene);
    for (int b = 0; b < scene->nbody; b++) {
        model->ntet += scene->body[b].mesh->ntet;
        model->ntri += ct_scene_sheet_size(&scene->body[b]);
    }
    model->nelement = model->ntet + model->ntri;
}

static ct_status allocate_geometry(ct_model* model, bool second) {
    ct_arena* arena = &model->arena;
    size_t nvert = (size_t)model->nvert, ntet = (size_t)model->ntet, ntri = (size_t)model->ntri,
           nbody = (size_t)model->nbody;
    model->geometry.rest = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    model->geometry.tet = ct_arena_alloc(arena, 4 * ntet, sizeof(int));
    if (second) model->geometry.mid = ct_arena_alloc(arena, 6 * ntet, sizeof(int));
    for (size_t i = 0; model->geometry.mid && i < 6 * ntet; i++) model->geometry.mid[i] = -1;
    model->geometry.tet_body = ct_arena_alloc(arena, ntet, sizeof(int));
    model->geometry.tet_tag = ct_arena_alloc(arena, ntet, sizeof(int));
    model->geometry.tri = ct_arena_alloc(arena, 3 * ntri, sizeof(int));
    model->geometry.tri_body = ct_arena_alloc(arena, ntri, sizeof(int));
    model->geometry.tri_tag = ct_arena_alloc(arena, ntri, sizeof(int));
    model->geometry.body_name = ct_arena_alloc(arena, nbody, sizeof(char*));
    model->geometry.body_color = ct_arena_alloc(arena, 3 * nbody, sizeof(double));
    model->material = ct_arena_alloc(arena, ntet + ntri, sizeof(ct_material));
    model->mass = ct_arena_alloc(arena, nvert, sizeof(double));
    model->drag = ct_arena_alloc(arena, nvert, sizeof(double));
    model->inertia_mass = ct_arena_alloc(arena, nvert, sizeof(double));
    model->own_mass = ct_arena_alloc(arena, nvert, sizeof(double));
    model->free_mass = ct_arena_alloc(arena, nvert, sizeof(double));
    model->free_drag = ct_arena_alloc(arena, nvert, sizeof(double));
    model->velocity = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    model->row = ct_arena_alloc(arena, nvert, sizeof(int));
    model->node = ct_arena_alloc(arena, nvert, sizeof(int));
    model->system.factored = ct_arena_alloc(arena, ntet + ntri, sizeof *model->system.factored);
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static ct_status copy_sheet(ct_model* model, const ct_scene_body* body, int index) {
    const ct_mesh* mesh = body->mesh;
    size_t t0 = (size_t)body->first_tri;
    memcpy(model->material + model->ntet + t0, body->tet_material, (size_t)mesh->ntri * sizeof(ct_material));
    memcpy(model->geometry.tri_tag + t0, mesh->tri_tag, (size_t)mesh->ntri * sizeof(int));
    for (int i = 0; i < 3 * mesh->ntri; i++)
        model->geometry.tri[3 * t0 + (size_t)i] = mesh->tri[i] + body->first_node;
    for (int t = 0; t < mesh->ntri; t++) model->geometry.tri_body[t0 + (size_t)t] = index;
    return ct_model_append_surface(model, mesh->tri, mesh->ntri, body->first_node, index);
}

static ct_status copy_body(ct_model* model, const ct_scene_body* body, int index) {
    const ct_mesh* mesh = body->mesh;
    size_t v0 = (size_t)body->first_node, t0 = (size_t)body->first_tet;
    memcpy(model->geometry.rest + 3 * v0, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
    memcpy(model->velocity + 3 * v0, body->velocity, 3 * (size_t)mesh->nvert * sizeof(double));
    memcpy(model->geometry.body_color + 3 * (size_t)index, body->color, sizeof body->color);
    model->geometry.body_name[index] = ct_arena_copy(&model->arena, body->name, strlen(body->name) + 1, 1);
    if (ct_scene_sheet_size(body))
        return model->arena.failed ? CT_OUT_OF_MEMORY : copy_sheet(model, body, index);
    memcpy(model->material + t0, body->tet_material, (size_t)mesh->ntet * sizeof(ct_material));
    memcpy(model->geometry.tet_tag + t0, mesh->tet_tag, (size_t)mesh->ntet * sizeof(int));
    for (int i = 0; i < 4 * mesh->ntet; i++)
        model->geometry.tet[4 * t0 + (size_t)i] = mesh->tet[i] + body->first_node;
    for (int i = 0; mesh->mid && i < 6 * mesh->ntet; i++)
        model->geometry.mid[6 * t0 + (size_t)i] = mesh->mid[i] + body->first_node;
    for (int t = 0; t < mesh->ntet; t++) model->geometry.tet_body[t0 + (size_t)t] = index;

    int *tri = NULL, ntri = 0;
    ct_status status = ct_mesh_surface(mesh, &tri, &ntri, NULL);
    if (status == CT_OK) status = ct_model_append_surface(model, tri, ntri, body->first_node, index);
    ct_free(tri);
    return model->arena.failed ? CT_OUT_OF_MEMORY : status;
}

static ct_status copy_motion(ct_model* model, const ct_scene* scene) {
    ct_arena* arena = &model->arena;
    model->inputs.ndrive = scene->ndrive;
    model->inputs.nforce = scene->nforce;
    model->inputs.drive = ct_arena_copy(arena, scene->drive, (size_t)scene->ndrive, sizeof *scene->drive);
    model->inputs.force = ct_arena_copy(arena, scene->force, (size_t)scene->nforce, sizeof *scene->force);
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < scene->ndrive; i++) {
        const ct_scene_driver* source = &scene->drive[i];
        model->inputs.drive[i].node = ct_arena_copy(arena, source->node, (size_t)source->nnode, sizeof(int));
        model->inputs.drive[i].key =
            ct_arena_copy(arena, source->key, (size_t)source->nkey, sizeof(ct_keyframe));
    }
    model->inputs.ncontrol = scene->ncontrol;
    model->inputs.control =
        ct_arena_copy(arena, scene->control, (size_t)scene->ncontrol, sizeof *scene->control);
    model->inputs.control_first = ct_arena_alloc(arena, (size_t)scene->ncontrol, sizeof(int));
    model->inputs.mount = ct_arena_alloc(arena, (size_t)scene->ncontrol, sizeof(int));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < scene->ncontrol; i++) {
        const ct_scene_control* source = &scene->control[i];
        model->inputs.control[i].name = ct_arena_copy(arena, source->name, strlen(source->name) + 1, 1);
        model->inputs.control[i].node =
            ct_arena_copy(arena, source->node, (size_t)source->nnode, sizeof(int));
        model->inputs.control[i].nhold = source->nnode;
        model->inputs.control[i].time =
            ct_arena_copy(arena, source->time, (size_t)source->nvalue, sizeof(double));
        model->inputs.control[i].value = ct_arena_copy(
            arena, source->value, (size_t)source->nvalue * (size_t)source->size, sizeof(double));
        model->inputs.control_first[i] = model->inputs.control_size;
        model->inputs.control_size += source->size;
        model->inputs.mount[i] = source->kind == CT_CONTROL_MOVE ? model->inputs.nmount++ : -1;
    }
    for (int i = 0; i < scene->nforce; i++)
        model->inputs.force[i].node =
            ct_arena_copy(arena, scene->force[i].node, (size_t)scene->force[i].nnode, sizeof(int));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

// The links' own masses become CT_MASS_POINTS nodes each, behind the bodies' nodes, and rotors one each.
static ct_status create_tree(ct_model* model, const ct_scene* scene) {
    int first = ct_scene_node_count(scene), at = first;
    for (int k = 0; k < scene->nlink; k++) {
        const ct_scene_link* link = &scene->link[k];
        if (!(link->mass > 0)) continue;
        ct_status status =
            ct_point_masses(link->mass, link->center, link->inertia, model->geometry.rest + 3 * at);
        if (status != CT_OK) return status;
        for (int i = 0; i < CT_MASS_POINTS; i++) model->own_mass[at++] = link->mass / CT_MASS_POINTS;
    }
    for (int k = 0; k < scene->nlink; k++)
        for (int i = 0; i < ct_joint_rotors(&scene->link[k].joint); i++)
            memcpy(model->geometry.rest + 3 * at++, scene->link[k].joint.anchor, 3 * sizeof(double));
    for (int i = 0; i < scene->nmass; i++)
        for (int k = 0; k < scene->mass[i].nnode; k++)
            model->own_mass[scene->mass[i].node[k]] += scene->mass[i].mass;
    return ct_links_compile(&model->tree, &model->arena, scene, model->nvert, first, model->geometry.rest,
                            &model->inputs.root_motion);
}

// ---- elements and inertia ------------------------------------------------------------------

static ct_status create_elements(ct_model* model) {
    ct_arena scratch = {0};
    size_t ntet = (size_t)model->ntet;
    double* mu = ct_arena_alloc(&scratch, ntet, sizeof(double));
    double* lambda = ct_arena_alloc(&scratch, ntet, sizeof(double));
    double* beta = ct_arena_alloc(&scratch, ntet, sizeof(double));
    unsigned char* energy = ct_arena_alloc(&scratch, ntet, 1);
    ct_status status = scratch.failed ? CT_OUT_OF_MEMORY : CT_OK;
    bool damped = false;
    for (size_t t = 0; status == CT_OK && t < ntet; t++) {
        ct_material_lame(&model->material[t], &mu[t], &lambda[t]);
        if (ct_model_is_rigid(model, (int)t)) mu[t] = lambda[t] = 0;
        beta[t] = model->material[t].damping_stiffness;
        energy[t] = (unsigned char)model->material[t].energy;
        damped = damped || beta[t] > 0;
    }
    if (status == CT_OK) {
        ct_elastic_def def = {.nvert = model->nvert,
                              .ntet = model->ntet,
                              .rest = model->geometry.rest,
                              .tet = model->geometry.tet,
                              .mid = model->geometry.mid,
                              .energy = energy,
                              .mu = mu,
                              .lambda = lambda,
                              .beta = damped ? beta : NULL};
        ct_elastic* elastic;
        status = ct_elastic_create(&elastic, &def);
        model->families.of[CT_FAMILY_SOLIDS] = elastic;
    }
    if (status == CT_OK) status = ct_model_create_sheets(model);
    ct_arena_free(&scratch);
    return status;
}

static ct_status create_water(ct_model* model, const ct_scene* scene) {
    ct_water* water = &model->water;
    if (scene->water.enabled) model->families.of[CT_FAMILY_WATER] = water;
    return ct_water_create(water, &model->arena, scene, model->nvert, model->settings.gravity);
}

// Inertia sees the masses that ct_model_lump fills, joints the tree.
static void create_inertia(ct_model* model) {
    model->inertia = (ct_inertia){.nvert = model->nvert,
                                  .mass = model->inertia_mass,
                                  .drag = model->drag,
                                  .free_mass = model->free_mass,
                                  .free_drag = model->free_drag};
    model->families.of[CT_FAMILY_INERTIA] = &model->inertia;
    model->families.of[CT_FAMILY_JOINTS] = &model->tree;
    model->families.rest = model->geometry.rest;
}

// ---- unknowns and the factored system ------------------------------------------------------

static void number_unknowns(ct_model* model) {
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; k < model->inputs.drive[i].nnode; k++)
            model->row[model->inputs.drive[i].node[k]] = -1;
    for (int k = 0; k < ct_tree_node_count(&model->tree); k++) model->row[model->tree.node[k]] = -1;
    for (int v = 0; v < model->nvert; v++)
        if (model->row[v] >= 0) model->row[v] = model->nfree++;
    model->nunknown = 3 * model->nfree + model->tree.ndof;
}

static ct_status create_pattern(ct_model* model) {
    int count, width, *nodes = ct_model_couplings(model, model->row, &count, &width);
    if (!nodes) return CT_OUT_OF_MEMORY;
    ct_status status =
        ct_block_matrix_create(&model->system.matrix, &model->arena, model->nfree, count, width, nodes);
    ct_free(nodes);
    return status;
}

static ct_status build_system(ct_model* model, ct_error* error) {
    ct_status status = CT_OK;
    number_unknowns(model);
    ct_model_lump(model);
    if (model->tree.nlink && ct_rate_stages(model->settings.integrator))
        status = ct_links_check_inertia(&model->tree, model->free_mass, model->settings.integrator, error);
    if (status == CT_OK) status = ct_coupling_create(&model->system.coupling, &model->arena, model);
    if (status == CT_OK && model->solver->model_create)
        status = model->solver->model_create(&model->solver_part, model);
    if (status == CT_OK && model->nfree == 0) status = ct_model_factor(model);
    if (status != CT_OK || model->nfree == 0) return status;
    status = create_pattern(model);
    if (status == CT_OK)
        status = ct_symbolic_create(&model->system.symbolic, &model->system.matrix, CT_ORDER_AUTO);
    if (status == CT_OK)
        status = ct_factor_create(&model->system.factor, model->system.symbolic, model->system.precision);
    if (status != CT_OK) return status;
    const int* order = ct_symbolic_order(model->system.symbolic);
    int* node_of_row = ct_alloc((size_t)model->nfree, sizeof(int));
    if (!node_of_row) return CT_OUT_OF_MEMORY;
    for (int v = 0; v < model->nvert; v++)
        if (model->row[v] >= 0) node_of_row[model->row[v]] = v;
    for (int k = 0; k < model->nfree; k++) model->node[k] = node_of_row[order[k]];
    ct_free(node_of_row);
    return ct_model_factor(model);
}

// ---- public --------------------------------------------------------------------------------

static ct_status compile(ct_model* model, const ct_scene* scene, ct_error* error) {
    ct_status status = ct_scene_check(scene, error);
    if (status != CT_OK) return status;
    model->solver = ct_solver_find(&model->settings);
    if (!model->solver) return CT_UNSUPPORTED;
    count_scene(model, scene);
    bool second = false;
    for (int b = 0; b < scene->nbody; b++) second = second || scene->body[b].mesh->mid;
    status = allocate_geometry(model, second);
    for (int b = 0; status == CT_OK && b < scene->nbody; b++) status = copy_body(model, &scene->body[b], b);
    if (status == CT_OK) create_inertia(model);
    if (status == CT_OK) status = copy_motion(model, scene);
    if (status == CT_OK) status = create_tree(model, scene);
    if (status == CT_OK) status = create_water(model, scene);
    if (status == CT_OK) status = ct_policy_copy(&model->policy, &model->arena, &scene->policy);
    if (status == CT_OK) status = ct_colliders_place(model, scene);
    if (status == CT_OK) status = ct_colliders_create(model, scene);
    if (status == CT_OK) status = create_elements(model);
    if (status == CT_OK) status = ct_actuators_create(model, scene, error);
    if (status != CT_OK) return status;
    for (int b = 0; b < scene->nbody; b++) {
        ct_mesh_report report;
        if (ct_mesh_check(scene->body[b].mesh, &report, NULL) == CT_OK)
            model->sliver_count += report.sliver_count;
    }
    status = build_system(model, error);
    if (status == CT_OK) status = ct_colliders_hang(model);
    if (status == CT_OK) status = ct_follow_create(&model->follow, &model->arena, model);
    return status == CT_OK ? ct_soft_nodes_create(model) : status;
}

ct_status ct_model_create(ct_model** out, const ct_scene* scene, ct_error* error) {
    CT_NEED(error, out, scene);
    *out = NULL;
    ct_error_clear(error);
    double start = ct_clock();
    ct_model* model = ct_alloc(1, sizeof *model);
    if (!model) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory while compiling the scene");
    model->settings = scene->settings;
    // half needs hardware conversion
    model->system.precision = ct_cpu_isa() == CT_ISA_PORTABLE ? CT_PRECISION_SINGLE : CT_PRECISION_HALF;
    ct_status status = CT_OK;
    if (!ct_blas_has_room(1))
        status =
            ct_fail(error, CT_OUT_OF_MEMORY, "too little address space for OpenBLAS, %d MB: raise ulimit -v",
                    CT_BLAS_BUFFER_MEGABYTES);
    ct_blas_begin();
    if (status == CT_OK) status = compile(model, scene, error);
    ct_blas_end();
    if (status != CT_OK) {
        ct_model_free(model);
        if (error && error->code == CT_OK)
            ct_fail(error, status, "%s while compiling the scene", ct_status_text(status));
        return status;
    }
    model->setup_seconds = ct_clock() - start;
    *out = model;
    return CT_OK;
}
