// External forces, prescribed motion and their controls; see external.h.
#include "step/external.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"

// ---- forces --------------------------------------------------------------------------------

static bool acts(const ct_model* model, const ct_force_def* def, double time) {
    double slack = 1e-9 * model->settings.time_step;  // times are sums of rounded steps
    return time >= def->start - slack && time < def->stop - slack;
}

static double set_mass(const ct_model* model, const int* node, int nnode) {
    double mass = 0;
    for (int k = 0; k < nnode; k++) mass += model->mass[node[k]];
    return mass;
}

static void add_force(const ct_model* model, const int* node, int nnode, ct_force_kind kind, const double vector[3], double* force) {
    double total = kind == CT_FORCE_TOTAL ? set_mass(model, node, nnode) : 1;
    for (int k = 0; k < nnode; k++) {
        double weight = kind == CT_FORCE_PER_NODE ? 1 : model->mass[node[k]] / total;
        for (int a = 0; a < 3; a++) force[3 * node[k] + a] += weight * vector[a];
    }
}

// Returns d(force . force_bar)/d vector in vector_bar (added, may be NULL) and adds that with respect to the masses.
static void add_force_vjp(const ct_model* model, const int* node, int nnode, ct_force_kind kind, const double vector[3],
                          const double* force_bar, double* mass_bar, double* vector_bar) {
    double total = kind == CT_FORCE_TOTAL ? set_mass(model, node, nnode) : 1, power = 0;
    for (int k = 0; k < nnode; k++) {
        const double* bar = force_bar + 3 * node[k];
        double weight = kind == CT_FORCE_PER_NODE ? 1 : model->mass[node[k]] / total;
        double along = vector[0] * bar[0] + vector[1] * bar[1] + vector[2] * bar[2];
        power += weight * along;
        if (mass_bar && kind != CT_FORCE_PER_NODE) mass_bar[node[k]] += along / total;
        for (int a = 0; vector_bar && a < 3; a++) vector_bar[a] += weight * bar[a];
    }
    // the share m_i / sum m also falls when another node grows heavier
    if (mass_bar && kind == CT_FORCE_TOTAL)
        for (int k = 0; k < nnode; k++) mass_bar[node[k]] -= power / total;
}

void ct_external_forces(const ct_model* model, double time, const double* control, double* force) {
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; a < 3; a++) force[3 * v + a] = model->mass[v] * model->settings.gravity[a];
    for (int i = 0; i < model->nforce; i++) {
        const ct_scene_force* f = &model->force[i];
        if (acts(model, &f->def, time)) add_force(model, f->node, f->nnode, f->def.kind, f->def.vector, force);
    }
    for (int i = 0; control && i < model->ncontrol; i++) {
        const ct_scene_control* c = &model->control[i];
        if (c->kind == CT_CONTROL_FORCE)
            add_force(model, c->node, c->nnode, CT_FORCE_TOTAL, control + model->control_first[i], force);
    }
}

void ct_external_forces_vjp(const ct_model* model, double time, const double* control, const double* force_bar,
                            double* mass_bar, double* gravity_bar, double* control_bar) {
    const double zero[3] = {0, 0, 0};
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; a < 3; a++) {
            if (mass_bar) mass_bar[v] += model->settings.gravity[a] * force_bar[3 * v + a];
            if (gravity_bar) gravity_bar[a] += model->mass[v] * force_bar[3 * v + a];
        }
    for (int i = 0; i < model->nforce; i++) {
        const ct_scene_force* f = &model->force[i];
        if (acts(model, &f->def, time))
            add_force_vjp(model, f->node, f->nnode, f->def.kind, f->def.vector, force_bar, mass_bar, NULL);
    }
    for (int i = 0; i < model->ncontrol; i++) {
        const ct_scene_control* c = &model->control[i];
        int first = model->control_first[i];
        if (c->kind == CT_CONTROL_FORCE)
            add_force_vjp(model, c->node, c->nnode, CT_FORCE_TOTAL, control ? control + first : zero, force_bar, mass_bar,
                          control_bar ? control_bar + first : NULL);
    }
}

// ---- prescribed motion ---------------------------------------------------------------------

static const double* control_of_drive(const ct_model* model, const double* control, int drive) {
    for (int i = 0; control && i < model->ncontrol; i++)
        if (model->control[i].kind == CT_CONTROL_DRIVE && model->control[i].drive == drive)
            return control + model->control_first[i];
    return NULL;
}

// x <- center + exp(w) (x - center) + s, with u = (s, w).
static void displace(const double center[3], const double u[6], double x[3]) {
    ct_vec3 arm = {x[0] - center[0], x[1] - center[1], x[2] - center[2]};
    ct_vec3 turned = ct_quat_rotate(ct_quat_from_vector((ct_vec3){u[3], u[4], u[5]}), arm);
    x[0] = center[0] + turned.x + u[0];
    x[1] = center[1] + turned.y + u[1];
    x[2] = center[2] + turned.z + u[2];
}

void ct_external_drive(const ct_model* model, double time, const double* control, double* x) {
    for (int i = 0; i < model->ndrive; i++) {
        const ct_scene_driver* drive = &model->drive[i];
        const double* u = control_of_drive(model, control, i);
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            ct_scene_drive_position(drive, time, model->rest + at, x + at);
            if (u) displace(drive->center, u, x + at);
        }
    }
}

// J^T t with J the left Jacobian of exp: d exp(w) y = (J dw) x (exp(w) y);
// J = I + (1 - cos a)/a^2 [w] + (a - sin a)/a^3 [w]^2, a = |w|.
static ct_vec3 left_jacobian_transposed(ct_vec3 w, ct_vec3 t) {
    double a = ct_vec3_norm(w), a2 = a * a;
    double first = a > 1e-3 ? 2 * pow(sin(a / 2) / a, 2) : 0.5 - a2 / 24;
    double second = a > 1e-2 ? (a - sin(a)) / (a2 * a) : 1.0 / 6 - a2 / 120;
    ct_vec3 wt = ct_vec3_cross(w, t);
    return ct_vec3_add(t, ct_vec3_add(ct_vec3_scale(-first, wt), ct_vec3_scale(second, ct_vec3_cross(w, wt))));
}

void ct_external_drive_vjp(const ct_model* model, double time, const double* control, const double* x_bar, double* control_bar) {
    for (int i = 0; i < model->ncontrol; i++) {
        if (model->control[i].kind != CT_CONTROL_DRIVE) continue;
        const ct_scene_driver* drive = &model->drive[model->control[i].drive];
        const double zero[6] = {0}, *u = control ? control + model->control_first[i] : zero;
        double* u_bar = control_bar + model->control_first[i];
        ct_vec3 w = {u[3], u[4], u[5]}, torque = {0, 0, 0};
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            double x[3];
            ct_scene_drive_position(drive, time, model->rest + at, x);
            displace(drive->center, u, x);
            ct_vec3 arm = {x[0] - u[0] - drive->center[0], x[1] - u[1] - drive->center[1], x[2] - u[2] - drive->center[2]};
            ct_vec3 bar = {x_bar[at], x_bar[at + 1], x_bar[at + 2]};
            for (int a = 0; a < 3; a++) u_bar[a] += x_bar[at + (size_t)a];
            torque = ct_vec3_add(torque, ct_vec3_cross(arm, bar));
        }
        ct_vec3 w_bar = left_jacobian_transposed(w, torque);
        u_bar[3] += w_bar.x;
        u_bar[4] += w_bar.y;
        u_bar[5] += w_bar.z;
    }
}
