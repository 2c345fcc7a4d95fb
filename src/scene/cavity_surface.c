// Finding the surface of a hollow; see cavity_surface.h.
//
// The boundary of tets is turned inside out, so that hollows have positive volume and the outer surface a
// negative one. A component winds around a point when its solid angle, sum of 2 atan2(det(a,b,c), |a||b||c| +
// (a.b)|c| + (b.c)|a| + (c.a)|b|), is 4 pi.
#include "scene/cavity_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"

typedef struct faces {
    int n;
    int* tri;        // 3 n
    bool* chosen;    // n
    int* component;  // nvert: a node of the component, the same for all
} faces;

static void turn(int* tri, int n) {
    for (int t = 0; t < n; t++) {
        const int swap = tri[3 * t];
        tri[3 * t] = tri[3 * t + 1];
        tri[3 * t + 1] = swap;
    }
}

static ct_status collect(const ct_mesh* mesh, ct_arena* arena, faces* f) {
    int *tri = NULL, ntri = mesh->ntri;
    if (mesh->ntet) {
        ct_status status = ct_mesh_surface(mesh, &tri, &ntri, NULL);
        if (status != CT_OK) return status;
    }
    f->n = ntri;
    f->tri = ct_arena_copy(arena, tri ? tri : mesh->tri, 3 * (size_t)ntri, sizeof(int));
    f->chosen = ct_arena_alloc(arena, (size_t)ntri, sizeof(bool));
    f->component = ct_arena_alloc(arena, (size_t)mesh->nvert, sizeof(int));
    ct_free(tri);
    if (arena->failed) return CT_OUT_OF_MEMORY;
    if (mesh->ntet) turn(f->tri, f->n);
    return CT_OK;
}

// ---- by tag

typedef struct triple {
    int v[3];  // ascending
} triple;

static triple sorted_triple(const int* v) {
    triple t = {{v[0], v[1], v[2]}};
    for (int k = 0; k < 3; k++) {
        const int i = k == 1, low = t.v[i] < t.v[i + 1] ? t.v[i] : t.v[i + 1],
                  high = t.v[i] + t.v[i + 1] - low;
        t.v[i] = low, t.v[i + 1] = high;
    }
    return t;
}

static int triple_compare(const void* a, const void* b) {
    const triple *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->v[k] != q->v[k]) return p->v[k] < q->v[k] ? -1 : 1;
    return 0;
}

static ct_status choose_tagged(const ct_mesh* mesh, int tag, ct_arena* arena, faces* f) {
    triple* tagged = ct_arena_alloc(arena, (size_t)mesh->ntri, sizeof(triple));
    if (!tagged) return CT_OUT_OF_MEMORY;
    size_t count = 0;
    for (int t = 0; t < mesh->ntri; t++)
        if (mesh->tri_tag[t] == tag) tagged[count++] = sorted_triple(mesh->tri + 3 * t);
    qsort(tagged, count, sizeof(triple), triple_compare);
    for (int t = 0; t < f->n; t++) {
        const triple key = sorted_triple(f->tri + 3 * t);
        f->chosen[t] = bsearch(&key, tagged, count, sizeof(triple), triple_compare) != NULL;
    }
    return CT_OK;
}

// ---- by a point inside

static int find(int* component, int v) {
    while (component[v] != v) v = component[v] = component[component[v]];
    return v;
}

static void find_components(const ct_mesh* mesh, faces* f) {
    for (int v = 0; v < mesh->nvert; v++) f->component[v] = v;
    for (int t = 0; t < f->n; t++)
        for (int k = 1; k < 3; k++) {
            const int a = find(f->component, f->tri[3 * t]), b = find(f->component, f->tri[3 * t + k]);
            f->component[a > b ? a : b] = a > b ? b : a;
        }
    for (int v = 0; v < mesh->nvert; v++) f->component[v] = find(f->component, v);
}

typedef struct winding {
    double angle, volume;
} winding;

static void add_winding(const ct_mesh* mesh, const int* tri, ct_vec3 p, winding* sum) {
    const ct_vec3 a = ct_vec3_sub(ct_vec3_load(mesh->x + 3 * (size_t)tri[0]), p),
                  b = ct_vec3_sub(ct_vec3_load(mesh->x + 3 * (size_t)tri[1]), p);
    const ct_vec3 c = ct_vec3_sub(ct_vec3_load(mesh->x + 3 * (size_t)tri[2]), p);
    const double x = ct_vec3_norm(a), y = ct_vec3_norm(b), z = ct_vec3_norm(c),
                 det = ct_vec3_dot(a, ct_vec3_cross(b, c));
    sum->angle +=
        2 * atan2(det, x * y * z + ct_vec3_dot(a, b) * z + ct_vec3_dot(b, c) * x + ct_vec3_dot(c, a) * y);
    sum->volume += det / 6;
}

static ct_status choose_around(const ct_mesh* mesh, const double seed[3], ct_arena* arena, faces* f) {
    winding* sum = ct_arena_alloc(arena, (size_t)mesh->nvert, sizeof(winding));
    if (!sum) return CT_OUT_OF_MEMORY;
    find_components(mesh, f);
    for (int t = 0; t < f->n; t++)
        add_winding(mesh, f->tri + 3 * t, ct_vec3_load(seed), &sum[f->component[f->tri[3 * t]]]);
    int best = -1;
    for (int v = 0; v < mesh->nvert; v++) {
        const double turns = (mesh->ntet ? sum[v].angle : fabs(sum[v].angle)) / (4 * acos(-1));
        if (turns > 0.5 && (best < 0 || fabs(sum[v].volume) < fabs(sum[best].volume))) best = v;
    }
    for (int t = 0; t < f->n; t++) f->chosen[t] = f->component[f->tri[3 * t]] == best;
    return CT_OK;
}

// ---- both

ct_status ct_cavity_surface(const ct_mesh* mesh, int tag, const double seed[3], ct_arena* arena, int** tri,
                            int* ntri) {
    ct_arena scratch = {0};
    faces f = {0};
    *tri = NULL;
    *ntri = 0;
    ct_status status = collect(mesh, &scratch, &f);
    if (status == CT_OK)
        status = tag >= 0 ? choose_tagged(mesh, tag, &scratch, &f) : choose_around(mesh, seed, &scratch, &f);
    winding all = {0};
    for (int t = 0; status == CT_OK && t < f.n; t++) {
        if (!f.chosen[t]) continue;
        memmove(f.tri + 3 * *ntri, f.tri + 3 * t, 3 * sizeof(int));
        add_winding(mesh, f.tri + 3 * (*ntri)++, ct_vec3_load(mesh->x + 3 * (size_t)f.tri[0]), &all);
    }
    // a sheet has no inside of its own
    if (!mesh->ntet && all.volume < 0) turn(f.tri, *ntri);
    if (status == CT_OK) *tri = ct_arena_copy(arena, f.tri, 3 * (size_t)*ntri, sizeof(int));
    ct_arena_free(&scratch);
    return status == CT_OK && !*tri ? CT_OUT_OF_MEMORY : status;
}
