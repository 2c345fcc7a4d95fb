// Compiling sheets: rest frames and areas of the triangles, hinges at the inner edges.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"
#include "shape/mesh.h"

extern const ct_sheet_kernels ct_sheet_kernels_portable;
#ifdef CT_HAVE_X86_KERNELS
extern const ct_sheet_kernels ct_sheet_kernels_avx2, ct_sheet_kernels_avx512;
#endif

const ct_sheet_kernels* ct_sheet_kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_sheet_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_sheet_kernels_avx2;
#endif
    return &ct_sheet_kernels_portable;
}

const double* ct_sheet_area(const ct_sheet* sheet) { return sheet->area; }

const int* ct_sheet_hinges(const ct_sheet* sheet, int* count) {
    *count = sheet->nhinge;
    return sheet->hinge_node;
}

double ct_sheet_hinge_angle(const ct_sheet* sheet, int hinge, const double* x) {
    ct_vec3 node[4];
    ct_sheet_load(x, sheet->hinge[hinge].node, 4, node);
    return ct_hinge_angle(node);
}

static ct_status check_def(const ct_sheet_def* def) {
    if (def->nvert < 0 || def->ntri < 0) return CT_BAD_ARGUMENT;
    for (int e = 0; e < def->ntri; e++) {
        const int* node = def->tri + 3 * (size_t)e;
        if (def->energy[e] >= CT_ENERGY_COUNT) return CT_BAD_ARGUMENT;
        for (int k = 0; k < 3; k++)
            if (node[k] < 0 || node[k] >= def->nvert) return CT_BAD_MESH;
        const double area = ct_tri_area(def->rest, node);
        if (!(area > 0) || !isfinite(1 / area)) return CT_BAD_MESH;
    }
    return CT_OK;
}

// Axes along the first edge, across it in the plane, along the normal.
static void fill_triangle(ct_sheet* sheet, const ct_sheet_def* def, int e) {
    ct_sheet_triangle* t = &sheet->triangle[e];
    ct_vec3 x[3];
    memcpy(t->node, def->tri + 3 * (size_t)e, sizeof t->node);
    ct_sheet_load(def->rest, t->node, 3, x);
    const ct_vec3 a = ct_vec3_sub(x[1], x[0]), b = ct_vec3_sub(x[2], x[0]);
    const ct_vec3 first = ct_vec3_normalise(a), normal = ct_vec3_normalise(ct_vec3_cross(a, b)),
                  second = ct_vec3_cross(normal, first);
    const double length = ct_vec3_norm(a), along = ct_vec3_dot(first, b), height = ct_vec3_dot(second, b);
    t->energy = def->energy[e];
    t->area = sheet->area[e] = 0.5 * length * height;
    // Dm = [length along; 0 height]
    t->inverse[0][0] = 1 / length, t->inverse[0][1] = -along / (length * height);
    t->inverse[1][0] = 0, t->inverse[1][1] = 1 / height;
    ct_mat3_store(sheet->frame + 9 * (size_t)e, ct_mat3_columns(first, second, normal));
}

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

static bool is_rigid(const ct_sheet_def* def, const int node[4]) {
    if (!def->link || def->link[node[0]] < 0) return false;
    for (int i = 1; i < 4; i++)
        if (def->link[node[i]] != def->link[node[0]]) return false;
    return true;
}

static bool make_hinge(const ct_sheet* sheet, const ct_sheet_def* def, const ct_mesh_edge* edge,
                       ct_sheet_hinge* h) {
    if (edge->ntri != 2) return false;
    bool forward, other;
    const int left = opposite(def->tri + 3 * (size_t)edge->tri[0], edge->node, &forward);
    const int right = opposite(def->tri + 3 * (size_t)edge->tri[1], edge->node, &other);
    if (left < 0 || right < 0 || left == right) return false;
    *h = (ct_sheet_hinge){.node = {edge->node[!forward], edge->node[forward], left, right},
                          .tri = {edge->tri[0], edge->tri[1]}};
    if (is_rigid(def, h->node)) return false;
    ct_vec3 x[4];
    ct_sheet_load(def->rest, h->node, 4, x);
    const ct_vec3 e = ct_vec3_sub(x[1], x[0]);
    h->weight = ct_vec3_dot(e, e) / (2 * (sheet->area[h->tri[0]] + sheet->area[h->tri[1]]));
    h->rest = ct_hinge_angle(x);
    return true;
}

static ct_status fill_hinges(ct_sheet* sheet, const ct_sheet_def* def) {
    ct_mesh_edge* edge = NULL;
    int nedge = 0;
    ct_status status = ct_mesh_edges(def->nvert, def->ntri, def->tri, &edge, &nedge);
    if (status != CT_OK) return status;
    sheet->hinge = ct_arena_alloc(&sheet->arena, (size_t)nedge, sizeof *sheet->hinge);
    sheet->hinge_node = ct_arena_alloc(&sheet->arena, 4 * (size_t)nedge, sizeof(int));
    for (int i = 0; i < nedge && !sheet->arena.failed; i++) {
        ct_sheet_hinge* h = &sheet->hinge[sheet->nhinge];
        if (!make_hinge(sheet, def, &edge[i], h)) continue;
        memcpy(sheet->hinge_node + 4 * (size_t)sheet->nhinge++, h->node, sizeof h->node);
    }
    ct_free(edge);
    return sheet->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static void list_nodes(ct_sheet* sheet, const ct_sheet_def* def) {
    for (int i = 0; i < 3 * def->ntri; i++) sheet->node[def->tri[i]] = 1;
    for (int v = 0; v < def->nvert; v++)
        if (sheet->node[v]) sheet->node[sheet->nnode++] = v;
}

// ---- blocks --------------------------------------------------------------------------------

// Triangles of one energy after those of another, in their order.
static void sort_triangles(ct_sheet* sheet) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        int count = 0;
        for (int e = 0; e < sheet->ntri; e++)
            if (sheet->triangle[e].energy == energy)
                sheet->slot[e] = CT_SHEET_BLOCK * sheet->nmembrane + count++;
        sheet->nmembrane += (count + CT_SHEET_BLOCK - 1) / CT_SHEET_BLOCK;
    }
}

static void fill_membrane(const ct_sheet* sheet, int e) {
    const ct_sheet_triangle* t = &sheet->triangle[e];
    ct_membrane_block* block = &sheet->membrane[sheet->slot[e] / CT_SHEET_BLOCK];
    // those behind it too: the last one of the block fills the rest
    for (int lane = sheet->slot[e] % CT_SHEET_BLOCK; lane < CT_SHEET_BLOCK; lane++) {
        for (int i = 0; i < 4; i++) block->inverse[i][lane] = t->inverse[i / 2][i % 2];
        for (int i = 0; i < 9; i++) block->frame[i][lane] = sheet->frame[9 * (size_t)e + (size_t)i];
        for (int k = 0; k < 3; k++) block->node[k][lane] = t->node[k];
        block->area[lane] = 0;
    }
    block->area[sheet->slot[e] % CT_SHEET_BLOCK] = t->area;
    block->energy = t->energy;
}

static void fill_bend(const ct_sheet* sheet, int k) {
    const ct_sheet_hinge* h = &sheet->hinge[k];
    ct_bend_block* block = &sheet->bend[k / CT_SHEET_BLOCK];
    for (int lane = k % CT_SHEET_BLOCK; lane < CT_SHEET_BLOCK; lane++) {
        for (int i = 0; i < 4; i++) block->node[i][lane] = h->node[i];
        block->rest[lane] = h->rest;
    }
}

static ct_status make_blocks(ct_sheet* sheet) {
    sheet->kernels = ct_sheet_kernels_of(ct_cpu_isa());
    sort_triangles(sheet);
    sheet->nbend = (sheet->nhinge + CT_SHEET_BLOCK - 1) / CT_SHEET_BLOCK;
    sheet->membrane = ct_arena_alloc(&sheet->arena, (size_t)sheet->nmembrane, sizeof *sheet->membrane);
    sheet->bend = ct_arena_alloc(&sheet->arena, (size_t)sheet->nbend, sizeof *sheet->bend);
    if (sheet->arena.failed) return CT_OUT_OF_MEMORY;
    for (int e = 0; e < sheet->ntri; e++) fill_membrane(sheet, e);
    for (int k = 0; k < sheet->nhinge; k++) fill_bend(sheet, k);
    return CT_OK;
}

ct_status ct_sheet_create(ct_sheet** out, const ct_sheet_def* def) {
    *out = NULL;
    ct_status status = check_def(def);
    if (status != CT_OK) return status;
    ct_sheet* sheet = ct_alloc(1, sizeof *sheet);
    if (!sheet) return CT_OUT_OF_MEMORY;
    ct_arena* arena = &sheet->arena;
    const size_t ntri = (size_t)def->ntri;
    sheet->nvert = def->nvert;
    sheet->first = def->first;
    sheet->ntri = def->ntri;
    sheet->rest = ct_arena_copy(arena, def->rest, 3 * (size_t)def->nvert, sizeof(double));
    sheet->area = ct_arena_alloc(arena, ntri, sizeof(double));
    sheet->rigidity = ct_arena_alloc(arena, ntri, sizeof(double));
    sheet->frame = ct_arena_alloc(arena, 9 * ntri, sizeof(double));
    sheet->triangle = ct_arena_alloc(arena, ntri, sizeof *sheet->triangle);
    sheet->slot = ct_arena_alloc(arena, ntri, sizeof(int));
    sheet->node = ct_arena_alloc(arena, (size_t)def->nvert, sizeof(int));
    status = arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
    for (int e = 0; status == CT_OK && e < def->ntri; e++) fill_triangle(sheet, def, e);
    if (status == CT_OK) list_nodes(sheet, def);
    if (status == CT_OK) status = fill_hinges(sheet, def);
    if (status == CT_OK) status = make_blocks(sheet);
    if (status != CT_OK) {
        ct_sheet_free(sheet);
        return status;
    }
    ct_sheet_set_parameters(sheet, def->mu, def->lambda, def->rigidity, def->beta);
    *out = sheet;
    return CT_OK;
}

void ct_sheet_free(ct_sheet* sheet) {
    if (!sheet) return;
    ct_arena_free(&sheet->arena);
    ct_free(sheet);
}

void ct_sheet_set_parameters(ct_sheet* sheet, const double* mu, const double* lambda, const double* rigidity,
                             const double* beta) {
    if (beta) sheet->damped = false;
    for (int e = 0; e < sheet->ntri; e++) {
        ct_sheet_triangle* t = &sheet->triangle[e];
        if (mu) t->mu = mu[e] * t->area;
        if (lambda) t->lambda = lambda[e] * t->area;
        if (rigidity) sheet->rigidity[e] = rigidity[e];
        if (beta) t->beta = beta[e];
        ct_membrane_block* block = &sheet->membrane[sheet->slot[e] / CT_SHEET_BLOCK];
        const int lane = sheet->slot[e] % CT_SHEET_BLOCK;
        block->mu[lane] = t->mu, block->lambda[lane] = t->lambda, block->beta[lane] = t->beta;
        sheet->damped = sheet->damped || t->beta > 0;
    }
    for (int k = 0; k < sheet->nhinge; k++) {
        ct_sheet_hinge* h = &sheet->hinge[k];
        const double first = sheet->rigidity[h->tri[0]], second = sheet->rigidity[h->tri[1]];
        h->stiffness = 0.5 * h->weight * (first + second);
        h->damper = 0.5 * h->weight *
                    (first * sheet->triangle[h->tri[0]].beta + second * sheet->triangle[h->tri[1]].beta);
        sheet->bend[k / CT_SHEET_BLOCK].stiffness[k % CT_SHEET_BLOCK] = h->stiffness;
        sheet->bend[k / CT_SHEET_BLOCK].damper[k % CT_SHEET_BLOCK] = h->damper;
    }
}

ct_status ct_sheet_work_create(ct_sheet_work** out, const ct_sheet* sheet) {
    *out = NULL;
    ct_sheet_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const size_t ntri = (size_t)sheet->ntri, triangles = CT_SHEET_BLOCK * (size_t)sheet->nmembrane,
                 hinges = CT_SHEET_BLOCK * (size_t)sheet->nbend;
    work->angle_start = ct_arena_alloc(&work->arena, hinges, sizeof(double));
    work->strain_rate = ct_arena_alloc(&work->arena, 3 * triangles, sizeof(double));
    work->angle_rate = ct_arena_alloc(&work->arena, hinges, sizeof(double));
    work->foreseen = ct_arena_alloc(&work->arena, 3 * triangles, sizeof(double));
    work->linear = ct_arena_alloc(&work->arena, CT_MEMBRANE_LINEAR * triangles, sizeof(double));
    work->bend = ct_arena_alloc(&work->arena, CT_BEND_LINEAR * hinges, sizeof(double));
    work->sum = ct_arena_alloc(&work->arena, 12 * (size_t)sheet->nvert, sizeof(double));
    for (int k = 0; k < 4; k++) work->d[k] = ct_arena_alloc(&work->arena, ntri, sizeof(double));
    if (work->arena.failed) {
        ct_sheet_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_sheet_work_free(ct_sheet_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}
