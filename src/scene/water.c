// Water in scenes: what the user says about it.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/point3.h"
#include "scene/scene.h"
#include "scene/usable.h"

ct_water_def ct_water_def_default(void) {
    return (ct_water_def){.density = 1000,
                          .drag = {0.1, 0.7, 1.3, 1.9},
                          .thrust = {1.6, 1.2, 0},
                          .buoyancy = true,
                          .level = NAN,
                          .layer = NAN,
                          .slow = 1e-2};
}

// Bodies that a name means: one, or all of a group.
static bool mark_bodies(const ct_scene* scene, const char* name, unsigned char* wet) {
    bool found = false;
    for (int b = 0; b < scene->nbody; b++) {
        const ct_scene_body* body = &scene->body[b];
        if (strcmp(body->name, name) && !(body->group && !strcmp(body->group, name))) continue;
        wet[b] = 1;
        found = true;
    }
    return found;
}

static ct_status check_points(const char* name, const double* point, int count, ct_error* error) {
    for (int i = 0; i < count; i++)
        if (!(point[i] >= 0 && isfinite(point[i])))
            return ct_scene_fail(
                error, name,
                "has %g: coefficients must not be negative, or still water would feed energy into the body",
                point[i]);
    return CT_OK;
}

static ct_status check_def(const ct_water_def* def, ct_error* error) {
    if (!(def->density > 0 && isfinite(def->density)))
        return ct_scene_fail(error, "density", "is %g: it must be above 0, for example 1000", def->density);
    if (!is_usable3(def->current))
        return ct_scene_fail(error, "current", "must be three finite numbers within 1e12");
    if (isinf(def->level))
        return ct_scene_fail(error, "level",
                             "must be a finite height; leave it out when everything is submerged");
    if (!isnan(def->layer) && !(def->layer > 0 && isfinite(def->layer)))
        return ct_scene_fail(error, "layer", "is %g: it must be above 0", def->layer);
    if (!(def->slow > 0 && isfinite(def->slow)))
        return ct_scene_fail(error, "slow", "is %g: it must be above 0, a speed well below those that matter",
                             def->slow);
    ct_status status = check_points("drag", def->drag, CT_WATER_DRAG, error);
    return status ? status : check_points("thrust", def->thrust, CT_WATER_THRUST, error);
}

ct_status ct_scene_set_water(ct_scene* scene, const ct_water_def* def, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (!def) {
        scene->water.enabled = false;
        return CT_OK;
    }
    ct_status status = check_def(def, error);
    if (status) return status;
    ct_scene_water water = {.enabled = true, .all = !def->bodies, .def = *def, .nbody = scene->nbody};
    water.def.bodies = NULL;
    water.wet = ct_arena_alloc(&scene->arena, (size_t)scene->nbody, 1);
    if (!water.wet) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (def->bodies && def->nbody < 1)
        return ct_scene_fail(error, "bodies", "is empty: name at least one, or leave it out for all");
    for (int i = 0; def->bodies && i < def->nbody; i++)
        if (!mark_bodies(scene, def->bodies[i], water.wet))
            return ct_scene_fail(error, "bodies",
                                 "has \"%.60s\": there is no body or group of bodies of that name",
                                 def->bodies[i]);
    scene->water = water;
    return CT_OK;
}
