// Physics with known answers: patch test, conservation laws, beam theory, incompressibility, damping rates,
// order in h.
#include "drift.h"

static const ct_energy all_energies[] = {CT_ENERGY_COROTATED, CT_ENERGY_PROJECTIVE, CT_ENERGY_NEOHOOKEAN,
                                         CT_ENERGY_STVK};

static ct_settings free_settings(double h, ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.duration = 100 * h;
    settings.integrator = integrator;
    settings.threads = 1;
    settings.tolerance = 1e-10;
    for (int a = 0; a < 3; a++) settings.gravity[a] = 0;
    return settings;
}

static ct_material elastic(ct_energy energy, double young, double poisson, double density) {
    ct_material material = ct_material_default();
    material.energy = energy;
    material.young = young;
    material.poisson = poisson;
    material.density = density;
    return material;
}

// ---- patch test ----------------------------------------------------------------------------

static void hold_at(ct_scene* scene, int node, const double displacement[3]) {
    ct_error error = {0};
    ct_keyframe key = {.time = 0, .translate = {displacement[0], displacement[1], displacement[2]}};
    ct_motion motion = {.key = &key, .nkey = 1};
    must(ct_scene_drive(scene, &node, 1, &motion, &error), &error);
}

static void affine_boundary_motion_of_an_irregular_mesh_is_reproduced(void** unused) {
    const double A[3][3] = {{0.12, 0.2, -0.1}, {0.05, -0.08, 0.1}, {-0.1, 0.15, 0.07}};  // F - I
    for (int e = 0; e < 4; e++) {
        ct_settings settings =
            free_settings(1e4, CT_INTEGRATOR_EULER);  // so long that inertia is nothing: statics
        settings.tolerance = 1e-14;
        ct_mesh* mesh = NULL;
        must(ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){4, 4, 4}, NULL), NULL);
        uint64_t seed = 3;
        for (int v = 0; v < mesh->nvert; v++) {
            double* x = mesh->x + 3 * v;
            bool inside = true;
            for (int a = 0; a < 3; a++) inside = inside && x[a] > 1e-9 && x[a] < 1 - 1e-9;
            for (int a = 0; inside && a < 3; a++) x[a] += 0.04 * noise(&seed);
        }
        ct_scene* scene = new_scene(&settings);
        ct_error error = {0};
        ct_body_def def = ct_body_def_default();
        def.mesh = mesh;
        def.material = elastic(all_energies[e], 1e5, 0.35, 1000);
        int body;
        must(ct_scene_add_body(scene, &def, &body, &error), &error);
        for (int v = 0; v < mesh->nvert; v++) {
            const double* x = mesh->x + 3 * v;
            double u[3];
            bool boundary = false;
            for (int a = 0; a < 3; a++) {
                boundary = boundary || x[a] < 1e-9 || x[a] > 1 - 1e-9;
                u[a] = A[a][0] * x[0] + A[a][1] * x[1] + A[a][2] * x[2];
            }
            if (boundary) hold_at(scene, v, u);
        }
        sim s = start(scene, 1);
        steps(&s, 2);
        double worst = 0;
        for (int v = 0; v < mesh->nvert; v++)
            for (int a = 0; a < 3; a++) {
                const double *x = mesh->x + 3 * v, *y = ct_state_positions(s.state) + 3 * v;
                worst = fmax(worst, fabs(y[a] - x[a] - (A[a][0] * x[0] + A[a][1] * x[1] + A[a][2] * x[2])));
            }
        print_message("energy %d: patch error %.2g\n", e, worst);
        assert_true(worst < 1e-9);
        ct_mesh_free(mesh);
        stop(&s);
    }
}

// ---- rigid motion and conservation ---------------------------------------------------------

static void rigid_motion_has_no_stress(void** unused) {
    for (int e = 0; e < 4; e++) {
        ct_settings settings = free_settings(0.01, CT_INTEGRATOR_EULER);
        ct_scene* scene = new_scene(&settings);
        ct_material material = elastic(all_energies[e], 1e6, 0.4, 1000);
        add_box(scene, (double[]){0.4, 0.3, 0.2}, (int[]){3, 2, 2}, &material);
        sim s = start(scene, 1);
        int n = node_count(&s);
        ct_model_info info = ct_model_summary(s.model);
        double *x = calloc(3 * (size_t)n, sizeof *x), *v = calloc(3 * (size_t)n, sizeof *v),
               *stress = calloc((size_t)info.ntet, sizeof *stress);
        double c = cos(2.3), q = sin(2.3);
        for (int i = 0; i < n; i++) {
            const double* X = ct_model_rest(s.model) + 3 * i;
            x[3 * i] = c * X[0] - q * X[1] + 5;
            x[3 * i + 1] = q * X[0] + c * X[1] - 3;
            x[3 * i + 2] = X[2] + 1;
        }
        must(ct_state_set(s.state, x, v), NULL);
        must(ct_state_tet_field(s.model, s.state, CT_FIELD_VON_MISES, stress), NULL);
        for (int t = 0; t < info.ntet; t++) assert_true(stress[t] < 1e-7);  // Pa, of 1e6
        steps(&s, 5);                                                       // and it stays where it is
        for (int i = 0; i < 3 * n; i++) assert_true(fabs(ct_state_positions(s.state)[i] - x[i]) < 1e-12);
        free(x), free(v), free(stress);
        stop(&s);
    }
}

static void momentum_is_conserved_and_the_rest_to_the_integrators_order(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        drift coarse = drift_of(0.005, integrator), fine = drift_of(0.0025, integrator);
        double angular = log2(coarse.angular / fine.angular), energy = log2(coarse.energy / fine.energy);
        print_message("integrator %d: momentum %.1e, angular %.2e order %.2f, energy %.2e order %.2f\n",
                      integrator, fine.momentum, fine.angular, angular, fine.energy, energy);
        assert_true(coarse.momentum < 1e-9 && fine.momentum < 1e-9);
        double order = integrator == CT_INTEGRATOR_EULER ? 1 : 2;
        assert_true(fabs(angular - order) < 0.35);
        assert_true(fabs(energy - order) < 0.35);
    }
}

// ---- beam ----------------------------------------------------------------------------------

enum { LENGTH_TO_THICKNESS = 10 };
static const double beam_length = 1, beam_thickness = 0.1, beam_young = 1e6;

static sim clamped_beam(ct_settings settings, int n, double density, double damping) {
    ct_scene* scene = new_scene(&settings);
    ct_material material = elastic(CT_ENERGY_COROTATED, beam_young, 0, density);
    material.damping_stiffness = damping;
    add_box(scene, (double[]){beam_length, beam_thickness, beam_thickness},
            (int[]){LENGTH_TO_THICKNESS * n, n, n}, &material);
    pin_plane(scene, 0, 0);
    return start(scene, 1);
}

static double static_deflection(int n) {
    ct_settings settings = free_settings(1e4, CT_INTEGRATOR_EULER);
    settings.gravity[1] = -9.81;
    sim s = clamped_beam(settings, n, 1, 0);
    steps(&s, 2);
    int tip = node_at(&s, beam_length, beam_thickness / 2, beam_thickness / 2);
    double w = ct_model_rest(s.model)[3 * tip + 1] - ct_state_positions(s.state)[3 * tip + 1];
    stop(&s);
    return w;
}

// Euler-Bernoulli rho g L^4 12 / (8 E t^2) and Timoshenko's shear rho g L^2 / (2 (5/6) G), G = E/2.
static void clamped_beam_converges_to_the_beam_theory_deflection(void** unused) {
    double load = 1 * 9.81;
    double theory =
        1.5 * load / (beam_young * beam_thickness * beam_thickness) + load / (2 * 5.0 / 6 * beam_young / 2);
    double w2 = static_deflection(2), w4 = static_deflection(4), w8 = static_deflection(8);
    double order = log2((theory - w4) / (theory - w8)), limit = w8 + (w8 - w4) / 3;
    print_message("deflection %.4g %.4g %.4g mm, limit %.5g, theory %.5g, order %.2f\n", 1e3 * w2, 1e3 * w4,
                  1e3 * w8, 1e3 * limit, 1e3 * theory, order);
    assert_true(order > 1.6 && order < 2.4);
    assert_true(w2 < w4 && w4 < w8 && fabs(limit / theory - 1) < 0.015);
}

// First bending mode of a clamped beam at s = x / L.
static double mode_shape(double s) {
    double k = 1.87510406871196, sigma = 0.734095513758;
    return cosh(k * s) - cos(k * s) - sigma * (sinh(k * s) - sin(k * s));
}

static double modal_amplitude(const sim* s) {
    double sum = 0;
    for (int v = 0; v < node_count(s); v++) {
        const double* rest = ct_model_rest(s->model) + 3 * v;
        sum += ct_model_node_mass(s->model)[v] * mode_shape(rest[0] / beam_length) *
               (ct_state_positions(s->state)[3 * v + 1] - rest[1]);
    }
    return sum;
}

typedef struct ringing {
    double omega, ratio;  // rad/s; amplitude after one period over that at the start
} ringing;

// Released from a small deflection in the first mode; frequency from zero crossings of the modal amplitude.
static ringing ring(int n, double damping) {
    double omega = 3.51601526850 * sqrt(beam_young * beam_thickness * beam_thickness / (12 * 1000.0)) /
                   (beam_length * beam_length);
    double h = 2 * M_PI / omega / 160;
    ct_settings settings = free_settings(h, CT_INTEGRATOR_BDF2);
    sim s = clamped_beam(settings, n, 1000, damping);
    int count = node_count(&s);
    double *x = calloc(3 * (size_t)count, sizeof *x), *v = calloc(3 * (size_t)count, sizeof *v);
    for (int i = 0; i < count; i++) {
        const double* rest = ct_model_rest(s.model) + 3 * i;
        double d = 1e-5, slope = (mode_shape(rest[0] + d) - mode_shape(rest[0] - d)) / (2 * d);
        x[3 * i] = rest[0] - 1e-4 * slope * (rest[1] - beam_thickness / 2);
        x[3 * i + 1] = rest[1] + 1e-4 * mode_shape(rest[0]);
        x[3 * i + 2] = rest[2];
    }
    must(ct_state_set(s.state, x, v), NULL);
    double crossing[3] = {0}, peak = 0, before = modal_amplitude(&s), first = before;
    for (int i = 1, found = 0; found < 3; i++) {
        steps(&s, 1);
        double now = modal_amplitude(&s);
        if (now * before < 0) crossing[found++] = h * (i - now / (now - before));
        if (found == 2 && now > peak) peak = now;
        before = now;
        assert_true(i < 1000);
    }
    free(x), free(v);
    stop(&s);
    return (ringing){.omega = 2 * M_PI / (crossing[2] - crossing[0]), .ratio = peak / first};
}

static void beam_rings_at_the_beam_theory_frequency(void** unused) {
    double theory = 3.51601526850 * sqrt(beam_young * beam_thickness * beam_thickness / 12000);
    double coarse = ring(2, 0).omega, fine = ring(4, 0).omega;
    double limit = fine + (fine - coarse) / 3;
    print_message("omega %.4g %.4g, limit %.5g, theory %.5g\n", coarse, fine, limit, theory);
    assert_true(fabs(fine - theory) < 0.4 * fabs(coarse - theory));
    // theory has neither shear nor rotary inertia: 0.8 % high here
    assert_true(fabs(limit / theory - 1) < 0.015);
}

// Kelvin-Voigt: damping ratio beta omega / 2, amplitude after a period exp(-pi beta omega) in the limit of
// small beta.
static void stiffness_damping_decays_at_the_known_rate(void** unused) {
    ringing plain = ring(2, 0);
    double beta = 0.05 / plain.omega;
    ringing damped = ring(2, beta);
    double zeta = 0.5 * beta * damped.omega;
    double expected = exp(-2 * M_PI * zeta / sqrt(1 - zeta * zeta));
    print_message("decay per period %.4f, expected %.4f\n", damped.ratio / plain.ratio, expected);
    assert_true(fabs(damped.ratio / plain.ratio - expected) < 0.02 * expected);
}

static void mass_damping_slows_free_flight_exactly(void** unused) {
    double h = 0.01, alpha = 3;
    ct_settings settings = free_settings(h, CT_INTEGRATOR_EULER);
    ct_scene* scene = new_scene(&settings);
    ct_material material = elastic(CT_ENERGY_COROTATED, 1e5, 0.4, 1000);
    material.damping_mass = alpha;
    add_box(scene, (double[]){0.2, 0.2, 0.2}, (int[]){2, 2, 2}, &material);
    ct_error error = {0};
    ct_selector all = {.kind = CT_SELECT_ALL, .body = -1};
    int *nodes, count;
    must(ct_scene_select(scene, &all, &nodes, &count, &error), &error);
    must(ct_scene_set_velocity(scene, nodes, count, (double[]){2, 0, 0}, (double[]){0, 0, 0}, &error),
         &error);
    ct_free(nodes);
    sim s = start(scene, 1);
    steps(&s, 50);
    double expected = 2 * pow(1 + alpha * h, -50);
    for (int v = 0; v < node_count(&s); v++)
        assert_true(fabs(ct_state_velocities(s.state)[3 * v] - expected) < 1e-8);
    stop(&s);
}

// ---- order in h ----------------------------------------------------------------------------

static double swinging_tip(double h, ct_integrator integrator) {
    ct_settings settings = free_settings(h, integrator);
    settings.gravity[1] = -0.3;  // soft and slow: every mode of this mesh is resolved in time
    ct_scene* scene = new_scene(&settings);
    ct_material material = elastic(CT_ENERGY_COROTATED, 2e3, 0.3, 1000);
    add_box(scene, (double[]){1, 0.2, 0.2}, (int[]){5, 1, 1}, &material);
    pin_plane(scene, 0, 0);
    sim s = start(scene, 1);
    steps(&s, (int)lround(0.4 / h));
    double y = ct_state_positions(s.state)[3 * node_at(&s, 1, 0.2, 0.2) + 1];
    stop(&s);
    return y;
}

static void order_in_h_is_one_for_euler_and_two_for_bdf2(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        double a = swinging_tip(0.0025, integrator), b = swinging_tip(0.00125, integrator),
               c = swinging_tip(0.000625, integrator);
        double order = log2(fabs((a - b) / (b - c)));
        print_message("integrator %d: tip %.8f %.8f %.8f, order %.2f\n", integrator, a, b, c, order);
        assert_true(fabs(order - (integrator == CT_INTEGRATOR_EULER ? 1 : 2)) < 0.3);
    }
}

// ---- incompressibility ---------------------------------------------------------------------

static double volume_change(double poisson) {
    ct_settings settings = free_settings(1e4, CT_INTEGRATOR_EULER);
    ct_scene* scene = new_scene(&settings);
    ct_material material = elastic(CT_ENERGY_NEOHOOKEAN, 1e5, poisson, 1000);
    add_box(scene, (double[]){1, 0.5, 0.5}, (int[]){6, 3, 3}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    ct_selector tip = {.kind = CT_SELECT_PLANE, .body = -1, .a = {1 - 1e-9, 0, 0}, .b = {1, 0, 0}};
    int *nodes, count;
    must(ct_scene_select(scene, &tip, &nodes, &count, &error), &error);
    ct_keyframe keys[2] = {{.time = 0}, {.time = 1e5, .translate = {0.2, 0, 0}}};
    ct_motion motion = {.key = keys, .nkey = 2};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    ct_free(nodes);
    sim s = start(scene, 1);
    steps(&s, 10);
    ct_measure measure = ct_state_measure(s.model, s.state);
    stop(&s);
    return measure.volume / 0.25 - 1;
}

static void volume_change_vanishes_towards_poisson_one_half(void** unused) {
    double at30 = volume_change(0.3), at45 = volume_change(0.45), at49 = volume_change(0.49),
           at499 = volume_change(0.499), at4999 = volume_change(0.4999);
    print_message("volume change %.4f %.4f %.5f %.6f %.7f\n", at30, at45, at49, at499, at4999);
    assert_true(at30 > at45 && at45 > at49 && at49 > at499 && at499 > at4999 && at4999 > 0);
    assert_true(at499 / at4999 > 8 && at499 / at4999 < 12);  // proportional to 1 - 2 nu in the limit
    assert_true(at4999 < 2e-4);
}

// ---- free fall -----------------------------------------------------------------------------

// Implicit Euler falls g h^2 n (n+1)/2, exactly and without strain.
static void free_fall_matches_the_integrator_exactly(void** unused) {
    double h = 0.01;
    ct_settings settings = free_settings(h, CT_INTEGRATOR_EULER);
    settings.gravity[2] = -9.81;
    ct_scene* scene = new_scene(&settings);
    ct_material material = elastic(CT_ENERGY_STVK, 1e5, 0.4, 1000);
    add_box(scene, (double[]){0.2, 0.3, 0.2}, (int[]){2, 2, 2}, &material);
    sim s = start(scene, 1);
    steps(&s, 40);
    double fall = 9.81 * h * h * 40 * 41 / 2;
    for (int v = 0; v < node_count(&s); v++)
        assert_true(fabs(ct_model_rest(s.model)[3 * v + 2] - fall - ct_state_positions(s.state)[3 * v + 2]) <
                    1e-9);
    ct_measure measure = ct_state_measure(s.model, s.state);
    assert_true(measure.elastic < 1e-9);
    assert_true(fabs(measure.mass - 12) < 1e-12);  // 1000 kg/m^3 x 0.012 m^3
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_boundary_motion_of_an_irregular_mesh_is_reproduced),
        cmocka_unit_test(rigid_motion_has_no_stress),
        cmocka_unit_test(momentum_is_conserved_and_the_rest_to_the_integrators_order),
        cmocka_unit_test(clamped_beam_converges_to_the_beam_theory_deflection),
        cmocka_unit_test(beam_rings_at_the_beam_theory_frequency),
        cmocka_unit_test(stiffness_damping_decays_at_the_known_rate),
        cmocka_unit_test(mass_damping_slows_free_flight_exactly),
        cmocka_unit_test(order_in_h_is_one_for_euler_and_two_for_bdf2),
        cmocka_unit_test(volume_change_vanishes_towards_poisson_one_half),
        cmocka_unit_test(free_fall_matches_the_integrator_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
