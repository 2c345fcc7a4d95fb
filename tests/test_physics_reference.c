// Statics against an independent program: a clamped block bent by its weight, small loads.
//
// The reference is a linear tetrahedral finite element solution made with numpy and scipy for the tets of
// ct_mesh_box(0.4 x 0.2 x 0.3 m, 4 x 2 x 3 cells, NULL): per tet K = V B' C B with the 6 x 12 strain matrix B
// and the isotropic C(young, poisson), a quarter of each tet's weight at its nodes, the nodes at x = 0
// removed, a direct sparse solve. One implicit Euler step of 1e6 s has no inertia left to speak of, so it
// ends in static equilibrium.
#include "build.h"

#define NREFERENCE 5
static const double gravity[3] = {0.003, -0.01, 0.002};

static const struct {
    double rest[3], displacement[3];
} reference[NREFERENCE] = {
    {{0.4, 0, 0}, {-9.041516879862e-06, -6.774705942936e-05, 1.450907960950e-05}},
    {{0.4, 0.2, 0.3}, {1.277327052697e-05, -6.764248483620e-05, 1.404886474537e-05}},
    {{0.2, 0.1, 0.1}, {2.580138058871e-06, -3.171828490692e-05, 6.853565463681e-06}},
    {{0.1, 0.2, 0}, {1.346975712402e-05, -1.414292452571e-05, 5.426920321924e-06}},
    {{0.3, 0, 0.2}, {-1.583211532209e-05, -5.089593097988e-05, 1.099019242823e-05}},
};

static void displacements(ct_energy energy, double sign, double u[NREFERENCE][3]) {
    ct_settings settings = ct_settings_default();
    settings.time_step = settings.duration = 1e6;
    settings.tolerance = 1e-12;
    settings.threads = 1;
    for (int a = 0; a < 3; a++) settings.gravity[a] = sign * gravity[a];
    ct_material material = ct_material_default();
    material.energy = energy;
    material.young = 1e5;
    material.poisson = 0.3;
    material.density = 1000;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, (double[]){0.4, 0.2, 0.3}, (int[]){4, 2, 3}, &material);
    pin_plane(scene, 0, 0);
    sim s = start(scene, 1);
    steps(&s, 1);
    for (int i = 0; i < NREFERENCE; i++) {
        const double* rest = reference[i].rest;
        int node = node_at(&s, rest[0], rest[1], rest[2]);
        for (int a = 0; a < 3; a++)
            u[i][a] = ct_state_positions(s.state)[3 * node + a] - ct_model_rest(s.model)[3 * node + a];
    }
    stop(&s);
}

// Half the difference of the two signs of the load leaves the linear part, up to third order in the strain of
// 1e-4.
static void small_loads_bend_a_block_as_linear_finite_elements_say(void** unused) {
    (void)unused;
    double scale = 0;
    for (int i = 0; i < NREFERENCE; i++)
        for (int a = 0; a < 3; a++) scale = fmax(scale, fabs(reference[i].displacement[a]));
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        double down[NREFERENCE][3], up[NREFERENCE][3], worst = 0;
        displacements((ct_energy)energy, 1, down);
        displacements((ct_energy)energy, -1, up);
        for (int i = 0; i < NREFERENCE; i++)
            for (int a = 0; a < 3; a++)
                worst = fmax(worst, fabs((down[i][a] - up[i][a]) / 2 - reference[i].displacement[a]) / scale);
        if (worst > 1e-7) fail_msg("energy %d is off by %g of the largest displacement", energy, worst);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_loads_bend_a_block_as_linear_finite_elements_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
