// Fibres of muscles: derivatives by slope, invariance, known forces.
#include "actuator_checks.h"
#include "force/muscle.h"
#include "math/vecn.h"

enum { NSEGMENT = 3, NMUSCLE = 2 };

typedef struct muscles {
    body body;
    ct_muscle* muscle;
    ct_muscle_work* work;
    double *direction, *weight, activation[NSEGMENT], stiffness[NMUSCLE];
    int *segment, *owner;
    actuator actuator;
} muscles;

static double gradient(void* user, const double* x, double* f) {
    const muscles* m = user;
    return ct_muscle_gradient(m->muscle, m->work, m->activation, x, f);
}

static void product(void* user, const double* x, const double* dx, double* out) {
    muscles* m = user;
    ct_muscle_linearise(m->muscle, m->work, m->activation, x);
    ct_muscle_product(m->muscle, m->work, dx, out);
}

static void muscles_start(muscles* m, body b) {
    *m = (muscles){.body = b, .activation = {0.3, 0, 0.7}, .stiffness = {2.5, 0.8}};
    m->direction = numbers(3 * b.ntet), m->weight = numbers(b.ntet);
    m->segment = calloc((size_t)b.ntet, sizeof(int)), m->owner = calloc((size_t)b.ntet, sizeof(int));
    for (int e = 0; e < b.ntet; e++) {
        ct_vec3_store(m->direction + 3 * e, ct_mat3_column(random_rotation(), 0));
        m->weight[e] = 0.2 + 0.1 * (e % 8);
        m->segment[e] = e % NSEGMENT, m->owner[e] = e % NSEGMENT == 2;
    }
}

static void muscles_compile(muscles* m) {
    const ct_muscle_fibres def = {.tets = {.ntet = m->body.ntet,
                                           .nnumber = NSEGMENT,
                                           .nowner = NMUSCLE,
                                           .rest = m->body.rest,
                                           .tet = m->body.tet,
                                           .number = m->segment,
                                           .owner = m->owner,
                                           .stiffness = m->stiffness},
                                  .direction = m->direction,
                                  .weight = m->weight};
    assert_int_equal(ct_muscle_create(&m->muscle, &def), CT_OK);
    assert_int_equal(ct_muscle_work_create(&m->work, m->muscle), CT_OK);
    m->actuator = (actuator){m->body.nvert, m->body.x, gradient, product, m};
}

static void muscles_stop(muscles* m) {
    ct_muscle_free(m->muscle);
    ct_muscle_work_free(m->work);
    free(m->direction), free(m->weight), free(m->segment), free(m->owner);
    body_free(&m->body);
}

static const double stretches[][3] = {
    {1, 1, 1}, {1.3, 0.9, 0.8}, {0.5, 0.4, 0.45}, {2.5, 1.5, 0.3}, {1.3, 0.9, -0.5}};
enum { NSTRETCH = sizeof stretches / sizeof stretches[0] };

static void derivatives_match_differences(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        muscles m;
        muscles_start(&m, make_cloud(0, stretches[k], 0.05));
        muscles_compile(&m);
        check_actuator_derivatives(&m.actuator, 1e-3);
        muscles_stop(&m);
    }
}

static void energy_does_not_see_the_frame(void** state) {
    muscles m;
    muscles_start(&m, make_mixed_box((int[]){2, 2, 1}));
    muscles_compile(&m);
    check_actuator_frame(&m.actuator);
    check_actuator_balance(&m.actuator);
    muscles_stop(&m);
}

static void rest_without_activation_has_no_force(void** state) {
    muscles m;
    muscles_start(&m, make_box((int[]){2, 2, 2}, 0));
    muscles_compile(&m);
    memset(m.activation, 0, sizeof m.activation);
    double* f = numbers(3 * m.body.nvert);
    const ct_mat3 Q = random_rotation();
    for (int v = 0; v < m.body.nvert; v++)
        ct_vec3_store(m.body.x + 3 * v, ct_mat3_apply(Q, ct_vec3_load(m.body.rest + 3 * v)));
    assert_true(gradient(&m, m.body.x, f) < 1e-28);
    for (int i = 0; i < 3 * m.body.nvert; i++) assert_true(fabs(f[i]) < 1e-14);
    free(f);
    muscles_stop(&m);
}

// One tet with Dm = I and its fibre along x: node 1 is pulled by k V w (l - (1 - a)) along the fibre, node 0
// takes the opposite.
static void force_of_one_fibre_is_its_tension(void** state) {
    muscles m;
    muscles_start(&m, make_single(0, ct_mat3_diagonal(1.4, 0.7, 0.9)));
    memcpy(m.direction, (double[]){1, 0, 0}, 3 * sizeof(double));
    muscles_compile(&m);
    double f[13] = {0};
    const double tension = m.stiffness[0] / 6 * m.weight[0] * (1.4 - (1 - m.activation[0]));
    const double energy = gradient(&m, m.body.x, f);
    assert_true(fabs(energy - 0.5 * tension * (1.4 - 0.7)) < 1e-15);
    for (int i = 0; i < 12; i++) assert_true(fabs(f[i] - (i == 3 ? tension : i == 0 ? -tension : 0)) < 1e-15);
    muscles_stop(&m);
}

// A bar of active fibres along x beside passive ones, of stiffness k1 and k2: their tensions cancel at the
// length (k1 (1 - a) + k2) / (k1 + k2).
static void active_and_passive_fibres_balance_at_the_mean_length(void** state) {
    muscles m;
    muscles_start(&m, make_box((int[]){3, 1, 1}, 0));
    const int ntet = m.body.ntet;
    for (int e = 0; e < ntet; e++)
        memcpy(m.direction + 3 * e, (double[]){1, 0, 0}, 3 * sizeof(double)), m.weight[e] = 1;
    const double expected = (m.stiffness[0] * (1 - 0.3) + m.stiffness[1]) / (m.stiffness[0] + m.stiffness[1]);
    for (int v = 0; v < m.body.nvert; v++) m.body.x[3 * v] = expected * m.body.rest[3 * v];
    double* f = numbers(3 * m.body.nvert);
    for (int k = 0; k < NMUSCLE; k++) {
        for (int e = 0; e < ntet; e++) m.segment[e] = k, m.owner[e] = k;
        muscles_compile(&m);
        gradient(&m, m.body.x, f);
        ct_muscle_free(m.muscle), ct_muscle_work_free(m.work);
        m.muscle = NULL, m.work = NULL;
        // the tension passes through the free end: its nodes feel k A (l - (1 - a)) in all
        double end = 0;
        for (int v = 0; v < m.body.nvert; v++) end += m.body.rest[3 * v] > 2.5 ? f[3 * v] : 0;
        const double alone = k ? 0 : m.stiffness[0] * (expected - 0.7);
        assert_true(fabs(end - alone) < 1e-14);
    }
    for (int i = 0; i < 3 * m.body.nvert; i++) assert_true(fabs(f[i]) < 1e-14);
    free(f);
    muscles_stop(&m);
}

static void assembled_matrix_is_the_product(void** state) {
    muscles m;
    muscles_start(&m, make_mixed_box((int[]){2, 2, 1}));
    muscles_compile(&m);
    ct_arena arena = {0};
    int* unknown = all_unknown(&m.body);
    ct_block_matrix matrix = tet_matrix(&m.body, &arena);
    ct_muscle_assemble(m.muscle, m.activation, m.body.x, false, unknown, &matrix);
    check_assembled(&m.actuator, m.body.x, &matrix);
    ct_block_matrix_clear(&matrix);
    memset(m.activation, 0, sizeof m.activation);
    ct_muscle_assemble(m.muscle, NULL, NULL, true, unknown, &matrix);
    check_assembled(&m.actuator, m.body.rest, &matrix);
    free(unknown);
    ct_arena_free(&arena);
    muscles_stop(&m);
}

static void projected_matrix_is_semidefinite(void** state) {
    muscles m;
    muscles_start(&m, make_cloud(0, (double[]){0.4, 0.5, 0.3}, 0.1));
    muscles_compile(&m);
    ct_arena arena = {0};
    int* unknown = all_unknown(&m.body);
    ct_block_matrix matrix = tet_matrix(&m.body, &arena);
    ct_muscle_assemble(m.muscle, m.activation, m.body.x, true, unknown, &matrix);
    check_semidefinite(&m.body, &matrix);
    free(unknown);
    ct_arena_free(&arena);
    muscles_stop(&m);
}

typedef struct value_line {
    muscles* m;
    double* value;
    double at;
    const double* lam;
    double* f;
} value_line;

static double line_value(void* user, double t) {
    value_line* l = user;
    const int n = 3 * l->m->body.nvert;
    *l->value = l->at + t;
    ct_muscle_set_stiffness(l->m->muscle, l->m->stiffness);
    memset(l->f, 0, (size_t)n * sizeof(double));
    gradient(l->m, l->m->body.x, l->f);
    *l->value = l->at;
    ct_muscle_set_stiffness(l->m->muscle, l->m->stiffness);
    return ct_vecn_dot(l->f, l->lam, (size_t)n);
}

static void activation_and_stiffness_derivatives_match_differences(void** state) {
    for (int k = 0; k < NSTRETCH; k++) {
        muscles m;
        muscles_start(&m, make_cloud(0, stretches[k], 0.05));
        muscles_compile(&m);
        const int n = 3 * m.body.nvert;
        double *lam = numbers(n), *f = numbers(n), activation_bar[NSEGMENT] = {0},
               stiffness_bar[NMUSCLE] = {0};
        for (int i = 0; i < n; i++) lam[i] = random_unit();
        ct_muscle_vjp(m.muscle, m.work, m.activation, m.body.x, lam, activation_bar, stiffness_bar);
        for (int i = 0; i < NSEGMENT + NMUSCLE; i++) {
            double* value = i < NSEGMENT ? &m.activation[i] : &m.stiffness[i - NSEGMENT];
            value_line line = {&m, value, *value, lam, f};
            const double size = fabs(line_value(&line, 0)) + fabs(line_value(&line, 0.1));
            assert_slope(line_value, &line, i < NSEGMENT ? activation_bar[i] : stiffness_bar[i - NSEGMENT],
                         1e-2, fmax(size, 1));
        }
        free(lam), free(f);
        muscles_stop(&m);
    }
}

// Bodies whose fibres fill their last block by one to eight lanes, on every instruction set: the energy is
// the sum over fibres.
static void energy_is_the_sum_over_fibres(void** state) {
    const char* const names[] = {"portable", "avx2", "avx512"};
    for (int isa = 0; isa < 3; isa++)
        for (int drop = 0; drop < 8; drop++) {
            setenv("CUTTLE_ISA", names[isa], 1);  // one that this machine lacks gives its best
            muscles m;
            muscles_start(&m, make_mixed_box((int[]){2, 2, 1}));
            m.body.ntet -= drop;
            muscles_compile(&m);
            double sum = 0;
            for (int e = 0; e < m.body.ntet; e++) {
                ct_vec3 now[3], rest[3];
                for (int k = 0; k < 3; k++) {
                    const int a = m.body.tet[4 * e], b = m.body.tet[4 * e + k + 1];
                    now[k] = ct_vec3_sub(ct_vec3_load(m.body.x + 3 * b), ct_vec3_load(m.body.x + 3 * a));
                    rest[k] =
                        ct_vec3_sub(ct_vec3_load(m.body.rest + 3 * b), ct_vec3_load(m.body.rest + 3 * a));
                }
                const ct_mat3 Dm = ct_mat3_columns(rest[0], rest[1], rest[2]),
                              Ds = ct_mat3_columns(now[0], now[1], now[2]);
                const ct_vec3 y =
                    ct_mat3_apply(Ds, ct_mat3_apply(ct_mat3_inverse(Dm), ct_vec3_load(m.direction + 3 * e)));
                const double excess = ct_vec3_norm(y) - (1 - m.activation[m.segment[e]]);
                sum += 0.5 * m.stiffness[m.owner[e]] * m.weight[e] * ct_mat3_determinant(Dm) / 6 * excess *
                       excess;
            }
            assert_true(fabs(gradient(&m, m.body.x, NULL) - sum) < 1e-13 * sum);
            muscles_stop(&m);
        }
    unsetenv("CUTTLE_ISA");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(energy_does_not_see_the_frame),
        cmocka_unit_test(rest_without_activation_has_no_force),
        cmocka_unit_test(force_of_one_fibre_is_its_tension),
        cmocka_unit_test(active_and_passive_fibres_balance_at_the_mean_length),
        cmocka_unit_test(assembled_matrix_is_the_product),
        cmocka_unit_test(projected_matrix_is_semidefinite),
        cmocka_unit_test(activation_and_stiffness_derivatives_match_differences),
        cmocka_unit_test(energy_is_the_sum_over_fibres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
