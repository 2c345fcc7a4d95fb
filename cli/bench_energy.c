// cuttle bench energy: how often a soft humanoid that falls comes to the end, with each elastic energy.
//
// scenes/humanoid_fall.json, about 3,000 tets with five bones, with torques of up to 1 N m in its shoulders
// and a push of its torso, both drawn at random. Every start runs with each energy; a run whose step does not
// converge, however often it is halved, has failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const double TORQUE = 1, SPEED = 0.3, TURN = 0.5;  // N m, m/s, rad/s: largest
static const char* const ENERGIES[] = {"corotated", "neohookean"};
enum { COUNT = sizeof ENERGIES / sizeof ENERGIES[0] };

typedef struct energy_options {
    const char* directory;  // of the scenes
    int starts, steps, seed;
    bool json;
} energy_options;

typedef struct energy_result {
    int finished;   // runs that came to their end
    int inverted;   // most tets inside out at the end of a step, of those runs
    double solves;  // per step, of all steps that were taken
    double seconds;
    int steps;  // taken
} energy_result;

// Even in [-1, 1), from the 64 bits of splitmix.
static double draw(uint64_t* random) {
    uint64_t z = (*random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 2 * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53) - 1;
}

// The scene with its energy, torques and push; the caller frees the text.
static char* write_start(const json_t* scene, const char* energy, uint64_t random) {
    json_t* copy = json_deep_copy(scene);
    json_t* body = json_array_get(json_object_get(copy, "bodies"), 0);
    json_t* links = json_object_get(json_array_get(json_object_get(copy, "skeletons"), 0), "links");
    json_t *torso = json_object_get(json_array_get(links, 0), "joint"), *push = json_array();
    json_object_set_new(json_object_get(body, "material"), "energy", json_string(energy));
    for (int i = 0; i < 6; i++)
        json_array_append_new(push, json_real((i < 3 ? SPEED : TURN) * draw(&random)));
    json_object_set_new(torso, "velocity", push);
    double left = TORQUE * draw(&random), right = TORQUE * draw(&random);
    json_object_set_new(copy, "controls",
                        json_pack("[{s:s, s:s, s:[f]}, {s:s, s:s, s:[f]}]", "name", "left", "torque",
                                  "left_arm", "values", left, "name", "right", "torque", "right_arm",
                                  "values", right));
    char* text = json_dumps(copy, 0);
    json_decref(copy);
    return text;
}

static ct_status take_steps(const ct_model* model, int steps, energy_result* result) {
    ct_state* state = NULL;
    ct_work* work = NULL;
    int inverted = 0;
    ct_status status = ct_state_create(&state, model, NULL);
    if (status == CT_OK) status = ct_work_create(&work, model, 1, NULL);
    for (int i = 0; status == CT_OK && i < steps; i++) {
        ct_step_report report;
        double begun = ct_profile_cpu();
        status = ct_step(model, work, state, NULL, &report);
        result->seconds += ct_profile_cpu() - begun;
        result->solves += report.solves;
        result->steps += status == CT_OK;
        if (report.inverted > inverted) inverted = report.inverted;
    }
    if (status == CT_OK) result->finished++;
    if (status == CT_OK && inverted > result->inverted) result->inverted = inverted;
    ct_work_free(work);
    ct_state_free(state);
    return status == CT_NOT_CONVERGED ? CT_OK : status;
}

static ct_status run_start(const energy_options* o, const char* text, energy_result* result,
                           ct_error* error) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_status status = ct_scene_parse(&scene, text, strlen(text), o->directory, error);
    if (status == CT_OK) status = ct_model_create(&model, scene, error);
    if (status == CT_OK) status = take_steps(model, o->steps, result);
    ct_model_free(model);
    ct_scene_free(scene);
    return status;
}

static ct_status measure(const energy_options* o, energy_result result[COUNT], ct_error* error) {
    char path[1024];
    snprintf(path, sizeof path, "%s/humanoid_fall.json", o->directory);
    json_t* scene = json_load_file(path, 0, NULL);
    ct_status status = CT_OK;
    if (!scene) {
        snprintf(error->message, sizeof error->message, "%.200s cannot be read: give the scenes' directory",
                 path);
        return CT_IO;
    }
    for (int i = 0; status == CT_OK && i < o->starts; i++)
        for (int k = 0; status == CT_OK && k < COUNT; k++) {
            char* text = write_start(scene, ENERGIES[k], ((uint64_t)o->seed << 32) + (uint64_t)i);
            status = text ? run_start(o, text, &result[k], error) : CT_OUT_OF_MEMORY;
            free(text);
        }
    json_decref(scene);
    return status;
}

static void print_table(const energy_options* o, const energy_result result[COUNT]) {
    printf("%-12s %10s %18s %14s %16s\n", "energy", "finished", "most inside out", "solves / step",
           "ms / step");
    for (int k = 0; k < COUNT; k++) {
        const energy_result* r = &result[k];
        int n = r->steps > 0 ? r->steps : 1;
        printf("%-12s %5d of %d %18d %14.1f %16.1f\n", ENERGIES[k], r->finished, o->starts, r->inverted,
               r->solves / n, 1e3 * r->seconds / n);
    }
}

static void print_object(const energy_options* o, const energy_result result[COUNT]) {
    json_t* all = json_object();
    for (int k = 0; k < COUNT; k++) {
        const energy_result* r = &result[k];
        int n = r->steps > 0 ? r->steps : 1;
        json_object_set_new(all, ENERGIES[k],
                            json_pack("{s:i, s:i, s:i, s:f, s:f}", "starts", o->starts, "finished",
                                      r->finished, "inverted", r->inverted, "solves_per_step", r->solves / n,
                                      "ms_per_step", 1e3 * r->seconds / n));
    }
    cli_print_json(all);
}

static const char details[] = "A soft humanoid of 3,100 tets falls on a log, with random torques of up to 1 "
                              "N m in its shoulders and a\n"
                              "random push: how many runs come to their end with the energies corotated and "
                              "neohookean, and what they cost.";

int cuttle_bench_energy(int argc, char** argv) {
    energy_options o = {.directory = "scenes", .starts = 20, .steps = 80};
    const cli_option options[] = {
        {"--scenes", 0, CLI_TEXT, &o.directory, "DIRECTORY", "where humanoid_fall.json is (default: scenes)"},
        {"--starts", 0, CLI_COUNT, &o.starts, "N", "random starts (default: 20)"},
        {"--steps", 0, CLI_COUNT, &o.steps, "N", "steps of each (default: 80)"},
        {"--seed", 0, CLI_INTEGER, &o.seed, "N", "of the random numbers (default: 0)"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {
        "bench energy",          "",     "Measures how robust the elastic energies are.", details,
        "  cuttle bench energy", options};
    int code, count;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    energy_result result[COUNT] = {0};
    ct_error error = {.element = -1};
    ct_status status = measure(&o, result, &error);
    if (status != CT_OK) {
        if (error.code == CT_OK) error.code = status;
        if (!*error.message) snprintf(error.message, sizeof error.message, "%s", ct_status_text(status));
        return cli_report_error(&error, o.json);
    }
    if (o.json) print_object(&o, result);
    else print_table(&o, result);
    return CLI_OK;
}
