// Integrators with stages in contact: impacts are inelastic, sliding on planes keeps the second order.
#include "contact_scenes.h"

static const ct_integrator staged[] = {CT_INTEGRATOR_SDIRK2, CT_INTEGRATOR_SDIRK3};

static sim begin(ct_integrator integrator, double h, double friction, double fall) {
    ct_settings settings = contact_settings(h, friction, 1e-10);
    settings.integrator = integrator;
    for (int a = 0; a < 3 && fall != 0; a++) settings.gravity[a] = 0;
    ct_scene* scene = new_scene(&settings);
    add_floor(scene, 0);
    return (sim){.scene = scene};
}

// A block that is next to nothing against its mass: its nodes are point masses.
static void point_masses_do_not_rebound(void** state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        sim s = begin(staged[k], 0.01, 0, 1);
        add_block(s.scene, (double[]){0.2, 0.2, 0.2}, (int[]){1, 1, 1}, 1e-3, (double[]){0, 0.0213, 0},
                  (double[]){0, -1, 0});
        s = start(s.scene, 1);
        double fastest = -1;
        int closed = 0;
        for (int i = 0; i < 8; i++) {
            ct_step_report report;
            must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
            closed += report.integrator == CT_INTEGRATOR_EULER;
            for (int v = 0; v < 8; v++) fastest = fmax(fastest, ct_state_velocities(s.state)[3 * v + 1]);
        }
        print_message("%s: a mass that falls at 1 m/s leaves with %.2e\n", ct_integrator_name(staged[k]),
                      fastest);
        assert_int_equal(closed, 2);  // what is left of the velocity after the first goes in the second
        assert_true(fastest < 1e-3);
        stop(&s);
    }
}

static double energy_of(const sim* s) {
    ct_measure m = ct_state_measure(s->model, s->state);
    return m.kinetic + m.elastic + m.gravitational;
}

static void a_dropped_ball_never_gains_energy(void** state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        sim s = begin(staged[k], 0.005, 0.3, 0);
        add_ball(s.scene, 0.1, 0.05, 1e5, (double[]){0, 0.13, 0}, (double[]){0.5, -1, 0});
        s = start(s.scene, 1);
        double before = energy_of(&s), kinetic = ct_state_measure(s.model, s.state).kinetic, worst = 0;
        int touching = 0, lowered = 0;
        for (int i = 0; i < 60; i++) {
            ct_step_report report;
            must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
            double now = energy_of(&s);
            if (report.contacts) worst = fmax(worst, (now - before) / kinetic);
            touching += report.contacts > 0;
            lowered += report.integrator != staged[k];
            before = now;
        }
        print_message(
            "%s: %d steps touch, %d by a lower rule; the energy rises by at most %.2e of the impact's\n",
            ct_integrator_name(staged[k]), touching, lowered, worst);
        assert_true(touching > 5);
        assert_true(worst < 1e-3);
        stop(&s);
    }
}

// A block that slides; where its nodes are after .1 s.
static double* slide(double h, ct_integrator integrator, int* count, int* lowered) {
    sim s = begin(integrator, h, 0.2, 0);
    add_block(s.scene, (double[]){0.2, 0.1, 0.2}, (int[]){2, 1, 2}, 2e4, (double[]){0, clearance, 0},
              (double[]){1, 0, 0.5});
    s = start(s.scene, 1);
    *lowered = 0;
    for (int i = 0; i < (int)lround(0.08 / h); i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        *lowered += report.integrator == CT_INTEGRATOR_EULER;
    }
    *count = 3 * ct_model_summary(s.model).nvert;
    double* x = malloc((size_t)*count * sizeof(double));
    memcpy(x, ct_state_positions(s.state), (size_t)*count * sizeof(double));
    stop(&s);
    return x;
}

static void sliding_on_planes_is_of_second_order(void** state) {
    (void)state;
    int n, lowered;
    double* truth = slide(0.000125, CT_INTEGRATOR_SDIRK2, &n, &lowered);
    double error[3];
    for (int level = 0; level < 3; level++) {
        double* x = slide(0.004 / (1 << level), CT_INTEGRATOR_SDIRK2, &n, &lowered);
        error[level] = 0;
        for (int i = 0; i < n; i++) error[level] += pow(x[i] - truth[i], 2);
        error[level] = sqrt(error[level]);
        print_message("h %g: error %.2e m, %d steps by Euler\n", 0.004 / (1 << level), error[level], lowered);
        free(x);
    }
    free(truth);
    double order = log2(error[0] / error[2]) / 2;
    print_message("order %.2f\n", order);
    assert_true(order > 1.7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_masses_do_not_rebound),
        cmocka_unit_test(a_dropped_ball_never_gains_energy),
        cmocka_unit_test(sliding_on_planes_is_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
