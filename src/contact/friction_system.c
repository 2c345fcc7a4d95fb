// Linear systems of friction problems with fixed sets; see friction_system.h.
#include "contact/friction_system.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "contact/friction_nodes.h"
#include "math/mat3.h"
#include "math/point3.h"

// LAPACK: LU factorisation and its solve, column-major.
extern void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivot, int* info);
extern void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivot, int* info);
extern void sgetrs_(const char* trans, const int* n, const int* nrhs, const float* a, const int* lda,
                    const int* pivot, float* b, const int* ldb, int* info);
extern void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
                    const int* pivot, double* b, const int* ldb, int* info);

// A sign for each unknown, without order.
static double sign_of(int i) { return ((unsigned)i * 2654435761u >> 16) & 1 ? 1 : -1; }

enum { RESTART = 60 };  // longest cycle of GMRES

ct_status ct_friction_system_reserve(ct_friction_system* s, int count) {
    if (count <= s->capacity) return CT_OK;
    const size_t capacity = (size_t)count + (size_t)count / 4 + 16, n = 3 * capacity;
    ct_friction_system grown = *s;
    grown.arena = (ct_arena){0};
    grown.block = ct_arena_alloc(&grown.arena, capacity, sizeof *grown.block);
    grown.rows = ct_arena_alloc(&grown.arena, capacity, sizeof *grown.rows);
    grown.rank = ct_arena_alloc(&grown.arena, capacity, 1);
    grown.pivot = ct_arena_alloc(&grown.arena, n, sizeof(int));
    double** vectors[] = {&grown.particular, &grown.WF,      &grown.rhs,  &grown.y,
                          &grown.row,        &grown.scratch, &grown.line, &grown.probe};
    for (int i = 0; i < 8; i++) *vectors[i] = ct_arena_alloc(&grown.arena, n, sizeof(double));
    grown.small = ct_arena_alloc(&grown.arena, n, sizeof(float));
    grown.turned = ct_arena_alloc(&grown.arena, 3 * n, sizeof(float));
    ct_status status = grown.arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (!status && !s->krylov) status = ct_krylov_work_create(&s->krylov, (int)n, RESTART);
    if (!status) status = ct_krylov_reserve(s->krylov, (int)n, RESTART);
    if (!status && !s->near) status = ct_friction_near_create(&s->near);
    grown.krylov = s->krylov;
    grown.near = s->near;
    if (status) {
        ct_arena_free(&grown.arena);
        return status;
    }
    ct_arena_free(&s->arena);
    grown.capacity = (int)capacity;
    grown.rank_count = -1;
    *s = grown;
    return CT_OK;
}

void ct_friction_system_free(ct_friction_system* s) {
    ct_arena_free(&s->arena);
    ct_krylov_work_free(s->krylov);
    ct_friction_near_free(s->near);
    ct_free(s->single);
    ct_free(s->full);
    ct_free(s->T);
    ct_free(s->ways);
}

void ct_friction_system_borrow(ct_friction_system* s, const ct_friction_matrix* matrix,
                               const ct_friction_addition* addition) {
    s->matrix = matrix;
    s->addition = addition ? *addition : (ct_friction_addition){0};
    s->count = matrix->count;
}

void ct_friction_system_product(ct_friction_system* s, const double* F, double* u) {
    const int n = 3 * s->count, rank = s->addition.rank;
    const double* U = s->addition.U;
    ct_friction_matrix_add(s->matrix, F, s->scratch, u);
    double along[CT_FRICTION_RANK] = {0}, way[CT_FRICTION_RANK] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < rank; k++) along[k] += U[i * rank + k] * F[i];
    for (int k = 0; k < rank; k++)
        for (int l = 0; l < rank; l++) way[k] += s->addition.M[k * rank + l] * along[l];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < rank; k++) u[i] += U[i * rank + k] * way[k];
}

ct_status ct_friction_system_reduce(ct_friction_system* s, const double* D, const double* E) {
    s->n = 0;
    for (int c = 0; c < s->count; c++) {
        ct_friction_block* b = &s->block[c];
        ct_friction_rows* r = &s->rows[c];
        double own[9];
        if (s->matrix->nodes) ct_friction_nodes_block(s->matrix->nodes, s->count, c, own);
        else ct_friction_matrix_block(s->matrix, c, own);
        if (!ct_friction_block_make(D + 9 * c, E + 9 * c, own, b, r)) return CT_SINGULAR;
        r->offset = s->n;
        s->n += r->rank;
    }
    return CT_OK;
}

// The factor is of blocks of these ranks.
static bool has_ranks(const ct_friction_system* s) {
    bool same = s->rank_count == s->count;
    for (int c = 0; same && c < s->count; c++) same = s->rank[c] == s->rows[c].rank;
    return same;
}

ct_status ct_friction_system_reuse(ct_friction_system* s, bool* fits) {
    if (!s->matrix->W) return ct_friction_near_update(s->near, s->matrix, s->rows, fits);
    *fits = has_ranks(s);
    return CT_OK;
}

// ---- the matrix where W is stored ----------------------------------------------------------

static bool is_stored(const ct_friction_system* s) { return s->matrix->W || s->matrix->nodes; }

// Row i of contact c in M from T.
static void matrix_row_nodes(const ct_friction_system* s, int c, int i, double* out) {
    const ct_friction_rows* r = &s->rows[c];
    const float* T = s->T + (size_t)(r->offset + i) * 3 * (size_t)s->count;
    const double scale = s->block[c].scale[i];
    for (int d = 0; d < s->count; d++, T += 3)
        for (int j = 0; j < s->rows[d].rank; j++) {
            const float* Z = s->turned + 9 * d + 3 * j;
            out[s->rows[d].offset + j] = scale * (double)(T[0] * Z[0] + T[1] * Z[1] + T[2] * Z[2]);
        }
    for (int j = 0; j < r->rank; j++) out[r->offset + j] += scale * s->block[c].K[i][j];
}

// Row i of contact c in M, n numbers: Q_i^T W times Z, for runs of contacts that have rows.
static void matrix_row(const ct_friction_system* s, int c, int i, double* out) {
    const ct_friction_rows* r = &s->rows[c];
    const size_t stride = (size_t)s->matrix->stride;
    const double *W0 = s->matrix->W + 3 * (size_t)c * stride, *W1 = W0 + stride, *W2 = W1 + stride;
    const double scale = s->block[c].scale[i];
    const double q0 = scale * r->Q[i][0], q1 = scale * r->Q[i][1], q2 = scale * r->Q[i][2];
    double* T = s->row;
    for (int d = 0, end; d < s->count; d = end) {
        for (end = d + 1; end < s->count && !s->rows[d].rank == !s->rows[end].rank;) end++;
        if (!s->rows[d].rank) continue;
        for (int j = 3 * d; j < 3 * end; j++) T[j] = q0 * W0[j] + q1 * W1[j] + q2 * W2[j];
        for (int e = d; e < end; e++) {
            double* at = out + s->rows[e].offset;
            if (s->block[e].plain) memcpy(at, T + 3 * e, 3 * sizeof(double));
            else
                for (int j = 0; j < s->rows[e].rank; j++) at[j] = dot3(T + 3 * e, s->block[e].Z[j]);
        }
    }
    for (int j = 0; j < r->rank; j++) out[r->offset + j] += scale * s->block[c].K[i][j];
}

// v^T U of a contact
static void combine_ways(const ct_friction_system* s, int c, const double v[3], double* out) {
    const int rank = s->addition.rank;
    const double* U = s->addition.U + 3 * (size_t)c * (size_t)rank;
    for (int k = 0; k < rank; k++) out[k] = v[0] * U[k] + v[1] * U[rank + k] + v[2] * U[2 * rank + k];
}

// Z^T U, row by row.
static ct_status fill_ways(ct_friction_system* s) {
    const int rank = s->addition.rank;
    if (!ct_reserve((void**)&s->ways, &s->ways_size, (size_t)s->n * (size_t)rank, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++)
            combine_ways(s, c, s->block[c].Z[i], s->ways + (size_t)(s->rows[c].offset + i) * (size_t)rank);
    return CT_OK;
}

// Adds Q_i^T U M (Z^T U)^T to row i of contact c.
static void add_ways(const ct_friction_system* s, int c, int i, double* out) {
    const int rank = s->addition.rank;
    double own[CT_FRICTION_RANK], way[CT_FRICTION_RANK] = {0};
    combine_ways(s, c, s->rows[c].Q[i], own);
    for (int k = 0; k < rank; k++)
        for (int l = 0; l < rank; l++) way[k] += s->block[c].scale[i] * s->addition.M[k * rank + l] * own[l];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, s->n, rank, 1, s->ways, rank, way, 1, 1, out, 1);
}

static ct_status fill_rows(ct_friction_system* s) {
    const ct_friction_nodes* nodes = s->matrix->nodes;
    if (!ct_reserve((void**)&s->T, &s->T_size, 3 * (size_t)s->n * (size_t)s->count, sizeof(float)))
        return CT_OUT_OF_MEMORY;
    ct_friction_nodes_rows(nodes, s->count, s->rows, s->T);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++)
            ct_friction_nodes_unturn(nodes, c, s->block[c].Z[i], s->turned + 9 * c + 3 * i);
    return CT_OK;
}

ct_status ct_friction_system_follow(ct_friction_system* s, bool* fits) {
    *fits = has_ranks(s);
    return *fits && s->matrix->nodes ? fill_rows(s) : CT_OK;
}

// M in single or double precision; probed: in `probe` its product with the signs.
static void fill_matrix(ct_friction_system* s, bool in_double, bool probed) {
    const int n = s->n;
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++) {
            const int at = s->rows[c].offset + i;
            double* row = in_double ? s->full + (size_t)at * (size_t)n : s->line;
            (s->matrix->nodes ? matrix_row_nodes : matrix_row)(s, c, i, row);
            if (s->addition.rank) add_ways(s, c, i, row);
            if (in_double) continue;
            float* single = s->single + (size_t)at * (size_t)n;
            for (int j = 0; j < n; j++) single[j] = (float)row[j];
            double sum = 0;
            for (int j = 0; probed && j < n; j++) sum += sign_of(j) * row[j];
            s->probe[at] = sum;
        }
}

static ct_status factor_dense(ct_friction_system* s, bool in_double, bool probed) {
    const int n = s->n;
    const size_t size = (size_t)n * (size_t)n;
    if (in_double ? !ct_reserve((void**)&s->full, &s->full_size, size, sizeof(double))
                  : !ct_reserve((void**)&s->single, &s->single_size, size, sizeof(float)))
        return CT_OUT_OF_MEMORY;
    if (s->matrix->nodes && fill_rows(s)) return CT_OUT_OF_MEMORY;
    if (s->addition.rank && fill_ways(s)) return CT_OUT_OF_MEMORY;
    fill_matrix(s, in_double, probed);
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

// Largest error of the solution with the factor when the answer is the vector of signs.
static double probe_error(ct_friction_system* s) {
    double worst = 0;
    factor_solve(s, false, s->probe);
    for (int i = 0; i < s->n; i++) {
        const double error = fabs(s->probe[i] - sign_of(i));
        worst = error <= worst ? worst : error;  // keeps what is not a number
    }
    return worst;
}

ct_status ct_friction_system_factor(ct_friction_system* s, bool in_double, double* error) {
    s->rank_count = -1;
    s->factored_double = in_double;
    ct_status status = CT_OK;
    if (is_stored(s)) {
        status = factor_dense(s, in_double, error);
    } else {
        status = ct_friction_near_follow(s->near, s->matrix);
        if (!status) status = ct_friction_near_factor(s->near, s->rows);
    }
    if (status) return status;
    s->rank_count = s->count;
    for (int c = 0; c < s->count; c++) s->rank[c] = (unsigned char)s->rows[c].rank;
    if (error) *error = probe_error(s);
    return CT_OK;
}

// ---- the small system and the whole one ----------------------------------------------------

// F += Z y; transposed: F += Q y
static void spread(const ct_friction_system* s, bool transposed, const double* y, double* F) {
    for (int c = 0; c < s->count; c++) {
        const ct_friction_rows* r = &s->rows[c];
        for (int i = 0; i < r->rank; i++) {
            const double* way = transposed ? r->Q[i] : s->block[c].Z[i];
            for (int a = 0; a < 3; a++) F[3 * c + a] += y[r->offset + i] * way[a];
        }
    }
}

// out = Q^T W F, row by row; WF: overwritten.
static void rows_product(ct_friction_system* s, const double* F, double* out) {
    const int side = 3 * s->count;
    if (s->matrix->nodes) {
        for (int c = 0; c < s->count; c++)
            ct_friction_nodes_unturn(s->matrix->nodes, c, F + 3 * c, s->turned + 3 * c);
        cblas_sgemv(CblasRowMajor, CblasNoTrans, s->n, side, 1, s->T, side, s->turned, 1, 0, s->small, 1);
        for (int i = 0; i < s->n; i++) out[i] = s->small[i];
        return;
    }
    memset(s->WF, 0, (size_t)side * sizeof(double));
    ct_friction_system_product(s, F, s->WF);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++)
            out[s->rows[c].offset + i] = dot3(s->rows[c].Q[i], s->WF + 3 * c);
}

// WF = W Q y; Qy: overwritten.
static void columns_product(ct_friction_system* s, const double* y, double* Qy) {
    const int side = 3 * s->count;
    if (s->matrix->nodes) {
        for (int i = 0; i < s->n; i++) s->small[i] = (float)y[i];
        cblas_sgemv(CblasRowMajor, CblasTrans, s->n, side, 1, s->T, side, s->small, 1, 0, s->turned, 1);
        for (int c = 0; c < s->count; c++)
            ct_friction_nodes_turn(s->matrix->nodes, c, s->turned + 3 * c, s->WF + 3 * c);
        return;
    }
    memset(Qy, 0, (size_t)side * sizeof(double));
    memset(s->WF, 0, (size_t)side * sizeof(double));
    spread(s, true, y, Qy);
    ct_friction_system_product(s, Qy, s->WF);
}

// F0 = Y U2^T a in `particular`, the right-hand side of M y in rhs.
static void reduce_right_side(ct_friction_system* s, const double* a) {
    bool any = false;
    memset(s->particular, 0, 3 * (size_t)s->count * sizeof(double));
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < 3 - s->rows[c].rank; i++) {
            const double value = dot3(s->block[c].U2[i], a + 3 * c);
            any |= value != 0;
            for (int j = 0; j < 3; j++) s->particular[3 * c + j] += value * s->block[c].Y[i][j];
        }
    if (any) rows_product(s, s->particular, s->line);
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        const ct_friction_rows* r = &s->rows[c];
        for (int i = 0; i < r->rank; i++) {
            double sum = dot3(b->U1[i], a + 3 * c) - (any ? s->line[r->offset + i] : 0);
            for (int j = 0; j < 3 - r->rank; j++) sum -= b->R[i][j] * dot3(b->U2[j], a + 3 * c);
            s->rhs[r->offset + i] = b->scale[i] * sum;
        }
    }
}

// F = F0 + Z y
static void expand(const ct_friction_system* s, const double* y, double* F) {
    memcpy(F, s->particular, 3 * (size_t)s->count * sizeof(double));
    spread(s, false, y, F);
}

// Z^T a, the right-hand side of the transposed system; its unknowns are y over the scales.
static void reduce_transposed(ct_friction_system* s, const double* a) {
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++)
            s->rhs[s->rows[c].offset + i] = dot3(s->block[c].Z[i], a + 3 * c);
}

static void expand_transposed(ct_friction_system* s, const double* a, double* y, double* F) {
    bool any = false;  // some contact is not sticking, so that W Q y is needed
    for (int c = 0; c < s->count; c++) {
        any |= s->rows[c].rank < 3;
        for (int i = 0; i < s->rows[c].rank; i++) y[s->rows[c].offset + i] *= s->block[c].scale[i];
    }
    if (any) columns_product(s, y, s->particular);
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        const ct_friction_rows* r = &s->rows[c];
        double* f = F + 3 * c;
        f[0] = f[1] = f[2] = 0;
        for (int i = 0; i < r->rank; i++)
            for (int j = 0; j < 3; j++) f[j] += y[r->offset + i] * b->U1[i][j];
        for (int i = 0; i < 3 - r->rank; i++) {
            double value = dot3(b->Y[i], a + 3 * c) - (any ? dot3(b->Y[i], s->WF + 3 * c) : 0);
            for (int j = 0; j < r->rank; j++) value -= b->R[j][i] * y[r->offset + j];
            for (int j = 0; j < 3; j++) f[j] += value * b->U2[i][j];
        }
    }
}

// ---- GMRES ---------------------------------------------------------------------------------

// out = M y, rows scaled
static void product(const double* y, double* out, void* user) {
    ct_friction_system* s = user;
    memset(s->row, 0, 3 * (size_t)s->count * sizeof(double));
    memset(s->WF, 0, 3 * (size_t)s->count * sizeof(double));
    spread(s, false, y, s->row);
    ct_friction_system_product(s, s->row, s->WF);
    for (int c = 0; c < s->count; c++) {
        const ct_friction_block* b = &s->block[c];
        const ct_friction_rows* r = &s->rows[c];
        for (int i = 0; i < r->rank; i++) {
            double sum = dot3(r->Q[i], s->WF + 3 * c);
            for (int j = 0; j < r->rank; j++) sum += b->K[i][j] * y[r->offset + j];
            out[r->offset + i] = b->scale[i] * sum;
        }
    }
}

// y = M^-1 y or M^-T y, about so where W is not stored: the preconditioner knows the rows without their
// scales.
static void divide(ct_friction_system* s, bool transposed, double* y) {
    if (is_stored(s)) {
        factor_solve(s, transposed, y);
        return;
    }
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++) {
            const int at = s->rows[c].offset + i;
            s->line[at] = transposed ? y[at] : y[at] / s->block[c].scale[i];
        }
    ct_friction_near_solve(s->near, s->rows, s->line, y);
    for (int c = 0; transposed && c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++) y[s->rows[c].offset + i] /= s->block[c].scale[i];
}

// By the solution for the right-hand side whose rows U1 are the given ones, and whose rows U2 are zero.
static void divide_by_complement(ct_friction_system* s, double* y) {
    double *a = s->row, *F = s->line;
    for (int c = 0; c < s->count; c++) {
        const ct_friction_rows* r = &s->rows[c];
        ct_vec3 right = {0, 0, 0};
        ct_mat3 rows;
        double given[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            const double* row = i < r->rank ? s->block[c].U1[i] : s->block[c].U2[i - r->rank];
            if (i < r->rank) given[i] = y[r->offset + i] / s->block[c].scale[i];
            for (int k = 0; k < 3; k++) rows.a[i][k] = row[k];
        }
        if (r->rank) right = ct_mat3_apply(ct_mat3_inverse(rows), ct_vec3_load(given));
        ct_vec3_store(a + 3 * c, right);
    }
    ct_friction_complement_solve(s->complement, a, F);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->rows[c].rank; i++) y[s->rows[c].offset + i] = dot3(s->rows[c].Q[i], F + 3 * c);
}

static void precondition(const double* in, double* out, void* user) {
    ct_friction_system* s = user;
    memcpy(out, in, (size_t)s->n * sizeof(double));
    if (s->complement) divide_by_complement(s, out);
    else divide(s, false, out);
}

void ct_friction_system_iterate(ct_friction_system* s, const double* a, double relative, int limit, double* F,
                                ct_krylov_report* report) {
    const ct_krylov_def def = {.n = s->n,
                               .apply = product,
                               .precondition = precondition,
                               .user = s,
                               .relative = relative,
                               .max_iterations = limit};
    reduce_right_side(s, a);
    memset(s->y, 0, (size_t)s->n * sizeof(double));
    ct_gmres(&def, s->krylov, s->rhs, s->y, report);
    expand(s, s->y, F);
}

void ct_friction_system_solve(ct_friction_system* s, const double* a, double* F) {
    reduce_right_side(s, a);
    divide(s, false, s->rhs);
    expand(s, s->rhs, F);
}

void ct_friction_system_solve_transposed(ct_friction_system* s, const double* a, double* F) {
    reduce_transposed(s, a);
    divide(s, true, s->rhs);
    expand_transposed(s, a, s->rhs, F);
}
