// Skeletons: kinematics, rigid-body dynamics with known answers, flesh around bones, gradients of torques and
// joint states.
#include "build.h"

static ct_settings bare_settings(double h, ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.duration = 1;
    settings.integrator = integrator;
    settings.threads = 1;
    settings.tolerance = 1e-11;
    for (int a = 0; a < 3; a++) settings.gravity[a] = a == 1 ? -9.81 : 0;
    return settings;
}

static int add_rod(ct_scene* scene, int parent, ct_joint_kind kind, const double anchor[3],
                   const double axis[3], const double center[3], double mass, double moment, double position,
                   double velocity) {
    ct_error error = {0};
    ct_link_def def = ct_link_def_default();
    def.parent = parent;
    def.joint.kind = kind;
    def.mass = mass;
    for (int a = 0; a < 3; a++) {
        def.joint.anchor[a] = anchor[a];
        def.joint.axis[a] = axis[a];
        def.center[a] = center[a];
        def.inertia[a] = moment;
    }
    def.joint.position = position;
    def.joint.velocity = velocity;
    int link;
    must(ct_scene_add_link(scene, &def, &link, &error), &error);
    return link;
}

// ---- pendulum ------------------------------------------------------------------------------

// theta'' = -(m g d / I) sin theta, by classical Runge-Kutta with small steps.
static double pendulum_reference(double theta, double ratio, double time) {
    int count = 20000;
    double h = time / count, w = 0;
    for (int i = 0; i < count; i++) {
        double k1 = w, l1 = -ratio * sin(theta), k2 = w + h / 2 * l1, l2 = -ratio * sin(theta + h / 2 * k1);
        double k3 = w + h / 2 * l2, l3 = -ratio * sin(theta + h / 2 * k2), k4 = w + h * l3,
               l4 = -ratio * sin(theta + h * k3);
        theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    return theta;
}

static double pendulum_angle(double h, ct_integrator integrator, double time) {
    ct_settings settings = bare_settings(h, integrator);
    ct_scene* scene = new_scene(&settings);
    add_rod(scene, -1, CT_JOINT_REVOLUTE, (double[]){0.3, 1, 0.2}, (double[]){0, 0, 2},
            (double[]){0.3, 0.5, 0.2}, 2, 0.01, 1.2, 0);
    sim s = start(scene, 1);
    steps(&s, (int)lround(time / h));
    double angle = ct_state_coordinates(s.state)[0];
    stop(&s);
    return angle;
}

static void pendulum_converges_to_the_exact_motion(void** unused) {
    double exact = pendulum_reference(1.2, 2 * 9.81 * 0.5 / (2 * 0.25 + 0.01), 0.8);
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        double a = pendulum_angle(0.004, integrator, 0.8) - exact,
               b = pendulum_angle(0.002, integrator, 0.8) - exact;
        print_message("integrator %d: errors %.3g %.3g, order %.2f\n", integrator, a, b, log2(fabs(a / b)));
        assert_true(fabs(log2(fabs(a / b)) - (integrator == CT_INTEGRATOR_EULER ? 1 : 2)) < 0.25);
    }
}

static void torque_gives_the_angular_acceleration_over_inertia(void** unused) {
    ct_settings settings = bare_settings(0.001, CT_INTEGRATOR_EULER);
    settings.gravity[1] = 0;
    ct_scene* scene = new_scene(&settings);
    int link = add_rod(scene, -1, CT_JOINT_REVOLUTE, (double[]){0, 0, 0}, (double[]){0, 1, 0},
                       (double[]){0, 0.4, 0}, 3, 0.7, 0, 0);
    ct_error error = {0};
    must(ct_scene_add_joint_control(scene, "motor", CT_CONTROL_TORQUE, link, &error), &error);
    sim s = start(scene, 1);
    double torque = 0.35, n = 100;
    for (int i = 0; i < n; i++) assert_int_equal(ct_step(s.model, s.work, s.state, &torque, NULL), CT_OK);
    double expected = torque / 0.7 * 0.001 * 0.001 * n * (n + 1) / 2;
    // the chord of an arc falls short by the square of the step's angle
    assert_true(fabs(ct_state_coordinates(s.state)[0] / expected - 1) < 1e-5);
    stop(&s);
}

// ---- chains --------------------------------------------------------------------------------

static sim chain(ct_settings settings, int count, ct_joint_kind kind, double angle) {
    ct_scene* scene = new_scene(&settings);
    for (int k = 0; k < count; k++)
        add_rod(scene, k - 1, kind, (double[]){0.2 * k, 0, 0}, (double[]){0, 0, 1},
                (double[]){0.2 * k + 0.1, 0, 0}, 0.5, 0.002, kind == CT_JOINT_REVOLUTE ? angle : 0, 0);
    return start(scene, 1);
}

// Distance between a link's end and the next one's anchor, and the change of bone lengths, over all links.
static double anchor_error(const sim* s, int count) {
    double worst = 0;
    for (int k = 0; k < count; k++) {
        double R[9], t[3], parent[9], shift[3], end[3], anchor[3];
        must(ct_state_link_pose(s->model, s->state, k, R, t), NULL);
        for (int a = 0; a < 3; a++) anchor[a] = R[3 * a] * 0.2 * k + t[a], end[a] = a ? 0 : 0;
        if (k > 0) {
            must(ct_state_link_pose(s->model, s->state, k - 1, parent, shift), NULL);
            for (int a = 0; a < 3; a++) end[a] = parent[3 * a] * 0.2 * k + shift[a];
        }
        for (int a = 0; a < 3; a++) worst = fmax(worst, fabs(anchor[a] - end[a]));
    }
    return worst;
}

static double total_energy(const sim* s) {
    ct_measure m = ct_state_measure(s->model, s->state);
    return m.kinetic + m.gravitational;
}

static void double_pendulum_keeps_its_energy_to_the_order_of_the_integrator(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        double drift[2];
        for (int i = 0; i < 2; i++) {
            double h = i ? 0.0005 : 0.001;
            sim s = chain(bare_settings(h, integrator), 2, CT_JOINT_REVOLUTE, 0.3);
            double before = total_energy(&s);
            steps(&s, (int)lround(0.3 / h));
            drift[i] = total_energy(&s) - before;
            assert_true(anchor_error(&s, 2) < 1e-13);
            stop(&s);
        }
        print_message("integrator %d: drift %.3g %.3g J, order %.2f\n", integrator, drift[0], drift[1],
                      log2(fabs(drift[0] / drift[1])));
        assert_true(fabs(log2(fabs(drift[0] / drift[1])) - (integrator == CT_INTEGRATOR_EULER ? 1 : 2)) <
                    0.3);
    }
}

static void ball_chain_stays_joined_under_violent_motion(void** unused) {
    ct_settings settings = bare_settings(0.01, CT_INTEGRATOR_EULER);
    settings.tolerance = 1e-8;
    ct_scene* scene = new_scene(&settings);
    for (int k = 0; k < 6; k++)
        add_rod(scene, k - 1, CT_JOINT_BALL, (double[]){0.2 * k, 0, 0}, (double[]){0, 0, 1},
                (double[]){0.2 * k + 0.1, 0, 0}, 0.5, 0.002, 0, 0);
    sim s = start(scene, 1);
    for (int i = 0; i < 300; i++) steps(&s, 1);
    assert_true(anchor_error(&s, 6) < 1e-12);
    ct_measure m = ct_state_measure(s.model, s.state);
    assert_true(m.center[1] < -0.1);  // it hangs
    stop(&s);
}

static void free_tree_conserves_momentum(void** unused) {
    double drift[2];
    for (int i = 0; i < 2; i++) {
        double h = i ? 0.001 : 0.002;
        ct_settings settings = bare_settings(h, CT_INTEGRATOR_EULER);
        settings.gravity[1] = 0;
        ct_scene* scene = new_scene(&settings);
        add_rod(scene, -1, CT_JOINT_FREE, (double[]){0, 0, 0}, (double[]){0, 0, 1}, (double[]){0.1, 0, 0}, 1,
                0.01, 0, 0);
        add_rod(scene, 0, CT_JOINT_REVOLUTE, (double[]){0.2, 0, 0}, (double[]){0, 0, 1},
                (double[]){0.35, 0, 0}, 0.5, 0.004, 0.4, 3);
        add_rod(scene, 1, CT_JOINT_REVOLUTE, (double[]){0.5, 0, 0}, (double[]){0, 1, 0},
                (double[]){0.6, 0, 0.1}, 0.4, 0.003, 0.2, -4);
        sim s = start(scene, 1);
        ct_measure first, last;
        first = ct_state_measure(s.model, s.state);
        steps(&s, (int)lround(0.2 / h));
        last = ct_state_measure(s.model, s.state);
        double momentum = 0, angular = 0, size = 0;
        for (int a = 0; a < 3; a++) {
            momentum += fabs(last.momentum[a] - first.momentum[a]);
            angular += pow(last.angular_momentum[a] - first.angular_momentum[a], 2);
            size += pow(first.angular_momentum[a], 2);
        }
        assert_true(momentum < 1e-9);
        drift[i] = sqrt(angular / size);
        stop(&s);
    }
    print_message("angular momentum drift %.3g %.3g, order %.2f\n", drift[0], drift[1],
                  log2(drift[0] / drift[1]));
    assert_true(fabs(log2(drift[0] / drift[1]) - 1) < 0.3);
}

// ---- gradients -----------------------------------------------------------------------------

typedef struct swing_problem {
    sim sim;
    ct_tape* tape;
    int nstep;
    double loss;
} swing_problem;

static double state_loss(const ct_state* state, int n, int step) {
    double sum = 0;
    const double *x = ct_state_positions(state), *v = ct_state_velocities(state);
    for (int i = 0; i < 3 * n; i++)
        sum += sin(0.7 * i + step) * x[i] + 0.1 * cos(1.3 * i) * v[i] + 0.5 * x[i] * x[i];
    return sum;
}

static void visit(int step, const ct_state* state, void* user) {
    swing_problem* p = user;
    p->loss += state_loss(state, node_count(&p->sim), step);
}

static void seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar, void* user) {
    (void)q_bar;
    swing_problem* p = user;
    const double* x = ct_state_positions(state);
    for (int i = 0; i < 3 * node_count(&p->sim); i++) {
        x_bar[i] += sin(0.7 * i + step) + x[i];
        v_bar[i] += 0.1 * cos(1.3 * i);
    }
}

static double run_loss(swing_problem* p, const double* controls) {
    p->loss = 0;
    must(ct_rollout(p->sim.model, p->sim.work, p->tape, p->sim.state, p->nstep, controls, visit, p, NULL),
         NULL);
    return p->loss;
}

// Central differences of the loss along every control; worst relative error at the best step, and the slope.
static void check_controls(swing_problem* p, int count, double size) {
    double* u = calloc((size_t)count, sizeof *u);
    double* g = calloc((size_t)count, sizeof *g);
    for (int i = 0; i < count; i++) u[i] = size * sin(i + 1.0);
    run_loss(p, u);
    ct_values gradient = {.of = {[CT_QUANTITY_CONTROL] = g}};
    must(ct_backward(p->sim.model, p->sim.work, p->tape, u, seed, p, &gradient, NULL), NULL);
    double error[3] = {0}, scale = 0;
    for (int i = 0; i < count; i++) scale = fmax(scale, fabs(g[i]));
    for (int level = 0; level < 3; level++)
        for (int i = 0; i < count; i += 3) {
            double keep = u[i], eps = size * 0.04 / (1 << 2 * level);
            u[i] = keep + eps;
            double up = run_loss(p, u);
            u[i] = keep - eps;
            double down = run_loss(p, u);
            u[i] = keep;
            error[level] = fmax(error[level], fabs((up - down) / (2 * eps) - g[i]) / scale);
        }
    print_message("errors %.2e %.2e %.2e\n", error[0], error[1], error[2]);
    assert_true(error[2] < 1e-6);
    assert_true(error[2] < 3e-9 || log2(error[0] / error[1]) / 2 > 1.7);
    free(u), free(g);
}

static void torque_gradients_of_a_bare_tree_match_differences(void** unused) {
    ct_settings settings = bare_settings(0.01, CT_INTEGRATOR_BDF2);
    settings.tolerance = 1e-13;
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    add_rod(scene, -1, CT_JOINT_BALL, (double[]){0, 0, 0}, (double[]){0, 0, 1}, (double[]){0.1, 0, 0}, 0.5,
            0.01, 0, 0);
    for (int k = 1; k < 4; k++) {
        add_rod(scene, k - 1, CT_JOINT_REVOLUTE, (double[]){0.2 * k, 0, 0}, (double[]){0.3, k - 2, 1},
                (double[]){0.2 * k + 0.1, 0, 0.05}, 0.5, 0.003, 0.3, 1);
        char name[16];
        snprintf(name, sizeof name, "t%d", k);
        must(ct_scene_add_joint_control(scene, name, CT_CONTROL_TORQUE, k, &error), &error);
    }
    swing_problem p = {.sim = start(scene, 1), .nstep = 15};
    must(ct_tape_create(&p.tape, p.sim.model, p.nstep, 0, NULL), NULL);
    check_controls(&p, 3 * p.nstep, 1.0);
    ct_tape_free(p.tape);
    stop(&p.sim);
}

// ---- thrown bodies -------------------------------------------------------------------------

// A body with the inertia of a sphere, thrown without gravity from a pose: its centre is where it must be,
// and the angle that it has turned by misses omega t by what it returns.
static double thrown(double h, ct_integrator integrator) {
    const double pose[6] = {0.1, 0.2, -0.3, 0.5, -0.4, 0.9}, rate[6] = {1, 2, -0.5, 0.6, -1.2, 0.9},
                 time = 0.8;
    ct_settings settings = bare_settings(h, integrator);
    settings.gravity[1] = 0;
    ct_scene* scene = new_scene(&settings);
    ct_link_def def = ct_link_def_default();
    def.joint.kind = CT_JOINT_FREE;
    memcpy(def.joint.pose, pose, sizeof pose);
    memcpy(def.joint.rate, rate, sizeof rate);
    def.mass = 2;
    for (int a = 0; a < 3; a++) def.inertia[a] = 0.05, def.center[a] = def.joint.anchor[a] = 0.3 * a;
    must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
    sim s = start(scene, 1);
    steps(&s, (int)lround(time / h));
    const double* q = ct_state_coordinates(s.state);
    for (int a = 0; a < 3; a++) assert_true(fabs(q[a] - (pose[a] + rate[a] * time)) < 1e-9);
    // Q exp(-pose) is a rotation about omega
    double before = sqrt(0.25 + 0.16 + 0.81), speed = sqrt(0.36 + 1.44 + 0.81), c = cos(before / 2), p[3],
           turned[3];
    for (int a = 0; a < 3; a++) p[a] = -sin(before / 2) / before * pose[3 + a];
    const double* u = q + 4;
    double w = q[3] * c - (u[0] * p[0] + u[1] * p[1] + u[2] * p[2]), along = 0, length = 0;
    for (int a = 0; a < 3; a++)
        turned[a] =
            q[3] * p[a] + c * u[a] + u[(a + 1) % 3] * p[(a + 2) % 3] - u[(a + 2) % 3] * p[(a + 1) % 3];
    for (int a = 0; a < 3; a++) along += turned[a] * rate[3 + a] / speed, length += turned[a] * turned[a];
    assert_true(fabs(fabs(along) - sqrt(length)) < 1e-9);
    stop(&s);
    return 2 * atan2(along, w) - speed * time;
}

static void thrown_body_moves_and_turns_steadily(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        double a = thrown(0.01, integrator), b = thrown(0.005, integrator);
        print_message("angle is off by %.2e, %.2e: order %.2f\n", a, b, log2(fabs(a / b)));
        assert_true(fabs(a) < 0.03 && log2(fabs(a / b)) > (integrator == CT_INTEGRATOR_EULER ? 0.8 : 1.7));
    }
}

// ---- flesh ---------------------------------------------------------------------------------

// A soft arm with bones along its middle.
static sim fleshy_arm(ct_settings settings, int bones, bool flesh_only, bool control) {
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    ct_material material = ct_material_default();
    material.young = 5e4;
    material.poisson = 0.4;
    int n = 3 * (bones ? bones : 3);
    add_box(scene, (double[]){0.3 * (bones ? bones : 3), 0.2, 0.2}, (int[]){2 * n, 4, 4}, &material);
    for (int k = 0; k < bones && !flesh_only; k++) {
        ct_selector bone = {.kind = CT_SELECT_BOX,
                            .body = -1,
                            .a = {0.3 * k + (k ? 0.06 : -1), 0.07, 0.07},
                            .b = {0.3 * k + 0.24, 0.13, 0.13}};
        int *nodes, count;
        must(ct_scene_select(scene, &bone, &nodes, &count, &error), &error);
        ct_link_def def = ct_link_def_default();
        def.parent = k - 1;
        def.nodes = nodes;
        def.count = count;
        def.joint.kind = k ? CT_JOINT_REVOLUTE : CT_JOINT_FIXED;
        def.joint.anchor[0] = 0.3 * k;
        def.joint.anchor[1] = def.joint.anchor[2] = 0.1;
        must(ct_scene_add_link(scene, &def, NULL, &error), &error);
        ct_free(nodes);
        if (k && control) {
            char name[16];
            snprintf(name, sizeof name, "t%d", k);
            must(ct_scene_add_joint_control(scene, name, CT_CONTROL_TORQUE, k, &error), &error);
        }
    }
    if (flesh_only || !bones) pin_plane(scene, 0, 0);
    return start(scene, 1);
}

static void skeleton_costs_few_more_solves(void** unused) {
    ct_settings settings = bare_settings(0.01, CT_INTEGRATOR_EULER);
    settings.tolerance = 1e-6;
    int solves[2] = {0, 0};
    for (int with = 0; with < 2; with++) {
        sim s = fleshy_arm(settings, 3, !with, false);
        for (int i = 0; i < 40; i++) {
            ct_step_report report;
            assert_int_equal(ct_step(s.model, s.work, s.state, NULL, &report), CT_OK);
            solves[with] += report.solves;
        }
        stop(&s);
    }
    print_message("solves per step: %.1f without, %.1f with a skeleton\n", solves[0] / 40.0,
                  solves[1] / 40.0);
    assert_true(solves[1] <= 1.5 * solves[0]);
}

static void torque_gradients_in_flesh_match_differences(void** unused) {
    ct_settings settings = bare_settings(0.02, CT_INTEGRATOR_EULER);
    settings.tolerance = 1e-13;
    swing_problem p = {.sim = fleshy_arm(settings, 2, false, true), .nstep = 8};
    must(ct_tape_create(&p.tape, p.sim.model, p.nstep, 0, NULL), NULL);
    check_controls(&p, p.nstep, 3.0);
    ct_tape_free(p.tape);
    stop(&p.sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_converges_to_the_exact_motion),
        cmocka_unit_test(torque_gives_the_angular_acceleration_over_inertia),
        cmocka_unit_test(double_pendulum_keeps_its_energy_to_the_order_of_the_integrator),
        cmocka_unit_test(ball_chain_stays_joined_under_violent_motion),
        cmocka_unit_test(free_tree_conserves_momentum),
        cmocka_unit_test(torque_gradients_of_a_bare_tree_match_differences),
        cmocka_unit_test(thrown_body_moves_and_turns_steadily),
        cmocka_unit_test(skeleton_costs_few_more_solves),
        cmocka_unit_test(torque_gradients_in_flesh_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
