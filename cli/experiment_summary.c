// What an experiment found: statistics over seeds, loss.png, summary.md, one JSON object; see experiment.h.
//
// The distance of an episode is the first term of the objective as a root mean square, that of the start the
// scene's own or, where the starts are what is random, the seed's. A seed has reached the goal in the first
// episode whose best distance so far is at most 5 % of that.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment.h"

// ---- statistics ----------------------------------------------------------------------------

static int compare_numbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Sorts; between two middle values their mean.
static double median_of(double* values, int count) {
    if (count == 0) return NAN;
    qsort(values, (size_t)count, sizeof *values, compare_numbers);
    double a = values[(count - 1) / 2], b = values[count / 2];
    return isinf(b) ? b : 0.5 * (a + b);
}

static const experiment_row* first_row(const experiment_table* table, int seed) {
    for (int i = 0; i < table->nrow; i++)
        if (table->row[i].seed == seed && table->row[i].episode == 1) return &table->row[i];
    return NULL;
}

double experiment_start_of(const experiment* e, int method, int seed) {
    const experiment_row* first = e->kind.own_start ? first_row(&e->table[method], seed) : NULL;
    return first ? first->distance : e->start_distance;
}

typedef struct ending {  // of a search
    int reached;         // episode, 0: never
    double distance;     // best, m
} ending;

static ending ending_of(const experiment* e, const experiment_search* s) {
    const experiment_table* table = &e->table[s->method];
    double goal = 0.01 * EXPERIMENT_GOAL * experiment_start_of(e, s->method, s->seed);
    ending end = {0, INFINITY};
    for (const experiment_row* r = table->row; r < table->row + table->nrow; r++) {
        if (r->seed != s->seed) continue;
        if (r->best_distance <= goal && (!end.reached || r->episode < end.reached)) end.reached = r->episode;
        end.distance = fmin(end.distance, r->best_distance);
    }
    return end;
}

experiment_result experiment_result_of(const experiment* e, int method) {
    experiment_result result = {.median = NAN, .first = INFINITY, .last = 0, .final_best = INFINITY};
    double* list = calloc(3 * (size_t)e->nsearch + 1, sizeof(double));
    double *episodes = list, *final = list + e->nsearch, *distance = final + e->nsearch;
    for (const experiment_search* s = e->search; list && s < e->search + e->nsearch; s++) {
        if (s->method != method || !s->done) continue;
        ending end = ending_of(e, s);
        int k = result.seeds++;
        episodes[k] = end.reached ? end.reached : INFINITY;
        final[k] = 100 * end.distance / experiment_start_of(e, method, s->seed);
        distance[k] = end.distance;
        result.reached += end.reached > 0;
        result.failures += s->failures;
        if (s->budget > result.budget) result.budget = s->budget;
        result.first = fmin(result.first, episodes[k]);
        result.last = fmax(result.last, episodes[k]);
        result.final_best = fmin(result.final_best, final[k]);
        result.final_worst = fmax(result.final_worst, final[k]);
    }
    result.median = median_of(episodes, result.seeds);
    result.final_median = median_of(final, result.seeds);
    result.distance = median_of(distance, result.seeds);
    free(list);
    return result;
}

// ---- the plot ------------------------------------------------------------------------------

typedef struct curve {  // of a method: per cent of the start over episodes
    double *x, *y, *low, *high;
    int count;
} curve;

static int seed_count(const experiment_table* table) {
    int most = 0;
    for (int i = 0; i < table->nrow; i++) most = table->row[i].seed > most ? table->row[i].seed : most;
    return most;
}

static bool is_done(const experiment* e, int method, int seed) {
    for (const experiment_search* s = e->search; s < e->search + e->nsearch; s++)
        if (s->method == method && s->seed == seed) return s->done;
    return false;
}

// Best so far of every seed (seeds x count, from episode 1), NAN where a search has not come so far; one that
// has ended keeps its best.
static double* fill_grid(const experiment* e, int method, int seeds, int count) {
    const experiment_table* table = &e->table[method];
    double* grid = malloc((size_t)seeds * (size_t)count * sizeof *grid);
    for (int i = 0; grid && i < seeds * count; i++) grid[i] = NAN;
    for (int i = 0; grid && i < table->nrow; i++) {
        const experiment_row* r = &table->row[i];
        grid[(r->seed - 1) * count + r->episode - 1] =
            100 * r->best_distance / experiment_start_of(e, method, r->seed);
    }
    for (int s = 0; grid && s < seeds; s++)
        for (int k = 1; k < count && is_done(e, method, s + 1); k++)
            if (isnan(grid[s * count + k])) grid[s * count + k] = grid[s * count + k - 1];
    return grid;
}

static bool make_curve(const experiment* e, int method, curve* c) {
    const experiment_table* table = &e->table[method];
    int seeds = seed_count(table);
    *c = (curve){0};
    for (int i = 0; i < table->nrow; i++)
        c->count = table->row[i].episode > c->count ? table->row[i].episode : c->count;
    if (c->count == 0) return true;
    double *grid = fill_grid(e, method, seeds, c->count), *values = malloc((size_t)seeds * sizeof *values);
    c->x = calloc(4 * (size_t)c->count, sizeof(double));
    bool good = grid && values && c->x;
    c->y = c->x + c->count, c->low = c->y + c->count, c->high = c->low + c->count;
    for (int k = 0; k < c->count && good; k++) {
        int n = 0;
        for (int s = 0; s < seeds; s++)
            if (isfinite(grid[s * c->count + k])) values[n++] = grid[s * c->count + k];
        c->x[k] = k + 1;
        c->y[k] = median_of(values, n);
        c->low[k] = n ? values[0] : NAN;
        c->high[k] = n ? values[n - 1] : NAN;
    }
    free(grid);
    free(values);
    return good;
}

ct_status experiment_plot(const experiment* e, ct_error* error) {
    static const int colors[EXPERIMENT_METHODS] = {1, 2, 3, 4, 6, 7, 8};
    curve curves[EXPERIMENT_METHODS] = {0};
    ct_plot_series series[EXPERIMENT_METHODS + 1];
    char path[SEARCH_PATH];
    bool good = true;
    int count = 0;
    double last = 1;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        good = make_curve(e, m, &curves[m]) && good;
        if (curves[m].count == 0) continue;
        last = fmax(last, curves[m].count);
        series[count++] = (ct_plot_series){.name = experiment_methods[m].title,
                                           .x = curves[m].x,
                                           .y = curves[m].y,
                                           .count = curves[m].count,
                                           .low = curves[m].low,
                                           .high = curves[m].high,
                                           .color = colors[m]};
    }
    double goal_x[2] = {1, last}, goal_y[2] = {EXPERIMENT_GOAL, EXPERIMENT_GOAL};
    series[count] =
        (ct_plot_series){.name = "5 %", .x = goal_x, .y = goal_y, .count = 2, .dashed = true, .color = 5};
    ct_plot_def def = ct_plot_def_default();
    def.width = 960, def.height = 560;
    def.title = e->kind.title, def.x_label = "episode", def.y_label = "best distance, % of the start";
    def.log_x = last > 60;  // gradients need tens of episodes, the others hundreds
    def.log_y = true;
    experiment_path(e, "loss.png", path);
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1};
    ct_status status = good ? ct_plot_save(path, &def, series, count + 1, error) : CT_OUT_OF_MEMORY;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) free(curves[m].x);
    return status;
}

// ---- in words ------------------------------------------------------------------------------

typedef struct text {
    char* bytes;
    size_t size;
    FILE* stream;
} text;

static bool text_begin(text* t) { return (t->stream = open_memstream(&t->bytes, &t->size)) != NULL; }

static ct_status text_save(text* t, const char* path, ct_error* error) {
    bool good = fclose(t->stream) == 0;
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1};
    ct_status status = good ? experiment_write_text(path, t->bytes, error) : CT_OUT_OF_MEMORY;
    free(t->bytes);
    return status;
}

// "23 (19 - 31)", "not in 500", "23, 4 of 5"
static void episodes_text(const experiment_result* r, char* out, size_t size) {
    if (r->reached == 0) snprintf(out, size, "not in %d", r->budget);
    else if (r->reached < r->seeds)
        snprintf(out, size, "%d of %d seeds, first %.0f", r->reached, r->seeds, r->first);
    else if (r->seeds == 1) snprintf(out, size, "%.0f", r->first);
    else snprintf(out, size, "%g (%.0f - %.0f)", r->median, r->first, r->last);
}

static void final_text(const experiment_result* r, char* out, size_t size) {
    if (r->seeds == 1) snprintf(out, size, "%.3g %%", r->final_median);
    else snprintf(out, size, "%.3g %% (%.3g - %.3g)", r->final_median, r->final_best, r->final_worst);
}

void experiment_machine(char* out, size_t size) {
    char line[256];
    FILE* stream = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown processor");
    while (stream && fgets(line, sizeof line, stream)) {
        char* colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%.200s", colon + 2);
        break;
    }
    if (stream) fclose(stream);
    size_t used = strlen(out);
    snprintf(out + used, size - used, ", %ld cores", sysconf(_SC_NPROCESSORS_ONLN));
}

typedef struct method_text {  // what a method found, in words
    experiment_result r;      // seeds 0: nothing
    char episodes[80], final[80];
} method_text;

static method_text method_text_of(const experiment* e, int method) {
    method_text t = {.r = experiment_result_of(e, method)};
    if (t.r.seeds == 0) return t;
    episodes_text(&t.r, t.episodes, sizeof t.episodes);
    final_text(&t.r, t.final, sizeof t.final);
    return t;
}

static void write_methods(FILE* stream, const experiment* e) {
    fprintf(stream,
            "| method | seeds | episodes to %d %% of the start distance | distance in the end | failed "
            "rollouts |\n",
            EXPERIMENT_GOAL);
    fprintf(stream, "| --- | ---: | --- | --- | ---: |\n");
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        method_text t = method_text_of(e, m);
        if (t.r.seeds == 0) continue;
        fprintf(stream, "| %s | %d | %s | %s | %d |\n", experiment_methods[m].title, t.r.seeds, t.episodes,
                t.final, t.r.failures);
    }
}

// Names the tables of other programs that are not there, and what writes them.
static void write_missing(FILE* stream, const experiment* list, int count) {
    bool begun = false;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        const char* before = "";
        for (const experiment* e = list; e < list + count && experiment_methods[m].elsewhere; e++) {
            if (!e->kind.learned || e->table[m].nrow > 0) continue;
            if (!begun) fprintf(stream, "\nMissing:");
            if (!*before) fprintf(stream, "%s %s (", begun ? ";" : "", experiment_methods[m].title);
            fprintf(stream, "%s`%s/%s.csv`", before, e->directory, experiment_methods[m].name);
            before = ", ", begun = true;
        }
        if (*before) fprintf(stream, ")");
    }
    if (begun) fprintf(stream, ". `python3 python/learn/reinforce.py` writes these tables.\n");
}

static void write_timing_row(FILE* stream, const char* what, double seconds, int steps, double original) {
    fprintf(stream, "| %s | %.4g ms | %.3g ms |", what, 1e3 * seconds, 1e3 * seconds / steps);
    if (original > 0) fprintf(stream, " %.0f ms |\n", original);
    else fprintf(stream, " |\n");
}

static void write_timing(FILE* stream, const experiment* e) {
    const experiment_timing* t = &e->timing;
    if (!(t->forward > 0)) return;
    fprintf(stream,
            "\n"
            "An episode has %d steps; CPU time of the thread at the parameters found, with no other part of "
            "the experiment running, the best of 3:\n"
            "\n",
            e->steps);
    fprintf(stream,
            "| | per episode | per step | the paper's code, per step |\n| --- | ---: | ---: | ---: |\n");
    write_timing_row(stream, "forward", t->forward, e->steps, e->kind.forward);
    write_timing_row(stream, "gradient", t->backward, e->steps, e->kind.backward);
    write_timing_row(stream, "both", t->forward + t->backward, e->steps, e->kind.forward + e->kind.backward);
    if (e->kind.differs)
        fprintf(stream,
                "\nThe paper's code ran on the machine of docs/experiments.md, and its work differs: %s. "
                "`cuttle bench baseline` compares both methods on the same work.\n",
                e->kind.differs);
    fprintf(stream, "\nThe tape of a rollout takes %.1f MB.\n", 1e-6 * t->tape);
}

static void write_spreads(FILE* stream, const experiment* e) {
    const char* before = "\nSpreads, chosen of four by a seed that is not reported: ";
    for (int m = 1; m < EXPERIMENT_METHODS && e->ntrial; m++) {
        bool tried = false;
        for (int k = 0; k < e->ntrial; k++) tried |= e->trial[k].method == m;
        if (!tried) continue;
        fprintf(stream, "%s%s %.3g", before, experiment_methods[m].title, experiment_spread(e, m));
        before = ", ";
    }
    if (e->ntrial) fprintf(stream, ".\n");
}

ct_status experiment_summarise(const experiment* e, ct_error* error) {
    char path[SEARCH_PATH], machine[300];
    text t = {0};
    ct_model_info info;
    if (!text_begin(&t))
        return *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1}, CT_OUT_OF_MEMORY;
    info = ct_model_summary(ct_problem_model(e->p.problem));
    experiment_machine(machine, sizeof machine);
    fprintf(t.stream, "# %s\n\n    %s\n\nCuttle %s on %s.\n\n", e->kind.title, e->options->command,
            ct_version(), machine);
    fprintf(t.stream, "Scene `%s`: %d nodes, %d tets, %d steps, %d parameters. ", ct_scene_file(e->p.scene),
            info.nvert, info.ntet, e->steps, e->p.size);
    fprintf(t.stream, "The distance at the start is %.4g m%s.\n", e->start_distance,
            e->kind.own_start ? ", or that of each seed's own start" : "");
    if (e->kind.paper) fprintf(t.stream, "The paper reports: %s.\n", e->kind.paper);
    fprintf(t.stream, "\n");
    write_methods(t.stream, e);
    write_missing(t.stream, e, 1);
    write_spreads(t.stream, e);
    if (e->best.iteration > 0)
        fprintf(t.stream, "\nThe best of all: %.4g m, by %s, seed %d, episode %d (`best.json`).\n",
                e->best_distance, e->best.method, e->best_seed, e->best.iteration);
    write_timing(t.stream, e);
    fprintf(t.stream, "\n![distance over episodes](loss.png)\n");
    experiment_path(e, "strip.png", path);
    if (access(path, F_OK) == 0) fprintf(t.stream, "\n![before, above, and after](strip.png)\n");
    experiment_path(e, "summary.md", path);
    return text_save(&t, path, error);
}

void experiment_write_overview(const experiment* list, int count, FILE* stream) {
    if (count == 0) return;
    fprintf(stream, "\nEpisodes to %d %% of the start distance, median (range) of the seeds:\n\n",
            EXPERIMENT_GOAL);
    fprintf(stream, "| |");
    for (int m = 0; m < EXPERIMENT_METHODS; m++) fprintf(stream, " %s |", experiment_methods[m].title);
    fprintf(stream, " forward, ms per step | gradient, ms per step | the paper's code |\n"
                    "|");
    for (int m = 0; m < EXPERIMENT_METHODS + 4; m++) fprintf(stream, " --- |");
    for (const experiment* e = list; e < list + count; e++) {
        fprintf(stream, "\n| [%s](%s/summary.md) |", e->kind.title, e->kind.name);
        for (int m = 0; m < EXPERIMENT_METHODS; m++) {
            experiment_result r = experiment_result_of(e, m);
            char episodes[80] = "";
            if (r.seeds > 0) episodes_text(&r, episodes, sizeof episodes);
            fprintf(stream, " %s |", episodes);
        }
        if (e->timing.forward > 0)
            fprintf(stream, " %.3g | %.3g |", 1e3 * e->timing.forward / e->steps,
                    1e3 * e->timing.backward / e->steps);
        else fprintf(stream, " | |");
        if (e->kind.forward > 0) fprintf(stream, " %.0f + %.0f |", e->kind.forward, e->kind.backward);
        else fprintf(stream, " |");
    }
    fprintf(stream, "\n");
    write_missing(stream, list, count);
}

void experiment_print(const experiment* e) {
    printf("%s\n", e->kind.title);
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        method_text t = method_text_of(e, m);
        if (t.r.seeds == 0) continue;
        printf("  %-12s %d seed%s  episodes to %d %% of the start distance: %-20s  in the end: %s\n",
               experiment_methods[m].title, t.r.seeds, t.r.seeds == 1 ? " " : "s", EXPERIMENT_GOAL,
               t.episodes, t.final);
    }
    if (e->timing.forward > 0)
        printf("  an episode of %d steps takes %.3g s forward and %.3g s for its gradient, CPU time\n",
               e->steps, e->timing.forward, e->timing.backward);
    static const char* const names[] = {"summary.md", "loss.png",  "before_after.mp4",
                                        "strip.png",  "best.json", "after.h5"};
    static const char* const meaning[] = {"tables",
                                          "distance over episodes",
                                          "the motion before and after",
                                          "the same as one picture",
                                          "the parameters found",
                                          "the motion, for ParaView"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[SEARCH_PATH];
        experiment_path(e, names[k], path);
        if (access(path, F_OK) == 0) printf("  %s  %s\n", path, meaning[k]);
    }
}

json_t* experiment_object(const experiment* e) {
    json_t* methods = json_array();
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        experiment_result r = experiment_result_of(e, m);
        if (r.seeds == 0) continue;
        json_array_append_new(
            methods, json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:i}", "method",
                               experiment_methods[m].name, "seeds", r.seeds, "budget", r.budget, "reached",
                               r.reached, "episodes_median", cli_json_number(r.median), "episodes_first",
                               cli_json_number(r.first), "final_percent", cli_json_number(r.final_median),
                               "final_distance", cli_json_number(r.distance), "failures", r.failures));
    }
    json_t* timing = json_pack("{s:f, s:f, s:f}", "forward_seconds", e->timing.forward, "backward_seconds",
                               e->timing.backward, "tape_mb", 1e-6 * e->timing.tape);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:i, s:o, s:o}", "experiment", e->kind.name, "directory",
                     e->directory, "scene", ct_scene_file(e->p.scene), "parameters", e->p.size, "steps",
                     e->steps, "start_distance", cli_json_number(e->start_distance), "searches_run", e->ran,
                     "methods", methods, "timing", timing);
}
