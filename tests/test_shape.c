// Signed distances of shapes against formulas, brute force and the Lipschitz bound; shapes from JSON.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "read/shape.h"
#include "shape/shape.h"
#include "unit.h"

static double uniform(uint64_t* seed, double low, double high) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static void random_point(uint64_t* seed, double p[3]) {
    for (int i = 0; i < 3; i++) p[i] = uniform(seed, -2, 2);
}

static double at(const ct_shape* shape, double x, double y, double z) {
    return ct_shape_distance(shape, (const double[3]){x, y, z});
}

// Distances do not change faster than the point moves.
static void assert_lipschitz(const ct_shape* shape) {
    uint64_t seed = 7;
    for (int i = 0; i < 2000; i++) {
        double p[3], q[3], gap = 0;
        random_point(&seed, p);
        for (int k = 0; k < 3; k++) {
            q[k] = p[k] + uniform(&seed, -0.1, 0.1);
            gap += (q[k] - p[k]) * (q[k] - p[k]);
        }
        double change = fabs(ct_shape_distance(shape, p) - ct_shape_distance(shape, q));
        assert_true(change <= sqrt(gap) * (1 + 1e-9) + 1e-12);
    }
}

static void sphere_distance_is_radius_deep_at_the_centre(void** state) {
    const double center[3] = {1, 2, 3};
    ct_shape* shape = ct_shape_sphere(center, 0.5, NULL);
    assert_float_equal(at(shape, 1, 2, 3), -0.5, 1e-14);
    assert_float_equal(at(shape, 1, 2, 5), 1.5, 1e-14);
    ct_shape_free(shape);
}

static void box_distance_matches_faces_edges_and_corners(void** state) {
    const double center[3] = {0, 0, 0}, half[3] = {1, 2, 3};
    ct_shape* shape = ct_shape_box(center, half, 0, NULL);
    assert_float_equal(at(shape, 0, 0, 0), -1, 1e-14);
    assert_float_equal(at(shape, 1.5, 0, 0), 0.5, 1e-14);
    assert_float_equal(at(shape, 4, 6, 3), 5, 1e-14);
    assert_float_equal(at(shape, 2, 3, 4), sqrt(3), 1e-14);
    ct_shape_free(shape);
    shape = ct_shape_box(center, half, 0.5, NULL);
    assert_float_equal(at(shape, 1, 0, 0), 0, 1e-14);
    assert_float_equal(at(shape, 1, 2, 3), 0.5 * (sqrt(3) - 1), 1e-14);
    ct_shape_free(shape);
}

// The closest point of the surface, by search over its two angles.
static double ellipsoid_by_search(const double r[3], const double p[3]) {
    double best = INFINITY, middle[2] = {0, 0}, width[2] = {M_PI, M_PI / 2};
    double center[2] = {atan2(p[1] / r[1], p[0] / r[0]), atan2(p[2] / r[2], hypot(p[0] / r[0], p[1] / r[1]))};
    for (int round = 0; round < 40; round++) {
        for (int i = -10; i <= 10; i++)
            for (int j = -10; j <= 10; j++) {
                double u = center[0] + width[0] * i / 10, v = center[1] + width[1] * j / 10;
                double d = hypot(hypot(p[0] - r[0] * cos(u) * cos(v), p[1] - r[1] * sin(u) * cos(v)),
                                 p[2] - r[2] * sin(v));
                if (d < best) best = d, middle[0] = u, middle[1] = v;
            }
        for (int k = 0; k < 2; k++) center[k] = middle[k], width[k] *= 0.6;
    }
    double level = 0;
    for (int k = 0; k < 3; k++) level += p[k] * p[k] / (r[k] * r[k]);
    return level < 1 ? -best : best;
}

static void ellipsoid_distance_is_exact(void** state) {
    const double center[3] = {0, 0, 0}, radii[3] = {1.2, 0.7, 0.3};
    ct_shape* shape = ct_shape_ellipsoid(center, radii, NULL);
    uint64_t seed = 3;
    for (int i = 0; i < 60; i++) {
        double p[3];
        random_point(&seed, p);
        for (int k = 0; k < 3 && i >= 30; k++) p[k] *= 0.5 * radii[k];
        assert_float_equal(ct_shape_distance(shape, p), ellipsoid_by_search(radii, p), 1e-7);
    }
    assert_float_equal(at(shape, 0, 0, 0), -0.3, 1e-9);
    assert_float_equal(at(shape, 0.2, 0, 0), ellipsoid_by_search(radii, (const double[3]){0.2, 0, 1e-9}),
                       1e-6);
    assert_lipschitz(shape);
    ct_shape_free(shape);
}

static void capsule_with_two_radii_is_the_hull_of_two_balls(void** state) {
    const double a[3] = {0, 0, 0}, b[3] = {1, 0.5, -0.25};
    ct_shape* shape = ct_shape_capsule(a, b, 0.4, 0.1, NULL);
    uint64_t seed = 11;
    for (int i = 0; i < 40; i++) {
        // The hull is the union of the balls between.
        double p[3], best = INFINITY;
        random_point(&seed, p);
        for (int k = 0; k <= 20000; k++) {
            double t = k / 20000.0;
            best =
                fmin(best, hypot(hypot(p[0] - t * b[0], p[1] - t * b[1]), p[2] - t * b[2]) - (0.4 - 0.3 * t));
        }
        assert_float_equal(ct_shape_distance(shape, p), best, 1e-6);
    }
    ct_shape_free(shape);
    // One ball inside the other.
    shape = ct_shape_capsule(a, b, 2, 0.1, NULL);
    assert_float_equal(at(shape, 3, 0, 0), 1, 1e-14);
    ct_shape_free(shape);
}

static void cylinder_and_torus_match_their_formulas(void** state) {
    const double a[3] = {0, 0, -1}, b[3] = {0, 0, 1}, center[3] = {0, 0, 0}, axis[3] = {0, 0, 2};
    ct_shape* cylinder = ct_shape_cylinder(a, b, 0.5, NULL);
    assert_float_equal(at(cylinder, 0, 0, 0), -0.5, 1e-14);
    assert_float_equal(at(cylinder, 0.1, 0, 0.9), -0.1, 1e-14);
    assert_float_equal(at(cylinder, 0, 2, 0), 1.5, 1e-14);
    assert_float_equal(at(cylinder, 0, 3.5, 5), 5, 1e-14);
    ct_shape* torus = ct_shape_torus(center, axis, 1, 0.25, NULL);
    assert_float_equal(at(torus, 0, 0, 0), 0.75, 1e-14);
    assert_float_equal(at(torus, 0, 1, 0), -0.25, 1e-14);
    assert_float_equal(at(torus, 0.6, 0.8, 1), 0.75, 1e-14);
    assert_lipschitz(cylinder);
    assert_lipschitz(torus);
    ct_shape_free(cylinder);
    ct_shape_free(torus);
}

static void sweep_through_points_has_their_radii(void** state) {
    const double points[12] = {0, 0, 0, 1, 0, 0, 1.5, 1, 0, 1.5, 1.2, 1}, radii[4] = {0.2, 0.1, 0.15, 0.05};
    ct_shape* shape = ct_shape_sweep(points, radii, 4, NULL);
    for (int i = 0; i < 4; i++) assert_true(ct_shape_distance(shape, points + 3 * i) <= -radii[i] + 1e-12);
    assert_float_equal(at(shape, -0.2, 0, 0), 0, 1e-3);
    assert_lipschitz(shape);
    ct_shape_free(shape);
    // A straight sweep of equal radii is a capsule.
    const double line[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0}, same[3] = {0.3, 0.3, 0.3};
    shape = ct_shape_sweep(line, same, 3, NULL);
    assert_float_equal(at(shape, 0.7, 0.9, 0), 0.6, 1e-12);
    assert_float_equal(at(shape, 2.5, 0, 0), 0.2, 1e-12);
    ct_shape_free(shape);
}

static ct_shape* two_spheres(ct_shape* (*combine)(ct_shape*, ct_shape*, double, ct_error*), double smooth) {
    const double a[3] = {0, 0, 0}, b[3] = {0.5, 0, 0};
    return combine(ct_shape_sphere(a, 0.4, NULL), ct_shape_sphere(b, 0.3, NULL), smooth, NULL);
}

static void combinations_are_min_max_and_difference(void** state) {
    uint64_t seed = 5;
    ct_shape *join = two_spheres(ct_shape_union, 0), *meet = two_spheres(ct_shape_intersection, 0);
    ct_shape* cut = two_spheres(ct_shape_difference, 0);
    for (int i = 0; i < 200; i++) {
        double p[3];
        random_point(&seed, p);
        double a = hypot(hypot(p[0], p[1]), p[2]) - 0.4, b = hypot(hypot(p[0] - 0.5, p[1]), p[2]) - 0.3;
        assert_float_equal(ct_shape_distance(join, p), fmin(a, b), 1e-14);
        assert_float_equal(ct_shape_distance(meet, p), fmax(a, b), 1e-14);
        assert_float_equal(ct_shape_distance(cut, p), fmax(a, -b), 1e-14);
    }
    ct_shape_free(join);
    ct_shape_free(meet);
    ct_shape_free(cut);
}

static void smooth_union_adds_a_quarter_of_its_length_where_parts_are_equal(void** state) {
    ct_shape* shape = two_spheres(ct_shape_union, 0.2);
    // At (x, y) both distances are 0.1: |(x, y)| = 0.5, |(x - 0.5, y)| = 0.4.
    double x = 0.34, y = sqrt(0.25 - 0.34 * 0.34);
    assert_float_equal(at(shape, x, y, 0), 0.1 - 0.2 / 4, 1e-12);
    assert_float_equal(at(shape, -3, 0, 0), 2.6, 1e-14);
    assert_lipschitz(shape);
    double lower[3], upper[3];
    ct_shape_bounds(shape, lower, upper);
    assert_true(lower[0] <= -0.4 && upper[0] >= 0.8 && upper[1] < 0.6);
    ct_shape_free(shape);
}

static void transform_scales_rotates_and_translates(void** state) {
    const double zero[3] = {0, 0, 0}, half[3] = {1, 0.1, 0.1}, move[3] = {5, 0, 0};
    const double quarter[4] = {sqrt(0.5), 0, 0, sqrt(0.5)};  // 90 degrees about z: x goes to y
    ct_shape* shape = ct_shape_transform(ct_shape_box(zero, half, 0, NULL), move, quarter, 2, NULL);
    assert_float_equal(at(shape, 5, 2, 0), 0, 1e-12);
    assert_float_equal(at(shape, 5, 3, 0), 1, 1e-12);
    assert_float_equal(at(shape, 6.2, 0, 0), 1, 1e-12);
    double lower[3], upper[3];
    ct_shape_bounds(shape, lower, upper);
    assert_float_equal(lower[1], -2, 1e-9);
    assert_float_equal(upper[0], 5.2, 1e-9);
    ct_shape_free(shape);
}

static void tag_is_that_of_the_deepest_part_and_is_inherited(void** state) {
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0};
    ct_shape *first = ct_shape_sphere(a, 0.6, NULL), *second = ct_shape_sphere(b, 0.6, NULL),
             *hole = ct_shape_sphere(c, 0.6, NULL);
    ct_shape_set_tag(second, 2, "two");
    ct_shape_set_tag(hole, 3, "hole");
    ct_shape* shape = ct_shape_difference(ct_shape_union(first, second, 0, NULL), hole, 0, NULL);
    ct_shape_set_tag(shape, 1, "rest");
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){0.1, 0, 0}), 1);
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){0.9, 0, 0}), 2);
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){0, 0.9, 0}), 1);
    ct_tag tag[8];
    assert_int_equal(ct_shape_tags(shape, tag, 8), 3);
    assert_string_equal(tag[0].name, "rest");
    assert_string_equal(tag[1].name, "two");
    ct_shape_free(shape);
}

// ---------------------------------------------------------------------------------------------
// JSON

static ct_status parse(ct_shape** shape, const char* text, ct_error* error) {
    json_t* value = json_loads(text, 0, NULL);
    assert_non_null(value);
    ct_status status = ct_shape_from_json(shape, value, CT_BINARY_DIR, "bodies[0].shape", error);
    json_decref(value);
    return status;
}

static void every_kind_of_shape_is_read_from_json(void** state) {
    static const struct {
        const char* text;
        double point[3], distance;
    } cases[] = {
        {"{\"sphere\": {\"center\": [1, 0, 0], \"radius\": 0.5}}", {3, 0, 0}, 1.5},
        {"{\"ellipsoid\": {\"radii\": [1, 2, 3]}}", {0, 0, 4}, 1},
        {"{\"box\": {\"half\": [1, 2, 3], \"rounding\": 0.1}}", {0, 3, 0}, 1},
        {"{\"capsule\": {\"a\": [0, 0, 0], \"b\": [1, 0, 0], \"radius\": 0.25}}", {0.5, 1, 0}, 0.75},
        {"{\"capsule\": {\"a\": [0, 0, 0], \"b\": [1, 0, 0], \"radii\": [0.5, 0.25]}}", {-1, 0, 0}, 0.5},
        {"{\"cylinder\": {\"a\": [0, 0, 0], \"b\": [1, 0, 0], \"radius\": 0.25}}", {2, 0, 0}, 1},
        {"{\"torus\": {\"major\": 1, \"minor\": 0.25}}", {2, 0, 0}, 0.75},
        {"{\"sweep\": {\"points\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], \"radii\": [0.1, 0.1, 0.1]}}",
         {1, 1, 0},
         0.9},
        {"{\"union\": [{\"sphere\": {\"radius\": 1}}, {\"sphere\": {\"radius\": 2}}, {\"sphere\": "
         "{\"radius\": 3}}]}",
         {4, 0, 0},
         1},
        {"{\"intersection\": [{\"sphere\": {\"radius\": 1}}, {\"sphere\": {\"radius\": 2}}]}", {3, 0, 0}, 2},
        {"{\"difference\": [{\"sphere\": {\"radius\": 2}}, {\"sphere\": {\"radius\": 1}}]}",
         {0.5, 0, 0},
         0.5},
        {"{\"sphere\": {\"radius\": 1}, \"translate\": [1, 0, 0], \"scale\": 2}", {4, 0, 0}, 1},
        {"{\"box\": {\"half\": [1, 0.1, 0.1]}, \"rotate\": {\"axis\": [0, 0, 1], \"degrees\": 90}}",
         {0, 2, 0},
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_shape* shape = NULL;
        ct_error error = {0};
        if (parse(&shape, cases[i].text, &error)) fail_msg("%s: %s", cases[i].text, error.message);
        assert_float_equal(ct_shape_distance(shape, cases[i].point), cases[i].distance, 1e-9);
        ct_shape_free(shape);
    }
}

static void wrong_json_is_named_with_its_path(void** state) {
    static const struct {
        const char *text, *path, *word;
    } cases[] = {
        {"{\"union\": [{\"sphere\": {\"radius\": 1}}, {\"sphere\": {\"radus\": 1}}]}",
         "bodies[0].shape.union[1].sphere.radus", "\"radius\""},
        {"{\"shpere\": {\"radius\": 1}}", "bodies[0].shape.shpere", "\"sphere\""},
        {"{\"sphere\": {\"radius\": -1}}", "bodies[0].shape.sphere.radius", "above 0"},
        {"{\"sphere\": {\"radius\": 1}, \"box\": {\"half\": [1, 1, 1]}}", "bodies[0].shape", "exactly one"},
        {"{\"tag\": \"a\"}", "bodies[0].shape", "exactly one"},
        {"{\"union\": []}", "bodies[0].shape.union", "at least 1"},
        {"{\"difference\": [{\"sphere\": {\"radius\": 1}}]}", "bodies[0].shape.difference", "at least 2"},
        {"{\"sphere\": {\"radius\": 1}, \"smooth\": 1}", "bodies[0].shape.smooth", "union"},
        {"{\"box\": {\"half\": [1, 1, 1], \"rounding\": 2}}", "bodies[0].shape.box.rounding", "half"},
        {"{\"sweep\": {\"points\": [[0, 0, 0], [1, 0]], \"radii\": [1, 1]}}",
         "bodies[0].shape.sweep.points[1]", "3"},
        {"{\"sweep\": {\"points\": [[0, 0, 0], [1, 0, 0]], \"radii\": [1]}}", "bodies[0].shape.sweep.radii",
         "2"},
        {"{\"surface\": \"absent.stl\"}", "bodies[0].shape.surface", "cannot read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_shape* shape = NULL;
        ct_error error = {0};
        assert_int_not_equal(parse(&shape, cases[i].text, &error), CT_OK);
        assert_null(shape);
        assert_string_equal(error.path, cases[i].path);
        if (!strstr(error.message, cases[i].word)) fail_msg("%s: no %s", error.message, cases[i].word);
    }
}

static void tags_in_json_are_numbered_by_first_appearance(void** state) {
    ct_shape* shape = NULL;
    ct_error error = {0};
    ct_status status = parse(&shape,
                             "{\"union\": [{\"sphere\": {\"radius\": 1}, \"tag\": \"body\"},"
                             "{\"sphere\": {\"radius\": 1}, \"translate\": [3, 0, 0], \"tag\": \"arm\"},"
                             "{\"sphere\": {\"radius\": 1}, \"translate\": [6, 0, 0], \"tag\": \"body\"}]}",
                             &error);
    assert_int_equal(status, CT_OK);
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){0, 0, 0}), 1);
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){3, 0, 0}), 2);
    assert_int_equal(ct_shape_tag_at(shape, (const double[3]){6, 0, 0}), 1);
    ct_shape_free(shape);
}

static void write_file(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void shape_file_errors_carry_file_and_line(void** state) {
    const char* path = CT_BINARY_DIR "/test_shape.json";
    ct_shape* shape = NULL;
    ct_error error;
    write_file(path, "{\n  \"sphere\": {\n    \"radus\": 1\n  }\n}\n");
    assert_int_equal(ct_shape_load(&shape, path, &error), CT_BAD_SCENE);
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, 3);
    write_file(path, "{\n  \"sphere\": {\n");
    assert_int_equal(ct_shape_load(&shape, path, &error), CT_BAD_FILE);
    assert_int_equal(ct_shape_load(&shape, CT_BINARY_DIR "/absent.json", &error), CT_IO);
    write_file(path, "{\"sphere\": {\"radius\": 2}}");
    assert_int_equal(ct_shape_load(&shape, path, &error), CT_OK);
    assert_float_equal(at(shape, 3, 0, 0), 1, 1e-14);
    ct_shape_free(shape);
    remove(path);
}

// A shape is freed once, however often it was given away.
static void shapes_may_be_given_away_twice(void** unused) {
    const double origin[3] = {0, 0, 0}, far[3] = {2, 0, 0}, unturned[4] = {1, 0, 0, 0};
    ct_shape *ball = ct_shape_sphere(origin, 1, NULL), *same = ct_shape_union(ball, ball, 0, NULL);
    assert_non_null(same);
    assert_true(ct_shape_distance(same, far) == 1);
    ct_shape_free(ball);  // it belongs to the union: nothing happens
    ct_shape* none = ct_shape_difference(same, ct_shape_transform(ball, far, unturned, 1, NULL), 0, NULL);
    assert_non_null(none);
    assert_true(ct_shape_distance(none, origin) < 0 && ct_shape_distance(none, far) > 0);
    ct_shape_free(same);
    ct_shape_free(none);
    ball = ct_shape_sphere(origin, 1, NULL);
    assert_null(ct_shape_intersection(ball, NULL, 0, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_distance_is_radius_deep_at_the_centre),
        cmocka_unit_test(box_distance_matches_faces_edges_and_corners),
        cmocka_unit_test(ellipsoid_distance_is_exact),
        cmocka_unit_test(capsule_with_two_radii_is_the_hull_of_two_balls),
        cmocka_unit_test(cylinder_and_torus_match_their_formulas),
        cmocka_unit_test(sweep_through_points_has_their_radii),
        cmocka_unit_test(combinations_are_min_max_and_difference),
        cmocka_unit_test(smooth_union_adds_a_quarter_of_its_length_where_parts_are_equal),
        cmocka_unit_test(transform_scales_rotates_and_translates),
        cmocka_unit_test(shapes_may_be_given_away_twice),
        cmocka_unit_test(tag_is_that_of_the_deepest_part_and_is_inherited),
        cmocka_unit_test(every_kind_of_shape_is_read_from_json),
        cmocka_unit_test(wrong_json_is_named_with_its_path),
        cmocka_unit_test(tags_in_json_are_numbered_by_first_appearance),
        cmocka_unit_test(shape_file_errors_carry_file_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
