// cuttle grad: the loss of a scene and its gradient, with what they cost.
#include <stdio.h>

#include "problem.h"

typedef struct grad_options {
    cli_problem_def problem;
    const char *output, *motion;
    bool json;
} grad_options;

static const char overview[] =
    "Runs the scene once forward and once backward, at its starting values or at the result of an "
    "optimisation. The gradient is\n"
    "with respect to the vector that the optimiser sees: y, after the parameters' transforms.";

static const char examples[] =
    "  cuttle grad scenes/identify.json\n"
    "  cuttle grad scenes/identify.json -o gradient.csv --json\n"
    "  cuttle grad slippery.json --from found/best.json --motion slips.h5   # what was found, in a "
    "changed scene";

// One row a number: slice, index in it, physical value, y, derivative by y.
static ct_status write_table(const cli_problem* p, const char* path, ct_error* error) {
    FILE* stream = fopen(path, "w");
    bool good = stream != NULL;
    if (good) fprintf(stream, "slice,index,value,y,gradient\n");
    for (int k = 0; k < p->nslice && good; k++) {
        ct_slice slice = ct_problem_slice(p->problem, k);
        for (int i = 0, j = slice.first; i < slice.count; i++, j++)
            fprintf(stream, "%s,%d,%.17g,%.17g,%.17g\n", slice.name, i, p->values[j], p->y[j],
                    p->gradient[j]);
    }
    if (stream && (ferror(stream) | (fclose(stream) != 0))) good = false;
    return good ? CT_OK : cli_fail_writing(error, path);
}

static json_t* slice_objects(const cli_problem* p) {
    json_t* list = json_array();
    for (int k = 0; k < p->nslice; k++) {
        ct_slice slice = ct_problem_slice(p->problem, k);
        double norm = cli_norm(p->gradient + slice.first, slice.count);
        json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "name", slice.name, "count", slice.count,
                                              "gradient_norm", cli_json_number(norm)));
    }
    return list;
}

static void print_json(const cli_problem* p, const grad_options* options, double loss,
                       const ct_problem_report* r) {
    json_t* object = json_pack("{s:o, s:o, s:i, s:i, s:o}", "loss", cli_json_number(loss), "gradient_norm",
                               cli_json_number(cli_norm(p->gradient, p->size)), "size", p->size, "steps",
                               r->forward.steps, "slices", slice_objects(p));
    json_t* terms = json_array();
    for (int i = 0; i < ct_problem_term_count(p->problem); i++)
        json_array_append_new(terms, json_pack("{s:s, s:o}", "name", ct_problem_term_name(p->problem, i),
                                               "loss", cli_json_number(ct_problem_term_loss(p->problem, i))));
    json_object_set_new(object, "terms", terms);
    json_t* forward = json_pack("{s:f, s:I, s:f, s:i, s:i}", "seconds", r->forward.seconds, "solves",
                                (json_int_t)r->forward.solves, "max_residual", r->forward.max_residual,
                                "substepped", r->forward.substepped, "edges", r->forward.edges);
    json_t* backward =
        json_pack("{s:f, s:f, s:I, s:f, s:i}", "seconds", r->backward.seconds, "adjoint_seconds",
                  r->backward.adjoint_seconds, "solves", (json_int_t)r->backward.solves, "max_residual",
                  r->backward.max_residual, "replayed", r->backward.replayed);
    json_object_set_new(object, "forward", forward);
    json_object_set_new(object, "backward", backward);
    json_object_set_new(object, "tape_bytes", json_integer((json_int_t)r->tape_bytes));
    if (options->output) json_object_set_new(object, "file", json_string(options->output));
    if (options->motion) json_object_set_new(object, "motion", json_string(options->motion));
    cli_print_json(object);
}

static void print_text(const cli_problem* p, const grad_options* options, double loss,
                       const ct_problem_report* r) {
    double steps = r->forward.steps > 0 ? r->forward.steps : 1;
    printf("loss      %.9g\n", loss);
    for (int i = 0; ct_problem_term_count(p->problem) > 1 && i < ct_problem_term_count(p->problem); i++)
        printf("term      %-24s %.9g\n", ct_problem_term_name(p->problem, i),
               ct_problem_term_loss(p->problem, i));
    for (int k = 0; k < p->nslice; k++) {
        ct_slice slice = ct_problem_slice(p->problem, k);
        printf("gradient  %-24s %6d number%s  norm %.6e\n", slice.name, slice.count,
               slice.count == 1 ? " " : "s", cli_norm(p->gradient + slice.first, slice.count));
    }
    printf("forward   %.3f s, %d steps, %.2f ms and %.1f solves per step, worst residual %.1e\n",
           r->forward.seconds, r->forward.steps, 1e3 * r->forward.seconds / steps,
           (double)r->forward.solves / steps, r->forward.max_residual);
    printf("backward  %.3f s, %.2f ms and %.1f solves per step, worst residual %.1e", r->backward.seconds,
           1e3 * r->backward.seconds / steps, (double)r->backward.solves / steps, r->backward.max_residual);
    if (r->backward.replayed > 0) printf(", %d steps replayed", r->backward.replayed);
    if (r->forward.edges > 0)
        printf("\none-sided in %d step%s: a contact is on the edge between open, stick and slip",
               r->forward.edges, r->forward.edges == 1 ? "" : "s");
    printf("\nmemory    %.1f MB of states\n", 1e-6 * (double)r->tape_bytes);
    cli_warn_inverted(r->forward.inverted);
    if (options->output) printf("written   %s\n", options->output);
    if (options->motion) printf("written   %s\n", options->motion);
}

static int differentiate(cli_problem* p, const grad_options* options) {
    ct_error error = {.element = -1};
    ct_problem_report report;
    double loss;
    if (ct_problem_evaluate(p->problem, p->y, &loss, p->gradient, &report, &error))
        return cli_report_error(&error, options->json);
    ct_problem_values(p->problem, p->y, p->values);
    if (options->output && write_table(p, options->output, &error))
        return cli_report_error(&error, options->json);
    if (options->motion && ct_problem_record(p->problem, p->scene, options->motion, p->y, &error))
        return cli_report_error(&error, options->json);
    if (options->json) print_json(p, options, loss, &report);
    else print_text(p, options, loss, &report);
    return CLI_OK;
}

int cuttle_grad(int argc, char** argv) {
    grad_options o = {0};
    const cli_option options[] = {
        {"--output", 'o', CLI_TEXT, &o.output, "FILE", "write the gradient as a table (.csv)"},
        {"--from", 0, CLI_TEXT, &o.problem.from, "FILE",
         "start from a best.json of cuttle optimize (default: the scene's start)"},
        {"--motion", 0, CLI_TEXT, &o.motion, "RUN.h5", "write the motion as a trajectory"},
        {"--memory", 0, CLI_POSITIVE, &o.problem.memory, "MB",
         "keep at most this much of the states and replay the rest"},
        {"--threads", 't', CLI_COUNT, &o.problem.threads, "N",
         "threads (default: the scene's setting, otherwise all cores)"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"grad",   "SCENE",  "Computes the loss of a scene and its gradient.",
                             overview, examples, options};
    int count, code;
    if (!cli_parse(&usage, argc, argv, &o.problem.scene, 1, 1, &count, &code)) return code;
    o.problem.json = o.json;
    cli_problem p;
    code = cli_problem_open(&p, &o.problem);
    if (code == CLI_OK) code = differentiate(&p, &o);
    cli_problem_close(&p);
    return code;
}
