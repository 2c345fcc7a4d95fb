// Controls of actuators; see actuate.h.
#include "step/actuate.h"

#include <math.h>
#include <string.h>

static double wanted_of(const ct_actuators* all, const double* control, int i) {
    return all->start[i] + (control && all->control[i] >= 0 ? control[all->control[i]] : 0);
}

void ct_actuate_at(const ct_model* model, const double* before, const double* control, double fraction,
                   double* value) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++) {
        double decay = pow(all->decay[i], fraction);
        value[i] = decay * before[i] + (1 - decay) * wanted_of(all, control, i);
    }
}

void ct_actuate_at_vjp(const ct_model* model, double fraction, const double* bar, double* before_bar,
                       double* control_bar) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++) {
        double decay = pow(all->decay[i], fraction);
        before_bar[i] += decay * bar[i];
        if (control_bar && all->control[i] >= 0) control_bar[all->control[i]] += (1 - decay) * bar[i];
    }
}

void ct_actuate_at_jvp(const ct_model* model, double fraction, const double* before_dot,
                       const double* control_dot, double* dot) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++) {
        const double decay = pow(all->decay[i], fraction);
        dot[i] =
            decay * before_dot[i] + (all->control[i] >= 0 ? (1 - decay) * control_dot[all->control[i]] : 0);
    }
}

ct_status ct_actuate(const ct_model* model, const double* before, const double* control, double* value) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++) {
        double wanted = wanted_of(all, control, i);
        value[i] = all->decay[i] * before[i] + (1 - all->decay[i]) * wanted;
        if (!isfinite(value[i]) || !(value[i] >= all->least[i])) return CT_BAD_ARGUMENT;
    }
    return CT_OK;
}

void ct_actuate_vjp(const ct_model* model, double* bar, double* control_bar) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++) {
        if (control_bar && all->control[i] >= 0) control_bar[all->control[i]] += (1 - all->decay[i]) * bar[i];
        bar[i] *= all->decay[i];
    }
}

void ct_actuate_jvp(const ct_model* model, const double* control_dot, double* dot) {
    const ct_actuators* all = &model->actuators;
    for (int i = 0; i < all->size; i++)
        dot[i] = all->decay[i] * dot[i] +
                 (all->control[i] >= 0 ? (1 - all->decay[i]) * control_dot[all->control[i]] : 0);
}

void ct_actuate_field(const ct_model* model, const double* value, double* field) {
    const ct_actuators* all = &model->actuators;
    memset(field, 0, (size_t)model->ntet * sizeof(double));
    for (int k = 0; k < all->count; k++) {
        const ct_scene_actuator* a = &all->list[k];
        for (int e = 0; a->tet && e < a->nelement; e++) {
            int number = all->first[k] + a->number[e];
            double here = a->weight ? a->weight[e] * value[number] : value[number] - 1;
            if (fabs(here) > fabs(field[a->tet[e]])) field[a->tet[e]] = here;
        }
    }
}
