// What can be measured of a state: energies, momenta, centre of mass, volume, fields per tet.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "shape/closed_surface.h"
#include "step/actuate.h"
#include "step/state.h"

ct_status ct_state_tet_field(const ct_model* model, const ct_state* state, ct_tet_field field,
                             double* values) {
    CT_NEED(NULL, model, state);
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    if (field == CT_FIELD_ACTIVATION) {
        ct_actuate_field(model, state->actuation, values);
        return CT_OK;
    }
    double* density = field == CT_FIELD_ENERGY_DENSITY ? values : NULL;
    double* von_mises = field == CT_FIELD_VON_MISES ? values : NULL;
    double* volume = field == CT_FIELD_VOLUME_RATIO ? values : NULL;
    if (!density && !von_mises && !volume) return CT_BAD_ARGUMENT;
    ct_elastic_fields(model->families.of[CT_FAMILY_SOLIDS], state->x, density, von_mises, volume);
    return CT_OK;
}

ct_status ct_state_cavity(const ct_model* model, const ct_state* state, int actuator, double* volume,
                          double* rest, double* pressure) {
    CT_NEED(NULL, model, state);
    const ct_actuators* all = &model->actuators;
    if (!ct_state_fits(state, model) || actuator < 0 || actuator >= all->count) return CT_BAD_ARGUMENT;
    const ct_scene_actuator* a = &all->list[actuator];
    if (a->kind != CT_ACTUATOR_CAVITY) return CT_BAD_ARGUMENT;
    if (volume) *volume = ct_surface_volume(a->tri, a->nelement, state->x);
    if (rest) *rest = ct_surface_volume(a->tri, a->nelement, model->geometry.rest);
    if (pressure) *pressure = state->actuation[all->first[actuator]];
    return CT_OK;
}

ct_status ct_state_cable(const ct_model* model, const ct_state* state, int actuator, double* length,
                         double* rest, double* tension) {
    CT_NEED(NULL, model, state);
    const ct_actuators* all = &model->actuators;
    if (state->header->nvert != model->nvert || actuator < 0 || actuator >= all->count)
        return CT_BAD_ARGUMENT;
    if (all->list[actuator].kind != CT_ACTUATOR_CABLE) return CT_BAD_ARGUMENT;
    const ct_cable* cable = model->families.of[CT_FAMILY_CABLES];
    int k = 0;  // which of the cables
    for (int i = 0; i < actuator; i++) k += all->list[i].kind == CT_ACTUATOR_CABLE;
    ct_cable_measure(cable, k, state->actuation, state->x, length, tension, NULL);
    if (rest) *rest = all->list[actuator].rest_length;
    return CT_OK;
}

static void measure_node(const ct_model* model, const ct_state* state, int v, ct_measure* out) {
    const double *x = state->x + 3 * v, *u = state->v + 3 * v, m = model->mass[v];
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        out->center[a] += m * x[a];
        out->momentum[a] += m * u[a];
        out->angular_momentum[a] += m * (x[b] * u[c] - x[c] * u[b]);
        out->kinetic += 0.5 * m * u[a] * u[a];
        out->gravitational -= m * model->settings.gravity[a] * x[a];
    }
    out->mass += m;
}

static void measure_rotors(const ct_model* model, const ct_state* state, ct_measure* out) {
    for (int r = 0; r < model->tree.nrotor; r++) {
        const double rate = state->v[3 * (size_t)ct_tree_rotor_node(&model->tree, r)];
        out->kinetic += 0.5 * ct_tree_armature(&model->tree, r) * rate * rate;
    }
}

static double tet_volume(const ct_model* model, const double* x, int t) {
    double least;
    const int* mid = ct_model_middles(model, t);
    if (mid) return ct_cell_volume(model->geometry.tet + 4 * (size_t)t, mid, x, &least);
    const int* v = model->geometry.tet + 4 * (size_t)t;
    double e[3][3];
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) e[k][a] = x[3 * v[k + 1] + a] - x[3 * v[0] + a];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
            e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

ct_measure ct_state_measure(const ct_model* model, const ct_state* state) {
    ct_measure measure = {0};
    for (int v = 0; v < model->nvert; v++) measure_node(model, state, v, &measure);
    measure_rotors(model, state, &measure);
    for (int a = 0; a < 3; a++) measure.center[a] /= measure.mass;
    for (int t = 0; t < model->ntet; t++) measure.volume += tet_volume(model, state->x, t);
    measure.elastic = ct_families_energy(&model->families, state->x);
    return measure;
}
