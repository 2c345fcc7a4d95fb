// Trajectories of models with sheets and obstacles: what the file says is what the model has.
#include <unistd.h>

#include "build.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_contact_model.h5"

static int add_sheet(ct_scene* scene, ct_energy energy) {
    ct_body_def def = ct_body_def_default();
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    int body;
    must(ct_mesh_sheet(&mesh, (double[]){1, 0.5}, (int[]){4, 2}, NULL), NULL);
    def.name = "cloth";
    def.mesh = mesh;
    def.material.energy = energy;
    def.material.young = 2e5;
    def.material.poisson = 0.3;
    def.material.thickness = 0.004;
    must(ct_scene_add_body(scene, &def, &body, &error), &error);
    ct_mesh_free(mesh);
    return body;
}

static int add_obstacle(ct_scene* scene, ct_obstacle_def def) {
    ct_error error = {0};
    int index;
    must(ct_scene_add_obstacle(scene, &def, &index, &error), &error);
    return index;
}

static ct_settings still(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.threads = 1;
    for (int a = 0; a < 3; a++) settings.gravity[a] = 0;
    return settings;
}

// Pulled along x by a small strain e, free to contract: stress E e, energy density E e^2 / 2, area 1 + (1 -
// nu) e.
static void pulled_sheet_has_the_stress_of_hooke(void** unused) {
    const double e = 1e-6, young = 2e5, nu = 0.3;
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        ct_settings settings = still();
        ct_scene* scene = new_scene(&settings);
        add_sheet(scene, (ct_energy)energy);
        sim s = start(scene, 1);
        int n = node_count(&s);
        double* x = calloc(3 * (size_t)n, sizeof *x);
        double* v = calloc(3 * (size_t)n, sizeof *v);
        memcpy(x, ct_model_rest(s.model), 3 * (size_t)n * sizeof *x);
        for (int i = 0; i < n; i++) {  // and turned by a right angle about y
            double along = x[3 * i] * (1 + e);
            x[3 * i] = 0;
            x[3 * i + 1] *= 1 - nu * e;
            x[3 * i + 2] = -along;
        }
        must(ct_state_set(s.state, x, v), NULL);
        ct_trajectory* file = NULL;
        ct_error error = {0};
        must(ct_trajectory_create(&file, s.scene, s.model, FILE_NAME, &error), &error);
        must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
        static const char* const name[3] = {"stress", "energy", "volume"};
        const double want[3] = {young * e, 0.5 * young * e * e, 1 + (1 - nu) * e},
                     tolerance[3] = {1e-4, 1e-3, 1e-7};
        for (int k = 0; k < 3; k++) {
            const double* values;
            int count;
            bool per_tet;
            must(ct_trajectory_read_field(file, 0, name[k], &values, &count, &per_tet, &error), &error);
            assert_int_equal(count, 16);
            for (int i = 0; i < count; i++) assert_true(fabs(values[i] - want[k]) < tolerance[k] * want[k]);
        }
        must(ct_trajectory_close(file, NULL), NULL);
        free(x), free(v);
        stop(&s);
    }
}

static void sheets_and_owners_are_those_of_the_model(void** unused) {
    ct_settings settings = still();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){0.2, 0.2, 0.2}, (int[]){2, 2, 2}, &material);
    add_sheet(scene, CT_ENERGY_COROTATED);
    add_obstacle(scene, (ct_obstacle_def){.name = "step",
                                          .kind = CT_OBSTACLE_BOX,
                                          .half = {0.1, 0.1, 0.1},
                                          .scale = 1,
                                          .rotate = {1, 0, 0, 0},
                                          .translate = {0, 0, -1},
                                          .contact_thickness = NAN,
                                          .color = {0.2, 0.4, 0.6}});
    sim s = start(scene, 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s.scene, s.model, FILE_NAME, &error), &error);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_open(&file, FILE_NAME, &error), &error);
    ct_trajectory_info info;
    ct_model_info model;
    info = ct_trajectory_summary(file);
    model = ct_model_summary(s.model);
    assert_int_equal(info.ntri, model.ntri);
    assert_int_equal(info.ntri, 16);
    assert_int_equal(info.nsurface, model.nsurface);
    assert_int_equal(info.nobstacle, 1);
    assert_false(info.contact);
    assert_memory_equal(ct_trajectory_tris(file), ct_model_tris(s.model),
                        3 * (size_t)info.ntri * sizeof(int));
    assert_memory_equal(ct_trajectory_surface_owner(file), ct_model_surface_owner(s.model),
                        (size_t)info.nsurface * sizeof(int));
    assert_string_equal(ct_trajectory_collider_name(file, 1), "cloth");
    assert_string_equal(ct_trajectory_collider_name(file, 2), "step");
    assert_true(ct_trajectory_obstacles(file)[0].color[1] == 0.4);
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

// A plane that tips over and a sphere that rolls away are where their motions have them; capsules where their
// ends are.
static void obstacles_are_where_their_motions_have_them(void** unused) {
    const double quarter = 1.5707963267948966;
    const ct_keyframe key[2] = {{.time = 0},
                                {.time = 0.1, .translate = {0.1, 0, 0}, .rotate = {0, 0, quarter}}};
    const ct_motion motion = {.key = key, .nkey = 2};
    ct_settings settings = still();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){0.2, 0.2, 0.2}, (int[]){1, 1, 1}, &material);
    ct_obstacle_def base = {
        .scale = 1, .rotate = {1, 0, 0, 0}, .contact_thickness = NAN, .color = {NAN, NAN, NAN}};
    ct_obstacle_def plane = base, sphere = base, capsule = base;
    plane.kind = CT_OBSTACLE_PLANE, plane.normal[1] = 2, plane.center[1] = -3, plane.motion = &motion;
    sphere.kind = CT_OBSTACLE_SPHERE, sphere.radius = 0.3, sphere.center[1] = 5, sphere.motion = &motion;
    capsule.kind = CT_OBSTACLE_CAPSULE, capsule.radius = 0.1, capsule.ends[0][0] = -4,
    capsule.ends[1][0] = -5, capsule.scale = 2;
    add_obstacle(scene, plane), add_obstacle(scene, sphere), add_obstacle(scene, capsule);
    sim s = start(scene, 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s.scene, s.model, FILE_NAME, &error), &error);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    steps(&s, 10);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    const ct_obstacle_info* obstacle = ct_trajectory_obstacles(file);
    assert_true(obstacle[1].radius == 0.3 && obstacle[2].radius == 0.2);
    const double want[2][18] = {{0, -3, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, -8, 0, 0, -10, 0, 0},
                                {3.1, 0, 0, -1, 0, 0, -4.9, 0, 0, 0, 0, 0, -8, 0, 0, -10, 0, 0}};
    for (int k = 0; k < 2; k++) {
        const double* poses;
        must(ct_trajectory_read_obstacles(file, k, &poses, &error), &error);
        double off = k ? 0 : fabs(poses[1] + 3);  // any point of the plane will do
        for (int a = 0; k && a < 3; a++) off += (poses[a] - want[1][a]) * poses[3 + a];
        assert_true(fabs(off) < 1e-9);
        for (int i = 3; i < 18; i++) assert_true(fabs(poses[i] - want[k][i]) < 1e-9);
    }
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
    unlink(FILE_NAME);
}

// The report's list goes into the frame, and a run that is continued goes on behind it.
static void contacts_of_reports_are_stored(void** unused) {
    ct_settings settings = still();
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    add_box(scene, (double[]){0.2, 0.2, 0.2}, (int[]){1, 1, 1}, &material);
    add_obstacle(scene, (ct_obstacle_def){.name = "floor",
                                          .kind = CT_OBSTACLE_PLANE,
                                          .center = {0, -1, 0},
                                          .normal = {0, 1, 0},
                                          .scale = 1,
                                          .rotate = {1, 0, 0, 0},
                                          .contact_thickness = NAN,
                                          .color = {NAN, NAN, NAN}});
    sim s = start(scene, 1);
    const ct_contact made[3] = {{.type = CT_CONTACT_TYPE_PLANE,
                                 .set = CT_CONTACT_SET_STICK,
                                 .node = {2, -1, -1, -1},
                                 .a = 0,
                                 .b = 1,
                                 .normal = {0, 1, 0},
                                 .gap = -1e-9,
                                 .force = {0, 3, 0},
                                 .friction = 0.5},
                                {.type = CT_CONTACT_TYPE_PLANE,
                                 .set = CT_CONTACT_SET_SLIP,
                                 .node = {4, -1, -1, -1},
                                 .a = 0,
                                 .b = 1,
                                 .normal = {0, 1, 0},
                                 .force = {-1, 2, 0},
                                 .friction = 0.5},
                                {.type = CT_CONTACT_TYPE_EDGE_EDGE,
                                 .set = CT_CONTACT_SET_OPEN,
                                 .node = {0, 1, 2, 3},
                                 .a = 0,
                                 .b = 0,
                                 .normal = {1, 0, 0},
                                 .gap = 0.01}};
    ct_step_report report = {.converged = true, .contact = made, .ncontact = 2};
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s.scene, s.model, FILE_NAME, &error), &error);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    must(ct_trajectory_append(file, s.model, s.state, &report, &error), &error);
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_resume(&file, s.model, s.state, FILE_NAME, &error), &error);
    report.ncontact = 3;
    must(ct_trajectory_append(file, s.model, s.state, &report, &error), &error);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.ncontact, 5);
    for (int k = 0; k < 3; k++) {
        const ct_contact* list;
        int count;
        must(ct_trajectory_read_contacts(file, k, &list, &count, &error), &error);
        assert_int_equal(count, k ? k + 1 : 0);
        for (int i = 0; i < count; i++) {
            assert_memory_equal(list[i].force, made[i].force, sizeof made[i].force);
            assert_int_equal(list[i].set, made[i].set);
            assert_int_equal(list[i].node[1], made[i].node[1]);
        }
    }
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulled_sheet_has_the_stress_of_hooke),
        cmocka_unit_test(sheets_and_owners_are_those_of_the_model),
        cmocka_unit_test(contacts_of_reports_are_stored),
        cmocka_unit_test(obstacles_are_where_their_motions_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
