// Typed reading of parsed JSON with paths in the messages.
//
// A ct_json is a value and the path that led to it ("bodies[0].material.young"). Every read takes one; a
// value that is absent leaves the result as it was (its default). The first failure is kept in the reader
// with its path and a sentence "<path> ..."; after it all reads do nothing, so that a loader is a plain list
// of reads followed by one look at `reader.status`. Lines are added by whoever holds the text: ct_json_line.
//
//     ct_json_reader reader = {.error = error};
//     ct_json shape = ct_json_root(&reader, value, "bodies[0].shape");
//     ct_json_keys(shape, (const char* const[]){"center", "radius", NULL});
//     ct_json_vector(ct_json_member(shape, "center"), center);
//     ct_json_positive(ct_json_required(shape, "radius"), &radius);
//     return reader.status;
#ifndef CT_TEXT_JSON_H
#define CT_TEXT_JSON_H

#include <jansson.h>

#include "cuttle.h"

typedef struct ct_json_reader {
    ct_error* error;   // may be NULL
    ct_status status;  // CT_OK until the first failure
} ct_json_reader;

typedef struct ct_json {
    ct_json_reader* reader;
    const json_t* value;  // NULL: absent, or the reader has failed
    char path[128];       // "" for the root of the file
} ct_json;

// Parses a text; CT_BAD_FILE with the line and what is wrong there.
ct_status ct_json_parse(json_t** out, const char* text, size_t size, ct_error* error);

ct_json ct_json_root(ct_json_reader* reader, const json_t* value, const char* path);
ct_json ct_json_member(ct_json object, const char* key);    // value NULL when absent
ct_json ct_json_required(ct_json object, const char* key);  // absence is a failure
ct_json ct_json_item(ct_json array, size_t index);          // past the end is a failure
bool ct_json_has(ct_json object, const char* key);

// Fails with CT_BAD_SCENE: path and "<path> " + the formatted rest, such as "bodies[0].mesh is 3: it must be
// ...".
ct_status ct_json_fail(ct_json at, const char* format, ...) __attribute__((format(printf, 2, 3)));
ct_status ct_json_out_of_memory(ct_json at);
// Fails with an error of an inner call; its path, when set, is relative to `at`.
ct_status ct_json_relay(ct_json at, ct_status status, const ct_error* inner);

// The value is an object and has only these keys (NULL-terminated); otherwise the nearest known key is
// proposed.
bool ct_json_keys(ct_json at, const char* const* keys);
bool ct_json_is_object(ct_json at);              // false and a failure when it is something else
size_t ct_json_length(ct_json at);               // of an array; 0 and a failure when it is something else
void ct_json_number(ct_json at, double* out);    // finite
void ct_json_positive(ct_json at, double* out);  // > 0
void ct_json_at_least(ct_json at, double least, double* out);
void ct_json_integer(ct_json at, int least, int most, int* out);
void ct_json_bool(ct_json at, bool* out);
void ct_json_text(ct_json at, const char** out);              // not empty, borrowed from the value
void ct_json_numbers(ct_json at, double* out, size_t count);  // an array of exactly `count` finite numbers
void ct_json_vector(ct_json at, double out[3]);               // three finite numbers
// An array of arrays of `width` numbers each, as many as it has.
void ct_json_rows(ct_json at, size_t width, double* out);
// The same of whole numbers from `least` to `most`.
void ct_json_integer_rows(ct_json at, size_t width, int least, int most, int* out);
// One of the NULL-terminated names; *out is its index.
void ct_json_choice(ct_json at, const char* const* names, int* out);
// A rotation: {"axis": [..], "degrees": d} or {"quaternion": [w, x, y, z]} (normalised) as a unit quaternion.
extern const char* const ct_json_rotation_keys[];
void ct_json_rotation(ct_json at, double quaternion[4]);

// The nearest of the NULL-terminated words by edit distance, NULL when none is near.
const char* ct_json_nearest(const char* word, const char* const* words);
// `path` relative to `directory` (NULL or "": the current one); the caller frees it. NULL: out of memory.
char* ct_json_file_path(const char* directory, const char* path);
// The 1-based line of the value (of its key, in an object) at `path` in a JSON text, or of its nearest
// ancestor.
int ct_json_line(const char* text, size_t size, const char* path);

#endif
