// cuttle view: a trajectory as a page for the browser, or a scene that is simulated while one looks (live.c).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "live.h"

typedef struct view_options {
    const char* input[2];  // a second one is compared with the first
    int count;
    const char *output, *fields, *scene;
    int stride, port;
    bool interior, no_open, json, quiet;
} view_options;

static const char overview[] =
    "Writes one HTML file that holds the motion and everything to show it, and opens it. It needs no network "
    "and "
    "can be sent\n"
    "to others. Of two runs, the second is shown beside the first, or as a ghost in it.\n"
    "Bodies are hollow when they are cut, unless --interior stores their tets. Positions are rounded to "
    "1/65535 "
    "of the\n"
    "extent of the motion. FIELDS to colour by: velocity, stress, energy, volume, contact, activation, "
    "separated "
    "by commas.\n"
    "Muscles, chambers, energies, momenta, the loss and controls come from the scene file, as long as it "
    "leads to "
    "this motion.\n"
    "A scene is simulated while one looks, until Ctrl-C: pause, step, reset, pull at bodies, change gravity, "
    "stiffness, "
    "friction and\n"
    "controls; the file is read again when it changes. The page is served at 127.0.0.1, to those who know "
    "the address.";

static const char examples[] = "  cuttle view run.h5\n"
                               "  cuttle view run.h5 -o run.html --no-open\n"
                               "  cuttle view run.h5 --interior --stride 2\n"
                               "  cuttle view before.h5 after.h5 -o compare.html\n"
                               "  cuttle view scenes/jelly.json";

// The scene that the trajectory was made from, where it is still there and the same; NULL otherwise.
static ct_scene* find_scene(const view_options* o, const ct_trajectory_info* info) {
    ct_scene* scene = NULL;
    ct_error error;
    const char* path = o->scene ? o->scene : info->scene_file;
    if (!*path || access(path, R_OK) != 0) return NULL;
    if (!o->scene && cli_check_same_scene(path, o->input[0], &error)) return NULL;
    return ct_scene_load(&scene, path, &error) ? NULL : scene;
}

// Starts the desktop's program for the page without waiting for it.
bool cli_open_page(const char* path) {
    const char* command = getenv("BROWSER");
    if (!command || !*command) command = "xdg-open";
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") && !getenv("BROWSER")) return false;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(1);
            execlp(command, command, path, (char*)NULL);
            _exit(1);
        }
        _exit(0);
    }
    return child > 0 && waitpid(child, NULL, 0) == child;
}

static bool is_scene(const char* path) {
    const char* ending = strrchr(path, '.');
    return ending && strcmp(ending, ".json") == 0;
}

static int write_page(const view_options* o, ct_trajectory* const* files) {
    ct_error error = {.element = -1};
    ct_page_def def = ct_page_def_default();
    ct_trajectory_info info = ct_trajectory_summary(files[0]);
    struct stat about;
    char full[4096];
    ct_scene* scene = find_scene(o, &info);
    def.interior = o->interior;
    def.stride = o->stride;
    def.fields = o->fields;
    def.scene = scene;
    ct_status status = ct_page_write(files, o->count, &def, o->output, &error);
    ct_scene_free(scene);
    if (status) return cli_report_error(&error, o->json);
    double size = stat(o->output, &about) == 0 ? (double)about.st_size : 0;
    bool opened = !o->no_open && cli_open_page(realpath(o->output, full) ? full : o->output);
    if (o->json)
        cli_print_json(json_pack("{s:s, s:f, s:b}", "file", o->output, "bytes", size, "opened", opened));
    else if (!o->quiet)
        printf("%s: %.1f MB%s\n", o->output, 1e-6 * size, opened ? "" : "; open it in a browser");
    return CLI_OK;
}

int cuttle_view(int argc, char** argv) {
    view_options o = {.stride = 1};
    const cli_option options[] = {
        {"--output", 'o', CLI_TEXT, &o.output, "FILE", "the page (default: the run's name with .html)"},
        {"--interior", 0, CLI_FLAG, &o.interior, NULL, "store the tets, so that a cut shows what is inside"},
        {"--stride", 0, CLI_COUNT, &o.stride, "N", "every N-th frame, and the last"},
        {"--fields", 0, CLI_TEXT, &o.fields, "FIELDS", "what to colour by (default: all but volume)"},
        {"--scene", 0, CLI_TEXT, &o.scene, "FILE", "the scene of the run (default: where it was)"},
        {"--no-open", 0, CLI_FLAG, &o.no_open, NULL, "do not open the page"},
        {"--port", 0, CLI_COUNT, &o.port, "N",
         "of a scene: serve it at this port of 127.0.0.1 (default: any)"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "end with one JSON object on stdout"},
        {"--quiet", 'q', CLI_FLAG, &o.quiet, NULL, "print errors only"},
        {0}};
    const cli_usage usage = {"view",
                             "RUN [RUN] | SCENE.json",
                             "Shows a trajectory or a running scene in a browser.",
                             overview,
                             examples,
                             options};
    char path[512];
    int code;
    if (!cli_parse(&usage, argc, argv, o.input, 1, 2, &o.count, &code)) return code;
    if (is_scene(o.input[0])) {
        if (o.count > 1) return cli_bad_usage(&usage, "one scene at a time can be shown live");
        return cli_live(
            o.input[0],
            &(live_options){.port = o.port, .no_open = o.no_open, .json = o.json, .quiet = o.quiet});
    }
    if (!o.output) {
        cli_default_path(o.input[0], ".html", path, sizeof path);
        o.output = path;
    }
    ct_error error = {.element = -1};
    ct_trajectory* files[2] = {NULL, NULL};
    code = CLI_OK;
    for (int k = 0; k < o.count && code == CLI_OK; k++)
        if (ct_trajectory_open(&files[k], o.input[k], &error)) code = cli_report_input_error(&error, o.json);
    if (code == CLI_OK) code = write_page(&o, files);
    ct_trajectory_close(files[0], NULL);
    ct_trajectory_close(files[1], NULL);
    return code;
}
