// cuttle optimize: minimises a scene's objective over its parameters.
//
// After every evaluation the best so far and what was found are on disk: Ctrl-C and a killed run lose
// nothing. --resume begins the same search again and tells it what is known (search_log.h); where settings or
// the scene have changed since, it goes on from the best.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search_files.h"
#include "search_log.h"
#include "search_view.h"

typedef struct optimize_options {
    cli_problem_def problem;
    const char *directory, *method;
    int iterations, seed;  // 0, -1: the scene's
    double target, rate;   // NAN, 0: the scene's
    double time_limit;     // s, 0: none
    bool resume, view, json, quiet;
} optimize_options;

typedef struct search {
    const optimize_options* options;
    cli_problem p;
    search_files files;
    search_log log;
    search_view view;
    ct_optimize_def def;
    ct_optimize_report report;
    search_best earlier;  // of searches before this one; iteration 0: there were none
    double* kept;         // p.size, the best that --resume found: it stays until there is a better one
    double kept_loss;
    double least;           // loss of the best that this run has evaluated
    int inverted;           // most tets inside out at the end of a step there
    double drawn;           // s, when the plot was last drawn
    double begun;           // s
    int evaluation;         // the one that runs
    cli_progress progress;  // of its steps
    char failure[512];      // why the last one failed
    ct_status status;       // of the files
    ct_error error;
} search;

static const char overview[] =
    "Writes to its directory: best.json (the best parameters so far), loss.csv and loss.png (the "
    "loss over the\n"
    "evaluations) and, at the end, result.h5 (the motion at the best). Ctrl-C ends the search after "
    "the current evaluation.\n"
    "--resume continues the search (evaluations.bin), or starts from best.json if the scene or the "
    "options have changed since;\n"
    "--iterations counts the evaluations of all runs together. An evaluation that fails counts as a large "
    "loss; failed.json has\n"
    "the parameters of the last one and the reason, and `cuttle grad --from failed.json` looks at it again. "
    "Methods with gradients:\n"
    "  lbfgs  for smooth losses, the default        mma    with many active bounds\n"
    "  adam   for long or rough rollouts            slsqp  for few parameters\n"
    "and without:\n"
    "  cmaes      covariance matrix adaptation      bobyqa       quadratic models\n"
    "  evolution  tournaments, crossover, mutation  nelder_mead  a simplex";

static const char examples[] =
    "  cuttle optimize scenes/identify.json -o identify\n"
    "  cuttle optimize scenes/identify.json -o identify --resume --iterations 200\n"
    "  cuttle optimize scenes/throw.json --method adam --target 1e-4 --json\n"
    "  cuttle optimize scenes/throw.json --method cmaes --iterations 500 --seed 3";

// ---- while it runs -------------------------------------------------------------------------

static bool is_late(const search* s) {
    return s->options->time_limit > 0 && cli_seconds() - s->begun > s->options->time_limit;
}

static bool cancels(void* user) { return is_late(user); }

// A term that adds nothing: it sees every state on the way forward and back.
static void on_state(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                     double* q_bar, void* user) {
    search* s = user;
    int steps = ct_problem_steps(s->p.problem);
    char note[80];
    (void)loss, (void)v_bar, (void)q_bar;
    if (!x_bar) search_view_state(&s->view, step, state);
    snprintf(note, sizeof note, "evaluation %d, %s, step %d of %d", s->evaluation,
             x_bar ? "backward" : "forward", step, steps);
    cli_progress_show(&s->progress, x_bar ? 2 * steps - step : step, 2 * steps, note);
}

static void print_progress(const search* s, const ct_progress* progress, int iteration, double best,
                           double seconds) {
    if (progress->failed)
        fprintf(stderr, "%5d  failed, counts as a large loss  %.1f s: %s\n", iteration, seconds, s->failure);
    else if (isnan(progress->gradient_norm))
        fprintf(stderr, "%5d  loss %.6e  best %.6e  %.1f s\n", iteration, progress->loss, best, seconds);
    else
        fprintf(stderr, "%5d  loss %.6e  best %.6e  gradient %.3e  %.1f s\n", iteration, progress->loss, best,
                progress->gradient_norm, seconds);
}

// The best of this run and the earlier ones.
static search_best best_of(const search* s, const ct_progress* progress) {
    bool kept = s->kept && s->kept_loss < progress->best;
    return (search_best){.iteration = s->earlier.iteration + progress->iteration,
                         .loss = kept ? s->kept_loss : progress->best,
                         .seconds = s->earlier.seconds + progress->seconds,
                         .method = ct_method_name(s->def.method),
                         .y = kept ? s->kept : progress->best_y};
}

static void keep_failure(search* s, const double* y, const ct_error* error) {
    search_best failed = {.iteration = s->earlier.iteration + s->evaluation,
                          .loss = NAN,
                          .seconds = s->earlier.seconds + cli_seconds() - s->begun,
                          .method = ct_method_name(s->def.method),
                          .y = y,
                          .failure = s->failure};
    snprintf(s->failure, sizeof s->failure, "%s", error->message);
    s->status = search_files_write_failed(&s->files, &s->p, &failed, &s->error);
}

static ct_status evaluate(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                          ct_error* error) {
    search* s = user;
    (void)count;  // one at a time
    snprintf(s->failure, sizeof s->failure, "known from an earlier run");
    s->evaluation++;
    if (search_log_recall(&s->log, y, gradients, results)) return CT_OK;
    ct_problem_report report;
    s->progress = cli_progress_begin("optimize", s->options->quiet);
    search_view_begin(&s->view);
    results->status = ct_problem_evaluate(s->p.problem, y, &results->loss, gradients, &report, error);
    cli_progress_end(&s->progress);
    results->measure = report.measure;
    results->forward_seconds = report.forward.seconds;
    results->backward_seconds = report.backward.seconds;
    if (results->status == CT_OK && !(results->loss >= s->least))
        s->least = results->loss, s->inverted = report.forward.inverted, search_view_best(&s->view);
    if (results->status == CT_NOT_CONVERGED) keep_failure(s, y, error);
    if (s->status == CT_OK && (results->status == CT_OK || results->status == CT_NOT_CONVERGED))
        s->status = search_log_append(&s->log, y, gradients, results, &s->error);
    return CT_OK;
}

static bool on_progress(const ct_progress* progress, void* user) {
    search* s = user;
    search_best best = best_of(s, progress);
    search_row row = {best.iteration, progress->loss, best.loss, progress->gradient_norm, best.seconds};
    bool known = progress->iteration <= s->log.recalled;
    if (!s->options->quiet && !known) print_progress(s, progress, best.iteration, best.loss, best.seconds);
    if (s->status == CT_OK && best.iteration > s->files.nrow)
        s->status = search_files_append(&s->files, &row, &s->error);
    if (s->status == CT_OK && !known) s->status = search_files_write_best(&s->files, &s->p, &best, &s->error);
    if (s->status == CT_OK && cli_seconds() - s->drawn > 2) {
        s->status = search_files_draw(&s->files, &s->error);
        s->drawn = cli_seconds();
    }
    search_view_progress(&s->view, &s->files, ct_method_name(s->def.method), NULL);
    return s->status == CT_OK && !cli_interrupted() && !is_late(s);
}

// ---- before and after ----------------------------------------------------------------------

enum { MOST_METHODS = 32 };

static int choose_method(search* s, const cli_usage* usage) {
    const char* name = s->options->method;
    if (!name) return CLI_OK;
    if (ct_method_find(name, &s->def.method)) return CLI_OK;
    const char* names[MOST_METHODS];
    char list[256];
    int count = 0;
    while (count < MOST_METHODS && ct_method_name((ct_method)count))
        names[count] = ct_method_name((ct_method)count), count++;
    cli_list(names, count, "and", list, sizeof list);
    const char* nearest = cli_nearest(name, names, count);
    return cli_bad_usage(usage, "there is no method '%s'; did you mean '%s'? There are %s", name,
                         nearest ? nearest : names[0], list);
}

// Is the loss at the best still what it was? Then what else is known holds as well.
static bool is_same_scene(search* s) {
    double loss;
    ct_error error;
    if (ct_problem_evaluate(s->p.problem, s->p.y, &loss, NULL, NULL, &error)) return false;
    double first = s->files.nrow > 0 ? fabs(s->files.row[0].loss) : 0;
    return fabs(loss - s->earlier.loss) <= 1e-6 * fabs(s->earlier.loss) + 1e-9 * first;
}

// The search that --resume found, from its start; or a new one, from the best or the scene's start.
static ct_status begin_log(search* s) {
    double* start = s->p.values;  // scratch
    int first;
    bool same =
        s->options->resume && search_log_open(&s->log, s->files.log, s->p.size, &s->def, start, &first);
    if (same && is_same_scene(s)) {
        double* best = s->p.y;
        s->kept = malloc((size_t)s->p.size * sizeof *s->kept);
        if (!s->kept)
            return s->error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"},
                   CT_OUT_OF_MEMORY;
        memcpy(s->kept, best, (size_t)s->p.size * sizeof *best);
        memcpy(s->p.y, start, (size_t)s->p.size * sizeof *start);
        s->kept_loss = s->earlier.loss;
        s->earlier.iteration = first;
        return CT_OK;
    }
    search_log_end(&s->log);
    return search_log_begin(&s->log, s->files.log, s->p.size, &s->def, s->p.y, s->earlier.iteration,
                            &s->error);
}

static int prepare(search* s, const cli_usage* usage) {
    const optimize_options* o = s->options;
    int code = cli_problem_open(&s->p, &o->problem);
    if (code != CLI_OK) return code;
    s->def = ct_scene_optimize_def(s->p.scene);
    code = choose_method(s, usage);
    if (code != CLI_OK) return code;
    if (o->iterations > 0) s->def.iterations = o->iterations;
    if (!isnan(o->target)) s->def.target = o->target;
    if (o->rate > 0) s->def.rate = o->rate;
    if (o->seed >= 0) s->def.seed = (uint64_t)o->seed;

    if (search_files_begin(&s->files, o->directory, !o->resume, &s->error))
        return cli_report_error(&s->error, o->json);
    if (o->resume && search_files_resume(&s->files, s->p.size, s->p.y, &s->earlier, &s->error))
        return cli_report_input_error(&s->error, o->json);
    if (search_files_open_table(&s->files, &s->error)) return cli_report_error(&s->error, o->json);
    if (begin_log(s)) return cli_report_error(&s->error, o->json);
    s->def.iterations -= s->earlier.iteration;
    s->def.seed += (uint64_t)s->earlier.iteration;   // not the same random numbers again
    if (s->earlier.iteration > 0) s->def.noise = 0;  // nor another start
    if (o->view && search_view_start(&s->view, &s->p, o->quiet, &s->error))
        return cli_report_error(&s->error, o->json);
    if (!o->quiet)
        fprintf(stderr, "%s: %d parameters, %d steps, %s, at most %d evaluations\n", o->problem.scene,
                s->p.size, ct_problem_steps(s->p.problem), ct_method_name(s->def.method),
                s->def.iterations > 0 ? s->def.iterations : 0);
    return CLI_OK;
}

static void print_result(const search* s) {
    const optimize_options* o = s->options;
    int iterations = s->earlier.iteration + s->report.iterations;
    double seconds = s->earlier.seconds + s->report.seconds;
    if (o->json) {
        json_t* files = json_pack("{s:s, s:s, s:s, s:s}", "best", s->files.best, "table", s->files.table,
                                  "plot", s->files.plot, "trajectory", s->files.result);
        cli_print_json(json_pack("{s:o, s:i, s:i, s:f, s:s, s:s, s:b, s:o}", "loss",
                                 cli_json_number(s->report.loss), "iterations", iterations, "failures",
                                 s->report.failures, "seconds", seconds, "method",
                                 ct_method_name(s->def.method), "reason", s->report.reason, "interrupted",
                                 cli_interrupted(), "files", files));
    } else if (!o->quiet) {
        printf("loss %.9g after %d evaluations in %.1f s: %s\n%s\n%s\n", s->report.loss, iterations, seconds,
               s->report.reason, s->files.best, s->files.result);
    }
    cli_warn_inverted(s->inverted);
    if (cli_interrupted() && !o->quiet)
        fprintf(stderr, "Interrupted; continue with: cuttle optimize %s -o %s --resume\n", o->problem.scene,
                o->directory);
}

static int optimize(search* s) {
    const optimize_options* o = s->options;
    s->report = (ct_optimize_report){.loss = s->earlier.loss, .reason = "the iterations are used up"};
    s->drawn = s->begun = cli_seconds();
    s->least = INFINITY;
    if (s->def.iterations > 0) {
        ct_error error = {.element = -1};
        double *lower = malloc(2 * (size_t)s->p.size * sizeof *lower),
               *upper = lower ? lower + s->p.size : NULL;
        if (!lower) return cli_report_status(CT_OUT_OF_MEMORY, "starting the search", o->json);
        ct_problem_bounds(s->p.problem, lower, upper);
        ct_problem_set_term(s->p.problem, on_state, s);
        if (o->time_limit > 0) ct_problem_set_cancel(s->p.problem, cancels, s);
        ct_function function = {
            .size = s->p.size, .lower = lower, .upper = upper, .evaluate = evaluate, .user = s, .most = 1};
        ct_status status =
            ct_function_optimize(&function, &s->def, s->p.y, on_progress, s, &s->report, &error);
        free(lower);
        if (status == CT_CANCELLED && isfinite(s->report.loss)) status = CT_OK;  // late, with something found
        if (is_late(s)) s->report.reason = "the time limit is reached";
        if (status != CT_OK) return cli_report_error(&error, o->json);
        if (s->status != CT_OK) return cli_report_error(&s->error, o->json);
    }
    ct_problem_set_term(s->p.problem, NULL, NULL);
    ct_problem_set_cancel(s->p.problem, NULL, NULL);
    if (s->kept && s->kept_loss < s->report.loss) {
        memcpy(s->p.y, s->kept, (size_t)s->p.size * sizeof *s->kept);
        s->report.loss = s->kept_loss;
    }
    if (search_files_draw(&s->files, &s->error)) return cli_report_error(&s->error, o->json);
    search_view_progress(&s->view, &s->files, ct_method_name(s->def.method), s->report.reason);
    if (ct_problem_record(s->p.problem, s->p.scene, s->files.result, s->p.y, &s->error))
        return cli_report_error(&s->error, o->json);
    print_result(s);
    return cli_interrupted() ? CLI_FAILED : CLI_OK;
}

int cuttle_optimize(int argc, char** argv) {
    optimize_options o = {.target = NAN, .seed = -1};
    const cli_option options[] = {
        {"--output", 'o', CLI_TEXT, &o.directory, "DIR",
         "directory to write into (default: the scene's name with -optimized)"},
        {"--method", 'm', CLI_TEXT, &o.method, "M", "see above (default: the scene's)"},
        {"--iterations", 'n', CLI_COUNT, &o.iterations, "N",
         "maximum number of evaluations (default: the scene's)"},
        {"--target", 0, CLI_NUMBER, &o.target, "L", "stop when the loss is at most L (default: the scene's)"},
        {"--rate", 0, CLI_POSITIVE, &o.rate, "R", "step of adam (default: the scene's)"},
        {"--seed", 0, CLI_INTEGER, &o.seed, "S",
         "seed of all random numbers, at least 0 (default: the scene's)"},
        {"--time-limit", 0, CLI_POSITIVE, &o.time_limit, "S",
         "end after S seconds, the evaluation that then runs unfinished"},
        {"--memory", 0, CLI_POSITIVE, &o.problem.memory, "MB",
         "keep at most this much of the states and replay the rest"},
        {"--threads", 't', CLI_COUNT, &o.problem.threads, "N",
         "threads (default: the scene's setting, otherwise all cores)"},
        {"--resume", 0, CLI_FLAG, &o.resume, NULL, "continue the search in the directory"},
        {"--view", 0, CLI_FLAG, &o.view, NULL, "show the loss and the best motion in a browser"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "end with one JSON object on stdout"},
        {"--quiet", 'q', CLI_FLAG, &o.quiet, NULL, "print errors only"},
        {0}};
    const cli_usage usage = {"optimize", "SCENE",  "Minimises a scene's objective over its parameters.",
                             overview,   examples, options};
    char path[512];
    int count, code;
    if (!cli_parse(&usage, argc, argv, &o.problem.scene, 1, 1, &count, &code)) return code;
    if (o.seed < -1) return cli_bad_usage(&usage, "--seed takes a whole number, at least 0, not %d", o.seed);
    if (!o.directory) {
        cli_default_path(o.problem.scene, "-optimized", path, sizeof path);
        o.directory = path;
    }
    o.problem.json = o.json;
    search s = {.options = &o, .error.element = -1};
    cli_catch_interrupt();
    code = prepare(&s, &usage);
    if (code == CLI_OK) code = optimize(&s);
    search_view_stop(&s.view);
    free(s.kept);
    search_log_end(&s.log);
    search_files_end(&s.files);
    cli_problem_close(&s.p);
    return code;
}
