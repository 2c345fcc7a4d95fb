// What integrators conserve: a soft box spins and flies; relative errors after 0.2 s.
#ifndef CT_TESTS_DRIFT_H
#define CT_TESTS_DRIFT_H

#include "build.h"

typedef struct drift {
    double momentum, angular, energy;
} drift;

static inline sim spinning_box(double h, ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.integrator = integrator;
    settings.threads = 1;
    settings.tolerance = 1e-12;
    for (int a = 0; a < 3; a++) settings.gravity[a] = 0;
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    material.energy = CT_ENERGY_NEOHOOKEAN;
    material.young = 2e4, material.poisson = 0.3, material.density = 1000;
    add_box(scene, (double[]){0.4, 0.3, 0.2}, (int[]){3, 2, 2}, &material);
    ct_error error = {0};
    ct_selector all = {.kind = CT_SELECT_ALL, .body = -1};
    int *nodes, count;
    must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    must(ct_scene_set_velocity(scene, nodes, count, (double[]){1, -2, 0.5}, (double[]){2, 1, 3}, &error),
         &error);
    ct_free(nodes);
    return start(scene, 1);
}

static inline drift drift_of(double h, ct_integrator integrator) {
    sim s = spinning_box(h, integrator);
    const ct_measure first = ct_state_measure(s.model, s.state);
    steps(&s, (int)lround(0.2 / h));
    const ct_measure last = ct_state_measure(s.model, s.state);
    drift d = {0};
    double p = 0, l = 0;
    for (int a = 0; a < 3; a++) {
        d.momentum += pow(last.momentum[a] - first.momentum[a], 2);
        d.angular += pow(last.angular_momentum[a] - first.angular_momentum[a], 2);
        p += pow(first.momentum[a], 2);
        l += pow(first.angular_momentum[a], 2);
    }
    d.momentum = sqrt(d.momentum / p);
    d.angular = sqrt(d.angular / l);
    d.energy = fabs(last.kinetic + last.elastic - first.kinetic - first.elastic) / first.kinetic;
    stop(&s);
    return d;
}

#endif
