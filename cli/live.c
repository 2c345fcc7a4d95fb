// cuttle view SCENE: simulates a scene while a browser shows it.
//
// The simulation goes at the pace of the clock, or as fast as it can where it is slower, and hands over at
// most FRAMES states a second. A hand pulls the nodes around the one that is held, a mass M_h, with the force
//     f = k (to - x) - c v,   k = 40 M / s^2,   c = 0.1 sqrt(k M_h),   |f| <= 50 M m/s^2,
// M the mass of the scene: a control of the model, spread by mass.
#include "live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "live_sliders.h"
#include "server.h"

enum { FRAMES = 40 };                  // most per second
static const double reach = 0.06;      // of a hand, over the extent of the scene
static const double look_every = 0.3;  // s, at the file

typedef struct live {
    const char* path;
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    ct_page* page;
    live_sliders sliders;
    double* control;
    int hand, hand_first;    // a control of the model and its first number; -1: nothing can be held
    int held, *near, nnear;  // node that is held, -1: none; nodes around it
    double to[3], near_mass;
    bool paused, stepping, changed, told;
    struct timespec stamp;  // of the file
    double looked, shown, begun,
        ahead;           // s: looked at the file, showed a frame; clock and time of the scene at a start
    char problem[1024];  // what is wrong with the file or the last step; "": nothing
    ct_step_report report;
} live;

static void simulation_free(live* l) {
    ct_page_free(l->page);
    ct_work_free(l->work);
    ct_state_free(l->state);
    ct_model_free(l->model);
    ct_scene_free(l->scene);
    free(l->control);
    free(l->near);
    l->page = NULL, l->work = NULL, l->state = NULL, l->model = NULL, l->scene = NULL;
    l->control = NULL, l->near = NULL;
}

static void explain(live* l, const ct_error* error) {
    char place[320] = "";
    if (*error->file) snprintf(place, sizeof place, "%.250s:%d: ", error->file, error->line);
    snprintf(l->problem, sizeof l->problem, "%s%s%s%s", place, error->path, *error->path ? ": " : "",
             error->message);
}

// A control that pulls; scenes without nodes have none.
static void add_hand(live* l, ct_error* error) {
    int count = ct_scene_node_count(l->scene), *all = malloc((size_t)(count > 0 ? count : 1) * sizeof *all);
    l->hand = -1;
    for (int k = 0; all && k < count; k++) all[k] = k;
    if (all && count > 0 && !ct_scene_add_force_control(l->scene, "hand", all, count, error)) l->hand = 0;
    free(all);
}

static ct_status load(live* l, ct_error* error) {
    ct_status status = ct_scene_load(&l->scene, l->path, error);
    if (status) return status;
    add_hand(l, error);
    status = ct_model_create(&l->model, l->scene, error);
    if (status) return status;
    for (int k = 0; l->hand >= 0 && k < ct_model_control_count(l->model); k++) {
        ct_control_info info = ct_model_control_info(l->model, k);
        if (strcmp(info.name, "hand") == 0) l->hand = k, l->hand_first = info.first;
    }
    ct_page_def def = ct_page_def_default();
    status = ct_state_create(&l->state, l->model, error);
    if (!status) status = ct_work_create(&l->work, l->model, 0, error);
    if (status) return status;
    l->control = calloc((size_t)ct_model_control_size(l->model) + 1, sizeof *l->control);
    l->near = calloc((size_t)ct_model_summary(l->model).nvert + 1, sizeof *l->near);
    if (!l->control || !l->near) return cli_fail(error, CT_OUT_OF_MEMORY, l->path, "out of memory");
    return ct_page_create(&l->page, l->scene, l->model, &def, error);
}

// As `cuttle run` begins.
static ct_status begin(live* l, ct_error* error) {
    ct_settle_report settled;
    ct_settings settings = ct_model_settings(l->model);
    ct_status status = CT_OK;
    l->held = -1;
    l->report = (ct_step_report){0};
    if (settings.relax) status = ct_relax(l->model, l->work, l->state, &settled);
    if (status) return cli_fail(error, status, l->path, settled.message);
    status = ct_state_check_start(l->model, l->work, l->state, error);
    if (status) return status;
    if (settings.settle) status = ct_settle(l->model, l->work, l->state, NULL, &settled);
    if (status) return cli_fail(error, status, l->path, settled.message);
    l->begun = cli_seconds();
    l->ahead = 0;
    l->changed = true;
    return CT_OK;
}

static void apply_sliders(live* l) {
    ct_error error;
    for (int k = 0; k < l->sliders.count; k++)
        if (l->sliders.list[k].moved)
            live_sliders_set(&l->sliders, l->model, k, l->sliders.list[k].value, &error);
}

static bool file_changed(live* l) {
    struct stat about;
    if (stat(l->path, &about) != 0) return false;
    bool changed = about.st_mtim.tv_sec != l->stamp.tv_sec || about.st_mtim.tv_nsec != l->stamp.tv_nsec;
    l->stamp = about.st_mtim;
    return changed;
}

// A new simulation takes the place of the old one where the file is right; otherwise the page says what is
// wrong.
static void reload(live* l, server* s) {
    live fresh = {.path = l->path, .hand = -1, .held = -1};
    ct_error error = {.element = -1};
    const uint8_t* bytes;
    size_t size;
    ct_status status = load(&fresh, &error);
    if (!status) status = begin(&fresh, &error);
    if (!status) status = ct_page_start(fresh.page, &bytes, &size, &error);
    l->told = false;
    if (status) {
        explain(l, &error);
        simulation_free(&fresh);
        return;
    }
    simulation_free(l);
    l->scene = fresh.scene, l->model = fresh.model, l->state = fresh.state, l->work = fresh.work,
    l->page = fresh.page;
    l->control = fresh.control, l->near = fresh.near, l->hand = fresh.hand, l->hand_first = fresh.hand_first;
    l->held = -1;
    l->begun = cli_seconds();
    l->ahead = 0;
    l->changed = true;
    *l->problem = 0;
    live_sliders_make(&l->sliders, l->model, l->hand);
    apply_sliders(l);
    server_publish(s, SERVER_START, bytes, size);
}

static void reset(live* l) {
    ct_error error = {.element = -1};
    ct_state* state = NULL;
    if (ct_state_create(&state, l->model, &error)) {
        explain(l, &error);
        return;
    }
    ct_state_free(l->state);
    l->state = state;
    *l->problem = 0;
    if (begin(l, &error)) explain(l, &error), l->paused = true;
    l->told = false;
}

// ---- the hand ----

static double extent(const ct_model* model) {
    const double* rest = ct_model_rest(model);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, most = 0;
    for (int i = 0; i < ct_model_summary(model).nvert; i++)
        for (int a = 0; a < 3 && ct_model_node_mass(model)[i] > 0; a++) {
            low[a] = fmin(low[a], rest[3 * i + a]);
            high[a] = fmax(high[a], rest[3 * i + a]);
        }
    for (int a = 0; a < 3; a++) most = fmax(most, high[a] - low[a]);
    return most;
}

static void take_hold(live* l, int node) {
    ct_error error;
    const double *rest = ct_model_rest(l->model), *mass = ct_model_node_mass(l->model), *at = rest + 3 * node;
    double radius = reach * extent(l->model);
    l->nnear = 0;
    l->near_mass = 0;
    for (int i = 0; i < ct_scene_node_count(l->scene); i++) {
        const double* x = rest + 3 * i;
        if (i != node && !(hypot(hypot(x[0] - at[0], x[1] - at[1]), x[2] - at[2]) <= radius)) continue;
        if (!(mass[i] > 0)) continue;
        l->near[l->nnear++] = i;
        l->near_mass += mass[i];
    }
    l->held = l->nnear && !ct_model_hold(l->model, l->hand, l->near, l->nnear, &error) ? node : -1;
}

static void drag(live* l, const server_command* command) {
    int node = ct_page_node(l->page, command->index);
    if (l->hand < 0 || node < 0 || node >= ct_scene_node_count(l->scene)) return;
    if (l->held != node) take_hold(l, node);
    memcpy(l->to, command->number, sizeof l->to);
}

static void pull(live* l) {
    double* force = l->control + l->hand_first;
    if (l->hand < 0) return;
    memset(force, 0, 3 * sizeof *force);
    if (l->held < 0) return;
    const double *x = ct_state_positions(l->state) + 3 * l->held,
                 *v = ct_state_velocities(l->state) + 3 * l->held;
    double mass = ct_model_summary(l->model).mass, k = 40 * mass, c = 0.1 * sqrt(k * l->near_mass);
    for (int a = 0; a < 3; a++) force[a] = k * (l->to[a] - x[a]) - c * v[a];
    double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]), most = 50 * mass;
    for (int a = 0; a < 3 && size > most; a++) force[a] *= most / size;
}

// ---- the loop ----

static void obey(live* l, const server_command* command) {
    ct_error error = {.element = -1};
    switch (command->action) {
    case SERVER_PAUSE:
        l->paused = command->number[0] != 0;
        l->begun = cli_seconds();
        l->ahead = ct_state_time(l->state);
        break;
    case SERVER_STEP: l->stepping = l->paused = true; break;
    case SERVER_RESET: reset(l); break;
    case SERVER_DRAG: drag(l, command); return;
    case SERVER_RELEASE: l->held = -1; return;
    case SERVER_SET:
        if (live_sliders_set(&l->sliders, l->model, command->index, command->number[0], &error))
            explain(l, &error);
        return;
    default: return;
    }
    l->told = false;
}

static void advance(live* l) {
    ct_model_control_values(l->model, ct_state_time(l->state), l->control);
    live_sliders_control(&l->sliders, l->control);
    pull(l);
    ct_status status = ct_step(l->model, l->work, l->state, l->control, &l->report);
    l->changed = true;
    if (status) {
        snprintf(l->problem, sizeof l->problem, "the simulation stopped at t = %.3f s: %s",
                 ct_state_time(l->state), *l->report.message ? l->report.message : ct_status_text(status));
        l->paused = true;
        l->told = false;
    }
}

static void publish(live* l, server* s) {
    ct_error error;
    const uint8_t* bytes;
    size_t size;
    double now = cli_seconds();
    if (!l->told) {
        char* text = NULL;
        json_t* state = json_pack("{s:b, s:s, s:o}", "paused", l->paused, "problem", l->problem, "sliders",
                                  live_sliders_json(&l->sliders));
        if (state) text = json_dumps(state, JSON_COMPACT);
        if (text) server_publish(s, SERVER_STATE, text, strlen(text));
        free(text);
        json_decref(state);
        l->told = true;
    }
    if (!l->changed || now - l->shown < 1.0 / FRAMES) return;
    l->shown = now;
    l->changed = false;
    if (!ct_page_frame(l->page, l->state, &l->report, l->control, &bytes, &size, &error))
        server_publish(s, SERVER_FRAME, bytes, size);
}

// Waits until the next step is due; where the simulation lags, the clock waits for it.
static bool is_due(live* l) {
    double now = cli_seconds(), behind = now - l->begun - (ct_state_time(l->state) - l->ahead);
    if (behind > 0.25) l->begun += behind - 0.25;
    return behind > 0;
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

static void simulate(live* l, server* s) {
    while (!cli_interrupted()) {
        server_command command;
        while (server_take(s, &command)) obey(l, &command);
        double now = cli_seconds();
        if (now - l->looked > look_every) {
            l->looked = now;
            if (file_changed(l)) reload(l, s);
        }
        bool wanted = l->stepping || (!l->paused && server_clients(s) > 0);
        if (!wanted) l->begun = now, l->ahead = ct_state_time(l->state);
        if (wanted && (l->stepping || is_due(l))) {
            advance(l);
            l->stepping = false;
        } else rest();
        publish(l, s);
    }
}

int cli_live(const char* path, const live_options* options) {
    live l = {.path = path, .hand = -1, .held = -1};
    ct_error error = {.element = -1};
    server* s = NULL;
    const uint8_t* bytes;
    size_t size;
    cli_catch_interrupt();
    file_changed(&l);
    ct_status status = load(&l, &error);
    if (!status) status = begin(&l, &error);
    int code = status ? cli_report_input_error(&error, options->json) : CLI_OK;
    if (!status) {
        live_sliders_make(&l.sliders, l.model, l.hand);
        status = server_start(&s, options->port, &error);
        if (!status) status = ct_page_start(l.page, &bytes, &size, &error);
        if (status) code = cli_report_error(&error, options->json);
    }
    if (!status) {
        server_publish(s, SERVER_START, bytes, size);
        bool opened = !options->no_open && cli_open_page(server_address(s));
        if (options->json) cli_print_json(json_pack("{s:s}", "address", server_address(s)));
        else printf("%s%s\n", server_address(s), opened ? "" : "  (open it in a browser; Ctrl-C ends it)");
        fflush(stdout);
        simulate(&l, s);
    }
    server_stop(s);
    live_sliders_free(&l.sliders);
    simulation_free(&l);
    return code;
}
