// Element kernels over blocks of eight tets, compiled once per instruction set (CT_ISA, CT_LANES).
//
// F = Ds Dm^-1 from gathered node positions (of second order: E E(rest)^-1 at each point, shape/cell.h); V
// P from the energy and the damping potential; forces
//     [f1 f2 f3] = V P Dm^-T,  f0 = -(f1 + f2 + f3),
// added to the node sums tet after tet, or stored per tet. See elastic_table.h for inputs and outputs.
#include "force/elastic_table.h"

#include "force/elastic_element.h"
#include "force/elastic_energy.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)
#define TEXT_OF(a) #a
#define NAME_OF(a) TEXT_OF(a)

// S_j - S_0 of the last tets of second order that were asked for, of the configuration x (shape/cell.h).
typedef struct vbase {
    v4 edge[3][CT_BLOCK];
    const ct_elastic_cell* cell;
    const double* x;
} vbase;

static __attribute__((noinline)) void load_base(vbase* base, const ct_elastic_cell* cell, const double* x) {
    base->cell = cell;
    base->x = x;
    for (int slot = 0; slot < CT_BLOCK; slot++) {
        v4 node[CT_CELL_NODES], S[4];
        for (int a = 0; a < CT_CELL_NODES; a++)
            node[a] = *(const v4_unaligned*)(x + 3 * (size_t)cell->node[a][slot]);
        for (int k = 0; k < 4; k++) {
            const unsigned char* pair = ct_cell_pair[k];
            S[k] = 4 * CT_CELL_FAR * ((node[pair[0]] + node[pair[1]]) + (node[pair[2]] + node[pair[3]])) -
                   node[k];
        }
        for (int k = 0; k < 3; k++) base->edge[k][slot] = S[k + 1] - S[0];
    }
}

// E E(rest)^-1 of vector v of a point.
CT_INLINE vmat3 point_deformation(const ct_elastic_pass* pass, int b, const double* x, int v, vbase* base) {
    const ct_elastic_cell* cell = pass->cell + (b - pass->second) / CT_CELL_POINTS;
    const unsigned char* pair = ct_cell_pair[(b - pass->second) % CT_CELL_POINTS];
    if (base->cell != cell || base->x != x) load_base(base, cell, x);
    v4 edge[3][CT_LANES];
    for (int lane = 0; lane < CT_LANES; lane++) {
        const int slot = v * CT_LANES + lane;
        const v4 origin = *(const v4_unaligned*)(x + 3 * (size_t)cell->node[pair[0]][slot]);
        for (int k = 0; k < 3; k++)
            edge[k][lane] =
                base->edge[k][slot] +
                CT_CELL_NEAR *
                    (*(const v4_unaligned*)(x + 3 * (size_t)cell->node[pair[k + 1]][slot]) - origin);
    }
    return vtet_deformation(edge, &pass->block[b].inverse[0][v * CT_LANES], CT_BLOCK);
}

// Ds Dm^-1 of vector v of a block: edges are formed node by node, then transposed to lanes.
CT_INLINE vmat3 deformation(int order, const ct_elastic_pass* pass, int b, const double* x, int v,
                            vbase* base) {
    if (order == 2) return point_deformation(pass, b, x, v, base);
    const ct_elastic_block* block = pass->block + b;
    v4 edge[3][CT_LANES];
    for (int lane = 0; lane < CT_LANES; lane++) {
        const int slot = v * CT_LANES + lane;
        const v4 origin = *(const v4_unaligned*)(x + 3 * (size_t)block->node[0][slot]);
        for (int k = 0; k < 3; k++)
            edge[k][lane] = *(const v4_unaligned*)(x + 3 * (size_t)block->node[k + 1][slot]) - origin;
    }
    return vtet_deformation(edge, &block->inverse[0][v * CT_LANES], CT_BLOCK);
}

// Adds or stores the forces of a block. Not inlined: every caller sums the very same bits.
static __attribute__((noinline)) void add_forces(const ct_elastic_pass* pass, int b, const vmat3* P) {
    const ct_elastic_block* block = pass->block + b;
    for (int v = 0; v < NVECTOR; v++) {
        v4 force[3][CT_LANES];
        vtet_forces(P[v], &block->inverse[0][v * CT_LANES], CT_BLOCK, force);
        for (int lane = 0; lane < CT_LANES; lane++) {
            const int slot = v * CT_LANES + lane;
            const v4 f1 = force[0][lane], f2 = force[1][lane], f3 = force[2][lane], f0 = -(f1 + f2 + f3);
            if (pass->node) {
                *(v4*)(pass->node + 4 * (size_t)block->node[0][slot]) += f0;
                *(v4*)(pass->node + 4 * (size_t)block->node[1][slot]) += f1;
                *(v4*)(pass->node + 4 * (size_t)block->node[2][slot]) += f2;
                *(v4*)(pass->node + 4 * (size_t)block->node[3][slot]) += f3;
            } else {
                v4* element = (v4*)(pass->element + ((size_t)b * CT_BLOCK + slot) * CT_ELEMENT_SIZE);
                element[0] = f0, element[1] = f1, element[2] = f2, element[3] = f3;
            }
        }
    }
}

// The forces of tets of second order so far.
typedef struct vforces {
    v4 node[CT_CELL_NODES][CT_BLOCK];
} vforces;

// Adds the forces of a point to those of its tets, and these, behind the last point, to the nodes.
static __attribute__((noinline)) void add_point_forces(const ct_elastic_pass* pass, int b, const vmat3* P,
                                                       vforces* sum) {
    const int c = (b - pass->second) / CT_CELL_POINTS, q = (b - pass->second) % CT_CELL_POINTS;
    if (q == 0) memset(sum, 0, sizeof *sum);
    for (int v = 0; v < NVECTOR; v++) {
        v4 force[3][CT_LANES];
        vtet_forces(P[v], &pass->block[b].inverse[0][v * CT_LANES], CT_BLOCK, force);
        for (int lane = 0; lane < CT_LANES; lane++) {
            const int slot = v * CT_LANES + lane;
            const v4 f[4] = {-(force[0][lane] + force[1][lane] + force[2][lane]), force[0][lane],
                             force[1][lane], force[2][lane]};
            for (int k = 0; k < 4; k++) {
                for (int m = 0; m < 4; m++) sum->node[ct_cell_pair[k][m]][slot] += 4 * CT_CELL_FAR * f[k];
                sum->node[k][slot] -= f[k];
                sum->node[ct_cell_pair[k][q]][slot] += CT_CELL_NEAR * f[k];
            }
        }
    }
    if (q < CT_CELL_POINTS - 1) return;
    v4* element = (v4*)(pass->element + (size_t)(b - q) * CT_BLOCK * CT_ELEMENT_SIZE);
    for (int slot = 0; slot < CT_BLOCK; slot++, element += CT_ELEMENT_SIZE)
        for (int a = 0; a < CT_CELL_NODES; a++) {
            if (pass->node)
                *(v4*)(pass->node + 4 * (size_t)pass->cell[c].node[a][slot]) += sum->node[a][slot];
            else element[a] = sum->node[a][slot];
        }
}

CT_INLINE void deliver(int order, const ct_elastic_pass* pass, int b, const vmat3* P, vforces* sum) {
    if (order == 2) add_point_forces(pass, b, P, sum);
    else add_forces(pass, b, P);
}

// ---- damping: V P = F sigma, sigma = beta hooke(c G - g)

// c G - g
CT_INLINE vsym3 strain_rate(const ct_elastic_pass* pass, int b, int v, vmat3 F) {
    const vsym3 g = vsym3_load(pass->rate + (size_t)b * 6 * CT_BLOCK + v * CT_LANES, CT_BLOCK),
                G = green_strain(F);
    const vd c = vset(pass->c);
    return (vsym3){c * G.xx - g.xx, c * G.yy - g.yy, c * G.zz - g.zz,
                   c * G.xy - g.xy, c * G.xz - g.xz, c * G.yz - g.yz};
}

CT_INLINE vsym3 damper_stress(const ct_elastic_pass* pass, int b, int v, vmat3 F, vd* energy) {
    const vd beta = vload(pass->beta + (size_t)b * CT_BLOCK + v * CT_LANES);
    const vsym3 r = strain_rate(pass, b, v, F);
    const vsym3 sigma = hooke(r, beta * vload(&pass->block[b].mu[v * CT_LANES]),
                              beta * vload(&pass->block[b].lambda[v * CT_LANES]));
    *energy = vsym3_dot(sigma, r) * (0.5 / pass->c);
    return sigma;
}

static __attribute__((noinline)) double damper_gradient(const ct_elastic_pass* pass, int b, const vmat3* F,
                                                        vmat3* P) {
    vd energy, total = vset(0);
    for (int v = 0; v < NVECTOR; v++) {
        const vsym3 sigma = damper_stress(pass, b, v, F[v], &energy);
        P[v] = vmat3_axpy(P[v], vset(1), vmat3_multiply_sym(F[v], sigma));
        total += energy;
    }
    return vsum(total);
}

static __attribute__((noinline)) void damper_linearise(const ct_elastic_pass* pass, int b, const vmat3* F,
                                                       double* linear) {
    for (int v = 0; v < NVECTOR; v++) {
        vd energy;
        double* damper = linear + v * CT_LANES;
        vmat3_store(damper, CT_BLOCK, F[v]);
        vsym3_store(damper + 9 * CT_BLOCK, CT_BLOCK, damper_stress(pass, b, v, F[v], &energy));
    }
}

static __attribute__((noinline)) void damper_product(const ct_elastic_pass* pass, int b, const double* linear,
                                                     const vmat3* dF, vmat3* P) {
    for (int v = 0; v < NVECTOR; v++) {
        const double* damper = linear + v * CT_LANES;
        const vd scale = pass->c * vload(pass->beta + (size_t)b * CT_BLOCK + v * CT_LANES);
        const vd mu = scale * vload(&pass->block[b].mu[v * CT_LANES]),
                 lambda = scale * vload(&pass->block[b].lambda[v * CT_LANES]);
        const vmat3 F = vmat3_load(damper, CT_BLOCK);
        const vsym3 sigma = vsym3_load(damper + 9 * CT_BLOCK, CT_BLOCK);
        P[v] = vmat3_axpy(P[v], vset(1), strain_product(F, sigma, dF[v], mu, lambda));
    }
}

// Derivatives of sigma : sym(F^T dF) by mu and lambda, added, and by beta.
static __attribute__((noinline)) void damper_parameter(const ct_elastic_pass* pass, int b, const vmat3* F,
                                                       const vmat3* dF, double* values) {
    for (int v = 0; v < NVECTOR; v++) {
        double* value = values + v * CT_LANES;
        const size_t lane = (size_t)b * CT_BLOCK + v * CT_LANES;
        const vd viscous = vload(pass->beta + lane) * vload(pass->volume + lane);
        vd d_mu, d_lambda;
        strain_parameter(strain_rate(pass, b, v, F[v]), vmat3_sym_product(F[v], dF[v]), &d_mu, &d_lambda);
        vstore(value, vload(value) + viscous * d_mu);
        vstore(value + CT_BLOCK, vload(value + CT_BLOCK) + viscous * d_lambda);
        vstore(value + 2 * CT_BLOCK, vload(&pass->block[b].mu[v * CT_LANES]) * d_mu +
                                         vload(&pass->block[b].lambda[v * CT_LANES]) * d_lambda);
    }
}

// ---- the passes, instantiated per energy below

// F of the blocks b, b+1, ... of a group that ends before `end` (its last block is repeated), and what
// follows from it.
CT_INLINE void prepare(int order, int energy, const ct_elastic_pass* pass, int b, int end, vbase* base,
                       vgroup* group) {
    for (int v = 0; v < NGROUP; v++) {
        const int block = b + v / NVECTOR < end ? b + v / NVECTOR : end - 1;
        group->F[v] = deformation(order, pass, block, pass->x, v % NVECTOR, base);
    }
    energy_prepare(energy, group);
}

CT_INLINE double gradient(int order, int energy, const ct_elastic_pass* pass, int first, int count) {
    double total = 0;
    vbase base = {.cell = NULL};
    vforces sum_of;
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(order, energy, pass, b, end, &base, &group);
        for (int k = 0; k < GROUP && b + k < end; k++) {
            const ct_elastic_block* block = pass->block + b + k;
            vmat3 P[NVECTOR];
            vd sum = vset(0);
            for (int v = 0; v < NVECTOR; v++)
                sum += energy_stress(energy, &group, k * NVECTOR + v, vload(&block->mu[v * CT_LANES]),
                                     vload(&block->lambda[v * CT_LANES]), &P[v]);
            if (pass->rate) total += damper_gradient(pass, b + k, group.F + k * NVECTOR, P);
            total += vsum(sum);
            deliver(order, pass, b + k, P, &sum_of);
        }
    }
    return total;
}

CT_INLINE void linearise(int order, int energy, int size, const ct_elastic_pass* pass, int first, int count,
                         double* linear) {
    vbase base = {.cell = NULL};
    const int stride = (size + (pass->rate ? CT_LINEAR_DAMPER : 0)) * CT_BLOCK;
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(order, energy, pass, b, end, &base, &group);
        for (int k = 0; k < GROUP && b + k < end; k++, linear += stride) {
            const ct_elastic_block* block = pass->block + b + k;
            for (int v = 0; v < NVECTOR; v++)
                energy_linearise(energy, &group, k * NVECTOR + v, vload(&block->mu[v * CT_LANES]),
                                 vload(&block->lambda[v * CT_LANES]), linear + v * CT_LANES);
            if (pass->rate) damper_linearise(pass, b + k, group.F + k * NVECTOR, linear + size * CT_BLOCK);
        }
    }
}

CT_INLINE void product(int order, int energy, int size, const ct_elastic_pass* pass, int first, int count,
                       const double* linear) {
    vbase base = {.cell = NULL};
    vforces sum;
    const int stride = (size + (pass->rate ? CT_LINEAR_DAMPER : 0)) * CT_BLOCK;
    for (int b = first; b < first + count; b++, linear += stride) {
        const ct_elastic_block* block = pass->block + b;
        vmat3 P[NVECTOR];
        for (int v = 0; v < NVECTOR; v++)
            P[v] =
                energy_product(energy, linear + v * CT_LANES, deformation(order, pass, b, pass->x, v, &base),
                               vload(&block->mu[v * CT_LANES]), vload(&block->lambda[v * CT_LANES]));
        if (pass->rate) {
            vmat3 dF[NVECTOR];
            for (int v = 0; v < NVECTOR; v++) dF[v] = deformation(order, pass, b, pass->x, v, &base);
            damper_product(pass, b, linear + size * CT_BLOCK, dF, P);
        }
        deliver(order, pass, b, P, &sum);
    }
}

CT_INLINE void hessian(int energy, int size, const ct_elastic_pass* pass, int b, const double* linear,
                       double* out) {
    const ct_elastic_block* block = pass->block + b;
    for (int j = 0; j < 9; j++) {
        vmat3 dF[NVECTOR], P[NVECTOR];
        for (int v = 0; v < NVECTOR; v++) {
            dF[v] = (vmat3){vset(j == 0), vset(j == 1), vset(j == 2), vset(j == 3), vset(j == 4),
                            vset(j == 5), vset(j == 6), vset(j == 7), vset(j == 8)};
            P[v] = energy_product(energy, linear + v * CT_LANES, dF[v], vload(&block->mu[v * CT_LANES]),
                                  vload(&block->lambda[v * CT_LANES]));
        }
        if (pass->rate) damper_product(pass, b, linear + size * CT_BLOCK, dF, P);
        for (int v = 0; v < NVECTOR; v++)
            vmat3_store(out + (size_t)j * CT_BLOCK + v * CT_LANES, 9 * CT_BLOCK, P[v]);
    }
}

CT_INLINE void stress(int order, int energy, const ct_elastic_pass* pass, int b, double* values) {
    const ct_elastic_block* block = pass->block + b;
    vgroup group;
    vmat3 P;
    vbase base = {.cell = NULL};
    prepare(order, energy, pass, b, b + 1, &base, &group);
    for (int v = 0; v < NVECTOR; v++) {
        double* value = values + v * CT_LANES;
        vstore(value, energy_stress(energy, &group, v, vload(&block->mu[v * CT_LANES]),
                                    vload(&block->lambda[v * CT_LANES]), &P));
        vmat3_store(value + CT_BLOCK, CT_BLOCK, group.F[v]);
        vmat3_store(value + 10 * CT_BLOCK, CT_BLOCK, P);
    }
}

CT_INLINE void parameter(int order, int energy, const ct_elastic_pass* pass, int first, int count,
                         double* values) {
    vbase base = {.cell = NULL}, base_lam = {.cell = NULL};
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(order, energy, pass, b, end, &base, &group);
        for (int k = 0; k < GROUP && b + k < end; k++, values += 3 * CT_BLOCK) {
            vmat3 dF[NVECTOR];
            for (int v = 0; v < NVECTOR; v++) {
                const vd volume = vload(pass->volume + (size_t)(b + k) * CT_BLOCK + v * CT_LANES);
                vd d_mu, d_lambda;
                dF[v] = deformation(order, pass, b + k, pass->lam, v, &base_lam);
                energy_parameter(energy, &group, k * NVECTOR + v, dF[v], &d_mu, &d_lambda);
                vstore(values + v * CT_LANES, volume * d_mu);
                vstore(values + CT_BLOCK + v * CT_LANES, volume * d_lambda);
                vstore(values + 2 * CT_BLOCK + v * CT_LANES, vset(0));
            }
            if (pass->rate) damper_parameter(pass, b + k, group.F + k * NVECTOR, dF, values);
        }
    }
}

#define KERNELS_OF(name, order, energy, size)                                                                \
    static double name##_gradient(const ct_elastic_pass* pass, int first, int count) {                       \
        return gradient(order, energy, pass, first, count);                                                  \
    }                                                                                                        \
    static void name##_linearise_blocks(const ct_elastic_pass* pass, int first, int count, double* linear) { \
        linearise(order, energy, size, pass, first, count, linear);                                          \
    }                                                                                                        \
    static void name##_product_blocks(const ct_elastic_pass* pass, int first, int count,                     \
                                      const double* linear) {                                                \
        product(order, energy, size, pass, first, count, linear);                                            \
    }                                                                                                        \
    static void name##_stress_block(const ct_elastic_pass* pass, int block, double* values) {                \
        stress(order, energy, pass, block, values);                                                          \
    }                                                                                                        \
    static void name##_parameter(const ct_elastic_pass* pass, int first, int count, double* values) {        \
        parameter(order, energy, pass, first, count, values);                                                \
    }
#define KERNELS_OF_BOTH(name, energy, size)                                                                  \
    KERNELS_OF(name, 1, energy, size)                                                                        \
    KERNELS_OF(name##2, 2, energy, size)                                                                     \
    static void name##_hessian(const ct_elastic_pass* pass, int block, const double* linear, double* out) {  \
        hessian(energy, size, pass, block, linear, out);                                                     \
    }

KERNELS_OF_BOTH(corotated, CT_ENERGY_COROTATED, CT_LINEAR_COROTATED)
KERNELS_OF_BOTH(projective, CT_ENERGY_PROJECTIVE, CT_LINEAR_PROJECTIVE)
KERNELS_OF_BOTH(neohookean, CT_ENERGY_NEOHOOKEAN, CT_LINEAR_NEOHOOKEAN)
KERNELS_OF_BOTH(stvk, CT_ENERGY_STVK, CT_LINEAR_STVK)

// Rows of a matrix, lane after lane.
CT_INLINE void rows_of(vmat3 F, v4 row[3][CT_LANES]) {
    vtranspose_out((vvec3){F.a00, F.a01, F.a02}, row[0]);
    vtranspose_out((vvec3){F.a10, F.a11, F.a12}, row[1]);
    vtranspose_out((vvec3){F.a20, F.a21, F.a22}, row[2]);
}

static void all_deformation(const ct_elastic_pass* pass, int first, int count) {
    for (int slot = first * NVECTOR; slot < (first + count) * NVECTOR; slot++) {
        const ct_elastic_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR * CT_LANES;
        v4 row[3][CT_LANES];
        rows_of(vmat3_scale(vload(pass->volume + (size_t)slot * CT_LANES),
                            deformation(1, pass, slot / NVECTOR, pass->x, slot % NVECTOR, NULL)),
                row);
        for (int lane = 0; lane < CT_LANES; lane++) {
            v4* element = (v4*)(pass->element + ((size_t)slot * CT_LANES + lane) * CT_ELEMENT_SIZE);
            for (int i = 0; i < 3 && !pass->node; i++) element[i] = row[i][lane];
            for (int k = 0; k < 4 && pass->node; k++) {
                v4* node = (v4*)(pass->node + CT_NODE_SIZE * (size_t)block->node[k][v + lane]);
                node[0] += row[0][lane], node[1] += row[1][lane], node[2] += row[2][lane];
            }
        }
    }
}

// Of second order: the sum over a tet's points, for all its nodes.
static void all_deformation2(const ct_elastic_pass* pass, int first, int count) {
    vbase base = {.cell = NULL};
    for (int b = first; b < first + count; b += CT_CELL_POINTS)
        for (int v = 0; v < NVECTOR; v++) {
            const ct_elastic_cell* cell = pass->cell + (b - pass->second) / CT_CELL_POINTS;
            vmat3 sum = {0};
            for (int q = 0; q < CT_CELL_POINTS; q++)
                sum = vmat3_axpy(sum, vload(pass->volume + (size_t)(b + q) * CT_BLOCK + v * CT_LANES),
                                 point_deformation(pass, b + q, pass->x, v, &base));
            v4 row[3][CT_LANES];
            rows_of(sum, row);
            for (int i = 0; i < 3 * CT_LANES; i++) {
                const int slot = v * CT_LANES + i / 3, k = i % 3;
                v4* element =
                    (v4*)(pass->element + ((size_t)b * CT_BLOCK + 4 * (size_t)slot) * CT_ELEMENT_SIZE);
                for (int copy = 0; copy < 3 && !pass->node; copy++) element[4 * copy + k] = row[k][i / 3];
                for (int a = 0; a < CT_CELL_NODES && pass->node; a++)
                    *(v4*)(pass->node + CT_NODE_SIZE * (size_t)cell->node[a][slot] + 4 * k) += row[k][i / 3];
            }
        }
}

CT_INLINE void strain(int order, const ct_elastic_pass* pass, int first, int count, double a, double* rate) {
    vbase base = {.cell = NULL};
    for (int b = first; b < first + count; b++)
        for (int v = 0; v < NVECTOR; v++) {
            double* g = rate + (size_t)b * 6 * CT_BLOCK + v * CT_LANES;
            const vsym3 G = green_strain(deformation(order, pass, b, pass->x, v, &base));
            vsym3_store(g, CT_BLOCK, vsym3_axpy(vsym3_load(g, CT_BLOCK), vset(a), G));
        }
}

CT_INLINE void history(int order, const ct_elastic_pass* pass, int first, int count, double a) {
    vbase base[3] = {{.cell = NULL}, {.cell = NULL}, {.cell = NULL}};
    vforces sum;
    for (int b = first; b < first + count; b++) {
        const ct_elastic_block* block = pass->block + b;
        vmat3 P[NVECTOR];
        for (int v = 0; v < NVECTOR; v++) {
            const vd scale = a * vload(pass->beta + (size_t)b * CT_BLOCK + v * CT_LANES);
            const vsym3 dG = vmat3_sym_product(deformation(order, pass, b, pass->now, v, &base[0]),
                                               deformation(order, pass, b, pass->lam, v, &base[1]));
            const vsym3 sigma = hooke(dG, scale * vload(&block->mu[v * CT_LANES]),
                                      scale * vload(&block->lambda[v * CT_LANES]));
            P[v] = vmat3_multiply_sym(deformation(order, pass, b, pass->x, v, &base[2]), sigma);
        }
        deliver(order, pass, b, P, &sum);
    }
}

static void all_strain(const ct_elastic_pass* pass, int first, int count, double a, double* rate) {
    strain(1, pass, first, count, a, rate);
}
static void all_strain2(const ct_elastic_pass* pass, int first, int count, double a, double* rate) {
    strain(2, pass, first, count, a, rate);
}
static void all_history(const ct_elastic_pass* pass, int first, int count, double a) {
    history(1, pass, first, count, a);
}
static void all_history2(const ct_elastic_pass* pass, int first, int count, double a) {
    history(2, pass, first, count, a);
}

static void all_polar(const double* F, double* R) {
    vmat3 A[NGROUP];
    vroot root[NGROUP];
    for (int v = 0; v < NGROUP; v++) A[v] = vmat3_load(F + v % NVECTOR * CT_LANES, CT_BLOCK);
    polar_roots(A, root);
    for (int v = 0; v < NVECTOR; v++) vmat3_store(R + v * CT_LANES, CT_BLOCK, polar_of(&A[v], &root[v]).R);
}

const ct_elastic_kernels WITH_ISA(ct_elastic_kernels, CT_ISA) = {
    .name = NAME_OF(CT_ISA),
    .gradient = {{corotated_gradient, projective_gradient, neohookean_gradient, stvk_gradient},
                 {corotated2_gradient, projective2_gradient, neohookean2_gradient, stvk2_gradient}},
    .linearise = {{corotated_linearise_blocks, projective_linearise_blocks, neohookean_linearise_blocks,
                   stvk_linearise_blocks},
                  {corotated2_linearise_blocks, projective2_linearise_blocks, neohookean2_linearise_blocks,
                   stvk2_linearise_blocks}},
    .product = {{corotated_product_blocks, projective_product_blocks, neohookean_product_blocks,
                 stvk_product_blocks},
                {corotated2_product_blocks, projective2_product_blocks, neohookean2_product_blocks,
                 stvk2_product_blocks}},
    .hessian = {corotated_hessian, projective_hessian, neohookean_hessian, stvk_hessian},
    .is_positive = element_is_positive,
    .project = element_project,
    .positive_stress = element_positive_stress,
    .nodes = element_nodes,
    .stress = {{corotated_stress_block, projective_stress_block, neohookean_stress_block, stvk_stress_block},
               {corotated2_stress_block, projective2_stress_block, neohookean2_stress_block,
                stvk2_stress_block}},
    .parameter = {{corotated_parameter, projective_parameter, neohookean_parameter, stvk_parameter},
                  {corotated2_parameter, projective2_parameter, neohookean2_parameter, stvk2_parameter}},
    .deformation = {all_deformation, all_deformation2},
    .strain = {all_strain, all_strain2},
    .history = {all_history, all_history2},
    .polar = all_polar,
};
