// cuttle optimize --view: a page that shows the loss over the evaluations and the best motion so far.
//
// The states of every evaluation become frames of a page; those of the best are published together:
// count (u32), 0 (u32), the size of each (u32, padded to 8 bytes), then the frames, each padded to 8 bytes.
#ifndef CUTTLE_CLI_SEARCH_VIEW_H
#define CUTTLE_CLI_SEARCH_VIEW_H

#include "search_files.h"
#include "server.h"

enum { SEARCH_VIEW_FRAMES = 160 };  // most of a motion

typedef struct search_view {
    server* s;  // NULL: nothing is shown
    ct_page* page;
    int steps, every;  // between frames
    int count, next;   // frames of the evaluation that runs, and the step of the next one
    uint32_t length[SEARCH_VIEW_FRAMES];
    uint8_t* frames;
    size_t size, capacity;
    bool shown;   // there is a motion in the page
    double told;  // s, when progress was last published
} search_view;

// Begins to serve, and opens the page; fails where Cuttle is built without the viewer or libwebsockets.
ct_status search_view_start(search_view* v, const cli_problem* p, bool quiet, ct_error* error);
void search_view_begin(search_view* v);                                   // an evaluation
void search_view_state(search_view* v, int step, const ct_state* state);  // of it, on the way forward
void search_view_best(search_view* v);                                    // it is the best so far
// reason: why the search has ended; NULL: it goes on.
void search_view_progress(search_view* v, const search_files* files, const char* method, const char* reason);
// Waits a few seconds for a browser that was opened and has seen nothing yet, then ends the server.
void search_view_stop(search_view* v);

#endif
