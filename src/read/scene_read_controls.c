// Reads what controls do along time: values of their own, and the shapes of those that a parameter sets.
#include <string.h>

#include "base/memory.h"
#include "read/scene_read.h"

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
        ct_scene_read_keys(item, CT_OBJECT_CONTROL_KEY);
        ct_json_number(ct_json_required(item, "time"), &t->time[i]);
        read_row(ct_json_required(item, "value"), t->size, t->value + i * (size_t)t->size);
    }
}

// Rows of a time and the control's numbers.
static void read_file(ct_json at, const char* directory, table* t) {
    size_t width = 1 + (size_t)t->size, count = ct_scene_read_numbers(at, directory, NULL, 0);
    if (!at.reader->status && (count == 0 || count % width || count / width > 100000000))
        ct_json_fail(at, "has %zu numbers: it must be rows of %zu, a time and the control's %d", count, width,
                     t->size);
    if (at.reader->status || !make_rows(t, at, count / width)) return;
    double* all = ct_arena_alloc(&t->arena, count, sizeof *all);
    if (!all) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    ct_scene_read_numbers(at, directory, all, count);
    for (size_t i = 0; i < (size_t)t->count; i++) {
        t->time[i] = all[i * width];
        memcpy(t->value + i * (size_t)t->size, all + i * width + 1, (size_t)t->size * sizeof(double));
    }
}

void ct_scene_read_control_values(ct_scene* scene, ct_json control, const char* directory) {
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

// A start, or an object with bounds.
static void read_wave_number(ct_json at, ct_wave_number* out) {
    if (!at.value || json_is_number(at.value)) {
        ct_json_number(at, &out->start);
        return;
    }
    if (!ct_scene_read_keys(at, CT_OBJECT_WAVE)) return;
    ct_json_number(ct_json_required(at, "start"), &out->start);
    ct_json_number(ct_json_member(at, "lower"), &out->lower);
    ct_json_number(ct_json_member(at, "upper"), &out->upper);
    ct_json_bool(ct_json_member(at, "fixed"), &out->fixed);
}

static void refuse(ct_json at, bool wrong, const char* key, const char* shape) {
    if (wrong && ct_json_has(at, key))
        ct_json_fail(ct_json_member(at, key), "has no meaning for the shape \"%s\": remove it", shape);
}

void ct_scene_read_shape(ct_json at, ct_parameter_def* def) {
    static const char* const waves[] = {"amplitude", "frequency", "phase", "center"};
    static const char* const plain[] = {"transform", "lower", "upper", "scale", "offset", "start"};
    int shape = (int)def->shape;
    ct_json_choice(ct_json_member(at, "shape"), ct_scene_choices[CT_CHOICE_SHAPE].words, &shape);
    def->shape = (ct_curve)shape;
    const char* name = ct_scene_choices[CT_CHOICE_SHAPE].words[shape];
    refuse(at, def->shape != CT_CURVE_STEPS, "hold", name);
    refuse(at, def->shape != CT_CURVE_STEPS, "per", name);
    refuse(at, def->shape != CT_CURVE_SPLINE, "knots", name);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        refuse(at, def->shape == CT_CURVE_SINUSOID, plain[i], name);
    for (size_t i = 0; i < sizeof waves / sizeof waves[0]; i++)
        refuse(at, def->shape != CT_CURVE_SINUSOID, waves[i], name);
    ct_json_integer(ct_json_member(at, "knots"), 2, 2147483647, &def->knots);
    if (def->shape != CT_CURVE_SINUSOID) return;
    read_wave_number(ct_json_required(at, waves[0]), &def->amplitude);
    read_wave_number(ct_json_required(at, waves[1]), &def->frequency);
    read_wave_number(ct_json_member(at, waves[2]), &def->phase);
    read_wave_number(ct_json_member(at, waves[3]), &def->center);
}
