// Finding contacts: rules, round obstacles, degenerate surfaces, compiled scenes; memory and the past change
// nothing.
#include "detect_checks.h"
#include "model/model.h"

static size_t count_near(const surfaces* s, double margin) {
    ct_detect* detect = detect_of(s);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&s->collision, detect, s->x, 0, margin, &near), CT_OK);
    const size_t count = near.count;
    ct_pairs_free(&near);
    ct_detect_free(detect);
    return count;
}

static void rigid_and_forbidden_pairs_are_left_out(void** state) {
    for (int rule = 0; rule < 7; rule++) {
        surfaces s = {0};
        const bool free = rule != 1;
        const double lo[3] = {-1, -1, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {-0.7, -0.6, 1.01},
                     upper_hi[3] = {0.8, 0.9, 2};
        new_box(&s, lo, hi, 0.005, free);
        new_box(&s, upper_lo, upper_hi, 0.005, free);
        allow_all(&s, true);
        const int parent[3] = {-1, 0, 1};
        s.collision.link_parent = parent;
        if (rule == 2) s.collision.collide[1] = s.collision.collide[2] = 0;
        // 3: one link; 4: parent and child; 5: grandparent and grandchild; 6: one link and half of the other
        // body
        if (rule >= 3)
            for (int v = 0; v < 16; v++) {
                if (rule == 6 && v >= 12) continue;
                s.rigid[v] = v < 8 || rule == 3 || rule == 6 ? 0 : rule == 4 ? 1 : 2;
            }
        const size_t count = count_near(&s, 0.001);
        if (rule == 0 || rule == 5) assert_true(count > 3);
        else assert_int_equal(count, 0);  // 6: its lower face is on the link
        free_surfaces(&s);
    }
}

// Ends of a capsule over a face, an edge and a vertex of a body; its middle over an edge and a vertex.
static void round_obstacles_meet_every_feature(void** state) {
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    const struct {
        double a[3], b[3];
        ct_contact_type type;
    } capsule[] = {
        {{0.6, 0.3, 1.1}, {0.6, 0.3, 3}, CT_CONTACT_TYPE_VERTEX_FACE},
        // beside the face x = 0, which its diagonal crosses
        {{-0.1, 0.4, 2}, {-0.1, 0.4, -2}, CT_CONTACT_TYPE_EDGE_EDGE},
        {{1.07, 1.07, -1}, {1.07, 1.07, 3}, CT_CONTACT_TYPE_POINT_EDGE},    // along a vertical edge
        {{0.06, 0.4, 2.06}, {2.06, 0.5, 0.06}, CT_CONTACT_TYPE_EDGE_EDGE},  // across a horizontal edge
        {{1.03 - 1, 1.06 + 1, 1.06},
         {1.03 + 1, 1.06 - 1, 1.06},
         CT_CONTACT_TYPE_POINT_EDGE},  // across a corner
        {{1.05, 1.05, 1.05}, {2, 2, 2}, CT_CONTACT_TYPE_POINT_POINT},
        {{1.05, 1.05, 0.4}, {2, 2, 0.4}, CT_CONTACT_TYPE_POINT_EDGE},
    };
    for (size_t k = 0; k < sizeof capsule / sizeof *capsule; k++) {
        surfaces s = {0};
        new_box(&s, lo, hi, 0.001, true);
        const int c = new_collider(&s, 0, 0.1);
        const int a = new_node(&s, c, capsule[k].a[0], capsule[k].a[1], capsule[k].a[2], false);
        const int b = new_node(&s, c, capsule[k].b[0], capsule[k].b[1], capsule[k].b[2], false);
        new_edge(&s, c, a, b);
        allow_all(&s, true);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.01, &near), CT_OK);
        bool found = false;
        for (size_t i = 0; i < near.count; i++) found |= near.item[i].type == capsule[k].type;
        assert_true(found);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

static void lists_keep_their_memory_and_repeat_exactly(void** state) {
    surfaces s = {0};
    disorder(&s, 4, 0.02);
    double* end = moved(&s, 0.05);
    ct_detect *detect = detect_of(&s), *other = detect_of(&s);
    ct_pairs near = {0}, hits = {0}, again = {0};
    assert_int_equal(ct_detect_near(&s.collision, detect, end, 0, 0.05, &near), CT_OK);
    assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &hits), CT_OK);
    const ct_pair *memory = near.item, *hit_memory = hits.item;
    const size_t capacity = near.capacity, count = near.count;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(ct_detect_near(&s.collision, detect, end, 0, 0.05, &near), CT_OK);
        assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &hits), CT_OK);
        assert_true(near.item == memory && near.capacity == capacity && near.count == count &&
                    hits.item == hit_memory);
        assert_int_equal(ct_detect_near(&s.collision, other, end, 0, 0.05, &again), CT_OK);
        assert_int_equal(again.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_memory_equal(again.item[i].node, near.item[i].node, sizeof near.item[i].node);
            assert_true(again.item[i].type == near.item[i].type && again.item[i].sign == near.item[i].sign);
        }
    }
    free(end);
    ct_pairs_free(&near), ct_pairs_free(&hits), ct_pairs_free(&again);
    ct_detect_free(detect), ct_detect_free(other);
    free_surfaces(&s);
}

static void assert_same_pairs(const ct_pairs* a, const ct_pairs* b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const ct_pair *p = a->item + i, *q = b->item + i;
        assert_true(p->type == q->type && p->plane == q->plane &&
                    memcmp(p->node, q->node, sizeof p->node) == 0);
        assert_true(p->sign == q->sign && p->time == q->time &&
                    memcmp(p->side, q->side, sizeof p->side) == 0);
    }
}

// Within what was gathered, and out of it.
static void gathering_changes_nothing(void** state) {
    surfaces s = {0};
    disorder(&s, 6, 0.02);
    double *ahead = moved(&s, 0.05), *far = moved(&s, 0.2);
    ct_detect *detect = detect_of(&s), *other = detect_of(&s);
    ct_pairs pairs = {0}, plain = {0};
    assert_int_equal(ct_detect_gather(&s.collision, detect, s.x, ahead, 0.05, 0.01), CT_OK);
    const long gathered = detect->gathered;
    assert_true(gathered > 0);
    const double* end[3] = {ahead, s.x, far};
    size_t found = 0;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(ct_detect_near(&s.collision, detect, end[k], 0, 0.05, &pairs), CT_OK);
        assert_int_equal(ct_detect_near(&s.collision, other, end[k], 0, 0.05, &plain), CT_OK);
        assert_same_pairs(&pairs, &plain);
        found += pairs.count;
        assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end[k], 0, 0.1, &pairs), CT_OK);
        assert_int_equal(ct_detect_hits(&s.collision, other, s.x, end[k], 0, 0.1, &plain), CT_OK);
        assert_same_pairs(&pairs, &plain);
        int where[5] = {0}, plain_where[5] = {0};
        const int count = ct_detect_intersections(&s.collision, detect, end[k], where);
        assert_int_equal(ct_detect_intersections(&s.collision, other, end[k], plain_where), count);
        assert_memory_equal(where, plain_where, sizeof where);
        if (k < 2) assert_int_equal(detect->gathered, gathered);  // within its reach
    }
    assert_true(found > 20 && detect->gathered > gathered);
    free(ahead);
    free(far);
    ct_pairs_free(&pairs);
    ct_pairs_free(&plain);
    ct_detect_free(detect);
    ct_detect_free(other);
    free_surfaces(&s);
}

// A strip of 40 x 5 cells on its way: 0: turns and waves, 1: rolls up until it meets itself, 2: is crumpled,
// 3: is torn apart by noise.
static void place_strip(const surfaces* s, int kind, double t, double* x) {
    for (int v = 0; v < s->collision.nvert; v++) {
        double a = s->x[3 * v], b = s->x[3 * v + 1], c = s->x[3 * v + 2];
        if (kind == 0) {
            c += 0.01 * sin(20 * a + t);
            const double turned = cos(3 * t) * a - sin(3 * t) * c;
            c = sin(3 * t) * a + cos(3 * t) * c;
            a = turned + 5 * t;
        } else if (kind == 1) {
            const double bend = 1 + 13 * t, far = 1 / bend - c;
            c = 1 / bend - far * cos(bend * a), a = far * sin(bend * a) + 0.2 * b;
        } else if (kind == 2) {
            c += 0.08 * t * sin(60 * a + 17 * b), a *= 1 - 0.7 * t;
        } else {
            a += 0.1 * t * sin(91.0 * v), b += 0.1 * t * sin(57.0 * v * v), c += 0.1 * t * sin(131.0 * v + 1);
        }
        x[3 * v] = a, x[3 * v + 1] = b, x[3 * v + 2] = c;
    }
}

// Searches that have kept distances from before find the same as one that knows nothing, bit for bit.
static void the_past_changes_nothing(void** state) {
    for (int kind = 0; kind < 4; kind++) {
        surfaces s = {0};
        const int c = new_collider(&s, 0.004, 0);
        for (int j = 0; j <= 5; j++)
            for (int i = 0; i <= 40; i++) new_node(&s, c, 0.025 * i, 0.025 * j, 0, true);
        for (int j = 0; j < 5; j++)
            for (int i = 0; i < 40; i++) {
                const int a = 41 * j + i;
                new_triangle(&s, c, a, a + 1, a + 42);
                new_triangle(&s, c, a, a + 42, a + 41);
            }
        allow_all(&s, true);
        const size_t bytes = 3 * (size_t)s.collision.nvert * sizeof(double);
        double *x = malloc(bytes), *end = malloc(bytes);
        ct_detect* warm = detect_of(&s);
        ct_pairs near = {0}, hits = {0}, plain_near = {0}, plain_hits = {0};
        size_t found = 0;
        for (int k = 0; k < 60; k++) {
            place_strip(&s, kind, k / 60.0, x);
            place_strip(&s, kind, (k + (k % 5 == 4 ? 3 : 1)) / 60.0, end);
            ct_detect* plain = detect_of(&s);
            assert_int_equal(ct_detect_near(&s.collision, warm, x, 0, 0.008, &near), CT_OK);
            assert_int_equal(ct_detect_near(&s.collision, plain, x, 0, 0.008, &plain_near), CT_OK);
            assert_same_pairs(&near, &plain_near);
            assert_int_equal(ct_detect_hits(&s.collision, warm, x, end, 0, 0.1, &hits), CT_OK);
            assert_int_equal(ct_detect_hits(&s.collision, plain, x, end, 0, 0.1, &plain_hits), CT_OK);
            assert_same_pairs(&hits, &plain_hits);
            int where[5] = {0}, plain_where[5] = {0};
            const int count = ct_detect_intersections(&s.collision, warm, end, where);
            assert_int_equal(ct_detect_intersections(&s.collision, plain, end, plain_where), count);
            assert_memory_equal(where, plain_where, sizeof where);
            found += near.count + hits.count + (size_t)count;
            ct_detect_free(plain);
        }
        if (kind == 0) assert_true(found == 0 && warm->gathered < 10);
        else assert_true(found > 500);
        ct_pairs_free(&near), ct_pairs_free(&hits), ct_pairs_free(&plain_near), ct_pairs_free(&plain_hits);
        ct_detect_free(warm);
        free(x), free(end);
        free_surfaces(&s);
    }
}

// Zero-area triangles, coincident nodes, no motion: no crash, no pair of a vertex and a face without area.
static void degenerate_surfaces_are_edges_and_points(void** state) {
    surfaces s = {0};
    const int c = new_collider(&s, 0.01, 0);
    for (int i = 0; i < 3; i++) new_node(&s, c, i, 0, 0, true);
    for (int i = 0; i < 3; i++) new_node(&s, c, 5, 5, 5, true);
    new_triangle(&s, c, 0, 1, 2);
    new_triangle(&s, c, 3, 4, 5);
    const int d = new_collider(&s, 0.01, 0);
    const int v = new_node(&s, d, 0.5, 0, 0.015, true), w = new_node(&s, d, 5, 5, 5.015, true);
    allow_all(&s, false);
    ct_detect* detect = detect_of(&s);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0, &near), CT_OK);
    for (size_t i = 0; i < near.count; i++) assert_true(near.item[i].type >= CT_CONTACT_TYPE_POINT_EDGE);
    bool edge = false, point = false;
    for (size_t i = 0; i < near.count; i++) {
        edge |= near.item[i].node[0] == v && near.item[i].type == CT_CONTACT_TYPE_POINT_EDGE;
        point |= near.item[i].node[1] == w && near.item[i].type == CT_CONTACT_TYPE_POINT_POINT;
    }
    assert_true(edge && point);
    ct_pairs_free(&near);
    ct_detect_free(detect);
    free_surfaces(&s);
}

// A box of 3 x 3 x 3 cells on a plane, under a ball, beside a capsule: as a scene compiles them.
static void compiled_scenes_are_detected(void** state) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    const ct_material material = ct_material_default();
    const double size[3] = {0.3, 0.3, 0.3};
    const int cells[3] = {3, 3, 3};
    ct_error error = {0};
    int body = add_box(scene, size, cells, &material);
    ct_obstacle_def def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_PLANE;
    def.normal[0] = def.normal[1] = 0, def.normal[2] = 1;
    def.center[2] = -1e-4;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
    def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_SPHERE;
    def.radius = 0.05;
    def.center[0] = 0.13, def.center[1] = 0.16, def.center[2] = 0.3502;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
    def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_CAPSULE;
    def.radius = 0.02;
    for (int k = 0; k < 2; k++)
        def.ends[k][0] = 0.3202, def.ends[k][1] = 0.04 + 0.21 * k, def.ends[k][2] = 0.16 + 0.02 * k;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
    ct_model* model = NULL;
    must(ct_model_create(&model, scene, &error), &error);
    ct_detect* detect = NULL;
    assert_int_equal(ct_detect_create(&detect, &model->collision), CT_OK);
    assert_true(detect->closed[body] && !ct_model_is_driven(model, body));
    for (int c = 1; c < model->collision.ncollider; c++)
        assert_true(!detect->closed[c] && ct_model_is_driven(model, c));
    assert_int_equal(detect->nface, model->collision.ntri + 2);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&model->collision, detect, model->geometry.rest, 0, 4e-4, &near), CT_OK);
    int plane = 0, ball = 0, edges = 0;
    for (size_t i = 0; i < near.count; i++) {
        const ct_pair* p = near.item + i;
        plane += p->type == CT_CONTACT_TYPE_PLANE && p->a == body && p->b == 1 &&
                 model->geometry.rest[3 * p->node[0] + 2] == 0;
        ball += p->type == CT_CONTACT_TYPE_VERTEX_FACE && p->a == 2 && p->b == body && p->sign == 1;
        edges += p->type == CT_CONTACT_TYPE_EDGE_EDGE && (p->a == 3 || p->b == 3);
    }
    assert_int_equal(plane, 16);
    assert_int_equal(ball, 1);
    assert_true(edges >= 3);
    assert_int_equal(ct_detect_intersections(&model->collision, detect, model->geometry.rest, NULL), 0);
    ct_pairs_free(&near);
    ct_detect_free(detect);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void a_scene_without_colliders_has_no_contacts(void** state) {
    surfaces s = {0};
    allow_all(&s, true);
    ct_detect* detect = detect_of(&s);
    ct_pairs pairs = {0};
    double x[3] = {0};
    assert_int_equal(ct_detect_near(&s.collision, detect, x, 0, 1, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_hits(&s.collision, detect, x, x, 0, 0.1, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_intersections(&s.collision, detect, x, NULL), 0);
    ct_pairs_free(&pairs);
    ct_detect_free(detect);
    free_surfaces(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_and_forbidden_pairs_are_left_out),
        cmocka_unit_test(round_obstacles_meet_every_feature),
        cmocka_unit_test(lists_keep_their_memory_and_repeat_exactly),
        cmocka_unit_test(gathering_changes_nothing),
        cmocka_unit_test(the_past_changes_nothing),
        cmocka_unit_test(degenerate_surfaces_are_edges_and_points),
        cmocka_unit_test(compiled_scenes_are_detected),
        cmocka_unit_test(a_scene_without_colliders_has_no_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
