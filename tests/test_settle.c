// Statics: where scenes rest, against beam theory and a thick sphere, and gradients through the settling
// against freshly built scenes.
#include "rollout.h"

static sim open_text(const char* text) {
    ct_scene* scene = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    return start(scene, 1);
}

static ct_settle_report settle(sim* s) {
    ct_settle_report report;
    const ct_status status = ct_settle(s->model, s->work, s->state, NULL, &report);
    if (status != CT_OK) fail_msg("%s: %s", ct_status_text(status), report.message);
    assert_true(report.converged && !report.message[0]);
    return report;
}

// Mean of the rise of the nodes at x = at.
static double mean_rise(const sim* s, double at) {
    const double *rest = s->model->geometry.rest, *x = ct_state_positions(s->state);
    double sum = 0;
    int count = 0;
    for (int v = 0; v < s->model->nvert; v++)
        if (fabs(rest[3 * v] - at) < 1e-9) sum += x[3 * v + 2] - rest[3 * v + 2], count++;
    return sum / count;
}

// ---- known answers -------------------------------------------------------------------------

// Stiff enough that the theory of small deflections holds: w L^4 / (8 E I) + w L^2 / (2 k G A).
static void a_cantilever_sags_as_beam_theory_says(void** state) {
    sim s =
        open_text("{\"gravity\": [0, 0, -9.81], \"solver\": {\"tolerance\": 1e-10}, \"bodies\": [{\"box\": "
                  "{\"size\": [1, 0.1, 0.1], \"cells\": [20, 2, 2]}, \"order\": 2, \"material\": {\"young\": "
                  "1e8, \"poisson\": 0, \"density\": 1000}}], \"pins\": [{\"select\": {\"box\": [[0, 0, 0], "
                  "[0, 1, 1]]}}]}");
    const ct_settle_report report = settle(&s);
    const double w = 1000 * 9.81 * 0.01, I = 1e-4 / 12,
                 known = w / (8 * 1e8 * I) + w / (2 * 5.0 / 6 * 5e7 * 0.01), sag = -mean_rise(&s, 1);
    if (!(fabs(sag / known - 1) < 0.005)) fail_msg("sag %g m, theory %g", sag, known);
    assert_true(report.residual <= 1e-10 * report.reference && report.iterations > 0);
    // a motion from there goes nowhere
    steps(&s, 5);
    assert_true(fabs(-mean_rise(&s, 1) - sag) < 1e-9 * known);
    stop(&s);
}

// A hollow sphere of radii a < b under the pressure p inside, small strain (Lame): the outside moves by
// p a^3 b (3 (1 - nu)) / (2 E (b^3 - a^3)). Nothing holds it, and nothing has to.
static void a_sphere_swells_as_lame_says(void** state) {
    sim s = open_text(
        "{\"gravity\": 0, \"solver\": {\"tolerance\": 1e-9}, \"bodies\": [{\"name\": \"ball\", \"shape\": "
        "{\"difference\": [{\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.12}}, {\"sphere\": "
        "{\"center\": [0, 0, 0], \"radius\": 0.07}}]}, \"size\": 0.024, \"order\": 2, \"material\": "
        "{\"energy\": \"neohookean\", \"young\": 1e6, \"poisson\": 0.3}}], \"cavities\": [{\"name\": "
        "\"air\", \"seed\": [0, 0, 0], \"pressure\": 500}]}");
    settle(&s);
    const double *rest = s.model->geometry.rest, *x = ct_state_positions(s.state);
    double before = 0, after = 0;
    for (int v = 0; v < s.model->nvert; v++) {
        const double r = sqrt(rest[3 * v] * rest[3 * v] + rest[3 * v + 1] * rest[3 * v + 1] +
                              rest[3 * v + 2] * rest[3 * v + 2]);
        if (r < 0.119) continue;
        before += r;
        after += sqrt(x[3 * v] * x[3 * v] + x[3 * v + 1] * x[3 * v + 1] + x[3 * v + 2] * x[3 * v + 2]);
    }
    const double a3 = pow(0.07, 3), b3 = pow(0.12, 3), known = 500 * a3 * 3 * 0.7 / (2 * 1e6 * (b3 - a3)),
                 found = after / before - 1;
    if (!(fabs(found / known - 1) < 0.05)) fail_msg("the sphere swells by %g, theory %g", found, known);
    stop(&s);
}

#define LIMB                                                                                                 \
    "\"gravity\": [0, 0, -9.81], \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [{\"name\": \"limb\", "     \
    "\"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": [8, 2, 2]}, \"material\": {\"energy\": "                \
    "\"neohookean\", \"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}}], \"skeletons\": [{\"links\": "   \
    "[{\"name\": \"upper\", \"nodes\": {\"box\": [[0, 0, 0], [0.1, 1, 1]]}, \"joint\": {\"type\": "          \
    "\"revolute\", \"anchor\": [0, 0.05, 0.05], \"axis\": [0, 1, 0], \"stiffness\": 8}}, {\"name\": "        \
    "\"lower\", \"parent\": \"upper\", \"nodes\": {\"box\": [[0.25, 0, 0], [0.35, 1, 1]]}, \"joint\": "      \
    "{\"type\": \"revolute\", \"anchor\": [0.2, 0.05, 0.05], \"axis\": [0, 1, 0], \"stiffness\": 1, "        \
    "\"velocity\": 0.5, \"armature\": 0.001}}]}]"

// Springs of joints carry bones and flesh: a long damped motion ends at the same place.
static void a_limb_settles_where_its_motion_ends(void** state) {
    sim s = open_text("{" LIMB "}"), moving = open_text("{" LIMB ", \"time_step\": 0.1}");
    settle(&s);
    // implicit Euler damps what is fast; the rest is taken out by hand
    for (int i = 0; i < 60; i++) {
        steps(&moving, 1);
        memset(moving.state->v, 0, 3 * (size_t)moving.model->nvert * sizeof(double));
        memcpy(moving.state->q_previous, moving.state->q,
               (size_t)moving.model->tree.ncoordinate * sizeof(double));
        moving.state->header->history = 0;
    }
    for (int k = 0; k < 2; k++)
        assert_true(fabs(ct_state_coordinates(s.state)[k] - ct_state_coordinates(moving.state)[k]) < 1e-6);
    assert_true(fabs(ct_state_coordinates(s.state)[0]) > 0.05);
    stop(&s);
    stop(&moving);
}

static void what_nothing_holds_is_refused(void** state) {
    sim s = open_text("{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"box\": {\"size\": [0.1, 0.1, 0.1], "
                      "\"cells\": [1, 1, 1]}, \"material\": {\"young\": 1e5}}]}");
    ct_settle_report report;
    const size_t size = ct_state_size(s.state);
    void* before = malloc(size);
    memcpy(before, ct_state_bytes(s.state), size);
    assert_int_equal(ct_settle(s.model, s.work, s.state, NULL, &report), CT_NOT_CONVERGED);
    assert_non_null(strstr(report.message, "hold"));
    assert_memory_equal(before, ct_state_bytes(s.state), size);
    free(before);
    stop(&s);
}

// A block on a plane: its weight rests on the contacts.
static void a_block_settles_on_the_ground(void** state) {
    sim s = open_text(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"friction\": 0.5}, \"obstacles\": [{\"plane\": "
        "{\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}], \"bodies\": [{\"box\": {\"size\": [0.2, 0.2, "
        "0.2], \"cells\": [2, 2, 2]}, \"translate\": [0, 0, 0.01], \"material\": {\"energy\": "
        "\"neohookean\", \"young\": 1e5, \"density\": 1000}}]}");
    const ct_settle_report report = settle(&s);
    const double* f = ct_state_contact_forces(s.state);
    double sum = 0;
    for (int v = 0; v < s.model->nvert; v++) sum += f[3 * v + 2];
    assert_true(report.contacts == 9);
    if (!(fabs(sum / (8 * 9.81) - 1) < 1e-4)) fail_msg("the ground carries %g N of %g", sum, 8 * 9.81);
    stop(&s);
}

// ---- gradients -----------------------------------------------------------------------------

static void check_text(const char* text, double tolerance) {
    ct_scene* scene = NULL;
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    const int count = ct_problem_slice_count(problem);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_check_slice slices[16];
    ct_check_def def = ct_check_def_default();
    def.scene = scene, def.tolerance = tolerance, def.components = 2, def.levels = 4;
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

#define SOLID                                                                                                \
    "\"gravity\": [0, 0, -9.81], \"settle\": true, \"time_step\": 0.02, \"solver\": {\"tolerance\": "        \
    "1e-12}, "                                                                                               \
    "\"bodies\": [{\"name\": \"arm\", \"box\": {\"size\": [0.3, 0.1, 0.1], \"cells\": [3, 1, 1]}, "          \
    "\"order\": 2, \"material\": {\"energy\": \"neohookean\", \"young\": 5e4, \"poisson\": 0.4, "            \
    "\"density\": 1000}}], \"pins\": [{\"select\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}], \"parameters\": "    \
    "[{\"type\": \"young\", \"per\": \"element\"}, {\"type\": \"poisson\", \"per\": \"element\"}, "          \
    "{\"type\": \"density\", \"per\": \"element\"}, {\"type\": \"gravity\"}], \"objective\": [{\"type\": "   \
    "\"point\", \"select\": {\"nearest\": [0.3, 0.05, 0.05]}, \"target\": [0.25, 0, 0]}]"

static void statics_alone_have_gradients(void** state) { check_text("{\"duration\": 0, " SOLID "}", 1e-7); }

static void rollouts_from_rest_have_gradients(void** state) {
    check_text("{\"duration\": 0.1, \"forces\": [{\"select\": {\"nearest\": [0.3, 0.05, 0.05]}, \"total\": "
               "[0, 0.5, 0], \"start\": 0.02}], " SOLID "}",
               1e-7);
}

static void pressure_muscles_and_cables_have_gradients(void** state) {
    check_text(
        "{\"gravity\": [0, 0, -9.81], \"settle\": true, \"duration\": 0, \"solver\": {\"tolerance\": 1e-12}, "
        "\"bodies\": [{\"name\": \"ball\", \"shape\": {\"difference\": [{\"sphere\": {\"center\": [0, 0, 0], "
        "\"radius\": 0.12}}, {\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.07}}]}, \"size\": 0.04, "
        "\"material\": {\"energy\": \"neohookean\", \"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}}], "
        "\"pins\": [{\"select\": {\"sphere\": {\"center\": [0, 0, -0.12], \"radius\": 0.06}}}], "
        "\"cavities\": "
        "[{\"name\": \"air\", \"seed\": [0, 0, 0], \"pressure\": 1000}], \"muscles\": [{\"name\": \"m\", "
        "\"body\": \"ball\", \"points\": [[-0.1, 0, 0.02], [-0.02, 0, 0.1]], \"radius\": 0.05, "
        "\"stiffness\": 5e4, \"activation\": 0.1}], \"cables\": [{\"name\": \"t\", \"eyelets\": [{\"point\": "
        "[0.4, 0, 0.1]}, {\"body\": \"ball\", \"point\": [0.07, 0, 0.06]}], \"tension\": 1}], \"controls\": "
        "[{\"name\": \"p\", \"actuator\": \"air\", \"values\": 500}, {\"name\": \"a\", \"actuator\": \"m\"}, "
        "{\"name\": \"c\", \"actuator\": \"t\"}], \"parameters\": [{\"type\": \"control\", \"control\": "
        "\"p\", \"scale\": 500}, {\"type\": \"control\", \"control\": \"a\", \"scale\": 0.1}, {\"type\": "
        "\"control\", \"control\": \"c\"}, {\"type\": \"muscle_stiffness\"}, {\"type\": \"young\"}, "
        "{\"type\": \"poisson\"}], \"objective\": [{\"type\": \"point\", \"select\": {\"nearest\": [0.03, "
        "0.02, 0.12]}, \"target\": [0.1, 0.1, 0]}]}",
        1e-6);
}

static void limbs_have_gradients(void** state) {
    check_text("{\"settle\": true, \"duration\": 0.1, \"time_step\": 0.02, " LIMB
               ", \"parameters\": [{\"type\": \"joint_stiffness\"}, {\"type\": \"young\"}, {\"type\": "
               "\"poisson\"}, {\"type\": \"density\"}, {\"type\": \"gravity\"}, {\"type\": "
               "\"joint_velocity\"}], \"objective\": [{\"type\": \"point\", \"select\": {\"nearest\": [0.4, "
               "0.05, 0.05]}, \"target\": [0.3, 0, 0]}, {\"type\": \"joint\", \"link\": \"lower\", "
               "\"target\": 0.3}]}",
               1e-6);
}

static void gradients_through_contacts_are_refused_by_name(void** state) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"settle\": true, \"duration\": 0, \"obstacles\": [{\"plane\": "
        "{\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}], \"bodies\": [{\"box\": {\"size\": [0.2, 0.2, "
        "0.2], \"cells\": [1, 1, 1]}, \"translate\": [0, 0, 0.01], \"material\": {\"young\": 1e5}}], "
        "\"parameters\": [{\"type\": \"young\"}], \"objective\": [{\"type\": \"point\", \"target\": [0, 0, "
        "0]}]}";
    ct_scene* scene = NULL;
    ct_problem* problem = NULL;
    ct_error error = {0};
    double y, loss, gradient;
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    ct_problem_start(problem, &y);
    must(ct_problem_evaluate(problem, &y, &loss, NULL, NULL, &error), &error);
    assert_int_equal(ct_problem_evaluate(problem, &y, &loss, &gradient, NULL, &error), CT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "contacts"));
    ct_problem_free(problem);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cantilever_sags_as_beam_theory_says),
        cmocka_unit_test(a_sphere_swells_as_lame_says),
        cmocka_unit_test(a_limb_settles_where_its_motion_ends),
        cmocka_unit_test(what_nothing_holds_is_refused),
        cmocka_unit_test(a_block_settles_on_the_ground),
        cmocka_unit_test(statics_alone_have_gradients),
        cmocka_unit_test(rollouts_from_rest_have_gradients),
        cmocka_unit_test(pressure_muscles_and_cables_have_gradients),
        cmocka_unit_test(limbs_have_gradients),
        cmocka_unit_test(gradients_through_contacts_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
