// What MJCF files say in a few words and Cuttle has in its own: included files, copies, frames, armature,
// general actuators, damping ratios, masses of meshes, tendons. The numbers are from theory, or from
// MuJoCo 4.0.0.
#include <unistd.h>

#include "build.h"
#include "model/model.h"
#include "read/robot.h"
#include "scene/scene.h"

#define FOLDER CT_BINARY_DIR "/"
#define MAIN FOLDER "test_mjcf.xml"

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static ct_robot load(const char* text) {
    ct_robot robot;
    ct_error error = {0};
    write_text(MAIN, text);
    if (ct_robot_load(&robot, MAIN, &error))
        fail_msg("%s line %d: %s", error.file, error.line, error.message);
    return robot;
}

static void refused(const char* text, const char* file, int line, const char* words) {
    ct_robot robot;
    ct_error error = {0};
    write_text(MAIN, text);
    assert_int_not_equal(ct_robot_load(&robot, MAIN, &error), CT_OK);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    assert_int_equal(error.line, line);
    if (!strstr(error.file, file)) fail_msg("the file is \"%s\", expected \"%s\"", error.file, file);
}

static void near(const double* a, int count, const double* expected, double tolerance) {
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - expected[i]) <= tolerance * (1 + fabs(expected[i]))))
            fail_msg("number %d is %.15g, expected %.15g", i, a[i], expected[i]);
}

static sim simulate(ct_robot* robot, const ct_settings* settings) {
    ct_scene* scene = new_scene(settings);
    ct_error error = {0};
    must(ct_robot_add(scene, robot, NULL, &error), &error);
    ct_robot_free(robot);
    return start(scene, 1);
}

static void included_files_stand_in_place(void** unused) {
    write_text(FOLDER "test_mjcf_arm.xml",
               "<mujocoinclude>\n<body name='arm' pos='0 0 1'><joint damping='2'/>\n"
               "<geom size='1'/></body><body name='leg'><joint/><geom size='1'/></body>"
               "</mujocoinclude>");
    write_text(FOLDER "test_mjcf_default.xml", "<mujoco><default><geom density='10'/></default></mujoco>");
    ct_robot robot =
        load("<mujoco><include file='test_mjcf_default.xml'/><default><joint stiffness='3'/></default>"
             "<worldbody><body name='first'/><include file='test_mjcf_arm.xml'/><body name='last'/>"
             "</worldbody></mujoco>");
    assert_int_equal(robot.nlink, 4);
    assert_string_equal(robot.link[0].name, "first");
    assert_string_equal(robot.link[3].name, "last");
    const ct_robot_link* arm = &robot.link[ct_robot_find_link(&robot, "arm")];
    assert_true(arm->joint.damping == 2 && arm->joint.stiffness == 3);
    near(&arm->mass, 1, (double[]){10 * 4 * M_PI / 3}, 1e-12);
    ct_robot_free(&robot);
    write_text(FOLDER "test_mjcf_arm.xml", "<mujoco>\n<body>\n<joint type='screw'/></body></mujoco>");
    refused("<mujoco><worldbody><include file='test_mjcf_arm.xml'/></worldbody></mujoco>",
            "test_mjcf_arm.xml", 3, "hinge, slide, ball or free");
    write_text(FOLDER "test_mjcf_arm.xml", "<mujoco><include file='test_mjcf_arm.xml'/></mujoco>");
    refused("<mujoco><include file='test_mjcf_arm.xml'/></mujoco>", "test_mjcf_arm.xml", 1,
            "include themselves");
    unlink(FOLDER "test_mjcf_arm.xml"), unlink(FOLDER "test_mjcf_default.xml");
}

static void copies_stand_where_mujoco_puts_them(void** unused) {
    ct_robot robot =
        load("<mujoco><worldbody><replicate count='12' offset='1 0 0' euler='0 0 30' sep='-'><body name='b'>"
             "<joint name='j' axis='1 0 0'/><geom size='.1'/></body></replicate></worldbody>"
             "<actuator><motor joint='j-11'/></actuator></mujoco>");
    assert_int_equal(robot.nlink, 12);
    assert_string_equal(robot.link[2].name, "b-02");
    near(robot.link[2].center, 3, (double[]){1.8660254037844386, 0.5, 0}, 1e-12);
    near(robot.link[11].center, 3, (double[]){-0.8660254037844386, 0.5, 0}, 1e-12);
    near(robot.link[2].joint.axis, 3, (double[]){0.5, sqrt(0.75), 0}, 1e-12);
    assert_int_equal(robot.control[0].link, 11);
    ct_robot_free(&robot);
    robot = load(
        "<mujoco><worldbody><replicate count='2' offset='0 0 5'><replicate count='2' offset='1 0 0'><body "
        "name='b'/></replicate></replicate></worldbody></mujoco>");
    assert_int_equal(robot.nlink, 4);
    near(robot.link[3].joint.anchor, 3, (double[]){1, 0, 5}, 1e-12);
    assert_string_equal(robot.link[3].name, "b11");
    ct_robot_free(&robot);
    refused("<mujoco><worldbody>\n<replicate count='1e9'/></worldbody></mujoco>", MAIN, 2, "count");
    refused("<mujoco><worldbody>\n<replicate count='2' euler='1 1 0'/></worldbody></mujoco>", MAIN, 2,
            "several axes");
    refused(
        "<mujoco><worldbody>\n<replicate count='9999'><replicate count='9999'><body/></replicate></replicate>"
        "</worldbody></mujoco>",
        MAIN, 2, "too many copies");
}

static void frames_move_what_is_in_them(void** unused) {
    ct_robot robot =
        load("<mujoco><worldbody><body><frame pos='0 0 1' euler='90 0 0'><joint axis='0 0 1' pos='1 0 0'/>"
             "<geom size='1' pos='0 1 0'/></frame></body></worldbody></mujoco>");
    near(robot.link[0].joint.axis, 3, (double[]){0, -1, 0}, 1e-12);
    near(robot.link[0].joint.anchor, 3, (double[]){1, 0, 1}, 1e-12);
    near(robot.link[0].center, 3, (double[]){0, 0, 2}, 1e-12);
    ct_robot_free(&robot);
}

// Small swings of a compound pendulum: omega^2 = m g l / (J + m l^2 + a).
static void armature_slows_a_pendulum_as_theory_says(void** unused) {
    const double m = 2, l = 0.4, J = 0.01, a = 0.3, g = 9.81, amplitude = 1e-3;
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[1] = 0, settings.gravity[2] = -g;
    settings.integrator = CT_INTEGRATOR_BDF2;
    settings.time_step = 0.001, settings.tolerance = 1e-11, settings.threads = 1;
    ct_robot robot = load(
        "<mujoco><worldbody><body name='base'><body><joint axis='0 1 0' armature='.3'/><inertial pos='0 0 "
        "-.4' mass='2' diaginertia='.01 .01 .01'/></body></body></worldbody></mujoco>");
    robot.link[1].joint.position = amplitude;
    sim s = simulate(&robot, &settings);
    steps(&s, 1000);
    const double with = sqrt(m * g * l / (J + m * l * l + a)), without = sqrt(m * g * l / (J + m * l * l));
    const double q = ct_state_coordinates(s.state)[0] / amplitude;
    print_message("after 1 s: %.8f, theory %.8f, without armature %.4f\n", q, cos(with), cos(without));
    assert_true(fabs(q - cos(with)) < 1e-4 && fabs(cos(with) - cos(without)) > 0.5);
    stop(&s);
}

#define BOX                                                                                                  \
    "<mujoco><worldbody><body><joint name='j' axis='0 1 0' armature='.1'/><geom type='box' size='.1 .2 .3' " \
    "pos='0 0 .5'/><body pos='0 0 1'><joint name='k' axis='1 0 0'/><geom "                                   \
    "size='.2'/></body></body></worldbody>"                                                                  \
    "<actuator>"

static void actuators_have_mujocos_gains(void** unused) {
    ct_robot robot = load(BOX "<position joint='j' kp='50' dampratio='1' gear='2'/></actuator></mujoco>");
    assert_true(robot.link[0].joint.servo_stiffness == 200);
    near(&robot.link[0].joint.servo_damping, 1, (double[]){4 * 48.86025316}, 1e-8);
    assert_int_equal(robot.control[0].kind, CT_CONTROL_TARGET);
    ct_robot_free(&robot);
    robot = load(BOX "<general joint='j' gaintype='fixed' gainprm='3' biastype='affine' biasprm='1 -2 -.5'/>"
                     "<general name='free' joint='k' gainprm='7'/></actuator></mujoco>");
    assert_true(robot.link[0].joint.servo_stiffness == 2 && robot.link[0].joint.servo_damping == 0.5);
    assert_true(robot.control[0].kind == CT_CONTROL_TARGET && robot.control[1].kind == CT_CONTROL_TORQUE);
    ct_robot_free(&robot);
    robot = load(
        BOX "<general joint='j' gaintype='fixed' gainprm='50' biastype='affine' biasprm='0 -50 1' gear='2'/>"
            "<velocity joint='k' kv='4' gear='3'/></actuator></mujoco>");
    near(&robot.link[0].joint.servo_damping, 1, (double[]){4 * 48.86025316}, 1e-8);  // a damping ratio, too
    assert_true(robot.link[1].joint.damping == 36 && robot.control[1].kind == CT_CONTROL_TORQUE);
    ct_robot_free(&robot);
    refused(BOX "\n<general joint='j' dyntype='filter'/></actuator></mujoco>", MAIN, 2, "dyntype=\"filter\"");
    refused(BOX "\n<general joint='j' gaintype='muscle'/></actuator></mujoco>", MAIN, 2, "gaintype");
    refused(BOX "\n<general joint='j' gaintype='affine' gainprm='1 2 0'/></actuator></mujoco>", MAIN, 2,
            "depends on length");
    refused(BOX "\n<general joint='j' biastype='affine' biasprm='0 2 0'/></actuator></mujoco>", MAIN, 2,
            "away");
    refused(BOX "\n<general site='j'/></actuator></mujoco>", MAIN, 2, "attribute site");
    refused(BOX "\n<position joint='j'/><position name='two' joint='j'/></actuator></mujoco>", MAIN, 2,
            "second servo");
    refused(BOX "\n<cylinder joint='j'/></actuator></mujoco>", MAIN, 2, "<cylinder> is not supported");
}

// A motor's torque is chosen within the range; a servo would go beyond it.
static void servos_with_limited_forces_are_refused(void** unused) {
    ct_robot robot = load(BOX "<motor joint='j' forcerange='-1 1'/><position joint='k' forcerange='-1 1' "
                              "forcelimited='false'/></actuator></mujoco>");
    assert_int_equal(robot.ncontrol, 2);
    ct_robot_free(&robot);
    refused(BOX "\n<position joint='j' kp='50' forcerange='-1 1'/></actuator></mujoco>", MAIN, 2,
            "servo with a limit (forcerange)");
    refused(BOX "\n<velocity joint='j' forcelimited='true' forcerange='-1 1'/></actuator></mujoco>", MAIN, 2,
            "forcerange");
    refused("<mujoco><worldbody><body><joint name='j' actuatorfrcrange='-1 1'/><geom size='1'/></body>"
            "</worldbody><actuator>\n<position joint='j'/></actuator></mujoco>",
            MAIN, 2, "actuatorfrcrange of its joint");
}

// A prism over an L of three squares; numbers of MuJoCo for density 10, pos .5 0 0, euler 0 0 90.
static void meshes_have_the_mass_of_their_solid(void** unused) {
    static const char* const prism =
        "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 "
        "1\nv 0 2 1\n"
        "f 1 4 2\nf 2 4 3\nf 1 6 4\nf 4 6 5\nf 7 8 10\nf 8 9 10\nf 7 10 12\nf 10 11 12\nf 1 2 8\nf 1 8 7\nf "
        "2 3 9\n"
        "f 2 9 8\nf 3 4 10\nf 3 10 9\nf 4 5 11\nf 4 11 10\nf 5 6 12\nf 5 12 11\nf 6 1 7\nf 6 7 12\n";
    write_text(FOLDER "test_mjcf_L.obj", prism);
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    must(ct_mesh_load(&mesh, FOLDER "test_mjcf_L.obj", CT_MESH_AUTO, &error), &error);
    must(ct_mesh_save(mesh, FOLDER "test_mjcf_L.stl", &error), &error);
    ct_mesh_free(mesh);
    static const char* const assets[] = {"file='test_mjcf_L.obj'", "file='test_mjcf_L.stl' inertia='exact'",
                                         "file='test_mjcf_L.stl' scale='1 1 1'"};
    for (int i = 0; i < 3; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<mujoco><asset><mesh name='m' %s/></asset><worldbody><body><freejoint/><geom type='mesh' "
                 "mesh='m' density='10' pos='.5 0 0' euler='0 0 90'/></body></worldbody></mujoco>",
                 assets[i]);
        ct_robot robot = load(text);
        near(&robot.link[0].mass, 1, (double[]){30}, 1e-12);
        near(robot.link[0].center, 3, (double[]){-1.0 / 3, 5.0 / 6, 0.5}, 1e-12);
        // principal moments 15, 25/3 about the diagonals, 55/3 upright
        near(robot.link[0].inertia, 4, (double[]){35.0 / 3, 35.0 / 3, 55.0 / 3, -10.0 / 3}, 1e-12);
        ct_robot_free(&robot);
    }
    ct_robot robot = load(
        "<mujoco><asset><mesh file='test_mjcf_L.obj' scale='2 2 2'/></asset><worldbody><body><freejoint/>"
        "<geom mesh='test_mjcf_L' type='mesh' mass='6'/></body></worldbody></mujoco>");
    assert_true(robot.link[0].mass == 6);
    near(robot.link[0].inertia + 2, 1, (double[]){6.0 / 30 * 4 * 55 / 3}, 1e-12);
    ct_robot_free(&robot);
#define ASSET(a)                                                                                             \
    "<mujoco><asset>\n<mesh name='m' " a                                                                     \
    "/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    refused(ASSET("file='test_mjcf_L.obj' inertia='convex'"), MAIN, 2, "legacy and exact");
    refused(ASSET("file='test_mjcf_no.obj'"), "test_mjcf_no.obj", 0, "");
    refused(ASSET("vertex='0 0 0'"), MAIN, 2, "has vertex");
    unlink(FOLDER "test_mjcf_L.obj"), unlink(FOLDER "test_mjcf_L.stl");
}

#define TENDON(t)                                                                                            \
    "<mujoco><worldbody><site name='a'/><body pos='1 0 0'><freejoint/><geom size='1' mass='2'/><site "       \
    "name='b' "                                                                                              \
    "pos='0 0 1'/></body></worldbody><tendon>\n" t "</tendon>"
#define SITES "<site site='a'/><site site='b'/>"

// A spring of 5 N/m beyond 1.2 m, stretched to sqrt(2) m: .757 N along x and z, as MuJoCo says.
static void tendons_pull_as_cables(void** unused) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[1] = settings.gravity[2] = 0;
    settings.time_step = 1e-5, settings.tolerance = 1e-12, settings.threads = 1;
    ct_robot robot =
        load(TENDON("<spatial name='t' stiffness='5' springlength='0 1.2'>" SITES "</spatial>") "</mujoco>");
    sim s = simulate(&robot, &settings);
    assert_int_equal(ct_model_actuator_count(s.model), 1);
    steps(&s, 10);
    double mass = 0, momentum[3] = {0};
    const ct_model_info info = ct_model_summary(s.model);
    for (int i = 0; i < info.nvert; i++)
        for (int a = 0; a < 3; a++) momentum[a] += s.model->mass[i] * ct_state_velocities(s.state)[3 * i + a];
    for (int i = 0; i < info.nvert; i++) mass += s.model->mass[i];
    near(&mass, 1, (double[]){2}, 1e-12);
    for (int a = 0; a < 3; a++) momentum[a] /= 1e-4;
    near(momentum, 3, (double[]){-0.75735931, 0, -0.75735931}, 4e-3);
    const double tension =
        5 * ((1 - 0.5e-3) * sqrt(2) - 1.2);  // it takes hold over a thousandth of its length
    near(momentum, 3, (double[]){-tension / sqrt(2), 0, -tension / sqrt(2)}, 1e-6);
    stop(&s);
    robot = load(TENDON("<spatial name='t'>" SITES
                        "</spatial>") "<actuator><motor name='winch' tendon='t'/></actuator></mujoco>");
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    ct_robot_place(&robot, (double[]){0, 0, 0}, (double[]){1, 0, 0, 0}, 2);
    must(ct_robot_add(scene, &robot, NULL, &error), &error);
    assert_true(scene->control[0].kind == CT_CONTROL_TENSION && scene->nactuator == 1);
    near(&scene->actuator[0].rest_length, 1, (double[]){2 * sqrt(2)}, 1e-12);
    assert_int_not_equal(ct_robot_add(scene, &robot, NULL, &error), CT_OK);  // names are taken: all as before
    assert_true(scene->nactuator == 1 && scene->ncontrol == 1 && scene->nlink == 1);
    ct_robot_free(&robot);
    ct_scene_free(scene);
    refused(TENDON("<spatial stiffness='5'>" SITES "</spatial>") "</mujoco>", MAIN, 2, "also pushes");
    refused(TENDON("<spatial range='0 1'>" SITES "</spatial>") "</mujoco>", MAIN, 2, "has a range");
    refused(TENDON("<spatial damping='1'>" SITES "</spatial>") "</mujoco>", MAIN, 2, "damping");
    refused(TENDON("<spatial><site site='a'/></spatial>") "</mujoco>", MAIN, 2, "two sites");
    refused(TENDON("<spatial><site site='a'/><geom geom='g'/></spatial>") "</mujoco>", MAIN, 2, "<geom>");
    refused(TENDON("<fixed/>") "</mujoco>", MAIN, 2, "<fixed> is not supported");
    refused(TENDON("<spatial name='t'>" SITES
                   "</spatial>") "<actuator>\n<position tendon='t'/></actuator></mujoco>",
            MAIN, 3, "attribute tendon");
}

// Where joints follow one another, each keeps its own; scaled by s, inertias grow with s^5, masses with s^3.
static void every_axial_joint_has_its_armature(void** unused) {
    ct_robot robot = load(
        "<mujoco><default><joint armature='.1'/><default class='none'><joint armature='0'/></default>"
        "</default><worldbody><body><joint/><geom size='1'/><body><joint type='slide' armature='2'/><joint "
        "axis='1 0 0'/><geom size='1'/></body><body><joint class='none' type='ball' range='0 90'/><geom "
        "size='1'/></body></body></worldbody></mujoco>");
    const double found[4] = {robot.link[0].joint.armature, robot.link[1].joint.armature,
                             robot.link[2].joint.armature, robot.link[3].joint.armature};
    near(found, 4, (double[]){0.1, 2, 0.1, 0}, 0);
    near(&robot.link[3].joint.upper, 1, (double[]){acos(0)}, 1e-15);
    ct_robot_place(&robot, (double[]){0, 0, 0}, (double[]){1, 0, 0, 0}, 2);
    const double placed[2] = {robot.link[0].joint.armature, robot.link[1].joint.armature};
    near(placed, 2, (double[]){3.2, 16}, 1e-15);
    ct_robot_free(&robot);
}

// Three joints with rotors, one after another, in free motion; MuJoCo's own Runge-Kutta rule with steps of
// 0.1 ms.
static double off_mujoco(ct_integrator integrator, double h) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[1] = 0, settings.gravity[2] = -9.81;
    settings.integrator = integrator;
    settings.time_step = h, settings.tolerance = 1e-11, settings.threads = 1;
    ct_robot robot = load(
        "<mujoco><compiler settotalmass='3'/><default><joint armature='.02' damping='.05'/></default>"
        "<worldbody><body><joint type='slide' axis='1 0 0' armature='.3'/><joint axis='0 1 0'/><geom "
        "type='capsule' size='.05' fromto='0 0 0 0 0 -.4'/><body pos='0 0 -.4' euler='0 0 30'><joint axis='1 "
        "0 0'/><geom type='box' size='.05 .1 .15' pos='.05 0 -.2'/></body></body></worldbody></mujoco>");
    const double rate[3] = {0.5, 2, -3}, expected[3] = {0.0528747718648, 0.307549639032, -0.463784447807};
    for (int k = 0; k < 3; k++) robot.link[k].joint.velocity = rate[k];
    sim s = simulate(&robot, &settings);
    steps(&s, (int)round(0.3 / h));
    double most = 0;
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(ct_state_coordinates(s.state)[k] - expected[k]));
    stop(&s);
    return most;
}

static void rotors_move_as_in_mujoco(void** unused) {
    static const struct {
        ct_integrator integrator;
        double step, order, most;
    } rule[] = {{CT_INTEGRATOR_BDF2, 1e-3, 2, 1e-5},
                {CT_INTEGRATOR_SDIRK2, 1e-2, 2, 1e-4},
                {CT_INTEGRATOR_SDIRK3, 1e-2, 3, 1e-6}};
    for (size_t k = 0; k < sizeof rule / sizeof rule[0]; k++) {
        const double coarse = off_mujoco(rule[k].integrator, rule[k].step),
                     fine = off_mujoco(rule[k].integrator, rule[k].step / 2), slope = log2(coarse / fine);
        print_message("off by %.2e and %.2e, slope %.2f\n", coarse, fine, slope);
        assert_true(fine < rule[k].most && fabs(slope - rule[k].order) < 0.2);
    }
}

// Of geoms in groups alone, and scaled to a sum.
static void compilers_choose_and_scale_masses(void** unused) {
    ct_robot robot =
        load("<mujoco><compiler inertiagrouprange='1 2' settotalmass='6'/><worldbody><body><joint/><geom "
             "type='box' size='.1 .2 .3' mass='1' group='1'/><geom size='9'/><body><joint/><geom size='1' "
             "mass='2' group='2'/><geom size='1' mass='5' group='3'/></body></body></worldbody></mujoco>");
    near((double[]){robot.link[0].mass, robot.link[1].mass}, 2, (double[]){2, 4}, 1e-15);
    near(robot.link[0].inertia, 1, (double[]){2.0 / 3 * (0.04 + 0.09)}, 1e-15);
    near(robot.link[1].inertia, 1, (double[]){0.4 * 4}, 1e-15);
    ct_robot_free(&robot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(included_files_stand_in_place),
        cmocka_unit_test(copies_stand_where_mujoco_puts_them),
        cmocka_unit_test(frames_move_what_is_in_them),
        cmocka_unit_test(armature_slows_a_pendulum_as_theory_says),
        cmocka_unit_test(compilers_choose_and_scale_masses),
        cmocka_unit_test(rotors_move_as_in_mujoco),
        cmocka_unit_test(every_axial_joint_has_its_armature),
        cmocka_unit_test(actuators_have_mujocos_gains),
        cmocka_unit_test(servos_with_limited_forces_are_refused),
        cmocka_unit_test(meshes_have_the_mass_of_their_solid),
        cmocka_unit_test(tendons_pull_as_cables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
