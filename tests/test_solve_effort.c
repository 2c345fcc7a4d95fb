// What a step costs: the rules that save work leave the motion as it is, so that only counts show them.
// Predictors, remembered pairs, refreshed factors, and checkpoints.
#include <math.h>

#include "build.h"
#include "contact_problem.h"
#include "unit.h"

#define CUBE "'bodies': [{'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'material': {'young': 1e5}}]"

static sim sim_of(const char* text, double tolerance) {
    ct_scene* scene = scene_of(text);
    ct_settings settings = ct_scene_settings(scene);
    settings.tolerance = tolerance;
    must(ct_scene_set_settings(scene, &settings, NULL), NULL);
    return start(scene, 1);
}

static ct_step_report step(sim* s, const double* control) {
    ct_step_report report;
    assert_int_equal(ct_step(s->model, s->work, s->state, control, &report), CT_OK);
    assert_int_equal(report.substeps, 1);
    return report;
}

// ---- predictors ----------------------------------------------------------------------------

// v + (v - v') is exact where the acceleration is constant; what is left is the error of the steps before.
static void free_fall_takes_hardly_a_solve_once_it_has_a_past(void** state) {
    int solves[2] = {0, 0};
    for (int forgets = 0; forgets < 2; forgets++) {
        sim s = sim_of("{'time_step': 0.01, 'gravity': 9.81, " CUBE "}", 1e-8);
        step(&s, NULL);
        for (int i = 0; i < 10; i++) {
            // the same positions and velocities without a past
            if (forgets)
                must(ct_state_set(s.state, ct_state_positions(s.state), ct_state_velocities(s.state)), NULL);
            solves[forgets] += step(&s, NULL).solves;
        }
        stop(&s);
    }
    print_message("10 steps of free fall: %d solves, %d without a past\n", solves[0], solves[1]);
    assert_true(solves[0] < 5 && solves[1] >= 10);
}

// v + (v - v') + (v - 2 v' + v'') is exact where the acceleration grows evenly.
static void steadily_growing_pushes_take_about_half_a_solve_per_step(void** state) {
    sim s = sim_of("{'time_step': 0.01, " CUBE
                   ", 'controls': [{'name': 'push', 'force': {'select': {'all': true}}}]}",
                   1e-8);
    assert_int_equal(ct_model_control_size(s.model), 3);  // spread by mass: nothing deforms
    int late = 0;
    for (int i = 0; i < 16; i++) {
        int solves = step(&s, (double[]){i, 0, 0.5 * i}).solves;
        if (i >= 5) late += solves;
    }
    print_message("the last 11 steps: %d solves\n", late);  // 26 without the second order
    assert_true(late <= 13);
    stop(&s);
}

// ---- remembered pairs, refreshed factors ---------------------------------------------------

#define BEAM(more)                                                                                           \
    "{'time_step': 0.01, 'gravity': 9.81, 'bodies': [{'box': {'size': [1, 0.2, 0.2], 'cells': [8, 2, 2]}, "  \
    "'material': {'energy': 'neohookean', 'young': 1e5, 'poisson': 0.4}}], 'pins': [{'select': {'box': "     \
    "[[-1, -1, -1], [1e-6, 1, 1]]}}]" more "}"

// It is 160, 173 without the predictor's second order, 188 without the pairs of L-BFGS.
static void a_sagging_beam_takes_few_solves(void** state) {
    sim s = sim_of(BEAM(""), 1e-8);
    int solves = 0;
    for (int i = 0; i < 30; i++) solves += step(&s, NULL).solves;
    print_message("%d solves\n", solves);
    assert_true(solves < 170);
    stop(&s);
}

// A muscle at work is stiff across its fibres too, which the rest factor does not know and the refreshed one
// does.
static void refreshed_factors_know_muscles_at_work(void** state) {
    sim s = sim_of(BEAM(", 'muscles': [{'name': 'pull', 'points': [[0, 0.2, 0.1], [1, 0.2, 0.1]], 'radius': "
                        "0.3, 'stiffness': 4e5}], 'controls': [{'name': 'pull', 'actuator': 'pull'}]"),
                   1e-8);
    int before = 0, after = 0, late = 0;
    for (int i = 0; i < 120; i++) {
        ct_step_report report = step(&s, (double[]){0.5 * fmin(1, 0.05 * i)});
        if (report.refactors) after = report.solves;
        else if (!after) before = report.solves;
        if (i >= 100) late += report.solves;
    }
    print_message("%d solves a step, %d once refreshed; %d in the last 20 steps\n", before, after, late);
    assert_true(after > 0 && 3 * after < 2 * before && late <= 20 * 7);
    stop(&s);
}

// Far from rest the factor of the rest shape fits badly; refreshed at the present shape it fits again.
static void refreshed_factors_save_solves(void** state) {
    sim s = sim_of(BEAM(", 'drives': [{'select': {'box': [[0.999, -1, -1], [2, 1, 1]]}, 'motion': {'center': "
                        "[1, 0.1, 0.1], 'keys': [{'time': 0}, {'time': 0.4, 'translate': [-0.5, 0, 0], "
                        "'rotate': [3, 0, 0]}]}}]"),
                   1e-8);
    int before = 0, after = 0;
    for (int i = 0; i < 60 && !after; i++) {
        ct_step_report report = step(&s, NULL);
        if (report.refactors) after = report.solves;
        else before = report.solves;
    }
    print_message("%d solves in the step before, %d after\n", before, after);
    assert_true(after > 0 && after < 0.7 * before);
    stop(&s);
}

// ---- checkpoints ---------------------------------------------------------------------------

// With 20 states for 100 steps a step is replayed about once, with 6 about 5 times; and the tape is as small.
static void checkpoints_replay_few_steps(void** state) {
    const int slots[] = {101, 20, 6}, most[] = {0, 110, 560};
    size_t whole = 0;
    for (int k = 0; k < 3; k++) {
        sim s = sim_of("{'time_step': 0.01, 'duration': 1, 'gravity': 9.81, " CUBE
                       ", 'parameters': [{'type': 'velocity'}], 'objective': [{'type': 'point', 'target': "
                       "[1, 1, 1]}]}",
                       1e-8);
        ct_problem* problem = NULL;
        ct_error error = {0};
        ct_problem_report report;
        double y[3], gradient[3], loss;
        must(ct_problem_create(&problem, s.scene, (size_t)slots[k] * ct_state_size(s.state), &error), &error);
        ct_problem_start(problem, y);
        must(ct_problem_evaluate(problem, y, &loss, gradient, &report, &error), &error);
        if (k == 0) whole = report.tape_bytes;
        print_message("%d states: %d steps replayed, %zu bytes\n", slots[k], report.backward.replayed,
                      report.tape_bytes);
        assert_true(report.backward.replayed <= most[k]);
        assert_true(report.tape_bytes * 101 < 1.2 * (double)(whole * (size_t)slots[k]));
        ct_problem_free(problem);
        stop(&s);
    }
}

// ---- bare skeletons ------------------------------------------------------------------------

// A star of five arms of four links each without flesh, thrown at `speed` and thrashing.
static sim star(double speed, double time_step) {
    static const int way[5][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}};
    char text[8192];
    int used =
        snprintf(text, sizeof text,
                 "{'time_step': %g, 'gravity': 9.81, 'skeletons': [{'links': [{'name': 'hub', 'mass': 2, "
                 "'center': [0, 0, 0], 'inertia': [0.02, 0.03, 0.01, 0, 0, 0], 'joint': {'type': 'free', "
                 "'velocity': [%g, 0, 0, 0, 0, 0]}}",
                 time_step, speed);
    for (int k = 0; k < 20; k++) {
        const int *d = way[k / 4], at = k % 4 + 1, axis = (k + 1) % 3;
        const double center = 0.2 * at, anchor = center - 0.1;
        char parent[16] = "hub";
        if (at > 1) snprintf(parent, sizeof parent, "l%d", k - 1);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         ", {'name': 'l%d', 'parent': '%s', 'mass': 1, 'center': [%g, %g, %g], 'inertia': "
                         "[0.01, 0.01, 0.01, 0, 0, 0], 'joint': {'type': 'revolute', 'axis': [%d, %d, %d], "
                         "'anchor': [%g, %g, %g], 'velocity': 5}}",
                         k, parent, d[0] * center, d[1] * center, d[2] * center, axis == 2, axis == 0,
                         axis == 1, d[0] * anchor, d[1] * anchor, d[2] * anchor);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}]}");
    return sim_of(text, 1e-6);
}

// The mass of a link is the same in every pose: its matrix goes with it.
static void bare_links_need_no_new_factor(void** state) {
    sim s = star(0, 0.002);
    int solves = 0;
    for (int i = 0; i < 100; i++) {
        ct_step_report report = step(&s, NULL);
        assert_int_equal(report.refactors, 0);
        solves += report.solves;
    }
    print_message("%d solves in 100 steps\n", solves);
    assert_true(solves <= 300);
    stop(&s);
}

// Far from the origin, with short steps, Phi is known to few digits.
static void search_ends_at_round_off_far_from_the_origin(void** state) {
    for (int k = 0; k < 3; k++) {
        sim s = star((double[]){3, 300, 3000}[k], 0.0005);
        int most = 0;
        for (int i = 0; i < 600; i++) {
            int gradients = step(&s, NULL).gradients;
            if (gradients > most) most = gradients;
        }
        print_message("%.0f m away: at most %d gradients per step\n", ct_state_positions(s.state)[0], most);
        assert_true(most <= 5);
        stop(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_takes_hardly_a_solve_once_it_has_a_past),
        cmocka_unit_test(steadily_growing_pushes_take_about_half_a_solve_per_step),
        cmocka_unit_test(a_sagging_beam_takes_few_solves),
        cmocka_unit_test(refreshed_factors_save_solves),
        cmocka_unit_test(refreshed_factors_know_muscles_at_work),
        cmocka_unit_test(checkpoints_replay_few_steps),
        cmocka_unit_test(bare_links_need_no_new_factor),
        cmocka_unit_test(search_ends_at_round_off_far_from_the_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
