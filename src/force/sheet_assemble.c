// Assembled Hessians of sheets, for preconditioners.
//
// Membrane, exact: the 6x6 matrix dP/dF of each triangle. Projected: the same without its negative
// eigenvalues, which are known. With F = s1 u1 v1^T + s2 u2 v2^T, n the normal, x_ij = u_i . dF v_j and
// W_1, W_11, ... the derivatives of the energy by the singular values, dF : d2W : dF is
//     W_11 x_11^2 + 2 W_12 x_11 x_22 + W_22 x_22^2               stretching,
//     (2 W_I - W_J) (x_12 + x_21)^2/2                            shearing,
//     (2 W_I + W_J) (x_12 - x_21)^2/2                            turning in the plane,
//     (W_1/s1) (n . dF v1)^2 + (W_2/s2) (n . dF v2)^2            turning out of it: the principal stresses.
// Damping, without rates, is c beta (2 mu |dG|^2 + lambda (tr dG)^2) and never negative.
//
// Bending: J^T M J, J the gradients of the angles, couples the 12 nodes of every triangle's curvature, and
// its factor takes two to three times as long. With the diagonal of M alone only the four nodes of a hinge
// are coupled; stiff plates then need some iterations more, cloths none.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"

typedef double matrix6[6][6];

// ---- the projected membrane ----------------------------------------------------------------

// The quadratic form of the opening comment, in the frame u1, u2, n.
typedef struct principal {
    ct_mat3 frame;           // u1, u2, n as columns
    double v[2];             // v1 = (v[0], v[1]), v2 = (-v[1], v[0])
    double s1, s2;           // s1 >= s2 >= 0
    double W11, W12, W22;    // of x_11, x_22
    double D12, D21, cross;  // of x_12^2, x_21^2 and 2 x_12 x_21
    double S1, S2;           // of (n . dF v1)^2, (n . dF v2)^2
} principal;

static void set_frame(const ct_sheet_point* p, principal* q) {
    const ct_vec3 f0 = p->F.c[0], f1 = p->F.c[1];
    const double shear = ct_vec3_dot(f0, f1), half = 0.5 * (ct_vec3_dot(f0, f0) - ct_vec3_dot(f1, f1));
    const double radius = sqrt(half * half + shear * shear), cosine = radius > 0 ? half / radius : 1;
    q->v[0] = sqrt(0.5 * (1 + cosine));
    q->v[1] = copysign(sqrt(fmax(0, 0.5 * (1 - cosine))), shear);
    q->s1 = sqrt(0.5 * p->I + radius);
    q->s2 = p->J / fmax(q->s1, CT_SHEET_NARROWEST);
    const ct_vec3 u1 = ct_vec3_scale(1 / fmax(q->s1, CT_SHEET_NARROWEST),
                                     ct_vec3_axpy(ct_vec3_scale(q->v[0], f0), q->v[1], f1));
    q->frame = ct_mat3_columns(u1, ct_vec3_cross(p->normal, u1), p->normal);
}

// [a b; b c] without its negative eigenvalues.
static void keep_positive(double* a, double* b, double* c) {
    const double mean = 0.5 * (*a + *c), half = 0.5 * (*a - *c), radius = sqrt(half * half + *b * *b);
    if (mean - radius >= 0) return;
    const double high = fmax(0, mean + radius), scale = radius > 0 ? 0.5 * high / radius : 0;
    *a = 0.5 * high + scale * half;
    *c = 0.5 * high - scale * half;
    *b *= scale;
}

// c: of the damping, 0: none.
static principal project(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c) {
    const ct_sheet_slopes* W = &l->slopes;
    const double I = l->point.I, J = l->point.J;
    principal q;
    set_frame(&l->point, &q);
    const double a = q.s1 * q.s1, b = q.s2 * q.s2, viscous = c * t->beta;
    q.W11 = 2 * W->I + 4 * W->II * a + 4 * W->IJ * J + W->JJ * b;
    q.W22 = 2 * W->I + 4 * W->II * b + 4 * W->IJ * J + W->JJ * a;
    q.W12 = W->J + (4 * W->II + W->JJ) * J + 2 * W->IJ * I;
    keep_positive(&q.W11, &q.W12, &q.W22);
    const double shear = fmax(0, 2 * W->I - W->J), turn = fmax(0, 2 * W->I + W->J);
    q.S1 = fmax(0, 2 * W->I + W->J * q.s2 / fmax(q.s1, CT_SHEET_NARROWEST));
    q.S2 = fmax(0, 2 * W->I + W->J * q.s1 / fmax(q.s2, CT_SHEET_NARROWEST));
    q.W11 += viscous * (2 * t->mu + t->lambda) * a;
    q.W22 += viscous * (2 * t->mu + t->lambda) * b;
    q.W12 += viscous * t->lambda * J;
    q.D12 = 0.5 * (shear + turn) + viscous * t->mu * a;
    q.D21 = 0.5 * (shear + turn) + viscous * t->mu * b;
    q.cross = 0.5 * (shear - turn) + viscous * t->mu * J;
    return q;
}

// The block of two nodes whose shape functions have the gradients g and h along v1, v2.
static ct_mat3 principal_block(const principal* q, const double g[2], const double h[2]) {
    ct_mat3 K = {{{0}}};
    K.a[0][0] = g[0] * h[0] * q->W11 + g[1] * h[1] * q->D12;
    K.a[1][1] = g[1] * h[1] * q->W22 + g[0] * h[0] * q->D21;
    K.a[0][1] = g[0] * h[1] * q->W12 + g[1] * h[0] * q->cross;
    K.a[1][0] = g[1] * h[0] * q->W12 + g[0] * h[1] * q->cross;
    K.a[2][2] = g[0] * h[0] * q->S1 + g[1] * h[1] * q->S2;
    return ct_mat3_multiply(ct_mat3_multiply(q->frame, K), ct_mat3_transpose(q->frame));
}

static void add_projected(const ct_sheet_triangle* t, const principal* q, const int* unknown,
                          ct_block_matrix* matrix) {
    double g[3][2];
    for (int a = 0; a < 2; a++) {
        const double along = t->inverse[a][0], across = t->inverse[a][1];
        g[a + 1][0] = q->v[0] * along + q->v[1] * across;
        g[a + 1][1] = -q->v[1] * along + q->v[0] * across;
    }
    for (int i = 0; i < 2; i++) g[0][i] = -g[1][i] - g[2][i];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++) {
            double block[9];
            ct_mat3_store(block, principal_block(q, g[a], g[b]));
            ct_block_matrix_add(matrix, unknown[t->node[a]], unknown[t->node[b]], block);
        }
}

// ---- the exact membrane --------------------------------------------------------------------

// Adds G^T H G: entry 3 j + i of the matrix is component i of column j of F.
static void add_triangle(const ct_sheet_triangle* t, matrix6 H, const int* unknown, ct_block_matrix* matrix) {
    const double g[3][2] = {{-t->inverse[0][0] - t->inverse[1][0], -t->inverse[0][1] - t->inverse[1][1]},
                            {t->inverse[0][0], t->inverse[0][1]},
                            {t->inverse[1][0], t->inverse[1][1]}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++) {
            double block[9];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    block[3 * i + k] = g[a][0] * (H[i][k] * g[b][0] + H[i][3 + k] * g[b][1]) +
                                       g[a][1] * (H[3 + i][k] * g[b][0] + H[3 + i][3 + k] * g[b][1]);
            ct_block_matrix_add(matrix, unknown[t->node[a]], unknown[t->node[b]], block);
        }
}

static void membrane_matrix(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c, bool viscous,
                            matrix6 H) {
    for (int j = 0; j < 6; j++) {
        double unit[6] = {0};
        unit[j] = 1;
        const ct_mat32 dF = {{ct_vec3_load(unit), ct_vec3_load(unit + 3)}};
        const ct_mat32 dP = ct_sheet_linear_product(t, l, c, viscous, dF);
        const double column[6] = {dP.c[0].x, dP.c[0].y, dP.c[0].z, dP.c[1].x, dP.c[1].y, dP.c[1].z};
        for (int i = 0; i < 6; i++) H[i][j] = column[i];
    }
}

// ---- bending -------------------------------------------------------------------------------

// stiffness: d2E/dtheta2.
static void add_angle(const ct_sheet* sheet, int k, double stiffness, const double* x, const int* unknown,
                      ct_block_matrix* matrix) {
    ct_vec3 gradient[4];
    double g[12];
    int node[4];
    const int count = k < sheet->nhinge ? 4 : 3;
    ct_sheet_angle_gradient(sheet, k, x, node, gradient);
    for (int i = 0; i < 4; i++) ct_vec3_store(g + 3 * i, gradient[i]);
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++) {
            double block[9];
            for (int i = 0; i < 9; i++) block[i] = stiffness * g[3 * a + i / 3] * g[3 * b + i % 3];
            ct_block_matrix_add(matrix, unknown[node[a]], unknown[node[b]], block);
        }
}

void ct_sheet_assemble(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, bool projected,
                       const int* unknown, ct_block_matrix* matrix) {
    const bool viscous = sheet->damped && work->c > 0, moved = x != NULL;
    const double c = moved ? work->c : 0, scale = viscous && !moved ? work->c : 0;
    if (!moved) x = sheet->rest;
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        ct_sheet_linear linear;
        matrix6 H;
        ct_sheet_linearise_triangle(sheet, work, e, ct_sheet_deformation(t, x), c, &linear);
        if (projected && moved) {
            const principal q = project(t, &linear, viscous ? c : 0);
            add_projected(t, &q, unknown, matrix);
            continue;
        }
        membrane_matrix(t, &linear, c, viscous && moved, H);
        for (int i = 0; i < 36; i++) H[i / 6][i % 6] *= 1 + scale * t->beta;
        add_triangle(t, H, unknown, matrix);
    }
    for (int k = 0; k < sheet->nangle; k++) {
        const double stiffness = sheet->stiffness[k] + (viscous ? work->c * sheet->damper[k] : 0);
        if (stiffness > 0) add_angle(sheet, k, stiffness, x, unknown, matrix);
    }
}
