// Elastic and viscous forces: derivatives by the slope of central differences, known energies, invariance,
// sums.
#include "elastic_bodies.h"
#include "math/vecn.h"

// ---- derivatives

// Errors at steps h, h/2, h/4 must fall like h^2 until they reach the noise.
static void assert_second_order(const double error[3], double noise, const char* what, const char* energy) {
    for (int k = 0; k < 2; k++) {
        if (error[k + 1] < noise) continue;
        const double slope = log2(error[k] / error[k + 1]);
        if (!(slope > 1.8 && slope < 2.25))
            fail_msg("%s of %s: errors %g %g %g, slope %g", what, energy, error[0], error[1], error[2],
                     slope);
    }
    if (!(error[2] < noise || error[2] < error[0] / 8)) fail_msg("%s of %s does not converge", what, energy);
}

static void check_derivatives(body* b, const char* name) {
    const int n = 3 * b->nvert;
    double *f = node_array(b), *d = node_array(b), *y = node_array(b), *Hd = node_array(b),
           *plus = node_array(b), *minus = node_array(b);
    for (int i = 0; i < n; i++) d[i] = random_unit();
    const double energy = ct_elastic_gradient(b->elastic, b->work, NULL, b->x, f);
    ct_elastic_linearise(b->elastic, b->work, NULL, b->x);
    ct_elastic_product(b->elastic, b->work, NULL, d, Hd);
    double gradient_error[3], product_error[3];
    for (int k = 0; k < 3; k++) {
        const double h = 8e-4 / (1 << k);
        for (int i = 0; i < n; i++) y[i] = b->x[i] + h * d[i];
        const double above = ct_elastic_gradient(b->elastic, b->work, NULL, y, plus);
        for (int i = 0; i < n; i++) y[i] = b->x[i] - h * d[i];
        const double below = ct_elastic_gradient(b->elastic, b->work, NULL, y, minus);
        gradient_error[k] = fabs((above - below) / (2 * h) - ct_vecn_dot(f, d, (size_t)n));
        product_error[k] = 0;
        for (int i = 0; i < n; i++)
            product_error[k] = fmax(product_error[k], fabs((plus[i] - minus[i]) / (2 * h) - Hd[i]));
    }
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(f[i]));
    assert_second_order(gradient_error, 3e-11 * (1 + energy), "gradient", name);
    assert_second_order(product_error, 1e-10 * (1 + largest), "product", name);
    free(f), free(d), free(y), free(Hd), free(plus), free(minus);
}

static void check_cloud(const double stretch[3], double spread, bool damped) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        random_state = 7 + (uint64_t)energy;
        body b = make_cloud(energy, stretch, spread);
        if (damped)
            for (int e = 0; e < b.ntet; e++) b.beta[e] = 0.004 * (1 + e % 3);
        body_compile(&b);
        double *x_n = node_array(&b), *x_nm1 = node_array(&b);
        for (int i = 0; i < 3 * b.nvert; i++)
            x_n[i] = b.x[i] + 0.02 * random_unit(), x_nm1[i] = b.x[i] + 0.04 * random_unit();
        if (damped) ct_elastic_begin_step(b.elastic, b.work, NULL, 150, 200, x_n, -50, x_nm1);
        check_derivatives(&b, ct_energy_name((ct_energy)energy));
        free(x_n), free(x_nm1);
        body_free(&b);
    }
}

static void derivatives_match_differences_at_rest(void** state) {
    check_cloud((double[]){1, 1, 1}, 0, false);
}
static void derivatives_match_differences_at_moderate_strain(void** state) {
    check_cloud((double[]){1.2, 1.05, 0.85}, 0.05, false);
}
static void derivatives_match_differences_at_large_strain(void** state) {
    check_cloud((double[]){3, 1.6, 0.4}, 0.2, false);
}
static void derivatives_match_differences_when_inverted(void** state) {
    check_cloud((double[]){1.3, 0.9, -0.5}, 0.1, false);
}
static void derivatives_match_differences_when_collapsed(void** state) {
    check_cloud((double[]){1, 0.12, 0.09}, 0.1, false);
}
static void derivatives_match_differences_when_blown_up(void** state) {
    check_cloud((double[]){6, 4, 2.5}, 0.1, false);
}
static void derivatives_match_differences_with_damping(void** state) {
    check_cloud((double[]){1.2, 1.05, 0.85}, 0.05, true);
    check_cloud((double[]){1.3, 0.9, -0.5}, 0.1, true);
}

static void product_is_symmetric(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        body b = make_cloud(energy, (double[]){1.4, 0.8, 0.5}, 0.2);
        for (int e = 0; e < b.ntet; e++) b.beta[e] = 0.01;
        body_compile(&b);
        ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, b.rest, 0, NULL);
        ct_elastic_linearise(b.elastic, b.work, NULL, b.x);
        double *u = node_array(&b), *v = node_array(&b), *Hu = node_array(&b), *Hv = node_array(&b);
        const int n = 3 * b.nvert;
        for (int i = 0; i < n; i++) u[i] = random_unit(), v[i] = random_unit();
        ct_elastic_product(b.elastic, b.work, NULL, u, Hu);
        ct_elastic_product(b.elastic, b.work, NULL, v, Hv);
        const double scale = sqrt(ct_vecn_dot(Hu, Hu, (size_t)n) * ct_vecn_dot(v, v, (size_t)n));
        assert_true(fabs(ct_vecn_dot(v, Hu, (size_t)n) - ct_vecn_dot(u, Hv, (size_t)n)) < 1e-13 * scale);
        free(u), free(v), free(Hu), free(Hv);
        body_free(&b);
    }
}

// ---- known answers

static void rest_product_is_hooke_for_every_energy(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        body b = make_single(energy, ct_mat3_identity());
        body_compile(&b);
        double f[13], d[13] = {0}, Hd[13];
        assert_true(fabs(ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f)) < 1e-15);
        for (int i = 0; i < 12; i++) assert_true(fabs(f[i]) < 1e-15);
        ct_elastic_linearise(b.elastic, b.work, NULL, b.x);
        for (int trial = 0; trial < 5; trial++) {
            ct_mat3 dF;
            for (int i = 0; i < 9; i++) dF.a[i / 3][i % 3] = random_unit();
            for (int k = 0; k < 3; k++) ct_vec3_store(d + 3 * (k + 1), ct_mat3_column(dF, k));
            ct_elastic_product(b.elastic, b.work, NULL, d, Hd);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double hooke =
                        mu_value * (dF.a[i][j] + dF.a[j][i]) + (i == j) * lambda_value * ct_mat3_trace(dF);
                    assert_true(fabs(6 * Hd[3 * (j + 1) + i] - hooke) < 1e-13);
                }
        }
        body_free(&b);
    }
}

static void uniform_scaling_has_known_energy(void** state) {
    for (double a = 0.4; a < 1.9; a += 0.3) {
        const ct_mat3 F = ct_mat3_multiply(random_rotation(), ct_mat3_diagonal(a, a, a));
        const double e = a - 1, g = (a * a - 1) / 2, j = a * a * a - 1;
        const double m = 4 * mu_value / 3, n = lambda_value + 5 * mu_value / 6;
        const double known[] = {
            3 * mu_value * e * e + 4.5 * lambda_value * e * e, (3 * mu_value + 4.5 * lambda_value) * e * e,
            m / 2 * (3 * a * a - 3) - m / 2 * log((3 * a * a + 1) / 4) + n / 2 * j * j - 0.75 * m * j,
            3 * mu_value * g * g + 4.5 * lambda_value * g * g};
        for (int energy = 0; energy < CT_ENERGY_COUNT; energy++)
            assert_true(fabs(single_energy(energy, F) - known[energy]) < 1e-13 * (1 + known[energy]));
    }
}

static void simple_shear_has_known_energy(void** state) {
    for (double c = 0.1; c < 3; c += 0.7) {
        ct_mat3 F = ct_mat3_identity();
        F.a[0][1] = c;
        const double root = sqrt(1 + c * c / 4), s0 = root + c / 2, s1 = root - c / 2, m = 4 * mu_value / 3;
        const double shear = mu_value * ((s0 - 1) * (s0 - 1) + (s1 - 1) * (s1 - 1));
        const double known[] = {shear + lambda_value / 2 * (s0 + s1 - 2) * (s0 + s1 - 2), shear,
                                m / 2 * (c * c - log(1 + c * c / 4)),
                                mu_value * (c * c / 2 + pow(c, 4) / 4) + lambda_value / 8 * pow(c, 4)};
        for (int energy = 0; energy < CT_ENERGY_COUNT; energy++)
            assert_true(fabs(single_energy(energy, F) - known[energy]) < 1e-13 * (1 + known[energy]));
    }
}

static void energy_ignores_rotation_and_gradient_follows_it(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        body b = make_cloud(energy, (double[]){1.5, 0.9, 0.3}, 0.3);
        for (int e = 0; e < b.ntet; e++) b.beta[e] = 0.01;
        body_compile(&b);
        ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, b.rest, 0, NULL);
        const ct_mat3 Q = random_rotation();
        double *f = node_array(&b), *y = node_array(&b), *g = node_array(&b);
        for (int v = 0; v < b.nvert; v++)
            ct_vec3_store(y + 3 * v, ct_mat3_apply(Q, ct_vec3_load(b.x + 3 * v)));
        const double before = ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
        const double after = ct_elastic_gradient(b.elastic, b.work, NULL, y, g);
        assert_true(fabs(after - before) < 1e-12 * before);
        for (int v = 0; v < b.nvert; v++) {
            const ct_vec3 turned = ct_mat3_apply(Q, ct_vec3_load(f + 3 * v));
            assert_true(ct_vec3_norm(ct_vec3_sub(turned, ct_vec3_load(g + 3 * v))) <
                        1e-11 * (1 + ct_vec3_norm(turned)));
        }
        free(f), free(y), free(g);
        body_free(&b);
    }
}

static void damping_vanishes_in_rigid_motion_and_is_beta_stiffness_at_rest(void** state) {
    body b = make_cloud(CT_ENERGY_COROTATED, (double[]){1, 1, 1}, 0);
    for (int e = 0; e < b.ntet; e++) b.beta[e] = 0.02;
    memcpy(b.x, b.rest, 3 * (size_t)b.nvert * sizeof(double));
    body_compile(&b);
    double *f = node_array(&b), *g = node_array(&b), *v = node_array(&b), *x = node_array(&b);
    const int n = 3 * b.nvert;
    const double h = 1e-2;
    // x_n is a rotation of x: no strain rate
    const ct_mat3 Q = random_rotation();
    for (int k = 0; k < b.nvert; k++) ct_vec3_store(x + 3 * k, ct_mat3_apply(Q, ct_vec3_load(b.x + 3 * k)));
    ct_elastic_begin_step(b.elastic, b.work, NULL, 1 / h, 1 / h, x, 0, NULL);
    ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
    for (int i = 0; i < n; i++) assert_true(fabs(f[i]) < 1e-12);
    // a small velocity from rest: grad E + beta K v
    for (int i = 0; i < n; i++) v[i] = 1e-6 * random_unit(), x[i] = b.rest[i] - h * v[i];
    ct_elastic_begin_step(b.elastic, b.work, NULL, 1 / h, 1 / h, x, 0, NULL);
    ct_elastic_gradient(b.elastic, b.work, NULL, b.rest, f);
    ct_elastic_begin_step(b.elastic, b.work, NULL, 0, 0, NULL, 0, NULL);
    ct_elastic_linearise(b.elastic, b.work, NULL, b.rest);
    ct_elastic_product(b.elastic, b.work, NULL, v, g);
    for (int i = 0; i < n; i++) assert_true(fabs(f[i] - 0.02 * g[i]) < 1e-13);
    free(f), free(g), free(v), free(x);
    body_free(&b);
}

// ---- the nearest matrix of determinant one: with mu = 0 the projective stress is 3 lambda (F - D)

static void check_nearest(ct_mat3 F) {
    const ct_mat3 D = ct_mat3_axpy(F, -1, single_stress(CT_ENERGY_PROJECTIVE, F, 0, 1.0 / 3));
    // rounding of D is relative to its largest entry, the determinant cubic in it
    const double tolerance = 1e-14 * (1 + pow(ct_mat3_dot(F, F), 1.5));
    if (!(fabs(ct_mat3_determinant(D) - 1) < tolerance))
        fail_msg("determinant %.17g, tolerance %g", ct_mat3_determinant(D), tolerance);
    const ct_mat3 difference = ct_mat3_axpy(F, -1, D);
    const double distance = ct_mat3_dot(difference, difference);
    for (int trial = 0; trial < 20; trial++) {
        // D (I + N), scaled back to determinant one
        ct_mat3 N;
        for (int i = 0; i < 9; i++) N.a[i / 3][i % 3] = 0.05 * random_unit();
        ct_mat3 step = ct_mat3_axpy(ct_mat3_identity(), 1, N);
        step = ct_mat3_scale(1 / cbrt(ct_mat3_determinant(step)), step);
        const ct_mat3 other = ct_mat3_axpy(F, -1, ct_mat3_multiply(D, step));
        assert_true(ct_mat3_dot(other, other) > distance - 1e-12 * (1 + distance));
    }
}

static void nearest_volume_preserving_matrix_is_nearest(void** state) {
    static const double stretch[][3] = {
        {1, 1, 1},     {1.1, 1, 0.9},     {0.3, 0.3, 0.3},  {1.5, 1.5, 1.5},    {4, 3, 2},
        {10, 10, 0.1}, {2, 0.5, 0.01},    {1, 0.5, -0.3},   {0.1, 0.05, -0.04}, {100, 1, 0.01},
        {5, 5, 0.02},  {1.001, 1, 0.999}, {3, 0.01, 0.005}, {2.5, 2.4, 1.1}};
    for (size_t k = 0; k < sizeof stretch / sizeof stretch[0]; k++) {
        const ct_mat3 S = ct_mat3_diagonal(stretch[k][0], stretch[k][1], stretch[k][2]);
        check_nearest(S);
        check_nearest(ct_mat3_multiply(ct_mat3_multiply(random_rotation(), S), random_rotation()));
    }
}

// ---- sums, threads, parameters

static void results_are_the_same_bits_for_every_thread_count(void** state) {
    body b = make_mixed_box((int[]){9, 8, 7});
    body_compile(&b);
    const size_t bytes = (size_t)b.nvert * 3 * sizeof(double);
    double *f[3], *Hf[3], *R[3], energy[3];
    for (int k = 0; k < 3; k++) {
        ct_threads* threads;
        assert_int_equal(ct_threads_create(&threads, k + 1), CT_OK);
        f[k] = node_array(&b), Hf[k] = node_array(&b), R[k] = calloc((size_t)b.nvert * 9, sizeof(double));
        ct_elastic_begin_step(b.elastic, b.work, threads, 100, 100, b.rest, 0, NULL);
        energy[k] = ct_elastic_gradient(b.elastic, b.work, threads, b.x, f[k]);
        ct_elastic_linearise(b.elastic, b.work, threads, b.x);
        ct_elastic_product(b.elastic, b.work, threads, f[k], Hf[k]);
        ct_elastic_rotations(b.elastic, b.work, threads, b.x, R[k]);
        ct_threads_free(threads);
    }
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(&energy[0], &energy[k], sizeof energy[0]);
        assert_memory_equal(f[0], f[k], bytes);
        assert_memory_equal(Hf[0], Hf[k], bytes);
        assert_memory_equal(R[0], R[k], 3 * bytes);
    }
    for (int k = 0; k < 3; k++) free(f[k]), free(Hf[k]), free(R[k]);
    body_free(&b);
}

static void forces_sum_to_zero(void** state) {
    body b = make_mixed_box((int[]){3, 2, 2});
    body_compile(&b);
    double* f = node_array(&b);
    ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
    ct_vec3 sum = {0}, moment = {0};
    double largest = 0;
    for (int v = 0; v < b.nvert; v++) {
        const ct_vec3 force = ct_vec3_load(f + 3 * v);
        sum = ct_vec3_add(sum, force);
        moment = ct_vec3_add(moment, ct_vec3_cross(ct_vec3_load(b.x + 3 * v), force));
        largest = fmax(largest, ct_vec3_norm(force));
    }
    assert_true(largest > 0.01);
    assert_true(ct_vec3_norm(sum) < 1e-12 && ct_vec3_norm(moment) < 1e-11);
    free(f);
    body_free(&b);
}

static void energy_alone_equals_the_gradient_pass_and_the_sum_of_densities(void** state) {
    body b = make_mixed_box((int[]){3, 2, 2});
    body_compile(&b);
    double *f = node_array(&b), *density = calloc((size_t)b.ntet, sizeof(double)), sum = 0;
    const double energy = ct_elastic_gradient(b.elastic, b.work, NULL, b.x, f);
    ct_elastic_fields(b.elastic, b.x, density, NULL, NULL);
    for (int e = 0; e < b.ntet; e++) sum += density[e] * ct_elastic_volume(b.elastic)[e];
    assert_true(fabs(ct_elastic_energy(b.elastic, b.x) - energy) < 1e-13 * energy);
    assert_true(fabs(sum - energy) < 1e-13 * energy);
    free(f), free(density);
    body_free(&b);
}

static void set_parameters_equals_a_fresh_body(void** state) {
    body a = make_mixed_box((int[]){3, 2, 2}), b = make_box((int[]){3, 2, 2}, 0);
    memcpy(b.x, a.x, (size_t)a.nvert * 3 * sizeof(double));
    memcpy(b.energy, a.energy, (size_t)a.ntet);
    body_compile(&a);
    body_compile(&b);
    ct_elastic_set_parameters(b.elastic, a.mu, NULL, NULL);
    ct_elastic_set_parameters(b.elastic, NULL, a.lambda, a.beta);
    double *f = node_array(&a), *g = node_array(&b);
    ct_elastic_begin_step(a.elastic, a.work, NULL, 100, 100, a.rest, 0, NULL);
    ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, b.rest, 0, NULL);
    const double first = ct_elastic_gradient(a.elastic, a.work, NULL, a.x, f);
    const double second = ct_elastic_gradient(b.elastic, b.work, NULL, b.x, g);
    assert_memory_equal(&first, &second, sizeof first);
    assert_memory_equal(f, g, (size_t)a.nvert * 3 * sizeof(double));
    free(f), free(g);
    body_free(&a);
    body_free(&b);
}

// ---- second order

// Small displacements u = s (y z, x z, x^2) of a tet with the unit axes as edges: the strains are linear, and
// with E_xx = E_yy = E_zz = 0, 2 E_xy = 2 z, 2 E_xz = y + 2 x, 2 E_yz = x the energy is s^2 mu/2 times the
// integral of 4 z^2 + (y + 2 x)^2 + x^2; those of x^2 and x y over the tet are 1/60 and 1/120.
static void quadratic_displacements_have_known_energy(void** state) {
    static const int edge[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        body b = make_single(energy, ct_mat3_identity());
        body_raise(&b);
        for (int k = 0; k < 6; k++)
            for (int i = 0; i < 3; i++)
                b.rest[3 * b.mid[k] + i] = 0.5 * (b.rest[3 * edge[k][0] + i] + b.rest[3 * edge[k][1] + i]);
        const double s = 1e-5;
        for (int v = 0; v < 10; v++) {
            const double *r = b.rest + 3 * v, u[3] = {r[1] * r[2], r[0] * r[2], r[0] * r[0]};
            for (int i = 0; i < 3; i++) b.x[3 * v + i] = r[i] + s * u[i];
        }
        body_compile(&b);
        const double known = 0.5 * mu_value * s * s * ((4 + 1 + 4 + 1) / 60.0 + 4 / 120.0);
        const double found = ct_elastic_energy(b.elastic, b.x);
        if (!(fabs(found - known) < 1e-4 * known)) fail_msg("%g, known %g", found, known);
        body_free(&b);
    }
}

// ---- assembled matrices

static void check_assembled(const double* at, bool damped) {
    body b = make_mixed_box((int[]){2, 2, 2});
    body_compile(&b);
    if (damped) ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, at ? b.x : b.rest, 0, NULL);
    const double* x = at ? b.x : b.rest;
    // every third node is no unknown
    const int size = b.mid ? 10 : 4;
    int *unknown = calloc((size_t)b.nvert, sizeof(int)),
        *element = calloc((size_t)(b.ntet * size), sizeof(int)), count = 0;
    for (int v = 0; v < b.nvert; v++) unknown[v] = v % 3 == 1 ? -1 : count++;
    for (int i = 0; i < size * b.ntet; i++) {
        const int e = i / size, k = i % size;
        element[i] = unknown[k < 4 ? b.tet[4 * e + k] : b.mid[6 * e + k - 4]];
    }
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, count, b.ntet, size, element), CT_OK);
    ct_elastic_assemble(b.elastic, b.work, at ? b.x : NULL, false, unknown, &A);
    double *d = node_array(&b), *Hd = node_array(&b), *y = node_array(&b), *Ay = node_array(&b);
    for (int v = 0; v < b.nvert; v++)
        for (int i = 0; i < 3 && unknown[v] >= 0; i++) d[3 * v + i] = y[3 * unknown[v] + i] = random_unit();
    ct_elastic_linearise(b.elastic, b.work, NULL, x);
    ct_elastic_product(b.elastic, b.work, NULL, d, Hd);
    ct_block_matrix_multiply(&A, y, Ay);
    for (int v = 0; v < b.nvert; v++)
        for (int i = 0; i < 3 && unknown[v] >= 0; i++)
            assert_true(fabs(Hd[3 * v + i] - Ay[3 * unknown[v] + i]) < 1e-12);
    free(d), free(Hd), free(y), free(Ay), free(unknown), free(element);
    ct_arena_free(&arena);
    body_free(&b);
}

static void assembled_hessian_equals_the_product(void** state) {
    static const double deformed = 0;
    check_assembled(NULL, false);
    check_assembled(NULL, true);
    check_assembled(&deformed, false);
    check_assembled(&deformed, true);
}

// Dense 12 x 12 Hessian of one tet, assembled.
static void single_hessian(body* b, bool project, double H[12][12]) {
    const int unknown[4] = {0, 1, 2, 3};
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 4, 1, 4, b->tet), CT_OK);
    ct_elastic_assemble(b->elastic, b->work, b->x, project, unknown, &A);
    for (int j = 0; j < 12; j++) {
        double unit[13] = {0}, column[13];
        unit[j] = 1;
        ct_block_matrix_multiply(&A, unit, column);
        for (int i = 0; i < 12; i++) H[i][j] = column[i];
    }
    ct_arena_free(&arena);
}

// Smallest eigenvalue by power iteration on (shift I - H).
static double smallest_eigenvalue(double H[12][12]) {
    double shift = 0, v[12], value = 0;
    for (int i = 0; i < 12; i++) {
        double row = 0;
        for (int j = 0; j < 12; j++) row += fabs(H[i][j]);
        shift = fmax(shift, row);
        v[i] = random_unit();
    }
    for (int iteration = 0; iteration < 3000; iteration++) {
        double w[12], norm = 0;
        for (int i = 0; i < 12; i++) {
            w[i] = shift * v[i];
            for (int j = 0; j < 12; j++) w[i] -= H[i][j] * v[j];
            norm += w[i] * w[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < 12; i++) v[i] = w[i] / norm;
        value = shift - norm;
    }
    return value;
}

static void projected_hessian_is_semidefinite_and_exact_where_it_already_was(void** state) {
    static const double stretch[][3] = {{1.4, 0.7, 0.5}, {1.2, 0.8, -0.6}, {0.5, 0.4, 0.3}, {1.3, 1.2, 1.15}};
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++)
        for (int k = 0; k < 8; k++) {
            const double* s = stretch[k % 4];
            body b = make_single(
                energy,
                ct_mat3_multiply(ct_mat3_multiply(random_rotation(), ct_mat3_diagonal(s[0], s[1], s[2])),
                                 random_rotation()));
            b.beta[0] = k < 4 ? 0 : 0.05;
            body_compile(&b);
            ct_elastic_begin_step(b.elastic, b.work, NULL, 100, 100, b.rest, 0, NULL);
            double exact[12][12], projected[12][12], difference = 0, scale = 0;
            single_hessian(&b, false, exact);
            single_hessian(&b, true, projected);
            for (int i = 0; i < 144; i++) {
                difference = fmax(difference, fabs(exact[i / 12][i % 12] - projected[i / 12][i % 12]));
                scale = fmax(scale, fabs(exact[i / 12][i % 12]));
            }
            assert_true(smallest_eigenvalue(projected) > -1e-12 * scale);
            // elastic and viscous parts are projected each on its own, so that only the undamped one stays
            // exact
            if (smallest_eigenvalue(exact) < -1e-9 * scale) assert_true(difference > 1e-9 * scale);
            else if (k < 4) assert_true(difference < 1e-12 * scale);
            body_free(&b);
        }
}

static void laplacian_is_the_weighted_gram_matrix_of_gradients(void** state) {
    body b = make_single(CT_ENERGY_PROJECTIVE, ct_mat3_identity());
    body_compile(&b);
    const int unknown[4] = {0, 1, 2, 3};
    ct_arena arena = {0};
    ct_block_matrix A;
    assert_int_equal(ct_block_matrix_create(&A, &arena, 4, 1, 4, b.tet), CT_OK);
    ct_elastic_assemble_laplacian(b.elastic, unknown, &A);
    const double w = (2 * mu_value + 3 * lambda_value) / 6;
    static const double gram[4][4] = {{3, -1, -1, -1}, {-1, 1, 0, 0}, {-1, 0, 1, 0}, {-1, 0, 0, 1}};
    for (int j = 0; j < 12; j++) {
        double unit[13] = {0}, column[13];
        unit[j] = 1;
        ct_block_matrix_multiply(&A, unit, column);
        for (int i = 0; i < 12; i++)
            assert_true(fabs(column[i] - (i % 3 == j % 3) * w * gram[i / 3][j / 3]) < 1e-14);
    }
    ct_arena_free(&arena);
    body_free(&b);
}

// ---- rotations and fields

static void node_rotations_follow_a_rotated_stretched_body(void** state) {
    body b = make_mixed_box((int[]){3, 2, 2});
    body_compile(&b);
    const ct_mat3 Q = random_rotation(), F = ct_mat3_multiply(Q, ct_mat3_diagonal(1.3, 0.9, 0.7));
    for (int v = 0; v < b.nvert; v++)
        ct_vec3_store(b.x + 3 * v, ct_mat3_apply(F, ct_vec3_load(b.rest + 3 * v)));
    double* R = calloc((size_t)b.nvert * 9, sizeof(double));
    ct_elastic_rotations(b.elastic, b.work, NULL, b.x, R);
    for (int v = 0; v < b.nvert; v++)
        for (int i = 0; i < 9; i++) assert_true(fabs(R[9 * v + i] - Q.a[i / 3][i % 3]) < 1e-13);
    free(R);
    body_free(&b);
}

static void fields_of_a_stretched_tet_are_known(void** state) {
    const double a = 1.4;
    body b = make_single(CT_ENERGY_COROTATED, ct_mat3_multiply(random_rotation(), ct_mat3_diagonal(a, 1, 1)));
    body_compile(&b);
    double density, von_mises, ratio;
    ct_elastic_fields(b.elastic, b.x, &density, &von_mises, &ratio);
    const double along = (2 * mu_value + lambda_value) * (a - 1), across = lambda_value * (a - 1) / a;
    assert_true(fabs(density - (mu_value + lambda_value / 2) * (a - 1) * (a - 1)) < 1e-14);
    assert_true(fabs(von_mises - (along - across)) < 1e-13);
    assert_true(fabs(ratio - a) < 1e-14);
    assert_true(fabs(ct_elastic_volume(b.elastic)[0] - 1.0 / 6) < 1e-16);
    body_free(&b);
}

static void create_rejects_tets_that_cannot_be_compiled(void** state) {
    body b = make_single(CT_ENERGY_STVK, ct_mat3_identity());
    const ct_elastic_def def = {4, 1, b.rest, b.tet, NULL, b.energy, b.mu, b.lambda, NULL};
    b.tet[1] = 2, b.tet[2] = 1;
    assert_int_equal(ct_elastic_create(&b.elastic, &def), CT_BAD_MESH);
    assert_null(b.elastic);
    b.tet[1] = 4;
    assert_int_equal(ct_elastic_create(&b.elastic, &def), CT_BAD_MESH);
    b.tet[1] = 1, b.tet[2] = 2;
    b.energy[0] = CT_ENERGY_COUNT;
    assert_int_equal(ct_elastic_create(&b.elastic, &def), CT_BAD_ARGUMENT);
    body_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences_at_rest),
        cmocka_unit_test(derivatives_match_differences_at_moderate_strain),
        cmocka_unit_test(derivatives_match_differences_at_large_strain),
        cmocka_unit_test(derivatives_match_differences_when_inverted),
        cmocka_unit_test(derivatives_match_differences_when_collapsed),
        cmocka_unit_test(derivatives_match_differences_when_blown_up),
        cmocka_unit_test(derivatives_match_differences_with_damping),
        cmocka_unit_test(product_is_symmetric),
        cmocka_unit_test(rest_product_is_hooke_for_every_energy),
        cmocka_unit_test(uniform_scaling_has_known_energy),
        cmocka_unit_test(simple_shear_has_known_energy),
        cmocka_unit_test(energy_ignores_rotation_and_gradient_follows_it),
        cmocka_unit_test(damping_vanishes_in_rigid_motion_and_is_beta_stiffness_at_rest),
        cmocka_unit_test(nearest_volume_preserving_matrix_is_nearest),
        cmocka_unit_test(results_are_the_same_bits_for_every_thread_count),
        cmocka_unit_test(forces_sum_to_zero),
        cmocka_unit_test(energy_alone_equals_the_gradient_pass_and_the_sum_of_densities),
        cmocka_unit_test(set_parameters_equals_a_fresh_body),
        cmocka_unit_test(assembled_hessian_equals_the_product),
        cmocka_unit_test(projected_hessian_is_semidefinite_and_exact_where_it_already_was),
        cmocka_unit_test(laplacian_is_the_weighted_gram_matrix_of_gradients),
        cmocka_unit_test(node_rotations_follow_a_rotated_stretched_body),
        cmocka_unit_test(fields_of_a_stretched_tet_are_known),
        cmocka_unit_test(create_rejects_tets_that_cannot_be_compiled),
    };
    const struct CMUnitTest again[] = {
        cmocka_unit_test(derivatives_match_differences_at_rest),
        cmocka_unit_test(derivatives_match_differences_at_moderate_strain),
        cmocka_unit_test(derivatives_match_differences_when_inverted),
        cmocka_unit_test(derivatives_match_differences_with_damping),
        cmocka_unit_test(product_is_symmetric),
        cmocka_unit_test(energy_ignores_rotation_and_gradient_follows_it),
        cmocka_unit_test(damping_vanishes_in_rigid_motion_and_is_beta_stiffness_at_rest),
        cmocka_unit_test(results_are_the_same_bits_for_every_thread_count),
        cmocka_unit_test(forces_sum_to_zero),
        cmocka_unit_test(energy_alone_equals_the_gradient_pass_and_the_sum_of_densities),
        cmocka_unit_test(assembled_hessian_equals_the_product),
        cmocka_unit_test(node_rotations_follow_a_rotated_stretched_body),
        cmocka_unit_test(quadratic_displacements_have_known_energy),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    raised = true;
    return failed + cmocka_run_group_tests_name("second order", again, NULL, NULL);
}
