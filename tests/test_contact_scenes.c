// The scenes of scenes/ that are about contact: no edge ever passes through a triangle, no surface comes
// nearer to another than half their thickness, whatever contact itself believes; each shows what it is named
// for; and they go the same way to the last bit on every number of threads, from a checkpoint and in a
// gradient.
#include "contact_scenes.h"
#include "cuttle_profile.h"
#include "repeat.h"

static sim open_scene(const char* name, int threads) {
    char path[1024];
    ct_scene* scene = NULL;
    ct_error error = {0};
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, name);
    must(ct_scene_load(&scene, path, &error), &error);
    return start(scene, threads);
}

// ---- nothing passes ------------------------------------------------------------------------

static const double core = 0.499;  // of the thickness, less round-off

static void look(const sim* s, const char* name) {
    ct_crossings found;
    const int step = (int)ct_state_step_index(s->state);
    must(ct_profile_crossings(s->model, s->state, &found), NULL);
    if (found.count)
        fail_msg("%s, step %d: the edge %d %d passes through the triangle %d %d %d", name, step,
                 found.where[0], found.where[1], found.where[2], found.where[3], found.where[4]);
    if (found.nearest < core)
        fail_msg("%s, step %d: surfaces are as near as %.3f of their thickness", name, step, found.nearest);
}

// To the time `until`; returns with the scene still open. At most `halved` of the steps may be taken in
// parts.
static sim run_scene(const char* name, double until, int halved) {
    sim s = open_scene(name, 1);
    const ct_settings settings = ct_model_settings(s.model);
    const int most = (int)lround(until / settings.time_step), count = REPEAT(most, most < 5 ? most : 5);
    look(&s, name);
    for (int i = 0; i < count; i++) {
        const ct_step_report report = step_once(&s);
        if (report.substeps > 1 && halved-- == 0)
            fail_msg("%s, step %d: taken in %d parts", name, i + 1, report.substeps);
        look(&s, name);
    }
    return s;
}

static void nothing_passes_in(const char* name, double until, int halved) {
    sim s = run_scene(name, until, halved);
    stop(&s);
}

static void nothing_passes_in_a_drop(void** state) { nothing_passes_in("drop", 1.5, 0); }
static void nothing_passes_in_a_fall(void** state) { nothing_passes_in("humanoid_fall", 1.5, 0); }
static void nothing_passes_in_a_stack(void** state) { nothing_passes_in("stack", 0.5, 0); }
static void nothing_passes_in_a_house_of_cards(void** state) { nothing_passes_in("card_house", 0.5, 0); }
// At 50 m/s: half a metre in a step.
static void nothing_passes_through_a_plate(void** state) { nothing_passes_in("bullet", 0.5, 2); }
static void nothing_passes_through_a_sheet(void** state) { nothing_passes_in("ball_sheet", 0.5, 0); }
// The beginning alone: the cloth lies on the ball, slides down, and 370 of its nodes touch.
static void nothing_passes_through_a_drape(void** state) { nothing_passes_in("drape", 0.24, 0); }

static const bool whole = REPEAT(true, false);  // scenes are run to their end

// The factor of the sheet is made anew as it folds around the ball, in contact as without.
static void a_ball_on_a_sheet_takes_few_solves(void** state) {
    sim s = open_scene("ball_sheet", 1);
    int solves = 0, touching = 0;
    for (int i = 0; i < REPEAT(30, 16); i++) {
        const ct_step_report report = step_once(&s);
        if (!report.contacts) continue;
        solves += report.solves;
        touching++;
    }
    assert_true(touching > 2 && solves < 80 * touching);
    stop(&s);
}

// ---- what the scenes show ------------------------------------------------------------------

static void a_hand_lifts_a_ball(void** state) {
    sim s = run_scene("hand", 2, 0);
    const moved ball = measure(&s, 1);
    if (whole) below(0.15, ball.center[1], "height of the ball");
    if (whole) below(fabs(ball.velocity[1]), 0.02, "its speed");
    stop(&s);
}

static void a_ball_goes_through_a_ring_narrower_than_it(void** state) {
    sim s = run_scene("squeeze", 2, 0);
    if (whole) below(measure(&s, 0).center[1], -0.12, "height of the ball");
    stop(&s);
}

static void nothing_passes_in_a_knot(void** state) { nothing_passes_in("knot", 0.5, 0); }

static void bodies_poured_into_a_bowl_stay_there(void** state) {
    sim s = run_scene("pile", 1, 0);
    const ct_model_info info = ct_model_summary(s.model);
    for (int body = 0; body < info.nbody; body++) {
        const moved m = measure(&s, body);
        below(hypot(m.center[0], m.center[2]), 0.27, "distance from the middle of the bowl");
        below(-0.2, m.center[1], "height");
    }
    stop(&s);
}

// ---- the same bits -------------------------------------------------------------------------

enum { BEFORE = 30, BITS_STEPS = 8 };

static void* snapshot(const ct_state* state) {
    void* copy = malloc(ct_state_size(state));
    memcpy(copy, ct_state_bytes(state), ct_state_size(state));
    return copy;
}

static void the_bits_of_a_scene_are_always_the_same(const char* name, int before) {
    sim s = open_scene(name, 1);
    steps(&s, before);
    void* middle = snapshot(s.state);
    steps(&s, BITS_STEPS);
    for (int threads = 1; threads <= 2; threads++) {
        sim again = open_scene(name, threads);
        must(ct_state_restore(again.state, middle, ct_state_size(s.state)), NULL);
        steps(&again, BITS_STEPS);
        assert_memory_equal(ct_state_bytes(again.state), ct_state_bytes(s.state), ct_state_size(s.state));
        stop(&again);
    }
    free(middle);
    stop(&s);
}

static void pull_seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                      void* user) {
    const sim* s = user;
    for (int i = 0; step == BITS_STEPS && i < node_count(s); i++) x_bar[3 * i] += 1 + 0.1 * (i % 7);
}

// A tape that keeps every state and one that keeps as few as it may.
static void the_bits_of_a_gradient_do_not_depend_on_the_tape(const char* name, int before) {
    sim s = open_scene(name, 1);
    steps(&s, before);
    const ct_model_info info = ct_model_summary(s.model);
    const size_t n = (size_t)(info.ntet + info.ntri);
    double* young[2];
    for (int k = 0; k < 2; k++) {
        ct_tape* tape = NULL;
        young[k] = calloc(n, sizeof(double));
        ct_values gradient = {.of = {[CT_QUANTITY_YOUNG] = young[k]}};
        must(ct_tape_create(&tape, s.model, BITS_STEPS, k ? 1 : 0, NULL), NULL);
        must(ct_rollout(s.model, s.work, tape, s.state, BITS_STEPS, NULL, NULL, NULL, NULL), NULL);
        must(ct_backward(s.model, s.work, tape, NULL, pull_seed, &s, &gradient, NULL), NULL);
        ct_tape_free(tape);
    }
    assert_memory_equal(young[0], young[1], n * sizeof(double));
    free(young[0]);
    free(young[1]);
    stop(&s);
}

static void bits_of_a_hand(void** state) {
    the_bits_of_a_scene_are_always_the_same("hand", BEFORE);
    the_bits_of_a_gradient_do_not_depend_on_the_tape("hand", BEFORE);
}
static void bits_of_a_squeeze(void** state) {
    the_bits_of_a_scene_are_always_the_same("squeeze", 2 * BEFORE);
    the_bits_of_a_gradient_do_not_depend_on_the_tape("squeeze", 2 * BEFORE);
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_passes_in_a_drop),
        cmocka_unit_test(nothing_passes_in_a_fall),
        cmocka_unit_test(nothing_passes_in_a_stack),
        cmocka_unit_test(nothing_passes_in_a_house_of_cards),
        cmocka_unit_test(nothing_passes_through_a_plate),
        cmocka_unit_test(nothing_passes_through_a_sheet),
        cmocka_unit_test(nothing_passes_through_a_drape),
        cmocka_unit_test(a_ball_on_a_sheet_takes_few_solves),
        cmocka_unit_test(a_hand_lifts_a_ball),
        cmocka_unit_test(a_ball_goes_through_a_ring_narrower_than_it),
        cmocka_unit_test(nothing_passes_in_a_knot),
        cmocka_unit_test(bodies_poured_into_a_bowl_stay_there),
        cmocka_unit_test(bits_of_a_hand),
        cmocka_unit_test(bits_of_a_squeeze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
