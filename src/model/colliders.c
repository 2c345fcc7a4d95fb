// Compiling what can touch what; see colliders.h.
//
// Obstacles become nodes without mass behind all others, each an entry of the model's drives (without keys:
// pinned). Colliders' surfaces are those of the model; a node, edge or triangle belongs to one collider, for
// nodes are not shared between bodies.
#include "model/colliders.h"

#include <math.h>
#include <string.h>

#include "shape/mesh.h"

static const double thickness_share = 1e-2;  // of the mean edge of a solid, where no thickness is given

// ---- nodes of obstacles --------------------------------------------------------------------

// Appends a drive with the nodes [first, first + count).
static ct_status append_drive(ct_model* model, const ct_scene_driver* motion, int first, int count) {
    ct_scene_driver* drive = &model->inputs.drive[model->inputs.ndrive];
    *drive = *motion;
    drive->key = ct_arena_copy(&model->arena, motion->key, (size_t)motion->nkey, sizeof(ct_keyframe));
    drive->node = ct_arena_alloc(&model->arena, (size_t)count, sizeof(int));
    drive->nnode = count;
    if (!drive->key || !drive->node) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) drive->node[k] = first + k;
    model->inputs.ndrive++;
    return CT_OK;
}

ct_status ct_colliders_place(ct_model* model, const ct_scene* scene) {
    if (!scene->nobstacle) return CT_OK;
    int first = model->nvert;
    for (int i = 0; i < scene->nobstacle; i++) first -= scene->obstacle[i].nvert;
    ct_scene_driver* drives =
        ct_arena_alloc(&model->arena, (size_t)(model->inputs.ndrive + scene->nobstacle), sizeof *drives);
    if (!drives) return CT_OUT_OF_MEMORY;
    if (model->inputs.ndrive)
        memcpy(drives, model->inputs.drive, (size_t)model->inputs.ndrive * sizeof *drives);
    model->inputs.drive = drives;
    for (int i = 0; i < scene->nobstacle; i++) {
        const ct_scene_obstacle* obstacle = &scene->obstacle[i];
        if (!obstacle->nvert) continue;
        memcpy(model->geometry.rest + 3 * (size_t)first, obstacle->x,
               3 * (size_t)obstacle->nvert * sizeof(double));
        ct_status status = append_drive(model, &obstacle->motion, first, obstacle->nvert);
        if (status == CT_OK)
            status = ct_model_append_surface(model, obstacle->tri, obstacle->ntri, first, scene->nbody + i);
        if (status != CT_OK) return status;
        first += obstacle->nvert;
    }
    return CT_OK;
}

// ---- colliders -----------------------------------------------------------------------------

static ct_status name_colliders(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    ct_arena* arena = &model->arena;
    for (int i = 0; i < c->ncollider; i++) {
        const char* name = i < scene->nbody ? scene->body[i].name : scene->obstacle[i - scene->nbody].name;
        c->collider[i].name = ct_arena_copy(arena, name, strlen(name) + 1, 1);
        if (i >= scene->nbody) continue;
        memcpy(c->collider[i].color, scene->body[i].color, sizeof c->collider[i].color);
        c->collider[i].sheet = ct_scene_sheet_size(&scene->body[i]) > 0;
    }
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

// Planes, and what the others are: obstacles' nodes are the model's last, their drives its last.
static ct_status describe_obstacles(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    int node = model->nvert, drive = model->inputs.ndrive;
    for (int i = 0; i < scene->nobstacle; i++) {
        node -= scene->obstacle[i].nvert;
        drive -= scene->obstacle[i].nvert > 0;
    }
    for (int i = 0; i < scene->nobstacle; i++) {
        const ct_scene_obstacle* obstacle = &scene->obstacle[i];
        ct_collider* collider = &c->collider[scene->nbody + i];
        collider->kind = obstacle->kind;
        collider->radius = obstacle->radius;
        collider->hidden = obstacle->hidden;
        memcpy(collider->color, obstacle->color, sizeof collider->color);
        collider->first_node = node;
        collider->nnode = obstacle->nvert;
        node += obstacle->nvert;
        if (obstacle->nvert) {
            if (obstacle->motion.nkey) collider->motion = &model->inputs.drive[drive];
            drive++;
            continue;
        }
        ct_plane* plane = &c->plane[c->nplane++];
        plane->collider = scene->nbody + i;
        memcpy(plane->point, obstacle->point, sizeof plane->point);
        memcpy(plane->normal, obstacle->normal, sizeof plane->normal);
        plane->motion = obstacle->motion;
        plane->motion.key = ct_arena_copy(&model->arena, obstacle->motion.key, (size_t)obstacle->motion.nkey,
                                          sizeof(ct_keyframe));
    }
    return model->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

// ---- primitives ----------------------------------------------------------------------------

// owner (nvert): the collider of each node on a surface, -1 elsewhere.
static void find_owners(const ct_model* model, int* owner) {
    const ct_collision* c = &model->collision;
    for (int v = 0; v < model->nvert; v++) owner[v] = -1;
    for (int k = 0; k < 3 * model->nsurface; k++)
        owner[model->geometry.surface[k]] = model->geometry.surface_owner[k / 3];
    for (int i = model->nbody; i < c->ncollider; i++)
        for (int v = c->collider[i].first_node; v < c->collider[i].first_node + c->collider[i].nnode; v++)
            owner[v] = i;
}

static ct_status list_nodes(ct_model* model, const int* owner) {
    ct_collision* c = &model->collision;
    for (int v = 0; v < model->nvert; v++) c->nnode += owner[v] >= 0;
    c->node = ct_arena_alloc(&model->arena, (size_t)c->nnode, sizeof(int));
    c->node_owner = ct_arena_alloc(&model->arena, (size_t)c->nnode, sizeof(int));
    if (model->arena.failed) return CT_OUT_OF_MEMORY;
    for (int v = 0, at = 0; v < model->nvert; v++) {
        if (owner[v] < 0) continue;
        c->node[at] = v;
        c->node_owner[at++] = owner[v];
    }
    return CT_OK;
}

// The edges of the surface, then those of the capsules.
static ct_status list_edges(ct_model* model, const int* owner) {
    ct_collision* c = &model->collision;
    ct_mesh_edge* edge = NULL;
    int count = 0;
    ct_status status =
        model->nsurface ? ct_mesh_edges(model->nvert, model->nsurface, model->geometry.surface, &edge, &count)
                        : CT_OK;
    if (status != CT_OK) return status;
    size_t most = (size_t)count + (size_t)model->nobstacle;
    c->edge = ct_arena_alloc(&model->arena, 2 * most, sizeof(int));
    c->edge_owner = ct_arena_alloc(&model->arena, most, sizeof(int));
    if (!model->arena.failed) {
        for (int e = 0; e < count; e++) {
            memcpy(c->edge + 2 * e, edge[e].node, 2 * sizeof(int));
            c->edge_owner[e] = owner[edge[e].node[0]];
        }
        c->nedge = count;
        for (int i = model->nbody; i < c->ncollider; i++) {
            if (c->collider[i].kind != CT_OBSTACLE_CAPSULE) continue;
            c->edge[2 * c->nedge] = c->collider[i].first_node;
            c->edge[2 * c->nedge + 1] = c->collider[i].first_node + 1;
            c->edge_owner[c->nedge++] = i;
        }
    }
    ct_free(edge);
    return model->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static ct_status list_primitives(ct_model* model) {
    ct_collision* c = &model->collision;
    int* owner = ct_alloc((size_t)model->nvert, sizeof *owner);
    if (!owner) return CT_OUT_OF_MEMORY;
    find_owners(model, owner);
    ct_status status = list_nodes(model, owner);
    if (status == CT_OK) status = list_edges(model, owner);
    ct_free(owner);
    c->ntri = model->nsurface;
    c->tri = model->geometry.surface;
    c->tri_owner = model->geometry.surface_owner;
    return status;
}

// ---- thickness -----------------------------------------------------------------------------

// mean (ncollider): length of the surface's edges at rest, 0 without edges; scratch: ncollider.
static void mean_edges(const ct_model* model, double* mean, int* count) {
    const ct_collision* c = &model->collision;
    for (int e = 0; e < c->nedge; e++) {
        const double *a = model->geometry.rest + 3 * (size_t)c->edge[2 * e],
                     *b = model->geometry.rest + 3 * (size_t)c->edge[2 * e + 1];
        mean[c->edge_owner[e]] += hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
        count[c->edge_owner[e]]++;
    }
    for (int i = 0; i < c->ncollider; i++) mean[i] = count[i] ? mean[i] / count[i] : 0;
}

// Half the mean thickness of a sheet.
static double half_sheet(const ct_scene_body* body) {
    double sum = 0;
    int count = ct_scene_sheet_size(body);
    for (int e = 0; e < count; e++) sum += body->tet_material[e].thickness;
    return sum / (2 * count);
}

// The smallest thickness of the bodies that the obstacle touches; 0: of none.
static double thickness_of_bodies(const ct_model* model, int obstacle) {
    const ct_collision* c = &model->collision;
    double least = INFINITY;
    for (int i = 0; i < model->nbody; i++)
        if (c->collide[ct_collision_rule(c, obstacle, i)]) least = fmin(least, c->collider[i].thickness);
    return isfinite(least) ? least : 0;
}

// What is not given: of bodies half a sheet's thickness, or a share of the mean edge; of obstacles that are
// surfaces that of what touches them, for their own triangles may be of any size.
static ct_status choose_thickness(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    ct_arena scratch = {0};
    double* mean = ct_arena_alloc(&scratch, (size_t)c->ncollider, sizeof *mean);
    int* count = ct_arena_alloc(&scratch, (size_t)c->ncollider, sizeof *count);
    if (!scratch.failed) mean_edges(model, mean, count);
    for (int i = 0; !scratch.failed && i < scene->nbody; i++) {
        const ct_scene_body* body = &scene->body[i];
        c->collider[i].thickness = !isnan(body->contact_thickness) ? body->contact_thickness
                                   : c->collider[i].sheet          ? half_sheet(body)
                                                                   : thickness_share * mean[i];
    }
    for (int i = 0; i < scene->nobstacle; i++) {
        const ct_scene_obstacle* obstacle = &scene->obstacle[i];
        c->collider[scene->nbody + i].thickness = !isnan(obstacle->thickness) ? obstacle->thickness
                                                  : obstacle->ntri
                                                      ? thickness_of_bodies(model, scene->nbody + i)
                                                      : 0;
    }
    ct_status status = scratch.failed ? CT_OUT_OF_MEMORY : CT_OK;
    ct_arena_free(&scratch);
    return status;
}

// ---- pairs ---------------------------------------------------------------------------------

// Parts every kind by whether its colliders are meant by `name`. split: ncollider, scratch.
static void part_kinds(ct_collision* c, const ct_scene* scene, const char* name, int* split) {
    const int before = c->nkind;
    int* meant = split + c->ncollider;  // of each kind: one that is meant, or -1; split: one that is not
    for (int k = 0; k < before; k++) split[k] = meant[k] = -1;
    for (int i = 0; i < c->ncollider; i++)
        *(ct_scene_pair_means(scene, name, i) ? &meant[c->kind[i]] : &split[c->kind[i]]) = i;
    // those that are meant of a kind that has both move to a new one
    for (int k = 0; k < before; k++) meant[k] = meant[k] >= 0 && split[k] >= 0 ? c->nkind++ : -1;
    for (int i = 0; i < c->ncollider; i++)
        if (meant[c->kind[i]] >= 0 && ct_scene_pair_means(scene, name, i)) c->kind[i] = meant[c->kind[i]];
}

static ct_status find_kinds(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    const size_t n = (size_t)c->ncollider;
    c->nkind = n ? 1 : 0;
    c->kind = ct_arena_alloc(&model->arena, n, sizeof(int));
    int* scratch = ct_alloc(2 * n, sizeof(int));
    if (!c->kind || !scratch) return ct_free(scratch), CT_OUT_OF_MEMORY;
    for (int p = 0; p < scene->npair; p++) {
        part_kinds(c, scene, scene->pair[p].a, scratch);
        part_kinds(c, scene, scene->pair[p].b, scratch);
    }
    ct_free(scratch);
    return CT_OK;
}

static ct_status apply_pairs(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    if (find_kinds(model, scene) != CT_OK) return CT_OUT_OF_MEMORY;
    size_t n = (size_t)c->nkind;
    c->collide = ct_arena_alloc(&model->arena, n * n, 1);
    c->friction = ct_arena_alloc(&model->arena, n * n, sizeof(int));
    model->friction = ct_arena_alloc(&model->arena, 1 + (size_t)scene->npair, sizeof(double));
    int* one = ct_arena_alloc(&model->arena, n, sizeof(int));  // of each kind
    if (model->arena.failed) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < c->ncollider; i++) one[c->kind[i]] = i;
    memset(c->collide, 1, n * n);
    c->coefficient = model->friction;
    model->friction[0] = scene->settings.contact.friction;
    model->nfriction = 1;
    for (int p = 0; p < scene->npair; p++) {
        const ct_scene_contact_pair* pair = &scene->pair[p];
        int coefficient = isnan(pair->friction) ? -1 : model->nfriction++;
        if (coefficient >= 0) model->friction[coefficient] = pair->friction;
        for (size_t i = 0; i < n; i++) {
            if (!ct_scene_pair_means(scene, pair->a, one[i])) continue;
            for (size_t j = 0; j < n; j++) {
                if (!ct_scene_pair_means(scene, pair->b, one[j])) continue;
                c->collide[i * n + j] = c->collide[j * n + i] = pair->collide;
                if (coefficient >= 0) c->friction[i * n + j] = c->friction[j * n + i] = coefficient;
            }
        }
    }
    return CT_OK;
}

ct_status ct_colliders_create(ct_model* model, const ct_scene* scene) {
    ct_collision* c = &model->collision;
    c->nvert = model->nvert;
    c->rest = model->geometry.rest;
    c->link_parent = model->tree.parent;
    c->ncollider = scene->nbody + scene->nobstacle;
    c->collider = ct_arena_alloc(&model->arena, (size_t)c->ncollider, sizeof *c->collider);
    c->plane = ct_arena_alloc(&model->arena, (size_t)scene->nobstacle, sizeof *c->plane);
    if (model->arena.failed) return CT_OUT_OF_MEMORY;
    ct_status status = name_colliders(model, scene);
    if (status == CT_OK) status = describe_obstacles(model, scene);
    if (status == CT_OK) status = list_primitives(model);
    if (status == CT_OK) status = apply_pairs(model, scene);
    if (status == CT_OK) status = choose_thickness(model, scene);
    return status;
}

ct_status ct_colliders_hang(ct_model* model) {
    int* rigid = ct_arena_alloc(&model->arena, (size_t)model->nvert, sizeof(int));
    if (!rigid) return CT_OUT_OF_MEMORY;
    for (int v = 0; v < model->nvert; v++) {
        int link = model->tree.node_link[v];
        rigid[v] = link >= 0 ? link : model->row[v] >= 0 ? CT_RIGID_NONE : CT_RIGID_DRIVEN;
    }
    ct_collision* c = &model->collision;
    c->node_rigid = rigid;
    for (int i = 0; i < c->ncollider; i++) c->collider[i].driven = true;
    for (int i = 0; i < c->nnode; i++)
        if (rigid[c->node[i]] != CT_RIGID_DRIVEN) c->collider[c->node_owner[i]].driven = false;
    return CT_OK;
}
