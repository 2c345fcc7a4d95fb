// Writing JSON; see json_put.h.
#include "text/json_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { INDENT = 2, COLUMNS = 110, NUMBER_BYTES = 40 };

static void put(ct_json_put* out, const char* bytes, size_t count) {
    if (out->status) return;
    if (!ct_reserve((void**)&out->text, &out->capacity, out->size + count + 1, 1)) {
        out->status = ct_fail(out->error, CT_OUT_OF_MEMORY, "out of memory");
        return;
    }
    memcpy(out->text + out->size, bytes, count);
    out->size += count;
    out->text[out->size] = 0;
}

static void put_word(ct_json_put* out, const char* word) { put(out, word, strlen(word)); }

static void put_line(ct_json_put* out, int depth) {
    char line[1 + INDENT * CT_PUT_DEPTH];
    memset(line, ' ', sizeof line);
    line[0] = '\n';
    put(out, line, 1 + INDENT * (size_t)depth);
}

static void put_quoted(ct_json_put* out, const char* text) {
    put_word(out, "\"");
    for (const char* c = text; *c; c++) {
        char escaped[8];
        if (*c == '"' || *c == '\\') snprintf(escaped, sizeof escaped, "\\%c", *c);
        else if ((unsigned char)*c < 32) snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*c);
        else snprintf(escaped, sizeof escaped, "%c", *c);
        put_word(out, escaped);
    }
    put_word(out, "\"");
}

// The place of the next entry, with its key.
static void put_key(ct_json_put* out, const char* key) {
    if (out->depth) {
        bool* filled = &out->filled[out->depth - 1];
        if (*filled) put_word(out, ",");
        *filled = true;
        put_line(out, out->depth);
    }
    if (!key) return;
    put_quoted(out, key);
    put_word(out, ": ");
}

static void open(ct_json_put* out, const char* key, const char* opening, char closing) {
    put_key(out, key);
    put_word(out, opening);
    if (out->depth == CT_PUT_DEPTH - 1)
        out->status = ct_fail(out->error, CT_UNSUPPORTED, "this is nested too deep for a file");
    if (out->status) return;
    out->closing[out->depth] = closing;
    out->filled[out->depth++] = false;
}

void ct_put_object(ct_json_put* out, const char* key) { open(out, key, "{", '}'); }
void ct_put_array(ct_json_put* out, const char* key) { open(out, key, "[", ']'); }

void ct_put_end(ct_json_put* out) {
    if (out->status) return;
    out->depth--;
    if (out->filled[out->depth]) put_line(out, out->depth);
    put(out, &out->closing[out->depth], 1);
    if (!out->depth) put_word(out, "\n");
}

// Zero has no sign: a body's transform drops it on the way in.
static bool format_number(double value, char text[NUMBER_BYTES]) {
    if (!isfinite(value)) return false;
    if (value == 0) value = 0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    // whole numbers beyond 64 bits must not look like integers
    if (!strpbrk(text, ".e") && fabs(value) >= 1e15) strcat(text, ".0");
    return true;
}

static void put_value(ct_json_put* out, const char* key, double value) {
    char text[NUMBER_BYTES];
    if (format_number(value, text)) put_word(out, text);
    else if (!out->status)
        out->status = ct_fail(out->error, CT_UNSUPPORTED,
                              "\"%s\" is %g: a scene file has finite numbers only", key ? key : "", value);
}

void ct_put_number(ct_json_put* out, const char* key, double value) {
    put_key(out, key);
    put_value(out, key, value);
}

void ct_put_integer(ct_json_put* out, const char* key, long long value) {
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%lld", value);
    put_key(out, key);
    put_word(out, text);
}

void ct_put_bool(ct_json_put* out, const char* key, bool value) {
    put_key(out, key);
    put_word(out, value ? "true" : "false");
}

void ct_put_text(ct_json_put* out, const char* key, const char* value) {
    put_key(out, key);
    put_quoted(out, value);
}

void ct_put_null(ct_json_put* out, const char* key) {
    put_key(out, key);
    put_word(out, "null");
}

// Items on one line, or on several where they are many.
static void put_list(ct_json_put* out, const char* key, const double* real, const int* whole, size_t count) {
    size_t line = out->size;
    put_word(out, "[");
    for (size_t i = 0; i < count && !out->status; i++) {
        if (i) put_word(out, out->size - line < COLUMNS - 20 ? ", " : ",");
        if (out->size - line >= COLUMNS - 20) {
            line = out->size;
            put_line(out, out->depth + 1);
        }
        if (real) put_value(out, key, real[i]);
        else {
            char text[NUMBER_BYTES];
            snprintf(text, sizeof text, "%d", whole[i]);
            put_word(out, text);
        }
    }
    put_word(out, "]");
}

void ct_put_numbers(ct_json_put* out, const char* key, const double* values, size_t count) {
    put_key(out, key);
    put_list(out, key, values, NULL, count);
}

void ct_put_integers(ct_json_put* out, const char* key, const int* values, size_t count) {
    put_key(out, key);
    put_list(out, key, NULL, values, count);
}

void ct_put_rows(ct_json_put* out, const char* key, const double* values, size_t count, size_t width) {
    ct_put_array(out, key);
    for (size_t i = 0; i < count && !out->status; i++) ct_put_numbers(out, NULL, values + i * width, width);
    ct_put_end(out);
}

void ct_put_integer_rows(ct_json_put* out, const char* key, const int* values, size_t count, size_t width) {
    ct_put_array(out, key);
    for (size_t i = 0; i < count && !out->status; i++) ct_put_integers(out, NULL, values + i * width, width);
    ct_put_end(out);
}
