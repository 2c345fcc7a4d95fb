// The step: convergence, sub-steps, exact replay, determinism, solvers that agree, recovery from inversion.
#include "build.h"
#include "scene_text.h"

static const ct_energy all_energies[] = {CT_ENERGY_COROTATED, CT_ENERGY_PROJECTIVE, CT_ENERGY_NEOHOOKEAN,
                                         CT_ENERGY_STVK};

static ct_settings quick_settings(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.gravity[0] = settings.gravity[2] = 0;
    settings.gravity[1] = -9.81;
    settings.threads = 1;
    return settings;
}

static ct_material rubber(ct_energy energy) {
    ct_material material = ct_material_default();
    material.energy = energy;
    material.young = 2e5;
    material.poisson = 0.4;
    return material;
}

static sim beam(ct_settings settings, ct_material material, const int cells[3], int threads) {
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){1, 0.2, 0.2}, cells, &material);
    pin_plane(scene, 0, 0);
    return start(scene, threads);
}

static double distance(const sim* a, const sim* b) {
    const double *x = ct_state_positions(a->state), *y = ct_state_positions(b->state);
    double largest = 0;
    for (int i = 0; i < 3 * node_count(a); i++) largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

static void every_energy_converges_in_few_solves(void** unused) {
    for (int e = 0; e < 4; e++) {
        sim s = beam(quick_settings(), rubber(all_energies[e]), (int[]){10, 2, 2}, 1);
        int solves = 0;
        for (int i = 0; i < 50; i++) {
            ct_step_report report;
            assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_OK);
            assert_true(report.converged && report.residual <= 1e-6 * report.reference);
            assert_int_equal(report.substeps, 1);
            solves += report.solves;
        }
        print_message("energy %d: %.1f solves per step\n", e, solves / 50.0);
        assert_true(solves <= 50 * 12);
        const double* x = ct_state_positions(s.state);
        assert_true(x[3 * node_at(&s, 1, 0.1, 0.1) + 1] < 0.08);  // it has sagged
        stop(&s);
    }
}

static void a_tighter_tolerance_is_reached(void** unused) {
    ct_settings settings = quick_settings();
    settings.tolerance = 1e-11;
    sim s = beam(settings, rubber(CT_ENERGY_COROTATED), (int[]){6, 2, 2}, 1);
    for (int i = 0; i < 20; i++) {
        ct_step_report report;
        assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_OK);
        assert_true(report.residual <= 1.01e-11 * report.reference);
    }
    stop(&s);
}

static void projective_solver_agrees_with_newton(void** unused) {
    ct_settings settings = quick_settings();
    settings.tolerance = 1e-9;
    settings.max_iterations = 20000;
    sim newton = beam(settings, rubber(CT_ENERGY_PROJECTIVE), (int[]){6, 2, 2}, 1);
    settings.solver = CT_SOLVER_PROJECTIVE;
    sim projective = beam(settings, rubber(CT_ENERGY_PROJECTIVE), (int[]){6, 2, 2}, 1);
    steps(&newton, 10);
    steps(&projective, 10);
    assert_true(distance(&newton, &projective) < 1e-7);
    stop(&newton);
    stop(&projective);
}

static void results_are_bit_identical_across_threads_and_runs(void** unused) {
    int cells[3] = {24, 6, 6};  // enough tets for the threads to be used
    sim one = beam(quick_settings(), rubber(CT_ENERGY_COROTATED), cells, 1);
    sim two = beam(quick_settings(), rubber(CT_ENERGY_COROTATED), cells, 2);
    sim three = beam(quick_settings(), rubber(CT_ENERGY_COROTATED), cells, 3);
    sim again = beam(quick_settings(), rubber(CT_ENERGY_COROTATED), cells, 1);
    steps(&one, 6);
    steps(&two, 6);
    steps(&three, 6);
    steps(&again, 6);
    size_t size = ct_state_size(one.state);
    assert_memory_equal(ct_state_bytes(one.state), ct_state_bytes(two.state), size);
    assert_memory_equal(ct_state_bytes(one.state), ct_state_bytes(three.state), size);
    assert_memory_equal(ct_state_bytes(one.state), ct_state_bytes(again.state), size);
    stop(&one), stop(&two), stop(&three), stop(&again);
}

// Violent enough for factor refreshes; the restored run must take the same path with a new work.
static void replay_from_a_stored_state_is_exact(void** unused) {
    ct_settings settings = quick_settings();
    ct_scene* scene = new_scene(&settings);
    ct_material material = rubber(CT_ENERGY_NEOHOOKEAN);
    add_box(scene, (double[]){1, 0.2, 0.2}, (int[]){10, 2, 2}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    ct_selector tip = {.kind = CT_SELECT_PLANE, .body = -1, .a = {0.999, 0, 0}, .b = {1, 0, 0}};
    int *nodes, count;
    must(ct_scene_select(scene, &tip, &nodes, &count, &error), &error);
    ct_keyframe keys[2] = {{.time = 0}, {.time = 0.4, .translate = {-0.6, 0, 0}, .rotate = {3, 0, 0}}};
    ct_motion motion = {.key = keys, .nkey = 2, .center = {1, 0.1, 0.1}};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    ct_free(nodes);
    sim s = start(scene, 1);

    size_t size = ct_state_size(s.state);
    unsigned char *middle = malloc(size), *end = malloc(size);
    int refactors = 0;
    for (int i = 0; i < 40; i++) {
        ct_step_report report;
        if (i == 33) memcpy(middle, ct_state_bytes(s.state), size);
        assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_OK);
        refactors += report.refactors;
    }
    print_message("%d refactors\n", refactors);
    assert_true(refactors > 0);
    memcpy(end, ct_state_bytes(s.state), size);
    ct_work* fresh = NULL;
    must(ct_work_create(&fresh, s.model, 1, NULL), NULL);
    must(ct_state_restore(s.state, middle, size), NULL);
    for (int i = 33; i < 40; i++) assert_int_equal(ct_step(s.model, fresh, s.state, NULL, NULL), CT_OK);
    assert_memory_equal(ct_state_bytes(s.state), end, size);
    ct_work_free(fresh);
    free(middle), free(end);
    stop(&s);
}

static void a_step_that_does_not_converge_is_halved(void** unused) {
    ct_settings settings = quick_settings();
    settings.time_step = 0.05;
    settings.max_iterations = 14;
    settings.max_substep_depth = 8;
    ct_material material = rubber(CT_ENERGY_NEOHOOKEAN);
    sim s = beam(settings, material, (int[]){8, 2, 2}, 1);
    int n = node_count(&s);
    double* v = calloc(3 * (size_t)n, sizeof *v);
    for (int i = 0; i < n; i++) v[3 * i + 1] = -30 * ct_model_rest(s.model)[3 * i];  // a violent blow
    must(ct_state_set(s.state, ct_state_positions(s.state), v), NULL);
    ct_step_report report;
    ct_status status = ct_step(s.model, s.work, s.state, NULL, &report);
    print_message("%d sub-steps, %d solves\n", report.substeps, report.solves);
    assert_int_equal(status, CT_OK);
    assert_true(report.substeps > 1);
    assert_true(report.residual <= 1e-6 * report.reference);
    assert_true(fabs(ct_state_time(s.state) - 0.05) < 1e-15);
    free(v);
    stop(&s);
}

static void failure_leaves_the_state_unchanged_and_says_what_to_do(void** unused) {
    ct_settings settings = quick_settings();
    settings.max_iterations = 1;
    settings.max_substep_depth = 0;
    sim s = beam(settings, rubber(CT_ENERGY_COROTATED), (int[]){6, 2, 2}, 1);
    size_t size = ct_state_size(s.state);
    unsigned char* before = malloc(size);
    memcpy(before, ct_state_bytes(s.state), size);
    ct_step_report report;
    assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_NOT_CONVERGED);
    assert_false(report.converged);
    assert_true(strstr(report.message, "time_step") != NULL);
    assert_true(report.residual > 0);
    assert_memory_equal(ct_state_bytes(s.state), before, size);
    free(before);
    stop(&s);
}

// Where a step fails with flesh pressed flat, the advice names the tets and what would help.
static void failure_with_crushed_tets_names_them(void** unused) {
    for (int soft = 0; soft < 2; soft++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{\"solver\": {\"max_iterations\": 2, \"max_substep_depth\": 0}, \"bodies\": [{\"name\": "
                 "\"bar\", \"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [5, 1, 1]}, \"material\": {%s}}], "
                 "\"pins\": [{\"select\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}], \"drives\": [{\"select\": "
                 "{\"box\": [[1, 0, 0], [1, 1, 1]]}, \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 0.01, "
                 "\"translate\": [-0.98, 0, 0]}]}}]}",
                 soft ? "" : "\"energy\": \"corotated\"");
        sim s = start(parse(text), 1);
        ct_step_report report;
        assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_NOT_CONVERGED);
        if (!strstr(report.message, "crushed below a tenth of ") || !strstr(report.message, "of \"bar\""))
            fail_msg("%s", report.message);
        assert_int_equal(strstr(report.message, "neohookean") != NULL, !soft);
        stop(&s);
    }
}

// A box of `cells` cells whose nodes feel the control "push".
static sim pushed_box(int cells) {
    ct_settings settings = quick_settings();
    ct_material material = rubber(CT_ENERGY_COROTATED);
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){1, 1, 1}, (int[]){cells, 1, 1}, &material);
    ct_error error = {0};
    ct_selector all = ct_selector_default();
    int *nodes, count;
    must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    must(ct_scene_add_force_control(scene, "push", nodes, count, &error), &error);
    ct_free(nodes);
    return start(scene, 1);
}

// Refused with a sentence that holds `word`, and not a bit of the state changed.
static void assert_refused(const ct_model* model, ct_work* work, ct_state* state, const double* control,
                           const char* word) {
    size_t size = ct_state_size(state);
    unsigned char* before = malloc(size);
    memcpy(before, ct_state_bytes(state), size);
    ct_step_report report;
    assert_int_equal(ct_step(model, work, state, control, &report), CT_BAD_ARGUMENT);
    if (!strstr(report.message, word)) fail_msg("\"%s\" has no \"%s\"", report.message, word);
    assert_false(report.converged);
    assert_true(report.gradients == 0 && report.solves == 0);
    assert_memory_equal(ct_state_bytes(state), before, size);
    free(before);
}

static void a_refused_step_says_why_and_changes_nothing(void** unused) {
    sim s = pushed_box(1), other = pushed_box(2);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double control[3] = {0, 0, 1};
            control[k] = bad[i];
            assert_refused(s.model, s.work, s.state, control, "push");
        }
    assert_refused(s.model, s.work, other.state, NULL, "the state belongs to another model");
    assert_refused(s.model, other.work, s.state, NULL, "the work belongs to another model");
    ct_step_report report;
    must(ct_step(s.model, s.work, s.state, (double[]){0, 0, 1}, &report), NULL);
    assert_string_equal(report.message, "");
    stop(&s), stop(&other);
}

// All nodes scattered at random inside the box: most tets start inverted.
static void inverted_elements_recover(void** unused) {
    ct_energy energies[] = {CT_ENERGY_COROTATED, CT_ENERGY_PROJECTIVE, CT_ENERGY_NEOHOOKEAN};
    for (int e = 0; e < 3; e++) {
        ct_settings settings = quick_settings();
        settings.gravity[1] = 0;
        settings.max_iterations = 2000;
        ct_material material = rubber(energies[e]);
        material.damping_mass = 5;
        sim s = beam(settings, material, (int[]){4, 2, 2}, 1);
        int n = node_count(&s);
        double *x = calloc(3 * (size_t)n, sizeof *x), *v = calloc(3 * (size_t)n, sizeof *v);
        uint64_t seed = 7;
        for (int i = 0; i < n; i++)
            for (int a = 0; a < 3; a++) {
                double rest = ct_model_rest(s.model)[3 * i + a], size = a == 0 ? 1 : 0.2;
                x[3 * i + a] = ct_model_rest(s.model)[3 * i] == 0 ? rest : size * (0.5 + 0.5 * noise(&seed));
            }
        must(ct_state_set(s.state, x, v), NULL);
        ct_step_report report;
        int inverted_first = -1;
        for (int i = 0; i < 300; i++) {
            assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_OK);
            if (i == 0) inverted_first = report.inverted;
        }
        print_message("energy %d: inverted %d after the first step, %d at the end\n", e, inverted_first,
                      report.inverted);
        assert_int_equal(report.inverted, 0);
        const double* rest = ct_model_rest(s.model);
        for (int i = 0; i < 3 * n; i++) assert_true(fabs(ct_state_positions(s.state)[i] - rest[i]) < 2e-2);
        free(x), free(v);
        stop(&s);
    }
}

static void a_scene_of_driven_nodes_only_just_moves(void** unused) {
    ct_settings settings = quick_settings();
    ct_scene* scene = new_scene(&settings);
    ct_material material = rubber(CT_ENERGY_COROTATED);
    add_box(scene, (double[]){1, 1, 1}, (int[]){1, 1, 1}, &material);
    ct_error error = {0};
    ct_selector all = {.kind = CT_SELECT_ALL, .body = -1};
    int *nodes, count;
    must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    ct_keyframe keys[2] = {{.time = 0}, {.time = 1, .translate = {2, 0, 0}}};
    ct_motion motion = {.key = keys, .nkey = 2};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    ct_free(nodes);
    sim s = start(scene, 1);
    steps(&s, 50);
    assert_true(fabs(ct_state_positions(s.state)[0] - 1.0) < 1e-12);
    assert_true(fabs(ct_state_velocities(s.state)[0] - 2.0) < 1e-9);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_energy_converges_in_few_solves),
        cmocka_unit_test(a_tighter_tolerance_is_reached),
        cmocka_unit_test(projective_solver_agrees_with_newton),
        cmocka_unit_test(results_are_bit_identical_across_threads_and_runs),
        cmocka_unit_test(replay_from_a_stored_state_is_exact),
        cmocka_unit_test(a_step_that_does_not_converge_is_halved),
        cmocka_unit_test(failure_leaves_the_state_unchanged_and_says_what_to_do),
        cmocka_unit_test(failure_with_crushed_tets_names_them),
        cmocka_unit_test(a_refused_step_says_why_and_changes_nothing),
        cmocka_unit_test(inverted_elements_recover),
        cmocka_unit_test(a_scene_of_driven_nodes_only_just_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
