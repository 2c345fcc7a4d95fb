// Node selection: each kind against a direct computation on a small scene of two boxes.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scene/scene.h"
#include "unit.h"

// Body 0 "left": [0,2]x[0,1]x[0,1], 3x2x2 nodes; body 1 "right": the same, shifted by 10 along x.
static ct_scene* two_boxes(void) {
    ct_scene* scene;
    ct_mesh* mesh;
    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    assert_int_equal(ct_mesh_box(&mesh, (double[]){2, 1, 1}, (int[]){2, 1, 1}, NULL), CT_OK);
    for (int b = 0; b < 2; b++) {
        ct_body_def def = ct_body_def_default();
        def.mesh = mesh;
        def.name = b ? "right" : "left";
        def.translate[0] = 10 * b;
        assert_int_equal(ct_scene_add_body(scene, &def, NULL, NULL), CT_OK);
    }
    ct_mesh_free(mesh);
    return scene;
}

static const double* node_x(const ct_scene* scene, int node) {
    const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, node)];
    return body->mesh->x + 3 * (node - body->first_node);
}

typedef bool (*member)(const ct_scene* scene, int node);

// The selection is exactly the nodes for which `is_member` holds, in order.
static void assert_selects(const ct_selector* selector, member is_member) {
    ct_scene* scene = two_boxes();
    int *nodes, count, expected = 0;
    ct_error error;
    if (ct_scene_select(scene, selector, &nodes, &count, &error)) fail_msg("%s", error.message);
    for (int node = 0; node < ct_scene_node_count(scene); node++) {
        if (!is_member(scene, node)) continue;
        assert_true(expected < count);
        assert_int_equal(nodes[expected++], node);
    }
    assert_int_equal(count, expected);
    ct_free(nodes);
    ct_scene_free(scene);
}

static bool anything(const ct_scene* scene, int node) { return scene && node >= 0; }
static bool on_x0(const ct_scene* scene, int node) { return node_x(scene, node)[0] == 0; }
static bool near_corner(const ct_scene* scene, int node) {
    const double* x = node_x(scene, node);
    return hypot(hypot(x[0], x[1]), x[2]) <= 1;
}
static bool past_12(const ct_scene* scene, int node) { return node_x(scene, node)[0] >= 12; }
static bool on_bottom_edge(const ct_scene* scene, int node) {
    const double* x = node_x(scene, node);
    return x[0] <= 2 && x[1] == 0 && x[2] == 0;
}
static bool in_right(const ct_scene* scene, int node) { return ct_scene_node_body(scene, node) == 1; }
static bool right_off_x10(const ct_scene* scene, int node) {
    return in_right(scene, node) && node_x(scene, node)[0] != 10;
}
static bool both_ends(const ct_scene* scene, int node) { return on_x0(scene, node) || past_12(scene, node); }

static void all_selects_every_node(void** state) {
    (void)state;
    ct_selector all = ct_selector_default();
    assert_selects(&all, anything);
    all.body = 1;
    assert_selects(&all, in_right);
}

static void box_includes_its_boundary(void** state) {
    (void)state;
    ct_selector box = {.kind = CT_SELECT_BOX, .body = -1, .a = {0, 0, 0}, .b = {0, 1, 1}};
    assert_selects(&box, on_x0);
}

static void sphere_includes_its_boundary(void** state) {
    (void)state;
    ct_selector sphere = {.kind = CT_SELECT_SPHERE, .body = -1, .radius = 1};
    assert_selects(&sphere, near_corner);
}

static void plane_keeps_the_side_of_its_normal(void** state) {
    (void)state;
    ct_selector plane = {.kind = CT_SELECT_PLANE, .body = -1, .a = {12, 5, 5}, .b = {30, 0, 0}};
    assert_selects(&plane, past_12);
}

static void capsule_follows_its_segment(void** state) {
    (void)state;
    ct_selector capsule = {
        .kind = CT_SELECT_CAPSULE, .body = -1, .a = {0, 0, 0}, .b = {2, 0, 0}, .radius = 0.5};
    assert_selects(&capsule, on_bottom_edge);
}

static void surface_of_a_box_one_cell_thick_is_every_node(void** state) {
    (void)state;
    ct_selector surface = {.kind = CT_SELECT_SURFACE, .body = -1};
    assert_selects(&surface, anything);
}

static void surface_leaves_out_inner_nodes(void** state) {
    (void)state;
    ct_scene* scene;
    ct_mesh* mesh;
    ct_scene_create(&scene, NULL);
    ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){2, 2, 2}, NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    ct_scene_add_body(scene, &def, NULL, NULL);
    int *nodes, count;
    ct_selector surface = {.kind = CT_SELECT_SURFACE, .body = -1};
    assert_int_equal(ct_scene_select(scene, &surface, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 26);
    ct_free(nodes);
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void combinations_nest_and_keep_to_their_body(void** state) {
    (void)state;
    ct_selector x10 = {.kind = CT_SELECT_BOX, .body = -1, .a = {10, 0, 0}, .b = {10, 1, 1}};
    ct_selector not_x10 = {.kind = CT_SELECT_NOT, .body = 1, .child = &x10, .nchild = 1};
    assert_selects(&not_x10, right_off_x10);
    ct_selector ends[2] = {{.kind = CT_SELECT_BOX, .body = -1, .b = {0, 1, 1}},
                           {.kind = CT_SELECT_PLANE, .body = -1, .a = {12, 0, 0}, .b = {1, 0, 0}}};
    ct_selector either = {.kind = CT_SELECT_OR, .body = -1, .child = ends, .nchild = 2};
    assert_selects(&either, both_ends);
    ct_selector pair[2] = {either, not_x10};
    ct_selector both = {.kind = CT_SELECT_AND, .body = -1, .child = pair, .nchild = 2};
    assert_selects(&both, past_12);
}

static void list_is_local_to_a_body_and_else_of_the_scene(void** state) {
    (void)state;
    ct_scene* scene = two_boxes();
    int *nodes, count, nleft = scene->body[0].mesh->nvert;
    ct_selector list = {.kind = CT_SELECT_LIST, .body = 1, .list = (int[]){4, 2}, .nlist = 2};
    assert_int_equal(ct_scene_select(scene, &list, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(nodes[0], nleft + 2);
    ct_free(nodes);
    list.body = -1;
    assert_int_equal(ct_scene_select(scene, &list, &nodes, &count, NULL), CT_OK);
    assert_int_equal(nodes[1], 4);
    ct_free(nodes);
    ct_error error;
    list.body = 1;
    list.list = (int[]){0, nleft};
    assert_int_equal(ct_scene_select(scene, &list, &nodes, &count, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "list[1]");
    assert_null(nodes);
    ct_scene_free(scene);
}

static void nearest_takes_the_lower_index_on_a_tie(void** state) {
    (void)state;
    ct_scene* scene = two_boxes();
    int *nodes, count;
    ct_selector nearest = {.kind = CT_SELECT_NEAREST, .body = -1, .a = {12.1, 0.5, 0.5}};
    assert_int_equal(ct_scene_select(scene, &nearest, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 1);
    assert_true(node_x(scene, nodes[0])[0] == 12);
    for (int node = 0; node < nodes[0]; node++) assert_true(node_x(scene, node)[0] < 12);
    ct_free(nodes);
    nearest.nlist = 4;
    assert_int_equal(ct_scene_select(scene, &nearest, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 4);
    for (int k = 0; k < 4; k++) assert_true(node_x(scene, nodes[k])[0] == 12);
    ct_free(nodes);
    nearest.nlist = 1000;
    ct_error error;
    assert_int_equal(ct_scene_select(scene, &nearest, &nodes, &count, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "count");
    ct_scene_free(scene);
}

static void tag_takes_the_nodes_of_its_tets(void** state) {
    (void)state;
    ct_scene* scene = two_boxes();
    ct_mesh* mesh = scene->body[1].mesh;
    mesh->tet_tag[0] = 9;
    int *nodes, count;
    ct_selector tag = {.kind = CT_SELECT_TAG, .body = -1, .tag = 9};
    assert_int_equal(ct_scene_select(scene, &tag, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 4);
    for (int k = 0; k < 4; k++) {
        bool found = false;
        for (int i = 0; i < 4; i++) found |= nodes[i] == scene->body[1].first_node + mesh->tet[k];
        assert_true(found);
    }
    ct_free(nodes);
    tag.tag = 10;
    ct_error error;
    assert_int_equal(ct_scene_select(scene, &tag, &nodes, &count, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "tag");
    ct_scene_free(scene);
}

// A side of a box of second order, by the tag of its triangles: corners and the nodes between them.
static void tag_takes_the_edges_of_its_triangles(void** state) {
    (void)state;
    ct_scene* scene;
    ct_mesh *box, *mesh;
    int *tri, *nodes, ntri, count, side = 0;
    assert_int_equal(ct_mesh_box(&box, (double[]){2, 1, 1}, (int[]){2, 2, 1}, NULL), CT_OK);
    assert_int_equal(ct_mesh_surface(box, &tri, &ntri, NULL), CT_OK);
    assert_int_equal(ct_mesh_create(&mesh, box->nvert, box->x, box->ntet, box->tet, ntri, tri, NULL), CT_OK);
    for (int t = 0; t < ntri; t++) {
        bool at_end = true;
        for (int k = 0; k < 3; k++) at_end &= mesh->x[3 * mesh->tri[3 * t + k]] == 2;
        mesh->tri_tag[t] = at_end ? 9 : 8;
    }
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.order = 2;
    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, NULL), CT_OK);
    ct_selector tag = {.kind = CT_SELECT_TAG, .body = -1, .tag = 9};
    assert_int_equal(ct_scene_select(scene, &tag, &nodes, &count, NULL), CT_OK);
    for (int node = 0; node < ct_scene_node_count(scene); node++) side += node_x(scene, node)[0] == 2;
    assert_int_equal(side, 15);
    assert_int_equal(count, side);
    for (int i = 0; i < count; i++) assert_true(node_x(scene, nodes[i])[0] == 2);
    ct_free(nodes);
    ct_free(tri);
    ct_mesh_free(box);
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

static void rotated_face_is_found_in_spite_of_round_off(void** state) {
    (void)state;
    ct_scene* scene;
    ct_mesh* mesh;
    ct_scene_create(&scene, NULL);
    ct_mesh_box(&mesh, (double[]){0.7, 0.3, 0.1}, (int[]){3, 3, 3}, NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    double half = 37 * M_PI / 360, axis = 1 / sqrt(3.0);
    memcpy(def.rotate, (double[]){cos(half), sin(half) * axis, sin(half) * axis, sin(half) * axis},
           sizeof def.rotate);
    ct_scene_add_body(scene, &def, NULL, NULL);
    // The face x = 0 lies in the plane through the origin whose normal is the rotated -x axis.
    double w = cos(half), u = sin(half) * axis;
    double normal[3] = {-(w * w + u * u - u * u - u * u), -(2 * u * u + 2 * w * u), -(2 * u * u - 2 * w * u)};
    ct_selector plane = {.kind = CT_SELECT_PLANE, .body = -1};
    memcpy(plane.b, normal, sizeof normal);
    int *nodes, count;
    assert_int_equal(ct_scene_select(scene, &plane, &nodes, &count, NULL), CT_OK);
    assert_int_equal(count, 16);
    ct_free(nodes);
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------
// Errors

static void assert_refused(const ct_selector* selector, const char* path, const char* words) {
    ct_scene* scene = two_boxes();
    int *nodes, count;
    ct_error error;
    assert_int_equal(ct_scene_select(scene, selector, &nodes, &count, &error), CT_BAD_SCENE);
    assert_null(nodes);
    assert_string_equal(error.path, path);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    ct_scene_free(scene);
}

static void empty_selection_says_where_the_nodes_are(void** state) {
    (void)state;
    ct_selector box = {.kind = CT_SELECT_BOX, .body = 1, .a = {0, 0, 0}, .b = {1, 1, 1}};
    assert_refused(&box, "", "body \"right\" spans [10, 0, 0] to [12, 1, 1]");
    box.a[2] = 3, box.b[2] = 4, box.body = -1;
    assert_refused(&box, "", "the scene spans [0, 0, 0] to [12, 1, 1]");
}

static void bad_selectors_are_named_with_their_place(void** state) {
    (void)state;
    ct_selector box = {.kind = CT_SELECT_BOX, .body = -1, .a = {1, 0, 0}, .b = {0, 1, 1}};
    assert_refused(&box, "box", "swap them");
    ct_selector list[2] = {ct_selector_default(), box};
    ct_selector and = {.kind = CT_SELECT_AND, .body = -1, .child = list, .nchild = 2};
    ct_selector not = {.kind = CT_SELECT_NOT, .body = -1, .child = &and, .nchild = 1};
    assert_refused(&not, "not.and[1].box", "not.and[1].box has its first corner");
    ct_selector sphere = {.kind = CT_SELECT_SPHERE, .body = -1, .radius = NAN};
    assert_refused(&sphere, "sphere", "radius");
    ct_selector plane = {.kind = CT_SELECT_PLANE, .body = -1};
    assert_refused(&plane, "plane", "normal of length 0");
    ct_selector body = {.kind = CT_SELECT_ALL, .body = 2};
    assert_refused(&body, "body", "bodies 0 to 1");
    ct_selector none = {.kind = CT_SELECT_OR, .body = -1};
    assert_refused(&none, "or", "at least one");
}

static void endless_nesting_is_refused(void** state) {
    (void)state;
    ct_selector loop = {.kind = CT_SELECT_NOT, .body = -1, .nchild = 1};
    loop.child = &loop;
    ct_scene* scene = two_boxes();
    int *nodes, count;
    ct_error error;
    assert_int_equal(ct_scene_select(scene, &loop, &nodes, &count, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "nested more than"));
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_selects_every_node),
        cmocka_unit_test(box_includes_its_boundary),
        cmocka_unit_test(sphere_includes_its_boundary),
        cmocka_unit_test(plane_keeps_the_side_of_its_normal),
        cmocka_unit_test(capsule_follows_its_segment),
        cmocka_unit_test(surface_of_a_box_one_cell_thick_is_every_node),
        cmocka_unit_test(surface_leaves_out_inner_nodes),
        cmocka_unit_test(combinations_nest_and_keep_to_their_body),
        cmocka_unit_test(list_is_local_to_a_body_and_else_of_the_scene),
        cmocka_unit_test(nearest_takes_the_lower_index_on_a_tie),
        cmocka_unit_test(tag_takes_the_nodes_of_its_tets),
        cmocka_unit_test(tag_takes_the_edges_of_its_triangles),
        cmocka_unit_test(rotated_face_is_found_in_spite_of_round_off),
        cmocka_unit_test(empty_selection_says_where_the_nodes_are),
        cmocka_unit_test(bad_selectors_are_named_with_their_place),
        cmocka_unit_test(endless_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
