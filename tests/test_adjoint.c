// The whole adjoint against differences of rollouts: every energy, integrator, damping, and every kind of parameter.
//
// A wrong term shows as an error that does not fall with the step size; a right gradient as one that falls with its
// square until round-off: both are asked for, the smallest error and the slope.
#include "model/model.h"
#include "rollout.h"

static const char* const energy_names[] = {"corotated", "projective", "neohookean", "stvk"};

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
    return (beam_def){.cells = {3, 1, 1}, .nstep = 7, .young = 2e4, .poisson = 0.35, .time_step = 0.02, .tolerance = 1e-13,
                      .max_iterations = 400, .held = HELD, .threads = 1};
}

static void select_plane(ct_scene* scene, double at, int** nodes, int* count) {
    ct_error error = {0};
    const ct_selector selector = {.kind = CT_SELECT_BOX, .body = -1, .a = {at - 1e-9, -1, -1}, .b = {at + 1e-9, 1, 1}};
    must(ct_scene_select(scene, &selector, nodes, count, &error), &error);
}

// One end follows a motion with a control on top, the other is pulled by a force and a force control.
static void add_actions(ct_scene* scene, double length, bool everywhere) {
    ct_error error = {0};
    int *nodes = NULL, count = 0;
    const ct_selector all = ct_selector_default();
    if (everywhere) must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    else select_plane(scene, 0, &nodes, &count);
    const ct_keyframe key[2] = {{.time = 0}, {.time = 0.3, .translate = {0, 0.03, 0.02}, .rotate = {0.5, 0.2, -0.3}}};
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
    r.sim.model->refactor_cost = 20;  // cheap, so that the factor is refreshed on the way
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

// ---- everything on a soft beam that bends far

static void check_energy(ct_energy energy) {
    for (int k = 0; k < 4; k++) {
        beam_def def = beam_default();
        def.energy = energy;
        def.integrator = k & 1 ? CT_BDF2 : CT_EULER;
        if (k & 2) def.damping_mass = 0.8, def.damping_stiffness = 0.02;
        char name[64];
        snprintf(name, sizeof name, "%s, %s, %s", energy_names[energy], k & 1 ? "BDF2" : "Euler", k & 2 ? "damped" : "undamped");
        rollout r = beam_start(&def);
        assert_true(check_slices(&r, 0.1, 2e-8, 2, name));
        assert_int_equal(r.substepped, 0);
        assert_in_range(r.refreshed, 1, def.nstep - 1);  // the factor was refreshed on the way
        rollout_stop(&r);
    }
}
static void corotated_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_COROTATED); }
static void projective_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_PROJECTIVE); }
static void neohookean_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_NEOHOOKEAN); }
static void stvk_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_STVK); }

// ---- special places

// No motion, no force, F = I exactly: second derivatives of the energies are all that counts.
static void gradient_is_right_at_rest(void** state) {
    for (int k = 0; k < 2 * CT_ENERGY_COUNT; k++) {
        beam_def def = beam_default();
        def.energy = (ct_energy)(k / 2);
        def.integrator = k & 1 ? CT_BDF2 : CT_EULER;
        rollout r = beam_start(&def);
        memcpy(r.value + r.first[POSITION], ct_model_rest(r.sim.model), 3 * (size_t)r.nvert * sizeof(double));
        memset(r.value + r.first[VELOCITY], 0, 3 * (size_t)r.nvert * sizeof(double));
        memset(r.value + r.first[GRAVITY], 0, 3 * sizeof(double));
        memset(r.value + r.first[CONTROLS], 0, (size_t)slice_size(&r, CONTROLS) * sizeof(double));
        for (int t = 0; t < r.ntet; t++) r.value[r.first[DAMPING_MASS] + t] = 0.5, r.value[r.first[DAMPING_STIFFNESS] + t] = 0.01;
        assert_true(check_slices(&r, 0.1, 1e-8, 0, energy_names[def.energy]));
        rollout_stop(&r);
    }
}

// Steps of the loss where another step is halved lie close by: a limit that keeps clear of them is looked for.
static void check_halved(ct_integrator integrator, bool damped) {
    bool clear = false;
    for (int limit = 14; limit < 22 && !clear; limit++) {
        beam_def def = beam_default();
        def.integrator = integrator;
        if (damped) def.damping_mass = 0.8, def.damping_stiffness = 0.02;
        def.max_iterations = limit;
        rollout r = beam_start(&def);
        // a jerk on the way, after smooth steps
        const int size = ct_model_control_size(r.sim.model);
        for (int i = 0; i < size; i++) r.value[r.first[CONTROLS] + 4 * size + i] *= 60;
        clear = check_slices(&r, 0.02, 1e-8, 2, "halved steps");
        if (clear) assert_in_range(r.substepped, 1, def.nstep - 1);
        rollout_stop(&r);
    }
    assert_true(clear);
}
static void gradient_is_right_where_steps_are_halved(void** state) {
    for (int k = 0; k < 4; k++) check_halved(k & 1 ? CT_BDF2 : CT_EULER, k & 2);
}

// Nearly incompressible, stiffness from 1 to 1000, one tet pressed to 3 % of its height; 60 % for St. Venant-Kirchhoff,
// which has several solutions below.
static void gradient_is_right_in_an_ill_conditioned_body(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        beam_def def = beam_default();
        def.energy = (ct_energy)energy;
        def.nstep = 3;
        def.damping_mass = 0.8, def.damping_stiffness = 0.002;
        def.max_iterations = 4000;
        rollout r = beam_start(&def);
        r.roundoff = 1e-12;  // stiff tets' forces cancel in soft nodes
        uint64_t seed = 8;
        for (int t = 0; t < r.ntet; t++) {
            const int young = r.first[YOUNG] + t, poisson = r.first[POISSON] + t;
            r.value[young] = r.scale[young] = 2e4 * pow(1000, 0.5 + 0.5 * noise(&seed));
            r.value[poisson] = 0.49;
            r.scale[poisson] = 0.01;
            r.scale[r.first[DAMPING_STIFFNESS] + t] = 0.005;
        }
        double* x = r.value + r.first[POSITION];
        const int* tet = ct_model_tets(r.sim.model) + 4 * 8;
        double *x0 = x + 3 * tet[0], *x1 = x + 3 * tet[1], *x2 = x + 3 * tet[2], *x3 = x + 3 * tet[3], a[3], b[3], n[3], height = 0, square = 0;
        for (int i = 0; i < 3; i++) a[i] = x1[i] - x0[i], b[i] = x2[i] - x0[i];
        for (int i = 0; i < 3; i++) {
            n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
            height += n[i] * (x3[i] - x0[i]);
            square += n[i] * n[i];
        }
        for (int i = 0; i < 3; i++) x3[i] -= (energy == CT_ENERGY_STVK ? 0.4 : 0.97) * height / square * n[i];
        assert_true(check_slices(&r, 0.1, 1e-6, 0, energy_names[energy]));
        rollout_stop(&r);
    }
}

static void gradient_of_a_free_body_is_right(void** state) {
    beam_def def = beam_default();
    def.held = FREE;
    def.integrator = CT_BDF2;
    def.damping_mass = 0.8, def.damping_stiffness = 0.02;
    rollout r = beam_start(&def);
    assert_true(check_slices(&r, 0.1, 1e-8, 2, "free body"));
    rollout_stop(&r);
}

static void gradient_of_a_body_without_unknowns_is_right(void** state) {
    beam_def def = beam_default();
    def.held = DRIVEN;
    def.integrator = CT_BDF2;
    def.damping_mass = 0.8, def.damping_stiffness = 0.02;
    rollout r = beam_start(&def);
    assert_true(check_slices(&r, 0.1, 1e-8, 2, "driven body"));
    rollout_stop(&r);
}

// ---- the same bits

static double* gradient_of(const beam_def* def, double* loss, int* size) {
    rollout r = beam_start(def);
    *loss = evaluate_gradient(&r);
    *size = r.size;
    double* gradient = malloc((size_t)r.size * sizeof(double));
    memcpy(gradient, r.gradient, (size_t)r.size * sizeof(double));
    rollout_stop(&r);
    return gradient;
}

static void assert_same_bits(const beam_def* a, const beam_def* b) {
    double loss[2];
    int size[2];
    double *first = gradient_of(a, &loss[0], &size[0]), *second = gradient_of(b, &loss[1], &size[1]);
    assert_memory_equal(&loss[0], &loss[1], sizeof(double));
    assert_memory_equal(first, second, (size_t)size[0] * sizeof(double));
    free(first), free(second);
}

static void gradient_is_the_same_bits_whatever_the_tape_may_keep(void** state) {
    for (int k = 0; k < 2; k++) {
        beam_def stored = beam_default();
        stored.nstep = 23;
        stored.integrator = k ? CT_BDF2 : CT_EULER;
        stored.damping_stiffness = 0.01;
        stored.max_iterations = k ? 24 : 400;  // with and without halved steps
        rollout r = beam_start(&stored);
        const size_t state_size = ct_state_size(r.sim.state);
        rollout_stop(&r);
        static const int budget[] = {1, 4, 5, 7, 12, 23};
        for (size_t i = 0; i < sizeof budget / sizeof budget[0]; i++) {
            beam_def sparse = stored;
            sparse.max_bytes = (size_t)budget[i] * state_size;
            assert_same_bits(&stored, &sparse);
        }
    }
}

static void gradient_is_the_same_bits_for_every_thread_count(void** state) {
    beam_def one = beam_default();
    one.cells[0] = 24, one.cells[1] = 6, one.cells[2] = 6;
    one.nstep = 3;
    one.young = 1e5;
    one.tolerance = 1e-8;
    one.damping_stiffness = 0.01;
    beam_def two = one;
    two.threads = 2;
    assert_same_bits(&one, &two);
}

static void gradient_is_the_same_bits_when_less_is_wanted(void** state) {
    beam_def def = beam_default();
    def.damping_stiffness = 0.01;
    rollout r = beam_start(&def);
    evaluate_gradient(&r);
    for (int s = 0; s < SLICES; s++) {
        double* wanted = malloc((size_t)slice_size(&r, s) * sizeof(double));
        double* at[SLICES] = {0};
        at[s] = wanted;
        ct_gradient gradient = {.position = at[0], .velocity = at[1], .young = at[2], .poisson = at[3], .density = at[4],
                                .damping_mass = at[5], .damping_stiffness = at[6], .gravity = at[7], .controls = at[8]};
        must(ct_backward(r.sim.model, r.sim.work, r.tape, r.value + r.first[CONTROLS], add_seed, &r, &gradient, NULL), NULL);
        assert_memory_equal(wanted, r.gradient + r.first[s], (size_t)slice_size(&r, s) * sizeof(double));
        free(wanted);
    }
    rollout_stop(&r);
}

static void gradient_is_as_good_as_the_tolerance(void** state) {
    beam_def def = beam_default();
    double loss[2], error = 0, norm = 0;
    int size;
    double* exact = gradient_of(&def, &loss[0], &size);
    def.tolerance = 1e-6;
    double* loose = gradient_of(&def, &loss[1], &size);
    for (int i = 0; i < size; i++) error += pow(exact[i] - loose[i], 2), norm += exact[i] * exact[i];
    assert_true(sqrt(error / norm) < 1e-5);
    free(exact), free(loose);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corotated_gradient_matches_differences),
        cmocka_unit_test(projective_gradient_matches_differences),
        cmocka_unit_test(neohookean_gradient_matches_differences),
        cmocka_unit_test(stvk_gradient_matches_differences),
        cmocka_unit_test(gradient_is_right_at_rest),
        cmocka_unit_test(gradient_is_right_where_steps_are_halved),
        cmocka_unit_test(gradient_is_right_in_an_ill_conditioned_body),
        cmocka_unit_test(gradient_of_a_free_body_is_right),
        cmocka_unit_test(gradient_of_a_body_without_unknowns_is_right),
        cmocka_unit_test(gradient_is_the_same_bits_whatever_the_tape_may_keep),
        cmocka_unit_test(gradient_is_the_same_bits_for_every_thread_count),
        cmocka_unit_test(gradient_is_the_same_bits_when_less_is_wanted),
        cmocka_unit_test(gradient_is_as_good_as_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
