// Cables: derivatives by slope, balance of forces, and known answers: a bar that a cable shortens, weights
// over a pulley and in a tackle, momentum, slackness; whole rollouts by slope.
#include "actuator_checks.h"
#include "build.h"
#include "force/cable.h"
#include "scene_text.h"
#include "slope.h"

// ---- the energy

enum { NODES = 12, CABLES = 3 };

typedef struct lines {
    double x[3 * NODES + 1], actuation[CABLES], stiffness[CABLES];
    ct_cable_eyelet eyelet[9];
    ct_cable* cable;
    actuator actuator;
} lines;

static double gradient(void* user, const double* x, double* f) {
    const lines* l = user;
    return ct_cable_gradient(l->cable, l->actuation, x, f);
}

static void product(void* user, const double* x, const double* dx, double* out) {
    const lines* l = user;
    ct_cable_product(l->cable, l->actuation, x, dx, out);
}

// One under tension, one well stretched, one that is just taking hold. width: over which springs do.
static void lines_start(lines* l, double width) {
    *l = (lines){.actuation = {1.3, 0.9, 0}, .stiffness = {0, 2.5, 4}};
    for (int i = 0; i < 3 * NODES; i++) l->x[i] = random_unit();
    for (int i = 0; i < 9; i++) {
        ct_cable_eyelet* e = &l->eyelet[i];
        e->count = i % 3 == 1 ? 4 : 1;
        const double inside[4] = {0.4, 0.3, 0.2, 0.1};
        for (int k = 0; k < e->count; k++)
            e->node[k] = (i + 3 * k) % NODES, e->weight[k] = e->count == 4 ? inside[k] : 1;
    }
    const ct_cable_lines def = {.ncable = CABLES,
                                .nowner = CABLES,
                                .start = (int[]){0, 3, 6, 9},
                                .eyelet = l->eyelet,
                                .number = (int[]){0, 1, 2},
                                .owner = (int[]){0, 1, 2},
                                .held = (bool[]){false, true, true},
                                .width = (double[]){width, width, width},
                                .stiffness = l->stiffness};
    assert_int_equal(ct_cable_create(&l->cable, &def), CT_OK);
    double length;
    ct_cable_measure(l->cable, 2, l->actuation, l->x, &length, NULL, NULL);
    l->actuation[2] = length - 0.4 * width;
    l->actuator = (actuator){NODES, l->x, gradient, product, l};
}

static void derivatives_belong_together(void** state) {
    lines l;
    lines_start(&l, 0.3);
    check_actuator_derivatives(&l.actuator, 0.02);
    ct_cable_free(l.cable);
}

static void forces_turn_with_the_body_and_balance(void** state) {
    lines l;
    lines_start(&l, 0.1);
    check_actuator_frame(&l.actuator);
    check_actuator_balance(&l.actuator);
    ct_cable_free(l.cable);
}

typedef struct change {
    lines* of;
    double *target, base, *lam;
} change;

static double weighted(void* user, double t) {
    change* c = user;
    double f[3 * NODES + 1] = {0}, sum = 0;
    *c->target = c->base + t;
    ct_cable_set_stiffness(c->of->cable, c->of->stiffness);
    gradient(c->of, c->of->x, f);
    for (int i = 0; i < 3 * NODES; i++) sum += f[i] * c->lam[i];
    *c->target = c->base;
    return sum;
}

static void numbers_and_stiffness_have_their_derivatives(void** state) {
    lines l;
    lines_start(&l, 0.3);
    double lam[3 * NODES + 1], number_bar[CABLES] = {0}, stiffness_bar[CABLES] = {0};
    for (int i = 0; i < 3 * NODES; i++) lam[i] = random_unit();
    ct_cable_vjp(l.cable, l.actuation, l.x, lam, number_bar, stiffness_bar);
    for (int k = 0; k < CABLES; k++) {
        change number = {&l, &l.actuation[k], l.actuation[k], lam};
        assert_slope(weighted, &number, -number_bar[k], 0.02, 1);
        change stiffness = {&l, &l.stiffness[k], l.stiffness[k], lam};
        if (k) assert_slope(weighted, &stiffness, -stiffness_bar[k], 0.02, 1);
    }
    assert_true(stiffness_bar[0] == 0);
    ct_cable_free(l.cable);
}

static void slack_cable_does_nothing(void** state) {
    lines l;
    lines_start(&l, 0.1);
    double f[3 * NODES + 1] = {0}, dx[3 * NODES + 1], tension = 1;
    for (int i = 0; i < 3 * NODES; i++) dx[i] = random_unit();
    l.actuation[0] = 0;
    l.actuation[1] = l.actuation[2] = 100;
    assert_true(gradient(&l, l.x, f) == 0);
    product(&l, l.x, dx, f);
    for (int i = 0; i < 3 * NODES; i++) assert_true(f[i] == 0);
    ct_cable_measure(l.cable, 1, l.actuation, l.x, NULL, &tension, NULL);
    assert_true(tension == 0);
    ct_cable_free(l.cable);
}

// ---- scenes

static ct_settings still_settings(double time_step) {
    ct_settings settings = ct_settings_default();
    memset(settings.gravity, 0, sizeof settings.gravity);
    settings.time_step = time_step;
    settings.duration = 100 * time_step;
    settings.tolerance = 1e-10;
    return settings;
}

static int nearest_node(const ct_mesh* mesh, double x, double y, double z) {
    int best = 0;
    double least = INFINITY;
    for (int v = 0; v < mesh->nvert; v++) {
        const double d = hypot(hypot(mesh->x[3 * v] - x, mesh->x[3 * v + 1] - y), mesh->x[3 * v + 2] - z);
        if (d < least) least = d, best = v;
    }
    return best;
}

static ct_scene* bar(const ct_settings* settings, ct_mesh** mesh) {
    ct_scene* scene = new_scene(settings);
    must(ct_mesh_box(mesh, (double[]){0.6, 0.2, 0.2}, (int[]){6, 2, 2}, NULL), NULL);
    ct_body_def body = ct_body_def_default();
    body.mesh = *mesh;
    body.material.young = 2e4, body.material.poisson = 0.3;
    ct_error error = {0};
    must(ct_scene_add_body(scene, &body, NULL, &error), &error);
    pin_plane(scene, 0, 0);
    return scene;
}

// A cable along the axis, from far behind the clamped end to the other, pulls as a force of the same size
// there.
static void cable_shortens_a_bar_as_the_force_would(void** state) {
    const ct_settings settings = still_settings(10);
    const double T = 5;
    ct_mesh *mesh = NULL, *same = NULL;
    ct_scene *pulled = bar(&settings, &mesh), *pushed = bar(&settings, &same);
    const int end = nearest_node(mesh, 0.6, 0.1, 0.1);
    const ct_eyelet_def eyelets[] = {{.seat = CT_EYELET_WORLD, .point = {-1e4, 0.1, 0.1}},
                                     {.seat = CT_EYELET_NODE, .index = end}};
    ct_cable_def def = ct_cable_def_default();
    def.eyelets = eyelets, def.count = 2, def.tension = T;
    ct_error error = {0};
    must(ct_scene_add_cable(pulled, &def, NULL, &error), &error);
    ct_force_def force = ct_force_def_default();
    force.vector[0] = -T;
    must(ct_scene_add_force(pushed, &end, 1, &force, &error), &error);
    sim a = start(pulled, 1), b = start(pushed, 1);
    steps(&a, 6), steps(&b, 6);
    double length, rest, tension, shortened = 0;
    assert_int_equal(ct_state_cable(a.model, a.state, 0, &length, &rest, &tension), CT_OK);
    assert_true(fabs(rest - 10000.6) < 1e-9 && tension == T);
    for (int i = 0; i < 3 * node_count(&a); i++)
        if (!(fabs(ct_state_positions(a.state)[i] - ct_state_positions(b.state)[i]) < 1e-7))
            fail_msg("coordinate %d at %.12g, by the force at %.12g", i, ct_state_positions(a.state)[i],
                     ct_state_positions(b.state)[i]);
    shortened = 0.6 - ct_state_positions(b.state)[3 * end];
    assert_true(shortened > 0.003 && fabs(rest - length - shortened) < 1e-7);
    ct_mesh_free(mesh), ct_mesh_free(same);
    stop(&a), stop(&b);
}

// A block without deformation to speak of, with its top centre at (x, 0, 0).
static int add_weight(ct_scene* scene, double x, double mass) {
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, (double[]){0.1, 0.1, 0.1}, (int[]){2, 2, 2}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++)
        mesh->x[3 * v] += x - 0.05, mesh->x[3 * v + 1] -= 0.1, mesh->x[3 * v + 2] -= 0.05;
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.young = 1e6, body.material.density = mass / 1e-3;
    int index = 0;
    ct_error error = {0};
    must(ct_scene_add_body(scene, &body, &index, &error), &error);
    ct_mesh_free(mesh);
    return index;
}

static double velocity_of(const sim* s, const double* rest, double x) {
    const double* v = ct_state_velocities(s->state);
    double sum = 0, count = 0;
    for (int k = 0; k < node_count(s); k++)
        if (fabs(rest[3 * k] - x) < 0.06) sum += v[3 * k + 1], count++;
    return sum / count;
}

// Two weights on a cable over two pulleys: at rest when they are equal, otherwise Atwood's acceleration
// (m2 - m1)/(m1 + m2) g. In a tackle, where the second weight hangs in two strands, it balances twice the
// first.
static void weights_balance_over_a_pulley(void** state) {
    const struct {
        double m1, m2, expected;  // of the first, in g
        bool tackle;
    } cases[] = {{1, 1, 0, false}, {1, 2, 1.0 / 3, false}, {1, 2, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_settings settings = still_settings(0.005);
        settings.gravity[1] = -10;
        ct_scene* scene = new_scene(&settings);
        const int first = add_weight(scene, 0, cases[i].m1), second = add_weight(scene, 1, cases[i].m2);
        const double up = 2;
        const ct_eyelet_def eyelets[] = {
            {.seat = CT_EYELET_BODY, .index = first, .point = {0, -0.001, 0}},
            {.seat = CT_EYELET_WORLD, .point = {0, up, 0}},
            {.seat = CT_EYELET_WORLD, .point = {1, up, 0}},
            {.seat = CT_EYELET_BODY, .index = second, .point = {1, -0.001, 0}},
            {.seat = CT_EYELET_WORLD, .point = {1, up, 0}},
        };
        ct_cable_def def = ct_cable_def_default();
        def.eyelets = eyelets, def.count = cases[i].tackle ? 5 : 4;
        def.hold = CT_CABLE_LENGTH, def.stiffness = 1e5;
        ct_error error = {0};
        must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
        sim s = start(scene, 1);
        const double* rest = ct_model_rest(s.model);
        steps(&s, 60);
        const double v1 = velocity_of(&s, rest, 0), v2 = velocity_of(&s, rest, 1);
        const double expected = cases[i].expected * 10 * 0.3;
        if (!(fabs(v1 - expected) < 0.03) || !(fabs(v2 + (cases[i].tackle ? v1 / 2 : v1)) < 0.03))
            fail_msg("weights %g and %g: %g and %g m/s, expected %g", cases[i].m1, cases[i].m2, v1, v2,
                     expected);
        stop(&s);
    }
}

// Two free bodies drawn together for a fifth of a second; turned: the angular momentum that they have then.
static void drawn_together(double time_step, double* turned) {
    ct_settings settings = still_settings(time_step);
    ct_scene* scene = new_scene(&settings);
    const int first = add_weight(scene, 0, 1), second = add_weight(scene, 1, 2);
    const ct_eyelet_def eyelets[] = {{.seat = CT_EYELET_BODY, .index = first, .point = {0.02, -0.03, 0.04}},
                                     {.seat = CT_EYELET_BODY, .index = second, .point = {0.96, -0.08, -0.02}},
                                     {.seat = CT_EYELET_BODY, .index = first, .point = {0, -0.09, -0.01}}};
    ct_cable_def def = ct_cable_def_default();
    def.eyelets = eyelets, def.count = 3, def.hold = CT_CABLE_LENGTH, def.length = 1.6, def.stiffness = 50;
    ct_error error = {0};
    must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
    sim s = start(scene, 1);
    steps(&s, (int)(0.2 / time_step + 0.5));
    const ct_measure m = ct_state_measure(s.model, s.state);
    if (!(m.kinetic > 1)) fail_msg("kinetic energy %g J", m.kinetic);
    *turned = 0;
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(m.momentum[a]) < 1e-9);
        *turned += fabs(m.angular_momentum[a]);
    }
    stop(&s);
}

// Neither moves or turns the two as a whole: momentum to round-off, angular momentum (of the order of 0.4 in
// each body) as well as Euler's rule keeps it.
static void momentum_is_conserved_between_bodies(void** state) {
    double coarse, fine;
    drawn_together(0.01, &coarse);
    drawn_together(0.0025, &fine);
    if (!(coarse < 0.02 && fine < coarse / 2)) fail_msg("angular momentum %g, then %g", coarse, fine);
}

static void bad_cables_are_refused(void** state) {
    const ct_settings settings = still_settings(0.01);
    ct_mesh* mesh = NULL;
    ct_scene* scene = bar(&settings, &mesh);
    const ct_eyelet_def inside[] = {{.seat = CT_EYELET_BODY, .index = 0, .point = {0.1, 0.1, 0.1}},
                                    {.seat = CT_EYELET_WORLD, .point = {1, 0.1, 0.1}}};
    const ct_eyelet_def outside[] = {{.seat = CT_EYELET_BODY, .index = 0, .point = {0.1, 0.3, 0.1}},
                                     {.seat = CT_EYELET_WORLD, .point = {1, 0.1, 0.1}}};
    const ct_eyelet_def lost[] = {{.seat = CT_EYELET_LINK, .index = 0},
                                  {.seat = CT_EYELET_WORLD, .point = {1}}};
    const struct {
        const ct_eyelet_def* eyelets;
        int count;
        double tension;
        const char* says;
    } bad[] = {{inside, 1, 0, "2 or more"},
               {inside, 2, -1, "never pushes"},
               {inside, 2, NAN, "never pushes"},
               {outside, 2, 0, "not inside"},
               {lost, 2, 0, "links so far"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ct_cable_def def = ct_cable_def_default();
        def.eyelets = bad[i].eyelets, def.count = bad[i].count, def.tension = bad[i].tension;
        ct_error error = {0};
        assert_int_not_equal(ct_scene_add_cable(scene, &def, NULL, &error), CT_OK);
        if (!strstr(error.message, bad[i].says)) fail_msg("case %zu: %s", i, error.message);
    }
    // a control that asks for less than no tension is refused by the step, with a sentence
    ct_cable_def def = ct_cable_def_default();
    def.eyelets = inside, def.count = 2;
    ct_error error = {0};
    must(ct_scene_add_cable(scene, &def, NULL, &error), &error);
    must(ct_scene_add_actuator_control(scene, "pull", 0, &error), &error);
    sim s = start(scene, 1);
    ct_step_report report;
    assert_int_equal(ct_step(s.model, s.work, s.state, (double[]){-1}, &report), CT_BAD_ARGUMENT);
    assert_non_null(strstr(report.message, "tension of 0 N or more"));
    assert_int_equal(ct_step(s.model, s.work, s.state, (double[]){1}, &report), CT_OK);
    ct_mesh_free(mesh);
    stop(&s);
}

// ---- words

#define CABLE_SCENE(cable)                                                                                   \
    "{\"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [5, 1, 1]}}],\n"        \
    "\"skeletons\": [{\"links\": [{\"name\": \"arm\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0, "  \
    "1, 0], "                                                                                                \
    "\"axis\": [0, 0, 1]}, \"mass\": 1, \"center\": [0.5, 1, 0], \"inertia\": [0.1, 0.1, 0.1]}]}],\n"        \
    "\"cables\": [" cable "]}"

// A cable from the world to a link at the end of an arm of 1 m turns it as its force does: torque T across
// the arm.
static void link_feels_the_moment_of_its_eyelet(void** state) {
    const double T = 3, J = 0.25 + 0.1;
    ct_scene* scene = parse(CABLE_SCENE("{\"eyelets\": [{\"link\": \"arm\", \"point\": [1, 1, 0]}, "
                                        "{\"point\": [1, 1000, 0]}], \"tension\": 3}"));
    ct_settings settings = still_settings(0.001);
    must(ct_scene_set_settings(scene, &settings, NULL), NULL);
    sim s = start(scene, 1);
    steps(&s, 10);
    const double* q = ct_state_coordinates(s.state);
    // Euler's rule: n (n + 1)/2 h^2 times the acceleration
    assert_true(fabs(q[0] / (T / J * 55e-6) - 1) < 1e-3);
    stop(&s);
}

static void words_are_checked(void** state) {
    ct_scene_free(
        parse(CABLE_SCENE("{\"eyelets\": [{\"body\": \"bar\", \"node\": 3}, {\"point\": [2, 0, 0]}], "
                          "\"length\": 0.5, \"stiffness\": 100, \"activation_time\": 0.1}")));
    refused(CABLE_SCENE("{\"eyelets\": [{\"point\": [0, 0, 0]}]}"), "cables[0].eyelets", 3, "2 or more");
    refused(CABLE_SCENE("{\"eyelets\": [{\"body\": \"bar\", \"point\": [0, 3, 0]}, {\"point\": [1, 1, 1]}]}"),
            "cables[0].eyelets", 3, "not inside");
    refused(CABLE_SCENE("{\"eyelets\": [{\"link\": \"leg\", \"point\": [0, 3, 0]}, {\"point\": [1, 1, 1]}]}"),
            "cables[0].eyelets[0].link", 3, "not a link");
    refused(CABLE_SCENE("{\"eyelets\": [{\"point\": [0, 3, 0]}, {\"point\": [1, 1, 1]}], \"tension\": -2}"),
            "cables[0].tension", 3, "never pushes");
    refused(CABLE_SCENE("{\"eyelets\": [{\"point\": [0, 3, 0]}, {\"point\": [1, 1, 1]}], \"tension\": 1, "
                        "\"length\": 1}"),
            "cables[0]", 3, "leave out");
}

// The lighter of two weights over a pulley is pulled up to the eyelet, where the cable has no direction.
static void eyelets_that_meet_are_named(void** state) {
    sim s = start(
        parse(
            "{\"name\": \"pulley\", \"time_step\": 0.002, \"duration\": 1, \"gravity\": [0, -9.81, 0], "
            "\"bodies\": ["
            "{\"name\": \"heavy\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [2, 2, 2]}, "
            "\"translate\": "
            "[-0.35, 0, -0.05], \"material\": {\"energy\": \"neohookean\", \"density\": 2000}},"
            "{\"name\": \"light\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [2, 2, 2]}, "
            "\"translate\": "
            "[0.25, 0, -0.05], \"material\": {\"energy\": \"neohookean\", \"density\": 1000}}],"
            "\"cables\": [{\"name\": \"rope\", \"eyelets\": [{\"body\": \"heavy\", \"point\": [-0.3, 0.1, "
            "0]}, {\"point\": "
            "[-0.3, 0.6, 0]}, {\"point\": [0.3, 0.6, 0]}, {\"body\": \"light\", \"point\": [0.3, 0.1, 0]}], "
            "\"length\": 1.6, \"stiffness\": 20000}]}"),
        1);
    ct_step_report report;
    ct_status status = CT_OK;
    for (int i = 0; i < 400 && status == CT_OK; i++)
        status = ct_step(s.model, s.work, s.state, NULL, &report);
    assert_int_equal(status, CT_NOT_CONVERGED);
    assert_non_null(strstr(report.message, "eyelets 2 and 3 of the cable \"rope\" meet"));
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_belong_together),
        cmocka_unit_test(forces_turn_with_the_body_and_balance),
        cmocka_unit_test(numbers_and_stiffness_have_their_derivatives),
        cmocka_unit_test(slack_cable_does_nothing),
        cmocka_unit_test(cable_shortens_a_bar_as_the_force_would),
        cmocka_unit_test(weights_balance_over_a_pulley),
        cmocka_unit_test(momentum_is_conserved_between_bodies),
        cmocka_unit_test(bad_cables_are_refused),
        cmocka_unit_test(link_feels_the_moment_of_its_eyelet),
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(eyelets_that_meet_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
