// Compiling the angles of sheets: hinges at the inner edges, clamped edges at the border, and the curvatures
// that depend on them; see sheet_curvature.h.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"
#include "shape/mesh.h"

// The corner of a triangle that is not on the edge; `forward`: the triangle runs along the edge from node[0]
// to node[1].
static int opposite(const int tri[3], const int node[2], bool* forward) {
    *forward = false;
    for (int k = 0; k < 3; k++)
        if (tri[k] != node[0] && tri[k] != node[1]) {
            *forward = tri[(k + 1) % 3] == node[0];
            return tri[k];
        }
    return -1;
}

// No motion of the unknowns bends it.
static bool is_held(const ct_sheet_def* def, int e) {
    const int* node = def->tri + 3 * (size_t)e;
    const bool driven = def->driven && def->driven[node[0]] && def->driven[node[1]] && def->driven[node[2]];
    return driven || (def->link && def->link[node[0]] >= 0 && def->link[node[1]] == def->link[node[0]] &&
                      def->link[node[2]] == def->link[node[0]]);
}

// Compiling the angles: hinges first, then clamped edges; edge: 3 ntri, the angle opposite to each corner.
typedef struct angles {
    ct_mesh_edge* mesh_edge;
    int nedge;
    unsigned char* held;  // ntri
    int *edge, *tri;      // 3 ntri, 2 nangle
    double* axis;         // 3 ntri
} angles;

static bool make_hinge(const ct_sheet_def* def, const unsigned char* held, const ct_mesh_edge* edge,
                       ct_sheet_hinge* h) {
    if (edge->ntri != 2 || (held[edge->tri[0]] && held[edge->tri[1]])) return false;
    bool forward, other;
    const int left = opposite(def->tri + 3 * (size_t)edge->tri[0], edge->node, &forward);
    const int right = opposite(def->tri + 3 * (size_t)edge->tri[1], edge->node, &other);
    if (left < 0 || right < 0 || left == right) return false;
    *h = (ct_sheet_hinge){.node = {edge->node[!forward], edge->node[forward], left, right},
                          .tri = {edge->tri[0], edge->tri[1]}};
    ct_vec3 x[4];
    ct_sheet_load(def->rest, h->node, 4, x);
    h->rest = ct_hinge_angle(x);
    return true;
}

static bool make_clamp(const ct_sheet_def* def, const unsigned char* held, const ct_mesh_edge* edge,
                       ct_sheet_clamp* c) {
    if (!def->clamped || edge->ntri != 1 || held[edge->tri[0]] || !def->clamped[edge->node[0]] ||
        !def->clamped[edge->node[1]])
        return false;
    bool forward;
    const int left = opposite(def->tri + 3 * (size_t)edge->tri[0], edge->node, &forward);
    if (left < 0) return false;
    *c = (ct_sheet_clamp){.node = {edge->node[!forward], edge->node[forward], left}};
    ct_vec3 x[3];
    ct_sheet_load(def->rest, c->node, 3, x);
    const ct_vec3 e = ct_vec3_normalise(ct_vec3_sub(x[1], x[0]));
    c->normal = ct_vec3_normalise(ct_vec3_cross(e, ct_vec3_sub(x[2], x[0])));
    c->across = ct_vec3_cross(e, c->normal);
    return true;
}

static void name_edge(const ct_sheet_def* def, const ct_mesh_edge* edge, int angle, int* of_corner) {
    for (int i = 0; i < 2 && i < edge->ntri; i++) {
        const int* tri = def->tri + 3 * (size_t)edge->tri[i];
        for (int k = 0; k < 3; k++)
            if (tri[k] != edge->node[0] && tri[k] != edge->node[1]) of_corner[3 * edge->tri[i] + k] = angle;
    }
}

static void count_angles(ct_sheet* sheet, const ct_sheet_def* def, const angles* a) {
    for (int i = 0; i < a->nedge; i++) {
        ct_sheet_hinge h;
        ct_sheet_clamp c;
        sheet->nhinge += make_hinge(def, a->held, &a->mesh_edge[i], &h);
        sheet->nclamp += make_clamp(def, a->held, &a->mesh_edge[i], &c);
    }
    sheet->nbend = (sheet->nhinge + CT_SHEET_BLOCK - 1) / CT_SHEET_BLOCK;
    sheet->nangle = CT_SHEET_BLOCK * sheet->nbend + sheet->nclamp;
}

static void fill_angles(ct_sheet* sheet, const ct_sheet_def* def, angles* a) {
    int hinge = 0, clamp = CT_SHEET_BLOCK * sheet->nbend;
    for (int i = 0; i < 3 * def->ntri; i++) a->edge[i] = -1;
    for (int i = 0; i < a->nedge; i++) {
        const ct_mesh_edge* edge = &a->mesh_edge[i];
        ct_sheet_hinge* h = &sheet->hinge[hinge];
        ct_sheet_clamp c;
        if (hinge < sheet->nhinge && make_hinge(def, a->held, edge, h)) {
            memcpy(sheet->hinge_node + 4 * (size_t)hinge, h->node, sizeof h->node);
            memcpy(a->tri + 2 * (size_t)hinge, h->tri, sizeof h->tri);
            name_edge(def, edge, hinge++, a->edge);
        } else if (make_clamp(def, a->held, edge, &c)) {
            sheet->clamp[clamp - CT_SHEET_BLOCK * sheet->nbend] = c;
            memcpy(sheet->hinge_node + 4 * (size_t)clamp, c.node, sizeof c.node);
            sheet->hinge_node[4 * clamp + 3] = a->tri[2 * clamp + 1] = -1;
            a->tri[2 * clamp] = edge->tri[0];
            name_edge(def, edge, clamp++, a->edge);
        }
    }
}

// The grain as the triangle's plane sees it, or its first edge.
static void fill_axis(const ct_sheet* sheet, const ct_sheet_def* def, int e, double* axis) {
    const ct_mat3 frame = ct_mat3_load(sheet->frame + 9 * (size_t)e);
    const ct_vec3 first = {frame.a[0][0], frame.a[1][0], frame.a[2][0]},
                  normal = {frame.a[0][2], frame.a[1][2], frame.a[2][2]};
    ct_vec3 along = def->grain ? ct_vec3_load(def->grain + 3 * (size_t)e) : first;
    const double length = ct_vec3_norm(along);
    along = ct_vec3_axpy(along, -ct_vec3_dot(along, normal), normal);
    ct_vec3_store(axis, ct_vec3_norm(along) > 1e-6 * length ? ct_vec3_normalise(along) : first);
}

static ct_status make_angles(ct_sheet* sheet, const ct_sheet_def* def, angles* a, ct_arena* scratch) {
    const size_t ntri = (size_t)def->ntri;
    a->held = ct_arena_alloc(scratch, ntri, 1);
    a->edge = ct_arena_alloc(scratch, 3 * ntri, sizeof(int));
    a->axis = ct_arena_alloc(scratch, 3 * ntri, sizeof(double));
    if (scratch->failed) return CT_OUT_OF_MEMORY;
    for (int e = 0; e < def->ntri; e++) a->held[e] = is_held(def, e);
    count_angles(sheet, def, a);
    a->tri = ct_arena_alloc(scratch, 2 * (size_t)sheet->nangle, sizeof(int));
    // one more: looked at before it is known to be none
    sheet->hinge = ct_arena_alloc(&sheet->arena, (size_t)sheet->nhinge + 1, sizeof *sheet->hinge);
    sheet->clamp = ct_arena_alloc(&sheet->arena, (size_t)sheet->nclamp, sizeof *sheet->clamp);
    sheet->hinge_node = ct_arena_alloc(&sheet->arena, 4 * (size_t)sheet->nangle, sizeof(int));
    sheet->stiffness = ct_arena_alloc(&sheet->arena, (size_t)sheet->nangle, sizeof(double));
    sheet->damper = ct_arena_alloc(&sheet->arena, (size_t)sheet->nangle, sizeof(double));
    if (scratch->failed || sheet->arena.failed) return CT_OUT_OF_MEMORY;
    fill_angles(sheet, def, a);
    for (int e = 0; e < def->ntri; e++) fill_axis(sheet, def, e, a->axis + 3 * (size_t)e);
    const ct_sheet_mesh mesh = {.nvert = def->nvert,
                                .ntri = def->ntri,
                                .rest = def->rest,
                                .tri = def->tri,
                                .area = sheet->area,
                                .axis = a->axis,
                                .hinge_node = sheet->hinge_node,
                                .hinge_tri = a->tri,
                                .edge = a->edge,
                                .held = a->held};
    return ct_sheet_curvature_create(&sheet->curvature, &sheet->arena, &mesh);
}

ct_status ct_sheet_create_angles(ct_sheet* sheet, const ct_sheet_def* def) {
    angles a = {0};
    ct_arena scratch = {0};
    ct_status status = ct_mesh_edges(def->nvert, def->ntri, def->tri, &a.mesh_edge, &a.nedge);
    if (status == CT_OK) status = make_angles(sheet, def, &a, &scratch);
    ct_free(a.mesh_edge);
    ct_arena_free(&scratch);
    return status;
}
