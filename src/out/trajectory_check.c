// Checksums of trajectory files: a flipped bit is an error that names the frame and the array, never a
// number.
//
// Headers of groups, arrays and attributes carry HDF5's own checksums (format 1.8). Of the data,
//   - a fixed array has the hash of its bytes in the attribute Checksum (hdf.c);
//   - /Cuttle/Checks [nframe, columns] has the hashes of the rows that a frame added to each growing array;
//     the attribute CheckColumn of an array says which column is its own;
//   - states are covered by state_hash in the frame's record.
// HDF5's Fletcher32 would rewrite whole chunks of frames with every frame, so that a kill could take old ones
// along. Files from before there were checksums are read without.
#include "base/status.h"
#include "out/trajectory.h"

#define CHUNK_ROWS 512
#define MOST_COLUMNS 4096

enum { SLOTS = CT_ARRAY_COUNT + CT_CONTACT_COLUMNS };

hid_t ct_trajectory_native_type(const ct_trajectory* file, ct_array_type type) {
    switch (type) {
    case CT_TYPE_DOUBLE: return H5T_NATIVE_DOUBLE;
    case CT_TYPE_FLOAT: return H5T_NATIVE_FLOAT;
    case CT_TYPE_INTEGER: return H5T_NATIVE_INT64;
    default: return file->record_type;
    }
}

static hid_t handle(const ct_trajectory* file, int slot) {
    if (slot >= CT_ARRAY_COUNT) return file->info.contact ? file->contact_column[slot - CT_ARRAY_COUNT] : -1;
    return ct_trajectory_has(&file->info, (ct_trajectory_array)slot) ? file->array[slot] : -1;
}

bool ct_trajectory_create_checks(ct_trajectory* file) {
    int count = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        const hid_t array = handle(file, slot);
        if (array < 0) continue;
        if (!ct_hdf_write_attribute(array, "CheckColumn", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &count))
            return false;
        count++;
    }
    hid_t checks =
        ct_hdf_create_rows(file->file, "Cuttle/Checks", H5T_STD_U64LE, (size_t)count, CHUNK_ROWS, false);
    if (checks < 0) return false;
    H5Dclose(checks);
    return true;
}

// Files without checksums, and arrays without a column, are not checked.
bool ct_trajectory_open_checks(ct_trajectory* file, int64_t* nframe) {
    file->checks = -1;
    file->check_frame = -1;
    for (int slot = 0; slot < SLOTS; slot++) file->check_column[slot] = -1;
    const htri_t there = H5Lexists(file->file, "Cuttle/Checks", H5P_DEFAULT);
    if (there <= 0) return there == 0;
    file->checks = ct_hdf_open_rows(file->file, "Cuttle/Checks");
    file->ncheck = file->checks < 0 ? 0 : (int)ct_hdf_width(file->checks, MOST_COLUMNS);
    if (!file->ncheck || !ct_hdf_has_type(file->checks, H5T_STD_U64LE)) return false;
    for (int slot = 0; slot < SLOTS; slot++) {
        const hid_t array = handle(file, slot);
        const htri_t checked = array < 0 ? 0 : H5Aexists(array, "CheckColumn");
        int column = -1;
        if (checked == 0) continue;
        if (checked < 0 || !ct_hdf_read_attribute(array, "CheckColumn", H5T_NATIVE_INT, 1, &column) ||
            column < 0 || column >= file->ncheck)
            return false;
        file->check_column[slot] = column;
    }
    const int64_t rows = (int64_t)ct_hdf_row_count(file->checks, (size_t)file->ncheck);
    if (rows < *nframe) *nframe = rows;
    file->check = ct_arena_alloc(&file->arena, (size_t)file->ncheck, sizeof *file->check);
    return file->check;
}

void ct_trajectory_note(ct_trajectory* file, int slot, const void* values, size_t size) {
    if (file->checks < 0 || file->check_column[slot] < 0) return;
    file->check_frame = -1;
    file->check[file->check_column[slot]] = ct_hdf_hash(values, size);
}

bool ct_trajectory_write_checks(ct_trajectory* file) {
    return file->checks < 0 || ct_hdf_put_rows(file->checks, H5T_NATIVE_UINT64, (size_t)file->ncheck,
                                               (size_t)file->info.nframe, 1, file->check);
}

bool ct_trajectory_verify(ct_trajectory* file, int slot, int frame, const void* values, size_t size) {
    const int column = file->checks < 0 ? -1 : file->check_column[slot];
    if (column < 0) return true;
    if (file->check_frame != frame) {
        file->check_frame = -1;
        if (!ct_hdf_get_rows(file->checks, H5T_NATIVE_UINT64, (size_t)file->ncheck, (size_t)frame, 1,
                             file->check))
            return false;
        file->check_frame = frame;
    }
    return file->check[column] == ct_hdf_hash(values, size);
}

// Bytes in memory of what a frame has of an array.
static size_t frame_bytes(const ct_trajectory* file, ct_trajectory_array array) {
    const ct_array_layout* layout = &ct_trajectory_layout[array];
    return ct_trajectory_rows(&file->info, array) * (size_t)(layout->columns ? layout->columns : 1) *
           H5Tget_size(ct_trajectory_native_type(file, layout->type));
}

bool ct_trajectory_put(ct_trajectory* file, ct_trajectory_array array, const void* values) {
    const ct_array_layout* layout = &ct_trajectory_layout[array];
    const size_t rows = ct_trajectory_rows(&file->info, array), at = (size_t)file->info.nframe * rows;
    ct_trajectory_note(file, (int)array, values, frame_bytes(file, array));
    return ct_hdf_put_rows(file->array[array], ct_trajectory_native_type(file, layout->type),
                           (size_t)layout->columns, at, rows, values);
}

ct_status ct_trajectory_get(ct_trajectory* file, ct_trajectory_array array, int frame, void* values,
                            ct_error* error) {
    const ct_array_layout* layout = &ct_trajectory_layout[array];
    const size_t rows = ct_trajectory_rows(&file->info, array);
    bool (*const get)(hid_t, hid_t, size_t, size_t, size_t, void*) =
        file->deflated[array] ? ct_hdf_get_deflated : ct_hdf_get_rows;
    if (get(file->array[array], ct_trajectory_native_type(file, layout->type), (size_t)layout->columns,
            (size_t)frame * rows, rows, values) &&
        ct_trajectory_verify(file, (int)array, frame, values, frame_bytes(file, array)))
        return CT_OK;
    return ct_trajectory_fail_frame(file, frame, layout->path, error);
}

ct_status ct_trajectory_fail_frame(const ct_trajectory* file, int frame, const char* what, ct_error* error) {
    return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                      "frame %d: /%s cannot be read or has the wrong checksum: the file is damaged; write it "
                      "again with `cuttle run`",
                      frame, what);
}

ct_status ct_trajectory_fail_array(const ct_trajectory* file, const char* what, ct_error* error) {
    return ct_fail_at(
        error, CT_BAD_FILE, file->path, 0,
        "%s is missing, or has the wrong shape or checksum: this is not a Cuttle trajectory, or "
        "it is damaged; write it again with `cuttle run`",
        what);
}

ct_status ct_trajectory_get_fixed(const ct_trajectory* file, hid_t group, const char* name, hid_t file_type,
                                  size_t count, void* values, ct_error* error) {
    const hid_t type = H5Tequal(file_type, H5T_STD_I32LE) > 0    ? H5T_NATIVE_INT
                       : H5Tequal(file_type, H5T_IEEE_F64LE) > 0 ? H5T_NATIVE_DOUBLE
                                                                 : file_type;
    if (ct_hdf_read_array(group, name, file_type, type, count, values)) return CT_OK;
    char what[64];
    snprintf(what, sizeof what, "/Cuttle/%s", name);
    return ct_trajectory_fail_array(file, what, error);
}
