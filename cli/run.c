// cuttle run: loads a scene, steps it to its end and writes the trajectory.
//
// The file is valid after every stored frame: Ctrl-C and a step that fails both leave what was computed, and
// --resume goes on from the last frame.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

typedef struct run_options {
    const char* scene;
    const char* output;
    int steps, threads, every;  // 0: the scene's
    double duration;            // s, 0: the scene's
    int verbose;
    bool resume, force, json, quiet, settle, compress;
} run_options;

typedef struct simulation {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    ct_trajectory* file;
    int64_t first, last;  // step index at the start of this run, and to reach
    int64_t stored;       // step index of the last frame in the file, -1: none
    int every, frames;    // steps between frames, frames written by this run
    long solves, substeps, iterations;
    double max_residual;   // largest |r| / reference of a step
    bool contact;          // the scene has contact
    int contacts, passes;  // most that carried force in a step, most passes of detection and solve
    int inverted;          // most tets inside out at the end of a step
    int forgotten;         // most contacts of a step that the state had no room for
    double penetration;    // m, deepest
    double begun;          // s
    ct_settle_report settled;
} simulation;

static const char overview[] =
    "Each step is solved to the scene's tolerance; a step that does not converge even when halved "
    "ends the run.\n"
    "Ctrl-C finishes the current step, closes the file and says how to continue; a second one stops "
    "at once.";

static const char examples[] = "  cuttle run scenes/jelly.json\n"
                               "  cuttle run scenes/jelly.json -o jelly.h5 --duration 2 --every 2\n"
                               "  cuttle run scenes/jelly.json -o jelly.h5 --resume --duration 4";

// Applies what the command line changes and finds the last step.
static ct_status apply_settings(simulation* s, const run_options* options, ct_error* error) {
    ct_settings settings = ct_scene_settings(s->scene);
    if (options->duration > 0) settings.duration = options->duration;
    if (options->steps > 0) settings.duration = options->steps * settings.time_step;
    if (options->settle) settings.settle = true;
    if (options->compress) settings.output_compress = true;
    if (options->threads > 0) settings.threads = options->threads;
    if (options->every > 0) settings.output_every = options->every;
    s->every = settings.output_every > 0 ? settings.output_every : 1;
    s->last =
        options->steps > 0 ? options->steps : (int64_t)ceil(settings.duration / settings.time_step - 1e-6);
    return ct_scene_set_settings(s->scene, &settings, error);
}

// Everything up to the first step, the file excepted. Returns the exit code.
static int prepare(simulation* s, const run_options* options) {
    ct_error error = {.element = -1};
    if (ct_scene_load(&s->scene, options->scene, &error))
        return cli_report_input_error(&error, options->json);
    if (apply_settings(s, options, &error)) return cli_report_error(&error, options->json);
    if (ct_model_create(&s->model, s->scene, &error)) return cli_report_error(&error, options->json);
    if (ct_state_create(&s->state, s->model, &error) || ct_work_create(&s->work, s->model, 0, &error))
        return cli_report_error(&error, options->json);
    ct_model_info info = ct_model_summary(s->model);
    s->contact = ct_model_settings(s->model).contact.method != CT_CONTACT_METHOD_NONE;
    if (!options->quiet) {
        fprintf(stderr, "%s: %d nodes, ", options->scene, info.nvert);
        if (info.ntet || !info.ntri) fprintf(stderr, "%d tets, ", info.ntet);
        if (info.ntri) fprintf(stderr, "%d triangles of sheets, ", info.ntri);
        if (info.nobstacle)
            fprintf(stderr, "%d obstacle%s, ", info.nobstacle, info.nobstacle == 1 ? "" : "s");
        fprintf(stderr, "%.3g kg, ready in %.2f s\n", info.mass, info.setup_seconds);
    }
    if (!options->quiet && info.sliver_count > 0) {
        fprintf(
            stderr,
            "note: %d tets are slivers (quality below 0.1), which slows the solver down; remeshing helps\n",
            info.sliver_count);
    }
    for (int i = 0; !options->quiet && s->contact && i < info.nbody; i++)
        if (info.nbody + info.nobstacle > 1 && ct_model_is_driven(s->model, i))
            fprintf(
                stderr,
                "note: every node of \"%s\" is pinned or driven: it passes through obstacles, and may begin "
                "inside one\n",
                ct_model_body_name(s->model, i));
    return CLI_OK;
}

static ct_status store(simulation* s, const ct_step_report* report, ct_error* error) {
    ct_status status = ct_trajectory_append(s->file, s->model, s->state, report, error);
    if (status == CT_OK) s->stored = ct_state_step_index(s->state), s->frames++;
    return status;
}

// A motion that begins with an overlap is refused before there is a file.
static int check_start(simulation* s, const run_options* options) {
    ct_error error = {.element = -1};
    if (options->resume || !ct_state_check_start(s->model, s->work, s->state, &error)) return CLI_OK;
    return cli_report_error(&error, options->json);
}

// Flesh to rest between its bones, where that is wanted.
static int relax(simulation* s, const run_options* options) {
    ct_error error = {.element = -1};
    ct_settle_report report;
    if (options->resume || !ct_model_settings(s->model).relax) return CLI_OK;
    error.code = ct_relax(s->model, s->work, s->state, &report);
    if (error.code == CT_OK) return CLI_OK;
    snprintf(error.message, sizeof error.message, "relaxing the start: %s", report.message);
    return cli_report_error(&error, options->json);
}

// To where the scene rests, where that is wanted.
static int settle(simulation* s, const run_options* options) {
    ct_error error = {.element = -1};
    ct_settle_report report;
    if (options->resume || !ct_model_settings(s->model).settle) return CLI_OK;
    error.code = ct_settle(s->model, s->work, s->state, NULL, &report);
    if (error.code != CT_OK) {
        snprintf(error.message, sizeof error.message, "settling: %s", report.message);
        return cli_report_error(&error, options->json);
    }
    s->settled = report;
    if (!options->quiet)
        fprintf(stderr, "settled in %d iterations, %d solves: residual %.1e%s\n", report.iterations,
                report.solves, report.reference > 0 ? report.residual / report.reference : 0,
                report.contacts ? ", on contacts" : "");
    return CLI_OK;
}

// Creates the file with the initial state, or opens it behind its last frame.
static int open_file(simulation* s, const run_options* options) {
    ct_error error = {.element = -1};
    ct_status status;
    if (options->resume) {
        status = options->force ? CT_OK : cli_check_same_scene(options->scene, options->output, &error);
        if (status == CT_OK)
            status = ct_trajectory_resume(&s->file, s->model, s->state, options->output, &error);
        s->stored = ct_state_step_index(s->state);
    } else {
        status = ct_trajectory_create(&s->file, s->scene, s->model, options->output, &error);
        ct_step_report nothing = {.converged = true, .substeps = 0};
        if (status == CT_OK) status = store(s, &nothing, &error);
    }
    s->first = ct_state_step_index(s->state);
    if (status == CT_OK) return CLI_OK;
    return options->resume ? cli_report_input_error(&error, options->json)
                           : cli_report_error(&error, options->json);
}

static void print_step(const simulation* s, const ct_step_report* r) {
    fprintf(stderr, "step %5lld  t %.4f s  residual %.1e  %d solves  %d iterations  %d products  %.2f ms",
            (long long)ct_state_step_index(s->state), ct_state_time(s->state), r->residual / r->reference,
            r->solves, r->iterations, r->hessian_products, 1e3 * r->seconds);
    if (r->substeps > 1) fprintf(stderr, "  %d sub-steps", r->substeps);
    if (r->refactors > 0) fprintf(stderr, "  %d refactored", r->refactors);
    if (r->inverted > 0) fprintf(stderr, "  %d inverted", r->inverted);
    if (s->contact) {
        fprintf(stderr, "  %d contacts (%d stick, %d slip)  %d passes", r->contacts, r->sticking, r->slipping,
                r->passes);
        if (r->penetration > 0) fprintf(stderr, "  %.1e m deep", r->penetration);
    }
    fprintf(stderr, "\n");
}

static void count_step(simulation* s, const ct_step_report* report) {
    double residual = report->reference > 0 ? report->residual / report->reference : 0;
    s->max_residual = fmax(s->max_residual, residual);
    s->solves += report->solves;
    s->substeps += report->substeps;
    s->iterations += report->iterations;
    if (report->contacts > s->contacts) s->contacts = report->contacts;
    if (report->passes > s->passes) s->passes = report->passes;
    if (report->inverted > s->inverted) s->inverted = report->inverted;
    if (report->forgotten > s->forgotten) s->forgotten = report->forgotten;
    s->penetration = fmax(s->penetration, report->penetration);
}

// Steps to the end, Ctrl-C or the first failure; *error is filled only when it was the file that failed.
static ct_status step_to_end(simulation* s, const run_options* options, ct_step_report* report,
                             ct_error* error) {
    cli_progress progress = cli_progress_begin("simulating", options->quiet || options->verbose);
    ct_status status = CT_OK;
    while (status == CT_OK && ct_state_step_index(s->state) < s->last && !cli_interrupted()) {
        status = ct_step(s->model, s->work, s->state, NULL, report);
        if (status != CT_OK) break;
        count_step(s, report);
        if (options->verbose) print_step(s, report);
        int64_t step = ct_state_step_index(s->state);
        bool due = step % s->every == 0 || step >= s->last || cli_interrupted();
        if (due) status = store(s, report, error);
        char note[64] = "";
        if (s->contact) snprintf(note, sizeof note, "%d contacts", report->contacts);
        cli_progress_show(&progress, (double)(step - s->first), (double)(s->last - s->first),
                          *note ? note : NULL);
    }
    cli_progress_end(&progress);
    return status;
}

// Fills *error when it was a step that failed.
static void explain_failure(simulation* s, ct_status status, const ct_step_report* report, ct_error* error) {
    if (error->code != CT_OK) return;
    error->code = status;
    long long step = (long long)ct_state_step_index(s->state) + 1;
    double residual = report->reference > 0 ? report->residual / report->reference : NAN;
    if (status != CT_NOT_CONVERGED)
        snprintf(error->message, sizeof error->message, "step %lld: %s", step, report->message);
    else
        snprintf(error->message, sizeof error->message, "step %lld: %s (residual %.1e after %d solves). %s",
                 step, ct_status_text(status), residual, report->solves, report->message);
}

static json_t* summary(const simulation* s, const run_options* options) {
    json_t* object = json_pack(
        "{s:I, s:f, s:f, s:s, s:I, s:I, s:I, s:f, s:i, s:b}", "steps",
        (json_int_t)(ct_state_step_index(s->state) - s->first), "seconds", cli_seconds() - s->begun,
        "max_residual", s->max_residual, "file", options->output, "solves", (json_int_t)s->solves,
        "iterations", (json_int_t)s->iterations, "substeps", (json_int_t)s->substeps, "simulated_seconds",
        ct_state_time(s->state), "frames", s->frames, "complete", ct_state_step_index(s->state) >= s->last);
    if (object) json_object_set_new(object, "inverted", json_integer(s->inverted));
    if (object && s->settled.converged)
        json_object_set_new(object, "settled",
                            json_pack("{s:i, s:i, s:f, s:f, s:i}", "iterations", s->settled.iterations,
                                      "solves", s->settled.solves, "residual", s->settled.residual,
                                      "reference", s->settled.reference, "contacts", s->settled.contacts));
    if (object && s->contact)
        json_object_set_new(object, "contact",
                            json_pack("{s:i, s:f, s:i}", "most", s->contacts, "penetration", s->penetration,
                                      "passes", s->passes));
    if (object && ct_model_actuator_count(s->model))
        json_object_set_new(object, "actuators", cli_actuator_objects(s->model, s->state));
    return object;
}

static void print_summary(const simulation* s, const run_options* options) {
    int64_t steps = ct_state_step_index(s->state) - s->first;
    printf("%s: %lld steps to t = %.3f s in %.2f s", options->output, (long long)steps,
           ct_state_time(s->state), cli_seconds() - s->begun);
    if (steps > 0) {
        printf(", %.1f solves per step, worst residual %.1e", (double)s->solves / (double)steps,
               s->max_residual);
    }
    if (s->contact) {
        printf(", up to %d contacts in %d passes", s->contacts, s->passes);
        if (s->penetration > 0) printf(", deepest penetration %.1e m", s->penetration);
    }
    printf(", %d frames\n", s->frames);
    cli_warn_inverted(s->inverted);
    if (s->forgotten)
        fprintf(
            stderr,
            "warning: up to %d contacts a step started without the friction they carried before: they are "
            "more than three a surface node; coarsen the thickness or refine the mesh\n",
            s->forgotten);
    cli_print_actuators(s->model, s->state);
}

static int simulate(simulation* s, const run_options* options) {
    ct_error error = {.element = -1}, close_error = {.element = -1};
    ct_step_report report = {0};
    s->begun = cli_seconds();
    ct_status status = step_to_end(s, options, &report, &error);
    // A failed step leaves the state before it: keep that state if it is not yet in the file.
    if (status != CT_OK) explain_failure(s, status, &report, &error);
    if (s->stored < ct_state_step_index(s->state)) store(s, &report, &close_error);
    ct_status closed = ct_trajectory_close(s->file, &close_error);
    s->file = NULL;
    if (status == CT_OK && closed != CT_OK) status = closed, error = close_error;

    bool complete = status == CT_OK && ct_state_step_index(s->state) >= s->last;
    if (options->json) {
        json_t* object = summary(s, options);
        if (status != CT_OK) {
            json_t* fields =
                json_pack("{s:s, s:s}", "message", error.message, "kind", ct_status_text(status));
            json_object_set_new(object, "error", fields);
        }
        cli_print_json(object);
    } else if (!options->quiet) {
        print_summary(s, options);
    }
    if (status != CT_OK && !options->json) cli_report_error(&error, false);
    if (!complete && !options->quiet) {
        fprintf(stderr, "%s at step %lld of %lld; continue with: cuttle run %s -o %s --resume\n",
                status == CT_OK ? "Interrupted" : "Stopped", (long long)ct_state_step_index(s->state),
                (long long)s->last, options->scene, options->output);
    }
    return complete ? CLI_OK : CLI_FAILED;
}

static bool parse(run_options* o, int argc, char** argv, int* exit_code) {
    const cli_option options[] = {
        {"--output", 'o', CLI_TEXT, &o->output, "FILE",
         "trajectory to write (default: the scene's name with .h5)"},
        {"--steps", 0, CLI_COUNT, &o->steps, "N", "stop at step N, counted from the scene's start"},
        {"--duration", 0, CLI_POSITIVE, &o->duration, "S",
         "stop at S simulated seconds instead of the scene's duration"},
        {"--threads", 't', CLI_COUNT, &o->threads, "N",
         "threads (default: the scene's setting, otherwise all cores)"},
        {"--every", 0, CLI_COUNT, &o->every, "K", "store every K-th step (default: the scene's)"},
        {"--compress", 0, CLI_FLAG, &o->compress, NULL,
         "frames in single precision and deflated, about a third of the size"},
        {"--settle", 0, CLI_FLAG, &o->settle, NULL,
         "begin where the scene rests, as its key \"settle\" does"},
        {"--resume", 0, CLI_FLAG, &o->resume, NULL, "continue from the last frame of the file"},
        {"--force", 0, CLI_FLAG, &o->force, NULL, "with --resume: go on although the scene has changed"},
        {"--json", 0, CLI_FLAG, &o->json, NULL, "end with one JSON object on stdout"},
        {"--verbose", 'v', CLI_COUNTER, &o->verbose, NULL, "print what the solver did in every step"},
        {"--quiet", 'q', CLI_FLAG, &o->quiet, NULL, "print errors only"},
        {0}};
    const cli_usage usage = {"run",    "SCENE",  "Simulates a scene and writes its trajectory.",
                             overview, examples, options};
    int count;
    return cli_parse(&usage, argc, argv, &o->scene, 1, 1, &count, exit_code);
}

int cuttle_run(int argc, char** argv) {
    run_options options = {0};
    simulation s = {.stored = -1};
    char path[512];
    int code;
    if (!parse(&options, argc, argv, &code)) return code;
    if (!options.output) {
        cli_default_path(options.scene, ".h5", path, sizeof path);
        options.output = path;
    }
    cli_catch_interrupt();
    code = prepare(&s, &options);
    if (code == CLI_OK) code = relax(&s, &options);
    if (code == CLI_OK) code = check_start(&s, &options);
    if (code == CLI_OK) code = settle(&s, &options);
    if (code == CLI_OK) code = open_file(&s, &options);
    if (code == CLI_OK) code = simulate(&s, &options);
    ct_trajectory_close(s.file, NULL);
    ct_work_free(s.work);
    ct_state_free(s.state);
    ct_model_free(s.model);
    ct_scene_free(s.scene);
    return code;
}
