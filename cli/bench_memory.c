// cuttle bench memory: peak memory of a whole gradient, with every state kept and with few kept and the
// others replayed.
//
// Each cell is a process of its own that loads the scene, runs it and takes the gradient once; its peak is
// that of the whole process, libraries included. Beside it stands what the DiffPD-based code of the paper on
// articulated soft bodies needs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { COUNTS = 4 };
static const int step_counts[COUNTS] = {10, 20, 100, 200};
// without and with checkpoints
static const double paper_gigabytes[2][COUNTS] = {{0.9, 1.4, 6.9, 15.7}, {0.1, 0.1, 0.1, 0.1}};

typedef struct memory_case {
    const char* scene;
    int steps;
    size_t budget;  // of the states, bytes; 0: keep all
} memory_case;

typedef struct memory_result {
    ct_status status;
    ct_error error;
    int tets, parameters, replayed;
    double tape_bytes, seconds;
    double loss, gradient_norm, checksum;  // checksum: sum of the gradient, to compare bit for bit
} memory_result;

// ---- one cell, in the child ----

static ct_status take_gradient(const ct_scene* scene, const memory_case* c, memory_result* r) {
    ct_problem* problem = NULL;
    ct_problem_report report;
    double begun = cli_seconds();
    ct_status status = ct_problem_create(&problem, scene, c->budget, &r->error);
    if (status != CT_OK) return status;
    r->parameters = ct_problem_size(problem);
    double* y = calloc(2 * (size_t)r->parameters, sizeof(double));
    double* gradient = y ? y + r->parameters : NULL;
    if (!y) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK) {
        ct_model_info info;
        ct_problem_start(problem, y);
        status = ct_problem_evaluate(problem, y, &r->loss, gradient, &report, &r->error);
        info = ct_model_summary(ct_problem_model(problem));
        r->tets = info.ntet;
        r->tape_bytes = (double)report.tape_bytes;
        r->replayed = report.backward.replayed;
    }
    for (int i = 0; status == CT_OK && i < r->parameters; i++) {
        r->gradient_norm += gradient[i] * gradient[i];
        r->checksum += gradient[i];
    }
    r->gradient_norm = sqrt(r->gradient_norm);
    r->seconds = cli_seconds() - begun;
    free(y);
    ct_problem_free(problem);
    return status;
}

static void run_cell(const void* what, void* into) {
    const memory_case* c = what;
    memory_result* r = into;
    ct_scene* scene = NULL;
    ct_settings settings;
    r->status = ct_scene_load(&scene, c->scene, &r->error);
    if (r->status == CT_OK) {
        settings = ct_scene_settings(scene);
        settings.duration = c->steps * settings.time_step;
        r->status = ct_scene_set_settings(scene, &settings, &r->error);
    }
    if (r->status == CT_OK) r->status = take_gradient(scene, c, r);
    ct_scene_free(scene);
}

// ---- the table, in the parent ----

static void print_cell(const memory_case* c, const memory_result* r, double peak, double paper) {
    printf("%8d %-12s %10.1f %10.2f %9d %9.3f %10.1f\n", c->steps, c->budget ? "checkpoints" : "all states",
           peak / 1e6, r->tape_bytes / 1e6, r->replayed, r->seconds, paper);
    fflush(stdout);
}

static json_t* cell_object(const memory_case* c, const memory_result* r, double peak, double paper,
                           bool same) {
    return json_pack("{s:i, s:b, s:f, s:f, s:i, s:f, s:f, s:f, s:b, s:i, s:i}", "steps", c->steps,
                     "checkpoints", c->budget > 0, "peak_memory_mb", peak / 1e6, "tape_mb",
                     r->tape_bytes / 1e6, "replayed_steps", r->replayed, "seconds", r->seconds,
                     "gradient_norm", r->gradient_norm, "paper_gb", paper, "gradient_identical", same, "tets",
                     r->tets, "parameters", r->parameters);
}

static int run_table(const char* scene, double megabytes, bool json) {
    json_t* cells = json_array();
    bool all_same = true;
    for (int k = 0; k < COUNTS; k++) {
        double stored[2] = {0, 0};
        for (int sparse = 0; sparse < 2; sparse++) {
            memory_case c = {scene, step_counts[k], sparse ? (size_t)(1e6 * megabytes) : 0};
            static memory_result r;
            double peak, paper = paper_gigabytes[sparse][k];
            if (!bench_apart(run_cell, &c, &r, sizeof r, &peak)) {
                json_decref(cells);
                return cli_report_status(CT_OUT_OF_MEMORY, "a measurement ended early", json);
            }
            if (r.status != CT_OK) {
                json_decref(cells);
                return r.error.code ? cli_report_input_error(&r.error, json)
                                    : cli_report_status(r.status, "the gradient", json);
            }
            bool same = !sparse || (stored[0] == r.checksum && stored[1] == r.gradient_norm);
            if (!sparse) stored[0] = r.checksum, stored[1] = r.gradient_norm;
            all_same &= same;
            if (!json && k == 0 && !sparse) {
                printf("%s: %d tets, %d parameters; gradient of the whole motion\n", scene, r.tets,
                       r.parameters);
                printf("%8s %-12s %10s %10s %9s %9s %10s\n", "steps", "kept", "peak, MB", "states, MB",
                       "replayed", "s", "paper, GB");
            }
            if (json) json_array_append_new(cells, cell_object(&c, &r, peak, paper, same));
            else print_cell(&c, &r, peak, paper);
        }
    }
    if (json) cli_print_json(json_pack("{s:s, s:O}", "scene", scene, "results", cells));
    else printf("Gradients with and without checkpoints: %s.\n", all_same ? "identical" : "DIFFERENT");
    json_decref(cells);
    return all_same ? CLI_OK : CLI_FAILED;
}

static const char details[] =
    "Runs SCENE (default: scenes/suspension_bridge.json) for 10, 20, 100 and 200 steps and takes the "
    "gradient of its objective, once\n"
    "with every state kept and once with as many as the budget holds. Every run is a separate "
    "process, and its peak\n"
    "memory is that of the whole process. The last column gives the paper's numbers, for a bridge of "
    "668 tets.";

static const char examples[] = "  cuttle bench memory\n"
                               "  cuttle bench memory scenes/arch_bridge.json --budget 4 --json";

int cuttle_bench_memory(int argc, char** argv) {
    double megabytes = 1;
    bool json = false;
    const cli_option options[] = {
        {"--budget", 0, CLI_POSITIVE, &megabytes, "MB", "for states when they are replayed (default: 1)"},
        {"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"bench memory", "[SCENE]", "Measures the memory of gradients.",
                             details,        examples,  options};
    const char* scene = "scenes/suspension_bridge.json";
    int count, code;
    if (!cli_parse(&usage, argc, argv, &scene, 0, 1, &count, &code)) return code;
    return run_table(scene, megabytes, json);
}
