// Distances that grow in where a motion begins with less: their measure, its reverse, and starts that are
// neither thrown apart nor wrong.
#include "slope.h"

#include "contact/growth.h"
#include "contact_problem.h"
#include "surfaces.h"

static const double least = 0.02, power = 16;

static void measure(const surfaces* s, const double* x, double* theta) {
    ct_detect* detect = NULL;
    ct_pairs pairs = {0};
    assert_int_equal(ct_detect_create(&detect, &s->collision), CT_OK);
    assert_int_equal(ct_growth_measure(&s->collision, detect, &pairs, x, 0, theta), CT_OK);
    ct_pairs_free(&pairs);
    ct_detect_free(detect);
}

// ---- measure -------------------------------------------------------------------------------

// Points above the plane z = 0, at these shares of the distance to keep.
static void points_above(surfaces* s, int count, const double* share) {
    const int cloud = new_collider(s, 0.03, 0), plane = new_collider(s, 0.01, 0);
    for (int i = 0; i < count; i++) new_node(s, cloud, i, 0, 0.04 * share[i], true);
    new_plane(s, plane, (double[]){0, 0, 0}, (double[]){0, 0, 1});
    allow_all(s, false);
}

static double share_kept(int count, const double* share) {
    surfaces s = {0};
    points_above(&s, count, share);
    double theta[2];
    measure(&s, s.x, theta);
    assert_true(theta[0] == theta[1]);
    free_surfaces(&s);
    return theta[1];
}

static void what_begins_apart_keeps_all(void** state) {
    assert_true(share_kept(2, (double[]){1.001, 5}) == 1);
}

static void one_pair_keeps_what_it_begins_with(void** state) {
    assert_float_equal(share_kept(2, (double[]){0.4, 5}), 0.4, 1e-14);
    assert_float_equal(share_kept(1, (double[]){0.99}), 0.99, 1e-14);
    assert_float_equal(share_kept(1, (double[]){0}), least, 1e-14);  // not less
    assert_float_equal(share_kept(1, (double[]){-0.3}), least, 1e-14);
}

static void several_pairs_keep_a_smooth_minimum(void** state) {
    const double share[] = {0.5, 0.52, 0.7, 0.9, 2};
    double sum = 1;
    for (int i = 0; i < 4; i++) sum += pow(share[i], -power) - 1;
    const double theta = share_kept(5, share);
    assert_float_equal(theta, pow(sum, -1 / power), 1e-14);
    assert_true(theta < 0.5 && theta > 0.5 * pow(4, -1 / power));
}

// The distance is measured beyond the radii.
static void radii_are_not_counted(void** state) {
    surfaces s = {0};
    const int ball = new_collider(&s, 0.01, 0.5), point = new_collider(&s, 0.03, 0);
    new_node(&s, ball, 0, 0, 0, false);
    new_node(&s, point, 0.3, 0, 0.4 + 0.01, true);
    allow_all(&s, false);
    double theta[2];
    measure(&s, s.x, theta);
    assert_float_equal(theta[1], (hypot(0.3, 0.41) - 0.5) / 0.04, 1e-13);
    free_surfaces(&s);
}

// Three colliders above a plane: what one of them begins with does not concern the others.
static void each_keeps_what_it_begins_with(void** state) {
    const double share[] = {0.4, 0.7, 1.5};
    surfaces s = {0};
    for (int i = 0; i < 3; i++) new_node(&s, new_collider(&s, 0.03, 0), 5 * i, 0, 0.04 * share[i], true);
    const int plane = new_collider(&s, 0.01, 0);
    new_plane(&s, plane, (double[]){0, 0, 0}, (double[]){0, 0, 1});
    allow_all(&s, false);
    double theta[4];
    measure(&s, s.x, theta);
    assert_true(theta[plane] < 0.4 && theta[plane] > 0.39);
    for (int i = 0; i < 3; i++) {
        const double kept = ct_growth_between(theta, i, plane, NULL);
        assert_true(kept <= fmin(share[i], 1) && kept > 0.95 * fmin(share[i], 1));
    }
    free_surfaces(&s);
}

// Twice the bodies take twice the memory, not four times.
static size_t state_of(int count) {
    ct_settings settings = ct_settings_default();
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    for (int i = 0; i < count; i++) add_box(scene, (double[]){1, 1, 1}, (int[]){1, 1, 1}, &material);
    sim s = start(scene, 1);
    const size_t size = ct_state_size(s.state);
    stop(&s);
    return size;
}

static void states_are_as_large_as_their_bodies_are_many(void** state) {
    assert_true(state_of(400) < 2.1 * (double)state_of(200));
}

// ---- over time -----------------------------------------------------------------------------

static void distances_grow_and_then_are_whole(void** state) {
    assert_float_equal(ct_growth_at(0.3, 0), 0.3, 1e-15);
    assert_float_equal(ct_growth_at(0.3, 0.05), 1 - 0.7 / 8, 1e-15);
    assert_true(ct_growth_at(0.3, 0.1) == 1 && ct_growth_at(0.3, 7) == 1);
    for (int i = 0; i < 20; i++) {
        const double t = 0.006 * i;
        assert_true(ct_growth_at(1, t) == 1);
        assert_true(ct_growth_at(0.3, t + 0.006) >= ct_growth_at(0.3, t));
        assert_float_equal((ct_growth_at(0.6, t) - ct_growth_at(0.2, t)) / 0.4, ct_growth_slope(t), 1e-14);
    }
}

// ---- reverse -------------------------------------------------------------------------------

// bar . theta along a line in the positions.
typedef struct line {
    surfaces s;
    double *x, *dx, *bar;
} line;

static double along(void* user, double t) {
    const line* l = user;
    const int n = l->s.collision.ncollider;
    double theta[3], sum = 0;
    for (int i = 0; i < 3 * l->s.collision.nvert; i++) l->x[i] = l->s.x[i] + t * l->dx[i];
    measure(&l->s, l->x, theta);
    for (int i = 0; i < n; i++) sum += l->bar[i] * theta[i];
    return sum;
}

static double next(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

// Two boxes on one another, the upper one within a triangle of the lower, which stands on a plane; all nearer
// than the distance to keep.
static void reverse_follows_central_differences(void** state) {
    for (int sample = 0; sample < 6; sample++) {
        uint64_t seed = (uint64_t)sample + 1;
        line l = {0};
        new_box(&l.s, (double[]){0, 0, 0.03}, (double[]){1, 1, 0.5}, 0.05, true);
        new_box(&l.s, (double[]){0.5, 0.1, 0.56}, (double[]){0.9, 0.4, 1}, 0.05, true);
        new_plane(&l.s, new_collider(&l.s, 0, 0), (double[]){0, 0, 0}, (double[]){0, 0, 1});
        allow_all(&l.s, false);
        const int n = 3 * l.s.collision.nvert;
        l.x = malloc((size_t)n * sizeof(double));
        l.dx = malloc((size_t)n * sizeof(double));
        for (int i = 0; i < n; i++) l.s.x[i] += 0.003 * next(&seed), l.dx[i] = next(&seed);
        double theta[3], bar[3], *x_bar = calloc((size_t)n, sizeof(double)), exact = 0;
        for (int i = 0; i < 3; i++) bar[i] = next(&seed);
        l.bar = bar;
        measure(&l.s, l.s.x, theta);
        assert_true(theta[1] > least && theta[1] < 0.8 && theta[2] > least && theta[2] < 0.8);
        ct_detect* detect = NULL;
        ct_pairs pairs = {0};
        assert_int_equal(ct_detect_create(&detect, &l.s.collision), CT_OK);
        assert_int_equal(ct_growth_vjp(&l.s.collision, detect, &pairs, l.s.x, 0, theta, bar, x_bar), CT_OK);
        for (int i = 0; i < n; i++) exact += x_bar[i] * l.dx[i];
        assert_slope(along, &l, exact, 2e-4, 10);
        ct_pairs_free(&pairs);
        ct_detect_free(detect);
        free(x_bar), free(l.x), free(l.dx);
        free_surfaces(&l.s);
    }
}

// ---- starts --------------------------------------------------------------------------------

typedef struct course {
    double fastest;        // m/s, of any node, at any time
    double lowest, speed;  // at the end: m, of the lowest node, and m/s, of the fastest
    double low, high;      // m: range of the lowest node
} course;

static course run(const char* text, int count) {
    ct_scene* scene = scene_of(text);
    sim s = start(scene, 1);
    course out = {.low = INFINITY};
    ct_body_info info;
    must(ct_scene_body_info(scene, 0, &info), NULL);
    for (int k = 0; k < count; k++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        const double *x = ct_state_positions(s.state), *v = ct_state_velocities(s.state);
        out.speed = 0, out.lowest = INFINITY;
        for (int i = 0; i < info.nvert; i++) {
            out.speed = fmax(out.speed, sqrt(v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] +
                                             v[3 * i + 2] * v[3 * i + 2]));
            out.lowest = fmin(out.lowest, x[3 * i + 1]);
        }
        out.fastest = fmax(out.fastest, out.speed);
        out.low = fmin(out.low, out.lowest);
        out.high = fmax(out.high, out.lowest);
    }
    stop(&s);
    return out;
}

#define BLOCK_ON(height, obstacle)                                                                           \
    "{'time_step': 0.005, 'duration': 1, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "          \
    "[{'name': 'block', 'box': {'size': [0.2, 0.1, 0.2], 'cells': [2, 1, 2]}, 'translate': [0, " height      \
    ", 0], " MATERIAL "}], 'obstacles': [" obstacle "]}"

// .1 mm above a box of 10 m that keeps 1 cm, to which the block adds 1 mm.
static void a_start_within_a_large_thickness_is_no_catapult(void** state) {
    const course c = run(BLOCK_ON("1e-4", "{'name': 'ground', 'box': {'center': [0.013, -0.5, "
                                          "0.017], 'half': [5, 0.5, 5]}, 'thickness': 0.01}"),
                         200);
    print_message("fastest %g m/s, in the end %g m/s at %.6f m\n", c.fastest, c.speed, c.lowest);
    assert_true(c.fastest < 3 * 0.011 / 0.1);  // the rate at which the distance grows
    assert_true(c.speed < 1e-3);
    assert_float_equal(c.lowest, 0.011, 5e-5);
    assert_true(c.low > 0 && c.high < 0.014);
}

// Down to touching, and at any distance beyond.
static void starts_at_any_distance_come_to_rest_at_the_same_height(void** state) {
    static const char* heights[] = {"0", "1e-6", "3e-5", "1.2e-4", "1e-3", "0.009"};
    for (size_t k = 0; k < sizeof heights / sizeof *heights; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 BLOCK_ON("%s", "{'name': 'ground', 'box': {'center': [0.013, -0.5, 0.017], 'half': [5, 0.5, "
                                "5]}, 'thickness': 0.01}"),
                 heights[k]);
        const course c = run(text, 150);
        assert_true(c.fastest < 1.15 * 3 * 0.011 / 0.1);  // the least share comes at once
        assert_true(c.speed < 1e-3);
        assert_float_equal(c.lowest, 0.011, 5e-5);
    }
}

// Two soft blocks that share a face.
static void blocks_laid_upon_one_another_do_not_hop(void** state) {
    const course c =
        run("{'time_step': 0.005, 'duration': 1, 'gravity': 9.81, 'contact': {'friction': 0.3}, "
            "'bodies': [{'name': 'high', 'box': {'size': [0.2, 0.1, 0.2], 'cells': [2, 1, 2]}, "
            "'translate': [0, 0.1, 0], " MATERIAL "}, {'name': 'low', 'box': {'size': [0.2, 0.1, "
            "0.2], 'cells': [2, 1, 2]}, " MATERIAL "}], 'pins': [{'select': {'body': 'low', "
            "'all': true}}]}",
            200);
    print_message("fastest %g m/s, in the end %g m/s at %.6f m\n", c.fastest, c.speed, c.lowest);
    assert_true(c.fastest < 1.15 * 3 * 0.002 / 0.1);
    assert_true(c.speed < 1e-3);
    assert_float_equal(c.lowest, 0.102, 1e-5);
}

static void a_block_laid_on_a_plane_does_not_hop(void** state) {
    const course c = run(BLOCK_ON("0", FLOOR), 200);
    print_message("fastest %g m/s, in the end %g m/s at %.6f m\n", c.fastest, c.speed, c.lowest);
    assert_true(c.fastest < 0.05);
    assert_true(c.speed < 1e-3);
    assert_float_equal(c.lowest, 0.001, 1e-6);
}

// ---- gradients -----------------------------------------------------------------------------

#define PARTING(height, more)                                                                                \
    "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': ["       \
    "{'name': 'high', 'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'rotate': {'axis': [1, 0, -1], " \
    "'degrees': -50}, 'translate': [0.117, " height ", 0.143], 'velocity': [0.1, -0.1, 0.05], " MATERIAL     \
    "}" more ", 'parameters': [" EVERYTHING "]}"

static void gradients_pass_through_growth(void** state) {
    const struct {
        const char *name, *text;
    } all[] = {
        {"on a plane", PARTING("0.0004", "], 'obstacles': [" FLOOR "]")},
        {"on a box",
         PARTING("0.0004", "], 'obstacles': [{'name': 'ground', 'box': {'center': [0.7, -0.5, 0.3], "
                           "'half': [1.5, 0.5, 1.5]}, 'thickness': 0.002}]")},
        {"on a block", PARTING("0.1006", ", {'name': 'low', 'box': {'size': [0.3, 0.1, 0.3], 'cells': [2, 1, "
                                         "2]}, " MATERIAL "}], 'pins': [{'select': {'body': 'low', 'box': "
                                         "[[-1, -0.001, -1], [1, 0.001, 1]]}}]")},
        {"a link",
         "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "
         "[{'name': 'paddle', 'box': {'size': [0.3, 0.05, 0.1], 'cells': [2, 1, 1]}, 'rotate': {'axis': "
         "[0.3, 0, 1], 'degrees': 8}, 'translate': [0, 0.004, 0], " MATERIAL
         "}], 'skeletons': [{'name': 's', 'links': [{'name': 'arm', 'nodes': {'all': true}, 'mass': 0.5, "
         "'center': [0.1, 0.05, 0.05], 'inertia': [0.01, 0.02, 0.015], 'joint': {'type': 'free', "
         "'velocity': [0.1, -0.01, 0.02, 0, 0.05, -0.02]}}]}], 'obstacles': [" FLOOR "], 'parameters': "
         "[{'type': 'friction'}, {'type': 'joint_position'}, {'type': 'joint_velocity'}]}"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        ct_scene* scene = scene_of(all[k].text);
        compare_gradient(all[k].name, scene, 1e-6);
        ct_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_begins_apart_keeps_all),
        cmocka_unit_test(one_pair_keeps_what_it_begins_with),
        cmocka_unit_test(several_pairs_keep_a_smooth_minimum),
        cmocka_unit_test(each_keeps_what_it_begins_with),
        cmocka_unit_test(radii_are_not_counted),
        cmocka_unit_test(states_are_as_large_as_their_bodies_are_many),
        cmocka_unit_test(distances_grow_and_then_are_whole),
        cmocka_unit_test(reverse_follows_central_differences),
        cmocka_unit_test(a_start_within_a_large_thickness_is_no_catapult),
        cmocka_unit_test(starts_at_any_distance_come_to_rest_at_the_same_height),
        cmocka_unit_test(a_block_laid_on_a_plane_does_not_hop),
        cmocka_unit_test(blocks_laid_upon_one_another_do_not_hop),
        cmocka_unit_test(gradients_pass_through_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
