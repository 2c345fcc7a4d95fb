// Water: derivatives, known answers (buoyancy, terminal velocity, deceleration), stability of light fins,
// loss of energy.
#include "build.h"
#include "model/model.h"
#include "rollout.h"
#include "slope.h"
#include "step/external.h"
#include "step/phi.h"

static const double no_gravity[3] = {0, 0, 0};

static ct_settings settings_with(double time_step, const double gravity[3]) {
    ct_settings settings = ct_settings_default();
    settings.time_step = time_step;
    settings.tolerance = 1e-10;
    if (gravity) memcpy(settings.gravity, gravity, sizeof settings.gravity);
    return settings;
}

static void set_water(ct_scene* scene, const ct_water_def* def) {
    ct_error error = {0};
    must(ct_scene_set_water(scene, def, &error), &error);
}

// ---- derivatives of one step's force -------------------------------------------------------

typedef struct probe {
    sim sim;
    int n;
    double *x_n, *v_n, *x_nm1, *x, *lam;
    ct_family_step step;
    double *base, *direction;  // what is varied, and along what
    double* target;
    int count;
    double* rho;
} probe;

static double* random_vector(int n, double scale, const double* around, uint64_t* seed) {
    double* out = calloc((size_t)n + 8, sizeof(double));
    for (int i = 0; i < n; i++) out[i] = (around ? around[i] : 0) + scale * noise(seed);
    return out;
}

static double* zeros(int n) { return random_vector(n, 0, NULL, &(uint64_t){0}); }

static probe probe_start(double level, bool two_sided, bool second_order) {
    const double size[3] = {0.2, 0.1, 0.1};
    const int cells[3] = {2, 1, 1};
    ct_settings settings = settings_with(0.02, NULL);
    ct_material material = ct_material_default();
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_water_def water = ct_water_def_default();
    const double current[3] = {0.3, -0.2, 0.1};
    memcpy(water.current, current, sizeof current);
    water.level = level;
    water.layer = 0.1;
    water.thrust[2] = 0.4;
    set_water(scene, &water);
    probe p = {.sim = start(scene, 1)};
    p.n = 3 * node_count(&p.sim);
    uint64_t seed = 3;
    const double* rest = ct_model_rest(p.sim.model);
    p.x_n = random_vector(p.n, 0.02, rest, &seed);
    p.x_nm1 = random_vector(p.n, 0.02, rest, &seed);
    p.x = random_vector(p.n, 0.02, rest, &seed);
    p.v_n = random_vector(p.n, 1, NULL, &seed);
    p.lam = random_vector(p.n, 1, NULL, &seed);
    p.rho = calloc((size_t)p.n + 8, sizeof(double));
    for (int f = 0; f < p.sim.model->water.nface; f += 2) p.sim.model->water.two_sided[f] = two_sided;
    p.step = (ct_family_step){.rate = second_order ? ct_rate_bdf2(0.02) : ct_rate_euler(0.02),
                              .x_n = p.x_n,
                              .v_n = p.v_n,
                              .x_nm1 = p.x_nm1};
    return p;
}

static void probe_stop(probe* p) {
    free(p->x_n), free(p->v_n), free(p->x_nm1), free(p->x), free(p->lam), free(p->rho);
    stop(&p->sim);
}

static ct_water_work* work_of(const sim* s) { return s->work->families.of[CT_FAMILY_WATER]; }

static double gradient_of(probe* p) {
    ct_water_begin(&p->sim.model->water, work_of(&p->sim), &p->step);
    memset(p->rho, 0, (size_t)p->n * sizeof(double));
    const double potential =
        ct_water_gradient(&p->sim.model->water, work_of(&p->sim), &p->step, p->x, p->rho);
    double* force = p->sim.work->force;
    memset(force, 0, (size_t)p->n * sizeof(double));
    ct_water_buoyancy(&p->sim.model->water, force);
    return potential;
}

// lam . rho, rho with the constant external force of buoyancy
static double weighted(probe* p) {
    double sum = 0;
    gradient_of(p);
    for (int i = 0; i < p->n; i++) sum += p->lam[i] * (p->rho[i] - p->sim.work->force[i]);
    return sum;
}

static double along(probe* p, double t, double (*f)(probe*)) {
    for (int i = 0; i < p->count; i++) p->target[i] = p->base[i] + t * p->direction[i];
    const double value = f(p);
    memcpy(p->target, p->base, (size_t)p->count * sizeof(double));
    return value;
}

static double weighted_at(void* user, double t) { return along(user, t, weighted); }
static double potential_at(void* user, double t) { return along(user, t, gradient_of); }

// Varies `target` along a random direction; -exact is the derivative of lam . rho that the reverse gives.
static void vary(probe* p, double* target, int count, const double* bar, double scale, double size) {
    uint64_t seed = 11;
    p->target = target;
    p->count = count;
    p->base = malloc((size_t)count * sizeof(double));
    memcpy(p->base, target, (size_t)count * sizeof(double));
    p->direction = random_vector(count, scale, NULL, &seed);
    double exact = 0;
    for (int i = 0; i < count; i++) exact -= bar[i] * p->direction[i];
    assert_slope(weighted_at, p, exact, 0.02, size);
    free(p->base), free(p->direction);
}

static void check_probe(double level, bool two_sided, bool second_order) {
    probe p = probe_start(level, two_sided, second_order);
    ct_model* model = p.sim.model;
    ct_work* work = p.sim.work;
    double size = 0;
    weighted(&p);
    for (int i = 0; i < p.n; i++) size += fabs(p.lam[i] * (p.rho[i] - work->force[i]));

    // rho is the gradient of the potential, the product is its derivative
    double slope = 0, curvature = 0;
    double* product = zeros(p.n);
    double* direction = p.direction = random_vector(p.n, 0.05, NULL, &(uint64_t){7});
    ct_water_product(&model->water, work_of(&p.sim), &p.step, p.x, direction, product);
    for (int i = 0; i < p.n; i++) slope += p.rho[i] * direction[i], curvature += product[i] * p.lam[i];
    p.base = malloc((size_t)p.n * sizeof(double));
    memcpy(p.base, p.x, (size_t)p.n * sizeof(double));
    p.target = p.x;
    p.count = p.n;
    assert_slope(potential_at, &p, slope, 0.05, fabs(gradient_of(&p)) + fabs(slope));
    assert_slope(weighted_at, &p, curvature, 0.05, size);
    free(p.base), free(direction), free(product);

    double *x_bar = zeros(p.n), *v_bar = zeros(p.n), *old_bar = zeros(p.n);
    double density = 0, drag[4] = {0}, thrust[3] = {0}, current[3] = {0}, gravity[3] = {0};
    const ct_sums sums = {.of = {[CT_QUANTITY_WATER_DENSITY] = &density,
                                 [CT_QUANTITY_WATER_DRAG] = drag,
                                 [CT_QUANTITY_WATER_THRUST] = thrust,
                                 [CT_QUANTITY_WATER_CURRENT] = current,
                                 [CT_QUANTITY_GRAVITY] = gravity}};
    const ct_family_bar bar = {.x_n = x_bar, .v_n = v_bar, .x_nm1 = old_bar, .sums = &sums};
    gradient_of(&p);
    ct_water_vjp(&model->water, work_of(&p.sim), &p.step, p.x, p.lam, &bar);
    ct_water_buoyancy_vjp(&model->water, p.lam, &sums);
    vary(&p, p.x_n, p.n, x_bar, 0.05, size);
    vary(&p, p.v_n, p.n, v_bar, 1, size);
    if (second_order) vary(&p, p.x_nm1, p.n, old_bar, 0.05, size);
    vary(&p, &model->water.density, 1, &density, 500, size);
    vary(&p, model->water.drag, 4, drag, 1, size);
    vary(&p, model->water.thrust, 3, thrust, 1, size);
    vary(&p, model->water.current, 3, current, 1, size);
    vary(&p, model->settings.gravity, 3, gravity, 5, size);
    free(x_bar), free(v_bar), free(old_bar);
    probe_stop(&p);
}

static void derivatives_match_differences(void** state) {
    (void)state;
    for (int k = 0; k < 8; k++) check_probe(k & 1 ? 0.05 : NAN, k & 2, k & 4);
}

// ---- still water ---------------------------------------------------------------------------

// The power of the force at the end velocity is never positive, at any velocity and angle and for any curves.
static void still_water_takes_power(void** state) {
    (void)state;
    probe p = probe_start(NAN, true, false);
    uint64_t seed = 23;
    memset(p.sim.model->water.current, 0, sizeof p.sim.model->water.current);
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < p.n; i++) p.v_n[i] = 3 * noise(&seed), p.x[i] = p.x_n[i] + 0.1 * noise(&seed);
        for (int i = 0; i < 4; i++) p.sim.model->water.drag[i] = fmax(0, noise(&seed));
        for (int i = 0; i < 3; i++) p.sim.model->water.thrust[i] = fmax(0, noise(&seed));
        gradient_of(&p);
        const ct_rate rate = p.step.rate;
        double power = 0, size = 0;
        for (int i = 0; i < p.n; i++) {
            const double end = rate.c * p.x[i] - rate.a * p.x_n[i] - rate.b * p.x_nm1[i];
            const double part = -p.rho[i] * end;
            power += part;
            size += fabs(part);
        }
        assert_true(power <= 1e-14 * size);
    }
    probe_stop(&p);
}

// A body as dense as water stays where it is, undeformed, however the scene is turned.
static void neutral_body_rests(void** state) {
    (void)state;
    const double size[3] = {0.3, 0.1, 0.2}, gravity[3] = {2, -9, 1};
    const int cells[3] = {3, 1, 2};
    ct_settings settings = settings_with(0.01, gravity);
    ct_material material = ct_material_default();
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_water_def water = ct_water_def_default();
    set_water(scene, &water);
    sim s = start(scene, 1);
    double* force = calloc(3 * (size_t)node_count(&s), sizeof(double));
    ct_external_forces(s.model, 0, NULL, force);
    for (int i = 0; i < 3 * node_count(&s); i++) assert_true(fabs(force[i]) < 1e-14);
    steps(&s, 50);
    const double *x = ct_state_positions(s.state), *rest = ct_model_rest(s.model);
    for (int i = 0; i < 3 * node_count(&s); i++) assert_true(fabs(x[i] - rest[i]) < 1e-14);
    free(force);
    stop(&s);
}

// Archimedes: the net force is the weight less that of the water displaced, the net moment about the centre
// is zero.
static void buoyancy_is_that_of_the_displaced_water(void** state) {
    (void)state;
    const double size[3] = {0.3, 0.1, 0.2};
    const int cells[3] = {3, 2, 2};
    for (int surface = 0; surface < 2; surface++) {
        ct_settings settings = settings_with(0.01, NULL);
        ct_material material = ct_material_default();
        material.density = 1300;
        ct_scene* scene = new_scene(&settings);
        add_box(scene, size, cells, &material);
        ct_water_def water = ct_water_def_default();
        if (surface) water.level = 10;
        set_water(scene, &water);
        sim s = start(scene, 1);
        const int n = node_count(&s);
        double *force = calloc(3 * (size_t)n, sizeof(double)), *rho = calloc(3 * (size_t)n, sizeof(double)),
               net[3] = {0}, moment = 0;
        ct_external_forces(s.model, 0, NULL, force);
        const ct_family_step step = {
            .rate = ct_rate_euler(0.01), .x_n = s.state->x, .v_n = s.state->v, .x_nm1 = s.state->x_previous};
        ct_water_begin(&s.model->water, work_of(&s), &step);
        ct_water_gradient(&s.model->water, work_of(&s), &step, ct_state_positions(s.state), rho);
        const double* x = ct_state_positions(s.state);
        for (int v = 0; v < n; v++) {
            for (int a = 0; a < 3; a++) net[a] += force[3 * v + a] - rho[3 * v + a];
            moment += (x[3 * v] - 0.15) * (force[3 * v + 1] - rho[3 * v + 1]);
        }
        assert_true(fabs(net[1] + 300 * 0.006 * 9.81) < 1e-12);
        assert_true(fabs(net[0]) + fabs(net[2]) + fabs(moment) < 1e-12);
        free(force), free(rho);
        stop(&s);
    }
}

// ---- known answers -------------------------------------------------------------------------

static double mean_velocity(const sim* s, int axis) {
    ct_measure measure = ct_state_measure(s->model, s->state);
    return measure.momentum[axis] / measure.mass;
}

// Face-on drag of the large faces, and half of the edge-on one of the small faces on either side.
static void plate_falls_at_its_terminal_velocity(void** state) {
    (void)state;
    const double size[3] = {0.2, 0.01, 0.2};
    const int cells[3] = {4, 1, 4};
    ct_settings settings = settings_with(0.01, NULL);
    ct_material material = ct_material_default();
    material.density = 2000;
    material.young = 1e10;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_water_def water = ct_water_def_default();
    water.slow = 1e-6;
    set_water(scene, &water);
    sim s = start(scene, 1);
    steps(&s, 200);
    const double resistance = 0.5 * 1000 * (1.9 * 0.04 + 0.5 * 0.1 * 4 * 0.002),
                 weight = 1000 * 0.0004 * 9.81;
    const double U = sqrt(weight / resistance);
    assert_true(fabs(mean_velocity(&s, 1) + U) < 1e-6 * U);
    stop(&s);
}

// A sheet feels what a thin plate of tets feels: the weight less that of the displaced water against the drag
// of one side.
static void sheet_falls_at_its_terminal_velocity(void** state) {
    (void)state;
    const double size[2] = {0.2, 0.2};
    const int cells[2] = {4, 4};
    const double gravity[3] = {0, 0, -9.81};
    ct_settings settings = settings_with(0.01, gravity);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh;
    ct_error error = {0};
    must(ct_mesh_sheet(&mesh, size, cells, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material.density = 3000;
    def.material.thickness = 0.002;
    def.material.young = 1e9;
    must(ct_scene_add_body(scene, &def, NULL, &error), &error);
    ct_mesh_free(mesh);
    ct_water_def water = ct_water_def_default();
    water.slow = 1e-6;
    set_water(scene, &water);
    sim s = start(scene, 1);
    steps(&s, 200);
    const double U = sqrt(2000 * 0.002 * 9.81 / (0.5 * 1000 * 1.9));
    assert_true(fabs(mean_velocity(&s, 2) + U) < 1e-6 * U);
    stop(&s);
}

static sim stiff_cube(double time_step, double density, const double gravity[3], const double velocity[3]) {
    const double size[3] = {0.1, 0.1, 0.1};
    const int cells[3] = {2, 2, 2};
    ct_settings settings = settings_with(time_step, gravity);
    ct_material material = ct_material_default();
    material.young = 1e10;
    material.density = density;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    int *nodes, count;
    ct_selector all = ct_selector_default();
    must(ct_scene_select(scene, &all, &nodes, &count, NULL), NULL);
    must(ct_scene_set_velocity(scene, nodes, count, velocity, NULL, NULL), NULL);
    ct_free(nodes);
    ct_water_def water = ct_water_def_default();
    water.slow = 1e-6;
    set_water(scene, &water);
    return start(scene, 1);
}

static const double cube_resistance = 0.5 * 1000 * 0.01 * (1.9 + 4 * 0.5 * 0.1);  // kg/m

// Without other forces m dU/dt = -k U^2, U = U0 / (1 + k U0 t / m), which the scheme meets at any step size.
static void coasting_cube_slows_down_as_it_must(void** state) {
    (void)state;
    const double velocity[3] = {1, 0, 0};
    for (int k = 0; k < 3; k++) {
        sim s = stiff_cube(0.04 / (1 << k), 1000, no_gravity, velocity);
        steps(&s, 10 << k);
        const double exact = 1 / (1 + cube_resistance * 0.4);
        assert_true(fabs(mean_velocity(&s, 0) - exact) < 1e-6 * exact);
        stop(&s);
    }
}

// From rest under a constant force U = Ut tanh(F t / (m Ut)), Ut^2 = F / k; on a straight path the scheme is
// of second order.
static void falling_cube_gathers_speed_as_it_must(void** state) {
    (void)state;
    const double rest[3] = {0, 0, 0}, force = 9.81, top = sqrt(force / cube_resistance),
                 exact = top * tanh(force * 0.16 / (2 * top));
    double error[3];
    for (int k = 0; k < 3; k++) {
        sim s = stiff_cube(0.01 / (1 << k), 2000, NULL, rest);
        steps(&s, 16 << k);
        error[k] = fabs(mean_velocity(&s, 1) + exact) / exact;
        stop(&s);
    }
    for (int k = 0; k < 2; k++) assert_true(error[k] / error[k + 1] > 3.8 && error[k] / error[k + 1] < 4.2);
    assert_true(error[2] < 1e-4);
}

// The current carries a neutral body along.
static void current_carries_a_body(void** state) {
    (void)state;
    const double size[3] = {0.1, 0.05, 0.1};
    const int cells[3] = {2, 1, 2};
    ct_settings settings = settings_with(0.02, NULL);
    settings.tolerance = 1e-6;
    ct_material material = ct_material_default();
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_water_def water = ct_water_def_default();
    water.current[2] = 0.5;
    set_water(scene, &water);
    sim s = start(scene, 1);
    steps(&s, 1500);
    assert_true(fabs(mean_velocity(&s, 2) - 0.5) < 0.01);
    stop(&s);
}

// A block of half the density of water comes to rest half immersed.
static void block_floats_half_immersed(void** state) {
    (void)state;
    const double size[3] = {0.2, 0.1, 0.2};
    const int cells[3] = {2, 8, 2};
    ct_settings settings = settings_with(0.02, NULL);
    ct_material material = ct_material_default();
    material.density = 500;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_water_def water = ct_water_def_default();
    water.level = 0.07;
    water.layer = 0.025;
    set_water(scene, &water);
    sim s = start(scene, 1);
    steps(&s, 2000);
    ct_measure measure = ct_state_measure(s.model, s.state);
    assert_true(fabs(measure.center[1] - 0.07) < 1e-3);
    stop(&s);
}

// ---- stability -----------------------------------------------------------------------------

// Of a film of density 10, flapped at one end: drag per step exceeds momentum by far, an explicit force would
// blow up.
static void light_fin_is_stable(void** state) {
    (void)state;
    const double size[3] = {0.1, 0.002, 0.05};
    const int cells[3] = {10, 1, 5};
    ct_settings settings = settings_with(0.02, no_gravity);
    settings.tolerance = 1e-6;
    ct_material material = ct_material_default();
    material.density = 10;
    ct_scene* scene = new_scene(&settings);
    add_box(scene, size, cells, &material);
    ct_error error = {0};
    ct_selector root = {.kind = CT_SELECT_BOX, .body = -1, .a = {-1, -1, -1}, .b = {1e-6, 1, 1}};
    int *nodes, count;
    must(ct_scene_select(scene, &root, &nodes, &count, &error), &error);
    const ct_keyframe key[3] = {{.time = 0}, {.time = 0.25, .rotate = {0, 0, 0.8}}, {.time = 0.5}};
    const ct_motion motion = {.key = key, .nkey = 3, .smooth = true, .repeat = true};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    ct_free(nodes);
    ct_water_def water = ct_water_def_default();
    set_water(scene, &water);
    sim s = start(scene, 1);
    double worst = 0;
    int solves = 0;
    for (int i = 0; i < 300; i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        assert_int_equal(report.substeps, 1);
        solves += report.solves;
        const double* x = ct_state_positions(s.state);
        for (int v = 0; v < node_count(&s); v++) assert_true(hypot(x[3 * v], x[3 * v + 1]) < 0.12);
        for (int f = 0; f < s.model->water.nface; f++) {
            const int* node = s.model->water.face + 3 * f;
            const double mass = s.model->mass[node[0]] + s.model->mass[node[1]] + s.model->mass[node[2]];
            worst = fmax(worst, 0.02 * work_of(&s)->face[f].drag / mass);
        }
    }
    print_message("light fin: drag over momentum in a step up to %.0f, %.1f solves a step\n", worst,
                  solves / 300.0);
    assert_true(worst > 20);
    stop(&s);
}

// The projective solver's constant matrix knows nothing of the water, and arrives at the same motion.
static void solvers_agree_in_water(void** state) {
    (void)state;
    double end[2];
    for (int k = 0; k < 2; k++) {
        const double size[3] = {0.2, 0.02, 0.1};
        const int cells[3] = {4, 1, 2};
        ct_settings settings = settings_with(0.01, NULL);
        settings.solver = k ? CT_SOLVER_PROJECTIVE : CT_SOLVER_NEWTON;
        settings.max_iterations = 10000;
        ct_material material = ct_material_default();
        material.energy = CT_ENERGY_PROJECTIVE;
        material.density = 1500;
        ct_scene* scene = new_scene(&settings);
        add_box(scene, size, cells, &material);
        ct_water_def water = ct_water_def_default();
        water.current[0] = 1;
        set_water(scene, &water);
        sim s = start(scene, 1);
        steps(&s, 30);
        end[k] = ct_state_positions(s.state)[0];
        stop(&s);
    }
    assert_true(fabs(end[0] - end[1]) < 1e-8);
}

static double energy_of(const sim* s) {
    ct_measure measure = ct_state_measure(s->model, s->state);
    return measure.kinetic + measure.elastic;
}

// A soft body that tumbles and wobbles in still water: its energy falls in every step, and faster than
// without water.
static void energy_is_only_lost(void** state) {
    (void)state;
    double left[2];
    for (int wet = 0; wet < 2; wet++) {
        const double size[3] = {0.2, 0.05, 0.1};
        const int cells[3] = {4, 1, 2};
        ct_settings settings = settings_with(0.005, no_gravity);
        ct_material material = ct_material_default();
        material.young = 3e4;
        ct_scene* scene = new_scene(&settings);
        add_box(scene, size, cells, &material);
        ct_water_def water = ct_water_def_default();
        if (wet) set_water(scene, &water);
        sim s = start(scene, 1);
        uint64_t seed = 5;
        const int n = 3 * node_count(&s);
        double* v = random_vector(n, 2, NULL, &seed);
        must(ct_state_set(s.state, ct_model_rest(s.model), v), NULL);
        free(v);
        double before = energy_of(&s);
        for (int i = 0; i < 100; i++) {
            steps(&s, 1);
            const double now = energy_of(&s);
            assert_true(now <= before * (1 + 1e-9));
            before = now;
        }
        left[wet] = before;
        stop(&s);
    }
    assert_true(left[1] < left[0]);
}

// ---- whole rollouts ------------------------------------------------------------------------

static void gradients_of_rollouts_match_differences(void** state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double size[3] = {0.2, 0.05, 0.1};
        const int cells[3] = {3, 1, 2};
        ct_settings settings = settings_with(0.01, NULL);
        settings.tolerance = 1e-14;
        settings.integrator = k & 1 ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER;
        ct_material material = ct_material_default();
        material.young = 1e5;
        material.density = 1200;
        ct_scene* scene = new_scene(&settings);
        add_box(scene, size, cells, &material);
        ct_water_def water = ct_water_def_default();
        water.current[0] = 0.2;
        water.current[2] = -0.1;
        water.slow = 0.05;
        if (k & 2) water.level = 0.03, water.layer = 0.05;
        set_water(scene, &water);
        ct_error error = {0};
        pin_plane(scene, 0, 0);
        must(ct_scene_add_drive_control(scene, "mount", 0, &error), &error);
        ct_selector end = {.kind = CT_SELECT_NEAREST, .body = -1, .a = {0.2, 0.05, 0.1}};
        int *nodes, count;
        must(ct_scene_select(scene, &end, &nodes, &count, &error), &error);
        must(ct_scene_add_force_control(scene, "push", nodes, count, &error), &error);
        ct_free(nodes);
        rollout r = rollout_start(start(scene, 1), 5, 0);
        check_slices(&r, 0.02, 1e-7, 1, k & 2 ? "surface" : "submerged");
        rollout_stop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(still_water_takes_power),
        cmocka_unit_test(neutral_body_rests),
        cmocka_unit_test(buoyancy_is_that_of_the_displaced_water),
        cmocka_unit_test(plate_falls_at_its_terminal_velocity),
        cmocka_unit_test(sheet_falls_at_its_terminal_velocity),
        cmocka_unit_test(coasting_cube_slows_down_as_it_must),
        cmocka_unit_test(falling_cube_gathers_speed_as_it_must),
        cmocka_unit_test(current_carries_a_body),
        cmocka_unit_test(block_floats_half_immersed),
        cmocka_unit_test(light_fin_is_stable),
        cmocka_unit_test(solvers_agree_in_water),
        cmocka_unit_test(energy_is_only_lost),
        cmocka_unit_test(gradients_of_rollouts_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
