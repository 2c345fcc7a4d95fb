// Short names for the few things Cuttle does with HDF5; see hdf.h.
#include "out/hdf.h"

#include <pthread.h>
#include <string.h>

#define DEFLATE_LEVEL 4

// HDF5 keeps its state in globals of its own, so its guard has to be one as well.
static pthread_mutex_t hdf_mutex = PTHREAD_MUTEX_INITIALIZER;

void ct_hdf_enter(ct_hdf_guard* guard) {
    pthread_mutex_lock(&hdf_mutex);
    guard->print = NULL;
    guard->user = NULL;
    H5Eget_auto2(H5E_DEFAULT, &guard->print, &guard->user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void ct_hdf_leave(const ct_hdf_guard* guard) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, guard->print, guard->user);
    pthread_mutex_unlock(&hdf_mutex);
}

void ct_hdf_leave_damaged(const ct_hdf_guard* guard) {
    H5E_auto2_t standard = NULL;  // of any new stack of errors
    hid_t stack = H5Ecreate_stack();
    if (stack >= 0) H5Eget_auto2(stack, &standard, NULL);
    if (stack >= 0) H5Eclose_stack(stack);
    ct_hdf_leave(guard->print == standard ? &(ct_hdf_guard){0} : guard);
}

bool ct_hdf_write_attribute(hid_t object, const char* name, hid_t file_type, hid_t type, int count,
                            const void* values) {
    hsize_t size = (hsize_t)count;
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

bool ct_hdf_read_attribute(hid_t object, const char* name, hid_t type, int count, void* values) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t space = H5Aget_space(attribute);
    hid_t stored = H5Aget_type(attribute);
    bool good = space >= 0 && stored >= 0 && H5Sget_simple_extent_npoints(space) == count &&
                H5Tget_class(stored) == H5Tget_class(type) && H5Aread(attribute, type, values) >= 0;
    if (stored >= 0) H5Tclose(stored);
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

bool ct_hdf_write_text(hid_t object, const char* name, const char* text) {
    size_t length = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, length ? length : 1) >= 0 &&
                H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                ct_hdf_write_attribute(object, name, type, type, 1, text);
    if (type >= 0) H5Tclose(type);
    return good;
}

bool ct_hdf_read_text(hid_t object, const char* name, char* text, size_t capacity) {
    memset(text, 0, capacity);
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Tget_size(type) < capacity && H5Aread(attribute, type, text) >= 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

bool ct_hdf_read_text_or_none(hid_t object, const char* name, char* text, size_t capacity) {
    *text = 0;
    const htri_t there = H5Aexists(object, name);
    return there == 0 || (there > 0 && ct_hdf_read_text(object, name, text, capacity));
}

hid_t ct_hdf_text_type(int size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, (size_t)size) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

uint64_t ct_hdf_hash(const void* bytes, size_t size) {
    const unsigned char* at = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; size > 0; size--, at++) hash = (hash ^ *at) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 29);
}

// How an array is created: without times, so that equal runs give equal files.
static hid_t creation(void) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list >= 0) H5Pset_obj_track_times(list, false);
    return list;
}

bool ct_hdf_write_array(hid_t group, const char* name, hid_t file_type, hid_t type, size_t rows,
                        size_t columns, const void* values) {
    hsize_t size[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns ? 2 : 1, size, NULL), layout = creation();
    hid_t array = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    uint64_t hash = ct_hdf_hash(values, rows * (columns ? columns : 1) * H5Tget_size(type));
    bool good = array >= 0 &&
                (rows == 0 || H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) &&
                ct_hdf_write_attribute(array, "Checksum", H5T_STD_U64LE, H5T_NATIVE_UINT64, 1, &hash);
    if (array >= 0) H5Dclose(array);
    if (layout >= 0) H5Pclose(layout);
    if (space >= 0) H5Sclose(space);
    return good;
}

bool ct_hdf_holds(hid_t group, const char* name, size_t count) {
    hid_t array = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t space = array >= 0 ? H5Dget_space(array) : -1;
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    if (space >= 0) H5Sclose(space);
    if (array >= 0) H5Dclose(array);
    return good;
}

bool ct_hdf_has_type(hid_t array, hid_t file_type) {
    hid_t stored = H5Dget_type(array);
    bool same = stored >= 0 && H5Tequal(stored, file_type) > 0;
    if (stored >= 0) H5Tclose(stored);
    return same;
}

bool ct_hdf_is_intact(hid_t array, const void* values, size_t size) {
    uint64_t hash = 0;
    if (H5Aexists(array, "Checksum") == 0) return true;
    return ct_hdf_read_attribute(array, "Checksum", H5T_NATIVE_UINT64, 1, &hash) &&
           hash == ct_hdf_hash(values, size);
}

bool ct_hdf_read_array(hid_t group, const char* name, hid_t file_type, hid_t type, size_t count,
                       void* values) {
    hid_t array = H5Dopen2(group, name, H5P_DEFAULT);
    if (array < 0) return false;
    hid_t space = H5Dget_space(array);
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                ct_hdf_has_type(array, file_type) &&
                (count == 0 || H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) &&
                ct_hdf_is_intact(array, values, count * H5Tget_size(type));
    if (space >= 0) H5Sclose(space);
    H5Dclose(array);
    return good;
}

// Access without a chunk cache: rows go straight to the file instead of whole chunks at every flush.
static hid_t uncached_access(void) {
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    if (access >= 0) H5Pset_chunk_cache(access, 1, 0, 1.0);
    return access;
}

hid_t ct_hdf_create_rows(hid_t group, const char* name, hid_t file_type, size_t columns, size_t chunk_rows,
                         bool deflate) {
    int rank = columns ? 2 : 1;
    hsize_t size[2] = {0, columns}, limit[2] = {H5S_UNLIMITED, columns}, chunk[2] = {chunk_rows, columns};
    hid_t space = H5Screate_simple(rank, size, limit);
    hid_t layout = creation();
    hid_t access = uncached_access();
    hid_t array = -1;
    if (space >= 0 && layout >= 0 && access >= 0 && H5Pset_chunk(layout, rank, chunk) >= 0 &&
        H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER) >= 0 &&
        (!deflate || (H5Pset_shuffle(layout) >= 0 && H5Pset_deflate(layout, DEFLATE_LEVEL) >= 0)))
        array = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, layout, access);
    if (access >= 0) H5Pclose(access);
    if (layout >= 0) H5Pclose(layout);
    if (space >= 0) H5Sclose(space);
    return array;
}

hid_t ct_hdf_open_rows(hid_t group, const char* name) {
    hid_t access = uncached_access();
    hid_t array = H5Dopen2(group, name, access);
    if (access >= 0) H5Pclose(access);
    return array;
}

// Moves rows [first, first + count) between memory and file.
static bool move_rows(hid_t array, hid_t type, size_t columns, size_t first, size_t count, void* target,
                      const void* source) {
    int rank = columns ? 2 : 1;
    hsize_t start[2] = {first, 0}, size[2] = {count, columns};
    hid_t memory = H5Screate_simple(rank, size, NULL);
    hid_t file = H5Dget_space(array);
    bool good = memory >= 0 && file >= 0 && H5Sget_simple_extent_ndims(file) == rank &&
                H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
    if (good)
        good = (target ? H5Dread(array, type, memory, file, H5P_DEFAULT, target)
                       : H5Dwrite(array, type, memory, file, H5P_DEFAULT, source)) >= 0;
    if (file >= 0) H5Sclose(file);
    if (memory >= 0) H5Sclose(memory);
    return good;
}

bool ct_hdf_put_rows(hid_t array, hid_t type, size_t columns, size_t first, size_t count,
                     const void* values) {
    hsize_t size[2] = {first + count, columns};
    if (H5Dset_extent(array, size) < 0) return false;
    return count == 0 || move_rows(array, type, columns, first, count, NULL, values);
}

bool ct_hdf_get_rows(hid_t array, hid_t type, size_t columns, size_t first, size_t count, void* values) {
    return count == 0 || move_rows(array, type, columns, first, count, values, NULL);
}

size_t ct_hdf_row_count(hid_t array, size_t columns) {
    hsize_t size[2] = {0, 0};
    hid_t space = H5Dget_space(array);
    if (space < 0) return 0;
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = rank == (columns ? 2 : 1) && H5Sget_simple_extent_dims(space, size, NULL) >= 0;
    H5Sclose(space);
    return good && (!columns || size[1] == columns) ? (size_t)size[0] : 0;
}

size_t ct_hdf_width(hid_t array, size_t most) {
    hsize_t size[2] = {0, 0};
    hid_t space = H5Dget_space(array);
    if (space < 0) return 0;
    bool good = H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) >= 0;
    H5Sclose(space);
    return good && size[1] <= most ? (size_t)size[1] : 0;
}
