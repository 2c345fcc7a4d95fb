// Measures of elements, and the check that a mesh can be simulated.
//
// With a, b, c the edges of a tet from its first node:  6 V = (a x b) . c,
//   circumradius  R = | |a|^2 (b x c) + |b|^2 (c x a) + |c|^2 (a x b) | / (12 V),   inradius  r = 3 V / sum
//   of areas, quality       q = 3 r / R   (1 for the regular tet), dihedral angle between faces with outward
//   normals m, n:  pi - angle(m, n).
// A tet is degenerate when 6 V <= 1e-12 L^3 with L its longest edge, a triangle when 2 A <= 1e-12 L^2. Two
// nodes are duplicates when they lie within 1e-12 of the mesh's size in one connected component.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec3.h"
#include "shape/cell.h"
#include "shape/mesh.h"

#define DEGENERATE 1e-12
#define DUPLICATE 1e-12
#define SLIVER 0.1
#define DEGREES (180.0 / 3.14159265358979323846)

static ct_vec3 edge(const double* x, int from, int to) {
    const double *a = x + 3 * (size_t)from, *b = x + 3 * (size_t)to;
    return (ct_vec3){b[0] - a[0], b[1] - a[1], b[2] - a[2]};
}

// ---------------------------------------------------------------------------------------------
// One element

double ct_tet_volume(const double* x, const int tet[4]) {
    ct_vec3 a = edge(x, tet[0], tet[1]), b = edge(x, tet[0], tet[2]), c = edge(x, tet[0], tet[3]);
    return ct_vec3_dot(ct_vec3_cross(a, b), c) / 6;
}

static double longest_edge(const double* x, const int* node, int width) {
    double longest = 0;
    for (int i = 0; i < width; i++)
        for (int j = i + 1; j < width; j++) longest = fmax(longest, ct_vec3_norm(edge(x, node[i], node[j])));
    return longest;
}

double ct_tet_longest_edge(const double* x, const int tet[4]) { return longest_edge(x, tet, 4); }

double ct_tri_area(const double* x, const int tri[3]) {
    return ct_vec3_norm(ct_vec3_cross(edge(x, tri[0], tri[1]), edge(x, tri[0], tri[2]))) / 2;
}

static void face_of(const int tet[4], int face, int node[3]) {
    for (int i = 0; i < 3; i++) node[i] = tet[ct_tet_face[face][i]];
}

double ct_tet_quality(const double* x, const int tet[4]) {
    ct_vec3 a = edge(x, tet[0], tet[1]), b = edge(x, tet[0], tet[2]), c = edge(x, tet[0], tet[3]);
    ct_vec3 bc = ct_vec3_cross(b, c), ca = ct_vec3_cross(c, a), ab = ct_vec3_cross(a, b);
    double aa = ct_vec3_dot(a, a), bb = ct_vec3_dot(b, b), cc = ct_vec3_dot(c, c);
    ct_vec3 center = {aa * bc.x + bb * ca.x + cc * ab.x, aa * bc.y + bb * ca.y + cc * ab.y,
                      aa * bc.z + bb * ca.z + cc * ab.z};
    double area = 0;
    for (int i = 0; i < 4; i++) {
        int node[3];
        face_of(tet, i, node);
        area += ct_tri_area(x, node);
    }
    double volume = ct_vec3_dot(ab, c) / 6;
    double quality =
        108 * volume * volume / (area * ct_vec3_norm(center));  // 3 (3 V / A) / (|center| / 12 V)
    return volume > 0 && isfinite(quality) ? quality : 0;
}

void ct_tet_dihedral(const double* x, const int tet[4], double* least, double* greatest) {
    ct_vec3 normal[4];
    for (int i = 0; i < 4; i++) {
        int node[3];
        face_of(tet, i, node);
        normal[i] = ct_vec3_cross(edge(x, node[0], node[1]), edge(x, node[0], node[2]));
    }
    double size[4], lowest = 1, highest = -1;  // of the cosines
    for (int i = 0; i < 4; i++) size[i] = ct_vec3_norm(normal[i]);
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            double product = size[i] * size[j];
            double cosine = product > 0 ? -ct_vec3_dot(normal[i], normal[j]) / product : 1;
            lowest = fmin(lowest, cosine);
            highest = fmax(highest, cosine);
        }
    *least = acos(fmin(highest, 1)) * DEGREES;
    *greatest = acos(fmax(lowest, -1)) * DEGREES;
}

// ---------------------------------------------------------------------------------------------
// Report

typedef struct check {
    const ct_mesh* mesh;
    ct_mesh_report* report;
    ct_error* error;
    const int* element;  // the tets, or the triangles when there is no tet
    int width, count;
    const char* noun;  // "tet" or "triangle"
    double size;       // diagonal of the bounding box
    int* component;    // nvert
    int* surface;      // 3 nsurface: boundary of the tets, or the triangles themselves
    int nsurface;
    ct_mesh_edge* edges;
    int nedge;
    ct_mesh_face_fault fault;
} check;

static void measure_box(check* c) {
    ct_mesh_report* report = c->report;
    double squared = 0;
    for (int a = 0; a < 3; a++) {
        report->lower[a] = INFINITY;
        report->upper[a] = -INFINITY;
        for (int v = 0; v < c->mesh->nvert; v++) {
            report->lower[a] = fmin(report->lower[a], c->mesh->x[3 * (size_t)v + (size_t)a]);
            report->upper[a] = fmax(report->upper[a], c->mesh->x[3 * (size_t)v + (size_t)a]);
        }
        squared += (report->upper[a] - report->lower[a]) * (report->upper[a] - report->lower[a]);
    }
    c->size = sqrt(squared);
}

static void measure_tets(check* c) {
    const ct_mesh* mesh = c->mesh;
    ct_mesh_report* report = c->report;
    report->worst_tet = -1;
    report->min_dihedral = mesh->ntet ? 180 : 0;
    for (int t = 0; t < mesh->ntet; t++) {
        const int* tet = mesh->tet + 4 * (size_t)t;
        double least, greatest, quality = ct_tet_quality(mesh->x, tet);
        ct_tet_dihedral(mesh->x, tet, &least, &greatest);
        double part;
        report->volume += mesh->mid ? ct_cell_volume(tet, mesh->mid + 6 * (size_t)t, mesh->x, &part)
                                    : ct_tet_volume(mesh->x, tet);
        report->min_dihedral = fmin(report->min_dihedral, least);
        report->max_dihedral = fmax(report->max_dihedral, greatest);
        report->sliver_count += quality < SLIVER;
        if (report->worst_tet < 0 || quality < report->min_quality) {
            report->min_quality = quality;
            report->worst_tet = t;
        }
    }
}

static void measure_surface(check* c) {
    ct_mesh_report* report = c->report;
    for (int i = 0; i < c->nsurface; i++) report->area += ct_tri_area(c->mesh->x, c->surface + 3 * (size_t)i);
    report->surface_tri_count = c->mesh->ntet ? c->nsurface : 0;
    report->closed_surface = c->nsurface > 0;
    for (int i = 0; i < c->nedge; i++)
        if (c->edges[i].ntri != 2 || !c->edges[i].opposed) report->closed_surface = false;
}

static ct_status build_adjacency(check* c) {
    const ct_mesh* mesh = c->mesh;
    c->component = ct_alloc((size_t)mesh->nvert, sizeof(int));
    int *neighbor = ct_alloc((size_t)mesh->ntet, 4 * sizeof(int)), *owner = NULL;
    ct_status status = c->component && neighbor ? CT_OK : CT_OUT_OF_MEMORY;
    if (status == CT_OK) status = ct_mesh_neighbors(mesh->nvert, mesh->ntet, mesh->tet, neighbor, &c->fault);
    if (status == CT_OK && mesh->ntet)
        status = ct_mesh_boundary_of(mesh->ntet, mesh->tet, neighbor, &c->surface, &owner, &c->nsurface);
    if (status == CT_OK && mesh->mid) status = ct_mesh_cut_surface(mesh, owner, &c->surface, &c->nsurface);
    ct_free(neighbor);
    ct_free(owner);
    if (status != CT_OK) return status;
    c->report->component_count =
        ct_mesh_components(mesh->nvert, c->width, c->count, c->element, c->component);
    for (int i = 0; mesh->mid && i < 6 * mesh->ntet; i++)
        c->component[mesh->mid[i]] = c->component[mesh->tet[4 * (size_t)(i / 6)]];
    if (!mesh->ntet) {
        c->surface = ct_duplicate(mesh->tri, (size_t)mesh->ntri, 3 * sizeof(int));
        c->nsurface = mesh->ntri;
        status = c->surface ? CT_OK : CT_OUT_OF_MEMORY;
    }
    if (status == CT_OK) status = ct_mesh_edges(mesh->nvert, c->nsurface, c->surface, &c->edges, &c->nedge);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Faults

static ct_status fail_element(check* c, long element, ct_status code) {
    if (c->error) c->error->element = element;
    return code;
}

static ct_status check_numbers(check* c) {
    const ct_mesh* mesh = c->mesh;
    if (mesh->nvert < 1 || c->count < 1)
        return ct_fail(c->error, CT_BAD_MESH,
                       "the mesh is empty (%d nodes, %d tets, %d triangles): check the file it came from",
                       mesh->nvert, mesh->ntet, mesh->ntri);
    for (size_t i = 0; i < 3 * (size_t)mesh->nvert; i++)
        if (!isfinite(mesh->x[i]) || fabs(mesh->x[i]) > 1e100)
            return fail_element(
                c, (long)(i / 3),
                ct_fail(c->error, CT_BAD_MESH,
                        "the position of node %zu is not a finite number: correct or remove the node",
                        i / 3));
    const int* lists[3] = {mesh->tet, mesh->tri, mesh->mid};
    const int counts[3] = {mesh->ntet, mesh->ntri, mesh->mid ? mesh->ntet : 0}, widths[3] = {4, 3, 6};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < (size_t)widths[k] * (size_t)counts[k]; i++)
            if (lists[k][i] < 0 || lists[k][i] >= mesh->nvert)
                return fail_element(
                    c, (long)i / widths[k],
                    ct_fail(c->error, CT_BAD_MESH,
                            "node %d of %s %ld is out of range: the mesh has %d nodes (0 to %d)", lists[k][i],
                            k == 1 ? "triangle" : "tet", (long)i / widths[k], mesh->nvert, mesh->nvert - 1));
    return CT_OK;
}

// Edges may bend as long as the element stays the right way round at its points.
static ct_status check_middles(check* c) {
    const ct_mesh* mesh = c->mesh;
    for (int t = 0; mesh->mid && t < mesh->ntet; t++) {
        const int *tet = mesh->tet + 4 * (size_t)t, *mid = mesh->mid + 6 * (size_t)t;
        double least;
        const double volume = ct_cell_volume(tet, mid, mesh->x, &least);
        if (least > 0) continue;
        return fail_element(
            c, t,
            ct_fail(c->error, CT_BAD_MESH,
                    "tet %d of second order is inverted at a point (volume %.3g m^3): its edges "
                    "bend too far; move the nodes %d %d %d %d %d %d towards the middles of "
                    "their edges",
                    t, volume, mid[0], mid[1], mid[2], mid[3], mid[4], mid[5]));
    }
    return CT_OK;
}

static ct_status check_tets(check* c) {
    const ct_mesh* mesh = c->mesh;
    int inverted = 0, first_inverted = -1;
    for (int t = 0; t < mesh->ntet; t++) {
        const int* tet = mesh->tet + 4 * (size_t)t;
        double volume = ct_tet_volume(mesh->x, tet), extent = ct_tet_longest_edge(mesh->x, tet);
        if (!(fabs(6 * volume) > DEGENERATE * extent * extent * extent))
            return fail_element(c, t,
                                ct_fail(c->error, CT_BAD_MESH,
                                        "tet %d (nodes %d %d %d %d) is degenerate, its volume is %.3g m^3: "
                                        "remesh there, or remove the tet if it "
                                        "repeats a node (ct_mesh_repair or `cuttle mesh --repair` does)",
                                        t, tet[0], tet[1], tet[2], tet[3], volume));
        if (volume < 0 && inverted++ == 0) first_inverted = t;
    }
    if (!inverted) return check_middles(c);
    return fail_element(c, first_inverted,
                        ct_fail(c->error, CT_BAD_MESH,
                                "tet %d is inverted (volume %.3g m^3; %d of %d tets are): flip it with "
                                "ct_mesh_repair or `cuttle mesh --repair`",
                                first_inverted,
                                ct_tet_volume(mesh->x, mesh->tet + 4 * (size_t)first_inverted), inverted,
                                mesh->ntet));
}

static ct_status check_triangles(check* c) {
    const ct_mesh* mesh = c->mesh;
    for (int i = 0; i < mesh->ntri; i++) {
        const int* tri = mesh->tri + 3 * (size_t)i;
        double area = ct_tri_area(mesh->x, tri), extent = longest_edge(mesh->x, tri, 3);
        if (!(2 * area > DEGENERATE * extent * extent))
            return fail_element(c, i,
                                ct_fail(c->error, CT_BAD_MESH,
                                        "triangle %d (nodes %d %d %d) is degenerate, its area is %.3g m^2: "
                                        "remesh there, or remove it if it "
                                        "repeats a node (ct_mesh_repair or `cuttle mesh --repair` does)",
                                        i, tri[0], tri[1], tri[2], area));
    }
    return CT_OK;
}

static ct_status check_unused(check* c) {
    const ct_mesh* mesh = c->mesh;
    int unused = 0, first = -1;
    for (int v = 0; v < mesh->nvert; v++)
        if (c->component[v] < 0 && unused++ == 0) first = v;
    if (!unused) return CT_OK;
    bool in_triangle = false;
    for (size_t i = 0; i < 3 * (size_t)mesh->ntri; i++) in_triangle |= mesh->tri[i] == first;
    if (in_triangle)
        return fail_element(c, first,
                            ct_fail(c->error, CT_BAD_MESH,
                                    "node %d belongs to a triangle but to no tet (%d such or unused nodes): "
                                    "keep the surface that is not the "
                                    "body's own in another file",
                                    first, unused));
    return fail_element(c, first,
                        ct_fail(c->error, CT_BAD_MESH,
                                "node %d belongs to no %s (%d unused nodes): drop them with ct_mesh_repair "
                                "or `cuttle mesh --repair`",
                                first, c->noun, unused));
}

static ct_status check_manifold(check* c) {
    const ct_mesh_face_fault* fault = &c->fault;
    if (c->mesh->ntet && fault->tet[0] >= 0) {
        if (fault->tet[2] >= 0)
            return fail_element(c, fault->tet[2],
                                ct_fail(c->error, CT_BAD_MESH,
                                        "tets %d, %d and %d share the face %d %d %d, a face can have only "
                                        "two: remove the tets that overlap",
                                        fault->tet[0], fault->tet[1], fault->tet[2], fault->node[0],
                                        fault->node[1], fault->node[2]));
        return fail_element(c, fault->tet[1],
                            ct_fail(c->error, CT_BAD_MESH,
                                    "tets %d and %d lie on the same side of their common face %d %d %d and "
                                    "overlap: remove one of them",
                                    fault->tet[0], fault->tet[1], fault->node[0], fault->node[1],
                                    fault->node[2]));
    }
    for (int i = 0; i < c->nedge; i++) {
        const ct_mesh_edge* found = &c->edges[i];
        if (found->ntri <= 2) continue;
        return fail_element(c, found->node[0],
                            ct_fail(c->error, CT_BAD_MESH,
                                    "the surface is not manifold: %d %s meet at the edge between nodes %d "
                                    "and %d (at most two may): %s",
                                    found->ntri, c->mesh->ntet ? "boundary faces of tets" : "triangles",
                                    found->node[0], found->node[1],
                                    c->mesh->ntet
                                        ? "join the tets there by a face, or give each part its own nodes"
                                        : "remove the extra triangles, or give each sheet its own nodes"));
    }
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Duplicate nodes: a hash of grid cells 1000 times as wide as the tolerance. A node looks into its own cell,
// and into a neighbouring one only where it lies within the tolerance of the common wall.

typedef struct grid {
    int* head;  // first node of each hash slot, -1 when empty
    int* next;  // nvert
    size_t mask;
    double cell, reach;
} grid;

static size_t grid_slot(const grid* g, const int64_t at[3]) {
    uint64_t hash = (uint64_t)at[0] * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 29) ^ (uint64_t)at[1]) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ (hash >> 32) ^ (uint64_t)at[2]) * 0x94D049BB133111EBu;
    return (size_t)(hash ^ (hash >> 31)) & g->mask;
}

static int find_in_slot(const check* c, const grid* g, size_t slot, int v) {
    for (int other = g->head[slot]; other >= 0; other = g->next[other])
        if (c->component[other] == c->component[v] && ct_vec3_norm(edge(c->mesh->x, other, v)) <= g->reach)
            return other;
    return -1;
}

// The node already in the grid that coincides with v, -1 when there is none; then v is put in.
static int find_or_insert(const check* c, grid* g, int v) {
    int64_t low[3], high[3], own[3];
    for (int a = 0; a < 3; a++) {
        double offset = c->mesh->x[3 * (size_t)v + (size_t)a] - c->report->lower[a];
        low[a] = (int64_t)floor((offset - g->reach) / g->cell);
        high[a] = (int64_t)floor((offset + g->reach) / g->cell);
        own[a] = (int64_t)floor(offset / g->cell);
    }
    int64_t at[3];
    for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[2] = low[2]; at[2] <= high[2]; at[2]++) {
                int found = find_in_slot(c, g, grid_slot(g, at), v);
                if (found >= 0) return found;
            }
    size_t slot = grid_slot(g, own);
    g->next[v] = g->head[slot];
    g->head[slot] = v;
    return -1;
}

static ct_status check_duplicates(check* c) {
    const ct_mesh* mesh = c->mesh;
    if (!(c->size > 1e-200)) return CT_OK;  // a grid cell would underflow
    size_t slots = 16;
    while (slots < 2 * (size_t)mesh->nvert) slots *= 2;
    grid g = {ct_alloc(slots, sizeof(int)), ct_alloc((size_t)mesh->nvert, sizeof(int)), slots - 1,
              1000 * DUPLICATE * c->size, DUPLICATE * c->size};
    ct_status status = g.head && g.next ? CT_OK : CT_OUT_OF_MEMORY;
    if (status == CT_OK) memset(g.head, 0xff, slots * sizeof(int));
    for (int v = 0; status == CT_OK && v < mesh->nvert; v++) {
        int other = find_or_insert(c, &g, v);
        if (other < 0) continue;
        status = fail_element(c, v,
                              ct_fail(c->error, CT_BAD_MESH,
                                      "nodes %d and %d of one body lie at the same place: merge them in the "
                                      "mesher, or separate the parts that touch "
                                      "there",
                                      other, v));
    }
    ct_free(g.head);
    ct_free(g.next);
    return status;
}

// ---------------------------------------------------------------------------------------------

static ct_status run_check(check* c) {
    ct_status status = check_numbers(c);
    if (status != CT_OK) return status;
    measure_box(c);
    measure_tets(c);
    status = build_adjacency(c);
    if (status != CT_OK)
        return ct_fail(c->error, status, "out of memory while checking the mesh: use a coarser one");
    measure_surface(c);
    if (c->mesh->ntet) status = check_tets(c);
    else status = check_triangles(c);
    if (status == CT_OK) status = check_unused(c);
    if (status == CT_OK) status = check_manifold(c);
    if (status == CT_OK) status = check_duplicates(c);
    return status;
}

ct_status ct_mesh_check(const ct_mesh* mesh, ct_mesh_report* report, ct_error* error) {
    CT_NEED(error, mesh);
    ct_error_clear(error);
    ct_mesh_report local;
    if (!report) report = &local;
    *report = (ct_mesh_report){.worst_tet = -1};
    if (!mesh) return ct_fail(error, CT_BAD_ARGUMENT, "no mesh was given");
    bool solid = mesh->ntet > 0;
    check c = {.mesh = mesh,
               .report = report,
               .error = error,
               .element = solid ? mesh->tet : mesh->tri,
               .width = solid ? 4 : 3,
               .count = solid ? mesh->ntet : mesh->ntri,
               .noun = solid ? "tet" : "triangle"};
    ct_status status = run_check(&c);
    ct_free(c.component);
    ct_free(c.surface);
    ct_free(c.edges);
    return status;
}
