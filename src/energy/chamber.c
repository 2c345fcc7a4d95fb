// Pneumatic cells; see chamber.h.
#include "energy/chamber.h"

#include <math.h>
#include <string.h>

#include "math/svd3.h"

typedef struct cell {
    int node[4];
    int group, chamber;
    double inverse[9];  // Dm^-1, row-major
    double volume;      // m^3, rest
} cell;

struct ct_chamber {
    ct_arena arena;
    int ntet, nchamber;
    cell* cell;         // ntet
    double* stiffness;  // nchamber, Pa
};

// Of one tet: the singular basis and d2E/dF2 in it.
typedef struct linear_cell {
    ct_mat3 U, V;
    ct_mat3 diagonal;          // on the diagonal entries
    double even[3], odd[3];    // on symmetric and skew pairs (0,1), (0,2), (1,2)
} linear_cell;

struct ct_chamber_work {
    linear_cell* linear;  // ntet
};

// ---- creation

static cell cell_make(const ct_chamber_cells* def, int e) {
    cell out = {.group = def->group[e], .chamber = def->chamber[e]};
    memcpy(out.node, def->tet + 4 * e, sizeof out.node);
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * out.node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * out.node[k + 1]), p);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]);
    ct_mat3_store(out.inverse, ct_mat3_inverse(Dm));
    out.volume = ct_mat3_determinant(Dm) / 6;
    return out;
}

ct_status ct_chamber_create(ct_chamber** out, const ct_chamber_cells* def) {
    *out = NULL;
    ct_chamber* chamber = ct_alloc(1, sizeof *chamber);
    if (!chamber) return CT_OUT_OF_MEMORY;
    chamber->ntet = def->ntet;
    chamber->nchamber = def->nchamber;
    chamber->cell = ct_arena_alloc(&chamber->arena, (size_t)def->ntet, sizeof(cell));
    chamber->stiffness = ct_arena_copy(&chamber->arena, def->stiffness, (size_t)def->nchamber, sizeof(double));
    if (chamber->arena.failed) {
        ct_chamber_free(chamber);
        return CT_OUT_OF_MEMORY;
    }
    for (int e = 0; e < def->ntet; e++) chamber->cell[e] = cell_make(def, e);
    *out = chamber;
    return CT_OK;
}

void ct_chamber_free(ct_chamber* chamber) {
    if (!chamber) return;
    ct_arena_free(&chamber->arena);
    ct_free(chamber);
}

void ct_chamber_set_stiffness(ct_chamber* chamber, const double* stiffness) {
    memcpy(chamber->stiffness, stiffness, (size_t)chamber->nchamber * sizeof(double));
}

ct_status ct_chamber_work_create(ct_chamber_work** out, const ct_chamber* chamber) {
    *out = ct_alloc(1, sizeof **out);
    if (!*out) return CT_OUT_OF_MEMORY;
    (*out)->linear = ct_alloc((size_t)chamber->ntet, sizeof(linear_cell));
    if ((*out)->linear) return CT_OK;
    ct_free(*out);
    *out = NULL;
    return CT_OUT_OF_MEMORY;
}

void ct_chamber_work_free(ct_chamber_work* work) {
    if (!work) return;
    ct_free(work->linear);
    ct_free(work);
}

// ---- the nearest matrix with determinant a

typedef struct nearest {
    double D[3], q[3];
    double c;  // D_i (D_i - s_i)
} nearest;

static nearest nearest_at(const double s[3], double u) {
    nearest n = {.D[2] = u, .q[2] = 2 * u - s[2], .c = u * (u - s[2])};
    for (int i = 0; i < 2; i++) {
        n.q[i] = sqrt(fmax((s[i] - s[2]) * (s[i] + s[2]) + n.q[2] * n.q[2], 1e-24));
        n.D[i] = 0.5 * (s[i] + n.q[i]);
    }
    return n;
}

// Newton's method for the product of the D_i inside the bracket, from u on.
static nearest nearest_from(const double s[3], double a, double u) {
    double low = 0, high = cbrt(a);
    nearest n = nearest_at(s, u);
    for (int iteration = 0; iteration < 100; iteration++) {
        const double product = n.D[0] * n.D[1], excess = u * product - a;
        const double slope = product + u * n.q[2] * (n.D[1] / n.q[0] + n.D[0] / n.q[1]);
        if (excess < 0) low = u;
        else high = u;
        double next = u - excess / slope;
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        const double moved = fabs(next - u);
        u = next;
        n = nearest_at(s, u);
        if (!(moved > 1e-14 * u)) break;
    }
    return n;
}

static double nearest_distance(const nearest* n) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += pow(n->c / n->D[i], 2);
    return sum;
}

static nearest nearest_find(const double s[3], double a) {
    // start: one linearised step onto det = a along the cofactors
    const double top = cbrt(a), c0 = s[1] * s[2], c1 = s[0] * s[2], c2 = s[0] * s[1];
    const double guess = s[2] + c2 * (a - c2 * s[2]) / fmax(c0 * c0 + c1 * c1 + c2 * c2, 1e-12);
    nearest n = nearest_from(s, a, fmin(fmax(guess, 0.01 * top), top));
    if (c2 * s[2] < 4 * a) return n;
    // far above the wanted volume there may be more than one solution
    for (int k = 0; k < 2; k++) {
        const nearest other = nearest_from(s, a, k ? top : 1e-3 * top);
        if (nearest_distance(&other) < nearest_distance(&n)) n = other;
    }
    return n;
}

// D_2 / (1 + q_2 D_2 sum_{i<2} 1/(q_i D_i)): what the derivatives share; q_2 = 0 does no harm.
static double nearest_turn(const nearest* n) {
    const double sum = 1 / (n->q[0] * n->D[0]) + 1 / (n->q[1] * n->D[1]);
    return n->D[2] / (1 + n->q[2] * n->D[2] * sum);
}

// dD_i/ds_j
static ct_mat3 nearest_diagonal(const nearest* n) {
    const double r0 = 1 / n->q[0], r1 = 1 / n->q[1], q2 = n->q[2], w = nearest_turn(n);
    const double xx = n->D[0] * r0 - q2 * w * r0 * r0, yy = n->D[1] * r1 - q2 * w * r1 * r1;
    const double zz = n->D[2] * w * (r0 / n->D[0] + r1 / n->D[1]);
    const double xy = -q2 * w * r0 * r1, xz = -w * r0, yz = -w * r1;
    return (ct_mat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
}

// ---- one tet

static ct_mat3 deformation(const cell* t, const double* x) {
    const ct_vec3 p = ct_vec3_load(x + 3 * t->node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(x + 3 * t->node[k + 1]), p);
    return ct_mat3_multiply(ct_mat3_columns(edge[0], edge[1], edge[2]), ct_mat3_load(t->inverse));
}

// Adds the forces of the stress P.
static void scatter(const cell* t, ct_mat3 P, double* out) {
    const ct_mat3 H = ct_mat3_multiply(P, ct_mat3_transpose(ct_mat3_load(t->inverse)));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out[3 * t->node[k + 1] + i] += H.a[i][k];
        out[3 * t->node[0] + i] -= H.a[i][0] + H.a[i][1] + H.a[i][2];
    }
}

// U M V^T
static ct_mat3 from_basis(const ct_mat3* U, ct_mat3 M, const ct_mat3* V) {
    return ct_mat3_multiply(ct_mat3_multiply(*U, M), ct_mat3_transpose(*V));
}
// U^T M V
static ct_mat3 to_basis(const ct_mat3* U, ct_mat3 M, const ct_mat3* V) {
    return ct_mat3_multiply(ct_mat3_multiply(ct_mat3_transpose(*U), M), *V);
}

// Where two singular values meet with opposite signs the polar rotation is not unique: the derivative is kept finite.
static double kept_away(double value) { return fabs(value) > 1e-9 ? value : copysign(1e-9, value); }

static linear_cell linearise_at(ct_mat3 F, double a, double weight) {
    const ct_svd3 svd = ct_svd3_compute(F);
    const nearest n = nearest_find(svd.s, a);
    linear_cell h = {.U = svd.U, .V = svd.V};
    h.diagonal = ct_mat3_axpy(ct_mat3_diagonal(weight, weight, weight), -weight, nearest_diagonal(&n));
    for (int k = 0; k < 3; k++) {
        const int i = k == 2, j = k == 0 ? 1 : 2;
        const double sum = svd.s[i] + svd.s[j];
        h.even[k] = weight * (0.5 - 0.5 * sum / kept_away(n.q[i] + n.q[j]));
        h.odd[k] = weight * (1 - (n.D[i] + n.D[j]) / kept_away(sum));
    }
    return h;
}

static double weight_of(const ct_chamber* chamber, const cell* t) { return chamber->stiffness[t->chamber] * t->volume; }

// d2E/dF2 : dF
static ct_mat3 stress_product(const linear_cell* h, ct_mat3 dF) {
    const ct_mat3 M = to_basis(&h->U, dF, &h->V);
    ct_mat3 P;
    for (int i = 0; i < 3; i++)
        P.a[i][i] = h->diagonal.a[i][0] * M.a[0][0] + h->diagonal.a[i][1] * M.a[1][1] + h->diagonal.a[i][2] * M.a[2][2];
    for (int k = 0; k < 3; k++) {
        const int i = k == 2, j = k == 0 ? 1 : 2;
        const double even = 0.5 * h->even[k] * (M.a[i][j] + M.a[j][i]), odd = 0.5 * h->odd[k] * (M.a[i][j] - M.a[j][i]);
        P.a[i][j] = even + odd;
        P.a[j][i] = even - odd;
    }
    return from_basis(&h->U, P, &h->V);
}

// ---- all tets

double ct_chamber_gradient(const ct_chamber* chamber, const double* activation, const double* x, double* f) {
    double energy = 0;
    for (int e = 0; e < chamber->ntet; e++) {
        const cell* t = &chamber->cell[e];
        const ct_svd3 svd = ct_svd3_compute(deformation(t, x));
        const nearest n = nearest_find(svd.s, activation[t->group]);
        const double weight = weight_of(chamber, t);
        energy += 0.5 * weight * nearest_distance(&n);
        if (!f) continue;
        // F - R = -U diag(c/D) V^T
        const double c = -weight * n.c;
        scatter(t, from_basis(&svd.U, ct_mat3_diagonal(c / n.D[0], c / n.D[1], c / n.D[2]), &svd.V), f);
    }
    return energy;
}

void ct_chamber_linearise(const ct_chamber* chamber, ct_chamber_work* work, const double* activation, const double* x) {
    for (int e = 0; e < chamber->ntet; e++) {
        const cell* t = &chamber->cell[e];
        work->linear[e] = linearise_at(deformation(t, x), activation[t->group], weight_of(chamber, t));
    }
}

void ct_chamber_product(const ct_chamber* chamber, const ct_chamber_work* work, const double* dx, double* out) {
    for (int e = 0; e < chamber->ntet; e++) {
        const cell* t = &chamber->cell[e];
        scatter(t, stress_product(&work->linear[e], deformation(t, dx)), out);
    }
}

// Replaces negative eigenvalues by zero.
static void project_cell(linear_cell* h) {
    double w[3];
    ct_mat3 V;
    ct_symmetric3(h->diagonal, w, &V);
    h->diagonal = from_basis(&V, ct_mat3_diagonal(fmax(w[0], 0), fmax(w[1], 0), fmax(w[2], 0)), &V);
    for (int k = 0; k < 3; k++) h->even[k] = fmax(h->even[k], 0), h->odd[k] = fmax(h->odd[k], 0);
}

static void add_element(const cell* t, const linear_cell* h, const int* unknown, ct_block_matrix* matrix) {
    double slope[4][3];
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) slope[k + 1][j] = t->inverse[3 * k + j];
        slope[0][j] = -(slope[1][j] + slope[2][j] + slope[3][j]);
    }
    // column (b, k) of the element's matrix: the forces when node b moves along k
    for (int b = 0; b < 4; b++) {
        double column[4][9];
        for (int k = 0; k < 3; k++) {
            ct_mat3 dF = {0};
            for (int j = 0; j < 3; j++) dF.a[k][j] = slope[b][j];
            const ct_mat3 P = stress_product(h, dF);
            for (int a = 0; a < 4; a++)
                for (int i = 0; i < 3; i++)
                    column[a][3 * i + k] = P.a[i][0] * slope[a][0] + P.a[i][1] * slope[a][1] + P.a[i][2] * slope[a][2];
        }
        for (int a = b; a < 4; a++) ct_block_matrix_add(matrix, unknown[t->node[a]], unknown[t->node[b]], column[a]);
    }
}

void ct_chamber_assemble(const ct_chamber* chamber, const double* activation, const double* x, bool project, const int* unknown,
                         ct_block_matrix* matrix) {
    for (int e = 0; e < chamber->ntet; e++) {
        const cell* t = &chamber->cell[e];
        const ct_mat3 F = x ? deformation(t, x) : ct_mat3_identity();
        linear_cell h = linearise_at(F, x ? activation[t->group] : 1, weight_of(chamber, t));
        if (project) project_cell(&h);
        add_element(t, &h, unknown, matrix);
    }
}

void ct_chamber_vjp(const ct_chamber* chamber, const double* activation, const double* x, const double* lam, double* activation_bar,
                    double* stiffness_bar) {
    for (int e = 0; e < chamber->ntet; e++) {
        const cell* t = &chamber->cell[e];
        const double a = activation[t->group];
        const ct_svd3 svd = ct_svd3_compute(deformation(t, x));
        const nearest n = nearest_find(svd.s, a);
        const ct_mat3 M = to_basis(&svd.U, deformation(t, lam), &svd.V);
        const double w = nearest_turn(&n);
        double along = w * M.a[2][2], force = 0;
        for (int i = 0; i < 2; i++) along += n.q[2] * w / n.q[i] * M.a[i][i];
        for (int i = 0; i < 3; i++) force -= n.c / n.D[i] * M.a[i][i];
        if (activation_bar) activation_bar[t->group] -= weight_of(chamber, t) * along / a;
        if (stiffness_bar) stiffness_bar[t->chamber] += t->volume * force;
    }
}
