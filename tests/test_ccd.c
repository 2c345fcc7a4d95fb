// Continuous collision: never a miss, against distances sampled in time; known times; degenerate motion.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape/ccd.h"
#include "shape/closest.h"
#include "unit.h"

static uint64_t seed = 1;

static double uniform(void) {  // [-1, 1)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

static ct_vec3 anywhere(double size) {
    const double x = uniform(), y = uniform(), z = uniform();
    return ct_vec3_make(size * x, size * y, size * z);
}

static double distance_at(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double time) {
    ct_vec3 at[4];
    ct_ccd_at(x, end, time, at);
    return kind == CT_CCD_VERTEX_FACE ? ct_closest_point_triangle(at).distance
                                      : ct_closest_edges(at).distance;
}

// Against `samples` times: no sample is nearer than d before the answer, and the answer is where it says.
static bool check(ct_ccd_kind kind, const ct_vec3 x[4], const ct_vec3 end[4], double d, double tolerance,
                  int samples) {
    double time = -1;
    const bool hit = ct_ccd(kind, x, end, d, tolerance, &time);
    for (int k = 0; k <= samples; k++) {
        const double t = (double)k / samples;
        if (hit && t >= time) break;
        assert_true(distance_at(kind, x, end, t) >= d);
    }
    if (!hit) return false;
    const double now = distance_at(kind, x, end, time);
    assert_true(time >= 0 && time <= 1);
    assert_true(time == 0 || now >= d);
    // the cap on steps was not needed
    assert_true(now <= d + tolerance + 1e-12);
    return true;
}

static void random_motions_are_never_missed(void** state) {
    int hits = 0, misses = 0;
    for (int i = 0; i < 20000; i++) {
        ct_vec3 x[4], end[4];
        const double motion = pow(10, uniform());
        for (int k = 0; k < 4; k++) {
            x[k] = anywhere(1);
            end[k] = ct_vec3_add(x[k], anywhere(motion));
        }
        const double d = i % 4 == 0 ? 0 : pow(10, -2 + uniform()), tolerance = 0.01 * d + 1e-6;
        for (int kind = 0; kind < 2; kind++) {
            const bool hit = check((ct_ccd_kind)kind, x, end, d, tolerance, 200);
            hits += hit;
            misses += !hit;
        }
    }
    assert_true(hits > 3000 && misses > 3000);
}

// A vertex that flies through a plate: from every side, at every speed, wherever the time falls.
static void vertex_through_a_face_is_hit_in_time(void** state) {
    for (int i = 0; i < 10000; i++) {
        const double speed = pow(10, 4 + 4 * uniform()), start = 0.5 + 0.4 * uniform(), d = 1e-3;
        // the face leaves with its own motion, the vertex crosses its plane after `start` of the way
        const ct_vec3 drift = anywhere(10);
        const ct_vec3 x[4] = {{0.2, 0.3, start * speed}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
        ct_vec3 end[4] = {{0.2, 0.3, (start - 1) * speed}, x[1], x[2], x[3]};
        for (int k = 0; k < 4; k++) end[k] = ct_vec3_add(end[k], drift);
        double time = -1;
        assert_true(ct_ccd(CT_CCD_VERTEX_FACE, x, end, d, 1e-6, &time));
        const double exact = fmax(0, (start * speed - d) / speed);
        assert_true(time <= exact + 1e-15 && time >= exact - 2e-6 / speed - 1e-12);
    }
}

static void crossing_edges_are_hit_in_time(void** state) {
    const ct_vec3 x[4] = {{-1, 0, 1}, {1, 0, 1}, {0, -1, 0}, {0, 1, 0}},
                  end[4] = {{-1, 0, -3}, {1, 0, -3}, {0, -1, 0}, {0, 1, 0}};
    double time;
    assert_true(ct_ccd(CT_CCD_EDGE_EDGE, x, end, 0.2, 0, &time));
    assert_float_equal(time, 0.2, 1e-13);
    assert_true(ct_ccd(CT_CCD_EDGE_EDGE, x, end, 0, 0, &time));
    assert_float_equal(time, 0.25, 1e-13);
    // parallel edges, beside and end to end
    const ct_vec3 beside[4] = {{0, 0, 1}, {1, 0, 1}, {0.5, 0, 0}, {3, 0, 0}},
                  falls[4] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {3, 0, 0}};
    assert_true(ct_ccd(CT_CCD_EDGE_EDGE, beside, falls, 0.1, 0, &time));
    assert_float_equal(time, 0.9, 1e-13);
    const ct_vec3 apart[4] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}},
                  slides[4] = {{2, 0, 0}, {3, 0, 0}, {2, 0, 0}, {3, 0, 0}};
    assert_true(ct_ccd(CT_CCD_EDGE_EDGE, apart, slides, 0, 0, &time));
    assert_float_equal(time, 0.5, 1e-13);
}

// An edge that turns through half a circle's chord sweeps past a vertex-like edge; distances that just miss
// are not called hits.
static void grazing_is_told_apart(void** state) {
    for (int i = -20; i <= 20; i++) {
        if (i == 0) continue;
        // a vertex passes over the edge of a triangle at height h while the triangle stands
        const double d = 0.01, h = d + 1e-4 * i;
        const ct_vec3 x[4] = {{-5, 0.3, h}, {0, 0, 0}, {0, 1, 0}, {1e-3, 0.5, -1}},
                      end[4] = {{7, 0.3, h}, x[1], x[2], x[3]};
        double time;
        assert_int_equal(ct_ccd(CT_CCD_VERTEX_FACE, x, end, d, 1e-6, &time), i < 0);
    }
}

static void degenerate_motion_ends(void** state) {
    const ct_vec3 o = {0, 0, 0}, p = {1, 2, 3};
    double time = -1;
    for (int kind = 0; kind < 2; kind++) {
        const ct_vec3 same[4] = {o, o, o, o};
        assert_true(ct_ccd((ct_ccd_kind)kind, same, same, 0, 0, &time));
        assert_true(time == 0);
        const ct_vec3 points[4] = {p, kind ? p : o, o, o};
        assert_false(ct_ccd((ct_ccd_kind)kind, points, points, 1, 0, &time));
        // two points that meet half way
        const ct_vec3 end[4] = {o, kind ? o : p, p, p};
        assert_true(ct_ccd((ct_ccd_kind)kind, points, end, 0, 1e-9, &time));
        assert_float_equal(time, 0.5, 1e-8);
        // what is not a number counts as a hit
        const ct_vec3 bad[4] = {{NAN, 0, 0}, p, p, o};
        assert_true(ct_ccd((ct_ccd_kind)kind, points, bad, 0, 0, &time));
    }
    // collinear triangle, hit in the middle of its longest edge
    const ct_vec3 x[4] = {{0.5, 0, 2}, {0, 0, 0}, {1, 0, 0}, {0.3, 0, 0}},
                  end[4] = {{0.5, 0, -2}, x[1], x[2], x[3]};
    assert_true(ct_ccd(CT_CCD_VERTEX_FACE, x, end, 1e-3, 1e-9, &time));
    assert_float_equal(time, 0.49975, 1e-9);
}

// Coordinates far from the origin: round-off of the positions must not turn a hit into a miss.
static void far_from_the_origin_is_never_missed(void** state) {
    for (int i = 0; i < 5000; i++) {
        const ct_vec3 far = anywhere(1e6);
        ct_vec3 x[4], end[4];
        for (int k = 0; k < 4; k++) {
            x[k] = ct_vec3_add(far, anywhere(1));
            end[k] = ct_vec3_add(x[k], anywhere(0.1));
        }
        // a point of the triangle, approached to a distance of 0
        const ct_vec3 foot = ct_vec3_scale(1.0 / 3, ct_vec3_add(end[1], ct_vec3_add(end[2], end[3])));
        end[0] = foot;
        double time;
        assert_true(ct_ccd(CT_CCD_VERTEX_FACE, x, end, 0, 0, &time));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_motions_are_never_missed),
        cmocka_unit_test(vertex_through_a_face_is_hit_in_time),
        cmocka_unit_test(crossing_edges_are_hit_in_time),
        cmocka_unit_test(grazing_is_told_apart),
        cmocka_unit_test(degenerate_motion_ends),
        cmocka_unit_test(far_from_the_origin_is_never_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
