// Reads actuators: muscles, chambers, cavities, cables.
#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"

// The body, which may be left out where there is only one.
static void read_body(const ct_scene* scene, ct_json object, int* body) {
    ct_json at = scene->nbody == 1 ? ct_json_member(object, "body") : ct_json_required(object, "body");
    *body = 0;
    ct_read_body_reference(scene, at, body);
    if (!scene->nbody) ct_json_fail(object, "needs a body, but the scene has none");
}

// A tag of the body's mesh, by number or name.
static void read_tag(const ct_scene* scene, ct_json at, int body, int* tag) {
    if (!at.value || at.reader->status) return;
    if (!json_is_string(at.value)) ct_json_integer(at, 0, 2147483647, tag);
    else if (!ct_read_tag(at, scene->body[body].mesh, json_string_value(at.value), tag))
        ct_json_fail(at, "is \"%.60s\": the mesh of \"%.60s\" has no such tag", json_string_value(at.value),
                     scene->body[body].name);
}

void ct_read_muscle(ct_scene* scene, ct_json at) {
    ct_muscle_def def = ct_muscle_def_default();
    ct_arena arena = {0};
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_MUSCLE)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    read_body(scene, at, &def.body);
    ct_json points = ct_json_required(at, "points");
    size_t count = points.value ? ct_json_length(points) : 0;
    double* list = ct_arena_alloc(&arena, 3 * count, sizeof(double));
    if (!list) ct_json_out_of_memory(points);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        ct_json_vector(ct_json_item(points, i), list + 3 * i);
    def.points = list;
    def.npoint = count < 2147483647 / 3 ? (int)count : 0;
    ct_json_positive(ct_json_required(at, "radius"), &def.radius);
    ct_json_integer(ct_json_member(at, "segments"), 1, 100000, &def.segments);
    ct_json_positive(ct_json_member(at, "stiffness"), &def.stiffness);
    ct_json_number(ct_json_member(at, "activation"), &def.activation);
    ct_json_at_least(ct_json_member(at, "activation_time"), 0, &def.activation_time);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_muscle(scene, &def, NULL, &inner), &inner);
    ct_arena_free(&arena);
}

// One tag, or a list of some; each must be there.
static void read_tags(const ct_scene* scene, ct_json at, ct_chamber_def* def, int** tags) {
    if (!at.value || !json_is_array(at.value)) {
        read_tag(scene, at, def->body, &def->tag);
        return;
    }
    const size_t count = ct_json_length(at);
    if (!count || count > 100000) ct_json_fail(at, "has %zu tags: it takes 1 to 100000", count);
    if (at.reader->status) return;
    *tags = ct_alloc(count, sizeof **tags);
    if (!*tags) ct_json_out_of_memory(at);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_tag(scene, ct_json_item(at, i), def->body, &(*tags)[i]);
    def->tags = *tags;
    def->ntag = (int)count;
}

void ct_read_chamber(ct_scene* scene, ct_json at) {
    ct_chamber_def def = ct_chamber_def_default();
    int *nodes = NULL, *tags = NULL, cells = (int)def.cells;
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_CHAMBER)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    read_body(scene, at, &def.body);
    read_tags(scene, ct_json_member(at, "tag"), &def, &tags);
    if (ct_json_has(at, "select")) ct_read_nodes(scene, at, &nodes, &def.count);
    def.nodes = nodes;
    ct_json_choice(ct_json_member(at, "cells"), ct_scene_choices[CT_CHOICE_CELLS].words, &cells);
    def.cells = (ct_cells)cells;
    ct_json_positive(ct_json_member(at, "stiffness"), &def.stiffness);
    ct_json_positive(ct_json_member(at, "activation"), &def.activation);
    ct_json_at_least(ct_json_member(at, "activation_time"), 0, &def.activation_time);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_chamber(scene, &def, NULL, &inner), &inner);
    ct_free(nodes);
    ct_free(tags);
}

void ct_read_cavity(ct_scene* scene, ct_json at) {
    ct_cavity_def def = ct_cavity_def_default();
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_CAVITY)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    read_body(scene, at, &def.body);
    read_tag(scene, ct_json_member(at, "tag"), def.body, &def.tag);
    ct_json_vector(ct_json_member(at, "seed"), def.seed);
    if (ct_json_has(at, "tag") == ct_json_has(at, "seed"))
        ct_json_fail(at, "needs either the \"tag\" of the triangles around it or a \"seed\", a point inside");
    ct_json_number(ct_json_member(at, "pressure"), &def.pressure);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_cavity(scene, &def, NULL, &inner), &inner);
}

// In the world at "point", or there in the flesh of a "body" or on a "link", or on a "node" of a body.
static void read_eyelet(const ct_scene* scene, ct_json at, ct_eyelet_def* def) {
    *def = (ct_eyelet_def){0};
    if (!ct_read_keys(at, CT_OBJECT_EYELET)) return;
    bool node = ct_json_has(at, "node");
    if (ct_json_has(at, "link")) {
        if (node || ct_json_has(at, "body"))
            ct_json_fail(at, "is on a \"link\": leave \"body\" and \"node\" out");
        def->seat = CT_EYELET_LINK;
        def->index = ct_read_link_reference(scene, ct_json_member(at, "link"));
    } else if (node || ct_json_has(at, "body")) {
        def->seat = node ? CT_EYELET_NODE : CT_EYELET_BODY;
        read_body(scene, at, &def->index);
    }
    if (at.reader->status) return;
    if (!node) {
        ct_json_vector(ct_json_required(at, "point"), def->point);
        return;
    }
    const ct_scene_body* body = &scene->body[def->index];
    if (ct_json_has(at, "point")) ct_json_fail(at, "is on a \"node\": leave \"point\" out");
    ct_json_integer(ct_json_member(at, "node"), 0, body->mesh->nvert - 1, &def->index);
    def->index += body->first_node;
}

void ct_read_cable(ct_scene* scene, ct_json at) {
    ct_cable_def def = ct_cable_def_default();
    ct_arena arena = {0};
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_CABLE)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    ct_json eyelets = ct_json_required(at, "eyelets");
    size_t count = eyelets.value ? ct_json_length(eyelets) : 0;
    ct_eyelet_def* list = ct_arena_alloc(&arena, count, sizeof *list);
    if (!list) ct_json_out_of_memory(eyelets);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_eyelet(scene, ct_json_item(eyelets, i), &list[i]);
    def.eyelets = list;
    def.count = count < 1000000 ? (int)count : 0;
    if (ct_json_has(at, "length") || ct_json_has(at, "stiffness")) def.hold = CT_CABLE_LENGTH;
    if (def.hold == CT_CABLE_LENGTH && ct_json_has(at, "tension"))
        ct_json_fail(at,
                     "has a \"tension\" and is held to a length: leave out \"tension\", or \"length\" and "
                     "\"stiffness\"");
    ct_json_number(ct_json_member(at, "tension"), &def.tension);
    ct_json_at_least(ct_json_member(at, "length"), 0, &def.length);
    ct_json_positive(ct_json_member(at, "stiffness"), &def.stiffness);
    ct_json_at_least(ct_json_member(at, "activation_time"), 0, &def.activation_time);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_cable(scene, &def, NULL, &inner), &inner);
    ct_arena_free(&arena);
}

// {"muscle": {...}} or one of the others.
void ct_read_actuator(ct_scene* scene, ct_json at) {
    static void (*const read[])(ct_scene*, ct_json) = {ct_read_muscle, ct_read_chamber, ct_read_cavity,
                                                       ct_read_cable};
    if (!ct_read_keys(at, CT_OBJECT_ACTUATOR)) return;
    if (json_object_size(at.value) != 1)
        ct_json_fail(at, "needs exactly one of \"muscle\", \"chamber\", \"cavity\" and \"cable\"");
    for (int kind = CT_ACTUATOR_MUSCLE; kind <= CT_ACTUATOR_CABLE; kind++) {
        const char* word = ct_actuator_kind_name((ct_actuator_kind)kind);
        if (ct_json_has(at, word)) read[kind](scene, ct_json_member(at, word));
    }
}

void ct_read_actuator_control(ct_scene* scene, const char* name, ct_json control) {
    ct_json at = ct_json_member(control, "actuator");
    const char* of = "";
    ct_error inner;
    ct_json_text(at, &of);
    int actuator = ct_scene_find_actuator(scene, of);
    if (actuator < 0 && scene->nactuator)
        ct_json_fail(at,
                     "is \"%.60s\", which is no muscle, chamber, cavity or cable; the first one is \"%.60s\"",
                     of, scene->actuator[0].name);
    else if (actuator < 0) ct_json_fail(at, "is \"%.60s\", but the scene has no actuators", of);
    if (!at.reader->status)
        ct_json_relay(control, ct_scene_add_actuator_control(scene, name, actuator, &inner), &inner);
}
