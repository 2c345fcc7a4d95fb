// The whole adjoint against differences of rollouts: every energy, integrator, damping, and every kind of
// parameter.
//
// A wrong term shows as an error that does not fall with the step size; a right gradient as one that falls
// with its square until round-off: both are asked for, the smallest error and the slope.
#include "adjoint_beam.h"

// ---- everything on a soft beam that bends far

static void check_energy(ct_energy energy) {
    for (int k = 0; k < 4; k++) {
        beam_def def = beam_default();
        def.energy = energy;
        def.integrator = k & 1 ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
        if (k & 2) def.damping_mass = 0.8, def.damping_stiffness = 0.02;
        char name[64];
        snprintf(name, sizeof name, "%s, %s, %s", ct_energy_name((ct_energy)energy), k & 1 ? "BDF2" : "Euler",
                 k & 2 ? "damped" : "undamped");
        rollout r = beam_start(&def);
        assert_true(check_slices(&r, 0.1, 2e-8, 2, name));
        assert_int_equal(r.substepped, 0);
        assert_in_range(r.refreshed, 1, def.nstep - 1);  // the factor was refreshed on the way
        rollout_stop(&r);
    }
}
static void corotated_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_COROTATED); }
static void projective_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_PROJECTIVE); }
static void neohookean_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_NEOHOOKEAN); }
static void stvk_gradient_matches_differences(void** state) { check_energy(CT_ENERGY_STVK); }

// ---- special places

// No motion, no force, F = I exactly: second derivatives of the energies are all that counts.
static void gradient_is_right_at_rest(void** state) {
    for (int k = 0; k < 2 * CT_ENERGY_COUNT; k++) {
        beam_def def = beam_default();
        def.energy = (ct_energy)(k / 2);
        def.integrator = k & 1 ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
        rollout r = beam_start(&def);
        memcpy(r.value + r.first[POSITION], ct_model_rest(r.sim.model), 3 * (size_t)r.nvert * sizeof(double));
        memset(r.value + r.first[VELOCITY], 0, 3 * (size_t)r.nvert * sizeof(double));
        memset(r.value + r.first[GRAVITY], 0, 3 * sizeof(double));
        memset(r.value + r.first[CONTROLS], 0, (size_t)slice_size(&r, CONTROLS) * sizeof(double));
        for (int t = 0; t < r.ntet; t++)
            r.value[r.first[DAMPING_MASS] + t] = 0.5, r.value[r.first[DAMPING_STIFFNESS] + t] = 0.01;
        assert_true(check_slices(&r, 0.1, 1e-8, 0, ct_energy_name((ct_energy)def.energy)));
        rollout_stop(&r);
    }
}

// Steps of the loss where another step is halved lie close by: a limit that keeps clear of them is looked
// for.
static void check_halved(ct_integrator integrator, bool damped) {
    bool clear = false;
    for (int limit = 14; limit < 22 && !clear; limit++) {
        beam_def def = beam_default();
        def.integrator = integrator;
        if (damped) def.damping_mass = 0.8, def.damping_stiffness = 0.02;
        def.max_iterations = limit;
        rollout r = beam_start(&def);
        // a jerk on the way, after smooth steps
        const int size = ct_model_control_size(r.sim.model);
        for (int i = 0; i < size; i++) r.value[r.first[CONTROLS] + 4 * size + i] *= 60;
        clear = check_slices(&r, 0.02, 1e-8, 2, "halved steps");
        if (clear) assert_in_range(r.substepped, 1, def.nstep - 1);
        rollout_stop(&r);
    }
    assert_true(clear);
}
static void gradient_is_right_where_steps_are_halved(void** state) {
    for (int k = 0; k < 4; k++) check_halved(k & 1 ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER, k & 2);
}

// Nearly incompressible, stiffness from 1 to 1000, one tet pressed to 3 % of its height; 60 % for St.
// Venant-Kirchhoff, which has several solutions below.
static void gradient_is_right_in_an_ill_conditioned_body(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        beam_def def = beam_default();
        def.energy = (ct_energy)energy;
        def.nstep = 3;
        def.damping_mass = 0.8, def.damping_stiffness = 0.002;
        def.max_iterations = 4000;
        rollout r = beam_start(&def);
        r.roundoff = 1e-12;  // stiff tets' forces cancel in soft nodes
        uint64_t seed = 8;
        for (int t = 0; t < r.ntet; t++) {
            const int young = r.first[YOUNG] + t, poisson = r.first[POISSON] + t;
            r.value[young] = r.scale[young] = 2e4 * pow(1000, 0.5 + 0.5 * noise(&seed));
            r.value[poisson] = 0.49;
            r.scale[poisson] = 0.01;
            r.scale[r.first[DAMPING_STIFFNESS] + t] = 0.005;
        }
        double* x = r.value + r.first[POSITION];
        const int* tet = ct_model_tets(r.sim.model) + 4 * 8;
        double *x0 = x + 3 * tet[0], *x1 = x + 3 * tet[1], *x2 = x + 3 * tet[2], *x3 = x + 3 * tet[3], a[3],
               b[3], n[3], height = 0, square = 0;
        for (int i = 0; i < 3; i++) a[i] = x1[i] - x0[i], b[i] = x2[i] - x0[i];
        for (int i = 0; i < 3; i++) {
            n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
            height += n[i] * (x3[i] - x0[i]);
            square += n[i] * n[i];
        }
        for (int i = 0; i < 3; i++) x3[i] -= (energy == CT_ENERGY_STVK ? 0.4 : 0.97) * height / square * n[i];
        assert_true(check_slices(&r, 0.1, 1e-6, 0, ct_energy_name((ct_energy)energy)));
        rollout_stop(&r);
    }
}

static void gradient_of_a_free_body_is_right(void** state) {
    beam_def def = beam_default();
    def.held = FREE;
    def.integrator = CT_INTEGRATOR_BDF2;
    def.damping_mass = 0.8, def.damping_stiffness = 0.02;
    rollout r = beam_start(&def);
    assert_true(check_slices(&r, 0.1, 1e-8, 2, "free body"));
    rollout_stop(&r);
}

static void gradient_of_a_body_without_unknowns_is_right(void** state) {
    beam_def def = beam_default();
    def.held = DRIVEN;
    def.integrator = CT_INTEGRATOR_BDF2;
    def.damping_mass = 0.8, def.damping_stiffness = 0.02;
    rollout r = beam_start(&def);
    assert_true(check_slices(&r, 0.1, 1e-8, 2, "driven body"));
    rollout_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corotated_gradient_matches_differences),
        cmocka_unit_test(projective_gradient_matches_differences),
        cmocka_unit_test(neohookean_gradient_matches_differences),
        cmocka_unit_test(stvk_gradient_matches_differences),
        cmocka_unit_test(gradient_is_right_at_rest),
        cmocka_unit_test(gradient_is_right_where_steps_are_halved),
        cmocka_unit_test(gradient_is_right_in_an_ill_conditioned_body),
        cmocka_unit_test(gradient_of_a_free_body_is_right),
        cmocka_unit_test(gradient_of_a_body_without_unknowns_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
