// Linear systems of friction problems with fixed sets.
#include "friction_problems.h"

// |(D W + E) F - a| / |a|, rows in units of their own size; transposed: (W D^T + E^T) F.
static double linear_error(problem* p, const double* D, const double* E, const double* a, const double* F,
                           bool transposed) {
    const int n = 3 * p->count;
    double worst = 0, largest = 0, *x = calloc((size_t)n, sizeof(double)),
           *y = calloc((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]));
    for (int c = 0; c < p->count; c++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int at = 9 * c + (transposed ? 3 * j + i : 3 * i + j);
                x[3 * c + i] += (transposed ? D[at] : i == j) * F[3 * c + j];
                y[3 * c + i] += E[at] * F[3 * c + j];
            }
    for (int c = 0; c < p->count; c++) {
        double w[3] = {0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < n; j++) w[i] += *entry(p, 3 * c + i, j) * x[j];
        for (int i = 0; i < 3; i++) {
            double sum = y[3 * c + i] - a[3 * c + i] + (transposed ? w[i] : 0);
            for (int j = 0; j < 3 && !transposed; j++) sum += D[9 * c + 3 * i + j] * w[j];
            worst = fmax(worst, fabs(sum));
        }
    }
    free(x), free(y);
    return worst / largest;
}

static void fixed_sets_are_solved_forwards_and_transposed(void** state) {
    for (int k = 0; k < 4; k++) {
        seed = (uint64_t)k + 1;
        // W of about 1; the last is so ill-conditioned that single precision does not do
        problem p =
            k < 3 ? random_problem(10 + 20 * k, 60 + 90 * k, 0.5, 1e-6) : random_problem(60, 40, 0.5, 1e-7);
        const size_t n = 3 * (size_t)p.count;
        double *D = malloc(3 * n * sizeof(double)), *E = malloc(3 * n * sizeof(double)),
               *a = malloc(n * sizeof(double));
        double *F = malloc(n * sizeof(double)), *G = malloc(n * sizeof(double)),
               *b = malloc(n * sizeof(double));
        random_rows(&p, D, E);
        for (size_t i = 0; i < n; i++) a[i] = uniform(), b[i] = uniform();
        ct_friction_work* work;
        assert_int_equal(ct_friction_work_create(&work), CT_OK);
        const ct_friction_matrix W = matrix_of(&p);
        assert_int_equal(ct_friction_factor(work, &W, D, E), CT_OK);
        ct_friction_apply(work, a, F);
        ct_friction_apply_transposed(work, b, G);
        const double limit = k < 3 ? 1e-4 : 1e-6;
        assert_true(linear_error(&p, D, E, a, F, false) < limit);
        assert_true(linear_error(&p, D, E, b, G, true) < limit);
        double left = 0, right = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            left += b[i] * F[i];
            right += a[i] * G[i];
            size += fabs(b[i] * F[i]) + fabs(a[i] * G[i]);
        }
        assert_true(fabs(left - right) < 1e-4 * size);
        ct_friction_work_free(work);
        free(D), free(E), free(a), free(b), free(F), free(G);
        clear(&p);
    }
}

// W = R L L^T R^T with a rotation for each contact.
static void invert(problem* p, float* L, double* R) {
    const int n = 3 * p->count;
    double *turned = calloc((size_t)n * (size_t)n, sizeof(double)),
           *factor = calloc((size_t)n * (size_t)n, sizeof(double));
    for (int c = 0; c < p->count; c++) {
        const ct_vec3 axis = ct_vec3_make(uniform(), uniform(), uniform());
        ct_mat3_store(R + 9 * c, ct_quat_matrix(ct_quat_from_vector(axis)));
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    turned[i * n + j] += R[9 * (i / 3) + 3 * a + i % 3] *
                                         *entry(p, i / 3 * 3 + a, j / 3 * 3 + b) *
                                         R[9 * (j / 3) + 3 * b + j % 3];
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = turned[i * n + j];
            for (int k = 0; k < j; k++) sum -= factor[i * n + k] * factor[j * n + k];
            factor[i * n + j] = i == j ? sqrt(sum) : sum / factor[j * n + j];
            L[(size_t)j * (size_t)n + (size_t)i] = (float)factor[i * n + j];
        }
    free(turned), free(factor);
}

static void the_inverse_of_the_compliance_solves_fixed_sets(void** state) {
    for (int k = 0; k < 3; k++) {  // all stick, some do not, most do not
        seed = (uint64_t)k + 11;
        problem p = random_problem(24, 150, 0.5, 0);
        const size_t n = 3 * (size_t)p.count;
        double *D = calloc(3 * n, sizeof(double)), *E = calloc(3 * n, sizeof(double)),
               *R = malloc(3 * n * sizeof(double));
        double *a = malloc(n * sizeof(double)), *F = malloc(n * sizeof(double));
        float* L = calloc(n * n, sizeof(float));
        random_rows(&p, D, E);
        for (int c = 0; c < p.count; c++)
            for (int i = 0; i < 9 && (k == 0 || (k == 1 && c % 3)); i++)
                D[9 * c + i] = i % 4 == 0, E[9 * c + i] = 0;
        for (size_t i = 0; i < n; i++) a[i] = uniform();
        invert(&p, L, R);
        const ct_friction_inverse inverse = {.count = p.count, .L = L, .R = R};
        ct_friction_work* work;
        bool fits;
        assert_int_equal(ct_friction_work_create(&work), CT_OK);
        assert_int_equal(ct_friction_invert(work, &inverse, D, E, &fits), CT_OK);
        assert_int_equal(fits, k < 2);
        if (fits) {
            ct_friction_apply(work, a, F);
            assert_true(linear_error(&p, D, E, a, F, false) < 1e-3);
            ct_friction_apply_transposed(work, a, F);
            assert_true(linear_error(&p, D, E, a, F, true) < 1e-3);
        }
        ct_friction_work_free(work);
        free(D), free(E), free(R), free(a), free(F), free(L);
        clear(&p);
    }
}

static void rows_that_leave_a_force_open_are_singular(void** state) {
    problem p = random_problem(2, 8, 0.5, 0);
    double D[18] = {0}, E[18] = {0};
    for (int i = 0; i < 3; i++) E[4 * i] = 1;
    ct_friction_work* work;
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    const ct_friction_matrix W = matrix_of(&p);
    assert_int_equal(ct_friction_factor(work, &W, D, E), CT_SINGULAR);
    ct_friction_work_free(work);
    clear(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_sets_are_solved_forwards_and_transposed),
        cmocka_unit_test(the_inverse_of_the_compliance_solves_fixed_sets),
        cmocka_unit_test(rows_that_leave_a_force_open_are_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
