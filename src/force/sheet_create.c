// Compiling sheets: rest frames and areas of the triangles, blocks for the kernels, parameters.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"
#include "shape/mesh.h"

extern const ct_membrane_kernels ct_membrane_kernels_portable;
extern const ct_bend_kernels ct_bend_kernels_portable;
#ifdef CT_HAVE_X86_KERNELS
extern const ct_membrane_kernels ct_membrane_kernels_avx2, ct_membrane_kernels_avx512;
extern const ct_bend_kernels ct_bend_kernels_avx2, ct_bend_kernels_avx512;
#endif

const ct_membrane_kernels* ct_membrane_kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_membrane_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_membrane_kernels_avx2;
#endif
    return &ct_membrane_kernels_portable;
}

const ct_bend_kernels* ct_bend_kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_bend_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_bend_kernels_avx2;
#endif
    return &ct_bend_kernels_portable;
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

// Curvatures of the triangles from 8 b, padded to the widest of them.
static void fill_plate(ct_sheet* sheet, int b) {
    const ct_sheet_curvature* c = &sheet->curvature;
    ct_plate_block* block = &sheet->plate[b];
    const int first = CT_SHEET_BLOCK * b;
    for (int e = first; e < sheet->ntri && e < first + CT_SHEET_BLOCK; e++)
        if (c->start[e + 1] - c->start[e] > block->width) block->width = c->start[e + 1] - c->start[e];
    const size_t size = CT_SHEET_BLOCK * (size_t)block->width;
    int* hinge = ct_arena_alloc(&sheet->arena, size, sizeof(int));
    double* weight = ct_arena_alloc(&sheet->arena, 3 * size, sizeof(double));
    if (sheet->arena.failed) return;
    for (int e = first; e < sheet->ntri && e < first + CT_SHEET_BLOCK; e++)
        for (int j = 0; j < c->start[e + 1] - c->start[e]; j++) {
            const int at = c->start[e] + j, lane = e - first;
            hinge[CT_SHEET_BLOCK * j + lane] = c->hinge[at];
            for (int i = 0; i < 3; i++) weight[CT_SHEET_BLOCK * (3 * j + i) + lane] = c->weight[at][i];
        }
    block->hinge = hinge, block->weight = weight;
}

static ct_status make_blocks(ct_sheet* sheet) {
    sheet->kernels = ct_membrane_kernels_of(ct_cpu_isa());
    sheet->bend_kernels = ct_bend_kernels_of(ct_cpu_isa());
    sort_triangles(sheet);
    sheet->nplate = (sheet->ntri + CT_SHEET_BLOCK - 1) / CT_SHEET_BLOCK;
    sheet->membrane = ct_arena_alloc(&sheet->arena, (size_t)sheet->nmembrane, sizeof *sheet->membrane);
    sheet->bend = ct_arena_alloc(&sheet->arena, (size_t)sheet->nbend, sizeof *sheet->bend);
    sheet->plate = ct_arena_alloc(&sheet->arena, (size_t)sheet->nplate, sizeof *sheet->plate);
    if (sheet->arena.failed) return CT_OUT_OF_MEMORY;
    for (int e = 0; e < sheet->ntri; e++) fill_membrane(sheet, e);
    for (int k = 0; k < sheet->nhinge; k++) fill_bend(sheet, k);
    for (int b = 0; b < sheet->nplate; b++) fill_plate(sheet, b);
    return sheet->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
}

// ---- public --------------------------------------------------------------------------------

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
    sheet->rigidity = ct_arena_alloc(arena, 4 * ntri, sizeof(double));
    sheet->bending = ct_arena_alloc(arena, ntri, sizeof(double));
    sheet->natural = ct_arena_alloc(arena, 3 * ntri, sizeof(double));
    sheet->moment = ct_arena_alloc(arena, 6 * ntri, sizeof(double));
    sheet->frame = ct_arena_alloc(arena, 9 * ntri, sizeof(double));
    sheet->triangle = ct_arena_alloc(arena, ntri, sizeof *sheet->triangle);
    sheet->slot = ct_arena_alloc(arena, ntri, sizeof(int));
    sheet->node = ct_arena_alloc(arena, (size_t)def->nvert, sizeof(int));
    status = arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
    for (int e = 0; status == CT_OK && e < def->ntri; e++) fill_triangle(sheet, def, e);
    if (status == CT_OK) list_nodes(sheet, def);
    if (status == CT_OK) status = ct_sheet_create_angles(sheet, def);
    if (status == CT_OK) status = make_blocks(sheet);
    if (status != CT_OK) {
        ct_sheet_free(sheet);
        return status;
    }
    for (size_t e = 0; e < ntri; e++) sheet->bending[e] = 1;
    ct_sheet_set_parameters(sheet, &def->parameters);
    *out = sheet;
    return CT_OK;
}

void ct_sheet_free(ct_sheet* sheet) {
    if (!sheet) return;
    ct_arena_free(&sheet->arena);
    ct_free(sheet);
}

static void set_membrane(ct_sheet* sheet, int e, const ct_sheet_parameters* p) {
    ct_sheet_triangle* t = &sheet->triangle[e];
    ct_membrane_block* block = &sheet->membrane[sheet->slot[e] / CT_SHEET_BLOCK];
    const int lane = sheet->slot[e] % CT_SHEET_BLOCK;
    if (p->mu) t->mu = p->mu[e] * t->area;
    if (p->lambda) t->lambda = p->lambda[e] * t->area;
    if (p->beta) t->beta = p->beta[e];
    block->mu[lane] = t->mu, block->lambda[lane] = t->lambda, block->beta[lane] = t->beta;
}

// The share of triangle e in the diagonal of M.
static void add_diagonal(ct_sheet* sheet, int e, int angle, const double w[3]) {
    const double* R = sheet->moment + 6 * (size_t)e;
    const double share = R[0] * w[0] * w[0] + R[1] * w[1] * w[1] + R[2] * w[2] * w[2] +
                         2 * (R[3] * w[0] * w[1] + R[4] * w[0] * w[2] + R[5] * w[1] * w[2]);
    sheet->stiffness[angle] += share;
    sheet->damper[angle] += sheet->triangle[e].beta * share;
    if (angle < sheet->nhinge) sheet->bend[angle / CT_SHEET_BLOCK].active[angle % CT_SHEET_BLOCK] = 1;
}

static void set_plate(ct_sheet* sheet, int e, const ct_sheet_parameters* p) {
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    const ct_sheet_curvature* c = &sheet->curvature;
    ct_plate_block* block = &sheet->plate[e / CT_SHEET_BLOCK];
    const int lane = e % CT_SHEET_BLOCK;
    double R[9], P[9], *moment = sheet->moment + 6 * (size_t)e;
    if (p->rigidity) memcpy(sheet->rigidity + 4 * (size_t)e, p->rigidity + 4 * (size_t)e, 4 * sizeof(double));
    if (p->bending) sheet->bending[e] = p->bending[e];
    if (p->natural) memcpy(sheet->natural + 3 * (size_t)e, p->natural + 3 * (size_t)e, 3 * sizeof(double));
    ct_sheet_condense(sheet->rigidity + 4 * (size_t)e, c->nfree[e], c->across[e], R, P);
    bool stiff = false;
    for (int i = 0; i < 6; i++) {
        moment[i] = block->rigidity[i][lane] = sheet->bending[e] * sheet->area[e] * R[entry[i]];
        stiff = stiff || moment[i] != 0;
    }
    for (int i = 0; i < 3; i++) block->natural[i][lane] = sheet->natural[3 * e + i];
    block->beta[lane] = sheet->triangle[e].beta;
    if (c->start[e] == c->start[e + 1]) stiff = false;
    sheet->bends = sheet->bends || stiff;
    for (int j = c->start[e]; stiff && j < c->start[e + 1]; j++)
        add_diagonal(sheet, e, c->hinge[j], c->weight[j]);
}

void ct_sheet_set_parameters(ct_sheet* sheet, const ct_sheet_parameters* parameters) {
    sheet->damped = sheet->bends = false;
    for (int b = 0; b < sheet->nbend; b++) memset(sheet->bend[b].active, 0, sizeof sheet->bend[b].active);
    memset(sheet->stiffness, 0, (size_t)sheet->nangle * sizeof(double));
    memset(sheet->damper, 0, (size_t)sheet->nangle * sizeof(double));
    for (int e = 0; e < sheet->ntri; e++) {
        set_membrane(sheet, e, parameters);
        set_plate(sheet, e, parameters);
        sheet->damped = sheet->damped || sheet->triangle[e].beta > 0;
    }
}

ct_status ct_sheet_work_create(ct_sheet_work** out, const ct_sheet* sheet) {
    *out = NULL;
    ct_sheet_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const size_t ntri = (size_t)sheet->ntri, triangles = CT_SHEET_BLOCK * (size_t)sheet->nmembrane,
                 hinges = CT_SHEET_BLOCK * (size_t)sheet->nbend, angles = (size_t)sheet->nangle;
    const struct {
        double** array;
        size_t count;
    } all[] = {{&work->angle_start, angles},
               {&work->angle_rate, angles},
               {&work->bend_angle, angles},
               {&work->bend_rate, angles},
               {&work->pull, angles},
               {&work->strain_rate, 3 * triangles},
               {&work->foreseen, 3 * triangles},
               {&work->linear, CT_MEMBRANE_LINEAR * triangles},
               {&work->bend, CT_BEND_LINEAR * hinges},
               {&work->turn, CT_BEND_TURN * hinges},
               {&work->sum, 12 * (size_t)sheet->nvert},
               {&work->bar.mu, ntri},
               {&work->bar.lambda, ntri},
               {&work->bar.rigidity, 4 * ntri},
               {&work->bar.natural, 3 * ntri},
               {&work->bar.beta, ntri}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i].array = ct_arena_alloc(&work->arena, all[i].count, sizeof(double));
    work->clamp = ct_arena_alloc(&work->arena, (size_t)sheet->nclamp, sizeof *work->clamp);
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
