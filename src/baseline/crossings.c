// Whether surfaces have passed through one another: every edge against every triangle, by exact signs, and
// how near unlike primitives are to one another in terms of the thickness they should keep. It knows what may
// touch what and nothing else of contact: no trees, no pairs, no frames. One sweep along x over boxes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle_profile.h"
#include "model/model.h"
#include "shape/closest.h"
#include "shape/orient.h"
#include "step/state.h"

typedef struct item {  // a node, an edge or a triangle
    int node[3], count, owner, rigid;
    double low[3], high[3];  // m, grown by the collider's radius and thickness
} item;

typedef struct sweep {
    const ct_collision* collision;
    const double* x;
    ct_crossings* found;
} sweep;

static int rigid_of(const ct_collision* collision, const int* node, int count) {
    int first = collision->node_rigid[node[0]];
    for (int k = 1; k < count; k++)
        if (collision->node_rigid[node[k]] != first) return CT_RIGID_NONE;
    return first;
}

static item make_item(const sweep* s, const int* node, int count, int owner) {
    const ct_collider* collider = &s->collision->collider[owner];
    double grown = collider->radius + collider->thickness;
    item it = {.count = count, .owner = owner, .rigid = rigid_of(s->collision, node, count)};
    memcpy(it.node, node, (size_t)count * sizeof(int));
    for (int a = 0; a < 3; a++) {
        it.low[a] = INFINITY, it.high[a] = -INFINITY;
        for (int k = 0; k < count; k++) {
            it.low[a] = fmin(it.low[a], s->x[3 * (size_t)node[k] + (size_t)a] - grown);
            it.high[a] = fmax(it.high[a], s->x[3 * (size_t)node[k] + (size_t)a] + grown);
        }
    }
    return it;
}

static int by_low(const void* a, const void* b) {
    double x = ((const item*)a)->low[0], y = ((const item*)b)->low[0];
    return (x > y) - (x < y);
}

// They move together: on one link, on a link and its parent, or both prescribed.
static bool together(const ct_collision* collision, int a, int b) {
    if (a == CT_RIGID_NONE || b == CT_RIGID_NONE) return false;
    if (a == b) return true;
    return a >= 0 && b >= 0 && (collision->link_parent[a] == b || collision->link_parent[b] == a);
}

static bool share_node(const item* a, const item* b) {
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            if (a->node[i] == b->node[k]) return true;
    return false;
}

static void note_distance(const sweep* s, const item* a, const item* b, const ct_vec3 p[4]) {
    const ct_collider *ca = &s->collision->collider[a->owner], *cb = &s->collision->collider[b->owner];
    double thickness = ca->thickness + cb->thickness;
    ct_closest closest = a->count == 1 ? ct_closest_point_triangle(p) : ct_closest_edges(p);
    double kept = closest.distance - ca->radius - cb->radius;
    s->found->nearest = fmin(s->found->nearest, thickness > 0 ? kept / thickness : kept < 0 ? -1 : 1);
}

// a has no more nodes than b.
static void compare(const sweep* s, const item* a, const item* b) {
    if (!s->collision->collide[ct_collision_rule(s->collision, a->owner, b->owner)]) return;
    if (a->low[1] > b->high[1] || b->low[1] > a->high[1]) return;
    if (a->low[2] > b->high[2] || b->low[2] > a->high[2]) return;
    if (together(s->collision, a->rigid, b->rigid) || share_node(a, b)) return;
    ct_vec3 p[5];
    for (int k = 0; k < a->count; k++) p[k] = ct_vec3_load(s->x + 3 * (size_t)a->node[k]);
    for (int k = 0; k < b->count; k++) p[a->count + k] = ct_vec3_load(s->x + 3 * (size_t)b->node[k]);
    if (a->count + b->count == 4) note_distance(s, a, b, p);
    if (a->count + b->count != 5 || !ct_edge_crosses_triangle(p[0], p[1], p[2], p[3], p[4])) return;
    if (s->found->count++) return;
    for (int k = 0; k < 5; k++) s->found->where[k] = k < 2 ? a->node[k] : b->node[k - 2];
}

static void compare_planes(const sweep* s, double time) {
    const ct_collision* c = s->collision;
    for (int i = 0; i < c->nplane; i++) {
        double point[3], normal[3];
        ct_plane_pose(&c->plane[i], time, point, normal);
        for (int k = 0; k < c->nnode; k++) {
            int owner = c->node_owner[k], v = c->node[k];
            if (!c->collide[ct_collision_rule(c, owner, c->plane[i].collider)]) continue;
            if (c->node_rigid[v] == CT_RIGID_DRIVEN) continue;
            double thickness = c->collider[owner].thickness + c->collider[c->plane[i].collider].thickness,
                   distance = -c->collider[owner].radius;
            for (int a = 0; a < 3; a++) distance += normal[a] * (s->x[3 * (size_t)v + (size_t)a] - point[a]);
            s->found->nearest = fmin(s->found->nearest, thickness > 0 ? distance / thickness : 1);
        }
    }
}

ct_status ct_profile_crossings(const ct_model* model, const ct_state* state, ct_crossings* found) {
    const ct_collision* c = &model->collision;
    *found = (ct_crossings){.nearest = 1};
    int total = c->nnode + c->nedge + c->ntri, n = 0;
    ct_arena arena = {0};
    item* items = ct_arena_alloc(&arena, (size_t)total + 1, sizeof *items);
    if (!items) return CT_OUT_OF_MEMORY;
    sweep s = {c, state->x, found};
    for (int i = 0; i < c->nnode; i++) items[n++] = make_item(&s, c->node + i, 1, c->node_owner[i]);
    for (int i = 0; i < c->nedge; i++)
        items[n++] = make_item(&s, c->edge + 2 * (size_t)i, 2, c->edge_owner[i]);
    for (int i = 0; i < c->ntri; i++) items[n++] = make_item(&s, c->tri + 3 * (size_t)i, 3, c->tri_owner[i]);
    qsort(items, (size_t)n, sizeof *items, by_low);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && items[k].low[0] <= items[i].high[0]; k++) {
            bool swap = items[i].count > items[k].count;
            int nodes = items[i].count + items[k].count;
            if (nodes == 4 || nodes == 5) compare(&s, &items[swap ? k : i], &items[swap ? i : k]);
        }
    compare_planes(&s, state->header->time);
    ct_arena_free(&arena);
    return CT_OK;
}
