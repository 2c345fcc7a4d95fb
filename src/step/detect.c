// Finding contacts. See detect.h.
//
// Every vertex is tested against every face and every edge against every edge, as far as the trees say that they may meet: boxes of the
// straight ways from x to the end, widened by half of what counts as near. Conservative advancement (shape/ccd.h) then decides, and the
// closest features at the time in question give the type. Points against edges and points come from the vertex-face tests alone: when
// two edges are closest at an end, that end is at least as close to a face at the other edge.
//
// The sign of a normal is the side on which the pair is at that time. Where it is nearer than half its core distance, which no accepted
// state is, the side says nothing (surfaces placed exactly upon one another); then the outward normals of colliders that
// enclose a volume decide: the front of the face, or the side of the second edge's triangles and against the first one's. What is still
// open (sheets) keeps the sign of the computed distance, and an exact zero counts as 1. For the same reason a vertex that is as near to an
// edge or a vertex of a closed surface, where the direction between them says nothing either, is paired with the faces there that its own
// surface faces. And a vertex exactly above the border of a face, as on meshes that lie in step, is paired with that face (the first of
// those in one plane): the same gap and normal, which stay true when it slides.
#include "step/detect.h"

#include <string.h>

#include "shape/ccd.h"
#include "shape/closest.h"
#include "shape/orient.h"
#include "step/detect_data.h"

#define PARALLEL 0.02     // |sin| below which two edges are never an edge-edge contact
#define NEAR_SLACK 1e-3   // of the distance: how much farther a pair may be and still be called near
#define HIT_SLACK 0.1     // of thickness - core: how far from the core a pair may be and still be called a hit

ct_status ct_detect_create(ct_detect** out, const ct_model* model) {
    *out = NULL;
    ct_detect* detect = ct_alloc(1, sizeof *detect);
    if (!detect) return CT_OUT_OF_MEMORY;
    const ct_status status = ct_detect_build(detect, model);
    if (status != CT_OK) {
        ct_detect_free(detect);
        return status;
    }
    *out = detect;
    return CT_OK;
}

void ct_detect_free(ct_detect* detect) {
    if (!detect) return;
    ct_arena_free(&detect->arena);
    ct_pairs_free(&detect->scratch);
    ct_pairs_free(&detect->known);
    ct_free(detect);
}

// ---------------------------------------------------------------------------------------------
// One search

typedef struct search {
    const ct_model* model;
    const ct_detect* detect;
    const double *x, *end;     // 3 nvert
    bool hits;                 // the rule of ct_detect_hits; otherwise that of ct_detect_near
    double margin;             // m, of near
    double tolerance;          // of hits
    int a, b;                  // the colliders at present
    double thickness, core;    // m, of the two
    ct_pairs* out;
} search;

static double thickness_of(const ct_collider* a, const ct_collider* b) {
    return a->radius + a->thickness + b->radius + b->thickness;
}

static double core_of(const ct_collider* a, const ct_collider* b) {
    return a->radius + b->radius + 0.5 * (a->thickness + b->thickness);
}

// Boxes of all primitives on their way from x to end, each widened so that two overlap when they may come as near as their
// thickness + margin; bare: neither thickness nor radius.
static void refit(ct_detect* detect, const ct_model* model, const double* x, const double* end, double margin, bool bare) {
    const ct_collision* collision = &model->collision;
    for (int i = 0; i < collision->nnode; i++) {
        const size_t v = (size_t)collision->node[i];
        const ct_collider* collider = collision->collider + collision->node_owner[i];
        const double pad = bare ? 0 : (1 + NEAR_SLACK) * (collider->radius + collider->thickness + 0.5 * margin);
        detect->node_box[v] = ct_box_around(x + 3 * v, end + 3 * v, pad);
    }
    for (int e = 0; e < collision->nedge; e++) {
        const int* edge = collision->edge + 2 * (size_t)e;
        detect->edge_box[e] = ct_box_join(detect->node_box[edge[0]], detect->node_box + edge[1]);
    }
    for (int f = 0; f < detect->nface; f++) {
        const int* face = detect->face + 3 * (size_t)f;
        const ct_box box = ct_box_join(detect->node_box[face[0]], detect->node_box + face[1]);
        detect->face_box[f] = ct_box_join(box, detect->node_box + face[2]);
    }
    for (int c = 0; c < collision->ncollider; c++) {
        ct_bvh_refit(detect->node_tree + c, detect->node_box);
        ct_bvh_refit(detect->edge_tree + c, detect->edge_box);
        ct_bvh_refit(detect->face_tree + c, detect->face_box);
    }
}

// Where a node is at a time of the search's motion.
static ct_vec3 node_at(const search* s, int node, double time) {
    const ct_vec3 x = ct_vec3_load(s->x + 3 * (size_t)node);
    return time == 0 ? x : ct_vec3_axpy(x, time, ct_vec3_sub(ct_vec3_load(s->end + 3 * (size_t)node), x));
}

// ---------------------------------------------------------------------------------------------
// From closest features to pairs

static ct_vec3 face_normal(const search* s, int tri, double time) {
    const int* node = s->model->collision.tri + 3 * (size_t)tri;
    const ct_vec3 a = node_at(s, node[0], time), b = node_at(s, node[1], time), c = node_at(s, node[2], time);
    return ct_vec3_cross(ct_vec3_sub(b, a), ct_vec3_sub(c, a));
}

// Sum of the unit normals of triangles whose collider encloses a volume; -1: none.
static ct_vec3 outward(const search* s, const int* tri, int count, double time) {
    ct_vec3 sum = {0, 0, 0};
    for (int k = 0; k < count; k++)
        if (tri[k] >= 0 && s->detect->closed[s->model->collision.tri_owner[tri[k]]])
            sum = ct_vec3_add(sum, ct_vec3_normalise(face_normal(s, tri[k], time)));
    return sum;
}

static double face_sign(const search* s, int face, int vertex, double time) {
    const ct_vec3 N = face_normal(s, face, time);
    const double side = ct_vec3_dot(N, ct_vec3_sub(node_at(s, vertex, time), node_at(s, s->detect->face[3 * (size_t)face], time)));
    if (s->detect->closed[s->detect->face_owner[face]] && fabs(side) <= 0.5 * s->core * ct_vec3_norm(N)) return 1;
    return side < 0 ? -1 : 1;
}

static double edge_sign(const search* s, const int edge[2], const int node[4], double time) {
    const ct_vec3 a = node_at(s, node[0], time), b = node_at(s, node[1], time);
    const ct_vec3 c = node_at(s, node[2], time), d = node_at(s, node[3], time);
    const ct_vec3 N = ct_vec3_cross(ct_vec3_sub(b, a), ct_vec3_sub(d, c));
    const double side = ct_vec3_dot(N, ct_vec3_sub(a, c));
    if (fabs(side) <= 0.5 * s->core * ct_vec3_norm(N)) {
        const int* tri = s->detect->edge_face;
        const ct_vec3 free = ct_vec3_sub(outward(s, tri + 2 * (size_t)edge[1], 2, time), outward(s, tri + 2 * (size_t)edge[0], 2, time));
        const double open = ct_vec3_dot(N, free);
        if (fabs(open) > 1e-6 * ct_vec3_norm(N)) return open < 0 ? -1 : 1;
    }
    return side < 0 ? -1 : 1;
}

// ---------------------------------------------------------------------------------------------
// Which features can be closest. Near pairs are looked at as the whole surface is: an edge or vertex counts only where it stands out
// against its neighbours along n, the direction towards the other primitive; elsewhere a face at it is as close, with a steadier normal.

#define STANDS_OUT 1e-3        // sine of the angle by which the neighbours must fall back
#define BESIDE 1e-3            // of barycentric coordinates: how far beside a face its vertex-face pair is still taken

static bool edge_stands_out(const search* s, int edge, ct_vec3 n, double time) {
    const ct_collision* collision = &s->model->collision;
    const int *e = collision->edge + 2 * (size_t)edge;
    const ct_vec3 a = node_at(s, e[0], time), along = ct_vec3_normalise(ct_vec3_sub(node_at(s, e[1], time), a));
    for (int k = 0; k < 2; k++) {
        const int t = s->detect->edge_face[2 * edge + k];
        if (t < 0) continue;
        const int* tri = collision->tri + 3 * (size_t)t;
        const int third = tri[0] != e[0] && tri[0] != e[1] ? tri[0] : tri[1] != e[0] && tri[1] != e[1] ? tri[1] : tri[2];
        const ct_vec3 r = ct_vec3_sub(node_at(s, third, time), a);
        const ct_vec3 into = ct_vec3_normalise(ct_vec3_axpy(r, -ct_vec3_dot(r, along), along));
        if (ct_vec3_dot(n, into) > -STANDS_OUT) return false;
    }
    return true;
}

static bool node_stands_out(const search* s, int node, ct_vec3 n, double time) {
    const ct_vec3 q = node_at(s, node, time);
    for (int i = s->detect->node_start[node]; i < s->detect->node_start[node + 1]; i++)
        for (int k = 0; k < 3; k++) {
            const int other = s->model->collision.tri[3 * (size_t)s->detect->node_face[i] + (size_t)k];
            if (other != node && ct_vec3_dot(n, ct_vec3_normalise(ct_vec3_sub(node_at(s, other, time), q))) > -STANDS_OUT) return false;
        }
    return true;
}

// The edge of a face between two of its nodes, -1: none (capsules).
static int edge_of(const search* s, int face, int a, int b) {
    for (int i = 0; face < s->model->collision.ntri && i < 3; i++) {
        const int edge = s->detect->face_edge[3 * face + i];
        const int* e = s->model->collision.edge + 2 * (size_t)edge;
        if (edge >= 0 && ((e[0] == a && e[1] == b) || (e[0] == b && e[1] == a))) return edge;
    }
    return -1;
}

// An edge (count 2) or vertex (count 1) of a face that is the closest feature stands out.
static bool stands_out(const search* s, int face, const ct_closest* closest, const int* feature, int count, double time) {
    const ct_vec3 n = ct_vec3_normalise(closest->apart);
    if (count == 1) return node_stands_out(s, feature[0], n, time);
    const int edge = edge_of(s, face, feature[0], feature[1]);
    return edge < 0 || edge_stands_out(s, edge, n, time);
}

// The foot on the face's plane lies in the face, or so little beside it that it makes no difference.
static bool foot_on_face(const search* s, int face, const ct_vec3 at[4], double distance) {
    const ct_vec3 e = ct_vec3_sub(at[2], at[1]), f = ct_vec3_sub(at[3], at[1]), r = ct_vec3_sub(at[0], at[1]), N = ct_vec3_cross(e, f);
    const double area = ct_vec3_dot(N, N);
    if (!(area > 0)) return false;
    const double side = ct_vec3_dot(N, r) / sqrt(area);
    if (fabs(side) < (1 - BESIDE) * distance || (side < 0 && s->detect->closed[s->detect->face_owner[face]])) return false;
    const double u = ct_vec3_dot(ct_vec3_cross(r, f), N) / area, v = ct_vec3_dot(ct_vec3_cross(e, r), N) / area;
    return u >= -BESIDE && v >= -BESIDE && u + v <= 1 + BESIDE;
}

// From the edge or point that is second to the point that is first.
static ct_vec3 direction(const search* s, double time, int p, int a, int b) {
    const ct_vec3 r = ct_vec3_sub(node_at(s, p, time), node_at(s, a, time));
    if (b < 0) return ct_vec3_normalise(r);
    const ct_vec3 e = ct_vec3_normalise(ct_vec3_sub(node_at(s, b, time), node_at(s, a, time)));
    return ct_vec3_normalise(ct_vec3_axpy(r, -ct_vec3_dot(r, e), e));
}

static bool add(const search* s, double time, ct_contact_type type, double sign, int n0, int n1, int n2, int n3) {
    const ct_collision* collision = &s->model->collision;
    const int a = s->detect->node_owner[n0], b = s->detect->node_owner[type == CT_CONTACT_EDGE_EDGE ? n2 : n1];
    const size_t rule = (size_t)a * (size_t)collision->ncollider + (size_t)b;
    ct_pair pair = {.type = type, .node = {n0, n1, n2, n3}, .plane = -1, .a = a, .b = b, .sign = sign, .thickness = s->thickness,
                          .core = s->core, .friction = s->model->friction[collision->friction[rule]]};
    if (type == CT_CONTACT_POINT_EDGE || type == CT_CONTACT_POINT_POINT) ct_vec3_store(pair.side, direction(s, time, n0, n1, n2));
    return ct_pairs_add(s->out, &pair);
}

static bool add_point_edge(const search* s, double time, int p, int a, int b) {
    return a < b ? add(s, time, CT_CONTACT_POINT_EDGE, 1, p, a, b, -1) : add(s, time, CT_CONTACT_POINT_EDGE, 1, p, b, a, -1);
}

static bool add_point_point(const search* s, double time, int p, int q) {
    return p < q ? add(s, time, CT_CONTACT_POINT_POINT, 1, p, q, -1, -1) : add(s, time, CT_CONTACT_POINT_POINT, 1, q, p, -1, -1);
}

// How a vertex upon an edge or a vertex of a closed surface is paired: 1: with the face, 0: not at all, -1: as anywhere else.
static int upon(const search* s, int face, int vertex, double time, const ct_closest* closest) {
    const ct_detect* detect = s->detect;
    if (face >= s->model->collision.ntri || closest->distance > 0.5 * s->core || !detect->closed[detect->face_owner[face]]) return -1;
    const int first = detect->node_start[vertex], count = detect->node_start[vertex + 1] - first;
    const ct_vec3 front = outward(s, &face, 1, time), own = ct_vec3_normalise(outward(s, detect->node_face + first, count, time));
    if (ct_vec3_dot(front, own) < -0.3) return 1;
    // in front of the face: outside, so that the direction away from the feature is right
    return ct_vec3_dot(front, closest->apart) > 0.25 * closest->distance && closest->distance > 1e-6 * s->core ? -1 : 0;
}

// The direction to the closest point is a triangle's normal, up to 1e-6.
static bool faces(const search* s, int face, double time, const ct_closest* closest) {
    const ct_vec3 normal = face_normal(s, face, time);
    const ct_vec3 across = ct_vec3_cross(normal, closest->apart);
    return ct_vec3_dot(across, across) < 1e-12 * closest->distance * closest->distance * ct_vec3_dot(normal, normal);
}

// The first face at the closest feature that the vertex is exactly above, -1: none.
static int face_below(const search* s, int vertex, double time, const ct_closest* closest, const int* feature, int count) {
    const ct_detect* detect = s->detect;
    for (int i = detect->node_start[feature[0]]; i < detect->node_start[feature[0] + 1]; i++) {
        const int face = detect->node_face[i], *node = s->model->collision.tri + 3 * (size_t)face;
        const bool shares = count == 1 || node[0] == feature[1] || node[1] == feature[1] || node[2] == feature[1];
        if (!shares || vertex == node[0] || vertex == node[1] || vertex == node[2]) continue;
        if (ct_detect_rigid(s->model, detect->node_rigid[vertex], detect->face_rigid[face])) continue;
        if (faces(s, face, time, closest)) return face;
    }
    return -1;
}

// The pair of a vertex and the feature of the face that is closest at `time`.
static bool add_vertex_face(const search* s, int face, const int node[4], double time, const ct_vec3 at[4], const ct_closest* closest) {
    int feature[3], count = 0;
    for (int k = 1; k < 4; k++)
        if (closest->mask >> k & 1) feature[count++] = node[k];
    const int rule = count == 3 ? 1 : upon(s, face, node[0], time, closest);
    if (rule == 0) return true;
    if (rule < 0) {
        const int own = face;
        face = face_below(s, node[0], time, closest, feature, count);
        if (face < 0 && foot_on_face(s, own, at, closest->distance)) face = own;
        if (face < 0 && !s->hits && !stands_out(s, own, closest, feature, count, time)) return true;
    }
    if (face >= 0) {
        const int* f = s->detect->face + 3 * (size_t)face;
        return add(s, time, CT_CONTACT_VERTEX_FACE, face_sign(s, face, node[0], time), node[0], f[0], f[1], f[2]);
    }
    return count == 2 ? add_point_edge(s, time, node[0], feature[0], feature[1]) : add_point_point(s, time, node[0], feature[0]);
}

// The ends of nearly parallel edges against the other edge's interior.
static bool add_parallel(const search* s, double time, const int node[4], const ct_vec3 at[4]) {
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

static void load(const search* s, const int node[4], ct_vec3 x[4], ct_vec3 end[4]) {
    for (int i = 0; i < 4; i++) {
        x[i] = ct_vec3_load(s->x + 3 * (size_t)node[i]);
        end[i] = ct_vec3_load(s->end + 3 * (size_t)node[i]);
    }
}

static ct_closest closest_of(ct_ccd_kind kind, const ct_vec3 at[4]) {
    return kind == CT_CCD_VERTEX_FACE ? ct_closest_point_triangle(at) : ct_closest_edges(at);
}

// Whether the search wants the pair; if so, the time at which it is to be typed, the positions and closest features there.
static bool wanted(const search* s, ct_ccd_kind kind, const int node[4], double* time, ct_vec3 at[4], ct_closest* closest) {
    ct_vec3 x[4], end[4];
    load(s, node, x, end);
    const double near = s->hits ? s->core : s->thickness + s->margin;
    const double slack = s->hits ? HIT_SLACK * (s->thickness - s->core) : NEAR_SLACK * near;
    if (ct_ccd_apart(kind, x, end, s->hits ? s->thickness : near + slack)) return false;
    const bool met = ct_ccd(kind, x, end, near, slack, time);
    if (!met && !s->hits) return false;
    if (!met) *time = 1;
    ct_ccd_at(x, end, *time, at);
    *closest = closest_of(kind, at);
    return met || closest->distance < s->thickness - 2 * s->tolerance * (s->thickness - s->core);
}

static bool visit_vertex_face(int vertex, int face, void* user) {
    const search* s = user;
    const ct_detect* detect = s->detect;
    const int* f = detect->face + 3 * (size_t)face;
    if (vertex == f[0] || vertex == f[1] || vertex == f[2]) return true;
    if (ct_detect_rigid(s->model, detect->node_rigid[vertex], detect->face_rigid[face])) return true;
    const int node[4] = {vertex, f[0], f[1], f[2]};
    double time;
    ct_vec3 at[4];
    ct_closest closest;
    return !wanted(s, CT_CCD_VERTEX_FACE, node, &time, at, &closest) || add_vertex_face(s, face, node, time, at, &closest);
}

static bool visit_edges(int i, int j, void* user) {
    const search* s = user;
    const int *e = s->model->collision.edge + 2 * (size_t)i, *f = s->model->collision.edge + 2 * (size_t)j;
    if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]) return true;
    if (ct_detect_rigid(s->model, s->detect->edge_rigid[i], s->detect->edge_rigid[j])) return true;
    // canonical order
    const int a = e[0] < e[1] ? e[0] : e[1], b = e[0] + e[1] - a, c = f[0] < f[1] ? f[0] : f[1], d = f[0] + f[1] - c;
    const int node[4] = {a < c ? a : c, a < c ? b : d, a < c ? c : a, a < c ? d : b};
    const int edge[2] = {a < c ? i : j, a < c ? j : i};
    double time;
    ct_vec3 at[4];
    ct_closest closest;
    if (!wanted(s, CT_CCD_EDGE_EDGE, node, &time, at, &closest)) return true;
    if (closest.mask != CT_CLOSEST_ALL) return true;  // found as a vertex and a face
    const ct_vec3 n = ct_vec3_normalise(closest.apart);
    if (!s->hits && !edge_stands_out(s, edge[1], n, time) && !edge_stands_out(s, edge[0], ct_vec3_scale(-1, n), time)) return true;
    if (closest.sine < PARALLEL) return !s->hits || add_parallel(s, time, node, at);
    return add(s, time, CT_CONTACT_EDGE_EDGE, edge_sign(s, edge, node, time), node[0], node[1], node[2], node[3]);
}

// ---------------------------------------------------------------------------------------------
// All colliders

// Nodes of a collider against a plane, which stands where it is at the end of the motion.
static bool search_plane(search* s, int plane, int collider, ct_vec3 point, ct_vec3 normal) {
    const ct_collision* collision = &s->model->collision;
    const ct_bvh* tree = s->detect->node_tree + collider;
    const int b = collision->plane[plane].collider;
    const int rule = collision->friction[(size_t)collider * (size_t)collision->ncollider + (size_t)b];
    const double below = s->hits ? (1 - s->tolerance) * s->thickness : s->thickness + s->margin;
    for (int i = 0; i < tree->count; i++) {
        const int v = tree->item[i];
        if (s->detect->node_rigid[v] == CT_RIGID_DRIVEN) continue;
        const double at_end = ct_vec3_dot(normal, ct_vec3_sub(node_at(s, v, 1), point));
        const double at_x = s->hits ? at_end : ct_vec3_dot(normal, ct_vec3_sub(node_at(s, v, 0), point));
        if (!(at_end < below || at_x < below)) continue;
        const ct_pair pair = {.type = CT_CONTACT_PLANE, .node = {v, -1, -1, -1}, .plane = plane, .a = collider, .b = b, .sign = 1,
                              .thickness = s->thickness, .core = s->core, .friction = s->model->friction[rule]};
        if (!ct_pairs_add(s->out, &pair)) return false;
    }
    return true;
}

static bool search_planes(search* s, double time) {
    const ct_collision* collision = &s->model->collision;
    for (int p = 0; p < collision->nplane; p++) {
        double point[3], normal[3];
        ct_plane_pose(collision->plane + p, time, point, normal);
        const int b = collision->plane[p].collider;
        for (int a = 0; a < collision->ncollider; a++) {
            if (!collision->collide[(size_t)a * (size_t)collision->ncollider + (size_t)b] || s->detect->driven[a]) continue;
            s->thickness = thickness_of(collision->collider + a, collision->collider + b);
            s->core = core_of(collision->collider + a, collision->collider + b);
            if (!search_plane(s, p, a, ct_vec3_load(point), ct_vec3_load(normal))) return false;
        }
    }
    return true;
}

static bool may_touch(const ct_model* model, const ct_detect* detect, int a, int b) {
    const ct_collision* collision = &model->collision;
    return collision->collide[(size_t)a * (size_t)collision->ncollider + (size_t)b] && !(detect->driven[a] && detect->driven[b]);
}

static bool search_colliders(search* s) {
    const ct_detect* detect = s->detect;
    const ct_collision* collision = &s->model->collision;
    for (int a = 0; a < collision->ncollider; a++)
        for (int b = a; b < collision->ncollider; b++) {
            if (!may_touch(s->model, detect, a, b)) continue;
            s->thickness = thickness_of(collision->collider + a, collision->collider + b);
            s->core = core_of(collision->collider + a, collision->collider + b);
            if (!ct_bvh_pairs(detect->node_tree + a, detect->face_tree + b, visit_vertex_face, s)) return false;
            if (a == b) {
                if (!ct_bvh_self_pairs(detect->edge_tree + a, visit_edges, s)) return false;
                continue;
            }
            if (!ct_bvh_pairs(detect->node_tree + b, detect->face_tree + a, visit_vertex_face, s)) return false;
            if (!ct_bvh_pairs(detect->edge_tree + a, detect->edge_tree + b, visit_edges, s)) return false;
        }
    return true;
}

// Barycentric coordinates of the foot of a vertex-face pair at the start of the motion; returns the least.
static double foot_weights(const search* s, const ct_pair* pair, double weight[3], ct_vec3* foot) {
    ct_vec3 at[4];
    for (int i = 0; i < 4; i++) at[i] = node_at(s, pair->node[i], 0);
    const ct_vec3 e = ct_vec3_sub(at[2], at[1]), f = ct_vec3_sub(at[3], at[1]), r = ct_vec3_sub(at[0], at[1]), N = ct_vec3_cross(e, f);
    const double area = ct_vec3_dot(N, N);
    weight[1] = ct_vec3_dot(ct_vec3_cross(r, f), N) / area;
    weight[2] = ct_vec3_dot(ct_vec3_cross(e, r), N) / area;
    weight[0] = 1 - weight[1] - weight[2];
    *foot = ct_vec3_axpy(ct_vec3_axpy(at[1], weight[1], e), weight[2], f);
    return fmin(weight[0], fmin(weight[1], weight[2]));
}

// The vertex is in front of another face as well, at the same point: that one counts when it holds the foot better, or as well and comes first.
static bool is_repeated(const search* s, const ct_pairs* list, size_t index) {
    const ct_pair* pair = &list->item[index];
    double weight[3], other_weight[3];
    ct_vec3 foot, other_foot;
    const double least = foot_weights(s, pair, weight, &foot);
    if (least > 2 * BESIDE) return false;
    const double size = ct_vec3_norm(ct_vec3_sub(node_at(s, pair->node[2], 0), node_at(s, pair->node[1], 0)));
    size_t first = index, last = index + 1;
    while (first > 0 && list->item[first - 1].type == pair->type && list->item[first - 1].node[0] == pair->node[0]) first--;
    while (last < list->count && list->item[last].type == pair->type && list->item[last].node[0] == pair->node[0]) last++;
    for (size_t i = first; i < last; i++) {
        if (i == index) continue;
        const double other = foot_weights(s, &list->item[i], other_weight, &other_foot);
        if (ct_vec3_norm(ct_vec3_sub(foot, other_foot)) > 4 * BESIDE * size) continue;
        if (other > least || (other == least && i < index)) return true;
    }
    return false;
}

// The first vertex-face pair of a vertex in a sorted list.
static size_t first_face(const ct_pairs* list, int vertex) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const ct_pair* pair = &list->item[middle];
        if (pair->type < CT_CONTACT_VERTEX_FACE || (pair->type == CT_CONTACT_VERTEX_FACE && pair->node[0] < vertex)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool has_node(const ct_pair* pair, int node) { return pair->node[1] == node || pair->node[2] == node || pair->node[3] == node; }

// The vertex touches a face that the edge (a, b), or the node a alone (b negative), belongs to.
static bool has_face(const ct_pairs* list, int vertex, int a, int b) {
    for (size_t i = first_face(list, vertex); i < list->count; i++) {
        const ct_pair* pair = &list->item[i];
        if (pair->type != CT_CONTACT_VERTEX_FACE || pair->node[0] != vertex) return false;
        if (has_node(pair, a) && (b < 0 || has_node(pair, b))) return true;
    }
    return false;
}

// A face's contact stands for that of its edges and corners.
static bool is_covered(const ct_pairs* list, const ct_pair* pair) {
    const int* node = pair->node;
    if (pair->type == CT_CONTACT_POINT_EDGE) return has_face(list, node[0], node[1], node[2]);
    return pair->type == CT_CONTACT_POINT_POINT && (has_face(list, node[0], node[1], -1) || has_face(list, node[1], node[0], -1));
}

// A vertex above the border of faces of one surface touches one of them; two vertices upon one another, each with a face of the other's
// surface, are one contact: that of the lower node.
static void drop_repeated(const search* s, ct_pairs* all, ct_pairs* out) {
    int* partner = s->detect->partner;
    memcpy(all->item, out->item, out->count * sizeof(ct_pair));
    all->count = out->count;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const ct_pair* pair = &all->item[i];
        if (is_covered(all, pair)) continue;
        if (pair->type == CT_CONTACT_VERTEX_FACE) {
            double weight[3];
            ct_vec3 foot;
            if (is_repeated(s, all, i)) continue;
            foot_weights(s, pair, weight, &foot);
            int node = -1;
            for (int k = 0; k < 3; k++)
                if (weight[k] > 1 - 4 * BESIDE) node = pair->node[k + 1];
            if (node >= 0 && node < pair->node[0] && partner[node] == pair->node[0]) continue;
            if (node >= 0) partner[pair->node[0]] = node;
        }
        out->item[count++] = *pair;
    }
    out->count = count;
    for (size_t i = 0; i < all->count; i++) partner[all->item[i].node[0]] = -1;
}

ct_status ct_detect_near(const ct_model* model, ct_detect* detect, const double* x, const double* toward, double time, double margin,
                         ct_pairs* out) {
    search s = {.model = model, .detect = detect, .x = x, .end = toward, .margin = margin, .out = out};
    out->count = 0;
    refit(detect, model, x, toward, margin, false);
    if (!search_planes(&s, time) || !search_colliders(&s)) return CT_OUT_OF_MEMORY;
    if (ct_pairs_sort(out, &detect->scratch) != CT_OK) return CT_OUT_OF_MEMORY;
    drop_repeated(&s, &detect->scratch, out);
    return CT_OK;
}

ct_status ct_detect_hits(const ct_model* model, ct_detect* detect, const double* x, const double* end, double time, double tolerance,
                         const ct_pairs* known, ct_pairs* out) {
    search s = {.model = model, .detect = detect, .x = x, .end = end, .hits = true, .tolerance = tolerance, .out = out};
    out->count = 0;
    refit(detect, model, x, end, 0, false);
    if (!search_planes(&s, time) || !search_colliders(&s)) return CT_OUT_OF_MEMORY;
    if (ct_pairs_sort(out, &detect->scratch) != CT_OK) return CT_OUT_OF_MEMORY;
    if (!known || known->count == 0) return CT_OK;
    // the known pairs may come in any order
    detect->known.count = 0;
    for (size_t i = 0; i < known->count; i++)
        if (!ct_pairs_add(&detect->known, known->item + i)) return CT_OUT_OF_MEMORY;
    if (ct_pairs_sort(&detect->known, &detect->scratch) != CT_OK) return CT_OUT_OF_MEMORY;
    ct_pairs_remove(out, &detect->known);
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Certificate

typedef struct crossings {
    const ct_model* model;
    const ct_detect* detect;
    const double* x;
    int count, edge, face;     // the first: the lowest edge, then the lowest face
} crossings;

static bool visit_edge_face(int edge, int face, void* user) {
    crossings* c = user;
    const ct_collision* collision = &c->model->collision;
    if (face >= collision->ntri) return true;
    const int *e = collision->edge + 2 * (size_t)edge, *f = collision->tri + 3 * (size_t)face;
    for (int k = 0; k < 3; k++)
        if (f[k] == e[0] || f[k] == e[1]) return true;
    if (ct_detect_rigid(c->model, c->detect->edge_rigid[edge], c->detect->face_rigid[face])) return true;
    ct_vec3 p[5];
    for (int k = 0; k < 5; k++) p[k] = ct_vec3_load(c->x + 3 * (size_t)(k < 2 ? e[k] : f[k - 2]));
    if (!ct_edge_crosses_triangle(p[0], p[1], p[2], p[3], p[4])) return true;
    if (c->count++ == 0 || edge < c->edge || (edge == c->edge && face < c->face)) {
        c->edge = edge;
        c->face = face;
    }
    return true;
}

int ct_detect_intersections(const ct_model* model, ct_detect* detect, const double* x, int where[5]) {
    crossings found = {.model = model, .detect = detect, .x = x};
    const ct_collision* collision = &model->collision;
    refit(detect, model, x, x, 0, true);
    for (int a = 0; a < collision->ncollider; a++)
        for (int b = 0; b < collision->ncollider; b++)
            if (may_touch(model, detect, a, b)) ct_bvh_pairs(detect->edge_tree + a, detect->face_tree + b, visit_edge_face, &found);
    if (found.count > 0 && where)
        for (int k = 0; k < 5; k++) where[k] = k < 2 ? collision->edge[2 * found.edge + k] : collision->tri[3 * found.face + k - 2];
    return found.count;
}
