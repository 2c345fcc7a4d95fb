// What every sub-command shares: the command table, option parsing with help, errors, progress, interruption.
//
// A sub-command is a function `int cuttle_<name>(int argc, char** argv)`, argv[0] its own name; it returns
// the exit code. Results go to stdout, messages to stderr. With --json the last thing on stdout is one JSON
// object, also for a failure: {"error": {...}}.
#ifndef CUTTLE_CLI_H
#define CUTTLE_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuttle.h"

// exit codes: done, the work failed, bad input or usage
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_BAD_INPUT = 2 };

int cuttle_run(int argc, char** argv);
int cuttle_grad(int argc, char** argv);
int cuttle_check(int argc, char** argv);
int cuttle_optimize(int argc, char** argv);
int cuttle_experiment(int argc, char** argv);
int cuttle_info(int argc, char** argv);
int cuttle_render(int argc, char** argv);
int cuttle_export(int argc, char** argv);
int cuttle_view(int argc, char** argv);
int cuttle_mesh(int argc, char** argv);
int cuttle_bench(int argc, char** argv);

// ---- Options ----

typedef enum cli_kind {
    CLI_FLAG,      // bool*         no value
    CLI_COUNTER,   // int*          no value, each use adds one
    CLI_TEXT,      // const char**
    CLI_INTEGER,   // int*
    CLI_COUNT,     // int*          at least 1
    CLI_NUMBER,    // double*
    CLI_POSITIVE,  // double*       above 0
    CLI_VECTOR     // double[3]     "x,y,z"
} cli_kind;

typedef struct cli_option {
    const char* name;  // "--output"; NULL ends the table
    char letter;       // 'o' for -o, 0: none
    cli_kind kind;
    void* target;       // where the value goes; left alone when the option is not given
    const char* value;  // name of the value in the help, "FILE"; NULL for flags
    const char* help;
} cli_option;

typedef struct cli_usage {
    const char* command;        // "run"; "" for the program itself
    const char* arguments;      // "SCENE"
    const char* summary;        // one sentence
    const char* details;        // more lines, or NULL
    const char* examples;       // lines of shell commands, or NULL
    const cli_option* options;  // --help is always there
} cli_usage;

// Reads the options into their targets and collects the other arguments (in order, at most `max`, at least
// `min`). Returns true to go on; false: leave with *exit_code (after --help or a mistake, which it explains).
bool cli_parse(const cli_usage* usage, int argc, char** argv, const char** arguments, int min, int max,
               int* count, int* exit_code);
void cli_print_help(const cli_usage* usage);

// Fills an error about a file, and returns its code; the second says what errno does.
ct_status cli_fail(ct_error* error, ct_status status, const char* path, const char* message);
ct_status cli_fail_writing(ct_error* error, const char* path);

// Room for one more item in an array of `count`; false: out of memory, and nothing has changed.
bool cli_grow(void** items, int* capacity, int count, size_t size);

// Whole-string conversions; false when the text is anything else (NaN and infinity included).
// The file's own name with `ending` in place of its own, in the current directory.
void cli_default_path(const char* file, const char* ending, char* path, size_t size);
bool cli_read_integer(const char* text, int* value);
bool cli_read_number(const char* text, double* value);
bool cli_read_numbers(const char* text, double* values, int count);  // exactly count, separated by commas
// A list of 1 to max counts, with k and M for thousands and millions: "1k,10k"; returns how many, 0:
// malformed.
int cli_read_counts(const char* text, int* values, int max);

// The name closest to `text` among `count`, NULL when none is near.
const char* cli_nearest(const char* text, const char* const* names, int count);
// Writes "a, b and c" with `last` before the last.
void cli_list(const char* const* names, int count, const char* last, char* text, size_t size);

// ---- Errors ----

// "cuttle run: message" on stderr; returns CLI_BAD_INPUT.
int cli_bad_usage(const cli_usage* usage, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Prints "file:line: path: message" on stderr, or with json {"error": {...}} on stdout; returns the exit code
// that the error's kind asks for: input that is wrong 2, otherwise 1.
int cli_report_error(const ct_error* error, bool json);
// The same for a failure to read the input, where a missing file is bad input as well.
int cli_report_input_error(const ct_error* error, bool json);
// The same from a status alone, `what` says what was being done.
int cli_report_status(ct_status status, const char* what, bool json);
// Prints a JSON object on one line and gives the reference up.
// Says on stderr that tets were inside out; 0: says nothing.
void cli_warn_inverted(int count);
void cli_print_json(json_t* object);

// ---- Progress and interruption ----

typedef struct cli_progress {
    bool active;          // stderr is a terminal and the user did not ask for quiet
    double begun, shown;  // s
    const char* label;
} cli_progress;

double cli_seconds(void);         // monotonic clock
double cli_thread_seconds(void);  // CPU time of the calling thread
cli_progress cli_progress_begin(const char* label, bool quiet);
// at most 20 a second
void cli_progress_show(cli_progress* progress, double done, double total, const char* note);
void cli_progress_end(cli_progress* progress);  // clears the line

// CT_BAD_ARGUMENT when the scene is no longer the one that the trajectory `file` began with; names what
// differs (cli/same_scene.c).
ct_status cli_check_same_scene(const char* scene, const char* file, ct_error* error);

// Actuators of a model as they are in a state (cli/actuators.c): a line each on stdout; an array.
void cli_print_actuators(const ct_model* model, const ct_state* state);
json_t* cli_actuator_objects(const ct_model* model, const ct_state* state);

void cli_catch_interrupt(void);  // first Ctrl-C (or TERM): sets the flag; the second kills
bool cli_interrupted(void);

#endif
