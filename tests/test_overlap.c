// Starts in contact: what overlaps is refused with the pair, the place, the depth and a remedy that works;
// what only touches, or is nearer than the distance to be kept, begins.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene_text.h"

#define BLOCK(name, y)                                                                                       \
    "{\"name\": \"" name "\", \"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}, \"translate\": [0, " y   \
    ", 0], \"contact_thickness\": 0.001}"
#define SCENE(bodies, more) "{\"bodies\": [" bodies "], \"contact\": {}" more "}"

typedef struct simulation {
    ct_scene* scene;
    ct_model* model;
    ct_work* work;
    ct_state* state;
} simulation;

static simulation begin_scene(ct_scene* scene) {
    simulation s = {.scene = scene};
    ct_error error;
    if (ct_model_create(&s.model, s.scene, &error)) fail_msg("%s", error.message);
    assert_int_equal(ct_work_create(&s.work, s.model, 1, NULL), CT_OK);
    assert_int_equal(ct_state_create(&s.state, s.model, NULL), CT_OK);
    return s;
}

static simulation begin(const char* text) { return begin_scene(parse(text)); }

static void end(simulation* s) {
    ct_state_free(s->state);
    ct_work_free(s->work);
    ct_model_free(s->model);
    ct_scene_free(s->scene);
}

// Moves the nodes of the first body.
static void move(simulation* s, double distance, const double direction[3]) {
    ct_body_info info;
    assert_int_equal(ct_scene_body_info(s->scene, 0, &info), CT_OK);
    const size_t n = 3 * (size_t)ct_model_summary(s->model).nvert;
    double* x = malloc(n * sizeof *x);
    memcpy(x, ct_state_positions(s->state), n * sizeof *x);
    for (int i = 0; i < 3 * info.nvert; i++) x[i] += distance * direction[i % 3];
    assert_int_equal(ct_state_set(s->state, x, ct_state_velocities(s->state)), CT_OK);
    free(x);
}

static void assert_free(const simulation* s) {
    ct_error error;
    if (ct_state_check_start(s->model, s->work, s->state, &error)) fail_msg("%s", error.message);
}

// The first body is moved as the sentence says, and is free.
static void follow(simulation* s, const char* sentence) {
    double distance, direction[3];
    const char* remedy = strstr(sentence, "\" by ");
    assert_non_null(remedy);
    assert_int_equal(sscanf(remedy, "\" by %lf m along %lf %lf %lf", &distance, &direction[0], &direction[1],
                            &direction[2]),
                     4);
    move(s, distance, direction);
    assert_free(s);
}

// Refused by the check and by the first step, with this sentence and the state unchanged; what the sentence
// says helps.
static void overlaps_in(simulation s, const char* sentence) {
    ct_error error;
    ct_step_report report;
    assert_int_equal(ct_state_check_start(s.model, s.work, s.state, &error), CT_BAD_SCENE);
    assert_string_equal(error.message, sentence);
    assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_BAD_ARGUMENT);
    assert_string_equal(report.message, sentence);
    assert_int_equal(ct_state_step_index(s.state), 0);
    follow(&s, sentence);
    end(&s);
}

static void overlaps(const char* text, const char* sentence) { overlaps_in(begin(text), sentence); }

static void begins_in(simulation s) {
    assert_free(&s);
    end(&s);
}

static void begins(const char* text) { begins_in(begin(text)); }

// A cube from -2 to 2 as triangles, with outward normals or turned inside out.
static ct_mesh cube(bool outward, double x[24], int tri[36], int tag[12]) {
    static const int outer[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++) x[3 * v + k] = v >> k & 1 ? 2 : -2;
    for (int t = 0; t < 36; t++) tri[t] = outer[outward || t % 3 == 0 ? t : 3 * (t / 3) + 3 - t % 3];
    return (ct_mesh){.nvert = 8, .ntri = 12, .x = x, .tri = tri, .tri_tag = tag};
}

// A block in the middle of a cube of triangles: an obstacle, or a sheet.
static simulation in_cube(bool obstacle, bool outward) {
    double x[24];
    int tri[36], tag[12] = {0};
    ct_mesh mesh = cube(outward, x, tri, tag);
    ct_error error = {0};
    ct_scene* scene = parse(SCENE(BLOCK("block", "0"), ""));
    ct_obstacle_def wall = ct_obstacle_def_default();
    ct_body_def skin = ct_body_def_default();
    wall.name = skin.name = "cube";
    wall.kind = CT_OBSTACLE_MESH;
    wall.mesh = &mesh;
    wall.contact_thickness = 0.001;
    skin.mesh = &mesh;
    if (obstacle ? ct_scene_add_obstacle(scene, &wall, NULL, &error)
                 : ct_scene_add_body(scene, &skin, NULL, &error))
        fail_msg("%s", error.message);
    return begin_scene(scene);
}

// ---- what is refused -----------------------------------------------------------------------

static void a_body_below_a_plane_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "-0.005"),
                   ", \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0]}}]"),
             "\"block\" and \"floor\" overlap by 0.005 m at 0 -0.005 0 (node 0): move \"block\" by 0.006 m "
             "along 0 1 0, or exclude the pair (\"collide\": false)");
}

static void a_moving_plane_counts_where_it_is(void** unused) {
    overlaps(SCENE(BLOCK("block", "0"),
                   ", \"obstacles\": [{\"name\": \"press\", \"plane\": {\"normal\": [0, -1, 0]}, \"motion\": "
                   "{\"keys\": [{\"time\": 0, \"translate\": [0, 0.75, 0]}]}}]"),
             "\"block\" and \"press\" overlap by 0.25 m at 0 1 0 (node 6): move \"block\" by 0.251 m along 0 "
             "-1 0, or exclude the pair (\"collide\": false)");
}

static void bodies_that_pass_through_one_another_are_refused(void** unused) {
    overlaps(SCENE(BLOCK("lower", "0") ", " BLOCK("upper", "0.9"), ""),
             "\"lower\" and \"upper\" overlap by 0.1 m at 0 0.9 0.4 (edge 3 15, triangle 27 37 36): move "
             "\"lower\" by 0.102 m along 0 -1 0, or exclude the pair (\"collide\": false)");
}

static void a_body_inside_another_is_refused(void** unused) {
    overlaps(SCENE("{\"name\": \"shell\", \"box\": {\"size\": [4, 4, 4], \"cells\": [2, 2, 2]}, "
                   "\"translate\": [-2, -2, -2], \"contact_thickness\": 0.01}, " BLOCK("core", "0.1"),
                   ""),
             "\"shell\" and \"core\" overlap by 1.9 m at 0 0.1 0 (node 27): move \"shell\" by 1.92 m along 0 "
             "-1 0, or exclude the pair (\"collide\": false)");
}

// Every node of each touches the other, and no edge crosses.
static void bodies_at_one_place_are_refused(void** unused) {
    (void)unused;
    overlaps(SCENE(BLOCK("a", "0") ", " BLOCK("b", "0"), ""),
             "\"a\" and \"b\" overlap by 1 m at 0 0.333 0.167: move \"a\" by 1.01 m along 0 1 0, or exclude "
             "the pair "
             "(\"collide\": false)");
    overlaps(SCENE(BLOCK("a", "0"),
                   ", \"obstacles\": [{\"name\": \"crate\", \"box\": {\"center\": [0.5, 0.5, 0.5], "
                   "\"half\": [0.5, 0.5, 0.5]}}]"),
             "\"a\" and \"crate\" overlap by 1 m at 0.333 0 0.667: move \"a\" by 1.01 m along 0 1 0, or "
             "exclude the pair "
             "(\"collide\": false)");
}

static void a_body_inside_a_box_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "0"),
                   ", \"obstacles\": [{\"name\": \"table\", \"box\": {\"center\": [0.5, -8, 0.5], \"half\": "
                   "[10, 10, 10]}, \"thickness\": 0.001}]"),
             "\"block\" and \"table\" overlap by 2 m at 0 0 0 (node 0): move \"block\" by 2.01 m along 0 1 "
             "0, or exclude the pair (\"collide\": false)");
}

static void a_body_inside_a_closed_mesh_is_refused(void** unused) {
    overlaps_in(in_cube(true, true),
                "\"block\" and \"cube\" overlap by 2 m at 0 0 0 (node 0): move \"block\" by 2.01 m along 0 1 "
                "0, or exclude the pair (\"collide\": false)");
}

static void a_body_in_a_sphere_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "0"),
                   ", \"obstacles\": [{\"name\": \"ball\", \"sphere\": {\"center\": [0.5, 1.2, 0.5], "
                   "\"radius\": 0.3}}]"),
             "\"block\" and \"ball\" overlap by 0.1 m at 0.5 1 0.5: move \"block\" by 0.101 m along 0 -1 0, "
             "or exclude the pair (\"collide\": false)");
}

static void a_body_in_a_capsule_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "0"),
                   ", \"obstacles\": [{\"name\": \"bar\", \"capsule\": {\"ends\": [[-5, 1.2, 0.5], [5, 1.2, "
                   "0.5]], \"radius\": 0.3}}]"),
             "\"block\" and \"bar\" overlap by 0.1 m at 0 1 0.5: move \"block\" by 0.101 m along 0 -1 0, or "
             "exclude the pair (\"collide\": false)");
}

static void a_sphere_inside_a_body_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "0"),
                   ", \"obstacles\": [{\"name\": \"pea\", \"sphere\": {\"center\": [0.6, 0.5, 0.5], "
                   "\"radius\": 0.01}}]"),
             "\"block\" and \"pea\" overlap by 0.41 m at 0.6 0.5 0.5 (node 27): move \"block\" by 0.411 m "
             "along -1 0 0, or exclude the pair (\"collide\": false)");
}

static void a_sheet_through_a_body_is_refused(void** unused) {
    overlaps(SCENE(BLOCK("block", "0") ", {\"name\": \"cloth\", \"sheet\": {\"size\": [3, 3], \"cells\": [3, "
                                       "3]}, \"rotate\": {\"axis\": [1, 0, 0], \"degrees\": 90}, "
                                       "\"translate\": [-1, 0.95, -1]}",
                   ""),
             "\"block\" and \"cloth\" overlap by 0.05 m at 0 0.95 0 (edge 3 6, triangle 27 28 32): move "
             "\"block\" by 0.0515 m along 0 -1 0, or exclude the pair (\"collide\": false)");
}

static void other_pairs_are_counted(void** unused) {
    overlaps(
        SCENE(BLOCK("block", "0"),
              ", \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0], \"point\": [0, "
              "0.01, 0]}}, {\"plane\": {\"normal\": [0, 3, 4], \"point\": [0, 0.001, 0]}}]"),
        "\"block\" and \"floor\" overlap by 0.01 m at 0 0 0 (node 0): move \"block\" by 0.011 m along 0 1 0, "
        "or exclude the pair (\"collide\": false); 1 other pair overlaps too");
}

static void a_surface_that_passes_through_itself_is_refused(void** unused) {
    simulation s = begin(SCENE(BLOCK("block", "0"), ""));
    double* x = malloc(81 * sizeof *x);
    ct_error error;
    memcpy(x, ct_state_positions(s.state), 81 * sizeof *x);
    x[79] = -1;  // the corner (1, 1, 1)
    x[78] = x[80] = 0.6;
    assert_int_equal(ct_state_set(s.state, x, ct_state_velocities(s.state)), CT_OK);
    assert_int_equal(ct_state_check_start(s.model, s.work, s.state, &error), CT_BAD_SCENE);
    assert_string_equal(
        error.message,
        "the surface of \"block\" passes through itself at 0.533 0.333 0.7 (edge 10 20, triangle 16 25 26): "
        "mend the mesh, or exclude its contact with itself (\"collide\": false)");
    free(x);
    end(&s);
}

// A search may come to such a place: it is one without a loss, and the search goes on.
static void parameters_that_make_bodies_overlap_are_no_bad_argument(void** unused) {
    ct_scene* scene = parse(SCENE(BLOCK("block", "0.01"),
                                  ", \"time_step\": 0.01, \"duration\": 0.01, \"obstacles\": [{\"name\": "
                                  "\"floor\", \"plane\": {\"normal\": [0, 1, 0]}}], \"parameters\": "
                                  "[{\"type\": \"position\", \"per\": \"body\", \"transform\": \"none\"}], "
                                  "\"objective\": [{\"type\": \"point\", \"target\": [0, 0, 0]}]"));
    ct_problem* problem = NULL;
    ct_error error = {0};
    double y[3], loss;
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_OK);
    assert_int_equal(ct_problem_size(problem), 3);
    ct_problem_start(problem, y);
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_OK);
    y[1] -= 0.015;
    assert_int_equal(ct_problem_evaluate(problem, y, &loss, NULL, NULL, &error), CT_NOT_CONVERGED);
    assert_string_equal(error.message,
                        "step 1: \"block\" and \"floor\" overlap by 0.005 m at 0 -0.005 0 (node 0): move "
                        "\"block\" by 0.006 m along 0 1 0, or exclude the pair (\"collide\": false)");
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// ---- what begins ---------------------------------------------------------------------------

static void surfaces_may_touch_and_be_nearer_than_they_keep(void** unused) {
    begins(SCENE(BLOCK("lower", "0") ", " BLOCK("upper", "1"), ""));
    begins(SCENE(BLOCK("lower", "0") ", " BLOCK("upper", "1.0001"), ""));
    begins(SCENE(BLOCK("block", "0"), ", \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}}]"));
    begins(SCENE(BLOCK("block", "1e-4"), ", \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}}]"));
    begins(SCENE(BLOCK("block", "0"), ", \"obstacles\": [{\"box\": {\"center\": [0, -5, 0], \"half\": [5, 5, "
                                      "5]}}, {\"sphere\": {\"center\": [0.5, 1.25, 0.5], \"radius\": "
                                      "0.25}}]"));
}

static void round_off_is_no_overlap(void** unused) {
    begins(SCENE(BLOCK("lower", "0") ", " BLOCK("upper", "0.999999999999"), ""));
    begins(SCENE(BLOCK("block", "-1e-13"), ", \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}}]"));
}

static void what_does_not_collide_may_overlap(void** unused) {
    begins(
        "{\"bodies\": [" BLOCK("a", "0") ", " BLOCK("b", "0.5") "], \"contact\": {\"pairs\": [{\"between\": "
                                                                "[\"a\", \"b\"], \"collide\": false}]}}");
    begins("{\"bodies\": [" BLOCK("a", "0") ", " BLOCK("b", "0.5") "], \"contact\": {\"method\": \"none\"}}");
    begins("{\"bodies\": [" BLOCK("a", "0") ", " BLOCK("b", "0.5") "]}");
}

static void a_sheet_and_an_inward_surface_may_hold_a_body(void** unused) {
    begins_in(in_cube(false, true));
    begins_in(in_cube(true, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_below_a_plane_is_refused),
        cmocka_unit_test(a_moving_plane_counts_where_it_is),
        cmocka_unit_test(bodies_that_pass_through_one_another_are_refused),
        cmocka_unit_test(a_body_inside_another_is_refused),
        cmocka_unit_test(bodies_at_one_place_are_refused),
        cmocka_unit_test(a_body_inside_a_box_is_refused),
        cmocka_unit_test(a_body_inside_a_closed_mesh_is_refused),
        cmocka_unit_test(a_body_in_a_sphere_is_refused),
        cmocka_unit_test(a_body_in_a_capsule_is_refused),
        cmocka_unit_test(a_sphere_inside_a_body_is_refused),
        cmocka_unit_test(a_sheet_through_a_body_is_refused),
        cmocka_unit_test(other_pairs_are_counted),
        cmocka_unit_test(a_surface_that_passes_through_itself_is_refused),
        cmocka_unit_test(parameters_that_make_bodies_overlap_are_no_bad_argument),
        cmocka_unit_test(surfaces_may_touch_and_be_nearer_than_they_keep),
        cmocka_unit_test(round_off_is_no_overlap),
        cmocka_unit_test(what_does_not_collide_may_overlap),
        cmocka_unit_test(a_sheet_and_an_inward_surface_may_hold_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
