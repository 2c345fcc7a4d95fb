// Short names for the few things Cuttle does with HDF5: attributes, fixed arrays, arrays that grow by rows.
//
// Every public function that touches HDF5 runs between ct_hdf_enter and ct_hdf_leave: HDF5 is one global
// library, not safe for threads in many builds, and prints its errors unless told otherwise.
// All functions return false (or a negative id) on failure and leave no open id behind.
#ifndef CT_OUT_HDF_H
#define CT_OUT_HDF_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ct_hdf_guard {  // the caller's error printing, restored on leaving
    H5E_auto2_t print;
    void* user;
} ct_hdf_guard;
void ct_hdf_enter(ct_hdf_guard* guard);
void ct_hdf_leave(const ct_hdf_guard* guard);
// After a damaged file: HDF5 1.10 loses an object whose header fails its checksum, and complains of that at
// exit ("infinite loop closing library"). Where nobody has asked for its messages they stay off.
void ct_hdf_leave_damaged(const ct_hdf_guard* guard);

// Attributes: count values of a native type, stored in little-endian `file_type`.
bool ct_hdf_write_attribute(hid_t object, const char* name, hid_t file_type, hid_t type, int count,
                            const void* values);
bool ct_hdf_read_attribute(hid_t object, const char* name, hid_t type, int count, void* values);
bool ct_hdf_write_text(hid_t object, const char* name, const char* text);
// At most capacity - 1 characters; a longer text is an error.
bool ct_hdf_read_text(hid_t object, const char* name, char* text, size_t capacity);
// The same, but "" and true where there is none.
bool ct_hdf_read_text_or_none(hid_t object, const char* name, char* text, size_t capacity);

hid_t ct_hdf_text_type(int size);  // fixed texts of `size` bytes, padded with zeros; the caller closes it

// A hash of so many bytes: a change of up to eight neighbouring bytes always changes it.
uint64_t ct_hdf_hash(const void* bytes, size_t size);

// Fixed arrays: rows x columns values, columns 0 for one dimension, with the hash of their bytes in the
// attribute Checksum. Reading fails when it does not fit; arrays without one are believed.
bool ct_hdf_write_array(hid_t group, const char* name, hid_t file_type, hid_t type, size_t rows,
                        size_t columns, const void* values);
// `count` is the number of all elements; the array must be stored as `file_type`.
bool ct_hdf_read_array(hid_t group, const char* name, hid_t file_type, hid_t type, size_t count,
                       void* values);
bool ct_hdf_is_intact(hid_t array, const void* values, size_t size);  // what was read fits its Checksum
// Does it have this many elements? Ask before believing a header that claims them.
bool ct_hdf_holds(hid_t group, const char* name, size_t count);
// Is it stored as exactly this type? HDF5 may crash on converting from a damaged one, so ask before reading.
bool ct_hdf_has_type(hid_t array, hid_t file_type);

// Arrays that grow by rows. No chunk is cached, so a row written is in the file's pages at once; with
// `deflate` those of a chunk are to be written together.
hid_t ct_hdf_create_rows(hid_t group, const char* name, hid_t file_type, size_t columns, size_t chunk_rows,
                         bool deflate);
hid_t ct_hdf_open_rows(hid_t group, const char* name);
// Whether each chunk has so many rows, shuffled and deflated; and the rows of one, which begins at `first`.
bool ct_hdf_is_deflated(hid_t array, size_t columns, size_t rows);
bool ct_hdf_get_deflated(hid_t array, hid_t type, size_t columns, size_t first, size_t rows, void* values);
// Makes the array first + count rows long and writes the last `count`.
bool ct_hdf_put_rows(hid_t array, hid_t type, size_t columns, size_t first, size_t count, const void* values);
bool ct_hdf_get_rows(hid_t array, hid_t type, size_t columns, size_t first, size_t count, void* values);
// Rows of an array of the given columns; 0 when the shape is another one.
size_t ct_hdf_row_count(hid_t array, size_t columns);
// Columns of an array of two dimensions, 0 when it is another one or has more than `most`.
size_t ct_hdf_width(hid_t array, size_t most);

#endif
