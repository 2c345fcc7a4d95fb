// Kernels of bending over blocks of eight hinges or triangles, compiled once per instruction set (CT_ISA,
// CT_LANES): angles of hinges, curvatures and moments of triangles, forces on nodes; the equations are in
// sheet_hinge.h and sheet_curvature.h.
#include <math.h>

#include "force/sheet_kernel.h"
#include "force/sheet_vector.h"

// ---- hinges --------------------------------------------------------------------------------

// atan2 to about two units in the last place: the smaller over the larger, by an eighth of a turn less where
// that is above tan(pi/8), by its series; 0 at the origin.
CT_INLINE vd vatan2(vd y, vd x) {
    const vd across = vabs(y), along = vabs(x), high = vmax(across, along), low = vmin(across, along);
    const vd ratio = vselect(high > 0, low / high, vset(0));
    const vl wide = ratio > 0.41421356237309503;
    const vd t = vselect(wide, (ratio - 1) / (ratio + 1), ratio), q = t * t;
    vd sum = vset(1.0 / 43);
    for (int k = 41; k >= 3; k -= 2) sum = 1.0 / k - q * sum;
    vd angle = vselect(wide, vset(M_PI / 4), vset(0)) + (t - t * q * sum);
    angle = vselect(across > along, M_PI / 2 - angle, angle);
    angle = vselect(x < 0, M_PI - angle, angle);
    return vcopysign(angle, y);
}

CT_INLINE vl is_active(const ct_bend_block* block, int at) { return vload(&block->active[at]) != 0; }

// Adds forces on nodes 1 to 3.
static __attribute__((noinline)) void add_bend(const ct_bend_block* block, const vvec3* force, int v,
                                               double* node) {
    const int at = v * CT_LANES;
    const vl active = is_active(block, at);
    v4 f[3][CT_LANES];
    for (int i = 0; i < 3; i++) vtranspose_out(select3(active, force[i]), f[i]);
    for (int lane = 0; lane < CT_LANES; lane++) {
        *(v4*)(node + 4 * (size_t)block->node[0][at + lane]) -= f[0][lane] + f[1][lane] + f[2][lane];
        for (int i = 0; i < 3; i++) *(v4*)(node + 4 * (size_t)block->node[i + 1][at + lane]) += f[i][lane];
    }
}

typedef struct hinge {
    vvec3 e, a, b, m, n;
    vd s, t, length, mm, nn, ee;
} hinge;

CT_INLINE hinge hinge_at(const ct_bend_pass* pass, int slot) {
    const ct_bend_block* block = pass->bend + slot / NVECTOR;
    const int v = slot % NVECTOR;
    hinge h;
    h.e = edge(pass->x, block->node[0], block->node[1], v);
    h.a = edge(pass->x, block->node[0], block->node[2], v);
    h.b = edge(pass->x, block->node[0], block->node[3], v);
    h.m = cross(h.e, h.a), h.n = cross(h.b, h.e);
    const vd square = dot(h.e, h.e);
    h.length = vsqrt(square), h.ee = 1 / square, h.mm = 1 / dot(h.m, h.m), h.nn = 1 / dot(h.n, h.n);
    h.s = dot(h.a, h.e) * h.ee, h.t = dot(h.b, h.e) * h.ee;
    return h;
}

CT_INLINE vd principal_of(const hinge* h) {
    return vatan2(-dot(cross(h->m, h->n), h->e), h->length * dot(h->m, h->n));
}

// Of the angles that differ by whole turns the one nearest to the step's start.
CT_INLINE vd angle_of(const ct_bend_pass* pass, const hinge* h, int slot) {
    const vd principal = principal_of(h);
    const vd turn = principal - vload(pass->start + (size_t)slot * CT_LANES);
    return vselect(vabs(turn) > M_PI, principal - vcopysign(vset(2 * M_PI), turn), principal);
}

CT_INLINE double* lanes_of(double* all, int slot, int size) {
    return all + (size_t)(slot / NVECTOR) * (size_t)size * CT_SHEET_BLOCK + slot % NVECTOR * CT_LANES;
}

static void measure(const ct_bend_pass* pass, double* angle) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        const hinge h = hinge_at(pass, slot);
        vstore(angle + (size_t)slot * CT_LANES, principal_of(&h));
    }
}

static void angles(const ct_bend_pass* pass, double* turn) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        const ct_bend_block* block = pass->bend + slot / NVECTOR;
        const size_t at = (size_t)slot * CT_LANES;
        const int lane = slot % NVECTOR * CT_LANES;
        const hinge h = hinge_at(pass, slot);
        const vd angle = angle_of(pass, &h, slot), zero = vset(0);
        const vl active = is_active(block, lane);
        vstore(pass->bend_angle + at, vselect(active, angle - vload(&block->rest[lane]), zero));
        if (pass->rate)
            vstore(pass->bend_rate + at, vselect(active, pass->c * angle - vload(pass->rate + at), zero));
        vstore(pass->pull + at, zero);
        const vvec3 g2 = scale(h.length * h.mm, h.m), g3 = scale(h.length * h.nn, h.n);
        const vd value[CT_BEND_TURN] = {g2.x, g2.y, g2.z, g3.x, g3.y, g3.z, h.s, h.t};
        double* l = lanes_of(turn, slot, CT_BEND_TURN);
        for (int i = 0; i < CT_BEND_TURN; i++) vstore(l + i * CT_SHEET_BLOCK, value[i]);
    }
}

static void forces(const ct_bend_pass* pass, const double* turn) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        const double* l = lanes_of((double*)turn, slot, CT_BEND_TURN);
        const vd pull = vload(pass->pull + (size_t)slot * CT_LANES), s = vload(l + 6 * CT_SHEET_BLOCK),
                 t = vload(l + 7 * CT_SHEET_BLOCK);
        const vvec3 g2 = scale(pull, load3(l)), g3 = scale(pull, load3(l + 3 * CT_SHEET_BLOCK));
        const vvec3 force[3] = {axpy(scale(-s, g2), -t, g3), g2, g3};
        add_bend(pass->bend + slot / NVECTOR, force, slot % NVECTOR, pass->node);
    }
}

static void linearise(const ct_bend_pass* pass, double* linear) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        double* l = lanes_of(linear, slot, CT_BEND_LINEAR);
        const hinge h = hinge_at(pass, slot);
        const vd pull = vload(pass->pull + (size_t)slot * CT_LANES);
        const vd value[CT_BEND_LINEAR] = {h.e.x, h.e.y,    h.e.z, h.a.x, h.a.y, h.a.z, h.b.x, h.b.y,
                                          h.b.z, h.m.x,    h.m.y, h.m.z, h.n.x, h.n.y, h.n.z, h.s,
                                          h.t,   h.length, h.mm,  h.nn,  h.ee,  pull};
        for (int i = 0; i < CT_BEND_LINEAR; i++) vstore(l + i * CT_SHEET_BLOCK, value[i]);
    }
}

// The changes of the edges along the direction.
typedef struct edges {
    vvec3 e, a, b;
} edges;

CT_INLINE edges edges_of(const ct_bend_pass* pass, int slot) {
    const ct_bend_block* block = pass->bend + slot / NVECTOR;
    const int v = slot % NVECTOR;
    return (edges){edge(pass->x, block->node[0], block->node[1], v),
                   edge(pass->x, block->node[0], block->node[2], v),
                   edge(pass->x, block->node[0], block->node[3], v)};
}

static void change(const ct_bend_pass* pass, const double* linear) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        const double* l = lanes_of((double*)linear, slot, CT_BEND_LINEAR);
        const size_t at = (size_t)slot * CT_LANES;
        const edges d = edges_of(pass, slot);
        const vvec3 m = load3(l + 9 * CT_SHEET_BLOCK), n = load3(l + 12 * CT_SHEET_BLOCK);
        const vd s = vload(l + 15 * CT_SHEET_BLOCK), t = vload(l + 16 * CT_SHEET_BLOCK),
                 length = vload(l + 17 * CT_SHEET_BLOCK), mm = vload(l + 18 * CT_SHEET_BLOCK),
                 nn = vload(l + 19 * CT_SHEET_BLOCK);
        // the gradient along d, from the edges: g1 = -s g2 - t g3
        const vd along =
            length * (mm * dot(m, sub(d.a, scale(s, d.e))) + nn * dot(n, sub(d.b, scale(t, d.e))));
        const vl active = is_active(pass->bend + slot / NVECTOR, slot % NVECTOR * CT_LANES);
        vstore(pass->bend_angle + at, vselect(active, along, vset(0)));
        vstore(pass->pull + at, vset(0));
    }
}

static void product(const ct_bend_pass* pass, const double* linear) {
    for (int slot = 0; slot < pass->nbend * NVECTOR; slot++) {
        const double* l = lanes_of((double*)linear, slot, CT_BEND_LINEAR);
        const vvec3 e = load3(l), a = load3(l + 3 * CT_SHEET_BLOCK), b = load3(l + 6 * CT_SHEET_BLOCK),
                    m = load3(l + 9 * CT_SHEET_BLOCK), n = load3(l + 12 * CT_SHEET_BLOCK);
        const vd s = vload(l + 15 * CT_SHEET_BLOCK), t = vload(l + 16 * CT_SHEET_BLOCK),
                 length = vload(l + 17 * CT_SHEET_BLOCK), mm = vload(l + 18 * CT_SHEET_BLOCK),
                 nn = vload(l + 19 * CT_SHEET_BLOCK), ee = vload(l + 20 * CT_SHEET_BLOCK),
                 pull = vload(l + 21 * CT_SHEET_BLOCK), more = vload(pass->pull + (size_t)slot * CT_LANES);
        const edges d = edges_of(pass, slot);
        const vvec3 dm = add(cross(d.e, a), cross(e, d.a)), dn = add(cross(d.b, e), cross(b, d.e));
        const vd stretch = dot(e, d.e) * ee;
        const vd ds = (dot(d.a, e) + dot(a, d.e)) * ee - 2 * s * stretch,
                 dt = (dot(d.b, e) + dot(b, d.e)) * ee - 2 * t * stretch;
        const vvec3 g2 = scale(length * mm, m), g3 = scale(length * nn, n);
        const vd shrink2 = stretch - 2 * mm * dot(m, dm), shrink3 = stretch - 2 * nn * dot(n, dn);
        const vvec3 h2 = axpy(scale(length * mm, dm), shrink2, g2),
                    h3 = axpy(scale(length * nn, dn), shrink3, g3);
        const vvec3 f2 = axpy(scale(pull, h2), more, g2), f3 = axpy(scale(pull, h3), more, g3);
        const vvec3 f1 = axpy(axpy(axpy(scale(-s, f2), -t, f3), -pull * ds, g2), -pull * dt, g3);
        const vvec3 force[3] = {f1, f2, f3};
        add_bend(pass->bend + slot / NVECTOR, force, slot % NVECTOR, pass->node);
    }
}

// ---- triangles -----------------------------------------------------------------------------

// sum_j weight_j angle_j of vector v of a block.
CT_INLINE vvec3 curvature(const ct_plate_block* block, const double* angle, int v) {
    vvec3 kappa = {vset(0), vset(0), vset(0)};
    for (int j = 0; j < block->width; j++) {
        const int* hinge = block->hinge + j * CT_SHEET_BLOCK + v * CT_LANES;
        vd value;
        for (int lane = 0; lane < CT_LANES; lane++) value[lane] = angle[hinge[lane]];
        kappa = axpy(kappa, value, load3(block->weight + 3 * j * CT_SHEET_BLOCK + v * CT_LANES));
    }
    return kappa;
}

CT_INLINE vvec3 moment(const ct_plate_block* block, vvec3 kappa, int v) {
    const int at = v * CT_LANES;
    const vd xx = vload(&block->rigidity[0][at]), yy = vload(&block->rigidity[1][at]),
             zz = vload(&block->rigidity[2][at]), xy = vload(&block->rigidity[3][at]),
             xz = vload(&block->rigidity[4][at]), yz = vload(&block->rigidity[5][at]);
    return (vvec3){xx * kappa.x + xy * kappa.y + xz * kappa.z, xy * kappa.x + yy * kappa.y + yz * kappa.z,
                   xz * kappa.x + yz * kappa.y + zz * kappa.z};
}

// Adds weight_j . moment to the angles, triangle after triangle.
static __attribute__((noinline)) void add_moment(const ct_plate_block* block, const vvec3* moment, int v,
                                                 double* pull) {
    for (int j = 0; j < block->width; j++) {
        const int* hinge = block->hinge + j * CT_SHEET_BLOCK + v * CT_LANES;
        const vd value = dot(*moment, load3(block->weight + 3 * j * CT_SHEET_BLOCK + v * CT_LANES));
        for (int lane = 0; lane < CT_LANES; lane++) pull[hinge[lane]] += value[lane];
    }
}

static double moments(const ct_bend_pass* pass) {
    vd total = vset(0);
    for (int slot = 0; slot < pass->nplate * NVECTOR; slot++) {
        const ct_plate_block* block = pass->plate + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vvec3 kappa =
            sub(curvature(block, pass->bend_angle, v), load3(&block->natural[0][v * CT_LANES]));
        vvec3 m = moment(block, kappa, v);
        total += 0.5 * dot(m, kappa);
        if (pass->rate) {
            const vvec3 rate = curvature(block, pass->bend_rate, v);
            const vvec3 viscous = scale(vload(&block->beta[v * CT_LANES]), moment(block, rate, v));
            total += 0.5 / pass->c * dot(viscous, rate);
            m = add(m, viscous);
        }
        add_moment(block, &m, v, pass->pull);
    }
    return vsum(total);
}

static void moments_change(const ct_bend_pass* pass) {
    const double c = pass->rate ? pass->c : 0;
    for (int slot = 0; slot < pass->nplate * NVECTOR; slot++) {
        const ct_plate_block* block = pass->plate + slot / NVECTOR;
        const int v = slot % NVECTOR;
        const vvec3 m = scale(1 + c * vload(&block->beta[v * CT_LANES]),
                              moment(block, curvature(block, pass->bend_angle, v), v));
        add_moment(block, &m, v, pass->pull);
    }
}

const ct_bend_kernels WITH_ISA(ct_bend_kernels, CT_ISA) = {.measure = measure,
                                                           .angles = angles,
                                                           .moments = moments,
                                                           .forces = forces,
                                                           .linearise = linearise,
                                                           .change = change,
                                                           .moments_change = moments_change,
                                                           .product = product};
