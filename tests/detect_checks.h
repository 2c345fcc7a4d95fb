// What the tests of detection share: surfaces in disorder that move, and what brute force says about them.
#ifndef CT_TESTS_DETECT_CHECKS_H
#define CT_TESTS_DETECT_CHECKS_H

#include "build.h"
#include "contact/detect_data.h"
#include "math/vec3.h"
#include "shape/ccd.h"
#include "shape/closest.h"
#include "shape/orient.h"
#include "surfaces.h"
#include "unit.h"

static uint64_t seed = 1;

static inline double uniform(void) {  // [-1, 1)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

static inline ct_detect* detect_of(const surfaces* s) {
    ct_detect* detect = NULL;
    assert_int_equal(ct_detect_create(&detect, &s->collision), CT_OK);
    return detect;
}

static inline const ct_pair* find(const ct_pairs* pairs, ct_contact_type type, int n0, int n1, int n2,
                                  int n3) {
    for (size_t i = 0; i < pairs->count; i++) {
        const ct_pair* p = pairs->item + i;
        if (p->type == type && p->node[0] == n0 && p->node[1] == n1 && p->node[2] == n2 && p->node[3] == n3)
            return p;
    }
    return NULL;
}

static inline void assert_sorted(const ct_pairs* pairs) {
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
static inline void disorder(surfaces* s, int patches, double thickness) {
    for (int c = 0; c < patches; c++) {
        const int collider = new_collider(s, thickness * (1 + 0.5 * uniform()), 0),
                  first = s->collision.nvert;
        const double at[3] = {0.5 * uniform(), 0.5 * uniform(), 0.5 * uniform()};
        for (int i = 0; i < 12; i++)
            new_node(s, collider, at[0] + 0.3 * uniform(), at[1] + 0.3 * uniform(), at[2] + 0.3 * uniform(),
                     c % 3 != 2);
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

static inline double* moved(const surfaces* s, double size) {
    double* end = malloc(3 * (size_t)s->collision.nvert * sizeof *end);
    for (int i = 0; i < 3 * s->collision.nvert; i++) end[i] = s->x[i] + size * uniform();
    return end;
}

static inline ct_vec3 node_between(const surfaces* s, const double* end, int v, double t) {
    const ct_vec3 a = ct_vec3_load(s->x + 3 * v);
    return ct_vec3_axpy(a, t, ct_vec3_sub(ct_vec3_load(end + 3 * v), a));
}

static inline int owner_of(const surfaces* s, int node) {
    const ct_collision* c = &s->collision;
    for (int i = 0; i < c->nnode; i++)
        if (c->node[i] == node) return c->node_owner[i];
    return -1;
}

static inline double reach(const surfaces* s, int a, int b, bool core) {
    const ct_collider *p = s->collision.collider + a, *q = s->collision.collider + b;
    return p->radius + q->radius + (core ? 0.5 : 1) * (p->thickness + q->thickness);
}

// All nodes are driven.
static inline bool driven(const surfaces* s, const int* node, int count) {
    for (int i = 0; i < count; i++)
        if (s->rigid[node[i]] != CT_RIGID_DRIVEN) return false;
    return true;
}

typedef void (*each)(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind,
                     const ct_pairs* pairs, void* user);

// Calls `f` with every vertex and face, every two edges that may touch.
static inline void for_all(const surfaces* s, const double* end, const ct_pairs* pairs, each f, void* user) {
    const ct_collision* c = &s->collision;
    for (int i = 0; i < c->nnode; i++)
        for (int t = 0; t < c->ntri; t++) {
            const int node[4] = {c->node[i], c->tri[3 * t], c->tri[3 * t + 1], c->tri[3 * t + 2]};
            if (node[0] == node[1] || node[0] == node[2] || node[0] == node[3] || driven(s, node, 4))
                continue;
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
            if (node[0] == node[2] || node[0] == node[3] || node[1] == node[2] || node[1] == node[3] ||
                driven(s, node, 4))
                continue;
            f(s, end, node, CT_CCD_EDGE_EDGE, pairs, user);
        }
}

static inline ct_closest closest_at(const surfaces* s, const double* end, const int node[4], ct_ccd_kind kind,
                                    double t) {
    ct_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = node_between(s, end, node[k], t);
    return kind == CT_CCD_VERTEX_FACE ? ct_closest_point_triangle(x) : ct_closest_edges(x);
}

#endif
