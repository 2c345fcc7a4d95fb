// Reads the terms of an objective.
#include <math.h>

#include "base/memory.h"
#include "read/read.h"

// Of a joint a number, or as many as it has: one coordinate, a universal joint's two, a ball's three.
static void read_target(ct_json at, ct_objective_kind kind, double target[3]) {
    if (kind == CT_OBJECTIVE_JOINT && at.value && json_is_number(at.value)) ct_json_number(at, target);
    else if (kind == CT_OBJECTIVE_JOINT && at.value && json_array_size(at.value) == 2)
        ct_json_numbers(at, target, 2);
    else ct_json_vector(at, target);
}

// "target": [x, y, z], or "path": [{"time": t, "target": [x, y, z]}, ...]
static void read_path(ct_json at, ct_arena* arena, ct_objective_def* def) {
    ct_json target = ct_json_member(at, "target"), path = ct_json_member(at, "path");
    if (!target.value && !path.value) return;
    if (target.value && path.value) ct_json_fail(path, "is given together with \"target\": keep one");
    size_t count = path.value ? ct_json_length(path) : 1;
    ct_keyframe* key = ct_arena_alloc(arena, count, sizeof *key);
    if (!key) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    read_target(target, def->kind, key[0].translate);
    for (size_t i = 0; path.value && i < count && !at.reader->status; i++) {
        ct_json item = ct_json_item(path, i);
        ct_read_keys(item, CT_OBJECT_PATH_KEY);
        ct_json_number(ct_json_required(item, "time"), &key[i].time);
        read_target(ct_json_required(item, "target"), def->kind, key[i].translate);
    }
    def->path = key;
    def->npath = (int)count;
}

// Rows of three numbers, or a file of numbers.
static void read_shape(ct_json at, const char* directory, int nnode, ct_arena* arena, ct_objective_def* def) {
    if (!at.value || at.reader->status) return;
    size_t rows = (size_t)nnode;
    double* shape = ct_arena_alloc(arena, 3 * rows, sizeof *shape);
    if (!shape) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    bool file = json_is_string(at.value);
    size_t count = file ? ct_read_numbers(at, directory, shape, 3 * rows) : 3 * ct_json_length(at);
    if (!at.reader->status && count != 3 * rows)
        ct_json_fail(
            at, "has %zu numbers: the selection has %zu nodes, with 3 numbers each in order of the nodes",
            count, rows);
    for (size_t i = 0; !file && i < rows && !at.reader->status; i++)
        ct_json_vector(ct_json_item(at, i), shape + 3 * i);
    def->shape = shape;
}

static void read_window(ct_json at, ct_objective_def* def) {
    bool from = ct_json_has(at, "from"), to = ct_json_has(at, "to");
    ct_json time = ct_json_member(at, "time");
    if (time.value && (from || to)) ct_json_fail(time, "is given together with \"from\" or \"to\": keep one");
    if (from || to) {
        def->start = 0;
        def->stop = INFINITY;
    }
    ct_json_number(time, &def->start);
    ct_json_number(time, &def->stop);
    ct_json_number(ct_json_member(at, "from"), &def->start);
    ct_json_number(ct_json_member(at, "to"), &def->stop);
}

static void refuse_objective_keys(ct_json at, ct_objective_kind kind) {
    static const char* const of_control[] = {"select",   "uniform", "link", "target", "path",
                                             "relative", "shape",   "axis", NULL};
    static const char* const of_shape[] = {"target", "path", "control", "link", "axis", NULL};
    static const char* const of_mean[] = {"shape", "control", "link", NULL};
    static const char* const of_joint[] = {"select", "uniform", "shape", "control", NULL};
    bool control = kind == CT_OBJECTIVE_EFFORT || kind == CT_OBJECTIVE_SMOOTHNESS;
    ct_read_refuse(at, ct_scene_choices[CT_CHOICE_OBJECTIVE].words[kind],
                   control                      ? of_control
                   : kind == CT_OBJECTIVE_SHAPE ? of_shape
                   : kind == CT_OBJECTIVE_JOINT ? of_joint
                                                : of_mean);
}

static void read_terms(ct_scene* scene, ct_json at, const char* directory, ct_arena* arena,
                       ct_objective_def* def) {
    int kind = 0, norm = 0;
    ct_json_text(ct_json_member(at, "name"), &def->name);
    ct_read_choice(ct_json_required(at, "type"), CT_CHOICE_OBJECTIVE, &kind);
    ct_read_choice(ct_json_member(at, "norm"), CT_CHOICE_NORM, &norm);
    def->kind = (ct_objective_kind)kind;
    def->distance = norm == 1;
    def->linear = norm == 2;
    refuse_objective_keys(at, def->kind);
    ct_json_bool(ct_json_member(at, "uniform"), &def->uniform);
    ct_json_bool(ct_json_member(at, "relative"), &def->relative);
    ct_json_number(ct_json_member(at, "weight"), &def->weight);
    ct_json_vector(ct_json_member(at, "axis"), def->axis);
    ct_json_text(ct_json_member(at, "control"), &def->control);
    ct_json_text(ct_json_member(at, "link"), &def->link);
    read_window(at, def);
    read_path(at, arena, def);
    int nnode = def->count ? def->count : ct_scene_node_count(scene);
    read_shape(ct_json_member(at, "shape"), directory, nnode, arena, def);
}

void ct_read_objective(ct_scene* scene, ct_json at, const char* directory) {
    ct_objective_def def = ct_objective_def_default();
    ct_arena arena = {0};
    ct_error inner;
    int *nodes = NULL, count = 0;
    if (!ct_read_keys(at, CT_OBJECT_OBJECTIVE)) return;
    if (ct_json_has(at, "select")) ct_read_nodes(scene, at, &nodes, &count);
    def.nodes = nodes;
    def.count = count;
    if (!at.reader->status) read_terms(scene, at, directory, &arena, &def);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_objective(scene, &def, &inner), &inner);
    ct_free(nodes);
    ct_arena_free(&arena);
}
