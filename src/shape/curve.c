// Tets of second order that follow a curved surface; see curve.h.
//
// The middle of an edge of length L whose ends are on the surface is within L^2/8R of it: it is projected,
// and what is left between the faces and the surface is of fourth order in L instead of second. Where the
// surface is not smooth at this size, the map of a tet may become poor: such tets stay straight.
#include "shape/curve.h"

#include <math.h>

#include "base/memory.h"
#include "math/point3.h"
#include "shape/cell.h"
#include "shape/mesh.h"
#include "shape/shape.h"

static const double REACH = 0.2;        // of the edge's length, farthest
static const double ON_SURFACE = 1e-3;  // of the edge's length
static const double LEAST_SHARE = 0.3;  // of a straight tet's determinant, anywhere

static const double* node_at(const ct_mesh* mesh, int v) { return mesh->x + 3 * (size_t)v; }

// Where the middle of edge k of a tet is when it is straight.
static void straight_middle(const ct_mesh* mesh, int t, int k, double x[3]) {
    const int *tet = mesh->tet + 4 * (size_t)t, *edge = ct_cell_edge[k];
    for (int i = 0; i < 3; i++)
        x[i] = 0.5 * (node_at(mesh, tet[edge[0]])[i] + node_at(mesh, tet[edge[1]])[i]);
}

static void curve_edge(ct_mesh* mesh, const ct_shape* shape, int t, int k) {
    const int *tet = mesh->tet + 4 * (size_t)t, *edge = ct_cell_edge[k];
    const double *a = node_at(mesh, tet[edge[0]]), *b = node_at(mesh, tet[edge[1]]), length = distance3(a, b);
    if (fabs(ct_shape_distance(shape, a)) > ON_SURFACE * length) return;
    if (fabs(ct_shape_distance(shape, b)) > ON_SURFACE * length) return;
    double middle[3], target[3];
    straight_middle(mesh, t, k, middle);
    copy3(target, middle);
    if (!ct_shape_project(shape, length, target) || distance3(target, middle) > REACH * length) return;
    copy3(mesh->x + 3 * (size_t)mesh->mid[6 * (size_t)t + (size_t)k], target);
}

// det E at corner c: there dx/dl_c = 3 x_c and dx/dl_k = 4 x_kc - x_k.
static double corner_determinant(const ct_mesh* mesh, int t, int c) {
    const int *tet = mesh->tet + 4 * (size_t)t, *mid = mesh->mid + 6 * (size_t)t;
    ct_vec3 slope[4];
    for (int k = 0; k < 4; k++) {
        const ct_vec3 x = ct_vec3_load(node_at(mesh, tet[k]));
        slope[k] =
            k == c
                ? ct_vec3_scale(3, x)
                : ct_vec3_sub(ct_vec3_scale(4, ct_vec3_load(node_at(mesh, mid[ct_cell_pair[k][c] - 4]))), x);
    }
    return ct_mat3_determinant(ct_mat3_columns(
        ct_vec3_sub(slope[1], slope[0]), ct_vec3_sub(slope[2], slope[0]), ct_vec3_sub(slope[3], slope[0])));
}

static bool is_poor(const ct_mesh* mesh, int t) {
    const int* tet = mesh->tet + 4 * (size_t)t;
    const double limit = LEAST_SHARE * ct_tet_volume(mesh->x, tet);
    double least;
    ct_cell_volume(tet, mesh->mid + 6 * (size_t)t, mesh->x, &least);
    if (CT_CELL_POINTS * least < limit) return true;
    for (int c = 0; c < 4; c++)
        if (corner_determinant(mesh, t, c) / 6 < limit) return true;
    return false;
}

// Straightens poor tets until there are none; what is straight stays so.
static void straighten(ct_mesh* mesh) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int t = 0; t < mesh->ntet; t++) {
            if (!is_poor(mesh, t)) continue;
            for (int k = 0; k < 6; k++) {
                double straight[3], *x = mesh->x + 3 * (size_t)mesh->mid[6 * (size_t)t + (size_t)k];
                straight_middle(mesh, t, k, straight);
                changed |= distance3(straight, x) > 0;
                copy3(x, straight);
            }
        }
    }
}

ct_status ct_mesh_curve(ct_mesh* mesh, const ct_shape* shape) {
    int *tri, *tri_tet, ntri;
    ct_status status = ct_mesh_boundary(mesh->nvert, mesh->ntet, mesh->tet, &tri, &tri_tet, &ntri);
    if (status != CT_OK) return status;
    for (int i = 0; i < 3 * ntri; i++) {
        const int t = tri_tet[i / 3], a = tri[i], b = tri[i % 3 == 2 ? i - 2 : i + 1];
        for (int k = 0; k < 6; k++) {
            const int *tet = mesh->tet + 4 * (size_t)t, p = tet[ct_cell_edge[k][0]],
                      q = tet[ct_cell_edge[k][1]];
            // each edge has two faces: one of them is enough
            if (a < b && ((p == a && q == b) || (p == b && q == a))) curve_edge(mesh, shape, t, k);
        }
    }
    ct_free(tri);
    ct_free(tri_tet);
    straighten(mesh);
    return CT_OK;
}
