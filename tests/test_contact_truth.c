// Friction between meshes against known answers: a grid of angles and coefficients, the angle at which a
// block begins to slide, blocks that stick and do not creep, and Euler's rope over a drum.
#include "contact_scenes.h"
#include "repeat.h"

#define PI 3.14159265358979323846

typedef enum support { PLANE, MESH, SOFT, SUPPORTS } support;
static const char* const support_name[SUPPORTS] = {"plane", "mesh", "soft block"};

static const double flat[3] = {0.2, 0.06, 0.16};

// A turned sheet of triangles at y = 0, as an obstacle.
static void add_mesh_floor(ct_scene* scene) {
    const double half_turn = -PI / 4, turn = 0.15;
    ct_mesh* mesh = NULL;
    must(ct_mesh_sheet(&mesh, (const double[2]){4, 1.5}, (const int[2]){23, 9}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++) mesh->x[3 * v] -= 3.2, mesh->x[3 * v + 1] -= 0.75;
    ct_obstacle_def def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_MESH, def.mesh = mesh, def.contact_thickness = thickness,
    def.translate[1] = -thickness;
    // from z up to y up, then about y
    def.rotate[0] = cos(turn) * cos(half_turn), def.rotate[1] = cos(turn) * sin(half_turn),
    def.rotate[2] = sin(turn) * cos(half_turn), def.rotate[3] = -sin(turn) * sin(half_turn);
    add_obstacle(scene, &def);
    ct_mesh_free(mesh);
}

// A long block whose lower face is held; its upper face is at y = 0 but for what the other one presses in.
static void add_soft_floor(ct_scene* scene) {
    const double size[3] = {1.5, 0.1, 0.4}, at[3] = {-1.2, -0.1 - thickness, -0.1};
    const int body = add_block(scene, size, (const int[3]){14, 2, 4}, 1e6, at, NULL);
    hold_below(scene, body, -0.1 - thickness + 1e-6);
}

// A block under gravity that leans by `angle`: down the slope is -x.
static sim leaning(support on, double angle, double friction, double tolerance) {
    ct_settings settings = contact_settings(0.01, friction, tolerance);
    settings.gravity[0] = -gravity * sin(angle), settings.gravity[1] = -gravity * cos(angle);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, flat, (const int[3]){3, 1, 2}, NULL), NULL);
    ct_body_def def = body_of(mesh, 1e6);
    def.material.damping_stiffness = 2e-3;
    def.translate[1] = clearance;
    add_def(scene, &def);
    ct_mesh_free(mesh);
    if (on == PLANE) add_floor(scene, 0);
    else if (on == MESH) add_mesh_floor(scene);
    else add_soft_floor(scene);
    return start(scene, 1);
}

// ---- a grid of angles and coefficients -----------------------------------------------------

static void every_cell_of_a_grid_sticks_or_slides_as_it_should(support on, double tolerance) {
    int wrong = 0, cells = 0;
    for (int degrees = 5; degrees <= 40; degrees += 5)
        for (double friction = 0.1; friction < 0.65; friction += 0.1) {
            const double angle = degrees * PI / 180,
                         expected = gravity * (sin(angle) - friction * cos(angle));
            sim s = leaning(on, angle, friction, 1e-8);
            double a[3];
            steps(&s, 20);
            acceleration(&s, 0, 10, a);
            const bool slides = tan(angle) > friction;
            const double error =
                slides ? fabs(-a[0] / expected - 1) : fabs(measure(&s, 0).velocity[0]) / (0.3 * gravity);
            cells++;
            if (error < tolerance) {
                stop(&s);
                continue;
            }
            print_message("%s, %d degrees, friction %.1f: should %s, error %g\n", support_name[on], degrees,
                          friction, slides ? "slide" : "stick", error);
            wrong++;
            stop(&s);
        }
    assert_int_equal(cells, 48);
    assert_int_equal(wrong, 0);
}

static void a_grid_on_a_plane(void** state) {
    every_cell_of_a_grid_sticks_or_slides_as_it_should(PLANE, 2e-3);
}
static void a_grid_on_a_mesh(void** state) { every_cell_of_a_grid_sticks_or_slides_as_it_should(MESH, 2e-3); }
static void a_grid_on_a_soft_block(void** state) {
    every_cell_of_a_grid_sticks_or_slides_as_it_should(SOFT, 0.02);
}

// ---- the angle of friction -----------------------------------------------------------------

// Comes to rest with more friction first; the states before and after the change have the same bits but for
// what friction does.
static void a_block_on_triangles_slides_below_the_friction_angle_and_sticks_above(void** state) {
    const double angle = 20 * PI / 180;
    sim rest = leaning(MESH, angle, 0.6, 1e-10);
    steps(&rest, 200);
    for (int slides = 0; slides < 2; slides++) {
        const double friction = tan(angle) * (slides ? 0.999 : 1.001);
        sim s = leaning(MESH, angle, friction, 1e-10);
        must(ct_state_restore(s.state, ct_state_bytes(rest.state), ct_state_size(rest.state)), NULL);
        double a[3];
        steps(&s, 200);
        acceleration(&s, 0, 50, a);
        const double expected = gravity * (sin(angle) - friction * cos(angle));
        if (slides) below(fabs(-a[0] / expected - 1), 1e-3, "relative error of a small acceleration");
        else below(fabs(measure(&s, 0).velocity[0]), 1e-9, "speed of a block that sticks");
        stop(&s);
    }
    stop(&rest);
}

static void a_block_that_sticks_on_triangles_does_not_creep(void** state) {
    for (int soft = 0; soft < 2; soft++) {
        sim s = leaning(soft ? SOFT : MESH, 15 * PI / 180, 0.5, 1e-10);
        steps(&s, 200);
        const moved before = measure(&s, 0);
        steps(&s, REPEAT(500, 50));
        const moved after = measure(&s, 0);
        for (int a = 0; a < 3; a++)
            below(fabs(after.center[a] - before.center[a]), 1e-11, "creep in five seconds");
        stop(&s);
    }
}

// ---- the capstan ---------------------------------------------------------------------------

enum { ROPE_CELLS = 48 };

static void pull_end(ct_scene* scene, int first, double force) {
    const int nodes[2] = {first, first + ROPE_CELLS + 1};
    ct_force_def def = ct_force_def_default();
    ct_error error = {0};
    def.vector[1] = -force;
    must(ct_scene_add_force(scene, nodes, 2, &def, &error), &error);
}

// A strip over half a drum, its ends pulled down by 2 N and `ratio` times that. The nodes lie where the
// middles of the edges between them touch.
static sim drum(double friction, double ratio) {
    const double radius = 0.1, kept = 5e-4, turn = PI / 32, tail = 0.5 * (ROPE_CELLS - 32), pull = 2;
    ct_settings settings = contact_settings(0.005, friction, 1e-8);
    memset(settings.gravity, 0, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_sheet(&mesh, (const double[2]){ROPE_CELLS, 1}, (const int[2]){ROPE_CELLS, 1}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++) {
        const double at = mesh->x[3 * v], z = 0.02 * mesh->x[3 * v + 1];
        const double angle = PI - turn * fmin(fmax(at - tail, 0), 32), r = (radius + kept) / cos(turn / 2),
                     beyond = r * turn * (fmax(tail - at, 0) + fmax(at - tail - 32, 0));
        mesh->x[3 * v] = r * cos(angle), mesh->x[3 * v + 1] = r * sin(angle) - beyond, mesh->x[3 * v + 2] = z;
    }
    ct_body_def def = body_of(mesh, 2e7);
    def.material.thickness = 1e-3, def.material.bending = 0;
    def.material.damping_mass = 20, def.material.damping_stiffness = 2e-3;
    def.contact_thickness = kept;
    def.translate[1] = 1e-5;
    add_def(scene, &def);
    pull_end(scene, 0, pull);
    pull_end(scene, ROPE_CELLS, pull * ratio);
    ct_mesh_free(mesh);
    ct_obstacle_def round = ct_obstacle_def_default();
    round.kind = CT_OBSTACLE_CAPSULE, round.radius = radius;
    round.ends[0][2] = -0.3, round.ends[1][1] = 0, round.ends[1][2] = 0.3;
    add_obstacle(scene, &round);
    return start(scene, 1);
}

// The heavier end holds up to exp(mu pi) times the lighter one.
static void a_rope_slips_on_a_drum_at_the_ratio_of_euler(void** state) {
    const double frictions[2] = {0.2, 0.4};
    for (int k = 0; k < 2; k++)
        for (int slips = 0; slips < 2; slips++) {
            const double ratio = exp(frictions[k] * PI) * (slips ? 1.03 : 0.97);
            sim s = drum(frictions[k], ratio);
            steps(&s, 30);
            const double* v = ct_state_velocities(s.state);
            const double end = -v[3 * ROPE_CELLS + 1];
            if (slips) below(0.05, end, "speed of the heavier end");
            else below(fabs(end), 1e-6, "speed of the heavier end");
            stop(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_on_a_plane),
        cmocka_unit_test(a_grid_on_a_mesh),
        cmocka_unit_test(a_grid_on_a_soft_block),
        cmocka_unit_test(a_block_on_triangles_slides_below_the_friction_angle_and_sticks_above),
        cmocka_unit_test(a_block_that_sticks_on_triangles_does_not_creep),
        cmocka_unit_test(a_rope_slips_on_a_drum_at_the_ratio_of_euler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
