// Contact by splitting: its fixed points are the solutions of the default method, where it converges.
#include "build.h"

static const double thickness = 1e-4, angle = 0.35;  // m; rad, of the incline

static ct_settings settings_of(ct_contact_method method, ct_split split, double h, double friction) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.solver = CT_SOLVER_PROJECTIVE;
    settings.tolerance = 1e-9;
    settings.max_iterations = 200000;
    settings.threads = 1;
    settings.contact.method = method;
    settings.contact.split = split;
    settings.contact.friction = friction;
    settings.gravity[0] = 9.81 * sin(angle);  // the incline lies level and gravity leans
    settings.gravity[1] = -9.81 * cos(angle);
    settings.gravity[2] = 0;
    return settings;
}

static void add_block(ct_scene* scene, const double size[3], const int cells[3], const double at[3]) {
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    must(ct_mesh_box(&mesh, size, cells, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material.energy = CT_ENERGY_PROJECTIVE;
    def.material.young = 1e5;
    def.material.poisson = 0.3;
    def.contact_thickness = thickness;
    memcpy(def.translate, at, sizeof def.translate);
    must(ct_scene_add_body(scene, &def, NULL, &error), &error);
    ct_mesh_free(mesh);
}

static void add_floor(ct_scene* scene) {
    ct_error error = {0};
    ct_obstacle_def def = ct_obstacle_def_default();
    def.normal[1] = 1;
    def.normal[0] = def.normal[2] = 0;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
}

static sim block(const ct_settings* settings, bool two) {
    ct_scene* scene = new_scene(settings);
    add_block(scene, (double[]){0.2, 0.1, 0.2}, (int[]){3, 2, 3}, (double[]){0, thickness + 1e-6, 0});
    if (two)
        add_block(scene, (double[]){0.1, 0.1, 0.1}, (int[]){2, 2, 2},
                  (double[]){0.043, 0.1 + 3 * thickness + 2e-6, 0.051});
    add_floor(scene);
    return start(scene, 1);
}

static double distance(const sim* a, const sim* b) {
    double worst = 0;
    for (int i = 0; i < 3 * node_count(a); i++)
        worst = fmax(worst, fabs(ct_state_positions(a->state)[i] - ct_state_positions(b->state)[i]));
    return worst;
}

static void fixed_points_are_newtons_solutions(void** unused) {
    for (int two = 0; two < 2; two++) {
        ct_settings settings = settings_of(CT_CONTACT_METHOD_NEWTON, CT_SPLIT_MASS, 0.01, 0.2);
        sim newton = block(&settings, two);
        steps(&newton, 5);
        for (int split = CT_SPLIT_DIAGONAL; split <= CT_SPLIT_WHOLE; split++) {
            settings.contact.method = CT_CONTACT_METHOD_SPLIT;
            settings.contact.split = (ct_split)split;
            sim other = block(&settings, two);
            steps(&other, 5);
            double moved = fabs(ct_state_positions(newton.state)[0] - ct_model_rest(newton.model)[0]),
                   difference = distance(&newton, &other);
            print_message("split %d: %.2g of a motion of %.2g\n", split, difference, moved);
            assert_true(moved > 1e-4 && difference < 1e-5 * moved);
            stop(&other);
        }
        stop(&newton);
    }
}

static void mass_alone_diverges_on_a_soft_solid_unless_steps_are_tiny(void** unused) {
    ct_settings settings = settings_of(CT_CONTACT_METHOD_SPLIT, CT_SPLIT_MASS, 0.01, 0.2);
    ct_step_report report;
    sim s = block(&settings, false);
    assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_NOT_CONVERGED);
    assert_true(!report.converged && report.residual > 1e3 * report.reference &&
                strstr(report.message, "split"));
    assert_int_equal(ct_state_step_index(s.state), 0);
    stop(&s);
    settings.time_step = 2e-4;
    s = block(&settings, false);
    steps(&s, 3);
    stop(&s);
}

// Where all contacts slip down the incline, m (a_T + mu a_N) = m g (sin - mu cos), vibrations or not.
static void blocks_slide_with_coulombs_acceleration(void** unused) {
    const double mu = 0.1;
    ct_settings settings = settings_of(CT_CONTACT_METHOD_SPLIT, CT_SPLIT_DIAGONAL, 0.01, mu);
    settings.tolerance = 1e-7;
    sim s = block(&settings, false);
    ct_measure before, after;
    steps(&s, 10);
    before = ct_state_measure(s.model, s.state);
    steps(&s, 20);
    after = ct_state_measure(s.model, s.state);
    double gained =
        (after.momentum[0] - before.momentum[0] + mu * (after.momentum[1] - before.momentum[1])) / after.mass;
    double expected = 0.2 * 9.81 * (sin(angle) - mu * cos(angle));
    print_message("gained %.6f of %.6f m/s\n", gained, expected);
    assert_true(fabs(gained - expected) < 1e-3 * expected);
    stop(&s);
}

static void truncation_is_told_and_has_no_gradient(void** unused) {
    ct_settings settings = settings_of(CT_CONTACT_METHOD_SPLIT, CT_SPLIT_DIAGONAL, 0.01, 0.1);
    sim exact = block(&settings, false);
    steps(&exact, 10);
    settings.contact.truncate = 30;
    sim cut = block(&settings, false);
    ct_step_report report;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ct_step(cut.model, cut.work, cut.state, NULL, &report), CT_OK);
        assert_true(!report.converged && report.iterations == 30 &&
                    report.residual > settings.tolerance * report.reference);
    }
    double moved = ct_state_positions(exact.state)[0], error = fabs(ct_state_positions(cut.state)[0] - moved);
    print_message("30 iterations leave %.1f %% of the distance\n", 100 * error / moved);
    assert_true(error > 1e-3 * moved);

    ct_tape* tape = NULL;
    ct_values gradient = {0};
    must(ct_tape_create(&tape, cut.model, 2, 0, NULL), NULL);
    must(ct_rollout(cut.model, cut.work, tape, cut.state, 2, NULL, NULL, NULL, NULL), NULL);
    assert_int_equal(ct_backward(cut.model, cut.work, tape, NULL, NULL, NULL, &gradient, NULL),
                     CT_UNSUPPORTED);
    ct_tape_free(tape);
    stop(&cut);
    stop(&exact);
}

// The adjoint of the default method is that of any converged step.
static void gradients_of_converged_steps_are_exact(void** unused) {
    for (int split = CT_SPLIT_DIAGONAL; split <= CT_SPLIT_WHOLE; split += 2) {
        ct_settings settings = settings_of(CT_CONTACT_METHOD_SPLIT, (ct_split)split, 0.01, 0.1);
        settings.tolerance = 1e-11;
        settings.duration = 0.05;
        ct_scene* scene = new_scene(&settings);
        add_block(scene, (double[]){0.2, 0.1, 0.2}, (int[]){2, 1, 2}, (double[]){0, thickness + 1e-6, 0});
        add_floor(scene);
        ct_error error = {0};
        const ct_quantity kinds[] = {CT_QUANTITY_FRICTION, CT_QUANTITY_VELOCITY, CT_QUANTITY_YOUNG};
        for (int i = 0; i < 3; i++) {
            ct_parameter_def def = ct_parameter_def_default();
            def.quantity = kinds[i];
            def.per = i ? CT_PER_BODY : CT_PER_SCENE;
            must(ct_scene_add_parameter(scene, &def, &error), &error);
        }
        ct_objective_def objective = ct_objective_def_default();
        ct_keyframe target = {.translate = {0.3, 0.02, 0.01}};
        objective.path = &target;
        objective.npath = 1;
        must(ct_scene_add_objective(scene, &objective, &error), &error);
        ct_problem* problem = NULL;
        double y[8];
        ct_check_slice slices[3];
        ct_check_def check = ct_check_def_default();
        must(ct_problem_create(&problem, scene, 0, &error), &error);
        assert_in_range(ct_problem_size(problem), 1, 8);
        ct_problem_start(problem, y);
        must(ct_problem_check(problem, y, &check, slices, &error), &error);
        for (int i = 0; i < 3; i++) {
            print_message("%s: error %.2g, slope %.2f\n", slices[i].name, slices[i].relative_error,
                          slices[i].slope);
            assert_true(slices[i].passed && slices[i].relative_error < 1e-5);
        }
        ct_problem_free(problem);
        ct_scene_free(scene);
    }
}

static void what_it_cannot_do_is_refused(void** unused) {
    ct_settings settings = settings_of(CT_CONTACT_METHOD_SPLIT, CT_SPLIT_DIAGONAL, 0.01, 0.1);
    settings.solver = CT_SOLVER_NEWTON;
    ct_scene* scene = new_scene(&settings);
    ct_model* model = NULL;
    ct_error error;
    add_block(scene, (double[]){1, 1, 1}, (int[]){1, 1, 1}, (double[]){0, 1, 0});
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "contact.method");
    settings.solver = CT_SOLVER_PROJECTIVE;
    settings.contact.split = CT_SPLIT_WHOLE;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    ct_link_def link = ct_link_def_default();
    link.mass = 1;
    for (int a = 0; a < 3; a++) link.inertia[a] = 1;
    must(ct_scene_add_link(scene, &link, NULL, &error), &error);
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "contact.split");
    assert_non_null(strstr(error.message, "skeletons"));
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_points_are_newtons_solutions),
        cmocka_unit_test(mass_alone_diverges_on_a_soft_solid_unless_steps_are_tiny),
        cmocka_unit_test(blocks_slide_with_coulombs_acceleration),
        cmocka_unit_test(truncation_is_told_and_has_no_gradient),
        cmocka_unit_test(gradients_of_converged_steps_are_exact),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
