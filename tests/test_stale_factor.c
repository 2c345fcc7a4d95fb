// When the values of a model have moved so far that its system is factored anew (src/model/model_values.c):
// by about a factor of 3 in stiffness or density, in the mass of a link or the stiffness of an actuator. What
// was factored then is what later moves are measured from.
#include <math.h>

#include "build.h"
#include "contact_problem.h"
#include "unit.h"

#define SOLVER "'solver': {'tolerance': 1e-10}, 'time_step': 0.01, 'duration': 0.03, 'gravity': 9.81, "
#define GOAL ", 'objective': [{'type': 'point', 'target': [0.4, 0.2, 0.1]}], 'parameters': ["
#define BEAM                                                                                                 \
    "{" SOLVER "'bodies': [{'name': 'beam', 'box': {'size': [0.3, 0.1, 0.1], 'cells': [3, 1, 1]}, "          \
    "'material': {'young': %.17g, 'poisson': 0.3, 'density': %.17g}}], "                                     \
    "'pins': [{'select': {'box': [[-1, -1, -1], [1e-6, 1, 1]]}}]"
#define CLOTH                                                                                                \
    "{" SOLVER "'bodies': [{'name': 'cloth', 'sheet': {'size': [0.3, 0.3], 'cells': [2, 2]}, 'material': "   \
    "{'young': 1e5, 'poisson': 0.3, 'density': 1000, 'thickness': 2e-3, 'bending': 1}}], "                   \
    "'pins': [{'select': {'box': [[-1, -1, -1], [1e-6, 1, 1]]}}]"
#define ACTED(actuator)                                                                                      \
    "{" SOLVER "'bodies': [{'name': 'beam', 'box': {'size': [0.3, 0.1, 0.1], 'cells': [3, 1, 1]}, "          \
    "'material': {'young': 1e5, 'poisson': 0.3}}], 'pins': [{'select': {'box': [[-1, -1, -1], "              \
    "[1e-6, 1, 1]]}}], " actuator
#define BONED                                                                                                \
    "{" SOLVER "'bodies': [{'name': 'beam', 'box': {'size': [0.4, 0.1, 0.1], 'cells': [4, 2, 2]}, "          \
    "'material': {'young': 1e5, 'poisson': 0.3}}], 'skeletons': [{'name': 's', 'links': [{'name': 'bone', "  \
    "'nodes': {'box': [[0.05, 0.04, 0.04], [0.15, 0.06, 0.06]]}, 'mass': 0.2, 'center': [0.1, 0.05, 0.05], " \
    "'inertia': [0.001, 0.001, 0.001], 'joint': {'type': 'free'}}]}]"

static ct_problem* open_problem(const char* text) {
    ct_scene* scene = scene_of(text);
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    ct_scene_free(scene);
    return problem;
}

static ct_problem* open_beam(double young, double density, const char* quantity) {
    char text[2000];
    snprintf(text, sizeof text, BEAM GOAL "{'type': '%s', 'transform': 'none'}]}", young, density, quantity);
    return open_problem(text);
}

static ct_problem_report evaluate(ct_problem* problem, const double* y, double* loss) {
    ct_problem_report report;
    ct_error error = {0};
    must(ct_problem_evaluate(problem, y, loss, NULL, &report, &error), &error);
    return report;
}

// Whether the move from the start to `factor` times it factors anew.
static bool refactors(ct_problem* problem, const double* start, double factor) {
    int n = ct_problem_size(problem);
    double y[64], loss;
    assert_true(n <= 64);
    for (int i = 0; i < n; i++) y[i] = factor * start[i];
    return evaluate(problem, y, &loss).refactored;
}

// ---- the limit -----------------------------------------------------------------------------

// A quantity keeps the factor while it is within `kept` of what was factored, and loses it beyond `limit`.
static void check_limit(const char* scene, const char* quantity, double kept, double limit) {
    char text[3000];
    snprintf(text, sizeof text, "%s" GOAL "{'type': '%s', 'transform': 'none'}]}", scene, quantity);
    ct_problem* problem = open_problem(text);
    double start[64];
    ct_problem_start(problem, start);
    const double stays[] = {1, kept, 1 / kept, 1};
    for (int i = 0; i < 4; i++)
        if (refactors(problem, start, stays[i])) fail_msg("%s: factored at %g", quantity, stays[i]);
    if (!refactors(problem, start, limit)) fail_msg("%s: kept at %g", quantity, limit);
    // from here on moves are measured from the new value
    if (refactors(problem, start, limit * kept)) fail_msg("%s: factored at %g", quantity, limit * kept);
    if (!refactors(problem, start, 1)) fail_msg("%s: kept on the way back", quantity);
    if (!refactors(problem, start, 1 / limit)) fail_msg("%s: kept at %g", quantity, 1 / limit);
    ct_problem_free(problem);
}

static void solids_are_factored_anew_at_three_times_their_stiffness_or_density(void** state) {
    char beam[2000];
    snprintf(beam, sizeof beam, BEAM, 1e5, 1000.0);
    check_limit(beam, "young", 2.9, 3.1);
    check_limit(beam, "density", 2.9, 3.1);
}

// Stiffness against bending grows with the cube of the thickness: 1.44^3 = 3.
static void sheets_are_factored_anew_by_what_their_thickness_and_bending_do(void** state) {
    check_limit(CLOTH, "thickness", 1.4, 1.5);
    check_limit(CLOTH, "bending", 2.9, 3.1);
    check_limit(CLOTH, "density", 2.9, 3.1);
    check_limit(CLOTH, "young", 2.9, 3.1);
}

static void links_are_factored_anew_at_three_times_their_mass(void** state) {
    check_limit(BONED, "link_mass", 2.9, 3.1);
}

static void actuators_are_factored_anew_at_three_times_their_stiffness(void** state) {
    check_limit(
        ACTED("'muscles': [{'name': 'pull', 'points': [[0, 0.05, 0.05], [0.3, 0.05, 0.05]], 'radius': "
              "0.1, 'stiffness': 3e4, 'activation': 0.1}]"),
        "muscle_stiffness", 2.9, 3.1);
    check_limit(ACTED("'chambers': [{'name': 'bellows', 'select': {'box': [[0.1, -1, -1], [0.3, 1, 1]]}, "
                      "'cells': 'one', 'stiffness': 1e4}]"),
                "chamber_stiffness", 2.9, 3.1);
}

// One soft tet among many is no reason: the whole has to move.
static void single_elements_keep_the_factor(void** state) {
    char text[2000];
    snprintf(text, sizeof text, BEAM GOAL "{'type': 'young', 'per': 'element', 'transform': 'none'}]}", 1e5,
             1000.0);
    ct_problem* problem = open_problem(text);
    double y[64], loss;
    int n = ct_problem_size(problem);
    assert_true(n >= 15 && n <= 64);
    ct_problem_start(problem, y);
    y[0] *= 20;  // log 20 / sqrt(n) is below log 3
    assert_false(evaluate(problem, y, &loss).refactored);
    for (int i = 1; i < n; i += 2) y[i] *= 20;
    assert_true(evaluate(problem, y, &loss).refactored);
    ct_problem_free(problem);
}

static void other_quantities_keep_the_factor(void** state) {
    char beam[2000];
    snprintf(beam, sizeof beam, BEAM GOAL "{'type': 'gravity'}, {'type': 'velocity'}]}", 1e5, 1000.0);
    ct_problem* problem = open_problem(beam);
    double y[64], loss;
    ct_problem_start(problem, y);
    for (int i = 0; i < ct_problem_size(problem); i++) y[i] = 10 * y[i] + 0.01;
    assert_false(evaluate(problem, y, &loss).refactored);
    ct_problem_free(problem);
}

// ---- what it is good for -------------------------------------------------------------------

// After a large move the model is the one that would have been compiled with these values: the same bits, and
// as few solves. (Densities move by a power of 2: the loss is weighted by the masses of its creation.)
static void refactored_models_step_like_compiled_ones(void** state) {
    const struct {
        const char* quantity;
        double young, density;
    } moved[] = {{"young", 1e6, 1000}, {"young", 1e4, 1000}, {"density", 1e5, 8000}, {"density", 1e5, 125}};
    for (int i = 0; i < 4; i++) {
        ct_problem *problem = open_beam(1e5, 1000, moved[i].quantity),
                   *compiled = open_beam(moved[i].young, moved[i].density, moved[i].quantity);
        double y[1], loss[2], start;
        ct_problem_start(problem, &start);
        ct_problem_start(compiled, y);
        evaluate(problem, &start, &loss[0]);
        ct_problem_report late = evaluate(problem, y, &loss[0]), early = evaluate(compiled, y, &loss[1]);
        assert_true(late.refactored && !early.refactored);
        if (loss[0] != loss[1] || late.forward.solves != early.forward.solves)
            fail_msg("%s: loss %.17g in %d solves, compiled %.17g in %d", moved[i].quantity, loss[0],
                     (int)late.forward.solves, loss[1], (int)early.forward.solves);
        ct_problem_free(problem);
        ct_problem_free(compiled);
    }
}

// A kept factor is another preconditioner: other last bits, the same motion.
static void kept_factors_give_the_same_motion(void** state) {
    ct_problem *problem = open_beam(1e5, 1000, "young"), *compiled = open_beam(2.5e5, 1000, "young");
    double y[1], loss[2];
    ct_problem_start(compiled, y);
    ct_problem_report kept = evaluate(problem, y, &loss[0]), own = evaluate(compiled, y, &loss[1]);
    assert_false(kept.refactored);
    assert_true(fabs(loss[0] - loss[1]) < 1e-9 * fabs(loss[1]));
    assert_true(kept.forward.solves >= own.forward.solves);
    ct_problem_free(problem);
    ct_problem_free(compiled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_are_factored_anew_at_three_times_their_stiffness_or_density),
        cmocka_unit_test(sheets_are_factored_anew_by_what_their_thickness_and_bending_do),
        cmocka_unit_test(links_are_factored_anew_at_three_times_their_mass),
        cmocka_unit_test(actuators_are_factored_anew_at_three_times_their_stiffness),
        cmocka_unit_test(single_elements_keep_the_factor),
        cmocka_unit_test(other_quantities_keep_the_factor),
        cmocka_unit_test(refactored_models_step_like_compiled_ones),
        cmocka_unit_test(kept_factors_give_the_same_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
