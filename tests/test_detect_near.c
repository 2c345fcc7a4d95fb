// Finding contacts: lists of pairs that are near hold what they should and nothing else.
#include "detect_checks.h"

static void vertex_above_a_face_is_one_pair_on_its_side(void** state) {
    for (int side = -1; side <= 1; side += 2) {
        surfaces s = {0};
        new_sheet(&s, -1, 1, 0, 2, 0.01, false);  // nodes 0..8; triangle (4, 5, 8) is right of the middle
        const int ball = new_collider(&s, 0.005, 0.1);
        const int v = new_node(&s, ball, 0.7, 0.3, side * 0.12, true);
        allow_all(&s, false);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.01, &near), CT_OK);
        assert_int_equal(near.count, 1);
        const ct_pair* p = find(&near, CT_CONTACT_TYPE_VERTEX_FACE, v, 4, 5, 8);
        assert_non_null(p);
        assert_true(p->sign == side);
        assert_int_equal(p->a, ball);
        assert_int_equal(p->b, 0);
        assert_float_equal(p->thickness, 0.115, 1e-15);
        assert_float_equal(p->core, 0.1075, 1e-15);
        assert_true(p->friction == 0.3);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

static ct_vec3 place_of(const surfaces* s, int v) { return ct_vec3_load(s->x + 3 * v); }

// From the second to the first of a pair's own features.
static ct_vec3 pair_apart(const surfaces* s, const ct_pair* p) {
    ct_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = p->node[k] >= 0 ? place_of(s, p->node[k]) : x[k - 1];
    switch (p->type) {
    case CT_CONTACT_TYPE_EDGE_EDGE: return ct_closest_edges(x).apart;
    case CT_CONTACT_TYPE_POINT_POINT: return ct_vec3_sub(x[0], x[1]);
    default: return ct_closest_point_triangle(x).apart;  // an edge: without area
    }
}

static double feature_distance(const surfaces* s, const ct_pair* p) { return ct_vec3_norm(pair_apart(s, p)); }

// The surface at the features of b[0..count-1] that carry weight comes no nearer to q than d: they are where
// it is closest.
static bool is_closest(const surfaces* s, ct_vec3 q, const int* b, const double* weight, int count,
                       double d) {
    const ct_collision* c = &s->collision;
    for (int i = 0; i < c->ntri; i++) {
        const int* tri = c->tri + 3 * i;
        bool holds = true;
        for (int k = 0; k < count; k++)
            holds &= weight[k] == 0 || tri[0] == b[k] || tri[1] == b[k] || tri[2] == b[k];
        if (!holds) continue;
        ct_vec3 x[4] = {q};
        for (int k = 0; k < 3; k++) x[k + 1] = place_of(s, tri[k]);
        if (ct_closest_point_triangle(x).distance < d * (1 - 1e-9)) return false;
    }
    return true;
}

// The same for an edge, and for points a little to both sides of q: it is no edge in a level surface.
static bool edge_is_closest(const surfaces* s, ct_vec3 q, const int edge[2], const double* weight) {
    const ct_vec3 a = place_of(s, edge[0]), b = place_of(s, edge[1]);
    const ct_vec3 apart = ct_closest_point_triangle((ct_vec3[4]){q, a, b, b}).apart;
    const ct_vec3 aside = ct_vec3_scale(1.1e-3, ct_vec3_cross(ct_vec3_normalise(ct_vec3_sub(b, a)), apart));
    for (int sign = -1; sign <= 1; sign += 2) {
        const ct_vec3 p = ct_vec3_axpy(q, sign, aside);
        const double d = ct_closest_point_triangle((ct_vec3[4]){p, a, b, b}).distance;
        if (!is_closest(s, p, edge, weight, 2, d)) return false;
    }
    return true;
}

typedef struct near_rule {
    double margin;
    int count[2];  // how many were asked for, of each kind
} near_rule;

// What is near and is where the surface is closest has a pair not farther, in the same direction: of this
// vertex and this face's collider, or of these edges. Two vertices must be closest to one another, of two
// edges one to the other's point; nearly parallel edges are not asked for. An edge whose ends both have a
// face of the collider.
static bool ends_have_faces(const ct_pairs* pairs, const int edge[2], int collider) {
    int found[2] = {0, 0};
    for (size_t i = 0; i < pairs->count; i++)
        for (int k = 0; k < 2; k++)
            found[k] += pairs->item[i].type == CT_CONTACT_TYPE_VERTEX_FACE &&
                        pairs->item[i].node[0] == edge[k] && pairs->item[i].b == collider;
    return found[0] && found[1];
}

static void assert_near_listed(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind,
                               const ct_pairs* pairs, void* user) {
    near_rule* rule = user;
    const int first = kind == CT_CCD_VERTEX_FACE ? 1 : 2, b = owner_of(s, node[2]);
    const double limit = reach(s, owner_of(s, node[0]), b, false) + rule->margin;
    ct_vec3 at[4];
    for (int k = 0; k < 4; k++) at[k] = place_of(s, node[k]);
    const ct_closest closest = closest_at(s, end, node, kind, 0);
    if (closest.distance > 1.001 * limit) return;
    if (first == 2 && (closest.mask != CT_CLOSEST_ALL || closest.sine < 0.02)) return;
    const ct_vec3 q = ct_vec3_axpy(ct_vec3_scale(closest.w[0], at[0]), first == 2 ? closest.w[1] : 0, at[1]);
    const bool mutual = first == 2 || (closest.mask != 3 && closest.mask != 5 && closest.mask != 9) ||
                        is_closest(s, ct_vec3_sub(q, closest.apart), node, closest.w, 1, closest.distance);
    const bool needed = first == 1 ? mutual && is_closest(s, q, node + 1, closest.w + 1, 3, closest.distance)
                                   : edge_is_closest(s, q, node + 2, closest.w + 2) ||
                                         edge_is_closest(s, ct_vec3_sub(q, closest.apart), node, closest.w);
    if (!needed) return;
    rule->count[first - 1]++;
    if (first == 2 &&
        (ends_have_faces(pairs, node, b) || ends_have_faces(pairs, node + 2, owner_of(s, node[0]))))
        return;
    for (size_t i = 0; i < pairs->count; i++) {
        const ct_pair* p = pairs->item + i;
        if (first == 2) {
            if (p->type == CT_CONTACT_TYPE_EDGE_EDGE && memcmp(p->node, node, sizeof p->node) == 0) return;
            continue;
        }
        if (p->type == CT_CONTACT_TYPE_EDGE_EDGE) continue;
        const bool turned = p->type == CT_CONTACT_TYPE_POINT_POINT && p->node[1] == node[0];
        if ((!turned && p->node[0] != node[0]) || (turned ? p->a : p->b) != b) continue;
        const ct_vec3 apart = ct_vec3_scale(turned ? -1 : 1, pair_apart(s, p));
        const double distance = ct_vec3_norm(apart), along = ct_vec3_dot(apart, closest.apart);
        if (distance < 1.03 * closest.distance && along > 0.999 * distance * closest.distance) return;
    }
    fail_msg("nothing stands for nodes %d %d %d %d", node[0], node[1], node[2], node[3]);
}

static void near_lists_what_is_near_and_nothing_else(void** state) {
    near_rule rule = {.margin = 0.02};
    for (int round = 0; round < 60; round++) {
        surfaces s = {0};
        disorder(&s, 4, 0.01);
        const double margin = rule.margin;
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, margin, &near), CT_OK);
        assert_sorted(&near);
        for_all(&s, s.x, &near, assert_near_listed, &rule);
        for (size_t i = 0; i < near.count; i++) {
            const ct_pair* p = near.item + i;
            assert_true(feature_distance(&s, p) <= (p->thickness + margin) * 1.0011);
            assert_float_equal(p->thickness, reach(&s, p->a, p->b, false), 1e-15);
            assert_float_equal(p->core, reach(&s, p->a, p->b, true), 1e-15);
            assert_int_equal(p->a, owner_of(&s, p->node[0]));
        }
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
    assert_true(rule.count[0] > 500 && rule.count[1] > 500);
}

// A ridge of three nodes, bent by `kink` in the middle; its sides fall by `slope`.
static void new_ridge(surfaces* s, double kink, double slope) {
    const int c = new_collider(s, 1e-4, 0);
    for (int row = -1; row <= 1; row++)
        for (int i = -1; i <= 1; i++)
            new_node(s, c, 0.01 * i, 0.01 * row, -0.01 * (kink * abs(i) + slope * abs(row)), true);
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < 2; i++) {
            const int a = 3 * row + i;
            new_triangle(s, c, a, a + 1, a + 4);
            new_triangle(s, c, a, a + 4, a + 3);
        }
}

// A large ball rolls over nodes and edges that hardly stand out, or not at all: the nearest gap is always in
// the list.
static void a_ball_never_sinks_between_features(void** state) {
    const double bend[] = {0, 1e-9, 1e-5, 2e-4, 6e-4, 9.9e-4, 1.01e-3, 1.5e-3, 3e-3, 0.1};
    for (int trial = 0; trial < 100 * 25; trial++) {
        surfaces s = {0};
        const double kink = bend[trial % 10], slope = trial / 10 % 2 ? 0.8 : bend[trial / 20 % 10];
        new_ridge(&s, kink, slope);
        const int ball = new_collider(&s, 1e-4, 0.5);
        // towards the middle node, within the cone of the features' normals and a little beyond; the first:
        // straight above
        const double u = trial < 100 ? 0 : 2 * kink * uniform(),
                     w = trial < 200 ? 0 : 1.2 * slope * uniform(), far = 0.5002;
        const double size = sqrt(1 + u * u + w * w);
        const int v = new_node(&s, ball, far * u / size, far * w / size, far / size, true);
        allow_all(&s, false);
        double least = INFINITY, found = INFINITY;
        const ct_collision* c = &s.collision;
        for (int t = 0; t < c->ntri; t++) {
            const int node[4] = {v, c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
            least = fmin(least, closest_at(&s, s.x, node, CT_CCD_VERTEX_FACE, 0).distance);
        }
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 1e-4, &near), CT_OK);
        for (size_t i = 0; i < near.count; i++) found = fmin(found, feature_distance(&s, near.item + i));
        assert_float_equal(found, least, 1e-5 * least);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

static ct_closest segment_pair(const surfaces* s, int p, int a, int b) {
    return ct_closest_point_triangle((ct_vec3[4]){ct_vec3_load(s->x + 3 * p), ct_vec3_load(s->x + 3 * a),
                                                  ct_vec3_load(s->x + 3 * b), ct_vec3_load(s->x + 3 * b)});
}

// The smallest gap in the list is the smallest gap there is: for spheres, capsules and meshes in disorder.
static void the_smallest_gap_is_in_the_list(void** state) {
    for (int round = 0; round < 300; round++) {
        surfaces s = {0};
        disorder(&s, 2, 0.01);
        const ct_collision* c = &s.collision;
        double least = INFINITY, found = INFINITY;
        for (int i = 0; i < c->nnode; i++) {
            const int p = c->node[i];
            for (int j = 0; j < i; j++) {
                const int pair[2] = {p, c->node[j]};
                if (driven(&s, pair, 2) || c->node_owner[i] == c->node_owner[j]) continue;
                const double far = segment_pair(&s, p, c->node[j], c->node[j]).distance;
                least = fmin(least, far - reach(&s, c->node_owner[i], c->node_owner[j], false));
            }
            for (int e = 0; e < c->nedge; e++) {
                const int pair[3] = {p, c->edge[2 * e], c->edge[2 * e + 1]};
                if (driven(&s, pair, 3) || c->node_owner[i] == c->edge_owner[e]) continue;
                least = fmin(least, segment_pair(&s, p, pair[1], pair[2]).distance -
                                        reach(&s, c->node_owner[i], c->edge_owner[e], false));
            }
        }
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.5, &near), CT_OK);
        for (size_t i = 0; i < near.count; i++)
            if (near.item[i].a != near.item[i].b)
                found = fmin(found, feature_distance(&s, near.item + i) - near.item[i].thickness);
        // faces and crossing edges may be nearer still
        assert_true(found <= least + 1e-14);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

static void planes_meet_free_vertices(void** state) {
    surfaces s = {0};
    const double lo[3] = {0, 0, 0.01}, hi[3] = {1, 1, 1}, point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    new_box(&s, lo, hi, 0.002, true);
    new_node(&s, new_collider(&s, 0, 0.5), 0, 0, 0.3, false);  // driven: never
    const int ground = new_collider(&s, 0.001, 0);
    new_plane(&s, ground, point, up);
    allow_all(&s, true);
    s.collision.collide[1] = s.collision.collide[3] = 0;  // box and sphere
    ct_detect* detect = detect_of(&s);
    ct_pairs pairs = {0};
    assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.005, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.0071, &pairs), CT_OK);
    assert_int_equal(pairs.count, 4);
    for (int v = 0; v < 4; v++) {
        const ct_pair* p = pairs.item + v;
        assert_true(p->type == CT_CONTACT_TYPE_PLANE && p->plane == 0 && p->node[0] == v &&
                    p->node[1] == -1 && p->sign == 1);
        assert_true(p->a == 0 && p->b == ground);
        assert_float_equal(p->thickness, 0.003, 1e-17);
        assert_float_equal(p->core, 0.0015, 1e-17);
    }
    // falling: near where it leads, a hit when the end is too deep
    double* end = moved(&s, 0);
    end[2] = 0.0029;
    end[3 + 2] = 0.0026;
    assert_int_equal(ct_detect_near(&s.collision, detect, end, 0, 0, &pairs), CT_OK);
    assert_int_equal(pairs.count, 2);
    assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &pairs), CT_OK);
    assert_int_equal(pairs.count, 1);
    assert_int_equal(pairs.item[0].node[0], 1);
    free(end);
    ct_pairs_free(&pairs);
    ct_detect_free(detect);
    free_surfaces(&s);
}

// Two boxes placed exactly upon one another, with the same corners: every pair pushes the upper one up.
static void touching_surfaces_part_outward(void** state) {
    for (int shift = 0; shift < 3; shift++) {
        surfaces s = {0};
        const double a = 0.3 * (shift > 0), b = 0.2 * (shift > 1);
        const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {a, b, 1},
                     upper_hi[3] = {1 + a, 1 + b, 2};
        new_box(&s, lo, hi, 0.001, true);
        new_box(&s, upper_lo, upper_hi, 0.001, true);
        allow_all(&s, true);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.001, &near), CT_OK);
        int faces = 0;
        for (size_t i = 0; i < near.count; i++) {
            const ct_pair* p = near.item + i;
            assert_true(p->type == CT_CONTACT_TYPE_VERTEX_FACE || p->type == CT_CONTACT_TYPE_EDGE_EDGE);
            const bool face = p->type == CT_CONTACT_TYPE_VERTEX_FACE;
            ct_vec3 x[4];
            for (int k = 0; k < 4; k++) x[k] = ct_vec3_load(s.x + 3 * p->node[k]);
            const ct_vec3 u = face ? ct_vec3_sub(x[2], x[1]) : ct_vec3_sub(x[1], x[0]);
            const ct_vec3 v = face ? ct_vec3_sub(x[3], x[1]) : ct_vec3_sub(x[3], x[2]);
            const ct_vec3 n = ct_vec3_scale(p->sign, ct_vec3_normalise(ct_vec3_cross(u, v)));
            assert_true((p->a == 1 ? n.z : -n.z) > 0.99);
            faces += face;
        }
        assert_true(faces >= 2);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

// Two boxes with the same corners, one above the other by the thickness: the corner of the lower node is
// paired with one face, for both; none with edges or corners.
static void vertices_above_a_border_are_paired_with_a_face(void** state) {
    surfaces s = {0};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {0, 0, 1.002}, upper_hi[3] = {1, 1, 2};
    new_box(&s, lo, hi, 0.001, true);
    new_box(&s, upper_lo, upper_hi, 0.001, true);
    allow_all(&s, true);
    ct_detect* detect = detect_of(&s);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&s.collision, detect, s.x, 0, 0.001, &near), CT_OK);
    int seen[16] = {0}, crossing = 0;
    for (size_t i = 0; i < near.count; i++) {
        const ct_pair* p = near.item + i;
        assert_true(p->type == CT_CONTACT_TYPE_VERTEX_FACE || p->type == CT_CONTACT_TYPE_EDGE_EDGE);
        if (p->type == CT_CONTACT_TYPE_VERTEX_FACE) {
            for (int k = 1; k < 4; k++)
                assert_float_equal(fabs(s.x[3 * p->node[k] + 2] - s.x[3 * p->node[0] + 2]), 0.002, 1e-12);
            assert_true(p->sign == 1);
            seen[p->node[0]]++;
        } else crossing++;
    }
    for (int v = 0; v < 16; v++) assert_int_equal(seen[v], v >= 4 && v < 8);
    assert_int_equal(crossing, 0);  // the diagonals are parallel
    ct_pairs_free(&near);
    ct_detect_free(detect);
    free_surfaces(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_above_a_face_is_one_pair_on_its_side),
        cmocka_unit_test(near_lists_what_is_near_and_nothing_else),
        cmocka_unit_test(a_ball_never_sinks_between_features),
        cmocka_unit_test(the_smallest_gap_is_in_the_list),
        cmocka_unit_test(planes_meet_free_vertices),
        cmocka_unit_test(touching_surfaces_part_outward),
        cmocka_unit_test(vertices_above_a_border_are_paired_with_a_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
