// Compact L-BFGS; see secant.h.
#include "step/secant.h"

#include <string.h>

#include "math/vecn.h"

void ct_secant_create(ct_secant* secant, ct_arena* arena, size_t n) {
    secant->n = n;
    for (int i = 0; i < CT_SECANT_PAIRS; i++) {
        secant->s[i] = ct_arena_alloc(arena, n, sizeof(double));
        secant->y[i] = ct_arena_alloc(arena, n, sizeof(double));
        secant->z[i] = ct_arena_alloc(arena, n, sizeof(double));
    }
    double** vectors[] = {&secant->r, &secant->Pr, &secant->f, &secant->Pf, &secant->d};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        *vectors[i] = ct_arena_alloc(arena, n, sizeof(double));
    secant->M = ct_arena_alloc(arena, CT_SECANT_RANK * CT_SECANT_RANK, sizeof(double));
}

void ct_secant_reset(ct_secant* secant) {
    secant->count = 0;
    secant->moving = false;
}

// With R the upper triangle of S^T Y and D its diagonal, M = [R^-T (D + Y^T Z) R^-1, -R^-T; -R^-1, 0].
static void build(ct_secant* secant) {
    int m = secant->count, k = 2 * m;
    size_t n = secant->n;
    double R[CT_SECANT_PAIRS][CT_SECANT_PAIRS] = {{0}}, inverse[CT_SECANT_PAIRS][CT_SECANT_PAIRS] = {{0}},
           C[CT_SECANT_PAIRS][CT_SECANT_PAIRS];
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) R[i][j] = ct_vecn_blas_dot(secant->s[i], secant->y[j], n);
    for (int j = 0; j < m; j++) {
        inverse[j][j] = 1 / R[j][j];
        for (int i = j - 1; i >= 0; i--) {
            double sum = 0;
            for (int l = i + 1; l <= j; l++) sum += R[i][l] * inverse[l][j];
            inverse[i][j] = -sum / R[i][i];
        }
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            C[i][j] = C[j][i] = ct_vecn_blas_dot(secant->y[i], secant->z[j], n) + (i == j ? R[i][i] : 0);
    memset(secant->M, 0, (size_t)(k * k) * sizeof(double));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int a = 0; a <= i; a++)
                for (int b = 0; b <= j; b++) sum += inverse[a][i] * C[a][b] * inverse[b][j];
            secant->M[i * k + j] = sum;
            secant->M[i * k + m + j] = -inverse[j][i];
            secant->M[(m + i) * k + j] = -inverse[i][j];
        }
}

static void drop_first(ct_secant* secant) {
    double** columns[] = {secant->s, secant->y, secant->z};
    for (int c = 0; c < 3; c++) {
        double* first = columns[c][0];
        for (int i = 0; i + 1 < CT_SECANT_PAIRS; i++) columns[c][i] = columns[c][i + 1];
        columns[c][CT_SECANT_PAIRS - 1] = first;
    }
    secant->count--;
}

void ct_secant_arrive(ct_secant* secant, const double* r, const double* Pr, double t) {
    size_t n = secant->n;
    if (secant->moving) {
        if (secant->count == CT_SECANT_PAIRS) drop_first(secant);
        double *s = secant->s[secant->count], *y = secant->y[secant->count], *z = secant->z[secant->count];
        for (size_t i = 0; i < n; i++) {
            s[i] = t * secant->d[i];
            y[i] = r[i] - secant->r[i] + t * secant->f[i];
            z[i] = Pr[i] - secant->Pr[i] + t * secant->Pf[i];
        }
        // a curvature that is far from P's says that the step met something else
        double curvature = ct_vecn_blas_dot(s, y, n), model = ct_vecn_blas_dot(y, z, n);
        if (model > 0 && curvature > 1e-3 * model && curvature < 1e3 * model) secant->count++;
        build(secant);
    }
    secant->moving = false;
    memcpy(secant->r, r, n * sizeof(double));
    memcpy(secant->Pr, Pr, n * sizeof(double));
}

void ct_secant_leave(ct_secant* secant, const double* d, const double* f, const double* Pf) {
    size_t bytes = secant->n * sizeof(double);
    secant->moving = true;
    memcpy(secant->d, d, bytes);
    if (f) memcpy(secant->f, f, bytes), memcpy(secant->Pf, Pf, bytes);
    else memset(secant->f, 0, bytes), memset(secant->Pf, 0, bytes);
}

void ct_secant_correct(const ct_secant* secant, const double* v, double* out) {
    int k = ct_secant_rank(secant);
    double c[CT_SECANT_RANK];
    for (int i = 0; i < k; i++) c[i] = ct_vecn_blas_dot(ct_secant_column(secant, i), v, secant->n);
    for (int i = 0; i < k; i++) {
        double sum = 0;
        for (int j = 0; j < k; j++) sum += secant->M[i * k + j] * c[j];
        ct_vecn_axpy(out, sum, ct_secant_column(secant, i), secant->n);
    }
}
