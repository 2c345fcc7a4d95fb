// Friction on a compliance matrix: known answers of rigid bodies, and the conditions of contact themselves.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/friction.h"
#include "math/quat.h"
#include "sparse/krylov.h"
#include "unit.h"

static uint64_t seed = 1;
static double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0 * 2 - 1;
}

typedef struct problem {
    int count;
    double *W, *b, *normal, *mu, *eps, *F;
    unsigned char* set;
    ct_friction_report report;
} problem;

static problem make(int count) {
    const size_t n = 3 * (size_t)count;
    problem p = {.count = count};
    p.W = calloc(n * n + 1, sizeof(double));
    p.b = calloc(n + 1, sizeof(double));
    p.normal = calloc(n + 1, sizeof(double));
    p.F = calloc(n + 1, sizeof(double));
    p.mu = calloc((size_t)count + 1, sizeof(double));
    p.eps = calloc((size_t)count + 1, sizeof(double));
    p.set = calloc((size_t)count + 1, 1);
    return p;
}

static void clear(problem* p) {
    free(p->W), free(p->b), free(p->normal), free(p->F), free(p->mu), free(p->eps), free(p->set);
}

static double* entry(problem* p, int i, int j) { return p->W + (size_t)i * 3 * (size_t)p->count + j; }

// W = h^2 J M^-1 J^T, b = h^2 J M^-1 f + h J v; J: 3 count x ndof
static void assemble(problem* p, int ndof, const double* J, const double* inverse_mass, const double* f,
                     const double* v, double h, double eps) {
    const int n = 3 * p->count;
    for (int i = 0; i < n; i++) {
        const double* row = J + (size_t)i * (size_t)ndof;
        for (int j = 0; j < n; j++) {
            const double* other = J + (size_t)j * (size_t)ndof;
            for (int k = 0; k < ndof; k++) *entry(p, i, j) += h * h * row[k] * inverse_mass[k] * other[k];
        }
        for (int k = 0; k < ndof; k++)
            p->b[i] += row[k] * (h * h * inverse_mass[k] * f[k] + (v ? h * v[k] : 0));
    }
    for (int c = 0; c < p->count; c++) p->eps[c] = eps * *entry(p, 3 * c, 3 * c);
}

// Rows of the velocity of a point at r from the centre of a body, sign times.
static void add_point(double* J, int ndof, int contact, int body, double sign, const double r[3]) {
    const double X[3][3] = {{0, r[2], -r[1]}, {-r[2], 0, r[0]}, {r[1], -r[0], 0}};
    for (int i = 0; i < 3; i++) {
        double* row = J + (size_t)(3 * contact + i) * (size_t)ndof + 6 * body;
        row[i] += sign;
        for (int k = 0; k < 3; k++) row[3 + k] += sign * X[i][k];
    }
}

static ct_friction_matrix matrix_of(const problem* p) {
    return (ct_friction_matrix){.count = p->count, .W = p->W, .stride = 3 * p->count};
}

static ct_friction_def definition(const problem* p, const ct_friction_matrix* W) {
    return (ct_friction_def){
        .count = p->count, .W = W, .b = p->b, .normal = p->normal, .mu = p->mu, .eps = p->eps};
}

static ct_status solve(problem* p, double tolerance) {
    ct_friction_work* work;
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    const ct_friction_matrix W = matrix_of(p);
    const ct_friction_def def = definition(p, &W);
    const ct_status status = ct_friction_solve(&def, work, tolerance, p->F, p->set, &p->report);
    ct_friction_work_free(work);
    return status;
}

// Every condition of every contact, lengths and forces in units of the largest.
static void assert_conditions(problem* p, double tolerance) {
    const int n = 3 * p->count;
    double length = 0, force = 0;
    double* u = malloc(((size_t)n + 1) * sizeof(double));
    for (int i = 0; i < n; i++) {
        u[i] = p->b[i] + p->eps[i / 3] * p->F[i];
        for (int j = 0; j < n; j++) u[i] += *entry(p, i, j) * p->F[j];
        length = fmax(length, fabs(p->b[i]));
        force = fmax(force, fabs(p->F[i]));
    }
    int stick = 0, slip = 0;
    for (int c = 0; c < p->count; c++) {
        const double *m = p->normal + 3 * c, *F = p->F + 3 * c, *v = u + 3 * c, mu = p->mu[c];
        const double f_N = F[0] * m[0] + F[1] * m[1] + F[2] * m[2],
                     u_N = v[0] * m[0] + v[1] * m[1] + v[2] * m[2];
        double f_T = 0, u_T = 0, along = 0;
        for (int i = 0; i < 3; i++) {
            f_T += pow(F[i] - f_N * m[i], 2);
            u_T += pow(v[i] - u_N * m[i], 2);
        }
        f_T = sqrt(f_T);
        u_T = sqrt(u_T);
        for (int i = 0; i < 3; i++)
            along = fmax(along, fabs(u_T * (F[i] - f_N * m[i]) + mu * f_N * (v[i] - u_N * m[i])));
        assert_true(f_T <= mu * f_N + tolerance * force);
        assert_true(f_N >= -tolerance * force);
        if (p->set[c] == CT_CONTACT_SET_OPEN) {
            assert_true(F[0] == 0 && F[1] == 0 && F[2] == 0);
            assert_true(u_N >= -tolerance * length);
            continue;
        }
        stick += p->set[c] == CT_CONTACT_SET_STICK;
        slip += p->set[c] == CT_CONTACT_SET_SLIP;
        assert_true(fabs(u_N) <= tolerance * length);
        if (p->set[c] == CT_CONTACT_SET_STICK) assert_true(u_T <= tolerance * length);
        else
            assert_true(along <= tolerance * length * force * fmax(1, mu) &&
                        fabs(f_T - mu * f_N) <= tolerance * force);
    }
    assert_int_equal(stick, p->report.stick);
    assert_int_equal(slip, p->report.slip);
    free(u);
}

static void assert_solved(problem* p) {
    assert_int_equal(solve(p, 1e-12), CT_OK);
    if (!p->report.converged)
        fail_msg("residual %g after %d Newton steps, %d sweeps", p->report.residual, p->report.newton,
                 p->report.sweeps);
    assert_true(p->report.residual <= 1e-12);
    assert_conditions(p, 1e-10);
}

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

// Random directions of motion of random contacts: W = J J^T of full rank unless ndof < 3 count.
static problem random_problem(int count, int ndof, double mu, double eps) {
    problem p = make(count);
    double* J = calloc((size_t)(3 * count * ndof), sizeof(double));
    double *unit = calloc((size_t)ndof, sizeof(double)), *f = calloc((size_t)ndof, sizeof(double));
    for (int i = 0; i < 3 * count * ndof; i++) J[i] = uniform();
    for (int k = 0; k < ndof; k++) unit[k] = 1, f[k] = uniform();
    assemble(&p, ndof, J, unit, f, NULL, 1, eps);
    for (int c = 0; c < count; c++) {
        double *n = p.normal + 3 * c, length = 0, gap = fabs(uniform());
        for (int i = 0; i < 3; i++) n[i] = uniform(), length += n[i] * n[i];
        for (int i = 0; i < 3; i++) n[i] /= sqrt(length), p.b[3 * c + i] += gap * n[i];
        p.mu[c] = mu * (1 + 0.5 * uniform());
    }
    free(J), free(unit), free(f);
    return p;
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

// An elastic patch that is pressed and dragged: the kernel of a point force, rounded at its tip.
static problem patch(int side, double mu, double press, double drag, double rough) {
    problem p = make(side * side);
    const double h = 1.0 / side, a = 0.4 * h;
    for (int c = 0; c < p.count; c++) {
        double *n = p.normal + 3 * c, length = 0;
        for (int i = 0; i < 3; i++) n[i] = i == 2 ? 1 : rough * uniform(), length += n[i] * n[i];
        for (int i = 0; i < 3; i++) n[i] /= sqrt(length);
        const double x = (c % side) * h - 0.5, y = (c / side) * h - 0.5;
        const double gap = -press * (1 - 6 * (x * x + y * y)),
                     slip[3] = {drag * (1 + 0.5 * uniform()), drag * uniform(), 0};
        const double s_N = slip[0] * n[0] + slip[1] * n[1];
        for (int i = 0; i < 3; i++) p.b[3 * c + i] = gap * n[i] + slip[i] - s_N * n[i];
        p.mu[c] = mu;
    }
    for (int c = 0; c < p.count; c++)
        for (int d = 0; d < p.count; d++) {
            const double r[3] = {(c % side - d % side) * h, (c / side - d / side) * h, 0},
                         q = r[0] * r[0] + r[1] * r[1] + a * a;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    *entry(&p, 3 * c + i, 3 * d + j) =
                        1e-5 / sqrt(q) * ((i == j) * (1.4 + a * a / q) + r[i] * r[j] / q);
        }
    for (int c = 0; c < p.count; c++) p.eps[c] = 1e-6 * *entry(&p, 3 * c, 3 * c);
    return p;
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

// D, E of random sets as the step has them, eps in E.
static void random_rows(problem* p, double* D, double* E) {
    memset(D, 0, 9 * (size_t)p->count * sizeof(double));
    memset(E, 0, 9 * (size_t)p->count * sizeof(double));
    for (int c = 0; c < p->count; c++) {
        const double* n = p->normal + 3 * c;
        double t[3], s[3], length = 0, dot = 0;
        for (int i = 0; i < 3; i++) t[i] = uniform();
        for (int i = 0; i < 3; i++) dot += t[i] * n[i];
        for (int i = 0; i < 3; i++) t[i] -= dot * n[i], length += t[i] * t[i];
        for (int i = 0; i < 3; i++) t[i] /= sqrt(length);
        for (int i = 0; i < 3; i++) s[i] = n[(i + 1) % 3] * t[(i + 2) % 3] - n[(i + 2) % 3] * t[(i + 1) % 3];
        const int kind = c % 4;  // open, stick, slip, slip without friction
        const double mu = kind == 3 ? 0 : 0.5, bend = kind == 3 ? 0 : 0.5 / *entry(p, 3 * c, 3 * c);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double same = i == j;
                double *d = D + 9 * c + 3 * i + j, *e = E + 9 * c + 3 * i + j;
                if (kind == 0) *e = same + 0.1 * uniform();
                if (kind == 1) *d = same, *e = p->eps[c] * same;
                if (kind < 2) continue;
                *d = n[i] * n[j] + bend * s[i] * s[j];
                *e = p->eps[c] * n[i] * n[j] + same - n[i] * n[j] + mu * t[i] * n[j];
            }
    }
}

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
        cmocka_unit_test(fixed_sets_are_solved_forwards_and_transposed),
        cmocka_unit_test(contacts_on_a_matrix_that_is_not_stored_meet_every_condition),
        cmocka_unit_test(a_low_rank_addition_to_a_matrix_that_is_not_stored_counts),
        cmocka_unit_test(fixed_sets_on_a_matrix_that_is_not_stored_are_preconditioned),
        cmocka_unit_test(the_inverse_of_the_compliance_solves_fixed_sets),
        cmocka_unit_test(rows_that_leave_a_force_open_are_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
