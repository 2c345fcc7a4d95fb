// Robots from MJCF and URDF: poses, inertias, joints, controls, the same motion as through the API, and what
// is refused.
#include "build.h"
#include "read/robot.h"
#include "scene/scene.h"

#define DATA CT_SOURCE_DIR "/tests/data/"

static ct_robot read_robot(const char* text) {
    ct_robot robot;
    ct_error error = {0};
    if (ct_robot_read(&robot, text, strlen(text), "", &error))
        fail_msg("line %d: %s", error.line, error.message);
    return robot;
}

static ct_robot read_body(const char* body) {
    char text[4000];
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/><worldbody>%s</worldbody></mujoco>", body);
    return read_robot(text);
}

static void refused(const char* text, int line, const char* words) {
    ct_robot robot;
    ct_error error = {0};
    assert_int_not_equal(ct_robot_read(&robot, text, strlen(text), "robot.xml", &error), CT_OK);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    if (error.line != line) fail_msg("line %d, expected %d: %s", error.line, line, error.message);
    assert_string_equal(error.file, "robot.xml");
    assert_int_equal(ct_robot_read(&robot, text, strlen(text), "robot.xml", NULL), error.code);
}

static void near(const double* a, int count, const double* expected) {
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - expected[i]) <= 1e-12 * (1 + fabs(expected[i]))))
            fail_msg("number %d is %.15g, expected %.15g", i, a[i], expected[i]);
}

// ---- the same motion ----

static ct_settings swing_settings(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.005;
    settings.threads = 1;
    settings.tolerance = 1e-12;
    settings.gravity[0] = 4, settings.gravity[1] = 0, settings.gravity[2] = -9;
    return settings;
}

static void add_pendulum_link(ct_scene* scene, const char* name, int parent, double z, double center,
                              double mass, const double* inertia, double damping) {
    ct_error error = {0};
    ct_link_def def = ct_link_def_default();
    def.name = name;
    def.parent = parent;
    def.joint.anchor[0] = def.center[0] = 0.1;
    def.joint.anchor[2] = z;
    def.center[2] = center;
    def.joint.axis[1] = 1, def.joint.axis[2] = 0;
    def.joint.damping = damping;
    def.mass = mass;
    memcpy(def.inertia, inertia, 3 * sizeof *inertia);
    must(ct_scene_add_link(scene, &def, NULL, &error), &error);
}

static void swing(ct_scene* scene, bool control, double out[2]) {
    sim s = start(scene, 1);
    double zero = 0;
    for (int i = 0; i < 100; i++)
        assert_int_equal(ct_step(s.model, s.work, s.state, control ? &zero : NULL, NULL), CT_OK);
    memcpy(out, ct_state_coordinates(s.state), 2 * sizeof *out);
    stop(&s);
}

static void double_pendulum_moves_as_the_one_of_the_api_from_both_formats(void** unused) {
    ct_settings settings = swing_settings();
    ct_error error = {0};
    double own[2], mjcf[2], urdf[2];
    ct_scene* scene = new_scene(&settings);
    add_pendulum_link(scene, "upper", -1, 1, 0.75, 1, (double[]){0.02, 0.021, 0.002}, 0);
    add_pendulum_link(scene, "lower", 0, 0.5, 0.3, 0.8, (double[]){0.01, 0.0105, 0.001}, 0.01);
    swing(scene, false, own);
    scene = new_scene(&settings);
    must(ct_scene_import_skeleton(scene, DATA "double_pendulum.xml", NULL, NULL, 1, &error), &error);
    assert_int_equal(ct_scene_link_count(scene), 2);
    swing(scene, true, mjcf);
    scene = new_scene(&settings);
    must(ct_scene_import_skeleton(scene, DATA "double_pendulum.urdf", NULL, NULL, 1, &error), &error);
    assert_int_equal(ct_scene_link_count(scene), 3);
    assert_int_equal(ct_scene_find_link(scene, "lower"), 2);
    swing(scene, false, urdf);
    print_message("angles %.12f %.12f, differences %.1e %.1e and %.1e %.1e\n", own[0], own[1],
                  mjcf[0] - own[0], mjcf[1] - own[1], urdf[0] - own[0], urdf[1] - own[1]);
    assert_true(fabs(own[0]) > 0.1 && fabs(own[1]) > 0.05);
    for (int i = 0; i < 2; i++) assert_true(fabs(mjcf[i] - own[i]) < 1e-9 && fabs(urdf[i] - own[i]) < 1e-9);
}

// A hinge about x, then one about y, in one body: the bob's position after moving both by hand.
static void joints_of_one_body_act_one_after_the_other(void** unused) {
    ct_settings settings = swing_settings();
    ct_scene* scene = new_scene(&settings);
    ct_robot robot = read_body("<body name='bob' pos='0 0 1'><joint name='a' axis='1 0 0'/><joint name='b' "
                               "axis='0 1 0' pos='0 0 -0.1'/>"
                               "<inertial pos='0.3 0 -1' mass='1' diaginertia='1 1 1'/></body>");
    ct_error error = {0};
    assert_int_equal(robot.nlink, 2);
    assert_string_equal(robot.link[0].name, "bob.a");
    assert_true(robot.link[0].mass == 0 && robot.link[1].parent == 0);
    robot.link[0].joint.position = 0.5;
    robot.link[1].joint.position = -0.7;
    must(ct_robot_add(scene, &robot, NULL, &error), &error);
    ct_robot_free(&robot);
    sim s = start(scene, 1);
    double R[9], t[3], x[3],
        c = cos(0.5), d = sin(0.5),
        y[3] = {0.3 * cos(0.7) + 0.9 * sin(0.7), 0, 0.9 + 0.3 * sin(0.7) - 0.9 * cos(0.7)};
    must(ct_state_link_pose(s.model, s.state, 1, R, t), NULL);
    for (int a = 0; a < 3; a++) x[a] = R[3 * a] * 0.3 + t[a];
    near(x, 3, (double[]){y[0], -d * (y[2] - 1), 1 + c * (y[2] - 1)});
    steps(&s, 20);  // massless links in between do no harm
    stop(&s);
}

// ---- poses and inertias ----

static void orientations_of_every_kind_agree(void** unused) {
    // all of them: 90 degrees about x
    static const char* const turns[] = {"quat='2 2 0 0'", "axisangle='3 0 0 1.5707963267948966'",
                                        "euler='1.5707963267948966 0 0'", "xyaxes='2 0 0 1 0 5'",
                                        "zaxis='0 -3 0'"};
    for (int i = 0; i < 5; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "<body name='a' pos='1 2 3' %s><joint type='slide' pos='0 0 1' axis='0 1 0'/>"
                 "<inertial pos='0 0 2' mass='2' fullinertia='1 2 2.5 0.1 0.2 0.3'/></body>",
                 turns[i]);
        ct_robot robot = read_body(text);
        const ct_robot_link* link = robot.link;
        assert_int_equal(link->joint.kind, CT_JOINT_PRISMATIC);
        near(link->joint.anchor, 3, (double[]){1, 1, 3});
        near(link->joint.axis, 3, (double[]){0, 0, 1});
        near(link->center, 3, (double[]){1, 0, 3});
        near(link->inertia, 6, (double[]){1, 2.5, 2, -0.2, 0.1, -0.3});
        ct_robot_free(&robot);
    }
}

static void euler_sequence_turns_moving_or_fixed_axes(void** unused) {
    static const char* const sequence[] = {"xyz", "XYZ", "zyx"};
    // moving axes: Rx Ry Rz, fixed: Rz Ry Rx; a turn of 90 degrees about each of the first two
    static const double expected[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 2; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "<mujoco><compiler eulerseq='%s'/><worldbody><body euler='90 90 0'><joint axis='0 0 "
                 "1'/></body></worldbody></mujoco>",
                 sequence[i]);
        ct_robot robot = read_robot(text);
        // moving: z -> (about y) x -> (about x) x; fixed: z -> (about x) -y -> (about y) -y
        if (i == 0) near(robot.link[0].joint.axis, 3, expected[0]);
        else near(robot.link[0].joint.axis, 3, (double[]){0, -1, 0});
        ct_robot_free(&robot);
    }
}

static void geoms_have_the_inertia_of_their_solids(void** unused) {
    double h = 0.4, r = 0.1, V = 2 * M_PI * r * r * h, W = 4 * M_PI / 3 * r * r * r;
    double along = 1000 * (V * r * r / 2 + W * 0.4 * r * r);
    // a half ball about its plane 2/5 m r^2, centre at 3/8 r from it
    double half = 500 * W, own = 0.4 * r * r - 9.0 / 64 * r * r,
           across = 1000 * V * (r * r / 4 + h * h / 3) + 2 * half * (own + pow(h + 0.375 * r, 2));
    const struct {
        const char* geom;
        double mass, inertia[3];
    } cases[] = {
        {"<geom size='0.1'/>", 1000 * W, {400 * W * r * r, 400 * W * r * r, 400 * W * r * r}},
        {"<geom type='box' size='1 2 3' mass='6'/>", 6, {26, 20, 10}},
        {"<geom type='ellipsoid' size='1 2 3' mass='5'/>", 5, {13, 10, 5}},
        {"<geom type='cylinder' size='2 3' mass='12'/>", 12, {48, 48, 24}},
        {"<geom type='capsule' size='0.1 0.4'/>", 1000 * (V + W), {across, across, along}},
        {"<geom type='capsule' size='0.1' fromto='-0.4 0 0 0.4 0 0'/>",
         1000 * (V + W),
         {along, across, across}},
        {"<geom type='box' size='1' fromto='0 -3 0 0 3 0' mass='6'/>", 6, {20, 4, 20}},
        {"<geom type='box' size='1 1 1' mass='3' pos='0 0 1'/><geom type='box' size='1 1 1' mass='3' pos='0 "
         "0 -1'/><geom type='mesh' mass='0'/>",
         6,
         {10, 10, 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[500];
        snprintf(text, sizeof text, "<body><freejoint/>%s</body>", cases[i].geom);
        ct_robot robot = read_body(text);
        near(&robot.link[0].mass, 1, &cases[i].mass);
        near(robot.link[0].center, 3, (double[]){0, 0, 0});
        near(robot.link[0].inertia, 3, cases[i].inertia);
        near(robot.link[0].inertia + 3, 3, (double[]){0, 0, 0});
        assert_int_equal(robot.link[0].joint.kind, CT_JOINT_FREE);
        ct_robot_free(&robot);
    }
}

static void default_classes_reach_joints_and_geoms(void** unused) {
    ct_robot robot = read_robot(
        "<mujoco><compiler angle='degree'/><default><geom density='10'/><joint stiffness='1' damping='2'/>"
        "<default class='stiff'><joint stiffness='7' range='-90 90' ref='30' "
        "springref='60'/></default></default><worldbody>"
        "<body name='a' childclass='stiff'><joint/><geom type='box' size='.5 .5 .5'/><body name='b'><joint "
        "type='slide' stiffness='9' limited='false'/></body></body>"
        "<body name='c'><joint class='stiff' limited='true'/></body><body "
        "name='d'><joint/></body></worldbody></mujoco>");
    const ct_joint_def *a = &robot.link[0].joint, *b = &robot.link[1].joint, *c = &robot.link[2].joint,
                       *d = &robot.link[3].joint;
    assert_true(a->stiffness == 7 && a->damping == 2 && b->stiffness == 9 && d->stiffness == 1 &&
                isinf(d->upper) && isinf(b->upper));
    near(&a->lower, 1, (double[]){-2 * M_PI / 3});
    near(&c->upper, 1, (double[]){M_PI / 3});
    near(&a->rest, 1, (double[]){M_PI / 6});
    near(&b->rest, 1, (double[]){30});
    near(&robot.link[0].mass, 1, (double[]){10});
    ct_robot_free(&robot);
}

static void urdf_root_and_joints_are_read(void** unused) {
    ct_robot robot = read_robot(
        "<robot name='r'><link name='base'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' "
        "ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<link name='slide'/><link name='tool'/><link name='ship'/>"
        "<joint name='s' type='prismatic'><origin xyz='1 0 0' rpy='1.5707963267948966 0 "
        "1.5707963267948966'/><parent link='base'/><child link='slide'/>"
        "<axis xyz='0 0 1'/><limit lower='-1' upper='2' effort='1' velocity='1'/><dynamics "
        "damping='3'/></joint>"
        "<joint name='t' type='fixed'><origin xyz='0 0 2'/><parent link='slide'/><child link='tool'/></joint>"
        "<joint name='f' type='floating'><parent link='base'/><child link='ship'/></joint></robot>");
    assert_int_equal(robot.nlink, 4);
    assert_true(robot.link[0].joint.kind == CT_JOINT_FIXED && robot.link[0].mass == 2);
    int slide = ct_robot_find_link(&robot, "slide"), tool = ct_robot_find_link(&robot, "tool");
    const ct_joint_def* s = &robot.link[slide].joint;
    assert_true(s->kind == CT_JOINT_PRISMATIC && s->lower == -1 && s->upper == 2 && s->damping == 3);
    // Rz(90) Rx(90): z -> -y -> x
    near(s->axis, 3, (double[]){1, 0, 0});
    assert_int_equal(robot.link[tool].parent, slide);
    near(robot.link[tool].joint.anchor, 3, (double[]){3, 0, 0});
    assert_int_equal(robot.link[ct_robot_find_link(&robot, "ship")].joint.kind, CT_JOINT_FREE);
    ct_robot_free(&robot);
}

static void placing_scales_then_turns_then_moves(void** unused) {
    ct_robot robot = read_body("<body pos='1 0 0'><joint type='slide' range='-1 2' axis='1 0 0'/><inertial "
                               "pos='1 0 0' mass='3' diaginertia='1 2 3'/></body>");
    ct_robot_place(&robot, (double[]){0, 0, 5}, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, 2);
    const ct_robot_link* link = robot.link;
    near(link->joint.anchor, 3, (double[]){0, 2, 5});
    near(link->joint.axis, 3, (double[]){0, 1, 0});
    near(link->center, 3, (double[]){0, 4, 5});
    near(&link->mass, 1, (double[]){24});
    near(link->inertia, 6, (double[]){64, 32, 96, 0, 0, 0});
    assert_true(link->joint.lower == -2 && link->joint.upper == 4);
    ct_robot_free(&robot);
}

static void motors_and_servos_become_controls(void** unused) {
    ct_settings settings = swing_settings();
    ct_scene* scene = new_scene(&settings);
    ct_robot robot = read_robot(
        "<mujoco><worldbody><body><joint name='j'/><geom size='1' pos='1 0 0'/></body><body><joint "
        "name='k'/><geom size='1' pos='1 0 0'/></body></worldbody>"
        "<actuator><motor joint='j'/><position name='p' joint='k' kp='5' kv='0.5'/></actuator></mujoco>");
    ct_error error = {0};
    must(ct_robot_add(scene, &robot, NULL, &error), &error);
    assert_int_equal(scene->ncontrol, 2);
    assert_string_equal(scene->control[0].name, "j");
    assert_int_equal(scene->control[0].kind, CT_CONTROL_TORQUE);
    assert_int_equal(scene->control[1].kind, CT_CONTROL_TARGET);
    assert_true(scene->link[1].joint.servo_stiffness == 5 && scene->link[1].joint.servo_damping == 0.5);
    // a second time the names of the controls are taken, and the scene stays as it was
    assert_int_not_equal(ct_robot_add(scene, &robot, NULL, &error), CT_OK);
    assert_int_equal(scene->nlink, 2);
    assert_int_equal(scene->ncontrol, 2);
    must(ct_robot_add(scene, &robot, "twin", &error), &error);
    assert_string_equal(scene->control[3].name, "twin.p");
    ct_robot_free(&robot);
    ct_scene_free(scene);
}

static void imported_limits_hold_the_weight(void** unused) {
    ct_settings settings = swing_settings();
    settings.tolerance = 1e-8;
    ct_scene* scene = new_scene(&settings);
    ct_robot robot = read_body("<body><joint axis='0 1 0' range='-0.3 0.3' damping='1'/><inertial pos='1 0 "
                               "0' mass='2' diaginertia='0.01 0.01 0.01'/></body>");
    ct_error error = {0};
    must(ct_robot_add(scene, &robot, NULL, &error), &error);
    ct_robot_free(&robot);
    sim s = start(scene, 1);
    steps(&s, 300);
    double q = ct_state_coordinates(s.state)[0];
    assert_true(q > 0.3 && q < 0.313);
    stop(&s);
}

// ---- refusals ----

#define MJCF(part) "<mujoco>\n" part "</mujoco>"
#define BODY(part) "<mujoco><worldbody>\n<body name='b'>\n" part "</body></worldbody></mujoco>"

static void unsupported_parts_are_refused_by_name(void** unused) {
    refused(MJCF("<deformable/>"), 2, "<deformable> is not supported");
    refused(MJCF("<equality/>"), 2, "<equality>");
    refused(MJCF("<option density='1000'/>"), 2, "density=\"1000\"");
    refused(MJCF("<option viscosity='.1'/>"), 2, "viscosity");
    refused(MJCF("<option wind='0 0 1'/>"), 2, "has a wind");
    refused(MJCF("<option><flag gravity='disable'/></option>"), 2, "disables gravity");
    refused(MJCF("<include/>"), 2, "<include> lacks its file");
    refused(MJCF("<include file='no.xml'/>"), 2, "cannot be read");
    refused(BODY("<composite/>"), 3, "<composite> is not supported inside <body>");
    refused(BODY("<joint type='ball' armature='.1'/><geom size='1'/>"), 3, "armature=\".1\"");
    refused(BODY("<joint armature='-1'/><geom size='1'/>"), 3, "negative armature");
    refused(BODY("<joint frictionloss='1'/>"), 3, "frictionloss");
    refused(BODY("<joint name='j' springdamper='1 1'/>"), 3, "\"j\" has the attribute springdamper");
    refused(BODY("<joint type='screw'/>"), 3, "hinge, slide, ball or free");
    refused(BODY("<joint/><geom type='hfield' hfield='m'/>"), 3, "give its body an <inertial>");
    refused(BODY("<joint/><geom type='mesh' mesh='m'/>"), 3, "which no <asset> has");
    refused(BODY("<joint/><geom type='box' size='1'/>"), 3, "needs 3 numbers in size");
    refused(BODY("<joint axis='0 1'/>"), 3, "2 numbers in axis");
    refused(BODY("<joint axis='0 1 nan'/>"), 3, "\"nan\" is not a finite number");
    refused(BODY("<joint class='no'/>"), 3, "class \"no\"");
    refused(BODY("<inertial pos='0 0 0' mass='1'/>"), 3, "diaginertia or fullinertia");
    refused(BODY("<body name='b'/>"), 3, "its own name");
    refused(MJCF("<compiler coordinate='global'/>"), 2, "coordinate");
    refused("<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator>\n<muscle "
            "joint='j'/></actuator></mujoco>",
            2, "<muscle>");
    refused("<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator>\n<motor "
            "joint='k'/></actuator></mujoco>",
            2, "does not exist");
    refused(MJCF(""), 1, "no links");
}

#define LINKS "<link name='a'/><link name='b'/>\n"
#define JOINT(type, rest)                                                                                    \
    "<joint name='j' type='" type "'><parent link='a'/><child link='b'/>" rest "</joint>"

static void faulty_urdf_is_refused(void** unused) {
    refused("<robot>" LINKS JOINT("planar", "") "</robot>", 2, "planar");
    refused("<robot>" LINKS JOINT("revolute", "") "</robot>", 2, "<limit>");
    refused("<robot>" LINKS JOINT("continuous", "<mimic joint='k'/>") "</robot>", 2, "<mimic>");
    refused("<robot>" LINKS JOINT("continuous", "<dynamics friction='1'/>") "</robot>", 2, "friction");
    refused("<robot>" LINKS JOINT("fixed", "") JOINT("fixed", "") "</robot>", 1, "closed loops");
    refused("<robot>" LINKS "<link name='c'/>" JOINT("fixed", "") "</robot>", 2, "one tree");
    refused("<robot>" LINKS "<joint type='fixed'><parent link='a'/><child link='z'/></joint></robot>", 2,
            "\"z\"");
    refused("<robot><link name='a'/>" LINKS JOINT("fixed", "") "</robot>", 1, "one tree");
    refused("<robot><link name='a'/><link name='b'/><link name='c'/><joint type='fixed'><parent "
            "link='b'/><child link='c'/></joint>"
            "<joint type='fixed'><parent link='c'/><child link='b'/></joint></robot>",
            1, "closed loops");
}

static void bad_xml_has_its_line(void** unused) {
    refused("<mujoco>\n<worldbody>\n</mujoco>", 3, "not valid XML");
    refused("<!DOCTYPE a [<!ENTITY b 'c'>]>\n<mujoco/>", 1, "DOCTYPE");
    refused("<model/>", 1, "neither <mujoco>");
    refused("", 1, "not valid XML");
    char deep[5000] = "<mujoco>";
    for (int i = 0; i < 300; i++) strcat(deep, "<body>");
    refused(deep, 1, "nested deeper");
    ct_scene* scene;
    ct_error error = {0};
    must(ct_scene_create(&scene, NULL), NULL);
    assert_int_equal(ct_scene_import_skeleton(scene, "/nonexistent.xml", NULL, NULL, 1, &error), CT_IO);
    assert_int_equal(ct_scene_import_skeleton(scene, DATA "double_pendulum.xml", NULL, NULL, 0, &error),
                     CT_BAD_SCENE);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum_moves_as_the_one_of_the_api_from_both_formats),
        cmocka_unit_test(joints_of_one_body_act_one_after_the_other),
        cmocka_unit_test(orientations_of_every_kind_agree),
        cmocka_unit_test(euler_sequence_turns_moving_or_fixed_axes),
        cmocka_unit_test(geoms_have_the_inertia_of_their_solids),
        cmocka_unit_test(default_classes_reach_joints_and_geoms),
        cmocka_unit_test(urdf_root_and_joints_are_read),
        cmocka_unit_test(placing_scales_then_turns_then_moves),
        cmocka_unit_test(motors_and_servos_become_controls),
        cmocka_unit_test(imported_limits_hold_the_weight),
        cmocka_unit_test(unsupported_parts_are_refused_by_name),
        cmocka_unit_test(faulty_urdf_is_refused),
        cmocka_unit_test(bad_xml_has_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
