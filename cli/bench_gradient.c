// cuttle bench gradient: what the reverse of a motion costs beside the motion itself.
//
// The swinging beam of `cuttle bench` is run and reversed several times over; the fastest counts. The
// gradient is that of the final centre of mass with respect to Young's modulus and Poisson's ratio of every
// tet and the initial velocities. Then the adjoint system of the last step, with projective energies, is
// solved in two ways to a residual of 1e-6: by Cuttle's, and by the fixed point of DiffPD on the constant
// matrix of projective dynamics.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST = 16, PASSES = 5, STEPS = 30, FIXED_LIMIT = 5000 };
static const double PASS_BUDGET = 6;  // s, no further pass beyond this
static const double TOLERANCE = 1e-6;

typedef struct gradient_case {
    int tets, threads, steps;
} gradient_case;

typedef struct gradient_result {
    ct_status status;
    char message[512];
    int tets;
    double forward, backward;                // s per step
    double forward_solves, backward_solves;  // per step
    double residual;                         // worst, of the adjoint systems
    ct_adjoint_profile adjoint;
} gradient_result;

// ---- in the child ----

// What the gradient is of (the height of the centre of mass at the end) and with respect to.
static ct_status add_goal(ct_scene* scene, int steps, ct_error* error) {
    const ct_quantity quantities[] = {CT_QUANTITY_YOUNG, CT_QUANTITY_POISSON, CT_QUANTITY_VELOCITY};
    ct_keyframe above = {.translate = {0, 1, 0}};
    ct_objective_def objective = ct_objective_def_default();
    objective.path = &above;
    objective.npath = 1;
    objective.relative = true;
    ct_settings settings = ct_scene_settings(scene);
    settings.duration = steps * settings.time_step;
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    if (status == CT_OK) status = ct_scene_add_objective(scene, &objective, error);
    for (int k = 0; status == CT_OK && k < 3; k++) {
        ct_parameter_def parameter = ct_parameter_def_default();
        parameter.quantity = quantities[k];
        parameter.per = CT_PER_ELEMENT;
        status = ct_scene_add_parameter(scene, &parameter, error);
    }
    return status;
}

typedef struct turn {  // when the way back begins
    int threads;
    double at;
} turn;

static void on_state(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                     double* q_bar, void* user) {
    turn* t = user;
    (void)step, (void)state, (void)loss, (void)v_bar, (void)q_bar;
    if (x_bar && isnan(t->at)) t->at = bench_clock(t->threads);
}

// The motion and its reverse, several times over.
static ct_status time_passes(ct_problem* problem, int threads, double* y, double* gradient,
                             gradient_result* r, ct_error* error) {
    ct_problem_report report;
    ct_status status = CT_OK;
    double begun = cli_seconds(), loss;
    r->forward = r->backward = INFINITY;
    ct_problem_start(problem, y);
    for (int pass = 0; status == CT_OK && pass < PASSES && (pass == 0 || cli_seconds() - begun < PASS_BUDGET);
         pass++) {
        turn turned = {threads, NAN};
        ct_problem_set_term(problem, on_state, &turned);
        double started = bench_clock(threads);
        status = ct_problem_evaluate(problem, y, &loss, gradient, &report, error);
        double ended = bench_clock(threads);
        ct_problem_set_term(problem, NULL, NULL);
        if (status != CT_OK) break;
        int steps = report.forward.steps;
        r->forward = fmin(r->forward, (turned.at - started) / steps);
        r->backward = fmin(r->backward, (ended - turned.at) / steps);
        r->forward_solves = (double)report.forward.solves / steps;
        r->backward_solves = (double)report.backward.solves / steps;
        r->residual = report.backward.max_residual;
    }
    return status;
}

static ct_status measure_gradient(const gradient_case* c, gradient_result* r, ct_error* error) {
    ct_scene* scene = NULL;
    ct_problem* problem = NULL;
    double* y = NULL;
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK)
        status = bench_beam(scene, c->tets, CT_ENERGY_COROTATED, CT_SOLVER_NEWTON, c->threads, error);
    if (status == CT_OK) status = add_goal(scene, c->steps, error);
    if (status == CT_OK) status = ct_problem_create(&problem, scene, 0, error);
    if (status == CT_OK) {
        ct_model_info info = ct_model_summary(ct_problem_model(problem));
        r->tets = info.ntet;
        size_t n = (size_t)ct_problem_size(problem);
        y = calloc(2 * n, sizeof(double));
        status = y ? time_passes(problem, c->threads, y, y + n, r, error) : CT_OUT_OF_MEMORY;
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
    return status;
}

typedef struct last_step {  // of the same motion with projective energies, by Cuttle's solver
    ct_model* model;
    ct_work* work;
    ct_state *before, *after;
} last_step;

static ct_status open_last_step(last_step* last, const gradient_case* c, ct_error* error) {
    ct_scene* scene = NULL;
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK)
        status = bench_beam(scene, c->tets, CT_ENERGY_PROJECTIVE, CT_SOLVER_NEWTON, c->threads, error);
    if (status == CT_OK) status = ct_model_create(&last->model, scene, error);
    ct_scene_free(scene);
    if (status == CT_OK) status = ct_work_create(&last->work, last->model, c->threads, NULL);
    if (status == CT_OK) status = ct_state_create(&last->before, last->model, NULL);
    if (status == CT_OK) status = ct_state_create(&last->after, last->model, NULL);
    for (int i = 0; status == CT_OK && i < c->steps; i++) {
        status = ct_state_copy(last->before, last->after);
        if (status == CT_OK) status = ct_step(last->model, last->work, last->after, NULL, NULL);
    }
    return status;
}

static void close_last_step(last_step* last) {
    ct_state_free(last->after);
    ct_state_free(last->before);
    ct_work_free(last->work);
    ct_model_free(last->model);
}

// dL/dx of the height of the centre of mass; freed by the caller, NULL: out of memory.
static double* height_seed(const ct_model* model) {
    ct_model_info info = ct_model_summary(model);
    const double* mass = ct_model_node_mass(model);
    double* x_bar = calloc(3 * (size_t)info.nvert, sizeof(double));
    for (int i = 0; x_bar && i < info.nvert; i++) x_bar[3 * i + 1] = mass[i] / info.mass;
    return x_bar;
}

// The adjoint system of that step; the constant matrix is that of a model made for the projective solver.
static ct_status profile_last_step(const last_step* last, const gradient_case* c, ct_adjoint_profile* best,
                                   ct_error* error) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_work* work = NULL;
    double *x_bar = height_seed(last->model), begun = cli_seconds();
    ct_status status = x_bar ? ct_scene_create(&scene, NULL) : CT_OUT_OF_MEMORY;
    if (status == CT_OK)
        status = bench_beam(scene, c->tets, CT_ENERGY_PROJECTIVE, CT_SOLVER_PROJECTIVE, c->threads, error);
    if (status == CT_OK) status = ct_model_create(&model, scene, error);
    if (status == CT_OK) status = ct_work_create(&work, model, c->threads, NULL);
    *best = (ct_adjoint_profile){.seconds = INFINITY, .fixed_seconds = INFINITY};
    for (int pass = 0; status == CT_OK && pass < PASSES && (pass == 0 || cli_seconds() - begun < PASS_BUDGET);
         pass++) {
        ct_adjoint_profile one;
        status =
            ct_profile_adjoint(model, work, last->before, last->after, x_bar, TOLERANCE, FIXED_LIMIT, &one);
        one.seconds = fmin(one.seconds, best->seconds);
        one.fixed_seconds = fmin(one.fixed_seconds, best->fixed_seconds);
        *best = one;
    }
    ct_work_free(work);
    ct_model_free(model);
    ct_scene_free(scene);
    free(x_bar);
    return status;
}

static ct_status measure_adjoint(const gradient_case* c, gradient_result* r, ct_error* error) {
    last_step last = {0};
    ct_status status = open_last_step(&last, c, error);
    if (status == CT_OK) status = profile_last_step(&last, c, &r->adjoint, error);
    close_last_step(&last);
    return status;
}

static void run_case(const void* what, void* into) {
    const gradient_case* c = what;
    gradient_result* r = into;
    ct_error error = {.element = -1};
    r->status = measure_gradient(c, r, &error);
    if (r->status == CT_OK) r->status = measure_adjoint(c, r, &error);
    if (*error.message) snprintf(r->message, sizeof r->message, "%s", error.message);
}

// ---- in the parent ----

static void print_heading(void) {
    printf("%8s %8s %9s %9s %7s %9s %10s | %-16s %-24s\n", "tets", "threads", "forward", "backward", "ratio",
           "solves", "adjoint", "last step: ours", "fixed point of DiffPD");
    printf("%8s %8s %9s %9s %7s %9s %10s | %6s %9s %6s %9s %8s\n", "", "", "ms/step", "ms/step", "",
           "back/step", "residual", "solves", "ms", "solves", "ms", "slower");
}

static void print_row(const gradient_case* c, const gradient_result* r) {
    const ct_adjoint_profile* a = &r->adjoint;
    printf("%8d %8d %9.3f %9.3f %7.2f %9.1f %10.1e | %6d %9.3f", r->tets, c->threads, 1e3 * r->forward,
           1e3 * r->backward, r->backward / r->forward, r->backward_solves, r->residual, a->iterations,
           1e3 * a->seconds);
    if (a->fixed_converged)
        printf(" %6d %9.2f %7.0fx\n", a->fixed_iterations, 1e3 * a->fixed_seconds,
               a->fixed_seconds / a->seconds);
    else if (a->fixed_residual < 1)
        printf(" %6d %9.2f  residual %.0e\n", a->fixed_iterations, 1e3 * a->fixed_seconds, a->fixed_residual);
    else printf(" %6s %9s\n", "-", "diverges");
    fflush(stdout);
}

static json_t* row_object(const gradient_case* c, const gradient_result* r) {
    const ct_adjoint_profile* a = &r->adjoint;
    json_t* fixed = json_pack(
        "{s:i, s:f, s:f, s:b}", "solves", a->fixed_iterations, "ms", 1e3 * a->fixed_seconds, "residual",
        isfinite(a->fixed_residual) ? a->fixed_residual : 1e300, "converged", a->fixed_converged);
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:{s:i, s:f, s:f}, s:o}",
                     "scene", "beam", "tets", c->tets, "tets_actual", r->tets, "threads", c->threads, "steps",
                     c->steps, "forward_ms_per_step", 1e3 * r->forward, "backward_ms_per_step",
                     1e3 * r->backward, "ratio", r->backward / r->forward, "forward_solves_per_step",
                     r->forward_solves, "backward_solves_per_step", r->backward_solves, "residual",
                     r->residual, "last_step_adjoint", "solves", a->iterations, "ms", 1e3 * a->seconds,
                     "residual", a->residual, "fixed_point", fixed);
}

static int run_row(const gradient_case* c, bool json, json_t* rows) {
    static gradient_result r;
    double peak;
    if (!bench_apart(run_case, c, &r, sizeof r, &peak))
        return cli_report_status(CT_OUT_OF_MEMORY, "a measurement ended early", json);
    if (r.status != CT_OK) {
        ct_error error = {.code = r.status, .element = -1};
        snprintf(error.message, sizeof error.message, "%d tets: %s. %.300s", c->tets,
                 ct_status_text(r.status), r.message);
        return cli_report_error(&error, json);
    }
    if (json) json_array_append_new(rows, row_object(c, &r));
    else print_row(c, &r);
    return CLI_OK;
}

static const char details[] =
    "The beam of `cuttle bench` swings, and the gradient of its final height with respect to the "
    "material of every tet and\n"
    "the initial velocities is taken. For comparison, the adjoint system of the last step "
    "(projective energies, residual\n"
    "1e-6) is also solved by the fixed point of DiffPD.";

static const char examples[] = "  cuttle bench gradient\n"
                               "  cuttle bench gradient --json --sizes 10k --threads 1";

int cuttle_bench_gradient(int argc, char** argv) {
    const char *sizes = "1k,10k", *threads = "1";
    int size[MOST], thread[MOST], steps = STEPS, count, code;
    bool json = false;
    const cli_option options[] = {
        {"--sizes", 0, CLI_TEXT, &sizes, "LIST", "numbers of tets (default: 1k,10k)"},
        {"--threads", 't', CLI_TEXT, &threads, "LIST", "numbers of threads (default: 1)"},
        {"--steps", 0, CLI_COUNT, &steps, "N", "steps of the motion (default: 30)"},
        {"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"bench gradient", "",       "Measures gradients on this machine.",
                             details,          examples, options};
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    int nsize = cli_read_counts(sizes, size, MOST), nthread = cli_read_counts(threads, thread, MOST);
    if (nsize == 0) return cli_bad_usage(&usage, "--sizes takes a list such as 1k,10k, not '%s'", sizes);
    if (nthread == 0) return cli_bad_usage(&usage, "--threads takes a list such as 1,2, not '%s'", threads);
    json_t* rows = json_array();
    code = CLI_OK;
    if (!json) print_heading();
    for (int k = 0; code == CLI_OK && k < nsize * nthread; k++) {
        gradient_case c = {size[k / nthread], thread[k % nthread], steps};
        code = run_row(&c, json, rows);
    }
    if (json && code == CLI_OK) cli_print_json(json_pack("{s:O}", "results", rows));
    json_decref(rows);
    return code;
}
