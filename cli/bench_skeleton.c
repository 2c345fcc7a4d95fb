// cuttle bench skeleton: how the assembly of skeletons grows with their links, and what links cost a soft
// body.
//
// Chains of N links, each with a mass of its own, alternate two axes and are bent. Timed, the best of several
// runs each: B over the links' nodes, and the joints' matrix of the preconditioner. The slope is that of log
// time over log N by least squares, over the chains of 50 links and more, where the time is not that of an
// empty call. Then a soft arm swings under gravity, clamped at one end, without links and with three.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { SIZES = 6, FIT_FROM = 2, ARM_LINKS = 3, ARM_STEPS = 40 };
static const int sizes[SIZES] = {10, 20, 50, 100, 200, 400};

// ---- Chains ----

static ct_status add_chain(ct_scene* scene, int count, ct_error* error) {
    ct_status status = CT_OK;
    for (int k = 0; status == CT_OK && k < count; k++) {
        ct_link_def def = ct_link_def_default();
        def.parent = k - 1;
        def.joint.anchor[0] = 0.1 * k;
        def.joint.axis[1] = k % 2;
        def.joint.axis[2] = 1 - k % 2;
        def.joint.position = 0.02;
        def.mass = 0.1;
        def.center[0] = 0.1 * k + 0.05;
        for (int a = 0; a < 3; a++) def.inertia[a] = 1e-4;
        status = ct_scene_add_link(scene, &def, NULL, error);
    }
    return status;
}

static ct_status profile_chain(int count, ct_skeleton_profile* profile, ct_error* error) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = add_chain(scene, count, error);
    if (status == CT_OK) status = ct_model_create(&model, scene, error);
    if (status == CT_OK) status = ct_state_create(&state, model, NULL);
    if (status == CT_OK) status = ct_work_create(&work, model, 1, NULL);
    if (status == CT_OK) status = ct_profile_skeleton(model, work, state, profile);
    ct_work_free(work);
    ct_state_free(state);
    ct_model_free(model);
    ct_scene_free(scene);
    return status;
}

static double fit_slope(const double* seconds) {
    double n = SIZES - FIT_FROM, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = FIT_FROM; i < SIZES; i++) {
        double a = log(sizes[i]), b = log(seconds[i]);
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

// ---- A soft arm with and without links ----

static ct_status add_link(ct_scene* scene, int k, ct_error* error) {
    ct_selector link = {.kind = CT_SELECT_BOX,
                        .body = -1,
                        .a = {0.3 * k + (k ? 0.06 : -1), 0.07, 0.07},
                        .b = {0.3 * k + 0.24, 0.13, 0.13}};
    ct_link_def def = ct_link_def_default();
    int *nodes = NULL, count = 0;
    ct_status status = ct_scene_select(scene, &link, &nodes, &count, error);
    def.parent = k - 1;
    def.nodes = nodes;
    def.count = count;
    def.joint.kind = k ? CT_JOINT_REVOLUTE : CT_JOINT_FIXED;
    def.joint.anchor[0] = 0.3 * k;
    def.joint.anchor[1] = def.joint.anchor[2] = 0.1;
    if (status == CT_OK) status = ct_scene_add_link(scene, &def, NULL, error);
    ct_free(nodes);
    return status;
}

static ct_status clamp(ct_scene* scene, ct_error* error) {
    ct_selector wall = {.kind = CT_SELECT_PLANE, .body = -1, .a = {1e-9, 0, 0}, .b = {-1, 0, 0}};
    int *nodes = NULL, count = 0;
    ct_status status = ct_scene_select(scene, &wall, &nodes, &count, error);
    if (status == CT_OK) status = ct_scene_drive(scene, nodes, count, NULL, error);
    ct_free(nodes);
    return status;
}

static ct_status fill_arm(ct_scene* scene, bool links, ct_error* error) {
    ct_mesh* mesh = NULL;
    ct_status status =
        ct_mesh_box(&mesh, (double[]){0.3 * ARM_LINKS, 0.2, 0.2}, (int[]){6 * ARM_LINKS, 4, 4}, NULL);
    if (status != CT_OK) return status;
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.energy = CT_ENERGY_COROTATED;
    body.material.young = 5e4;
    status = ct_scene_add_body(scene, &body, NULL, error);
    ct_mesh_free(mesh);
    for (int k = 0; status == CT_OK && links && k < ARM_LINKS; k++) status = add_link(scene, k, error);
    if (status == CT_OK && !links) status = clamp(scene, error);
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0;
    settings.gravity[1] = -9.81;
    settings.time_step = 0.01;
    settings.tolerance = 1e-6;
    settings.threads = 1;
    if (status == CT_OK) status = ct_scene_set_settings(scene, &settings, error);
    return status;
}

// Solves and seconds a step.
static ct_status run_arm(bool links, double* solves, double* seconds, ct_error* error) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = fill_arm(scene, links, error);
    if (status == CT_OK) status = ct_model_create(&model, scene, error);
    if (status == CT_OK) status = ct_state_create(&state, model, NULL);
    if (status == CT_OK) status = ct_work_create(&work, model, 1, NULL);
    *solves = *seconds = 0;
    for (int i = 0; status == CT_OK && i < ARM_STEPS; i++) {
        ct_step_report report;
        double begun = ct_profile_cpu();
        status = ct_step(model, work, state, NULL, &report);
        *seconds += (ct_profile_cpu() - begun) / ARM_STEPS;
        *solves += (double)report.solves / ARM_STEPS;
    }
    ct_work_free(work);
    ct_state_free(state);
    ct_model_free(model);
    ct_scene_free(scene);
    return status;
}

// ---- The command ----

typedef struct skeleton_bench {
    double jacobian[SIZES], bottom_up[SIZES], matrix[SIZES];  // s
    double solves[2], seconds[2];                             // a step, without and with links
} skeleton_bench;

static ct_status measure(skeleton_bench* bench, ct_error* error) {
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < SIZES; i++) {
        ct_skeleton_profile profile = {0};
        status = profile_chain(sizes[i], &profile, error);
        bench->jacobian[i] = profile.jacobian_seconds;
        bench->bottom_up[i] = profile.bottom_up_seconds;
        bench->matrix[i] = profile.matrix_seconds;
    }
    for (int links = 0; status == CT_OK && links < 2; links++)
        status = run_arm(links, &bench->solves[links], &bench->seconds[links], error);
    return status;
}

static void print_table(const skeleton_bench* bench) {
    printf("%8s %16s %16s %8s %20s\n%8s %16s %16s %8s %20s\n", "links", "B, top-down", "bottom-up", "ratio",
           "joints' matrix", "", "ms", "ms", "", "ms");
    for (int i = 0; i < SIZES; i++)
        printf("%8d %16.4f %16.4f %8.1f %20.4f\n", sizes[i], 1e3 * bench->jacobian[i],
               1e3 * bench->bottom_up[i], bench->bottom_up[i] / bench->jacobian[i], 1e3 * bench->matrix[i]);
    printf("%8s %16.2f %16.2f %8s %20.2f   (log time over log links, from %d links)\n\n", "slope",
           fit_slope(bench->jacobian), fit_slope(bench->bottom_up), "", fit_slope(bench->matrix),
           sizes[FIT_FROM]);
    printf("soft arm: %.1f solves and %.2f ms per step without links, %.1f and %.2f with %d: %.2f times the "
           "solves\n",
           bench->solves[0], 1e3 * bench->seconds[0], bench->solves[1], 1e3 * bench->seconds[1], ARM_LINKS,
           bench->solves[1] / bench->solves[0]);
}

static void print_object(const skeleton_bench* bench) {
    json_t* chains = json_array();
    for (int i = 0; i < SIZES; i++)
        json_array_append_new(chains,
                              json_pack("{s:i, s:f, s:f, s:f}", "links", sizes[i], "jacobian_ms",
                                        1e3 * bench->jacobian[i], "bottom_up_ms", 1e3 * bench->bottom_up[i],
                                        "matrix_ms", 1e3 * bench->matrix[i]));
    cli_print_json(json_pack(
        "{s:o, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f, s:f}}", "chains", chains, "jacobian_slope",
        fit_slope(bench->jacobian), "bottom_up_slope", fit_slope(bench->bottom_up), "matrix_slope",
        fit_slope(bench->matrix), "arm", "solves_per_step_without", bench->solves[0], "solves_per_step_with",
        bench->solves[1], "ms_per_step_without", 1e3 * bench->seconds[0], "ms_per_step_with",
        1e3 * bench->seconds[1], "solve_ratio", bench->solves[1] / bench->solves[0]));
}

static const char details[] =
    "Chains of 10 to 400 links: the time of B, the derivative of the links' nodes with respect to "
    "the joints, by the top-down\n"
    "assembly and by the bottom-up one that it replaces, and that of the joints' matrix in the "
    "preconditioner, with the slope of time over "
    "links (2: quadratic).\n"
    "Then a soft arm of 1,728 tets under gravity: solves per step without links and with three.";

int cuttle_bench_skeleton(int argc, char** argv) {
    bool json = false;
    const cli_option options[] = {{"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"}, {0}};
    const cli_usage usage = {"bench skeleton",
                             "",
                             "Measures skeletons on this machine.",
                             details,
                             "  cuttle bench skeleton --json",
                             options};
    int code, count;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    skeleton_bench bench = {0};
    ct_error error = {.element = -1};
    ct_status status = measure(&bench, &error);
    if (status != CT_OK) {
        if (error.code == CT_OK) error.code = status;
        if (!*error.message) snprintf(error.message, sizeof error.message, "%s", ct_status_text(status));
        return cli_report_error(&error, json);
    }
    if (json) print_object(&bench);
    else print_table(&bench);
    return CLI_OK;
}
