// Gradients are the same bits whatever the tape keeps, however many threads there are and whatever else is
// wanted; and as good as the steps' tolerance.
#include "adjoint_beam.h"

static double* gradient_of(const beam_def* def, double* loss, int* size) {
    rollout r = beam_start(def);
    *loss = evaluate_gradient(&r);
    *size = r.size;
    double* gradient = malloc((size_t)r.size * sizeof(double));
    memcpy(gradient, r.gradient, (size_t)r.size * sizeof(double));
    rollout_stop(&r);
    return gradient;
}

static void assert_same_bits(const beam_def* a, const beam_def* b) {
    double loss[2];
    int size[2];
    double *first = gradient_of(a, &loss[0], &size[0]), *second = gradient_of(b, &loss[1], &size[1]);
    assert_memory_equal(&loss[0], &loss[1], sizeof(double));
    assert_memory_equal(first, second, (size_t)size[0] * sizeof(double));
    free(first), free(second);
}

static void gradient_is_the_same_bits_whatever_the_tape_may_keep(void** state) {
    for (int k = 0; k < 2; k++) {
        beam_def stored = beam_default();
        stored.nstep = 23;
        stored.integrator = k ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
        stored.damping_stiffness = 0.01;
        stored.max_iterations = k ? 24 : 400;  // with and without halved steps
        rollout r = beam_start(&stored);
        const size_t state_size = ct_state_size(r.sim.state);
        rollout_stop(&r);
        static const int budget[] = {1, 4, 5, 7, 12, 23};
        for (size_t i = 0; i < sizeof budget / sizeof budget[0]; i++) {
            beam_def sparse = stored;
            sparse.max_bytes = (size_t)budget[i] * state_size;
            assert_same_bits(&stored, &sparse);
        }
    }
}

// Whatever the tape keeps: the reverse of a rollout may be asked for again, and so may another rollout.
static void a_rollout_can_be_reversed_any_number_of_times(void** state) {
    for (int k = 0; k < 2; k++) {
        beam_def def = beam_default();
        def.nstep = 23;
        def.integrator = k ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
        def.max_iterations = k ? 24 : 400;  // with and without halved steps
        rollout r = beam_start(&def);
        const size_t state_size = ct_state_size(r.sim.state);
        rollout_stop(&r);
        static const int budget[] = {0, 1, 4, 7, 12, 23};
        for (size_t i = 0; i < sizeof budget / sizeof budget[0]; i++) {
            def.max_bytes = (size_t)budget[i] * state_size;
            r = beam_start(&def);
            const size_t bytes = (size_t)r.size * sizeof(double);
            double* first = malloc(bytes);
            const double loss = evaluate_gradient(&r);
            memcpy(first, r.gradient, bytes);
            const size_t kept = ct_tape_bytes(r.tape);
            for (int again = 0; again < 3; again++) {
                memset(r.gradient, 0, bytes);
                reverse_rollout(&r);
                assert_int_equal(ct_tape_steps(r.tape), 23);
                assert_memory_equal(r.gradient, first, bytes);
            }
            assert_true(ct_tape_bytes(r.tape) == kept);
            memset(r.gradient, 0, bytes);
            assert_true(evaluate_gradient(&r) == loss);
            assert_memory_equal(r.gradient, first, bytes);
            free(first);
            rollout_stop(&r);
        }
    }
}

static void gradient_is_the_same_bits_for_every_thread_count(void** state) {
    beam_def one = beam_default();
    one.cells[0] = 24, one.cells[1] = 6, one.cells[2] = 6;
    one.nstep = 3;
    one.young = 1e5;
    one.tolerance = 1e-8;
    one.damping_stiffness = 0.01;
    beam_def two = one;
    two.threads = 2;
    assert_same_bits(&one, &two);
}

static void gradient_is_the_same_bits_when_less_is_wanted(void** state) {
    beam_def def = beam_default();
    def.damping_stiffness = 0.01;
    rollout r = beam_start(&def);
    evaluate_gradient(&r);
    for (int s = 0; s < SLICES; s++) {
        double* wanted = malloc((size_t)slice_size(&r, s) * sizeof(double));
        double* at[SLICES] = {0};
        at[s] = wanted;
        ct_values gradient = {.of = {[CT_QUANTITY_POSITION] = at[0],
                                     [CT_QUANTITY_VELOCITY] = at[1],
                                     [CT_QUANTITY_YOUNG] = at[2],
                                     [CT_QUANTITY_POISSON] = at[3],
                                     [CT_QUANTITY_DENSITY] = at[4],
                                     [CT_QUANTITY_DAMPING_MASS] = at[5],
                                     [CT_QUANTITY_DAMPING_STIFFNESS] = at[6],
                                     [CT_QUANTITY_GRAVITY] = at[7],
                                     [CT_QUANTITY_CONTROL] = at[8]}};
        must(ct_backward(r.sim.model, r.sim.work, r.tape, r.value + r.first[CONTROLS], add_seed, &r,
                         &gradient, NULL),
             NULL);
        assert_memory_equal(wanted, r.gradient + r.first[s], (size_t)slice_size(&r, s) * sizeof(double));
        free(wanted);
    }
    rollout_stop(&r);
}

static void gradient_is_as_good_as_the_tolerance(void** state) {
    beam_def def = beam_default();
    double loss[2], error = 0, norm = 0;
    int size;
    double* exact = gradient_of(&def, &loss[0], &size);
    def.tolerance = 1e-6;
    double* loose = gradient_of(&def, &loss[1], &size);
    for (int i = 0; i < size; i++) error += pow(exact[i] - loose[i], 2), norm += exact[i] * exact[i];
    assert_true(sqrt(error / norm) < 1e-5);
    free(exact), free(loose);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_the_same_bits_whatever_the_tape_may_keep),
        cmocka_unit_test(a_rollout_can_be_reversed_any_number_of_times),
        cmocka_unit_test(gradient_is_the_same_bits_for_every_thread_count),
        cmocka_unit_test(gradient_is_the_same_bits_when_less_is_wanted),
        cmocka_unit_test(gradient_is_as_good_as_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
