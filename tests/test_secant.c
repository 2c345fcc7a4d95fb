// Secant pairs: the compact form is the two-loop recursion of L-BFGS, and what it promises holds.
#include "unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "step/secant.h"

enum { N = 20, STEPS = 9 };

static double uniform(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static double dot(const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * b[i];
    return sum;
}

// P is diagonal, H = P plus a symmetric part that is positive.
typedef struct problem {
    double P[N], H[N][N];
} problem;

static problem random_problem(uint64_t* seed) {
    problem p;
    double L[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) L[i][j] = 0.4 * uniform(seed);
    for (int i = 0; i < N; i++) p.P[i] = 1 + 0.5 * uniform(seed);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            p.H[i][j] = i == j ? p.P[i] : 0;
            for (int k = 0; k < N; k++) p.H[i][j] += L[i][k] * L[j][k];
        }
    return p;
}

static void multiply(const problem* p, const double* v, double* out) {
    for (int i = 0; i < N; i++) out[i] = dot(p->H[i], v);
}

static void precondition(const problem* p, const double* v, double* out) {
    for (int i = 0; i < N; i++) out[i] = v[i] / p->P[i];
}

// B^-1 v.
static void apply(const problem* p, const ct_secant* secant, const double* v, double* out) {
    precondition(p, v, out);
    ct_secant_correct(secant, v, out);
}

// A walk along random steps, every one taken by t with contact forces that change, over the quadratic with
// the Hessian H.
static void walk(const problem* p, ct_secant* secant, int steps, uint64_t* seed) {
    double r[N], Pr[N], d[N], f[N], Pf[N], change[N];
    for (int i = 0; i < N; i++) r[i] = uniform(seed);
    double t = 1;
    for (int k = 0; k <= steps; k++) {
        precondition(p, r, Pr);
        ct_secant_arrive(secant, r, Pr, t);
        for (int i = 0; i < N; i++) d[i] = uniform(seed), f[i] = uniform(seed);
        precondition(p, f, Pf);
        const bool forced = k % 3 != 1;
        ct_secant_leave(secant, d, forced ? f : NULL, forced ? Pf : NULL);
        t = k % 2 ? 0.5 : 1;
        // r = H x - forces
        multiply(p, d, change);
        for (int i = 0; i < N; i++) r[i] += t * (change[i] - (forced ? f[i] : 0));
    }
}

// Two-loop recursion (Nocedal 1980) over the pairs that are kept.
static void two_loops(const problem* p, const ct_secant* secant, const double* v, double* out) {
    double q[N], alpha[CT_SECANT_PAIRS];
    memcpy(q, v, sizeof q);
    for (int k = secant->count - 1; k >= 0; k--) {
        alpha[k] = dot(secant->s[k], q) / dot(secant->s[k], secant->y[k]);
        for (int i = 0; i < N; i++) q[i] -= alpha[k] * secant->y[k][i];
    }
    precondition(p, q, out);
    for (int k = 0; k < secant->count; k++) {
        const double beta = dot(secant->y[k], out) / dot(secant->s[k], secant->y[k]);
        for (int i = 0; i < N; i++) out[i] += (alpha[k] - beta) * secant->s[k][i];
    }
}

static double difference(const double* a, const double* b) {
    double d[N];
    for (int i = 0; i < N; i++) d[i] = a[i] - b[i];
    return sqrt(dot(d, d));
}

static void for_walks(void (*check)(const problem* p, const ct_secant* secant, uint64_t* seed)) {
    for (int steps = 0; steps <= STEPS; steps++) {
        uint64_t seed = (uint64_t)steps + 3;
        ct_arena arena = {0};
        ct_secant secant;
        ct_secant_create(&secant, &arena, N);
        assert_false(arena.failed);
        ct_secant_reset(&secant);
        const problem p = random_problem(&seed);
        walk(&p, &secant, steps, &seed);
        assert_int_equal(secant.count, steps < CT_SECANT_PAIRS ? steps : CT_SECANT_PAIRS);
        check(&p, &secant, &seed);
        ct_arena_free(&arena);
    }
}

static void check_compact(const problem* p, const ct_secant* secant, uint64_t* seed) {
    double v[N], compact[N], loops[N];
    for (int i = 0; i < N; i++) v[i] = uniform(seed);
    apply(p, secant, v, compact);
    two_loops(p, secant, v, loops);
    assert_true(difference(compact, loops) < 1e-13 * sqrt(dot(loops, loops)));
}

static void compact_form_is_the_two_loop_recursion(void** state) { for_walks(check_compact); }

// y is H s, whatever the contact forces did, and z is P^-1 y, without a solve.
static void check_pairs(const problem* p, const ct_secant* secant, uint64_t* seed) {
    for (int k = 0; k < secant->count; k++) {
        double y[N], z[N];
        multiply(p, secant->s[k], y);
        precondition(p, secant->y[k], z);
        assert_true(difference(y, secant->y[k]) < 1e-13 * sqrt(dot(y, y)));
        assert_true(difference(z, secant->z[k]) < 1e-13 * sqrt(dot(z, z)));
    }
}

static void pairs_leave_contact_forces_out(void** state) { for_walks(check_pairs); }

// B^-1 y = s for the last pair; [S Z] M [S Z]^T is symmetric.
static void check_secant(const problem* p, const ct_secant* secant, uint64_t* seed) {
    double out[N], u[N], v[N], Bu[N], Bv[N];
    for (int i = 0; i < N; i++) u[i] = uniform(seed), v[i] = uniform(seed);
    apply(p, secant, u, Bu);
    apply(p, secant, v, Bv);
    assert_true(fabs(dot(u, Bv) - dot(v, Bu)) < 1e-13 * sqrt(dot(u, u) * dot(Bv, Bv)));
    assert_true(dot(u, Bu) > 0);
    if (!secant->count) return;
    const double* s = secant->s[secant->count - 1];
    apply(p, secant, secant->y[secant->count - 1], out);
    assert_true(difference(out, s) < 1e-13 * sqrt(dot(s, s)));
}

static void the_last_secant_equation_holds(void** state) { for_walks(check_secant); }

// U M U^T with the columns that are handed out is the correction.
static void check_columns(const problem* p, const ct_secant* secant, uint64_t* seed) {
    const int rank = ct_secant_rank(secant);
    double v[N], out[N] = {0}, sum[N] = {0};
    for (int i = 0; i < N; i++) v[i] = uniform(seed);
    ct_secant_correct(secant, v, out);
    for (int i = 0; i < rank; i++)
        for (int j = 0; j < rank; j++) {
            const double part = secant->M[i * rank + j] * dot(ct_secant_column(secant, j), v);
            for (int k = 0; k < N; k++) sum[k] += part * ct_secant_column(secant, i)[k];
        }
    assert_true(difference(out, sum) <= 1e-13 * sqrt(dot(sum, sum)));
}

static void columns_and_their_matrix_are_the_correction(void** state) { for_walks(check_columns); }

// A curvature that is negative, or far from P's, tells nothing of the body.
static void foreign_curvatures_are_left_out(void** state) {
    static const double factors[] = {-1, 1e-4, 1e4};
    for (int k = 0; k < 3; k++) {
        ct_arena arena = {0};
        ct_secant secant;
        double r[N] = {0}, d[N];
        for (int i = 0; i < N; i++) d[i] = 1;
        ct_secant_create(&secant, &arena, N);
        ct_secant_reset(&secant);
        ct_secant_arrive(&secant, r, r, 1);  // P = I
        ct_secant_leave(&secant, d, NULL, NULL);
        for (int i = 0; i < N; i++) r[i] = factors[k] * d[i];
        ct_secant_arrive(&secant, r, r, 1);
        assert_int_equal(secant.count, 0);
        double out[N] = {0};
        ct_secant_correct(&secant, d, out);
        for (int i = 0; i < N; i++) assert_true(out[i] == 0);
        ct_arena_free(&arena);
    }
}

// Steps -B^-1 r over a quadratic.
static int iterations_with(const problem* p, ct_secant* secant, bool corrected) {
    uint64_t seed = 99;
    double r[N], d[N], change[N], first = 0;
    for (int i = 0; i < N; i++) r[i] = uniform(&seed);
    first = sqrt(dot(r, r));
    ct_secant_reset(secant);
    for (int k = 0; k < 500; k++) {
        if (sqrt(dot(r, r)) < 1e-10 * first) return k;
        precondition(p, r, d);
        if (corrected) {
            ct_secant_arrive(secant, r, d, 1);
            ct_secant_correct(secant, r, d);
        }
        for (int i = 0; i < N; i++) d[i] = -d[i];
        ct_secant_leave(secant, d, NULL, NULL);
        multiply(p, d, change);
        for (int i = 0; i < N; i++) r[i] += change[i];
    }
    return 500;
}

static void quadratics_converge(void** state) {
    uint64_t seed = 4;
    problem p = random_problem(&seed);
    for (int i = 0; i < N; i++)  // so that P alone converges, slowly
        for (int j = 0; j < N; j++)
            p.H[i][j] = (i == j ? p.P[i] : 0) + 0.12 * (p.H[i][j] - (i == j ? p.P[i] : 0));
    ct_arena arena = {0};
    ct_secant secant;
    ct_secant_create(&secant, &arena, N);
    const int plain = iterations_with(&p, &secant, false), corrected = iterations_with(&p, &secant, true);
    print_message("%d iterations with P alone, %d with pairs\n", plain, corrected);
    assert_true(plain < 500);
    assert_true(2 * corrected < plain);
    ct_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_form_is_the_two_loop_recursion),
        cmocka_unit_test(pairs_leave_contact_forces_out),
        cmocka_unit_test(the_last_secant_equation_holds),
        cmocka_unit_test(columns_and_their_matrix_are_the_correction),
        cmocka_unit_test(foreign_curvatures_are_left_out),
        cmocka_unit_test(quadratics_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
