// Actuators as JSON: in lists by kind where they are in the order of these, otherwise in one.
#include <math.h>

#include "write/write.h"

static void write_muscle(ct_json_put* out, const ct_scene* scene, const ct_scene_actuator* a) {
    ct_put_text(out, "body", scene->body[a->body].name);
    ct_put_rows(out, "points", a->point, (size_t)a->npoint, 3);
    ct_put_number(out, "radius", a->radius);
    if (a->segments) ct_put_integer(out, "segments", a->segments);
    ct_put_number(out, "stiffness", a->stiffness);
    ct_put_number(out, "activation", a->start);
    ct_put_number(out, "activation_time", a->time);
}

static void write_chamber(ct_json_put* out, const ct_scene* scene, const ct_scene_actuator* a) {
    ct_put_text(out, "body", scene->body[a->body].name);
    if (a->ntag) ct_put_integers(out, "tag", a->tags, (size_t)a->ntag);
    else if (a->tag >= 0) ct_put_integer(out, "tag", a->tag);
    if (a->nnode) ct_write_nodes(out, "select", scene, a->node, a->nnode);
    ct_put_text(out, "cells", ct_cells_name(a->cells));
    ct_put_number(out, "stiffness", a->stiffness);
    ct_put_number(out, "activation", a->start);
    ct_put_number(out, "activation_time", a->time);
}

static void write_cavity(ct_json_put* out, const ct_scene* scene, const ct_scene_actuator* a) {
    ct_put_text(out, "body", scene->body[a->body].name);
    if (a->tag >= 0) ct_put_integer(out, "tag", a->tag);
    else ct_put_numbers(out, "seed", a->seed, 3);
    ct_put_number(out, "pressure", a->start);
}

static void write_eyelet(ct_json_put* out, const ct_scene* scene, const ct_scene_eyelet* eyelet) {
    ct_put_object(out, NULL);
    if (eyelet->link >= 0) ct_put_text(out, "link", scene->link[eyelet->link].name);
    if (eyelet->count) {
        const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, eyelet->node[0])];
        ct_put_text(out, "body", body->name);
        if (eyelet->count == 1) ct_put_integer(out, "node", eyelet->node[0] - body->first_node);
    }
    if (eyelet->count != 1) ct_put_numbers(out, "point", eyelet->point, 3);
    ct_put_end(out);
}

static void write_cable(ct_json_put* out, const ct_scene* scene, const ct_scene_actuator* a) {
    ct_put_array(out, "eyelets");
    for (int i = 0; i < a->nelement; i++) write_eyelet(out, scene, &a->eyelet[i]);
    ct_put_end(out);
    ct_put_number(out, a->held ? "length" : "tension", a->start);
    if (a->held) ct_put_number(out, "stiffness", a->stiffness);
    ct_put_number(out, "activation_time", a->time);
}

static void write_actuator(ct_json_put* out, const ct_scene* scene, const ct_scene_actuator* a,
                           const char* key) {
    static void (*const write[])(ct_json_put*, const ct_scene*,
                                 const ct_scene_actuator*) = {[CT_ACTUATOR_MUSCLE] = write_muscle,
                                                              [CT_ACTUATOR_CHAMBER] = write_chamber,
                                                              [CT_ACTUATOR_CAVITY] = write_cavity,
                                                              [CT_ACTUATOR_CABLE] = write_cable};
    ct_put_object(out, key);
    ct_put_text(out, "name", a->name);
    write[a->kind](out, scene, a);
    ct_put_end(out);
}

void ct_write_actuators(ct_json_put* out, const ct_scene* scene) {
    static const char* const lists[] = {"muscles", "chambers", "cavities", "cables"};
    const ct_scene_actuator* a = scene->actuator;
    bool ordered = true;
    for (int i = 1; i < scene->nactuator; i++) ordered = ordered && a[i - 1].kind <= a[i].kind;
    for (int i = 0; i < scene->nactuator; i++) {
        bool first = !i || (ordered && a[i - 1].kind != a[i].kind);
        bool last = i + 1 == scene->nactuator || (ordered && a[i + 1].kind != a[i].kind);
        if (first) ct_put_array(out, ordered ? lists[a[i].kind] : "actuators");
        if (!ordered) ct_put_object(out, NULL);
        write_actuator(out, scene, &a[i], ordered ? NULL : ct_actuator_kind_name(a[i].kind));
        if (!ordered) ct_put_end(out);
        if (last) ct_put_end(out);
    }
}
