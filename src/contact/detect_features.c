// The rules of features. See detect_features.h.
#include "contact/detect_features.h"

#include <string.h>

#define STANDS_OUT 1e-3  // sine of the angle by which the surface around must fall back
// of barycentric coordinates: how far beside a face its vertex-face pair is still taken
#define BESIDE 1e-3
#define PARALLEL 0.02  // sine of the angle between normals that say the same
#define SLIVER 1e-10   // sine below which a triangle has no area, as in shape/closest.c

// ---------------------------------------------------------------------------------------------
// Sides

static ct_vec3 face_normal(const ct_search* s, int tri, double time) {
    const int* node = s->collision->tri + 3 * (size_t)tri;
    const ct_vec3 a = ct_search_at(s, node[0], time), b = ct_search_at(s, node[1], time),
                  c = ct_search_at(s, node[2], time);
    return ct_vec3_cross(ct_vec3_sub(b, a), ct_vec3_sub(c, a));
}

// Sum of the unit normals of triangles whose collider encloses a volume; -1: none.
static ct_vec3 outward(const ct_search* s, const int* tri, int count, double time) {
    ct_vec3 sum = {0, 0, 0};
    for (int k = 0; k < count; k++)
        if (tri[k] >= 0 && s->detect->closed[s->collision->tri_owner[tri[k]]])
            sum = ct_vec3_add(sum, ct_vec3_normalise(face_normal(s, tri[k], time)));
    return sum;
}

double ct_feature_face_sign(const ct_search* s, int face, int vertex, double time) {
    const ct_vec3 N = face_normal(s, face, time);
    const ct_vec3 a = ct_search_at(s, s->detect->face[3 * (size_t)face], time);
    const double side = ct_vec3_dot(N, ct_vec3_sub(ct_search_at(s, vertex, time), a));
    if (s->detect->closed[s->detect->face_owner[face]] && fabs(side) <= 0.5 * s->core * ct_vec3_norm(N))
        return 1;
    return side < 0 ? -1 : 1;
}

double ct_feature_edge_sign(const ct_search* s, const int edge[2], const int node[4], double time) {
    const ct_vec3 a = ct_search_at(s, node[0], time), b = ct_search_at(s, node[1], time);
    const ct_vec3 c = ct_search_at(s, node[2], time), d = ct_search_at(s, node[3], time);
    const ct_vec3 N = ct_vec3_cross(ct_vec3_sub(b, a), ct_vec3_sub(d, c));
    const double side = ct_vec3_dot(N, ct_vec3_sub(a, c));
    if (fabs(side) <= 0.5 * s->core * ct_vec3_norm(N)) {
        const int* tri = s->detect->edge_face;
        const ct_vec3 free = ct_vec3_sub(outward(s, tri + 2 * (size_t)edge[1], 2, time),
                                         outward(s, tri + 2 * (size_t)edge[0], 2, time));
        const double open = ct_vec3_dot(N, free);
        if (fabs(open) > 1e-6 * ct_vec3_norm(N)) return open < 0 ? -1 : 1;
    }
    return side < 0 ? -1 : 1;
}

// ---------------------------------------------------------------------------------------------
// What stands out

// The third node of a triangle at an edge, seen across the edge: along u, of length 1; false: the triangle
// has no area.
static bool across(const ct_search* s, const int* edge, int tri, double time, ct_vec3* u) {
    const int* node = s->collision->tri + 3 * (size_t)tri;
    int third = node[2];
    for (int k = 0; k < 2; k++)
        if (node[k] != edge[0] && node[k] != edge[1]) third = node[k];
    const ct_vec3 a = ct_search_at(s, edge[0], time), r = ct_vec3_sub(ct_search_at(s, third, time), a);
    const ct_vec3 along = ct_vec3_normalise(ct_vec3_sub(ct_search_at(s, edge[1], time), a));
    const ct_vec3 into = ct_vec3_axpy(r, -ct_vec3_dot(r, along), along);
    const double size = ct_vec3_norm(into);
    *u = ct_vec3_scale(1 / size, into);
    return size > SLIVER * ct_vec3_norm(r);
}

bool ct_feature_edge_stands_out(const ct_search* s, int edge, ct_vec3 n, double time) {
    for (int k = 0; k < 2; k++) {
        const int tri = s->detect->edge_face[2 * (size_t)edge + (size_t)k];
        ct_vec3 u;
        if (tri < 0 || !across(s, s->collision->edge + 2 * (size_t)edge, tri, time, &u)) continue;
        if (ct_vec3_dot(n, u) > -STANDS_OUT) return false;
    }
    return true;
}

// The edge of a face between two of its nodes, -1: none (capsules).
static int edge_of(const ct_search* s, int face, int a, int b) {
    for (int i = 0; face < s->collision->ntri && i < 3; i++) {
        const int edge = s->detect->face_edge[3 * face + i];
        const int* e = s->collision->edge + 2 * (size_t)edge;
        if (edge >= 0 && ((e[0] == a && e[1] == b) || (e[0] == b && e[1] == a))) return edge;
    }
    return -1;
}

// A node stands out; if not, *level: the lowest node of an edge here that does, across n, and may touch the
// vertex; -1: none.
static bool node_stands_out(const ct_search* s, int node, int vertex, ct_vec3 n, double time, int* level) {
    const ct_detect* detect = s->detect;
    const ct_vec3 q = ct_search_at(s, node, time);
    bool out = true;
    *level = -1;
    for (int i = 3 * detect->node_start[node]; i < 3 * detect->node_start[node + 1]; i++) {
        const int face = detect->node_face[i / 3],
                  other = s->collision->tri[3 * (size_t)face + (size_t)(i % 3)];
        if (other == node) continue;
        const ct_vec3 r = ct_vec3_sub(ct_search_at(s, other, time), q);
        const double rise = ct_vec3_dot(n, r), length = ct_vec3_norm(r);
        if (length == 0 || rise <= -STANDS_OUT * length) continue;
        out = false;
        if (rise > STANDS_OUT * length || other == vertex || (*level >= 0 && *level <= other)) continue;
        const int edge = edge_of(s, face, node, other);
        if (edge < 0 ||
            ct_detect_rigid(s->collision, s->collision->node_rigid[vertex], detect->edge_rigid[edge]))
            continue;
        if (ct_feature_edge_stands_out(s, edge, n, time)) *level = other;
    }
    return out;
}

// The vertex's foot on the plane of a face lies in the face, or so little beside it that it makes no
// difference.
static bool foot_on_face(const ct_search* s, int face, const ct_vec3 at[4], const ct_closest* closest) {
    const ct_vec3 e = ct_vec3_sub(at[2], at[1]), f = ct_vec3_sub(at[3], at[1]), r = ct_vec3_sub(at[0], at[1]),
                  N = ct_vec3_cross(e, f);
    const double area = ct_vec3_dot(N, N), longest = fmax(ct_vec3_dot(e, e), ct_vec3_dot(f, f));
    if (!(area > SLIVER * SLIVER * longest * longest)) return false;
    const double side = ct_vec3_dot(N, r) / sqrt(area);
    if (side < 0 && s->detect->closed[s->detect->face_owner[face]]) return false;
    // level with the face, seen from the vertex
    const ct_vec3 beside = ct_vec3_axpy(closest->apart, -ct_vec3_dot(N, closest->apart) / area, N);
    if (ct_vec3_norm(beside) <= 2 * STANDS_OUT * closest->distance) return true;
    if (fabs(side) < (1 - BESIDE) * closest->distance) return false;
    const double u = ct_vec3_dot(ct_vec3_cross(r, f), N) / area,
                 v = ct_vec3_dot(ct_vec3_cross(e, r), N) / area;
    return u >= -BESIDE && v >= -BESIDE && u + v <= 1 + BESIDE;
}

// ---------------------------------------------------------------------------------------------
// What a vertex is paired with
// How a vertex upon an edge or a vertex of a closed surface is paired: 1: with the face, 0: not at all, -1:
// as anywhere else.
static int upon(const ct_search* s, int face, int vertex, double time, const ct_closest* closest) {
    const ct_detect* detect = s->detect;
    if (face >= s->collision->ntri || closest->distance > 0.5 * s->core ||
        !detect->closed[detect->face_owner[face]])
        return -1;
    const int first = detect->node_start[vertex], count = detect->node_start[vertex + 1] - first;
    const ct_vec3 front = outward(s, &face, 1, time),
                  own = ct_vec3_normalise(outward(s, detect->node_face + first, count, time));
    if (ct_vec3_dot(front, own) < -0.3) return 1;
    // in front of the face: outside, so that the direction away from the feature is right
    return ct_vec3_dot(front, closest->apart) > 0.25 * closest->distance && closest->distance > 1e-6 * s->core
               ? -1
               : 0;
}

// The direction to the closest point is a triangle's normal, up to 1e-6.
static bool faces(const ct_search* s, int face, double time, const ct_closest* closest) {
    const ct_vec3 normal = face_normal(s, face, time);
    const ct_vec3 across = ct_vec3_cross(normal, closest->apart);
    return ct_vec3_dot(across, across) <
           1e-12 * closest->distance * closest->distance * ct_vec3_dot(normal, normal);
}

// The first face at the closest feature that the vertex is exactly above, -1: none.
static int face_below(const ct_search* s, int vertex, double time, const ct_closest* closest,
                      const int* feature, int count) {
    const ct_detect* detect = s->detect;
    for (int i = detect->node_start[feature[0]]; i < detect->node_start[feature[0] + 1]; i++) {
        const int face = detect->node_face[i], *node = s->collision->tri + 3 * (size_t)face;
        const bool shares =
            count == 1 || node[0] == feature[1] || node[1] == feature[1] || node[2] == feature[1];
        if (!shares || vertex == node[0] || vertex == node[1] || vertex == node[2]) continue;
        if (ct_detect_rigid(s->collision, s->collision->node_rigid[vertex], detect->face_rigid[face]))
            continue;
        if (faces(s, face, time, closest)) return face;
    }
    return -1;
}

// An edge or a point that is closest and has no face below the vertex.
static bool bare_feature(const ct_search* s, int face, const int* feature, int count, int vertex, double time,
                         ct_vec3 n, ct_feature* out) {
    *out = (ct_feature){.type = count == 2 ? CT_CONTACT_TYPE_POINT_EDGE : CT_CONTACT_TYPE_POINT_POINT,
                        .node = {feature[0], feature[count - 1]}};
    if (s->hits) return true;
    if (count == 2) {
        const int edge = edge_of(s, face, feature[0], feature[1]);
        return edge < 0 || ct_feature_edge_stands_out(s, edge, n, time);
    }
    int level;
    if (node_stands_out(s, feature[0], vertex, n, time, &level)) return true;
    *out = (ct_feature){.type = CT_CONTACT_TYPE_POINT_EDGE, .node = {feature[0], level}};
    return level >= 0;
}

bool ct_feature_of_vertex(const ct_search* s, int face, const int node[4], double time, const ct_vec3 at[4],
                          const ct_closest* closest, ct_feature* out) {
    int feature[3], count = 0;
    for (int k = 1; k < 4; k++)
        if (closest->mask >> k & 1) feature[count++] = node[k];
    const int rule = count == 3 ? 1 : upon(s, face, node[0], time, closest);
    if (rule == 0) return false;
    int below = face;
    if (rule < 0) {
        below = face_below(s, node[0], time, closest, feature, count);
        if (below < 0 && foot_on_face(s, face, at, closest)) below = face;
    }
    *out = (ct_feature){.type = CT_CONTACT_TYPE_VERTEX_FACE, .face = below};
    return below >= 0 ||
           bare_feature(s, face, feature, count, node[0], time, ct_vec3_normalise(closest->apart), out);
}
// ---------------------------------------------------------------------------------------------
// Repetitions

// Barycentric coordinates of the foot of a vertex-face pair at a time; returns the least.
static double foot_weights(const ct_search* s, const ct_pair* pair, double time, double weight[3],
                           ct_vec3* foot) {
    ct_vec3 at[4];
    for (int i = 0; i < 4; i++) at[i] = ct_search_at(s, pair->node[i], time);
    const ct_vec3 e = ct_vec3_sub(at[2], at[1]), f = ct_vec3_sub(at[3], at[1]), r = ct_vec3_sub(at[0], at[1]),
                  N = ct_vec3_cross(e, f);
    const double area = ct_vec3_dot(N, N);
    weight[1] = ct_vec3_dot(ct_vec3_cross(r, f), N) / area;
    weight[2] = ct_vec3_dot(ct_vec3_cross(e, r), N) / area;
    weight[0] = 1 - weight[1] - weight[2];
    *foot = ct_vec3_axpy(ct_vec3_axpy(at[1], weight[1], e), weight[2], f);
    return fmin(weight[0], fmin(weight[1], weight[2]));
}

// The normals of two vertex-face pairs agree (sense 1), or are opposite (sense -1), when the first is typed.
static bool is_parallel(const ct_search* s, const ct_pair* a, const ct_pair* b, double sense) {
    const ct_pair* pair[2] = {a, b};
    ct_vec3 n[2];
    for (int i = 0; i < 2; i++) {
        const int* node = pair[i]->node;
        const ct_vec3 p = ct_search_at(s, node[1], a->time);
        n[i] = ct_vec3_cross(ct_vec3_sub(ct_search_at(s, node[2], a->time), p),
                             ct_vec3_sub(ct_search_at(s, node[3], a->time), p));
        n[i] = ct_vec3_scale(pair[i]->sign, ct_vec3_normalise(n[i]));
    }
    return sense * ct_vec3_dot(n[0], n[1]) > 0 && ct_vec3_norm(ct_vec3_cross(n[0], n[1])) < PARALLEL;
}

// The corner of its face that the vertex of a pair is upon, -1: none.
static int corner_below(const ct_search* s, const ct_pair* pair) {
    double weight[3];
    ct_vec3 foot;
    foot_weights(s, pair, pair->time, weight, &foot);
    for (int k = 0; k < 3; k++)
        if (weight[k] > 1 - 4 * BESIDE) return pair->node[k + 1];
    return -1;
}

// The vertex is above another face as well, at the same place, to the same side, and not farther: that one
// counts when it holds the foot better, or as well and comes first.
static bool is_repeated(const ct_search* s, const ct_pairs* list, size_t index) {
    const ct_pair* pair = &list->item[index];
    double weight[3], other_weight[3];
    ct_vec3 foot, other_foot;
    const double least = foot_weights(s, pair, pair->time, weight, &foot);
    if (least > 2 * BESIDE) return false;
    const double size = ct_vec3_norm(
        ct_vec3_sub(ct_search_at(s, pair->node[2], pair->time), ct_search_at(s, pair->node[1], pair->time)));
    const ct_vec3 at = ct_search_at(s, pair->node[0], pair->time);
    const double distance = ct_vec3_norm(ct_vec3_sub(at, foot));
    size_t first = index, last = index + 1;
    while (first > 0 && list->item[first - 1].type == pair->type &&
           list->item[first - 1].node[0] == pair->node[0])
        first--;
    while (last < list->count && list->item[last].type == pair->type &&
           list->item[last].node[0] == pair->node[0])
        last++;
    for (size_t i = first; i < last; i++) {
        if (i == index) continue;
        const double other = foot_weights(s, &list->item[i], pair->time, other_weight, &other_foot);
        if (ct_vec3_norm(ct_vec3_sub(foot, other_foot)) > 4 * (BESIDE * size + STANDS_OUT * distance))
            continue;
        if (ct_vec3_norm(ct_vec3_sub(at, other_foot)) > distance + PARALLEL * pair->thickness) continue;
        if (!is_parallel(s, pair, &list->item[i], 1)) continue;
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
        if (pair->type < CT_CONTACT_TYPE_VERTEX_FACE ||
            (pair->type == CT_CONTACT_TYPE_VERTEX_FACE && pair->node[0] < vertex))
            low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool has_node(const ct_pair* pair, int node) {
    return pair->node[1] == node || pair->node[2] == node || pair->node[3] == node;
}

// The vertex touches a face that the edge (a, b), or the node a alone (b negative), belongs to.
static bool has_face(const ct_pairs* list, int vertex, int a, int b) {
    for (size_t i = first_face(list, vertex); i < list->count; i++) {
        const ct_pair* pair = &list->item[i];
        if (pair->type != CT_CONTACT_TYPE_VERTEX_FACE || pair->node[0] != vertex) return false;
        if (has_node(pair, a) && (b < 0 || has_node(pair, b))) return true;
    }
    return false;
}

// An edge of a surface whose ends both touch faces of the collider, not much longer than the edge of that
// collider that it crosses.
static bool rests_by_its_ends(const ct_search* s, const ct_pairs* list, const int edge[2],
                              const int crossed[2], int collider) {
    // of no triangle
    if (s->detect->node_start[edge[0]] == s->detect->node_start[edge[0] + 1]) return false;
    const ct_vec3 e = ct_vec3_sub(ct_search_at(s, edge[1], 0), ct_search_at(s, edge[0], 0));
    const ct_vec3 f = ct_vec3_sub(ct_search_at(s, crossed[1], 0), ct_search_at(s, crossed[0], 0));
    if (ct_vec3_dot(e, e) > 4 * ct_vec3_dot(f, f)) return false;
    int found = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = first_face(list, edge[k]); i < list->count; i++) {
            const ct_pair* pair = &list->item[i];
            if (pair->type != CT_CONTACT_TYPE_VERTEX_FACE || pair->node[0] != edge[k]) break;
            if (pair->b != collider) continue;
            found++;
            break;
        }
    return found == 2;
}

// A face's contact stands for that of its edges and corners; and an edge whose ends both touch faces needs no
// contact with the edges within them.
static bool is_covered(const ct_search* s, const ct_pairs* list, const ct_pair* pair) {
    const int* node = pair->node;
    if (pair->type == CT_CONTACT_TYPE_EDGE_EDGE)
        return ((pair->flat & 1) && rests_by_its_ends(s, list, node + 2, node, pair->a)) ||
               ((pair->flat & 2) && rests_by_its_ends(s, list, node, node + 2, pair->b));
    if (pair->type == CT_CONTACT_TYPE_POINT_EDGE) return has_face(list, node[0], node[1], node[2]);
    return pair->type == CT_CONTACT_TYPE_POINT_POINT &&
           (has_face(list, node[0], node[1], -1) || has_face(list, node[1], node[0], -1));
}

void ct_feature_drop_repeated(const ct_search* s, ct_pairs* all, ct_pairs* out) {
    int* partner = s->detect->partner;
    if (out->count == 0) return;
    memcpy(all->item, out->item, out->count * sizeof(ct_pair));
    all->count = out->count;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const ct_pair* pair = &all->item[i];
        if (is_covered(s, all, pair)) continue;
        if (pair->type == CT_CONTACT_TYPE_VERTEX_FACE) {
            if (is_repeated(s, all, i)) continue;
            const int corner = corner_below(s, pair),
                      met = corner >= 0 && corner < pair->node[0] ? partner[corner] : -1;
            if (met >= 0 && corner_below(s, &all->item[met]) == pair->node[0] &&
                is_parallel(s, pair, &all->item[met], -1))
                continue;
            if (corner >= 0) partner[pair->node[0]] = (int)i;
        }
        out->item[count++] = *pair;
    }
    out->count = count;
    for (size_t i = 0; i < all->count; i++) partner[all->item[i].node[0]] = -1;
}
