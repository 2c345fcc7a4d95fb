// Where muscles run: distances, weights, tangents and segments along polylines.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scene/muscle_map.h"
#include "unit.h"

typedef struct map {
    ct_mesh* mesh;
    ct_arena arena;
    ct_muscle_map map;
} map;

static map make(const double* points, int npoint, double radius, int segments) {
    map m = {0};
    assert_int_equal(ct_mesh_box(&m.mesh, (double[]){4, 2, 2}, (int[]){16, 8, 8}, NULL), CT_OK);
    assert_int_equal(ct_muscle_map_create(&m.map, &m.arena, m.mesh, points, npoint, radius, segments), CT_OK);
    return m;
}

static void release(map* m) {
    ct_mesh_free(m->mesh);
    ct_arena_free(&m->arena);
}

static void centroid(const map* m, int e, double c[3]) {
    for (int a = 0; a < 3; a++) {
        c[a] = 0;
        for (int k = 0; k < 4; k++) c[a] += 0.25 * m->mesh->x[3 * m->mesh->tet[4 * m->map.tet[e] + k] + a];
    }
}

static void straight_line_has_constant_direction_and_known_weights(void** state) {
    const double points[] = {0, 1, 1, 4, 1, 1}, radius = 0.8;
    map m = make(points, 2, radius, 4);
    int inside = 0;
    for (int e = 0; e < m.map.ntet; e++) {
        double c[3];
        centroid(&m, e, c);
        const double d = hypot(c[1] - 1, c[2] - 1), t = fmax(2 * d / radius - 1, 0);
        assert_true(d < radius);
        assert_true(fabs(m.map.weight[e] - (1 - 3 * t * t + 2 * t * t * t)) < 1e-14);
        inside += m.map.weight[e] == 1;
        assert_true(fabs(m.map.direction[3 * e] - 1) < 1e-15);
        assert_int_equal(m.map.segment[e], (int)floor(c[0]));
    }
    assert_true(inside > 100 && inside < m.map.ntet);
    // no tet within the radius is left out
    int count = 0;
    for (int t = 0; t < m.mesh->ntet; t++) {
        double y = 0, z = 0;
        for (int k = 0; k < 4; k++)
            y += 0.25 * m.mesh->x[3 * m.mesh->tet[4 * t + k] + 1],
                z += 0.25 * m.mesh->x[3 * m.mesh->tet[4 * t + k] + 2];
        count += hypot(y - 1, z - 1) < radius;
    }
    assert_int_equal(count, m.map.ntet);
    release(&m);
}

static void pieces_are_segments_unless_told(void** state) {
    const double points[] = {0, 1, 1, 1, 1, 1, 4, 1, 1};
    map m = make(points, 3, 0.5, 0);
    assert_int_equal(m.map.nsegment, 2);
    for (int e = 0; e < m.map.ntet; e++) {
        double c[3];
        centroid(&m, e, c);
        assert_int_equal(m.map.segment[e], c[0] > 1);
    }
    release(&m);
}

// A right angle: the tangent turns from x to y along the two pieces, through the bisector at the corner;
// nowhere does it jump.
static void tangent_turns_smoothly_around_a_corner(void** state) {
    const double points[] = {0, 0.2, 1, 3, 0.2, 1, 3, 2, 1};
    map m = make(points, 3, 0.4, 0);
    for (int e = 0; e < m.map.ntet; e++) {
        const double *d = m.map.direction + 3 * e, half = sqrt(0.5);
        double c[3];
        centroid(&m, e, c);
        assert_true(fabs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1) < 1e-14);
        assert_true(d[0] >= -1e-15 && d[1] >= -1e-15 && d[2] == 0);
        if (m.map.segment[e] == 0 && c[0] < 1.5) assert_true(d[0] == 1);
        if (m.map.segment[e] == 0) assert_true(d[0] >= half - 1e-14);
        if (m.map.segment[e] == 1) assert_true(d[1] >= half - 1e-14);
        if (m.map.segment[e] == 0 && c[0] > 1.5) {
            // blend of the piece and the bisector, in proportion to the way from the middle to the corner
            const double t = fmin(c[0], 3) / 1.5 - 1, x = 1 - t + t * half, y = t * half;
            assert_true(fabs(d[1] - y / hypot(x, y)) < 1e-13);
        }
    }
    release(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line_has_constant_direction_and_known_weights),
        cmocka_unit_test(pieces_are_segments_unless_told),
        cmocka_unit_test(tangent_turns_smoothly_around_a_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
