// Dropping tets until the boundary is a manifold; see prune.h.
#include "shape/prune.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shape/key_map.h"
#include "shape/mesh.h"

typedef struct star_face {  // a face at the vertex in hand: its two other corners and the tet
    uint64_t key;
    int local;
} star_face;

typedef struct star {  // the living tets around one vertex
    int ntet;
    int* tet;         // ntet   index in the list
    int* group;       // ntet   union-find parent
    star_face* face;  // 3 ntet sorted by key
    int nlink;        // boundary triangles at the vertex
    int* link;        // 2 nlink the two other corners of each
    int* link_group;  // nlink  union-find parent
} star;

typedef struct pruner {
    ct_tet_list* list;
    int *start, *item;  // tets around each vertex: item[start[v]] .. item[start[v + 1] - 1]
    bool* dead;         // ntet
    bool* check;        // nvert  may be a boundary vertex whose surroundings have changed
    star star;
    bool changed;
} pruner;

static int compare_faces(const void* a, const void* b) {
    const star_face *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->local - q->local;
}

static int find_group(int* group, int i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
}

// The smaller root wins, so that groups do not depend on the order of joining.
static void join_groups(int* group, int i, int j) {
    int a = find_group(group, i), b = find_group(group, j);
    if (a < b) group[b] = a;
    else group[a] = b;
}

// Gathers the living tets at v, joined through common faces at v, and the boundary triangles at v.
static void gather_star(pruner* p, int v) {
    star* s = &p->star;
    s->ntet = s->nlink = 0;
    int nface = 0;
    for (int i = p->start[v]; i < p->start[v + 1]; i++) {
        int t = p->item[i];
        if (p->dead[t]) continue;
        const int* corner = p->list->tet + 4 * (size_t)t;
        int other[3], count = 0;
        for (int k = 0; k < 4; k++)
            if (corner[k] != v) other[count++] = corner[k];
        for (int k = 0; k < 3; k++)
            s->face[nface++] = (star_face){ct_key_pair(other[k], other[(k + 1) % 3]), s->ntet};
        s->group[s->ntet] = s->ntet;
        s->tet[s->ntet++] = t;
    }
    qsort(s->face, (size_t)nface, sizeof *s->face, compare_faces);
    for (int i = 0; i < nface; i++) {
        if (i + 1 < nface && s->face[i].key == s->face[i + 1].key) {
            join_groups(s->group, s->face[i].local, s->face[i + 1].local);
            i++;
        } else {
            s->link[2 * s->nlink] = (int)(s->face[i].key >> 32);
            s->link[2 * s->nlink + 1] = (int)(s->face[i].key & 0xffffffff);
            s->link_group[s->nlink] = s->nlink;
            s->nlink++;
        }
    }
}

static void kill_tet(pruner* p, int t) {
    p->dead[t] = true;
    p->changed = true;
    for (int k = 0; k < 4; k++) p->check[p->list->tet[4 * (size_t)t + (size_t)k]] = true;
}

// Keeps the group with the most tets among those marked by group[i] >= 0; kills the others. False: only one
// group.
static bool keep_largest(pruner* p, int* group) {
    star* s = &p->star;
    int best = -1, best_count = 0;
    bool several = false;
    for (int i = 0; i < s->ntet; i++) {
        if (group[i] < 0 || find_group(group, i) != i) continue;
        int count = 0;
        for (int j = 0; j < s->ntet; j++) count += group[j] >= 0 && find_group(group, j) == i;
        several |= best >= 0;
        if (count > best_count) {
            best = i;
            best_count = count;
        }
    }
    for (int i = 0; several && i < s->ntet; i++)
        if (group[i] >= 0 && find_group(group, i) != best) kill_tet(p, s->tet[i]);
    return several;
}

static bool has_corner(const int* tet, int v) {
    return tet[0] == v || tet[1] == v || tet[2] == v || tet[3] == v;
}

// Groups the tets at the edge (v, w) by the faces that hold it and keeps the largest fan.
static bool split_edge(pruner* p, int w) {
    star* s = &p->star;
    for (int i = 0; i < s->ntet; i++)
        s->group[i] = has_corner(p->list->tet + 4 * (size_t)s->tet[i], w) ? i : -1;
    for (int i = 0; i + 1 < 3 * s->ntet; i++) {
        uint64_t key = s->face[i].key;
        bool at_edge = (int)(key >> 32) == w || (int)(key & 0xffffffff) == w;
        if (at_edge && key == s->face[i + 1].key)
            join_groups(s->group, s->face[i].local, s->face[i + 1].local);
    }
    return keep_largest(p, s->group);
}

// A corner of the link that more than two boundary triangles share, -1 when there is none.
static int crowded_corner(const star* s) {
    for (int i = 0; i < 2 * s->nlink; i++) {
        int count = 0;
        for (int j = 0; j < 2 * s->nlink; j++) count += s->link[j] == s->link[i];
        if (count > 2) return s->link[i];
    }
    return -1;
}

static bool link_is_one_cycle(star* s) {
    for (int i = 0; i < s->nlink; i++)
        for (int j = 0; j < i; j++) {
            const int *a = s->link + 2 * i, *b = s->link + 2 * j;
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])
                join_groups(s->link_group, i, j);
        }
    for (int i = 1; i < s->nlink; i++)
        if (find_group(s->link_group, i) != find_group(s->link_group, 0)) return false;
    return true;
}

static void check_vertex(pruner* p, int v) {
    gather_star(p, v);
    star* s = &p->star;
    if (s->ntet == 0 || s->nlink == 0) return;
    if (keep_largest(p, s->group)) return;
    int crowded = crowded_corner(s);
    if (crowded >= 0 && split_edge(p, crowded)) return;
    if (!link_is_one_cycle(s))
        for (int i = 0; i < s->ntet; i++) kill_tet(p, s->tet[i]);
}

// Drops dead tets and unused vertices. `renumber` has nvert entries.
static void compact(ct_tet_list* list, const bool* dead, int* renumber) {
    int ntet = 0, nvert = 0;
    memset(renumber, 0, (size_t)list->nvert * sizeof *renumber);
    for (int t = 0; t < list->ntet; t++) {
        if (dead[t]) continue;
        memmove(list->tet + 4 * (size_t)ntet++, list->tet + 4 * (size_t)t, 4 * sizeof(int));
    }
    list->ntet = ntet;
    for (int i = 0; i < 4 * ntet; i++) renumber[list->tet[i]] = 1;
    for (int v = 0; v < list->nvert; v++) {
        if (!renumber[v]) continue;
        memmove(list->x + 3 * (size_t)nvert, list->x + 3 * (size_t)v, 3 * sizeof(double));
        list->surface[nvert] = list->surface[v];
        renumber[v] = nvert++;
    }
    list->nvert = nvert;
    for (int i = 0; i < 4 * ntet; i++) list->tet[i] = renumber[list->tet[i]];
}

static bool allocate(pruner* p, ct_arena* arena, int** renumber) {
    const ct_tet_list* list = p->list;
    if (ct_mesh_incidence(list->nvert, 4, list->ntet, list->tet, &p->start, &p->item) != CT_OK) return false;
    size_t most = 0;
    for (int v = 0; v < list->nvert; v++) {
        size_t degree = (size_t)(p->start[v + 1] - p->start[v]);
        if (degree > most) most = degree;
    }
    p->dead = ct_arena_alloc(arena, (size_t)list->ntet, sizeof(bool));
    p->check = ct_arena_alloc(arena, (size_t)list->nvert, sizeof(bool));
    p->star.tet = ct_arena_alloc(arena, most, sizeof(int));
    p->star.group = ct_arena_alloc(arena, most, sizeof(int));
    p->star.face = ct_arena_alloc(arena, 3 * most, sizeof(star_face));
    p->star.link = ct_arena_alloc(arena, 6 * most, sizeof(int));
    p->star.link_group = ct_arena_alloc(arena, 3 * most, sizeof(int));
    *renumber = ct_arena_alloc(arena, (size_t)list->nvert, sizeof(int));
    return !arena->failed;
}

ct_status ct_prune(ct_tet_list* list) {
    pruner p = {.list = list};
    ct_arena arena = {0};
    int* renumber = NULL;
    ct_status status = allocate(&p, &arena, &renumber) ? CT_OK : CT_OUT_OF_MEMORY;
    if (status == CT_OK) {
        memcpy(p.check, list->surface, (size_t)list->nvert * sizeof(bool));
        do {
            p.changed = false;
            for (int v = 0; v < list->nvert; v++) {
                if (!p.check[v]) continue;
                p.check[v] = false;
                check_vertex(&p, v);
            }
        } while (p.changed);
        compact(list, p.dead, renumber);
    }
    ct_free(p.start);
    ct_free(p.item);
    ct_arena_free(&arena);
    return status;
}
