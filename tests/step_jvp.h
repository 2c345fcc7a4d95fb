// For tests of forward mode: a step along a direction is the transpose of its reverse, <w, J d> = <J^T w, d>
// for each part of a state, for controls and for quantities; and it agrees with central differences of steps.
#ifndef CT_TESTS_STEP_JVP_H
#define CT_TESTS_STEP_JVP_H

#include "build.h"
#include "slope.h"
#include "step/state.h"

typedef struct example {
    const char* name;
    ct_integrator integrator;
    int warm;         // steps before the one that is looked at
    double control;   // size of the controls; those of mounts: 2 mm, rad
    double reach;     // largest step of the differences
    bool open;        // without contact
    bool policy;      // with a policy that sees positions, velocities and the time
    int iterations;   // it is halved with at most as many per step; 0: it is not
    bool touches;     // contacts carry force
    double friction;  // 0: the scene's
} example;

typedef struct fixture {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    size_t size, ncontrol, nyoung;
    double *control, *weight;
} fixture;

static inline double random_number(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / (double)((int64_t)1 << 52) - 1;
}

static inline double* numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static inline void add_policy(ct_scene* scene) {
    const int nodes[] = {0, 5, 9};
    ct_error error;
    ct_observe_def sees[3];
    for (int i = 0; i < 3; i++) {
        sees[i] = ct_observe_def_default();
        sees[i].nodes = nodes, sees[i].count = 3;
    }
    sees[1].kind = CT_OBSERVE_VELOCITY, sees[2].kind = CT_OBSERVE_PHASE, sees[2].frequency = 2;
    ct_policy_def policy = ct_policy_def_default();
    policy.observe = sees, policy.nobserve = 3;
    must(ct_scene_set_policy(scene, &policy, &error), &error);
}

// A driven root with links beneath it, a rotor and a ball joint, and a mount, beside the scenes of the
// repository.
static const char cart[] =
    "{\"time_step\": 0.02, \"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": "
    "[4, 1, 1]}, "
    "\"material\": {\"young\": 1e5, \"damping\": {\"stiffness\": 0.01, \"mass\": 1}}}],"
    "\"drives\": [{\"select\": {\"box\": [[-1, -1, -1], [1e-6, 1, 1]]}, \"motion\": {\"keys\": [{\"time\": "
    "0}], \"center\": [0, 0.05, 0.05]}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"base\", \"joint\": {\"type\": \"fixed\"}, \"mass\": 1, "
    "\"center\": [0, 1, 0], \"inertia\": [0.01, 0.01, 0.01]},"
    "{\"name\": \"arm\", \"parent\": \"base\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0.1, 1, 0], "
    "\"axis\": [0, 1, 1], \"damping\": 0.1, \"armature\": 0.02}, \"mass\": 0.5, \"center\": [0.3, 1, 0], "
    "\"inertia\": [0.01, "
    "0.01, 0.01]},"
    "{\"name\": \"hand\", \"parent\": \"arm\", \"joint\": {\"type\": \"ball\", \"anchor\": [0.5, 1, 0], "
    "\"damping\": 0.1, \"stiffness\": 1}, \"mass\": 0.5, \"center\": [0.6, 1, 0], \"inertia\": [0.01, 0.01, "
    "0.01]}]}],"
    "\"controls\": [{\"name\": \"drone\", \"move\": 0}, {\"name\": \"cart\", \"move\": \"base\"}]}";

// A box that lies on a ball which spins and moves, and that slides on a plane.
static const char spin[] =
    "{\"time_step\": 0.01, \"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": "
    "[4, 2, 2]}, \"translate\": [-0.2, 0.002, -0.05], \"material\": {\"young\": 1e5}}],"
    "\"obstacles\": [{\"sphere\": {\"center\": [0, -0.2, 0], \"radius\": 0.2}, \"motion\": {\"center\": [0, "
    "-0.2, "
    "0], \"keys\": [{\"time\": 0}, {\"time\": 1, \"translate\": [0, 0.02, 0], \"rotate\": [0, 0, 1.5]}]}}],"
    "\"contact\": {\"friction\": 0.3}}";

// A sledge of bone that slides, with flesh behind it and a bone in that.
static const char sledge[] =
    "{\"time_step\": 0.01, \"bodies\": [{\"name\": \"bar\", \"box\": {\"size\": [0.4, 0.1, 0.1], \"cells\": "
    "[4, 1, 1]}, \"translate\": [0, 0.002, 0], \"velocity\": [-1, 0, 0.2], \"material\": {\"young\": 1e5}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"sledge\", \"joint\": {\"type\": \"free\", \"velocity\": [-1, "
    "0, "
    "0.2, 0, 1, 0]}, \"nodes\": {\"box\": [[-1, -1, -1], [0.15, 1, 1]]}}, {\"name\": \"rudder\", \"parent\": "
    "\"sledge\", \"joint\": {\"type\": \"ball\", \"anchor\": [0.2, 0.05, 0.05], \"velocity\": [0, 2, 0], "
    "\"damping\": 0.1, \"stiffness\": 1}, \"nodes\": {\"box\": [[0.35, -1, -1], [1, 1, 1]]}}]}],"
    "\"controls\": [{\"name\": \"steer\", \"torque\": \"rudder\"}],"
    "\"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}}], \"contact\": {\"friction\": 0.2}}";

// How the step from the state goes.
static inline ct_status try_step(const fixture* f, ct_step_report* report) {
    ct_state* state = NULL;
    must(ct_state_create(&state, f->model, NULL), NULL);
    must(ct_state_copy(state, f->state), NULL);
    ct_status status = ct_step(f->model, f->work, state, f->control, report);
    ct_state_free(state);
    return status;
}

// The same with so few iterations that the step is halved: how many these are depends on round-off.
static inline void halve(const example* e, fixture* f, ct_settings settings) {
    ct_step_report report = {0};
    ct_error error;
    settings.max_substep_depth = 8;
    for (int most = e->iterations; most > 2 && report.substeps < 2; most--) {
        ct_state* state = NULL;
        settings.max_iterations = most;
        ct_work_free(f->work);
        ct_model_free(f->model);
        must(ct_scene_set_settings(f->scene, &settings, &error), &error);
        must(ct_model_create(&f->model, f->scene, &error), &error);
        must(ct_work_create(&f->work, f->model, 1, &error), &error);
        must(ct_state_create(&state, f->model, &error), &error);
        must(ct_state_copy(state, f->state), NULL);
        ct_state_free(f->state);
        f->state = state;
        if (try_step(f, &report)) fail_msg("%s: %s", e->name, report.message);
    }
    if (report.substeps < 2) fail_msg("%s: the step is not halved", e->name);
}

static inline fixture begin(const example* e) {
    fixture f = {0};
    char path[512];
    ct_error error;
    ct_step_report report;
    uint64_t seed = 5;
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, e->name);
    if (strcmp(e->name, "cart") == 0)
        must(ct_scene_parse(&f.scene, cart, strlen(cart), NULL, &error), &error);
    else if (strcmp(e->name, "spin") == 0)
        must(ct_scene_parse(&f.scene, spin, strlen(spin), NULL, &error), &error);
    else if (strcmp(e->name, "sledge") == 0)
        must(ct_scene_parse(&f.scene, sledge, strlen(sledge), NULL, &error), &error);
    else must(ct_scene_load(&f.scene, path, &error), &error);
    ct_settings settings = ct_scene_settings(f.scene);
    settings.tolerance = 1e-14;
    settings.integrator = e->integrator;
    if (e->iterations) settings.max_iterations = e->iterations, settings.max_substep_depth = 8;
    if (e->open) settings.contact.method = CT_CONTACT_METHOD_NONE;
    must(ct_scene_set_settings(f.scene, &settings, &error), &error);
    if (e->policy) add_policy(f.scene);
    must(ct_model_create(&f.model, f.scene, &error), &error);
    if (e->friction > 0) must(ct_model_set(f.model, CT_QUANTITY_FRICTION, &e->friction, &error), &error);
    must(ct_state_create(&f.state, f.model, NULL), NULL);
    must(ct_work_create(&f.work, f.model, 1, NULL), NULL);
    f.size = ct_model_state_first(f.model, CT_STATE_PARTS);
    f.ncontrol = (size_t)ct_model_control_size(f.model);
    f.nyoung = ct_model_quantity_size(f.model, CT_QUANTITY_YOUNG);
    f.control = numbers(f.ncontrol);
    f.weight = numbers(f.size);
    for (int k = 0; k < ct_model_control_count(f.model); k++) {
        ct_control_info info = ct_model_control_info(f.model, k);
        for (int i = 0; i < info.count; i++)
            f.control[info.first + i] =
                (info.kind == CT_CONTROL_MOVE ? 2e-3 : e->control) * (0.9 + 0.1 * random_number(&seed));
    }
    for (size_t i = 0; i < f.size; i++) f.weight[i] = random_number(&seed);
    for (int i = 0; i < e->warm; i++)
        if (ct_step(f.model, f.work, f.state, f.control, &report))
            fail_msg("%s: %s", e->name, report.message);
    if (e->iterations) halve(e, &f, settings);
    if (try_step(&f, &report)) fail_msg("%s: %s", e->name, report.message);
    if (e->touches != (report.contacts > 0)) fail_msg("%s: %d contacts", e->name, report.contacts);
    return f;
}

static inline void end(fixture* f) {
    free(f->control), free(f->weight);
    ct_state_free(f->state);
    ct_work_free(f->work);
    ct_model_free(f->model);
    ct_scene_free(f->scene);
}

// Sizes of directions, by part: such that each moves the end by about as much.
static const double lengths[CT_STATE_PARTS] = {1e-5, 1e-2, 1e-5, 1e-2, 1e-3, 1e-3, 1e-2, 1e-3, 1e-2, 1e-3};

static inline double product(const double* a, const double* b, size_t n, double* size) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i], *size += fabs(a[i] * b[i]);
    return sum;
}

// <w, J d> where d changes the state by `dot`, which is overwritten, and quantities by `dots`.
static inline double forward(const fixture* f, double* dot, const ct_values* dots, double* size) {
    must(ct_step_jvp(f->model, f->work, f->state, f->control, 1, dot, dots, NULL, NULL), NULL);
    return product(f->weight, dot, f->size, size);
}

static inline void agree(const example* e, const char* what, double there, double back, double size) {
    double error = size > 0 ? fabs(there - back) / size : fabs(there - back);
    print_message("%s: %s %.3e, off by %.1e\n", e->name, what, there, error);
    if (!(error <= 1e-12)) fail_msg("%s: %s: %.16e there, %.16e back", e->name, what, there, back);
}

// A direction for each part of the state, then one for each of these.
enum { QUANTITIES = 5, DIRECTIONS = CT_STATE_PARTS + QUANTITIES };
static const ct_quantity quantities[QUANTITIES] = {
    CT_QUANTITY_CONTROL, CT_QUANTITY_YOUNG, CT_QUANTITY_POISSON, CT_QUANTITY_GRAVITY, CT_QUANTITY_FRICTION};

// Whether forward mode has the quantity.
static inline bool has(const fixture* f, ct_quantity q) {
    const bool water = ct_model_quantity_size(f->model, CT_QUANTITY_WATER_DENSITY) > 0,
               sheets = ct_model_summary(f->model).ntri > 0;
    if (q == CT_QUANTITY_GRAVITY && water) return false;
    if ((q == CT_QUANTITY_YOUNG || q == CT_QUANTITY_POISSON) && sheets) return false;
    return q == CT_QUANTITY_CONTROL ? f->ncontrol > 0 : ct_model_quantity_size(f->model, q) > 0;
}

static inline void check_transpose(const example* e) {
    fixture f = begin(e);
    double *bar = numbers(f.size), *dot = numbers(DIRECTIONS * f.size), back[DIRECTIONS],
           size[DIRECTIONS] = {0};
    double *change[QUANTITIES], *gradient_of[QUANTITIES];
    ct_values gradient = {0}, dots[DIRECTIONS] = {0};
    uint64_t seed = 23;
    for (int k = 0; k < QUANTITIES; k++) {
        const ct_quantity q = quantities[k];
        const size_t n = q == CT_QUANTITY_CONTROL ? f.ncontrol : ct_model_quantity_size(f.model, q);
        change[k] = numbers(n), gradient_of[k] = numbers(n);
        if (!has(&f, q)) continue;
        gradient.of[q] = gradient_of[k];
        dots[CT_STATE_PARTS + k].of[q] = change[k];
        if (q == CT_QUANTITY_YOUNG) ct_model_get(f.model, q, change[k]);
        for (size_t i = 0; i < n; i++)
            change[k][i] = (q == CT_QUANTITY_YOUNG     ? change[k][i]
                            : q == CT_QUANTITY_CONTROL ? 1e-3
                                                       : 1) *
                           random_number(&seed);
    }
    memcpy(bar, f.weight, f.size * sizeof(double));
    must(ct_step_vjp(f.model, f.work, f.state, f.control, bar, &gradient, NULL), NULL);
    for (int part = 0; part < CT_STATE_PARTS; part++) {
        double* along = dot + (size_t)part * f.size;
        for (size_t i = ct_model_state_first(f.model, (ct_state_part)part);
             i < ct_model_state_first(f.model, (ct_state_part)(part + 1)); i++)
            along[i] = lengths[part] * random_number(&seed);
        back[part] = product(bar, along, f.size, &size[part]);
    }
    for (int k = 0; k < QUANTITIES; k++) {
        const ct_quantity q = quantities[k];
        const size_t n = q == CT_QUANTITY_CONTROL ? f.ncontrol : ct_model_quantity_size(f.model, q);
        back[CT_STATE_PARTS + k] = product(gradient_of[k], change[k], n, &size[CT_STATE_PARTS + k]);
    }
    must(ct_step_jvp(f.model, f.work, f.state, f.control, DIRECTIONS, dot, dots, NULL, NULL), NULL);
    for (int i = 0; i < DIRECTIONS; i++) {
        const double there = product(f.weight, dot + (size_t)i * f.size, f.size, &size[i]);
        const int k = i - CT_STATE_PARTS;
        if (k < 0) agree(e, ct_state_part_name((ct_state_part)i), there, back[i], size[i]);
        else if (has(&f, quantities[k])) agree(e, ct_quantity_name(quantities[k]), there, back[i], size[i]);
    }
    for (int k = 0; k < QUANTITIES; k++) free(change[k]), free(gradient_of[k]);
    free(bar), free(dot);
    end(&f);
}

// ---- against differences -------------------------------------------------------------------

typedef struct line {
    fixture* f;
    ct_state* state;
    double *start, *direction, *change, *control, *vector;
    double size;
} line;

static inline double loss_along(void* user, double t) {
    line* l = user;
    const fixture* f = l->f;
    ct_step_report report;
    for (size_t i = 0; i < f->size; i++) l->vector[i] = l->start[i] + t * l->direction[i];
    for (size_t i = 0; i < f->ncontrol; i++) l->control[i] = f->control[i] + t * l->change[i];
    must(ct_state_copy(l->state, f->state), NULL);
    must(ct_state_set_vector(f->model, l->state, l->vector), NULL);
    if (ct_step(f->model, f->work, l->state, l->control, &report)) fail_msg("%s", report.message);
    must(ct_state_get_vector(f->model, l->state, l->vector), NULL);
    l->size = 0;
    return product(f->weight, l->vector, f->size, &l->size);
}

static inline void check_differences(const example* e) {
    fixture f = begin(e);
    line l = {
        &f, NULL, numbers(f.size), numbers(f.size), numbers(f.ncontrol), numbers(f.ncontrol), numbers(f.size),
        0};
    double* dot = numbers(f.size);
    uint64_t seed = 7;
    must(ct_state_create(&l.state, f.model, NULL), NULL);
    must(ct_state_get_vector(f.model, f.state, l.start), NULL);
    for (int part = 0; part < CT_STATE_PARTS; part++)
        for (size_t i = ct_model_state_first(f.model, (ct_state_part)part);
             i < ct_model_state_first(f.model, (ct_state_part)(part + 1)); i++)
            dot[i] = l.direction[i] = lengths[part] * random_number(&seed);
    for (size_t i = 0; i < f.ncontrol; i++) l.change[i] = 1e-3 * random_number(&seed);
    ct_values dots = {0};
    dots.of[CT_QUANTITY_CONTROL] = l.change;
    double unused = 0, exact = forward(&f, dot, &dots, &unused);
    loss_along(&l, 0);
    assert_slope(loss_along, &l, exact, e->reach, 100 * l.size);
    free(l.start), free(l.direction), free(l.change), free(l.control), free(l.vector), free(dot);
    ct_state_free(l.state);
    end(&f);
}

#endif
