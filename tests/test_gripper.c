// The gripper of scenes/gripper.json: four arms close around a ball when their cells inflate, and lift it by
// friction alone; nothing is under it.
#include "build.h"

enum { CELLS = 56, MOVE = 6, CLOSING = 2, LIFTING = 7 };
static const double LIFT = 0.003;  // m a step

// Friction between the pads and the ball.
static sim load(double friction, double ball_density) {
    char path[512];
    ct_error error = {0};
    ct_scene* scene = NULL;
    snprintf(path, sizeof path, "%s/scenes/gripper.json", CT_SOURCE_DIR);
    must(ct_scene_load(&scene, path, &error), &error);
    ct_pair_def pads = ct_pair_def_default();
    pads.a = "gripper";
    pads.b = "ball";
    pads.friction = friction;
    must(ct_scene_add_pair(scene, &pads, &error), &error);
    sim s = start(scene, 1);
    assert_int_equal(ct_model_control_size(s.model), CELLS + MOVE);
    ct_model_info info = ct_model_summary(s.model);
    double* density = calloc((size_t)info.ntet, sizeof(double));
    ct_model_get(s.model, CT_QUANTITY_DENSITY, density);
    for (int t = 0; t < info.ntet; t++)
        if (density[t] < 100) density[t] = ball_density;  // foam
    const ct_values values = {.of = {[CT_QUANTITY_DENSITY] = density}};
    must(ct_model_set_values(s.model, &values, NULL, &error), &error);
    free(density);
    return s;
}

static double height(const sim* s, const char* body) {
    const ct_selector selector = {.kind = CT_SELECT_ALL, .body = ct_scene_find_body(s->scene, body)};
    int *nodes = NULL, count = 0;
    ct_error error = {0};
    must(ct_scene_select(s->scene, &selector, &nodes, &count, &error), &error);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += ct_state_positions(s->state)[3 * nodes[i] + 1];
    ct_free(nodes);
    return sum / count;
}

// Inflates the cells to `ratio`, then lifts; returns how far the ball rose.
static double rise(double friction, double ball_density, double ratio) {
    sim s = load(friction, ball_density);
    const double before = height(&s, "ball"), frame = height(&s, "drone");
    double control[CELLS + MOVE] = {0};
    for (int i = 0; i < CLOSING + LIFTING; i++) {
        for (int c = 0; c < CELLS; c++) control[c] = (ratio - 1) * fmin(1, (i + 1.0) / CLOSING);
        control[CELLS + 1] = i < CLOSING ? 0 : LIFT;
        ct_step_report report;
        if (ct_step(s.model, s.work, s.state, control, &report)) fail_msg("step %d: %s", i, report.message);
        assert_int_equal(report.inverted, 0);
    }
    const double after = height(&s, "ball");
    assert_true(fabs(height(&s, "drone") - frame - LIFTING * LIFT) < 1e-12);
    stop(&s);
    print_message("friction %.1f, ball of %.0f kg/m^3, ratio %.1f: rises by %.1f mm\n", friction,
                  ball_density, ratio, 1e3 * (after - before));
    return after - before;
}

static void friction_lifts_the_ball(void** state) {
    assert_true(rise(0.6, 20, 1.3) > 0.8 * LIFTING * LIFT);
    assert_true(rise(0, 20, 1.3) < 0.1 * LIFTING * LIFT);
}

// A heavier ball slips out of arms that lie against it with their weight, and not out of arms whose cells
// press them on.
static void cells_hold_what_slips_otherwise(void** state) {
    assert_true(rise(0.6, 90, 1.6) > 0.8 * LIFTING * LIFT);
    assert_true(rise(0.6, 90, 1) < 0.1 * LIFTING * LIFT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(friction_lifts_the_ball),
                                       cmocka_unit_test(cells_hold_what_slips_otherwise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
