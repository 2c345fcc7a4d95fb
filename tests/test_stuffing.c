// Filling shapes: volumes converge, angles stay bounded, the mesh is conforming with a closed manifold
// surface.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "unit.h"

static const double origin[3] = {0.013, 0.021, -0.017};

static ct_mesh* fill(const ct_shape* shape, double size, double interior, ct_mesh_report* report) {
    ct_fill_def def = ct_fill_def_default();
    ct_mesh* mesh = NULL;
    ct_error error;
    def.size = size;
    def.interior = interior;
    if (ct_shape_fill(&mesh, shape, &def, report, &error)) fail_msg("%s", error.message);
    return mesh;
}

// What holds for every mesh of the stuffing with one surface size: the paper's angles, no sliver, closed
// surface.
static void assert_sound(const ct_mesh_report* report) {
    assert_true(report->min_dihedral > 10.7);
    assert_true(report->max_dihedral < 164.8);
    assert_int_equal(report->sliver_count, 0);
    assert_true(report->closed_surface);
}

// Fills at three sizes; the volume error must fall with the order between the last two. Frees the shape.
static void assert_volume_converges(ct_shape* shape, double size, double volume, double order) {
    double error[3];
    for (int i = 0; i < 3; i++) {
        ct_mesh_report report;
        ct_mesh_free(fill(shape, size / (1 << i), 0, &report));
        assert_sound(&report);
        assert_int_equal(report.component_count, 1);
        error[i] = fabs(report.volume - volume) / volume;
    }
    double slope = log2(error[0] / error[2]) / 2;
    if (slope < order) fail_msg("volume errors %g %g %g: order %.2f", error[0], error[1], error[2], slope);
    assert_true(error[2] < 0.02);
    ct_shape_free(shape);
}

static void sphere_volume_converges_with_second_order(void** state) {
    assert_volume_converges(ct_shape_sphere(origin, 1, NULL), 0.4, 4 * M_PI / 3, 1.8);
}

static void box_volume_converges(void** state) {
    // Turned, so that no face lies on the lattice; chamfered edges cost a second-order volume.
    const double half[3] = {0.5, 0.4, 0.6}, zero[3] = {0, 0, 0}, turn[4] = {0.9, 0.2, -0.3, 0.1};
    assert_volume_converges(ct_shape_transform(ct_shape_box(zero, half, 0, NULL), origin, turn, 1, NULL), 0.2,
                            8 * 0.12, 1.5);
}

static void capsule_volume_converges(void** state) {
    const double a[3] = {0, 0, 0}, b[3] = {0.6, 0.3, 0.2};
    double length = sqrt(0.36 + 0.09 + 0.04), r = 0.25;
    assert_volume_converges(ct_shape_capsule(a, b, r, r, NULL), 0.12,
                            M_PI * r * r * length + 4 * M_PI / 3 * r * r * r, 1.8);
}

static void torus_volume_converges(void** state) {
    const double axis[3] = {1, 2, 3};
    assert_volume_converges(ct_shape_torus(origin, axis, 0.5, 0.2, NULL), 0.16, 2 * M_PI * M_PI * 0.5 * 0.04,
                            1.8);
}

static void ellipsoid_volume_converges(void** state) {
    const double radii[3] = {0.8, 0.5, 0.3};
    assert_volume_converges(ct_shape_ellipsoid(origin, radii, NULL), 0.18, 4 * M_PI / 3 * 0.12, 1.8);
}

static void surface_nodes_lie_on_the_surface(void** state) {
    ct_shape* shape = ct_shape_torus(origin, (const double[3]){0, 0, 1}, 0.5, 0.2, NULL);
    ct_mesh_report report;
    ct_mesh* mesh = fill(shape, 0.06, 0, &report);
    int *tri, ntri;
    assert_int_equal(ct_mesh_surface(mesh, &tri, &ntri, NULL), CT_OK);
    for (int i = 0; i < 3 * ntri; i++)
        assert_float_equal(ct_shape_distance(shape, mesh->x + 3 * tri[i]), 0, 1e-6);
    // A torus has Euler characteristic 0: V - E + F with E = 3F/2.
    bool* used = calloc((size_t)mesh->nvert, sizeof *used);
    int count = 0;
    for (int i = 0; i < 3 * ntri; i++) count += !used[tri[i]], used[tri[i]] = true;
    assert_int_equal(2 * count - ntri, 0);
    free(used);
    ct_free(tri);
    ct_mesh_free(mesh);
    ct_shape_free(shape);
}

static void coarser_interior_has_fewer_tets_and_the_same_surface(void** state) {
    ct_shape* shape = ct_shape_sphere(origin, 1, NULL);
    ct_mesh_report fine, graded;
    ct_mesh *a = fill(shape, 0.08, 0, &fine), *b = fill(shape, 0.08, 0.7, &graded);
    assert_sound(&graded);
    assert_true(3 * b->ntet < 2 * a->ntet);
    assert_int_equal(fine.surface_tri_count, graded.surface_tri_count);
    assert_float_equal(fine.volume, graded.volume, 1e-9);
    ct_mesh_free(a);
    ct_mesh_free(b);
    ct_shape_free(shape);
}

static void part_size_refines_that_part_without_slivers(void** state) {
    const double a[3] = {0, 0, 0}, b[3] = {0.6, 0.1, 0.1};
    ct_shape *body = ct_shape_sphere(a, 0.5, NULL), *nose = ct_shape_sphere(b, 0.15, NULL);
    ct_shape_set_size(nose, 0.025);
    ct_shape* shape = ct_shape_union(body, nose, 0.05, NULL);
    ct_mesh_report report;
    ct_mesh* mesh = fill(shape, 0.1, 0, &report);
    assert_true(report.min_quality > 0.1);
    assert_int_equal(report.sliver_count, 0);
    assert_true(report.closed_surface);
    // Mean edge lengths on either end.
    double sum[2] = {0, 0};
    int count[2] = {0, 0};
    for (int t = 0; t < mesh->ntet; t++) {
        const double *p = mesh->x + 3 * mesh->tet[4 * t], *q = mesh->x + 3 * mesh->tet[4 * t + 1];
        int end = p[0] > 0.65 ? 1 : p[0] < 0 ? 0 : -1;
        if (end < 0) continue;
        sum[end] += hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
        count[end]++;
    }
    assert_true(count[0] > 0 && count[1] > 0);
    assert_true(sum[1] / count[1] < 0.03);
    assert_true(sum[0] / count[0] > 0.07);
    ct_mesh_free(mesh);
    ct_shape_free(shape);
}

static void random_blobs_with_mixed_sizes_have_no_slivers(void** state) {
    uint64_t seed = 42;
    for (int trial = 0; trial < 4; trial++) {
        ct_shape* shape = NULL;
        for (int i = 0; i < 5; i++) {
            double v[4];
            for (int k = 0; k < 4; k++) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                v[k] = (double)(seed >> 11) / 9007199254740992.0;
            }
            ct_shape* ball = ct_shape_sphere(v, 0.1 + 0.25 * v[3], NULL);
            ct_shape_set_size(ball, 0.16 / (1 << i % 3));
            shape = shape ? ct_shape_union(shape, ball, 0.05, NULL) : ball;
        }
        ct_mesh_report report;
        ct_mesh_free(fill(shape, 0.16, 0, &report));
        assert_true(report.min_quality > 0.1);
        assert_true(report.closed_surface);
        ct_shape_free(shape);
    }
}

static void plate_thinner_than_size_gives_well_formed_parts(void** state) {
    const double zero[3] = {0, 0, 0}, turn[4] = {0.8, 0.3, 0.2, 0.4};
    for (int i = 0; i < 5; i++) {
        const double half[3] = {0.4, 0.4, 0.02 + 0.003 * i};
        ct_shape* shape = ct_shape_transform(ct_shape_box(zero, half, 0, NULL), origin, turn, 1, NULL);
        ct_mesh_report report;
        ct_mesh_free(fill(shape, 0.05, 0, &report));
        assert_true(report.closed_surface);
        assert_int_equal(report.sliver_count, 0);
        ct_shape_free(shape);
    }
}

static void tets_carry_the_tags_of_their_parts(void** state) {
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0};
    ct_shape *left = ct_shape_sphere(a, 0.6, NULL), *right = ct_shape_sphere(b, 0.6, NULL);
    ct_shape_set_tag(left, 1, "left");
    ct_shape_set_tag(right, 7, "right");
    ct_shape* shape = ct_shape_union(left, right, 0, NULL);
    ct_mesh_report report;
    ct_mesh* mesh = fill(shape, 0.15, 0, &report);
    assert_int_equal(mesh->ntag, 2);
    assert_string_equal(mesh->tag[0].name, "left");
    assert_int_equal(mesh->tag[1].id, 7);
    for (int t = 0; t < mesh->ntet; t++) {
        double x = 0;
        for (int k = 0; k < 4; k++) x += mesh->x[3 * mesh->tet[4 * t + k]] / 4;
        if (fabs(x - 0.5) > 1e-6) assert_int_equal(mesh->tet_tag[t], x < 0.5 ? 1 : 7);
    }
    ct_mesh_free(mesh);
    ct_shape_free(shape);
}

static void filled_stl_surface_has_the_volume_it_encloses(void** state) {
    const char* path = CT_BINARY_DIR "/test_stuffing.stl";
    ct_shape *ball = ct_shape_sphere(origin, 1, NULL), *shape = NULL;
    ct_mesh_report first, second;
    ct_error error;
    ct_mesh* mesh = fill(ball, 0.2, 0, &first);
    assert_int_equal(ct_mesh_save(mesh, path, &error), CT_OK);
    ct_mesh_free(mesh);
    if (ct_shape_load(&shape, path, &error)) fail_msg("%s", error.message);
    ct_mesh_free(fill(shape, 0.15, 0, &second));
    assert_sound(&second);
    assert_float_equal(second.volume, first.volume, 0.01 * first.volume);
    ct_shape_free(ball);
    ct_shape_free(shape);
    remove(path);
}

static void bounds_trim_the_shape(void** state) {
    ct_shape* shape = ct_shape_sphere((const double[3]){0, 0, 0}, 1, NULL);
    ct_fill_def def = ct_fill_def_default();
    ct_mesh* mesh;
    ct_mesh_report report;
    def.size = 0.1;
    for (int i = 0; i < 3; i++) def.lower[i] = i == 2 ? 0 : -2, def.upper[i] = 2;
    assert_int_equal(ct_shape_fill(&mesh, shape, &def, &report, NULL), CT_OK);
    assert_float_equal(report.volume, 2 * M_PI / 3, 0.02);
    assert_true(report.lower[2] > -1e-9);
    ct_mesh_free(mesh);
    ct_shape_free(shape);
}

static void assert_refused(const ct_shape* shape, double size, ct_status expected, const char* word) {
    ct_fill_def def = ct_fill_def_default();
    ct_mesh* mesh = NULL;
    ct_error error;
    def.size = size;
    assert_int_equal(ct_shape_fill(&mesh, shape, &def, NULL, &error), expected);
    assert_null(mesh);
    if (!strstr(error.message, word)) fail_msg("%s: no %s", error.message, word);
}

static void fill_refuses_what_cannot_be_meshed(void** state) {
    const double far[3] = {5, 0, 0}, zero[3] = {0, 0, 0}, thin[3] = {1, 1, 1e-4};
    ct_shape* ball = ct_shape_sphere(origin, 1, NULL);
    assert_refused(ball, 0, CT_BAD_ARGUMENT, "positive");
    assert_refused(ball, -1, CT_BAD_ARGUMENT, "positive");
    assert_refused(ball, NAN, CT_BAD_ARGUMENT, "positive");
    assert_refused(ball, 1e-4, CT_BAD_ARGUMENT, "feasible");
    assert_refused(ball, 1e-12, CT_BAD_ARGUMENT, "feasible");
    ct_shape_free(ball);
    ct_shape* empty =
        ct_shape_intersection(ct_shape_sphere(zero, 1, NULL), ct_shape_sphere(far, 1, NULL), 0, NULL);
    assert_refused(empty, 0.1, CT_BAD_MESH, "empty");
    ct_shape_free(empty);
    const double turn[4] = {0.8, 0.3, 0.2, 0.4};
    ct_shape* plate = ct_shape_transform(ct_shape_box(zero, thin, 0, NULL), origin, turn, 1, NULL);
    assert_refused(plate, 0.3, CT_BAD_MESH, "thinnest part");
    ct_shape_free(plate);
    ct_error error = {0};
    assert_null(ct_shape_sphere(zero, NAN, &error));
    if (!strstr(error.message, "nan")) fail_msg("%s", error.message);
}

static void filling_twice_gives_the_same_bits(void** state) {
    ct_shape* shape = ct_shape_capsule(origin, (const double[3]){1, 0.2, 0.3}, 0.3, 0.1, NULL);
    ct_mesh_report report;
    ct_mesh *a = fill(shape, 0.05, 0.2, &report), *b = fill(shape, 0.05, 0.2, &report);
    assert_int_equal(a->nvert, b->nvert);
    assert_int_equal(a->ntet, b->ntet);
    assert_memory_equal(a->x, b->x, 3 * (size_t)a->nvert * sizeof(double));
    assert_memory_equal(a->tet, b->tet, 4 * (size_t)a->ntet * sizeof(int));
    ct_mesh_free(a);
    ct_mesh_free(b);
    ct_shape_free(shape);
}

static void generated_solids_have_their_volumes(void** state) {
    ct_mesh* mesh;
    ct_mesh_report report;
    assert_int_equal(ct_mesh_sphere(&mesh, 0.5, 0.08, NULL), CT_OK);
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_float_equal(report.volume, M_PI / 6, 0.01);
    ct_mesh_free(mesh);
    assert_int_equal(ct_mesh_cylinder(&mesh, 0.3, 1.2, 0.08, NULL), CT_OK);
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_float_equal(report.volume, M_PI * 0.09 * 1.2, 0.01);
    assert_float_equal(report.upper[2], 0.6, 1e-6);
    assert_float_equal(report.upper[0], 0.3, 0.01);
    ct_mesh_free(mesh);
    assert_int_equal(ct_mesh_torus(&mesh, 0.5, 0.15, 0.06, NULL), CT_OK);
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_float_equal(report.volume, 2 * M_PI * M_PI * 0.5 * 0.0225, 0.005);
    assert_float_equal(report.upper[2], 0.15, 0.01);
    ct_mesh_free(mesh);
    assert_int_equal(ct_mesh_sphere(&mesh, -1, 0.1, NULL), CT_BAD_ARGUMENT);
    assert_int_equal(ct_mesh_torus(&mesh, 0.1, 0.2, 0.1, NULL), CT_BAD_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_volume_converges_with_second_order),
        cmocka_unit_test(box_volume_converges),
        cmocka_unit_test(capsule_volume_converges),
        cmocka_unit_test(torus_volume_converges),
        cmocka_unit_test(ellipsoid_volume_converges),
        cmocka_unit_test(surface_nodes_lie_on_the_surface),
        cmocka_unit_test(coarser_interior_has_fewer_tets_and_the_same_surface),
        cmocka_unit_test(part_size_refines_that_part_without_slivers),
        cmocka_unit_test(random_blobs_with_mixed_sizes_have_no_slivers),
        cmocka_unit_test(plate_thinner_than_size_gives_well_formed_parts),
        cmocka_unit_test(tets_carry_the_tags_of_their_parts),
        cmocka_unit_test(filled_stl_surface_has_the_volume_it_encloses),
        cmocka_unit_test(bounds_trim_the_shape),
        cmocka_unit_test(fill_refuses_what_cannot_be_meshed),
        cmocka_unit_test(filling_twice_gives_the_same_bits),
        cmocka_unit_test(generated_solids_have_their_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
