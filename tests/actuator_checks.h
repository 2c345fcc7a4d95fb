// What every actuator's energy must satisfy: derivatives by slope, symmetric products, invariance, assembled
// = product.
#ifndef CT_TESTS_ACTUATOR_CHECKS_H
#define CT_TESTS_ACTUATOR_CHECKS_H

#include <stdlib.h>
#include <string.h>

#include "elastic_bodies.h"
#include "math/vecn.h"
#include "slope.h"
#include "unit.h"

typedef struct actuator {
    int nvert;
    const double* x;                                             // 3 nvert, where it is judged
    double (*gradient)(void* user, const double* x, double* f);  // adds to f unless NULL
    void (*product)(void* user, const double* x, const double* dx, double* out);
    void* user;
} actuator;

typedef struct actuator_line {
    const actuator* of;
    const double *d, *e;  // moves along d; derivatives of the gradient are taken along e
    double *y, *f;
} actuator_line;

static inline double line_energy(void* user, double t) {
    const actuator_line* l = user;
    for (int i = 0; i < 3 * l->of->nvert; i++) l->y[i] = l->of->x[i] + t * l->d[i];
    return l->of->gradient(l->of->user, l->y, NULL);
}

static inline double line_gradient(void* user, double t) {
    const actuator_line* l = user;
    const int n = 3 * l->of->nvert;
    for (int i = 0; i < n; i++) l->y[i] = l->of->x[i] + t * l->d[i], l->f[i] = 0;
    l->of->gradient(l->of->user, l->y, l->f);
    return ct_vecn_dot(l->f, l->e, (size_t)n);
}

static inline double* numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

// Energy and gradient belong together, so do gradient and product; the product is symmetric.
static inline void check_actuator_derivatives(const actuator* a, double h) {
    const int n = 3 * a->nvert;
    double *d = numbers(n), *e = numbers(n), *y = numbers(n), *f = numbers(n), *g = numbers(n),
           *Hd = numbers(n), *He = numbers(n);
    for (int trial = 0; trial < 4; trial++) {
        for (int i = 0; i < n; i++) d[i] = random_unit(), e[i] = random_unit(), g[i] = Hd[i] = He[i] = 0;
        actuator_line line = {a, d, e, y, f};
        const double energy = a->gradient(a->user, a->x, g);
        double size = 0;
        for (int i = 0; i < n; i++) size += fabs(g[i] * e[i]);
        assert_slope(line_energy, &line, ct_vecn_dot(g, d, (size_t)n), h, fabs(energy));
        a->product(a->user, a->x, d, Hd);
        a->product(a->user, a->x, e, He);
        assert_slope(line_gradient, &line, ct_vecn_dot(Hd, e, (size_t)n), h, size);
        assert_true(fabs(ct_vecn_dot(Hd, e, (size_t)n) - ct_vecn_dot(He, d, (size_t)n)) <=
                    1e-13 * sqrt(ct_vecn_dot(Hd, Hd, (size_t)n) * ct_vecn_dot(e, e, (size_t)n)));
    }
    free(d), free(e), free(y), free(f), free(g), free(Hd), free(He);
}

// A turned and shifted body has the same energy and turned forces.
static inline void check_actuator_frame(const actuator* a) {
    const int n = 3 * a->nvert;
    double *y = numbers(n), *f = numbers(n), *g = numbers(n);
    const ct_mat3 Q = random_rotation();
    for (int v = 0; v < a->nvert; v++)
        ct_vec3_store(y + 3 * v,
                      ct_vec3_add(ct_mat3_apply(Q, ct_vec3_load(a->x + 3 * v)), (ct_vec3){0.3, -2, 1.1}));
    const double energy = a->gradient(a->user, a->x, f), turned = a->gradient(a->user, y, g);
    assert_true(fabs(energy - turned) <= 1e-12 * fabs(energy));
    const double size = ct_vecn_norm(f, (size_t)n);
    for (int v = 0; v < a->nvert; v++) {
        const ct_vec3 difference =
            ct_vec3_sub(ct_mat3_apply(Q, ct_vec3_load(f + 3 * v)), ct_vec3_load(g + 3 * v));
        assert_true(ct_vec3_norm(difference) <= 1e-12 * size);
    }
    free(y), free(f), free(g);
}

// Forces neither push nor turn the body as a whole.
static inline void check_actuator_balance(const actuator* a) {
    double* f = numbers(3 * a->nvert);
    a->gradient(a->user, a->x, f);
    ct_vec3 force = {0}, moment = {0};
    double size = 0;
    for (int v = 0; v < a->nvert; v++) {
        const ct_vec3 g = ct_vec3_load(f + 3 * v);
        force = ct_vec3_add(force, g);
        moment = ct_vec3_add(moment, ct_vec3_cross(ct_vec3_load(a->x + 3 * v), g));
        size += ct_vec3_norm(g) * (1 + ct_vec3_norm(ct_vec3_load(a->x + 3 * v)));
    }
    assert_true(size > 0);
    assert_true(ct_vec3_norm(force) <= 1e-14 * size);
    assert_true(ct_vec3_norm(moment) <= 1e-14 * size);
    free(f);
}

// An assembled matrix over all nodes of tets; freed by the arena.
static inline ct_block_matrix tet_matrix(const body* b, ct_arena* arena) {
    ct_block_matrix matrix;
    assert_int_equal(ct_block_matrix_create(&matrix, arena, b->nvert, b->ntet, 4, b->tet), CT_OK);
    return matrix;
}

static inline int* all_unknown(const body* b) {
    int* unknown = calloc((size_t)b->nvert, sizeof(int));
    for (int v = 0; v < b->nvert; v++) unknown[v] = v;
    return unknown;
}

// The matrix times random vectors is the product at x.
static inline void check_assembled(const actuator* a, const double* x, const ct_block_matrix* matrix) {
    const int n = 3 * a->nvert;
    double *d = numbers(n), *Hd = numbers(n), *Ad = numbers(n);
    for (int i = 0; i < n; i++) d[i] = random_unit();
    a->product(a->user, x, d, Hd);
    ct_block_matrix_multiply(matrix, d, Ad);
    const double size = ct_vecn_norm(Hd, (size_t)n);
    assert_true(size > 0);
    for (int i = 0; i < n; i++) assert_true(fabs(Hd[i] - Ad[i]) <= 1e-12 * size);
    free(d), free(Hd), free(Ad);
}

// No random vector sees negative curvature.
static inline void check_semidefinite(const body* b, const ct_block_matrix* matrix) {
    const int n = 3 * b->nvert;
    double *d = numbers(n), *Ad = numbers(n);
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < n; i++)
            d[i] = random_unit() * (trial % 2 || i / 12 == trial % (b->nvert / 4) ? 1 : 0);
        ct_block_matrix_multiply(matrix, d, Ad);
        assert_true(ct_vecn_dot(d, Ad, (size_t)n) >=
                    -1e-12 * sqrt(ct_vecn_dot(Ad, Ad, (size_t)n) * ct_vecn_dot(d, d, (size_t)n)));
    }
    free(d), free(Ad);
}

#endif
