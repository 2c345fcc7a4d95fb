// Before and after: the motion at the scene's start and at the best parameters, as trajectories, pictures and
// a movie; see experiment.h.
//
// The movie shows both side by side, slower than life where that would be over in less than four seconds, and
// holds its last frame.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment.h"

enum { STRIP = 4 };
static const double SHORTEST = 4, HOLD = 1, FASTEST = 30;  // s, s, frames a second

typedef struct sides {  // before and after
    ct_trajectory* file[2];
    ct_trajectory_info info[2];
    ct_picture_def def[2];
    char title[2][120];
    double mark[3];
    int width, height;  // of each half of the movie
    uint8_t* panel;     // one picture
    uint8_t* frame;     // all of them
    double* x;          // positions of a frame
} sides;

static const char* const side_names[2] = {"before", "after"};

// ---- the target ----------------------------------------------------------------------------

// Centre of mass of all bodies at rest.
static void find_center(const ct_model* model, double center[3]) {
    const double *rest = ct_model_rest(model), *mass = ct_model_node_mass(model);
    ct_model_info info;
    double total = 0;
    info = ct_model_summary(model);
    for (int k = 0; k < 3; k++) center[k] = 0;
    for (int i = 0; i < info.nvert; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++) center[k] += mass[i] * rest[3 * i + k];
    }
    for (int k = 0; k < 3; k++) center[k] /= total;
}

// Of the first term of the objective, where that is a fixed place: as the scene's file has it.
static bool find_target(const experiment* e, double target[3]) {
    double center[3] = {0};
    json_t* scene = json_load_file(ct_scene_file(e->p.scene), 0, NULL);
    const json_t *term = json_array_get(json_object_get(scene, "objective"), 0),
                 *place = json_object_get(term, "target");
    const char* type = json_string_value(json_object_get(term, "type"));
    bool relative = json_is_true(json_object_get(term, "relative")),
         part = json_object_get(term, "select") != NULL;
    bool found = type && strcmp(type, "point") == 0 && json_array_size(place) == 3 && !(relative && part) &&
                 !e->kind.no_mark;
    if (relative) find_center(ct_problem_model(e->p.problem), center);
    for (size_t k = 0; k < 3 && found; k++) {
        found = json_is_number(json_array_get(place, k));
        target[k] = center[k] + json_number_value(json_array_get(place, k));
    }
    json_decref(scene);
    return found;
}

static void distance_text(double distance, char* text, size_t size) {
    if (distance >= 0.1) snprintf(text, size, "%.3g m", distance);
    else if (distance >= 1e-4) snprintf(text, size, "%.3g mm", 1e3 * distance);
    else snprintf(text, size, "less than 0.1 mm");
}

// ---- pictures ------------------------------------------------------------------------------

static ct_status draw(sides* s, int side, int frame, int part, ct_error* error) {
    ct_picture_def def = s->def[side];
    def.width = s->width / part, def.height = s->height / part;
    return ct_picture_draw(s->file[side], frame, &def, s->panel, error);
}

static void paste(const sides* s, int width, int height, int sheet_width, int x, int y) {
    for (int row = 0; row < height; row++)
        memcpy(s->frame + 3 * ((size_t)(y + row) * (size_t)sheet_width + (size_t)x),
               s->panel + 3 * (size_t)row * (size_t)width, 3 * (size_t)width);
}

static ct_status save_last(const experiment* e, sides* s, int side, ct_error* error) {
    char path[SEARCH_PATH], name[16];
    snprintf(name, sizeof name, "%s.png", side_names[side]);
    experiment_path(e, name, path);
    ct_status status = draw(s, side, s->info[side].nframe - 1, 1, error);
    return status ? status : ct_picture_save(path, s->panel, s->width, s->height, error);
}

// Before above, after below, at four times; the first is the beginning, and has room for the title.
static ct_status save_strip(const experiment* e, sides* s, ct_error* error) {
    char path[SEARCH_PATH];
    int width = s->width / 2, height = s->height / 2;
    ct_status status = CT_OK;
    for (int k = 0; k < 2 * STRIP && !status; k++) {
        int side = k / STRIP,
            frame = (int)lround((k % STRIP) * (s->info[side].nframe - 1) / (double)(STRIP - 1));
        s->def[side].title = k % STRIP ? NULL : s->title[side];
        s->def[side].label = k % STRIP > 0;
        status = draw(s, side, frame, 2, error);
        if (!status) paste(s, width, height, STRIP * width, (k % STRIP) * width, side * height);
    }
    experiment_path(e, "strip.png", path);
    return status ? status : ct_picture_save(path, s->frame, STRIP * width, 2 * height, error);
}

// ---- the movie -----------------------------------------------------------------------------

typedef struct pace {
    double fps;
    int stride, count, hold;  // stored frames from one to the next; frames; repeats of the last
} pace;

static pace find_pace(const ct_trajectory_info* info) {
    double length = fmax(SHORTEST, info->stop - info->start), rate = (info->nframe - 1) / length;
    pace p = {.stride = (int)fmax(1, ceil(rate / FASTEST))};
    p.fps = fmax(5, rate / p.stride);
    p.count = (info->nframe - 1) / p.stride + 1;
    p.hold = (int)(HOLD * p.fps);
    return p;
}

// Whether a frame shows what the one `back` frames before it showed: a start at which nothing moves is drawn
// once.
static bool stands_still(sides* s, int side, int frame, int back) {
    size_t bytes = 3 * (size_t)s->info[side].nvert * sizeof(double);
    ct_frame now;
    ct_error error;
    if (s->info[side].nobstacle > 0 || frame < back || !s->x ||
        ct_trajectory_read(s->file[side], frame - back, &now, &error))
        return false;
    memcpy(s->x, now.x, bytes);
    return !ct_trajectory_read(s->file[side], frame, &now, &error) && memcmp(s->x, now.x, bytes) == 0;
}

static ct_status draw_both(sides* s, int frame, int stride, ct_error* error) {
    ct_status status = CT_OK;
    for (int side = 0; side < 2 && !status; side++) {
        int last = s->info[side].nframe - 1;
        if (side == 0 && stands_still(s, side, frame, stride)) continue;
        status = draw(s, side, frame < last ? frame : last, 1, error);
        if (!status) paste(s, s->width, s->height, 2 * s->width, side * s->width, 0);
    }
    return status;
}

static ct_status save_movie(const experiment* e, sides* s, ct_error* error) {
    char path[SEARCH_PATH];
    ct_movie* movie = NULL;
    pace p = find_pace(&s->info[1]);
    s->def[0].label = false;  // the right half has the time, and the colours are the same
    experiment_path(e, "before_after.mp4", path);
    ct_status status = ct_movie_create(&movie, path, 2 * s->width, s->height, p.fps, error);
    if (status) return status;
    cli_progress progress = cli_progress_begin("movie", e->options->quiet);
    for (int k = 0; k < p.count + p.hold && !status && !cli_interrupted(); k++) {
        if (k < p.count) status = draw_both(s, k * p.stride, p.stride, error);
        if (!status) status = ct_movie_append(movie, s->frame, error);
        cli_progress_show(&progress, k + 1, p.count + p.hold, NULL);
    }
    cli_progress_end(&progress);
    ct_error closing;
    ct_status closed = ct_movie_close(movie, &closing);
    if (!status && closed) *error = closing, status = closed;
    return status;
}

// ---- all -----------------------------------------------------------------------------------

static ct_status open_sides(experiment* e, sides* s, ct_error* error) {
    ct_status status = CT_OK;
    bool marked = find_target(e, s->mark);
    char far[40], near[40];
    distance_text(e->before, far, sizeof far);
    distance_text(e->best_distance, near, sizeof near);
    snprintf(s->title[0], sizeof s->title[0], "before: distance %s", far);
    snprintf(s->title[1], sizeof s->title[1], "after %d episodes: distance %s", e->best.iteration, near);
    for (int side = 0; side < 2 && !status; side++) {
        char path[SEARCH_PATH], name[16];
        snprintf(name, sizeof name, "%s.h5", side_names[side]);
        experiment_path(e, name, path);
        status = ct_problem_record(e->p.problem, e->p.scene, path, side ? e->best_y : e->p.y, error);
        if (!status) status = ct_trajectory_open(&s->file[side], path, error);
        if (status) break;
        s->info[side] = ct_trajectory_summary(s->file[side]);
        ct_picture_def* def = &s->def[side];
        *def = ct_picture_def_default();
        def->samples = 2;
        def->color_by = e->kind.color;
        memcpy(def->range, e->kind.range, sizeof def->range);
        def->title = s->title[side];
        if (marked) def->mark = s->mark;
    }
    if (!status) s->x = malloc(3 * (size_t)s->info[0].nvert * sizeof(double));
    return status;
}

// A computer without ffmpeg gets the pictures all the same.
static ct_status allow_no_movie(const experiment* e, ct_status status, const ct_error* error) {
    if (status != CT_UNSUPPORTED) return status;
    if (!e->options->quiet) fprintf(stderr, "%s: no movie: %s\n", e->kind.name, error->message);
    return CT_OK;
}

ct_status experiment_record(experiment* e, ct_error* error) {
    char path[SEARCH_PATH];
    experiment_path(e, "strip.png", path);
    if (e->best.iteration == 0 || (!e->improved && access(path, F_OK) == 0)) return CT_OK;
    if (!e->options->quiet) fprintf(stderr, "%s: recording before and after\n", e->kind.name);
    sides s = {.width = e->options->width, .height = e->options->height};
    s.panel = malloc(3 * (size_t)s.width * (size_t)s.height);
    s.frame = malloc(6 * (size_t)s.width * (size_t)s.height);
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1};
    ct_status status = s.panel && s.frame ? open_sides(e, &s, error) : CT_OUT_OF_MEMORY;
    for (int side = 0; side < 2 && !status && !e->options->no_movie; side++)
        status = save_last(e, &s, side, error);
    if (!status && !e->options->no_movie) status = allow_no_movie(e, save_movie(e, &s, error), error);
    if (!status && !e->options->no_movie && !cli_interrupted()) status = save_strip(e, &s, error);
    for (int side = 0; side < 2; side++)
        if (s.file[side]) ct_trajectory_close(s.file[side], NULL);
    free(s.x);
    free(s.panel);
    free(s.frame);
    return status;
}
