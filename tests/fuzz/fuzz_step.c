// Fuzz target that steps what it reads: a scene as text, or one whose numbers the input chooses over many
// decades (random_scene.h). A scene is refused with a reason, or steps: to finite numbers, or to a failure
// with advice, within a budget of time. CUTTLE_VERBOSE prints the scene and the steps.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../random_scene.h"
#include "../repeat.h"
#include "cuttle.h"
#include "fuzz_file.h"
#include "fuzz_small.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { NODES = 200, LINKS = 16, STEPS = 2 };
static const double budget = REPEAT(3, 30);  // s of the processor for an input; most take milliseconds
static double begun;
long fuzz_tried, fuzz_stepped;  // inputs that made a model, of which a step was taken

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static bool is_late(void* user) {
    (void)user;
    return seconds() - begun > budget;
}

static bool are_finite(const double* values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static bool is_finite(const ct_model* model, const ct_state* state) {
    const ct_model_info info = ct_model_summary(model);
    double poses[12 * LINKS];
    if (ct_state_link_poses(model, state, poses)) abort();
    return are_finite(ct_state_positions(state), 3 * info.nvert) &&
           are_finite(ct_state_velocities(state), 3 * info.nvert) && are_finite(poses, 12 * info.nlink);
}

// As `cuttle run` does, but that it also goes on from an overlap.
static void step_all(const ct_model* model) {
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_error error = {0};
    if (ct_state_create(&state, model, NULL) || ct_work_create(&work, model, 1, NULL)) abort();
    ct_work_set_cancel(work, is_late, NULL);
    if (ct_state_check_start(model, work, state, &error) && !error.message[0]) abort();
    const bool good = is_finite(model, state);
    fuzz_tried++;
    for (int k = 0; k < STEPS; k++) {
        ct_step_report report = {0};
        const ct_status status = ct_step(model, work, state, NULL, &report);
        if (getenv("CUTTLE_VERBOSE"))
            printf("step %d: %d solves, %d gradients, %d products, %d sub-steps, %d contacts, %.3f s: %s\n",
                   k, report.solves, report.gradients, report.hessian_products, report.substeps,
                   report.contacts, seconds() - begun, status ? report.message : "good");
        if (status == CT_CANCELLED || is_late(NULL)) abort();  // a hang
        if (status && !report.message[0]) abort();             // no advice
        if (!status && !report.converged) abort();
        if ((!status || good) && !is_finite(model, state)) abort();  // a failure leaves the state as it was
        if (status) break;
        if (!k) fuzz_stepped++;
    }
    ct_work_free(work);
    ct_state_free(state);
}

// The bytes themselves where they are text, otherwise a random scene.
static ct_status read_scene(ct_scene** scene, const uint8_t* data, size_t size, ct_error* error) {
    if (size && data[0] == '{') return ct_scene_parse(scene, (const char*)data, size, "/nonexistent", error);
    random_dice dice = {.data = data, .size = size, .seed = 1, .harsh = true};
    random_scene made;
    random_make(&made, &dice, random_chance(&dice, 0.2));
    if (getenv("CUTTLE_VERBOSE")) printf("%s\n", made.text);
    return ct_scene_parse(scene, made.text, strlen(made.text), NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_error error = {0};
    if (size && data[0] == '{' && !fuzz_is_small(data, size)) return 0;
    begun = seconds();
    ct_status status = read_scene(&scene, data, size, &error);
    if (!status) {
        ct_settings settings = ct_scene_settings(scene);
        settings.threads = 1;
        if (settings.max_iterations > 40) settings.max_iterations = 40;
        if (settings.max_substep_depth > 2) settings.max_substep_depth = 2;
        if (ct_scene_set_settings(scene, &settings, &error)) abort();
        status = ct_model_create(&model, scene, &error);
    }
    if (status && (error.code != status || !error.message[0])) abort();
    if (!status && ct_model_summary(model).nvert <= NODES && ct_model_summary(model).nlink <= LINKS)
        step_all(model);
    ct_model_free(model);
    ct_scene_free(scene);
    return 0;
}
