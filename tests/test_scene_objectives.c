// Controls, parameters, objectives and optimiser settings in scene files.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "scene_text.h"
#include "unit.h"

#define BOX "{\"name\":\"bar\",\"box\":{\"size\":[2,1,1],\"cells\":[2,1,1]}}"
#define CONTROLS                                                                                             \
    "\"drives\":[{\"select\":{\"box\":[[0,0,0],[0,1,1]]}}],"                                                 \
    "\"controls\":[{\"name\":\"push\",\"force\":{\"select\":{\"box\":[[2,0,0],[2,1,1]]}}},"                  \
    "{\"name\":\"mount\",\"drive\":0}]"
// The text after the line of bodies and the line of controls.
#define WITH(text) "{\"bodies\":[" BOX "],\n" CONTROLS ",\n" text "}"

// -------------------------------------------------------------------------------------------------

static void controls_are_read(void** state) {
    (void)state;
    ct_scene* scene = parse("{\"bodies\":[" BOX "]," CONTROLS "}");
    assert_int_equal(scene->ncontrol, 2);
    assert_string_equal(scene->control[0].name, "push");
    assert_int_equal(scene->control[0].kind, CT_CONTROL_FORCE);
    assert_int_equal(scene->control[0].nnode, 4);
    assert_string_equal(scene->control[1].name, "mount");
    assert_int_equal(scene->control[1].kind, CT_CONTROL_DRIVE);
    assert_int_equal(scene->control[1].drive, 0);
    ct_scene_free(scene);
}

static void parameters_are_read(void** state) {
    (void)state;
    ct_scene* scene = parse(WITH(
        "\"parameters\":[{\"type\":\"young\",\"per\":\"tag\",\"body\":\"bar\",\"lower\":10,\"upper\":1e9,"
        "\"transform\":\"affine\",\"scale\":3,\"offset\":-2,\"start\":50,\"name\":\"stiffness\"},"
        "{\"type\":\"control\",\"control\":\"mount\",\"hold\":4},{\"type\":\"poisson\"},"
        "{\"type\":\"density\",\"body\":0},{\"type\":\"gravity\"},{\"type\":\"damping_mass\"}]"));
    const ct_scene_parameter* p = scene->parameter;
    assert_int_equal(scene->nparameter, 6);
    assert_string_equal(p[0].name, "stiffness");
    assert_true(p[0].quantity == CT_QUANTITY_YOUNG && p[0].per == CT_PER_TAG && p[0].body == 0);
    assert_true(p[0].transform == CT_TRANSFORM_AFFINE && p[0].scale == 3 && p[0].offset == -2 &&
                p[0].start == 50);
    assert_true(p[0].lower == 10 && p[0].upper == 1e9);
    assert_string_equal(p[1].name, "mount");
    assert_true(p[1].quantity == CT_QUANTITY_CONTROL && p[1].control == 1 && p[1].hold == 4);
    assert_true(p[1].transform == CT_TRANSFORM_AFFINE && isnan(p[1].start) && p[1].scale == 0);
    assert_true(p[2].transform == CT_TRANSFORM_SIGMOID && p[2].lower == 0 && p[2].upper == 0.49 &&
                p[2].per == CT_PER_BODY);
    assert_true(p[3].transform == CT_TRANSFORM_LOG && isinf(p[3].lower) && isinf(p[3].upper));
    assert_string_equal(p[3].name, "density.bar");
    assert_string_equal(p[4].name, "gravity");
    assert_true(p[5].transform == CT_TRANSFORM_AFFINE && p[5].lower == 0);
    ct_scene_free(scene);
}

static void objectives_are_read(void** state) {
    (void)state;
    ct_scene* scene = parse(WITH(
        "\"objective\":["
        "{\"type\":\"point\",\"target\":[1,2,3],\"time\":0.5,\"weight\":7,\"norm\":\"distance\",\"name\":"
        "\"tip\"},"
        "{\"type\":\"velocity\",\"path\":[{\"time\":0,\"target\":[0,0,0]},{\"time\":1,\"target\":[4,5,6]}],"
        "\"from\":0.25,\"select\":{\"list\":[3,1]},\"uniform\":true},"
        "{\"type\":\"shape\",\"select\":{\"list\":[5,2]},\"shape\":[[1,2,3],[4,5,6]],\"relative\":true,"
        "\"to\":0.5},"
        "{\"type\":\"effort\",\"control\":\"push\"},{\"type\":\"smoothness\"}]"));
    const ct_scene_objective* o = scene->objective;
    assert_int_equal(scene->nobjective, 5);
    assert_string_equal(o[0].name, "tip");
    assert_true(o[0].kind == CT_OBJECTIVE_POINT && o[0].nnode == 12 && o[0].npath == 1 &&
                o[0].path[0].translate[1] == 2);
    assert_true(o[0].start == 0.5 && o[0].stop == 0.5 && o[0].weight == 7 && o[0].distance && !o[0].uniform &&
                !o[0].relative);
    assert_string_equal(o[1].name, "velocity");
    assert_true(o[1].kind == CT_OBJECTIVE_VELOCITY && o[1].nnode == 2 && o[1].npath == 2 &&
                o[1].path[1].translate[2] == 6);
    assert_true(o[1].start == 0.25 && isinf(o[1].stop) && o[1].uniform && !o[1].distance);
    assert_true(o[2].kind == CT_OBJECTIVE_SHAPE && o[2].relative && o[2].start == 0 && o[2].stop == 0.5);
    assert_true(o[2].node[0] == 2 && o[2].node[1] == 5 && o[2].shape[0] == 1 && o[2].shape[5] == 6);
    assert_true(o[3].kind == CT_OBJECTIVE_EFFORT && o[3].control == 0 && isnan(o[3].start) &&
                isnan(o[3].stop));
    assert_true(o[4].kind == CT_OBJECTIVE_SMOOTHNESS && o[4].control == -1);
    ct_scene_free(scene);
}

static void shape_comes_from_a_file_beside_the_scene(void** state) {
    (void)state;
    FILE* file = fopen(CT_BINARY_DIR "/goal_shape.txt", "w");
    assert_non_null(file);
    fputs("# two nodes\n1 2 3\n4 5 6\n", file);
    fclose(file);
    ct_scene* scene = parse_in(
        WITH("\"objective\":[{\"type\":\"shape\",\"select\":{\"list\":[0,1]},\"shape\":\"goal_shape.txt\"}]"),
        CT_BINARY_DIR);
    assert_true(scene->objective[0].shape[0] == 1 && scene->objective[0].shape[5] == 6);
    ct_scene_free(scene);
    remove(CT_BINARY_DIR "/goal_shape.txt");
}

static void optimizer_is_read(void** state) {
    (void)state;
    ct_scene* scene = parse(WITH(
        "\"optimizer\":{\"method\":\"mma\",\"iterations\":7,\"target\":0.5,\"rate\":2,\"tolerance\":0}"));
    ct_optimize_def def = ct_scene_optimize_def(scene);
    assert_true(def.method == CT_METHOD_MMA && def.iterations == 7 && def.target == 0.5 && def.rate == 2 &&
                def.tolerance == 0);
    ct_scene_free(scene);
    scene = parse(WITH("\"optimizer\":{\"restarts\":3,\"seed\":2147483647,\"noise\":0.25,\"spread\":0.5,"
                       "\"population\":12}"));
    def = ct_scene_optimize_def(scene);
    assert_true(def.restarts == 3 && def.seed == 2147483647 && def.noise == 0.25 && def.spread == 0.5 &&
                def.population == 12);
    ct_scene_free(scene);
    const char* const names[] = {"lbfgs", "adam",      "mma",    "slsqp",
                                 "cmaes", "evolution", "bobyqa", "nelder_mead"};
    for (int method = CT_METHOD_LBFGS; method <= CT_METHOD_NELDER_MEAD; method++) {
        char text[2000];
        snprintf(text, sizeof text, WITH("\"optimizer\":{\"method\":\"%s\"}"), names[method]);
        scene = parse(text);
        def = ct_scene_optimize_def(scene);
        assert_int_equal(def.method, method);
        ct_scene_free(scene);
    }
    scene = parse("{\"bodies\":[" BOX "]}");
    def = ct_scene_optimize_def(scene);
    assert_true(def.method == CT_METHOD_LBFGS && def.target == -INFINITY);
    assert_true(def.restarts == 0 && def.seed == 0 && def.noise == 0 && def.spread == 0.3 &&
                def.population == 0);
    ct_scene_free(scene);
}

// -------------------------------------------------------------------------------------------------

static void bad_controls_say_what_to_change(void** state) {
    (void)state;
#define CONTROL(text) "{\"bodies\":[" BOX "],\n\"controls\":[" text "]}"
    refused(CONTROL("{\"name\":\"a\"}"), "controls[0]", 2, "exactly one of");
    refused(CONTROL("{\"name\":\"a\",\"drive\":0}"), "controls[0].drive", 2, "no drives");
    refused(CONTROL("{\"drive\":0}"), "controls[0]", 2, "needs the key \"name\"");
    refused(CONTROL("{\"name\":\"a\",\"force\":{}}"), "controls[0].force", 2, "needs the key \"select\"");
    refused(CONTROL("{\"name\":\"a\",\"force\":{\"select\":{\"all\":true}}},\n{\"name\":\"a\",\"force\":{"
                    "\"select\":{\"all\":true}}}"),
            "controls[1].name", 3, "another control");
}

static void bad_parameters_say_what_to_change(void** state) {
    (void)state;
#define PARAMETER(text) WITH("\"parameters\":[{" text "}]")
    refused(PARAMETER("\"type\":\"yuong\""), "parameters[0].type", 3, "young");
    refused(PARAMETER("\"per\":\"body\""), "parameters[0]", 3, "needs the key \"type\"");
    refused(PARAMETER("\"type\":\"young\",\"hold\":2"), "parameters[0].hold", 3, "no meaning");
    refused(PARAMETER("\"type\":\"gravity\",\"body\":0"), "parameters[0].body", 3, "no meaning");
    refused(PARAMETER("\"type\":\"control\",\"control\":\"pull\""), "parameters[0].control", 3, "\"push\"");
    refused(PARAMETER("\"type\":\"control\""), "parameters[0].control", 3, "is missing");
    refused(PARAMETER("\"type\":\"young\",\"transform\":\"sigmoid\""), "parameters[0].transform", 3,
            "give both");
    refused(PARAMETER("\"type\":\"poisson\",\"upper\":0.6"), "parameters[0].upper", 3, "below 0.5");
    refused(PARAMETER("\"type\":\"young\"},\n{\"type\":\"young\""), "parameters[1].type", 4, "already sets");
}

static void bad_objectives_say_what_to_change(void** state) {
    (void)state;
#define OBJECTIVE(text) WITH("\"objective\":[{" text "}]")
    refused(OBJECTIVE("\"type\":\"point\""), "objective[0].target", 3, "is missing");
    refused(OBJECTIVE("\"type\":\"point\",\"target\":[0,0,0],\"path\":[]"), "objective[0].path", 3,
            "keep one");
    refused(OBJECTIVE("\"type\":\"point\",\"path\":[]"), "objective[0].target", 3, "is missing");
    refused(OBJECTIVE("\"type\":\"point\",\"path\":[{\"time\":1,\"target\":[0,0,0]},\n{\"time\":0,\"target\":"
                      "[0,0,0]}]"),
            "objective[0].path[1]", 4, "in order of time");
    refused(OBJECTIVE("\"type\":\"point\",\"target\":[0,0,0],\"time\":1,\"to\":2"), "objective[0].time", 3,
            "keep one");
    refused(OBJECTIVE("\"type\":\"point\",\"target\":[0,0,0],\"from\":3,\"to\":2"), "objective[0].to", 3,
            "before from");
    refused(OBJECTIVE("\"type\":\"effort\",\"target\":[0,0,0]"), "objective[0].target", 3, "no meaning");
    refused(OBJECTIVE("\"type\":\"shape\""), "objective[0].shape", 3, "is missing");
    refused(OBJECTIVE("\"type\":\"shape\",\"shape\":[[0,0,0]]"), "objective[0].shape", 3, "12 nodes");
    refused(OBJECTIVE("\"type\":\"shape\",\"shape\":\"nowhere.txt\""), "objective[0].shape", 0,
            "nowhere.txt");
    refused(OBJECTIVE("\"type\":\"point\",\"target\":[0,0,0],\"norm\":\"cubed\""), "objective[0].norm", 3,
            "squared");
    refused("{\"bodies\":[" BOX "],\n\"objective\":[{\"type\":\"effort\"}]}", "objective[0].type", 2,
            "needs a control");
    refused(WITH("\"optimizer\":{\"rate\":0}"), "optimizer.rate", 3, "above 0");
    refused(WITH("\"optimizer\":{\"restarts\":-1}"), "optimizer.restarts", 3, "-1");
    refused(WITH("\"optimizer\":{\"noise\":-1}"), "optimizer.noise", 3, "0 or more");
    refused(WITH("\"optimizer\":{\"spread\":0}"), "optimizer.spread", 3, "above 0");
    refused(WITH("\"optimizer\":{\"population\":3}"), "optimizer.population", 3, "from 4");
    refused(WITH("\"optimizer\":{\"seed\":0.5}"), "optimizer.seed", 3, "0.5");
    refused(WITH("\"optimizer\":{\"method\":\"cma_es\"}"), "optimizer.method", 3, "cmaes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_are_read),
        cmocka_unit_test(parameters_are_read),
        cmocka_unit_test(objectives_are_read),
        cmocka_unit_test(shape_comes_from_a_file_beside_the_scene),
        cmocka_unit_test(optimizer_is_read),
        cmocka_unit_test(bad_controls_say_what_to_change),
        cmocka_unit_test(bad_parameters_say_what_to_change),
        cmocka_unit_test(bad_objectives_say_what_to_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
