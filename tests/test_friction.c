// Friction on a compliance matrix: known answers of rigid bodies, and the conditions of contact themselves.
#include "friction_problems.h"

// A flat box of mass m on a plane that is inclined by `angle`, at rest, axes along the plane: its corners
// carry the same.
static problem incline(double m, double angle, double mu, double h, double eps) {
    problem p = make(4);
    double J[12 * 6] = {0};
    for (int c = 0; c < 4; c++) {
        add_point(J, 6, c, 0, 1, (double[3]){c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, 0});
        p.normal[3 * c + 2] = 1;
        p.mu[c] = mu;
    }
    const double inverse[6] = {1 / m, 1 / m, 1 / m, 6 / m, 6 / m, 6 / m};
    const double f[6] = {m * 9.81 * sin(angle), 0, -m * 9.81 * cos(angle), 0, 0, 0};
    assemble(&p, 6, J, inverse, f, NULL, h, eps);
    return p;
}

static void a_block_sticks_below_the_angle_of_friction_and_slides_above(void** state) {
    const double h = 0.01, m = 3, angle = 0.4;
    for (int k = 0; k < 20; k++) {
        const double mu = tan(angle) * (0.5 + 0.05 * k + 0.01);
        problem p = incline(m, angle, mu, h, 1e-9);
        assert_solved(&p);
        double sum[3] = {0};
        for (int c = 0; c < 4; c++) {
            assert_int_equal(p.set[c], mu > tan(angle) ? CT_CONTACT_SET_STICK : CT_CONTACT_SET_SLIP);
            for (int i = 0; i < 3; i++) sum[i] += p.F[3 * c + i];
        }
        const double weight = m * 9.81 * cos(angle),
                     acceleration = 9.81 * fmax(0, sin(angle) - mu * cos(angle));
        assert_true(fabs(sum[2] - weight) < 1e-7 * weight);
        assert_true(fabs(sum[1]) < 1e-7 * weight);
        // what is left of gravity along the plane moves the box
        assert_true(fabs(m * 9.81 * sin(angle) + sum[0] - m * acceleration) < 1e-7 * weight);
        clear(&p);
    }
}

// Boxes on top of one another, four contacts (times `copies`) between each two; masses from 1 to `ratio` at
// the top.
static problem stack(int bodies, int copies, double mu, double ratio, double push, double eps) {
    const int ndof = 6 * bodies;
    problem p = make(4 * bodies * copies);
    double* J = calloc((size_t)(3 * p.count * ndof), sizeof(double));
    double *inverse = calloc((size_t)ndof, sizeof(double)), *f = calloc((size_t)ndof, sizeof(double));
    for (int k = 0; k < bodies; k++) {
        const double m = pow(ratio, bodies > 1 ? (double)k / (bodies - 1) : 0);
        for (int i = 0; i < 6; i++) inverse[6 * k + i] = (i < 3 ? 1 : 6) / m;
        f[6 * k + 2] = -9.81 * m;
        f[6 * k] = k == bodies - 1 ? push * 9.81 * m : 0;
        for (int q = 0; q < 4 * copies; q++) {
            const int c = 4 * copies * k + q;
            const double r[3] = {q & 1 ? 0.5 : -0.5, q & 2 ? 0.5 : -0.5, -0.5}, below[3] = {r[0], r[1], 0.5};
            p.normal[3 * c + 2] = 1;
            p.mu[c] = mu;
            add_point(J, ndof, c, k, 1, r);
            if (k > 0) add_point(J, ndof, c, k - 1, -1, below);
        }
    }
    assemble(&p, ndof, J, inverse, f, NULL, 0.01, eps);
    free(J), free(inverse), free(f);
    return p;
}

static void stacks_carry_their_weight_whatever_the_masses(void** state) {
    for (int k = 0; k < 7; k++) {
        const double ratio = pow(10, k - 3);
        problem p = stack(6, 1, 0.5, ratio, 0.02, 1e-6 / fmax(1, ratio));
        assert_solved(&p);
        // the lowest four carry all, and the push
        double sum[3] = {0}, mass = 0;
        for (int body = 0; body < 6; body++) mass += pow(ratio, body / 5.0);
        for (int i = 0; i < 12; i++) sum[i % 3] += p.F[i];
        assert_true(fabs(sum[2] - 9.81 * mass) < 1e-4 * 9.81 * mass);
        assert_true(fabs(sum[0] + 0.02 * 9.81 * ratio) < 1e-4 * 9.81 * mass);
        clear(&p);
    }
}

static void redundant_contacts_share_the_force(void** state) {
    for (int copies = 2; copies <= 8; copies *= 2) {
        problem p = stack(3, copies, 0.4, 1, 0.2, 1e-6), one = stack(3, 1, 0.4, 1, 0.2, 1e-6 / copies);
        assert_solved(&p);
        assert_solved(&one);
        for (int body = 0; body < 3; body++)
            for (int q = 0; q < 4; q++)
                for (int i = 0; i < 3; i++) {
                    // copies follow one another in steps of four; each carries its share
                    double sum = 0;
                    for (int k = 0; k < copies; k++) sum += p.F[3 * (4 * copies * body + 4 * k + q) + i];
                    assert_true(fabs(sum - one.F[3 * (4 * body + q) + i]) < 1e-5);
                    assert_true(fabs(sum / copies - p.F[3 * (4 * copies * body + q) + i]) < 1e-5);
                }
        clear(&p);
        clear(&one);
    }
}

static void random_contacts_meet_every_condition(void** state) {
    int sets[3] = {0};
    for (int k = 0; k < 60; k++) {
        seed = (uint64_t)k + 1;
        const int count = 1 + k;
        problem p = random_problem(count, 4 * count, 0.1 + 0.02 * k, k % 2 ? 1e-6 : 0);
        assert_solved(&p);
        for (int c = 0; c < count; c++) sets[p.set[c]]++;
        clear(&p);
    }
    for (int i = 0; i < 3; i++) assert_true(sets[i] > 100);  // all kinds occur
}

static void dependent_contacts_meet_every_condition(void** state) {
    for (int k = 0; k < 40; k++) {
        seed = (uint64_t)k + 1;
        problem p = random_problem(4 + k, 6 + 2 * k, 0.3, 1e-6);
        assert_solved(&p);
        clear(&p);
    }
}

static void without_friction_there_are_no_tangential_forces(void** state) {
    seed = 7;
    problem p = random_problem(40, 160, 0, 0);
    assert_solved(&p);
    int closed = 0;
    for (int c = 0; c < p.count; c++) {
        const double *F = p.F + 3 * c, *n = p.normal + 3 * c;
        const double f_N = F[0] * n[0] + F[1] * n[1] + F[2] * n[2];
        for (int i = 0; i < 3; i++) assert_true(fabs(F[i] - f_N * n[i]) < 1e-12);
        assert_int_not_equal(p.set[c], CT_CONTACT_SET_STICK);
        closed += f_N > 0;
    }
    assert_in_range(closed, 5, 35);
    clear(&p);
}

static void with_huge_friction_nothing_slips(void** state) {
    problem p = stack(4, 1, 1e6, 1, 0.3, 1e-6);
    assert_solved(&p);
    assert_int_equal(p.report.slip, 0);
    assert_true(p.report.stick > 0);
    clear(&p);
}

static void an_elastic_patch_sticks_inside_and_slips_outside(void** state) {
    problem p = patch(20, 0.5, 2e-3, 1e-4, 0.02);
    assert_solved(&p);
    assert_true(p.report.stick > 10 && p.report.slip > 10 && p.report.stick + p.report.slip < 300);
    assert_true(p.report.newton < 12);
    clear(&p);
    // all closed: the large system
    p = patch(18, 0.5, 2e-3, 2e-4, 0.02);
    for (int c = 0; c < p.count; c++)
        for (int i = 0; i < 3; i++) p.b[3 * c + i] -= 2e-2 * p.normal[3 * c + i];
    assert_solved(&p);
    assert_true(p.report.stick + p.report.slip > 200 && p.report.newton < 12);
    clear(&p);
}

static void a_good_start_saves_the_work(void** state) {
    problem p = patch(15, 0.4, 2e-3, 5e-4, 0.1);
    assert_solved(&p);
    const int cold = p.report.newton + p.report.sweeps;
    assert_solved(&p);
    assert_int_equal(p.report.newton + p.report.sweeps, 0);
    for (int c = 0; c < p.count; c++)
        for (int i = 0; i < 3; i++) p.b[3 * c + i] += 1e-7 * p.normal[3 * c + i];
    assert_solved(&p);
    assert_true(p.report.sweeps == 0 && p.report.newton <= 3 && p.report.newton < cold);
    clear(&p);
}

static void nearly_redundant_contacts_with_uneven_gaps_converge(void** state) {
    for (int k = 0; k < 6; k++) {
        seed = (uint64_t)k + 1;
        problem one = patch(6, 0.5, 2e-3, 3e-4, 0.1), p = make(4 * one.count);
        for (int c = 0; c < p.count; c++) {
            p.mu[c] = one.mu[c / 4];
            p.eps[c] = one.eps[c / 4];
            const double uneven = 1e-5 * uniform();
            for (int i = 0; i < 3; i++) {
                p.normal[3 * c + i] = one.normal[3 * (c / 4) + i];
                p.b[3 * c + i] = one.b[3 * (c / 4) + i] + uneven * p.normal[3 * c + i];
                for (int d = 0; d < p.count; d++)
                    for (int j = 0; j < 3; j++)
                        *entry(&p, 3 * c + i, 3 * d + j) = *entry(&one, 3 * (c / 4) + i, 3 * (d / 4) + j);
            }
        }
        assert_solved(&p);
        clear(&p);
        clear(&one);
    }
}

static void results_do_not_depend_on_what_the_work_did_before(void** state) {
    ct_friction_work* work;
    problem p = patch(14, 0.4, 2e-3, 5e-4, 0.1), other = patch(14, 0.7, 4e-3, 1e-4, 0);
    assert_int_equal(solve(&p, 1e-10), CT_OK);
    double* F = calloc(3 * (size_t)p.count, sizeof(double));
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    const ct_friction_matrix W = matrix_of(&p), V = matrix_of(&other);
    const ct_friction_def def = definition(&p, &W), first = definition(&other, &V);
    assert_int_equal(ct_friction_solve(&first, work, 1e-10, other.F, other.set, &other.report), CT_OK);
    assert_int_equal(ct_friction_solve(&def, work, 1e-10, F, other.set, &other.report), CT_OK);
    assert_memory_equal(F, p.F, 3 * (size_t)p.count * sizeof(double));
    ct_friction_work_free(work);
    free(F);
    clear(&p);
    clear(&other);
}

static void a_low_rank_addition_and_a_base_change_the_matrix_and_the_start_alone(void** state) {
    enum { RANK = 6 };
    seed = 5;
    for (int k = 0; k < 4; k++) {
        problem p = patch(4 + 3 * k, 0.4, 2e-3, 5e-4, 0.1), whole = make(p.count);
        const size_t n = 3 * (size_t)p.count;
        double *U = malloc(n * RANK * sizeof(double)), *base = calloc(n, sizeof(double)),
               M[RANK * RANK] = {0};
        for (size_t i = 0; i < n * RANK; i++) U[i] = uniform();
        for (size_t i = 0; i < n; i++) base[i] = 1e-2 * uniform();
        for (int i = 0; i < RANK; i++)
            for (int j = 0; j < RANK; j++)
                M[RANK * i + j] = 1e-3 * *entry(&p, 0, 0) * ((i == j) + 0.2 * sin(i * j + i + j));
        memcpy(whole.b, p.b, n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double* w = entry(&whole, (int)i, (int)j);
                *w = *entry(&p, (int)i, (int)j);
                for (int a = 0; a < RANK; a++)
                    for (int b = 0; b < RANK; b++)
                        *w += U[i * RANK + (size_t)a] * M[RANK * a + b] * U[j * RANK + (size_t)b];
                whole.b[i] -= *w * base[j];
            }
        memcpy(whole.normal, p.normal, n * sizeof(double));
        memcpy(whole.mu, p.mu, (size_t)p.count * sizeof(double));
        memcpy(whole.eps, p.eps, (size_t)p.count * sizeof(double));
        assert_solved(&whole);
        ct_friction_work* work;
        assert_int_equal(ct_friction_work_create(&work), CT_OK);
        const ct_friction_matrix W = matrix_of(&p);
        ct_friction_def def = definition(&p, &W);
        def.rank = RANK, def.U = U, def.M = M, def.base = base;
        assert_int_equal(ct_friction_solve(&def, work, 1e-12, p.F, p.set, &p.report), CT_OK);
        assert_true(p.report.converged);
        assert_memory_equal(p.set, whole.set, (size_t)p.count);
        double error = 0, size = 0;
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs(p.F[i] - whole.F[i])), size = fmax(size, fabs(whole.F[i]));
        assert_true(error < 1e-9 * size);
        ct_friction_work_free(work);
        free(U), free(base);
        clear(&p);
        clear(&whole);
    }
}

static void failure_is_reported(void** state) {
    seed = 3;
    problem p = random_problem(20, 80, 0.5, 1e-6);
    assert_int_equal(solve(&p, 1e-30), CT_OK);
    assert_false(p.report.converged);
    assert_true(p.report.residual < 1e-10 && p.report.residual > 0);
    p.b[5] = NAN;
    assert_int_equal(solve(&p, 1e-10), CT_OK);
    assert_false(p.report.converged);
    clear(&p);
    p = make(0);
    assert_int_equal(solve(&p, 1e-10), CT_OK);
    assert_true(p.report.converged);
    clear(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_sticks_below_the_angle_of_friction_and_slides_above),
        cmocka_unit_test(stacks_carry_their_weight_whatever_the_masses),
        cmocka_unit_test(redundant_contacts_share_the_force),
        cmocka_unit_test(random_contacts_meet_every_condition),
        cmocka_unit_test(dependent_contacts_meet_every_condition),
        cmocka_unit_test(without_friction_there_are_no_tangential_forces),
        cmocka_unit_test(with_huge_friction_nothing_slips),
        cmocka_unit_test(an_elastic_patch_sticks_inside_and_slips_outside),
        cmocka_unit_test(a_good_start_saves_the_work),
        cmocka_unit_test(nearly_redundant_contacts_with_uneven_gaps_converge),
        cmocka_unit_test(results_do_not_depend_on_what_the_work_did_before),
        cmocka_unit_test(a_low_rank_addition_and_a_base_change_the_matrix_and_the_start_alone),
        cmocka_unit_test(failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
