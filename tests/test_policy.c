// Policies: what they see and say, gradients through the loop, what is refused.
#include "build.h"
#include "scene_text.h"
#include "step/policy.h"

#define SCENE(policy, parameters, objective)                                                                 \
    "{\"time_step\": 0.02, \"duration\": 0.16, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [{\"name\": " \
    "\"fin\", \"box\": {\"size\": [0.2, 0.02, 0.1],"                                                         \
    "\"cells\": [3, 1, 2]}, \"material\": {\"young\": 2e5, \"density\": 1100}}], \"water\": {},"             \
    "\"skeletons\": [{\"links\": [{\"name\": \"root\", \"mass\": 0.2, \"center\": [-0.1, 0.01, 0.05], "      \
    "\"inertia\": [1e-3, 1e-3, 1e-3],"                                                                       \
    "\"joint\": {\"type\": \"free\", \"anchor\": [-0.1, 0.01, 0.05]}}, {\"name\": \"tail\", \"parent\": "    \
    "\"root\", \"joint\": {\"type\": \"revolute\","                                                          \
    "\"anchor\": [0, 0.01, 0.05], \"axis\": [0, 0, 1], \"velocity\": 5}, \"nodes\": {\"box\": [[-1, -1, "    \
    "-1], [0.01, 1, 1]]}}]}],"                                                                               \
    "\"controls\": [{\"name\": \"push\", \"force\": {\"select\": {\"nearest\": [0.2, 0.02, 0.1]}}, "         \
    "\"values\": [0.1, 0, 0]}, {\"name\": \"flap\", \"torque\": \"tail\"}],\n"                               \
    "\"policy\": {" policy "},\n\"parameters\": [" parameters "],\n\"objective\": [" objective "]}"
#define OBSERVE                                                                                              \
    "\"observe\": [{\"joint\": \"tail\"}, {\"position\": {\"nearest\": [0.2, 0, 0]}, \"relative\": "         \
    "\"fin\", \"scale\": 5},"                                                                                \
    "{\"velocity\": {\"all\": true}, \"scale\": 2}, {\"phase\": 3}]"
#define POINT                                                                                                \
    "{\"type\": \"point\", \"target\": [0.1, 0.2, 0.3], \"from\": 0}, {\"type\": \"velocity\", \"target\": " \
    "[1, 0, 0]}"

// Against the formula, written out for two hidden numbers.
static void network_is_the_formula(void** state) {
    (void)state;
    sim s = start(parse(SCENE("\"observe\": [{\"joint\": \"tail\", \"scale\": 3}, {\"phase\": 2}], "
                              "\"hidden\": 2, \"scale\": 0.5, \"controls\": [\"flap\"],"
                              "\"weights\": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2]",
                              "", POINT)),
                  1);
    assert_int_equal(ct_model_quantity_size(s.model, CT_QUANTITY_POLICY), 11);
    must(ct_step(s.model, s.work, s.state, NULL, NULL), NULL);
    const double q = ct_state_coordinates(s.state)[7], time = ct_state_time(s.state),
                 o[3] = {3 * q, sin(4 * M_PI * time), cos(4 * M_PI * time)};
    const double a = tanh(0.1 * o[0] + 0.2 * o[1] + 0.3 * o[2] + 0.7),
                 b = tanh(0.4 * o[0] + 0.5 * o[1] + 0.6 * o[2] + 0.8);
    const double given[4] = {1, 2, 3, 4};
    const double* u = ct_policy_control(s.model, s.work, s.state, given);
    assert_true(q != 0 && u[0] == 1 && u[2] == 3);
    assert_true(fabs(u[3] - 4 - 0.5 * (0.9 * a + 1.1 * b + 1.2)) < 1e-14);
    stop(&s);
}

static void evaluate(const char* text, size_t max_bytes, int size, double* loss, double* gradient) {
    ct_scene* scene = parse(text);
    ct_problem* problem;
    ct_error error;
    must(ct_problem_create(&problem, scene, max_bytes, &error), &error);
    assert_int_equal(ct_problem_size(problem), size);
    double* y = calloc((size_t)size, sizeof(double));
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, loss, gradient, NULL, &error), &error);
    ct_check_def def = ct_check_def_default();
    def.components = 6;
    ct_check_slice slices[8];
    if (!max_bytes) must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; !max_bytes && i < ct_problem_slice_count(problem); i++)
        if (!slices[i].passed)
            fail_msg("%s: error %g, slope %g", slices[i].name, slices[i].relative_error, slices[i].slope);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// Through the state: what the policy sees depends on what it did. Replayed states give the same bits.
static void gradients_match_differences(void** state) {
    (void)state;
    enum { WEIGHTS = 10 * 5 + 6 * 4 };
    const char* text = SCENE(
        OBSERVE ", \"hidden\": 5, \"seed\": 7",
        "{\"type\": \"policy\"}, {\"type\": \"young\"}, {\"type\": \"joint_velocity\", \"link\": \"tail\"},"
        "{\"type\": \"control\", \"control\": \"flap\"}, {\"type\": \"velocity\", \"per\": \"body\"}",
        POINT);
    double loss[2], gradient[2][200];
    for (int k = 0; k < 2; k++) evaluate(text, (size_t)k, WEIGHTS + 1 + 1 + 8 + 3, &loss[k], gradient[k]);
    assert_true(loss[0] == loss[1]);
    assert_memory_equal(gradient[0], gradient[1], (WEIGHTS + 13) * sizeof(double));
}

static void bad_policies_are_refused(void** state) {
    (void)state;
    refused(SCENE("\"observe\": []", "", POINT), "policy.observe", 2, "empty");
    refused(SCENE("\"observe\": [{\"joint\": \"nose\"}]", "", POINT), "policy.joint", 2, "no link");
    refused(SCENE("\"observe\": [{\"joint\": \"root\"}]", "", POINT), "policy.joint", 2, "one coordinate");
    refused(SCENE("\"observe\": [{\"phase\": 1, \"relative\": 0}]", "", POINT), "policy.observe[0].relative",
            2, "positions and velocities");
    refused(SCENE("\"observe\": [{\"phase\": 1}], \"controls\": [\"flap\", \"flap\"]", "", POINT),
            "policy.controls", 2, "twice");
    refused(SCENE("\"observe\": [{\"phase\": 1}], \"weights\": [1, 2]", "", POINT), "policy.weights", 2,
            "numbers");
    refused("{\"bodies\": [{\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}],\n\"parameters\": "
            "[{\"type\": \"policy\"}]}",
            "parameters[0].type", 2, "none");
    ct_scene* scene =
        parse(SCENE("\"observe\": [{\"phase\": 1}]", "{\"type\": \"policy\"}", "{\"type\": \"effort\"}"));
    ct_problem* problem;
    ct_error error;
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_UNSUPPORTED);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(network_is_the_formula),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(bad_policies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
