// The projective solver with sheets, muscles and chambers, and splitting contact with sheets and bones: they
// end where Newton's method does, whose energies are the same.
#include "build.h"
#include "contact_problem.h"
#include "repeat.h"

#define SOLVER(type)                                                                                         \
    "{'time_step': 0.01, 'gravity': [0, -6, -8], 'solver': {'type': '" type                                  \
    "', 'max_iterations': 50000, 'threads': 1}, "
#define PINNED "'pins': [{'select': {'box': [[-1, -1, -1], [1e-6, 1, 1]]}}]"
#define FLESH "'material': {'energy': 'projective', 'young': 5e4, 'poisson': %g, 'density': 1000}"
#define BEAM "'bodies': [{'name': 'beam', 'box': {'size': [0.3, 0.1, 0.1], 'cells': [6, 2, 2]}, " FLESH "}], "
#define CLOTH                                                                                                \
    "'bodies': [{'name': 'cloth', 'sheet': {'size': [0.3, 0.2], 'cells': [6, 4]}, 'material': {'energy': "   \
    "'projective', 'young': 1e5, 'poisson': %g, 'density': 300, 'thickness': %g}}], "

static ct_scene* scene_at(const char* text, double tolerance) {
    ct_scene* scene = scene_of(text);
    ct_settings settings = ct_scene_settings(scene);
    settings.tolerance = tolerance;
    must(ct_scene_set_settings(scene, &settings, NULL), NULL);
    return scene;
}

// Ends of both solvers after some steps; returns the distance, as a part of the motion.
static double difference_by(const char* rest, const char* split, const char* contact, int count) {
    static const char* const begin[2] = {SOLVER("newton"), SOLVER("projective")};
    const char* const method[2] = {"'newton'", split};
    sim s[2];
    long iterations = 0;
    double worst = 0, moved = 0;
    for (int k = 0; k < 2; k++) {
        char text[4000];
        int length = snprintf(text, sizeof text, "%s%s", begin[k], rest);
        if (contact)
            length += snprintf(text + length, sizeof text - (size_t)length,
                               ", 'contact': {'method': %s, %s}, 'obstacles': [{'name': 'floor', 'plane': "
                               "{'normal': [0, 0, 1]}}]",
                               method[k], contact);
        snprintf(text + length, sizeof text - (size_t)length, "}");
        s[k] = start(scene_at(text, 1e-9), 1);
        for (int i = 0; i < count; i++) {
            ct_step_report report;
            if (ct_step(s[k].model, s[k].work, s[k].state, NULL, &report) != CT_OK)
                fail_msg("step %d: residual %g of %g after %d iterations", i, report.residual,
                         report.reference, report.iterations);
            if (k) iterations += report.iterations;
        }
    }
    const double *a = ct_state_positions(s[0].state), *b = ct_state_positions(s[1].state),
                 *x = ct_model_rest(s[0].model);
    for (int i = 0; i < 3 * node_count(&s[0]); i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        moved = fmax(moved, fabs(a[i] - x[i]));
    }
    print_message("%.1e m of a motion of %.2g m, %.0f iterations a step\n", worst, moved,
                  (double)iterations / count);
    assert_true(moved > 1e-4);
    stop(&s[0]);
    stop(&s[1]);
    return worst / moved;
}

static double difference(const char* rest, const char* contact, int count) {
    return difference_by(rest, "'split', 'split': 'diagonal'", contact, count);
}

static void muscles_end_where_newton_does(void** state) {
    char text[3000];
    snprintf(text, sizeof text,
             BEAM PINNED
             ", 'muscles': [{'name': 'top', 'points': [[0, 0.1, 0.05], [0.3, 0.1, 0.05]], 'radius': 0.08, "
             "'segments': 2, 'stiffness': 1e5, 'activation': 0.4}, {'name': 'low', 'points': [[0, 0, 0.05], "
             "[0.3, 0, 0.05]], 'radius': 0.08, 'stiffness': 3e4, 'activation': 0.1}]",
             0.3);
    assert_true(difference(text, NULL, REPEAT(8, 2)) < 1e-6);
}

static void chambers_end_where_newton_does(void** state) {
    char text[3000];
    snprintf(text, sizeof text,
             BEAM PINNED
             ", 'chambers': [{'name': 'bellows', 'select': {'box': [[0.1, -1, -1], [0.3, 1, 1]]}, "
             "'cells': 'one', 'stiffness': 3e4, 'activation': 1.5}]",
             0.3);
    assert_true(difference(text, NULL, REPEAT(8, 2)) < 1e-6);
}

// With and without area term, soft and stiff against bending.
static void sheets_end_where_newton_does(void** state) {
    const double poisson[] = {0, 0.3, 0.3}, thickness[] = {1e-3, 1e-3, 1e-2};
    for (int k = 0; k < 3; k++) {
        char text[3000];
        snprintf(text, sizeof text, CLOTH PINNED, poisson[k], thickness[k]);
        assert_true(difference(text, NULL, REPEAT(8, 2)) < 1e-6);
    }
}

// A sheet of which a part is a bone that hangs by a hinge.
static void sheets_with_bones_end_where_newton_does(void** state) {
    char text[3000];
    snprintf(text, sizeof text,
             CLOTH
             "'skeletons': [{'name': 's', 'links': [{'name': 'rod', 'nodes': {'box': [[-1, -1, -1], "
             "[0.06, 1, 1]]}, 'joint': {'type': 'revolute', 'anchor': [0, 0, 0], 'axis': [0, 0, 1]}}]}]",
             0.3, 1e-3);
    assert_true(difference(text, NULL, REPEAT(8, 2)) < 1e-6);
}

// Lies on the floor, and gravity leans: it slides.
static void sheets_slide_where_newton_lets_them(void** state) {
    char text[3000];
    snprintf(text, sizeof text, CLOTH "'up': 'z'", 0.3, 1e-3);
    assert_true(difference(text, "'friction': 0.3", REPEAT(4, 1)) < 1e-5);
}

// On a plane the nodes are all that touches.
static void nodes_of_cloth_slide_where_newton_lets_them(void** state) {
    char text[3000];
    snprintf(text, sizeof text, CLOTH "'up': 'z'", 0.3, 1e-3);
    assert_true(difference_by(text, "'split', 'split': 'nodes'", "'friction': 0.3", REPEAT(4, 1)) < 1e-5);
}

// A brick that is smaller than a cell of the sheet falls through where nodes alone are looked at, and lies on
// it otherwise.
static void what_is_small_passes_between_nodes(void** state) {
    for (int k = 0; k < 2; k++) {
        char text[3000];
        snprintf(text, sizeof text,
                 "{'time_step': 0.01, 'gravity': [0, 0, -9.81], 'up': 'z', 'solver': {'type': '%s', "
                 "'max_iterations': 50000}, 'contact': {'method': %s}, 'bodies': [{'name': 'cloth', 'sheet': "
                 "{'size': [0.4, 0.4], 'cells': [1, 1]}, 'material': {'energy': 'projective', 'young': 1e6, "
                 "'poisson': 0.3, 'density': 300, 'thickness': 1e-3}}, {'name': 'brick', 'box': {'size': "
                 "[0.05, 0.05, 0.05], 'cells': [1, 1, 1]}, 'translate': [0.25, 0.1, 0.02], 'material': "
                 "{'energy': 'projective', 'young': 1e5, 'density': 200}}], 'pins': [{'select': {'body': "
                 "'cloth', 'all': true}}], 'skeletons': [{'name': 's', 'links': [{'name': 'core', 'nodes': "
                 "{'body': 'brick', 'all': true}, 'joint': {'type': 'free'}}]}]}",
                 k ? "projective" : "newton", k ? "'split', 'split': 'nodes'" : "'newton'");
        sim s = start(scene_at(text, 1e-6), 1);
        steps(&s, 20);
        double lowest = ct_state_positions(s.state)[3 * (node_count(&s) - 1) + 2];
        if (k) assert_true(lowest < -0.05);
        else assert_true(lowest > 0);
        stop(&s);
    }
}

// A block with a bone inside that reaches its sole, and a second one that a hinge holds.
static void bones_slide_where_newton_lets_them(void** state) {
    char text[3000];
    snprintf(text, sizeof text,
             BEAM "'up': 'z', 'skeletons': [{'name': 's', 'links': [{'name': 'foot', 'nodes': {'box': [[-1, "
                  "-1, -1], [0.06, 1, 1]]}, 'joint': {'type': 'free'}}, {'name': 'toe', 'parent': 'foot', "
                  "'nodes': {'box': [[0.22, -1, -1], [1, 1, 1]]}, 'joint': {'type': 'revolute', 'anchor': "
                  "[0.15, 0.05, 0], 'axis': [0, 1, 0]}}]}]",
             0.3);
    assert_true(difference(text, "'friction': 0.3", REPEAT(4, 1)) < 1e-5);
}

static void what_has_no_projection_is_refused(void** state) {
    char text[3000];
    ct_model* model = NULL;
    ct_error error = {0};
    snprintf(text, sizeof text,
             SOLVER("projective") BEAM PINNED
             ", 'cables': [{'name': 'wire', 'eyelets': [{'point': [0, 0.1, 0.05]}, {'point': [0.3, 0.1, "
             "0.05]}], 'tension': 1}]}",
             0.3);
    ct_scene* scene = scene_of(text);
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "wire"));
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(muscles_end_where_newton_does),
        cmocka_unit_test(chambers_end_where_newton_does),
        cmocka_unit_test(sheets_end_where_newton_does),
        cmocka_unit_test(sheets_with_bones_end_where_newton_does),
        cmocka_unit_test(sheets_slide_where_newton_lets_them),
        cmocka_unit_test(nodes_of_cloth_slide_where_newton_lets_them),
        cmocka_unit_test(what_is_small_passes_between_nodes),
        cmocka_unit_test(bones_slide_where_newton_lets_them),
        cmocka_unit_test(what_has_no_projection_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
