// Reads what acts on node sets: selectors, drives and pins, forces, initial velocities.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"
#include "scene/select.h"
#include "text/words.h"

typedef struct selector_reader {
    const ct_scene* scene;
    ct_arena arena;  // operands and lists
} selector_reader;

static void read_selector(selector_reader* reader, ct_json at, int depth, ct_selector* out);

// -------------------------------------------------------------------------------------------------
// Selectors

void ct_read_body_reference(const ct_scene* scene, ct_json at, int* body) {
    if (!at.value || at.reader->status) return;
    if (!json_is_string(at.value)) {
        ct_json_integer(at, 0, scene->nbody - 1, body);
        return;
    }
    const char* name = json_string_value(at.value);
    *body = ct_scene_find_body(scene, name);
    if (*body < 0)
        ct_json_fail(at, "is \"%.60s\": there is no body of that name; the first one is \"%.60s\"", name,
                     scene->body[0].name);
}

bool ct_read_tag(ct_json at, const ct_mesh* mesh, const char* name, int* id) {
    for (int i = 0; i < mesh->ntag; i++) {
        if (strcmp(mesh->tag[i].name, name)) continue;
        *id = mesh->tag[i].id;
        for (int k = 0; k < i; k++)  // volumes come first: a later name of the same number is a surface
            if (mesh->tag[k].id == *id)
                ct_json_fail(
                    at,
                    "is \"%.60s\", which has the same number %d as \"%.60s\": give each group its own number",
                    name, *id, mesh->tag[k].name);
        return true;
    }
    return false;
}

static void fail_unknown_tag(const selector_reader* reader, ct_json at, int body, const char* name) {
    const ct_mesh* mesh = reader->scene->body[body < 0 ? 0 : body].mesh;
    const char* example = mesh->ntag ? mesh->tag[0].name : NULL;
    if (example) ct_json_fail(at, "is \"%.60s\": no such tag; the first one is \"%.60s\"", name, example);
    else ct_json_fail(at, "is \"%.60s\": no such tag; the mesh names none", name);
}

// A tag by number, or by name: then the union over the bodies that know the name.
static void read_tag(selector_reader* reader, ct_json at, ct_selector* out) {
    if (!json_is_string(at.value)) {
        ct_json_integer(at, 0, 2147483647, &out->tag);
        return;
    }
    const ct_scene* scene = reader->scene;
    ct_selector* operand = ct_arena_alloc(&reader->arena, (size_t)scene->nbody, sizeof *operand);
    if (!operand) {
        ct_json_out_of_memory(at);
        return;
    }
    int count = 0;
    for (int b = 0; b < scene->nbody; b++) {
        int id;
        if (out->body >= 0 && b != out->body) continue;
        if (!ct_read_tag(at, scene->body[b].mesh, json_string_value(at.value), &id)) continue;
        operand[count++] = (ct_selector){.kind = CT_SELECT_TAG, .body = b, .tag = id};
    }
    if (!count) fail_unknown_tag(reader, at, out->body, json_string_value(at.value));
    *out = (ct_selector){.kind = CT_SELECT_OR, .body = out->body, .child = operand, .nchild = count};
}

static void read_list(selector_reader* reader, ct_json at, ct_selector* out) {
    size_t count = ct_json_length(at);
    int* list = ct_arena_alloc(&reader->arena, count, sizeof *list);
    if (!list) ct_json_out_of_memory(at);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        ct_json_integer(ct_json_item(at, i), 0, 2147483647, &list[i]);
    out->list = list;
    out->nlist = (int)count;
}

static void read_operands(selector_reader* reader, ct_json at, int depth, ct_selector* out) {
    bool is_not = out->kind == CT_SELECT_NOT;
    size_t count = is_not ? 1 : ct_json_length(at);
    if (depth >= CT_SELECT_MOST_DEPTH) {
        ct_json_fail(at, "is nested more than %d deep", (int)CT_SELECT_MOST_DEPTH);
        return;
    }
    ct_selector* operand = ct_arena_alloc(&reader->arena, count, sizeof *operand);
    if (!operand) ct_json_out_of_memory(at);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_selector(reader, is_not ? at : ct_json_item(at, i), depth + 1, &operand[i]);
    out->child = operand;
    out->nchild = (int)count;
}

// "all": true, "surface": true
static void read_flag(ct_json at) {
    bool on = true;
    ct_json_bool(at, &on);
    if (!on) ct_json_fail(at, "is false: leave the key out, or use \"not\"");
}

static void read_region(ct_json at, ct_selector* out) {
    switch (out->kind) {
    case CT_SELECT_BOX:
        if (ct_json_length(at) != 2) ct_json_fail(at, "must be two corners: [[x, y, z], [x, y, z]]");
        ct_json_vector(ct_json_item(at, 0), out->a);
        ct_json_vector(ct_json_item(at, 1), out->b);
        break;
    case CT_SELECT_SPHERE:
        ct_read_keys(at, CT_OBJECT_SELECT_SPHERE);
        ct_json_vector(ct_json_required(at, "center"), out->a);
        ct_json_at_least(ct_json_required(at, "radius"), 0, &out->radius);
        break;
    case CT_SELECT_PLANE:
        ct_read_keys(at, CT_OBJECT_SELECT_PLANE);
        ct_json_vector(ct_json_required(at, "point"), out->a);
        ct_json_vector(ct_json_required(at, "normal"), out->b);
        break;
    default:
        ct_read_keys(at, CT_OBJECT_SELECT_CAPSULE);
        ct_json_vector(ct_json_required(at, "a"), out->a);
        ct_json_vector(ct_json_required(at, "b"), out->b);
        ct_json_at_least(ct_json_required(at, "radius"), 0, &out->radius);
    }
}

static void read_kind(selector_reader* reader, ct_json at, int depth, ct_selector* out) {
    switch (out->kind) {
    case CT_SELECT_ALL:
    case CT_SELECT_SURFACE: read_flag(at); break;
    case CT_SELECT_BOX:
    case CT_SELECT_SPHERE:
    case CT_SELECT_PLANE:
    case CT_SELECT_CAPSULE: read_region(at, out); break;
    case CT_SELECT_TAG: read_tag(reader, at, out); break;
    case CT_SELECT_NEAREST: ct_json_vector(at, out->a); break;
    case CT_SELECT_LIST: read_list(reader, at, out); break;
    default: read_operands(reader, at, depth, out);
    }
}

static void read_selector(selector_reader* reader, ct_json at, int depth, ct_selector* out) {
    *out = (ct_selector){.body = -1};
    if (!at.value || !ct_read_keys(at, CT_OBJECT_SELECTOR)) return;
    int kinds = 0;
    for (int kind = 0; ct_select_kind_words[kind]; kind++) {
        if (!ct_json_has(at, ct_select_kind_words[kind])) continue;
        out->kind = (ct_select_kind)kind;
        kinds++;
    }
    if (kinds != 1) {
        ct_json_fail(at,
                     kinds ? "has %d conditions: keep one, or combine them with \"and\" or \"or\""
                           : "has %d conditions: give one such as \"box\", \"tag\" or \"all\"",
                     kinds);
        return;
    }
    bool nearest = out->kind == CT_SELECT_NEAREST;
    if (ct_json_has(at, "count") && !nearest) ct_json_fail(at, "has a \"count\" without \"nearest\"");
    if (nearest) ct_json_integer(ct_json_member(at, "count"), 1, 2147483647, &out->nlist);
    ct_read_body_reference(reader->scene, ct_json_member(at, "body"), &out->body);
    if (!at.reader->status)
        read_kind(reader, ct_json_member(at, ct_select_kind_words[out->kind]), depth, out);
}

void ct_read_nodes(const ct_scene* scene, ct_json object, int** nodes, int* count) {
    ct_read_selection(scene, ct_json_required(object, "select"), nodes, count);
}

void ct_read_selection(const ct_scene* scene, ct_json at, int** nodes, int* count) {
    *nodes = NULL;
    *count = 0;
    selector_reader reader = {.scene = scene};
    ct_selector selector;
    ct_error inner;
    read_selector(&reader, at, 0, &selector);
    if (!at.reader->status)
        ct_json_relay(at, ct_scene_select(scene, &selector, nodes, count, &inner), &inner);
    ct_arena_free(&reader.arena);
}

// -------------------------------------------------------------------------------------------------
// Drives, forces, velocities

// A rotation vector in radians, or an axis and degrees (more than a turn is kept).
static void read_turn(ct_json at, double rotate[3]) {
    if (!at.value || json_is_array(at.value)) {
        ct_json_vector(at, rotate);
        return;
    }
    double axis[3] = {0}, degrees = 0;
    if (!ct_read_keys(at, CT_OBJECT_TURN)) return;
    ct_json_vector(ct_json_required(at, "axis"), axis);
    ct_json_number(ct_json_required(at, "degrees"), &degrees);
    double length = hypot(hypot(axis[0], axis[1]), axis[2]);
    if (!at.reader->status && !(length > 0 && isfinite(length)))
        ct_json_fail(at, "has an axis without a direction");
    if (at.reader->status) return;
    for (int i = 0; i < 3; i++) rotate[i] = axis[i] / length * (degrees * (M_PI / 180));
}

void ct_read_motion(ct_json at, ct_arena* arena, ct_motion* motion) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_MOTION)) return;
    ct_json keys = ct_json_required(at, "keys");
    size_t count = ct_json_length(keys);
    ct_keyframe* key = ct_arena_alloc(arena, count, sizeof *key);
    if (!key) ct_json_out_of_memory(at);
    for (size_t i = 0; i < count && !at.reader->status; i++) {
        ct_json item = ct_json_item(keys, i);
        ct_read_keys(item, CT_OBJECT_KEYFRAME);
        ct_json_number(ct_json_required(item, "time"), &key[i].time);
        ct_json_vector(ct_json_member(item, "translate"), key[i].translate);
        read_turn(ct_json_member(item, "rotate"), key[i].rotate);
    }
    motion->key = key;
    motion->nkey = (int)count;
    ct_json_vector(ct_json_member(at, "center"), motion->center);
    ct_json_bool(ct_json_member(at, "smooth"), &motion->smooth);
    ct_json_bool(ct_json_member(at, "repeat"), &motion->repeat);
}

void ct_read_drive(ct_scene* scene, ct_json at) {
    bool pin = !strncmp(at.path, "pins", 4);
    ct_arena arena = {0};
    ct_motion motion = {0};
    ct_error inner;
    int *nodes, count;
    ct_read_keys(at, pin ? CT_OBJECT_PIN : CT_OBJECT_DRIVE);
    ct_read_nodes(scene, at, &nodes, &count);
    ct_read_motion(ct_json_member(at, "motion"), &arena, &motion);
    ct_json_bool(ct_json_member(at, "clamp"), &motion.clamp);
    if (!at.reader->status) ct_json_relay(at, ct_scene_drive(scene, nodes, count, &motion, &inner), &inner);
    ct_free(nodes);
    ct_arena_free(&arena);
}

void ct_read_force(ct_scene* scene, ct_json at) {
    ct_force_def def = ct_force_def_default();
    ct_error inner;
    int *nodes, count, kinds = 0;
    ct_read_keys(at, CT_OBJECT_FORCE);
    ct_read_nodes(scene, at, &nodes, &count);
    for (int i = 0; ct_force_kind_words[i]; i++) {
        if (!ct_json_has(at, ct_force_kind_words[i])) continue;
        kinds++;
        def.kind = (ct_force_kind)i;
        ct_json_vector(ct_json_member(at, ct_force_kind_words[i]), def.vector);
    }
    if (kinds != 1) ct_json_fail(at, "needs exactly one of \"total\", \"per_node\" and \"acceleration\"");
    ct_json_number(ct_json_member(at, "start"), &def.start);
    ct_json_number(ct_json_member(at, "stop"), &def.stop);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_force(scene, nodes, count, &def, &inner), &inner);
    ct_free(nodes);
}

void ct_read_velocity(ct_scene* scene, ct_json at) {
    double velocity[3] = {0}, angular[3] = {0};
    ct_error inner;
    int *nodes, count;
    ct_read_keys(at, CT_OBJECT_VELOCITY);
    ct_read_nodes(scene, at, &nodes, &count);
    ct_json_vector(ct_json_member(at, "velocity"), velocity);
    ct_json_vector(ct_json_member(at, "angular_velocity"), angular);
    if (!at.reader->status)
        ct_json_relay(at, ct_scene_set_velocity(scene, nodes, count, velocity, angular, &inner), &inner);
    ct_free(nodes);
}

void ct_read_masses(ct_scene* scene, ct_json at) {
    ct_error inner;
    int *nodes, count;
    double mass = 0;
    ct_read_keys(at, CT_OBJECT_NODE_MASS);
    ct_read_nodes(scene, at, &nodes, &count);
    bool total = ct_json_has(at, "total");
    if (total == ct_json_has(at, "per_node"))
        ct_json_fail(at, "needs exactly one of \"total\" and \"per_node\"");
    ct_json_positive(ct_json_member(at, total ? "total" : "per_node"), &mass);
    if (total && count) mass /= count;
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_masses(scene, nodes, count, mass, &inner), &inner);
    ct_free(nodes);
}
