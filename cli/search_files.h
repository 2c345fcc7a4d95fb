// The files of `cuttle optimize` in its directory: best.json, loss.csv, loss.png.
//
// best.json is replaced by rename, loss.csv grows row by row and is flushed: a killed run leaves both
// readable.
#ifndef CUTTLE_CLI_SEARCH_FILES_H
#define CUTTLE_CLI_SEARCH_FILES_H

#include <stdio.h>

#include "problem.h"

enum { SEARCH_PATH = 4096 };

typedef struct search_row {
    double iteration, loss, best, gradient_norm, seconds;  // loss and norm NAN: did not converge
} search_row;

typedef struct search_files {
    char best[SEARCH_PATH], table[SEARCH_PATH], plot[SEARCH_PATH], result[SEARCH_PATH], log[SEARCH_PATH],
        failed[SEARCH_PATH];
    int lock;         // of the directory while a search writes there, -1: none
    FILE* stream;     // of the table
    search_row* row;  // nrow, all of this search, earlier runs included
    int nrow, capacity;
} search_files;

typedef struct search_best {
    int iteration;  // evaluations when it was written
    double loss, seconds;
    const char* method;
    const double* y;
    const char* failure;  // why it failed, of failed.json; NULL: it did not
} search_best;

// Finds the names of the files and keeps other searches out of the directory; `create`: makes it and its
// parents. CT_IO when another search is there.
ct_status search_files_begin(search_files* files, const char* directory, bool create, ct_error* error);
// Reads a best.json into y (size) and *best.
ct_status search_files_read_best(const char* path, int size, double* y, search_best* best, ct_error* error);
// Reads best.json into y (size) and *best, and the rows of loss.csv.
ct_status search_files_resume(search_files* files, int size, double* y, search_best* best, ct_error* error);
// Writes the table's head and the rows known so far, and leaves it open for more.
ct_status search_files_open_table(search_files* files, ct_error* error);
ct_status search_files_append(search_files* files, const search_row* row, ct_error* error);
ct_status search_files_write_best(const search_files* files, const cli_problem* p, const search_best* best,
                                  ct_error* error);
// failed.json: the last point that could not be evaluated, and why; `--from failed.json` looks at it again.
ct_status search_files_write_failed(const search_files* files, const cli_problem* p,
                                    const search_best* failed, ct_error* error);
ct_status search_files_draw(const search_files* files, ct_error* error);
void search_files_end(search_files* files);

#endif
