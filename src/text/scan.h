// A cursor over the bytes of a mesh file: words, numbers, lines and binary blocks, with the place of an
// error.
//
// Numbers are read in the caller's locale: ct_mesh_read switches the thread to the C locale around all of it.
// While `line` is positive it counts lines; a binary block sets it to 0 (unknown) for the rest of the file.
#ifndef CT_TEXT_SCAN_H
#define CT_TEXT_SCAN_H

#include "cuttle.h"

#define CT_SCAN_MAX_COUNT 300000000  // nodes, tets or triangles of a file: 4 * count fits an int

typedef struct ct_scan {
    const char *begin, *at, *end;
    int line;      // 1-based line of `at`, 0 when unknown
    char comment;  // starts a comment that runs to the end of the line, 0: none
    bool swap;     // binary numbers have the other byte order
    // what is being read ("node", "tet"), named by error messages; NULL: nothing in particular
    const char* item;
    long index;        // 0-based index of the item, -1: none
    int base;          // added to `index` in messages: what the format counts from
    const char* file;  // "" when read from memory
    ct_error* error;   // may be NULL
} ct_scan;

typedef struct ct_word {  // borrowed from the file, not terminated
    const char* text;
    size_t size;
} ct_word;

ct_scan ct_scan_begin(const void* bytes, size_t size, const char* file, ct_error* error);
size_t ct_scan_left(const ct_scan* scan);  // bytes

// Sets the error to CT_BAD_FILE (or `code`) at the present line and item; returns the code.
ct_status ct_scan_fail(const ct_scan* scan, const char* format, ...) __attribute__((format(printf, 2, 3)));
ct_status ct_scan_fail_as(const ct_scan* scan, ct_status code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
ct_status ct_scan_out_of_memory(const ct_scan* scan);
void ct_scan_item(ct_scan* scan, const char* item, long index);

// Next word, across lines / on this line only; false when there is none.
bool ct_scan_word(ct_scan* scan, ct_word* word);
bool ct_scan_word_here(ct_scan* scan, ct_word* word);
// The rest of the line without its end; the cursor moves to the next line.
ct_word ct_scan_rest(ct_scan* scan);
bool ct_scan_at_end(ct_scan* scan);  // only blanks and comments are left
// Moves past the next line that starts with `text`; false: none, the cursor is at the end.
bool ct_scan_seek_line(ct_scan* scan, const char* text);

bool ct_word_is(ct_word word, const char* text);
bool ct_word_is_nocase(ct_word word, const char* text);
bool ct_word_integer(ct_word word, int64_t* value);          // the whole word, decimal
bool ct_word_real(ct_word word, double* value);              // the whole word, decimal, finite
void ct_word_copy(ct_word word, char* target, size_t size);  // truncated and terminated

// One number from the text; on failure the error says what was found instead.
ct_status ct_scan_integer(ct_scan* scan, int64_t* value);
ct_status ct_scan_real(ct_scan* scan, double* value);
// A count of things that take at least `bytes` bytes each in what is left of the file.
ct_status ct_scan_count(ct_scan* scan, const char* things, size_t bytes, int* count);
ct_status ct_scan_check_count(const ct_scan* scan, const char* things, uint64_t count, size_t bytes);

// Binary: `size` bytes in place, NULL when the file is too short.
const char* ct_scan_bytes(ct_scan* scan, size_t size);
ct_status ct_scan_int32(ct_scan* scan, int* value);
ct_status ct_scan_uint64(ct_scan* scan, uint64_t* value);
ct_status ct_scan_double(ct_scan* scan, double* value);  // finite

#endif
