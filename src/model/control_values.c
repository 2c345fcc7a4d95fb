// Values of controls along time; see control_values.h.
#include "model/control_values.h"

#include <math.h>
#include <string.h>

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
    memset(out, 0, (size_t)model->inputs.control_size * sizeof *out);
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* control = &model->inputs.control[i];
        if (!control->nvalue) continue;
        double fraction;
        size_t size = (size_t)control->size;
        const double* row = control->value + (size_t)find_row(control, time, &fraction) * size;
        for (size_t k = 0; k < size; k++)
            out[(size_t)model->inputs.control_first[i] + k] =
                fraction > 0 ? (1 - fraction) * row[k] + fraction * row[size + k] : row[k];
    }
}

bool ct_control_has_values(const ct_model* model) {
    for (int i = 0; i < model->inputs.ncontrol; i++)
        if (model->inputs.control[i].nvalue) return true;
    return false;
}

const double* ct_control_or_values(const ct_model* model, double time, const double* control,
                                   double* buffer) {
    if (control || !ct_control_has_values(model)) return control;
    ct_model_control_values(model, time, buffer);
    return buffer;
}
