// A soft beam that bends far, with everything that a gradient may be taken of.
#ifndef CT_TESTS_ADJOINT_BEAM_H
#define CT_TESTS_ADJOINT_BEAM_H

#include "model/model.h"
#include "rollout.h"

typedef struct beam_def {
    ct_energy energy;
    ct_integrator integrator;
    double damping_mass, damping_stiffness;
    int cells[3];
    int nstep;
    double young, poisson, time_step, tolerance;
    int max_iterations;
    enum { FREE, HELD, DRIVEN } held;  // free; driven at one end and pulled at the other; driven everywhere
    int threads;
    size_t max_bytes;
} beam_def;

static beam_def beam_default(void) {
    return (beam_def){.cells = {3, 1, 1},
                      .nstep = 7,
                      .young = 2e4,
                      .poisson = 0.35,
                      .time_step = 0.02,
                      .tolerance = 1e-13,
                      .max_iterations = 400,
                      .held = HELD,
                      .threads = 1};
}

static void select_plane(ct_scene* scene, double at, int** nodes, int* count) {
    ct_error error = {0};
    const ct_selector selector = {
        .kind = CT_SELECT_BOX, .body = -1, .a = {at - 1e-9, -1, -1}, .b = {at + 1e-9, 1, 1}};
    must(ct_scene_select(scene, &selector, nodes, count, &error), &error);
}

// One end follows a motion with a control on top, the other is pulled by a force and a force control.
static void add_actions(ct_scene* scene, double length, bool everywhere) {
    ct_error error = {0};
    int *nodes = NULL, count = 0;
    const ct_selector all = ct_selector_default();
    if (everywhere) must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    else select_plane(scene, 0, &nodes, &count);
    const ct_keyframe key[2] = {{.time = 0},
                                {.time = 0.3, .translate = {0, 0.03, 0.02}, .rotate = {0.5, 0.2, -0.3}}};
    const ct_motion motion = {.key = key, .nkey = 2, .center = {0, 0.1, 0.1}, .smooth = true};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    must(ct_scene_add_drive_control(scene, "mount", 0, &error), &error);
    ct_free(nodes);
    select_plane(scene, length, &nodes, &count);
    must(ct_scene_add_force_control(scene, "pull", nodes, count, &error), &error);
    ct_force_def force = ct_force_def_default();
    force.vector[0] = 2, force.vector[1] = -3;
    force.stop = 0.05;
    must(ct_scene_add_force(scene, nodes, count, &force, &error), &error);
    force.kind = CT_FORCE_ACCELERATION;
    must(ct_scene_add_force(scene, nodes, count, &force, &error), &error);
    ct_free(nodes);
}

static rollout beam_start(const beam_def* def) {
    ct_settings settings = ct_settings_default();
    settings.time_step = def->time_step;
    settings.integrator = def->integrator;
    settings.tolerance = def->tolerance;
    settings.max_iterations = def->max_iterations;
    settings.max_substep_depth = 6;
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    material.energy = def->energy;
    material.young = def->young;
    material.poisson = def->poisson;
    const double cell = 0.2 / def->cells[1], size[3] = {cell * def->cells[0], 0.2, cell * def->cells[2]};
    add_box(scene, size, def->cells, &material);
    if (def->held) add_actions(scene, size[0], def->held == DRIVEN);
    rollout r = rollout_start(start(scene, def->threads), def->nstep, def->max_bytes);
    r.sim.model->system.refactor_cost = 20;  // cheap, so that the factor is refreshed on the way
    uint64_t seed = 3;
    for (int t = 0; t < r.ntet; t++) {
        r.value[r.first[YOUNG] + t] *= 1 + 0.5 * noise(&seed);
        r.value[r.first[POISSON] + t] += 0.1 * noise(&seed);
        r.value[r.first[DENSITY] + t] *= 1 + 0.3 * noise(&seed);
        r.value[r.first[DAMPING_MASS] + t] = def->damping_mass * (1 + 0.5 * noise(&seed));
        r.value[r.first[DAMPING_STIFFNESS] + t] = def->damping_stiffness * (1 + 0.5 * noise(&seed));
    }
    for (int v = 0; v < r.nvert; v++) {
        double *x = r.value + r.first[POSITION] + 3 * v, *u = r.value + r.first[VELOCITY] + 3 * v;
        const double along = x[0];
        u[1] += 2 * along, u[2] += -3 * along;
        for (int a = 0; a < 3; a++) x[a] += 0.01 * noise(&seed), u[a] += 0.3 * noise(&seed);
    }
    return r;
}

#endif
