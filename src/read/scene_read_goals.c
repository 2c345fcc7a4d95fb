// Reads what a scene is to be optimised for: controls, parameters, objectives, the optimiser's settings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "read/scene_read.h"

static void read_choice(ct_json at, ct_scene_choice choice, int* out) {
    ct_json_choice(at, ct_scene_choices[choice].words, out);
}

// Keys that mean nothing for this type are refused; NULL-terminated.
static void refuse_keys(ct_json at, const char* type, const char* const* keys) {
    for (; *keys; keys++)
        if (ct_json_has(at, *keys))
            ct_json_fail(ct_json_member(at, *keys), "has no meaning for the type \"%s\": remove it", type);
}

// -------------------------------------------------------------------------------------------------
// Controls

// The link that a text names.
static int find_link(const ct_scene* scene, ct_json at) {
    const char* name = "";
    ct_json_text(at, &name);
    int link = ct_scene_find_link(scene, name);
    if (link < 0 && scene->nlink)
        ct_json_fail(at, "is \"%.60s\", which is not a link; the first one is \"%.60s\"", name,
                     scene->link[0].name);
    else if (link < 0) ct_json_fail(at, "is \"%.60s\", but the scene has no skeleton", name);
    return link;
}

// Torque or servo target of the joint that a link has to its parent, or the motion of a root.
static void read_link_control(ct_scene* scene, const char* name, ct_json control, const char* key) {
    ct_json at = ct_json_member(control, key);
    ct_error inner;
    int link = find_link(scene, at);
    if (at.reader->status) return;
    ct_status status =
        !strcmp(key, "drive") ? ct_scene_add_root_control(scene, name, link, &inner)
        : !strcmp(key, "move")
            ? ct_scene_add_move_control(scene, name, -1, link, &inner)
            : ct_scene_add_joint_control(
                  scene, name, !strcmp(key, "torque") ? CT_CONTROL_TORQUE : CT_CONTROL_TARGET, link, &inner);
    if (status && !strcmp(inner.path, "link")) snprintf(inner.path, sizeof inner.path, "%s", key);
    ct_json_relay(control, status, &inner);
}

static void read_force_control(ct_scene* scene, const char* name, ct_json control) {
    ct_json force = ct_json_member(control, "force");
    int *nodes, count;
    ct_error inner;
    ct_scene_read_keys(force, CT_OBJECT_FORCE_CONTROL);
    ct_scene_read_nodes(scene, force, &nodes, &count);
    if (!control.reader->status)
        ct_json_relay(control, ct_scene_add_force_control(scene, name, nodes, count, &inner), &inner);
    ct_free(nodes);
}

void ct_scene_read_control(ct_scene* scene, ct_json at) {
    static const char* const kinds[] = {"force", "drive", "move", "torque", "target", "actuator"};
    const char *name = NULL, *kind = NULL;
    int count = 0, index = 0;
    ct_error inner;
    if (!ct_scene_read_keys(at, CT_OBJECT_CONTROL)) return;
    ct_json_text(ct_json_required(at, "name"), &name);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!ct_json_has(at, kinds[i])) continue;
        kind = kinds[i];
        count++;
    }
    if (count != 1)
        ct_json_fail(
            at,
            "needs exactly one of \"force\", \"drive\", \"move\", \"torque\", \"target\" and \"actuator\"");
    if (at.reader->status) return;
    ct_json value = ct_json_member(at, kind);
    if (!strcmp(kind, "force")) read_force_control(scene, name, at);
    else if (!strcmp(kind, "actuator")) ct_scene_read_actuator_control(scene, name, at);
    else if ((strcmp(kind, "drive") && strcmp(kind, "move")) || json_is_string(value.value))
        read_link_control(scene, name, at, kind);
    else {
        ct_json_integer(value, 0, 2147483647, &index);
        if (at.reader->status) return;
        ct_status status = !strcmp(kind, "drive") ? ct_scene_add_drive_control(scene, name, index, &inner)
                                                  : ct_scene_add_move_control(scene, name, index, -1, &inner);
        if (status && !strcmp(inner.path, "drive")) snprintf(inner.path, sizeof inner.path, "%s", kind);
        ct_json_relay(at, status, &inner);
    }
}

// -------------------------------------------------------------------------------------------------
// Parameters

void ct_scene_read_parameter(ct_scene* scene, ct_json at) {
    ct_parameter_def def = ct_parameter_def_default();
    ct_error inner;
    if (!ct_scene_read_keys(at, CT_OBJECT_PARAMETER)) return;
    int kind = 0, per = (int)def.per, transform = (int)def.transform;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    read_choice(ct_json_required(at, "type"), CT_CHOICE_PARAMETER, &kind);
    read_choice(ct_json_member(at, "per"), CT_CHOICE_PER, &per);
    read_choice(ct_json_member(at, "transform"), CT_CHOICE_TRANSFORM, &transform);
    def.kind = (ct_parameter_kind)kind;
    def.per = (ct_parameter_per)per;
    def.transform = (ct_transform)transform;
    const char* type = ct_scene_choices[CT_CHOICE_PARAMETER].words[kind];
    if (def.kind == CT_PARAMETER_CONTROL) refuse_keys(at, type, (const char* const[]){"body", NULL});
    else
        refuse_keys(at, type,
                    (const char* const[]){"control", "hold", "shape", "knots", "amplitude", "frequency",
                                          "phase", "center", NULL});
    ct_scene_read_shape(at, &def);
    bool of_links = def.kind >= CT_PARAMETER_JOINT_STIFFNESS && def.kind <= CT_PARAMETER_JOINT_VELOCITY;
    if (!of_links) refuse_keys(at, type, (const char* const[]){"link", NULL});
    bool of_actuators =
        def.kind == CT_PARAMETER_MUSCLE_STIFFNESS || def.kind == CT_PARAMETER_CHAMBER_STIFFNESS;
    if (!of_actuators) refuse_keys(at, type, (const char* const[]){"actuator", NULL});
    if (of_links || of_actuators || def.kind == CT_PARAMETER_FRICTION)
        refuse_keys(at, type, (const char* const[]){"body", NULL});
    bool of_water = def.kind >= CT_PARAMETER_WATER_DENSITY && def.kind <= CT_PARAMETER_WATER_CURRENT;
    if (def.kind == CT_PARAMETER_GRAVITY || def.kind == CT_PARAMETER_POLICY || of_water)
        refuse_keys(at, type, (const char* const[]){"body", "per", NULL});
    ct_scene_read_body_reference(scene, ct_json_member(at, "body"), &def.body);
    ct_json_text(ct_json_member(at, "control"), &def.control);
    ct_json_text(ct_json_member(at, "link"), &def.link);
    ct_json_text(ct_json_member(at, "actuator"), &def.actuator);
    ct_json_integer(ct_json_member(at, "hold"), 1, 2147483647, &def.hold);
    ct_json_number(ct_json_member(at, "lower"), &def.lower);
    ct_json_number(ct_json_member(at, "upper"), &def.upper);
    ct_json_number(ct_json_member(at, "scale"), &def.scale);
    ct_json_number(ct_json_member(at, "offset"), &def.offset);
    ct_json_number(ct_json_member(at, "start"), &def.start);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_parameter(scene, &def, &inner), &inner);
}

// -------------------------------------------------------------------------------------------------
// Objectives

// Of a joint with one coordinate a number, otherwise three.
static void read_target(ct_json at, ct_objective_kind kind, double target[3]) {
    if (kind == CT_OBJECTIVE_JOINT && at.value && json_is_number(at.value)) ct_json_number(at, target);
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
        ct_scene_read_keys(item, CT_OBJECT_PATH_KEY);
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
    size_t count = file ? ct_scene_read_numbers(at, directory, shape, 3 * rows) : 3 * ct_json_length(at);
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
    static const char* const of_control[] = {"select", "uniform",  "link",  "target",
                                             "path",   "relative", "shape", NULL};
    static const char* const of_shape[] = {"target", "path", "control", "link", NULL};
    static const char* const of_mean[] = {"shape", "control", "link", NULL};
    static const char* const of_joint[] = {"select", "uniform", "shape", "control", NULL};
    bool control = kind == CT_OBJECTIVE_EFFORT || kind == CT_OBJECTIVE_SMOOTHNESS;
    refuse_keys(at, ct_scene_choices[CT_CHOICE_OBJECTIVE].words[kind],
                control                      ? of_control
                : kind == CT_OBJECTIVE_SHAPE ? of_shape
                : kind == CT_OBJECTIVE_JOINT ? of_joint
                                             : of_mean);
}

static void read_terms(ct_scene* scene, ct_json at, const char* directory, ct_arena* arena,
                       ct_objective_def* def) {
    int kind = 0, norm = 0;
    ct_json_text(ct_json_member(at, "name"), &def->name);
    read_choice(ct_json_required(at, "type"), CT_CHOICE_OBJECTIVE, &kind);
    read_choice(ct_json_member(at, "norm"), CT_CHOICE_NORM, &norm);
    def->kind = (ct_objective_kind)kind;
    def->distance = norm == 1;
    refuse_objective_keys(at, def->kind);
    ct_json_bool(ct_json_member(at, "uniform"), &def->uniform);
    ct_json_bool(ct_json_member(at, "relative"), &def->relative);
    ct_json_number(ct_json_member(at, "weight"), &def->weight);
    ct_json_text(ct_json_member(at, "control"), &def->control);
    ct_json_text(ct_json_member(at, "link"), &def->link);
    read_window(at, def);
    read_path(at, arena, def);
    int nnode = def->count ? def->count : ct_scene_node_count(scene);
    read_shape(ct_json_member(at, "shape"), directory, nnode, arena, def);
}

void ct_scene_read_objective(ct_scene* scene, ct_json at, const char* directory) {
    ct_objective_def def = ct_objective_def_default();
    ct_arena arena = {0};
    ct_error inner;
    int *nodes = NULL, count = 0;
    if (!ct_scene_read_keys(at, CT_OBJECT_OBJECTIVE)) return;
    if (ct_json_has(at, "select")) ct_scene_read_nodes(scene, at, &nodes, &count);
    def.nodes = nodes;
    def.count = count;
    if (!at.reader->status) read_terms(scene, at, directory, &arena, &def);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_objective(scene, &def, &inner), &inner);
    ct_free(nodes);
    ct_arena_free(&arena);
}

// -------------------------------------------------------------------------------------------------
// The optimiser

void ct_scene_read_optimizer(ct_scene* scene, ct_json at) {
    if (!at.value || !ct_scene_read_keys(at, CT_OBJECT_OPTIMIZER)) return;
    ct_optimize_def def = scene->optimize;
    ct_error inner;
    int method = (int)def.method, seed = (int)def.seed;
    read_choice(ct_json_member(at, "method"), CT_CHOICE_METHOD, &method);
    def.method = (ct_method)method;
    ct_json_integer(ct_json_member(at, "iterations"), 1, 2147483647, &def.iterations);
    ct_json_number(ct_json_member(at, "target"), &def.target);
    ct_json_number(ct_json_member(at, "rate"), &def.rate);
    ct_json_number(ct_json_member(at, "tolerance"), &def.tolerance);
    ct_json_integer(ct_json_member(at, "restarts"), 0, 2147483647, &def.restarts);
    ct_json_integer(ct_json_member(at, "seed"), 0, 2147483647, &seed);
    def.seed = (uint64_t)seed;
    ct_json_number(ct_json_member(at, "noise"), &def.noise);
    ct_json_number(ct_json_member(at, "spread"), &def.spread);
    ct_json_integer(ct_json_member(at, "population"), 0, 1000000, &def.population);
    if (!at.reader->status) ct_json_relay(at, ct_scene_set_optimize_def(scene, &def, &inner), &inner);
}
