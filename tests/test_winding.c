// Winding number and signed distance of triangle surfaces: cube, sphere, with a hole, turned inside out.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "shape/winding.h"
#include "unit.h"

static const double cube_x[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
static const int cube_tri[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                 1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

typedef struct surface {
    int nvert, ntri;
    double* x;
    int* tri;
} surface;

// A unit sphere of `rings` by 2 `rings` facets, outward.
static surface make_sphere(int rings) {
    int around = 2 * rings;
    surface s = {.nvert = 2 + (rings - 1) * around};
    s.x = calloc(3 * (size_t)s.nvert, sizeof(double));
    s.tri = calloc(6 * (size_t)(rings * around), sizeof(int));
    s.x[2] = 1;
    s.x[3 * (s.nvert - 1) + 2] = -1;
    for (int i = 1; i < rings; i++)
        for (int j = 0; j < around; j++) {
            double u = M_PI * i / rings, v = 2 * M_PI * j / around, *x = s.x + 3 * (1 + (i - 1) * around + j);
            x[0] = sin(u) * cos(v), x[1] = sin(u) * sin(v), x[2] = cos(u);
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < around; j++) {
            int next = (j + 1) % around;
            int a = i == 0 ? 0 : 1 + (i - 1) * around + j, b = i == 0 ? 0 : 1 + (i - 1) * around + next;
            int c = i == rings - 1 ? s.nvert - 1 : 1 + i * around + j,
                d = i == rings - 1 ? s.nvert - 1 : 1 + i * around + next;
            if (i > 0) s.tri[3 * s.ntri] = a, s.tri[3 * s.ntri + 1] = c, s.tri[3 * s.ntri + 2] = b, s.ntri++;
            if (i < rings - 1)
                s.tri[3 * s.ntri] = b, s.tri[3 * s.ntri + 1] = c, s.tri[3 * s.ntri + 2] = d, s.ntri++;
        }
    return s;
}

static void free_surface(surface* s) {
    free(s->x);
    free(s->tri);
}

static ct_winding* winding_of(const double* x, const int* tri, int ntri) {
    ct_winding* winding;
    assert_int_equal(ct_winding_create(&winding, x, tri, ntri), CT_OK);
    return winding;
}

static void winding_number_of_a_cube_is_one_inside_and_zero_outside(void** state) {
    ct_winding* w = winding_of(cube_x, cube_tri, 12);
    for (double t = 0.02; t < 1; t += 0.06) {
        const double in[3] = {t, 0.3, 1 - t}, out[3] = {t, -0.05, 0.5}, away[3] = {3, t, -2};
        assert_float_equal(ct_winding_number(w, in), 1, 0.03);
        assert_float_equal(ct_winding_number(w, out), 0, 0.03);
        assert_float_equal(ct_winding_number(w, away), 0, 0.03);
    }
    ct_winding_free(w);
}

static void distance_to_a_cube_is_exact(void** state) {
    ct_winding* w = winding_of(cube_x, cube_tri, 12);
    assert_float_equal(ct_winding_distance(w, (const double[3]){0.5, 0.5, 0.5}), -0.5, 1e-14);
    assert_float_equal(ct_winding_distance(w, (const double[3]){0.5, 0.9, 0.5}), -0.1, 1e-14);
    assert_float_equal(ct_winding_distance(w, (const double[3]){0.2, 0.7, 3}), 2, 1e-14);
    assert_float_equal(ct_winding_distance(w, (const double[3]){4, 5, 0.5}), 5, 1e-14);
    assert_float_equal(ct_winding_distance(w, (const double[3]){2, 2, 2}), sqrt(3), 1e-14);
    ct_winding_free(w);
}

// The tree's far field and search agree with the plain sums over 4,000 triangles.
static void tree_agrees_with_brute_force_on_a_sphere(void** state) {
    surface s = make_sphere(32);
    ct_winding* w = winding_of(s.x, s.tri, s.ntri);
    uint64_t seed = 1;
    for (int i = 0; i < 200; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            p[k] = 3 * ((double)(seed >> 11) / 9007199254740992.0 - 0.5);
        }
        double r = hypot(hypot(p[0], p[1]), p[2]), best = INFINITY;
        for (int t = 0; i < 20 && t < s.ntri; t++) {
            ct_winding* one = winding_of(s.x, s.tri + 3 * t, 1);
            best = fmin(best, ct_winding_unsigned_distance(one, p));
            ct_winding_free(one);
        }
        if (i < 20) assert_float_equal(ct_winding_unsigned_distance(w, p), best, 1e-12);
        if (fabs(r - 1) < 0.01) continue;
        assert_float_equal(ct_winding_number(w, p), r < 1, 0.05);
        assert_float_equal(ct_winding_distance(w, p), r - 1, 3e-3);
    }
    ct_winding_free(w);
    free_surface(&s);
}

static void winding_number_tolerates_a_small_hole(void** state) {
    surface s = make_sphere(24);
    ct_winding* w = winding_of(s.x, s.tri + 3 * 60, s.ntri - 60);  // a cap of 60 triangles is missing
    assert_true(ct_winding_number(w, (const double[3]){0, 0, 0}) > 0.9);
    assert_true(ct_winding_number(w, (const double[3]){0, 0, -0.9}) > 0.9);
    assert_true(ct_winding_number(w, (const double[3]){0, 0, 1.3}) < 0.3);
    assert_true(ct_winding_number(w, (const double[3]){1.1, 0, 0}) < 0.1);
    ct_winding_free(w);
    free_surface(&s);
}

static void open_surface_is_refused_with_its_first_edge(void** state) {
    ct_mesh* mesh;
    ct_shape* shape = NULL;
    ct_error error;
    assert_int_equal(ct_mesh_create(&mesh, 8, cube_x, 0, NULL, 11, cube_tri, NULL), CT_OK);
    assert_int_equal(ct_shape_surface(&shape, mesh, &error), CT_BAD_MESH);
    assert_null(shape);
    assert_non_null(strstr(error.message, "3 boundary edges"));
    assert_true(error.element >= 0);
    ct_mesh_free(mesh);
}

static void surface_with_one_flipped_triangle_is_refused(void** state) {
    int tri[36];
    memcpy(tri, cube_tri, sizeof tri);
    tri[0] = cube_tri[1], tri[1] = cube_tri[0];
    ct_mesh* mesh;
    ct_shape* shape = NULL;
    ct_error error;
    assert_int_equal(ct_mesh_create(&mesh, 8, cube_x, 0, NULL, 12, tri, NULL), CT_OK);
    assert_int_equal(ct_shape_surface(&shape, mesh, &error), CT_BAD_MESH);
    assert_non_null(strstr(error.message, "orientation"));
    ct_mesh_free(mesh);
}

static void surface_turned_inside_out_or_unwelded_is_accepted(void** state) {
    double x[108];
    int tri[36];
    for (int i = 0; i < 36; i++) {
        memcpy(x + 3 * i, cube_x + 3 * cube_tri[i], 3 * sizeof(double));
        tri[i] = 35 - i;
    }
    ct_mesh* mesh;
    ct_shape* shape = NULL;
    ct_error error;
    assert_int_equal(ct_mesh_create(&mesh, 36, x, 0, NULL, 12, tri, NULL), CT_OK);
    assert_int_equal(ct_shape_surface(&shape, mesh, &error), CT_OK);
    assert_float_equal(ct_shape_distance(shape, (const double[3]){0.5, 0.5, 0.4}), -0.4, 1e-14);
    assert_float_equal(ct_shape_distance(shape, (const double[3]){0.5, 0.5, 1.5}), 0.5, 1e-14);
    ct_shape_free(shape);
    ct_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winding_number_of_a_cube_is_one_inside_and_zero_outside),
        cmocka_unit_test(distance_to_a_cube_is_exact),
        cmocka_unit_test(tree_agrees_with_brute_force_on_a_sphere),
        cmocka_unit_test(winding_number_tolerates_a_small_hole),
        cmocka_unit_test(open_surface_is_refused_with_its_first_edge),
        cmocka_unit_test(surface_with_one_flipped_triangle_is_refused),
        cmocka_unit_test(surface_turned_inside_out_or_unwelded_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
