// Contact with friction against known answers: inclines, stopping distances, rolling, impact, obstacles that
// move.
#include "contact_scenes.h"
#include "repeat.h"

#define PI 3.14159265358979323846

static const double block_size[3] = {0.3, 0.2, 0.1};
static const int fine[3] = {6, 6, 3}, coarse[3] = {2, 2, 1};
static const double slope = 20 * PI / 180;

static double incline_acceleration(double friction) { return gravity * (sin(slope) - friction * cos(slope)); }

// ---- inclines ------------------------------------------------------------------------------

// A block on the plane y = 0 under tilted gravity: down the slope is -x.
static ct_scene* tilted_gravity(double friction, double tolerance, const int cells[3]) {
    ct_settings settings = contact_settings(0.01, friction, tolerance);
    settings.gravity[0] = -gravity * sin(slope), settings.gravity[1] = -gravity * cos(slope);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0};
    add_block(scene, block_size, cells, 3e5, at, NULL);
    return scene;
}

// The same, turned: gravity along -y, plane and block at an angle.
static ct_scene* tilted_plane(double friction, double tolerance, const int cells[3]) {
    const ct_settings settings = contact_settings(0.01, friction, tolerance);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, block_size, cells, NULL), NULL);
    ct_body_def def = body_of(mesh, 3e5);
    def.rotate[0] = cos(slope / 2), def.rotate[3] = sin(slope / 2);
    def.translate[0] = -clearance * sin(slope), def.translate[1] = clearance * cos(slope);
    add_def(scene, &def);
    ct_mesh_free(mesh);
    add_floor(scene, slope);
    return scene;
}

static const double frictions[6] = {0.05, 0.1, 0.16, 0.22, 0.3, 0.36};

// Sideways motions of the landing die down slowly, like the square of the time: they turn friction out of the
// slope's direction.
static void a_block_slides_down_an_incline_with_the_acceleration_of_coulomb(void** state) {
    for (int k = 0; k < 6; k++) {
        ct_scene* scene = tilted_gravity(frictions[k], 1e-12, fine);
        add_floor(scene, 0);
        sim s = start(scene, 1);
        double a[3];
        steps(&s, 200);
        acceleration(&s, 0, 10, a);
        below(fabs(-a[0] / incline_acceleration(frictions[k]) - 1), 1e-9,
              "relative error of the acceleration");
        below(fabs(a[1]), 1e-9, "acceleration away from the plane");
        stop(&s);
    }
}

static void a_tilted_plane_is_the_same_as_tilted_gravity(void** state) {
    for (int k = 0; k < 6; k++) {
        sim s = start(tilted_plane(frictions[k], 1e-12, fine), 1);
        double a[3];
        steps(&s, 200);
        acceleration(&s, 0, 10, a);
        const double along = -a[0] * cos(slope) - a[1] * sin(slope),
                     away = -a[0] * sin(slope) + a[1] * cos(slope);
        below(fabs(along / incline_acceleration(frictions[k]) - 1), 1e-9,
              "relative error of the acceleration");
        below(fabs(away), 1e-9, "acceleration away from the plane");
        stop(&s);
    }
}

// Largest speed of the nodes in contact: they stick exactly, whatever tolerance the others are solved to.
static double speed_of_touching(const sim* s) {
    const double *v = ct_state_velocities(s->state), *force = ct_state_contact_forces(s->state);
    double most = 0;
    int touching = 0;
    for (int i = 0; i < node_count(s); i++) {
        if (!(force[3 * i + 1] > 0)) continue;
        touching++;
        for (int a = 0; a < 3; a++) most = fmax(most, fabs(v[3 * i + a]));
    }
    assert_true(touching > 3);
    return most;
}

// Begins from a state that has come to rest with more friction: no landing pushes it.
static void a_block_sticks_above_the_friction_angle_and_slides_below(void** state) {
    ct_scene* scene = tilted_gravity(0.5, 1e-10, fine);
    add_floor(scene, 0);
    sim rest = start(scene, 1);
    steps(&rest, 300);
    for (int slides = 0; slides < 2; slides++) {
        const double friction = tan(slope) * (slides ? 0.999 : 1.001);
        scene = tilted_gravity(friction, 1e-10, fine);
        add_floor(scene, 0);
        sim s = start(scene, 1);
        must(ct_state_set(s.state, ct_state_positions(rest.state), ct_state_velocities(rest.state)), NULL);
        double a[3];
        steps(&s, 400);
        acceleration(&s, 0, 50, a);
        if (slides)
            below(fabs(-a[0] / incline_acceleration(friction) - 1), 1e-6,
                  "relative error of a small acceleration");
        else below(speed_of_touching(&s), 1e-15, "speed of the nodes that stick");
        stop(&s);
    }
    stop(&rest);
}

// Nodes in contact stay where they are to the last bit; the others feel the solver's tolerance, and stay
// within it.
static void a_block_that_sticks_does_not_creep(void** state) {
    ct_scene* scene = tilted_gravity(0.4, ct_settings_default().tolerance, coarse);
    add_floor(scene, 0);
    sim s = start(scene, 1);
    const int n = node_count(&s);
    steps(&s, 300);
    double *before = malloc(3 * (size_t)n * sizeof(double)), touching = 0, others = 0;
    memcpy(before, ct_state_positions(s.state), 3 * (size_t)n * sizeof(double));
    steps(&s, REPEAT(10000, 1000));
    const double *x = ct_state_positions(s.state), *force = ct_state_contact_forces(s.state);
    for (int i = 0; i < 3 * n; i++) {
        double* most = force[3 * (i / 3) + 1] > 0 ? &touching : &others;
        *most = fmax(*most, fabs(x[i] - before[i]));
    }
    below(touching, 1e-15, "drift of nodes in contact over 10,000 steps");
    below(others, 1e-8, "drift of the others");
    free(before);
    stop(&s);
}

// Triangles that are not aligned with the block's: turned within the plane by 0.3.
static sim meshed_incline(double friction, double tolerance) {
    const double size[2] = {3, 1.5}, half_turn = -PI / 4, turn = 0.15;
    ct_scene* scene = tilted_gravity(friction, tolerance, coarse);
    ct_mesh* mesh = NULL;
    must(ct_mesh_sheet(&mesh, size, (const int[2]){17, 9}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++) mesh->x[3 * v] -= 2.2, mesh->x[3 * v + 1] -= 0.75;
    ct_obstacle_def def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_MESH, def.mesh = mesh, def.contact_thickness = thickness,
    def.translate[1] = -thickness;
    // from z up to y up, then about y
    const double up[4] = {cos(half_turn), sin(half_turn), 0, 0}, about[4] = {cos(turn), 0, sin(turn), 0};
    def.rotate[0] = about[0] * up[0], def.rotate[1] = about[0] * up[1], def.rotate[2] = about[2] * up[0],
    def.rotate[3] = -about[2] * up[1];
    add_obstacle(scene, &def);
    ct_mesh_free(mesh);
    return start(scene, 1);
}

static void a_meshed_incline_is_as_good_as_a_plane(void** state) {
    const double friction = 0.2;
    sim s = meshed_incline(friction, 1e-10);
    double a[3];
    steps(&s, 60);
    acceleration(&s, 0, 20, a);
    // nodes of the mesh come under the block and share its weight, each giving way by a thousandth of what
    // the block does
    below(fabs(-a[0] / incline_acceleration(friction) - 1), 1e-5, "relative error of the acceleration");
    below(fabs(a[1]) / gravity, 1e-5, "relative acceleration away from the plane");
    stop(&s);
}

static void a_block_that_sticks_on_a_mesh_does_not_creep(void** state) {
    sim s = meshed_incline(0.5, 1e-10);
    steps(&s, 150);
    const moved before = measure(&s, 0);
    steps(&s, 100);
    const moved after = measure(&s, 0);
    for (int a = 0; a < 3; a++) below(fabs(after.center[a] - before.center[a]), 1e-12, "creep in a second");
    stop(&s);
}

// ---- stopping ------------------------------------------------------------------------------

static double stopping_distance(double h, double speed, double friction) {
    const ct_settings settings = contact_settings(h, friction, 1e-8);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0}, velocity[3] = {speed, 0, 0};
    add_block(scene, block_size, (const int[3]){4, 3, 2}, 1e6, at, velocity);
    add_floor(scene, 0);
    sim s = start(scene, 1);
    const double from = measure(&s, 0).center[0];
    steps(&s, (int)(1.2 * speed / (friction * gravity) / h));
    const ct_step_report report = step_once(&s);
    assert_true(report.contacts > 0 && report.sticking == report.contacts);
    const double distance = measure(&s, 0).center[0] - from;
    stop(&s);
    return distance;
}

// The end-of-step velocities of implicit Euler cut h v/2 off the way: the error is of first order.
static void a_block_stops_after_the_distance_of_coulomb(void** state) {
    const double speed = 2, friction = 0.4, exact = speed * speed / (2 * friction * gravity);
    double error[3];
    for (int k = 0; k < 3; k++) {
        const double h = 0.01 / (1 << k);
        const double distance = stopping_distance(h, speed, friction);
        error[k] = exact - distance;
        below(fabs(error[k] - h * speed / 2) / exact, 5e-4, "distance less that of implicit Euler, relative");
    }
    below(fabs(error[2]) / exact, 0.01, "relative error of the stopping distance");
    below(fabs(error[0] / error[1] - 2), 0.1, "convergence");
    below(fabs(error[1] / error[2] - 2), 0.1, "convergence");
}

// ---- balls ---------------------------------------------------------------------------------

static double energy_of(const sim* s) {
    ct_measure m = ct_state_measure(s->model, s->state);
    return m.kinetic + m.elastic + m.gravitational;
}

// Steps on, and the energy may only fall.
static void dissipate(sim* s, int count, double scale) {
    double before = energy_of(s);
    for (int i = 0; i < count; i++) {
        steps(s, 1);
        const double after = energy_of(s);
        below((after - before) / scale, 1e-9, "gain of energy in a step");
        before = after;
    }
}

// Thrown without spin, a ball slips until v = omega r, with v0 / (1 + I / (m r^2)) left: 5/7 of a full ball's
// v0. Facets cost a little.
static void a_ball_that_slips_begins_to_roll(void** state) {
    const double radius = 0.1, speed = 1;
    const ct_settings settings = contact_settings(0.005, 0.3, 1e-8);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, radius + clearance, 0}, velocity[3] = {speed, 0, 0};
    add_ball(scene, radius, 0.025, 3e6, at, velocity);
    add_floor(scene, 0);
    sim s = start(scene, 1);
    steps(&s, 16);
    below(fabs(measure(&s, 0).velocity[0] - (speed - 0.3 * gravity * 0.08)), 0.02,
          "deceleration while it slips");
    steps(&s, 24);
    double v = 0, spin = 0;
    for (int i = 0; i < 40; i++)
        steps(&s, 1), v += measure(&s, 0).velocity[0] / 40, spin += measure(&s, 0).spin[2] / 40;
    below(fabs(-spin * radius / v - 1), 0.03, "rolling without slip");
    below(fabs(v - 5.0 / 7 * speed), 0.05, "speed of rolling");
    stop(&s);
}

static void a_dropped_ball_never_gains_energy(void** state) {
    for (int k = 0; k < 2; k++) {  // straight and bouncing sideways, with friction
        const double radius = 0.1, height = 0.2;
        const ct_settings settings = contact_settings(0.002, 0.5, 1e-9);
        ct_scene* scene = new_scene(&settings);
        const double at[3] = {0, radius + height, 0}, velocity[3] = {k ? 1.5 : 0, 0, 0};
        add_ball(scene, radius, 0.04, 3e5, at, velocity);
        add_floor(scene, 0);
        sim s = start(scene, 1);
        const double scale = measure(&s, 0).mass * gravity * height;
        dissipate(&s, 101, scale);
        const double down = measure(&s, 0).velocity[1];
        double up = 0;
        for (int i = 0; i < 60; i++) dissipate(&s, 1, scale), up = fmax(up, measure(&s, 0).velocity[1]);
        below(up / fmax(-down, 1e-9), 1, "restitution");
        below(0.2, up / 1.98, "it bounces");
        stop(&s);
    }
}

// A block on its edge falls over, with friction, and comes to rest on a face.
static void a_tumbling_block_never_gains_energy(void** state) {
    const ct_settings settings = contact_settings(0.005, 0.4, 1e-9);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, (const double[3]){0.1, 0.2, 0.1}, (const int[3]){2, 4, 2}, NULL), NULL);
    ct_body_def def = body_of(mesh, 3e5);
    def.rotate[0] = cos(0.3), def.rotate[3] = sin(0.3), def.translate[1] = 0.05, def.angular_velocity[2] = 2,
    def.angular_velocity[0] = 3;
    def.velocity[0] = -1;
    add_def(scene, &def);
    ct_mesh_free(mesh);
    add_floor(scene, 0);
    sim s = start(scene, 1);
    const double scale = measure(&s, 0).mass * gravity * 0.1;
    dissipate(&s, 400, scale);
    below(fabs(measure(&s, 0).center[1] - 0.05), 2e-3, "height of rest on a long face");
    stop(&s);
}

// ---- obstacles that move -------------------------------------------------------------------

static ct_motion moving(ct_keyframe key[2], double duration) {
    key[0].time = 0, key[1].time = duration;
    return (ct_motion){.key = key, .nkey = 2};
}

static void a_conveyor_drags_a_block_to_its_speed(void** state) {
    const double friction = 0.3, belt = 1.2;
    const ct_settings settings = contact_settings(0.01, friction, 1e-10);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0};
    add_block(scene, block_size, coarse, 3e5, at, NULL);
    ct_keyframe key[2] = {{0}, {.translate = {0, 0, 4 * belt}}};
    const ct_motion motion = moving(key, 4);
    ct_obstacle_def def = ct_obstacle_def_default();
    def.motion = &motion;
    add_obstacle(scene, &def);
    sim s = start(scene, 1);
    double a[3];
    steps(&s, 20);
    acceleration(&s, 0, 15, a);
    below(fabs(a[2] / (friction * gravity) - 1), 1e-4, "relative error of the acceleration on the belt");
    steps(&s, 240);
    below(fabs(measure(&s, 0).velocity[2] - belt), 1e-9, "speed less that of the belt");
    below(hypot(measure(&s, 0).velocity[0], measure(&s, 0).velocity[1]), 1e-9, "speed across the belt");
    stop(&s);
}

// A big roller turns below a small block: its surface carries the block along, omega x r.
static void a_roller_drives_a_block(ct_obstacle_kind kind) {
    const double friction = 0.25, radius = 2, turns = 1.5;
    for (int sign = -1; sign <= 1; sign += 2) {
        const ct_settings settings = contact_settings(0.005, friction, 1e-10);
        ct_scene* scene = new_scene(&settings);
        const double size[3] = {0.06, 0.05, 0.06}, at[3] = {-0.03, 3 * clearance, -0.03};
        add_block(scene, size, (const int[3]){2, 2, 2}, 1e6, at, NULL);
        ct_keyframe key[2] = {{0}, {.rotate = {0, 0, sign * turns}}};
        ct_motion motion = moving(key, 1);
        motion.center[1] = -radius;
        ct_obstacle_def def = ct_obstacle_def_default();
        def.kind = kind, def.radius = radius, def.motion = &motion;
        def.center[1] = def.ends[0][1] = def.ends[1][1] = -radius;
        def.ends[0][2] = -1, def.ends[1][2] = 1;
        add_obstacle(scene, &def);
        sim s = start(scene, 1);
        double a[3];
        steps(&s, 10);
        acceleration(&s, 0, 15, a);
        below(fabs(-sign * a[0] / (friction * gravity) - 1), 0.03,
              "relative error of the acceleration on a roller");
        stop(&s);
    }
}

static void a_turning_sphere_drives_a_block(void** state) { a_roller_drives_a_block(CT_OBSTACLE_SPHERE); }
static void a_turning_capsule_drives_a_block(void** state) { a_roller_drives_a_block(CT_OBSTACLE_CAPSULE); }

// The pusher's force is friction's once the block moves at its speed.
static void a_box_pushes_a_block_before_it(void** state) {
    const double friction = 0.3, speed = 0.4;
    const ct_settings settings = contact_settings(0.005, friction, 1e-9);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0};
    add_block(scene, block_size, (const int[3]){4, 3, 2}, 3e5, at, NULL);
    const int floor = 1 + add_floor(scene, 0);
    ct_keyframe key[2] = {{0}, {.translate = {4 * speed, 0, 0}}};
    const ct_motion motion = moving(key, 4);
    ct_obstacle_def def = ct_obstacle_def_default();
    def.name = "pusher", def.kind = CT_OBSTACLE_BOX, def.motion = &motion, def.contact_thickness = thickness;
    const double half[3] = {0.1, 0.15, 0.2};
    for (int a = 0; a < 3; a++) def.half[a] = half[a];
    def.center[0] = -0.101, def.center[1] = 0.16, def.center[2] = 0.055;
    const int pusher = 1 + add_obstacle(scene, &def);
    add_pair(scene, "pusher", "*", true, 0);
    sim s = start(scene, 1);
    steps(&s, 300);
    const moved m = measure(&s, 0);
    double push = 0, carry = 0;
    const ct_step_report report = step_once(&s);
    for (int c = 0; c < report.ncontact; c++) {
        const ct_contact* contact = &report.contact[c];
        const double sign = contact->a == 0 ? 1 : -1;  // force on the block
        if (contact->b == pusher || contact->a == pusher) push += sign * contact->force[0];
        if (contact->b == floor) carry += sign * contact->force[1];
    }
    below(fabs(m.velocity[0] - speed), 1e-6, "speed less that of the pusher");
    below(fabs(push / (friction * m.mass * gravity) - 1), 1e-5, "relative error of the pusher's force");
    below(fabs(carry / (m.mass * gravity) - 1), 1e-5, "relative error of the floor's force");
    stop(&s);
}

static void a_plane_that_rises_lifts_a_block(void** state) {
    const double speed = 0.5;
    const ct_settings settings = contact_settings(0.005, 0.3, 1e-9);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0};
    add_block(scene, block_size, coarse, 3e5, at, NULL);
    ct_keyframe key[2] = {{0}, {.translate = {0, 4 * speed, 0}}};
    const ct_motion motion = moving(key, 4);
    ct_obstacle_def def = ct_obstacle_def_default();
    def.motion = &motion;
    add_obstacle(scene, &def);
    sim s = start(scene, 1);
    steps(&s, 300);
    const moved m = measure(&s, 0);
    double force = 0;
    for (int i = 0; i < node_count(&s); i++) force += ct_state_contact_forces(s.state)[3 * i + 1];
    below(fabs(m.velocity[1] - speed), 1e-6, "speed less that of the plane");
    below(fabs(force / (m.mass * gravity) - 1), 1e-5, "relative error of its force");
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_slides_down_an_incline_with_the_acceleration_of_coulomb),
        cmocka_unit_test(a_tilted_plane_is_the_same_as_tilted_gravity),
        cmocka_unit_test(a_block_sticks_above_the_friction_angle_and_slides_below),
        cmocka_unit_test(a_block_that_sticks_does_not_creep),
        cmocka_unit_test(a_meshed_incline_is_as_good_as_a_plane),
        cmocka_unit_test(a_block_that_sticks_on_a_mesh_does_not_creep),
        cmocka_unit_test(a_block_stops_after_the_distance_of_coulomb),
        cmocka_unit_test(a_ball_that_slips_begins_to_roll),
        cmocka_unit_test(a_dropped_ball_never_gains_energy),
        cmocka_unit_test(a_tumbling_block_never_gains_energy),
        cmocka_unit_test(a_conveyor_drags_a_block_to_its_speed),
        cmocka_unit_test(a_turning_sphere_drives_a_block),
        cmocka_unit_test(a_turning_capsule_drives_a_block),
        cmocka_unit_test(a_box_pushes_a_block_before_it),
        cmocka_unit_test(a_plane_that_rises_lifts_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
