// Tets of second order in meshes: raising linear ones, and their surface; the element itself is in cell.h.
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "shape/cell.h"
#include "shape/key_map.h"
#include "shape/mesh.h"

// Numbers the distinct edges of the tets from nvert on, in the order of the tets; returns how many, or -1.
static int number_edges(const ct_mesh* mesh, int* mid) {
    ct_key_map map = {0};
    int count = 0;
    for (int i = 0; i < 6 * mesh->ntet; i++) {
        const int *tet = mesh->tet + 4 * (size_t)(i / 6), *edge = ct_cell_edge[i % 6];
        int* at = ct_key_map_at(&map, ct_key_pair(tet[edge[0]], tet[edge[1]]));
        if (!at) {
            ct_key_map_clear(&map);
            return -1;
        }
        if (*at < 0) *at = mesh->nvert + count++;
        mid[i] = *at;
    }
    ct_key_map_clear(&map);
    return count;
}

ct_status ct_mesh_raise(ct_mesh* mesh) {
    CT_NEED(NULL, mesh);
    if (!mesh || !mesh->ntet) return CT_BAD_ARGUMENT;
    if (mesh->mid) return CT_OK;
    int* mid = ct_alloc((size_t)mesh->ntet, 6 * sizeof(int));
    const int count = mid ? number_edges(mesh, mid) : -1;
    double* x = count < 0 || count > CT_MESH_MAX_COUNT - mesh->nvert
                    ? NULL
                    : ct_resize(mesh->x, 3 * (size_t)(mesh->nvert + count), sizeof(double));
    if (!x) {
        ct_free(mid);
        return CT_OUT_OF_MEMORY;
    }
    for (int i = 0; i < 6 * mesh->ntet; i++) {
        const int *tet = mesh->tet + 4 * (size_t)(i / 6), *edge = ct_cell_edge[i % 6];
        const double *p = x + 3 * (size_t)tet[edge[0]], *q = x + 3 * (size_t)tet[edge[1]];
        for (int a = 0; a < 3; a++) x[3 * (size_t)mid[i] + (size_t)a] = 0.5 * (p[a] + q[a]);
    }
    mesh->x = x;
    mesh->mid = mid;
    mesh->nvert += count;
    return CT_OK;
}

ct_status ct_mesh_set_middles(ct_mesh* mesh, const int* mid) {
    CT_NEED(NULL, mesh);
    if (!mesh || !mesh->ntet || !mid) return CT_BAD_ARGUMENT;
    for (int i = 0; i < 6 * mesh->ntet; i++)
        if (mid[i] < 0 || mid[i] >= mesh->nvert) return CT_BAD_ARGUMENT;
    int* own = ct_duplicate(mid, (size_t)mesh->ntet, 6 * sizeof(int));
    if (!own) return CT_OUT_OF_MEMORY;
    ct_free(mesh->mid);
    mesh->mid = own;
    return CT_OK;
}

ct_status ct_mesh_tri_middles(const ct_mesh* mesh, int** out) {
    ct_key_map map = {0};
    int *mid = ct_alloc(3 * (size_t)mesh->ntri, sizeof(int)), *at = mid;
    for (int i = 0; at && i < 6 * mesh->ntet; i++) {
        const int *tet = mesh->tet + 4 * (size_t)(i / 6), *edge = ct_cell_edge[i % 6];
        at = ct_key_map_at(&map, ct_key_pair(tet[edge[0]], tet[edge[1]]));
        if (at) *at = mesh->mid[i];
    }
    for (int i = 0; at && i < 3 * mesh->ntri; i++) {
        const int *tri = mesh->tri + 3 * (size_t)(i / 3), k = i % 3;
        mid[i] = ct_key_map_find(&map, ct_key_pair(tri[k], tri[(k + 1) % 3]));
    }
    ct_key_map_clear(&map);
    *out = at ? mid : NULL;
    if (at) return CT_OK;
    ct_free(mid);
    return CT_OUT_OF_MEMORY;
}

// The node between the corners v and w of a tet.
static int middle_of(const ct_mesh* mesh, int t, int v, int w) {
    const int* tet = mesh->tet + 4 * (size_t)t;
    int i = 0, j = 0;
    while (tet[i] != v) i++;
    while (tet[j] != w) j++;
    return mesh->mid[6 * (size_t)t + (size_t)ct_cell_pair[i][j] - 4];
}

ct_status ct_mesh_cut_surface(const ct_mesh* mesh, const int* tri_tet, int** tri, int* ntri) {
    int* cut = ct_alloc((size_t)*ntri, 12 * sizeof(int));
    if (!cut) return CT_OUT_OF_MEMORY;
    for (int f = 0; f < *ntri; f++) {
        const int *node = *tri + 3 * (size_t)f, t = tri_tet[f], a = node[0], b = node[1], c = node[2];
        const int ab = middle_of(mesh, t, a, b), bc = middle_of(mesh, t, b, c), ca = middle_of(mesh, t, c, a);
        const int four[12] = {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca};
        memcpy(cut + 12 * (size_t)f, four, sizeof four);
    }
    ct_free(*tri);
    *tri = cut;
    *ntri *= 4;
    return CT_OK;
}
