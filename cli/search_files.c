// The files of `cuttle optimize`; see search_files.h.
#include "search_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char table_head[] = "iteration,loss,best,gradient_norm,seconds\n";

// ---- the directory -------------------------------------------------------------------------

static bool make_directory(const char* path) {
    char part[SEARCH_PATH];
    snprintf(part, sizeof part, "%s", path);
    for (char* slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    struct stat about;
    if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
    return stat(part, &about) == 0 && (S_ISDIR(about.st_mode) || (errno = ENOTDIR, false));
}

// One search at a time: whoever holds the lock of this file, which lasts as long as the process at most.
static ct_status lock_directory(search_files* files, const char* directory, ct_error* error) {
    char path[SEARCH_PATH + 8];
    snprintf(path, sizeof path, "%s/.lock", directory);
    files->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (files->lock < 0 || flock(files->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return CT_OK;
    close(files->lock);
    files->lock = -1;
    return cli_fail(
        error, CT_IO, directory,
        "another search is writing in this directory: wait for it, or choose another one with -o");
}

ct_status search_files_begin(search_files* files, const char* directory, bool create, ct_error* error) {
    *files = (search_files){.lock = -1};
    if (strlen(directory) > SEARCH_PATH - 32)
        return cli_fail(error, CT_BAD_ARGUMENT, directory, "the name is too long");
    if (create && !make_directory(directory)) return cli_fail_writing(error, directory);
    const char* slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    snprintf(files->best, SEARCH_PATH, "%s%sbest.json", directory, slash);
    snprintf(files->table, SEARCH_PATH, "%s%sloss.csv", directory, slash);
    snprintf(files->plot, SEARCH_PATH, "%s%sloss.png", directory, slash);
    snprintf(files->result, SEARCH_PATH, "%s%sresult.h5", directory, slash);
    snprintf(files->log, SEARCH_PATH, "%s%sevaluations.bin", directory, slash);
    snprintf(files->failed, SEARCH_PATH, "%s%sfailed.json", directory, slash);
    return lock_directory(files, directory, error);
}

void search_files_end(search_files* files) {
    if (files->stream) fclose(files->stream);
    if (files->lock > 0) close(files->lock);
    free(files->row);
    files->stream = NULL;
    files->lock = -1;
    files->row = NULL;
}

// ---- the table -----------------------------------------------------------------------------

static bool keep_row(search_files* files, const search_row* row) {
    if (!cli_grow((void**)&files->row, &files->capacity, files->nrow, sizeof *files->row)) return false;
    files->row[files->nrow++] = *row;
    return true;
}

static void write_row(FILE* stream, const search_row* r) {
    fprintf(stream, "%.0f,%.17g,%.17g,%.17g,%.3f\n", r->iteration, r->loss, r->best, r->gradient_norm,
            r->seconds);
}

// Rows up to the first that is cut short.
static void read_table(search_files* files) {
    FILE* stream = fopen(files->table, "r");
    char line[512];
    while (stream && fgets(line, sizeof line, stream)) {
        search_row r;
        if (strcmp(line, table_head) == 0) continue;
        if (!strchr(line, '\n')) break;
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &r.iteration, &r.loss, &r.best, &r.gradient_norm,
                   &r.seconds) != 5)
            break;
        if (!keep_row(files, &r)) break;
    }
    if (stream) fclose(stream);
}

ct_status search_files_open_table(search_files* files, ct_error* error) {
    char temporary[SEARCH_PATH + 8];
    snprintf(temporary, sizeof temporary, "%s.new", files->table);
    files->stream = fopen(temporary, "w");
    if (!files->stream) return cli_fail_writing(error, temporary);
    fputs(table_head, files->stream);
    for (int i = 0; i < files->nrow; i++) write_row(files->stream, &files->row[i]);
    if (fflush(files->stream) != 0 || rename(temporary, files->table) != 0)
        return cli_fail_writing(error, files->table);
    return CT_OK;
}

ct_status search_files_append(search_files* files, const search_row* row, ct_error* error) {
    if (!keep_row(files, row)) return cli_fail(error, CT_OUT_OF_MEMORY, files->table, "out of memory");
    write_row(files->stream, row);
    return fflush(files->stream) == 0 ? CT_OK : cli_fail_writing(error, files->table);
}

ct_status search_files_draw(const search_files* files, ct_error* error) {
    size_t n = (size_t)files->nrow;
    double* column = calloc(3 * n + 1, sizeof(double));
    if (!column) return cli_fail(error, CT_OUT_OF_MEMORY, files->plot, "out of memory");
    bool positive = true;
    for (size_t i = 0; i < n; i++) {
        const search_row* r = &files->row[i];
        column[i] = r->iteration, column[n + i] = r->loss, column[2 * n + i] = r->best;
        if (r->loss < 0) positive = false;
    }
    ct_plot_series series[] = {{.name = "loss", .x = column, .y = column + n, .count = files->nrow},
                               {.name = "best", .x = column, .y = column + 2 * n, .count = files->nrow}};
    ct_plot_def def = ct_plot_def_default();
    def.x_label = "evaluation";
    def.y_label = "loss";
    def.log_y = positive;
    ct_status status = ct_plot_save(files->plot, &def, series, 2, error);
    free(column);
    return status;
}

// ---- the best ------------------------------------------------------------------------------

static json_t* number_list(const double* values, int count) {
    json_t* list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, cli_json_number(values[i]));
    return list;
}

static json_t* value_object(const cli_problem* p, const double* y) {
    json_t* object = json_object();
    ct_problem_values(p->problem, y, p->values);
    for (int k = 0; k < p->nslice; k++) {
        ct_slice slice = ct_problem_slice(p->problem, k);
        json_object_set_new(object, slice.name, number_list(p->values + slice.first, slice.count));
    }
    return object;
}

static ct_status write_point(const char* path, const cli_problem* p, const search_best* best,
                             ct_error* error) {
    char temporary[SEARCH_PATH + 8];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    json_t* object = json_pack("{s:s, s:o, s:i, s:s, s:f, s:o, s:o}", "scene", ct_scene_file(p->scene),
                               "loss", cli_json_number(best->loss), "iteration", best->iteration, "method",
                               best->method, "seconds", best->seconds, "values", value_object(p, best->y),
                               "y", number_list(best->y, p->size));
    if (object && best->failure) json_object_set_new(object, "failure", json_string(best->failure));
    FILE* stream = object ? fopen(temporary, "w") : NULL;
    bool good = stream && json_dumpf(object, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 &&
                fputc('\n', stream) != EOF;
    if (stream && (fflush(stream) != 0 || fsync(fileno(stream)) != 0)) good = false;
    if (stream && fclose(stream) != 0) good = false;
    json_decref(object);
    if (!good || rename(temporary, path) != 0) return cli_fail_writing(error, path);
    return CT_OK;
}

ct_status search_files_write_best(const search_files* files, const cli_problem* p, const search_best* best,
                                  ct_error* error) {
    return write_point(files->best, p, best, error);
}

ct_status search_files_write_failed(const search_files* files, const cli_problem* p,
                                    const search_best* failed, ct_error* error) {
    return write_point(files->failed, p, failed, error);
}

static bool read_numbers(const json_t* list, int size, double* values) {
    if (!json_is_array(list) || json_array_size(list) != (size_t)size) return false;
    for (int i = 0; i < size; i++) {
        const json_t* item = json_array_get(list, (size_t)i);
        if (!json_is_number(item)) return false;
        values[i] = json_number_value(item);
    }
    return true;
}

ct_status search_files_read_best(const char* path, int size, double* y, search_best* best, ct_error* error) {
    json_error_t where;
    json_t* object = json_load_file(path, 0, &where);
    if (!object) {
        if (access(path, R_OK) != 0) return cli_fail(error, CT_IO, path, "cannot be read");
        cli_fail(error, CT_BAD_FILE, path, where.text);
        error->line = where.line > 0 ? where.line : 0;
        return error->code;
    }
    const json_t *loss = json_object_get(object, "loss"), *iteration = json_object_get(object, "iteration");
    const json_t* seconds = json_object_get(object, "seconds");
    bool failed = json_object_get(object, "failure") != NULL;  // has no loss
    bool good = (json_is_number(loss) || failed) && json_is_integer(iteration) && json_is_number(seconds) &&
                json_integer_value(iteration) >= 0 && json_integer_value(iteration) <= INT32_MAX &&
                read_numbers(json_object_get(object, "y"), size, y);
    if (good) {
        best->loss = json_number_value(loss);
        best->iteration = (int)json_integer_value(iteration);
        best->seconds = json_number_value(seconds);
    }
    json_decref(object);
    return good ? CT_OK : cli_fail(error, CT_BAD_FILE, path, "does not belong to this scene's parameters");
}

ct_status search_files_resume(search_files* files, int size, double* y, search_best* best, ct_error* error) {
    ct_status status = search_files_read_best(files->best, size, y, best, error);
    if (status != CT_OK) {
        strncat(error->message, "; leave out --resume to start again",
                sizeof error->message - strlen(error->message) - 1);
        return status;
    }
    read_table(files);
    return CT_OK;
}
