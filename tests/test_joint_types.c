// Joints that turn and move about axes: known motions, and gradients against scenes that are built anew with
// other numbers.
#include "build.h"
#include "scene_text.h"
#include "slope.h"

// ---- gradients -----------------------------------------------------------------------------

enum { NUMBERS = 13, COMPONENTS = 16 };

// A joint of a chain, and the numbers of its scene.
typedef struct tested {
    const char* type;  // and what belongs to it alone, as in a scene
    int n;             // rates
    bool has_rest, flesh;
    double value[NUMBERS];
} tested;

// Which number is what; position and velocity have two places each.
enum {
    STIFFNESS,
    DAMPING,
    SERVO_STIFFNESS,
    SERVO_DAMPING,
    LIMIT,
    POSITION,
    VELOCITY = 7,
    TORQUE = 9,
    TARGET,
    ARMATURE,
    REST
};
static const double start_values[NUMBERS] = {1.5, 0.04, 2,   0.05, 30,  0.3, -0.4,
                                             1.2, -0.8, 0.6, 0.2,  0.1, 0.1};

static void print_pair(char* out, size_t size, int n, const double* pair) {
    if (n == 1) snprintf(out, size, "%.17g", pair[0]);
    else snprintf(out, size, "[%.17g, %.17g]", pair[0], pair[1]);
}

static ct_scene* build(const tested* t) {
    char text[6000], position[80], velocity[80], rest[60] = "", mass[3][200];
    const double* v = t->value;
    print_pair(position, sizeof position, t->n, v + POSITION);
    print_pair(velocity, sizeof velocity, t->n, v + VELOCITY);
    if (t->has_rest) snprintf(rest, sizeof rest, "\"rest\": %.17g,", v[REST]);
    for (int k = 0; k < 3; k++) {
        double x = 0.3 * k;
        if (t->flesh)
            snprintf(mass[k], sizeof mass[k], "\"nodes\": {\"box\": [[%g, 0.05, 0.05], [%g, 0.16, 0.25]]}",
                     x + 0.06, x + 0.26);
        else
            snprintf(mass[k], sizeof mass[k],
                     "\"mass\": 0.5, \"center\": [%g, 0.12, 0.14], \"inertia\": [0.002, 0.003, 0.004]",
                     x + 0.1);
    }
    snprintf(
        text, sizeof text,
        "{\"time_step\": 0.01, \"duration\": 0.06, \"integrator\": \"bdf2\", \"solver\": {\"tolerance\": "
        "1e-13}, %s"
        "\"skeletons\": [{\"links\": ["
        "{\"name\": \"a\", \"joint\": {\"type\": \"ball\", \"anchor\": [0, 0.1, 0.1], \"stiffness\": 2, "
        "\"damping\": 0.1, \"position\": [%g, %g, %g], \"velocity\": [0.5, 1, -0.6]}, %s},"
        "{\"name\": \"b\", \"parent\": \"a\", \"joint\": {\"type\": %s, \"axis\": [0.2, -0.4, 1], "
        "\"anchor\": [0.3, 0.1, 0.1], \"position\": %s, \"velocity\": %s, \"stiffness\": %.17g, %s"
        "\"damping\": %.17g, \"armature\": %.17g, \"limits\": [%g, %g], \"limit_stiffness\": %.17g, "
        "\"servo\": {\"stiffness\": %.17g, \"damping\": %.17g}}, %s},"
        "{\"name\": \"c\", \"parent\": \"b\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 1, 0.3], "
        "\"anchor\": [0.6, 0.1, 0.1], \"velocity\": 1}, %s}]}],"
        "\"controls\": [{\"name\": \"torque\", \"torque\": \"b\"}, {\"name\": \"target\", \"target\": "
        "\"b\"}],"
        "\"parameters\": [{\"type\": \"joint_stiffness\", \"link\": \"b\", \"transform\": \"none\"}, "
        "{\"type\": \"joint_damping\", \"link\": \"b\", \"transform\": \"none\"}, {\"type\": "
        "\"servo_stiffness\", \"link\": \"b\", \"transform\": \"none\"}, "
        "{\"type\": \"servo_damping\", \"link\": \"b\", \"transform\": \"none\"}, {\"type\": "
        "\"limit_stiffness\", \"link\": \"b\", \"transform\": \"none\"}, "
        "{\"type\": \"joint_position\", \"link\": \"b\", \"transform\": \"none\"}, {\"type\": "
        "\"joint_velocity\", \"link\": \"b\", \"transform\": \"none\"}, "
        "{\"type\": \"control\", \"control\": \"torque\", \"hold\": 6, \"transform\": \"none\", \"start\": "
        "%.17g}, "
        "{\"type\": \"control\", \"control\": \"target\", \"hold\": 6, \"transform\": \"none\", \"start\": "
        "%.17g}, {\"type\": \"armature\", \"transform\": \"none\"}%s], "
        "\"objective\": [{\"type\": \"joint\", \"link\": \"a\", \"target\": [0.1, 0.2, -0.3]}, "
        "{\"name\": \"b\", \"type\": \"joint\", \"link\": \"b\", \"target\": %s}, "
        "{\"name\": \"c\", \"type\": \"joint\", \"link\": \"c\", \"target\": 0.7}]}",
        t->flesh ? "\"bodies\": [{\"shape\": {\"box\": {\"center\": [0.45, 0.1, 0.1], \"half\": [0.45, 0.1, "
                   "0.1]}}, \"size\": 0.1, "
                   "\"material\": {\"young\": 2e4, \"density\": 200}}],"
                 : "",
        0.3, -0.2, 0.4, mass[0], t->type, position, velocity, v[STIFFNESS], rest, v[DAMPING], v[ARMATURE],
        -0.2, 0.1, v[LIMIT], v[SERVO_STIFFNESS], v[SERVO_DAMPING], mass[1], mass[2], v[TORQUE], v[TARGET],
        t->has_rest ? ", {\"type\": \"joint_rest\", \"link\": \"b\", \"transform\": \"none\"}" : "",
        t->n == 1 ? "0.8" : "[0.8, 0.5]");
    return parse(text);
}

// The loss of the scene as it stands, and its gradient (NULL: not wanted).
static double loss_of(const tested* t, double* gradient) {
    ct_scene* scene = build(t);
    ct_problem* problem = NULL;
    ct_error error = {0};
    double y[COMPONENTS], loss;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    assert_int_equal(ct_problem_size(problem), 6 + 4 * t->n + t->has_rest);
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
    ct_problem_free(problem);
    ct_scene_free(scene);
    return loss;
}

typedef struct moved {
    const tested* t;
    int number;
} moved;

static double loss_along(void* user, double step) {
    const moved* m = user;
    tested t = *m->t;
    t.value[m->number] += step;
    return loss_of(&t, NULL);
}

// The derivative by each number of the scene: those of a control's numbers have one start in common.
static void check_gradients(const tested* t) {
    double gradient[COMPONENTS], sum = 0;
    loss_of(t, gradient);
    const double* g = gradient;
    for (int i = 0; i < NUMBERS; i++) {
        if ((i == REST && !t->has_rest) || (t->n == 1 && (i == POSITION + 1 || i == VELOCITY + 1))) continue;
        sum = *g++;
        for (int k = 1; k < t->n && (i == TORQUE || i == TARGET); k++) sum += *g++;
        print_message("number %d: %g\n", i, sum);
        assert_true(sum != 0);
        moved m = {t, i};
        assert_slope(loss_along, &m, sum, 0.02 * (1 + fabs(t->value[i])), 300);
    }
}

static tested tested_joint(const char* type, int n, bool has_rest, bool flesh) {
    tested t = {.type = type, .n = n, .has_rest = has_rest, .flesh = flesh};
    memcpy(t.value, start_values, sizeof t.value);
    return t;
}

static void helical_gradients_match_fresh_scenes(void** unused) {
    tested t = tested_joint("\"helical\", \"lead\": 0.4", 1, true, false);
    check_gradients(&t);
}

static void helical_gradients_in_flesh_match_fresh_scenes(void** unused) {
    tested t = tested_joint("\"helical\", \"lead\": -0.2", 1, true, true);
    check_gradients(&t);
}

// The second angle is beyond its limit at the start, the first moves beyond it.
static const char universal[] = "\"universal\", \"axis2\": [0.5, 1, 0.1], \"limits2\": [-0.03, 0.3]";

static void universal_gradients_match_fresh_scenes(void** unused) {
    tested t = tested_joint(universal, 2, false, false);
    check_gradients(&t);
}

static void universal_gradients_in_flesh_match_fresh_scenes(void** unused) {
    tested t = tested_joint(universal, 2, false, true);
    check_gradients(&t);
}

// ---- known motions -------------------------------------------------------------------------

static ct_settings settings_of(double h, double gravity) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.threads = 1;
    settings.tolerance = 1e-12;
    settings.gravity[0] = settings.gravity[1] = 0;
    settings.gravity[2] = gravity;
    return settings;
}

static ct_link_def screw(double lead, double position) {
    ct_link_def def = ct_link_def_default();
    def.joint.kind = CT_JOINT_HELICAL;
    def.joint.lead = lead;
    def.joint.position = position;
    def.joint.axis[2] = 3;
    def.joint.anchor[0] = 0.2;
    def.mass = 2;
    def.center[0] = 0.2;
    def.center[2] = 0.5;
    def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.05;
    return def;
}

static void helical_joint_moves_by_its_lead_in_a_turn(void** unused) {
    ct_settings settings = settings_of(0.01, 0);
    for (double turns = -1; turns < 3; turns += 0.5) {
        ct_scene* scene = new_scene(&settings);
        ct_link_def def = screw(0.03, 2 * M_PI * turns);
        must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
        sim s = start(scene, 1);
        double R[9], t[3], side = fmod(fabs(turns), 1) ? -1 : 1;
        must(ct_state_link_pose(s.model, s.state, 0, R, t), NULL);
        assert_true(fabs(R[0] - side) < 1e-14 && fabs(R[4] - side) < 1e-14 && fabs(R[8] - 1) < 1e-14);
        // half a turn about the axis through (0.2, 0)
        assert_true(fabs(t[0] - 0.2 * (1 - side)) < 1e-14 && fabs(t[2] - 0.03 * turns) < 1e-14);
        stop(&s);
    }
}

// (I + m p^2) q'' = torque - m g p, p the lead per radian.
static void helical_joint_falls_with_the_acceleration_of_a_screw(void** unused) {
    const double h = 1e-3, p = 0.8 / (2 * M_PI), torque = 0.7;
    const int n = 100;
    ct_settings settings = settings_of(h, -9.81);
    ct_scene* scene = new_scene(&settings);
    ct_link_def def = screw(0.8, 0);
    must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
    must(ct_scene_add_joint_control(scene, "motor", CT_CONTROL_TORQUE, 0, NULL), NULL);
    sim s = start(scene, 1);
    for (int i = 0; i < n; i++) assert_int_equal(ct_step(s.model, s.work, s.state, &torque, NULL), CT_OK);
    double acceleration = (torque - 2 * 9.81 * p) / (0.05 + 2 * p * p);
    double expected = acceleration * h * h * n * (n + 1) / 2, q = ct_state_coordinates(s.state)[0];
    print_message("angle %.9f, expected %.9f\n", q, expected);
    // the chord of an arc falls short by the square of the step's angle
    assert_true(fabs(q / expected - 1) < 2e-4);
    stop(&s);
}

// Its weight turns it from the target by m g p / k.
static void helical_servo_settles_at_its_target(void** unused) {
    ct_settings settings = settings_of(0.02, -9.81);
    ct_scene* scene = new_scene(&settings);
    ct_link_def def = screw(0.1, 0.5);
    def.joint.servo_stiffness = 40;
    def.joint.servo_damping = 6;
    def.joint.target = -1.5;
    must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
    sim s = start(scene, 1);
    steps(&s, 300);
    double expected = -1.5 - 2 * 9.81 * 0.1 / (2 * M_PI) / 40;
    assert_true(fabs(ct_state_coordinates(s.state)[0] - expected) < 1e-8);
    stop(&s);
}

static int add_link(ct_scene* scene, int parent, const ct_joint_def* joint, double mass) {
    ct_link_def def = ct_link_def_default();
    int link;
    def.parent = parent;
    def.joint = *joint;
    def.mass = mass;
    for (int a = 0; a < 3; a++) {
        def.center[a] = joint->anchor[a] + (a == 0 ? 0.2 : a == 1 ? 0.05 : -0.02);
        def.inertia[a] = 0.004 + 0.001 * a;
    }
    must(ct_scene_add_link(scene, &def, &link, NULL), NULL);
    return link;
}

// A hinge, and on it a universal joint, or two more with nothing between them.
static sim cardan(bool two_hinges) {
    ct_settings settings = settings_of(0.005, -9.81);
    settings.integrator = CT_INTEGRATOR_BDF2;
    ct_scene* scene = new_scene(&settings);
    ct_joint_def root = ct_joint_def_default(), joint = ct_joint_def_default();
    root.axis[1] = 1, root.axis[2] = 0.2;
    root.velocity = 2;
    int parent = add_link(scene, -1, &root, 0.8);
    joint.kind = two_hinges ? CT_JOINT_REVOLUTE : CT_JOINT_UNIVERSAL;
    joint.anchor[0] = 0.4;
    joint.axis2[0] = 0.6, joint.axis2[2] = -0.3;
    joint.pose[0] = two_hinges ? 0 : 0.3, joint.pose[1] = two_hinges ? 0 : -0.5;
    joint.rate[0] = two_hinges ? 0 : -1, joint.rate[1] = two_hinges ? 0 : 3;
    joint.stiffness = 0.4, joint.damping = 0.01;
    joint.servo_stiffness = 0.8, joint.servo_damping = 0.02;
    joint.lower = -0.2, joint.upper = 0.35, joint.limit_stiffness = 60;
    joint.lower2 = -0.4, joint.upper2 = 0.1;
    if (!two_hinges) {
        joint.pose_target[0] = 0.5, joint.pose_target[1] = -0.7;
        int link = add_link(scene, parent, &joint, 0.5);
        must(ct_scene_add_joint_control(scene, "t", CT_CONTROL_TORQUE, link, NULL), NULL);
        return start(scene, 1);
    }
    joint.position = 0.3, joint.velocity = -1, joint.target = 0.5;
    int middle = add_link(scene, parent, &joint, 0);
    memcpy(joint.axis, joint.axis2, sizeof joint.axis);
    joint.lower = joint.lower2, joint.upper = joint.upper2;
    joint.position = -0.5, joint.velocity = 3, joint.target = -0.7;
    int last = add_link(scene, middle, &joint, 0.5);
    must(ct_scene_add_joint_control(scene, "t0", CT_CONTROL_TORQUE, middle, NULL), NULL);
    must(ct_scene_add_joint_control(scene, "t1", CT_CONTROL_TORQUE, last, NULL), NULL);
    return start(scene, 1);
}

static void universal_joint_moves_as_two_hinges(void** unused) {
    enum { STEPS = 150 };
    double path[2][STEPS][3], worst = 0, range[2] = {0, 0};
    for (int two = 0; two < 2; two++) {
        sim s = cardan(two);
        for (int i = 0; i < STEPS; i++) {
            const double torque[2] = {0.2 * sin(0.1 * i), -0.1 * cos(0.07 * i)};
            memcpy(path[two][i], ct_state_coordinates(s.state), sizeof path[two][i]);
            assert_int_equal(ct_step(s.model, s.work, s.state, torque, NULL), CT_OK);
        }
        stop(&s);
    }
    for (int i = 0; i < STEPS; i++)
        for (int a = 0; a < 3; a++) {
            worst = fmax(worst, fabs(path[0][i][a] - path[1][i][a]));
            if (a) range[a - 1] = fmax(range[a - 1], fabs(path[0][i][a] - path[0][0][a]));
        }
    print_message("largest difference %.2g, motion %.2f and %.2f rad\n", worst, range[0], range[1]);
    assert_true(worst < 1e-9 && range[0] > 0.2 && range[1] > 0.2);
}

static void universal_joint_is_recorded_with_both_axes(void** unused) {
    const char* path = CT_BINARY_DIR "/universal.cuttle.vtkhdf";
    sim s = cardan(false);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s.scene, s.model, path, &error), &error);
    steps(&s, 3);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    must(ct_trajectory_close(file, &error), &error);
    must(ct_trajectory_open(&file, path, &error), &error);
    const ct_link_info* link = ct_trajectory_links(file);
    ct_link_info model = ct_model_link_info(s.model, 1);
    assert_true(link[1].joint == CT_JOINT_UNIVERSAL && link[1].ncoordinate == 2 && link[1].naxis == 2);
    assert_memory_equal(link[1].axis2, model.axis2, sizeof model.axis2);
    assert_true(link[0].axis2[0] == 0 && link[0].axis2[1] == 0 && link[0].axis2[2] == 0);
    const double* coordinates;
    must(ct_trajectory_read_links(file, 0, &coordinates, NULL, &error), &error);
    assert_memory_equal(coordinates, ct_state_coordinates(s.state), 3 * sizeof(double));
    must(ct_trajectory_close(file, &error), &error);
    remove(path);
    stop(&s);
}

static void bad_axes_say_what_to_change(void** unused) {
    const char* head = "{\"skeletons\": [{\"links\": [{\"mass\": 1, \"center\": [1, 0, 0], \"joint\": {";
    const struct {
        const char *joint, *path, *words;
    } list[] = {
        {"\"type\": \"helical\"", "skeletons[0].links[0].joint", "lead"},
        {"\"type\": \"helical\", \"lead\": 0", "skeletons[0].links[0]", "revolute"},
        {"\"type\": \"universal\", \"axis2\": [0, 0, -2]", "skeletons[0].links[0]", "parallel"},
        {"\"type\": \"universal\", \"rest\": 1", "skeletons[0].links[0].joint.rest", "no meaning"},
        {"\"type\": \"universal\", \"position\": 1", "skeletons[0].links[0].joint.position", "2 numbers"},
        {"\"type\": \"universal\", \"limits2\": [0, 1]", "skeletons[0].links[0].joint.limits2", "limits"},
        {"\"type\": \"revolute\", \"axis2\": [0, 0, 1]", "skeletons[0].links[0].joint.axis2", "no meaning"},
        {"\"type\": \"revolute\", \"lead\": 1", "skeletons[0].links[0].joint.lead", "no meaning"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s}}]}]}", head, list[i].joint);
        ct_scene* scene;
        ct_error error;
        assert_int_not_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_OK);
        if (!strstr(error.path, list[i].path) || !strstr(error.message, list[i].words))
            fail_msg("%s: %s", error.path, error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helical_gradients_match_fresh_scenes),
        cmocka_unit_test(helical_gradients_in_flesh_match_fresh_scenes),
        cmocka_unit_test(helical_joint_moves_by_its_lead_in_a_turn),
        cmocka_unit_test(helical_joint_falls_with_the_acceleration_of_a_screw),
        cmocka_unit_test(helical_servo_settles_at_its_target),
        cmocka_unit_test(universal_gradients_match_fresh_scenes),
        cmocka_unit_test(universal_gradients_in_flesh_match_fresh_scenes),
        cmocka_unit_test(universal_joint_moves_as_two_hinges),
        cmocka_unit_test(universal_joint_is_recorded_with_both_axes),
        cmocka_unit_test(bad_axes_say_what_to_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
