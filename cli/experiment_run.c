// The searches of an experiment: every method from every start, over one batch of workers; see experiment.h.
//
// As many searches run at the same time as there are workers, in the order of the methods, each in a thread
// of its own that mostly waits for the batch. What a search finds depends on its method and seed alone, so
// that the tables are the same for any number of workers, and a search that was cut short is led to where it
// was by telling it what it found.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"

enum { RESTARTS = 1000 };  // of methods without gradients: until the budget is used up

int experiment_budget(const experiment* e, int method) {
    int episodes = e->options->episodes > 0 ? e->options->episodes : e->kind.episodes;
    return method == 0 ? (e->def.iterations < episodes ? e->def.iterations : episodes) : episodes;
}

ct_optimize_def experiment_def(const experiment* e, int method, int seed, int budget) {
    ct_optimize_def def = e->def;
    def.seed = (uint64_t)seed;
    if (!(def.noise > 0)) def.noise = e->kind.noise;
    def.iterations = budget;
    if (method == 0) return def;
    def.method = experiment_methods[method].method;
    def.tolerance = 0;
    def.restarts = RESTARTS;
    def.spread = experiment_spread(e, method);
    return def;
}

static ct_optimize_def def_of(const experiment* e, const experiment_search* s) {
    return experiment_def(e, s->method, s->seed, s->budget);
}

// ---- which searches ------------------------------------------------------------------------

static experiment_search* find_search(experiment* e, int method, int seed) {
    for (int k = 0; k < e->nsearch; k++)
        if (e->search[k].method == method && e->search[k].seed == seed) return &e->search[k];
    return NULL;
}

// What is known of a search, as far as its budget goes.
static int use_known(experiment* e, experiment_search* s) {
    experiment_table* known = &e->known[s->method];
    int count = 0;
    for (int i = 0; i < known->nrow; i++) {
        experiment_row* row = &known->row[i];
        if (row->seed != s->seed) continue;
        if (!s->known) s->known = row;
        row->spent = row->episode > s->budget;
        count += !row->spent;
    }
    return s->nknown = count;
}

ct_status experiment_plan(experiment* e, ct_error* error) {
    size_t most = (size_t)e->nsearch + (size_t)e->options->seeds * EXPERIMENT_METHODS;
    experiment_search* list = realloc(e->search, most * sizeof *list);
    if (!list) return *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1}, CT_OUT_OF_MEMORY;
    e->search = list;
    e->next = e->nsearch;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        bool pending = false;
        for (int seed = 1; seed <= e->options->seeds && e->options->wanted[m]; seed++) {
            experiment_search* s = find_search(e, m, seed);
            const double spread = m > 0 ? experiment_spread(e, m) : 0;
            const bool same = s && (m == 0 || s->spread == spread);
            if (same && (s->converged || s->episodes >= experiment_budget(e, m))) continue;
            if (s) {  // shorter than is wanted now, or with another spread
                if (experiment_set_aside(e, m, seed, error)) return error->code;
                memmove(s, s + 1, (size_t)(e->search + e->nsearch - s - 1) * sizeof *s);
                e->nsearch--, e->next--;
            }
            e->search[e->nsearch++] = (experiment_search){
                .method = m, .seed = seed, .budget = experiment_budget(e, m), .spread = spread};
            pending = true;
        }
        for (int k = e->next; k < e->nsearch; k++) {  // once the rows stay where they are
            if (e->search[k].method != m) continue;
            int known = use_known(e, &e->search[k]);
            e->recalled += known;
            e->episodes_total += e->search[k].budget - known;
        }
        if (pending && experiment_open_table(e, m, error)) return error->code;
    }
    return CT_OK;
}

// ---- one search ----------------------------------------------------------------------------

static bool is_over(const experiment* e) { return cli_interrupted() || experiment_late(e->options); }

typedef struct runner {  // a search on its way
    experiment* e;
    experiment_search* search;
    double best_distance;
    int reached;        // episode in which the goal was, 0: not yet
    double start;       // m
    int recalled;       // episodes that were known
    ct_status status;   // of the files
    char failure[512];  // why the last point that failed did
    ct_error error;
} runner;

// The search has come to another point than the earlier run, of another version of the program, say: the rest
// of that run is of no use.
static void stop_recalling(runner* r) {
    experiment* e = r->e;
    experiment_search* s = r->search;
    pthread_mutex_lock(&e->lock);
    for (int i = r->recalled; i < s->nknown; i++) s->known[i].spent = true;
    e->episodes_total += s->nknown - r->recalled;
    s->nknown = r->recalled;
    r->status = experiment_open_table(e, s->method, &r->error);
    pthread_mutex_unlock(&e->lock);
}

// How many of the points are known; their results.
static int recall(runner* r, int count, const double* y, ct_evaluation* results) {
    const experiment_search* s = r->search;
    for (int k = 0; k < count; k++, y += r->e->p.size) {
        if (r->recalled == s->nknown) return k;
        const experiment_row* row = &s->known[r->recalled];
        if (row->point != cli_point(y, r->e->p.size)) {
            stop_recalling(r);
            return k;
        }
        results[k] = (ct_evaluation){isnan(row->loss) ? CT_NOT_CONVERGED : CT_OK, row->loss, row->distance,
                                     row->forward, row->backward};
        r->recalled++;
    }
    return count;
}

static ct_status evaluate(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                          ct_error* error) {
    runner* r = user;
    int known = gradients ? 0 : recall(r, count, y, results);
    if (known == count) return CT_OK;
    error->message[0] = 0;
    ct_status status = ct_batch_evaluate(r->e->batch, count - known, y + (size_t)known * (size_t)r->e->p.size,
                                         gradients, results + known, error);
    snprintf(r->failure, sizeof r->failure, "%s", error->message);
    return status;
}

static void keep_best(runner* r, const ct_progress* progress) {
    experiment* e = r->e;
    bool better = e->best.iteration == 0 || progress->loss < e->best.loss;
    if (progress->failed || r->status != CT_OK || !better) return;
    memcpy(e->best_y, progress->y, (size_t)e->p.size * sizeof(double));
    ct_optimize_def def = def_of(e, r->search);
    e->best = (search_best){.iteration = progress->iteration,
                            .loss = progress->loss,
                            .seconds = progress->seconds,
                            .method = ct_method_name(def.method),
                            .y = e->best_y};
    e->best_seed = r->search->seed;
    e->best_distance = progress->measure;
    e->improved = true;
    r->status = search_files_write_best(&e->files, &e->p, &e->best, &r->error);
    if (r->status == CT_OK) r->status = experiment_save(e, &r->error);
}

// failed.json and a line of failures.csv.
static void keep_failure(runner* r, const ct_progress* progress) {
    experiment* e = r->e;
    const experiment_search* s = r->search;
    char path[SEARCH_PATH];
    ct_optimize_def def = def_of(e, s);
    search_best failed = {.iteration = progress->iteration,
                          .loss = NAN,
                          .seconds = progress->seconds,
                          .method = ct_method_name(def.method),
                          .y = progress->y,
                          .failure = r->failure};
    if (r->status == CT_OK) r->status = search_files_write_failed(&e->files, &e->p, &failed, &r->error);
    experiment_path(e, "failures.csv", path);
    FILE* stream = fopen(path, "a");
    if (!stream) return;
    fprintf(stream, "%s,%d,%d,\"%s\"\n", experiment_methods[s->method].name, s->seed, progress->iteration,
            r->failure);
    fclose(stream);
}

static void show_episode(runner* r, const ct_progress* progress) {
    experiment* e = r->e;
    const experiment_search* s = r->search;
    char note[160];
    double percent = 100 * r->best_distance / r->start;
    if (e->options->quiet) return;
    if (e->options->verbose || e->alone) {
        fprintf(stderr, "%s, %s, seed %d, episode %3d: ", e->kind.name, experiment_methods[s->method].name,
                s->seed, progress->iteration);
        if (progress->failed) fprintf(stderr, "failed: %s\n", r->failure);
        else
            fprintf(stderr, "distance %.5f, best %.5f (%.1f %% of the start)\n", progress->measure,
                    r->best_distance, percent);
        return;
    }
    snprintf(note, sizeof note, "%s, seed %d: %.1f %% of the start after %d",
             experiment_methods[s->method].name, s->seed, percent, progress->iteration);
    cli_progress_show(&e->progress, e->episodes_done, e->episodes_total, note);
}

static bool on_progress(const ct_progress* progress, void* user) {
    runner* r = user;
    experiment* e = r->e;
    pthread_mutex_lock(&e->lock);
    if (!progress->failed) r->best_distance = fmin(r->best_distance, progress->measure);
    if (progress->iteration == 1) r->start = e->kind.own_start ? progress->measure : e->start_distance;
    if (!r->reached && r->best_distance <= 0.01 * EXPERIMENT_GOAL * r->start)
        r->reached = progress->iteration;
    experiment_row row = {r->search->seed,
                          progress->iteration,
                          progress->measure,
                          progress->loss,
                          r->best_distance,
                          progress->forward_seconds,
                          progress->backward_seconds,
                          .point = cli_point(progress->y, e->p.size)};
    bool known = progress->iteration <= r->recalled;
    if (known) r->search->known[progress->iteration - 1].spent = true;
    if (r->status == CT_OK) r->status = experiment_append(e, r->search->method, &row, known, &r->error);
    keep_best(r, progress);
    if (progress->failed && !known) keep_failure(r, progress);
    r->search->episodes = progress->iteration;
    e->episodes_done += !known;
    if (!known) show_episode(r, progress);
    if (r->status == CT_OK && cli_seconds() - e->drawn > 5) {
        r->status = experiment_plot(e, &r->error);
        e->drawn = cli_seconds();
    }
    bool go_on = r->status == CT_OK && !is_over(e);
    pthread_mutex_unlock(&e->lock);
    return go_on;
}

static void show_end(const runner* r) {
    experiment* e = r->e;
    const experiment_search* s = r->search;
    if (e->options->quiet) return;
    cli_progress_end(&e->progress);
    fprintf(stderr, "%s, %s, seed %d: ", e->kind.name, experiment_methods[s->method].name, s->seed);
    if (r->reached)
        fprintf(stderr, "%d %% of the start distance after %d episodes, ", EXPERIMENT_GOAL, r->reached);
    fprintf(stderr, "%.3g %% after %d in %.1f s: %s\n", 100 * r->best_distance / r->start, s->episodes,
            s->seconds, s->reason);
}

// Books the end of a search; the lock is held.
static void finish(runner* r, ct_status status, const ct_optimize_report* report, const ct_error* error) {
    experiment* e = r->e;
    experiment_search* s = r->search;
    bool cut = is_over(e) && report->iterations < s->budget;
    if (status == CT_OK && r->status == CT_OK && !cut) {
        s->done = true;
        for (int i = 0; i < s->nknown; i++) s->known[i].spent = true;
        s->episodes = report->iterations;
        s->failures = report->failures;
        s->seconds = report->seconds;
        s->converged = report->iterations < s->budget;
        snprintf(s->reason, sizeof s->reason, "%s", report->reason ? report->reason : "");
        e->episodes_total -= s->budget - s->episodes;
        e->ran++;
        r->status = experiment_save(e, &r->error);
        show_end(r);
    }
    const ct_error* first = status != CT_OK ? error : r->status != CT_OK ? &r->error : NULL;
    if (!first) return;
    if (e->error.code == CT_OK) e->error = *first;
    cli_progress_end(&e->progress);
    if (!e->options->quiet)
        fprintf(stderr, "%s, %s, seed %d failed: %s\n", e->kind.name, experiment_methods[s->method].name,
                s->seed, first->message);
}

static void* run_searches(void* user) {
    experiment* e = user;
    double* y = malloc(3 * (size_t)e->p.size * sizeof *y);  // and its bounds
    for (;;) {
        pthread_mutex_lock(&e->lock);
        if (!y && e->error.code == CT_OK)
            e->error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
        experiment_search* s = y && e->next < e->nsearch && !is_over(e) ? &e->search[e->next++] : NULL;
        pthread_mutex_unlock(&e->lock);
        if (!s) break;
        runner r = {.e = e, .search = s, .best_distance = INFINITY};
        ct_optimize_def def = def_of(e, s);
        ct_optimize_report report = {0};
        ct_error error = {.element = -1};
        ct_problem_start(ct_batch_problem(e->batch), y);
        double *lower = y + e->p.size, *upper = lower + e->p.size;
        ct_problem_bounds(ct_batch_problem(e->batch), lower, upper);
        ct_function function = {
            .size = e->p.size, .lower = lower, .upper = upper, .evaluate = evaluate, .user = &r};
        ct_status status = ct_function_optimize(&function, &def, y, on_progress, &r, &report, &error);
        pthread_mutex_lock(&e->lock);
        finish(&r, status, &report, &error);
        pthread_mutex_unlock(&e->lock);
    }
    free(y);
    return NULL;
}

// A term that adds nothing: it sees the states of all workers, on their threads.
static void on_state(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                     double* q_bar, void* user) {
    experiment* e = user;
    char note[80];
    (void)state, (void)loss, (void)v_bar, (void)q_bar;
    if (!e->progress.active || pthread_mutex_trylock(&e->lock)) return;
    snprintf(note, sizeof note, "%.0f episodes, one at step %d of %d%s", e->episodes_done, step, e->steps,
             x_bar ? " of its gradient" : "");
    cli_progress_show(&e->progress, e->episodes_done, e->episodes_total, note);
    pthread_mutex_unlock(&e->lock);
}

// ---- all of them ---------------------------------------------------------------------------

static ct_status run_threads(experiment* e, int count) {
    pthread_t* thread = calloc((size_t)count, sizeof *thread);
    int begun = 0;
    while (thread && begun < count - 1 && pthread_create(&thread[begun], NULL, run_searches, e) == 0) begun++;
    run_searches(e);
    for (int k = 0; k < begun; k++) pthread_join(thread[k], NULL);
    free(thread);
    return e->error.code;
}

// The scene's own start: what distances are measured against, and whether earlier results are of the same
// scene.
static ct_status evaluate_start(experiment* e, ct_error* error) {
    ct_evaluation result;
    ct_status status = ct_batch_evaluate(e->batch, 1, e->p.y, NULL, &result, error);
    if (status == CT_OK) status = result.status;
    if (status != CT_OK) return error->code = status;
    e->before = result.measure;
    return experiment_check_start(e, result.loss, e->kind.start > 0 ? e->kind.start : result.measure, error);
}

ct_status experiment_run(experiment* e, const ct_transport* transport, ct_error* error) {
    ct_status status = ct_batch_create(&e->batch, e->p.scene, e->options->threads, transport, error);
    if (status == CT_OK) status = evaluate_start(e, error);
    if (status == CT_OK && e->options->tune) status = experiment_tune(e, error);
    if (status == CT_OK) status = experiment_plan(e, error);
    int pending = e->nsearch - e->next, workers = status == CT_OK ? ct_batch_workers(e->batch) : 1;
    e->alone = pending == 1;
    if (status == CT_OK && pending > 0) {
        if (!e->options->quiet)
            fprintf(stderr, "%s: %d parameters, %d steps; %d search%s on %d worker%s, start distance %.4g\n",
                    e->kind.name, e->p.size, e->steps, pending, pending == 1 ? "" : "es", workers,
                    workers == 1 ? "" : "s", e->start_distance);
        if (!e->options->quiet && e->recalled)
            fprintf(stderr, "%s: %d episode%s of these searches %s known from an earlier run\n", e->kind.name,
                    e->recalled, e->recalled == 1 ? "" : "s", e->recalled == 1 ? "is" : "are");
        e->progress = cli_progress_begin(e->kind.name, e->options->quiet);
        e->drawn = cli_seconds();
        if (e->progress.active) ct_batch_set_term(e->batch, on_state, e);
        if (run_threads(e, pending < workers ? pending : workers)) *error = e->error, status = e->error.code;
        cli_progress_end(&e->progress);
    }
    ct_error late = {.element = -1};
    for (int m = 0; m < EXPERIMENT_METHODS; m++)
        if (experiment_sort_table(e, m, &late) && status == CT_OK) *error = late, status = late.code;
    ct_batch_free(e->batch);
    e->batch = NULL;
    return status;
}

// ---- timing --------------------------------------------------------------------------------

typedef struct split_time {  // CPU time of the thread, s
    double begun, turned;    // turned: where the way back begins, 0: not yet
} split_time;

static void on_turn(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                    double* q_bar, void* user) {
    split_time* t = user;
    (void)step, (void)state, (void)loss, (void)v_bar, (void)q_bar;
    if (x_bar && t->turned == 0) t->turned = cli_thread_seconds();
}

// One thread, so that its CPU time is all there is; what else runs on the machine does not count.
ct_status experiment_measure(experiment* e, ct_error* error) {
    enum { REPEATS = 3 };
    double forward = INFINITY, backward = INFINITY, loss;
    if (e->best.iteration == 0 || (e->ran == 0 && e->timing.forward > 0)) return CT_OK;
    if (!e->options->quiet)
        fprintf(stderr, "%s: measuring %d episodes on one thread\n", e->kind.name, REPEATS);
    for (int k = 0; k < REPEATS; k++) {
        ct_problem_report report;
        split_time time = {.begun = cli_thread_seconds()};
        ct_problem_set_term(e->p.problem, on_turn, &time);
        ct_status status = ct_problem_evaluate(e->p.problem, e->best_y, &loss, e->p.gradient, &report, error);
        double ended = cli_thread_seconds();
        ct_problem_set_term(e->p.problem, NULL, NULL);
        if (status) return status;
        forward = fmin(forward, time.turned - time.begun);
        backward = fmin(backward, ended - time.turned);
        e->timing.tape = (double)report.tape_bytes;
        if (cli_interrupted()) return CT_OK;
    }
    e->timing.forward = forward;
    e->timing.backward = backward;
    return experiment_save(e, error);
}
