// Detection of contacts: what is reported, how it is typed and signed, and that nothing is missed.
#include "math/vec3.h"
#include "shape/ccd.h"
#include "shape/closest.h"
#include "shape/orient.h"
#include "build.h"
#include "step/detect_data.h"
#include "surfaces.h"

static uint64_t seed = 1;

static double uniform(void) {  // [-1, 1)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

static ct_detect* detect_of(const surfaces* s) {
    ct_detect* detect = NULL;
    assert_int_equal(ct_detect_create(&detect, &s->model), CT_OK);
    return detect;
}

static const ct_pair* find(const ct_pairs* pairs, ct_contact_type type, int n0, int n1, int n2, int n3) {
    for (size_t i = 0; i < pairs->count; i++) {
        const ct_pair* p = pairs->item + i;
        if (p->type == type && p->node[0] == n0 && p->node[1] == n1 && p->node[2] == n2 && p->node[3] == n3) return p;
    }
    return NULL;
}

static void vertex_above_a_face_is_one_pair_on_its_side(void** state) {
    for (int side = -1; side <= 1; side += 2) {
        surfaces s = {0};
        new_sheet(&s, -1, 1, 0, 2, 0.01, false);  // nodes 0..8; triangle (4, 5, 8) is right of the middle
        const int ball = new_collider(&s, 0.005, 0.1);
        const int v = new_node(&s, ball, 0.7, 0.3, side * 0.12, true);
        allow_all(&s, false);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.01, &near), CT_OK);
        assert_int_equal(near.count, 1);
        const ct_pair* p = find(&near, CT_CONTACT_VERTEX_FACE, v, 4, 5, 8);
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

static void assert_sorted(const ct_pairs* pairs) {
    for (size_t i = 1; i < pairs->count; i++) {
        const ct_pair *p = pairs->item + i - 1, *q = p + 1;
        const int a[6] = {(int)p->type, p->plane, p->node[0], p->node[1], p->node[2], p->node[3]};
        const int b[6] = {(int)q->type, q->plane, q->node[0], q->node[1], q->node[2], q->node[3]};
        int k = 0;
        while (k < 6 && a[k] == b[k]) k++;
        assert_true(k < 6 && a[k] < b[k]);
    }
}

// Surfaces in disorder: small patches of random triangles, a capsule and a sphere, in a unit box.
static void disorder(surfaces* s, int patches, double thickness) {
    for (int c = 0; c < patches; c++) {
        const int collider = new_collider(s, thickness * (1 + 0.5 * uniform()), 0), first = s->model.nvert;
        const double at[3] = {0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform()};
        for (int i = 0; i < 12; i++)
            new_node(s, collider, at[0] + 0.3 * uniform(), at[1] + 0.3 * uniform(), at[2] + 0.3 * uniform(), c % 3 != 2);
        for (int i = 0; i < 10; i++) new_triangle(s, collider, first + i, first + i + 1, first + i + 2);
    }
    const int capsule = new_collider(s, thickness, 0.02);
    const int a = new_node(s, capsule, 0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform(), false);
    const int b = new_node(s, capsule, 0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform(), false);
    new_edge(s, capsule, a, b);
    new_node(s, new_collider(s, thickness, 0.05), 0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform(), false);
    new_node(s, new_collider(s, thickness, 0.03), 0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform(), true);
    allow_all(s, true);
}

static double* moved(const surfaces* s, double size) {
    double* end = malloc(3 * (size_t)s->model.nvert * sizeof *end);
    for (int i = 0; i < 3 * s->model.nvert; i++) end[i] = s->x[i] + size * uniform();
    return end;
}

static ct_vec3 node_between(const surfaces* s, const double* end, int v, double t) {
    const ct_vec3 a = ct_vec3_load(s->x + 3 * v);
    return ct_vec3_axpy(a, t, ct_vec3_sub(ct_vec3_load(end + 3 * v), a));
}

static int owner_of(const surfaces* s, int node) {
    const ct_collision* c = &s->model.collision;
    for (int i = 0; i < c->nnode; i++)
        if (c->node[i] == node) return c->node_owner[i];
    return -1;
}

static double reach(const surfaces* s, int a, int b, bool core) {
    const ct_collider *p = s->model.collision.collider + a, *q = s->model.collision.collider + b;
    return p->radius + q->radius + (core ? 0.5 : 1) * (p->thickness + q->thickness);
}

// All nodes are driven.
static bool driven(const surfaces* s, const int* node, int count) {
    for (int i = 0; i < count; i++)
        if (s->model.row[node[i]] >= 0) return false;
    return true;
}

typedef void (*each)(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind, const ct_pairs* pairs, void* user);

// Calls `f` with every vertex and face, every two edges that may touch.
static void for_all(const surfaces* s, const double* end, const ct_pairs* pairs, each f, void* user) {
    const ct_collision* c = &s->model.collision;
    for (int i = 0; i < c->nnode; i++)
        for (int t = 0; t < c->ntri; t++) {
            const int node[4] = {c->node[i], c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
            if (node[0] == node[1] || node[0] == node[2] || node[0] == node[3] || driven(s, node, 4)) continue;
            f(s, end, node, CT_CCD_VERTEX_FACE, pairs, user);
        }
    for (int i = 0; i < c->nedge; i++)
        for (int j = 0; j < i; j++) {
            int node[4] = {c->edge[2 * i], c->edge[2 * i + 1], c->edge[2 * j], c->edge[2 * j + 1]};
            if (node[0] > node[1]) node[0] = c->edge[2 * i + 1], node[1] = c->edge[2 * i];
            if (node[2] > node[3]) node[2] = c->edge[2 * j + 1], node[3] = c->edge[2 * j];
            if (node[0] > node[2]) {
                const int keep[2] = {node[0], node[1]};
                node[0] = node[2], node[1] = node[3], node[2] = keep[0], node[3] = keep[1];
            }
            if (node[0] == node[2] || node[0] == node[3] || node[1] == node[2] || node[1] == node[3] || driven(s, node, 4)) continue;
            f(s, end, node, CT_CCD_EDGE_EDGE, pairs, user);
        }
}

static ct_closest closest_at(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind, double t) {
    ct_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = node_between(s, end, node[k], t);
    return kind == CT_CCD_VERTEX_FACE ? ct_closest_point_triangle(x) : ct_closest_edges(x);
}

static double nearest_on_the_way(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind, int samples) {
    double nearest = INFINITY;
    for (int k = 0; k <= samples; k++) nearest = fmin(nearest, closest_at(s, end, node, kind, (double)k / samples).distance);
    return nearest;
}

// From the second to the first of a pair's own features, at a time.
static ct_vec3 pair_apart(const surfaces* s, const double* end, const ct_pair* p, double t) {
    ct_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = p->node[k] >= 0 ? node_between(s, end, p->node[k], t) : x[k - 1];
    switch (p->type) {
        case CT_CONTACT_EDGE_EDGE: return ct_closest_edges(x).apart;
        case CT_CONTACT_POINT_POINT: return ct_vec3_sub(x[0], x[1]);
        default: return ct_closest_point_triangle(x).apart;  // an edge: without area
    }
}

static double feature_distance(const surfaces* s, const double* end, const ct_pair* p, double t) {
    return ct_vec3_norm(pair_apart(s, end, p, t));
}

// The surface at the features of b[0..count-1] that carry weight comes no nearer to q than d: they are where it is closest.
static bool is_closest(const surfaces* s, const double* end, double t, ct_vec3 q, const int* b, const double* weight, int count, double d) {
    const ct_collision* c = &s->model.collision;
    for (int i = 0; i < c->ntri; i++) {
        const int* tri = c->tri + 3 * i;
        bool holds = true;
        for (int k = 0; k < count; k++)
            holds &= weight[k] == 0 || tri[0] == b[k] || tri[1] == b[k] || tri[2] == b[k];
        if (!holds) continue;
        ct_vec3 x[4] = {q};
        for (int k = 0; k < 3; k++) x[k + 1] = node_between(s, end, tri[k], t);
        if (ct_closest_point_triangle(x).distance < d * (1 - 1e-9)) return false;
    }
    return true;
}

// The same for an edge, and for points a little to both sides of q: it is no edge in a level surface.
static bool edge_is_closest(const surfaces* s, const double* end, double t, ct_vec3 q, const int edge[2], const double* weight) {
    const ct_vec3 a = node_between(s, end, edge[0], t), b = node_between(s, end, edge[1], t);
    const ct_vec3 apart = ct_closest_point_triangle((ct_vec3[4]){q, a, b, b}).apart;
    const ct_vec3 aside = ct_vec3_scale(1.1e-3, ct_vec3_cross(ct_vec3_normalise(ct_vec3_sub(b, a)), apart));
    for (int sign = -1; sign <= 1; sign += 2) {
        const ct_vec3 p = ct_vec3_axpy(q, sign, aside);
        const double d = ct_closest_point_triangle((ct_vec3[4]){p, a, b, b}).distance;
        if (!is_closest(s, end, t, p, edge, weight, 2, d)) return false;
    }
    return true;
}

typedef struct near_rule {
    double margin;
    int count[2];              // how many were asked for, of each kind
} near_rule;

// What comes near and is where the surface is closest has a pair not farther, in the same direction: of this vertex and this face's
// collider, or of these edges. Two vertices must be closest to one another, of two edges one to the other's point; nearly parallel edges
// are not asked for.
// An edge whose ends both have a face of the collider.
static bool ends_have_faces(const ct_pairs* pairs, const int edge[2], int collider) {
    int found[2] = {0, 0};
    for (size_t i = 0; i < pairs->count; i++)
        for (int k = 0; k < 2; k++)
            found[k] += pairs->item[i].type == CT_CONTACT_VERTEX_FACE && pairs->item[i].node[0] == edge[k] && pairs->item[i].b == collider;
    return found[0] && found[1];
}

static void assert_near_listed(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind, const ct_pairs* pairs,
                               void* user) {
    near_rule* rule = user;
    const int first = kind == CT_CCD_VERTEX_FACE ? 1 : 2, b = owner_of(s, node[2]);
    const double limit = reach(s, owner_of(s, node[0]), b, false) + rule->margin;
    ct_vec3 x[4], to[4], at[4];
    for (int k = 0; k < 4; k++) x[k] = node_between(s, end, node[k], 0), to[k] = node_between(s, end, node[k], 1);
    double time;
    if (!ct_ccd(kind, x, to, limit, 1e-3 * limit, &time)) return;
    ct_ccd_at(x, to, time, at);
    const ct_closest closest = closest_at(s, end, node, kind, time);
    if (first == 2 && (closest.mask != CT_CLOSEST_ALL || closest.sine < 0.02)) return;
    const ct_vec3 q = ct_vec3_axpy(ct_vec3_scale(closest.w[0], at[0]), first == 2 ? closest.w[1] : 0, at[1]);
    const bool mutual = first == 2 || (closest.mask != 3 && closest.mask != 5 && closest.mask != 9) ||
                        is_closest(s, end, time, ct_vec3_sub(q, closest.apart), node, closest.w, 1, closest.distance);
    const bool needed = first == 1 ? mutual && is_closest(s, end, time, q, node + 1, closest.w + 1, 3, closest.distance)
                                   : edge_is_closest(s, end, time, q, node + 2, closest.w + 2) ||
                                         edge_is_closest(s, end, time, ct_vec3_sub(q, closest.apart), node, closest.w);
    if (!needed) return;
    rule->count[first - 1]++;
    if (first == 2 && (ends_have_faces(pairs, node, b) || ends_have_faces(pairs, node + 2, owner_of(s, node[0])))) return;
    for (size_t i = 0; i < pairs->count; i++) {
        const ct_pair* p = pairs->item + i;
        if (first == 2) {
            if (p->type == CT_CONTACT_EDGE_EDGE && memcmp(p->node, node, sizeof p->node) == 0) return;
            continue;
        }
        if (p->type == CT_CONTACT_EDGE_EDGE) continue;
        const bool turned = p->type == CT_CONTACT_POINT_POINT && p->node[1] == node[0];
        if ((!turned && p->node[0] != node[0]) || (turned ? p->a : p->b) != b) continue;
        const ct_vec3 apart = ct_vec3_scale(turned ? -1 : 1, pair_apart(s, end, p, time));
        const double distance = ct_vec3_norm(apart), along = ct_vec3_dot(apart, closest.apart);
        if (distance < 1.03 * closest.distance && along > 0.999 * distance * closest.distance) return;
    }
    fail_msg("nothing stands for nodes %d %d %d %d", node[0], node[1], node[2], node[3]);
}

static void near_lists_what_comes_near_and_nothing_else(void** state) {
    near_rule rule = {.margin = 0.02};
    for (int round = 0; round < 60; round++) {
        surfaces s = {0};
        disorder(&s, 4, 0.01);
        const double size = round % 3 == 0 ? 0 : pow(10, -2 + uniform()), margin = rule.margin;
        double* end = moved(&s, size);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, end, 0, margin, &near), CT_OK);
        assert_sorted(&near);
        for_all(&s, end, &near, assert_near_listed, &rule);
        for (size_t i = 0; i < near.count; i++) {
            const ct_pair* p = near.item + i;
            double nearest = INFINITY;
            for (int k = 0; k <= 1000; k++) nearest = fmin(nearest, feature_distance(&s, end, p, k / 1000.0));
            assert_true(nearest <= (p->thickness + margin) * 1.0011 + 1e-3 * sqrt(3) * size);
            assert_float_equal(p->thickness, reach(&s, p->a, p->b, false), 1e-15);
            assert_float_equal(p->core, reach(&s, p->a, p->b, true), 1e-15);
            assert_int_equal(p->a, owner_of(&s, p->node[0]));
        }
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free(end);
        free_surfaces(&s);
    }
    assert_true(rule.count[0] > 500 && rule.count[1] > 500);
}

// A ridge of three nodes, bent by `kink` in the middle; its sides fall by `slope`.
static void new_ridge(surfaces* s, double kink, double slope) {
    const int c = new_collider(s, 1e-4, 0);
    for (int row = -1; row <= 1; row++)
        for (int i = -1; i <= 1; i++) new_node(s, c, 0.01 * i, 0.01 * row, -0.01 * (kink * abs(i) + slope * abs(row)), true);
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < 2; i++) {
            const int a = 3 * row + i;
            new_triangle(s, c, a, a + 1, a + 4);
            new_triangle(s, c, a, a + 4, a + 3);
        }
}

// A large ball rolls over nodes and edges that hardly stand out, or not at all: the nearest gap is always in the list.
static void a_ball_never_sinks_between_features(void** state) {
    const double bend[] = {0, 1e-9, 1e-5, 2e-4, 6e-4, 9.9e-4, 1.01e-3, 1.5e-3, 3e-3, 0.1};
    for (int trial = 0; trial < 100 * 25; trial++) {
        surfaces s = {0};
        const double kink = bend[trial % 10], slope = trial / 10 % 2 ? 0.8 : bend[trial / 20 % 10];
        new_ridge(&s, kink, slope);
        const int ball = new_collider(&s, 1e-4, 0.5);
        // towards the middle node, within the cone of the features' normals and a little beyond; the first: straight above
        const double u = trial < 100 ? 0 : 2 * kink * uniform(), w = trial < 200 ? 0 : 1.2 * slope * uniform(), far = 0.5002;
        const double size = sqrt(1 + u * u + w * w);
        const int v = new_node(&s, ball, far * u / size, far * w / size, far / size, true);
        allow_all(&s, false);
        double least = INFINITY, found = INFINITY;
        const ct_collision* c = &s.model.collision;
        for (int t = 0; t < c->ntri; t++) {
            const int node[4] = {v, c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
            least = fmin(least, closest_at(&s, s.x, node, CT_CCD_VERTEX_FACE, 0).distance);
        }
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 1e-4, &near), CT_OK);
        for (size_t i = 0; i < near.count; i++) found = fmin(found, feature_distance(&s, s.x, near.item + i, 0));
        assert_float_equal(found, least, 1e-5 * least);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
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
    const ct_collision* c = &s->model.collision;
    if (p->type == CT_CONTACT_EDGE_EDGE || p->type == CT_CONTACT_PLANE) return false;
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

// Two edges meet where an end of one comes upon the other edge of its own triangle: that triangle collapses, which is no contact.
static bool is_collapse(const surfaces* s, const double* end, const int node[4], double core) {
    const ct_collision* c = &s->model.collision;
    ct_vec3 x[4], to[4];
    for (int k = 0; k < 4; k++) x[k] = node_between(s, end, node[k], 0), to[k] = node_between(s, end, node[k], 1);
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

// What comes nearer than the core, or ends too near, has a pair made of its nodes; edges also count as met when an end and a face at the
// other are.
static void assert_hit_listed(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind, const ct_pairs* pairs,
                              void* user) {
    hit_rule* rule = user;
    const int a = owner_of(s, node[0]), b = owner_of(s, node[2]);
    const double limit = reach(s, a, b, false) - 2 * rule->tolerance * (reach(s, a, b, false) - reach(s, a, b, true));
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
        ct_pairs hits = {0}, again = {0}, none = {0};
        assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, rule.tolerance, &none, &hits), CT_OK);
        assert_sorted(&hits);
        for_all(&s, end, &hits, assert_hit_listed, &rule);
        // known pairs are left out, in whatever order they come
        for (size_t i = 0; i < hits.count / 2; i++) {
            const ct_pair keep = hits.item[i];
            hits.item[i] = hits.item[hits.count - 1 - i];
            hits.item[hits.count - 1 - i] = keep;
        }
        assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, rule.tolerance, &hits, &again), CT_OK);
        assert_int_equal(again.count, 0);
        ct_pairs_free(&hits);
        ct_pairs_free(&again);
        ct_detect_free(detect);
        free(end);
        free_surfaces(&s);
    }
    assert_true(rule.count > 400);
}

// A small box shot at a plate 2 mm thick, at speeds of a thousandth to a thousand plates per step, from both sides, turned a little.
static void a_fast_body_never_passes_a_thin_plate(void** state) {
    for (int i = 0; i < 400; i++) {
        surfaces s = {0};
        const double lo[3] = {-0.1, -0.1, -0.001}, hi[3] = {0.1, 0.1, 0.001};
        const int plate = new_box(&s, lo, hi, 1e-4, true);
        const double side = i % 2 ? 1 : -1, start = 0.003 + 0.01 * (i % 7), at[2] = {0.05 * uniform(), 0.05 * uniform()};
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
        assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, NULL, &hits), CT_OK);
        assert_true(hits.count > 0);
        // the front vertices run into the plate's face on this side, from outside
        int faces = 0;
        for (size_t k = 0; k < hits.count; k++) {
            const ct_pair* p = hits.item + k;
            assert_true(p->a != p->b);
            if (p->type != CT_CONTACT_VERTEX_FACE || p->b != plate) continue;
            const double* x = s.x + 3 * p->node[1];
            const bool level = fabs(s.x[3 * p->node[2] + 2] - x[2]) < 1e-9 && fabs(s.x[3 * p->node[3] + 2] - x[2]) < 1e-9;
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

// Sheets and boxes that start apart and move at random: whenever a sampled time shows an edge through a triangle, the list has a pair of
// the two colliders.
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
        double* at = malloc(3 * (size_t)s.model.nvert * sizeof *at);
        ct_detect* detect = detect_of(&s);
        ct_pairs hits = {0};
        assert_int_equal(ct_detect_intersections(&s.model, detect, s.x, NULL), 0);
        assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, NULL, &hits), CT_OK);
        bool found = false;
        for (int k = 0; k <= SAMPLES && !found; k++) {
            for (int i = 0; i < 3 * s.model.nvert; i++) at[i] = s.x[i] + (end[i] - s.x[i]) * k / SAMPLES;
            int where[5];
            found = ct_detect_intersections(&s.model, detect, at, where) > 0;
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
        const ct_collision* c = &s.model.collision;
        int count = 0, first[5] = {-1};
        for (int e = 0; e < c->nedge; e++)
            for (int t = 0; t < c->ntri; t++) {
                const int node[5] = {c->edge[2 * e], c->edge[2 * e + 1], c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
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
        assert_int_equal(ct_detect_intersections(&s.model, detect, s.x, where), count);
        assert_memory_equal(where, first, sizeof first);
        total += count;
        ct_detect_free(detect);
        free_surfaces(&s);
    }
    assert_true(total > 100);
}

static size_t count_near(const surfaces* s, double margin) {
    ct_detect* detect = detect_of(s);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&s->model, detect, s->x, s->x, 0, margin, &near), CT_OK);
    const size_t count = near.count;
    ct_pairs_free(&near);
    ct_detect_free(detect);
    return count;
}

static void rigid_and_forbidden_pairs_are_left_out(void** state) {
    for (int rule = 0; rule < 7; rule++) {
        surfaces s = {0};
        const bool free = rule != 1;
        const double lo[3] = {-1, -1, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {-0.7, -0.6, 1.01}, upper_hi[3] = {0.8, 0.9, 2};
        new_box(&s, lo, hi, 0.005, free);
        new_box(&s, upper_lo, upper_hi, 0.005, free);
        allow_all(&s, true);
        int node_link[16], parent[3] = {-1, 0, 1};
        for (int v = 0; v < 16; v++) node_link[v] = -1;
        s.model.tree = (ct_tree){.nlink = 3, .parent = parent, .node_link = node_link};
        if (rule == 2) s.model.collision.collide[1] = s.model.collision.collide[2] = 0;
        // 3: one link; 4: parent and child; 5: grandparent and grandchild; 6: one link and half of the other body
        if (rule >= 3)
            for (int v = 0; v < 16; v++) {
                if (rule == 6 && v >= 12) continue;
                s.model.row[v] = -1;
                node_link[v] = v < 8 || rule == 3 || rule == 6 ? 0 : rule == 4 ? 1 : 2;
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
        {{0.6, 0.3, 1.1}, {0.6, 0.3, 3}, CT_CONTACT_VERTEX_FACE},
        {{-0.1, 0.4, 2}, {-0.1, 0.4, -2}, CT_CONTACT_EDGE_EDGE},   // beside the face x = 0, which its diagonal crosses
        {{1.07, 1.07, -1}, {1.07, 1.07, 3}, CT_CONTACT_POINT_EDGE},  // along a vertical edge
        {{0.06, 0.4, 2.06}, {2.06, 0.5, 0.06}, CT_CONTACT_EDGE_EDGE},  // across a horizontal edge
        {{1.03 - 1, 1.06 + 1, 1.06}, {1.03 + 1, 1.06 - 1, 1.06}, CT_CONTACT_POINT_EDGE},  // across a corner
        {{1.05, 1.05, 1.05}, {2, 2, 2}, CT_CONTACT_POINT_POINT},
        {{1.05, 1.05, 0.4}, {2, 2, 0.4}, CT_CONTACT_POINT_EDGE},
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
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.01, &near), CT_OK);
        bool found = false;
        for (size_t i = 0; i < near.count; i++) found |= near.item[i].type == capsule[k].type;
        assert_true(found);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

static ct_closest segment_pair(const surfaces* s, int p, int a, int b) {
    return ct_closest_point_triangle((ct_vec3[4]){ct_vec3_load(s->x + 3 * p), ct_vec3_load(s->x + 3 * a), ct_vec3_load(s->x + 3 * b),
                                                  ct_vec3_load(s->x + 3 * b)});
}

// The smallest gap in the list is the smallest gap there is: for spheres, capsules and meshes in disorder.
static void the_smallest_gap_is_in_the_list(void** state) {
    for (int round = 0; round < 300; round++) {
        surfaces s = {0};
        disorder(&s, 2, 0.01);
        const ct_collision* c = &s.model.collision;
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
                least = fmin(least, segment_pair(&s, p, pair[1], pair[2]).distance - reach(&s, c->node_owner[i], c->edge_owner[e], false));
            }
        }
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.5, &near), CT_OK);
        for (size_t i = 0; i < near.count; i++)
            if (near.item[i].a != near.item[i].b) found = fmin(found, feature_distance(&s, s.x, near.item + i, 0) - near.item[i].thickness);
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
    s.model.collision.collide[1] = s.model.collision.collide[3] = 0;  // box and sphere
    ct_detect* detect = detect_of(&s);
    ct_pairs pairs = {0};
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.005, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.0071, &pairs), CT_OK);
    assert_int_equal(pairs.count, 4);
    for (int v = 0; v < 4; v++) {
        const ct_pair* p = pairs.item + v;
        assert_true(p->type == CT_CONTACT_PLANE && p->plane == 0 && p->node[0] == v && p->node[1] == -1 && p->sign == 1);
        assert_true(p->a == 0 && p->b == ground);
        assert_float_equal(p->thickness, 0.003, 1e-17);
        assert_float_equal(p->core, 0.0015, 1e-17);
    }
    // falling: near when the way leads there, a hit when the end is too deep
    double* end = moved(&s, 0);
    end[2] = 0.0029;
    end[3 + 2] = 0.0026;
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, end, 0, 0, &pairs), CT_OK);
    assert_int_equal(pairs.count, 2);
    assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, NULL, &pairs), CT_OK);
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
        const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {a, b, 1}, upper_hi[3] = {1 + a, 1 + b, 2};
        new_box(&s, lo, hi, 0.001, true);
        new_box(&s, upper_lo, upper_hi, 0.001, true);
        allow_all(&s, true);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.001, &near), CT_OK);
        int faces = 0;
        for (size_t i = 0; i < near.count; i++) {
            const ct_pair* p = near.item + i;
            assert_true(p->type == CT_CONTACT_VERTEX_FACE || p->type == CT_CONTACT_EDGE_EDGE);
            const bool face = p->type == CT_CONTACT_VERTEX_FACE;
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

// Two boxes with the same corners, one above the other by the thickness: the corner of the lower node is paired with one
// face, for both; none with edges or corners.
static void vertices_above_a_border_are_paired_with_a_face(void** state) {
    surfaces s = {0};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, upper_lo[3] = {0, 0, 1.002}, upper_hi[3] = {1, 1, 2};
    new_box(&s, lo, hi, 0.001, true);
    new_box(&s, upper_lo, upper_hi, 0.001, true);
    allow_all(&s, true);
    ct_detect* detect = detect_of(&s);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.001, &near), CT_OK);
    int seen[16] = {0}, crossing = 0;
    for (size_t i = 0; i < near.count; i++) {
        const ct_pair* p = near.item + i;
        assert_true(p->type == CT_CONTACT_VERTEX_FACE || p->type == CT_CONTACT_EDGE_EDGE);
        if (p->type == CT_CONTACT_VERTEX_FACE) {
            for (int k = 1; k < 4; k++) assert_float_equal(fabs(s.x[3 * p->node[k] + 2] - s.x[3 * p->node[0] + 2]), 0.002, 1e-12);
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

// The vertex starts above the triangle's plane, passes it beside the triangle, which turns down, and meets it from below.
static void hits_are_signed_on_the_side_they_come_from(void** state) {
    surfaces s = {0};
    const int sheet = new_collider(&s, 0.01, 0);
    new_node(&s, sheet, 0, 0, 0, true), new_node(&s, sheet, 1, 0, 0, true), new_node(&s, sheet, 0, 1, 0, true);
    new_triangle(&s, sheet, 0, 1, 2);
    const int v = new_node(&s, new_collider(&s, 0.01, 0), -1, 0.2, 0.1, true);
    allow_all(&s, true);
    double* end = moved(&s, 0);
    end[3 * v] = 1, end[3 * v + 2] = -0.9;
    end[3 + 2] = -2;
    ct_detect* detect = detect_of(&s);
    ct_pairs hits = {0};
    assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, NULL, &hits), CT_OK);
    assert_int_equal(hits.count, 1);
    assert_non_null(find(&hits, CT_CONTACT_VERTEX_FACE, v, 0, 1, 2));
    assert_true(hits.item[0].sign == -1);
    free(end);
    ct_pairs_free(&hits);
    ct_detect_free(detect);
    free_surfaces(&s);
}

static void lists_keep_their_memory_and_repeat_exactly(void** state) {
    surfaces s = {0};
    disorder(&s, 4, 0.02);
    double* end = moved(&s, 0.05);
    ct_detect *detect = detect_of(&s), *other = detect_of(&s);
    ct_pairs near = {0}, hits = {0}, again = {0};
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, end, 0, 0.05, &near), CT_OK);
    assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, &near, &hits), CT_OK);
    const ct_pair *memory = near.item, *hit_memory = hits.item;
    const size_t capacity = near.capacity, count = near.count;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, end, 0, 0.05, &near), CT_OK);
        assert_int_equal(ct_detect_hits(&s.model, detect, s.x, end, 0, 0.1, &near, &hits), CT_OK);
        assert_true(near.item == memory && near.capacity == capacity && near.count == count && hits.item == hit_memory);
        assert_int_equal(ct_detect_near(&s.model, other, s.x, end, 0, 0.05, &again), CT_OK);
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
        assert_true(p->type == q->type && p->plane == q->plane && memcmp(p->node, q->node, sizeof p->node) == 0);
        assert_true(p->sign == q->sign && p->time == q->time && memcmp(p->side, q->side, sizeof p->side) == 0);
    }
}

// A strip of 40 x 5 cells on its way: 0: turns and waves, 1: rolls up until it meets itself, 2: is crumpled, 3: is torn apart by noise.
static void place_strip(const surfaces* s, int kind, double t, double* x) {
    for (int v = 0; v < s->model.nvert; v++) {
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
        const size_t bytes = 3 * (size_t)s.model.nvert * sizeof(double);
        double *x = malloc(bytes), *end = malloc(bytes);
        ct_detect *warm = detect_of(&s), *plain = detect_of(&s);
        ct_pairs near = {0}, hits = {0}, plain_near = {0}, plain_hits = {0};
        size_t found = 0, vouched = 0;
        for (int k = 0; k < 60; k++) {
            place_strip(&s, kind, k / 60.0, x);
            place_strip(&s, kind, (k + (k % 5 == 4 ? 3 : 1)) / 60.0, end);
            // never renewed, and vouches for nothing
            plain->self[c].distance = 1e-300, plain->self[c].age = 0, plain->self[c].wait = 1000;
            assert_int_equal(ct_detect_near(&s.model, warm, x, end, 0, 0.008, &near), CT_OK);
            vouched += warm->self[c].open == 0;
            assert_int_equal(ct_detect_near(&s.model, plain, x, end, 0, 0.008, &plain_near), CT_OK);
            assert_int_equal(plain->self[c].open, s.model.collision.ntri);
            assert_same_pairs(&near, &plain_near);
            assert_int_equal(ct_detect_hits(&s.model, warm, x, end, 0, 0.1, NULL, &hits), CT_OK);
            assert_int_equal(ct_detect_hits(&s.model, plain, x, end, 0, 0.1, NULL, &plain_hits), CT_OK);
            assert_same_pairs(&hits, &plain_hits);
            int where[5] = {0}, plain_where[5] = {0};
            const int count = ct_detect_intersections(&s.model, warm, end, where);
            assert_int_equal(ct_detect_intersections(&s.model, plain, end, plain_where), count);
            assert_memory_equal(where, plain_where, sizeof where);
            found += near.count + hits.count + (size_t)count;
        }
        if (kind == 0) assert_true(found == 0 && vouched >= 50);
        else assert_true(found > 500);
        ct_pairs_free(&near), ct_pairs_free(&hits), ct_pairs_free(&plain_near), ct_pairs_free(&plain_hits);
        ct_detect_free(warm), ct_detect_free(plain);
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
    assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0, &near), CT_OK);
    for (size_t i = 0; i < near.count; i++) assert_true(near.item[i].type >= CT_CONTACT_POINT_EDGE);
    bool edge = false, point = false;
    for (size_t i = 0; i < near.count; i++) {
        edge |= near.item[i].node[0] == v && near.item[i].type == CT_CONTACT_POINT_EDGE;
        point |= near.item[i].node[1] == w && near.item[i].type == CT_CONTACT_POINT_POINT;
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
    for (int k = 0; k < 2; k++) def.ends[k][0] = 0.3202, def.ends[k][1] = 0.04 + 0.21 * k, def.ends[k][2] = 0.16 + 0.02 * k;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
    ct_model* model = NULL;
    must(ct_model_create(&model, scene, &error), &error);
    ct_detect* detect = NULL;
    assert_int_equal(ct_detect_create(&detect, model), CT_OK);
    assert_true(detect->closed[body] && !detect->driven[body]);
    for (int c = 1; c < model->collision.ncollider; c++) assert_true(!detect->closed[c] && detect->driven[c]);
    assert_int_equal(detect->nface, model->collision.ntri + 2);
    ct_pairs near = {0};
    assert_int_equal(ct_detect_near(model, detect, model->rest, model->rest, 0, 4e-4, &near), CT_OK);
    int plane = 0, ball = 0, edges = 0;
    for (size_t i = 0; i < near.count; i++) {
        const ct_pair* p = near.item + i;
        plane += p->type == CT_CONTACT_PLANE && p->a == body && p->b == 1 && model->rest[3 * p->node[0] + 2] == 0;
        ball += p->type == CT_CONTACT_VERTEX_FACE && p->a == 2 && p->b == body && p->sign == 1;
        edges += p->type == CT_CONTACT_EDGE_EDGE && (p->a == 3 || p->b == 3);
    }
    assert_int_equal(plane, 16);
    assert_int_equal(ball, 1);
    assert_true(edges >= 3);
    assert_int_equal(ct_detect_intersections(model, detect, model->rest, NULL), 0);
    ct_pairs_free(&near);
    ct_detect_free(detect);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void a_model_without_colliders_has_no_contacts(void** state) {
    surfaces s = {0};
    allow_all(&s, true);
    ct_detect* detect = detect_of(&s);
    ct_pairs pairs = {0};
    double x[3] = {0};
    assert_int_equal(ct_detect_near(&s.model, detect, x, x, 0, 1, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_hits(&s.model, detect, x, x, 0, 0.1, NULL, &pairs), CT_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(ct_detect_intersections(&s.model, detect, x, NULL), 0);
    ct_pairs_free(&pairs);
    ct_detect_free(detect);
    free_surfaces(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_above_a_face_is_one_pair_on_its_side),
        cmocka_unit_test(near_lists_what_comes_near_and_nothing_else),
        cmocka_unit_test(a_ball_never_sinks_between_features),
        cmocka_unit_test(nothing_that_meets_is_missed),
        cmocka_unit_test(a_fast_body_never_passes_a_thin_plate),
        cmocka_unit_test(no_sampled_intersection_was_missed),
        cmocka_unit_test(intersections_are_those_of_brute_force),
        cmocka_unit_test(rigid_and_forbidden_pairs_are_left_out),
        cmocka_unit_test(round_obstacles_meet_every_feature),
        cmocka_unit_test(the_smallest_gap_is_in_the_list),
        cmocka_unit_test(planes_meet_free_vertices),
        cmocka_unit_test(touching_surfaces_part_outward),
        cmocka_unit_test(vertices_above_a_border_are_paired_with_a_face),
        cmocka_unit_test(hits_are_signed_on_the_side_they_come_from),
        cmocka_unit_test(lists_keep_their_memory_and_repeat_exactly),
        cmocka_unit_test(the_past_changes_nothing),
        cmocka_unit_test(degenerate_surfaces_are_edges_and_points),
        cmocka_unit_test(compiled_scenes_are_detected),
        cmocka_unit_test(a_model_without_colliders_has_no_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
