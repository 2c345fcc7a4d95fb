// What every evaluation of a search found, gradients included: evaluations.bin in the directory of `cuttle
// optimize`.
//
// A search that begins again from the same start with the same settings asks for the same points. Told what
// is known of them, it comes to where it was, whatever its method has learnt on the way. The file is a head,
// the start, and a record an evaluation, in the machine's own bytes; a record that was cut short or whose
// checksum does not fit does not count, nor does what follows it.
#ifndef CUTTLE_CLI_SEARCH_LOG_H
#define CUTTLE_CLI_SEARCH_LOG_H

#include "problem.h"

typedef struct search_log {
    FILE* stream;  // NULL: nothing is kept
    const char* path;
    int size;
    bool recalls;  // the next record may be known
    int recalled;  // records that were
} search_log;

// Opens what an earlier run left; true: it is of the same settings. start: size, where that run began, after
// `first` evaluations of others.
bool search_log_open(search_log* log, const char* path, int size, const ct_optimize_def* def, double* start,
                     int* first);
// Begins a log, unless it would be too large.
ct_status search_log_begin(search_log* log, const char* path, int size, const ct_optimize_def* def,
                           const double* start, int first, ct_error* error);
// The next evaluation, if it is known and of this point; after one that is not, none is. gradient NULL: none
// is wanted.
bool search_log_recall(search_log* log, const double* y, double* gradient, ct_evaluation* result);
ct_status search_log_append(search_log* log, const double* y, const double* gradient,
                            const ct_evaluation* result, ct_error* error);
void search_log_end(search_log* log);

#endif
