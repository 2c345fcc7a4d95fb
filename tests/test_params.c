// Parameters: slices, starts, bounds, and the transposed map against differences of the map.
#include "build.h"
#include "slope.h"
#include "step/params.h"

enum { NSTEP = 7 };

// Two boxes, the first with two tags, a clamped end, a force control and a drive control.
static ct_scene* two_boxes(void) {
    ct_settings settings = ct_settings_default();
    ct_error error = {0};
    ct_scene* scene = new_scene(&settings);
    ct_material soft = ct_material_default(), stiff = soft;
    soft.young = 2e4;
    soft.damping_mass = 0.5;
    stiff.young = 8e4;
    stiff.density = 1200;
    stiff.poisson = 0.3;
    for (int b = 0; b < 2; b++) {
        ct_mesh* mesh;
        must(ct_mesh_box(&mesh, (double[]){0.3, 0.1, 0.1}, (int[]){3, 1, 1}, NULL), NULL);
        for (int e = 0; e < mesh->ntet; e++) mesh->tet_tag[e] = b == 0 && e % 3 == 0 ? 9 : 4;
        ct_body_def def = ct_body_def_default();
        def.mesh = mesh;
        def.name = b ? "right" : "left";
        def.material = b ? stiff : soft;
        def.translate[0] = b;
        must(ct_scene_add_body(scene, &def, NULL, &error), &error);
        ct_mesh_free(mesh);
    }
    must(ct_scene_set_tag_material(scene, 0, 9, &stiff, &error), &error);
    double low[3], high[3];
    ct_scene_bounds(scene, 0, low, high);
    pin_plane(scene, 0, low[0]);
    must(ct_scene_add_force_control(scene, "push", (int[]){3, 5, 3}, 3, &error), &error);
    must(ct_scene_add_drive_control(scene, "mount", 0, &error), &error);
    return scene;
}

static void add(ct_scene* scene, ct_quantity kind, ct_parameter_per per, int body, ct_transform transform) {
    ct_error error = {0};
    ct_parameter_def def = ct_parameter_def_default();
    def.quantity = kind;
    def.per = per;
    def.body = body;
    def.transform = transform;
    if (kind == CT_QUANTITY_CONTROL) def.control = "push";
    must(ct_scene_add_parameter(scene, &def, &error), &error);
}

typedef struct fixture {
    ct_scene* scene;
    ct_model* model;
    ct_params* params;
    double *y, *direction, *weight[9];
    int n;
} fixture;

static size_t field_size(const fixture* f, int kind) {
    ct_model_info info = ct_model_summary(f->model);
    size_t sizes[] = {(size_t)info.ntet, 3, 3 * (size_t)info.nvert, NSTEP * 9};
    return kind < CT_QUANTITY_GRAVITY    ? sizes[0]
           : kind == CT_QUANTITY_GRAVITY ? 3
           : kind < CT_QUANTITY_CONTROL  ? sizes[2]
                                         : sizes[3];
}

static fixture begin(ct_scene* scene) {
    fixture f = {.scene = scene};
    ct_error error = {0};
    uint64_t seed = 5;
    must(ct_model_create(&f.model, scene, &error), &error);
    must(ct_params_create(&f.params, scene, f.model, NSTEP, &error), &error);
    f.n = ct_params_size(f.params);
    f.y = calloc((size_t)f.n, sizeof *f.y);
    f.direction = calloc((size_t)f.n, sizeof *f.direction);
    ct_params_start(f.params, f.y);
    for (int k = 0; k < f.n; k++) {
        f.y[k] += 0.3 * noise(&seed);
        f.direction[k] = noise(&seed);
    }
    for (int kind = 0; kind < 9; kind++) {
        f.weight[kind] = calloc(field_size(&f, kind), sizeof(double));
        for (size_t i = 0; i < field_size(&f, kind); i++) f.weight[kind][i] = noise(&seed);
    }
    return f;
}

static void end(fixture* f) {
    for (int kind = 0; kind < 9; kind++) free(f->weight[kind]);
    free(f->y);
    free(f->direction);
    ct_params_free(f->params);
    ct_model_free(f->model);
    ct_scene_free(f->scene);
}

// A fixed linear function of all quantities, along the direction.
static double sum_at(void* user, double t) {
    fixture* f = user;
    double* y = calloc((size_t)f->n, sizeof *y);
    for (int k = 0; k < f->n; k++) y[k] = f->y[k] + t * f->direction[k];
    double* const* value = ct_params_apply(f->params, y)->of;
    free(y);
    double sum = 0;
    for (int kind = 0; kind < 9; kind++)
        for (size_t i = 0; value[kind] && i < field_size(f, kind); i++)
            sum += f->weight[kind][i] * value[kind][i];
    return sum;
}

static void assert_transpose(fixture* f) {
    double* const* bar = ct_params_gradient(f->params)->of;
    double size = 0, exact = 0;
    double* const* value = ct_params_apply(f->params, f->y)->of;
    for (int kind = 0; kind < 9; kind++) {
        assert_true((bar[kind] != NULL) == (value[kind] != NULL));
        for (size_t i = 0; bar[kind] && i < field_size(f, kind); i++) {
            bar[kind][i] = f->weight[kind][i];
            size += fabs(value[kind][i]);
        }
    }
    double* y_bar = calloc((size_t)f->n, sizeof *y_bar);
    ct_params_vjp(f->params, f->y, ct_params_gradient(f->params), y_bar);
    for (int k = 0; k < f->n; k++) exact += y_bar[k] * f->direction[k];
    free(y_bar);
    assert_slope(sum_at, f, exact, 0.2, size + 1);
}

static void transpose_matches_differences_for_every_kind_and_grouping(void** unused) {
    (void)unused;
    for (int kind = 0; kind < 9; kind++)
        for (int per = 0; per < 4; per++)
            for (int body = -1; body < 2; body++) {
                if (per == CT_PER_TAG && (kind == CT_QUANTITY_POSITION || kind == CT_QUANTITY_VELOCITY))
                    continue;
                ct_scene* scene = two_boxes();
                add(scene, kind, per, body, CT_TRANSFORM_AUTO);
                fixture f = begin(scene);
                assert_transpose(&f);
                end(&f);
            }
}

static void transpose_matches_differences_for_every_transform(void** unused) {
    (void)unused;
    for (int transform = CT_TRANSFORM_AUTO; transform <= CT_TRANSFORM_SIGMOID; transform++) {
        ct_scene* scene = two_boxes();
        ct_error error = {0};
        ct_parameter_def def = ct_parameter_def_default();
        def.per = CT_PER_TAG;
        def.transform = transform;
        def.lower = 1e3;
        def.upper = 1e5;
        def.offset = transform == CT_TRANSFORM_AFFINE ? 5e3 : 0;
        must(ct_scene_add_parameter(scene, &def, &error), &error);
        fixture f = begin(scene);
        assert_transpose(&f);
        end(&f);
    }
}

static void transpose_matches_differences_with_all_parameters_at_once(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    for (int kind = 0; kind < 9; kind++) add(scene, kind, CT_PER_BODY, -1, CT_TRANSFORM_AUTO);
    fixture f = begin(scene);
    assert_int_equal(ct_params_slice_count(f.params), 9);
    assert_int_equal(f.n, 5 * 2 + 3 + 6 + 6 + 3 * NSTEP);
    assert_transpose(&f);
    end(&f);
}

// -------------------------------------------------------------------------------------------------

// What the scene has is what y = start gives, up to rounding, where no values are merged.
static void start_gives_the_scene_back(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    for (int kind = 0; kind < CT_QUANTITY_GRAVITY; kind++)
        add(scene, kind, CT_PER_TAG, -1, CT_TRANSFORM_AUTO);
    add(scene, CT_QUANTITY_GRAVITY, CT_PER_SCENE, -1, CT_TRANSFORM_AUTO);
    add(scene, CT_QUANTITY_POSITION, CT_PER_ELEMENT, 1, CT_TRANSFORM_AUTO);
    add(scene, CT_QUANTITY_VELOCITY, CT_PER_BODY, -1, CT_TRANSFORM_AUTO);
    fixture f = begin(scene);
    ct_params_start(f.params, f.y);
    const ct_values* v = ct_params_apply(f.params, f.y);
    for (int b = 0; b < 2; b++)
        for (int e = 0; e < scene->body[b].mesh->ntet; e++) {
            const ct_material* m = &scene->body[b].tet_material[e];
            int i = scene->body[b].first_tet + e;
            assert_true(fabs(v->of[CT_QUANTITY_YOUNG][i] / m->young - 1) < 1e-14);
            assert_true(fabs(v->of[CT_QUANTITY_POISSON][i] / m->poisson - 1) < 1e-14);
            assert_true(fabs(v->of[CT_QUANTITY_DENSITY][i] / m->density - 1) < 1e-14);
            assert_true(fabs(v->of[CT_QUANTITY_DAMPING_MASS][i] - m->damping_mass) < 1e-14);
        }
    for (int i = 0; i < 3; i++) assert_true(v->of[CT_QUANTITY_GRAVITY][i] == scene->settings.gravity[i]);
    for (int i = 0; i < 3 * ct_scene_node_count(scene); i++)
        assert_true(fabs(v->of[CT_QUANTITY_POSITION][i] - f.model->geometry.rest[i]) < 1e-15);
    assert_null(v->of[CT_QUANTITY_CONTROL]);
    end(&f);
}

static void one_value_stands_for_a_whole_body(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    add(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, 1, CT_TRANSFORM_LOG);
    fixture f = begin(scene);
    ct_slice slice;
    ct_params_slice(f.params, 0, &slice);
    assert_string_equal(slice.name, "young.right");
    assert_int_equal(slice.count, 1);
    ct_params_start(f.params, f.y);
    assert_true(f.y[0] == 0);  // the scale is the starting value
    f.y[0] = log(2);
    const ct_values* v = ct_params_apply(f.params, f.y);
    int ntet = scene->body[0].mesh->ntet;
    for (int e = 0; e < ntet; e++) {
        assert_true(v->of[CT_QUANTITY_YOUNG][e] == scene->body[0].tet_material[e].young);
        assert_true(fabs(v->of[CT_QUANTITY_YOUNG][ntet + e] / 16e4 - 1) < 1e-15);
    }
    end(&f);
}

static void offset_moves_the_free_nodes_of_a_body(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    add(scene, CT_QUANTITY_POSITION, CT_PER_BODY, 0, CT_TRANSFORM_NONE);
    fixture f = begin(scene);
    memcpy(f.y, (double[]){0.1, 0.2, -0.3}, 3 * sizeof(double));
    const ct_values* v = ct_params_apply(f.params, f.y);
    int moved = 0;
    for (int i = 0; i < ct_scene_node_count(scene); i++) {
        bool moves = i < scene->body[0].mesh->nvert && f.model->row[i] >= 0;
        moved += moves;
        for (int a = 0; a < 3; a++)
            assert_true(fabs(v->of[CT_QUANTITY_POSITION][3 * i + a] - f.model->geometry.rest[3 * i + a] -
                             (moves ? f.y[a] : 0)) < 1e-15);
    }
    assert_int_equal(moved, 12);
    end(&f);
}

static void control_values_are_held(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    ct_error error = {0};
    ct_parameter_def def = ct_parameter_def_default();
    def.quantity = CT_QUANTITY_CONTROL;
    def.control = "mount";
    def.hold = 3;
    def.transform = CT_TRANSFORM_NONE;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
    fixture f = begin(scene);
    assert_int_equal(f.n, 3 * 6);  // steps 0-2, 3-5, 6
    const ct_values* v = ct_params_apply(f.params, f.y);
    for (int step = 0; step < NSTEP; step++)
        for (int i = 0; i < 9; i++)
            assert_true(v->of[CT_QUANTITY_CONTROL][9 * step + i] ==
                        (i < 3 ? 0 : f.y[6 * (step / 3) + i - 3]));
    assert_transpose(&f);
    end(&f);
}

static void bounds_follow_the_transform(void** unused) {
    (void)unused;
    for (int transform = CT_TRANSFORM_NONE; transform <= CT_TRANSFORM_SIGMOID; transform++) {
        ct_scene* scene = two_boxes();
        ct_error error = {0};
        ct_parameter_def def = ct_parameter_def_default();
        def.transform = transform;
        def.lower = 1e3;
        def.upper = 1e5;
        def.scale = transform == CT_TRANSFORM_NONE ? 0 : 2e4;
        def.offset = 500;
        must(ct_scene_add_parameter(scene, &def, &error), &error);
        fixture f = begin(scene);
        double lower[2], upper[2], value[2];
        ct_params_bounds(f.params, lower, upper);
        if (transform == CT_TRANSFORM_SIGMOID) {
            assert_true(isinf(lower[0]) && isinf(upper[0]));
            ct_params_physical(f.params, (double[]){-50, 50}, value);
            assert_true(value[0] >= 1e3 && value[1] <= 1e5);
        } else {
            ct_params_physical(f.params, lower, value);
            assert_true(fabs(value[0] / 1e3 - 1) < 1e-12);
            ct_params_physical(f.params, upper, value);
            assert_true(fabs(value[1] / 1e5 - 1) < 1e-12);
        }
        end(&f);
    }
}

static void material_bounds_keep_values_valid(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    add(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, -1, CT_TRANSFORM_AFFINE);
    add(scene, CT_QUANTITY_POISSON, CT_PER_BODY, -1, CT_TRANSFORM_NONE);
    add(scene, CT_QUANTITY_DAMPING_STIFFNESS, CT_PER_BODY, -1, CT_TRANSFORM_AUTO);
    fixture f = begin(scene);
    double lower[6], upper[6], value[6];
    ct_params_bounds(f.params, lower, upper);
    ct_params_physical(f.params, lower, value);
    assert_true(value[0] > 0 && value[0] < 100);
    assert_true(value[2] == 0 && value[4] == 0);
    ct_params_physical(f.params, upper, value);
    assert_true(isinf(value[0]) && fabs(value[2] - 0.49) < 1e-15);
    end(&f);
}

// -------------------------------------------------------------------------------------------------

static void refuse(ct_scene* scene, const ct_parameter_def* def, const char* path) {
    ct_error error;
    assert_int_equal(ct_scene_add_parameter(scene, def, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, path);
}

static void bad_parameters_are_refused_with_their_field(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    ct_parameter_def good = ct_parameter_def_default(), def = good;
    def.body = 2;
    refuse(scene, &def, "body");
    def = good, def.lower = 2, def.upper = 1;
    refuse(scene, &def, "lower");
    def = good, def.lower = -1;
    refuse(scene, &def, "lower");
    def = good, def.transform = CT_TRANSFORM_SIGMOID;
    refuse(scene, &def, "transform");
    def = good, def.quantity = CT_QUANTITY_POISSON, def.upper = 0.5;
    refuse(scene, &def, "upper");
    def = good, def.quantity = CT_QUANTITY_CONTROL;
    refuse(scene, &def, "control");
    def.control = "pull";
    refuse(scene, &def, "control");
    def.control = "push", def.hold = 0;
    refuse(scene, &def, "hold");
    def = good, def.quantity = CT_QUANTITY_POSITION, def.per = CT_PER_TAG;
    refuse(scene, &def, "per");
    def = good, def.start = 3, def.lower = 5;
    refuse(scene, &def, "start");
    def = good, def.scale = -1;
    refuse(scene, &def, "scale");
    add(scene, CT_QUANTITY_YOUNG, CT_PER_BODY, 0, CT_TRANSFORM_AUTO);
    refuse(scene, &good, "type");
    def = good, def.body = 1, def.name = "young.left";
    refuse(scene, &def, "name");
    ct_scene_free(scene);
}

static void start_outside_of_bounds_is_refused(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    ct_model* model;
    ct_params* params;
    ct_error error;
    ct_parameter_def def = ct_parameter_def_default();
    def.lower = 5e4;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
    must(ct_model_create(&model, scene, &error), &error);
    assert_int_equal(ct_params_create(&params, scene, model, NSTEP, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "\"young\""));
    assert_null(params);
    ct_model_free(model);
    ct_scene_free(scene);
}

static void controls_are_checked(void** unused) {
    (void)unused;
    ct_scene* scene = two_boxes();
    ct_error error;
    assert_int_equal(ct_scene_add_force_control(scene, "push", (int[]){1}, 1, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "name");
    assert_int_equal(ct_scene_add_force_control(scene, "", (int[]){1}, 1, &error), CT_BAD_SCENE);
    assert_int_equal(ct_scene_add_force_control(scene, "a", (int[]){-1}, 1, &error), CT_BAD_SCENE);
    assert_int_equal(ct_scene_add_drive_control(scene, "a", 1, &error), CT_BAD_SCENE);
    assert_string_equal(error.path, "drive");
    assert_int_equal(ct_scene_add_drive_control(scene, "a", 0, &error), CT_BAD_SCENE);
    assert_int_equal(scene->ncontrol, 2);
    assert_int_equal(scene->control[0].nnode, 2);  // without the duplicate
    assert_int_equal(ct_scene_control_first(scene, 1), 3);
    assert_int_equal(ct_scene_control_first(scene, 2), 9);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_matches_differences_for_every_kind_and_grouping),
        cmocka_unit_test(transpose_matches_differences_for_every_transform),
        cmocka_unit_test(transpose_matches_differences_with_all_parameters_at_once),
        cmocka_unit_test(start_gives_the_scene_back),
        cmocka_unit_test(one_value_stands_for_a_whole_body),
        cmocka_unit_test(offset_moves_the_free_nodes_of_a_body),
        cmocka_unit_test(control_values_are_held),
        cmocka_unit_test(bounds_follow_the_transform),
        cmocka_unit_test(material_bounds_keep_values_valid),
        cmocka_unit_test(bad_parameters_are_refused_with_their_field),
        cmocka_unit_test(start_outside_of_bounds_is_refused),
        cmocka_unit_test(controls_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
