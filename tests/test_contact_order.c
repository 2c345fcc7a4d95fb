// Errors of contact in the time step: first order, against a fine reference, on a ball that falls on a sphere
// and on a block that is thrown onto another, both soft.
#include "contact_scenes.h"

static sim ball_on_sphere(double h) {
    const ct_settings settings = contact_settings(h, 0.3, 1e-8);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_sphere(&mesh, 0.05, 0.025, NULL), NULL);
    ct_body_def def = body_of(mesh, 5e4);
    def.material.damping_stiffness = 2e-2;
    def.translate[0] = 0.025, def.translate[1] = 0.155, def.velocity[1] = -0.2;
    add_def(scene, &def);
    ct_mesh_free(mesh);
    ct_obstacle_def round = ct_obstacle_def_default();
    round.kind = CT_OBSTACLE_SPHERE, round.radius = 0.1;
    add_obstacle(scene, &round);
    return start(scene, 1);
}

static sim block_on_block(double h) {
    const ct_settings settings = contact_settings(h, 0.3, 1e-8);
    ct_scene* scene = new_scene(&settings);
    ct_mesh *slab = NULL, *block = NULL;
    must(ct_mesh_box(&slab, (const double[3]){0.3, 0.06, 0.2}, (const int[3]){6, 2, 4}, NULL), NULL);
    must(ct_mesh_box(&block, (const double[3]){0.1, 0.06, 0.08}, (const int[3]){3, 2, 2}, NULL), NULL);
    ct_body_def def = body_of(slab, 1e5);
    def.material.damping_stiffness = 2e-2;
    def.translate[0] = -0.15, def.translate[1] = -0.06, def.translate[2] = -0.1;
    hold_below(scene, add_def(scene, &def), -0.06 + 1e-6);
    def.mesh = block;
    def.rotate[0] = cos(0.05), def.rotate[2] = 0.6 * sin(0.05), def.rotate[3] = 0.8 * sin(0.05);
    def.translate[0] = -0.1, def.translate[1] = 0.008, def.translate[2] = -0.04;
    def.velocity[0] = 0.6, def.velocity[1] = -0.2;
    add_def(scene, &def);
    ct_mesh_free(block);
    ct_mesh_free(slab);
    return start(scene, 1);
}

// Positions after 0.16 s.
static double* positions_at_end(sim (*make)(double h), double h, int* count) {
    sim s = make(h);
    steps(&s, (int)lround(0.16 / h));
    *count = 3 * node_count(&s);
    double* x = malloc((size_t)*count * sizeof(double));
    memcpy(x, ct_state_positions(s.state), (size_t)*count * sizeof(double));
    stop(&s);
    return x;
}

enum { HALVINGS = 3 };

// Root mean square over the nodes. exact: errors at 8, 4, 2 and 1 ms of the method whose normals and weights
// are those of the end of the step.
static void errors_are_of_first_order(sim (*make)(double h), const double exact[HALVINGS + 1]) {
    int count;
    double error[HALVINGS + 1], *reference = positions_at_end(make, 1.25e-4, &count);
    for (int k = 0; k <= HALVINGS; k++) {
        double* x = positions_at_end(make, 8e-3 / (1 << k), &count);
        error[k] = 0;
        for (int i = 0; i < count; i++) error[k] += (x[i] - reference[i]) * (x[i] - reference[i]);
        error[k] = sqrt(error[k] / count);
        free(x);
    }
    free(reference);
    const double order = log2(error[0] / error[HALVINGS]) / HALVINGS;
    below(0.75, order, "order");
    for (int k = 0; k <= HALVINGS; k++)
        below(error[k], 1.25 * exact[k], "error in m, against that of frames at the end of the step");
}

static void a_ball_that_falls_on_a_sphere(void** state) {
    errors_are_of_first_order(ball_on_sphere, (const double[]){9.66e-4, 5.36e-4, 2.63e-4, 1.26e-4});
}

static void a_block_that_is_thrown_onto_a_block(void** state) {
    errors_are_of_first_order(block_on_block, (const double[]){5.79e-4, 3.33e-4, 1.82e-4, 1.06e-4});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_that_falls_on_a_sphere),
        cmocka_unit_test(a_block_that_is_thrown_onto_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
