// Inertia, external forces, mass damping and prescribed motion; see inertia.h.
#include "step/inertia.h"

#include <string.h>

ct_rate ct_rate_euler(double h) { return (ct_rate){.c = 1 / h, .a = 1 / h, .b = 0}; }
ct_rate ct_rate_bdf2(double h) { return (ct_rate){.c = 1.5 / h, .a = 2 / h, .b = -0.5 / h}; }

static void add_force(const ct_model* model, const ct_scene_force* force, double* total) {
    double mass = 0;
    for (int k = 0; k < force->nnode; k++) mass += model->mass[force->node[k]];
    for (int k = 0; k < force->nnode; k++) {
        int v = force->node[k];
        double weight = force->def.kind == CT_FORCE_PER_NODE ? 1
                      : force->def.kind == CT_FORCE_TOTAL    ? model->mass[v] / mass
                                                             : model->mass[v];
        for (int a = 0; a < 3; a++) total[3 * v + a] += weight * force->def.vector[a];
    }
}

void ct_inertia_forces(const ct_model* model, double time, double* force) {
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; a < 3; a++) force[3 * v + a] = model->mass[v] * model->settings.gravity[a];
    double slack = 1e-9 * model->settings.time_step;  // times are sums of rounded steps
    for (int i = 0; i < model->nforce; i++) {
        const ct_force_def* def = &model->force[i].def;
        if (time >= def->start - slack && time < def->stop - slack) add_force(model, &model->force[i], force);
    }
}

void ct_inertia_begin(const ct_model* model, ct_work* work, const ct_state* state, ct_rate rate) {
    work->rate = rate;
    for (int v = 0; v < model->nvert; v++) {
        double gain = 1 / (rate.c * rate.c * model->mass[v]);
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            double p = rate.a * state->x[i] + rate.b * state->x_previous[i];
            double q = rate.a * state->v[i] + rate.b * state->v_previous[i];
            work->history[i] = p;
            work->inertial[i] = (p + q / rate.c) / rate.c + gain * work->force[i];
        }
    }
}

static double drag_gradient(const ct_model* model, const ct_work* work, const double* x, double* rho) {
    double c = work->rate.c, potential = 0;
    for (int v = 0; v < model->nvert; v++)
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            double velocity = c * x[i] - work->history[i];
            rho[i] += model->free_drag[v] * velocity;
            potential += 0.5 * model->free_drag[v] / c * velocity * velocity;
        }
    return potential;
}

double ct_inertia_gradient(const ct_model* model, const ct_work* work, const double* x, double* rho) {
    double square = work->rate.c * work->rate.c, potential[3] = {0, 0, 0};
    for (int v = 0; v < model->nvert; v++) {
        double stiffness = square * model->free_mass[v];
        for (int a = 0; a < 3; a++) {
            double offset = x[3 * v + a] - work->inertial[3 * v + a];
            rho[3 * v + a] += stiffness * offset;
            potential[a] += 0.5 * stiffness * offset * offset;
        }
    }
    double dissipation = model->damped ? drag_gradient(model, work, x, rho) : 0;
    return potential[0] + potential[1] + potential[2] + dissipation;
}

void ct_inertia_product(const ct_model* model, const ct_work* work, const double* dx, double* out) {
    double c = work->rate.c;
    for (int v = 0; v < model->nvert; v++) {
        double stiffness = c * (c * model->free_mass[v] + model->free_drag[v]);
        for (int a = 0; a < 3; a++) out[3 * v + a] += stiffness * dx[3 * v + a];
    }
}

void ct_inertia_drive(const ct_model* model, double time, double* x) {
    for (int i = 0; i < model->ndrive; i++) {
        const ct_scene_driver* drive = &model->drive[i];
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            ct_scene_drive_position(drive, time, model->rest + at, x + at);
        }
    }
}
