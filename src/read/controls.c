// Reads controls: what they act on, and the values that they have along time.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "read/read.h"

// Torque or servo target of the joint that a link has to its parent, or the motion of a root.
static void read_link_control(ct_scene* scene, const char* name, ct_json control, const char* key) {
    ct_json at = ct_json_member(control, key);
    ct_error inner;
    int link = ct_read_link_reference(scene, at);
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
    ct_read_keys(force, CT_OBJECT_FORCE_CONTROL);
    ct_read_nodes(scene, force, &nodes, &count);
    if (!control.reader->status)
        ct_json_relay(control, ct_scene_add_force_control(scene, name, nodes, count, &inner), &inner);
    ct_free(nodes);
}

void ct_read_control(ct_scene* scene, ct_json at) {
    static const char* const kinds[] = {"force", "drive", "move", "torque", "target", "actuator"};
    const char *name = NULL, *kind = NULL;
    int count = 0, index = 0;
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_CONTROL)) return;
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
    else if (!strcmp(kind, "actuator")) ct_read_actuator_control(scene, name, at);
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
// Values along time

typedef struct table {
    ct_arena arena;
    double *time, *value;  // count rows; value: size numbers each
    int count, size;
} table;

static bool make_rows(table* t, ct_json at, size_t count) {
    t->count = (int)count;
    t->time = ct_arena_alloc(&t->arena, count, sizeof(double));
    t->value = ct_arena_alloc(&t->arena, count * (size_t)t->size, sizeof(double));
    if (t->arena.failed) ct_json_out_of_memory(at);
    return !t->arena.failed;
}

// A number, or as many as the control has.
static void read_row(ct_json at, int size, double* out) {
    if (size == 1 && at.value && json_is_number(at.value)) ct_json_number(at, out);
    else ct_json_numbers(at, out, (size_t)size);
}

static void read_keys(ct_json at, table* t) {
    size_t count = ct_json_length(at);
    if (at.reader->status || !make_rows(t, at, count)) return;
    for (size_t i = 0; i < count && !at.reader->status; i++) {
        ct_json item = ct_json_item(at, i);
        ct_read_keys(item, CT_OBJECT_CONTROL_KEY);
        ct_json_number(ct_json_required(item, "time"), &t->time[i]);
        read_row(ct_json_required(item, "value"), t->size, t->value + i * (size_t)t->size);
    }
}

// Rows of a time and the control's numbers.
static void read_file(ct_json at, const char* directory, table* t) {
    size_t width = 1 + (size_t)t->size, count = ct_read_numbers(at, directory, NULL, 0);
    if (!at.reader->status && (count == 0 || count % width || count / width > 100000000))
        ct_json_fail(at, "has %zu numbers: it must be rows of %zu, a time and the control's %d", count, width,
                     t->size);
    if (at.reader->status || !make_rows(t, at, count / width)) return;
    double* all = ct_arena_alloc(&t->arena, count, sizeof *all);
    if (!all) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    ct_read_numbers(at, directory, all, count);
    for (size_t i = 0; i < (size_t)t->count; i++) {
        t->time[i] = all[i * width];
        memcpy(t->value + i * (size_t)t->size, all + i * width + 1, (size_t)t->size * sizeof(double));
    }
}

void ct_read_control_values(ct_scene* scene, ct_json control, const char* directory) {
    ct_json at = ct_json_member(control, "values");
    const char* name = "";
    bool repeat = false;
    ct_error inner;
    if (!at.value && ct_json_has(control, "repeat"))
        ct_json_fail(ct_json_member(control, "repeat"), "has no meaning without \"values\"");
    if (!at.value || control.reader->status) return;
    ct_json_text(ct_json_required(control, "name"), &name);
    ct_json_bool(ct_json_member(control, "repeat"), &repeat);
    int index = ct_scene_find_control(scene, name);
    if (control.reader->status || index < 0) return;
    table t = {.size = scene->control[index].size};
    if (json_is_string(at.value)) read_file(at, directory, &t);
    else if (json_is_array(at.value) && json_is_object(json_array_get(at.value, 0))) read_keys(at, &t);
    else if (make_rows(&t, at, 1)) read_row(at, t.size, t.value);
    if (!at.reader->status)
        ct_json_relay(control,
                      ct_scene_set_control_values(scene, name, t.time, t.value, t.count, repeat, &inner),
                      &inner);
    ct_arena_free(&t.arena);
}
