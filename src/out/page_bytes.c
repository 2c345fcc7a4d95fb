// Bytes that grow, and how they travel; see page_bytes.h.
#include "out/page_bytes.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

void ct_page_bytes_free(ct_page_bytes* bytes) {
    ct_free(bytes->data);
    *bytes = (ct_page_bytes){0};
}

void* ct_page_bytes_extend(ct_page_bytes* bytes, size_t size) {
    size_t wanted = bytes->size + size, grown = bytes->capacity + bytes->capacity / 2;
    if (wanted > bytes->capacity &&
        !ct_reserve((void**)&bytes->data, &bytes->capacity, wanted > grown ? wanted : grown, 1)) {
        bytes->failed = true;
        return NULL;
    }
    void* place = bytes->data ? bytes->data + bytes->size : NULL;  // nothing is added to nothing
    bytes->size = wanted;
    return place;
}

void ct_page_bytes_add(ct_page_bytes* bytes, const void* data, size_t size) {
    void* place = ct_page_bytes_extend(bytes, size);
    if (place && size) memcpy(place, data, size);
}

void ct_page_bytes_align(ct_page_bytes* bytes) {
    static const uint8_t zeros[8] = {0};
    ct_page_bytes_add(bytes, zeros, (8 - bytes->size % 8) % 8);
}

void ct_page_bytes_add_floats(ct_page_bytes* bytes, const double* values, size_t count) {
    uint8_t* place = ct_page_bytes_extend(bytes, 4 * count);
    for (size_t i = 0; place && i < count; i++) {
        float value = isfinite(values[i]) ? (float)values[i] : 0;
        memcpy(place + 4 * i, &value, 4);
    }
}

void ct_page_bytes_deflate(const ct_page_bytes* bytes, ct_page_bytes* out) {
    uLongf size = compressBound((uLong)bytes->size);
    size_t before = out->size;
    uint8_t* place = ct_page_bytes_extend(out, size);
    if (!place || bytes->failed || compress2(place, &size, bytes->data, (uLong)bytes->size, 8) != Z_OK)
        out->failed = true;
    else out->size = before + size;
}

void ct_page_bytes_base64(const ct_page_bytes* bytes, ct_page_bytes* out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char* place = ct_page_bytes_extend(out, (bytes->size + 2) / 3 * 4);
    out->failed |= bytes->failed;
    for (size_t i = 0; place && i < bytes->size; i += 3) {
        size_t left = bytes->size - i;
        uint32_t three = (uint32_t)bytes->data[i] << 16;
        if (left > 1) three |= (uint32_t)bytes->data[i + 1] << 8;
        if (left > 2) three |= bytes->data[i + 2];
        *place++ = letters[three >> 18];
        *place++ = letters[three >> 12 & 63];
        *place++ = left > 1 ? letters[three >> 6 & 63] : '=';
        *place++ = left > 2 ? letters[three & 63] : '=';
    }
}
