// Scanning the text and the binary blocks of mesh files; see scan.h.
#include "text/scan.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"

ct_scan ct_scan_begin(const void* bytes, size_t size, const char* file, ct_error* error) {
    const char* begin = size ? bytes : "";
    return (ct_scan){.begin = begin,
                     .at = begin,
                     .end = begin + size,
                     .line = 1,
                     .index = -1,
                     .file = file ? file : "",
                     .error = error};
}

size_t ct_scan_left(const ct_scan* scan) { return (size_t)(scan->end - scan->at); }

// ---------------------------------------------------------------------------------------------
// Errors

static ct_status fail_with(const ct_scan* scan, ct_status code, const char* format, va_list arguments) {
    if (!scan->error) return code;
    char message[448];
    vsnprintf(message, sizeof message, format, arguments);
    scan->error->element = scan->index;
    return ct_fail_at(scan->error, code, scan->file, scan->line, "%s", message);
}

ct_status ct_scan_fail(const ct_scan* scan, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ct_status status = fail_with(scan, CT_BAD_FILE, format, arguments);
    va_end(arguments);
    return status;
}

ct_status ct_scan_fail_as(const ct_scan* scan, ct_status code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ct_status status = fail_with(scan, code, format, arguments);
    va_end(arguments);
    return status;
}

ct_status ct_scan_out_of_memory(const ct_scan* scan) {
    return ct_scan_fail_as(scan, CT_OUT_OF_MEMORY, "not enough memory to read the mesh");
}

void ct_scan_item(ct_scan* scan, const char* item, long index) {
    scan->item = item;
    scan->index = index;
}

// "node 3: " or "".
static void describe_item(const ct_scan* scan, char* text, size_t size) {
    text[0] = 0;
    if (!scan->item) return;
    if (scan->index < 0) snprintf(text, size, "%s: ", scan->item);
    else snprintf(text, size, "%s %ld: ", scan->item, scan->index + scan->base);
}

// Printable start of a word, for messages.
static void quote(ct_word word, char* text, size_t size) {
    ct_word_copy(word, text, size);
    for (char* c = text; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
}

static ct_status fail_expected(const ct_scan* scan, const char* wanted, const ct_word* found) {
    char item[64], text[32];
    describe_item(scan, item, sizeof item);
    if (!found)
        return ct_scan_fail(scan,
                            "%sthe file ends where %s should be: it was cut short or its counts are wrong",
                            item, wanted);
    quote(*found, text, sizeof text);
    return ct_scan_fail(scan, "%sexpected %s, found '%s'", item, wanted, text);
}

// ---------------------------------------------------------------------------------------------
// Words and lines

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static void skip_blanks(ct_scan* scan) {
    while (scan->at < scan->end && is_blank(*scan->at)) scan->at++;
    if (scan->at < scan->end && scan->comment && *scan->at == scan->comment)
        while (scan->at < scan->end && *scan->at != '\n') scan->at++;
}

static void skip_newline(ct_scan* scan) {
    scan->at++;
    if (scan->line > 0 && scan->line < INT_MAX) scan->line++;
}

static void skip_blank_lines(ct_scan* scan) {
    skip_blanks(scan);
    while (scan->at < scan->end && *scan->at == '\n') {
        skip_newline(scan);
        skip_blanks(scan);
    }
}

bool ct_scan_word_here(ct_scan* scan, ct_word* word) {
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at == '\n') return false;
    word->text = scan->at;
    while (scan->at < scan->end && *scan->at != '\n' && !is_blank(*scan->at)) scan->at++;
    word->size = (size_t)(scan->at - word->text);
    return true;
}

bool ct_scan_word(ct_scan* scan, ct_word* word) {
    skip_blank_lines(scan);
    return ct_scan_word_here(scan, word);
}

bool ct_scan_at_end(ct_scan* scan) {
    skip_blank_lines(scan);
    return scan->at == scan->end;
}

ct_word ct_scan_rest(ct_scan* scan) {
    while (scan->at < scan->end && is_blank(*scan->at)) scan->at++;
    ct_word rest = {scan->at, 0};
    const char* newline = memchr(scan->at, '\n', ct_scan_left(scan));
    const char* stop = newline ? newline : scan->end;
    scan->at = stop;
    if (newline) skip_newline(scan);
    while (stop > rest.text && is_blank(stop[-1])) stop--;
    rest.size = (size_t)(stop - rest.text);
    return rest;
}

bool ct_scan_seek_line(ct_scan* scan, const char* text) {
    size_t size = strlen(text);
    while (scan->at < scan->end) {
        bool found = ct_scan_left(scan) >= size && memcmp(scan->at, text, size) == 0;
        ct_scan_rest(scan);
        if (found) return true;
    }
    return false;
}

bool ct_word_is(ct_word word, const char* text) {
    return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

bool ct_word_is_nocase(ct_word word, const char* text) {
    return word.size == strlen(text) && strncasecmp(word.text, text, word.size) == 0;
}

void ct_word_copy(ct_word word, char* target, size_t size) {
    size_t n = word.size < size - 1 ? word.size : size - 1;
    memcpy(target, word.text, n);
    target[n] = 0;
}

// ---------------------------------------------------------------------------------------------
// Numbers

bool ct_word_integer(ct_word word, int64_t* value) {
    size_t i = 0;
    bool negative = word.size && word.text[0] == '-';
    if (word.size && (word.text[0] == '-' || word.text[0] == '+')) i++;
    if (i == word.size) return false;
    int64_t sum = 0;
    for (; i < word.size; i++) {
        int digit = word.text[i] - '0';
        if (digit < 0 || digit > 9) return false;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum)) return false;
    }
    *value = negative ? -sum : sum;
    return true;
}

bool ct_word_real(ct_word word, double* value) {
    char text[128];
    if (word.size == 0 || word.size >= sizeof text) return false;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.text[i];
        // decimal digits only: strtod would also take hexadecimal, "inf" and "nan"
        if (!((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E'))
            return false;
        text[i] = c;
    }
    text[word.size] = 0;
    char* stop;
    *value = strtod(text, &stop);
    return stop == text + word.size && isfinite(*value);
}

ct_status ct_scan_integer(ct_scan* scan, int64_t* value) {
    ct_word word;
    if (!ct_scan_word(scan, &word)) return fail_expected(scan, "an integer", NULL);
    return ct_word_integer(word, value) ? CT_OK : fail_expected(scan, "an integer", &word);
}

ct_status ct_scan_real(ct_scan* scan, double* value) {
    ct_word word;
    if (!ct_scan_word(scan, &word)) return fail_expected(scan, "a number", NULL);
    return ct_word_real(word, value) ? CT_OK : fail_expected(scan, "a finite number", &word);
}

ct_status ct_scan_check_count(const ct_scan* scan, const char* things, uint64_t count, size_t bytes) {
    if (count > CT_SCAN_MAX_COUNT)
        return ct_scan_fail(scan,
                            "the file announces %llu %s, more than can be handled (%d): the count is "
                            "damaged, or split the mesh",
                            (unsigned long long)count, things, CT_SCAN_MAX_COUNT);
    // the last thing of a text may lack its newline
    if (count * bytes > ct_scan_left(scan) + 1)
        return ct_scan_fail(
            scan,
            "the file announces %llu %s but only %zu bytes follow: it was cut short or the count is wrong",
            (unsigned long long)count, things, ct_scan_left(scan));
    return CT_OK;
}

ct_status ct_scan_count(ct_scan* scan, const char* things, size_t bytes, int* count) {
    int64_t value;
    ct_status status = ct_scan_integer(scan, &value);
    if (status != CT_OK) return status;
    if (value < 0) return ct_scan_fail(scan, "the number of %s is negative (%lld)", things, (long long)value);
    status = ct_scan_check_count(scan, things, (uint64_t)value, bytes);
    *count = (int)value;
    return status;
}

// ---------------------------------------------------------------------------------------------
// Binary

const char* ct_scan_bytes(ct_scan* scan, size_t size) {
    scan->line = 0;
    if (ct_scan_left(scan) < size) return NULL;
    const char* bytes = scan->at;
    scan->at += size;
    return bytes;
}

ct_status ct_scan_int32(ct_scan* scan, int* value) {
    uint32_t bits;
    const char* bytes = ct_scan_bytes(scan, sizeof bits);
    if (!bytes) return fail_expected(scan, "a binary integer", NULL);
    memcpy(&bits, bytes, sizeof bits);
    if (scan->swap) bits = __builtin_bswap32(bits);
    memcpy(value, &bits, sizeof bits);
    return CT_OK;
}

ct_status ct_scan_uint64(ct_scan* scan, uint64_t* value) {
    const char* bytes = ct_scan_bytes(scan, sizeof *value);
    if (!bytes) return fail_expected(scan, "a binary integer", NULL);
    memcpy(value, bytes, sizeof *value);
    if (scan->swap) *value = __builtin_bswap64(*value);
    return CT_OK;
}

ct_status ct_scan_double(ct_scan* scan, double* value) {
    uint64_t bits = 0;
    ct_status status = ct_scan_uint64(scan, &bits);
    if (status != CT_OK) return status;
    memcpy(value, &bits, sizeof bits);
    if (isfinite(*value)) return CT_OK;
    char item[64];
    describe_item(scan, item, sizeof item);
    return ct_scan_fail(scan, "%sa coordinate is not a finite number: correct or remove it", item);
}
