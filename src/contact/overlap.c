// Overlaps of colliders, and how to end them; see overlap.h.
//
// Where no edge passes through a triangle, all nodes of a connected part of a surface are on one side of the
// other surface: one node that does not touch it decides, by the winding number.
#include "contact/overlap.h"

#include <stdio.h>
#include <string.h>

#include "contact/detect_data.h"
#include "math/point3.h"
#include "shape/closest.h"
#include "shape/orient.h"
#include "shape/winding.h"

// of the thicknesses, and of the coordinates: how deep is not yet an overlap
static const double slack_of_thickness = 1e-3, slack_of_place = 1e-12;
static const double accuracy = 0.005;  // of the depth

enum { PART_OPEN, PART_OUTSIDE, MOST_DIRECTIONS = 10 };

// ---- parts ---------------------------------------------------------------------------------

static int root_of(int* part, int v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
}

ct_status ct_overlap_work_create(ct_overlap_work* work, ct_arena* arena, const ct_collision* collision) {
    const size_t n = (size_t)collision->nvert;
    work->part = ct_arena_alloc(arena, n, sizeof(int));
    work->state = ct_arena_alloc(arena, n, 1);
    work->moved = ct_arena_alloc(arena, 3 * n, sizeof(double));
    work->box = ct_arena_alloc(arena, (size_t)collision->ncollider, sizeof(ct_box));
    work->boxed = ct_arena_alloc(arena, (size_t)collision->ncollider, sizeof(bool));
    work->any = ct_arena_alloc(arena, (size_t)collision->ncollider, sizeof(bool));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (size_t v = 0; v < n; v++) work->part[v] = -1;
    for (int i = 0; i < collision->nnode; i++) work->part[collision->node[i]] = collision->node[i];
    for (int e = 0; e < collision->nedge; e++) {
        const int a = root_of(work->part, collision->edge[2 * e]),
                  b = root_of(work->part, collision->edge[2 * e + 1]);
        work->part[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < collision->nnode; i++)
        work->part[collision->node[i]] = root_of(work->part, collision->node[i]);
    return CT_OK;
}

// ---- two colliders -------------------------------------------------------------------------

typedef struct probe {
    const ct_collision* collision;
    ct_detect* detect;
    const ct_overlap_work* work;
    const double* x;  // 3 nvert, the first of the two perhaps moved
    int a, b;         // a is a body
    // what was found
    bool met;
    int nnode, node[5];
    ct_vec3 position, normal;
} probe;

static ct_vec3 place(const probe* p, int node) { return ct_vec3_load(p->x + 3 * (size_t)node); }

static bool visit_crossing(int edge, int face, void* user) {
    probe* p = user;
    if (face >= p->collision->ntri) return true;
    const int *e = p->collision->edge + 2 * (size_t)edge, *f = p->collision->tri + 3 * (size_t)face;
    if (ct_detect_rigid(p->collision, p->detect->edge_rigid[edge], p->detect->face_rigid[face])) return true;
    const ct_vec3 c = place(p, e[0]), d = place(p, e[1]), q = place(p, f[0]), r = place(p, f[1]),
                  s = place(p, f[2]);
    if (!ct_edge_crosses_triangle(c, d, q, r, s)) return true;
    p->normal = ct_vec3_normalise(ct_vec3_cross(ct_vec3_sub(r, q), ct_vec3_sub(s, q)));
    const double from = ct_vec3_dot(p->normal, ct_vec3_sub(c, q)),
                 to = ct_vec3_dot(p->normal, ct_vec3_sub(d, q));
    p->position = ct_vec3_axpy(c, from != to ? from / (from - to) : 0, ct_vec3_sub(d, c));
    p->met = true;
    p->nnode = 5;
    for (int k = 0; k < 5; k++) p->node[k] = k < 2 ? e[k] : f[k - 2];
    return false;
}

// ---- inside --------------------------------------------------------------------------------

static bool is_solid(const probe* p, int collider) {
    return p->detect->closed[collider] && !p->collision->collider[collider].sheet;
}

// How often the collider's surface winds about a point, and the distance to it.
static double winding(const probe* p, int collider, ct_vec3 at, double* distance) {
    const ct_bvh* faces = p->detect->face_tree + collider;
    double sum = 0;
    *distance = INFINITY;
    for (int i = 0; i < faces->count; i++) {
        const int* f = p->detect->face + 3 * (size_t)faces->item[i];
        ct_vec3 corner[4] = {at, place(p, f[0]), place(p, f[1]), place(p, f[2])};
        *distance = fmin(*distance, ct_closest_point_triangle(corner).distance);
        double seen[3][3];
        for (int k = 0; k < 3; k++) ct_vec3_store(seen[k], ct_vec3_sub(corner[k + 1], at));
        sum += ct_winding_solid_angle(seen[0], seen[1], seen[2]);
    }
    return sum;
}

static void bounds(const probe* p, int collider, double lower[3], double upper[3]) {
    const ct_bvh* nodes = p->detect->node_tree + collider;
    for (int k = 0; k < 3; k++) lower[k] = INFINITY, upper[k] = -INFINITY;
    for (int i = 0; i < 3 * nodes->count; i++) {
        const double x = p->x[3 * (size_t)nodes->item[i / 3] + (size_t)(i % 3)];
        lower[i % 3] = fmin(lower[i % 3], x);
        upper[i % 3] = fmax(upper[i % 3], x);
    }
}

// What all of a collider hangs on.
static int carrier(const probe* p, int collider) {
    const ct_bvh* nodes = p->detect->node_tree + collider;
    const int first = p->collision->node_rigid[nodes->item[0]];
    for (int i = 1; i < nodes->count; i++)
        if (p->collision->node_rigid[nodes->item[i]] != first) return CT_RIGID_NONE;
    return first;
}

// Of a solid whose every node touches the other (two at the same place): a point just below one of its faces
// decides.
static bool shares_inside(probe* p, int solid, int other, double size) {
    const ct_bvh* faces = p->detect->face_tree + other;
    double distance;
    for (int i = 0; i < faces->count && is_solid(p, other); i++) {
        const int* f = p->detect->face + 3 * (size_t)faces->item[i];
        if (p->work->state[p->work->part[f[0]]] != PART_OPEN) continue;
        const ct_vec3 a = place(p, f[0]), b = place(p, f[1]), c = place(p, f[2]),
                      area = ct_vec3_cross(ct_vec3_sub(b, a), ct_vec3_sub(c, a));
        const double below = 1e-4 * sqrt(ct_vec3_norm(area));
        const ct_vec3 middle = ct_vec3_scale(1.0 / 3, ct_vec3_add(a, ct_vec3_add(b, c))),
                      at = ct_vec3_axpy(middle, -below, ct_vec3_normalise(area));
        if (!(below > 0) || winding(p, solid, at, &distance) < 0.5 || distance <= 1e-9 * size) continue;
        p->position = middle;
        p->normal = ct_vec3_make(0, 0, 0);
        p->nnode = 0;
        return p->met = true;
    }
    return false;
}

// A part of `other` lies wholly inside `solid`; nothing crosses. Parts that leave the solid's box do not.
static bool is_inside(probe* p, int solid, int other) {
    if (!is_solid(p, solid)) return false;
    const ct_bvh* nodes = p->detect->node_tree + other;
    const int rigid = carrier(p, solid);
    unsigned char* state = p->work->state;
    double lower[3], upper[3], size = 0, distance;
    bounds(p, solid, lower, upper);
    for (int k = 0; k < 3; k++) size = fmax(size, fmax(fabs(lower[k]), fabs(upper[k])));
    for (int i = 0; i < nodes->count; i++) state[p->work->part[nodes->item[i]]] = PART_OPEN;
    for (int i = 0; i < nodes->count; i++) {
        const double* x = p->x + 3 * (size_t)nodes->item[i];
        for (int k = 0; k < 3; k++)
            if (x[k] < lower[k] || x[k] > upper[k]) state[p->work->part[nodes->item[i]]] = PART_OUTSIDE;
    }
    for (int i = 0; i < nodes->count; i++) {
        const int v = nodes->item[i], part = p->work->part[v];
        if (state[part] != PART_OPEN || ct_detect_rigid(p->collision, p->collision->node_rigid[v], rigid))
            continue;
        const double turns = winding(p, solid, place(p, v), &distance);
        if (distance <= 1e-9 * size) continue;  // it touches: another node decides
        state[part] = PART_OUTSIDE;
        if (turns < 0.5) continue;
        p->position = place(p, v);
        p->normal = ct_vec3_make(0, 0, 0);
        p->nnode = 1;
        p->node[0] = v;
        return p->met = true;
    }
    return shares_inside(p, solid, other, size);
}

// ---- spheres and capsules ------------------------------------------------------------------

// Keeps the nearest of several; at: a point on the body's face.
static void keep_nearest(probe* p, double* nearest, const ct_closest* closest, ct_vec3 at, double toward) {
    if (closest->distance >= *nearest) return;
    *nearest = closest->distance;
    p->position = at;
    p->normal = ct_vec3_normalise(ct_vec3_scale(toward, closest->apart));
}

static ct_vec3 weighted(const ct_closest* closest, const ct_vec3 x[4], int first, int count) {
    ct_vec3 sum = {0, 0, 0};
    for (int k = first; k < first + count; k++) sum = ct_vec3_axpy(sum, closest->w[k], x[k]);
    return sum;
}

// A face of a is nearer to the axis of b than its radius.
static bool meets_round(probe* p) {
    const ct_collider* round = p->collision->collider + p->b;
    const ct_bvh* faces = p->detect->face_tree + p->a;
    const ct_vec3 axis[2] = {place(p, round->first_node), place(p, round->first_node + round->nnode - 1)};
    double nearest = round->radius;
    for (int i = 0; i < faces->count; i++) {
        const int* f = p->detect->face + 3 * (size_t)faces->item[i];
        if (p->detect->face_rigid[faces->item[i]] == CT_RIGID_DRIVEN) continue;
        const ct_vec3 corner[3] = {place(p, f[0]), place(p, f[1]), place(p, f[2])};
        for (int k = 0; k < round->nnode; k++) {
            const ct_vec3 x[4] = {axis[k], corner[0], corner[1], corner[2]};
            const ct_closest closest = ct_closest_point_triangle(x);
            keep_nearest(p, &nearest, &closest, weighted(&closest, x, 1, 3), -1);
        }
        for (int k = 0; round->nnode > 1 && k < 3; k++) {
            const ct_vec3 x[4] = {corner[k], corner[(k + 1) % 3], axis[0], axis[1]};
            const ct_closest closest = ct_closest_edges(x);
            keep_nearest(p, &nearest, &closest, weighted(&closest, x, 0, 2), 1);
        }
        if (round->nnode > 1 && ct_edge_crosses_triangle(axis[0], axis[1], corner[0], corner[1], corner[2])) {
            const ct_closest none = {.distance = 0};
            keep_nearest(p, &nearest, &none, corner[0], 1);
        }
    }
    p->nnode = 0;
    return p->met = nearest < round->radius;
}

// ---- any two with nodes --------------------------------------------------------------------

static void fit(ct_detect* detect, const ct_collision* collision, int collider, const double* x) {
    ct_detect_fit(detect, collision, collider, x, x, NULL, 0);
    ct_bvh_refit(detect->edge_tree + collider, detect->edge_box);
}

// Trees are fitted to x by the caller.
static bool overlap_now(probe* p) {
    p->met = false;
    if (p->collision->collider[p->b].radius > 0) return meets_round(p) || is_inside(p, p->a, p->b);
    const ct_detect* detect = p->detect;
    ct_bvh_pairs(detect->edge_tree + p->a, detect->face_tree + p->b, visit_crossing, p);
    if (!p->met) ct_bvh_pairs(detect->edge_tree + p->b, detect->face_tree + p->a, visit_crossing, p);
    return p->met || is_inside(p, p->a, p->b) || is_inside(p, p->b, p->a);
}

// ---- how to end it -------------------------------------------------------------------------

// Whether a, moved by s along d, is free of b; x: where it is.
static bool is_free(const probe* at, const double* x, ct_vec3 d, double s) {
    probe p = *at;
    const ct_bvh* nodes = p.detect->node_tree + p.a;
    double* moved = p.work->moved;
    p.x = moved;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        ct_vec3_store(moved + 3 * v, ct_vec3_axpy(ct_vec3_load(x + 3 * v), s, d));
    }
    fit(p.detect, p.collision, p.a, moved);
    return !overlap_now(&p);
}

// How far along d all of a is beyond all of b.
static double slab(const probe* p, ct_vec3 d) {
    const ct_bvh *a = p->detect->node_tree + p->a, *b = p->detect->node_tree + p->b;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < a->count; i++) low = fmin(low, ct_vec3_dot(d, place(p, a->item[i])));
    for (int i = 0; i < b->count; i++) high = fmax(high, ct_vec3_dot(d, place(p, b->item[i])));
    return high + p->collision->collider[p->b].radius - low;
}

static ct_vec3 center(const probe* p, int collider) {
    double lower[3], upper[3];
    bounds(p, collider, lower, upper);
    return ct_vec3_scale(0.5, ct_vec3_add(ct_vec3_load(lower), ct_vec3_load(upper)));
}

static int directions(const probe* p, ct_vec3 d[MOST_DIRECTIONS]) {
    const ct_vec3 axis[5] = {{0, 1, 0},
                             {1, 0, 0},
                             {0, 0, 1},
                             p->normal,
                             ct_vec3_normalise(ct_vec3_sub(center(p, p->a), center(p, p->b)))};
    int count = 0;
    for (int k = 0; k < 5; k++) {
        if (!(ct_vec3_dot(axis[k], axis[k]) > 0)) continue;
        d[count++] = axis[k];
        d[count++] = ct_vec3_scale(-1, axis[k]);
    }
    return count;
}

// The shortest way along d that frees a, if it is shorter than *best.
static void shorten(const probe* p, const double* x, ct_vec3 d, double* best, ct_vec3* direction) {
    double low = 0, high = slab(p, d) * (1 + 1e-9);
    if (high >= *best) {
        high = 0.99 * *best;
        if (!is_free(p, x, d, high)) return;
    }
    while (high - low > accuracy * high) {
        const double middle = 0.5 * (low + high);
        if (is_free(p, x, d, middle)) high = middle;
        else low = middle;
    }
    *best = high;
    *direction = d;
}

// Three digits, not less.
static double round_up(double value) {
    const double digit = pow(10, floor(log10(value)) - 2);
    return ceil(value / digit * (1 - 1e-9)) * digit;
}

static double kept(const probe* p) {
    return p->collision->collider[p->a].thickness + p->collision->collider[p->b].thickness;
}

static double slack_at(const ct_collision* collision, int a, int b, ct_vec3 at) {
    return slack_of_thickness * (collision->collider[a].thickness + collision->collider[b].thickness) +
           slack_of_place * fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z)));
}

static void describe(const probe* p, ct_overlap* out) {
    out->a = p->a;
    out->b = p->b;
    out->nnode = p->nnode;
    memcpy(out->node, p->node, sizeof out->node);
    ct_vec3_store(out->position, p->position);
}

// What was found between two colliders with nodes; false: it is within the slack.
static bool measure(const probe* p, ct_overlap* out) {
    const double* x = p->x;
    ct_vec3 d[MOST_DIRECTIONS], direction = {0, 0, 0};
    const int count = directions(p, d);
    double best = INFINITY;
    const double slack = slack_at(p->collision, p->a, p->b, p->position);
    bool free = false;
    memcpy(p->work->moved, x, 3 * (size_t)p->collision->nvert * sizeof(double));
    for (int k = 0; k < count && !free; k++) free = is_free(p, x, d[k], slack);
    for (int k = 0; k < count && !free; k++) shorten(p, x, d[k], &best, &direction);
    if (!free) {
        describe(p, out);
        out->depth = best;
        out->distance = round_up(best + kept(p));
        if (!is_free(p, x, direction, out->distance)) out->distance = round_up(best);
        ct_vec3_store(out->direction, direction);
    }
    fit(p->detect, p->collision, p->a, x);
    return !free;
}

// ---- planes --------------------------------------------------------------------------------

static bool below_plane(const probe* p, const ct_plane* plane, double time, ct_overlap* out) {
    const ct_bvh* nodes = p->detect->node_tree + p->a;
    double point[3], normal[3], depth = 0;
    int deepest = -1;
    ct_plane_pose(plane, time, point, normal);
    const ct_vec3 n = ct_vec3_load(normal), o = ct_vec3_load(point);
    for (int i = 0; i < nodes->count; i++) {
        const int v = nodes->item[i];
        const double own = -ct_vec3_dot(n, ct_vec3_sub(place(p, v), o));
        const bool deeper = own > depth || (own == depth && v < deepest);
        if (p->collision->node_rigid[v] == CT_RIGID_DRIVEN || !deeper) continue;
        depth = own;
        deepest = v;
    }
    if (deepest < 0 || depth <= slack_at(p->collision, p->a, p->b, place(p, deepest))) return false;
    probe found = *p;
    found.nnode = 1;
    found.node[0] = deepest;
    found.position = place(p, deepest);
    describe(&found, out);
    out->depth = depth;
    out->distance = round_up(depth + kept(p));
    memcpy(out->direction, normal, sizeof normal);
    return true;
}

// ---- all -----------------------------------------------------------------------------------

static const ct_plane* plane_of(const ct_collision* collision, int collider) {
    for (int k = 0; k < collision->nplane; k++)
        if (collision->plane[k].collider == collider) return collision->plane + k;
    return NULL;
}

static bool pair_overlaps(probe* p, double time, ct_overlap* out) {
    const ct_plane* plane = plane_of(p->collision, p->b);
    return plane ? below_plane(p, plane, time, out) : overlap_now(p) && measure(p, out);
}

// Pairs that may overlap; trees are fitted to x by the caller. Planes have no boxes, and those of spheres and
// capsules are of their axes: these are compared with all.
static ct_status find_pairs(const ct_collision* collision, ct_detect* detect, const ct_overlap_work* work) {
    const int n = collision->ncollider;
    ct_broad_clear(&detect->broad);
    for (int c = 0; c < n; c++) {
        work->boxed[c] = detect->face_tree[c].count && !(collision->collider[c].radius > 0);
        work->any[c] = true;
        if (work->boxed[c]) work->box[c] = detect->face_tree[c].node[0].box;
    }
    ct_status status = ct_broad_sweep(&detect->broad, collision, work->box, work->boxed, work->any);
    for (int a = 0; a < n; a++)
        for (int b = 0; !work->boxed[a] && status == CT_OK && b < n; b++)
            if ((work->boxed[b] || a < b) && ct_collision_may_touch(collision, a, b))
                status = ct_broad_note(&detect->broad, a, b);
    ct_broad_sort(&detect->broad);
    return status;
}

typedef struct own_crossing {
    const probe* p;
    int edge, face;  // the lowest edge, then the lowest face; -1: none
} own_crossing;

static bool visit_own(int f, int g, void* user) {
    own_crossing* c = user;
    const ct_collision* collision = c->p->collision;
    const ct_detect* detect = c->p->detect;
    for (int k = 0; k < 6; k++) {
        const int edge = detect->own_edge[3 * (k < 3 ? f : g) + k % 3], face = k < 3 ? g : f;
        if (edge < 0 || face >= collision->ntri ||
            ct_detect_rigid(collision, detect->edge_rigid[edge], detect->face_rigid[face]))
            continue;
        if (c->edge >= 0 && (edge > c->edge || (edge == c->edge && face > c->face))) continue;
        const int *e = collision->edge + 2 * (size_t)edge, *t = collision->tri + 3 * (size_t)face;
        if (ct_detect_have_common(e, 2, t, 3)) continue;
        if (!ct_edge_crosses_triangle(place(c->p, e[0]), place(c->p, e[1]), place(c->p, t[0]),
                                      place(c->p, t[1]), place(c->p, t[2])))
            continue;
        c->edge = edge;
        c->face = face;
    }
    return true;
}

// Trees are fitted to x by the caller.
static bool crosses_itself(const probe* p, ct_overlap* out) {
    own_crossing found = {.p = p, .edge = -1};
    ct_bvh_self_pairs(p->detect->face_tree + p->a, visit_own, &found);
    if (found.edge < 0) return false;
    *out = (ct_overlap){.a = p->a, .b = p->a, .pairs = 1, .nnode = 5};
    for (int k = 0; k < 5; k++) {
        out->node[k] =
            k < 2 ? p->collision->edge[2 * found.edge + k] : p->collision->tri[3 * found.face + k - 2];
        for (int i = 0; k > 1 && i < 3; i++) out->position[i] += p->x[3 * out->node[k] + i] / 3;
    }
    return true;
}

bool ct_overlap_find(const ct_collision* collision, ct_detect* detect, const ct_overlap_work* work,
                     const double* x, double time, ct_overlap* out) {
    int pairs = 0;
    for (int c = 0; c < collision->ncollider; c++) fit(detect, collision, c, x);
    if (find_pairs(collision, detect, work)) return *out = (ct_overlap){0}, true;
    for (size_t i = 0; i < detect->broad.count; i++) {
        const int first = ct_broad_first(detect->broad.pair[i]),
                  second = ct_broad_second(detect->broad.pair[i]);
        const bool turned = collision->collider[first].driven;  // the one that is not comes first
        ct_overlap found;
        probe p = {.collision = collision, .detect = detect, .work = work, .x = x};
        p.a = turned ? second : first, p.b = turned ? first : second;
        pairs += pair_overlaps(&p, time, pairs ? &found : out);
    }
    out->pairs = pairs;
    for (int c = 0; !pairs && c < collision->ncollider; c++) {
        const probe p = {.collision = collision, .detect = detect, .x = x, .a = c, .b = c};
        if (ct_collision_may_touch(collision, c, c) && crosses_itself(&p, out)) return true;
    }
    return pairs > 0;
}

// ---- the sentence --------------------------------------------------------------------------

static void name_nodes(const ct_overlap* overlap, char* text, size_t size) {
    const int* v = overlap->node;
    text[0] = 0;
    if (overlap->nnode == 1) snprintf(text, size, " (node %d)", v[0]);
    if (overlap->nnode == 5)
        snprintf(text, size, " (edge %d %d, triangle %d %d %d)", v[0], v[1], v[2], v[3], v[4]);
}

void ct_overlap_explain(const ct_collision* collision, const ct_overlap* overlap, char* text, size_t size) {
    const char *a = collision->collider[overlap->a].name, *b = collision->collider[overlap->b].name;
    const double *at = overlap->position, *d = overlap->direction;
    char nodes[96], others[48] = "";
    name_nodes(overlap, nodes, sizeof nodes);
    if (!overlap->pairs) {
        snprintf(text, size, "out of memory while looking for bodies that overlap");
        return;
    }
    if (overlap->a == overlap->b) {
        snprintf(text, size,
                 "the surface of \"%.32s\" passes through itself at %.3g %.3g %.3g%s: mend the mesh, or "
                 "exclude its contact with itself (\"collide\": false)",
                 a, at[0], at[1], at[2], nodes);
        return;
    }
    if (overlap->pairs > 1)
        snprintf(others, sizeof others, "; %d other pair%s overlap%s too", overlap->pairs - 1,
                 overlap->pairs > 2 ? "s" : "", overlap->pairs > 2 ? "" : "s");
    snprintf(text, size,
             "\"%.32s\" and \"%.32s\" overlap by %.3g m at %.3g %.3g %.3g%s: move \"%.32s\" by %.3g m along "
             "%.3g %.3g %.3g, or exclude the pair (\"collide\": false)%s",
             a, b, overlap->depth, at[0], at[1], at[2], nodes, a, overlap->distance, d[0] + 0.0, d[1] + 0.0,
             d[2] + 0.0, others);
}
