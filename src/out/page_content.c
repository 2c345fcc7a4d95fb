// What all frames of a page share; see page_content.h.
#include "out/page_content.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "out/obstacle.h"
#include "out/picture.h"

static void miss(ct_page_content* c, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (c->nmissing < 4) vsnprintf(c->missing[c->nmissing++], sizeof c->missing[0], format, arguments);
    va_end(arguments);
}

// ---- fields ----

static bool has_field(const ct_trajectory* file, const ct_trajectory_field* field) {
    return ct_trajectory_has(&file->info, field->array);
}

// The page makes displacements from positions, and the usual ones are without the volume ratio.
static bool is_usual(const ct_trajectory_field* field) {
    return strcmp(field->name, "displacement") != 0 && strcmp(field->name, "volume") != 0;
}

static ct_status choose_fields(ct_page_content* c, const char* list, ct_error* error) {
    const ct_trajectory_field* all = ct_trajectory_fields;
    for (int k = 0; !list && all[k].name; k++)
        if (has_field(c->file, &all[k]) && is_usual(&all[k])) c->field[c->nfield++] = &all[k];
    for (const char* at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        int k = 0;
        while (all[k].name && (strlen(all[k].name) != length || strncmp(all[k].name, at, length) != 0)) k++;
        if (!all[k].name)
            return ct_fail(
                error, CT_BAD_ARGUMENT,
                "there is no field \"%.*s\": choose displacement, velocity, stress, energy, volume, "
                "contact or activation",
                (int)length, at);
        if (!has_field(c->file, &all[k])) miss(c, "This run has no %s.", all[k].title);
        else if (strcmp(all[k].name, "displacement") != 0 && c->nfield < CT_PAGE_FIELDS)
            c->field[c->nfield++] = &all[k];
        at += length + (at[length] == ',');
    }
    return CT_OK;
}

// ---- nodes and triangles ----

static void show(ct_page_content* c, int node) {
    if (c->shown[node] < 0) c->shown[node] = 0;
}

static void renumber(const ct_page_content* c, int* list, size_t count) {
    for (size_t i = 0; i < count; i++) list[i] = c->shown[list[i]];
}

static bool choose_triangles(ct_page_content* c) {
    const ct_trajectory* file = c->file;
    const int nbody = file->info.nbody;
    c->tri = ct_arena_alloc(&c->arena, 3 * (size_t)file->info.nsurface, sizeof *c->tri);
    c->owner = ct_arena_alloc(&c->arena, (size_t)file->info.nsurface, sizeof *c->owner);
    if (c->arena.failed) return false;
    for (int t = 0; t < file->info.nsurface; t++) {
        const int owner = file->surface_owner[t];
        if (owner >= nbody && file->obstacle[owner - nbody].hidden) continue;
        memcpy(c->tri + 3 * c->ntri, file->surface + 3 * (size_t)t, 3 * sizeof(int));
        c->owner[c->ntri++] = owner;
    }
    return true;
}

// The nodes of the surface, of cells and, with the interior, of all tets.
static bool choose_nodes(ct_page_content* c, bool interior) {
    const ct_trajectory* file = c->file;
    const size_t nvert = (size_t)file->info.nvert, ntet = interior ? (size_t)file->info.ntet : 0;
    c->shown = ct_arena_alloc(&c->arena, nvert, sizeof *c->shown);
    c->node = ct_arena_alloc(&c->arena, nvert, sizeof *c->node);
    c->tet = ct_arena_copy(&c->arena, file->tet, 4 * ntet, sizeof *c->tet);
    c->tet_body = ct_arena_copy(&c->arena, file->tet_body, ntet, sizeof *c->tet_body);
    if (c->arena.failed) return false;
    c->ntet = (int)ntet;
    for (size_t i = 0; i < nvert; i++) c->shown[i] = -1;
    for (int i = 0; i < 3 * c->ntri; i++) show(c, c->tri[i]);
    for (int i = 0; i < 3 * c->nchamber; i++) show(c, c->chamber[i]);
    for (size_t i = 0; i < 4 * ntet; i++) show(c, c->tet[i]);
    for (size_t i = 0; i < nvert; i++)
        if (c->shown[i] == 0) c->shown[i] = c->nnode, c->node[c->nnode++] = (int)i;
    renumber(c, c->tri, 3 * (size_t)c->ntri);
    renumber(c, c->chamber, 3 * (size_t)c->nchamber);
    renumber(c, c->tet, 4 * ntet);
    return true;
}

// ---- the scene ----

static bool fits(const ct_trajectory_info* info, const ct_model* model) {
    return info->nvert == model->nvert && info->ntet == model->ntet && info->ntri == model->ntri &&
           info->nbody == model->nbody && info->nobstacle == model->nobstacle;
}

// The model of the scene; measured: it also makes this motion.
static ct_status use_scene(ct_page_content* c, bool* measured, ct_error* error) {
    const char* without = "muscles, chambers, energies, momenta, losses and controls are not shown";
    if (!c->model && !c->scene) return miss(c, "The scene of this run is not at hand: %s.", without), CT_OK;
    if (!c->model) {
        ct_error why;
        ct_status status = ct_model_create(&c->own_model, c->scene, &why);
        if (status == CT_OUT_OF_MEMORY) return ct_fail(error, status, "out of memory");
        if (status) return miss(c, "The scene of this run cannot be compiled: %s.", without), CT_OK;
        if (!fits(&c->file->info, c->own_model))
            return ct_fail(error, CT_BAD_ARGUMENT,
                           "the scene is not the one that this trajectory was made from");
        if (!ct_page_repeats(c->file, c->own_model)) {
            miss(c, "The scene as it is now does not lead to this motion (its parameters or controls were "
                    "others): energies, momenta, losses and controls are not shown.");
            *measured = false;
        }
        c->model = c->own_model;
    }
    return CT_OK;
}

static ct_status find_actors(ct_page_content* c, bool measured, ct_error* error) {
    if (!c->model) return CT_OK;
    if (measured && c->scene && !ct_problem_create(&c->problem, c->scene, 0, NULL) &&
        ct_problem_term_count(c->problem) == 0) {
        ct_problem_free(c->problem);
        c->problem = NULL;
    }
    if (!ct_page_find_actors(c)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_state_create(&c->state, c->model, error);
    if (status != CT_OK) return status;
    if (!measured) c->ncurve = 0;
    return CT_OK;
}

// ---- where things are ----

static ct_status place(ct_page_content* c, ct_error* error) {
    ct_trajectory* file = c->file;
    double height = file->info.ground;
    ct_status status = ct_picture_bounds(file, error);
    if (!status) status = ct_trajectory_read_obstacles_into(file, 0, file->obstacle_poses, error);
    if (status) return status;
    memcpy(c->lower, file->lower, sizeof c->lower);
    memcpy(c->upper, file->upper, sizeof c->upper);
    if (!isfinite(height) && !ct_obstacle_ground(file, file->obstacle_poses, &height)) height = NAN;
    c->ground = height;
    ct_picture_bones(&c->bones, &c->arena, file);
    return c->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

ct_status ct_page_content_create(ct_page_content* c, ct_trajectory* file, const ct_page_def* def,
                                 const ct_model* model, ct_error* error) {
    *c = (ct_page_content){.file = file, .scene = def->scene, .model = model};
    if (file->info.nframe < 1)
        return ct_fail_at(error, CT_BAD_ARGUMENT, file->path, 0, "there is no frame to show yet");
    bool measured = true;
    ct_status status = use_scene(c, &measured, error);
    if (!status) status = choose_fields(c, def->fields, error);
    if (!status) status = find_actors(c, measured, error);
    if (!status && !(choose_triangles(c) && choose_nodes(c, def->interior)))
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = place(c, error);
    return status;
}

void ct_page_content_free(ct_page_content* c) {
    ct_state_free(c->state);
    ct_problem_free(c->problem);
    ct_model_free(c->own_model);
    ct_arena_free(&c->arena);
    *c = (ct_page_content){0};
}
