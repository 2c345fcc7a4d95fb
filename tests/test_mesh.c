// The mesh object, its adjacency and its checks, against counts and measures known in closed form.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "shape/mesh.h"
#include "unit.h"

static const double unit_tet[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int first_four[4] = {0, 1, 2, 3};

static ct_mesh* make(int nvert, const double* x, int ntet, const int* tet, int ntri, const int* tri) {
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_create(&mesh, nvert, x, ntet, tet, ntri, tri, NULL), CT_OK);
    return mesh;
}

// The mesh fails the check with a message that contains all the given parts; frees it.
static void assert_fault(ct_mesh* mesh, long element, const char* part, const char* remedy) {
    ct_error error;
    assert_int_equal(ct_mesh_check(mesh, NULL, &error), CT_BAD_MESH);
    assert_int_equal(error.code, CT_BAD_MESH);
    if (!strstr(error.message, part) || !strstr(error.message, remedy))
        fail_msg("unexpected message: %s", error.message);
    assert_int_equal(error.element, element);
    ct_mesh_free(mesh);
}

static ct_mesh* box(int a, int b, int c) {
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){2, 3, 5}, (int[3]){a, b, c}, NULL), CT_OK);
    return mesh;
}

static void box_has_known_volume_area_and_counts(void** state) {
    (void)state;
    ct_mesh* mesh = box(2, 3, 4);
    ct_mesh_report report;
    ct_error error;
    assert_int_equal(ct_mesh_check(mesh, &report, &error), CT_OK);
    assert_int_equal(mesh->nvert, 3 * 4 * 5);
    assert_int_equal(mesh->ntet, 6 * 2 * 3 * 4);
    assert_true(fabs(report.volume - 30) < 1e-12);
    assert_true(fabs(report.area - 2 * (6 + 10 + 15)) < 1e-12);
    assert_int_equal(report.surface_tri_count, 2 * 2 * (2 * 3 + 2 * 4 + 3 * 4));
    assert_int_equal(report.component_count, 1);
    assert_true(report.closed_surface);
    assert_int_equal(report.sliver_count, 0);
    const double size[3] = {2, 3, 5};
    for (int a = 0; a < 3; a++) {
        assert_true(report.lower[a] == 0);
        assert_true(report.upper[a] == size[a]);
    }
    ct_mesh_free(mesh);
}

static void box_tets_are_positive_and_equal(void** state) {
    (void)state;
    ct_mesh* mesh = box(3, 2, 2);
    for (int t = 0; t < mesh->ntet; t++)
        assert_true(fabs(ct_tet_volume(mesh->x, mesh->tet + 4 * t) - 30.0 / mesh->ntet) < 1e-13);
    ct_mesh_free(mesh);
}

static void box_refuses_empty_or_flat(void** state) {
    (void)state;
    ct_mesh* mesh = (ct_mesh*)1;
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){1, 1, 1}, (int[3]){1, 0, 1}, NULL), CT_BAD_ARGUMENT);
    assert_null(mesh);
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){1, 0, 1}, (int[3]){1, 1, 1}, NULL), CT_BAD_ARGUMENT);
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){1, NAN, 1}, (int[3]){1, 1, 1}, NULL), CT_BAD_ARGUMENT);
    assert_int_equal(ct_mesh_box(&mesh, (double[3]){1, 1, 1}, (int[3]){100000, 100000, 100000}, NULL),
                     CT_BAD_ARGUMENT);
}

static void create_refuses_indices_out_of_range(void** state) {
    (void)state;
    ct_mesh* mesh = (ct_mesh*)1;
    assert_int_equal(ct_mesh_create(&mesh, 4, unit_tet, 1, (int[4]){0, 1, 2, 4}, 0, NULL, NULL),
                     CT_BAD_ARGUMENT);
    assert_null(mesh);
    assert_int_equal(ct_mesh_create(&mesh, 4, unit_tet, 0, NULL, 1, (int[3]){0, -1, 2}, NULL),
                     CT_BAD_ARGUMENT);
    assert_int_equal(ct_mesh_create(&mesh, 4, NULL, 0, NULL, 0, NULL, NULL), CT_BAD_ARGUMENT);
}

static void copy_is_equal_and_independent(void** state) {
    (void)state;
    ct_mesh* mesh = box(1, 2, 1);
    mesh->tet_tag[3] = 7;
    ct_mesh* copy = NULL;
    assert_int_equal(ct_mesh_copy(&copy, mesh, NULL), CT_OK);
    assert_memory_equal(copy->x, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
    assert_memory_equal(copy->tet, mesh->tet, 4 * (size_t)mesh->ntet * sizeof(int));
    assert_int_equal(copy->tet_tag[3], 7);
    copy->x[0] = 9;
    assert_true(mesh->x[0] == 0);
    ct_mesh_free(copy);
    ct_mesh_free(mesh);
}

// Divergence theorem: the flux of x / 3 through an outward surface is the volume.
static void surface_points_outward(void** state) {
    (void)state;
    ct_mesh* mesh = box(3, 2, 4);
    int *tri, ntri;
    assert_int_equal(ct_mesh_surface(mesh, &tri, &ntri, NULL), CT_OK);
    double flux = 0;
    for (int i = 0; i < ntri; i++) {
        const double *a = mesh->x + 3 * tri[3 * i], *b = mesh->x + 3 * tri[3 * i + 1],
                     *c = mesh->x + 3 * tri[3 * i + 2];
        flux += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                 a[2] * (b[0] * c[1] - b[1] * c[0])) /
                6;
    }
    assert_true(fabs(flux - 30) < 1e-12);
    ct_free(tri);
    ct_mesh_free(mesh);
}

static void neighbors_are_mutual(void** state) {
    (void)state;
    ct_mesh* mesh = box(2, 2, 2);
    int* neighbor = malloc(4 * (size_t)mesh->ntet * sizeof(int));
    ct_mesh_face_fault fault;
    assert_int_equal(ct_mesh_neighbors(mesh->nvert, mesh->ntet, mesh->tet, neighbor, &fault), CT_OK);
    assert_int_equal(fault.tet[0], -1);
    int boundary = 0;
    for (int i = 0; i < 4 * mesh->ntet; i++) {
        int other = neighbor[i], back = 0;
        if (other < 0) {
            boundary++;
            continue;
        }
        for (int k = 0; k < 4; k++) back += neighbor[4 * other + k] == i / 4;
        assert_int_equal(back, 1);
    }
    assert_int_equal(boundary, 48);
    free(neighbor);
    ct_mesh_free(mesh);
}

// Euler: V - E + F = 2 on a sphere-like surface, and every edge has two triangles.
static void edges_of_a_closed_surface_obey_euler(void** state) {
    (void)state;
    ct_mesh* mesh = box(2, 3, 2);
    int *tri, ntri, nedge;
    ct_mesh_edge* edge;
    assert_int_equal(ct_mesh_surface(mesh, &tri, &ntri, NULL), CT_OK);
    assert_int_equal(ct_mesh_edges(mesh->nvert, ntri, tri, &edge, &nedge), CT_OK);
    int surface_nodes = 3 * 4 * 3 - 1 * 2 * 1;
    assert_int_equal(surface_nodes - nedge + ntri, 2);
    for (int i = 0; i < nedge; i++)
        assert_true(edge[i].ntri == 2 && edge[i].opposed && edge[i].node[0] < edge[i].node[1]);
    ct_free(edge);
    ct_free(tri);
    ct_mesh_free(mesh);
}

static void incidence_lists_every_element_at_its_nodes(void** state) {
    (void)state;
    ct_mesh* mesh = box(1, 1, 2);
    int *start, *list;
    assert_int_equal(ct_mesh_incidence(mesh->nvert, 4, mesh->ntet, mesh->tet, &start, &list), CT_OK);
    assert_int_equal(start[0], 0);
    assert_int_equal(start[mesh->nvert], 4 * mesh->ntet);
    for (int v = 0; v < mesh->nvert; v++)
        for (int i = start[v]; i < start[v + 1]; i++) {
            const int* tet = mesh->tet + 4 * list[i];
            assert_true(tet[0] == v || tet[1] == v || tet[2] == v || tet[3] == v);
            assert_true(i == start[v] || list[i] > list[i - 1]);
        }
    ct_free(start);
    ct_free(list);
    ct_mesh_free(mesh);
}

static void regular_tet_has_quality_one(void** state) {
    (void)state;
    const double x[12] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    const int tet[4] = {0, 2, 1, 3};
    assert_true(ct_tet_volume(x, tet) > 0);
    assert_true(fabs(ct_tet_quality(x, tet) - 1) < 1e-14);
    double least, greatest;
    ct_tet_dihedral(x, tet, &least, &greatest);
    double expected = acos(1.0 / 3) * 180 / acos(-1);
    assert_true(fabs(least - expected) < 1e-12 && fabs(greatest - expected) < 1e-12);
    assert_true(ct_tet_quality(x, first_four) == 0);  // inverted
}

// Corner tet: r = 1 / (3 + sqrt 3), R = sqrt 3 / 2; dihedral angles 90 and acos(1 / sqrt 3).
static void corner_tet_has_known_quality_and_angles(void** state) {
    (void)state;
    ct_mesh* mesh = make(4, unit_tet, 1, first_four, 0, NULL);
    ct_mesh_report report;
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_true(fabs(report.min_quality - 3 / (3 + sqrt(3)) / (sqrt(3) / 2)) < 1e-14);
    assert_true(fabs(report.max_dihedral - 90) < 1e-12);
    assert_true(fabs(report.min_dihedral - acos(1 / sqrt(3)) * 180 / acos(-1)) < 1e-12);
    assert_true(fabs(report.volume - 1.0 / 6) < 1e-15);
    assert_true(fabs(report.area - (1.5 + sqrt(3) / 2)) < 1e-14);
    assert_int_equal(report.worst_tet, 0);
    ct_mesh_free(mesh);
}

static void check_counts_slivers(void** state) {
    (void)state;
    const double x[12] = {1, 0, 0, 0, 1, 0.001, -1, 0, 0, 0, -1, 0.001};
    ct_mesh* mesh = make(4, x, 1, (int[4]){0, 2, 1, 3}, 0, NULL);
    if (ct_tet_volume(x, mesh->tet) < 0) ct_mesh_repair(mesh);
    ct_mesh_report report;
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_int_equal(report.sliver_count, 1);
    assert_true(report.max_dihedral > 179);
    ct_mesh_free(mesh);
}

static void check_names_inverted_tet(void** state) {
    (void)state;
    ct_mesh* mesh = box(1, 1, 1);
    int swap = mesh->tet[16];
    mesh->tet[16] = mesh->tet[17];
    mesh->tet[17] = swap;
    assert_fault(mesh, 4, "tet 4 is inverted", "cuttle mesh --repair");
}

static void check_names_degenerate_tet(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0};
    assert_fault(make(5, x, 2, (int[8]){0, 1, 2, 3, 0, 1, 2, 4}, 0, NULL), 1,
                 "tet 1 (nodes 0 1 2 4) is degenerate", "remesh");
}

static void check_names_unused_node(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    assert_fault(make(5, x, 1, first_four, 0, NULL), 4, "node 4 belongs to no tet", "cuttle mesh --repair");
}

static void check_names_node_of_triangle_only(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    assert_fault(make(5, x, 1, first_four, 1, (int[3]){0, 1, 4}), 4,
                 "node 4 belongs to a triangle but to no tet", "another file");
}

static void check_names_duplicate_nodes_of_one_body(void** state) {
    (void)state;
    // a fan around node 0 that closes on a copy of its first rim node
    const double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0, 1, 0, 1e-13};
    const int tri[12] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5};
    assert_fault(make(6, x, 0, NULL, 4, tri), 5, "nodes 1 and 5 of one body lie at the same place",
                 "merge them");
}

static void check_accepts_bodies_that_touch(void** state) {
    (void)state;
    double x[24];
    memcpy(x, unit_tet, sizeof unit_tet);
    for (int i = 0; i < 12; i++) x[12 + i] = -unit_tet[i];  // touches at the origin
    ct_mesh* mesh = make(8, x, 2, (int[8]){0, 1, 2, 3, 4, 6, 5, 7}, 0, NULL);
    ct_mesh_report report;
    ct_error error;
    ct_status status = ct_mesh_check(mesh, &report, &error);
    if (status != CT_OK) fail_msg("%s", error.message);
    assert_int_equal(report.component_count, 2);
    ct_mesh_free(mesh);
}

static void check_names_face_of_three_tets(void** state) {
    (void)state;
    const double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0.1, 0.1, -2};
    assert_fault(make(6, x, 3, (int[12]){0, 1, 2, 3, 0, 2, 1, 4, 0, 2, 1, 5}, 0, NULL), 2,
                 "tets 0, 1 and 2 share the face 0 1 2", "remove");
}

static void check_names_overlapping_tets(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.2, 2};
    assert_fault(make(5, x, 2, (int[8]){0, 1, 2, 3, 0, 1, 2, 4}, 0, NULL), 1, "lie on the same side",
                 "remove one");
}

static void check_names_non_manifold_edge_of_tets(void** state) {
    (void)state;
    // two tets that share only the edge from node 0 to node 3
    const double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0};
    assert_fault(make(6, x, 2, (int[8]){0, 1, 2, 3, 0, 4, 5, 3}, 0, NULL), 0,
                 "4 boundary faces of tets meet at the edge between nodes 0 and 3", "join the tets");
}

static void check_names_non_manifold_edge_of_sheet(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
    assert_fault(make(5, x, 0, NULL, 3, (int[9]){0, 1, 2, 0, 1, 3, 0, 1, 4}), 0,
                 "3 triangles meet at the edge between nodes 0 and 1", "remove the extra");
}

static void check_names_degenerate_triangle(void** state) {
    (void)state;
    const double x[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
    assert_fault(make(3, x, 0, NULL, 1, first_four), 0, "triangle 0 (nodes 0 1 2) is degenerate", "remesh");
}

static void check_names_nan_and_bad_index_and_nothing(void** state) {
    (void)state;
    ct_mesh* mesh = box(1, 1, 1);
    mesh->x[3 * 5 + 1] = NAN;
    assert_fault(mesh, 5, "position of node 5 is not a finite number", "correct");
    mesh = box(1, 1, 1);
    mesh->tet[6] = 17;
    assert_fault(mesh, 1, "node 17 of tet 1 is out of range: the mesh has 8 nodes", "0 to 7");
    assert_fault(make(0, NULL, 0, NULL, 0, NULL), -1, "the mesh is empty", "check the file");
    ct_error error;
    assert_int_equal(ct_mesh_check(NULL, NULL, &error), CT_BAD_ARGUMENT);
}

static void sheet_is_open_and_closed_surface_is_closed(void** state) {
    (void)state;
    ct_mesh_report report;
    ct_mesh* sheet =
        make(4, (double[12]){0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, 0, NULL, 2, (int[6]){0, 1, 2, 1, 3, 2});
    assert_int_equal(ct_mesh_check(sheet, &report, NULL), CT_OK);
    assert_false(report.closed_surface);
    assert_true(fabs(report.area - 1) < 1e-15);
    ct_mesh_free(sheet);
    ct_mesh* closed = make(4, unit_tet, 0, NULL, 4, &ct_tet_face[0][0]);
    assert_int_equal(ct_mesh_check(closed, &report, NULL), CT_OK);
    assert_true(report.closed_surface);
    assert_int_equal(report.worst_tet, -1);
    closed->tri[0] = 2, closed->tri[1] = 1;  // turned: no longer consistently oriented
    assert_int_equal(ct_mesh_check(closed, &report, NULL), CT_OK);
    assert_false(report.closed_surface);
    ct_mesh_free(closed);
}

static void repair_flips_and_drops_and_then_the_check_passes(void** state) {
    (void)state;
    const double x[18] = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 8, 8, 8};
    const int tet[8] = {1, 3, 2, 4, 1, 2, 2, 4};  // inverted; a node used twice
    ct_mesh* mesh = make(6, x, 2, tet, 1, (int[3]){1, 2, 3});
    mesh->tet_tag[0] = 5;
    assert_int_equal(ct_mesh_repair(mesh), 4);  // one tet dropped, one flipped, two nodes dropped
    assert_int_equal(mesh->nvert, 4);
    assert_int_equal(mesh->ntet, 1);
    assert_int_equal(mesh->tet_tag[0], 5);
    assert_int_equal(mesh->tri[2], 2);
    ct_mesh_report report;
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_true(fabs(report.volume - 1.0 / 6) < 1e-15);
    assert_int_equal(ct_mesh_repair(mesh), 0);
    ct_mesh_free(mesh);
}

// The check fills the report even when it finds a fault.
static void report_is_filled_for_a_faulty_mesh(void** state) {
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    ct_mesh* mesh = make(5, x, 1, first_four, 0, NULL);
    ct_mesh_report report;
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_BAD_MESH);
    assert_true(fabs(report.volume - 1.0 / 6) < 1e-15);
    assert_int_equal(report.surface_tri_count, 4);
    ct_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_known_volume_area_and_counts),
        cmocka_unit_test(box_tets_are_positive_and_equal),
        cmocka_unit_test(box_refuses_empty_or_flat),
        cmocka_unit_test(create_refuses_indices_out_of_range),
        cmocka_unit_test(copy_is_equal_and_independent),
        cmocka_unit_test(surface_points_outward),
        cmocka_unit_test(neighbors_are_mutual),
        cmocka_unit_test(edges_of_a_closed_surface_obey_euler),
        cmocka_unit_test(incidence_lists_every_element_at_its_nodes),
        cmocka_unit_test(regular_tet_has_quality_one),
        cmocka_unit_test(corner_tet_has_known_quality_and_angles),
        cmocka_unit_test(check_counts_slivers),
        cmocka_unit_test(check_names_inverted_tet),
        cmocka_unit_test(check_names_degenerate_tet),
        cmocka_unit_test(check_names_unused_node),
        cmocka_unit_test(check_names_node_of_triangle_only),
        cmocka_unit_test(check_names_duplicate_nodes_of_one_body),
        cmocka_unit_test(check_accepts_bodies_that_touch),
        cmocka_unit_test(check_names_face_of_three_tets),
        cmocka_unit_test(check_names_overlapping_tets),
        cmocka_unit_test(check_names_non_manifold_edge_of_tets),
        cmocka_unit_test(check_names_non_manifold_edge_of_sheet),
        cmocka_unit_test(check_names_degenerate_triangle),
        cmocka_unit_test(check_names_nan_and_bad_index_and_nothing),
        cmocka_unit_test(sheet_is_open_and_closed_surface_is_closed),
        cmocka_unit_test(repair_flips_and_drops_and_then_the_check_passes),
        cmocka_unit_test(report_is_filled_for_a_faulty_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
