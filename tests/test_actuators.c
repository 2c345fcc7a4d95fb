// Actuators in scenes: known equilibria, whole-trajectory gradients by differences, errors, iteration counts.
#include "rollout.h"

// ---- scenes

static ct_settings soft_settings(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.02;
    settings.duration = 100;
    settings.tolerance = 1e-13;
    settings.max_iterations = 400;
    settings.max_substep_depth = 6;
    return settings;
}

static ct_material soft_material(void) {
    ct_material material = ct_material_default();
    material.young = 2e4;
    material.poisson = 0.35;
    return material;
}

static ct_muscle_def muscle_along(const double* points, int npoint, double radius, double stiffness) {
    ct_muscle_def def = ct_muscle_def_default();
    def.points = points, def.npoint = npoint, def.radius = radius, def.stiffness = stiffness;
    return def;
}

// A box of cells^3 cells of edge `cell` without the one in the middle.
static int add_hollow_box(ct_scene* scene, int cells, double cell, const ct_material* material) {
    ct_mesh *full = NULL, *hollow = NULL;
    ct_error error = {0};
    const double size = cell * cells;
    must(ct_mesh_box(&full, (double[]){size, size, size}, (int[]){cells, cells, cells}, NULL), NULL);
    int *tet = calloc(4 * (size_t)full->ntet, sizeof(int)), ntet = 0, body;
    for (int t = 0; t < full->ntet; t++) {
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            double c = 0;
            for (int k = 0; k < 4; k++) c += 0.25 * full->x[3 * full->tet[4 * t + k] + a];
            inside = inside && fabs(c - size / 2) < cell / 2;
        }
        if (!inside) memcpy(tet + 4 * ntet++, full->tet + 4 * t, 4 * sizeof(int));
    }
    must(ct_mesh_create(&hollow, full->nvert, full->x, ntet, tet, 0, NULL, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = hollow;
    def.material = *material;
    must(ct_scene_add_body(scene, &def, &body, &error), &error);
    ct_mesh_free(full);
    ct_mesh_free(hollow);
    free(tet);
    return body;
}

// ---- equilibria

// A bar without lateral effects: E (l - 1) + k (l - (1 - a)) = 0.
static void muscle_shortens_a_bar_to_the_balance_of_stresses(void** state) {
    ct_settings settings = soft_settings();
    memset(settings.gravity, 0, sizeof settings.gravity);
    settings.time_step = 10;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft_material();
    material.energy = CT_ENERGY_COROTATED;
    material.poisson = 0;
    add_box(scene, (double[]){0.6, 0.2, 0.2}, (int[]){6, 2, 2}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    ct_muscle_def def = muscle_along((double[]){0, 0.1, 0.1, 0.6, 0.1, 0.1}, 2, 1, 3e4);
    def.activation = 0.4;
    must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
    sim s = start(scene, 1);
    steps(&s, 4);
    const double expected = (2e4 + 3e4 * 0.6) / (2e4 + 3e4);
    const double* x = ct_state_positions(s.state);
    for (int v = 0; v < node_count(&s); v++)
        assert_true(fabs(x[3 * v] - expected * ct_model_rest(s.model)[3 * v]) < 1e-9);
    stop(&s);
}

// Volume ratios of all tets after `count` steps without gravity of a body of cells that want the ratio 1.8.
static double* grown_ratios(const ct_mesh* mesh, const ct_material* material, int count) {
    ct_settings settings = soft_settings();
    memset(settings.gravity, 0, sizeof settings.gravity);
    settings.time_step = 1;
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material = *material;
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    ct_chamber_def def = ct_chamber_def_default();
    def.stiffness = 4e4, def.activation = 1.8;
    must(ct_scene_add_chamber(scene, &def, NULL, &error), &error);
    sim s = start(scene, 1);
    steps(&s, count);
    double* ratio = calloc((size_t)mesh->ntet, sizeof(double));
    must(ct_state_tet_field(s.model, s.state, CT_FIELD_VOLUME_RATIO, ratio), NULL);
    stop(&s);
    return ratio;
}

// In a free body all cells grow alike: (2 mu + 3 lambda) (s - 1) + k (s - a^(1/3)) = 0.
static void free_cells_grow_to_the_balance_of_stresses(void** state) {
    ct_material material = soft_material();
    material.energy = CT_ENERGY_COROTATED;
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, (double[]){0.4, 0.2, 0.2}, (int[]){4, 2, 2}, NULL), NULL);
    double* ratio = grown_ratios(mesh, &material, 15);
    const double mu = 2e4 / 2.7, lambda = 2e4 * 0.35 / (1.35 * 0.3), rest = 2 * mu + 3 * lambda;
    const double stretch = (rest + 4e4 * cbrt(1.8)) / (rest + 4e4);
    for (int t = 0; t < mesh->ntet; t++)
        if (!(fabs(ratio[t] - pow(stretch, 3)) < 1e-9))
            fail_msg("volume ratio %.10g of tet %d in place of %.10g", ratio[t], t, pow(stretch, 3));
    ct_mesh_free(mesh);
    free(ratio);
}

// One cell with hardly any elasticity.
static void free_cell_reaches_its_volume(void** state) {
    ct_material material = soft_material();
    material.young = 1e-5;
    ct_mesh* mesh = NULL;
    must(ct_mesh_create(&mesh, 4, (double[]){0, 0, 0, 0.3, 0, 0, 0, 0.2, 0.1, 0.1, 0, 0.2}, 1,
                        (int[]){0, 1, 2, 3}, 0, NULL, NULL),
         NULL);
    double* ratio = grown_ratios(mesh, &material, 15);
    if (!(fabs(ratio[0] - 1.8) < 1e-8)) fail_msg("volume ratio %.10g", ratio[0]);
    ct_mesh_free(mesh);
    free(ratio);
}

// Lame's thick-walled sphere: the inner radius grows by p a^3/(b^3 - a^3) ((1 - 2 nu) a + (1 + nu) b^3/(2
// a^2)) / E.
static void pressure_widens_a_hollow_sphere_as_lame_says(void** state) {
    const double a = 0.05, b = 0.1, p = 200, E = 2e4, nu = 0.3, zero[3] = {0};
    double error_of[2];
    for (int k = 0; k < 2; k++) {
        ct_settings settings = soft_settings();
        memset(settings.gravity, 0, sizeof settings.gravity);
        settings.time_step = 0.5;
        settings.tolerance = 1e-9;
        ct_scene* scene = new_scene(&settings);
        ct_shape* shape =
            ct_shape_difference(ct_shape_sphere(zero, b, NULL), ct_shape_sphere(zero, a, NULL), 0, NULL);
        ct_mesh* mesh = NULL;
        ct_fill_def fill = ct_fill_def_default();
        fill.size = k ? 0.0125 : 0.025;
        ct_error error = {0};
        must(ct_shape_fill(&mesh, shape, &fill, NULL, &error), &error);
        ct_shape_free(shape);
        ct_body_def body = ct_body_def_default();
        body.mesh = mesh;
        body.material = soft_material();
        body.material.poisson = nu;
        must(ct_scene_add_body(scene, &body, NULL, &error), &error);
        ct_cavity_def def = ct_cavity_def_default();
        def.pressure = p;
        must(ct_scene_add_cavity(scene, &def, NULL, &error), &error);
        sim s = start(scene, 1);
        steps(&s, 6);
        // mean radial displacement of the nodes on the inner surface
        const double *x = ct_state_positions(s.state), *rest = ct_model_rest(s.model);
        double grown = 0;
        int count = 0;
        for (int v = 0; v < node_count(&s); v++) {
            const double r = sqrt(rest[3 * v] * rest[3 * v] + rest[3 * v + 1] * rest[3 * v + 1] +
                                  rest[3 * v + 2] * rest[3 * v + 2]);
            if (r > 1.02 * a) continue;
            grown +=
                sqrt(x[3 * v] * x[3 * v] + x[3 * v + 1] * x[3 * v + 1] + x[3 * v + 2] * x[3 * v + 2]) - r;
            count++;
        }
        const double lame = p * pow(a, 3) / (pow(b, 3) - pow(a, 3)) *
                            ((1 - 2 * nu) * a + (1 + nu) * pow(b, 3) / (2 * a * a)) / E;
        assert_true(count > 20);
        error_of[k] = fabs(grown / count / lame - 1);
        ct_mesh_free(mesh);
        stop(&s);
    }
    if (!(error_of[1] < 0.06 && error_of[1] < 0.6 * error_of[0]))
        fail_msg("errors %g, %g", error_of[0], error_of[1]);
}

// Without a way to push off, actuators do not move the centre of mass, nor turn the body.
static void actuators_conserve_momentum(void** state) {
    ct_settings settings = soft_settings();
    memset(settings.gravity, 0, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    const ct_material material = soft_material();
    add_hollow_box(scene, 3, 0.1, &material);
    ct_error error = {0};
    ct_muscle_def muscle = muscle_along((double[]){0, 0.05, 0.05, 0.3, 0.08, 0.02}, 2, 0.12, 5e4);
    muscle.activation = 0.5;
    must(ct_scene_add_muscle(scene, &muscle, NULL, &error), &error);
    ct_cavity_def cavity = ct_cavity_def_default();
    for (int a = 0; a < 3; a++) cavity.seed[a] = 0.15;
    cavity.pressure = 5000;
    must(ct_scene_add_cavity(scene, &cavity, NULL, &error), &error);
    sim s = start(scene, 1);
    ct_measure before, after;
    before = ct_state_measure(s.model, s.state);
    steps(&s, 20);
    after = ct_state_measure(s.model, s.state);
    double moved = 0;
    for (int i = 0; i < 3 * node_count(&s); i++)
        moved = fmax(moved, fabs(ct_state_positions(s.state)[i] - ct_model_rest(s.model)[i]));
    assert_true(moved > 0.01);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(after.center[i] - before.center[i]) < 1e-11);
        assert_true(fabs(after.momentum[i]) < 1e-9 && fabs(after.angular_momentum[i]) < 1e-3 * after.mass);
    }
    stop(&s);
}

static void activation_follows_its_time(void** state) {
    ct_settings settings = soft_settings();
    ct_scene* scene = new_scene(&settings);
    const ct_material material = soft_material();
    add_box(scene, (double[]){0.4, 0.2, 0.2}, (int[]){2, 1, 1}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    ct_muscle_def def = muscle_along((double[]){0, 0.1, 0.1, 0.4, 0.1, 0.1}, 2, 0.3, 1e4);
    def.activation = 0.1, def.activation_time = 0.05, def.segments = 2;
    must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
    must(ct_scene_add_actuator_control(scene, "muscle", 0, &error), &error);
    sim s = start(scene, 1);
    assert_int_equal(ct_model_control_size(s.model), 2);
    for (int i = 0; i < 5; i++) must(ct_step(s.model, s.work, s.state, (double[]){0.6, 0}, NULL), NULL);
    assert_true(fabs(ct_state_actuation(s.state)[0] - (0.7 - 0.6 * exp(-0.1 / 0.05))) < 1e-14);
    assert_true(fabs(ct_state_actuation(s.state)[1] - 0.1) < 1e-14);
    ct_model_info info = ct_model_summary(s.model);
    double* field = calloc((size_t)info.ntet, sizeof(double));
    must(ct_state_tet_field(s.model, s.state, CT_FIELD_ACTIVATION, field), NULL);
    double most = 0;
    for (int t = 0; t < info.ntet; t++) most = fmax(most, field[t]);
    assert_true(most > 0.3 && most <= ct_state_actuation(s.state)[0]);
    free(field);
    stop(&s);
}

// ---- gradients

typedef enum scene_kind { MUSCLES, SLOW_MUSCLES, CELLS, CAVITY, CABLES } scene_kind;

// One under tension through the world and the body, one that is wound in and follows its control slowly.
static void add_cables(ct_scene* scene) {
    const ct_eyelet_def tight[] = {{.seat = CT_EYELET_WORLD, .point = {-0.1, 0.05, 0.1}},
                                   {.seat = CT_EYELET_BODY, .point = {0.2, 0.05, 0.1}},
                                   {.seat = CT_EYELET_BODY, .point = {0.55, 0.06, 0.12}}},
                        wound[] = {{.seat = CT_EYELET_BODY, .point = {0.1, 0.15, 0.1}},
                                   {.seat = CT_EYELET_NODE, .index = 6},
                                   {.seat = CT_EYELET_BODY, .point = {0.55, 0.15, 0.08}}};
    for (int k = 0; k < 2; k++) {
        ct_error error = {0};
        ct_cable_def def = ct_cable_def_default();
        def.eyelets = k ? wound : tight, def.count = 3;
        if (k) def.hold = CT_CABLE_LENGTH, def.length = 0.4, def.stiffness = 300, def.activation_time = 0.03;
        else def.tension = 30;
        must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
        must(ct_scene_add_actuator_control(scene, k ? "wind" : "pull", k, &error), &error);
    }
}

static void add_actuators(ct_scene* scene, scene_kind kind) {
    ct_error error = {0};
    if (kind == MUSCLES || kind == SLOW_MUSCLES) {
        for (int k = 0; k < 2; k++) {
            ct_muscle_def def = muscle_along(
                (double[]){0, 0.05 + 0.1 * k, 0.05, 0.3, 0.05 + 0.1 * k, 0.1, 0.6, 0.1, 0.1}, 3, 0.15, 3e4);
            def.segments = k ? 0 : 3, def.activation = 0.3,
            def.activation_time = kind == SLOW_MUSCLES ? 0.03 : 0;
            must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
            must(ct_scene_add_actuator_control(scene, k ? "lower" : "upper", k, &error), &error);
        }
    } else if (kind == CELLS) {
        ct_chamber_def def = ct_chamber_def_default();
        def.stiffness = 3e4, def.cells = CT_CELLS_PER_TET, def.activation = 1.5;
        must(ct_scene_add_chamber(scene, &def, NULL, &error), &error);
        must(ct_scene_add_actuator_control(scene, "cells", 0, &error), &error);
    } else if (kind == CABLES) {
        add_cables(scene);
    } else {
        ct_cavity_def def = ct_cavity_def_default();
        for (int a = 0; a < 3; a++) def.seed[a] = 0.15;
        def.pressure = 3000;
        must(ct_scene_add_cavity(scene, &def, NULL, &error), &error);
        must(ct_scene_add_actuator_control(scene, "pressure", 0, &error), &error);
    }
}

static rollout actuated_start(scene_kind kind, ct_integrator integrator, int max_iterations,
                              size_t max_bytes) {
    ct_settings settings = soft_settings();
    settings.max_iterations = max_iterations;
    settings.integrator = integrator;
    ct_scene* scene = new_scene(&settings);
    const ct_material material = soft_material();
    if (kind == CAVITY) add_hollow_box(scene, 3, 0.1, &material);
    else add_box(scene, (double[]){0.6, 0.2, 0.2}, (int[]){3, 1, 1}, &material);
    pin_plane(scene, 0, 0);
    add_actuators(scene, kind);
    rollout r = rollout_start(start(scene, 1), 6, max_bytes);
    uint64_t seed = 3;
    for (int t = 0; t < r.ntet; t++) {
        r.value[r.first[DAMPING_MASS] + t] = 0.5;
        r.value[r.first[DAMPING_STIFFNESS] + t] = 0.01;
    }
    for (int i = 0; i < 3 * r.nvert; i++) {
        r.value[r.first[POSITION] + i] += 0.005 * noise(&seed);
        r.value[r.first[VELOCITY] + i] += 0.2 * noise(&seed);
    }
    return r;
}

static void check_kind(scene_kind kind, const char* name) {
    static const ct_integrator integrator[] = {CT_INTEGRATOR_EULER, CT_INTEGRATOR_BDF2, CT_INTEGRATOR_SDIRK2};
    for (int k = 0; k < 3; k++) {
        rollout r = actuated_start(kind, integrator[k], 400, 0);
        assert_true(check_slices(&r, 0.1, 2e-8, 2, name));
        assert_int_equal(r.substepped, 0);
        rollout_stop(&r);
    }
}
static void muscle_gradient_matches_differences(void** state) { check_kind(MUSCLES, "muscles"); }
static void slow_muscle_gradient_matches_differences(void** state) {
    check_kind(SLOW_MUSCLES, "slow muscles");
}
static void cell_gradient_matches_differences(void** state) { check_kind(CELLS, "cells"); }
static void cavity_gradient_matches_differences(void** state) { check_kind(CAVITY, "cavity"); }
static void cable_gradient_matches_differences(void** state) { check_kind(CABLES, "cables"); }

// Stiffness of actuators: d L/d k by central differences.
static void check_stiffness(scene_kind kind) {
    rollout r = actuated_start(kind, CT_INTEGRATOR_EULER, 400, 0);
    const int count = ct_model_actuator_count(r.sim.model);
    double gradient_of[4] = {7, 7, 7, 7}, other[4] = {7, 7, 7, 7}, stiffness[4];
    for (int k = 0; k < count; k++) stiffness[k] = (kind == CABLES ? 300 : 3e4) * (1 + 0.2 * k);
    const ct_values values = {.of = {[CT_QUANTITY_MUSCLE_STIFFNESS] = stiffness,
                                     [CT_QUANTITY_CHAMBER_STIFFNESS] = stiffness,
                                     [CT_QUANTITY_CABLE_STIFFNESS] = stiffness}};
    must(ct_model_set_values(r.sim.model, &values, NULL, NULL), NULL);
    evaluate(&r, r.value);
    const bool muscles = kind == MUSCLES || kind == SLOW_MUSCLES;
    ct_values gradient = {.of = {[CT_QUANTITY_MUSCLE_STIFFNESS] = muscles ? gradient_of : other,
                                 [CT_QUANTITY_CHAMBER_STIFFNESS] = kind == CELLS ? gradient_of : other,
                                 [CT_QUANTITY_CABLE_STIFFNESS] = kind == CABLES ? gradient_of : other}};
    must(ct_backward(r.sim.model, r.sim.work, r.tape, r.value + r.first[CONTROLS], add_seed, &r, &gradient,
                     NULL),
         NULL);
    for (int k = 0; k < count; k++) {
        assert_true(other[k] == 0);
        if (kind == CABLES && k == 0) {  // under a tension
            assert_true(gradient_of[k] == 0);
            continue;
        }
        const double at = stiffness[k];
        double coarser = 0, best = INFINITY, before = INFINITY;
        for (int level = 0; level < 5; level++) {
            const double h = 0.1 * at / pow(4, level);
            double loss[2];
            for (int side = 0; side < 2; side++) {
                stiffness[k] = at + (side ? h : -h);
                must(ct_model_set_values(r.sim.model, &values, NULL, NULL), NULL);
                loss[side] = evaluate(&r, r.value);
            }
            const double finer = (loss[1] - loss[0]) / (2 * h), error = fabs(finer / gradient_of[k] - 1);
            if (level > 0) best = fmin(best, fabs((16 * finer - coarser) / 15 / gradient_of[k] - 1));
            if (level > 0 && error > 1e-8) assert_true(log(before / error) / log(4) > 1.8);
            before = error;
            coarser = finer;
        }
        stiffness[k] = at;
        if (!(best < 2e-8)) fail_msg("actuator %d: error %g of %g", k, best, gradient_of[k]);
    }
    rollout_stop(&r);
}
static void stiffness_gradient_matches_differences(void** state) {
    check_stiffness(MUSCLES);
    check_stiffness(SLOW_MUSCLES);
    check_stiffness(CELLS);
    check_stiffness(CABLES);
}

// Activations jump on the way and some step is halved: all of its parts see the activation of the whole step.
// Losses where another step is halved lie close by: a limit that keeps clear of them is looked for.
static void gradient_is_right_where_steps_are_halved(void** state) {
    for (int kind = MUSCLES; kind <= CELLS; kind++) {
        bool clear = false;
        for (int limit = 14; limit < 40 && !clear; limit++) {
            rollout r = actuated_start((scene_kind)kind, CT_INTEGRATOR_EULER, limit, 0);
            const int size = ct_model_control_size(r.sim.model);
            for (int i = 0; i < size; i++)
                r.value[r.first[CONTROLS] + 3 * size + i] += kind == CELLS ? 1.5 : 0.6;
            evaluate(&r, r.value);
            if (r.substepped) clear = check_slices(&r, 0.005, 1e-7, 1, "halved steps");
            rollout_stop(&r);
        }
        if (!clear) fail_msg("kind %d: no step was halved", kind);
    }
}

// Activations are part of the state: replayed from checkpoints the gradient is the same to the last bit.
static void checkpointed_gradient_is_the_stored_one(void** state) {
    for (int kind = SLOW_MUSCLES; kind <= CABLES; kind++) {
        rollout whole = actuated_start((scene_kind)kind, CT_INTEGRATOR_BDF2, 400, 0),
                sparse = actuated_start((scene_kind)kind, CT_INTEGRATOR_BDF2, 400, 1);
        assert_true(ct_tape_bytes(sparse.tape) < ct_tape_bytes(whole.tape));
        evaluate_gradient(&whole);
        evaluate_gradient(&sparse);
        assert_memory_equal(whole.gradient, sparse.gradient, (size_t)whole.size * sizeof(double));
        rollout_stop(&whole), rollout_stop(&sparse);
    }
}

// ---- cost

// Solves of 40 steps of a beam whose muscle is activated in a ramp, or which hangs passively.
static int count_solves(bool actuated) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){1, 0.2, 0.2}, (int[]){20, 4, 4}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    if (actuated) {
        const ct_muscle_def def = muscle_along((double[]){0, 0.05, 0.1, 1, 0.05, 0.1}, 2, 0.08, 2e6);
        must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
        must(ct_scene_add_actuator_control(scene, "muscle", 0, &error), &error);
    }
    sim s = start(scene, 1);
    int solves = 0;
    for (int i = 0; i < 40; i++) {
        ct_step_report report;
        const double control[1] = {0.4 * i / 40};
        must(ct_step(s.model, s.work, s.state, actuated ? control : NULL, &report), NULL);
        solves += report.solves;
    }
    stop(&s);
    return solves;
}

static void muscles_cost_few_more_solves_than_a_passive_body(void** state) {
    const int passive = count_solves(false), active = count_solves(true);
    print_message("%d solves passive, %d with a muscle\n", passive, active);
    assert_true(active < 2 * passive);
}

// ---- errors

static void bad_actuators_are_refused(void** state) {
    ct_settings settings = soft_settings();
    ct_scene* scene = new_scene(&settings);
    const ct_material material = soft_material();
    add_box(scene, (double[]){0.4, 0.2, 0.2}, (int[]){2, 1, 1}, &material);
    ct_error error = {0};
    const double points[] = {0, 0.1, 0.1, 0.4, 0.1, 0.1, 0.4, 0.1, 0.1};
    const struct {
        int body, npoint;
        double radius, stiffness, activation, time;
        const char* path;
    } bad[] = {{1, 2, 0.1, 1, 0, 0, "body"},       {0, 1, 0.1, 1, 0, 0, "points"},
               {0, 3, 0.1, 1, 0, 0, "points"},     {0, 2, 0, 1, 0, 0, "radius"},
               {0, 2, 1e-6, 1, 0, 0, "radius"},    {0, 2, 0.1, -1, 0, 0, "stiffness"},
               {0, 2, 0.1, 1, 2, 0, "activation"}, {0, 2, 0.1, 1, 0, -1, "activation_time"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ct_muscle_def def = muscle_along(points, bad[i].npoint, bad[i].radius, bad[i].stiffness);
        def.body = bad[i].body, def.activation = bad[i].activation, def.activation_time = bad[i].time;
        assert_int_equal(ct_scene_add_muscle(scene, &def, NULL, &error), CT_BAD_SCENE);
        assert_string_equal(error.path, bad[i].path);
    }
    ct_chamber_def chamber = ct_chamber_def_default();
    chamber.tag = 7;
    assert_int_equal(ct_scene_add_chamber(scene, &chamber, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "tag");
    ct_cavity_def cavity = ct_cavity_def_default();
    cavity.seed[0] = 0.1, cavity.seed[1] = cavity.seed[2] = 0.1;
    assert_int_equal(ct_scene_add_cavity(scene, &cavity, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "seed");
    assert_int_equal(ct_scene_actuator_count(scene), 0);
    assert_int_equal(ct_scene_add_actuator_control(scene, "a", 0, &error), CT_BAD_SCENE);

    int actuator;
    chamber = ct_chamber_def_default();
    chamber.name = "bellows";
    must(ct_scene_add_chamber(scene, &chamber, &actuator, &error), &error);
    assert_int_equal(ct_scene_find_actuator(scene, "bellows"), actuator);
    assert_int_equal(ct_scene_add_chamber(scene, &chamber, NULL, &error), CT_BAD_SCENE);
    must(ct_scene_add_actuator_control(scene, "a", actuator, &error), &error);
    assert_int_equal(ct_scene_add_actuator_control(scene, "b", actuator, &error), CT_BAD_SCENE);
    sim s = start(scene, 1);
    ct_step_report report;
    assert_int_equal(ct_step(s.model, s.work, s.state, (double[]){-1}, &report), CT_BAD_ARGUMENT);
    assert_non_null(strstr(report.message, "bellows"));
    assert_non_null(strstr(report.message, "volume ratio"));
    assert_true(ct_state_step_index(s.state) == 0);
    const double stiffness[] = {0};
    assert_int_equal(ct_model_set(s.model, CT_QUANTITY_CHAMBER_STIFFNESS, stiffness, &error),
                     CT_BAD_ARGUMENT);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(muscle_shortens_a_bar_to_the_balance_of_stresses),
        cmocka_unit_test(free_cells_grow_to_the_balance_of_stresses),
        cmocka_unit_test(free_cell_reaches_its_volume),
        cmocka_unit_test(pressure_widens_a_hollow_sphere_as_lame_says),
        cmocka_unit_test(actuators_conserve_momentum),
        cmocka_unit_test(activation_follows_its_time),
        cmocka_unit_test(muscle_gradient_matches_differences),
        cmocka_unit_test(slow_muscle_gradient_matches_differences),
        cmocka_unit_test(cell_gradient_matches_differences),
        cmocka_unit_test(cavity_gradient_matches_differences),
        cmocka_unit_test(cable_gradient_matches_differences),
        cmocka_unit_test(stiffness_gradient_matches_differences),
        cmocka_unit_test(gradient_is_right_where_steps_are_halved),
        cmocka_unit_test(checkpointed_gradient_is_the_stored_one),
        cmocka_unit_test(muscles_cost_few_more_solves_than_a_passive_body),
        cmocka_unit_test(bad_actuators_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
