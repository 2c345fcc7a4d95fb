// What contact costs: every step with contact is followed by the same step without it, the contact forces
// held as loads (ct_profile_free_step). Of several passes over the same steps the fastest counts, step by
// step.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_contact.h"

typedef struct sample {  // of one step
    double seconds, free_seconds;
    int contacts, solves, free_solves, iterations;
    bool free;
} sample;

typedef struct runner {
    ct_model* model;
    ct_state *state, *before, *other;
    ct_work *work, *free_work;
    sample* samples;
} runner;

static ct_status open_runner(runner* r, const ct_scene* scene, int steps, ct_error* error) {
    ct_status status = ct_model_create(&r->model, scene, error);
    if (status == CT_OK) status = ct_state_create(&r->state, r->model, NULL);
    if (status == CT_OK) status = ct_state_create(&r->before, r->model, NULL);
    if (status == CT_OK) status = ct_state_create(&r->other, r->model, NULL);
    if (status == CT_OK) status = ct_work_create(&r->work, r->model, 1, NULL);
    if (status == CT_OK) status = ct_work_create(&r->free_work, r->model, 1, NULL);
    r->samples = calloc((size_t)steps + 1, sizeof *r->samples);
    return status == CT_OK && !r->samples ? CT_OUT_OF_MEMORY : status;
}

static void close_runner(runner* r) {
    free(r->samples);
    ct_work_free(r->free_work);
    ct_work_free(r->work);
    ct_state_free(r->other);
    ct_state_free(r->before);
    ct_state_free(r->state);
    ct_model_free(r->model);
}

static double lower(bool first, double best, double now) { return first || now < best ? now : best; }

static ct_status take_step(runner* r, int step, bool first, bench_cost* cost, ct_step_report* report) {
    sample* s = &r->samples[step];
    ct_status status = ct_state_copy(r->before, r->state);
    double begun = ct_profile_cpu();
    if (status == CT_OK) status = ct_step(r->model, r->work, r->state, NULL, report);
    s->seconds = lower(first, s->seconds, ct_profile_cpu() - begun);
    if (status != CT_OK) return status;
    s->contacts = report->contacts, s->solves = report->solves, s->iterations = report->iterations;
    if (!report->contacts) return CT_OK;
    ct_step_report without;
    begun = ct_profile_cpu();
    status =
        ct_profile_free_step(r->model, r->free_work, r->before, r->state, NULL, report, r->other, &without);
    s->free_seconds = lower(first, s->free_seconds, ct_profile_cpu() - begun);
    s->free = status == CT_OK;
    s->free_solves = without.solves;
    if (first && status == CT_NOT_CONVERGED) cost->free_failed++;
    return status == CT_NOT_CONVERGED ? CT_OK : status;
}

// What does not depend on the time that it took.
static ct_status look(runner* r, const bench_cost_def* def, const ct_step_report* report, bench_cost* cost) {
    cost->contacts = report->contacts > cost->contacts ? report->contacts : cost->contacts;
    cost->passes = report->passes > cost->passes ? report->passes : cost->passes;
    cost->substeps += report->substeps - 1;
    cost->most_substeps = report->substeps > cost->most_substeps ? report->substeps : cost->most_substeps;
    cost->penetration = fmax(cost->penetration, report->penetration);
    if (!def->check) return CT_OK;
    ct_crossings found;
    ct_status status = ct_profile_crossings(r->model, r->state, &found);
    cost->crossed += found.count > 0;
    cost->nearest = fmin(cost->nearest, found.nearest);
    return status;
}

static void fail(bench_cost* cost, ct_status status, int step, const char* message) {
    cost->status = status;
    cost->failed_step = step;
    snprintf(cost->message, sizeof cost->message, "%.255s", *message ? message : ct_status_text(status));
}

static void print_step(const runner* r, int step, const ct_step_report* report) {
    const sample* s = &r->samples[step];
    printf("step %3d: %8.2f ms, free %7.2f ms, %4d solves (free %3d), %3d iterations, %2d sub-steps, %2d "
           "passes, "
           "%4d contacts (%d stick, %d slip)%s\n",
           step, 1e3 * s->seconds, 1e3 * s->free_seconds, s->solves, s->free_solves, s->iterations,
           report->substeps, report->passes, report->contacts, report->sticking, report->slipping,
           report->inverted ? ", inverted tets" : "");
    fflush(stdout);
}

static void run_pass(runner* r, const bench_cost_def* def, int steps, bool first, bench_cost* cost) {
    double begun = ct_profile_cpu();
    for (int i = 0; i < steps && cost->status == CT_OK; i++) {
        ct_step_report report = {0};
        ct_status status = take_step(r, i, first, cost, &report);
        if (status == CT_OK && first) status = look(r, def, &report, cost);
        if (status != CT_OK) fail(cost, status, i, report.message);
        else if (first) cost->steps = i + 1;
        if (def->verbose && status == CT_OK) print_step(r, i, &report);
        if (first && def->seconds > 0 && ct_profile_cpu() - begun > def->seconds) return;
    }
}

static void add_up(const runner* r, bench_cost* cost) {
    for (int i = 0; i < cost->steps; i++) {
        const sample* s = &r->samples[i];
        if (!s->contacts || !s->free) continue;
        cost->touching++;
        cost->seconds += s->seconds, cost->free_seconds += s->free_seconds;
        cost->solves += s->solves, cost->free_solves += s->free_solves, cost->iterations += s->iterations;
        cost->most_solves = fmax(cost->most_solves, s->solves);
        double ratio = s->seconds / s->free_seconds;
        if (ratio > cost->worst) cost->worst = ratio, cost->worst_step = i;
    }
}

// ---- gradient ----

typedef struct seeding {
    const ct_model* model;
    int last;
} seeding;

static void seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar, void* user) {
    (void)state, (void)v_bar, (void)q_bar;
    const seeding* s = user;
    ct_model_info info = ct_model_summary(s->model);
    const double* mass = ct_model_node_mass(s->model);
    for (int i = 0; step == s->last && i < info.nvert; i++)
        for (int a = 0; a < 3; a++) x_bar[3 * i + a] += mass[i] / info.mass;
}

// The derivative of the mean position at the end by Young's modulus of every element.
static ct_status measure_gradient(runner* r, int steps, int passes, bench_cost* cost) {
    ct_tape* tape = NULL;
    ct_model_info info = ct_model_summary(r->model);
    double* young = calloc((size_t)(info.ntet + info.ntri) + 1, sizeof(double));
    ct_status status = young ? ct_tape_create(&tape, r->model, steps, 0, NULL) : CT_OUT_OF_MEMORY;
    for (int pass = 0; pass < passes && status == CT_OK; pass++) {
        ct_rollout_report there;
        ct_backward_report back = {0};
        seeding whole = {r->model, steps};
        ct_values gradient = {.of = {[CT_QUANTITY_YOUNG] = young}};
        double begun = ct_profile_cpu();
        status = ct_rollout(r->model, r->work, tape, r->before, steps, NULL, NULL, NULL, &there);
        double middle = ct_profile_cpu();
        if (status == CT_OK)
            status = ct_backward(r->model, r->work, tape, NULL, seed, &whole, &gradient, &back);
        cost->backward_solves = (double)back.solves / steps;
        cost->forward = lower(pass == 0, cost->forward, middle - begun);
        cost->backward = lower(pass == 0, cost->backward, ct_profile_cpu() - middle);
    }
    ct_tape_free(tape);
    free(young);
    return status;
}

void bench_cost_measure(const ct_scene* scene, const bench_cost_def* def, bench_cost* cost, ct_error* error) {
    runner r = {0};
    ct_settings settings = ct_scene_settings(scene);
    int steps = def->steps > 0 ? def->steps : (int)lround(settings.duration / settings.time_step);
    *cost = (bench_cost){.nearest = 1};
    ct_status status = open_runner(&r, scene, steps, error);
    if (status != CT_OK) fail(cost, status, 0, error->message);
    for (int pass = 0; pass < def->passes && cost->status == CT_OK; pass++) {
        ct_state* start = NULL;
        status = ct_state_create(&start, r.model, NULL);
        if (status == CT_OK) status = ct_state_copy(r.state, start);
        ct_state_free(start);
        if (status != CT_OK) fail(cost, status, 0, "");
        else run_pass(&r, def, pass ? cost->steps : steps, pass == 0, cost);
    }
    add_up(&r, cost);
    if (def->gradient && cost->status == CT_OK && cost->steps) {
        ct_state_free(r.before);
        r.before = NULL;
        cost->gradient = ct_state_create(&r.before, r.model, NULL);
        if (cost->gradient == CT_OK) cost->gradient = measure_gradient(&r, cost->steps, def->passes, cost);
    }
    close_runner(&r);
}
