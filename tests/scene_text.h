// Scenes from text in tests: parsed, or refused at a path and line with a message.
#ifndef CT_TESTS_SCENE_TEXT_H
#define CT_TESTS_SCENE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cuttle.h"
#include "unit.h"

// Files that the text names are relative to `directory`.
static inline ct_scene* parse_in(const char* text, const char* directory) {
    ct_scene* scene;
    ct_error error;
    if (ct_scene_parse(&scene, text, strlen(text), directory, &error))
        fail_msg("%s: %s", error.path, error.message);
    return scene;
}

static inline ct_scene* parse(const char* text) { return parse_in(text, NULL); }

// Parsing fails at the path and line, and the message contains the words; without a place for the message it
// fails alike.
static inline void refused(const char* text, const char* path, int line, const char* words) {
    const char* directory = CT_SOURCE_DIR "/tests/data";
    ct_scene* scene;
    ct_error error;
    assert_int_not_equal(ct_scene_parse(&scene, text, strlen(text), directory, &error), CT_OK);
    assert_null(scene);
    if (strcmp(error.path, path))
        fail_msg("path \"%s\", expected \"%s\" (%s)", error.path, path, error.message);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    assert_int_equal(error.line, line);
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), directory, NULL), error.code);
}

#endif
