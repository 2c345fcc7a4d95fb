// Problems: losses and gradients of whole rollouts against differences, terms of the user's own, memory,
// files.
#include "build.h"

enum { STEPS = 8 };

static ct_settings tight_settings(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.duration = STEPS * settings.time_step;
    settings.tolerance = 1e-12;
    settings.threads = 1;
    return settings;
}

static void add_parameter(ct_scene* scene, ct_quantity kind, ct_parameter_per per, const char* control) {
    ct_error error = {0};
    ct_parameter_def def = ct_parameter_def_default();
    def.quantity = kind;
    def.per = per;
    def.control = control;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
}

// The mean position of all nodes at the end to a point beside the beam.
static void add_point(ct_scene* scene, double weight) {
    ct_error error = {0};
    ct_keyframe target = {.translate = {0.05, -0.1, 0.02}};
    ct_objective_def def = ct_objective_def_default();
    def.path = &target;
    def.npath = 1;
    def.relative = true;
    def.weight = weight;
    must(ct_scene_add_objective(scene, &def, &error), &error);
}

// A soft damped beam, held at one end, with a force control on all of its nodes; it moves at the start.
static ct_scene* beam(const ct_settings* settings) {
    ct_error error = {0};
    ct_material material = ct_material_default();
    material.young = 2e4;
    material.damping_mass = 0.5;
    material.damping_stiffness = 2e-3;
    ct_scene* scene = new_scene(settings);
    add_box(scene, (double[]){0.4, 0.1, 0.1}, (int[]){4, 1, 1}, &material);
    pin_plane(scene, 0, 0);
    int *nodes = NULL, count;
    ct_selector all = ct_selector_default();
    must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    must(ct_scene_set_velocity(scene, nodes, count, (double[]){0, 1, 0.5}, NULL, &error), &error);
    must(ct_scene_add_force_control(scene, "push", nodes, count, &error), &error);
    ct_free(nodes);
    return scene;
}

static ct_problem* open_problem(const ct_scene* scene, size_t max_bytes) {
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, max_bytes, &error), &error);
    return problem;
}

static double* start_of(const ct_problem* problem) {
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_start(problem, y);
    return y;
}

static double* new_vector(const ct_problem* problem) {
    return calloc((size_t)ct_problem_size(problem), sizeof(double));
}

static double evaluate(ct_problem* problem, const double* y, double* gradient) {
    double loss;
    ct_error error = {0};
    must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
    return loss;
}

static ct_scene* full_scene(const ct_settings* settings) {
    ct_scene* scene = beam(settings);
    add_parameter(scene, CT_QUANTITY_YOUNG, CT_PER_ELEMENT, NULL);
    add_parameter(scene, CT_QUANTITY_POISSON, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_DENSITY, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_DAMPING_MASS, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_DAMPING_STIFFNESS, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_GRAVITY, CT_PER_SCENE, NULL);
    add_parameter(scene, CT_QUANTITY_POSITION, CT_PER_ELEMENT, NULL);
    add_parameter(scene, CT_QUANTITY_VELOCITY, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_CONTROL, CT_PER_ELEMENT, "push");
    add_point(scene, 3);
    ct_error error = {0};
    ct_objective_def effort = ct_objective_def_default();
    effort.kind = CT_OBJECTIVE_EFFORT;
    effort.weight = 1e-3;
    must(ct_scene_add_objective(scene, &effort, &error), &error);
    return scene;
}

static void check_all(const ct_settings* settings) {
    ct_scene* scene = full_scene(settings);
    ct_problem* problem = open_problem(scene, 0);
    ct_check_slice slices[16];
    ct_check_def def = ct_check_def_default();
    def.components = 3;
    ct_error error = {0};
    double* y = start_of(problem);
    assert_int_equal(ct_problem_slice_count(problem), 9);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int k = 0; k < 9; k++) {
        const ct_check_slice* s = &slices[k];
        print_message("%-18s error %.1e slope %.2f\n", s->name, s->relative_error, s->slope);
        assert_true(s->passed);
        if (!isnan(s->slope)) assert_true(s->slope > 1.7 && s->slope < 2.6);
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void gradient_of_every_parameter_matches_differences(void** state) {
    ct_settings settings = tight_settings();
    check_all(&settings);
}

static void gradient_matches_differences_with_bdf2(void** state) {
    ct_settings settings = tight_settings();
    settings.integrator = CT_INTEGRATOR_BDF2;
    check_all(&settings);
}

// ---- a term of the user's own --------------------------------------------------------------

typedef struct own_term {
    int nvert, last;
    double fault;  // factor on the seeds: 1 is right
    double x[3];   // mean position at the last state
} own_term;

// |mean x - (1, 2, 3)|^2 at the last state, plain mean.
static void mean_term(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                      double* q_bar, void* user) {
    own_term* own = user;
    if (step != own->last) return;
    const double* x = ct_state_positions(state);
    for (int a = 0; a < 3; a++) {
        double mean = 0;
        for (int v = 0; v < own->nvert; v++) mean += x[3 * v + a] / own->nvert;
        own->x[a] = mean;
        *loss += (mean - a - 1) * (mean - a - 1);
        for (int v = 0; x_bar && v < own->nvert; v++)
            x_bar[3 * v + a] += own->fault * 2 * (mean - a - 1) / own->nvert;
    }
}

static own_term own_term_of(const ct_problem* problem) {
    ct_model_info info = ct_model_summary(ct_problem_model(problem));
    return (own_term){.nvert = info.nvert, .last = STEPS, .fault = 1};
}

static void own_term_equals_the_same_objective(void** state) {
    ct_settings settings = tight_settings();
    ct_scene *plain = beam(&settings), *scene = beam(&settings);
    add_parameter(plain, CT_QUANTITY_YOUNG, CT_PER_BODY, NULL);
    add_parameter(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, NULL);
    ct_error error = {0};
    ct_keyframe target = {.translate = {1, 2, 3}};
    ct_objective_def def = ct_objective_def_default();
    def.uniform = true;
    def.path = &target;
    def.npath = 1;
    must(ct_scene_add_objective(scene, &def, &error), &error);

    ct_problem *with_term = open_problem(plain, 0), *with_objective = open_problem(scene, 0);
    own_term own = own_term_of(with_term);
    ct_problem_set_term(with_term, mean_term, &own);
    double y[1], g[2], loss[2];
    ct_problem_start(with_term, y);
    loss[0] = evaluate(with_term, y, &g[0]);
    loss[1] = evaluate(with_objective, y, &g[1]);
    assert_true(loss[1] > 10);
    assert_true(fabs(loss[0] - loss[1]) < 1e-12 * loss[1]);
    assert_true(g[1] != 0 && fabs(g[0] - g[1]) < 1e-9 * fabs(g[1]));
    ct_problem_free(with_term);
    ct_problem_free(with_objective);
    ct_scene_free(plain);
    ct_scene_free(scene);
}

static void check_finds_a_wrong_seed(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = beam(&settings);
    add_parameter(scene, CT_QUANTITY_GRAVITY, CT_PER_SCENE, NULL);
    ct_problem* problem = open_problem(scene, 0);
    own_term own = own_term_of(problem);
    own.fault = 1.001;
    ct_problem_set_term(problem, mean_term, &own);
    double y[3];
    ct_check_slice slice;
    ct_check_def def = ct_check_def_default();
    ct_error error = {0};
    ct_problem_start(problem, y);
    must(ct_problem_check(problem, y, &def, &slice, &error), &error);
    assert_false(slice.passed);
    assert_true(fabs(slice.relative_error - 1e-3) < 1e-5);
    assert_true(fabs(slice.slope) < 0.1);
    own.fault = 1;
    must(ct_problem_check(problem, y, &def, &slice, &error), &error);
    assert_true(slice.passed);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// ---- evaluation ----------------------------------------------------------------------------

static void memory_limit_does_not_change_the_gradient(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = full_scene(&settings);
    ct_problem *all = open_problem(scene, 0), *few = open_problem(scene, 1);
    size_t n = (size_t)ct_problem_size(all);
    double *y = start_of(all), *ga = new_vector(all), *gb = new_vector(all), loss;
    ct_problem_report report;
    ct_error error = {0};
    double expected = evaluate(all, y, ga);
    must(ct_problem_evaluate(few, y, &loss, gb, &report, &error), &error);
    assert_true(loss == expected);
    assert_memory_equal(ga, gb, n * sizeof(double));
    assert_true(report.backward.replayed > 0);
    assert_int_equal(report.forward.steps, STEPS);
    free(y), free(ga), free(gb);
    ct_problem_free(all);
    ct_problem_free(few);
    ct_scene_free(scene);
}

static void evaluation_forgets_the_one_before(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = full_scene(&settings);
    ct_problem* problem = open_problem(scene, 0);
    int n = ct_problem_size(problem);
    double *y = start_of(problem), *other = start_of(problem), *g = new_vector(problem),
           *h = new_vector(problem);
    uint64_t seed = 5;
    for (int i = 0; i < n; i++) other[i] += 0.02 * noise(&seed);
    double first = evaluate(problem, y, g), between = evaluate(problem, other, h),
           again = evaluate(problem, y, h);
    assert_true(fabs(between - first) > 1e-6 * fabs(first));
    assert_true(fabs(again - first) <= 1e-11 * fabs(first));
    double largest = 0, difference = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(g[i])), difference = fmax(difference, fabs(g[i] - h[i]));
    assert_true(largest > 0 && difference <= 1e-9 * largest);
    free(y), free(other), free(g), free(h);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void incomplete_problems_are_refused(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = beam(&settings);
    ct_problem* problem = NULL;
    ct_error error = {0};
    add_point(scene, 1);
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_BAD_SCENE);
    assert_null(problem);
    assert_non_null(strstr(error.message, "parameters"));
    ct_scene_free(scene);

    scene = beam(&settings);
    add_parameter(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, NULL);
    problem = open_problem(scene, 0);
    double y[1], loss;
    ct_problem_start(problem, y);
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "objective"));
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void unusual_vectors_are_errors(void** state) {
    ct_settings settings = tight_settings();
    settings.max_iterations = 1;
    settings.max_substep_depth = 0;
    ct_scene* scene = beam(&settings);
    add_parameter(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, NULL);
    add_point(scene, 1);
    ct_problem* problem = open_problem(scene, 0);
    ct_error error = {0};
    double y[1] = {NAN}, loss;
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_BAD_ARGUMENT);
    ct_problem_start(problem, y);
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_NOT_CONVERGED);
    assert_true(isnan(loss));
    assert_non_null(strstr(error.message, "step 1:"));
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// A control that asks a cell for no volume at all: the sentence of the step is the error's.
static void a_refused_step_is_explained(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = beam(&settings);
    ct_error error = {0};
    ct_chamber_def chamber = ct_chamber_def_default();
    chamber.name = "bellows";
    int actuator;
    must(ct_scene_add_chamber(scene, &chamber, &actuator, &error), &error);
    must(ct_scene_add_actuator_control(scene, "breath", actuator, &error), &error);
    ct_parameter_def def = ct_parameter_def_default();
    def.quantity = CT_QUANTITY_CONTROL;
    def.control = "breath";
    def.per = CT_PER_SCENE;
    def.transform = CT_TRANSFORM_NONE;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
    add_point(scene, 1);
    ct_problem* problem = open_problem(scene, 0);
    double y[1] = {-2}, loss;
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "step 1:"));
    assert_non_null(strstr(error.message, "bellows"));
    assert_non_null(strstr(error.message, "volume ratio"));
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void record_stores_the_motion_that_was_judged(void** state) {
    ct_settings settings = tight_settings();
    ct_scene* scene = full_scene(&settings);
    ct_problem* problem = open_problem(scene, 0);
    own_term own = own_term_of(problem);
    ct_problem_set_term(problem, mean_term, &own);
    double *y = start_of(problem), mean[3] = {0};
    uint64_t seed = 11;
    for (int i = 0; i < ct_problem_size(problem); i++) y[i] += 0.02 * noise(&seed);
    evaluate(problem, y, NULL);
    const char* path = CT_BINARY_DIR "/test_problem.h5";
    ct_trajectory* file = NULL;
    ct_trajectory_info info;
    ct_frame frame;
    ct_error error = {0};
    must(ct_problem_record(problem, scene, path, y, &error), &error);
    must(ct_trajectory_open(&file, path, &error), &error);
    info = ct_trajectory_summary(file);
    assert_int_equal(info.nframe, STEPS + 1);
    must(ct_trajectory_read(file, STEPS, &frame, &error), &error);
    for (int v = 0; v < own.nvert; v++)
        for (int a = 0; a < 3; a++) mean[a] += frame.x[3 * v + a] / own.nvert;
    for (int a = 0; a < 3; a++) assert_true(fabs(mean[a] - own.x[a]) < 1e-12);
    must(ct_trajectory_close(file, &error), &error);
    remove(path);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_every_parameter_matches_differences),
        cmocka_unit_test(gradient_matches_differences_with_bdf2),
        cmocka_unit_test(own_term_equals_the_same_objective),
        cmocka_unit_test(check_finds_a_wrong_seed),
        cmocka_unit_test(memory_limit_does_not_change_the_gradient),
        cmocka_unit_test(evaluation_forgets_the_one_before),
        cmocka_unit_test(incomplete_problems_are_refused),
        cmocka_unit_test(unusual_vectors_are_errors),
        cmocka_unit_test(a_refused_step_is_explained),
        cmocka_unit_test(record_stores_the_motion_that_was_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
