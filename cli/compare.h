// Comparisons of `cuttle experiment`: the same scene simulated in several ways (rivals) from several starts,
// each measured; the paper's tables of what skeletons and contact are worth.
//
//   compare.c           rivals x starts: scenes, searches, steps, measures; what is kept: table.csv
//   compare_report.c    means, summary.md, comparison.png, JSON
//   compare_humanoid.c  a soft humanoid with and without bones
//   compare_cloth.c     a soft ball on a sheet
#ifndef CUTTLE_CLI_COMPARE_H
#define CUTTLE_CLI_COMPARE_H

#include "experiment.h"

enum { COMPARE_METRICS = 6, COMPARE_RIVALS = 6 };

typedef struct compare_metric {
    const char* name;   // of its column in table.csv
    const char* title;  // in tables
    // where what matters is whether it happens: above this it does; 0: the number itself is told
    double threshold;
    bool percent;
} compare_metric;

typedef struct compare_rival {
    const char* name;   // in table.csv, and of its files
    const char* title;  // in tables and pictures
    // what the paper found, the time of a step after the metrics; NULL: it has no such column
    const char* paper[COMPARE_METRICS + 1];
    bool elsewhere;  // not simulated by this program: its rows come from NAME.csv, which another one writes
} compare_rival;

typedef struct compare_row {
    int rival, start;
    double value[COMPARE_METRICS];  // NAN: none
    double milliseconds;            // CPU time of a step
    int frame;                      // of the trajectory, the one to be looked at
    uint64_t scene;                 // a hash of what was simulated
    char failure[200];              // "": it came to its end
} compare_row;

// What a rival is measured by, while it moves.
typedef struct compare_measure compare_measure;

typedef struct compare_kind {
    const char *name, *title;
    const char* scene;    // of the file that all rivals are made from
    const char* intro;    // what is simulated
    const char* explain;  // what the columns mean
    const compare_metric* metric;
    int nmetric;
    const compare_rival* rival;
    int nrival;
    // Turns the scene into that of a rival from a start (1, 2, ...).
    void (*change)(json_t* scene, int rival, int start);
    // NULL: out of memory, or *error says more.
    compare_measure* (*begin)(const ct_scene* scene, const ct_model* model, const json_t* base,
                              ct_error* error);
    void (*look)(compare_measure* measure, const ct_model* model, const ct_state* state, int step);
    // Fills row->value and row->frame, and frees the measure.
    void (*end)(compare_measure* measure, compare_row* row);
} compare_kind;

typedef struct comparison {
    const compare_kind* kind;
    const experiment_options* options;
    char directory[SEARCH_PATH];
    json_t* base;        // the scene's file, meshes by absolute paths
    search_files files;  // keeps others out of the directory
    compare_row* row;
    int nrow, capacity;
    int ran;  // rows of this run
    int nvert, ntet, steps;
} comparison;

extern const compare_kind compare_humanoid, compare_cloth;

// ---- compare.c ----

const compare_kind* compare_find(const char* name);  // NULL: there is none
const compare_kind* compare_at(int index);           // NULL: beyond the last
// Simulates what is missing and writes all files. Returns the exit code; failures are reported.
int compare_run(comparison* c);
void compare_close(comparison* c);
void compare_path(const comparison* c, const char* name, const char* ending, char* path);  // SEARCH_PATH
// A number that depends on the start and which of its numbers this is alone, evenly in [-1, 1].
double compare_random(int start, int index);

// ---- compare_report.c ----

ct_status compare_draw(const comparison* c, ct_error* error);       // comparison.png
ct_status compare_summarise(const comparison* c, ct_error* error);  // summary.md
void compare_write_table(const comparison* c, FILE* stream);        // as in summary.md
// summary.md of several experiments: all tables.
ct_status compare_overview(const experiment_options* o, const experiment* e, int count, const comparison* c,
                           int ncompared, const char* path, ct_error* error);
void compare_print(const comparison* c);
json_t* compare_object(const comparison* c);

// Gives all bodies of a scene what the projective solver takes: its energy, no damping of strain rates.
void compare_make_projective(json_t* scene);

#endif
