// The check of gradients names the contacts that switch between its samples: who, when, from which set to
// which; and it prefers differences at which none does.
//
// A thin sheet that lies on a plane is as good as a cloud of points: every node carries its own weight, and
// under gravity that leans by an angle all of them stick while friction is above its tangent and slip below.
#include "contact_problem.h"
#include "step/contact_log.h"

enum { NODES = 9, STEPS = 3, SLICES = 8, WHEN = 4 };
static const double g = 9.81, h = 0.01;  // m/s^2, s

typedef struct outcome {
    ct_check_slice slice[SLICES];
    double gradient[SLICES];  // the first number of each
} outcome;

static outcome check_of(const ct_scene* scene, ct_term term) {
    outcome out = {0};
    ct_problem* problem = NULL;
    ct_error error = {0};
    ct_slice slice;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    ct_problem_set_term(problem, term, NULL);
    int count = ct_problem_slice_count(problem), size = ct_problem_size(problem);
    assert_true(count <= SLICES);
    double *y = calloc((size_t)size, sizeof *y), *gradient = calloc((size_t)size, sizeof *gradient), loss;
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
    ct_check_def def = ct_check_def_default();
    must(ct_problem_check(problem, y, &def, out.slice, &error), &error);
    for (int k = 0; k < count; k++) {
        slice = ct_problem_slice(problem, k);
        out.gradient[k] = gradient[slice.first];
        print_message("%s: error %.1e, slope %.2f, %d switches, halved %d\n", out.slice[k].name,
                      out.slice[k].relative_error, out.slice[k].slope, out.slice[k].switches,
                      out.slice[k].halved);
    }
    free(y);
    free(gradient);
    ct_problem_free(problem);
    return out;
}

static outcome check_text(const char* text, ct_term term) {
    ct_scene* scene = scene_of(text);
    outcome out = check_of(scene, term);
    ct_scene_free(scene);
    return out;
}

static void assert_still(const ct_check_slice* s) {
    if (!s->passed || s->switches || s->halved >= 0)
        fail_msg("%s: passed %d, error %g, %d switches, halved %d", s->name, s->passed, s->relative_error,
                 s->switches, s->halved);
}

static void assert_switch(const ct_contact_switch* s, int step, int node, ct_contact_set from,
                          ct_contact_set to) {
    if (s->step != step || s->node[0] != node || s->from != from || s->to != to)
        fail_msg("step %d, node %d, %d to %d; expected step %d, node %d, %d to %d", s->step, s->node[0],
                 s->from, s->to, step, node, from, to);
    assert_int_equal(s->type, CT_CONTACT_TYPE_PLANE);
    for (int k = 1; k < 4; k++) assert_int_equal(s->node[k], -1);
    assert_int_equal(s->a, 0);  // the only body
    assert_int_equal(s->b, 1);  // the only obstacle
}

// ---- at rest -------------------------------------------------------------------------------

static void nothing_switches_in_a_block_that_sticks_firmly(void** unused) {
    outcome out = check_text(
        "{'time_step': 0.01, 'duration': 0.05, 'gravity': [1, -9.81, 0.5], 'contact': {'friction': 1}, "
        "'bodies': [{'name': 'block', "
        "'box': {'size': [0.2, 0.1, 0.2], 'cells': [2, 1, 2]}, 'translate': [0, 1e-3, 0], " MATERIAL
        "}], 'obstacles': [" FLOOR "], 'parameters': [{'type': 'young'}, {'type': 'density'}, {'type': "
        "'gravity'}, {'type': 'friction'}], "
        "'objective': [{'type': 'point', 'target': [0.1, 0.1, 0.1]}]}",
        NULL);
    for (int k = 0; k < 4; k++) assert_still(&out.slice[k]);
    // softer blocks sink; friction that is not used up does nothing
    assert_true(out.gradient[0] != 0 && out.gradient[3] == 0);
}

// ---- stick and slip ------------------------------------------------------------------------

#define SHEET(height, velocity)                                                                              \
    "'bodies': [{'name': 'sheet', 'sheet': {'size': [0.2, 0.2], 'cells': [2, 2]}, 'rotate': {'axis': [1, "   \
    "0, 0], 'degrees': -90}, "                                                                               \
    "'translate': [0, " height ", 0], 'velocity': " velocity                                                 \
    ", 'material': {'young': 1e5, 'poisson': 0.3, 'density': 1000, "                                         \
    "'thickness': 2e-3}, 'contact_thickness': 1e-3}], 'obstacles': [" FLOOR "]"

static const double angle = 0.3;  // rad

static outcome check_incline(double friction, ct_term term) {
    char text[2000];
    snprintf(
        text, sizeof text,
        "{'time_step': 0.01, 'duration': 0.03, 'gravity': [%.17g, %.17g, 0], 'contact': {'friction': "
        "%.17g}, " SHEET(
            "1e-3", "[0, 0, 0]") ", 'parameters': [{'type': 'friction', 'transform': 'none'}], 'objective': "
                                 "[{'type': 'point', 'target': [1, 0, 0], 'relative': true}]}",
        g * sin(angle), -g * cos(angle), friction);
    return check_text(text, term);
}

static void all_that_lies_at_the_friction_angle_goes_from_stick_to_slip(void** unused) {
    outcome out = check_incline(tan(angle) * (1 + 1e-9), NULL);
    const ct_check_slice* s = &out.slice[0];
    assert_false(s->passed);
    // the gradient is that of sticking, 0, the differences are half that of slipping
    assert_true(s->relative_error > 0.3);
    assert_true(out.gradient[0] == 0);
    assert_int_equal(s->switches, NODES * STEPS);
    assert_int_equal(s->halved, -1);
    for (int k = 0; k < CT_SWITCHES; k++)
        assert_switch(&s->switched[k], 0, k, CT_CONTACT_SET_STICK, CT_CONTACT_SET_SLIP);
}

static void just_below_the_friction_angle_it_goes_from_slip_to_stick(void** unused) {
    outcome out = check_incline(tan(angle) * (1 - 1e-9), NULL);
    const ct_check_slice* s = &out.slice[0];
    // L = (x - 1)^2 with x = g (sin - mu cos) h^2 n (n + 1) / 2, which is 0 here
    double exact = g * cos(angle) * h * h * STEPS * (STEPS + 1);
    assert_false(s->passed);
    assert_true(fabs(out.gradient[0] - exact) < 1e-6 * exact &&
                fabs(s->worst_difference - exact / 2) < 1e-2 * exact);
    assert_int_equal(s->switches, NODES * STEPS);
    for (int k = 0; k < CT_SWITCHES; k++)
        assert_switch(&s->switched[k], 0, k, CT_CONTACT_SET_SLIP, CT_CONTACT_SET_STICK);
}

static void small_differences_beside_a_kink_pass(void** unused) {
    // of the steps 1e-3, 2.5e-4, 6.3e-5, ... the first two reach across
    outcome slips = check_incline(tan(angle) * (1 - 1e-4), NULL),
            sticks = check_incline(tan(angle) * (1 + 1e-4), NULL);
    assert_still(&slips.slice[0]);
    assert_still(&sticks.slice[0]);
    assert_true(slips.gradient[0] > 0 && sticks.gradient[0] == 0);
}

// A term whose derivative is wrong by a tenth.
static void wrong_term(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                       double* q_bar, void* user) {
    const double* x = ct_state_positions(state);
    for (int i = 0; i < 3 * NODES; i += 3) {
        *loss += x[i];
        if (x_bar) x_bar[i] += 1.1;
    }
}

static void wrong_gradients_show_at_differences_without_switches(void** unused) {
    outcome out = check_incline(tan(angle) * (1 - 1e-4), wrong_term);
    const ct_check_slice* s = &out.slice[0];
    assert_false(s->passed);
    assert_int_equal(s->switches, 0);
    // the term's slope over friction is to that of the objective as -9 (1 + 3 + 6) to 2 6
    assert_true(fabs(s->relative_error - 9.0 / (99 - 12)) < 1e-3);
}

// A soft block that a push loads unevenly: one node of it is the first to slip, in the step of the push.
#define PUSHED                                                                                               \
    "{'time_step': 0.01, 'duration': 0.04, 'gravity': [0, -9.81, 0], 'contact': {'friction': %.17g}, "       \
    "'bodies': [{'name': 'block', "                                                                          \
    "'box': {'size': [0.2, 0.1, 0.2], 'cells': [1, 1, 1]}, 'translate': [0, 1e-3, 0], 'contact_thickness': " \
    "1e-3, "                                                                                                 \
    "'material': {'young': 1e5, 'poisson': 0, 'density': 1000}}], 'obstacles': [" FLOOR "], "                \
    "'forces': [{'select': {'box': [[0.19, 0.09, 0.19], [1, 1, 1]]}, 'total': [3, 0, 1], 'start': 0.03}], "  \
    "'parameters': [{'type': 'friction', 'transform': 'none'}], 'objective': [{'type': 'point', 'target': "  \
    "[1, 0, 0], 'relative': true}]}"

// The friction that its contacts need without slipping; the node that needs most, and how much all others
// need at most, before too.
static double friction_needed(int* node, double* others) {
    char text[2000];
    double most = 0;
    snprintf(text, sizeof text, PUSHED, 100.0);
    sim s = start(scene_of(text), 1);
    *others = 0;
    for (int i = 0; i < WHEN; i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        for (int k = 0; k < report.ncontact; k++) {
            const double* F = report.contact[k].force;
            double need = hypot(F[0], F[2]) / F[1];
            if (i == WHEN - 1 && need > most)
                *others = fmax(*others, most), most = need, *node = report.contact[k].node[0];
            else *others = fmax(*others, need);
        }
    }
    stop(&s);
    return most;
}

static void the_node_that_slips_first_is_named_with_its_step(void** unused) {
    char text[2000];
    int node = -1;
    double others, needed = friction_needed(&node, &others);
    print_message("node %d needs a friction of %g, the others %g\n", node, needed, others);
    assert_true(others < 0.99 * needed);
    snprintf(text, sizeof text, PUSHED, needed * (1 + 1e-9));
    outcome out = check_text(text, NULL);
    assert_false(out.slice[0].passed);
    assert_int_equal(out.slice[0].switches, 1);
    assert_switch(&out.slice[0].switched[0], WHEN - 1, node, CT_CONTACT_SET_STICK, CT_CONTACT_SET_SLIP);
}

// ---- landing -------------------------------------------------------------------------------

// A sheet that reaches the floor at the end of step WHEN if it starts at `height` = 0 above what it falls
// until then; it is measured there.
static outcome check_landing(double height, const char* velocity) {
    char text[2000];
    snprintf(
        text, sizeof text,
        "{'time_step': 0.01, 'duration': 0.06, 'gravity': [0, -9.81, 0], 'contact': {'friction': "
        "0.1}, " SHEET("%.17g", "%s") ", 'parameters': [{'type': 'position', 'transform': 'none'}], "
                                      "'objective': [{'type': 'point', 'target': [0, 1, 0], 'time': 0.04}]}",
        1e-3 + g * h * h * WHEN * (WHEN + 1) / 2 + height, velocity);
    return check_text(text, NULL);
}

static void assert_landing(const outcome* out, ct_contact_set from, ct_contact_set to) {
    const ct_check_slice* s = &out->slice[0];
    assert_false(s->passed);
    assert_int_equal(s->worst, 1);  // the height
    assert_int_equal(s->switches, NODES);
    assert_int_equal(s->halved, -1);
    for (int k = 0; k < CT_SWITCHES; k++) assert_switch(&s->switched[k], WHEN - 1, k, from, to);
}

static void a_landing_that_moves_to_another_step_is_named(void** unused) {
    outcome late = check_landing(1e-9, "[0, 0, 0]"), early = check_landing(-1e-9, "[0, 0, 0]");
    assert_landing(&late, CT_CONTACT_SET_OPEN, CT_CONTACT_SET_STICK);
    assert_landing(&early, CT_CONTACT_SET_STICK, CT_CONTACT_SET_OPEN);
    outcome sliding = check_landing(1e-9, "[1, 0, 0.5]"), leaving = check_landing(-1e-9, "[1, 0, 0.5]");
    assert_landing(&sliding, CT_CONTACT_SET_OPEN, CT_CONTACT_SET_SLIP);
    assert_landing(&leaving, CT_CONTACT_SET_SLIP, CT_CONTACT_SET_OPEN);
}

static void a_landing_well_within_a_step_passes(void** unused) {
    outcome out = check_landing(2e-3, "[1, 0, 0.5]");
    assert_still(&out.slice[0]);
}

// ---- the log -------------------------------------------------------------------------------

static ct_touch_record touch_at(int node, ct_contact_set set, double eps) {
    return (ct_touch_record){
        .pair = {.type = CT_CONTACT_TYPE_PLANE, .node = {node, -1, -1, -1}, .a = 0, .b = 1},
        .set = set,
        .eps = eps};
}

// A rollout of three steps with nodes 4 and 7 on the plane; in its middle one the sub-steps and the contacts
// are as given.
static ct_contact_log rollout_log(int substeps, const ct_touch_record* touch, int ntouch) {
    ct_contact_log log = {.keep = true};
    ct_contact_log_clear(&log);
    for (int step = 0; step < 3; step++) {
        ct_touch_record usual[2] = {touch_at(7, CT_CONTACT_SET_STICK, 0),
                                    touch_at(4, CT_CONTACT_SET_SLIP, 0)},
                        middle[4];
        memcpy(middle, touch, (size_t)ntouch * sizeof *touch);
        ct_substep part[2] = {{.ntouch = step == 1 ? (size_t)ntouch : 2}, {.depth = 1}};
        part[1].first_touch = part[0].ntouch;
        ct_record record = {.step = part,
                            .count = step == 1 ? (size_t)substeps : 1,
                            .touch = step == 1 ? middle : usual,
                            .ntouch = part[0].ntouch};
        must(ct_contact_log_add(&log, step, &record), NULL);
    }
    return log;
}

static void logs_part_where_contacts_do(void** unused) {
    const ct_touch_record usual[] = {touch_at(4, CT_CONTACT_SET_SLIP, 0),
                                     touch_at(7, CT_CONTACT_SET_STICK, 0)};
    const ct_touch_record other[] = {touch_at(5, CT_CONTACT_SET_STICK, 0),
                                     touch_at(4, CT_CONTACT_SET_STICK, 0),
                                     touch_at(7, CT_CONTACT_SET_STICK, 1e-9)};
    ct_contact_log log = rollout_log(1, usual, 2), same = rollout_log(1, usual, 2),
                   apart = rollout_log(1, other, 3), less = rollout_log(1, usual, 1);
    ct_contact_switch found[4];
    int halved;
    assert_int_equal(ct_contact_log_compare(&log, &same, found, 4, &halved), 0);
    assert_true(log.signature == same.signature && log.signature != apart.signature &&
                log.signature != less.signature);

    assert_int_equal(ct_contact_log_compare(&log, &apart, found, 4, &halved), 3);
    assert_int_equal(halved, -1);
    assert_switch(&found[0], 1, 4, CT_CONTACT_SET_SLIP, CT_CONTACT_SET_STICK);
    assert_switch(&found[1], 1, 5, CT_CONTACT_SET_OPEN, CT_CONTACT_SET_STICK);
    assert_switch(&found[2], 1, 7, CT_CONTACT_SET_STICK, CT_CONTACT_SET_STICK);  // shares its node
    assert_int_equal(ct_contact_log_compare(&log, &less, found, 4, &halved), 1);
    assert_switch(&found[0], 1, 7, CT_CONTACT_SET_STICK, CT_CONTACT_SET_OPEN);

    // what finds no room counts
    memset(found, 0, sizeof found);
    assert_int_equal(ct_contact_log_compare(&log, &apart, found, 1, &halved), 3);
    assert_int_equal(found[1].step, 0);
    ct_contact_log* all[] = {&log, &same, &apart, &less};
    for (int k = 0; k < 4; k++) ct_contact_log_free(all[k]);
}

static void a_step_that_is_halved_is_named_and_its_contacts_are_not(void** unused) {
    const ct_touch_record usual[] = {touch_at(4, CT_CONTACT_SET_SLIP, 0),
                                     touch_at(7, CT_CONTACT_SET_STICK, 0)};
    ct_contact_log log = rollout_log(1, usual, 2), cut = rollout_log(2, usual, 1);
    ct_contact_switch found[4];
    int halved;
    assert_true(log.signature != cut.signature);
    assert_int_equal(ct_contact_log_compare(&log, &cut, found, 4, &halved), 0);
    assert_int_equal(halved, 1);
    ct_contact_log_free(&log);
    ct_contact_log_free(&cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_switches_in_a_block_that_sticks_firmly),
        cmocka_unit_test(all_that_lies_at_the_friction_angle_goes_from_stick_to_slip),
        cmocka_unit_test(just_below_the_friction_angle_it_goes_from_slip_to_stick),
        cmocka_unit_test(small_differences_beside_a_kink_pass),
        cmocka_unit_test(wrong_gradients_show_at_differences_without_switches),
        cmocka_unit_test(the_node_that_slips_first_is_named_with_its_step),
        cmocka_unit_test(a_landing_that_moves_to_another_step_is_named),
        cmocka_unit_test(a_landing_well_within_a_step_passes),
        cmocka_unit_test(logs_part_where_contacts_do),
        cmocka_unit_test(a_step_that_is_halved_is_named_and_its_contacts_are_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
