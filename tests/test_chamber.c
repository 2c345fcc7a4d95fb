// Pneumatic cells: the nearest matrix of a determinant, derivatives by slope, invariance, known answers.
#include "actuator_checks.h"
#include "force/chamber.h"
#include "math/vecn.h"

enum { CELL_GROUPS = 3, NCHAMBER = 2 };

typedef struct cells {
    body body;
    ct_chamber* chamber;
    ct_chamber_work* work;
    double activation[CELL_GROUPS], stiffness[NCHAMBER];
    int *group, *owner;
    actuator actuator;
} cells;

static double gradient(void* user, const double* x, double* f) {
    const cells* c = user;
    return ct_chamber_gradient(c->chamber, c->work, c->activation, x, f);
}

static void product(void* user, const double* x, const double* dx, double* out) {
    cells* c = user;
    ct_chamber_linearise(c->chamber, c->work, c->activation, x);
    ct_chamber_product(c->chamber, c->work, dx, out);
}

static void cells_start(cells* c, body b) {
    *c = (cells){.body = b, .activation = {1.4, 0.6, 2.2}, .stiffness = {2.5, 0.8}};
    c->group = calloc((size_t)b.ntet, sizeof(int)), c->owner = calloc((size_t)b.ntet, sizeof(int));
    for (int e = 0; e < b.ntet; e++) c->group[e] = e % CELL_GROUPS, c->owner[e] = e % CELL_GROUPS == 2;
    const ct_actuated_def def = {.ntet = b.ntet,
                                 .nnumber = CELL_GROUPS,
                                 .nowner = NCHAMBER,
                                 .rest = b.rest,
                                 .tet = b.tet,
                                 .number = c->group,
                                 .owner = c->owner,
                                 .stiffness = c->stiffness};
    assert_int_equal(ct_chamber_create(&c->chamber, &def), CT_OK);
    assert_int_equal(ct_chamber_work_create(&c->work, c->chamber), CT_OK);
    c->actuator = (actuator){b.nvert, c->body.x, gradient, product, c};
}

static void cells_stop(cells* c) {
    ct_chamber_free(c->chamber);
    ct_chamber_work_free(c->work);
    free(c->group), free(c->owner);
    body_free(&c->body);
}

// The deformation of a tet with Dm = I, and its forces as a stress times its volume 1/6.
static ct_mat3 single_force(const cells* c) {
    double f[13] = {0};
    ct_chamber_gradient(c->chamber, c->work, c->activation, c->body.x, f);
    return ct_mat3_columns(ct_vec3_load(f + 3), ct_vec3_load(f + 6), ct_vec3_load(f + 9));
}
static ct_mat3 single_deformation(const cells* c) {
    const double* x = c->body.x;
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(x + 3 * (k + 1)), ct_vec3_load(x));
    return ct_mat3_columns(edge[0], edge[1], edge[2]);
}

static const double stretches[][3] = {{1.2, 1.05, 0.85}, {0.7, 0.5, 0.4},  {1.5, 1.2, 0.1},
                                      {2.1, 0.6, 0.5},   {1.3, 0.9, -0.5}, {4, 1.2, 0.6}};
enum { NSTRETCH = sizeof stretches / sizeof stretches[0] };

static void derivatives_match_differences(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        cells c;
        cells_start(&c, make_cloud(0, stretches[k], 0.05));
        check_actuator_derivatives(&c.actuator, 2e-4);
        cells_stop(&c);
    }
}

// At F = I the singular values coincide; with a = 1 the energy is also at its least.
static void derivatives_match_differences_at_rest(void** state) {
    cells c;
    cells_start(&c, make_cloud(0, (double[]){1, 1, 1}, 0));
    check_actuator_derivatives(&c.actuator, 2e-4);
    cells_stop(&c);
}

static void energy_does_not_see_the_frame(void** state) {
    cells c;
    cells_start(&c, make_mixed_box((int[]){2, 2, 1}));
    check_actuator_frame(&c.actuator);
    check_actuator_balance(&c.actuator);
    cells_stop(&c);
}

// F - R is a multiple of the cofactors of R and det R = a: R is a stationary point; no random matrix with det
// = a is nearer.
static void projection_is_the_nearest_matrix_of_its_determinant(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        const ct_mat3 S = ct_mat3_diagonal(stretches[k][0], stretches[k][1], stretches[k][2]);
        const ct_mat3 F = ct_mat3_multiply(ct_mat3_multiply(random_rotation(), S), random_rotation());
        cells c;
        cells_start(&c, make_single(0, F));
        const double a = c.activation[0];
        const ct_mat3 R = ct_mat3_axpy(F, -6 / c.stiffness[0], single_force(&c)), C = ct_mat3_cofactor(R),
                      away = ct_mat3_axpy(F, -1, R);
        assert_true(fabs(ct_mat3_determinant(R) - a) < 1e-12);
        const ct_mat3 rest = ct_mat3_axpy(away, -ct_mat3_dot(away, C) / ct_mat3_dot(C, C), C);
        assert_true(sqrt(ct_mat3_dot(rest, rest)) < 1e-12 * sqrt(ct_mat3_dot(F, F)));
        for (int trial = 0; trial < 2000; trial++) {
            ct_mat3 other = R;
            for (int i = 0; i < 9; i++) other.a[i / 3][i % 3] += (trial % 2 ? 1 : 0.1) * random_unit();
            const double J = ct_mat3_determinant(other);
            if (J < 0.1) continue;
            other = ct_mat3_axpy(ct_mat3_scale(cbrt(a / J), other), -1, F);
            assert_true(ct_mat3_dot(other, other) >= ct_mat3_dot(away, away) - 1e-12);
        }
        cells_stop(&c);
    }
}

// Uniform stretch s and volume a: |F - R|^2 = 3 (s - a^(1/3))^2.
static void uniform_stretch_has_known_energy(void** state) {
    for (double s = 0.6; s < 1.6; s += 0.2) {
        cells c;
        cells_start(&c, make_single(0, ct_mat3_multiply(random_rotation(), ct_mat3_diagonal(s, s, s))));
        const double known = c.stiffness[0] / 12 * 3 * pow(s - cbrt(c.activation[0]), 2);
        assert_true(fabs(gradient(&c, c.body.x, NULL) - known) < 1e-14);
        cells_stop(&c);
    }
}

// Steepest descent on a free cell ends where its volume ratio is a, at one of the shapes nearest to the
// start.
static void free_cell_reaches_its_volume(void** state) {
    for (int g = 0; g < CELL_GROUPS; g++) {
        cells c;
        cells_start(&c, make_single(0, ct_mat3_diagonal(1.2, 0.9, 1)));
        c.activation[0] = c.activation[g];
        for (int iteration = 0; iteration < 200; iteration++) {
            double f[13] = {0};
            gradient(&c, c.body.x, f);
            for (int i = 0; i < 12; i++) c.body.x[i] -= f[i] * 6 / c.stiffness[0] / 2;
        }
        assert_true(fabs(ct_mat3_determinant(single_deformation(&c)) - c.activation[0]) < 1e-12);
        assert_true(gradient(&c, c.body.x, NULL) < 1e-24);
        cells_stop(&c);
    }
}

static void rest_with_activation_one_has_no_force(void** state) {
    cells c;
    cells_start(&c, make_single(0, random_rotation()));
    c.activation[0] = 1;
    const ct_mat3 force = single_force(&c);
    assert_true(sqrt(ct_mat3_dot(force, force)) < 1e-14);
    cells_stop(&c);
}

static void assembled_matrix_is_the_product(void** state) {
    cells c;
    cells_start(&c, make_mixed_box((int[]){2, 2, 1}));
    ct_arena arena = {0};
    int* unknown = all_unknown(&c.body);
    ct_block_matrix matrix = tet_matrix(&c.body, &arena);
    ct_chamber_assemble(c.chamber, c.activation, c.body.x, false, unknown, &matrix);
    check_assembled(&c.actuator, c.body.x, &matrix);
    ct_block_matrix_clear(&matrix);
    for (int g = 0; g < CELL_GROUPS; g++) c.activation[g] = 1;
    ct_chamber_assemble(c.chamber, NULL, NULL, false, unknown, &matrix);
    check_assembled(&c.actuator, c.body.rest, &matrix);
    free(unknown);
    ct_arena_free(&arena);
    cells_stop(&c);
}

static void projected_matrix_is_semidefinite(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        cells c;
        cells_start(&c, make_cloud(0, stretches[k], 0.1));
        ct_arena arena = {0};
        int* unknown = all_unknown(&c.body);
        ct_block_matrix matrix = tet_matrix(&c.body, &arena);
        ct_chamber_assemble(c.chamber, c.activation, c.body.x, true, unknown, &matrix);
        check_semidefinite(&c.body, &matrix);
        free(unknown);
        ct_arena_free(&arena);
        cells_stop(&c);
    }
}

typedef struct value_line {
    cells* c;
    double* value;
    double at;
    const double* lam;
    double* f;
} value_line;

static double line_value(void* user, double t) {
    value_line* l = user;
    const int n = 3 * l->c->body.nvert;
    *l->value = l->at + t;
    ct_chamber_set_stiffness(l->c->chamber, l->c->stiffness);
    memset(l->f, 0, (size_t)n * sizeof(double));
    gradient(l->c, l->c->body.x, l->f);
    *l->value = l->at;
    ct_chamber_set_stiffness(l->c->chamber, l->c->stiffness);
    return ct_vecn_dot(l->f, l->lam, (size_t)n);
}

static void activation_and_stiffness_derivatives_match_differences(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        cells c;
        cells_start(&c, make_cloud(0, stretches[k], 0.05));
        const int n = 3 * c.body.nvert;
        double *lam = numbers(n), *f = numbers(n), activation_bar[CELL_GROUPS] = {0},
               stiffness_bar[NCHAMBER] = {0};
        for (int i = 0; i < n; i++) lam[i] = random_unit();
        ct_chamber_vjp(c.chamber, c.work, c.activation, c.body.x, lam, activation_bar, stiffness_bar);
        for (int i = 0; i < CELL_GROUPS + NCHAMBER; i++) {
            double* value = i < CELL_GROUPS ? &c.activation[i] : &c.stiffness[i - CELL_GROUPS];
            value_line line = {&c, value, *value, lam, f};
            assert_slope(line_value, &line,
                         i < CELL_GROUPS ? activation_bar[i] : stiffness_bar[i - CELL_GROUPS], 4e-3, 1);
        }
        free(lam), free(f);
        cells_stop(&c);
    }
}

// What the work keeps of an earlier place, activation or stiffness does not reach a later one.
static void results_depend_on_their_place_alone(void** state) {
    cells c;
    cells_start(&c, make_mixed_box((int[]){3, 2, 1}));
    const int n = 3 * c.body.nvert;
    double *dx = numbers(n), *f = numbers(n), *h = numbers(n), *first_f = numbers(n), *first_h = numbers(n);
    for (int i = 0; i < n; i++) dx[i] = random_unit();
    product(&c, c.body.x, dx, first_h);
    const double energy = gradient(&c, c.body.x, first_f);
    double away[CELL_GROUPS + NCHAMBER] = {0};
    gradient(&c, c.body.rest, f);
    c.activation[1] += 0.25;
    product(&c, c.body.x, dx, h);
    c.activation[1] -= 0.25;
    ct_chamber_vjp(c.chamber, c.work, c.activation, c.body.rest, dx, away, away + CELL_GROUPS);
    memset(f, 0, (size_t)n * sizeof(double)), memset(h, 0, (size_t)n * sizeof(double));
    assert_true(gradient(&c, c.body.x, f) == energy);
    product(&c, c.body.x, dx, h);
    assert_memory_equal(f, first_f, (size_t)n * sizeof(double));
    assert_memory_equal(h, first_h, (size_t)n * sizeof(double));
    // stiffness alone: twice the forces
    for (int k = 0; k < NCHAMBER; k++) c.stiffness[k] *= 2;
    ct_chamber_set_stiffness(c.chamber, c.stiffness);
    memset(f, 0, (size_t)n * sizeof(double)), memset(h, 0, (size_t)n * sizeof(double));
    gradient(&c, c.body.x, f);
    product(&c, c.body.x, dx, h);
    for (int i = 0; i < n; i++)
        assert_true(f[i] == 2 * first_f[i] && fabs(h[i] - 2 * first_h[i]) <= 1e-14 * fabs(h[i]));
    free(dx), free(f), free(h), free(first_f), free(first_h);
    cells_stop(&c);
}

// Also far above its volume, where two shapes are stationary.
static void every_instruction_set_finds_the_same_matrix(void** state) {
    const char* const names[] = {"portable", "avx2", "avx512"};
    for (int k = 0; k < NSTRETCH + 1; k++) {
        const double* stretch = k < NSTRETCH ? stretches[k] : (double[]){2.2, 2.1, 1.9};
        const ct_mat3 S = ct_mat3_diagonal(stretch[0], stretch[1], stretch[2]);
        const ct_mat3 F = ct_mat3_multiply(ct_mat3_multiply(random_rotation(), S), random_rotation());
        ct_mat3 first;
        for (int isa = 0; isa < 3; isa++) {
            setenv("CUTTLE_ISA", names[isa], 1);  // one that this machine lacks gives its best
            cells c;
            cells_start(&c, make_single(0, F));
            const ct_mat3 force = single_force(&c), away = ct_mat3_axpy(force, -1, isa ? first : force);
            if (!isa) first = force;
            assert_true(sqrt(ct_mat3_dot(away, away)) < 1e-13);
            cells_stop(&c);
        }
    }
    unsetenv("CUTTLE_ISA");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(derivatives_match_differences_at_rest),
        cmocka_unit_test(energy_does_not_see_the_frame),
        cmocka_unit_test(projection_is_the_nearest_matrix_of_its_determinant),
        cmocka_unit_test(uniform_stretch_has_known_energy),
        cmocka_unit_test(free_cell_reaches_its_volume),
        cmocka_unit_test(rest_with_activation_one_has_no_force),
        cmocka_unit_test(assembled_matrix_is_the_product),
        cmocka_unit_test(projected_matrix_is_semidefinite),
        cmocka_unit_test(activation_and_stiffness_derivatives_match_differences),
        cmocka_unit_test(results_depend_on_their_place_alone),
        cmocka_unit_test(every_instruction_set_finds_the_same_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
