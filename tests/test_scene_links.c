// Skeletons of scene files: what is read, what is refused and how it says so; masses of rigid meshes.
#include <unistd.h>

#include "build.h"
#include "scene/scene.h"
#include "scene_text.h"

#define BOX "{\"box\":{\"size\":[2,1,1],\"cells\":[4,1,1]}}"
#define HINGE "\"joint\":{\"type\":\"revolute\"}"
#define ROD "\"mass\":1,\"center\":[1,0,0]"
#define LINKS(list) "{\"skeletons\":[{\"links\":[" list "]}]}"

static void every_key_of_a_link_is_read(void** unused) {
    ct_scene* scene =
        parse("{\"bodies\":[" BOX "],\"skeletons\":[{\"name\":\"arm\",\"links\":["
              "{\"name\":\"torso\",\"parent\":null,\"joint\":{\"type\":\"fixed\"},\"nodes\":{\"box\":[[0,0,0]"
              ",[0.5,1,1]]},"
              "\"motion\":{\"keys\":[{\"time\":0},{\"time\":1,\"translate\":[0,1,0]}]}},"
              "{\"name\":\"upper\",\"parent\":\"torso\",\"joint\":{\"type\":\"revolute\",\"anchor\":[1,2,3],"
              "\"axis\":[0,2,0],\"position\":0.1,\"velocity\":0.2,"
              "\"stiffness\":3,\"rest\":0.4,\"damping\":5,\"limits\":[-6,7],\"limit_stiffness\":8,\"servo\":{"
              "\"stiffness\":9,\"damping\":10,\"target\":0.11}},"
              "\"mass\":12,\"center\":[1.3,1.4,1.5],\"inertia\":[1.6,1.7,1.8,0.1,0.2,0.3]},"
              "{\"parent\":\"upper\",\"joint\":{\"type\":\"ball\",\"position\":[0.1,0.2,0.3],\"velocity\":[1,"
              "2,3],\"stiffness\":1,\"damping\":2,\"limits\":[0,1.5],\"limit_stiffness\":3,\"servo\":{"
              "\"stiffness\":4,\"target\":[0.5,0.6,0.7]}},\"mass\":1,\"center\":[5,0,0],\"inertia\":[1,1,1]},"
              "{\"name\":\"sled\",\"joint\":{\"type\":\"prismatic\"},\"nodes\":{\"list\":[8]}},"
              "{\"name\":\"ship\",\"joint\":{\"type\":\"free\",\"position\":[1,2,3,4,5,6],\"velocity\":[6,5,"
              "4,3,2,1]},\"mass\":1,\"center\":[2,0,0]}]}],"
              "\"controls\":[{\"name\":\"turn\",\"torque\":\"upper\"},{\"name\":\"aim\",\"target\":\"upper\"}"
              ",{\"name\":\"ride\",\"drive\":\"torso\"}]}");
    assert_int_equal(scene->nlink, 5);
    const ct_scene_link* link = scene->link;
    assert_true(link[0].parent == -1 && link[0].joint.kind == CT_JOINT_FIXED && link[0].nnode == 8 &&
                link[0].driven);
    const ct_joint_def* j = &link[1].joint;
    assert_true(link[1].parent == 0 && j->kind == CT_JOINT_REVOLUTE && j->anchor[2] == 3 && j->axis[1] == 1);
    assert_true(j->position == 0.1 && j->velocity == 0.2 && j->stiffness == 3 && j->rest == 0.4 &&
                j->damping == 5);
    assert_true(j->lower == -6 && j->upper == 7 && j->limit_stiffness == 8 && j->servo_stiffness == 9 &&
                j->servo_damping == 10 && j->target == 0.11);
    assert_true(link[1].mass == 12 && link[1].center[1] == 1.4 && link[1].inertia[5] == 0.3);
    assert_true(link[2].joint.kind == CT_JOINT_BALL && link[2].joint.damping == 2 &&
                link[2].inertia[1] == 1 && link[2].inertia[3] == 0);
    assert_true(link[2].joint.pose[2] == 0.3 && link[2].joint.rate[0] == 1 && link[4].joint.pose[5] == 6 &&
                link[4].joint.rate[5] == 1);
    assert_true(link[2].joint.upper == 1.5 && link[2].joint.limit_stiffness == 3 &&
                link[2].joint.servo_stiffness == 4 && link[2].joint.pose_target[2] == 0.7);
    assert_string_equal(link[2].name, "link2");
    assert_true(link[3].joint.kind == CT_JOINT_PRISMATIC && link[3].node[0] == 8 &&
                link[4].joint.kind == CT_JOINT_FREE);
    assert_true(scene->control[0].kind == CT_CONTROL_TORQUE && scene->control[0].link == 1);
    assert_true(scene->control[1].kind == CT_CONTROL_TARGET && scene->control[2].kind == CT_CONTROL_DRIVE &&
                scene->control[2].link == 0);
    ct_scene_free(scene);
}

static void skeleton_without_bodies_can_be_simulated(void** unused) {
    ct_scene* scene = parse(LINKS("{" HINGE ",\"mass\":1,\"center\":[1,0,0]}"));
    sim s = start(scene, 1);
    steps(&s, 10);
    double h = 0.01, n = 10;  // g h^2 n (n + 1) / 2, while the angle is small
    assert_true(fabs(ct_state_coordinates(s.state)[0] / (-9.81 * h * h * n * (n + 1) / 2) - 1) < 1e-2);
    stop(&s);
}

static void skeletons_that_share_names_are_told_apart(void** unused) {
#define PAIR                                                                                                 \
    "{\"name\":\"a\"," HINGE "," ROD "},{\"name\":\"b\",\"parent\":\"a\"," HINGE                             \
    ",\"mass\":1,\"center\":[2,0,0]}"
    ct_scene* scene =
        parse("{\"skeletons\":[{\"name\":\"left\",\"links\":[" PAIR "]},{\"name\":\"right\",\"links\":[" PAIR
              ",{\"name\":\"c\",\"parent\":\"b\"," HINGE "," ROD
              "}]},{\"links\":[{\"name\":\"d\",\"parent\":\"b\"," HINGE "," ROD "}]}]}");
    assert_string_equal(scene->link[1].name, "b");
    assert_string_equal(scene->link[3].name, "right.b");
    assert_int_equal(scene->link[3].parent, 2);
    assert_int_equal(scene->link[4].parent, 3);  // its own b
    assert_int_equal(scene->link[5].parent, 1);  // that of the first skeleton
    ct_scene_free(scene);
}

// ---- rigid meshes ----

static void box_meshes_have_the_inertia_of_a_box(void** unused) {
    char directory[] = "/tmp/cuttle_links_XXXXXX", path[80];
    assert_non_null(mkdtemp(directory));
    ct_mesh* mesh;
    must(ct_mesh_box(&mesh, (double[]){1, 2, 3}, (int[]){2, 1, 2}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++) mesh->x[3 * v] += 100;  // far from the origin
    static const char* const names[] = {"bone.stl", "bone.msh"};
    for (int i = 0; i < 2; i++) {
        ct_error error;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        must(ct_mesh_save(mesh, path, &error), &error);
        char text[300];
        snprintf(
            text, sizeof text,
            "{\"skeletons\":[{\"links\":[{\"joint\":{\"type\":\"free\"},\"mesh\":\"%s\",\"density\":2}]}]}",
            names[i]);
        ct_scene* scene = parse_in(text, directory);
        const ct_scene_link* link = scene->link;
        double tolerance = i ? 1e-12 : 1e-6;  // STL has single precision
        assert_true(fabs(link->mass - 12) < tolerance && fabs(link->center[0] - 100.5) < 100 * tolerance &&
                    fabs(link->center[2] - 1.5) < tolerance);
        double expected[6] = {13, 10, 5, 0, 0, 0};
        for (int k = 0; k < 6; k++) assert_true(fabs(link->inertia[k] - expected[k]) < 100 * tolerance);
        ct_scene_free(scene);
        unlink(path);
    }
    rmdir(directory);
    ct_mesh_free(mesh);
}

// A tetrahedron with corners 0, x, y, z: mass 1/6, second moments 1/60 and 1/120 about the origin.
static void tetrahedron_has_its_known_inertia(void** unused) {
    const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int tri[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1},
              inside_out[12] = {1, 3, 2, 0, 2, 3, 0, 3, 1, 0, 1, 2};
    double mass, center[3], J[6];
    ct_mesh* mesh;
    ct_error error;
    must(ct_mesh_create(&mesh, 4, x, 0, NULL, 4, tri, NULL), NULL);
    must(ct_mesh_mass(mesh, 6, &mass, center, J, &error), &error);
    assert_true(fabs(mass - 1) < 1e-14 && fabs(center[1] - 0.25) < 1e-15);
    assert_true(fabs(J[0] - 2 * (0.1 - 1.0 / 16)) < 1e-14 && fabs(J[3] - (1.0 / 16 - 0.05)) < 1e-14);
    ct_mesh_free(mesh);
    must(ct_mesh_create(&mesh, 4, x, 0, NULL, 4, inside_out, NULL), NULL);
    assert_int_equal(ct_mesh_mass(mesh, 6, &mass, center, J, &error), CT_BAD_MESH);
    assert_non_null(strstr(error.message, "inside out"));
    ct_mesh_free(mesh);
    must(ct_mesh_create(&mesh, 4, x, 0, NULL, 3, tri, NULL), NULL);
    assert_int_equal(ct_mesh_mass(mesh, 6, &mass, center, J, &error), CT_BAD_MESH);
    assert_non_null(strstr(error.message, "not closed"));
    ct_mesh_free(mesh);
}

// ---- files ----

static void robot_file_takes_flesh(void** unused) {
    ct_scene* scene = parse_in(
        "{\"bodies\":[" BOX
        "],\"skeletons\":[{\"name\":\"p\",\"file\":\"double_pendulum.xml\",\"scale\":2,\"translate\":[0,0,1],"
        "\"rotate\":{\"axis\":[1,0,0],\"degrees\":-90},\"links\":[{\"name\":\"lower\",\"nodes\":{\"list\":[0,"
        "1,2,5]}}]},"
        "{\"name\":\"q\",\"file\":\"double_pendulum.urdf\"}],\"controls\":[{\"name\":\"t\",\"torque\":\"q."
        "lower\"}]}",
        CT_SOURCE_DIR "/tests/data");
    assert_int_equal(scene->nlink, 5);
    assert_int_equal(scene->link[1].nnode, 4);
    assert_true(fabs(scene->link[0].joint.anchor[1] - 2) < 1e-15 &&
                fabs(scene->link[0].joint.anchor[2] - 1) < 1e-15);
    assert_true(fabs(scene->link[0].mass - 8) < 1e-12);
    assert_string_equal(scene->link[4].name, "q.lower");
    assert_string_equal(scene->control[0].name, "drive");
    assert_int_equal(scene->control[1].link, 4);
    ct_scene_free(scene);
}

// ---- refusals ----

static void bad_links_say_what_to_change(void** unused) {
    refused(LINKS("\n{\"name\":\"a\"}"), "skeletons[0].links[0]", 2, "joint");
    refused(LINKS("\n{\"joint\":{\"type\":\"hinge\"}}"), "skeletons[0].links[0].joint.type", 2, "revolute");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"axix\":[0,0,1]}}"), "skeletons[0].links[0].joint.axix",
            1, "\"axis\"");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"axis\":[0,0,0]}," ROD "}"),
            "skeletons[0].links[0].joint.axis", 1, "direction");
    refused(LINKS("{\"joint\":{\"type\":\"fixed\",\"axis\":[0,0,1]}," ROD "}"),
            "skeletons[0].links[0].joint.axis", 1, "no meaning");
    refused(LINKS("{\"joint\":{\"type\":\"fixed\",\"position\":[0,0,1]}," ROD "}"),
            "skeletons[0].links[0].joint.position", 1, "no meaning");
    refused(LINKS("{\"joint\":{\"type\":\"ball\",\"position\":1}," ROD "}"),
            "skeletons[0].links[0].joint.position", 1, "3");
    refused(LINKS("{\"joint\":{\"type\":\"free\",\"velocity\":[0,0,1]}," ROD "}"),
            "skeletons[0].links[0].joint.velocity", 1, "6");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"position\":[0,0,1]}," ROD "}"),
            "skeletons[0].links[0].joint.position", 1, "number");
    refused(LINKS("{\"joint\":{\"type\":\"free\",\"servo\":{\"stiffness\":1}}," ROD "}"),
            "skeletons[0].links[0].joint.servo", 1, "no meaning");
    refused(LINKS("{\"joint\":{\"type\":\"ball\",\"servo\":{\"stiffness\":1,\"target\":2}}," ROD "}"),
            "skeletons[0].links[0].joint.servo.target", 1, "3");
    refused(LINKS("{\"joint\":{\"type\":\"ball\",\"limits\":[-1,1],\"limit_stiffness\":1}," ROD "}"),
            "skeletons[0].links[0].joint.limits", 1, "greatest angle");
    refused(LINKS("{\"joint\":{\"type\":\"free\",\"damping\":1}," ROD "}"),
            "skeletons[0].links[0].joint.damping", 1, "no meaning");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"limits\":[0,1]}," ROD "}"),
            "skeletons[0].links[0].joint", 1, "limit_stiffness");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"limits\":[1,0],\"limit_stiffness\":1}," ROD "}"),
            "skeletons[0].links[0].joint.limits", 1, "lower one");
    refused(LINKS("{\"joint\":{\"type\":\"revolute\",\"servo\":{\"damping\":1}}," ROD "}"),
            "skeletons[0].links[0].joint.servo", 1, "stiffness");
    refused(LINKS("{\"parent\":\"b\"," HINGE "," ROD "},{\"name\":\"b\"," HINGE "," ROD "}"),
            "skeletons[0].links[0].parent", 1, "list parents first");
    refused(LINKS("{\"name\":\"b\"," HINGE "," ROD "},\n{\"name\":\"b\"," HINGE "," ROD "}"),
            "skeletons[0].links[1].name", 2, "another link");
    refused(LINKS("{" HINGE ",\"mass\":1}"), "skeletons[0].links[0]", 1, "center");
    refused(LINKS("{" HINGE ",\"center\":[0,0,1]}"), "skeletons[0].links[0].center", 1, "without \"mass\"");
    refused(LINKS("{" HINGE "," ROD ",\"inertia\":[1,1,5]}"), "skeletons[0].links[0].inertia", 1,
            "not that of any body");
    refused(LINKS("{" HINGE "," ROD ",\"inertia\":[1,1]}"), "skeletons[0].links[0].inertia", 1, "3 numbers");
    refused(LINKS("{" HINGE "," ROD ",\"mesh\":\"a.stl\",\"density\":1}"), "skeletons[0].links[0].mass", 1,
            "keep one");
    refused(LINKS("{" HINGE ",\"mesh\":\"a.stl\"}"), "skeletons[0].links[0]", 1, "density");
    refused(LINKS("{" HINGE ",\"nodes\":{\"all\":true}}"), "skeletons[0].links[0].nodes", 1, "no nodes");
    refused("{\"skeletons\":[{}]}", "skeletons[0]", 1, "\"links\" or a \"file\"");
    refused("{\"skeletons\":[]}", "bodies", 1, "has no body");
    refused("{\"skeletons\":[{\"links\":[{\"joint\":{\"type\":\"fixed\"}}]}]}", "skeletons", 1,
            "have no mass");
    refused("{\"skeletons\":[{\"links\":[],\"scale\":2}]}", "skeletons[0].scale", 1, "\"file\"");
    refused("{\"skeletons\":[{\"links\":[{\"name\":\"a\"," HINGE "," ROD
            "}]},\n{\"links\":[{\"name\":\"a\"," HINGE "," ROD "}]}]}",
            "skeletons[1].links[0].name", 2, "give this skeleton a name");
}

static void joints_that_move_nothing_are_refused(void** unused) {
    refused(LINKS("{\"name\":\"a\"," HINGE "},{\"name\":\"b\"," HINGE "," ROD "}"), "skeletons", 1,
            "\"a\" whose joint moves nothing");
    refused(LINKS("{\"name\":\"a\"," HINGE ",\"mass\":1,\"center\":[0,0,5]}"), "skeletons", 1,
            "turns without inertia");
    refused(LINKS("{\"name\":\"a\",\"joint\":{\"type\":\"ball\"},\"mass\":1,\"center\":[0,0,0]}"),
            "skeletons", 1, "on its anchor");
    ct_scene_free(parse(LINKS("{\"name\":\"a\"," HINGE "},{\"name\":\"b\",\"parent\":\"a\"," HINGE "," ROD
                              "},{\"joint\":{\"type\":\"fixed\"},\"parent\":\"b\"}")));
}

static void pinned_nodes_cannot_sit_on_links(void** unused) {
    refused("{\"bodies\":[" BOX "],\"skeletons\":[{\"links\":[{" HINGE
            ",\"nodes\":{\"all\":true}}]}],\n\"pins\":[{\"select\":{\"list\":[3]}}]}",
            "pins[0]", 2, "sits on the link \"link0\"");
    refused("{\"bodies\":[" BOX "],\"skeletons\":[{\"links\":[{" HINGE ",\"nodes\":{\"all\":true}},{" HINGE
            ",\"nodes\":{\"list\":[3]}}]}]}",
            "skeletons[0].links[1].nodes", 1, "a node has one link");
}

static void controls_of_links_are_checked(void** unused) {
#define CONTROL(rest)                                                                                        \
    "{\"skeletons\":[{\"links\":[{\"name\":\"a\"," HINGE "," ROD                                             \
    "},{\"name\":\"f\",\"parent\":\"a\",\"joint\":{\"type\":\"fixed\"}}]}],\"controls\":[\n{\"name\":"       \
    "\"c\"," rest "}]}"
    refused(CONTROL("\"torque\":\"b\""), "controls[0].torque", 2, "is not a link; the first one is \"a\"");
    refused(CONTROL("\"torque\":\"f\""), "controls[0].torque", 2, "takes no torque");
    refused(CONTROL("\"target\":\"a\""), "controls[0].target", 2, "no servo");
    refused(CONTROL("\"drive\":\"f\""), "controls[0].drive", 2, "not a root");
    refused(CONTROL("\"torque\":\"a\",\"target\":\"a\""), "controls[0]", 2, "exactly one");
    refused("{\"bodies\":[" BOX "],\"controls\":[{\"name\":\"c\",\"torque\":\"a\"}]}", "controls[0].torque",
            1, "no skeleton");
}

static void faults_of_robot_files_keep_their_place(void** unused) {
    char path[] = "/tmp/cuttle_robot_XXXXXX", text[200];
    int file = mkstemp(path);
    assert_true(file >= 0);
    static const char robot[] =
        "<mujoco>\n<worldbody>\n<body><joint springdamper='1 1'/></body></worldbody></mujoco>";
    assert_int_equal(write(file, robot, sizeof robot - 1), sizeof robot - 1);
    close(file);
    ct_scene* scene;
    ct_error error;
    snprintf(text, sizeof text, "{\"skeletons\":[\n{\"file\":\"%s\"}]}", path);
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_BAD_FILE);
    assert_string_equal(error.file, path);
    assert_string_equal(error.path, "skeletons[0].file");
    assert_int_equal(error.line, 3);
    unlink(path);
    refused("{\"skeletons\":[\n{\"file\":\"double_pendulum.xml\",\"links\":[{\"name\":\"hand\",\"nodes\":{"
            "\"all\":true}}]}]}",
            "skeletons[0].links[0].name", 2, "not a link of the file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_a_link_is_read),
        cmocka_unit_test(skeleton_without_bodies_can_be_simulated),
        cmocka_unit_test(skeletons_that_share_names_are_told_apart),
        cmocka_unit_test(box_meshes_have_the_inertia_of_a_box),
        cmocka_unit_test(tetrahedron_has_its_known_inertia),
        cmocka_unit_test(robot_file_takes_flesh),
        cmocka_unit_test(bad_links_say_what_to_change),
        cmocka_unit_test(joints_that_move_nothing_are_refused),
        cmocka_unit_test(pinned_nodes_cannot_sit_on_links),
        cmocka_unit_test(controls_of_links_are_checked),
        cmocka_unit_test(faults_of_robot_files_keep_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
