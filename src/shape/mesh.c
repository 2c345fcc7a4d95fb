// The mesh object: creation, copy, the structured box and sheet, and repair.
//
// Box: every cell is cut into the six Kuhn tets, one for each order of the axes; the tet of the order
// (a, b, c) has the corners 0, e_a, e_a + e_b, e_a + e_b + e_c. All cells are cut alike, so faces of
// neighbouring cells match.
#include "shape/mesh.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const char* const less = "use a coarser mesh";

static bool indices_in_range(const int* index, size_t count, int nvert) {
    for (size_t i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= nvert) return false;
    return true;
}

// Says which element has an index out of range.
static bool check_indices(const char* what, const int* index, int count, int width, int nvert,
                          ct_error* error) {
    for (int e = 0; e < count; e++)
        for (int k = 0; k < width; k++) {
            const int node = index[(size_t)e * (size_t)width + (size_t)k];
            if (node >= 0 && node < nvert) continue;
            ct_fail(error, CT_BAD_ARGUMENT, "%s %d has the node %d: nodes are numbered from 0 to %d", what, e,
                    node, nvert - 1);
            if (error) error->element = e;
            return false;
        }
    return true;
}

static bool count_is_valid(int count) { return count >= 0 && count <= CT_MESH_MAX_COUNT; }

// All arrays zeroed.
static ct_mesh* mesh_alloc(int nvert, int ntet, int ntri, int ntag) {
    ct_mesh* mesh = ct_alloc(1, sizeof *mesh);
    if (!mesh) return NULL;
    *mesh = (ct_mesh){.nvert = nvert, .ntet = ntet, .ntri = ntri, .ntag = ntag};
    mesh->x = ct_alloc((size_t)nvert, 3 * sizeof(double));
    mesh->tet = ct_alloc((size_t)ntet, 4 * sizeof(int));
    mesh->tri = ct_alloc((size_t)ntri, 3 * sizeof(int));
    mesh->tet_tag = ct_alloc((size_t)ntet, sizeof(int));
    mesh->tri_tag = ct_alloc((size_t)ntri, sizeof(int));
    mesh->tag = ct_alloc((size_t)ntag, sizeof(ct_tag));
    if (mesh->x && mesh->tet && mesh->tri && mesh->tet_tag && mesh->tri_tag && mesh->tag) return mesh;
    ct_mesh_free(mesh);
    return NULL;
}

static void copy_bytes(void* target, const void* source, size_t count, size_t size) {
    if (count) memcpy(target, source, count * size);
}

ct_status ct_mesh_create(ct_mesh** out, int nvert, const double* x, int ntet, const int* tet, int ntri,
                         const int* tri, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    *out = NULL;
    if (!count_is_valid(nvert) || !count_is_valid(ntet) || !count_is_valid(ntri))
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "a mesh cannot have %d nodes, %d tets and %d triangles: give counts from 0 to %d",
                       nvert, ntet, ntri, CT_MESH_MAX_COUNT);
    if ((nvert && !x) || (ntet && !tet) || (ntri && !tri))
        return ct_fail(error, CT_BAD_ARGUMENT, "an array is NULL though its count is above 0: give %s",
                       nvert && !x    ? "x"
                       : ntet && !tet ? "tet"
                                      : "tri");
    if (!check_indices("tet", tet, ntet, 4, nvert, error) ||
        !check_indices("triangle", tri, ntri, 3, nvert, error))
        return CT_BAD_ARGUMENT;
    ct_mesh* mesh = mesh_alloc(nvert, ntet, ntri, 0);
    if (!mesh) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a mesh", less);
    copy_bytes(mesh->x, x, 3 * (size_t)nvert, sizeof(double));
    copy_bytes(mesh->tet, tet, 4 * (size_t)ntet, sizeof(int));
    copy_bytes(mesh->tri, tri, 3 * (size_t)ntri, sizeof(int));
    *out = mesh;
    return CT_OK;
}

ct_status ct_mesh_copy(ct_mesh** out, const ct_mesh* mesh, ct_error* error) {
    CT_NEED(error, out, mesh);
    ct_error_clear(error);
    *out = NULL;
    ct_mesh* copy = mesh_alloc(mesh->nvert, mesh->ntet, mesh->ntri, mesh->ntag);
    if (!copy) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a mesh", less);
    copy_bytes(copy->x, mesh->x, 3 * (size_t)mesh->nvert, sizeof(double));
    copy_bytes(copy->tet, mesh->tet, 4 * (size_t)mesh->ntet, sizeof(int));
    copy_bytes(copy->tri, mesh->tri, 3 * (size_t)mesh->ntri, sizeof(int));
    copy_bytes(copy->tet_tag, mesh->tet_tag, (size_t)mesh->ntet, sizeof(int));
    copy_bytes(copy->tri_tag, mesh->tri_tag, (size_t)mesh->ntri, sizeof(int));
    copy_bytes(copy->tag, mesh->tag, (size_t)mesh->ntag, sizeof(ct_tag));
    if (mesh->mid && !(copy->mid = ct_duplicate(mesh->mid, (size_t)mesh->ntet, 6 * sizeof(int)))) {
        ct_mesh_free(copy);
        return ct_fail_making(error, CT_OUT_OF_MEMORY, "a mesh", less);
    }
    *out = copy;
    return CT_OK;
}

void ct_mesh_free(ct_mesh* mesh) {
    if (!mesh) return;
    ct_free(mesh->x);
    ct_free(mesh->tet);
    ct_free(mesh->tri);
    ct_free(mesh->tet_tag);
    ct_free(mesh->tri_tag);
    ct_free(mesh->tag);
    ct_free(mesh->mid);
    ct_free(mesh);
}

// ---------------------------------------------------------------------------------------------
// Box

// The six tets of the cell whose lowest corner is node `corner`; stride[a] steps along axis a.
static void cut_cell(int* tet, int corner, const int stride[3]) {
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int i = 0; i < 6; i++) {
        int a = corner + stride[order[i][0]];
        int b = a + stride[order[i][1]];
        int c = b + stride[order[i][2]];
        bool even = i < 3;  // an odd order of the axes has negative volume: swap two corners
        int corners[4] = {corner, even ? a : b, even ? b : a, c};
        memcpy(tet + 4 * i, corners, sizeof corners);
    }
}

static bool check_size(const char* what, const double* size, int count, ct_error* error) {
    for (int a = 0; a < count; a++)
        if (!(size[a] > 0) || size[a] > 1e100) {
            ct_fail(error, CT_BAD_ARGUMENT,
                    "the %s has the size %g along axis %d: give sizes above 0, in metres", what, size[a], a);
            return false;
        }
    return true;
}

static bool box_counts(const int cells[3], int* nvert, int* ntet) {
    double nodes = 1, tets = 6;
    for (int a = 0; a < 3; a++) {
        if (cells[a] < 1) return false;
        nodes *= cells[a] + 1.0;
        tets *= cells[a];
    }
    if (nodes > CT_MESH_MAX_COUNT || tets > CT_MESH_MAX_COUNT) return false;
    *nvert = (int)nodes;
    *ntet = (int)tets;
    return true;
}

ct_status ct_mesh_box(ct_mesh** out, const double size[3], const int cells[3], ct_error* error) {
    CT_NEED(error, out, size, cells);
    ct_error_clear(error);
    *out = NULL;
    int nvert, ntet;
    if (!box_counts(cells, &nvert, &ntet))
        return ct_fail(
            error, CT_BAD_ARGUMENT,
            "a box cannot have %d x %d x %d cells: give 1 or more along each axis, and at most %d tets",
            cells[0], cells[1], cells[2], CT_MESH_MAX_COUNT);
    if (!check_size("box", size, 3, error)) return CT_BAD_ARGUMENT;
    ct_mesh* mesh = mesh_alloc(nvert, ntet, 0, 0);
    if (!mesh) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a box", "use fewer cells");

    const int stride[3] = {1, cells[0] + 1, (cells[0] + 1) * (cells[1] + 1)};
    int* tet = mesh->tet;
    for (int k = 0; k <= cells[2]; k++)
        for (int j = 0; j <= cells[1]; j++)
            for (int i = 0; i <= cells[0]; i++) {
                int node = i * stride[0] + j * stride[1] + k * stride[2];
                mesh->x[3 * (size_t)node] = size[0] * i / cells[0];
                mesh->x[3 * (size_t)node + 1] = size[1] * j / cells[1];
                mesh->x[3 * (size_t)node + 2] = size[2] * k / cells[2];
                if (i == cells[0] || j == cells[1] || k == cells[2]) continue;
                cut_cell(tet, node, stride);
                tet += 24;
            }
    *out = mesh;
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Sheet

ct_status ct_mesh_sheet(ct_mesh** out, const double size[2], const int cells[2], ct_error* error) {
    CT_NEED(error, out, size, cells);
    ct_error_clear(error);
    *out = NULL;
    const double nvert = (cells[0] + 1.0) * (cells[1] + 1.0), ntri = 2.0 * cells[0] * cells[1];
    if (cells[0] < 1 || cells[1] < 1 || nvert > CT_MESH_MAX_COUNT || ntri > CT_MESH_MAX_COUNT)
        return ct_fail(
            error, CT_BAD_ARGUMENT,
            "a sheet cannot have %d x %d cells: give 1 or more along each axis, and at most %d triangles",
            cells[0], cells[1], CT_MESH_MAX_COUNT);
    if (!check_size("sheet", size, 2, error)) return CT_BAD_ARGUMENT;
    ct_mesh* mesh = mesh_alloc((int)nvert, 0, (int)ntri, 0);
    if (!mesh) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a sheet", "use fewer cells");
    int* tri = mesh->tri;
    for (int j = 0; j <= cells[1]; j++)
        for (int i = 0; i <= cells[0]; i++) {
            const int node = i + j * (cells[0] + 1), above = node + cells[0] + 1;
            mesh->x[3 * (size_t)node] = size[0] * i / cells[0];
            mesh->x[3 * (size_t)node + 1] = size[1] * j / cells[1];
            if (i == cells[0] || j == cells[1]) continue;
            const bool rising = (i + j) % 2 == 0;  // the diagonal runs from `node` to the opposite corner
            const int cell[6] = {node,      node + 1, rising ? above + 1 : above, rising ? node : node + 1,
                                 above + 1, above};
            memcpy(tri, cell, sizeof cell);
            tri += 6;
        }
    *out = mesh;
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Repair

static bool has_repeated_node(const int* node, int width) {
    for (int i = 0; i < width; i++)
        for (int j = i + 1; j < width; j++)
            if (node[i] == node[j]) return true;
    return false;
}

// Removes elements that use a node twice: they have no extent, and their neighbours already match.
static int drop_collapsed(int* element, int* tag, int* mid, int* count, int width) {
    int kept = 0;
    for (int e = 0; e < *count; e++) {
        const int* node = element + (size_t)width * (size_t)e;
        if (has_repeated_node(node, width)) continue;
        if (mid) memmove(mid + 6 * (size_t)kept, mid + 6 * (size_t)e, 6 * sizeof(int));
        memmove(element + (size_t)width * (size_t)kept, node, (size_t)width * sizeof(int));
        tag[kept++] = tag[e];
    }
    int dropped = *count - kept;
    *count = kept;
    return dropped;
}

static int flip_inverted(ct_mesh* mesh) {
    int flipped = 0;
    for (int t = 0; t < mesh->ntet; t++) {
        int* node = mesh->tet + 4 * (size_t)t;
        if (!(ct_tet_volume(mesh->x, node) < 0)) continue;
        int swap = node[2];
        node[2] = node[3];
        node[3] = swap;
        flipped++;
        if (!mesh->mid) continue;
        int *mid = mesh->mid + 6 * (size_t)t, old[6];  // 12 and 13, 02 and 03 change places
        memcpy(old, mid, sizeof old);
        mid[1] = old[4], mid[4] = old[1], mid[2] = old[3], mid[3] = old[2];
    }
    return flipped;
}

static void mark_used(int* used, const int* index, size_t count) {
    for (size_t i = 0; i < count; i++) used[index[i]] = 1;
}

// Without memory for the renumbering nothing is dropped.
static int drop_unused_nodes(ct_mesh* mesh) {
    int* renumbered = ct_alloc((size_t)mesh->nvert, sizeof(int));
    if (!renumbered) return 0;
    mark_used(renumbered, mesh->tet, 4 * (size_t)mesh->ntet);
    mark_used(renumbered, mesh->tri, 3 * (size_t)mesh->ntri);
    if (mesh->mid) mark_used(renumbered, mesh->mid, 6 * (size_t)mesh->ntet);
    int kept = 0;
    for (int v = 0; v < mesh->nvert; v++) {
        if (!renumbered[v]) continue;
        memmove(mesh->x + 3 * (size_t)kept, mesh->x + 3 * (size_t)v, 3 * sizeof(double));
        renumbered[v] = kept++;
    }
    for (size_t i = 0; i < 4 * (size_t)mesh->ntet; i++) mesh->tet[i] = renumbered[mesh->tet[i]];
    for (size_t i = 0; i < 3 * (size_t)mesh->ntri; i++) mesh->tri[i] = renumbered[mesh->tri[i]];
    for (size_t i = 0; mesh->mid && i < 6 * (size_t)mesh->ntet; i++) mesh->mid[i] = renumbered[mesh->mid[i]];
    int dropped = mesh->nvert - kept;
    mesh->nvert = kept;
    ct_free(renumbered);
    return dropped;
}

int ct_mesh_repair(ct_mesh* mesh) {
    if (!mesh) return 0;
    if (!indices_in_range(mesh->tet, 4 * (size_t)mesh->ntet, mesh->nvert)) return 0;
    if (!indices_in_range(mesh->tri, 3 * (size_t)mesh->ntri, mesh->nvert)) return 0;
    if (mesh->mid && !indices_in_range(mesh->mid, 6 * (size_t)mesh->ntet, mesh->nvert)) return 0;
    int changes = drop_collapsed(mesh->tet, mesh->tet_tag, mesh->mid, &mesh->ntet, 4);
    changes += drop_collapsed(mesh->tri, mesh->tri_tag, NULL, &mesh->ntri, 3);
    changes += flip_inverted(mesh);
    changes += drop_unused_nodes(mesh);
    return changes;
}

ct_status ct_mesh_surface(const ct_mesh* mesh, int** tri, int* ntri, ct_error* error) {
    CT_NEED(error, mesh, tri, ntri);
    ct_error_clear(error);
    *tri = NULL;
    *ntri = 0;
    if (!check_indices("tet", mesh->tet, mesh->ntet, 4, mesh->nvert, error)) return CT_BAD_ARGUMENT;
    int* tri_tet = NULL;
    ct_status status =
        ct_mesh_boundary(mesh->nvert, mesh->ntet, mesh->tet, tri, mesh->mid ? &tri_tet : NULL, ntri);
    if (status == CT_OK && mesh->mid) status = ct_mesh_cut_surface(mesh, tri_tet, tri, ntri);
    ct_free(tri_tet);
    return ct_fail_making(error, status, "the surface of a mesh", less);
}
