// Finds the line of a JSON path: walks the text from the root, entering only the members that the path names.
//
// jansson gives lines for syntax errors alone. The text has been parsed before, but every read stays inside
// it.
#include <stdlib.h>
#include <string.h>

#include "text/json.h"

typedef struct cursor {
    const char* at;
    const char* end;
} cursor;

static char peek(const cursor* c) { return c->at < c->end ? *c->at : 0; }

static void skip_space(cursor* c) {
    while (c->at < c->end && strchr(" \t\r\n,:", *c->at) && *c->at) c->at++;
}

static void skip_string(cursor* c) {
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\') c->at++;
    c->at = c->at < c->end ? c->at + 1 : c->end;
}

static void skip_value(cursor* c) {
    int depth = 0;
    do {
        char letter = peek(c);
        if (letter == '"') {
            skip_string(c);
        } else if (letter && strchr("{[", letter)) {
            depth++;
            c->at++;
        } else if (letter && strchr("}]", letter)) {
            depth--;
            c->at++;
        } else {
            const char* start = c->at;
            while (c->at < c->end && !strchr(" \t\r\n,:{}[]\"", *c->at)) c->at++;
            if (c->at == start) c->at++;
        }
        if (depth > 0) skip_space(c);
    } while (depth > 0 && c->at < c->end);
}

// Enters the member of the object that the path names next; the cursor is left at its key. NULL: there is
// none.
static const char* enter_member(cursor* c, const char* path, cursor* value) {
    if (*path == '.') path++;
    for (c->at++;;) {
        skip_space(c);
        if (peek(c) != '"') return NULL;
        cursor key = *c;
        skip_string(c);
        size_t length = (size_t)(c->at - key.at) - 2;
        skip_space(c);
        bool matches = c->at - key.at >= 2 && !strncmp(path, key.at + 1, length);
        if (matches && (path[length] == 0 || path[length] == '.' || path[length] == '[')) {
            *value = *c;
            *c = key;
            return path + length;
        }
        skip_value(c);
    }
}

static const char* enter_item(cursor* c, const char* path) {
    if (*path != '[') return NULL;
    char* rest;
    long index = strtol(path + 1, &rest, 10);
    if (*rest != ']') return NULL;
    c->at++;
    for (skip_space(c); index > 0; index--) {
        const char* before = c->at;
        skip_value(c);
        skip_space(c);
        if (c->at == before || peek(c) == ']') return NULL;
    }
    return rest + 1;
}

int ct_json_line(const char* text, size_t size, const char* path) {
    cursor c = {text, text + size};
    skip_space(&c);
    const char* found = c.at;
    while (path && *path && c.at < c.end) {
        cursor value = c;
        if (peek(&c) == '{') {
            path = enter_member(&c, path, &value);
        } else if (peek(&c) == '[') {
            path = enter_item(&c, path);
            value = c;
        } else {
            break;
        }
        if (!path) break;
        found = c.at;
        c = value;
    }
    int line = 1;
    for (const char* p = text; p < found; p++) line += *p == '\n';
    return line;
}
