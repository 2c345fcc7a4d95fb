// Long chains and long runs: the shape that a hanging chain takes, and joints that stay together whatever
// happens to them.
#include "build.h"

// A force on a link acts through a small tet that is part of it: its nodes share the force evenly, so that it
// acts at their centre, and its weight is known.
enum { LINKS = 200 };
static const double link_length = 0.05, link_mass = 0.02, handle_mass = 1e-3, gravity = 9.81;

static ct_settings chain_settings(double h, double tolerance) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.duration = 100;
    settings.threads = 1;
    settings.tolerance = tolerance;
    for (int a = 0; a < 3; a++) settings.gravity[a] = a == 1 ? -gravity : 0;
    return settings;
}

// A tet about `at` with all four nodes on a link.
static void add_handle(ct_scene* scene, const double at[3], const double force[3], int** nodes, int* count) {
    ct_error error = {0};
    const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double x[12], size = 0.005, volume = 8.0 / 3 * size * size * size;
    for (int i = 0; i < 12; i++) x[i] = at[i % 3] + size * corner[i / 3][i % 3];
    ct_mesh* mesh = NULL;
    must(ct_mesh_create(&mesh, 4, x, 1, (int[]){0, 2, 1, 3}, 0, NULL, NULL), NULL);
    ct_mesh_repair(mesh);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.density = handle_mass / volume;
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    ct_mesh_free(mesh);
    ct_selector all = ct_selector_default();
    must(ct_scene_select(scene, &all, nodes, count, &error), &error);
    ct_force_def load = ct_force_def_default();
    load.kind = CT_FORCE_PER_NODE;
    for (int a = 0; a < 3; a++) load.vector[a] = force[a] / 4;
    must(ct_scene_add_force(scene, *nodes, *count, &load, &error), &error);
}

// A chain of rods along x, fixed at the origin, pulled at its free end.
static sim pulled_chain(ct_settings settings, int count, ct_joint_kind kind, const double force[3],
                        double damping) {
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    int *nodes, nnode;
    add_handle(scene, (double[]){count * link_length, 0, 0}, force, &nodes, &nnode);
    for (int k = 0; k < count; k++) {
        ct_link_def def = ct_link_def_default();
        def.parent = k - 1;
        def.joint.kind = kind;
        def.joint.anchor[0] = k * link_length;
        def.joint.damping = damping;
        def.mass = link_mass;
        def.center[0] = (k + 0.5) * link_length;
        for (int a = 0; a < 3; a++) def.inertia[a] = link_mass * link_length * link_length / 12;
        if (k == count - 1) def.nodes = nodes, def.count = nnode;
        must(ct_scene_add_link(scene, &def, NULL, &error), &error);
    }
    ct_free(nodes);
    return start(scene, 1);
}

// Where the start of link k is; k = count: the end of the last.
static void joint_position(const sim* s, int count, int k, double out[3]) {
    double R[9], t[3];
    must(ct_state_link_pose(s->model, s->state, k < count ? k : count - 1, R, t), NULL);
    for (int a = 0; a < 3; a++) out[a] = R[3 * a] * k * link_length + t[a];
}

// The exact shape: moments about a link's start give its direction, along (force at its end - half its
// weight).
static double shape_error(const sim* s, int count, const double force[3]) {
    double at[3] = {0, 0, 0}, worst = 0;
    for (int k = 0; k <= count; k++) {
        double found[3], pull[3] = {force[0], force[1], force[2]};
        joint_position(s, count, k, found);
        for (int a = 0; a < 3; a++) worst = fmax(worst, fabs(found[a] - at[a]));
        pull[1] -= gravity * (handle_mass + link_mass * (count - 1 - k + 0.5));
        double size = sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]);
        for (int a = 0; a < 3; a++) at[a] += link_length * pull[a] / size;
    }
    return worst;
}

// The smooth chain: y = a cosh(x / a) through the lowest point, where the tension is horizontal; a = H /
// (weight per metre).
static double catenary_error(const sim* s, int count, const double force[3]) {
    double end[3], a = force[0] / (gravity * link_mass / link_length), worst = 0;
    double x_low = 0, y_low = 0;
    joint_position(s, count, count, end);
    // at the free end the slope is V / H
    x_low = end[0] - a * asinh((force[1] - gravity * handle_mass) / force[0]);
    y_low = end[1] - a * cosh((end[0] - x_low) / a);
    for (int k = 0; k <= count; k++) {
        double p[3];
        joint_position(s, count, k, p);
        worst = fmax(worst, fabs(p[1] - y_low - a * cosh((p[0] - x_low) / a)));
    }
    return worst;
}

// Lets the chain come to rest with longer and longer steps, whose implicit Euler rule damps what is left.
static sim settle(int count, ct_joint_kind kind, const double force[3], double damping) {
    const struct {
        double h;
        int steps;
    } stages[] = {{0.03, 40}, {0.1, 30}, {0.3, 30}, {2, 60}};
    sim s = {0};
    long solves = 0;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        sim next =
            pulled_chain(chain_settings(stages[i].h, i < 3 ? 1e-4 : 1e-8), count, kind, force, damping);
        if (i) must(ct_state_copy(next.state, s.state), NULL);
        if (i) stop(&s);
        s = next;
        for (int k = 0; k < stages[i].steps && shape_error(&s, count, force) > 1e-9; k++) {
            ct_step_report report;
            ct_status status = ct_step(s.model, s.work, s.state, NULL, &report);
            solves += report.solves;
            if (status != CT_OK)
                fail_msg("step %d of stage %d: residual %g of %g: %s", k, (int)i, report.residual,
                         report.reference, report.message);
        }
        print_message("stage %d: %.2g m from the exact shape, %ld solves\n", (int)i,
                      shape_error(&s, count, force), solves);
    }
    return s;
}

static void chain_of_200_links_hangs_in_the_catenary(void** unused) {
    double weight = gravity * link_mass * LINKS, force[3] = {0.3 * weight, 0.5 * weight, 0},
           length = LINKS * link_length;
    sim s = settle(LINKS, CT_JOINT_REVOLUTE, force, 0.001);
    double smooth = catenary_error(&s, LINKS, force);
    print_message("%.2g m from the catenary of a chain of %g m\n", smooth, length);
    assert_true(shape_error(&s, LINKS, force) < 1e-8);
    assert_true(smooth < 1e-4 * length);
    stop(&s);
}

static void ball_chain_takes_its_shape_in_space(void** unused) {
    int links = 16;
    double weight = gravity * link_mass * links, force[3] = {0.3 * weight, 0.4 * weight, 0.35 * weight};
    sim s = settle(links, CT_JOINT_BALL, force, 0);
    assert_true(shape_error(&s, links, force) < 1e-8);
    stop(&s);
}

// ---- violence ------------------------------------------------------------------------------

static double joint_gap(const sim* s, int count) {
    double worst = 0;
    for (int k = 0; k < count; k++) {
        double R[9], t[3], P[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, p[3] = {0, 0, 0};
        must(ct_state_link_pose(s->model, s->state, k, R, t), NULL);
        if (k) must(ct_state_link_pose(s->model, s->state, k - 1, P, p), NULL);
        for (int a = 0; a < 3; a++) worst = fmax(worst, fabs((R[3 * a] - P[3 * a]) * 0.2 * k + t[a] - p[a]));
        // lengths and angles of the bone: R^T R = I
        for (int i = 0; i < 9; i++) {
            double product = R[i / 3] * R[i % 3] + R[3 + i / 3] * R[3 + i % 3] + R[6 + i / 3] * R[6 + i % 3];
            worst = fmax(worst, fabs(product - (i / 3 == i % 3)));
        }
    }
    return worst;
}

static void joints_hold_through_3000_steps_of_violent_torques(void** unused) {
    enum { COUNT = 5 };
    ct_settings settings = chain_settings(0.01, 1e-6);
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    for (int k = 0; k < COUNT; k++) {
        ct_link_def def = ct_link_def_default();
        char name[16];
        snprintf(name, sizeof name, "t%d", k);
        def.parent = k - 1;
        def.joint.anchor[0] = 0.2 * k;
        def.joint.axis[1] = k % 2;
        def.joint.axis[2] = 1 - k % 2;
        def.mass = 0.5;
        def.center[0] = 0.2 * k + 0.1;
        for (int a = 0; a < 3; a++) def.inertia[a] = 0.002;
        must(ct_scene_add_link(scene, &def, NULL, &error), &error);
        must(ct_scene_add_joint_control(scene, name, CT_CONTROL_TORQUE, k, &error), &error);
    }
    sim s = start(scene, 1);
    double torque[COUNT] = {0}, worst = 0, fastest = 0, previous[COUNT] = {0};
    uint64_t seed = 7;
    for (int i = 0; i < 3000; i++) {
        for (int k = 0; i % 20 == 0 && k < COUNT; k++) torque[k] = 15 * noise(&seed);
        ct_status status = ct_step(s.model, s.work, s.state, torque, NULL);
        if (status != CT_OK) fail_msg("step %d: %s", i, ct_status_text(status));
        const double* q = ct_state_coordinates(s.state);
        for (int k = 0; k < COUNT; k++) {
            fastest = fmax(fastest, fabs(q[k] - previous[k]) / settings.time_step);
            previous[k] = q[k];
        }
        worst = fmax(worst, joint_gap(&s, COUNT));
    }
    print_message("worst gap %.2g, fastest joint %.0f rad/s\n", worst, fastest);
    assert_true(fastest > 20);
    assert_true(worst < 1e-12);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_of_200_links_hangs_in_the_catenary),
        cmocka_unit_test(ball_chain_takes_its_shape_in_space),
        cmocka_unit_test(joints_hold_through_3000_steps_of_violent_torques),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
