// Thin sheets: gradients, Hessians and derivatives by slope; symmetry; stretched strips. Bending against
// theory is in test_sheet_bend.c.
#include <stdlib.h>
#include <string.h>

#include "force/sheet.h"
#include "math/svd3.h"
#include "math/vecn.h"
#include "slope.h"

#include "build.h"

enum { NX = 4, NY = 3, NV = (NX + 1) * (NY + 1), NT = 2 * NX * NY };

typedef struct patch {
    ct_mesh* mesh;
    unsigned char energy[NT];
    double mu[NT], lambda[NT], rigidity[4 * NT], bending[NT], natural[3 * NT], beta[NT];
    double x[3 * NV + 1], rest[3 * NV + 1];
    ct_sheet* sheet;
    ct_sheet_work* work;
} patch;

static ct_sheet_parameters parameters(const patch* p) {
    return (ct_sheet_parameters){.mu = p->mu,
                                 .lambda = p->lambda,
                                 .rigidity = p->rigidity,
                                 .bending = p->bending,
                                 .natural = p->natural,
                                 .beta = p->beta};
}

static void set(patch* p) {
    const ct_sheet_parameters all = parameters(p);
    ct_sheet_set_parameters(p->sheet, &all);
}

// Of the border, one side is clamped, and a triangle of another is driven.
static const bool* held_nodes(void) {
    static bool held[NV] = {[NX] = true, [2 * NX + 1] = true, [2 * NX] = true};
    return held;
}

// A curved sheet with all energies (energy < 0) or one, away from rest by `amount` of an edge, and with
// natural curvature then; its border is free, or held in parts.
static patch make_held(int energy, bool damped, double amount, bool held) {
    patch p = {0};
    uint64_t seed = 7;
    const double size[2] = {0.4, 0.3};
    const int cells[2] = {NX, NY};
    must(ct_mesh_sheet(&p.mesh, size, cells, NULL), NULL);
    for (int v = 0; v < NV; v++) {
        double* x = p.mesh->x + 3 * v;
        x[2] = 0.3 * x[0] * x[0] - 0.2 * x[0] * x[1];
        for (int a = 0; a < 3; a++) x[a] += 0.01 * noise(&seed);
    }
    for (int i = 0; i < 3 * NV; i++) p.x[i] = (p.rest[i] = p.mesh->x[i]) + 0.1 * amount * noise(&seed);
    for (int e = 0; e < NT; e++) {
        p.energy[e] = (unsigned char)(energy < 0 ? e % CT_ENERGY_COUNT : energy);
        p.mu[e] = 1 + 0.5 * noise(&seed);
        p.lambda[e] = 0.8 + 0.5 * noise(&seed);
        for (int i = 0; i < 4; i++)
            p.rigidity[4 * e + i] = (i == 2 ? 0.003 : 0.01) * (1 + 0.5 * noise(&seed));
        for (int i = 0; i < 3; i++) p.natural[3 * e + i] = amount > 0 ? noise(&seed) : 0;
        p.bending[e] = 1 + 0.5 * noise(&seed);
        p.beta[e] = damped ? 0.02 + 0.01 * noise(&seed) : 0;
    }
    unsigned char driven[NV] = {0}, clamped[NV] = {0};
    for (int v = 0; v < NV; v++) driven[v] = held_nodes()[v], clamped[v] = v % (NX + 1) == 0;
    const ct_sheet_def def = {.nvert = NV,
                              .ntri = NT,
                              .rest = p.mesh->x,
                              .tri = p.mesh->tri,
                              .energy = p.energy,
                              .parameters = parameters(&p),
                              .driven = held ? driven : NULL,
                              .clamped = held ? clamped : NULL};
    must(ct_sheet_create(&p.sheet, &def), NULL);
    must(ct_sheet_work_create(&p.work, p.sheet), NULL);
    return p;
}

static patch make(int energy, bool damped, double amount) { return make_held(energy, damped, amount, false); }

static void destroy(patch* p) {
    ct_sheet_work_free(p->work);
    ct_sheet_free(p->sheet);
    ct_mesh_free(p->mesh);
}

static void direction(uint64_t seed, double scale, double* d) {
    for (int i = 0; i < 3 * NV; i++) d[i] = scale * noise(&seed);
}

static double gradient(const patch* p, const double* x, double* f) {
    memset(f, 0, 3 * NV * sizeof(double));
    return ct_sheet_gradient(p->sheet, p->work, x, f);
}

static void product(const patch* p, const double* d, double* out) {
    memset(out, 0, 3 * NV * sizeof(double));
    ct_sheet_product(p->sheet, p->work, d, out);
}

// A step of second order is under way.
enum { C = 150, A = 200, B = -50 };

static void begin(patch* p, double* x_n, double* x_nm1) {
    direction(31, 0.01, x_n);
    direction(32, 0.01, x_nm1);
    for (int i = 0; i < 3 * NV; i++) x_n[i] += p->x[i], x_nm1[i] += p->x[i];
    ct_sheet_begin_rate(p->sheet, p->work, C, A, x_n, B, x_nm1);
}

// ---- derivatives ---------------------------------------------------------------------------

typedef struct line {
    patch* p;
    const double *d, *u;  // along d; u: what the gradient is multiplied with
    int which, element;   // parameter
    double *x_n, *x_nm1;
} line;

static void move(const line* l, double t, double* y) {
    for (int i = 0; i < 3 * NV; i++) y[i] = l->p->x[i] + t * l->d[i];
}

static double energy_along(void* user, double t) {
    const line* l = user;
    double y[3 * NV + 1], f[3 * NV + 1];
    move(l, t, y);
    return gradient(l->p, y, f);
}

static double force_along(void* user, double t) {
    const line* l = user;
    double y[3 * NV + 1], f[3 * NV + 1];
    move(l, t, y);
    gradient(l->p, y, f);
    return ct_vecn_dot(l->u, f, 3 * NV);
}

static void check_slopes(int energy, bool damped, double amount, bool held) {
    patch p = make_held(energy, damped, amount, held);
    double x_n[3 * NV + 1], x_nm1[3 * NV + 1], d[3 * NV + 1], u[3 * NV + 1], f[3 * NV + 1], Hd[3 * NV + 1],
        magnitude = 0;
    if (damped) begin(&p, x_n, x_nm1);
    direction(1, 0.1, d);
    direction(2, 1, u);
    line l = {.p = &p, .d = d, .u = u};
    const double value = gradient(&p, p.x, f);
    ct_sheet_linearise(p.sheet, p.work, p.x, false);
    product(&p, d, Hd);
    for (int i = 0; i < 3 * NV; i++) magnitude += fabs(u[i] * f[i]);
    assert_slope(energy_along, &l, ct_vecn_dot(f, d, 3 * NV), 0.01, fabs(value) + 1);
    assert_slope(force_along, &l, ct_vecn_dot(Hd, u, 3 * NV), 0.01, magnitude + 10);
    destroy(&p);
}

static void gradient_and_hessian_match_differences(void** state) {
    for (int energy = -1; energy < CT_ENERGY_COUNT; energy++)
        for (int damped = 0; damped < 2; damped++) {
            check_slopes(energy, damped, 0.2, energy < 0);
            check_slopes(energy, damped, 1.5, false);
        }
}

static void hessian_is_symmetric(void** state) {
    patch p = make(-1, true, 0.5);
    double x_n[3 * NV + 1], x_nm1[3 * NV + 1], u[3 * NV + 1], v[3 * NV + 1], Hu[3 * NV + 1], Hv[3 * NV + 1];
    begin(&p, x_n, x_nm1);
    ct_sheet_linearise(p.sheet, p.work, p.x, false);
    direction(3, 1, u);
    direction(4, 1, v);
    product(&p, u, Hu);
    product(&p, v, Hv);
    assert_true(fabs(ct_vecn_dot(u, Hv, 3 * NV) - ct_vecn_dot(v, Hu, 3 * NV)) <
                1e-12 * (fabs(ct_vecn_dot(u, Hv, 3 * NV)) + ct_vecn_dot(u, Hu, 3 * NV)));
    destroy(&p);
}

// u . H d at x with the stress at x + t dx in the geometric stiffness.
static double stiffness_foreseen(void* user, double t) {
    const line* l = user;
    double y[3 * NV + 1], Hd[3 * NV + 1];
    move(l, t, y);
    ct_sheet_foresee_start(l->p->sheet, l->p->work, y);
    ct_sheet_linearise(l->p->sheet, l->p->work, l->p->x, true);
    product(l->p, l->u, Hd);
    return ct_vecn_dot(l->u, Hd, 3 * NV);
}

// What is foreseen along dx changes as the stress does; without a motion the linearisation is the exact one,
// damping included.
static void foreseen_stress_is_that_of_the_linearisation(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        patch p = make(energy, false, 0.5);
        double d[3 * NV + 1], u[3 * NV + 1], Hd[3 * NV + 1], value[2];
        direction(11, 0.1, d);
        direction(12, 1, u);
        for (int k = 0; k < 2; k++) {
            ct_sheet_linearise(p.sheet, p.work, p.x, false);
            ct_sheet_foresee(p.sheet, p.work, k, d);
            ct_sheet_linearise(p.sheet, p.work, p.x, true);
            product(&p, u, Hd);
            value[k] = ct_vecn_dot(u, Hd, 3 * NV);
        }
        line l = {.p = &p, .d = d, .u = u};
        assert_slope(stiffness_foreseen, &l, value[1] - value[0], 0.01, 100);
        destroy(&p);
    }
    patch p = make(-1, true, 0.5);
    double x_n[3 * NV + 1], x_nm1[3 * NV + 1], u[3 * NV + 1], exact[3 * NV + 1], foreseen[3 * NV + 1];
    begin(&p, x_n, x_nm1);
    direction(12, 1, u);
    ct_sheet_linearise(p.sheet, p.work, p.x, false);
    product(&p, u, exact);
    ct_sheet_foresee(p.sheet, p.work, 0, u);
    ct_sheet_linearise(p.sheet, p.work, p.x, true);
    product(&p, u, foreseen);
    for (int i = 0; i < 3 * NV; i++)
        assert_true(fabs(exact[i] - foreseen[i]) < 1e-12 * (fabs(exact[i]) + 10));
    destroy(&p);
}

enum { BY_MU, BY_LAMBDA, BY_BETA, BY_RIGIDITY, BY_NATURAL, BY_BENDING, NPARAMETER };
static const int parameter_width[NPARAMETER] = {1, 1, 1, 4, 3, 1};

static double* parameter(patch* p, int which) {
    double* const all[NPARAMETER] = {p->mu, p->lambda, p->beta, p->rigidity, p->natural, p->bending};
    return all[which];
}

static double force_of_parameter(void* user, double t) {
    const line* l = user;
    double f[3 * NV + 1], *value = &parameter(l->p, l->which)[l->element], kept = *value;
    *value += t;
    set(l->p);
    gradient(l->p, l->p->x, f);
    *value = kept;
    set(l->p);
    return ct_vecn_dot(l->u, f, 3 * NV);
}

static void check_parameters(bool held) {
    patch p = make_held(-1, true, 0.5, held);
    double x_n[3 * NV + 1], x_nm1[3 * NV + 1], u[3 * NV + 1], d[NPARAMETER][4 * NT];
    const ct_sheet_bar bar = {.mu = d[BY_MU],
                              .lambda = d[BY_LAMBDA],
                              .beta = d[BY_BETA],
                              .rigidity = d[BY_RIGIDITY],
                              .natural = d[BY_NATURAL]};
    begin(&p, x_n, x_nm1);
    direction(5, 1, u);
    ct_sheet_parameter_vjp(p.sheet, p.work, p.x, u, &bar);
    // by the rigidity times its factor
    for (int e = 0; e < NT; e++) d[BY_BENDING][e] = 0;
    for (int i = 0; i < 4 * NT; i++) {
        d[BY_BENDING][i / 4] += p.rigidity[i] * d[BY_RIGIDITY][i];
        d[BY_RIGIDITY][i] *= p.bending[i / 4];
    }
    line l = {.p = &p, .u = u};
    for (l.which = 0; l.which < NPARAMETER; l.which++)
        for (l.element = 0; l.element < parameter_width[l.which] * NT; l.element += 5)
            assert_slope(force_of_parameter, &l, d[l.which][l.element], 0.002, 100);
    // the derivative by beta where nothing is damped, and by a factor of the rigidity that is 0
    double none[NT] = {0}, zero[NT], by_rigidity[4 * NT];
    const double* const kept = d[BY_BETA];
    ct_sheet_set_parameters(p.sheet, &(ct_sheet_parameters){.beta = none});
    assert_false(ct_sheet_has_damping(p.sheet));
    ct_sheet_begin_rate(p.sheet, p.work, C, A, x_n, B, x_nm1);
    ct_sheet_parameter_vjp(p.sheet, p.work, p.x, u, &(ct_sheet_bar){.beta = zero});
    for (int e = 0; e < NT; e++) assert_true(fabs(zero[e] - kept[e]) < 1e-12 * fabs(kept[e]) + 1e-14);
    ct_sheet_parameter_vjp(p.sheet, p.work, p.x, u, &(ct_sheet_bar){.rigidity = d[BY_RIGIDITY]});
    ct_sheet_set_parameters(p.sheet, &(ct_sheet_parameters){.bending = none});
    ct_sheet_parameter_vjp(p.sheet, p.work, p.x, u, &(ct_sheet_bar){.rigidity = by_rigidity});
    for (int i = 0; i < 4 * NT; i++) assert_true(by_rigidity[i] == d[BY_RIGIDITY][i]);
    destroy(&p);
}

static void parameter_derivatives_match_differences(void** state) {
    check_parameters(false);
    check_parameters(true);
}

static double force_of_history(void* user, double t) {
    const line* l = user;
    double f[3 * NV + 1], n[3 * NV + 1], m[3 * NV + 1];
    for (int i = 0; i < 3 * NV; i++)
        n[i] = l->x_n[i] + (l->which ? 0 : t * l->d[i]), m[i] = l->x_nm1[i] + (l->which ? t * l->d[i] : 0);
    ct_sheet_begin_step(l->p->sheet, l->p->work, C, A, n, B, m);
    gradient(l->p, l->p->x, f);
    return ct_vecn_dot(l->u, f, 3 * NV);
}

static void check_history(bool held) {
    patch p = make_held(-1, true, 0.5, held);
    double x_n[3 * NV + 1], x_nm1[3 * NV + 1], u[3 * NV + 1], d[3 * NV + 1], bar[2][3 * NV + 1] = {{0}};
    begin(&p, x_n, x_nm1);
    direction(6, 1, u);
    direction(7, 0.1, d);
    ct_sheet_history_vjp(p.sheet, p.work, p.x, u, A, x_n, bar[0], B, x_nm1, bar[1]);
    line l = {.p = &p, .d = d, .u = u, .x_n = x_n, .x_nm1 = x_nm1};
    for (l.which = 0; l.which < 2; l.which++)
        assert_slope(force_of_history, &l, -ct_vecn_dot(bar[l.which], d, 3 * NV), 0.01, 1000);
    destroy(&p);
}

static void history_derivatives_match_differences(void** state) {
    check_history(false);
    check_history(true);
}

// ---- half a turn ---------------------------------------------------------------------------

enum { HINGE_REST = 1 };  // rad

// Two triangles with a common edge along x, the second turned about it by `angle`; both bend up for positive
// angles.
static void fold(double angle, double* x) {
    const double nodes[12] = {0, 0, 0, 1, 0, 0, 0.4, 0.8, 0, 0.5, -0.9 * cos(angle), 0.9 * sin(angle)};
    memcpy(x, nodes, sizeof nodes);
}

typedef struct folded {
    ct_sheet* sheet;
    ct_sheet_work* work;
    double at, rigidity, beta;  // rad, N m, s
    double x_n[13], x_nm1[13];
    const double *d, *u;
    int which;
} folded;

static void set_folded(const folded* f, double rigidity, double beta) {
    const double D[8] = {rigidity, rigidity, 0, rigidity / 2, rigidity, rigidity, 0, rigidity / 2},
                 b[2] = {beta, beta};
    ct_sheet_set_parameters(f->sheet, &(ct_sheet_parameters){.rigidity = D, .beta = b});
}

// A hinge alone, without a membrane; the step begins at `start`, the one before at `before`.
static folded make_folded(double start, double before, double at) {
    folded f = {.at = at, .rigidity = 0.5, .beta = 0.01};
    double rest[13];
    const int tri[6] = {0, 1, 2, 1, 0, 3};
    const unsigned char energy[2] = {0, 0};
    fold(HINGE_REST, rest);
    const ct_sheet_def def = {.nvert = 4, .ntri = 2, .rest = rest, .tri = tri, .energy = energy};
    must(ct_sheet_create(&f.sheet, &def), NULL);
    set_folded(&f, f.rigidity, f.beta);
    must(ct_sheet_work_create(&f.work, f.sheet), NULL);
    fold(start, f.x_n);
    fold(before, f.x_nm1);
    ct_sheet_begin_rate(f.sheet, f.work, C, A, f.x_n, B, f.x_nm1);
    return f;
}

static void destroy_folded(folded* f) {
    ct_sheet_work_free(f->work);
    ct_sheet_free(f->sheet);
}

static double folded_gradient(const folded* f, const double* x, double* force) {
    memset(force, 0, 12 * sizeof(double));
    return ct_sheet_gradient(f->sheet, f->work, x, force);
}

// The moment of the forces on the turned corner about the edge.
static double moment_at(const folded* f, double angle) {
    double x[13], force[13];
    fold(angle, x);
    folded_gradient(f, x, force);
    return 0.9 * (sin(angle) * force[10] + cos(angle) * force[11]);
}

// The moment is that of a spring and of a damper in the angle, which nothing tells from the one a turn away.
static void a_hinge_feels_no_jump_at_half_a_turn(void** state) {
    for (int side = -1; side <= 1; side += 2)
        for (int from = 0; from < 2; from++) {
            const double start = side * (M_PI - 0.2 + 0.4 * from), before = side * (M_PI + 0.1 - 0.2 * from);
            // counted from where the step begins, in [-pi, pi]
            const double turns = from ? -2 * M_PI * side : 0;
            folded f = make_folded(HINGE_REST, HINGE_REST, 0);
            const double stiffness = moment_at(&f, HINGE_REST + 0.1) / (0.1 + f.beta * C * 0.1);
            destroy_folded(&f);
            f = make_folded(start, before, 0);
            for (double t = -0.5; t <= 0.5; t += 0.01) {
                const double angle = side * M_PI + t, rate = C * angle - A * start - B * before;
                const double expected = stiffness * (angle + turns - HINGE_REST + f.beta * rate);
                assert_true(fabs(moment_at(&f, angle) / expected - 1) < 1e-10);
            }
            destroy_folded(&f);
        }
}

static double folded_energy(void* user, double t) {
    const folded* f = user;
    double x[13], force[13];
    fold(f->at, x);
    for (int i = 0; i < 12; i++) x[i] += t * f->d[i];
    return folded_gradient(f, x, force);
}

static double folded_force(void* user, double t) {
    const folded* f = user;
    double x[13], force[13];
    fold(f->at, x);
    for (int i = 0; i < 12; i++) x[i] += t * f->d[i];
    folded_gradient(f, x, force);
    return ct_vecn_dot(f->u, force, 12);
}

static double folded_force_of_parameter(void* user, double t) {
    const folded* f = user;
    double x[13], force[13];
    fold(f->at, x);
    set_folded(f, f->rigidity + (f->which == 0) * t, f->beta + (f->which == 1) * t);
    folded_gradient(f, x, force);
    set_folded(f, f->rigidity, f->beta);
    return ct_vecn_dot(f->u, force, 12);
}

static double folded_force_of_history(void* user, double t) {
    const folded* f = user;
    double x[13], force[13], n[13], m[13];
    fold(f->at, x);
    for (int i = 0; i < 12; i++)
        n[i] = f->x_n[i] + (f->which == 0) * t * f->d[i], m[i] = f->x_nm1[i] + (f->which == 1) * t * f->d[i];
    ct_sheet_begin_rate(f->sheet, f->work, C, A, n, B, m);
    folded_gradient(f, x, force);
    return ct_vecn_dot(f->u, force, 12);
}

// Gradient, Hessian, parameters and history beyond half a turn, where the step began before it.
static void derivatives_match_differences_beyond_half_a_turn(void** state) {
    double d[3 * NV + 1], u[3 * NV + 1], x[13], force[13], Hd[13] = {0}, by_beta[2], by_rigidity[8],
                                                           bar[2][13] = {{0}}, by_all = 0;
    direction(21, 0.1, d);
    direction(22, 1, u);
    folded f = make_folded(3.0, 2.9, 3.3);
    f.d = d, f.u = u;
    fold(f.at, x);
    folded_gradient(&f, x, force);
    ct_sheet_linearise(f.sheet, f.work, x, false);
    ct_sheet_product(f.sheet, f.work, d, Hd);
    ct_sheet_parameter_vjp(f.sheet, f.work, x, u, &(ct_sheet_bar){.beta = by_beta, .rigidity = by_rigidity});
    for (int i = 0; i < 8; i++) by_all += (i % 4 == 2 ? 0 : i % 4 == 3 ? 0.5 : 1) * by_rigidity[i];
    ct_sheet_history_vjp(f.sheet, f.work, x, u, A, f.x_n, bar[0], B, f.x_nm1, bar[1]);
    assert_slope(folded_energy, &f, ct_vecn_dot(force, d, 12), 0.1, 10);
    assert_slope(folded_force, &f, ct_vecn_dot(Hd, u, 12), 0.1, 100);
    assert_slope(folded_force_of_parameter, &f, by_all, 0.01, 100);
    f.which = 1;
    assert_slope(folded_force_of_parameter, &f, by_beta[0] + by_beta[1], 0.001, 100);
    for (f.which = 0; f.which < 2; f.which++)
        assert_slope(folded_force_of_history, &f, -ct_vecn_dot(bar[f.which], d, 12), 0.01, 1000);
    destroy_folded(&f);
}

// ---- invariance ----------------------------------------------------------------------------

static void turn(const ct_mat3* R, const double* x, double* y) {
    for (int v = 0; v < NV; v++) ct_vec3_store(y + 3 * v, ct_mat3_apply(*R, ct_vec3_load(x + 3 * v)));
}

static void energy_and_forces_follow_a_rotation(void** state) {
    const ct_mat3 R = ct_polar3((ct_mat3){{{0.3, -0.9, 0.1}, {0.8, 0.2, -0.4}, {0.3, 0.3, 0.9}}});
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        patch p = make(energy, true, 0.5);
        double y[3 * NV + 1], f[3 * NV + 1], g[3 * NV + 1], Rf[3 * NV + 1];
        ct_sheet_begin_step(p.sheet, p.work, 100, 100, p.rest, 0, NULL);
        const double before = gradient(&p, p.x, f);
        turn(&R, p.x, y);
        for (int i = 0; i < 3 * NV; i++) y[i] += 0.3;
        const double after = gradient(&p, y, g);
        turn(&R, f, Rf);
        assert_true(fabs(before - after) < 1e-12 * before);
        for (int i = 0; i < 3 * NV; i++) assert_true(fabs(Rf[i] - g[i]) < 1e-11 * (fabs(Rf[i]) + 1));
        destroy(&p);
    }
}

static void forces_have_no_resultant(void** state) {
    patch p = make(-1, true, 0.5);
    double f[3 * NV + 1], force[3] = {0}, moment[3] = {0};
    ct_sheet_begin_step(p.sheet, p.work, 100, 100, p.rest, 0, NULL);
    gradient(&p, p.x, f);
    for (int v = 0; v < NV; v++)
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            force[a] += f[3 * v + a];
            moment[a] += p.x[3 * v + b] * f[3 * v + c] - p.x[3 * v + c] * f[3 * v + b];
        }
    for (int a = 0; a < 3; a++) assert_true(fabs(force[a]) < 1e-12 && fabs(moment[a]) < 1e-12);
    destroy(&p);
}

static void a_curved_sheet_is_at_rest_in_its_rest_shape(void** state) {
    patch p = make(-1, false, 0);
    double f[3 * NV + 1];
    assert_true(fabs(gradient(&p, p.rest, f)) < 1e-15);
    for (int i = 0; i < 3 * NV; i++) assert_true(fabs(f[i]) < 1e-14);
    int nhinge;
    ct_sheet_hinges(p.sheet, &nhinge);
    assert_int_equal(nhinge, 3 * NX * NY - NX - NY);
    double largest = 0;
    for (int k = 0; k < nhinge; k++)
        largest = fmax(largest, fabs(ct_sheet_hinge_angle(p.sheet, k, p.mesh->x)));
    assert_true(largest > 0.05);
    destroy(&p);
}

static void node_rotations_are_those_of_a_rigid_motion(void** state) {
    patch p = make(-1, false, 0);
    const ct_mat3 R = ct_polar3((ct_mat3){{{0.3, -0.9, 0.1}, {0.8, 0.2, -0.4}, {0.3, 0.3, 0.9}}});
    double y[3 * NV + 1], rotation[9 * NV];
    turn(&R, p.mesh->x, y);
    ct_sheet_rotations(p.sheet, p.work, y, rotation);
    for (int i = 0; i < 9 * NV; i++) assert_true(fabs(rotation[i] - R.a[i % 9 / 3][i % 3]) < 1e-13);
    destroy(&p);
}

// ---- assembled matrices --------------------------------------------------------------------

static ct_block_matrix pattern(const patch* p, ct_arena* arena) {
    int nhinge, count = 0;
    const int* hinge = ct_sheet_hinges(p->sheet, &nhinge);
    int* nodes = calloc(4 * (size_t)(nhinge + p->mesh->ntri), sizeof(int));
    for (int i = 0; i < 4 * nhinge; i++) nodes[count++] = hinge[i];
    for (int e = 0; e < p->mesh->ntri; e++) {
        for (int k = 0; k < 3; k++) nodes[count++] = p->mesh->tri[3 * e + k];
        nodes[count++] = -1;
    }
    ct_block_matrix matrix;
    must(ct_block_matrix_create(&matrix, arena, p->mesh->nvert, count / 4, 4, nodes), NULL);
    free(nodes);
    return matrix;
}

static void assembled_hessian_of_membranes_is_the_product(void** state) {
    int unknown[NV];
    double d[3 * NV + 1], Hd[3 * NV + 1], Ad[3 * NV + 1], x_n[3 * NV + 1], x_nm1[3 * NV + 1], none[NT] = {0};
    for (int v = 0; v < NV; v++) unknown[v] = v;
    direction(8, 1, d);
    for (int at = 0; at < 2; at++) {
        patch p = make(-1, true, 0.5);
        ct_arena arena = {0};
        ct_block_matrix A = pattern(&p, &arena);
        ct_sheet_set_parameters(p.sheet, &(ct_sheet_parameters){.bending = none});
        if (at) begin(&p, x_n, x_nm1);
        else ct_sheet_begin_step(p.sheet, p.work, 100, 100, p.rest, 0, NULL);
        ct_sheet_assemble(p.sheet, p.work, at ? p.x : NULL, false, unknown, &A);
        ct_sheet_linearise(p.sheet, p.work, at ? p.x : p.rest, false);
        product(&p, d, Hd);
        ct_block_matrix_multiply(&A, d, Ad);
        for (int i = 0; i < 3 * NV; i++) assert_true(fabs(Hd[i] - Ad[i]) < 1e-11 * (fabs(Hd[i]) + 10));
        ct_arena_free(&arena);
        destroy(&p);
    }
}

static void projected_hessian_is_positive(void** state) {
    int unknown[NV];
    for (int v = 0; v < NV; v++) unknown[v] = v;
    double least[2] = {INFINITY, INFINITY};
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++)
        for (int project = 0; project < 2; project++) {
            patch p = make(energy, true, 2);
            ct_arena arena = {0};
            ct_block_matrix A = pattern(&p, &arena);
            double x_n[3 * NV + 1], x_nm1[3 * NV + 1], v[3 * NV + 1], Av[3 * NV + 1], shift = 0;
            begin(&p, x_n, x_nm1);
            ct_sheet_assemble(p.sheet, p.work, p.x, project, unknown, &A);
            // least eigenvalue by power iteration on shift - A
            for (int pass = 0; pass < 2; pass++) {
                direction(9, 1, v);
                double value = 0;
                for (int i = 0; i < 3000; i++) {
                    double norm = ct_vecn_norm(v, 3 * NV);
                    for (int k = 0; k < 3 * NV; k++) v[k] /= norm;
                    ct_block_matrix_multiply(&A, v, Av);
                    value = ct_vecn_dot(v, Av, 3 * NV);
                    for (int k = 0; k < 3 * NV; k++) v[k] = pass ? shift * v[k] - Av[k] : Av[k];
                }
                if (pass) least[project] = fmin(least[project], value / shift);
                else shift = 1.1 * fabs(value);
            }
            ct_arena_free(&arena);
            destroy(&p);
        }
    assert_true(least[0] < -1e-3);  // there was something to do
    assert_true(least[1] > -1e-12);
}

// In a membrane that is stretched in all directions nothing is negative: the projected matrix is the exact
// one.
static void a_stretched_membrane_needs_no_projection(void** state) {
    int unknown[NV];
    double none[NT] = {0}, d[3 * NV + 1], Hd[3 * NV + 1], Ad[3 * NV + 1];
    for (int v = 0; v < NV; v++) unknown[v] = v;
    direction(10, 1, d);
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        patch p = make(energy, true, 0);
        ct_arena arena = {0};
        ct_block_matrix A = pattern(&p, &arena);
        ct_sheet_set_parameters(p.sheet, &(ct_sheet_parameters){.bending = none});
        for (int i = 0; i < 3 * NV; i++) p.x[i] *= i % 3 == 0 ? 1.4 : i % 3 == 1 ? 1.2 : 1;
        ct_sheet_begin_step(p.sheet, p.work, 100, 100, p.x, 0, NULL);
        ct_sheet_assemble(p.sheet, p.work, p.x, true, unknown, &A);
        ct_sheet_linearise(p.sheet, p.work, p.x, false);
        product(&p, d, Hd);
        ct_block_matrix_multiply(&A, d, Ad);
        for (int i = 0; i < 3 * NV; i++) assert_true(fabs(Hd[i] - Ad[i]) < 1e-12 * (fabs(Hd[i]) + 10));
        ct_arena_free(&arena);
        destroy(&p);
    }
}

// ---- known answers -------------------------------------------------------------------------

// Two triangles, stretched by e along x and by -nu e along y: E t e along x, nothing along y.
static void a_stretched_strip_has_its_modulus_and_contraction(void** state) {
    const double young = 3e5, nu = 0.3, thickness = 2e-3, e = 1e-6, size[2] = {1, 1};
    const int cells[2] = {1, 1};
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        ct_mesh* mesh;
        ct_sheet* sheet;
        ct_sheet_work* work;
        const double t = thickness, m = t * young / (2 * (1 + nu)), l = t * young * nu / (1 - nu * nu);
        const unsigned char kind[2] = {(unsigned char)energy, (unsigned char)energy};
        const double mu[2] = {m, m}, lambda[2] = {l, l};
        must(ct_mesh_sheet(&mesh, size, cells, NULL), NULL);
        const ct_sheet_def def = {.nvert = 4,
                                  .ntri = 2,
                                  .rest = mesh->x,
                                  .tri = mesh->tri,
                                  .energy = kind,
                                  .parameters = {.mu = mu, .lambda = lambda}};
        must(ct_sheet_create(&sheet, &def), NULL);
        must(ct_sheet_work_create(&work, sheet), NULL);
        double x[13], f[13] = {0}, pull[2] = {0};
        for (int v = 0; v < 4; v++) {
            x[3 * v] = mesh->x[3 * v] * (1 + e), x[3 * v + 1] = mesh->x[3 * v + 1] * (1 - nu * e),
                  x[3 * v + 2] = 0;
        }
        ct_sheet_gradient(sheet, work, x, f);
        for (int v = 0; v < 4; v++)
            for (int a = 0; a < 2; a++) pull[a] += f[3 * v + a] * mesh->x[3 * v + a];
        assert_true(fabs(pull[0] / (young * thickness * e) - 1) < 1e-5);
        assert_true(fabs(pull[1]) < 1e-5 * young * thickness * e);
        ct_sheet_work_free(work);
        ct_sheet_free(sheet);
        ct_mesh_free(mesh);
    }
}

static void bad_sheets_are_refused(void** state) {
    const double rest[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0}, one = 1;
    const int line_up[3] = {0, 1, 2}, out_of_range[3] = {0, 1, 3};
    unsigned char energy = 0;
    ct_sheet* sheet;
    ct_sheet_def def = {.nvert = 3,
                        .ntri = 1,
                        .rest = rest,
                        .tri = line_up,
                        .energy = &energy,
                        .parameters = {.mu = &one, .lambda = &one}};
    assert_int_equal(ct_sheet_create(&sheet, &def), CT_BAD_MESH);
    assert_null(sheet);
    def.tri = out_of_range;
    assert_int_equal(ct_sheet_create(&sheet, &def), CT_BAD_MESH);
    energy = CT_ENERGY_COUNT;
    assert_int_equal(ct_sheet_create(&sheet, &def), CT_BAD_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_and_hessian_match_differences),
        cmocka_unit_test(hessian_is_symmetric),
        cmocka_unit_test(foreseen_stress_is_that_of_the_linearisation),
        cmocka_unit_test(parameter_derivatives_match_differences),
        cmocka_unit_test(history_derivatives_match_differences),
        cmocka_unit_test(a_hinge_feels_no_jump_at_half_a_turn),
        cmocka_unit_test(derivatives_match_differences_beyond_half_a_turn),
        cmocka_unit_test(energy_and_forces_follow_a_rotation),
        cmocka_unit_test(forces_have_no_resultant),
        cmocka_unit_test(a_curved_sheet_is_at_rest_in_its_rest_shape),
        cmocka_unit_test(node_rotations_are_those_of_a_rigid_motion),
        cmocka_unit_test(assembled_hessian_of_membranes_is_the_product),
        cmocka_unit_test(projected_hessian_is_positive),
        cmocka_unit_test(a_stretched_membrane_needs_no_projection),
        cmocka_unit_test(a_stretched_strip_has_its_modulus_and_contraction),
        cmocka_unit_test(bad_sheets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
