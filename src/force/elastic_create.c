// Compiles tets into blocks of eight: sorted by order and energy, then along a space-filling curve through
// their centroids, so that tets of a block share nodes and the nodes of neighbouring blocks are still in the
// cache. See elastic.h.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "force/elastic_data.h"
#include "math/mat3.h"

#define CT_CHUNK_BLOCKS 64  // blocks of a chunk

extern const ct_elastic_kernels ct_elastic_kernels_portable, ct_elastic_kernels_avx2,
    ct_elastic_kernels_avx512;

const ct_elastic_kernels* ct_elastic_kernels_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return &ct_elastic_kernels_avx512;
    if (isa == CT_ISA_AVX2) return &ct_elastic_kernels_avx2;
#endif
    return &ct_elastic_kernels_portable;
}

int ct_elastic_linear_size(int energy) {
    static const int size[CT_ENERGY_COUNT] = {CT_LINEAR_COROTATED, CT_LINEAR_PROJECTIVE, CT_LINEAR_NEOHOOKEAN,
                                              CT_LINEAR_STVK};
    return size[energy];
}

// ---- order of the tets

typedef struct sort_key {
    uint64_t curve;  // position along the curve
    int kind, tet;
} sort_key;

// Kinds of tets: the energies of linear ones, then those of second order.
enum { KINDS = 2 * CT_ENERGY_COUNT };

// Mid-edge nodes of a tet of second order; NULL: it is linear.
static const int* mid_of(const ct_elastic_def* def, int tet) {
    return def->mid && def->mid[6 * (size_t)tet] >= 0 ? def->mid + 6 * (size_t)tet : NULL;
}

static int kind_of(const ct_elastic_def* def, int tet) {
    return def->energy[tet] + (mid_of(def, tet) ? CT_ENERGY_COUNT : 0);
}

static int compare_keys(const void* first, const void* second) {
    const sort_key *a = first, *b = second;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->curve != b->curve) return a->curve < b->curve ? -1 : 1;
    return a->tet < b->tet ? -1 : 1;
}

// Spreads the low 21 bits to every third bit.
static uint64_t spread_bits(uint64_t x) {
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

static void make_keys(const ct_elastic_def* def, sort_key* key) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, size = 0;
    for (int c = 0; c < 4 * def->ntet; c++)
        for (int i = 0; i < 3; i++) lower[i] = fmin(lower[i], def->rest[3 * (size_t)def->tet[c] + i]);
    for (int c = 0; c < 4 * def->ntet; c++)
        for (int i = 0; i < 3; i++) size = fmax(size, def->rest[3 * (size_t)def->tet[c] + i] - lower[i]);
    const double scale = size > 0 ? 2097151 / size : 0;
    for (int e = 0; e < def->ntet; e++) {
        uint64_t curve = 0;
        for (int i = 0; i < 3; i++) {
            double center = 0;
            for (int k = 0; k < 4; k++)
                center += 0.25 * def->rest[3 * (size_t)def->tet[4 * (size_t)e + k] + i];
            curve |= spread_bits((uint64_t)(scale * (center - lower[i]))) << i;
        }
        key[e] = (sort_key){.curve = curve, .kind = kind_of(def, e), .tet = e};
    }
    qsort(key, (size_t)def->ntet, sizeof *key, compare_keys);
}

// ---- blocks, chunks, incidence

// Blocks of all tets; *second: the first of second order.
static int count_blocks(const ct_elastic_def* def, int count[KINDS], int* second) {
    memset(count, 0, KINDS * sizeof *count);
    for (int e = 0; e < def->ntet; e++) count[kind_of(def, e)]++;
    int nblock = 0;
    for (int k = 0; k < KINDS; k++) {
        if (k == CT_ENERGY_COUNT) *second = nblock;
        nblock += (count[k] + CT_BLOCK - 1) / CT_BLOCK * (k < CT_ENERGY_COUNT ? 1 : CT_CELL_POINTS);
    }
    return nblock;
}

// Dm^-1 and the volume of a tet, or of one of its points.
static ct_mat3 rest_inverse(const ct_elastic_def* def, int tet, int point, double* volume) {
    const int *node = def->tet + 4 * (size_t)tet, *mid = mid_of(def, tet);
    if (mid) {
        const ct_mat3 E = ct_cell_edges(point, node, mid, def->rest);
        *volume = ct_mat3_determinant(E) / (6 * CT_CELL_POINTS);
        return ct_mat3_inverse(E);
    }
    const ct_vec3 origin = ct_vec3_load(def->rest + 3 * (size_t)node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++)
        edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * (size_t)node[k + 1]), origin);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]);
    *volume = ct_mat3_determinant(Dm) / 6;
    return ct_mat3_inverse(Dm);
}

// Writes a point of tet `tet` (scene index) into a lane; volume 0 marks a repeated one.
static void fill_lane(ct_elastic* elastic, const ct_elastic_def* def, int lane, int tet, int point,
                      bool repeated) {
    ct_elastic_block* block = elastic->block + lane / CT_BLOCK;
    double volume;
    const ct_mat3 inverse = rest_inverse(def, tet, point, &volume);
    for (int i = 0; i < 9; i++) block->inverse[i][lane % CT_BLOCK] = inverse.a[i / 3][i % 3];
    for (int k = 0; k < 4; k++) block->node[k][lane % CT_BLOCK] = def->tet[4 * (size_t)tet + k];
    elastic->lane_tet[lane] = repeated ? -1 : tet;
    elastic->lane_volume[lane] = repeated ? 0 : volume;
    if (!repeated) elastic->volume[tet] += volume;
}

// Writes a tet into the lane `slot` of its kind, that starts at block `first`.
static void fill_tet(ct_elastic* elastic, const ct_elastic_def* def, int first, int slot, int tet,
                     bool repeated) {
    const int* mid = mid_of(def, tet);
    if (!mid) {
        fill_lane(elastic, def, first * CT_BLOCK + slot, tet, 0, repeated);
        return;
    }
    const int block = first + slot / CT_BLOCK * CT_CELL_POINTS, lane = slot % CT_BLOCK;
    ct_elastic_cell* cell = elastic->cell + (block - elastic->second) / CT_CELL_POINTS;
    for (int a = 0; a < CT_CELL_NODES; a++)
        cell->node[a][lane] = a < 4 ? def->tet[4 * (size_t)tet + (size_t)a] : mid[a - 4];
    for (int q = 0; q < CT_CELL_POINTS; q++)
        fill_lane(elastic, def, (block + q) * CT_BLOCK + lane, tet, q, repeated);
}

static void fill_blocks(ct_elastic* elastic, const ct_elastic_def* def, const sort_key* key,
                        const int count[KINDS]) {
    int first = 0, block = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const int energy = kind % CT_ENERGY_COUNT;
        const bool second = kind >= CT_ENERGY_COUNT;
        int slot = 0;
        while (slot < count[kind]) fill_tet(elastic, def, block, slot, key[first + slot].tet, false), slot++;
        first += count[kind];
        while (slot % CT_BLOCK) fill_tet(elastic, def, block, slot++, key[first - 1].tet, true);
        // chunks of this kind
        for (const int last = block + slot / CT_BLOCK * (second ? CT_CELL_POINTS : 1); block < last;) {
            const int size = last - block < CT_CHUNK_BLOCKS ? last - block : CT_CHUNK_BLOCKS;
            elastic->chunk[elastic->nchunk++] =
                (ct_elastic_chunk){block, size, energy, second, elastic->linear_size};
            elastic->linear_size += (size_t)size * CT_BLOCK * (size_t)ct_elastic_linear_size(energy);
            block += size;
        }
    }
}

// The place of node k of the tet in a lane; first of second order, one tet after the other: the lanes of
// their first points. -1: none.
static int incident_node(const ct_elastic* elastic, int lane, int k, int* place) {
    const int block = lane / CT_BLOCK, slot = lane % CT_BLOCK;
    if (elastic->lane_tet[lane] < 0) return -1;
    if (block < elastic->second) {
        *place = 4 * lane + k;
        return k < 4 ? elastic->block[block].node[k][slot] : -1;
    }
    *place = 4 * (block * CT_BLOCK + 4 * slot) + k;
    if ((block - elastic->second) % CT_CELL_POINTS) return -1;
    return elastic->cell[(block - elastic->second) / CT_CELL_POINTS].node[k][slot];
}

static void fill_incidence(ct_elastic* elastic) {
    int* start = elastic->incident_start;
    const int nlane = elastic->nblock * CT_BLOCK;
    for (int pass = 0; pass < 2; pass++) {  // count, then place
        for (int lane = 0; lane < nlane; lane++)
            for (int k = 0; k < CT_CELL_NODES; k++) {
                int place;
                const int node = incident_node(elastic, lane, k, &place);
                if (node < 0) continue;
                if (pass == 0) start[node + 1]++;
                else elastic->incident[start[node]++] = place;
            }
        if (pass == 0)
            for (int v = 0; v < elastic->nvert; v++) start[v + 1] += start[v];
    }
    for (int v = elastic->nvert; v > 0; v--) start[v] = start[v - 1];
    start[0] = 0;
}

// ---- interface

static ct_status check_def(const ct_elastic_def* def) {
    if (def->nvert < 0 || def->ntet < 0 || def->ntet > INT32_MAX / 16 - CT_BLOCK * KINDS)
        return CT_BAD_ARGUMENT;
    for (int e = 0; e < def->ntet; e++) {
        if (def->energy[e] >= CT_ENERGY_COUNT) return CT_BAD_ARGUMENT;
        const int* mid = mid_of(def, e);
        for (int k = 0; k < (mid ? CT_CELL_NODES : 4); k++) {
            const int node = k < 4 ? def->tet[4 * (size_t)e + (size_t)k] : mid[k - 4];
            if (node < 0 || node >= def->nvert) return CT_BAD_MESH;
        }
        for (int q = 0; q < (mid ? CT_CELL_POINTS : 1); q++) {
            double volume;
            rest_inverse(def, e, q, &volume);
            if (!(volume > 0) || !isfinite(1 / volume)) return CT_BAD_MESH;
        }
    }
    return CT_OK;
}

static void allocate(ct_elastic* elastic, const ct_elastic_def* def) {
    ct_arena* arena = &elastic->arena;
    const size_t nlane = (size_t)elastic->nblock * CT_BLOCK, nvert = (size_t)def->nvert,
                 ntet = (size_t)def->ntet;
    elastic->rest = ct_arena_copy(arena, def->rest, 3 * nvert, sizeof(double));
    elastic->volume = ct_arena_alloc(arena, ntet, sizeof(double));
    elastic->block = ct_arena_alloc(arena, (size_t)elastic->nblock, sizeof(ct_elastic_block));
    elastic->cell = ct_arena_alloc(arena, (size_t)(elastic->nblock - elastic->second) / CT_CELL_POINTS,
                                   sizeof(ct_elastic_cell));
    elastic->beta = ct_arena_alloc(arena, nlane, sizeof(double));
    elastic->lane_volume = ct_arena_alloc(arena, nlane, sizeof(double));
    elastic->lane_tet = ct_arena_alloc(arena, nlane, sizeof(int));
    elastic->chunk =
        ct_arena_alloc(arena, (size_t)elastic->nblock / CT_CHUNK_BLOCKS + KINDS, sizeof(ct_elastic_chunk));
    elastic->incident_start = ct_arena_alloc(arena, nvert + 1, sizeof(int));
    elastic->incident = ct_arena_alloc(arena, (def->mid ? CT_CELL_NODES : 4) * ntet, sizeof(int));
}

ct_status ct_elastic_create(ct_elastic** out, const ct_elastic_def* def) {
    *out = NULL;
    const ct_status status = check_def(def);
    if (status != CT_OK) return status;
    ct_elastic* elastic = ct_alloc(1, sizeof *elastic);
    sort_key* key = ct_alloc((size_t)def->ntet, sizeof *key);
    int count[KINDS];
    if (elastic) {
        elastic->kernels = ct_elastic_kernels_of(ct_cpu_isa());
        elastic->nvert = def->nvert;
        elastic->ntet = def->ntet;
        elastic->nblock = count_blocks(def, count, &elastic->second);
        allocate(elastic, def);
    }
    if (!elastic || !key || elastic->arena.failed) {
        ct_free(key);
        ct_elastic_free(elastic);
        return CT_OUT_OF_MEMORY;
    }
    make_keys(def, key);
    fill_blocks(elastic, def, key, count);
    fill_incidence(elastic);
    ct_elastic_set_parameters(elastic, def->mu, def->lambda, def->beta);
    ct_free(key);
    *out = elastic;
    return CT_OK;
}

void ct_elastic_free(ct_elastic* elastic) {
    if (!elastic) return;
    ct_arena_free(&elastic->arena);
    ct_free(elastic);
}

void ct_elastic_set_parameters(ct_elastic* elastic, const double* mu, const double* lambda,
                               const double* beta) {
    for (int lane = 0; lane < elastic->nblock * CT_BLOCK; lane++) {
        const int tet = elastic->lane_tet[lane];
        if (tet < 0) continue;
        ct_elastic_block* block = elastic->block + lane / CT_BLOCK;
        if (mu) block->mu[lane % CT_BLOCK] = mu[tet] * elastic->lane_volume[lane];
        if (lambda) block->lambda[lane % CT_BLOCK] = lambda[tet] * elastic->lane_volume[lane];
        if (beta) elastic->beta[lane] = beta[tet];
    }
    if (!beta) return;
    elastic->damped = false;
    for (int e = 0; e < elastic->ntet; e++) elastic->damped |= beta[e] > 0;
}

ct_status ct_elastic_create_along(ct_elastic** out, const ct_elastic* elastic) {
    *out = NULL;
    ct_elastic* along = ct_alloc(1, sizeof *along);
    if (!along) return CT_OUT_OF_MEMORY;
    along->block =
        ct_arena_copy(&along->arena, elastic->block, (size_t)elastic->nblock, sizeof *elastic->block);
    if (along->arena.failed) {
        ct_elastic_free(along);
        return CT_OUT_OF_MEMORY;
    }
    *out = along;
    return CT_OK;
}

void ct_elastic_set_along(ct_elastic* along, const ct_elastic* elastic, const double* mu,
                          const double* lambda) {
    const ct_arena arena = along->arena;
    ct_elastic_block* block = along->block;
    *along = *elastic;
    along->arena = arena;
    along->block = block;
    if (elastic->nblock) memcpy(block, elastic->block, (size_t)elastic->nblock * sizeof *block);
    ct_elastic_set_parameters(along, mu, lambda, NULL);
}

const double* ct_elastic_volume(const ct_elastic* elastic) { return elastic->volume; }

const char* ct_elastic_kernel(const ct_elastic* elastic) { return elastic->kernels->name; }

ct_status ct_elastic_work_create(ct_elastic_work** out, const ct_elastic* elastic) {
    *out = NULL;
    ct_elastic_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const size_t nlane = (size_t)elastic->nblock * CT_BLOCK;
    work->node = ct_arena_alloc(&work->arena, CT_NODE_SIZE * (size_t)elastic->nvert, sizeof(double));
    work->element = ct_arena_alloc(&work->arena, CT_ELEMENT_SIZE * nlane, sizeof(double));
    work->linear =
        ct_arena_alloc(&work->arena, elastic->linear_size + CT_LINEAR_DAMPER * nlane, sizeof(double));
    work->rate = ct_arena_alloc(&work->arena, 6 * nlane, sizeof(double));
    work->partial = ct_arena_alloc(&work->arena, (size_t)elastic->nchunk, sizeof(double));
    for (int k = 0; k < 3; k++)
        work->d[k] = ct_arena_alloc(&work->arena, (size_t)elastic->ntet, sizeof(double));
    if (work->arena.failed) {
        ct_elastic_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_elastic_work_free(ct_elastic_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}
