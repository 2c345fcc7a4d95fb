// Fibres of muscles; see muscle.h.
#include "force/muscle.h"

#include <math.h>
#include <string.h>

#include "force/family.h"
#include "force/muscle_kernel.h"

extern const ct_muscle_kernels ct_muscle_kernels_portable, ct_muscle_kernels_avx2, ct_muscle_kernels_avx512;

struct ct_muscle {
    ct_actuated tets;  // their weights hold w
    const ct_muscle_kernels* kernels;
    int nblock;
    ct_fibre_block* block;  // nblock
    double* direction;      // 3 ntet, m
};

struct ct_muscle_work {
    ct_actuated_work tets;
    double* linear;         // CT_FIBRE_LINEAR CT_FIBRE_BLOCK nblock
    double *pull, *excess;  // CT_FIBRE_BLOCK nblock
};

// ---- creation

static const ct_muscle_kernels* kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_muscle_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_muscle_kernels_avx2;
#endif
    return &ct_muscle_kernels_portable;
}

// Neighbouring fibres are in neighbouring blocks, not lanes: sums to the nodes that they share do not wait
// for one another.
static ct_fibre_block* block_of(const ct_muscle* muscle, int e) { return &muscle->block[e % muscle->nblock]; }
static int lane_of(const ct_muscle* muscle, int e) { return e / muscle->nblock; }

static void set_fibre(ct_muscle* muscle, const ct_muscle_fibres* def, int e) {
    ct_fibre_block* block = block_of(muscle, e);
    const int lane = lane_of(muscle, e);
    double six;
    const ct_mat3 Dm = ct_actuated_edges(&def->tets, e, &six);
    const ct_vec3 c = ct_mat3_apply(ct_mat3_inverse(Dm), ct_vec3_load(def->direction + 3 * e));
    const double slope[4] = {-(c.x + c.y + c.z), c.x, c.y, c.z};
    memcpy(block->slope[lane], slope, sizeof slope);
    memcpy(block->node[lane], muscle->tets.local + 4 * e, sizeof block->node[lane]);
    block->weight[lane] = muscle->tets.weight[e] = def->weight[e] * six / 6;
    block->segment[lane] = def->tets.number[e];
}

static ct_status make_fibres(ct_muscle* muscle, const ct_muscle_fibres* def) {
    ct_arena* arena = &muscle->tets.arena;
    ct_status status = ct_actuated_create(&muscle->tets, &def->tets);
    if (status != CT_OK) return status;
    muscle->block = ct_arena_alloc(arena, (size_t)muscle->nblock, sizeof(ct_fibre_block));
    muscle->direction = ct_arena_copy(arena, def->direction, 3 * (size_t)def->tets.ntet, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int e = 0; e < def->tets.ntet; e++) set_fibre(muscle, def, e);
    ct_muscle_set_stiffness(muscle, def->tets.stiffness);
    return CT_OK;
}

ct_status ct_muscle_create(ct_muscle** out, const ct_muscle_fibres* def) {
    *out = NULL;
    ct_muscle* muscle = ct_alloc(1, sizeof *muscle);
    if (!muscle) return CT_OUT_OF_MEMORY;
    muscle->kernels = kernels_of(ct_cpu_isa());
    muscle->nblock = (def->tets.ntet + CT_FIBRE_BLOCK - 1) / CT_FIBRE_BLOCK;
    const ct_status status = make_fibres(muscle, def);
    if (status == CT_OK) *out = muscle;
    else ct_muscle_free(muscle);
    return status;
}

void ct_muscle_free(ct_muscle* muscle) {
    if (!muscle) return;
    ct_arena_free(&muscle->tets.arena);
    ct_free(muscle);
}

void ct_muscle_set_stiffness(ct_muscle* muscle, const double* stiffness) {
    const ct_actuated* tets = &muscle->tets;
    memcpy(tets->stiffness, stiffness, (size_t)tets->nowner * sizeof(double));
    for (int e = 0; e < tets->ntet; e++)
        block_of(muscle, e)->stiff[lane_of(muscle, e)] = stiffness[tets->owner[e]] * tets->weight[e];
}

ct_status ct_muscle_work_create(ct_muscle_work** out, const ct_muscle* muscle) {
    *out = NULL;
    ct_muscle_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const size_t lanes = (size_t)muscle->nblock * CT_FIBRE_BLOCK;
    ct_arena* arena = &work->tets.arena;
    ct_status status = ct_actuated_work_create(&work->tets, &muscle->tets);
    work->linear = ct_arena_alloc(arena, CT_FIBRE_LINEAR * lanes, sizeof(double));
    work->pull = ct_arena_alloc(arena, lanes, sizeof(double));
    work->excess = ct_arena_alloc(arena, lanes, sizeof(double));
    if (arena->failed) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK) *out = work;
    else ct_muscle_work_free(work);
    return status;
}

void ct_muscle_work_free(ct_muscle_work* work) {
    if (!work) return;
    ct_arena_free(&work->tets.arena);
    ct_free(work);
}

// ---- all fibres

static ct_muscle_pass pass_of(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                              const double* x) {
    ct_actuated_load(&muscle->tets, &work->tets, x);
    return (ct_muscle_pass){muscle->block, muscle->nblock, work->tets.x, work->tets.f, activation};
}

double ct_muscle_gradient(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                          const double* x, double* f) {
    ct_muscle_pass pass = pass_of(muscle, work, activation, x);
    if (!f) pass.f = NULL;
    const double energy = muscle->kernels->gradient(&pass);
    if (f) ct_actuated_scatter(&muscle->tets, work->tets.f, f);
    return energy;
}

void ct_muscle_linearise(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                         const double* x) {
    const ct_muscle_pass pass = pass_of(muscle, work, activation, x);
    muscle->kernels->linearise(&pass, work->linear);
}

void ct_muscle_product(const ct_muscle* muscle, ct_muscle_work* work, const double* dx, double* out) {
    const ct_muscle_pass pass = pass_of(muscle, work, NULL, dx);
    muscle->kernels->product(&pass, work->linear);
    ct_actuated_scatter(&muscle->tets, work->tets.f, out);
}

void ct_muscle_vjp(const ct_muscle* muscle, ct_muscle_work* work, const double* activation, const double* x,
                   const double* lam, double* activation_bar, double* stiffness_bar) {
    const ct_actuated* tets = &muscle->tets;
    const ct_muscle_pass pass = pass_of(muscle, work, activation, x);
    ct_actuated_gather(tets, lam, work->tets.f);  // no forces are wanted
    muscle->kernels->parameter(&pass, work->tets.f, work->pull, work->excess);
    for (int e = 0; e < tets->ntet; e++) {
        const int slot = e % muscle->nblock * CT_FIBRE_BLOCK + lane_of(muscle, e);
        const double pull = work->pull[slot];
        if (activation_bar) activation_bar[tets->number[e]] += tets->stiffness[tets->owner[e]] * pull;
        if (stiffness_bar) stiffness_bar[tets->owner[e]] += work->excess[slot] * pull;
    }
}

// ---- the matrix, fibre by fibre

typedef struct fibre {
    int count, node[CT_CELL_NODES];  // of all nodes
    double slope[CT_CELL_NODES];     // c
    double stiff;
    int segment;
} fibre;

static fibre fibre_at(const ct_muscle* muscle, int e) {
    const ct_fibre_block* block = block_of(muscle, e);
    const int lane = lane_of(muscle, e);
    fibre f = {.stiff = block->stiff[lane], .segment = block->segment[lane]};
    double T[CT_CELL_NODES][4];
    f.count = ct_actuated_nodes(&muscle->tets, e, f.node, T);
    for (int a = 0; a < f.count; a++)
        for (int k = 0; k < 4; k++) f.slope[a] += T[a][k] * block->slope[lane][k];
    return f;
}

// y = sum_j c_j x_j
static ct_vec3 gather(const fibre* f, const double* x) {
    ct_vec3 y = {0};
    for (int j = 0; j < f->count; j++) y = ct_vec3_axpy(y, f->slope[j], ct_vec3_load(x + 3 * f->node[j]));
    return y;
}

// d2E/dy2 = across I + (along - across) u u^T
typedef struct linear_fibre {
    ct_vec3 u;
    double across, along;
} linear_fibre;

static linear_fibre linearise(const fibre* f, const double* activation, const double* x) {
    const ct_vec3 y = gather(f, x);
    const double inverse = 1 / fmax(ct_vec3_norm(y), CT_FIBRE_SHORTEST), r = 1 - activation[f->segment];
    return (linear_fibre){ct_vec3_scale(inverse, y), f->stiff * (1 - r * inverse), f->stiff};
}

void ct_muscle_assemble(const ct_muscle* muscle, const double* activation, const double* x, bool project,
                        const int* unknown, ct_block_matrix* matrix) {
    for (int e = 0; e < muscle->tets.ntet; e++) {
        const fibre f = fibre_at(muscle, e);
        // at rest and without activation l = 1 and r = 1: only the stiffness along the fibre is left
        linear_fibre h = {ct_vec3_load(muscle->direction + 3 * e), 0, f.stiff};
        if (x) h = linearise(&f, activation, x);
        if (project) h.across = fmax(h.across, 0);
        const double u[3] = {h.u.x, h.u.y, h.u.z}, rank = h.along - h.across;
        for (int a = 0; a < f.count; a++)
            for (int b = 0; b <= a; b++) {
                const double s = f.slope[a] * f.slope[b];
                double value[9];
                for (int i = 0; i < 9; i++)
                    value[i] = s * (rank * u[i / 3] * u[i % 3] + (i % 4 == 0 ? h.across : 0));
                ct_block_matrix_add(matrix, unknown[f.node[a]], unknown[f.node[b]], value);
            }
    }
}

// The energy is k V w/2 |y - r u|^2 with u the unit vector nearest to y.
static void muscles_laplacian(const void* self, const int* unknown, ct_block_matrix* matrix) {
    const ct_muscle* muscle = self;
    for (int e = 0; e < muscle->tets.ntet; e++) {
        const fibre f = fibre_at(muscle, e);
        for (int a = 0; a < f.count; a++)
            for (int b = 0; b <= a; b++) {
                const double w = f.stiff * f.slope[a] * f.slope[b], value[9] = {w, 0, 0, 0, w, 0, 0, 0, w};
                ct_block_matrix_add(matrix, unknown[f.node[a]], unknown[f.node[b]], value);
            }
    }
}

// ---- as a family ---------------------------------------------------------------------------

static void free_muscles(void* self) { ct_muscle_free(self); }

static void set_muscles_stiffness(void* self, const double* stiffness) {
    ct_muscle_set_stiffness(self, stiffness);
}
static void free_muscles_work(void* work) { ct_muscle_work_free(work); }

static ct_status create_muscles_work(void** work, const void* self) {
    ct_muscle_work* own;
    ct_status status = ct_muscle_work_create(&own, self);
    *work = own;
    return status;
}

static double muscles_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                               double* f) {
    return ct_muscle_gradient(self, work, step->actuation, x, f);
}

static void linearise_muscles(const void* self, void* work, const ct_family_step* step, const double* x) {
    ct_muscle_linearise(self, work, step->actuation, x);
}

static void muscles_product(const void* self, void* work, const ct_family_step* step, const double* x,
                            const double* dx, double* out) {
    ct_muscle_product(self, work, dx, out);
}

static void assemble_muscles(const void* self, void* work, const ct_family_step* step, const double* x,
                             bool project, const int* unknown, ct_block_matrix* matrix) {
    ct_muscle_assemble(self, step->actuation, x, project, unknown, matrix);
}

static void muscles_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                        const double* lam, const ct_family_bar* bar) {
    const ct_actuated* tets = &((const ct_muscle*)self)->tets;
    ct_actuated_work* sums = &((ct_muscle_work*)work)->tets;
    ct_actuated_clear(tets, sums);
    ct_muscle_vjp(self, work, step->actuation, x, lam, sums->number_bar, sums->stiffness_bar);
    ct_actuated_deliver(tets, sums, bar->actuation, bar->sums->of[CT_QUANTITY_MUSCLE_STIFFNESS]);
}

static void muscles_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                        const ct_family_dot* dot, double* out) {
    const ct_muscle* muscle = self;
    ct_muscle_work* own = work;
    const ct_muscle_pass pass = pass_of(muscle, own, step->actuation, x);
    muscle->kernels->spread(&pass, dot->actuation);
    ct_actuated_scatter(&muscle->tets, own->tets.f, out);
}

const ct_family ct_muscle_family = {.name = "muscles",
                                    .actuator = true,
                                    .free = free_muscles,
                                    .set_stiffness = set_muscles_stiffness,
                                    .create_work = create_muscles_work,
                                    .free_work = free_muscles_work,
                                    .gradient = muscles_gradient,
                                    .linearise = linearise_muscles,
                                    .product = muscles_product,
                                    .assemble = assemble_muscles,
                                    .laplacian = muscles_laplacian,
                                    .vjp = muscles_vjp,
                                    .jvp = muscles_jvp};
