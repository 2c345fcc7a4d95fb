// Friction problems on the inverse of the compliance; see friction_inverse.h.
#include "contact/friction_inverse.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "math/mat3.h"

// LAPACK: LU factorisation and its solve, column-major.
extern void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivot, int* info);
extern void sgetrs_(const char* trans, const int* n, const int* nrhs, const float* a, const int* lda,
                    const int* pivot, float* b, const int* ldb, int* info);

// of the contacts: when more than these do not stick, it is not the cheap way
static const double most = 0.5;

void ct_friction_complement_free(ct_friction_complement* s) {
    ct_arena_free(&s->arena);
    ct_free(s->H);
    ct_free(s->B);
}

static ct_status reserve(ct_friction_complement* s, int count) {
    if (count <= s->capacity) return CT_OK;
    const size_t capacity = (size_t)count + (size_t)count / 4 + 16, n = 3 * capacity;
    ct_friction_complement grown = *s;
    grown.arena = (ct_arena){0};
    grown.other = ct_arena_alloc(&grown.arena, capacity, sizeof(int));
    grown.D = ct_arena_alloc(&grown.arena, 3 * n, sizeof(double));
    grown.E = ct_arena_alloc(&grown.arena, 3 * n, sizeof(double));
    grown.scale = ct_arena_alloc(&grown.arena, n, sizeof(double));
    grown.pivot = ct_arena_alloc(&grown.arena, n, sizeof(int));
    float** vectors[] = {&grown.x, &grown.y, &grown.g};
    for (int i = 0; i < 3; i++) *vectors[i] = ct_arena_alloc(&grown.arena, n, sizeof(float));
    if (grown.arena.failed) {
        ct_arena_free(&grown.arena);
        return CT_OUT_OF_MEMORY;
    }
    ct_arena_free(&s->arena);
    grown.capacity = (int)capacity;
    *s = grown;
    return CT_OK;
}

// x = R x or R^T x
static void turn(const ct_friction_inverse* inverse, bool back, float* x) {
    if (!inverse->R) return;
    for (int c = 0; c < inverse->count; c++, x += 3) {
        const double* R = inverse->R + 9 * c;
        const double v[3] = {x[0], x[1], x[2]};
        for (int i = 0; i < 3; i++)
            x[i] = (float)(back ? R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2]
                                : R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2]);
    }
}

static void solve_lower(const ct_friction_inverse* inverse, bool transposed, float* x) {
    const int n = 3 * inverse->count;
    cblas_strsv(CblasColMajor, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, n,
                inverse->L, n, x, 1);
}

// ---- the matrix of the others --------------------------------------------------------------

// H = L^-1 R^T on the columns of S.
static void build_columns(ct_friction_complement* s) {
    const int n = 3 * s->inverse.count, k = 3 * s->nother;
    memset(s->H, 0, (size_t)n * (size_t)k * sizeof(float));
    for (int i = 0; i < s->nother; i++) {
        const int c = s->other[i];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                s->H[(size_t)(3 * i + b) * (size_t)n + (size_t)(3 * c + a)] =
                    s->inverse.R ? (float)s->inverse.R[9 * c + 3 * b + a] : a == b;
    }
    cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, k, 1, s->inverse.L, n,
                s->H, n);
}

// B = D_S + E_S H^T H, rows scaled, factored.
static bool factor(ct_friction_complement* s, const double* D) {
    const int n = 3 * s->inverse.count, k = 3 * s->nother;
    float* B = s->B;
    cblas_ssyrk(CblasColMajor, CblasLower, CblasTrans, k, n, 1, s->H, n, 0, B, k);
    for (int j = 0; j < k; j++)
        for (int i = 0; i < j; i++)
            B[(size_t)j * (size_t)k + (size_t)i] = B[(size_t)i * (size_t)k + (size_t)j];
    for (int i = 0; i < s->nother; i++) {
        const double *E = s->E + 9 * i, *own = D + 9 * s->other[i];
        double largest[3] = {0, 0, 0};
        for (int j = 0; j < k; j++) {
            float* column = B + (size_t)j * (size_t)k + 3 * i;
            const double v[3] = {column[0], column[1], column[2]};
            for (int a = 0; a < 3; a++) {
                const double value = E[3 * a] * v[0] + E[3 * a + 1] * v[1] + E[3 * a + 2] * v[2] +
                                     (j / 3 == i ? own[3 * a + j % 3] : 0);
                largest[a] = fmax(largest[a], fabs(value));
                column[a] = (float)value;
            }
        }
        for (int a = 0; a < 3; a++) s->scale[3 * i + a] = largest[a] > 0 ? 1 / largest[a] : 1;
    }
    for (int j = 0; j < k; j++)
        for (int i = 0; i < k; i++) B[(size_t)j * (size_t)k + (size_t)i] *= (float)s->scale[i];
    int info = 0;
    sgetrf_(&k, &k, B, &k, s->pivot, &info);
    return info == 0;
}

static bool is_zero(const double* A) {
    for (int i = 0; i < 9; i++)
        if (A[i] != 0) return false;
    return true;
}

ct_status ct_friction_complement_build(ct_friction_complement* s, const ct_friction_inverse* inverse,
                                       const double* D, const double* E, bool* fits) {
    const int count = inverse->count;
    *fits = false;
    if (!inverse->L) return CT_OK;
    const ct_status status = reserve(s, count);
    if (status) return status;
    s->inverse = *inverse;
    s->nother = 0;
    for (int c = 0; c < count; c++) {
        const ct_mat3 A = ct_mat3_load(D + 9 * c);
        const double size = sqrt(ct_mat3_dot(A, A));
        memset(s->D + 9 * c, 0, 9 * sizeof(double));
        if (is_zero(E + 9 * c) && fabs(ct_mat3_determinant(A)) > 1e-6 * size * size * size) {
            ct_mat3_store(s->D + 9 * c, ct_mat3_inverse(A));
        } else {
            memcpy(s->E + 9 * s->nother, E + 9 * c, 9 * sizeof(double));
            s->other[s->nother++] = c;
        }
    }
    if (s->nother > most * count) return CT_OK;
    if (s->nother) {
        const size_t n = 3 * (size_t)count, k = 3 * (size_t)s->nother;
        if (!ct_reserve((void**)&s->H, &s->H_size, n * k, sizeof(float)) ||
            !ct_reserve((void**)&s->B, &s->B_size, k * k, sizeof(float)))
            return CT_OUT_OF_MEMORY;
        build_columns(s);
        if (!factor(s, D)) return CT_OK;
    }
    *fits = true;
    return CT_OK;
}

// ---- solutions -----------------------------------------------------------------------------

static void solve_others(ct_friction_complement* s, bool transposed, float* x) {
    const int k = 3 * s->nother, one = 1;
    int info;
    sgetrs_(transposed ? "T" : "N", &k, &one, s->B, &k, s->pivot, x, &k, &info);
}

void ct_friction_complement_solve(ct_friction_complement* s, const double* a, double* F) {
    const int count = s->inverse.count, n = 3 * count, k = 3 * s->nother;
    for (int c = 0; c < count; c++)
        for (int i = 0; i < 3; i++) {
            const double* row = s->D + 9 * c + 3 * i;
            s->x[3 * c + i] = (float)(row[0] * a[3 * c] + row[1] * a[3 * c + 1] + row[2] * a[3 * c + 2]);
        }
    turn(&s->inverse, true, s->x);
    solve_lower(&s->inverse, false, s->x);
    if (k) {
        cblas_sgemv(CblasColMajor, CblasTrans, n, k, 1, s->H, n, s->x, 1, 0, s->g, 1);
        for (int i = 0; i < k; i++) {
            const double *E = s->E + 3 * i, right = a[3 * s->other[i / 3] + i % 3];
            const float* g = s->g + 3 * (i / 3);
            s->y[i] = (float)(s->scale[i] * (right - (E[0] * g[0] + E[1] * g[1] + E[2] * g[2])));
        }
        solve_others(s, false, s->y);
        cblas_sgemv(CblasColMajor, CblasNoTrans, n, k, 1, s->H, n, s->y, 1, 1, s->x, 1);
    }
    solve_lower(&s->inverse, true, s->x);
    turn(&s->inverse, false, s->x);
    for (int i = 0; i < n; i++) F[i] = s->x[i];
}

void ct_friction_complement_solve_transposed(ct_friction_complement* s, const double* a, double* F) {
    const int count = s->inverse.count, n = 3 * count, k = 3 * s->nother;
    for (int i = 0; i < n; i++) s->x[i] = (float)a[i];
    turn(&s->inverse, true, s->x);
    solve_lower(&s->inverse, false, s->x);
    if (k) {
        cblas_sgemv(CblasColMajor, CblasTrans, n, k, 1, s->H, n, s->x, 1, 0, s->y, 1);
        solve_others(s, true, s->y);
        for (int i = 0; i < k; i++) s->y[i] *= (float)s->scale[i];
        for (int i = 0; i < k; i++) {
            const double* E = s->E + 9 * (i / 3);
            const float* f = s->y + 3 * (i / 3);
            s->g[i] = (float)(E[i % 3] * f[0] + E[3 + i % 3] * f[1] + E[6 + i % 3] * f[2]);
        }
        cblas_sgemv(CblasColMajor, CblasNoTrans, n, k, -1, s->H, n, s->g, 1, 1, s->x, 1);
    }
    solve_lower(&s->inverse, true, s->x);
    turn(&s->inverse, false, s->x);
    for (int c = 0; c < count; c++) {
        const double* D = s->D + 9 * c;
        const float* t = s->x + 3 * c;
        for (int i = 0; i < 3; i++) F[3 * c + i] = D[i] * t[0] + D[3 + i] * t[1] + D[6 + i] * t[2];
    }
    for (int i = 0; i < k; i++) F[3 * s->other[i / 3] + i % 3] = s->y[i];
}
