// Actuators of a model; see actuator.h.
#include "model/actuators.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

// ---- creation

static ct_status copy_list(ct_actuators* all, ct_arena* arena, const ct_scene* scene) {
    all->count = scene->nactuator;
    all->list = ct_arena_copy(arena, scene->actuator, (size_t)all->count, sizeof *all->list);
    all->first = ct_arena_alloc(arena, (size_t)all->count, sizeof(int));
    all->stiffness = ct_arena_alloc(arena, (size_t)all->count, sizeof(double));
    all->factored = ct_arena_alloc(arena, (size_t)all->count, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < all->count; k++) {
        const ct_scene_actuator* source = &scene->actuator[k];
        ct_scene_actuator* out = &all->list[k];
        size_t n = (size_t)source->nelement;
        out->name = ct_arena_copy(arena, source->name, strlen(source->name) + 1, 1);
        if (source->tet) out->tet = ct_arena_copy(arena, source->tet, n, sizeof(int));
        if (source->number) out->number = ct_arena_copy(arena, source->number, n, sizeof(int));
        if (source->direction)
            out->direction = ct_arena_copy(arena, source->direction, 3 * n, sizeof(double));
        if (source->weight) out->weight = ct_arena_copy(arena, source->weight, n, sizeof(double));
        if (source->tri) out->tri = ct_arena_copy(arena, source->tri, 3 * n, sizeof(int));
        all->stiffness[k] = all->factored[k] = source->stiffness;
        all->first[k] = all->size;
        all->size += source->size;
    }
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static ct_status make_numbers(ct_model* model) {
    ct_actuators* all = &model->actuators;
    size_t size = (size_t)all->size;
    all->start = ct_arena_alloc(&model->arena, size, sizeof(double));
    all->rest = ct_arena_alloc(&model->arena, size, sizeof(double));
    all->decay = ct_arena_alloc(&model->arena, size, sizeof(double));
    all->control = ct_arena_alloc(&model->arena, size, sizeof(int));
    if (model->arena.failed) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < all->count; k++)
        for (int i = 0; i < all->list[k].size; i++) {
            int at = all->first[k] + i;
            all->start[at] = all->list[k].start;
            all->rest[at] = all->list[k].kind == CT_ACTUATOR_CHAMBER ? 1 : 0;
            all->decay[at] = all->list[k].time > 0 ? exp(-model->settings.time_step / all->list[k].time) : 0;
            all->control[at] = -1;
        }
    for (int c = 0; c < model->ncontrol; c++) {
        const ct_scene_control* control = &model->control[c];
        if (control->kind != CT_CONTROL_ACTIVATION && control->kind != CT_CONTROL_PRESSURE) continue;
        for (int i = 0; i < control->size; i++)
            all->control[all->first[control->actuator] + i] = model->control_first[c] + i;
    }
    return CT_OK;
}

// The elements of all actuators of a kind, one after the other.
typedef struct elements {
    int n;
    int* node;  // 4 n, or 3 n of cavities
    int *number, *owner;
    double *direction, *weight;
} elements;

static ct_status gather(const ct_model* model, ct_actuator_kind kind, ct_arena* arena, elements* out) {
    const ct_actuators* all = &model->actuators;
    size_t n = 0;
    for (int k = 0; k < all->count; k++) n += all->list[k].kind == kind ? (size_t)all->list[k].nelement : 0;
    *out = (elements){.node = ct_arena_alloc(arena, 4 * n, sizeof(int)),
                      .number = ct_arena_alloc(arena, n, sizeof(int)),
                      .owner = ct_arena_alloc(arena, n, sizeof(int)),
                      .direction = ct_arena_alloc(arena, 3 * n, sizeof(double)),
                      .weight = ct_arena_alloc(arena, n, sizeof(double))};
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < all->count; k++) {
        const ct_scene_actuator* a = &all->list[k];
        for (int e = 0; a->kind == kind && e < a->nelement; e++) {
            // elements of links do not deform
            if (ct_model_is_rigid(model, a->tet[e])) continue;
            memcpy(out->node + 4 * out->n, model->tet + 4 * (size_t)a->tet[e], 4 * sizeof(int));
            out->number[out->n] = all->first[k] + a->number[e];
            out->owner[out->n] = k;
            if (a->direction) memcpy(out->direction + 3 * out->n, a->direction + 3 * e, 3 * sizeof(double));
            if (a->weight) out->weight[out->n] = a->weight[e];
            out->n++;
        }
    }
    return CT_OK;
}

static ct_actuated_def tets_of(const ct_model* model, const elements* all) {
    return (ct_actuated_def){.ntet = all->n,
                             .nnumber = model->actuators.size,
                             .nowner = model->actuators.count,
                             .rest = model->rest,
                             .tet = all->node,
                             .number = all->number,
                             .owner = all->owner,
                             .stiffness = model->actuators.stiffness};
}

static ct_status make_muscles(ct_model* model, ct_arena* scratch) {
    elements fibres;
    ct_status status = gather(model, CT_ACTUATOR_MUSCLE, scratch, &fibres);
    if (status != CT_OK || !fibres.n) return status;
    const ct_muscle_fibres def = {
        .tets = tets_of(model, &fibres), .direction = fibres.direction, .weight = fibres.weight};
    ct_muscle* muscle;
    status = ct_muscle_create(&muscle, &def);
    model->families.of[CT_FAMILY_MUSCLES] = muscle;
    return status;
}

static ct_status make_chambers(ct_model* model, ct_arena* scratch) {
    elements cells;
    ct_status status = gather(model, CT_ACTUATOR_CHAMBER, scratch, &cells);
    if (status != CT_OK || !cells.n) return status;
    const ct_actuated_def def = tets_of(model, &cells);
    ct_chamber* chamber;
    status = ct_chamber_create(&chamber, &def);
    model->families.of[CT_FAMILY_CHAMBERS] = chamber;
    return status;
}

static ct_status make_cavities(ct_model* model, ct_arena* scratch) {
    const ct_actuators* all = &model->actuators;
    size_t ntri = 0;
    for (int k = 0; k < all->count; k++) ntri += all->list[k].tri ? (size_t)all->list[k].nelement : 0;
    if (!ntri) return CT_OK;
    int* tri = ct_arena_alloc(scratch, 3 * ntri, sizeof(int));
    int* start = ct_arena_alloc(scratch, (size_t)all->count + 1, sizeof(int));
    int* number = ct_arena_alloc(scratch, (size_t)all->count, sizeof(int));
    if (scratch->failed) return CT_OUT_OF_MEMORY;
    int n = 0;
    for (int k = 0; k < all->count; k++) {
        const ct_scene_actuator* a = &all->list[k];
        if (!a->tri) continue;
        memcpy(tri + 3 * (size_t)start[n], a->tri, 3 * (size_t)a->nelement * sizeof(int));
        number[n] = all->first[k];
        start[n + 1] = start[n] + a->nelement;
        n++;
    }
    const ct_cavity_surfaces def = {.ncavity = n, .start = start, .tri = tri, .number = number};
    ct_cavity* cavity;
    ct_status status = ct_cavity_create(&cavity, &def);
    model->families.of[CT_FAMILY_CAVITIES] = cavity;
    return status;
}

ct_status ct_actuators_create(ct_model* model, const ct_scene* scene) {
    if (!scene->nactuator) return CT_OK;
    ct_arena scratch = {0};
    ct_status status = copy_list(&model->actuators, &model->arena, scene);
    if (status == CT_OK) status = make_numbers(model);
    if (status == CT_OK) status = make_muscles(model, &scratch);
    if (status == CT_OK) status = make_chambers(model, &scratch);
    if (status == CT_OK) status = make_cavities(model, &scratch);
    model->families.actuation = model->actuators.rest;
    ct_arena_free(&scratch);
    return status;
}

// ---- values

void ct_actuators_set_stiffness(ct_model* model) {
    const ct_actuators* all = &model->actuators;
    if (model->families.of[CT_FAMILY_MUSCLES])
        ct_muscle_set_stiffness(model->families.of[CT_FAMILY_MUSCLES], all->stiffness);
    if (model->families.of[CT_FAMILY_CHAMBERS])
        ct_chamber_set_stiffness(model->families.of[CT_FAMILY_CHAMBERS], all->stiffness);
}

bool ct_actuators_stale(const ct_model* model) {
    const ct_actuators* all = &model->actuators;
    for (int k = 0; k < all->count; k++)
        if (all->stiffness[k] > 3 * all->factored[k] || all->factored[k] > 3 * all->stiffness[k]) return true;
    return false;
}

// ---- public

int ct_model_actuator_count(const ct_model* model) { return model->actuators.count; }

ct_actuator_info ct_model_actuator_info(const ct_model* model, int actuator) {
    if (actuator < 0 || actuator >= model->actuators.count) return (ct_actuator_info){.name = ""};
    const ct_scene_actuator* a = &model->actuators.list[actuator];
    return (ct_actuator_info){.name = a->name,
                              .kind = a->kind,
                              .first = model->actuators.first[actuator],
                              .count = a->size,
                              .element_count = a->nelement,
                              .stiffness = model->actuators.stiffness[actuator]};
}
