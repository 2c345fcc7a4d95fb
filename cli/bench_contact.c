// cuttle bench contact: what contact costs, how its solvers converge, and its gradient. Prints tables in
// Markdown.
//
// A block of 0.2 x 0.1 x 0.2 m slides down an incline (gravity leans), on a box mesh and on an unstructured
// one: the default method and the splitting iterations, all with projective energies and to the same
// residual. Then blocks of about 10,000 tets: resting, stacked and sliding, against the same blocks hanging
// from their upper faces, which sag by the same amount without contact.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_contact.h"

enum {
    CONVERGENCE_STEPS = 3,
    SLIDE_STEPS = 20,
    ITERATIONS = 30000,
    WARMUP = 5,
    STEPS = 20,
    PASSES = 3,
    GRADIENT_STEPS = 20
};
static const double THICKNESS = 1e-4;

typedef struct run {
    ct_model* model;
    ct_state *state, *start;
    ct_work* work;
} run;

static ct_status open_run(run* r, const ct_scene* scene, ct_error* error) {
    ct_status status = ct_model_create(&r->model, scene, error);
    if (status == CT_OK) status = ct_state_create(&r->state, r->model, NULL);
    if (status == CT_OK) status = ct_state_create(&r->start, r->model, NULL);
    if (status == CT_OK) status = ct_work_create(&r->work, r->model, 1, NULL);
    return status;
}

static void close_run(run* r) {
    ct_work_free(r->work);
    ct_state_free(r->start);
    ct_state_free(r->state);
    ct_model_free(r->model);
}

static ct_status add_floor(ct_scene* scene, ct_error* error) {
    ct_obstacle_def def = ct_obstacle_def_default();
    def.normal[0] = def.normal[2] = 0;
    def.normal[1] = 1;
    return ct_scene_add_obstacle(scene, &def, NULL, error);
}

static ct_settings common_settings(double lean) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = 9.81 * sin(lean);
    settings.gravity[1] = -9.81 * cos(lean);
    settings.gravity[2] = 0;
    settings.threads = 1;
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    return settings;
}

// ---- convergence ----

typedef struct method {
    const char* name;
    ct_contact_method contact;
    ct_split split;
} method;
static const method methods[] = {{"M", CT_CONTACT_METHOD_SPLIT, CT_SPLIT_MASS},
                                 {"M + h^2 D", CT_CONTACT_METHOD_SPLIT, CT_SPLIT_DIAGONAL},
                                 {"M + 2 h^2 D", CT_CONTACT_METHOD_SPLIT, CT_SPLIT_TWICE},
                                 {"M + h^2 L", CT_CONTACT_METHOD_SPLIT, CT_SPLIT_WHOLE},
                                 {"newton", CT_CONTACT_METHOD_NEWTON, CT_SPLIT_MASS}};
enum { METHODS = sizeof methods / sizeof methods[0] };

static ct_status block_mesh(ct_mesh** out, bool structured, ct_error* error) {
    if (structured) return ct_mesh_box(out, (double[]){0.2, 0.1, 0.2}, (int[]){6, 3, 6}, NULL);
    ct_shape* shape = ct_shape_box((double[]){0.1, 0.05, 0.1}, (double[]){0.1, 0.05, 0.1}, 0.01, NULL);
    if (!shape) return CT_OUT_OF_MEMORY;
    ct_fill_def fill = ct_fill_def_default();
    fill.size = 0.03;
    ct_status status = ct_shape_fill(out, shape, &fill, NULL, error);
    ct_shape_free(shape);
    return status;
}

static ct_status fill_incline(ct_scene* scene, bool structured, double h, const method* m, int truncate,
                              ct_error* error) {
    ct_mesh* mesh = NULL;
    ct_settings settings = common_settings(0.35);
    settings.time_step = h;
    settings.tolerance = 1e-8;
    settings.solver = CT_SOLVER_PROJECTIVE;
    settings.max_iterations = ITERATIONS;
    settings.contact.method = m->contact;
    settings.contact.split = m->split;
    settings.contact.truncate = truncate;
    settings.contact.friction = 0.1;
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    if (status == CT_OK) status = block_mesh(&mesh, structured, error);
    if (status != CT_OK) return status;
    double lowest = INFINITY;
    for (int v = 0; v < mesh->nvert; v++) lowest = fmin(lowest, mesh->x[3 * v + 1]);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.energy = CT_ENERGY_PROJECTIVE;
    body.material.young = 3e5;
    body.material.poisson = 0.4;
    body.contact_thickness = THICKNESS;
    body.translate[1] = THICKNESS + 1e-6 - lowest;
    status = ct_scene_add_body(scene, &body, NULL, error);
    ct_mesh_free(mesh);
    return status == CT_OK ? add_floor(scene, error) : status;
}

// Steps down the incline; the report is that of all steps together, its residual the worst. Failing to
// converge is a result.
static ct_status slide(bool structured, double h, const method* m, int truncate, int nstep,
                       ct_step_report* total, double* distance, ct_error* error) {
    ct_scene* scene = NULL;
    run r = {0};
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = fill_incline(scene, structured, h, m, truncate, error);
    if (status == CT_OK) status = open_run(&r, scene, error);
    *total = (ct_step_report){.converged = true, .reference = 1};
    ct_measure before = {0}, after = {0};
    if (status == CT_OK) before = ct_state_measure(r.model, r.state);
    for (int i = 0; status == CT_OK && i < nstep; i++) {
        ct_step_report report;
        double begun = ct_profile_cpu();
        status = ct_step(r.model, r.work, r.state, NULL, &report);
        total->seconds += ct_profile_cpu() - begun;
        total->converged = total->converged && report.converged;
        total->iterations += report.iterations;
        total->contacts = report.contacts;
        if (report.reference > 0) total->residual = fmax(total->residual, report.residual / report.reference);
    }
    if (status == CT_OK) after = ct_state_measure(r.model, r.state);
    *distance = after.center[0] - before.center[0];
    close_run(&r);
    ct_scene_free(scene);
    return status == CT_NOT_CONVERGED ? CT_OK : status;
}

static ct_status convergence(ct_error* error) {
    printf("| mesh | h (s) | matrix | iterations per step | ms per step | worst residual | |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    ct_status status = CT_OK;
    for (int mesh = 0; mesh < 2; mesh++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; status == CT_OK && k < METHODS; k++) {
                const double h[] = {0.002, 0.01, 0.02};
                ct_step_report total;
                double distance;
                status = slide(mesh == 0, h[i], &methods[k], 0, CONVERGENCE_STEPS, &total, &distance, error);
                if (status != CT_OK) return status;
                const char* end = total.converged      ? "converged"
                                  : total.residual > 1 ? "diverges"
                                                       : "not converged";
                if (total.converged)
                    printf("| %s | %g | %s | %.0f | %.1f | %.0e | %s |\n", mesh ? "unstructured" : "box",
                           h[i], methods[k].name, (double)total.iterations / CONVERGENCE_STEPS,
                           1e3 * total.seconds / CONVERGENCE_STEPS, total.residual, end);
                else
                    printf("| %s | %g | %s | - | - | %.0e | %s |\n", mesh ? "unstructured" : "box", h[i],
                           methods[k].name, total.residual, end);
                fflush(stdout);
            }
    printf("\n| matrix | iterations | distance slid in %d steps (mm) | error |\n| --- | --- | --- | --- |\n",
           SLIDE_STEPS);
    double exact = 0;
    for (int i = 0; status == CT_OK && i < 4; i++) {
        const int truncate[] = {0, 30, 100, 300};
        ct_step_report total;
        double distance;
        status = slide(true, 0.01, &methods[i ? 1 : METHODS - 1], truncate[i], SLIDE_STEPS, &total, &distance,
                       error);
        if (i == 0) exact = distance;
        if (i)
            printf("| M + h^2 D | %d | %.3f | %.1f %% |\n", truncate[i], 1e3 * distance,
                   100 * fabs(distance / exact - 1));
        else printf("| newton | converged | %.3f | |\n", 1e3 * distance);
    }
    return status;
}

// ---- cost ----

typedef enum setting { HANGING, RESTING, SLIDING, HANGING_TWO, STACKED, SETTINGS } setting;

static ct_status add_slab(ct_scene* scene, const int cells[3], const double at[3], bool hang,
                          ct_error* error) {
    ct_mesh* mesh = NULL;
    const double size[3] = {0.34, 0.02 * cells[1], 0.34};
    ct_status status = ct_mesh_box(&mesh, size, cells, NULL);
    if (status != CT_OK) return status;
    ct_body_def body = ct_body_def_default();
    int index, *nodes = NULL, count = 0;
    body.mesh = mesh;
    body.material.energy = CT_ENERGY_COROTATED;
    body.material.young = 1e5;
    body.material.poisson = 0.4;
    body.contact_thickness = THICKNESS;
    memcpy(body.translate, at, sizeof body.translate);
    status = ct_scene_add_body(scene, &body, &index, error);
    ct_mesh_free(mesh);
    if (status != CT_OK || !hang) return status;
    ct_selector top = {
        .kind = CT_SELECT_PLANE, .body = index, .a = {0, at[1] + size[1] - 1e-6, 0}, .b = {0, 1, 0}};
    status = ct_scene_select(scene, &top, &nodes, &count, error);
    if (status == CT_OK) status = ct_scene_drive(scene, nodes, count, NULL, error);
    ct_free(nodes);
    return status;
}

static ct_status fill_blocks(ct_scene* scene, setting which, int across, ct_error* error) {
    bool hang = which == HANGING || which == HANGING_TWO, two = which == HANGING_TWO || which == STACKED;
    ct_settings settings = common_settings(which == SLIDING ? 0.35 : 0);
    settings.contact.friction = which == SLIDING ? 0.1 : 0.5;
    if (hang) settings.contact.method = CT_CONTACT_METHOD_NONE;
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    const int cells[3] = {across, two ? 3 : 6, across}, small[3] = {across - 1, 3, across - 1};
    if (status == CT_OK) status = add_slab(scene, cells, (double[]){0, THICKNESS + 1e-6, 0}, hang, error);
    if (status == CT_OK && two)
        status = add_slab(scene, small, (double[]){0, 0.06 + 3 * THICKNESS + 2e-6, 0}, hang, error);
    return status == CT_OK && !hang ? add_floor(scene, error) : status;
}

typedef struct cost {
    int tets, contacts;
    double seconds, solves;  // per step
} cost;

// Of each step the fastest of several passes from the same state.
static ct_status time_steps(run* r, cost* out) {
    ct_step_report report;
    ct_status status = CT_OK;
    double best[STEPS];
    for (int i = 0; status == CT_OK && i < WARMUP; i++)
        status = ct_step(r->model, r->work, r->state, NULL, &report);
    if (status == CT_OK) status = ct_state_copy(r->start, r->state);
    for (int pass = 0; status == CT_OK && pass < PASSES; pass++) {
        status = ct_state_copy(r->state, r->start);
        out->solves = out->contacts = 0;
        for (int i = 0; status == CT_OK && i < STEPS; i++) {
            double begun = ct_profile_cpu();
            status = ct_step(r->model, r->work, r->state, NULL, &report);
            double seconds = ct_profile_cpu() - begun;
            best[i] = pass ? fmin(best[i], seconds) : seconds;
            out->solves += (double)report.solves / STEPS;
            if (report.contacts > out->contacts) out->contacts = report.contacts;
        }
    }
    out->seconds = 0;
    for (int i = 0; status == CT_OK && i < STEPS; i++) out->seconds += best[i] / STEPS;
    return status;
}

static ct_status measure_cost(setting which, cost* out, ct_error* error) {
    ct_scene* scene = NULL;
    run r = {0};
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = fill_blocks(scene, which, 17, error);
    if (status == CT_OK) status = open_run(&r, scene, error);
    if (status == CT_OK) status = time_steps(&r, out);
    if (status == CT_OK) {
        ct_model_info info = ct_model_summary(r.model);
        out->tets = info.ntet;
    }
    close_run(&r);
    ct_scene_free(scene);
    return status;
}

static ct_status costs(ct_error* error) {
    static const char* const names[] = {"hanging, no contact", "resting", "sliding",
                                        "two, hanging, no contact", "block on block"};
    cost all[SETTINGS] = {{0}};
    printf("| blocks | tets | contacts | solves per step | ms per step | relative to hanging |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < SETTINGS; i++) {
        status = measure_cost((setting)i, &all[i], error);
        if (status != CT_OK) break;
        const cost* base = &all[i == STACKED || i == HANGING_TWO ? HANGING_TWO : HANGING];
        printf("| %s | %d | %d | %.1f | %.2f | %.2f |\n", names[i], all[i].tets, all[i].contacts,
               all[i].solves, 1e3 * all[i].seconds, all[i].seconds / base->seconds);
        fflush(stdout);
    }
    return status;
}

// ---- gradient ----

static void seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar, void* user) {
    (void)state, (void)v_bar, (void)q_bar;
    const run* r = user;
    ct_model_info info = ct_model_summary(r->model);
    const double* mass = ct_model_node_mass(r->model);
    for (int i = 0; step == GRADIENT_STEPS && i < info.nvert; i++) x_bar[3 * i] += mass[i] / info.mass;
}

static ct_status gradient_row(int across, setting which, ct_error* error) {
    ct_scene* scene = NULL;
    ct_tape* tape = NULL;
    run r = {0};
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = fill_blocks(scene, which, across, error);
    if (status == CT_OK) status = open_run(&r, scene, error);
    if (status == CT_OK) status = ct_tape_create(&tape, r.model, GRADIENT_STEPS, 0, NULL);
    ct_model_info info = {0};
    if (status == CT_OK) info = ct_model_summary(r.model);
    double *young = calloc((size_t)info.ntet + 1, sizeof(double)), forward = INFINITY, backward = INFINITY,
           residual = 0;
    if (!young && status == CT_OK) status = CT_OUT_OF_MEMORY;
    int contacts = 0;
    for (int pass = 0; status == CT_OK && pass < PASSES; pass++) {
        ct_rollout_report there;
        ct_backward_report back;
        ct_values gradient = {.of = {[CT_QUANTITY_YOUNG] = young}};
        status = ct_rollout(r.model, r.work, tape, r.state, GRADIENT_STEPS, NULL, NULL, NULL, &there);
        if (status == CT_OK) status = ct_backward(r.model, r.work, tape, NULL, seed, &r, &gradient, &back);
        if (status != CT_OK) break;
        forward = fmin(forward, there.seconds);
        backward = fmin(backward, back.seconds);
        contacts = there.last.contacts;
        residual = back.max_residual;
    }
    if (status == CT_OK)
        printf("| %s | %d | %d | %.2f | %.2f | %.2f | %.0e |\n", which == SLIDING ? "sliding" : "resting",
               info.ntet, contacts, 1e3 * forward / GRADIENT_STEPS, 1e3 * backward / GRADIENT_STEPS,
               backward / forward, residual);
    fflush(stdout);
    free(young);
    ct_tape_free(tape);
    close_run(&r);
    ct_scene_free(scene);
    return status;
}

static ct_status gradients(ct_error* error) {
    printf("| block | tets | contacts | forward, ms per step | backward, ms per step | ratio | residual of "
           "the adjoint |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < 4; i++)
        status = gradient_row(i < 2 ? 7 : 17, i % 2 ? SLIDING : RESTING, error);
    return status;
}

// ---- the command ----

static const char details[] =
    "Tables in Markdown, times in CPU time of one thread.\n"
    "convergence: iterations of the splitting methods and of the default on a block that slides down an\n"
    "  incline, to a residual of 1e-8, and the error that remains when they are truncated.\n"
    "cost: blocks of about 10,000 tets that rest, lie on one another and slide, compared with the same "
    "blocks\n"
    "  hanging from their upper faces without contact.\n"
    "scenes: every step with contact compared with its free step: from the same state, with the same "
    "residual\n"
    "  to reach, the contact forces applied as loads and contact switched off. Then the gradient. `gap` is "
    "the\n"
    "  least distance of two surfaces over the thickness they keep; a scene in which they cross says so.\n"
    "gradient: backward compared with forward.\n"
    "drops: random bodies fall on one another; a seed determines everything. Failures are listed by seed.";

static const char examples[] = "  cuttle bench contact --part cost\n"
                               "  cuttle bench contact --part scenes --only knot --steps 50\n"
                               "  cuttle bench contact --part drops --count 200\n"
                               "  cuttle bench contact --part drops --seed 17";

typedef struct part {
    const char* name;
    ct_status (*run)(const bench_contact_def* def, ct_error* error);
} part;

static ct_status run_convergence(const bench_contact_def* def, ct_error* error) {
    (void)def;
    return convergence(error);
}
static ct_status run_costs(const bench_contact_def* def, ct_error* error) {
    (void)def;
    return costs(error);
}
static ct_status run_gradients(const bench_contact_def* def, ct_error* error) {
    (void)def;
    return gradients(error);
}
static const part parts[] = {{"convergence", run_convergence},
                             {"cost", run_costs},
                             {"scenes", bench_contact_scenes},
                             {"gradient", run_gradients},
                             {"drops", bench_contact_drops}};
enum { PARTS = sizeof parts / sizeof parts[0] };

int cuttle_bench_contact(int argc, char** argv) {
    const char* name = "all";
    bench_contact_def def = {.directory = "scenes", .count = 200, .seconds = 60};
    const cli_option options[] = {
        {"--part", 0, CLI_TEXT, &name, "NAME", "convergence, cost, scenes, gradient, drops or all (default)"},
        {"--scenes", 0, CLI_TEXT, &def.directory, "DIR", "where the scene files are (default: scenes)"},
        {"--only", 0, CLI_TEXT, &def.only, "NAME", "scenes: this one alone"},
        {"--steps", 0, CLI_COUNT, &def.steps, "N", "scenes, drops: steps (default: each its own number)"},
        {"--seconds", 0, CLI_POSITIVE, &def.seconds, "S", "scenes, drops: CPU time of one, 60"},
        {"--count", 0, CLI_COUNT, &def.count, "N", "drops: how many, 200"},
        {"--seed", 0, CLI_COUNT, &def.seed, "N", "drops: the drop with this seed alone"},
        {0}};
    const cli_usage usage = {"bench contact", "",       "Measures contact on this machine.",
                             details,         examples, options};
    int code, count;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &code)) return code;
    def.alone = def.seed > 0;
    if (!def.alone) def.seed = 1;
    bool all = strcmp(name, "all") == 0, known = all;
    ct_error error = {.element = -1};
    ct_status status = CT_OK;
    for (int i = 0; i < PARTS && status == CT_OK; i++) {
        if (!all && strcmp(name, parts[i].name) != 0) continue;
        known = true;
        if (all) printf("%s%s\n\n", i ? "\n" : "", parts[i].name);
        status = parts[i].run(&def, &error);
    }
    if (!known)
        return cli_bad_usage(&usage, "--part is convergence, cost, scenes, gradient, drops or all, not '%s'",
                             name);
    if (status == CT_OK) return CLI_OK;
    if (error.code == CT_OK) error.code = status;
    if (!*error.message) snprintf(error.message, sizeof error.message, "%s", ct_status_text(status));
    return cli_report_error(&error, false);
}
