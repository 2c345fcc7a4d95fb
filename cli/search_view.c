// The page of a search; see search_view.h.
#include "search_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"

enum { MOST_ROWS = 2000 };                        // of the loss in the page
static const size_t most_bytes = 48u << 20;       // of a motion
static const double tell_every = 0.2;             // s
static const double patience = 15, linger = 1.5;  // s, for a browser to come, and to fetch

ct_status search_view_start(search_view* v, const cli_problem* p, bool quiet, ct_error* error) {
    const uint8_t* bytes;
    size_t size;
    ct_page_def def = ct_page_def_default();
    ct_status status = server_start(&v->s, 0, error);
    if (!status) status = ct_page_create(&v->page, p->scene, ct_problem_model(p->problem), &def, error);
    if (!status) status = ct_page_start(v->page, &bytes, &size, error);
    if (status) return search_view_stop(v), status;
    v->steps = ct_problem_steps(p->problem);
    v->every = v->steps / (SEARCH_VIEW_FRAMES - 1) + 1;
    server_publish(v->s, SERVER_START, bytes, size);
    const bool opened = cli_open_page(server_address(v->s));
    if (!quiet) fprintf(stderr, "%s%s\n", server_address(v->s), opened ? "" : "  (open it in a browser)");
    return CT_OK;
}

void search_view_begin(search_view* v) {
    v->count = v->next = 0;
    v->size = 0;
}

static uint8_t* extend(search_view* v, size_t size) {
    if (v->size + size > most_bytes) return NULL;
    if (v->size + size > v->capacity) {
        const size_t wanted = 2 * (v->size + size);
        uint8_t* grown = realloc(v->frames, wanted);
        if (!grown) return NULL;
        v->frames = grown;
        v->capacity = wanted;
    }
    v->size += size;
    return v->frames + v->size - size;
}

void search_view_state(search_view* v, int step, const ct_state* state) {
    ct_error error;
    const uint8_t* bytes;
    size_t size;
    if (!v->s || v->count == SEARCH_VIEW_FRAMES || (step != v->next && step != v->steps)) return;
    if (ct_page_frame(v->page, state, NULL, NULL, &bytes, &size, &error)) return;
    const size_t padded = (size + 7) / 8 * 8;
    uint8_t* to = extend(v, padded);
    if (!to) return;
    memset(to, 0, padded);
    memcpy(to, bytes, size);
    v->length[v->count++] = (uint32_t)size;
    v->next = step + v->every;
}

void search_view_best(search_view* v) {
    if (!v->s || !v->count) return;
    const size_t head = 8 + ((size_t)v->count * 4 + 7) / 8 * 8;
    uint8_t* message = calloc(1, head + v->size);
    if (!message) return;
    const uint32_t count = (uint32_t)v->count;
    memcpy(message, &count, 4);
    memcpy(message + 8, v->length, (size_t)v->count * 4);
    memcpy(message + head, v->frames, v->size);
    server_publish(v->s, SERVER_MOTION, message, head + v->size);
    free(message);
    v->shown = true;
}

// A number for each evaluation, of long searches for some.
static json_t* column(const search_files* files, size_t offset) {
    json_t* list = json_array();
    const int every = files->nrow / MOST_ROWS + 1;
    for (int k = 0; k < files->nrow; k += every) {
        const int i = k + every < files->nrow ? k : files->nrow - 1;  // the last one always
        double value;
        memcpy(&value, (const char*)&files->row[i] + offset, sizeof value);
        json_array_append_new(list, cli_json_number(value));
    }
    return list;
}

void search_view_progress(search_view* v, const search_files* files, const char* method, const char* reason) {
    const double now = cli_seconds();
    if (!v->s || (!reason && now - v->told < tell_every)) return;
    v->told = now;
    const double seconds = files->nrow ? files->row[files->nrow - 1].seconds : 0;
    json_t* search = json_pack(
        "{s:s, s:s, s:f, s:o, s:o, s:o}", "method", method, "reason", reason ? reason : "", "seconds",
        seconds, "iteration", column(files, offsetof(search_row, iteration)), "loss",
        column(files, offsetof(search_row, loss)), "best", column(files, offsetof(search_row, best)));
    json_t* message = json_pack("{s:o}", "search", search);
    char* text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    if (text) server_publish(v->s, SERVER_SEARCH, text, strlen(text));
    free(text);
    json_decref(message);
}

static void pause_for(double seconds) {
    const double until = cli_seconds() + seconds;
    while (cli_seconds() < until && !cli_interrupted())
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

void search_view_stop(search_view* v) {
    if (v->s && v->shown) {
        const double until = cli_seconds() + patience;
        while (!server_clients(v->s) && cli_seconds() < until && !cli_interrupted()) pause_for(0.05);
        if (server_clients(v->s)) pause_for(linger);
    }
    server_stop(v->s);
    ct_page_free(v->page);
    free(v->frames);
    *v = (search_view){0};
}
