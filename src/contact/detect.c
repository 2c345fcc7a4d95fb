// Finding contacts. See detect.h.
//
// Every vertex is tested against every face and every edge against every edge, as far as the trees say that
// they may meet: boxes of the straight ways from x to the end, widened by half of what counts as near.
// Conservative advancement (shape/ccd.h) then decides, and the closest features at the time in question give
// the type. Points against edges and points come from the vertex-face tests alone: when two edges are closest
// at an end, that end is at least as close to a face at the other edge.
//
// What is found more than once, from two faces at an edge, counts as it was typed first: lists do not depend
// on the order of the search. Which features make a pair, and their signs: detect_features.h.
#include "contact/detect.h"

#include <math.h>
#include <string.h>

#include "contact/detect_build.h"
#include "contact/detect_features.h"
#include "contact/detect_lists.h"
#include "contact/growth_share.h"
#include "shape/ccd.h"
#include "shape/orient.h"

#define PARALLEL 0.02  // |sin| below which two edges are never an edge-edge contact
// of thickness - core: how far from the core a pair may be and still be called a hit
#define HIT_SLACK 0.1
// of thickness - core: how far a face may dip into what is round between corners that touch
#define DIP 0.35

ct_status ct_detect_create(ct_detect** out, const ct_collision* collision) {
    *out = NULL;
    ct_detect* detect = ct_alloc(1, sizeof *detect);
    if (!detect) return CT_OUT_OF_MEMORY;
    const ct_status status = ct_detect_build(detect, collision);
    if (status != CT_OK) {
        ct_detect_free(detect);
        return status;
    }
    *out = detect;
    return CT_OK;
}

void ct_detect_free(ct_detect* detect) {
    if (!detect) return;
    ct_lists_free(detect);
    ct_arena_free(&detect->arena);
    ct_pairs_free(&detect->scratch);
    ct_free(detect);
}

// ---------------------------------------------------------------------------------------------
// One search

void ct_detect_set_growth(ct_detect* detect, const double* share) { detect->growth = share; }

// Of two colliders: the distance to keep, and that never to be reached.
static void set_distances(ct_search* s, int a, int b) {
    const ct_collider *p = s->collision->collider + a, *q = s->collision->collider + b;
    const double* growth = s->detect->growth;
    const double whole = p->thickness + q->thickness,
                 kept = growth ? ct_growth_between(growth, a, b, NULL) * whole : whole;
    s->thickness = p->radius + q->radius + kept;
    s->core = p->radius + q->radius + 0.5 * kept;
}

// ---------------------------------------------------------------------------------------------
// From closest features to pairs

// From the edge or point that is second to the point that is first.
static ct_vec3 direction(const ct_search* s, double time, int p, int a, int b) {
    const ct_vec3 r = ct_vec3_sub(ct_search_at(s, p, time), ct_search_at(s, a, time));
    if (b < 0) return ct_vec3_normalise(r);
    const ct_vec3 e = ct_vec3_normalise(ct_vec3_sub(ct_search_at(s, b, time), ct_search_at(s, a, time)));
    return ct_vec3_normalise(ct_vec3_axpy(r, -ct_vec3_dot(r, e), e));
}

static ct_pair pair_of(const ct_search* s, double time, ct_contact_type type, double sign,
                       const int node[4]) {
    const ct_collision* collision = s->collision;
    const int a = s->detect->node_owner[node[0]],
              b = s->detect->node_owner[node[type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1]];
    const size_t rule = ct_collision_rule(collision, a, b);
    ct_pair pair = {.type = type,
                    .node = {node[0], node[1], node[2], node[3]},
                    .plane = -1,
                    .a = a,
                    .b = b,
                    .sign = sign,
                    .time = time,
                    .thickness = s->thickness,
                    .core = s->core,
                    .friction = collision->coefficient[collision->friction[rule]]};
    if (type == CT_CONTACT_TYPE_POINT_EDGE || type == CT_CONTACT_TYPE_POINT_POINT)
        ct_vec3_store(pair.side, direction(s, time, node[0], node[1], node[2]));
    return pair;
}

static bool add(const ct_search* s, double time, ct_contact_type type, double sign, int n0, int n1, int n2,
                int n3) {
    const ct_pair pair = pair_of(s, time, type, sign, (const int[4]){n0, n1, n2, n3});
    return ct_pairs_add(s->out, &pair);
}

static bool add_point_edge(const ct_search* s, double time, int p, int a, int b) {
    return a < b ? add(s, time, CT_CONTACT_TYPE_POINT_EDGE, 1, p, a, b, -1)
                 : add(s, time, CT_CONTACT_TYPE_POINT_EDGE, 1, p, b, a, -1);
}

static bool add_point_point(const ct_search* s, double time, int p, int q) {
    return p < q ? add(s, time, CT_CONTACT_TYPE_POINT_POINT, 1, p, q, -1, -1)
                 : add(s, time, CT_CONTACT_TYPE_POINT_POINT, 1, q, p, -1, -1);
}

// The pair of a vertex and the feature of the face that is closest at `time`.
static bool add_vertex_face(const ct_search* s, int face, const int node[4], double time, const ct_vec3 at[4],
                            const ct_closest* closest) {
    ct_feature with;
    if (!ct_feature_of_vertex(s, face, node, time, at, closest, &with)) return true;
    if (with.type == CT_CONTACT_TYPE_POINT_EDGE)
        return add_point_edge(s, time, node[0], with.node[0], with.node[1]);
    if (with.type == CT_CONTACT_TYPE_POINT_POINT) return add_point_point(s, time, node[0], with.node[0]);
    const int* f = s->detect->face + 3 * (size_t)with.face;
    return add(s, time, CT_CONTACT_TYPE_VERTEX_FACE, ct_feature_face_sign(s, with.face, node[0], time),
               node[0], f[0], f[1], f[2]);
}

// The ends of nearly parallel edges against the other edge's interior.
static bool add_parallel(const ct_search* s, double time, const int node[4], const ct_vec3 at[4]) {
    for (int i = 0; i < 4; i++) {
        const int j = i < 2 ? 2 : 0;
        double squared;
        const double t = ct_closest_on_segment(at[i], at[j], at[j + 1], &squared);
        if (t > 0 && t < 1 && !add_point_edge(s, time, node[i], node[j], node[j + 1])) return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// Tests of one vertex and one face, of two edges

static void load(const ct_search* s, const int node[4], ct_vec3 x[4], ct_vec3 end[4]) {
    for (int i = 0; i < 4; i++) {
        x[i] = ct_vec3_load(s->x + 3 * (size_t)node[i]);
        end[i] = ct_vec3_load(s->end + 3 * (size_t)node[i]);
    }
}

static ct_closest closest_of(ct_ccd_kind kind, const ct_vec3 at[4]) {
    return kind == CT_CCD_VERTEX_FACE ? ct_closest_point_triangle(at) : ct_closest_edges(at);
}

// The same for a search of what is near at x.
static bool is_near(const ct_search* s, ct_ccd_kind kind, const ct_vec3 x[4], ct_closest* closest) {
    const double near = (1 + CT_DETECT_NEAR_SLACK) * (s->thickness + s->margin);
    if (ct_ccd_apart(kind, x, x, near)) return false;
    *closest = closest_of(kind, x);
    return !(closest->distance > near);
}

// Whether the search wants the pair; if so, the time at which it is to be typed, the positions and closest
// features there.
static bool wanted(const ct_search* s, ct_ccd_kind kind, const int node[4], double* time, ct_vec3 at[4],
                   ct_closest* closest) {
    ct_vec3 x[4], end[4];
    load(s, node, x, end);
    if (!s->hits) {
        *time = 0;
        memcpy(at, x, sizeof x);
        return is_near(s, kind, x, closest);
    }
    if (ct_ccd_apart(kind, x, end, s->thickness)) return false;
    const bool met = ct_ccd(kind, x, end, s->core, HIT_SLACK * (s->thickness - s->core), time);
    if (!met) *time = 1;
    ct_ccd_at(x, end, *time, at);
    *closest = closest_of(kind, at);
    return met || closest->distance < s->thickness - 2 * s->tolerance * (s->thickness - s->core);
}

// A face, or an edge, that hardly dips into a sphere or capsule on which its corners rest: they stand for it.
// Their normals turn little, where the foot of a large sphere runs across a face that turns a little.
static bool rests_by_its_corners(const ct_search* s, int round, const int* node, int count) {
    const ct_detect* detect = s->detect;
    if (s->hits || detect->node_start[round] != detect->node_start[round + 1]) return false;
    if (!(s->collision->collider[detect->node_owner[round]].radius > 0)) return false;
    double longest = 0;
    for (int k = 0; k < count; k++) {
        const double* rest = s->collision->rest;
        const ct_vec3 e = ct_vec3_sub(ct_vec3_load(rest + 3 * (size_t)node[k]),
                                      ct_vec3_load(rest + 3 * (size_t)node[(k + 1) % count]));
        longest = fmax(longest, ct_vec3_dot(e, e));
    }
    // no point is farther from all corners than the longest edge / sqrt(3), of an edge than half of it
    return longest / (count == 3 ? 6 : 8) <= DIP * s->thickness * (s->thickness - s->core);
}

static bool test_vertex_face(const ct_search* s, const ct_candidate* candidate) {
    const int vertex = candidate->i, face = candidate->j, *f = s->detect->face + 3 * (size_t)face;
    const int node[4] = {vertex, f[0], f[1], f[2]};
    if (ct_candidate_is_apart(candidate, s->turn, s->x, s->end, node, 1, 4, s->need)) return true;
    if (face < s->collision->ntri && rests_by_its_corners(s, vertex, f, 3)) return true;
    double time;
    ct_vec3 at[4];
    ct_closest closest;
    return !wanted(s, CT_CCD_VERTEX_FACE, node, &time, at, &closest) ||
           add_vertex_face(s, face, node, time, at, &closest);
}

// An edge that hardly dips into a capsule, whose axis it passes at an angle. a, b: its ends.
static bool rests_by_its_ends(const ct_search* s, int round, ct_vec3 a, ct_vec3 b, double sine) {
    const double length = ct_vec3_norm(ct_vec3_sub(b, a)) * sine;
    return !s->hits && s->collision->collider[s->detect->node_owner[round]].radius > 0 &&
           length * length / 8 <= DIP * s->thickness * (s->thickness - s->core);
}

static bool test_edges(const ct_search* s, const ct_candidate* candidate) {
    const int i = candidate->i, j = candidate->j;
    const int *e = s->collision->edge + 2 * (size_t)i, *f = s->collision->edge + 2 * (size_t)j;
    // canonical order
    const int a = e[0] < e[1] ? e[0] : e[1], b = e[0] + e[1] - a, c = f[0] < f[1] ? f[0] : f[1],
              d = f[0] + f[1] - c;
    const int node[4] = {a < c ? a : c, a < c ? b : d, a < c ? c : a, a < c ? d : b};
    const int edge[2] = {a < c ? i : j, a < c ? j : i};
    if (ct_candidate_is_apart(candidate, s->turn, s->x, s->end, node, 2, 4, s->need)) return true;
    if (rests_by_its_corners(s, e[0], f, 2) || rests_by_its_corners(s, f[0], e, 2)) return true;
    double time;
    ct_vec3 at[4];
    ct_closest closest;
    if (!wanted(s, CT_CCD_EDGE_EDGE, node, &time, at, &closest)) return true;
    if (closest.mask != CT_CLOSEST_ALL) return true;  // found as a vertex and a face
    if (rests_by_its_ends(s, node[2], at[0], at[1], closest.sine) ||
        rests_by_its_ends(s, node[0], at[2], at[3], closest.sine))
        return true;
    const ct_vec3 n = ct_vec3_normalise(closest.apart);
    const bool out[2] = {ct_feature_edge_stands_out(s, edge[0], ct_vec3_scale(-1, n), time),
                         ct_feature_edge_stands_out(s, edge[1], n, time)};
    if (!s->hits && !out[0] && !out[1]) return true;
    if (closest.sine < PARALLEL) return !s->hits || add_parallel(s, time, node, at);
    if (!add(s, time, CT_CONTACT_TYPE_EDGE_EDGE, ct_feature_edge_sign(s, edge, node, time), node[0], node[1],
             node[2], node[3]))
        return false;
    s->out->item[s->out->count - 1].flat = (unsigned char)((out[0] ? 0 : 1) + (out[1] ? 0 : 2));
    return true;
}

// ---------------------------------------------------------------------------------------------
// All colliders

static ct_pair plane_pair(const ct_search* s, int plane, int collider, int node) {
    const ct_collision* collision = s->collision;
    const int b = collision->plane[plane].collider;
    const int rule = collision->friction[ct_collision_rule(collision, collider, b)];
    return (ct_pair){.type = CT_CONTACT_TYPE_PLANE,
                     .node = {node, -1, -1, -1},
                     .plane = plane,
                     .a = collider,
                     .b = b,
                     .sign = 1,
                     .thickness = s->thickness,
                     .core = s->core,
                     .friction = collision->coefficient[rule]};
}

// Nodes of a collider against a plane, which stands where it is at the end of the motion.
static bool search_plane(ct_search* s, int plane, int collider, ct_vec3 point, ct_vec3 normal) {
    const ct_bvh* tree = s->detect->node_tree + collider;
    const double below = s->hits ? (1 - s->tolerance) * s->thickness : s->thickness + s->margin;
    for (int i = 0; i < tree->count; i++) {
        const int v = tree->item[i];
        if (s->collision->node_rigid[v] == CT_RIGID_DRIVEN) continue;
        if (!(ct_vec3_dot(normal, ct_vec3_sub(ct_vec3_load(s->end + 3 * (size_t)v), point)) < below))
            continue;
        const ct_pair pair = plane_pair(s, plane, collider, v);
        if (!ct_pairs_add(s->out, &pair)) return false;
    }
    return true;
}

static bool search_planes(ct_search* s, double time) {
    const ct_collision* collision = s->collision;
    for (int p = 0; p < collision->nplane; p++) {
        double point[3], normal[3];
        ct_plane_pose(collision->plane + p, time, point, normal);
        const int b = collision->plane[p].collider;
        for (int a = 0; a < collision->ncollider; a++) {
            if (!collision->collide[ct_collision_rule(collision, a, b)] || collision->collider[a].driven)
                continue;
            set_distances(s, a, b);
            if (!search_plane(s, p, a, ct_vec3_load(point), ct_vec3_load(normal))) return false;
        }
    }
    return true;
}

// Pairs that stay farther apart are not wanted.
static double need_of(const ct_search* s) {
    const double room = s->thickness - s->core;
    return s->hits ? fmax(s->thickness - 2 * s->tolerance * room, s->core + HIT_SLACK * room)
                   : (1 + CT_DETECT_NEAR_SLACK) * (s->thickness + s->margin);
}

static bool search_lists(ct_search* s) {
    const ct_detect* detect = s->detect;
    for (size_t k = 0; k < detect->nlist; k++) {
        const ct_candidates* list = detect->list + k;
        s->turn = ct_candidates_turn(detect, list);
        set_distances(s, list->a, list->b);
        s->need = need_of(s);
        const ct_drift drift = ct_candidates_drift(detect, list, s->need);
        const ct_candidate *faces = list->of[CT_CANDIDATE_VERTEX_FACE].item,
                           *edges = list->of[CT_CANDIDATE_EDGES].item;
        for (size_t i = 0; i < list->of[CT_CANDIDATE_VERTEX_FACE].count; i++)
            if (!ct_candidate_is_far(faces + i, &drift, detect->node_owner[faces[i].i] == list->a) &&
                !test_vertex_face(s, faces + i))
                return false;
        for (size_t i = 0; i < list->of[CT_CANDIDATE_EDGES].count; i++)
            if (!ct_candidate_is_far(edges + i, &drift, true) && !test_edges(s, edges + i)) return false;
    }
    return true;
}

static ct_status search(ct_search* s, double time) {
    ct_detect* detect = s->detect;
    s->out->count = 0;
    const ct_status status = ct_lists_cover(detect, s->collision, s->x, s->end, s->margin, false);
    if (status != CT_OK) return status;
    if (!search_planes(s, time) || !search_lists(s)) return CT_OUT_OF_MEMORY;
    return ct_pairs_sort(s->out, &detect->scratch);
}

ct_status ct_detect_gather(const ct_collision* collision, ct_detect* detect, const double* x,
                           const double* end, double margin, double reach) {
    ct_lists_set(detect, margin, reach);
    return ct_lists_cover(detect, collision, x, end, margin, true);
}

ct_status ct_detect_near(const ct_collision* collision, ct_detect* detect, const double* x, double time,
                         double margin, ct_pairs* out) {
    ct_search s = {.collision = collision, .detect = detect, .x = x, .end = x, .margin = margin, .out = out};
    const ct_status status = search(&s, time);
    if (status == CT_OK) ct_feature_drop_repeated(&s, &detect->scratch, out);
    return status;
}

void ct_detect_pair(const ct_collision* collision, ct_detect* detect, const double* x, ct_contact_type type,
                    const int node[4], ct_pair* out) {
    ct_search s = {.collision = collision, .detect = detect, .x = x, .end = x};
    const int second = node[type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1];
    set_distances(&s, detect->node_owner[node[0]], detect->node_owner[second]);
    *out = pair_of(&s, 0, type, 1, node);
    ct_vec3 p[4];
    if (type != CT_CONTACT_TYPE_VERTEX_FACE && type != CT_CONTACT_TYPE_EDGE_EDGE) return;
    for (int k = 0; k < 4; k++) p[k] = ct_vec3_load(x + 3 * (size_t)node[k]);
    const ct_vec3 n = type == CT_CONTACT_TYPE_VERTEX_FACE
                          ? ct_vec3_cross(ct_vec3_sub(p[2], p[1]), ct_vec3_sub(p[3], p[1]))
                          : ct_vec3_cross(ct_vec3_sub(p[1], p[0]), ct_vec3_sub(p[3], p[2]));
    const ct_vec3 r = ct_vec3_sub(p[0], p[type == CT_CONTACT_TYPE_VERTEX_FACE ? 1 : 2]);
    out->sign = ct_vec3_dot(n, r) < 0 ? -1 : 1;
}

ct_status ct_detect_hits(const ct_collision* collision, ct_detect* detect, const double* x, const double* end,
                         double time, double tolerance, ct_pairs* out) {
    ct_search s = {.collision = collision,
                   .detect = detect,
                   .x = x,
                   .end = end,
                   .hits = true,
                   .tolerance = tolerance,
                   .out = out};
    return search(&s, time);
}

// ---------------------------------------------------------------------------------------------
// Certificate

typedef struct crossings {
    const ct_collision* collision;
    const double* x;
    ct_mat3 turn;           // of the list
    int count, edge, face;  // the first: the lowest edge, then the lowest face
} crossings;

// The direction between the centres keeps the edge (p[0], p[1]) from the triangle (p[2..4]), beyond
// round-off.
static bool is_apart(const ct_vec3 p[5]) {
    ct_vec3 r[5];
    double size = 0;
    for (int k = 0; k < 5; k++) {
        r[k] = ct_vec3_sub(p[k], p[2]);
        size = fmax(size, ct_vec3_dot(p[k], p[k]));
    }
    const ct_vec3 u = ct_vec3_axpy(ct_vec3_scale(1.5, ct_vec3_add(r[0], r[1])), -1, ct_vec3_add(r[3], r[4]));
    const double near = fmin(ct_vec3_dot(u, r[0]), ct_vec3_dot(u, r[1])),
                 far = fmax(0, fmax(ct_vec3_dot(u, r[3]), ct_vec3_dot(u, r[4])));
    const double room = near - far;
    return room > 0 && room * room > 1e-24 * size * ct_vec3_dot(u, u);
}

static void test_edge_face(crossings* c, const ct_candidate* candidate) {
    const int edge = candidate->i, face = candidate->j;
    const int *e = c->collision->edge + 2 * (size_t)edge, *f = c->collision->tri + 3 * (size_t)face;
    const int node[5] = {e[0], e[1], f[0], f[1], f[2]};
    if (ct_candidate_is_apart(candidate, c->turn, c->x, c->x, node, 2, 5, 0)) return;
    ct_vec3 p[5];
    for (int k = 0; k < 5; k++) p[k] = ct_vec3_load(c->x + 3 * (size_t)node[k]);
    if (is_apart(p) || !ct_edge_crosses_triangle(p[0], p[1], p[2], p[3], p[4])) return;
    if (c->count++ == 0 || edge < c->edge || (edge == c->edge && face < c->face)) {
        c->edge = edge;
        c->face = face;
    }
}

int ct_detect_intersections(const ct_collision* collision, ct_detect* detect, const double* x, int where[5]) {
    crossings found = {.collision = collision, .x = x};
    if (ct_lists_cover(detect, collision, x, x, 0, false) != CT_OK ||
        ct_lists_cross(detect, collision, x) != CT_OK)
        return -1;
    for (size_t k = 0; k < detect->nlist; k++) {
        const ct_candidates* list = detect->list + k;
        found.turn = ct_candidates_turn(detect, list);
        const ct_drift drift = ct_candidates_drift(detect, list, 0);
        const ct_candidate* item = list->of[CT_CANDIDATE_EDGE_FACE].item;
        for (size_t i = 0; i < list->of[CT_CANDIDATE_EDGE_FACE].count; i++)
            if (!ct_candidate_is_far(item + i, &drift, collision->edge_owner[item[i].i] == list->a))
                test_edge_face(&found, item + i);
    }
    if (found.count > 0 && where)
        for (int k = 0; k < 5; k++)
            where[k] = k < 2 ? collision->edge[2 * found.edge + k] : collision->tri[3 * found.face + k - 2];
    return found.count;
}
