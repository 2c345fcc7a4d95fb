// Writing JSON: keys and values one after the other, indented, numbers in the fewest digits that read back to
// the same bits.
//
//     ct_json_put out = {.error = error};
//     ct_put_object(&out, NULL);
//     ct_put_number(&out, "young", 1e5);
//     ct_put_end(&out);
//     if (out.status) ...                                              // text and size otherwise
//
// The first failure is kept; after it nothing is written. The C locale must be in force.
#ifndef CT_TEXT_JSON_PUT_H
#define CT_TEXT_JSON_PUT_H

#include "cuttle.h"

enum { CT_PUT_DEPTH = 64 };

typedef struct ct_json_put {
    char* text;  // of `size` bytes and a zero behind them, freed by ct_free
    size_t size, capacity;
    int depth;                   // of open objects and arrays
    char closing[CT_PUT_DEPTH];  // what ends each of them
    bool filled[CT_PUT_DEPTH];   // whether it has an entry
    ct_status status;
    ct_error* error;  // may be NULL
} ct_json_put;

// key: NULL in an array and at the top.
void ct_put_object(ct_json_put* out, const char* key);
void ct_put_array(ct_json_put* out, const char* key);
void ct_put_end(ct_json_put* out);  // of the innermost object or array
// A number that is not finite fails: JSON has no word for it.
void ct_put_number(ct_json_put* out, const char* key, double value);
void ct_put_integer(ct_json_put* out, const char* key, long long value);
void ct_put_bool(ct_json_put* out, const char* key, bool value);
void ct_put_text(ct_json_put* out, const char* key, const char* value);
void ct_put_null(ct_json_put* out, const char* key);
void ct_put_numbers(ct_json_put* out, const char* key, const double* values, size_t count);
void ct_put_integers(ct_json_put* out, const char* key, const int* values, size_t count);
// An array of arrays of `width` numbers.
void ct_put_rows(ct_json_put* out, const char* key, const double* values, size_t count, size_t width);
void ct_put_integer_rows(ct_json_put* out, const char* key, const int* values, size_t count, size_t width);

#endif
