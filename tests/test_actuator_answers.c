// Actuators against known answers that need a scene: a muscle under load, Lame's sphere under refinement,
// rest states that do not depend on the time step; and what actuators and water cost the solver beside a
// passive body.
#include "build.h"

static ct_settings still_settings(double time_step) {
    ct_settings settings = ct_settings_default();
    memset(settings.gravity, 0, sizeof settings.gravity);
    settings.time_step = time_step;
    settings.duration = 100 * time_step;
    settings.tolerance = 1e-12;
    settings.max_iterations = 400;
    return settings;
}

// ---- a bar under load

// Consistent forces of a traction t along x on the end face at x = length.
static void pull_end(ct_scene* scene, const ct_mesh* mesh, double length, double t) {
    int *tri = NULL, ntri = 0;
    must(ct_mesh_surface(mesh, &tri, &ntri, NULL), NULL);
    for (int k = 0; k < ntri; k++) {
        const double *a = mesh->x + 3 * tri[3 * k], *b = mesh->x + 3 * tri[3 * k + 1],
                     *c = mesh->x + 3 * tri[3 * k + 2];
        if (fabs(a[0] - length) + fabs(b[0] - length) + fabs(c[0] - length) > 1e-9) continue;
        const double area = 0.5 * fabs((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]));
        ct_force_def def = ct_force_def_default();
        def.kind = CT_FORCE_PER_NODE;
        def.vector[0] = t * area / 3;
        must(ct_scene_add_force(scene, tri + 3 * k, 3, &def, NULL), NULL);
    }
    ct_free(tri);
}

// Without lateral effects the stretch l of a bar under the traction t is E (l - 1) + k (l - (1 - a)) = t,
// pulled or pushed.
static void muscle_carries_a_load_as_the_balance_says(void** state) {
    const double E = 2e4, k = 3e4;
    const struct {
        double activation, load;
    } cases[] = {{0.3, 0}, {0.3, 4e3}, {0.3, 9e3}, {0.5, 12e3}, {0.2, -8e2}, {0, 5e3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ct_settings settings = still_settings(10);
        ct_scene* scene = new_scene(&settings);
        ct_mesh* mesh = NULL;
        must(ct_mesh_box(&mesh, (double[]){0.6, 0.2, 0.2}, (int[]){6, 2, 2}, NULL), NULL);
        ct_body_def body = ct_body_def_default();
        body.mesh = mesh;
        body.material.energy = CT_ENERGY_COROTATED;
        body.material.young = E, body.material.poisson = 0;
        ct_error error = {0};
        must(ct_scene_add_body(scene, &body, NULL, &error), &error);
        pin_plane(scene, 0, 0);
        pull_end(scene, mesh, 0.6, cases[i].load);
        ct_muscle_def def = ct_muscle_def_default();
        const double points[] = {0, 0.1, 0.1, 0.6, 0.1, 0.1};
        def.points = points, def.npoint = 2, def.radius = 1, def.stiffness = k,
        def.activation = cases[i].activation;
        must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
        sim s = start(scene, 1);
        steps(&s, 5);
        const double stretch = (E + k * (1 - cases[i].activation) + cases[i].load) / (E + k);
        for (int v = 0; v < node_count(&s); v++)
            if (!(fabs(ct_state_positions(s.state)[3 * v] - stretch * ct_model_rest(s.model)[3 * v]) < 1e-9))
                fail_msg("activation %g, load %g: node %d at %g", cases[i].activation, cases[i].load, v,
                         ct_state_positions(s.state)[3 * v]);
        ct_mesh_free(mesh);
        stop(&s);
    }
}

// ---- a hollow sphere

// A cube of n^3 cells without its middle third, blown up to the shell between the radii a and b.
static ct_mesh* shell(int n, double a, double b) {
    ct_mesh *full = NULL, *mesh = NULL;
    must(ct_mesh_box(&full, (double[]){2, 2, 2}, (int[]){n, n, n}, NULL), NULL);
    const double third = 1.0 / 3, slack = 1e-9;
    int ntet = 0, *tet = calloc(4 * (size_t)full->ntet, sizeof(int));
    for (int i = 0; i < 3 * full->nvert; i++) full->x[i] -= 1;
    for (int t = 0; t < full->ntet; t++) {
        double far = 0;
        for (int k = 0; k < 12; k++) far = fmax(far, fabs(full->x[3 * full->tet[4 * t + k / 3] + k % 3]));
        if (far > third + slack) memcpy(tet + 4 * ntet++, full->tet + 4 * t, 4 * sizeof(int));
    }
    for (int v = 0; v < full->nvert; v++) {
        double* x = full->x + 3 * v;
        const double s = fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2])),
                     norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        const double r = a + (b - a) * (s - third) / (1 - third);
        for (int k = 0; norm > 0 && k < 3; k++) x[k] *= r / norm;
    }
    must(ct_mesh_create(&mesh, full->nvert, full->x, ntet, tet, 0, NULL, NULL), NULL);
    ct_mesh_repair(mesh);  // drops the nodes inside
    ct_mesh_free(full);
    free(tet);
    return mesh;
}

static ct_scene* balloon(const ct_mesh* mesh, const ct_settings* settings, double young, double poisson,
                         double pressure) {
    ct_scene* scene = new_scene(settings);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.young = young, body.material.poisson = poisson;
    ct_error error = {0};
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    ct_cavity_def def = ct_cavity_def_default();
    def.pressure = pressure;
    must(ct_scene_add_cavity(scene, &def, NULL, &error), &error);
    return scene;
}

// A sphere of triangles, of radius a.
static ct_mesh* skin(int n, double a) {
    ct_mesh *full = NULL, *mesh = NULL;
    must(ct_mesh_box(&full, (double[]){2, 2, 2}, (int[]){n, n, n}, NULL), NULL);
    int *tri = NULL, ntri = 0;
    must(ct_mesh_surface(full, &tri, &ntri, NULL), NULL);
    must(ct_mesh_create(&mesh, full->nvert, full->x, 0, NULL, ntri, tri, NULL), NULL);
    ct_mesh_repair(mesh);
    for (int v = 0; v < mesh->nvert; v++) {
        double norm = 0;
        for (int k = 0; k < 3; k++) norm += pow(mesh->x[3 * v + k] -= 1, 2);
        for (int k = 0; k < 3; k++) mesh->x[3 * v + k] *= a / sqrt(norm);
    }
    ct_mesh_free(full);
    ct_free(tri);
    return mesh;
}

// The share by which the pressure p widens the volume inside a balloon, with its pressure and rest volume
// checked.
static double widened(const ct_mesh* mesh, double E, double nu, double p, double a, int n) {
    ct_settings settings = still_settings(10);
    settings.tolerance = 1e-9;
    sim s = start(balloon(mesh, &settings, E, nu, p), 0);
    steps(&s, 3);
    double volume, rest, pressure;
    must(ct_state_cavity(s.model, s.state, 0, &volume, &rest, &pressure), NULL);
    assert_true(pressure == p && fabs(rest / (4.0 / 3 * acos(-1) * pow(a, 3)) - 1) < 14.0 / (n * n));
    stop(&s);
    return volume / rest - 1;
}

// Thick wall (Lame): the inner radius grows by u = p a^3/(b^3 - a^3) ((1 - 2 nu) a + (1 + nu) b^3/(2 a^2)) /
// E; thin wall, here a sheet of thickness t: by u = p a^2 (1 - nu)/(2 E t). The volume inside grows by the
// share 3 u/a; the error falls with the square of the mesh size.
static void pressure_widens_spheres_as_known_in_the_limit(void** state) {
    const double E = 2e4, nu = 0.3, p = 0.02, a = 0.05, b = 0.1, t = ct_material_default().thickness;
    const double thick =
        p * pow(a, 3) / (pow(b, 3) - pow(a, 3)) * ((1 - 2 * nu) * a + (1 + nu) * pow(b, 3) / (2 * a * a)) / E;
    const double thin = p * a * a * (1 - nu) / (2 * E * t);
    for (int sheet = 0; sheet < 2; sheet++) {
        double before = 0, error = 0;
        for (int n = 6; n <= 24; n *= 2) {
            ct_mesh* mesh = sheet ? skin(n, a) : shell(n, a, b);
            before = error;
            error = fabs(widened(mesh, E, nu, p, a, n) / (3 * (sheet ? thin : thick) / a) - 1);
            print_message("%s wall, n = %d: error %.2e\n", sheet ? "thin" : "thick", n, error);
            ct_mesh_free(mesh);
        }
        assert_true(log2(before / error) > 1.7);
        assert_true(error < (sheet ? 0.01 : 0.03));
    }
}

// ---- rest states

typedef enum actuator { NONE, MUSCLE, CELLS, CAVITY, WATER } actuator;

static ct_scene* actuated(actuator kind, const ct_settings* settings) {
    ct_error error = {0};
    if (kind == CAVITY) {
        ct_mesh* mesh = shell(6, 0.06, 0.1);
        ct_scene* scene = balloon(mesh, settings, 2e4, 0.35, 0);
        must(ct_scene_add_actuator_control(scene, "pressure", 0, &error), &error);
        ct_mesh_free(mesh);
        return scene;
    }
    ct_scene* scene = new_scene(settings);
    ct_material material = ct_material_default();
    material.young = 1e5;
    add_box(scene, (double[]){1, 0.2, 0.2}, (int[]){15, 3, 3}, &material);
    pin_plane(scene, 0, 0);
    if (kind == MUSCLE) {
        ct_muscle_def def = ct_muscle_def_default();
        const double points[] = {0, 0.05, 0.1, 1, 0.05, 0.1};
        def.points = points, def.npoint = 2, def.radius = 0.1, def.stiffness = 2e5;
        must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
    } else if (kind == CELLS) {
        ct_selector half = {.kind = CT_SELECT_BOX, .body = -1, .a = {-1, 0.06, -1}, .b = {2, 1, 1}};
        int *nodes = NULL, count = 0;
        must(ct_scene_select(scene, &half, &nodes, &count, &error), &error);
        ct_chamber_def def = ct_chamber_def_default();
        def.stiffness = 2e5, def.nodes = nodes, def.count = count;
        must(ct_scene_add_chamber(scene, &def, NULL, &error), &error);
        ct_free(nodes);
    } else if (kind == WATER) {
        ct_water_def def = ct_water_def_default();
        def.density = 500;  // the beam sags
        must(ct_scene_set_water(scene, &def, &error), &error);
    }
    if (kind == MUSCLE || kind == CELLS)
        must(ct_scene_add_actuator_control(scene, "actuator", 0, &error), &error);
    return scene;
}

static const double strength[] = {[NONE] = 0, [MUSCLE] = 0.3, [CELLS] = 0.5, [CAVITY] = 4000, [WATER] = 0};

// Of a node; of the balloon, which is free to turn as a whole, its distance from the first node.
static double coordinate(const sim* s, actuator kind, int i) {
    const double *x = ct_state_positions(s->state), *at = x + 3 * (i / 3);
    return kind == CAVITY ? hypot(hypot(at[0] - x[0], at[1] - x[1]), at[2] - x[2]) : x[i];
}

static void rest_does_not_depend_on_the_time_step(void** state) {
    for (actuator kind = MUSCLE; kind <= CAVITY; kind++) {
        sim s[2];
        for (int k = 0; k < 2; k++) {
            const ct_settings settings = still_settings(k ? 40 : 2);
            s[k] = start(actuated(kind, &settings), 1);
            for (int i = 0; i < 30; i++)
                must(ct_step(s[k].model, s[k].work, s[k].state, &strength[kind], NULL), NULL);
        }
        double apart = 0, moved = 0;
        for (int i = 0; i < 3 * node_count(&s[0]); i++) {
            apart = fmax(apart, fabs(coordinate(&s[0], kind, i) - coordinate(&s[1], kind, i)));
            moved = fmax(moved, fabs(ct_state_positions(s[0].state)[i] - ct_model_rest(s[0].model)[i]));
        }
        print_message("moved %g, apart %g\n", moved, apart);
        assert_true(moved > 2e-3 && apart < 1e-8);
        stop(&s[0]), stop(&s[1]);
    }
}

// ---- cost

// Solves of 40 steps while the actuator goes to its strength.
static int count_solves(actuator kind, bool active) {
    ct_settings settings = ct_settings_default();
    if (kind == CAVITY) memset(settings.gravity, 0, sizeof settings.gravity);
    sim s = start(actuated(kind, &settings), 1);
    int solves = 0;
    if (kind == CAVITY) {  // a free body: shaken, so that the passive one moves too
        double *v = calloc(3 * (size_t)node_count(&s), sizeof(double)),
               *x = calloc(3 * (size_t)node_count(&s), sizeof(double));
        memcpy(x, ct_state_positions(s.state), 3 * (size_t)node_count(&s) * sizeof(double));
        for (int i = 0; i < node_count(&s); i++)
            v[3 * i] = 8 * x[3 * i], v[3 * i + 1] = -8 * x[3 * i + 1], v[3 * i + 2] = 5 * x[3 * i];
        must(ct_state_set(s.state, x, v), NULL);
        free(v), free(x);
    }
    for (int i = 0; i < 40; i++) {
        ct_step_report report;
        const double control = active ? strength[kind] * (i + 1) / 40 : 0;
        must(ct_step(s.model, s.work, s.state, &control, &report), NULL);
        solves += report.solves;
    }
    stop(&s);
    return solves;
}

static void actuated_bodies_cost_less_than_twice_a_passive_one(void** state) {
    static const char* const names[] = {"nothing", "a muscle", "cells", "pressure", "water"};
    const int passive = count_solves(NONE, false);
    for (actuator kind = MUSCLE; kind <= WATER; kind++) {
        const int base = kind == CAVITY ? count_solves(CAVITY, false) : passive,
                  active = count_solves(kind, true);
        print_message("%s: %d solves, passive %d\n", names[kind], active, base);
        assert_true(active <= 2 * base);
    }
}

// ---- what a state tells of its cavities

static void cavities_are_reported(void** state) {
    const ct_settings settings = still_settings(0.02);
    sim s = start(actuated(CAVITY, &settings), 1);
    double volume, rest, pressure;
    must(ct_state_cavity(s.model, s.state, 0, &volume, &rest, &pressure), NULL);
    assert_true(volume == rest && pressure == 0 &&
                fabs(rest / (4.0 / 3 * acos(-1) * pow(0.06, 3)) - 1) < 0.25);
    must(ct_step(s.model, s.work, s.state, (double[]){4000}, NULL), NULL);
    must(ct_state_cavity(s.model, s.state, 0, &volume, NULL, &pressure), NULL);
    assert_true(volume > rest && pressure == 4000);
    assert_int_equal(ct_state_cavity(s.model, s.state, 1, &volume, NULL, NULL), CT_BAD_ARGUMENT);
    stop(&s);
    s = start(actuated(MUSCLE, &settings), 1);
    assert_int_equal(ct_state_cavity(s.model, s.state, 0, &volume, NULL, NULL), CT_BAD_ARGUMENT);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(muscle_carries_a_load_as_the_balance_says),
        cmocka_unit_test(pressure_widens_spheres_as_known_in_the_limit),
        cmocka_unit_test(rest_does_not_depend_on_the_time_step),
        cmocka_unit_test(actuated_bodies_cost_less_than_twice_a_passive_one),
        cmocka_unit_test(cavities_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
