// Assembled Hessians of sheets.
//
// Membrane: the 6x6 matrix dP/dF of each triangle, when projected without the negative part of its spectrum.
// Hinges:
//     d2E/dtheta2 grad theta grad theta^T + dE/dtheta Hess theta,
// the second term only when not projected. At rest it vanishes, and damping is c beta times the elastic
// matrix.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"

typedef double matrix6[6][6];

// ---- positive part -------------------------------------------------------------------------

// A and V after the rotation of axes p, q that makes A[p][q] zero.
static void rotate(matrix6 A, matrix6 V, int p, int q) {
    const double half = (A[q][q] - A[p][p]) / 2, c = A[p][q];
    const double t = c / (half + (half >= 0 ? 1 : -1) * sqrt(half * half + c * c));
    const double cosine = 1 / sqrt(1 + t * t), sine = t * cosine;
    for (int i = 0; i < 6; i++) {
        const double x = A[i][p], y = A[i][q], u = V[i][p], v = V[i][q];
        A[i][p] = cosine * x - sine * y, A[i][q] = sine * x + cosine * y;
        V[i][p] = cosine * u - sine * v, V[i][q] = sine * u + cosine * v;
    }
    for (int i = 0; i < 6; i++) {
        const double x = A[p][i], y = A[q][i];
        A[p][i] = cosine * x - sine * y, A[q][i] = sine * x + cosine * y;
    }
}

// H without its negative eigenvalues, by Jacobi's rotations.
static void project(matrix6 H) {
    matrix6 A, V = {{0}};
    memcpy(A, H, sizeof A);
    for (int i = 0; i < 6; i++) V[i][i] = 1;
    for (int sweep = 0; sweep < 20; sweep++) {
        bool rotated = false;
        for (int p = 0; p < 6; p++)
            for (int q = p + 1; q < 6; q++) {
                if (!(fabs(A[p][q]) > 1e-15 * (fabs(A[p][p]) + fabs(A[q][q])))) continue;
                rotate(A, V, p, q);
                rotated = true;
            }
        if (!rotated) break;
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; A[k][k] < 0 && i < 6; i++)
            for (int j = 0; j < 6; j++) H[i][j] -= A[k][k] * V[i][k] * V[j][k];
}

// ---- elements ------------------------------------------------------------------------------

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

static void add_hinge(const ct_sheet_hinge* h, const ct_sheet_bend* b, bool curved, const int* unknown,
                      ct_block_matrix* matrix) {
    double H[12][12], g[12];
    for (int i = 0; i < 4; i++) ct_vec3_store(g + 3 * i, b->point.gradient[i]);
    for (int j = 0; j < 12; j++) {
        double unit[12] = {0}, curve[12] = {0};
        unit[j] = 1;
        if (curved) {
            ct_vec3 d[4], out[4];
            for (int i = 0; i < 4; i++) d[i] = ct_vec3_load(unit + 3 * i);
            ct_hinge_curve(&b->point, d, out);
            for (int i = 0; i < 4; i++) ct_vec3_store(curve + 3 * i, out[i]);
        }
        for (int i = 0; i < 12; i++) H[i][j] = b->stiffness * g[i] * g[j] + b->pull * curve[i];
    }
    for (int a = 0; a < 4; a++)
        for (int c = 0; c <= a; c++) {
            double block[9];
            for (int i = 0; i < 9; i++) block[i] = H[3 * a + i / 3][3 * c + i % 3];
            ct_block_matrix_add(matrix, unknown[h->node[a]], unknown[h->node[c]], block);
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
        ct_sheet_linearise_triangle(sheet, work, e, x, c, &linear);
        membrane_matrix(t, &linear, c, viscous && moved, H);
        for (int i = 0; i < 36; i++) H[i / 6][i % 6] *= 1 + scale * t->beta;
        if (projected && moved) project(H);
        add_triangle(t, H, unknown, matrix);
    }
    for (int k = 0; k < sheet->nhinge; k++) {
        const ct_sheet_hinge* h = &sheet->hinge[k];
        if (h->stiffness == 0 && h->damper == 0) continue;
        ct_sheet_bend bend;
        ct_sheet_linearise_hinge(sheet, work, k, x, c, &bend);
        if (!moved) bend.stiffness += 2 * scale * h->damper, bend.pull = 0;
        add_hinge(h, &bend, moved && !projected, unknown, matrix);
    }
}
