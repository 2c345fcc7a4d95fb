// Bytes that grow, and how they travel: deflated (zlib), and as base64 inside of a page.
#ifndef CT_OUT_PAGE_BYTES_H
#define CT_OUT_PAGE_BYTES_H

#include <stdint.h>

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_page_bytes {
    uint8_t* data;  // owned
    size_t size, capacity;
    bool failed;  // out of memory, at some point
} ct_page_bytes;

void ct_page_bytes_free(ct_page_bytes* bytes);
// Room for `size` more bytes, which count as there; NULL: out of memory.
void* ct_page_bytes_extend(ct_page_bytes* bytes, size_t size);
void ct_page_bytes_add(ct_page_bytes* bytes, const void* data, size_t size);
void ct_page_bytes_align(ct_page_bytes* bytes);  // to a multiple of 8, with zeros
// As floats; what is not finite becomes 0.
void ct_page_bytes_add_floats(ct_page_bytes* bytes, const double* values, size_t count);
// The bytes deflated, and as base64, at the end of `out`.
void ct_page_bytes_deflate(const ct_page_bytes* bytes, ct_page_bytes* out);
void ct_page_bytes_base64(const ct_page_bytes* bytes, ct_page_bytes* out);

#endif
