// Water in scene files and problems: what is read, what is refused, and gradients of its parameters.
#include "build.h"
#include "scene/scene.h"
#include "scene_text.h"

#define BODY                                                                                                 \
    "{\"name\": \"fin\", \"group\": \"fish\", \"box\": {\"size\": [0.2, 0.02, 0.1], \"cells\": [3, 1, 2]}, " \
    "\"material\": {\"young\": 2e5, \"density\": 1100}}"

static void water_is_read(void** state) {
    (void)state;
    ct_scene* scene = parse(
        "{\"bodies\": [" BODY ", {\"name\": \"stone\", \"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}, "
        "\"translate\": [3, 0, 0]}],"
        "\"water\": {\"density\": 1025, \"current\": [1, 2, 3], \"drag\": [0.2, 0.3, 0.4, 0.5], \"thrust\": "
        "[1, 2, 3],"
        "\"buoyancy\": false, \"level\": 0.5, \"layer\": 0.1, \"slow\": 0.01, \"bodies\": [\"fish\"]}}");
    ct_model* model;
    ct_error error;
    must(ct_model_create(&model, scene, &error), &error);
    ct_model_free(model);
    const ct_scene_water* water = &scene->water;
    assert_true(water->enabled && !water->all && water->wet[0] && !water->wet[1]);
    assert_true(water->def.density == 1025 && water->def.current[2] == 3 && water->def.drag[3] == 0.5 &&
                water->def.thrust[1] == 2);
    assert_true(!water->def.buoyancy && water->def.level == 0.5 && water->def.layer == 0.1 &&
                water->def.slow == 0.01);
    must(ct_scene_set_water(scene, NULL, &error), &error);
    assert_false(scene->water.enabled);
    ct_scene_free(scene);
}

static void bad_water_is_refused(void** state) {
    (void)state;
    const struct {
        const char *water, *path, *words;
    } cases[] = {
        {"{\"density\": 0}", "water.density", "above 0"},
        {"{\"drag\": [0.1, 0.2, -0.3, 0.4]}", "water.drag", "negative"},
        {"{\"thrust\": [0.1, 0.2]}", "water.thrust", "3 numbers"},
        {"{\"slow\": 0}", "water.slow", "above 0"},
        {"{\"layer\": -1}", "water.layer", "above 0"},
        {"{\"bodies\": [\"bird\"]}", "water.bodies", "no body or group"},
        {"{\"bodies\": []}", "water.bodies", "empty"},
        {"{\"densty\": 1}", "water.densty", "density"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, "{\"bodies\": [" BODY "],\n\"water\": %s}", cases[i].water);
        refused(text, cases[i].path, 2, cases[i].words);
    }
    refused("{\"bodies\": [" BODY "],\n\"parameters\": [{\"type\": \"water_drag\"}]}", "parameters[0].type",
            2, "no water");
    refused("{\"bodies\": [" BODY
            "], \"water\": {},\n\"parameters\": [{\"type\": \"water_drag\", \"per\": \"body\"}]}",
            "parameters[0].per", 2, "no meaning");
    refused("{\"bodies\": [" BODY
            "], \"water\": {},\n\"parameters\": [{\"type\": \"water_thrust\", \"lower\": -1}]}",
            "parameters[0].lower", 2, "negative");
}

// Against differences between scenes that are built anew.
static void check_gradients(const char* text) {
    ct_scene* scene = parse(text);
    ct_problem* problem;
    ct_error error;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_start(problem, y);
    ct_check_def def = ct_check_def_default();
    def.components = 4;
    def.scene = scene;
    const int count = ct_problem_slice_count(problem);
    ct_check_slice* slices = calloc((size_t)count, sizeof *slices);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; i < count; i++)
        if (!slices[i].passed || slices[i].unresolved)
            fail_msg("%s: error %g, slope %g, gradient %g, difference %g", slices[i].name,
                     slices[i].relative_error, slices[i].slope, slices[i].worst_gradient,
                     slices[i].worst_difference);
    free(slices), free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

#define PARAMETERS                                                                                           \
    "\"parameters\": [{\"type\": \"water_density\"}, {\"type\": \"water_drag\"}, {\"type\": "                \
    "\"water_thrust\"}, {\"type\": \"water_current\"},"                                                      \
    "{\"type\": \"gravity\"}, {\"type\": \"density\"}, {\"type\": \"velocity\", \"per\": \"body\"}"
#define OBJECTIVE                                                                                            \
    "\"objective\": [{\"type\": \"point\", \"target\": [0.1, 0.2, 0.3], \"from\": 0}, {\"type\": "           \
    "\"velocity\", \"target\": [1, 0, 0]}]"

static void gradients_of_water_match_differences(void** state) {
    (void)state;
    static const char* const surface[] = {"", ", \"level\": 0.01, \"layer\": 0.1", ", \"buoyancy\": false"};
    static const char* const integrator[] = {"euler", "bdf2", "euler"};
    for (int k = 0; k < 3; k++) {
        char text[3000];
        snprintf(text, sizeof text,
                 "{\"time_step\": 0.02, \"duration\": 0.12, \"integrator\": \"%s\", \"solver\": "
                 "{\"tolerance\": 1e-12}, \"bodies\": [" BODY "],"
                 "\"velocities\": [{\"select\": {\"all\": true}, \"velocity\": [0.3, 0.5, 0.1], "
                 "\"angular_velocity\": [0, 1, 3]}],"
                 "\"water\": {\"current\": [0.2, -0.3, 0.1], \"slow\": 0.02%s}, " PARAMETERS "], " OBJECTIVE
                 "}",
                 integrator[k], surface[k]);
        check_gradients(text);
    }
}

// A fin on a bone that a motor turns, and one on a driven mount.
static void gradients_of_links_in_water_match_differences(void** state) {
    (void)state;
    check_gradients(
        "{\"time_step\": 0.02, \"duration\": 0.12, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [" BODY
        "],"
        "\"skeletons\": [{\"links\": [{\"name\": \"root\", \"mass\": 0.2, \"center\": [-0.1, 0.01, 0.05], "
        "\"inertia\": [1e-3, 1e-3, 1e-3],"
        "\"joint\": {\"type\": \"free\", \"anchor\": [-0.1, 0.01, 0.05]}}, {\"name\": \"tail\", \"parent\": "
        "\"root\", \"joint\": {\"type\": \"revolute\","
        "\"anchor\": [0, 0.01, 0.05], \"axis\": [0, 0, 1], \"velocity\": 5}, \"nodes\": {\"box\": [[-1, -1, "
        "-1], [0.01, 1, 1]]}}]}],"
        "\"water\": {\"current\": [0.2, -0.3, 0.1], \"slow\": 0.02}, \"controls\": [{\"name\": \"flap\", "
        "\"torque\": \"tail\"}],"
        "\"parameters\": [{\"type\": \"water_density\"}, {\"type\": \"water_drag\"}, {\"type\": "
        "\"water_thrust\"}, {\"type\": \"water_current\"},"
        "{\"type\": \"joint_position\", \"link\": \"tail\"}, {\"type\": \"joint_velocity\"}, {\"type\": "
        "\"control\", \"control\": \"flap\", \"start\": 0.3}], " OBJECTIVE "}");
    check_gradients(
        "{\"time_step\": 0.02, \"duration\": 0.12, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": [" BODY
        "],"
        "\"drives\": [{\"select\": {\"box\": [[-1, -1, -1], [0.01, 1, 1]]}}], \"water\": {\"current\": [0.2, "
        "-0.3, 0.1], \"slow\": 0.02},"
        "\"controls\": [{\"name\": \"mount\", \"drive\": 0}], " PARAMETERS
        ", {\"type\": \"control\", \"control\": \"mount\", \"hold\": 2}], " OBJECTIVE "}");
}

// Its weight, its stiffness and the water that it displaces change with it.
static void gradients_by_the_thickness_of_wet_sheets_match_differences(void** state) {
    (void)state;
    static const char* const surface[] = {"", ", \"level\": 0.01, \"layer\": 0.1"};
    for (int k = 0; k < 2; k++) {
        char text[3000];
        snprintf(text, sizeof text,
                 "{\"time_step\": 0.02, \"duration\": 0.12, \"solver\": {\"tolerance\": 1e-12}, \"bodies\": "
                 "[{\"name\": \"sail\", \"sheet\": {\"size\": [0.2, 0.1], \"cells\": [2, 1]}, "
                 "\"rotate\": {\"axis\": [1, 0, 0], \"degrees\": 70}, \"translate\": [0.5, 0, 0], "
                 "\"material\": {\"young\": 1e5, \"density\": 700, \"thickness\": 0.004}}], \"water\": "
                 "{\"current\": [0.2, -0.3, 0.1], \"slow\": 0.02%s}, \"parameters\": [{\"type\": "
                 "\"thickness\", \"per\": \"element\"}, {\"type\": \"density\"}, {\"type\": "
                 "\"water_density\"}], " OBJECTIVE "}",
                 surface[k]);
        check_gradients(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_is_read),
        cmocka_unit_test(bad_water_is_refused),
        cmocka_unit_test(gradients_of_water_match_differences),
        cmocka_unit_test(gradients_by_the_thickness_of_wet_sheets_match_differences),
        cmocka_unit_test(gradients_of_links_in_water_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
