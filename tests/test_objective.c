// Objectives: known values, windows of time, and derivatives against differences.
#include "build.h"
#include "optim/objective.h"
#include "slope.h"
#include "step/state.h"

enum { NSTEP = 10, CONTROLS = 9 };  // steps of 0.01 s; a force and a drive control

static ct_scene* one_box(void) {
    ct_settings settings = ct_settings_default();
    ct_material material = ct_material_default();
    ct_error error = {0};
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){0.3, 0.1, 0.1}, (int[]){3, 1, 1}, &material);
    double low[3], high[3];
    ct_scene_bounds(scene, 0, low, high);
    pin_plane(scene, 0, low[0]);
    must(ct_scene_add_force_control(scene, "push", (int[]){5}, 1, &error), &error);
    must(ct_scene_add_drive_control(scene, "mount", 0, &error), &error);
    return scene;
}

typedef struct fixture {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_objective* objective;
    size_t n;                 // 3 nvert
    double *x, *v, *dx, *dv;  // the point and the direction of a test
    double u[NSTEP * CONTROLS], du[NSTEP * CONTROLS];
    int step;
} fixture;

static double* random_numbers(size_t n, uint64_t* seed) {
    double* out = calloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = noise(seed);
    return out;
}

static fixture begin(ct_scene* scene) {
    fixture f = {.scene = scene, .n = 3 * (size_t)ct_scene_node_count(scene)};
    ct_error error = {0};
    uint64_t seed = 3;
    must(ct_model_create(&f.model, scene, &error), &error);
    must(ct_state_create(&f.state, f.model, NULL), NULL);
    must(ct_objective_create(&f.objective, scene, f.model, NSTEP, &error), &error);
    f.x = random_numbers(f.n, &seed);
    f.v = random_numbers(f.n, &seed);
    f.dx = random_numbers(f.n, &seed);
    f.dv = random_numbers(f.n, &seed);
    for (int i = 0; i < NSTEP * CONTROLS; i++) {
        f.u[i] = noise(&seed);
        f.du[i] = noise(&seed);
    }
    return f;
}

static void end(fixture* f) {
    free(f->x);
    free(f->v);
    free(f->dx);
    free(f->dv);
    ct_objective_free(f->objective);
    ct_state_free(f->state);
    ct_model_free(f->model);
    ct_scene_free(f->scene);
}

static double state_at(void* user, double t) {
    fixture* f = user;
    double *x = calloc(f->n, sizeof *x), *v = calloc(f->n, sizeof *v);
    for (size_t i = 0; i < f->n; i++) {
        x[i] = f->x[i] + t * f->dx[i];
        v[i] = f->v[i] + t * f->dv[i];
    }
    must(ct_state_set(f->state, x, v), NULL);
    free(x);
    free(v);
    return ct_objective_state(f->objective, f->step, f->state);
}

static double controls_at(void* user, double t) {
    fixture* f = user;
    double u[NSTEP * CONTROLS];
    for (int i = 0; i < NSTEP * CONTROLS; i++) u[i] = f->u[i] + t * f->du[i];
    return ct_objective_controls(f->objective, u);
}

static void assert_state_derivative(fixture* f, int step) {
    double *x_bar = calloc(f->n, sizeof *x_bar), *v_bar = calloc(f->n, sizeof *v_bar), exact = 0;
    f->step = step;
    double size = state_at(f, 0);
    x_bar[0] = v_bar[1] = 0.5;  // derivatives are added to what is there
    ct_objective_state_vjp(f->objective, step, f->state, x_bar, v_bar, NULL);
    x_bar[0] -= 0.5;
    v_bar[1] -= 0.5;
    for (size_t i = 0; i < f->n; i++) exact += x_bar[i] * f->dx[i] + v_bar[i] * f->dv[i];
    assert_slope(state_at, f, exact, 0.1, size + 1);
    free(x_bar);
    free(v_bar);
}

static ct_keyframe target(double time, double x, double y, double z) {
    return (ct_keyframe){.time = time, .translate = {x, y, z}};
}

static void add(ct_scene* scene, const ct_objective_def* def) {
    ct_error error = {0};
    must(ct_scene_add_objective(scene, def, &error), &error);
}

// -------------------------------------------------------------------------------------------------

static void derivatives_match_differences_for_every_kind(void** unused) {
    (void)unused;
    const int nodes[] = {9, 2, 7, 4};
    const double shape[12] = {0.1, 0, 0, 0, 0.2, 0, 0.3, 0.1, -0.2, 1, 0, 0};
    ct_keyframe path[] = {target(0, 0, 0, 0), target(0.05, 1, 2, 3), target(0.2, -1, 0, 0)};
    for (int kind = CT_OBJECTIVE_POINT; kind <= CT_OBJECTIVE_SHAPE; kind++)
        for (int option = 0; option < 16; option++) {
            ct_scene* scene = one_box();
            ct_objective_def def = ct_objective_def_default();
            def.kind = kind;
            def.path = path;
            def.npath = option & 4 ? 3 : 1;
            def.nodes = nodes;
            def.count = kind == CT_OBJECTIVE_SHAPE || option & 4 ? 4 : 0;
            def.shape = shape;
            def.weight = 1.7;
            def.uniform = option & 1;
            def.distance = option & 2;
            def.relative = option & 4;
            if (option & 8) def.start = 0.02, def.stop = 0.07;
            add(scene, &def);
            fixture f = begin(scene);
            for (int step = 0; step <= NSTEP; step++) assert_state_derivative(&f, step);
            end(&f);
        }
}

static void control_derivatives_match_differences(void** unused) {
    (void)unused;
    for (int option = 0; option < 16; option++) {
        ct_scene* scene = one_box();
        ct_objective_def def = ct_objective_def_default();
        def.kind = option & 1 ? CT_OBJECTIVE_SMOOTHNESS : CT_OBJECTIVE_EFFORT;
        def.distance = option & 2;
        def.control = option & 4 ? "mount" : NULL;
        if (option & 8) def.start = 0.03, def.stop = 0.06;
        add(scene, &def);
        fixture f = begin(scene);
        double bar[NSTEP * CONTROLS] = {0}, exact = 0;
        ct_objective_controls_vjp(f.objective, f.u, bar);
        for (int i = 0; i < NSTEP * CONTROLS; i++) exact += bar[i] * f.du[i];
        assert_slope(controls_at, &f, exact, 0.05, 10);
        end(&f);
    }
}

static void derivative_of_a_distance_is_zero_at_the_target(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_keyframe rest = target(0, 0, 0, 0);
    ct_objective_def def = ct_objective_def_default();
    def.distance = def.relative = true;
    def.path = &rest;
    def.npath = 1;
    add(scene, &def);
    def.kind = CT_OBJECTIVE_EFFORT;
    add(scene, &def);
    fixture f = begin(scene);
    double bar[NSTEP * CONTROLS] = {0}, zero[NSTEP * CONTROLS] = {0};
    double *x_bar = calloc(f.n, sizeof *x_bar), *v_bar = calloc(f.n, sizeof *v_bar);
    assert_true(ct_objective_state(f.objective, NSTEP, f.state) < 1e-16);
    ct_objective_state_vjp(f.objective, NSTEP, f.state, x_bar, v_bar, NULL);
    for (size_t i = 0; i < f.n; i++) assert_true(isfinite(x_bar[i]) && v_bar[i] == 0);
    ct_objective_controls_vjp(f.objective, zero, bar);
    for (int i = 0; i < NSTEP * CONTROLS; i++) assert_true(bar[i] == 0);
    free(x_bar);
    free(v_bar);
    end(&f);
}

// -------------------------------------------------------------------------------------------------

// The mass-weighted mean is the centre of mass; a rigid shift by d changes it by d.
static void point_measures_the_centre_of_mass(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_keyframe goal = target(0, 0.5, 0, 0);
    ct_objective_def def = ct_objective_def_default();
    def.path = &goal;
    def.npath = 1;
    def.weight = 2;
    add(scene, &def);
    def.relative = def.distance = true;
    add(scene, &def);
    fixture f = begin(scene);
    ct_measure measure = ct_state_measure(f.model, f.state);
    double d[3] = {measure.center[0] - 0.5, measure.center[1], measure.center[2]};
    double expected = 2 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) + 2 * 0.5;
    assert_true(fabs(ct_objective_state(f.objective, NSTEP, f.state) - expected) < 1e-12);
    assert_true(ct_objective_state(f.objective, NSTEP - 1, f.state) == 0);
    assert_int_equal(ct_objective_term_count(f.objective), 2);
    end(&f);
}

static void windows_take_the_states_they_name(void** unused) {
    (void)unused;
    // start, stop, first and last state
    const double cases[][4] = {{NAN, NAN, 10, 10}, {0.03, 0.03, 3, 3},   {0.034, 0.034, 3, 3},
                               {0.02, 0.05, 2, 5}, {0.021, 0.049, 3, 4}, {0.08, INFINITY, 8, 10},
                               {0, 0, 0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        ct_scene* scene = one_box();
        ct_keyframe goal = target(0, 3, 0, 0);
        ct_objective_def def = ct_objective_def_default();
        def.path = &goal;
        def.npath = 1;
        def.relative = true;
        def.start = cases[c][0];
        def.stop = cases[c][1];
        add(scene, &def);
        fixture f = begin(scene);
        double mean = 9 / (cases[c][3] - cases[c][2] + 1);
        for (int step = 0; step <= NSTEP; step++) {
            bool inside = step >= cases[c][2] && step <= cases[c][3];
            assert_true(fabs(ct_objective_state(f.objective, step, f.state) - (inside ? mean : 0)) < 1e-12);
        }
        end(&f);
    }
}

static void target_follows_its_path(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_keyframe path[] = {target(0.02, 0, 0, 0), target(0.06, 4, 0, 0)};
    path[1].rotate[2] = 1;  // has no meaning for a point
    ct_objective_def def = ct_objective_def_default();
    def.path = path;
    def.npath = 2;
    def.relative = def.distance = true;
    def.start = 0;
    def.stop = 1;
    add(scene, &def);
    fixture f = begin(scene);
    for (int step = 0; step <= NSTEP; step++) {
        double expected = fmin(fmax(step - 2.0, 0), 4) / (NSTEP + 1);
        assert_true(fabs(ct_objective_state(f.objective, step, f.state) - expected) < 1e-12);
    }
    end(&f);
}

static void shape_is_the_mean_square_over_nodes(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    const int nodes[] = {6, 1};
    const double shape[] = {2, 0, 0, 0, 0, 4};
    ct_objective_def def = ct_objective_def_default();
    def.kind = CT_OBJECTIVE_SHAPE;
    def.nodes = nodes;
    def.count = 2;
    def.shape = shape;
    def.relative = def.uniform = true;
    add(scene, &def);
    def.uniform = false;
    def.distance = true;
    add(scene, &def);
    fixture f = begin(scene);
    double m6 = f.model->mass[6], m1 = f.model->mass[1];
    double expected = 10 + sqrt((4 * m6 + 16 * m1) / (m6 + m1));
    assert_true(fabs(ct_objective_state(f.objective, NSTEP, f.state) - expected) < 1e-12);
    end(&f);
}

static void effort_and_smoothness_are_means_over_steps(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_objective_def def = ct_objective_def_default();
    def.kind = CT_OBJECTIVE_EFFORT;
    def.control = "push";
    add(scene, &def);
    def.kind = CT_OBJECTIVE_SMOOTHNESS;
    def.weight = 10;
    add(scene, &def);
    fixture f = begin(scene);
    memset(f.u, 0, sizeof f.u);
    f.u[CONTROLS * 4 + 1] = 3;  // one step: 9 / 10; two changes: 2 * 9 / 9
    f.u[CONTROLS * 4 + 5] = 7;  // of the other control
    assert_true(fabs(ct_objective_controls(f.objective, f.u) - (0.9 + 20)) < 1e-12);
    assert_true(ct_objective_controls(f.objective, NULL) == 0);
    assert_true(ct_objective_state(f.objective, NSTEP, f.state) == 0);
    end(&f);
}

// -------------------------------------------------------------------------------------------------

static void refuse(ct_scene* scene, const ct_objective_def* def, const char* path) {
    ct_error error;
    assert_int_equal(ct_scene_add_objective(scene, def, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, path);
}

static void bad_objectives_are_refused_with_their_field(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_keyframe path[] = {target(1, 0, 0, 0), target(1, 0, 0, 0)};
    const int twice[] = {1, 1};
    const double shape[] = {0, 0, 0, 0, NAN, 0};
    ct_objective_def def = ct_objective_def_default(), good;
    refuse(scene, &def, "target");
    def.path = path, def.npath = 2;
    refuse(scene, &def, "path[1]");
    def.npath = 1, good = def;
    def.weight = INFINITY;
    refuse(scene, &def, "weight");
    def = good, def.start = 1;
    refuse(scene, &def, "to");
    def.stop = 0.5;
    refuse(scene, &def, "to");
    def.start = -1;
    refuse(scene, &def, "from");
    def = good, def.kind = CT_OBJECTIVE_SHAPE;
    refuse(scene, &def, "shape");
    def.shape = shape, def.nodes = twice, def.count = 2;
    refuse(scene, &def, "select");
    def.nodes = (int[]){1, 2};
    refuse(scene, &def, "shape");
    def = good, def.kind = CT_OBJECTIVE_EFFORT, def.control = "pull";
    refuse(scene, &def, "control");
    def.control = "push", def.start = def.stop = 0.01;
    refuse(scene, &def, "time");
    assert_int_equal(scene->nobjective, 0);
    ct_scene_free(scene);
}

static void window_after_the_end_is_refused(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_keyframe goal = target(0, 3, 0, 0);
    ct_model* model;
    ct_objective* objective;
    ct_error error;
    ct_objective_def def = ct_objective_def_default();
    def.path = &goal;
    def.npath = 1;
    def.name = "late";
    def.start = def.stop = 0.2;
    add(scene, &def);
    must(ct_model_create(&model, scene, &error), &error);
    assert_int_equal(ct_objective_create(&objective, scene, model, NSTEP, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "\"late\""));
    assert_null(objective);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void optimiser_settings_are_checked(void** unused) {
    (void)unused;
    ct_scene* scene = one_box();
    ct_error error;
    ct_optimize_def def, kept;
    def = ct_scene_optimize_def(scene);
    assert_int_equal(def.method, CT_METHOD_LBFGS);
    def.method = CT_METHOD_ADAM;
    def.rate = 0.1;
    must(ct_scene_set_optimize_def(scene, &def, &error), &error);
    def.rate = 0;
    assert_int_equal(ct_scene_set_optimize_def(scene, &def, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "rate");
    kept = ct_scene_optimize_def(scene);
    assert_true(kept.method == CT_METHOD_ADAM && kept.rate == 0.1);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences_for_every_kind),
        cmocka_unit_test(control_derivatives_match_differences),
        cmocka_unit_test(derivative_of_a_distance_is_zero_at_the_target),
        cmocka_unit_test(point_measures_the_centre_of_mass),
        cmocka_unit_test(windows_take_the_states_they_name),
        cmocka_unit_test(target_follows_its_path),
        cmocka_unit_test(shape_is_the_mean_square_over_nodes),
        cmocka_unit_test(effort_and_smoothness_are_means_over_steps),
        cmocka_unit_test(bad_objectives_are_refused_with_their_field),
        cmocka_unit_test(window_after_the_end_is_refused),
        cmocka_unit_test(optimiser_settings_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
