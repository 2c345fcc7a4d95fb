// Self-contact. See detect_self.h.
#include "contact/detect_self.h"

#include "math/svd3.h"
#include "shape/closest.h"
#include "shape/orient.h"

#define PART 32     // faces of a part, at least
#define REACH 0.3   // of the mean edge: how much farther than needed pairs are listed
#define SLACK 1e-4  // of D: for the inexact directions in tests of nearly parallel edges
// the tests of a pair advance by at least (distance - need) / motion, at most 256 times
#define STEPS 200
#define LEAST_WAIT 8  // searches between two renewals
#define MOST_WAIT 256
#define LONG 64  // searches that make a renewal worth its time

typedef enum kind { VERTEX_FACE, EDGES, EDGE_FACE } kind;

// ---------------------------------------------------------------------------------------------
// Setting up

// The first face that holds a node or an edge looks after it.
static void set_own(ct_detect* detect, const ct_collision* collision, bool* taken) {
    for (int i = 0; i < 3 * detect->nface; i++) {
        const int v = detect->face[i];
        detect->own_node[i] = taken[v] ? -1 : v;
        taken[v] = true;
        detect->own_edge[i] = -1;
    }
    for (int e = 0; e < collision->nedge; e++) {
        const int *tri = detect->edge_face + 2 * (size_t)e,
                  first = tri[0] >= 0 && (tri[1] < 0 || tri[0] < tri[1]) ? tri[0] : tri[1];
        if (first < 0) continue;
        int* place = detect->own_edge + 3 * (size_t)first;
        while (*place >= 0) place++;
        *place = e;
    }
    // faces made of an edge, in the order of the edges
    int face = collision->ntri;
    for (int e = 0; e < collision->nedge; e++)
        if (detect->edge_face[2 * (size_t)e] < 0 && detect->edge_face[2 * (size_t)e + 1] < 0)
            detect->own_edge[3 * (size_t)face++] = e;
}

// Behind the last node of every subtree.
static void set_past(const ct_bvh* tree, int* past) {
    for (int n = tree->nnode - 1; n >= 0; n--)
        past[n] = tree->node[n].right ? past[tree->node[n].right] : n + 1;
}

// The different nodes of a tree node's faces; seen: -1 or the last tree node that held it. Returns how many.
static int list_nodes(const ct_detect* detect, const ct_bvh* tree, int n, int* seen, int* out) {
    int count = 0;
    for (int i = tree->node[n].first; i < tree->node[n].first + tree->node[n].count; i++)
        for (int k = 0; k < 3; k++) {
            const int v = detect->face[3 * (size_t)tree->item[i] + (size_t)k];
            if (seen[v] == n) continue;
            seen[v] = n;
            if (out) out[count] = v;
            count++;
        }
    return count;
}

static ct_status build_parts(ct_detect* detect, const ct_collision* collision, int collider, int* seen) {
    const ct_bvh* tree = detect->face_tree + collider;
    ct_self* self = detect->self + collider;
    const size_t n = (size_t)tree->nnode;
    self->start = ct_arena_alloc(&detect->arena, n + 1, sizeof(int));
    self->past = ct_arena_alloc(&detect->arena, n + 1, sizeof(int));
    self->first = ct_arena_alloc(&detect->arena, n + 1, sizeof(int));
    self->covered = ct_arena_alloc(&detect->arena, n + 1, sizeof(bool));
    if (detect->arena.failed) return CT_OUT_OF_MEMORY;
    set_past(tree, self->past);
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 0; v < collision->nvert; v++) seen[v] = -1;
        int count = 0;
        for (int i = 0; i < tree->nnode; i++) {
            self->start[i] = count;
            if (i == 0 || tree->node[i].count >= PART)
                count += list_nodes(detect, tree, i, seen, pass ? self->node + count : NULL);
        }
        self->start[n] = count;
        if (pass == 0) self->node = ct_arena_alloc(&detect->arena, (size_t)count, sizeof(int));
        if (detect->arena.failed) return CT_OUT_OF_MEMORY;
    }
    double sum = 0;
    const ct_bvh* edges = detect->edge_tree + collider;
    for (int i = 0; i < edges->count; i++) {
        const int* e = collision->edge + 2 * (size_t)edges->item[i];
        sum += ct_vec3_norm(ct_vec3_sub(ct_vec3_load(collision->rest + 3 * (size_t)e[1]),
                                        ct_vec3_load(collision->rest + 3 * (size_t)e[0])));
    }
    self->reach = edges->count > 0 ? REACH * sum / edges->count : 0;
    self->wait = LEAST_WAIT;
    return CT_OK;
}

ct_status ct_self_build(ct_detect* detect, const ct_collision* collision) {
    const int n = collision->ncollider;
    const size_t nvert = (size_t)collision->nvert, nface = (size_t)detect->nface;
    detect->self = ct_arena_alloc(&detect->arena, (size_t)n, sizeof(ct_self));
    detect->reference = ct_arena_alloc(&detect->arena, 3 * nvert, sizeof(double));
    detect->own_node = ct_arena_alloc(&detect->arena, 3 * nface, sizeof(int));
    detect->own_edge = ct_arena_alloc(&detect->arena, 3 * nface, sizeof(int));
    bool* taken = ct_arena_alloc(&detect->arena, nvert, sizeof(bool));
    int* seen = ct_arena_alloc(&detect->arena, nvert, sizeof(int));
    if (detect->arena.failed) return CT_OUT_OF_MEMORY;
    detect->nself = n;
    set_own(detect, collision, taken);
    for (int c = 0; c < n; c++) {
        if (!collision->collide[(size_t)c * (size_t)n + (size_t)c] || detect->driven[c] ||
            detect->face_tree[c].count == 0)
            continue;
        const ct_status status = build_parts(detect, collision, c, seen);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

void ct_self_free(ct_detect* detect) {
    for (int c = 0; c < detect->nself; c++) ct_free(detect->self[c].item);
}

// ---------------------------------------------------------------------------------------------
// Which parts the lists cover

// The nodes of a part: their mean, and how they are turned against the reference.
typedef struct pose {
    ct_vec3 mean;
    ct_mat3 R;
} pose;

static ct_vec3 mean_of(const double* x, const int* node, int count) {
    ct_vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) sum = ct_vec3_add(sum, ct_vec3_load(x + 3 * (size_t)node[i]));
    return ct_vec3_scale(1.0 / count, sum);
}

static pose pose_of(const double* X, ct_vec3 C, const double* x, const int* node, int count) {
    pose out = {.mean = mean_of(x, node, count)};
    ct_mat3 H = {0};
    for (int i = 0; i < count; i++) {
        const ct_vec3 r = ct_vec3_sub(ct_vec3_load(x + 3 * (size_t)node[i]), out.mean);
        const ct_vec3 S = ct_vec3_sub(ct_vec3_load(X + 3 * (size_t)node[i]), C);
        const double a[3] = {r.x, r.y, r.z}, b[3] = {S.x, S.y, S.z};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) H.a[j][k] += a[j] * b[k];
    }
    out.R = ct_polar3(H);
    return out;
}

// D cos(theta/2) - 2 delta, less the room for the tests of a pair.
static double bound_of(const ct_self* self, const double* X, const double* x, const double* end,
                       const int* node, int count) {
    const ct_vec3 C = mean_of(X, node, count);
    const pose from = pose_of(X, C, x, node, count), to = end == x ? from : pose_of(X, C, end, node, count);
    const ct_vec3 shift = ct_vec3_sub(to.mean, from.mean);
    double delta = 0, motion = 0, size = 0;  // squares of the first two
    for (int i = 0; i < count; i++) {
        const size_t v = 3 * (size_t)node[i];
        const ct_vec3 S = ct_vec3_sub(ct_vec3_load(X + v), C), p = ct_vec3_load(x + v),
                      q = ct_vec3_load(end + v);
        const ct_vec3 d0 = ct_vec3_sub(ct_vec3_sub(p, from.mean), ct_mat3_apply(from.R, S));
        const ct_vec3 d1 = ct_vec3_sub(ct_vec3_sub(q, to.mean), ct_mat3_apply(to.R, S));
        const ct_vec3 u = ct_vec3_sub(ct_vec3_sub(q, p), shift);
        // not a number: kept, and covers nothing
        if (!(ct_vec3_dot(d0, d0) <= delta)) delta = ct_vec3_dot(d0, d0);
        if (!(ct_vec3_dot(d1, d1) <= delta)) delta = ct_vec3_dot(d1, d1);
        motion = fmax(motion, ct_vec3_dot(u, u));
        size = fmax(size, ct_vec3_dot(p, p) + ct_vec3_dot(q, q));
    }
    const double cosine = sqrt(fmax(0, ct_mat3_dot(from.R, to.R) + 1) / 4);
    return (cosine - SLACK) * self->distance - 2 * sqrt(delta) - 2 * sqrt(motion) / STEPS -
           1e-12 * sqrt(size);
}

bool ct_self_cover(ct_detect* detect, int collider, const double* x, const double* end, double need) {
    ct_self* self = detect->self + collider;
    const ct_bvh* tree = detect->face_tree + collider;
    self->open = 0;
    for (int n = 0; n < tree->nnode; n++) {
        self->covered[n] = false;
        const int count = self->start[n + 1] - self->start[n];
        if (count > 0 && self->distance > need)
            self->covered[n] =
                bound_of(self, detect->reference, x, end, self->node + self->start[n], count) > need;
        if (self->covered[n]) n = self->past[n] - 1;
        else if (!tree->node[n].right) self->open += tree->node[n].count;
    }
    return self->covered[0];
}

// ---------------------------------------------------------------------------------------------
// Visiting

typedef struct walk {
    const ct_detect* detect;
    const ct_self_visit* visit;
} walk;

// What face f looks after, against face g.
static bool visit_own(const walk* w, int f, int g) {
    const ct_detect* detect = w->detect;
    const ct_self_visit* visit = w->visit;
    for (int k = 0; k < 3; k++) {
        const int v = detect->own_node[3 * (size_t)f + (size_t)k],
                  e = detect->own_edge[3 * (size_t)f + (size_t)k];
        if (v >= 0 && visit->vertex_face && ct_box_overlap(detect->node_box + v, detect->face_box + g) &&
            !visit->vertex_face(v, g, visit->user))
            return false;
        if (e >= 0 && visit->edge_face && ct_box_overlap(detect->edge_box + e, detect->face_box + g) &&
            !visit->edge_face(e, g, visit->user))
            return false;
    }
    return true;
}

static bool visit_faces(int f, int g, void* user) {
    const walk* w = user;
    const ct_detect* detect = w->detect;
    if (!visit_own(w, f, g) || !visit_own(w, g, f)) return false;
    if (!w->visit->edges) return true;
    for (int i = 3 * f; i < 3 * f + 3; i++)
        for (int j = 3 * g; j < 3 * g + 3; j++) {
            const int d = detect->own_edge[i], e = detect->own_edge[j];
            if (d < 0 || e < 0 || !ct_box_overlap(detect->edge_box + d, detect->edge_box + e)) continue;
            if (!w->visit->edges(d, e, w->visit->user)) return false;
        }
    return true;
}

static ct_box box_of(const double* x, const double* end, double pad, const int* node, int count) {
    ct_box box = ct_box_around(x + 3 * (size_t)node[0], end + 3 * (size_t)node[0], pad);
    for (int i = 1; i < count; i++) {
        const ct_box next = ct_box_around(x + 3 * (size_t)node[i], end + 3 * (size_t)node[i], pad);
        box = ct_box_join(box, &next);
    }
    return box;
}

bool ct_self_pairs(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                   const double* end, double pad, const ct_self_visit* visit) {
    const ct_self* self = detect->self + collider;
    const ct_bvh* tree = detect->face_tree + collider;
    const ct_bvh_visit by_kind[3] = {visit->vertex_face, visit->edges, visit->edge_face};
    walk w = {.detect = detect, .visit = visit};
    for (int n = 0; n < tree->nnode; n++) {
        if (!self->covered[n]) {
            if (!ct_bvh_node_pairs(tree, n, visit_faces, &w)) return false;
            continue;
        }
        for (int i = self->first[n]; i < self->first[self->past[n]]; i++) {
            const ct_self_item* item = self->item + i;
            if (!by_kind[item->kind]) continue;
            const int *edge = collision->edge, *face = detect->face;
            const ct_box a = item->kind == VERTEX_FACE ? box_of(x, end, pad, &item->i, 1)
                                                       : box_of(x, end, pad, edge + 2 * (size_t)item->i, 2);
            const ct_box b = item->kind == EDGES ? box_of(x, end, pad, edge + 2 * (size_t)item->j, 2)
                                                 : box_of(x, end, pad, face + 3 * (size_t)item->j, 3);
            if (ct_box_overlap(&a, &b) && !by_kind[item->kind](item->i, item->j, visit->user)) return false;
        }
        n = self->past[n] - 1;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// Renewing the reference

typedef struct renewal {
    const ct_detect* detect;
    const ct_collision* collision;
    ct_self* self;
    const double* x;
} renewal;

// Common nodes, or a direction between the centres that keeps them apart by more than d: nothing to list.
static bool is_clear(const ct_vec3* a, const int* na, int ca, const ct_vec3* b, const int* nb, int cb,
                     double d) {
    for (int i = 0; i < ca; i++)
        for (int j = 0; j < cb; j++)
            if (na[i] == nb[j]) return true;
    ct_vec3 u = {0, 0, 0};
    for (int i = 0; i < ca; i++) u = ct_vec3_axpy(u, 1.0 / ca, a[i]);
    for (int j = 0; j < cb; j++) u = ct_vec3_axpy(u, -1.0 / cb, b[j]);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < ca; i++) low = fmin(low, ct_vec3_dot(u, ct_vec3_sub(a[i], b[0])));
    for (int j = 0; j < cb; j++) high = fmax(high, ct_vec3_dot(u, ct_vec3_sub(b[j], b[0])));
    return low - high > d * ct_vec3_norm(u);
}

static double distance_of(const ct_vec3* a, int ca, const ct_vec3* b, int cb) {
    if (ca == 1) return ct_closest_point_triangle((ct_vec3[4]){a[0], b[0], b[1], b[2]}).distance;
    if (cb == 2) return ct_closest_edges((ct_vec3[4]){a[0], a[1], b[0], b[1]}).distance;
    if (ct_edge_crosses_triangle(a[0], a[1], b[0], b[1], b[2])) return 0;
    double least = INFINITY;
    for (int i = 0; i < 2; i++) least = fmin(least, distance_of(a + i, 1, b, 3));
    for (int j = 0; j < 3; j++)
        least = fmin(least, ct_closest_edges((ct_vec3[4]){a[0], a[1], b[j], b[(j + 1) % 3]}).distance);
    return least;
}

static bool list(const renewal* r, kind kind, int i, int j, const int* na, int ca, const int* nb, int cb) {
    ct_vec3 a[2], b[3];
    for (int k = 0; k < ca; k++) a[k] = ct_vec3_load(r->x + 3 * (size_t)na[k]);
    for (int k = 0; k < cb; k++) b[k] = ct_vec3_load(r->x + 3 * (size_t)nb[k]);
    ct_self* self = r->self;
    if (is_clear(a, na, ca, b, nb, cb, self->distance) || distance_of(a, ca, b, cb) > self->distance)
        return true;
    if (!ct_reserve((void**)&self->item, &self->capacity, self->count + 1, sizeof *self->item)) return false;
    self->item[self->count++] = (ct_self_item){.kind = kind, .i = i, .j = j};
    return true;
}

static bool list_vertex_face(int vertex, int face, void* user) {
    const renewal* r = user;
    if (ct_detect_rigid(r->collision, r->collision->node_rigid[vertex], r->detect->face_rigid[face]))
        return true;
    return list(r, VERTEX_FACE, vertex, face, &vertex, 1, r->detect->face + 3 * (size_t)face, 3);
}

static bool list_edges(int i, int j, void* user) {
    const renewal* r = user;
    if (ct_detect_rigid(r->collision, r->detect->edge_rigid[i], r->detect->edge_rigid[j])) return true;
    const int* edge = r->collision->edge;
    return list(r, EDGES, i, j, edge + 2 * (size_t)i, 2, edge + 2 * (size_t)j, 2);
}

static bool list_edge_face(int i, int face, void* user) {
    const renewal* r = user;
    if (face >= r->collision->ntri) return true;
    if (ct_detect_rigid(r->collision, r->detect->edge_rigid[i], r->detect->face_rigid[face])) return true;
    return list(r, EDGE_FACE, i, face, r->collision->edge + 2 * (size_t)i, 2,
                r->detect->face + 3 * (size_t)face, 3);
}

ct_status ct_self_renew(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                        const double* end, double need) {
    ct_self* self = detect->self + collider;
    const ct_bvh *tree = detect->face_tree + collider, *nodes = detect->node_tree + collider;
    self->age++;
    if (self->distance > need && 4 * self->open <= tree->count) return CT_OK;
    if (self->distance > 0 && self->age < self->wait) return CT_OK;
    // one that did not last: wait longer for the next
    self->wait = self->distance > 0 && self->age < LONG
                     ? (2 * self->wait < MOST_WAIT ? 2 * self->wait : MOST_WAIT)
                     : LEAST_WAIT;
    self->age = 0;
    self->count = 0;
    self->distance = need + self->reach;
    for (int i = 0; i < nodes->count; i++)
        for (int k = 0; k < 3; k++)
            detect->reference[3 * (size_t)nodes->item[i] + (size_t)k] =
                x[3 * (size_t)nodes->item[i] + (size_t)k];
    ct_detect_fit(detect, collision, collider, x, x, 0.5 * self->distance);
    renewal r = {.detect = detect, .collision = collision, .self = self, .x = x};
    const ct_self_visit visit = {list_vertex_face, list_edges, list_edge_face, &r};
    walk w = {.detect = detect, .visit = &visit};
    for (int n = 0; n < tree->nnode; n++) {
        self->first[n] = (int)self->count;
        if (!ct_bvh_node_pairs(tree, n, visit_faces, &w)) {
            self->distance = 0;
            return CT_OUT_OF_MEMORY;
        }
    }
    self->first[tree->nnode] = (int)self->count;
    ct_self_cover(detect, collider, x, end, need);
    return CT_OK;
}
