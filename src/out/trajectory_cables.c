// Cables in trajectory files: their names, and in every frame their eyelets and tensions.
//
// Layout beside that of trajectory.h, in files with cables alone:
//   /Cuttle                     attributes NumberOfCables, NumberOfEyelets, CableName<k>
//     CableStart [ncable + 1]: first eyelet of each
//     Cables [nframe neyelet, 4]: place of an eyelet (m), tension of its cable (N)
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "out/trajectory.h"

bool ct_trajectory_write_cables(hid_t group, const ct_trajectory_def* def) {
    int64_t count = def->info.ncable, eyelets = def->info.neyelet;
    if (!count) return true;
    bool good =
        ct_hdf_write_attribute(group, "NumberOfCables", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &count) &&
        ct_hdf_write_attribute(group, "NumberOfEyelets", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &eyelets) &&
        ct_hdf_write_array(group, "CableStart", H5T_STD_I32LE, H5T_NATIVE_INT, (size_t)count + 1, 0,
                           def->cable_start);
    for (int k = 0; good && k < def->info.ncable; k++) {
        char key[32];
        snprintf(key, sizeof key, "CableName%d", k);
        good = ct_hdf_write_text(group, key, def->cable_name[k]);
    }
    return good;
}

static bool is_consistent(const ct_trajectory* file) {
    const int *start = file->cable_start, count = file->info.ncable;
    bool good = start[0] == 0 && start[count] == file->info.neyelet;
    for (int k = 0; k < count; k++) good = good && start[k + 1] >= start[k] + 2;
    return good;
}

ct_status ct_trajectory_open_cables(ct_trajectory* file, hid_t group, ct_error* error) {
    size_t count = (size_t)file->info.ncable;
    if (!count) return CT_OK;
    const char* damaged =
        "the cables in /Cuttle are not consistent: the file is damaged; write it again with "
        "`cuttle run`";
    if (!ct_hdf_holds(group, "CableStart", count + 1))
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0, "%s", damaged);
    file->cable_start = ct_arena_alloc(&file->arena, count + 1, sizeof(int));
    file->cable_name = ct_arena_alloc(&file->arena, count, sizeof *file->cable_name);
    file->cables = ct_arena_alloc(&file->arena, 4 * (size_t)file->info.neyelet, sizeof(double));
    if (file->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_get_fixed(file, group, "CableStart", H5T_STD_I32LE, count + 1,
                                               file->cable_start, error);
    if (status) return status;
    if (!is_consistent(file)) return ct_fail_at(error, CT_BAD_FILE, file->path, 0, "%s", damaged);
    for (size_t k = 0; k < count; k++) {
        char key[32], text[64] = "";
        snprintf(key, sizeof key, "CableName%zu", k);
        if (!ct_hdf_read_text_or_none(group, key, text, sizeof text))
            return ct_trajectory_fail_array(file, "the name of a cable", error);
        file->cable_name[k] = ct_arena_copy(&file->arena, text, strlen(text) + 1, 1);
    }
    return file->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

const char* ct_trajectory_cable_name(const ct_trajectory* file, int cable) {
    return cable >= 0 && cable < file->info.ncable ? file->cable_name[cable] : "";
}

int ct_trajectory_cable_start(const ct_trajectory* file, int cable) {
    return cable >= 0 && cable <= file->info.ncable && file->info.ncable ? file->cable_start[cable] : 0;
}

ct_status ct_trajectory_read_cables(ct_trajectory* file, int frame, const double** values, ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    *values = NULL;
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status) return status;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    if (file->info.neyelet) status = ct_trajectory_get(file, CT_ARRAY_CABLES, frame, file->cables, error);
    ct_hdf_leave(&guard);
    if (status) return status;
    *values = file->cables;
    return CT_OK;
}
