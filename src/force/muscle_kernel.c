// Kernels over blocks of eight fibres, compiled once per instruction set (CT_ISA, CT_LANES); the equations
// are in muscle.h.
//
// y is formed fibre by fibre, from four nodes of four doubles each, and transposed to lanes; forces go back
// the same way, to the nodes fibre after fibre.
#include "force/muscle_kernel.h"

#include "force/elastic_vector.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)
#define NVECTOR (CT_FIBRE_BLOCK / CT_LANES)

// y = sum_j c_j x_j
CT_INLINE vvec3 gather(const ct_fibre_block* block, const double* x, int v) {
    v4 y[CT_LANES];
    for (int lane = 0; lane < CT_LANES; lane++) {
        const int* node = block->node[v * CT_LANES + lane];
        const double* c = block->slope[v * CT_LANES + lane];
        const v4 first =
            c[0] * *(const v4*)(x + 4 * (size_t)node[0]) + c[1] * *(const v4*)(x + 4 * (size_t)node[1]);
        const v4 second =
            c[2] * *(const v4*)(x + 4 * (size_t)node[2]) + c[3] * *(const v4*)(x + 4 * (size_t)node[3]);
        y[lane] = first + second;
    }
    return vtranspose_in(y);
}

CT_INLINE void scatter(const ct_fibre_block* block, vvec3 p, double* f, int v) {
    v4 force[CT_LANES];
    vtranspose_out(p, force);
    for (int lane = 0; lane < CT_LANES; lane++)
        for (int j = 0; j < 4; j++)
            *(v4*)(f + 4 * (size_t)block->node[v * CT_LANES + lane][j]) +=
                block->slope[v * CT_LANES + lane][j] * force[lane];
}

// r = 1 - a
CT_INLINE vd wanted(const ct_fibre_block* block, const double* activation, int v) {
    double a[CT_LANES] __attribute__((aligned(8 * CT_LANES)));
    for (int lane = 0; lane < CT_LANES; lane++) a[lane] = activation[block->segment[v * CT_LANES + lane]];
    return 1 - vload(a);
}

CT_INLINE vd dot(vvec3 a, vvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static double fibre_gradient(const ct_muscle_pass* pass) {
    vd energy = vset(0);
    for (int b = 0; b < pass->nblock; b++)
        for (int v = 0; v < NVECTOR; v++) {
            const ct_fibre_block* block = pass->block + b;
            const vvec3 y = gather(block, pass->x, v);
            const vd l = vsqrt(dot(y, y)), excess = l - wanted(block, pass->activation, v);
            const vd tension = vload(&block->stiff[v * CT_LANES]) * excess,
                     t = tension / vmax(l, vset(CT_FIBRE_SHORTEST));
            energy += tension * excess;
            if (pass->f) scatter(block, (vvec3){t * y.x, t * y.y, t * y.z}, pass->f, v);
        }
    return 0.5 * vsum(energy);
}

static void fibre_linearise(const ct_muscle_pass* pass, double* linear) {
    for (int b = 0; b < pass->nblock; b++, linear += CT_FIBRE_LINEAR * CT_FIBRE_BLOCK)
        for (int v = 0; v < NVECTOR; v++) {
            const ct_fibre_block* block = pass->block + b;
            double* at = linear + v * CT_LANES;
            const vvec3 y = gather(block, pass->x, v);
            const vd inverse = 1 / vmax(vsqrt(dot(y, y)), vset(CT_FIBRE_SHORTEST)),
                     g = vload(&block->stiff[v * CT_LANES]);
            vstore(at, inverse * y.x), vstore(at + CT_FIBRE_BLOCK, inverse * y.y),
                vstore(at + 2 * CT_FIBRE_BLOCK, inverse * y.z);
            vstore(at + 3 * CT_FIBRE_BLOCK, g * (1 - wanted(block, pass->activation, v) * inverse));
            vstore(at + 4 * CT_FIBRE_BLOCK, g);
        }
}

static void fibre_product(const ct_muscle_pass* pass, const double* linear) {
    for (int b = 0; b < pass->nblock; b++, linear += CT_FIBRE_LINEAR * CT_FIBRE_BLOCK)
        for (int v = 0; v < NVECTOR; v++) {
            const double* at = linear + v * CT_LANES;
            const vvec3 dy = gather(pass->block + b, pass->x, v);
            const vvec3 u = {vload(at), vload(at + CT_FIBRE_BLOCK), vload(at + 2 * CT_FIBRE_BLOCK)};
            const vd across = vload(at + 3 * CT_FIBRE_BLOCK),
                     s = (vload(at + 4 * CT_FIBRE_BLOCK) - across) * dot(u, dy);
            scatter(pass->block + b,
                    (vvec3){across * dy.x + s * u.x, across * dy.y + s * u.y, across * dy.z + s * u.z},
                    pass->f, v);
        }
}

static void fibre_parameter(const ct_muscle_pass* pass, const double* lam, double* pull, double* excess) {
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++) {
        const ct_fibre_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vvec3 y = gather(block, pass->x, v), dy = gather(block, lam, v);
        const vd l = vsqrt(dot(y, y));
        vstore(pull + slot * CT_LANES,
               vload(&block->weight[v * CT_LANES]) * dot(y, dy) / vmax(l, vset(CT_FIBRE_SHORTEST)));
        vstore(excess + slot * CT_LANES, l - wanted(block, pass->activation, v));
    }
}

static void fibre_spread(const ct_muscle_pass* pass, const double* change) {
    for (int slot = 0; slot < pass->nblock * NVECTOR; slot++) {
        const ct_fibre_block* block = pass->block + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vvec3 y = gather(block, pass->x, v);
        const vd t = vload(&block->stiff[v * CT_LANES]) * (wanted(block, change, v) - 1) /
                     vmax(vsqrt(dot(y, y)), vset(CT_FIBRE_SHORTEST));
        scatter(block, (vvec3){t * y.x, t * y.y, t * y.z}, pass->f, v);
    }
}

const ct_muscle_kernels WITH_ISA(ct_muscle_kernels, CT_ISA) = {fibre_gradient, fibre_linearise, fibre_product,
                                                               fibre_parameter, fibre_spread};
