// The parts of `cuttle experiment`: one application (a scene), searched by several methods from several
// starts.
//
//   experiment.c          options, which applications, the order of work
//   experiment_run.c      all (method, seed) searches over one batch of workers
//   experiment_tune.c     spreads of methods without gradients, from searches that are not reported
//   experiment_files.c    what is kept: <method>.csv, experiment.json; what an earlier run left
//   experiment_summary.c  statistics, loss.png, summary.md, JSON
//   experiment_movie.c    before and after: trajectories, pictures, the movie
#ifndef CUTTLE_CLI_EXPERIMENT_H
#define CUTTLE_CLI_EXPERIMENT_H

#include <pthread.h>

#include "search_files.h"

enum { EXPERIMENT_METHODS = 7 };
enum { EXPERIMENT_GOAL = 5 };  // per cent of the start distance that count as reached

typedef struct experiment_method {
    const char* name;  // on the command line, and of the table's file
    const char* title;
    ct_method method;  // of gradient: the scene's
    bool elsewhere;    // not run by this program: its rows are those of a table that another one writes
} experiment_method;
extern const experiment_method experiment_methods[EXPERIMENT_METHODS];  // [0]: gradient

typedef struct experiment_kind {
    const char* name;  // of the scene's file, without .json
    const char* title;
    const char* paper;  // what the paper found; NULL: nothing
    int episodes;       // of the methods without gradients
    double noise;       // of the starts, in y, where the scene names none
    double start;       // m, that distances count from; 0: from the end of the scene's own start
    bool own_start;     // distances count from each seed's own start
    const char* color;  // what the pictures' colours show
    double range[2];    // of these; equal: from the data
    bool no_mark;       // the target is no place to be shown
    bool learned;       // by the paper's reinforcement learning, too
    // ms per step of the paper's code on the machine of docs/experiments.md; 0: unknown
    double forward, backward;
    const char* differs;  // from what the paper's code was timed with; NULL: nothing is said
} experiment_kind;

typedef struct experiment_options {
    const char *directory, *method, *scenes;
    const char* command;  // the line that was typed
    bool wanted[EXPERIMENT_METHODS];
    int seeds, episodes;  // episodes 0: the application's
    int threads;          // workers of a process, 0: all cores
    const char* size;
    int width, height;         // of pictures
    double time_limit, begun;  // s of the whole command, 0: none; when it began
    bool fresh, no_movie, tune, json, quiet, verbose;
} experiment_options;

typedef struct experiment_row {  // an episode: one rollout, with its gradient where the method asks for it
    int seed, episode;
    double distance, loss;     // NAN: did not converge
    double best_distance;      // so far
    double forward, backward;  // s
    uint64_t point;            // a hash of the parameters
    bool spent;                // of `known`: taken over, or of no use any more
} experiment_row;

typedef struct experiment_table {  // of a method
    experiment_row* row;           // by seed, then episode, once sorted
    int nrow, capacity;
    FILE* stream;  // where rows are appended while searches run
    bool moved;    // by sorting: the file has another order
} experiment_table;

typedef struct experiment_search {
    int method, seed, budget;
    double spread;  // of methods without gradients
    int episodes, failures;
    double seconds;
    char reason[80];
    bool done;              // all of its rows are in the table
    bool converged;         // it ended of its own accord, before its budget did
    experiment_row* known;  // nknown, what an earlier run that was cut short found
    int nknown;
} experiment_search;

enum { EXPERIMENT_SPREADS = 4 };
// A search to choose a spread by. Nothing of it but this is kept.
typedef struct experiment_trial {
    int method;
    double spread, distance;  // distance: best that it found, m
    int episodes;
} experiment_trial;

typedef struct experiment_timing {
    double forward, backward;  // s of an episode, at the best parameters, one thread; 0: not measured
    double tape;               // bytes
} experiment_timing;

typedef struct experiment {
    const experiment_options* options;
    experiment_kind kind;
    char directory[SEARCH_PATH];
    cli_problem p;        // one thread; the scene
    ct_optimize_def def;  // the scene's
    int steps;
    double start_loss, start_distance;  // of the scene's own start; m, that distances count from
    double before;                      // m, distance of the scene's own start
    experiment_table table[EXPERIMENT_METHODS];
    // rows of searches that were cut short, from episode 1 on, those of a seed side by side
    experiment_table known[EXPERIMENT_METHODS];
    experiment_search* search;  // nsearch: those of earlier runs that are done, and those to do
    int nsearch;
    experiment_trial trial[EXPERIMENT_METHODS * EXPERIMENT_SPREADS];  // ntrial, done
    int ntrial;
    search_files files;  // paths; best.json
    search_best best;    // of all searches; iteration 0: none yet
    double* best_y;      // p.size
    int best_seed;
    double best_distance;  // m
    bool improved;         // this run found a better one than was on disk
    experiment_timing timing;
    // while searches run
    pthread_mutex_t lock;
    ct_batch* batch;
    int next;      // search to begin next
    int ran;       // searches done in this run
    bool alone;    // there is only one: every episode is told
    double drawn;  // s, when loss.png was last drawn
    cli_progress progress;
    double episodes_done, episodes_total;
    int recalled;    // episodes that are known
    ct_error error;  // the first failure
} experiment;

// ---- experiment.c ----

// Where the scene of that name is: path (SEARCH_PATH).
ct_status experiment_find_scene(const experiment_options* o, const char* name, char* path, ct_error* error);

bool experiment_late(const experiment_options* o);  // the time limit is reached

// ---- experiment_tune.c ----

// Runs the trials that are missing: every wanted method without gradients, with a third of the scene's
// spread, the spread and thrice that.
ct_status experiment_tune(experiment* e, ct_error* error);
// The spread that did best, or the scene's.
double experiment_spread(const experiment* e, int method);

// ---- experiment_files.c ----

void experiment_path(const experiment* e, const char* name, char* path);  // SEARCH_PATH
// Reads what an earlier run left.
ct_status experiment_load(experiment* e, ct_error* error);
// Are the results in the directory of the same scene? Compares the loss of its start.
ct_status experiment_check_start(experiment* e, double loss, double distance, ct_error* error);
ct_status experiment_save(const experiment* e, ct_error* error);  // experiment.json
ct_status experiment_open_table(experiment* e, int method, ct_error* error);
// written: the file has it already.
ct_status experiment_append(experiment* e, int method, const experiment_row* row, bool written,
                            ct_error* error);
// Moves the rows of a seed from the table to those that are known; the gradient's go.
ct_status experiment_set_aside(experiment* e, int method, int seed, ct_error* error);
ct_status experiment_sort_table(experiment* e, int method, ct_error* error);  // and writes it anew
ct_status experiment_remove(const experiment* e, ct_error* error);            // --fresh
// Writes a text file by rename.
ct_status experiment_write_text(const char* path, const char* text, ct_error* error);

// ---- experiment_run.c ----

int experiment_budget(const experiment* e, int method);  // episodes
// What a method without gradients is given.
ct_optimize_def experiment_def(const experiment* e, int method, int seed, int budget);
ct_status experiment_plan(experiment* e, ct_error* error);  // adds the searches that are missing
// Runs them. transport NULL: this process alone.
ct_status experiment_run(experiment* e, const ct_transport* transport, ct_error* error);
ct_status experiment_measure(experiment* e, ct_error* error);  // timing

// ---- experiment_summary.c ----

typedef struct experiment_result {                 // of a method
    int seeds, reached;                            // searches; those that came within the goal
    int budget;                                    // the largest
    double median, first, last;                    // episodes until they did; median inf: of most it did not
    double final_median, final_best, final_worst;  // per cent of the start distance
    double distance;                               // m, median of the final ones
    int failures;
} experiment_result;

double experiment_start_of(const experiment* e, int method, int seed);  // m
experiment_result experiment_result_of(const experiment* e, int method);
ct_status experiment_plot(const experiment* e, ct_error* error);
ct_status experiment_summarise(const experiment* e, ct_error* error);             // summary.md
void experiment_machine(char* out, size_t size);                                  // the processor, in words
void experiment_write_overview(const experiment* list, int count, FILE* stream);  // a table of all
json_t* experiment_object(const experiment* e);
void experiment_print(const experiment* e);

// ---- experiment_movie.c ----

ct_status experiment_record(experiment* e, ct_error* error);

#endif
