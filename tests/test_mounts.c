// Mounts: frames that controls move by increments, with nodes or a skeleton's root on them. Where they go,
// and gradients.
#include "rollout.h"
#include "scene_text.h"

// ---- scenes

static ct_settings soft_settings(ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.02;
    settings.duration = 10;
    settings.tolerance = 1e-13;
    settings.max_iterations = 400;
    settings.max_substep_depth = 6;
    settings.integrator = integrator;
    return settings;
}

static ct_scene* beam(const ct_settings* settings, const ct_motion* motion) {
    ct_scene* scene = new_scene(settings);
    ct_material material = ct_material_default();
    material.young = 5e4;
    add_box(scene, (double[]){0.6, 0.2, 0.2}, (int[]){3, 1, 1}, &material);
    const ct_selector selector = {.kind = CT_SELECT_BOX, .body = -1, .a = {-1, -1, -1}, .b = {1e-9, 1, 1}};
    int *nodes = NULL, count = 0;
    ct_error error = {0};
    must(ct_scene_select(scene, &selector, &nodes, &count, &error), &error);
    must(ct_scene_drive(scene, nodes, count, motion, &error), &error);
    ct_free(nodes);
    return scene;
}

// A motion of its own, so that the mount's pose is on top of something.
static const ct_keyframe keys[] = {{.time = 0},
                                   {.time = 0.06, .translate = {0.02, 0.01, 0}, .rotate = {0.1, -0.2, 0.1}},
                                   {.time = 0.3, .translate = {-0.05, 0, 0.03}, .rotate = {-0.2, 0.3, 0.1}}};
static const ct_motion moving = {.key = keys, .nkey = 3, .center = {0.05, 0.1, 0.02}, .smooth = true};

// ---- where they go

// After a quarter turn about z a quarter turn about x, and shifts: Q = exp(w2) exp(w1), about the moved
// centre.
static void increments_add_up(void** state) {
    const ct_settings settings = soft_settings(CT_INTEGRATOR_EULER);
    const ct_motion still = {.center = {0, 0.1, 0.1}};
    ct_scene* scene = beam(&settings, &still);
    ct_error error = {0};
    must(ct_scene_add_move_control(scene, "mount", 0, -1, &error), &error);
    sim s = start(scene, 1);
    const double eighth = 0.78539816339744830962;
    const double control[4][6] = {{0.1, 0, 0, 0, 0, eighth},
                                  {0, 0, 0.2, 0, 0, eighth},
                                  {0, 0.05, 0, eighth, 0, 0},
                                  {0, 0, 0, eighth, 0, 0}};
    for (int i = 0; i < 4; i++) must(ct_step(s.model, s.work, s.state, control[i], NULL), NULL);
    const double* x = ct_state_positions(s.state);
    for (int v = 0; v < node_count(&s); v++) {
        const double* X = ct_model_rest(s.model) + 3 * v;
        if (X[0] > 1e-9) continue;
        // (a, b, c) -> (-b, a, c) about z, then (a, b, c) -> (a, -c, b) about x
        const double a = X[0], b = X[1] - 0.1, c = X[2] - 0.1,
                     expected[3] = {-b + 0.1, -c + 0.1 + 0.05, a + 0.1 + 0.2};
        for (int k = 0; k < 3; k++) assert_true(fabs(x[3 * v + k] - expected[k]) < 1e-14);
    }
    const double* pose = ct_state_mounts(s.state);
    assert_true(fabs(pose[0] - 0.1) < 1e-15 && fabs(pose[1] - 0.05) < 1e-15 && fabs(pose[2] - 0.2) < 1e-15);
    for (int k = 3; k < 7; k++) assert_true(fabs(fabs(pose[k]) - 0.5) < 1e-14);
    // without controls it stays where it is
    const double kept[3] = {x[0], x[1], x[2]};
    steps(&s, 3);
    for (int k = 0; k < 3; k++) assert_true(x[k] == kept[k]);
    stop(&s);
}

// Shifts by increments are the motion of a drive that is told the sums; the pose survives being stored.
static void sums_of_shifts_are_those_of_a_drive(void** state) {
    sim s[2];
    for (int k = 0; k < 2; k++) {
        const ct_settings settings = soft_settings(CT_INTEGRATOR_BDF2);
        ct_scene* scene = beam(&settings, &moving);
        ct_error error = {0};
        must(k ? ct_scene_add_move_control(scene, "mount", 0, -1, &error)
               : ct_scene_add_drive_control(scene, "mount", 0, &error),
             &error);
        s[k] = start(scene, 1);
    }
    double sum[6] = {0};
    for (int i = 0; i < 12; i++) {
        const double control[6] = {0.01 * sin(i), -0.004, 0.003 * i};
        for (int a = 0; a < 3; a++) sum[a] += control[a];
        must(ct_step(s[0].model, s[0].work, s[0].state, sum, NULL), NULL);
        must(ct_step(s[1].model, s[1].work, s[1].state, control, NULL), NULL);
        if (i != 5) continue;
        ct_state* copy = NULL;
        must(ct_state_create(&copy, s[1].model, NULL), NULL);
        must(ct_state_restore(copy, ct_state_bytes(s[1].state), ct_state_size(s[1].state)), NULL);
        ct_state_free(s[1].state);
        s[1].state = copy;
    }
    for (int i = 0; i < 3 * node_count(&s[0]); i++)
        assert_true(fabs(ct_state_positions(s[0].state)[i] - ct_state_positions(s[1].state)[i]) < 1e-10);
    stop(&s[0]), stop(&s[1]);
}

// A fixed link on a mount goes where nodes on one go.
static void root_goes_where_nodes_go(void** state) {
    const ct_settings settings = soft_settings(CT_INTEGRATOR_EULER);
    ct_scene* scene = beam(&settings, &moving);
    ct_error error = {0};
    ct_link_def def = ct_link_def_default();
    def.joint.kind = CT_JOINT_FIXED;
    def.motion = &moving;
    def.mass = 1;
    for (int a = 0; a < 3; a++) def.center[a] = 0.3, def.inertia[a] = 0.01;
    must(ct_scene_add_link(scene, &def, NULL, &error), &error);
    must(ct_scene_add_move_control(scene, "nodes", 0, -1, &error), &error);
    must(ct_scene_add_move_control(scene, "root", -1, 0, &error), &error);
    sim s = start(scene, 1);
    for (int i = 0; i < 8; i++) {
        const double u[6] = {0.01, 0.02, -0.01 * i, 0.2, 0.1 * i, -0.3};
        double control[12];
        memcpy(control, u, sizeof u), memcpy(control + 6, u, sizeof u);
        must(ct_step(s.model, s.work, s.state, control, NULL), NULL);
    }
    double R[9], t[3];
    must(ct_state_link_pose(s.model, s.state, 0, R, t), NULL);
    for (int v = 0; v < node_count(&s); v++) {
        const double *X = ct_model_rest(s.model) + 3 * v, *x = ct_state_positions(s.state) + 3 * v;
        for (int a = 0; X[0] < 1e-9 && a < 3; a++)
            assert_true(fabs(R[3 * a] * X[0] + R[3 * a + 1] * X[1] + R[3 * a + 2] * X[2] + t[a] - x[a]) <
                        1e-13);
    }
    stop(&s);
}

// ---- gradients

static rollout mounted_start(ct_integrator integrator, int max_iterations, size_t max_bytes) {
    ct_settings settings = soft_settings(integrator);
    settings.max_iterations = max_iterations;
    ct_scene* scene = beam(&settings, &moving);
    ct_error error = {0};
    must(ct_scene_add_move_control(scene, "mount", 0, -1, &error), &error);
    return rollout_start(start(scene, 1), 8, max_bytes);
}

static void gradients_match_differences(void** state) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        rollout r = mounted_start((ct_integrator)integrator, 400, 0);
        assert_true(check_slices(&r, 0.1, 1e-8, 3, "mount"));
        assert_int_equal(r.substepped, 0);
        rollout_stop(&r);
    }
}

static void gradients_hold_through_halved_steps(void** state) {
    bool clear = false;
    for (int limit = 14; limit < 60 && !clear; limit++) {
        rollout r = mounted_start(CT_INTEGRATOR_EULER, limit, 0);
        for (int i = 3; i < 6; i++) r.value[r.first[CONTROLS] + 4 * 6 + i] += 0.5;
        evaluate(&r, r.value);
        if (r.substepped) clear = check_slices(&r, 0.02, 1e-7, 1, "halved steps");
        rollout_stop(&r);
    }
    assert_true(clear);
}

static void checkpointed_gradient_is_the_stored_one(void** state) {
    rollout whole = mounted_start(CT_INTEGRATOR_BDF2, 400, 0),
            sparse = mounted_start(CT_INTEGRATOR_BDF2, 400, 1);
    evaluate_gradient(&whole);
    evaluate_gradient(&sparse);
    assert_memory_equal(whole.gradient, sparse.gradient, (size_t)whole.size * sizeof(double));
    rollout_stop(&whole), rollout_stop(&sparse);
}

// ---- scene files, problems, policies

#define BAR                                                                                                  \
    "\"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": [4, 1, 1]}, "          \
    "\"material\": {\"young\": 1e5}}]"
#define MOUNTED                                                                                              \
    "{\"time_step\": 0.02, \"duration\": 0.16, \"solver\": {\"tolerance\": 1e-12}, " BAR ","                 \
    "\"drives\": [{\"select\": {\"box\": [[-1, -1, -1], [1e-6, 1, 1]]}, \"motion\": {\"keys\": [{\"time\": " \
    "0}], \"center\": [0, 0.05, 0.05]}}],"                                                                   \
    "\"skeletons\": [{\"links\": [{\"name\": \"base\", \"joint\": {\"type\": \"fixed\"}, \"mass\": 1, "      \
    "\"center\": [0, 1, 0], \"inertia\": [0.01, 0.01, 0.01]},"                                               \
    "{\"name\": \"arm\", \"parent\": \"base\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0.1, 1, "    \
    "0], \"axis\": [0, 1, 1]}, \"mass\": 0.5,"                                                               \
    "\"center\": [0.3, 1, 0], \"inertia\": [0.01, 0.01, 0.01]}]}],"                                          \
    "\"controls\": [{\"name\": \"drone\", \"move\": 0, \"values\": [0.01, 0, 0, 0, 0, 0.1]}, {\"name\": "    \
    "\"cart\", \"move\": \"base\"}],"
#define GOALS                                                                                                \
    "\"objective\": [{\"type\": \"point\", \"target\": [0.3, 0.2, 0.1], \"from\": 0}, {\"type\": "           \
    "\"joint\", \"link\": \"arm\", \"target\": 0.4}]"

static void problems_with_mounts_match_differences(void** state) {
    static const char* const rest[] = {
        "\"parameters\": [{\"type\": \"control\", \"control\": \"drone\", \"scale\": 0.05}, {\"type\": "
        "\"control\", \"control\": \"cart\", \"scale\": 0.05},"
        "{\"type\": \"gravity\"}, {\"type\": \"young\"}], " GOALS "}",
        "\"parameters\": [{\"type\": \"control\", \"control\": \"drone\", \"shape\": \"spline\", \"knots\": "
        "4, \"scale\": 0.05}], " GOALS "}",
        "\"policy\": {\"observe\": [{\"velocity\": {\"all\": true}}, {\"position\": {\"all\": true}}, "
        "{\"joint\": \"arm\"}, {\"phase\": 4}], \"hidden\": 4, \"scale\": 0.3},"
        "\"parameters\": [{\"type\": \"policy\"}], " GOALS "}"};
    for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++) {
        char text[6000];
        snprintf(text, sizeof text, MOUNTED "%s", rest[k]);
        ct_scene* scene = parse(text);
        ct_problem* problem;
        ct_error error;
        must(ct_problem_create(&problem, scene, 0, &error), &error);
        double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
        ct_problem_start(problem, y);
        ct_check_def def = ct_check_def_default();
        def.components = 6;
        ct_check_slice slices[8];
        assert_true(ct_problem_slice_count(problem) <= 8);
        must(ct_problem_check(problem, y, &def, slices, &error), &error);
        for (int i = 0; i < ct_problem_slice_count(problem); i++)
            if (!slices[i].passed || !(slices[i].relative_error < 1e-6))
                fail_msg("%s: error %g, slope %g", slices[i].name, slices[i].relative_error, slices[i].slope);
        free(y);
        ct_problem_free(problem);
        ct_scene_free(scene);
    }
}

static void bad_mounts_are_refused(void** state) {
    refused("{" BAR ",\n\"controls\": [{\"name\": \"a\", \"move\": 0}]}", "controls[0].move", 2, "no drives");
    refused("{" BAR ",\n\"controls\": [{\"name\": \"a\", \"move\": \"base\"}]}", "controls[0].move", 2,
            "no skeleton");
    refused("{" BAR ", \"pins\": [{\"select\": {\"box\": [[-1, -1, -1], [1e-6, 1, 1]]}}],\n\"controls\": "
            "[{\"name\": \"a\", \"move\": 0}, {\"name\": \"b\", \"drive\": 0}]}",
            "controls[1].drive", 2, "already moves");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_add_up),
        cmocka_unit_test(sums_of_shifts_are_those_of_a_drive),
        cmocka_unit_test(root_goes_where_nodes_go),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(gradients_hold_through_halved_steps),
        cmocka_unit_test(checkpointed_gradient_is_the_stored_one),
        cmocka_unit_test(problems_with_mounts_match_differences),
        cmocka_unit_test(bad_mounts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
