// Actuators of a scene: muscles, chambers, cavities and cables, resolved to scene tets, triangles and nodes
// when they are added. Names and arrays live in the scene's arena.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "math/mat3.h"
#include "math/point3.h"
#include "scene/cavity_surface.h"
#include "scene/muscle_map.h"
#include "scene/scene.h"
#include "scene/usable.h"
#include "shape/closed_surface.h"

ct_muscle_def ct_muscle_def_default(void) { return (ct_muscle_def){.stiffness = 1e6}; }
ct_chamber_def ct_chamber_def_default(void) {
    return (ct_chamber_def){.tag = -1, .stiffness = 1e6, .activation = 1};
}
ct_cavity_def ct_cavity_def_default(void) { return (ct_cavity_def){.tag = -1}; }
ct_cable_def ct_cable_def_default(void) { return (ct_cable_def){.length = NAN, .stiffness = 1e4}; }

int ct_scene_actuator_count(const ct_scene* scene) { return scene->nactuator; }

int ct_scene_find_actuator(const ct_scene* scene, const char* name) {
    for (int k = 0; k < scene->nactuator; k++)
        if (!strcmp(scene->actuator[k].name, name)) return k;
    return -1;
}

static ct_status check_body(const ct_scene* scene, int body, bool tets, ct_error* error) {
    if (body < 0 || body >= scene->nbody)
        return ct_scene_fail(error, "body", "is %d: the scene has %d bodies so far", body, scene->nbody);
    if (tets && !scene->body[body].mesh->ntet)
        return ct_scene_fail(error, "body", "is \"%s\", a sheet: this actuator needs tets",
                             scene->body[body].name);
    return CT_OK;
}

static ct_status check_range(double value, double least, double most, const char* field, ct_error* error) {
    if (value >= least && value <= most && isfinite(value)) return CT_OK;
    return ct_scene_fail(error, field,
                         isfinite(most) ? "is %g: it must be from %g to %g"
                                        : "is %g: it must be a finite number, at least %g",
                         value, least, most);
}

static ct_status check_positive(double value, const char* field, ct_error* error) {
    if (value > 0 && isfinite(value)) return CT_OK;
    return ct_scene_fail(error, field, "is %g: it must be above 0", value);
}

// Appends the actuator under the given name or "actuator<k>".
static ct_status append(ct_scene* scene, ct_scene_actuator actuator, const char* name, int* index,
                        ct_error* error) {
    char own[64];
    snprintf(own, sizeof own, "actuator%d", scene->nactuator);
    const char* given = name && name[0] ? name : own;
    if (ct_scene_find_actuator(scene, given) >= 0)
        return ct_scene_fail(error, "name", "is \"%.60s\", the name of another actuator: give each its own",
                             given);
    actuator.name = ct_arena_copy(&scene->arena, given, strlen(given) + 1, 1);
    ct_scene_actuator* grown = ct_resize(scene->actuator, (size_t)scene->nactuator + 1, sizeof actuator);
    if (grown) scene->actuator = grown;
    if (!grown || !actuator.name) return ct_scene_out_of_memory(error);
    scene->actuator[scene->nactuator++] = actuator;
    if (index) *index = scene->nactuator - 1;
    return CT_OK;
}

// ---- muscles

static ct_status check_muscle(const ct_scene* scene, const ct_muscle_def* def, ct_error* error) {
    ct_status status = check_body(scene, def->body, true, error);
    if (status) return status;
    if (def->npoint < 2 || !def->points)
        return ct_scene_fail(error, "points", "are %d: a muscle needs 2 or more", def->npoint);
    for (int i = 0; i < def->npoint; i++)
        if (!is_usable3(def->points + 3 * (size_t)i))
            return ct_scene_fail(error, "points",
                                 "have a number that is not finite or beyond 1e12 m in row %d", i);
    for (int i = 1; i < def->npoint; i++)
        if (!memcmp(def->points + 3 * i, def->points + 3 * i - 3, 3 * sizeof(double)))
            return ct_scene_fail(error, "points", "%d and %d are the same: leave one out", i - 1, i);
    if (def->segments < 0 || def->segments > 100000)
        return ct_scene_fail(error, "segments",
                             "is %d: it must be 1 or more, or 0 for one for each piece of the polyline",
                             def->segments);
    status = check_positive(def->radius, "radius", error);
    if (!status) status = check_positive(def->stiffness, "stiffness", error);
    if (!status) status = check_range(def->activation, 0, 1, "activation", error);
    return status ? status : check_range(def->activation_time, 0, INFINITY, "activation_time", error);
}

ct_status ct_scene_add_muscle(ct_scene* scene, const ct_muscle_def* def, int* actuator, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_status status = check_muscle(scene, def, error);
    if (status) return status;
    const ct_scene_body* body = &scene->body[def->body];
    ct_arena scratch = {0};
    ct_muscle_map map;
    status = ct_muscle_map_create(&map, &scratch, body->mesh, def->points, def->npoint, def->radius,
                                  def->segments);
    if (status) status = ct_scene_out_of_memory(error);
    else if (!map.ntet)
        status = ct_scene_fail(
            error, "radius",
            "is %g, and no tet of \"%s\" has its centre that close to the points: widen it, or move them "
            "into the body",
            def->radius, body->name);
    if (!status) {
        const size_t n = (size_t)map.ntet;
        for (int e = 0; e < map.ntet; e++) map.tet[e] += body->first_tet;
        ct_scene_actuator muscle = {.kind = CT_ACTUATOR_MUSCLE,
                                    .control = CT_CONTROL_ACTIVATION,
                                    .least = -INFINITY,
                                    .range = "finite",
                                    .upper = 1,
                                    .size = map.nsegment,
                                    .nelement = map.ntet,
                                    .stiffness = def->stiffness,
                                    .start = def->activation,
                                    .time = def->activation_time,
                                    .body = def->body,
                                    .npoint = def->npoint,
                                    .radius = def->radius,
                                    .segments = def->segments};
        muscle.point =
            ct_arena_copy(&scene->arena, def->points, 3 * (size_t)def->npoint, sizeof *muscle.point);
        muscle.tet = ct_arena_copy(&scene->arena, map.tet, n, sizeof(int));
        muscle.number = ct_arena_copy(&scene->arena, map.segment, n, sizeof(int));
        muscle.direction = ct_arena_copy(&scene->arena, map.direction, 3 * n, sizeof(double));
        muscle.weight = ct_arena_copy(&scene->arena, map.weight, n, sizeof(double));
        bool copied = muscle.point && muscle.tet && muscle.number && muscle.direction && muscle.weight;
        status = copied ? append(scene, muscle, def->name, actuator, error) : ct_scene_out_of_memory(error);
    }
    ct_arena_free(&scratch);
    return status;
}

// ---- chambers

static ct_status check_chamber(const ct_scene* scene, const ct_chamber_def* def, ct_error* error) {
    ct_status status = check_body(scene, def->body, true, error);
    if (!status && (unsigned)def->cells > CT_CELLS_PER_TET)
        status = ct_scene_fail(error, "cells", "is not one of ct_cells");
    if (!status && (def->ntag < 0 || (def->ntag && !def->tags)))
        status = ct_scene_fail(error, "tags", "are %d without an array", def->ntag);
    for (int i = 0; i < (def->ntag > 0 ? def->ntag : 1) && !status; i++) {
        const int tag = def->ntag ? def->tags[i] : def->tag;
        if (tag < (def->ntag ? 0 : -1))
            status = ct_scene_fail(error, "tag", "is %d: it must be 0 or more%s", tag,
                                   def->ntag ? "" : ", or -1 for any");
    }
    if (!status) status = check_positive(def->stiffness, "stiffness", error);
    if (!status) status = check_positive(def->activation, "activation", error);
    return status ? status : check_range(def->activation_time, 0, INFINITY, "activation_time", error);
}

// Marks the body's nodes that are in the set; all when there is none.
static ct_status mark_nodes(const ct_scene* scene, const ct_chamber_def* def, unsigned char* mark,
                            ct_error* error) {
    const ct_scene_body* body = &scene->body[def->body];
    memset(mark, !def->count, (size_t)body->mesh->nvert);
    if (!def->count) return CT_OK;
    int *sorted, n;
    ct_status status = ct_scene_sorted_nodes(scene, def->nodes, def->count, &sorted, &n, error);
    if (status) return status;
    for (int i = 0; i < n; i++) {
        const int v = sorted[i] - body->first_node;
        if (v >= 0 && v < body->mesh->nvert) mark[v] = 1;
    }
    ct_free(sorted);
    return CT_OK;
}

static int tag_compare(const void* a, const void* b) {
    const int p = *(const int*)a, q = *(const int*)b;
    return (p > q) - (p < q);
}

static bool has_tag(const ct_scene_actuator* chamber, int tag) {
    if (chamber->ntag)
        return bsearch(&tag, chamber->tags, (size_t)chamber->ntag, sizeof(int), tag_compare) != NULL;
    return chamber->tag < 0 || chamber->tag == tag;
}

// Numbers of the cells' tets by group; returns how many groups there are. scratch: nelement.
static int group_cells(const ct_mesh* mesh, const ct_chamber_def* def, const ct_scene_actuator* chamber,
                       int first_tet, int* scratch) {
    const int n = chamber->nelement;
    int ntag = 0;
    for (int e = 0; e < n; e++) scratch[e] = mesh->tet_tag[chamber->tet[e] - first_tet];
    qsort(scratch, (size_t)n, sizeof(int), tag_compare);
    for (int e = 0; e < n; e++)
        if (!ntag || scratch[e] != scratch[ntag - 1]) scratch[ntag++] = scratch[e];
    for (int e = 0; e < n; e++) {
        const int* tag = bsearch(&mesh->tet_tag[chamber->tet[e] - first_tet], scratch, (size_t)ntag,
                                 sizeof(int), tag_compare);
        chamber->number[e] = def->cells == CT_CELLS_PER_TET   ? e
                             : def->cells == CT_CELLS_PER_TAG ? (int)(tag - scratch)
                                                              : 0;
    }
    return def->cells == CT_CELLS_PER_TET ? n : def->cells == CT_CELLS_PER_TAG ? ntag : 1;
}

static ct_status add_chamber(ct_scene* scene, const ct_chamber_def* def, ct_arena* scratch, int* actuator,
                             ct_error* error) {
    const ct_scene_body* body = &scene->body[def->body];
    const ct_mesh* mesh = body->mesh;
    unsigned char* mark = ct_arena_alloc(scratch, (size_t)mesh->nvert, 1);
    int* list = ct_arena_alloc(scratch, (size_t)mesh->ntet, sizeof(int));
    if (scratch->failed) return ct_scene_out_of_memory(error);
    ct_status status = mark_nodes(scene, def, mark, error);
    if (status) return status;
    ct_scene_actuator chamber = {.kind = CT_ACTUATOR_CHAMBER,
                                 .control = CT_CONTROL_ACTIVATION,
                                 .rest = 1,
                                 .least = DBL_TRUE_MIN,
                                 .range = "a volume ratio above 0",
                                 .lower = 0.05,
                                 .upper = INFINITY,
                                 .stiffness = def->stiffness,
                                 .start = def->activation,
                                 .time = def->activation_time,
                                 .body = def->body,
                                 .tag = def->ntag ? -1 : def->tag,
                                 .ntag = def->ntag,
                                 .nnode = def->count,
                                 .cells = def->cells};
    if (def->ntag) chamber.tags = ct_arena_copy(&scene->arena, def->tags, (size_t)def->ntag, sizeof(int));
    if (def->ntag && !chamber.tags) return ct_scene_out_of_memory(error);
    if (def->ntag) qsort(chamber.tags, (size_t)def->ntag, sizeof(int), tag_compare);
    for (int t = 0; t < mesh->ntet; t++) {
        const int* v = mesh->tet + 4 * (size_t)t;
        if (!has_tag(&chamber, mesh->tet_tag[t])) continue;
        if (mark[v[0]] && mark[v[1]] && mark[v[2]] && mark[v[3]])
            list[chamber.nelement++] = t + body->first_tet;
    }
    if (!chamber.nelement)
        return ct_scene_fail(
            error, def->ntag || def->tag >= 0 ? "tag" : "select",
            "leaves no tet of \"%s\": a cell's tet has the tag and all four nodes in the set", body->name);
    chamber.tet = ct_arena_copy(&scene->arena, list, (size_t)chamber.nelement, sizeof(int));
    chamber.number = ct_arena_alloc(&scene->arena, (size_t)chamber.nelement, sizeof(int));
    chamber.node = ct_arena_copy(&scene->arena, def->nodes, (size_t)def->count, sizeof *chamber.node);
    if (!chamber.tet || !chamber.number || !chamber.node) return ct_scene_out_of_memory(error);
    chamber.size = group_cells(mesh, def, &chamber, body->first_tet, list);
    return append(scene, chamber, def->name, actuator, error);
}

ct_status ct_scene_add_chamber(ct_scene* scene, const ct_chamber_def* def, int* actuator, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_status status = check_chamber(scene, def, error);
    if (status) return status;
    ct_arena scratch = {0};
    status = add_chamber(scene, def, &scratch, actuator, error);
    ct_arena_free(&scratch);
    return status;
}

// ---- cavities

static ct_status check_closed(const ct_scene_actuator* cavity, const ct_cavity_def* def, ct_error* error) {
    ct_status status = ct_surface_check_closed(cavity->tri, cavity->nelement);
    if (status == CT_OUT_OF_MEMORY) return ct_scene_out_of_memory(error);
    if (status)
        return ct_scene_fail(error, def->tag >= 0 ? "tag" : "seed",
                             "gives a surface that is not closed: every edge must belong to two of its "
                             "triangles, turned the same way");
    return CT_OK;
}

ct_status ct_scene_add_cavity(ct_scene* scene, const ct_cavity_def* def, int* actuator, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_status status = check_body(scene, def->body, false, error);
    if (status) return status;
    if (def->tag < -1)
        return ct_scene_fail(error, "tag",
                             "is %d: it must be 0 or more, or -1 to find the hollow by \"seed\"", def->tag);
    for (int a = 0; a < 3; a++)
        if (!isfinite(def->seed[a])) return ct_scene_fail(error, "seed", "must be three finite numbers");
    if (!isfinite(def->pressure)) return ct_scene_fail(error, "pressure", "must be a finite number");
    const ct_scene_body* body = &scene->body[def->body];
    ct_scene_actuator cavity = {.kind = CT_ACTUATOR_CAVITY,
                                .control = CT_CONTROL_PRESSURE,
                                .least = -INFINITY,
                                .range = "finite",
                                .lower = -INFINITY,
                                .upper = INFINITY,
                                .size = 1,
                                .start = def->pressure,
                                .body = def->body,
                                .tag = def->tag};
    copy3(cavity.seed, def->seed);
    if (ct_cavity_surface(body->mesh, def->tag, def->seed, &scene->arena, &cavity.tri, &cavity.nelement))
        return ct_scene_out_of_memory(error);
    if (!cavity.nelement && def->tag >= 0)
        return ct_scene_fail(error, "tag", "is %d, but no triangle of the surface of \"%s\" has it", def->tag,
                             body->name);
    if (!cavity.nelement)
        return ct_scene_fail(error, "seed", "(%g, %g, %g) is in no hollow of \"%s\": move it into one",
                             def->seed[0], def->seed[1], def->seed[2], body->name);
    for (int i = 0; i < 3 * cavity.nelement; i++) cavity.tri[i] += body->first_node;
    status = check_closed(&cavity, def, error);
    return status ? status : append(scene, cavity, def->name, actuator, error);
}

// ---- cables

// Barycentric weights of the point in the tet.
static void weights_in(const ct_mesh* mesh, const int* tet, const double point[3], double weight[4]) {
    ct_vec3 edge[3], corner = ct_vec3_load(mesh->x + 3 * (size_t)tet[0]);
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(mesh->x + 3 * (size_t)tet[k + 1]), corner);
    const ct_vec3 c = ct_mat3_apply(ct_mat3_inverse(ct_mat3_columns(edge[0], edge[1], edge[2])),
                                    ct_vec3_sub(ct_vec3_load(point), corner));
    const double all[4] = {1 - c.x - c.y - c.z, c.x, c.y, c.z};
    memcpy(weight, all, sizeof all);
}

// Barycentric coordinates of the point in a tet of second order, from those between its corners, by Newton's
// method: edges that are nearly straight need few steps.
static void coordinates_in(const ct_mesh* mesh, int t, const double point[3], double l[4]) {
    const int *tet = mesh->tet + 4 * (size_t)t, *mid = mesh->mid + 6 * (size_t)t;
    for (int step = 0; step < 8; step++) {
        ct_vec3 slope[4], miss = ct_vec3_load(point);
        double N[CT_CELL_NODES];
        ct_cell_weights(l, N);
        for (int k = 0; k < 4; k++) {
            slope[k] = ct_vec3_scale(-1, ct_vec3_load(mesh->x + 3 * (size_t)tet[k]));
            for (int m = 0; m < 4; m++) {
                const int a = ct_cell_pair[k][m], node = a < 4 ? tet[a] : mid[a - 4];
                slope[k] = ct_vec3_axpy(slope[k], 4 * l[m], ct_vec3_load(mesh->x + 3 * (size_t)node));
                if (k <= m) miss = ct_vec3_axpy(miss, -N[a], ct_vec3_load(mesh->x + 3 * (size_t)node));
            }
        }
        const ct_mat3 E = ct_mat3_columns(ct_vec3_sub(slope[1], slope[0]), ct_vec3_sub(slope[2], slope[0]),
                                          ct_vec3_sub(slope[3], slope[0]));
        const ct_vec3 d = ct_mat3_apply(ct_mat3_inverse(E), miss);
        l[0] -= d.x + d.y + d.z, l[1] += d.x, l[2] += d.y, l[3] += d.z;
    }
}

// The tet that the point lies in, or barely outside of, and its weights there.
static ct_status seat_in_body(const ct_scene* scene, const ct_eyelet_def* def, int number,
                              ct_scene_eyelet* out, ct_error* error) {
    ct_status status = check_body(scene, def->index, true, error);
    if (status) return status;
    const ct_scene_body* body = &scene->body[def->index];
    double deepest = -INFINITY;
    int found = -1;
    for (int t = 0; t < body->mesh->ntet; t++) {
        const int* tet = body->mesh->tet + 4 * (size_t)t;
        double weight[4];
        weights_in(body->mesh, tet, def->point, weight);
        const double depth = fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3]));
        if (!(depth > deepest)) continue;
        deepest = depth;
        found = t;
        memcpy(out->weight, weight, sizeof weight);
        for (int k = 0; k < 4; k++) out->node[k] = body->first_node + tet[k];
    }
    out->count = 4;
    if (body->mesh->mid && found >= 0) {
        double l[4];
        memcpy(l, out->weight, sizeof l);
        coordinates_in(body->mesh, found, def->point, l);
        ct_cell_weights(l, out->weight);
        for (int k = 0; k < 6; k++)
            out->node[4 + k] = body->first_node + body->mesh->mid[6 * (size_t)found + (size_t)k];
        out->count = CT_CELL_NODES;
    }
    if (deepest >= -1e-6) return CT_OK;
    return ct_scene_fail(error, "eyelets",
                         "%d at (%g, %g, %g) is not inside of \"%s\": move it into the body", number,
                         def->point[0], def->point[1], def->point[2], body->name);
}

static void rest_of_node(const ct_scene* scene, int node, double point[3]) {
    for (int b = 0; b < scene->nbody; b++) {
        const ct_scene_body* body = &scene->body[b];
        if (node >= body->first_node && node < body->first_node + body->mesh->nvert)
            memcpy(point, body->mesh->x + 3 * (size_t)(node - body->first_node), 3 * sizeof(double));
    }
}

static ct_status seat(const ct_scene* scene, const ct_eyelet_def* def, int number, ct_scene_eyelet* out,
                      ct_error* error) {
    *out = (ct_scene_eyelet){.link = -1};
    memcpy(out->point, def->point, sizeof out->point);
    if (def->seat != CT_EYELET_NODE && !is_usable3(def->point))
        return ct_scene_fail(error, "eyelets", "%d has a point that is not finite or beyond 1e12 m", number);
    switch (def->seat) {
    case CT_EYELET_WORLD: return CT_OK;
    case CT_EYELET_BODY: return seat_in_body(scene, def, number, out, error);
    case CT_EYELET_NODE:
        if (def->index < 0 || def->index >= ct_scene_node_count(scene))
            return ct_scene_fail(error, "eyelets", "%d is on node %d: the bodies have %d nodes", number,
                                 def->index, ct_scene_node_count(scene));
        out->count = 1;
        out->node[0] = def->index;
        out->weight[0] = 1;
        rest_of_node(scene, def->index, out->point);
        return CT_OK;
    case CT_EYELET_LINK:
        if (def->index < 0 || def->index >= scene->nlink)
            return ct_scene_fail(error, "eyelets", "%d is on link %d: the scene has %d links so far", number,
                                 def->index, scene->nlink);
        out->link = def->index;
        return CT_OK;
    }
    return ct_scene_fail(error, "eyelets", "%d has a seat that is not one of ct_eyelet_seat", number);
}

static double distance(const double a[3], const double b[3]) {
    return ct_vec3_norm(ct_vec3_sub(ct_vec3_load(b), ct_vec3_load(a)));
}

static ct_status check_cable(const ct_cable_def* def, ct_error* error) {
    if (def->count < 2 || !def->eyelets)
        return ct_scene_fail(error, "eyelets", "are %d: a cable runs through 2 or more", def->count);
    if ((unsigned)def->hold > CT_CABLE_LENGTH)
        return ct_scene_fail(error, "hold", "is not one of ct_cable_hold");
    bool held = def->hold == CT_CABLE_LENGTH;
    ct_status status = check_range(def->activation_time, 0, INFINITY, "activation_time", error);
    if (!status && !held && !(def->tension >= 0 && isfinite(def->tension)))
        status = ct_scene_fail(error, "tension", "is %g N: a cable pulls and never pushes, give 0 or more",
                               def->tension);
    if (!status && held) status = check_positive(def->stiffness, "stiffness", error);
    if (!status && held && !isnan(def->length))
        status = check_range(def->length, 0, INFINITY, "length", error);
    return status;
}

ct_status ct_scene_add_cable(ct_scene* scene, const ct_cable_def* def, int* actuator, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_status status = check_cable(def, error);
    if (status) return status;
    bool held = def->hold == CT_CABLE_LENGTH;
    ct_scene_actuator cable = {.kind = CT_ACTUATOR_CABLE,
                               .control = held ? CT_CONTROL_LENGTH : CT_CONTROL_TENSION,
                               .range = held ? "a length of 0 m or more" : "a tension of 0 N or more",
                               .upper = INFINITY,
                               .size = 1,
                               .nelement = def->count,
                               .held = held,
                               .stiffness = held ? def->stiffness : 0,
                               .time = def->activation_time};
    cable.eyelet = ct_arena_alloc(&scene->arena, (size_t)def->count, sizeof *cable.eyelet);
    if (!cable.eyelet) return ct_scene_out_of_memory(error);
    for (int i = 0; i < def->count; i++) {
        status = seat(scene, &def->eyelets[i], i, &cable.eyelet[i], error);
        if (status) return status;
        if (i) cable.rest_length += distance(cable.eyelet[i - 1].point, cable.eyelet[i].point);
    }
    if (!(cable.rest_length > 0))
        return ct_scene_fail(error, "eyelets", "are all at one place: a cable needs a length");
    cable.start = !held ? def->tension : isnan(def->length) ? cable.rest_length : def->length;
    return append(scene, cable, def->name, actuator, error);
}
