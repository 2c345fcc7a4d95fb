// Searches: analytic minima with every method, bounds, failures, stopping; then beams whose properties are
// known.
#include "build.h"
#include "optim/search.h"

// ---- analytic functions --------------------------------------------------------------------

typedef struct valley {  // Rosenbrock's function times `scale`, which fails where y0 > wall
    double scale, wall;
    int calls, failed, again;  // again: points that were asked for before
    double asked[400][2];
} valley;

static void look(valley* f, const double* y, double* gradient, ct_evaluation* result) {
    bool asked = false;
    for (int i = 0; i < f->calls && i < 400; i++)
        asked = asked || !memcmp(f->asked[i], y, sizeof f->asked[i]);
    if (f->calls < 400) memcpy(f->asked[f->calls], y, sizeof f->asked[0]);
    f->again += asked;
    f->calls++;
    if (y[0] > f->wall) {
        f->failed++;
        result->status = CT_NOT_CONVERGED;
        return;
    }
    double a = 1 - y[0], b = y[1] - y[0] * y[0];
    result->loss = f->scale * (a * a + 100 * b * b);
    if (!gradient) return;
    gradient[0] = f->scale * (-2 * a - 400 * y[0] * b);
    gradient[1] = f->scale * 200 * b;
}

static ct_status valley_function(int count, const double* y, double* gradients, ct_evaluation* results,
                                 void* user, ct_error* error) {
    for (int i = 0; i < count; i++) look(user, y + 2 * i, gradients ? gradients + 2 * i : NULL, results + i);
    return CT_OK;
}

typedef struct seen {
    int calls, stop_after, failed;
    double best;
} seen;

static bool watch(const ct_progress* progress, void* user) {
    seen* s = user;
    s->calls++;
    s->failed += progress->failed;
    assert_int_equal(progress->iteration, s->calls);
    assert_true(progress->best <= s->best);
    s->best = progress->best;
    return s->stop_after == 0 || s->calls < s->stop_after;
}

typedef struct result {
    double best, y[2];
    int iterations, failures;
    const char* reason;
    ct_status status;
} result;

static const double unbounded[2] = {INFINITY, INFINITY}, below[2] = {-INFINITY, -INFINITY};

static result minimise(valley* f, ct_optimize_def def, const double start[2], const double* lower,
                       const double* upper, seen* s) {
    seen own = {.best = INFINITY};
    if (!s) s = &own;
    double y[2] = {start[0], start[1]};
    ct_error error = {0};
    ct_function function = {
        .size = 2, .lower = lower, .upper = upper, .evaluate = valley_function, .user = f, .most = 1};
    ct_optimize_report report;
    ct_status status = ct_function_optimize(&function, &def, y, watch, s, &report, &error);
    assert_int_equal(report.iterations, s->calls);
    return (result){.best = report.loss,
                    .y = {y[0], y[1]},
                    .iterations = report.iterations,
                    .failures = report.failures,
                    .reason = report.reason,
                    .status = status};
}

static ct_optimize_def exact(ct_method method, int iterations) {
    ct_optimize_def def = ct_optimize_def_default();
    def.method = method;
    def.iterations = iterations;
    def.tolerance = 0;
    return def;
}

static void every_method_finds_the_valley_floor(void** state) {
    const struct {
        ct_method method;
        int iterations;
        double error;
    } cases[] = {{CT_METHOD_LBFGS, 100, 1e-6},
                 {CT_METHOD_ADAM, 3000, 1e-2},
                 {CT_METHOD_MMA, 3000, 1e-2},
                 {CT_METHOD_SLSQP, 100, 1e-6}};
    for (int k = 0; k < 4; k++) {
        valley f = {.scale = 1, .wall = INFINITY};
        result r = minimise(&f, exact(cases[k].method, cases[k].iterations), (double[]){-1.2, 1}, below,
                            unbounded, NULL);
        print_message("method %d: loss %.1e after %d evaluations: %s\n", k, r.best, r.iterations, r.reason);
        assert_int_equal(r.status, CT_OK);
        assert_true(fabs(r.y[0] - 1) < cases[k].error && fabs(r.y[1] - 1) < 2 * cases[k].error);
        assert_non_null(r.reason);
    }
}

static void unit_of_the_loss_does_not_matter(void** state) {
    for (int k = 0; k < 4; k++) {
        for (double scale = 1e-12; scale < 1e13; scale *= 1e12) {
            valley f = {.scale = scale, .wall = INFINITY};
            result r = minimise(&f, exact((ct_method)k, 60), (double[]){-1.2, 1}, below, unbounded, NULL);
            assert_true(r.best < 5 * scale);
            if (k == CT_METHOD_LBFGS) assert_true(r.best < 1e-8 * scale);
        }
    }
}

static void bounds_hold_and_the_best_may_lie_on_them(void** state) {
    const double lower[2] = {-2, -2}, upper[2] = {0.5, 2};
    for (int k = 0; k < 4; k++) {
        valley f = {.scale = 1, .wall = 0.5};  // fails at once where a method leaves the bounds
        result r = minimise(&f, exact((ct_method)k, 1500), (double[]){-1.2, 5}, lower, upper, NULL);
        assert_int_equal(r.failures, 0);
        assert_true(fabs(r.y[0] - 0.5) < 1e-3 && fabs(r.y[1] - 0.25) < 2e-3);
    }
}

static void failed_evaluations_count_as_a_large_loss(void** state) {
    // The minimum at y0 = 1 is inside, but a long step leads over the wall.
    for (int k = 0; k < 4; k++) {
        valley f = {.scale = 1, .wall = 1.05};
        seen s = {.best = INFINITY};
        ct_optimize_def def = exact((ct_method)k, 3000);
        def.rate = 0.4;
        result r = minimise(&f, def, (double[]){-1.2, 1}, below, unbounded, &s);
        print_message("method %d: %d of %d failed, loss %.1e\n", k, r.failures, r.iterations, r.best);
        assert_int_equal(r.status, CT_OK);
        assert_int_equal(r.failures, f.failed);
        assert_int_equal(s.failed, f.failed);
        assert_true(fabs(r.y[0] - 1) < 0.02);
    }
}

static void failure_at_the_start_is_an_error(void** state) {
    for (int k = 0; k < 4; k++) {
        valley f = {.scale = 1, .wall = -5};
        seen untold = {.best = INFINITY, .calls = 1};  // nobody hears of the only evaluation
        result r = minimise(&f, exact((ct_method)k, 100), (double[]){0, 0}, below, unbounded, &untold);
        assert_int_equal(r.status, CT_NOT_CONVERGED);
        assert_int_equal(f.calls, 1);
    }
}

static void search_stops_where_it_is_told(void** state) {
    for (int k = 0; k < 4; k++) {
        valley f = {.scale = 1, .wall = INFINITY};
        result r = minimise(&f, exact((ct_method)k, 7), (double[]){-1.2, 1}, below, unbounded, NULL);
        assert_int_equal(f.calls, 7);
        assert_non_null(strstr(r.reason, "iterations"));

        seen s = {.best = INFINITY, .stop_after = 3};
        f.calls = 0;
        r = minimise(&f, exact((ct_method)k, 100), (double[]){-1.2, 1}, below, unbounded, &s);
        assert_int_equal(f.calls, 3);
        assert_non_null(strstr(r.reason, "caller"));

        ct_optimize_def def = exact((ct_method)k, 1000);
        def.target = 4.1;
        r = minimise(&f, def, (double[]){-1.2, 1}, below, unbounded, NULL);
        assert_true(r.best <= 4.1);
        assert_non_null(strstr(r.reason, "target"));

        def.target = -INFINITY;
        def.tolerance = 1e-2;
        r = minimise(&f, def, (double[]){1.001, 1}, below, unbounded, NULL);
        assert_true(r.iterations < 1000);
    }
}

static void bad_settings_are_refused(void** state) {
    valley f = {.scale = 1, .wall = INFINITY};
    ct_optimize_def good = exact(CT_METHOD_LBFGS, 10), bad[4] = {good, good, good, good};
    bad[0].iterations = 0;
    bad[1].rate = 0;
    bad[2].tolerance = -1;
    bad[3].method = (ct_method)9;
    for (int k = 0; k < 4; k++)
        assert_int_equal(minimise(&f, bad[k], (double[]){0, 0}, below, unbounded, NULL).status,
                         CT_BAD_ARGUMENT);
    assert_int_equal(f.calls, 0);
}

// ---- beams ---------------------------------------------------------------------------------

static ct_scene* beam(double young, double duration, bool pinned) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.duration = duration;
    settings.tolerance = 1e-9;
    settings.threads = 1;
    ct_material material = ct_material_default();
    material.young = young;
    material.damping_mass = pinned ? 20 : 0;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){0.5, 0.1, 0.1}, (int[]){6, 1, 1}, &material);
    if (pinned) pin_plane(scene, 0, 0);
    return scene;
}

static void aim(ct_scene* scene, const double target[3]) {
    ct_error error = {0};
    ct_keyframe key = {.translate = {target[0], target[1], target[2]}};
    ct_objective_def def = ct_objective_def_default();
    def.path = &key;
    def.npath = 1;
    must(ct_scene_add_objective(scene, &def, &error), &error);
}

static void vary(ct_scene* scene, ct_quantity kind) {
    ct_error error = {0};
    ct_parameter_def def = ct_parameter_def_default();
    def.quantity = kind;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
}

static void mass_centre(sim* s, double center[3]) {
    ct_measure measure = ct_state_measure(s->model, s->state);
    memcpy(center, measure.center, sizeof measure.center);
}

// Runs the problem with a method and leaves the physical values.
static ct_optimize_report solve(ct_scene* scene, ct_method method, int iterations, double* values) {
    ct_problem* problem = NULL;
    ct_error error = {0};
    ct_optimize_report report;
    ct_optimize_def def = exact(method, iterations);
    def.target = 1e-16;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double y[8];
    assert_true(ct_problem_size(problem) <= 8);
    ct_problem_start(problem, y);
    must(ct_problem_optimize(problem, &def, y, NULL, NULL, &report, &error), &error);
    ct_problem_values(problem, y, values);
    double loss;
    must(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), &error);
    assert_true(fabs(loss - report.loss) <= 1e-6 * report.loss + 1e-18);
    ct_problem_free(problem);
    return report;
}

// The beam sinks under its weight for half a second; its mass centre tells how stiff it is.
static void young_modulus_is_found_from_the_deflection(void** state) {
    sim truth = start(beam(1.7e5, 0.5, true), 1);
    double center[3], young;
    steps(&truth, 50);
    mass_centre(&truth, center);
    stop(&truth);
    const ct_method methods[] = {CT_METHOD_LBFGS, CT_METHOD_MMA, CT_METHOD_SLSQP};
    for (int k = 0; k < 3; k++) {
        ct_scene* scene = beam(6e5, 0.5, true);
        aim(scene, center);
        vary(scene, CT_QUANTITY_YOUNG);
        ct_optimize_report report = solve(scene, methods[k], 60, &young);
        print_message("young %.6e after %d evaluations, loss %.1e\n", young, report.iterations, report.loss);
        assert_true(fabs(young / 1.7e5 - 1) < 1e-4);
        ct_scene_free(scene);
    }
}

// A free body flies on a parabola of implicit Euler: after n steps of h, x = x0 + n h v + h^2 g n (n + 1)
// / 2.
static void velocity_that_hits_a_target_is_found(void** state) {
    const double h = 0.01, n = 20, wanted[3] = {1.5, 2, -0.5};
    const ct_method methods[] = {CT_METHOD_LBFGS, CT_METHOD_ADAM};
    sim at_rest = start(beam(2e5, n * h, false), 1);
    double target[3], velocity[3];
    mass_centre(&at_rest, target);
    stop(&at_rest);
    for (int a = 0; a < 3; a++)
        target[a] += n * h * wanted[a] - (a == 1 ? 9.81 * h * h * n * (n + 1) / 2 : 0);
    for (int k = 0; k < 2; k++) {
        ct_scene* scene = beam(2e5, n * h, false);
        aim(scene, target);
        vary(scene, CT_QUANTITY_VELOCITY);
        ct_optimize_report report = solve(scene, methods[k], 150, velocity);
        print_message("velocity %.6f %.6f %.6f after %d evaluations\n", velocity[0], velocity[1], velocity[2],
                      report.iterations);
        for (int a = 0; a < 3; a++) assert_true(fabs(velocity[a] - wanted[a]) < (k ? 0.05 : 1e-5));
        ct_scene_free(scene);
    }
}

// The same without gradients; the measure is the distance of the mass centre from its target, whatever the
// weight.
static bool hear_measure(const ct_progress* progress, void* user) {
    int* calls = user;
    ++*calls;
    assert_true(fabs(progress->measure - sqrt(progress->loss / 5)) <= 1e-12 * progress->measure);
    assert_true(isnan(progress->gradient_norm) && progress->backward_seconds == 0 &&
                progress->forward_seconds > 0);
    return true;
}

static void methods_without_gradients_hit_the_target_and_tell_the_measure(void** state) {
    const double h = 0.01, n = 4, wanted[3] = {0.15, 0.2, -0.05};
    sim at_rest = start(beam(2e5, n * h, false), 1);
    double target[3], velocity[3];
    mass_centre(&at_rest, target);
    stop(&at_rest);
    for (int a = 0; a < 3; a++)
        target[a] += n * h * wanted[a] - (a == 1 ? 9.81 * h * h * n * (n + 1) / 2 : 0);
    for (int method = CT_METHOD_CMAES; method <= CT_METHOD_NELDER_MEAD; method++) {
        ct_scene* scene = beam(2e5, n * h, false);
        ct_error error = {0};
        ct_keyframe key = {.translate = {target[0], target[1], target[2]}};
        ct_objective_def objective = ct_objective_def_default();
        objective.path = &key;
        objective.npath = 1;
        objective.weight = 5;
        must(ct_scene_add_objective(scene, &objective, &error), &error);
        vary(scene, CT_QUANTITY_VELOCITY);
        ct_problem* problem = NULL;
        must(ct_problem_create(&problem, scene, 0, &error), &error);
        double y[3];
        int calls = 0;
        ct_optimize_def def = exact((ct_method)method, 150);
        ct_optimize_report report;
        ct_problem_start(problem, y);
        must(ct_problem_optimize(problem, &def, y, hear_measure, &calls, &report, &error), &error);
        ct_problem_values(problem, y, velocity);
        print_message("method %d: velocity %.5f %.5f %.5f\n", method, velocity[0], velocity[1], velocity[2]);
        assert_int_equal(calls, report.iterations);
        for (int a = 0; a < 3; a++)
            assert_true(fabs(velocity[a] - wanted[a]) < (method == CT_METHOD_EVOLUTION ? 0.1 : 0.02));
        ct_problem_free(problem);
        ct_scene_free(scene);
    }
}

// Means over the window, by norm and kind; without an objective of the scene there is no measure.
static void lift(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar, double* q_bar,
                 void* user) {
    *loss += ct_state_positions(state)[1];
    if (x_bar) x_bar[1] += 1;
}

static double measure_of(ct_scene* scene, ct_term term, double* loss) {
    ct_error error = {0};
    ct_problem* problem = NULL;
    ct_problem_report report;
    double y[8];
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    ct_problem_set_term(problem, term, NULL);
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, loss, NULL, &report, &error), &error);
    ct_problem_free(problem);
    ct_scene_free(scene);
    return report.measure;
}

static void measure_is_the_root_mean_square_of_the_first_term(void** state) {
    ct_error error = {0};
    double loss;
    for (int distance = 0; distance < 2; distance++) {
        // A free body whose target is where its mass centre is at first: after k steps it is h^2 g k (k + 1)
        // / 2 below.
        sim at_rest = start(beam(2e5, 0.03, false), 1);
        ct_keyframe key = {0};
        mass_centre(&at_rest, key.translate);
        stop(&at_rest);
        ct_scene* scene = beam(2e5, 0.03, false);
        ct_objective_def def = ct_objective_def_default();
        def.path = &key;
        def.npath = 1;
        def.weight = 7;
        def.distance = distance;
        def.start = 0;
        def.stop = 0.03;
        must(ct_scene_add_objective(scene, &def, &error), &error);
        def.weight = 1000;  // a second term does not matter
        must(ct_scene_add_objective(scene, &def, &error), &error);
        vary(scene, CT_QUANTITY_VELOCITY);
        double measure = measure_of(scene, NULL, &loss);
        assert_true(fabs(measure - 9.81e-4 * sqrt((1 + 9 + 36) / 4.0)) < 1e-8);
    }
    ct_scene* scene = beam(2e5, 0.03, false);
    vary(scene, CT_QUANTITY_VELOCITY);
    assert_true(isnan(measure_of(scene, lift, &loss)) && isfinite(loss));
}

// Adam turns back from a wall with the gradient that it had, and finds the minimum in front of it.
static void adam_asks_no_point_again_after_a_failure(void** state) {
    (void)state;
    valley f = {.scale = 1, .wall = 0.5};
    ct_optimize_def def = ct_optimize_def_default();
    def.method = CT_METHOD_ADAM, def.iterations = 300, def.rate = 0.2, def.tolerance = 0;
    result r = minimise(&f, def, (double[]){-1.2, 1}, below, unbounded, NULL);
    assert_int_equal(r.status, CT_OK);
    assert_true(f.failed > 2 && f.again == 0);
    assert_true(r.best < 1 && r.y[0] <= 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_asks_no_point_again_after_a_failure),
        cmocka_unit_test(every_method_finds_the_valley_floor),
        cmocka_unit_test(unit_of_the_loss_does_not_matter),
        cmocka_unit_test(bounds_hold_and_the_best_may_lie_on_them),
        cmocka_unit_test(failed_evaluations_count_as_a_large_loss),
        cmocka_unit_test(failure_at_the_start_is_an_error),
        cmocka_unit_test(search_stops_where_it_is_told),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(young_modulus_is_found_from_the_deflection),
        cmocka_unit_test(velocity_that_hits_a_target_is_found),
        cmocka_unit_test(methods_without_gradients_hit_the_target_and_tell_the_measure),
        cmocka_unit_test(measure_is_the_root_mean_square_of_the_first_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
