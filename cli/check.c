// cuttle check: the gradient of a scene against central differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

typedef struct check_options {
    cli_problem_def problem;
    ct_check_def check;
    bool fresh, json;
} check_options;

static const char overview[] =
    "Some numbers of every parameter are moved up and down by several step sizes, and the change of the "
    "loss\n"
    "is compared with the gradient. The slope of the error over the step size is 2 where the gradient is\n"
    "right and about 0 where it is wrong; '-' means that the largest step already reached round-off. Where\n"
    "contacts switch between the rollouts (open, stick, slip) the loss has a kink and differences are not\n"
    "derivatives: those contacts are named.\n"
    "\n"
    "Steps are solved to 1e-12 here, so that differences do not show the solver. Scenes in which bodies "
    "touch\n"
    "themselves may not reach that: --tolerance 1e-10 asks for less. The report says what was reached.\n"
    "\n"
    "The differences come from one model whose values are changed. With --fresh the scene is built anew for\n"
    "each of them, as if the values had been written into its file: slower, and the judge of what a model\n"
    "keeps when its values change.";

static const char examples[] =
    "  cuttle check scenes/identify.json\n"
    "  cuttle check scenes/identify.json --fresh               # against freshly built scenes\n"
    "  cuttle check scenes/incline.json --tolerance 1e-10      # where contacts cannot reach 1e-12\n"
    "  cuttle check scenes/identify.json --components 20 --error 1e-7 --json\n"
    "  cuttle check scenes/octopus.json --from found/best.json --slices 6 -n 2   # at the result of an "
    "optimisation";

static double largest_error(const ct_check_slice* slices, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, slices[k].relative_error);
    return most;
}

static double largest_residual(const ct_check_slice* slices, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, slices[k].residual);
    return most;
}

static bool all_unresolved(const ct_check_slice* slices, int count) {
    for (int k = 0; k < count; k++)
        if (!slices[k].skipped && !slices[k].unresolved) return false;
    return true;
}

static bool all_passed(const ct_check_slice* slices, int count) {
    for (int k = 0; k < count; k++)
        if (!slices[k].passed) return false;
    return true;
}

static double solver_tolerance(const cli_problem* p) { return ct_scene_settings(p->scene).tolerance; }

static const char* collider_name(const cli_problem* p, int collider) {
    int nbody = ct_scene_body_count(p->scene);
    return collider < nbody ? ct_scene_body_name(p->scene, collider)
                            : ct_scene_obstacle_name(p->scene, collider - nbody);
}

static int switch_count(const ct_check_slice* s) {
    return s->switches < CT_SWITCHES ? s->switches : CT_SWITCHES;
}

static json_t* switch_objects(const cli_problem* p, const ct_check_slice* s) {
    json_t* list = json_array();
    for (int i = 0; i < switch_count(s); i++) {
        const ct_contact_switch* at = &s->switched[i];
        json_t* nodes = json_array();
        for (int k = 0; k < 4 && at->node[k] >= 0; k++)
            json_array_append_new(nodes, json_integer(at->node[k]));
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:s, s:s, s:o, s:s, s:s}", "step", at->step, "type",
                                        ct_contact_type_name(at->type), "a", collider_name(p, at->a), "b",
                                        collider_name(p, at->b), "nodes", nodes, "from",
                                        ct_contact_set_name(at->from), "to", ct_contact_set_name(at->to)));
    }
    return list;
}

static void print_switches(const cli_problem* p, const ct_check_slice* s) {
    for (int i = 0; i < switch_count(s); i++) {
        const ct_contact_switch* at = &s->switched[i];
        printf("       at step %d %s and %s (%s, node%s", at->step, collider_name(p, at->a),
               collider_name(p, at->b), ct_contact_type_name(at->type), at->node[1] >= 0 ? "s" : "");
        for (int k = 0; k < 4 && at->node[k] >= 0; k++) printf(" %d", at->node[k]);
        if (at->from == at->to) printf(") start or stop sharing nodes with other contacts\n");
        else printf(") switch from %s to %s\n", ct_contact_set_name(at->from), ct_contact_set_name(at->to));
    }
    if (s->switches > CT_SWITCHES) printf("       and %d more\n", s->switches - CT_SWITCHES);
    if (s->halved >= 0)
        printf("       step %d is halved in some of the rollouts and not in the others\n", s->halved);
}

static void print_json(const cli_problem* p, const check_options* options, const ct_check_slice* slices) {
    json_t* list = json_array();
    for (int k = 0; k < p->nslice; k++) {
        const ct_check_slice* s = &slices[k];
        if (s->skipped) continue;
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:b, s:o, s:o, s:i, s:o, s:o, s:o, s:i, s:o, s:o}", "name", s->name,
                            "passed", s->passed, "unresolved", s->unresolved, "relative_error",
                            cli_json_number(s->relative_error), "slope", cli_json_number(s->slope), "worst",
                            s->worst, "gradient", cli_json_number(s->worst_gradient), "difference",
                            cli_json_number(s->worst_difference), "residual", cli_json_number(s->residual),
                            "switches", s->switches, "switched", switch_objects(p, s), "halved",
                            s->halved >= 0 ? json_integer(s->halved) : json_null()));
    }
    cli_print_json(json_pack("{s:b, s:o, s:b, s:f, s:o, s:o}", "passed", all_passed(slices, p->nslice),
                             "max_relative_error", cli_json_number(largest_error(slices, p->nslice)), "fresh",
                             options->fresh, "tolerance", solver_tolerance(p), "residual",
                             cli_json_number(largest_residual(slices, p->nslice)), "slices", list));
}

static void print_text(const cli_problem* p, const check_options* options, const ct_check_slice* slices) {
    for (int k = 0; k < p->nslice; k++) {
        const ct_check_slice* s = &slices[k];
        char slope[32] = "-";
        if (s->skipped) continue;
        if (isfinite(s->slope)) snprintf(slope, sizeof slope, "%.2f", s->slope);
        printf("%-6s %-24s error %.2e  slope %5s",
               s->unresolved ? "small"
               : s->passed   ? "ok"
                             : "FAILED",
               s->name, s->relative_error, slope);
        if (isinf(s->relative_error)) printf("  no rollout other than the start converges\n");
        else
            printf("  worst: number %d, gradient %.9e, difference %.9e\n", s->worst, s->worst_gradient,
                   s->worst_difference);
        if (!s->passed && (s->switches || s->halved >= 0)) {
            printf("       these differences are not derivatives: contacts switch between the rollouts\n");
            print_switches(p, s);
        } else if (!s->passed && isfinite(s->relative_error) && s->slope > 1.5) {
            double finer = options->check.step * sqrt(options->check.tolerance / s->relative_error) / 2;
            printf("       the error falls with the step, as it does when the gradient is right: a smaller "
                   "step may "
                   "pass (--step %.0e)\n",
                   finer);
        }
    }
    bool unresolved = false;
    for (int k = 0; k < p->nslice; k++) unresolved |= slices[k].unresolved;
    if (unresolved)
        printf("'small': the loss changes by less than its round-off, and nothing was compared; a larger "
               "--step may help.\n");
    printf("Steps were solved to %.1e (asked: %.1e)%s.\n", largest_residual(slices, p->nslice),
           solver_tolerance(p), options->fresh ? ", each difference in freshly built scenes" : "");
    if (all_unresolved(slices, p->nslice)) return;
    if (all_passed(slices, p->nslice))
        printf("The gradient is right to %.1e.\n", largest_error(slices, p->nslice));
    else printf("The gradient differs by more than %.1e.\n", options->check.tolerance);
}

// A rollout that does not converge where nothing was moved: too much may have been asked of the solver.
static int report_failure(const cli_problem* p, ct_error* error, bool json) {
    size_t length = strlen(error->message);
    if (strstr(error->message, ct_status_text(CT_NOT_CONVERGED)))
        snprintf(error->message + length, sizeof error->message - length,
                 " (asked for a residual of %.0e: --tolerance %.0e asks for less)", solver_tolerance(p),
                 100 * solver_tolerance(p));
    return cli_report_error(error, json);
}

static int compare(cli_problem* p, const check_options* options) {
    ct_error error = {.element = -1};
    ct_check_def def = options->check;
    if (options->fresh) def.scene = p->scene;
    ct_check_slice* slices = calloc((size_t)p->nslice, sizeof *slices);
    if (!slices) return cli_report_status(CT_OUT_OF_MEMORY, "checking the gradient", options->json);
    int code = CLI_FAILED;
    if (ct_problem_check(p->problem, p->y, &def, slices, &error)) {
        code = report_failure(p, &error, options->json);
    } else {
        if (options->json) print_json(p, options, slices);
        else print_text(p, options, slices);
        if (all_passed(slices, p->nslice) && !all_unresolved(slices, p->nslice)) code = CLI_OK;
    }
    free(slices);
    return code;
}

int cuttle_check(int argc, char** argv) {
    check_options o = {.problem.tolerance = 1e-12, .check = ct_check_def_default()};
    const cli_option options[] = {
        {"--components", 'n', CLI_COUNT, &o.check.components, "N",
         "numbers to test in each parameter (default: 4)"},
        {"--slices", 0, CLI_COUNT, &o.check.slices, "N",
         "parameters to test, spread over all (default: all)"},
        {"--from", 0, CLI_TEXT, &o.problem.from, "FILE",
         "start from a best.json of cuttle optimize (default: the scene's start)"},
        {"--fresh", 0, CLI_FLAG, &o.fresh, NULL, "build the scene anew for every difference"},
        {"--tolerance", 0, CLI_POSITIVE, &o.problem.tolerance, "T",
         "tolerance of the solver, at most the scene's (default: 1e-12)"},
        {"--error", 0, CLI_POSITIVE, &o.check.tolerance, "E",
         "largest relative error that passes (default: 1e-6)"},
        {"--step", 0, CLI_POSITIVE, &o.check.step, "H",
         "largest relative step of the differences (default: 1e-3)"},
        {"--threads", 't', CLI_COUNT, &o.problem.threads, "N",
         "threads (default: the scene's setting, otherwise all cores)"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"check",  "SCENE",  "Compares the gradient of a scene with central differences.",
                             overview, examples, options};
    int count, code;
    if (!cli_parse(&usage, argc, argv, &o.problem.scene, 1, 1, &count, &code)) return code;
    o.problem.json = o.json;
    cli_problem p;
    code = cli_problem_open(&p, &o.problem);
    if (code == CLI_OK) code = compare(&p, &o);
    cli_problem_close(&p);
    return code;
}
