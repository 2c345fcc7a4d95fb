// Decompositions of 3x3 matrices: the scalar ones by their definition, the vector polar kernel against them.
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "force/elastic_table.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "unit.h"

static uint64_t random_state = 3;
static double random_unit(void) {  // in [-1, 1)
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-52 - 1;
}

static ct_mat3 random_matrix(void) {
    ct_mat3 A;
    for (int i = 0; i < 9; i++) A.a[i / 3][i % 3] = random_unit();
    return A;
}

static ct_mat3 random_rotation(void) {
    return ct_quat_matrix(
        ct_quat_normalise((ct_quat){random_unit(), random_unit(), random_unit(), random_unit()}));
}

// U diag(s) V^T with random rotations
static ct_mat3 with_singular_values(double s0, double s1, double s2) {
    return ct_mat3_multiply(ct_mat3_multiply(random_rotation(), ct_mat3_diagonal(s0, s1, s2)),
                            random_rotation());
}

static double distance(ct_mat3 A, ct_mat3 B) {
    const ct_mat3 difference = ct_mat3_axpy(A, -1, B);
    return sqrt(ct_mat3_dot(difference, difference));
}

static void assert_rotation(ct_mat3 R, double tolerance) {
    assert_true(distance(ct_mat3_multiply(ct_mat3_transpose(R), R), ct_mat3_identity()) < tolerance);
    assert_true(ct_mat3_determinant(R) > 0);
}

// Matrices that are awkward on purpose, then random ones.
static ct_mat3 sample(int k) {
    static const double awkward[][3] = {
        {1, 1, 1},         {1, 1, -1},        {0, 0, 0},        {1, 0, 0},
        {1, 1, 0},         {1, 1e-9, 1e-10},  {1, 1e-9, -1e-9}, {2, 1, -1},
        {2, 1, -0.999},    {3, 3, 3},         {1e6, 1, 1e-6},   {1e-8, 1e-8, 1e-8},
        {1, 1 + 1e-12, 1}, {1, 0.5, -0.4999}, {5, 1e-3, 1e-3},  {5, 1e-4, 1e-3}};
    const int nawkward = (int)(sizeof awkward / sizeof awkward[0]);
    if (k < nawkward) return ct_mat3_diagonal(awkward[k][0], awkward[k][1], awkward[k][2]);
    if (k < 3 * nawkward)
        return with_singular_values(awkward[k % nawkward][0], awkward[k % nawkward][1],
                                    awkward[k % nawkward][2]);
    return random_matrix();
}

static void symmetric_eigenvectors_diagonalise(void** state) {
    for (int k = 0; k < 300; k++) {
        const ct_mat3 B = sample(k), A = ct_mat3_axpy(B, 1, ct_mat3_transpose(B));
        double w[3];
        ct_mat3 V;
        ct_symmetric3(A, w, &V);
        assert_rotation(V, 1e-14);
        assert_true(w[0] <= w[1] && w[1] <= w[2]);
        const ct_mat3 again =
            ct_mat3_multiply(ct_mat3_multiply(V, ct_mat3_diagonal(w[0], w[1], w[2])), ct_mat3_transpose(V));
        assert_true(distance(A, again) <= 1e-14 * sqrt(ct_mat3_dot(A, A)));
    }
}

static void svd_has_rotations_and_signed_descending_values(void** state) {
    for (int k = 0; k < 500; k++) {
        const ct_mat3 F = sample(k);
        const ct_svd3 svd = ct_svd3_compute(F);
        assert_rotation(svd.U, 1e-14);
        assert_rotation(svd.V, 1e-14);
        assert_true(svd.s[0] >= svd.s[1] && svd.s[1] >= fabs(svd.s[2]) * (1 - 1e-12) - 1e-16 * svd.s[0]);
        const ct_mat3 S = ct_mat3_diagonal(svd.s[0], svd.s[1], svd.s[2]);
        const ct_mat3 again = ct_mat3_multiply(ct_mat3_multiply(svd.U, S), ct_mat3_transpose(svd.V));
        assert_true(distance(F, again) <= 3e-15 * svd.s[0]);
    }
}

static void svd_recovers_known_values(void** state) {
    static const double known[][3] = {{3, 2, 1}, {3, 2, -1}, {1, 1e-3, 1e-6}, {1, 1, 1}, {2, 2, -2}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const ct_svd3 svd = ct_svd3_compute(with_singular_values(known[k][0], known[k][1], known[k][2]));
        for (int i = 0; i < 3; i++) assert_true(fabs(svd.s[i] - known[k][i]) < 1e-14 * known[k][0]);
    }
}

static void svd_of_nan_returns(void** state) {
    ct_mat3 F = random_matrix(), V;
    F.a[1][1] = NAN;
    double w[3];
    ct_svd3_compute(F);
    ct_symmetric3(F, w, &V);
    _Alignas(64) double in[9][CT_BLOCK], out[9][CT_BLOCK];
    for (int i = 0; i < 9 * CT_BLOCK; i++) in[i / CT_BLOCK][i % CT_BLOCK] = NAN;
    ct_elastic_kernels_of(ct_cpu_isa())->polar(in[0], out[0]);
}

// Polar factors of eight samples by one kernel.
static void check_kernel(const ct_elastic_kernels* kernels, int first) {
    _Alignas(64) double in[9][CT_BLOCK], out[9][CT_BLOCK];
    ct_mat3 F[CT_BLOCK];
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        F[lane] = sample(first + lane);
        for (int i = 0; i < 9; i++) in[i][lane] = F[lane].a[i / 3][i % 3];
    }
    kernels->polar(in[0], out[0]);
    for (int lane = 0; lane < CT_BLOCK; lane++) {
        ct_mat3 R;
        for (int i = 0; i < 9; i++) R.a[i / 3][i % 3] = out[i][lane];
        assert_rotation(R, 1e-10);
        // R^T F symmetric, with the trace of the nearest rotation: this holds where R itself is not unique
        const ct_svd3 svd = ct_svd3_compute(F[lane]);
        const ct_mat3 S = ct_mat3_multiply(ct_mat3_transpose(R), F[lane]);
        assert_true(distance(S, ct_mat3_transpose(S)) <= 1e-11 * svd.s[0]);
        assert_true(fabs(ct_mat3_trace(S) - (svd.s[0] + svd.s[1] + svd.s[2])) <= 1e-11 * svd.s[0]);
        // where it is unique, its error grows like 1/(s1 + s2)
        const double gap = (svd.s[1] + svd.s[2]) / svd.s[0];
        if (gap > 1e-8)
            assert_true(distance(R, ct_polar3(F[lane])) < 1e-13 / (gap * gap) + 1e-14 &&
                        distance(R, ct_polar3(F[lane])) < 1e-7);
        if (gap > 0.1) assert_rotation(R, 1e-12);
    }
}

static void polar_kernel_agrees_with_the_svd(void** state) {
    for (int isa = 0; isa <= (int)ct_cpu_isa(); isa++)
        for (int first = 0; first < 2000; first += CT_BLOCK)
            check_kernel(ct_elastic_kernels_of((ct_isa)isa), first);
}

static void polar_of_the_identity_is_exact(void** state) {
    _Alignas(64) double in[9][CT_BLOCK] = {{0}}, out[9][CT_BLOCK];
    for (int lane = 0; lane < CT_BLOCK; lane++) in[0][lane] = in[4][lane] = in[8][lane] = 1;
    ct_elastic_kernels_of(ct_cpu_isa())->polar(in[0], out[0]);
    assert_memory_equal(in, out, sizeof in);
}

static void quaternions_rotate_like_their_matrices(void** state) {
    for (int k = 0; k < 50; k++) {
        const ct_vec3 axis = {3 * random_unit(), 3 * random_unit(), 3 * random_unit()},
                      v = {random_unit(), random_unit(), random_unit()};
        const ct_quat q = ct_quat_from_vector(axis), p = ct_quat_from_vector(ct_vec3_scale(1e-5 * k, v));
        assert_rotation(ct_quat_matrix(q), 1e-14);
        assert_true(ct_vec3_norm(ct_vec3_sub(ct_quat_rotate(q, v), ct_mat3_apply(ct_quat_matrix(q), v))) <
                    1e-14);
        // the axis stays, a quarter turn about z takes x to y, products compose
        assert_true(ct_vec3_norm(ct_vec3_sub(ct_quat_rotate(q, axis), axis)) < 1e-13);
        const ct_vec3 once = ct_quat_rotate(q, ct_quat_rotate(p, v)),
                      both = ct_quat_rotate(ct_quat_multiply(q, p), v);
        assert_true(ct_vec3_norm(ct_vec3_sub(once, both)) < 1e-14);
    }
    const ct_vec3 y = ct_quat_rotate(ct_quat_from_vector((ct_vec3){0, 0, acos(0)}), (ct_vec3){1, 0, 0});
    assert_true(fabs(y.x) < 1e-15 && fabs(y.y - 1) < 1e-15 && fabs(y.z) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_eigenvectors_diagonalise),
        cmocka_unit_test(svd_has_rotations_and_signed_descending_values),
        cmocka_unit_test(svd_recovers_known_values),
        cmocka_unit_test(svd_of_nan_returns),
        cmocka_unit_test(polar_kernel_agrees_with_the_svd),
        cmocka_unit_test(polar_of_the_identity_is_exact),
        cmocka_unit_test(quaternions_rotate_like_their_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
