// Spreads of the methods without gradients: how far their first steps go decides whether they get anywhere.
// Each method is tried with four of them from a seed that no table reports, over its whole budget, and the
// spread whose search came nearest serves the seeds that are reported. Trials that are done are part of
// experiment.json; they are not taken up again where they were cut short.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"

enum { TRIAL_SEED = 1000000 };  // beyond those that are reported
static const double factors[EXPERIMENT_SPREADS] = {1.0 / 3, 1, 3, 10};

double experiment_spread(const experiment* e, int method) {
    const experiment_trial* best = NULL;
    for (const experiment_trial* t = e->trial; t < e->trial + e->ntrial; t++)
        if (t->method == method && (!best || t->distance < best->distance)) best = t;
    return best ? best->spread : e->def.spread;
}

typedef struct trial_list {  // of those to run
    experiment* e;
    experiment_trial todo[EXPERIMENT_METHODS * EXPERIMENT_SPREADS];
    int count, next;  // under the experiment's lock
} trial_list;

typedef struct trial_run {
    experiment* e;
    double best;
} trial_run;

static ct_status evaluate(int count, const double* y, double* gradients, ct_evaluation* results, void* user,
                          ct_error* error) {
    const trial_run* run = user;
    return ct_batch_evaluate(run->e->batch, count, y, gradients, results, error);
}

static bool on_progress(const ct_progress* progress, void* user) {
    trial_run* run = user;
    experiment* e = run->e;
    pthread_mutex_lock(&e->lock);
    if (!progress->failed) run->best = fmin(run->best, progress->measure);
    e->episodes_done++;
    if (!e->options->quiet)
        cli_progress_show(&e->progress, e->episodes_done, e->episodes_total, "choosing spreads");
    pthread_mutex_unlock(&e->lock);
    return !cli_interrupted() && !experiment_late(e->options);
}

// Books a trial; the lock is held.
static void finish(experiment* e, const experiment_trial* trial, ct_status status, const ct_error* error) {
    if (status != CT_OK) {
        if (e->error.code == CT_OK) e->error = *error;
        return;
    }
    if (cli_interrupted() || experiment_late(e->options)) return;  // cut short
    e->trial[e->ntrial++] = *trial;
    if (experiment_save(e, &e->error)) return;
    if (e->options->quiet) return;
    cli_progress_end(&e->progress);
    fprintf(stderr, "%s, %s, spread %.3g: %.3g %% of the start\n", e->kind.name,
            experiment_methods[trial->method].name, trial->spread, 100 * trial->distance / e->start_distance);
}

static void* run_trials(void* user) {
    trial_list* list = user;
    experiment* e = list->e;
    const ct_problem* problem = ct_batch_problem(e->batch);
    double* y = malloc(3 * (size_t)e->p.size * sizeof *y);  // and its bounds
    for (;;) {
        pthread_mutex_lock(&e->lock);
        if (!y && e->error.code == CT_OK)
            e->error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
        const bool more = e->error.code == CT_OK && list->next < list->count && !cli_interrupted() &&
                          !experiment_late(e->options);
        experiment_trial* trial = more ? &list->todo[list->next++] : NULL;
        pthread_mutex_unlock(&e->lock);
        if (!trial) break;
        trial_run run = {.e = e, .best = INFINITY};
        double *lower = y + e->p.size, *upper = lower + e->p.size;
        ct_problem_start(problem, y);
        ct_problem_bounds(problem, lower, upper);
        ct_function function = {
            .size = e->p.size, .lower = lower, .upper = upper, .evaluate = evaluate, .user = &run};
        ct_optimize_def def = experiment_def(e, trial->method, TRIAL_SEED, trial->episodes);
        def.spread = trial->spread;
        ct_optimize_report report = {0};
        ct_error error = {.element = -1};
        ct_status status = ct_function_optimize(&function, &def, y, on_progress, &run, &report, &error);
        trial->distance = run.best;
        pthread_mutex_lock(&e->lock);
        finish(e, trial, status, &error);
        pthread_mutex_unlock(&e->lock);
    }
    free(y);
    return NULL;
}

// A trial of an earlier run counts if it was as long.
static bool is_done(experiment* e, int method, double spread, int episodes) {
    for (int k = 0; k < e->ntrial; k++) {
        const experiment_trial* t = &e->trial[k];
        if (t->method != method || t->spread != spread) continue;
        if (t->episodes == episodes) return true;
        e->trial[k--] = e->trial[--e->ntrial];
    }
    return false;
}

ct_status experiment_tune(experiment* e, ct_error* error) {
    trial_list list = {.e = e};
    for (int m = 1; m < EXPERIMENT_METHODS; m++)
        for (int k = 0; k < EXPERIMENT_SPREADS && e->options->wanted[m]; k++) {
            const double spread = factors[k] * e->def.spread;
            const int episodes = experiment_budget(e, m);
            if (!experiment_methods[m].elsewhere && !is_done(e, m, spread, episodes))
                list.todo[list.count++] =
                    (experiment_trial){.method = m, .spread = spread, .episodes = episodes};
        }
    if (!list.count) return CT_OK;
    pthread_t thread[EXPERIMENT_METHODS * EXPERIMENT_SPREADS];
    const int workers = ct_batch_workers(e->batch), most = list.count < workers ? list.count : workers;
    int begun = 0;
    e->progress = cli_progress_begin(e->kind.name, e->options->quiet);
    e->episodes_total = (double)list.count * list.todo[0].episodes;
    while (begun < most - 1 && pthread_create(&thread[begun], NULL, run_trials, &list) == 0) begun++;
    run_trials(&list);
    for (int k = 0; k < begun; k++) pthread_join(thread[k], NULL);
    cli_progress_end(&e->progress);
    e->episodes_done = e->episodes_total = 0;
    if (e->error.code != CT_OK) *error = e->error;
    return e->error.code;
}
