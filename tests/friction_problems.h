// Friction problems on stored matrices, and the conditions of contact that their solutions have to meet.
#ifndef CT_TEST_FRICTION_PROBLEMS_H
#define CT_TEST_FRICTION_PROBLEMS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/friction.h"
#include "math/quat.h"
#include "unit.h"

static uint64_t seed = 1;
static inline double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0 * 2 - 1;
}

typedef struct problem {
    int count;
    double *W, *b, *normal, *mu, *eps, *F;
    unsigned char* set;
    ct_friction_report report;
} problem;

static inline problem make(int count) {
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

static inline void clear(problem* p) {
    free(p->W), free(p->b), free(p->normal), free(p->F), free(p->mu), free(p->eps), free(p->set);
}

static inline double* entry(problem* p, int i, int j) { return p->W + (size_t)i * 3 * (size_t)p->count + j; }

// W = h^2 J M^-1 J^T, b = h^2 J M^-1 f + h J v; J: 3 count x ndof
static inline void assemble(problem* p, int ndof, const double* J, const double* inverse_mass,
                            const double* f, const double* v, double h, double eps) {
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
static inline void add_point(double* J, int ndof, int contact, int body, double sign, const double r[3]) {
    const double X[3][3] = {{0, r[2], -r[1]}, {-r[2], 0, r[0]}, {r[1], -r[0], 0}};
    for (int i = 0; i < 3; i++) {
        double* row = J + (size_t)(3 * contact + i) * (size_t)ndof + 6 * body;
        row[i] += sign;
        for (int k = 0; k < 3; k++) row[3 + k] += sign * X[i][k];
    }
}

static inline ct_friction_matrix matrix_of(const problem* p) {
    return (ct_friction_matrix){.count = p->count, .W = p->W, .stride = 3 * p->count};
}

static inline ct_friction_def definition(const problem* p, const ct_friction_matrix* W) {
    return (ct_friction_def){
        .count = p->count, .W = W, .b = p->b, .normal = p->normal, .mu = p->mu, .eps = p->eps};
}

static inline ct_status solve(problem* p, double tolerance) {
    ct_friction_work* work;
    assert_int_equal(ct_friction_work_create(&work), CT_OK);
    const ct_friction_matrix W = matrix_of(p);
    const ct_friction_def def = definition(p, &W);
    const ct_status status = ct_friction_solve(&def, work, tolerance, p->F, p->set, &p->report);
    ct_friction_work_free(work);
    return status;
}

// Every condition of every contact, lengths and forces in units of the largest.
static inline void assert_conditions(problem* p, double tolerance) {
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

static inline void assert_solved(problem* p) {
    assert_int_equal(solve(p, 1e-12), CT_OK);
    if (!p->report.converged)
        fail_msg("residual %g after %d Newton steps, %d sweeps", p->report.residual, p->report.newton,
                 p->report.sweeps);
    assert_true(p->report.residual <= 1e-12);
    assert_conditions(p, 1e-10);
}

// Random directions of motion of random contacts: W = J J^T of full rank unless ndof < 3 count.
static inline problem random_problem(int count, int ndof, double mu, double eps) {
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

// An elastic patch that is pressed and dragged: the kernel of a point force, rounded at its tip.
static inline problem patch(int side, double mu, double press, double drag, double rough) {
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

// D, E of random sets as the step has them, eps in E.
static inline void random_rows(problem* p, double* D, double* E) {
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

#endif
