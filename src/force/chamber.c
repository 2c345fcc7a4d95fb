// Pneumatic cells; see chamber.h.
#include "force/chamber.h"

#include <math.h>
#include <string.h>

#include "force/chamber_kernel.h"
#include "force/local_nodes.h"
#include "math/svd3.h"

extern const ct_chamber_kernels ct_chamber_kernels_portable, ct_chamber_kernels_avx2,
    ct_chamber_kernels_avx512;

struct ct_chamber {
    ct_arena arena;
    const ct_chamber_kernels* kernels;
    int ntet, nchamber, nblock;
    ct_cell_block* block;  // nblock
    ct_local_nodes nodes;
    int* group;         // ntet, index of its activation
    int* owner;         // ntet, index of its stiffness
    double* volume;     // ntet, m^3, rest
    double* stiffness;  // nchamber, Pa
};

struct ct_chamber_work {
    ct_arena arena;
    double* x;  // 4 nodes.count, what the kernels read
    double* f;  // 4 nodes.count
    // The decomposition of the cells and where it was made; it depends on nothing else.
    bool decomposed;
    double* at;             // 4 nodes.count
    double* activation;     // CT_CELL_BLOCK nblock
    double* scale;          // CT_CELL_BLOCK nblock, activation^(1/3)
    double* nearest;        // CT_CELL_NEAREST CT_CELL_BLOCK nblock
    double* linear;         // CT_CELL_LINEAR CT_CELL_BLOCK nblock
    double *along, *force;  // CT_CELL_BLOCK nblock
};

// ---- creation

static const ct_chamber_kernels* kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_chamber_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_chamber_kernels_avx2;
#endif
    return &ct_chamber_kernels_portable;
}

static int slots(const ct_chamber* chamber) { return chamber->nblock * CT_CELL_BLOCK; }
// Lanes behind the last cell repeat it.
static int cell_of(const ct_chamber* chamber, int slot) {
    return slot < chamber->ntet ? slot : chamber->ntet - 1;
}

static void set_cell(ct_chamber* chamber, int slot, const ct_chamber_cells* def, const int* local) {
    ct_cell_block* block = &chamber->block[slot / CT_CELL_BLOCK];
    const int e = cell_of(chamber, slot), lane = slot % CT_CELL_BLOCK, *node = def->tet + 4 * e;
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * node[k + 1]), p);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]), inverse = ct_mat3_inverse(Dm);
    for (int k = 0; k < 9; k++) block->inverse[k][lane] = inverse.a[k / 3][k % 3];
    for (int k = 0; k < 4; k++) block->node[k][lane] = local[4 * e + k];
    chamber->volume[e] = ct_mat3_determinant(Dm) / 6;
}

static ct_status make_blocks(ct_chamber* chamber, const ct_chamber_cells* def) {
    const size_t n = (size_t)def->ntet;
    chamber->block = ct_arena_alloc(&chamber->arena, (size_t)chamber->nblock, sizeof(ct_cell_block));
    chamber->group = ct_arena_copy(&chamber->arena, def->group, n, sizeof(int));
    chamber->owner = ct_arena_copy(&chamber->arena, def->chamber, n, sizeof(int));
    chamber->volume = ct_arena_alloc(&chamber->arena, n, sizeof(double));
    chamber->stiffness = ct_arena_alloc(&chamber->arena, (size_t)def->nchamber, sizeof(double));
    int* local = ct_alloc(4 * n, sizeof(int));
    ct_status status = chamber->arena.failed || !local ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK)
        status = ct_local_nodes_create(&chamber->nodes, &chamber->arena, def->tet, def->ntet, local);
    for (int slot = 0; status == CT_OK && slot < slots(chamber); slot++) set_cell(chamber, slot, def, local);
    ct_free(local);
    return status;
}

ct_status ct_chamber_create(ct_chamber** out, const ct_chamber_cells* def) {
    *out = NULL;
    ct_chamber* chamber = ct_alloc(1, sizeof *chamber);
    if (!chamber) return CT_OUT_OF_MEMORY;
    const int together = CT_CELL_BLOCK * CT_CELL_GROUP;
    chamber->kernels = kernels_of(ct_cpu_isa());
    chamber->ntet = def->ntet;
    chamber->nchamber = def->nchamber;
    chamber->nblock = (def->ntet + together - 1) / together * CT_CELL_GROUP;
    const ct_status status = make_blocks(chamber, def);
    if (status != CT_OK) {
        ct_chamber_free(chamber);
        return status;
    }
    ct_chamber_set_stiffness(chamber, def->stiffness);
    *out = chamber;
    return CT_OK;
}

void ct_chamber_free(ct_chamber* chamber) {
    if (!chamber) return;
    ct_arena_free(&chamber->arena);
    ct_free(chamber);
}

void ct_chamber_set_stiffness(ct_chamber* chamber, const double* stiffness) {
    memcpy(chamber->stiffness, stiffness, (size_t)chamber->nchamber * sizeof(double));
    for (int e = 0; e < chamber->ntet; e++)
        chamber->block[e / CT_CELL_BLOCK].stiff[e % CT_CELL_BLOCK] =
            stiffness[chamber->owner[e]] * chamber->volume[e];
}

ct_status ct_chamber_work_create(ct_chamber_work** out, const ct_chamber* chamber) {
    *out = NULL;
    ct_chamber_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const size_t node = 4 * (size_t)chamber->nodes.count, lane = (size_t)slots(chamber);
    double** const array[] = {&work->x,       &work->f,      &work->at,    &work->activation, &work->scale,
                              &work->nearest, &work->linear, &work->along, &work->force};
    const size_t size[] = {node, node, node, lane, lane, CT_CELL_NEAREST * lane, CT_CELL_LINEAR * lane,
                           lane, lane};
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++)
        *array[k] = ct_arena_alloc(&work->arena, size[k], sizeof(double));
    if (work->arena.failed) {
        ct_chamber_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_chamber_work_free(ct_chamber_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}

// ---- all cells

// Of positions or directions; forces start at 0.
static ct_chamber_pass pass_of(const ct_chamber* chamber, ct_chamber_work* work, const double* x) {
    const size_t n = 4 * (size_t)chamber->nodes.count;
    ct_local_nodes_gather(&chamber->nodes, x, work->x);
    memset(work->f, 0, n * sizeof(double));
    return (ct_chamber_pass){chamber->block, chamber->nblock, work->x, work->scale, work->f};
}

// Sees to it that work->nearest is that of x: a gradient, a linearisation and an adjoint are often wanted at
// the same place.
static ct_chamber_pass decompose(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                                 const double* x) {
    const ct_chamber_pass pass = pass_of(chamber, work, x);
    const size_t bytes = 4 * (size_t)chamber->nodes.count * sizeof(double);
    bool same = work->decomposed && !memcmp(work->at, work->x, bytes);
    for (int slot = 0; slot < slots(chamber); slot++) {
        const double a = activation[chamber->group[cell_of(chamber, slot)]];
        if (a == work->activation[slot]) continue;
        same = false;
        work->activation[slot] = a;
        work->scale[slot] = cbrt(a);
    }
    if (same) return pass;
    memcpy(work->at, work->x, bytes);
    chamber->kernels->decompose(&pass, work->nearest);
    work->decomposed = true;
    return pass;
}

double ct_chamber_gradient(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                           const double* x, double* f) {
    ct_chamber_pass pass = decompose(chamber, work, activation, x);
    if (!f) pass.f = NULL;
    const double energy = chamber->kernels->gradient(&pass, work->nearest);
    if (f) ct_local_nodes_add(&chamber->nodes, work->f, f);
    return energy;
}

void ct_chamber_linearise(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                          const double* x) {
    const ct_chamber_pass pass = decompose(chamber, work, activation, x);
    chamber->kernels->linearise(&pass, work->nearest, work->linear);
}

void ct_chamber_product(const ct_chamber* chamber, ct_chamber_work* work, const double* dx, double* out) {
    const ct_chamber_pass pass = pass_of(chamber, work, dx);
    chamber->kernels->product(&pass, work->linear);
    ct_local_nodes_add(&chamber->nodes, work->f, out);
}

void ct_chamber_vjp(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                    const double* x, const double* lam, double* activation_bar, double* stiffness_bar) {
    decompose(chamber, work, activation, x);
    const ct_chamber_pass pass = pass_of(chamber, work, lam);
    chamber->kernels->parameter(&pass, work->nearest, work->along, work->force);
    for (int e = 0; e < chamber->ntet; e++) {
        const double volume = chamber->volume[e];
        if (activation_bar)
            activation_bar[chamber->group[e]] -=
                chamber->stiffness[chamber->owner[e]] * volume * work->along[e];
        if (stiffness_bar) stiffness_bar[chamber->owner[e]] += volume * work->force[e];
    }
}

// ---- the matrix, cell by cell

// Of one cell: the singular basis and d2E/dF2 in it.
typedef struct linear_cell {
    ct_mat3 U, V;
    ct_mat3 diagonal;        // on the diagonal entries
    double even[3], odd[3];  // on symmetric and skew pairs (0,1), (0,2), (1,2)
} linear_cell;

static linear_cell linear_at(const double* linear, int lane) {
    double c[CT_CELL_LINEAR];
    for (int k = 0; k < CT_CELL_LINEAR; k++) c[k] = linear[k * CT_CELL_BLOCK + lane];
    linear_cell h = {.U = ct_mat3_load(c), .V = ct_mat3_load(c + 9)};
    h.diagonal = (ct_mat3){{{c[18], c[21], c[22]}, {c[21], c[19], c[23]}, {c[22], c[23], c[20]}}};
    for (int k = 0; k < 3; k++) h.even[k] = c[24 + k] + c[27 + k], h.odd[k] = c[24 + k] - c[27 + k];
    return h;
}

// U M V^T
static ct_mat3 from_basis(const ct_mat3* U, ct_mat3 M, const ct_mat3* V) {
    return ct_mat3_multiply(ct_mat3_multiply(*U, M), ct_mat3_transpose(*V));
}
// U^T M V
static ct_mat3 to_basis(const ct_mat3* U, ct_mat3 M, const ct_mat3* V) {
    return ct_mat3_multiply(ct_mat3_multiply(ct_mat3_transpose(*U), M), *V);
}

// d2E/dF2 : dF
static ct_mat3 stress_product(const linear_cell* h, ct_mat3 dF) {
    const ct_mat3 M = to_basis(&h->U, dF, &h->V);
    ct_mat3 P;
    for (int i = 0; i < 3; i++)
        P.a[i][i] = h->diagonal.a[i][0] * M.a[0][0] + h->diagonal.a[i][1] * M.a[1][1] +
                    h->diagonal.a[i][2] * M.a[2][2];
    for (int k = 0; k < 3; k++) {
        const int i = k == 2, j = k == 0 ? 1 : 2;
        const double even = 0.5 * h->even[k] * (M.a[i][j] + M.a[j][i]),
                     odd = 0.5 * h->odd[k] * (M.a[i][j] - M.a[j][i]);
        P.a[i][j] = even + odd;
        P.a[j][i] = even - odd;
    }
    return from_basis(&h->U, P, &h->V);
}

// Replaces negative eigenvalues by zero.
static void project_cell(linear_cell* h) {
    double w[3];
    ct_mat3 V;
    ct_symmetric3(h->diagonal, w, &V);
    h->diagonal = from_basis(&V, ct_mat3_diagonal(fmax(w[0], 0), fmax(w[1], 0), fmax(w[2], 0)), &V);
    for (int k = 0; k < 3; k++) h->even[k] = fmax(h->even[k], 0), h->odd[k] = fmax(h->odd[k], 0);
}

// node: of all nodes; inverse: Dm^-1
static void add_element(const int* node, ct_mat3 inverse, const linear_cell* h, const int* unknown,
                        ct_block_matrix* matrix) {
    double slope[4][3];
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) slope[k + 1][j] = inverse.a[k][j];
        slope[0][j] = -(slope[1][j] + slope[2][j] + slope[3][j]);
    }
    // column (b, k) of the element's matrix: the forces when node b moves along k
    for (int b = 0; b < 4; b++) {
        double column[4][9];
        for (int k = 0; k < 3; k++) {
            ct_mat3 dF = {0};
            for (int j = 0; j < 3; j++) dF.a[k][j] = slope[b][j];
            const ct_mat3 P = stress_product(h, dF);
            for (int a = 0; a < 4; a++)
                for (int i = 0; i < 3; i++)
                    column[a][3 * i + k] =
                        P.a[i][0] * slope[a][0] + P.a[i][1] * slope[a][1] + P.a[i][2] * slope[a][2];
        }
        for (int a = b; a < 4; a++)
            ct_block_matrix_add(matrix, unknown[node[a]], unknown[node[b]], column[a]);
    }
}

// F/alpha of a slot (x NULL: at rest with activation 1).
static ct_mat3 scaled_deformation(const ct_chamber* chamber, int slot, const double* activation,
                                  const double* x, const int* node, ct_mat3 inverse) {
    if (!x) return ct_mat3_identity();
    const ct_vec3 p = ct_vec3_load(x + 3 * node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(x + 3 * node[k + 1]), p);
    const double scale = cbrt(activation[chamber->group[cell_of(chamber, slot)]]);
    return ct_mat3_scale(1 / scale, ct_mat3_multiply(ct_mat3_columns(edge[0], edge[1], edge[2]), inverse));
}

void ct_chamber_assemble(const ct_chamber* chamber, const double* activation, const double* x, bool project,
                         const int* unknown, ct_block_matrix* matrix) {
    enum { TOGETHER = CT_CELL_GROUP * CT_CELL_BLOCK };
    _Alignas(64) double F[9 * TOGETHER], nearest[CT_CELL_NEAREST * TOGETHER],
        linear[CT_CELL_LINEAR * TOGETHER];
    int node[TOGETHER][4];
    ct_mat3 inverse[TOGETHER];
    for (int first = 0; first < chamber->ntet; first += TOGETHER) {
        const ct_cell_block* blocks = &chamber->block[first / CT_CELL_BLOCK];
        for (int i = 0; i < TOGETHER; i++) {
            const int b = i / CT_CELL_BLOCK, lane = i % CT_CELL_BLOCK;
            for (int k = 0; k < 4; k++) node[i][k] = chamber->nodes.node[blocks[b].node[k][lane]];
            for (int k = 0; k < 9; k++) inverse[i].a[k / 3][k % 3] = blocks[b].inverse[k][lane];
            const ct_mat3 A = scaled_deformation(chamber, first + i, activation, x, node[i], inverse[i]);
            for (int k = 0; k < 9; k++) F[(9 * b + k) * CT_CELL_BLOCK + lane] = A.a[k / 3][k % 3];
        }
        const ct_chamber_pass pass = {.block = blocks, .nblock = CT_CELL_GROUP};
        chamber->kernels->decompose_group(F, nearest);
        chamber->kernels->linearise(&pass, nearest, linear);
        for (int i = 0; i < TOGETHER && first + i < chamber->ntet; i++) {
            linear_cell h =
                linear_at(linear + i / CT_CELL_BLOCK * CT_CELL_LINEAR * CT_CELL_BLOCK, i % CT_CELL_BLOCK);
            if (project) project_cell(&h);
            add_element(node[i], inverse[i], &h, unknown, matrix);
        }
    }
}
