// Linear systems of friction problems with fixed sets; see friction_system.h.
#include "contact/friction_system.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "math/mat3.h"
#include "math/point3.h"

#define RANK 1e-12  // relative size of a singular value of D that counts as zero

// LAPACK: LU factorisation and its solve, column-major.
extern void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivot, int* info);
extern void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivot, int* info);
extern void sgetrs_(const char* trans, const int* n, const int* nrhs, const float* a, const int* lda,
                    const int* pivot, float* b, const int* ldb, int* info);
extern void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
                    const int* pivot, double* b, const int* ldb, int* info);

// A sign for each unknown, without order.
static double sign_of(int i) { return ((unsigned)i * 2654435761u >> 16) & 1 ? 1 : -1; }

ct_status ct_friction_system_reserve(ct_friction_system* s, int count) {
    if (count <= s->capacity) return CT_OK;
    const size_t capacity = (size_t)count + (size_t)count / 4 + 16, n = 3 * capacity;
    ct_friction_system grown = *s;
    grown.arena = (ct_arena){0};
    grown.block = ct_arena_alloc(&grown.arena, capacity, sizeof *grown.block);
    grown.contact = ct_arena_alloc(&grown.arena, capacity, sizeof(int));
    grown.compact_contact = ct_arena_alloc(&grown.arena, capacity, sizeof(int));
    grown.pivot = ct_arena_alloc(&grown.arena, n, sizeof(int));
    double** vectors[] = {&grown.particular, &grown.WF,   &grown.rhs,   &grown.y,
                          &grown.row,        &grown.line, &grown.probe, &grown.sign};
    for (int i = 0; i < 8; i++) *vectors[i] = ct_arena_alloc(&grown.arena, n, sizeof(double));
    grown.small = ct_arena_alloc(&grown.arena, n, sizeof(float));
    grown.small_out = ct_arena_alloc(&grown.arena, n, sizeof(float));
    ct_status status = grown.arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (!status && !s->krylov) status = ct_krylov_work_create(&s->krylov, (int)n, CT_FRICTION_RESTART);
    if (!status) status = ct_krylov_reserve(s->krylov, (int)n, CT_FRICTION_RESTART);
    grown.krylov = s->krylov;
    if (status) {
        ct_arena_free(&grown.arena);
        return status;
    }
    for (size_t i = 0; i < n; i++) grown.sign[i] = sign_of((int)i);
    ct_arena_free(&s->arena);
    grown.capacity = (int)capacity;
    grown.compact_count = -1;
    *s = grown;
    return CT_OK;
}

void ct_friction_system_free(ct_friction_system* s) {
    ct_arena_free(&s->arena);
    ct_krylov_work_free(s->krylov);
    ct_free(s->single);
    ct_free(s->compact);
    ct_free(s->full);
}

void ct_friction_product(const double* W, size_t stride, int count, const double* F, double* y) {
    for (int c = 0; c < count;) {
        if (F[3 * c] == 0 && F[3 * c + 1] == 0 && F[3 * c + 2] == 0) {
            c++;
            continue;
        }
        int end = c + 1;
        while (end < count && (F[3 * end] != 0 || F[3 * end + 1] != 0 || F[3 * end + 2] != 0)) end++;
        cblas_dgemv(CblasColMajor, CblasNoTrans, 3 * count, 3 * (end - c), 1, W + 3 * (size_t)c * stride,
                    (int)stride, F + 3 * c, 1, 1, y, 1);
        c = end;
    }
}

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
static void split_range(const double* D, ct_friction_block* b) {
    const ct_mat3 A = ct_mat3_load(D), cofactor = ct_mat3_cofactor(A);
    const double size = sqrt(ct_mat3_dot(A, A)), area = sqrt(ct_mat3_dot(cofactor, cofactor));
    double(*const U1)[3] = b->U1, (*const U2)[3] = b->U2;
    memset(U1, 0, sizeof b->U1);
    memset(U2, 0, sizeof b->U2);
    b->rank = !(size > 0)                                          ? 0
              : area <= RANK * size * size                         ? 1
              : fabs(ct_mat3_determinant(A)) <= RANK * size * area ? 2
                                                                   : 3;
    for (int i = 0; i < 3; i++) (b->rank == 3 ? U1 : U2)[i][i] = 1;
    if (b->rank == 0 || b->rank == 3) return;
    // rank 2: the columns of the cofactor matrix are multiples of U2; rank 1: those of D are multiples of U1
    const ct_mat3 source = b->rank == 2 ? cofactor : A;
    ct_vec3 best = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        const ct_vec3 column = ct_mat3_column(source, j);
        if (ct_vec3_dot(column, column) > ct_vec3_dot(best, best)) best = column;
    }
    double(*const one)[3] = b->rank == 2 ? U2 : U1, (*const two)[3] = b->rank == 2 ? U1 : U2;
    ct_vec3_store(one[0], ct_vec3_normalise(best));
    complete(one[0], two[0], two[1]);
}

// Y and Z from U2^T E; false: some direction of the force is left open.
static bool split_force(const double* E, ct_friction_block* b) {
    double e[3][3];
    for (int i = 0; i < 3 - b->rank; i++) apply_transposed(E, b->U2[i], e[i]);
    memset(b->Z, 0, sizeof b->Z);
    memset(b->Y, 0, sizeof b->Y);
    if (b->rank == 3) {
        for (int i = 0; i < 3; i++) b->Z[i][i] = 1;
        return true;
    }
    if (b->rank == 2) {
        const double square = dot3(e[0], e[0]);
        if (!(square > 0)) return false;
        for (int i = 0; i < 3; i++) b->Y[0][i] = e[0][i] / square;
        complete(e[0], b->Z[0], b->Z[1]);
        return true;
    }
    // the dual basis of the e, completed by their normal when there are two
    const ct_vec3 p = ct_vec3_load(e[0]), q = ct_vec3_load(e[1]);
    const ct_vec3 r = b->rank == 1 ? ct_vec3_normalise(ct_vec3_cross(p, q)) : ct_vec3_load(e[2]);
    const double volume = ct_vec3_dot(ct_vec3_cross(p, q), r);
    if (!(fabs(volume) > RANK * ct_vec3_norm(p) * ct_vec3_norm(q) * ct_vec3_norm(r))) return false;
    ct_vec3_store(b->Y[0], ct_vec3_scale(1 / volume, ct_vec3_cross(q, r)));
    ct_vec3_store(b->Y[1], ct_vec3_scale(1 / volume, ct_vec3_cross(r, p)));
    ct_vec3_store(b->rank == 1 ? b->Z[0] : b->Y[2],
                  b->rank == 1 ? r : ct_vec3_scale(1 / volume, ct_vec3_cross(p, q)));
    return true;
}

// Inverse of the k x k diagonal block of M, by that of a 3 x 3 matrix completed with the identity.
static bool invert_diagonal(ct_friction_block* b, double m[3][3]) {
    ct_mat3 A = ct_mat3_identity();
    for (int i = 0; i < b->rank; i++)
        for (int j = 0; j < b->rank; j++) A.a[i][j] = m[i][j];
    const double determinant = ct_mat3_determinant(A);
    const bool regular = fabs(determinant) > 1e-14;  // rows are scaled to 1
    const ct_mat3 inverse = regular ? ct_mat3_inverse(A) : ct_mat3_identity();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b->inverse[i][j] = inverse.a[i][j];
    return isfinite(determinant);
}

// L, K, R, scaled rows; W: the contact's diagonal block.
static bool fill_block(const double* D, const double* E, const double W[9], ct_friction_block* b) {
    double m[3][3] = {{0}};
    for (int i = 0; i < b->rank; i++) {
        double e[3], w[3], sum = 0;
        apply_transposed(D, b->U1[i], b->L[i]);
        apply_transposed(E, b->U1[i], e);
        apply(W, b->L[i], w);  // W is symmetric
        for (int j = 0; j < b->rank; j++) {
            b->K[i][j] = dot3(e, b->Z[j]);
            m[i][j] = dot3(w, b->Z[j]) + b->K[i][j];
            sum += m[i][j] * m[i][j];
        }
        for (int j = 0; j < 3 - b->rank; j++) b->R[i][j] = dot3(e, b->Y[j]);
        if (!(sum > 0)) return false;
        const double scale = 1 / sqrt(sum);
        for (int j = 0; j < 3; j++) {
            m[i][j] *= scale;
            b->K[i][j] *= scale;
            b->R[i][j] *= scale;
            b->L[i][j] *= scale;
            b->U1[i][j] *= scale;
        }
    }
    return invert_diagonal(b, m);
}

ct_status ct_friction_system_reduce(ct_friction_system* s, const double* W, int stride, int count,
                                    const double* D, const double* E) {
    const ct_status status = ct_friction_system_reserve(s, count);
    if (status) return status;
    s->W = W;
    s->stride = (size_t)stride;
    s->count = count;
    s->n = s->active = 0;
    s->use_compact = false;
    for (int c = 0; c < count; c++) {
        ct_friction_block* b = &s->block[c];
        double own[9];
        for (int i = 0; i < 3; i++)
            memcpy(own + 3 * i, W + (3 * (size_t)c + (size_t)i) * s->stride + 3 * c, 3 * sizeof(double));
        split_range(D + 9 * c, b);
        b->offset = s->n;
        if (!split_force(E + 9 * c, b) || !fill_block(D + 9 * c, E + 9 * c, own, b)) return CT_SINGULAR;
        if (b->rank) s->contact[s->active++] = c;
        s->n += b->rank;
    }
    return CT_OK;
}

// Row i of contact c in M, n numbers: first L_i^T W, then times Z.
static void matrix_row(const ct_friction_system* s, int c, int i, double* out) {
    const ct_friction_block* b = &s->block[c];
    const double *W0 = s->W + 3 * (size_t)c * s->stride, *W1 = W0 + s->stride, *W2 = W1 + s->stride;
    const double l0 = b->L[i][0], l1 = b->L[i][1], l2 = b->L[i][2];
    double* T = s->row;
    for (int j = 0; j < 3 * s->count; j++) T[j] = l0 * W0[j] + l1 * W1[j] + l2 * W2[j];
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* other = &s->block[s->contact[k]];
        const double *t = T + 3 * s->contact[k], (*Z)[3] = other->Z;
        double* at = out + other->offset;
        if (other->rank == 3) {  // Z = I
            at[0] = t[0], at[1] = t[1], at[2] = t[2];
        } else {
            at[0] = t[0] * Z[0][0] + t[1] * Z[0][1] + t[2] * Z[0][2];
            if (other->rank == 2) at[1] = t[0] * Z[1][0] + t[1] * Z[1][1] + t[2] * Z[1][2];
        }
    }
    for (int j = 0; j < b->rank; j++) out[b->offset + j] += b->K[i][j];
}

// M in single or double precision, and in `probe` its product with the signs.
static void fill_matrix(ct_friction_system* s, bool in_double) {
    const int n = s->n;
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        for (int i = 0; i < b->rank; i++) {
            const size_t at = (size_t)(b->offset + i) * (size_t)n;
            double* row = in_double ? s->full + at : s->line;
            matrix_row(s, s->contact[k], i, row);
            if (in_double) continue;
            double sum = 0;
            for (int j = 0; j < n; j++) {
                s->single[at + (size_t)j] = (float)row[j];
                sum += s->sign[j] * row[j];
            }
            s->probe[b->offset + i] = sum;
        }
    }
}

ct_status ct_friction_system_factor(ct_friction_system* s, bool in_double) {
    const int n = s->n;
    const size_t size = (size_t)n * (size_t)n;
    s->factored_double = in_double;
    if (in_double) s->use_compact = false;
    if (in_double ? !ct_reserve((void**)&s->full, &s->full_size, size, sizeof(double))
                  : !ct_reserve((void**)&s->single, &s->single_size, size, sizeof(float)))
        return CT_OUT_OF_MEMORY;
    fill_matrix(s, in_double);
    int info = 0;
    if (n && in_double) dgetrf_(&n, &n, s->full, &n, s->pivot, &info);
    if (n && !in_double) sgetrf_(&n, &n, s->single, &n, s->pivot, &info);
    return info ? CT_SINGULAR : CT_OK;
}

// y = M^-1 y or M^-T y. LAPACK's matrix is M^T.
static void factor_solve(ct_friction_system* s, bool transposed, double* y) {
    const char* trans = transposed ? "N" : "T";
    const int n = s->n, one = 1;
    int info = 0;
    if (!n) return;
    if (s->factored_double) {
        dgetrs_(trans, &n, &one, s->full, &n, s->pivot, y, &n, &info);
        return;
    }
    for (int i = 0; i < n; i++) s->small[i] = (float)y[i];
    sgetrs_(trans, &n, &one, s->single, &n, s->pivot, s->small, &n, &info);
    for (int i = 0; i < n; i++) y[i] = s->small[i];
}

ct_status ct_friction_system_compact(ct_friction_system* s) {
    const int active = s->active;
    const size_t n = 3 * (size_t)active;
    s->use_compact = true;
    if (s->compact_count == active && !memcmp(s->compact_contact, s->contact, (size_t)active * sizeof(int)))
        return CT_OK;
    s->compact_count = -1;
    s->use_compact = false;
    if (!ct_reserve((void**)&s->compact, &s->compact_size, n * n, sizeof(float))) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < active; k++)
        for (int i = 0; i < 3; i++) {
            const double* from = s->W + (3 * (size_t)s->contact[k] + (size_t)i) * s->stride;
            float* to = s->compact + (3 * (size_t)k + (size_t)i) * n;
            for (int l = 0; l < active; l++, to += 3) {
                const double* block = from + 3 * s->contact[l];
                to[0] = (float)block[0];
                to[1] = (float)block[1];
                to[2] = (float)block[2];
            }
        }
    memcpy(s->compact_contact, s->contact, (size_t)active * sizeof(int));
    s->compact_count = active;
    s->use_compact = true;
    return CT_OK;
}

// WF += W F: of the active contacts among themselves in single precision, of the others in double.
static void mixed_product(ct_friction_system* s, const double* F) {
    const int n = 3 * s->active;
    for (int k = 0; k < s->active; k++)
        for (int j = 0; j < 3; j++) s->small[3 * k + j] = (float)F[3 * s->contact[k] + j];
    cblas_sgemv(CblasColMajor, CblasNoTrans, n, n, 1, s->compact, n, s->small, 1, 0, s->small_out, 1);
    for (int c = 0; c < s->count; c++) {
        double* other = s->row + 3 * c;
        for (int j = 0; j < 3; j++) other[j] = s->block[c].rank ? 0 : F[3 * c + j];
    }
    ct_friction_product(s->W, s->stride, s->count, s->row, s->WF);
    for (int k = 0; k < s->active; k++)
        for (int j = 0; j < 3; j++) s->WF[3 * s->contact[k] + j] += s->small_out[3 * k + j];
}

// F0 = Y U2^T a in `particular`, the right-hand side of M y in rhs.
static void reduce_right_side(ct_friction_system* s, const double* a) {
    bool any = false;
    memset(s->particular, 0, 3 * (size_t)s->count * sizeof(double));
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        for (int i = 0; i < 3 - b->rank; i++) {
            const double value = dot3(b->U2[i], a + 3 * c);
            if (value == 0) continue;
            any = true;
            for (int j = 0; j < 3; j++) s->particular[3 * c + j] += value * b->Y[i][j];
        }
    }
    memset(s->WF, 0, 3 * (size_t)s->count * sizeof(double));
    if (any && s->use_compact) mixed_product(s, s->particular);
    else if (any) ct_friction_product(s->W, s->stride, s->count, s->particular, s->WF);
    for (int k = 0; k < s->active; k++) {
        const int c = s->contact[k];
        const ct_friction_block* b = &s->block[c];
        for (int i = 0; i < b->rank; i++) {
            double sum = dot3(b->U1[i], a + 3 * c) - dot3(b->L[i], s->WF + 3 * c);
            for (int j = 0; j < 3 - b->rank; j++) sum -= b->R[i][j] * dot3(b->U2[j], a + 3 * c);
            s->rhs[b->offset + i] = sum;
        }
    }
}

// F = F0 + Z y
static void expand(const ct_friction_system* s, const double* y, double* F) {
    memcpy(F, s->particular, 3 * (size_t)s->count * sizeof(double));
    for (int k = 0; k < s->active; k++) {
        const int c = s->contact[k];
        const ct_friction_block* b = &s->block[c];
        for (int i = 0; i < b->rank; i++)
            for (int j = 0; j < 3; j++) F[3 * c + j] += y[b->offset + i] * b->Z[i][j];
    }
}

void ct_friction_system_solve(ct_friction_system* s, const double* a, double* F) {
    reduce_right_side(s, a);
    factor_solve(s, false, s->rhs);
    expand(s, s->rhs, F);
}

void ct_friction_system_solve_transposed(ct_friction_system* s, const double* a, double* F) {
    double *y = s->rhs, *Ly = s->particular;
    for (int k = 0; k < s->active; k++) {
        const int c = s->contact[k];
        const ct_friction_block* b = &s->block[c];
        for (int i = 0; i < b->rank; i++) y[b->offset + i] = dot3(b->Z[i], a + 3 * c);
    }
    factor_solve(s, true, y);
    bool any = false;  // some contact is not sticking, so that W L y is needed
    memset(Ly, 0, 3 * (size_t)s->count * sizeof(double));
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        any |= b->rank < 3;
        for (int i = 0; i < b->rank; i++)
            for (int j = 0; j < 3; j++) Ly[3 * c + j] += y[b->offset + i] * b->L[i][j];
    }
    memset(s->WF, 0, 3 * (size_t)s->count * sizeof(double));
    if (any && s->active == s->count && s->use_compact) mixed_product(s, Ly);
    else if (any) ct_friction_product(s->W, s->stride, s->count, Ly, s->WF);
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        double* f = F + 3 * c;
        f[0] = f[1] = f[2] = 0;
        for (int i = 0; i < b->rank; i++)
            for (int j = 0; j < 3; j++) f[j] += y[b->offset + i] * b->U1[i][j];
        for (int i = 0; i < 3 - b->rank; i++) {
            double value = dot3(b->Y[i], a + 3 * c) - dot3(b->Y[i], s->WF + 3 * c);
            for (int j = 0; j < b->rank; j++) value -= b->R[j][i] * y[b->offset + j];
            for (int j = 0; j < 3; j++) f[j] += value * b->U2[i][j];
        }
    }
}

// out = M y in single precision, vectors in double
static void small_product(const double* y, double* out, void* user) {
    ct_friction_system* s = user;
    const int n = 3 * s->active;
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        double f[3] = {0, 0, 0};
        for (int i = 0; i < b->rank; i++)
            for (int j = 0; j < 3; j++) f[j] += y[b->offset + i] * b->Z[i][j];
        for (int j = 0; j < 3; j++) s->small[3 * k + j] = (float)f[j];
    }
    cblas_sgemv(CblasColMajor, CblasNoTrans, n, n, 1, s->compact, n, s->small, 1, 0, s->small_out, 1);
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        const double w[3] = {s->small_out[3 * k], s->small_out[3 * k + 1], s->small_out[3 * k + 2]};
        for (int i = 0; i < b->rank; i++) {
            double sum = dot3(b->L[i], w);
            for (int j = 0; j < b->rank; j++) sum += b->K[i][j] * y[b->offset + j];
            out[b->offset + i] = sum;
        }
    }
}

static void precondition_by_blocks(const double* in, double* out, void* user) {
    const ct_friction_system* s = user;
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        for (int i = 0; i < b->rank; i++) {
            double sum = 0;
            for (int j = 0; j < b->rank; j++) sum += b->inverse[i][j] * in[b->offset + j];
            out[b->offset + i] = sum;
        }
    }
}

static void precondition_by_factor(const double* in, double* out, void* user) {
    ct_friction_system* s = user;
    memcpy(out, in, (size_t)s->n * sizeof(double));
    factor_solve(s, false, out);
}

// By the solution for the right-hand side whose rows U1 are the given ones, and whose others are zero.
static void precondition_by_inverse(const double* in, double* out, void* user) {
    ct_friction_system* s = user;
    double *a = s->row, *F = s->line;
    memset(a, 0, 3 * (size_t)s->count * sizeof(double));
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        for (int i = 0; i < b->rank; i++)
            for (int j = 0; j < 3; j++)
                a[3 * s->contact[k] + j] += in[b->offset + i] * b->U1[i][j] / dot3(b->U1[i], b->U1[i]);
    }
    ct_friction_complement_solve(s->complement, a, F);
    for (int k = 0; k < s->active; k++) {
        const ct_friction_block* b = &s->block[s->contact[k]];
        for (int i = 0; i < b->rank; i++) out[b->offset + i] = dot3(b->Z[i], F + 3 * s->contact[k]);
    }
}

ct_status ct_friction_system_iterate(ct_friction_system* s, const double* a, ct_friction_level level,
                                     double relative, int limit, double* F, ct_krylov_report* report) {
    const ct_status status = ct_friction_system_compact(s);
    if (status) return status;
    reduce_right_side(s, a);
    memset(s->y, 0, (size_t)s->n * sizeof(double));
    const ct_krylov_def def = {.n = s->n,
                               .apply = small_product,
                               .user = s,
                               .relative = relative,
                               .max_iterations = limit,
                               .precondition = level == CT_FRICTION_INVERSE   ? precondition_by_inverse
                                               : level == CT_FRICTION_ITERATE ? precondition_by_blocks
                                                                              : precondition_by_factor};
    ct_gmres(&def, s->krylov, s->rhs, s->y, report);
    expand(s, s->y, F);
    return CT_OK;
}

double ct_friction_system_error(ct_friction_system* s) {
    double worst = 0;
    factor_solve(s, false, s->probe);
    for (int i = 0; i < s->n; i++) {
        const double error = fabs(s->probe[i] - s->sign[i]);
        worst = error <= worst ? worst : error;  // keeps what is not a number
    }
    return worst;
}
