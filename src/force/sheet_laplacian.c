// Sheets in the constant matrix of projective dynamics: one number per pair of nodes, the same for the three
// coordinates, that is at least the Hessian near rest.
//
// Membrane: mu |F - R|^2 is the distance from a rotation with the weight 2 mu, and exact. lambda/2 (J - 1)^2
// has lambda (tr dF)^2 <= 2 lambda |dF|^2 at rest. Together A (2 mu + 2 lambda) G^T G.
//
// Bending: with a flat patch, angles are theta = n . sum_i c_i x_i with
//     c_p = 1/h_1,   c_q = 1/h_2,   c_a = -(1 - s_1) c_p - (1 - s_2) c_q,   c_b = -s_1 c_p - s_2 c_q,
// a, b the edge, p, q the opposite corners, h their heights and s where they stand along the edge, all of the
// patch unfolded. M <= diag(m), m the sums of |M_kl| over l, so that sum_k m_k |sum_i c_ki x_i|^2 is at least
// the energy: the isometric bending of cloth (Bergou et al. 2006), stiffer.
#include <math.h>
#include <string.h>

#include "force/sheet_data.h"

static void add_scalar(ct_block_matrix* matrix, int i, int j, double w) {
    const double value[9] = {w, 0, 0, 0, w, 0, 0, 0, w};
    ct_block_matrix_add(matrix, i, j, value);
}

static void add_membrane(const ct_sheet_triangle* t, const int* unknown, ct_block_matrix* matrix) {
    const double weight = 2 * t->mu + 2 * t->lambda;
    const double g[3][2] = {{-t->inverse[0][0] - t->inverse[1][0], -t->inverse[0][1] - t->inverse[1][1]},
                            {t->inverse[0][0], t->inverse[0][1]},
                            {t->inverse[1][0], t->inverse[1][1]}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++)
            add_scalar(matrix, unknown[t->node[a]], unknown[t->node[b]],
                       weight * (g[a][0] * g[b][0] + g[a][1] * g[b][1]));
}

// 1/h of a corner over the edge from a to b, and where it stands along it.
static double corner(ct_vec3 a, ct_vec3 b, ct_vec3 p, double* along) {
    const ct_vec3 e = ct_vec3_sub(b, a), d = ct_vec3_sub(p, a);
    *along = ct_vec3_dot(d, e) / ct_vec3_dot(e, e);
    return ct_vec3_norm(e) / ct_vec3_norm(ct_vec3_cross(e, d));
}

// The c of an angle's nodes; returns how many. A clamped edge has no fourth.
static int slopes_of(const ct_sheet* sheet, const int* node, double c[4]) {
    const int count = node[3] < 0 ? 3 : 4;
    const ct_vec3 a = ct_vec3_load(sheet->rest + 3 * (size_t)node[0]),
                  b = ct_vec3_load(sheet->rest + 3 * (size_t)node[1]);
    c[0] = c[1] = 0;
    for (int i = 2; i < count; i++) {
        double along;
        c[i] = corner(a, b, ct_vec3_load(sheet->rest + 3 * (size_t)node[i]), &along);
        c[0] -= (1 - along) * c[i];
        c[1] -= along * c[i];
    }
    return count;
}

// sum_l |M_kl| over the angles l that share a triangle with k, for the angle at place j of triangle e.
static double row_share(const ct_sheet* sheet, int e, int j) {
    const ct_sheet_curvature* c = &sheet->curvature;
    const double *R = sheet->moment + 6 * (size_t)e, *w = c->weight[j];
    const double m[3] = {R[0] * w[0] + R[3] * w[1] + R[4] * w[2], R[3] * w[0] + R[1] * w[1] + R[5] * w[2],
                         R[4] * w[0] + R[5] * w[1] + R[2] * w[2]};
    double sum = 0;
    for (int l = c->start[e]; l < c->start[e + 1]; l++) {
        const double* u = c->weight[l];
        sum += fabs(m[0] * u[0] + m[1] * u[1] + m[2] * u[2]);
    }
    return sum;
}

void ct_sheet_laplacian(const ct_sheet* sheet, const int* unknown, ct_block_matrix* matrix) {
    const ct_sheet_curvature* curvature = &sheet->curvature;
    for (int e = 0; e < sheet->ntri; e++) {
        add_membrane(&sheet->triangle[e], unknown, matrix);
        for (int j = curvature->start[e]; sheet->bends && j < curvature->start[e + 1]; j++) {
            const double m = row_share(sheet, e, j);
            const int* node = sheet->hinge_node + 4 * (size_t)curvature->hinge[j];
            double c[4];
            if (!(m > 0)) continue;
            const int count = slopes_of(sheet, node, c);
            for (int a = 0; a < count; a++)
                for (int b = 0; b <= a; b++)
                    add_scalar(matrix, unknown[node[a]], unknown[node[b]], m * c[a] * c[b]);
        }
    }
}
