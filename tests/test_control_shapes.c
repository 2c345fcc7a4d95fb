// Controls along time: splines and sinusoids of parameters, values of scenes.
#include "build.h"
#include "scene_text.h"
#include "slope.h"
#include "step/control_shapes.h"

enum { STEPS = 13, STRIDE = 4 };

// ---- curves --------------------------------------------------------------------------------

typedef struct line {
    const ct_control_curve* curve;
    const double *values, *direction, *weight;
    int count;
} line;

static double weighted(void* user, double t) {
    const line* l = user;
    double values[64], controls[STEPS * STRIDE] = {0}, sum = 0;
    for (int i = 0; i < l->count; i++) values[i] = l->values[i] + t * l->direction[i];
    ct_control_curve_apply(l->curve, values, 0.03, STEPS, STRIDE, controls);
    for (int i = 0; i < STEPS * STRIDE; i++) sum += l->weight[i] * controls[i];
    return sum;
}

static void check_curve(const ct_control_curve* curve, int count) {
    uint64_t seed = 1;
    double values[64], direction[64], weight[STEPS * STRIDE], bar[64] = {0}, exact = 0;
    for (int i = 0; i < count; i++) values[i] = 1 + noise(&seed), direction[i] = noise(&seed);
    for (int i = 0; i < STEPS * STRIDE; i++) weight[i] = noise(&seed);
    ct_control_curve_vjp(curve, values, 0.03, STEPS, STRIDE, weight, bar);
    for (int i = 0; i < count; i++) exact += bar[i] * direction[i];
    line l = {curve, values, direction, weight, count};
    assert_slope(weighted, &l, exact, 0.1, 100);
}

static void curves_match_differences(void** state) {
    (void)state;
    for (int knots = 2; knots <= STEPS; knots++) {
        const ct_control_curve spline = {
            .shape = CT_CURVE_SPLINE, .control = 1, .size = 2, .knots = knots, .points = 3};
        check_curve(&spline, 3 + 2 * knots);
    }
    const ct_control_curve wave = {.shape = CT_CURVE_SINUSOID, .control = 1, .size = 3, .part = {0, 3, 6, 9}};
    check_curve(&wave, 12);
    const ct_control_curve part = {.shape = CT_CURVE_SINUSOID,
                                   .control = 0,
                                   .size = 2,
                                   .part = {-1, 0, 2, -1},
                                   .fixed = {0.7, 0, 0, 0.1}};
    check_curve(&part, 4);
}

// Equal control points give a constant, a line of them at Greville's abscissae a line; the ends are met;
// bounds are kept.
static void spline_is_what_it_claims(void** state) {
    (void)state;
    for (int knots = 2; knots <= STEPS; knots++) {
        const ct_control_curve spline = {.shape = CT_CURVE_SPLINE, .size = 1, .knots = knots};
        double values[STEPS], u[STEPS];
        uint64_t seed = 9;
        for (int i = 0; i < knots; i++) values[i] = 3;
        ct_control_curve_apply(&spline, values, 0.1, STEPS, 1, u);
        for (int k = 0; k < STEPS; k++) assert_true(fabs(u[k] - 3) < 1e-14);
        for (int i = 0; i < knots; i++) values[i] = noise(&seed) > 0 ? 1 : -1;
        ct_control_curve_apply(&spline, values, 0.1, STEPS, 1, u);
        assert_true(fabs(u[0] - values[0]) < 1e-14 && fabs(u[STEPS - 1] - values[knots - 1]) < 1e-14);
        for (int k = 0; k < STEPS; k++) assert_true(fabs(u[k]) <= 1 + 1e-14);
        assert_int_equal(ct_control_spline_step(knots, 0, STEPS), 0);
        assert_int_equal(ct_control_spline_step(knots, knots - 1, STEPS), STEPS - 1);
    }
    // a cubic on one interval is Bezier's
    const ct_control_curve bezier = {.shape = CT_CURVE_SPLINE, .size = 1, .knots = 4};
    const double p[4] = {1, -2, 5, 0.5};
    double u[STEPS];
    ct_control_curve_apply(&bezier, p, 0.1, STEPS, 1, u);
    for (int k = 0; k < STEPS; k++) {
        const double t = k / (STEPS - 1.0), r = 1 - t;
        assert_true(fabs(u[k] - (r * r * r * p[0] + 3 * t * r * r * p[1] + 3 * t * t * r * p[2] +
                                 t * t * t * p[3])) < 1e-14);
    }
}

// ---- problems ------------------------------------------------------------------------------

#define SCENE(controls, parameters)                                                                          \
    "{\"time_step\": 0.02, \"duration\": 0.3, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [{\"name\": "  \
    "\"bar\", \"box\": {\"size\": [0.3, 0.1, 0.1], "                                                         \
    "\"cells\": [3, 1, 1]}, \"material\": {\"young\": 1e5}}],\n\"controls\": [" controls                     \
    "],\n\"parameters\": [" parameters "],"                                                                  \
    "\"objective\": [{\"type\": \"point\", \"target\": [0.1, 0.2, 0.3], \"from\": 0}, {\"type\": "           \
    "\"effort\", \"weight\": 0.1}]}"
#define PUSH                                                                                                 \
    "{\"name\": \"push\", \"force\": {\"select\": {\"plane\": {\"point\": [0.25, 0, 0], \"normal\": [1, 0, " \
    "0]}}}}"
#define PUSH_WITH(more)                                                                                      \
    "{\"name\": \"push\", \"force\": {\"select\": {\"plane\": {\"point\": [0.25, 0, 0], \"normal\": [1, 0, " \
    "0]}}}, " more "}"

static ct_problem* make(const char* text, size_t max_bytes) {
    ct_scene* scene = parse_in(text, CT_SOURCE_DIR "/tests/data");
    ct_problem* problem;
    ct_error error;
    must(ct_problem_create(&problem, scene, max_bytes, &error), &error);
    ct_scene_free(scene);
    return problem;
}

static void check_gradients(const char* text, int size) {
    ct_problem* problem = make(text, 0);
    ct_error error;
    double y[200], lower[200], upper[200];
    assert_int_equal(ct_problem_size(problem), size);
    ct_problem_start(problem, y);
    ct_problem_bounds(problem, lower, upper);
    ct_check_def def = ct_check_def_default();
    ct_check_slice slices[8];
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; i < ct_problem_slice_count(problem); i++)
        if (!slices[i].passed)
            fail_msg("%s: error %g, slope %g", slices[i].name, slices[i].relative_error, slices[i].slope);
    ct_problem_free(problem);
}

static void gradients_of_shapes_match_differences(void** state) {
    (void)state;
    check_gradients(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"spline\", "
                                "\"knots\": 5, \"lower\": -2, \"upper\": 3, \"start\": 0.5}"),
                    15);
    check_gradients(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"spline\", "
                                "\"knots\": 4, \"transform\": \"sigmoid\", \"lower\": -2, \"upper\": 3}"),
                    12);
    check_gradients(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", "
                                "\"amplitude\": 2, \"frequency\": {\"start\": 3, \"lower\": 1},"
                                "\"phase\": 0.4, \"center\": 0.1}, {\"type\": \"young\"}"),
                    13);
    check_gradients(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", "
                                "\"amplitude\": {\"start\": 2, \"fixed\": true},"
                                "\"frequency\": {\"start\": 3, \"upper\": 9}}"),
                    9);
}

static void slices_of_a_sinusoid_have_names_and_bounds(void** state) {
    (void)state;
    ct_problem* problem =
        make(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", "
                         "\"amplitude\": {\"start\": 2, \"lower\": 1, \"upper\": 4},"
                         "\"frequency\": {\"start\": 3, \"fixed\": true}, \"phase\": 0.5}"),
             0);
    static const char* const names[] = {"push.amplitude", "push.phase", "push.center"};
    assert_int_equal(ct_problem_slice_count(problem), 3);
    double y[9], values[9], lower[9], upper[9];
    ct_problem_start(problem, y);
    ct_problem_bounds(problem, lower, upper);
    ct_problem_values(problem, y, values);
    for (int i = 0; i < 3; i++) {
        ct_slice slice = ct_problem_slice(problem, i);
        assert_string_equal(slice.name, names[i]);
        assert_true(slice.first == 3 * i && slice.count == 3);
    }
    assert_true(values[0] == 2 && values[3] == 0.5 && values[6] == 0 && lower[0] == 0.5 && upper[0] == 2 &&
                isinf(upper[3]));
    ct_problem_free(problem);
}

// ---- values of the scene -------------------------------------------------------------------

static void scene_values_are_played(void** state) {
    (void)state;
    static const char* const same[] = {
        PUSH_WITH("\"values\": [{\"time\": 0, \"value\": [0, 1, 0]}, {\"time\": 0.1, \"value\": [2, 0, 0]}, "
                  "{\"time\": 0.3, \"value\": [-1, 0, 1]}]"),
        PUSH_WITH("\"values\": \"push.csv\""),
    };
    double last[2];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        snprintf(text, sizeof text, SCENE("%s", ""), same[k]);
        sim s = start(parse_in(text, CT_SOURCE_DIR "/tests/data"), 1);
        double u[3], direct[3];
        ct_model_control_values(s.model, 0.05, u);
        assert_true(fabs(u[0] - 1) < 1e-14 && fabs(u[1] - 0.5) < 1e-14 && u[2] == 0);
        ct_model_control_values(s.model, 7, u);
        assert_true(u[0] == -1 && u[1] == 0 && u[2] == 1);
        ct_state* other;
        must(ct_state_create(&other, s.model, NULL), NULL);
        for (int i = 0; i < 15; i++) {
            ct_model_control_values(s.model, ct_state_time(other), direct);
            must(ct_step(s.model, s.work, other, direct, NULL), NULL);
            must(ct_step(s.model, s.work, s.state, NULL, NULL), NULL);
        }
        assert_memory_equal(ct_state_positions(other), ct_state_positions(s.state),
                            3 * (size_t)node_count(&s) * sizeof(double));
        last[k] = ct_state_positions(s.state)[0];
        ct_state_free(other);
        stop(&s);
    }
    assert_true(last[0] == last[1]);
}

static void scene_values_repeat(void** state) {
    (void)state;
    sim s = start(
        parse(SCENE(PUSH_WITH("\"repeat\": true, \"values\": [{\"time\": 1, \"value\": [0, 0, 0]}, "
                              "{\"time\": 1.5, \"value\": [1, 2, 3]}, {\"time\": 2, \"value\": [0, 0, 0]}]"),
                    "")),
        1);
    const double times[] = {0.25, 1.25, 7.25, 2.75};
    for (int i = 0; i < 4; i++) {
        double u[3];
        ct_model_control_values(s.model, times[i], u);
        assert_true(fabs(u[0] - 0.5) < 1e-12 && fabs(u[1] - 1) < 1e-12 && fabs(u[2] - 1.5) < 1e-12);
    }
    stop(&s);
}

// Parameters start from the scene's values, and other controls keep playing; states that are replayed see
// them too.
static void parameters_go_with_scene_values(void** state) {
    (void)state;
    const char* values =
        "\"values\": [{\"time\": 0, \"value\": [0, 1, 0]}, {\"time\": 0.3, \"value\": [2, 0, 0]}]";
    char control[1000], text[3000];
    snprintf(control, sizeof control, PUSH_WITH("%s"), values);
    snprintf(text, sizeof text, SCENE("%s", "{\"type\": \"control\", \"control\": \"push\"}"), control);
    ct_problem* problem = make(text, 0);
    double y[200], u[200];
    ct_problem_start(problem, y);
    ct_problem_values(problem, y, u);
    assert_int_equal(ct_problem_size(problem), 45);
    assert_true(u[0] == 0 && fabs(u[1] - 1) < 1e-12 && fabs(u[3 * 7] - 2 * 0.14 / 0.3) < 1e-12);
    double loss[2], gradient[2][8];
    must(ct_problem_evaluate(problem, y, &loss[0], NULL, NULL, NULL), NULL);
    ct_problem_free(problem);

    snprintf(text, sizeof text, SCENE("%s", "{\"type\": \"young\"}, {\"type\": \"density\"}"), control);
    for (int k = 0; k < 2; k++) {
        problem = make(text, k);
        ct_problem_start(problem, y);
        must(ct_problem_evaluate(problem, y, &loss[1], gradient[k], NULL, NULL), NULL);
        assert_true(fabs(loss[1] - loss[0]) <= 1e-12 * loss[0]);
        ct_problem_free(problem);
    }
    assert_memory_equal(gradient[0], gradient[1], 2 * sizeof(double));
    check_gradients(text, 2);

    snprintf(
        text, sizeof text,
        SCENE("%s", "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"spline\", \"knots\": 2}"),
        control);
    problem = make(text, 0);
    ct_problem_start(problem, y);
    ct_problem_values(problem, y, u);
    assert_true(u[0] == 0 && fabs(u[1] - 1) < 1e-12 && fabs(u[3] - 2 * 0.28 / 0.3) < 1e-12);
    ct_problem_free(problem);
}

static void bad_shapes_and_values_are_refused(void** state) {
    (void)state;
    refused(SCENE(PUSH_WITH("\"values\": [1, 2]"), ""), "controls[0].values", 2, "3 numbers");
    refused(
        SCENE(PUSH_WITH(
                  "\"values\": [{\"time\": 1, \"value\": [0, 0, 0]}, {\"time\": 1, \"value\": [0, 0, 0]}]"),
              ""),
        "controls[0].values", 2, "order of time");
    refused(SCENE(PUSH_WITH("\"repeat\": true, \"values\": [{\"time\": 0, \"value\": [0, 0, 0]}, {\"time\": "
                            "1, \"value\": [0, 1, 0]}]"),
                  ""),
            "controls[0].repeat", 2, "equals the first");
    refused(SCENE(PUSH_WITH("\"repeat\": true"), ""), "controls[0].repeat", 2, "without");
    refused(SCENE(PUSH, "{\"type\": \"young\", \"shape\": \"spline\"}"), "parameters[0].shape", 3,
            "no meaning");
    refused(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"spline\", \"hold\": 2}"),
            "parameters[0].hold", 3, "spline");
    refused(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"knots\": 3}"),
            "parameters[0].knots", 3, "steps");
    refused(
        SCENE(PUSH,
              "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", \"amplitude\": 1}"),
        "parameters[0]", 3, "frequency");
    refused(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", "
                        "\"amplitude\": 1, \"frequency\": {\"start\": 1, \"lower\": 2}}"),
            "parameters[0].frequency", 3, "between");
    refused(SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"sinusoid\", "
                        "\"amplitude\": 1, \"frequency\": 1, \"lower\": 2}"),
            "parameters[0].lower", 3, "sinusoid");
    ct_scene* scene = parse(
        SCENE(PUSH, "{\"type\": \"control\", \"control\": \"push\", \"shape\": \"spline\", \"knots\": 40}"));
    ct_problem* problem;
    ct_error error;
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "knots"));
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_match_differences),
        cmocka_unit_test(spline_is_what_it_claims),
        cmocka_unit_test(gradients_of_shapes_match_differences),
        cmocka_unit_test(slices_of_a_sinusoid_have_names_and_bounds),
        cmocka_unit_test(scene_values_are_played),
        cmocka_unit_test(scene_values_repeat),
        cmocka_unit_test(parameters_go_with_scene_values),
        cmocka_unit_test(bad_shapes_and_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
