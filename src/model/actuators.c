// Actuators of a model; see actuator.h.
#include "model/actuators.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/mat3.h"

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
        if (source->eyelet) out->eyelet = ct_arena_copy(arena, source->eyelet, n, sizeof *source->eyelet);
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
    all->least = ct_arena_alloc(&model->arena, size, sizeof(double));
    all->decay = ct_arena_alloc(&model->arena, size, sizeof(double));
    all->control = ct_arena_alloc(&model->arena, size, sizeof(int));
    if (model->arena.failed) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < all->count; k++)
        for (int i = 0; i < all->list[k].size; i++) {
            int at = all->first[k] + i;
            all->start[at] = all->list[k].start;
            all->rest[at] = all->list[k].rest;
            all->least[at] = all->list[k].least;
            all->decay[at] = all->list[k].time > 0 ? exp(-model->settings.time_step / all->list[k].time) : 0;
            all->control[at] = -1;
        }
    for (int c = 0; c < model->inputs.ncontrol; c++) {
        const ct_scene_control* control = &model->inputs.control[c];
        if (!all->count || control->kind != all->list[control->actuator].control) continue;
        for (int i = 0; i < control->size; i++)
            all->control[all->first[control->actuator] + i] = model->inputs.control_first[c] + i;
    }
    return CT_OK;
}

// The elements of all actuators of a kind, one after the other.
typedef struct elements {
    int n;
    int *node, *mid;  // 4 n, 6 n of tets of second order
    int* point;       // n, which point of the tet it is, -1: a linear one
    int *number, *owner;
    double *direction, *weight;
} elements;

static ct_status gather(const ct_model* model, ct_actuator_kind kind, ct_arena* arena, elements* out) {
    const ct_actuators* all = &model->actuators;
    size_t n = 0;
    for (int k = 0; k < all->count; k++) n += all->list[k].kind == kind ? (size_t)all->list[k].nelement : 0;
    if (model->geometry.mid) n *= CT_CELL_POINTS;
    *out = (elements){.node = ct_arena_alloc(arena, 4 * n, sizeof(int)),
                      .mid = ct_arena_alloc(arena, 6 * n, sizeof(int)),
                      .point = ct_arena_alloc(arena, n, sizeof(int)),
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
            const int* mid = ct_model_middles(model, a->tet[e]);
            for (int q = 0; q < (mid ? CT_CELL_POINTS : 1); q++, out->n++) {
                memcpy(out->node + 4 * out->n, model->geometry.tet + 4 * (size_t)a->tet[e], 4 * sizeof(int));
                if (mid) memcpy(out->mid + 6 * out->n, mid, 6 * sizeof(int));
                out->point[out->n] = mid ? q : -1;
                out->number[out->n] = all->first[k] + a->number[e];
                out->owner[out->n] = k;
                if (a->direction)
                    memcpy(out->direction + 3 * out->n, a->direction + 3 * e, 3 * sizeof(double));
                if (a->weight) out->weight[out->n] = a->weight[e];
            }
        }
    }
    return CT_OK;
}

static ct_actuated_def tets_of(const ct_model* model, const elements* all) {
    return (ct_actuated_def){.ntet = all->n,
                             .nnumber = model->actuators.size,
                             .nowner = model->actuators.count,
                             .rest = model->geometry.rest,
                             .tet = all->node,
                             .mid = all->mid,
                             .point = all->point,
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

// ---- cables

// Distance of x from the point, the line or the plane through the first `count` of the points.
static double apart(const ct_vec3* point, int count, ct_vec3 x) {
    if (count == 0) return 1;
    const ct_vec3 d = ct_vec3_sub(x, point[0]);
    if (count == 1) return ct_vec3_norm(d);
    const ct_vec3 first = ct_vec3_sub(point[1], point[0]);
    if (count == 2) return ct_vec3_norm(ct_vec3_cross(first, d)) / ct_vec3_norm(first);
    const ct_vec3 normal = ct_vec3_cross(first, ct_vec3_sub(point[2], point[0]));
    return fabs(ct_vec3_dot(normal, d)) / ct_vec3_norm(normal);
}

// Four nodes of the link that span space, each as far as can be from those before it; false: there are none.
static bool span_link(const ct_model* model, int link, int node[4]) {
    const ct_tree* tree = &model->tree;
    ct_vec3 point[4];
    double reach = 0;
    for (int k = 0; k < 4; k++) {
        double farthest = 1e-6 * reach;
        node[k] = -1;
        for (int i = tree->start[link]; i < tree->start[link + 1]; i++) {
            const ct_vec3 x = ct_vec3_load(model->geometry.rest + 3 * (size_t)tree->node[i]);
            const double distance = apart(point, k, x);
            if (!(distance > farthest)) continue;
            farthest = distance;
            node[k] = tree->node[i];
            point[k] = x;
        }
        if (node[k] < 0) return false;
        if (k == 1) reach = farthest;
    }
    return true;
}

// The point as an affine combination of nodes of the link, which moves with it.
static ct_status seat_on_link(const ct_model* model, const ct_scene_actuator* cable,
                              const ct_scene_eyelet* seat, ct_cable_eyelet* out, ct_error* error) {
    if (!span_link(model, seat->link, out->node))
        return ct_fail(
            error, CT_BAD_SCENE,
            "cable \"%s\" has an eyelet on link \"%s\", which has no four nodes that span space: give "
            "the link a mass of its own, or more nodes",
            cable->name, model->tree.name[seat->link]);
    ct_vec3 edge[3], corner = ct_vec3_load(model->geometry.rest + 3 * (size_t)out->node[0]);
    for (int k = 0; k < 3; k++)
        edge[k] = ct_vec3_sub(ct_vec3_load(model->geometry.rest + 3 * (size_t)out->node[k + 1]), corner);
    const ct_vec3 c = ct_mat3_apply(ct_mat3_inverse(ct_mat3_columns(edge[0], edge[1], edge[2])),
                                    ct_vec3_sub(ct_vec3_load(seat->point), corner));
    const double weight[4] = {1 - c.x - c.y - c.z, c.x, c.y, c.z};
    memcpy(out->weight, weight, sizeof weight);
    out->count = 4;
    return CT_OK;
}

static ct_status seat_eyelet(const ct_model* model, const ct_scene_actuator* cable,
                             const ct_scene_eyelet* seat, ct_cable_eyelet* out, ct_error* error) {
    *out = (ct_cable_eyelet){.count = seat->count};
    if (seat->link >= 0) return seat_on_link(model, cable, seat, out, error);
    if (!seat->count) memcpy(out->offset, seat->point, sizeof out->offset);
    memcpy(out->node, seat->node, sizeof out->node);
    memcpy(out->weight, seat->weight, sizeof out->weight);
    return CT_OK;
}

static ct_status make_cables(ct_model* model, ct_arena* scratch, ct_error* error) {
    const ct_actuators* all = &model->actuators;
    size_t neyelet = 0, count = (size_t)all->count;
    for (int k = 0; k < all->count; k++) neyelet += all->list[k].eyelet ? (size_t)all->list[k].nelement : 0;
    if (!neyelet) return CT_OK;
    ct_cable_eyelet* eyelet = ct_arena_alloc(scratch, neyelet, sizeof *eyelet);
    int *start = ct_arena_alloc(scratch, count + 1, sizeof(int)),
        *number = ct_arena_alloc(scratch, count, sizeof(int)),
        *owner = ct_arena_alloc(scratch, count, sizeof(int)), n = 0;
    bool* held = ct_arena_alloc(scratch, count, sizeof(bool));
    double* width = ct_arena_alloc(scratch, count, sizeof(double));
    if (scratch->failed) return CT_OUT_OF_MEMORY;
    ct_status status = CT_OK;
    for (int k = 0; status == CT_OK && k < all->count; k++) {
        const ct_scene_actuator* a = &all->list[k];
        if (!a->eyelet) continue;
        for (int i = 0; status == CT_OK && i < a->nelement; i++)
            status = seat_eyelet(model, a, &a->eyelet[i], &eyelet[start[n] + i], error);
        number[n] = all->first[k];
        owner[n] = k;
        held[n] = a->held;
        width[n] = 1e-3 * a->rest_length;
        start[n + 1] = start[n] + a->nelement;
        n++;
    }
    if (status != CT_OK) return status;
    const ct_cable_lines def = {.ncable = n,
                                .nowner = all->count,
                                .start = start,
                                .eyelet = eyelet,
                                .number = number,
                                .owner = owner,
                                .held = held,
                                .width = width,
                                .stiffness = all->stiffness};
    ct_cable* cable;
    status = ct_cable_create(&cable, &def);
    model->families.of[CT_FAMILY_CABLES] = cable;
    return status;
}

ct_status ct_actuators_create(ct_model* model, const ct_scene* scene, ct_error* error) {
    if (!scene->nactuator) return CT_OK;
    ct_arena scratch = {0};
    ct_status status = copy_list(&model->actuators, &model->arena, scene);
    if (status == CT_OK) status = make_numbers(model);
    if (status == CT_OK) status = make_muscles(model, &scratch);
    if (status == CT_OK) status = make_chambers(model, &scratch);
    if (status == CT_OK) status = make_cavities(model, &scratch);
    if (status == CT_OK) status = make_cables(model, &scratch, error);
    model->families.actuation = model->actuators.rest;
    ct_arena_free(&scratch);
    return status;
}

// ---- values

void ct_actuators_set_stiffness(ct_model* model) {
    ct_families_set_stiffness(&model->families, model->actuators.stiffness);
}

bool ct_actuators_stale(const ct_model* model) {
    const ct_actuators* all = &model->actuators;
    for (int k = 0; k < all->count; k++)  // the factored system does without cables
        if (all->list[k].kind != CT_ACTUATOR_CABLE &&
            (all->stiffness[k] > 3 * all->factored[k] || all->factored[k] > 3 * all->stiffness[k]))
            return true;
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
