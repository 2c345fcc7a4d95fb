// Scenes of the repository, shortened for tests of batches, and points to evaluate.
#ifndef CT_TESTS_BATCH_SCENES_H
#define CT_TESTS_BATCH_SCENES_H

#include <jansson.h>
#include <sched.h>

#include "build.h"
#include "optim/batch.h"
#include "unit.h"

// scenes/<name>.json over a shorter time, its objectives at the end; parameters: JSON that takes the place of
// its own, NULL: keep them.
static inline ct_scene* shortened(const char* name, double duration, const char* parameters) {
    char path[512];
    json_error_t failure;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, name);
    json_t* root = json_load_file(path, 0, &failure);
    if (!root) fail_msg("%s: %s", path, failure.text);
    json_object_set_new(root, "duration", json_real(duration));
    json_t* objective;
    size_t i;
    json_array_foreach(json_object_get(root, "objective"), i, objective) {
        json_object_del(objective, "from");
        json_object_del(objective, "to");
    }
    if (parameters) json_object_set_new(root, "parameters", json_loads(parameters, 0, &failure));
    char* text = json_dumps(root, 0);
    ct_scene* scene = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), CT_SOURCE_DIR "/scenes", &error), &error);
    free(text);
    json_decref(root);
    return scene;
}

static inline ct_batch* open_batch(const ct_scene* scene, int workers, const ct_transport* transport) {
    ct_batch* batch = NULL;
    ct_error error = {0};
    must(ct_batch_create(&batch, scene, workers, transport, &error), &error);
    return batch;
}

// `count` points within `spread` of the start and within the bounds; the same for the same seed.
static inline double* points_of(const ct_batch* batch, int count, double spread, unsigned seed) {
    const ct_problem* problem = ct_batch_problem(batch);
    size_t n = (size_t)ct_problem_size(problem);
    double *y = calloc((size_t)count * n, sizeof(double)), *lower = calloc(n, sizeof(double)),
           *upper = calloc(n, sizeof(double));
    ct_problem_bounds(problem, lower, upper);
    for (size_t k = 0; k < (size_t)count; k++) {
        ct_problem_start(problem, y + k * n);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            y[k * n + i] =
                fmin(fmax(y[k * n + i] + spread * (2 * (seed >> 8) / 16777216.0 - 1), lower[i]), upper[i]);
        }
    }
    free(lower);
    free(upper);
    return y;
}

typedef struct outcome {  // of a set of points
    int count;
    size_t n;
    double* gradient;
    ct_evaluation* result;
} outcome;

static inline outcome evaluate_all(ct_batch* batch, int count, const double* y) {
    outcome o = {.count = count, .n = (size_t)ct_problem_size(ct_batch_problem(batch))};
    o.gradient = calloc((size_t)count * o.n, sizeof(double));
    o.result = calloc((size_t)count, sizeof *o.result);
    ct_error error = {0};
    must(ct_batch_evaluate(batch, count, y, o.gradient, o.result, &error), &error);
    return o;
}

static inline void free_outcome(outcome* o) {
    free(o->gradient);
    free(o->result);
}

// The same to the last bit: point i of a and point j of b.
static inline void assert_same_point(const outcome* a, int i, const outcome* b, int j) {
    assert_int_equal(a->result[i].status, CT_OK);
    assert_int_equal(b->result[j].status, CT_OK);
    assert_memory_equal(&a->result[i].loss, &b->result[j].loss, sizeof(double));
    assert_memory_equal(&a->result[i].measure, &b->result[j].measure, sizeof(double));
    assert_memory_equal(a->gradient + (size_t)i * a->n, b->gradient + (size_t)j * b->n,
                        a->n * sizeof(double));
}

static inline void assert_same(const outcome* a, const outcome* b) {
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) assert_same_point(a, i, b, i);
}

#endif
