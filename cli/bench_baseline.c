// cuttle bench baseline: Cuttle's solver beside the paper's own, on the same scenes, meshes and energies.
//
// Both take the same steps of the experiments' scenes, with the projective energy and without damping by
// strain rate, which the paper's method does not have. Without contact both iterate to the same residual:
// local and global steps with the constant matrix M/h^2 + L, and B assembled top-down where there are bones.
// With contact the paper's iteration is its splitting with M + h^2 D, ended after 30 iterations as its code
// does, whatever is left of the residual; Cuttle's is solved to its tolerance. Gradients, where there are
// neither bones nor contact: the adjoint system of the last step by Cuttle and by the fixed point of DiffPD
// on the same constant matrix, to the same residual. CPU time of the thread.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "compare.h"
#include "problem.h"

enum { CASES = 7, TRUNCATE = 30, FIXED_LIMIT = 20000 };
static const double tolerance = 1e-4;

typedef struct baseline_case {
    const char* name;
    int steps;
    double offset, amplitude;  // of what drives muscles (activation), cells (volume) and joints (N m)
    bool gradient;             // there are neither bones nor contact
} baseline_case;

static const baseline_case cases[CASES] = {
    {"suspension_bridge", 20, 0, 0, true}, {"arch_bridge", 20, 0, 0, true},
    {"octopus_paper", 40, 0.4, 0.3, true}, {"fish", 20, 0, 0.02, false},
    {"gripper", 20, 0.1, 0, false},        {"humanoid_y", 60, 0, 1, false},
    {"ball_sheet", 60, 0, 0, false}};

typedef struct baseline_side {  // one of the two
    ct_model* model;
    ct_work* work;
    ct_state *before, *state;
    double seconds, iterations, residual;  // sums; residual: worst, as a part of the reference
    int steps;                             // taken
    char failure[200];
} baseline_side;

typedef struct baseline_result {
    baseline_side side[2];  // Cuttle's, the paper's
    bool contact;
    ct_adjoint_profile adjoint;
    bool adjoint_known;
} baseline_result;

// ---- the scenes ----------------------------------------------------------------------------

static void change(json_t* scene, bool paper, bool* contact) {
    compare_make_projective(scene);
    static const char* const unused[] = {"parameters", "objective", "optimizer", "$schema"};
    for (int i = 0; i < 4; i++) json_object_del(scene, unused[i]);
    json_object_set_new(scene, "solver",
                        json_pack("{s:s, s:f, s:i, s:i}", "type", paper ? "projective" : "newton",
                                  "tolerance", tolerance, "max_iterations", paper ? 50000 : 1000, "threads",
                                  1));
    json_t* settings = json_object_get(scene, "contact");
    *contact = settings || json_object_get(scene, "obstacles");
    if (!paper || !*contact) return;
    if (!settings) json_object_set_new(scene, "contact", settings = json_object());
    json_object_set_new(settings, "method", json_string("split"));
    json_object_set_new(settings, "split", json_string("diagonal"));
    json_object_set_new(settings, "truncate", json_integer(TRUNCATE));
}

static ct_status open_side(baseline_side* s, const char* directory, const baseline_case* c, bool paper,
                           bool* contact, ct_error* error) {
    char path[4096];
    json_error_t trouble;
    ct_scene* scene = NULL;
    snprintf(path, sizeof path, "%s/%s.json", directory, c->name);
    ct_status status = ct_scene_load(&scene, path, error);  // says what is wrong with it
    ct_scene_free(scene);
    scene = NULL;
    json_t* json = status == CT_OK ? json_load_file(path, 0, &trouble) : NULL;
    if (status == CT_OK && !json) return CT_OUT_OF_MEMORY;
    if (status != CT_OK) return status;
    change(json, paper, contact);
    char* text = json_dumps(json, 0);
    json_decref(json);
    status = text ? ct_scene_parse(&scene, text, strlen(text), directory, error) : CT_OUT_OF_MEMORY;
    free(text);
    if (status == CT_OK) status = ct_model_create(&s->model, scene, error);
    ct_scene_free(scene);
    if (status == CT_OK) status = ct_state_create(&s->before, s->model, error);
    if (status == CT_OK) status = ct_state_create(&s->state, s->model, error);
    if (status == CT_OK) status = ct_work_create(&s->work, s->model, 1, error);
    return status;
}

static void close_side(baseline_side* s) {
    ct_work_free(s->work);
    ct_state_free(s->before);
    ct_state_free(s->state);
    ct_model_free(s->model);
    s->work = NULL, s->before = s->state = NULL, s->model = NULL;
}

// ---- the motion ----------------------------------------------------------------------------

// A slow wave over muscles, cells and joints.
static void drive(const baseline_case* c, const ct_model* model, int step, double* control) {
    memset(control, 0, (size_t)ct_model_control_size(model) * sizeof(double));
    for (int k = 0; k < ct_model_control_count(model); k++) {
        ct_control_info info = ct_model_control_info(model, k);
        if (info.kind != CT_CONTROL_ACTIVATION && info.kind != CT_CONTROL_TORQUE) continue;
        for (int i = 0; i < info.count; i++)
            control[info.first + i] = c->offset + c->amplitude * sin(0.15 * step + 2.1 * k);
    }
}

static ct_status take_steps(const baseline_case* c, baseline_side* s, double seconds, ct_error* error) {
    double* control = calloc((size_t)ct_model_control_size(s->model) + 1, sizeof(double));
    ct_status status = control ? CT_OK : CT_OUT_OF_MEMORY;
    while (status == CT_OK && s->steps < c->steps && s->seconds < seconds) {
        ct_step_report report;
        drive(c, s->model, s->steps, control);
        status = ct_state_copy(s->before, s->state);
        double begun = ct_profile_cpu();
        if (status == CT_OK) status = ct_step(s->model, s->work, s->state, control, &report);
        if (status != CT_OK) {
            snprintf(s->failure, sizeof s->failure, "step %d: %.150s", s->steps + 1, report.message);
            break;
        }
        s->seconds += ct_profile_cpu() - begun;
        s->iterations += report.iterations;
        s->residual = fmax(s->residual, report.residual / report.reference);
        s->steps++;
    }
    free(control);
    (void)error;
    return status == CT_NOT_CONVERGED ? CT_OK : status;
}

static ct_status reverse_step(baseline_result* r) {
    baseline_side* s = &r->side[1];
    ct_model_info info = ct_model_summary(s->model);
    double* x_bar = calloc(3 * (size_t)info.nvert, sizeof(double));
    if (!x_bar) return CT_OUT_OF_MEMORY;
    for (int v = 0; v < info.nvert; v++) x_bar[3 * v + 1] = ct_model_node_mass(s->model)[v];
    ct_status status = ct_profile_adjoint(s->model, s->work, s->before, s->state, x_bar, tolerance,
                                          FIXED_LIMIT, &r->adjoint);
    r->adjoint_known = status == CT_OK;
    free(x_bar);
    return status == CT_UNSUPPORTED || status == CT_BAD_ARGUMENT ? CT_OK : status;
}

static ct_status run_case(const char* directory, const baseline_case* c, double seconds, baseline_result* r,
                          ct_error* error) {
    ct_status status = CT_OK;
    for (int paper = 0; status == CT_OK && paper < 2; paper++) {
        status = open_side(&r->side[paper], directory, c, paper, &r->contact, error);
        if (status == CT_OK) status = take_steps(c, &r->side[paper], seconds, error);
    }
    if (status == CT_OK && c->gradient && r->side[1].steps > 0) status = reverse_step(r);
    for (int k = 0; k < 2; k++) close_side(&r->side[k]);
    return status;
}

// ---- what is printed -----------------------------------------------------------------------

static double per_step(const baseline_side* s, double sum) { return s->steps ? sum / s->steps : NAN; }

static double ratio_of(const baseline_result* r) {
    return per_step(&r->side[1], r->side[1].seconds) / per_step(&r->side[0], r->side[0].seconds);
}

static void print_heading(void) {
    printf("%-18s %26s %36s %7s %30s\n", "", "Cuttle", "the paper's method", "ratio",
           "gradient, ms: Cuttle, fixed");
    printf("%-18s %9s %6s %9s %14s %9s %11s %7s %13s %9s %6s\n", "scene", "ms/step", "iter.", "residual",
           "ms/step", "iter.", "residual", "", "", "point", "ratio");
}

static void print_row(const baseline_case* c, const baseline_result* r) {
    const baseline_side *a = &r->side[0], *b = &r->side[1];
    printf("%-18s %9.2f %6.1f %9.0e %14.2f %9.1f %11.0e %7.1f", c->name, 1e3 * per_step(a, a->seconds),
           per_step(a, a->iterations), a->residual, 1e3 * per_step(b, b->seconds), per_step(b, b->iterations),
           b->residual, ratio_of(r));
    if (r->adjoint_known && r->adjoint.fixed_converged)
        printf(" %13.2f %9.2f %6.1f", 1e3 * r->adjoint.seconds, 1e3 * r->adjoint.fixed_seconds,
               r->adjoint.fixed_seconds / r->adjoint.seconds);
    else if (r->adjoint_known) printf(" %13.2f  not in %d", 1e3 * r->adjoint.seconds, FIXED_LIMIT);
    printf("\n");
    for (int k = 0; k < 2; k++)
        if (r->side[k].failure[0])
            printf("  %s fails: %s\n", k ? "the paper's method" : "Cuttle", r->side[k].failure);
}

static json_t* side_object(const baseline_side* s) {
    return json_pack("{s:o, s:o, s:o, s:i, s:s}", "ms_per_step",
                     cli_json_number(1e3 * per_step(s, s->seconds)), "iterations_per_step",
                     cli_json_number(per_step(s, s->iterations)), "residual", cli_json_number(s->residual),
                     "steps", s->steps, "failure", s->failure);
}

static json_t* row_object(const baseline_case* c, const baseline_result* r) {
    json_t* row = json_pack("{s:s, s:b, s:o, s:o, s:o}", "scene", c->name, "contact", r->contact, "cuttle",
                            side_object(&r->side[0]), "paper", side_object(&r->side[1]), "ratio",
                            cli_json_number(ratio_of(r)));
    if (r->adjoint_known)
        json_object_set_new(row, "gradient",
                            json_pack("{s:f, s:f, s:i, s:i, s:b}", "cuttle_ms", 1e3 * r->adjoint.seconds,
                                      "fixed_point_ms", 1e3 * r->adjoint.fixed_seconds, "iterations",
                                      r->adjoint.iterations, "fixed_point_iterations",
                                      r->adjoint.fixed_iterations, "fixed_point_converged",
                                      r->adjoint.fixed_converged));
    return row;
}

static const char details[] =
    "The scenes of the experiments, with the projective energy and without strain-rate damping, driven by a "
    "slow wave: CPU time per\n"
    "step of Cuttle and of the paper's own method (local and global steps with a constant matrix), written "
    "in the same language, to\n"
    "the same residual of 1e-4. With contact the paper's is its splitting with M + h^2 D, ended after 30 "
    "iterations as its code does;\n"
    "its residual says what is missing. Gradients: the adjoint of the last step, Cuttle's solve and the "
    "fixed point of DiffPD.";

int cuttle_bench_baseline(int argc, char** argv) {
    const char *directory = "scenes", *only = NULL;
    double seconds = 60;
    bool json = false;
    const cli_option options[] = {
        {"--scenes", 0, CLI_TEXT, &directory, "DIR", "where the scene files are (default: scenes)"},
        {"--only", 0, CLI_TEXT, &only, "NAME", "this scene alone"},
        {"--seconds", 0, CLI_POSITIVE, &seconds, "S", "CPU time of one method on one scene (default: 60)"},
        {"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"bench baseline",
                             "",
                             "Compares Cuttle with the paper's method on the same scenes.",
                             details,
                             "  cuttle bench baseline --only octopus_paper",
                             options};
    int code, count, ran = 0;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    code = CLI_OK;
    json_t* rows = json_array();
    ct_error error = {.element = -1};
    for (int k = 0; k < CASES && code == CLI_OK; k++) {
        baseline_result result = {0};
        if (only && strcmp(only, cases[k].name) != 0) continue;
        ct_status status = run_case(directory, &cases[k], seconds, &result, &error);
        if (status != CT_OK && error.code == CT_OK)
            snprintf(error.message, sizeof error.message, "%s", ct_status_text(error.code = status));
        if (status != CT_OK) code = cli_report_error(&error, json);
        else if (json) json_array_append_new(rows, row_object(&cases[k], &result));
        else {
            if (ran++ == 0) print_heading();
            print_row(&cases[k], &result);
            fflush(stdout);
        }
    }
    if (only && !ran && !json && code == CLI_OK)
        code = cli_bad_usage(&usage, "there is no scene '%s' here: choose one of the table's", only);
    if (json && code == CLI_OK) cli_print_json(json_pack("{s:O}", "scenes", rows));
    json_decref(rows);
    return code;
}
