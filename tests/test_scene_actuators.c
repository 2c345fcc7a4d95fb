// Actuators in scene files: what is read, what is refused, and gradients of the problems that they make.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"
#include "scene_text.h"

// A beam with two muscles and a few cells.
static const char beam[] =
    "{\"time_step\": 0.02, \"duration\": 0.1, \"solver\": {\"tolerance\": 1e-12, \"max_iterations\": 400},"
    " \"bodies\": [{\"name\": \"beam\", \"box\": {\"size\": [0.6, 0.2, 0.2], \"cells\": [3, 2, 2]}, "
    "\"material\": {\"young\": 2e4, \"poisson\": 0.3}}],"
    " \"pins\": [{\"select\": {\"box\": [[-1, -1, -1], [1e-6, 1, 1]]}}],"
    " \"muscles\": [{\"name\": \"flexor\", \"points\": [[0, 0.05, 0.1], [0.3, 0.05, 0.1], [0.6, 0.08, 0.1]], "
    "\"radius\": 0.12, \"segments\": 3,"
    "   \"stiffness\": 3e4, \"activation\": 0.1, \"activation_time\": 0.03},"
    "  {\"name\": \"extensor\", \"body\": \"beam\", \"points\": [[0, 0.15, 0.1], [0.6, 0.15, 0.1]], "
    "\"radius\": 0.12, \"stiffness\": 2e4}],"
    " \"chambers\": [{\"name\": \"bellows\", \"select\": {\"box\": [[0.1, 0.1, -1], [0.5, 1, 1]]}, "
    "\"cells\": \"one\", \"stiffness\": 1e4}],"
    " \"controls\": [{\"name\": \"bend\", \"actuator\": \"flexor\"}, {\"name\": \"blow\", \"actuator\": "
    "\"bellows\"}],"
    " \"parameters\": [{\"type\": \"control\", \"control\": \"bend\", \"start\": 0.3}, {\"type\": "
    "\"control\", \"control\": \"blow\", \"start\": 0.2},"
    "  {\"type\": \"muscle_stiffness\", \"per\": \"element\"}, {\"type\": \"chamber_stiffness\", "
    "\"actuator\": \"bellows\"}],"
    " \"objective\": [{\"type\": \"point\", \"select\": {\"box\": [[0.59, -1, -1], [1, 1, 1]]}, \"target\": "
    "[0.5, 0.3, 0.1]}]}";

static void actuators_are_read(void** state) {
    ct_scene* scene = parse(beam);
    ct_error error = {0};
    ct_model* model = NULL;
    assert_int_equal(ct_scene_actuator_count(scene), 3);
    assert_int_equal(ct_scene_find_actuator(scene, "bellows"), 2);
    if (ct_model_create(&model, scene, &error)) fail_msg("%s", error.message);
    ct_actuator_info info = ct_model_actuator_info(model, 0);
    assert_string_equal(info.name, "flexor");
    assert_true(info.kind == CT_ACTUATOR_MUSCLE && info.count == 3 && info.element_count > 10 &&
                info.stiffness == 3e4);
    info = ct_model_actuator_info(model, 1);
    assert_true(info.first == 3 && info.count == 1);
    info = ct_model_actuator_info(model, 2);
    assert_true(info.kind == CT_ACTUATOR_CHAMBER && info.first == 4 && info.count == 1);
    ct_control_info control = ct_model_control_info(model, 0);
    assert_true(control.kind == CT_CONTROL_ACTIVATION && control.count == 3);
    ct_model_free(model);
    ct_scene_free(scene);
}

// Values that the scene gives to a control reach the actuator, on top of its starting value.
static void values_of_controls_reach_actuators(void** state) {
    char text[4096];
    const char* at = strstr(beam, "\"actuator\": \"bellows\"");
    snprintf(text, sizeof text,
             "%.*s\"values\": [{\"time\": 0, \"value\": 0}, {\"time\": 0.1, \"value\": 0.5}], %s",
             (int)(at - beam), beam, at);
    ct_scene* scene = parse(text);
    ct_error error = {0};
    ct_model* model = NULL;
    ct_state* moved = NULL;
    ct_work* work = NULL;
    if (ct_model_create(&model, scene, &error)) fail_msg("%s", error.message);
    assert_int_equal(ct_state_create(&moved, model, NULL), CT_OK);
    assert_int_equal(ct_work_create(&work, model, 1, NULL), CT_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(ct_step(model, work, moved, NULL, NULL), CT_OK);
    assert_true(fabs(ct_state_actuation(moved)[4] - (1 + 5 * 0.04)) < 1e-12);
    ct_work_free(work);
    ct_state_free(moved);
    ct_model_free(model);
    ct_scene_free(scene);
}

// Bounds follow from what the numbers mean: activations of muscles stay within 0 and 1, cells keep a volume.
static void controls_of_actuators_have_bounds(void** state) {
    ct_scene* scene = parse(beam);
    ct_error error = {0};
    ct_problem* problem = NULL;
    if (ct_problem_create(&problem, scene, 0, &error)) fail_msg("%s", error.message);
    const int n = ct_problem_size(problem);
    double *lower = calloc((size_t)n, sizeof(double)), *upper = calloc((size_t)n, sizeof(double)),
           *values = calloc((size_t)n, sizeof(double));
    ct_problem_bounds(problem, lower, upper);
    ct_slice slice = ct_problem_slice(problem, 0);
    assert_int_equal(slice.count, 15);
    ct_problem_values(problem, lower, values);
    assert_true(fabs(values[slice.first] + 0.1) < 1e-12);
    ct_problem_values(problem, upper, values);
    assert_true(fabs(values[slice.first] - 0.9) < 1e-12);
    slice = ct_problem_slice(problem, 1);
    ct_problem_values(problem, lower, values);
    assert_true(fabs(values[slice.first] + 0.95) < 1e-12 && isinf(upper[slice.first]));
    slice = ct_problem_slice(problem, 2);
    assert_int_equal(slice.count, 2);
    free(lower), free(upper), free(values);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// Two bones in flesh with a muscle across their joint.
static const char arm[] =
    "{\"time_step\": 0.02, \"duration\": 0.12, \"solver\": {\"tolerance\": 1e-12, \"max_iterations\": 400},"
    " \"bodies\": [{\"name\": \"arm\", \"box\": {\"size\": [0.6, 0.2, 0.2], \"cells\": [6, 2, 2]}, "
    "\"material\": {\"young\": 3e4, \"poisson\": 0.3}}],"
    " \"skeletons\": [{\"links\": ["
    "  {\"name\": \"upper\", \"joint\": {\"type\": \"fixed\"}, \"nodes\": {\"box\": [[-1, -1, 0.09], [0.25, "
    "1, 0.11]]}},"
    "  {\"name\": \"fore\", \"parent\": \"upper\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0.3, "
    "0.1, 0.1], \"axis\": [0, 0, 1], \"damping\": 0.1},"
    "   \"nodes\": {\"box\": [[0.35, -1, 0.09], [1, 1, 0.11]]}}]}],"
    " \"muscles\": [{\"name\": \"biceps\", \"points\": [[0.05, 0.15, 0.1], [0.55, 0.15, 0.1]], \"radius\": "
    "0.12, \"segments\": 2, \"stiffness\": 5e4}],"
    " \"controls\": [{\"name\": \"bend\", \"actuator\": \"biceps\"}],"
    " \"parameters\": [{\"type\": \"control\", \"control\": \"bend\", \"start\": 0.4, \"hold\": 2}, "
    "{\"type\": \"muscle_stiffness\"}],"
    " \"objective\": [{\"type\": \"joint\", \"link\": \"fore\", \"target\": 0.5}, {\"type\": \"point\", "
    "\"target\": [0, 0, 0]}]}";

static void check_gradients(const char* text) {
    ct_scene* scene = parse(text);
    ct_error error = {0};
    ct_problem* problem = NULL;
    if (ct_problem_create(&problem, scene, 0, &error)) fail_msg("%s", error.message);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_start(problem, y);
    ct_check_slice slices[8];
    const ct_check_def def = ct_check_def_default();
    if (ct_problem_check(problem, y, &def, slices, &error)) fail_msg("%s", error.message);
    for (int i = 0; i < ct_problem_slice_count(problem); i++) {
        print_message("%-24s error %.1e slope %.2f\n", slices[i].name, slices[i].relative_error,
                      slices[i].slope);
        assert_true(slices[i].passed && slices[i].relative_error < 1e-6);
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void gradients_match_differences(void** state) {
    check_gradients(beam);
    check_gradients(arm);
}

// The scene with `after` in place of `before` is refused at the path.
static void assert_refused(const char* before, const char* after, const char* path) {
    char text[4096];
    const char* at = strstr(beam, before);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - beam), beam, after, at + strlen(before));
    ct_scene* scene = NULL;
    ct_error error = {0};
    const ct_status status = ct_scene_parse(&scene, text, strlen(text), NULL, &error);
    if (status != CT_BAD_SCENE || strcmp(error.path, path))
        fail_msg("%s in place of %s: status %d, path \"%s\": %s", after, before, (int)status, error.path,
                 error.message);
}

static void chambers_may_have_several_tags(void** state) {
    ct_mesh* mesh = NULL;
    ct_scene* scene = NULL;
    ct_error error = {0};
    assert_int_equal(ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){2, 2, 2}, NULL), CT_OK);
    for (int t = 0; t < mesh->ntet; t++) mesh->tet_tag[t] = t % 4;
    assert_int_equal(ct_scene_create(&scene, NULL), CT_OK);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    assert_int_equal(ct_scene_add_body(scene, &body, NULL, &error), CT_OK);
    const int tags[3] = {3, 1, 99};
    ct_chamber_def def = ct_chamber_def_default();
    def.cells = CT_CELLS_PER_TAG, def.tags = tags, def.ntag = 3;
    int index = -1;
    if (ct_scene_add_chamber(scene, &def, &index, &error)) fail_msg("%s", error.message);
    const ct_scene_actuator* chamber = &scene->actuator[index];
    assert_int_equal(chamber->nelement, mesh->ntet / 2);
    assert_int_equal(chamber->size, 2);
    for (int e = 0; e < chamber->nelement; e++) {
        const int tag = mesh->tet_tag[chamber->tet[e]];
        assert_true((tag == 1 && chamber->number[e] == 0) || (tag == 3 && chamber->number[e] == 1));
    }
    def.tags = (int[]){99}, def.ntag = 1;
    assert_int_equal(ct_scene_add_chamber(scene, &def, NULL, &error), CT_BAD_SCENE);
    def.tags = (int[]){1, -1}, def.ntag = 2;
    assert_int_equal(ct_scene_add_chamber(scene, &def, NULL, &error), CT_BAD_SCENE);
    // written and read again
    char* text = NULL;
    size_t size;
    ct_scene* again = NULL;
    if (ct_scene_write(scene, &text, &size, &error)) fail_msg("%s", error.message);
    if (ct_scene_parse(&again, text, size, NULL, &error)) fail_msg("%s: %s", error.path, error.message);
    assert_true(again->nactuator == 1 && again->actuator[0].nelement == mesh->ntet / 2);
    assert_int_equal(again->actuator[0].ntag, 3);
    ct_free(text);
    ct_scene_free(again), ct_scene_free(scene), ct_mesh_free(mesh);
}

static void bad_actuators_are_refused(void** state) {
    assert_refused("\"cells\": \"one\"", "\"tag\": []", "chambers[0].tag");
    assert_refused("\"cells\": \"one\"", "\"tag\": [0, \"rubber\"]", "chambers[0].tag[1]");
    assert_refused("\"radius\": 0.12, \"segments\"", "\"radius\": -1, \"segments\"", "muscles[0].radius");
    assert_refused("\"radius\": 0.12, \"segments\"", "\"raduis\": 1, \"segments\"", "muscles[0].raduis");
    assert_refused("[[0, 0.15, 0.1], [0.6, 0.15, 0.1]]", "[[0, 0.15, 0.1]]", "muscles[1].points");
    assert_refused("\"name\": \"extensor\"", "\"name\": \"flexor\"", "muscles[1].name");
    assert_refused("\"body\": \"beam\", \"points\"", "\"body\": \"bean\", \"points\"", "muscles[1].body");
    assert_refused("\"cells\": \"one\"", "\"cells\": \"two\"", "chambers[0].cells");
    assert_refused("\"cells\": \"one\"", "\"tag\": \"rubber\"", "chambers[0].tag");
    assert_refused("\"cells\": \"one\"", "\"activation\": 0", "chambers[0].activation");
    assert_refused("\"chambers\": [{\"name\": \"bellows\",",
                   "\"cavities\": [{\"seed\": [0.1, 0.1, 0.1]}], \"chambers\": [{\"name\": \"bellows\",",
                   "cavities[0].seed");
    assert_refused("\"chambers\": [{\"name\": \"bellows\",",
                   "\"cavities\": [{}], \"chambers\": [{\"name\": \"bellows\",", "cavities[0]");
    assert_refused("\"actuator\": \"flexor\"", "\"actuator\": \"biceps\"", "controls[0].actuator");
    assert_refused("\"chamber_stiffness\", \"actuator\": \"bellows\"",
                   "\"chamber_stiffness\", \"actuator\": \"flexor\"", "parameters[3].actuator");
    assert_refused("\"muscle_stiffness\", \"per\"", "\"young\", \"actuator\": \"flexor\", \"per\"",
                   "parameters[2].actuator");
    assert_refused("\"solver\": {", "\"solver\": {\"type\": \"projective\", ", "solver.type");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actuators_are_read),
        cmocka_unit_test(values_of_controls_reach_actuators),
        cmocka_unit_test(controls_of_actuators_have_bounds),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(chambers_may_have_several_tags),
        cmocka_unit_test(bad_actuators_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
