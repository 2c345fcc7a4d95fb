// The check of gradients finds what is wrong in a single component: a term of the user's own, linear in the
// positions at the start, has one derivative that is far larger than the others.
#include <math.h>

#include "build.h"
#include "contact_problem.h"
#include "unit.h"

enum { NODES = 16, SIZE = 3 * NODES };

// L = bias + sum_i w_i x_i of the initial state, and w_i with the fault of one component as its derivative.
typedef struct linear_term {
    double weight[SIZE], fault[SIZE], bias;
} linear_term;

static void add_linear(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                       double* q_bar, void* user) {
    const linear_term* term = user;
    const double* x = ct_state_positions(state);
    if (step == 0) *loss += term->bias;
    for (int i = 0; step == 0 && i < SIZE; i++) {
        *loss += term->weight[i] * x[i];
        if (x_bar) x_bar[i] += term->weight[i] + term->fault[i];
    }
}

static ct_problem* open_problem(linear_term* term) {
    ct_scene* scene = scene_of(
        "{'time_step': 0.01, 'duration': 0.01, 'bodies': [{'box': {'size': [0.3, 0.1, 0.1], 'cells': "
        "[3, 1, 1]}}], 'parameters': [{'type': 'position', 'per': 'element', 'transform': 'none'}]}");
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    ct_scene_free(scene);
    assert_int_equal(ct_problem_size(problem), SIZE);
    *term = (linear_term){0};
    for (int i = 0; i < SIZE; i++) term->weight[i] = 0.01 * (1 + i % 5);
    ct_problem_set_term(problem, add_linear, term);
    return problem;
}

static ct_check_slice check(ct_problem* problem, int components, uint64_t seed) {
    double y[SIZE];
    ct_check_slice slice;
    ct_check_def def = ct_check_def_default();
    ct_error error = {0};
    def.components = components;
    def.seed = seed;
    ct_problem_start(problem, y);
    must(ct_problem_check(problem, y, &def, &slice, &error), &error);
    return slice;
}

// However few components are looked at and whichever they are, the largest is among them.
static void fault_of_the_largest_derivative_is_found(void** state) {
    linear_term term;
    ct_problem* problem = open_problem(&term);
    const int places[] = {0, 1, 11, 23, 24, 46, SIZE - 1}, components[] = {1, 2, 5};
    for (int p = 0; p < 7; p++) {
        double weight = term.weight[places[p]];
        term.weight[places[p]] = p % 2 ? -1 : 1;
        for (int k = 0; k < 3; k++)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                ct_check_slice right = check(problem, components[k], seed);
                if (!right.passed || right.unresolved)
                    fail_msg("error %g without fault", right.relative_error);
                term.fault[places[p]] = 0.1 * term.weight[places[p]];
                ct_check_slice wrong = check(problem, components[k], seed);
                term.fault[places[p]] = 0;
                if (wrong.passed || wrong.worst != places[p])
                    fail_msg("component %d of %d, %d compared, seed %d: passed %d, worst %d", places[p], SIZE,
                             components[k], (int)seed, wrong.passed, wrong.worst);
                assert_true(fabs(wrong.relative_error - 0.1 / 1.1) < 1e-6 && fabs(wrong.slope) < 0.1);
            }
        term.weight[places[p]] = weight;
    }
    ct_problem_free(problem);
}

// With all components compared a fault shows wherever it is, even in a derivative that should be 0.
static void fault_of_any_derivative_is_found_when_all_are_compared(void** state) {
    linear_term term;
    ct_problem* problem = open_problem(&term);
    term.weight[7] = 1;
    term.weight[30] = 0;
    for (int i = 0; i < SIZE; i += 5) {
        term.fault[i] = 1e-3;
        ct_check_slice wrong = check(problem, 0, 1);
        assert_false(wrong.passed);
        assert_int_equal(wrong.worst, i);
        double fault = wrong.worst_gradient - wrong.worst_difference;
        if (!(fabs(fault - 1e-3) < 1e-6)) fail_msg("component %d: off by %g", i, fault);
        term.fault[i] = 0;
    }
    ct_problem_free(problem);
}

// The others are spread over the whole slice and differ from seed to seed: one wrong among many is found by
// some seeds.
static void seeds_look_at_different_components(void** state) {
    linear_term term;
    ct_problem* problem = open_problem(&term);
    int found = 0;
    term.weight[0] = 1;
    term.fault[40] = 0.1;
    for (uint64_t seed = 1; seed <= 60; seed++) found += !check(problem, 4, seed).passed;
    // one in each of 4 stretches of 12: about 5 of 60
    if (found < 1 || found > 20) fail_msg("found by %d of 60 seeds", found);
    ct_problem_free(problem);
}

// At small steps the differences drown in the round-off of a large loss. That is no excuse for a gradient
// that larger steps show to be wrong; where all steps drown, nothing is decided, and it says so.
static void what_drowns_in_the_loss_excuses_nothing(void** state) {
    linear_term term;
    ct_problem* problem = open_problem(&term);
    for (int i = 0; i < SIZE; i++) term.weight[i] = 1e-7 * (1 + i % 3);
    term.bias = 1;
    term.fault[5] = term.weight[5];
    ct_check_slice wrong = check(problem, 0, 1);
    assert_true(!wrong.passed && !wrong.unresolved && wrong.worst == 5);
    term.bias = 1e6;
    assert_true(check(problem, 0, 1).unresolved);
    term.bias = 0;
    term.fault[5] = 0;
    ct_check_slice right = check(problem, 0, 1);
    assert_true(right.passed && !right.unresolved);
    ct_problem_free(problem);
}

// ---- freshly built scenes ------------------------------------------------------------------

// Two blocks upon one another, of which the upper one is pushed: materials per tet, friction, gravity, nodes.
#define BLOCKS(more)                                                                                         \
    "{'time_step': 0.01, 'duration': 0.05, 'gravity': [0, -10, 0], " more "'contact': {'friction': 0.4}, "   \
    "'bodies': [{'name': 'lower', 'box': {'size': [0.3, 0.1, 0.2], 'cells': [2, 1, 2]}, " MATERIAL "}, "     \
    "{'name': 'upper', 'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'translate': [0.08, "           \
    "0.1021, 0.043], 'velocity': [0.5, 0, 0.1], " MATERIAL "}], "                                            \
    "'pins': [{'select': {'box': [[-1, -1, -1], [1, 1e-6, 1]]}}], 'parameters': [{'type': 'young', 'per': "  \
    "'element'}, {'type': 'density', 'per': 'element'}, {'type': 'friction'}, {'type': 'gravity'}, "         \
    "{'type': 'velocity', 'per': 'element'}]}"

enum { SLICES = 5 };

// Checks the gradient at the start against scenes built anew, of the problem's own scene or another.
static void check_fresh(const char* other, ct_check_slice slices[SLICES]) {
    ct_scene *scene = scene_of(BLOCKS("")), *built = scene_of(other);
    contact_loss loss;
    ct_error error = {0};
    ct_problem* problem = contact_problem(scene, 0, &loss);
    const ct_model* model = ct_problem_model(problem);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof *y);
    ct_check_def def = ct_check_def_default();
    def.components = 2;
    def.scene = built;
    ct_problem_start(problem, y);
    assert_int_equal(ct_problem_slice_count(problem), SLICES);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    assert_ptr_equal(ct_problem_model(problem), model);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
    ct_scene_free(built);
}

static void gradients_agree_with_freshly_built_scenes(void** state) {
    ct_check_slice slices[SLICES];
    check_fresh(BLOCKS(""), slices);
    for (int k = 0; k < SLICES; k++) {
        const ct_check_slice* s = &slices[k];
        if (!s->passed || s->unresolved || s->switches)
            fail_msg("%s: error %g, slope %g, %d switches", s->name, s->relative_error, s->slope,
                     s->switches);
        if (!isnan(s->slope) && !(s->slope > 1.7)) fail_msg("%s: slope %g", s->name, s->slope);
        assert_true(s->residual > 0 && s->residual <= 1e-12);
    }
}

// A scene that would move otherwise shows: the differences are its own.
static void what_the_scene_does_otherwise_shows(void** state) {
    ct_check_slice slices[SLICES];
    check_fresh(BLOCKS("'integrator': 'bdf2', "), slices);
    int failed = 0;
    for (int k = 0; k < SLICES; k++) failed += !slices[k].passed;
    assert_true(failed >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_of_the_largest_derivative_is_found),
        cmocka_unit_test(fault_of_any_derivative_is_found_when_all_are_compared),
        cmocka_unit_test(seeds_look_at_different_components),
        cmocka_unit_test(what_drowns_in_the_loss_excuses_nothing),
        cmocka_unit_test(gradients_agree_with_freshly_built_scenes),
        cmocka_unit_test(what_the_scene_does_otherwise_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
