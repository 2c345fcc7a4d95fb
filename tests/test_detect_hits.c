// Finding contacts: nothing that meets on the way is missed, nothing passes through; intersections are those
// of brute force.
#include "detect_checks.h"

static double nearest_on_the_way(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind,
                                 int samples) {
    double nearest = INFINITY;
    for (int k = 0; k <= samples; k++)
        nearest = fmin(nearest, closest_at(s, end, node, kind, (double)k / samples).distance);
    return nearest;
}

typedef struct hit_rule {
    double tolerance;
    int count;
} hit_rule;

static bool involves(const ct_pair* p, const int node[4]) {
    for (int k = 0; k < 4; k++) {
        bool found = p->node[k] < 0;
        for (int i = 0; i < 4; i++) found |= p->node[k] == node[i];
        if (!found) return false;
    }
    return true;
}

// The pair is of a vertex and a face at an edge, or an edge or corner of that face.
static bool is_end_on_face(const surfaces* s, const ct_pair* p, int vertex, const int edge[2]) {
    const ct_collision* c = &s->collision;
    if (p->type == CT_CONTACT_TYPE_EDGE_EDGE || p->type == CT_CONTACT_TYPE_PLANE) return false;
    for (int t = 0; t < c->ntri; t++) {
        const int node[4] = {vertex, c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
        int common = 0;
        bool has_vertex = false;
        for (int k = 1; k < 4; k++) common += node[k] == edge[0] || node[k] == edge[1];
        for (int k = 0; k < 4; k++) has_vertex |= p->node[k] == vertex;
        if (common == 2 && has_vertex && involves(p, node)) return true;
    }
    return false;
}

// Two edges meet where an end of one comes upon the other edge of its own triangle: that triangle collapses,
// which is no contact.
static bool is_collapse(const surfaces* s, const double* end, const int node[4], double core) {
    const ct_collision* c = &s->collision;
    ct_vec3 x[4], to[4];
    for (int k = 0; k < 4; k++)
        x[k] = node_between(s, end, node[k], 0), to[k] = node_between(s, end, node[k], 1);
    double time = 1;
    if (!ct_ccd(CT_CCD_EDGE_EDGE, x, to, core, 0.1 * core, &time)) time = 1;
    const ct_closest closest = closest_at(s, end, node, CT_CCD_EDGE_EDGE, time);
    for (int k = 0; k < 4; k++) {
        if (closest.mask == CT_CLOSEST_ALL || closest.w[k] != 1) continue;
        for (int t = 0; t < c->ntri; t++) {
            int common = 0;
            for (int i = 0; i < 3; i++) {
                const int v = c->tri[3 * t + i], other = k < 2 ? 2 : 0;
                common += v == node[k] || v == node[other] || v == node[other + 1];
            }
            if (common == 3) return true;
        }
    }
    return false;
}

// What comes nearer than the core, or ends too near, has a pair made of its nodes; edges also count as met
// when an end and a face at the other are.
static void assert_hit_listed(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind,
                              const ct_pairs* pairs, void* user) {
    hit_rule* rule = user;
    const int a = owner_of(s, node[0]), b = owner_of(s, node[2]);
    const double limit =
        reach(s, a, b, false) - 2 * rule->tolerance * (reach(s, a, b, false) - reach(s, a, b, true));
    const bool met = nearest_on_the_way(s, end, node, kind, 1000) < reach(s, a, b, true);
    const bool near = closest_at(s, end, node, kind, 1).distance < limit;
    if (!met && !near) return;
    if (kind == CT_CCD_EDGE_EDGE && is_collapse(s, end, node, reach(s, a, b, true))) return;
    rule->count++;
    for (size_t i = 0; i < pairs->count; i++)
        if (involves(pairs->item + i, node)) return;
    for (size_t i = 0; kind == CT_CCD_EDGE_EDGE && i < pairs->count; i++)
        for (int k = 0; k < 4; k++)
            if (is_end_on_face(s, pairs->item + i, node[k], node + (k < 2 ? 2 : 0))) return;
    fail_msg("a pair was missed");
}

static void nothing_that_meets_is_missed(void** state) {
    hit_rule rule = {.tolerance = 0.1};
    for (int round = 0; round < 12; round++) {
        surfaces s = {0};
        disorder(&s, 3, 0.01);
        double* end = moved(&s, pow(10, -2 + 1.5 * (round % 3) / 2.0));
        ct_detect* detect = detect_of(&s);
        ct_pairs hits = {0};
        assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, rule.tolerance, &hits), CT_OK);
        assert_sorted(&hits);
        for_all(&s, end, &hits, assert_hit_listed, &rule);
        ct_pairs_free(&hits);
        ct_detect_free(detect);
        free(end);
        free_surfaces(&s);
    }
    assert_true(rule.count > 400);
}

// A small box shot at a plate 2 mm thick, at speeds of a thousandth to a thousand plates per step, from both
// sides, turned a little.
static void a_fast_body_never_passes_a_thin_plate(void** state) {
    for (int i = 0; i < 400; i++) {
        surfaces s = {0};
        const double lo[3] = {-0.1, -0.1, -0.001}, hi[3] = {0.1, 0.1, 0.001};
        const int plate = new_box(&s, lo, hi, 1e-4, true);
        const double side = i % 2 ? 1 : -1, start = 0.003 + 0.01 * (i % 7),
                     at[2] = {0.05 * uniform(), 0.05 * uniform()};
        const double lower[3] = {at[0] - 0.002, at[1] - 0.003, side > 0 ? start : -start - 0.002};
        const double upper[3] = {at[0] + 0.002, at[1] + 0.003, side > 0 ? start + 0.002 : -start};
        new_box(&s, lower, upper, 1e-4, true);
        for (int v = 8; v < 16; v++) s.x[3 * v + 2] += 2e-4 * uniform();
        allow_all(&s, true);
        double* end = moved(&s, 0);
        const double speed = start * pow(10, 0.1 + 2.4 * (i / 400.0));
        for (int v = 8; v < 16; v++) end[3 * v + 2] -= side * speed;
        ct_detect* detect = detect_of(&s);
        ct_pairs hits = {0};
        assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &hits), CT_OK);
        assert_true(hits.count > 0);
        // the front vertices run into the plate's face on this side, from outside
        int faces = 0;
        for (size_t k = 0; k < hits.count; k++) {
            const ct_pair* p = hits.item + k;
            assert_true(p->a != p->b);
            if (p->type != CT_CONTACT_TYPE_VERTEX_FACE || p->b != plate) continue;
            const double* x = s.x + 3 * p->node[1];
            const bool level =
                fabs(s.x[3 * p->node[2] + 2] - x[2]) < 1e-9 && fabs(s.x[3 * p->node[3] + 2] - x[2]) < 1e-9;
            if (level && x[2] * side > 0) {
                assert_true(p->sign == 1);
                faces++;
            }
        }
        assert_true(faces >= 4);
        ct_pairs_free(&hits);
        ct_detect_free(detect);
        free(end);
        free_surfaces(&s);
    }
}

// Sheets and boxes that start apart and move at random: whenever a sampled time shows an edge through a
// triangle, the list has a pair of the two colliders.
static void no_sampled_intersection_was_missed(void** state) {
    enum { SAMPLES = 1000 };
    int crossed = 0, clear = 0;
    for (int round = 0; round < 40; round++) {
        surfaces s = {0};
        for (int k = 0; k < 3; k++) {
            const double lo[3] = {-0.4, -0.4, 0.3 * k}, hi[3] = {0.4, 0.4, 0.3 * k + 0.1};
            if ((round + k) % 2) new_box(&s, lo, hi, 1e-3, true);
            else new_sheet(&s, -0.45, 0.5, 0.3 * k, 3, 1e-3, true);
        }
        allow_all(&s, true);
        double* end = moved(&s, 0.04 + 0.05 * (round % 5));
        double* at = malloc(3 * (size_t)s.collision.nvert * sizeof *at);
        ct_detect* detect = detect_of(&s);
        ct_pairs hits = {0};
        assert_int_equal(ct_detect_intersections(&s.collision, detect, s.x, NULL), 0);
        assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &hits), CT_OK);
        bool found = false;
        for (int k = 0; k <= SAMPLES && !found; k++) {
            for (int i = 0; i < 3 * s.collision.nvert; i++) at[i] = s.x[i] + (end[i] - s.x[i]) * k / SAMPLES;
            int where[5];
            found = ct_detect_intersections(&s.collision, detect, at, where) > 0;
            if (!found) continue;
            const int a = owner_of(&s, where[0]), b = owner_of(&s, where[2]);
            bool listed = false;
            for (size_t i = 0; i < hits.count; i++) {
                const ct_pair* p = hits.item + i;
                listed |= (p->a == a && p->b == b) || (p->a == b && p->b == a);
            }
            assert_true(listed);
        }
        crossed += found;
        clear += hits.count == 0;
        ct_pairs_free(&hits);
        ct_detect_free(detect);
        free(end), free(at);
        free_surfaces(&s);
    }
    assert_true(crossed >= 8 && clear >= 8);
}

static void intersections_are_those_of_brute_force(void** state) {
    int total = 0;
    for (int round = 0; round < 20; round++) {
        surfaces s = {0};
        disorder(&s, 4, 0.01);
        const ct_collision* c = &s.collision;
        int count = 0, first[5] = {-1};
        for (int e = 0; e < c->nedge; e++)
            for (int t = 0; t < c->ntri; t++) {
                const int node[5] = {c->edge[2 * e], c->edge[2 * e + 1], c->tri[3 * t], c->tri[3 * t + 1],
                                     c->tri[3 * t + 2]};
                bool common = false;
                for (int k = 2; k < 5; k++) common |= node[k] == node[0] || node[k] == node[1];
                if (common || driven(&s, node, 5)) continue;
                ct_vec3 p[5];
                for (int k = 0; k < 5; k++) p[k] = ct_vec3_load(s.x + 3 * node[k]);
                if (!ct_edge_crosses_triangle(p[0], p[1], p[2], p[3], p[4])) continue;
                if (count++ == 0) memcpy(first, node, sizeof first);
            }
        ct_detect* detect = detect_of(&s);
        int where[5] = {-1};
        assert_int_equal(ct_detect_intersections(&s.collision, detect, s.x, where), count);
        assert_memory_equal(where, first, sizeof first);
        total += count;
        ct_detect_free(detect);
        free_surfaces(&s);
    }
    assert_true(total > 100);
}

// The vertex starts above the triangle's plane, passes it beside the triangle, which turns down, and meets it
// from below.
static void hits_are_signed_on_the_side_they_come_from(void** state) {
    surfaces s = {0};
    const int sheet = new_collider(&s, 0.01, 0);
    new_node(&s, sheet, 0, 0, 0, true), new_node(&s, sheet, 1, 0, 0, true),
        new_node(&s, sheet, 0, 1, 0, true);
    new_triangle(&s, sheet, 0, 1, 2);
    const int v = new_node(&s, new_collider(&s, 0.01, 0), -1, 0.2, 0.1, true);
    allow_all(&s, true);
    double* end = moved(&s, 0);
    end[3 * v] = 1, end[3 * v + 2] = -0.9;
    end[3 + 2] = -2;
    ct_detect* detect = detect_of(&s);
    ct_pairs hits = {0};
    assert_int_equal(ct_detect_hits(&s.collision, detect, s.x, end, 0, 0.1, &hits), CT_OK);
    assert_int_equal(hits.count, 1);
    assert_non_null(find(&hits, CT_CONTACT_TYPE_VERTEX_FACE, v, 0, 1, 2));
    assert_true(hits.item[0].sign == -1);
    free(end);
    ct_pairs_free(&hits);
    ct_detect_free(detect);
    free_surfaces(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_meets_is_missed),
        cmocka_unit_test(a_fast_body_never_passes_a_thin_plate),
        cmocka_unit_test(no_sampled_intersection_was_missed),
        cmocka_unit_test(intersections_are_those_of_brute_force),
        cmocka_unit_test(hits_are_signed_on_the_side_they_come_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
