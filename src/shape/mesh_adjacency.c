// Who touches whom: faces between tets, boundary triangles, edges of a surface, elements at a node,
// connected components.
//
// Faces and edges are found by sorting: each is written as its ascending node indices (low, mid, high)
// and the place it came from, put into a bucket per low node, and sorted within the bucket; equal
// neighbours are the same face. No hashing, so the result does not depend on anything but the input.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh.h"

const int ct_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

typedef struct record {
    int low, mid, high;
    int slot;  // width * element + local face or edge
} record;

static int record_compare(const void* left, const void* right) {
    const record *a = left, *b = right;
    if (a->mid != b->mid) return a->mid < b->mid ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

static void sort_bucket(record* records, size_t count) {
    if (count > 48) {
        qsort(records, count, sizeof *records, record_compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        record moving = records[i];
        size_t j = i;
        for (; j > 0 && record_compare(&records[j - 1], &moving) > 0; j--) records[j] = records[j - 1];
        records[j] = moving;
    }
}

// Replaces *records by its sorted copy; false: out of memory, *records is unchanged.
static bool sort_records(int nvert, record** records, size_t count) {
    size_t* start = ct_alloc((size_t)nvert + 2, sizeof *start);
    record* sorted = ct_alloc(count, sizeof *sorted);
    if (!start || !sorted) {
        ct_free(start);
        ct_free(sorted);
        return false;
    }
    // counting sort by the low node; start[v + 1] runs from the beginning to the end of bucket v
    for (size_t i = 0; i < count; i++) start[(*records)[i].low + 2]++;
    for (int v = 0; v < nvert; v++) start[v + 2] += start[v + 1];
    for (size_t i = 0; i < count; i++) sorted[start[(*records)[i].low + 1]++] = (*records)[i];
    for (int v = 0; v < nvert; v++) sort_bucket(sorted + start[v], start[v + 1] - start[v]);
    ct_free(start);
    ct_free(*records);
    *records = sorted;
    return true;
}

static void order(int* a, int* b) {
    if (*a <= *b) return;
    int swap = *a;
    *a = *b;
    *b = swap;
}

static record face_record(int a, int b, int c, int slot) {
    order(&a, &b);
    order(&b, &c);
    order(&a, &b);
    return (record){a, b, c, slot};
}

static bool same_key(const record* a, const record* b) {
    return a->low == b->low && a->mid == b->mid && a->high == b->high;
}

static size_t run_length(const record* records, size_t i, size_t count) {
    size_t n = 1;
    while (i + n < count && same_key(&records[i], &records[i + n])) n++;
    return n;
}

// ---------------------------------------------------------------------------------------------
// Faces of tets

static void slot_nodes(const int* tet, int slot, int node[3]) {
    const int* corner = tet + 4 * (size_t)(slot / 4);
    for (int i = 0; i < 3; i++) node[i] = corner[ct_tet_face[slot % 4][i]];
}

// Whether the face, as its tet lists it outward, is an even permutation of (low, mid, high).
static bool face_is_even(const int* tet, const record* face) {
    int node[3];
    slot_nodes(tet, face->slot, node);
    for (int i = 0; i < 3; i++)
        if (node[i] == face->low) return node[(i + 1) % 3] == face->mid;
    return true;
}

static void report_fault(ct_mesh_face_fault* fault, const record* face, size_t n) {
    if (!fault || fault->tet[0] >= 0) return;
    *fault = (ct_mesh_face_fault){{face[0].slot / 4, face[1].slot / 4, n > 2 ? face[2].slot / 4 : -1},
                                  {face->low, face->mid, face->high}};
}

ct_status ct_mesh_neighbors(int nvert, int ntet, const int* tet, int* neighbor, ct_mesh_face_fault* fault) {
    if (fault) *fault = (ct_mesh_face_fault){{-1, -1, -1}, {-1, -1, -1}};
    size_t count = 4 * (size_t)ntet;
    record* faces = ct_alloc(count, sizeof *faces);
    if (!faces) return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int node[3];
        slot_nodes(tet, (int)i, node);
        faces[i] = face_record(node[0], node[1], node[2], (int)i);
        neighbor[i] = -1;
    }
    if (!sort_records(nvert, &faces, count)) {
        ct_free(faces);
        return CT_OUT_OF_MEMORY;
    }
    for (size_t i = 0, n; i < count; i += n) {
        n = run_length(faces, i, count);
        for (size_t j = 0; j < n && n > 1; j++) neighbor[faces[i + j].slot] = faces[i + (j + 1) % n].slot / 4;
        if (n > 2 || (n == 2 && face_is_even(tet, &faces[i]) == face_is_even(tet, &faces[i + 1])))
            report_fault(fault, &faces[i], n);
    }
    ct_free(faces);
    return CT_OK;
}

static void gather_boundary(int ntet, const int* tet, const int* neighbor, int* tri, int* tri_tet) {
    size_t n = 0;
    for (size_t i = 0; i < 4 * (size_t)ntet; i++) {
        if (neighbor[i] >= 0) continue;
        slot_nodes(tet, (int)i, tri + 3 * n);
        if (tri_tet) tri_tet[n] = (int)(i / 4);
        n++;
    }
}

ct_status ct_mesh_boundary_of(int ntet, const int* tet, const int* neighbor, int** tri, int** tri_tet,
                              int* ntri) {
    *tri = NULL;
    *ntri = 0;
    if (tri_tet) *tri_tet = NULL;
    size_t count = 0;
    for (size_t i = 0; i < 4 * (size_t)ntet; i++) count += neighbor[i] < 0;
    int* found = ct_alloc(count, 3 * sizeof(int));
    int* owner = found && tri_tet ? ct_alloc(count, sizeof(int)) : NULL;
    if (!found || (tri_tet && !owner)) {
        ct_free(found);
        return CT_OUT_OF_MEMORY;
    }
    gather_boundary(ntet, tet, neighbor, found, owner);
    *tri = found;
    *ntri = (int)count;
    if (tri_tet) *tri_tet = owner;
    return CT_OK;
}

ct_status ct_mesh_boundary(int nvert, int ntet, const int* tet, int** tri, int** tri_tet, int* ntri) {
    *tri = NULL;
    *ntri = 0;
    if (tri_tet) *tri_tet = NULL;
    int* neighbor = ct_alloc((size_t)ntet, 4 * sizeof(int));
    ct_status status = neighbor ? ct_mesh_neighbors(nvert, ntet, tet, neighbor, NULL) : CT_OUT_OF_MEMORY;
    if (status == CT_OK) status = ct_mesh_boundary_of(ntet, tet, neighbor, tri, tri_tet, ntri);
    ct_free(neighbor);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Edges of triangles

static bool edge_ascends(const int* tri, int slot) {
    const int* node = tri + 3 * (size_t)(slot / 3);
    return node[slot % 3] < node[(slot % 3 + 1) % 3];
}

static size_t merge_edges(const int* tri, const record* records, size_t count, ct_mesh_edge* edge) {
    size_t nedge = 0;
    for (size_t i = 0, n; i < count; i += n) {
        n = run_length(records, i, count);
        ct_mesh_edge found = {{records[i].low, records[i].mid}, {records[i].slot / 3, -1}, (int)n, false};
        if (n > 1) {
            found.tri[1] = records[i + 1].slot / 3;
            found.opposed = edge_ascends(tri, records[i].slot) != edge_ascends(tri, records[i + 1].slot);
        }
        edge[nedge++] = found;
    }
    return nedge;
}

ct_status ct_mesh_edges(int nvert, int ntri, const int* tri, ct_mesh_edge** edge, int* nedge) {
    *edge = NULL;
    *nedge = 0;
    size_t count = 3 * (size_t)ntri;
    record* records = ct_alloc(count, sizeof *records);
    ct_mesh_edge* found = ct_alloc(count, sizeof *found);
    if (!records || !found) goto out_of_memory;
    for (size_t i = 0; i < count; i++) {
        int a = tri[i], b = tri[i - i % 3 + (i % 3 + 1) % 3];
        order(&a, &b);
        records[i] = (record){a, b, 0, (int)i};
    }
    if (!sort_records(nvert, &records, count)) goto out_of_memory;
    *nedge = (int)merge_edges(tri, records, count, found);
    *edge = found;
    ct_free(records);
    return CT_OK;

out_of_memory:
    ct_free(records);
    ct_free(found);
    return CT_OUT_OF_MEMORY;
}

// ---------------------------------------------------------------------------------------------
// Elements at nodes, components

ct_status ct_mesh_incidence(int nvert, int width, int count, const int* element, int** start, int** list) {
    size_t total = (size_t)width * (size_t)count;
    *start = ct_alloc((size_t)nvert + 2, sizeof(int));
    *list = ct_alloc(total, sizeof(int));
    if (!*start || !*list) {
        ct_free(*start);
        ct_free(*list);
        *start = *list = NULL;
        return CT_OUT_OF_MEMORY;
    }
    // (*start)[v + 1] runs from the beginning to the end of node v's list
    for (size_t i = 0; i < total; i++) (*start)[element[i] + 2]++;
    for (int v = 0; v < nvert; v++) (*start)[v + 2] += (*start)[v + 1];
    for (size_t i = 0; i < total; i++) (*list)[(*start)[element[i] + 1]++] = (int)(i / (size_t)width);
    return CT_OK;
}

static int find_root(int* parent, int v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

// Union-find in place; the root of a component is its lowest node.
int ct_mesh_components(int nvert, int width, int count, const int* element, int* component) {
    for (int v = 0; v < nvert; v++) component[v] = -1;
    for (size_t i = 0; i < (size_t)width * (size_t)count; i++) component[element[i]] = element[i];
    for (int e = 0; e < count; e++) {
        const int* node = element + (size_t)width * (size_t)e;
        for (int i = 1; i < width; i++) {
            int a = find_root(component, node[0]), b = find_root(component, node[i]);
            order(&a, &b);
            component[b] = a;
        }
    }
    // parents are never above their children, so one ascending pass replaces roots by numbers
    int ncomponent = 0;
    for (int v = 0; v < nvert; v++) {
        if (component[v] < 0) continue;
        component[v] = component[v] == v ? ncomponent++ : component[component[v]];
    }
    return ncomponent;
}
