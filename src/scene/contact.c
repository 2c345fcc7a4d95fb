// Obstacles of a scene and the pairs that touch or do not. Names, nodes and keys live in the scene's arena.
//
// Shapes are put into the world here, x = scale R X + t, and become what the model knows: a plane, one node
// (sphere), two nodes (capsule), or a triangle surface (box, mesh).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/point3.h"
#include "math/quat.h"
#include "scene/scene.h"
#include "scene/usable.h"
#include "shape/mesh.h"
#include "text/json.h"

enum { MOST_NODES = 500000000 };

ct_obstacle_def ct_obstacle_def_default(void) {
    return (ct_obstacle_def){.kind = CT_OBSTACLE_PLANE,
                             .normal = {0, 1, 0},
                             .half = {0.5, 0.5, 0.5},
                             .ends = {{0, 0, 0}, {0, 1, 0}},
                             .radius = 0.5,
                             .scale = 1,
                             .rotate = {1, 0, 0, 0},
                             .contact_thickness = NAN,
                             .color = {NAN, NAN, NAN}};
}

ct_pair_def ct_pair_def_default(void) {
    return (ct_pair_def){.a = "*", .b = "*", .collide = true, .friction = NAN};
}

int ct_scene_obstacle_count(const ct_scene* scene) { return scene->nobstacle; }

int ct_scene_find_obstacle(const ct_scene* scene, const char* name) {
    for (int i = 0; i < scene->nobstacle; i++)
        if (!strcmp(scene->obstacle[i].name, name)) return i;
    return -1;
}

static const ct_scene_obstacle* obstacle_at(const ct_scene* scene, int obstacle) {
    return obstacle >= 0 && obstacle < scene->nobstacle ? &scene->obstacle[obstacle] : NULL;
}

const char* ct_scene_obstacle_name(const ct_scene* scene, int obstacle) {
    const ct_scene_obstacle* found = obstacle_at(scene, obstacle);
    return found ? found->name : "";
}

ct_obstacle_kind ct_scene_obstacle_kind(const ct_scene* scene, int obstacle) {
    const ct_scene_obstacle* found = obstacle_at(scene, obstacle);
    return found ? found->kind : CT_OBSTACLE_PLANE;
}

bool ct_scene_obstacle_moves(const ct_scene* scene, int obstacle) {
    const ct_scene_obstacle* found = obstacle_at(scene, obstacle);
    return found && found->motion.nkey > 0;
}

int ct_scene_pair_count(const ct_scene* scene) { return scene->npair; }

ct_pair_def ct_scene_pair(const ct_scene* scene, int index) {
    if (index < 0 || index >= scene->npair) return ct_pair_def_default();
    const ct_scene_contact_pair* pair = &scene->pair[index];
    return (ct_pair_def){.a = pair->a, .b = pair->b, .collide = pair->collide, .friction = pair->friction};
}

// -------------------------------------------------------------------------------------------------
// Names

static int collider_count(const ct_scene* scene) { return scene->nbody + scene->nobstacle; }

static const char* collider_name(const ct_scene* scene, int collider) {
    return collider < scene->nbody ? scene->body[collider].name
                                   : scene->obstacle[collider - scene->nbody].name;
}

static const char* collider_group(const ct_scene* scene, int collider) {
    return collider < scene->nbody ? scene->body[collider].group
                                   : scene->obstacle[collider - scene->nbody].group;
}

static ct_status check_name(const char* field, const char* name, ct_error* error) {
    if (!name[0]) return ct_scene_fail(error, field, "is empty: leave it out or give a name");
    if (!strcmp(name, "*"))
        return ct_scene_fail(error, field,
                             "is \"*\", which stands for any body in contact pairs: give another");
    return CT_OK;
}

// FNV-1a, and never CT_KEY_NONE.
static uint64_t hash_of(const char* text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash >> 1;
}

static bool is_known(const ct_key_map* map, const char* text) {
    return ct_key_map_find(map, hash_of(text)) != -1;
}

static bool keep_name(ct_key_map* map, const char* text, int value) {
    int* place = ct_key_map_at(map, hash_of(text));
    if (place) *place = value;
    return place != NULL;
}

// In the maps: the body's index, OTHER for what is none.
enum { OTHER = -2 };

bool ct_scene_keep_names(ct_scene* scene, const char* name, const char* group, int body) {
    return keep_name(&scene->names, name, body >= 0 ? body : OTHER) &&
           (!group || keep_name(&scene->groups, group, OTHER));
}

int ct_scene_find_body(const ct_scene* scene, const char* name) {
    int found = ct_key_map_find(&scene->names, hash_of(name));
    if (found >= 0 && found < scene->nbody && !strcmp(scene->body[found].name, name)) return found;
    for (int b = 0; found != -1 && b < scene->nbody; b++)  // names of one hash, or one that was not added
        if (!strcmp(scene->body[b].name, name)) return b;
    return -1;
}

ct_status ct_scene_check_names(const ct_scene* scene, const char* name, const char* group, ct_error* error) {
    ct_status status = check_name("name", name, error);
    if (!status && group) status = check_name("group", group, error);
    if (status) return status;
    if (group && !strcmp(group, name))
        return ct_scene_fail(error, "group",
                             "is \"%.60s\", the same as the name: a group needs a name of its own", group);
    if (!is_known(&scene->names, name) && !is_known(&scene->groups, name) &&
        !(group && is_known(&scene->names, group)))
        return CT_OK;
    for (int i = 0; i < collider_count(scene); i++) {
        const char *other = collider_name(scene, i), *others = collider_group(scene, i),
                   *kind = i < scene->nbody ? "body" : "obstacle";
        if (!strcmp(name, other))
            return ct_scene_fail(
                error, "name", "is \"%.60s\", the same as that of another %s: names must differ", name, kind);
        if (others && !strcmp(name, others))
            return ct_scene_fail(error, "name",
                                 "is \"%.60s\", the same as the group of the %s \"%.60s\": names must differ",
                                 name, kind, other);
        if (group && !strcmp(group, other))
            return ct_scene_fail(error, "group",
                                 "is \"%.60s\", the same as the name of another %s: names must differ", group,
                                 kind);
    }
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Checks of an obstacle

static ct_status check_radius(const ct_obstacle_def* def, ct_error* error) {
    if (def->radius > 0 && isfinite(def->radius)) return CT_OK;
    return ct_scene_fail(error, "radius", "is %g: it must be above 0 (m)", def->radius);
}

static ct_status check_plane(const ct_obstacle_def* def, ct_error* error) {
    static const double zero[3];
    if (!is_usable3(def->normal) || !(distance3_hypot(def->normal, zero) > 1e-12))
        return ct_scene_fail(error, "normal",
                             "has no direction: give a finite vector of any length but zero");
    return is_usable3(def->center)
               ? CT_OK
               : ct_scene_fail(error, "center", "must be three finite numbers within 1e12");
}

static ct_status check_capsule(const ct_obstacle_def* def, ct_error* error) {
    if (!is_usable3(def->ends[0]) || !is_usable3(def->ends[1]))
        return ct_scene_fail(error, "ends", "must be two finite points within 1e12 m");
    if (!(distance3_hypot(def->ends[0], def->ends[1]) > 1e-9 * def->radius))
        return ct_scene_fail(error, "ends", "are the same point: move them apart, or use a sphere");
    return CT_OK;
}

static ct_status check_box(const ct_obstacle_def* def, ct_error* error) {
    for (int i = 0; i < 3; i++)
        if (!(def->half[i] > 0 && isfinite(def->half[i])))
            return ct_scene_fail(error, "half",
                                 "has %g: half the box's size must be above 0 along every axis (m)",
                                 def->half[i]);
    return is_usable3(def->center)
               ? CT_OK
               : ct_scene_fail(error, "center", "must be three finite numbers within 1e12");
}

static ct_status check_mesh(const ct_obstacle_def* def, ct_error* error) {
    if (!def->mesh)
        return ct_scene_fail(error, "mesh", "is missing: an obstacle of this kind needs triangles or tets");
    if (!def->mesh->ntet && !def->mesh->ntri)
        return ct_scene_fail(error, "mesh", "has neither triangles nor tets");
    ct_status status = ct_mesh_check(def->mesh, NULL, error);
    if (status && error) snprintf(error->path, sizeof error->path, "mesh");
    return status;
}

static ct_status check_shape(const ct_obstacle_def* def, ct_error* error) {
    ct_status status = CT_OK;
    switch (def->kind) {
    case CT_OBSTACLE_PLANE: return check_plane(def, error);
    case CT_OBSTACLE_SPHERE:
        status = check_radius(def, error);
        return status || is_usable3(def->center)
                   ? status
                   : ct_scene_fail(error, "center", "must be three finite numbers within 1e12");
    case CT_OBSTACLE_CAPSULE:
        status = check_radius(def, error);
        return status ? status : check_capsule(def, error);
    case CT_OBSTACLE_BOX: return check_box(def, error);
    case CT_OBSTACLE_MESH: return check_mesh(def, error);
    }
    return ct_scene_fail(error, "kind", "is not one of ct_obstacle_kind");
}

static ct_status check_placement(const ct_obstacle_def* def, ct_error* error) {
    const double* q = def->rotate;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(def->scale > 0 && isfinite(def->scale)))
        return ct_scene_fail(error, "scale", "is %g: it must be above 0", def->scale);
    if (!(fabs(norm - 1) < 1e-6))
        return ct_scene_fail(error, "rotate", "is a quaternion of length %g: it must be 1", norm);
    if (!is_usable3(def->translate))
        return ct_scene_fail(error, "translate", "must be three finite numbers within 1e12");
    for (int i = 0; i < 3; i++)
        if (!isnan(def->color[i]) && !(def->color[i] >= 0 && def->color[i] <= 1))
            return ct_scene_fail(error, "color", "has a component %g: they must be from 0 to 1",
                                 def->color[i]);
    return def->motion ? ct_scene_check_motion(def->motion, error) : CT_OK;
}

// Surfaces keep a distance, so that normals between them are defined; planes, spheres and capsules have no
// need of it.
static ct_status check_thickness(const ct_obstacle_def* def, ct_error* error) {
    bool surface = def->kind == CT_OBSTACLE_BOX || def->kind == CT_OBSTACLE_MESH;
    double value = def->contact_thickness;
    if (isnan(value) || (isfinite(value) && (surface ? value > 0 : value >= 0))) return CT_OK;
    return ct_scene_fail(error, "contact_thickness", "is %g: it must be %s 0 (m)", value,
                         surface ? "above" : "at least");
}

// -------------------------------------------------------------------------------------------------
// Shapes in the world

static ct_vec3 place(const ct_obstacle_def* def, const double point[3]) {
    ct_vec3 turned = ct_quat_rotate(ct_quat_normalise(ct_quat_load(def->rotate)),
                                    ct_vec3_scale(def->scale, ct_vec3_load(point)));
    return ct_vec3_add(turned, ct_vec3_load(def->translate));
}

static void make_plane(const ct_obstacle_def* def, ct_scene_obstacle* out) {
    ct_vec3 normal = ct_quat_rotate(ct_quat_normalise(ct_quat_load(def->rotate)), ct_vec3_load(def->normal));
    ct_vec3_store(out->point, place(def, def->center));
    ct_vec3_store(out->normal, normal);
    const double length = length3_unit(out->normal);
    ct_vec3_store(out->normal, ct_vec3_scale(1 / length, normal));
}

// Corner k has the signs of its bits; triangles outward.
static void make_box(const ct_obstacle_def* def, ct_scene_obstacle* out) {
    static const int side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int k = 0; k < 8; k++) {
        double corner[3];
        for (int a = 0; a < 3; a++) corner[a] = def->center[a] + (k >> a & 1 ? def->half[a] : -def->half[a]);
        ct_vec3_store(out->x + 3 * k, place(def, corner));
    }
    for (int s = 0; s < 6; s++) {
        const int *q = side[s], tri[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
        memcpy(out->tri + 6 * s, tri, sizeof tri);
    }
    copy3(out->center, def->center);
    copy3(out->half, def->half);
    out->scale = def->scale;
    memcpy(out->rotate, def->rotate, sizeof out->rotate);
    copy3(out->translate, def->translate);
}

// Copies the triangles (those of the tets' boundary, where there are tets) and the nodes that they use.
static ct_status make_surface(ct_scene* scene, const ct_obstacle_def* def, ct_scene_obstacle* out) {
    const ct_mesh* mesh = def->mesh;
    int *boundary = NULL, ntri = mesh->ntri;
    ct_status status = mesh->ntet ? ct_mesh_surface(mesh, &boundary, &ntri, NULL) : CT_OK;
    const int* tri = boundary ? boundary : mesh->tri;
    int* number = status ? NULL : ct_alloc((size_t)mesh->nvert, sizeof *number);
    out->tri = number ? ct_arena_copy(&scene->arena, tri, 3 * (size_t)ntri, sizeof *tri) : NULL;
    if (out->tri) {
        out->ntri = ntri;
        for (int c = 0; c < 3 * ntri; c++) number[tri[c]] = 1;
        for (int v = 0; v < mesh->nvert; v++) number[v] = number[v] ? out->nvert++ : -1;
        for (int c = 0; c < 3 * ntri; c++) out->tri[c] = number[tri[c]];
        out->x = ct_arena_alloc(&scene->arena, 3 * (size_t)out->nvert, sizeof *out->x);
    }
    for (int v = 0; out->x && v < mesh->nvert; v++)
        if (number[v] >= 0)
            ct_vec3_store(out->x + 3 * (size_t)number[v], place(def, mesh->x + 3 * (size_t)v));
    ct_free(number);
    ct_free(boundary);
    return out->x ? CT_OK : CT_OUT_OF_MEMORY;
}

static ct_status make_shape(ct_scene* scene, const ct_obstacle_def* def, ct_scene_obstacle* out) {
    static const int nodes[] = {
        [CT_OBSTACLE_PLANE] = 0, [CT_OBSTACLE_SPHERE] = 1, [CT_OBSTACLE_CAPSULE] = 2, [CT_OBSTACLE_BOX] = 8};
    if (def->kind == CT_OBSTACLE_MESH) return make_surface(scene, def, out);
    out->nvert = nodes[def->kind];
    out->ntri = def->kind == CT_OBSTACLE_BOX ? 12 : 0;
    out->x = ct_arena_alloc(&scene->arena, 3 * (size_t)out->nvert, sizeof *out->x);
    out->tri = ct_arena_alloc(&scene->arena, 3 * (size_t)out->ntri, sizeof *out->tri);
    if (!out->x || !out->tri) return CT_OUT_OF_MEMORY;
    if (def->kind == CT_OBSTACLE_PLANE) make_plane(def, out);
    if (def->kind == CT_OBSTACLE_BOX) make_box(def, out);
    if (def->kind == CT_OBSTACLE_SPHERE) ct_vec3_store(out->x, place(def, def->center));
    for (int k = 0; def->kind == CT_OBSTACLE_CAPSULE && k < 2; k++)
        ct_vec3_store(out->x + 3 * k, place(def, def->ends[k]));
    if (def->kind == CT_OBSTACLE_SPHERE || def->kind == CT_OBSTACLE_CAPSULE)
        out->radius = def->scale * def->radius;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Adding

static char* keep_text(ct_scene* scene, const char* text) {
    return ct_arena_copy(&scene->arena, text, strlen(text) + 1, 1);
}

// A rotation of length 1 to round-off, which stays as it is when the scene is written and read again.
static void normalise(double q[4]) {
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4 && fabs(length - 1) > 1e-15; i++) q[i] /= length;
}

static ct_status fill_obstacle(ct_scene* scene, const ct_obstacle_def* def, const char* name,
                               ct_scene_obstacle* out) {
    *out = (ct_scene_obstacle){.kind = def->kind, .thickness = def->contact_thickness, .hidden = def->hidden};
    for (int i = 0; i < 3; i++) out->color[i] = isnan(def->color[i]) ? 0.6 : def->color[i];
    out->name = keep_text(scene, name);
    out->group = def->group ? keep_text(scene, def->group) : NULL;
    if (!out->name || (def->group && !out->group)) return CT_OUT_OF_MEMORY;
    if (def->motion && def->motion->nkey) {
        out->motion = (ct_scene_driver){
            .nkey = def->motion->nkey, .smooth = def->motion->smooth, .repeat = def->motion->repeat};
        memcpy(out->motion.center, def->motion->center, sizeof out->motion.center);
        out->motion.key = ct_arena_copy(&scene->arena, def->motion->key, (size_t)def->motion->nkey,
                                        sizeof *def->motion->key);
        if (!out->motion.key) return CT_OUT_OF_MEMORY;
    }
    return make_shape(scene, def, out);
}

static ct_status check_placed(const ct_scene* scene, const ct_scene_obstacle* obstacle, ct_error* error) {
    bool finite = is_usable3(obstacle->point) && isfinite(obstacle->radius);
    for (int v = 0; v < obstacle->nvert; v++) finite = finite && is_usable3(obstacle->x + 3 * (size_t)v);
    if (!finite)
        return ct_scene_fail(
            error, "scale",
            "makes positions that are not finite or beyond 1e12 m, with rotate and translate");
    if (obstacle->nvert > MOST_NODES - ct_scene_model_node_count(scene))
        return ct_scene_fail(error, "mesh", "makes the scene larger than %d nodes", (int)MOST_NODES);
    return CT_OK;
}

ct_status ct_scene_add_obstacle(ct_scene* scene, const ct_obstacle_def* def, int* obstacle, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    char generated[32];
    snprintf(generated, sizeof generated, "obstacle%d", scene->nobstacle);
    const char* name = def->name ? def->name : generated;
    ct_status status = ct_scene_check_names(scene, name, def->group, error);
    if (!status) status = check_shape(def, error);
    if (!status) status = check_placement(def, error);
    if (!status) status = check_thickness(def, error);
    if (status) return status;
    ct_scene_obstacle added;
    ct_scene_obstacle* grown = ct_resize(scene->obstacle, (size_t)scene->nobstacle + 1, sizeof *grown);
    if (grown) scene->obstacle = grown;
    ct_obstacle_def own = *def;
    normalise(own.rotate);
    if (!grown || fill_obstacle(scene, &own, name, &added))
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    status = check_placed(scene, &added, error);
    if (status) return status;
    if (!ct_scene_keep_names(scene, added.name, added.group, -1))
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (obstacle) *obstacle = scene->nobstacle;
    scene->obstacle[scene->nobstacle++] = added;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Pairs

ct_status ct_scene_add_pair(ct_scene* scene, const ct_pair_def* def, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    if (!def->a || !def->a[0] || !def->b || !def->b[0])
        return ct_scene_fail(error, "between",
                             "needs two names: of bodies, obstacles or groups, or \"*\" for any");
    if (!isnan(def->friction) && !(def->friction >= 0 && isfinite(def->friction)))
        return ct_scene_fail(error, "friction", "is %g: a coefficient of friction is at least 0",
                             def->friction);
    ct_scene_contact_pair pair = {.a = keep_text(scene, def->a),
                                  .b = keep_text(scene, def->b),
                                  .collide = def->collide,
                                  .friction = def->friction};
    ct_scene_contact_pair* grown = ct_resize(scene->pair, (size_t)scene->npair + 1, sizeof *grown);
    if (grown) scene->pair = grown;
    if (!grown || !pair.a || !pair.b) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    scene->pair[scene->npair++] = pair;
    return CT_OK;
}

bool ct_scene_pair_means(const ct_scene* scene, const char* name, int collider) {
    const char* group = collider_group(scene, collider);
    return !strcmp(name, "*") || !strcmp(name, collider_name(scene, collider)) ||
           (group && !strcmp(name, group));
}

// Fails with the nearest of the names that pairs may use.
static ct_status fail_unknown(const ct_scene* scene, const char* field, const char* name, ct_error* error) {
    size_t count = 2 * (size_t)collider_count(scene), at = 0;
    const char** known = ct_alloc(count + 1, sizeof *known);
    if (!known) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < collider_count(scene); i++) {
        known[at++] = collider_name(scene, i);
        if (collider_group(scene, i)) known[at++] = collider_group(scene, i);
    }
    const char* nearest = ct_json_nearest(name, known);
    if (!nearest) nearest = known[0];
    ct_status status =
        ct_scene_fail(error, field, "names \"%.60s\", which is not a body, obstacle or group%s%.60s%s", name,
                      nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    ct_free(known);
    return status;
}

ct_status ct_scene_check_pairs(const ct_scene* scene, ct_error* error) {
    for (int p = 0; p < scene->npair; p++)
        for (int side = 0; side < 2; side++) {
            const char* name = side ? scene->pair[p].b : scene->pair[p].a;
            bool known = false;
            for (int i = 0; i < collider_count(scene) && !known; i++)
                known = ct_scene_pair_means(scene, name, i);
            char field[64];
            snprintf(field, sizeof field, "contact.pairs[%d].between[%d]", p, side);
            if (!known) return fail_unknown(scene, field, name, error);
        }
    return CT_OK;
}
