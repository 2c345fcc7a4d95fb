// Inertia and mass damping; see inertia.h.
#include "step/inertia.h"

#include <string.h>

ct_rate ct_rate_euler(double h) { return (ct_rate){.c = 1 / h, .a = 1 / h, .b = 0}; }
ct_rate ct_rate_bdf2(double h) { return (ct_rate){.c = 1.5 / h, .a = 2 / h, .b = -0.5 / h}; }

void ct_inertia_begin(const ct_model* model, ct_work* work, const ct_state* state, ct_rate rate) {
    work->rate = rate;
    for (int v = 0; v < model->nvert; v++) {
        double gain = model->mass[v] > 0 ? 1 / (rate.c * rate.c * model->mass[v]) : 0;
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
