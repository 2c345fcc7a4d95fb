// Closest points: checked by the inequality that tells the nearest points of two convex sets.
//
// q1 in A and q2 in B are closest exactly when  d.(a - q1) >= 0  for all nodes a of A and  d.(b - q2) <= 0
// for all b of B, d = q1 - q2.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double size_of(const ct_vec3 x[4]) {
    double size = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) size = fmax(size, ct_vec3_norm(ct_vec3_sub(x[i], x[j])));
    return size;
}

static void assert_closest(const ct_vec3 x[4], int first, const ct_closest* c, double tolerance) {
    const double size = size_of(x), slack = tolerance * size;
    double sum[2] = {0, 0};
    ct_vec3 q[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < 4; i++) {
        assert_true(c->w[i] >= 0 && c->w[i] <= 1);
        assert_int_equal(c->mask >> i & 1, c->w[i] != 0);
        sum[i >= first] += c->w[i];
        q[i >= first] = ct_vec3_axpy(q[i >= first], c->w[i], ct_vec3_sub(x[i], x[0]));
    }
    assert_float_equal(sum[0], 1, 1e-14);
    assert_float_equal(sum[1], 1, 1e-14);
    const ct_vec3 d = ct_vec3_sub(q[0], q[1]);
    assert_true(ct_vec3_norm(ct_vec3_sub(d, c->apart)) <= slack);
    assert_true(fabs(ct_vec3_norm(c->apart) - c->distance) <= 1e-15 * size);
    for (int i = 0; i < 4; i++) {
        const double along = ct_vec3_dot(c->apart, ct_vec3_sub(ct_vec3_sub(x[i], x[0]), q[i >= first]));
        assert_true((i < first ? -along : along) <= slack * fmax(c->distance, slack));
    }
}

static void random_pairs_meet_the_inequality(void** state) {
    int seen[2][16] = {0};
    for (int i = 0; i < 200000; i++) {
        ct_vec3 x[4];
        const double size = pow(10, 6 * uniform());
        for (int k = 0; k < 4; k++) x[k] = anywhere(size);
        const ct_closest f = ct_closest_point_triangle(x), e = ct_closest_edges(x);
        assert_closest(x, 1, &f, 1e-9);
        assert_closest(x, 2, &e, 1e-9);
        seen[0][f.mask]++;
        seen[1][e.mask]++;
    }
    // every feature came up: 7 of a triangle, 9 of two edges
    static const int face[7] = {3, 5, 9, 7, 13, 11, 15}, edge[9] = {5, 9, 6, 10, 13, 14, 7, 11, 15};
    for (int k = 0; k < 7; k++) assert_true(seen[0][face[k]] > 100);
    for (int k = 0; k < 9; k++) assert_true(seen[1][edge[k]] > 100);
}

// Coordinates on a coarse grid: coincident points, collinear triangles, parallel and crossing edges in
// abundance.
static void degenerate_pairs_meet_the_inequality(void** state) {
    for (int i = 0; i < 200000; i++) {
        ct_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = anywhere(1.5);
            x[k] = ct_vec3_make(rint(x[k].x), rint(x[k].y), rint(x[k].z));
        }
        const ct_closest f = ct_closest_point_triangle(x), e = ct_closest_edges(x);
        assert_closest(x, 1, &f, 1e-14);
        assert_closest(x, 2, &e, 1e-14);
    }
}

// Triangles flattened by 1e-2 to 1e-14, edges turned by as little.
static void needles_meet_the_inequality(void** state) {
    for (int i = 0; i < 200000; i++) {
        const double flat = pow(10, -8 + 6 * uniform());
        const ct_vec3 a = anywhere(1), b = anywhere(1), p = anywhere(1);
        const ct_vec3 on = ct_vec3_axpy(a, 0.5 * (1 + uniform()), ct_vec3_sub(b, a));
        const ct_vec3 c = ct_vec3_axpy(on, flat, anywhere(1));
        const ct_vec3 needle[4] = {p, a, b, c};
        const ct_closest f = ct_closest_point_triangle(needle);
        assert_closest(needle, 1, &f, 1e-6);
        // a second edge along the first, beside it
        const ct_vec3 beside = anywhere(0.1);
        const ct_vec3 along[4] = {a, b, ct_vec3_add(a, beside),
                                  ct_vec3_axpy(ct_vec3_add(b, beside), flat, anywhere(1))};
        const ct_closest e = ct_closest_edges(along);
        assert_closest(along, 2, &e, 1e-6);
    }
}

static void known_features(void** state) {
    const ct_vec3 a = {0, 0, 0}, b = {1, 0, 0}, c = {0, 1, 0};
    const struct {
        ct_vec3 p;
        unsigned mask;
        double distance;
    } known[] = {
        {{0.25, 0.25, 2}, 15, 2}, {{0.5, -3, 4}, 7, 5}, {{-3, 0.5, 4}, 11, 5},      {{-3, -4, 12}, 3, 13},
        {{4, 0, 4}, 5, 5},        {{0, 4, 4}, 9, 5},    {{1, 1, 0}, 13, sqrt(0.5)}, {{0.25, 0.25, 0}, 15, 0},
        {{0, 0, 0}, 3, 0},        {{0.5, 0, 1}, 7, 1},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const ct_closest found = ct_closest_point_triangle((ct_vec3[4]){known[k].p, a, b, c});
        assert_int_equal(found.mask, known[k].mask);
        assert_float_equal(found.distance, known[k].distance, 1e-15);
    }
    // crossed edges, one above the other
    const ct_closest cross = ct_closest_edges((ct_vec3[4]){{-1, 0, 1}, {1, 0, 1}, {0, -1, 0}, {0, 3, 0}});
    assert_int_equal(cross.mask, 15);
    assert_float_equal(cross.w[1], 0.5, 1e-15);
    assert_float_equal(cross.w[3], 0.25, 1e-15);
    assert_float_equal(cross.apart.z, 1, 1e-15);
    assert_float_equal(cross.sine, 1, 1e-15);
    // parallel: an end is among the features
    const ct_closest beside = ct_closest_edges((ct_vec3[4]){{0, 0, 0}, {2, 0, 0}, {1, 1, 0}, {5, 1, 0}});
    assert_true(beside.mask != 15 && beside.distance == 1 && beside.sine == 0);
    // points
    const ct_closest points = ct_closest_edges((ct_vec3[4]){{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}});
    assert_true(points.distance == 1 && points.sine == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pairs_meet_the_inequality),
        cmocka_unit_test(degenerate_pairs_meet_the_inequality),
        cmocka_unit_test(needles_meet_the_inequality),
        cmocka_unit_test(known_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
