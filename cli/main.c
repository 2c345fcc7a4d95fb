// cuttle: the command line program. Finds the sub-command and hands the rest of the arguments to it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"

typedef struct command {
    const char* name;
    int (*function)(int argc, char** argv);
    const char* summary;
} command;

static int cuttle_help(int argc, char** argv);
static int cuttle_version(int argc, char** argv);

static const command commands[] = {
    {"run", cuttle_run, "simulate a scene and write its trajectory"},
    {"optimize", cuttle_optimize, "find the parameters that minimise a scene's objective"},
    {"experiment", cuttle_experiment, "repeat the applications of the paper"},
    {"grad", cuttle_grad, "compute the gradient of a scene's objective"},
    {"check", cuttle_check, "compare the gradient with finite differences"},
    {"info", cuttle_info, "describe a scene, a mesh or a trajectory"},
    {"render", cuttle_render, "turn a trajectory into a movie or pictures"},
    {"view", cuttle_view, "look at a trajectory or a running scene in a browser"},
    {"export", cuttle_export, "write the frames of a trajectory for other programs"},
    {"mesh", cuttle_mesh, "make, check, repair and convert meshes"},
    {"bench", cuttle_bench, "measure the solvers on this machine"},
    {"help", cuttle_help, "show this help, or that of a command"},
    {"version", cuttle_version, "show the version"},
};
enum { NCOMMAND = sizeof commands / sizeof commands[0] };

static const command* find_command(const char* name) {
    for (int i = 0; i < NCOMMAND; i++) {
        if (strcmp(name, commands[i].name) == 0) return &commands[i];
    }
    return NULL;
}

static int unknown_command(const char* name) {
    const char* names[NCOMMAND];
    for (int i = 0; i < NCOMMAND; i++) names[i] = commands[i].name;
    const char* nearest = cli_nearest(name, names, NCOMMAND);
    fprintf(stderr, "cuttle: unknown command '%s'", name);
    if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\nTry: cuttle help\n");
    return CLI_BAD_INPUT;
}

static void print_overview(FILE* stream) {
    fprintf(stream,
            "Cuttle %s: simulation of soft bodies.\n\nUsage: cuttle COMMAND [OPTIONS] ...\n\nCommands:\n",
            ct_version());
    for (int i = 0; i < NCOMMAND; i++) fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream, "\nExamples:\n"
                    "  cuttle run scenes/jelly.json -o jelly.h5\n"
                    "  cuttle render jelly.h5 --mp4 jelly.mp4\n"
                    "  cuttle view jelly.h5\n"
                    "  cuttle run --help\n");
}

static int cuttle_help(int argc, char** argv) {
    if (argc < 2) return print_overview(stdout), CLI_OK;
    const command* found = find_command(argv[1]);
    if (!found) return unknown_command(argv[1]);
    if (found->function == cuttle_help) return print_overview(stdout), CLI_OK;
    char* arguments[] = {argv[1], "--help", NULL};
    return found->function(2, arguments);
}

static int cuttle_version(int argc, char** argv) {
    bool json = false;
    const cli_option options[] = {{"--json", 0, CLI_FLAG, &json, NULL, "print one JSON object"}, {0}};
    const cli_usage usage = {"version", "", "Shows the version.", NULL, NULL, options};
    int count, exit_code;
    if (!cli_parse(&usage, argc, argv, NULL, 0, 0, &count, &exit_code)) return exit_code;
    if (json) cli_print_json(json_pack("{s:s}", "version", ct_version()));
    else printf("cuttle %s\n", ct_version());
    return CLI_OK;
}

// OpenBLAS reads its settings only while it is loaded: starts the program once more with the right ones. Its
// own threads are of no use here, and where address space is short they would wait for it for ever, and the
// end of the program for them.
static void choose_blas_settings(char** argv) {
    const char* core = ct_blas_coretype();
    struct rlimit space;
    bool short_of_space = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
    const char* threads = getenv("OPENBLAS_NUM_THREADS");
    if (!core && !(short_of_space && (!threads || strcmp(threads, "1") != 0))) return;
    if (core && setenv("OPENBLAS_CORETYPE", core, 1) != 0) return;
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) return;
    execv("/proc/self/exe", argv);
}

// What was printed counts only once it has arrived.
static int finish(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "cuttle: the output cannot be written: %s\n", strerror(errno));
    return code == CLI_OK ? CLI_FAILED : code;
}

int main(int argc, char** argv) {
    choose_blas_settings(argv);
    if (argc < 2) return print_overview(stderr), CLI_BAD_INPUT;
    const char* name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const command* found = find_command(name);
    if (!found) return unknown_command(name);
    return finish(found->function(argc - 1, argv + 1));
}
