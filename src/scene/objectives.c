// What a scene is to reach: terms of an objective, their targets and windows of time, resolved and checked
// when they are added. Names, node sets and targets live in the scene's arena.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/point3.h"
#include "scene/keys.h"
#include "scene/scene.h"
#include "skeleton/joint.h"

ct_objective_def ct_objective_def_default(void) {
    return (ct_objective_def){.kind = CT_OBJECTIVE_POINT, .start = NAN, .stop = NAN, .weight = 1};
}

static bool is_of_control(ct_objective_kind kind) {
    return kind == CT_OBJECTIVE_EFFORT || kind == CT_OBJECTIVE_SMOOTHNESS;
}

static ct_status check_window(const ct_objective_def* def, ct_error* error) {
    if (isnan(def->start) && isnan(def->stop)) return CT_OK;
    if (isnan(def->start) || isinf(def->start)) return ct_scene_fail(error, "from", "must be a time");
    if (isnan(def->stop)) return ct_scene_fail(error, "to", "must be a time");
    if (def->start < 0) return ct_scene_fail(error, "from", "is %g: times begin at 0", def->start);
    if (!(def->stop >= def->start))
        return ct_scene_fail(error, "to", "is %g: it must not be before from, which is %g", def->stop,
                             def->start);
    if (is_of_control(def->kind) && def->stop == def->start)
        return ct_scene_fail(error, "time",
                             "is a single one, but this term is a mean over steps: give \"from\" and \"to\"");
    return CT_OK;
}

// Of length 1, or zeros.
static ct_status copy_axis(const ct_objective_def* def, ct_scene_objective* o, ct_error* error) {
    const double *a = def->axis, length = length3_unit(a);
    if (!isfinite(length)) return ct_scene_fail(error, "axis", "must be three finite numbers");
    if (length > 0 && (is_of_control(def->kind) || def->kind == CT_OBJECTIVE_SHAPE))
        return ct_scene_fail(error, "axis", "is for points, velocities and joints: remove it");
    if (def->linear && !(length > 0))
        return ct_scene_fail(error, "axis", "is missing: a linear term counts along a direction");
    for (int i = 0; i < 3; i++) o->axis[i] = length > 0 ? a[i] / length : 0;
    return CT_OK;
}

static ct_status check_path(const ct_objective_def* def, ct_error* error) {
    if (def->npath < 1 || !def->path)
        return ct_scene_fail(error, "target", "is missing: give a \"target\" or a \"path\" along time");
    for (int i = 0; i < def->npath; i++) {
        const ct_keyframe* key = &def->path[i];
        char field[48];
        snprintf(field, sizeof field, "path[%d]", i);
        for (int a = 0; a < 3; a++)
            if (!isfinite(key->time) || !isfinite(key->translate[a]))
                return ct_scene_fail(error, field, "has a number that is not finite");
        if (i && !(key->time > key[-1].time))
            return ct_scene_fail(
                error, field, "has time %g, not after %g of the key before it: keys must be in order of time",
                key->time, key[-1].time);
    }
    return CT_OK;
}

// The nodes, in the arena: all, sorted, or for a shape as given.
static ct_status copy_nodes(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                            ct_error* error) {
    int all = ct_scene_node_count(scene);
    if (!all) return ct_scene_fail(error, "select", "has nothing to select from: add bodies first");
    if (!def->count) {
        o->nnode = all;
        o->node = ct_arena_alloc(&scene->arena, (size_t)all, sizeof *o->node);
        for (int i = 0; o->node && i < all; i++) o->node[i] = i;
        return o->node ? CT_OK : ct_scene_out_of_memory(error);
    }
    int* sorted;
    ct_status status = ct_scene_sorted_nodes(scene, def->nodes, def->count, &sorted, &o->nnode, error);
    if (status) return status;
    bool shape = def->kind == CT_OBJECTIVE_SHAPE;
    if (shape && o->nnode != def->count)
        status = ct_scene_fail(error, "select", "has a node twice: each takes one target");
    else
        o->node =
            ct_arena_copy(&scene->arena, shape ? def->nodes : sorted, (size_t)o->nnode, sizeof *o->node);
    ct_free(sorted);
    return status ? status : o->node ? CT_OK : ct_scene_out_of_memory(error);
}

static ct_status copy_shape(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                            ct_error* error) {
    if (!def->shape)
        return ct_scene_fail(error, "shape", "is missing: give a target position for every node");
    for (size_t i = 0; i < 3 * (size_t)o->nnode; i++) {
        if (isfinite(def->shape[i])) continue;
        if (error) error->element = (long)(i / 3);
        return ct_scene_fail(error, "shape", "has a number that is not finite in row %zu", i / 3);
    }
    o->shape = ct_arena_copy(&scene->arena, def->shape, 3 * (size_t)o->nnode, sizeof *o->shape);
    return o->shape ? CT_OK : ct_scene_out_of_memory(error);
}

static ct_status copy_path(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                           ct_error* error) {
    ct_status status = check_path(def, error);
    if (status) return status;
    o->npath = def->npath;
    o->path = ct_arena_copy(&scene->arena, def->path, (size_t)def->npath, sizeof *o->path);
    if (!o->path) return ct_scene_out_of_memory(error);
    for (int i = 0; i < o->npath; i++) memset(o->path[i].rotate, 0, sizeof o->path[i].rotate);
    return CT_OK;
}

static ct_status copy_targets(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                              ct_error* error) {
    if (is_of_control(def->kind)) {
        if (def->control) return ct_scene_name_control(scene, def->control, &o->control, error);
        return scene->ncontrol ? CT_OK
                               : ct_scene_fail(error, "type", "needs a control, but the scene has none");
    }
    if (def->kind == CT_OBJECTIVE_JOINT) {
        if (!def->link) return ct_scene_fail(error, "link", "is missing: name the link whose joint is meant");
        o->link = ct_scene_find_link(scene, def->link);
        if (o->link < 0)
            return ct_scene_fail(error, "link", "is \"%.60s\": there is no link of that name", def->link);
        if (!ct_joint_type_of(scene->link[o->link].joint.kind)->law)
            return ct_scene_fail(error, "link",
                                 "is \"%.60s\", whose joint is fixed or free and takes no target", def->link);
        return copy_path(scene, def, o, error);
    }
    ct_status status = copy_nodes(scene, def, o, error);
    if (status) return status;
    return def->kind == CT_OBJECTIVE_SHAPE ? copy_shape(scene, def, o, error)
                                           : copy_path(scene, def, o, error);
}

ct_status ct_scene_add_objective(ct_scene* scene, const ct_objective_def* def, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    if ((unsigned)def->kind > CT_OBJECTIVE_JOINT)
        return ct_scene_fail(error, "type", "is not one of ct_objective_kind");
    if (!isfinite(def->weight)) return ct_scene_fail(error, "weight", "must be a finite number");
    ct_scene_objective objective = {.kind = def->kind,
                                    .uniform = def->uniform,
                                    .relative = def->relative,
                                    .distance = def->distance,
                                    .linear = def->linear,
                                    .start = def->start,
                                    .stop = def->stop,
                                    .control = -1,
                                    .link = -1,
                                    .weight = def->weight};
    const char* name = def->name ? def->name : ct_scene_choices[CT_CHOICE_OBJECTIVE].words[def->kind];
    ct_status status = ct_scene_check_name(name, error);
    if (!status) status = check_window(def, error);
    if (!status) status = copy_axis(def, &objective, error);
    if (!status) status = copy_targets(scene, def, &objective, error);
    if (status) return status;
    objective.name = ct_arena_copy(&scene->arena, name, strlen(name) + 1, 1);
    ct_scene_objective* grown = ct_resize(scene->objective, (size_t)scene->nobjective + 1, sizeof objective);
    if (grown) scene->objective = grown;
    if (!grown || !objective.name) return ct_scene_out_of_memory(error);
    scene->objective[scene->nobjective++] = objective;
    return CT_OK;
}
