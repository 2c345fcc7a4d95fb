// What detection knows of the surfaces before anything moves: faces, exclusions, neighbours, trees.
#include "contact/detect_build.h"

#include "contact/detect_lists.h"
#include "shape/key_map.h"

// What the nodes hang on, all of them: a link, prescribed motions, or NONE when they differ or one is free.
static int rigid_of(const ct_collision* collision, const int* node, int count) {
    const int first = collision->node_rigid[node[0]];
    for (int i = 1; i < count; i++)
        if (collision->node_rigid[node[i]] != first) return CT_RIGID_NONE;
    return first;
}

static void set_nodes(ct_detect* detect, const ct_collision* collision) {
    for (int v = 0; v < collision->nvert; v++) detect->node_owner[v] = -1;
    for (int i = 0; i < collision->nnode; i++)
        detect->node_owner[collision->node[i]] = collision->node_owner[i];
}

static void add_face(ct_detect* detect, int a, int b, int c, int owner) {
    int* face = detect->face + 3 * (size_t)detect->nface;
    face[0] = a;
    face[1] = b;
    face[2] = c;
    detect->face_owner[detect->nface++] = owner;
}

// Triangles at every edge, and which colliders they enclose: each edge has two triangles that run along it in
// opposite directions.
static ct_status set_neighbours(ct_detect* detect, const ct_collision* collision, ct_key_map* map) {
    for (int e = 0; e < collision->nedge; e++) {
        int* place = ct_key_map_at(map, ct_key_pair(collision->edge[2 * e], collision->edge[2 * e + 1]));
        if (!place) return CT_OUT_OF_MEMORY;
        *place = e;
        detect->edge_face[2 * e] = detect->edge_face[2 * e + 1] = -1;
    }
    for (int c = 0; c < collision->ncollider; c++) detect->closed[c] = false;
    for (int t = 0; t < collision->ntri; t++) detect->closed[collision->tri_owner[t]] = true;
    for (int t = 0; t < collision->ntri; t++)
        for (int k = 0; k < 3; k++) {
            const int a = collision->tri[3 * t + k], b = collision->tri[3 * t + (k + 1) % 3];
            const int e = ct_key_map_find(map, ct_key_pair(a, b));
            bool fits = e >= 0;
            if (fits) {
                // the first place is for the triangle that runs along the edge upwards
                int* place = detect->edge_face + 2 * e + (a > b);
                fits = *place < 0;
                if (*place < 0) *place = t;
                else if (detect->edge_face[2 * e + (a < b)] < 0) detect->edge_face[2 * e + (a < b)] = t;
            }
            if (!fits) detect->closed[collision->tri_owner[t]] = false;
        }
    for (int e = 0; e < collision->nedge; e++)
        if ((detect->edge_face[2 * e] < 0) != (detect->edge_face[2 * e + 1] < 0))
            detect->closed[collision->edge_owner[e]] = false;
    return CT_OK;
}

// Triangles at every node.
static void set_node_faces(ct_detect* detect, const ct_collision* collision) {
    int* start = detect->node_start;
    for (int i = 0; i < 3 * collision->ntri; i++) start[collision->tri[i] + 1]++;
    for (int v = 0; v < collision->nvert; v++) start[v + 1] += start[v];
    for (int i = 3 * collision->ntri - 1; i >= 0; i--)
        detect->node_face[--start[collision->tri[i] + 1]] = i / 3;
    // start[v + 1] now holds where v begins
    for (int v = 0; v < collision->nvert; v++) start[v] = start[v + 1];
    start[collision->nvert] = 3 * collision->ntri;
}

static void set_faces(ct_detect* detect, const ct_collision* collision, bool* used) {
    for (int t = 0; t < collision->ntri; t++) {
        const int* tri = collision->tri + 3 * (size_t)t;
        add_face(detect, tri[0], tri[1], tri[2], collision->tri_owner[t]);
        used[tri[0]] = used[tri[1]] = used[tri[2]] = true;
    }
    for (int e = 0; e < collision->nedge; e++) {
        const int a = collision->edge[2 * e], b = collision->edge[2 * e + 1];
        detect->edge_rigid[e] = rigid_of(collision, collision->edge + 2 * (size_t)e, 2);
        used[a] = used[b] = true;
        if (detect->edge_face[2 * e] < 0 && detect->edge_face[2 * e + 1] < 0)
            add_face(detect, a, b, b, collision->edge_owner[e]);
    }
    for (int i = 0; i < collision->nnode; i++) {
        const int v = collision->node[i];
        if (!used[v]) add_face(detect, v, v, v, collision->node_owner[i]);
    }
    for (int f = 0; f < detect->nface; f++)
        detect->face_rigid[f] = rigid_of(collision, detect->face + 3 * (size_t)f, 3);
}

// Edges of triangles.
static void set_edges(ct_detect* detect, const ct_collision* collision) {
    for (int t = 0; t < 3 * collision->ntri; t++) detect->face_edge[t] = -1;
    for (int e = 0; e < collision->nedge; e++)
        for (int k = 0; k < 2; k++) {
            const int t = detect->edge_face[2 * e + k];
            for (int i = 0; t >= 0 && i < 3; i++) {
                if (detect->face_edge[3 * t + i] >= 0) continue;
                detect->face_edge[3 * t + i] = e;
                break;
            }
        }
}

// Numbers of the primitives (id; NULL: 0, 1, ...) of collider c from item[start[c]] to item[start[c + 1]], in
// their order.
static void sort_by_owner(int ncollider, int count, const int* owner, const int* id, int* start, int* item) {
    for (int i = 0; i < count; i++) start[owner[i] + 1]++;
    for (int c = 0; c < ncollider; c++) start[c + 1] += start[c];
    for (int i = 0; i < count; i++) item[start[owner[i]]++] = id ? id[i] : i;
    for (int c = ncollider; c > 0; c--) start[c] = start[c - 1];
    start[0] = 0;
}

// One tree per collider over the primitives it owns; `size` nodes each, id: their numbers (NULL: 0, 1, ...).
static ct_status plant(ct_detect* detect, ct_bvh* tree, int ncollider, const double* rest, int count,
                       const int* node, int size, const int* owner, const int* id, int top) {
    double* center = ct_alloc(3 * (size_t)top, sizeof *center);
    int* item = ct_alloc((size_t)count, sizeof *item);
    int* start = ct_alloc((size_t)ncollider + 1, sizeof *start);
    ct_status status = center && item && start ? CT_OK : CT_OUT_OF_MEMORY;
    for (int i = 0; status == CT_OK && i < count; i++)
        for (int k = 0; k < 3 * size; k++)
            center[3 * (size_t)(id ? id[i] : i) + (size_t)(k % 3)] +=
                rest[3 * (size_t)node[size * i + k / 3] + (size_t)(k % 3)] / size;
    if (status == CT_OK) sort_by_owner(ncollider, count, owner, id, start, item);
    for (int c = 0; status == CT_OK && c < ncollider; c++)
        status = ct_bvh_create(tree + c, &detect->arena, start[c + 1] - start[c], item + start[c], center);
    ct_free(center);
    ct_free(item);
    ct_free(start);
    return status;
}

static ct_status plant_all(ct_detect* detect, const ct_collision* collision) {
    const int n = collision->ncollider;
    ct_status status = plant(detect, detect->node_tree, n, collision->rest, collision->nnode, collision->node,
                             1, collision->node_owner, collision->node, collision->nvert);
    if (status == CT_OK)
        status = plant(detect, detect->edge_tree, n, collision->rest, collision->nedge, collision->edge, 2,
                       collision->edge_owner, NULL, collision->nedge);
    if (status == CT_OK)
        status = plant(detect, detect->face_tree, n, collision->rest, detect->nface, detect->face, 3,
                       detect->face_owner, NULL, detect->nface);
    return status;
}

ct_status ct_detect_build(ct_detect* detect, const ct_collision* collision) {
    ct_arena* arena = &detect->arena;
    const size_t n = (size_t)collision->ncollider, nvert = (size_t)collision->nvert,
                 nedge = (size_t)collision->nedge;
    const size_t most = (size_t)collision->ntri + nedge + (size_t)collision->nnode;  // faces
    detect->face = ct_arena_alloc(arena, 3 * most, sizeof(int));
    detect->face_owner = ct_arena_alloc(arena, most, sizeof(int));
    detect->node_owner = ct_arena_alloc(arena, nvert, sizeof(int));
    detect->edge_rigid = ct_arena_alloc(arena, nedge, sizeof(int));
    detect->face_rigid = ct_arena_alloc(arena, most, sizeof(int));
    detect->edge_face = ct_arena_alloc(arena, 2 * nedge, sizeof(int));
    detect->node_start = ct_arena_alloc(arena, nvert + 1, sizeof(int));
    detect->node_face = ct_arena_alloc(arena, 3 * (size_t)collision->ntri, sizeof(int));
    detect->partner = ct_arena_alloc(arena, nvert, sizeof(int));
    detect->face_edge = ct_arena_alloc(arena, 3 * (size_t)collision->ntri, sizeof(int));
    detect->closed = ct_arena_alloc(arena, n, sizeof(bool));
    detect->node_box = ct_arena_alloc(arena, nvert, sizeof(ct_box));
    detect->edge_box = ct_arena_alloc(arena, nedge, sizeof(ct_box));
    detect->face_box = ct_arena_alloc(arena, most, sizeof(ct_box));
    detect->node_tree = ct_arena_alloc(arena, n, sizeof(ct_bvh));
    detect->edge_tree = ct_arena_alloc(arena, n, sizeof(ct_bvh));
    detect->face_tree = ct_arena_alloc(arena, n, sizeof(ct_bvh));
    bool* used = ct_arena_alloc(arena, nvert, sizeof(bool));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    set_nodes(detect, collision);
    ct_key_map map = {0};
    const ct_status status = set_neighbours(detect, collision, &map);
    ct_key_map_clear(&map);
    if (status != CT_OK) return status;
    set_node_faces(detect, collision);
    set_faces(detect, collision, used);
    set_edges(detect, collision);
    for (size_t v = 0; v < nvert; v++) detect->partner[v] = -1;
    const ct_status planted = plant_all(detect, collision);
    return planted == CT_OK ? ct_lists_build(detect, collision) : planted;
}
