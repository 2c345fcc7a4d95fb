// Small scenes for tests, built through the public API. Every function asserts that nothing failed.
#ifndef CT_TESTS_BUILD_H
#define CT_TESTS_BUILD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "unit.h"

typedef struct sim {  // a scene on its way: model, state and work together
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
} sim;

static inline void must(ct_status status, const ct_error* error) {
    if (status != CT_OK) fail_msg("%s: %s", ct_status_text(status), error ? error->message : "");
}

static inline ct_scene* new_scene(const ct_settings* settings) {
    ct_scene* scene = NULL;
    ct_error error = {0};
    must(ct_scene_create(&scene, NULL), NULL);
    must(ct_scene_set_settings(scene, settings, &error), &error);
    return scene;
}

static inline int add_box(ct_scene* scene, const double size[3], const int cells[3],
                          const ct_material* material) {
    ct_mesh* mesh = NULL;
    ct_error error = {0};
    int body;
    must(ct_mesh_box(&mesh, size, cells, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material = *material;
    must(ct_scene_add_body(scene, &def, &body, &error), &error);
    ct_mesh_free(mesh);
    return body;
}

static inline void pin_plane(ct_scene* scene, int axis, double at) {
    ct_error error = {0};
    double big = 1e6, slack = 1e-9;
    ct_selector selector = {.kind = CT_SELECT_BOX, .body = -1};
    for (int a = 0; a < 3; a++) {
        selector.a[a] = a == axis ? at - slack : -big;
        selector.b[a] = a == axis ? at + slack : big;
    }
    int *nodes = NULL, count = 0;
    must(ct_scene_select(scene, &selector, &nodes, &count, &error), &error);
    ct_motion motion = {0};
    must(ct_scene_drive(scene, nodes, count, &motion, &error), &error);
    ct_free(nodes);
}

static inline sim start(ct_scene* scene, int threads) {
    sim s = {.scene = scene};
    ct_error error = {0};
    must(ct_model_create(&s.model, scene, &error), &error);
    must(ct_state_create(&s.state, s.model, NULL), NULL);
    must(ct_work_create(&s.work, s.model, threads, NULL), NULL);
    return s;
}

static inline void stop(sim* s) {
    ct_work_free(s->work);
    ct_state_free(s->state);
    ct_model_free(s->model);
    ct_scene_free(s->scene);
}

static inline void steps(sim* s, int count) {
    for (int i = 0; i < count; i++) {
        ct_step_report report;
        ct_status status = ct_step(s->model, s->work, s->state, NULL, &report);
        if (status != CT_OK)
            fail_msg("step %d: %s, residual %g of %g after %d solves: %s", i, ct_status_text(status),
                     report.residual, report.reference, report.solves, report.message);
    }
}

// A copy of the positions, to be freed, and how many numbers they are.
static inline double* copy_positions(const sim* s, int* count) {
    *count = 3 * ct_model_summary(s->model).nvert;
    double* x = malloc((size_t)*count * sizeof(double));
    memcpy(x, ct_state_positions(s->state), (size_t)*count * sizeof(double));
    return x;
}
static inline double norm_between(const double* a, const double* b, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static inline int node_count(const sim* s) {
    ct_model_info info = ct_model_summary(s->model);
    return info.nvert;
}

// Node nearest to a rest position.
static inline int node_at(const sim* s, double x, double y, double z) {
    const double* rest = ct_model_rest(s->model);
    int best = 0;
    double least = 1e300;
    for (int v = 0; v < node_count(s); v++) {
        double d = hypot(hypot(rest[3 * v] - x, rest[3 * v + 1] - y), rest[3 * v + 2] - z);
        if (d < least) least = d, best = v;
    }
    return best;
}

// Deterministic numbers in [-1, 1].
static inline double noise(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / (double)(1ll << 52) - 1;
}

#endif
