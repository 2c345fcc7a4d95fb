// cuttle experiment: the paper's applications, each one command: searched by gradients and by methods
// without, from several starts.
#include "experiment.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"
#include "team.h"

const experiment_method experiment_methods[EXPERIMENT_METHODS] = {
    {"gradient", "gradient", CT_METHOD_LBFGS, false},
    {"cmaes", "CMA-ES", CT_METHOD_CMAES, false},
    {"evolution", "evolution (for LEAP)", CT_METHOD_EVOLUTION, false},
    {"bobyqa", "BOBYQA", CT_METHOD_BOBYQA, false},
    {"nelder_mead", "Nelder-Mead", CT_METHOD_NELDER_MEAD, false},
    {"ppo", "PPO", CT_METHOD_LBFGS, true},  // python/learn/reinforce.py
    {"sac", "SAC", CT_METHOD_LBFGS, true},
};

#define BRIDGE_DIFFERS "our own mesh and material; steps of 0.02 s, damped, gravity 9.81 m/s^2"

static const experiment_kind kinds[] = {
    {.name = "suspension_bridge",
     .title = "Suspension bridge",
     .paper = "about 10 iterations; the other methods not in 100",
     .episodes = 100,
     .noise = 0.3,
     .own_start = true,
     .no_mark = true,
     .color = "displacement",
     .range = {0, 0.4},
     .forward = 160,
     .backward = 120,
     .differs = BRIDGE_DIFFERS},
    {.name = "arch_bridge",
     .title = "Arch bridge",
     .paper = "about 10 iterations; the other methods not in 100",
     .episodes = 100,
     .noise = 0.3,
     .own_start = true,
     .no_mark = true,
     .color = "displacement",
     .range = {0, 0.3},
     .forward = 650,
     .backward = 680,
     .differs = BRIDGE_DIFFERS},
    {.name = "gripper",
     .title = "Gripper",
     .paper = "10 episodes; CMA-ES 200, PPO 500",
     .episodes = 500,
     .noise = 0.05,
     .start = 0.3,
     .learned = true,
     .color = "body"},
    {.name = "octopus",
     .title = "Octopus",
     .paper = "50 episodes; the other methods not in 500",
     .episodes = 500,
     .noise = 0.05,
     .learned = true,
     .color = "activation",
     .range = {0, 1},
     .forward = 150,
     .backward = 1430,
     .differs = "our own mesh; 8 s in steps of 0.02 s instead of 2 s in steps of 1/200 s, softer flesh "
                "(0.06 instead of 0.2 MPa); 64 activations per step instead of 4 wave numbers for each of 16 "
                "muscles"},
    {.name = "octopus_paper",
     .title = "Octopus, the paper's step",
     .paper = "50 episodes; the other methods not in 500",
     .episodes = 500,
     .noise = 0.05,
     .color = "activation",
     .range = {0, 1},
     .forward = 150,
     .backward = 1430,
     .differs = "our own mesh and muscles; time step, number of steps, Young's modulus, Poisson's ratio and "
                "the muscles' stiffness are the paper's"},
    {.name = "fish",
     .title = "Fish",
     .paper = "about 50 episodes; the other methods not in 500",
     .episodes = 500,
     .noise = 0.05,
     .learned = true,
     .color = "body",
     .forward = 1130,
     .backward = 11500,
     .differs = "our own mesh, skeleton and material; steps of 0.02 s"},
};
enum { NKIND = sizeof kinds / sizeof kinds[0], MOST = 16 };

static const char overview[] =
    "EXPERIMENT is bridges (suspension_bridge and arch_bridge), gripper, octopus, octopus_paper (steps of "
    "1/200 s, stiffer), fish,\n"
    "humanoid, cloth, all, or a scene with parameters and an objective (FILE.json). humanoid compares a soft "
    "body with bones and torques found by gradients "
    "with the same without\n"
    "bones, as one rigid body and with passive bones, from --seeds starts; cloth a soft ball on a sheet with "
    "a rigid ball, and with contact at the nodes of the sheet alone.\n"
    "In the others every method "
    "searches from every seed's start; an episode is one "
    "rollout, with its gradient if the\n"
    "method asks for it. Methods: gradient (the scene's own: lbfgs or adam), cmaes, evolution, "
    "bobyqa, nelder_mead.\n"
    "\n"
    "Writes to DIR: METHOD.csv (one row per episode), loss.png (best distance so far over episodes), "
    "summary.md (episodes to 5 % of\n"
    "the start distance, times), best.json, before.h5, after.h5, before.png, after.png, strip.png, "
    "before_after.mp4, and\n"
    "experiment.json, which lists the complete searches. The same command, run again, does what is "
    "missing.";

static const char examples[] =
    "  cuttle experiment octopus --method gradient --seeds 1\n"
    "  cuttle experiment bridges -o results\n"
    "  cuttle experiment gripper --method gradient,cmaes --episodes 200 --threads 8\n"
    "  mpirun -n 4 cuttle experiment all --threads 16 -o results";

// ---- what is asked for ---------------------------------------------------------------------

static int read_methods(const cli_usage* usage, experiment_options* o) {
    const char* names[EXPERIMENT_METHODS];
    char text[256];
    int count = 0;
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        if (experiment_methods[m].elsewhere) continue;
        names[count++] = experiment_methods[m].name;
        o->wanted[m] = !o->method;
    }
    if (!o->method) return CLI_OK;
    snprintf(text, sizeof text, "%s", o->method);
    for (char *rest = text, *item; (item = strsep(&rest, ",")) != NULL;) {
        int m = 0;
        while (m < count && strcmp(item, names[m]) != 0) m++;
        if (m == count) {
            const char* near = cli_nearest(item, names, count);
            return cli_bad_usage(usage,
                                 "there is no method '%s'%s%s%s: choose gradient, cmaes, evolution, bobyqa "
                                 "or nelder_mead, or several with commas",
                                 item, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        o->wanted[m] = true;
    }
    return CLI_OK;
}

static int read_size(const cli_usage* usage, experiment_options* o) {
    char end;
    if (!o->size) return CLI_OK;
    bool good = sscanf(o->size, "%dx%d%c", &o->width, &o->height, &end) == 2 && o->width >= 32 &&
                o->height >= 32 && o->width <= 8192 && o->height <= 8192;
    o->width -= o->width % 2, o->height -= o->height % 2;  // halves, in the strip
    return good ? CLI_OK
                : cli_bad_usage(usage, "--size %s: write it as 960x540, each side 32 to 8192", o->size);
}

bool experiment_late(const experiment_options* o) {
    return o->time_limit > 0 && cli_seconds() - o->begun > o->time_limit;
}

static bool is_scene_file(const char* name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

typedef struct choice {  // an experiment that is asked for
    experiment_kind kind;
    char name[128];    // of a scene that is no application
    const char* file;  // the scene, NULL: by the kind's name
} choice;

static int add_kinds(choice* list, int count, const char* name) {
    for (int k = 0; k < NKIND; k++) {
        bool bridge = strstr(kinds[k].name, "bridge") != NULL;
        bool wanted = strcmp(name, "all") == 0 || strcmp(name, kinds[k].name) == 0 ||
                      (strcmp(name, "bridges") == 0 && bridge),
             there = false;
        for (int i = 0; i < count; i++)
            there |= !list[i].file && strcmp(list[i].kind.name, kinds[k].name) == 0;
        if (wanted && !there && count < MOST) list[count++] = (choice){.kind = kinds[k]};
    }
    return count;
}

// The comparisons of that name.
static int add_comparisons(const compare_kind** list, int count, const char* name) {
    for (int k = 0; compare_at(k); k++) {
        bool wanted = strcmp(name, "all") == 0 || strcmp(name, compare_at(k)->name) == 0, there = false;
        for (int i = 0; i < count; i++) there |= list[i] == compare_at(k);
        if (wanted && !there && count < MOST) list[count++] = compare_at(k);
    }
    return count;
}

static int choose(const cli_usage* usage, const char** arguments, int narguments, choice* list, int* count,
                  const compare_kind** compared, int* ncompared) {
    static const char* const names[] = {
        "bridges", "suspension_bridge", "arch_bridge", "gripper", "octopus", "octopus_paper",
        "fish",    "humanoid",          "cloth",       "all"};
    enum { NNAME = sizeof names / sizeof names[0] };
    *count = *ncompared = 0;
    for (int i = 0; i < narguments; i++) {
        int k = 0;
        while (k < NNAME && strcmp(arguments[i], names[k]) != 0) k++;
        if (k < NNAME) {
            *count = add_kinds(list, *count, arguments[i]);
            *ncompared = add_comparisons(compared, *ncompared, arguments[i]);
        } else if (is_scene_file(arguments[i]) && *count < MOST) {
            choice* c = &list[(*count)++];
            *c = (choice){.file = arguments[i]};
            cli_default_path(arguments[i], "", c->name, sizeof c->name);
        } else {
            const char* near = cli_nearest(arguments[i], names, NNAME);
            return cli_bad_usage(usage,
                                 "there is no experiment '%s'%s%s%s: choose bridges, gripper, octopus, "
                                 "octopus_paper, fish, humanoid, cloth or all, or a scene FILE.json",
                                 arguments[i], near ? "; did you mean '" : "", near ? near : "",
                                 near ? "'?" : "");
        }
    }
    for (int i = 0; i < *count; i++)  // once the list stays where it is
        if (list[i].file)
            list[i].kind = (experiment_kind){
                .name = list[i].name, .title = list[i].name, .episodes = 500, .noise = 0.05, .color = "body"};
    return CLI_OK;
}

// ---- where the scenes are ------------------------------------------------------------------

// In the directory that is given, or else in ./scenes, beside an installed program (share/cuttle/scenes), or
// in the source tree around its build directory.
ct_status experiment_find_scene(const experiment_options* o, const char* name, char* path, ct_error* error) {
    char program[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const char *home = dirname(program), *places[] = {"../share/cuttle/scenes", "../../scenes"};
    char tried[3][PATH_MAX];
    int count = 0;
    snprintf(tried[count++], PATH_MAX, "%s", o->scenes ? o->scenes : "scenes");
    for (int k = 0; k < 2 && !o->scenes; k++)
        snprintf(tried[count++], PATH_MAX, "%.*s/%s", PATH_MAX - 64, home, places[k]);
    for (int k = 0; k < count; k++) {
        snprintf(path, SEARCH_PATH, "%.*s/%s.json", SEARCH_PATH - 200, tried[k], name);
        if (access(path, R_OK) == 0) return CT_OK;
    }
    *error = (ct_error){.code = CT_BAD_ARGUMENT, .element = -1};
    snprintf(error->message, sizeof error->message,
             "the scene %s.json is not in %.120s%s%.120s: use --scenes DIR to say where the scenes are (the "
             "directory `scenes` of Cuttle's sources)",
             name, tried[0], count > 1 ? " nor " : "", count > 1 ? tried[1] : "");
    return error->code;
}

// ---- one experiment ------------------------------------------------------------------------

static int open_experiment(experiment* e, const char* scene) {
    const experiment_options* o = e->options;
    ct_error error = {.element = -1};
    cli_problem_def def = {.scene = scene, .threads = 1, .json = o->json};
    int code = cli_problem_open(&e->p, &def);
    if (code != CLI_OK) return code;
    e->def = ct_scene_optimize_def(e->p.scene);
    e->steps = ct_problem_steps(e->p.problem);
    e->best_y = calloc((size_t)e->p.size, sizeof(double));
    if (!e->best_y) return cli_report_status(CT_OUT_OF_MEMORY, "preparing the experiment", o->json);
    ct_status status = search_files_begin(&e->files, e->directory, true, &error);
    if (status == CT_OK && o->fresh) status = experiment_remove(e, &error);
    if (status == CT_OK) status = experiment_load(e, &error);
    return status == CT_OK ? CLI_OK : cli_report_error(&error, o->json);
}

// What follows the searches: times, pictures, tables.
static int finish_experiment(experiment* e) {
    ct_error error = {.element = -1};
    ct_status status = CT_OK;
    if (!cli_interrupted()) status = experiment_measure(e, &error);
    if (status == CT_OK && !cli_interrupted()) status = experiment_record(e, &error);
    if (status == CT_OK) status = experiment_plot(e, &error);
    if (status == CT_OK) status = experiment_summarise(e, &error);
    ct_problem_free(e->p.problem);  // its tape may be large
    e->p.problem = NULL;
    if (status != CT_OK) return cli_report_error(&error, e->options->json);
    if (!e->options->json && !e->options->quiet) experiment_print(e);
    return CLI_OK;
}

static void close_experiment(experiment* e) {
    for (int m = 0; m < EXPERIMENT_METHODS; m++) {
        if (e->table[m].stream) fclose(e->table[m].stream);
        free(e->table[m].row);
        free(e->known[m].row);
    }
    search_files_end(&e->files);
    free(e->search);
    free(e->best_y);
    cli_problem_close(&e->p);
    pthread_mutex_destroy(&e->lock);
}

// ---- all of them ---------------------------------------------------------------------------

static ct_status scene_path(const experiment_options* o, const choice* c, char* path, ct_error* error) {
    if (!c->file) return experiment_find_scene(o, c->kind.name, path, error);
    snprintf(path, SEARCH_PATH, "%s", c->file);
    return CT_OK;
}

static int prepare(experiment* e, const choice* c, bool several) {
    const experiment_options* o = e->options;
    char scene[SEARCH_PATH];
    ct_error error = {.element = -1};
    e->kind = c->kind;
    if (scene_path(o, c, scene, &error)) return cli_report_error(&error, o->json);
    snprintf(e->directory, SEARCH_PATH, "%.*s%s%s", SEARCH_PATH - 256, o->directory, several ? "/" : "",
             several ? e->kind.name : "");
    return open_experiment(e, scene);
}

// Rank 0. Before each experiment all ranks agree that it begins: first that rank 0 can, whose complaint is
// the only one then, then that the others can. With several ranks, what wants the machine for itself waits
// until they have ended.
static int lead(const choice* list, experiment* e, int count, bool several, const ct_transport* team) {
    int code = CLI_OK, worst = CLI_OK, begun = 0;
    for (; begun < count; begun++) {
        experiment* x = &e[begun];
        bool wanted = code == CLI_OK && !cli_interrupted();
        if (wanted) code = prepare(x, &list[begun], several);
        if (!team_agrees(wanted && code == CLI_OK)) break;
        if (!team_agrees(true)) {
            fprintf(stderr, "cuttle experiment: another rank cannot start %s\n", x->kind.name);
            break;
        }
        ct_error error = {.element = -1};
        if (experiment_run(x, team->size > 1 ? team : NULL, &error))
            worst = cli_report_error(&error, x->options->json);
        if (worst == CLI_BAD_INPUT) code = worst;
        else if (team->size == 1) code = finish_experiment(x);
    }
    team_end();
    for (int k = 0; k < begun && team->size > 1 && code == CLI_OK; k++) code = finish_experiment(&e[k]);
    return code != CLI_OK ? code : cli_interrupted() || begun < count ? CLI_FAILED : worst;
}

// The other ranks. They end well whatever happens, because MPI stops rank 0 in what it still has to do when
// one does not.
static int serve(const experiment_options* o, const choice* list, int count, const ct_transport* team) {
    ct_error error = {.element = -1};
    ct_status status = CT_OK;
    for (int k = 0; k < count; k++) {
        char path[SEARCH_PATH];
        ct_scene* scene = NULL;
        ct_batch* batch = NULL;
        status = scene_path(o, &list[k], path, &error);
        if (status == CT_OK) status = ct_scene_load(&scene, path, &error);
        bool leader = team_agrees(true), agreed = leader && team_agrees(status == CT_OK);
        if (leader && status != CT_OK) cli_report_error(&error, false);
        if (agreed) status = ct_batch_create(&batch, scene, o->threads, team, &error);
        bool joined = agreed && status == CT_OK;
        if (joined) status = ct_batch_serve(batch, &error);
        ct_batch_free(batch);
        ct_scene_free(scene);
        if (!agreed) break;
        if (joined && status != CT_OK) team_abandon(cli_report_error(&error, false));
    }
    team_end();
    return CLI_OK;
}

static int run_all(const experiment_options* o, const choice* list, experiment* e, int count, bool several,
                   bool* leads) {
    ct_transport team;
    ct_error error = {.element = -1};
    ct_status status = team_begin(&team, &error);
    *leads = team.rank == 0;
    if (status != CT_OK) return *leads ? cli_report_error(&error, o->json) : CLI_FAILED;
    return *leads ? lead(list, e, count, several, &team) : serve(o, list, count, &team);
}

static int compare_all(const experiment_options* o, const compare_kind** list, comparison* c, int count,
                       bool several) {
    int code = CLI_OK;
    for (int k = 0; k < count && code == CLI_OK && !cli_interrupted(); k++) {
        c[k].kind = list[k];
        c[k].options = o;
        snprintf(c[k].directory, SEARCH_PATH, "%.*s%s%s", SEARCH_PATH - 256, o->directory, several ? "/" : "",
                 several ? list[k]->name : "");
        code = compare_run(&c[k]);
    }
    return code;
}

static int report(const experiment_options* o, const experiment* e, int count, const comparison* c,
                  int ncompared, int code) {
    char path[SEARCH_PATH];
    ct_error error = {.element = -1};
    bool several = count + ncompared > 1;
    if (several && code == CLI_OK) {
        snprintf(path, sizeof path, "%.*s/summary.md", SEARCH_PATH - 16, o->directory);
        if (compare_overview(o, e, count, c, ncompared, path, &error))
            return cli_report_error(&error, o->json);
    }
    if (experiment_late(o) && !cli_interrupted() && !o->quiet)
        fprintf(stderr, "The time limit is reached. Nothing is lost; to continue: %s\n", o->command);
    if (cli_interrupted() && !o->quiet)
        fprintf(stderr, "Interrupted. Nothing is lost; to continue: %s\n", o->command);
    if (o->json && (code == CLI_OK || cli_interrupted())) {
        json_t* list = json_array();
        for (int k = 0; k < count; k++)
            if (e[k].p.scene) json_array_append_new(list, experiment_object(&e[k]));
        for (int k = 0; k < ncompared; k++)
            if (c[k].base) json_array_append_new(list, compare_object(&c[k]));
        cli_print_json(json_pack("{s:o, s:b}", "experiments", list, "interrupted", cli_interrupted()));
    } else if (!o->json && !o->quiet && code == CLI_OK) {
        if (several) printf("%s/summary.md  an overview\n", o->directory);
    }
    return code;
}

// The command as it was typed, --fresh aside.
static char* join(int argc, char** argv) {
    size_t size = 16;
    for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 3;
    char* line = malloc(size);
    if (!line) return NULL;
    strcpy(line, "cuttle");
    for (int i = 0; i < argc; i++) {
        bool quote = strpbrk(argv[i], " '\"\\$*?&|;<>()") != NULL;
        if (strcmp(argv[i], "--fresh") == 0) continue;
        strcat(strcat(strcat(strcat(line, " "), quote ? "'" : ""), argv[i]), quote ? "'" : "");
    }
    return line;
}

int cuttle_experiment(int argc, char** argv) {
    experiment_options o = {.seeds = 5, .width = 960, .height = 540, .begun = cli_seconds()};
    const cli_option options[] = {
        {"--output", 'o', CLI_TEXT, &o.directory, "DIR",
         "directory to write into (default: results/EXPERIMENT; for several results)"},
        {"--method", 'm', CLI_TEXT, &o.method, "M,M...", "which methods (default: all five)"},
        {"--seeds", 's', CLI_COUNT, &o.seeds, "N", "starts, numbered from 1 (default 5)"},
        {"--episodes", 'n', CLI_COUNT, &o.episodes, "N",
         "budget of a search (default 500, bridges 100); gradient: at most the scene's"},
        {"--threads", 't', CLI_COUNT, &o.threads, "N", "workers of this process (default: all cores)"},
        {"--scenes", 0, CLI_TEXT, &o.scenes, "DIR",
         "where the scenes are (default: ./scenes, or the installed ones)"},
        {"--time-limit", 0, CLI_POSITIVE, &o.time_limit, "S",
         "begin nothing new after S seconds; the same command continues"},
        {"--fresh", 0, CLI_FLAG, &o.fresh, NULL, "discard earlier results in the directory"},
        {"--size", 0, CLI_TEXT, &o.size, "WxH",
         "pixels of a picture and of each half of the movie (default 960x540)"},
        {"--tune", 0, CLI_FLAG, &o.tune, NULL,
         "choose the spreads of methods without gradients first, by a seed that is not reported"},
        {"--no-movie", 0, CLI_FLAG, &o.no_movie, NULL, "no pictures and no movie of the motion"},
        {"--verbose", 'v', CLI_FLAG, &o.verbose, NULL, "print one line per episode"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "end with one JSON object on stdout"},
        {"--quiet", 'q', CLI_FLAG, &o.quiet, NULL, "print errors only"},
        {0}};
    const cli_usage usage = {"experiment", "EXPERIMENT", "Repeats the paper's applications.",
                             overview,     examples,     options};
    const char* arguments[MOST];
    char directory[SEARCH_PATH] = "results";
    choice list[MOST];
    const compare_kind* compared[MOST];
    int count, nlist, ncompared, code;
    if (!cli_parse(&usage, argc, argv, arguments, 1, MOST, &count, &code)) return code;
    code = choose(&usage, arguments, count, list, &nlist, compared, &ncompared);
    if (code == CLI_OK) code = read_methods(&usage, &o);
    if (code == CLI_OK) code = read_size(&usage, &o);
    if (code != CLI_OK) return code;
    bool several = nlist + ncompared > 1;
    if (!several)
        snprintf(directory, sizeof directory, "results/%s", nlist ? list[0].kind.name : compared[0]->name);
    if (!o.directory) o.directory = directory;
    char* command = join(argc, argv);
    experiment* e = calloc((size_t)nlist + 1, sizeof *e);
    comparison* c = calloc((size_t)ncompared + 1, sizeof *c);
    if (!command || !e || !c) code = cli_report_status(CT_OUT_OF_MEMORY, "preparing the experiments", o.json);
    o.command = command;
    for (int k = 0; k < nlist && e; k++) {
        e[k].options = &o;
        pthread_mutex_init(&e[k].lock, NULL);
    }
    cli_catch_interrupt();
    if (code == CLI_OK) {
        bool leads = true;
        if (nlist > 0) code = run_all(&o, list, e, nlist, several, &leads);
        if (leads && code == CLI_OK) code = compare_all(&o, compared, c, ncompared, several);
        if (leads) code = report(&o, e, nlist, c, ncompared, code);
    }
    for (int k = 0; k < nlist && e; k++) close_experiment(&e[k]);
    for (int k = 0; k < ncompared && c; k++)
        if (c[k].kind) compare_close(&c[k]);
    free(e);
    free(c);
    free(command);
    return code;
}
