// Contact as JSON: its settings, pairs, obstacles, and the water.
#include <math.h>
#include <string.h>

#include "write/write.h"

void ct_write_contact(ct_json_put* out, const ct_scene* scene) {
    const ct_contact_settings *c = &scene->settings.contact, usual = ct_settings_default().contact;
    ct_put_object(out, "contact");
    ct_put_text(out, "method", ct_contact_method_name(c->method));
    if (c->method == CT_CONTACT_METHOD_SPLIT || c->split != usual.split)
        ct_put_text(out, "split", ct_split_name(c->split));
    ct_put_number(out, "friction", c->friction);
    ct_put_integer(out, "max_passes", c->max_passes);
    if (c->truncate) ct_put_integer(out, "truncate", c->truncate);
    if (scene->npair) ct_put_array(out, "pairs");
    for (int i = 0; i < scene->npair; i++) {
        const ct_scene_contact_pair* pair = &scene->pair[i];
        ct_put_object(out, NULL);
        ct_put_array(out, "between");
        ct_put_text(out, NULL, pair->a);
        ct_put_text(out, NULL, pair->b);
        ct_put_end(out);
        if (!pair->collide) ct_put_bool(out, "collide", false);
        if (!isnan(pair->friction)) ct_put_number(out, "friction", pair->friction);
        ct_put_end(out);
    }
    if (scene->npair) ct_put_end(out);
    ct_put_end(out);
}

static void write_box(ct_json_put* out, const ct_scene_obstacle* o) {
    ct_put_numbers(out, "center", o->center, 3);
    ct_put_numbers(out, "half", o->half, 3);
}

static void write_placement(ct_json_put* out, const ct_scene_obstacle* o) {
    ct_put_number(out, "scale", o->scale);
    ct_put_object(out, "rotate");
    ct_put_numbers(out, "quaternion", o->rotate, 4);
    ct_put_end(out);
    ct_put_numbers(out, "translate", o->translate, 3);
}

// In the world; a box as it was given.
static void write_shape(ct_json_put* out, const ct_scene_obstacle* o) {
    ct_put_object(out, ct_obstacle_kind_name(o->kind));
    switch (o->kind) {
    case CT_OBSTACLE_PLANE:
        ct_put_numbers(out, "point", o->point, 3);
        ct_put_numbers(out, "normal", o->normal, 3);
        break;
    case CT_OBSTACLE_SPHERE:
        ct_put_numbers(out, "center", o->x, 3);
        ct_put_number(out, "radius", o->radius);
        break;
    case CT_OBSTACLE_CAPSULE:
        ct_put_rows(out, "ends", o->x, 2, 3);
        ct_put_number(out, "radius", o->radius);
        break;
    case CT_OBSTACLE_BOX: write_box(out, o); break;
    case CT_OBSTACLE_MESH:
        ct_put_rows(out, "nodes", o->x, (size_t)o->nvert, 3);
        ct_put_integer_rows(out, "triangles", o->tri, (size_t)o->ntri, 3);
    }
    ct_put_end(out);
    if (o->kind == CT_OBSTACLE_BOX) write_placement(out, o);
}

void ct_write_obstacles(ct_json_put* out, const ct_scene* scene) {
    if (scene->nobstacle) ct_put_array(out, "obstacles");
    for (int i = 0; i < scene->nobstacle; i++) {
        const ct_scene_obstacle* o = &scene->obstacle[i];
        ct_put_object(out, NULL);
        ct_put_text(out, "name", o->name);
        if (o->group) ct_put_text(out, "group", o->group);
        write_shape(out, o);
        ct_write_motion(out, &o->motion);
        if (!isnan(o->thickness)) ct_put_number(out, "thickness", o->thickness);
        ct_put_numbers(out, "color", o->color, 3);
        ct_write_flag(out, "hidden", o->hidden);
        ct_put_end(out);
    }
    if (scene->nobstacle) ct_put_end(out);
}

void ct_write_water(ct_json_put* out, const ct_scene* scene) {
    const ct_water_def* water = &scene->water.def;
    if (!scene->water.enabled) return;
    ct_put_object(out, "water");
    ct_put_number(out, "density", water->density);
    ct_put_numbers(out, "current", water->current, 3);
    ct_put_numbers(out, "drag", water->drag, CT_WATER_DRAG);
    ct_put_numbers(out, "thrust", water->thrust, CT_WATER_THRUST);
    ct_put_bool(out, "buoyancy", water->buoyancy);
    if (!isnan(water->level)) ct_put_number(out, "level", water->level);
    if (!isnan(water->layer)) ct_put_number(out, "layer", water->layer);
    ct_put_number(out, "slow", water->slow);
    if (!scene->water.all) {
        ct_put_array(out, "bodies");
        for (int b = 0; b < scene->water.nbody; b++)
            if (scene->water.wet[b]) ct_put_text(out, NULL, scene->body[b].name);
        ct_put_end(out);
    }
    ct_put_end(out);
}
