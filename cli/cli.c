// Option parsing with help, error printing, progress line and Ctrl-C flag of the command line program.
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- Numbers ----

void cli_default_path(const char* file, const char* ending, char* path, size_t size) {
    const char* slash = strrchr(file, '/');
    const char* name = slash ? slash + 1 : file;
    const char* dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, size, "%.*s%s", length, name, ending);
}

bool cli_read_integer(const char* text, int* value) {
    char* end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX) return false;
    *value = (int)number;
    return true;
}

bool cli_read_number(const char* text, double* value) {
    char* end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number)) return false;
    *value = number;
    return true;
}

bool cli_read_numbers(const char* text, double* values, int count) {
    for (int i = 0; i < count; i++) {
        char* end;
        values[i] = strtod(text, &end);
        char expected = i + 1 < count ? ',' : '\0';
        if (end == text || *end != expected || !isfinite(values[i])) return false;
        text = end + 1;
    }
    return true;
}

int cli_read_counts(const char* text, int* values, int max) {
    for (int count = 0; count < max; text++) {
        char* end;
        double number = strtod(text, &end);
        if (end == text) return 0;
        if (*end == 'k' || *end == 'K') number *= 1e3, end++;
        else if (*end == 'm' || *end == 'M') number *= 1e6, end++;
        if (!(number >= 1 && number <= 1e9)) return 0;
        values[count++] = (int)number;
        if (*end == '\0') return count;
        if (*end != ',') return 0;
        text = end;
    }
    return 0;
}

// ---- Names ----

// Edits (insert, delete, replace, swap neighbours) that lead from a to b; names are short.
static int edit_distance(const char* a, const char* b) {
    enum { LONGEST = 31 };
    int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST || lb > LONGEST) return LONGEST;
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= la; i++) d[i][0] = i;
    for (int j = 0; j <= lb; j++) d[0][j] = j;
    for (int i = 1; i <= la; i++) {
        for (int j = 1; j <= lb; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[la][lb];
}

const char* cli_nearest(const char* text, const char* const* names, int count) {
    const char* nearest = NULL;
    int best = (int)strlen(text) / 3 + 2;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(text, names[i]);
        bool prefix = strlen(text) >= 3 && strncmp(text, names[i], strlen(text)) == 0;
        if (prefix) distance = 0;
        if (distance < best) best = distance, nearest = names[i];
    }
    return nearest;
}

void cli_list(const char* const* names, int count, const char* last, char* text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < count && length < size; i++) {
        const char* joint = i == 0 ? "" : i == count - 1 ? " " : ", ";
        bool end = i > 0 && i == count - 1;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%s", joint, end ? last : "",
                                   end ? " " : "", names[i]);
    }
}

// ---- Options ----

static void print_option(char letter, const char* name, const char* value, const char* help) {
    char left[64];
    snprintf(left, sizeof left, "%s%c%s%s%s%s", letter ? "-" : "  ", letter ? letter : ' ',
             letter ? ", " : " ", name, value ? " " : "", value ? value : "");
    printf("  %-26s %s\n", left, help);
}

void cli_print_help(const cli_usage* usage) {
    printf("%s\n\nUsage: cuttle%s%s [OPTIONS]%s%s\n", usage->summary, *usage->command ? " " : "",
           usage->command, *usage->arguments ? " " : "", usage->arguments);
    if (usage->details) printf("\n%s\n", usage->details);
    printf("\nOptions:\n");
    for (const cli_option* o = usage->options; o && o->name; o++)
        print_option(o->letter, o->name, o->value, o->help);
    print_option('h', "--help", NULL, "show this help");
    if (usage->examples) printf("\nExamples:\n%s\n", usage->examples);
}

int cli_bad_usage(const cli_usage* usage, const char* format, ...) {
    va_list list;
    fprintf(stderr, "cuttle%s%s: ", *usage->command ? " " : "", usage->command);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\nTry: cuttle%s%s --help\n", *usage->command ? " " : "", usage->command);
    return CLI_BAD_INPUT;
}

static int unknown_option(const cli_usage* usage, const char* given, size_t length) {
    enum { MOST = 32 };
    const char* names[MOST] = {"--help"};
    char text[64];
    int count = 1;
    for (const cli_option* o = usage->options; o && o->name && count < MOST; o++) names[count++] = o->name;
    snprintf(text, sizeof text, "%.*s", (int)length, given);
    const char* nearest = cli_nearest(text, names, count);
    if (nearest) return cli_bad_usage(usage, "unknown option %s; did you mean %s?", text, nearest);
    return cli_bad_usage(usage, "unknown option %s", text);
}

static const cli_option* find_option(const cli_usage* usage, const char* text, size_t length) {
    for (const cli_option* o = usage->options; o && o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, text, length) == 0) return o;
        if (length == 2 && text[0] == '-' && o->letter && text[1] == o->letter) return o;
    }
    return NULL;
}

// Puts a value where the option wants it; false: the text does not fit the kind.
static bool store_value(const cli_option* option, const char* text) {
    switch (option->kind) {
    case CLI_FLAG: *(bool*)option->target = true; return true;
    case CLI_COUNTER: ++*(int*)option->target; return true;
    case CLI_TEXT: *(const char**)option->target = text; return true;
    case CLI_INTEGER: return cli_read_integer(text, option->target);
    case CLI_COUNT: return cli_read_integer(text, option->target) && *(int*)option->target >= 1;
    case CLI_NUMBER: return cli_read_number(text, option->target);
    case CLI_POSITIVE: return cli_read_number(text, option->target) && *(double*)option->target > 0;
    case CLI_VECTOR: return cli_read_numbers(text, option->target, 3);
    }
    return false;
}

static const char* kind_name(cli_kind kind) {
    switch (kind) {
    case CLI_INTEGER: return "a whole number";
    case CLI_COUNT: return "a whole number, at least 1";
    case CLI_NUMBER: return "a number";
    case CLI_POSITIVE: return "a number above 0";
    default: return "three numbers x,y,z";
    }
}

// One option at argv[i]; returns how many arguments it took, 0: a mistake, explained.
static int parse_option(const cli_usage* usage, int argc, char** argv, int i) {
    const char* equals = argv[i][1] == '-' ? strchr(argv[i], '=') : NULL;
    size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    const cli_option* option = find_option(usage, argv[i], length);
    if (!option) return unknown_option(usage, argv[i], length), 0;
    bool wants_value = option->kind != CLI_FLAG && option->kind != CLI_COUNTER;
    if (!wants_value) {
        if (equals) return cli_bad_usage(usage, "%s takes no value", option->name), 0;
        store_value(option, NULL);
        return 1;
    }
    const char* text = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
    if (!text) return cli_bad_usage(usage, "%s needs a value: %s", option->name, option->value), 0;
    if (!store_value(option, text)) {
        return cli_bad_usage(usage, "%s takes %s, not '%s'", option->name, kind_name(option->kind), text), 0;
    }
    return equals ? 1 : 2;
}

bool cli_parse(const cli_usage* usage, int argc, char** argv, const char** arguments, int min, int max,
               int* count, int* exit_code) {
    bool only_arguments = false;
    *count = 0;
    *exit_code = CLI_BAD_INPUT;
    for (int i = 1; i < argc;) {
        bool option = !only_arguments && argv[i][0] == '-' && argv[i][1] != '\0';
        if (option && strcmp(argv[i], "--") == 0) {
            only_arguments = true;
            i++;
        } else if (option && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            cli_print_help(usage);
            *exit_code = CLI_OK;
            return false;
        } else if (option) {
            int taken = parse_option(usage, argc, argv, i);
            if (taken == 0) return false;
            i += taken;
        } else if (*count == max) {
            cli_bad_usage(usage, "unexpected argument '%s'", argv[i]);
            return false;
        } else {
            arguments[(*count)++] = argv[i++];
        }
    }
    if (*count >= min) return true;
    cli_bad_usage(usage, "missing argument: %s", usage->arguments);
    return false;
}

// ---- Errors ----

void cli_warn_inverted(int count) {
    if (count)
        fprintf(stderr,
                "warning: up to %d tet%s inside out at the end of a step: such a motion is not one of the "
                "material; press or pull less, refine the mesh or take smaller steps\n",
                count, count == 1 ? " is" : "s are");
}

void cli_print_json(json_t* object) {
    char* text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    printf("%s\n", text ? text : "{\"error\":{\"message\":\"out of memory\"}}");
    fflush(stdout);
    free(text);
    json_decref(object);
}

static void print_error(const ct_error* error, bool json) {
    const char* message = *error->message ? error->message : ct_status_text(error->code);
    if (json) {
        json_t* fields = json_pack("{s:s, s:s, s:s, s:i, s:s, s:I}", "message", message, "kind",
                                   ct_status_text(error->code), "file", error->file, "line", error->line,
                                   "path", error->path, "element", (json_int_t)error->element);
        cli_print_json(json_pack("{s:o}", "error", fields));
        return;
    }
    if (*error->file) {
        fprintf(stderr, "%s:", error->file);
        if (error->line > 0) fprintf(stderr, "%d:", error->line);
        fprintf(stderr, " ");
    } else {
        fprintf(stderr, "cuttle: ");
    }
    bool said = strncmp(message, error->path, strlen(error->path)) == 0;  // messages of scenes begin with it
    if (!said) fprintf(stderr, "%s: ", error->path);
    fprintf(stderr, "%s\n", message);
}

int cli_report_error(const ct_error* error, bool json) {
    print_error(error, json);
    switch (error->code) {
    case CT_BAD_ARGUMENT:
    case CT_BAD_FILE:
    case CT_BAD_MESH:
    case CT_BAD_SCENE:
    case CT_UNSUPPORTED: return CLI_BAD_INPUT;
    default: return CLI_FAILED;
    }
}

int cli_report_input_error(const ct_error* error, bool json) {
    int code = cli_report_error(error, json);
    return error->code == CT_IO ? CLI_BAD_INPUT : code;
}

int cli_report_status(ct_status status, const char* what, bool json) {
    ct_error error = {.code = status, .element = -1};
    snprintf(error.message, sizeof error.message, "%s: %s", what, ct_status_text(status));
    return cli_report_error(&error, json);
}

// ---- Progress and interruption ----

double cli_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_begin(const char* label, bool quiet) {
    return (cli_progress){.active = !quiet && isatty(STDERR_FILENO), .begun = cli_seconds(), .label = label};
}

void cli_progress_show(cli_progress* progress, double done, double total, const char* note) {
    double now = cli_seconds();
    if (!progress->active || now - progress->shown < 0.05) return;
    progress->shown = now;
    char bar[31];
    double share = total > 0 ? done / total : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    int filled = (int)(share * 30);
    for (int i = 0; i < 30; i++) bar[i] = i < filled ? '#' : '.';
    bar[30] = '\0';
    double elapsed = now - progress->begun;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", progress->label, bar, 100 * share);
    if (share > 0 && elapsed > 1) fprintf(stderr, ", %.0f s left", elapsed * (1 - share) / share);
    if (note) fprintf(stderr, "  %s", note);
    fflush(stderr);
}

void cli_progress_end(cli_progress* progress) {
    if (progress->active && progress->shown > 0) fprintf(stderr, "\r\033[K");
    progress->shown = 0;
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number) { interrupted = 1; }
static bool ask_interrupted(void* user) { return interrupted != 0; }

void cli_catch_interrupt(void) {
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    ct_set_cancel(ask_interrupted, NULL);
}

bool cli_interrupted(void) { return interrupted != 0; }

ct_status cli_fail(ct_error* error, ct_status status, const char* path, const char* message) {
    *error = (ct_error){.code = status, .element = -1};
    snprintf(error->file, sizeof error->file, "%.255s", path);
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

ct_status cli_fail_writing(ct_error* error, const char* path) {
    char text[256];
    snprintf(text, sizeof text, "cannot be written: %s", strerror(errno));
    return cli_fail(error, CT_IO, path, text);
}

bool cli_grow(void** items, int* capacity, int count, size_t size) {
    if (count < *capacity) return true;
    int more = *capacity ? 2 * *capacity : 256;
    void* grown = realloc(*items, (size_t)more * size);
    if (!grown) return false;
    *items = grown;
    *capacity = more;
    return true;
}
