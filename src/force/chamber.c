// Pneumatic chambers, made of cells; see chamber.h.
#include "force/chamber.h"

#include <math.h>
#include <string.h>

#include "force/chamber_kernel.h"
#include "force/family.h"
#include "math/svd3.h"

extern const ct_chamber_kernels ct_chamber_kernels_portable, ct_chamber_kernels_avx2,
    ct_chamber_kernels_avx512;

struct ct_chamber {
    ct_actuated tets;  // their weights are rest volumes
    const ct_chamber_kernels* kernels;
    int nblock;
    ct_cell_block* block;  // nblock
};

struct ct_chamber_work {
    ct_actuated_work tets;
    // The decomposition of the cells and where it was made; it depends on nothing else.
    bool decomposed;
    double* at;             // 4 nnode
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
    return slot < chamber->tets.ntet ? slot : chamber->tets.ntet - 1;
}

static void set_cell(ct_chamber* chamber, int slot, const ct_actuated_def* def) {
    ct_cell_block* block = &chamber->block[slot / CT_CELL_BLOCK];
    const int e = cell_of(chamber, slot), lane = slot % CT_CELL_BLOCK;
    double six;
    const ct_mat3 inverse = ct_mat3_inverse(ct_actuated_edges(def, e, &six));
    chamber->tets.weight[e] = six / 6;
    for (int k = 0; k < 9; k++) block->inverse[k][lane] = inverse.a[k / 3][k % 3];
    for (int k = 0; k < 4; k++) block->node[k][lane] = chamber->tets.local[4 * e + k];
}

static ct_status make_cells(ct_chamber* chamber, const ct_actuated_def* def) {
    ct_status status = ct_actuated_create(&chamber->tets, def);
    if (status != CT_OK) return status;
    chamber->block = ct_arena_alloc(&chamber->tets.arena, (size_t)chamber->nblock, sizeof(ct_cell_block));
    if (!chamber->block) return CT_OUT_OF_MEMORY;
    for (int slot = 0; slot < slots(chamber); slot++) set_cell(chamber, slot, def);
    ct_chamber_set_stiffness(chamber, def->stiffness);
    return CT_OK;
}

ct_status ct_chamber_create(ct_chamber** out, const ct_actuated_def* def) {
    *out = NULL;
    ct_chamber* chamber = ct_alloc(1, sizeof *chamber);
    if (!chamber) return CT_OUT_OF_MEMORY;
    const int together = CT_CELL_BLOCK * CT_CELL_GROUP;
    chamber->kernels = kernels_of(ct_cpu_isa());
    chamber->nblock = (def->ntet + together - 1) / together * CT_CELL_GROUP;
    const ct_status status = make_cells(chamber, def);
    if (status == CT_OK) *out = chamber;
    else ct_chamber_free(chamber);
    return status;
}

void ct_chamber_free(ct_chamber* chamber) {
    if (!chamber) return;
    ct_arena_free(&chamber->tets.arena);
    ct_free(chamber);
}

void ct_chamber_set_stiffness(ct_chamber* chamber, const double* stiffness) {
    const ct_actuated* tets = &chamber->tets;
    memcpy(tets->stiffness, stiffness, (size_t)tets->nowner * sizeof(double));
    for (int e = 0; e < tets->ntet; e++)
        chamber->block[e / CT_CELL_BLOCK].stiff[e % CT_CELL_BLOCK] =
            stiffness[tets->owner[e]] * tets->weight[e];
}

ct_status ct_chamber_work_create(ct_chamber_work** out, const ct_chamber* chamber) {
    *out = NULL;
    ct_chamber_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    ct_arena* arena = &work->tets.arena;
    const size_t node = 4 * (size_t)chamber->tets.nnode, lane = (size_t)slots(chamber);
    double** const array[] = {&work->at,     &work->activation, &work->scale, &work->nearest,
                              &work->linear, &work->along,      &work->force};
    const size_t size[] = {node, lane, lane, CT_CELL_NEAREST * lane, CT_CELL_LINEAR * lane, lane, lane};
    ct_status status = ct_actuated_work_create(&work->tets, &chamber->tets);
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++)
        *array[k] = ct_arena_alloc(arena, size[k], sizeof(double));
    if (arena->failed) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK) *out = work;
    else ct_chamber_work_free(work);
    return status;
}

void ct_chamber_work_free(ct_chamber_work* work) {
    if (!work) return;
    ct_arena_free(&work->tets.arena);
    ct_free(work);
}

// ---- all cells

// Of positions or directions; forces start at 0.
static ct_chamber_pass pass_of(const ct_chamber* chamber, ct_chamber_work* work, const double* x) {
    ct_actuated_load(&chamber->tets, &work->tets, x);
    return (ct_chamber_pass){chamber->block, chamber->nblock, work->tets.x, work->scale, work->tets.f};
}

// Sees to it that work->nearest is that of x: a gradient, a linearisation and an adjoint are often wanted at
// the same place.
static ct_chamber_pass decompose(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                                 const double* x) {
    const ct_chamber_pass pass = pass_of(chamber, work, x);
    const size_t bytes = 4 * (size_t)chamber->tets.nnode * sizeof(double);
    bool same = work->decomposed && !memcmp(work->at, work->tets.x, bytes);
    for (int slot = 0; slot < slots(chamber); slot++) {
        const double a = activation[chamber->tets.number[cell_of(chamber, slot)]];
        if (a == work->activation[slot]) continue;
        same = false;
        work->activation[slot] = a;
        work->scale[slot] = cbrt(a);
    }
    if (same) return pass;
    memcpy(work->at, work->tets.x, bytes);
    chamber->kernels->decompose(&pass, work->nearest);
    work->decomposed = true;
    return pass;
}

double ct_chamber_gradient(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                           const double* x, double* f) {
    ct_chamber_pass pass = decompose(chamber, work, activation, x);
    if (!f) pass.f = NULL;
    const double energy = chamber->kernels->gradient(&pass, work->nearest);
    if (f) ct_actuated_scatter(&chamber->tets, work->tets.f, f);
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
    ct_actuated_scatter(&chamber->tets, work->tets.f, out);
}

void ct_chamber_vjp(const ct_chamber* chamber, ct_chamber_work* work, const double* activation,
                    const double* x, const double* lam, double* activation_bar, double* stiffness_bar) {
    decompose(chamber, work, activation, x);
    const ct_chamber_pass pass = pass_of(chamber, work, lam);
    chamber->kernels->parameter(&pass, work->nearest, work->along, work->force);
    const ct_actuated* tets = &chamber->tets;
    for (int e = 0; e < tets->ntet; e++) {
        const double volume = tets->weight[e];
        if (activation_bar)
            activation_bar[tets->number[e]] -= tets->stiffness[tets->owner[e]] * volume * work->along[e];
        if (stiffness_bar) stiffness_bar[tets->owner[e]] += volume * work->force[e];
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

// A tet of the chamber as the matrix sees it.
typedef struct chamber_tet {
    int count, node[CT_CELL_NODES];  // of all nodes
    double T[CT_CELL_NODES][4];      // ct_actuated_nodes
    ct_mat3 inverse;                 // Dm^-1
} chamber_tet;

// Gradients of the nodes' shape functions.
static void slopes_of(const chamber_tet* tet, double slope[CT_CELL_NODES][3]) {
    double own[4][3];
    memset(slope, 0, CT_CELL_NODES * sizeof *slope);
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) own[k + 1][j] = tet->inverse.a[k][j];
        own[0][j] = -(own[1][j] + own[2][j] + own[3][j]);
        for (int a = 0; a < tet->count; a++)
            for (int k = 0; k < 4; k++) slope[a][j] += tet->T[a][k] * own[k][j];
    }
}

static void add_element(const chamber_tet* tet, const linear_cell* h, const int* unknown,
                        ct_block_matrix* matrix) {
    double slope[CT_CELL_NODES][3];
    const int* node = tet->node;
    slopes_of(tet, slope);
    // column (b, k) of the element's matrix: the forces when node b moves along k
    for (int b = 0; b < tet->count; b++) {
        double column[CT_CELL_NODES][9];
        for (int k = 0; k < 3; k++) {
            ct_mat3 dF = {0};
            for (int j = 0; j < 3; j++) dF.a[k][j] = slope[b][j];
            const ct_mat3 P = stress_product(h, dF);
            for (int a = 0; a < tet->count; a++)
                for (int i = 0; i < 3; i++)
                    column[a][3 * i + k] =
                        P.a[i][0] * slope[a][0] + P.a[i][1] * slope[a][1] + P.a[i][2] * slope[a][2];
        }
        for (int a = b; a < tet->count; a++)
            ct_block_matrix_add(matrix, unknown[node[a]], unknown[node[b]], column[a]);
    }
}

// F/alpha of a slot (x NULL: at rest with activation 1).
static ct_mat3 scaled_deformation(const ct_chamber* chamber, int slot, const double* activation,
                                  const double* x, const chamber_tet* tet) {
    if (!x) return ct_mat3_identity();
    ct_vec3 y[4] = {{0}}, edge[3];
    for (int a = 0; a < tet->count; a++)
        for (int k = 0; k < 4; k++)
            y[k] = ct_vec3_axpy(y[k], tet->T[a][k], ct_vec3_load(x + 3 * tet->node[a]));
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(y[k + 1], y[0]);
    const double scale = cbrt(activation[chamber->tets.number[cell_of(chamber, slot)]]);
    return ct_mat3_scale(1 / scale,
                         ct_mat3_multiply(ct_mat3_columns(edge[0], edge[1], edge[2]), tet->inverse));
}

void ct_chamber_assemble(const ct_chamber* chamber, const double* activation, const double* x, bool project,
                         const int* unknown, ct_block_matrix* matrix) {
    enum { TOGETHER = CT_CELL_GROUP * CT_CELL_BLOCK };
    _Alignas(64) double F[9 * TOGETHER], nearest[CT_CELL_NEAREST * TOGETHER],
        linear[CT_CELL_LINEAR * TOGETHER];
    chamber_tet tet[TOGETHER];
    for (int first = 0; first < chamber->tets.ntet; first += TOGETHER) {
        const ct_cell_block* blocks = &chamber->block[first / CT_CELL_BLOCK];
        for (int i = 0; i < TOGETHER; i++) {
            const int b = i / CT_CELL_BLOCK, lane = i % CT_CELL_BLOCK;
            tet[i].count =
                ct_actuated_nodes(&chamber->tets, cell_of(chamber, first + i), tet[i].node, tet[i].T);
            for (int k = 0; k < 9; k++) tet[i].inverse.a[k / 3][k % 3] = blocks[b].inverse[k][lane];
            const ct_mat3 A = scaled_deformation(chamber, first + i, activation, x, &tet[i]);
            for (int k = 0; k < 9; k++) F[(9 * b + k) * CT_CELL_BLOCK + lane] = A.a[k / 3][k % 3];
        }
        const ct_chamber_pass pass = {.block = blocks, .nblock = CT_CELL_GROUP};
        chamber->kernels->decompose_group(F, nearest);
        chamber->kernels->linearise(&pass, nearest, linear);
        for (int i = 0; i < TOGETHER && first + i < chamber->tets.ntet; i++) {
            linear_cell h =
                linear_at(linear + i / CT_CELL_BLOCK * CT_CELL_LINEAR * CT_CELL_BLOCK, i % CT_CELL_BLOCK);
            if (project) project_cell(&h);
            add_element(&tet[i], &h, unknown, matrix);
        }
    }
}

// Each cell is at a distance from the matrices of its volume: k V G^T G.
static void chambers_laplacian(const void* self, const int* unknown, ct_block_matrix* matrix) {
    const ct_chamber* chamber = self;
    for (int slot = 0; slot < chamber->tets.ntet; slot++) {
        const ct_cell_block* block = &chamber->block[slot / CT_CELL_BLOCK];
        const int lane = slot % CT_CELL_BLOCK;
        chamber_tet tet;
        double g[CT_CELL_NODES][3];
        tet.count = ct_actuated_nodes(&chamber->tets, cell_of(chamber, slot), tet.node, tet.T);
        for (int k = 0; k < 9; k++) tet.inverse.a[k / 3][k % 3] = block->inverse[k][lane];
        slopes_of(&tet, g);
        for (int a = 0; a < tet.count; a++)
            for (int b = 0; b <= a; b++) {
                const double w =
                    block->stiff[lane] * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
                const double value[9] = {w, 0, 0, 0, w, 0, 0, 0, w};
                ct_block_matrix_add(matrix, unknown[tet.node[a]], unknown[tet.node[b]], value);
            }
    }
}

// ---- as a family ---------------------------------------------------------------------------

static void free_chambers(void* self) { ct_chamber_free(self); }

static void set_chambers_stiffness(void* self, const double* stiffness) {
    ct_chamber_set_stiffness(self, stiffness);
}
static void free_chambers_work(void* work) { ct_chamber_work_free(work); }

static ct_status create_chambers_work(void** work, const void* self) {
    ct_chamber_work* own;
    ct_status status = ct_chamber_work_create(&own, self);
    *work = own;
    return status;
}

static double chambers_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                                double* f) {
    return ct_chamber_gradient(self, work, step->actuation, x, f);
}

static void linearise_chambers(const void* self, void* work, const ct_family_step* step, const double* x) {
    ct_chamber_linearise(self, work, step->actuation, x);
}

static void chambers_product(const void* self, void* work, const ct_family_step* step, const double* x,
                             const double* dx, double* out) {
    ct_chamber_product(self, work, dx, out);
}

static void assemble_chambers(const void* self, void* work, const ct_family_step* step, const double* x,
                              bool project, const int* unknown, ct_block_matrix* matrix) {
    ct_chamber_assemble(self, step->actuation, x, project, unknown, matrix);
}

static void chambers_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                         const double* lam, const ct_family_bar* bar) {
    const ct_actuated* tets = &((const ct_chamber*)self)->tets;
    ct_actuated_work* sums = &((ct_chamber_work*)work)->tets;
    ct_actuated_clear(tets, sums);
    ct_chamber_vjp(self, work, step->actuation, x, lam, sums->number_bar, sums->stiffness_bar);
    ct_actuated_deliver(tets, sums, bar->actuation, bar->sums->of[CT_QUANTITY_CHAMBER_STIFFNESS]);
}

static void chambers_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                         const ct_family_dot* dot, double* out) {
    const ct_chamber* chamber = self;
    ct_chamber_work* own = work;
    const ct_chamber_pass pass = decompose(chamber, own, step->actuation, x);
    for (int slot = 0; slot < slots(chamber); slot++)
        own->along[slot] = dot->actuation[chamber->tets.number[cell_of(chamber, slot)]];
    chamber->kernels->spread(&pass, own->nearest, own->along);
    ct_actuated_scatter(&chamber->tets, own->tets.f, out);
}

const ct_family ct_chamber_family = {.name = "chambers",
                                     .actuator = true,
                                     .free = free_chambers,
                                     .set_stiffness = set_chambers_stiffness,
                                     .create_work = create_chambers_work,
                                     .free_work = free_chambers_work,
                                     .gradient = chambers_gradient,
                                     .linearise = linearise_chambers,
                                     .product = chambers_product,
                                     .assemble = assemble_chambers,
                                     .laplacian = chambers_laplacian,
                                     .vjp = chambers_vjp,
                                     .jvp = chambers_jvp};
