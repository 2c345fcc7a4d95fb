// Problems with contact from short scene texts: ' stands for the double quotes of JSON, and the loss reaches
// every node.
#ifndef CT_TESTS_CONTACT_PROBLEM_H
#define CT_TESTS_CONTACT_PROBLEM_H

#include "build.h"
#include "repeat.h"
#include "unit.h"

#define MATERIAL                                                                                             \
    "'material': {'young': 1e5, 'poisson': 0.35, 'density': 1000, 'damping': {'mass': 0.1, 'stiffness': "    \
    "1e-3}}, 'contact_thickness': 1e-3"
#define FLOOR "{'name': 'floor', 'plane': {'normal': [0, 1, 0]}}"
#define MATTER                                                                                               \
    "{'type': 'young'}, {'type': 'poisson'}, {'type': 'density'}, {'type': 'damping_mass'}, {'type': "       \
    "'damping_stiffness'}"
#define START "{'type': 'position', 'per': 'element'}, {'type': 'velocity'}"
#define EVERYTHING MATTER ", " START ", {'type': 'gravity'}, {'type': 'friction'}"

static ct_scene* scene_of(const char* text) {
    char* copy = strdup(text);
    for (char* c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    ct_scene* scene = NULL;
    ct_error error = {0};
    ct_status status = ct_scene_parse(&scene, copy, strlen(copy), NULL, &error);
    if (status != CT_OK) fail_msg("%s: %s", error.path, error.message);
    free(copy);
    ct_settings settings = ct_scene_settings(scene);
    settings.tolerance = 1e-14;
    settings.threads = 1;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    return scene;
}

// At every third state, a weight of its own for every coordinate, linear and quadratic in displacement and
// velocity.
typedef struct contact_loss {
    const ct_model* model;
    int nstep;
} contact_loss;

static void contact_term(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                         double* q_bar, void* user) {
    const contact_loss* l = user;
    if (step != l->nstep && step % 3) return;
    ct_model_info info = ct_model_summary(l->model);
    const double *x = ct_state_positions(state), *v = ct_state_velocities(state),
                 *rest = ct_model_rest(l->model);
    for (int i = 0; i < 3 * info.nvert; i++) {
        double d = x[i] - rest[i], w = 1 + sin(0.7 * i + step), u = 0.1 * (1 + cos(1.3 * i + step));
        *loss += w * d + 0.5 * w * d * d + u * v[i] + 0.05 * u * v[i] * v[i];
        if (x_bar) x_bar[i] += w + w * d;
        if (v_bar) v_bar[i] += u + 0.1 * u * v[i];
    }
}

static inline ct_problem* contact_problem(const ct_scene* scene, size_t max_bytes, contact_loss* loss) {
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, max_bytes, &error), &error);
    *loss = (contact_loss){.model = ct_problem_model(problem), .nstep = ct_problem_steps(problem)};
    ct_problem_set_term(problem, contact_term, loss);
    return problem;
}

// Compares the gradient with differences: every slice of the scene's parameters. fresh: of scenes that are
// built anew.
static inline void compare_slices(const char* name, ct_scene* scene, bool fresh, double tolerance) {
    contact_loss loss;
    ct_problem* problem = contact_problem(scene, 0, &loss);
    int count = ct_problem_slice_count(problem);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof(double));
    ct_check_slice* slices = calloc((size_t)count, sizeof *slices);
    ct_problem_start(problem, y);
    ct_check_def def = ct_check_def_default();
    def.tolerance = tolerance;
    if (fresh) def.scene = scene;
    def.components = REPEAT(3, 1);
    def.levels = REPEAT(6, 2);
    ct_error error = {0};
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    int failed = 0;
    for (int k = 0; k < count; k++) {
        const ct_check_slice* s = &slices[k];
        bool bent = !isnan(s->slope) && !(s->slope > 1.5) && s->relative_error > 1e-8;
        if (REPEAT(true, false) && (!s->passed || bent)) {  // two levels tell little
            failed++;
            print_message("%s: %s error %.1e slope %.2f, number %d, gradient %g, difference %g, step %d is "
                          "halved otherwise (-1: none), %d contacts switch (first: step %d, node %d, %d to "
                          "%d)\n",
                          name, s->name, s->relative_error, s->slope, s->worst, s->worst_gradient,
                          s->worst_difference, s->halved, s->switches, s->switched[0].step,
                          s->switched[0].node[0], s->switched[0].from, s->switched[0].to);
        }
    }
    free(slices);
    free(y);
    ct_problem_free(problem);
    if (failed) fail_msg("%s: %d slices are wrong", name, failed);
}

static inline void compare_gradient(const char* name, ct_scene* scene, double tolerance) {
    compare_slices(name, scene, false, tolerance);
}

#endif
