// Friction problems of many contacts, whose compliance is known by its products alone.
#include "friction_problems.h"
#include "sparse/krylov.h"

// Contacts between the nodes of a patch and points of its surroundings, `copies` for each node, so that they
// depend on one another; W = J K J^T as products alone.
typedef struct outline {
    problem nodes;  // its W is K
    problem p;      // its W is for the conditions
    int* node;
    double *weight, *own, *rest, *reach, *soft;
    int* body;
    ct_friction_matrix matrix;
} outline;

static void multiply(const double* F, double* u, void* user) {
    const outline* o = user;
    const size_t n = 3 * (size_t)o->p.count;
    for (size_t i = 0; i < n; i++) {
        u[i] = 0;
        for (size_t j = 0; j < n; j++) u[i] += o->p.W[i * n + j] * F[j];
    }
}

static void make_outline(outline* o, int side, int copies, double mu, double eps) {
    *o = (outline){.nodes = patch(side, mu, 2e-3, 5e-4, 0.05), .p = make(side * side * copies)};
    const int m = side * side, count = o->p.count;
    o->node = malloc(4 * (size_t)count * sizeof(int)), o->body = calloc((size_t)m, sizeof(int));
    o->weight = calloc(4 * (size_t)count, sizeof(double)), o->own = calloc((size_t)count, sizeof(double));
    o->rest = calloc(3 * (size_t)m, sizeof(double)), o->reach = calloc((size_t)m, sizeof(double));
    o->soft = calloc((size_t)m, sizeof(double));
    for (int i = 0; i < m; i++) {
        o->rest[3 * i] = (double)(i % side) / side, o->rest[3 * i + 1] = (double)(i / side) / side;
        o->reach[i] = 0.5 / side;
        for (int a = 0; a < 3; a++) o->soft[i] += *entry(&o->nodes, 3 * i + a, 3 * i + a) / 3;
    }
    for (int c = 0; c < count; c++) {
        const int i = c % m, right = i % side + 1 < side ? i + 1 : i - 1,
                  up = i + side < m ? i + side : i - side;
        const double a = c < m ? 0 : 0.3 + 0.2 * uniform(), b = c < m ? 0 : 0.3 + 0.2 * uniform();
        const int node[4] = {i, right, up, -1};
        const double weight[4] = {1 - a - b, a, b, 0};
        memcpy(o->node + 4 * c, node, sizeof node), memcpy(o->weight + 4 * c, weight, sizeof weight);
        memcpy(o->p.normal + 3 * c, o->nodes.normal + 3 * i, 3 * sizeof(double));
        for (int k = 0; k < 3; k++)
            o->p.b[3 * c + k] = o->nodes.b[3 * i + k] - 2e-3 * (c % 3) * o->nodes.normal[3 * i + k];
        o->p.mu[c] = mu;
    }
    for (int i = 0; i < 3 * count; i++)
        for (int j = 0; j < 3 * count; j++)
            for (int k = 0; k < 9; k++) {
                const int v = o->node[4 * (i / 3) + k / 3], w = o->node[4 * (j / 3) + k % 3];
                *entry(&o->p, i, j) += o->weight[4 * (i / 3) + k / 3] * o->weight[4 * (j / 3) + k % 3] *
                                       *entry(&o->nodes, 3 * v + i % 3, 3 * w + j % 3);
            }
    for (int c = 0; c < count; c++) {
        for (int a = 0; a < 3; a++) o->own[c] += *entry(&o->p, 3 * c + a, 3 * c + a) / 3;
        o->p.eps[c] = eps * o->own[c];
    }
    o->matrix = (ct_friction_matrix){.count = count,
                                     .product = multiply,
                                     .user = o,
                                     .own = o->own,
                                     .node = o->node,
                                     .weight = o->weight,
                                     .nnode = m,
                                     .body = o->body,
                                     .rest = o->rest,
                                     .reach = o->reach,
                                     .soft = o->soft};
}

static void clear_outline(outline* o) {
    clear(&o->nodes), clear(&o->p);
    free(o->node), free(o->body), free(o->weight), free(o->own), free(o->rest), free(o->reach), free(o->soft);
}

static void contacts_on_a_matrix_that_is_not_stored_meet_every_condition(void** state) {
    const double mu[] = {0, 0.1, 0.5, 1};
    ct_friction_work* work;
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    for (int k = 0; k < 8; k++) {
        outline o;
        seed = (uint64_t)k + 1;
        make_outline(&o, 8, k < 4 ? 1 : 3, mu[k % 4], k < 4 ? 1e-7 : 1e-3);
        const ct_friction_def def = definition(&o.p, &o.matrix);
        for (double tolerance = 1e-5; tolerance > 1e-13; tolerance *= 1e-7) {
            memset(o.p.F, 0, 3 * (size_t)o.p.count * sizeof(double));
            assert_int_equal(ct_friction_solve(&def, work, tolerance, o.p.F, o.p.set, &o.p.report), CT_OK);
            if (!o.p.report.converged)
                fail_msg("mu %g: residual %g after %d Newton steps", mu[k % 4], o.p.report.residual,
                         o.p.report.newton);
        }
        assert_conditions(&o.p, 1e-8);
        if (o.p.report.stick + o.p.report.slip <= 10 || o.p.report.linear > 600)
            fail_msg("%d stick, %d slip, %d iterations", o.p.report.stick, o.p.report.slip,
                     o.p.report.linear);
        // from there: nothing; nearby: little
        assert_int_equal(ct_friction_solve(&def, work, 1e-12, o.p.F, o.p.set, &o.p.report), CT_OK);
        assert_int_equal(o.p.report.newton, 0);
        clear_outline(&o);
    }
    ct_friction_work_free(work);
}

static void a_low_rank_addition_to_a_matrix_that_is_not_stored_counts(void** state) {
    enum { RANK = 4 };
    outline o;
    seed = 9;
    make_outline(&o, 6, 2, 0.5, 1e-3);
    const size_t n = 3 * (size_t)o.p.count;
    double *U = malloc(n * RANK * sizeof(double)), M[RANK * RANK] = {0};
    for (size_t i = 0; i < n * RANK; i++) U[i] = uniform();
    for (int i = 0; i < RANK; i++) M[RANK * i + i] = 0.02 * (i + 1) * o.own[0];
    ct_friction_def def = definition(&o.p, &o.matrix);
    def.rank = RANK, def.U = U, def.M = M;
    ct_friction_work* work;
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    assert_int_equal(ct_friction_solve(&def, work, 1e-12, o.p.F, o.p.set, &o.p.report), CT_OK);
    assert_true(o.p.report.converged);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (int a = 0; a < RANK; a++)
                *entry(&o.p, (int)i, (int)j) +=
                    U[i * RANK + (size_t)a] * M[RANK * a + a] * U[j * RANK + (size_t)a];
    assert_conditions(&o.p, 1e-9);
    ct_friction_work_free(work);
    free(U);
    clear_outline(&o);
}

// The rows of fixed sets are solved by GMRES with what ct_friction_apply gives.
typedef struct fixed {
    outline* o;
    const double *D, *E;
    ct_friction_work* work;
    bool transposed;
} fixed;

static void fixed_product(const double* F, double* out, void* user) {
    const fixed* f = user;
    const size_t n = 3 * (size_t)f->o->p.count;
    double *x = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 3; j++)
            x[i] += f->transposed ? f->D[9 * (i / 3) + 3 * j + i % 3] * F[i - i % 3 + j]
                    : i % 3 == j  ? F[i]
                                  : 0;
    multiply(x, y, f->o);
    for (size_t i = 0; i < n; i++) {
        out[i] = f->transposed ? y[i] : 0;
        for (size_t j = 0; j < 3; j++) {
            const size_t at = 9 * (i / 3) + (f->transposed ? 3 * j + i % 3 : 3 * (i % 3) + j);
            out[i] += f->E[at] * F[i - i % 3 + j] + (f->transposed ? 0 : f->D[at] * y[i - i % 3 + j]);
        }
    }
    free(x), free(y);
}

static void fixed_precondition(const double* a, double* F, void* user) {
    const fixed* f = user;
    if (f->transposed) ct_friction_apply_transposed(f->work, a, F);
    else ct_friction_apply(f->work, a, F);
}

static void fixed_sets_on_a_matrix_that_is_not_stored_are_preconditioned(void** state) {
    outline o;
    seed = 4;
    make_outline(&o, 8, 2, 0.5, 1e-3);
    const size_t n = 3 * (size_t)o.p.count;
    double *D = malloc(3 * n * sizeof(double)), *E = malloc(3 * n * sizeof(double));
    double *a = malloc(n * sizeof(double)), *F = calloc(n, sizeof(double));
    random_rows(&o.p, D, E);
    for (size_t i = 0; i < n; i++) a[i] = uniform();
    // lengths become forces, as the step has them
    for (int c = 0; c < o.p.count; c++)
        for (int i = 0; i < 9 && c % 4; i++) {
            const double *normal = o.p.normal + 3 * c,
                         along = c % 4 == 1 ? i % 4 == 0 : normal[i / 3] * normal[i % 3];
            D[9 * c + i] += (1 / o.own[c] - 1) * along;
            E[9 * c + i] += (1 / o.own[c] - 1) * o.p.eps[c] * along;
        }
    fixed f = {.o = &o, .D = D, .E = E};
    ct_krylov_work* krylov;
    assert_int_equal(ct_krylov_work_create(&krylov, (int)n, 80), CT_OK);
    assert_int_equal(ct_friction_work_create(&f.work), CT_OK);
    assert_int_equal(ct_friction_factor(f.work, &o.matrix, D, E), CT_OK);
    for (int k = 0; k < 2; k++) {
        f.transposed = k;
        memset(F, 0, n * sizeof(double));
        const ct_krylov_def def = {.n = (int)n,
                                   .apply = fixed_product,
                                   .precondition = fixed_precondition,
                                   .user = &f,
                                   .relative = 1e-3,
                                   .max_iterations = 80};
        ct_krylov_report report;
        ct_gmres(&def, krylov, a, F, &report);
        if (report.end != CT_KRYLOV_CONVERGED || report.iterations > 60)
            fail_msg("%d iterations, residual %g of %g", report.iterations, report.residual, report.initial);
    }
    ct_friction_work_free(f.work);
    ct_krylov_work_free(krylov);
    free(D), free(E), free(a), free(F);
    clear_outline(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_on_a_matrix_that_is_not_stored_meet_every_condition),
        cmocka_unit_test(a_low_rank_addition_to_a_matrix_that_is_not_stored_counts),
        cmocka_unit_test(fixed_sets_on_a_matrix_that_is_not_stored_are_preconditioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
