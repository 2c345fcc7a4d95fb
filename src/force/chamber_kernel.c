// Kernels over blocks of eight cells, compiled once per instruction set (CT_ISA, CT_LANES); the equations are
// in chamber.h.
//
// Far above the wanted volume (det F > 4 a) there may be more than one matrix where the distance is
// stationary: such lanes search again from several starts, one by one.
#include "force/chamber_kernel.h"

#include "force/elastic_energy.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)

_Static_assert(CT_CELL_BLOCK == CT_BLOCK && CT_CELL_GROUP == GROUP &&
                   (int)CT_CELL_LINEAR == (int)CT_LINEAR_PROJECTIVE,
               "shared with the elastic kernels");
_Static_assert(sizeof(vnearest) * NVECTOR == CT_CELL_NEAREST * CT_BLOCK * sizeof(double),
               "the size of a decomposition");

// ---- the nearest matrix of determinant 1, far from it

typedef struct candidate {
    double D[3], q[3], k;  // as in vnearest
} candidate;

static candidate candidate_at(const double s[3], double u) {
    candidate n = {.D[2] = u, .q[2] = 2 * u - s[2], .k = u * (u - s[2])};
    for (int i = 0; i < 2; i++) {
        n.q[i] = sqrt(fmax((s[i] - s[2]) * (s[i] + s[2]) + n.q[2] * n.q[2], 1e-24));
        n.D[i] = 0.5 * (s[i] + n.q[i]);
    }
    return n;
}

// Newton's method for the product of the D_i inside the bracket, from u on.
static candidate candidate_from(const double s[3], double u) {
    double low = 0, high = 1;
    candidate n = candidate_at(s, u);
    for (int iteration = 0; iteration < 100; iteration++) {
        const double product = n.D[0] * n.D[1], excess = u * product - 1;
        const double slope = product + u * n.q[2] * (n.D[1] / n.q[0] + n.D[0] / n.q[1]);
        if (excess < 0) low = u;
        else high = u;
        double next = u - excess / slope;
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        const double moved = fabs(next - u);
        u = next;
        n = candidate_at(s, u);
        if (!(moved > 1e-14 * u)) break;
    }
    return n;
}

static double candidate_distance(const candidate* n) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += (n->k / n->D[i]) * (n->k / n->D[i]);
    return sum;
}

static __attribute__((noinline, cold)) void nearest_far(vnearest* n, const vl* far) {
    for (int lane = 0; lane < CT_LANES; lane++) {
        if (!(*far)[lane]) continue;
        const double s[3] = {n->s[0][lane], n->s[1][lane], n->s[2][lane]},
                     starts[3] = {n->D[2][lane], 1e-3, 1};
        candidate best = candidate_from(s, starts[0]);
        for (int k = 1; k < 3; k++) {
            const candidate other = candidate_from(s, starts[k]);
            if (candidate_distance(&other) < candidate_distance(&best)) best = other;
        }
        for (int i = 0; i < 3; i++) n->D[i][lane] = best.D[i], n->q[i][lane] = best.q[i];
        n->k[lane] = best.k;
    }
}

// ---- cells and nodes

// Ds Dm^-1 of vector v of a block.
CT_INLINE vmat3 deformation(const ct_cell_block* block, const double* x, int v) {
    v4 edge[3][CT_LANES];
    for (int lane = 0; lane < CT_LANES; lane++) {
        const int slot = v * CT_LANES + lane;
        const v4 origin = *(const v4*)(x + 4 * (size_t)block->node[0][slot]);
        for (int k = 0; k < 3; k++)
            edge[k][lane] = *(const v4*)(x + 4 * (size_t)block->node[k + 1][slot]) - origin;
    }
    return vtet_deformation(edge, &block->inverse[0][v * CT_LANES], CT_BLOCK);
}

// Adds the forces of the stress P, cell after cell.
CT_INLINE void scatter(const ct_cell_block* block, vmat3 P, double* f, int v) {
    v4 force[3][CT_LANES];
    vtet_forces(P, &block->inverse[0][v * CT_LANES], CT_BLOCK, force);
    for (int lane = 0; lane < CT_LANES; lane++) {
        const int slot = v * CT_LANES + lane;
        *(v4*)(f + 4 * (size_t)block->node[0][slot]) -= force[0][lane] + force[1][lane] + force[2][lane];
        for (int k = 0; k < 3; k++) *(v4*)(f + 4 * (size_t)block->node[k + 1][slot]) += force[k][lane];
    }
}

// ---- the passes

// Not inlined: both callers get the very same bits.
static __attribute__((noinline)) void decompose_vectors(const vmat3* F, vnearest* n) {
    vroot root[NGROUP];
    polar_roots(F, root);
    nearest_group(F, root, n);
    for (int v = 0; v < NGROUP; v++) {
        const vl far = n[v].s[0] * n[v].s[1] * n[v].s[2] >= 4;
        if (__builtin_expect(vany(far), 0)) nearest_far(&n[v], &far);
    }
}

static void cell_decompose(const ct_chamber_pass* pass, double* nearest) {
    vnearest* n = (vnearest*)nearest;
    for (int b = 0; b < pass->nblock; b += GROUP, n += NGROUP) {
        vmat3 F[NGROUP];
        for (int v = 0; v < NGROUP; v++) {
            const vd scale = vload(pass->scale + (size_t)b * CT_BLOCK + v * CT_LANES);
            F[v] = vmat3_scale(1 / scale, deformation(pass->block + b + v / NVECTOR, pass->x, v % NVECTOR));
        }
        decompose_vectors(F, n);
    }
}

static void cell_decompose_group(const double* F, double* nearest) {
    vmat3 A[NGROUP];
    for (int v = 0; v < NGROUP; v++)
        A[v] = vmat3_load(F + v / NVECTOR * 9 * CT_BLOCK + v % NVECTOR * CT_LANES, CT_BLOCK);
    decompose_vectors(A, (vnearest*)nearest);
}

static double cell_gradient(const ct_chamber_pass* pass, const double* nearest) {
    const vnearest* n = (const vnearest*)nearest;
    vd energy = vset(0);
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++, n++) {
        const ct_cell_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vd scale = vload(pass->scale + (size_t)slot * CT_LANES),
                 weight = vload(&block->stiff[v * CT_LANES]);
        const vd a = n->k / n->D[0], b = n->k / n->D[1], c = n->k / n->D[2];
        energy += weight * scale * scale * (a * a + b * b + c * c);
        if (pass->f) scatter(block, vmat3_scale(weight * scale, nearest_difference(n)), pass->f, v);
    }
    return 0.5 * vsum(energy);
}

// The volume's part of the projective energy, with stiffness 3 lambda.
static void cell_linearise(const ct_chamber_pass* pass, const double* nearest, double* linear) {
    const vnearest* n = (const vnearest*)nearest;
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++, n++) {
        const int v = slot % NVECTOR * CT_LANES;
        const vd weight = vload(&pass->block[slot / NVECTOR].stiff[v]);
        projective_linearise(n, vset(0), weight / 3,
                             linear + (size_t)(slot / NVECTOR) * CT_CELL_LINEAR * CT_BLOCK + v);
    }
}

static void cell_product(const ct_chamber_pass* pass, const double* linear) {
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++) {
        const ct_cell_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const double* at = linear + (size_t)(slot / NVECTOR) * CT_CELL_LINEAR * CT_BLOCK + v * CT_LANES;
        scatter(block, projective_product(at, deformation(block, pass->x, v)), pass->f, v);
    }
}

// w of below.
CT_INLINE vd third_slope(const vnearest* n) {
    return n->D[2] / (1 + n->q[2] * n->D[2] * (1 / (n->q[0] * n->D[0]) + 1 / (n->q[1] * n->D[1])));
}

// In the basis: (F - R)_ii = -alpha k/D_i; dR_ii/da = (1/q_i) / (a sum_j 1/(q_j D_j)) = alpha/a w q_2/q_i
// with w = D_2 / (1 + q_2 D_2 sum_{j<2} 1/(q_j D_j)).
static void cell_parameter(const ct_chamber_pass* pass, const double* nearest, double* along, double* force) {
    const vnearest* n = (const vnearest*)nearest;
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++, n++) {
        const vd scale = vload(pass->scale + (size_t)slot * CT_LANES);
        const vmat3 dF = deformation(pass->block + slot / NVECTOR, pass->x, slot % NVECTOR);
        const vmat3 U = vmat3_multiply(n->polar.R, n->V), A = vmat3_multiply(dF, n->V);
        const vd m0 = U.a00 * A.a00 + U.a10 * A.a10 + U.a20 * A.a20,
                 m1 = U.a01 * A.a01 + U.a11 * A.a11 + U.a21 * A.a21;
        const vd m2 = U.a02 * A.a02 + U.a12 * A.a12 + U.a22 * A.a22;
        const vd w = third_slope(n);
        vstore(along + (size_t)slot * CT_LANES,
               w * (m2 + n->q[2] * (m0 / n->q[0] + m1 / n->q[1])) / (scale * scale));
        vstore(force + (size_t)slot * CT_LANES, -scale * n->k * (m0 / n->D[0] + m1 / n->D[1] + m2 / n->D[2]));
    }
}

// U diag(dR_ii/da) V^T
static void cell_spread(const ct_chamber_pass* pass, const double* nearest, const double* da) {
    const vnearest* n = (const vnearest*)nearest;
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++, n++) {
        const ct_cell_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vd scale = vload(pass->scale + (size_t)slot * CT_LANES);
        const vd d2 = vload(&block->stiff[v * CT_LANES]) * vload(da + (size_t)slot * CT_LANES) *
                      third_slope(n) / (scale * scale);
        const vd d0 = d2 * n->q[2] / n->q[0], d1 = d2 * n->q[2] / n->q[1];
        const vmat3 U = vmat3_multiply(n->polar.R, n->V), V = n->V;
        const vmat3 P = {.a00 = d0 * U.a00 * V.a00 + d1 * U.a01 * V.a01 + d2 * U.a02 * V.a02,
                         .a01 = d0 * U.a00 * V.a10 + d1 * U.a01 * V.a11 + d2 * U.a02 * V.a12,
                         .a02 = d0 * U.a00 * V.a20 + d1 * U.a01 * V.a21 + d2 * U.a02 * V.a22,
                         .a10 = d0 * U.a10 * V.a00 + d1 * U.a11 * V.a01 + d2 * U.a12 * V.a02,
                         .a11 = d0 * U.a10 * V.a10 + d1 * U.a11 * V.a11 + d2 * U.a12 * V.a12,
                         .a12 = d0 * U.a10 * V.a20 + d1 * U.a11 * V.a21 + d2 * U.a12 * V.a22,
                         .a20 = d0 * U.a20 * V.a00 + d1 * U.a21 * V.a01 + d2 * U.a22 * V.a02,
                         .a21 = d0 * U.a20 * V.a10 + d1 * U.a21 * V.a11 + d2 * U.a22 * V.a12,
                         .a22 = d0 * U.a20 * V.a20 + d1 * U.a21 * V.a21 + d2 * U.a22 * V.a22};
        scatter(block, P, pass->f, v);
    }
}

const ct_chamber_kernels WITH_ISA(ct_chamber_kernels, CT_ISA) = {
    cell_decompose, cell_decompose_group, cell_gradient, cell_linearise,
    cell_product,   cell_parameter,       cell_spread};
