// Kernels of membranes over blocks of eight triangles, compiled once per instruction set (CT_ISA, CT_LANES);
// the equations are in sheet_energy.h. Those of bending are in sheet_bend_kernel.c.
//
// Edges are formed element by element and transposed to lanes; forces go back the same way, to the nodes
// element after element. The corner where edges begin has minus the sum of the other forces.
#include "force/sheet_kernel.h"

#include <math.h>

#include "cuttle.h"
#include "force/sheet_vector.h"

#define NARROWEST 1e-9  // smallest J that is divided by, CT_SHEET_NARROWEST

typedef struct columns {
    vvec3 a, b;
} columns;

CT_INLINE columns deformation(const ct_membrane_block* block, const double* x, int v) {
    const vvec3 a = edge(x, block->node[0], block->node[1], v),
                b = edge(x, block->node[0], block->node[2], v);
    const int at = v * CT_LANES;
    return (columns){axpy(scale(vload(&block->inverse[0][at]), a), vload(&block->inverse[2][at]), b),
                     axpy(scale(vload(&block->inverse[1][at]), a), vload(&block->inverse[3][at]), b)};
}

// Adds the forces of the stress P. Not inlined: every caller sums the very same bits.
static __attribute__((noinline)) void add_stress(const ct_membrane_block* block, const columns* P, int v,
                                                 double* node) {
    const int at = v * CT_LANES;
    v4 f1[CT_LANES], f2[CT_LANES];
    vtranspose_out(axpy(scale(vload(&block->inverse[0][at]), P->a), vload(&block->inverse[1][at]), P->b), f1);
    vtranspose_out(axpy(scale(vload(&block->inverse[2][at]), P->a), vload(&block->inverse[3][at]), P->b), f2);
    for (int lane = 0; lane < CT_LANES; lane++) {
        *(v4*)(node + 4 * (size_t)block->node[0][at + lane]) -= f1[lane] + f2[lane];
        *(v4*)(node + 4 * (size_t)block->node[1][at + lane]) += f1[lane];
        *(v4*)(node + 4 * (size_t)block->node[2][at + lane]) += f2[lane];
    }
}

// W and its slopes by I and J; those that a caller does not read cost nothing.
typedef struct slopes {
    vd W, I, J, II, IJ, JJ;
} slopes;

CT_INLINE slopes slopes_of(int energy, vd mu, vd lambda, vd I, vd J) {
    slopes s;
    if (energy == CT_ENERGY_COROTATED || energy == CT_ENERGY_PROJECTIVE) {
        const vd T = vsqrt(I + 2 * J), inverse = 1 / vmax(T, vset(NARROWEST));
        const vd bend = 2 * inverse * inverse * inverse * (energy == CT_ENERGY_COROTATED ? lambda + mu : mu);
        s.W = mu * (I - 2 * T + 2);
        s.II = 0.25 * bend, s.IJ = 0.5 * bend, s.JJ = bend;
        if (energy == CT_ENERGY_COROTATED) {
            s.W += 0.5 * lambda * (T - 2) * (T - 2);
            s.J = lambda - 2 * (lambda + mu) * inverse;
            s.I = mu + 0.5 * s.J;
        } else {
            s.W += 0.5 * lambda * (J - 1) * (J - 1);
            s.J = -2 * mu * inverse + lambda * (J - 1);
            s.I = mu - mu * inverse;
            s.JJ += lambda;
        }
    } else if (energy == CT_ENERGY_NEOHOOKEAN) {
        const vd m = 1.5 * mu, n = lambda + mu * (2.0 / 3), inverse = 1 / (I + 1);
        s.W = 0.5 * m * (I - 2) - 0.5 * m * vlog((I + 1) * (1.0 / 3)) + 0.5 * n * (J - 1) * (J - 1) -
              mu * (J - 1);
        s.I = 0.5 * m * (1 - inverse);
        s.J = n * (J - 1) - mu;
        s.II = 0.5 * m * inverse * inverse, s.IJ = vset(0), s.JJ = n;
    } else {
        s.W = 0.25 * mu * (I * I - 2 * J * J - 2 * I + 2) + 0.125 * lambda * (I - 2) * (I - 2);
        s.I = 0.5 * mu * (I - 1) + 0.25 * lambda * (I - 2);
        s.J = -mu * J;
        s.II = 0.5 * mu + 0.25 * lambda, s.IJ = vset(0), s.JJ = -mu;
    }
    return s;
}

// beta (2 mu e + lambda tr e I); e and sigma as xx yy xy.
CT_INLINE vvec3 viscous(const ct_membrane_block* block, vvec3 e, int at) {
    const vd beta = vload(&block->beta[at]), shear = 2 * beta * vload(&block->mu[at]);
    const vd trace = beta * vload(&block->lambda[at]) * (e.x + e.y);
    return (vvec3){shear * e.x + trace, shear * e.y + trace, shear * e.z};
}

// P += F sigma
CT_INLINE columns add_product(columns P, columns F, vvec3 sigma) {
    return (columns){axpy(axpy(P.a, sigma.x, F.a), sigma.z, F.b),
                     axpy(axpy(P.b, sigma.z, F.a), sigma.y, F.b)};
}

// The geometry at F, and the slopes there.
typedef struct point {
    columns F;
    vvec3 normal;
    vd inverse;  // 1/J, bounded
    slopes W;
} point;

CT_INLINE point point_at(int energy, const ct_membrane_block* block, const double* x, int v) {
    point p = {.F = deformation(block, x, v)};
    const vvec3 normal = cross(p.F.a, p.F.b);
    const vd J = vsqrt(dot(normal, normal)), I = dot(p.F.a, p.F.a) + dot(p.F.b, p.F.b);
    p.inverse = 1 / vmax(J, vset(NARROWEST));
    p.normal = scale(p.inverse, normal);
    p.W = slopes_of(energy, vload(&block->mu[v * CT_LANES]), vload(&block->lambda[v * CT_LANES]), I, J);
    return p;
}

// c G - g of vector v of block b.
CT_INLINE vvec3 strain_rate(const ct_sheet_pass* pass, int b, int v, columns F) {
    const vvec3 g = load3(pass->rate + (size_t)b * 3 * CT_SHEET_BLOCK + v * CT_LANES);
    const vd c = vset(pass->c);
    return (vvec3){c * (0.5 * (dot(F.a, F.a) - 1)) - g.x, c * (0.5 * (dot(F.b, F.b) - 1)) - g.y,
                   c * (0.5 * dot(F.a, F.b)) - g.z};
}

CT_INLINE double membrane_block(int energy, const ct_sheet_pass* pass, int b) {
    const ct_membrane_block* block = pass->membrane + b;
    vd total = vset(0);
    for (int v = 0; v < NVECTOR; v++) {
        const point p = point_at(energy, block, pass->x, v);
        total += p.W.W;
        columns P = {axpy(scale(2 * p.W.I, p.F.a), p.W.J, cross(p.F.b, p.normal)),
                     axpy(scale(2 * p.W.I, p.F.b), p.W.J, cross(p.normal, p.F.a))};
        if (pass->rate) {
            const vvec3 rate = strain_rate(pass, b, v, p.F), sigma = viscous(block, rate, v * CT_LANES);
            P = add_product(P, p.F, sigma);
            total += (sigma.x * rate.x + sigma.y * rate.y + 2 * sigma.z * rate.z) * (0.5 / pass->c);
        }
        add_stress(block, &P, v, pass->node);
    }
    return vsum(total);
}

// S = 2 W_I + W_J adj(C)/J
CT_INLINE vvec3 elastic_stress(columns F, vd I, vd turn) {
    return (vvec3){2 * I + turn * dot(F.b, F.b), 2 * I + turn * dot(F.a, F.a), -turn * dot(F.a, F.b)};
}

// The stress of the geometric stiffness beside the elastic one: what is foreseen less that, or of damping.
CT_INLINE vvec3 further_stress(const ct_sheet_pass* pass, int b, int v, const point* p) {
    if (pass->foreseen) {
        const vvec3 S = load3(pass->foreseen + (size_t)b * 3 * CT_SHEET_BLOCK + v * CT_LANES);
        return sub(S, elastic_stress(p->F, p->W.I, p->W.J * p->inverse));
    }
    if (!pass->rate) return (vvec3){vset(0), vset(0), vset(0)};
    return viscous(pass->membrane + b, strain_rate(pass, b, v, p->F), v * CT_LANES);
}

CT_INLINE void linearise_block(int energy, const ct_sheet_pass* pass, int b, double* linear) {
    for (int v = 0; v < NVECTOR; v++) {
        double* l = linear + (size_t)b * CT_MEMBRANE_LINEAR * CT_SHEET_BLOCK + v * CT_LANES;
        const point p = point_at(energy, pass->membrane + b, pass->x, v);
        const vvec3 sigma = further_stress(pass, b, v, &p);
        const vd value[CT_MEMBRANE_LINEAR] = {
            p.F.a.x,   p.F.a.y, p.F.a.z, p.F.b.x, p.F.b.y, p.F.b.z, p.normal.x, p.normal.y, p.normal.z,
            p.inverse, p.W.I,   p.W.J,   p.W.II,  p.W.IJ,  p.W.JJ,  sigma.x,    sigma.y,    sigma.z};
        for (int i = 0; i < CT_MEMBRANE_LINEAR; i++) vstore(l + i * CT_SHEET_BLOCK, value[i]);
    }
}

static double membrane_gradient(const ct_sheet_pass* pass) {
    double total = 0;
    for (int b = 0; b < pass->nmembrane; b++) switch (pass->membrane[b].energy) {
        case CT_ENERGY_COROTATED: total += membrane_block(CT_ENERGY_COROTATED, pass, b); break;
        case CT_ENERGY_PROJECTIVE: total += membrane_block(CT_ENERGY_PROJECTIVE, pass, b); break;
        case CT_ENERGY_NEOHOOKEAN: total += membrane_block(CT_ENERGY_NEOHOOKEAN, pass, b); break;
        default: total += membrane_block(CT_ENERGY_STVK, pass, b);
        }
    return total;
}

static void membrane_linearise(const ct_sheet_pass* pass, double* linear) {
    for (int b = 0; b < pass->nmembrane; b++) switch (pass->membrane[b].energy) {
        case CT_ENERGY_COROTATED: linearise_block(CT_ENERGY_COROTATED, pass, b, linear); break;
        case CT_ENERGY_PROJECTIVE: linearise_block(CT_ENERGY_PROJECTIVE, pass, b, linear); break;
        case CT_ENERGY_NEOHOOKEAN: linearise_block(CT_ENERGY_NEOHOOKEAN, pass, b, linear); break;
        default: linearise_block(CT_ENERGY_STVK, pass, b, linear);
        }
}

// dP as in sheet_energy.h.
CT_INLINE columns stress_change(const double* l, columns F, columns dF) {
    const vvec3 n = load3(l + 6 * CT_SHEET_BLOCK);
    const vd inverse = vload(l + 9 * CT_SHEET_BLOCK), I = vload(l + 10 * CT_SHEET_BLOCK),
             J = vload(l + 11 * CT_SHEET_BLOCK), II = vload(l + 12 * CT_SHEET_BLOCK),
             IJ = vload(l + 13 * CT_SHEET_BLOCK), JJ = vload(l + 14 * CT_SHEET_BLOCK);
    const columns K = {cross(F.b, n), cross(n, F.a)};
    const vd along = dot(F.a, dF.a) + dot(F.b, dF.b), widen = dot(K.a, dF.a) + dot(K.b, dF.b);
    const vvec3 turn = axpy(scale(-inverse * dot(n, dF.a), K.a), -inverse * dot(n, dF.b), K.b);
    const vvec3 dKa = add(cross(dF.b, n), cross(F.b, turn)), dKb = add(cross(turn, F.a), cross(n, dF.a));
    const vd s = 4 * II * along + 2 * IJ * widen, t = 2 * IJ * along + JJ * widen;
    return (columns){axpy(axpy(axpy(scale(2 * I, dF.a), J, dKa), s, F.a), t, K.a),
                     axpy(axpy(axpy(scale(2 * I, dF.b), J, dKb), s, F.b), t, K.b)};
}

static void membrane_product(const ct_sheet_pass* pass, const double* linear) {
    for (int b = 0; b < pass->nmembrane; b++, linear += CT_MEMBRANE_LINEAR * CT_SHEET_BLOCK)
        for (int v = 0; v < NVECTOR; v++) {
            const ct_membrane_block* block = pass->membrane + b;
            const double* l = linear + v * CT_LANES;
            const columns F = {load3(l), load3(l + 3 * CT_SHEET_BLOCK)}, dF = deformation(block, pass->x, v);
            columns P = add_product(stress_change(l, F, dF), dF, load3(l + 15 * CT_SHEET_BLOCK));
            if (pass->rate) {
                const vvec3 dG = {dot(F.a, dF.a), dot(F.b, dF.b), 0.5 * (dot(F.a, dF.b) + dot(F.b, dF.a))};
                P = add_product(P, F, scale(vset(pass->c), viscous(block, dG, v * CT_LANES)));
            }
            add_stress(block, &P, v, pass->node);
        }
}

// ---- stress --------------------------------------------------------------------------------

CT_INLINE void store3(double* to, vvec3 a) {
    vstore(to, a.x), vstore(to + CT_SHEET_BLOCK, a.y), vstore(to + 2 * CT_SHEET_BLOCK, a.z);
}

static void membrane_strain(const ct_sheet_pass* pass, double factor, double* sum) {
    for (int slot = 0; slot < pass->nmembrane * NVECTOR; slot++) {
        const int b = slot / NVECTOR, v = slot % NVECTOR;
        double* to = sum + (size_t)b * 3 * CT_SHEET_BLOCK + v * CT_LANES;
        const columns F = deformation(pass->membrane + b, pass->x, v);
        const vvec3 G = {0.5 * (dot(F.a, F.a) - 1), 0.5 * (dot(F.b, F.b) - 1), 0.5 * dot(F.a, F.b)};
        store3(to, axpy(load3(to), vset(factor), G));
    }
}

CT_INLINE void stress_block(int energy, const ct_sheet_pass* pass, int b, double* stress) {
    for (int v = 0; v < NVECTOR; v++) {
        const point p = point_at(energy, pass->membrane + b, pass->x, v);
        store3(stress + (size_t)b * 3 * CT_SHEET_BLOCK + v * CT_LANES,
               elastic_stress(p.F, p.W.I, p.W.J * p.inverse));
    }
}

static void membrane_stress(const ct_sheet_pass* pass, double* stress) {
    for (int b = 0; b < pass->nmembrane; b++) switch (pass->membrane[b].energy) {
        case CT_ENERGY_COROTATED: stress_block(CT_ENERGY_COROTATED, pass, b, stress); break;
        case CT_ENERGY_PROJECTIVE: stress_block(CT_ENERGY_PROJECTIVE, pass, b, stress); break;
        case CT_ENERGY_NEOHOOKEAN: stress_block(CT_ENERGY_NEOHOOKEAN, pass, b, stress); break;
        default: stress_block(CT_ENERGY_STVK, pass, b, stress);
        }
}

static void membrane_foresee(const ct_sheet_pass* pass, const double* linear, double length, double* stress) {
    for (int slot = 0; slot < pass->nmembrane * NVECTOR; slot++) {
        const int b = slot / NVECTOR, v = slot % NVECTOR;
        const ct_membrane_block* block = pass->membrane + b;
        const double* l = linear + (size_t)b * CT_MEMBRANE_LINEAR * CT_SHEET_BLOCK + v * CT_LANES;
        const columns F = {load3(l), load3(l + 3 * CT_SHEET_BLOCK)}, dF = deformation(block, pass->x, v);
        const vvec3 n = load3(l + 6 * CT_SHEET_BLOCK);
        const vd inverse = vload(l + 9 * CT_SHEET_BLOCK), I = vload(l + 10 * CT_SHEET_BLOCK),
                 J = vload(l + 11 * CT_SHEET_BLOCK), II = vload(l + 12 * CT_SHEET_BLOCK),
                 IJ = vload(l + 13 * CT_SHEET_BLOCK), JJ = vload(l + 14 * CT_SHEET_BLOCK);
        const vvec3 dG = {dot(F.a, dF.a), dot(F.b, dF.b), 0.5 * (dot(F.a, dF.b) + dot(F.b, dF.a))};
        const vd dI = 2 * (dG.x + dG.y), dJ = dot(cross(F.b, n), dF.a) + dot(cross(n, F.a), dF.b);
        const vd slope_I = II * dI + IJ * dJ, slope_J = IJ * dI + JJ * dJ, turn = J * inverse;
        vvec3 dS = elastic_stress(F, slope_I, inverse * (slope_J - turn * dJ));
        dS = axpy(dS, 2 * turn, (vvec3){dG.y, dG.x, -dG.z});
        vvec3 S = elastic_stress(F, I, turn);
        if (pass->rate) {
            S = add(S, viscous(block, strain_rate(pass, b, v, F), v * CT_LANES));
            dS = axpy(dS, vset(pass->c), viscous(block, dG, v * CT_LANES));
        }
        store3(stress + (size_t)b * 3 * CT_SHEET_BLOCK + v * CT_LANES, axpy(S, vset(length), dS));
    }
}

// ---- rotations -----------------------------------------------------------------------------

static void rotations(const ct_sheet_pass* pass) {
    for (int slot = 0; slot < pass->nmembrane * NVECTOR; slot++) {
        const ct_membrane_block* block = pass->membrane + slot / NVECTOR;
        const int at = slot % NVECTOR * CT_LANES;
        const columns F = deformation(block, pass->x, slot % NVECTOR);
        const vvec3 normal = cross(F.a, F.b);
        const vd J = vsqrt(dot(normal, normal)), I = dot(F.a, F.a) + dot(F.b, F.b);
        const vvec3 n = scale(1 / vmax(J, vset(NARROWEST)), normal);
        const vd trace = 1 / vmax(vsqrt(I + 2 * J), vset(NARROWEST));
        const vvec3 a = scale(trace, add(F.a, cross(F.b, n))), b = scale(trace, add(F.b, cross(n, F.a)));
        // [a b n] times the transposed rest frame, row by row
        const vmat3 now = {a.x, b.x, n.x, a.y, b.y, n.y, a.z, b.z, n.z};
        const vmat3 turn = vmat3_scale(
            vload(&block->area[at]),
            vmat3_multiply(now, vmat3_transpose(vmat3_load(&block->frame[0][at], CT_SHEET_BLOCK))));
        v4 row[3][CT_LANES];
        vtranspose_out((vvec3){turn.a00, turn.a01, turn.a02}, row[0]);
        vtranspose_out((vvec3){turn.a10, turn.a11, turn.a12}, row[1]);
        vtranspose_out((vvec3){turn.a20, turn.a21, turn.a22}, row[2]);
        for (int lane = 0; lane < CT_LANES; lane++)
            for (int k = 0; k < 3; k++) {
                v4* sum = (v4*)(pass->node + 12 * (size_t)block->node[k][at + lane]);
                sum[0] += row[0][lane], sum[1] += row[1][lane], sum[2] += row[2][lane];
            }
    }
}

const ct_membrane_kernels WITH_ISA(ct_membrane_kernels, CT_ISA) = {.gradient = membrane_gradient,
                                                                   .linearise = membrane_linearise,
                                                                   .product = membrane_product,
                                                                   .strain = membrane_strain,
                                                                   .stress = membrane_stress,
                                                                   .foresee = membrane_foresee,
                                                                   .rotations = rotations};
