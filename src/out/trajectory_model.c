// Trajectories of a model: gathers what the file needs from scene, model and state; see trajectory.h.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "force/sheet_fields.h"
#include "model/model.h"
#include "out/trajectory.h"

// The scene file as text; a scene without a readable file simply has none.
static ct_status read_scene_text(const char* path, char** text, size_t* size) {
    *text = NULL;
    *size = 0;
    ct_status status = path && *path ? ct_file_read(path, 1, text, size, NULL) : CT_OK;
    return status == CT_OUT_OF_MEMORY ? status : CT_OK;
}

// The links of the model, freed by the caller.
static ct_status describe_links(ct_trajectory_def* def, const ct_model* model) {
    int count = ct_model_link_count(model);
    ct_link_info* link = ct_alloc((size_t)count, sizeof *link);
    if (!link) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) {
        link[k] = ct_model_link_info(model, k);
        def->info.ncoordinate += link[k].ncoordinate;
    }
    def->info.nlink = count;
    def->link = link;
    return CT_OK;
}

// The obstacles of the model, freed by the caller.
static ct_status describe_obstacles(ct_trajectory_def* def, const ct_model* model) {
    int count = model->nobstacle;
    ct_obstacle_info* obstacle = ct_alloc((size_t)count, sizeof *obstacle);
    if (!obstacle) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) {
        const ct_collider* collider = &model->collision.collider[model->nbody + k];
        obstacle[k] = (ct_obstacle_info){.name = collider->name,
                                         .kind = collider->kind,
                                         .radius = collider->radius,
                                         .hidden = collider->hidden};
        memcpy(obstacle[k].color, collider->color, sizeof obstacle[k].color);
    }
    def->info.nobstacle = count;
    def->obstacle = obstacle;
    return CT_OK;
}

// The names of the model's cavities, freed by the caller.
static ct_status describe_cavities(ct_trajectory_def* def, const ct_model* model) {
    int count = ct_model_actuator_count(model);
    const char** name = ct_alloc((size_t)count, sizeof *name);
    if (!name) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) {
        ct_actuator_info info = ct_model_actuator_info(model, k);
        if (info.kind == CT_ACTUATOR_CAVITY) name[def->info.ncavity++] = info.name;
    }
    def->cavity_name = name;
    return CT_OK;
}

// The names of the model's cables and where their eyelets begin, freed by the caller.
static ct_status describe_cables(ct_trajectory_def* def, const ct_model* model) {
    int count = ct_model_actuator_count(model);
    const char** name = ct_alloc((size_t)count, sizeof *name);
    int* start = ct_alloc((size_t)count + 1, sizeof *start);
    def->cable_name = name;
    def->cable_start = start;
    if (!name || !start) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) {
        ct_actuator_info info = ct_model_actuator_info(model, k);
        if (info.kind != CT_ACTUATOR_CABLE) continue;
        name[def->info.ncable++] = info.name;
        def->info.neyelet += info.element_count;
        start[def->info.ncable] = def->info.neyelet;
    }
    return CT_OK;
}

// As ct_trajectory_read_cables has them.
static void cable_values(const ct_model* model, const ct_state* state, const ct_trajectory* file,
                         double* out) {
    const ct_cable* cable = model->families.of[CT_FAMILY_CABLES];
    for (int k = 0; k < file->info.ncable; k++) {
        int first = file->cable_start[k], count = file->cable_start[k + 1] - first;
        double tension, *row = out + 4 * (size_t)first;
        // places in the first three quarters of the rows, then spread from the last on
        ct_cable_measure(cable, k, ct_state_actuation(state), ct_state_positions(state), NULL, &tension, row);
        for (int i = count - 1; i >= 0; i--) {
            memmove(row + 4 * i, row + 3 * i, 3 * sizeof(double));
            row[4 * i + 3] = tension;
        }
    }
}

// As ct_trajectory_read_cavities has them.
static void cavity_values(const ct_model* model, const ct_state* state, double* out) {
    for (int k = 0; k < ct_model_actuator_count(model); k++)
        if (ct_state_cavity(model, state, k, out, NULL, out + 1) == CT_OK) out += 2;
}

// As ct_trajectory_read_obstacles has them.
static void obstacle_poses(const ct_model* model, const ct_state* state, double* poses) {
    const ct_collision* c = &model->collision;
    const double* x = ct_state_positions(state);
    memset(poses, 0, 6 * (size_t)model->nobstacle * sizeof(double));
    for (int k = 0; k < model->nobstacle; k++) {
        const ct_collider* collider = &c->collider[model->nbody + k];
        int points = collider->kind == CT_OBSTACLE_SPHERE ? 1 : collider->kind == CT_OBSTACLE_CAPSULE ? 2 : 0;
        if (points)
            memcpy(poses + 6 * k, x + 3 * (size_t)collider->first_node, 3 * (size_t)points * sizeof(double));
    }
    for (int i = 0; i < c->nplane; i++) {
        double* pose = poses + 6 * (c->plane[i].collider - model->nbody);
        ct_plane_pose(&c->plane[i], ct_state_time(state), pose, pose + 3);
    }
}

// That a run to the scene's end stores, the first included.
static int frame_count(const ct_settings* settings) {
    const double count = settings->duration / settings->time_step / settings->output_every + 2;
    return count < INT_MAX ? (int)count : INT_MAX;
}

// What the model alone says; `def` borrows from it.
static void describe_model(ct_trajectory_def* def, const ct_model* model, size_t state_size) {
    ct_model_info info = ct_model_summary(model);
    ct_settings settings = ct_model_settings(model);
    *def = (ct_trajectory_def){
        .info = {.nvert = info.nvert,
                 .ntet = info.ntet,
                 .nsurface = info.nsurface,
                 .nbody = info.nbody,
                 .ntri = info.ntri,
                 .up = settings.up,
                 .ground = settings.ground,
                 .time_step = settings.time_step,
                 .view = {.automatic = true},
                 .compressed = settings.output_compress,
                 .contact = settings.contact.method != CT_CONTACT_METHOD_NONE,
                 .activation =
                     model->families.of[CT_FAMILY_MUSCLES] || model->families.of[CT_FAMILY_CHAMBERS]},
        .rest = ct_model_rest(model),
        .tet = ct_model_tets(model),
        .mid = model->geometry.mid,
        .surface = ct_model_surface(model),
        .tet_body = ct_model_tet_body(model),
        .tet_tag = ct_model_tet_tag(model),
        .tri = ct_model_tris(model),
        .tri_body = model->geometry.tri_body,
        .tri_tag = model->geometry.tri_tag,
        .surface_owner = ct_model_surface_owner(model),
        .state_size = state_size,
    };
}

static ct_status state_bytes(const ct_model* model, size_t* size) {
    ct_state* state = NULL;
    ct_status status = ct_state_create(&state, model, NULL);
    *size = status ? 0 : ct_state_size(state);
    ct_state_free(state);
    return status;
}

ct_status ct_trajectory_create(ct_trajectory** out, const ct_scene* scene, const ct_model* model,
                               const char* path, ct_error* error) {
    CT_NEED(error, out, model, path);
    ct_error_clear(error);
    *out = NULL;
    size_t state_size = 0;
    ct_status status = state_bytes(model, &state_size);
    if (status) return ct_fail(error, status, "%s", ct_status_text(status));
    ct_trajectory_def def;
    const ct_settings settings = ct_model_settings(model);
    describe_model(&def, model, state_size);
    def.frames = frame_count(&settings);
    char* text = NULL;
    if (scene) {
        snprintf(def.info.scene_file, sizeof def.info.scene_file, "%s", ct_scene_file(scene));
        snprintf(def.info.scene_name, sizeof def.info.scene_name, "%s", ct_scene_name(scene));
        def.info.view = ct_scene_view(scene);
        status = read_scene_text(ct_scene_file(scene), &text, &def.scene_text_size);
        def.scene_text = text;
    }
    if (!status) status = describe_links(&def, model);
    if (!status) status = describe_obstacles(&def, model);
    if (!status) status = describe_cavities(&def, model);
    if (!status) status = describe_cables(&def, model);
    size_t nbody = (size_t)def.info.nbody;
    const char** name = ct_alloc(nbody, sizeof *name);
    if (!name) status = CT_OUT_OF_MEMORY;
    for (size_t k = 0; !status && k < nbody; k++) name[k] = ct_model_body_name(model, (int)k);
    def.body_color = ct_model_body_color(model);
    def.body_name = name;
    if (!status) status = ct_trajectory_create_arrays(out, path, &def, error);
    else ct_fail(error, status, "%s", ct_status_text(status));
    ct_free((void*)def.link);
    ct_free((void*)def.obstacle);
    ct_free((void*)def.cavity_name);
    ct_free((void*)def.cable_name);
    ct_free((void*)def.cable_start);
    ct_free(name);
    ct_free(text);
    return status;
}

ct_status ct_trajectory_resume(ct_trajectory** out, const ct_model* model, ct_state* state, const char* path,
                               ct_error* error) {
    CT_NEED(error, out, model, state, path);
    ct_error_clear(error);
    *out = NULL;
    ct_trajectory_def def;
    describe_model(&def, model, ct_state_size(state));
    void* bytes = ct_alloc(def.state_size, 1);
    if (!bytes) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = describe_links(&def, model);
    if (!status) status = describe_obstacles(&def, model);
    if (!status) status = describe_cavities(&def, model);
    if (!status) status = describe_cables(&def, model);
    if (status) ct_fail(error, status, "%s", ct_status_text(status));
    else status = ct_trajectory_resume_arrays(out, path, &def, bytes, error);
    if (!status && ct_state_restore(state, bytes, def.state_size)) {
        ct_trajectory_close(*out, NULL);
        *out = NULL;
        status =
            ct_fail_at(error, CT_BAD_FILE, path, 0, "the stored state does not fit this version of Cuttle");
    }
    ct_free((void*)def.link);
    ct_free((void*)def.obstacle);
    ct_free((void*)def.cavity_name);
    ct_free((void*)def.cable_name);
    ct_free((void*)def.cable_start);
    ct_free(bytes);
    return status;
}

// Stress, energy and volume ratio of all elements; of sheets those of the membrane, with its rest thickness.
static ct_status element_fields(const ct_model* model, const ct_state* state, double* stress, double* energy,
                                double* volume) {
    ct_status status = ct_state_tet_field(model, state, CT_FIELD_VON_MISES, stress);
    if (!status) status = ct_state_tet_field(model, state, CT_FIELD_ENERGY_DENSITY, energy);
    if (!status) status = ct_state_tet_field(model, state, CT_FIELD_VOLUME_RATIO, volume);
    if (status || !model->ntri) return status;
    int ntet = model->ntet;
    ct_sheet_fields(model->families.of[CT_FAMILY_SHEETS], ct_state_positions(state), energy + ntet,
                    stress + ntet, volume + ntet);
    for (int k = ntet; k < model->nelement; k++) {
        stress[k] /= model->material[k].thickness;
        energy[k] /= model->material[k].thickness;
    }
    return CT_OK;
}

ct_status ct_trajectory_gather(const ct_trajectory* file, const ct_model* model, const ct_state* state,
                               const ct_step_report* report, ct_arena* arena, ct_trajectory_sample* out) {
    const size_t nelement = (size_t)model->nelement, nlink = (size_t)file->info.nlink;
    double* stress = ct_arena_alloc(arena, nelement, sizeof(double));
    double* energy = ct_arena_alloc(arena, nelement, sizeof(double));
    double* volume = ct_arena_alloc(arena, nelement, sizeof(double));
    double* activation = ct_arena_alloc(arena, nelement, sizeof(double));
    double* poses = ct_arena_alloc(arena, 12 * nlink, sizeof(double));
    double* obstacles = ct_arena_alloc(arena, 6 * (size_t)file->info.nobstacle, sizeof(double));
    double* cavities = ct_arena_alloc(arena, 2 * (size_t)model->actuators.count, sizeof(double));
    double* cables = ct_arena_alloc(arena, 4 * (size_t)file->info.neyelet, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    ct_status status = element_fields(model, state, stress, energy, volume);
    if (!status && file->info.activation)
        status = ct_state_tet_field(model, state, CT_FIELD_ACTIVATION, activation);
    if (!status && nlink) status = ct_state_link_poses(model, state, poses);
    if (file->info.nobstacle) obstacle_poses(model, state, obstacles);
    cavity_values(model, state, cavities);
    if (file->info.ncable) cable_values(model, state, file, cables);
    *out = (ct_trajectory_sample){
        .time = ct_state_time(state),
        .step = ct_state_step_index(state),
        .x = ct_state_positions(state),
        .v = ct_state_velocities(state),
        .stress = stress,
        .energy = energy,
        .volume = volume,
        .activation = activation,
        .cavities = cavities,
        .cables = cables,
        .state = ct_state_bytes(state),
        .report = report,
        .coordinates = ct_state_coordinates(state),
        .poses = poses,
        .obstacle_poses = obstacles,
        .contact_force = ct_state_contact_forces(state),
        .contact = report ? report->contact : NULL,
        .ncontact = report && report->contact ? report->ncontact : 0,
    };
    return status;
}

ct_status ct_trajectory_append(ct_trajectory* file, const ct_model* model, const ct_state* state,
                               const ct_step_report* report, ct_error* error) {
    CT_NEED(error, file, model, state);
    ct_error_clear(error);
    ct_model_info info = ct_model_summary(model);
    if (info.nvert != file->info.nvert || info.ntet != file->info.ntet ||
        (file->info.nlink && info.nlink != file->info.nlink) || model->nobstacle != file->info.nobstacle ||
        info.ntri != file->info.ntri || ct_state_size(state) != file->state_size)
        return ct_fail_at(error, CT_BAD_ARGUMENT, file->path, 0,
                          "the state belongs to another model than the file");
    ct_arena arena = {0};
    ct_trajectory_sample sample;
    ct_status status = ct_trajectory_gather(file, model, state, report, &arena, &sample);
    if (status) ct_fail(error, status, "%s", ct_status_text(status));
    else status = ct_trajectory_append_sample(file, &sample, error);
    ct_arena_free(&arena);
    return status;
}
