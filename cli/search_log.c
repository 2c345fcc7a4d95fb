// What every evaluation of a search found; see search_log.h.
#include "search_log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const double most_bytes = 2e9;

typedef struct head {
    char magic[8];
    int32_t size, first;
    int32_t method, restarts, population, unused;
    uint64_t seed;
    double rate, tolerance, noise, spread;
    uint64_t start;  // hash of the start, which follows
} head;

typedef struct record {
    uint64_t check;  // of what follows, and of the gradient
    uint64_t point;
    int32_t status, gradient;  // gradient: size numbers follow
    double loss, measure, forward_seconds, backward_seconds;
} record;

static head head_of(int size, int first, const ct_optimize_def* def, const double* start) {
    return (head){.magic = "cuttle\n2",
                  .start = cli_point(start, size),
                  .size = size,
                  .first = first,
                  .method = (int32_t)def->method,
                  .restarts = def->restarts,
                  .population = def->population,
                  .seed = def->seed,
                  .rate = def->rate,
                  .tolerance = def->tolerance,
                  .noise = def->noise,
                  .spread = def->spread};
}

_Static_assert(sizeof(record) % sizeof(double) == 0, "a record is hashed as numbers");

static uint64_t check_of(const record* r, const double* gradient, int size) {
    double words[sizeof *r / sizeof(double)];
    memcpy(words, r, sizeof *r);
    const uint64_t own = cli_point(words + 1, (int)(sizeof *r / sizeof(double)) - 1);
    return gradient ? own * 31 + cli_point(gradient, size) : own;
}

bool search_log_open(search_log* log, const char* path, int size, const ct_optimize_def* def, double* start,
                     int* first) {
    head found;
    *log = (search_log){.stream = fopen(path, "r+b"), .path = path, .size = size, .recalls = true};
    bool good = log->stream && fread(&found, sizeof found, 1, log->stream) == 1;
    if (good) {
        good = fread(start, sizeof(double), (size_t)size, log->stream) == (size_t)size;
        head wanted = head_of(size, found.first, def, start);
        good = good && memcmp(&found, &wanted, sizeof wanted) == 0 && found.first >= 0;
        *first = found.first;
    }
    if (!good) search_log_end(log);
    return good;
}

ct_status search_log_begin(search_log* log, const char* path, int size, const ct_optimize_def* def,
                           const double* start, int first, ct_error* error) {
    *log = (search_log){.path = path, .size = size};
    bool gradients = def->method <= CT_METHOD_SLSQP;
    if (8.0 * size * (gradients ? def->iterations : 1) > most_bytes)
        return unlink(path) == 0 || errno == ENOENT ? CT_OK : cli_fail_writing(error, path);
    head here = head_of(size, first, def, start);
    log->stream = fopen(path, "wb");
    bool good = log->stream && fwrite(&here, sizeof here, 1, log->stream) == 1 &&
                fwrite(start, sizeof(double), (size_t)size, log->stream) == (size_t)size &&
                fflush(log->stream) == 0;
    return good ? CT_OK : cli_fail_writing(error, path);
}

bool search_log_recall(search_log* log, const double* y, double* gradient, ct_evaluation* result) {
    if (!log->stream || !log->recalls) return false;
    long begin = ftell(log->stream);
    record r;
    bool known =
        fread(&r, sizeof r, 1, log->stream) == 1 && r.point == cli_point(y, log->size) &&
        r.gradient == (gradient != NULL) &&
        (!gradient || fread(gradient, sizeof(double), (size_t)log->size, log->stream) == (size_t)log->size) &&
        r.check == check_of(&r, gradient, log->size);
    if (known) {
        *result =
            (ct_evaluation){(ct_status)r.status, r.loss, r.measure, r.forward_seconds, r.backward_seconds};
        log->recalled++;
        return true;
    }
    // from here on the file is written
    log->recalls = false;
    if (gradient) memset(gradient, 0, (size_t)log->size * sizeof(double));
    if (fseek(log->stream, begin, SEEK_SET) != 0 || ftruncate(fileno(log->stream), begin) != 0)
        search_log_end(log);
    return false;
}

ct_status search_log_append(search_log* log, const double* y, const double* gradient,
                            const ct_evaluation* result, ct_error* error) {
    if (!log->stream) return CT_OK;
    record r = {0,
                cli_point(y, log->size),
                (int32_t)result->status,
                gradient != NULL,
                result->loss,
                result->measure,
                result->forward_seconds,
                result->backward_seconds};
    r.check = check_of(&r, gradient, log->size);
    bool good =
        fwrite(&r, sizeof r, 1, log->stream) == 1 &&
        (!gradient || fwrite(gradient, sizeof(double), (size_t)log->size, log->stream) == (size_t)log->size);
    return good && fflush(log->stream) == 0 ? CT_OK : cli_fail_writing(error, log->path);
}

void search_log_end(search_log* log) {
    if (log->stream) fclose(log->stream);
    log->stream = NULL;
}
