// Bodies for the tests of the element kernels: separate tets with given singular values, boxes, single tets.
#ifndef CT_TESTS_ELASTIC_BODIES_H
#define CT_TESTS_ELASTIC_BODIES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "force/elastic.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "unit.h"

#define NCLOUD 11  // tets of the cloud: one block and a partly filled one

static const double mu_value = 1.3, lambda_value = 2.1;

static uint64_t random_state = 1;
static inline double random_unit(void) {  // in [-1, 1)
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-52 - 1;
}

static inline ct_mat3 random_rotation(void) {
    return ct_quat_matrix(
        ct_quat_normalise((ct_quat){random_unit(), random_unit(), random_unit(), random_unit()}));
}

// ---- bodies under test

typedef struct body {
    int nvert, ntet;
    double *rest, *x;  // 3 nvert + 1
    int *tet, *mid;    // mid: NULL, or 6 a tet
    unsigned char* energy;
    double *mu, *lambda, *beta;
    ct_elastic* elastic;
    ct_elastic_work* work;
} body;

static inline body body_allocate(int nvert, int ntet) {
    body b = {.nvert = nvert, .ntet = ntet};
    b.rest = calloc((size_t)nvert * 3 + 1, sizeof(double));
    b.x = calloc((size_t)nvert * 3 + 1, sizeof(double));
    b.tet = calloc((size_t)ntet * 4, sizeof(int));
    b.energy = calloc((size_t)ntet, 1);
    b.mu = calloc((size_t)ntet, sizeof(double));
    b.lambda = calloc((size_t)ntet, sizeof(double));
    b.beta = calloc((size_t)ntet, sizeof(double));
    for (int e = 0; e < ntet; e++) b.mu[e] = mu_value, b.lambda[e] = lambda_value;
    return b;
}

// The node between two, made when it is first asked for; known: 64 a node, pairs of other node and middle.
static inline int body_middle(body* b, int* known, int v, int w) {
    const int low = v < w ? v : w, high = v + w - low;
    int* list = known + 64 * (size_t)low;
    for (; *list >= 0; list += 2)
        if (list[0] == high) return list[1];
    list[0] = high, list[1] = b->nvert;
    for (int i = 0; i < 3; i++) {
        b->rest[3 * b->nvert + i] = 0.5 * (b->rest[3 * v + i] + b->rest[3 * w + i]) + 0.02 * random_unit();
        b->x[3 * b->nvert + i] = 0.5 * (b->x[3 * v + i] + b->x[3 * w + i]) + 0.03 * random_unit();
    }
    return b->nvert++;
}

// Makes all tets those of second order, slightly curved.
static inline void body_raise(body* b) {
    static const int edge[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    int* known = malloc(64 * (size_t)b->nvert * sizeof(int));
    for (int i = 0; i < 64 * b->nvert; i++) known[i] = -1;
    b->mid = calloc(6 * (size_t)b->ntet, sizeof(int));
    b->rest = realloc(b->rest, (3 * (size_t)(b->nvert + 6 * b->ntet) + 1) * sizeof(double));
    b->x = realloc(b->x, (3 * (size_t)(b->nvert + 6 * b->ntet) + 1) * sizeof(double));
    for (int e = 0; e < b->ntet; e++)
        for (int k = 0; k < 6; k++)
            b->mid[6 * e + k] = body_middle(b, known, b->tet[4 * e + edge[k][0]], b->tet[4 * e + edge[k][1]]);
    free(known);
}

static bool raised = false;  // clouds and mixed boxes are of second order

static inline void body_compile(body* b) {
    const ct_elastic_def def = {b->nvert,  b->ntet, b->rest,   b->tet, b->mid,
                                b->energy, b->mu,   b->lambda, b->beta};
    assert_int_equal(ct_elastic_create(&b->elastic, &def), CT_OK);
    assert_int_equal(ct_elastic_work_create(&b->work, b->elastic), CT_OK);
}

static inline void body_free(body* b) {
    ct_elastic_free(b->elastic);
    ct_elastic_work_free(b->work);
    free(b->rest), free(b->x), free(b->tet), free(b->mid), free(b->energy), free(b->mu), free(b->lambda),
        free(b->beta);
}

static inline double* node_array(const body* b) { return calloc((size_t)b->nvert * 3 + 1, sizeof(double)); }

// Separate tets of random shape; tet e is deformed by U diag(s) V^T with random rotations and s near
// `stretch`.
static inline body make_cloud(int energy, const double stretch[3], double spread) {
    body b = body_allocate(4 * NCLOUD, NCLOUD);
    for (int e = 0; e < NCLOUD; e++) {
        const ct_mat3 U = random_rotation(), V = random_rotation();
        ct_mat3 S = {0};
        for (int i = 0; i < 3; i++) S.a[i][i] = stretch[i] * (1 + spread * random_unit());
        const ct_mat3 F = spread > 0 ? ct_mat3_multiply(ct_mat3_multiply(U, S), ct_mat3_transpose(V)) : S;
        for (int k = 0; k < 4; k++) {
            double* rest = b.rest + 3 * (4 * e + k);
            for (int i = 0; i < 3; i++) rest[i] = (k == i + 1) + 0.1 * random_unit();
            ct_vec3_store(b.x + 3 * (4 * e + k), ct_mat3_apply(F, ct_vec3_load(rest)));
            b.tet[4 * e + k] = 4 * e + k;
        }
        b.energy[e] = (unsigned char)energy;
    }
    if (raised) body_raise(&b);
    return b;
}

// A box of n[0] x n[1] x n[2] cells with six tets each, jittered.
static inline body make_box(const int n[3], double jitter) {
    static const int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    body b = body_allocate((n[0] + 1) * (n[1] + 1) * (n[2] + 1), n[0] * n[1] * n[2] * 6);
    int v = 0, e = 0;
    for (int i = 0; i <= n[0]; i++)
        for (int j = 0; j <= n[1]; j++)
            for (int k = 0; k <= n[2]; k++, v++) {
                b.rest[3 * v] = i, b.rest[3 * v + 1] = j, b.rest[3 * v + 2] = k;
                for (int a = 0; a < 3; a++) b.x[3 * v + a] = b.rest[3 * v + a] + jitter * random_unit();
            }
    for (int cell = 0; cell < n[0] * n[1] * n[2]; cell++)
        for (int p = 0; p < 6; p++, e++) {
            int c[3] = {cell / (n[1] * n[2]), cell / n[2] % n[1], cell % n[2]};
            for (int k = 0; k < 4; k++) {
                if (k > 0) c[path[p][k - 1]]++;
                b.tet[4 * e + k] = (c[0] * (n[1] + 1) + c[1]) * (n[2] + 1) + c[2];
            }
            if (p > 2) {  // odd paths have negative volume
                const int swap = b.tet[4 * e + 2];
                b.tet[4 * e + 2] = b.tet[4 * e + 3];
                b.tet[4 * e + 3] = swap;
            }
        }
    return b;
}

// A jittered box of tets of all energies, each with its own parameters.
static inline body make_mixed_box(const int n[3]) {
    body b = make_box(n, 0.15);
    for (int e = 0; e < b.ntet; e++) {
        b.energy[e] = (unsigned char)(e / 7 % CT_ENERGY_COUNT);
        b.mu[e] = 1 + 0.5 * random_unit();
        b.lambda[e] = 2 + 0.5 * random_unit();
        b.beta[e] = 0.01;
    }
    if (raised) body_raise(&b);
    return b;
}

// One tet with the unit axes as edges (Dm = I, V = 1/6) deformed by F.
static inline body make_single(int energy, ct_mat3 F) {
    body b = body_allocate(4, 1);
    b.energy[0] = (unsigned char)energy;
    for (int k = 0; k < 4; k++) {
        b.tet[k] = k;
        if (k > 0) b.rest[3 * k + k - 1] = 1;
        ct_vec3_store(b.x + 3 * k, ct_mat3_apply(F, ct_vec3_load(b.rest + 3 * k)));
    }
    return b;
}

static inline double single_energy(int energy, ct_mat3 F) {
    body b = make_single(energy, F);
    body_compile(&b);
    double f[13];
    const double W = 6 * ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
    body_free(&b);
    return W;
}

// First Piola stress: with Dm = I the forces of nodes 1..3 are the columns of V P.
static inline ct_mat3 single_stress(int energy, ct_mat3 F, double mu, double lambda) {
    body b = make_single(energy, F);
    b.mu[0] = mu, b.lambda[0] = lambda;
    body_compile(&b);
    double f[13];
    ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
    body_free(&b);
    return ct_mat3_scale(6, ct_mat3_columns(ct_vec3_load(f + 3), ct_vec3_load(f + 6), ct_vec3_load(f + 9)));
}

#endif
