// Values of controls along time; see control_values.h.
#include "model/control_values.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

// ---- scene ---------------------------------------------------------------------------------

static ct_status check_table(const double* time, const double* values, int count, int size, bool repeat,
                             ct_error* error) {
    if (count < 1 || !values || (count > 1 && !time))
        return ct_scene_fail(error, "values", "is empty: give a value, or keys along time");
    for (int i = 0; i < count; i++) {
        if (time && !isfinite(time[i]))
            return ct_scene_fail(error, "values", "has a time that is not finite in row %d", i);
        if (i && !(time[i] > time[i - 1]))
            return ct_scene_fail(
                error, "values",
                "has time %g in row %d, not after %g of the row before it: rows must be in order of time",
                time[i], i, time[i - 1]);
        for (int k = 0; k < size; k++)
            if (!isfinite(values[(size_t)i * (size_t)size + (size_t)k]))
                return ct_scene_fail(error, "values", "has a number that is not finite in row %d", i);
    }
    for (int k = 0; repeat && k < size; k++)
        if (values[k] != values[(size_t)(count - 1) * (size_t)size + (size_t)k])
            return ct_scene_fail(error, "repeat",
                                 "needs a last row that equals the first, where the motion starts over");
    if (repeat && count < 2) return ct_scene_fail(error, "repeat", "needs two rows at least");
    return CT_OK;
}

ct_status ct_scene_set_control_values(ct_scene* scene, const char* name, const double* time,
                                      const double* values, int count, bool repeat, ct_error* error) {
    ct_error_clear(error);
    int index = name ? ct_scene_find_control(scene, name) : -1;
    if (index < 0)
        return ct_scene_fail(error, "name", "is \"%.60s\": there is no control of that name",
                             name ? name : "");
    ct_scene_control* control = &scene->control[index];
    ct_status status = check_table(time, values, count, control->size, repeat, error);
    if (status) return status;
    const double start = 0;
    double* times = ct_arena_copy(&scene->goals, time ? time : &start, (size_t)count, sizeof *times);
    double* table =
        ct_arena_copy(&scene->goals, values, (size_t)count * (size_t)control->size, sizeof *table);
    if (!times || !table) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    control->time = times;
    control->value = table;
    control->nvalue = count;
    control->repeat = repeat;
    return CT_OK;
}

ct_status ct_scene_check_shape(const ct_scene_parameter* p, ct_error* error) {
    static const char* const names[] = {"amplitude", "frequency", "phase", "center"};
    if ((unsigned)p->shape > CT_CURVE_SINUSOID)
        return ct_scene_fail(error, "shape", "is not one of ct_curve");
    if (p->shape != CT_CURVE_STEPS && p->kind != CT_PARAMETER_CONTROL)
        return ct_scene_fail(error, "shape", "is for parameters of type \"control\"");
    if (p->shape == CT_CURVE_SPLINE && p->knots < 2)
        return ct_scene_fail(error, "knots", "is %d: it must be 2 or more", p->knots);
    int fixed = 0;
    for (int k = 0; p->shape == CT_CURVE_SINUSOID && k < 4; k++) {
        const ct_wave_number* w = &p->wave[k];
        if (!isfinite(w->start)) return ct_scene_fail(error, names[k], "is missing: give where it starts");
        if (!(w->lower < w->upper) || !(w->start >= w->lower && w->start <= w->upper))
            return ct_scene_fail(error, names[k],
                                 "starts from %g: it must lie between its lower and upper, %g and %g",
                                 w->start, w->lower, w->upper);
        fixed += w->fixed;
    }
    return fixed == 4 ? ct_scene_fail(error, "shape",
                                      "is a sinusoid with everything fixed: leave one of its numbers free")
                      : CT_OK;
}

// ---- model ---------------------------------------------------------------------------------

// Row before `time` and how far beyond it, as a fraction of the way to the next.
static int find_row(const ct_scene_control* control, double time, double* fraction) {
    const double* key = control->time;
    int last = control->nvalue - 1, low = 0, high = last;
    *fraction = 0;
    if (control->repeat) {
        double period = key[last] - key[0];
        time = key[0] + fmod(fmod(time - key[0], period) + period, period);
    }
    if (time <= key[0]) return 0;
    if (time >= key[last]) return last;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (key[middle] <= time) low = middle;
        else high = middle;
    }
    *fraction = (time - key[low]) / (key[low + 1] - key[low]);
    return low;
}

void ct_model_control_values(const ct_model* model, double time, double* out) {
    memset(out, 0, (size_t)model->control_size * sizeof *out);
    for (int i = 0; i < model->ncontrol; i++) {
        const ct_scene_control* control = &model->control[i];
        if (!control->nvalue) continue;
        double fraction;
        size_t size = (size_t)control->size;
        const double* row = control->value + (size_t)find_row(control, time, &fraction) * size;
        for (size_t k = 0; k < size; k++)
            out[(size_t)model->control_first[i] + k] =
                fraction > 0 ? (1 - fraction) * row[k] + fraction * row[size + k] : row[k];
    }
}

bool ct_control_has_values(const ct_model* model) {
    for (int i = 0; i < model->ncontrol; i++)
        if (model->control[i].nvalue) return true;
    return false;
}

const double* ct_control_or_values(const ct_model* model, double time, const double* control,
                                   double* buffer) {
    if (control || !ct_control_has_values(model)) return control;
    ct_model_control_values(model, time, buffer);
    return buffer;
}
