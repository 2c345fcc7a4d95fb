// Sliders of a live page; see live_sliders.h.
#include "live_sliders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(live_sliders* s, live_kind kind, int index, double low, double high, double value,
                const char* title) {
    if (s->count == MOST_SLIDERS) return;
    live_slider* slider = &s->list[s->count++];
    *slider = (live_slider){.kind = kind, .index = index, .low = low, .high = high, .value = value};
    snprintf(slider->title, sizeof slider->title, "%s", title);
}

static double* read_quantity(const ct_model* model, ct_quantity quantity, int* count) {
    *count = (int)ct_model_quantity_size(model, quantity);
    double* values = *count ? malloc((size_t)*count * sizeof *values) : NULL;
    if (values) ct_model_get(model, quantity, values);
    else *count = 0;
    return values;
}

// As far as its kind or the scene's own values go.
static void control_range(const ct_model* model, const ct_control_info* info, int number, double* low,
                          double* high) {
    double most = 0, duration = ct_model_settings(model).duration;
    double* values = malloc((size_t)ct_model_control_size(model) * sizeof *values);
    for (int k = 0; values && k <= 64; k++) {
        ct_model_control_values(model, duration * k / 64, values);
        most = fmax(most, fabs(values[number]));
    }
    free(values);
    static const double usual[] = {
        [CT_CONTROL_FORCE] = 10,  [CT_CONTROL_TORQUE] = 10,    [CT_CONTROL_TARGET] = 1.5,
        [CT_CONTROL_DRIVE] = 0.5, [CT_CONTROL_ACTIVATION] = 1, [CT_CONTROL_PRESSURE] = 5000,
        [CT_CONTROL_MOVE] = 0.01, [CT_CONTROL_TENSION] = 20,   [CT_CONTROL_LENGTH] = 0.1};
    *high = most > 0 ? 2 * most : usual[info->kind];
    *low = info->kind == CT_CONTROL_ACTIVATION || info->kind == CT_CONTROL_TENSION ? 0 : -*high;
}

static void add_controls(live_sliders* s, const ct_model* model, int skip) {
    for (int k = 0; k < ct_model_control_count(model); k++) {
        ct_control_info info = ct_model_control_info(model, k);
        for (int i = 0; k != skip && i < info.count; i++) {
            char title[80];
            double low, high;
            if (info.count == 1) snprintf(title, sizeof title, "%s", info.name);
            else snprintf(title, sizeof title, "%s[%d]", info.name, i);
            control_range(model, &info, info.first + i, &low, &high);
            add(s, LIVE_CONTROL, info.first + i, low, high, 0, title);
        }
    }
}

static void keep_moved(live_sliders* s, const live_sliders* old) {
    for (int k = 0; k < s->count; k++)
        for (int i = 0; i < old->count; i++)
            if (old->list[i].moved && strcmp(old->list[i].title, s->list[k].title) == 0) {
                s->list[k].value = fmin(s->list[k].high, fmax(s->list[k].low, old->list[i].value));
                s->list[k].moved = true;
            }
}

bool live_sliders_make(live_sliders* s, const ct_model* model, int skip) {
    live_sliders old = *s;
    *s = (live_sliders){0};
    double gravity[3], most = 20;
    ct_model_get(model, CT_QUANTITY_GRAVITY, gravity);
    for (int a = 0; a < 3; a++) most = fmax(most, 2 * fabs(gravity[a]));
    for (int a = 0; a < 3; a++) {
        char title[16];
        snprintf(title, sizeof title, "gravity %c", "xyz"[a]);
        add(s, LIVE_GRAVITY, a, -most, most, gravity[a], title);
    }
    s->young = read_quantity(model, CT_QUANTITY_YOUNG, &s->nyoung);
    s->friction = read_quantity(model, CT_QUANTITY_FRICTION, &s->nfriction);
    if (s->nyoung) add(s, LIVE_STIFFNESS, 0, -1, 1, 0, "stiffness 10^");
    if (s->nfriction && ct_model_settings(model).contact.method != CT_CONTACT_METHOD_NONE)
        add(s, LIVE_FRICTION, 0, 0, 3, 1, "friction x");
    add_controls(s, model, skip);
    keep_moved(s, &old);
    live_sliders_free(&old);
    return true;
}

void live_sliders_free(live_sliders* s) {
    free(s->young);
    free(s->friction);
    s->young = s->friction = NULL;
}

static ct_status set_scaled(ct_model* model, ct_quantity quantity, const double* values, int count, double by,
                            ct_error* error) {
    double* scaled = malloc((size_t)count * sizeof *scaled);
    if (!scaled) return cli_fail(error, CT_OUT_OF_MEMORY, "", "out of memory");
    for (int k = 0; k < count; k++) scaled[k] = by * values[k];
    ct_status status = ct_model_set(model, quantity, scaled, error);
    free(scaled);
    return status;
}

ct_status live_sliders_set(live_sliders* s, ct_model* model, int index, double value, ct_error* error) {
    if (index < 0 || index >= s->count) return CT_OK;
    live_slider* slider = &s->list[index];
    slider->value = fmin(slider->high, fmax(slider->low, value));
    slider->moved = true;
    if (slider->kind == LIVE_STIFFNESS)
        return set_scaled(model, CT_QUANTITY_YOUNG, s->young, s->nyoung, pow(10, slider->value), error);
    if (slider->kind == LIVE_FRICTION)
        return set_scaled(model, CT_QUANTITY_FRICTION, s->friction, s->nfriction, slider->value, error);
    if (slider->kind != LIVE_GRAVITY) return CT_OK;
    double gravity[3];
    ct_model_get(model, CT_QUANTITY_GRAVITY, gravity);
    gravity[slider->index] = slider->value;
    return ct_model_set(model, CT_QUANTITY_GRAVITY, gravity, error);
}

void live_sliders_control(const live_sliders* s, double* control) {
    for (int k = 0; k < s->count; k++)
        if (s->list[k].kind == LIVE_CONTROL && s->list[k].moved) control[s->list[k].index] = s->list[k].value;
}

json_t* live_sliders_json(const live_sliders* s) {
    json_t* list = json_array();
    for (int k = 0; k < s->count; k++)
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f, s:f}", "title", s->list[k].title, "low",
                                        s->list[k].low, "high", s->list[k].high, "value", s->list[k].value));
    return list;
}
