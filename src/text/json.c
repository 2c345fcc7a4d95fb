// Typed reading of parsed JSON; see json.h.
#include "text/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

// What is wrong where jansson stopped, in the words of who wrote the file.
static const char* explain(const char* text, size_t size, const json_error_t* problem) {
    const size_t at = problem->position > 0 ? (size_t)problem->position - 1 : 0;
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        return "the file begins with a byte order mark: save it as UTF-8 without one";
    for (size_t k = at; k < at + 2 && k + 1 < size; k++)
        if (text[k] == '/' && (text[k + 1] == '/' || text[k + 1] == '*'))
            return "JSON has no comments: remove them";
    return problem->text;
}

ct_status ct_json_parse(json_t** out, const char* text, size_t size, ct_error* error) {
    json_error_t problem = {0};
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (*out) return CT_OK;
    // jansson leaves its text empty when memory runs out in the middle of a token.
    if (!problem.text[0] || json_error_code(&problem) == json_error_out_of_memory)
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (error) error->line = problem.line > 0 ? problem.line : 1;
    return ct_fail(error, CT_BAD_FILE, "this is not valid JSON: %s (line %d, column %d)",
                   explain(text, size, &problem), problem.line, problem.column);
}

// Appends to a path; one that does not fit ends in "..." for good, and its line is that of the last whole
// part.
static void append(char path[128], const char* separator, const char* part) {
    size_t used = strlen(path), separator_size = strlen(separator), part_size = strlen(part);
    if (used >= 3 && !strcmp(path + used - 3, "...")) return;
    if (used + separator_size + part_size + sizeof "..." > 128) {
        memcpy(path + used, "...", sizeof "...");
        return;
    }
    memcpy(path + used, separator, separator_size);
    memcpy(path + used + separator_size, part, part_size + 1);
}

ct_json ct_json_root(ct_json_reader* reader, const json_t* value, const char* path) {
    ct_json root = {.reader = reader, .value = reader->status ? NULL : value};
    snprintf(root.path, sizeof root.path, "%s", path ? path : "");
    return root;
}

static ct_json below(ct_json parent, const json_t* value, const char* separator, const char* part) {
    parent.value = parent.reader->status ? NULL : value;
    append(parent.path, parent.path[0] || *separator == '[' ? separator : "", part);
    return parent;
}

ct_json ct_json_member(ct_json object, const char* key) {
    return below(object, object.value ? json_object_get(object.value, key) : NULL, ".", key);
}

ct_json ct_json_required(ct_json object, const char* key) {
    if (ct_json_is_object(object) && !json_object_get(object.value, key))
        ct_json_fail(object, "needs the key \"%s\"", key);
    return ct_json_member(object, key);
}

ct_json ct_json_item(ct_json array, size_t index) {
    char part[32];
    snprintf(part, sizeof part, "[%zu]", index);
    if (index >= ct_json_length(array)) {
        ct_json_fail(array, "is too short: it needs at least %zu items", index + 1);
        return below(array, NULL, "", part);
    }
    return below(array, json_array_get(array.value, index), "", part);
}

bool ct_json_has(ct_json object, const char* key) {
    return object.value && !object.reader->status && json_object_get(object.value, key);
}

// -------------------------------------------------------------------------------------------------
// Failure

static ct_status fail(ct_json at, ct_status code, const char* message) {
    ct_json_reader* reader = at.reader;
    if (reader->status) return reader->status;
    reader->status = code;
    if (!reader->error) return code;
    snprintf(reader->error->path, sizeof reader->error->path, "%s", at.path);
    return ct_fail(reader->error, code, "%s", message);
}

ct_status ct_json_fail(ct_json at, const char* format, ...) {
    char message[512];
    int used = snprintf(message, sizeof message, "%s ", at.path[0] ? at.path : "the top level");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message + used, sizeof message - (size_t)used, format, arguments);
    va_end(arguments);
    return fail(at, CT_BAD_SCENE, message);
}

ct_status ct_json_out_of_memory(ct_json at) {
    return fail(at, CT_OUT_OF_MEMORY, ct_status_text(CT_OUT_OF_MEMORY));
}

ct_status ct_json_relay(ct_json at, ct_status status, const ct_error* inner) {
    ct_json_reader* reader = at.reader;
    if (!status || reader->status) return reader->status;
    char message[sizeof inner->message + sizeof at.path + 4];
    const char* separator = !at.path[0] ? "" : inner->path[0] ? "." : ": ";
    snprintf(message, sizeof message, "%s%s%s", at.path, separator,
             inner->message[0] ? inner->message : ct_status_text(status));
    if (inner->path[0]) append(at.path, at.path[0] ? "." : "", inner->path);
    message[sizeof inner->message - 1] = 0;
    fail(at, status, message);
    if (!reader->error) return status;
    memcpy(reader->error->file, inner->file, sizeof inner->file);
    reader->error->line = inner->line;
    reader->error->element = inner->element;
    return status;
}

// The value as the user wrote it, shortened, for messages.
static const char* shown(const json_t* value, char text[64]) {
    if (json_is_object(value)) return "an object";
    if (json_is_array(value)) return "an array";
    size_t size = json_dumpb(value, text, 60, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    if (size > 60) memcpy(text + 57, "...", 3);
    text[size < 60 ? size : 60] = 0;
    return text;
}

static void wrong(ct_json at, const char* expected) {
    char text[64];
    ct_json_fail(at, "is %s: it must be %s", shown(at.value, text), expected);
}

// -------------------------------------------------------------------------------------------------
// Keys and words

// Edits (insert, delete, replace, swap neighbours) between two words of at most 40 letters, case ignored.
static int edit_distance(const char* a, const char* b) {
    enum { MOST = 40 };
    int table[MOST + 2][MOST + 2];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (na > MOST || nb > MOST) return MOST;
    for (int i = 0; i <= na; i++) {
        for (int j = 0; j <= nb; j++) {
            if (!i || !j) {
                table[i][j] = i + j;
                continue;
            }
            int same = (a[i - 1] | 32) == (b[j - 1] | 32);
            int best = table[i - 1][j - 1] + !same;
            if (table[i - 1][j] + 1 < best) best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best) best = table[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && table[i - 2][j - 2] + 1 < best) best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    }
    return table[na][nb];
}

const char* ct_json_nearest(const char* word, const char* const* words) {
    const char* nearest = NULL;
    int least = 1 + (int)strlen(word) / 2;
    if (least > 4) least = 4;
    for (; *words; words++) {
        int distance = edit_distance(word, *words);
        if (distance >= least) continue;
        least = distance;
        nearest = *words;
    }
    return nearest;
}

static void list_words(char* text, size_t size, const char* const* words) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", words[i]);
}

static bool is_one_of(const char* word, const char* const* words) {
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

bool ct_json_keys(ct_json at, const char* const* keys) {
    if (!ct_json_is_object(at)) return false;
    const char* key;
    json_t* value;
    json_object_foreach((json_t*)at.value, key, value) {
        if (is_one_of(key, keys)) continue;
        const char* nearest = ct_json_nearest(key, keys);
        char known[300];
        list_words(known, sizeof known, keys);
        ct_json member = ct_json_member(at, key);
        if (nearest) ct_json_fail(member, "is not a known key: did you mean \"%s\"?", nearest);
        else ct_json_fail(member, "is not a known key: the keys here are %s", known);
        return false;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------
// Values

bool ct_json_is_object(ct_json at) {
    if (!at.value || at.reader->status) return false;
    if (json_is_object(at.value)) return true;
    wrong(at, "an object {...}");
    return false;
}

size_t ct_json_length(ct_json at) {
    if (!at.value || at.reader->status) return 0;
    if (json_is_array(at.value)) return json_array_size(at.value);
    wrong(at, "an array [...]");
    return 0;
}

static bool read_number(ct_json at, double* out, const char* expected) {
    if (!at.value || at.reader->status) return false;
    double number = json_number_value(at.value);
    if (json_is_number(at.value) && isfinite(number)) {
        *out = number;
        return true;
    }
    wrong(at, expected);
    return false;
}

void ct_json_number(ct_json at, double* out) { read_number(at, out, "a number"); }

void ct_json_positive(ct_json at, double* out) {
    double number;
    if (!read_number(at, &number, "a number above 0")) return;
    if (number > 0) *out = number;
    else wrong(at, "above 0");
}

void ct_json_at_least(ct_json at, double least, double* out) {
    double number;
    if (!read_number(at, &number, "a number")) return;
    char expected[48];
    snprintf(expected, sizeof expected, "at least %g", least);
    if (number >= least) *out = number;
    else wrong(at, expected);
}

void ct_json_integer(ct_json at, int least, int most, int* out) {
    double number;
    char expected[80];
    snprintf(expected, sizeof expected,
             most < 2147483647 ? "a whole number from %d to %d" : "a whole number, at least %d", least, most);
    if (!read_number(at, &number, expected)) return;
    if (number == floor(number) && number >= least && number <= most) *out = (int)number;
    else wrong(at, expected);
}

void ct_json_bool(ct_json at, bool* out) {
    if (!at.value || at.reader->status) return;
    if (json_is_boolean(at.value)) *out = json_is_true(at.value);
    else wrong(at, "true or false");
}

void ct_json_text(ct_json at, const char** out) {
    if (!at.value || at.reader->status) return;
    if (json_is_string(at.value) && json_string_length(at.value) > 0) *out = json_string_value(at.value);
    else wrong(at, "a text that is not empty");
}

void ct_json_numbers(ct_json at, double* out, size_t count) {
    if (!at.value || at.reader->status) return;
    char expected[64];
    snprintf(expected, sizeof expected, "an array of %zu numbers", count);
    if (!json_is_array(at.value)) {
        wrong(at, expected);
        return;
    }
    if (json_array_size(at.value) != count) {
        ct_json_fail(at, "has %zu items: it must be %s", json_array_size(at.value), expected);
        return;
    }
    for (size_t i = 0; i < count && !at.reader->status; i++) ct_json_number(ct_json_item(at, i), &out[i]);
}

void ct_json_rows(ct_json at, size_t width, double* out) {
    const size_t count = ct_json_length(at);
    for (size_t i = 0; i < count && !at.reader->status; i++) {
        const json_t* row = json_array_get(at.value, i);
        bool plain = json_array_size(row) == width;
        for (size_t k = 0; plain && k < width; k++) {
            const json_t* item = json_array_get(row, k);
            out[i * width + k] = json_number_value(item);
            plain = json_is_number(item);
        }
        if (!plain) ct_json_numbers(ct_json_item(at, i), out + i * width, width);  // says what is wrong
    }
}

void ct_json_integer_rows(ct_json at, size_t width, int least, int most, int* out) {
    const size_t count = ct_json_length(at);
    for (size_t i = 0; i < count && !at.reader->status; i++) {
        const json_t* row = json_array_get(at.value, i);
        if (!json_is_array(row) || json_array_size(row) != width) {
            ct_json_fail(ct_json_item(at, i), "must be %zu whole numbers", width);
            return;
        }
        for (size_t k = 0; k < width; k++) {
            const json_t* item = json_array_get(row, k);
            const json_int_t value = json_integer_value(item);
            if (json_is_integer(item) && value >= least && value <= most) out[i * width + k] = (int)value;
            else ct_json_integer(ct_json_item(ct_json_item(at, i), k), least, most, &out[i * width + k]);
        }
    }
}

void ct_json_vector(ct_json at, double out[3]) {
    double vector[3];
    if (!at.value || at.reader->status) return;
    ct_json_numbers(at, vector, 3);
    if (!at.reader->status) memcpy(out, vector, sizeof vector);
}

void ct_json_choice(ct_json at, const char* const* names, int* out) {
    if (!at.value || at.reader->status) return;
    const char* word = json_is_string(at.value) ? json_string_value(at.value) : "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(word, names[i])) continue;
        *out = i;
        return;
    }
    char text[64], known[200];
    const char* nearest = ct_json_nearest(word, names);
    list_words(known, sizeof known, names);
    if (nearest) ct_json_fail(at, "is %s: did you mean \"%s\"?", shown(at.value, text), nearest);
    else ct_json_fail(at, "is %s: it must be one of %s", shown(at.value, text), known);
}

const char* const ct_json_rotation_keys[] = {"axis", "degrees", "quaternion", NULL};

void ct_json_rotation(ct_json at, double quaternion[4]) {
    if (!at.value || !ct_json_keys(at, ct_json_rotation_keys)) return;
    double q[4] = {1, 0, 0, 0}, degrees = 0;
    if (ct_json_has(at, "quaternion")) {
        ct_json given = ct_json_member(at, "quaternion");
        ct_json_numbers(given, q, 4);
        if (ct_json_has(at, "axis") || ct_json_has(at, "degrees"))
            ct_json_fail(at, "has both a quaternion and an axis: keep one of them");
    } else {
        ct_json_vector(ct_json_required(at, "axis"), q + 1);
        ct_json_number(ct_json_required(at, "degrees"), &degrees);
        double length = hypot(hypot(q[1], q[2]), q[3]), half = degrees * (M_PI / 360);
        if (!at.reader->status && !(length > 0 && isfinite(length)))
            ct_json_fail(at, "has an axis without a direction");
        for (int i = 1; i < 4; i++) q[i] *= sin(half) / length;
        q[0] = cos(half);
    }
    double norm = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    if (!at.reader->status && !(norm > 0 && isfinite(norm)))
        ct_json_fail(at, "has a quaternion that is not a rotation: it is w x y z, of length 1");
    if (at.reader->status) return;
    if (ct_json_has(at, "quaternion") && fabs(norm - 1) <= 1e-15) norm = 1;  // it is, to round-off
    for (int i = 0; i < 4; i++) quaternion[i] = q[i] / norm;
}

char* ct_json_file_path(const char* directory, const char* path) {
    if (!directory || !*directory || path[0] == '/') return ct_duplicate_text(path);
    size_t size = strlen(directory) + strlen(path) + 2;
    char* joined = ct_alloc(size, 1);
    if (joined) snprintf(joined, size, "%s/%s", directory, path);
    return joined;
}
