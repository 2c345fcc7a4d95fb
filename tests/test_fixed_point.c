// The two ways to solve the adjoint system of a step, as `cuttle bench gradient` compares them.
#include "build.h"
#include "cuttle_profile.h"

static sim beam(ct_energy energy, ct_solver solver, double poisson) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.solver = solver;
    settings.max_iterations = 20000;
    ct_material material = ct_material_default();
    material.energy = energy;
    material.poisson = poisson;
    material.young = 1e5;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){0.6, 0.1, 0.1}, (int[]){6, 1, 1}, &material);
    pin_plane(scene, 0, 0);
    return start(scene, 1);
}

static ct_status profile(sim* s, ct_adjoint_profile* p) {
    ct_model_info info;
    ct_state* before = NULL;
    info = ct_model_summary(s->model);
    double* x_bar = calloc(3 * (size_t)info.nvert, sizeof(double));
    for (int i = 0; i < info.nvert; i++) x_bar[3 * i + 1] = 1;
    steps(s, 8);
    must(ct_state_create(&before, s->model, NULL), NULL);
    must(ct_state_copy(before, s->state), NULL);
    steps(s, 1);
    ct_status status = ct_profile_adjoint(s->model, s->work, before, s->state, x_bar, 1e-6, 20000, p);
    ct_state_free(before);
    free(x_bar);
    return status;
}

static void both_solvers_reach_the_residual_the_fixed_point_later(void** state) {
    (void)state;
    for (double poisson = 0.2; poisson < 0.46; poisson += 0.25) {
        sim s = beam(CT_ENERGY_PROJECTIVE, CT_SOLVER_PROJECTIVE, poisson);
        ct_adjoint_profile p;
        must(profile(&s, &p), NULL);
        print_message("nu %.2f: %d and %d iterations\n", poisson, p.iterations, p.fixed_iterations);
        assert_true(p.converged && p.residual <= 1e-6);
        assert_true(p.fixed_converged && p.fixed_residual <= 1e-6);
        assert_true(p.fixed_iterations > 3 * p.iterations);
        stop(&s);
    }
}

static void model_without_the_constant_matrix_is_refused(void** state) {
    (void)state;
    sim s = beam(CT_ENERGY_COROTATED, CT_SOLVER_NEWTON, 0.3);
    ct_adjoint_profile p;
    assert_int_equal(profile(&s, &p), CT_BAD_ARGUMENT);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_solvers_reach_the_residual_the_fixed_point_later),
        cmocka_unit_test(model_without_the_constant_matrix_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
