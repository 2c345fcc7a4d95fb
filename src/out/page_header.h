// The head of a page's data: JSON that says what is there and where.
//
// Data: "CTPG", length of the JSON (u32), the JSON, zeros up to a multiple of 8, then the arrays that the
// JSON lists with type, code, offset from here and number of bytes; everything little-endian. web/src/data.js
// reads it.
#ifndef CT_OUT_PAGE_HEADER_H
#define CT_OUT_PAGE_HEADER_H

#include <jansson.h>

#include "out/page_bytes.h"
#include "out/page_code.h"
#include "out/page_content.h"

typedef struct ct_page_array {
    const char *name, *type,
        *code;  // type: "f32", ...; code "": as it is, "low", "high", "values": page_code.h
    ct_page_bytes bytes;
} ct_page_array;

enum { CT_PAGE_ARRAYS = 40 };
typedef struct ct_page_arrays {
    ct_page_array list[CT_PAGE_ARRAYS];
    int count;
} ct_page_arrays;

// A new array at the end of the list; name, type and code are static.
ct_page_bytes* ct_page_arrays_add(ct_page_arrays* arrays, const char* name, const char* type,
                                  const char* code);
void ct_page_arrays_free(ct_page_arrays* arrays);
// What all frames share, as arrays.
void ct_page_arrays_share(ct_page_arrays* arrays, const ct_page_content* content);
// The header without its arrays; NULL: out of memory. range: of x, y, z, then of the fields; NULL: live.
// scale: two ends of the colour bar for each field.
json_t* ct_page_header(const ct_page_content* content, const char* title, const ct_page_range* range,
                       const double* scale, int nframe);
// Header and arrays, deflated, at the end of `out`. Takes the header.
void ct_page_pack(json_t* header, const ct_page_arrays* arrays, ct_page_bytes* out);
// 2: the field is stored as its root.
int ct_page_field_power(const ct_trajectory_field* field);

#endif
