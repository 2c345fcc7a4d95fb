// Tets of second order whose surface follows the shape they fill: volumes of known bodies, shapes with sharp
// edges, and a hollow ball under pressure.
#include "build.h"
#include "shape/shape.h"

static const double origin[3] = {0, 0, 0};

// order 2: raised and curved; -2: raised with straight edges.
static ct_mesh* fill_shape(ct_shape* shape, double size, int order) {
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    ct_fill_def def = ct_fill_def_default();
    def.size = size;
    def.order = order == 2 ? 2 : 1;
    must(ct_shape_fill(&mesh, shape, &def, NULL, &error), &error);
    if (order == -2) must(ct_mesh_raise(mesh), NULL);
    return mesh;
}

// Frees the shape.
static double volume_of(ct_shape* shape, double size, int order) {
    ct_mesh* mesh = fill_shape(shape, size, order);
    ct_shape_free(shape);
    double mass, center[3], inertia[6];
    must(ct_mesh_mass(mesh, 1, &mass, center, inertia, NULL), NULL);
    ct_mesh_free(mesh);
    return mass;
}

static ct_shape* ball(void) { return ct_shape_sphere(origin, 0.1, NULL); }
static ct_shape* ring(void) { return ct_shape_torus(origin, (double[]){0, 0.6, 0.8}, 0.1, 0.05, NULL); }

// With straight edges the volume that is missing goes with the square of the size.
static void volumes_are_of_fourth_order(void** state) {
    ct_shape* (*const make[])(void) = {ball, ring};
    const double known[] = {4 * acos(-1) / 3 * 1e-3, 2 * acos(-1) * acos(-1) * 0.1 * 0.05 * 0.05};
    for (int i = 0; i < 2; i++) {
        double error[2][2];
        for (int k = 0; k < 4; k++)
            error[k / 2][k % 2] =
                fabs(volume_of(make[i](), 0.04 / (1 + k % 2), k / 2 ? 2 : -2) / known[i] - 1);
        if (!(error[1][0] < 0.02 * error[0][0] && error[1][0] / error[1][1] > 10 &&
              error[0][0] / error[0][1] < 7))
            fail_msg("straight %g %g, curved %g %g", error[0][0], error[0][1], error[1][0], error[1][1]);
    }
}

// How far outside the outermost node is.
static double outermost(const ct_mesh* mesh, const ct_shape* shape) {
    double most = 0;
    for (int v = 0; v < mesh->nvert; v++)
        most = fmax(most, ct_shape_distance(shape, mesh->x + 3 * (size_t)v));
    return most;
}

// Where the shape is sharp tets stay whole, and no node gets farther outside than bridges over concave edges
// are with straight edges.
static void sharp_shapes_stay_whole(void** state) {
    const double size = 0.03;
    for (int i = 0; i < 3; i++) {
        ct_shape* shape =
            i == 0   ? ct_shape_box(origin, (double[]){0.1, 0.06, 0.08}, 0, NULL)
            : i == 1 ? ct_shape_cylinder((double[]){0, -0.1, 0}, (double[]){0, 0.1, 0}, 0.05, NULL)
                     : ct_shape_difference(ball(), ct_shape_box(origin, (double[]){0.2, 0.03, 0.04}, 0, NULL),
                                           0, NULL);
        ct_mesh *curved = fill_shape(shape, size, 2), *straight = fill_shape(shape, size, -2);
        ct_mesh_report report;
        must(ct_mesh_check(curved, &report, NULL), NULL);
        assert_true(report.closed_surface);
        assert_true(outermost(curved, shape) < outermost(straight, shape) + 1e-4 * size);
        ct_mesh_free(curved);
        ct_mesh_free(straight);
        ct_shape_free(shape);
    }
}

// Lame's hollow ball, radii a and b: u(b) = 3 (1 - nu)/2 p a^3 b/(E (b^3 - a^3)). A time step of 10 s leaves
// nothing of the inertia but what holds the ball in its place. Returns the mean of u over the outer nodes.
static double inflate(double size, int order) {
    const double a = 0.05, b = 0.1;
    ct_settings settings = ct_settings_default();
    settings.time_step = settings.duration = 10;
    settings.tolerance = 1e-9;
    memset(settings.gravity, 0, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    ct_shape* shape =
        ct_shape_difference(ct_shape_sphere(origin, b, NULL), ct_shape_sphere(origin, a, NULL), 0, NULL);
    ct_mesh* mesh = fill_shape(shape, size, order);
    ct_shape_free(shape);
    ct_body_def def = ct_body_def_default();
    ct_cavity_def air = ct_cavity_def_default();
    ct_error error = {0};
    def.mesh = mesh;
    def.material.young = 1e6, def.material.poisson = 0.3;
    air.pressure = 100;
    must(ct_scene_add_body(scene, &def, NULL, &error), &error);
    must(ct_scene_add_cavity(scene, &air, NULL, &error), &error);
    sim s = start(scene, 1);
    must(ct_step(s.model, s.work, s.state, NULL, NULL), NULL);
    const double *rest = mesh->x, *x = ct_state_positions(s.state);
    double sum = 0;
    int count = 0;
    for (int v = 0; v < mesh->nvert; v++) {
        double before = 0, after = 0;
        for (int i = 0; i < 3; i++) {
            before += rest[3 * v + i] * rest[3 * v + i];
            after += x[3 * v + i] * x[3 * v + i];
        }
        if (sqrt(before) < b - 1e-4) continue;
        sum += sqrt(after) - sqrt(before);
        count++;
    }
    ct_mesh_free(mesh);
    stop(&s);
    return sum / count;
}

// What is left comes from the pressure, which acts on faces that are cut into four flat triangles.
static void a_hollow_ball_is_inflated_as_lame_says(void** state) {
    const double known = 1.5 * 0.7 * 100 * 1.25e-4 * 0.1 / (1e6 * (1e-3 - 1.25e-4)),
                 straight = inflate(0.025, -2) / known - 1, curved = inflate(0.025, 2) / known - 1;
    if (!(fabs(curved) < 0.02 && fabs(curved) < 0.3 * fabs(straight)))
        fail_msg("off by %g, with straight edges by %g", curved, straight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_of_fourth_order),
        cmocka_unit_test(sharp_shapes_stay_whole),
        cmocka_unit_test(a_hollow_ball_is_inflated_as_lame_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
