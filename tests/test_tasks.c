// The tasks of scenes/: octopus, fish and gripper. Their gradients match differences, and the scene's own
// search brings the body to within 5 % of the distance at the start in as many rollouts as are allowed.
#include "build.h"
#include "repeat.h"

typedef struct task {
    const char* name;
    double distance;  // m, from where the body begins to where it is to be
    int steps;        // of the rollout whose gradient is checked
    double away;      // y of that rollout, from the scene's start
    double step;      // of the differences, of y
    int allowed;      // rollouts of the search
} task;

static const task octopus = {"octopus", 0.98, 12, 0.3, 0.03, 50}, fish = {"fish", 0.15, 8, 0.2, 0.3, 50},
                  gripper = {"gripper", 0.3, 6, 0.05, 0.3, 10};

static ct_scene* load(const task* t) {
    char path[512];
    ct_error error;
    ct_scene* scene = NULL;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, t->name);
    must(ct_scene_load(&scene, path, &error), &error);
    return scene;
}

static ct_problem* pose(const ct_scene* scene, double** y) {
    ct_error error;
    ct_problem* problem = NULL;
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    *y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_problem_start(problem, *y);
    return problem;
}

static void check_gradient(const task* t) {
    ct_scene* scene = load(t);
    ct_settings settings;
    ct_error error;
    double* y;
    settings = ct_scene_settings(scene);
    settings.duration = t->steps * settings.time_step;
    settings.tolerance = 1e-12;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    ct_problem* problem = pose(scene, &y);
    for (int i = 0; i < ct_problem_size(problem); i++) y[i] += t->away * (0.5 + 0.5 * sin(i));
    ct_check_def def = ct_check_def_default();
    def.slices = REPEAT(4, 2);
    def.components = 1;
    def.step = t->step;
    def.levels = 6;
    def.tolerance = 1e-5;
    ct_check_slice* slices = calloc((size_t)ct_problem_slice_count(problem), sizeof *slices);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int k = 0; k < ct_problem_slice_count(problem); k++) {
        const ct_check_slice* s = &slices[k];
        if (s->skipped) continue;
        print_message("%s, %s: error %.1e, slope %.2f, gradient %.2e\n", t->name, s->name, s->relative_error,
                      s->slope, s->worst_gradient);
        // no slope where the longest difference is as good as round-off
        if (!s->passed || !(s->slope > 1.8 || (isnan(s->slope) && s->relative_error < 1e-8)))
            fail_msg("%s: %s is wrong", t->name, s->name);
    }
    free(slices);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

typedef struct course {
    double goal, best;  // m
    int arrived;        // rollout that came within the goal, 0: none
} course;

static bool watch(const ct_progress* progress, void* user) {
    course* c = user;
    if (progress->measure < c->best) c->best = progress->measure;
    if (c->best <= c->goal) c->arrived = progress->iteration;
    return !c->arrived;
}

static void search(const task* t) {
    ct_scene* scene = load(t);
    ct_optimize_def def;
    ct_error error;
    course c = {.goal = 0.05 * t->distance, .best = INFINITY};
    double* y;
    def = ct_scene_optimize_def(scene);
    def.iterations = t->allowed;
    ct_problem* problem = pose(scene, &y);
    must(ct_problem_optimize(problem, &def, y, watch, &c, NULL, &error), &error);
    print_message("%s: from %.4f to %.4f m, arrived in rollout %d\n", t->name, t->distance, c.best,
                  c.arrived);
    assert_in_range(c.arrived, 1, t->allowed);
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

static void octopus_has_the_right_gradient(void** state) { check_gradient(&octopus); }
static void fish_has_the_right_gradient(void** state) { check_gradient(&fish); }
static void gripper_has_the_right_gradient(void** state) { check_gradient(&gripper); }

// Searches take their time, and reach no other lines: not under sanitizers.
static void octopus_arrives(void** state) {
    if (REPEAT(1, 0)) search(&octopus);
    else skip();
}
static void fish_arrives(void** state) {
    if (REPEAT(1, 0)) search(&fish);
    else skip();
}
static void gripper_arrives(void** state) {
    if (REPEAT(1, 0)) search(&gripper);
    else skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octopus_has_the_right_gradient),
        cmocka_unit_test(fish_has_the_right_gradient),
        cmocka_unit_test(gripper_has_the_right_gradient),
        cmocka_unit_test(octopus_arrives),
        cmocka_unit_test(fish_arrives),
        cmocka_unit_test(gripper_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
