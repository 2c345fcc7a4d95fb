// Rivals x starts of a comparison; see compare.h.
//
// Every rival's scene is made from one file. Where it has parameters, they are searched by the scene's own
// method first; then it is simulated once more, step by step on one thread, and measured. A row of table.csv
// is kept as long as the scene that it came from is the same.
#include "compare.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const compare_kind* const kinds[] = {&compare_humanoid, &compare_cloth};
enum { NKIND = sizeof kinds / sizeof kinds[0] };

const compare_kind* compare_at(int index) { return index < NKIND ? kinds[index] : NULL; }

const compare_kind* compare_find(const char* name) {
    for (int k = 0; k < NKIND; k++)
        if (strcmp(name, kinds[k]->name) == 0) return kinds[k];
    return NULL;
}

double compare_random(int start, int index) {
    uint64_t z = (uint64_t)start * 0x9e3779b97f4a7c15u + (uint64_t)(index + 1) * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 2 * ((double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0) - 1;
}

void compare_path(const comparison* c, const char* name, const char* ending, char* path) {
    snprintf(path, SEARCH_PATH, "%.*s/%s%s", SEARCH_PATH - 128, c->directory, name, ending);
}

static uint64_t hash_text(const char* text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

// ---- table.csv -----------------------------------------------------------------------------

static ct_status out_of_memory(ct_error* error) {
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    return CT_OUT_OF_MEMORY;
}

static ct_status add_row(comparison* c, const compare_row* row, ct_error* error) {
    if (!cli_grow((void**)&c->row, &c->capacity, c->nrow, sizeof *c->row)) return out_of_memory(error);
    c->row[c->nrow++] = *row;
    return CT_OK;
}

static int find_rival(const compare_kind* kind, const char* name) {
    for (int r = 0; r < kind->nrival; r++)
        if (strcmp(kind->rival[r].name, name) == 0) return r;
    return -1;
}

// A line of a table: rival,start,metric...,ms,frame,scene,failure
static bool read_row(const compare_kind* kind, char* line, compare_row* row) {
    char *rest = line, *item, *end;
    line[strcspn(line, "\n")] = 0;
    *row = (compare_row){.rival = (item = strsep(&rest, ",")) ? find_rival(kind, item) : -1};
    if (row->rival < 0 || !rest || !cli_read_integer(strsep(&rest, ","), &row->start)) return false;
    for (int k = 0; k <= kind->nmetric; k++) {
        if (!(item = strsep(&rest, ","))) return false;
        *(k < kind->nmetric ? &row->value[k] : &row->milliseconds) = strtod(item, &end);
        if (end == item || *end) return false;
    }
    if (!(item = strsep(&rest, ",")) || !cli_read_integer(item, &row->frame)) return false;
    if (!(item = strsep(&rest, ","))) return false;
    row->scene = strtoull(item, NULL, 16);
    snprintf(row->failure, sizeof row->failure, "%s", rest ? rest : "");
    return true;
}

static ct_status read_table(comparison* c, const char* name, ct_error* error) {
    char path[SEARCH_PATH], line[1024];
    ct_status status = CT_OK;
    compare_path(c, name, ".csv", path);
    FILE* stream = fopen(path, "r");
    while (stream && status == CT_OK && fgets(line, sizeof line, stream)) {
        compare_row row;
        if (read_row(c->kind, line, &row)) status = add_row(c, &row, error);
    }
    if (stream) fclose(stream);
    return status;
}

// What other programs simulate has tables of its own.
static ct_status write_table(const comparison* c, ct_error* error) {
    char path[SEARCH_PATH], *text = NULL;
    size_t size;
    FILE* stream = open_memstream(&text, &size);
    if (!stream) return out_of_memory(error);
    fprintf(stream, "rival,start");
    for (int k = 0; k < c->kind->nmetric; k++) fprintf(stream, ",%s", c->kind->metric[k].name);
    fprintf(stream, ",ms,frame,scene,failure\n");
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++) {
        const compare_rival* rival = &c->kind->rival[row->rival];
        if (rival->elsewhere) continue;
        fprintf(stream, "%s,%d", rival->name, row->start);
        for (int k = 0; k < c->kind->nmetric; k++) fprintf(stream, ",%.9g", row->value[k]);
        fprintf(stream, ",%.6g,%d,%016llx,%s\n", row->milliseconds, row->frame,
                (unsigned long long)row->scene, row->failure);
    }
    bool good = fclose(stream) == 0;
    compare_path(c, "table", ".csv", path);
    ct_status status = good ? experiment_write_text(path, text, error) : out_of_memory(error);
    free(text);
    return status;
}

// ---- one run -------------------------------------------------------------------------------

typedef struct run {  // of a rival from a start
    ct_scene* scene;
    ct_problem* problem;  // NULL: nothing is searched
    ct_model* own;        // NULL: the problem's
    const ct_model* model;
    ct_state* state;
    ct_work* work;
    ct_trajectory* file;  // NULL: not recorded
    double *y, *controls;
    int steps, episodes;
} run;

static void end_run(run* r) {
    if (r->file) ct_trajectory_close(r->file, NULL);
    ct_work_free(r->work);
    ct_state_free(r->state);
    ct_model_free(r->own);
    ct_problem_free(r->problem);
    ct_scene_free(r->scene);
    free(r->y);
    free(r->controls);
}

static bool go_on(const ct_progress* progress, void* user) {
    int* episodes = user;
    *episodes = progress->iteration;
    return !cli_interrupted();
}

// Finds the controls by gradients.
static ct_status search(run* r, ct_error* error) {
    ct_optimize_def def = ct_scene_optimize_def(r->scene);
    ct_status status = ct_problem_create(&r->problem, r->scene, 0, error);
    if (status) return status;
    r->model = ct_problem_model(r->problem);
    r->y = calloc((size_t)ct_problem_size(r->problem), sizeof(double));
    r->controls = calloc((size_t)r->steps * (size_t)ct_model_control_size(r->model) + 1, sizeof(double));
    if (!r->y || !r->controls) return out_of_memory(error);
    ct_problem_start(r->problem, r->y);
    status = ct_problem_optimize(r->problem, &def, r->y, go_on, &r->episodes, NULL, error);
    if (status || cli_interrupted()) return status;
    return ct_problem_rollout(r->problem, r->y, NULL, NULL, r->controls, NULL, error);
}

static ct_status begin_run(run* r, const char* text, const char* record, ct_error* error) {
    ct_status status = ct_scene_parse(&r->scene, text, strlen(text), NULL, error);
    if (status) return status;
    ct_settings settings = ct_scene_settings(r->scene);
    settings.threads = 1;
    r->steps = (int)lround(settings.duration / settings.time_step);
    status = ct_scene_set_settings(r->scene, &settings, error);
    if (!status && strstr(text, "\"parameters\"") != NULL) status = search(r, error);
    else if (!status) {
        status = ct_model_create(&r->own, r->scene, error);
        r->model = r->own;
    }
    if (status || cli_interrupted()) return status;
    status = ct_state_create(&r->state, r->model, error);
    if (!status) status = ct_work_create(&r->work, r->model, 1, error);
    if (status) return status;
    if (record) status = ct_trajectory_create(&r->file, r->scene, r->model, record, error);
    if (!status && r->file) status = ct_trajectory_append(r->file, r->model, r->state, NULL, error);
    return status;
}

// CPU time counts for the steps alone, not for measures and files.
static ct_status step_through(const comparison* c, run* r, compare_measure* measure, compare_row* row,
                              ct_error* error) {
    ct_status status = CT_OK;
    int size = ct_model_control_size(r->model), step = 0;
    double seconds = 0;
    cli_progress progress = cli_progress_begin(c->kind->rival[row->rival].name, c->options->quiet);
    c->kind->look(measure, r->model, r->state, 0);
    for (; step < r->steps && !status && !cli_interrupted(); step++) {
        ct_step_report report;
        double begun = cli_thread_seconds();
        ct_status stepped = ct_step(r->model, r->work, r->state,
                                    r->controls ? r->controls + (size_t)step * (size_t)size : NULL, &report);
        seconds += cli_thread_seconds() - begun;
        if (stepped) {
            snprintf(row->failure, sizeof row->failure, "step %d: %.150s", step + 1, report.message);
            for (char* s = row->failure; *s; s++) *s = *s == ',' || *s == '\n' ? ';' : *s;
            break;
        }
        c->kind->look(measure, r->model, r->state, step + 1);
        if (r->file) status = ct_trajectory_append(r->file, r->model, r->state, &report, error);
        cli_progress_show(&progress, step + 1, r->steps, NULL);
    }
    cli_progress_end(&progress);
    row->milliseconds = 1e3 * seconds / (step > 0 ? step : 1);
    return status;
}

static ct_status run_one(comparison* c, const char* text, compare_row* row, ct_error* error) {
    char record[SEARCH_PATH];
    run r = {0};
    compare_path(c, c->kind->rival[row->rival].name, ".h5", record);
    ct_status status = begin_run(&r, text, row->start == 1 ? record : NULL, error);
    if (!status && !cli_interrupted()) {
        compare_measure* measure = c->kind->begin(r.scene, r.model, c->base, error);
        status = measure ? step_through(c, &r, measure, row, error) : error->code;
        if (measure) c->kind->end(measure, row);
        for (int k = 0; k < c->kind->nmetric; k++) {
            bool told = strcmp(c->kind->metric[k].name, "episodes") == 0;
            if (told) row->value[k] = r.problem ? r.episodes : NAN;
            else if (row->failure[0]) row->value[k] = NAN;
        }
    }
    end_run(&r);
    return status;
}

// ---- all -----------------------------------------------------------------------------------

// Files that the scene names are relative to it; its copies are elsewhere.
static void find_meshes(json_t* scene, const char* path) {
    char directory[PATH_MAX], file[2 * PATH_MAX], full[PATH_MAX];
    size_t k;
    json_t* body;
    snprintf(directory, sizeof directory, "%s", path);
    char* slash = strrchr(directory, '/');
    if (slash) slash[0] = 0;
    else snprintf(directory, sizeof directory, ".");
    json_array_foreach(json_object_get(scene, "bodies"), k, body) {
        const char* mesh = json_string_value(json_object_get(body, "mesh"));
        if (!mesh || mesh[0] == '/') continue;
        snprintf(file, sizeof file, "%s/%s", directory, mesh);
        if (realpath(file, full)) json_object_set_new(body, "mesh", json_string(full));
    }
    json_object_del(scene, "$schema");
}

static ct_status load_base(comparison* c, ct_error* error) {
    char path[SEARCH_PATH];
    json_error_t trouble;
    ct_scene* scene = NULL;
    ct_status status = experiment_find_scene(c->options, c->kind->scene, path, error);
    if (!status) status = ct_scene_load(&scene, path, error);  // says what is wrong with it
    if (status) return status;
    for (int k = 0; k < ct_scene_body_count(scene); k++) {
        ct_body_info info;
        if (ct_scene_body_info(scene, k, &info)) continue;
        c->nvert += info.nvert;
        c->ntet += info.ntet;
    }
    ct_settings settings = ct_scene_settings(scene);
    c->steps = (int)lround(settings.duration / settings.time_step);
    ct_scene_free(scene);
    c->base = json_load_file(path, 0, &trouble);
    if (!c->base) return out_of_memory(error);
    find_meshes(c->base, path);
    return CT_OK;
}

static char* scene_text(const comparison* c, int rival, int start) {
    json_t* scene = json_deep_copy(c->base);
    if (!scene) return NULL;
    c->kind->change(scene, rival, start);
    char* text = json_dumps(scene, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(scene);
    return text;
}

static compare_row* find_row(comparison* c, int rival, int start) {
    for (int k = 0; k < c->nrow; k++)
        if (c->row[k].rival == rival && c->row[k].start == start) return &c->row[k];
    return NULL;
}

static void tell(const comparison* c, const compare_row* row) {
    if (c->options->quiet) return;
    fprintf(stderr, "%s, %s, start %d:", c->kind->name, c->kind->rival[row->rival].name, row->start);
    if (row->failure[0]) fprintf(stderr, " failed: %s\n", row->failure);
    else {
        for (int k = 0; k < c->kind->nmetric; k++)
            if (!isnan(row->value[k])) fprintf(stderr, " %s %.3g,", c->kind->metric[k].name, row->value[k]);
        fprintf(stderr, " %.3g ms per step\n", row->milliseconds);
    }
}

static ct_status run_rival(comparison* c, int rival, int start, ct_error* error) {
    char path[SEARCH_PATH];
    char* text = scene_text(c, rival, start);
    if (!text) return out_of_memory(error);
    ct_status status = CT_OK;
    compare_row row = {.rival = rival, .start = start, .scene = hash_text(text)}, *old;
    old = find_row(c, rival, start);
    if (!old || old->scene != row.scene) {
        compare_path(c, c->kind->rival[rival].name, ".json", path);
        if (start == 1) status = experiment_write_text(path, text, error);
        if (!status) status = run_one(c, text, &row, error);
        if (!status && !cli_interrupted()) {
            tell(c, &row);
            c->ran++;
            if (old) *old = row;
            else status = add_row(c, &row, error);
            if (!status) status = write_table(c, error);
        }
    }
    free(text);
    return status;
}

static bool is_over(const comparison* c) { return cli_interrupted() || experiment_late(c->options); }

static ct_status work_through(comparison* c, ct_error* error) {
    ct_status status = search_files_begin(&c->files, c->directory, true, error);
    if (!status) status = load_base(c, error);
    if (!status && !c->options->fresh) status = read_table(c, "table", error);
    for (int r = 0; r < c->kind->nrival && !status; r++) {
        if (c->kind->rival[r].elsewhere) status = read_table(c, c->kind->rival[r].name, error);
        for (int start = 1; start <= c->options->seeds && !status && !is_over(c); start++)
            if (!c->kind->rival[r].elsewhere) status = run_rival(c, r, start, error);
    }
    if (!status && !cli_interrupted() && !c->options->no_movie) status = compare_draw(c, error);
    return status ? status : compare_summarise(c, error);
}

int compare_run(comparison* c) {
    ct_error error = {.element = -1};
    if (work_through(c, &error)) return cli_report_error(&error, c->options->json);
    if (!c->options->json && !c->options->quiet) compare_print(c);
    return cli_interrupted() ? CLI_FAILED : CLI_OK;
}

void compare_close(comparison* c) {
    search_files_end(&c->files);
    json_decref(c->base);
    free(c->row);
}

void compare_make_projective(json_t* scene) {
    size_t k;
    json_t* body;
    json_array_foreach(json_object_get(scene, "bodies"), k, body) {
        json_t* material = json_object_get(body, "material");
        json_object_set_new(material, "energy", json_string("projective"));
        json_object_del(json_object_get(material, "damping"), "stiffness");
    }
}
