// Where motions begin: flesh follows its bones, bones the velocities of their flesh, and the gradients of
// both.
#include "build.h"
#include "scene_text.h"

#include "model/model.h"
#include "step/inverted.h"
#include "step/state.h"

// A bar of 192 tets with two bones, hinged in its middle; MORE: keys of the scene, JOINT: of the hinge, BODY:
// of the bar.
#define BAR(MORE, ROOT, JOINT, BODY)                                                                         \
    "{" MORE                                                                                                 \
    "\"gravity\": 0, \"time_step\": 0.005, \"duration\": 0.03, \"solver\": {\"tolerance\": 1e-12}, "         \
    "\"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.8, 0.2, 0.2], \"cells\": [8, 2, 2]}, "          \
    "\"material\": {\"young\": 1e4, \"density\": 500}" BODY                                                  \
    "}], \"skeletons\": [{\"links\": [{\"name\": \"a\", "                                                    \
    "\"joint\": {" ROOT                                                                                      \
    "}, \"nodes\": {\"box\": [[0.05, 0.05, 0.05], [0.25, 0.15, 0.15]]}}, {\"name\": \"b\", "                 \
    "\"parent\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1], \"anchor\": [0.4, 0.1, "    \
    "0.1], \"armature\": 0.05" JOINT "}, \"nodes\": {\"box\": [[0.55, 0.05, 0.05], [0.75, 0.15, 0.15]]}}]}]"
#define FIXED "\"type\": \"fixed\""
#define FREE "\"type\": \"free\", \"anchor\": [0.1, 0.1, 0.1]"

static double fastest(const sim* s) {
    double most = 0;
    for (int i = 0; i < 3 * node_count(s); i++) most = fmax(most, fabs(ct_state_velocities(s->state)[i]));
    return most;
}

// Flesh that stayed behind would have 36 tets inside out and leave with 22 m/s.
static void flesh_starts_where_its_bones_are(void** unused) {
    sim s = start(parse(BAR("", FIXED, ", \"position\": 0.5", "") "}"), 1);
    ct_error error = {0};
    assert_int_equal(s.model->ntet, 192);
    assert_int_equal(ct_inverted_count(s.model, ct_state_positions(s.state)), 0);
    must(ct_state_check_start(s.model, s.work, s.state, &error), &error);
    steps(&s, 1);
    print_message("%.2f m/s after the first step\n", fastest(&s));
    assert_true(fastest(&s) < 2);
    stop(&s);
}

// What hangs on one bone alone moves as it does.
static void one_bone_carries_all(void** unused) {
    sim s = start(
        parse("{\"gravity\": 0, \"bodies\": [{\"box\": {\"size\": [0.4, 0.2, 0.2], \"cells\": [4, 2, 2]}}], "
              "\"skeletons\": [{\"links\": [{\"joint\": {\"type\": \"free\", \"anchor\": [0, 0, 0], "
              "\"position\": [1, 2, 3, 0.3, -0.5, 1.1], \"velocity\": [0.3, 0.1, 0, 1, -2, 0.5]}, "
              "\"nodes\": {\"box\": [[0, 0, 0], [0.1, 0.2, 0.2]]}}]}]}"),
        1);
    const double *X = ct_model_rest(s.model), *x = ct_state_positions(s.state),
                 *v = ct_state_velocities(s.state);
    const double w[3] = {1, -2, 0.5};
    double R[9], t[3];
    must(ct_state_link_pose(s.model, s.state, 0, R, t), NULL);
    for (int i = 0; i < node_count(&s); i++) {
        double y[3];
        for (int a = 0; a < 3; a++) {
            y[a] = t[a];
            for (int b = 0; b < 3; b++) y[a] += R[3 * a + b] * X[3 * i + b];
            assert_true(fabs(x[3 * i + a] - y[a]) < 1e-12);
        }
        for (int a = 0; a < 3; a++) y[a] -= a + 1;  // from the anchor
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            double given = (a == 0 ? 0.3 : a == 1 ? 0.1 : 0) + w[b] * y[c] - w[c] * y[b];
            assert_true(fabs(v[3 * i + a] - given) < 1e-12);
        }
    }
    stop(&s);
}

// Velocities of flesh are those with which it follows joints that turn: differences of where it starts.
static void flesh_moves_as_its_bones_turn(void** unused) {
    sim s = start(parse(BAR("", FIXED, ", \"position\": 0.5, \"velocity\": 2", "") "}"), 1);
    const size_t n = 3 * (size_t)node_count(&s);
    const double e = 1e-5;
    double* ahead = malloc(n * sizeof *ahead);
    double* v = malloc(n * sizeof *v);
    memcpy(v, ct_state_velocities(s.state), n * sizeof *v);
    must(ct_state_begin(s.model, s.state, NULL, NULL, (double[]){0.5 + 2 * e}, NULL), NULL);
    memcpy(ahead, ct_state_positions(s.state), n * sizeof *ahead);
    must(ct_state_begin(s.model, s.state, NULL, NULL, (double[]){0.5 - 2 * e}, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((ahead[i] - ct_state_positions(s.state)[i]) / (2 * e) - v[i]) < 1e-8);
    free(ahead), free(v);
    stop(&s);
}

// A free skeleton goes with its body, turning or not, and nothing then strains; a hinge's own rate adds up.
static void bones_go_with_their_body(void** unused) {
    sim s = start(
        parse(BAR("", FREE, "", ", \"velocity\": [1, -2, 0.5], \"angular_velocity\": [0, 0, 1.5]") "}"), 1);
    const double *X = ct_model_rest(s.model), *v = ct_state_velocities(s.state);
    for (int i = 0; i < ct_scene_node_count(s.scene); i++) {  // rotors do not
        const double given[3] = {1 - 1.5 * (X[3 * i + 1] - 0.1), -2 + 1.5 * (X[3 * i] - 0.4), 0.5};
        for (int a = 0; a < 3; a++) assert_true(fabs(v[3 * i + a] - given[a]) < 1e-10);
    }
    const ct_measure before = ct_state_measure(s.model, s.state);
    steps(&s, 6);
    const ct_measure after = ct_state_measure(s.model, s.state);
    for (int a = 0; a < 3; a++) assert_true(fabs(after.momentum[a] - before.momentum[a]) < 1e-6);
    assert_true(after.elastic < 1e-3 * before.kinetic);
    stop(&s);
    s = start(parse(BAR("", FREE, ", \"velocity\": 3", ", \"velocity\": [1, 0, 0]") "}"), 1);
    assert_true(fabs(s.state->rate[0] - 1) < 1e-12 && fabs(s.state->rate[6] - 3) < 1e-12);
    stop(&s);
}

// Relaxed, flesh has less energy and no forces of its own left; its bones are where they were.
static void flesh_relaxes_between_its_bones(void** unused) {
    sim s =
        start(parse(BAR("\"start\": \"relax\", ", FIXED, ", \"position\": 0.5, \"velocity\": 2", "") "}"), 1);
    const size_t n = 3 * (size_t)node_count(&s);
    const double before = ct_state_measure(s.model, s.state).elastic, bent = *ct_state_coordinates(s.state);
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v);
    memcpy(x, ct_state_positions(s.state), n * sizeof *x);
    memcpy(v, ct_state_velocities(s.state), n * sizeof *v);
    assert_true(ct_model_settings(s.model).relax);
    ct_settle_report report;
    must(ct_relax(s.model, s.work, s.state, &report), NULL);
    const double after = ct_state_measure(s.model, s.state).elastic;
    print_message("%.3g J before, %.3g J after, %d solves\n", before, after, report.solves);
    assert_true(report.converged && after < 0.8 * before);
    assert_true(*ct_state_coordinates(s.state) == bent);
    assert_memory_equal(v, ct_state_velocities(s.state), n * sizeof *v);
    const ct_tree* tree = &s.model->tree;
    for (int i = 0; i < tree->start[tree->nlink]; i++)
        for (int a = 0; a < 3; a++)
            assert_true(fabs(ct_state_positions(s.state)[3 * tree->node[i] + a] - x[3 * tree->node[i] + a]) <
                        1e-15);
    free(x), free(v);
    stop(&s);
}

// Posed as nothing can be, it is refused: in runs, and in problems, as a scene or as a place of the search.
static void starts_inside_out_are_refused(void** unused) {
    static const char more[] = BAR("", FIXED, ", \"position\": 3", "") "}";
    sim s = start(parse(more), 1);
    ct_error error = {0};
    assert_true(ct_inverted_count(s.model, ct_state_positions(s.state)) > 0);
    assert_int_equal(ct_state_check_start(s.model, s.work, s.state, &error), CT_BAD_SCENE);
    stop(&s);
    for (int k = 0; k < 2; k++) {
        ct_scene* scene =
            parse(k ? BAR("", FIXED, ", \"position\": 3",
                          "") ", \"parameters\": [{\"type\": "
                              "\"joint_position\", \"transform\": \"none\"}], \"objective\": [{\"type\": "
                              "\"joint\", \"link\": \"b\", \"target\": 0}]}"
                    : BAR("", FIXED, "",
                          "") ", \"parameters\": [{\"type\": \"joint_position\", "
                              "\"transform\": \"none\"}], \"objective\": [{\"type\": \"joint\", \"link\": "
                              "\"b\", \"target\": 0}]}");
        ct_problem* problem = NULL;
        double loss;
        ct_status status = ct_problem_create(&problem, scene, 0, &error);
        if (!k) must(status, &error);
        if (!k) status = ct_problem_evaluate(problem, (double[]){3}, &loss, NULL, NULL, &error);
        assert_int_equal(status, k ? CT_BAD_SCENE : CT_NOT_CONVERGED);
        assert_non_null(strstr(error.message, "inside out (tet"));
        ct_problem_free(problem);
        ct_scene_free(scene);
    }
}

// ---- gradients -----------------------------------------------------------------------------

static void check_text(const char* text) {
    ct_scene* scene = parse(text);
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    const int count = ct_problem_slice_count(problem);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_check_slice slices[16];
    ct_check_def def = ct_check_def_default();
    def.scene = scene, def.tolerance = 1e-6, def.components = 2, def.levels = 4;
    assert_true(count <= 16);
    ct_problem_start(problem, y);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; i < count; i++)
        // below 1e-8 the differences themselves are rounded by as much
        if (!slices[i].passed || (slices[i].relative_error > 1e-8 && slices[i].slope < 1.8))
            fail_msg("%s: error %.1e, slope %.2f: gradient %g, difference %g", slices[i].name,
                     slices[i].relative_error, slices[i].slope, slices[i].worst_gradient,
                     slices[i].worst_difference);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

#define ASKED                                                                                                \
    ", \"parameters\": [{\"type\": \"joint_position\"}, {\"type\": \"joint_velocity\"}, {\"type\": "         \
    "\"velocity\", "                                                                                         \
    "\"per\": \"body\"}, {\"type\": \"density\", \"per\": \"element\"}, {\"type\": \"young\", \"per\": "     \
    "\"body\"}], "                                                                                           \
    "\"objective\": [{\"type\": \"point\", \"select\": {\"box\": [[0.8, 0, 0], [0.8, 0.2, 0.2]]}, "          \
    "\"target\": [0.5, "                                                                                     \
    "0.3, 0.2]}, {\"name\": \"joint\", \"type\": \"joint\", \"link\": \"b\", \"target\": 1}]}"

static void gradients_go_through_starts(void** unused) {
    check_text(BAR("",
                   FREE ", \"position\": [0, 0.1, 0, 0.2, -0.3, 0.4], \"velocity\": [0.1, 0.2, 0, 1, 2, -1]",
                   ", \"position\": 0.5, \"velocity\": 2",
                   ", \"velocity\": [1, -2, 0.5], \"angular_velocity\": [0.5, -1, 1.5]") ASKED);
}

static void gradients_go_through_starts_that_relax(void** unused) {
    check_text(BAR(
        "\"start\": \"relax\", ",
        FREE ", \"position\": [0, 0.1, 0, 0.2, -0.3, 0.4], \"velocity\": [0.1, 0.2, 0, 1, 2, -1]",
        ", \"position\": 0.5, \"velocity\": 2",
        ", \"velocity\": [1, -2, 0.5]") ", \"parameters\": [{\"type\": \"joint_position\"}, {\"type\": "
                                        "\"joint_velocity\"}, {\"type\": \"velocity\", \"per\": \"body\"}, "
                                        "{\"type\": \"young\", \"per\": \"element\"}], \"objective\": "
                                        "[{\"type\": \"point\", \"select\": {\"box\": [[0.8, 0, 0], [0.8, "
                                        "0.2, 0.2]]}, \"target\": [0.5, 0.3, 0.2]}]}");
}

// Where a scene has settled, velocities follow the bones there.
static void gradients_go_through_starts_that_settle(void** unused) {
    check_text(BAR(
        "\"settle\": true, ", FIXED, ", \"position\": 0.1, \"velocity\": 2, \"stiffness\": 3, \"rest\": 0.4",
        ", \"velocity\": [0.3, -0.4, 0.5]") ", \"parameters\": [{\"type\": \"joint_velocity\"}, {\"type\": "
                                            "\"velocity\", \"per\": \"body\"}, {\"type\": \"young\", "
                                            "\"per\": \"body\"}, {\"type\": "
                                            "\"joint_stiffness\"}], \"objective\": [{\"type\": \"point\", "
                                            "\"select\": {\"box\": [[0.8, 0, 0], "
                                            "[0.8, 0.2, 0.2]]}, \"target\": [0.5, 0.3, 0.2]}]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flesh_starts_where_its_bones_are),
        cmocka_unit_test(one_bone_carries_all),
        cmocka_unit_test(flesh_moves_as_its_bones_turn),
        cmocka_unit_test(bones_go_with_their_body),
        cmocka_unit_test(flesh_relaxes_between_its_bones),
        cmocka_unit_test(starts_inside_out_are_refused),
        cmocka_unit_test(gradients_go_through_starts),
        cmocka_unit_test(gradients_go_through_starts_that_relax),
        cmocka_unit_test(gradients_go_through_starts_that_settle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
