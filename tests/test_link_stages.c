// Skeletons by integrators with stages: orders against fine references, energy, what contact makes of them.
#include "build.h"
#include "scene_text.h"

// ---- orders --------------------------------------------------------------------------------

#define ROD(name, parent, joint, x)                                                                          \
    "{'name': '" name "', " parent "'joint': {" joint ", 'anchor': [" #x                                     \
    ", 0, 0]}, 'mass': 0.5, 'center': [" #x "1, 0.02, 0.03], 'inertia': [0.002, 0.003, 0.004]}"
#define SKELETON(links) "'skeletons': [{'links': [" links "]}]"
#define FLESH(material)                                                                                      \
    "'bodies': [{'name': 'bar', 'box': {'size': [0.6, 0.2, 0.2], 'cells': [6, 2, 2]}, 'material': "          \
    "{'energy': 'neohookean', 'young': 3000, 'poisson': 0.3, 'density': 1000" material                       \
    "}}], 'skeletons': [{'links': [{'name': 'a', 'joint': {'type': 'revolute', 'axis': [0, 0.2, 1], "        \
    "'anchor': [0, 0.1, 0.1], 'velocity': 1}, 'nodes': {'box': [[-0.01, 0.05, 0.05], [0.11, 0.15, "          \
    "0.25]]}}, "                                                                                             \
    "{'name': 'b', 'parent': 'a', 'joint': {'type': 'ball', 'anchor': [0.3, 0.1, 0.1], 'stiffness': 0.5, "   \
    "'damping': 0.05}, 'nodes': {'box': [[0.39, 0.05, 0.05], [0.51, 0.15, 0.25]]}}]}]"

static const struct {
    const char *name, *scene;
    double gravity;  // m/s^2
} moving[] = {
    {"double pendulum",
     SKELETON(ROD("a", "", "'type': 'revolute', 'axis': [0, 0, 1], 'velocity': 2", 0.0) ", " ROD(
         "b", "'parent': 'a', ", "'type': 'revolute', 'axis': [0, 0.3, 1], 'velocity': -1", 0.2)),
     9.81},
    {"slider, universal, screw",
     SKELETON(ROD("a", "", "'type': 'prismatic', 'axis': [1, 1, 0], 'stiffness': 40", 0.0) ", " ROD(
         "b", "'parent': 'a', ",
         "'type': 'universal', 'axis': [0, 0, 1], 'axis2': [0, 1, 0], 'velocity': [1, -2]",
         0.2) ", " ROD("c", "'parent': 'b', ",
                       "'type': 'helical', 'axis': [0, 1, 0.5], 'lead': 0.1, 'velocity': 1", 0.4)),
     9.81},
    {"balls",
     SKELETON(ROD("a", "", "'type': 'ball', 'velocity': [1, -2, 3]",
                  0.0) ", " ROD("b", "'parent': 'a', ",
                                "'type': 'ball', 'position': [0.3, 0.2, -0.4], 'velocity': [3, 1, -2]", 0.2)),
     9.81},
    {"thrown",
     SKELETON(ROD("a", "", "'type': 'free', 'velocity': [1, 3, 0, 2, -5, 3]", 0.0) ", " ROD(
         "b", "'parent': 'a', ", "'type': 'revolute', 'axis': [0, 0, 1], 'velocity': -2", 0.2)),
     9.81},
    {"hinges with springs, dampers, servos, rotors and torques",
     SKELETON(ROD(
         "a", "",
         "'type': 'revolute', 'axis': [0, 0, 1], 'stiffness': 2, 'rest': 0.3, 'damping': 0.1, "
         "'armature': 0.01",
         0.0) ", " ROD("b", "'parent': 'a', ",
                       "'type': 'revolute', 'axis': [0, 0.3, 1], 'armature': 0.005, 'servo': {'stiffness': "
                       "3, 'damping': 0.05, 'target': 0.5}",
                       0.2)) ", 'controls': [{'name': 'c', 'torque': 'a', 'values': 1}]",
     9.81},
    {"balls with springs, dampers and torques",
     SKELETON(ROD("a", "", "'type': 'ball', 'velocity': [1, -2, 3], 'stiffness': 1, 'damping': 0.05",
                  0.0) ", " ROD("b", "'parent': 'a', ",
                                "'type': 'ball', 'velocity': [3, 1, -2], 'damping': 0.02",
                                0.2)) ", 'controls': [{'name': 'c', 'torque': 'a', 'values': [1, 2, -1]}]",
     9.81},
    {"flesh with bones", FLESH(""), 1},
    {"flesh with bones, mass-damped", FLESH(", 'damping': {'mass': 2}"), 1},
};

static ct_scene* scene_of(const char* text, double h, const char* integrator, double gravity) {
    char whole[4000];
    snprintf(whole, sizeof whole,
             "{'time_step': %.17g, 'integrator': '%s', 'gravity': [0, -%g, 0], 'solver': {'tolerance': "
             "1e-12}, %s}",
             h, integrator, gravity, text);
    for (char* c = whole; *c; c++)
        if (*c == '\'') *c = '"';
    return parse(whole);
}

// Positions after 0.32 s.
static double* moved(const char* text, double h, const char* integrator, double gravity, int* n) {
    sim s = start(scene_of(text, h, integrator, gravity), 1);
    for (int i = 0; i < (int)lround(0.32 / h); i++) {
        ct_step_report report;
        if (ct_step(s.model, s.work, s.state, NULL, &report)) fail_msg("%s", report.message);
        assert_int_equal(report.substeps, 1);
    }
    double* x = copy_positions(&s, n);
    stop(&s);
    return x;
}

// Of both integrators, against fine steps.
static void check_orders(const char* title, const char* scene, double gravity, const double orders[2]) {
    int n;
    double* truth = moved(scene, 0.02 / 16, "sdirk3", gravity, &n);
    for (int k = 0; k < 2; k++) {
        const char* name = k == 0 ? "sdirk2" : "sdirk3";
        double error[3];
        for (int level = 0; level < 3; level++) {
            double* x = moved(scene, 0.02 / (1 << level), name, gravity, &n);
            error[level] = norm_between(x, truth, n);
            free(x);
        }
        const double order = log2(error[1] / error[2]);
        print_message("%s, %s: errors %.2e %.2e %.2e m, order %.2f\n", title, name, error[0], error[1],
                      error[2], order);
        assert_true(fabs(order - orders[k]) < 0.25);
    }
    free(truth);
}

static void skeletons_converge_with_the_order_of_the_integrator(void** unused) {
    for (size_t k = 0; k < sizeof moving / sizeof moving[0]; k++)
        check_orders(moving[k].name, moving[k].scene, moving[k].gravity, (double[]){2, 3});
}

// Strain rates are those of chords.
static void damped_strains_leave_the_second_order(void** unused) {
    check_orders("flesh with bones, strains damped", FLESH(", 'damping': {'stiffness': 0.05}"), 1,
                 (double[]){2, 2});
}

// ---- energy --------------------------------------------------------------------------------

static double energy_of(const sim* s) {
    ct_measure m = ct_state_measure(s->model, s->state);
    return m.kinetic + m.elastic + m.gravitational;
}

// A double pendulum that nothing damps, over a second: by how much its energy changes, of what moves.
static double drift(const char* integrator, double h) {
    sim s = start(scene_of(moving[0].scene, h, integrator, 9.81), 1);
    const double begin = energy_of(&s);
    double fastest = 0;
    for (int i = 0; i < (int)lround(1 / h); i++) {
        steps(&s, 1);
        fastest = fmax(fastest, ct_state_measure(s.model, s.state).kinetic);
    }
    const double change = energy_of(&s) - begin;
    stop(&s);
    return change / fastest;
}

static void energy_drifts_with_the_order_of_the_integrator(void** unused) {
    for (int order = 2; order <= 3; order++) {
        const char* name = order == 2 ? "sdirk2" : "sdirk3";
        const double coarse = drift(name, 0.01), fine = drift(name, 0.005);
        print_message("%s: the energy changes by %.2e, %.2e of the largest kinetic one\n", name, coarse,
                      fine);
        assert_true(fabs(coarse) < 5e-3 && log2(fabs(coarse / fine)) > order - 0.3);
    }
}

// Links that turn by more than half a radian within a stage: their motion is still found, without halving.
static void fast_spins_converge(void** unused) {
    static const char scene[] =
        SKELETON(ROD("a", "", "'type': 'free', 'velocity': [0, 0, 0, 100, 1, 2]",
                     0.0) ", " ROD("b", "'parent': 'a', ", "'type': 'revolute', 'axis': [0, 0, 1]", 0.2));
    sim s = start(scene_of(scene, 0.01, "sdirk2", 9.81), 1);
    for (int i = 0; i < 20; i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        assert_int_equal(report.substeps, 1);
        assert_int_equal(report.integrator, CT_INTEGRATOR_SDIRK2);
        assert_true(report.residual <= 1.002e-12 * report.reference);
    }
    stop(&s);
}

// ---- contact -------------------------------------------------------------------------------

// A box of bone over a plane.
#define BOX(velocity, place)                                                                                 \
    "'bodies': [{'name': 'box', 'box': {'size': [0.2, 0.1, 0.2], 'cells': [1, 1, 1]}, " place                \
    ", 'material': {'density': 500}}], 'skeletons': [{'links': [{'name': 'box', 'joint': {'type': "          \
    "'free', 'velocity': [" velocity "]}, 'nodes': {'all': true}}]}], 'obstacles': [{'plane': {'normal': "   \
    "[0, 1, 0]}}], 'contact': {'friction': 0.3}"

static void sliding_bones_are_of_second_order(void** unused) {
    static const char scene[] = BOX("1, 0, 0.5, 0, 3, 0", "'translate': [0, 0.00102, 0]");
    int n;
    double error[3], *truth = moved(scene, 0.02 / 32, "sdirk2", 9.81, &n);
    for (int level = 0; level < 3; level++) {
        double* x = moved(scene, 0.02 / (1 << level), "sdirk2", 9.81, &n);
        error[level] = norm_between(x, truth, n);
        free(x);
    }
    print_message("errors %.2e %.2e %.2e m\n", error[0], error[1], error[2]);
    assert_true(fabs(log2(error[1] / error[2]) - 2) < 0.25);
    free(truth);
}

// Steps that close contacts are Euler's, those that keep them SDIRK2's.
static void falling_bones_gain_no_energy(void** unused) {
    static const char scene[] =
        BOX("0.5, -1, 0, 0, 1, 2", "'translate': [0, 0.03, 0], 'rotate': {'axis': [1, 0, "
                                   "1], 'degrees': 4}");
    sim s = start(scene_of(scene, 0.005, "sdirk3", 9.81), 1);
    double before = energy_of(&s), kinetic = ct_state_measure(s.model, s.state).kinetic, worst = 0;
    int count[CT_INTEGRATOR_MIDPOINT + 1] = {0}, touching = 0;
    for (int i = 0; i < 100; i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        const double now = energy_of(&s);
        worst = fmax(worst, (now - before) / kinetic);
        touching += report.contacts > 0;
        count[report.integrator]++;
        before = now;
    }
    print_message(
        "%d steps touch; %d by euler, %d by sdirk2, %d by sdirk3; the energy rises by at most %.1e\n",
        touching, count[CT_INTEGRATOR_EULER], count[CT_INTEGRATOR_SDIRK2], count[CT_INTEGRATOR_SDIRK3],
        worst);
    assert_true(count[CT_INTEGRATOR_EULER] && count[CT_INTEGRATOR_SDIRK2] && count[CT_INTEGRATOR_SDIRK3]);
    assert_true(worst < 1e-3);
    stop(&s);
}

// ---- refusals ------------------------------------------------------------------------------

static void refuse_model(const char* text, const char* words) {
    ct_scene* scene = scene_of(text, 0.01, "sdirk2", 9.81);
    ct_model* model;
    ct_error error = {0};
    assert_int_equal(ct_model_create(&model, scene, &error), CT_BAD_SCENE);
    if (!strstr(error.message, words)) fail_msg("%s", error.message);
    ct_scene_free(scene);
}

static void what_they_cannot_do_is_refused_by_name(void** unused) {
    // nodes on a line, about which a ball turns freely
    refuse_model(
        "'bodies': [{'box': {'size': [0.6, 0.2, 0.2], 'cells': [6, 2, 2]}}], 'skeletons': [{'links': "
        "[{'name': 'thin', 'joint': {'type': 'ball', 'anchor': [0.3, 0.1, 0.1], 'stiffness': 1}, "
        "'nodes': {'box': [[0.29, 0.05, 0.05], [0.51, 0.15, 0.15]]}}]}]",
        "link \"thin\"");
    static const char driven[] =
        "{\"integrator\": \"sdirk3\", \"skeletons\": [{\"links\": [{\"name\": \"arm\", \"joint\": {\"type\": "
        "\"revolute\", \"axis\": [0, 0, 1]}, \"mass\": 1, \"center\": [1, 0, 0], \"inertia\": [1, 1, 1], "
        "\"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 1, \"translate\": [1, 0, 0]}]}}]}]}";
    refused(driven, "integrator", 1, "root is driven");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skeletons_converge_with_the_order_of_the_integrator),
        cmocka_unit_test(damped_strains_leave_the_second_order),
        cmocka_unit_test(energy_drifts_with_the_order_of_the_integrator),
        cmocka_unit_test(fast_spins_converge),
        cmocka_unit_test(sliding_bones_are_of_second_order),
        cmocka_unit_test(falling_bones_gain_no_energy),
        cmocka_unit_test(what_they_cannot_do_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
