// Activations in trajectory files: stored, read, drawn, exported; files without actuators have none.
#include "build.h"

static sim muscle_sim(bool muscle) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){0.6, 0.2, 0.2}, (int[]){6, 2, 2}, &material);
    pin_plane(scene, 0, 0);
    ct_error error = {0};
    ct_muscle_def def = ct_muscle_def_default();
    def.points = (double[]){0, 0.1, 0.1, 0.3, 0.1, 0.1, 0.6, 0.1, 0.1};
    def.npoint = 3, def.radius = 0.2, def.activation = 0.2;
    if (muscle) must(ct_scene_add_muscle(scene, &def, NULL, &error), &error);
    if (muscle) must(ct_scene_add_actuator_control(scene, "muscle", 0, &error), &error);
    return start(scene, 1);
}

static ct_trajectory* record(sim* s, const char* path, const double* control) {
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s->scene, s->model, path, &error), &error);
    must(ct_trajectory_append(file, s->model, s->state, NULL, &error), &error);
    for (int i = 0; i < 2; i++) {
        must(ct_step(s->model, s->work, s->state, control, NULL), NULL);
        must(ct_trajectory_append(file, s->model, s->state, NULL, &error), &error);
    }
    must(ct_trajectory_close(file, &error), &error);
    must(ct_trajectory_open(&file, path, &error), &error);
    return file;
}

static void activations_are_stored_and_read(void** state) {
    sim s = muscle_sim(true);
    ct_trajectory* file = record(&s, CT_BINARY_DIR "/activation.vtkhdf", (double[]){0.5, 0});
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_true(info.activation);
    double* expected = calloc((size_t)info.ntet, sizeof(double));
    must(ct_state_tet_field(s.model, s.state, CT_FIELD_ACTIVATION, expected), NULL);
    const double* values;
    int count;
    bool per_tet;
    ct_error error = {0};
    double most[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        must(ct_trajectory_read_field(file, 2 * k, "activation", &values, &count, &per_tet, &error), &error);
        assert_true(per_tet && count == info.ntet);
        for (int t = 0; t < count; t++) {
            most[k] = fmax(most[k], values[t]);
            if (k) assert_true(fabs(values[t] - expected[t]) < 1e-7);
        }
    }
    assert_true(fabs(most[0] - 0.2) < 1e-6 && fabs(most[1] - 0.7) < 1e-6);
    free(expected);

    // drawn: the half with the stronger activation looks different from the bodies' colours
    ct_picture_def picture = ct_picture_def_default();
    picture.width = picture.height = 96;
    picture.samples = 1;
    uint8_t *plain = calloc(3 * 96 * 96, 1), *colored = calloc(3 * 96 * 96, 1);
    must(ct_picture_draw(file, 2, &picture, plain, &error), &error);
    picture.color_by = "activation";
    must(ct_picture_draw(file, 2, &picture, colored, &error), &error);
    assert_true(memcmp(plain, colored, 3 * 96 * 96) != 0);
    free(plain), free(colored);

    // exported: the reader of meshes finds its way through the blocks, and the array is there
    must(ct_trajectory_export(file, CT_BINARY_DIR "/activation", CT_EXPORT_VTU, 2, 2, 1, &error), &error);
    ct_mesh* mesh = NULL;
    must(ct_mesh_load(&mesh, CT_BINARY_DIR "/activation/frame_000002.vtu", CT_MESH_VTU, &error), &error);
    assert_int_equal(mesh->ntet, info.ntet);
    assert_memory_equal(mesh->tet, ct_model_tets(s.model), 4 * (size_t)info.ntet * sizeof(int));
    ct_mesh_free(mesh);
    char head[4096] = "";
    FILE* stream = fopen(CT_BINARY_DIR "/activation/frame_000002.vtu", "rb");
    assert_non_null(stream);
    assert_true(fread(head, 1, sizeof head - 1, stream) > 1000);
    fclose(stream);
    assert_non_null(strstr(head, "Name=\"Activation\""));
    must(ct_trajectory_close(file, &error), &error);
    stop(&s);
}

static void bodies_without_actuators_have_no_activation(void** state) {
    sim s = muscle_sim(false);
    ct_trajectory* file = record(&s, CT_BINARY_DIR "/no_activation.vtkhdf", NULL);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_false(info.activation);
    const double* values;
    int count;
    bool per_tet;
    ct_error error = {0};
    must(ct_trajectory_read_field(file, 1, "activation", &values, &count, &per_tet, &error), &error);
    for (int t = 0; t < count; t++) assert_true(values[t] == 0);
    must(ct_trajectory_close(file, &error), &error);
    stop(&s);
}

// A closed sheet, pumped up: volumes and pressures of all frames are in the file.
static void cavities_are_stored_and_read(void** state) {
    ct_settings settings = ct_settings_default();
    memset(settings.gravity, 0, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    ct_mesh *box = NULL, *skin = NULL;
    int *tri = NULL, ntri = 0;
    ct_error error = {0};
    must(ct_mesh_box(&box, (double[]){0.2, 0.2, 0.2}, (int[]){1, 1, 1}, NULL), NULL);
    must(ct_mesh_surface(box, &tri, &ntri, NULL), NULL);
    must(ct_mesh_create(&skin, box->nvert, box->x, 0, NULL, ntri, tri, NULL), NULL);
    ct_body_def body = ct_body_def_default();
    body.mesh = skin;
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    ct_cavity_def def = ct_cavity_def_default();
    def.name = "air", def.pressure = 10;
    for (int a = 0; a < 3; a++) def.seed[a] = 0.1;
    must(ct_scene_add_cavity(scene, &def, NULL, &error), &error);
    must(ct_scene_add_actuator_control(scene, "pump", 0, &error), &error);
    sim s = start(scene, 1);
    ct_trajectory* file = record(&s, CT_BINARY_DIR "/cavities.vtkhdf", (double[]){40});
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.ncavity, 1);
    assert_string_equal(ct_trajectory_cavity_name(file, 0), "air");
    assert_string_equal(ct_trajectory_cavity_name(file, 1), "");
    const double* values;
    must(ct_trajectory_read_cavities(file, 0, &values, &error), &error);
    assert_true(fabs(values[0] - 0.008) < 1e-15 && values[1] == 10);
    double volume, rest;
    must(ct_state_cavity(s.model, s.state, 0, &volume, &rest, NULL), NULL);
    must(ct_trajectory_read_cavities(file, 2, &values, &error), &error);
    assert_true(values[0] == volume && volume > rest && values[1] == 50);
    assert_int_equal(ct_trajectory_read_cavities(file, 3, &values, &error), CT_BAD_ARGUMENT);
    assert_null(values);
    must(ct_trajectory_close(file, &error), &error);
    ct_mesh_free(box), ct_mesh_free(skin), ct_free(tri);
    stop(&s);
}

static void cables_are_stored_and_read(void** state) {
    ct_settings settings = ct_settings_default();
    memset(settings.gravity, 0, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    const ct_material material = ct_material_default();
    add_box(scene, (double[]){0.4, 0.2, 0.2}, (int[]){2, 1, 1}, &material);
    ct_error error = {0};
    const ct_eyelet_def eyelets[] = {{.seat = CT_EYELET_WORLD, .point = {-1, 0.1, 0.1}},
                                     {.seat = CT_EYELET_BODY, .point = {0.1, 0.1, 0.1}},
                                     {.seat = CT_EYELET_BODY, .point = {0.3, 0.1, 0.1}}};
    ct_cable_def def = ct_cable_def_default();
    def.name = "line", def.eyelets = eyelets, def.count = 3, def.tension = 2;
    must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
    def.name = "stay", def.count = 2, def.hold = CT_CABLE_LENGTH;
    must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
    must(ct_scene_add_actuator_control(scene, "pull", 0, &error), &error);
    sim s = start(scene, 1);
    ct_trajectory* file = record(&s, CT_BINARY_DIR "/cables.vtkhdf", (double[]){3});
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.ncable, 2);
    assert_int_equal(info.neyelet, 5);
    assert_string_equal(ct_trajectory_cable_name(file, 0), "line");
    assert_string_equal(ct_trajectory_cable_name(file, 1), "stay");
    assert_string_equal(ct_trajectory_cable_name(file, 2), "");
    assert_int_equal(ct_trajectory_cable_start(file, 1), 3);
    assert_int_equal(ct_trajectory_cable_start(file, 2), 5);
    const double* values;
    must(ct_trajectory_read_cables(file, 0, &values, &error), &error);
    assert_true(values[0] == -1 && values[1] == 0.1 && values[3] == 2);
    assert_true(fabs(values[8] - 0.3) < 1e-15 && values[11] == 2 && values[15] == 0);
    must(ct_trajectory_read_cables(file, 2, &values, &error), &error);
    double length, tension;
    must(ct_state_cable(s.model, s.state, 0, &length, NULL, &tension), NULL);
    assert_true(tension == 5 && values[3] == 5 && values[7] == 5 && values[4] < 0.1);
    assert_true(fabs(length - (values[4] + 1) - (values[8] - values[4])) < 1e-4);
    assert_int_equal(ct_trajectory_read_cables(file, 3, &values, &error), CT_BAD_ARGUMENT);
    assert_null(values);
    must(ct_trajectory_close(file, &error), &error);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_stored_and_read),
        cmocka_unit_test(bodies_without_actuators_have_no_activation),
        cmocka_unit_test(cavities_are_stored_and_read),
        cmocka_unit_test(cables_are_stored_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
