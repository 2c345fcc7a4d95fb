// Colliders without a simulation: positions, surfaces and the rules of contact, and nothing else.
#ifndef CT_TESTS_SURFACES_H
#define CT_TESTS_SURFACES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/detect.h"
#include "unit.h"

typedef struct surfaces {
    ct_collision collision;
    double* x;       // 3 nvert, where the nodes are; collision.rest is the same array
    int* rigid;      // nvert, what they hang on; collision.node_rigid is the same array
    size_t room[6];  // of x, rigid, node, edge, tri, plane
    double coefficient;
} surfaces;

static inline void* grow(void* memory, size_t* room, size_t count, size_t size) {
    if (count <= *room) return memory;
    *room = 2 * count;
    memory = realloc(memory, *room * size);
    assert_non_null(memory);
    return memory;
}

static inline int new_collider(surfaces* s, double thickness, double radius) {
    ct_collision* c = &s->collision;
    c->collider = realloc(c->collider, (size_t)(c->ncollider + 1) * sizeof *c->collider);
    assert_non_null(c->collider);
    c->collider[c->ncollider] = (ct_collider){.name = "", .thickness = thickness, .radius = radius};
    return c->ncollider++;
}

// A node that the collider owns; free: it deforms, otherwise driven.
static inline int new_node(surfaces* s, int collider, double x, double y, double z, bool free) {
    ct_collision* c = &s->collision;
    const int v = s->collision.nvert++;
    s->x = grow(s->x, &s->room[0], 3 * (size_t)(v + 1), sizeof(double));
    s->rigid = grow(s->rigid, &s->room[1], (size_t)(v + 1), sizeof(int));
    const size_t before = s->room[2];
    c->node = grow(c->node, &s->room[2], (size_t)(c->nnode + 1), sizeof(int));
    if (s->room[2] != before) c->node_owner = realloc(c->node_owner, s->room[2] * sizeof(int));
    s->x[3 * v] = x, s->x[3 * v + 1] = y, s->x[3 * v + 2] = z;
    c->rest = s->x;
    c->node_rigid = s->rigid;
    s->rigid[v] = free ? CT_RIGID_NONE : CT_RIGID_DRIVEN;
    c->node[c->nnode] = v;
    c->node_owner[c->nnode++] = collider;
    return v;
}

static inline void new_edge(surfaces* s, int collider, int a, int b) {
    ct_collision* c = &s->collision;
    for (int e = c->nedge - 1; e >= 0 && c->edge_owner[e] == collider; e--)
        if ((c->edge[2 * e] == a && c->edge[2 * e + 1] == b) ||
            (c->edge[2 * e] == b && c->edge[2 * e + 1] == a))
            return;
    const size_t before = s->room[3];
    c->edge = grow(c->edge, &s->room[3], 2 * (size_t)(c->nedge + 1), sizeof(int));
    if (s->room[3] != before) c->edge_owner = realloc(c->edge_owner, s->room[3] * sizeof(int));
    c->edge[2 * c->nedge] = a;
    c->edge[2 * c->nedge + 1] = b;
    c->edge_owner[c->nedge++] = collider;
}

static inline void new_triangle(surfaces* s, int collider, int i, int j, int k) {
    ct_collision* c = &s->collision;
    const size_t before = s->room[4];
    c->tri = grow(c->tri, &s->room[4], 3 * (size_t)(c->ntri + 1), sizeof(int));
    if (s->room[4] != before) c->tri_owner = realloc(c->tri_owner, s->room[4] * sizeof(int));
    c->tri[3 * c->ntri] = i, c->tri[3 * c->ntri + 1] = j, c->tri[3 * c->ntri + 2] = k;
    c->tri_owner[c->ntri++] = collider;
    new_edge(s, collider, i, j);
    new_edge(s, collider, j, k);
    new_edge(s, collider, k, i);
}

static inline void new_plane(surfaces* s, int collider, const double point[3], const double normal[3]) {
    ct_collision* c = &s->collision;
    c->plane = grow(c->plane, &s->room[5], (size_t)(c->nplane + 1), sizeof(ct_plane));
    ct_plane* plane = c->plane + c->nplane++;
    memset(plane, 0, sizeof *plane);
    plane->collider = collider;
    for (int k = 0; k < 3; k++) plane->point[k] = point[k], plane->normal[k] = normal[k];
}

// A surface of n x n squares over [lo, hi] in x and y at height z, two triangles each, seen from above.
static inline int new_sheet(surfaces* s, double lo, double hi, double z, int n, double thickness, bool free) {
    const int c = new_collider(s, thickness, 0), first = s->collision.nvert;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) new_node(s, c, lo + (hi - lo) * i / n, lo + (hi - lo) * j / n, z, free);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int v = first + j * (n + 1) + i;
            new_triangle(s, c, v, v + 1, v + n + 2);
            new_triangle(s, c, v, v + n + 2, v + n + 1);
        }
    return c;
}

// A box between two corners, twelve triangles, outward.
static inline int new_box(surfaces* s, const double lo[3], const double hi[3], double thickness, bool free) {
    static const int tri[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    const int c = new_collider(s, thickness, 0), first = s->collision.nvert;
    for (int i = 0; i < 8; i++) {
        const bool x = i % 4 == 1 || i % 4 == 2, y = i % 4 >= 2, z = i >= 4;
        new_node(s, c, x ? hi[0] : lo[0], y ? hi[1] : lo[1], z ? hi[2] : lo[2], free);
    }
    for (int t = 0; t < 12; t++)
        new_triangle(s, c, first + tri[3 * t], first + tri[3 * t + 1], first + tri[3 * t + 2]);
    return c;
}

// All may touch all, themselves included when `self`; one coefficient of friction.
static inline void allow_all(surfaces* s, bool self) {
    ct_collision* c = &s->collision;
    const size_t n = (size_t)c->ncollider;
    c->collide = malloc(n * n);
    c->friction = calloc(n * n, sizeof(int));
    c->nkind = c->ncollider;
    c->kind = malloc(n * sizeof(int));
    for (size_t i = 0; i < n; i++) c->kind[i] = (int)i;
    for (size_t i = 0; i < n * n; i++) c->collide[i] = self || i / n != i % n;
    s->coefficient = 0.3;
    c->coefficient = &s->coefficient;
}

static inline void free_surfaces(surfaces* s) {
    ct_collision* c = &s->collision;
    free(s->x);
    free(s->rigid);
    free(c->collider);
    free(c->node), free(c->edge), free(c->tri), free(c->plane);
    free(c->node_owner), free(c->edge_owner), free(c->tri_owner);
    free(c->collide), free(c->friction), free(c->kind);
}

#endif
