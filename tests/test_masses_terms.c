// Masses of bodies and nodes, objectives along an axis, starting values one by one, terms of a loss one by
// one.
#include "rollout.h"

static ct_scene* parse(const char* text) {
    ct_scene* scene = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    return scene;
}

#define BOX(more)                                                                                            \
    "{\"gravity\": [0, 0, -9.81], \"duration\": 0.05, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [{"    \
    "\"name\": \"box\", \"box\": {\"size\": [0.2, 0.1, 0.1], \"cells\": [2, 1, 1]}, \"material\": "          \
    "{\"energy\": \"neohookean\", \"young\": 1e5, \"density\": 300}" more

static void bodies_weigh_what_they_should(void** state) {
    sim s = start(parse(BOX(", \"mass\": 5}]}")), 1);
    ct_model_info info = ct_model_summary(s.model);
    assert_true(fabs(info.mass - 5) < 1e-13);
    assert_true(fabs(s.model->material[0].density - 2500) < 1e-10);
    stop(&s);
    ct_scene* scene = NULL;
    ct_error error = {0};
    const char* bad = BOX(", \"mass\": 0}]}");
    assert_int_not_equal(ct_scene_parse(&scene, bad, strlen(bad), NULL, &error), CT_OK);
    assert_non_null(strstr(error.path, "mass"));
}

// A heavy node takes its share of the momentum: free fall is the same, and so is the sum of the masses.
static void nodes_have_masses_of_their_own(void** state) {
    sim s = start(parse(BOX("}], \"masses\": [{\"select\": {\"nearest\": [0.2, 0.1, 0.1]}, \"per_node\": 2}, "
                            "{\"select\": {\"box\": [[0, 0, 0], [0, 1, 1]]}, \"total\": 1}]}")),
                  1),
        plain = start(parse(BOX("}]}")), 1);
    const double *mass = ct_model_node_mass(s.model), *without = ct_model_node_mass(plain.model);
    const int tip = node_at(&s, 0.2, 0.1, 0.1), foot = node_at(&s, 0, 0, 0);
    assert_true(fabs(mass[tip] - without[tip] - 2) < 1e-14);
    assert_true(fabs(mass[foot] - without[foot] - 0.25) < 1e-14);
    assert_true(fabs(ct_model_summary(s.model).mass - ct_model_summary(plain.model).mass - 3) < 1e-13);
    steps(&s, 3), steps(&plain, 3);
    const double fall = ct_state_positions(s.state)[3 * tip + 2];
    assert_true(fabs(fall - ct_state_positions(plain.state)[3 * tip + 2]) < 1e-12 && fall < 0.1);
    stop(&s);
    stop(&plain);
}

static const char two_terms[] = BOX(
    "}], \"pins\": [{\"select\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}], \"parameters\": [{\"type\": \"young\", "
    "\"per\": \"body\", \"start\": [2e5]}, {\"type\": \"gravity\", \"start\": [0.5, 1, -8]}], \"objective\": "
    "[{\"name\": \"lift\", \"type\": \"point\", \"select\": {\"nearest\": [0.2, 0.1, 0.1]}, \"target\": [0, "
    "0, 0.02], \"axis\": [0, 0, 2], \"norm\": \"linear\", \"weight\": -3}, {\"name\": \"side\", \"type\": "
    "\"velocity\", \"select\": {\"nearest\": [0.2, 0.1, 0.1]}, \"target\": [0, 0.1, 0], \"axis\": [0, 1, "
    "0], \"weight\": 2}]}");

static void terms_count_along_their_axes_and_one_by_one(void** state) {
    ct_scene* scene = parse(two_terms);
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double y[4], values[4], loss, gradient[4];
    ct_problem_start(problem, y);
    ct_problem_values(problem, y, values);
    const double expected[4] = {2e5, 0.5, 1, -8};
    for (int i = 0; i < 4; i++) assert_true(fabs(values[i] - expected[i]) <= 1e-12 * fabs(expected[i]));
    must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
    // the same motion by hand
    sim s = {.model = (ct_model*)ct_problem_model(problem)};
    must(ct_state_create(&s.state, s.model, NULL), NULL);
    must(ct_work_create(&s.work, s.model, 1, NULL), NULL);
    steps(&s, 5);
    const int tip = node_at(&s, 0.2, 0.1, 0.1);
    const double lift = -3 * (ct_state_positions(s.state)[3 * tip + 2] - 0.02),
                 side = 2 * pow(ct_state_velocities(s.state)[3 * tip + 1] - 0.1, 2);
    assert_int_equal(ct_problem_term_count(problem), 2);
    assert_string_equal(ct_problem_term_name(problem, 0), "lift");
    assert_null(ct_problem_term_name(problem, 2));
    assert_true(fabs(ct_problem_term_loss(problem, 0) - lift) < 1e-12);
    assert_true(fabs(ct_problem_term_loss(problem, 1) - side) < 1e-12);
    assert_true(fabs(loss - lift - side) < 1e-12);
    ct_state_free(s.state);
    ct_work_free(s.work);
    // and their gradient
    ct_check_slice slices[2];
    ct_check_def def = ct_check_def_default();
    def.scene = scene, def.tolerance = 1e-8;
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; i < 2; i++)
        if (!slices[i].passed) fail_msg("%s: error %g", slices[i].name, slices[i].relative_error);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void what_makes_no_sense_is_refused(void** state) {
    static const char* const wrong[][2] = {
        {"\"type\": \"point\", \"target\": [0, 0, 0], \"norm\": \"linear\"", "axis"},
        {"\"type\": \"shape\", \"shape\": [], \"axis\": [1, 0, 0]", "axis"}};
    for (size_t i = 0; i < 2; i++) {
        char text[2048];
        ct_scene* scene = NULL;
        ct_error error = {0};
        snprintf(text, sizeof text, "%s}], \"objective\": [{%s}]}", BOX(""), wrong[i][0]);
        assert_int_not_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_OK);
        if (!strstr(error.path, wrong[i][1]) && !strstr(error.message, wrong[i][1]))
            fail_msg("%s: %s", error.path, error.message);
    }
    // as many starts as numbers
    ct_scene* scene = parse(BOX("}], \"parameters\": [{\"type\": \"gravity\", \"start\": [1, 2]}], "
                                "\"objective\": [{\"type\": \"point\", \"target\": [0, 0, 0]}]}"));
    ct_problem* problem = NULL;
    ct_error error = {0};
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "2 starting values, but 3 numbers"));
    ct_scene_free(scene);
}

// A start with flesh inside out is refused, with its tets' names.
static void starts_inside_out_are_refused(void** state) {
    sim s = start(parse(BOX("}]}")), 1);
    const size_t n = 3 * (size_t)node_count(&s);
    double *x = calloc(n, sizeof *x), *v = calloc(n, sizeof *v);
    ct_error error = {0};
    must(ct_state_check_start(s.model, s.work, s.state, &error), &error);
    memcpy(x, ct_state_positions(s.state), n * sizeof *x);
    x[3 * node_at(&s, 0.2, 0.1, 0.1)] -= 0.3;
    must(ct_state_set(s.state, x, v), NULL);
    assert_int_equal(ct_state_check_start(s.model, s.work, s.state, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "inside out (tet"));
    assert_non_null(strstr(error.message, "\"box\""));
    free(x), free(v);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_weigh_what_they_should),
        cmocka_unit_test(nodes_have_masses_of_their_own),
        cmocka_unit_test(terms_count_along_their_axes_and_one_by_one),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(starts_inside_out_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
