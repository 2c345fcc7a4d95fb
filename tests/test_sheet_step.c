// Thin sheets in time: momentum, equilibrium, a pendulum, few solves, and gradients of whole rollouts.
#include "rollout.h"

static int add_sheet(ct_scene* scene, const double size[2], const int cells[2], double arch,
                     const ct_material* material) {
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    int body;
    must(ct_mesh_sheet(&mesh, size, cells, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++) {
        const double along = mesh->x[3 * v] / size[0];
        mesh->x[3 * v + 2] = 4 * arch * along * (1 - along);
    }
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material = *material;
    must(ct_scene_add_body(scene, &def, &body, &error), &error);
    ct_mesh_free(mesh);
    return body;
}

static void pin_nodes(ct_scene* scene, const int* nodes, int count) {
    ct_error error = {0};
    must(ct_scene_drive(scene, nodes, count, NULL, &error), &error);
}

static ct_material cloth(void) {
    ct_material material = ct_material_default();
    material.young = 2e5, material.poisson = 0.3, material.density = 400, material.thickness = 5e-4;
    return material;
}

// ---- what a sheet is in a model ------------------------------------------------------------

static void a_sheet_has_the_mass_and_the_surface_of_its_triangles(void** state) {
    const ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    const double box[3] = {0.1, 0.1, 0.1}, size[2] = {0.4, 0.3};
    const int box_cells[3] = {1, 1, 1}, cells[2] = {4, 3};
    const ct_material material = cloth();
    const int first = add_sheet(scene, size, cells, 0, &material);
    add_box(scene, box, box_cells, &material);
    add_sheet(scene, size, cells, 0, &material);
    ct_body_info body;
    must(ct_scene_body_info(scene, first, &body), NULL);
    assert_int_equal(body.ntri, 24);
    assert_true(fabs(body.volume - 0.12 * material.thickness) < 1e-12);
    sim s = start(scene, 1);
    ct_model_info info = ct_model_summary(s.model);
    assert_int_equal(info.ntet, 6);
    assert_int_equal(info.ntri, 48);
    assert_int_equal(info.nsurface, 24 + 12 + 24);
    assert_true(fabs(info.mass - 400 * (1e-3 + 2 * 0.12 * material.thickness)) < 1e-12);
    const int *tri = ct_model_tris(s.model), *surface = ct_model_surface(s.model),
              *owner = ct_model_surface_owner(s.model);
    assert_memory_equal(tri, surface, 72 * sizeof(int));
    assert_memory_equal(tri + 72, surface + 108, 72 * sizeof(int));
    for (int t = 0; t < info.nsurface; t++) assert_int_equal(owner[t], t < 24 ? 0 : t < 36 ? 1 : 2);
    double mass = 0, values[54];
    for (int v = 0; v < 20; v++) mass += ct_model_node_mass(s.model)[v];
    assert_true(fabs(mass - 400 * 0.12 * material.thickness) < 1e-15);
    ct_model_get(s.model, CT_QUANTITY_YOUNG, values);
    for (int e = 0; e < 54; e++) assert_true(values[e] == material.young);
    stop(&s);
}

static void the_projective_solver_refuses_sheets_of_other_energies(void** state) {
    ct_settings settings = ct_settings_default();
    settings.solver = CT_SOLVER_PROJECTIVE;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {0.4, 0.3};
    const int cells[2] = {1, 1};
    ct_material material = cloth();
    material.energy = CT_ENERGY_STVK;
    add_sheet(scene, size, cells, 0, &material);
    ct_model* model;
    ct_error error;
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "newton"));
    ct_scene_free(scene);
}

static void bad_sheets_are_refused(void** state) {
    const ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0};
    const int fan[9] = {0, 1, 2, 0, 1, 3, 0, 1, 4};
    ct_mesh* mesh;
    must(ct_mesh_create(&mesh, 5, x, 0, NULL, 3, fan, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    ct_error error;
    def.mesh = mesh;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_MESH);
    assert_non_null(strstr(error.message, "manifold"));
    ct_mesh_free(mesh);
    must(ct_mesh_create(&mesh, 3, x, 0, NULL, 1, fan, NULL), NULL);
    def.mesh = mesh;
    def.material.thickness = 0;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "material.thickness");
    def.material.thickness = 1e-3, def.material.bending = -1;
    assert_int_equal(ct_scene_add_body(scene, &def, NULL, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "material.bending");
    ct_mesh_free(mesh);
    ct_scene_free(scene);
}

// ---- physics -------------------------------------------------------------------------------

static void a_free_shell_keeps_its_momentum(void** state) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[1] = settings.gravity[2] = 0;
    settings.tolerance = 1e-10;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {0.4, 0.3};
    const int cells[2] = {6, 4};
    ct_material material = cloth();
    material.damping_stiffness = 1e-3;
    add_sheet(scene, size, cells, 0.1, &material);
    sim s = start(scene, 1);
    const int n = node_count(&s);
    double *x = calloc(3 * (size_t)n, 8), *v = calloc(3 * (size_t)n, 8);
    memcpy(x, ct_model_rest(s.model), 3 * (size_t)n * 8);
    for (int i = 0; i < n; i++) v[3 * i] = 1, v[3 * i + 1] = 3 * x[3 * i + 2], v[3 * i + 2] = 5 * x[3 * i];
    must(ct_state_set(s.state, x, v), NULL);
    ct_measure before, after;
    before = ct_state_measure(s.model, s.state);
    steps(&s, 20);
    after = ct_state_measure(s.model, s.state);
    for (int a = 0; a < 3; a++)
        assert_true(fabs(after.momentum[a] - before.momentum[a]) < 1e-8 * before.mass);
    assert_true(after.elastic > 0);
    free(x), free(v);
    stop(&s);
}

// A strip that hangs from its upper edge is longer by rho g L^2 / (2 E).
static void a_hanging_cloth_stretches_under_its_weight(void** state) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0, settings.gravity[1] = -9.81;
    settings.time_step = 1;
    settings.tolerance = 1e-9;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {0.2, 0.5};
    const int cells[2] = {4, 10};
    ct_material material = cloth();
    material.young = 1e7, material.poisson = 0;
    add_sheet(scene, size, cells, 0, &material);
    pin_plane(scene, 1, 0.5);
    sim s = start(scene, 1);
    steps(&s, 20);
    const double* x = ct_state_positions(s.state);
    const double expected = material.density * 9.81 * 0.25 / (2 * material.young);
    double mean = 0;  // the nodes of a row carry more and less, by how many triangles they have
    for (int i = 0; i <= 4; i++) mean -= x[3 * i + 1] / 5;
    assert_true(fabs(mean / expected - 1) < 3e-4);
    stop(&s);
}

// A stiff plate on a line of hinges swings like a rigid body: T = 2 pi sqrt(I / (m g s)), I and s from the
// lumped masses.
static void a_stiff_plate_swings_like_a_pendulum(void** state) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0, settings.gravity[1] = -9.81;
    settings.time_step = 2e-3;
    settings.integrator = CT_INTEGRATOR_BDF2;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {0.2, 0.5};
    const int cells[2] = {2, 5};
    ct_material material = cloth();
    material.young = 1e9, material.thickness = 5e-3;
    add_sheet(scene, size, cells, 0, &material);
    pin_plane(scene, 1, 0.5);
    sim s = start(scene, 1);
    const int n = node_count(&s), tip = node_at(&s, 0, 0, 0);
    double *x = calloc(3 * (size_t)n, 8), *v = calloc(3 * (size_t)n, 8), inertia = 0, moment = 0;
    for (int i = 0; i < n; i++) {
        const double* rest = ct_model_rest(s.model) + 3 * i;
        const double arm = 0.5 - rest[1], m = ct_model_node_mass(s.model)[i];
        x[3 * i] = rest[0], x[3 * i + 1] = 0.5 - arm * cos(0.05), x[3 * i + 2] = arm * sin(0.05);
        inertia += m * arm * arm, moment += m * arm;
    }
    must(ct_state_set(s.state, x, v), NULL);
    const double period = 2 * M_PI * sqrt(inertia / (9.81 * moment)) * (1 + 0.05 * 0.05 / 16);
    double crossing[2] = {0}, before = x[3 * tip + 2];
    int found = 0;
    for (int k = 0; k < 1000 && found < 2; k++) {
        steps(&s, 1);
        const double now = ct_state_positions(s.state)[3 * tip + 2];
        if ((now < 0) != (before < 0)) crossing[found++] = (k + before / (before - now)) * settings.time_step;
        before = now;
    }
    assert_int_equal(found, 2);
    assert_true(fabs(2 * (crossing[1] - crossing[0]) / period - 1) < 1e-3);
    free(x), free(v);
    stop(&s);
}

// A cloth falls from two pinned corners: no step is halved, few solves a step, and energy is only lost.
static void a_swinging_cloth_takes_few_solves(void** state) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0, settings.gravity[1] = -9.81;
    settings.time_step = 1.0 / 60;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {1, 1};
    const int cells[2] = {20, 20};
    ct_material material = cloth();
    add_sheet(scene, size, cells, 0, &material);
    const int corners[2] = {0, 20};
    pin_nodes(scene, corners, 2);
    sim s = start(scene, 1);
    ct_measure now = ct_state_measure(s.model, s.state);
    double energy = now.kinetic + now.elastic + now.gravitational;
    int solves = 0, substeps = 0, count = 90;
    for (int k = 0; k < count; k++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        solves += report.solves, substeps += report.substeps;
        now = ct_state_measure(s.model, s.state);
        const double total = now.kinetic + now.elastic + now.gravitational;
        assert_true(total < energy + 1e-6 * fabs(now.gravitational));
        energy = total;
    }
    assert_int_equal(substeps, count);
    assert_true(solves < 10 * count);
    stop(&s);
}

// ---- a factor made anew within steps ---------------------------------------------------------

// A cloth that is thrown up around (at, at) so that the whole crumples.
static sim thrown_start_at(double at, int cells, double speed, ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.integrator = integrator;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {1, 1};
    const int both[2] = {cells, cells};
    ct_material material = cloth();
    material.young = 1e6, material.thickness = 1e-3, material.density = 300;
    add_sheet(scene, size, both, 0, &material);
    sim s = start(scene, 1);
    const int n = node_count(&s);
    double* v = calloc(3 * (size_t)n, sizeof(double));
    const double* x = ct_model_rest(s.model);
    for (int i = 0; i < n; i++)
        if (hypot(x[3 * i] - at, x[3 * i + 1] - at) < 0.25) v[3 * i + 2] = speed;
    must(ct_state_set(s.state, x, v), NULL);
    free(v);
    return s;
}

static sim thrown_start(int cells, double speed, ct_integrator integrator) {
    return thrown_start_at(0.5, cells, speed, integrator);
}

// Solves a step of whole steps; *refactors: factors that were made, a step.
static double count_solves(sim* s, int count, double* refactors) {
    int solves = 0, factors = 0;
    for (int k = 0; k < count; k++) {
        ct_step_report report;
        must(ct_step(s->model, s->work, s->state, NULL, &report), NULL);
        assert_int_equal(report.substeps, 1);
        solves += report.solves, factors += report.refactors;
    }
    *refactors = (double)factors / count;
    return (double)solves / count;
}

// How one of them crumples is a matter of chance, and so are its 20 to 50 solves; their mean is less so.
static void crumpling_cloths_take_few_solves(void** state) {
    const double at[3] = {0.5, 0.25, 0};
    double solves = 0;
    for (int k = 0; k < 3; k++) {
        double refactors;
        sim s = thrown_start_at(at[k], 20, 10, CT_INTEGRATOR_EULER);
        solves += count_solves(&s, REPEAT(60, 10), &refactors) / 3;
        assert_true(refactors > 0.5);
        stop(&s);
    }
    assert_true(solves < REPEAT(42, 60));  // its first steps, the hardest, take more
}

static void a_hanging_cloth_takes_few_solves(void** state) {
    ct_scene* scene = NULL;
    ct_error error = {0};
    double refactors;
    must(ct_scene_load(&scene, CT_SOURCE_DIR "/scenes/cloth.json", &error), &error);
    sim s = start(scene, 1);
    const double solves = count_solves(&s, REPEAT(150, 10), &refactors);
    assert_true(solves < 25);
    assert_true(refactors < 1);
    stop(&s);
}

// The state tells where the factor was made, within a step or not, and what it owes: scratch may be thrown
// away between any two steps.
static void a_crumpling_cloth_resumes_to_the_same_bits(void** state) {
    for (int k = 0; k < 2; k++) {
        sim s = thrown_start(8, 10, k ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER);
        ct_state* other;
        must(ct_state_create(&other, s.model, NULL), NULL);
        must(ct_state_copy(other, s.state), NULL);
        int refactors = 0;
        for (int i = 0; i < 15; i++) {
            ct_step_report report;
            ct_work* fresh;
            must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
            refactors += report.refactors;
            must(ct_work_create(&fresh, s.model, 1, NULL), NULL);
            must(ct_step(s.model, fresh, other, NULL, &report), NULL);
            ct_work_free(fresh);
            assert_memory_equal(ct_state_bytes(s.state), ct_state_bytes(other), ct_state_size(other));
        }
        assert_true(refactors > 5);
        ct_state_free(other);
        stop(&s);
    }
}

static void crumpling_gradients_are_the_same_bits_whatever_the_tape_keeps(void** state) {
    static const int budget[] = {0, 1, 4, 7};
    double* first = NULL;
    for (int k = 0; k < 4; k++) {
        sim s = thrown_start(8, 10, CT_INTEGRATOR_EULER);
        const size_t state_size = ct_state_size(s.state);
        rollout r = rollout_start(s, 14, (size_t)budget[k] * state_size);
        const size_t bytes = (size_t)r.size * sizeof(double);
        evaluate_gradient(&r);
        assert_true(r.refreshed > 5);
        if (!first) first = memcpy(malloc(bytes), r.gradient, bytes);
        else assert_memory_equal(first, r.gradient, bytes);
        rollout_stop(&r);
    }
    free(first);
}

// ---- gradients -----------------------------------------------------------------------------

static rollout shell_start(ct_energy energy, ct_integrator integrator, bool damped, bool solid) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.02, settings.integrator = integrator;
    settings.tolerance = 1e-13, settings.max_iterations = 400, settings.max_substep_depth = 6;
    ct_scene* scene = new_scene(&settings);
    const double size[2] = {0.4, 0.3}, box[3] = {0.1, 0.1, 0.1};
    const int cells[2] = {3, 2}, one[3] = {1, 1, 1};
    ct_material material = cloth();
    material.energy = energy, material.young = 2e4, material.thickness = 0.01, material.density = 300;
    add_sheet(scene, size, cells, 0.05, &material);
    if (solid) add_box(scene, box, one, &material);
    const int corners[2] = {0, 8};
    pin_nodes(scene, corners, 2);
    rollout r = rollout_start(start(scene, 1), 6, 0);
    uint64_t seed = 3;
    for (int t = 0; t < r.ntet; t++) {
        r.value[r.first[YOUNG] + t] *= 1 + 0.5 * noise(&seed);
        r.value[r.first[POISSON] + t] += 0.1 * noise(&seed);
        r.value[r.first[DENSITY] + t] *= 1 + 0.3 * noise(&seed);
        r.value[r.first[BENDING] + t] *= 1 + 0.3 * noise(&seed);
        r.value[r.first[THICKNESS] + t] *= 1 + 0.3 * noise(&seed);
        r.value[r.first[DAMPING_MASS] + t] = damped ? 0.5 + 0.2 * noise(&seed) : 0;
        r.value[r.first[DAMPING_STIFFNESS] + t] = damped ? 0.01 + 0.005 * noise(&seed) : 0;
    }
    for (int v = 0; v < r.nvert; v++) {
        double *x = r.value + r.first[POSITION] + 3 * v, *u = r.value + r.first[VELOCITY] + 3 * v;
        for (int a = 0; a < 3 && v != 0 && v != 8; a++)
            x[a] += 0.005 * noise(&seed), u[a] += 0.3 * noise(&seed);
    }
    return r;
}

static void gradients_match_differences(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++)
        for (int damped = 0; damped < 2; damped++) {
            char name[64];
            snprintf(name, sizeof name, "%s, %s", ct_energy_name((ct_energy)energy),
                     damped ? "damped, bdf2" : "euler");
            rollout r = shell_start((ct_energy)energy, damped ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER,
                                    damped, energy == 0);
            assert_true(check_slices(&r, 0.02, 1e-7, 1, name));
            rollout_stop(&r);
        }
}

// The common edge of two triangles is held; one of them turns about it, from just before half a turn to
// beyond.
static rollout flap_start(ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.02, settings.integrator = integrator, settings.tolerance = 1e-13;
    ct_scene* scene = new_scene(&settings);
    const double x[12] = {0, 0, 0, 0.1, 0, 0, 0.04, 0.08, 0, 0.05, -0.09, 0}, angle = 2.9, speed = 30;
    const int tri[6] = {0, 1, 2, 1, 0, 3}, held[2] = {0, 1};
    ct_mesh* mesh;
    ct_error error = {0};
    must(ct_mesh_create(&mesh, 4, x, 0, NULL, 2, tri, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material = cloth();
    def.material.young = 2e4, def.material.thickness = 0.01;
    must(ct_scene_add_body(scene, &def, NULL, &error), &error);
    ct_mesh_free(mesh);
    pin_nodes(scene, held, 2);
    rollout r = rollout_start(start(scene, 1), 4, 0);
    double *place = r.value + r.first[POSITION] + 9, *velocity = r.value + r.first[VELOCITY] + 9;
    for (int t = 0; t < 2; t++)
        r.value[r.first[DAMPING_MASS] + t] = 0.5, r.value[r.first[DAMPING_STIFFNESS] + t] = 0.01;
    place[1] = -0.09 * cos(angle), place[2] = 0.09 * sin(angle);
    velocity[1] = 0.09 * speed * sin(angle), velocity[2] = 0.09 * speed * cos(angle);
    return r;
}

// Notes the hinge's angle, but for whole turns.
static void watch_fold(int step, const ct_state* state, void* user) {
    const double* x = ct_state_positions(state) + 9;
    ((double*)user)[step] = atan2(x[2], -x[1]) + atan2(x[-1], x[-2]);
}

static void gradients_match_differences_when_a_hinge_folds_through(void** state) {
    for (int k = 0; k < 2; k++) {
        rollout r = flap_start(k ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER);
        assert_true(check_slices(&r, 0.02, 1e-7, 1, k ? "fold, bdf2" : "fold, euler"));
        double angle[8];
        must(ct_rollout(r.sim.model, r.sim.work, r.tape, r.sim.state, r.nstep, NULL, watch_fold, angle, NULL),
             NULL);
        assert_true(sin(angle[0]) > 0 && sin(angle[1]) < 0 && cos(angle[1]) < 0);
        rollout_stop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_has_the_mass_and_the_surface_of_its_triangles),
        cmocka_unit_test(the_projective_solver_refuses_sheets_of_other_energies),
        cmocka_unit_test(bad_sheets_are_refused),
        cmocka_unit_test(a_free_shell_keeps_its_momentum),
        cmocka_unit_test(a_hanging_cloth_stretches_under_its_weight),
        cmocka_unit_test(a_stiff_plate_swings_like_a_pendulum),
        cmocka_unit_test(a_swinging_cloth_takes_few_solves),
        cmocka_unit_test(crumpling_cloths_take_few_solves),
        cmocka_unit_test(a_hanging_cloth_takes_few_solves),
        cmocka_unit_test(a_crumpling_cloth_resumes_to_the_same_bits),
        cmocka_unit_test(crumpling_gradients_are_the_same_bits_whatever_the_tape_keeps),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(gradients_match_differences_when_a_hinge_folds_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
