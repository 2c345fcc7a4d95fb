// cuttle bench: times the solvers on swinging beams.
//
// A beam of 1 x 0.2 x 0.2 m, clamped at one end, is let go under gravity. Each case (size, threads, solver)
// runs in a process of its own, so that its peak memory is its own: warm-up steps, then the same range of
// steps several times over from the same state; of each step the fastest time counts. The projective solver
// is slow, so that it takes only the first steps of the range; the speed-up is the ratio of the two over the
// steps that both have taken.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { MOST = 16, MOST_STEPS = 1000, PASSES = 5, PROJECTIVE_ITERATIONS = 20000 };
static const double PASS_BUDGET = 4;  // s, no further pass beyond this

typedef struct bench_case {
    int tets;  // wanted
    int threads;
    int warmup, steps;
    ct_solver solver;
} bench_case;

typedef struct bench_result {
    ct_status status;
    char message[512];
    int tets;                    // actual
    double seconds[MOST_STEPS];  // of each measured step
    double seconds_per_step, solves_per_step, iterations_per_step;
    double setup_seconds;
    double peak_bytes;  // set by the parent
    ct_profile profile;
    double speedup;  // over the projective solver, 0: not measured
} bench_result;

// ---- One case, in the child ----

// Cells along each axis so that 6 times their product is nearest to `tets`, near 5 : 1 : 1.
static void beam_cells(int tets, int cells[3]) {
    int across = 1;
    while (30.0 * (across + 0.5) * (across + 0.5) * (across + 0.5) < tets) across++;
    int along = (tets + 3 * across * across) / (6 * across * across);
    cells[0] = along > 0 ? along : 1;
    cells[1] = cells[2] = across;
}

static ct_status clamp_end(ct_scene* scene, ct_error* error) {
    ct_selector wall = {.kind = CT_SELECT_PLANE, .body = -1, .a = {1e-9, 0, 0}, .b = {-1, 0, 0}};
    ct_motion fixed = {0};
    int *nodes = NULL, count = 0;
    ct_status status = ct_scene_select(scene, &wall, &nodes, &count, error);
    if (status == CT_OK) status = ct_scene_drive(scene, nodes, count, &fixed, error);
    ct_free(nodes);
    return status;
}

ct_status bench_beam(ct_scene* scene, int tets, ct_energy energy, ct_solver solver, int threads,
                     ct_error* error) {
    ct_mesh* mesh = NULL;
    int cells[3];
    beam_cells(tets, cells);
    ct_status status = ct_mesh_box(&mesh, (double[]){1, 0.2, 0.2}, cells, NULL);
    if (status != CT_OK) return status;
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.young = 1e6;
    body.material.poisson = 0.45;
    body.material.density = 1000;
    body.material.energy = energy;
    status = ct_scene_add_body(scene, &body, NULL, error);
    ct_mesh_free(mesh);
    if (status == CT_OK) status = clamp_end(scene, error);

    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0;
    settings.gravity[1] = -9.81;
    settings.time_step = 0.01;
    settings.tolerance = 1e-6;
    settings.solver = solver;
    settings.threads = threads;
    if (solver == CT_SOLVER_PROJECTIVE) settings.max_iterations = PROJECTIVE_ITERATIONS;
    if (status == CT_OK) status = ct_scene_set_settings(scene, &settings, error);
    return status;
}

static ct_status fail_step(bench_result* result, ct_status status, const ct_step_report* report) {
    snprintf(result->message, sizeof result->message, "%s", report->message);
    return status;
}

// One pass over the measured steps; keeps the least time of each.
static ct_status time_pass(const ct_model* model, ct_work* work, ct_state* state, const bench_case* c,
                           bool first, bench_result* result) {
    ct_step_report report;
    long solves = 0, iterations = 0;
    for (int i = 0; i < c->steps; i++) {
        double begun = bench_clock(c->threads);
        ct_status status = ct_step(model, work, state, NULL, &report);
        double seconds = bench_clock(c->threads) - begun;
        if (status != CT_OK) return fail_step(result, status, &report);
        if (first || seconds < result->seconds[i]) result->seconds[i] = seconds;
        solves += report.solves;
        iterations += report.iterations;
    }
    result->solves_per_step = (double)solves / c->steps;
    result->iterations_per_step = (double)iterations / c->steps;
    return CT_OK;
}

static double total(const double* seconds, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += seconds[i];
    return sum;
}

// Warm-up, then passes over the same steps.
static ct_status time_steps(const ct_model* model, ct_work* work, ct_state* state, ct_state* start,
                            const bench_case* c, bench_result* result) {
    ct_step_report report;
    ct_status status = CT_OK;
    for (int i = 0; i < c->warmup; i++) {
        if ((status = ct_step(model, work, state, NULL, &report))) return fail_step(result, status, &report);
    }
    status = ct_state_copy(start, state);
    double begun = cli_seconds();
    for (int pass = 0; status == CT_OK && pass < PASSES && (pass == 0 || cli_seconds() - begun < PASS_BUDGET);
         pass++) {
        status = ct_state_copy(state, start);
        if (status == CT_OK) status = time_pass(model, work, state, c, pass == 0, result);
    }
    result->seconds_per_step = total(result->seconds, c->steps) / c->steps;
    return status;
}

static ct_status measure(const ct_scene* scene, const bench_case* c, bench_result* result, ct_error* error) {
    ct_model* model = NULL;
    ct_work* work = NULL;
    ct_state *state = NULL, *start = NULL;
    double begun = cli_seconds();
    ct_status status = ct_model_create(&model, scene, error);
    if (status == CT_OK) status = ct_state_create(&state, model, NULL);
    if (status == CT_OK) status = ct_state_create(&start, model, NULL);
    if (status == CT_OK) status = ct_work_create(&work, model, c->threads, NULL);
    result->setup_seconds = cli_seconds() - begun;
    if (status == CT_OK) status = time_steps(model, work, state, start, c, result);
    if (status == CT_OK && c->solver == CT_SOLVER_NEWTON)
        status = ct_profile_run(model, work, state, &result->profile);
    if (status == CT_OK) {
        ct_model_info info = ct_model_summary(model);
        result->tets = info.ntet;
    }
    ct_state_free(start);
    ct_state_free(state);
    ct_work_free(work);
    ct_model_free(model);
    return status;
}

static void run_case(const void* what, void* into) {
    const bench_case* c = what;
    bench_result* result = into;
    ct_error error = {.element = -1};
    ct_scene* scene = NULL;
    ct_energy energy = c->solver == CT_SOLVER_PROJECTIVE ? CT_ENERGY_PROJECTIVE : CT_ENERGY_COROTATED;
    result->status = ct_scene_create(&scene, NULL);
    if (result->status == CT_OK)
        result->status = bench_beam(scene, c->tets, energy, c->solver, c->threads, &error);
    if (result->status == CT_OK) result->status = measure(scene, c, result, &error);
    if (*error.message) snprintf(result->message, sizeof result->message, "%s", error.message);
    ct_scene_free(scene);
}

// ---- All cases, in the parent ----

static bool read_all(int descriptor, void* bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = read(descriptor, (char*)bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

bool bench_apart(void (*run)(const void* what, void* result), const void* what, void* result, size_t size,
                 double* peak_bytes) {
    int ends[2], status;
    struct rusage usage;
    memset(result, 0, size);
    fflush(NULL);
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run(what, result);
        _exit(write(ends[1], result, size) == (ssize_t)size ? 0 : 1);
    }
    close(ends[1]);
    bool complete = child > 0 && read_all(ends[0], result, size);
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return false;
    *peak_bytes = 1024.0 * (double)usage.ru_maxrss;
    return complete;
}

static json_t* result_object(const bench_case* c, const bench_result* r) {
    json_t* object =
        json_pack("{s:s, s:i, s:i, s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "scene", "beam", "tets", c->tets,
                  "tets_actual", r->tets, "threads", c->threads, "solver", ct_solver_name(c->solver), "steps",
                  c->steps, "ms_per_step", 1e3 * r->seconds_per_step, "solves_per_step", r->solves_per_step,
                  "iterations_per_step", r->iterations_per_step, "peak_memory_mb", r->peak_bytes / 1e6,
                  "setup_seconds", r->setup_seconds);
    const ct_profile* p = &r->profile;
    if (p->solve_seconds > 0) {
        double rate = p->solve_bytes / p->solve_seconds;
        json_t* parts = json_pack(
            "{s:f, s:f, s:f, s:f, s:f, s:f}", "gradient_ns_per_tet", p->gradient_ns_per_tet,
            "product_ns_per_tet", p->product_ns_per_tet, "solve_ms", 1e3 * p->solve_seconds, "solve_gb_per_s",
            rate / 1e9, "bandwidth_gb_per_s", p->bandwidth / 1e9, "bandwidth_share", rate / p->bandwidth);
        json_object_update(object, parts);
        json_decref(parts);
    }
    json_object_set_new(object, "speedup_over_projective",
                        r->speedup > 0 ? json_real(r->speedup) : json_null());
    return object;
}

static void print_heading(void) {
    printf("%8s %8s %-11s %10s %8s %9s %9s %9s %6s %8s %8s %8s\n", "tets", "threads", "solver", "ms/step",
           "solves", "gradient", "product", "solve", "of RAM", "memory", "set-up", "speed-up");
    printf("%8s %8s %-11s %10s %8s %9s %9s %9s %6s %8s %8s %8s\n", "", "", "", "", "/step", "ns/tet",
           "ns/tet", "ms", "speed", "MB", "s", "");
}

static void print_row(const bench_case* c, const bench_result* r) {
    const ct_profile* p = &r->profile;
    printf("%8d %8d %-11s %10.3f %8.1f", r->tets, c->threads, ct_solver_name(c->solver),
           1e3 * r->seconds_per_step, r->solves_per_step);
    if (p->solve_seconds > 0) {
        printf(" %9.1f %9.1f %9.3f %5.0f%%", p->gradient_ns_per_tet, p->product_ns_per_tet,
               1e3 * p->solve_seconds, 100 * p->solve_bytes / p->solve_seconds / p->bandwidth);
    } else {
        printf(" %9s %9s %9s %6s", "", "", "", "");
    }
    printf(" %8.0f %8.2f", r->peak_bytes / 1e6, r->setup_seconds);
    if (r->speedup > 0) printf(" %7.1fx", r->speedup);
    printf("\n");
    fflush(stdout);
}

typedef struct bench_options {
    int size[MOST], nsize, thread[MOST], nthread;
    int steps;  // 0: by size
    bool newton, projective, json;
} bench_options;

// Steps to measure: the projective solver takes up to a second and more for one.
static bench_case make_case(const bench_options* o, int tets, int threads, ct_solver solver) {
    bool slow = solver == CT_SOLVER_PROJECTIVE;
    bench_case c = {.tets = tets, .threads = threads, .solver = solver, .warmup = tets > 30000 ? 2 : 5};
    c.steps = o->steps > 0 ? o->steps : tets > 30000 ? (slow ? 3 : 20) : tets > 3000 && slow ? 10 : 40;
    if (c.steps > MOST_STEPS) c.steps = MOST_STEPS;
    return c;
}

// One size with one number of threads: the projective solver first, so that Newton's row can hold the ratio.
static int run_pair(const bench_options* o, int tets, int threads, json_t* results) {
    static bench_result pair[2];
    int common = 0;
    for (int i = 0; i < 2; i++) {
        ct_solver solver = i == 0 ? CT_SOLVER_PROJECTIVE : CT_SOLVER_NEWTON;
        if (solver == CT_SOLVER_NEWTON ? !o->newton : !o->projective) continue;
        bench_case c = make_case(o, tets, threads, solver);
        bench_result* result = &pair[i];
        double peak;
        if (!bench_apart(run_case, &c, result, sizeof *result, &peak))
            return cli_report_status(CT_OUT_OF_MEMORY, "a measurement ended early", o->json);
        result->peak_bytes = peak;
        if (result->status != CT_OK) {
            ct_error error = {.code = result->status, .element = -1};
            snprintf(error.message, sizeof error.message, "%s solver, %d tets: %s. %.300s",
                     ct_solver_name(solver), tets, ct_status_text(result->status), result->message);
            return cli_report_error(&error, o->json);
        }
        if (solver == CT_SOLVER_PROJECTIVE) common = c.steps;
        if (common > c.steps) common = c.steps;
        if (common > 0) result->speedup = total(pair[0].seconds, common) / total(result->seconds, common);
        if (o->json) json_array_append_new(results, result_object(&c, result));
        else print_row(&c, result);
    }
    return CLI_OK;
}

static const char details[] =
    "A beam of 1 x 0.2 x 0.2 m (E 1 MPa, nu 0.45, 1000 kg/m^3), clamped at one end, swings under "
    "gravity with a time\n"
    "step of 0.01 s and a tolerance of 1e-6: warm-up steps, then measured steps, repeated several "
    "times; the fastest\n"
    "run counts. The speed-up compares the steps that both solvers took.\n"
    "Other measurements: cuttle bench gradient --help, cuttle bench memory --help,\n"
    "cuttle bench skeleton --help, cuttle bench contact --help, cuttle bench accuracy --help,\n"
    "cuttle bench energy --help, cuttle bench baseline --help.";

static const char examples[] = "  cuttle bench\n"
                               "  cuttle bench --json --sizes 10k --threads 1\n"
                               "  cuttle bench --sizes 1k,10k --solver newton --steps 100";

static bool parse(bench_options* o, int argc, char** argv, int* exit_code) {
    const char *sizes = "1k,10k,100k", *threads = NULL, *solver = "both";
    char default_threads[32] = "1";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const cli_option options[] = {
        {"--sizes", 0, CLI_TEXT, &sizes, "LIST", "numbers of tets (default: 1k,10k,100k)"},
        {"--threads", 't', CLI_TEXT, &threads, "LIST", "numbers of threads (default: 1 and all cores)"},
        {"--steps", 0, CLI_COUNT, &o->steps, "N", "measured steps (default: 40, fewer if they are slow)"},
        {"--solver", 0, CLI_TEXT, &solver, "NAME", "newton, projective or both (default: both)"},
        {"--json", 0, CLI_FLAG, &o->json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"bench", "",       "Measures the solvers on this machine.",
                             details, examples, options};
    int count;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, exit_code)) return false;
    if (cores > 1) snprintf(default_threads, sizeof default_threads, "1,%ld", cores);
    if (!threads) threads = default_threads;
    o->nsize = cli_read_counts(sizes, o->size, MOST);
    o->nthread = cli_read_counts(threads, o->thread, MOST);
    o->newton = strcmp(solver, "projective") != 0;
    o->projective = strcmp(solver, "newton") != 0;
    bool known = !o->newton || !o->projective || strcmp(solver, "both") == 0;
    *exit_code = CLI_OK;
    if (o->nsize == 0)
        *exit_code = cli_bad_usage(&usage, "--sizes takes a list such as 1k,10k, not '%s'", sizes);
    else if (o->nthread == 0)
        *exit_code = cli_bad_usage(&usage, "--threads takes a list such as 1,2, not '%s'", threads);
    else if (!known)
        *exit_code = cli_bad_usage(&usage, "--solver is newton, projective or both, not '%s'", solver);
    return *exit_code == CLI_OK;
}

int cuttle_bench(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "memory") == 0) return cuttle_bench_memory(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "gradient") == 0) return cuttle_bench_gradient(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "skeleton") == 0) return cuttle_bench_skeleton(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "contact") == 0) return cuttle_bench_contact(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "accuracy") == 0) return cuttle_bench_accuracy(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "energy") == 0) return cuttle_bench_energy(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "baseline") == 0) return cuttle_bench_baseline(argc - 1, argv + 1);
    bench_options options = {0};
    int code;
    if (!parse(&options, argc, argv, &code)) return code;
    json_t* results = json_array();
    if (!options.json) print_heading();
    for (int i = 0; code == CLI_OK && i < options.nsize; i++) {
        for (int k = 0; code == CLI_OK && k < options.nthread; k++) {
            code = run_pair(&options, options.size[i], options.thread[k], results);
        }
    }
    if (options.json && code == CLI_OK) cli_print_json(json_pack("{s:O}", "results", results));
    json_decref(results);
    return code;
}
