// cuttle bench accuracy: what a right answer costs, by integrator.
//
// A beam of 1 x 0.2 x 0.2 m, clamped at one end, swings under gravity for 1 s. The error of a run is the root
// of the mean square, over all nodes and ten times, of the distance from the truth, relative to that of the
// displacements; the truth is velocity Verlet at a quarter of its longest stable step, confirmed by SDIRK3.
// Each integrator runs with step after step halved, until its error is below the finest goal; CPU time at a
// goal is interpolated between the runs around it, in logarithms. Velocity Verlet runs at .9 of its longest
// stable step, where its error is what it is. Short runs are repeated, and the fastest counts.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { TIMES = 10, MOST_RUNS = 9, MOST_SIZES = 8, MOST_REPEATS = 9 };
static const double DURATION = 1, GOALS[] = {1e-3, 1e-4};
static const double ENOUGH = 1.5;  // s of CPU, after which a run is not repeated
enum { GOAL_COUNT = sizeof GOALS / sizeof GOALS[0] };

typedef struct run {
    double h, error, seconds, solves;  // seconds of CPU; solves per step
} run;

typedef struct course {
    ct_integrator integrator;
    run runs[MOST_RUNS];
    int count;
    double seconds[GOAL_COUNT];  // CPU at the goals, NAN: not reached
} course;

typedef struct beam {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    int n;  // 3 nvert
} beam;

static void close_beam(beam* b) {
    ct_work_free(b->work);
    ct_state_free(b->state);
    ct_model_free(b->model);
    ct_scene_free(b->scene);
}

static ct_status open_beam(beam* b, int tets, ct_integrator integrator, double h, double tolerance,
                           ct_error* error) {
    memset(b, 0, sizeof *b);
    ct_status status = ct_scene_create(&b->scene, NULL);
    if (status == CT_OK) status = bench_beam(b->scene, tets, CT_ENERGY_COROTATED, CT_SOLVER_NEWTON, 1, error);
    ct_settings settings = ct_scene_settings(b->scene);
    settings.integrator = integrator;
    settings.time_step = h;
    settings.duration = DURATION;
    settings.tolerance = tolerance;
    if (status == CT_OK) status = ct_scene_set_settings(b->scene, &settings, error);
    if (status == CT_OK) status = ct_model_create(&b->model, b->scene, error);
    if (status == CT_OK) status = ct_state_create(&b->state, b->model, NULL);
    if (status == CT_OK) status = ct_work_create(&b->work, b->model, 1, NULL);
    if (status == CT_OK) b->n = 3 * ct_model_summary(b->model).nvert;
    return status;
}

// Relative to the displacements of the truth; both hold TIMES x n numbers.
static double error_of(const beam* b, const double* x, const double* truth) {
    const double* rest = ct_model_rest(b->model);
    double wrong = 0, size = 0;
    for (int t = 0; t < TIMES; t++)
        for (int i = 0; i < b->n; i++) {
            double d = x[t * b->n + i] - truth[t * b->n + i], u = truth[t * b->n + i] - rest[i];
            wrong += d * d, size += u * u;
        }
    return sqrt(wrong / size);
}

static ct_status run_implicit(beam* b, double h, double* x, run* r, ct_error* error) {
    const int part = (int)lround(DURATION / TIMES / h);
    long solves = 0;
    ct_step_report report = {0};
    r->h = h;
    r->seconds = 0;
    for (int t = 0; t < TIMES; t++) {
        double begun = ct_profile_cpu();
        for (int k = 0; k < part; k++) {
            ct_status status = ct_step(b->model, b->work, b->state, NULL, &report);
            if (status != CT_OK) {
                snprintf(error->message, sizeof error->message, "%.300s", report.message);
                return status;
            }
            solves += report.solves;
        }
        r->seconds += ct_profile_cpu() - begun;
        memcpy(x + (size_t)t * (size_t)b->n, ct_state_positions(b->state), (size_t)b->n * sizeof(double));
    }
    r->solves = (double)solves / (part * TIMES);
    return CT_OK;
}

// Steps of at most h that the times are whole numbers of.
static ct_status run_verlet(beam* b, double h, double* x, run* r) {
    const int part = (int)ceil(DURATION / TIMES / h);
    const size_t n = (size_t)b->n;
    double* now = calloc(2 * n + 2, sizeof(double));
    if (!now) return CT_OUT_OF_MEMORY;
    memcpy(now, ct_model_rest(b->model), n * sizeof(double));
    ct_status status = CT_OK;
    r->h = DURATION / TIMES / part;
    r->seconds = r->solves = 0;
    for (int t = 0; status == CT_OK && t < TIMES; t++) {
        double begun = ct_profile_cpu();
        status = ct_profile_verlet(b->model, b->work, r->h, part, now, now + n + 1);
        r->seconds += ct_profile_cpu() - begun;
        memcpy(x + (size_t)t * n, now, n * sizeof(double));
    }
    free(now);
    return status;
}

// Time of the fastest of several runs, and their error; a beam of its own for each.
static ct_status repeat_implicit(int tets, double tolerance, ct_integrator integrator, double h,
                                 const double* truth, double* x, run* r, ct_error* error) {
    ct_status status = CT_OK;
    double spent = 0, least = INFINITY;
    for (int i = 0; status == CT_OK && i < MOST_REPEATS && spent < ENOUGH; i++) {
        beam b;
        status = open_beam(&b, tets, integrator, h, tolerance, error);
        if (status == CT_OK) status = run_implicit(&b, h, x, r, error);
        if (status == CT_OK && i == 0) r->error = error_of(&b, x, truth);
        spent += r->seconds;
        least = fmin(least, r->seconds);
        close_beam(&b);
    }
    r->seconds = least;
    return status;
}

static ct_status repeat_verlet(beam* b, double h, double* x, run* r) {
    ct_status status = CT_OK;
    double spent = 0, least = INFINITY;
    for (int i = 0; status == CT_OK && i < MOST_REPEATS && spent < ENOUGH; i++) {
        status = run_verlet(b, h, x, r);
        spent += r->seconds;
        least = fmin(least, r->seconds);
    }
    r->seconds = least;
    return status;
}

// CPU seconds at the error `goal`.
static double seconds_at(const course* c, double goal) {
    if (c->count && c->runs[0].error <= goal) return c->runs[0].seconds;
    for (int i = 1; i < c->count; i++) {
        const run *a = &c->runs[i - 1], *b = &c->runs[i];
        if (b->error > goal) continue;
        double share = log(a->error / goal) / log(a->error / b->error);
        return exp((1 - share) * log(a->seconds) + share * log(b->seconds));
    }
    return NAN;
}

static void print_run(const char* name, const run* r) {
    printf("  %-10s %10.3g %10.3g %% %10.3f", name, r->h, 100 * r->error, r->seconds);
    if (r->solves > 0) printf(" %8.1f", r->solves);
    printf("\n");
    fflush(stdout);
}

static json_t* run_object(const char* name, const run* r) {
    return json_pack("{s:s, s:f, s:f, s:f, s:f}", "integrator", name, "time_step", r->h, "error", r->error,
                     "cpu_seconds", r->seconds, "solves_per_step", r->solves);
}

static ct_status run_course(int tets, double tolerance, course* c, const double* truth, double* x,
                            json_t* runs, bool json, ct_error* error) {
    ct_status status = CT_OK;
    for (double h = 0.02; status == CT_OK && c->count < MOST_RUNS; h /= 2) {
        run* r = &c->runs[c->count];
        status = repeat_implicit(tets, tolerance, c->integrator, h, truth, x, r, error);
        if (status == CT_OK) {
            c->count++;
            if (json) json_array_append_new(runs, run_object(ct_integrator_name(c->integrator), r));
            else print_run(ct_integrator_name(c->integrator), r);
        }
        // Euler would take for ever: it is stopped at the time that BDF2 takes for the finest goal
        if (status == CT_OK && (r->error < GOALS[GOAL_COUNT - 1] || (h < 6e-4 && r->error > 4e-3))) break;
    }
    for (int k = 0; k < GOAL_COUNT; k++) c->seconds[k] = seconds_at(c, GOALS[k]);
    return status;
}

// The truth, and velocity Verlet at .9 of its limit.
static ct_status run_explicit(int tets, double* truth, double* x, run* verlet, double* confirmed,
                              ct_error* error) {
    beam b;
    run fine;
    ct_status status = open_beam(&b, tets, CT_INTEGRATOR_SDIRK3, 0.00125, 1e-9, error);
    double limit = status == CT_OK ? ct_profile_verlet_limit(b.model, b.work) : 0;
    if (status == CT_OK) status = run_verlet(&b, 0.25 * limit, truth, &fine);
    if (status == CT_OK) status = repeat_verlet(&b, 0.9 * limit, x, verlet);
    if (status == CT_OK) verlet->error = error_of(&b, x, truth);
    if (status == CT_OK) status = run_implicit(&b, 0.00125, x, &fine, error);
    if (status == CT_OK) *confirmed = error_of(&b, x, truth);
    close_beam(&b);
    return status;
}

static void print_goals(const course* c, int count, const run* verlet) {
    for (int k = 0; k < GOAL_COUNT; k++) {
        printf("  at %g %%: ", 100 * GOALS[k]);
        for (int i = 0; i < count; i++) {
            const char* name = ct_integrator_name(c[i].integrator);
            if (isnan(c[i].seconds[k])) printf("%s not reached; ", name);
            else
                printf("%s %.3f s (Verlet / it %.2f); ", name, c[i].seconds[k],
                       verlet->seconds / c[i].seconds[k]);
        }
        if (verlet->error <= GOALS[k]) printf("Verlet %.3f s\n", verlet->seconds);
        else printf("Verlet %.3f s, with an error of %.3g %%\n", verlet->seconds, 100 * verlet->error);
    }
}

static json_t* goals_object(const course* c, int count, const run* verlet) {
    json_t* goals = json_array();
    for (int k = 0; k < GOAL_COUNT; k++) {
        json_t* object = json_pack("{s:f, s:f}", "error", GOALS[k], "verlet", verlet->seconds);
        for (int i = 0; i < count; i++)
            json_object_set_new(object, ct_integrator_name(c[i].integrator),
                                isnan(c[i].seconds[k]) ? json_null() : json_real(c[i].seconds[k]));
        json_array_append_new(goals, object);
    }
    return goals;
}

static int run_size(int tets, double tolerance, bool json, json_t* results) {
    static const ct_integrator all[] = {CT_INTEGRATOR_EULER, CT_INTEGRATOR_BDF2, CT_INTEGRATOR_SDIRK2,
                                        CT_INTEGRATOR_SDIRK3, CT_INTEGRATOR_MIDPOINT};
    enum { COUNT = sizeof all / sizeof all[0] };
    course courses[COUNT] = {{0}};
    ct_error error = {.element = -1};
    beam b;
    ct_status status = open_beam(&b, tets, CT_INTEGRATOR_EULER, 0.01, 1e-6, &error);
    const int actual = status == CT_OK ? ct_model_summary(b.model).ntet : 0;
    const size_t n = (size_t)b.n;
    close_beam(&b);
    double *truth = calloc(TIMES * n + 1, sizeof(double)), *x = calloc(TIMES * n + 1, sizeof(double)),
           confirmed = 0;
    run verlet = {0};
    json_t* runs = json_array();
    if (status == CT_OK) status = truth && x ? CT_OK : CT_OUT_OF_MEMORY;
    if (status == CT_OK) status = run_explicit(tets, truth, x, &verlet, &confirmed, &error);
    if (status == CT_OK && !json) {
        printf("%d tets; the truth and SDIRK3 at 0.00125 s differ by %.2g %%\n", actual, 100 * confirmed);
        printf("  %-10s %10s %12s %10s %8s\n", "integrator", "step, s", "error", "CPU, s", "solves");
        print_run("verlet", &verlet);
    }
    if (json) json_array_append_new(runs, run_object("verlet", &verlet));
    for (int i = 0; status == CT_OK && i < COUNT; i++) {
        courses[i].integrator = all[i];
        status = run_course(tets, tolerance, &courses[i], truth, x, runs, json, &error);
    }
    free(truth), free(x);
    if (status == CT_OK && !json) print_goals(courses, COUNT, &verlet);
    if (status == CT_OK && json)
        json_array_append_new(results, json_pack("{s:i, s:f, s:O, s:o}", "tets", actual, "truth_confirmed_to",
                                                 confirmed, "runs", runs, "goals",
                                                 goals_object(courses, COUNT, &verlet)));
    json_decref(runs);
    if (status == CT_OK) return CLI_OK;
    error.code = status;
    return cli_report_error(&error, json);
}

static const char details[] =
    "A beam of 1 x 0.2 x 0.2 m (E 1 MPa, nu 0.45, 1000 kg/m^3), clamped at one end, swings under gravity for "
    "1 s, on one\nthread. Every integrator runs with shorter and shorter steps; explicit velocity Verlet on "
    "the same element kernels\nruns at 0.9 of its longest stable step. CPU times at errors of 0.1 % and 0.01 "
    "% are interpolated.";

static const char examples[] = "  cuttle bench accuracy\n"
                               "  cuttle bench accuracy --sizes 1k --json";

int cuttle_bench_accuracy(int argc, char** argv) {
    const char* sizes = "1k,10k";
    double tolerance = 4e-3;
    bool json = false;
    int size[MOST_SIZES], code = CLI_OK, count;
    const cli_option options[] = {
        {"--sizes", 0, CLI_TEXT, &sizes, "LIST", "numbers of tets (default: 1k,10k)"},
        {"--tolerance", 0, CLI_POSITIVE, &tolerance, "T", "of the implicit steps (default: 4e-3)"},
        {"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {
        "bench accuracy", "",       "Measures error against CPU time for all integrators.",
        details,          examples, options};
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    code = CLI_OK;
    const int nsize = cli_read_counts(sizes, size, MOST_SIZES);
    if (nsize == 0) return cli_bad_usage(&usage, "--sizes takes a list such as 1k,10k, not '%s'", sizes);
    json_t* results = json_array();
    for (int i = 0; code == CLI_OK && i < nsize; i++) code = run_size(size[i], tolerance, json, results);
    if (json && code == CLI_OK) cli_print_json(json_pack("{s:O}", "results", results));
    json_decref(results);
    return code;
}
