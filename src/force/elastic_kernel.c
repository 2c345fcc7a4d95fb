// Element kernels over blocks of eight tets, compiled once per instruction set (CT_ISA, CT_LANES).
//
// F = Ds Dm^-1 from gathered node positions; V P from the energy and the damping potential; forces
//     [f1 f2 f3] = V P Dm^-T,  f0 = -(f1 + f2 + f3),
// added to the node sums tet after tet, or stored per tet. See elastic_table.h for inputs and outputs.
#include "force/elastic_table.h"

#include "force/elastic_energy.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)
#define TEXT_OF(a) #a
#define NAME_OF(a) TEXT_OF(a)

// Ds Dm^-1 of vector v of a block: edges are formed node by node, then transposed to lanes.
CT_INLINE vmat3 deformation(const ct_elastic_block* block, const double* x, int v) {
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
                                                       double* values) {
    for (int v = 0; v < NVECTOR; v++) {
        double* value = values + v * CT_LANES;
        const size_t lane = (size_t)b * CT_BLOCK + v * CT_LANES;
        const vd viscous = vload(pass->beta + lane) * vload(pass->volume + lane);
        vd d_mu, d_lambda;
        strain_parameter(strain_rate(pass, b, v, F[v]),
                         vmat3_sym_product(F[v], deformation(pass->block + b, pass->lam, v)), &d_mu,
                         &d_lambda);
        vstore(value, vload(value) + viscous * d_mu);
        vstore(value + CT_BLOCK, vload(value + CT_BLOCK) + viscous * d_lambda);
        vstore(value + 2 * CT_BLOCK, vload(&pass->block[b].mu[v * CT_LANES]) * d_mu +
                                         vload(&pass->block[b].lambda[v * CT_LANES]) * d_lambda);
    }
}

// ---- the passes, instantiated per energy below

// F of the blocks b, b+1, ... of a group that ends before `end` (its last block is repeated), and what
// follows from it.
CT_INLINE void prepare(int energy, const ct_elastic_pass* pass, int b, int end, vgroup* group) {
    for (int v = 0; v < NGROUP; v++) {
        const int block = b + v / NVECTOR < end ? b + v / NVECTOR : end - 1;
        group->F[v] = deformation(pass->block + block, pass->x, v % NVECTOR);
    }
    energy_prepare(energy, group);
}

CT_INLINE double gradient(int energy, const ct_elastic_pass* pass, int first, int count) {
    double total = 0;
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(energy, pass, b, end, &group);
        for (int k = 0; k < GROUP && b + k < end; k++) {
            const ct_elastic_block* block = pass->block + b + k;
            vmat3 P[NVECTOR];
            vd sum = vset(0);
            for (int v = 0; v < NVECTOR; v++)
                sum += energy_stress(energy, &group, k * NVECTOR + v, vload(&block->mu[v * CT_LANES]),
                                     vload(&block->lambda[v * CT_LANES]), &P[v]);
            if (pass->rate) total += damper_gradient(pass, b + k, group.F + k * NVECTOR, P);
            total += vsum(sum);
            add_forces(pass, b + k, P);
        }
    }
    return total;
}

CT_INLINE void linearise(int energy, int size, const ct_elastic_pass* pass, int first, int count,
                         double* linear) {
    const int stride = (size + (pass->rate ? CT_LINEAR_DAMPER : 0)) * CT_BLOCK;
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(energy, pass, b, end, &group);
        for (int k = 0; k < GROUP && b + k < end; k++, linear += stride) {
            const ct_elastic_block* block = pass->block + b + k;
            for (int v = 0; v < NVECTOR; v++)
                energy_linearise(energy, &group, k * NVECTOR + v, vload(&block->mu[v * CT_LANES]),
                                 vload(&block->lambda[v * CT_LANES]), linear + v * CT_LANES);
            if (pass->rate) damper_linearise(pass, b + k, group.F + k * NVECTOR, linear + size * CT_BLOCK);
        }
    }
}

CT_INLINE void product(int energy, int size, const ct_elastic_pass* pass, int first, int count,
                       const double* linear) {
    const int stride = (size + (pass->rate ? CT_LINEAR_DAMPER : 0)) * CT_BLOCK;
    for (int b = first; b < first + count; b++, linear += stride) {
        const ct_elastic_block* block = pass->block + b;
        vmat3 P[NVECTOR];
        for (int v = 0; v < NVECTOR; v++)
            P[v] = energy_product(energy, linear + v * CT_LANES, deformation(block, pass->x, v),
                                  vload(&block->mu[v * CT_LANES]), vload(&block->lambda[v * CT_LANES]));
        if (pass->rate) {
            vmat3 dF[NVECTOR];
            for (int v = 0; v < NVECTOR; v++) dF[v] = deformation(block, pass->x, v);
            damper_product(pass, b, linear + size * CT_BLOCK, dF, P);
        }
        add_forces(pass, b, P);
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

CT_INLINE void stress(int energy, const ct_elastic_pass* pass, int b, double* values) {
    const ct_elastic_block* block = pass->block + b;
    vgroup group;
    vmat3 P;
    prepare(energy, pass, b, b + 1, &group);
    for (int v = 0; v < NVECTOR; v++) {
        double* value = values + v * CT_LANES;
        vstore(value, energy_stress(energy, &group, v, vload(&block->mu[v * CT_LANES]),
                                    vload(&block->lambda[v * CT_LANES]), &P));
        vmat3_store(value + CT_BLOCK, CT_BLOCK, group.F[v]);
        vmat3_store(value + 10 * CT_BLOCK, CT_BLOCK, P);
    }
}

CT_INLINE void parameter(int energy, const ct_elastic_pass* pass, int first, int count, double* values) {
    for (int b = first, end = first + count; b < end; b += GROUP) {
        vgroup group;
        prepare(energy, pass, b, end, &group);
        for (int k = 0; k < GROUP && b + k < end; k++, values += 3 * CT_BLOCK) {
            for (int v = 0; v < NVECTOR; v++) {
                const vd volume = vload(pass->volume + (size_t)(b + k) * CT_BLOCK + v * CT_LANES);
                vd d_mu, d_lambda;
                energy_parameter(energy, &group, k * NVECTOR + v,
                                 deformation(pass->block + b + k, pass->lam, v), &d_mu, &d_lambda);
                vstore(values + v * CT_LANES, volume * d_mu);
                vstore(values + CT_BLOCK + v * CT_LANES, volume * d_lambda);
                vstore(values + 2 * CT_BLOCK + v * CT_LANES, vset(0));
            }
            if (pass->rate) damper_parameter(pass, b + k, group.F + k * NVECTOR, values);
        }
    }
}

#define KERNELS_OF(name, energy, size)                                                                       \
    static double name##_gradient(const ct_elastic_pass* pass, int first, int count) {                       \
        return gradient(energy, pass, first, count);                                                         \
    }                                                                                                        \
    static void name##_linearise_blocks(const ct_elastic_pass* pass, int first, int count, double* linear) { \
        linearise(energy, size, pass, first, count, linear);                                                 \
    }                                                                                                        \
    static void name##_product_blocks(const ct_elastic_pass* pass, int first, int count,                     \
                                      const double* linear) {                                                \
        product(energy, size, pass, first, count, linear);                                                   \
    }                                                                                                        \
    static void name##_hessian(const ct_elastic_pass* pass, int block, const double* linear, double* out) {  \
        hessian(energy, size, pass, block, linear, out);                                                     \
    }                                                                                                        \
    static void name##_stress_block(const ct_elastic_pass* pass, int block, double* values) {                \
        stress(energy, pass, block, values);                                                                 \
    }                                                                                                        \
    static void name##_parameter(const ct_elastic_pass* pass, int first, int count, double* values) {        \
        parameter(energy, pass, first, count, values);                                                       \
    }

KERNELS_OF(corotated, CT_ENERGY_COROTATED, CT_LINEAR_COROTATED)
KERNELS_OF(projective, CT_ENERGY_PROJECTIVE, CT_LINEAR_PROJECTIVE)
KERNELS_OF(neohookean, CT_ENERGY_NEOHOOKEAN, CT_LINEAR_NEOHOOKEAN)
KERNELS_OF(stvk, CT_ENERGY_STVK, CT_LINEAR_STVK)

static void all_deformation(const ct_elastic_pass* pass, int first, int count) {
    for (int slot = first * NVECTOR; slot < (first + count) * NVECTOR; slot++) {
        const ct_elastic_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR * CT_LANES;
        const vmat3 F = vmat3_scale(vload(pass->volume + (size_t)slot * CT_LANES),
                                    deformation(block, pass->x, slot % NVECTOR));
        v4 row[3][CT_LANES];
        vtranspose_out((vvec3){F.a00, F.a01, F.a02}, row[0]);
        vtranspose_out((vvec3){F.a10, F.a11, F.a12}, row[1]);
        vtranspose_out((vvec3){F.a20, F.a21, F.a22}, row[2]);
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

static void all_strain(const ct_elastic_pass* pass, int first, int count, double a, double* rate) {
    for (int b = first; b < first + count; b++)
        for (int v = 0; v < NVECTOR; v++) {
            double* g = rate + (size_t)b * 6 * CT_BLOCK + v * CT_LANES;
            const vsym3 G = green_strain(deformation(pass->block + b, pass->x, v));
            vsym3_store(g, CT_BLOCK, vsym3_axpy(vsym3_load(g, CT_BLOCK), vset(a), G));
        }
}

static void all_history(const ct_elastic_pass* pass, int first, int count, double a) {
    for (int b = first; b < first + count; b++) {
        const ct_elastic_block* block = pass->block + b;
        vmat3 P[NVECTOR];
        for (int v = 0; v < NVECTOR; v++) {
            const vd scale = a * vload(pass->beta + (size_t)b * CT_BLOCK + v * CT_LANES);
            const vsym3 dG =
                vmat3_sym_product(deformation(block, pass->now, v), deformation(block, pass->lam, v));
            const vsym3 sigma = hooke(dG, scale * vload(&block->mu[v * CT_LANES]),
                                      scale * vload(&block->lambda[v * CT_LANES]));
            P[v] = vmat3_multiply_sym(deformation(block, pass->x, v), sigma);
        }
        add_forces(pass, b, P);
    }
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
    .gradient = {corotated_gradient, projective_gradient, neohookean_gradient, stvk_gradient},
    .linearise = {corotated_linearise_blocks, projective_linearise_blocks, neohookean_linearise_blocks,
                  stvk_linearise_blocks},
    .product = {corotated_product_blocks, projective_product_blocks, neohookean_product_blocks,
                stvk_product_blocks},
    .hessian = {corotated_hessian, projective_hessian, neohookean_hessian, stvk_hessian},
    .stress = {corotated_stress_block, projective_stress_block, neohookean_stress_block, stvk_stress_block},
    .parameter = {corotated_parameter, projective_parameter, neohookean_parameter, stvk_parameter},
    .deformation = all_deformation,
    .strain = all_strain,
    .history = all_history,
    .polar = all_polar,
};
