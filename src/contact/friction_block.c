// Blocks of the linear systems of friction problems; see friction_block.h.
#include "contact/friction_block.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"
#include "math/point3.h"

#define RANK 1e-12  // relative size of a singular value of D that counts as zero
#define LEAST 1e-3  // of a contact's own compliance: what the preconditioner adds to it at least

// out = A v and A^T v
static void apply(const double* A, const double* v, double* out) {
    for (int i = 0; i < 3; i++) out[i] = dot3(A + 3 * i, v);
}
static void apply_transposed(const double* A, const double* v, double* out) {
    for (int i = 0; i < 3; i++) out[i] = A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2];
}

// Two unit vectors orthogonal to v and to one another.
static void complete(const double* v, double a[3], double b[3]) {
    const ct_vec3 n = ct_vec3_normalise(ct_vec3_load(v)), t = ct_vec3_orthogonal(n);
    ct_vec3_store(a, t);
    ct_vec3_store(b, ct_vec3_cross(n, t));
}

// Rank of D, and orthonormal U1 (its range) and U2 (the rest).
static void split_range(const double* D, ct_friction_block* b, ct_friction_rows* r) {
    const ct_mat3 A = ct_mat3_load(D), cofactor = ct_mat3_cofactor(A);
    const double size = sqrt(ct_mat3_dot(A, A)), area = sqrt(ct_mat3_dot(cofactor, cofactor));
    double(*const U1)[3] = b->U1, (*const U2)[3] = b->U2;
    memset(U1, 0, sizeof b->U1);
    memset(U2, 0, sizeof b->U2);
    r->rank = !(size > 0)                                          ? 0
              : area <= RANK * size * size                         ? 1
              : fabs(ct_mat3_determinant(A)) <= RANK * size * area ? 2
                                                                   : 3;
    for (int i = 0; i < 3; i++) (r->rank == 3 ? U1 : U2)[i][i] = 1;
    if (r->rank == 0 || r->rank == 3) return;
    // rank 2: the columns of the cofactor matrix are multiples of U2; rank 1: those of D are multiples of U1
    const ct_mat3 source = r->rank == 2 ? cofactor : A;
    ct_vec3 best = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        const ct_vec3 column = ct_mat3_column(source, j);
        if (ct_vec3_dot(column, column) > ct_vec3_dot(best, best)) best = column;
    }
    double(*const one)[3] = r->rank == 2 ? U2 : U1, (*const two)[3] = r->rank == 2 ? U1 : U2;
    ct_vec3_store(one[0], ct_vec3_normalise(best));
    complete(one[0], two[0], two[1]);
}

// Y and Z from U2^T E; false: some direction of the force is left open.
static bool split_force(const double* E, ct_friction_block* b, int rank) {
    double e[3][3];
    for (int i = 0; i < 3 - rank; i++) apply_transposed(E, b->U2[i], e[i]);
    memset(b->Z, 0, sizeof b->Z);
    memset(b->Y, 0, sizeof b->Y);
    if (rank == 3) {
        for (int i = 0; i < 3; i++) b->Z[i][i] = 1;
        return true;
    }
    if (rank == 2) {
        const double square = dot3(e[0], e[0]);
        if (!(square > 0)) return false;
        for (int i = 0; i < 3; i++) b->Y[0][i] = e[0][i] / square;
        complete(e[0], b->Z[0], b->Z[1]);
        return true;
    }
    // the dual basis of the e, completed by their normal when there are two
    const ct_vec3 p = ct_vec3_load(e[0]), q = ct_vec3_load(e[1]);
    const ct_vec3 r = rank == 1 ? ct_vec3_normalise(ct_vec3_cross(p, q)) : ct_vec3_load(e[2]);
    const double volume = ct_vec3_dot(ct_vec3_cross(p, q), r);
    if (!(fabs(volume) > RANK * ct_vec3_norm(p) * ct_vec3_norm(q) * ct_vec3_norm(r))) return false;
    ct_vec3_store(b->Y[0], ct_vec3_scale(1 / volume, ct_vec3_cross(q, r)));
    ct_vec3_store(b->Y[1], ct_vec3_scale(1 / volume, ct_vec3_cross(r, p)));
    ct_vec3_store(rank == 1 ? b->Z[0] : b->Y[2],
                  rank == 1 ? r : ct_vec3_scale(1 / volume, ct_vec3_cross(p, q)));
    return true;
}

// The inverse of a k x k matrix, by that of a 3 x 3 matrix completed with the identity.
static bool invert(int k, double m[3][3]) {
    ct_mat3 A = ct_mat3_identity();
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) A.a[i][j] = m[i][j];
    const double determinant = ct_mat3_determinant(A);
    if (!(fabs(determinant) > 1e-14)) return false;
    const ct_mat3 inverse = ct_mat3_inverse(A);
    memcpy(m, inverse.a, sizeof inverse.a);
    return true;
}

// U1 such that the Q = D^T U1 are orthonormal.
static bool straighten_rows(const double* D, ct_friction_block* b, ct_friction_rows* r) {
    for (int i = 0; i < r->rank; i++) {
        apply_transposed(D, b->U1[i], r->Q[i]);
        for (int k = 0; k < i; k++) {
            const double along = dot3(r->Q[k], r->Q[i]);
            for (int a = 0; a < 3; a++) {
                r->Q[i][a] -= along * r->Q[k][a];
                b->U1[i][a] -= along * b->U1[k][a];
            }
        }
        const double size = sqrt(dot3(r->Q[i], r->Q[i]));
        if (!(size > 0)) return false;
        for (int a = 0; a < 3; a++) {
            r->Q[i][a] /= size;
            b->U1[i][a] /= size;
        }
    }
    return true;
}

// Z such that Q^T Z = I.
static bool straighten_force(ct_friction_block* b, const ct_friction_rows* r) {
    b->plain = false;
    double G[3][3], Z[3][3] = {{0}};
    for (int i = 0; i < r->rank; i++)
        for (int j = 0; j < r->rank; j++) G[i][j] = dot3(r->Q[i], b->Z[j]);
    if (!invert(r->rank, G)) return false;
    for (int i = 0; i < r->rank; i++)
        for (int j = 0; j < r->rank; j++)
            for (int a = 0; a < 3; a++) Z[j][a] += b->Z[i][a] * G[i][j];
    memcpy(b->Z, Z, sizeof Z);
    static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    b->plain = r->rank == 3 && !memcmp(Z, identity, sizeof Z);
    return true;
}

// The symmetric part of K, raised where it hardly counts beside the contact's own compliance: what is left of
// it must survive single precision.
static void soften(const ct_friction_block* b, double own, ct_friction_rows* r) {
    for (int i = 0; i < r->rank; i++)
        for (int j = 0; j < r->rank; j++) r->E[i][j] = 0.5 * (b->K[i][j] + b->K[j][i]);
    double least = r->E[0][0];
    if (r->rank == 2)
        least = 0.5 * (r->E[0][0] + r->E[1][1]) - hypot(0.5 * (r->E[0][0] - r->E[1][1]), r->E[0][1]);
    if (r->rank == 3) least = fmin(least, fmin(r->E[1][1], r->E[2][2]));
    const double raise = fmax(0, LEAST * own - least);
    for (int i = 0; i < r->rank; i++) r->E[i][i] += raise;
}

// Q, K, R, scales; W: the contact's diagonal block.
static bool fill_block(const double* D, const double* E, const double W[9], ct_friction_block* b,
                       ct_friction_rows* r) {
    if (!straighten_rows(D, b, r) || !straighten_force(b, r)) return false;
    for (int i = 0; i < r->rank; i++) {
        double e[3], w[3], sum = 0;
        apply_transposed(E, b->U1[i], e);
        apply(W, r->Q[i], w);  // W is symmetric
        for (int j = 0; j < r->rank; j++) {
            b->K[i][j] = dot3(e, b->Z[j]);
            const double m = dot3(w, b->Z[j]) + b->K[i][j];
            sum += m * m;
        }
        for (int j = 0; j < 3 - r->rank; j++) b->R[i][j] = dot3(e, b->Y[j]);
        if (!(sum > 0)) return false;
        b->scale[i] = 1 / sqrt(sum);
    }
    if (r->rank) soften(b, (W[0] + W[4] + W[8]) / 3, r);
    return true;
}

bool ct_friction_block_make(const double* D, const double* E, const double W[9], ct_friction_block* b,
                            ct_friction_rows* r) {
    split_range(D, b, r);
    return split_force(E, b, r->rank) && fill_block(D, E, W, b, r);
}
