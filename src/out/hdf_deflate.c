// Chunks that were shuffled and deflated, read without HDF5's filters: those believe that what comes out has
// the size of a chunk, and read beyond it where a damaged file has less.
//
// Shuffling puts the first bytes of all numbers first, then the second ones, and so on.
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "cuttle.h"
#include "out/hdf.h"

enum { SKIPPED_SHUFFLE = 1, SKIPPED_DEFLATE = 2 };  // of the mask that a chunk carries

bool ct_hdf_is_deflated(hid_t array, size_t columns, size_t rows) {
    hid_t layout = H5Dget_create_plist(array);
    unsigned flags;
    hsize_t chunk[2] = {0, 0};
    const int rank = columns ? 2 : 1;
    bool same = layout >= 0 && H5Pget_nfilters(layout) == 2 &&
                H5Pget_filter2(layout, 0, &flags, &(size_t){0}, NULL, 0, NULL, NULL) == H5Z_FILTER_SHUFFLE &&
                H5Pget_filter2(layout, 1, &flags, &(size_t){0}, NULL, 0, NULL, NULL) == H5Z_FILTER_DEFLATE &&
                H5Pget_chunk(layout, 2, chunk) == rank && chunk[0] == rows &&
                (rank == 1 || chunk[1] == columns);
    if (layout >= 0) H5Pclose(layout);
    return same;
}

static void unshuffle(const uint8_t* from, uint8_t* to, size_t count, size_t size) {
    for (size_t b = 0; b < size; b++)
        for (size_t i = 0; i < count; i++) to[size * i + b] = from[count * b + i];
}

// The numbers of a chunk as they are stored; room: as many bytes.
static bool decode(const uint8_t* raw, size_t nraw, uint32_t mask, uint8_t* room, uint8_t* values,
                   size_t count, size_t size) {
    uLongf length = (uLongf)(count * size);
    if (mask & SKIPPED_DEFLATE) {
        if (nraw != count * size) return false;
        memcpy(room, raw, nraw);
    } else if (uncompress(room, &length, raw, (uLong)nraw) != Z_OK || length != count * size) return false;
    if (mask & SKIPPED_SHUFFLE) memcpy(values, room, count * size);
    else unshuffle(room, values, count, size);
    return true;
}

bool ct_hdf_get_deflated(hid_t array, hid_t type, size_t columns, size_t first, size_t rows, void* values) {
    const hsize_t place[2] = {first, 0};
    const size_t count = rows * (columns ? columns : 1);
    hid_t stored = H5Dget_type(array);
    const size_t size = stored < 0 ? 0 : H5Tget_size(stored);
    hsize_t nraw = 0;
    uint32_t mask = 0;
    bool good = size && size <= H5Tget_size(type) && H5Dget_chunk_storage_size(array, place, &nraw) >= 0 &&
                nraw > 0 && nraw <= 2 * count * size + 1024;
    uint8_t* raw = good ? ct_alloc((size_t)nraw, 1) : NULL;
    uint8_t* room = good ? ct_alloc(count, size) : NULL;
    good = raw && room && H5Dread_chunk(array, H5P_DEFAULT, place, &mask, raw) >= 0 &&
           decode(raw, (size_t)nraw, mask, room, values, count, size) &&
           H5Tconvert(stored, type, count, values, NULL, H5P_DEFAULT) >= 0;
    ct_free(raw);
    ct_free(room);
    if (stored >= 0) H5Tclose(stored);
    return good;
}
