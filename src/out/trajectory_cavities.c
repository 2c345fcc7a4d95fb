// Cavities under pressure in trajectory files: their names, volumes and pressures.
//
// Layout beside that of trajectory.h, in files with cavities alone:
//   /Cuttle                     attributes NumberOfCavities, CavityName<k>
//     Cavities [nframe ncavity, 2]: volume (m^3), pressure (Pa)
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "out/trajectory.h"

bool ct_trajectory_write_cavities(hid_t group, const ct_trajectory_def* def) {
    int64_t count = def->info.ncavity;
    if (!count) return true;
    bool good = ct_hdf_write_attribute(group, "NumberOfCavities", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &count);
    for (int k = 0; good && k < def->info.ncavity; k++) {
        char key[32];
        snprintf(key, sizeof key, "CavityName%d", k);
        good = ct_hdf_write_text(group, key, def->cavity_name[k]);
    }
    return good;
}

ct_status ct_trajectory_open_cavities(ct_trajectory* file, hid_t group, ct_error* error) {
    size_t count = (size_t)file->info.ncavity;
    char last[32];
    snprintf(last, sizeof last, "CavityName%zu", count - 1);
    // The last name must be there before memory is asked for all.
    if (count && H5Aexists(group, last) <= 0)
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "the cavities in /Cuttle are not consistent: the file is damaged; write it again "
                          "with `cuttle run`");
    file->cavity_name = ct_arena_alloc(&file->arena, count, sizeof *file->cavity_name);
    file->cavities = ct_arena_alloc(&file->arena, 2 * count, sizeof(double));
    for (size_t k = 0; file->cavity_name && k < count; k++) {
        char key[32], text[64] = "";
        snprintf(key, sizeof key, "CavityName%zu", k);
        if (!ct_hdf_read_text_or_none(group, key, text, sizeof text))
            return ct_trajectory_fail_array(file, "the name of a cavity", error);
        file->cavity_name[k] = ct_arena_copy(&file->arena, text, strlen(text) + 1, 1);
    }
    return file->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

const char* ct_trajectory_cavity_name(const ct_trajectory* file, int cavity) {
    return cavity >= 0 && cavity < file->info.ncavity ? file->cavity_name[cavity] : "";
}

ct_status ct_trajectory_read_cavities(ct_trajectory* file, int frame, const double** values,
                                      ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    *values = NULL;
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status) return status;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    if (file->info.ncavity) status = ct_trajectory_get(file, CT_ARRAY_CAVITIES, frame, file->cavities, error);
    ct_hdf_leave(&guard);
    if (status) return status;
    *values = file->cavities;
    return CT_OK;
}
