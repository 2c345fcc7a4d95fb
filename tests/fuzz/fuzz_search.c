// Fuzz target of the files that `cuttle optimize --resume` reads. The first byte chooses: best.json and
// loss.csv, a zero byte between them ('b'); evaluations.bin from its bytes ('e'); one that was written and
// then damaged ('d'). Whatever they hold, the search goes on with numbers that were stored, or says why not.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../../cli/search_files.h"
#include "../../cli/search_log.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { SIZE = 3, EVALUATIONS = 3 };
static const double begun[SIZE] = {1, 2, 3}, slope[SIZE] = {4, 5, 6};

static void read_best(const uint8_t* data, size_t size) {
    const uint8_t* zero = size ? memchr(data, 0, size) : NULL;
    const size_t first = zero ? (size_t)(zero - data) : size;
    search_files files = {.lock = -1};
    search_best best = {0};
    ct_error error = {0};
    double y[SIZE];
    fuzz_file_name(files.best, "json");
    fuzz_file_name(files.table, "csv");
    fuzz_file_write(files.best, data, first);
    fuzz_file_write(files.table, zero ? zero + 1 : data, zero ? size - first - 1 : 0);
    const ct_status status = search_files_resume(&files, SIZE, y, &best, &error);
    fuzz_need(!status || (error.code == status && error.message[0] && error.line >= 0));
    for (int i = 0; i < SIZE && !status; i++) fuzz_need(isfinite(y[i]));
    fuzz_need(status || (best.iteration >= 0 && isfinite(best.seconds)));
    fuzz_need(!status || files.nrow == 0);
    search_files_end(&files);
}

// What a log says must have been said: a point is known with its own numbers, or not at all.
static void recall(const char* path, bool own) {
    const ct_optimize_def def = ct_optimize_def_default();
    double first[SIZE], gradient[SIZE];
    ct_evaluation result = {0};
    int before, count = 0;
    search_log log;
    if (!search_log_open(&log, path, SIZE, &def, first, &before)) return;
    fuzz_need(before >= 0);
    if (own) fuzz_need(!memcmp(first, begun, sizeof begun));
    while (search_log_recall(&log, begun, gradient, &result)) {
        count++;
        if (own) fuzz_need(!memcmp(gradient, slope, sizeof slope) && result.loss == 7 && !result.status);
    }
    if (own) fuzz_need(count <= EVALUATIONS);
    // and it can be continued
    if (log.stream) fuzz_need(!search_log_append(&log, begun, slope, &result, NULL));
    search_log_end(&log);
}

// Two bytes of every three say where, the third which bits; a byte that is left over cuts the file.
static void damage(const char* path, const uint8_t* data, size_t size) {
    const ct_optimize_def def = ct_optimize_def_default();
    const ct_evaluation result = {.status = CT_OK, .loss = 7};
    search_log log;
    fuzz_need(!search_log_begin(&log, path, SIZE, &def, begun, 0, NULL));
    for (int k = 0; k < EVALUATIONS; k++) fuzz_need(!search_log_append(&log, begun, slope, &result, NULL));
    search_log_end(&log);
    size_t length;
    uint8_t* whole = fuzz_file_read(path, &length);
    for (; size >= 3; data += 3, size -= 3) whole[(data[0] * 256u + data[1]) % length] ^= data[2];
    fuzz_file_write(path, whole, size ? length * data[0] / 256 : length);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[FUZZ_FILE_NAME];
    if (!size) return 0;
    if (data[0] != 'e' && data[0] != 'd') {
        read_best(data + 1, size - 1);
        return 0;
    }
    fuzz_file_name(path, "bin");
    if (data[0] == 'e') fuzz_file_write(path, data + 1, size - 1);
    else damage(path, data + 1, size - 1);
    recall(path, data[0] == 'd');
    return 0;
}
