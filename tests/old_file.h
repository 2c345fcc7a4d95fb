// A trajectory file as it was before there were checksums.
#ifndef CT_TESTS_OLD_FILE_H
#define CT_TESTS_OLD_FILE_H

#include <hdf5.h>
#include <stddef.h>

static inline herr_t old_file_object(hid_t root, const char* name, const H5O_info_t* info, void* user) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    hid_t array = H5Dopen2(root, name, H5P_DEFAULT);
    if (H5Aexists(array, "Checksum") > 0) H5Adelete(array, "Checksum");
    if (H5Aexists(array, "CheckColumn") > 0) H5Adelete(array, "CheckColumn");
    H5Dclose(array);
    ++*(int*)user;
    return 0;
}

// The number of arrays in it.
static inline int old_file(const char* path) {
    int count = 0;
    hid_t raw = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (raw < 0) return 0;
    H5Ldelete(raw, "Cuttle/Checks", H5P_DEFAULT);
    H5Ovisit1(raw, H5_INDEX_NAME, H5_ITER_NATIVE, old_file_object, &count);
    H5Fclose(raw);
    return count;
}

#endif
