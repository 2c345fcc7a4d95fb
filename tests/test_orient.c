// Exact signs, against determinants of whole numbers.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape/orient.h"
#include "unit.h"

static uint64_t seed = 1;

// A whole number of at most `bits` bits and a sign.
static int64_t whole(int bits) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)seed >> (63 - bits);
}

typedef struct point {
    int64_t x[3];
} point;

static point random_point(int bits) {
    point p;
    for (int k = 0; k < 3; k++) p.x[k] = whole(bits);
    return p;
}

static ct_vec3 rounded(point p) { return ct_vec3_make((double)p.x[0], (double)p.x[1], (double)p.x[2]); }

__extension__ typedef __int128 wide;

static int exact_sign(point a, point b, point c, point p) {
    wide u[3], v[3], w[3], sum = 0;
    for (int k = 0; k < 3; k++) u[k] = b.x[k] - a.x[k], v[k] = c.x[k] - a.x[k], w[k] = p.x[k] - a.x[k];
    for (int k = 0; k < 3; k++)
        sum += w[k] * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    return (sum > 0) - (sum < 0);
}

static void signs_are_those_of_whole_numbers(void** state) {
    int seen[3] = {0};
    for (int i = 0; i < 200000; i++) {
        const point a = random_point(38), b = random_point(38), c = random_point(38);
        // a point of the plane, up to a last digit
        const int64_t s = whole(1), t = whole(1);
        point p;
        for (int k = 0; k < 3; k++)
            p.x[k] = a.x[k] + s * (b.x[k] - a.x[k]) + t * (c.x[k] - a.x[k]) + (i % 3 ? whole(1) : 0);
        const int sign = exact_sign(a, b, c, p);
        seen[sign + 1]++;
        // scaled by a power of two: fractions that are still exact
        const double scale = ldexp(1, (int)whole(6));
        assert_int_equal(ct_orient(ct_vec3_scale(scale, rounded(a)), ct_vec3_scale(scale, rounded(b)),
                                   ct_vec3_scale(scale, rounded(c)), ct_vec3_scale(scale, rounded(p))),
                         sign);
        const point q = random_point(38);
        assert_int_equal(ct_orient(rounded(a), rounded(b), rounded(c), rounded(q)), exact_sign(a, b, c, q));
    }
    for (int k = 0; k < 3; k++) assert_true(seen[k] > 10000);
}

// Points whose differences are not exact: 1 and 1e-16 side by side. Exchanging two points must turn the sign.
static void signs_are_antisymmetric_below_the_last_digit(void** state) {
    int zeros = 0;
    for (int i = 0; i < 100000; i++) {
        ct_vec3 p[4];
        for (int k = 0; k < 4; k++) {
            const double tiny = 0x1p-70;
            const double x = (double)whole(2) + tiny * (double)whole(3),
                         y = (double)whole(2) + tiny * (double)whole(3);
            p[k] = ct_vec3_make(x, y, tiny * (double)whole(3));
        }
        const int sign = ct_orient(p[0], p[1], p[2], p[3]);
        zeros += sign == 0;
        assert_int_equal(ct_orient(p[1], p[0], p[2], p[3]), -sign);
        assert_int_equal(ct_orient(p[0], p[2], p[1], p[3]), -sign);
        assert_int_equal(ct_orient(p[0], p[1], p[3], p[2]), -sign);
        assert_int_equal(ct_orient(p[3], p[1], p[2], p[0]), -sign);
    }
    assert_true(zeros < 90000);
}

static bool crosses(double px, double py, double pz, double qx, double qy, double qz) {
    return ct_edge_crosses_triangle((ct_vec3){px, py, pz}, (ct_vec3){qx, qy, qz}, (ct_vec3){0, 0, 0},
                                    (ct_vec3){1, 0, 0}, (ct_vec3){0, 1, 0});
}

static void edges_cross_the_closed_triangle(void** state) {
    assert_true(crosses(0.2, 0.2, 1, 0.2, 0.2, -1));
    assert_true(crosses(0.2, 0.2, -1, 0.2, 0.2, 1));
    assert_false(crosses(0.7, 0.7, 1, 0.7, 0.7, -1));
    assert_true(crosses(0.5, 0.5, 1, 0.5, 0.5, -1));  // through an edge
    assert_true(crosses(0, 0, 1, 0, 0, -1));          // through a vertex
    assert_false(crosses(nextafter(0.5, 1), 0.5, 1, nextafter(0.5, 1), 0.5, -1));
    assert_false(crosses(-5e-324, 0.5, 1, -1e-300, 0.5, 1));
    assert_false(crosses(0.2, 0.2, 1, 0.2, 0.2, 0));  // touches
    assert_false(crosses(0.2, 0.2, 0, 0.8, 0.8, 0));  // in the plane
    assert_false(crosses(0.2, 0.2, 2, 0.2, 0.2, 1));
    // a triangle without area
    assert_false(ct_edge_crosses_triangle((ct_vec3){0, 0, 1}, (ct_vec3){0, 0, -1}, (ct_vec3){-1, 0, 0},
                                          (ct_vec3){1, 0, 0}, (ct_vec3){3, 0, 0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_those_of_whole_numbers),
        cmocka_unit_test(signs_are_antisymmetric_below_the_last_digit),
        cmocka_unit_test(edges_cross_the_closed_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
