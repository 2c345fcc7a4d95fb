// Decoding the data blocks of VTK XML files.
//
// A binary block is a header of integers and the bytes:
//   plain:       [nbytes] data
//   compressed:  [nblock] [block size] [size of the last block, 0: full] [compressed size] * nblock, then the
//   blocks
// either raw or in base64. Writers encode header and data in one base64 run or in two; a decoder that goes on
// after padding reads both. No size is trusted: each is compared with what the rest of the file can hold
// (zlib expands at most 1032 times) before anything is allocated.
#include "shape/vtu_data.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

#define ZLIB_EXPANSION 1032

typedef struct stream {
    ct_scan* text;
    bool base64;
    unsigned char pending[3];  // decoded but not yet taken
    int npending, taken;
} stream;

// ---------------------------------------------------------------------------------------------
// Bytes

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Decodes four characters into `pending`; false at the end or at a character that is none of base64.
static bool decode_group(stream* s) {
    uint32_t bits = 0;
    int count = 0, padding = 0;
    while (count < 4 && s->text->at < s->text->end) {
        char c = *s->text->at;
        bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        int digit = c == '=' && count >= 2 ? 0 : base64_digit(c);
        if (!blank && digit < 0) return false;
        s->text->at++;
        if (blank) continue;
        padding += c == '=';
        bits = bits << 6 | (uint32_t)digit;
        count++;
    }
    if (count < 4) return false;
    for (int i = 0; i < 3; i++) s->pending[i] = (unsigned char)(bits >> (16 - 8 * i));
    s->npending = 3 - padding;
    s->taken = 0;
    return true;
}

static bool read_bytes(stream* s, void* target, size_t size) {
    if (!s->base64) {
        if (ct_scan_left(s->text) < size) return false;
        memcpy(target, s->text->at, size);
        s->text->at += size;
        return true;
    }
    unsigned char* out = target;
    while (size > 0) {
        if (s->taken == s->npending && !decode_group(s)) return false;
        while (size > 0 && s->taken < s->npending) {
            *out++ = s->pending[s->taken++];
            size--;
        }
    }
    return true;
}

// An upper bound of the bytes that are left in the stream.
static size_t bytes_left(const stream* s) {
    size_t left = ct_scan_left(s->text);
    return s->base64 ? left / 4 * 3 + 3 : left;
}

static ct_status read_header(stream* s, const ct_vtu_coding* coding, uint64_t* value) {
    char bytes[8];
    if (!read_bytes(s, bytes, coding->header_size))
        return ct_scan_fail(s->text, "a data array ends in its header: the file was cut short");
    int64_t integer = 0;
    ct_vtk_integer(coding->header_size == 4 ? CT_VTK_UINT32 : CT_VTK_INT64, bytes, 0, coding->swap, &integer);
    *value = (uint64_t)integer;
    return CT_OK;
}

static ct_status fail_size(const stream* s, uint64_t size) {
    return ct_scan_fail(
        s->text,
        "a data array announces %llu bytes, more than the file holds: it was cut short, or header_type or "
        "byte_order is wrong",
        (unsigned long long)size);
}

// ---------------------------------------------------------------------------------------------
// Blocks

static ct_status read_plain(stream* s, const ct_vtu_coding* coding, ct_vtu_array* array) {
    uint64_t size = 0;
    ct_status status = read_header(s, coding, &size);
    if (status != CT_OK) return status;
    if (size > bytes_left(s)) return fail_size(s, size);
    array->bytes = ct_alloc((size_t)size, 1);
    if (!array->bytes) return ct_scan_out_of_memory(s->text);
    array->size = (size_t)size;
    return read_bytes(s, array->bytes, (size_t)size) ? CT_OK : fail_size(s, size);
}

typedef struct block_list {
    uint64_t count, size, last;  // last: bytes of the last block
    uint64_t* compressed;        // bytes of each block
    uint64_t largest, total;     // of the compressed sizes
} block_list;

static ct_status read_block_list(stream* s, const ct_vtu_coding* coding, block_list* list) {
    ct_status status = read_header(s, coding, &list->count);
    if (status != CT_OK || list->count == 0) return status;
    status = read_header(s, coding, &list->size);
    if (status == CT_OK) status = read_header(s, coding, &list->last);
    if (status != CT_OK) return status;
    if (list->last == 0) list->last = list->size;
    if (list->count > bytes_left(s) / coding->header_size) return fail_size(s, list->count);
    if (list->last > list->size)
        return ct_scan_fail(s->text,
                            "the last block of a data array is larger than the others: the file is damaged");
    list->compressed = ct_alloc((size_t)list->count, sizeof *list->compressed);
    if (!list->compressed) return ct_scan_out_of_memory(s->text);
    for (uint64_t i = 0; i < list->count && status == CT_OK; i++) {
        uint64_t size = 0;
        status = read_header(s, coding, &size);
        if (status == CT_OK && size > bytes_left(s)) status = fail_size(s, size);
        list->compressed[i] = size;
        list->total += size;
        if (size > list->largest) list->largest = size;
    }
    if (status == CT_OK && list->total > bytes_left(s)) status = fail_size(s, list->total);
    if (status != CT_OK) return status;
    // Only what the blocks hold counts: a single short block comes with the size of a full one.
    uint64_t limit = ZLIB_EXPANSION * (list->total + 1), full = list->count - 1;
    if (full && list->size > limit / full) return fail_size(s, list->size);
    return list->last > limit - full * list->size ? fail_size(s, list->last) : CT_OK;
}

static ct_status inflate_blocks(stream* s, const block_list* list, char* packed, ct_vtu_array* array) {
    size_t at = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        uint64_t wanted = i + 1 == list->count ? list->last : list->size;
        if (!read_bytes(s, packed, (size_t)list->compressed[i])) return fail_size(s, list->total);
        uLongf got = (uLongf)wanted;
        int result =
            uncompress((Bytef*)array->bytes + at, &got, (const Bytef*)packed, (uLong)list->compressed[i]);
        if (result == Z_MEM_ERROR) return ct_scan_out_of_memory(s->text);
        if (result != Z_OK || got != wanted)
            return ct_scan_fail(s->text,
                                "block %llu of a compressed data array is damaged: save the file again",
                                (unsigned long long)i);
        at += (size_t)wanted;
    }
    return CT_OK;
}

static ct_status read_compressed(stream* s, const ct_vtu_coding* coding, ct_vtu_array* array) {
    block_list list = {0};
    char* packed = NULL;
    ct_status status = read_block_list(s, coding, &list);
    if (status == CT_OK) {
        array->size = list.count ? (size_t)((list.count - 1) * list.size + list.last) : 0;
        array->bytes = ct_alloc(array->size, 1);
        packed = ct_alloc((size_t)list.largest, 1);
        status =
            array->bytes && packed ? inflate_blocks(s, &list, packed, array) : ct_scan_out_of_memory(s->text);
    }
    ct_free(packed);
    ct_free(list.compressed);
    return status;
}

ct_status ct_vtu_read_binary(ct_scan* text, bool base64, const ct_vtu_coding* coding, ct_vtu_array* array) {
    stream s = {.text = text, .base64 = base64};
    if (base64)
        while (text->at < text->end && base64_digit(*text->at) < 0) text->at++;
    array->swap = coding->swap;
    ct_status status =
        coding->compressed ? read_compressed(&s, coding, array) : read_plain(&s, coding, array);
    if (status == CT_OK) return CT_OK;
    ct_free(array->bytes);
    array->bytes = NULL;
    return status;
}

// ---------------------------------------------------------------------------------------------
// Text

static ct_status store(ct_scan* text, ct_word word, ct_vtu_array* array, char* target) {
    if (array->type == CT_VTK_FLOAT32 || array->type == CT_VTK_FLOAT64) {
        double real;
        if (!ct_word_real(word, &real))
            return ct_scan_fail(text, "a data array holds '%.*s', which is not a finite number",
                                (int)(word.size < 24 ? word.size : 24), word.text);
        memcpy(target, &real, sizeof real);
        return CT_OK;
    }
    int64_t integer;
    if (!ct_word_integer(word, &integer))
        return ct_scan_fail(text, "a data array of integers holds '%.*s'",
                            (int)(word.size < 24 ? word.size : 24), word.text);
    memcpy(target, &integer, sizeof integer);
    return CT_OK;
}

// Text is kept in full precision: Float64 for reals, Int64 for integers.
ct_status ct_vtu_read_text(ct_scan* text, ct_vtu_array* array) {
    size_t capacity = 0, count = 0;
    ct_word word;
    ct_status status = CT_OK;
    while (status == CT_OK && ct_scan_word(text, &word)) {
        if (!ct_reserve((void**)&array->bytes, &capacity, count + 1, 8)) status = ct_scan_out_of_memory(text);
        else status = store(text, word, array, array->bytes + 8 * count++);
    }
    if (status == CT_OK && !array->bytes && !(array->bytes = ct_alloc(1, 8)))
        status = ct_scan_out_of_memory(text);
    bool real = array->type == CT_VTK_FLOAT32 || array->type == CT_VTK_FLOAT64;
    array->type = real ? CT_VTK_FLOAT64 : CT_VTK_INT64;
    array->size = 8 * count;
    array->swap = false;
    if (status == CT_OK) return CT_OK;
    ct_free(array->bytes);
    array->bytes = NULL;
    return status;
}
