// Exact mass properties; see mass.h.
//
// A tet with corners p_i, s = sum p_i and volume V has integral x = V s / 4 and integral x x^T = V (sum p_i
// p_i^T + s s^T) / 20. The inside of a closed surface is the sum of the signed tets that its triangles form
// with any point (the divergence theorem in this form); the point is the mean of the corners, so that little
// cancels.
#include "shape/mass.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "shape/cell.h"
#include "shape/mesh.h"

static ct_mat3 outer(ct_vec3 u, ct_vec3 v) {
    return ct_mat3_columns(ct_vec3_scale(v.x, u), ct_vec3_scale(v.y, u), ct_vec3_scale(v.z, u));
}

static ct_mat3 matrix_of(const double J[6]) {
    return (ct_mat3){{{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}}};
}

static void numbers_of(ct_mat3 A, double J[6]) {
    J[0] = A.a[0][0], J[1] = A.a[1][1], J[2] = A.a[2][2];
    J[3] = 0.5 * (A.a[0][1] + A.a[1][0]), J[4] = 0.5 * (A.a[0][2] + A.a[2][0]),
    J[5] = 0.5 * (A.a[1][2] + A.a[2][1]);
}

// tr(A)/k I - A: from inertia to second moments (k = 2) and back (k = 1).
static ct_mat3 trace_minus(ct_mat3 A, double k) {
    return ct_mat3_axpy(ct_mat3_scale(ct_mat3_trace(A) / k, ct_mat3_identity()), -1, A);
}

void ct_moments_add(ct_moments* sum, double mass, ct_vec3 center, const double inertia[6]) {
    sum->mass += mass;
    sum->first = ct_vec3_axpy(sum->first, mass, center);
    sum->second = ct_mat3_axpy(sum->second, mass, outer(center, center));
    sum->second = ct_mat3_axpy(sum->second, 1, trace_minus(matrix_of(inertia), 2));
}

void ct_moments_result(const ct_moments* sum, double* mass, double center[3], double inertia[6]) {
    *mass = sum->mass;
    memset(center, 0, 3 * sizeof *center);
    memset(inertia, 0, 6 * sizeof *inertia);
    if (sum->mass == 0) return;
    ct_vec3 c = ct_vec3_scale(1 / sum->mass, sum->first);
    ct_vec3_store(center, c);
    numbers_of(trace_minus(ct_mat3_axpy(sum->second, -sum->mass, outer(c, c)), 1), inertia);
}

void ct_inertia_rotate(ct_mat3 R, const double inertia[6], double out[6]) {
    numbers_of(ct_mat3_multiply(ct_mat3_multiply(R, matrix_of(inertia)), ct_mat3_transpose(R)), out);
}

static void add_tet(ct_moments* sum, double density, ct_vec3 p0, ct_vec3 p1, ct_vec3 p2, ct_vec3 p3) {
    const ct_vec3 p[4] = {p0, p1, p2, p3};
    double volume =
        ct_vec3_dot(ct_vec3_cross(ct_vec3_sub(p1, p0), ct_vec3_sub(p2, p0)), ct_vec3_sub(p3, p0)) / 6;
    ct_vec3 s = ct_vec3_add(ct_vec3_add(p0, p1), ct_vec3_add(p2, p3));
    double mass = density * volume;
    sum->mass += mass;
    sum->first = ct_vec3_axpy(sum->first, mass / 4, s);
    sum->second = ct_mat3_axpy(sum->second, mass / 20, outer(s, s));
    for (int i = 0; i < 4; i++) sum->second = ct_mat3_axpy(sum->second, mass / 20, outer(p[i], p[i]));
}

static ct_vec3 mean_corner(const ct_mesh* mesh) {
    ct_vec3 sum = {0, 0, 0};
    for (int v = 0; v < mesh->nvert; v++)
        sum = ct_vec3_axpy(sum, 1.0 / mesh->nvert, ct_vec3_load(mesh->x + 3 * (size_t)v));
    return sum;
}

// A tet of second order: its points carry its mass, exactly as long as its edges are straight.
static void add_points(ct_moments* sum, double density, const ct_mesh* mesh, int t, ct_vec3 from) {
    const int *tet = mesh->tet + 4 * (size_t)t, *mid = mesh->mid + 6 * (size_t)t;
    for (int q = 0; q < CT_CELL_POINTS; q++) {
        const ct_vec3 r = ct_vec3_sub(ct_cell_place(q, tet, mid, mesh->x), from);
        const double mass =
            density * ct_mat3_determinant(ct_cell_edges(q, tet, mid, mesh->x)) / (6 * CT_CELL_POINTS);
        sum->mass += mass;
        sum->first = ct_vec3_axpy(sum->first, mass, r);
        sum->second = ct_mat3_axpy(sum->second, mass, outer(r, r));
    }
}

static void add_mesh(ct_moments* sum, const ct_mesh* mesh, double density, ct_vec3 from) {
    const ct_vec3 zero = {0, 0, 0};
    bool solid = mesh->ntet > 0;
    for (int e = 0; e < (solid ? mesh->ntet : mesh->ntri); e++) {
        const int* node = solid ? mesh->tet + 4 * (size_t)e : mesh->tri + 3 * (size_t)e;
        ct_vec3 p[4];
        if (mesh->mid) {
            add_points(sum, density, mesh, e, from);
            continue;
        }
        for (int i = 0; i < (solid ? 4 : 3); i++)
            p[i] = ct_vec3_sub(ct_vec3_load(mesh->x + 3 * (size_t)node[i]), from);
        if (solid) add_tet(sum, density, p[0], p[1], p[2], p[3]);
        else add_tet(sum, density, zero, p[0], p[1], p[2]);
    }
}

// Every edge has two triangles that run along it in opposite senses.
static ct_status check_closed(const ct_mesh* mesh, ct_error* error) {
    ct_mesh_edge* edge = NULL;
    int nedge = 0;
    if (ct_mesh_edges(mesh->nvert, mesh->ntri, mesh->tri, &edge, &nedge) != CT_OK)
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int i = 0; i < nedge && !status; i++) {
        if (edge[i].ntri == 2 && edge[i].opposed) continue;
        if (error) error->element = edge[i].tri[0];
        status = ct_fail(error, CT_BAD_MESH,
                         "the surface is not closed: %d triangles meet at the edge of nodes %d and %d%s; a "
                         "solid needs a surface "
                         "without holes whose triangles all face outwards",
                         edge[i].ntri, edge[i].node[0], edge[i].node[1],
                         edge[i].ntri == 2 ? " with opposite sides" : "");
    }
    ct_free(edge);
    return status;
}

ct_status ct_mesh_mass(const ct_mesh* mesh, double density, double* mass, double center[3], double inertia[6],
                       ct_error* error) {
    CT_NEED(error, mesh);
    ct_error_clear(error);
    if (!(density > 0 && isfinite(density)))
        return ct_fail(error, CT_BAD_ARGUMENT, "the density is %g: it must be above 0, in kg/m^3", density);
    if (!mesh->ntet && !mesh->ntri)
        return ct_fail(error, CT_BAD_MESH, "the mesh has neither tets nor triangles");
    ct_status status = mesh->ntet ? CT_OK : check_closed(mesh, error);
    if (status) return status;
    ct_moments sum = {0};
    ct_vec3 from = mean_corner(mesh);
    add_mesh(&sum, mesh, density, from);
    if (!(sum.mass > 0 && isfinite(sum.mass)))
        return ct_fail(error, CT_BAD_MESH,
                       "the mesh encloses %g m^3: its tets or triangles are turned inside out",
                       sum.mass / density);
    ct_moments_result(&sum, mass, center, inertia);
    for (int a = 0; a < 3; a++) center[a] += (double[]){from.x, from.y, from.z}[a];
    return CT_OK;
}
