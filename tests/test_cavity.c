// Closed surfaces under pressure: volumes of known bodies, balance of forces, derivatives by slope.
#include "actuator_checks.h"
#include "force/cavity.h"
#include "math/vecn.h"

// Surface of a box, or of the sphere that it is blown up to.
typedef struct balloon {
    ct_mesh* mesh;
    int *tri, ntri, start[3];
    double* x;
    double pressure[2];
    ct_cavity* cavity;
    actuator actuator;
} balloon;

static double gradient(void* user, const double* x, double* f) {
    const balloon* b = user;
    return ct_cavity_gradient(b->cavity, b->pressure, x, f);
}

static void product(void* user, const double* x, const double* dx, double* out) {
    const balloon* b = user;
    ct_cavity_product(b->cavity, b->pressure, x, dx, out);
}

static void balloon_start(balloon* b, int cells, const double size[3]) {
    *b = (balloon){.pressure = {1.7, 0}};
    assert_int_equal(ct_mesh_box(&b->mesh, size, (int[]){cells, cells, cells}, NULL), CT_OK);
    assert_int_equal(ct_mesh_surface(b->mesh, &b->tri, &b->ntri, NULL), CT_OK);
    b->start[1] = b->ntri;
    const ct_cavity_surfaces def = {.ncavity = 1, .start = b->start, .tri = b->tri};
    assert_int_equal(ct_cavity_create(&b->cavity, &def), CT_OK);
    b->x = numbers(3 * b->mesh->nvert);
    memcpy(b->x, b->mesh->x, 3 * (size_t)b->mesh->nvert * sizeof(double));
    b->actuator = (actuator){b->mesh->nvert, b->x, gradient, product, b};
}

static void balloon_stop(balloon* b) {
    ct_cavity_free(b->cavity);
    ct_mesh_free(b->mesh);
    ct_free(b->tri);
    free(b->x);
}

static double volume(const balloon* b) {
    double out;
    ct_cavity_volume(b->cavity, b->x, &out);
    return out;
}

static void box_has_its_volume_wherever_it_is(void** state) {
    balloon b;
    balloon_start(&b, 3, (double[]){2, 0.5, 1.5});
    assert_true(fabs(volume(&b) - 1.5) < 1e-14);
    for (int i = 0; i < 3 * b.mesh->nvert; i++) b.x[i] += 1000;
    assert_true(fabs(volume(&b) - 1.5) < 1e-11);
    balloon_stop(&b);
}

// Points of the cube's surface moved onto the unit sphere: the volume tends to 4 pi/3 with the square of the
// mesh size.
static void sphere_has_its_volume_in_the_limit(void** state) {
    double error[2];
    for (int k = 0; k < 2; k++) {
        balloon b;
        balloon_start(&b, k ? 16 : 8, (double[]){2, 2, 2});
        for (int v = 0; v < b.mesh->nvert; v++)
            ct_vec3_store(b.x + 3 * v,
                          ct_vec3_normalise(ct_vec3_sub(ct_vec3_load(b.x + 3 * v), (ct_vec3){1, 1, 1})));
        error[k] = 4 * acos(-1) / 3 - volume(&b);
        balloon_stop(&b);
    }
    assert_true(error[1] > 0 && error[1] < 0.05);
    assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.1);
}

// Each side of a box is pushed outward by pressure times area.
static void pressure_pushes_with_its_area(void** state) {
    balloon b;
    const double size[3] = {2, 0.5, 1.5};
    balloon_start(&b, 3, size);
    double* f = numbers(3 * b.mesh->nvert);
    gradient(&b, b.x, f);
    for (int side = 0; side < 3; side++) {
        double push = 0;
        for (int v = 0; v < b.mesh->nvert; v++)
            push -= b.x[3 * v + side] > size[side] - 1e-9 ? f[3 * v + side] : 0;
        assert_true(fabs(push - b.pressure[0] * 1.5 / size[side]) < 1e-13);
    }
    free(f);
    balloon_stop(&b);
}

static void crumple(balloon* b) {
    for (int i = 0; i < 3 * b->mesh->nvert; i++) b->x[i] += 0.1 * random_unit();
}

static void derivatives_match_differences(void** state) {
    balloon b;
    balloon_start(&b, 2, (double[]){1, 1.2, 0.8});
    crumple(&b);
    check_actuator_derivatives(&b.actuator, 1e-2);
    balloon_stop(&b);
}

static void pressure_neither_pushes_nor_turns_the_whole(void** state) {
    balloon b;
    balloon_start(&b, 3, (double[]){1, 1.2, 0.8});
    crumple(&b);
    check_actuator_balance(&b.actuator);
    check_actuator_frame(&b.actuator);
    balloon_stop(&b);
}

// E is linear in p: lam . d grad/dp is lam . grad at unit pressure.
static void pressure_derivative_is_the_force_of_unit_pressure(void** state) {
    balloon b;
    balloon_start(&b, 3, (double[]){1, 1.2, 0.8});
    crumple(&b);
    const int n = 3 * b.mesh->nvert;
    double *lam = numbers(n), *f = numbers(n), bar = 0;
    for (int i = 0; i < n; i++) lam[i] = random_unit();
    b.pressure[0] = 1;
    gradient(&b, b.x, f);
    ct_cavity_vjp(b.cavity, b.x, lam, &bar);
    assert_true(fabs(bar + ct_vecn_dot(f, lam, (size_t)n)) <
                1e-13 * sqrt(ct_vecn_dot(f, f, (size_t)n) * ct_vecn_dot(lam, lam, (size_t)n)));
    free(lam), free(f);
    balloon_stop(&b);
}

static void cavities_have_pressures_of_their_own(void** state) {
    balloon b;
    balloon_start(&b, 1, (double[]){1, 1, 1});
    const int inner[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    int* tri = calloc(3 * (size_t)b.ntri + 12, sizeof(int));
    memcpy(tri, b.tri, 3 * (size_t)b.ntri * sizeof(int));
    memcpy(tri + 3 * b.ntri, inner, sizeof inner);
    const ct_cavity_surfaces def = {.ncavity = 2, .start = (int[]){0, b.ntri, b.ntri + 4}, .tri = tri};
    ct_cavity *both, *exchanged;
    assert_int_equal(ct_cavity_create(&both, &def), CT_OK);
    crumple(&b);
    double v[2], p[2] = {3, -2};
    ct_cavity_volume(both, b.x, v);
    assert_true(fabs(v[0] - volume(&b)) < 1e-14 && fabs(v[1]) > 1e-3);
    assert_true(fabs(ct_cavity_gradient(both, p, b.x, NULL) + 3 * v[0] - 2 * v[1]) < 1e-14);
    ct_cavity_surfaces other = def;
    other.number = (const int[]){1, 0};
    assert_int_equal(ct_cavity_create(&exchanged, &other), CT_OK);
    assert_true(fabs(ct_cavity_gradient(exchanged, p, b.x, NULL) + 3 * v[1] - 2 * v[0]) < 1e-14);
    ct_cavity_free(exchanged);
    ct_cavity_free(both);
    free(tri);
    balloon_stop(&b);
}

static void open_and_misoriented_surfaces_are_refused(void** state) {
    balloon b;
    balloon_start(&b, 2, (double[]){1, 1, 1});
    ct_cavity* cavity;
    ct_cavity_surfaces def = {.ncavity = 1, .start = (int[]){0, b.ntri - 2}, .tri = b.tri};
    assert_int_equal(ct_cavity_create(&cavity, &def), CT_BAD_MESH);
    assert_null(cavity);
    const int swap = b.tri[0];
    b.tri[0] = b.tri[1], b.tri[1] = swap;
    def.start = b.start;
    assert_int_equal(ct_cavity_create(&cavity, &def), CT_BAD_MESH);
    balloon_stop(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_its_volume_wherever_it_is),
        cmocka_unit_test(sphere_has_its_volume_in_the_limit),
        cmocka_unit_test(pressure_pushes_with_its_area),
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(pressure_neither_pushes_nor_turns_the_whole),
        cmocka_unit_test(pressure_derivative_is_the_force_of_unit_pressure),
        cmocka_unit_test(cavities_have_pressures_of_their_own),
        cmocka_unit_test(open_and_misoriented_surfaces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
