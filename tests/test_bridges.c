// The bridges of scenes/: Young's modulus and Poisson's ratio of every tet are found so that the barycentre
// sinks by 8 cm.
#include "build.h"
#include "repeat.h"

static const double CLOSE = 1e-8;  // m^2: the barycentre is within 0.1 mm of its target
enum { STARTS = REPEAT(5, 1), EVALUATIONS = REPEAT(10, 2) };

static ct_scene* load(const char* name) {
    char path[512];
    ct_error error;
    ct_scene* scene = NULL;
    snprintf(path, sizeof path, "%s/scenes/%s", CT_SOURCE_DIR, name);
    if (ct_scene_load(&scene, path, &error)) fail_msg("%s: %s", path, error.message);
    return scene;
}

static ct_problem* pose(const ct_scene* scene) {
    ct_error error;
    ct_problem* problem = NULL;
    if (ct_problem_create(&problem, scene, 0, &error)) fail_msg("%s", error.message);
    return problem;
}

static double* zeros(const ct_problem* problem) {
    return calloc((size_t)ct_problem_size(problem), sizeof(double));
}

// Uniform in [0, 1).
static double draw(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// Young's moduli between 0.3 and 3 times the scene's, ratios between 0.1 and 0.4. y is the logarithm of the
// modulus and the logit of the ratio within its bounds.
static void random_start(const ct_problem* problem, uint64_t seed, double* y) {
    ct_slice young, poisson;
    young = ct_problem_slice(problem, 0);
    poisson = ct_problem_slice(problem, 1);
    ct_problem_start(problem, y);
    for (int i = 0; i < young.count; i++) y[young.first + i] += log(0.3) + log(10) * draw(&seed);
    for (int i = 0; i < poisson.count; i++) {
        double part = (0.1 + 0.3 * draw(&seed) - 0.05) / 0.4;
        y[poisson.first + i] = log(part / (1 - part));
    }
}

static void find_from_random_starts(const char* name) {
    ct_scene* scene = load(name);
    ct_problem* problem = pose(scene);
    double* y = zeros(problem);
    ct_optimize_def def = ct_scene_optimize_def(scene);
    def.target = CLOSE;
    def.iterations = EVALUATIONS;
    for (uint64_t seed = 1; seed <= STARTS; seed++) {
        ct_optimize_report report;
        ct_error error;
        random_start(problem, seed, y);
        assert_int_equal(ct_problem_optimize(problem, &def, y, NULL, NULL, &report, &error), CT_OK);
        print_message("%s, start %d: loss %.1e after %d evaluations, %.2f s\n", name, (int)seed, report.loss,
                      report.iterations, report.seconds);
        assert_true(report.loss <= REPEAT(CLOSE, INFINITY));
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void suspension_bridge_sinks_8_cm_from_any_of_5_starts(void** state) {
    (void)state;
    find_from_random_starts("suspension_bridge.json");
}

static void arch_bridge_sinks_8_cm_from_any_of_5_starts(void** state) {
    (void)state;
    find_from_random_starts("arch_bridge.json");
}

// Every tet carries load, so that every number counts.
static void every_tet_of_a_bridge_has_a_derivative(void** state) {
    (void)state;
    const char* names[] = {"suspension_bridge.json", "arch_bridge.json"};
    for (int k = 0; k < 2; k++) {
        ct_scene* scene = load(names[k]);
        ct_problem* problem = pose(scene);
        double *y = zeros(problem), *gradient = zeros(problem), loss;
        ct_error error;
        ct_problem_start(problem, y);
        must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
        for (int i = 0; i < ct_problem_size(problem); i++)
            assert_true(isfinite(gradient[i]) && gradient[i] != 0);
        free(gradient);
        free(y);
        ct_problem_free(problem);
        ct_scene_free(scene);
    }
}

static void gradient_of_the_suspension_bridge_is_that_of_differences(void** state) {
    (void)state;
    ct_scene* scene = load("suspension_bridge.json");
    ct_settings settings;
    ct_error error;
    settings = ct_scene_settings(scene);
    settings.tolerance = 1e-12;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    ct_problem* problem = pose(scene);
    double* y = zeros(problem);
    ct_check_def def = ct_check_def_default();
    ct_check_slice slices[2];
    def.tolerance = 1e-7;
    def.components = 2;
    def.levels = 4;
    random_start(problem, 1, y);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int k = 0; k < 2; k++) {
        print_message("%s: relative error %.1e\n", slices[k].name, slices[k].relative_error);
        assert_true(slices[k].passed);
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suspension_bridge_sinks_8_cm_from_any_of_5_starts),
        cmocka_unit_test(arch_bridge_sinks_8_cm_from_any_of_5_starts),
        cmocka_unit_test(every_tet_of_a_bridge_has_a_derivative),
        cmocka_unit_test(gradient_of_the_suspension_bridge_is_that_of_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
