// Fibres of muscles; see muscle.h.
#include "force/muscle.h"

#include <math.h>
#include <string.h>

#include "force/local_nodes.h"
#include "force/muscle_kernel.h"
#include "math/mat3.h"

extern const ct_muscle_kernels ct_muscle_kernels_portable, ct_muscle_kernels_avx2, ct_muscle_kernels_avx512;

struct ct_muscle {
    ct_arena arena;
    const ct_muscle_kernels* kernels;
    int ntet, nmuscle, nblock;
    ct_fibre_block* block;  // nblock
    ct_local_nodes nodes;
    int* owner;         // ntet, index of its stiffness
    double* direction;  // 3 ntet, m
    double* stiffness;  // nmuscle, Pa
};

struct ct_muscle_work {
    ct_arena arena;
    double* x;              // 4 nodes.count
    double* f;              // 4 nodes.count
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

static void set_fibre(ct_muscle* muscle, const ct_muscle_fibres* def, int e, const int* local) {
    ct_fibre_block* block = block_of(muscle, e);
    const int lane = lane_of(muscle, e);
    const int* node = def->tet + 4 * e;
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * node[k + 1]), p);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]);
    const ct_vec3 c = ct_mat3_apply(ct_mat3_inverse(Dm), ct_vec3_load(def->direction + 3 * e));
    const double slope[4] = {-(c.x + c.y + c.z), c.x, c.y, c.z};
    memcpy(block->slope[lane], slope, sizeof slope);
    memcpy(block->node[lane], local + 4 * e, sizeof block->node[lane]);
    block->weight[lane] = def->weight[e] * ct_mat3_determinant(Dm) / 6;
    block->segment[lane] = def->segment[e];
}

static ct_status make_blocks(ct_muscle* muscle, const ct_muscle_fibres* def) {
    const size_t n = (size_t)def->ntet;
    muscle->block = ct_arena_alloc(&muscle->arena, (size_t)muscle->nblock, sizeof(ct_fibre_block));
    muscle->owner = ct_arena_copy(&muscle->arena, def->muscle, n, sizeof(int));
    muscle->direction = ct_arena_copy(&muscle->arena, def->direction, 3 * n, sizeof(double));
    muscle->stiffness = ct_arena_copy(&muscle->arena, def->stiffness, (size_t)def->nmuscle, sizeof(double));
    int* local = ct_alloc(4 * n, sizeof(int));
    ct_status status = muscle->arena.failed || !local ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK)
        status = ct_local_nodes_create(&muscle->nodes, &muscle->arena, def->tet, def->ntet, local);
    for (int e = 0; status == CT_OK && e < def->ntet; e++) set_fibre(muscle, def, e, local);
    ct_free(local);
    return status;
}

ct_status ct_muscle_create(ct_muscle** out, const ct_muscle_fibres* def) {
    *out = NULL;
    ct_muscle* muscle = ct_alloc(1, sizeof *muscle);
    if (!muscle) return CT_OUT_OF_MEMORY;
    muscle->kernels = kernels_of(ct_cpu_isa());
    muscle->ntet = def->ntet;
    muscle->nmuscle = def->nmuscle;
    muscle->nblock = (def->ntet + CT_FIBRE_BLOCK - 1) / CT_FIBRE_BLOCK;
    const ct_status status = make_blocks(muscle, def);
    if (status != CT_OK) {
        ct_muscle_free(muscle);
        return status;
    }
    ct_muscle_set_stiffness(muscle, def->stiffness);
    *out = muscle;
    return CT_OK;
}

void ct_muscle_free(ct_muscle* muscle) {
    if (!muscle) return;
    ct_arena_free(&muscle->arena);
    ct_free(muscle);
}

void ct_muscle_set_stiffness(ct_muscle* muscle, const double* stiffness) {
    memcpy(muscle->stiffness, stiffness, (size_t)muscle->nmuscle * sizeof(double));
    for (int e = 0; e < muscle->ntet; e++) {
        ct_fibre_block* block = block_of(muscle, e);
        const int lane = lane_of(muscle, e);
        block->stiff[lane] = stiffness[muscle->owner[e]] * block->weight[lane];
    }
}

ct_status ct_muscle_work_create(ct_muscle_work** out, const ct_muscle* muscle) {
    *out = NULL;
    ct_muscle_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->x = ct_arena_alloc(&work->arena, 4 * (size_t)muscle->nodes.count, sizeof(double));
    work->f = ct_arena_alloc(&work->arena, 4 * (size_t)muscle->nodes.count, sizeof(double));
    work->linear = ct_arena_alloc(&work->arena, (size_t)muscle->nblock,
                                  CT_FIBRE_LINEAR * CT_FIBRE_BLOCK * sizeof(double));
    work->pull = ct_arena_alloc(&work->arena, (size_t)muscle->nblock, CT_FIBRE_BLOCK * sizeof(double));
    work->excess = ct_arena_alloc(&work->arena, (size_t)muscle->nblock, CT_FIBRE_BLOCK * sizeof(double));
    if (work->arena.failed) {
        ct_muscle_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_muscle_work_free(ct_muscle_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}

// ---- all fibres

static ct_muscle_pass pass_of(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                              const double* x) {
    ct_local_nodes_gather(&muscle->nodes, x, work->x);
    memset(work->f, 0, 4 * (size_t)muscle->nodes.count * sizeof(double));
    return (ct_muscle_pass){muscle->block, muscle->nblock, work->x, work->f, activation};
}

double ct_muscle_gradient(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                          const double* x, double* f) {
    ct_muscle_pass pass = pass_of(muscle, work, activation, x);
    if (!f) pass.f = NULL;
    const double energy = muscle->kernels->gradient(&pass);
    if (f) ct_local_nodes_add(&muscle->nodes, work->f, f);
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
    ct_local_nodes_add(&muscle->nodes, work->f, out);
}

void ct_muscle_vjp(const ct_muscle* muscle, ct_muscle_work* work, const double* activation, const double* x,
                   const double* lam, double* activation_bar, double* stiffness_bar) {
    const ct_muscle_pass pass = pass_of(muscle, work, activation, x);
    ct_local_nodes_gather(&muscle->nodes, lam, work->f);  // no forces are wanted
    muscle->kernels->parameter(&pass, work->f, work->pull, work->excess);
    for (int e = 0, lane = 0; e < muscle->ntet; lane++)
        for (int b = 0; b < muscle->nblock && e < muscle->ntet; b++, e++) {
            const double pull = work->pull[b * CT_FIBRE_BLOCK + lane];
            if (activation_bar)
                activation_bar[muscle->block[b].segment[lane]] += muscle->stiffness[muscle->owner[e]] * pull;
            if (stiffness_bar)
                stiffness_bar[muscle->owner[e]] += work->excess[b * CT_FIBRE_BLOCK + lane] * pull;
        }
}

// ---- the matrix, fibre by fibre

typedef struct fibre {
    int node[4];          // of all nodes
    const double* slope;  // c
    double stiff;
    int segment;
} fibre;

static fibre fibre_at(const ct_muscle* muscle, int e) {
    const ct_fibre_block* block = block_of(muscle, e);
    const int lane = lane_of(muscle, e);
    fibre f = {.slope = block->slope[lane], .stiff = block->stiff[lane], .segment = block->segment[lane]};
    for (int j = 0; j < 4; j++) f.node[j] = muscle->nodes.node[block->node[lane][j]];
    return f;
}

// y = sum_j c_j x_j
static ct_vec3 gather(const fibre* f, const double* x) {
    ct_vec3 y = {0};
    for (int j = 0; j < 4; j++) y = ct_vec3_axpy(y, f->slope[j], ct_vec3_load(x + 3 * f->node[j]));
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
    for (int e = 0; e < muscle->ntet; e++) {
        const fibre f = fibre_at(muscle, e);
        // at rest and without activation l = 1 and r = 1: only the stiffness along the fibre is left
        linear_fibre h = {ct_vec3_load(muscle->direction + 3 * e), 0, f.stiff};
        if (x) h = linearise(&f, activation, x);
        if (project) h.across = fmax(h.across, 0);
        const double u[3] = {h.u.x, h.u.y, h.u.z}, rank = h.along - h.across;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                const double s = f.slope[a] * f.slope[b];
                double value[9];
                for (int i = 0; i < 9; i++)
                    value[i] = s * (rank * u[i / 3] * u[i % 3] + (i % 4 == 0 ? h.across : 0));
                ct_block_matrix_add(matrix, unknown[f.node[a]], unknown[f.node[b]], value);
            }
    }
}
