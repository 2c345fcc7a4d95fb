// Thin sheets in scene files: what is read and refused, and problems over their parameters, also on a
// skeleton.
#include "build.h"
#include "model/model.h"
#include "scene_text.h"

static void a_sheet_is_read(void** state) {
    ct_scene* scene = parse(
        "{\"bodies\":[{\"sheet\":{\"size\":[2,1],\"cells\":[4,2]},\"scale\":0.5,\"material\":"
        "{\"energy\":\"stvk\",\"thickness\":2e-3,\"bending\":0.25,\"young\":5e4},\"values\":{\"density\":"
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}}]}");
    ct_body_info info;
    must(ct_scene_body_info(scene, 0, &info), NULL);
    assert_int_equal(info.ntri, 16);
    assert_int_equal(info.nvert, 15);
    assert_true(info.material.thickness == 2e-3 && info.material.bending == 0.25 &&
                info.material.energy == CT_ENERGY_STVK);
    assert_true(info.density[0] == 1 && info.density[1] == 16 && info.upper[0] == 1 && info.upper[1] == 0.5 &&
                info.upper[2] == 0);
    int *nodes, count;
    const ct_selector surface = {.kind = CT_SELECT_SURFACE, .body = -1};
    ct_error error;
    must(ct_scene_select(scene, &surface, &nodes, &count, &error), &error);
    assert_int_equal(count, 15);
    ct_free(nodes);
    ct_scene_free(scene);
}

static void a_file_of_triangles_is_a_sheet_with_tags(void** state) {
    const char* path = CT_BINARY_DIR "/test_sheet_scene.msh";
    const double size[2] = {1, 1};
    const int cells[2] = {2, 1};
    ct_mesh* mesh;
    ct_error error;
    must(ct_mesh_sheet(&mesh, size, cells, NULL), NULL);
    mesh->tri_tag[3] = 7;
    must(ct_mesh_save(mesh, path, &error), &error);
    ct_mesh_free(mesh);
    ct_scene* scene =
        parse_in("{\"bodies\":[{\"mesh\":\"test_sheet_scene.msh\",\"tags\":{\"7\":{\"thickness\":0.01}}}]}",
                 CT_BINARY_DIR);
    sim s = start(scene, 1);
    assert_true(s.model->material[2].thickness == 1e-3 && s.model->material[3].thickness == 0.01);
    stop(&s);
}

static void bad_sheets_say_what_to_change(void** state) {
    refused("{\"bodies\":[{\"sheet\":{\"size\":[1,1,1],\"cells\":[1,1]}}]}", "bodies[0].sheet.size", 1,
            "two numbers");
    refused("{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[0,1]}}]}", "bodies[0].sheet.cells[0]", 1,
            "from 1 to");
    refused("{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[1,1]},\"material\":{\"thickness\":0}}]}",
            "bodies[0].material.thickness", 1, "above 0");
    refused("{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[1,1]},\"material\":{\"bending\":-1}}]}",
            "bodies[0].material.bending", 1, "at least 0");
    refused(
        "{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[1,1]},\"material\":{\"bending\":{\"warp\":0}}}]}",
        "bodies[0].material.bending.warp", 1, "above 0");
    refused(
        "{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[1,1]},\"material\":{\"bending\":{\"direction\":"
        "[0,0,0]}}}]}",
        "bodies[0].material.bending.direction", 1, "no direction");
    refused("{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[1,1]}}],\"pins\":[{\"select\":{\"all\":true},"
            "\"clamp\":true}],\"controls\":[{\"name\":\"c\",\"drive\":0}]}",
            "controls[0].drive", 1, "clamped");
    refused(
        "{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"material\":{\"curvature\":[1,0,0]}}]}",
        "bodies[0].material.curvature", 1, "tets");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"material\":{\"thickness\":1}}]}",
            "bodies[0].material.thickness", 1, "tets");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}}],\"parameters\":[{\"type\":"
            "\"bending\"}]}",
            "parameters[0].type", 1, "sheet");
}

static void threads_curl_and_clamps_are_read(void** state) {
    ct_scene* scene = parse("{\"bodies\":[{\"sheet\":{\"size\":[1,1],\"cells\":[2,2]},\"material\":{"
                            "\"bending\":{\"warp\":2,\"weft\":3,"
                            "\"shear\":4,\"direction\":[0,1,0]},\"curvature\":[5,6,7]}}],\"pins\":[{"
                            "\"select\":{\"box\":[[-1,-1,-1],[0,2,1]]}"
                            ",\"clamp\":true}]}");
    ct_body_info info;
    must(ct_scene_body_info(scene, 0, &info), NULL);
    const ct_material* m = &info.material;
    assert_true(m->bending == 1 && m->bending_warp == 2 && m->bending_weft == 3 && m->bending_shear == 4);
    assert_true(m->direction[0] == 0 && m->direction[1] == 1 && m->direction[2] == 0);
    assert_true(m->curvature_warp == 5 && m->curvature_weft == 6 && m->curvature_twist == 7);
    sim s = start(scene, 1);
    assert_true(s.model->inputs.drive[0].clamp);
    stop(&s);
}

static const char fin[] =
    "{\"time_step\":0.01,\"duration\":0.08,\"solver\":{\"tolerance\":1e-12,\"threads\":1},"
    "\"bodies\":[{\"name\":\"block\",\"box\":{\"size\":[0.1,0.1,0.1],\"cells\":[1,1,1]},\"translate\":[0,1,0]"
    "},"
    "{\"name\":\"fin\",\"sheet\":{\"size\":[0.4,0.2],\"cells\":[4,2]},\"material\":{\"young\":1e5,"
    "\"thickness\":0.004,\"density\":500,"
    "\"damping\":{\"stiffness\":0.002,\"mass\":0.1}}}],"
    "\"skeletons\":[{\"links\":[{\"name\":\"mast\",\"nodes\":{\"body\":\"fin\",\"box\":[[-1,-1,-1],[0.11,1,1]"
    "]},\"mass\":0.05,"
    "\"center\":[0.05,0.1,0],\"inertia\":[1e-4,1e-4,1e-4,0,0,0],\"joint\":{\"type\":\"revolute\",\"anchor\":["
    "0,0,0],\"axis\":[0,1,0],"
    "\"velocity\":4,\"stiffness\":0.05}}]}],"
    "\"parameters\":[{\"type\":\"bending\",\"per\":\"body\"},{\"type\":\"thickness\",\"per\":\"element\"},{"
    "\"type\":\"young\",\"per\":\"body\"},"
    "{\"type\":\"poisson\",\"per\":\"tag\",\"body\":\"fin\"},{\"type\":\"density\",\"per\":\"body\"},{"
    "\"type\":\"damping_stiffness\",\"per\":\"body\",\"body\":\"fin\"},"
    "{\"type\":\"damping_mass\",\"per\":\"scene\"},{\"type\":\"joint_stiffness\"}],"
    "\"objective\":[{\"type\":\"point\",\"select\":{\"body\":\"fin\",\"nearest\":[0.4,0.2,0]},\"target\":[0."
    "3,0.2,0.2]},"
    "{\"type\":\"point\",\"select\":{\"body\":\"block\",\"all\":true},\"target\":[0.3,0.2,0.2]}]}";

// Gradients against differences of freshly built scenes.
static void check_gradients(ct_scene* scene, ct_problem* problem) {
    ct_check_slice checks[16];
    ct_error error;
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_start(problem, y);
    ct_check_def def = ct_check_def_default();
    def.scene = scene, def.components = 2;
    assert_true(ct_problem_slice_count(problem) <= 16);
    must(ct_problem_check(problem, y, &def, checks, &error), &error);
    for (int i = 0; i < ct_problem_slice_count(problem); i++)
        if (!checks[i].passed || checks[i].worst_gradient == 0)
            fail_msg("%s: error %g, slope %g, %g against %g", checks[i].name, checks[i].relative_error,
                     checks[i].slope, checks[i].worst_gradient, checks[i].worst_difference);
    free(y);
}

static void problems_over_sheets_on_a_skeleton_are_right(void** state) {
    ct_scene* scene = parse(fin);
    ct_problem* problem;
    ct_error error;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    assert_int_equal(ct_problem_slice_count(problem), 8);
    ct_slice slice = ct_problem_slice(problem, 0);
    assert_int_equal(slice.count, 1);
    slice = ct_problem_slice(problem, 1);
    assert_int_equal(slice.count, 16);
    slice = ct_problem_slice(problem, 2);
    assert_int_equal(slice.count, 2);
    check_gradients(scene, problem);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// Two sheets: a clamped one of threads that curls, and one of another material that is held by two rows of
// nodes.
static const char curling[] =
    "{'time_step':0.01,'duration':0.05,'solver':{'tolerance':1e-13,'threads':1},'bodies':[{'name':'a',"
    "'sheet':{'size':[0.4,0.3],'cells':[4,3]},'material':{'young':2e5,'poisson':0.3,'thickness':0.004,"
    "'density':500,'damping':{'stiffness':0.002,'mass':0.1},'bending':{'warp':1.5,'weft':0.6,'shear':0.8,"
    "'direction':[1,0.5,0]},'curvature':[2,-1,0.5]}},{'name':'b','sheet':{'size':[0.3,0.3],'cells':[3,3]},"
    "'translate':[0,1,0],'material':{'young':1e5,'thickness':0.003,'bending':2}}],'pins':[{'select':{'body':'"
    "a',"
    "'box':[[-0.01,-1,-1],[0.01,1,1]]},'clamp':true},{'select':{'body':'b','box':[[-0.01,-1,-1],[0.11,2,1]]}}"
    "],"
    "'parameters':[{'type':'young'},{'type':'poisson'},{'type':'density'},{'type':'thickness','per':'element'"
    "},"
    "{'type':'bending','per':'element'},{'type':'bending_warp'},{'type':'bending_weft'},{'type':'bending_"
    "shear',"
    "'per':'element'},{'type':'curvature_warp'},{'type':'curvature_weft','per':'element'},{'type':"
    "'curvature_twist'},{'type':'damping_stiffness'},{'type':'damping_mass'}],'objective':[{'type':'point',"
    "'select':{'body':'a','box':[[0.39,-1,-1],[1,1,1]]},'target':[0.3,0.2,0.2]},{'type':'point','select':"
    "{'body':'b','nearest':[0.3,1.3,0]},'target':[0.3,1.2,0.2]}]}";

static void gradients_by_all_that_bends_a_sheet_are_right(void** state) {
    ct_problem* problem;
    ct_error error;
    char text[sizeof curling];
    for (size_t i = 0; i < sizeof text; i++) text[i] = curling[i] == '\'' ? '"' : curling[i];
    ct_scene* scene = parse(text);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    check_gradients(scene, problem);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// The triangles on the mast do not deform: their hinges are no part of the matrix, and they carry no energy.
static void what_sits_on_one_link_is_rigid(void** state) {
    sim s = start(parse(fin), 1);
    int count, bones = 0;
    const int* hinge = ct_sheet_hinges(s.model->families.of[CT_FAMILY_SHEETS], &count);
    // a column of two cells: two diagonals and the edge between the cells
    assert_int_equal(count, 3 * 4 * 2 - 4 - 2 - 3);
    for (int k = 0; k < count; k++) {
        bool rigid = true;
        for (int i = 0; i < 4; i++) rigid = rigid && s.model->tree.node_link[hinge[4 * k + i]] >= 0;
        assert_false(rigid);
    }
    for (int t = 0; t < s.model->ntri; t++) bones += ct_model_is_rigid(s.model, s.model->ntet + t);
    assert_int_equal(bones, 4);
    steps(&s, 5);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_is_read),
        cmocka_unit_test(a_file_of_triangles_is_a_sheet_with_tags),
        cmocka_unit_test(threads_curl_and_clamps_are_read),
        cmocka_unit_test(bad_sheets_say_what_to_change),
        cmocka_unit_test(problems_over_sheets_on_a_skeleton_are_right),
        cmocka_unit_test(gradients_by_all_that_bends_a_sheet_are_right),
        cmocka_unit_test(what_sits_on_one_link_is_rigid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
