// Tets of second order: ten nodes, four points of quadrature.
//
// With barycentric coordinates l_0 .. l_3, corners x_k = x_kk and mid-edge nodes x_km = x_mk,
//     x = sum_k l_k (2 l_k - 1) x_k + 4 sum_{k<m} l_k l_m x_km.
// Point q has l_q = a = (5 + 3 sqrt 5)/20 and the others b = (5 - sqrt 5)/20; each has a quarter of the
// weight. There
//     dx/dl_k = S_k + 4 (a - b) x_kq,   S_k = (4 b - 1) x_k + 4 b sum_{m != k} x_km,
// and the edges of the map from the unit tet are E_j = dx/dl_j - dx/dl_0, j = 1 .. 3: what x_j - x_0 is for a
// linear tet. F = E(x) E(rest)^-1, and the point stands for the volume det E(rest)/24.
#ifndef CT_SHAPE_CELL_H
#define CT_SHAPE_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "math/mat3.h"

#define CT_CELL_FAR 0.13819660112501051         // b
#define CT_CELL_NEAR (4 * 0.44721359549995793)  // 4 (a - b)

enum { CT_CELL_POINTS = 4, CT_CELL_NODES = 10 };

// Which node x_km is. Mid-edge nodes follow the corners: 01 12 02 03 13 23.
static const unsigned char ct_cell_pair[4][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3}};

static const int ct_cell_edge[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

// Which part of the mass is at node a: positive shares, in the ratio of the diagonal of the mass matrix
// (Hinton, Rock and Zienkiewicz 1976); a quarter at each node of a linear tet.
static inline double ct_cell_share(bool second, int a) {
    return !second ? 0.25 : a < 4 ? 1.0 / 36 : 4.0 / 27;
}

// dE_j/dx_a at point q, node after node.
static inline void ct_cell_slopes(int q, double slope[CT_CELL_NODES][3]) {
    double of[CT_CELL_NODES][4] = {{0}};  // of dx/dl_k
    for (int k = 0; k < 4; k++) {
        for (int m = 0; m < 4; m++)
            of[ct_cell_pair[k][m]][k] += k == m ? 4 * CT_CELL_FAR - 1 : 4 * CT_CELL_FAR;
        of[ct_cell_pair[k][q]][k] += CT_CELL_NEAR;
    }
    for (int a = 0; a < CT_CELL_NODES; a++)
        for (int j = 0; j < 3; j++) slope[a][j] = of[a][j + 1] - of[a][0];
}

// E of point q for nodes at x; corner: 4 nodes, mid: 6.
static inline ct_mat3 ct_cell_edges(int q, const int* corner, const int* mid, const double* x) {
    double slope[CT_CELL_NODES][3];
    ct_mat3 E = {0};
    ct_cell_slopes(q, slope);
    for (int a = 0; a < CT_CELL_NODES; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                E.a[i][j] += x[3 * (size_t)(a < 4 ? corner[a] : mid[a - 4]) + (size_t)i] * slope[a][j];
    return E;
}

// The shape functions where the barycentric coordinates are l.
static inline void ct_cell_weights(const double l[4], double N[CT_CELL_NODES]) {
    for (int a = 0; a < 4; a++) N[a] = l[a] * (2 * l[a] - 1);
    for (int k = 0; k < 6; k++) N[4 + k] = 4 * l[ct_cell_edge[k][0]] * l[ct_cell_edge[k][1]];
}

// Where point q is.
static inline ct_vec3 ct_cell_place(int q, const int* corner, const int* mid, const double* x) {
    double l[4], N[CT_CELL_NODES];
    ct_vec3 p = {0, 0, 0};
    for (int k = 0; k < 4; k++) l[k] = k == q ? 1 - 3 * CT_CELL_FAR : CT_CELL_FAR;
    ct_cell_weights(l, N);
    for (int a = 0; a < CT_CELL_NODES; a++)
        p = ct_vec3_axpy(p, N[a], ct_vec3_load(x + 3 * (size_t)(a < 4 ? corner[a] : mid[a - 4])));
    return p;
}

// The volume of a tet, of second order unless mid is NULL: the sum over its points, least: of these.
static inline double ct_cell_volume(const int* corner, const int* mid, const double* x, double* least) {
    double sum = 0;
    *least = 0;
    for (int q = 0; q < (mid ? CT_CELL_POINTS : 1); q++) {
        ct_mat3 E;
        if (mid) E = ct_cell_edges(q, corner, mid, x);
        for (int k = 0; !mid && k < 9; k++)
            E.a[k % 3][k / 3] = x[3 * (size_t)corner[k / 3 + 1] + (size_t)(k % 3)] -
                                x[3 * (size_t)corner[0] + (size_t)(k % 3)];
        const double part = ct_mat3_determinant(E) / (mid ? 6 * CT_CELL_POINTS : 6);
        *least = q == 0 || part < *least ? part : *least;
        sum += part;
    }
    return sum;
}

#endif
