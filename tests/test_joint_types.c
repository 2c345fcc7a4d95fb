// Joints that turn and move about axes: known motions, and gradients against scenes that are built anew with
// other numbers.
#include "build.h"
#include "scene_text.h"
#include "slope.h"

// ---- gradients -----------------------------------------------------------------------------

enum { NUMBERS = 12, COMPONENTS = 16 };

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
    REST
};
static const double start_values[NUMBERS] = {1.5, 0.04, 2, 0.05, 30, 0.3, -0.4, 1.2, -0.8, 0.6, 0.2, 0.1};

static void print_pair(char* out, size_t size, int n, const double* pair) {
    if (n == 1) snprintf(out, size, "%.17g", pair[0]);
    else snprintf(out, size, "[%.17g, %.17g]", pair[0], pair[1]);
}

static ct_scene* build(const tested* t) {
    char text[6000], position[80], velocity[80], rest[60] = "", mass[3][200];
    // flesh is at rest where its bones are turned already
    const double *v = t->value, turned = t->flesh ? 0.1 : 1;
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
        "\"damping\": %.17g, \"limits\": [%g, %g], \"limit_stiffness\": %.17g, "
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
        "%.17g}%s], "
        "\"objective\": [{\"type\": \"joint\", \"link\": \"a\", \"target\": [0.1, 0.2, -0.3]}, "
        "{\"name\": \"b\", \"type\": \"joint\", \"link\": \"b\", \"target\": %s}, "
        "{\"name\": \"c\", \"type\": \"joint\", \"link\": \"c\", \"target\": 0.7}]}",
        t->flesh ? "\"bodies\": [{\"shape\": {\"box\": {\"center\": [0.45, 0.1, 0.1], \"half\": [0.45, 0.1, "
                   "0.1]}}, \"size\": 0.1, "
                   "\"material\": {\"young\": 2e4, \"density\": 200}}],"
                 : "",
        0.3 * turned, -0.2 * turned, 0.4 * turned, mass[0], t->type, position, velocity, v[STIFFNESS], rest,
        v[DAMPING], -0.2 * turned, 0.1 * turned, v[LIMIT], v[SERVO_STIFFNESS], v[SERVO_DAMPING], mass[1],
        mass[2], v[TORQUE], v[TARGET],
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
    assert_int_equal(ct_problem_size(problem), 5 + 4 * t->n + t->has_rest);
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
    for (int i = POSITION; flesh && i < TORQUE; i++) t.value[i] *= i < VELOCITY ? 0.1 : 0.3;
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

static void bad_screws_say_what_to_change(void** unused) {
    const char* head = "{\"skeletons\": [{\"links\": [{\"mass\": 1, \"center\": [1, 0, 0], \"joint\": {";
    const struct {
        const char *joint, *path, *words;
    } list[] = {
        {"\"type\": \"helical\"", "skeletons[0].links[0].joint", "lead"},
        {"\"type\": \"helical\", \"lead\": 0", "skeletons[0].links[0]", "revolute"},
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
        cmocka_unit_test(bad_screws_say_what_to_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
