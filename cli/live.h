// A scene that is simulated while one looks at it in a browser.
#ifndef CUTTLE_LIVE_H
#define CUTTLE_LIVE_H

#include "cli.h"

typedef struct live_options {
    int port;  // 0: any
    bool no_open, json, quiet;
} live_options;

// Serves and simulates until it is interrupted; returns the exit code.
int cli_live(const char* scene, const live_options* options);
// Shows a file or an address in the user's browser; false: there is none to start (view.c).
bool cli_open_page(const char* path);

#endif
