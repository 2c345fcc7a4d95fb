// What an experiment keeps in its directory; see experiment.h.
//
// <method>.csv has a row an episode. While searches run, rows are appended in the order in which episodes
// end, and flushed; in the end the table is written anew, sorted. experiment.json says which searches are
// whole. It is replaced by rename, after the rows are on disk: a killed run leaves tables with rows of
// searches that experiment.json does not name. These are known: when such a search is run again, it is told
// what it found, as long as it asks for the same points. Gradients are not kept, so that searches with
// gradients begin anew.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment.h"

static const char table_head[] =
    "seed,episode,distance,loss,best_distance,forward_seconds,backward_seconds,point\n";

void experiment_path(const experiment* e, const char* name, char* path) {
    snprintf(path, SEARCH_PATH, "%.*s/%s", SEARCH_PATH - 64, e->directory, name);
}

static void table_path(const experiment* e, int method, char* path) {
    char name[40];
    snprintf(name, sizeof name, "%s.csv", experiment_methods[method].name);
    experiment_path(e, name, path);
}

ct_status experiment_write_text(const char* path, const char* text, ct_error* error) {
    char temporary[SEARCH_PATH + 8];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE* stream = fopen(temporary, "w");
    bool good = stream && fputs(text, stream) != EOF && fflush(stream) == 0 && fsync(fileno(stream)) == 0;
    if (stream && fclose(stream) != 0) good = false;
    return good && rename(temporary, path) == 0 ? CT_OK : cli_fail_writing(error, path);
}

// ---- tables --------------------------------------------------------------------------------

static bool keep_row(experiment_table* table, const experiment_row* row) {
    if (!cli_grow((void**)&table->row, &table->capacity, table->nrow, sizeof *table->row)) return false;
    table->row[table->nrow++] = *row;
    return true;
}

static void print_number(FILE* stream, double value) {
    if (isfinite(value)) fprintf(stream, "%.17g,", value);
    else fprintf(stream, isnan(value) ? "nan," : "inf,");
}

static void write_row(FILE* stream, const experiment_row* r) {
    fprintf(stream, "%d,%d,", r->seed, r->episode);
    print_number(stream, r->distance);
    print_number(stream, r->loss);
    print_number(stream, r->best_distance);
    fprintf(stream, "%.6f,%.6f,%016" PRIx64 "\n", r->forward, r->backward, r->point);
}

// A last row that was cut short ends the table.
static bool read_table(experiment_table* table, const char* path) {
    char line[512];
    bool good = true;
    FILE* stream = fopen(path, "r");
    while (good && stream && fgets(line, sizeof line, stream)) {
        experiment_row r = {0};
        if (strcmp(line, table_head) == 0) continue;
        if (!strchr(line, '\n')) break;
        if (sscanf(line, "%d,%d,%lf,%lf,%lf,%lf,%lf,%" SCNx64, &r.seed, &r.episode, &r.distance, &r.loss,
                   &r.best_distance, &r.forward, &r.backward, &r.point) != 8)
            break;
        if (r.seed < 1 || r.episode < 1) break;
        good = keep_row(table, &r);
    }
    if (stream) fclose(stream);
    return good;
}

static int compare_rows(const void* a, const void* b) {
    const experiment_row *r = a, *s = b;
    return r->seed != s->seed ? (r->seed > s->seed) - (r->seed < s->seed)
                              : (r->episode > s->episode) - (r->episode < s->episode);
}

static void sort_rows(experiment_table* table) {
    for (int i = 1; i < table->nrow; i++)
        table->moved |= compare_rows(&table->row[i - 1], &table->row[i]) > 0;
    if (table->nrow > 0) qsort(table->row, (size_t)table->nrow, sizeof *table->row, compare_rows);
}

ct_status experiment_open_table(experiment* e, int method, ct_error* error) {
    char path[SEARCH_PATH], temporary[SEARCH_PATH + 8];
    experiment_table* table = &e->table[method];
    table_path(e, method, path);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    if (table->stream) fclose(table->stream);
    table->stream = fopen(temporary, "w");
    if (!table->stream) return cli_fail_writing(error, temporary);
    fputs(table_head, table->stream);
    for (int i = 0; i < table->nrow; i++) write_row(table->stream, &table->row[i]);
    for (int i = 0; i < e->known[method].nrow; i++)
        if (!e->known[method].row[i].spent) write_row(table->stream, &e->known[method].row[i]);
    if (fflush(table->stream) != 0 || rename(temporary, path) != 0) return cli_fail_writing(error, path);
    return CT_OK;
}

ct_status experiment_append(experiment* e, int method, const experiment_row* row, bool written,
                            ct_error* error) {
    char path[SEARCH_PATH];
    experiment_table* table = &e->table[method];
    table_path(e, method, path);
    if (!keep_row(table, row)) return cli_fail(error, CT_OUT_OF_MEMORY, path, "out of memory");
    if (written) return CT_OK;
    write_row(table->stream, row);
    return fflush(table->stream) == 0 ? CT_OK : cli_fail_writing(error, path);
}

ct_status experiment_sort_table(experiment* e, int method, ct_error* error) {
    sort_rows(&e->table[method]);
    if (experiment_methods[method].elsewhere) return CT_OK;
    if (!e->table[method].stream && !e->table[method].moved) return CT_OK;
    ct_status status = experiment_open_table(e, method, error);
    if (e->table[method].stream) fclose(e->table[method].stream);
    e->table[method].stream = NULL;
    return status;
}

// ---- experiment.json -----------------------------------------------------------------------

static json_t* search_list(const experiment* e) {
    json_t* list = json_array();
    for (const experiment_search* s = e->search; s < e->search + e->nsearch; s++) {
        if (!s->done || experiment_methods[s->method].elsewhere) continue;
        json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:i, s:i, s:i, s:b, s:f, s:s}", "method",
                                              experiment_methods[s->method].name, "seed", s->seed, "spread",
                                              s->spread, "episodes", s->episodes, "budget", s->budget,
                                              "failures", s->failures, "converged", s->converged, "seconds",
                                              s->seconds, "reason", s->reason));
    }
    return list;
}

static json_t* trial_list(const experiment* e) {
    json_t* list = json_array();
    for (const experiment_trial* t = e->trial; t < e->trial + e->ntrial; t++)
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:o, s:i}", "method", experiment_methods[t->method].name, "spread",
                            t->spread, "distance", cli_json_number(t->distance), "episodes", t->episodes));
    return list;
}

ct_status experiment_save(const experiment* e, ct_error* error) {
    char path[SEARCH_PATH];
    experiment_path(e, "experiment.json", path);
    json_t* start = json_pack("{s:o, s:o}", "loss", cli_json_number(e->start_loss), "distance",
                              cli_json_number(e->start_distance));
    json_t* timing =
        json_pack("{s:i, s:f, s:f, s:f}", "steps", e->steps, "forward_seconds", e->timing.forward,
                  "backward_seconds", e->timing.backward, "tape_bytes", e->timing.tape);
    json_t* best = json_pack("{s:s, s:i, s:i, s:o, s:o}", "method", e->best.iteration ? e->best.method : "",
                             "seed", e->best_seed, "episode", e->best.iteration, "loss",
                             cli_json_number(e->best.loss), "distance", cli_json_number(e->best_distance));
    json_t* object = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "experiment", e->kind.name, "scene",
                               ct_scene_file(e->p.scene), "start", start, "best", best, "timing", timing,
                               "trials", trial_list(e), "searches", search_list(e));
    char* text = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    ct_status status = text ? experiment_write_text(path, text, error)
                            : cli_fail(error, CT_OUT_OF_MEMORY, path, "out of memory");
    free(text);
    return status;
}

static int method_named(const char* name) {
    for (int m = 0; m < EXPERIMENT_METHODS; m++)
        if (name && strcmp(name, experiment_methods[m].name) == 0) return m;
    return -1;
}

static int integer_at(const json_t* object, const char* key) {
    return (int)json_integer_value(json_object_get(object, key));
}
static double number_at(const json_t* object, const char* key) {
    return json_number_value(json_object_get(object, key));
}

static bool read_search(const experiment* e, const json_t* item, experiment_search* s) {
    const char* reason = json_string_value(json_object_get(item, "reason"));
    *s = (experiment_search){.method = method_named(json_string_value(json_object_get(item, "method"))),
                             .seed = integer_at(item, "seed"),
                             .budget = integer_at(item, "budget"),
                             .spread =
                                 json_object_get(item, "spread") ? number_at(item, "spread") : e->def.spread,
                             .episodes = integer_at(item, "episodes"),
                             .failures = integer_at(item, "failures"),
                             .seconds = number_at(item, "seconds"),
                             .done = true,
                             .converged = json_is_true(json_object_get(item, "converged"))};
    snprintf(s->reason, sizeof s->reason, "%s", reason ? reason : "");
    return s->method >= 0 && !experiment_methods[s->method].elsewhere && s->seed >= 1 && s->episodes >= 1;
}

static int count_rows(const experiment_table* table, int seed) {
    int count = 0;
    for (int i = 0; i < table->nrow; i++) count += table->row[i].seed == seed;
    return count;
}

static bool is_whole(const experiment* e, int method, int seed) {
    for (int k = 0; k < e->nsearch; k++)
        if (e->search[k].method == method && e->search[k].seed == seed) return true;
    return false;
}

// A row that does not follow the one before it ends what is known of its seed.
static bool know_row(experiment_table* known, const experiment_row* row) {
    const experiment_row* last = known->nrow > 0 ? &known->row[known->nrow - 1] : NULL;
    int next = last && last->seed == row->seed ? last->episode + 1 : 1;
    return row->episode != next || keep_row(known, row);
}

ct_status experiment_set_aside(experiment* e, int method, int seed, ct_error* error) {
    experiment_table* table = &e->table[method];
    int kept = 0;
    bool good = true;
    for (int i = 0; i < table->nrow; i++) {
        if (table->row[i].seed != seed) table->row[kept++] = table->row[i];
        else if (method > 0) good = know_row(&e->known[method], &table->row[i]) && good;
    }
    table->nrow = kept;
    return good ? CT_OK : cli_fail(error, CT_OUT_OF_MEMORY, e->directory, "out of memory");
}

// Sets the rows of all searches aside that are not whole; the table is sorted.
static bool set_aside_pieces(experiment* e, int method, ct_error* error) {
    const experiment_table* table = &e->table[method];
    bool good = true;
    for (int i = 0; i < table->nrow && good;) {
        int seed = table->row[i].seed;
        if (is_whole(e, method, seed)) i++;
        else good = experiment_set_aside(e, method, seed, error) == CT_OK;
    }
    return good;
}

// Other programs' searches: what their tables have.
static void take_elsewhere(experiment* e, int method) {
    const experiment_table* table = &e->table[method];
    for (const experiment_row* r = table->row; r < table->row + table->nrow; r++) {
        if (r == table->row || r->seed != r[-1].seed)
            e->search[e->nsearch++] =
                (experiment_search){.method = method, .seed = r->seed, .done = true, .converged = true};
        experiment_search* s = &e->search[e->nsearch - 1];
        s->episodes = s->budget = r->episode;
        s->failures += isnan(r->loss);
        s->seconds += r->forward + r->backward;
    }
}

// Searches whose rows are all there.
static bool take_searches(experiment* e, const json_t* list, ct_error* error) {
    size_t most = json_array_size(list) + 1;
    for (int m = 0; m < EXPERIMENT_METHODS; m++)
        if (experiment_methods[m].elsewhere) most += (size_t)e->table[m].nrow;
    e->search = calloc(most, sizeof *e->search);
    if (!e->search) return false;
    for (size_t k = 0; k < json_array_size(list); k++) {
        experiment_search s;
        if (read_search(e, json_array_get(list, k), &s) &&
            count_rows(&e->table[s.method], s.seed) == s.episodes)
            e->search[e->nsearch++] = s;
    }
    bool good = true;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        sort_rows(&e->table[m]);
        if (experiment_methods[m].elsewhere) take_elsewhere(e, m);
        good = good && set_aside_pieces(e, m, error);
    }
    return good;
}

static void take_trials(experiment* e, const json_t* list) {
    for (size_t k = 0; k < json_array_size(list) && e->ntrial < EXPERIMENT_METHODS * EXPERIMENT_SPREADS;
         k++) {
        const json_t* item = json_array_get(list, k);
        const json_t* distance = json_object_get(item, "distance");
        experiment_trial t = {.method = method_named(json_string_value(json_object_get(item, "method"))),
                              .spread = number_at(item, "spread"),
                              .distance = json_is_number(distance) ? json_number_value(distance) : INFINITY,
                              .episodes = integer_at(item, "episodes")};
        if (t.method > 0 && t.spread > 0) e->trial[e->ntrial++] = t;
    }
}

static const char* name_of_method(const char* name) {
    ct_method method;
    return name && ct_method_find(name, &method) ? ct_method_name(method) : "";
}

static ct_status take_best(experiment* e, const json_t* best, ct_error* error) {
    if (access(e->files.best, F_OK) != 0) return CT_OK;
    if (search_files_resume(&e->files, e->p.size, e->best_y, &e->best, error))
        return cli_fail(
            error, CT_BAD_FILE, e->files.best,
            "does not belong to this scene's parameters; --fresh discards the earlier results, -o DIR keeps "
            "them");
    e->best.y = e->best_y;
    e->best.method = name_of_method(json_string_value(json_object_get(best, "method")));
    e->best_seed = integer_at(best, "seed");
    e->best_distance = number_at(best, "distance");
    return CT_OK;
}

ct_status experiment_load(experiment* e, ct_error* error) {
    char path[SEARCH_PATH];
    json_error_t where;
    experiment_path(e, "experiment.json", path);
    bool there = access(path, F_OK) == 0;
    json_t* object = there ? json_load_file(path, 0, &where) : json_object();
    if (!object) {
        cli_fail(error, CT_BAD_FILE, path, there ? where.text : "out of memory");
        strncat(error->message, there ? "; --fresh discards the earlier results" : "",
                sizeof error->message - strlen(error->message) - 1);
        return error->code;
    }
    bool good = true;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        if (!there && !experiment_methods[m].elsewhere) continue;
        table_path(e, m, path);
        good = good && read_table(&e->table[m], path);
    }
    const json_t *start = json_object_get(object, "start"), *timing = json_object_get(object, "timing");
    ct_status status = CT_OK;
    if (!good || !take_searches(e, json_object_get(object, "searches"), error))
        status = cli_fail(error, CT_OUT_OF_MEMORY, path, "out of memory");
    else if (there) {
        e->start_loss = number_at(start, "loss");
        e->start_distance = number_at(start, "distance");
        e->timing =
            (experiment_timing){number_at(timing, "forward_seconds"), number_at(timing, "backward_seconds"),
                                number_at(timing, "tape_bytes")};
        take_trials(e, json_object_get(object, "trials"));
        status = take_best(e, json_object_get(object, "best"), error);
    }
    json_decref(object);
    return status;
}

ct_status experiment_check_start(experiment* e, double loss, double distance, ct_error* error) {
    bool earlier = false;
    for (int k = 0; k < e->nsearch; k++) earlier |= !experiment_methods[e->search[k].method].elsewhere;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) earlier |= e->known[m].nrow > 0;
    bool same = fabs(loss - e->start_loss) <= 1e-6 * fabs(e->start_loss);
    if (earlier && !same) {
        cli_fail(error, CT_BAD_FILE, e->directory, "");
        snprintf(error->message, sizeof error->message,
                 "holds results of another version of this scene (the loss at its start was %.9g and is now "
                 "%.9g): --fresh discards them, -o DIR keeps them",
                 e->start_loss, loss);
        return CT_BAD_FILE;
    }
    if (!earlier) e->start_loss = loss, e->start_distance = distance;
    return CT_OK;
}

ct_status experiment_remove(const experiment* e, ct_error* error) {
    char path[SEARCH_PATH];
    // first what tells whether the rest is complete
    static const char* const names[] = {"experiment.json", "best.json", "failed.json", "failures.csv"};
    enum { NAMES = sizeof names / sizeof names[0] };
    for (int k = 0; k < NAMES + EXPERIMENT_METHODS; k++) {
        if (k < NAMES) experiment_path(e, names[k], path);
        else if (experiment_methods[k - NAMES].elsewhere) continue;
        else table_path(e, k - NAMES, path);
        if (unlink(path) != 0 && errno != ENOENT) return cli_fail_writing(error, path);
    }
    return CT_OK;
}
