// Hessians of elements, eight tets at a time: made positive semi-definite, and brought to the nodes.
//
// An isotropic energy's H = d(V P)/dF is block-diagonal in the singular basis of F = U diag(s) V^T, with a
// 3x3 block A on the diagonal entries and, for each pair of axes, a symmetric and a skew mode (U (e_i e_j^T
// +- e_j e_i^T) V^T / sqrt 2). Each mode with a negative eigenvalue is raised to zero by v v^T, A to its
// positive part. The damping's geometric part dF sigma becomes semi-definite with the positive part of sigma.
//
// Matrices are 9 x 9 values, components of CT_BLOCK lanes: H[(9 i + j) CT_BLOCK + lane].
#ifndef CT_FORCE_ELASTIC_ELEMENT_H
#define CT_FORCE_ELASTIC_ELEMENT_H

#include <float.h>

#include "force/elastic_table.h"
#include "force/elastic_vector.h"

// ---- 3x3 --------------------------------------------------------------------------------------

// Makes (p,q) of A zero by a rotation; V turns along. r: the third axis.
CT_INLINE void rotate_axes(vd A[3][3], vd V[3][3], int p, int q, int r) {
    const vd c = A[p][q], half = 0.5 * (A[q][q] - A[p][p]);
    const vd t = vcopysign(vset(1), half) * c / (vabs(half) + vsqrt(half * half + c * c) + DBL_MIN);
    const vd cosine = 1 / vsqrt(1 + t * t), sine = t * cosine;
    const vd rp = A[r][p], rq = A[r][q];
    A[p][p] -= t * c;
    A[q][q] += t * c;
    A[p][q] = A[q][p] = vset(0);
    A[r][p] = A[p][r] = cosine * rp - sine * rq;
    A[r][q] = A[q][r] = sine * rp + cosine * rq;
    for (int i = 0; i < 3; i++) {
        const vd x = V[i][p], y = V[i][q];
        V[i][p] = cosine * x - sine * y;
        V[i][q] = sine * x + cosine * y;
    }
}

// The positive part of a symmetric matrix. Five rounds leave nothing beside the diagonal: the last ones
// square what is left.
CT_INLINE void positive_part(vd A[3][3]) {
    vd V[3][3], B[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            V[i][j] = vset(i == j);
            B[i][j] = A[i][j];
        }
    for (int round = 0; round < 5; round++) {
        rotate_axes(B, V, 0, 1, 2);
        rotate_axes(B, V, 0, 2, 1);
        rotate_axes(B, V, 1, 2, 0);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j] = vset(0);
            for (int k = 0; k < 3; k++) A[i][j] += vmax(B[k][k], vset(0)) * V[i][k] * V[j][k];
        }
}

// sigma: xx, yy, zz, xy, xz, yz
static void element_positive_stress(double* sigma) {
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int v = 0; v < CT_BLOCK; v += CT_LANES) {
        vd A[3][3];
        for (int i = 0; i < 9; i++) A[i / 3][i % 3] = vload(sigma + place[i / 3][i % 3] * CT_BLOCK + v);
        positive_part(A);
        for (int i = 0; i < 9; i++) vstore(sigma + place[i / 3][i % 3] * CT_BLOCK + v, A[i / 3][i % 3]);
    }
}

// ---- 9x9 --------------------------------------------------------------------------------------

// By elimination: much cheaper than modes, and most blocks end here.
static bool element_is_positive(const double* H) {
    for (int v = 0; v < CT_BLOCK; v += CT_LANES) {
        vd L[9][9];
        for (int i = 0; i < 9; i++)
            for (int j = 0; j <= i; j++) L[i][j] = vload(H + (9 * i + j) * CT_BLOCK + v);
        for (int k = 0; k < 9; k++) {
            const vd least = 1e-12 * vload(H + 10 * k * CT_BLOCK + v);
            if (vany(~(L[k][k] > least))) return false;
            const vd inverse = 1 / L[k][k];
            for (int i = k + 1; i < 9; i++) {
                const vd share = L[i][k] * inverse;
                for (int j = k + 1; j <= i; j++) L[i][j] -= share * L[j][k];
            }
        }
    }
    return true;
}

// out = H a
CT_INLINE void element_times(const double* H, const vd a[9], vd out[9]) {
    for (int i = 0; i < 9; i++) {
        out[i] = vset(0);
        for (int j = 0; j < 9; j++) out[i] += vload(H + (9 * i + j) * CT_BLOCK) * a[j];
    }
}

CT_INLINE vd dot9(const vd a[9], const vd b[9]) {
    vd sum = vset(0);
    for (int i = 0; i < 9; i++) sum += a[i] * b[i];
    return sum;
}

// H += a b^T
CT_INLINE void element_raise(double* H, const vd a[9], const vd b[9]) {
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            double* at = H + (9 * i + j) * CT_BLOCK;
            vstore(at, vload(at) + a[i] * b[j]);
        }
}

// u_i v_j^T; bases: U, then V, row-major.
CT_INLINE void mode_of(const double* bases, int i, int j, vd mode[9]) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            mode[3 * a + b] =
                vload(bases + (3 * a + i) * CT_BLOCK) * vload(bases + (9 + 3 * b + j) * CT_BLOCK);
}

// The symmetric or skew mode of two axes.
static void project_pair(double* H, const double* bases, int i, int j, double sign) {
    vd first[9], mode[9], turned[9];
    mode_of(bases, i, j, first);
    mode_of(bases, j, i, mode);
    for (int k = 0; k < 9; k++) mode[k] = 0.70710678118654752 * (first[k] + sign * mode[k]);
    element_times(H, mode, turned);
    const vd missing = vmax(-dot9(mode, turned), vset(0));
    if (!vany(missing > 0)) return;
    for (int k = 0; k < 9; k++) turned[k] = missing * mode[k];
    element_raise(H, mode, turned);
}

static void project_axes(double* H, const double* bases) {
    vd axis[3][9], A[3][3], raised[3][3];
    for (int i = 0; i < 3; i++) mode_of(bases, i, i, axis[i]);
    for (int j = 0; j < 3; j++) {
        vd turned[9];
        element_times(H, axis[j], turned);
        for (int i = 0; i <= j; i++) A[i][j] = A[j][i] = raised[i][j] = raised[j][i] = dot9(axis[i], turned);
    }
    positive_part(raised);
    for (int i = 0; i < 3; i++) {
        vd missing[9] = {{0}};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 9; k++) missing[k] += (raised[i][j] - A[i][j]) * axis[j][k];
        element_raise(H, axis[i], missing);
    }
}

static void element_project(const double* bases, double* H) {
    for (int v = 0; v < CT_BLOCK; v += CT_LANES) {
        for (int pair = 0; pair < 3; pair++)
            for (int sign = -1; sign <= 1; sign += 2)
                project_pair(H + v, bases + v, pair == 2, pair == 0 ? 1 : 2, sign);
        project_axes(H + v, bases + v);
    }
}

// ---- nodes ------------------------------------------------------------------------------------

static void element_nodes(const double* H, const double* gradient, int count, double* out) {
    for (int v = 0; v < CT_BLOCK; v += CT_LANES) {
        double* block = out + v;
        for (int b = 0; b < count; b++) {
            vd g[3], HG[9][3];
            for (int j = 0; j < 3; j++) g[j] = vload(gradient + (3 * b + j) * CT_BLOCK + v);
            for (int i = 0; i < 9; i++)
                for (int k = 0; k < 3; k++) {
                    const double* row = H + (9 * i + 3 * k) * CT_BLOCK + v;
                    HG[i][k] =
                        vload(row) * g[0] + vload(row + CT_BLOCK) * g[1] + vload(row + 2 * CT_BLOCK) * g[2];
                }
            for (int a = b; a < count; a++, block += 9 * CT_BLOCK) {
                for (int j = 0; j < 3; j++) g[j] = vload(gradient + (3 * a + j) * CT_BLOCK + v);
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++)
                        vstore(block + (3 * i + k) * CT_BLOCK,
                               g[0] * HG[3 * i][k] + g[1] * HG[3 * i + 1][k] + g[2] * HG[3 * i + 2][k]);
            }
        }
    }
}

#endif
